/* Kernels of rows: which plans they take and how they cut them; see cuda_parts.h. */
#include "cuda_parts.h"
#include "geometry.h"

enum {
    BUSY_WARPS = 8192,
    BUSY_STAGED = 32768,
    RUN_BYTES = 32768,
    MOST_CHUNKS = 1 << 30, /* of a part: finished runs lie across a warp; of a row that goes into registers */
    /* Sums of bytes do without rings up to so many times heavy_bytes, and of rows of so many chunks however many there
       are. */
    BYTE_TIMES = 4,
    BYTE_CHUNKS = 8,
    /* The same of nodes of several words that carry no index and no moments. */
    WIDE_TIMES = 4,
};

/* ---- Short rows ---- */

/* Rows of 1, 2, 4 .. 32 whole, aligned vectors, or 2, 4 .. to a vector, with nothing between them and one copy of an
   output; not where a vector's nodes take more registers than there are. */
bool rdx_cuda_take_packed_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    const int elements = 16 / space->in_size;
    const int steps = RDX_CUDA_PACKED_STEPS(recipe->exact ? 1 : elements, launch->words);
    RdxLayout layout;
    if (config->variant != RDX_FORM_ROWS || space->keep_rank != 1 || config->finishing != RDX_FINISHING_NONE ||
        config->slices > 1 || space->copy_count != 1 || steps == 0)
        return false;
    rdx_layout_of(&layout, s);
    if (!rdx_rows_are_packed(s, &layout))
        return false;
    launch->elements = elements;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    int64_t line = RDX_CUDA_THREADS * elements / recipe->count; /* rows of a line of every warp */
    shape->group_outputs = line << steps;
    shape->run_outputs = space->keep_count;
    rdx_cuda_count_items(launch, s);
    return true;
}

/* Rows of 2 to 15 elements with nothing between them, from an aligned one on, and one copy of an output. A warp has as
   many tiles as leave two blocks for every multiprocessor. */
bool rdx_cuda_take_thread_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    const int64_t count = recipe->count;
    const bool other_bytes = space->in_size == 1 && recipe->in != RDX_TYPE_I8 && recipe->in != RDX_TYPE_U8;
    /* Rows of 2, 4 and 8 bytes are vectors of their own. */
    const bool form = config->variant == RDX_FORM_TILE || (space->in_size == 1 && config->variant == RDX_FORM_ROWS);
    RdxLayout layout;
    if (!form || other_bytes || config->finishing != RDX_FINISHING_NONE || space->keep_rank != 1 ||
        space->copy_count != 1 || config->slices > 1 ||
        !RDX_CUDA_HAS_THREAD_ROW(space->in_size, launch->words, count) || !rdx_cuda_has_unmasked_map(recipe) ||
        !RDX_CUDA_HAS_THREAD_ROWS(recipe->algebra, recipe->work, recipe->unit, space->in_size))
        return false;
    rdx_layout_of(&layout, s);
    if (!rdx_layout_packs_rows(&layout) || layout.stream_align < 16)
        return false;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    launch->elements = 16 / space->in_size;
    const int64_t tile = (int64_t)RDX_CUDA_THREADS * launch->elements, most = RDX_CUDA_THREAD_TILES(count);
    const int64_t tiles = space->keep_count / tile / (2 * s->device->units);
    shape->group_outputs = tile * rdx_max(rdx_min(tiles, most), 1);
    shape->run_outputs = space->keep_count;
    shape->ring_bytes = (int)(RDX_CUDA_WARPS * most * count * 512);
    shape->mates = 1;
    rdx_cuda_count_items(launch, s);
    return shape->ascending && shape->items <= INT32_MAX && rdx_cuda_fits(launch, s);
}

/* Whether rows suffice for some blocks a multiprocessor of warps that read several at once. */
static bool are_many(const RdxSituation *s)
{
    return s->space->keep_count >= RDX_CUDA_WARPS * RDX_CUDA_LINE_ROWS * s->device->many_blocks / 16;
}

static bool are_rows(const RdxSpace *space, const RdxConfig *config)
{
    bool one = (config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED) && space->reduce_rank == 1;
    bool several = config->variant == RDX_FORM_RUNS && space->reduce_rank == 2 && space->reduce_count <= INT32_MAX;
    return (one || several) && config->vector_bytes == 16 && config->residues <= 1 &&
           config->part_chunks <= MOST_CHUNKS && space->reduce_count > 0;
}

