/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/views/rss_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats/text.h"
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
