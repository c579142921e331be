/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of allocators that lie inside a program, against what nm says about the object
 * files that they were linked from; and libraries that are an allocator by another name.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "decode/allocators/malloc_text.h"
#include "decode/allocators/malloc_text_signs.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"
enum { NAMES = 32768 };

struct known_names {
	char *items[NAMES];
	size_t count;
};

struct placed {
	uint64_t start, end;
	bool is_own;
};
struct places {
	struct placed items[NAMES];
	size_t count;
};

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_known(struct known_names *names, char *name)
{
	name[strcspn(name, ".@")] = '\0';
	return bsearch(&name, names->items, names->count, sizeof(name), compare_words);
}

/* The functions of an archive, or of an object file. */
static void read_names(const char *path, struct known_names *names)
{
	struct hi_command *c = hi_command_run(0, "nm", "--defined-only", path, NULL);
	char *rest, *line = strtok_r(c->out, "\n", &rest);

	for (; line && names->count < NAMES; line = strtok_r(NULL, "\n", &rest)) {
		char type, name[512];

		if (sscanf(line, "%*x %c %511s", &type, name) != 2 ||
		    !strchr("tTwW", type))
			continue;
		name[strcspn(name, ".")] = '\0';
		names->items[names->count++] = strdup(name);
	}
	HI_ASSERT(names->count > 3);
	qsort(names->items, names->count, sizeof(*names->items), compare_words);
}

static int compare_places(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* All functions of the program; of several names for one place any may be known. */
static void read_places(const char *path, struct known_names *names, struct places *ret)
{
	struct hi_command *c =
		hi_command_run(0, "nm", "-S", "--defined-only", path, NULL);
	char *rest, *line = strtok_r(c->out, "\n", &rest);
	size_t kept = 0;

	for (; line && ret->count < NAMES; line = strtok_r(NULL, "\n", &rest)) {
		struct placed *p = &ret->items[ret->count];
		unsigned long start, size;
		char type, name[512];

		if (sscanf(line, "%lx %lx %c %511s", &start, &size, &type, name) != 4 ||
		    !strchr("tTwW", type) || !size)
			continue;
		*p = (struct placed){start, start + size, is_known(names, name)};
		ret->count++;
	}
	qsort(ret->items, ret->count, sizeof(ret->items[0]), compare_places);
	for (size_t i = 0; i < ret->count; i++)
		if (kept && ret->items[kept - 1].start == ret->items[i].start)
			ret->items[kept - 1].is_own |= ret->items[i].is_own;
		else
			ret->items[kept++] = ret->items[i];
	ret->count = kept;
}

static bool is_in_ranges(const struct hi_range_list *list, const struct placed *p)
{
	for (size_t i = 0; i < list->count; i++)
		if (p->start >= list->items[i].start && p->end <= list->items[i].end)
			return true;
	return false;
}

struct outcome {
	size_t own, missing, foreign;
};

static Elf *open_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	HI_ASSERT(fd >= 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	HI_ASSERT(elf && elf_cntl(elf, ELF_C_FDREAD) == 0);
	close(fd);
	return elf;
}

/* What is found in `program` with what `named`, the same with its symbols, says. */
static struct outcome compare_text(const char *program, const char *named,
				   const char *archive)
{
	struct known_names *names = calloc(1, sizeof(*names));
	struct places *places = calloc(1, sizeof(*places));
	struct hi_malloc_signs signs = {};
	struct hi_range_list list = {};
	struct outcome ret = {};
	bool stripped = strcmp(program, named) != 0;
	Elf *elf = open_elf(program);
	struct hi_error err;

	HI_ASSERT(names && places);
	read_names(archive, names);
	read_places(named, names, places);
	hi_malloc_signs_read(elf, SHT_DYNSYM, &signs);
	hi_malloc_signs_read(elf, SHT_SYMTAB, &signs);
	HI_ASSERT_OK(stripped ? hi_malloc_text_by_calls(elf, &signs, &list, &err)
			      : hi_malloc_text_by_units(elf, &signs, &list, &err),
		     &err);
	for (size_t i = 0; i < places->count; i++) {
		const struct placed *p = &places->items[i];
		bool found = is_in_ranges(&list, p);

		ret.own += p->is_own;
		ret.missing += p->is_own && !found;
		ret.foreign += !p->is_own && found;
	}
	hi_test_note("%s: %zu functions, %zu missing, %zu foreign", hi_base_name(program),
		     ret.own, ret.missing, ret.foreign);
	hi_vector_free(&list);
	elf_end(elf);
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names);
	free(places);
	return ret;
}

/* ---- a program of several object files ---- */

static char directory[64];

static void remove_directory(void *unused)
{
	(void)unused;
	(void)hi_command_run(0, "rm", "-r", directory, NULL);
}

