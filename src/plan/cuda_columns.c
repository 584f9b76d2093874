/* Kernels of columns: which plans they take and how they cut them; see cuda_parts.h. */
#include "cuda_parts.h"

enum {
    MOST_WARPS = 8192,
    RING_WARPS = 2048, /* two blocks a multiprocessor */
    FEWEST_WARPS = 1024,
    STRAIGHT_WARPS = 6144, /* three waves of an H200 at least */
    FEW_BLOCKS = 256,
    NARROW = 128,           /* bytes of a row */
    VERY_LONG = 256 * 1024, /* the same */
    FEW_CHUNKS = 4,
    FEWEST_SHIFTED = 64, /* rows that start anywhere of var and logsumexp in straight_columns */
    SHORT_COUNT = 256,
    HELD_WARPS = 16, /* of a multiprocessor, by the registers of few_columns' and straight_columns' launch bounds */
    RESERVED = 1024, /* bytes of shared memory beside those of each block */
};

/* Warps for which a multiprocessor has registers and shared memory, of which a block takes so many bytes. */
static int64_t held_warps(const RdxDeviceInfo *device, const RdxCudaShape *shape, int64_t bytes)
{
    return rdx_min(device->shared_per_unit / (bytes + RESERVED), HELD_WARPS / shape->warps) * shape->warps;
}

/* Those that keep a stream of columns coming: less those of a team that wait for one with a vector more. */
static double busy_warps(const RdxDeviceInfo *device, const RdxCudaShape *shape, int64_t columns, int64_t bytes)
{
    return (double)(held_warps(device, shape, bytes) * columns) /
           (double)(shape->team * rdx_div_up(columns, shape->team));
}

/* A warp has chunks of its own where shared memory has room for their nodes, one for each lane and column; else all
   warps of the block, two to eight, are a team that shares chunks, a vector of each line for every one of its warps
   (H100, us, each with its own, by four and by eight: sum of 5 columns f32 101, 156, 156, of 12 113, 102, 117, of 15
   147, 126, 112; var of 31 516, 255, 181), and does so where there is one chunk alone: 128256 x 8 f32 took 16.8 us by a
   warp each, 8.1 so, in one call. */
bool rdx_cuda_cut_stream(RdxCudaShape *shape, const RdxSituation *s, int words, int64_t columns, int64_t part_chunks)
{
    const RdxRecipe *recipe = s->recipe;
    const int64_t chunks = rdx_min(rdx_recipe_chunks(recipe), part_chunks),
                  node_words = recipe->lanes * columns * words;
    const int warp_ring = rdx_cuda_ring_bytes(recipe, RDX_CUDA_RING_COLUMNS) / RDX_CUDA_WARPS;
    const int most_team = (int)rdx_min(rdx_pow2_floor(columns), RDX_CUDA_WARPS);
    RdxCudaShape best = *shape;
    double most = 0;
    for (int warps = RDX_CUDA_WARPS; warps >= 1; warps /= 2) {
        for (int team = 1; team <= warps; team = team < warps ? warps : warps + 1) {
            RdxCudaShape trial = *shape;
            bool fills = chunks > 1 ? warps / team <= rdx_pow2_ceil(chunks) : team == most_team;
            if (!fills || team > most_team)
                continue;
            trial.warps = warps;
            trial.team = team;
            trial.warp_chunks = rdx_max(rdx_pow2_ceil(chunks) / (warps / team), 1);
            trial.stack_words =
                (int)(rdx_div_up(node_words, team) + (rdx_cuda_log2_up(trial.warp_chunks) + 1) * 32 * words);
            trial.ring_bytes = warp_ring * warps;
            int64_t bytes = rdx_cuda_shared(&trial, words);
            double busy = busy_warps(s->device, &trial, columns, bytes);
            if (busy > most && rdx_cuda_fits_block(bytes, s)) {
                most = busy;
                best = trial;
            }
        }
    }
    *shape = best;
    return most > 0;
}

