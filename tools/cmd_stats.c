/* redax stats: what is in the tensors of files. One table a file, one row a tensor, or JSON; along axes one block a
   tensor. A file's rows are kept until the file has proved whole, then printed; a bad file or tensor is complained
   about and the next one gets its turn, with exit code 1 in the end. */
#include "commands.h"
#include "data.h"
#include "options.h"
#include "output.h"
#include "show.h"
#include "source.h"
#include "stats.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: redax stats FILE[#TENSOR]... [--axis LIST] [--device DEVICE] [--threads N] [--json]\n"
    "\n"
    "Prints shape, dtype, min, max, mean, std, norm and the numbers of NaN, infinite and zero "
    "elements of every tensor in\n"
    ".npy and .safetensors files. Everything is accumulated in f64; std divides by n; NaN "
    "elements are counted and then\n"
    "left out of the rest.\n"
    "\n"
    "  --axis LIST   along axes, as in 0,2 or -1: arrays instead of single numbers\n"
    "  --device DEVICE\n"
    "                auto (the default), cpu or cuda[:N]: a GPU is sent files in pieces, whatever "
    "their size, and gives the\n"
    "                same bits; auto is cpu, because sending a file costs more than reducing it "
    "here\n"
    "  --threads N   threads to use (default: all)\n"
    "  --json        print JSON\n";

enum { AXIS = 256, DEVICE, THREADS, JSON, HELP = 'h', COLUMNS = 11, WIDTH = 40 };

static const struct option flags[] = {{"axis", required_argument, NULL, AXIS},
                                      {"device", required_argument, NULL, DEVICE},
                                      {"threads", required_argument, NULL, THREADS},
                                      {"json", no_argument, NULL, JSON},
                                      {"help", no_argument, NULL, HELP},
                                      {NULL, 0, NULL, 0}};

typedef struct Options {
    RdxAxes axes;
    RdxDevice device;
    int threads;
    bool along, json;
    RdxGpu *gpu; /* NULL: the CPU */
    RdxJson document;
    RdxProgress progress;
} Options;

/* One tensor's results: single numbers or arrays. */
typedef struct Row {
    const RdxNamedArray *named;
    RdxStats stats;
    RdxAxisStats axis;
} Row;

static double size_of_file(const char *text)
{
    struct stat facts;
    const char *tensor;
    char *path = rdx_source_split(text, &tensor);
    double bytes = path && stat(path, &facts) == 0 ? (double)facts.st_size : 0;
    free(path);
    return bytes;
}

static RdxStatus compute_here(Options *options, Row *row, RdxArray *array)
{
    RdxTensor tensor;
    void *copy;
    if (!rdx_source_tensor(&tensor, array, &copy))
        return RDX_ERR_MEMORY; /* a copy of misaligned bytes */
    RdxStatus status = options->along ? rdx_stats_axes(&row->axis, &tensor, options->axes.list, options->axes.count,
                                                       NULL, &options->progress)
                                      : rdx_stats_whole(&row->stats, array, tensor.data, &options->progress);
    free(copy);
    return status;
}

/* What travels may lie anywhere, so nothing is copied here. */
static RdxStatus compute_there(Options *options, Row *row, RdxArray *array)
{
    RdxTensor tensor;
    if (!options->along)
        return rdx_stats_whole_cuda(&row->stats, array, options->gpu, &options->progress);
    rdx_source_view(&tensor, array);
    return rdx_stats_axes(&row->axis, &tensor, options->axes.list, options->axes.count, options->gpu,
                          &options->progress);
}

static bool compute(Options *options, Row *row, const char *path)
{
    RdxArray array = row->named->array;
    if (row->named->foreign) { /* its row says so */
        rdx_progress_advance(&options->progress, (double)array.bytes);
        return true;
    }
    RdxStatus status = options->gpu ? compute_there(options, row, &array) : compute_here(options, row, &array);
    if (status == RDX_OK)
        return true;
    rdx_complain("%s%s%s: %s", path, row->named->name[0] ? "#" : "", row->named->name,
                 status == RDX_ERR_MEMORY ? "out of memory" : rdx_option_reason(status));
    return false;
}

