/* redax reduce: one reduction of one array from a file, printed or written as .npy.
   Open and check the input, let the library infer and plan, execute, ask whether the file stayed whole, and only then
   print or write. Both output files are complete under temporary names before either gets its own. */
#include "case.h"
#include "commands.h"
#include "gpu.h"
#include "npy.h"
#include "options.h"
#include "output.h"
#include "show.h"
#include "source.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: redax reduce IN.npy|FILE.safetensors#TENSOR --op OP [options]\n"
    "\n"
    "Reduces an array along axes and prints the result, or writes it with -o.\n"
    "\n"
    "  --op OP            sum prod mean var std min max argmin argmax minmax any all count_nonzero norm sumsq\n"
    "                     logsumexp bit_and bit_or bit_xor\n"
    "  --axis LIST        axes to reduce, as in 0,2 or -1; none; all (the default)\n"
    "  --keepdims         keep reduced axes with extent 1\n"
    "  --dtype DTYPE      dtype of the result; a wider one also computes in it\n"
    "  --nan MODE         propagate (the default) or omit: NaN elements do not exist\n"
    "  --correction C     var, std: divide by n - C (default 0)\n"
    "  --p P              norm: its order (default 2; 0, inf, -inf and fractions too)\n"
    "  -o, --output FILE  write the result as .npy\n"
    "  --out2 FILE        write the second result: max of minmax, index of min and max, mean of var and std\n"
    "  --device DEVICE    auto (the default), cpu or cuda[:N]: a GPU is sent the array, in pieces if it is large, and "
    "gives\n"
    "                     the same bits; auto is cpu, because sending a file costs more than reducing it here\n"
    "  --threads N        threads to use (default: all)\n"
    "  --explain          also print the plan: what is done, and why so\n"
    "  --json             print JSON\n";

typedef struct Options {
    int op, dtype, nan, threads;
    RdxAxes axes;
    bool keepdims, explain, json;
    double p, correction;
    RdxDevice device;
    const char *input, *out, *out2;
} Options;

enum { OP = 256, AXIS, KEEPDIMS, DTYPE, NAN_MODE, CORRECTION, P, OUT2, DEVICE, THREADS, EXPLAIN, JSON, HELP = 'h' };

static const struct option flags[] = {{"op", required_argument, NULL, OP},
                                      {"axis", required_argument, NULL, AXIS},
                                      {"keepdims", no_argument, NULL, KEEPDIMS},
                                      {"dtype", required_argument, NULL, DTYPE},
                                      {"nan", required_argument, NULL, NAN_MODE},
                                      {"correction", required_argument, NULL, CORRECTION},
                                      {"p", required_argument, NULL, P},
                                      {"output", required_argument, NULL, 'o'},
                                      {"out2", required_argument, NULL, OUT2},
                                      {"device", required_argument, NULL, DEVICE},
                                      {"threads", required_argument, NULL, THREADS},
                                      {"explain", no_argument, NULL, EXPLAIN},
                                      {"json", no_argument, NULL, JSON},
                                      {"help", no_argument, NULL, HELP},
                                      {NULL, 0, NULL, 0}};

/* One option; false if its value makes no sense. */
static bool take_option(Options *options, int flag, const char *value)
{
    switch (flag) {
    case OP:
        options->op = rdx_case_op_named(value);
        return options->op != 0;
    case AXIS:
        return rdx_option_axes(&options->axes, value);
    case KEEPDIMS:
        return options->keepdims = true;
    case DTYPE:
        return rdx_option_dtype(&options->dtype, value);
    case NAN_MODE:
        options->nan = strcmp(value, "omit") == 0 ? RDX_NAN_OMIT : RDX_NAN_PROPAGATE;
        return options->nan == RDX_NAN_OMIT || strcmp(value, "propagate") == 0;
    case CORRECTION:
        return rdx_option_real(&options->correction, value) && isfinite(options->correction);
    case P:
        return rdx_option_real(&options->p, value);
    case 'o':
        options->out = value;
        return *value != '\0';
    case OUT2:
        options->out2 = value;
        return *value != '\0';
    case DEVICE:
        return rdx_option_device(&options->device, value);
    case THREADS:
        return rdx_option_threads(&options->threads, value);
    case EXPLAIN:
        return options->explain = true;
    default:
        return options->json = true;
    }
}

