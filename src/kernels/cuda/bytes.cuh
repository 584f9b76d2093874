/* Bytes, four to a word: what adds or compares several of them by one instruction. */
#ifndef RDX_KERNELS_CUDA_BYTES_CUH
#define RDX_KERNELS_CUDA_BYTES_CUH

#include "vec.cuh"

namespace rdx
{

/* Sums of 8-bit integers and truth values. */
template <class A, class In> RDX_DEVICE constexpr bool adds_bytes()
{
    return A::algebra == RDX_ALGEBRA_ISUM && A::work != RDX_WORK_I32 && In::size == 1 && In::integral;
}

/* Where the map is known, a word of them at once. */
template <class K, class In, int MAP> RDX_DEVICE constexpr bool adds_words()
{
    return adds_bytes<typename K::A, In>() && MAP != RDX_CUDA_ANY_MAP;
}

/* sum and the four 8-bit integers or truth values of a word, or those that `keep` has the bits of. */
template <class In, int MAP>
RDX_DEVICE int add_bytes(const RdxRecipe &r, uint32_t word, int sum, uint32_t keep = 0xffffffffu)
{
    constexpr bool truth = MAP == RDX_MAP_NONZERO || In::type == RDX_TYPE_BOOL;
    if constexpr (truth)
        word = (__vcmpne4(word, 0) & 0x01010101u) ^ (r.map == RDX_MAP_ZERO ? 0x01010101u : 0);
    word &= keep;
    return In::type == RDX_TYPE_I8 && !truth ? __dp4a((int)word, 0x01010101, sum)
                                             : (int)__dp4a(word, 0x01010101u, (unsigned)sum);
}

/* The same of four lines, of which `there` are: word(u) has a word of line u, sum(i) takes byte i of all. */
template <class In, int MAP, class Word, class Sum>
RDX_DEVICE void add_lines(const RdxRecipe &r, int there, Word word, Sum sum)
{
    uint32_t line[4], keep = there < 4 ? (1u << 8 * there) - 1 : 0xffffffffu;
#pragma unroll
    for (int u = 0; u < 4; u++)
        line[u] = u < there ? word(u) : 0;
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        uint32_t first = __byte_perm(line[0], line[1], pair ? 0x7362 : 0x5140);
        uint32_t last = __byte_perm(line[2], line[3], pair ? 0x7362 : 0x5140);
        sum(2 * pair) = add_bytes<In, MAP>(r, __byte_perm(first, last, 0x5410), sum(2 * pair), keep);
        sum(2 * pair + 1) = add_bytes<In, MAP>(r, __byte_perm(first, last, 0x7632), sum(2 * pair + 1), keep);
    }
}

/* max and min of bytes, in any order. Two words hold every other byte in a half each, which are compared: of i8 and u8
   the byte in the upper half of each, four instructions for four bytes, where keys take sixteen; of f8 the same number
   in f16. */
template <class A, class In> RDX_DEVICE constexpr bool compares_bytes()
{
    return A::algebra == RDX_ALGEBRA_MAX && A::unit == 1 && A::work == RDX_WORK_I32 && In::size == 1 &&
           In::type != RDX_TYPE_BOOL;
}

/* The same where the index of the greatest is asked for, of integers: their lower halves have room for a mark. */
template <class A, class In> RDX_DEVICE constexpr bool ranks_bytes()
{
    return A::indexed && A::unit == 1 && A::work == RDX_WORK_I32 && In::size == 1 && In::integral &&
           In::type != RDX_TYPE_BOOL;
}

/* Two bytes of a word: those in the upper half of each half, or the others; e4m3 has them side by side. What lies below
   an integer decides nothing. */
template <class In, bool UPPER> RDX_DEVICE uint32_t halves_of(uint32_t word)
{
    if constexpr (In::type == RDX_TYPE_F8E4M3)
        return widen_pair_e4m3(UPPER ? word >> 16 : word);
    else
        return (UPPER ? word : word << 8) & (In::integral ? 0xffffffffu : 0xff00ff00u);
}
/* Truth values as 0 and 1; others as they are. */
template <class In> RDX_DEVICE uint32_t truths_of(uint32_t word)
{
    return In::type == RDX_TYPE_BOOL ? __vcmpne4(word, 0) & 0x01010101u : word;
}
template <class In> RDX_DEVICE uint32_t greater_of_halves(uint32_t a, uint32_t b, bool omit)
{
    if constexpr (In::integral)
        return greater_halves(a, b, In::type == RDX_TYPE_U8);
    else
        return greater_pair<false>(a, b, omit);
}

