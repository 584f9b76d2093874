/* What the command writes: complaints, progress, and files that are there whole or not at all.
   People read stdout; complaints and progress go to stderr. A result file is written under a temporary name in the
   directory of its target and renamed onto it; on any failure, Ctrl-C included, the temporary name is removed. A file
   that was there keeps its permissions, and is refused where they forbid writing. */
#ifndef RDX_TOOLS_OUTPUT_H
#define RDX_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* "redax: <sentence>" on stderr. */
void rdx_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same about the command line, with a pointer to --help; returns exit code 2. */
int rdx_complain_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* About an option that getopt_long answered with `flag`, ? or :, in the same way. */
int rdx_complain_option(const char *command, int flag, char **argv);
/* The same of a value: --OPTION is "VALUE"; it takes TAKES. "o" is the one that is short. */
int rdx_complain_value(const char *command, const char *option, const char *value, const char *takes);

/* Flushes stdout: `code` if all was written, else a complaint and 1 (unless code is already worse). */
int rdx_finish_stdout(int code);

/* May this stream have colours and cursor movements? A terminal, TERM not dumb. Colours also ask NO_COLOR. */
bool rdx_is_terminal(FILE *stream);
bool rdx_has_colour(FILE *stream);

enum { RDX_PARTIALS = 4 }; /* files that may be under way at one time */

typedef struct RdxPartial {
    char *target, *partial; /* partial NULL: the target is a device, a pipe or a descriptor and is written directly */
    int descriptor, slot;
} RdxPartial;

/* SIGINT, SIGTERM, SIGHUP: remove what is under way, then exit 130 (128 + signal). */
void rdx_partial_watch_signals(void);
/* Do both lead to one file, so that one would replace the other? Never said of devices, pipes and descriptors. */
bool rdx_partial_same(const char *path, const char *other);
/* Each: false with a complaint on failure, and nothing is left behind. */
bool rdx_partial_open(RdxPartial *file, const char *path);
bool rdx_partial_write(RdxPartial *file, const void *bytes, size_t count);
bool rdx_partial_commit(RdxPartial *file);
void rdx_partial_discard(RdxPartial *file); /* also after open failed, or after commit: does nothing then */

/* One line on a terminal, redrawn ten times a second once the work has taken a second: share, rate, time left. */
typedef struct RdxProgress {
    const char *what;
    double total, done, started, drawn; /* bytes; seconds */
    bool enabled, visible;
} RdxProgress;

void rdx_progress_start(RdxProgress *progress, const char *what, double total_bytes);
void rdx_progress_advance(RdxProgress *progress, double bytes);
void rdx_progress_pause(RdxProgress *progress); /* wipes the line until the next step: something is to be printed */
void rdx_progress_end(RdxProgress *progress);

double rdx_seconds(void); /* of a steady clock */

#endif
