/* The log callback. Off costs one relaxed atomic load. */
#ifndef RDX_LOG_H
#define RDX_LOG_H

#include "base.h"

enum { RDX_LOG_OFF, RDX_LOG_ERROR, RDX_LOG_PLAN, RDX_LOG_EXECUTE };

bool rdx_log_wants(int level);
void rdx_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
