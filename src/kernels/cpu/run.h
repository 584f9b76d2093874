/* The CPU launchers; rdx_cpu_bind (kernel.h) points plans at one. */
#ifndef RDX_KERNELS_CPU_RUN_H
#define RDX_KERNELS_CPU_RUN_H

#include "worker.h"

RdxStatus rdx_cpu_launch(const RdxLaunch *launch);
RdxStatus rdx_cpu_launch_one(const RdxLaunch *launch);

#endif
