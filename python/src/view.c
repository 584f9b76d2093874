/* A look into an array's memory without a copy: through the DLPack C exchange API where the array's type has it, else
   __dlpack__, else the buffer protocol. NumPy's dtypes from ml_dtypes are known to none of the three: they are viewed
   as unsigned integers of their size. An open view keeps the memory; its tensor may point into the view itself. */
#include "redax_python.h"

#include <dlfcn.h>
#include <string.h>

bool on_cuda(RdxDevice device)
{
    return device.type == DL_CUDA || device.type == DL_CUDA_MANAGED;
}

/* ---- Calls ---- */

typedef PyObject *(*CallMethod)(PyObject *name, PyObject *const *args, size_t count, PyObject *names);
static CallMethod call_method;

/* PyObject_VectorcallMethod makes neither a bound method nor a dict. It is in the stable ABI since 3.12; 3.11 has it as
   well, but not in its header for the stable ABI. */
int view_ready(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "PyObject_VectorcallMethod");
    memcpy(&call_method, &symbol, sizeof call_method);
    if (!call_method)
        PyErr_SetString(PyExc_ImportError, "this Python has no PyObject_VectorcallMethod");
    return call_method ? 0 : -1;
}

/* ---- Streams ---- */

static int read_stream(PyObject *number, RdxStream *stream) /* takes the reference */
{
    void *pointer = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    if (!pointer && PyErr_Occurred())
        return -1;
    *stream = pointer;
    return 0;
}

static PyObject *attribute_of_call(PyObject *owner, const char *call, int argument, const char *attribute)
{
    PyObject *made = owner ? PyObject_CallMethod(owner, call, "i", argument) : NULL;
    PyObject *value = made ? PyObject_GetAttrString(made, attribute) : NULL;
    Py_XDECREF(made);
    return value;
}

/* The stream that the array's library is working on; for the others NULL, the legacy default stream. */
static int current_stream(const Kind *kind, PyObject *array, RdxDevice device, RdxStream *stream)
{
    *stream = NULL;
    if (kind->named_stream)
        return read_stream(PyObject_GetAttrString(array, "__redax_stream__"), stream);
    if (kind->exchange) {
        void *current = NULL;
        if (kind->exchange->current_stream(DL_CUDA, device.id, &current) != 0)
            return -1;
        *stream = current;
        return 0;
    }
    if (kind->family != FAMILY_TORCH && kind->family != FAMILY_CUPY)
        return 0;
    bool torch = kind->family == FAMILY_TORCH;
    PyObject *cuda = PyObject_GetAttrString(kind->space, "cuda");
    PyObject *number = torch ? attribute_of_call(cuda, "current_stream", device.id, "cuda_stream")
                             : attribute_of_call(cuda, "get_current_stream", device.id, "ptr");
    Py_XDECREF(cuda);
    return read_stream(number, stream);
}

/* ---- The exchange API ---- */

static int refuse_if(PyObject *answer, const char *sentence) /* takes the reference */
{
    if (!answer)
        return -1;
    int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    if (truth > 0)
        PyErr_SetString(PyExc_BufferError, sentence);
    return truth == 0 ? 0 : -1;
}

/* PyTorch's table does not refuse what its __dlpack__ refuses; values would be wrong, or a gradient silently lost. */
static int check_torch(const View *view, PyObject *array)
{
    static PyObject *requires_grad, *is_neg, *is_conj;
    if (!requires_grad) {
        requires_grad = PyUnicode_InternFromString("requires_grad");
        is_neg = PyUnicode_InternFromString("is_neg");
        is_conj = PyUnicode_InternFromString("is_conj");
    }
    uint8_t code = view->tensor.dtype.code;
    if (code < 2 || code == RDX_BOOL >> 8) /* integers have none of these */
        return 0;
    if (refuse_if(PyObject_GetAttr(array, requires_grad),
                  "x requires a gradient, which redax cannot give; use x.detach()") < 0)
        return -1;
    if (refuse_if(call_method(is_neg, &array, 1, NULL), "x has its negative bit set; use x.resolve_neg()") < 0)
        return -1;
    return code != RDX_C64 >> 8
               ? 0
               : refuse_if(call_method(is_conj, &array, 1, NULL), "x has its conjugate bit set; use x.resolve_conj()");
}

