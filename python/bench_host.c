/* The C half of bench_host.py: how long a call of rdx_reduce takes on the host, from a loop in C. */
#define _GNU_SOURCE
#include <redax.h>
#include <time.h>

double bench_call(void *data, const int64_t *shape, int ndim, int bits, int device, int id, void *result, void *stream,
                  int calls);

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds a call for the sum over all axes of a row-major float tensor; negative: a status. The output is described
   anew each time, as a caller who does not know it must. */
double bench_call(void *data, const int64_t *shape, int ndim, int bits, int device, int id, void *result, void *stream,
                  int calls)
{
    RdxDtype dtype = {2, (uint8_t)bits, 1};
    RdxTensor in = {data, {device, id}, ndim, dtype, (int64_t *)(uintptr_t)shape, NULL, 0};
    int64_t extent[RDX_MAX_RANK] = {0};
    double start = now_ns();
    for (int i = 0; i < calls; i++) {
        RdxProblem problem = RDX_PROBLEM_INIT;
        RdxTensor out = {result, {0, 0}, 0, {0, 0, 0}, extent, NULL, 0};
        problem.op = RDX_SUM, problem.in = &in;
        RdxStatus status = rdx_infer_outputs(&problem, 0, &out, NULL);
        problem.out = &out;
        if (status == RDX_OK)
            status = rdx_reduce(&problem, (RdxStream)stream);
        if (status != RDX_OK)
            return -status;
    }
    return (now_ns() - start) / calls;
}
