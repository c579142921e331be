/* SPDX-License-Identifier: BSD-2-Clause */
/* waste on a heap that says of itself what it wastes: fixtures/waste_heap.c. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

static json_t *item_of(json_t *doc, const char *list, const char *key, const char *value)
{
	return doc_row(doc_at(doc, "%s", list), key, value);
}

static json_t *row_of_type(json_t *doc, const char *type)
{
	return item_of(doc, "rows", "type", type);
}

static void
check_identical_objects_are_those_that_the_program_made(const struct target *t,
							json_t *doc)
{
	static const struct {
		const char *type, *key;
	} types[] = {{"char []", "text"},
		     {"struct color", "color"},
		     {"struct holder", "holder"}};
	char key[40];

	for (size_t i = 0; i < 3; i++) {
		json_t *r = row_of_type(doc, types[i].type);

		snprintf(key, sizeof(key), "%s_groups", types[i].key);
		HI_ASSERT_EQ(target_number(t, key), doc_number(r, "identical.groups"));
		snprintf(key, sizeof(key), "%s_copies", types[i].key);
		HI_ASSERT_EQ(target_number(t, key), doc_number(r, "identical.copies"));
		snprintf(key, sizeof(key), "%s_copied", types[i].key);
		HI_ASSERT_EQ(target_number(t, key), doc_number(r, "identical.bytes"));
	}
	HI_ASSERT_EQ(target_number(t, "big_copied"),
		     doc_number(row_of_type(doc, "double"), "identical.bytes"));
	HI_ASSERT_EQ(target_number(t, "sparse") - 1,
		     doc_number(row_of_type(doc, "float"), "identical.copies"));
	HI_ASSERT_EQ(target_number(t, "sparse_copied"),
		     doc_number(row_of_type(doc, "float"), "identical.bytes"));
	/* Kept apart by their numbers. */
	HI_ASSERT_EQ(0,
		     doc_number(row_of_type(doc, "struct scraps"), "identical.copies"));
}

static void check_a_text_is_shown_shortened_and_escaped(const struct target *t,
							json_t *doc)
{
	json_t *group = item_of(doc, "groups", "text", "a name that many have");
	char example[24];

	HI_ASSERT_EQ(22, doc_number(group, "size"));
	HI_ASSERT_EQ(100, doc_number(group, "objects"));
	snprintf(example, sizeof(example), "0x%llx", target_number(t, "text_example"));
	HI_ASSERT_STREQ(example, doc_text(group, "example"));
	item_of(doc, "groups", "text",
		"Gr\xc3\xb6\xc3\x9f"
		"e");
	group = item_of(
		doc, "groups", "text",
		"two\\nlines, \"quoted\", \\xe2\\x80\\xaereversed, and so long that "
		"it must be c");
	HI_ASSERT(doc_bool(group, "cut"));
}

static void check_unused_bytes_are_those_behind_texts_and_records(const struct target *t,
								  json_t *doc)
{
	json_t *roomy = row_of_type(doc, "struct roomy");

	HI_ASSERT_EQ(target_number(t, "text_unused"),
		     doc_number(row_of_type(doc, "char []"), "unused.bytes"));
	HI_ASSERT_EQ(target_number(t, "roomy"), doc_number(roomy, "unused.objects"));
	HI_ASSERT_EQ(target_number(t, "roomy_unused"), doc_number(roomy, "unused.bytes"));
	HI_ASSERT_EQ(target_number(t, "roomy_savable"),
		     doc_number(roomy, "unused.savable"));
	HI_ASSERT_EQ(target_number(t, "roomy_copied"),
		     doc_number(roomy, "identical.bytes"));
	HI_ASSERT(!doc_find_row(doc_at(doc, "rows"), "type", "struct tailed"));
}

