/* Deterministic data and conversions of our own; see data.h. Values are made exactly in f64 and rounded once by
   rdx_data_encode, which works on bits: neither the rounding mode nor the compiler's conversions take part.
   tests/tree.py makes the same data with NumPy; the two must agree to the bit. */
#include "data.h"

#include <math.h>
#include <string.h>

const RdxDataType rdx_data_types[RDX_DATA_TYPES] = {
#define X(NAME, name, code, bits, KIND) {#name, (code) << 8 | (bits), (bits) / 8, RDX_DATA_##KIND},
#include "../src/dtypes.def"
#undef X
};

const RdxDataType *rdx_data_type(int dtype)
{
    for (int i = 0; i < RDX_DATA_TYPES; i++)
        if (rdx_data_types[i].dtype == dtype)
            return &rdx_data_types[i];
    return NULL;
}

int rdx_data_type_named(const char *name)
{
    for (int i = 0; i < RDX_DATA_TYPES; i++)
        if (strcmp(rdx_data_types[i].name, name) == 0)
            return rdx_data_types[i].dtype;
    return 0;
}

RdxDtype rdx_data_dtype(int dtype)
{
    RdxDtype triple = {(uint8_t)(dtype >> 8), (uint8_t)(dtype & 0xff), 1};
    return triple;
}

int rdx_data_number(RdxDtype dtype)
{
    return dtype.code << 8 | dtype.bits;
}

int rdx_data_part(int dtype)
{
    return dtype == RDX_C64 ? RDX_F32 : dtype == RDX_C128 ? RDX_F64 : dtype;
}

/* A binary format: precision counts the implicit bit, emin is the exponent of the smallest normal number. */
typedef struct Format {
    int width, precision, emin;
    uint64_t largest, infinity, nan; /* magnitudes; infinity 0: the format has none and overflows to NaN */
} Format;

static const Format formats[] = {
    {8, 4, -6, 0x7e, 0, 0x7f},
    {8, 3, -14, 0x7b, 0x7c, 0x7e},
    {16, 11, -14, 0x7bff, 0x7c00, 0x7e00},
    {16, 8, -126, 0x7f7f, 0x7f80, 0x7fc0},
    {32, 24, -126, 0x7f7fffff, 0x7f800000, 0x7fc00000},
    {64, 53, -1022, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000},
};

static const Format *format_of(int dtype)
{
    switch (rdx_data_part(dtype)) {
    case RDX_F8E4M3:
        return &formats[0];
    case RDX_F8E5M2:
        return &formats[1];
    case RDX_F16:
        return &formats[2];
    case RDX_BF16:
        return &formats[3];
    case RDX_F32:
        return &formats[4];
    default:
        return &formats[5];
    }
}

static inline uint64_t encode(const Format *format, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t sign = bits >> 63 << (format->width - 1), fraction = bits & 0xfffffffffffff;
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff && fraction != 0)
        return format->nan;
    if (exponent == 0x7ff)
        return format->infinity ? sign | format->infinity : format->nan;
    /* |value| = significand * 2^(exponent - 52) */
    uint64_t significand = exponent ? fraction | 1ull << 52 : fraction;
    exponent = exponent ? exponent - 1023 : -1022;
    int scale = exponent > format->emin ? exponent : format->emin;
    int shift = scale - exponent + 53 - format->precision; /* bits that the format cannot hold */
    if (shift > 60)
        return sign;
    uint64_t kept = significand >> shift;
    if (shift > 0) {
        uint64_t rest = significand & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        kept += rest > half || (rest == half && (kept & 1));
    }
    /* the implicit bit of `kept`, or its carry, counts the exponent up */
    uint64_t magnitude = kept + ((uint64_t)(scale - format->emin) << (format->precision - 1));
    if (magnitude > format->largest)
        return format->infinity ? sign | format->infinity : format->nan;
    return sign | magnitude;
}

