/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/views/rss_advice.h"

#include <string.h>

static uint64_t resident_bytes_of(const struct hi_ledger *l, const char *key)
{
	for (size_t i = 0; i < l->n_rows; i++)
		if (strcmp(l->rows[i].key, key) == 0)
			return l->rows[i].resident == HI_UNKNOWN ? 0
								 : l->rows[i].resident;
	return 0;
}

void hi_rss_advice_show(const struct hi_ledger *l, const struct hi_report_header *header,
			struct hi_page *page)
{
	/* Two arenas are what MALLOC_ARENA_MAX=2 leaves. */
	bool has_many = header->arenas > 2;
	bool is_glibc = header->allocator && strcmp(header->allocator, "glibc") == 0;
	uint64_t bins = resident_bytes_of(l, "free_bin"),
		 fast = resident_bytes_of(l, "free_fastbin"),
		 top = resident_bytes_of(l, "free_top");
	const struct {
		uint64_t bytes;
		bool fits;
		const char *text;
	} rows[] = {
		{bins + fast, is_glibc,
		 "are free in bins: malloc_trim(3) gives their whole pages back"},
		{top, is_glibc,
		 "are free at the top of arenas: malloc_trim(3) gives them back, "
		 "M_TRIM_THRESHOLD of mallopt(3) keeps less there"},
		{bins + fast + top, is_glibc && has_many,
		 "of free memory are spread over the arenas: MALLOC_ARENA_MAX=2 in the "
		 "environment keeps fewer"},
		{resident_bytes_of(l, "free_tcache"), is_glibc,
		 "are free in caches of threads: "
		 "GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "
		 "turns them off"},
		{resident_bytes_of(l, "runtime_free"), header->runtime != NULL,
		 "are free in the runtime's arenas: an arena goes back when the last "
		 "object in it is freed; PYTHONMALLOC=malloc does without them"},
	};
	bool is_first = true;
	char bytes[24];

	if (l->rss == HI_UNKNOWN || !l->rss)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!rows[i].fits || rows[i].bytes < l->rss / 20)
			continue;
		if (is_first)
			hi_page_heading(page, "To get RSS down", NULL);
		is_first = false;
		hi_page_text(page,
			     hi_page_printf(page, "%s %s", hi_bytes(bytes, rows[i].bytes),
					    rows[i].text));
	}
}
