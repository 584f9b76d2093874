/* The CUDA plugin: libredax_cuda.so, loaded on the first use of a CUDA tensor. It links no redax library: it is handed
   a table of host functions and hands back its own. Both sides check version and size exactly. */
#ifndef RDX_PLUGIN_H
#define RDX_PLUGIN_H

#include "kernels/kernel.h"

enum {
    RDX_PLUGIN_VERSION = 6, /* another with every change of what the two sides share, RdxConfig and RdxSpace too */
    RDX_PLUGIN_READS = 3    /* plain read kernels */
};

typedef struct RdxHostTable {
    int32_t version; /* RDX_PLUGIN_VERSION */
    uint32_t size;   /* of this struct */
    int32_t library; /* rdx_version() */
    RdxStatus (*error)(RdxStatus status, const char *format, ...);
    void (*log)(int level, const char *format, ...);
    void *(*alloc)(size_t bytes, size_t align);
    void (*release)(void *memory);
} RdxHostTable;

typedef struct RdxCudaBuild {
    int driver, runtime; /* 1000 * major + 10 * minor; driver: the newest run-time that it takes, 0 without a driver */
    char architectures[96]; /* built in: "sm_80 sm_90"; "" where nvcc did not build the plugin */
} RdxCudaBuild;

typedef struct RdxPluginTable {
    int32_t version;
    uint32_t size;
    int32_t small_tables;      /* a debug build: most kernels are not there, and binding them is RDX_ERR_UNSUPPORTED */
    int (*device_count)(void); /* 0 where there is none, or no driver */
    RdxStatus (*device_info)(int id, RdxDeviceInfo *info);
    RdxStatus (*bind)(RdxKernel *kernel, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                      int id);
    RdxStatus (*workspace_init)(void *workspace, size_t bytes, RdxStream stream, int id);
    /* rdx_reduce's own workspace: per device and stream, or stream-ordered memory while the stream captures. */
    RdxStatus (*workspace_take)(void **workspace, size_t bytes, RdxStream stream, int id);
    RdxStatus (*workspace_give)(void *workspace, size_t bytes, RdxStream stream, int id);
    RdxStatus (*is_capturing)(bool *capturing, RdxStream stream, int id);
    void (*shutdown)(void);
    /* A named range on this thread in profilers that show NVTX; open and close pair. */
    void (*range_open)(const char *name);
    void (*range_close)(void);
    /* Memory of a device for the command and for tests; copies between host and device return when they are done. The
       device that is current for the calling thread: asked for, and set. */
    RdxStatus (*memory_take)(void **memory, size_t bytes, int id);
    RdxStatus (*memory_give)(void *memory, int id);
    RdxStatus (*copy)(void *to, const void *from, size_t bytes, int id);
    RdxStatus (*wait)(RdxStream stream, int id);
    RdxStatus (*current_device)(int *id);
    RdxStatus (*select_device)(int id);
    /* Timing for the bench. record: what `calls` launches on a stream, captured as a graph; replay: one run of it, in
       microseconds. read: a plain read of `bytes` at `from` by one of RDX_PLUGIN_READS kernels, 16 bytes a load,
       nothing kept, and beside it `written` bytes at `to`, 16 a store: the best is the ceiling. */
    RdxStatus (*record)(void **recording, RdxStatus (*calls)(void *context, RdxStream stream), void *context, int id);
    RdxStatus (*replay)(void *recording, double *us);
    void (*forget)(void *recording);
    RdxStatus (*read)(int kernel, const void *from, size_t bytes, void *to, size_t written, RdxStream stream, int id);
    /* Queues `times` launches of a kernel without arguments that does nothing: what a launch costs the host. */
    RdxStatus (*launch_nothing)(int times, RdxStream stream, int id);
    /* For work that overlaps: streams that wait for no other, pinned host memory, and copies between it and the device
       that are only queued. */
    RdxStatus (*stream_take)(RdxStream *stream, int id);
    RdxStatus (*stream_give)(RdxStream stream, int id);
    RdxStatus (*pinned_take)(void **memory, size_t bytes, int id);
    RdxStatus (*pinned_give)(void *memory, int id);
    RdxStatus (*copy_queued)(void *to, const void *from, size_t bytes, RdxStream stream, int id);
    /* Bytes of the device's memory. */
    RdxStatus (*memory_room)(size_t *free_bytes, size_t *total_bytes, int id);
    RdxStatus (*build)(RdxCudaBuild *build);
    /* For tests. From watch to unwatch every call into CUDA is counted and named, and calls k to k + failing - 1 (1 is
       the first; k 0: none) are answered with CUDA's error number `error` instead of being made. calls and call(1 .. )
       tell of the latest watch; call is NULL past the end. pending: the error that the runtime holds for this thread's
       cudaGetLastError, not taken away. */
    void (*watch)(int64_t k, int64_t failing, int error);
    void (*unwatch)(void);
    int64_t (*calls)(void);
    const char *(*call)(int64_t k);
    int (*pending)(void);
} RdxPluginTable;

/* The one symbol that a plugin exports. NULL if it cannot work with this host. */
typedef const RdxPluginTable *(*RdxPluginEntry)(const RdxHostTable *host);

/* The plugin, looked up once: RDX_CUDA_PLUGIN, beside the object that holds rdx_version, the loader's path.
   RDX_ERR_NO_PLUGIN, RDX_ERR_PLUGIN_VERSION; RDX_ERR_FORKED in the child of a process that had it loaded. */
RdxStatus rdx_plugin(const RdxPluginTable **table);

/* The last of these alone, one relaxed load: execute asks before it launches. */
RdxStatus rdx_plugin_check_fork(void);

/* Gives back what a loaded plugin keeps; loads nothing. */
void rdx_plugin_shutdown(void);

#endif