/* What all kernels that read rows straight ask for: a map that the kernels know at compile time, indices, if any, that
   ascend, and one copy of an output. */
static bool suit_straight(const RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    bool known = rdx_cuda_has_unmasked_map(s->recipe) ||
                 (launch->kind == RDX_CUDA_KIND_STRAIGHT_ROWS && rdx_cuda_has_masked_map(s->recipe));
    return space->copy_count == 1 && config->slices <= 1 && space->keep_count <= INT32_MAX &&
           rdx_recipe_chunks(s->recipe) <= MOST_CHUNKS && known && rdx_cuda_is_ascending(space);
}

/* Lanes of a thread: as registers allow, but so many that a warp is enough for a row. */
static int lanes_of_thread(const RdxRecipe *recipe, int size, int words)
{
    bool real = recipe->work == RDX_WORK_F32 || recipe->work == RDX_WORK_F64;
    if (!real && size <= 2 && (words == 1 || recipe->algebra == RDX_ALGEBRA_ISUM))
        return 32;
    return words <= 2 || size == 1 ? 16 : words <= 4 || size == 2 ? 8 : 4;
}

/* Contiguous rows of at most `most` lines, packed or aligned: a tile of whole ones a warp, `mates` threads a row of
   several lines. */
static bool cut_tiles(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config, int most, int64_t mates)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    bool rows =
        config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED || config->variant == RDX_FORM_TILE;
    if (!rows || space->reduce_rank != 1 || space->reduce[0].in != space->in_size || recipe->count == 0 ||
        recipe->count > most * recipe->lanes || config->finishing != RDX_FINISHING_NONE || config->slices > 1 ||
        space->keep_rank == 0)
        return false;
    int64_t step = rdx_space_inner_stride(space);
    RdxLayout layout;
    rdx_layout_of(&layout, s);
    const bool aligned = layout.run_align >= 16; /* every row starts at a multiple of 16 */
    if (step != recipe->count * space->in_size && !aligned)
        return false;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    shape->ring_bytes = RDX_CUDA_WARPS * RDX_CUDA_TILE;
    shape->row_bytes = (int)(recipe->count * space->in_size);
    int each = (int)rdx_div_up(shape->row_bytes, 16);
    shape->row_magic = 65536 / each + 1;
    shape->lines = (int)rdx_div_up(recipe->count, recipe->lanes);
    shape->mates = (int)mates;
    /* Rows of an even number of vectors start in the same banks, which a pad turns. Of several lines, four at once, it
       is of use to 16 bits alone: sums of 512 bf16 75.4 and 66.6 us, argmax of 256 f32 67.4 and 71.7. */
    const bool one_line = shape->lines == 1;
    const bool padded = space->in_size == 2 || rdx_recipe_is_twice(recipe); /* of several lines */
    bool even = one_line ? shape->row_bytes % 32 == 0 : padded && shape->row_bytes % 64 == 0;
    /* Those that one thread loads as two vectors or six (line_fold.cuh) meet by twos, which costs less than a copy row
       by row (max f32 over 2796202 x 24 81 us, 68 so). */
    const bool loads_vectors = space->in_size > 1 && recipe->count <= 32 && shape->row_bytes % 16 == 0 &&
                               (recipe->exact || launch->words == 1) &&
                               (rdx_cuda_has_unmasked_map(recipe) || rdx_cuda_has_masked_map(recipe));
    if (loads_vectors && each % 4 == 2)
        even = false;
    if (step != shape->row_bytes || (even && aligned))
        shape->pitch = 16 * (each | 1);
    const int behind = space->in_size == 1 && recipe->count <= RDX_CUDA_BEHIND_ROWS ? RDX_CUDA_BEHIND_ROWS : 0;
    int64_t in_tile = (RDX_CUDA_TILE - behind - (aligned ? 0 : 15)) / (shape->pitch ? shape->pitch : shape->row_bytes);
    /* As many as leave a sixteenth of what are many blocks, and whole turns of a warp: 2M x 33 f32 took 72 us in tiles
       of 24 rows, 76 in tiles of 30. A row of a line has a thread for 32 elements, and 32 of them lie well in the
       banks. */
    const int64_t fewest = rdx_max(s->device->many_blocks / 16, 1);
    const int64_t threads = one_line ? rdx_max(rdx_pow2_ceil(recipe->count) / 32, 1) : mates;
    in_tile = rdx_max(rdx_min(in_tile, space->keep_count / (RDX_CUDA_WARPS * fewest)), 1);
    const int64_t turn = one_line && in_tile >= 32 ? 32 : rdx_min(32 / threads, rdx_pow2_floor(in_tile));
    in_tile = in_tile / turn * turn;
    shape->run_outputs = rdx_space_inner_extent(space);
    shape->group_outputs = in_tile; /* of a warp */
    rdx_cuda_count_items(launch, s);
    return shape->items <= INT32_MAX && rdx_cuda_fits(launch, s);
}

