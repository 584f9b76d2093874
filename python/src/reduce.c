/* The functions that reduce. All take one array and keyword options; each row of functions.def is one function, read by
   one parser and run by one body. Nothing here is Python code: a call goes from the interpreter to the C library. */
#include "redax_python.h"

#include <string.h>

/* ---- The table ---- */

#define X(name, op, takes, signature, documentation) {#name, op, takes},
const Function functions[] = {
#include "functions.def"
    {0},
};
#undef X

const Function *function_named(PyObject *name)
{
    for (const Function *f = functions; f->name; f++)
        if (PyUnicode_CompareWithASCIIString(name, f->name) == 0)
            return f;
    PyErr_Format(PyExc_ValueError, "op is '%U'; it is the name of a function of redax that reduces", name);
    return NULL;
}

/* ---- Options ---- */

enum { AXIS, KEEPDIMS, DTYPE, CORRECTION, ORD, NAN_, OUT, OPTIONS };
static const char *const option_names[OPTIONS] = {"axis", "keepdims", "dtype", "correction", "ord", "nan", "out"};
static const int option_needs[OPTIONS] = {[DTYPE] = TAKES_DTYPE, [CORRECTION] = TAKES_CORRECTION, [ORD] = TAKES_ORD};
static PyObject *option_objects[OPTIONS]; /* interned: what a call site holds is the same object */
static PyObject *omit_object, *propagate_object;

static int option_of(PyObject *name, const Function *function)
{
    int option = 0;
    while (option < OPTIONS && name != option_objects[option])
        option++;
    for (int i = 0; option == OPTIONS && i < OPTIONS; i++)
        if (PyUnicode_Compare(name, option_objects[i]) == 0)
            return option_of(option_objects[i], function);
    if (option < OPTIONS && (option_needs[option] & ~function->takes) == 0)
        return option;
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function->name, name);
    return -1;
}

static int read_axis(PyObject *object, int32_t *axis)
{
    int overflow = 0;
    PyObject *number = PyNumber_Index(object);
    long value = number ? PyLong_AsLongAndOverflow(number, &overflow) : -1;
    Py_XDECREF(number);
    if (value == -1 && PyErr_Occurred())
        return -1;
    if (overflow || value > INT32_MAX || value < INT32_MIN) {
        PyErr_Format(axis_error, "axis %R is out of range", object);
        return -1;
    }
    *axis = (int32_t)value;
    return 0;
}

int call_read_axes(Call *call, PyObject *value)
{
    if (value == Py_None)
        return 0;
    if (!PyTuple_Check(value) && !PyList_Check(value)) {
        call->problem.naxes = 1;
        return read_axis(value, &call->axes[0]);
    }
    Py_ssize_t count = PySequence_Size(value);
    if (count > RDX_MAX_RANK) {
        PyErr_Format(axis_error, "%zd axes; there are at most %d", count, RDX_MAX_RANK);
        return -1;
    }
    call->problem.naxes = (int32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *axis = PySequence_GetItem(value, i); /* held: its __index__ may empty the list */
        int read = axis ? read_axis(axis, &call->axes[i]) : -1;
        Py_XDECREF(axis);
        if (read < 0)
            return -1;
    }
    return 0;
}

static int read_nan(Call *call, PyObject *value)
{
    if (value == propagate_object)
        return 0;
    bool text = PyUnicode_Check(value);
    if (value == omit_object || (text && PyUnicode_Compare(value, omit_object) == 0)) {
        call->problem.nan = RDX_NAN_OMIT;
        return 0;
    }
    if (text && PyUnicode_Compare(value, propagate_object) == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "nan is %R; it is 'propagate' or 'omit'", value);
    return -1;
}

