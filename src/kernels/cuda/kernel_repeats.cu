/* repeats: one element over and over, because every reduced stride is 0. A thread has the tree of an output to itself,
   and makes it from one node of each sort: lanes of a chunk differ by an element at most, so on every level of it there
   are two sorts of nodes, the first few and the rest; whole chunks are all alike, and the last one is the other sort
   there. n elements take some 34 pushes and 2 log2 n joins: 65536 sums of 4096 copies of a f32 4.0 us on an H200, where
   each element on its own took 224.

   Where results are copied, neighbouring threads have the same output and share its copies. */
#include "grid.cuh"

namespace rdx
{

template <class A> struct Repeated {
    typedef typename A::T T;
    typedef typename A::Node Node;

    T x, y;
    int64_t index; /* the lowest, which is the origin's */
    int lanes_log2;

    /* The node of n elements, one at least. */
    __device__ __forceinline__ Node tree(int64_t n) const
    {
        const int chunk_log2 = lanes_log2 + 4;
        int64_t count = ((n - 1) >> chunk_log2) + 1, alike = (int64_t)1 << chunk_log2; /* elements of a whole node */
        int64_t rest = n - ((count - 1) << chunk_log2);                                /* of the last one */
        Node whole = unset<A>(), last = unset<A>();
#pragma unroll 1
        for (int i = count > 1 ? 0 : 1; i < 2; i++) {
            whole = last;
            last = chunk((int)(i == 0 ? alike : rest));
        }
#pragma unroll 1
        for (; count > 1; count = (count + 1) >> 1) {
            if ((count & 1) == 0) { /* else the last one moves up */
                last = join_full<A>(whole, last, alike, rest);
                rest += alike;
            }
            whole = join_full<A>(whole, whole, alike, alike);
            alike *= 2;
        }
        return last;
    }

  private:
    __device__ __forceinline__ Node chunk(int n) const
    {
        const int lines = n >> lanes_log2;
        Node longer, shorter;
        lane(lines, longer, shorter);
        int first = n - (lines << lanes_log2); /* nodes that are longer */
        int64_t more = lines + 1, fewer = lines;
#pragma unroll 1
        for (int h = 1 << lanes_log2 >> 1; h >= 1; h /= 2) { /* T(h, r) = join(T(2h, r), T(2h, r + h)) */
            bool longer_twice = first > h;
            Node mixed = join_nodes<A>(longer, shorter, more, fewer);
            int64_t each = longer_twice ? more : fewer;
            Node same = longer_twice ? longer : shorter;
            if (each > 0)
                same = join_full<A>(same, same, each, each);
            longer = longer_twice ? same : mixed;
            shorter = longer_twice ? mixed : same;
            first -= longer_twice ? h : 0;
            int64_t both = more + fewer;
            more = longer_twice ? 2 * more : both;
            fewer = longer_twice ? both : 2 * fewer;
        }
        return first > 0 ? longer : shorter;
    }

    /* Lanes of lines + 1 and of `lines` elements, the latter unset where that is none. */
    __device__ __forceinline__ void lane(int lines, Node &longer, Node &shorter) const
    {
        if constexpr (A::two_passes) {
            T m = A::greater(A::lowest(), x), s = 0;
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                s = A::add(s, x, m);
            shorter = {m, s};
            longer = {m, A::add(s, x, m)};
        } else {
            typename Step<A>::State state = Step<A>::begin(x, y, index);
            shorter = unset<A>();
#pragma unroll 1
            for (int line = 1; line <= lines; line++) {
                if (line == lines)
                    shorter = Step<A>::end(state, lines);
                state = Step<A>::next(state, x, y, line, index);
            }
            longer = Step<A>::end(state, lines + 1);
        }
    }
};

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) repeats_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    const RdxCudaShape &s = p.shape;
    const int helpers = RDX_CUDA_THREADS / s.width, helper = (int)threadIdx.x & (helpers - 1);
    const int column = (int)threadIdx.x >> log2_of(helpers);
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        if (column >= item.outputs)
            continue;
        Vector<K::bytes> raw;
        Repeated<A> repeated = {};
        load_vector<K>(raw, p.in + seek_output(p, item.first_output + column).in, 1, p.recipe.in);
        with_input<K>(p.recipe.in,
                      [&](auto in) { read_element<A, decltype(in)>(p.recipe, raw.word, 0, repeated.x, repeated.y); });
        repeated.index = p.index_offset;
        repeated.lanes_log2 = log2_of((int)p.recipe.lanes);
        deliver<A>(p, item, column, repeated.tree(p.recipe.count), helper, helpers);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME repeats
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
