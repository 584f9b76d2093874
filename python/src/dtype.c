/* Names of dtypes: what NumPy, PyTorch, JAX and the buffer protocol call what redax.h numbers. A dtype object is read
   by its name, so that no library is needed to know its dtypes; the latest few objects are remembered by identity. */
#include "redax_python.h"

#include <string.h>

typedef struct Type {
    const char *name;
    uint16_t code; /* as in redax.h */
} Type;

static const Type types[TYPE_COUNT] = {
    {"bool", RDX_BOOL},          {"int8", RDX_I8},
    {"int16", RDX_I16},          {"int32", RDX_I32},
    {"int64", RDX_I64},          {"uint8", RDX_U8},
    {"uint16", RDX_U16},         {"uint32", RDX_U32},
    {"uint64", RDX_U64},         {"float16", RDX_F16},
    {"bfloat16", RDX_BF16},      {"float32", RDX_F32},
    {"float64", RDX_F64},        {"float8_e4m3fn", RDX_F8E4M3},
    {"float8_e5m2", RDX_F8E5M2}, {"complex64", RDX_C64},
    {"complex128", RDX_C128},
};

static RdxDtype dtype_of_code(unsigned code)
{
    return (RdxDtype){(uint8_t)(code >> 8), (uint8_t)(code & 255), 1};
}

int type_number(RdxDtype dtype)
{
    unsigned code = (unsigned)dtype.code << 8 | dtype.bits;
    for (int i = 0; i < TYPE_COUNT && dtype.lanes == 1; i++)
        if (types[i].code == code)
            return i;
    return -1;
}

const char *type_name(int number)
{
    return types[number].name;
}

RdxDtype type_dtype(int number)
{
    return dtype_of_code(types[number].code);
}

int dtype_named(const char *name, RdxDtype *dtype)
{
    static const char *const others[][2] = {
        {"bool_", "bool"}, {"float", "float64"}, {"int", "int64"}, {"complex", "complex128"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i][0]) == 0)
            name = others[i][1];
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(name, types[i].name) == 0) {
            *dtype = dtype_of_code(types[i].code);
            return 0;
        }
    }
    return -1;
}

/* A new string: the object itself, the name of a type or dtype, or what the object prints ("torch.float32"). */
static PyObject *name_of(PyObject *object)
{
    if (PyUnicode_Check(object))
        return Py_NewRef(object);
    PyObject *name = PyObject_GetAttrString(object, PyType_Check(object) ? "__name__" : "name");
    if (name && PyUnicode_Check(name))
        return name;
    Py_XDECREF(name);
    PyErr_Clear();
    return PyObject_Str(object);
}

enum { REMEMBERED = 8 };
static struct {
    PyObject *object;
    RdxDtype dtype;
} remembered[REMEMBERED];
static unsigned next_place;

int dtype_read(PyObject *object, RdxDtype *dtype)
{
    for (int i = 0; i < REMEMBERED; i++) {
        if (remembered[i].object == object) {
            *dtype = remembered[i].dtype;
            return 0;
        }
    }
    PyObject *name = name_of(object);
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text) {
        Py_XDECREF(name);
        return -1;
    }
    const char *dot = strrchr(text, '.');
    int found = dtype_named(dot ? dot + 1 : text, dtype);
    if (found < 0)
        PyErr_Format(PyExc_TypeError, "dtype %R is none that redax knows", object);
    Py_DECREF(name);
    if (found < 0)
        return -1;
    unsigned place = next_place++ % REMEMBERED;
    PyObject *forgotten = remembered[place].object; /* let go last: that may run Python */
    remembered[place].object = Py_NewRef(object);
    remembered[place].dtype = *dtype;
    Py_XDECREF(forgotten);
    return 0;
}

/* Integers of native size; e f d floats; Z and a float complex; ? bool. */
static int format_code(const char *format, Py_ssize_t size)
{
    unsigned bits = (unsigned)size * 8;
    if (size < 1 || size > 16)
        return -1;
    if (format[0] == 'Z' && strchr("fd", format[1]) && format[1] && !format[2])
        return (int)((RDX_C64 & ~255) | bits);
    if (!format[0] || format[1])
        return -1;
    if (format[0] == '?')
        return RDX_BOOL;
    if (strchr("bhilqn", format[0]))
        return (int)((RDX_I8 & ~255) | bits);
    if (strchr("BHILQN", format[0]))
        return (int)((RDX_U8 & ~255) | bits);
    return strchr("efd", format[0]) ? (int)((RDX_F16 & ~255) | bits) : -1;
}

int dtype_of_format(const char *format, Py_ssize_t size, RdxDtype *dtype)
{
    const char *plain = format ? format : "B";
    if (*plain == '@' || *plain == '=' || *plain == '<') /* little-endian machines alone are taken */
        plain++;
    int code = format_code(plain, size);
    if (code < 0 || type_number(dtype_of_code((unsigned)code)) < 0) {
        PyErr_Format(PyExc_TypeError, "a buffer of format '%s' holds no dtype that redax knows", format ? format : "B");
        return -1;
    }
    *dtype = dtype_of_code((unsigned)code);
    return 0;
}
