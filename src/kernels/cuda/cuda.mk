# The CUDA plugin and its PTX; a part of ../../../Makefile.
# ---- CUDA ----
# The plugin: made by `make cuda`, which takes nvcc and 40 minutes of processor time for one architecture; `make` makes the core
# alone. Each kernel is compiled once for each family of algebras and dtypes (kernels.def), so that the pieces build side by side.
# -fmad=false: no fma that the source does not name. -Ofast-compile=mid compiles single files 2.2 to 3.2 times as fast, and is of
# no use: on an H200 f32 sums of 256M elements and more then read 1.1 TB/s, not 4.5, and even the plain read 2.4, not 4.6.
NVCC ?= $(shell command -v nvcc 2>/dev/null)
# The kernels copy asynchronously, which takes sm_80. Code for the GPUs that are here, where nvcc knows them; else for sm_80 and
# sm_90; PTX of the newest of them for GPUs to come. The debug build is for one architecture and has no PTX. Asked for only where
# the plugin is made.
nvcc_archs = $(filter-out 3% 5% 6% 7%,$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch 2>/dev/null)))
gpu_archs = $(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null)))
known_archs = $(or $(filter $(gpu_archs),$(nvcc_archs)),$(filter 80 90,$(nvcc_archs)),90)
ifeq ($(CUDA_TABLES),small)
CUDA_ARCHS ?= sm_$(lastword $(sort $(or $(filter $(gpu_archs),$(nvcc_archs)),90)))
CUDA_PTX ?=
else
CUDA_ARCHS ?= $(addprefix sm_,$(known_archs))
CUDA_PTX ?= $(lastword $(shell printf '%s\n' $(patsubst sm_%,%,$(CUDA_ARCHS)) | sort -n))
endif
PLUGIN := $(BUILD)/libredax_cuda.so
all_families := F32 EXP F64 EXP64 C128 I32 I64
# CUDA_TABLES=small: few ops and dtypes, for working on the kernels; see kernels.def.
ifeq ($(CUDA_TABLES),small)
CUDA_FAMILIES := SMALL
CUDA_DEFINES := -DRDX_CUDA_SMALL_TABLES
else
CUDA_FAMILIES := $(all_families)
endif
cuda_dir := src/kernels/cuda
cuda_kernels := $(patsubst $(cuda_dir)/%.cu,%,$(wildcard $(cuda_dir)/kernel_*.cu))
cuda_host := $(patsubst %,$(OBJ)/$(cuda_dir)/%.o,calls device measure memory reads transfer)
cuda_obj := $(cuda_host) $(foreach family,$(CUDA_FAMILIES),$(cuda_kernels:%=$(OBJ)/$(cuda_dir)/%.$(family).o))
cuda_gencode = $(foreach arch,$(CUDA_ARCHS),-gencode arch=$(arch:sm_%=compute_%),code=$(arch)) \
	$(foreach arch,$(CUDA_PTX),-gencode arch=compute_$(arch),code=compute_$(arch))
NVCC_SOURCE := -std=c++17 -O3 -fmad=false -Iinclude -Isrc -MMD -MP
nvcc_compress = $(if $(findstring compress-mode,$(shell $(NVCC) --help)),--compress-mode=size,-Xfatbin -compress-all)
# Unwind tables of the kernels' host side alone are 0.2 MB.
NVCC_FLAGS = $(NVCC_SOURCE) $(cuda_gencode) $(CUDA_DEFINES) $(nvcc_compress) \
	-Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-asynchronous-unwind-tables,-fno-threadsafe-statics,-Wall,-Wno-unknown-pragmas

$(cuda_host): $(OBJ)/%.o: %.cu
	$(call say,NVCC,$<) mkdir -p $(@D) && $(NVCC) $(NVCC_FLAGS) -c -o $@ $<

define cuda_rule
$$(OBJ)/$$(cuda_dir)/%.$(1).o: $$(cuda_dir)/%.cu
	$$(call say,NVCC,'$$< ($(1))') mkdir -p $$(@D) && $$(NVCC) $$(NVCC_FLAGS) -DRDX_FAMILY=$(1) -DRDX_FAMILY_$(1) -c -o $$@ $$<
