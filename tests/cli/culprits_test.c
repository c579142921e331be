/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs with one fault each (fixtures/culprits, fixtures/python/culprits): the first
 * page names the type, the holder and the path, at 80 columns. The expected lines were
 * written from the programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

enum { COLUMNS = 80, MOST_LINES = 4, MOST_GAP = 48 };

struct culprit {
	const char *program;
	bool is_python;
	const char *command;
	/* Parts of the page, with its white space as single blanks so that wrapped lines
	 * are whole. * is any text of at most MOST_GAP bytes, # a digit. */
	const char *lines[MOST_LINES];
};

/* The text with its runs of white space as one blank each. */
static char *join_lines(const char *text)
{
	char *joined = malloc(strlen(text) + 3), *to = joined;

	HI_ASSERT(joined);
	hi_test_defer(free, joined);
	*to++ = ' ';
	for (; *text; text++) {
		if (!strchr(" \n\t", *text))
			*to++ = *text;
		else if (to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
	return joined;
}

/* Does the text begin with the pattern? */
static bool begins_with(const char *text, const char *pattern)
{
	for (; *pattern; text++, pattern++) {
		if (*pattern == '*') {
			for (size_t gap = 0; gap <= MOST_GAP; gap++) {
				if (begins_with(text + gap, pattern + 1))
					return true;
				if (!text[gap])
					break;
			}
			return false;
		}
		if (*pattern == '#' ? *text < '0' || *text > '9' : *text != *pattern)
			return false;
	}
	return true;
}

static void expect_line(const char *page, const char *line)
{
	const char *text = join_lines(page);

	while (*text && !(*text == ' ' && begins_with(text + 1, line)))
		text++;
	/* The end first: it has the suspects, and long messages are cut. */
	const char *suspects = strstr(page, "\nSuspects");

	HI_ASSERT_MSG(*text, "no \"%s\" on the page:%s\n%s", line,
		      suspects ? suspects : "", page);
}

/* Bytes of UTF-8 that begin a character: the pages have no wide ones here. */
static unsigned width_of_line(const char *line, size_t length)
{
	unsigned width = 0;

	for (size_t i = 0; i < length; i++)
		width += ((unsigned char)line[i] & 0xc0) != 0x80;
	return width;
}

static void expect_width(const char *page)
{
	for (size_t length; *page; page += length + (page[length] == '\n')) {
		length = strcspn(page, "\n");
		HI_ASSERT_MSG(width_of_line(page, length) <= COLUMNS, "too wide: %.*s",
			      (int)length, page);
	}
}

static void check_page(const struct culprit *culprit, const char *pid)
{
	const struct hi_command *run = hi_command_run(
		0, "/usr/bin/env", "COLUMNS=80", "LC_ALL=C.UTF-8",
		HI_BINARY_DIR "/heapinspect", culprit->command, "--pid", pid, NULL);

	HI_ASSERT_MSG(run->exit_code == 0, "%s", run->err);
	expect_width(run->out);
	for (size_t i = 0; i < MOST_LINES && culprit->lines[i]; i++)
		expect_line(run->out, culprit->lines[i]);
}

static void check_culprit(const struct culprit *culprit)
{
	char name[80], pid[16];

	if (culprit->is_python) {
		snprintf(name, sizeof(name), "culprits/%s", culprit->program);
		check_page(culprit, python_start(NULL, name, NULL, NULL)->pid);
		return;
	}
	struct hi_fixture *fx = hi_fixture_start(culprit->program, NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	check_page(culprit, pid);
}

#define CULPRIT(name, ...)                                                               \
	HI_TEST_SCENARIO(culprits, name)                                                 \
	{                                                                                \
		check_culprit(&(struct culprit){__VA_ARGS__});                           \
	}

CULPRIT(a_growing_cache, "growing_cache", false, "summary",
	{"server.db->buckets: 3,000 × struct entry hold * KiB (*%)"})
CULPRIT(a_list_that_numbers_in_unions_seem_to_refer_to, "number_in_union", false,
	"summary", {"records: list of 4,000 × struct record hold* MiB (9*%)"})
CULPRIT(a_growing_index, "growing_index", false, "summary",
	{"service->sessions.entries: 2,500 × *shop::Session* hold * MiB (*%)"})
CULPRIT(handlers_that_are_never_removed, "signal_handler", false, "summary",
	{"events->reload.handlers: 1,500 × shared_ptr<Context> block hold 1.* MiB (*%)",
	 "shared_ptr<Context> block 1,500 "})
CULPRIT(thread_local_lists, "thread_scratch", false, "summary",
	{"request_scratch* 8 threads*: *1,600 × struct scratch holds * KiB (*%)"})
CULPRIT(a_lost_list, "lost_list", false, "summary",
	{"like live struct job (60) chain 20 2,400 "})
CULPRIT(a_lost_list_on_the_page_of_leaks, "lost_list", false, "leaks",
	{"like live struct job (60) chain 20 2,400 "})
/* The stack may still have a pointer to the last one. */
CULPRIT(a_cycle_of_shared_pointers, "pointer_cycle", false, "summary",
	{"shared_ptr<Document> block* cycle 1## "})
CULPRIT(a_cycle_of_shared_pointers_on_the_page_of_leaks, "pointer_cycle", false, "leaks",
	{"shared_ptr<Document> block* cycle 1## "})
CULPRIT(a_closure_of_a_signal_handler, "signal_closure", true, "summary",
	{"signal handlers*: 2,000 × __main__.Request hold * KiB (*%)"})
CULPRIT(a_cache_of_a_method, "lru_method", true, "summary",
	{"module __main__[\"Report\"]*render*: 1,500 × __main__.Report hold * MiB "
	 "(*%)"})
CULPRIT(a_kept_traceback, "kept_traceback", true, "summary",
	{"module __main__[\"FAILED\"]: 300 × ValueError hold * MiB (*%)",
	 "__main__.Row 3,000 "})
CULPRIT(tasks_that_are_never_awaited, "pending_task", true, "summary",
	{"module __main__[\"BACKGROUND\"]*: 800 × *Task hold * MiB (*%)",
	 "__main__.Job 800 "})
CULPRIT(a_cache_of_a_module, "module_cache", true, "summary",
	{"module store[\"_CACHE\"]: 2,000 × store.Entry hold * MiB (*%)"})
CULPRIT(a_list_of_an_extension, "extension", true, "summary",
	{"pool_records*: *12,000 × struct pool_record holds * MiB (*%)"})
CULPRIT(a_table_of_a_module_that_has_other_tables, "dataclass_table", true, "summary",
	{"module __main__[\"JOBS\"]: 4,000 × __main__.Job hold * MiB (*%)"})
CULPRIT(a_table_of_a_class, "class_table", true, "summary",
	{"module __main__[\"Registry\"]*instances*: 2,000 × __main__.Registry hold * MiB "
	 "(*%)"})
CULPRIT(a_table_in_a_closure_below_a_fifth_of_the_heap, "closure_table", true, "summary",
	{"nothing holds 20 % of the live heap; the largest: "
	 "module __main__[\"count\"]*: 4,000 × list hold * MiB (*%)"})
CULPRIT(one_of_two_tables_of_an_index, "two_tables", false, "summary",
	{"shop::the_shop->by_color[Color::green]: 400 × shop::Item hold * KiB (*%)",
	 "shop::the_shop->first: shop::Part<1> holds 8.# KiB (#.# %) of 1##.# KiB (*%) "
	 "that are held there"})
/* The pieces of a deque are no connections. */
CULPRIT(objects_in_a_deque, "idle_pool", false, "summary",
	{"net::Pool::instance()::pool->idle: #,### × net::Tls hold 1.* MiB (*%)"})
CULPRIT(a_field_of_all_rows, "local_rows", false, "summary",
	{"thread * main(): rows[*].name: 4,000 × string buffer hold * KiB (*%)"})
/* Without symbols and debug information. The stale word in the buffer of stdout is no
 * name: it keeps nothing alive. */
CULPRIT(a_table_of_a_stripped_program, "stripped_table", false, "summary",
	{"no leaks; 9#.# % is held by .bss +0x* of stripped_table (untyped)",
	 ".bss +0x* untyped * KiB *stripped_table",
	 ".bss +0x* of stripped_table*: 4,000 × (untyped) hold * KiB (*%)"})
CULPRIT(a_list_of_a_function_without_a_symbol, "stripped_local", false, "summary",
	{"* is held by thread * stripped_local+0x* stack (untyped)"})
CULPRIT(a_cache_that_left_over_events_lead_to, "left_over_events", false, "summary",
	{"no leaks; 9#.# % is held by service (global)",
	 "service.cache->slots: 3,000 × struct entry hold * KiB (9#.# %)"})
