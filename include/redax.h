#ifndef REDAX_H                         /* C99 and C++11, no CUDA header. Every public name is rdx_, Rdx, RDX_. */
#define REDAX_H
#include <stddef.h>
#include <stdint.h>
#if defined _WIN32
#define RDX_API __declspec(dllimport)
#define RDX_MAY_ALIAS
#define RDX_CHECK
#else
#define RDX_API __attribute__((visibility("default")))
#define RDX_MAY_ALIAS __attribute__((may_alias))
#define RDX_CHECK __attribute__((warn_unused_result))
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define RDX_VERSION 100                 /* 0.1.0: major * 10000 + minor * 100 + patch */
#define RDX_TREE_VERSION 1              /* bits change only together with this number */
#define RDX_MAX_RANK 64
#define RDX_ALL_AXES (-1)               /* naxes = 0 reduces no axis: a converting copy */
#define RDX_WORKSPACE_HEAD 4096         /* CUDA: bytes that are zero before a launch and zero again after it; base aligned to 256 */
typedef struct RdxPlan RdxPlan;         /* immutable, owns copies of all it was given; any thread, any stream, many at once */
typedef struct CUstream_st *RdxStream;  /* CPU: must be NULL. CUDA: NULL is the legacy default stream */
/* DLTensor, member for member, 48 bytes; may_alias makes (const RdxTensor *)&dltensor legal. Strides in elements, NULL = row-major. */
typedef struct { int32_t type, id; } RdxDevice;  /* kDLCPU 1, kDLCUDAHost 3: CPU. kDLCUDA 2, kDLCUDAManaged 13: CUDA. All tensors alike */
typedef struct { uint8_t code, bits; uint16_t lanes; } RdxDtype;
typedef struct RDX_MAY_ALIAS RdxTensor {
    void *data; RdxDevice device; int32_t ndim; RdxDtype dtype; int64_t *shape, *strides; uint64_t byte_offset;
} RdxTensor;
enum { RDX_I8 = 0x0008, RDX_I16 = 0x0010, RDX_I32 = 0x0020, RDX_I64 = 0x0040, RDX_U8 = 0x0108, RDX_U16 = 0x0110, RDX_U32 = 0x0120,
    RDX_U64 = 0x0140, RDX_F16 = 0x0210, RDX_F32 = 0x0220, RDX_F64 = 0x0240, RDX_BF16 = 0x0410, RDX_C64 = 0x0540, RDX_C128 = 0x0580,
    RDX_BOOL = 0x0608, RDX_F8E4M3 = 0x0A08, RDX_F8E5M2 = 0x0C08 };             /* DLPack code << 8 | bits */
enum { RDX_SUM = 1, RDX_PROD = 2, RDX_MEAN = 3, RDX_VAR = 4, RDX_STD = 5, RDX_MIN = 6, RDX_MAX = 7, RDX_ARGMIN = 8, RDX_ARGMAX = 9,
    RDX_MINMAX = 10, RDX_ANY = 11, RDX_ALL = 12, RDX_COUNT_NONZERO = 13, RDX_NORM = 14, RDX_SUMSQ = 15, RDX_LOGSUMEXP = 16,
    RDX_BIT_AND = 17, RDX_BIT_OR = 18, RDX_BIT_XOR = 19 };
