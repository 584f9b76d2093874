/* The mean of each column of a 2 x 3 matrix: cc mean.c $(pkg-config --cflags --libs redax) */
#include <redax.h>
#include <stdio.h>

int main(void)
{
    float matrix[2][3] = {{1, 2, 3}, {4, 5, 9}}, mean[3];
    RdxTensor in = {matrix, {1, 0}, 2, {2, 32, 1}, (int64_t[]){2, 3}, NULL, 0}; /* CPU; rank 2; float, 32 bits */
    RdxTensor out = {mean, {1, 0}, 1, {2, 32, 1}, (int64_t[]){3}, NULL, 0};
    RdxProblem problem = RDX_PROBLEM_INIT;
    problem.op = RDX_MEAN, problem.axes = (int32_t[]){0}, problem.naxes = 1, problem.in = &in, problem.out = &out;
    if (rdx_reduce(&problem, NULL) != RDX_OK)
        return fprintf(stderr, "%s\n", rdx_last_error()), 1;
    printf("%g %g %g\n", mean[0], mean[1], mean[2]); /* 2.5 3.5 6 */
    return 0;
}
