/* Beyond 2^31: elements, bytes, outputs and offsets, on dense data and through large strides, against the CPU's bits.
   Some of these take several GB on both sides; RDX_GPU_LARGE=0 leaves them out. */
#include "gpu.h"

#include <stdio.h>

static GpuCase c;

static void check(const char *text)
{
    GpuRun run;
    printf("  %s\n", text);
    gpu_case_open(&c, text, 0);
    RdxPlan *plan = gpu_case_plan(&c, GPU_CHOSEN);
    GPU_OK(gpu_run_open(&run, &c, plan));
    GPU_OK(gpu_run_execute(&run, plan, NULL));
    GPU_RIGHT(&run, NULL);
    GPU_OK(gpu_run_poison(&run));
    GPU_OK(gpu_run_reduce(&run, NULL));
    GPU_RIGHT(&run, NULL);
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    gpu_case_close(&c);
}

/* Reduced elements of one output. */
START_TEST(large_counts)
{
    check("sum:i8:2147483675");
    check("argmax:i8:2147483651");
    check("max:u8:2147483649");
    check("sum:f32:8589934592@0"); /* one element, 2^33 times */
}
END_TEST

/* Bytes and positions of the input, whatever is reduced. */
START_TEST(large_inputs)
{
    check("sum:f32:3x800000000/1");
    check("var:f32:20000x65000/1");
    check("sum:f32:65000x20000/0");
    check("max:f32:1100000000x2/0");
    check("argmax:i8:3x900000001x2/1");
}
END_TEST

/* Outputs, more than 2^31 of them, and their bytes. */
START_TEST(large_outputs)
{
    check("max:i8:2147483700x2/1");
    check("max:u8:2x2147483700/0");
}
END_TEST

/* Few elements far apart: offsets of 2^32 bytes and more in both operands' index arithmetic. */
START_TEST(large_strides)
{
    check("sum:f32:3x5@600000001x1/1");
    check("sum:f32:5x3@1x600000001/1");
    check("argmax:bf16:2x3x4@1100000003x7x1/0,2");
    check("var:f32:2x300@-1200000000x1+1200000000/0");
}
END_TEST

void gpu_large_add(TCase *tests)
{
    GPU_TEST(tests, large_counts, GPU_ONE | GPU_LARGE);
    GPU_TEST(tests, large_inputs, GPU_ONE | GPU_LARGE);
    GPU_TEST(tests, large_outputs, GPU_ONE | GPU_LARGE);
    GPU_TEST(tests, large_strides, GPU_ONE | GPU_LARGE);
}
