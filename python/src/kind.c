/* What is known of a type of arrays: how it is looked into, and how new ones are made. Decided once for each type, by
   its attributes and by the module that it or one of its bases comes from; no module is imported for it. */
#include "redax_python.h"

#include <string.h>

static Kind **kinds; /* never freed: a program knows few types of arrays */
static Py_ssize_t kind_count;

/* ---- Families ---- */

static PyObject *main_module_of(PyObject *type) /* "jax._src.array" -> the module jax, borrowed; NULL: none */
{
    static const char *const mains[][2] = {{"jaxlib", "jax"}};
    PyObject *name = PyObject_GetAttrString(type, "__module__"), *module = NULL;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    char root[64];
    if (text && strcspn(text, ".") < sizeof root) {
        size_t length = strcspn(text, ".");
        memcpy(root, text, length);
        root[length] = 0;
        const char *wanted = strcmp(root, mains[0][0]) == 0 ? mains[0][1] : root;
        PyObject *key = PyUnicode_FromString(wanted);
        PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
        module = key ? PyDict_GetItemWithError(modules, key) : NULL;
        Py_XDECREF(key);
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return module;
}

static PyObject *attribute_or_null(PyObject *object, const char *name)
{
    PyObject *attribute = object ? PyObject_GetAttrString(object, name) : NULL;
    if (!attribute)
        PyErr_Clear();
    return attribute;
}

/* Of a base class and its module. The classes are named, as these modules have bases for other arrays too
   (numpy.lib.mixins); JAX's are several, of its own alone. */
static Family family_of(PyObject *base, PyObject *module)
{
    static const struct {
        const char *name, *class;
        Family family;
    } known[] = {{"numpy", "ndarray", FAMILY_NUMPY},
                 {"numpy", "generic", FAMILY_NUMPY},
                 {"torch", "Tensor", FAMILY_TORCH},
                 {"cupy", "ndarray", FAMILY_CUPY},
                 {"jax", NULL, FAMILY_JAX}};
    const char *name = PyModule_Check(module) ? PyModule_GetName(module) : NULL;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        PyObject *class = known[i].class ? attribute_or_null(module, known[i].class) : Py_NewRef(base);
        Py_XDECREF(class);
        if (class == base)
            return known[i].family;
    }
    PyErr_Clear();
    return FAMILY_OTHER;
}

/* The first base from a library that is known by name decides, so that subclasses are of their base's family. */
static void find_family(Kind *kind)
{
    PyObject *bases = PyObject_GetAttrString((PyObject *)kind->type, "__mro__");
    kind->family = FAMILY_OTHER;
    for (Py_ssize_t i = 0; bases && kind->family == FAMILY_OTHER && i < PyTuple_Size(bases); i++) {
        PyObject *base = PyTuple_GetItem(bases, i), *module = main_module_of(base);
        Family family = module ? family_of(base, module) : FAMILY_OTHER;
        if (family != FAMILY_OTHER) {
            kind->family = family;
            kind->space = Py_NewRef(module);
        }
    }
    Py_XDECREF(bases);
    PyErr_Clear();
}

/* Of the others: the namespace that the array names (the Array API's way), else its type's module. */
static void find_space(Kind *kind, PyObject *array)
{
    PyObject *method = attribute_or_null(array, "__array_namespace__");
    kind->space = method ? PyObject_CallNoArgs(method) : NULL;
    Py_XDECREF(method);
    PyErr_Clear();
    PyObject *module = kind->space ? NULL : main_module_of((PyObject *)kind->type);
    if (module)
        kind->space = Py_NewRef(module);
}

static void find_exchange(Kind *kind)
{
    PyObject *capsule = attribute_or_null((PyObject *)kind->type, "__dlpack_c_exchange_api__");
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        kind->exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (kind->exchange && kind->exchange->version.major > DL_MAJOR)
        kind->exchange = kind->exchange->previous;
    if (kind->exchange && kind->exchange->version.major != DL_MAJOR)
        kind->exchange = NULL;
    Py_XDECREF(capsule);
}

/* ---- Kinds ---- */