static void write_source(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	HI_ASSERT(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void run_in_directory(const char *script)
{
	struct hi_command *c;
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && %s", directory, script);
	c = hi_command_run(0, "/bin/sh", "-c", line, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
}

static const char *in_directory(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, 128, "%s/%s", directory, name);
	return path;
}

/* Each has static functions before, between and behind its global ones, and a cold part;
 * the program has a file of the same name as the allocator. */
static const char arena_source[] =
	"#include <stdlib.h>\n"
	"#define N __attribute__((noinline))\n"
	"volatile int k;\n"
	"static N void first(void) { if (__builtin_expect(k == 77, 0)) abort(); k++; }\n"
	"void x_je_arena_boot(void) { first(); }\n"
	"static N void fallback(int n) { k += n; }\n"
	"void x_je_arena_choose_hard(void) { fallback(k); }\n"
	"static N void init(int n) { k += 2 * n; }\n"
	"void *my_malloc(unsigned long n) { init((int)n); return 0; }\n"
	"extern void *last_used;\n"
	"void *x_malloc(unsigned long n) { init((int)n); return last_used; }\n"
	"int x_mallctlbymib(void) { init(3); return k; }\n"
	"static N void last(void) { k--; }\n"
	"void *last_used = last;\n";
static const char util_source[] =
	"extern volatile int k;\n"
	"static __attribute__((noinline)) void helper(void) { k++; }\n"
	"void x_je_util(void) { helper(); }\n"
	"void x_je_util2(void) { helper(); k++; }\n";
static const char other_util_source[] =
	"extern volatile int k;\n"
	"static __attribute__((noinline)) void program_init(void) { k++; }\n"
	"void utility(void) { program_init(); }\n"
	"static __attribute__((noinline)) void program_last(void) { k++; }\n"
	"void utility2(void) { program_last(); }\n"
	"void *my_calloc(void) { return 0; }\n";
static const char main_source[] =
	"void x_je_arena_boot(void); void x_je_arena_choose_hard(void);\n"
	"void *x_malloc(unsigned long); int x_mallctlbymib(void); void utility(void);\n"
	"void utility2(void); void x_je_util(void); void x_je_util2(void);\n"
	"static __attribute__((noinline)) int other(int n) { return n; }\n"
	"int main(int argc, char **argv) { (void)argv; x_je_arena_boot(); utility();\n"
	"x_je_arena_choose_hard(); x_malloc(3); x_je_util(); x_je_util2(); utility2();\n"
	"return other(argc) + x_mallctlbymib(); }\n";

static void make_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/heapinspect-text-XXXXXX");
	HI_ASSERT(mkdtemp(directory));
	hi_test_defer(remove_directory, NULL);
}

HI_TEST_SCENARIO(allocator_text_inside, object_files_of_an_allocator_are_told_apart)
{
	struct outcome o;

	make_directory();
	run_in_directory("mkdir own");
	write_source("own/arena.c", arena_source);
	write_source("own/util.c", util_source);
	write_source("util.c", other_util_source);
	write_source("main.c", main_source);
	run_in_directory("gcc -O2 -fno-toplevel-reorder -c -o main.o main.c && gcc -O2 "
			 "-fno-toplevel-reorder -c -o util.o util.c && "
			 "cd own && gcc -O2 -fno-toplevel-reorder -c arena.c util.c && "
			 "ar rc own.a arena.o util.o");
	run_in_directory("gcc -o program util.o own/arena.o own/util.o main.o");
	o = compare_text(in_directory("program"), in_directory("program"),
			 in_directory("own/own.a"));
	HI_ASSERT(o.own >= 12);
	HI_ASSERT_EQ(0, o.missing);
	HI_ASSERT_EQ(0, o.foreign);
}

/* Where the whole program is one unit, nothing of it is caught. */
HI_TEST_SCENARIO(allocator_text_inside, allocator_in_a_program_of_one_unit_is_not_found)
{
	struct outcome o;

	make_directory();
	write_source("own.c", arena_source);
	write_source("all.c", "#include \"own.c\"\n"
			      "static N int a1(void) { return k++; }\n"
			      "static N int a2(void) { return k--; }\n"
			      "int program(void) { return a1() + a2(); }\n"
			      "static N int a3(void) { return k++; }\n"
			      "static N int a4(void) { return k += 2; }\n"
			      "static N int a5(void) { return k += 3; }\n"
			      "static N int a6(void) { return k += 4; }\n"
			      "int program2(void) { return a3() + a4() + a5() + a6(); }\n"
			      "int main(void) { return program() + program2(); }\n");
	run_in_directory(
		"gcc -O2 -fno-toplevel-reorder -c own.c && gcc -O2 -o program all.c");
	o = compare_text(in_directory("program"), in_directory("program"),
			 in_directory("own.o"));
	HI_ASSERT_EQ(0, o.foreign);
}

/* ---- the real ones ---- */

static const char real_source[] = "#include <stdlib.h>\n"
				  "static int helper(int n) { return n + 1; }\n"
				  "int main(int argc, char **argv) { (void)argv;\n"
				  "free(malloc(helper(argc))); return 0; }\n";

static struct outcome link_with(const char *compiler, const char *library, bool stripped)
{
	char script[256], archive[128];

	snprintf(archive, sizeof(archive), LIBRARIES "%s", library);
	if (access(archive, R_OK) != 0)
		HI_SKIP("this archive is not installed");
	make_directory();
	write_source("main.c", real_source);
	snprintf(script, sizeof(script),
		 "gcc -c main.c && %s -o program main.o %s -lm -lpthread && "
		 "strip -o stripped program",
		 compiler, archive);
	run_in_directory(script);
	return compare_text(in_directory(stripped ? "stripped" : "program"),
			    in_directory("program"), archive);
}

/* A function of the archive may be in no file of its own: of the hidden ones with a name
 * of their own one is allowed. */
HI_TEST_SCENARIO(allocator_text_inside, jemalloc_of_a_program_is_found_whole)
{
	struct outcome o = link_with("g++", "libjemalloc.a", false);

	HI_ASSERT(o.own > 1000);
	HI_ASSERT(o.missing <= 1);
	HI_ASSERT_EQ(0, o.foreign);
}

/* Those that no direct call reaches are for mallctl. */
HI_TEST_SCENARIO(allocator_text_inside, a_stripped_program_with_jemalloc_yields_its_calls)
{
	struct outcome o = link_with("g++", "libjemalloc.a", true);

	HI_ASSERT(o.own - o.missing > 600);
	HI_ASSERT(o.foreign <= 3); /* atexit, pthread_atfork: copies of libc's */
}

HI_TEST_SCENARIO(allocator_text_inside, tcmalloc_of_a_program_is_found)
{
	struct outcome o = link_with("g++", "libtcmalloc_minimal.a", false);

	HI_ASSERT(o.own - o.missing > 250);
	HI_ASSERT_EQ(0, o.foreign);
}

/* scripts/build-targets build/targets redis */
HI_TEST_SLOW(allocator_text_inside, jemalloc_of_redis_is_found_whole)
{
	static const char program[] =
		HI_SOURCE_DIR "/build/targets/redis-server-jemalloc";
	static const char archive[] =
		HI_SOURCE_DIR "/build/targets/source/redis-jemalloc/deps/jemalloc/lib/"
			      "libjemalloc.a";
	struct outcome o;

	if (access(program, R_OK) != 0 || access(archive, R_OK) != 0)
		HI_SKIP("no build/targets/redis-server-jemalloc");
	o = compare_text(program, program, archive);
	HI_ASSERT(o.own > 700);
	HI_ASSERT_EQ(0, o.missing);
	HI_ASSERT_EQ(0, o.foreign);
}

/* ---- libraries ---- */

static void forget_preloaded_library(void *unused)
{
	(void)unused;
	unsetenv("LD_PRELOAD");
}

/* Preloaded under a name that says nothing: its whole text, and libc's malloc. */
static void expect_library(const char *library)
{
	struct hi_target *target;
	struct hi_range *ranges;
	struct hi_fixture *fx;
	struct hi_error err;
	uint64_t libc = 0, base = 0;
	char script[256];
	size_t n = 0;
	bool in_libc = false, whole = false;

	snprintf(script, sizeof(script), "cp " LIBRARIES "%s plain.so", library);
	run_in_directory(script);
	HI_ASSERT_EQ(0, setenv("LD_PRELOAD", in_directory("plain.so"), 1));
	hi_test_defer(forget_preloaded_library, NULL);
	fx = hi_fixture_start("glibc_blocks", "1", "100", NULL);
	unsetenv("LD_PRELOAD");
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	HI_ASSERT_OK(hi_allocator_text(target, &ranges, &n, &err), &err);
	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (!(m->prot & HI_PROT_EXEC))
			continue;
		libc = strstr(m->path, "/libc.so.6") ? m->start : libc;
		base = strstr(m->path, "/plain.so") ? m->start : base;
		for (size_t k = 0; k < n; k++) {
			in_libc |= libc == m->start && ranges[k].start > m->start &&
				   ranges[k].end < m->end;
			whole |= base == m->start && ranges[k].start == m->start &&
				 ranges[k].end == m->end;
		}
	}
	HI_ASSERT(libc && base);
	HI_ASSERT_MSG(whole, "%s: not its whole text", library);
	HI_ASSERT(in_libc);
	free(ranges);
	hi_fixture_end(fx);
}

HI_TEST_SCENARIO(allocator_text_inside, a_renamed_library_is_known)
{
	static const char *const libraries[] = {"libjemalloc.so.2",
						"libtcmalloc_minimal.so.4",
						"libtcmalloc.so.4", "libmimalloc.so.2.0"};
	size_t n = 0;

	make_directory();
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), LIBRARIES "%s", libraries[i]);
		if (access(path, R_OK) != 0)
			continue;
		expect_library(libraries[i]);
		n++;
	}
	if (!n)
		HI_SKIP("none of these libraries is installed");
}