/* RDX_EXIT_DONE to go on, else the exit code. HELP has been printed. */
static int parse(Options *options, int argc, char **argv, bool *helped)
{
    int flag, index = 0;
    *options = (Options){.axes.count = RDX_ALL_AXES, .p = 2, .device = {1, 0}};
    *helped = false;
    opterr = 0;
    optind = 1;
    while ((flag = getopt_long(argc, argv, ":ho:", flags, &index)) != -1) {
        if (flag == HELP) {
            fputs(help, stdout);
            *helped = true;
            return RDX_EXIT_DONE;
        }
        if (flag == '?' || flag == ':')
            return rdx_complain_option("reduce", flag, argv);
        const char *name = flag == 'o' ? "o" : flags[index].name;
        if (!take_option(options, flag, optarg))
            return rdx_complain_value("reduce", name, optarg, rdx_option_takes(name));
    }
    if (optind + 1 != argc)
        return rdx_complain_usage("reduce", optind == argc ? "which file?" : "one file at a time");
    options->input = argv[optind];
    if (options->op == 0)
        return rdx_complain_usage("reduce", "--op is missing");
    if (options->op == RDX_MINMAX && (options->out != NULL) != (options->out2 != NULL))
        return rdx_complain_usage("reduce", "minmax has two results: give -o and --out2, or neither");
    const char *files[] = {options->out, options->out2};
    for (int i = 0; i < 2; i++) {
        size_t length = files[i] ? strlen(files[i]) : 0;
        if (length > 4 && strcmp(files[i] + length - 4, ".npz") == 0)
            return rdx_complain_usage("reduce", "%s: results are written as .npy, not as .npz", files[i]);
    }
    if (options->out && options->out2 && rdx_partial_same(options->out, options->out2))
        return rdx_complain_usage("reduce", "-o %s and --out2 %s are one file", options->out, options->out2);
    return RDX_EXIT_DONE;
}

/* One reduction under way. */
typedef struct Work {
    const Options *options;
    RdxSource source;
    const char *path;
    RdxArray array;
    RdxTensor in, out, out2;
    int64_t out_shape[RDX_MAX_RANK], out2_shape[RDX_MAX_RANK];
    void *copy, *workspace;
    RdxProblem problem;
    RdxPlan *plan;
    bool second;
    double seconds; /* on a GPU with the way there and back */
} Work;

static bool refuse(const Work *work, RdxStatus status)
{
    rdx_complain("%s: %s", work->options->input, rdx_option_reason(status));
    return false;
}

static bool has_npy_name(const RdxTensor *tensor, const char *path)
{
    char header[RDX_NPY_HEADER];
    int dtype = rdx_data_number(tensor->dtype);
    if (path == NULL || rdx_npy_header(header, dtype, 0, NULL) > 0)
        return true;
    rdx_complain("%s: .npy has no dtype for %s; ask for --dtype f32", path, rdx_data_type(dtype)->name);
    return false;
}

