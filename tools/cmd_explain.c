/* redax explain: what would be done with a CASE, and why. For this machine's CPU the library plans as it would for
   rdx_execute; for a preset the planner is asked directly, and no such device need exist. */
#include "commands.h"
#include "explain.h"
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: redax explain CASE [--device cpu|h200|a100|t4|cuda[:N]] [--format text|sexpr|json]\n"
    "\n"
    "Prints the collapsed dimensions, the strategy chosen, its predicted bytes and time, and every strategy that was "
    "refused,\n"
    "with the reason.\n"
    "\n"
    "  CASE is op[param]:dtype:shape[@strides][+offset][/axes]{:key=value}, for example\n"
    "    sum:f32:64x1024x4096/1        var:f32:256x256x56x56/0,2,3      norm2:bf16:4096x768/-1\n"
    "    sum:f32:65536x4096@4096x-1+4095/1:nan=omit\n"
    "  keys: nan out keep ostrides out2 alpha beta data seed threads\n"
    "\n"
    "  --device DEVICE   cpu (this one, the default; auto is it), a preset, or a CUDA device of this machine\n"
    "  --format FORMAT   text (the default), sexpr or json\n"
    "  --json            the same as --format json\n";

enum { DEVICE = 256, FORMAT, JSON, HELP = 'h' };

static const struct option flags[] = {{"device", required_argument, NULL, DEVICE},
                                      {"format", required_argument, NULL, FORMAT},
                                      {"json", no_argument, NULL, JSON},
                                      {"help", no_argument, NULL, HELP},
                                      {NULL, 0, NULL, 0}};

static bool format_named(const char *name, int *format)
{
    static const char *const names[] = {[RDX_TEXT] = "text", [RDX_SEXPR] = "sexpr", [RDX_JSON] = "json"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], name) == 0) {
            *format = i;
            return true;
        }
    }
    return false;
}

static RdxStatus explain(const RdxCase *c, RdxTask *task, const char *device, int format, char **text)
{
    RdxDevice own;
    RdxStatus status = rdx_case_problem(c, task);
    if (status != RDX_OK)
        return status;
    if (!rdx_option_device(&own, device))
        return rdx_explain_preset(task, device, format, text);
    for (int which = 0; which < task->tensors; which++)
        task->tensor[which].device = own;
    return rdx_explain_here(task, format, text);
}

int cmd_explain(int argc, char **argv)
{
    const char *device = "cpu";
    int flag, index = 0, format = RDX_TEXT;
    opterr = 0;
    optind = 1;
    while ((flag = getopt_long(argc, argv, ":h", flags, &index)) != -1) {
        switch (flag) {
        case HELP:
            fputs(help, stdout);
            return rdx_finish_stdout(RDX_EXIT_DONE);
        case DEVICE:
            device = optarg;
            break;
        case FORMAT:
            if (!format_named(optarg, &format))
                return rdx_complain_value("explain", "format", optarg, rdx_option_takes("format"));
            break;
        case JSON:
            format = RDX_JSON;
            break;
        default:
            return rdx_complain_option("explain", flag, argv);
        }
    }
    RdxDevice own;
    if (!rdx_option_device(&own, device) && !rdx_explain_is_preset(device))
        return rdx_complain_usage("explain", "--device is \"%s\"; it takes auto, cuda[:N] or a preset: %s", device,
                                  rdx_explain_presets());
    if (optind + 1 != argc)
        return rdx_complain_usage("explain", optind == argc ? "which CASE?" : "one CASE at a time");
    RdxCase c;
    RdxTask *task = calloc(1, sizeof *task);
    char error[512], *text = NULL;
    if (task == NULL) {
        rdx_complain("out of memory");
        return RDX_EXIT_FAILED;
    }
    if (!rdx_case_parse(&c, argv[optind], error, sizeof error)) {
        free(task);
        return rdx_complain_usage("explain", "%s", error);
    }
    RdxStatus status = explain(&c, task, device, format, &text);
    free(task);
    if (status != RDX_OK) {
        rdx_complain("%s: %s", argv[optind], rdx_option_reason(status));
        return RDX_EXIT_FAILED;
    }
    size_t length = strlen(text);
    printf("%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
    free(text);
    return rdx_finish_stdout(RDX_EXIT_DONE);
}