static void check_zero_filled_blocks_are_no_copies_of_each_other(const struct target *t,
								 json_t *doc)
{
	json_t *blank = row_of_type(doc, "struct blank");

	HI_ASSERT_EQ(target_number(t, "blanks"),
		     doc_number(blank, "zero_filled.objects"));
	HI_ASSERT_EQ(target_number(t, "blank_bytes"),
		     doc_number(blank, "zero_filled.bytes"));
	HI_ASSERT_EQ(0, doc_number(blank, "identical.copies"));
	HI_ASSERT_EQ(1, doc_number(row_of_type(doc, "double"), "zero_filled.objects"));
	HI_ASSERT_EQ(target_number(t, "untouched_bytes"),
		     doc_number(row_of_type(doc, "double"), "zero_filled.bytes"));
}

static void check_blocks_add_up_to_what_malloc_says(const struct target *t, json_t *doc)
{
	json_t *classes = doc_at(doc, "size_classes"), *c;
	long long top = doc_number(item_of(doc, "free", "kind", "top"), "bytes");
	long long cached = doc_number(item_of(doc, "free", "kind", "tcache"), "bytes");

	doc_each (c, classes) {
		long long blocks = doc_number(c, "blocks"),
			  largest = doc_number(c, "largest");

		HI_ASSERT(doc_number(c, "bytes") <= blocks * largest);
		/* 8 bytes in a heap, 16 where a block is a mapping. */
		HI_ASSERT_EQ(blocks * (largest > 1 << 17 ? 16 : 8),
			     doc_number(c, "headers"));
	}
	HI_ASSERT_EQ(target_number(t, "malloc_allocated"),
		     doc_sum(classes, "bytes") + cached);
	HI_ASSERT_EQ(target_number(t, "malloc_top"), top);
	HI_ASSERT(target_number(t, "malloc_fast") > 0);
	HI_ASSERT_EQ(target_number(t, "malloc_fast"),
		     doc_number(item_of(doc, "free", "kind", "fastbin"), "bytes"));
	HI_ASSERT_EQ(target_number(t, "malloc_fast_blocks"),
		     doc_number(item_of(doc, "free", "kind", "fastbin"), "blocks"));
	HI_ASSERT_EQ(
		target_number(t, "malloc_free"),
		top + doc_number(item_of(doc, "free", "kind", "bin"), "bytes") +
			doc_number(item_of(doc, "free", "kind", "fastbin"), "bytes"));
	HI_ASSERT(target_number(t, "fragments_freed") <=
		  target_number(t, "malloc_free") +
			  doc_number(item_of(doc, "free", "kind", "tcache"), "bytes"));
}

/* Kilobytes of [heap] that are resident, as the kernel says. */
static long long heap_rss(const struct target *t)
{
	char path[40], line[512];
	bool in_heap = false;
	long long kib = -1;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/smaps", t->pid);
	maps = fopen(path, "r");
	HI_ASSERT(maps != NULL);
	while (kib < 0 && fgets(line, sizeof(line), maps)) {
		in_heap |= strstr(line, "[heap]") != NULL;
		if (in_heap)
			sscanf(line, "Rss: %lld kB", &kib);
	}
	fclose(maps);
	HI_ASSERT(kib > 0);
	return kib;
}

static void check_pages_add_up_to_the_heap_and_show_what_pins_them(const struct target *t,
								   json_t *doc)
{
	json_t *pinned = item_of(doc, "pages", "fill", "under_quarter");
	json_t *empty = item_of(doc, "pages", "fill", "empty");

	HI_ASSERT_EQ(heap_rss(t) * 1024, doc_sum(doc_at(doc, "pages"), "bytes"));
	HI_ASSERT(doc_bool(doc, "residency_known"));
	HI_ASSERT_EQ(0, doc_number(empty, "allocated"));
	/* The first scrap shares its page, and few other pages are so empty. */
	HI_ASSERT_MSG(doc_number(pinned, "pages") >= target_number(t, "pages_pinned") &&
			      doc_number(pinned, "pages") <=
				      target_number(t, "pages_pinned") + 4,
		      "%lld pages for %lld", doc_number(pinned, "pages"),
		      target_number(t, "pages_pinned"));
	/* Beside those between scraps: top, and what was the list of all of them. */
	HI_ASSERT_MSG(doc_number(empty, "pages") >= target_number(t, "pages_empty") &&
			      doc_number(empty, "pages") <=
				      target_number(t, "pages_empty") + 64,
		      "%lld pages for %lld", doc_number(empty, "pages"),
		      target_number(t, "pages_empty"));
}

