/* The C half of bench_host.py: how long a call of rdx_reduce takes on the host, from a loop in C, and what an array's
   library takes for its part of a call from Python. */
#define _GNU_SOURCE
#include "src/dlpack.h"

#include <stddef.h>
#include <time.h>

void Py_DecRef(void *object); /* of the Python that this is loaded into */

double bench_call(void *data, const int64_t *shape, int ndim, int bits, int device, int id, void *result, void *stream,
                  int calls);
double bench_exchange(const DlExchange *exchange, void *array, int results, int calls);

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

static void no_error(void *context, const char *kind, const char *message)
{
    (void)context, (void)kind, (void)message;
}

/* Nanoseconds for what redax asks of the library through the exchange API to reduce `array` to one number: to look at
   it, on CUDA for its current stream, and for a result, which is made, turned into an object and freed; with `results`
   0 the result is looked at instead (out=). Negative: it refuses. The GIL is held. */
double bench_exchange(const DlExchange *exchange, void *array, int results, int calls)
{
    double start = now_ns();
    if (exchange->version.major != DL_MAJOR || !exchange->view_of_object)
        return -1;
    for (int i = 0; i < calls; i++) {
        RdxTensor view, given;
        void *stream, *object;
        DlManaged *managed;
        if (exchange->view_of_object(array, &view) != 0)
            return -1;
        if (view.device.type == DL_CUDA && exchange->current_stream(DL_CUDA, view.device.id, &stream) != 0)
            return -1;
        if (!results) {
            if (exchange->view_of_object(array, &given) != 0)
                return -1;
            continue;
        }
        view.ndim = 0;
        if (exchange->allocate(&view, &managed, NULL, no_error) != 0 ||
            exchange->object_from_managed(managed, &object) != 0)
            return -1;
        Py_DecRef(object);
    }
    return (now_ns() - start) / calls;
}
