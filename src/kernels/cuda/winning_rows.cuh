/* Which element of a row is the greatest, where keys are 32 bits: a warp keeps one key, the greatest so far, and where
   it stands. What a chunk's own greatest is takes one comparison a word (greatest.cuh, bytes.cuh) and a reduction over
   the warp; where it stands is sought only if it is greater, from the last word to the first, and only by the threads
   that have it. Of n chunks in any order some log n are.

   A vector may hold elements that are not the row's: those before it, of a row that starts anywhere, and those behind
   its end. They become copies of the first element of the row in that vector, so that nothing is greater than what
   there is, and of equal ones the first stands where it did. */
#ifndef RDX_KERNELS_CUDA_WINNING_ROWS_CUH
#define RDX_KERNELS_CUDA_WINNING_ROWS_CUH

#include "chunk_place.cuh"

namespace rdx
{

/* Whether the value goes with the index. */
template <class A> RDX_DEVICE constexpr bool has_value()
{
    return A::algebra == RDX_ALGEBRA_MAXARG || A::algebra == RDX_ALGEBRA_MAXARGL;
}

/* Elements from byte `from` of a vector to byte `to`, and of the others the one that is there. */
template <int SIZE> RDX_DEVICE void keep_bytes(Vector<16> &v, int from, int to)
{
    uint32_t copy = v.word[0];
#pragma unroll
    for (int w = 1; w < 4; w++)
        copy = from >= 4 * w ? v.word[w] : copy;
    copy >>= 8 * (from & 3);
    if (SIZE < 4)
        copy = __byte_perm(copy, 0, SIZE == 2 ? 0x1010 : 0);
#pragma unroll
    for (int w = 0; w < 4; w++) {
        int first = from - 4 * w, behind = to - 4 * w;
        uint32_t keep = first >= 4 || behind <= 0 ? 0 : 0xffffffffu;
        keep = first > 0 ? keep << 8 * (first & 3) : keep;
        keep = behind < 4 ? keep & ((1u << 8 * (behind & 3)) - 1) : keep;
        v.word[w] = (v.word[w] & keep) | (copy & ~keep);
    }
}

/* A thread's part of a chunk of at most LINES lines. Of rows that start anywhere, what a vector holds of the chunk
   before is the row's too, and may win: but for the first chunk nothing before it is foreign, and but for the last one
   no line has to be completed. */
template <class K, RowForm FORM, int LINES> struct WinnerOfChunk {
    typedef typename K::A A;
    typedef typename A::T T;
    static constexpr int E = K::elements, lanes = 32 * E, log2 = log2_constant(lanes);
    static constexpr int ENDS = FORM == ROW_SHIFTED ? 2 : 1;

    ChunkPlace place;
    int n, whole, ends; /* elements; lines; vectors behind those that hold elements of the row */
    Vector<16> got[LINES], last[ENDS];

    __device__ __forceinline__ void ask(const Problem &p, const ChunkPlace &own, int elements)
    {
        place = own;
        n = elements;
        whole = n >> log2;
        bool goes_on = FORM == ROW_SHIFTED && place.chunk + 1 < p.shape.chunks;
        int rest = goes_on ? 0 : (n & (lanes - 1)) - place.slot;
        ends = rest <= 0 ? 0 : ENDS == 2 && rest > lanes ? 2 : 1;
#pragma unroll
        for (int line = 0; line < LINES; line++)
            if (line < whole)
                load<16>(got[line].word, line_of<K, FORM>(p, place, line));
#pragma unroll
        for (int i = 0; i < ENDS; i++)
            if (i < ends)
                load<16>(last[i].word, line_of<K, FORM>(p, place, whole + i));
    }

    /* The greatest element, in the lower bits of a word, of bytes as GreatestBytes has it, and its keys; nothing where
       there is none. */
    template <class In, int MAP>
    __device__ __forceinline__ void take_greatest(const Problem &p, uint32_t &top, T &x, T &y)
    {
        if (!has_any())
            return;
        if (FORM == ROW_SHIFTED && whole > 0)
            keep_own(got[0], 0);
#pragma unroll
        for (int i = 0; i < ENDS; i++)
            if (i < ends)
                keep_own(last[i], whole + i);
        if constexpr (K::size == 1) {
            with_omit<In>(p.recipe, [&](auto omit) RDX_INLINED { top = greatest_byte<In, decltype(omit)::value>(p); });
            read_top<A, In, MAP>(p.recipe, top, x, y);
        } else {
            top = greatest<In>(p);
            read_element<A, In, MAP>(p.recipe, &top, 0, x, y);
        }
    }

    /* Which element of the chunk is the first that is like it; some number where there is none. */
    template <class In> __device__ __forceinline__ int seek(const Problem &p, uint32_t top) const
    {
        const Sought<In> sought(p.recipe, top);
        return sought.nans ? seek_first<In, true>(p, sought) : seek_first<In, false>(p, sought);
    }

    __device__ __forceinline__ bool has_any() const
    {
        return whole > 0 || ends > 0;
    }

  private:
    __device__ __forceinline__ void keep_own(Vector<16> &v, int number) const
    {
        int first = place.slot + number * lanes, end = n - first;
        int before = FORM == ROW_SHIFTED && place.chunk == 0 && first < 0 ? -first : 0;
        if (before > 0 || end < E)
            keep_bytes<K::size>(v, before * K::size, (end < E ? end : E) * K::size);
    }

    /* f(vector, number), from the last one to the first. */
    template <class F> __device__ __forceinline__ void each_vector(F f) const
    {
#pragma unroll
        for (int i = ENDS - 1; i >= 0; i--)
            if (i < ends)
                f(last[i], whole + i);
#pragma unroll
        for (int line = LINES - 1; line >= 0; line--)
            if (line < whole)
                f(got[line], line);
    }

    template <class In, bool OMIT> __device__ __forceinline__ uint32_t greatest_byte(const Problem &p) const
    {
        GreatestBytes<In> bytes(p.recipe, whole > 0 ? got[0].word[0] : last[0].word[0]); /* a byte may count twice */
        each_vector([&](const Vector<16> &v, int) RDX_INLINED {
#pragma unroll
            for (int w = 0; w < 4; w++)
                bytes.take(v.word[w], OMIT);
        });
        return bytes.top(OMIT);
    }

    template <class In> __device__ __forceinline__ uint32_t greatest(const Problem &p) const
    {
        Vector<16> both[1 + ENDS];
        both[0] = whole > 0 ? greatest_of<In, LINES>(p.recipe, got, whole) : last[0];
#pragma unroll
        for (int i = 0; i < ENDS; i++)
            both[1 + i] = i < ends ? last[i] : both[0];
        return greatest_in<In>(p.recipe, greatest_of<In, 1 + ENDS>(p.recipe, both));
    }

    /* The vector, and then in that one, which is read again: to choose its words from registers takes as long as to
       find it. */
    template <class In, bool NANS>
    __device__ __forceinline__ int seek_first(const Problem &p, const Sought<In> &sought) const
    {
        int number = 0; /* where nothing is but NaN that is left out: any */
        each_vector([&](const Vector<16> &v, int own) RDX_INLINED {
            uint32_t here = 0;
#pragma unroll
            for (int w = 0; w < 4; w++)
                here |= sought.template where_in<NANS>(v.word[w]);
            number = here ? own : number;
        });
        Vector<16> v;
        load<16>(v.word, line_of<K, FORM>(p, place, number));
        keep_own(v, number);
        return place.slot + number * lanes + element_like(v, sought, false);
    }
};

/* The winners of a chunk each of ROWS rows at once. What the elements are is asked for all rows together, so that none
   waits for another, and in every turn: of a loop for each dtype all had registers for their vectors at once. */
template <class K, RowForm FORM, int ROWS> struct Winners {
    typedef typename K::A A;
    typedef typename A::T T;

    const Problem &p;
    WinnerOfChunk<K, FORM, chunk_lines / ROWS> part[ROWS];
    /* Keys of the greatest, of this thread's at first: of the value, where -0 is less than +0, and of what the index is
       of. */
    T x[ROWS], y[ROWS];

    __device__ __forceinline__ explicit Winners(const Problem &problem) : p(problem)
    {
    }

    /* winner(r) is told which element of the chunk has the greatest key of row r, if wanted(r, key). */
    template <class Wanted, class Found> __device__ __forceinline__ void decide(Wanted wanted, Found winner)
    {
        uint32_t top[ROWS], holds = 0; /* bit r: this thread has the greatest of row r */
        bool any = false;
        each_constant<ROWS>([&](auto r) RDX_INLINED {
            constexpr int R = decltype(r)::value;
            x[R] = y[R] = INT32_MIN;
            top[R] = 0;
        });
        with_known<K>(p.recipe, [&](auto in, auto map) RDX_INLINED {
            each_constant<ROWS>([&](auto r) RDX_INLINED {
                constexpr int R = decltype(r)::value;
                part[R].template take_greatest<decltype(in), decltype(map)::value>(p, top[R], x[R], y[R]);
            });
        });
        each_constant<ROWS>([&](auto r) RDX_INLINED {
            constexpr int R = decltype(r)::value;
            T own = y[R];
            y[R] = greatest_in_warp(own);
            holds |= part[R].has_any() && own == y[R] ? 1u << R : 0;
            if constexpr (has_value<A>())
                x[R] = greatest_in_warp(x[R]);
            any = any || wanted(R, y[R]);
        });
        if (!any)
            return;
        int found[ROWS];
        with_known<K>(p.recipe, [&](auto in, auto) RDX_INLINED {
            each_constant<ROWS>([&](auto r) RDX_INLINED {
                constexpr int R = decltype(r)::value;
                found[R] = INT32_MAX;
                if (holds >> R & 1)
                    found[R] = part[R].template seek<decltype(in)>(p, top[R]);
            });
        });
        each_constant<ROWS>([&](auto r) RDX_INLINED {
            constexpr int R = decltype(r)::value;
            winner(R, ~greatest_in_warp(~found[R])); /* the least */
        });
    }
};

/* The node of what was found: x and y as in Winners. What stands before a row is like its first element. */
template <class A>
RDX_DEVICE typename A::Node node_of_winner(const Problem &p, typename A::T x, typename A::T y, int64_t winner)
{
    int64_t step = p.reduce_rank == 1 ? p.dims[p.keep_rank].out : 0;
    winner = winner > 0 ? winner : 0;
    return A::element(has_value<A>() ? x : y, y,
                      p.index_offset + (p.reduce_rank <= 1 ? winner * step : seek_reduced(p, winner).out));
}

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp; see straight_run. */
template <class K, RowForm FORM>
RDX_DEVICE typename K::A::Node winning_run(const Problem &p, const unsigned char *row, int64_t first, int chunks,
                                           int thread)
{
    typedef typename K::A::T T;
    constexpr int lanes = 32 * K::elements, chunk_log2 = log2_constant(chunk_lines * lanes);
    T best = INT32_MIN, value = INT32_MIN;
    int64_t winner = 0;
    ChunkPlace place = place_in<K, FORM>(row, first, thread);
    Winners<K, FORM, 1> chunk(p);
#pragma unroll 1
    for (int i = 0; i < chunks; i++, place.at += chunk_bytes, place.chunk++) {
        chunk.part[0].ask(p, place, (int)elements_of_chunks(p, chunk_log2, first + i, 1));
        chunk.decide([&](int, T greatest) { return i == 0 || greatest > best; },
                     [&](int, int found) { winner = place.chunk * (chunk_lines * lanes) + found; });
        best = best > chunk.y[0] ? best : chunk.y[0];
        value = value > chunk.x[0] ? value : chunk.x[0];
    }
    return node_of_winner<typename K::A>(p, value, best, winner);
}

} // namespace rdx
#endif
