# The only build entry. `make help` lists the targets.
#
# Everything is built out of tree, in build/$(CONFIG): release (default), debug, asan (with ubsan), tsan, coverage.
# The folder is laid out like an installed prefix (bin, include, lib, share/pto), so that ptoc finds its data the same
# way in both. CPPFLAGS, CFLAGS and LDFLAGS of the user are appended; a change of compiler or flags rebuilds.
# The version is the first heading of the list of changes.
VERSION := $(shell sed -n 's/^.. \([0-9][0-9.]*\)$$/\1/p' CHANGELOG.md | head -n 1)
SOVERSION := 0
CONFIG ?= release
BUILD  ?= build/$(CONFIG)
prefix ?= /usr/local
libdir ?= $(prefix)/lib
mandir ?= $(prefix)/share/man
.DELETE_ON_ERROR:
.SUFFIXES:

CC      ?= cc
AR      ?= ar
RE2C    ?= re2c
BISON   ?= bison
PKGCONF ?= pkg-config
INSTALL ?= install
OBJCOPY ?= objcopy

OPT_release  = -O2
OPT_debug    = -O0 -g3 -DPTO_ARENA_MALLOC -DPTO_VERIFY
OPT_asan     = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DPTO_ARENA_MALLOC -DPTO_VERIFY
OPT_tsan     = -O1 -g -fsanitize=thread -DPTO_VERIFY
OPT_coverage = -O0 -g --coverage -DPTO_VERIFY
ifeq ($(filter $(CONFIG),release debug asan tsan coverage),)
$(error CONFIG=$(CONFIG): one of release, debug, asan, tsan, coverage)
endif
WARN = -Wall -Wextra -Wpedantic -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes
STD  = -std=c11 -D_GNU_SOURCE -DPTO_VERSION='"$(VERSION)"'

# Asked of pkg-config once, at first use: `make check` may have to install it first.
once = $(eval $(1) := $(2))$($(1))
COMPILER_CFLAGS = $(call once,COMPILER_CFLAGS,$(shell $(PKGCONF) --cflags isl hwloc libcjson))
COMPILER_LIBS   = $(call once,COMPILER_LIBS,$(shell $(PKGCONF) --libs isl hwloc libcjson) -ldl -lm -lpthread)
RUNTIME_LIBS    = $(call once,RUNTIME_LIBS,$(shell $(PKGCONF) --libs hwloc) -lm -lpthread)
# Empty for a compiler without OpenMP: the runtime's own pool is then serial.
OPENMP          = $(call once,OPENMP,$(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c - -o /dev/null 2>/dev/null && echo -fopenmp))
CHECK_LIBS      = $(call once,CHECK_LIBS,$(shell $(PKGCONF) --libs check))

compile = $(CC) $(STD) $(OPT_$(CONFIG)) $(WARN) $(COMPILER_CFLAGS) -Iruntime/include $(CPPFLAGS) $(CFLAGS) -MMD -MP
link    = $(CC) $(OPT_$(CONFIG)) $(CFLAGS) $(LDFLAGS)
# With V=1 each command is shown, else a short line, with -s nothing.
say = $(if $(V),,@$(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,printf '  %-6s %s\n' $(1) $@;))

completions = $(BUILD)/share/bash-completion/completions/ptoc $(BUILD)/share/zsh/site-functions/_ptoc
all: $(BUILD)/bin/ptoc $(BUILD)/lib/libptort.a $(BUILD)/lib/libptort.so $(completions) ## the compiler and the runtime (default)
	$(if $(MAKECMDGOALS)$(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,@echo 'ptoc is $(BUILD)/bin/ptoc: `make install` puts it on the PATH, or  PATH="$(abspath $(BUILD))/bin:$$PATH"')

# The compiler and flags of the last build: when they change, everything is made again.
flags := $(CC) $(STD) $(OPT_$(CONFIG)) $(WARN) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)
ifneq ($(filter-out clean help install-only uninstall,$(or $(MAKECMDGOALS),all)),)
ifneq ($(file <$(BUILD)/flags),$(flags))
$(shell mkdir -p $(BUILD))
$(file >$(BUILD)/flags,$(flags))
endif
endif
$(BUILD)/flags: ;