endef
$(foreach family,$(CUDA_FAMILIES),$(eval $(call cuda_rule,$(family))))

# Exports the one entry; the runtime is linked statically and stays inside.
$(PLUGIN): $(cuda_obj) src/kernels/cuda/plugin.map
	$(call say,NVLINK,$@) $(NVCC) -shared -cudart static -Xlinker --version-script=src/kernels/cuda/plugin.map \
		-Xlinker --exclude-libs=ALL -Xlinker -z,defs -o $@ $(cuda_obj)

ifneq ($(NVCC),)
cuda: $(PLUGIN) ## build the CUDA plugin for the GPUs here, else sm_80 and sm_90; CUDA_ARCHS='sm_80 ...' for others
cuda-debug: ## build the plugin of few ops and dtypes as build-cuda-debug, for work on the kernels
	$(again) cuda BUILD=build-cuda-debug CUDA_TABLES=small
else
cuda cuda-debug:
	@echo "no nvcc here: redax is built for the CPU only (NVCC=path names one)" >&2; false
endif

-include $(wildcard $(OBJ)/$(cuda_dir)/*.d)

# ---- What nvcc makes of the kernels ----
# `make ptx`: the PTX that tools/check_ptx.py judges, by the plugin's own flags, and what ptxas says of it. Every kernel with the
# tables of the debug build: about ten minutes of processor time. The tile of general holds every algebra
# whole and compiles fastest: it comes with all algebras and working types (SAMPLE), and with its fma marked. Kernels of logsumexp
# alone have nothing of the debug build's.
ptx_dir := $(BUILD)/ptx
ptx_named := $(ptx_dir)/kernel_general.SAMPLE.named.ptx
ptx_sample := $(ptx_dir)/kernel_staged_rows.SAMPLE.ptx
ptx_small := $(filter-out $(ptx_sample:.SAMPLE.ptx=.SMALL.ptx),$(cuda_kernels:%=$(ptx_dir)/%.SMALL.ptx))
ptx_host := $(patsubst $(cuda_dir)/%.cu,$(ptx_dir)/%.ptx,$(filter-out $(cuda_dir)/kernel_%,$(wildcard $(cuda_dir)/*.cu)))
ptx_nvcc = mkdir -p $(@D) && $(NVCC) $(NVCC_SOURCE) -MF $@.d -arch=compute_90 -ptx -o $@

$(ptx_host): $(ptx_dir)/%.ptx: $(cuda_dir)/%.cu
	$(call say,PTX,$<) $(ptx_nvcc) $<

$(ptx_small): $(ptx_dir)/%.SMALL.ptx: $(cuda_dir)/%.cu
	$(call say,PTX,'$< (SMALL)') $(ptx_nvcc) -DRDX_CUDA_SMALL_TABLES -DRDX_FAMILY=SMALL -DRDX_FAMILY_SMALL $<

ptx_sampled = $(ptx_nvcc) -DRDX_CUDA_SAMPLE_TABLES -DRDX_FAMILY=SAMPLE -DRDX_FAMILY_SAMPLE

$(ptx_sample): $(ptx_dir)/%.SAMPLE.ptx: $(cuda_dir)/%.cu
	$(call say,PTX,'$< (SAMPLE)') $(ptx_sampled) $<

$(ptx_named): $(cuda_dir)/kernel_general.cu tests/ptx/named_fma.cuh
	$(call say,PTX,'$< (SAMPLE)') $(ptx_sampled) -include tests/ptx/named_fma.cuh $<

$(ptx_small:%=%as) $(ptx_sample:%=%as): %.ptxas: %.ptx
	$(call say,PTXAS,$<) { $(NVCC) --version && $(NVCC) -arch=sm_90 -fmad=false -Xptxas -v -cubin -o /dev/null $<; } >$@ 2>&1 || { cat $@; false; }

# ring_columns first: it takes longest.
ptx: $(ptx_dir)/kernel_ring_columns.SMALL.ptxas $(ptx_small:%=%as) $(ptx_sample:%=%as) $(ptx_named) $(ptx_host) ## compile the kernels to PTX and registers for tools/check_ptx.py

-include $(wildcard $(ptx_dir)/*.d)

.PHONY: cuda cuda-debug ptx