static double decode(const Format *format, uint64_t bits)
{
    if (format->width == 64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint64_t magnitude = bits & ((1ull << (format->width - 1)) - 1);
    bool negative = bits >> (format->width - 1) & 1;
    double value;
    if (format->infinity && magnitude == format->infinity)
        value = (double)INFINITY;
    else if (magnitude > format->largest)
        return (double)NAN;
    else {
        uint64_t exponent = magnitude >> (format->precision - 1), one = 1ull << (format->precision - 1);
        uint64_t fraction = magnitude & (one - 1);
        int scale = format->emin - format->precision + 1;
        value =
            exponent == 0 ? ldexp((double)fraction, scale) : ldexp((double)(fraction | one), scale + (int)exponent - 1);
    }
    return negative ? -value : value;
}

uint64_t rdx_data_encode(int dtype, double value)
{
    return encode(format_of(dtype), value);
}

double rdx_data_decode(int dtype, uint64_t bits)
{
    return decode(format_of(dtype), bits);
}

static void write_bits(void *at, uint64_t bits, int size)
{
    switch (size) {
    case 1:
        *(uint8_t *)at = (uint8_t)bits;
        break;
    case 2:
        memcpy(at, &(uint16_t){(uint16_t)bits}, 2);
        break;
    case 4:
        memcpy(at, &(uint32_t){(uint32_t)bits}, 4);
        break;
    default:
        memcpy(at, &bits, 8);
    }
}

static uint64_t read_bits(const void *at, int size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        memcpy(&two, at, 2);
        return two;
    case 4:
        memcpy(&four, at, 4);
        return four;
    default:
        memcpy(&eight, at, 8);
        return eight;
    }
}

static bool is_real_float(RdxDataKind kind)
{
    return kind == RDX_DATA_FLOAT || kind == RDX_DATA_COMPLEX;
}

int64_t rdx_data_load_int(int dtype, const void *at)
{
    const RdxDataType *type = rdx_data_type(dtype);
    uint64_t bits = read_bits(at, type->size);
    if (type->kind == RDX_DATA_BOOL)
        return bits != 0;
    if (type->kind == RDX_DATA_INT && type->size < 8 && bits >> (8 * type->size - 1))
        bits |= ~0ull << (8 * type->size);
    return (int64_t)bits;
}

double rdx_data_load(int dtype, const void *at)
{
    const RdxDataType *type = rdx_data_type(dtype);
    if (is_real_float(type->kind)) {
        const Format *format = format_of(dtype);
        return decode(format, read_bits(at, format->width / 8));
    }
    int64_t value = rdx_data_load_int(dtype, at);
    return dtype == RDX_U64 ? (double)(uint64_t)value : (double)value;
}

void rdx_data_store_int(int dtype, void *at, int64_t value)
{
    const RdxDataType *type = rdx_data_type(dtype);
    write_bits(at, type->kind == RDX_DATA_BOOL ? value != 0 : (uint64_t)value, type->size);
}

void rdx_data_store(int dtype, void *at, double value)
{
    const RdxDataType *type = rdx_data_type(dtype);
    if (is_real_float(type->kind)) {
        const Format *format = format_of(dtype);
        write_bits(at, encode(format, value), format->width / 8);
    } else if (type->kind == RDX_DATA_BOOL) {
        write_bits(at, value != 0, 1);
    } else {
        write_bits(at, value >= 0x1p63 ? (uint64_t)value : (uint64_t)(int64_t)value, type->size);
    }
}

static const char *const class_names[RDX_DATA_CLASSES] = {"uniform", "exact", "tailed", "special", "ties",
                                                          "near",    "holes", "zeros",  "minus",   "tiny"};

const char *rdx_data_class_name(int data)
{
    return data >= 0 && data < RDX_DATA_CLASSES ? class_names[data] : "?";
}

int rdx_data_class_named(const char *name)
{
    for (int data = 0; data < RDX_DATA_CLASSES; data++)
        if (strcmp(class_names[data], name) == 0)
            return data;
    return -1;
}

static inline uint64_t mix(uint64_t z)
{
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9;
    z ^= z >> 27;
    z *= 0x94D049BB133111EB;
    return z ^ z >> 31;
}

uint64_t rdx_data_mix(uint64_t seed, uint64_t i)
{
    return mix(seed * 0xD1342543DE82EF95 + i * 0x9E3779B97F4A7C15);
}

static inline double uniform(uint64_t z)
{
    return (double)((int64_t)(z >> 40) - (1 << 23)) * 0x1p-23;
}

