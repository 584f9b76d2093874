/* What the benchmark says: a table for people, a document for programs; and the suite that it is asked for. */
#include "bench.h"
#include "json.h"

#include "../src/kernels/cpu/isa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *proof_word(RdxBenchProof proof)
{
    switch (proof) {
    case RDX_BENCH_BY_REFERENCE:
        return "reference";
    case RDX_BENCH_BY_SAMPLE:
        return "sample of outputs by the reference, all by another computation";
    case RDX_BENCH_BY_CPU:
        return "cpu";
    case RDX_BENCH_BY_PREFIX:
        return "fewer elements by the reference, all by another computation";
    default:
        return "not verified";
    }
}

/* "AMD EPYC ..." of /proc/cpuinfo; "unknown" where that is not to be had. */
static void machine_name(char *name, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL)
            continue;
        value += value[1] == ' ' ? 2 : 1;
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value);
        break;
    }
    if (file)
        fclose(file);
}

static const char *isa_name(void)
{
    const RdxIsa *isa = NULL;
    return rdx_cpu_isa(&isa) == RDX_OK ? isa->name : "none";
}

#if defined(__clang__)
static const char compiler[] = __VERSION__; /* begins with "Clang" */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static void version_text(char text[32])
{
    int version = rdx_version();
    snprintf(text, 32, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static void date_text(char text[32])
{
    time_t now = time(NULL);
    struct tm date;
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &date));
}

/* ---- Table ---- */

void rdx_bench_print_head(FILE *stream, int threads)
{
    char machine[256], version[32], date[32];
    machine_name(machine, sizeof machine);
    version_text(version);
    date_text(date);
    fprintf(stream, "redax %s (tree version %d), %s, %s, %d thread%s, %s, %s\n\n", version, rdx_tree_version(), machine,
            isa_name(), threads, threads == 1 ? "" : "s", compiler, date);
}

void rdx_bench_print_columns(FILE *stream)
{
    fprintf(stream, "%-26s %11s %8s %8s %6s %11s  %s\n", "case", "us", "GB/s", "ceiling", "share", "free order",
            "plan");
}

void rdx_bench_print_row(FILE *stream, const RdxBenchRecord *record)
{
    char free_order[32] = "";
    if (record->free_order_gbps > 0)
        snprintf(free_order, sizeof free_order, "%.1f %3.0f%%", record->free_order_gbps,
                 100 * record->free_order_fraction);
    fprintf(stream, "%-26s %11.2f %8.2f %8.2f %5.0f%% %11s  %s\n", record->name[0] ? record->name : record->line,
            record->us, record->gbps, record->ceiling_gbps, 100 * record->fraction, free_order, record->plan);
    fflush(stream);
}

void rdx_bench_print_small(FILE *stream, const RdxBenchReport *report)
{
    if (report->host)
        fprintf(stream, "host: rdx_execute of 16 f32 %.1f ns, rdx_reduce through the cache %.1f ns\n",
                report->small.execute_ns, report->small.reduce_ns);
    if (report->host && report->small.launch_ns > 0)
        fprintf(stream, "host: a launch that does nothing %.1f ns\n", report->small.launch_ns);
    if (report->l2)
        fprintf(stream, "l2: f32 sum of 256 KiB on one thread %.1f GB/s, plain read %.1f GB/s\n", report->small.l2_gbps,
                report->small.l2_ceiling_gbps);
}

/* ---- JSON ---- */

static void write_record(RdxJson *json, const RdxBenchRecord *record, const char *device)
{
    rdx_json_object(json, NULL);
    rdx_json_text(json, "name", record->name);
    rdx_json_text(json, "case", record->line);
    rdx_json_text(json, "device", device);
    if (record->error[0]) {
        rdx_json_bool(json, "verified", record->verified);
        rdx_json_text(json, "error", record->error);
        rdx_json_end(json);
        return;
    }
    rdx_json_real(json, "us", record->us);
    rdx_json_real(json, "us_min", record->us_min);
    rdx_json_real(json, "us_max", record->us_max);
    rdx_json_real(json, "bytes", record->bytes_in + record->bytes_out);
    rdx_json_real(json, "bytes_in", record->bytes_in);
    rdx_json_real(json, "bytes_out", record->bytes_out);
    rdx_json_real(json, "gbps", record->gbps);
    rdx_json_real(json, "ceiling_gbps", record->ceiling_gbps);
    rdx_json_text(json, "ceiling_kernel", record->read_kernel);
    rdx_json_real(json, "fraction", record->fraction);
    if (record->free_order_gbps > 0) {
        rdx_json_real(json, "free_order_gbps", record->free_order_gbps);
        rdx_json_real(json, "free_order_fraction", record->free_order_fraction);
        rdx_json_text(json, "free_order_kernel", record->free_order_kernel);
    }
    rdx_json_bool(json, "fits_cache", record->fits_cache);
    rdx_json_int(json, "passes", record->passes);
    rdx_json_text(json, "plan", record->plan);
    rdx_json_int(json, "threads", record->threads);
    rdx_json_bool(json, "verified", record->verified);
    rdx_json_text(json, "verified_by", proof_word(record->proof));
    if (record->against[0])
        rdx_json_text(json, "verified_against", record->against);
    rdx_json_end(json);
}

