/* The promise: the same bits from every strategy, thread count and instruction set (by the fuzzer's engine, on shapes
   large enough to be split), and whatever the batch, the alignment, the sign of a stride or the layout of the kept
   axes. */
#include "fuzz.h"
#include "task.h"

static const char *const lines[] = {
    /* many chunks, one output; ragged ends */
    "sum:f32:1000003",
    "sum:f64:300007",
    "mean:bf16:700001",
    "var:f32:500009:out2=1:data=near",
    "std:f16:400003",
    "norm2:f32:600011:data=tailed",
    "norm3:f64:50021",
    "logsumexp:f32:300007",
    "max:f32:700001:out2=1",
    "argmin:i8:2000003",
    "prod:f32:200003:data=near",
    "prod:c64:60013:data=near",
    "sum:c64:300007",
    "sum:i8:3000017",
    "mean:i32:700001",
    "var:i8:2000003:out2=1",
    "var:i32:300007",
    "count_nonzero:bf16:900001:data=special",
    "any:f32:400003:data=ties",
    "bit_xor:u16:1000003",
    "minmax:f16:700001:data=ties",
    "sum:f32:900001:nan=omit:data=holes",
    "mean:f32:900001:nan=omit:data=holes",
    "var:f32:400003:nan=omit:data=holes:out2=1",
    "logsumexp:f16:300007:nan=omit:data=holes",
    "argmax:f32:700001:nan=omit:data=holes",
    /* rows, short and long, aligned and not */
    "sum:f32:100x10007/1",
    "sum:f32:1000x1021/1",
    "sum:f32:30000x33/1",
    "sum:f32:100000x8/1",
    "sum:bf16:30000x64/1",
    "sum:f16:60003x8/1:data=special",
    "norm2:bf16:30001x16/1:data=special",
    "mean:f16:20005x32/1",
    "norm2:f32:7007x64/1",
    "sum:bf16:5003x128/1",
    "sum:f16:3001x256/1",
    "var:f32:3000x100/1:out2=1",
    "argmax:f32:3000x100/1:data=ties",
    "argmax:f32:99x67@67x-1+66/1:data=ties",
    "argmin:f64:99x300@304x-1+299/1:data=ties",
    "argmax:f32:33x1024@1024x-1+1023/1:data=ties",
    "argmin:f32:40x1000@1003x1/1:data=special",
    "logsumexp:f32:40x1000/1:nan=omit:data=special",
    "logsumexp:f64:9x1000/1:data=special",
    "logsumexp:bf16:9x2047/1:data=special",
    "logsumexp:f8e4m3:9x1500/1:nan=omit:data=special",
    "max:i8:20000x64/1",
    "norm2:f64:4000x65/1",
    "logsumexp:f32:3000x129/1",
    "sum:f32:999x1001+1/1",
    "sum:f32:1000x1000@1001x1/1",
    "mean:u8:5000x77/1",
    "sum:i8:600001x8/1", /* outputs that go past the caches */
    /* columns, few and many */
    "sum:f32:10007x100/0",
    "sum:f32:100000x8/0",
    "sum:f32:200003x3/0",
    "sum:f32:2000x1000/0",
    "sum:f16:30000x31/0",
    "var:f32:5000x129/0:out2=1",
    "argmax:f32:5000x129/0:data=ties",
    "max:f32:30x30000/0:out2=1",
    "logsumexp:f32:3000x100/0",
    "sum:i8:20000x100/0",
    "prod:c128:700x100/0:data=near",
    "sum:f32:2500x400@400x-1+399/0",
    /* rows that overlap, as far apart as the last block of columns is wide */
    "sum:f32:256x4097@1985x1/0",
    "max:f32:256x4097@1985x1/0",
    /* rows in any order, some as one wide row, and what is left of a chunk */
    "sum:i8:9001x127/0",
    "any:bool:9005x33/0:data=ties",
    "sum:u16:3x5003x77/1",
    "max:i8:8200x300/0",
    "max:f32:1003x300/0:data=special",
    "minmax:f32:1001x130/0:data=ties",
    "bit_xor:u16:2005x150/0",
    /* columns that lie apart */
    "sum:f32:2300x70@280x4/0",
    "sum:i8:9000x70@140x2/0",
    "sum:f64:700x1100@2200x2/0",
    "var:f32:2050x90@180x2/0:out2=1",
    "max:f16:3000x65@195x3/0:data=special:out2=1",
    "argmax:f32:3000x77@231x-3+228/0:data=ties",
    "argmin:i32:1500x40@-80x2+119920/0:data=ties",
    "any:bool:5000x33@66x2/0:data=ties",
    "sum:c64:600x50@150x3/0",
    "prod:f64:900x40@80x2/0:data=near",
    "logsumexp:f32:1000x40@80x2/0",
    "sum:f32:30x100x40@12000x80x2/0,1",
    "sum:f32:5x1000x40@80000x80x2/1",
    /* middle axes and sets of axes */
    "sum:f32:20x1000x50/1",
    "sum:f32:50x60x70x5/0,2",
    "var:f32:16x32x28x28/0,2,3",
    "sum:bf16:8x64x49x7/0,2,3",
    "sum:f32:100x100x100@1x100x10000/0,2",
    "max:f64:60x50x70/0,1",
    "sum:f32:300x1000@1x300/1",
    "sum:f32:300x1000@1x300/0",
    "argmin:f32:40x50x60@1x40x2000:data=ties",
    "sum:f32:500x2000@4000x2/1",
    "sum:f32:2000x500@1000x2/0",
    "sum:f32:64x1x5000@5000x7x1/2:ostrides=1x9:keep=0",
    "sum:f32:1000x1000@0x1/1",
    "sum:f32:1000x1000@1x0/1",
    "mean:f32:300x3000/1:alpha=0.5:beta=2",
    "sum:f64:300x3000/1:out=f32",
    "sum:f32:300x3000/0:out=f64",
    /* runs of chunks, whole and ragged, forwards and backwards */
    "argmax:bf16:150000",
    "argmin:f32:80000@-1+79999",
    "max:f64:40001:out2=i64",
    "sum:i8:300000",
    "var:f32:3x50000/1",
    "minmax:f32:50000",
    "sum:c64:30000",
    "prod:c128:9000",
    "logsumexp:bf16:90000",
    "mean:f16:2x70000/1:nan=omit",
    "std:f8e4m3:100000",
    "count_nonzero:f32:60000",
    "all:bool:100000",
    /* strips of several lanes; words; exact rows; lines of several runs */
    "sum:f32:64x1024x16/1",
    "sum:bf16:3x1024x100/1",
    "var:f32:2x2048x37/1",
    "sum:f16:4x2048x64/1",
    "sum:u8:1000x64/1",
    "sum:i16:999x8/1",
    "max:i8:300x4096/0",
    "var:f64:100x128/1",
    "argmax:f32:7x40x128/0,2",
    "sum:f16:5x512x64/0,2",
    /* runs of 1, 2, 3, 4, 8 and 16 chunks, of outputs that touch and of others, five a block; less than a chunk: 8, 5
       and 12 lines */
    "sum:f32:2x44x2048/0,2:threads=1",
    "sum:f32:3x44x4096/0,2:threads=1",
    "sum:f32:256x15000/1:threads=1",
    "sum:f64:72x7169/1:threads=1",
    "sum:c128:40x3600/1:threads=1",
    "var:f32:2x16x6144/0,2:threads=1",
    "max:f32:2x24x8192/0,2:threads=1",
    "sumsq:f64:2x17x8192/0,2:threads=1",
    "sum:f16:2x9x65536/0,2",
    "sum:f32:3x41x4096@336200x8200x1/0,2:threads=1",
    "sum:f32:2x44x4096@-180224x4096x1+180224/0,2:threads=1",
    "argmax:f32:3x44x4096/0,2:data=ties:threads=1",
    "argmin:f64:2x41x2048@-83968x2048x1+83968/0,2:data=ties:threads=1",
    "mean:f32:2x3x41x4096/0,3:threads=1",
    "sum:f32:7x44x1024/0,2:threads=1",
    "sum:bf16:6x44x1280/0,2:threads=1",
    "var:f16:4x41x3072/0,2:threads=1",
    "max:i8:9x44x1024/0,2:threads=1",
    "argmax:bf16:5x41x1280/0,2:data=ties:threads=1",
    "argmin:f32:5x17x1536@26112x1536x-1+1535/0,2:data=ties:threads=1",
    "argmax:f32:1536x17x3@1x1536x26112/0,2:data=ties:threads=1",
    "argmin:f32:4096x17x3@-1x4096x69632+4095/0,2:data=ties:threads=1",
    "logsumexp:f32:4x17x1024/0,2:threads=1",
    "count_nonzero:bool:4x44x1024/0,2:threads=1",
    "prod:c64:3x24x512/0,2:data=near:threads=1",
    "norm:f32:3x44x5x1024/0,2,3:threads=1",
    /* lanes that are joined as columns are folded, 2 to 8 of them: of one line, of 2, 4 and 8, and of unequal many;
       widths that are no whole blocks; backwards; whole chunks of wide rows before one that is not; rows taken as they
       come, eight at once */
    "sum:f32:7x3x200/1",
    "sum:f32:100x1000/0",
    "sum:f32:128x600/0",
    "sum:f32:256x333/0",
    "sum:f32:512x129/0",
    "sum:f32:1024x130/0",
    "sum:f32:3x300x68/1",
    "sum:f32:7x1000x67/1",
    "sum:f32:130x5000@-5000x1+645000/0",
    "sum:f32:5000x700/0",
    "norm2:f64:75x150/0",
    "sum:f64:2x130x99/1",
    "var:f64:500x90/0:out2=1",
    "var:f32:100x400/0:out2=1",
    "var:f32:300x777/0:out2=1",
    "var:f32:5000x200/0",
    "mean:c64:77x100/0",
    "sum:bf16:50x2047/0",
    "norm2:bf16:900x131/0",
    "var:bf16:37x999/0",
    "sum:f16:1000x99/0",
    "var:f16:600x65/0",
    "max:f64:101x300/0",
    "argmin:f32:77x300@-300x1+22800/0:data=ties",
    "argmax:f32:9x50x300/1:data=ties",
    "sum:i32:1003x200/0",
    "sum:i16:77x2x300/0",
    "count_nonzero:f32:300x500/0",
};

