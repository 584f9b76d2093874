/* Element types and deterministic data as the command, the benchmark, the fuzzer and the tests see them.
   Conversions are worked out here a second time, in integer arithmetic on the bits of an f64, and share no line with
   src/: the oracle leans on them. A dtype is its public number (RDX_F32, ...); a complex dtype is two parts of
   rdx_data_part(dtype), re then im. Storage element i is a function of (dtype, class, seed, i) alone. */
#ifndef RDX_TOOLS_DATA_H
#define RDX_TOOLS_DATA_H

#include <redax.h>
#include <stdbool.h>

typedef enum RdxDataKind { RDX_DATA_BOOL, RDX_DATA_INT, RDX_DATA_UINT, RDX_DATA_FLOAT, RDX_DATA_COMPLEX } RdxDataKind;

typedef struct RdxDataType {
    const char *name;
    int dtype; /* RDX_F32, ... */
    int size;  /* bytes of one element */
    RdxDataKind kind;
} RdxDataType;

enum { RDX_DATA_TYPES = 17 };
extern const RdxDataType rdx_data_types[RDX_DATA_TYPES];

const RdxDataType *rdx_data_type(int dtype); /* NULL if there is no such dtype */
int rdx_data_type_named(const char *name);   /* 0 if no dtype has that name */
RdxDtype rdx_data_dtype(int dtype);          /* as a tensor carries it */
int rdx_data_number(RdxDtype dtype);         /* the inverse */
int rdx_data_part(int dtype);                /* RDX_F32 for c64, RDX_F64 for c128, any other dtype itself */

/* One element as f64: ints above 2^53 are rounded, of a complex number the real part. */
double rdx_data_load(int dtype, const void *at);
/* An integer or bool (any non-zero byte is 1), exactly; u64 as its bits. */
int64_t rdx_data_load_int(int dtype, const void *at);
/* Rounds once, to nearest even; NaN becomes the dtype's one NaN; beyond the range: infinity, f8e4m3 NaN.
   Integer dtypes: the value must be a whole number within int64 (u64: uint64); it is taken modulo 2^bits.
   Of a complex dtype only the real part is written. */
void rdx_data_store(int dtype, void *at, double value);
void rdx_data_store_int(int dtype, void *at, int64_t value); /* modulo 2^bits; bool: 0 or 1 */

/* The bit pattern of `value` in a float dtype (as rdx_data_store), and back. */
uint64_t rdx_data_encode(int dtype, double value);
double rdx_data_decode(int dtype, uint64_t bits);

typedef enum RdxDataClass {
    RDX_DATA_UNIFORM,
    RDX_DATA_EXACT,
    RDX_DATA_TAILED,
    RDX_DATA_SPECIAL,
    RDX_DATA_TIES,
    RDX_DATA_NEAR,
    RDX_DATA_HOLES,
    RDX_DATA_ZEROS,
    RDX_DATA_MINUS,
    RDX_DATA_TINY,
    RDX_DATA_CLASSES
} RdxDataClass;

const char *rdx_data_class_name(int data);
int rdx_data_class_named(const char *name); /* -1 if no class has that name */

uint64_t rdx_data_mix(uint64_t seed, uint64_t i);
/* Writes storage elements first .. first + count - 1 to `at`, side by side. */
void rdx_data_fill(int dtype, int data, uint64_t seed, int64_t first, int64_t count, void *at);

#endif
