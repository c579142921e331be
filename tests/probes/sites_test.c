/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a safepoint is in a running target. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/probed.h"
#include "tests/support/workshop.h"

static void expect_place(struct probed *p, const char *at, uint64_t addr)
{
	const struct hi_probe_sites *places = probed_find(p, at);

	HI_ASSERT_MSG(places->count == 1, "%s: %zu places", at, places->count);
	HI_ASSERT_MSG(places->items[0].address == addr, "%s at %#lx, not %#lx", at,
		      (unsigned long)places->items[0].address, (unsigned long)addr);
}

HI_TEST_SCENARIO(probe_sites, are_the_first_cheap_instruction_that_every_entry_reaches)
{
	struct probed *p = probed_start();

	/* By hand from the assembly of the fixture: mov 3 bytes, test 3 bytes. */
	expect_place(p, "asm_mov_then_push", probed_function(p, "asm_mov_then_push") + 6);
	/* The loop would hit it five times a call. */
	expect_place(p, "asm_loop", probed_function(p, "asm_loop"));
	expect_place(p, "asm_push", probed_function(p, "asm_push"));
	expect_place(p, "probe_places:asm_push", probed_function(p, "asm_push"));
	expect_place(p, "asm_clobber", probed_function(p, "asm_clobber") + 5);
}

HI_TEST_SCENARIO(probe_sites, say_instruction_and_function)
{
	struct probed *p = probed_start();
	const struct hi_probe_site *place = probed_find(p, "asm_mov_then_push")->items;

	HI_ASSERT_STREQ("asm_mov_then_push", place->function);
	HI_ASSERT_EQ(6, place->into_function);
	HI_ASSERT_STREQ("pushq %rbx", place->instruction);
	HI_ASSERT(!place->single_stepped);
	HI_ASSERT(probed_find(p, "asm_loop")->items->single_stepped);
}

HI_TEST_SCENARIO(probe_sites, that_do_not_exist_name_their_neighbours)
{
	struct probed *p = probed_start();

	probed_find_nothing(p, "stepped_frist", "stepped_first");
	probed_find_nothing(p, "no_such_function_anywhere_at_all", "no function");
	probed_find_nothing(p, "nomodule:asm_push", "no module nomodule");
	probed_find_nothing(p, "usdt:probes_fixture:plane", "plain");
	probed_find_nothing(p, "usdt:nobody:nothing", "no USDT probe nobody:nothing");
	probed_find_nothing(p, "libc:strlen", "ifunc");
}

HI_TEST_SCENARIO(probe_sites, of_a_function_that_is_inlined_everywhere_are_its_calls)
{
	struct probed *p = probed_start();

	probed_find_nothing(p, "always_inlined", "inlined everywhere (2 calls)");
	probed_find_nothing(p, "always_inlined", "probe_places.c:");
}

/* The line of a text in the fixture's source. */
static unsigned line_of(const char *text)
{
	FILE *file = fopen(HI_SOURCE_DIR "/fixtures/probe_places.c", "r");
	unsigned line = 0;
	char buf[256];

	HI_ASSERT(file);
	while (fgets(buf, sizeof(buf), file)) {
		line++;
		if (strstr(buf, text)) {
			fclose(file);
			return line;
		}
	}
	HI_ASSERT_MSG(false, "no %s in the source", text);
	return 0;
}

static void expect_line(struct probed *p, const char *file, unsigned wanted,
			unsigned line, const char *function)
{
	char at[160];
	const struct hi_probe_sites *places;

	snprintf(at, sizeof(at), "%s:%u", file, wanted);
	places = probed_find(p, at);
	HI_ASSERT_MSG(places->count == 1, "%s: %zu places", at, places->count);
	HI_ASSERT_STREQ(function, places->items[0].function);
	HI_ASSERT_EQ(line, places->items[0].line);
}

/* The whole path as the debug information has it: a compiler cache may have taken it
 * from another directory of the same source. */
static const char *whole_path(void)
{
	static const char script[] =
		"readelf --debug-dump=info " HI_FIXTURE_DIR "/probe_places | awk '"
		"/DW_AT_name.*probe_places[.]c$/ { name = $NF } "
		"/DW_AT_comp_dir/ && name { dir = name ~ /^[/]/ ? \"\" : $NF \"/\"; "
		"print dir name; exit }' | xargs realpath -m";
	const struct hi_command *c = hi_command_run(0, "sh", "-c", script, NULL);

	HI_ASSERT_MSG(c->exit_code == 0 && c->out[0] == '/', "%s%s", c->out, c->err);
	c->out[strcspn(c->out, "\n")] = 0;
	return c->out;
}

HI_TEST_SCENARIO(probe_sites, of_a_line_are_the_line_or_the_next_with_code)
{
	struct probed *p = probed_start();
	unsigned a = line_of("line A"), b = line_of("line B");

	expect_line(p, "probe_places.c", a, a, "lines");
	expect_line(p, "fixtures/probe_places.c", a, a, "lines");
	expect_line(p, whole_path(), b, b, "lines");
	/* The empty line behind A. */
	expect_line(p, "probe_places.c", a + 1, a + 2, "lines");
	probed_find_nothing(p, "robe_places.c:20", "no debug information mentions");
	probed_find_nothing(p, "probe_places.c:99999",
			    "has no code at or after line 99999");
}

/* Built beside its source, as many are: the debug information has ".." in its paths. */
HI_TEST_SCENARIO(probe_sites, of_a_line_of_a_file_by_whatever_path)
{
	const char *dir = workshop_open();
	struct probed p = {};
	struct hi_error err;
	char path[300];
	pid_t pid;

	workshop_write("beside.c", workshop_main); /* line 6: alarm() */
	workshop_run("mkdir -p src out && mv beside.c src && cd out && "
		     "gcc -g -O1 ../src/./beside.c -o ../beside");
	pid = workshop_start("beside");
	hi_child_kill_after(pid);
	HI_ASSERT_OK(hi_target_open(pid, &p.target, &err), &err);
	hi_test_defer(hi_target_close, p.target);
	snprintf(path, sizeof(path), "%s/src/beside.c", dir);
	expect_line(&p, path, 6, 6, "main");
	snprintf(path, sizeof(path), "%s/out/../src/beside.c", dir);
	expect_line(&p, path, 6, 6, "main");
	expect_line(&p, "src/beside.c", 6, 6, "main");
	expect_line(&p, "beside.c", 6, 6, "main");
	probed_find_nothing(&p, "out/beside.c:6", "no debug information mentions");
	probed_find_nothing(&p, "c/beside.c:6", "no debug information mentions");
	probed_find_nothing(&p, "eside.c:6", "no debug information mentions");
}

/* addr2line is the judge of where a line is. */
HI_TEST_SCENARIO(probe_sites, of_a_line_are_what_another_tool_says_of_the_address)
{
	struct probed *p = probed_start();
	unsigned a = line_of("line A");
	char at[64], addr[32], want[64];
	const struct hi_probe_site *place;
	const struct hi_command *c;
	uint64_t base;

	snprintf(at, sizeof(at), "probe_places.c:%u", a);
	place = probed_find(p, at)->items;
	base = p->target->mappings[place->mapping].start -
	       p->target->mappings[place->mapping].file_offset;
	snprintf(addr, sizeof(addr), "0x%lx", (unsigned long)(place->address - base));
	c = hi_command_run(0, "addr2line", "-e", HI_FIXTURE_DIR "/probe_places", addr,
			   NULL);
	snprintf(want, sizeof(want), "probe_places.c:%u", a);
	HI_ASSERT_MSG(strstr(c->out, want), "%s: %s", at, c->out);
}
