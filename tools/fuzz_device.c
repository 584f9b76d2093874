/* Mirrors of a task's buffers on a device; see fuzz_device.h. */
#include "fuzz_device.h"

#include "../src/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 256, MARGINS = 3 * PAGE, CANARY = 0xc3, SPARSE = 16 << 20, MOST_ELEMENTS = 65536 };

static const RdxPluginTable *plugin;

void rdx_mirror_close(RdxMirror *mirror)
{
    for (int which = 0; plugin && which < RDX_CASE_TENSORS; which++) {
        if (mirror->memory[which] && plugin->memory_give(mirror->memory[which], mirror->id) != RDX_OK)
            fprintf(stderr, "%s\n", rdx_last_error());
        mirror->memory[which] = NULL;
    }
}

static size_t bytes_of(const RdxTask *task, int which)
{
    return (size_t)(task->buffer[which].usable_end - task->buffer[which].usable);
}

/* A few elements far apart: the holes between them stay at home. */
static bool is_sparse(const RdxTask *task, int which)
{
    return which == RDX_CASE_IN && bytes_of(task, which) > SPARSE && task->extent[which].elements <= MOST_ELEMENTS;
}

size_t rdx_mirror_bytes(const RdxTask *task)
{
    size_t bytes = 0;
    for (int which = 0; which < task->tensors; which++)
        bytes += is_sparse(task, which) ? 0 : bytes_of(task, which);
    return bytes;
}

static int element_bytes(const RdxTask *task, int which)
{
    return rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
}

static int part_bytes(const RdxTask *task, int which)
{
    return rdx_data_type(rdx_data_part(rdx_data_number(task->tensor[which].dtype)))->size;
}

static RdxStatus send_input(RdxMirror *mirror, RdxTask *task)
{
    const unsigned char *usable = task->buffer[RDX_CASE_IN].usable;
    unsigned char *place = mirror->place[RDX_CASE_IN];
    if (!is_sparse(task, RDX_CASE_IN))
        return plugin->copy(place, usable, bytes_of(task, RDX_CASE_IN), mirror->id);
    RdxStatus status = RDX_OK;
    for (int64_t i = 0; status == RDX_OK && i < task->extent[RDX_CASE_IN].elements; i++) {
        const unsigned char *element = rdx_case_element(task, RDX_CASE_IN, i);
        status =
            plugin->copy(place + (element - usable), element, (size_t)element_bytes(task, RDX_CASE_IN), mirror->id);
    }
    return status;
}

/* Canaries before and behind what travels: where the host has guard pages, the device has none. Beside an input kernels
   read vectors that hold an element of it and more. */
static RdxStatus set_margins(const RdxMirror *mirror, const RdxTask *task, int which)
{
    unsigned char canaries[MARGINS];
    size_t bytes = bytes_of(task, which), before = (size_t)(mirror->place[which] - mirror->memory[which]);
    memset(canaries, CANARY, sizeof canaries);
    RdxStatus status = plugin->copy(mirror->memory[which], canaries, before, mirror->id);
    return status != RDX_OK ? status
                            : plugin->copy(mirror->place[which] + bytes, canaries, MARGINS - before, mirror->id);
}

RdxStatus rdx_mirror_open(RdxMirror *mirror, RdxTask *task, int id)
{
    memset(mirror, 0, sizeof *mirror);
    mirror->id = id;
    mirror->problem = task->problem;
    RdxStatus status = rdx_plugin(&plugin);
    for (int which = 0; status == RDX_OK && which < task->tensors; which++) {
        const struct RdxCaseBuffer *buffer = &task->buffer[which];
        RdxTensor *tensor = &mirror->tensor[which];
        void *memory = NULL;
        status = plugin->memory_take(&memory, bytes_of(task, which) + MARGINS, id);
        if (status != RDX_OK)
            break;
        mirror->memory[which] = memory;
        mirror->place[which] = mirror->memory[which] + PAGE + (uintptr_t)buffer->usable % PAGE;
        if (which != RDX_CASE_IN) /* the host's buffers are aligned far better than outputs have to be */
            mirror->place[which] += (int64_t)(task->c.seed / 3 % 4) * element_bytes(task, which);
        else if (part_bytes(task, which) < element_bytes(task, which)) /* complex: as aligned as a part has to be */
            mirror->place[which] += (int64_t)(task->c.seed / 3 % 4) * part_bytes(task, which);
        *tensor = task->tensor[which];
        tensor->device = (RdxDevice){2, id};
        tensor->data =
            (void *)((uintptr_t)mirror->place[which] + ((uintptr_t)tensor->data - (uintptr_t)buffer->usable));
        if (which == RDX_CASE_IN) {
            status = set_margins(mirror, task, which);
            status = status == RDX_OK ? send_input(mirror, task) : status;
        }
    }
    mirror->problem.in = &mirror->tensor[RDX_CASE_IN];
    mirror->problem.out = &mirror->tensor[RDX_CASE_OUT];
    mirror->problem.out2 = task->problem.out2 ? &mirror->tensor[RDX_CASE_OUT2] : NULL;
    if (status != RDX_OK)
        rdx_mirror_close(mirror);
    return status;
}

