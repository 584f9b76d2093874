/* Loop marks for the files that are compiled once per ISA level: iterations are independent, whatever pointers may look
   like. A block loop runs a few times, known when it is compiled: gcc would unroll it before it vectorises, into halves
   and quarters. */
#ifndef RDX_KERNELS_CPU_VECTOR_H
#define RDX_KERNELS_CPU_VECTOR_H

#if defined(__clang__)
#define RDX_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define RDX_BLOCK_LOOP RDX_VECTOR_LOOP
#define RDX_UNROLL_4 _Pragma("clang loop unroll_count(4)")
#define RDX_UNROLL_16 _Pragma("clang loop unroll(full)")
#else
#define RDX_VECTOR_LOOP _Pragma("GCC ivdep")
#define RDX_BLOCK_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#define RDX_UNROLL_4 _Pragma("GCC unroll 4")
#define RDX_UNROLL_16 _Pragma("GCC unroll 16")
#endif

/* Bytes of the level's widest register. */
#if defined(__AVX512F__)
#define RDX_VECTOR_BYTES 64
#elif defined(__AVX__)
#define RDX_VECTOR_BYTES 32
#else
#define RDX_VECTOR_BYTES 16
#endif

/* Registers that may hold lanes while elements are loaded: AVX-512 has 32, AVX adds 16 straight from memory. */
#if RDX_VECTOR_BYTES == 64
#define RDX_LANE_REGISTERS 24
#else
#define RDX_LANE_REGISTERS 16
#endif

/* Names of what one level defines: rdx_avx2_fold and so on. */
#define RDX_LEVEL_(level, name) rdx_##level##_##name
#define RDX_LEVEL__(level, name) RDX_LEVEL_(level, name)
#define RDX_LEVEL(name) RDX_LEVEL__(RDX_ISA, name)

#endif
