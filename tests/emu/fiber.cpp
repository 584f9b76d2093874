/* See fiber.h. x86-64 switches by a few instructions, other machines by ucontext, which asks the kernel for its signal
   mask each time and is slower. */
#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __x86_64__
#include <ucontext.h>
#endif

#ifdef EMU_TSAN
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *object);
void __tsan_release(void *object);
void __tsan_write4(void *place);
void __tsan_write8(void *place);
void __tsan_write16(void *place);
}
#endif
#ifdef EMU_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *bytes);
void __asan_poison_memory_region(const volatile void *place, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *place, size_t bytes);
int __asan_address_is_poisoned(const volatile void *place);
}
#endif

namespace emu
{

#if defined(EMU_ASAN) || defined(EMU_TSAN)
static const size_t stack_bytes = 512 << 10;
#else
static const size_t stack_bytes = 128 << 10;
#endif

/* ---- Switching ---- */

#ifdef __x86_64__
extern "C" void emu_switch(void **save, void *to);
__asm__(".text\n.globl emu_switch\n.hidden emu_switch\n.type emu_switch,@function\n"
        "emu_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp,(%rdi)\n  movq %rsi,%rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size emu_switch,.-emu_switch\n");

static void prepare(Fiber *fiber, void (*entry)(), size_t down)
{
    void **top = (void **)(fiber->stack + fiber->bytes - 64 - down);
    *--top = NULL; /* where entry would return to */
    *--top = (void *)entry;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    fiber->stack_pointer = top;
}

static void move(Fiber *from, Fiber *to)
{
    emu_switch(&from->stack_pointer, to->stack_pointer);
}
#else
static ucontext_t *context_of(Fiber *fiber)
{
    if (!fiber->stack_pointer)
        fiber->stack_pointer = calloc(1, sizeof(ucontext_t));
    return (ucontext_t *)fiber->stack_pointer;
}

static void prepare(Fiber *fiber, void (*entry)(), size_t down)
{
    ucontext_t *context = context_of(fiber);
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = fiber->bytes - down;
    makecontext(context, entry, 0);
}

static void move(Fiber *from, Fiber *to)
{
    swapcontext(context_of(from), context_of(to));
}
#endif

void fiber_make(Fiber *fiber, void (*entry)(), unsigned stagger)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *fiber = {};
    void *mapping =
        mmap(NULL, stack_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED || mprotect(mapping, page, PROT_NONE) != 0) {
        perror("emu: no memory for the stack of a CUDA thread");
        abort();
    }
    fiber->stack = (char *)mapping + page;
    fiber->bytes = stack_bytes;
    prepare(fiber, entry, (size_t)(stagger * 5 % 61) * 64);
}

#ifdef EMU_ASAN
static Fiber *left; /* by the switch under way */

void fiber_arrive()
{
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
    if (!left->stack) {
        left->stack = (char *)(uintptr_t)bottom;
        left->bytes = bytes;
    }
}

void fiber_switch(Fiber *from, Fiber *to)
{
    const void *bottom;
    size_t bytes;
    left = from;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->bytes);
    move(from, to);
    __sanitizer_finish_switch_fiber(from->fake_stack, &bottom, &bytes);
    if (!left->stack) {
        left->stack = (char *)(uintptr_t)bottom;
        left->bytes = bytes;
    }
}
#else
void fiber_arrive()
{
}

void fiber_switch(Fiber *from, Fiber *to)
{
    move(from, to);
}
#endif

/* ---- Sanitizers ---- */

#ifdef EMU_TSAN
Context context_make()
{
    return __tsan_create_fiber(0);
}
Context context_current()
{
    return __tsan_get_current_fiber();
}
void context_enter(Context context)
{
    __tsan_switch_to_fiber(context, 1 /* synchronises nothing */);
}
void release(void *object)
{
    __tsan_release(object);
}
void acquire(void *object)
{
    __tsan_acquire(object);
}
void note_write(void *place, int bytes)
{
    if (bytes == 16)
        __tsan_write16(place);
    else if (bytes == 8)
        __tsan_write8(place);
    else
        __tsan_write4(place);
}
#else
Context context_make()
{
    return NULL;
}
Context context_current()
{
    return NULL;
}
void context_enter(Context)
{
}
void release(void *)
{
}
void acquire(void *)
{
}
void note_write(void *, int)
{
}
#endif

#ifdef EMU_ASAN
void forbid(const void *place, size_t bytes)
{
    __asan_poison_memory_region(place, bytes);
}
void allow(const void *place, size_t bytes)
{
    __asan_unpoison_memory_region(place, bytes);
}
bool is_forbidden(const void *place)
{
    return __asan_address_is_poisoned(place) != 0;
}
#else
void forbid(const void *, size_t)
{
}
void allow(const void *, size_t)
{
}
bool is_forbidden(const void *)
{
    return false;
}
#endif

} // namespace emu