/* 2 to 32 packed columns with nothing between the rows, as one stream. */
bool rdx_cuda_take_few_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    if (config->variant != RDX_FORM_FEW_COLUMNS || config->vector_bytes != 16 || config->residues > 1 ||
        space->reduce_rank != 1 || space->reduce_count == 0)
        return false;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    launch->elements = 16 / space->in_size;
    shape->group_outputs = shape->run_outputs = rdx_space_inner_extent(space);
    if (!rdx_cuda_cut_stream(shape, s, launch->words, shape->group_outputs, shape->part_chunks))
        return false;
    rdx_cuda_count_items(launch, s);
    launch->threads = 32 * shape->warps;
    return true;
}

/* ---- Lanes of columns, one after the other ---- */

/* Whether a chunk may have fewer lanes than the recipe's: where threads read any number of lines of a lane, and any
   order will do. */
static bool merges_lanes(const RdxCudaLaunch *launch, const RdxRecipe *recipe)
{
    bool any = launch->kind == RDX_CUDA_KIND_RING_COLUMNS || launch->kind == RDX_CUDA_KIND_PIECE_COLUMNS;
    return any && recipe->exact;
}

/* Warps of a grid whose threads have rings, at least, where there are classes for so many. Fewer read longer pieces of
   rows: 128 x 512 x 1024 f32 over the middle took var 88 us as 8192 and 78 as 2048, minmax 90 and 83, logsumexp 146 and
   113; rows of less than 512 bytes do not gain (var of 2048 x 512 x 64 95 and 100), and lanes of few lines, some of
   them a line longer, wait for each other (655 x 100 x 1024 151 and 229). A block a multiprocessor, 1024, is enough
   where pieces are long, along one dim, and lanes and parts alike: 4096 x 65536 f32 over axis 0 took argmax 260 and
   249.5 us, of 16384 x 4096 argmax 75 and 71, minmax 75 and 71, var 72.4 and 71.2, norm1 69.2 and 67.7; but 1000 x
   67108 norm1 89 and 135, argmax bf16 88 and 103, sum i8 87 and 107, norm3 73 and 76, and along two dims, 32 x 64 x 128
   x 256 over 0 and 2, var 75 and 94. */
static int ring_warps(const RdxCudaLaunch *launch, const RdxSituation *s, int64_t columns, int64_t lanes)
{
    const RdxRecipe *recipe = s->recipe;
    bool merges = merges_lanes(launch, recipe), even = recipe->count % (merges ? 4 : lanes) == 0; /* see lanes_for */
    bool cut = launch->shape.finishing != RDX_FINISHING_NONE;
    bool light =
        recipe->map != RDX_MAP_POW && recipe->map != RDX_MAP_POWI && (s->space->in_size >= 4 || !recipe->exact);
    bool alike = even && (!cut || recipe->count % rdx_recipe_chunk(recipe) == 0);
    bool is_long = columns * s->space->in_size >= 512;
    if (!merges && (!is_long || (recipe->count <= 3 * lanes && !even)))
        return MOST_WARPS;
    return is_long && light && alike && s->space->reduce_rank == 1 ? FEWEST_WARPS : RING_WARPS;
}

/* The same of threads without rings. 67 x 1M f32 took 71.8 us as seven waves of such blocks and 68.9 as four, bf16 of
   twice as many columns 83.1 and 72.8, 1000 x 67 x 1000 over the middle axis 76.9 and 71.8, 300 x 400000 bf16 67.6 as
   six, 64.3 as three, 71.4 as one and a half, 4096 x 512 x 128 238.6 as four and 245.4 as two; but 127 x 500000 61.9 as
   seven and 63.8 as four. A block a multiprocessor gains where a matrix's rows are very long: 4096 x 65536 f32 243.4
   and 241.3, 2048 x 131072 244.3 and 241.2, 2048 x 32768 f64 127.9 and 125.7; but 16384 x 16384 f32 241 and 244, any of
   4096 x 65536 f32 246 and 273. */
static int straight_warps(const RdxCudaLaunch *launch, const RdxSituation *s)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    bool whole = launch->shape.finishing == RDX_FINISHING_NONE && recipe->count >= rdx_recipe_chunk(recipe);
    bool very_long = space->keep_rank == 1 && space->keep_count * space->in_size >= VERY_LONG;
    return whole && very_long && space->in_size >= 4 && recipe->map == RDX_MAP_NONE ? FEWEST_WARPS : STRAIGHT_WARPS;
}

