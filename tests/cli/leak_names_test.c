/* SPDX-License-Identifier: BSD-2-Clause */
/* What leaks without a type are called: fixtures/leak_names.c. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

/* The root of this address: twins are chains, of which the fixture names the head. */
static json_t *root_of(json_t *doc, const struct target *t, const char *name)
{
	return doc_row(doc_at(doc, "roots"), "address", target_said(t, name));
}

/* names: up to two, NULL after them. */
static void check_fits(json_t *doc, const struct target *t, const char *name,
		       const char *const *names)
{
	json_t *root = root_of(doc, t, name);
	size_t n = 0;

	HI_ASSERT_STREQ("(untyped)", doc_text(root, "type"));
	for (; names[n]; n++)
		HI_ASSERT_STREQ(names[n], doc_text(root, "fits.%zu", n));
	HI_ASSERT(!doc_find(root, "fits.%zu", n));
}

static void check_names(json_t *doc, const struct target *t)
{
	static const struct {
		const char *leak, *fits[3];
	} leaks[] = {
		{"item", {"struct item"}},
		{"tree", {"struct tree"}},
		{"early", {"struct early"}},
		{"late", {"struct late"}},
		{"twin", {"struct blue", "struct red"}},
		{"random", {NULL}},
		{"pointers", {NULL}},
		{"zeros", {NULL}},
		{"text", {NULL}},
	};
	static const char *const unlike[] = {"tree", "pointers", "random"};
	json_t *item = root_of(doc, t, "item");

	HI_ASSERT_STREQ("struct item", doc_text(item, "like"));
	HI_ASSERT_EQ(40, doc_number(item, "like_count"));
	for (size_t i = 0; i < sizeof(leaks) / sizeof(*leaks); i++)
		check_fits(doc, t, leaks[i].leak, leaks[i].fits);
	for (size_t i = 0; i < sizeof(unlike) / sizeof(*unlike); i++)
		HI_ASSERT(!doc_find(root_of(doc, t, unlike[i]), "like"));
}

/* Rows of a size and shape. */
static void check_leak_rows(json_t *doc, long long size, size_t rows, long long roots)
{
	size_t n = 0;
	json_t *row;

	doc_each (row, doc_at(doc, "rows")) {
		if (doc_number(row, "size") != size)
			continue;
		n++;
		roots -= doc_number(row, "count");
	}
	HI_ASSERT_EQ(rows, n);
	HI_ASSERT_EQ(0, roots);
}

static void check_pages_say_the_names(const struct target *t)
{
	static const char *const said[] = {"like live struct item (40) ",
					   "fits struct tree ",
					   "fits struct early ",
					   "fits struct blue or red",
					   "(untyped) 232 B, no pointers",
					   "texts of 296 B, as \"",
					   "like live T (N): "};
	struct hi_command *c = target_run(t, "leaks");

	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		HI_ASSERT_MSG(strstr(c->out, said[i]), "no %s in %s", said[i], c->out);
	c = target_run(t);
	HI_ASSERT_MSG(strstr(c->out, "like live struct item (40)"), "%s", c->out);
}

static void check_a_snapshot_file_has_the_same_names(const struct target *t)
{
	check_names(doc_of(hi_heapinspect("leaks", "--all", "--json", target_snap(t))),
		    t);
}

/* The blocks begin with a letter each: the last one with 200 times "p". */
static void check_texts(json_t *doc, const struct target *t, bool has_contents)
{
	json_t *root = root_of(doc, t, "text"), *row;
	size_t texts = 0;

	HI_ASSERT(has_contents == (doc_find(root, "text") != NULL));
	doc_each (row, doc_at(doc, "rows")) {
		if (!doc_find(row, "text"))
			continue;
		texts++;
		HI_ASSERT_EQ(296, doc_number(row, "size"));
		HI_ASSERT(doc_bool(row, "texts_differ"));
		HI_ASSERT_STREQ(doc_text(doc_row(doc_at(doc, "roots"), "address",
						 doc_text(row, "example")),
					 "text"),
				doc_text(row, "text"));
	}
	HI_ASSERT_EQ(has_contents, texts);
	if (!has_contents)
		return;
	HI_ASSERT_EQ(63, strlen(doc_text(root, "text")));
	HI_ASSERT_EQ(63, strspn(doc_text(root, "text"), "p"));
	HI_ASSERT(!doc_bool(root, "texts_differ"));
}

/* A file without contents has none, nor has a page that is to be passed on. */
static void check_texts_are_shown_where_contents_are(const struct target *t)
{
	const char *without = target_snap(t), *with = target_snap(t, "--with-contents");
	struct hi_command *c = target_run(t, "leaks", "--redact");

	check_texts(target_ask(t, "leaks", "--all"), t, true);
	check_texts(doc_of(hi_heapinspect("leaks", "--all", "--json", with)), t, true);
	check_texts(doc_of(hi_heapinspect("leaks", "--all", "--json", without)), t,
		    false);
	check_texts(target_ask(t, "leaks", "--all", "--redact"), t, false);
	HI_ASSERT_MSG(strstr(c->out, "(untyped) 296 B, text "), "%s", c->out);
	c = hi_heapinspect("ticket", with);
	HI_ASSERT_MSG(c->exit_code == 0 && !strstr(c->out, "texts of"), "%s", c->out);
}

HI_TEST_SCENARIO(leak_names, leaks_are_named_by_the_type_they_look_like)
{
	struct target *t = target_start("leak_names", NULL);
	json_t *doc = target_ask(t, "leaks", "--all");

	check_names(doc, t);
	/* One size, with the pointer at different places: two rows. */
	check_leak_rows(doc, 136, 2, 60);
	check_leak_rows(doc, 72, 1, 12);
	/* Texts, with and without old pointers behind them. */
	check_leak_rows(doc, 296, 1, 16);
	check_pages_say_the_names(t);
	check_a_snapshot_file_has_the_same_names(t);
	check_texts_are_shown_where_contents_are(t);
}

/* As in a chroot, or a root of another distribution: libc's records are not the
 * program's, wherever libc lies. Of the service's rings libc has one that fits. */
HI_TEST_SCENARIO(leak_names, records_of_libc_in_another_root_are_not_the_programs)
{
	const char *root = workshop_open();
	char libraries[512];
	json_t *rows, *row;

	workshop_run("mkdir -p usr/lib/x86_64-linux-gnu && "
		     "cp /lib/x86_64-linux-gnu/libc.so.6 usr/lib/x86_64-linux-gnu");
	snprintf(libraries, sizeof(libraries),
		 "LD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu", root);
	rows = doc_at(target_ask(target_start("/usr/bin/env", libraries,
					      HI_FIXTURE_DIR "/leaky_service", NULL),
				 "leaks"),
		      "rows");
	HI_ASSERT_EQ(3, json_array_size(rows));
	doc_each (row, rows)
		HI_ASSERT_EQ(1, doc_size(row, "fits"));
}
