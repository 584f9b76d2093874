/* The plain reading of the tree, one output and one element at a time, slow and short. It shares with the fast paths
   what an element becomes (convert, map) and the algebra's lift, push and join, never their order, their addresses or
   their loops:

     lane(j)  = elements j, j + L, j + 2L, ... of a chunk, folded in that order
     T(L, j)  = lane(j);   T(h, r) = join(T(2h, r), T(2h, r + h)) for 0 <= r < h, a missing partner skipped
     chunk    = T(1, 0)
     result   = chunks joined by adjacent pairs, level by level; an odd last one moves up */
#include "worker.h"

#include "../../iter/walk.h"

typedef struct Node { /* one node (two values where unit is 2) and the elements in it */
    int64_t elements;
    double room[RDX_MAX_PARTS][2];
} Node;

static RdxStrip strip_of(Node *node)
{
    RdxStrip strip;
    for (int part = 0; part < RDX_MAX_PARTS; part++)
        strip.part[part] = (unsigned char *)node->room[part];
    return strip;
}

static void join(const RdxWorker *worker, Node *a, const Node *b)
{
    Node right = *b;
    if (right.elements == 0)
        return;
    worker->code->algebra->join(strip_of(a), strip_of(a), strip_of(&right), worker->recipe->unit, a->elements,
                                b->elements);
    a->elements += b->elements;
}

static Node lane(RdxWorker *worker, const unsigned char *in, int64_t first, int64_t n, int64_t j)
{
    const RdxSpace *space = worker->space;
    Node node = {0, {{0}}};
    const unsigned char *line[RDX_LINES];
    int64_t index[RDX_LINES];
    for (int64_t e = j; e < n; e += worker->recipe->lanes) {
        RdxWalk walk;
        rdx_walk_seek(&walk, space->reduce, space->reduce_rank, first + e);
        int64_t logical = space->index_offset + walk.index;
        int place = (int)node.elements++;
        for (; worker->recipe->indexed && place > 0 && index[place - 1] > logical; place--) {
            line[place] = line[place - 1];
            index[place] = index[place - 1];
        }
        line[place] = in + walk.in;
        index[place] = logical;
    }
    const RdxStrip strip = strip_of(&node);
    rdx_fold_lines(worker, (int)node.elements, line, 0, 1, index, NULL, &strip);
    return node;
}

static Node tree(RdxWorker *worker, const unsigned char *in, int64_t first, int64_t n, int64_t h, int64_t r)
{
    if (r >= n)
        return (Node){0, {{0}}};
    if (h == worker->recipe->lanes)
        return lane(worker, in, first, n, r);
    Node a = tree(worker, in, first, n, 2 * h, r), b = tree(worker, in, first, n, 2 * h, r + h);
    join(worker, &a, &b);
    return a;
}

/* Chunks by adjacent pairs: a stack of finished runs, each twice as long as the next; the ragged right edge joins
   last. */
static Node row(RdxWorker *worker, const unsigned char *in)
{
    Node stack[64];
    int64_t chunk = rdx_recipe_chunk(worker->recipe), count = worker->recipe->count, top = 0;
    for (int64_t c = 0; c * chunk < count; c++) {
        stack[top++] = tree(worker, in, c * chunk, rdx_min(chunk, count - c * chunk), 1, 0);
        for (int64_t runs = c + 1; runs % 2 == 0; runs /= 2, top--)
            join(worker, &stack[top - 2], &stack[top - 1]);
    }
    for (; top > 1; top--)
        join(worker, &stack[top - 2], &stack[top - 1]);
    return stack[0];
}

void rdx_cpu_reference(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    (void)first, (void)count;
    for (int64_t i = 0; i < block->outputs; i++) {
        Node node = row(worker, block->in + i * block->in_step);
        rdx_strip_copy(rdx_strip_at(nodes, worker->recipe, i * worker->recipe->unit), strip_of(&node), worker->recipe,
                       worker->recipe->unit);
    }
}
