/* The subcommands of redax: each gets argc and argv from its own name on and returns the exit code of the process. */
#ifndef RDX_TOOLS_COMMANDS_H
#define RDX_TOOLS_COMMANDS_H

enum { RDX_EXIT_DONE = 0, RDX_EXIT_FAILED = 1, RDX_EXIT_USAGE = 2, RDX_EXIT_INTERRUPTED = 130 };

int cmd_reduce(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_fuzz(int argc, char **argv);
int cmd_info(int argc, char **argv);

#endif
