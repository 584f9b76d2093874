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

# ---- Parts of their own: the CUDA plugin, its emulator, the Python package ----
include src/kernels/cuda/cuda.mk
include tests/emu/emu.mk
include python/python.mk

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

lint: all ## the checks of the text: folders, headers, symbols, words, links, manual, style, static analysis
	tools/check_folders.py
	tools/check_headers.sh
	tools/check_symbols.sh $(BUILD)
	tools/check_words.sh
	tools/check_links.py
	tools/check_manual.sh $(BUILD)
	tools/check_format.sh
	tools/check_static.sh
	python3 examples/make_examples.py --check

clean: ## remove every build folder
	rm -rf build build-*

help: ## this list
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(filter Makefile %.mk,$(MAKEFILE_LIST))

.PHONY: all lib tests setup run check check-gpu test bench report fuzz fuzzers check-real install uninstall installcheck format lint clean help
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
