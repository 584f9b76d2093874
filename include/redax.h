/* redax: reductions of strided tensors, with the same bits everywhere. This header is the manual.

   In one call:

       float matrix[2][3] = {{1, 2, 3}, {4, 5, 9}}, mean[3];
       int64_t in_shape[] = {2, 3}, out_shape[] = {3};
       int32_t axes[] = {0};
       RdxTensor in = {matrix, {1, 0}, 2, {2, 32, 1}, in_shape, NULL, 0};
       RdxTensor out = {mean, {1, 0}, 1, {2, 32, 1}, out_shape, NULL, 0};
       RdxProblem problem = RDX_PROBLEM_INIT;
       problem.op = RDX_MEAN;
       problem.axes = axes;
       problem.naxes = 1;
       problem.in = &in;
       problem.out = &out;
       if (rdx_reduce(&problem, NULL) != RDX_OK)
           complain(rdx_last_error());

   What is reduced: `in`, of any rank up to 64, any extents (0 too) and any strides (0, negative, permuted). A reduced
   axis is gone from the output, or stays with extent 1: the output has rank - naxes dims, or rank dims. Reducing no
   axis (naxes = 0) is a converting copy of each element through the op.

   What the bits depend on: op, options, dtypes, the number of reduced elements and those elements in canonical order
   (reduced axes by descending |stride|). Not on threads, instruction set, alignment, signs of strides, other outputs,
   or the caller's rounding mode and flush-to-zero flags, which are set to the default during a call and given back.
   RDX_TREE_VERSION changes whenever any bit does.

   Errors are values. A call that fails says why in rdx_last_error() and has written nothing through its out
   parameters and, on the CPU, nothing to the outputs. The library never prints, exits or aborts.

   Threads: every function may be called from any thread at any time. A plan is immutable and may be executed by many
   at once, each with its own workspace and outputs. The library keeps no pointer to what it was given after a call
   returns, except the log callback and its user pointer.

   Fork: the child of a fork may use the library; its pool of threads starts anew. CUDA does not survive a fork: where
   the parent had used it, the child's CUDA calls are RDX_ERR_FORKED.

   Environment: RDX_ISA names the instruction set (baseline, avx2, avx512; neon) where the best one is not wanted; one
   that this machine or build lacks makes plans fail with RDX_ERR_DEVICE. RDX_CUDA_PLUGIN names the CUDA plugin's
   file. Setuid programs ignore both.

   C99 and C++11, no CUDA header. Every public name begins with rdx_, Rdx or RDX_. */
#ifndef REDAX_H
#define REDAX_H

#include <stddef.h>
#include <stdint.h>

#define RDX_API __attribute__((visibility("default")))
#define RDX_MAY_ALIAS __attribute__((may_alias))
#define RDX_CHECK __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants ---- */

#define RDX_VERSION 100         /* of this header, 0.1.0: major * 10000 + minor * 100 + patch; see rdx_version */
#define RDX_TREE_VERSION 2      /* bits change only together with this number; see rdx_tree_version */
#define RDX_MAX_RANK 64         /* most dims of a tensor */
#define RDX_ALL_AXES (-1)       /* RdxProblem.naxes: reduce every axis */
#define RDX_WORKSPACE_HEAD 4096 /* CUDA: the workspace's first bytes; zero before a launch and zero again after it */

/* ---- Types ---- */

/* A reduction that is ready to run. It owns copies of all that it needs: the problem, the tensors and their arrays
   may go as soon as rdx_plan_create returns. Immutable; any thread, any stream, many executions at once. */
typedef struct RdxPlan RdxPlan;

/* A cudaStream_t. CPU: must be NULL. CUDA: NULL is the legacy default stream. */
typedef struct CUstream_st *RdxStream;

/* DLPack's numbers of the devices that redax knows. */
enum {
    RDX_CPU = 1,
    RDX_CUDA = 2,
    RDX_CUDA_HOST = 3,    /* pinned host memory */
    RDX_CUDA_MANAGED = 13 /* cudaMallocManaged */
};

