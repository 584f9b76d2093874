/* Which ISA level is in use: the best that the machine and the build have, unless RDX_ISA names another. */
#include "isa.h"

#include "../../error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
/* clang 14's __builtin_cpu_supports does not know "f16c". That the system saves the registers is in the answer for
   AVX2. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           has_f16c();
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

int64_t rdx_cpu_stream_bytes = 4 << 20;
int rdx_cpu_kept_ahead = -1;

bool rdx_cpu_keeps_ahead(void)
{
    if (rdx_cpu_kept_ahead >= 0)
        return rdx_cpu_kept_ahead != 0;
#if defined(__x86_64__) /* Zen 4 is AMD's first with AVX-512 */
    return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

bool rdx_cpu_needs_pace(void)
{
    if (rdx_cpu_kept_ahead >= 0)
        return rdx_cpu_kept_ahead == 0;
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

static const struct {
    const RdxIsa *isa;
    bool (*present)(void);
} levels[] = {
#if defined(RDX_HAVE_NEON)
    {&rdx_isa_neon, always},
#else
    {&rdx_isa_baseline, always},
#endif
#if defined(RDX_HAVE_AVX2)
    {&rdx_isa_avx2, has_avx2},
#endif
#if defined(RDX_HAVE_AVX512)
    {&rdx_isa_avx512, has_avx512},
#endif
};

static _Atomic(const RdxIsa *) current;

int rdx_cpu_isa_names(const char *names[4])
{
    int count = 0;
    for (size_t i = 0; i < RDX_LENGTH(levels); i++)
        if (levels[i].present())
            names[count++] = levels[i].isa->name;
    return count;
}

static const RdxIsa *find(const char *name) /* NULL name: the best */
{
    const RdxIsa *found = NULL;
    for (size_t i = 0; i < RDX_LENGTH(levels); i++)
        if (levels[i].present() && (!name || strcmp(name, levels[i].isa->name) == 0))
            found = levels[i].isa;
    return found;
}

static RdxStatus select_level(const char *name, const RdxIsa **isa)
{
    *isa = find(name);
    if (*isa)
        return RDX_OK;
    const char *names[4];
    int count = rdx_cpu_isa_names(names);
    RDX_FAIL(RDX_ERR_DEVICE, "RDX_ISA is %.40s, which this machine or build lacks; it has %s%s%s%s%s", name, names[0],
             count > 1 ? ", " : "", count > 1 ? names[1] : "", count > 2 ? ", " : "", count > 2 ? names[2] : "");
}

RdxStatus rdx_cpu_isa(const RdxIsa **isa)
{
    *isa = atomic_load_explicit(&current, memory_order_acquire);
    if (RDX_LIKELY(*isa != NULL))
        return RDX_OK;
    const char *wanted = secure_getenv("RDX_ISA");
    RDX_TRY(select_level(wanted && *wanted ? wanted : NULL, isa));
    atomic_store_explicit(&current, *isa, memory_order_release);
    return RDX_OK;
}

RdxStatus rdx_cpu_set_isa(const char *name)
{
    const RdxIsa *isa = NULL;
    if (name)
        RDX_TRY(select_level(name, &isa));
    atomic_store_explicit(&current, isa, memory_order_release);
    return RDX_OK;
}
