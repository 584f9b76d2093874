/* JAX on CUDA. JAX names no current stream, and never lets its arrays be written, but it asks a from_dlpack's producer
   to be ready on a stream of JAX's choice. So the reduction is put off until from_dlpack asks, and goes on that stream,
   in memory that JAX gave as bytes (64-bit dtypes have no JAX array of their own where x64 is off). redax/_jax.py does
   the asking. */
#include "redax_python.h"

static int read_input(PyObject *x, RdxTensor *in, int64_t *extent)
{
    PyObject *shape = PyObject_GetAttrString(x, "shape"), *dtype = shape ? PyObject_GetAttrString(x, "dtype") : NULL;
    Py_ssize_t rank = shape && PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    int good = dtype && rank >= 0 && rank <= RDX_MAX_RANK && dtype_read(dtype, &in->dtype) == 0;
    for (Py_ssize_t d = 0; good && d < rank; d++) {
        extent[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
        good = !(extent[d] == -1 && PyErr_Occurred());
    }
    in->ndim = (int32_t)rank;
    in->shape = extent;
    if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "x has no shape that redax can read");
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return good ? 0 : -1;
}

static PyObject *options_dict(PyObject *const *values, PyObject *names)
{
    PyObject *options = PyDict_New();
    for (Py_ssize_t i = 0; options && names && i < PyTuple_Size(names); i++)
        if (PyDict_SetItem(options, PyTuple_GetItem(names, i), values[i]) < 0)
            Py_CLEAR(options);
    return options;
}

PyObject *jax_reduce(const Function *function, Call *call, RdxDevice device, PyObject *x, PyObject *const *values,
                     PyObject *names)
{
    int64_t extent[RDX_MAX_RANK];
    RdxTensor in = {.device = device};
    Output outputs[2];
    int count = function->takes & GIVES_TWO ? 2 : 1;
    call->problem.in = &in;
    if (call->out) {
        PyErr_SetString(PyExc_ValueError, "out is read-only: JAX's arrays are never written");
        return NULL;
    }
    if (read_input(x, &in, extent) < 0 || call_infer(call, function, outputs) < 0)
        return NULL;
    PyObject *memories = PyTuple_New(count), *options = options_dict(values, names), *result = NULL;
    for (int i = 0; memories && i < count; i++) {
        PyObject *memory = memory_to_come(&outputs[i].tensor);
        if (!memory || PyTuple_SetItem(memories, i, memory) < 0)
            Py_CLEAR(memories);
    }
    PyObject *module = memories && options ? PyImport_ImportModule("redax._jax") : NULL;
    if (module)
        result = PyObject_CallMethod(module, "reduce", "sOOO", function->name, x, memories, options);
    Py_XDECREF(module);
    Py_XDECREF(memories);
    Py_XDECREF(options);
    return result;
}
