/* SPDX-License-Identifier: BSD-2-Clause */
/* waste on a heap that says of itself what it wastes: fixtures/waste_heap.c. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

enum { TRUTHS = 64 };

struct service {
	struct hi_fixture *fx;
	char pid[16];
	struct {
		char key[40];
		long long value;
	} truth[TRUTHS];
	size_t n;
};

static void note_truth(const char *line, void *arg)
{
	struct service *s = arg;
	char value[40];

	if (s->n < TRUTHS && sscanf(line, "%39s %39s", s->truth[s->n].key, value) == 2)
		s->truth[s->n++].value = strtoll(value, NULL, 0);
}

static struct service *start(void)
{
	static struct service s;

	s = (struct service){.fx = hi_fixture_start("waste_heap", NULL)};
	hi_fixture_read_until(s.fx, "ready", note_truth, &s);
	snprintf(s.pid, sizeof(s.pid), "%d", (int)s.fx->pid);
	return &s;
}

static long long truth(const struct service *s, const char *key)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->truth[i].key, key) == 0)
			return s->truth[i].value;
	hi_test_fail(__FILE__, __LINE__, "the fixture did not say %s", key);
}

static void free_json(void *json)
{
	json_decref(json);
}

static json_t *parse(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

/* "a.b" in an object. */
static long long number(json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	char first[40];

	if (dot) {
		snprintf(first, sizeof(first), "%.*s", (int)(dot - path), path);
		object = json_object_get(object, first);
		path = dot + 1;
	}
	object = json_object_get(object, path);
	HI_ASSERT_MSG(json_is_integer(object), "no number %s", path);
	return json_integer_value(object);
}

static const char *text(json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static json_t *item_of(json_t *doc, const char *list, const char *key, const char *value)
{
	json_t *items = json_object_get(doc, list);

	for (size_t i = 0; i < json_array_size(items); i++)
		if (strcmp(text(json_array_get(items, i), key), value) == 0)
			return json_array_get(items, i);
	hi_test_fail(__FILE__, __LINE__, "no %s in %s with %s", value, list, key);
}

static json_t *row(json_t *doc, const char *type)
{
	return item_of(doc, "rows", "type", type);
}

HI_TEST_SCENARIO(waste, identical_objects_are_those_that_the_program_made)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--all"));
	static const struct {
		const char *type, *key;
	} types[] = {{"char []", "text"},
		     {"struct color", "color"},
		     {"struct holder", "holder"}};
	char key[40];

	for (size_t i = 0; i < 3; i++) {
		json_t *r = row(doc, types[i].type);

		snprintf(key, sizeof(key), "%s_groups", types[i].key);
		HI_ASSERT_EQ(truth(s, key), number(r, "identical.groups"));
		snprintf(key, sizeof(key), "%s_copies", types[i].key);
		HI_ASSERT_EQ(truth(s, key), number(r, "identical.copies"));
		snprintf(key, sizeof(key), "%s_copied", types[i].key);
		HI_ASSERT_EQ(truth(s, key), number(r, "identical.bytes"));
	}
	HI_ASSERT_EQ(truth(s, "big_copied"),
		     number(row(doc, "double"), "identical.bytes"));
	HI_ASSERT_EQ(truth(s, "sparse") - 1,
		     number(row(doc, "float"), "identical.copies"));
	HI_ASSERT_EQ(truth(s, "sparse_copied"),
		     number(row(doc, "float"), "identical.bytes"));
	/* Kept apart by their numbers. */
	HI_ASSERT_EQ(0, number(row(doc, "struct scraps"), "identical.copies"));
}

HI_TEST_SCENARIO(waste, a_text_is_shown_shortened_and_escaped)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json"));
	json_t *group = item_of(doc, "groups", "text", "a name that many have");
	char example[24];

	HI_ASSERT_EQ(22, number(group, "size"));
	HI_ASSERT_EQ(100, number(group, "objects"));
	snprintf(example, sizeof(example), "0x%llx", truth(s, "text_example"));
	HI_ASSERT_STREQ(example, text(group, "example"));
	item_of(doc, "groups", "text",
		"Gr\xc3\xb6\xc3\x9f"
		"e");
	group = item_of(
		doc, "groups", "text",
		"two\\nlines, \"quoted\", \\xe2\\x80\\xaereversed, and so long that "
		"it must be c");
	HI_ASSERT(json_is_true(json_object_get(group, "cut")));
}