/* Warps that share columns: classes are split over them where the grid, if each took all lanes of its columns, has
   fewer than wanted. A thread without a ring asks for 8 or 16 vectors at once, and keeps lanes enough for that,
   `fewest`. */
static int class_warps_for(const RdxCudaShape *shape, int64_t column_warps, int64_t lanes, int64_t fewest, int wanted)
{
    int64_t warps = 1, most = rdx_min(lanes / (shape->residues * shape->rows_at_once * fewest), RDX_CUDA_WARPS);
    while (warps < most && column_warps * shape->split * shape->residues * warps < wanted)
        warps *= 2;
    return (int)warps;
}

/* Lanes of a chunk through rings. Ops that are exact may have any number, and threads take no notice of them but where
   they find an index. Of what is a few chunks those get as few as are of 16 lines: over the middle axis of 512 x 512 x
   1024, argmax of i8 took 1403 us by 512 lanes and 183 by 32; of half as many bf16 230 and 89. Where that leaves groups
   of vectors that are not whole, fewer still, so that chunks are, but for the last: over 218 x 300 x 1024 f32 argmax
   took 134 us by 32 lanes, 85 by four, 78 by one, of twice as many bf16 179, 146 and 189. */
static int lanes_for(const RdxCudaLaunch *launch, const RdxRecipe *recipe)
{
    const RdxCudaShape *shape = &launch->shape;
    const int64_t n = recipe->count, chunks = rdx_recipe_chunks(recipe);
    if (!merges_lanes(launch, recipe) || !recipe->indexed || chunks > FEW_CHUNKS || (chunks > 1 && shape->residues > 1))
        return recipe->lanes;
    int fewest = shape->classes * (n > SHORT_COUNT ? 4 : 1);
    int lanes = (int)rdx_min(rdx_pow2_ceil(rdx_max(rdx_div_up(n, 16), shape->classes)), recipe->lanes);
    while (shape->residues == 1 && lanes > fewest && n % (16 * lanes) % (4 * lanes) != 0)
        lanes /= 2;
    return lanes;
}

/* Levels of the stack of a thread without a ring, of 2^lanes_log2 lanes of so many lines: what it asks for at once is
   one run (straight_class). */
static int straight_levels(const RdxCudaLaunch *launch, int lanes_log2, int64_t lines)
{
    const int vectors = RDX_CUDA_STRAIGHT_VECTORS(launch->elements, launch->words);
    const int of_lane = rdx_cuda_log2_up(rdx_max(lines, vectors >> lanes_log2));
    const int lines_log2 = launch->elements == 1 ? rdx_round_up(of_lane, 2) : of_lane; /* one alone: 1, 4 or 16 lines */
    return lanes_log2 - rdx_max(rdx_cuda_log2_up(vectors) - lines_log2, 0);
}

/* The blocks of class_warps warps, and of as many side by side as shared memory has room for, most_side at most; false:
   not even those. */
