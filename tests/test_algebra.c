/* The laws of the algebras, on every instruction set: a join is commutative to the bit - kernels may swap sides where
   it suits them - may write over its left side, and gives the same bits on every level. States are random; counts fit
   them or are swapped along. */
#include "kernels/cpu/isa.h"
#include "kernels/cpu/strip.h"
#include "task.h"

enum { WIDTH = 77, STRIP_BYTES = RDX_MAX_PARTS * (WIDTH + 8) * 8 };

static const struct {
    const char *name;
    uint8_t work_parts, i64_parts;
} algebras[RDX_ALGEBRA_COUNT] = {
#define X(NAME, name, planes, work_parts, i64_parts) [RDX_ALGEBRA_##NAME] = {#name, work_parts, i64_parts},
    RDX_ALGEBRAS(X)
#undef X
};

typedef struct Nodes {
    _Alignas(64) unsigned char bytes[STRIP_BYTES];
    RdxStrip strip;
} Nodes;

static void lay(Nodes *nodes, const RdxRecipe *recipe)
{
    unsigned char *end = rdx_strip_lay(&nodes->strip, nodes->bytes, recipe, WIDTH);
    DEMAND(end <= nodes->bytes + STRIP_BYTES, "the strip is too long");
}

/* Floats of mixed sizes, with zeros of both signs; small integers, so that keys and counts meet equals and none. */
static void fill(Nodes *nodes, const RdxRecipe *recipe, uint64_t seed)
{
    lay(nodes, recipe);
    for (int part = 0; part < recipe->parts; part++) {
        bool is_float = part < recipe->work_parts && (recipe->work == RDX_WORK_F32 || recipe->work == RDX_WORK_F64);
        int size = rdx_strip_part_size(recipe, part);
        if (is_float) {
            rdx_data_fill(size == 4 ? RDX_F32 : RDX_F64, seed % 3 ? RDX_DATA_TAILED : RDX_DATA_TIES,
                          seed * 7 + (uint64_t)part, 0, WIDTH, nodes->strip.part[part]);
            continue;
        }
        for (int i = 0; i < WIDTH; i++) {
            int64_t value = (int64_t)(rdx_data_mix(seed * 7 + (uint64_t)part, (uint64_t)i) % (seed % 2 ? 5 : 1000));
            memcpy(nodes->strip.part[part] + i * size, &value, (size_t)size); /* little-endian */
        }
    }
}

/* What folds never leave: a negative Q or sum of exponentials, values without a count. */
static void mend(Nodes *nodes, const RdxRecipe *recipe)
{
    bool is_spread = recipe->algebra == RDX_ALGEBRA_VAR || recipe->algebra == RDX_ALGEBRA_CVAR ||
                     recipe->algebra == RDX_ALGEBRA_VARN || recipe->algebra == RDX_ALGEBRA_CVARN ||
                     recipe->algebra == RDX_ALGEBRA_LSE || recipe->algebra == RDX_ALGEBRA_LSEN;
    int part = recipe->work_parts - 1, size = rdx_work_size((RdxWork)recipe->work);
    for (int i = 0; is_spread && i < WIDTH; i++)
        nodes->strip.part[part][i * size + size - 1] &= 0x7f;
    bool counts = recipe->algebra == RDX_ALGEBRA_VARN || recipe->algebra == RDX_ALGEBRA_CVARN ||
                  recipe->algebra == RDX_ALGEBRA_CPRODN; /* a state of no elements holds nothing else */
    for (int i = 0; counts && i < WIDTH; i++) {
        int64_t n;
        memcpy(&n, nodes->strip.part[recipe->work_parts] + i * 8, sizeof n);
        for (int k = 0; n == 0 && k < recipe->work_parts; k++)
            memset(nodes->strip.part[k] + i * size, 0, (size_t)size);
    }
}

static bool same(const Nodes *a, const Nodes *b, const RdxRecipe *recipe)
{
    for (int part = 0; part < recipe->parts; part++)
        if (memcmp(a->strip.part[part], b->strip.part[part], (size_t)(WIDTH * rdx_strip_part_size(recipe, part))) != 0)
            return false;
    return true;
}

static void check_join(const RdxIsa *isa, const RdxRecipe *recipe, uint64_t seed, Nodes *first)
{
    static Nodes a, b, ab, ba;
    const RdxAlgebraCode *code = rdx_isa_algebra(isa, recipe);
    const char *name = algebras[recipe->algebra].name;
    int64_t na = 1 + (int64_t)(seed % 16), nb = seed % 3 ? 1 + (int64_t)(seed / 3 % 16) : na;
    fill(&a, recipe, 2 * seed);
    fill(&b, recipe, 2 * seed + 1);
    mend(&a, recipe);
    mend(&b, recipe);
    lay(&ab, recipe);
    lay(&ba, recipe);
    code->join(ab.strip, a.strip, b.strip, WIDTH, na, nb);
    code->join(ba.strip, b.strip, a.strip, WIDTH, nb, na);
    DEMAND(same(&ab, &ba, recipe), "%s on %s, work %d, seed %llu: a join b is not b join a", name, isa->name,
           recipe->work, (unsigned long long)seed);
    code->join(a.strip, a.strip, b.strip, WIDTH, na, nb);
    DEMAND(same(&ab, &a, recipe), "%s on %s: another answer in place", name, isa->name);
    if (first->strip.part[0] == NULL) {
        *first = ab;
        lay(first, recipe);
    }
    DEMAND(same(&ab, first, recipe), "%s: %s has other bits than the first level", name, isa->name);
}

START_TEST(joins)
{
    const char *levels[4];
    const RdxIsa *isas[4];
    int count = rdx_cpu_isa_names(levels), checked = 0;
    for (int level = 0; level < count; level++)
        ck_assert(rdx_cpu_set_isa(levels[level]) == RDX_OK && rdx_cpu_isa(&isas[level]) == RDX_OK);
    for (int algebra = 0; algebra < RDX_ALGEBRA_COUNT; algebra++)
        for (int work = 0; work < RDX_WORK_COUNT; work++) {
            RdxRecipe recipe = {.algebra = (uint8_t)algebra, .work = (uint8_t)work, .unit = 1, .lanes = 128};
            recipe.work_parts = algebras[algebra].work_parts;
            recipe.parts = (uint8_t)(recipe.work_parts + algebras[algebra].i64_parts);
            if (rdx_isa_algebra(isas[0], &recipe)->join == NULL)
                continue;
            checked++;
            for (uint64_t seed = 1; seed <= 60; seed++) {
                static Nodes first;
                first.strip.part[0] = NULL;
                for (int level = 0; level < count; level++)
                    check_join(isas[level], &recipe, seed, &first);
            }
        }
    ck_assert_int_ge(checked, RDX_ALGEBRA_COUNT);
}
END_TEST

Suite *test_algebra_suite(void);

Suite *test_algebra_suite(void)
{
    Suite *suite = suite_create("algebra");
    TCase *tests = tcase_create("algebra");
    tcase_add_test(tests, joins);
    suite_add_tcase(suite, tests);
    return suite;
}