START_TEST(every_way)
{
    static RdxFuzzFailure failure;
    static RdxFuzzCounts counts;
    RdxFuzzOptions options = {.threads = true};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        RdxCase c;
        char error[512];
        ck_assert_msg(rdx_case_parse(&c, lines[i], error, sizeof error), "%s: %s", lines[i], error);
        ck_assert_msg(rdx_fuzz_try(&c, &options, &counts, &failure), "%s: %s\n%s", lines[i], failure.what,
                      failure.plan);
    }
    ck_assert_int_gt(counts.runs, (int64_t)(4 * sizeof lines / sizeof lines[0]));
}
END_TEST

/* Reduces through rdx_reduce into `bytes` bytes at `to`. */
static void reduce_view(const RdxTask *task, void *data, int64_t rows, const int64_t *shape, const int64_t *strides,
                        int rank, void *to)
{
    RdxProblem problem = task->problem;
    RdxTensor in = *problem.in, out = *problem.out;
    int64_t in_shape[3], in_strides[3];
    int32_t axes[3];
    memcpy(in_shape, shape, (size_t)rank * sizeof *shape);
    memcpy(in_strides, strides, (size_t)rank * sizeof *strides);
    for (int i = 0; i < rank - 1; i++)
        axes[i] = i + 1;
    in.data = data;
    in.ndim = rank;
    in.shape = in_shape;
    in.strides = in_strides;
    out.data = to;
    out.ndim = 1;
    out.shape = &rows;
    out.strides = NULL;
    problem.in = &in;
    problem.out = &out;
    problem.axes = axes;
    problem.naxes = rank - 1;
    RdxStatus status = rdx_reduce(&problem, NULL);
    DEMAND(status == RDX_OK, "%s", rdx_last_error());
}

