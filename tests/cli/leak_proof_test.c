/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Certain leaks are those that LeakSanitizer finds, object by object: fixtures/proof,
 * each kind of heap built by two compilers with and without optimisation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

enum { MAX_OBJECTS = 2048, MAX_KINDS = 64 };

struct named_objects {
	struct {
		unsigned long address;
		char name[48];
		bool is_leaked;
	} items[MAX_OBJECTS];
	size_t n;
};

static void take_object(const char *line, void *arg)
{
	struct named_objects *o = arg;

	if (strncmp(line, "object ", 7))
		return;
	HI_ASSERT(o->n < MAX_OBJECTS);
	HI_ASSERT(sscanf(line, "object %lx %47s", &o->items[o->n].address,
			 o->items[o->n].name) == 2);
	o->items[o->n++].is_leaked = false;
}

static void mark_leaked(struct named_objects *o, unsigned long address)
{
	for (size_t i = 0; i < o->n; i++)
		o->items[i].is_leaked |= o->items[i].address == address;
}

static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end + 1 : at + strlen(at);
}

/* Its report has "0xADDRESS (48 bytes)" for each object. */
static void ask_sanitizer(const char *program, const char *kind, struct named_objects *o)
{
	struct hi_command *c =
		hi_command_run(0, "env", "LSAN_OPTIONS=report_objects=1:max_leaks=0",
			       program, kind, NULL);
	unsigned long address;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	o->n = 0;
	for (const char *at = c->out; *at; at = next_line(at))
		take_object(at, o);
	for (const char *at = c->err; *at; at = next_line(at))
		if (sscanf(at, "0x%lx (", &address) == 1)
			mark_leaked(o, address);
}

/* What we call certain. */
static void ask_heapinspect(const char *program, const char *kind,
			    struct named_objects *o)
{
	struct target *t = target_start(program, kind, NULL);
	struct hi_command *c =
		target_run(t, "query", "--format", "csv", "--all",
			   "SELECT address FROM objects WHERE verdict = 'certain'");

	o->n = 0;
	target_each_line(t, take_object, o);
	for (const char *at = c->out; *at; at = next_line(at))
		mark_leaked(o, strtoul(at, NULL, 0));
	hi_fixture_end(t->fx);
}

static unsigned compare_leaks(const char *what, const char *kind,
			      const struct named_objects *theirs,
			      const struct named_objects *ours)
{
	unsigned wrong = 0;

	HI_ASSERT_EQ(theirs->n, ours->n);
	HI_ASSERT(ours->n);
	for (size_t i = 0; i < ours->n; i++) {
		HI_ASSERT_STREQ(theirs->items[i].name, ours->items[i].name);
		if (theirs->items[i].is_leaked == ours->items[i].is_leaked)
			continue;
		fprintf(stderr, "%s, %s: %s 0x%lx is %sleaked by LeakSanitizer\n", what,
			kind, ours->items[i].name, ours->items[i].address,
			theirs->items[i].is_leaked ? "" : "not ");
		wrong++;
	}
	return wrong;
}

static const char *compile_proof(const char *directory, const char *compiler,
				 const char *level, const char *source, bool sanitized)
{
	bool is_cxx = strstr(source, ".cc");
	char name[64], from[256];
	const char *to;
	struct hi_command *c;

	snprintf(name, sizeof(name), "%s%s%s", compiler, level, sanitized ? ".lsan" : "");
	snprintf(from, sizeof(from), HI_SOURCE_DIR "/fixtures/proof/%s", source);
	to = snapshot_path(directory, name);
	c = hi_command_run(0, compiler, "-g", level, is_cxx ? "-std=c++17" : "-std=gnu11",
			   "-D_GNU_SOURCE", "-pthread", from, "-o", to,
			   sanitized ? "-fsanitize=leak" : NULL, "-DPROOF_LSAN", NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s %s: %s", compiler, from, c->err);
	return to;
}

static void prove_kinds(const char *compiler, const char *level, const char *source)
{
	static struct named_objects theirs, ours;
	const char *directory = snapshot_directory();
	const char *plain = compile_proof(directory, compiler, level, source, false);
	const char *judge = compile_proof(directory, compiler, level, source, true);
	struct hi_command *list = hi_command_run(0, plain, NULL);
	char what[64], kind[48];
	unsigned wrong = 0, n = 0;

	snprintf(what, sizeof(what), "%s %s", compiler, level);
	for (const char *at = list->out; *at; at = next_line(at)) {
		HI_ASSERT(sscanf(at, "%47s", kind) == 1);
		if (!strcmp(kind, "ready"))
			break;
		ask_sanitizer(judge, kind, &theirs);
		ask_heapinspect(plain, kind, &ours);
		wrong += compare_leaks(what, kind, &theirs, &ours);
		n++;
	}
	HI_ASSERT(n > 20);
	HI_ASSERT_EQ(0, wrong);
}

HI_TEST_SLOW(leak_proof, c_by_gcc)
{
	prove_kinds("gcc", "-O0", "kinds_c.c");
	prove_kinds("gcc", "-O2", "kinds_c.c");
}

HI_TEST_SLOW(leak_proof, c_by_clang)
{
	prove_kinds("clang", "-O0", "kinds_c.c");
	prove_kinds("clang", "-O2", "kinds_c.c");
}

HI_TEST_SLOW(leak_proof, cxx_by_gcc)
{
	prove_kinds("g++", "-O0", "kinds_cc.cc");
	prove_kinds("g++", "-O2", "kinds_cc.cc");
}

HI_TEST_SLOW(leak_proof, cxx_by_clang)
{
	prove_kinds("clang++", "-O0", "kinds_cc.cc");
	prove_kinds("clang++", "-O2", "kinds_cc.cc");
}
