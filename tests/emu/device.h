/* What device code may say, for a C++ compiler: put in front of every .cu of src/kernels/cuda (-include). Qualifiers
   vanish, built-ins become calls of the machine, and the functions of platform.cuh get their twins here.

   Only this file and cuda_runtime.h use CUDA's names. Standard headers come first, because __noinline__ is a macro
   afterwards. */
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <type_traits>
#include <utility>

#include "cuda_runtime.h"
#include "machine.h"

#define RDX_CUDA_TWINS
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)

/* ---- Built-ins ---- */

#define threadIdx (emu::here.thread)
#define blockIdx (*emu::here.block)
#define blockDim (emu::block_extent)
#define gridDim (emu::grid_extent)

#define EMU_SITE (emu::Site{__FILE__, __LINE__})
#define __syncthreads() emu::barrier(EMU_SITE)
#define __syncwarp(...) emu::sync_lanes(EMU_SITE, emu::Lanes{__VA_ARGS__})
#define __shfl_sync(mask, value, from) emu::shuffle(mask, value, from, EMU_SITE)
#define __shfl_xor_sync(mask, value, with) emu::shuffle(mask, value, emu::here.lane ^ (unsigned)(with), EMU_SITE)
#define __shfl_up_sync(mask, value, by) emu::shuffle(mask, value, emu::up(by), EMU_SITE)
#define __shfl_down_sync(mask, value, by) emu::shuffle(mask, value, emu::down(by), EMU_SITE)
#define __ballot_sync(mask, value) ((unsigned)emu::meet(emu::BALLOT, mask, (value) != 0, 0, EMU_SITE))
#define __any_sync(mask, value) (__ballot_sync(mask, value) != 0)
#define __all_sync(mask, value) (__ballot_sync(mask, value) == (mask))
#define __threadfence() emu::fence()

namespace emu
{

struct Lanes {
    uint32_t mask = 0xffffffffu;
};

inline void sync_lanes(Site site, Lanes lanes)
{
    meet(SYNC, lanes.mask, 0, 0, site);
}

inline unsigned up(unsigned by)
{
    return here.lane >= by ? here.lane - by : here.lane;
}

inline unsigned down(unsigned by)
{
    return here.lane + by < 32 ? here.lane + by : here.lane;
}

template <class T> inline T shuffle(uint32_t mask, T value, unsigned from, Site site)
{
    static_assert(sizeof(T) <= 8, "shuffles take up to 8 bytes");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    word = meet(SHUFFLE, mask, word, from & 31, site);
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Relaxed, as CUDA's are: only fences make messages of them. */
template <class T, class Change> inline T exchange(T *at, Change change)
{
    before_atomic(at);
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);
    __atomic_store_n(at, change(old), __ATOMIC_RELAXED);
    after_atomic(at);
    return old;
}

template <class To, class From> __attribute__((always_inline)) inline To same_bits(From from)
{
    return __builtin_bit_cast(To, from); /* a memcpy would be a call where nothing is optimised */
}

/* How launches call a kernel. */
template <auto KERNEL> struct Stub;
template <class... Parameters, void (*KERNEL)(Parameters...)> struct Stub<KERNEL> {
    template <size_t... I> static void expand(void *const *parameters, std::index_sequence<I...>)
    {
        KERNEL(*(const std::remove_cv_t<Parameters> *)parameters[I]...);
    }
    static void call(void *const *parameters)
    {
        expand(parameters, std::index_sequence_for<Parameters...>());
    }
    static const char *name()
    {
        return __PRETTY_FUNCTION__;
    }
    static constexpr size_t sizes[sizeof...(Parameters) + 1] = {sizeof(Parameters)...};
    static constexpr Kernel kernel = {call, name, sizes, sizeof...(Parameters)};
};

} // namespace emu

inline unsigned atomicAdd(unsigned *at, unsigned more)
{
    return emu::exchange(at, [&](unsigned old) { return old + more; });
}
inline unsigned atomicInc(unsigned *at, unsigned last)
{
    return emu::exchange(at, [&](unsigned old) { return old >= last ? 0 : old + 1; });
}

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}
namespace emu
{

/* Hardware faults on what is not aligned to its own size; sanitizers do not see all of it. */
inline void demand_alignment(const void *at, size_t bytes, size_t alignment, const char *what)
{
    if ((uintptr_t)at % alignment != 0)
        fault({}, "%zu bytes %s %p, which is no multiple of %zu", bytes, what, at, alignment);
}

} // namespace emu

template <class T> inline T __ldg(const T *at)
{
    emu::demand_alignment(at, sizeof(T), alignof(T), "are read from");
    return *at;
}
/* A vector's last bytes may lie beyond the memory that holds its first, which AddressSanitizer sees: memory is handed
   out by larger multiples. */