/* rows x n elements of a task's storage, row by row; each way to look at them must give these bytes. */
static void check_views(const char *text, int64_t rows, int64_t n)
{
    static RdxTask task;
    task_open(&task, text);
    int size = rdx_data_type(task.c.dtype)->size,
        out_size = rdx_data_type(rdx_data_number(task.problem.out->dtype))->size;
    size_t bytes = (size_t)(rows * out_size), all = (size_t)(rows * n * size);
    unsigned char *right = malloc(bytes), *got = malloc(bytes), *copy = malloc(2 * all + 64);
    unsigned char *data = task.problem.in->data;
    ck_assert(right && got && copy);
    reduce_view(&task, data, rows, (int64_t[]){rows, n}, (int64_t[]){n, 1}, 2, right);
    for (int64_t row = 0; row < rows; row++) { /* one by one: the batch does not matter */
        reduce_view(&task, data + row * n * size, 1, (int64_t[]){1, n}, (int64_t[]){n, 1}, 2, got);
        DEMAND(memcmp(got, right + row * out_size, (size_t)out_size) == 0, "%s: row %lld alone", text, (long long)row);
    }
    /* walked backwards in both axes */
    reduce_view(&task, data + (rows * n - 1) * size, rows, (int64_t[]){rows, n}, (int64_t[]){-n, -1}, 2, got);
    for (int64_t row = 0; row < rows; row++)
        DEMAND(memcmp(got + (rows - 1 - row) * out_size, right + row * out_size, (size_t)out_size) == 0,
               "%s: row %lld backwards", text, (long long)row);
    for (int slip = 1; slip < 4; slip++) { /* at other addresses */
        memcpy(copy + slip * size, data, all);
        reduce_view(&task, copy + slip * size, rows, (int64_t[]){rows, n}, (int64_t[]){n, 1}, 2, got);
        DEMAND(memcmp(got, right, bytes) == 0, "%s: moved by %d elements", text, slip);
    }
    for (int64_t i = 0; i < rows * n; i++) /* rows as columns */
        memcpy(copy + (i % n * rows + i / n) * size, data + i * size, (size_t)size);
    reduce_view(&task, copy, rows, (int64_t[]){rows, n}, (int64_t[]){1, rows}, 2, got);
    DEMAND(memcmp(got, right, bytes) == 0, "%s: as columns", text);
    for (int64_t i = 0; i < rows * n; i++) /* every second element */
        memcpy(copy + 2 * i * size, data + i * size, (size_t)size);
    reduce_view(&task, copy, rows, (int64_t[]){rows, n}, (int64_t[]){2 * n, 2}, 2, got);
    DEMAND(memcmp(got, right, bytes) == 0, "%s: with a step of two", text);
    if (n % 6 == 0) { /* the same elements in the same order, as two axes */
        reduce_view(&task, data, rows, (int64_t[]){rows, 6, n / 6}, (int64_t[]){n, n / 6, 1}, 3, got);
        DEMAND(memcmp(got, right, bytes) == 0, "%s: as two axes", text);
    }
    free(right);
    free(got);
    free(copy);
    rdx_case_release(&task);
}

