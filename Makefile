# redax: build, test, install. `make help` lists the targets.
#
# Sources are found by wildcards; a file under src/kernels/cpu named isa_*.c is compiled once per instruction set.
# Variables: CC, CFLAGS, LDFLAGS, PREFIX, DESTDIR; BUILD=dir for the outputs; V=1 shows commands; WERROR=1;
# SANITIZE=address,undefined or thread (outputs then go to build-<names>, so that builds can live side by side).

VERSION := 0.1.0
SOVERSION := 0

CC ?= cc
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man

comma := ,
ifdef SANITIZE
BUILD ?= build-$(subst $(comma),-,$(SANITIZE))
OPTIMISE ?= -O1
ISA_OPTIMISE ?= -O1
else
BUILD ?= build
# Outside the loops over elements nothing gains from vectors: fields just stored one by one and read as a pair are waited for (an
# execute of 16 elements 86 ns so, else 77).
OPTIMISE ?= -O2 -fno-tree-slp-vectorize
ISA_OPTIMISE ?= -O3
endif
OBJ := $(BUILD)/obj

ifndef V
.SILENT:
say = @printf '  %-7s %s\n' $(1) $(2);
endif

# ---- Instruction sets of the target ----
machine := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ifeq ($(machine),x86_64)
ISAS := baseline avx2 avx512
ISA_DEFINES := -DRDX_HAVE_BASELINE -DRDX_HAVE_AVX2 -DRDX_HAVE_AVX512
# After the user's CFLAGS: -march=native there must not leak into the level that every machine can run. RDX_ISA_LEAN and
# RDX_ISA_BELOW keep the time to build within reason (src/kernels/cpu/fold.inc).
ISA_baseline := -march=x86-64 -mno-avx -DRDX_ISA_LEAN
ISA_avx2 := -march=x86-64 -mno-avx512f -mavx2 -mfma -mf16c -mbmi2
ISA_avx512 := -march=x86-64 -mavx2 -mfma -mf16c -mbmi2 \
	-mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512 -DRDX_ISA_BELOW=avx2
else ifeq ($(machine),aarch64)
ISAS := neon
ISA_DEFINES := -DRDX_HAVE_NEON
ISA_neon :=
else
ISAS := baseline
ISA_DEFINES := -DRDX_HAVE_BASELINE
ISA_baseline :=
endif

# ---- Flags ----
WARNINGS := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wcast-qual -Wundef -Wvla -Wformat=2
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
# | and & on truth values are meant where a branch would stop vectorising, a loop that clang does not vectorise is slower,
# not wrong, and a complaint may be an option's sentence alone.
WARNINGS += -Wno-bitwise-instead-of-logical -Wno-pass-failed -Wno-format-zero-length
endif
ifdef WERROR
WARNINGS += -Werror
endif
ifdef SANITIZE
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-omit-frame-pointer $(if $(findstring undefined,$(SANITIZE)),-fno-sanitize-recover=all)
endif
# What the promise about bits needs comes after the user's CFLAGS, so that nobody's -ffast-math can break it.
# -fno-strict-aliasing: scratch memory holds one working type after the other. The last two change no result; they let
# sqrt and selects be vectorised.
SEMANTICS := -std=c11 -fno-strict-aliasing -fno-fast-math -ffp-contract=off -fno-math-errno -fno-trapping-math
CPPFLAGS_ALL := -Iinclude -Isrc -D_GNU_SOURCE= $(ISA_DEFINES) $(CPPFLAGS)
COMMON = $(CPPFLAGS_ALL) -g -pthread $(WARNINGS)
AFTER = $(CFLAGS) $(SANITIZE_FLAGS) $(SEMANTICS) -MMD -MP
SRC_FLAGS = $(COMMON) $(OPTIMISE) -fPIC -fvisibility=hidden $(AFTER)
# gcc would turn the copy of 16 line pointers into "rep movsq", which took a quarter of a fold of 8 KiB.
NO_REP := $(shell $(CC) -Werror -fno-tree-loop-distribute-patterns -E -x c /dev/null >/dev/null 2>&1 && echo -fno-tree-loop-distribute-patterns)
ISA_FLAGS = $(COMMON) $(ISA_OPTIMISE) -g1 $(NO_REP) -fPIC -fvisibility=hidden $(AFTER)
TOOL_FLAGS = $(COMMON) $(OPTIMISE) -DRDX_VERSION_TEXT='"$(VERSION)"' $(AFTER)
TEST_FLAGS = $(COMMON) $(OPTIMISE) -Itools -Itests -I$(OBJ) $(CHECK_CFLAGS) $(AFTER)
LIBS := -lm -pthread -ldl
CHECK_CFLAGS = $(shell $(PKG_CONFIG) --cflags check 2>/dev/null)
CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check 2>/dev/null || echo -lcheck)
# Of pkg-config's words only the libraries that belong to Check: libc's stay shared.
CHECK_STATIC = $(filter-out -lm -lrt -lpthread -pthread,$(shell $(PKG_CONFIG) --static --libs check 2>/dev/null || echo -lcheck))
LINK = $(CC) $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS)