bool rdx_bench_write_json(FILE *stream, const RdxBenchReport *report, int threads)
{
    RdxJson json;
    char machine[256], version[32], date[32];
    machine_name(machine, sizeof machine);
    version_text(version);
    date_text(date);
    rdx_json_start(&json, stream);
    rdx_json_text(&json, "version", version);
    rdx_json_int(&json, "tree_version", rdx_tree_version());
    rdx_json_text(&json, "machine", machine);
    if (report->gpu)
        rdx_json_text(&json, "gpu", report->gpu);
    rdx_json_text(&json, "compiler", compiler);
    rdx_json_text(&json, "isa", isa_name());
    rdx_json_int(&json, "threads", threads);
    rdx_json_int(&json, "cache_bytes", rdx_bench_cache_bytes());
    rdx_json_text(&json, "date", date);
    if (report->host) {
        rdx_json_object(&json, "host");
        rdx_json_real(&json, "execute_ns", report->small.execute_ns);
        rdx_json_real(&json, "reduce_ns", report->small.reduce_ns);
        if (report->gpu)
            rdx_json_real(&json, "launch_ns", report->small.launch_ns);
        rdx_json_end(&json);
    }
    if (report->l2) {
        rdx_json_object(&json, "l2");
        rdx_json_real(&json, "us", report->small.l2_us);
        rdx_json_real(&json, "gbps", report->small.l2_gbps);
        rdx_json_real(&json, "ceiling_gbps", report->small.l2_ceiling_gbps);
        rdx_json_end(&json);
    }
    rdx_json_array(&json, "records", false);
    for (int i = 0; i < report->count; i++)
        write_record(&json, &report->record[i], report->device);
    rdx_json_end(&json);
    rdx_json_finish(&json);
    return ferror(stream) == 0;
}

/* ---- Suites ---- */

bool rdx_bench_add(RdxBenchSuite *suite, const char *name, const char *line, char *error, size_t size)
{
    RdxCase c;
    char sentence[512];
    if (!rdx_case_parse(&c, line, sentence, sizeof sentence)) {
        snprintf(error, size, "%s", sentence);
        return false;
    }
    size_t count = (size_t)suite->count + 1;
    void *names = realloc(suite->name, count * sizeof *suite->name);
    if (names)
        suite->name = names;
    void *lines = realloc(suite->line, count * sizeof *suite->line);
    if (lines)
        suite->line = lines;
    char *copy = names && lines ? strdup(line) : NULL;
    if (copy == NULL) {
        snprintf(error, size, "out of memory");
        return false;
    }
    snprintf(suite->name[suite->count], RDX_BENCH_NAME, "%s", name);
    suite->line[suite->count++] = copy;
    return true;
}

static bool add_line(RdxBenchSuite *suite, char *text, char *error, size_t size)
{
    static const char blanks[] = " \t\r\n";
    char *place, *name, *line, *rest;
    text[strcspn(text, "#")] = '\0';
    name = strtok_r(text, blanks, &place);
    if (name == NULL)
        return true;
    line = strtok_r(NULL, blanks, &place);
    rest = strtok_r(NULL, blanks, &place);
    if (line == NULL || rest != NULL || strlen(name) >= RDX_BENCH_NAME) {
        snprintf(error, size, "a line is NAME CASE, with a name of less than %d bytes", RDX_BENCH_NAME);
        return false;
    }
    return rdx_bench_add(suite, name, line, error, size);
}

bool rdx_bench_add_file(RdxBenchSuite *suite, const char *path, char *error, size_t size)
{
    char sentence[640];
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(error, size, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    bool good = true;
    for (int number = 1; good && getline(&text, &room, file) >= 0; number++) {
        good = add_line(suite, text, sentence, sizeof sentence);
        if (!good)
            snprintf(error, size, "%s, line %d: %s", path, number, sentence);
    }
    if (good && ferror(file)) {
        snprintf(error, size, "cannot read %s: %s", path, strerror(errno));
        good = false;
    }
    free(text);
    fclose(file);
    return good;
}

void rdx_bench_free(RdxBenchSuite *suite)
{
    for (int i = 0; i < suite->count; i++)
        free(suite->line[i]);
    free(suite->line);
    free(suite->name);
    memset(suite, 0, sizeof *suite);
}
