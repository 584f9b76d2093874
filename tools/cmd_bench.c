/* redax bench: verifies, then times cases against this machine's memory. */
#include "commands.h"
#include "output.h"

int cmd_bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    rdx_complain("bench is not there yet");
    return RDX_EXIT_FAILED;
}