# ---- what must be installed ----
$(BUILD)/tools: .ci/deps
	@mkdir -p $(@D)
	@CC='$(CC)' .ci/deps --dry-run build
	@touch $@

# ---- compiler ----
compiler_src := $(shell find compiler -name '*.c' | sort)
compiler_obj := $(compiler_src:%.c=$(BUILD)/%.o) $(BUILD)/gen/lexer.o $(BUILD)/gen/parser.o
compiler_lib_obj := $(filter-out $(BUILD)/compiler/cli/main.o,$(compiler_obj))

$(BUILD)/gen/lexer.c: grammar/lexer.re | $(BUILD)/tools
	@mkdir -p $(@D)
	$(call say,RE2C)$(RE2C) -W -Werror --no-debug-info -o $@ $<
$(BUILD)/gen/parser.c $(BUILD)/gen/parser.h &: grammar/parser.y | $(BUILD)/tools
	@mkdir -p $(BUILD)/gen
	$(call say,BISON)$(BISON) -Wall -Werror --header=$(BUILD)/gen/parser.h -o $(BUILD)/gen/parser.c $<
# ptoc itself has one thread: ThreadSanitizer watches the runtime and the kernels that ptoc loads.
$(compiler_obj): private OPT_tsan = -O2 -DPTO_VERIFY
$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/gen/parser.h $(BUILD)/flags
	$(call say,CC)$(compile) -Icompiler -I$(BUILD)/gen -c -o $@ $<
$(BUILD)/compiler/%.o: compiler/%.c $(BUILD)/flags | $(BUILD)/gen/parser.h
	@mkdir -p $(@D)
	$(call say,CC)$(compile) -Icompiler -I$(BUILD)/gen -c -o $@ $<
$(BUILD)/lib/libptoc.a: $(compiler_lib_obj)
	@mkdir -p $(@D)
	$(call say,AR)rm -f $@; $(AR) rcs $@ $^
# The whole runtime is in ptoc, and visible to the kernels that `ptoc run` and `ptoc check` load: one runtime, one pool.
$(BUILD)/bin/ptoc: $(BUILD)/compiler/cli/main.o $(BUILD)/lib/libptoc.a $(BUILD)/lib/libptort.a $(BUILD)/exports | $(BUILD)/share
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(OPENMP) -Wl,--dynamic-list=$(BUILD)/exports -o $@ $(filter %.o,$^) $(BUILD)/lib/libptoc.a \
	    -Wl,--whole-archive $(BUILD)/lib/libptort.a -Wl,--no-whole-archive $(COMPILER_LIBS)
# Data and headers where an installed ptoc has them.
$(BUILD)/share: Makefile
	@mkdir -p $(BUILD)/share/pto
	@ln -sfn $(CURDIR)/targets $(BUILD)/share/pto/targets
	@ln -sfn $(CURDIR)/stdlib $(BUILD)/share/pto/stdlib
	@ln -sfn $(CURDIR)/compiler/cli/report $(BUILD)/share/pto/report
	@ln -sfn $(CURDIR)/runtime/include $(BUILD)/include
	@touch $@
# Completion, made from the compiler's table of options.
$(BUILD)/share/bash-completion/completions/ptoc: $(BUILD)/bin/ptoc
	@mkdir -p $(@D) && $< --completion=bash >$@
$(BUILD)/share/zsh/site-functions/_ptoc: $(BUILD)/bin/ptoc
	@mkdir -p $(@D) && $< --completion=zsh >$@

# ---- runtime ----
# One set of objects for both libraries. A version script leaves pto_* alone visible in the shared one; in the static
# one the objects become a single one whose internal names are local, so that they cannot clash with a program's.
runtime_src := $(shell find runtime/src -name '*.c' | sort)
runtime_obj := $(runtime_src:%.c=$(BUILD)/%.o)
$(BUILD)/runtime/%.o: runtime/%.c $(BUILD)/flags | $(BUILD)/tools
	@mkdir -p $(@D)
	$(call say,CC)$(compile) -fPIC -fvisibility=hidden $(OPENMP) -c -o $@ $<
