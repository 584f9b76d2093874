/* Complaints, progress and atomic files; see output.h. The paths of unfinished files lie in a small static table that
   the signal handler reads: an entry is filled and cleared with signals blocked, so that the handler never sees half of
   one. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *volatile under_way[RDX_PARTIALS];
static RdxProgress *shown; /* the progress line on the terminal, to be wiped before a complaint */

double rdx_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wipe_progress(void)
{
    if (shown && shown->visible) {
        fputs("\r\033[K", stderr);
        shown->visible = false;
    }
}

void rdx_complain(const char *format, ...)
{
    char sentence[2048];
    va_list arguments;
    wipe_progress();
    fflush(stdout);
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    for (char *at = sentence; *at; at++) /* names from files must not move the cursor */
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "redax: %s\n", sentence);
}

int rdx_complain_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "redax%s%s: ", command ? " " : "", command ? command : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (redax %s%s--help says more)\n", command ? command : "", command ? " " : "");
    return 2;
}

int rdx_complain_option(const char *command, int flag, char **argv)
{
    const char letter[] = {'-', (char)optopt, '\0'}, *word = argv[optind - 1];
    if (flag == '?' && (optopt > UCHAR_MAX || optopt == 'h')) /* the flag of a long option: --help is h */
        return rdx_complain_usage(command, "%.*s takes no value", (int)strcspn(word, "="), word);
    return rdx_complain_usage(command, flag == ':' ? "option %s needs a value" : "unknown option %s",
                              optopt && optopt <= UCHAR_MAX ? letter : word);
}

int rdx_complain_value(const char *command, const char *option, const char *value, const char *takes)
{
    return rdx_complain_usage(command, "%s%s is \"%s\"; it takes %s", strcmp(option, "o") == 0 ? "-" : "--", option,
                              value, takes);
}

int rdx_finish_stdout(int code)
{
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) != 0)
        failed = true;
    if (failed) {
        rdx_complain("cannot write to standard output: %s", strerror(errno));
        clearerr(stdout);
        return code == 0 ? 1 : code;
    }
    return code;
}

bool rdx_is_terminal(FILE *stream)
{
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

bool rdx_has_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    return rdx_is_terminal(stream) && !(no_colour && *no_colour);
}

/* ---- files ---- */

static void stop(int signal_number)
{
    for (int i = 0; i < RDX_PARTIALS; i++)
        if (under_way[i])
            unlink(under_way[i]);
    _exit(128 + signal_number);
}

static void stop_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

