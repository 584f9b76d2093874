/* What the kernels ask of the machine beyond C++ and CUDA's plain built-ins, each behind a small function or macro:
   PTX, shared memory, the addresses of kernels. The other sources hold no asm, no __shared__ and no &kernel, so that
   they compile without nvcc too: such a build defines RDX_CUDA_TWINS and brings its own twins, under the same names,
   before this file is read (tests/emu/device.h).

     RDX_SHARED(Type, name)                one object in a block's shared memory; unset
     RDX_SHARED_ARRAY(Type, name, count)   so many of them
     RDX_DYNAMIC_SHARED(Type, name)        what the launch gave, as an array that begins at a multiple of 128: where
                                           16-byte copies of a warp met it askew, each read twice the sectors (64K x
                                           4K f32: 276 us, not 235)
     RDX_ENTRY(kernel)                     a kernel's address, as a constant
     RDX_UNSET                             the words of a node that is not there: poison in the emulator */
#ifndef RDX_KERNELS_CUDA_PLATFORM_CUH
#define RDX_KERNELS_CUDA_PLATFORM_CUH

#include <stdint.h>

#define RDX_DEVICE static __device__ __forceinline__
#define RDX_CODE(...) ((const void *)RDX_ENTRY(__VA_ARGS__)) /* of a kernel: what cudaLaunchKernel takes for it */
/* Of a lambda: nvcc calls long ones, and what those capture lies in local memory (var over rows of 512 bf16 169 us
   called, 97 inlined). */
#define RDX_INLINED __attribute__((always_inline))

#ifndef RDX_CUDA_TWINS
#include "../scalar.h"

#define RDX_SHARED(Type, name) __shared__ Type name
#define RDX_SHARED_ARRAY(Type, name, count) __shared__ Type name[count]
#define RDX_DYNAMIC_SHARED(Type, name) extern __shared__ __align__(128) Type name[]
#define RDX_ENTRY(...) (&__VA_ARGS__)
#define RDX_UNSET 0u

namespace rdx
{

RDX_DEVICE float widen_half(uint64_t bits)
{
    float x;
    asm("{ cvt.f32.f16 %0, %1; }" : "=f"(x) : "h"((unsigned short)bits));
    return x;
}

/* Two e4m3 as f16, which holds all of them. */
RDX_DEVICE uint32_t widen_pair_e4m3(uint32_t word)
{
    uint32_t halves;
#if __CUDA_ARCH__ >= 890
    asm("{ cvt.rn.f16x2.e4m3x2 %0, %1; }" : "=r"(halves) : "h"((unsigned short)word));
#else
    halves = rdx_store_f16(rdx_load_f8e4m3((uint8_t)word)) |
             (uint32_t)rdx_store_f16(rdx_load_f8e4m3((uint8_t)(word >> 8))) << 16;
#endif
    return halves;
}

/* Floats of 8 bits: byte `byte` of a word. Two that are widened together, as f16, share an instruction. */
RDX_DEVICE float widen_e5m2(uint32_t word, int byte)
{
    uint32_t halves = __byte_perm(word, 0, byte & 2 ? 0x3424 : 0x1404); /* the upper bytes of two f16 */
    return widen_half(halves >> 16 * (byte & 1) & 0xffff);
}
RDX_DEVICE float widen_e4m3(uint32_t word, int byte)
{
#if __CUDA_ARCH__ >= 890
    return widen_half(widen_pair_e4m3(word >> 8 * (byte & 2)) >> 16 * (byte & 1) & 0xffff);
#else
    return rdx_load_f8e4m3((uint8_t)(word >> 8 * byte));
#endif
}

/* The greater of two numbers, and so in either half of a word of two (BRAIN: bf16, else f16): NaN where one of them is,
   of no particular bits; with `omit` the other one. -0 is less than +0. */
RDX_DEVICE float greater_of(float a, float b, bool omit)
{
    float m;
    if (omit)
        asm("max.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
    else
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
    return m;
}
template <bool BRAIN> RDX_DEVICE uint32_t greater_pair(uint32_t a, uint32_t b, bool omit)
{
    uint32_t m;
    if (BRAIN && omit)
        asm("max.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
    else if (BRAIN)
        asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
    else if (omit)
        asm("max.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
    else
        asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
    return m;
}

/* Of each half of a word the greater one, as integers of 16 bits. */
RDX_DEVICE uint32_t greater_halves(uint32_t a, uint32_t b, bool is_unsigned)
{
    return is_unsigned ? __vmaxu2(a, b) : __vmaxs2(a, b);
}

/* All bits of the halves in which the same numbers stand (BRAIN: bf16, else f16); -0 is +0, and NaN nothing. */
template <bool BRAIN> RDX_DEVICE uint32_t equal_pair(uint32_t a, uint32_t b)
{
    uint32_t same;
#if __CUDA_ARCH__ < 900
    if (BRAIN)
        return (__uint_as_float(a << 16) == __uint_as_float(b << 16) ? 0xffffu : 0) |
               (__uint_as_float(a & 0xffff0000u) == __uint_as_float(b & 0xffff0000u) ? 0xffff0000u : 0);
#else
    if (BRAIN)
        asm("set.eq.u32.bf16x2 %0, %1, %2;" : "=r"(same) : "r"(a), "r"(b));
    else
#endif
    asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(same) : "r"(a), "r"(b));
    return same;
}

/* Two f32 as bf16 (BRAIN) or f16, `low` in the lower half: rounded to nearest even, every NaN the quiet one without a
   sign. Three instructions, where integers take 16. */
template <bool BRAIN> RDX_DEVICE uint32_t narrow_pair(float low, float high)
{
    constexpr uint32_t nan = BRAIN ? 0x7fc07fc0u : 0x7e007e00u;
    uint32_t pair;
    if (BRAIN)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    const uint32_t numbers = equal_pair<BRAIN>(pair, pair);
    return (pair & numbers) | (nan & ~numbers);
}

/* At once, to where it is aligned as a T. */
template <class T> RDX_DEVICE void store_aligned(unsigned char *at, const T &value)
{
    *(T *)at = value;
}

/* A place in shared memory, in bytes: what a thread keeps in one register where a pointer takes two. */
typedef uint32_t SharedAt;

RDX_DEVICE SharedAt shared_at(const void *shared)
{
    return (SharedAt)__cvta_generic_to_shared(shared);
}

RDX_DEVICE uint4 load_shared(SharedAt at)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at)
                 : "memory");
    return v;
}