$(BUILD)/runtime/ptort.o: $(runtime_obj)
	@$(CC) -r -nostdlib -o $@ $^
	@$(OBJCOPY) --localize-hidden $@
$(BUILD)/lib/libptort.a: $(BUILD)/runtime/ptort.o
	@mkdir -p $(@D)
	$(call say,AR)rm -f $@; $(AR) rcs $@ $^
$(BUILD)/lib/libptort.so.$(VERSION): $(runtime_obj) $(BUILD)/version-script
	@mkdir -p $(@D)
	$(call say,LINK)$(link) -shared $(OPENMP) -Wl,-soname,libptort.so.$(SOVERSION) -Wl,--version-script=$(BUILD)/version-script -o $@ $(runtime_obj) $(RUNTIME_LIBS)
$(BUILD)/lib/libptort.so: $(BUILD)/lib/libptort.so.$(VERSION)
	@ln -sf libptort.so.$(VERSION) $(BUILD)/lib/libptort.so.$(SOVERSION)
	@ln -sf libptort.so.$(SOVERSION) $@
$(BUILD)/version-script: Makefile
	@echo 'PTORT_$(SOVERSION) { global: pto_*; local: *; };' >$@
$(BUILD)/exports: Makefile
	@echo '{ pto_*; };' >$@