void rdx_partial_watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = stop;
    stop_signals(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;
        /* what the parent ignores (nohup) stays ignored */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

static void forget(RdxPartial *file)
{
    sigset_t set, before;
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    if (file->slot >= 0)
        under_way[file->slot] = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(file->partial);
    free(file->target);
    file->partial = file->target = NULL;
    file->slot = file->descriptor = -1;
}

/* Creates the temporary name and enters it into the table in one step as signals see it. */
static bool create_partial(RdxPartial *file, mode_t mode)
{
    sigset_t set, before;
    int slot = 0;
    while (slot < RDX_PARTIALS && under_way[slot])
        slot++;
    if (slot == RDX_PARTIALS) {
        errno = EMFILE;
        return false;
    }
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    file->descriptor = mkostemp(file->partial, O_CLOEXEC);
    if (file->descriptor >= 0) {
        under_way[slot] = file->partial;
        file->slot = slot;
    }
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (file->descriptor < 0) {
        errno = reason;
        return false;
    }
    (void)fchmod(file->descriptor, mode);
    return true;
}

/* As open() would have made it. */
static mode_t mode_of_new_files(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* The open descriptor that a path names, as /dev/stdout and /dev/fd/3 do, or leads to by absolute links; else -1.
   Opening such a path would open the file behind the descriptor anew, at its beginning. The path exists, so its links
   come to an end. */
static int descriptor_of(const char *path)
{
    char link[64], more;
    int number;
    if (sscanf(path, "/dev/fd/%d%c", &number, &more) == 1 || sscanf(path, "/proc/self/fd/%d%c", &number, &more) == 1)
        return number;
    ssize_t length = readlink(path, link, sizeof link);
    if (length <= 0 || length == sizeof link || link[0] != '/')
        return -1;
    link[length] = '\0';
    return descriptor_of(link);
}

/* Would writing to this path write to what is there, without a temporary name? */
static bool is_direct(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && (!S_ISREG(facts.st_mode) || descriptor_of(path) >= 0);
}

/* The one name of a file that is there or is to be; NULL: there is no such folder. */
static char *whole_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    char *name = realpath(path, NULL); /* a symbolic link keeps pointing at the new file */
    if (name)
        return name;
    char *folder = slash ? strndup(path, (size_t)(last - path)) : strdup(".");
    char *place = folder ? realpath(folder, NULL) : NULL;
    if (place && (name = malloc(strlen(place) + strlen(last) + 2)) != NULL)
        sprintf(name, "%s/%s", place, last);
    free(folder);
    free(place);
    return name;
}

bool rdx_partial_same(const char *path, const char *other)
{
    char *name = is_direct(path) ? NULL : whole_name(path), *also = name ? whole_name(other) : NULL;
    bool same = also && strcmp(name, also) == 0;
    free(name);
    free(also);
    return same;
}

bool rdx_partial_open(RdxPartial *file, const char *path)
{
    struct stat facts;
    *file = (RdxPartial){NULL, NULL, -1, -1};
    bool exists = stat(path, &facts) == 0;
    int number = exists ? descriptor_of(path) : -1;
    bool direct = number >= 0 || (exists && !S_ISREG(facts.st_mode));
    file->target = exists && !direct ? realpath(path, NULL) : NULL; /* a symbolic link keeps pointing at the new file */
    if (file->target == NULL)
        file->target = strdup(path);
    if (exists && S_ISDIR(facts.st_mode)) {
        rdx_complain("cannot write %s: it is a directory", path);
    } else if (direct) {
        fflush(stdout); /* it may be that one */
        file->descriptor = number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
        if (file->descriptor >= 0)
            return true;
        rdx_complain("cannot write %s: %s", path, strerror(errno));
    } else if (exists && access(path, W_OK) != 0) {
        rdx_complain("cannot write %s: %s", path, strerror(errno));
    } else if (file->target && (file->partial = malloc(strlen(file->target) + sizeof "/..XXXXXX")) != NULL) {
        const char *slash = strrchr(file->target, '/');
        int directory = slash ? (int)(slash + 1 - file->target) : 0;
        sprintf(file->partial, "%.*s.%.200s.XXXXXX", directory, file->target, file->target + directory);
        if (create_partial(file, exists ? facts.st_mode & 07777 : mode_of_new_files()))
            return true;
        rdx_complain("cannot write %s: %s", path, strerror(errno));
    } else {
        rdx_complain("cannot write %s: out of memory", path);
    }
    forget(file);
    return false;
}

bool rdx_partial_write(RdxPartial *file, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = write(file->descriptor, at, count < 1 << 30 ? count : 1 << 30);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            rdx_complain("cannot write %s: %s", file->target, strerror(written < 0 ? errno : EIO));
            rdx_partial_discard(file);
            return false;
        }
        at += written;
        count -= (size_t)written;
    }
    return true;
}

bool rdx_partial_commit(RdxPartial *file)
{
    bool done = file->partial == NULL || fsync(file->descriptor) == 0;
    done = close(file->descriptor) == 0 && done;
    file->descriptor = -1;
    if (done && file->partial)
        done = rename(file->partial, file->target) == 0;
    if (!done) {
        rdx_complain("cannot write %s: %s", file->target, strerror(errno));
        rdx_partial_discard(file);
        return false;
    }
    forget(file);
    return true;
}

void rdx_partial_discard(RdxPartial *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->partial)
        unlink(file->partial);
    forget(file);
}

/* ---- progress ---- */

void rdx_progress_start(RdxProgress *progress, const char *what, double total_bytes)
{
    *progress = (RdxProgress){.what = what, .total = total_bytes, .started = rdx_seconds()};
    progress->enabled = rdx_is_terminal(stderr);
    shown = progress;
}

void rdx_progress_advance(RdxProgress *progress, double bytes)
{
    progress->done += bytes;
    if (!progress->enabled)
        return;
    double now = rdx_seconds(), elapsed = now - progress->started;
    if (elapsed < 1 || now - progress->drawn < 0.1 || progress->done <= 0)
        return;
    double rate = progress->done / elapsed, left = (progress->total - progress->done) / rate;
    fprintf(stderr, "\r\033[K%s %3.0f%%  %.2f of %.2f GB  %.2f GB/s  %d:%02d left", progress->what,
            100 * progress->done / progress->total, progress->done / 1e9, progress->total / 1e9, rate / 1e9,
            (int)(left / 60), (int)left % 60);
    fflush(stderr);
    progress->drawn = now;
    progress->visible = true;
}

void rdx_progress_pause(RdxProgress *progress)
{
    if (shown == progress)
        wipe_progress();
}

void rdx_progress_end(RdxProgress *progress)
{
    wipe_progress();
    if (shown == progress)
        shown = NULL;
}