/* Where a tensor lies. RDX_CPU and RDX_CUDA_HOST: the CPU, whatever the id. RDX_CUDA and RDX_CUDA_MANAGED: the CUDA
   device `id`. All tensors of a problem lie alike. */
typedef struct {
    int32_t type, id;
} RdxDevice;

/* DLPack's dtype: kind, bits of one element (a complex number's both parts), and lanes, which must be 1. */
typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} RdxDtype;

/* A tensor: DLPack's DLTensor, member for member, so that (const RdxTensor *)&dltensor is legal. The caller owns all
   of it. The first element lies at data + byte_offset, and that address must be a multiple of the element size (of
   one part for complex dtypes). */
typedef struct RDX_MAY_ALIAS RdxTensor {
    /* may be NULL where there are no elements, and for rdx_plan_create and rdx_infer_outputs */
    void *data;
    RdxDevice device; /* where data lies */
    int32_t ndim;     /* 0 .. RDX_MAX_RANK; 0 is a scalar, of one element */
    RdxDtype dtype;   /* RDX_DTYPE of one of the constants below */
    int64_t *shape;   /* ndim extents, each >= 0; NULL is fine for ndim 0 */
    /* ndim strides in ELEMENTS, any sign, 0 too; NULL: row-major. Ignored where the extent is 0 or 1 */
    int64_t *strides;
    uint64_t byte_offset; /* bytes from data to the first element; at most 2^62 */
} RdxTensor;

/* ---- Dtypes: DLPack's code << 8 | bits ---- */

/* Initialises an RdxDtype: RDX_DTYPE(RDX_F32). */
#define RDX_DTYPE(type)                                                                                                \
    {                                                                                                                  \
        (uint8_t)((type) >> 8), (uint8_t)((type)&255), 1                                                               \
    }

enum {
    RDX_I8 = 0x0008,
    RDX_I16 = 0x0010,
    RDX_I32 = 0x0020,
    RDX_I64 = 0x0040,
    RDX_U8 = 0x0108,
    RDX_U16 = 0x0110,
    RDX_U32 = 0x0120,
    RDX_U64 = 0x0140,
    RDX_F16 = 0x0210,
    RDX_F32 = 0x0220,
    RDX_F64 = 0x0240,
    RDX_BF16 = 0x0410,
    RDX_C64 = 0x0540,    /* complex of two f32 */
    RDX_C128 = 0x0580,   /* complex of two f64 */
    RDX_BOOL = 0x0608,   /* one byte: any but zero is true, stored as 0 or 1 */
    RDX_F8E4M3 = 0x0A08, /* float8_e4m3fn: no infinities, largest 448 */
    RDX_F8E5M2 = 0x0C08  /* float8_e5m2 */
};

/* ---- Ops; "floats" are f16 bf16 f32 f64 f8e4m3 f8e5m2, "ints" the integers and bool ----
   After each: inputs -> outputs, the default first; then what reducing nothing gives. */