# ---- tests ----
# tests/unit/test_NAME.c exports `Suite *suite_NAME(void)`; the list of suites is made from the file names.
unit_src := $(wildcard tests/unit/*.c)
unit_obj := $(unit_src:%.c=$(BUILD)/%.o)
unit_suites := $(patsubst tests/unit/test_%.c,SUITE(%),$(filter tests/unit/test_%.c,$(unit_src)))
$(BUILD)/tests/unit/%.o: tests/unit/%.c $(BUILD)/flags | $(BUILD)/gen/parser.h $(BUILD)/tests/unit/suites.def
	@mkdir -p $(@D)
	$(call say,CC)$(compile) -Icompiler -I$(BUILD)/gen -I$(BUILD)/tests/unit -Itests/unit -Iruntime/src $(OPENMP) -c -o $@ $<
ifneq ($(file <$(BUILD)/tests/unit/suites.def),$(unit_suites))
$(BUILD)/tests/unit/suites.def: always
endif
$(BUILD)/tests/unit/suites.def:
	@mkdir -p $(@D)
	@echo '$(unit_suites)' >$@
$(BUILD)/tests/unit/unit: $(unit_obj) $(BUILD)/lib/libptoc.a $(runtime_obj)
	$(call say,LINK)$(link) $(OPENMP) -o $@ $(filter %.o,$^) $(BUILD)/lib/libptoc.a $(CHECK_LIBS) $(COMPILER_LIBS)

# The runner of all other tests, and the generator of random programs: plain C, no libraries.
tool_src := $(wildcard tests/run/*.c) $(wildcard tests/fuzz/*.c)
tool_obj := $(tool_src:%.c=$(BUILD)/%.o)
tools := $(BUILD)/tests/run/run $(BUILD)/tests/fuzz/fuzz
$(tool_obj): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(compile) -c -o $@ $<
$(BUILD)/tests/run/run: $(filter $(BUILD)/tests/run/%,$(tool_obj))
	$(call say,LINK)$(link) -o $@ $^ -lm
$(BUILD)/tests/fuzz/fuzz: $(filter $(BUILD)/tests/fuzz/%,$(tool_obj))
	$(call say,LINK)$(link) -o $@ $^

# Compiled programs, changed: runs them in the runtime's model, which the kernels that it loads see too.
mutate_obj := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/mutate/*.c))
tools += $(BUILD)/tests/mutate/mutate
$(mutate_obj): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(compile) -Wno-pedantic -c -o $@ $<
$(BUILD)/tests/mutate/mutate: $(mutate_obj) $(runtime_obj)
	$(call say,LINK)$(link) $(OPENMP) -rdynamic -o $@ $^ $(RUNTIME_LIBS) -ldl

# Unit tests need Check; without it the runner reports them skipped.
unit = $(if $(shell $(PKGCONF) --exists check 2>/dev/null && echo yes),$(BUILD)/tests/unit/unit)
JOBS ?= 2
T ?=
run_tests = CC='$(CC)' CONFIG='$(CONFIG)' $(BUILD)/tests/run/run -j $(JOBS) -b $(BUILD)

check: ## all tests; T=GROUP or T=GROUP/NAME for some of them, T=^GROUP for the others, JOBS=N at once
	@CC='$(CC)' .ci/deps check
	@+$(MAKE) --no-print-directory check-only
check-only: all $(tools) $(unit) # what `make check` does once the tools are there
	@$(run_tests) $(foreach t,$(T),'$t')
check-long: ## all tests, and the sweeps that are too long for every day
	@CC='$(CC)' .ci/deps check
	@+PTO_LONG=1 $(MAKE) --no-print-directory check-only
fuzz: all $(tools) ## random programs against the reference evaluator, on all targets; N=20000 programs, SEED=N, JOBS=N
	@mkdir -p $(BUILD)/tests/fuzz/found
	@OMP_WAIT_POLICY=passive CC='sh $(CURDIR)/tests/fuzz/cc.sh -O0 $(CC)' \
	    QUICK_CC="sh $(CURDIR)/tests/fuzz/cc.sh -O0 $$(command -v clang || echo '$(CC)')" PTOC=$(abspath $(BUILD))/bin/ptoc \
	    $(BUILD)/tests/fuzz/fuzz -a -s $(SEED) -n $(N) -j $(JOBS) -o $(BUILD)/tests/fuzz/found
SEED ?= $(shell date +%s)
N ?= 20000
# Needs AFL++, which builds a compiler of its own. T: some of pto davinci ptoir ptob npy machine.
fuzz-input: all ## what the compiler reads, changed by AFL++; T="pto ptob ..." for some of it, TIME=1200 seconds each
	@if ! command -v afl-fuzz >/dev/null 2>&1 || ! command -v afl-clang-fast >/dev/null 2>&1; then \
	    echo 'skipped: AFL++ is not installed; to have it:  .ci/deps fuzz'; exit 0; fi; \
	    $(MAKE) --no-print-directory BUILD=build/afl CONFIG=asan CC=afl-clang-fast AFL_QUIET=1 all && \
	    WORK=$(CURDIR)/build/afl/fuzz SECONDS_EACH=$(TIME) PTOC=$(CURDIR)/build/afl/bin/ptoc PLAIN=$(abspath $(BUILD))/bin/ptoc PLAIN_CC='$(CC)' \
	    sh tests/fuzz_input/run.sh $(T)
TIME ?= 1200
mutate: all $(tools) ## compiled programs changed one place at a time, on the modelled machines; prints what each change led to
	@PTO_MUTATE=all $(run_tests) -v mutate

# ---- demo, bench ----
demo: ## builds, then times the headline kernel and filters an image
	@CC='$(CC)' .ci/deps build
	@+$(MAKE) --no-print-directory all
	@CC='$(CC)' BUILD='$(BUILD)' sh samples/demo/demo.sh
bench: all ## measures the samples against plain C
	@CC='$(CC)' BUILD='$(BUILD)' sh tests/bench/bench.sh

bench-model: all ## what kernels cost on the modelled machines, beside goals and bounds
	@CC='$(CC)' BUILD='$(BUILD)' sh tests/bench/model.sh

# ---- install ----
man_pages := $(wildcard man/*.[1-9])
headers := $(wildcard runtime/include/*.h runtime/include/ptort/*.h)
dest = $(DESTDIR)$(prefix)
dest_lib = $(DESTDIR)$(libdir)
install: all ## to prefix=/usr/local, under DESTDIR
	@+$(MAKE) --no-print-directory install-only
# The folders that it has to make are recorded, under DESTDIR, so that `uninstall` takes away those and no others.
folders = bin include/ptort share/pto/stdlib share/pto/targets share/pto/report share/bash-completion/completions share/zsh/site-functions
install-only: # what was built, as it is
	@for d in $(folders:%='$(dest)/%') '$(dest_lib)/pkgconfig' '$(dest_lib)/cmake/pto' $(patsubst %,'$(DESTDIR)$(mandir)/man%',$(sort $(subst .,,$(suffix $(man_pages))))); do \
	    up=$$d; while [ ! -d "$$up" ] && [ "$$up" != '$(DESTDIR)' ]; do echo "$${up#'$(DESTDIR)'}"; up=$$(dirname "$$up"); done; $(INSTALL) -d "$$d" || exit 1; \
	done >'$(BUILD)/folders'
	@cat '$(BUILD)/folders' >>'$(dest)/share/pto/folders'
	$(INSTALL) -m 755 $(BUILD)/bin/ptoc '$(dest)/bin/ptoc'
	for h in $(headers:runtime/include/%=%); do $(INSTALL) -m 644 runtime/include/$$h '$(dest)/include/'$$h || exit 1; done
	$(INSTALL) -m 644 $(BUILD)/lib/libptort.a '$(dest_lib)/libptort.a'
	$(INSTALL) -m 755 $(BUILD)/lib/libptort.so.$(VERSION) '$(dest_lib)/libptort.so.$(VERSION)'
	ln -sf libptort.so.$(VERSION) '$(dest_lib)/libptort.so.$(SOVERSION)'
	ln -sf libptort.so.$(SOVERSION) '$(dest_lib)/libptort.so'
	for f in pkgconfig/ptort.pc cmake/pto/pto-config.cmake cmake/pto/pto-config-version.cmake; do \
	    sed -e 's|@prefix@|$(prefix)|g' -e 's|@libdir@|$(libdir)|g' -e 's|@version@|$(VERSION)|g' runtime/$${f##*/}.in >'$(dest_lib)/'$$f || exit 1; done
	for f in $(wildcard stdlib/*.pto) $(wildcard targets/*.pto); do $(INSTALL) -m 644 $$f '$(dest)/share/pto/'$$f || exit 1; done
	for f in $(wildcard compiler/cli/report/*); do $(INSTALL) -m 644 $$f '$(dest)/share/pto/report/' || exit 1; done
	for f in $(completions:$(BUILD)/%=%); do $(INSTALL) -m 644 $(BUILD)/$$f '$(dest)/'$$f || exit 1; done
	for f in $(man_pages); do $(INSTALL) -m 644 $$f '$(DESTDIR)$(mandir)/man'$${f##*.}/$${f##*/} || exit 1; done
