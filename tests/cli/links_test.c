/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links of pages. Pages of a file are made, and each link is taken apart: a command that
 * exists, options that it takes, and an object or variable that the file has. The pages
 * that links lead to are made, too, and theirs are taken apart in turn. What is there is
 * known from the table of options, and from the addresses that `query` lists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/operands.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/page_links.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

enum { MOST = 4096, FOLLOWED = 120 };

/* Links that were seen, each once. */
struct walk {
	const char *file;
	char *seen[MOST];
	size_t n_seen;
	uint64_t *known; /* addresses in the last census of the file; sorted */
	size_t n_known;
	struct hi_pages *pages;
};

/* ---- links of a page ---- */

static bool is_seen(struct walk *w, const char *link)
{
	for (size_t i = 0; i < w->n_seen; i++)
		if (strcmp(w->seen[i], link) == 0)
			return true;
	HI_ASSERT(w->n_seen < MOST);
	w->seen[w->n_seen] = strdup(link);
	hi_test_defer(free, w->seen[w->n_seen]);
	w->n_seen++;
	return false;
}

static int compare_known(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void check_link(const char *link, void *arg)
{
	struct walk *w = arg;
	struct hi_arena arena = {};
	struct hi_address a;
	struct hi_error err = {};
	const char *fault;
	uint64_t address;

	if (is_seen(w, link))
		return;
	HI_ASSERT_MSG(hi_address_parse(link, &arena, &a, &err) == HI_OK, "%s", link);
	fault = page_link_fault(&a);
	HI_ASSERT_MSG(!fault, "%s: %s", link, fault);
	/* Of another census there are other objects. */
	if (a.argument && hi_lookup_is_address(a.argument, &address) &&
	    !strstr(link, "census="))
		HI_ASSERT_MSG(bsearch(&address, w->known, w->n_known, sizeof(address),
				      compare_known),
			      "%s is no object", link);
	hi_arena_free(&arena);
}

/* How many lead to a command. */
static size_t count_links(const struct walk *w, const char *command)
{
	size_t length = strlen(command), n = 0;

	for (size_t i = 0; i < w->n_seen; i++)
		n += strncmp(w->seen[i], command, length) == 0 &&
		     (!w->seen[i][length] || strchr("/?", w->seen[i][length]));
	return n;
}

/* ---- pages ---- */

static struct hi_page *make_linked_page(struct walk *w, const char *address)
{
	struct hi_page *page = NULL;
	struct hi_error err = {};
	unsigned code = 0;

	HI_ASSERT_OK(hi_pages_make(w->pages, address, &page, &code, &err), &err);
	hi_test_defer(hi_page_destroy, page);
	for (size_t i = 0; code != 200 && i < page->items.count; i++)
		HI_ASSERT_MSG(page->items.items[i].kind != HI_ITEM_WARNING, "%s: %u: %s",
			      address, code, page->items.items[i].text);
	HI_ASSERT_MSG(code == 200, "%s: %u", address, code);
	return page;
}

/* By another way: as `query` lists them. */
static void list_known(struct walk *w)
{
	json_t *rows = doc_at(
		doc_of(hi_heapinspect(
			"query", "--json", w->file,
			"SELECT address FROM objects UNION SELECT address FROM roots "
			"WHERE address IS NOT NULL")),
		"rows");

	w->n_known = json_array_size(rows);
	w->known = calloc(w->n_known + 1, sizeof(*w->known));
	HI_ASSERT(w->known && w->n_known);
	hi_test_defer(free, w->known);
	for (size_t i = 0; i < w->n_known; i++)
		w->known[i] = strtoull(doc_text(doc_item(rows, i), "address"), NULL, 0);
	qsort(w->known, w->n_known, sizeof(*w->known), compare_known);
}

/* addresses: NULL ends. Returns the walk; freed when the test ends. */
static struct walk *walk_pages(const char *file, const char *const *addresses)
{
	struct walk *w = calloc(1, sizeof(*w));
	size_t n, step;

	HI_ASSERT(w);
	hi_test_defer(free, w);
	w->file = file;
	list_known(w);
	w->pages = page_links_open(file, NULL);
	for (size_t i = 0; addresses[i]; i++)
		page_each_link(make_linked_page(w, addresses[i]), check_link, w);
	n = w->n_seen;
	step = n / FOLLOWED + 1;
	for (size_t i = 0; i < n; i += step)
		page_each_link(make_linked_page(w, w->seen[i]), check_link, w);
	return w;
}

static const char *const of_snapshots[] = {
	"summary",
	"summary?all=",
	"census",
	"census?by=type2",
	"census?by=module",
	"census?by=size",
	"census?by=owner",
	"retained",
	"leaks",
	"waste",
	"retainers",
	"retainers?retainer=auto",
	"tree",
	"query/SELECT%20address%2Ctype%20FROM%20objects%20LIMIT%2020",
	NULL};
static const char *const of_service[] = {
	"up?type=struct%20session",
	"retainers?retainer=struct%20session&identity=addr&max-set=4",
	"roots?root=a%3Dsessions&root=b%3Dpage_cache&all-bins=",
	"roots?root=a%3Dsessions&join=%2B",
	"retained?type=struct%20session",
	"paths/struct%20session?each=",
	NULL};
static const char *const of_series[] = {"summary",
					"snapshots",
					"snapshots?census=1",
					"snapshots?census=2",
					"census?census=2",
					"leaks",
					"peaks",
					"spacetime",
					"diff/1",
					"retained?census=1",
					NULL};
static const char *const of_recordings[] = {"census?by=site",
					    "census?by=context",
					    "census?by=thread",
					    "census?by=age",
					    "leaks",
					    "waste?by=site",
					    "retained?by=site",
					    "alloc",
					    "alloc?callers=",
					    "alloc?bars=",
					    "peaks",
					    "spacetime",
					    "spacetime?by=function",
					    "diff/1?by=site",
					    NULL};

/* ---- of fixtures ---- */

static const char *snap_for_links(const char *fixture, const char *a, const char *b)
{
	char *in = snapshot_directory();

	return snapshot_of_core(snapshot_core(snapshot_fixture(fixture, a, b), in), in,
				"links.hisnap", NULL);
}

/* The first and the last census have a graph: of the others there are totals alone. */
static void check_links_of_a_series_resolve(const struct hi_fixture *fx)
{
	const char *file = snapshot_path(snapshot_directory(), "series.hisnap");
	char pid[16];
	struct walk *w;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "-q", "--pid", pid, "--every", "50ms",
				       "--for", "2s", "-o", file)
				->exit_code);
	w = walk_pages(file, of_series);
	HI_ASSERT(count_links(w, "summary") > 0);
	HI_ASSERT(count_links(w, "snapshots") > 0);
}