static int read_real(PyObject *value, double *number)
{
    *number = PyFloat_AsDouble(value);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int read_option(Call *call, int option, PyObject *value)
{
    int truth;
    switch (option) {
    case AXIS:
        return call_read_axes(call, value);
    case KEEPDIMS:
        truth = value == Py_False ? 0 : PyObject_IsTrue(value);
        call->keepdims = truth > 0;
        return truth < 0 ? -1 : 0;
    case DTYPE:
        call->has_dtype = value != Py_None;
        return call->has_dtype ? dtype_read(value, &call->dtype) : 0;
    case CORRECTION:
        return read_real(value, &call->problem.correction);
    case ORD:
        return read_real(value, &call->problem.p);
    case NAN_:
        return read_nan(call, value);
    default:
        call->out = value == Py_None ? NULL : value;
        return 0;
    }
}

int call_read(Call *call, const Function *function, PyObject *const *values, PyObject *names)
{
    static const RdxProblem plain = RDX_PROBLEM_INIT;
    call->problem = plain;
    call->problem.op = function->op;
    call->problem.axes = call->axes;
    call->keepdims = call->has_dtype = false;
    call->out = NULL;
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int option = option_of(PyTuple_GetItem(names, i), function);
        if (option < 0 || read_option(call, option, values[i]) < 0)
            return -1;
    }
    return 0;
}

/* ---- Outputs ---- */

/* The mean beside a variance of complex numbers is complex: of twice the bits that were asked for. */
static RdxDtype second_dtype(const Call *call)
{
    RdxDtype dtype = call->dtype;
    if (call->problem.op == RDX_VAR && call->problem.in->dtype.code == RDX_C64 >> 8)
        dtype = (RdxDtype){RDX_C64 >> 8, (uint8_t)(dtype.bits * 2), 1};
    return dtype;
}

/* More axes than there are: the library says no more than that, as it has no axis to point at. */
static int check_axis_count(const Call *call)
{
    int rank = call->problem.in->ndim;
    for (int i = 0; call->problem.naxes > rank && i < call->problem.naxes; i++)
        if (call->axes[i] < -rank || call->axes[i] >= rank)
            return PyErr_Format(axis_error, "axis %d is out of range for rank %d", (int)call->axes[i], rank), -1;
    return 0;
}

int call_infer(Call *call, const Function *function, Output outputs[2])
{
    bool two = function->takes & GIVES_TWO;
    if (check_axis_count(call) < 0)
        return -1;
    outputs[0].tensor.shape = outputs[0].extent;
    outputs[1].tensor.shape = outputs[1].extent;
    RdxStatus status =
        rdx_infer_outputs(&call->problem, call->keepdims, &outputs[0].tensor, two ? &outputs[1].tensor : NULL);
    if (status != RDX_OK)
        return raise_status(status);
    if (call->has_dtype) {
        outputs[0].tensor.dtype = call->dtype;
        outputs[1].tensor.dtype = second_dtype(call);
    }
    if (two && type_number(outputs[1].tensor.dtype) < 0) {
        PyErr_Format(PyExc_TypeError, "%s of complex numbers does not give %s: its mean has no complex dtype",
                     function->name, type_name(type_number(call->dtype)));
        return -1;
    }
    return 0;
}

static int open_given(Output *output, PyObject *array, bool has_dtype)
{
    Kind *kind = kind_of(array);
    RdxTensor wanted = output->tensor;
    output->managed = NULL;
    output->object = NULL;
    /* PyTorch has no read-only tensors; of the others a managed tensor says it. */
    if (!kind || (kind->family == FAMILY_TORCH ? view_open : view_open_managed)(&output->view, kind, array) < 0)
        return -1;
    output->tensor = output->view.tensor;
    output->object = Py_NewRef(array);
    if (output->view.read_only || kind->family == FAMILY_JAX)
        PyErr_SetString(PyExc_ValueError, "out is read-only");
    else if (output->tensor.ndim != wanted.ndim)
        PyErr_Format(PyExc_ValueError, "out has rank %d; the result has rank %d", (int)output->tensor.ndim,
                     (int)wanted.ndim);
    else if (has_dtype && memcmp(&output->tensor.dtype, &wanted.dtype, sizeof wanted.dtype) != 0)
        PyErr_SetString(PyExc_TypeError, "out is of another dtype than dtype=");
    else
        return 0;
    output_drop(output);
    return -1;
}