enum {
    /* ints -> i64 (u8 .. u64 -> u64), any integer, f32, f64; floats -> same (f8: f32), any float; complex -> same,
       complex. Integers are exact modulo 2^64. Of nothing 0 */
    RDX_SUM = 1,
    RDX_PROD = 2, /* as RDX_SUM; ints into a float are multiplied in f64. Of nothing 1 */
    /* ints -> f64, any float; floats -> same (f8: f32), any float; complex -> same, complex. Of nothing NaN */
    RDX_MEAN = 3,
    /* ints -> f64; floats -> same (f8: f32); complex -> their real; or any float. Divides by n - correction; NaN
       where that is not positive. out2: the mean, typed as RDX_MEAN's output. Of nothing NaN */
    RDX_VAR = 4,
    RDX_STD = 5, /* the root of RDX_VAR */
    /* all but complex -> same. NaN wins, -0 < +0. out2: the index, as RDX_ARGMIN. Of nothing RDX_ERR_EMPTY */
    RDX_MIN = 6,
    RDX_MAX = 7, /* likewise; out2 as RDX_ARGMAX */
    /* all but complex -> i64: the row-major position within the reduced axes (in ascending order of axis, all axes:
       in the flattened tensor) of the smallest. The lowest of equals; the first NaN wins; -0 equals +0 */
    RDX_ARGMIN = 8,
    RDX_ARGMAX = 9, /* likewise of the largest */
    /* all but complex -> same: minimum to out, maximum to out2, which must be there */
    RDX_MINMAX = 10,
    RDX_ANY = 11,           /* all -> bool, u8: whether any is not zero. NaN is true. Of nothing false */
    RDX_ALL = 12,           /* all -> bool, u8. Of nothing true */
    RDX_COUNT_NONZERO = 13, /* all -> i64. NaN counts. Of nothing 0 */
    /* (sum |x|^p)^(1/p); ints -> f64, floats -> same (f8: f32), complex -> their real; or any float. p = 0 counts
       what is not zero, inf and -inf are the largest and smallest |x|. Of nothing 0; RDX_ERR_EMPTY where p < 0 */
    RDX_NORM = 14,
    RDX_SUMSQ = 15, /* sum of |x|^2, dtypes as RDX_NORM. Of nothing 0 */
    /* log of the sum of exp(x); floats -> same (f8: f32), any float. Of nothing -inf */
    RDX_LOGSUMEXP = 16,
    RDX_BIT_AND = 17, /* ints -> same. Of nothing all ones (bool: true) */
    RDX_BIT_OR = 18,  /* ints -> same. Of nothing 0 */
    RDX_BIT_XOR = 19  /* ints -> same. Of nothing 0 */
};

/* RdxProblem.nan. Omit: elements that are NaN (complex: either part) do not exist. Nothing but NaN: sum 0, prod 1,
   mean, var, std, min, max, minmax NaN, argmin and argmax -1, logsumexp -inf, norm and sumsq 0. Integers have no NaN:
   no difference. */
enum { RDX_NAN_PROPAGATE = 0, RDX_NAN_OMIT = 1 };

/* Formats of rdx_plan_explain: for people, as one s-expression, as one JSON object. */
enum { RDX_TEXT = 0, RDX_SEXPR = 1, RDX_JSON = 2 };

/* ---- Statuses; numbers are pinned, number / 100 is the class ---- */

typedef enum {
    RDX_OK = 0,

    /* 1xx: the call is wrong */
    RDX_ERR_NULL = 100, /* a pointer that is needed is NULL */
    /* RdxProblem.size is below the library's sizeof(RdxProblem) or above 4096, or a member is set that it does not
       know */
    RDX_ERR_STRUCT_SIZE = 101,
    RDX_ERR_OP = 102,       /* no such op */
    RDX_ERR_DTYPE = 103,    /* no such dtype, or lanes != 1 */
    RDX_ERR_RANK = 104,     /* a rank below 0 or above RDX_MAX_RANK, or an output of the wrong rank */
    RDX_ERR_AXIS = 105,     /* an axis out of range or given twice, or a wrong naxes */
    RDX_ERR_SHAPE = 106,    /* a negative extent, or an output's that does not fit the input's */
    RDX_ERR_OVERFLOW = 107, /* more than 2^63 - 1 elements, or bytes beyond 2^62 */
    /* a device that redax does not know, tensors on different ones, or a wrong RDX_ISA */
    RDX_ERR_DEVICE = 108,
    RDX_ERR_ALIGN = 109, /* data + byte_offset is less aligned than its dtype or the plan needs */
    /* an output's bytes meet the input's or the other output's, or may meet themselves */
    RDX_ERR_OVERLAP = 110,
    RDX_ERR_OPTION = 111,    /* an option this op does not take, or a value out of its range */
    RDX_ERR_EMPTY = 112,     /* reducing nothing has no value here, and the output has elements */
    RDX_ERR_WORKSPACE = 113, /* the workspace is too small */
    /* a stream for the CPU, a cache miss on a capturing stream, or what CUDA does not allow while one captures */
    RDX_ERR_STREAM = 114,

    /* 2xx: well formed, not offered */
    RDX_ERR_UNSUPPORTED = 200, /* op x dtype x output dtype; the sentence names what is allowed */

    /* 3xx: ran out */
    RDX_ERR_MEMORY = 300,
    RDX_ERR_DEVICE_MEMORY = 301,

    /* 4xx: the device's side */
    RDX_ERR_NO_PLUGIN = 400,      /* a CUDA tensor, but no CUDA plugin could be loaded */
    RDX_ERR_PLUGIN_VERSION = 401, /* the plugin belongs to another version of redax */
    RDX_ERR_NO_DEVICE = 402,      /* no such CUDA device */
    RDX_ERR_CUDA = 403,           /* CUDA failed; the sentence quotes it */
    RDX_ERR_FORKED = 404,         /* CUDA in the child of a fork that had used it before */

    RDX_ERR_INTERNAL = 900 /* a defect of redax; please report the sentence */
} RdxStatus;

