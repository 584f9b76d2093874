/* thread_rows: rows of 2 to 15 elements with nothing between them, but of bytes no power of two (packed_rows takes
   those), of what RDX_CUDA_HAS_THREAD_ROWS names. A thread has as many neighbouring rows as a vector has elements,
   which are N whole vectors, and their results leave together. Vectors come by way of the warp's shared memory: 32
   threads ask for 512 bytes at once, and each takes its own, which lie side by side. How long rows are is known where
   they are folded, so all of it is straight code. On an H200, through short_rows and this way (256 MB, us): sums of
   rows of 3, 5 and 7 f32 130, 91 and 80, and 84, 75 and 72; bf16 402, 265 and 212, and 86, 77 and 72; maxima of 128 MB
   of rows of 2, 7 and 15 i8 427, 155 and 95, and 72, 43 and 37. */
#include "greatest.cuh"
#include "grid.cuh"
#include "ring.cuh"

namespace rdx
{

/* lane[r] := T(h, r) from T(2h, .), for h from H down to 1, of a row of N elements, one a lane. By templates: of loops
   within loops nvcc kept the nodes of seven in local memory. */
template <class A, int N, int H> RDX_DEVICE void halve_row(typename A::Node *lane)
{
    if constexpr (H >= 1) {
#pragma unroll
        for (int r = 0; r < H; r++)
            if (r + H < N)
                lane[r] = join_full<A>(lane[r], lane[r + H], (N - 1 - r) / (2 * H) + 1, (N - 1 - r - H) / (2 * H) + 1);
        halve_row<A, N, H / 2>(lane);
    }
}

/* The node of row `row` of a thread's. */
template <class K, int N, class In, int MAP>
RDX_DEVICE typename K::A::Node node_of_row(const Problem &p, const uint32_t *word, int row)
{
    typedef typename K::A A;
    typename A::T x, y;
    if constexpr (compares_bytes<A, In>()) {
        /* Two at once, each in the upper half of a half; what lies below it does not count. */
        const uint32_t turn = p.recipe.flip ? 0xffffffffu : 0;
        auto pair = [&](int i) {
            const int a = row * N + i, b = i + 1 < N ? a + 1 : a;
            return __byte_perm(word[a / 4] ^ turn, word[b / 4] ^ turn, (4 + b % 4) << 12 | (a % 4) << 4);
        };
        uint32_t top = pair(0);
#pragma unroll
        for (int i = 2; i < N; i += 2)
            top = greater_halves(top, pair(i), In::type == RDX_TYPE_U8);
        top = greater_halves(top, top >> 16, In::type == RDX_TYPE_U8);
        read_top<A, In, MAP>(p.recipe, top ^ turn, x, y);
        return node_of_element<A>(x, y, 0);
    } else if constexpr (compares_numbers_alone<A, In>()) {
        Vector<K::size> lane[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            lane[i].word[0] = (uint32_t)bits_at<K::size>(word, (row * N + i) * K::size);
        Vector<K::size> greatest = greatest_of<In, N>(p.recipe, lane);
        read_element<A, In, MAP>(p.recipe, greatest.word, 0, x, y);
        return node_of_element<A>(x, y, 0);
    } else if constexpr (A::indexed) {
        typedef Winner<A> First;
        typename First::State state;
#pragma unroll
        for (int i = 0; i < N; i++) {
            read_element<A, In, MAP>(p.recipe, word, (row * N + i) * K::size, x, y);
            state = i == 0 ? First::begin(x, y, 0) : First::next(state, x, y, i, 0);
        }
        return A::winner(state, p.index_offset + (int64_t)state.line * p.dims[1].out);
    } else {
        typename A::Node lane[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            read_element<A, In, MAP>(p.recipe, word, (row * N + i) * K::size, x, y);
            lane[i] = node_of_element<A>(x, y, 0);
        }
        halve_row<A, N, N <= 4 ? 2 : N <= 8 ? 4 : 8>(lane);
        return lane[0];
    }
}

template <class K, int N> RDX_DEVICE void reduce_thread_rows(const Problem &p, uint32_t *shared)
{
    constexpr int E = K::elements, MOST = RDX_CUDA_THREAD_TILES(N), tile_rows = 32 * E;
    const int rows = (int)p.shape.group_outputs / (RDX_CUDA_THREADS / 32); /* of a warp */
    const int thread = thread_of_warp();
    int64_t first = ((int64_t)blockIdx.x * (RDX_CUDA_THREADS / 32) + warp_of_block()) * rows;
    int left = p.outputs - first < rows ? (int)(p.outputs - first) : rows;
    SharedAt tile = shared_at(shared) + warp_of_block() * (MOST * N * line_bytes);
    if (left > 0)
        copy_stretch<MOST * N>(tile, p.in + first * (N * K::size), left * (N * K::size), thread);
    commit_copies();
    wait_copies<0>();
    __syncwarp();
    const RdxCudaDim &step = p.dims[0];
    int64_t output = first + thread * E;
    SharedAt own = tile + thread * (N * 16);
    left -= thread * E;
#pragma unroll 1
    for (; left > 0; left -= tile_rows, output += tile_rows, own += N * line_bytes) {
        uint32_t word[4 * N];
        typename K::A::Node node[E];
#pragma unroll
        for (int v = 0; v < N; v++) {
            uint4 raw = load_shared(own + v * 16);
            word[4 * v] = raw.x, word[4 * v + 1] = raw.y, word[4 * v + 2] = raw.z, word[4 * v + 3] = raw.w;
        }
        with_known<K>(p.recipe, [&](auto in, auto map) {
            typedef decltype(in) In;
            if constexpr (K::size > 1 || (In::integral && In::type != RDX_TYPE_BOOL)) {
#pragma unroll
                for (int row = 0; row < E; row++)
                    node[row] = node_of_row<K, N, In, decltype(map)::value>(p, word, row);
            }
        });
        Target target = {p.out + output * step.out, p.out2 + output * step.out2};
        store_vector<K>(p, target, step, node, left < E ? left : E, together<K>(p, step));
    }
}

/* By how many elements there are, from N on. */
template <class K, int N> RDX_DEVICE void reduce_rows_of(const Problem &p, uint32_t *shared)
{
    if constexpr (N <= RDX_CUDA_MOST_THREAD_ROW(K::size, K::A::words)) {
        if constexpr (RDX_CUDA_HAS_THREAD_ROW(K::size, K::A::words, N)) {
            if (p.recipe.count == N)
                return reduce_thread_rows<K, N>(p, shared);
        }
        reduce_rows_of<K, N + 1>(p, shared);
    }
}

template <class K>
constexpr bool comes_in_threads = RDX_CUDA_HAS_THREAD_ROWS(K::A::algebra, K::A::work, K::A::unit, K::size);

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, K::A::words == 1 && K::size > 1 ? 3 : 2)
    thread_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_rows_of<K, 2>(p, shared);
}

} // namespace rdx

#define RDX_KERNEL_NAME thread_rows
#define RDX_COMES comes_in_threads
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
