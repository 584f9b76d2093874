/* What the files of the GPU suite share: the plugin, settings, what a test needs, and a CASE with its right answer on a
   device.

   The suite is one process (CUDA does not survive a fork) and speaks to CUDA through the plugin's table alone, so that
   no CUDA header is needed and a plugin that emulates the device runs it too.

   Settings, from the environment:
     RDX_GPU_FUZZ_CASES   cases of the fuzz (20000), RDX_GPU_FUZZ_SEED which (1)
     RDX_GPU_REPEATS      runs of a plan that must not differ (100)
     RDX_GPU_LARGE        0: without the tests of more than 2^31 elements (1; 0 on an emulated device)
     RDX_GPU_REDUCED      1: the reduced set, for the sanitizers: little data, few repeats (0) */
#ifndef RDX_TESTS_GPU_H
#define RDX_TESTS_GPU_H

#include "fuzz_device.h"
#include "task.h"

#include <plan/config.h>
#include <plugin.h>

extern const RdxPluginTable *gpu; /* NULL: no plugin */
extern int gpu_devices;           /* 0: no plugin, driver or device */
extern bool gpu_emulated;

int64_t gpu_setting(const char *name, int64_t usual);
bool gpu_reduced(void);

/* ---- Which tests run ---- */

enum {
    GPU_ANYWHERE = 0,
    GPU_PLUGIN = 1, /* a plugin, with a device or without */
    GPU_ONE = 2,    /* a device */
    GPU_TWO = 4,    /* two */
    GPU_REAL = 8,   /* one that is not emulated */
    GPU_LARGE = 16, /* some 20 GB of memory on both sides */
    GPU_WHOLE = 32  /* not in the reduced set */
};

/* Adds a test, or writes down that it is not run and why. */
void gpu_add(TCase *tests, const TTest *test, const char *name, int needs);
#define GPU_TEST(tests, test, needs) gpu_add(tests, test, #test, needs)

void gpu_host_add(TCase *tests);
void gpu_fuzz_add(TCase *tests);
void gpu_large_add(TCase *tests);
void gpu_repeat_add(TCase *tests);
void gpu_capture_add(TCase *tests);
void gpu_streams_add(TCase *tests);
void gpu_faults_add(TCase *tests);
void gpu_devices_add(TCase *tests);

/* A process of its own that loses its device; the exit status of check_gpu --sticky. */
int gpu_sticky_child(void);

/* ---- A CASE on a device ---- */

typedef struct GpuCase {
    int id;
    RdxTask task;     /* on the host */
    RdxMirror mirror; /* its tensors on the device */
    size_t bytes[RDX_CASE_TENSORS];
    unsigned char *right[RDX_CASE_TENSORS]; /* the CPU's outputs */
} GpuCase;

/* Outputs must be row-major. Large: make it static. Of a text "CASE|CASE" the latter is for the emulator, whose threads
   take a thousand times as long: the same kernel, with less to do. */
void gpu_case_open(GpuCase *c, const char *text, int id);
void gpu_case_close(GpuCase *c);

/* One that is split over blocks, and so has a workspace. */
#define GPU_SPLIT_SUM "sum:f32:3000000|sum:f32:300000"

enum { GPU_CHOSEN = -2 };

/* The plan of candidate `index`, or the planner's. NULL where that strategy does not apply. */
RdxPlan *gpu_case_plan(const GpuCase *c, int index);

/* Outputs and a workspace of their own, so that runs of one plan may overlap. The workspace lies between canaries. */
typedef struct GpuRun {
    const GpuCase *c;
    unsigned char *out[RDX_CASE_TENSORS], *workspace;
    size_t workspace_bytes;
    unsigned char *host; /* room for what is copied back */
    char wrong[256];     /* why gpu_run_right said no */
} GpuRun;

RdxStatus gpu_run_open(GpuRun *run, const GpuCase *c, const RdxPlan *plan);
void gpu_run_close(GpuRun *run);
RdxStatus gpu_run_poison(GpuRun *run); /* every byte of the outputs becomes 0xff */
RdxStatus gpu_run_execute(GpuRun *run, const RdxPlan *plan, RdxStream stream);
/* rdx_reduce of the case into the run's outputs. */
RdxStatus gpu_run_reduce(GpuRun *run, RdxStream stream);
/* Waits, compares with the CPU's bytes, and looks at canaries and head. `gpu_run_untouched`: still poison. */
bool gpu_run_right(GpuRun *run, RdxStream stream);
bool gpu_run_untouched(GpuRun *run);

#define GPU_OK(expression)                                                                                             \
    do {                                                                                                               \
        RdxStatus gpu_status_ = (expression);                                                                          \
        DEMAND(gpu_status_ == RDX_OK, "%s: %s: %s", #expression, rdx_status_name(gpu_status_), rdx_last_error());      \
    } while (0)
#define GPU_RIGHT(run, stream) DEMAND(gpu_run_right(run, stream), "%s", (run)->wrong)

#endif
