/* The floating-point environment that the bits are defined in: round to nearest even, subnormals kept, no traps.
   Workers and execute enter it and give the caller's back; two register moves. */
#ifndef RDX_KERNELS_CPU_FP_H
#define RDX_KERNELS_CPU_FP_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
typedef unsigned RdxFpState;

static inline RdxFpState rdx_fp_enter(void)
{
    RdxFpState callers = _mm_getcsr();
    if ((callers & ~0x3fu) != 0x1f80u)
        _mm_setcsr(0x1f80u);
    return callers;
}

static inline void rdx_fp_leave(RdxFpState callers)
{
    if ((callers & ~0x3fu) != 0x1f80u)
        _mm_setcsr(callers);
}

#elif defined(__aarch64__)
typedef uint64_t RdxFpState;

static inline RdxFpState rdx_fp_enter(void)
{
    RdxFpState callers;
    uint64_t plain = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(callers));
    if (callers != plain)
        __asm__ volatile("msr fpcr, %0" : : "r"(plain));
    return callers;
}

static inline void rdx_fp_leave(RdxFpState callers)
{
    if (callers != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(callers));
}

#else
#error "redax needs to know how this machine holds its rounding mode"
#endif

#endif
