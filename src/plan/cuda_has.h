/* What the kernels have code for, and in what shapes: ops, working types and sizes that each is stamped for, and the
   registers and shared memory that drew the line. Planning asks before it hands a plan to a kernel, kernels stamp by
   the same words; both are macros of constants, so that either can. `words`: 32-bit words of a node. */
#ifndef RDX_PLAN_CUDA_HAS_H
#define RDX_PLAN_CUDA_HAS_H

#include "cuda_launch.h"

/* Rows that a warp reads at once, or half as many (kernel_line_rows.cu); whether their nodes, one for each element of a
   vector or, of sums in any order, one for each row, have room in registers: var of bf16, four rows at once, spilled
   1200 bytes a thread, and was no faster than through shared memory. Of bytes, sums of integers and extremes, whose
   nodes are one word, and indices, which are sought (winning_rows.cuh). Not four at once: what tile_rows takes of such
   rows whatever their length, and indices, whose four keys and places spill. */
enum { RDX_CUDA_LINE_ROWS = 4 };
#define RDX_CUDA_HAS_LINE_ROWS(rows, algebra, exact, indexed, size, words)                                             \
    (!((rows) == RDX_CUDA_LINE_ROWS &&                                                                                 \
       (((indexed) && ((algebra) == RDX_ALGEBRA_ARGMAX || (size) <= 4)) ||                                             \
        ((algebra) == RDX_ALGEBRA_VAR && (words) == 2) ||                                                              \
        ((size) == 2 && ((algebra) == RDX_ALGEBRA_SUM || (algebra) == RDX_ALGEBRA_SUMSQ)))) &&                         \
     ((size) == 1 ? (algebra) == RDX_ALGEBRA_ISUM || (algebra) == RDX_ALGEBRA_MAX || (indexed)                         \
                  : (exact) || (rows) * (16 / (size)) * (words) <= 32))

/* Which elements are read straight into registers (kernel_straight_rows.cu): bytes where a thread's lanes are one word
   each, as of floats that are added up, or one node in all, as of integers and truth values that are and of maxima; and
   indices, which are sought (winning_rows.cuh). */
#define RDX_CUDA_HAS_STRAIGHT_ROWS(algebra, work, indexed, size)                                                       \
    ((size) > 1 || (algebra) == RDX_ALGEBRA_ISUM || (algebra) == RDX_ALGEBRA_MAX || (indexed) ||                       \
     (((algebra) == RDX_ALGEBRA_SUM || (algebra) == RDX_ALGEBRA_SUMSQ) && (work) == RDX_WORK_F32))

/* Which elements of what is looked at twice a chunk of them is staged for (kernel_staged_rows.cu), and bytes of a
   warp's: of a row that starts inside a line a chunk lies in 17. */
#define RDX_CUDA_HAS_STAGED_ROWS(twice, work, size) ((twice) && (work) == RDX_WORK_F32 && (size) > 1)
enum { RDX_CUDA_STAGE_BYTES = (RDX_CUDA_CHUNK_LINES + 1) * 512 };

/* Whether every second element of a row is read by vectors (kernel_stepped_rows.cu): vectors that hold two or four. */
#define RDX_CUDA_HAS_STEPPED_ROWS(size, words) (((size) == 2 || (size) == 4) && (words) <= 3)

/* Of which elements runs of half vectors are read by those (kernel_half_rows.cu). */
#define RDX_CUDA_HAS_HALF_ROWS(size, words) ((size) == 2 && (words) <= 3)
enum { RDX_CUDA_HALF_VECTOR = 8 };

/* Of which elements a thread gathers several lanes at once (kernel_gather_rows.cu): loads of eight bytes, or nodes of
   more than three words, leave no registers for a second lane. Bytes and logsumexp were not tried. */
#define RDX_CUDA_GATHERS_LANES(size, words, unit) (((size) == 2 || (size) == 4) && (words) <= 3 && (unit) == 1)

/* Of which ops and elements short runs of RDX_CUDA_STAGED_OUTPUTS neighbouring outputs are staged in shared memory
   (kernel_staged_runs.cu): runs of so many are whole vectors, a warp has one. A run has no more bytes than two lines.
   What is asked for often: all that is gathered so would be 300 KB more of the plugin. */
