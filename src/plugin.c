/* Finds and loads the CUDA plugin once, and remembers the answer, a refusal too. CUDA does not survive a fork: the child of a process
   that had loaded the plugin is refused with a sentence, before CUDA hangs or crashes. */
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
static char reason[384];
static atomic_bool forked;
static pid_t unguarded; /* the process that loaded the plugin, where the system took no fork handler; else 0 */

static void refuse(RdxStatus status, const char *why, const char *path)
{
    refusal = status;
    snprintf(reason, sizeof reason, "%.255s: %s", path, why);
}

/* The folder of the object that this code lies in, with a slash; empty in a fully static program. */
static void own_folder(char *folder, size_t size)
{
    Dl_info info;
    folder[0] = 0;
    if (!dladdr((const void *)(uintptr_t)&rdx_version, &info) || !info.dli_fname || !strchr(info.dli_fname, '/'))
        return;
    snprintf(folder, size, "%s", info.dli_fname);
    strrchr(folder, '/')[1] = 0;
}

static void *open_plugin(char *path, size_t size)
{
    const char *wanted = secure_getenv("RDX_CUDA_PLUGIN");
    if (wanted && *wanted) {
        snprintf(path, size, "%s", wanted);
        return rdx_sys_dlopen(path);
    }
    char folder[256];
    own_folder(folder, sizeof folder);
    if (folder[0]) {
        snprintf(path, size, "%slibredax_cuda.so", folder);
        void *library = rdx_sys_dlopen(path);
        if (library)
            return library;
    }
    snprintf(path, size, "libredax_cuda.so");
    return rdx_sys_dlopen(path);
}

static void after_fork(void)
{
    atomic_store_explicit(&forked, true, memory_order_relaxed);
}

static void load(void)
{
    static const RdxHostTable host = {RDX_PLUGIN_VERSION, sizeof(RdxHostTable), RDX_VERSION, rdx_error, rdx_log,
                                      rdx_sys_alloc,      rdx_sys_free};
    char path[320];
    void *library = open_plugin(path, sizeof path);
    if (!library) {
        refuse(RDX_ERR_NO_PLUGIN, "not found or not loadable; CUDA tensors need it (RDX_CUDA_PLUGIN may name it)",
               path);
        return;
    }
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

RdxStatus rdx_plugin_check_fork(void)
{
    bool child = atomic_load_explicit(&forked, memory_order_relaxed) || (unguarded != 0 && unguarded != getpid());
    RDX_REQUIRE(!child, RDX_ERR_FORKED,
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
    if (plugin && rdx_plugin_check_fork() == RDX_OK)
        plugin->shutdown();
}