static bool seat_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config, int64_t most_side,
                         int groups)
{
    const RdxRecipe *recipe = s->recipe;
    RdxCudaShape *shape = &launch->shape;
    const int warp_ring = rdx_cuda_ring_bytes(recipe, groups) / RDX_CUDA_WARPS;
    shape->classes = shape->residues * shape->rows_at_once * shape->class_warps;
    launch->lanes = lanes_for(launch, recipe);
    shape->part_chunks = rdx_max(config->part_chunks, 1) * (recipe->lanes / launch->lanes);
    const int64_t lanes = rdx_min(rdx_pow2_ceil(recipe->count), launch->lanes),
                  lines = rdx_min(rdx_div_up(recipe->count, launch->lanes), RDX_CUDA_CHUNK_LINES);
    shape->lanes_log2 = rdx_cuda_log2_up(lanes / shape->classes);
    shape->group_lanes_log2 = (int)rdx_min(lines > 2 ? 0 : lines == 2 ? 1 : 2, shape->lanes_log2);
    int64_t chunks = rdx_min(rdx_cuda_chunks(launch, recipe), shape->part_chunks);
    bool at_once = groups > 0 && recipe->exact && !recipe->indexed; /* all chunks are one */
    int chunk_levels = chunks == 1 || at_once ? 0 : recipe->exact ? 1 : rdx_cuda_log2_up(chunks) + 1;
    const int levels = groups > 0 ? shape->lanes_log2 : straight_levels(launch, shape->lanes_log2, lines);
    shape->lane_levels = recipe->exact ? 1 : rdx_max(levels, 1);
    shape->stack_words = (shape->lane_levels + chunk_levels) * launch->elements * launch->words * 32;
    for (int64_t side = rdx_min(RDX_CUDA_WARPS / shape->class_warps, most_side); side > 0; side /= 2) {
        shape->warps = shape->class_warps * (int)side;
        shape->ring_bytes = warp_ring * shape->warps;
        shape->tile_columns = ((int)side * shape->width - shape->shifted) * launch->elements;
        shape->group_outputs = shape->finishing != RDX_FINISHING_NONE ? config->outputs_per_block : shape->tile_columns;
        if (rdx_cuda_fits(launch, s)) {
            rdx_cuda_count_items(launch, s);
            launch->threads = 32 * shape->warps;
            return true;
        }
    }
    return false;
}

/* Whether blocks of half as many warps keep multiprocessors busier: shared memory has no room for two such blocks, and
   there are blocks for most of them to have two. 65536 x 4096 f32 over axis 0 took var 260 us by eight warps and 248 by
   twice four, 128 x 512 x 1024 over the middle var of twice as many bf16 159 and 145; but logsumexp of 2048 x 32768
   f32, 128 blocks, 82 and 111. */
static bool gain_by_halves(const RdxCudaLaunch *launch, const RdxSituation *s)
{
    const RdxDeviceInfo *device = s->device;
    return launch->shape.class_warps > 1 && 2 * launch->shape.items > 3 * device->units &&
           2 * (rdx_cuda_shared(&launch->shape, launch->words) + RESERVED) > device->shared_per_unit;
}

/* Stacks of half of the lanes have a level less: warps that share columns, where there is room for more of them so. */
static void lower_stacks(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config, int64_t side,
                         int64_t lanes)
{
    RdxCudaLaunch trial = *launch;
    int64_t most = 0, held;
    do {
        held = held_warps(s->device, &trial.shape, rdx_cuda_shared(&trial.shape, trial.words));
        if (held > most)
            most = held, *launch = trial;
        trial.shape.class_warps *= 2;
    } while (trial.shape.class_warps <= RDX_CUDA_WARPS && 2 * trial.shape.classes <= lanes &&
             seat_columns(&trial, s, config, side, 0));
}

/* `groups` of a thread's ring, 0: it has none, and a block has one item; shifted: rows start anywhere, those of a class
   alike, and a tile's first vector is there for the one before. */
static bool cut_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config, int groups, bool shifted)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    const int elements = launch->elements;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    rdx_cuda_take_run(shape, space);
    int64_t columns = rdx_space_inner_extent(space);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    /* Wide tiles start less often, as long as they are enough to go round; else the plan's. 8192 x 65536 bf16 took 252
       us as 256 wide blocks, 270 as 1024; 128 x 64 x 128 x 256 f32 over 0 and 2 328 as 128 wide ones, 255 as 512. */
    bool few = space->keep_count < FEW_BLOCKS * 32 * elements;
    int64_t tile = cut || (few && !shifted) ? rdx_min(config->outputs_per_block, columns) : columns;
    int64_t lanes = rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes);
    shape->shifted = shifted;
    shape->width = (int)rdx_min(rdx_pow2_ceil(rdx_div_up(tile, elements) + shifted), 32);
    shape->rows_at_once = 32 / shape->width;
    shape->run_outputs = columns;
    if (lanes < shape->residues * shape->rows_at_once)
        return false;
    int64_t column_warps = space->keep_count / columns * rdx_div_up(columns, (int64_t)shape->width * elements);
    int64_t lines = rdx_min(rdx_div_up(recipe->count, recipe->lanes), 16);
    int wanted = groups > 0 ? ring_warps(launch, s, columns, lanes) : straight_warps(launch, s);
    shape->class_warps = class_warps_for(
        shape, column_warps, lanes,
        groups > 0 ? 1 : rdx_max(RDX_CUDA_STRAIGHT_VECTORS(elements, launch->words) / rdx_pow2_ceil(lines), 1), wanted);
    if (shifted) {
        int64_t pitch = space->reduce[0].in,
                alike = pitch ? 16 / rdx_min(pitch & -pitch, 16) : 1; /* rows to the next */
        while (shape->residues * shape->rows_at_once * shape->class_warps < alike)
            shape->class_warps *= 2;
        if (shape->class_warps > RDX_CUDA_WARPS || shape->residues * shape->rows_at_once * shape->class_warps > lanes)
            return false;
    }
    int64_t side = rdx_pow2_ceil(rdx_div_up(rdx_div_up(tile, elements) + shifted, shape->width));
    if (!seat_columns(launch, s, config, side, groups))
        return false;
    if (groups > 0 && gain_by_halves(launch, s)) {
        side = shape->warps / shape->class_warps;
        shape->class_warps /= 2;
        seat_columns(launch, s, config, side, groups); /* half of what had room */
    }
    if (groups == 0)
        lower_stacks(launch, s, config, side, lanes);
    return groups > 0 || shape->items <= INT32_MAX;
}