/* ---- Problems ---- */

/* What to reduce and how. Start from RDX_PROBLEM_INIT and set what you need; it is only read, and only during the
   call. New members come at the end, and 0 there means as before: a program compiled with a later header works with
   this library as long as it leaves them 0. */
typedef struct RdxProblem {
    size_t size;       /* sizeof(RdxProblem), from RDX_PROBLEM_INIT */
    int32_t op, nan;   /* RDX_SUM, ...; RDX_NAN_PROPAGATE or, for all but the bit ops, RDX_NAN_OMIT */
    double p;          /* norm: its order, any number but NaN and subnormal ones, infinities too. Default 2 */
    double correction; /* var, std: divide by n - correction; any finite number. Default 0 */
    /* out = alpha * result + beta * out, each product rounded in the accumulator's type, then added, then stored;
       out2 takes no part. Floating and complex outputs only. beta = 0 never reads out. Default 1, 0. An option that
       is not its default on an op or output without it is RDX_ERR_OPTION */
    double alpha, beta;
    /* naxes axes, each -rank .. rank - 1, none twice, in any order (which changes nothing) */
    const int32_t *axes;
    /* 0 .. rank, or RDX_ALL_AXES (the default). With 0 and RDX_ALL_AXES axes may be NULL */
    int32_t naxes;
    /* CPU: at most so many; 0: the rdx_set_threads value when the plan is made. At most 256. Small problems use
       fewer. Bits do not depend on it */
    int32_t threads;
    /* The alignment, in bytes, that the input's first element (data + byte_offset) will have in every execution: a
       power of two, 16 for what malloc gives; a plan gains nothing by more. 0, the default: what it has
       now, data counting as aligned where it is NULL. rdx_execute refuses an address that has less than was planned
       with, of which it looks at 16 at most; where strides are negative, that of the lowest element */
    int32_t align;
    const RdxTensor *in; /* the input; strides may be anything */
    /* the output, shaped as said at the top. Its strides may be negative or permuted, but its elements must provably
       not overlap: by ascending |stride|, each axis steps over all that smaller ones span */
    const RdxTensor *out;
    /* the second output, shaped like out, with strides of its own; NULL: none (minmax needs it) */
    const RdxTensor *out2;
} RdxProblem;

#define RDX_PROBLEM_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(RdxProblem), 0, 0, 2.0, 0.0, 1.0, 0.0, NULL, RDX_ALL_AXES, 0, 0, NULL, NULL, NULL                       \
    }

/* ---- In one call ---- */

/* Reduces, through a bounded cache of plans and with a workspace of its own. CPU: done on return. CUDA: enqueued on
   `stream`. The first call for a problem makes its plan; later ones find it by everything that a plan depends on
   (of alpha and beta whether they are 1 and 0, of pointers how they are aligned). All that rdx_plan_create and
   rdx_execute may fail with, and RDX_ERR_MEMORY or, on the device, RDX_ERR_DEVICE_MEMORY for the workspace.

   A capturing stream takes only what is in the cache, else RDX_ERR_STREAM: call once before the capture (which does
   not help where the cache is off or memory ran out). A plan stays there until at least 8 other problems (fewer, if
   rdx_set_cache gave room for fewer) were reduced since its last use, by any thread; mostly for far longer, but that
   is chance. rdx_set_cache and rdx_shutdown drop all. A program that captures many problems makes plans
   (rdx_plan_create). */