HI_TEST_SCENARIO(waste, unused_bytes_are_those_behind_texts_and_records)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--all"));
	json_t *roomy = row(doc, "struct roomy");

	HI_ASSERT_EQ(truth(s, "text_unused"),
		     number(row(doc, "char []"), "unused.bytes"));
	HI_ASSERT_EQ(truth(s, "roomy"), number(roomy, "unused.objects"));
	HI_ASSERT_EQ(truth(s, "roomy_unused"), number(roomy, "unused.bytes"));
	HI_ASSERT_EQ(truth(s, "roomy_savable"), number(roomy, "unused.savable"));
	HI_ASSERT_EQ(truth(s, "roomy_copied"), number(roomy, "identical.bytes"));
	for (size_t i = 0; i < json_array_size(json_object_get(doc, "rows")); i++)
		HI_ASSERT(strcmp(text(json_array_get(json_object_get(doc, "rows"), i),
				      "type"),
				 "struct tailed") != 0);
}

HI_TEST_SCENARIO(waste, zero_filled_blocks_are_no_copies_of_each_other)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--all"));
	json_t *blank = row(doc, "struct blank");

	HI_ASSERT_EQ(truth(s, "blanks"), number(blank, "zero_filled.objects"));
	HI_ASSERT_EQ(truth(s, "blank_bytes"), number(blank, "zero_filled.bytes"));
	HI_ASSERT_EQ(0, number(blank, "identical.copies"));
	HI_ASSERT_EQ(1, number(row(doc, "double"), "zero_filled.objects"));
	HI_ASSERT_EQ(truth(s, "untouched_bytes"),
		     number(row(doc, "double"), "zero_filled.bytes"));
}

HI_TEST_SCENARIO(waste, blocks_add_up_to_what_malloc_says)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json"));
	json_t *classes = json_object_get(doc, "size_classes");
	long long bytes = 0, top = number(item_of(doc, "free", "kind", "top"), "bytes");
	long long cached = number(item_of(doc, "free", "kind", "tcache"), "bytes");

	for (size_t i = 0; i < json_array_size(classes); i++) {
		json_t *c = json_array_get(classes, i);
		long long blocks = number(c, "blocks"), largest = number(c, "largest");

		bytes += number(c, "bytes");
		HI_ASSERT(number(c, "bytes") <= blocks * largest);
		/* 8 bytes in a heap, 16 where a block is a mapping. */
		HI_ASSERT_EQ(blocks * (largest > 1 << 17 ? 16 : 8), number(c, "headers"));
	}
	HI_ASSERT_EQ(truth(s, "malloc_allocated"), bytes + cached);
	HI_ASSERT_EQ(truth(s, "malloc_top"), top);
	HI_ASSERT(truth(s, "malloc_fast") > 0);
	HI_ASSERT_EQ(truth(s, "malloc_fast"),
		     number(item_of(doc, "free", "kind", "fastbin"), "bytes"));
	HI_ASSERT_EQ(truth(s, "malloc_fast_blocks"),
		     number(item_of(doc, "free", "kind", "fastbin"), "blocks"));
	HI_ASSERT_EQ(truth(s, "malloc_free"),
		     top + number(item_of(doc, "free", "kind", "bin"), "bytes") +
			     number(item_of(doc, "free", "kind", "fastbin"), "bytes"));
	HI_ASSERT(truth(s, "fragments_freed") <=
		  truth(s, "malloc_free") +
			  number(item_of(doc, "free", "kind", "tcache"), "bytes"));
}