/* Rows of two lines to four, of what is looked at twice to eight, of what is asked for often. Of those that start at
   whole vectors, few are left to straight_rows where it takes them, a warp each (1024 of 512 f32 3.7 us in tiles, 2.8
   so), and to line_rows four whole lines that take an instruction an element: i8 33.5 us by line_rows and 36.1, sums of
   f32 62.8 and 64.5; but of 16 bits 73.4 and 65.3. So are indices of bytes: argmax i8 over 131072 x 2048 88 us by
   line_rows. */
bool rdx_cuda_take_tile_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    const int size = s->space->in_size;
    const bool float_bytes = size == 1 && rdx_type_is_float((RdxType)recipe->in);
    const bool brief = launch->words == 1 && !recipe->indexed && (size != 2 || recipe->exact);
    const bool seeks_bytes = recipe->indexed && size == 1 && recipe->count >= 2 * recipe->lanes;
    const bool twice = rdx_recipe_is_twice(recipe);
    const bool straight =
        (config->variant == RDX_FORM_ROWS || twice) && are_rows(s->space, config) && suit_straight(launch, s, config);
    const bool by_lines =
        straight &&
        (are_many(s)
             ? !twice && s->space->keep_rank == 1 && ((brief && recipe->count == 4 * recipe->lanes) || seeks_bytes)
             : twice || RDX_CUDA_HAS_STRAIGHT_ROWS(recipe->algebra, recipe->work, recipe->indexed, size));
    launch->elements = 1;
    return recipe->count > recipe->lanes && rdx_cuda_has_unmasked_map(recipe) && !by_lines &&
           (!float_bytes || recipe->algebra == RDX_ALGEBRA_MAX) &&
           RDX_CUDA_HAS_TILE_ROWS(recipe->algebra, recipe->work, recipe->unit, size) &&
           cut_tiles(launch, s, config, twice && are_many(s) ? RDX_CUDA_TWICE_LINES : RDX_CUDA_TILE_LINES,
                     RDX_CUDA_TILE_MATES(size, rdx_div_up(recipe->count, recipe->lanes)));
}

bool rdx_cuda_take_short_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    if (recipe->count > recipe->lanes &&
        RDX_CUDA_HAS_STAGED_ROWS(rdx_recipe_is_twice(recipe), recipe->work, s->space->in_size))
        return false;
    launch->elements = lanes_of_thread(recipe, s->space->in_size, launch->words);
    const int64_t lanes = rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes);
    return cut_tiles(launch, s, config, RDX_CUDA_TILE_LINES, rdx_max(lanes / launch->elements, 1));
}

/* ---- A warp a chunk ---- */

/* With `ring_bytes` of shared memory for what a block reads. Warps that share a row meet at a barrier, so they do only
   where rows are fewer than the `busy` warps that keep the chip so. */
