/* SPDX-License-Identifier: BSD-2-Clause */
/* `tree` of processes and files: what the fixture says that it holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

/* fixtures/growing_service.c: "held NODES BYTES BLOBS BYTES". */
struct held {
	struct hi_fixture *fx;
	long nodes, node_bytes, blobs, blob_bytes;
	char pid[16];
	const char *file;
};

static void tell_held(struct held *h, const char *command)
{
	char line[128];

	if (command)
		hi_fixture_tell(h->fx, command);
	HI_ASSERT(hi_fixture_line(h->fx, line, sizeof(line)));
	HI_ASSERT_EQ(4, sscanf(line, "held %ld %ld %ld %ld", &h->nodes, &h->node_bytes,
			       &h->blobs, &h->blob_bytes));
}

static struct held start_held(void)
{
	struct held h = {.fx = hi_fixture_start("growing_service", NULL)};
	struct hi_command *c;

	snprintf(h.pid, sizeof(h.pid), "%d", (int)h.fx->pid);
	tell_held(&h, NULL);
	tell_held(&h, "nodes 700");
	tell_held(&h, "blobs 30");
	h.file = snapshot_path(snapshot_directory(), "held.hisnap");
	c = hi_heapinspect("snap", "--pid", h.pid, "-o", h.file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return h;
}

static json_t *ask_tree(struct hi_command *c)
{
	json_t *doc = doc_of(c);

	hi_check_schema(c, "tree.v1.json");
	return doc;
}

static json_t *tree_row(json_t *doc, const char *name)
{
	return doc_row(doc_at(doc, "rows"), "name", name);
}

static long long sum_of_rows(json_t *doc)
{
	return doc_number(doc, "hidden.retained") +
	       doc_sum(doc_at(doc, "rows"), "retained");
}

static void check_held(const struct held *h, json_t *top)
{
	HI_ASSERT_EQ(h->node_bytes, doc_number(tree_row(top, "nodes"), "retained"));
	HI_ASSERT_EQ(h->nodes, doc_number(tree_row(top, "nodes"), "objects"));
	HI_ASSERT_EQ(h->blob_bytes, doc_number(tree_row(top, "blobs"), "retained"));
	HI_ASSERT_EQ(h->blobs, doc_number(tree_row(top, "blobs"), "objects"));
	HI_ASSERT_EQ(doc_number(top, "live"), sum_of_rows(top));
}

static void check_the_top_has_what_the_fixture_holds(const struct held *h)
{
	check_held(h, ask_tree(hi_heapinspect("tree", "--pid", h->pid, "--json")));
	check_held(h, ask_tree(hi_heapinspect("tree", h->file, "--json")));
}

/* From a variable to its list, by the arguments of the rows. */
static void check_each_row_leads_to_its_level(const struct held *h)
{
	json_t *doc = ask_tree(hi_heapinspect("tree", h->file, "nodes", "--json")), *row;
	const char *argument;

	HI_ASSERT_EQ(h->node_bytes, doc_number(doc, "retained"));
	HI_ASSERT_EQ(h->node_bytes, sum_of_rows(doc));
	HI_ASSERT_EQ(1, doc_size(doc, "path"));
	row = doc_at(doc, "rows.0");
	argument = doc_text(row, "argument");
	HI_ASSERT_EQ(h->nodes, doc_number(row, "objects"));
	HI_ASSERT(strncmp(argument, "0x", 2) == 0);
	doc = ask_tree(hi_heapinspect("tree", h->file, argument, "--json"));
	HI_ASSERT_EQ(h->node_bytes, doc_number(doc, "retained"));
	HI_ASSERT_EQ(h->node_bytes, sum_of_rows(doc));
	HI_ASSERT_EQ(2, doc_size(doc, "path"));
	/* The list is one row, whose objects --group shows. */
	row = tree_row(doc, "(list)");
	HI_ASSERT_EQ(h->nodes, doc_number(row, "members"));
	doc = ask_tree(hi_heapinspect("tree", h->file, argument, "--group", "1", "--all",
				      "--json"));
	HI_ASSERT_EQ(h->nodes, doc_size(doc, "rows"));
	HI_ASSERT_EQ(h->node_bytes, sum_of_rows(doc));
}

static void check_text_has_the_same_figures(const struct held *h)
{
	struct hi_command *c = hi_heapinspect("tree", h->file, "blobs");
	char objects[32];

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(objects, sizeof(objects), " %ld ", h->blobs);
	HI_ASSERT(strstr(c->out, "What keeps it alive"));
	HI_ASSERT(strstr(c->out, "What it keeps alive directly"));
	HI_ASSERT(strstr(c->out, "struct blob"));
	HI_ASSERT(strstr(c->out, objects));
	HI_ASSERT(strstr(c->out, "heapinspect tree "));
}

static void check_tree_fails(struct hi_command *c, const char *text)
{
	HI_ASSERT(c->exit_code != 0 && !*c->out);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
}

static void check_what_is_not_there_is_an_error(const struct held *h)
{
	check_tree_fails(hi_heapinspect("tree", h->file, "nonsense"), "neither");
	check_tree_fails(hi_heapinspect("tree", h->file, "0x10"), "neither");
	check_tree_fails(hi_heapinspect("tree", h->file, "--group", "1"), "no group");
	check_tree_fails(hi_heapinspect("tree", h->file, "--group", "0"), "--group 0");
	check_tree_fails(hi_heapinspect("tree", h->file, "nodes", "blobs"), "only");
}

HI_TEST_SCENARIO(tree_command, tree_has_the_figures_of_the_fixture)
{
	struct held h = start_held();

	check_the_top_has_what_the_fixture_holds(&h);
	check_each_row_leads_to_its_level(&h);
	check_text_has_the_same_figures(&h);
	check_what_is_not_there_is_an_error(&h);
}