#define RDX_CUDA_HAS_STAGED_RUNS(algebra, work, size, words, unit)                                                     \
    (((work) == RDX_WORK_F32 || (work) == RDX_WORK_I32) && RDX_CUDA_GATHERS_LANES(size, words, unit) &&                \
     ((algebra) == RDX_ALGEBRA_SUM || (algebra) == RDX_ALGEBRA_SUMSQ || (algebra) == RDX_ALGEBRA_VAR ||                \
      (algebra) == RDX_ALGEBRA_MAX || (algebra) == RDX_ALGEBRA_ARGMAX))
enum { RDX_CUDA_STAGED_OUTPUTS = 8, RDX_CUDA_MOST_STAGED_RUN = 1024 };

/* Which elements pieces of four or eight bytes hold whole (kernel_piece_columns.cu). */
#define RDX_CUDA_HAS_PIECE_COLUMNS(size) ((size) >= 4)

/* Whether nodes of three vectors have room in registers, beside which more than a few spill
   (kernel_ragged_columns.cu). */
#define RDX_CUDA_HAS_RAGGED_COLUMNS(elements, words) ((elements) * (words) <= 32)

/* Bytes of a warp's tile of short rows, in whole lines (row_tile.cuh): of three blocks a multiprocessor of sm_90. */
enum { RDX_CUDA_TILE = 9216 };

/* What is left of it behind rows of so many bytes and fewer, which are read a power of two of words at once
   (byte_rows.cuh). */
enum { RDX_CUDA_BEHIND_ROWS = 32 };

/* What is folded of rows of several lines as of those of one (kernel_tile_rows.cu): what is asked for often, in its
   usual working type; and by how many threads a row. */
#define RDX_CUDA_HAS_TILE_ROWS(algebra, work, unit, size)                                                              \
    ((unit) == 1 && ((work) != RDX_WORK_F64 || (size) == 8) && ((work) != RDX_WORK_I64 || (size) >= 4) &&              \
     ((algebra) == RDX_ALGEBRA_MAX || (algebra) == RDX_ALGEBRA_ARGMAX || (algebra) == RDX_ALGEBRA_ISUM ||              \
      ((size) > 1 &&                                                                                                   \
       ((algebra) == RDX_ALGEBRA_SUM || (algebra) == RDX_ALGEBRA_SUMSQ ||                                              \
        (((algebra) == RDX_ALGEBRA_VAR || (algebra) == RDX_ALGEBRA_LSE || (algebra) == RDX_ALGEBRA_LSEN) &&            \
         (work) == RDX_WORK_F32)))))
#define RDX_CUDA_TILE_MATES(size, lines) ((size) == 1 || (lines) > RDX_CUDA_TILE_LINES ? 16 : 8)
enum { RDX_CUDA_TILE_LINES = 4, RDX_CUDA_TWICE_LINES = 8 /* of what is looked at twice */ };

/* log2 of the lines that a warp asks for at once of packed rows (kernel_packed_rows.cu), by the nodes of a vector and
   the words of a node: what has room beside them in 128 registers; 0: nothing has. */
#define RDX_CUDA_PACKED_STEPS(nodes, words)                                                                            \
    ((nodes) * (words) <= 8 ? ((words) <= 3 ? 4 : 3) : (nodes) * (words) <= 16 && (words) <= 4 ? 3 : 0)

/* Whether rows of two or four elements that share a vector are taken there too. */
#define RDX_CUDA_HAS_ROWS_IN_VECTORS(size) ((size) == 2 || (size) == 4)

/* Whether a thread has several short rows (kernel_thread_rows.cu): of what is frequent, for each length is code of its
   own. Of bytes only maxima: sums of them are eight bytes each, and leave better one a thread (short_rows; rows of 7
   212 us there, 378 here). Of how many elements: no power of two but of bytes, for packed_rows takes those; of four
   bytes, where nodes are one word, longer rows were at 90% of the ceiling without. The most tiles that a warp asks for
   at once, of 32 times as many rows as a vector has elements, which take N lines each. */
#define RDX_CUDA_HAS_THREAD_ROWS(algebra, work, unit, size)                                                            \
    ((size) <= 4 && (unit) == 1 && (work) != RDX_WORK_F64 && (work) != RDX_WORK_I64 &&                                 \
     ((algebra) == RDX_ALGEBRA_MAX ||                                                                                  \
      ((size) > 1 &&                                                                                                   \
       ((algebra) == RDX_ALGEBRA_SUM || (algebra) == RDX_ALGEBRA_SUMSQ || (algebra) == RDX_ALGEBRA_VAR ||              \
        (algebra) == RDX_ALGEBRA_ISUM || (algebra) == RDX_ALGEBRA_ARGMAX))))