static bool plan(Work *work)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    const Options *options = work->options;
    RdxProblem *problem = &work->problem;
    *problem = defaults;
    problem->op = options->op;
    problem->nan = options->nan;
    problem->p = options->p;
    problem->correction = options->correction;
    problem->axes = options->axes.list;
    problem->naxes = options->axes.count;
    problem->threads = options->threads;
    problem->in = &work->in;
    work->in.device = options->device;
    work->out.shape = work->out_shape;
    work->out2.shape = work->out2_shape;
    work->second = options->op == RDX_MINMAX || options->out2;
    RdxStatus status = rdx_infer_outputs(problem, options->keepdims, &work->out, work->second ? &work->out2 : NULL);
    if (status != RDX_OK)
        return refuse(work, status);
    if (options->dtype)
        work->out.dtype = rdx_data_dtype(options->dtype);
    if (options->dtype && work->second && (options->op == RDX_VAR || options->op == RDX_STD)) {
        bool is_complex = rdx_data_type(work->array.dtype)->kind == RDX_DATA_COMPLEX;
        work->out2.dtype = !is_complex                 ? work->out.dtype
                           : options->dtype == RDX_F64 ? rdx_data_dtype(RDX_C128)
                                                       : rdx_data_dtype(RDX_C64);
    }
    problem->out = &work->out;
    problem->out2 = work->second ? &work->out2 : NULL;
    void *data = work->in.data;
    if (options->device.type != RDX_CPU)
        work->in.data = NULL; /* what is planned for a GPU will lie there, aligned */
    status = rdx_plan_create(&work->plan, problem);
    work->in.data = data;
    if (status != RDX_OK)
        return refuse(work, status);
    return has_npy_name(&work->out, options->out) && (!work->second || has_npy_name(&work->out2, options->out2));
}

static bool allocate(RdxTensor *tensor)
{
    int64_t bytes = rdx_show_count(tensor) * rdx_data_type(rdx_data_number(tensor->dtype))->size;
    size_t rounded = ((size_t)bytes + 64) / 64 * 64;
    tensor->data = aligned_alloc(64, rounded);
    if (tensor->data == NULL)
        rdx_complain("out of memory: a result of %lld bytes", (long long)bytes);
    return tensor->data != NULL;
}

static RdxStatus execute_here(Work *work)
{
    size_t bytes = rdx_plan_workspace(work->plan);
    work->workspace = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    if (bytes && work->workspace == NULL)
        return RDX_ERR_MEMORY;
    double started = rdx_seconds();
    RdxStatus status =
        rdx_execute(work->plan, work->in.data, work->out.data, work->out2.data, work->workspace, bytes, NULL);
    work->seconds = rdx_seconds() - started;
    return status;
}

static RdxStatus execute_there(Work *work)
{
    RdxGpu gpu;
    const RdxProblem *problem = &work->problem;
    RdxSweepPass pass = {.op = problem->op,
                         .nan = problem->nan,
                         .p = problem->p,
                         .correction = problem->correction,
                         .out = problem->out,
                         .out2 = problem->out2};
    RdxSweep sweep = {problem->in, problem->axes, problem->naxes, &pass, 1, NULL};
    RdxStatus status = rdx_gpu_open(&gpu, work->options->device.id);
    double started = rdx_seconds();
    if (status == RDX_OK)
        status = rdx_gpu_sweep(&gpu, &sweep);
    work->seconds = rdx_seconds() - started;
    rdx_gpu_close(&gpu);
    return status;
}

static bool execute(Work *work)
{
    if (!allocate(&work->out) || (work->second && !allocate(&work->out2)))
        return false;
    RdxStatus status = work->options->device.type == RDX_CPU ? execute_here(work) : execute_there(work);
    if (status == RDX_ERR_MEMORY) {
        rdx_complain("out of memory: a workspace");
        return false;
    }
    return status == RDX_OK ? rdx_source_still_whole(&work->source, work->path) : refuse(work, status);
}

static bool write_npy(RdxPartial *file, const RdxTensor *tensor, const char *path)
{
    char header[RDX_NPY_HEADER];
    int dtype = rdx_data_number(tensor->dtype);
    size_t length = rdx_npy_header(header, dtype, tensor->ndim, tensor->shape);
    size_t bytes = (size_t)(rdx_show_count(tensor) * rdx_data_type(dtype)->size);
    return rdx_partial_open(file, path) && rdx_partial_write(file, header, length) &&
           rdx_partial_write(file, tensor->data, bytes);
}

static bool write_files(const Work *work)
{
    RdxPartial first, second;
    const char *out = work->options->out, *out2 = work->options->out2;
    if (out && !write_npy(&first, &work->out, out))
        return false;
    if (out2 && !write_npy(&second, &work->out2, out2)) {
        if (out)
            rdx_partial_discard(&first);
        return false;
    }
    if (out && !rdx_partial_commit(&first)) {
        if (out2)
            rdx_partial_discard(&second);
        return false;
    }
    return !out2 || rdx_partial_commit(&second);
}

