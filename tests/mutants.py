#!/usr/bin/env python3
"""Plants bugs in a copy of the sources and demands that the tests notice.

    mutants.py                 the named patches and 40 drawn ones; exit 1 unless at least 95%, rounded down, are killed
    mutants.py --list          prints them, runs nothing
    mutants.py --only WORD     only those whose description holds WORD
    mutants.py --order N --seconds S
                               in an order that N draws, as many as each worker begins within S seconds of judging

A mutant is one change to one file of src/. It is killed if it does not survive, in this order: the golden answers
(build/bits), the quick suites of check_all, and a short fuzz run. Bugs named in the CUDA kernels are judged by the cases of
tests/emu, the golden answers and a fuzz run through the emulated plugin. One that does not compile is no mutant: another is drawn.
The draw orders all possible changes by a hash of (seed, file, line's text, operator), so an edit elsewhere does not reshuffle it.
Survivors that change nothing anyone can see are listed in survivors.txt with the reason; they do not count. Any other survivor
is named in the output. A named patch that no longer applies to exactly one place is a failure, whether it was drawn or not.

Each judge (the host's programs, two kinds of emulator) has a pristine tree, built at -O1 when its first mutant comes. A step that
kills, or of many cases the one that does, is tried there too, once, for what fails anyhow kills nothing. Each worker has a copy of
those trees; a mutant rebuilds what make thinks it must, and is undone by putting back the files that differ from the pristine tree.
"""

import argparse
import concurrent.futures
import hashlib
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SURVIVORS = os.path.join(ROOT, "tests", "survivors.txt")
DRAWN = 40
NEEDED = 0.95
QUICK = "scalar space recipe api api_errors api_state cache sys pool plugin plan_cuda shape print short_rows columns move".split()

# line: position of `old`, counted from 0; -1: in the one place where it is. judge: "host", or the kind of emulator that judges it
Mutant = namedtuple("Mutant", "name path old new line judge")

NAMED = [
    ("smaller chunks, and parts of as many", "src/plan/cuda_columns.c",
     "rdx_max(config->part_chunks, 1) * (recipe->lanes / launch->lanes)", "rdx_max(config->part_chunks, 1)"),
    ("lanes fewer than classes", "src/plan/cuda_columns.c", "shape->classes * (n > SHORT_COUNT ? 4 : 1)", "1"),
    ("lanes of ops that find no index are merged", "src/plan/cuda_columns.c", "!merges_lanes(launch, recipe) || !recipe->indexed ||",
     "!merges_lanes(launch, recipe) ||"),
    ("canonical order turned round", "src/iter/collapse.c", "return a->in > b->in;", "return a->in < b->in;"),
    ("a flipped axis forgets its logical index", "src/iter/collapse.c",
     "    space->index_offset += last * dim->index;\n", ""),
    ("outputs may overlap themselves", "src/iter/build.c", "RDX_REQUIRE(stride >= spanned,", "RDX_REQUIRE(stride >= 1,"),
    ("chunks halved instead of paired", "src/kernels/cpu/chunk.c", "int64_t left = rdx_pow2_floor(count - 1)",
     "int64_t left = count / 2"),
    ("the smaller half of a var join leads", "src/kernels/algebra_var.inc",
     "T greater = pair->b_greater ? b.m : a.m", "T greater = pair->b_greater ? a.m : b.m"),
    ("the last of several chunks may lack lanes", "src/plan/cuda_columns.c",
     "wide || (rest > 0 && rest < recipe->lanes)", "wide"),
    ("columns of any few rows have twice as much under way", "src/plan/cuda_short.c", "s->recipe->count <= RDX_CUDA_DEEP_ROWS &&", ""),
    ("columns have twice as much under way where runs are shorter", "src/plan/cuda_short.c", "launch->shape.run_outputs % outputs == 0 ||", "launch->shape.run_outputs >= outputs ||"),
    ("bytes that are no whole vectors are taken by those", "src/plan/cuda_short.c",
     "rdx_space_inner_extent(space) % elements == 0", "space->keep_count > 0"),
    ("stacks of columns without rings are a level short", "src/plan/cuda_columns.c",
     "return lanes_log2 - rdx_max(rdx_cuda_log2_up(vectors) - lines_log2, 0);",
     "return lanes_log2 - rdx_max(rdx_cuda_log2_up(vectors) - lines_log2, 0) - 1;"),
    ("half a complex hole is none", "src/kernels/cpu/map_real.inc", "bool hole = (a != a) | (b != b);",
     "bool hole = (a != a);"),
    ("narrowing from f64 rounds twice", "src/kernels/scalar.h", "rdx_f32_of_bits(exact ? bits : odd)",
     "rdx_f32_of_bits(bits)"),
    ("the last block of a row of any length ends before it", "src/kernels/cpu/extremes.inc",
     "rdx_min(w, n - block)",
     "rdx_min(w, n - block - 1)"),
    ("the last register of a row that is searched begins behind the one before", "src/kernels/cpu/seek.inc",
     "found |= SEEK(bits)(MY(hits)(x + own, all, nan)) << (own - base)",
     "found |= SEEK(bits)(MY(hits)(x + own, all, nan)) << (at - base)"),
    ("the second of two registers is not asked about NaN", "src/kernels/cpu/seek.inc",
     "SEEK(unordered)(got[r - 1], got[r])", "SEEK(unordered)(got[r - 1], got[r - 1])"),
    ("the end of a row of logsumexp is not added up", "src/kernels/cpu/fold_lse.inc",
     "MY(sums)(s, m, line + count, rest, ahead, 1);", ";"),
    ("a share of items goes on beyond its end", "src/kernels/cpu/run.c", "rdx_min(first + share->grain, share->end)",
     "first + share->grain"),
    ("maxima ask a greatest zero for its sign no more", "src/kernels/cpu/extremes.inc", "has_nan[i] || (key[i] ^ TURN) == 0 || (key[i] ^ TURN) == -1", "has_nan[i]"),
    ("maxima of compared floats pass over NaN", "src/kernels/cpu/extremes.inc", "if (has_nan && !omits)", "if (has_nan && omits)"),
    ("maxima of NaN alone, left out, are an infinity", "src/kernels/cpu/extremes.inc", "!MY(has_bits)(row, rows->n, (T)RDX_CAT(rdx_bits_of_, SEEKS)(worst))", "false"),
    ("sums of rows of bytes lose the last rows but three", "src/kernels/cpu/widening.inc", "if (some == at_once || i + 1 < some) /* past the last row: the last row again */",
     "if (some == at_once)"),
    ("truths of f32 count signs", "src/kernels/cpu/widening.inc", "_mm256_set1_epi32(0x7fffffff));", "_mm256_set1_epi32(-1));"),
    ("rows whose index descends are searched from their first element", "src/kernels/cpu/short_rows.c", "code->any_rows && !rdx_descends(worker) &&",
     "code->any_rows &&"),
    ("long rows whose index descends are searched from their first element", "src/kernels/cpu/rows.inc", "!rows->from && (!INDEXED || rows->index_step >= 0)",
     "!rows->from"),
    ("NaN alone, and left out, is an infinity", "src/kernels/cpu/seek.inc", "if (place == n) {", "if (place > n) {"),
    ("what a last register of a short row lacks is added", "src/kernels/cpu/groups.inc",
     "RDX_GROUP(first)(MY(lift_group)(end), rest)",
     "MY(lift_group)(end)"),
    ("registers of a short row meet their neighbours", "src/kernels/cpu/groups.inc", "MY(lift_group)(x + size * i + n / 2)",
     "MY(lift_group)(x + size * i + size)"),
    ("rows of a tile meet their neighbours", "src/kernels/cpu/isa_move.c", "b = tile[i + SIDE / 2];", "b = tile[i + 1];"),
    ("a promise of alignment is not looked at where a plan is kept", "src/cache.c",
     "(!problem->in->data || (address & (uintptr_t)(align - 1)) == 0)", "true"),
    ("a callback's own failure leaves its sentence", "src/log.c", "    (void)rdx_error(RDX_OK, \"%s\", sentence);\n", ""),
    ("a fork does not wait for the cache", "src/cache.c", "(void)rdx_sys_atfork(take_lock, give_lock, give_lock);", ";"),
    ("a fork does not wait for the log", "src/log.c", "(void)rdx_sys_atfork(take_lock, give_lock, give_lock);", ";"),
    ("workers run where who started them may", "src/pool.c", "sched_setaffinity(0, sizeof all.set, all.set);", ";"),
    ("a bound caller's processors count for all", "src/pool.c", "processors_of(getpid())", "processors_of(0)"),
    ("subnormal orders of norms", "src/recipe.c", "bits < (uint64_t)1 << 52", "bits < 2"),
    ("idle workspaces have no bound", "src/cache.c", "bytes > rdx_cache_idle_most - idle", "false"),
    ("a worker's stack is what the program's threads have", "src/sys.c", "stack < THREAD_STACK", "false"),
    ("workers take signals", "src/pool.c", "    pthread_sigmask(SIG_BLOCK, &blocked, before);\n",
     "    pthread_sigmask(SIG_BLOCK, NULL, before);\n"),
    ("a run's last step begins where the one before ends", "src/kernels/cpu/isa_move.c",
     "memcpy(to + bytes - size, from + bytes - size, (size_t)size);", "memcpy(to + whole, from + whole, (size_t)size);"),
    ("fewer turned rows have the indices of more", "src/kernels/cpu/chunk.c", "worker->table_columns == columns",
     "worker->table_columns != 0"),
    ("blocks of short columns begin with the first run", "src/kernels/cpu/short_columns.c",
     "space->keep_rank - 1, block->first / rdx_space_inner_extent(space))", "space->keep_rank - 1, 0)"),
    ("outputs of short columns need not follow each other", "src/plan/strategy_short_columns.c", "if (!rdx_space_is_dense(space))",
     "if (false)"),
    ("blocks of short columns have runs of any length", "src/plan/strategy_short_columns.c",
     "run > RUN_BYTES / (space->reduce_count * space->in_size)", "run < 0"),
    ("464 overflows f8e4m3", "src/kernels/scalar.h", "magnitude > 0x43e80000u", "magnitude >= 0x43e80000u"),
    ("the caller's rounding mode is kept", "src/kernels/cpu/fp.h", "        _mm_setcsr(0x1f80u);", "        ;"),
    ("a cache hit compares hashes", "src/cache.c",
     "memcmp(entry->word, key->word, (size_t)key->words * sizeof *key->word) == 0", "true"),
    ("a job may end before its workers", "src/pool.c", "while (pool.active > 0)", "while (false)"),
    ("out may overlap in", "src/api.c", "a + (uintptr_t)a_low < b + (uintptr_t)b_high &&", "false &&"),
    ("complex columns are vectors wherever they lie", "src/plan/cuda_columns.c",
     "form && config->vector_bytes >= space->in_size &&", "form &&"),
    ("a negative beta is no beta", "src/kernels/cpu/emit.c", "if (worker->beta != 0) {", "if (worker->beta > 0) {"),
    ("equal values: the last index", "src/kernels/cpu/chunk.c", "index[j - 1] > moved", "index[j - 1] < moved"),
    ("outputs that share a run have one another's indices", "src/kernels/cpu/rows.c", "return follow && !recipe->indexed ?",
     "return follow ?"),
    ("several outputs share a leaf that is not whole", "src/kernels/cpu/rows.c", "bool whole = count > RUN ||",
     "bool whole = count >= RUN ||"),
    ("a held block meets its neighbour", "src/kernels/cpu/lanes.inc", "&node[b + half], &pair", "&node[b + 1], &pair"),
    ("residues of a chunk meet their neighbours", "src/kernels/cpu/run.c", "first + r + h), values", "first + r + 1), values"),
    ("a last chunk has an element for every residue", "src/kernels/cpu/run.c", "r < h && r + h < n;", "r < h;"),
    ("rows of a residue overlap the next one's", "src/kernels/cpu/columns.c", "n = each + (residue < more);", "n = each + 1;"),
    ("rows of the first residues are no more", "src/kernels/cpu/columns.c", "residue * each + rdx_min(residue, more)", "residue * each"),
    ("gathered lines are as far apart as they were", "src/kernels/cpu/columns.c", "return bytes;", "return stride;"),
    ("rows in any order are gathered by the first one's step", "src/kernels/cpu/columns.c", "line, stride, width,",
     "line, step, width,"),
    ("rows that are left of wide ones are the first", "src/kernels/cpu/columns.c", "first + n - rest, rest, 1", "first, rest, 1"),
    ("a wide row's rows are joined without those that are left", "src/kernels/cpu/columns.c", "if (lines > 0 && rest > 0)",
     "if (lines > 0 && rest > 1)"),
    ("rows of a last block are wide where they overlap", "src/plan/scratch.c", "outputs != rdx_space_inner_extent(space)", "false"),
    ("every residue of a chunk is the first", "src/kernels/cpu/columns.c", "worker->config->residues, worker->residue, level,",
     "worker->config->residues, 0, level,"),
    ("a lane of a ragged chunk is too short", "src/kernels/cpu/columns.c", "(int)((whole - 1 - r) / h + 1)", "(int)((whole - 1 - r) / h)"),
    ("lanes are joined with their neighbours", "src/kernels/cpu/joined.inc", "MY(hold_by_4)(&other, joined, k + 2, whole)",
     "MY(hold_by_4)(&other, joined, k + 1, whole)"),
    ("joined columns beyond the last whole block are left out", "src/kernels/cpu/joined.inc",
     "at < fold->width; at += MY(joined_columns)", "at + MY(joined_columns) <= fold->width; at += MY(joined_columns)"),
    ("of lines taken one by one every fourth is", "src/kernels/cpu/fold.inc", "!in_turn; k += at_once)", "!in_turn; k += 4)"),
    ("copies of strided rows lie over each other", "src/kernels/cpu/rows.c", "raw + i * raw_bytes + done * size",
     "raw + done * size"),
    ("every run of a row is its first", "src/kernels/cpu/rows.c", "from[k] = walk.in;", "from[k] = k > 0 ? from[0] : walk.in;"),
    ("the last bytes of a row count twice", "src/kernels/cpu/widening.inc", "MY(load_bytes)(none_then_all + n - at)", "all"),
    ("every run of an exact sum is the first", "src/kernels/cpu/rows.c", "space->reduce_rank, e + done);",
     "space->reduce_rank, e);"),
    ("a log has the alpha of the plan", "src/api.c", "rdx_scaling_describe(alpha, beta, scaling",
     "rdx_scaling_describe(plan->alpha, plan->beta, scaling"),
    ("rows backwards keep what their first element does", "src/api.c", "rdx_common_align((int64_t)(address + (uintptr_t)offset), 0)",
     "rdx_common_align((int64_t)address, 0)"),
    ("short rows of several axes lack their table", "src/plan/scratch.c",
     "            needs.table = space->reduce_rank > 1 ? 2 * chunk : 0;\n            needs.levels = rdx_scratch_levels(n);",
     "            needs.levels = rdx_scratch_levels(n);"),
]