/* Kilobytes of [heap] that are resident, as the kernel says. */
static long long heap_rss(const struct service *s)
{
	char path[40], line[512];
	bool in_heap = false;
	long long kib = -1;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/smaps", s->pid);
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

HI_TEST_SCENARIO(waste, pages_add_up_to_the_heap_and_show_what_pins_them)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json"));
	json_t *pages = json_object_get(doc, "pages");
	json_t *pinned = item_of(doc, "pages", "fill", "under_quarter");
	json_t *empty = item_of(doc, "pages", "fill", "empty");
	long long sum = 0;

	for (size_t i = 0; i < json_array_size(pages); i++)
		sum += number(json_array_get(pages, i), "bytes");
	HI_ASSERT_EQ(heap_rss(s) * 1024, sum);
	HI_ASSERT(json_is_true(json_object_get(doc, "residency_known")));
	HI_ASSERT_EQ(0, number(empty, "allocated"));
	/* The first scrap shares its page, and few other pages are so empty. */
	HI_ASSERT_MSG(number(pinned, "pages") >= truth(s, "pages_pinned") &&
			      number(pinned, "pages") <= truth(s, "pages_pinned") + 4,
		      "%lld pages for %lld", number(pinned, "pages"),
		      truth(s, "pages_pinned"));
	/* Beside those between scraps: top, and what was the list of all of them. */
	HI_ASSERT_MSG(number(empty, "pages") >= truth(s, "pages_empty") &&
			      number(empty, "pages") <= truth(s, "pages_empty") + 64,
		      "%lld pages for %lld", number(empty, "pages"),
		      truth(s, "pages_empty"));
}

HI_TEST_SCENARIO(waste, restrictions_hide_rows_and_groups_and_say_so)
{
	struct service *s = start();
	json_t *all = parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--all"));
	json_t *one = parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--type",
					   "struct color"));
	json_t *large = parse(
		hi_heapinspect("waste", "--pid", s->pid, "--json", "--min-size", "1MiB"));
	json_t *two =
		parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--top", "2"));
	size_t n = json_array_size(json_object_get(all, "rows"));
	size_t groups = json_array_size(json_object_get(all, "groups"));

	HI_ASSERT_EQ(number(all, "live.bytes"), number(one, "live.bytes"));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(one, "rows")));
	HI_ASSERT_EQ(truth(s, "color_groups"),
		     json_array_size(json_object_get(one, "groups")));
	HI_ASSERT_EQ(groups - 5, number(one, "groups_hidden.by_type"));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(large, "rows")));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(large, "groups")));
	HI_ASSERT_EQ(n - 2, number(json_object_get(large, "hidden"), "by_min_size.rows"));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(two, "rows")));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(two, "groups")));
	HI_ASSERT_EQ(groups - 2, number(two, "groups_hidden.by_top"));
	HI_ASSERT_EQ(2,
		     hi_heapinspect("waste", "--pid", s->pid, "--type", "nothing_like_it")
			     ->exit_code);
}

HI_TEST_SCENARIO(waste, without_types_texts_and_copies_are_found_all_the_same)
{
	struct service *s = start();
	json_t *doc = parse(hi_heapinspect("waste", "--pid", s->pid, "--json", "--all",
					   "--conservative"));

	item_of(doc, "groups", "text", "a name that many have");
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT(number(row(doc, "(untyped)"), "identical.copies") >
		  truth(s, "text_copies") + truth(s, "color_copies"));
}

static json_t *timeless(const struct hi_command *c)
{
	json_t *doc = parse(c);

	json_object_del(doc, "snapshot");
	return doc;
}

HI_TEST_SCENARIO(waste, the_number_of_threads_changes_nothing)
{
	struct service *s = start();
	json_t *one = timeless(hi_heapinspect("waste", "--pid", s->pid, "--json", "--all",
					      "--threads", "1"));

	HI_ASSERT(json_equal(one,
			     timeless(hi_heapinspect("waste", "--pid", s->pid, "--json",
						     "--all", "--threads", "4"))));
}

HI_TEST_SCENARIO(waste, a_program_without_malloc_has_neither_rows_nor_blocks)
{
	struct hi_fixture *fx = hi_fixture_start("no_malloc", NULL);
	char pid[16];
	json_t *doc;

	hi_fixture_await_program(fx->pid, "no_malloc");
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	doc = parse(hi_heapinspect("waste", "--pid", pid, "--json"));
	HI_ASSERT_EQ(0, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(0, number(doc, "live.objects"));
	HI_ASSERT(json_object_get(doc, "size_classes") == NULL);
	HI_ASSERT_EQ(0, hi_heapinspect("waste", "--pid", pid)->exit_code);
	kill(fx->pid, SIGKILL);
}