__attribute__((no_sanitize("address"), noinline)) inline uint4 whole_vector(const uint4 *at)
{
    return *at;
}
template <> inline uint4 __ldg(const uint4 *at)
{
    emu::demand_alignment(at, 16, 16, "are read from");
    (void)__ldg((const unsigned char *)at);
    return whole_vector(at);
}

inline unsigned __float_as_uint(float x)
{
    return emu::same_bits<unsigned>(x);
}
inline float __uint_as_float(unsigned x)
{
    return emu::same_bits<float>(x);
}
inline long long __double_as_longlong(double x)
{
    return emu::same_bits<long long>(x);
}
inline double __longlong_as_double(long long x)
{
    return emu::same_bits<double>(x);
}
inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
/* Defined in arithmetic.cpp. */
unsigned __brev(unsigned x);
unsigned __byte_perm(unsigned low, unsigned high, unsigned which);
unsigned __dp4a(unsigned a, unsigned b, unsigned c);
int __dp4a(int a, int b, int c);
unsigned __vcmpne4(unsigned a, unsigned b);
unsigned __vcmpeq2(unsigned a, unsigned b);
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}

/* ---- Twins of platform.cuh ---- */

#define RDX_SHARED(Type, name)                                                                                         \
    static char name##_marker;                                                                                         \
    Type &name = *(Type *)emu::shared_object(&name##_marker, sizeof(Type), alignof(Type))
#define RDX_SHARED_ARRAY(Type, name, count)                                                                            \
    static char name##_marker;                                                                                         \
    Type *name = (Type *)emu::shared_object(&name##_marker, (count) * sizeof(Type), alignof(Type))
#define RDX_DYNAMIC_SHARED(Type, name) Type *name = (Type *)emu::dynamic_shared(alignof(Type))
#define RDX_ENTRY(...) (&emu::Stub<&__VA_ARGS__>::kernel)
#define RDX_UNSET 0xfff7deadu /* NaN of f32 and of f64, and an integer that adds up to nonsense without overflow */

namespace rdx
{

/* Defined in arithmetic.cpp. */
float widen_half(uint64_t bits);
float widen_e4m3(uint32_t word, int byte);
uint32_t widen_pair_e4m3(uint32_t word);
float greater_of(float a, float b, bool omit);
template <bool BRAIN> uint32_t greater_pair(uint32_t a, uint32_t b, bool omit);
uint32_t greater_halves(uint32_t a, uint32_t b, bool is_unsigned);
template <bool BRAIN> uint32_t equal_pair(uint32_t a, uint32_t b);
template <bool BRAIN> uint32_t narrow_pair(float low, float high);

inline float widen_e5m2(uint32_t word, int byte)
{
    return widen_half((word >> 8 * byte & 0xff) << 8);
}

inline unsigned count_in(unsigned *counter, unsigned last)
{
    emu::fence();
    unsigned old = atomicInc(counter, last);
    emu::fence();
    return old;
}

/* A place in shared memory is a pointer here. */
typedef unsigned char *SharedAt;

inline SharedAt shared_at(const void *shared)
{
    return (SharedAt)shared;
}

template <class T> inline void store_aligned(unsigned char *at, const T &value)
{
    emu::demand_alignment(at, sizeof(T), alignof(T), "are stored at");
    *(T *)at = value;
}

inline uint4 load_shared(SharedAt at)
{
    emu::demand_alignment(at, 16, 16, "of shared memory are read from");
    return *(const uint4 *)at;
}

template <int BYTES> inline void load_shared_element(uint32_t *word, SharedAt at, bool parts)
{
    emu::demand_alignment(at, BYTES,
                          BYTES == 16           ? 8
                          : BYTES >= 8 && parts ? BYTES / 2
                                                : BYTES,
                          "of shared memory are read from");
    word[0] = 0;
    memcpy(word, at, BYTES);
}

template <class T> inline T kept(T x)
{
    return x;
}

inline int64_t forgotten(int64_t x)
{
    return x;
}
inline int forgotten(int x)
{
    return x;
}

#define copy_async(shared, global, bytes) copy_async_at(EMU_SITE, shared, global, bytes)
inline void copy_async_at(emu::Site site, void *shared, const void *global, int bytes)
{
    emu::copy_later(shared, global, 16, bytes, site);
}

#define copy_piece copy_piece_from(EMU_SITE).of
struct copy_piece_from {
    emu::Site site;
    explicit copy_piece_from(emu::Site own) : site(own)
    {
    }
    template <int SIZE> void of(void *shared, const void *global, bool reads) const
    {
        emu::copy_later(shared, global, SIZE, reads ? SIZE : 0, site);
    }
};

inline void commit_copies()
{
    emu::commit_copies();
}

template <int N> inline void wait_copies()
{
    emu::wait_copies(N);
}

} // namespace rdx
#endif
