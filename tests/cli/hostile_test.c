/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole program on damaged debug information and on strings that would
 * write on a terminal. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

/* Processor time of the programs that were run: a loaded machine adds none. What
 * waits for ever is ended by hi_command_run, with a 124. */
static double seconds(void)
{
	struct rusage u;

	HI_ASSERT(getrusage(RUSAGE_CHILDREN, &u) == 0);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- damaged debug information ---- */

struct file {
	unsigned char *bytes;
	size_t size;
};

static struct file read_file(const char *path)
{
	struct file f = {};
	struct stat st;
	FILE *in = fopen(path, "r");

	HI_ASSERT(in && fstat(fileno(in), &st) == 0);
	f.size = (size_t)st.st_size;
	f.bytes = malloc(f.size);
	HI_ASSERT(f.bytes && fread(f.bytes, f.size, 1, in) == 1);
	fclose(in);
	hi_test_defer(free, f.bytes);
	return f;
}

static void write_file(const struct file *f, const char *path)
{
	FILE *out = fopen(path, "w");

	HI_ASSERT(out && fwrite(f->bytes, f->size, 1, out) == 1 && fclose(out) == 0);
}

struct part {
	char name[24];
	size_t offset, size;
};

/* The parts of an executable that describe it, by name; the last are its section
 * headers. Returns their number. */
static size_t find_parts(const struct file *f, struct part *parts, size_t max)
{
	static const char *const wanted[] = {
		".debug_info",	   ".debug_abbrev",   ".debug_str",   ".debug_line",
		".debug_line_str", ".debug_rnglists", ".debug_addr",  ".debug_loclists",
		".debug_aranges",  ".eh_frame",	      ".symtab",      ".strtab",
		".dynsym",	   ".dynamic",	      ".eh_frame_hdr"};
	const Elf64_Ehdr *elf = (const Elf64_Ehdr *)f->bytes;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(f->bytes + elf->e_shoff);
	const char *names = (const char *)f->bytes + sections[elf->e_shstrndx].sh_offset;
	size_t n = 0;

	for (size_t i = 0; i < elf->e_shnum; i++)
		for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++)
			if (n + 1 < max && sections[i].sh_size &&
			    strcmp(names + sections[i].sh_name, wanted[k]) == 0) {
				parts[n] = (struct part){.offset = sections[i].sh_offset,
							 .size = sections[i].sh_size};
				snprintf(parts[n++].name, sizeof(parts->name), "%s",
					 wanted[k]);
			}
	parts[n] = (struct part){"section headers", elf->e_shoff,
				 elf->e_shnum * sizeof(*sections)};
	return n + 1;
}

/* Some bytes of one part become others: few (subtle) or many. */
static void damage(struct file *f, const struct part *part, unsigned *seed)
{
	static const unsigned char edges[] = {0, 1, 0x7f, 0x80, 0xff};
	unsigned changes = 1u << rand_r(seed) % 6;

	for (unsigned i = 0; i < changes; i++) {
		size_t at = part->offset + (size_t)rand_r(seed) % part->size;
		int how = rand_r(seed);

		f->bytes[at] = how % 2 ? (unsigned char)(how >> 8)
				       : edges[(size_t)(how >> 8) % sizeof(edges)];
	}
}

static void check_variant(const char *core, const char *exe, const char *what,
			  unsigned number)
{
	static const char *const commands[] = {"summary", "census", "retained", "leaks",
					       "waste"};
	double start = seconds();
	struct hi_command *c =
		hi_heapinspect(commands[number % 5], number % 3 ? "--all" : "--json",
			       "--core", core, "--exe", exe);

	HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2 || c->exit_code == 3,
		      "variant %u, %s, %s: exit %d: %.300s", number, what,
		      commands[number % 5], c->exit_code, c->err);
	HI_ASSERT_MSG(seconds() - start < 10, "variant %u, %s: %.1f s", number, what,
		      seconds() - start);
	HI_ASSERT_MSG(c->exit_code == 0 || *c->err, "variant %u: no word", number);
}

static void restore_cache_home(void *value)
{
	if (value)
		setenv("XDG_CACHE_HOME", value, 1);
	else
		unsetenv("XDG_CACHE_HOME");
	free(value);
}

/* Variants have one build-id: what is learnt from them must not stay anywhere. */
static void cache_in(const char *directory)
{
	const char *before = getenv("XDG_CACHE_HOME");

	hi_test_defer(restore_cache_home, before ? strdup(before) : NULL);
	setenv("XDG_CACHE_HOME", directory, 1);
}

static void sweep_variants(const char *fixture, const char *argument1,
			   const char *argument2, unsigned seed, unsigned variants)
{
	const char *in = workshop_open();
	char program[320], core[320], exe[320];
	struct part parts[24];
	struct file whole, f;
	struct target *t;
	size_t n;

	cache_in(in);
	snprintf(program, sizeof(program), "%s/%s", HI_FIXTURE_DIR, fixture);
	t = target_start(fixture, argument1, argument2, NULL);
	workshop_run("gcore -o core %s >/dev/null 2>&1", t->pid);
	snprintf(core, sizeof(core), "%s/core.%s", in, t->pid);
	hi_fixture_end(t->fx);
	snprintf(exe, sizeof(exe), "%s/variant", in);
	whole = read_file(program);
	f = read_file(program);
	n = find_parts(&whole, parts, 24);
	HI_ASSERT(n >= 8);
	for (unsigned i = 0; i < variants; i++) {
		memcpy(f.bytes, whole.bytes, f.size);
		damage(&f, &parts[i % n], &seed);
		write_file(&f, exe);
		check_variant(core, exe, parts[i % n].name, i);
	}
}

