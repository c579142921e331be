/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries of a deep profile as text, there and back. */
#include <stdlib.h>

#include "report/reports/deep/deep_query.h"
#include "tests/harness.h"
#include "tests/support/random.h"

static char *text_again(const char *text, struct hi_arena *arena)
{
	struct hi_deep_query query;
	struct hi_error err;
	char *again;

	HI_ASSERT_OK(hi_deep_query_parse(text, &query, &err), &err);
	again = hi_deep_query_text(&query, arena);
	HI_ASSERT(again != NULL);
	return again;
}

HI_TEST(deep_query, written_queries_parse_to_the_same_query)
{
	static const char *const texts[] = {
		"menu",
		"root/no",
		"root/90",
		"root/1",
		"root/100",
		"clique/1",
		"clique/4294967294",
		"clique_rc/7",
		"recursion_type_freq",
		"proc/0",
		"proc/12",
		"proc_callers/0/cs/1/20/ac",
		"proc_callers/3/pr/2/20/nc",
		"proc_callers/3/mo/1/100000/nc",
		"proc_callers/3/cl/9/1/ac",
		"program_modules",
		"module/util",
		"module/",
		"module//usr/lib/libc.so.6",
		"module/a%20b%26c%3dd",
		"module/100%25%ff%0a",
		"top_procs/1-100/bytes/self/oa",
		"top_procs/5-5/words/both/pc",
		"top_procs/p0/calls/both/oa",
		"top_procs/p0.05/live_bytes/both/oa",
		"top_procs/p99.999/leaked/self/oa",
		"top_procs/p100/drag/self/oa",
		"top_procs/v18446744073709551615/retained/self/oa",
		"top_procs/v0/ticks/self/oa",
		"top_procs/1-2/exits/self/oa",
		"top_procs/1-2/fails/self/oa",
		"top_procs/1-2/redos/self/oa",
		"top_procs/1-2/exceptions/self/oa",
		"top_procs/1-2/allocs/self/oa",
		"top_procs/1-2/live/self/oa",
		"dump_node/1",
		"dump_edge/2",
		"dump_function/3",
		"dump_site/4",
		"dump_clique/5",
		"dump",
		"timeout/30",
		"restart",
		"quit",
		"menu&fields=calls,bytes,words&order=leaked&scope=self&per_call=yes"
		"&unit=words&ancestors=0&per_type=3&modules=always&indirect=sum"
		"&contour=yes&inactive=sites,modules&developer=yes",
		"clique/2&order=name&modules=never",
		"clique/2&order=allocs&order=context",
		"proc/2&inactive=shown",
	};
	struct hi_arena arena = {};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *again = text_again(texts[i], &arena);

		if (strcmp(texts[i], "module/a%20b%26c%3dd") == 0)
			HI_ASSERT_STREQ("module/a%20b%26c=d", again);
		else
			HI_ASSERT_STREQ(texts[i], again);
		HI_ASSERT_STREQ(again, text_again(again, &arena));
	}
	hi_arena_free(&arena);
}

HI_TEST(deep_query, names_of_mercury_are_understood)
{
	struct hi_arena arena = {};

	HI_ASSERT_STREQ("top_procs/1-9/callseqs/self/oa",
			text_again("top_procs/1-9/callseqs/self/oa", &arena));
	HI_ASSERT_STREQ("top_procs/1-9/ticks/both/pc",
			text_again("top_procs/1-9/time/both/pc", &arena));
	/* Defaults are not written. */
	HI_ASSERT_STREQ("menu", text_again("menu&order=bytes&ancestors=5&per_type=20"
					   "&scope=both&inactive=hidden&developer=no",
					   &arena));
	hi_arena_free(&arena);
}

