/* The mean of each column of a 2 x 3 matrix: cc mean.c $(pkg-config --cflags --libs redax) */
#include <redax.h>
#include <stdio.h>

int main(void)
{
    float matrix[2][3] = {{1, 2, 3}, {4, 5, 9}}, mean[3] = {0};
    RdxTensor in = {
        .data = matrix, .device = {RDX_CPU, 0}, .ndim = 2, .shape = (int64_t[]){2, 3}, .dtype = RDX_DTYPE(RDX_F32)};
    RdxTensor out = {
        .data = mean, .device = {RDX_CPU, 0}, .ndim = 1, .shape = (int64_t[]){3}, .dtype = RDX_DTYPE(RDX_F32)};
    RdxProblem problem = RDX_PROBLEM_INIT;
    problem.op = RDX_MEAN, problem.axes = (int32_t[]){0}, problem.naxes = 1, problem.in = &in, problem.out = &out;
    if (rdx_reduce(&problem, NULL) != RDX_OK)
        return fprintf(stderr, "%s\n", rdx_last_error()), 1;
    printf("%g %g %g\n", mean[0], mean[1], mean[2]); /* 2.5 3.5 6 */
    return 0;
}
