# The CUDA emulator; a part of ../../Makefile.
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
EMU_FAMILIES := $(all_families)
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

.PHONY: emu check-emu
