/* Finds and loads the CUDA plugin once, and remembers the answer, a refusal too. CUDA does not survive a fork: the
   child of a process that had loaded the plugin is refused with a sentence, before CUDA hangs or crashes. */
#define _GNU_SOURCE
#include "plugin.h"

#include "error.h"
#include "log.h"
#include "sys.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const RdxPluginTable *_Atomic loaded;
static RdxStatus refusal;
static char reason[640];
static atomic_bool forked;
static pid_t unguarded; /* the process that loaded the plugin, where the system took no fork handler; else 0 */

/* The path is cut, lest a long one push the reason out of the sentence. */
static void refuse(RdxStatus status, const char *why, const char *path)
{
    refusal = status;
    snprintf(reason, sizeof reason, "%.255s: %s", path, why);
}

/* By the loader's own words, which mostly begin with the path. */
static void refuse_unloadable(const char *path)
{
    const char *words = dlerror();
    char why[256];
    const size_t length = strlen(path);
    if (words && strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0)
        words += length + 2;
    snprintf(why, sizeof why, "%.160s; CUDA tensors need the plugin (RDX_CUDA_PLUGIN may name it)",
             words ? words : "not loadable");
    refuse(RDX_ERR_NO_PLUGIN, why, path);
}

/* The plugin beside the object that this code lies in; false in a fully static program, or where that has no path or
   one too long. */
static bool path_beside(char *path, size_t size)
{
    static const char name[] = "libredax_cuda.so";
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)&rdx_version, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - info.dli_fname) : 0;
    if (folder == 0 || folder + sizeof name > size)
        return false;
    memcpy(path, info.dli_fname, folder);
    memcpy(path + folder, name, sizeof name);
    return true;
}

/* The library, or NULL and the reason; *path: what was tried last, until the environment changes. */
static void *open_plugin(const char **path)
{
    static char beside[4096];
    const char *wanted = secure_getenv("RDX_CUDA_PLUGIN");
    const bool named = wanted && *wanted, lies_beside = !named && path_beside(beside, sizeof beside);
    *path = named ? wanted : lies_beside ? beside : "libredax_cuda.so";
    void *library = rdx_sys_dlopen(*path);
    if (library)
        return library;
    refuse_unloadable(*path);
    if (!lies_beside)
        return NULL;
    const bool is_there = access(beside, F_OK) == 0; /* then why that one failed is what matters */
    *path = "libredax_cuda.so";
    library = rdx_sys_dlopen(*path);
    if (!library && !is_there)
        refuse_unloadable(*path);
    return library;
}

static void after_fork(void)
{
    atomic_store_explicit(&forked, true, memory_order_relaxed);
}

static void load(void)
{
    static const RdxHostTable host = {RDX_PLUGIN_VERSION, sizeof(RdxHostTable), RDX_VERSION, rdx_error, rdx_log,
                                      rdx_sys_alloc,      rdx_sys_free};
    const char *path;
    void *library = open_plugin(&path);
    if (!library)
        return;
    void *symbol = rdx_sys_dlsym(library, "rdx_cuda_plugin");
    RdxPluginEntry entry;
    memcpy(&entry, &symbol, sizeof entry);
    const RdxPluginTable *table = symbol ? entry(&host) : NULL;
    if (!table)
        refuse(RDX_ERR_PLUGIN_VERSION, symbol ? "refuses this version of redax" : "is no redax plugin", path);
    else if (table->version != RDX_PLUGIN_VERSION || table->size != sizeof *table)
        refuse(RDX_ERR_PLUGIN_VERSION, "belongs to another version of redax", path);
    else {
        unguarded = rdx_sys_atfork(NULL, NULL, after_fork) == 0 ? 0 : getpid();
        atomic_store_explicit(&loaded, table, memory_order_release);
    }
}

static bool is_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed) || (unguarded != 0 && unguarded != getpid());
}

RdxStatus rdx_plugin_check_fork(void)
{
    RDX_REQUIRE(!is_forked(), RDX_ERR_FORKED,
                "this is the child of a fork, and its parent had used CUDA, which does not survive that");
    return RDX_OK;
}

RdxStatus rdx_plugin(const RdxPluginTable **table)
{
    pthread_once(&once, load);
    *table = atomic_load_explicit(&loaded, memory_order_acquire);
    if (!*table)
        RDX_FAIL(refusal, "no CUDA: %s", reason);
    return rdx_plugin_check_fork();
}

void rdx_plugin_shutdown(void)
{
    const RdxPluginTable *plugin = atomic_load_explicit(&loaded, memory_order_acquire);
    if (plugin && !is_forked())
        plugin->shutdown();
}