static bool cut_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config, int ring_bytes, int busy)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    shape->ring_bytes = ring_bytes;
    int64_t chunks = rdx_min(rdx_recipe_chunks(recipe), shape->part_chunks);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    rdx_cuda_take_run(shape, space);
    /* Argmax of 16384 rows of 4096 f32 took 90 us on an H200 with two warps a row, 74 with one, sums 64 with either. */
    int64_t sharing = rdx_pow2_ceil(rdx_div_up(busy, rdx_max(space->keep_count, 1)));
    sharing = rdx_min(sharing, RDX_CUDA_WARPS);
    shape->team = cut ? RDX_CUDA_WARPS : (int)rdx_min(rdx_pow2_ceil(chunks), sharing);
    shape->team_log2 = rdx_cuda_log2_up(shape->team);
    shape->warp_chunks = rdx_max(rdx_pow2_ceil(chunks) / shape->team, 1);
    shape->group_outputs = cut ? config->outputs_per_block : RDX_CUDA_WARPS / shape->team;
    /* A warp's start is paid once for RUN_BYTES, as long as blocks are many. */
    int64_t run = RUN_BYTES / (recipe->count * space->in_size), most = s->device->many_blocks;
    bool one_row = cut || shape->team > 1 || space->keep_rank > 1;
    while (!one_row && shape->group_outputs < RDX_CUDA_WARPS * run && space->keep_count > shape->group_outputs * most)
        shape->group_outputs *= 2;
    shape->run_outputs = space->keep_count;
    rdx_cuda_count_items(launch, s);
    return rdx_cuda_fits(launch, s);
}

/* Of contiguous runs. Of bytes, but for indices, there are those of aligned rows alone. */
static bool take_registers(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    if (s->space->in_size == 1 && !s->recipe->indexed && launch->kind != RDX_CUDA_KIND_STRAIGHT_ROWS &&
        launch->kind != RDX_CUDA_KIND_LINE_ROWS)
        return false;
    launch->elements = 16 / s->space->in_size;
    return are_rows(s->space, config) && suit_straight(launch, s, config) && cut_rows(launch, s, config, 0, BUSY_WARPS);
}

/* More than so many times the device's heavy_bytes: what is slow to fold goes on so long that rings are ahead. */
static bool goes_on(const RdxSituation *s, int times)
{
    return rdx_space_bytes(s->space) > times * (double)s->device->heavy_bytes;
}

/* Of real numbers, or of any: three words of a node and more, and joins that divide. */
static bool is_variance(const RdxRecipe *recipe, bool any)
{
    return recipe->algebra == RDX_ALGEBRA_VAR || recipe->algebra == RDX_ALGEBRA_VARN ||
           (any && (recipe->algebra == RDX_ALGEBRA_CVAR || recipe->algebra == RDX_ALGEBRA_CVARN));
}

/* Rows of two lines to eight that a warp reads at once; 0: they are longer or shorter, or their nodes have no room. */
static int line_rows_of(const RdxRecipe *recipe, int size, int words)
{
    int64_t lines = rdx_div_up(recipe->count, recipe->lanes);
    int rows = recipe->count < 2 * recipe->lanes ? 0 : RDX_CUDA_LINE_ROWS;
    while (rows > 1 && (rows * lines > RDX_CUDA_CHUNK_LINES ||
                        !RDX_CUDA_HAS_LINE_ROWS(rows, recipe->algebra, recipe->exact, recipe->indexed, size, words)))
        rows /= 2;
    return rows > 1 ? rows : 0;
}

/* Many of them. Whole lines where counts play a part: joins of unequal ones divide. */
bool rdx_cuda_take_line_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    RdxCudaShape *shape = &launch->shape;
    const int rows = line_rows_of(recipe, s->space->in_size, launch->words);
    const bool counted = is_variance(recipe, true) && !recipe->omit; /* else nodes have counts of their own */
    if (config->variant != RDX_FORM_ROWS || config->finishing != RDX_FINISHING_NONE || s->space->keep_rank != 1 ||
        rows == 0 || !are_many(s) || rdx_recipe_is_twice(recipe) || (counted && recipe->count % recipe->lanes != 0) ||
        !take_registers(launch, s, config))
        return false;
    shape->line_rows = rows;
    shape->group_outputs = rdx_max(shape->group_outputs, RDX_CUDA_WARPS * rows);
    rdx_cuda_count_items(launch, s);
    return true;
}

/* Whether folding is so little work, or over so soon, that a warp may do without asking ahead. Sums of f64 took 66.2 us
   over 8192 x 4096, 70.1 over 32M in one and 125.0 over 16384 x 4096 through rings, 62.6, 65.6 and 121.4 this way, of
   i64 over 8192 x 4096 65.2 and 62.3, any of 16384 x 4096 f32 66.7 and 63.1, minmax 68.3 and 67.0; but sums of f64 over
   65536 x 2048 242 and 254. So is what seeks an index once the greatest is known: argmax f32 over 65536 x 4096 245 and
   239, i8 253 and 69. */
