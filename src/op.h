/* What each op accepts and gives: default and allowed outputs, options, the empty case. Generated from ops.def.
   How it is computed is recipe.h. */
#ifndef RDX_OP_H
#define RDX_OP_H

#include "dtype.h"

enum { RDX_OP_COUNT = 20 }; /* op numbers are 1 .. RDX_OP_COUNT - 1, as in redax.h */

enum { RDX_OPTION_NONE = 0, RDX_OPTION_NAN = 1, RDX_OPTION_P = 2, RDX_OPTION_CORRECTION = 4 };

typedef enum RdxInputs { RDX_INPUTS_ALL, RDX_INPUTS_REAL, RDX_INPUTS_FLOATS, RDX_INPUTS_BITS } RdxInputs;
typedef enum RdxResult {
    RDX_RESULT_SUM,
    RDX_RESULT_MEAN,
    RDX_RESULT_SPREAD,
    RDX_RESULT_SAME,
    RDX_RESULT_BOOL,
    RDX_RESULT_INDEX
} RdxResult;
typedef enum RdxAllowed {
    RDX_ALLOWED_SUM,
    RDX_ALLOWED_MEAN,
    RDX_ALLOWED_REAL,
    RDX_ALLOWED_TRUTH,
    RDX_ALLOWED_INDEX,
    RDX_ALLOWED_SAME
} RdxAllowed;
typedef enum RdxSecond { RDX_SECOND_NONE, RDX_SECOND_MEAN, RDX_SECOND_INDEX, RDX_SECOND_SAME } RdxSecond;
typedef enum RdxEmpty { RDX_EMPTY_VALUE, RDX_EMPTY_ERROR } RdxEmpty;

typedef struct RdxOpInfo {
    const char *name;
    uint8_t inputs, result, allowed, second, empty, options;
} RdxOpInfo;

extern const RdxOpInfo rdx_ops[RDX_OP_COUNT]; /* [0] is empty: name NULL */

RdxStatus rdx_op_check(int op); /* RDX_ERR_OP: not one of ops.def */
bool rdx_op_accepts(int op, RdxType in);
RdxType rdx_op_default_out(int op, RdxType in);  /* in must be accepted */
RdxType rdx_op_default_out2(int op, RdxType in); /* RDX_TYPE_COUNT if the op has no second output */
bool rdx_op_allows_out(int op, RdxType in, RdxType out);
bool rdx_op_allows_out2(int op, RdxType in, RdxType out2);

/* The allowed outputs in words, for error sentences and documentation, e.g. "any floating dtype". */
const char *rdx_op_allowed_words(int op, RdxType in);

#endif