static int open_exchange(View *view, const Kind *kind, PyObject *array, bool managed)
{
    if (kind->exchange->view_of_object && !managed) {
        if (kind->exchange->view_of_object(array, &view->tensor) != 0)
            return -1;
    } else {
        if (kind->exchange->managed_from_object(array, &view->managed) != 0)
            return -1;
        view->tensor = view->managed->tensor;
        view->read_only = view->managed->flags & DL_READ_ONLY;
    }
    return kind->family == FAMILY_TORCH ? check_torch(view, array) : 0;
}

/* ---- __dlpack__ ---- */

int device_of(PyObject *array, RdxDevice *device)
{
    PyObject *pair = PyObject_CallMethod(array, "__dlpack_device__", NULL);
    int type = 0, id = 0;
    if (!pair)
        return -1;
    PyObject *plain = PySequence_Tuple(pair); /* the type may be an enum: an int by __index__ */
    bool good = plain && PyArg_ParseTuple(plain, "ii", &type, &id);
    Py_DECREF(pair);
    Py_XDECREF(plain);
    *device = (RdxDevice){type, id};
    return good ? 0 : -1;
}

/* What __dlpack__ is told: the newest version that is understood here and, for CUDA, on which stream work will go. -1:
   the stream is the producer's own, there is nothing to wait for; 1: the legacy default stream. */
static PyObject *call_dlpack(const Kind *kind, PyObject *array)
{
    static PyObject *name, *version, *own, *legacy, *names[4]; /* of options: bit 0 max_version, bit 1 stream */
    if (!name) {
        version = Py_BuildValue("(ii)", DL_MAJOR, DL_MINOR);
        own = PyLong_FromLong(-1), legacy = PyLong_FromLong(1);
        names[1] = Py_BuildValue("(s)", "max_version"), names[2] = Py_BuildValue("(s)", "stream");
        names[3] = Py_BuildValue("(ss)", "max_version", "stream");
        name = PyUnicode_InternFromString("__dlpack__");
    }
    RdxDevice device = {DL_CPU, 0};
    if (kind->family != FAMILY_NUMPY && device_of(array, &device) < 0)
        return NULL;
    PyObject *values[4] = {NULL, array};
    size_t count = 1, options = (kind->versioned ? 1 : 0) | (on_cuda(device) ? 2 : 0);
    if (kind->versioned)
        values[1 + count++] = version;
    if (on_cuda(device))
        values[1 + count++] = kind->family == FAMILY_TORCH || kind->family == FAMILY_CUPY ? own : legacy;
    return call_method(name, values + 1, 1, names[options]);
}

static int read_capsule(View *view)
{
    const DlManaged *managed = PyCapsule_GetPointer(view->capsule, "dltensor_versioned");
    if (managed && managed->version.major != DL_MAJOR) {
        PyErr_Format(PyExc_BufferError, "__dlpack__ gave version %u of DLPack; redax knows %d",
                     (unsigned)managed->version.major, DL_MAJOR);
        return -1;
    }
    if (managed) {
        view->tensor = managed->tensor;
        view->read_only = managed->flags & DL_READ_ONLY;
        return 0;
    }
    PyErr_Clear();
    const DlManagedLegacy *legacy = PyCapsule_GetPointer(view->capsule, "dltensor");
    if (!legacy)
        return -1;
    view->tensor = legacy->tensor;
    return 0;
}

/* The capsule keeps its name and is let go unconsumed: its destructor then gives the memory back. */
static int open_dlpack(View *view, const Kind *kind, PyObject *array)
{
    view->capsule = call_dlpack(kind, array);
    if (!view->capsule && kind->versioned && PyErr_ExceptionMatches(PyExc_TypeError)) {
        Kind before = *kind; /* a producer from before DLPack 1.0 takes no max_version */
        before.versioned = false;
        PyErr_Clear();
        view->capsule = call_dlpack(&before, array);
    }
    return view->capsule ? read_capsule(view) : -1;
}

/* ---- The buffer protocol ---- */

