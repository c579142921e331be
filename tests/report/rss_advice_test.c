/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/summary/rss_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/text.h"
#include "tests/harness.h"

#define MIB (1ull << 20)

static bool advises(const struct hi_ledger *ledger, const struct hi_report_header *header,
		    const char *word)
{
	struct hi_page *page = hi_page_create();
	struct hi_text_options options = {.width = 200, .utf8 = true};
	struct hi_error err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool found;

	HI_ASSERT(page && out);
	hi_rss_advice_show(ledger, header, page);
	HI_ASSERT_OK(hi_text_render(page, &options, out, &err), &err);
	fclose(out);
	found = strstr(text, word) != NULL;
	free(text);
	hi_page_destroy(page);
	return found;
}

HI_TEST(rss_advice, names_what_is_worth_a_twentieth)
{
	struct hi_ledger l = {.rss = 100 * MIB,
			      .n_rows = 4,
			      .rows = {{"free_bin", "", 1, 5 * MIB, 0, 0, 0},
				       {"free_top", "", 1, 5 * MIB - 1, 0, 0, 0},
				       {"free_tcache", "", 1, 0, 0, 0, 0},
				       {"runtime_free", "", 0, 9 * MIB, 0, 0, 0}}};
	struct hi_report_header h = {.allocator = "glibc", .arenas = 2};

	HI_ASSERT(advises(&l, &h, "5.0 MiB are free in bins: malloc_trim(3)"));
	HI_ASSERT(!advises(&l, &h, "M_TRIM_THRESHOLD"));
	HI_ASSERT(!advises(&l, &h, "MALLOC_ARENA_MAX"));
	HI_ASSERT(!advises(&l, &h, "tcache_count"));
	HI_ASSERT(!advises(&l, &h, "PYTHONMALLOC"));
	h.arenas = 3;
	h.runtime = "CPython";
	l.rows[1].resident++;
	l.rows[2].resident = 6 * MIB;
	HI_ASSERT(advises(&l, &h, "5.0 MiB are free at the top"));
	HI_ASSERT(advises(&l, &h, "10.0 MiB of free memory are spread"));
	HI_ASSERT(advises(&l, &h, "6.0 MiB are free in caches"));
	HI_ASSERT(advises(&l, &h, "9.0 MiB are free in the runtime's arenas"));
	/* What is not known is not worth anything. */
	for (unsigned i = 0; i < 4; i++)
		l.rows[i].resident = HI_UNKNOWN;
	HI_ASSERT(!advises(&l, &h, "RSS"));
	l.rows[0].resident = 50 * MIB;
	l.rss = HI_UNKNOWN;
	HI_ASSERT(!advises(&l, &h, "RSS"));
	l.rss = 0;
	HI_ASSERT(!advises(&l, &h, "RSS"));
}

static bool advises_row(const char *allocator, const char *version, const char *exe,
			const char *key, const char *word)
{
	const struct hi_report_allocator list[] = {
		{.name = "glibc", .arenas = 9, .live_bytes = 1},
		{.name = allocator, .version = version, .arenas = 9, .live_bytes = MIB},
		{.name = "mine", .refused = "no", .live_bytes = 9 * MIB}};
	struct hi_ledger l = {
		.rss = 100 * MIB, .n_rows = 1, .rows = {{key, "", 1, 8 * MIB, 0, 0, 0}}};
	struct hi_report_header h = {.allocator = "glibc, and others",
				     .allocators = list,
				     .n_allocators = 3,
				     .exe = exe};

	return advises(&l, &h, word);
}

/* Of several allocators the one that has most; each by the names of its own options. */
HI_TEST(rss_advice, is_that_of_the_allocator_with_most_of_the_heap)
{
	HI_ASSERT(advises_row("jemalloc", "5.3.0", "", "free_dirty",
			      "dirty_decay_ms:1000"));
	HI_ASSERT(!advises_row("jemalloc", "5.3.0", "/usr/bin/x", "free_dirty", "redis"));
	HI_ASSERT(
		advises_row("jemalloc", "5.3.0", "/usr/bin/redis-check-rdb", "free_dirty",
			    "8.0 MiB of free pages go back at once by the command MEMORY "
			    "PURGE"));
	HI_ASSERT(advises_row("jemalloc", "5.3.0", "", "free_tcache", "tcache:false"));
	HI_ASSERT(!advises_row("jemalloc", "5.3.0", "", "free_tcache", "GLIBC_TUNABLES"));
	HI_ASSERT(advises_row("jemalloc", "5.3.0", "", "free_slot", "narenas:2"));
	/* Addresses that are kept cost nothing. */
	HI_ASSERT(!advises_row("jemalloc", "5.3.0", "", "free_retained", "RSS"));
	HI_ASSERT(advises_row("tcmalloc", "2.10", "", "free_span",
			      "TCMALLOC_RELEASE_RATE"));
	HI_ASSERT(advises_row("tcmalloc", "2.10", "", "free_tcache",
			      "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES"));
	HI_ASSERT(advises_row("mimalloc", "2.1.7", "", "free_span",
			      "MIMALLOC_PURGE_DELAY"));
	HI_ASSERT(advises_row("mimalloc", "2.0.9", "", "free_span",
			      "MIMALLOC_DECOMMIT_DELAY"));
	HI_ASSERT(!advises_row("mimalloc", "2.0.9", "", "free_span", "PURGE"));
	HI_ASSERT(advises_row("musl", "mallocng 1.2.3", "", "free_slot", "groups"));
	HI_ASSERT(!advises_row("musl", "mallocng 1.2.3", "", "free_top", "RSS"));
}