#define RDX_CUDA_MOST_THREAD_ROW(size, words) ((size) == 4 && (words) == 1 ? 7 : 15)
#define RDX_CUDA_HAS_THREAD_ROW(size, words, count)                                                                    \
    ((count) > 1 && (count) <= RDX_CUDA_MOST_THREAD_ROW(size, words) && ((size) == 1 || ((count) & ((count)-1)) != 0))
#define RDX_CUDA_THREAD_TILES(N) (RDX_CUDA_CHUNK_LINES / (N))

/* Columns of at most sixteen rows, of indices 32 (kernel_short_columns.cu): elements that a thread has of a tile, eight
   bytes where nodes are one word (max of 4 x 32M i8 71 us by four, 58 by eight; sums 206 and 339), 16 of elements of
   two (by eight and so: sum of 5 x 13M bf16 60, 43, of 8 x 8M 44, 38, max of 5 x 27M 143, 106, var of 3 x 22M 78, 71),
   of more than eight rows fewer, of more than sixteen a word; tiles of so many rows. Small elements come in words, or
   in vectors where the work is of 32 bits. */
#define RDX_CUDA_HAS_SMALL_COLUMNS(size) ((size) < 4)
#define RDX_CUDA_HAS_SMALL_VECTORS(work) ((work) != RDX_WORK_F64 && (work) != RDX_WORK_I64)
#define RDX_CUDA_SHORT_COLUMNS(size, words)                                                                            \
    (((size) == 1 && (words) == 1) || ((size) == 2 && (words) <= 2) ? 8 : (size) <= 4 ? 4 : 16 / (size))
#define RDX_CUDA_MANY_SHORT_COLUMNS(size) ((size) < 4 ? 4 / (size) : (size) < 8 ? 8 / (size) : 1)
#define RDX_CUDA_SOUGHT_COLUMNS(size) ((size) < 4 ? 4 / (size) : 1)
#define RDX_CUDA_SHORT_TILES(rows, bytes, flight) ((rows) * (bytes) >= (flight) ? 1 : (flight) / ((rows) * (bytes)))

/* Bytes that a thread has under way. Twice as many where nodes are a word, of two to four rows in pieces where blocks
   are many, of nine to sixteen rows always. H200, us, so and so: sum f32 2 x 64M 200, 186, 4 x 16M 85, 79, 2 x 1M 5.8,
   6.1, bf16 3 x 22M 57, 49, over the middle of 16384 x 2 x 4096 104, 96, 12 x 5592401 60, 49; max bf16 3 x 22M 48, 44,
   u8 64 x 3 x 1M 71, 67. Not so argmax bf16 3 x 22M 107, 115, var f32 2 x 32M 107, 141, few rows that come by words,
   bf16 3 x 22369601 64, 68. */
#define RDX_CUDA_HAS_DEEP_COLUMNS(words) ((words) == 1)
enum { RDX_CUDA_FLIGHT = 64, RDX_CUDA_DEEP_FLIGHT = 128, RDX_CUDA_DEEP_ROWS = 4 };

/* Which elements byte_columns has vectors of 16 of, where they are aligned (kernel_byte_columns.cu). */
#define RDX_CUDA_HAS_BYTE_COLUMNS(algebra, work, unit, size)                                                           \
    ((algebra) == RDX_ALGEBRA_MAX && (work) == RDX_WORK_I32 && (unit) == 1 && (size) == 1)

/* Whose indices are sought once the greatest of all rows is known: of so many rows. */
#define RDX_CUDA_SEEKS_ROWS(indexed, work, size) ((indexed) && (work) == RDX_WORK_I32 && ((size) == 2 || (size) == 4))
enum { RDX_CUDA_FEW_ROWS = 8, RDX_CUDA_SHORT_ROWS = 16, RDX_CUDA_SOUGHT_ROWS = 32 };
enum { RDX_CUDA_NO_RUN = INT32_MAX /* a run that no block crosses */ };

/* Vectors of columns that a thread without a ring asks for at once: it has registers for their nodes, 16 words where it
   asks for half as many (straight_columns.cuh). H200, us, by 16 of 4 elements and by 8 of 8: var bf16 over the middle
   of 7710 x 17 x 1024 177, 136, of 436 x 300 x 1024 138, 123, of 131 x 1000 x 1024 89, 79. */
#define RDX_CUDA_STRAIGHT_VECTORS(elements, words) ((elements) * (words) > 8 ? 8 : 16)

#endif