# In the CUDA kernels and what launches them, judged by the emulated plugin (tests/emu). thread: by ThreadSanitizer, which alone sees a
# fence that is missing; plain: by wrong answers and by what the emulator itself notices.
NAMED_CUDA = [
    ("a launch keeps the recipe's lanes", "src/kernels/cuda/device.cu",
     "    problem.recipe.lanes = (uint16_t)launch->config->launch.lanes;\n", "", "plain"),
    ("a line too many at the tail", "src/kernels/cuda/index.cuh",
     "((n - 1 - lane) >> step_log2) + 1",
     "((n - lane) >> step_log2) + 1", "plain"),
    ("the last chunk is a whole one", "src/kernels/cuda/index.cuh",
     "left >> chunk_log2 < count ? left : count << chunk_log2",
     "count << chunk_log2", "plain"),
    ("the ragged right edge is dropped", "src/kernels/cuda/tile.cuh",
     "        while (first > 0) {",
     "        while (false) {", "plain"),
    ("alpha is forgotten", "src/kernels/cuda/finish.cuh",
     "x = alpha == 1 ? x : (T)alpha * x;",
     ";", "plain"),
    ("an omitted NaN stays", "src/kernels/cuda/vec.cuh",
     "r.omit && r.map != RDX_MAP_NONE && is_nan(x) ? (T)r.neutral : x",
     "x", "plain"),
    ("all() counts as any() does", "src/kernels/cuda/vec.cuh",
     "x = zero == (r.map == RDX_MAP_ZERO) && !hole;",
     "x = !zero && !hole;", "plain"),
    ("what goes round is not put back", "src/kernels/cuda/algebra.cuh",
     "    x[count - 1] = last;\n",
     "", "plain"),
    ("lanes of few lines are joined as if they had half as many", "src/kernels/cuda/lanes.cuh",
     "2 * LINES, 2 * LINES",
     "LINES, LINES", "plain"),
    ("the last warp of a ragged team is left out", "src/kernels/cuda/rows.cuh",
     "((int)(end - first) + (int)s.warp_chunks - 1) >>",
     "(int)(end - first) >>", "plain"),
    ("warps of a team that have no chunk are joined", "src/kernels/cuda/rows.cuh",
     "int there = ((int)(end - first) + (int)s.warp_chunks - 1) >> log2_of(s.warp_chunks);",
     "int there = s.team;", "plain"),
    ("halves are joined before they are there", "src/kernels/cuda/block.cuh",
     "        __syncthreads();\n        for (int slot",
     "        for (int slot", "plain"),
    ("a batch is written while it is read", "src/kernels/cuda/tile.cuh",
     "push_batch(number, n, first_chunk, in_part);\n            __syncthreads();",
     "push_batch(number, n, first_chunk, in_part);", "plain"),
    ("the ragged line of a straight chunk is left out", "src/kernels/cuda/straight_rows.cuh",
     "} else if (rest > 0) {\n            fold.template",
     "} else if (rest > 32 * E) {\n            fold.template", "plain"),
    ("lanes that are late begin with the line before", "src/kernels/cuda/lane_states.cuh",
     "else if (is_late(e) != one_state)",
     "else if (one_state)", "plain"),
    ("a ragged line lacks the first thread's next vector", "src/kernels/cuda/straight_rows.cuh",
     "if (rest > lanes) {",
     "if (rest > lanes + E) {", "plain"),
    ("a late winner was in the first vector", "src/kernels/cuda/lane_states.cuh",
     "            state.line = (T)v;\n",
     "            state.line = 0;\n", "plain"),
    ("what stands before a row may win", "src/kernels/cuda/winning_rows.cuh",
     "if (before > 0 || end < E)",
     "if (end < E)", "plain"),
    ("what stands before a later chunk is not the row's", "src/kernels/cuda/winning_rows.cuh",
     "place.chunk == 0 && first < 0 ? -first : 0",
     "first < 0 ? -first : 0", "plain"),
    ("what stands behind a row may win", "src/kernels/cuda/winning_rows.cuh",
     "if (before > 0 || end < E)",
     "if (before > 0)", "plain"),
    ("a greatest that comes again is sought again", "src/kernels/cuda/winning_rows.cuh",
     "i == 0 || greatest > best;",
     "i == 0 || greatest >= best;", "plain"),
    ("of the threads that have the greatest the last one wins", "src/kernels/cuda/winning_rows.cuh",
     "~greatest_in_warp(~found[R])",
     "greatest_in_warp(found[R] == INT32_MAX ? 0 : found[R])", "plain"),
    ("the last byte that is like it is found", "src/kernels/cuda/row_fold.cuh",
     "found = found || (takes && !latest);",
     "", "plain"),
    ("NaN is not sought in a row", "src/kernels/cuda/greatest.cuh",
     "nans = !equal(like, like) && !r.omit;",
     "(void)r;", "plain"),
    ("the runs of a row follow without a gap", "src/kernels/cuda/chunk_place.cuh",
     "at + run_of_element(p, element) * gap",
     "at + 0 * gap", "plain"),
    ("only the same zero is sought as the greatest", "src/kernels/cuda/greatest.cuh",
     "return __uint_as_float(a) == __uint_as_float(b) ? 0xffffffffu : 0;",
     "return a == b ? 0xffffffffu : 0;", "plain"),
    ("gathered runs begin where no run ended", "src/kernels/cuda/kernel_gather_rows.cu",
     "at + run_of_element(p, own) * p.shape.run_gap",
     "at", "plain"),
    ("the upper half of stepped lanes counts as the lower", "src/kernels/cuda/sided_rows.cuh",
     "return side * half + slot + e;",
     "return slot + e;", "plain"),
    ("the pieces of a vector are its first", "src/kernels/cuda/columns.cuh",
     "copy_piece<PIECE>(slot + i, from + i, i < bytes);",
     "copy_piece<PIECE>(slot + i, from, i < bytes);", "plain"),
    ("of part of a line every lane is there", "src/kernels/cuda/kernel_ragged_columns.cu",
     "bool second = lane(1) < n, last = lane(3) < n;",
     "bool second = true, last = true;", "plain"),
    ("a team's chunks are one and the same", "src/kernels/cuda/kernel_few_columns.cu",
     "fold_stream<K>(p, ring, source, nodes, first + c, n, turn, thread)",
     "fold_stream<K>(p, ring, source, nodes, first, n, turn, thread)", "plain"),
    ("rows that share a vector have one another's indices", "src/kernels/cuda/kernel_packed_rows.cu",
     "p.index_offset + e * step : 0), 1);",
     "p.index_offset + (k + e) * step : 0), 1);", "plain"),
    ("outputs of a vector are stored beyond the last", "src/kernels/cuda/kernel_packed_rows.cu",
     "if (whole && rows >= ROWS) {",
     "if (whole) {", "plain"),
    ("of stepped elements the odd ones are taken", "src/kernels/cuda/kernel_stepped_rows.cu",
     "__byte_perm(raw.word[2], raw.word[3], 0x5410)",
     "__byte_perm(raw.word[2], raw.word[3], 0x7632)", "plain"),
    ("half vectors are sought as if of the first side", "src/kernels/cuda/kernel_half_rows.cu",
     "run_of_element(p, element + before)",
     "run_of_element(p, element + line * lanes)", "plain"),
    ("a chunk of staged runs begins with one", "src/kernels/cuda/kernel_staged_runs.cu",
     "runs.fold(start, start - run * s.run, n, node)",
     "runs.fold(start, 0, n, node)", "plain"),
    ("staged runs lie within 2^31 bytes", "src/kernels/cuda/kernel_staged_runs.cu",
     "from + run * step + place", "from + (int)(run * step) + place", "plain"),
    ("nodes take the place of runs that others still fold", "src/kernels/cuda/kernel_staged_runs.cu",
     "__syncthreads(); /* the nodes take",
     "/* the nodes take", "plain"),
    ("runs take the place of nodes that others still join", "src/kernels/cuda/kernel_staged_runs.cu",
     "if (i + 1 < chunks)",
     "if (chunks < 0)", "plain"),
    ("what is left of staged runs is a whole chunk", "src/kernels/cuda/kernel_staged_runs.cu",
     "total = n == chunk_lines * Runs::lanes ?",
     "total = n > 0 ?", "plain"),
    ("a winner of staged runs is in its lane's first line", "src/kernels/cuda/kernel_staged_runs.cu",
     "start + lane + lanes * (unsigned)state[o].line",
     "start + lane", "plain"),
    ("the last line of staged runs has one lane more", "src/kernels/cuda/kernel_staged_runs.cu",
     "(lane < (n & (lanes - 1)))",
     "(lane <= (n & (lanes - 1)))", "plain"),
    ("all is any", "src/kernels/cuda/value.cuh",
     "(node[e].s != 0) != none",
     "node[e].s != 0", "plain"),
    ("what is looked at twice has a last line in every lane", "src/kernels/cuda/lines_fold.cuh",
     "if (WHOLE || first + e < own)",
     "if (WHOLE || more)", "plain"),
    ("quarters of lanes come in order", "src/kernels/cuda/lines_fold.cuh",
     "reverse_bits(i, 2) * EACH",
     "i * EACH", "plain"),
    ("the last line is added where no mate has it", "src/kernels/cuda/lines_fold.cuh",
     "const bool more = WHOLE || rest > first * MATES;",
     "const bool more = WHOLE || rest > (first + EACH) * MATES;", "plain"),
    ("a gathered lane that ends early is as long as the rest", "src/kernels/cuda/kernel_gather_rows.cu",
     "return S::end(state, lines);",
     "return S::end(state, 16);", "plain"),
    ("a staged group is asked for before it is looked at again", "src/kernels/cuda/kernel_staged_rows.cu",
     """                look_at<CROOKED, G>(got, line);
                add_vectors<K, In, G>(p.recipe, got, node);
                if (next) {
                    copy_group(line, next);
                    next += G * line_bytes;
                }
""",
     """                if (next) {
                    copy_group(line, next);
                    next += G * line_bytes;
                }
                look_at<CROOKED, G>(got, line);
                add_vectors<K, In, G>(p.recipe, got, node);
""", "plain"),
    ("staged lines behind whole groups are not added up", "src/kernels/cuda/kernel_staged_rows.cu",
     """#pragma unroll 1
            for (; line != end; line += line_bytes) {
                look_at<CROOKED, 1>(got, line);
                add_vectors<K, In, 1>(p.recipe, got, node);
            }
""", "", "plain"),
    ("a staged chunk of a crooked row lacks its 17th line", "src/kernels/cuda/kernel_staged_rows.cu",
     "stage.ask(at, whole ? chunk_lines : 0, bytes(following));",
     "whole ? commit_copies() : stage.ask(at, 0, bytes(following));", "plain"),
    ("three chunks wait for a fourth", "src/kernels/cuda/rows.cuh",
     "(stack.count | 3) < chunks",
     "(stack.count | 3) <= chunks", "plain"),
    ("every warp of a straight row starts with the first chunk", "src/kernels/cuda/straight_rows.cuh",
     "own = first + member * (unsigned)s.warp_chunks",
     "own = first", "plain"),
    ("straight rows follow the team's size", "src/kernels/cuda/straight_rows.cuh",
     "output += RDX_CUDA_THREADS / 32 >> s.team_log2",
     "output += s.team", "plain"),
    ("straight columns beyond the last row are folded", "src/kernels/cuda/straight_columns.cuh",
     "return is_surely_there(r) || r < group.there;",
     "return true;", "plain"),
    ("straight groups in ascending order", "src/kernels/cuda/straight_columns.cuh",
     "lane_of(s, chunk.own, (int)group << Group::lanes_log2)",
     "chunk.own + s.classes * (int)group", "plain"),
    ("a straight line behind the last is folded", "src/kernels/cuda/straight_columns.cuh",
     "if (line > (alone_is_less ? 1 : 0) && line >= lines)",
     "if (false)", "plain"),
    ("every straight lane has as many lines", "src/kernels/cuda/straight_columns.cuh",
     "group.lines_of(R) < counts.longest ? counts.inverse_of_fewer : counts.inverse",
     "counts.inverse", "plain"),
    ("runs of straight lanes meet a level too far down", "src/kernels/cuda/straight_columns.cuh",
     "lane -= 1 << --step_log2;",
     "lane -= 1 << step_log2--;", "plain"),
    ("lanes of a group are equally long", "src/kernels/cuda/group_tree.cuh",
     "pair.equal = (lane < more) == (lane + h < more);",
     "pair.equal = true;", "plain"),
    ("runs of lanes are equally long", "src/kernels/cuda/group_tree.cuh",
     "pair.equal = lower == fewest + (lane + h < more);",
     "pair.equal = true;", "plain"),
    ("lanes with one element more weigh as the others", "src/kernels/cuda/group_tree.cuh",
     "weight[level] = (T)fewest / (T)(2 * fewest + 1)",
     "weight[level] = (T)fewest / (T)(2 * fewest + 2)", "plain"),
    ("runs with one element more weigh as the others", "src/kernels/cuda/group_tree.cuh",
     "pair.weight = (T)fewest / (T)(2 * fewest + 1)",
     "pair.weight = (T)fewest / (T)(2 * fewest + 2)", "plain"),
    ("a lower leaf keeps the sign of zero", "src/kernels/cuda/group_tree.cuh",
     "return Group::LANES > 1 && R >= Group::LANES / 2;", "return true;", "plain"),
    ("straight columns lie within 2^31 bytes", "src/kernels/cuda/straight_columns.cuh",
     "chunk.column + (chunk.start + (half_there || there > 0 ? first_lane : chunk.own)) * pitch",
     "chunk.column + (int)((chunk.start + (half_there || there > 0 ? first_lane : chunk.own)) * pitch)", "plain"),
    ("columns are not shifted", "src/kernels/cuda/straight_columns.cuh",
     "e + by < E ? stack.get(0, e + by) : next.get(0, e + by - E)",
     "stack.get(0, e)", "plain"),
    ("the last warp's neighbour is its own first thread", "src/kernels/cuda/straight_columns.cuh",
     "is_last ? s.class_warps * s.stack_words - seat.vector : 1",
     "is_last ? -seat.vector : 1", "plain"),
    ("rows of a class start differently", "src/plan/cuda_columns.c",
     "while (shape->residues * shape->rows_at_once * shape->class_warps < alike)",
     "while (shape->residues * shape->rows_at_once * shape->class_warps * 2 < alike)", "plain"),
    ("joins of a short row count alike", "src/kernels/cuda/row_pairs.cuh",
     "(lane + h < more ? 0 : lane < more ? 1 : 2)",
     "(lane < more ? 0 : 2)", "plain"),
    ("mates of a short row count as the lower one does", "src/kernels/cuda/short_rows.cuh",
     "bool swaps = A::counted && c & bit;",
     "bool swaps = false;", "plain"),
    ("mates of a row of a line count as the lower one does", "src/kernels/cuda/row_fold.cuh",
     "if (A::counted && c & bit) {",
     "if (false) {", "plain"),
    ("joins of a row of a line are those of its first thread", "src/kernels/cuda/row_fold.cuh",
     "joins_counted ? shared_at(of_block + c) : 0",
     "joins_counted ? shared_at(of_block) : 0", "plain"),
    ("rows of a line that lie apart go to the thread that folds neighbours", "src/kernels/cuda/row_fold.cuh",
     "return row_of(turn) + (thread >> mates_log2 << apart_log2);",
     "return row_of(turn) + (thread >> mates_log2);", "plain"),
    ("the first word of a row of bytes is taken whole", "src/kernels/cuda/row_fold.cuh",
     "take(word, i == 0 ? first : 0xffffffffu, number + i * MATES);",
     "take(word, 0xffffffffu, number + i * MATES);", "plain"),
    ("the last word of a row of bytes is every mate's", "src/kernels/cuda/row_fold.cuh",
     "word, 0, c == 0 ? within : 0);",
     "word, 0, within);", "plain"),
    ("pieces of a short row begin at its first element again", "src/kernels/cuda/row_fold.cuh",
     "            index += COUNT * MATES * step_index;\n",
     "", "plain"),
    ("lanes of a last line that ends early are all there", "src/kernels/cuda/lines_fold.cuh",
     "else if (rest >= high + some)",
     "else if (rest >= low + some)", "plain"),
    ("lanes of a line that ends among them have no element of it", "src/kernels/cuda/lines_fold.cuh",
     "else if (rest >= low + some && rest <= high)",
     "else if (rest >= low + some)", "plain"),
    ("joins are as equal as the first of them", "src/kernels/cuda/lines_fold.cuh",
     "equal = are_equal(first) && are_equal(last);",
     "equal = are_equal(first);", "plain"),
    ("joins are as unequal as the last of them", "src/kernels/cuda/lines_fold.cuh",
     "unequal = !are_equal(first) && !are_equal(last);",
     "unequal = !are_equal(last);", "plain"),
    ("joins are what those after them are", "src/kernels/cuda/lines_fold.cuh",
     "1u << ((number + 1) / JOINS - 1);",
     "1u << (number + 1) / JOINS;", "plain"),
    ("lanes of unequal length meet as equals", "src/kernels/cuda/lines_fold.cuh",
     "high ? both : low ? unequal : neither",
     "low ? both : neither", "plain"),
    ("bytes of a row's second line are forgotten", "src/kernels/cuda/row_fold.cuh",
     "while (SEVERAL && last > 0)",
     "while (false)", "plain"),
    ("the last line of a padded row is not copied", "src/kernels/cuda/row_tile.cuh",
     "copy_stretch<LINES>(at + row * pitch,",
     "copy_stretch<LINES - 1>(at + row * pitch,", "plain"),
    ("the last whole line of a padded row is not copied", "src/kernels/cuda/row_tile.cuh",
     "if (lines < LINES)\n",
     "if (lines <= LINES)\n", "plain"),
    ("threads of a packed row meet neighbours first", "src/kernels/cuda/kernel_packed_rows.cu",
     "int bit = 1 << levels >> STEP;",
     "int bit = 1 << (STEP - 1);", "plain"),
    ("packed rows are stored in the order of threads", "src/kernels/cuda/kernel_packed_rows.cu",
     "line = reverse_bits(thread >> spread, steps)",
     "line = thread >> spread & ((1 << steps) - 1)", "plain"),
    ("packed rows behind the last are stored", "src/kernels/cuda/kernel_packed_rows.cu",
     "count = left < count ? (int)left : count;",
     "count = left < count ? (int)left + 1 : count;", "plain"),
    ("pieces of a thread's last stride are forgotten", "src/kernels/cuda/row_fold.cuh",
     "more = c < (pieces & (MATES - 1)), parts",
     "more = false, parts", "plain"),
    ("rows behind a block's last are stored", "src/kernels/cuda/kernel_line_rows.cu",
     "own <= last)",
     "own <= last + 1)", "plain"),
    ("the ragged line of rows of few is their last", "src/kernels/cuda/kernel_line_rows.cu",
     "(whole == LINES ? LINES - 1 : whole) * line_bytes",
     "(LINES - 1) * line_bytes", "plain"),
    ("rows that are halved together meet as one does", "src/kernels/cuda/warp.cuh",
     "32 / ROWS / K::elements * h",
     "32 / K::elements * h", "plain"),
    ("warps of a team take each other's vectors", "src/kernels/cuda/kernel_few_columns.cu",
     "vector += step;",
     "vector++;", "plain"),
    ("a team halves nodes that are not there", "src/kernels/cuda/kernel_few_columns.cu",
     "    if (p.shape.team > 1)\n        __syncthreads();",
     "    if (p.shape.team > 8)\n        __syncthreads();", "plain"),
    ("parts of a row are the first output's", "src/kernels/cuda/grid.cuh",
     "(output * parts + first) * A::words",
     "first * A::words", "plain"),
    ("a thread joins half of its parts", "src/kernels/cuda/grid.cuh",
     "if (b < 1 << log2 && first + b < parts)",
     "if (b < (1 << log2) - 1 && first + b < parts)", "plain"),
    ("warps that join parts do not wait for each other", "src/kernels/cuda/grid.cuh",
     "node[0]);\n    __syncthreads();",
     "node[0]);", "thread"),
    ("parts are counted without a fence", "src/kernels/cuda/grid.cuh",
     "is_last = count_in(",
     "is_last = atomicInc(", "thread"),
    ("parts are counted before all of them are written", "src/kernels/cuda/grid.cuh",
     "        return false;\n    __syncthreads();",
     "        return false;", "thread"),
    ("counters are left as they are", "src/kernels/cuda/grid.cuh",
     "[group], parts - 1) == parts - 1",
     "[group], ~0u) == parts - 1", "plain"),
    ("the first block finishes", "src/kernels/cuda/grid.cuh",
     "parts - 1) == parts - 1;",
     "parts - 1) == 0;", "plain"),
    ("batches in their own order", "src/kernels/cuda/index.cuh",
     "return bits == 0 ? 0 : (int)(__brev((unsigned)i) >> (32 - bits));",
     "return i;", "plain"),
    ("a partner that is not there is joined", "src/kernels/cuda/warp.cuh",
     "return r + h < n ? joined",
     "return r + h <= n ? joined", "plain"),
    ("the upper word of a sum is lost", "src/kernels/cuda/algebra.cuh",
     "words[at++] = (uint32_t)((uint64_t)x >> 32);",
     "words[at++] = 0;", "plain"),
    ("the second output is scaled too", "src/kernels/cuda/finish.cuh",
     "return target.second ? 1 : p.alpha;",
     "return p.alpha;", "plain"),
    ("threads that share copies all take the first", "src/kernels/cuda/grid.cuh",
     "place.out2, helper, p.copies, helpers}",
     "place.out2, 0, p.copies, helpers}", "plain"),
    ("threads that share copies have nodes of their own", "src/kernels/cuda/grid.cuh",
     "node = get_node<A>(shared + (t & (columns - 1)), threads);",
     "node = get_node<A>(shared + t, threads);", "plain"),
    ("threads share copies before they have the node", "src/kernels/cuda/rows.cuh",
     "        put_node<A>(shared, 1, node);\n    __syncthreads();\n    node = get",
     "        put_node<A>(shared, 1, node);\n    node = get", "plain"),
    ("copies of the first slices are forgotten", "src/kernels/cuda/grid.cuh",
     "(slice < more ? slice : more)",
     "slice", "plain"),
    ("residues have no blocks", "src/plan/cuda_launch.c",
     "shape->groups * shape->split * shape->residues * shape->slices",
     "shape->groups * shape->split * shape->slices", "plain"),
    ("too little shared memory for the stack", "src/plan/cuda_launch.c",
     "(int64_t)(shape->batch + shape->levels) *",
     "(int64_t)(shape->batch + shape->levels - 1) *", "plain"),
    ("a slot of the ring is overwritten that is still to be read", "src/kernels/cuda/ring.cuh",
     "source.issue(slots + (group == 0 ? DEPTH - 1 : group - 1) * group_bytes);",
     "source.issue(slots + (group + 1 == DEPTH ? 0 : group + 1) * group_bytes);", "plain"),
    ("a group is read before its copies have landed", "src/kernels/cuda/ring.cuh",
     "            wait_copies<DEPTH - 2>();",
     "            wait_copies<DEPTH - 1>();", "plain"),
    ("a crooked row looks into the next group too early", "src/kernels/cuda/ring.cuh",
     "wait_copies<DEPTH - 3>();",
     "wait_copies<DEPTH - 2>();", "plain"),
    ("logsumexp looks into a group that is not there", "src/kernels/cuda/ring.cuh",
     "        wait_copies<0>();",
     "        wait_copies<1>();", "plain"),
    ("rows are read where they start, aligned or not", "src/kernels/cuda/rows.cuh",
     "(int)((uintptr_t)row & 127)",
     "(int)((uintptr_t)row & 112)", "plain"),
    ("the first vector of a crooked row is left out", "src/kernels/cuda/rows.cuh",
     "(u > 0 || thread >= skipped)",
     "(u > 0 || thread > skipped)", "plain"),
    ("every word turns by the mask of the first", "src/kernels/cuda/ring.cuh",
     "int bytes = before - 16 * thread - 4 * w;",
     "int bytes = before - 16 * thread;", "plain"),
    ("a warp with several rows takes one too many", "src/kernels/cuda/rows.cuh",
     "((int)item.outputs - mate + mates - 1) / mates",
     "((int)item.outputs + mates - 1) / mates", "plain"),
    ("a warp's next row is its neighbour's", "src/kernels/cuda/rows.cuh",
     "p.keep_rank == 1 ? mates * p.dims[0].in : 0",
     "p.keep_rank == 1 ? p.dims[0].in : 0", "plain"),
    ("threads without elements count in the maximum", "src/kernels/cuda/rows.cuh",
     "bool all = n >= lanes, there = all;",
     "bool all = n >= lanes, there = true;", "plain"),
    ("the last line of a row is a whole one", "src/kernels/cuda/rows.cuh",
     "fold.run(ring, source, (n + lanes - 1) >> log2, n >> log2, count, element, node);",
     "fold.run(ring, source, (n + lanes - 1) >> log2, (n + lanes - 1) >> log2, count, element, node);", "plain"),
    ("a team's warps are halved, not paired", "src/kernels/cuda/warp.cuh",
     "for (int bit = 1; bit < neighbours; bit *= 2) {",
     "for (int bit = neighbours / 2; bit >= 1; bit /= 2) {", "plain"),
    ("a team meets before its nodes are there", "src/kernels/cuda/rows.cuh",
     "        slots.put(warp, node);\n    __syncthreads();",
     "        slots.put(warp, node);", "plain"),
    ("the right edge of a warp's run is dropped", "src/kernels/cuda/warp.cuh",
     "        while (first > 0) {",
     "        while (false) {", "plain"),
    ("the multiplier of runs is rounded down", "src/plan/cuda_launch.c",
     "(uint32_t)((gap << 32) / shape->run + 1)",
     "(uint32_t)((gap << 32) / shape->run)", "plain"),
    ("a lane too many in a ragged group", "src/kernels/cuda/lane_states.cuh",
     "if (RAGGED && line >= count(e))",
     "if (RAGGED && line > count(e))", "plain"),
    ("lines after the last are folded", "src/kernels/cuda/lanes.cuh",
     "            if (v + u >= lines)\n                break;\n",
     "", "plain"),
    ("a ragged group begins anew", "src/kernels/cuda/lanes.cuh",
     "            begun = begun || v + G <= whole;\n",
     "", "plain"),
    ("the last of equals wins a lane", "src/kernels/cuda/thread.cuh",
     "    static constexpr bool remembers = true;\n",
     """    static constexpr bool remembers = true;
    static __device__ typename Push<A>::State next(const typename Push<A>::State &state, typename A::T x, typename A::T y,
                                                   int line, int64_t)
    {
        typename Push<A>::State later = A::push(state, x, y, line);
        later.line = y == later.k ? line : later.line;
        return later;
    }
""", "plain"),
    ("the last of equal vectors is found", "src/kernels/cuda/greatest.cuh",
     "const int u = LAST ? i : COUNT - 1 - i;",
     "const int u = LAST ? COUNT - 1 - i : i;", "plain"),
    ("NaN is nowhere", "src/kernels/cuda/greatest.cuh",
     "numbers == 0xffffffffu || r.omit ?",
     "true ?", "plain"),
    ("of descending indices the first of equals stays", "src/kernels/cuda/thread.cuh",
     "next.line = y == next.k ? (T)line : next.line;",
     "", "plain"),
    ("indices that do not ascend are taken to descend", "src/plan/cuda_launch.c",
     "shape->descending = is_ordered(space, -1);",
     "shape->descending = true;", "plain"),
    ("indices are taken to ascend", "src/plan/cuda_launch.c",
     "shape->ascending = rdx_cuda_is_ascending(space);",
     "shape->ascending = true;", "plain"),
    ("a ragged chunk of columns is taken for an even one", "src/kernels/cuda/columns.cuh",
     "int lines = n & (p.recipe.lanes - 1) ? 0 : n >>",
     "int lines = n >>", "plain"),
    ("lanes that end within a group are taken to fill it", "src/kernels/cuda/columns.cuh",
     "s.group_lanes_log2 : lines % group_vectors == 0;",
     "s.group_lanes_log2 : true;", "plain"),
    ("lanes of a class in ascending order", "src/kernels/cuda/columns.cuh",
     "lane_class + s.classes * reverse_bits(i, s.lanes_log2)",
     "lane_class + s.classes * i", "plain"),
    ("classes by warp before row", "src/kernels/cuda/columns.cuh",
     "residue + s.residues * (row + s.rows_at_once * warp_class)",
     "residue + s.residues * (warp_class + s.class_warps * row)", "plain"),
    ("a warp reads what another has not left yet", "src/kernels/cuda/columns.cuh",
     "    stack.put(0, node);\n    __syncthreads();",
     "    stack.put(0, node);", "plain"),
    ("the first warp takes elements that another is still joining", "src/kernels/cuda/columns.cuh",
     "    __syncthreads();\n    if (seat.warp_class == 0)",
     "    if (seat.warp_class == 0)", "plain"),
    ("a thread's rows are all its first", "src/kernels/cuda/kernel_thread_rows.cu",
     "(row * N + i) * K::size, x, y);\n            lane[i]",
     "i * K::size, x, y);\n            lane[i]", "plain"),
    ("the eighth element of a thread's row and those behind it are left out", "src/kernels/cuda/kernel_thread_rows.cu",
     "N <= 4 ? 2 : N <= 8 ? 4 : 8", "N <= 4 ? 2 : 4", "plain"),
    ("a row of bytes ends with the next one's first", "src/kernels/cuda/kernel_thread_rows.cu",
     "b = i + 1 < N ? a + 1 : a;", "b = a + 1;", "plain"),
    ("every other byte of a row is not compared", "src/kernels/cuda/kernel_thread_rows.cu",
     "top = greater_halves(top, top >> 16, In::type == RDX_TYPE_U8);", "", "plain"),
    ("extremes of u64 are stored in the order of i64", "src/kernels/cuda/value.cuh",
     "(p.recipe.is_unsigned ? (T)((T)1 << (8 * sizeof(T) - 1)) : (T)0);", "(T)0;", "plain"),
    ("var of several rows divides by n", "src/kernels/cuda/value.cuh",
     "(double)forgotten(r.count) - r.correction", "(double)forgotten(r.count)", "plain"),
    ("nodes of one element over and over stay as many", "src/kernels/cuda/kernel_repeats.cu",
     "first -= longer_twice ? h : 0;",
     "first -= 0;", "plain"),
    ("an odd last chunk of one element over and over is joined", "src/kernels/cuda/kernel_repeats.cu",
     "if ((count & 1) == 0) {",
     "if (true) {", "plain"),
    ("every other byte is not compared", "src/kernels/cuda/bytes.cuh",
     "        lower = greater_of_halves<In>(lower, halves<false>(word, mark), omit);\n", "", "plain"),
    ("signed bytes are ordered like unsigned ones", "src/kernels/cuda/bytes.cuh",
     "greater_halves(a, b, In::type == RDX_TYPE_U8)",
     "greater_halves(a, b, true)", "plain"),
    ("warps of a class meet as neighbours, not as halves", "src/kernels/cuda/columns.cuh",
     "of_warp(reverse_bits(i, warps_log2)).get(0, e)",
     "of_warp(i).get(0, e)", "plain"),
    ("the right edge of columns is dropped", "src/kernels/cuda/columns.cuh",
     "    while (first > 0) {",
     "    while (false) {", "plain"),
    ("a tile is read while others copy it", "src/kernels/cuda/kernel_short_rows.cu",
     "    wait_copies<0>();\n    __syncwarp();\n",
     "    wait_copies<0>();\n", "plain"),
    ("a tile's last vector is left out", "src/kernels/cuda/ring.cuh",
     "if (left >= line * line_bytes + 16)",
     "if (left > line * line_bytes + 16)", "plain"),
    ("the last row of a tile has no turn", "src/kernels/cuda/row_fold.cuh",
     "turn < MATES && row_of(turn) < left;",
     "turn < MATES && row_of(turn) + 1 < left;", "plain"),
    ("a modulus is taken for a magnitude", "src/plan/cuda_launch.c",
     "return masks && real && !modulus &&",
     "return masks && real &&", "plain"),
    ("vectors of a row by a multiplier that is rounded down", "src/plan/cuda_rows.c",
     "shape->row_magic = 65536 / each + 1;",
     "shape->row_magic = 65536 / each;", "plain"),
    ("words of a thread's last stride are forgotten", "src/kernels/cuda/short_rows.cuh",
     "int whole = (left + (1 << stride_log2) - W) >> stride_log2,",
     "int whole = left >> stride_log2,", "plain"),
    ("vectors are stored at any address", "src/kernels/cuda/grid.cuh",
     " && ((int)(uintptr_t)target.out & (bytes - 1)) == 0) {",
     ") {", "plain"),
    ("vectors are stored where outputs end within", "src/kernels/cuda/grid.cuh",
     "if (bytes > 0 && valid == E && ((",
     "if (bytes > 0 && ((", "plain"),
    ("warps join leaves that are not there yet", "src/kernels/cuda/grid.cuh",
     "            put_node<A>(shared + t, threads, node);\n            __syncthreads();\n            if ((t &",
     "            put_node<A>(shared + t, threads, node);\n            if ((t &", "plain"),
    ("a leaf without elements is joined", "src/kernels/cuda/grid.cuh",
     "(leaf < count) & (residue_of(leaf) < last)",
     "leaf < count", "plain"),
    ("a batch of leaves forgets those before it", "src/kernels/cuda/grid.cuh",
     "int done = i >> batch_log2, level = 0;",
     "int done = 0, level = 0;", "plain"),
    ("the last group of outputs is a whole one", "src/kernels/cuda/grid.cuh",
     "left < s.group_outputs ? left : s.group_outputs",
     "s.group_outputs", "plain"),
    ("the last group of a run is a whole one", "src/kernels/cuda/grid.cuh",
     "s.run_outputs - within < s.group_outputs ? s.run_outputs - within : s.group_outputs",
     "s.group_outputs", "plain"),
    ("residues in their own order", "src/kernels/cuda/grid.cuh",
     "item.part * s.residues + reverse_bits(item.residue, log2_of(s.residues))",
     "item.part * s.residues + item.residue", "plain"),
    ("bytes behind a short row are added", "src/kernels/cuda/byte_rows.cuh",
     "left <= 0 ? 0 : (1u << 8 * left) - 1;", "left <= 0 ? 0 : 0xffffffffu;", "plain"),
    ("sums of bytes are stored beyond a tile's last row", "src/kernels/cuda/byte_rows.cuh",
     "                    if (32 * turn < left)\n                        Value", "                        Value", "plain"),
    ("a vector behind a row's end is not the next row's", "src/kernels/cuda/row_tile.cuh",
     "if (place >= each) {", "if (place > each) {", "plain"),
    ("a row has the vector behind it", "src/kernels/cuda/line_fold.cuh",
     "if (H + v * V >= n)", "if (H + v * V > n)", "plain"),
    ("of equal elements of a packed row the first is the latest", "src/kernels/cuda/kernel_packed_rows.cu",
     "Sought<In>(p.recipe, top), step < 0)", "Sought<In>(p.recipe, top), false)", "plain"),
    ("extremes that stay are stored beyond the last column", "src/kernels/cuda/short_columns.cuh",
     "p.recipe.out == p.recipe.in && is_whole() &&", "p.recipe.out == p.recipe.in &&", "plain"),
    ("every other byte of a minimum is turned", "src/kernels/cuda/bytes.cuh",
     "((lower ^ turn) >> 8 & 0x00ff00ffu)", "(lower >> 8 & 0x00ff00ffu)", "plain"),
    ("the last row of the next tile stays behind", "src/kernels/cuda/short_columns.cuh",
     "slot + ROWS < TILES * ROWS", "slot + ROWS + 1 < TILES * ROWS", "plain"),
    ("words of small elements begin with one", "src/kernels/cuda/short_columns.cuh",
     "8 * skipped_at(in + slot % ROWS * pitch)", "0", "plain"),
    ("no word is read for the end of a piece", "src/kernels/cuda/short_columns.cuh",
     "K::size > 4 - skipped_at(at))", "K::size > 4)", "plain"),
    ("every run of short columns is the first", "src/kernels/cuda/short_columns.cuh",
     "walk(place, p.dims[0], run);\n", "", "plain"),
    ("the next tile of short columns is in the run of this one", "src/kernels/cuda/short_columns.cuh",
     "p.in + place_of(output + tile * columns).in,", "p.in + place_of(output).in + tile * columns * K::size,", "plain"),
    ("outputs that lie anywhere are in one run", "src/kernels/cuda/short_columns.cuh",
     "p.in + (own ? seek_column(p, output + i * step).in : 0)",
     "p.in + (own ? seek_column(p, output).in + i * step * p.dims[p.keep_rank - 1].in : 0)", "plain"),
    ("outputs that lie anywhere are stored as neighbours", "src/kernels/cuda/short_columns.cuh",
     "sought.to[e] = p.out + seek_column(p, output + e * step).out;",
     "sought.to[e] = p.out + seek_column(p, output).out + e * step * p.dims[p.keep_rank - 1].out;", "plain"),
    ("rare maps are known", "src/plan/cuda_short.c",
     "!packed || !known || (idle", "!packed || (idle", "plain"),
    ("nodes of the rows of a column are its first row's", "src/kernels/cuda/column_tree.cuh",
     "greatest = greatest_of<In, ROWS, false, SURE>(p.recipe, raw, n)",
     "greatest = greatest_of<In, ROWS, false, SURE>(p.recipe, raw, 1)", "plain"),
    ("the last of equals in rows that ascend", "src/kernels/cuda/column_tree.cuh",
     "which = step < 0 ?", "which = step > 0 ?", "plain"),
    ("means are stored together as sums", "src/kernels/cuda/value.cuh",
     "E > 1 && r.finish == RDX_FINISH_MEAN",
     "E > 1 && r.finish == RDX_FINISH_STD", "plain"),
    ("slabs are one stretch wherever they lie", "src/plan/cuda_slabs.c",
     "if (layout->dense && !aligned)", "if (!aligned)", "plain"),
    ("slabs are aligned wherever their dims begin", "src/plan/cuda_slabs.c",
     "layout->stream_align >= WIDEST", "layout->run_align > 0", "plain"),
    ("outputs of slabs follow each other", "src/plan/cuda_slabs.c",
     "is_filled(space, layout) && rdx_space_is_dense(space)", "is_filled(space, layout)", "plain"),
    ("tiles of slabs go on behind the dim around them", "src/plan/cuda_slabs.c",
     "shape->run_outputs = layout.slab_run * layout.slab_outputs;", "shape->run_outputs = s->space->keep_count;", "plain"),
    ("slabs by a multiplier that is rounded down", "src/plan/cuda_slabs.c", "<< 32) / divisor + 1)", "<< 32) / divisor)", "plain"),
    ("slabs lie in shared memory as if all were aligned", "src/kernels/cuda/kernel_slabs.cu",
     "            tile.at += (int)((uintptr_t)from & 15);\n", "", "plain"),
    ("groups of a slab's lanes in their own order", "src/kernels/cuda/kernel_slabs.cu",
     "int first = reverse_bits(i, groups_log2);", "int first = i;", "plain"),
    ("a lane behind the last of a group is joined", "src/kernels/cuda/kernel_slabs.cu",
     "return WHOLE || row < MOST / 2 || row < there;",
     "return WHOLE || row < MOST / 2 || row <= there;", "plain"),
    ("elements of several reduced dims lie a step apart", "src/kernels/cuda/kernel_slabs.cu",
     "if (p.reduce_rank == 1) {\n            at += first * step;", "if (p.reduce_rank >= 1) {\n            at += first * step;", "plain"),
    ("the last of equals is a slab's first", "src/kernels/cuda/kernel_slabs.cu",
     "if (p.shape.ascending)", "if (!p.shape.ascending)", "plain"),
    ("a row that is not there is joined in registers", "src/kernels/cuda/column_tree.cuh",
     "return row < n;",
     "return row <= n;", "plain"),
    ("the line behind a crooked stream is not asked for", "src/kernels/cuda/kernel_few_columns.cu",
     "if (line >= lines + (vector == 0 && before > 0))",
     "if (line >= lines)", "plain"),
    ("lanes of few columns are joined before they are there", "src/kernels/cuda/kernel_few_columns.cu",
     "        meet_sharers(p);\n#pragma unroll 2",
     "#pragma unroll 2", "plain"),
    ("warps of few columns meet before they are there", "src/kernels/cuda/kernel_few_columns.cu",
     "            met.put(threadIdx.x, node);\n            __syncthreads();",
     "            met.put(threadIdx.x, node);", "plain"),
    ("a thread's rows of a tile lie within 2^31 bytes of each other", "src/kernels/cuda/row_tile.cuh",
     "from += rows_on * step + more * 16;", "from += (int)(rows_on * step + more * 16);", "plain"),
    ("a tile's rows lie within 2^31 bytes", "src/kernels/cuda/row_tile.cuh",
     "from += row * step + place * 16;",
     "from += (int)(row * step) + place * 16;", "plain"),
    ("rows begin within 2^31 bytes", "src/kernels/cuda/rows.cuh",
     "p.in + seek_output(p, item.first_output + mate).in,",
     "p.in + (int)seek_output(p, item.first_output + mate).in,", "plain"),
    ("runs begin within 2^31 bytes", "src/kernels/cuda/index.cuh",
     "return {run * outer->in + rest",
     "return {(int)(run * outer->in) + rest", "plain"),
    ("lanes of columns lie within 2^31 bytes", "src/kernels/cuda/columns.cuh",
     "at = column + (chunk * 16 * p.recipe.lanes + lane(0)) * p.dims[p.keep_rank].in;",
     "at = column + (int)((chunk * 16 * p.recipe.lanes + lane(0)) * p.dims[p.keep_rank].in);", "plain"),
    ("classes lie within 2^31 bytes", "src/kernels/cuda/columns.cuh",
     "? p.dims[p.keep_rank].in * p.shape.classes : 0;",
     "? (int)(p.dims[p.keep_rank].in * p.shape.classes) : 0;", "plain"),
    ("the last element of a class is left out", "src/kernels/cuda/columns.cuh",
     "((n - 1 - own_class) >> log2_of(p.shape.classes)) + 1 : 0;",
     "(n - 1 - own_class) >> log2_of(p.shape.classes) : 0;", "plain"),
    ("an element of a class for every chunk", "src/kernels/cuda/columns.cuh",
     "u < left; u++, at += far, element += p.shape.classes)",
     "u < left; u++, at += far, element += p.recipe.lanes)", "plain"),
    ("what came before is forgotten", "src/kernels/cuda/columns.cuh",
     "        if (!begins)\n            join_below(0, node, 1, 1);\n", "", "plain"),
    ("bytes side by side lie as others do", "src/kernels/cuda/bytes.cuh",
     "static constexpr bool beside = In::type == RDX_TYPE_F8E4M3;",
     "static constexpr bool beside = false;", "plain"),
    ("of equal bytes the last", "src/kernels/cuda/bytes.cuh",
     "bytes.take(got[u].word[w], OMIT, LAST ? u : top_mark - u);",
     "bytes.take(got[u].word[w], OMIT, u);", "plain"),
    ("bytes of lines that are not there are counted", "src/kernels/cuda/bytes.cuh",
     "keep = there < 4 ? (1u << 8 * there) - 1 : 0xffffffffu;",
     "keep = 0xffffffffu;", "plain"),
    ("lanes of a line or two lie within 2^31 bytes", "src/kernels/cuda/columns.cuh",
     "first + lane(l) * p.dims[p.keep_rank].in +",
     "first + (int)(lane(l) * p.dims[p.keep_rank].in) +", "plain"),
]