HI_TEST_SLOW(hostile, damaged_elf_and_dwarf_of_a_c_program_never_crash)
{
	sweep_variants("leak_shapes", "acyclic", "3", 20260101, 200);
}

HI_TEST_SLOW(hostile, damaged_elf_and_dwarf_of_a_cxx_program_never_crash)
{
	sweep_variants("typing_cxx", NULL, NULL, 4711, 100);
}

/* ---- strings that would write on a terminal ---- */

#define EVIL_NAME                                                                        \
	"evil\033[2J\n\r\t\xff\xfe\x9b"                                                  \
	"1m\xe2\x80\xae.x"

static void check_harmless(const char *what, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char b = (unsigned char)text[i];

		HI_ASSERT_MSG((b >= 0x20 || b == '\n') && b != 0x7f,
			      "%s: byte 0x%02x at %zu of: %.400s", what, b, i, text);
	}
	/* C1 controls and overrides of direction in UTF-8. */
	HI_ASSERT_MSG(!strstr(text, "\xc2\x9b") && !strstr(text, "\xe2\x80\xae"),
		      "%s: a control in UTF-8", what);
}

/* jansson takes valid UTF-8 only; a string that it decodes must be harmless, too. */
static void check_strings(const char *what, json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		check_harmless(what, json_string_value(value), json_string_length(value));
	json_array_foreach(value, i, member) check_strings(what, member);
	json_object_foreach(value, key, member) check_strings(key, member);
}

/* One command as text, in ASCII and in UTF-8, and as JSON. */
static void check_command(const char *const words[6], const char *target,
			  const char *value)
{
	static const char *const locales[] = {"C", "C.UTF-8"};
	static const char *const formats[] = {"--all", "-v", "--json"};

	for (unsigned i = 0; i < 6; i++) {
		char *argv[16] = {(char[]){"env"}, NULL};
		char locale[24], binary[] = HI_BINARY_DIR "/heapinspect", said[200];
		struct hi_command *c;
		int n = 1;

		snprintf(locale, sizeof(locale), "LC_ALL=%s", locales[i / 3]);
		argv[n++] = locale;
		argv[n++] = binary;
		for (int w = 0; w < 6 && words[w]; w++)
			argv[n++] = strdup(words[w]);
		argv[n++] = strdup(formats[i % 3]);
		argv[n++] = strdup(target);
		argv[n++] = strdup(value);
		argv[n] = NULL;
		c = hi_command_runv(0, argv);
		for (int w = 3; w < n; w++)
			free(argv[w]);
		snprintf(said, sizeof(said), "%s %s %s", words[0], formats[i % 3],
			 locales[i / 3]);
		HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2 || c->exit_code == 3,
			      "%s: exit %d: %s", said, c->exit_code, c->err);
		check_harmless(said, c->out, c->out_size);
		check_harmless(said, c->err, c->err_size);
		if (i % 3 != 2 || c->exit_code != 0)
			continue;
		check_strings(said, doc_parse(c->out));
	}
}

struct addresses {
	const char *object, *banner, *stack;
};

static void check_commands(const struct addresses *a, const char *target,
			   const char *value)
{
	const char *const all[][6] = {
		{"summary"},
		{"census"},
		{"retained"},
		{"leaks"},
		{"waste"},
		{"waste", "--type", EVIL_NAME},
		{"paths", a->object},
		{"paths", "struct letter"},
		{"paths", EVIL_NAME},
		{"census", "--type", EVIL_NAME},
		{"explain", a->object},
		{"explain", a->banner},
		{"explain", a->stack},
		{"explain", EVIL_NAME},
		{EVIL_NAME},
		{"summary", "--debug-dir", EVIL_NAME},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_command(all[i], target, value);
}

static struct target *start_evil(const char *in, struct addresses *a)
{
	struct target *t;
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", in, EVIL_NAME);
	HI_ASSERT_EQ(0,
		     hi_command_run(0, "cp", HI_FIXTURE_DIR "/hostile_names", path, NULL)
			     ->exit_code);
	t = target_start(path, NULL);
	*a = (struct addresses){target_said(t, "object"), target_said(t, "banner"),
				target_said(t, "stack")};
	return t;
}

HI_TEST_SLOW(hostile, strings_of_a_process_do_not_reach_the_terminal)
{
	struct addresses a;
	struct target *t = start_evil(workshop_open(), &a);
	struct hi_command *c;

	check_commands(&a, "--pid", t->pid);
	/* They are there, as escapes. */
	c = target_run(t, "explain", a.object, "--all");
	HI_ASSERT_MSG(strstr(c->out, "\\x1b[31m"), "%s", c->out);
	c = target_run(t);
	HI_ASSERT_MSG(strstr(c->out, "evil\\x1b[2J"), "%s", c->out);
}

HI_TEST_SLOW(hostile, strings_of_a_core_do_not_reach_the_terminal)
{
	const char *in = workshop_open();
	struct addresses a;
	struct target *t = start_evil(in, &a);
	char core[400], moved[400];

	workshop_run("gcore -o core %s >/dev/null 2>&1", t->pid);
	snprintf(core, sizeof(core), "%s/core.%s", in, t->pid);
	snprintf(moved, sizeof(moved), "%s/core %s", in, EVIL_NAME);
	HI_ASSERT(rename(core, moved) == 0);
	check_commands(&a, "--core", moved);
	check_commands(&a, "--core", "/nowhere/" EVIL_NAME);
}