/* The plan's own words; NULL after a complaint. */
static char *explained(const Work *work, int format)
{
    size_t needed = 0;
    RdxStatus status = rdx_plan_explain(work->plan, format, NULL, 0, &needed);
    char *text = status == RDX_OK ? malloc(needed + 1) : NULL;
    if (text)
        status = rdx_plan_explain(work->plan, format, text, needed + 1, &needed);
    if (status != RDX_OK) {
        refuse(work, status);
        free(text);
        return NULL;
    }
    if (text == NULL)
        rdx_complain("out of memory");
    return text;
}

static bool print_json(const Work *work)
{
    const Options *options = work->options;
    RdxJson json;
    char *text = options->explain ? explained(work, RDX_JSON) : NULL;
    if (options->explain && text == NULL)
        return false;
    rdx_json_start(&json, stdout);
    rdx_json_text(&json, "input", options->input);
    rdx_json_text(&json, "op", rdx_case_op_name(options->op));
    rdx_json_object(&json, "in");
    rdx_json_text(&json, "dtype", rdx_data_type(work->array.dtype)->name);
    rdx_json_ints(&json, "shape", work->array.shape, work->array.rank);
    rdx_json_end(&json);
    const RdxTensor *tensors[] = {&work->out, &work->out2};
    const char *names[] = {"out", "out2"}, *files[] = {options->out, options->out2};
    for (int i = 0; i < 1 + work->second; i++) {
        rdx_json_object(&json, names[i]);
        if (files[i])
            rdx_json_text(&json, "file", files[i]);
        rdx_show_json(&json, tensors[i]);
        rdx_json_end(&json);
    }
    rdx_json_real(&json, "microseconds", work->seconds * 1e6);
    if (text)
        rdx_json_raw(&json, "plan", text);
    rdx_json_finish(&json);
    free(text);
    return true;
}

static bool print(const Work *work)
{
    const Options *options = work->options;
    if (options->json)
        return print_json(work);
    if (options->explain) {
        char *text = explained(work, RDX_TEXT);
        if (text == NULL)
            return false;
        size_t length = strlen(text);
        printf("%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
        free(text);
    }
    if (!options->out)
        rdx_show_tensor(stdout, &work->out, 0);
    if (work->second && !options->out2)
        rdx_show_tensor(stdout, &work->out2, 0);
    return true;
}

/* The input as a tensor; what travels to a GPU may lie anywhere. */
static bool look(Work *work, const RdxNamedArray *found)
{
    work->array = found->array;
    if (found->foreign) {
        rdx_complain("%s: its dtype \"%.32s\" is not one that redax has", work->options->input, found->foreign);
        return false;
    }
    if (work->options->device.type != RDX_CPU)
        rdx_source_view(&work->in, &work->array);
    else if (!rdx_source_tensor(&work->in, &work->array, &work->copy)) {
        rdx_complain("out of memory: a copy of %zu misaligned bytes", work->array.bytes);
        return false;
    }
    return true;
}

int cmd_reduce(int argc, char **argv)
{
    Options options;
    bool helped;
    int code = parse(&options, argc, argv, &helped);
    if (code != RDX_EXIT_DONE || helped)
        return rdx_finish_stdout(code);
    Work work = {.options = &options};
    const char *tensor;
    char *path = rdx_source_split(options.input, &tensor);
    const RdxNamedArray *found = NULL;
    rdx_partial_watch_signals();
    work.path = path;
    if (path && rdx_source_open(&work.source, path))
        found = rdx_source_pick(&work.source, path, tensor);
    bool good = found != NULL;
    if (good)
        good = look(&work, found);
    good = good && plan(&work) && execute(&work) && write_files(&work) && print(&work);
    rdx_plan_destroy(work.plan);
    free(work.workspace);
    free(work.out.data);
    free(work.out2.data);
    free(work.copy);
    rdx_source_close(&work.source);
    free(path);
    return rdx_finish_stdout(good ? RDX_EXIT_DONE : RDX_EXIT_FAILED);
}