static int open_buffer(View *view, PyObject *array)
{
    if (PyObject_GetBuffer(array, &view->buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return -1;
    view->buffered = true;
    const Py_buffer *b = &view->buffer;
    if (b->ndim > RDX_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "rank %d is above %d", b->ndim, RDX_MAX_RANK);
        return -1;
    }
    if (dtype_of_format(b->format, b->itemsize, &view->tensor.dtype) < 0)
        return -1;
    for (int d = 0; d < b->ndim; d++)
        view->extent[d] = b->shape[d];
    for (int d = 0; b->strides && d < b->ndim; d++) {
        view->stride[d] = b->strides[d] / b->itemsize;
        if (b->strides[d] % b->itemsize != 0 && b->shape[d] > 1) {
            PyErr_Format(PyExc_ValueError, "axis %d has a stride of %zd bytes, no multiple of the element's %zd", d,
                         b->strides[d], b->itemsize);
            return -1;
        }
    }
    view->tensor.data = b->buf;
    view->tensor.device = (RdxDevice){DL_CPU, 0};
    view->tensor.ndim = b->ndim;
    view->tensor.shape = view->extent;
    view->tensor.strides = b->strides ? view->stride : NULL; /* ctypes gives none: row-major */
    view->tensor.byte_offset = 0;
    view->read_only = b->readonly;
    return 0;
}

/* ---- Dtypes of ml_dtypes ---- */

/* 1: opened; 0: the array's dtype is none of those; -1: an exception. */
static int open_narrow_float(View *view, const Kind *kind, PyObject *array)
{
    RdxDtype dtype;
    PyObject *own = PyObject_GetAttrString(array, "dtype");
    int found = own ? dtype_read(own, &dtype) : -1;
    Py_XDECREF(own);
    if (found < 0 || (dtype.code != RDX_BF16 >> 8 && dtype.code != RDX_F8E4M3 >> 8 && dtype.code != RDX_F8E5M2 >> 8)) {
        PyErr_Clear();
        return 0;
    }
    view->stand_in = PyObject_CallMethod(array, "view", "s", dtype.bits == 8 ? "u1" : "u2");
    if (!view->stand_in || open_dlpack(view, kind, view->stand_in) < 0)
        return -1;
    view->tensor.dtype = dtype;
    return 1;
}

/* ---- One after the other ---- */

static int open_other(View *view, const Kind *kind, PyObject *array)
{
    if (kind->speaks_dlpack) {
        if (open_dlpack(view, kind, array) == 0)
            return 0;
        if (kind->family != FAMILY_NUMPY || !PyErr_ExceptionMatches(PyExc_BufferError))
            return -1;
        PyErr_Clear(); /* a dtype that NumPy's DLPack does not have */
        int narrow = open_narrow_float(view, kind, array);
        if (narrow != 0)
            return narrow < 0 ? -1 : 0;
    }
    int opened = open_buffer(view, array);
    if (opened < 0 && !view->buffered && kind->family == FAMILY_NUMPY) /* a dtype without a format, like datetime64 */
        PyErr_SetString(PyExc_TypeError, "x holds no dtype that redax knows");
    return opened;
}

/* CuPy (14.2) divides a negative stride in bytes by the size of an element as if it had no sign, which gives one that
   reaches past 2^63 bytes: as none can. Multiplied again it wraps round to what it was. */
static void mend_strides(View *view)
{
    int64_t size = view->tensor.dtype.bits / 8;
    if (!view->tensor.strides || size == 0 || view->tensor.ndim > RDX_MAX_RANK)
        return;
    for (int d = 0; d < view->tensor.ndim; d++) {
        int64_t stride = view->tensor.strides[d];
        view->stride[d] = stride > INT64_MAX / size ? (int64_t)((uint64_t)stride * (uint64_t)size) / size : stride;
    }
    view->tensor.strides = view->stride;
}

static int open(View *view, const Kind *kind, PyObject *array, bool managed)
{
    view->stream = NULL;
    view->read_only = view->buffered = false;
    view->capsule = view->stand_in = NULL;
    view->managed = NULL;
    int opened = kind->exchange ? open_exchange(view, kind, array, managed) : open_other(view, kind, array);
    if (opened == 0)
        mend_strides(view);
    if (opened == 0 && on_cuda(view->tensor.device))
        opened = current_stream(kind, array, view->tensor.device, &view->stream);
    if (opened < 0)
        view_close(view);
    return opened;
}

int view_open(View *view, const Kind *kind, PyObject *array)
{
    return open(view, kind, array, false);
}

int view_open_managed(View *view, const Kind *kind, PyObject *array)
{
    return open(view, kind, array, true);
}

void view_close(View *view)
{
    if (view->buffered)
        PyBuffer_Release(&view->buffer);
    if (view->managed && view->managed->deleter)
        view->managed->deleter(view->managed);
    Py_CLEAR(view->capsule);
    Py_CLEAR(view->stand_in);
    view->buffered = false;
    view->managed = NULL;
}
