/* A sound problem for tests of the API: max of f32 over the rows of a small tensor, with room for a second output. Each
   test spoils it in one place. */
#ifndef RDX_TESTS_GIVEN_H
#define RDX_TESTS_GIVEN_H

#include <redax.h>
#include <string.h>

enum { ROWS = 6, COLUMNS = 40 };

typedef struct Given {
    _Alignas(64) float in_data[ROWS * COLUMNS + 16];
    _Alignas(64) float out_data[2 * ROWS + 16];
    int64_t out2_data[ROWS + 8];
    int64_t in_shape[4], in_strides[4], out_shape[4], out_strides[4], out2_shape[4];
    int32_t axes[4];
    RdxTensor in, out, out2;
    RdxProblem problem;
} Given;

static inline void give(Given *g)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    memset(g, 0, sizeof *g);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        g->in_data[i] = (float)(i % 17) - 8;
    for (int i = 0; i < 2 * ROWS; i++)
        g->out_data[i] = -12345;
    memcpy(g->in_shape, (const int64_t[4]){ROWS, COLUMNS, 1, 1}, sizeof g->in_shape);
    memcpy(g->in_strides, (const int64_t[4]){COLUMNS, 1, 1, 1}, sizeof g->in_strides);
    memcpy(g->out_shape, (const int64_t[4]){ROWS, 1, 1, 1}, sizeof g->out_shape);
    memcpy(g->out2_shape, g->out_shape, sizeof g->out_shape);
    memcpy(g->out_strides, (const int64_t[4]){1, 1, 1, 1}, sizeof g->out_strides);
    g->axes[0] = 1;
    g->in = (RdxTensor){g->in_data, {1, 0}, 2, {2, 32, 1}, g->in_shape, g->in_strides, 0};
    g->out = (RdxTensor){g->out_data, {1, 0}, 1, {2, 32, 1}, g->out_shape, g->out_strides, 0};
    g->out2 = (RdxTensor){g->out2_data, {1, 0}, 1, {0, 64, 1}, g->out2_shape, NULL, 0};
    g->problem = defaults;
    g->problem.op = RDX_MAX;
    g->problem.axes = g->axes;
    g->problem.naxes = 1;
    g->problem.in = &g->in;
    g->problem.out = &g->out;
}

#endif
