/* What the CUDA strategies ask about a space: what is contiguous, how aligned, how dense, how large. Worked out once
   per question from the canonical space; plain numbers, no pointers. The strategies decide from these alone. */
#ifndef RDX_PLAN_LAYOUT_H
#define RDX_PLAN_LAYOUT_H

#include "config.h"

typedef enum RdxForm {
#define X(NAME, name) RDX_FORM_##NAME,
#include "forms.def"
#undef X
    RDX_FORM_COUNT
} RdxForm;

const char *rdx_form_name(int form);

typedef struct RdxLayout {
    int size;             /* bytes of an input element */
    int lanes;            /* L */
    int state_bytes;      /* of one node of one output */
    int64_t count;        /* n, reduced elements of an output */
    int64_t chunk;        /* elements of a full chunk */
    int64_t chunks;       /* of an output; 0 where nothing is reduced */
    int64_t outputs;      /* kept elements, copies not counted */
    bool row;             /* the reduced axes hold the smallest stride: neighbouring threads take neighbouring e */
    int64_t run;          /* elements of a contiguous stretch of e; 1: innermost reduced stride is not one element */
    int64_t runs;         /* stretches of an output: count / run */
    int64_t run_align;    /* bytes, 1 .. 16, that divide the address of every stretch */
    int64_t columns;      /* innermost kept extent, whatever its stride; 1: nothing is kept */
    bool packed;          /* ... and its stride is one element */
    int64_t fast_stride;  /* bytes between neighbours of the faster axis */
    int64_t fast_extent;  /* how many there are */
    int64_t keep_stride;  /* bytes between neighbouring outputs; 0: there is one */
    int64_t column_align; /* bytes, 1 .. 16, that divide the address of every row of columns */
    int64_t stream_align; /* ... of all rows of an outer index, taken together */
    bool one_step;        /* from e to e + 1: one reduced dim */
    bool flat; /* packed columns, and each next e follows right behind them: one dense stream per outer index */
    /* A slab: the smallest piece that holds all of its outputs' elements and no other's. */
    int64_t slab_bytes; /* 0: there is none */
    int64_t slab_outputs, slabs;
    int64_t slab_step; /* along the kept dim around them: bytes from one to the next */
    int64_t slab_run;  /* ... and how many there are */
    bool dense;        /* slabs follow each other without a gap */
    double touched;    /* bytes of the 64-byte granules that hold the input */
    double written;    /* bytes of all outputs, copies included */
} RdxLayout;

void rdx_layout_of(RdxLayout *layout, const RdxSituation *situation);

/* RdxLayout.row alone. */
bool rdx_layout_is_row(const RdxSpace *space);

/* How a block reads the reduced range of one output, and of columns side by side. */
RdxForm rdx_layout_row_form(const RdxLayout *layout);
RdxForm rdx_layout_column_form(const RdxLayout *layout);
/* Whether shifted_columns takes their place. */
bool rdx_layout_shifts_columns(const RdxLayout *layout);

/* Whether an output is one contiguous stretch, and the next one follows right behind it. */
bool rdx_layout_packs_rows(const RdxLayout *layout);

/* 32 if no byte offset, position or count of the launch reaches 2^31, else 64. */
int rdx_layout_index_bits(const RdxSituation *situation);

#endif
