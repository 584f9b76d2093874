/* Shapes of blocks that strategies share, and what those shapes ask of the chip. block_x and global read rows alike,
   block_y and global read columns alike; the shape is decided here once, the strategies decide how many outputs and
   chunks a block gets. Every shape function leaves a configuration with its registers, shared memory and grid, so
   that the caller only costs and compares.

   Workspace behind the head: states by group, then part (chunk run outside, residue class inside), then output within
   the group. Counters: word g of the head belongs to group g.

   Threads of a block are block_x * block_y. Rows: block_x along the reduced axis, block_y outputs. Columns: block_x
   vectors along the kept axis, block_y lane residues. */
#ifndef RDX_PLAN_GEOMETRY_H
#define RDX_PLAN_GEOMETRY_H

#include "cost.h"

enum { RDX_BLOCK_THREADS = 256, RDX_MOST_REGISTERS = 255, RDX_COUNTERS = RDX_WORKSPACE_HEAD / 4 };
enum { RDX_MOST_FEW_COLUMNS = 32 }; /* that go as one stream */

/* One trial: what the strategy fixes before the shape is worked out. */
typedef struct RdxTrial {
    int form;            /* RdxForm */
    int outputs;         /* rows: outputs of a block. Columns: vectors side by side (block_x) */
    int warps;           /* rows: warps that share an output */
    int residues;        /* columns: blocks that share a chunk */
    int64_t part_chunks; /* chunks of a part */
    int64_t slices;      /* of the copies */
    bool spread;         /* finish by a second launch, copies spread over its blocks */
} RdxTrial;

/* Chunks of a part that is the whole of an output. */
int64_t rdx_whole_part(const RdxLayout *layout);

/* Bytes of a load for a row form. */
int rdx_row_vector(const RdxLayout *layout, int form);

/* Whether rows are of 1, 2, 4 .. 32 vectors with nothing between them, of what kernel_packed_rows.cu folds: an exchange
   between two threads serves a row of each. */
bool rdx_rows_are_packed(const RdxSituation *situation, const RdxLayout *layout);
void rdx_rows_shape(const RdxSituation *situation, const RdxLayout *layout, const RdxTrial *trial, RdxConfig *config);
void rdx_rows_demand(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                     RdxDemand *demand);
void rdx_columns_shape(const RdxSituation *situation, const RdxLayout *layout, const RdxTrial *trial,
                       RdxConfig *config);
void rdx_columns_demand(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                        RdxDemand *demand);

/* What every form has in common: traffic, slices, index width; the caller adds instructions and accesses. */
void rdx_demand_traffic(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                        RdxDemand *demand);

/* Registers of a thread that holds `loads` loads and the states of `elements` lanes side by side. */
int rdx_register_budget(const RdxSituation *situation, int loads, int vector_bytes, int64_t elements);

/* split, items, groups, workspace and finishing of a configuration whose groups and part are decided. False if the
   counters or the workspace do not allow it. */
bool rdx_cut(const RdxLayout *layout, const RdxTrial *trial, int64_t groups, int64_t group_outputs, RdxConfig *config);

/* Slices worth trying where groups alone leave the chip idle while copies are written; 1: none. */
int64_t rdx_copy_slices(const RdxSituation *situation, const RdxLayout *layout, int64_t groups);

/* Keeps the cheaper of two configurations of one strategy; a `best` of items < 0 holds none yet, a `trial` of items < 0
   does not fit the device. */
void rdx_keep_cheaper(RdxConfig *best, const RdxConfig *trial);

/* Wavefronts of `loads` loads of `bytes` each: neighbours lie `stride` bytes apart, `extent` of them before the next
   jump. */
double rdx_strided_wavefronts(double loads, int64_t bytes, int64_t stride, int64_t extent);

#endif
