/* A device as planning sees it: plain numbers, no handle. Plans for any GPU are made and tested on any machine. */
#ifndef RDX_DEVICE_H
#define RDX_DEVICE_H

#include "base.h"

typedef struct RdxDeviceInfo {
    char name[32];                             /* "cpu", "h200", ... */
    bool cuda;                                 /* false: the host */
    int units;                                 /* CUDA: multiprocessors. CPU: threads that the problem may use */
    int threads_per_unit;                      /* CUDA: resident threads of a multiprocessor. CPU: 1 */
    int blocks_per_unit;                       /* CUDA: resident blocks of a multiprocessor */
    int registers_per_unit;                    /* CUDA: 32-bit registers of a multiprocessor */
    int compute;                               /* CUDA: 10 * major + minor; CPU: 0 */
    int64_t shared_per_unit, shared_per_block; /* CUDA: bytes */
    int64_t l1_bytes, l2_bytes;                /* CPU: of one core. CUDA: l2 of the chip */
    double bandwidth;                          /* bytes per second of a plain read of a large buffer */
    double cache_bandwidth;                    /* the same from the L2 */
    double launch_us;                          /* CUDA: one kernel node. CPU: waking a worker */
    int64_t many_blocks; /* CUDA: from so many on a warp takes several rows, so that its start is paid once for them */
    int64_t heavy_bytes; /* CUDA: of larger inputs, rows whose nodes are several words go through rings (cuda_rows.c) */
} RdxDeviceInfo;

/* Presets by name: "h200", "a100", "t4", and "cpu", for which all CPU plans are made but for the number of threads.
   NULL if unknown. */
const RdxDeviceInfo *rdx_device_preset(const char *name);

#endif