/* The greatest bytes of words so far. What is greatest comes in the lower half of a word: in that half's upper half, or
   as a number in f16. MARKED: of equal integers that of the word with the greatest mark, up to 255, which stands below
   it. */
template <class In, bool MARKED = false> struct GreatestBytes {
    static constexpr bool beside = In::type == RDX_TYPE_F8E4M3;
    uint32_t keep, turn, upper, lower;

    __device__ __forceinline__ GreatestBytes(const RdxRecipe &r, uint32_t word, int mark = 0)
    {
        keep = !In::integral && r.map == RDX_MAP_KEY_ABS ? 0x7f7f7f7fu : 0xffffffffu;
        turn = !r.flip ? 0 : In::integral ? 0xffffffffu : 0x80808080u;
        upper = halves<true>(word, mark);
        lower = halves<false>(word, mark);
    }
    __device__ __forceinline__ void take(uint32_t word, bool omit, int mark = 0)
    {
        upper = greater_of_halves<In>(upper, halves<true>(word, mark), omit);
        lower = greater_of_halves<In>(lower, halves<false>(word, mark), omit);
    }
    /* Of all bytes. */
    __device__ __forceinline__ uint32_t top(bool omit) const
    {
        uint32_t top = greater_of_halves<In>(upper, lower, omit);
        return turned(greater_of_halves<In>(top, top >> 16, omit));
    }
    /* A word of the greatest byte in each place, of integers. */
    __device__ __forceinline__ uint32_t tops() const
    {
        return ((upper ^ turn) & 0xff00ff00u) | ((lower ^ turn) >> 8 & 0x00ff00ffu);
    }
    /* Of those that were byte i of their words. */
    __device__ __forceinline__ uint32_t top_of(int i) const
    {
        bool high = beside ? i >= 2 : i % 2 == 1;
        int half = beside ? i % 2 : i / 2;
        return turned((high ? upper : lower) >> 16 * half);
    }

  private:
    template <bool UPPER> __device__ __forceinline__ uint32_t halves(uint32_t word, int mark) const
    {
        uint32_t halves = halves_of<In, UPPER>((truths_of<In>(word) & keep) ^ turn);
        return MARKED ? (halves & 0xff00ff00u) | 0x10001u * mark : halves;
    }
    __device__ __forceinline__ uint32_t turned(uint32_t half) const
    {
        return half ^ (turn & (In::integral ? 0xff00u : 0x8000u));
    }
};

/* What becomes of it. */
template <class A, class In, int MAP>
RDX_DEVICE void read_top(const RdxRecipe &r, uint32_t top, typename A::T &x, typename A::T &y)
{
    typedef typename std::conditional<In::integral, In, Input<RDX_TYPE_F16>>::type Half;
    read_element<A, Half, MAP>(r, &top, In::integral ? 1 : 0, x, y);
}

/* Of the first `there` vectors, one at least: of all their bytes, */
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
/* or byte by byte of word w; MARKED: by which of the COUNT vectors it is, so that of equals the first stays, with LAST
   the last, */
template <class In, bool OMIT, int COUNT, bool MARKED = false, bool LAST = false, int BYTES>
RDX_DEVICE GreatestBytes<In, MARKED> greatest_bytes_of(const RdxRecipe &r, const Vector<BYTES> *got, int there, int w)
{
    constexpr int top_mark = COUNT - 1;
    GreatestBytes<In, MARKED> bytes(r, got[0].word[w], LAST ? 0 : top_mark);
#pragma unroll
    for (int u = 1; u < COUNT; u++)
        if (u < there)
            bytes.take(got[u].word[w], OMIT, LAST ? u : top_mark - u);
    return bytes;
}
/* or of every word: take(byte, top, u), where vector u has it; only if MARKED. */
template <class In, bool OMIT, int COUNT, bool MARKED = false, bool LAST = false, int BYTES, class Take>
RDX_DEVICE void greatest_bytes(const RdxRecipe &r, const Vector<BYTES> *got, int there, Take take)
{
    constexpr int top_mark = COUNT - 1;
#pragma unroll
    for (int w = 0; w < BYTES / 4; w++) {
        const GreatestBytes<In, MARKED> bytes = greatest_bytes_of<In, OMIT, COUNT, MARKED, LAST>(r, got, there, w);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t top = bytes.top_of(i);
            int mark = MARKED ? (int)(top & 0xff) : 0;
            take(4 * w + i, top, LAST ? mark : top_mark - mark);
        }
    }
}

/* f(omit): whether NaN is left out is known at compile time. */
template <class In, class F> RDX_DEVICE void with_omit(const RdxRecipe &r, F f)
{
    if (!In::integral && r.omit)
        f(std::true_type());
    else
        f(std::false_type());
}

} // namespace rdx
#endif