static bool is_light(const RdxSituation *s, int words)
{
    const RdxRecipe *recipe = s->recipe;
    const int algebra = recipe->algebra;
    const bool sums_i64 = recipe->work == RDX_WORK_I64 && (algebra == RDX_ALGEBRA_SUM || algebra == RDX_ALGEBRA_AND ||
                                                           algebra == RDX_ALGEBRA_OR || algebra == RDX_ALGEBRA_XOR);
    const bool seeks = recipe->indexed && recipe->work == RDX_WORK_I32;
    if (words == 1 || s->space->in_size == 2 || sums_i64 || seeks)
        return true;
    if (s->space->in_size == 1)
        return recipe->count >= BYTE_CHUNKS * rdx_recipe_chunk(recipe) || !goes_on(s, BYTE_TIMES);
    return !recipe->indexed && !is_variance(recipe, true) && !goes_on(s, WIDE_TIMES);
}

/* Rings fold whole groups of lines; rows of one chunk that end within a group they fold line by line. */
static bool are_groups(const RdxRecipe *recipe)
{
    return recipe->count > rdx_recipe_chunk(recipe) || recipe->count % (RDX_CUDA_GROUP * recipe->lanes) == 0;
}

/* Rows of one run of aligned vectors.

   Nodes of several words take longer to fold and to join, which rings hide where rows are whole groups: var over 4096 x
   4096 f32 took 26.5 us through them and 23.3 this way, over 16384 x 4096 69 and 73; but var over 128K x 1000 303 and
   242, x 2000 354 and 278. Elements of two bytes are as much work either way. Where rows are cut, twice as many bytes
   of four-byte elements go this way: var over 64M f32 in one 75.2 us through rings, 73.6 this way; over 256M in one
   359.8 and 363.1 (H100). Sums of i8 over 64K x 5008 79.2 and 49.9, over 16K x 64K 240.8 and 239.5; of half a chunk,
   before line_rows took them, over 64K x 4K 73.1 and 69.8, but over 256K x 4K 250 and 257. */
bool rdx_cuda_take_straight_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    const int times = config->finishing != RDX_FINISHING_NONE && s->space->in_size == 4 ? 2 : 1;
    if (config->variant != RDX_FORM_ROWS || rdx_recipe_is_twice(recipe) ||
        !RDX_CUDA_HAS_STRAIGHT_ROWS(recipe->algebra, recipe->work, recipe->indexed, s->space->in_size))
        return false;
    /* Of one line to four a warp each where they are few; others are short_rows, which takes no row alone. */
    if (s->space->keep_rank > 0 && recipe->count <= 4 * recipe->lanes)
        return recipe->count >= recipe->lanes && !are_many(s) && take_registers(launch, s, config);
    return (is_light(s, launch->words) || !goes_on(s, times) || !are_groups(recipe)) &&
           take_registers(launch, s, config);
}

/* Rows of one run that are looked at twice, wherever they start. Where folding is long, so is a last block that runs
   alone: over 8192 x 32768 252 us with one warp a row, 239 with four; but not where those would have unequal shares,
   runs of 2^k chunks, for long. */
bool rdx_cuda_take_staged_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    const int size = s->space->in_size;
    const int64_t chunks = rdx_recipe_chunks(recipe);
    const bool even = chunks >= rdx_pow2_ceil(chunks) / 4 * 3;
    launch->elements = 16 / size;
    return RDX_CUDA_HAS_STAGED_ROWS(rdx_recipe_is_twice(recipe), recipe->work, size) &&
           config->variant != RDX_FORM_RUNS && are_rows(s->space, config) && suit_straight(launch, s, config) &&
           cut_rows(launch, s, config, RDX_CUDA_WARPS * RDX_CUDA_STAGE_BYTES, even ? BUSY_STAGED : BUSY_WARPS);
}

/* Rows that start anywhere. Rings turn every vector, so nearly all are faster this way (us, through rings and this
   way): sum over 2 x 50257 f32 6.4 and 3.6, 65536 x 1000 99 and 68, 1000 x 100003 98 and 93, var 132 and 121; argmax
   over 1000 x 100003 bf16 87 and 80. Not var of f64: 1000 x 50257 122 and 131, 32768 x 4001 274 and 312. */