HI_TEST(deep_query, invalid_queries_are_refused)
{
	static const char *const texts[] = {
		"",
		"nothing",
		"menu/",
		"menu/1",
		"root",
		"root/0",
		"root/101",
		"root/-1",
		"root/yes",
		"clique",
		"clique/",
		"clique/0",
		"clique/4294967295",
		"clique/99999999999999999999",
		"clique/1x",
		"clique/ 1",
		"clique/1/2",
		"proc/-1",
		"proc_callers/1/cs/1/20",
		"proc_callers/1/xx/1/20/ac",
		"proc_callers/1/cs/0/20/ac",
		"proc_callers/1/cs/1/0/ac",
		"proc_callers/1/cs/1/100001/ac",
		"proc_callers/1/cs/1/20/xx",
		"proc_callers/1/cs/1/20/ac/1/1/1/1/1/1/1",
		"module",
		"module/%",
		"module/%0",
		"module/%00",
		"module/%zz",
		"top_procs/1/bytes/self/oa",
		"top_procs/0-1/bytes/self/oa",
		"top_procs/9-1/bytes/self/oa",
		"top_procs/1-100001/bytes/self/oa",
		"top_procs/p/bytes/self/oa",
		"top_procs/p101/bytes/self/oa",
		"top_procs/p100.1/bytes/self/oa",
		"top_procs/p1./bytes/self/oa",
		"top_procs/p1.2.3/bytes/self/oa",
		"top_procs/p0.0001/bytes/self/oa",
		"top_procs/v/bytes/self/oa",
		"top_procs/v-1/bytes/self/oa",
		"top_procs/1-2/money/self/oa",
		"top_procs/1-2/bytes/all/oa",
		"top_procs/1-2/bytes/self/xx",
		"menu&",
		"menu&fields",
		"menu&fields=",
		"menu&fields=bytes,",
		"menu&order=",
		"menu&scope=all",
		"menu&developer=1",
		"menu&ancestors=-1",
		"menu&ancestors=100001",
		"menu&modules=some",
		"menu&inactive=",
		"menu&colour=red",
		"menu&\033[31m=\xff",
	};
	struct hi_deep_query query;
	struct hi_error err;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		enum hi_status status = hi_deep_query_parse(texts[i], &query, &err);

		HI_ASSERT_MSG(status == HI_USAGE, "\"%s\": %s", texts[i],
			      hi_status_text(status));
		HI_ASSERT(strchr(err.text, 033) == NULL);
		HI_ASSERT(strlen(err.text) + 1 < sizeof(err.text));
	}
}

HI_TEST(deep_query, an_error_names_what_there_is)
{
	struct hi_deep_query query;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_USAGE, hi_deep_query_parse("cliqe/1", &query, &err));
	HI_ASSERT(strstr(err.text, "cliqe") && strstr(err.text, "proc_callers"));
	HI_ASSERT_STATUS(HI_USAGE, hi_deep_query_parse("proc/x", &query, &err));
	HI_ASSERT(strstr(err.text, "proc/N"));
	HI_ASSERT_STATUS(HI_UNSUPPORTED,
			 hi_deep_query_parse("proc_static_coverage/1", &query, &err));
	HI_ASSERT(strstr(err.text, "coverage points"));
	HI_ASSERT_STATUS(HI_UNSUPPORTED,
			 hi_deep_query_parse("module_getter_setters/m", &query, &err));
	HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_deep_query_parse("module_rep", &query, &err));
}

HI_TEST(deep_query, long_ones_do_no_harm)
{
	size_t size = 1 << 20;
	char *text = malloc(size + 1);
	struct hi_deep_query query;
	struct hi_error err;

	HI_ASSERT(text != NULL);
	hi_test_defer(free, text);
	memset(text, 'a', size);
	text[size] = 0;
	HI_ASSERT_STATUS(HI_USAGE, hi_deep_query_parse(text, &query, &err));
	memcpy(text, "module/", 7);
	HI_ASSERT_STATUS(HI_USAGE, hi_deep_query_parse(text, &query, &err));
	text[7 + HI_DEEP_MODULE_SIZE] = 0;
	HI_ASSERT_STATUS(HI_USAGE, hi_deep_query_parse(text, &query, &err));
	text[7 + HI_DEEP_MODULE_SIZE - 1] = 0;
	HI_ASSERT_OK(hi_deep_query_parse(text, &query, &err), &err);
}

/* Queries with bytes changed, put in and taken out: none, or one that has one text. */
HI_TEST(deep_query, damaged_ones_are_none_or_have_one_text)
{
	static const char *const texts[] = {
		"proc_callers/3/mo/1/100/nc&contour=yes&unit=words",
		"top_procs/p0.05/live_bytes/both/oa&fields=calls,bytes&order=name",
		"top_procs/1-100/bytes/self/pc&inactive=sites,modules",
		"module//usr/lib/lib%20c.so&modules=always&per_type=3&ancestors=0",
		"clique_rc/12&developer=yes&indirect=sum&scope=self&per_call=yes",
		"root/90&order=leaked"};
	static const char bytes[] = "0123456789/&=%,-.pvacdeimnorstu_\n\xff";
	struct hi_arena arena = {};
	uint64_t random = 1;
	uint32_t n_ok = 0;

	for (int i = 0; i < 100000; i++) {
		char text[200], *at;
		struct hi_deep_query query;
		struct hi_error err;
		enum hi_status status;

		strcpy(text, texts[random_below(&random, 6)]);
		for (uint32_t k = random_below(&random, 3); k < 3; k++) {
			at = text + random_below(&random, (uint32_t)strlen(text));
			if (random_below(&random, 2))
				memmove(at, at + 1, strlen(at));
			else
				*at = bytes[random_below(&random, sizeof(bytes) - 1)];
		}
		status = hi_deep_query_parse(text, &query, &err);
		HI_ASSERT(status == HI_OK || status == HI_USAGE);
		if (status)
			continue;
		n_ok++;
		at = hi_deep_query_text(&query, &arena);
		HI_ASSERT(at != NULL);
		HI_ASSERT_STREQ(at, text_again(at, &arena));
		hi_arena_free(&arena);
	}
	HI_ASSERT(n_ok > 1000);
}