HI_TEST_SCENARIO(links, lead_to_commands_options_and_objects_that_exist)
{
	char *in = snapshot_directory();
	struct hi_fixture *fx = snapshot_fixture("leaky_service", "7", "9");
	const char *file = snapshot_of_core(snapshot_core(fx, in), in, "links.hisnap",
					    "--with-contents");
	struct walk *w = walk_pages(file, of_snapshots);

	HI_ASSERT(count_links(w, "explain") > 20);
	HI_ASSERT(count_links(w, "paths") > 5);
	HI_ASSERT(count_links(w, "retained") > 5);
	HI_ASSERT(count_links(w, "tree") > 5);
	HI_ASSERT(count_links(w, "leaks") > 1);
	HI_ASSERT(count_links(w, "waste") > 1);
	HI_ASSERT(count_links(w, "query") > 2);
	w = walk_pages(file, of_service);
	HI_ASSERT(count_links(w, "query") > 2);
	HI_ASSERT(count_links(w, "census") > 1);
	check_links_of_a_series_resolve(fx);
}

HI_TEST_SCENARIO(links, links_of_cplusplus_types_resolve)
{
	struct walk *w =
		walk_pages(snap_for_links("containers_mixed", NULL, NULL), of_snapshots);

	HI_ASSERT(count_links(w, "paths") > 10);
}

HI_TEST_SCENARIO(links, links_of_leaks_resolve)
{
	struct walk *w =
		walk_pages(snap_for_links("leak_shapes", "acyclic", "5"), of_snapshots);

	HI_ASSERT(count_links(w, "leaks") > 1);
	HI_ASSERT(count_links(w, "explain") > 1);
}

HI_TEST_ROOT(links, links_of_a_recording_resolve)
{
	const char *file = snapshot_path(snapshot_directory(), "links.hirec");
	struct target *t = target_start("alloc_churn", NULL);
	struct walk *w;

	hi_fixture_tell(t->fx, "go");
	target_run(t, "record", "-q", "--sample", "all", "--every", "300ms", "--for",
		   "1s", "--full", "all", "-o", file);
	w = walk_pages(file, of_recordings);
	HI_ASSERT(count_links(w, "census") > 3);
	HI_ASSERT(count_links(w, "alloc") > 0);
}

/* ---- two files ---- */

static const char *snap_with_nodes(struct hi_fixture *fx, const char *nodes,
				   const char *in, const char *name)
{
	const char *file = snapshot_path(in, name);
	char pid[16], line[200];

	hi_fixture_tell(fx, nodes);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0,
		     hi_heapinspect("snap", "-q", "--pid", pid, "-o", file)->exit_code);
	return file;
}

/* What is in one heap alone has no page among those of the other one. */
HI_TEST_SCENARIO(links, links_of_a_comparison_lead_to_the_later_heap)
{
	struct walk *w = calloc(1, sizeof(*w));
	char *in = snapshot_directory();
	struct hi_fixture *fx = hi_fixture_start("growing_service", NULL);
	const char *before, *after;
	char line[200];

	hi_test_defer(free, w);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	before = snap_with_nodes(fx, "nodes 100", in, "before.hisnap");
	after = snap_with_nodes(fx, "nodes 300", in, "after.hisnap");
	w->file = after;
	list_known(w);
	w->pages = page_links_open(after, before);
	page_each_link(make_linked_page(w, "diff"), check_link, w);
	HI_ASSERT(count_links(w, "explain") > 0);
	HI_ASSERT(count_links(w, "paths") > 0);
	w->n_seen = 0;
	w->pages = page_links_open(before, after);
	page_each_link(make_linked_page(w, "diff"), check_link, w);
	HI_ASSERT_EQ(0, w->n_seen);
}
