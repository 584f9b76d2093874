/* A CUDA device as the command uses it. Files lie in host memory, so whatever is reduced there travels first: through
   two pinned buffers in turn, each with a stream of its own, so that one is filled while the other's bytes are copied
   and reduced. A "sweep" is several reductions of one host tensor along the same axes; a tensor that is larger than the
   device's memory is cut along kept axes into slices, which changes no bit: a result does not depend on how many others
   are computed with it.

   Every function leaves a sentence in rdx_last_error when it fails. RDX_DEVICE_BYTES in the environment bounds the
   device memory that is used, RDX_PIECE_BYTES says how large slices are where the choice is free (default 64 MiB). */
#ifndef RDX_TOOLS_GPU_H
#define RDX_TOOLS_GPU_H

#include "output.h"

#include <redax.h>

enum { RDX_GPU_LANES = 2 };

typedef struct RdxGpuLane {
    RdxStream stream;
    unsigned char *pinned, *memory; /* of the host and of the device */
    size_t pinned_bytes, memory_bytes;
} RdxGpuLane;

typedef struct RdxGpu {
    const struct RdxPluginTable *plugin;
    int id;
    size_t piece_bytes, most_bytes; /* most_bytes 0: what is free */
    RdxGpuLane lane[RDX_GPU_LANES];
} RdxGpu;

/* RDX_ERR_NO_PLUGIN, _NO_DEVICE, ... */
RdxStatus rdx_gpu_open(RdxGpu *gpu, int id);
void rdx_gpu_close(RdxGpu *gpu); /* also after open failed */

/* Memory of a device, to be given back through the plugin. RDX_ERR_DEVICE_MEMORY says how much was asked for, and what
   is free. */
RdxStatus rdx_gpu_take(int id, void **memory, size_t bytes);
/* Grows a lane's buffers; what they held is lost. */
RdxStatus rdx_gpu_reserve(RdxGpu *gpu, RdxGpuLane *lane, size_t pinned_bytes, size_t memory_bytes);
/* Device memory that a sweep may use, in bytes. */
RdxStatus rdx_gpu_room(RdxGpu *gpu, size_t *bytes);

/* One reduction of a sweep. Outputs: host memory, row-major, of the shape that rdx_infer_outputs gives, with or without
   the reduced axes; out2 NULL where there is none. parts: of a complex tensor, the real and the imaginary parts alike,
   reduced together. */
typedef struct RdxSweepPass {
    int op, nan;
    double p, correction;
    bool parts;
    const RdxTensor *out, *out2;
} RdxSweepPass;

/* `in`: host memory, its axes dense in some order (C, Fortran), at any alignment. */
typedef struct RdxSweep {
    const RdxTensor *in;
    const int32_t *axes;
    int32_t naxes;
    const RdxSweepPass *pass;
    int passes;
    RdxProgress *progress; /* NULL: none */
} RdxSweep;

/* Every pass, done on return. The library's refusals; RDX_ERR_DEVICE_MEMORY: what one output takes is more than the
   device has. */
RdxStatus rdx_gpu_sweep(RdxGpu *gpu, const RdxSweep *sweep);

/* ---- What is there ---- */

typedef struct RdxGpuFacts {
    char name[32];
    int units, compute; /* compute: 90 for 9.0 */
    size_t memory_bytes, free_bytes;
} RdxGpuFacts;

typedef struct RdxGpuSupport {
    int devices, driver, runtime; /* versions: 1000 * major + 10 * minor; 0 unknown */
    bool small_tables;            /* a debug build: most ops and dtypes are not there */
    char architectures[96];       /* built in: "sm_80 sm_90"; "" where nvcc did not build the plugin */
} RdxGpuSupport;

/* RDX_ERR_NO_PLUGIN and the like; a plugin without a device is RDX_OK. */
RdxStatus rdx_gpu_support(RdxGpuSupport *support);
RdxStatus rdx_gpu_facts(int id, RdxGpuFacts *facts);

#endif