bool rdx_mirror_lacks_kernels(void)
{
    return plugin && plugin->small_tables;
}

static RdxStatus send(RdxMirror *mirror, RdxTask *task)
{
    RdxStatus status = RDX_OK;
    for (int which = RDX_CASE_OUT; status == RDX_OK && which < task->tensors; which++)
        status = plugin->copy(mirror->place[which], task->buffer[which].usable, bytes_of(task, which), mirror->id);
    return status;
}

static RdxStatus check_margins(const RdxMirror *mirror, const RdxTask *task, int which, char *sentence, size_t size)
{
    unsigned char got[MARGINS];
    size_t bytes = bytes_of(task, which), before = (size_t)(mirror->place[which] - mirror->memory[which]);
    RdxStatus status = plugin->copy(got, mirror->memory[which], before, mirror->id);
    if (status == RDX_OK)
        status = plugin->copy(got + before, mirror->place[which] + bytes, MARGINS - before, mirror->id);
    if (status != RDX_OK)
        snprintf(sentence, size, "%s", rdx_last_error());
    for (size_t i = 0; status == RDX_OK && i < MARGINS; i++)
        if (got[i] != CANARY) {
            snprintf(sentence, size, "bytes beside output %d were written on the device", which - 1);
            status = RDX_ERR_INTERNAL;
        }
    return status;
}

static RdxStatus fetch(RdxMirror *mirror, RdxTask *task)
{
    RdxStatus status = plugin->wait(NULL, mirror->id);
    for (int which = RDX_CASE_OUT; status == RDX_OK && which < task->tensors; which++)
        status = plugin->copy(task->buffer[which].usable, mirror->place[which], bytes_of(task, which), mirror->id);
    return status;
}

static bool workspace_intact(const unsigned char *room, size_t bytes, char *sentence, size_t size)
{
    size_t head = bytes < RDX_WORKSPACE_HEAD ? bytes : RDX_WORKSPACE_HEAD;
    for (size_t i = 0; i < PAGE; i++)
        if (room[i] != CANARY || room[PAGE + bytes + i] != CANARY) {
            snprintf(sentence, size, "bytes beside the workspace were written");
            return false;
        }
    for (size_t i = 0; i < head; i++)
        if (room[PAGE + i] != 0) {
            snprintf(sentence, size, "counter %zu of the workspace is not zero again", i / 4);
            return false;
        }
    return true;
}

static RdxStatus execute_between_canaries(RdxMirror *mirror, RdxTask *task, const RdxPlan *plan, unsigned char *room,
                                          unsigned char *memory, char *sentence, size_t size)
{
    const RdxProblem *p = &mirror->problem;
    size_t bytes = rdx_plan_workspace(plan), all = bytes + 2 * PAGE;
    memset(room, CANARY, all);
    RdxStatus status = plugin->copy(memory, room, all, mirror->id);
    if (status == RDX_OK && bytes)
        status = rdx_workspace_init(plan, memory + PAGE, NULL);
    if (status == RDX_OK)
        status = send(mirror, task);
    for (int which = RDX_CASE_OUT; status == RDX_OK && which < task->tensors; which++)
        status = set_margins(mirror, task, which);
    if (status == RDX_OK)
        status =
            rdx_execute(plan, p->in->data, p->out->data, p->out2 ? p->out2->data : NULL, memory + PAGE, bytes, NULL);
    if (status == RDX_OK)
        status = fetch(mirror, task);
    if (status == RDX_OK)
        status = plugin->copy(room, memory, all, mirror->id);
    if (status != RDX_OK)
        snprintf(sentence, size, "%s", rdx_last_error());
    else if (!workspace_intact(room, bytes, sentence, size))
        status = RDX_ERR_INTERNAL;
    for (int which = RDX_CASE_OUT; status == RDX_OK && which < task->tensors; which++)
        status = check_margins(mirror, task, which, sentence, size);
    return status;
}

RdxStatus rdx_mirror_execute(RdxMirror *mirror, RdxTask *task, const RdxPlan *plan, char *sentence, size_t size)
{
    size_t all = rdx_plan_workspace(plan) + 2 * PAGE;
    unsigned char *room = malloc(all);
    void *memory = NULL;
    RdxStatus status = room ? plugin->memory_take(&memory, all, mirror->id) : RDX_ERR_MEMORY;
    if (status == RDX_OK) {
        status = execute_between_canaries(mirror, task, plan, room, memory, sentence, size);
        if (plugin->memory_give(memory, mirror->id) != RDX_OK && status == RDX_OK)
            status = RDX_ERR_CUDA;
    } else {
        snprintf(sentence, size, "%s", room ? rdx_last_error() : "no memory");
    }
    free(room);
    return status;
}

RdxStatus rdx_mirror_reduce(RdxMirror *mirror, RdxTask *task)
{
    RdxStatus status = send(mirror, task);
    if (status == RDX_OK)
        status = rdx_reduce(&mirror->problem, NULL);
    return status == RDX_OK ? fetch(mirror, task) : status;
}
