/* CASE: one line that says a reduction in full, shared by explain, bench, fuzz, logs, errors and tests.

       op[param]:dtype:shape[@strides][+offset][/axes]{:key=value}
       keys: nan out keep ostrides out2 alpha beta data seed threads

   shape "-" is rank 0; no "/" reduces all axes, "/-" none; strides and offset count elements. norm carries its p, var
   and std their correction where it is not 1. A CASE is what someone asked for, not what is allowed: a wrong axis or an
   unsupported dtype parses, and the library gets the chance to refuse it.

   rdx_case_parse -> RdxCase -> rdx_case_problem -> RdxTask (tensors, problem, extents) -> rdx_case_allocate (buffers
   with data) -> rdx_reduce(&task.problem, NULL). Storage element 0 is the lowest touched element, whatever the
   strides. */
#ifndef RDX_TOOLS_CASE_H
#define RDX_TOOLS_CASE_H

#include "data.h"

typedef struct RdxCase {
    int op;               /* RDX_SUM, ... */
    double p, correction; /* as in RdxProblem: only norm, only var and std may differ from 2 and 0 */
    int dtype;            /* RDX_F32, ... */
    int rank;
    int64_t shape[RDX_MAX_RANK], strides[RDX_MAX_RANK]; /* strides are valid where `strided`, else row-major */
    bool strided;
    int64_t offset;
    int naxes; /* RDX_ALL_AXES, or the length of axes */
    int32_t axes[RDX_MAX_RANK];
    int nan;
    bool keep;
    int out;     /* 0: the default dtype */
    bool second; /* a second output; always true for minmax */
    int out2;    /* 0: the default; follows `out` where that is given and the op's second output is a mean */
    bool ostrided;
    int ostrides_rank;
    int64_t ostrides[RDX_MAX_RANK]; /* of the output as shaped (with extent 1 on reduced axes if keep); out2 alike */
    double alpha, beta;
    int data; /* RdxDataClass */
    uint64_t seed;
    int threads; /* 0: the library's default */
} RdxCase;

/* On failure `error` says what is wrong and at which column; *c is then unspecified. */
bool rdx_case_parse(RdxCase *c, const char *text, char *error, size_t size);

/* The canonical spelling: parse(print(c)) == c. Writes at most size bytes, returns the length it wants. */
enum { RDX_CASE_TEXT = 4096 }; /* room for any CASE */
size_t rdx_case_print(const RdxCase *c, char *buffer, size_t size);

const char *rdx_case_op_name(int op); /* "sum", ...; "?" for no op */
int rdx_case_op_named(const char *name);

/* Where a tensor's elements lie, in elements relative to tensor.data, byte_offset included. */
typedef struct RdxCaseExtent {
    int64_t low, high; /* the lowest and the highest touched element; low > high if there are none */
    int64_t count;     /* high - low + 1: storage elements; 0 for none; -1 if it does not fit int64 */
    int64_t elements;  /* product of the shape; -1 likewise */
} RdxCaseExtent;

enum { RDX_CASE_IN, RDX_CASE_OUT, RDX_CASE_OUT2, RDX_CASE_TENSORS };

/* A problem with all that it points at. It points into itself: do not copy or move it. */
typedef struct RdxTask {
    RdxCase c;
    RdxProblem problem;
    int tensors; /* 2, or 3 with a second output */
    RdxTensor tensor[RDX_CASE_TENSORS];
    RdxCaseExtent extent[RDX_CASE_TENSORS];
    int64_t shape[RDX_CASE_TENSORS][RDX_MAX_RANK], strides[RDX_CASE_TENSORS][RDX_MAX_RANK]; /* always filled */
    struct RdxCaseBuffer {
        unsigned char *base;                  /* start of the allocation or mapping; NULL: none */
        size_t bytes;                         /* of all of it, guard pages included */
        unsigned char *storage, *storage_end; /* the touched range, element `low` to the end of element `high` */
        unsigned char *usable, *usable_end;   /* what may be read and written: margins included */
        bool mapped;
        uint64_t digest; /* of the input's storage as filled; 0: too large to be watched */
    } buffer[RDX_CASE_TENSORS];
} RdxTask;

/* Fills *task: problem and tensors with data NULL. Shapes and dtypes of the outputs come from rdx_infer_outputs (whose
   status is returned) unless the CASE gives them. */
RdxStatus rdx_case_problem(const RdxCase *c, RdxTask *task);

enum {
    RDX_CASE_PLAIN,       /* aligned to 64 bytes, canaries of 64 bytes on both sides */
    RDX_CASE_GUARD_END,   /* the byte after the last touched one is an unmapped page */
    RDX_CASE_GUARD_START, /* the byte before the first one is */
};

/* A mapping that the machine cannot back would end the process later, without a word: nine tenths of memory are the
   limit. */
bool rdx_case_affordable(double bytes);

/* Buffers for all tensors, the input filled by (data, seed), the outputs as rdx_case_reset leaves them.
   False with a sentence if memory or address space is short. Sparse tensors cost only the pages they touch. */
bool rdx_case_allocate(RdxTask *task, int guard, char *error, size_t size);
/* Outputs as before the first execution: beta != 0: data=exact of seed + 1 in out, zero in out2. Else every byte is
   0xff (NaN in any float), so that an output that was not written, or was read, shows. Holes and margins: canaries. */
void rdx_case_reset(RdxTask *task);
/* False with a sentence if a canary, a hole between output elements or the input has been written. */
bool rdx_case_intact(const RdxTask *task, char *error, size_t size);
void rdx_case_release(RdxTask *task); /* frees the buffers; may be called twice */

/* The address of tensor `which`'s element at logical row-major position `i`. */
void *rdx_case_element(const RdxTask *task, int which, int64_t i);

#endif
