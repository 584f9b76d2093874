/* A thread's stream of vectors: the ring in shared memory through which everything is read that lies in vectors of 16 bytes, and the
   lanes that are folded from it.

   A source knows which vector comes next: source.issue(slot) asks for it and moves on. The ring is the thread's own: slots of its warp
   lie side by side, so that 32 threads read 512 bytes without bank conflicts, but no thread reads what another copied, and there is
   no barrier. DEPTH - 1 groups are on their way all the time, across chunks, rows and outputs: the 16 warps of a multiprocessor have
   96 KiB in flight, whatever they do with what has come, and need no registers for it. A bare kernel of this sort, 24 warps of it,
   read 64K x 4K f32 at 4.48 TB/s on an H200 where a plain read took 4.56.

   A warp has about 600 cycles for a vector before the memory would wait for it, but its multiprocessor has 104 instructions only: what
   is not arithmetic is done once for a group of four vectors (once for each, 64K x 4K f32 took 366 us). */
#ifndef RDX_KERNELS_CUDA_RING_CUH
#define RDX_KERNELS_CUDA_RING_CUH

#include "warp.cuh"

namespace rdx
{

/* Vectors of a group: they are asked for, waited for and folded together. */
static constexpr int group_vectors = RDX_CUDA_GROUP;

/* logsumexp looks at the up to five groups of a lane twice. */
template <class A> RDX_DEVICE constexpr int ring_depth()
{
    return A::two_passes ? RDX_CUDA_RING_TWICE : RDX_CUDA_RING;
}

/* Vector u of a group. */
RDX_DEVICE Vector<16> take(SharedAt group, int u)
{
    uint4 v = load_shared(group + u * line_bytes);
    return {{v.x, v.y, v.z, v.w}};
}

template <int DEPTH> struct Ring {
    static constexpr int group_bytes = line_bytes * group_vectors;

    SharedAt slots; /* of this thread */
    int group = 0;

    /* `shared`: the rings of a block, one warp after the other. */
    __device__ __forceinline__ Ring(uint32_t *shared, int thread)
        : slots(kept(shared_at(shared) + warp_of_block() * group_bytes * DEPTH + thread * 16))
    {
    }

    template <class Source> __device__ __forceinline__ void start(Source &source)
    {
#pragma unroll 1
        for (int i = 0; i < DEPTH - 1; i++) {
            source.issue(slots + i * group_bytes);
            commit_copies();
        }
    }

    /* The next group: where it lies until the call after. The one that is asked for anew takes the place of the one before it, whose
       vectors have been used. With `got`, its vectors, loaded while the copies are asked for. */
    template <class Source> __device__ __forceinline__ SharedAt next_group(Source &source, Vector<16> *got = NULL)
    {
        SharedAt at = slots + group * group_bytes;
        wait_copies<DEPTH - 2>();
        if (got) {
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                got[u] = take(at, u);
        }
        source.issue(slots + (group == 0 ? DEPTH - 1 : group - 1) * group_bytes);
        commit_copies();
        group = group + 1 == DEPTH ? 0 : group + 1;
        return at;
    }

    /* The groups of a lane are there to be peeked at, before next gives them out. */
    static constexpr int most_peeked = 16 / group_vectors + 1;
    __device__ __forceinline__ void await_lane() const
    {
        wait_copies<(DEPTH - 1 > most_peeked ? DEPTH - 1 - most_peeked : 0)>();
    }
    __device__ __forceinline__ SharedAt peek(int ahead) const
    {
        return slots + (group + ahead < DEPTH ? group + ahead : group + ahead - DEPTH) * group_bytes;
    }
};

/* Where a vector stands: element `first` of its chunk is its first, or would be (rows start and end anywhere); logical indices. */
struct Stand {
    int first;
    int64_t index, across;
};

/* Folds the vectors of a chunk that are this thread's. ROWS: the elements of a vector are neighbouring lanes, line after line, of a
   chunk of n elements, and those before element 0 and from n on are not there. Else they are neighbouring outputs and all there. */
template <class K, bool ROWS> struct Lanes {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, G = group_vectors;

    const Problem &p;
    int n;

    /* stand(v): where vector v stands; count(e): how many elements lane e of the vector has. */
    template <class R, class Source, class Place, class Count>
    __device__ __forceinline__ void run(R &ring, Source &source, int vectors, Place stand, Count count,
                                        Node *node) const
    {
        if constexpr (A::two_passes) {
            T m[E], base[E];
#pragma unroll
            for (int e = 0; e < E; e++) {
                m[e] = A::lowest();
                node[e].s = 0;
            }
            ring.await_lane();
#pragma unroll 1
            for (int v = 0; v < vectors; v += G)
                each(ring.peek(v / G), vectors - v, v, stand, [&](int e, T x) { m[e] = A::greater(m[e], x); });
#pragma unroll
            for (int e = 0; e < E; e++) {
                node[e].m = m[e];
                base[e] = A::base(m[e]);
            }
#pragma unroll 1
            for (int v = 0; v < vectors; v += G)
                each(ring.next_group(source), vectors - v, v, stand,
                     [&](int e, T x) { node[e].s = A::add(node[e].s, x, base[e]); });
        } else {
            typename Step<A>::State state[E];
            clear_lanes<A>(state, E);
            Vector<16> got[G];
#pragma unroll 1
            for (int v = 0; v < vectors; v += G) {
                SharedAt at = ring.next_group(source, got);
                bool done = false;
                if (is_whole(vectors - v, v, stand))
                    done = with_map<A>(p.recipe, [&](auto map) { whole<decltype(map)::value>(state, got, v, stand); });
                if (!done)
                    part(state, at, vectors - v, v, stand);
            }
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = Step<A>::end(state[e], A::counted ? count(e) : 0);
        }
    }

    /* The same for a lane of few vectors, from `first` on in a group that is there. */
    template <class Place, class Count>
    __device__ __forceinline__ void run_here(SharedAt group, int first, int vectors, Place stand, Count count,
                                             Node *node) const
    {
        SharedAt at = group + first * line_bytes;
        if constexpr (A::two_passes) {
            T base[E];
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = {A::lowest(), 0};
            each(at, vectors, 0, stand, [&](int e, T x) { node[e].m = A::greater(node[e].m, x); });
#pragma unroll
            for (int e = 0; e < E; e++)
                base[e] = A::base(node[e].m);
            each(at, vectors, 0, stand, [&](int e, T x) { node[e].s = A::add(node[e].s, x, base[e]); });
        } else {
            typename Step<A>::State state[E];
            clear_lanes<A>(state, E);
            part(state, at, vectors, 0, stand);
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = Step<A>::end(state[e], A::counted ? count(e) : 0);
        }
    }

  private:
    /* A group of which `count` vectors are left, from vector v of the lane on, is all there. */
    template <class Place> __device__ __forceinline__ bool is_whole(int count, int v, Place stand) const
    {
        return count >= G && (!ROWS || (stand(v).first >= 0 && stand(v + G - 1).first + E <= n));
    }

    /* Calls f(e, x, y, at, line) for the elements that are there, of at most `count` vectors of a group. */
    template <class Place, class F>
    __device__ __forceinline__ void one_by_one(SharedAt group, int count, int v, Place stand, F &&f) const
    {
#pragma unroll 1
        for (int u = 0; u < G && u < count; u++) {
            Vector<16> raw = take(group, u);
            Stand at = stand(v + u);
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    read_element<A, decltype(in)>(p.recipe, raw.word, e * K::size, x, y);
                    if (!ROWS || (unsigned)(at.first + e) < (unsigned)n)
                        f(e, x, y, at, v + u);
                }
            });
        }
    }

    /* Calls f(e, x) for the elements of `count` vectors of a group, from vector v of the lane on. */
    template <class Place, class F>
    __device__ __forceinline__ void each(SharedAt group, int count, int v, Place stand, F &&f) const
    {
        if (is_whole(count, v, stand)) {
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int u = 0; u < G; u++) {
                    Vector<16> raw = take(group, u);
#pragma unroll
                    for (int e = 0; e < E; e++) {
                        T x, y;
                        read_element<A, decltype(in)>(p.recipe, raw.word, e * K::size, x, y);
                        f(e, x);
                    }
                }
            });
            return;
        }
        one_by_one(group, count, v, stand, [&](int e, T x, T, const Stand &, int) { f(e, x); });
    }

    /* A whole group and a frequent map: what there is most of. */
    template <int MAP, class Place>
    __device__ __forceinline__ void whole(typename Step<A>::State *state, const Vector<16> *got, int v,
                                          Place stand) const
    {
        with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
            for (int u = 0; u < G; u++) {
                const Vector<16> &raw = got[u];
                Stand at = A::indexed ? stand(v + u) : Stand();
                bool begins = u == 0 && v == 0;
                if constexpr (counts_bytes<A, decltype(in), MAP>()) {
                    count_bytes<decltype(in), MAP>(state, raw.word, begins);
                } else {
#pragma unroll
                    for (int e = 0; e < E; e++) {
                        T x, y;
                        read_element<A, decltype(in), MAP>(p.recipe, raw.word, e * K::size, x, y);
                        int64_t index = at.index + e * at.across;
                        if (begins)
                            state[e] = Step<A>::begin(x, y, index);
                        else
                            state[e] = Step<A>::next(state[e], x, y, v + u, index);
                    }
                }
            }
        });
    }

    /* Sums of 8-bit integers and of truth values take four elements at once: which lane of the thread takes an element does not
       matter, for they are exact. */
    template <class B, class In, int MAP> static __device__ __forceinline__ constexpr bool counts_bytes()
    {
        return ROWS && K::size == 1 && B::algebra == RDX_ALGEBRA_ISUM && In::integral && E == 16;
    }
    template <class In, int MAP>
    static __device__ __forceinline__ void count_bytes(typename Step<A>::State *state, const uint32_t *word,
                                                       bool begins)
    {
#pragma unroll
        for (int e = 0; e < E; e++)
            state[e] = begins ? A::lift(0, 0) : state[e];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            bool truth = MAP == RDX_MAP_NONZERO || In::type == RDX_TYPE_BOOL;
            uint32_t bytes = truth ? __vcmpne4(word[w], 0) & 0x01010101u : word[w];
            state[w].s = In::type == RDX_TYPE_I8 && !truth ? __dp4a((int)bytes, 0x01010101, (int)state[w].s)
                                                           : (int)__dp4a(bytes, 0x01010101u, (unsigned)state[w].s);
        }
    }

    /* Any group. */
    template <class Place>
    __device__ __forceinline__ void part(typename Step<A>::State *state, SharedAt group, int count, int v,
                                         Place stand) const
    {
        one_by_one(group, count, v, stand, [&](int e, T x, T y, const Stand &at, int line) {
            int64_t index = at.index + e * at.across;
            bool begins = ROWS ? at.first + e < 32 * E : line == 0;
            state[e] = begins ? Step<A>::begin(x, y, index) : Step<A>::next(state[e], x, y, line, index);
        });
    }
};

} // namespace rdx
#endif