START_TEST(views)
{
    static const char *const ops[] = {"sum",   "mean",  "var",       "prod",   "norm2", "norm3",
                                      "norm1", "sumsq", "logsumexp", "std0.5", "max",   "norminf"};
    static const char *const dtypes[] = {"f32", "bf16", "f64", "f16", "f8e5m2", "i32", "c64"};
    static const int64_t shapes[][2] = {{7, 96}, {3, 2054}, {5, 1}, {37, 10}, {2, 6150}, {130, 129}};
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++)
        for (size_t type = 0; type < sizeof dtypes / sizeof dtypes[0]; type++)
            for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
                char text[128];
                if ((strcmp(dtypes[type], "c64") == 0 && (op == 8 || op == 10)) || (op == 8 && dtypes[type][0] == 'i'))
                    continue;
                snprintf(text, sizeof text, "%s:%s:%lldx%lld/1:data=%s:seed=%zu", ops[op], dtypes[type],
                         (long long)shapes[i][0], (long long)shapes[i][1], op % 2 ? "near" : "tailed", i + 1);
                check_views(text, shapes[i][0], shapes[i][1]);
            }
}
END_TEST

/* A prefix of the tree is a tree: joining whole power-of-two runs of chunks by hand gives the whole. */
START_TEST(chunks_join_by_pairs)
{
    static RdxTask task;
    enum { CHUNK = 2048, CHUNKS = 11 };
    task_open(&task, "sum:f32:22528:data=tailed:seed=3");
    float *data = task.problem.in->data, node[CHUNKS], whole;
    for (int64_t c = 0; c < CHUNKS; c++)
        reduce_view(&task, data + c * CHUNK, 1, (int64_t[]){1, CHUNK}, (int64_t[]){CHUNK, 1}, 2, &node[c]);
    reduce_view(&task, data, 1, (int64_t[]){1, CHUNK * CHUNKS}, (int64_t[]){CHUNK * CHUNKS, 1}, 2, &whole);
    int count = CHUNKS;
    while (count > 1) {
        for (int i = 0; i < count / 2; i++) {
            volatile float joined = node[2 * i] + node[2 * i + 1];
            node[i] = joined;
        }
        if (count % 2)
            node[count / 2] = node[count - 1];
        count = (count + 1) / 2;
    }
    ck_assert(memcmp(&node[0], &whole, sizeof whole) == 0);
    rdx_case_release(&task);
}
END_TEST

Suite *test_bits_suite(void);

Suite *test_bits_suite(void)
{
    Suite *suite = suite_create("bits");
    TCase *tests = tcase_create("bits");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, every_way);
    tcase_add_test(tests, views);
    tcase_add_test(tests, chunks_join_by_pairs);
    suite_add_tcase(suite, tests);
    return suite;
}