# ---- Drawing ----

SKIP = re.compile(r"RDX_ASSURE|_Static_assert|rdx_log|RDX_UNROLL|RDX_VECTOR|__attribute__|^\s*(#|/\*|\*|//)|\\$|^\s*case |restrict")
# A cost is a guess and has no right value: what only feeds predicted times is left out, and so is what memory is asked for early.
GUESS = re.compile(r"prefetch|\bahead\b|demand->|cost|_ns\b|overhead|scattered|instructions|wavefronts|register_budget")
BLIND = re.compile(r"__CUDA|__aarch64__|AVX512|__FAST_MATH__|NEON")  # code that this build does not hold


def mask_comments(text):
    """Comments and strings become blanks of the same length, so that operators never change them."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def visible_lines(text):
    """Numbers of the lines that are compiled here and may be changed."""
    stack, depth = [], 0
    for number, line in enumerate(mask_comments(text).split("\n")):
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if directive:
            word, condition = directive.groups()
            if word.startswith("if"):
                stack.append(bool(BLIND.search(condition)))
            elif word == "endif":
                if stack:
                    stack.pop()
            elif stack:
                stack[-1] = bool(BLIND.search(condition)) if word == "elif" else False
            continue
        if any(stack) or SKIP.search(text.split("\n")[number]) or GUESS.search(line):
            continue
        if depth_allows(line):
            yield number, line


def depth_allows(line):
    return line.startswith("    ") and line.strip() not in ("", "{", "}")


def changes(line, original):
    """(operator, from, to, replacement) for every change that one line offers; `line` has its comments and strings blanked."""
    for match in re.finditer(r" (<=|>=|<|>|==|!=|&&|\|\|) ", line):
        other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}[match.group(1)]
        yield "compare", match.start(1), match.end(1), other
    for match in re.finditer(r" ([+-]) (?=[\w(])", line):
        yield "sign", match.start(1), match.end(1), {"+": "-", "-": "+"}[match.group(1)]
    for match in re.finditer(r"(?<![\w.\[])([0-9]{1,4})(?![\w.\]])", line):
        yield "off by one", match.start(1), match.end(1), str(int(match.group(1)) + 1)
    for match in re.finditer(r"(?<![\w.>\]] )(?<![\w.>])\b(\w+) - (\w+)\b(?![(.\[]|->)", line):
        yield "swapped", match.start(), match.end(), "%s - %s" % (match.group(2), match.group(1))
    for match in re.finditer(r"\b(rdx_min|rdx_max)\(", line):
        yield "identity", match.start(1), match.end(1), {"rdx_min": "rdx_max", "rdx_max": "rdx_min"}[match.group(1)]
    for match in re.finditer(r"\? ([^?:]+) : ([^?:;,)]+)(?=[;,)])", line):
        yield "swapped", match.start(), match.end(), "? %s : %s" % tuple(original[slice(*match.span(k))] for k in (2, 1))
    statement = re.match(r"\s+[\w>\-.\[\]* ()]+ ?([-+*|&^]?=|\+\+|--)(?!=).*;\s*$|\s+\w+\(.*\);\s*$", line)
    declaration = re.match(r"\s+(const |static |struct |unsigned |u?int\d*_t |int |bool |double |float |char |size_t |T \w|"
                           r"[A-Z]\w*(\(\w+\))? \*?\w+( =|,))", line)
    if statement and not declaration and line.count("(") == line.count(")") and "return" not in line:
        yield "dropped", len(line) - len(line.lstrip()), len(line.rstrip()), ";"


def draw(seed):
    """Every possible change, in the order of the draw."""
    found = []
    for folder, _, files in os.walk(os.path.join(ROOT, "src")):
        if folder.endswith(os.path.join("kernels", "cuda")):  # compiled by nvcc, judged on a device
            continue
        for file in sorted(files):
            if not file.endswith((".c", ".h", ".inc")):
                continue
            path = os.path.relpath(os.path.join(folder, file), ROOT)
            with open(os.path.join(ROOT, path)) as stream:
                text = stream.read()
            lines, seen = text.split("\n"), {}
            for number, masked in visible_lines(text):
                for operator, start, end, replacement in changes(masked, lines[number]):
                    changed = lines[number][:start] + replacement + lines[number][end:]
                    key = (path, lines[number].strip(), operator, changed.strip())
                    seen[key] = seen.get(key, 0) + 1
                    digest = hashlib.sha256(repr((seed, key, seen[key])).encode()).digest()
                    name = "%s: %s -> %s" % (operator, lines[number].strip(), changed.strip())
                    found.append((digest, Mutant(name, path, lines[number], changed, number, "host")))
    found.sort(key=lambda item: item[0])
    taken, per_line = [], set()
    for _, mutant in found:  # one change a line
        if (mutant.path, mutant.line) not in per_line:
            per_line.add((mutant.path, mutant.line))
            taken.append(mutant)
    return taken


# ---- Building and running ----

class Copy:
    """A copy of a pristine tree, mutated and put back."""

    def __init__(self, pristine, home):
        self.pristine, self.home = pristine, home
        shutil.copytree(pristine, home, copy_function=shutil.copy2, symlinks=True)

    def restore(self):
        for folder, _, files in os.walk(self.home):
            for file in files:
                path = os.path.join(folder, file)
                origin = os.path.join(self.pristine, os.path.relpath(path, self.home))
                if os.path.islink(path):
                    continue
                if not os.path.exists(origin):
                    os.remove(path)
                elif os.stat(path).st_mtime_ns != os.stat(origin).st_mtime_ns:
                    shutil.copy2(origin, path)
        for folder, _, files in os.walk(self.pristine):
            for file in files:
                origin = os.path.join(folder, file)
                path = os.path.join(self.home, os.path.relpath(origin, self.pristine))
                if not os.path.lexists(path):
                    shutil.copy2(origin, path, follow_symlinks=False)

    def apply(self, mutant):
        """False if it does not apply."""
        path = os.path.join(self.home, mutant.path)
        with open(path) as stream:
            text = stream.read()
        if mutant.line < 0:
            if text.count(mutant.old) != 1:
                return False
            text = text.replace(mutant.old, mutant.new, 1)
        else:
            lines = text.split("\n")
            if lines[mutant.line] != mutant.old:
                return False
            lines[mutant.line] = mutant.new
            text = "\n".join(lines)
        with open(path, "w") as stream:
            stream.write(text)
        return True


def make_flags():
    with open("/proc/cpuinfo") as stream:
        has_avx2 = re.search(r"\bavx2\b", stream.read()) is not None
    flags = ["CFLAGS=-g0 -w", "OPTIMISE=-O1", "ISA_OPTIMISE=-O1"]
    if os.uname().machine == "x86_64":
        isas = "baseline avx2" if has_avx2 else "baseline"
        flags += ["ISAS=" + isas, "ISA_DEFINES=" + " ".join("-DRDX_HAVE_" + isa.upper() for isa in isas.split())]
    return flags


def run(command, home, limit, **more):
    """(exit status, output); 124 if it took too long."""
    environment = dict(os.environ, CK_DEFAULT_TIMEOUT="20", CK_TIMEOUT_MULTIPLIER="1", MAKEFLAGS="", **more)
    process = subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return 124, "took longer than %d s" % limit


EMULATORS = {"plain": "build-emu", "thread": "build-emu-thread"}
HANGS = 900  # seconds; all cases under ThreadSanitizer, beside another step of CI, took over 400
STEPS = (
    ("golden", ["build/bits", "tests/golden.txt"], 120),
    ("check", ["build/check_all"] + QUICK, 240),
    ("fuzz", ["build/redax", "fuzz", "--cases", "1500", "--seed", "7", "--quiet"], 240),
)


def build_for(kind, home, jobs=1):
    """What a judge of that kind tries: the host's programs, or the emulated plugin with tables of its own beside the host's objects."""
    make = ["make", "-j%d" % jobs] + make_flags()
    if kind == "host":
        return run(make + ["build/bits", "build/check_all", "build/redax"], home, 400)
    sanitize = ["EMU_SANITIZE=" + kind] if kind != "plain" else []
    return run(make + ["EMU_TABLES=planted", "EMU_OPTIMISE=-O0"] + sanitize + ["emu"], home, 900)


def steps_of(kind):
    """(name, command, seconds it may take) in the order in which a judge of that kind tries them."""
    if kind == "host":
        return STEPS
    folder = EMULATORS[kind]
    fuzz = [folder + "/redax", "fuzz", "--quiet", "--seed", "7", "--cases", "1000"]
    cases = tuple(("cases", ["tests/emu/check_cases.sh", folder, device], HANGS) for device in "01")
    if kind == "thread":  # a fence that is missing shows wherever parts are joined
        return cases
    return cases + (("golden", [folder + "/bits", "--device", "cuda:0", "tests/golden.txt"], HANGS),
                    ("golden", [folder + "/bits", "--device", "cuda:1", "tests/golden.txt"], HANGS),
                    ("fuzz", fuzz + ["--device", "cuda:0"], HANGS), ("fuzz", fuzz + ["--device", "cuda:1"], HANGS))


def failure_of(kind, home, step):
    """What a step has to say if it fails; None."""
    plugin = {} if kind == "host" else {"RDX_CUDA_PLUGIN": os.path.join(home, EMULATORS[kind], "libredax_cuda_emu.so"),
                                         "TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
    _, command, limit = step
    status, output = run(command, home, limit, **plugin)
    return (output.strip() or "status %d" % status) if status != 0 else None


def narrowed(step, failure):
    """What of a step failed: of many cases the one that is said last."""
    case = failure.split("\n")[-1]
    if step[0] != "cases" or " " in case:
        return step
    _, folder, device = step[1]
    return step[0], [folder + "/redax", "fuzz", "--device", "cuda:" + device, "--replay", case], step[2]


def judge(copy, mutant):
    """(verdict, detail, seconds, the step that kills): a step's name, "survived", "does not compile" or "does not apply"."""
    start = time.monotonic()
    verdict, detail, killer = "survived", "", None
    if not copy.apply(mutant):
        verdict = "does not apply"
    elif build_for(mutant.judge, copy.home)[0] != 0:
        verdict = "does not compile"
    else:
        for step in steps_of(mutant.judge):
            failure = failure_of(mutant.judge, copy.home, step)
            if failure:
                verdict, detail, killer = step[0], failure.split("\n")[-1][:120], narrowed(step, failure)
                break
    copy.restore()
    return verdict, detail, time.monotonic() - start, killer


