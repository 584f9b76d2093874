/* short_columns: columns of at most 16 rows, of indices 32. A thread has all rows of its columns in flight; what it
   does for an output weighs more than what it reads, so of fewer rows it has more columns, several outputs are made and
   stored at once, and a block's columns follow from one place. Elements of four bytes and more come one by one,
   neighbours by neighbouring threads, wherever rows start: that is as fast as vectors of 16 bytes, or faster (H200, us:
   sum f32 3 x 11184768 51, 44, f64 233, 50, var f32 86, 58). Smaller ones come in aligned vectors, of which a block may
   have several runs (sum bf16 20000 x 2 x 1024 97 where it kept to one, 38 so), or, of rows that start anywhere, by the
   two aligned words around four bytes of them (3 x 22369600 54, 62; an element a thread 731). Outputs that do not lie
   in long runs of packed columns are sought one by one; so are those of rare maps, for which there is one copy of the
   tree. */
#include "short_columns.cuh"

namespace rdx
{

template <class K> using NarrowColumns = Spec<typename K::A, K::size, RDX_CUDA_MANY_SHORT_COLUMNS(K::size)>;
template <class K> using SoughtColumns = Spec<typename K::A, K::size, RDX_CUDA_SOUGHT_COLUMNS(K::size)>;

/* Of 17 rows and more. */
template <class K, ShortForm FORM, int ROWS> RDX_DEVICE void reduce_sought(const Problem &p)
{
    if constexpr (ROWS < RDX_CUDA_SOUGHT_ROWS) {
        if ((int)p.recipe.count > ROWS)
            return reduce_sought<K, FORM, ROWS + 4>(p);
    }
    static_assert(RDX_CUDA_SHORT_TILES(ROWS, K::bytes, RDX_CUDA_FLIGHT) == 1, "as of 32, for which plans cut");
    reduce_tiles<K, FORM, ROWS>(p);
}

template <class K, ShortForm FORM> RDX_DEVICE void reduce_short(const Problem &p)
{
    constexpr bool seeks = RDX_CUDA_SEEKS_ROWS(K::A::indexed, K::A::work, K::size);
    constexpr int flight = RDX_CUDA_HAS_DEEP_COLUMNS(K::A::words) ? RDX_CUDA_DEEP_FLIGHT : RDX_CUDA_FLIGHT;
    const int n = (int)p.recipe.count;
    if (n <= RDX_CUDA_FEW_ROWS)
        reduce_few<K, FORM>(p);
    else if (!seeks || n <= RDX_CUDA_SHORT_ROWS)
        reduce_tiles<NarrowColumns<K>, FORM, RDX_CUDA_SHORT_ROWS, flight>(p);
    else if constexpr (seeks)
        reduce_sought<SoughtColumns<K>, FORM, RDX_CUDA_SHORT_ROWS + 4>(p);
}

template <class K> constexpr bool comes_in_short_columns = !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) short_columns_kernel(const __grid_constant__ Problem p)
{
    constexpr bool words = RDX_CUDA_HAS_SMALL_COLUMNS(K::size),
                   pieces = !words || RDX_CUDA_HAS_SMALL_VECTORS(K::A::work);
    if (p.shape.gathers) {
        reduce_tiles<NarrowColumns<K>, SHORT_SOUGHT, RDX_CUDA_SHORT_ROWS>(p);
        return;
    }
    if constexpr (words)
        if (!pieces || p.shape.shifted) {
            reduce_short<K, SHORT_WORDS>(p);
            return;
        }
    if constexpr (pieces)
        reduce_short<K, SHORT_PIECES>(p);
}

} // namespace rdx

#define RDX_KERNEL_NAME short_columns
#define RDX_COMES comes_in_short_columns
#define RDX_ELEMENTS(size, words) RDX_CUDA_SHORT_COLUMNS(size, words)
#include "stamp.inc"
