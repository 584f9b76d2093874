/* What the files of the extension share. The way of a call: reduce.c reads the arguments, kind.c knows the type of the
   array, view.c looks into its memory, output.c makes the array that is given back, and the C library reduces.
   Everything here is called with the GIL held and, where it fails, has set a Python exception: -1 or NULL. */
#ifndef REDAX_PYTHON_H
#define REDAX_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <redax.h>
#include <stdbool.h>

#include "dlpack.h"

/* ---- kind.c: what is known of a type of arrays ---- */

typedef enum Family { FAMILY_BUFFER, FAMILY_NUMPY, FAMILY_TORCH, FAMILY_CUPY, FAMILY_JAX, FAMILY_OTHER } Family;

enum { TYPE_COUNT = 17 }; /* dtypes of redax.h */

/* Made at the first array of its type and kept for good. */
typedef struct Kind {
    PyTypeObject *type;
    Family family;
    const DlExchange *exchange;  /* NULL: none */
    bool speaks_dlpack;          /* has __dlpack__ */
    bool versioned;              /* __dlpack__ takes max_version */
    bool named_stream;           /* of redax/_jax.py: has __redax_stream__ */
    PyObject *space;             /* the module (or namespace) with empty, from_dlpack and dtypes; NULL: none */
    PyObject *empty;             /* space.empty; NULL: none */
    PyObject *dtype[TYPE_COUNT]; /* what empty takes as dtype=; made when needed */
} Kind;

Kind *kind_of(PyObject *array);
/* Borrowed; for the dtype numbered by type_number. array: one whose dtype may be meant. */
PyObject *kind_dtype(Kind *kind, int number, PyObject *array);

/* ---- dtype.c: names of dtypes ---- */

int type_number(RdxDtype dtype); /* 0 .. TYPE_COUNT - 1; -1 without an exception: no dtype of redax */
const char *type_name(int number);
RdxDtype type_dtype(int number);
/* From a string, a dtype of any library, a scalar type; code RDX_F32 and the like. */
int dtype_read(PyObject *object, RdxDtype *dtype);
int dtype_of_format(const char *format, Py_ssize_t size, RdxDtype *dtype); /* the buffer protocol's format */
int dtype_named(const char *name, RdxDtype *dtype);                        /* -1 without an exception */

/* ---- view.c: a look into an array's memory ---- */

typedef struct View {
    RdxTensor tensor; /* as long as the view is open and the array lives */
    RdxStream stream; /* CUDA: where work on the tensor is in order */
    bool read_only;
    PyObject *capsule;
    DlManaged *managed;
    PyObject *stand_in; /* an array whose memory is looked at instead */
    bool buffered;
    Py_buffer buffer;
    int64_t extent[RDX_MAX_RANK], stride[RDX_MAX_RANK];
} View;

int view_open(View *view, const Kind *kind, PyObject *array);
int view_open_managed(View *view, const Kind *kind, PyObject *array); /* knows whether the array is read-only */
void view_close(View *view);
int view_ready(void);
bool on_cuda(RdxDevice device);
int device_of(PyObject *array, RdxDevice *device); /* __dlpack_device__ */

/* ---- memory.c: memory that redax owns, for those who cannot give any ---- */

/* A new Memory for the tensor's device (the CPU), dtype and shape, row-major; sets tensor->data. */
PyObject *memory_new(RdxTensor *tensor);
/* A Memory that is described but has no address until settle() gives it a capsule's. */
PyObject *memory_to_come(const RdxTensor *tensor);
extern PyTypeObject *memory_type;
int memory_ready(PyObject *module);

/* ---- output.c: arrays to give back ---- */

typedef struct Output {
    RdxTensor tensor; /* where to write; shape and strides lie in here */
    int64_t extent[RDX_MAX_RANK], stride[RDX_MAX_RANK];
    DlManaged *managed; /* of the exchange API, not yet an object */
    PyObject *object;
    View view;
} Output;

/* tensor: dtype, device and shape wanted. like: the array whose kind, device and module the result gets. */
int output_new(Output *output, Kind *kind, PyObject *like);
PyObject *output_take(Output *output, const Kind *kind); /* the array, once, when it was written */
void output_drop(Output *output);

/* ---- workspace.c: workspaces on CUDA ---- */

typedef struct Workspace {
    uint64_t stream, capture; /* their numbers; a capture's is 0 outside of any */
    PyObject *object;         /* the array that holds it */
    void *data;
    bool ready, busy; /* its head is clear; a thread is launching with it */
} Workspace;

typedef struct Workspaces {
    Workspace *list;
    int count;
} Workspaces;

/* The place of a workspace that is the caller's until it is given back with what the launch came to. like: an array
   whose library makes it. */
int workspace_take(Workspaces *all, const RdxPlan *plan, RdxDevice device, Kind *kind, PyObject *like,
                   RdxStream stream);
void workspace_give(Workspaces *all, int place, RdxStatus status);
void workspaces_free(Workspaces *all);

/* ---- reduce.c, plan.c, module.c ---- */

enum {
    TAKES_DTYPE = 1,
    TAKES_NAN = 2,
    TAKES_CORRECTION = 4,
    TAKES_ORD = 8,
    GIVES_TWO = 16,
};

typedef struct Function {
    const char *name;
    int32_t op, takes;
} Function;

typedef struct Call {
    RdxProblem problem;
    int32_t axes[RDX_MAX_RANK];
    bool keepdims, has_dtype;
    RdxDtype dtype;
    PyObject *out; /* borrowed; NULL: none */
} Call;

extern const Function functions[];
const Function *function_named(PyObject *name);
/* Options by keyword. */
int call_read(Call *call, const Function *function, PyObject *const *values, PyObject *names);
int call_read_axes(Call *call, PyObject *value);
/* The outputs' dtypes and shapes from problem.in: fills tensor, whose shape is the output's extent. */
int call_infer(Call *call, const Function *function, Output outputs[2]);
/* Opens out= or makes arrays; problem.out and out2 are then there. */
int call_outputs(Call *call, const Function *function, Output outputs[2], Kind *kind, PyObject *like);
PyObject *call_result(const Function *function, Output outputs[2], const Kind *kind);
void call_drop(const Call *call, Output outputs[2]);
int make_functions(PyObject *module);

/* ---- jax.c ---- */

PyObject *jax_reduce(const Function *function, Call *call, RdxDevice device, PyObject *x, PyObject *const *values,
                     PyObject *names);

extern PyObject *axis_error;
int raise_status(RdxStatus status); /* -1, with the library's sentence */
int plan_ready(PyObject *module);
PyObject *plan_explain(PyObject *module, PyObject *args, PyObject *options);

#endif