/* ---- text ---- */

typedef char Cells[COLUMNS][WIDTH];

static void printable(char *to, size_t size, const char *from)
{
    size_t length = 0;
    for (; *from && length + 1 < size; from++) /* names from files must not move the cursor */
        to[length++] = (unsigned char)*from < ' ' || *from == 0x7f ? '?' : *from;
    to[length] = '\0';
}

static void dtype_cell(char *cell, const RdxNamedArray *named)
{
    if (!named->foreign) {
        strcpy(cell, rdx_data_type(named->array.dtype)->name);
        return;
    }
    printable(cell, WIDTH / 2, named->foreign);
    strcat(cell, " (unsupported)");
}

static void real_cell(char *cell, double value)
{
    if (value != value)
        strcpy(cell, "nan"); /* printf writes -nan too */
    else
        snprintf(cell, WIDTH, "%.6g", value);
}

static void range_cell(char *cell, const RdxArray *array, const RdxStats *stats, const unsigned char *at)
{
    if (!stats->has_range)
        strcpy(cell, "-");
    else if (rdx_data_type(array->dtype)->kind >= RDX_DATA_FLOAT)
        real_cell(cell, rdx_data_load(array->dtype, at));
    else {
        char word[RDX_SHOW_WORD];
        rdx_show_element(word, array->dtype, at, true);
        snprintf(cell, WIDTH, "%.*s", WIDTH - 1, word);
    }
}

static void fill_cells(Cells cells, const Row *row)
{
    const RdxArray *array = &row->named->array;
    const RdxStats *stats = &row->stats;
    dtype_cell(cells[1], row->named);
    if (rdx_array_shape_words(array, cells[2], WIDTH) >= WIDTH)
        strcpy(cells[2] + WIDTH - 4, "...");
    for (int i = 3; i < COLUMNS; i++)
        strcpy(cells[i], "-");
    if (row->named->foreign)
        return;
    range_cell(cells[3], array, stats, stats->min);
    range_cell(cells[4], array, stats, stats->max);
    real_cell(cells[5], stats->mean);
    if (rdx_data_type(array->dtype)->kind == RDX_DATA_COMPLEX) {
        char im[WIDTH];
        real_cell(im, stats->mean_im);
        size_t length = strlen(cells[5]);
        snprintf(cells[5] + length, WIDTH - length, "%s%sj", im[0] == '-' ? "" : "+", im);
    }
    real_cell(cells[6], stats->std);
    real_cell(cells[7], stats->norm);
    snprintf(cells[8], WIDTH, "%lld", (long long)stats->nan);
    snprintf(cells[9], WIDTH, "%lld", (long long)stats->inf);
    snprintf(cells[10], WIDTH, "%lld", (long long)stats->zero);
}

static void print_table(const Row *rows, int64_t count, const char *path)
{
    static const char *const heads[COLUMNS] = {"tensor", "dtype", "shape", "min", "max", "mean",
                                               "std",    "norm",  "nan",   "inf", "zero"};
    bool colour = rdx_has_colour(stdout), named = count > 0 && rows[0].named->name[0];
    size_t width[COLUMNS], longest = 6;
    Cells cells;
    for (int i = 0; i < COLUMNS; i++)
        width[i] = strlen(heads[i]);
    for (int64_t r = 0; r < count; r++) {
        fill_cells(cells, &rows[r]);
        for (int i = 1; i < COLUMNS; i++)
            width[i] = strlen(cells[i]) > width[i] ? strlen(cells[i]) : width[i];
        longest = strlen(rows[r].named->name) > longest ? strlen(rows[r].named->name) : longest;
    }
    width[0] = longest;
    char *name = malloc(longest + 1);
    printf("%s%s%s\n", colour ? "\033[1m" : "", path, colour ? "\033[0m" : "");
    for (int64_t r = -1; r < count && name; r++) {
        if (r >= 0)
            fill_cells(cells, &rows[r]);
        printable(name, longest + 1, r < 0 ? heads[0] : rows[r].named->name);
        if (r < 0 && colour)
            fputs("\033[2m", stdout);
        if (named)
            printf("  %-*s", (int)width[0], name);
        for (int i = 1; i < COLUMNS; i++) {
            const char *text = r < 0 ? heads[i] : cells[i];
            bool alarm = colour && r >= 0 && (i == 8 || i == 9) && *text != '0' && *text != '-';
            printf("  %s%*s%s", alarm ? "\033[31m" : "", i < 3 ? -(int)width[i] : (int)width[i], text,
                   alarm ? "\033[0m" : "");
        }
        fputs(r < 0 && colour ? "\033[0m\n" : "\n", stdout);
    }
    free(name);
}