static int refuse_masked(PyTypeObject *type)
{
    PyObject *mask = attribute_or_null((PyObject *)type, "__setmask__");
    if (!mask)
        return 0;
    Py_DECREF(mask);
    PyErr_SetString(PyExc_TypeError, "a masked array has values that redax cannot leave out; "
                                     "fill it, or put NaN in their place and ask for nan=\"omit\"");
    return -1;
}

/* Last: what was asked of the type may have run Python, and that may have met other types, or this one. */
static Kind *keep(Kind *kind)
{
    Kind **grown = PyMem_Realloc(kinds, (size_t)(kind_count + 1) * sizeof *kinds);
    if (!grown) {
        Py_XDECREF(kind->space);
        Py_XDECREF(kind->empty);
        PyMem_Free(kind);
        PyErr_NoMemory();
        return NULL;
    }
    kinds = grown;
    Py_INCREF((PyObject *)kind->type);
    kinds[kind_count++] = kind;
    return kind;
}

static Kind *kind_new(PyObject *array)
{
    PyTypeObject *type = Py_TYPE(array);
    if (refuse_masked(type) < 0)
        return NULL;
    Kind *kind = PyMem_Calloc(1, sizeof *kind);
    if (!kind) {
        PyErr_NoMemory();
        return NULL;
    }
    kind->type = type;
    kind->versioned = true;
    PyObject *dlpack = attribute_or_null((PyObject *)type, "__dlpack__");
    kind->speaks_dlpack = dlpack != NULL;
    Py_XDECREF(dlpack);
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    kind->named_stream =
        module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "redax._jax") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    find_exchange(kind);
    find_family(kind);
    if (kind->family == FAMILY_OTHER && !kind->exchange && !kind->speaks_dlpack)
        kind->family = FAMILY_BUFFER;
    if (kind->family == FAMILY_BUFFER && !PyObject_CheckBuffer(array)) {
        PyErr_Format(PyExc_TypeError, "%R: redax takes arrays that speak DLPack or have a buffer", type);
        PyMem_Free(kind);
        return NULL;
    }
    if (kind->family == FAMILY_OTHER)
        find_space(kind, array);
    kind->empty = attribute_or_null(kind->space, "empty");
    return keep(kind);
}

Kind *kind_of(PyObject *array)
{
    PyTypeObject *type = Py_TYPE(array);
    for (Py_ssize_t i = 0; i < kind_count; i++)
        if (kinds[i]->type == type)
            return kinds[i];
    return kind_new(array);
}

/* ---- Dtypes of a kind ---- */

static PyObject *numpy_dtype(Kind *kind, const char *name)
{
    PyObject *dtype = PyObject_GetAttrString(kind->space, "dtype"), *made = NULL;
    PyObject *scalar = attribute_or_null(kind->space, strcmp(name, "bool") == 0 ? "bool_" : name);
    if (dtype && !scalar) { /* bf16 and f8 come from a package of their own */
        PyObject *package = PyImport_ImportModule("ml_dtypes");
        scalar = package ? PyObject_GetAttrString(package, name) : NULL;
        Py_XDECREF(package);
    }
    if (dtype && scalar)
        made = PyObject_CallFunctionObjArgs(dtype, scalar, NULL);
    Py_XDECREF(dtype);
    Py_XDECREF(scalar);
    return made;
}

PyObject *kind_dtype(Kind *kind, int number, PyObject *array)
{
    if (kind->dtype[number])
        return kind->dtype[number];
    const char *name = type_name(number);
    if (kind->family == FAMILY_NUMPY || kind->family == FAMILY_CUPY)
        kind->dtype[number] = numpy_dtype(kind, name);
    else
        kind->dtype[number] = PyObject_GetAttrString(kind->space, name);
    if (!kind->dtype[number] && array) { /* a dtype that the namespace does not name, but the array has */
        PyObject *type = NULL, *value = NULL, *trace = NULL, *own;
        RdxDtype dtype;
        PyErr_Fetch(&type, &value, &trace);
        own = attribute_or_null(array, "dtype");
        if (own && dtype_read(own, &dtype) == 0 && type_number(dtype) == number) {
            kind->dtype[number] = own;
            Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
        } else {
            Py_XDECREF(own);
            PyErr_Restore(type, value, trace);
        }
    }
    return kind->dtype[number];
}
