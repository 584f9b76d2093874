/* Element types as a dense table. RdxType is the internal number; RdxDtype is what callers write (DLPack's triple). */
#ifndef RDX_DTYPE_H
#define RDX_DTYPE_H

#include "base.h"

typedef enum RdxType {
#define X(NAME, name, code, bits, KIND) RDX_TYPE_##NAME,
#include "dtypes.def"
#undef X
    RDX_TYPE_COUNT
} RdxType;

typedef enum RdxKind { RDX_KIND_BOOL, RDX_KIND_INT, RDX_KIND_UINT, RDX_KIND_FLOAT, RDX_KIND_COMPLEX } RdxKind;

typedef struct RdxTypeInfo {
    const char *name;
    RdxDtype dtype;
    uint8_t size; /* bytes of one element, 1 .. 16 */
    uint8_t kind; /* RdxKind */
} RdxTypeInfo;

extern const RdxTypeInfo rdx_types[RDX_TYPE_COUNT];

/* RDX_ERR_DTYPE with the triple in the sentence if it is not in the table or lanes != 1. `role` is "in", "out", ... */
RdxStatus rdx_type_find(RdxType *type, RdxDtype dtype, const char *role);

/* RDX_TYPE_COUNT if no type has that name. */
RdxType rdx_type_named(const char *name);

static inline bool rdx_type_is_float(RdxType type)
{
    return rdx_types[type].kind == RDX_KIND_FLOAT;
}

static inline bool rdx_type_is_complex(RdxType type)
{
    return rdx_types[type].kind == RDX_KIND_COMPLEX;
}

static inline bool rdx_type_is_integral(RdxType type) /* bool counts as an integer of 0 and 1 */
{
    return rdx_types[type].kind <= RDX_KIND_UINT;
}

/* Alignment of data in bytes: that of one part, so 4 for c64. */
static inline int rdx_type_align(RdxType type)
{
    return rdx_type_is_complex(type) ? rdx_types[type].size / 2 : rdx_types[type].size;
}

#endif
