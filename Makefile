# The only build entry. `make help` lists the targets.
#
# Everything is built out of tree, in build/$(CONFIG): release (default), debug, asan, tsan, coverage.
# CFLAGS, CPPFLAGS, LDFLAGS of the user are appended.
CONFIG ?= release
BUILD  ?= build/$(CONFIG)
.DELETE_ON_ERROR:
.SUFFIXES:

CC      ?= cc
AR      ?= ar
RE2C    ?= re2c
BISON   ?= bison
PKGCONF ?= pkg-config

OPT_release  = -O2
OPT_debug    = -O0 -g3 -DPTO_ARENA_MALLOC -DPTO_VERIFY
OPT_asan     = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DPTO_ARENA_MALLOC -DPTO_VERIFY
OPT_tsan     = -O1 -g -fsanitize=thread -DPTO_VERIFY
OPT_coverage = -O0 -g --coverage -DPTO_VERIFY
WARN = -Wall -Wextra -Wpedantic -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes
STD  = -std=c11 -D_GNU_SOURCE

ptoc_libs := isl hwloc libcjson
LIB_CFLAGS = $(shell $(PKGCONF) --cflags $(ptoc_libs) 2>/dev/null)
LIB_LIBS   = $(shell $(PKGCONF) --libs $(ptoc_libs) 2>/dev/null) -ldl -lm -lpthread

compile = $(CC) $(STD) $(OPT_$(CONFIG)) $(WARN) $(CPPFLAGS_OWN) $(LIB_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP

all: $(BUILD)/bin/ptoc $(BUILD)/lib/libptort.a

# ---- compiler ----
compiler_src := $(shell find compiler -name '*.c' | sort)
compiler_obj := $(compiler_src:%.c=$(BUILD)/%.o) $(BUILD)/gen/lexer.o $(BUILD)/gen/parser.o
compiler_lib_obj := $(filter-out $(BUILD)/compiler/cli/main.o,$(compiler_obj))

$(BUILD)/gen/lexer.c: grammar/lexer.re
	@mkdir -p $(@D)
	$(RE2C) -W -Werror --no-debug-info -o $@ $<
$(BUILD)/gen/parser.c $(BUILD)/gen/parser.h &: grammar/parser.y
	@mkdir -p $(BUILD)/gen
	$(BISON) -Wall -Werror --header=$(BUILD)/gen/parser.h -o $(BUILD)/gen/parser.c $<
$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/gen/parser.h
	$(compile) -Icompiler -I$(BUILD)/gen -Iruntime/include -c -o $@ $<
$(BUILD)/compiler/%.o: compiler/%.c $(BUILD)/gen/parser.h
	@mkdir -p $(@D)
	$(compile) -Icompiler -I$(BUILD)/gen -Iruntime/include -c -o $@ $<
$(BUILD)/lib/libptoc.a: $(compiler_lib_obj)
	@mkdir -p $(@D)
	rm -f $@; $(AR) rcs $@ $^
$(BUILD)/bin/ptoc: $(BUILD)/compiler/cli/main.o $(BUILD)/lib/libptoc.a $(BUILD)/lib/libptort.a
	@mkdir -p $(@D)
	$(CC) $(OPT_$(CONFIG)) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS) -fopenmp

# ---- runtime ----
runtime_src := $(shell find runtime/src -name '*.c' | sort)
runtime_obj := $(runtime_src:%.c=$(BUILD)/%.o)
$(BUILD)/runtime/%.o: runtime/%.c
	@mkdir -p $(@D)
	$(compile) -fPIC -fvisibility=hidden -fopenmp -Iruntime/include -c -o $@ $<
$(BUILD)/lib/libptort.a: $(runtime_obj)
	@mkdir -p $(@D)
	rm -f $@; $(AR) rcs $@ $^

clean:
	rm -rf build

.PHONY: all clean
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