def read_survivors():
    """{(path, name): reason} from lines PATH<TAB>NAME<TAB>REASON."""
    known = {}
    if os.path.exists(SURVIVORS):
        with open(SURVIVORS) as stream:
            for line in stream:
                if line.strip() and not line.startswith("#"):
                    path, name, reason = line.rstrip("\n").split("\t")
                    known[path, name] = reason
    return known


class Pristine:
    """The tree that the mutants of one judge are planted in: the sources as they are, built when the first of those mutants comes. An
    emulator's begins as a copy of the host's, and one job builds it: others judge meanwhile, and have limits of time."""

    def __init__(self, kind, home, base=None):
        self.kind, self.home, self.base = kind, home, base
        self.lock = threading.Lock()
        self.faults = {}  # what is wrong, if anything, with the build (None) and the steps that have been tried

    def once(self, key, what, make):
        """What is wrong, by make(), which is asked but once; None."""
        with self.lock:
            if key not in self.faults:
                start = time.monotonic()
                self.faults[key] = make()
                print("%s: %s as it is in %.0f s" % (self.kind, what, time.monotonic() - start), flush=True)
            return self.faults[key]

    def prepare(self):
        """What is wrong with the build; None."""
        return self.once(None, "built", lambda: (self.base.prepare() if self.base else None) or self.build())

    def passes(self, step):
        """What is wrong with a step; None."""
        def attempt():
            failure = failure_of(self.kind, self.home, step)
            return failure and "the sources themselves fail %s (%s):\n%s" % (step[0], self.kind, failure[-4000:])
        return self.once(tuple(step[1]), "tried by " + step[0], attempt)

    def build(self):
        if self.base:
            shutil.copytree(self.base.home, self.home, copy_function=shutil.copy2, symlinks=True)
        else:
            os.mkdir(self.home)
            for name in ("src", "include", "tests", "tools", "examples", "bench", "python"):
                shutil.copytree(os.path.join(ROOT, name), os.path.join(self.home, name))
            shutil.copy2(os.path.join(ROOT, "Makefile"), self.home)
        status, output = build_for(self.kind, self.home, 1 if self.base else os.cpu_count() or 1)
        return "the sources themselves do not build (%s):\n%s" % (self.kind, output[-4000:]) if status != 0 else None


