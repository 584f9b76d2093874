/* Strips of nodes in scratch memory: one array per part, 64-byte aligned, work parts first. */
#ifndef RDX_KERNELS_CPU_STRIP_H
#define RDX_KERNELS_CPU_STRIP_H

#include "isa.h"

#include <string.h>

static inline int rdx_strip_part_size(const RdxRecipe *recipe, int part)
{
    return part < recipe->work_parts ? rdx_work_size((RdxWork)recipe->work) : 8;
}

/* Lays a strip of `width` values (columns * unit) at base; returns the byte past it. */
static inline unsigned char *rdx_strip_lay(RdxStrip *strip, unsigned char *base, const RdxRecipe *recipe, int64_t width)
{
    for (int part = 0; part < RDX_MAX_PARTS; part++) {
        strip->part[part] = base;
        if (part < recipe->parts)
            base += rdx_round_up(width * rdx_strip_part_size(recipe, part), 64);
    }
    return base;
}

/* A copy part by part: two that were just stored are not ready to be loaded as one (an execute of 16 elements 63 ns so,
   else 53). */
static inline void rdx_strip_set(RdxStrip *to, const RdxStrip *from)
{
    _Static_assert(RDX_MAX_PARTS == 4, "every part");
    to->part[0] = from->part[0];
    to->part[1] = from->part[1];
    to->part[2] = from->part[2];
    to->part[3] = from->part[3];
}

/* The strip that begins `values` further on. */
static inline RdxStrip rdx_strip_at(RdxStrip strip, const RdxRecipe *recipe, int64_t values)
{
    for (int part = 0; part < recipe->parts; part++)
        strip.part[part] += values * rdx_strip_part_size(recipe, part);
    return strip;
}

static inline void rdx_strip_copy(RdxStrip dst, RdxStrip src, const RdxRecipe *recipe, int64_t values)
{
    for (int part = 0; part < recipe->parts; part++) {
        int size = rdx_strip_part_size(recipe, part);
        if (values == 1 && size == 4) /* not worth a call */
            memcpy(dst.part[part], src.part[part], 4);
        else if (values == 1 && size == 8)
            memcpy(dst.part[part], src.part[part], 8);
        else
            memcpy(dst.part[part], src.part[part], (size_t)(values * size));
    }
}

#endif