# ---- Files ----
src_all := $(wildcard src/*.c src/iter/*.c src/plan/*.c src/kernels/*.c src/kernels/cpu/*.c)
isa_src := $(filter src/kernels/cpu/isa_%.c,$(src_all))
lib_src := $(filter-out $(isa_src),$(src_all))
lib_obj := $(lib_src:%.c=$(OBJ)/%.o) $(foreach isa,$(ISAS),$(isa_src:%.c=$(OBJ)/%.$(isa).o))
# The command is redax.c and its subcommands; all but main lie in an archive that tests and fuzz targets link too.
# The oracle lies in tests/ and belongs to it as well: the fuzzer judges by it.
oracle_src := $(wildcard tests/oracle*.c)
tool_src := $(filter-out tools/redax.c,$(wildcard tools/*.c)) $(oracle_src)
tool_obj := $(tool_src:%.c=$(OBJ)/%.o)
# Programs of their own, each one file; everything else in tests/ is part of check_all.
alone_src := $(wildcard tests/bits.c tests/check_real.c tests/stand_in.c tests/fuzz_*.c)
fuzz_targets := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/fuzz_*.c))
test_src := $(filter-out $(alone_src) $(oracle_src),$(wildcard tests/*.c))
test_obj := $(test_src:%.c=$(OBJ)/%.o)
gpu_src := $(wildcard tests/gpu/*.c)
gpu_obj := $(gpu_src:%.c=$(OBJ)/%.o)
soname := libredax.so.$(SOVERSION)

STATIC := $(BUILD)/libredax.a
SHARED := $(BUILD)/libredax.so
COMMAND := $(BUILD)/redax
TOOLKIT := $(OBJ)/toolkit.a
CHECK_ALL := $(BUILD)/check_all
STAND_IN := $(BUILD)/libredax_stand_in.so
CHECK_GPU := $(BUILD)/check_gpu

all: $(STATIC) $(SHARED) $(COMMAND) ## build the libraries and the command (the default)

lib: $(STATIC) $(SHARED) ## build the libraries alone; they need nothing beyond libc

tests: $(CHECK_ALL) $(BUILD)/bits $(STAND_IN) ## build the tests, run nothing

# Written while the makefile is read, and only when their text changes: then what depends on them is made again. -Werror
# changes no object, so that a make with it and one without leave each other's objects alone.
flags_text := $(filter-out -Werror,$(CC) $(SRC_FLAGS) $(ISA_OPTIMISE) $(LDFLAGS) $(foreach isa,$(ISAS),$(ISA_$(isa))))
suites_text := $(patsubst tests/%.c,X(%),$(sort $(wildcard tests/test_*.c)))
write_changed = $(if $(call differ,$(1),$(file <$(2)))$(if $(wildcard $(2)),,new),$(shell mkdir -p $(OBJ))$(file >$(2),$(1)))
differ = $(subst x$(1)x,,x$(2)x)$(subst x$(2)x,,x$(1)x)
ifeq ($(filter clean help format,$(MAKECMDGOALS)),)
$(call write_changed,$(flags_text),$(OBJ)/flags)
$(call write_changed,$(suites_text),$(OBJ)/suites.inc)
endif
$(OBJ)/flags $(OBJ)/suites.inc: ;

$(OBJ)/src/%.o: src/%.c $(OBJ)/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(SRC_FLAGS) -c -o $@ $<

define isa_rule
$$(OBJ)/src/kernels/cpu/%.$(1).o: src/kernels/cpu/%.c $$(OBJ)/flags
	$$(call say,CC,'$$< ($(1))') mkdir -p $$(@D) && $$(CC) $$(ISA_FLAGS) $$(ISA_$(1)) -DRDX_ISA=$(1) -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

$(OBJ)/tools/%.o: tools/%.c $(OBJ)/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(TOOL_FLAGS) -c -o $@ $<

# suites.inc: X(test_<name>) for every tests/test_<name>.c, each of which gives check_all.c one suite, test_<name>_suite().
$(OBJ)/tests/%.o: tests/%.c $(OBJ)/flags $(OBJ)/suites.inc
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(TEST_FLAGS) -c -o $@ $<

$(STATIC): $(lib_obj)
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $^

$(SHARED): $(lib_obj) src/redax.map
	$(call say,LD,$@) $(LINK) -shared -Wl,-soname,$(soname) -Wl,--version-script=src/redax.map \
		$(if $(SANITIZE),,-Wl,-z,defs) -Wl,-z,relro,-z,now -o $@.$(VERSION) $(lib_obj) $(LIBS)
	ln -sf libredax.so.$(VERSION) $(BUILD)/$(soname) && ln -sf $(soname) $@

$(TOOLKIT): $(tool_obj)
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $^

$(COMMAND): $(OBJ)/tools/redax.o $(TOOLKIT) $(STATIC)
	$(call say,LD,$@) $(LINK) -o $@ $^ -lcjson $(LIBS)

$(CHECK_ALL): $(test_obj) $(TOOLKIT) $(STATIC)
	$(call say,LD,$@) $(LINK) -o $@ $^ $(CHECK_LIBS) -lcjson $(LIBS)

# The GPU suite is built where Check is and run where a GPU is: it holds Check, and loads the plugin.
$(CHECK_GPU): $(gpu_obj) $(TOOLKIT) $(STATIC)
	$(call say,LD,$@) $(LINK) -o $@ $^ -Wl,-Bstatic $(CHECK_STATIC) -Wl,-Bdynamic $(LIBS)

# Compares the committed answers without Check, so that it also runs where only a C library is: other CPUs, emulators.
$(BUILD)/bits: $(OBJ)/tests/bits.o $(patsubst %.c,$(OBJ)/%.o,$(wildcard tools/case*.c) tools/data.c tools/fuzz_device.c) \
		$(STATIC)
	$(call say,LD,$@) $(LINK) -o $@ $^ $(LIBS)

# Where the command's tests find a CUDA device on a machine that has none; it carries the CPU's kernels inside.
$(STAND_IN): $(OBJ)/tests/stand_in.o $(STATIC) src/kernels/cuda/plugin.map
	$(call say,LD,$@) $(LINK) -shared -Wl,--version-script=src/kernels/cuda/plugin.map -Wl,--exclude-libs=ALL -o $@ \
		$(OBJ)/tests/stand_in.o $(STATIC) $(LIBS)
$(OBJ)/tests/stand_in.o: OPTIMISE += -fPIC

$(BUILD)/check_real: $(OBJ)/tests/check_real.o
	$(call say,LD,$@) $(LINK) -o $@ $^ -lmpfr -lgmp $(LIBS)

$(fuzz_targets): $(BUILD)/fuzz_%: $(OBJ)/tests/fuzz_%.o $(TOOLKIT) $(STATIC)
	$(call say,LD,$@) $(LINK) -fsanitize=fuzzer -o $@ $^ -lcjson $(LIBS)

-include $(wildcard $(OBJ)/src/*.d $(OBJ)/src/*/*.d $(OBJ)/src/*/*/*.d $(OBJ)/tools/*.d $(OBJ)/tests/*.d $(OBJ)/tests/gpu/*.d)

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
# CUDA_TABLES=small: few ops and dtypes, for working on the kernels; see kernels.def.
ifeq ($(CUDA_TABLES),small)
CUDA_FAMILIES := SMALL
CUDA_DEFINES := -DRDX_CUDA_SMALL_TABLES
else
CUDA_FAMILIES := F32 EXP F64 EXP64 C128 I32 I64
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
# tables of the debug build: about two and a half minutes of processor time. The tile of general holds every algebra
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

# ---- The CUDA emulator ----
# The same plugin from the same sources, compiled for the CPU (tests/emu): `make emu` needs no nvcc, RDX_CUDA_PLUGIN names the result.
# EMU_SANITIZE=address,undefined or thread: the kernels are instrumented, the scheduler is not. Sanitized plugins need programs
# that brought the sanitizer's run-time with them, so the programs are linked again beside each plugin, from the usual objects.
# EMU_TABLES=sample: each algebra with few dtypes; small: as in the debug build; planted: fewer, for ThreadSanitizer and tests/mutants.py.
# EMU_CFLAGS=--coverage counts lines.
# clang++ compiles unoptimised kernels in half of g++'s time.
EMU_CXX ?= clang++
# Kernels are large and run for moments: optimising them takes ten times as long as it saves, and minutes under sanitizers. Lines are for
# the reports of sanitizers; without them kernels compile in 0.85 of the time.
EMU_OPTIMISE ?= $(if $(findstring thread,$(EMU_SANITIZE)),-O1,-O0)
EMU_TABLES ?= $(if $(findstring thread,$(EMU_SANITIZE)),planted,$(if $(EMU_SANITIZE),sample,full))
EMU_BUILD ?= build-emu$(if $(EMU_SANITIZE),-$(subst $(comma),-,$(EMU_SANITIZE)))
EMU_CFLAGS ?=
EMU_DEFINES_sample := -DRDX_CUDA_SAMPLE_TABLES
EMU_DEFINES_small := -DRDX_CUDA_SMALL_TABLES
EMU_DEFINES_planted := -DRDX_CUDA_PLANTED_TABLES
ifeq ($(EMU_TABLES),sample)
EMU_FAMILIES := SAMPLE
else ifeq ($(EMU_TABLES),small)
EMU_FAMILIES := SMALL
else ifeq ($(EMU_TABLES),planted)
EMU_FAMILIES := PLANTED
else
EMU_FAMILIES := F32 EXP F64 EXP64 C128 I32 I64
endif
emu_obj := $(EMU_BUILD)/obj
emu_sanitize := $(if $(EMU_SANITIZE),-fsanitize=$(EMU_SANITIZE) -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(EMU_SANITIZE)),-fno-sanitize=vptr$(comma)function -fno-sanitize-recover=all))
EMU_FLAGS = -std=c++17 $(if $(EMU_SANITIZE),-g1) -fPIC -fvisibility=hidden -pthread -Wall -Wextra -Wno-missing-field-initializers -Iinclude -Isrc -Itests/emu $(if $(WERROR),-Werror) \
	$(if $(findstring address,$(EMU_SANITIZE)),-DEMU_ASAN) $(if $(findstring thread,$(EMU_SANITIZE)),-DEMU_TSAN) -MMD -MP
# As for the CPU's kernels: no fma that the source does not name, no algebra of reals. A GPU traps where an address is not aligned.
EMU_DEVICE_FLAGS = -include tests/emu/device.h -x c++ -fno-strict-aliasing -fno-fast-math -ffp-contract=off \
	$(or $(emu_sanitize),-fsanitize=alignment -fsanitize-undefined-trap-on-error) $(EMU_CFLAGS) \
	$(EMU_DEFINES_$(EMU_TABLES)) -DRDX_CUDA_AT_ONCE=32 -Wno-unknown-pragmas -Wno-unused-function -Wno-sign-compare \
	$(if $(findstring clang,$(EMU_CXX)),-Wno-bitwise-instead-of-logical,-Wno-maybe-uninitialized)
emu_machine := $(patsubst %.cpp,$(emu_obj)/%.o,$(addprefix tests/emu/,arithmetic.cpp fiber.cpp machine.cpp shared.cpp runtime.cpp streams.cpp))
emu_host := $(patsubst %.cu,$(emu_obj)/%.o,$(filter-out $(cuda_dir)/kernel_%,$(wildcard $(cuda_dir)/*.cu)))
emu_kernels := $(emu_host) $(foreach family,$(EMU_FAMILIES),$(cuda_kernels:%=$(emu_obj)/$(cuda_dir)/%.$(family).o))
EMU_PLUGIN := $(EMU_BUILD)/libredax_cuda_emu.so

$(emu_obj)/tests/emu/%.o: tests/emu/%.cpp
	$(call say,CXX,$<) mkdir -p $(@D) && $(EMU_CXX) $(EMU_FLAGS) -O2 -c -o $@ $<

$(emu_host): $(emu_obj)/%.o: %.cu
	$(call say,CXX,$<) mkdir -p $(@D) && $(EMU_CXX) $(EMU_FLAGS) $(EMU_DEVICE_FLAGS) $(EMU_OPTIMISE) -c -o $@ $<

define emu_rule
$$(emu_obj)/$$(cuda_dir)/%.$(1).o: $$(cuda_dir)/%.cu
	$$(call say,CXX,'$$< ($(1))') mkdir -p $$(@D) && \
		$$(EMU_CXX) $$(EMU_FLAGS) $$(EMU_DEVICE_FLAGS) $(EMU_OPTIMISE) -DRDX_FAMILY=$(1) -DRDX_FAMILY_$(1) -c -o $$@ $$<
endef
$(foreach family,$(EMU_FAMILIES),$(eval $(call emu_rule,$(family))))

# The emulated devices say that warps take several rows from three blocks on, and that rows of heavy ops go through rings from 24 KB on, and
# columns in any order go onto a stack after 32 lines: with as much as a GPU waits for, no case that runs here would show it.
$(emu_obj)/$(cuda_dir)/device.o: EMU_FLAGS += -DRDX_CUDA_MANY_BLOCKS=2 -DRDX_CUDA_HEAVY_BYTES=24576

$(EMU_PLUGIN): $(emu_machine) $(emu_kernels) tests/emu/plugin.map
	$(call say,LD,$@) $(EMU_CXX) -shared -pthread $(emu_sanitize) $(EMU_CFLAGS) -Wl,--version-script=tests/emu/plugin.map \
		$(if $(EMU_SANITIZE),,-Wl,-z,defs) -o $@ $(filter %.o,$^)

emu_link = $(if $(EMU_SANITIZE),clang,$(CC)) $(emu_sanitize)
$(EMU_BUILD)/redax: $(OBJ)/tools/redax.o $(TOOLKIT) $(STATIC) $(EMU_PLUGIN)
	$(call say,LD,$@) $(emu_link) -o $@ $(filter-out %.so,$^) -lcjson $(LIBS)

$(EMU_BUILD)/bits: $(OBJ)/tests/bits.o $(TOOLKIT) $(STATIC) $(EMU_PLUGIN)
	$(call say,LD,$@) $(emu_link) -o $@ $(filter-out %.so,$^) -lcjson $(LIBS)

# Small kernels with bugs to switch on: the emulator's own test.
$(emu_obj)/tests/emu/planted.o: tests/emu/planted.cpp
	$(call say,CXX,$<) mkdir -p $(@D) && $(EMU_CXX) $(EMU_FLAGS) $(EMU_DEVICE_FLAGS) $(EMU_OPTIMISE) -c -o $@ $<

$(EMU_BUILD)/planted: $(emu_obj)/tests/emu/planted.o $(emu_machine)
	$(call say,LD,$@) $(EMU_CXX) -pthread $(emu_sanitize) $(EMU_CFLAGS) -o $@ $^

emu: $(EMU_PLUGIN) $(EMU_BUILD)/redax $(EMU_BUILD)/bits $(EMU_BUILD)/planted ## build the CUDA plugin for the CPU (tests/emu) and its programs as build-emu

EMU_CASES ?= 2000
check-emu: ## build the emulator, then golden answers and EMU_CASES (2000) random cases through it
	$(again) emu
	tests/emu/check_emu.sh $(EMU_BUILD) $(firstword $(subst $(comma), ,$(EMU_SANITIZE)) plain) $(EMU_CASES)

-include $(wildcard $(emu_obj)/tests/emu/*.d $(emu_obj)/$(cuda_dir)/*.d)

# ---- Use ----
# Sub-makes, because what setup installs (the compiler, at worst) is looked at when a makefile is read.
parallel = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))
again = +$(MAKE) --no-print-directory $(parallel)

setup: ## install what building and testing need (apt-get as root or by sudo); does nothing when it is all there
	tools/setup.sh

run: setup ## build, then show the command on real files and at the speed of this machine's memory
	$(again) all
	$(call show,stats examples/iris.npy)
	$(call show,stats examples/tiny.safetensors)
	$(call show,reduce examples/iris.npy --op mean --axis 0 --explain)
	$(call show,bench --device cpu sum:f32:16384x16384/0 sum:f32:16384x16384/1)
show = printf '\n$$ %s\n' '$(COMMAND) $(1)' && $(COMMAND) $(1)

check: setup ## build, then run every test
	$(again) all tests
	$(again) test

test: $(CHECK_ALL) $(BUILD)/bits $(STAND_IN) $(COMMAND) ## run every test that `make tests` built
	$(CHECK_ALL)
	$(BUILD)/bits tests/golden.txt
	tests/test_command.sh $(COMMAND) $(STAND_IN)

check-gpu: setup ## build and run the GPU suite, then under compute-sanitizer; without a GPU it says so and passes the rest
	$(again) $(CHECK_GPU) $(if $(NVCC),$(PLUGIN))
	tools/check_gpu.sh $(BUILD)

BENCH ?= --suite bench/cases.txt --json $(BUILD)/bench.json
bench: all ## time the public suite on the CPU; BENCH='CASE...' for others
	$(COMMAND) bench --device cpu $(BENCH)

REPORT ?= $(wildcard $(BUILD)/peers*.json)
report: ## one page and one picture of what tools/peers.py measured: REPORT='FILE.json...' (build/peers*.json)
	python3 tools/report.py --html $(BUILD)/report.html --png $(BUILD)/report.png $(REPORT)

FUZZ_SECONDS ?= 60
fuzz: all ## compare random cases, every plan of each, with the oracle for FUZZ_SECONDS (60)
	$(COMMAND) fuzz --seconds $(FUZZ_SECONDS)

# libFuzzer instruments the library too, so these live in a clang build of their own. Their subjects are parsers and the
# planner: one instruction set is enough, and its folds need not be fast (optimised under sanitizers one took clang ten minutes).
FUZZ_BUILD := CC=clang SANITIZE=fuzzer-no-link,address,undefined BUILD=build-fuzz \
	ISAS=baseline ISA_DEFINES=-DRDX_HAVE_BASELINE ISA_OPTIMISE=-O0
fuzzers: ## build the libFuzzer targets tests/fuzz_*.c (clang) as build-fuzz/fuzz_*
	$(again) $(FUZZ_BUILD) $(patsubst tests/%.c,build-fuzz/%,$(wildcard tests/fuzz_*.c))

check-real: ## measure exp, log and their kin against MPFR; needs libmpfr-dev
	$(again) $(BUILD)/check_real
	$(BUILD)/check_real

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

# ---- Install ----
# Relative, so that the installed tree may be moved and staged.
include_from_lib = $(shell realpath -m --relative-to='$(LIBDIR)' '$(INCLUDEDIR)')
define configured # file.in, file
sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	-e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@INCLUDE_FROM_LIB@|$(include_from_lib)|' $(1) >'$(DESTDIR)$(2)'
endef

install: all ## install into PREFIX (/usr/local), below DESTDIR where given
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig' \
		'$(DESTDIR)$(LIBDIR)/cmake/redax' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(MANDIR)/man3'
	install -m 755 $(COMMAND) '$(DESTDIR)$(BINDIR)/redax'
	install -m 644 include/redax.h '$(DESTDIR)$(INCLUDEDIR)/redax.h'
	install -m 644 $(STATIC) '$(DESTDIR)$(LIBDIR)/libredax.a'
	install -m 755 $(SHARED).$(VERSION) '$(DESTDIR)$(LIBDIR)/libredax.so.$(VERSION)'
	ln -sf libredax.so.$(VERSION) '$(DESTDIR)$(LIBDIR)/$(soname)'
	ln -sf $(soname) '$(DESTDIR)$(LIBDIR)/libredax.so'
	if [ -e $(PLUGIN) ]; then install -m 755 $(PLUGIN) '$(DESTDIR)$(LIBDIR)/libredax_cuda.so'; fi
	$(call configured,redax.pc.in,$(LIBDIR)/pkgconfig/redax.pc)
	$(call configured,cmake/redaxConfig.cmake.in,$(LIBDIR)/cmake/redax/redaxConfig.cmake)
	$(call configured,cmake/redaxConfigVersion.cmake.in,$(LIBDIR)/cmake/redax/redaxConfigVersion.cmake)
	install -m 644 man/redax.1 '$(DESTDIR)$(MANDIR)/man1/redax.1'
	install -m 644 man/redax.3 '$(DESTDIR)$(MANDIR)/man3/redax.3'

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(BINDIR)/redax' '$(DESTDIR)$(INCLUDEDIR)/redax.h' '$(DESTDIR)$(LIBDIR)'/libredax.a \
		'$(DESTDIR)$(LIBDIR)'/libredax.so '$(DESTDIR)$(LIBDIR)'/libredax.so.$(SOVERSION) \
		'$(DESTDIR)$(LIBDIR)'/libredax.so.$(VERSION) '$(DESTDIR)$(LIBDIR)'/libredax_cuda.so '$(DESTDIR)$(LIBDIR)/pkgconfig/redax.pc' \
		'$(DESTDIR)$(MANDIR)/man1/redax.1' '$(DESTDIR)$(MANDIR)/man3/redax.3'
	rm -rf '$(DESTDIR)$(LIBDIR)/cmake/redax'

installcheck: all ## install into a scratch folder, build examples/mean.c against it in every way, run that
	tools/check_install.sh $(BUILD)

# ---- Care ----
format: ## set every C file in the project's style
	tools/check_format.sh --fix

lint: all ## the checks of the text: folders, headers, symbols, words, manual, style, static analysis
	tools/check_folders.py
	tools/check_headers.sh
	tools/check_symbols.sh $(BUILD)
	tools/check_words.sh
	tools/check_manual.sh $(BUILD)
	tools/check_format.sh
	tools/check_static.sh
	python3 examples/make_examples.py --check

clean: ## remove every build folder
	rm -rf build build-*

help: ## this list
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: all lib tests cuda cuda-debug ptx emu check-emu setup run check check-gpu test bench report fuzz fuzzers check-real python python-package setup-python check-python bench-python install uninstall installcheck format lint clean help
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
