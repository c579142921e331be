/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/summary/rss_advice.h"

#include <string.h>

#include "base/text.h"

static uint64_t resident_bytes_of(const struct hi_ledger *l, const char *key)
{
	for (size_t i = 0; i < l->n_rows; i++)
		if (strcmp(l->rows[i].key, key) == 0)
			return l->rows[i].resident == HI_UNKNOWN ? 0
								 : l->rows[i].resident;
	return 0;
}

/* Where it is of use. */
enum advice_condition {
	ALWAYS,
	MANY_ARENAS,
	IN_REDIS,
	MIMALLOC_2_0, /* its option has another name since 2.1 */
	MIMALLOC_LATER,
};

/*
 * Sources: malloc_trim(3), mallopt(3), the glibc manual (tunables); jemalloc(3) and its
 * TUNING.md; gperftools' docs/tcmalloc.html; mimalloc's documentation of environment
 * options, and include/mimalloc.h of 2.0.9; redis' documentation of MEMORY PURGE and
 * redis.conf.
 */
struct advice {
	const char *allocator; /* that is meant */
	const char *keys[4];   /* rows of the ledger, added up */
	enum advice_condition condition;
	const char *text;
};

static const struct advice all_advice[] = {
	{"glibc",
	 {"free_bin", "free_fastbin"},
	 ALWAYS,
	 "are free in bins: malloc_trim(3) gives their whole pages back"},
	{"glibc",
	 {"free_top"},
	 ALWAYS,
	 "are free at the top of arenas: malloc_trim(3) gives them back, "
	 "M_TRIM_THRESHOLD of mallopt(3) keeps less there"},
	{"glibc",
	 {"free_bin", "free_fastbin", "free_top"},
	 MANY_ARENAS,
	 "of free memory are spread over the arenas: MALLOC_ARENA_MAX=2 in the "
	 "environment keeps fewer"},
	{"glibc",
	 {"free_tcache"},
	 ALWAYS,
	 "are free in caches of threads: GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "
	 "turns them off"},
	{"jemalloc",
	 {"free_dirty"},
	 ALWAYS,
	 "are dirty pages: dirty_decay_ms:1000 in MALLOC_CONF gives them back sooner, "
	 "background_thread:true also while the program is idle"},
	{"jemalloc",
	 {"free_dirty", "free_muzzy"},
	 IN_REDIS,
	 "of free pages go back at once by the command MEMORY PURGE of redis"},
	{"jemalloc",
	 {"free_muzzy"},
	 ALWAYS,
	 "are pages that the kernel may take when it needs memory: muzzy_decay_ms:0 in "
	 "MALLOC_CONF gives them back at once"},
	{"jemalloc",
	 {"free_tcache"},
	 ALWAYS,
	 "are free in caches of threads: lg_tcache_max:12 in MALLOC_CONF keeps no large "
	 "blocks there, tcache:false turns them off"},
	{"jemalloc",
	 {"free_slot", "free_dirty", "free_muzzy"},
	 MANY_ARENAS,
	 "of free memory are spread over the arenas: narenas:2 in MALLOC_CONF makes "
	 "fewer"},
	{"jemalloc",
	 {"free_slot"},
	 ALWAYS,
	 "are free slots of slabs in which other blocks live: a slab goes back when its "
	 "last block is freed"},
	{"jemalloc",
	 {"free_slot"},
	 IN_REDIS,
	 "of free slots shrink with 'activedefrag yes', if redis has its own jemalloc "
	 "built in"},
	{"tcmalloc",
	 {"free_span"},
	 ALWAYS,
	 "are free pages: TCMALLOC_RELEASE_RATE=10 in the environment gives them back "
	 "sooner, MallocExtension's ReleaseFreeMemory() at once"},
	{"tcmalloc",
	 {"free_tcache"},
	 ALWAYS,
	 "are free in caches of threads: TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES in the "
	 "environment sets how much all of them may have"},
	{"tcmalloc",
	 {"free_slot"},
	 ALWAYS,
	 "are free slots of spans in which other blocks live: a span goes back when its "
	 "last block is freed"},
	{"mimalloc",
	 {"free_span"},
	 MIMALLOC_LATER,
	 "are free pages: MIMALLOC_PURGE_DELAY=0 in the environment gives them back at "
	 "once, as mi_collect(true) does"},
	{"mimalloc",
	 {"free_span"},
	 MIMALLOC_2_0,
	 "are free pages: MIMALLOC_DECOMMIT_DELAY=0 in the environment gives them back "
	 "at "
	 "once, as mi_collect(true) does"},
	{"mimalloc",
	 {"free_slot", "free_unused", "free_deferred"},
	 ALWAYS,
	 "are free slots of pages: a page goes back when its last block is freed and the "
	 "thread that owns it calls malloc or mi_collect(true)"},
	{"musl",
	 {"free_slot", "free_unused"},
	 ALWAYS,
	 "are free slots of groups: a group goes back when its last block is freed; musl "
	 "has no option for it"},
};