uninstall: ## removes what install put there, and the folders that it made
	rm -f '$(dest)/bin/ptoc' '$(dest_lib)/libptort.a' '$(dest_lib)'/libptort.so* '$(dest_lib)/pkgconfig/ptort.pc' $(completions:$(BUILD)/%='$(dest)/%') \
	    $(headers:runtime/include/%='$(dest)/include/%') $(foreach f,$(man_pages),'$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(f)))/$(notdir $(f))')
	@made=$$(sort -ru '$(dest)/share/pto/folders' 2>/dev/null); \
	rm -rf '$(dest)/share/pto' '$(dest_lib)/cmake/pto'; \
	printf '%s\n' "$$made" | while read -r d; do [ ! -d '$(DESTDIR)'"$$d" ] || rmdir '$(DESTDIR)'"$$d" 2>/dev/null || true; done

clean: ## removes build/
	rm -rf build
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' Makefile | while IFS=@ read -r a b; do printf '%-18s %s\n' "$$a" "$$b"; done
	@echo '  CONFIG=release|debug|asan|tsan|coverage  CC=gcc|clang  CFLAGS=...  BUILD=folder'

always:
.PHONY: all check check-only check-long fuzz fuzz-input mutate demo bench bench-model install install-only uninstall clean help always
-include $(compiler_obj:.o=.d) $(runtime_obj:.o=.d) $(unit_obj:.o=.d) $(tool_obj:.o=.d) $(mutate_obj:.o=.d)
