/* One thread folds lanes: the at most 16 elements of each, line 0 first, for a vector of neighbouring lanes or of neighbouring
   outputs. Loads of a batch of lines are issued before the first is folded: 16 vectors of up to 4 elements, 8 of 8, 4 of 16, so
   that a batch is never more than 64 elements of code. */
#ifndef RDX_KERNELS_CUDA_THREAD_CUH
#define RDX_KERNELS_CUDA_THREAD_CUH

#include "vec.cuh"

namespace rdx {

template <class K> struct Fold {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements;
    static constexpr int batch = A::two_passes ? 16 : 64 / E < 16 ? 64 / E : 16;

    template <class Address>
    static __device__ __forceinline__ void run(const Problem &p, int lines, int extra, int valid, Address address, Node *node)
    {
        if constexpr (A::two_passes)
            two_passes(p, lines, extra, valid, address, node);
        else if constexpr (A::indexed)
            with_index(p, lines, extra, valid, address, node);
        else
            plain(p, lines, extra, valid, address, node);
    }

  private:
    template <class Address>
    static __device__ __forceinline__ void load_batch(const Problem &p, Vector<K::bytes> *raw, int first, int lines, int extra, int valid, Address address)
    {
#pragma unroll
        for (int u = 0; u < batch; u++) {
            int line = first + u, have = line < lines ? valid : line == lines ? extra : 0;
            if (have > 0)
                load_vector<K>(raw[u], address(line).in, have, p.recipe.in);
        }
    }

    template <class Address>
    static __device__ __forceinline__ void plain(const Problem &p, int lines, int extra, int valid, Address address, Node *node)
    {
        typename A::Lane lane[E];
        int all = lines + (extra > 0);
#pragma unroll 1
        for (int first = 0; first < all; first += batch) {
            Vector<K::bytes> raw[batch];
            load_batch(p, raw, first, lines, extra, valid, address);
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int u = 0; u < batch; u++) {
                    int line = first + u;
                    if (line >= all)
                        break;
                    int have = line < lines ? E : extra;
#pragma unroll
                    for (int e = 0; e < E; e++) {
                        T x, y;
                        read_element<A, decltype(in)>(p.recipe, raw[u].word, e * K::size, x, y);
                        if (E == 1 || e < have)
                            lane[e] = line == 0 ? A::lift(x, y) : A::push(lane[e], x, y, line);
                    }
                }
            });
        }
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = A::seal(lane[e], (double)(lines + (e < extra)));
    }

    template <class Address>
    static __device__ __forceinline__ void with_index(const Problem &p, int lines, int extra, int valid, Address address, Node *node)
    {
        int all = lines + (extra > 0);
#pragma unroll 1
        for (int first = 0; first < all; first += batch) {
            Vector<K::bytes> raw[batch];
            load_batch(p, raw, first, lines, extra, valid, address);
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int u = 0; u < batch; u++) {
                    int line = first + u;
                    if (line >= all)
                        break;
                    int have = line < lines ? E : extra;
                    auto place = address(line);
#pragma unroll
                    for (int e = 0; e < E; e++) {
                        T x, y;
                        read_element<A, decltype(in)>(p.recipe, raw[u].word, e * K::size, x, y);
                        Node next = A::element(x, y, place.index + e * place.across);
                        if (E == 1 || e < have)
                            node[e] = line == 0 ? next : A::join(node[e], next, NULL);
                    }
                }
            });
        }
    }

    /* logsumexp: the maximum, then the sum, over the same 16 vectors. */
    template <class Address>
    static __device__ __forceinline__ void two_passes(const Problem &p, int lines, int extra, int valid, Address address, Node *node)
    {
        int all = lines + (extra > 0);
        Vector<K::bytes> raw[16];
        load_batch(p, raw, 0, lines, extra, valid, address);
        with_input<K>(p.recipe.in, [&](auto in) {
            T m[E], base[E], s[E];
#pragma unroll
            for (int e = 0; e < E; e++)
                m[e] = A::lowest();
#pragma unroll
            for (int u = 0; u < 16; u++) {
                if (u >= all)
                    break;
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    read_element<A, decltype(in)>(p.recipe, raw[u].word, e * K::size, x, y);
                    if (E == 1 || e < (u < lines ? E : extra))
                        m[e] = A::greater(m[e], x);
                }
            }
#pragma unroll
            for (int e = 0; e < E; e++) {
                base[e] = A::base(m[e]);
                s[e] = 0;
            }
#pragma unroll
            for (int u = 0; u < 16; u++) {
                if (u >= all)
                    break;
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    read_element<A, decltype(in)>(p.recipe, raw[u].word, e * K::size, x, y);
                    if (E == 1 || e < (u < lines ? E : extra))
                        s[e] = A::add(s[e], x, base[e]);
                }
            }
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = {m[e], s[e]};
        });
    }
};

/* Where a line's vector lies, and the logical index of its first element. */
struct At {
    const unsigned char *in;
    int64_t index, across;
};

} // namespace rdx
#endif
