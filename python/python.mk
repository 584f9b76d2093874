# The Python package; a part of ../Makefile.
# ---- Python ----
# The extension is one file for CPython 3.11 and later: it keeps to the stable ABI, and needs Python's headers alone. The CUDA
# plugin goes into the wheel where `make cuda` has made it. PYTHON_PEERS='torch jax' installs peers for the tests too: the tests
# that need one are skipped by its name where it is not.
PYTHON ?= python3
STRIP ?= strip
PYTHON_PEERS ?=
py := $(BUILD)/python
py_package := $(py)/redax
py_include = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
py_text := $(wildcard python/redax/*.py python/redax/*.pyi) python/redax/py.typed
# Python's structs take char * where they mean const char *.
py_flags = -Iinclude -I$(py_include) -D_GNU_SOURCE= -DPy_LIMITED_API=0x030B0000 -g1 $(filter-out -Wwrite-strings,$(WARNINGS)) \
	-O2 -fPIC -fvisibility=hidden $(CFLAGS) $(SANITIZE_FLAGS) -std=c11

$(py_package)/_redax.abi3.so: $(wildcard python/src/*) $(SHARED) include/redax.h
	$(call say,CC,'python/src/*.c') mkdir -p $(@D) && $(CC) $(py_flags) $(LDFLAGS) -shared -Wl,-rpath,'$$ORIGIN' \
		-Wl,-z,relro,-z,now -o $@ $(wildcard python/src/*.c) -L$(BUILD) -lredax

python-package: $(py_package)/_redax.abi3.so
	rm -f $(py_package)/*.py $(py_package)/*.pyi $(py_package)/libredax*
	cp $(py_text) $(py_package) && $(STRIP) --strip-debug -o $(py_package)/$(soname) $(BUILD)/$(soname)
	if [ -e $(PLUGIN) ]; then cp $(PLUGIN) $(py_package)/libredax_cuda.so; fi

python: setup-python ## build the Python package and its wheel, with the CUDA plugin where `make cuda` has made it
	$(again) python-package
	rm -rf $(py)/dist && $(PYTHON) python/backend.py $(py_package) $(py)/dist

setup-python:
	tools/setup.sh python

$(py)/venv/ready: tests/python/requirements.txt
	rm -rf $(py)/venv && $(PYTHON) -m venv $(py)/venv
	$(py)/venv/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@

$(py)/bench_host.so: python/bench_host.c $(SHARED)
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(py_flags) -fvisibility=default -shared -o $@ $< -L$(BUILD) -lredax

bench-python: python-package $(py)/bench_host.so ## what a call from Python costs, beside C, NumPy and PyTorch; PYTHON=one that has them
	PYTHONPATH=$(py) $(PYTHON) -P python/bench_host.py $(py)/bench_host.so

py_test = HYPOTHESIS_STORAGE_DIRECTORY=$(py)/hypothesis $(py)/venv/bin/python -m pytest -o cache_dir=$(CURDIR)/$(py)/cache
# What the CUDA half can be tried on without a GPU, where it was built.
py_emulator := $(wildcard $(EMU_PLUGIN))

# array-api-tests is in no registry: ARRAY_API_TESTS=path of a checkout runs it as well.
check-python: python ## install the wheel into a venv of its own and run tests/python; ARRAY_API_TESTS=checkout for that suite too
	$(again) $(py)/venv/ready
	$(py)/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --force-reinstall $(py)/dist/*.whl
	$(if $(PYTHON_PEERS),$(py)/venv/bin/python -m pip install --quiet --disable-pip-version-check $(PYTHON_PEERS))
	$(py_test) -rs tests/python
	$(if $(py_emulator),RDX_CUDA_PLUGIN=$(CURDIR)/$(py_emulator) REDAX_EMULATED=1 $(py_test) tests/python/test_cuda.py)
	$(if $(ARRAY_API_TESTS),tests/python/array_api_suite.sh $(ARRAY_API_TESTS) $(py)/venv/bin/python)

.PHONY: python python-package setup-python check-python bench-python
