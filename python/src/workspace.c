/* Workspaces of a redax.Plan on CUDA, made by the array's library: for each stream, each capture, and each thread that
   launches at the same time. They are kept as long as the plan; what a capture readies is ready when its graph runs, so
   a capture's are for that graph alone. The GIL is held but between taking and giving: places in the list stay,
   addresses do not. */
#include "redax_python.h"

#include <dlfcn.h>
#include <string.h>

enum { ALIGNMENT = 256 };

static void find_driver(const char *name, void *function) /* the driver is loaded where CUDA tensors are */
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *symbol = driver ? dlsym(driver, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
}

/* Handles are used again, and one stands for a stream in every thread: the driver numbers streams, and captures, for
   good. */
static Workspace workspace_key(RdxStream stream)
{
    static int (*get_id)(RdxStream stream, uint64_t * number);
    static int (*get_capture)(RdxStream stream, int *state, uint64_t *number);
    Workspace key = {.stream = (uintptr_t)stream};
    int state = 0;
    uint64_t number = 0;
    if (!get_id || !get_capture) {
        find_driver("cuStreamGetId", &get_id);
        find_driver("cuStreamGetCaptureInfo", &get_capture);
    }
    if (get_capture && get_capture(stream, &state, &number) == 0 && state == 1) /* it is capturing */
        key.capture = number;
    else if (get_id && get_id(stream, &number) == 0)
        key.stream = number;
    return key;
}

/* One more workspace, by the array's library; its place. */
static int add(Workspaces *all, const RdxPlan *plan, RdxDevice device, Kind *kind, PyObject *like, Workspace made)
{
    Output output;
    output.tensor = (RdxTensor){NULL, device, 1, {RDX_U8 >> 8, RDX_U8 & 255, 1}, NULL, NULL, 0};
    output.extent[0] = (int64_t)rdx_plan_workspace(plan) + ALIGNMENT - 1; /* memory may begin between multiples */
    if (output_new(&output, kind, like) < 0)
        return -1;
    char *first = (char *)output.tensor.data + output.tensor.byte_offset;
    made.data = first + (-(uintptr_t)first & (ALIGNMENT - 1));
    made.object = output_take(&output, kind);
    if (!made.object)
        return -1;
    /* After all that may run Python, where other threads add theirs. */
    Workspace *grown = PyMem_Realloc(all->list, (size_t)(all->count + 1) * sizeof *grown);
    if (!grown) {
        Py_DECREF(made.object);
        PyErr_NoMemory();
        return -1;
    }
    all->list = grown;
    grown[all->count] = made;
    return all->count++;
}

int workspace_take(Workspaces *all, const RdxPlan *plan, RdxDevice device, Kind *kind, PyObject *like, RdxStream stream)
{
    Workspace key = workspace_key(stream);
    int place = 0;
    while (place < all->count &&
           (all->list[place].stream != key.stream || all->list[place].capture != key.capture || all->list[place].busy))
        place++;
    if (place == all->count)
        place = add(all, plan, device, kind, like, key);
    if (place < 0)
        return -1;
    if (!all->list[place].ready) {
        RdxStatus status = rdx_workspace_init(plan, all->list[place].data, stream);
        if (status != RDX_OK)
            return raise_status(status);
    }
    all->list[place].ready = all->list[place].busy = true;
    return place;
}

void workspace_give(Workspaces *all, int place, RdxStatus status)
{
    all->list[place].busy = false;
    all->list[place].ready = status != RDX_ERR_CUDA; /* what CUDA broke off may have left something in it */
}

void workspaces_free(Workspaces *all)
{
    for (int i = 0; i < all->count; i++)
        Py_DECREF(all->list[i].object);
    PyMem_Free(all->list);
}
