/* Result types and permissions of ops; the table is generated from ops.def. */
#include "op.h"

#include "error.h"

const RdxOpInfo rdx_ops[RDX_OP_COUNT] = {
#define X(NAME, name, number, inputs, result, allowed, second, empty, options)                                         \
    [number] = {#name,                                                                                                 \
                RDX_INPUTS_##inputs,                                                                                   \
                RDX_RESULT_##result,                                                                                   \
                RDX_ALLOWED_##allowed,                                                                                 \
                RDX_SECOND_##second,                                                                                   \
                RDX_EMPTY_##empty,                                                                                     \
                RDX_OPTION_##options},
#include "ops.def"
#undef X
};

#define X(NAME, name, number, inputs, result, allowed, second, empty, options)                                         \
    _Static_assert(RDX_##NAME == (number), "redax.h and ops.def differ on " #name);
#include "ops.def"
#undef X

RdxStatus rdx_op_check(int op)
{
    RDX_REQUIRE(op > 0 && op < RDX_OP_COUNT, RDX_ERR_OP, "op is %d; ops are 1 to %d", op, RDX_OP_COUNT - 1);
    return RDX_OK;
}

bool rdx_op_accepts(int op, RdxType in)
{
    switch ((RdxInputs)rdx_ops[op].inputs) {
    case RDX_INPUTS_ALL:
        return true;
    case RDX_INPUTS_REAL:
        return !rdx_type_is_complex(in);
    case RDX_INPUTS_FLOATS:
        return rdx_type_is_float(in);
    case RDX_INPUTS_BITS:
        return rdx_type_is_integral(in);
    }
    return false;
}

static bool is_f8(RdxType type)
{
    return type == RDX_TYPE_F8E4M3 || type == RDX_TYPE_F8E5M2;
}

RdxType rdx_op_default_out(int op, RdxType in)
{
    switch ((RdxResult)rdx_ops[op].result) {
    case RDX_RESULT_SUM:
        if (rdx_type_is_integral(in))
            return rdx_types[in].kind == RDX_KIND_UINT ? RDX_TYPE_U64 : RDX_TYPE_I64;
        return is_f8(in) ? RDX_TYPE_F32 : in;
    case RDX_RESULT_MEAN:
    case RDX_RESULT_SPREAD:
        if (rdx_type_is_integral(in))
            return RDX_TYPE_F64;
        if (is_f8(in))
            return RDX_TYPE_F32;
        if (rdx_type_is_complex(in) && rdx_ops[op].result == RDX_RESULT_SPREAD)
            return in == RDX_TYPE_C64 ? RDX_TYPE_F32 : RDX_TYPE_F64;
        return in;
    case RDX_RESULT_SAME:
        return in;
    case RDX_RESULT_BOOL:
        return RDX_TYPE_BOOL;
    case RDX_RESULT_INDEX:
        return RDX_TYPE_I64;
    }
    return in;
}

RdxType rdx_op_default_out2(int op, RdxType in)
{
    switch ((RdxSecond)rdx_ops[op].second) {
    case RDX_SECOND_NONE:
        return RDX_TYPE_COUNT;
    case RDX_SECOND_MEAN:
        return rdx_op_default_out(RDX_MEAN, in);
    case RDX_SECOND_INDEX:
        return RDX_TYPE_I64;
    case RDX_SECOND_SAME:
        return in;
    }
    return RDX_TYPE_COUNT;
}

bool rdx_op_allows_out(int op, RdxType in, RdxType out)
{
    bool complex_in = rdx_type_is_complex(in), complex_out = rdx_type_is_complex(out);
    switch ((RdxAllowed)rdx_ops[op].allowed) {
    case RDX_ALLOWED_SUM:
        if (complex_in || rdx_type_is_float(in))
            return complex_in ? complex_out : rdx_type_is_float(out);
        return (rdx_type_is_integral(out) && out != RDX_TYPE_BOOL) || out == RDX_TYPE_F32 || out == RDX_TYPE_F64;
    case RDX_ALLOWED_MEAN:
        return complex_in ? complex_out : rdx_type_is_float(out);
    case RDX_ALLOWED_REAL:
        return rdx_type_is_float(out);
    case RDX_ALLOWED_TRUTH:
        return out == RDX_TYPE_BOOL || out == RDX_TYPE_U8;
    case RDX_ALLOWED_INDEX:
        return out == RDX_TYPE_I64;
    case RDX_ALLOWED_SAME:
        return out == in;
    }
    return false;
}

bool rdx_op_allows_out2(int op, RdxType in, RdxType out2)
{
    switch ((RdxSecond)rdx_ops[op].second) {
    case RDX_SECOND_NONE:
        return false;
    case RDX_SECOND_MEAN:
        return rdx_op_allows_out(RDX_MEAN, in, out2);
    case RDX_SECOND_INDEX:
        return out2 == RDX_TYPE_I64;
    case RDX_SECOND_SAME:
        return out2 == in;
    }
    return false;
}

const char *rdx_op_allowed_words(int op, RdxType in)
{
    bool complex_in = rdx_type_is_complex(in);
    switch ((RdxAllowed)rdx_ops[op].allowed) {
    case RDX_ALLOWED_SUM:
        if (rdx_type_is_integral(in))
            return "any integer dtype, f32 or f64";
        return complex_in ? "c64 or c128" : "any floating dtype";
    case RDX_ALLOWED_MEAN:
        return complex_in ? "c64 or c128" : "any floating dtype";
    case RDX_ALLOWED_REAL:
        return "any floating dtype";
    case RDX_ALLOWED_TRUTH:
        return "bool or u8";
    case RDX_ALLOWED_INDEX:
        return "i64";
    case RDX_ALLOWED_SAME:
        return "the input's dtype";
    }
    return "";
}
