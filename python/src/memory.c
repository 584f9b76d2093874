/* Memory that redax owns, on the CPU, for callers who can take memory over but not give it: a type that speaks DLPack
   and the buffer protocol. JAX takes a Memory by from_dlpack; who came with a plain buffer gets a memoryview of one. */
#include "redax_python.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 }; /* JAX copies what is aligned to less */

typedef struct Memory {
    PyObject_HEAD RdxTensor tensor;
    PyObject *source; /* the capsule that the memory came from; NULL: the memory is the host's and redax's */
    Py_ssize_t bytes;
    int64_t extent[RDX_MAX_RANK], stride[RDX_MAX_RANK];
    Py_ssize_t shape[RDX_MAX_RANK], step[RDX_MAX_RANK]; /* in bytes: the buffer protocol's */
} Memory;

PyTypeObject *memory_type;

static void set_row_major(Memory *memory, int itemsize)
{
    int64_t count = 1;
    for (int d = memory->tensor.ndim - 1; d >= 0; d--) {
        memory->stride[d] = count;
        memory->shape[d] = (Py_ssize_t)memory->extent[d];
        memory->step[d] = (Py_ssize_t)(count * itemsize);
        count *= memory->extent[d];
    }
    memory->bytes = (Py_ssize_t)count * itemsize;
}

static Memory *describe(const RdxTensor *tensor)
{
    Memory *memory = PyObject_New(Memory, memory_type);
    if (!memory)
        return NULL;
    memory->source = NULL;
    memory->tensor = *tensor;
    memory->tensor.data = NULL;
    for (int d = 0; d < tensor->ndim; d++)
        memory->extent[d] = tensor->shape[d];
    set_row_major(memory, tensor->dtype.bits / 8);
    memory->tensor.shape = memory->extent;
    memory->tensor.strides = memory->stride;
    memory->tensor.byte_offset = 0;
    return memory;
}

PyObject *memory_to_come(const RdxTensor *tensor)
{
    return (PyObject *)describe(tensor);
}

PyObject *memory_new(RdxTensor *tensor)
{
    Memory *memory = describe(tensor);
    if (!memory)
        return NULL;
    size_t rounded = ((size_t)memory->bytes / ALIGNMENT + 1) * ALIGNMENT;
    memory->tensor.data = aligned_alloc(ALIGNMENT, rounded);
    tensor->data = memory->tensor.data;
    if (!memory->tensor.data) {
        Py_DECREF(memory);
        return PyErr_NoMemory();
    }
    return (PyObject *)memory;
}

static void memory_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Memory *memory = (Memory *)self;
    if (!memory->source)
        free(memory->tensor.data);
    Py_XDECREF(memory->source);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- DLPack ---- */

static void let_go(void *owner) /* from any thread */
{
    if (!Py_IsInitialized()) /* an owner that outlived Python: the process is about to end */
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(state);
}

static void delete_managed(DlManaged *managed)
{
    let_go(managed->owner);
    free(managed);
}

static void delete_legacy(DlManagedLegacy *legacy)
{
    let_go(legacy->owner);
    free(legacy);
}

static void drop_capsule(PyObject *capsule) /* unless a consumer has renamed it */
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        delete_managed(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    else if (PyCapsule_IsValid(capsule, "dltensor"))
        delete_legacy(PyCapsule_GetPointer(capsule, "dltensor"));
}

static PyObject *new_managed(Memory *memory)
{
    DlManaged *managed = malloc(sizeof *managed);
    if (!managed)
        return PyErr_NoMemory();
    *managed = (DlManaged){{DL_MAJOR, DL_MINOR}, Py_NewRef((PyObject *)memory), delete_managed, 0, memory->tensor};
    PyObject *capsule = PyCapsule_New(managed, "dltensor_versioned", drop_capsule);
    if (!capsule)
        delete_managed(managed);
    return capsule;
}

static PyObject *new_legacy(Memory *memory)
{
    DlManagedLegacy *legacy = malloc(sizeof *legacy);
    if (!legacy)
        return PyErr_NoMemory();
    *legacy = (DlManagedLegacy){memory->tensor, Py_NewRef((PyObject *)memory), delete_legacy};
    PyObject *capsule = PyCapsule_New(legacy, "dltensor", drop_capsule);
    if (!capsule)
        delete_legacy(legacy);
    return capsule;
}

