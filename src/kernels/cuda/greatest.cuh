/* What is compared before anything is made of an element. max and min of reals of 16 and 32 bits, and their indices, compare the numbers of several vectors as they are, one instruction for a word, and make keys of the
   greatest alone; a key takes eight (min over 16384 x 4096 f32 67.5 us with a key for each, 62.2 so; max over 32768 x 4096 bf16 75.5 and 62.3).
   Which of the vectors it was is sought afterwards, from the last one to the first, by two instructions a word. */
#ifndef RDX_KERNELS_CUDA_GREATEST_CUH
#define RDX_KERNELS_CUDA_GREATEST_CUH

#include "vec.cuh"

namespace rdx
{

template <class A, class In> RDX_DEVICE constexpr bool compares_numbers()
{
    return is_keyed(A::algebra) && A::unit == 1 && A::work == RDX_WORK_I32 && !In::integral && !In::is_complex &&
           In::size > 1;
}

/* The same where nobody asks which vector the greatest was in: one vector may stand for another that is not there. */
template <class A, class In> RDX_DEVICE constexpr bool compares_numbers_alone()
{
    return compares_numbers<A, In>() && !A::indexed;
}

/* Element by element, that of the first `there` vectors, one at least, which has the greatest key. */
template <class In, bool OMIT, int COUNT, int BYTES>
RDX_DEVICE Vector<BYTES> greatest_or_nan(const RdxRecipe &r, const Vector<BYTES> *got, int there)
{
    constexpr bool paired = In::size == 2, brain = In::type == RDX_TYPE_BF16;
    const uint32_t signs = paired ? 0x80008000u : 0x80000000u;
    uint32_t keep = r.map == RDX_MAP_KEY_ABS ? ~signs : 0xffffffffu, turn = r.flip ? signs : 0;
    Vector<BYTES> top;
#pragma unroll
    for (int w = 0; w < (BYTES + 3) / 4; w++)
        top.word[w] = (got[0].word[w] & keep) ^ turn;
#pragma unroll
    for (int u = 1; u < COUNT; u++) {
        if (u >= there)
            continue;
#pragma unroll
        for (int w = 0; w < (BYTES + 3) / 4; w++) {
            uint32_t word = (got[u].word[w] & keep) ^ turn;
            if constexpr (paired)
                top.word[w] = greater_pair<brain>(top.word[w], word, OMIT);
            else
                top.word[w] = __float_as_uint(greater_of(__uint_as_float(top.word[w]), __uint_as_float(word), OMIT));
        }
    }
#pragma unroll
    for (int w = 0; w < (BYTES + 3) / 4; w++)
        top.word[w] ^= turn;
    return top;
}
template <class In, int COUNT, int BYTES>
RDX_DEVICE Vector<BYTES> greatest_of(const RdxRecipe &r, const Vector<BYTES> *got, int there = COUNT)
{
    return r.omit ? greatest_or_nan<In, true, COUNT>(r, got, there) : greatest_or_nan<In, false, COUNT>(r, got, there);
}

/* max and min of bytes, in any order. Two words hold every other byte in a half each, which are compared: of i8 and u8 the byte in the upper half of
   each, four instructions for four bytes, where keys take sixteen; of f8 the same number in f16. */
template <class A, class In> RDX_DEVICE constexpr bool compares_bytes()
{
    return A::algebra == RDX_ALGEBRA_MAX && A::unit == 1 && A::work == RDX_WORK_I32 && In::size == 1 &&
           In::type != RDX_TYPE_BOOL;
}

/* Two bytes of a word: those in the upper half of each half, or the others; e4m3 has them side by side. What lies below an integer decides
   nothing. */
template <class In, bool UPPER> RDX_DEVICE uint32_t halves_of(uint32_t word)
{
    if constexpr (In::type == RDX_TYPE_F8E4M3)
        return widen_pair_e4m3(UPPER ? word >> 16 : word);
    else
        return (UPPER ? word : word << 8) & (In::integral ? 0xffffffffu : 0xff00ff00u);
}
template <class In> RDX_DEVICE uint32_t greater_of_halves(uint32_t a, uint32_t b, bool omit)
{
    if constexpr (In::integral)
        return greater_halves(a, b, In::type == RDX_TYPE_U8);
    else
        return greater_pair<false>(a, b, omit);
}

/* The greatest bytes of words so far. In the lower half of `top` comes the greatest of all: in that half's upper half, or as a number in f16. */
template <class In> struct GreatestBytes {
    uint32_t keep, turn, upper, lower;

    __device__ __forceinline__ GreatestBytes(const RdxRecipe &r, uint32_t word)
    {
        keep = !In::integral && r.map == RDX_MAP_KEY_ABS ? 0x7f7f7f7fu : 0xffffffffu;
        turn = !r.flip ? 0 : In::integral ? 0xffffffffu : 0x80808080u;
        word = (word & keep) ^ turn;
        upper = halves_of<In, true>(word);
        lower = halves_of<In, false>(word);
    }
    __device__ __forceinline__ void take(uint32_t word, bool omit)
    {
        word = (word & keep) ^ turn;
        upper = greater_of_halves<In>(upper, halves_of<In, true>(word), omit);
        lower = greater_of_halves<In>(lower, halves_of<In, false>(word), omit);
    }
    __device__ __forceinline__ uint32_t top(bool omit) const
    {
        uint32_t top = greater_of_halves<In>(upper, lower, omit);
        top = greater_of_halves<In>(top, top >> 16, omit);
        return top ^ (In::integral ? turn : turn & 0x8000u);
    }
};

/* Of the first `there` vectors, one at least. */
template <class In, bool OMIT, int COUNT, int BYTES>
RDX_DEVICE uint32_t greatest_byte(const RdxRecipe &r, const Vector<BYTES> *got, int there)
{
    GreatestBytes<In> bytes(r, got[0].word[0]); /* a byte may count twice */
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        if (u >= there)
            continue;
#pragma unroll
        for (int w = 0; w < BYTES / 4; w++)
            bytes.take(got[u].word[w], OMIT);
    }
    return bytes.top(OMIT);
}
/* What becomes of it. */
template <class A, class In, int MAP>
RDX_DEVICE void read_top(const RdxRecipe &r, uint32_t top, typename A::T &x, typename A::T &y)
{
    typedef typename std::conditional<In::integral, In, Input<RDX_TYPE_F16>>::type Half;
    read_element<A, Half, MAP>(r, &top, In::integral ? 1 : 0, x, y);
}
template <class A, class In, int MAP, int COUNT, int BYTES>
RDX_DEVICE void read_greatest_byte(const RdxRecipe &r, const Vector<BYTES> *got, int there, typename A::T &x,
                                   typename A::T &y)
{
    uint32_t top = !In::integral && r.omit ? greatest_byte<In, true, COUNT>(r, got, there)
                                           : greatest_byte<In, false, COUNT>(r, got, there);
    read_top<A, In, MAP>(r, top, x, y);
}