class Campaign:
    def __init__(self, folder, jobs):
        self.jobs = jobs
        host = Pristine("host", os.path.join(folder, "host"))
        self.pristine = {"host": host}
        for kind in EMULATORS:
            self.pristine[kind] = Pristine(kind, os.path.join(folder, kind), host)
        self.lock = threading.Lock()
        self.known = read_survivors()

    def run_all(self, mutants, seconds):
        """Judges the mutants that each worker begins within `seconds`, preparation left out; returns [(mutant, verdict)]. Ends early,
        with a word, where the sources themselves fail."""
        queue, results, faults = iter(mutants), [], []

        def work(number):
            copies, spent_here = {}, 0.0
            while spent_here < seconds and not faults:
                with self.lock:
                    mutant = next(queue, None)
                if mutant is None:
                    return
                pristine = self.pristine[mutant.judge]
                fault = pristine.prepare()
                if fault:
                    faults.append(fault)
                    return
                if mutant.judge not in copies:
                    copies[mutant.judge] = Copy(pristine.home, "%s-%d" % (pristine.home, number))
                verdict, detail, spent, killer = judge(copies[mutant.judge], mutant)
                spent_here += spent
                fault = killer and pristine.passes(killer)
                if fault:
                    faults.append(fault)
                    return
                with self.lock:
                    if verdict == "does not compile" and mutant.line >= 0:
                        continue
                    results.append((mutant, verdict))
                    print("%-9s %5.1f s  %s: %s%s" % (verdict, spent, mutant.path, mutant.name,
                                                    "  [%s]" % detail if detail else ""), flush=True)

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(work, range(self.jobs)))
        if faults:
            sys.exit("mutants: " + faults[0])
        return results


