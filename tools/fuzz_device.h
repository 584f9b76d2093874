/* A task's tensors mirrored on a CUDA device, so that the fuzzer and tests can run the same CASE there: the whole
   buffers travel, margins and holes too, and what came back is checked where it always is, on the host. Of an input of
   few elements far apart these alone travel. The memory comes from the plugin. */
#ifndef RDX_TOOLS_FUZZ_DEVICE_H
#define RDX_TOOLS_FUZZ_DEVICE_H

#include "case.h"

typedef struct RdxMirror {
    int id;
    RdxProblem problem; /* the task's, with tensors on the device */
    RdxTensor tensor[RDX_CASE_TENSORS];
    unsigned char *memory[RDX_CASE_TENSORS];
    unsigned char *place[RDX_CASE_TENSORS]; /* of the buffer's `usable`; outputs are aligned to elements only */
} RdxMirror;

/* Bytes that travel. */
size_t rdx_mirror_bytes(const RdxTask *task);

/* Takes memory for the task's buffers and copies the input. RDX_ERR_DEVICE_MEMORY and others with a sentence. */
RdxStatus rdx_mirror_open(RdxMirror *mirror, RdxTask *task, int id);
void rdx_mirror_close(RdxMirror *mirror);

/* Is the plugin a debug build, in which RDX_ERR_UNSUPPORTED only says that a kernel was left out? */
bool rdx_mirror_lacks_kernels(void);

/* Copies the outputs as they are on the host, executes, copies everything back. The workspace lies between canaries,
   and its head has to be zero again; RDX_ERR_INTERNAL says where it is not. */
RdxStatus rdx_mirror_execute(RdxMirror *mirror, RdxTask *task, const RdxPlan *plan, char *sentence, size_t size);
/* The same through rdx_reduce. */
RdxStatus rdx_mirror_reduce(RdxMirror *mirror, RdxTask *task);

#endif