/* The one that has most of what is live: rows are of all allocators together. */
static struct hi_report_allocator
find_main_allocator(const struct hi_report_header *header)
{
	struct hi_report_allocator ret = {.name = header->allocator,
					  .version = header->allocator_version,
					  .arenas = header->arenas};
	uint64_t most = 0;

	for (size_t i = 0; i < header->n_allocators; i++) {
		const struct hi_report_allocator *a = &header->allocators[i];

		if ((a->refused && *a->refused) || (i && a->live_bytes <= most))
			continue;
		most = a->live_bytes;
		ret = *a;
	}
	return ret;
}

/* Debian's redis-server is a link to redis-check-rdb. */
static bool is_redis(const struct hi_report_header *header)
{
	const char *name = hi_base_name(hi_text_or_empty(header->exe));

	return strncmp(name, "redis-", 6) == 0 || strncmp(name, "valkey-", 7) == 0;
}

static bool condition_holds(enum advice_condition condition,
			    const struct hi_report_allocator *a,
			    const struct hi_report_header *header)
{
	const char *version = hi_text_or_empty(a->version);
	bool is_2_0 = strncmp(version, "2.0", 3) == 0;

	switch (condition) {
	case MANY_ARENAS: /* Two are what the option leaves. */
		return a->arenas > 2;
	case IN_REDIS:
		return is_redis(header);
	case MIMALLOC_2_0:
		return is_2_0;
	case MIMALLOC_LATER:
		return !is_2_0;
	case ALWAYS:
	default:
		return true;
	}
}

static uint64_t resident_bytes_of_all(const struct hi_ledger *l,
				      const char *const keys[4])
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < 4 && keys[i]; i++)
		bytes += resident_bytes_of(l, keys[i]);
	return bytes;
}

static void show_advice(const struct hi_ledger *l, uint64_t bytes, const char *text,
			bool *is_first, struct hi_page *page)
{
	char size[24];

	if (bytes < l->rss / 20)
		return;
	if (*is_first)
		hi_page_heading(page, "To get RSS down", NULL);
	*is_first = false;
	hi_page_text(page, hi_page_printf(page, "%s %s", hi_bytes(size, bytes), text));
}

void hi_rss_advice_show(const struct hi_ledger *l, const struct hi_report_header *header,
			struct hi_page *page)
{
	struct hi_report_allocator a = find_main_allocator(header);
	bool is_first = true;

	if (l->rss == HI_UNKNOWN || !l->rss)
		return;
	for (size_t i = 0; a.name && i < sizeof(all_advice) / sizeof(*all_advice); i++) {
		const struct advice *advice = &all_advice[i];

		if (strcmp(advice->allocator, a.name) == 0 &&
		    condition_holds(advice->condition, &a, header))
			show_advice(l, resident_bytes_of_all(l, advice->keys),
				    advice->text, &is_first, page);
	}
	if (header->runtime)
		show_advice(l, resident_bytes_of(l, "runtime_free"),
			    "are free in the runtime's arenas: an arena goes back when "
			    "the last object in it is freed; PYTHONMALLOC=malloc does "
			    "without them",
			    &is_first, page);
}