def stale(named):
    """Descriptions of patches that do not apply to exactly one place."""
    texts = {}
    for path in {mutant.path for mutant in named}:
        with open(os.path.join(ROOT, path)) as stream:
            texts[path] = stream.read()
    places = [(mutant, texts[mutant.path].count(mutant.old)) for mutant in named]
    return ["%s: %s: applies to %d places" % (mutant.path, mutant.name, count) for mutant, count in places if count != 1]


def conclude(results, known):
    counted = [(mutant, verdict) for mutant, verdict in results
               if verdict != "survived" or (mutant.path, mutant.name) not in known]
    survived = [mutant for mutant, verdict in counted if verdict == "survived"]
    broken = [mutant for mutant, verdict in counted if verdict.startswith("does not")]
    killed = len(counted) - len(survived) - len(broken)
    for mutant in broken:
        print("no longer applies or compiles: %s: %s" % (mutant.path, mutant.name))
    for mutant in survived:
        print("survived, for survivors.txt if that is harmless:\n%s\t%s\t" % (mutant.path, mutant.name))
    share = killed / len(counted) if counted else 1.0
    enough = killed >= math.floor(NEEDED * len(counted))  # of few that were drawn, one may live
    print("mutants: %d of %d killed (%.1f%%), %d listed survivors left out" %
          (killed, len(counted), 100 * share, len(results) - len(counted)))
    return enough and not broken


