/* Put in front of a .cu (-include) so that its PTX tells which fma the source names: those, and those alone, become
   inline asm, which the compiler sets between two comments of its own. tools/check_ptx.py demands that there is no
   other. */
#ifndef RDX_TESTS_NAMED_FMA_CUH
#define RDX_TESTS_NAMED_FMA_CUH

#ifdef __CUDA_ARCH__
static __device__ __forceinline__ float named_fma(float a, float b, float c)
{
    float d;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

static __device__ __forceinline__ double named_fma(double a, double b, double c)
{
    double d;
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c));
    return d;
}

#define __fmaf_rn named_fma
#define __fma_rn named_fma
#endif

#endif