static void print_along(const Row *row, const char *path)
{
    char name[256], shape[256], dtype[WIDTH];
    dtype_cell(dtype, row->named);
    printable(name, sizeof name, row->named->name);
    rdx_array_shape_words(&row->named->array, shape, sizeof shape);
    printf("%s%s%s  %s %s\n", path, *name ? "#" : "", name, dtype, shape);
    for (int which = 0; !row->named->foreign && which < RDX_STATS_COUNT; which++) {
        printf("  %-5s ", rdx_stats_names[which]);
        if (row->axis.tensor[which].data)
            rdx_show_tensor(stdout, &row->axis.tensor[which], 8);
        else
            puts("-");
    }
}

/* ---- JSON ---- */

static void json_range(RdxJson *json, const char *key, const RdxArray *array, const RdxStats *stats,
                       const unsigned char *at)
{
    if (!stats->has_range)
        rdx_json_null(json, key);
    else if (rdx_data_type(array->dtype)->kind >= RDX_DATA_FLOAT)
        rdx_json_real(json, key, rdx_data_load(array->dtype, at));
    else if (array->dtype == RDX_BOOL)
        rdx_json_bool(json, key, rdx_data_load_int(array->dtype, at) != 0);
    else if (array->dtype == RDX_U64)
        rdx_json_uint(json, key, (uint64_t)rdx_data_load_int(array->dtype, at));
    else
        rdx_json_int(json, key, rdx_data_load_int(array->dtype, at));
}

static void json_numbers(RdxJson *json, const RdxArray *array, const RdxStats *stats)
{
    json_range(json, "min", array, stats, stats->min);
    json_range(json, "max", array, stats, stats->max);
    if (rdx_data_type(array->dtype)->kind == RDX_DATA_COMPLEX) {
        rdx_json_array(json, "mean", true);
        rdx_json_real(json, NULL, stats->mean);
        rdx_json_real(json, NULL, stats->mean_im);
        rdx_json_end(json);
    } else {
        rdx_json_real(json, "mean", stats->mean);
    }
    rdx_json_real(json, "std", stats->std);
    rdx_json_real(json, "norm", stats->norm);
    rdx_json_int(json, "nan", stats->nan);
    rdx_json_int(json, "inf", stats->inf);
    rdx_json_int(json, "zero", stats->zero);
}

static void print_json(Options *options, const Row *rows, int64_t count, const char *path)
{
    RdxJson *json = &options->document;
    rdx_json_object(json, NULL);
    rdx_json_text(json, "file", path);
    rdx_json_array(json, "tensors", false);
    for (int64_t r = 0; r < count; r++) {
        const RdxNamedArray *named = rows[r].named;
        const RdxArray *array = &named->array;
        bool whole = !options->along && !named->foreign;
        rdx_json_object(json, NULL);
        if (named->name[0])
            rdx_json_text(json, "name", named->name);
        rdx_json_text(json, "dtype", named->foreign ? named->foreign : rdx_data_type(array->dtype)->name);
        if (named->foreign)
            rdx_json_bool(json, "unsupported", true);
        rdx_json_ints(json, "shape", array->shape, array->rank);
        if (whole)
            json_numbers(json, array, &rows[r].stats);
        for (int which = 0; !whole && which < RDX_STATS_COUNT; which++) {
            if (rows[r].axis.tensor[which].data) {
                rdx_json_object(json, rdx_stats_names[which]);
                rdx_show_json(json, &rows[r].axis.tensor[which]);
                rdx_json_end(json);
            } else {
                rdx_json_null(json, rdx_stats_names[which]);
            }
        }
        rdx_json_end(json);
    }
    rdx_json_end(json);
    rdx_json_end(json);
}