int call_outputs(Call *call, const Function *function, Output outputs[2], Kind *kind, PyObject *like)
{
    int count = function->takes & GIVES_TWO ? 2 : 1;
    if (call->out && count == 2 && !(PyTuple_Check(call->out) && PyTuple_Size(call->out) == 2)) {
        PyErr_Format(PyExc_TypeError, "out of %s is a pair of arrays", function->name);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        PyObject *given = call->out && count == 2 ? PyTuple_GetItem(call->out, i) : call->out;
        if ((given ? open_given(&outputs[i], given, call->has_dtype) : output_new(&outputs[i], kind, like)) == 0)
            continue;
        if (i == 1)
            output_drop(&outputs[0]);
        return -1;
    }
    call->problem.out = &outputs[0].tensor;
    call->problem.out2 = count == 2 ? &outputs[1].tensor : NULL;
    return 0;
}

PyObject *call_result(const Function *function, Output outputs[2], const Kind *kind)
{
    PyObject *first = output_take(&outputs[0], kind);
    if (!(function->takes & GIVES_TWO))
        return first;
    PyObject *second = output_take(&outputs[1], kind);
    PyObject *pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return pair;
}

void call_drop(const Call *call, Output outputs[2])
{
    output_drop(&outputs[0]);
    if (call->problem.out2)
        output_drop(&outputs[1]);
}

/* ---- The body ---- */

static PyObject *reduce(const Function *function, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Call call;
    View in;
    Output outputs[2];
    PyObject *result = NULL;
    if (count != 1)
        return PyErr_Format(PyExc_TypeError, "%s() takes one array by position, the rest by name; %zd were given",
                            function->name, count);
    if (call_read(&call, function, args + 1, names) < 0)
        return NULL;
    Kind *kind = kind_of(args[0]);
    if (kind && kind->family == FAMILY_JAX && !kind->exchange) {
        RdxDevice device;
        if (device_of(args[0], &device) < 0)
            return NULL;
        if (on_cuda(device))
            return jax_reduce(function, &call, device, args[0], args + 1, names);
    }
    if (!kind || view_open(&in, kind, args[0]) < 0)
        return NULL;
    call.problem.in = &in.tensor;
    if (call_infer(&call, function, outputs) == 0 && call_outputs(&call, function, outputs, kind, args[0]) == 0) {
        RdxStatus status;
        Py_BEGIN_ALLOW_THREADS;
        status = rdx_reduce(&call.problem, in.stream);
        Py_END_ALLOW_THREADS;
        if (status == RDX_OK) {
            result = call_result(function, outputs, kind);
        } else {
            raise_status(status);
            call_drop(&call, outputs);
        }
    }
    view_close(&in);
    return result;
}

#define X(name, op, takes, signature, documentation) PLACE_##name,
enum {
#include "functions.def"
    PLACES
};
#undef X

#define X(name, op, takes, signature, documentation)                                                                   \
    static PyObject *redax_##name(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)          \
    {                                                                                                                  \
        (void)module;                                                                                                  \
        return reduce(&functions[PLACE_##name], args, count, names);                                                   \
    }
#include "functions.def"
#undef X

int make_functions(PyObject *module)
{
#define X(name, op, takes, signature, documentation)                                                                   \
    {#name, (PyCFunction)(void (*)(void))redax_##name, METH_FASTCALL | METH_KEYWORDS,                                  \
     #name "(x, /, *, " signature ")\n--\n\n" documentation},
    static PyMethodDef methods[] = {
#include "functions.def"
        {0},
    };
#undef X
    for (int i = 0; i < OPTIONS; i++)
        option_objects[i] = PyUnicode_InternFromString(option_names[i]);
    omit_object = PyUnicode_InternFromString("omit");
    propagate_object = PyUnicode_InternFromString("propagate");
    return PyErr_Occurred() ? -1 : PyModule_AddFunctions(module, methods);
}
