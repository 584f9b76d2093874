/* What DLPack has beyond redax.h's RdxTensor: managed tensors, and the C exchange API of Python array types. Debian's
   libdlpack-dev is older than the latter, so the structs are declared here from the published layout of DLPack 1.3
   (github.com/dmlc/dlpack, include/dlpack/dlpack.h). The exchange API is found as the attribute
   __dlpack_c_exchange_api__ of an array's type: a capsule named "dlpack_exchange_api". */
#ifndef REDAX_PYTHON_DLPACK_H
#define REDAX_PYTHON_DLPACK_H

#include <redax.h>
#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 3, DL_READ_ONLY = 1 };
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

typedef struct {
    uint32_t major, minor;
} DlVersion;

/* In a capsule named "dltensor": before DLPack 1.0. */
typedef struct DlManagedLegacy {
    RdxTensor tensor;
    void *owner;
    void (*deleter)(struct DlManagedLegacy *self);
} DlManagedLegacy;

/* In a capsule named "dltensor_versioned", whose destructor calls the deleter while the capsule keeps that name. */
typedef struct DlManaged {
    DlVersion version;
    void *owner;
    void (*deleter)(struct DlManaged *self);
    uint64_t flags;
    RdxTensor tensor;
} DlManaged;

/* Every function returns 0, or another number with a Python exception set (allocate: with set_error called). */
typedef struct DlExchange {
    DlVersion version;
    const struct DlExchange *previous; /* an older table, or NULL */
    int (*allocate)(RdxTensor *prototype, DlManaged **out, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*managed_from_object)(void *object, DlManaged **out);
    int (*object_from_managed)(DlManaged *managed, void **object); /* takes the managed tensor over */
    int (*view_of_object)(void *object, RdxTensor *out);           /* borrowed; the function may be NULL */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
} DlExchange;

#endif
