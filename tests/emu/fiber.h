/* Fibers: stacks to switch between, and what AddressSanitizer and ThreadSanitizer have to be told about that.

   ThreadSanitizer sees a Context for each CUDA thread, not for each stack: two threads that run on one stack one after
   the other have nothing to do with each other. Switching a context synchronises nothing; release and acquire say what
   does. Every function is empty where its sanitizer is not there: EMU_ASAN, EMU_TSAN. */
#ifndef EMU_FIBER_H
#define EMU_FIBER_H

#include <stddef.h>

namespace emu
{

struct Fiber {
    void *stack_pointer;
    char *stack; /* lowest byte; NULL: the host's own, which is learned when it is left */
    size_t bytes;
    void *fake_stack; /* AddressSanitizer's */
};

/* A fiber that begins with entry(), which must never return. `stagger` keeps the tops of stacks on different cache
   sets: with all of them on one, switching took five times as long. */
void fiber_make(Fiber *fiber, void (*entry)(), unsigned stagger);

/* Leaves `from` for `to`; comes back when somebody switches to `from`. */
void fiber_switch(Fiber *from, Fiber *to);

/* To be called by `entry` before anything else. */
void fiber_arrive();

/* ---- ThreadSanitizer's view ---- */

typedef void *Context;

Context context_make();
Context context_current();
void context_enter(Context context);
void release(void *object);
void acquire(void *object);
/* A write of 4, 8 or 16 bytes by the current context that no instrumented code did. */
void note_write(void *place, int bytes);

/* ---- AddressSanitizer's view ---- */

void forbid(const void *place, size_t bytes);
void allow(const void *place, size_t bytes);
bool is_forbidden(const void *place);

} // namespace emu
#endif