/* Packed columns, aligned to 16 bytes. */
static bool are_vectors(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    return (config->variant == RDX_FORM_COLUMNS || rdx_cuda_is_streamed(space, recipe, config)) &&
           config->vector_bytes == 16 && space->reduce_count > 1;
}

/* As straight_columns.cuh stamps them (straight_elements). */
bool rdx_cuda_has_small_nodes(const RdxRecipe *recipe, int size, int words)
{
    static const uint8_t other[RDX_ALGEBRA_COUNT] = {
        [RDX_ALGEBRA_ARGMAX] = 1, [RDX_ALGEBRA_ARGMAXL] = 1, [RDX_ALGEBRA_MAXARG] = 1, [RDX_ALGEBRA_MAXARGL] = 1,
        [RDX_ALGEBRA_VAR] = 1,    [RDX_ALGEBRA_CVAR] = 1,    [RDX_ALGEBRA_LSE] = 1,    [RDX_ALGEBRA_LSEN] = 1,
    };
    return !other[recipe->algebra] && recipe->unit == 1 && size > 1 && 16 / size * words <= 8;
}

/* Elements of a vector of what straight_columns takes of chunks that fill their lanes (straight_elements); 0: nothing
   of this. An only chunk, of which rings keep var of many whole lines: H200, us, through rings and so: 2048 and 4096
   rows of bf16 82, 88 and 74, 80; 256 of f64 77, 82; but 1000 of f32 94, 69. Several, where the last has a line: var of
   640 x 49 rows of 2048 bf16 55, 40, 640 x 196 of 1024 124, 74, 131072 x 768 84, 64, 65536 x 4096 135, 131; 640 x 49 x
   2048 f32 72, 69; logsumexp of 3000 x 32768 f32 159, 99, 65536 x 4096 285, 255, bf16 250, 229. */
static int filling_elements(const RdxSituation *s, int words)
{
    const RdxRecipe *recipe = s->recipe;
    const int size = s->space->in_size;
    const bool var = recipe->algebra == RDX_ALGEBRA_VAR, wide = recipe->work == RDX_WORK_F64;
    const int64_t whole = recipe->count % recipe->lanes == 0 ? recipe->count / recipe->lanes : 0;
    if (size == 1 || (!var && (recipe->algebra != RDX_ALGEBRA_LSE || wide)))
        return 0;
    if (rdx_recipe_chunks(recipe) > 1) {
        const int64_t rest = recipe->count % rdx_recipe_chunk(recipe);
        if (wide || (rest > 0 && rest < recipe->lanes))
            return 0;
    } else if (var && whole >= (wide ? 2 : size == 2 ? 8 : 16)) {
        return 0;
    }
    return (int)rdx_min(16 / size, 16 / words);
}

/* 16 packed rows and more along one dim, with an unmasked map: whole, aligned vectors, or shifted, starting anywhere
   but at multiples of an element (complex numbers may lie at those of their parts). */
