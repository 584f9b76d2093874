/* The element type table, generated from dtypes.def. */
#include "dtype.h"

#include "error.h"

#include <string.h>

const RdxTypeInfo rdx_types[RDX_TYPE_COUNT] = {
#define X(NAME, name, code, bits, KIND) [RDX_TYPE_##NAME] = {#name, {code, bits, 1}, bits / 8, RDX_KIND_##KIND},
#include "dtypes.def"
#undef X
};

#define X(NAME, name, code, bits, KIND)                                                                                \
    _Static_assert(RDX_##NAME == ((code) << 8 | (bits)), "redax.h and dtypes.def differ on " #name);
#include "dtypes.def"
#undef X

RdxStatus rdx_type_find(RdxType *type, RdxDtype dtype, const char *role)
{
    RDX_REQUIRE(dtype.lanes == 1, RDX_ERR_DTYPE, "%s has dtype lanes %d; only 1 is supported", role, dtype.lanes);
    for (int i = 0; i < RDX_TYPE_COUNT; i++) {
        if (rdx_types[i].dtype.code == dtype.code && rdx_types[i].dtype.bits == dtype.bits) {
            *type = (RdxType)i;
            return RDX_OK;
        }
    }
    RDX_FAIL(RDX_ERR_DTYPE, "%s has unknown dtype code %d with %d bits", role, dtype.code, dtype.bits);
}

RdxType rdx_type_named(const char *name)
{
    int type = 0;
    while (type < RDX_TYPE_COUNT && strcmp(rdx_types[type].name, name) != 0)
        type++;
    return (RdxType)type;
}
