/* The module redax._redax: errors, versions, threads. */
#include "redax_python.h"

PyObject *axis_error;

static PyObject *exception_of(RdxStatus status)
{
    switch (status) {
    case RDX_ERR_AXIS:
        return axis_error;
    case RDX_ERR_DTYPE:
    case RDX_ERR_UNSUPPORTED:
        return PyExc_TypeError;
    case RDX_ERR_OVERFLOW:
        return PyExc_OverflowError;
    case RDX_ERR_MEMORY:
    case RDX_ERR_DEVICE_MEMORY:
        return PyExc_MemoryError;
    default: /* what the caller asked for is wrong, or what the device did */
        return status / 100 == 1 && status != RDX_ERR_STREAM ? PyExc_ValueError : PyExc_RuntimeError;
    }
}

int raise_status(RdxStatus status)
{
    PyErr_SetString(exception_of(status), rdx_last_error());
    return -1;
}

/* ---- Of the library ---- */

static PyObject *version(PyObject *module, PyObject *nothing)
{
    int number = rdx_version();
    (void)module, (void)nothing;
    return PyUnicode_FromFormat("%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
}

static PyObject *tree_version(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyLong_FromLong(rdx_tree_version());
}

/* Why CUDA tensors cannot be reduced here, or None: a plan for one that nobody allocated says it. */
static PyObject *cuda_refusal(PyObject *module, PyObject *nothing)
{
    int64_t extent = 1;
    RdxTensor in = {NULL, {DL_CUDA, 0}, 1, {2, 32, 1}, &extent, NULL, 0},
              out = {NULL, {DL_CUDA, 0}, 0, {2, 32, 1}, NULL, NULL, 0};
    RdxProblem problem = RDX_PROBLEM_INIT;
    RdxPlan *plan = NULL;
    RdxStatus status;
    (void)module, (void)nothing;
    problem.op = RDX_SUM, problem.in = &in, problem.out = &out;
    Py_BEGIN_ALLOW_THREADS;
    status = rdx_plan_create(&plan, &problem);
    Py_END_ALLOW_THREADS;
    if (status != RDX_OK)
        return PyUnicode_FromString(rdx_last_error());
    rdx_plan_destroy(plan);
    Py_RETURN_NONE;
}

static PyObject *set_threads(PyObject *module, PyObject *number)
{
    long threads = PyLong_AsLong(number);
    (void)module;
    if (threads == -1 && PyErr_Occurred())
        return NULL;
    rdx_set_threads(threads < 0 ? 0 : threads > INT32_MAX ? INT32_MAX : (int)threads);
    Py_RETURN_NONE;
}

/* Like NumPy's: an IndexError for those who think of a position, a ValueError for those who think of an argument. */
static int make_axis_error(PyObject *module)
{
    PyObject *bases = PyTuple_Pack(2, PyExc_IndexError, PyExc_ValueError);
    axis_error = bases ? PyErr_NewExceptionWithDoc("redax.AxisError", "An axis that is out of range or given twice.",
                                                   bases, NULL)
                       : NULL;
    Py_XDECREF(bases);
    return axis_error ? PyModule_AddObjectRef(module, "AxisError", axis_error) : -1;
}

PyMODINIT_FUNC PyInit__redax(void); /* no header declares it */
PyMODINIT_FUNC PyInit__redax(void)
{
    static PyMethodDef methods[] = {
        {"set_threads", set_threads, METH_O,
         "set_threads(threads, /)\n--\n\nThreads for reductions on the CPU from now on; 0, the default: all processors "
         "of "
         "this process. Bits do not depend on it."},
        {"explain", (PyCFunction)(void (*)(void))plan_explain, METH_VARARGS | METH_KEYWORDS,
         "explain(x, op, /, axis=None, **options)\n--\n\n"
         "What redax would do to reduce x, and why, as an Explanation: a dict whose str() is the text. op: the name of "
         "a "
         "function of redax\nthat reduces; options: what that function takes, but out. Reduces nothing."},
        {"_version", version, METH_NOARGS, NULL},
        {"_tree_version", tree_version, METH_NOARGS, NULL},
        {"_cuda_refusal", cuda_refusal, METH_NOARGS, NULL},
        {0},
    };
    static PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, "redax._redax", "The C half of redax.", -1, methods, 0, 0, 0, 0};
    PyObject *module = PyModule_Create(&definition);
    if (module && (view_ready() < 0 || make_axis_error(module) < 0 || memory_ready(module) < 0 ||
                   make_functions(module) < 0 || plan_ready(module) < 0))
        Py_CLEAR(module);
    return module;
}
