/* The memories of a block: dynamic shared memory, objects in static shared memory, and copies on their way into either.
   What was never written reads as 0xFF, a NaN or a far index; behind each piece lie canaries, which AddressSanitizer,
   where it is there, does not let anybody touch. */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

namespace emu
{

enum { UNSET = 0xff, CANARY = 0xc5, GAP = 16 };

static unsigned char *room(size_t bytes)
{
    void *memory = aligned_alloc(1024, (bytes + 1023) / 1024 * 1024);
    if (!memory)
        fault({}, "no memory for shared memory");
    return (unsigned char *)memory;
}

/* Not memset, which ThreadSanitizer would take for a write of the thread that happens to run. */
static void fill(unsigned char *at, int value, size_t bytes)
{
    volatile uint64_t *word = (volatile uint64_t *)at;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        *word++ = (uint64_t)value * 0x0101010101010101u;
    for (volatile unsigned char *rest = at; i < bytes; i++)
        rest[i] = (unsigned char)value;
}

void fill_shared(Block *block, size_t dynamic_bytes)
{
    if (!block->dynamic) {
        block->dynamic = room(MOST_DYNAMIC + CANARIES);
        block->statics = room(MOST_STATIC);
    }
    allow(block->dynamic, MOST_DYNAMIC + CANARIES);
    fill(block->dynamic, UNSET, dynamic_bytes);
    fill(block->dynamic + dynamic_bytes, CANARY, CANARIES);
    forbid(block->dynamic + dynamic_bytes, CANARIES);
    allow(block->statics, MOST_STATIC);
    block->objects.clear();
}

static bool intact(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != CANARY)
            return false;
    return true;
}

void check_shared(Block *block, size_t dynamic_bytes)
{
    allow(block->dynamic, MOST_DYNAMIC + CANARIES);
    if (!intact(block->dynamic + dynamic_bytes, CANARIES))
        fault({}, "a thread of this block wrote behind the %zu bytes of its dynamic shared memory", dynamic_bytes);
    for (const SharedObject &object : block->objects) {
        allow(block->statics + object.at + object.bytes, GAP);
        if (!intact(block->statics + object.at + object.bytes, GAP))
            fault({}, "a thread of this block wrote behind a shared object of %zu bytes", object.bytes);
    }
}

void *dynamic_shared(size_t align)
{
    Block *block = grid.current->warp->block;
    if (align > 1024)
        fault({}, "shared memory aligned to %zu bytes", align);
    return block->dynamic;
}

void *shared_object(const void *marker, size_t bytes, size_t align)
{
    Block *block = grid.current->warp->block;
    for (const SharedObject &object : block->objects)
        if (object.marker == marker)
            return block->statics + object.at;
    size_t end = block->objects.empty() ? 0 : block->objects.back().at + block->objects.back().bytes + GAP;
    size_t at = (end + align - 1) / align * align;
    if (at + bytes + GAP > MOST_STATIC)
        fault({}, "more than %d bytes of static shared memory", (int)MOST_STATIC);
    block->objects.push_back({marker, at, bytes});
    fill(block->statics + at, UNSET, bytes);
    fill(block->statics + at + bytes, CANARY, GAP);
    forbid(block->statics + at + bytes, GAP);
    return block->statics + at;
}

/* ---- Copies ---- */

static bool is_inside(const Block *block, const unsigned char *at, size_t bytes)
{
    if (at >= block->dynamic && at + bytes <= block->dynamic + grid.launch->dynamic_bytes)
        return true;
    for (const SharedObject &object : block->objects)
        if (at >= block->statics + object.at && at + bytes <= block->statics + object.at + object.bytes)
            return true;
    return false;
}

/* Byte by byte, where the sanitizer does not look: what lies outside of the allocation is as good as any other
   value. */
__attribute__((no_sanitize("address"))) static void copy_bytes(volatile unsigned char *to,
                                                               const volatile unsigned char *from)
{
    for (int i = 0; i < 16; i++)
        to[i] = from[i];
}

void read_granule(void *to, const void *from, Site site)
{
    const unsigned char *byte = (const unsigned char *)from;
    int forbidden = 0;
    if ((uintptr_t)from % 16 != 0)
        fault(site, "16 bytes are read from %p, which is not a multiple of 16", from);
    for (int i = 0; i < 16; i++)
        forbidden += is_forbidden(byte + i);
    if (forbidden == 16)
        fault(site, "16 bytes are read from %p, none of which belongs to anybody", from);
    copy_bytes((unsigned char *)to, byte);
}

static void land(const Copy &copy)
{
    const unsigned char *from = (const unsigned char *)copy.from;
    for (int i = 0; i < copy.bytes; i++)
        if (is_forbidden(from + i))
            fault(copy.site, "an asynchronous copy of %d bytes from %p, of which byte %d is nobody's", copy.bytes,
                  copy.from, i);
    note_write(copy.to, copy.size);
    memset(copy.to, 0, (size_t)copy.size);
    memcpy(copy.to, from, (size_t)copy.bytes);
}

/* Lands the copies of groups below `group`, and of the others those that happen to. */
static void land_groups(Thread *thread, int group, unsigned chance)
{
    size_t kept = 0;
    for (const Copy &copy : thread->copies)
        if (copy.group < group || (chance && dice() % chance == 0))
            land(copy);
        else
            thread->copies[kept++] = copy;
    thread->copies.resize(kept);
}

void copy_later(void *shared, const void *global, int size, int bytes, Site site)
{
    Thread *me = grid.current;
    if (bytes < 0 || bytes > size || (bytes && (uintptr_t)global % size != 0))
        fault(site, "an asynchronous copy of %d bytes from %p", bytes, global);
    if ((uintptr_t)shared % size != 0 || !is_inside(me->warp->block, (const unsigned char *)shared, size))
        fault(site, "an asynchronous copy to %p, which is not %d aligned bytes of the block's shared memory", shared,
              size);
    note_write(shared, size); /* from now on nobody else may touch it */
    me->copies.push_back({shared, global, size, bytes, me->groups, site});
    land_groups(me, 0, 4);
}

void commit_copies()
{
    grid.current->groups++;
}

void wait_copies(int groups_left)
{
    Thread *me = grid.current;
    land_groups(me, me->groups - groups_left, 4);
}

} // namespace emu
