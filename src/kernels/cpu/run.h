/* The CPU launcher; rdx_cpu_bind (kernel.h) points plans at it. */
#ifndef RDX_KERNELS_CPU_RUN_H
#define RDX_KERNELS_CPU_RUN_H

#include "worker.h"

RdxStatus rdx_cpu_launch(const RdxLaunch *launch);

#endif