static int read_pair(PyObject *pair, int *first, int *second) /* as they are where it is NULL or None */
{
    if (!pair || pair == Py_None)
        return 0;
    PyObject *plain = PySequence_Tuple(pair);
    bool good = plain && PyArg_ParseTuple(plain, "ii", first, second);
    Py_XDECREF(plain);
    return good ? 0 : -1;
}

static PyObject *memory_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    const RdxDevice *own = &((Memory *)self)->tensor.device;
    int major = 0, minor = 0, type = own->type, id = own->id;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO", names, &stream, &version, &device, &copy) ||
        read_pair(version, &major, &minor) < 0 || read_pair(device, &type, &id) < 0)
        return NULL;
    if (copy == Py_True || type != own->type || id != own->id) {
        PyErr_SetString(PyExc_BufferError, "redax's memory is given as it is: without a copy, on its own device");
        return NULL;
    }
    return major >= 1 ? new_managed((Memory *)self) : new_legacy((Memory *)self);
}

static PyObject *memory_device(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    const RdxDevice *device = &((Memory *)self)->tensor.device;
    return Py_BuildValue("(ii)", (int)device->type, (int)device->id);
}

/* Takes the memory of a capsule, which must hold as many bytes. */
static PyObject *memory_settle(PyObject *self, PyObject *capsule)
{
    Memory *memory = (Memory *)self;
    const RdxTensor *given;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        given = &((const DlManaged *)PyCapsule_GetPointer(capsule, "dltensor_versioned"))->tensor;
    else
        given = PyCapsule_GetPointer(capsule, "dltensor"); /* its first member */
    if (!given)
        return NULL;
    if (memory->tensor.data || given->ndim != 1 || given->dtype.bits != 8 || given->shape[0] != memory->bytes) {
        PyErr_SetString(PyExc_ValueError, "the capsule is not of as many bytes as this memory");
        return NULL;
    }
    memory->source = Py_NewRef(capsule);
    memory->tensor.data = (char *)given->data + given->byte_offset;
    return Py_NewRef(Py_None);
}

static PyObject *memory_bytes(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromSsize_t(((Memory *)self)->bytes);
}

/* ---- The buffer protocol ---- */

/* struct's letters; NULL: it has none for the dtype. */
static char *format_of(RdxDtype dtype)
{
    static const struct {
        uint16_t code;
        char format[3];
    } formats[] = {
        {RDX_BOOL, "?"}, {RDX_I8, "b"},  {RDX_I16, "h"},  {RDX_I32, "i"},   {RDX_I64, "q"},
        {RDX_U8, "B"},   {RDX_U16, "H"}, {RDX_U32, "I"},  {RDX_U64, "Q"},   {RDX_F16, "e"},
        {RDX_F32, "f"},  {RDX_F64, "d"}, {RDX_C64, "Zf"}, {RDX_C128, "Zd"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].code == ((unsigned)dtype.code << 8 | dtype.bits))
            return (char *)(uintptr_t)formats[i].format;
    return NULL;
}

static int memory_get_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
    Memory *memory = (Memory *)self;
    char *format = on_cuda(memory->tensor.device) ? NULL : format_of(memory->tensor.dtype);
    if (!format) {
        PyErr_SetString(PyExc_BufferError,
                        "the buffer protocol has no format for this dtype, or the memory is not the host's");
        return -1;
    }
    if (PyBuffer_FillInfo(buffer, self, memory->tensor.data, memory->bytes, 0, flags) < 0)
        return -1;
    buffer->itemsize = memory->tensor.dtype.bits / 8;
    buffer->format = flags & PyBUF_FORMAT ? format : NULL;
    buffer->ndim = memory->tensor.ndim;
    buffer->shape = flags & PyBUF_ND ? memory->shape : NULL;
    buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? memory->step : NULL;
    return 0;
}

int memory_ready(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"__dlpack__", (PyCFunction)(void (*)(void))memory_dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
        {"__dlpack_device__", memory_device, METH_NOARGS, NULL},
        {"settle", memory_settle, METH_O, NULL},
        {0},
    };
    static PyGetSetDef members[] = {{"nbytes", memory_bytes, NULL, NULL, NULL}, {0}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, memory_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_bf_getbuffer, memory_get_buffer},
        {Py_tp_doc, "Memory that redax owns; speaks DLPack and the buffer protocol."},
        {0},
    };
    static PyType_Spec spec = {"redax._redax.Memory", sizeof(Memory), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    memory_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return memory_type ? PyModule_AddObjectRef(module, "Memory", (PyObject *)memory_type) : -1;
}