bool rdx_cuda_take_shifted_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    bool slow = is_variance(s->recipe, false) && s->space->in_size == 8 && goes_on(s, 1);
    return config->variant == RDX_FORM_SHIFTED && !rdx_recipe_is_twice(s->recipe) && !slow &&
           take_registers(launch, s, config);
}

/* Rows in several runs (us, through rings as they were and this way, axes 0, 2, 3 of 256 x 256 x 56 x 56): sum f32 194
   and 186, bf16 106 and 96, argmax f32 301 and 269; of 32 x 64 x 112 x 112 var 43.5 and 39. Not var where it goes on:
   231 this way, through rings, since those seek a run by one product, 216; 128 x 64 x 64 x 256 f64 over 1 and 3 305 and
   249. */
bool rdx_cuda_take_run_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    return config->variant == RDX_FORM_RUNS && !rdx_recipe_is_twice(s->recipe) &&
           !(is_variance(s->recipe, true) && goes_on(s, 1)) && take_registers(launch, s, config);
}

/* Contiguous runs of whole vectors, or one run of any alignment. */
bool rdx_cuda_take_ring_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    launch->elements = 16 / s->space->in_size;
    return are_rows(s->space, config) &&
           cut_rows(launch, s, config, rdx_cuda_ring_bytes(s->recipe, RDX_CUDA_RING_ROWS), BUSY_WARPS);
}

/* Rows whose parts, if any, are of one output each, and whose lanes fill a warp. */
static bool are_lone_rows(const RdxSpace *space, const RdxConfig *config)
{
    bool one_row = config->finishing == RDX_FINISHING_NONE || config->outputs_per_block == 1;
    return rdx_layout_is_row(space) && one_row && space->reduce_count >= 32 && config->residues <= 1 &&
           config->part_chunks <= MOST_CHUNKS;
}

/* Every second element of rows that start at whole vectors and have a line at least: of 64 f32, rows by a lane a thread
   are faster (H100: 1M of them 1600 us and 1839). */
bool rdx_cuda_take_stepped_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    RdxLayout layout;
    if (config->variant != RDX_FORM_GATHER || space->reduce_rank != 1 || space->reduce[0].in != 2 * space->in_size ||
        s->recipe->count < s->recipe->lanes || !RDX_CUDA_HAS_STEPPED_ROWS(space->in_size, launch->words) ||
        rdx_recipe_is_twice(s->recipe) || !are_lone_rows(space, config) || !suit_straight(launch, s, config))
        return false;
    rdx_layout_of(&layout, s);
    launch->elements = 8 / space->in_size;
    return layout.run_align >= 16 && cut_rows(launch, s, config, 0, BUSY_WARPS);
}

/* Rows in several runs, each of whole half vectors. */
bool rdx_cuda_take_half_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    launch->elements = config->vector_bytes / s->space->in_size;
    return config->variant == RDX_FORM_RUNS && config->vector_bytes == RDX_CUDA_HALF_VECTOR &&
           RDX_CUDA_HAS_HALF_ROWS(s->space->in_size, launch->words) && are_lone_rows(s->space, config) &&
           suit_straight(launch, s, config) && cut_rows(launch, s, config, 0, BUSY_WARPS);
}

/* Rows of any strides, where lanes fill a warp. */
bool rdx_cuda_take_gather_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    launch->elements = 1;
    /* Several lanes at once: a frequent map, ascending indices, elements a step apart in one run or several. Whole
       chunks in one run of four-byte elements are as fast a lane after the other, and max faster (H100: 179 us and
       194). */
    const RdxRecipe *recipe = s->recipe;
    bool fast = space->reduce_rank == 1 && space->in_size == 4 && space->reduce_count % rdx_recipe_chunk(recipe) == 0;
    bool has = RDX_CUDA_GATHERS_LANES(space->in_size, launch->words, recipe->unit) && !rdx_recipe_is_twice(recipe);
    launch->shape.gathers = has && !fast && space->reduce_rank <= 2 && space->reduce_count <= INT32_MAX &&
                            rdx_cuda_has_unmasked_map(recipe) && rdx_cuda_is_ascending(space);
    return are_lone_rows(space, config) && cut_rows(launch, s, config, 0, BUSY_WARPS);
}