RDX_API RDX_CHECK RdxStatus rdx_reduce(const RdxProblem *problem, RdxStream stream);

/* The default outputs of problem->op for problem->in: fills device, ndim, dtype and shape, sets strides to NULL
   (row-major) and byte_offset to 0, leaves data alone. out->shape and out2->shape are the caller's arrays of
   RDX_MAX_RANK extents. keepdims: reduced axes stay with extent 1. out2 may be NULL; it is RDX_ERR_UNSUPPORTED for an
   op without second output. Reads op, axes, naxes and in only; problem->out may be NULL.
       int64_t shape[RDX_MAX_RANK];
       RdxTensor out = {0};
       out.shape = shape;
       status = rdx_infer_outputs(&problem, 0, &out, NULL);   then allocate, set out.data and problem.out = &out
   RDX_ERR_NULL, _STRUCT_SIZE, _OP, _DTYPE, _UNSUPPORTED, _RANK, _SHAPE, _AXIS. */
RDX_API RDX_CHECK RdxStatus rdx_infer_outputs(const RdxProblem *problem, int keepdims, RdxTensor *out, RdxTensor *out2);

/* ---- Plan once, execute often ---- */

/* Makes a plan; the caller destroys it. data pointers may be NULL; where all tensors have one, alignment and overlap
   are checked already. May allocate, query the device and load kernels: not during a capture.
       RdxPlan *plan;
       if (rdx_plan_create(&plan, &problem) != RDX_OK) ...
       size_t bytes = rdx_plan_workspace(plan);
       void *workspace = bytes ? malloc(bytes) : NULL;
       for (...)
           if (rdx_execute(plan, in, out, NULL, workspace, bytes, NULL) != RDX_OK) ...
       rdx_plan_destroy(plan);
   RDX_ERR_NULL, _STRUCT_SIZE, _OP, _DTYPE, _RANK, _AXIS, _SHAPE, _OVERFLOW, _DEVICE, _ALIGN, _OVERLAP, _OPTION,
   _EMPTY, _UNSUPPORTED, _MEMORY; for CUDA tensors also _NO_PLUGIN, _PLUGIN_VERSION, _NO_DEVICE, _CUDA, _FORKED,
   _DEVICE_MEMORY (for code that is loaded), _STREAM (during a capture). */
RDX_API RDX_CHECK RdxStatus rdx_plan_create(RdxPlan **plan, const RdxProblem *problem);

/* Destroys a plan; NULL is fine. No thread may be inside rdx_execute with it; work that was already launched on a
   CUDA stream may still be running. */
RDX_API void rdx_plan_destroy(RdxPlan *plan);

/* The workspace that rdx_execute needs, in bytes; often 0, and 0 for NULL. CPU: host memory of any alignment. CUDA:
   memory of the plan's device, aligned to 256 bytes. Nothing is expected of its contents, and nothing kept in it, but
   for the CUDA head below. */
RDX_API size_t rdx_plan_workspace(const RdxPlan *plan);

/* Readies a workspace of rdx_plan_workspace(plan) bytes: CUDA: clears the first RDX_WORKSPACE_HEAD bytes, on
   `stream`; once before the first launch, and again after a CUDA error. May be captured. One workspace serves any
   plans in stream order; launches that may overlap need one each. CPU: does nothing but check. RDX_ERR_NULL; CPU:
   _STREAM; CUDA: _FORKED, or by what CUDA says _CUDA, _STREAM, _NO_DEVICE, _DEVICE_MEMORY. */
RDX_API RDX_CHECK RdxStatus rdx_workspace_init(const RdxPlan *plan, void *workspace, RdxStream stream);

