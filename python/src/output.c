/* Arrays to give back, of the caller's kind and on the caller's device: allocated by the producer itself through the
   exchange API, else by its module's empty, else taken by its from_dlpack from memory that redax owns. */
#include "redax_python.h"

#include <string.h>

static void set_row_major(Output *output)
{
    int64_t count = 1;
    for (int d = output->tensor.ndim - 1; d >= 0; d--) {
        output->stride[d] = count;
        count *= output->extent[d];
    }
    output->tensor.shape = output->extent;
    output->tensor.strides = output->stride;
    output->tensor.byte_offset = 0;
    if (output->tensor.device.type == DL_CUDA_HOST) /* results need no pinned memory */
        output->tensor.device.type = DL_CPU;
}

/* ---- The producer's allocator ---- */

static void set_error(void *context, const char *kind, const char *message)
{
    (void)context;
    PyErr_SetString(strcmp(kind, "MemoryError") == 0 ? PyExc_MemoryError : PyExc_RuntimeError, message);
}

static int by_allocator(Output *output, const Kind *kind)
{
    if (kind->exchange->allocate(&output->tensor, &output->managed, NULL, set_error) != 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_MemoryError, "the array's library gave no memory for the result");
        return -1;
    }
    output->tensor = output->managed->tensor;
    return 0;
}

/* ---- empty ---- */

static PyObject *shape_tuple(const Output *output)
{
    PyObject *shape = PyTuple_New(output->tensor.ndim);
    for (int d = 0; shape && d < output->tensor.ndim; d++) {
        PyObject *extent = PyLong_FromLongLong(output->extent[d]);
        if (!extent || PyTuple_SetItem(shape, d, extent) < 0)
            Py_CLEAR(shape);
    }
    return shape;
}

/* empty(shape, dtype=, device=), without the device where the library takes none. */
static PyObject *call_empty(const Kind *kind, PyObject *shape, PyObject *dtype, PyObject *like)
{
    PyObject *device = PyObject_GetAttrString(like, "device");
    PyObject *args = PyTuple_Pack(1, shape), *options = PyDict_New(), *made = NULL;
    bool good = args && options && PyDict_SetItemString(options, "dtype", dtype) == 0;
    if (!device)
        PyErr_Clear();
    if (good && (!device || PyDict_SetItemString(options, "device", device) == 0))
        made = PyObject_Call(kind->empty, args, options);
    if (!made && good && device && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        if (PyDict_DelItemString(options, "device") == 0)
            made = PyObject_Call(kind->empty, args, options);
    }
    Py_XDECREF(device);
    Py_XDECREF(args);
    Py_XDECREF(options);
    return made;
}

/* CuPy's empty is on the current device: the array's is made current around it. */
static PyObject *call_cupy_empty(const Kind *kind, PyObject *shape, PyObject *dtype, PyObject *like)
{
    PyObject *device = PyObject_GetAttrString(like, "device");
    PyObject *entered = device ? PyObject_CallMethod(device, "__enter__", NULL) : NULL;
    PyObject *made = entered ? PyObject_CallFunctionObjArgs(kind->empty, shape, dtype, NULL) : NULL;
    if (entered) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *left = PyObject_CallMethod(device, "__exit__", "OOO", Py_None, Py_None, Py_None);
        if (!left)
            PyErr_Clear();
        Py_XDECREF(left);
        PyErr_Restore(type, value, trace);
    }
    Py_XDECREF(entered);
    Py_XDECREF(device);
    return made;
}

/* What NumPy's empty makes is row-major: its address is all that is left to ask. */
static int find_address(Output *output)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(output->object, &buffer, PyBUF_SIMPLE | PyBUF_WRITABLE) < 0) {
        Py_CLEAR(output->object);
        return -1;
    }
    output->tensor.data = buffer.buf;
    PyBuffer_Release(&buffer);
    return 0;
}

static int by_empty(Output *output, Kind *kind, PyObject *like)
{
    int number = type_number(output->tensor.dtype);
    PyObject *dtype = number < 0 ? NULL : kind_dtype(kind, number, like), *shape = dtype ? shape_tuple(output) : NULL;
    if (!shape)
        return -1;
    if (kind->family == FAMILY_NUMPY)
        output->object = PyObject_CallFunctionObjArgs(kind->empty, shape, dtype, NULL);
    else if (kind->family == FAMILY_CUPY)
        output->object = call_cupy_empty(kind, shape, dtype, like);
    else
        output->object = call_empty(kind, shape, dtype, like);
    Py_DECREF(shape);
    if (!output->object)
        return -1;
    if (kind->family == FAMILY_NUMPY)
        return find_address(output);
    Kind *made = Py_TYPE(output->object) == kind->type ? kind : kind_of(output->object);
    if (!made || view_open(&output->view, made, output->object) < 0) {
        Py_CLEAR(output->object);
        return -1;
    }
    output->tensor = output->view.tensor;
    return 0;
}

/* ---- Memory of redax's own ---- */

static int by_memory(Output *output)
{
    if (on_cuda(output->tensor.device)) {
        PyErr_SetString(PyExc_TypeError, "x is on CUDA, but its module has no empty to make the result with");
        return -1;
    }
    output->tensor.device = (RdxDevice){DL_CPU, 0};
    output->object = memory_new(&output->tensor);
    return output->object ? 0 : -1;
}

static PyObject *give_memory(PyObject *memory, const Kind *kind) /* takes the reference */
{
    PyObject *take = kind->space ? PyObject_GetAttrString(kind->space, "from_dlpack") : NULL, *made;
    if (!take && kind->family == FAMILY_JAX) {
        PyErr_Clear();
        PyObject *numpy = PyImport_ImportModule("jax.numpy");
        take = numpy ? PyObject_GetAttrString(numpy, "from_dlpack") : NULL;
        Py_XDECREF(numpy);
    }
    PyErr_Clear();
    made = take ? PyObject_CallFunctionObjArgs(take, memory, NULL) : PyMemoryView_FromObject(memory);
    Py_XDECREF(take);
    Py_DECREF(memory);
    return made;
}

/* ---- Whatever the kind ---- */

int output_new(Output *output, Kind *kind, PyObject *like)
{
    output->managed = NULL;
    output->object = NULL;
    output->view.capsule = output->view.stand_in = NULL;
    output->view.managed = NULL;
    output->view.buffered = false;
    set_row_major(output);
    if (kind->exchange)
        return by_allocator(output, kind);
    if (kind->empty && kind->family != FAMILY_JAX) /* JAX's arrays are never written */
        return by_empty(output, kind, like);
    return by_memory(output);
}

PyObject *output_take(Output *output, const Kind *kind)
{
    view_close(&output->view);
    if (output->managed) {
        void *object = NULL;
        DlManaged *managed = output->managed;
        output->managed = NULL;
        return kind->exchange->object_from_managed(managed, &object) == 0 ? object : NULL;
    }
    PyObject *object = output->object;
    output->object = NULL;
    return object && Py_TYPE(object) == memory_type ? give_memory(object, kind) : object;
}

void output_drop(Output *output)
{
    view_close(&output->view);
    if (output->managed && output->managed->deleter)
        output->managed->deleter(output->managed);
    output->managed = NULL;
    Py_CLEAR(output->object);
}