/* 2^power for the powers that data=tailed uses; exact. */
static double power_of_two(int power)
{
    uint64_t bits = (uint64_t)(1023 + power) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double tail(const Format *format, uint64_t z)
{
    if (format->width == 8)
        return power_of_two((int)(z & 7) - 4);
    if (format->precision == 11)
        return power_of_two((int)(z & 15) - 8);
    return power_of_two((int)(z & 63) - 32);
}

static double special(const Format *format, unsigned pick, double otherwise)
{
    switch (pick) {
    case 0:
        return (double)NAN;
    case 1:
        return (double)INFINITY; /* encode() makes NaN of it where there is no infinity */
    case 2:
        return -(double)INFINITY;
    case 3:
        return -0.0;
    case 4:
        return 0.0;
    case 5:
        return decode(format, 1);
    case 6:
        return -decode(format, format->largest);
    case 7:
        return 1.0;
    default:
        return otherwise;
    }
}

/* One part of a float element, not yet rounded; part 1 is imaginary and draws from bits of its own. */
static double float_value(const Format *format, int data, uint64_t z, int part)
{
    uint64_t own = part ? z >> 32 : z;
    switch (data) {
    case RDX_DATA_EXACT:
        return (double)((int)(own % 17) - 8);
    case RDX_DATA_TIES: {
        int value = (int)((own >> 8) % 3) - 1;
        return value == 0 && (own & 1) ? -0.0 : (double)value;
    }
    case RDX_DATA_ZEROS:
        return (own >> 8) % 8 == 0 ? -1.0 : own & 1 ? -0.0 : 0.0;
    case RDX_DATA_MINUS: /* sums of it show what began with +0 */
        return -0.0;
    case RDX_DATA_TINY: /* half of it is a zero of either sign */
        return own & 2 ? (own & 1 ? -decode(format, 1) : decode(format, 1)) : own & 1 ? -0.0 : 0.0;
    default:
        break;
    }
    double u = uniform(part ? z << 24 : z);
    switch (data) {
    case RDX_DATA_HOLES:
        return (z >> (part ? 10 : 8) & 3) == 0 ? (double)NAN : u * tail(format, z);
    case RDX_DATA_TAILED:
        return u * tail(format, z);
    case RDX_DATA_NEAR:
        return (part ? 0.0 : 1.0) + u * 0x1p-6;
    case RDX_DATA_SPECIAL:
        return special(format, z >> (part ? 5 : 0) & 31, u);
    default:
        return u;
    }
}

/* The bits of an integer element; those above its width are cut off by the store. */
static uint64_t int_value(const RdxDataType *type, int data, uint64_t z)
{
    bool is_signed = type->kind == RDX_DATA_INT;
    uint64_t top = 1ull << (8 * type->size - 1);
    switch (data) {
    case RDX_DATA_EXACT:
        return z % 17 - (is_signed ? 8 : 0);
    case RDX_DATA_TIES:
        return (z >> 8) % 3 - (is_signed ? 1 : 0);
    case RDX_DATA_ZEROS:
        return (z >> 8) % 8 == 0;
    case RDX_DATA_MINUS:
        return 0;
    case RDX_DATA_TINY:
        return z & 1;
    case RDX_DATA_SPECIAL:
        switch (z & 31) {
        case 0:
            return is_signed ? top : 0;
        case 1:
            return is_signed ? top - 1 : ~0ull;
        case 2:
            return 0;
        default:
            return (z >> 8) % 5;
        }
    default:
        return z;
    }
}

void rdx_data_fill(int dtype, int data, uint64_t seed, int64_t first, int64_t count, void *at)
{
    const RdxDataType *type = rdx_data_type(dtype);
    const Format *format = format_of(dtype);
    unsigned char *byte = at;
    uint64_t z = seed * 0xD1342543DE82EF95 + (uint64_t)first * 0x9E3779B97F4A7C15;
    if (dtype == RDX_F32 && data == RDX_DATA_UNIFORM) { /* 24 bits: exact in f32; benchmarks fill gigabytes */
        for (int64_t i = 0; i < count; i++, byte += 4, z += 0x9E3779B97F4A7C15)
            memcpy(byte, &(float){(float)((int)(mix(z) >> 40) - (1 << 23)) * 0x1p-23f}, 4);
        return;
    }
    for (int64_t i = 0; i < count; i++, byte += type->size, z += 0x9E3779B97F4A7C15) {
        uint64_t own = mix(z);
        if (type->kind == RDX_DATA_BOOL)
            *byte = data != RDX_DATA_MINUS && own & 1;
        else if (type->kind == RDX_DATA_FLOAT)
            write_bits(byte, encode(format, float_value(format, data, own, 0)), type->size);
        else if (type->kind == RDX_DATA_COMPLEX)
            for (int part = 0; part < 2; part++)
                write_bits(byte + part * type->size / 2, encode(format, float_value(format, data, own, part)),
                           type->size / 2);
        else
            write_bits(byte, int_value(type, data, own), type->size);
    }
}