/* ---- the walk over files ---- */

static bool one_file(Options *options, const char *text)
{
    RdxSource source;
    const char *tensor;
    char *path = rdx_source_split(text, &tensor);
    if (path == NULL || !rdx_source_open(&source, path)) {
        free(path);
        return false;
    }
    const RdxNamedArray *first = tensor ? rdx_source_pick(&source, path, tensor) : source.arrays;
    int64_t count = !tensor ? source.count : first != NULL, kept = 0;
    Row *rows = calloc((size_t)count + 1, sizeof *rows);
    bool good = rows && (!tensor || first);
    for (int64_t i = 0; rows && i < count; i++) {
        rows[kept].named = &first[i];
        if (compute(options, &rows[kept], path)) {
            kept++;
        } else {
            rdx_stats_free(&rows[kept].axis);
            good = false;
        }
    }
    rdx_progress_pause(&options->progress);
    bool whole = rdx_source_still_whole(&source, path), shown = whole && (good || kept > 0);
    if (shown && options->json)
        print_json(options, rows, kept, path);
    else if (shown && !options->along)
        print_table(rows, kept, path);
    for (int64_t r = 0; r < kept; r++) {
        if (shown && options->along && !options->json)
            print_along(&rows[r], path);
        rdx_stats_free(&rows[r].axis);
    }
    free(rows);
    rdx_source_close(&source);
    free(path);
    return good && whole;
}

/* RDX_EXIT_DONE to go on, else the exit code. HELP has been printed. */
static int parse(Options *options, int argc, char **argv, bool *helped)
{
    int flag, index = 0;
    *options = (Options){.axes.count = RDX_ALL_AXES, .device = {1, 0}};
    opterr = 0;
    optind = 1;
    while ((flag = getopt_long(argc, argv, ":h", flags, &index)) != -1) {
        bool good = true;
        switch (flag) {
        case HELP:
            fputs(help, stdout);
            *helped = true;
            return RDX_EXIT_DONE;
        case '?':
        case ':':
            return rdx_complain_option("stats", flag, argv);
        case AXIS:
            options->along = good = rdx_option_axes(&options->axes, optarg);
            break;
        case DEVICE:
            good = rdx_option_device(&options->device, optarg);
            break;
        case THREADS:
            good = rdx_option_threads(&options->threads, optarg);
            break;
        default:
            options->json = true;
        }
        if (!good)
            return rdx_complain_value("stats", flags[index].name, optarg, rdx_option_takes(flags[index].name));
    }
    return optind == argc ? rdx_complain_usage("stats", "which file?") : RDX_EXIT_DONE;
}

static bool all_files(Options *options, char **files, int count)
{
    double total = 0;
    bool good = true;
    for (int i = 0; i < count; i++)
        total += size_of_file(files[i]);
    rdx_progress_start(&options->progress, "stats", total);
    if (options->json) {
        rdx_json_start(&options->document, stdout);
        rdx_json_array(&options->document, "files", false);
    }
    for (int i = 0; i < count; i++)
        good = one_file(options, files[i]) && good;
    rdx_progress_end(&options->progress);
    if (options->json)
        rdx_json_finish(&options->document);
    return good;
}

int cmd_stats(int argc, char **argv)
{
    Options options;
    RdxGpu gpu;
    bool helped = false, good = true;
    int code = parse(&options, argc, argv, &helped);
    if (code != RDX_EXIT_DONE || helped)
        return helped ? rdx_finish_stdout(code) : code;
    rdx_partial_watch_signals();
    if (options.threads)
        rdx_set_threads(options.threads);
    if (options.device.type != RDX_CPU) {
        options.gpu = &gpu;
        good = rdx_gpu_open(&gpu, options.device.id) == RDX_OK;
        if (!good)
            rdx_complain("%s", rdx_last_error());
    }
    good = good && all_files(&options, argv + optind, argc - optind);
    if (options.gpu)
        rdx_gpu_close(&gpu);
    return rdx_finish_stdout(good ? RDX_EXIT_DONE : RDX_EXIT_FAILED);
}
