/* The redax command: finds the subcommand and hands over. Each subcommand is a file of its own (cmd_<name>.c) and
   returns the exit code: 0 done, 1 failed, 2 the command line makes no sense, 130 after Ctrl-C. */
#include "commands.h"
#include "output.h"

#include <redax.h>
#include <string.h>

static const struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"reduce", cmd_reduce, "reduce an array of a .npy or .safetensors file"},
    {"stats", cmd_stats, "min, max, mean, std, norm and counts of every tensor in files"},
    {"explain", cmd_explain, "how a reduction would be done, and why, on this CPU or a GPU preset"},
    {"bench", cmd_bench, "verify, then time cases against this machine's memory"},
    {"fuzz", cmd_fuzz, "compare random cases, every plan of each, with the oracle"},
    {"info", cmd_info, "version, instruction sets, threads, caches, devices"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *stream)
{
    fputs("usage: redax COMMAND [ARGUMENTS]\n\n"
          "Reductions of strided tensors, with the same bits everywhere.\n\n",
          stream);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\nredax COMMAND --help tells more; redax --version prints the version.\n", stream);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return RDX_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        usage(stdout);
        return rdx_finish_stdout(RDX_EXIT_DONE);
    }
    if (strcmp(name, "--version") == 0) {
        int version = rdx_version();
        printf("redax %d.%d.%d (tree version %d)\n", version / 10000, version / 100 % 100, version % 100,
               rdx_tree_version());
        return rdx_finish_stdout(RDX_EXIT_DONE);
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return rdx_complain_usage(NULL, "unknown command \"%s\"", name);
}