enum { RDX_NAN_PROPAGATE = 0, RDX_NAN_OMIT = 1 };
enum { RDX_TEXT = 0, RDX_SEXPR = 1, RDX_JSON = 2 };
typedef enum {                          /* RDX_STATUS_CLASS(s) = s / 100 */
    RDX_OK = 0,                         /* 1xx: the call is wrong */
    RDX_ERR_NULL = 100, RDX_ERR_STRUCT_SIZE = 101, RDX_ERR_OP = 102, RDX_ERR_DTYPE = 103, RDX_ERR_RANK = 104, RDX_ERR_AXIS = 105,
    RDX_ERR_SHAPE = 106, RDX_ERR_OVERFLOW = 107, RDX_ERR_DEVICE = 108, RDX_ERR_ALIGN = 109, RDX_ERR_OVERLAP = 110, RDX_ERR_OPTION = 111,
    RDX_ERR_EMPTY = 112, RDX_ERR_WORKSPACE = 113, RDX_ERR_STREAM = 114,
    RDX_ERR_UNSUPPORTED = 200,          /* 2xx: well formed, not offered (op x dtype x output dtype) */
    RDX_ERR_MEMORY = 300, RDX_ERR_DEVICE_MEMORY = 301,                         /* 3xx: ran out */
    RDX_ERR_NO_PLUGIN = 400, RDX_ERR_PLUGIN_VERSION = 401, RDX_ERR_NO_DEVICE = 402, RDX_ERR_CUDA = 403, RDX_ERR_FORKED = 404,
    RDX_ERR_INTERNAL = 900 } RdxStatus;
typedef struct RdxProblem {             /* start from RDX_PROBLEM_INIT; new members only at the end, 0 = as before */
    size_t size;
    int32_t op, nan;
    double p, correction, alpha, beta;  /* 2, 0, 1, 0. Not the default on an op that has none: RDX_ERR_OPTION */
    const int32_t *axes; int32_t naxes; /* -rank .. rank-1, any order */
    int32_t threads;                    /* CPU; 0 = the rdx_set_threads value when the plan is made */
    int32_t align;                      /* bytes that data + byte_offset will keep; 0 = what data has now, 16 where data is NULL */
    const RdxTensor *in, *out, *out2;   /* out2 NULL: no second output (minmax needs it). data may be NULL for rdx_plan_create */
} RdxProblem;
#define RDX_PROBLEM_INIT { sizeof(RdxProblem), 0, 0, 2.0, 0.0, 1.0, 0.0, NULL, RDX_ALL_AXES, 0, 0, NULL, NULL, NULL }
/* Default outputs: fills device, ndim, dtype and shape[] (caller's array of RDX_MAX_RANK); strides = NULL, data untouched. */
RDX_API RDX_CHECK RdxStatus rdx_infer_outputs(const RdxProblem *problem, int keepdims, RdxTensor *out, RdxTensor *out2);
RDX_API RDX_CHECK RdxStatus rdx_plan_create(RdxPlan **plan, const RdxProblem *problem);  /* may allocate, query, load kernels: not during capture */
RDX_API void rdx_plan_destroy(RdxPlan *plan);                     /* NULL is fine; work already launched may still be running */
RDX_API size_t rdx_plan_workspace(const RdxPlan *plan);           /* exact bytes, often 0; device memory for a CUDA plan */
RDX_API RDX_CHECK RdxStatus rdx_workspace_init(const RdxPlan *plan, void *workspace, RdxStream stream);  /* zero the head; capturable */
/* in, out, out2 replace RdxTensor.data: byte_offset and strides still apply. Checks null, alignment, byte-interval overlap, size. */
RDX_API RDX_CHECK RdxStatus rdx_execute(const RdxPlan *plan, const void *in, void *out, void *out2,
                                        void *workspace, size_t workspace_bytes, RdxStream stream);
RDX_API RDX_CHECK RdxStatus rdx_reduce(const RdxProblem *problem, RdxStream stream);     /* cached plan, own workspace */
RDX_API RDX_CHECK RdxStatus rdx_plan_explain(const RdxPlan *plan, int format, char *buffer, size_t size, size_t *needed);
RDX_API const char *rdx_status_name(RdxStatus status);            /* static, never NULL */
RDX_API const char *rdx_last_error(void);                         /* this thread's, until its next failing call; "" at first */
RDX_API int rdx_version(void), rdx_tree_version(void);            /* major * 10000 + minor * 100 + patch */
RDX_API void rdx_set_threads(int threads), rdx_set_cache(size_t plans), rdx_shutdown(void);  /* 0 plans: empty and off */
RDX_API void rdx_set_log(void (*log)(void *user, int level, const char *line), void *user, int level);
#ifdef __cplusplus
}
#endif
#endif