/* Where words hold the same numbers: all bits of those. -0 is +0, and NaN is nothing. */
template <class In> RDX_DEVICE uint32_t where_equal(uint32_t a, uint32_t b)
{
    if constexpr (In::size == 2)
        return equal_pair<In::type == RDX_TYPE_BF16>(a, b);
    else
        return __uint_as_float(a) == __uint_as_float(b) ? 0xffffffffu : 0;
}

/* Element by element, which of the first `there` vectors has what greatest_of found: the first, or with LAST the last one that does. NANS:
   NaN is what is sought where it is the greatest. Vector 0 where nothing but NaN is left out. */
template <class In, bool LAST, bool NANS, int COUNT, int BYTES>
RDX_DEVICE Vector<BYTES> seek_vector(const Vector<BYTES> *got, const Vector<BYTES> &greatest, int there)
{
    Vector<BYTES> found = {};
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int u = LAST ? i : COUNT - 1 - i;
        if (u >= there)
            continue;
#pragma unroll
        for (int w = 0; w < (BYTES + 3) / 4; w++) {
            uint32_t here = where_equal<In>(got[u].word[w], greatest.word[w]);
            if (NANS)
                here |= ~where_equal<In>(got[u].word[w], got[u].word[w]);
            found.word[w] = (found.word[w] & ~here) | ((In::size == 2 ? 0x10001u * u : u) & here);
        }
    }
    return found;
}
template <class In, bool LAST, int COUNT, int BYTES>
RDX_DEVICE Vector<BYTES> vector_of(const RdxRecipe &r, const Vector<BYTES> *got, const Vector<BYTES> &greatest,
                                   int there = COUNT)
{
    uint32_t numbers = 0xffffffffu;
#pragma unroll
    for (int w = 0; w < (BYTES + 3) / 4; w++)
        numbers &= where_equal<In>(greatest.word[w], greatest.word[w]);
    return numbers == 0xffffffffu || r.omit ? seek_vector<In, LAST, false, COUNT>(got, greatest, there)
                                            : seek_vector<In, LAST, true, COUNT>(got, greatest, there);
}

} // namespace rdx
#endif
