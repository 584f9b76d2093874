/* What is compared before anything is made of an element. max and min of reals of 16 and 32 bits, and their indices,
   compare the numbers of several vectors as they are, one instruction for a word, and make keys of the greatest alone;
   a key takes eight (min over 16384 x 4096 f32 67.5 us with a key for each, 62.2 so; max over 32768 x 4096 bf16 75.5
   and 62.3). Which of the vectors it was is sought afterwards, from the last one to the first, by two instructions a
   word. */
#ifndef RDX_KERNELS_CUDA_GREATEST_CUH
#define RDX_KERNELS_CUDA_GREATEST_CUH

#include "bytes.cuh"

namespace rdx
{

/* Whether elements are compared as they are: integers as well, where it is by columns. */
template <class A, class In> RDX_DEVICE constexpr bool compares_words()
{
    return is_keyed(A::algebra) && A::unit == 1 && A::work == RDX_WORK_I32 && !In::is_complex && In::size > 1;
}

template <class A, class In> RDX_DEVICE constexpr bool compares_numbers()
{
    return compares_words<A, In>() && !In::integral;
}

/* The same where nobody asks which vector the greatest was in: one vector may stand for another that is not there. */
template <class A, class In> RDX_DEVICE constexpr bool compares_numbers_alone()
{
    return compares_numbers<A, In>() && !A::indexed;
}

/* The same of minmax, whose two keys are those of the greatest and of the least. */
template <class A, class In> RDX_DEVICE constexpr bool compares_both()
{
    return A::algebra == RDX_ALGEBRA_MAX && A::unit == 2 && A::work == RDX_WORK_I32 && !In::integral &&
           !In::is_complex && In::size > 1;
}

/* Element by element, that of the first `there` vectors, SURE at least, which has the greatest key, or LEAST: the
   least. */
template <class In, bool OMIT, int COUNT, bool LEAST, int SURE, int BYTES>
RDX_DEVICE Vector<BYTES> greatest_or_nan(const RdxRecipe &r, const Vector<BYTES> *got, int there)
{
    constexpr bool paired = In::size == 2, brain = In::type == RDX_TYPE_BF16;
    const uint32_t signs = In::integral ? 0xffffffffu : paired ? 0x80008000u : 0x80000000u;
    uint32_t keep = !In::integral && r.map == RDX_MAP_KEY_ABS ? ~signs : 0xffffffffu,
             turn = r.flip != LEAST ? signs : 0;
    Vector<BYTES> top;
#pragma unroll
    for (int w = 0; w < (BYTES + 3) / 4; w++)
        top.word[w] = (got[0].word[w] & keep) ^ turn;
#pragma unroll
    for (int u = 1; u < COUNT; u++) {
        if (u >= SURE && u >= there)
            continue;
#pragma unroll
        for (int w = 0; w < (BYTES + 3) / 4; w++) {
            uint32_t word = (got[u].word[w] & keep) ^ turn;
            if constexpr (In::integral && paired)
                top.word[w] = greater_halves(top.word[w], word, In::type == RDX_TYPE_U16);
            else if constexpr (In::integral)
                top.word[w] = (int32_t)top.word[w] > (int32_t)word ? top.word[w] : word;
            else if constexpr (paired)
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
template <class In, int COUNT, bool LEAST = false, int SURE = 1, int BYTES>
RDX_DEVICE Vector<BYTES> greatest_of(const RdxRecipe &r, const Vector<BYTES> *got, int there = COUNT)
{
    return !In::integral && r.omit ? greatest_or_nan<In, true, COUNT, LEAST, SURE>(r, got, there)
                                   : greatest_or_nan<In, false, COUNT, LEAST, SURE>(r, got, there);
}

/* The element of a vector that has the greatest key, or LEAST: the least, in the lower bits of a word. */
template <class In, bool LEAST = false, int BYTES>
RDX_DEVICE uint32_t greatest_in(const RdxRecipe &r, const Vector<BYTES> &vector)
{
    constexpr int WORDS = BYTES / 4;
    Vector<4> words[WORDS + 1];
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        words[w].word[0] = vector.word[w];
    words[0] = greatest_of<In, WORDS, LEAST>(r, words);
    if constexpr (In::size == 2) {
        words[1].word[0] = words[0].word[0] >> 16;
        words[0] = greatest_of<In, 2, LEAST>(r, words);
    }
    return words[0].word[0];
}

/* Where words hold the same numbers: all bits of those. -0 is +0, and NaN is nothing. */
template <class In> RDX_DEVICE uint32_t where_equal(uint32_t a, uint32_t b)
{
    if constexpr (In::integral && In::size == 2)
        return __vcmpeq2(a, b);
    else if constexpr (In::integral)
        return a == b ? 0xffffffffu : 0;
    else if constexpr (In::size == 2)
        return equal_pair<In::type == RDX_TYPE_BF16>(a, b);
    else
        return __uint_as_float(a) == __uint_as_float(b) ? 0xffffffffu : 0;
}

/* Whether the greatest is known before its index is sought. */
template <class A> RDX_DEVICE constexpr bool seeks_winners()
{
    return A::indexed && A::unit == 1 && A::work == RDX_WORK_I32;
}

/* An element that GreatestBytes, or greatest_of in a word's lower bits, has found, to be compared with those of a word.
   NaN is sought where it is the greatest; none is where it is left out. */
template <class In> struct Sought {
    uint32_t like; /* that element, as often as a word holds it; of f8 as f16 */
    bool nans;

    __device__ __forceinline__ Sought(const RdxRecipe &r, uint32_t top) : like(top), nans(false)
    {
        if constexpr (In::size < 4)
            like = __byte_perm(top, 0, In::size == 1 && In::integral ? 0x1111 : 0x1010);
        if constexpr (!In::integral)
            nans = !equal(like, like) && !r.omit;
    }

    /* Some bits of each that is like it, and of no other. */
    template <bool NANS> __device__ __forceinline__ uint32_t where_in(uint32_t word) const
    {
        if constexpr (In::integral && In::size == 4) {
            return word == like;
        } else if constexpr (In::integral) {
            constexpr uint32_t below = In::size == 1 ? 0x7f7f7f7fu : 0x7fff7fffu; /* all but the upper bit of each */
            uint32_t other = truths_of<In>(word) ^ like;
            return ~(((other & below) + below) | other | below); /* where it is 0 nothing carries into that bit */
        } else if constexpr (In::size == 1) {
            uint32_t upper = here<NANS>(halves_of<In, true>(word)), lower = here<NANS>(halves_of<In, false>(word));
            return In::type == RDX_TYPE_F8E4M3 ? __byte_perm(lower, upper, 0x6420)
                                               : (upper & 0xff00ff00u) | (lower & 0x00ff00ffu);
        } else {
            return here<NANS>(word);
        }
    }

  private:
    static __device__ __forceinline__ uint32_t equal(uint32_t a, uint32_t b)
    {
        if constexpr (In::size == 1)
            return equal_pair<false>(a, b);
        else
            return where_equal<In>(a, b);
    }
    template <bool NANS> __device__ __forceinline__ uint32_t here(uint32_t word) const
    {
        return equal(word, like) | (NANS ? ~equal(word, word) : 0);
    }
};

/* Which element of a vector is like it: the first, or of `latest` ones the last; any where none is. */
template <class In, int BYTES>
RDX_DEVICE int element_like(const Vector<BYTES> &vector, const Sought<In> &sought, bool latest)
{
    uint32_t where = 0;
    int at = 0;
    auto seek = [&](auto nans) RDX_INLINED {
#pragma unroll
        for (int w = 0; w < BYTES / 4; w++) {
            const uint32_t here = sought.template where_in<decltype(nans)::value>(vector.word[w]);
            const bool takes = here != 0 && (latest || where == 0);
            at = takes ? w : at;
            where = takes ? here : where;
        }
    };
    if (sought.nans)
        seek(std::true_type());
    else
        seek(std::false_type());
    return at * (4 / In::size) + (latest ? 31 - __clz(where) : __ffs(where) - 1) / (8 * In::size);
}

/* Element by element, which of the first `there` vectors has what greatest_of found: the first, or with LAST the last
   one that does. NANS: NaN is what is sought where it is the greatest. Vector 0 where nothing but NaN is left out. */
template <class In, bool LAST, bool NANS, int COUNT, int SURE, int BYTES>
RDX_DEVICE Vector<BYTES> seek_vector(const Vector<BYTES> *got, const Vector<BYTES> &greatest, int there)
{
    Vector<BYTES> found = {};
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int u = LAST ? i : COUNT - 1 - i;
        if (u >= SURE && u >= there)
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
template <class In, bool LAST, int COUNT, int SURE = 1, int BYTES>
RDX_DEVICE Vector<BYTES> vector_of(const RdxRecipe &r, const Vector<BYTES> *got, const Vector<BYTES> &greatest,
                                   int there = COUNT)
{
    uint32_t numbers = 0xffffffffu;
#pragma unroll
    for (int w = 0; w < (BYTES + 3) / 4; w++)
        numbers &= where_equal<In>(greatest.word[w], greatest.word[w]);
    return numbers == 0xffffffffu || r.omit ? seek_vector<In, LAST, false, COUNT, SURE>(got, greatest, there)
                                            : seek_vector<In, LAST, true, COUNT, SURE>(got, greatest, there);
}

} // namespace rdx
#endif