bool rdx_cuda_take_straight_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const bool small = rdx_cuda_has_small_nodes(s->recipe, space->in_size, launch->words);
    launch->elements = small ? 16 / space->in_size : filling_elements(s, launch->words);
    const int fewest = rdx_cuda_is_streamed(space, s->recipe, config) ? RDX_CUDA_FEW_ROWS + 1 : RDX_CUDA_SHORT_ROWS;
    if (space->reduce_rank != 1 || space->keep_rank == 0 || s->recipe->count < fewest || launch->elements == 0 ||
        !rdx_cuda_has_unmasked_map(s->recipe))
        return false;
    const RdxDim *columns = &space->keep[space->keep_rank - 1];
    bool form = config->variant == RDX_FORM_COLUMNS || config->variant == RDX_FORM_SHIFTED_COLUMNS;
    bool whole = are_vectors(space, s->recipe, config) && columns->extent % launch->elements == 0;
    bool shifts = form && config->vector_bytes >= space->in_size &&
                  (small || (launch->elements * space->in_size == 16 && s->recipe->count >= FEWEST_SHIFTED));
    return columns->in == space->in_size && (whole || shifts) && cut_columns(launch, s, config, 0, !whole);
}

/* Packed columns of rows that start anywhere, of elements that come in pieces whole, and of what straight_columns does
   not take. */
static bool are_pieces(const RdxSituation *s, const RdxConfig *config)
{
    const int size = s->space->in_size;
    RdxLayout layout;
    bool form = config->variant == RDX_FORM_COLUMNS || config->variant == RDX_FORM_SHIFTED_COLUMNS;
    if (!form || !RDX_CUDA_HAS_PIECE_COLUMNS(size))
        return false;
    rdx_layout_of(&layout, s);
    return layout.packed && layout.column_align >= rdx_min(size, 8);
}

/* Of what straight_columns does not take: part of a line, but for its first power of two of aligned lanes, which
   ring_columns knows. Of exact ones only indices of narrow rows; others are faster through rings (argmax of 10485 x 100
   x 64 f32 175 us here and 102 so, sums of i8 of 41943 218 and 137). */
bool rdx_cuda_take_ragged_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    const RdxSpace *space = s->space;
    const int size = space->in_size, elements = 16 / size;
    const bool whole = are_vectors(space, s->recipe, config), even = (recipe->count & (recipe->count - 1)) == 0,
               narrow = space->keep_rank > 0 && rdx_space_inner_extent(space) * size < NARROW;
    launch->elements = elements;
    return recipe->count > 16 && recipe->count < recipe->lanes && (!recipe->exact || (recipe->indexed && narrow)) &&
           (whole ? !even : are_pieces(s, config)) && RDX_CUDA_HAS_RAGGED_COLUMNS(elements, launch->words) &&
           rdx_cuda_has_unmasked_map(recipe) && !rdx_cuda_has_small_nodes(recipe, size, launch->words) &&
           cut_columns(launch, s, config, RDX_CUDA_RING_COLUMNS, false);
}

/* Packed columns: whole, aligned vectors. */
bool rdx_cuda_take_ring_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    launch->elements = 16 / s->space->in_size;
    return are_vectors(s->space, s->recipe, config) && cut_columns(launch, s, config, RDX_CUDA_RING_COLUMNS, false);
}

/* A line and more, or of ops that are exact what makes more than a vector a thread. */
bool rdx_cuda_take_piece_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    launch->elements = 16 / s->space->in_size;
    return are_pieces(s, config) && s->recipe->count >= (s->recipe->exact ? 17 : s->recipe->lanes) &&
           !rdx_cuda_has_small_nodes(s->recipe, s->space->in_size, launch->words) &&
           cut_columns(launch, s, config, RDX_CUDA_RING_COLUMNS, false);
}

/* Columns of any strides, with an unmasked map. */
bool rdx_cuda_take_single_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    launch->elements = 1;
    return !rdx_layout_is_row(space) && space->keep_rank > 0 && space->reduce_count > 0 &&
           rdx_cuda_has_unmasked_map(s->recipe) && cut_columns(launch, s, config, 0, false);
}
