/* redax.Plan: a reduction planned once for arrays of one dtype, shape, strides and device, and redax.explain, which
   plans without reducing. A plan has a workspace on the CPU that one call at a time takes; those on CUDA are in
   workspace.c. */
#include "redax_python.h"

#include <string.h>

typedef struct Plan {
    PyObject_HEAD RdxPlan *plan;
    const Function *function;
    RdxTensor in; /* as planned; shape and strides lie in here */
    int64_t extent[RDX_MAX_RANK], stride[RDX_MAX_RANK];
    Output outputs[2];     /* dtype, shape and strides alone */
    size_t bytes;          /* of workspace */
    void *idle;            /* CPU: the workspace that no call is using, or NULL */
    Workspaces workspaces; /* CUDA */
} Plan;

/* ---- Making ---- */

static void copy_tensor(Plan *plan, const RdxTensor *in)
{
    int64_t row_major = 1;
    plan->in = *in;
    for (int d = in->ndim - 1; d >= 0; d--) {
        plan->extent[d] = in->shape[d];
        plan->stride[d] = in->strides ? in->strides[d] : row_major;
        row_major *= in->shape[d];
    }
    plan->in.shape = plan->extent;
    plan->in.strides = plan->stride;
}

static void set_row_major(Output *output)
{
    int64_t count = 1;
    for (int d = output->tensor.ndim - 1; d >= 0; d--) {
        output->stride[d] = count;
        count *= output->extent[d];
    }
    output->tensor.strides = output->stride;
}

/* Plans x's reduction: the problem's outputs are row-major, without memory yet. */
static RdxPlan *make_plan(Call *call, const Function *function, Output outputs[2])
{
    RdxPlan *made = NULL;
    if (call->out) {
        PyErr_SetString(PyExc_TypeError, "out= is given when a plan is called");
        return NULL;
    }
    if (call_infer(call, function, outputs) < 0)
        return NULL;
    for (int i = 0; i < 2; i++) {
        outputs[i].tensor.data = NULL;
        if (i == 0 || function->takes & GIVES_TWO)
            set_row_major(&outputs[i]);
    }
    call->problem.out = &outputs[0].tensor;
    call->problem.out2 = function->takes & GIVES_TWO ? &outputs[1].tensor : NULL;
    RdxStatus status = rdx_plan_create(&made, &call->problem);
    if (status != RDX_OK)
        raise_status(status);
    return made;
}

enum { MOST_OPTIONS = 16 };

/* A dict of options as call_read takes them. */
static int read_options(Call *call, const Function *function, PyObject *options)
{
    PyObject *key, *value, *values[MOST_OPTIONS];
    Py_ssize_t position = 0, count = 0, size = options ? PyDict_Size(options) : 0;
    PyObject *names = PyTuple_New(size < MOST_OPTIONS ? size : MOST_OPTIONS);
    while (names && options && count < MOST_OPTIONS && PyDict_Next(options, &position, &key, &value)) {
        values[count] = value;
        PyTuple_SetItem(names, count++, Py_NewRef(key));
    }
    int read = names ? call_read(call, function, values, names) : -1;
    Py_XDECREF(names);
    return read;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *op, *x;
    Call call;
    View in;
    if (!PyArg_ParseTuple(args, "UO:Plan", &op, &x))
        return NULL;
    const Function *function = function_named(op);
    if (!function || read_options(&call, function, options) < 0)
        return NULL;
    Kind *kind = kind_of(x);
    if (!kind || view_open(&in, kind, x) < 0)
        return NULL;
    Plan *plan = (Plan *)PyType_GenericAlloc(type, 0);
    if (plan) {
        copy_tensor(plan, &in.tensor);
        plan->function = function;
        call.problem.in = &plan->in;
        plan->plan = make_plan(&call, function, plan->outputs);
        plan->bytes = rdx_plan_workspace(plan->plan);
        if (!plan->plan)
            Py_CLEAR(plan);
    }
    view_close(&in);
    return (PyObject *)plan;
}