/* Executes a plan. in, out and out2 stand for the tensors' data: byte_offset, strides, alpha and beta are the plan's.
   out2 is ignored where the plan has none. A pointer may be NULL where its tensor has no elements. CPU: done on
   return; on one thread it allocates and locks nothing, on several it takes the pool's lock and starts the threads
   that are not there yet, which are kept; this and rdx_reduce need 192 KiB of the caller's stack. CUDA: launches only,
   so it may be captured; what a kernel reads are the aligned 16 bytes that an element lies in, of memory that CUDA
   hands out by larger multiples. Checked every time: null, the alignment that was planned, overlap (by intervals of
   bytes, so interleaved tensors are refused too), the workspace. RDX_ERR_NULL, _ALIGN, _OVERLAP, _WORKSPACE, _STREAM;
   CUDA: _FORKED, or by what CUDA says _CUDA, _STREAM, _NO_DEVICE, _DEVICE_MEMORY. */
RDX_API RDX_CHECK RdxStatus rdx_execute(const RdxPlan *plan, const void *in, void *out, void *out2, void *workspace,
                                        size_t workspace_bytes, RdxStream stream);

/* Writes what a plan will do and why: the collapsed dims, the choice, predicted bytes and time, and every other
   strategy with its time or the reason for its refusal. format: RDX_TEXT, RDX_SEXPR, RDX_JSON. Writes at most `size`
   bytes with the terminating 0; *needed (may be NULL) is the size that the whole takes, so a call with NULL, 0 asks.
   A text that was cut is RDX_OK. RDX_ERR_NULL, _OPTION. */
RDX_API RDX_CHECK RdxStatus rdx_plan_explain(const RdxPlan *plan, int format, char *buffer, size_t size,
                                             size_t *needed);

/* ---- Errors and versions ---- */

/* "RDX_ERR_AXIS" and so on; static, never NULL: "RDX_ERR_UNKNOWN" for what is none. */
RDX_API const char *rdx_status_name(RdxStatus status);

/* One sentence on this thread's latest failure, with the numbers, e.g. "axis 5 is out of range for rank 3". It stays
   until this thread's next failing call, also over calls that succeed; "" before the first. Never NULL; do not free
   it. */
RDX_API const char *rdx_last_error(void);

/* Of the library that is loaded, as RDX_VERSION and RDX_TREE_VERSION are of the header. */
RDX_API int rdx_version(void);
RDX_API int rdx_tree_version(void);

/* ---- The process ---- */

/* Threads for plans made from now on whose problem says 0: at most 256; 0 or less (the default): as many as there are
   processors that the caller or the main thread may run on when a plan is made. The library's own threads run on any
   of those. */
RDX_API void rdx_set_threads(int threads);

/* Empties rdx_reduce's cache and bounds it to so many plans (at most 65536; 256 at first); 0 turns it off. A plan in
   use lives on until its call returns. With the plans up to 64 MiB of workspaces are kept on the CPU. */
RDX_API void rdx_set_cache(size_t plans);

/* Empties the cache, joins the worker threads after the job that they are at, and frees the CUDA workspaces of
   rdx_reduce (which waits for the device). All starts again when it is next needed. Happens by itself, but for the CUDA
   half, when the library is unloaded. Plans of the caller's stay valid. */
RDX_API void rdx_shutdown(void);

/* Calls `log` with lines of text (no newline, cut at 1023 bytes, valid during the call) on the thread that the event
   is on. level: 0 nothing (as does a NULL log), 1 plans that could not be made and memory that CUDA did not take back,
   2 also each plan made, 3 also each execution. A line of 2 or 3 ends in the problem's CASE, which `redax explain` and
   `redax bench` take; it leaves out align, out's byte_offset, how out2 lies and an offset of half an element, and is
   cut at 159 bytes. The callback is called without a lock: one that was just replaced may still be running on other
   threads. It may call the library; such calls are logged too. */
RDX_API void rdx_set_log(void (*log)(void *user, int level, const char *line), void *user, int level);

#ifdef __cplusplus
}
#endif
#endif
