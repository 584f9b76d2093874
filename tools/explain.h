/* Looks inside the library for the command: plans for devices that are not here, and what this CPU offers.
   Of the command, only this file, the bench, the fuzzer and gpu*.c know more than redax.h. */
#ifndef RDX_TOOLS_EXPLAIN_H
#define RDX_TOOLS_EXPLAIN_H

#include "case.h"

/* The names of the presets, separated by ", ". */
const char *rdx_explain_presets(void);
bool rdx_explain_is_preset(const char *name);

/* What the planner would do with the task (data may be NULL) on a preset, in the format of rdx_plan_explain.
   RDX_ERR_DEVICE for an unknown preset. *text is to be freed. */
RdxStatus rdx_explain_preset(const RdxTask *task, const char *preset, int format, char **text);

/* The same by the library itself, for the device of the task's tensors. */
RdxStatus rdx_explain_here(const RdxTask *task, int format, char **text);

/* The instruction set level in use and all that are here, best last; returns how many. *used is NULL, and the library
   has a sentence, where RDX_ISA names one that is not. */
int rdx_explain_isa(const char **used, const char *names[4]);

/* Threads that a problem gets which asks for none. */
int rdx_explain_threads(void);

#endif