static void plan_free(PyObject *self)
{
    Plan *plan = (Plan *)self;
    PyTypeObject *type = Py_TYPE(self);
    rdx_plan_destroy(plan->plan);
    PyMem_Free(plan->idle);
    workspaces_free(&plan->workspaces);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- Calling ---- */

static int differ(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s than the plan's; make a plan for this array", what);
    return -1;
}

/* Extents and strides as planned; a stride along which nothing lies may be anything. */
static int check_layout(const RdxTensor *given, const RdxTensor *planned, const char *name)
{
    int64_t row_major = 1;
    bool nothing = false;
    for (int d = 0; d < planned->ndim; d++)
        nothing = nothing || planned->shape[d] == 0;
    if (memcmp(&given->dtype, &planned->dtype, sizeof given->dtype) != 0)
        return PyErr_Format(PyExc_TypeError, "%s has another dtype than the plan's", name), -1;
    if (given->ndim != planned->ndim)
        return differ(name[0] == 'x' ? "x has another rank" : "out has another rank");
    for (int d = given->ndim - 1; d >= 0; d--) {
        int64_t stride = given->strides ? given->strides[d] : row_major;
        if (given->shape[d] != planned->shape[d])
            return differ(name[0] == 'x' ? "x has another shape" : "out has another shape");
        if (!nothing && given->shape[d] > 1 && stride != planned->strides[d])
            return differ(name[0] == 'x' ? "x has other strides" : "out has other strides");
        row_major *= given->shape[d];
    }
    bool cuda = on_cuda(given->device);
    if (cuda != on_cuda(planned->device) || (cuda && given->device.id != planned->device.id))
        return differ(name[0] == 'x' ? "x is on another device" : "out is on another device");
    return 0;
}

static char *first_byte(const RdxTensor *tensor)
{
    return (char *)tensor->data + tensor->byte_offset;
}

static int execute(Plan *plan, Kind *kind, PyObject *x, const View *in, Output outputs[2])
{
    bool cuda = on_cuda(plan->in.device), two = plan->function->takes & GIVES_TWO;
    void *workspace = NULL;
    int place = -1;
    if (plan->bytes && cuda) {
        place = workspace_take(&plan->workspaces, plan->plan, plan->in.device, kind, x, in->stream);
        workspace = place < 0 ? NULL : plan->workspaces.list[place].data;
    } else if (plan->bytes) {
        workspace = plan->idle ? plan->idle : PyMem_Malloc(plan->bytes);
        plan->idle = NULL;
        if (!workspace)
            PyErr_NoMemory();
    }
    if (plan->bytes && !workspace)
        return -1;
    /* The plan's own offset is added to the address that it is given. */
    const char *address = first_byte(&in->tensor) - plan->in.byte_offset;
    RdxStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = rdx_execute(plan->plan, address, first_byte(&outputs[0].tensor),
                         two ? first_byte(&outputs[1].tensor) : NULL, workspace, plan->bytes, in->stream);
    Py_END_ALLOW_THREADS;
    if (place >= 0)
        workspace_give(&plan->workspaces, place, status);
    if (!cuda && plan->idle)
        PyMem_Free(workspace);
    else if (!cuda)
        plan->idle = workspace;
    return status == RDX_OK ? 0 : raise_status(status);
}

/* Outputs as planned, given or made. */
static int plan_outputs(Plan *plan, Call *call, Output outputs[2], Kind *kind, PyObject *x)
{
    int count = plan->function->takes & GIVES_TWO ? 2 : 1;
    for (int i = 0; i < count; i++) {
        outputs[i].tensor = plan->outputs[i].tensor;
        memcpy(outputs[i].extent, plan->outputs[i].extent, sizeof outputs[i].extent);
    }
    if (call_outputs(call, plan->function, outputs, kind, x) < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        if (check_layout(&outputs[i].tensor, &plan->outputs[i].tensor, "out") == 0)
            continue;
        call_drop(call, outputs);
        return -1;
    }
    return 0;
}

static PyObject *plan_call(PyObject *self, PyObject *args, PyObject *options)
{
    static char *names[] = {"", "out", NULL};
    static const RdxProblem plain = RDX_PROBLEM_INIT;
    Plan *plan = (Plan *)self;
    PyObject *x, *out = Py_None, *result = NULL;
    View in;
    Output outputs[2];
    if (!PyArg_ParseTupleAndKeywords(args, options, "O|$O:Plan", names, &x, &out))
        return NULL;
    Kind *kind = kind_of(x);
    if (!kind || view_open(&in, kind, x) < 0)
        return NULL;
    Call call = {.problem = plain, .out = out == Py_None ? NULL : out};
    if (check_layout(&in.tensor, &plan->in, "x") == 0 && plan_outputs(plan, &call, outputs, kind, x) == 0) {
        if (execute(plan, kind, x, &in, outputs) == 0)
            result = call_result(plan->function, outputs, kind);
        else
            call_drop(&call, outputs);
    }
    view_close(&in);
    return result;
}

/* ---- Explaining ---- */

static PyObject *explained(const RdxPlan *plan, int format)
{
    size_t size = 0;
    RdxStatus status = rdx_plan_explain(plan, format, NULL, 0, &size);
    char *text = status == RDX_OK ? PyMem_Malloc(size) : NULL;
    if (text)
        status = rdx_plan_explain(plan, format, text, size, NULL);
    PyObject *string = text && status == RDX_OK ? PyUnicode_FromString(text) : NULL;
    PyMem_Free(text);
    if (status != RDX_OK)
        raise_status(status);
    else if (!text)
        PyErr_NoMemory();
    return string;
}

static PyObject *explanation_of(const RdxPlan *plan) /* the class is Python's: nothing here is in a hurry */
{
    PyObject *package = PyImport_ImportModule("redax");
    PyObject *class = package ? PyObject_GetAttrString(package, "Explanation") : NULL;
    PyObject *text = class ? explained(plan, RDX_TEXT) : NULL, *record = text ? explained(plan, RDX_JSON) : NULL;
    PyObject *made = record ? PyObject_CallFunctionObjArgs(class, text, record, NULL) : NULL;
    Py_XDECREF(package);
    Py_XDECREF(class);
    Py_XDECREF(text);
    Py_XDECREF(record);
    return made;
}

static PyObject *plan_explain_self(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return explanation_of(((Plan *)self)->plan);
}

PyObject *plan_explain(PyObject *module, PyObject *args, PyObject *options)
{
    PyObject *x, *op, *axis = NULL, *result = NULL;
    Call call;
    View in;
    Output outputs[2];
    (void)module;
    if (!PyArg_ParseTuple(args, "OU|O:explain", &x, &op, &axis))
        return NULL;
    if (axis && options && PyDict_GetItemString(options, "axis")) {
        PyErr_SetString(PyExc_TypeError, "axis is given twice, by position and by name");
        return NULL;
    }
    const Function *function = function_named(op);
    if (!function || read_options(&call, function, options) < 0 || (axis && call_read_axes(&call, axis) < 0))
        return NULL;
    Kind *kind = kind_of(x);
    if (!kind || view_open(&in, kind, x) < 0)
        return NULL;
    call.problem.in = &in.tensor;
    RdxPlan *plan = make_plan(&call, function, outputs);
    if (plan)
        result = explanation_of(plan);
    rdx_plan_destroy(plan);
    view_close(&in);
    return result;
}

int plan_ready(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"explain", plan_explain_self, METH_NOARGS,
         "explain($self, /)\n--\n\nWhat the plan does and why, as an Explanation."},
        {0},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, plan_new},
        {Py_tp_dealloc, plan_free},
        {Py_tp_call, plan_call},
        {Py_tp_methods, methods},
        {Py_tp_doc,
         "Plan(op, x, /, **options)\n--\n\n"
         "A reduction planned once for arrays like x. op: the name of a function of redax that reduces; "
         "options: what that function\ntakes, but out.\n\n"
         "plan(x, /, *, out=None) reduces an array of the dtype, shape, strides and device that were planned; "
         "others are a ValueError\n(another dtype a TypeError), as is an address that is a multiple of fewer bytes, up "
         "to 16, than that of the array\nthat was planned for. Any threads may call one plan at once. On CUDA a plan "
         "has "
         "one workspace for each stream and each\ncapture."},
        {0},
    };
    static PyType_Spec spec = {"redax.Plan", sizeof(Plan), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    int added = type ? PyModule_AddObjectRef(module, "Plan", type) : -1;
    Py_XDECREF(type);
    return added;
}