def main():
    parser = argparse.ArgumentParser(description="plants bugs and demands that the tests notice")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=DRAWN, help="drawn mutants (40)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--order", type=int, help="draws the order (as listed)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after as many (all)")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    named = [Mutant(name, path, old, new, -1, "host") for name, path, old, new in NAMED]
    named += [Mutant(name, path, old, new, -1, judge) for name, path, old, new, judge in NAMED_CUDA]
    misfits = stale(named)
    if misfits:
        sys.exit("mutants: " + "\nmutants: ".join(misfits))
    named = [mutant for mutant in named if arguments.only in mutant.path + ": " + mutant.name]
    drawn = [mutant for mutant in draw(arguments.seed) if arguments.only in mutant.path + ": " + mutant.name]
    mutants = named + drawn[:arguments.count]
    if arguments.order is not None:
        random.Random(arguments.order).shuffle(mutants)
    if arguments.list:
        for mutant in mutants:
            print("%s: %s" % (mutant.path, mutant.name))
        return 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="redax-mutants-") as folder:
        campaign = Campaign(folder, arguments.jobs)
        results = campaign.run_all(mutants, arguments.seconds)
    passed = conclude(results, campaign.known)
    print("%.0f s for %d of %d mutants" % (time.monotonic() - start, len(results), len(mutants)))
    return 0 if passed and results else 1


if __name__ == "__main__":
    sys.exit(main())