/* One element of BYTES; of two parts (PARTS), aligned as those. */
template <int BYTES> RDX_DEVICE void load_shared_element(uint32_t *word, SharedAt at, bool parts)
{
    if constexpr (BYTES == 1) {
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(word[0]) : "r"(at) : "memory");
    } else if constexpr (BYTES == 2) {
        asm volatile("{ .reg .u16 half; ld.shared.u16 half, [%1]; cvt.u32.u16 %0, half; }"
                     : "=r"(word[0])
                     : "r"(at)
                     : "memory");
    } else if constexpr (BYTES == 4) {
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word[0]) : "r"(at) : "memory");
    } else if (parts || BYTES == 16) {
        load_shared_element<BYTES / 2>(word, at, false);
        load_shared_element<BYTES / 2>(word + BYTES / 8, at + BYTES / 2, false);
    } else {
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(at) : "memory");
    }
}

/* The same number, of which the compiler knows no more than that: it neither makes it anew where it should keep it (a
   thread's place in its warp takes 25 cycles to ask for) nor keeps what it could make anew. */
RDX_DEVICE int kept(int x)
{
    return __shfl_sync(0xffffffffu, x, (int)(threadIdx.x & 31));
}
RDX_DEVICE int64_t forgotten(int64_t x)
{
    asm volatile("" : "+l"(x));
    return x;
}
RDX_DEVICE int forgotten(int x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* atomicInc that comes, in the eyes of the grid, after all that this thread has seen and done before it, and before all
   that follows. Two fences around it took 0.2 us more, and __threadfence, which is sequentially consistent beyond that,
   is slower still. */
RDX_DEVICE unsigned count_in(unsigned *counter, unsigned last)
{
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(counter), "r"(last) : "memory");
    return old;
}

/* Copies from global to shared memory that pass by the registers. A copy may land at any moment between its issue and
   the wait that covers it; 16 bytes, aligned on both sides, of which the first `bytes` (0 to 16) are read and the rest
   become 0; what lies in memory beside them in the aligned 16 is not touched. commit closes a group, which may be
   empty; wait<N> returns when all but the last N groups of this thread have landed, for this thread alone: others see
   them after a barrier. */
RDX_DEVICE void copy_async(SharedAt shared, const void *global, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

/* The same of SIZE bytes, 4 or 8, aligned to as many, all of which are read or become 0. */
template <int SIZE> RDX_DEVICE void copy_piece(SharedAt shared, const void *global, bool reads)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(global), "n"(SIZE),
                 "r"(reads ? SIZE : 0)
                 : "memory");
}

RDX_DEVICE void commit_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int N> RDX_DEVICE void wait_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

} // namespace rdx
#endif
#endif
