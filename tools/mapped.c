/* Mapped files and the SIGBUS handler; see mapped.h. The handler only uses mmap, which is a plain system call, and two
   static arrays of words. A fault that is in none of our files keeps its usual meaning. */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 8 };
static _Atomic uintptr_t starts[SLOTS], ends[SLOTS]; /* page-aligned; 0: free */
static atomic_bool lost[SLOTS];
static uintptr_t page_bytes;

static void mend(int signal_number, siginfo_t *facts, void *context)
{
    uintptr_t at = (uintptr_t)facts->si_addr & ~(page_bytes - 1);
    int saved = errno;
    (void)context;
    for (int i = 0; i < SLOTS; i++) {
        if (at < starts[i] || at >= ends[i])
            continue;
        /* everything from here on is gone: zeros to the end, so that the next page does not fault again */
        lost[i] = true;
        if (mmap((void *)at, ends[i] - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
            errno = saved;
            return;
        }
    }
    signal(signal_number, SIG_DFL); /* not ours: the access faults again and takes its course */
}

static void watch(void)
{
    struct sigaction action;
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = mend;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool rdx_mapped_open(RdxMapped *mapped, const char *path, char *error, size_t size)
{
    struct stat facts;
    int slot = 0;
    *mapped = (RdxMapped){NULL, 0, -1, -1};
    while (slot < SLOTS && starts[slot])
        slot++;
    int file = slot < SLOTS ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (slot == SLOTS) {
        snprintf(error, size, "more than %d files are open", SLOTS);
    } else if (file < 0 || fstat(file, &facts) != 0) {
        snprintf(error, size, "it cannot be opened: %s", strerror(errno));
    } else if (!S_ISREG(facts.st_mode)) {
        snprintf(error, size, "it is not a regular file");
    } else if (facts.st_size == 0) {
        snprintf(error, size, "it is empty");
    } else {
        watch();
        size_t count = (size_t)facts.st_size;
        void *bytes = mmap(NULL, count, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes == MAP_FAILED) {
            snprintf(error, size, "it cannot be mapped: %s", strerror(errno));
        } else {
            *mapped = (RdxMapped){bytes, count, slot, file};
            lost[slot] = false;
            ends[slot] = (uintptr_t)bytes + (count + page_bytes - 1) / page_bytes * page_bytes;
            starts[slot] = (uintptr_t)bytes;
        }
    }
    if (file >= 0 && mapped->bytes == NULL)
        close(file);
    return mapped->bytes != NULL;
}

bool rdx_mapped_lost(const RdxMapped *mapped)
{
    struct stat facts; /* a cut within the last page that remains raises no signal: its bytes read as zeros */
    return mapped->bytes != NULL &&
           (lost[mapped->slot] || fstat(mapped->descriptor, &facts) != 0 || (size_t)facts.st_size < mapped->count);
}

void rdx_mapped_close(RdxMapped *mapped)
{
    if (mapped->bytes != NULL) {
        starts[mapped->slot] = 0;
        ends[mapped->slot] = 0;
        munmap((void *)(uintptr_t)mapped->bytes, mapped->count);
        close(mapped->descriptor);
    }
    *mapped = (RdxMapped){NULL, 0, -1, -1};
}