static void check_restrictions_hide_rows_and_groups_and_say_so(const struct target *t,
							       json_t *doc)
{
	json_t *one = target_ask(t, "waste", "--type", "struct color");
	json_t *large = target_ask(t, "waste", "--min-size", "1MiB");
	json_t *two = target_ask(t, "waste", "--top", "2");
	size_t n = doc_size(doc, "rows");
	size_t groups = doc_size(doc, "groups");

	HI_ASSERT_EQ(doc_number(doc, "live.bytes"), doc_number(one, "live.bytes"));
	HI_ASSERT_EQ(1, doc_size(one, "rows"));
	HI_ASSERT_EQ(target_number(t, "color_groups"), doc_size(one, "groups"));
	HI_ASSERT_EQ(groups - 5, doc_number(one, "groups_hidden.by_type"));
	HI_ASSERT_EQ(2, doc_size(large, "rows"));
	HI_ASSERT_EQ(2, doc_size(large, "groups"));
	HI_ASSERT_EQ(n - 2, doc_number(large, "hidden.by_min_size.rows"));
	HI_ASSERT_EQ(2, doc_size(two, "rows"));
	HI_ASSERT_EQ(2, doc_size(two, "groups"));
	HI_ASSERT_EQ(groups - 2, doc_number(two, "groups_hidden.by_top"));
	HI_ASSERT_EQ(2,
		     hi_heapinspect("waste", "--pid", t->pid, "--type", "nothing_like_it")
			     ->exit_code);
}

static void
check_without_types_texts_and_copies_are_found_all_the_same(const struct target *t)
{
	json_t *doc = target_ask(t, "waste", "--all", "--conservative");

	item_of(doc, "groups", "text", "a name that many have");
	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
	HI_ASSERT(doc_number(row_of_type(doc, "(untyped)"), "identical.copies") >
		  target_number(t, "text_copies") + target_number(t, "color_copies"));
}

static void check_the_number_of_threads_changes_nothing(const struct target *t)
{
	json_t *one = target_ask(t, "waste", "--all", "--threads", "1");
	json_t *four = target_ask(t, "waste", "--all", "--threads", "4");

	json_object_del(one, "snapshot");
	json_object_del(four, "snapshot");
	HI_ASSERT(json_equal(one, four));
}

HI_TEST_SCENARIO(waste, waste_equals_that_printed_by_the_program)
{
	struct target *t = target_start("waste_heap", NULL);
	json_t *doc = target_ask(t, "waste", "--all");

	check_identical_objects_are_those_that_the_program_made(t, doc);
	check_a_text_is_shown_shortened_and_escaped(t, doc);
	check_unused_bytes_are_those_behind_texts_and_records(t, doc);
	check_zero_filled_blocks_are_no_copies_of_each_other(t, doc);
	check_blocks_add_up_to_what_malloc_says(t, doc);
	check_pages_add_up_to_the_heap_and_show_what_pins_them(t, doc);
	check_restrictions_hide_rows_and_groups_and_say_so(t, doc);
	check_without_types_texts_and_copies_are_found_all_the_same(t);
	check_the_number_of_threads_changes_nothing(t);
}

HI_TEST_SCENARIO(waste, a_program_without_malloc_has_neither_rows_nor_blocks)
{
	struct hi_fixture *fx = hi_fixture_start("no_malloc", NULL);
	char pid[16];
	json_t *doc;

	hi_fixture_await_program(fx->pid, "no_malloc");
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	doc = doc_of(hi_heapinspect("waste", "--pid", pid, "--json"));
	HI_ASSERT_EQ(0, doc_size(doc, "rows"));
	HI_ASSERT_EQ(0, doc_number(doc, "live.objects"));
	HI_ASSERT(!doc_find(doc, "size_classes"));
	HI_ASSERT_EQ(0, hi_heapinspect("waste", "--pid", pid)->exit_code);
	kill(fx->pid, SIGKILL);
}
