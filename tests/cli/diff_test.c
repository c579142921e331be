/* SPDX-License-Identifier: BSD-2-Clause */
/* Two snapshots of a service that says what it holds; gates over them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

struct held {
	long nodes, node_bytes, blobs, blob_bytes;
};

/* Tells the service, and reads what it holds now. */
static struct held tell(struct hi_fixture *fx, const char *command)
{
	struct held h = {};
	char line[256];

	if (command)
		hi_fixture_tell(fx, command);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(4, sscanf(line, "held %ld %ld %ld %ld", &h.nodes, &h.node_bytes,
			       &h.blobs, &h.blob_bytes));
	return h;
}

static const char *snap(const struct hi_fixture *fx, const char *in, const char *name)
{
	const char *path = snapshot_path(in, name);
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("snap", "-q", "--pid", pid, "-o", path);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return path;
}

struct two {
	struct hi_fixture *fx;
	char *in;
	struct held before, after;
	const char *a, *b;
};

static struct two take_two(void)
{
	struct two t = {.fx = hi_fixture_start("growing_service", NULL)};

	t.in = snapshot_directory();
	tell(t.fx, NULL);
	tell(t.fx, "nodes 1000");
	t.before = tell(t.fx, "blobs 20");
	t.a = snap(t.fx, t.in, "a.hisnap");
	tell(t.fx, "nodes 2500");
	t.after = tell(t.fx, "blobs 5");
	t.b = snap(t.fx, t.in, "b.hisnap");
	return t;
}

HI_TEST_SCENARIO(diff, one_process_is_compared_by_address)
{
	struct two t = take_two();
	struct hi_command *c = hi_heapinspect("diff", t.a, t.b, "--json", "--all");
	json_t *doc = doc_of_exit(c, 1), *node, *blob, *growth;

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_STREQ("address", doc_text(doc, "matched"));
	node = doc_row(doc_at(doc, "rows"), "type", "struct node");
	blob = doc_row(doc_at(doc, "rows"), "type", "struct blob");
	HI_ASSERT_EQ(t.before.nodes, doc_number(node, "before.count"));
	HI_ASSERT_EQ(t.before.node_bytes, doc_number(node, "before.bytes"));
	HI_ASSERT_EQ(t.after.nodes, doc_number(node, "after.count"));
	HI_ASSERT_EQ(t.after.node_bytes, doc_number(node, "after.bytes"));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, doc_number(node, "born.count"));
	HI_ASSERT_EQ(0, doc_number(node, "died.count"));
	HI_ASSERT_EQ(t.before.blobs - t.after.blobs, doc_number(blob, "died.count"));
	HI_ASSERT_EQ(0, doc_number(blob, "born.count"));
	growth = doc_at(doc, "growth.0");
	HI_ASSERT_STREQ("nodes", doc_text(growth, "path"));
	HI_ASSERT_EQ(t.after.node_bytes - t.before.node_bytes,
		     doc_number(growth, "bytes"));
	doc = doc_of_exit(hi_heapinspect("diff", t.a, t.b, "--json", "--by", "root"), 1);
	HI_ASSERT_EQ(
		t.after.node_bytes,
		doc_number(doc_row(doc_at(doc, "rows"), "root", "nodes"), "after.bytes"));
}

HI_TEST_SCENARIO(diff, two_processes_are_compared_by_type_and_path)
{
	struct two t = take_two();
	struct hi_fixture *other = hi_fixture_start("growing_service", NULL);
	json_t *doc, *node;
	const char *c;

	tell(other, NULL);
	tell(other, "nodes 700");
	tell(other, "blobs 5");
	c = snap(other, t.in, "c.hisnap");
	doc = doc_of_exit(hi_heapinspect("diff", t.b, c, "--json", "--all"), 1);
	HI_ASSERT_STREQ("way", doc_text(doc, "matched"));
	node = doc_row(doc_at(doc, "rows"), "type", "struct node");
	HI_ASSERT_EQ(t.after.nodes - 700, doc_number(node, "died.count"));
	HI_ASSERT_EQ(0, doc_number(node, "born.count"));
	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
}

HI_TEST_SCENARIO(diff, diff_without_a_difference_ends_with_0)
{
	struct two t = take_two();
	struct hi_command *c = hi_heapinspect("diff", t.a, t.a);
	char pid[16];

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "No difference"));
	/* What was freed and allocated again in place is not seen: it says so. */
	HI_ASSERT_MSG(strstr(c->out, "allocated again"), "%s", c->out);
	/* A process may be the later one. */
	snprintf(pid, sizeof(pid), "%d", (int)t.fx->pid);
	HI_ASSERT_EQ(0, hi_heapinspect("diff", t.b, "--pid", pid)->exit_code);
	HI_ASSERT_EQ(1, hi_heapinspect("diff", t.a, "--pid", pid)->exit_code);
}

/* Finds the row of new objects of a type; of three heaps all rows are of new ones. */
static json_t *new_of(json_t *doc, const char *type)
{
	json_t *rows = doc_find(doc, "new");

	return doc_row(rows ? rows : doc_at(doc, "rows"), "type", type);
}

/* The service adds at the head of a list: the newest one holds all of it. */
HI_TEST_SCENARIO(diff, new_objects_have_a_way_and_what_they_retain)
{
	struct two t = take_two();
	json_t *doc = doc_of_exit(hi_heapinspect("diff", t.a, t.b, "--json"), 1);
	json_t *node = new_of(doc, "struct node");

	HI_ASSERT_EQ(1, doc_size(doc, "new"));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, doc_number(node, "count"));
	HI_ASSERT_EQ(t.after.node_bytes - t.before.node_bytes, doc_number(node, "bytes"));
	HI_ASSERT_EQ(t.after.node_bytes, doc_number(node, "retained"));
	HI_ASSERT_EQ(0, doc_number(node, "leaked"));
	HI_ASSERT_STREQ("nodes", doc_text(node, "path"));
}

HI_TEST_SCENARIO(diff, rows_by_retainer_set_are_what_each_variable_holds)
{
	struct two t = take_two();
	struct hi_command *c =
		hi_heapinspect("diff", t.a, t.b, "--json", "--by", "retainers");
	json_t *doc = doc_of_exit(c, 1),
	       *node = doc_row(doc_at(doc, "rows"), "retainers", "{nodes}"), *blob;

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_EQ(t.before.nodes, doc_number(node, "before.count"));
	HI_ASSERT_EQ(t.after.node_bytes, doc_number(node, "after.bytes"));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, doc_number(node, "born.count"));
	blob = doc_row(doc_at(doc, "rows"), "retainers", "{blobs}");
	HI_ASSERT_EQ(t.before.blobs - t.after.blobs, doc_number(blob, "died.count"));
	/* Each node but the first is held by another one. */
	doc = doc_of_exit(hi_heapinspect("diff", t.a, t.b, "--json", "--by", "retainers",
					 "--retainer", "struct node"),
			  1);
	node = doc_row(doc_at(doc, "rows"), "retainers", "{struct node}");
	HI_ASSERT_EQ(t.before.nodes - 1, doc_number(node, "before.count"));
	HI_ASSERT_EQ(t.after.nodes - 1, doc_number(node, "after.count"));
	HI_ASSERT_EQ(1, doc_number(doc_row(doc_at(doc, "rows"), "retainers", "{nodes}"),
				   "after.count"));
}

/* Of both heaps only what the root leads to; of a process, too. */
HI_TEST_SCENARIO(diff, under_a_root_only_its_descendants_are_compared)
{
	struct two t = take_two();
	char pid[32];

	snprintf(pid, sizeof(pid), "--pid=%d", (int)t.fx->pid);
	for (int i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect("diff", t.a, i ? pid : t.b, "--root=b=blobs",
				       "--under=b", "--json", "--all");
		json_t *doc = doc_of_exit(c, 1),
		       *blob = doc_row(doc_at(doc, "rows"), "type", "struct blob");

		hi_check_schema(c, "rows.v1.json");
		HI_ASSERT_EQ(1, doc_size(doc, "rows"));
		HI_ASSERT_EQ(t.before.blobs - t.after.blobs,
			     doc_number(blob, "died.count"));
		HI_ASSERT_EQ(t.after.blob_bytes, doc_number(blob, "after.bytes"));
		HI_ASSERT_EQ(t.after.blob_bytes, doc_number(doc, "only.bytes"));
		HI_ASSERT_EQ(t.before.blob_bytes, doc_number(doc, "before.live"));
		HI_ASSERT_EQ(t.after.blob_bytes, doc_number(doc, "after.live"));
		HI_ASSERT_EQ(0, doc_number(doc, "all.born.count"));
		HI_ASSERT_EQ(0, doc_size(doc, "growth"));
	}
	HI_ASSERT_EQ(2, hi_heapinspect("diff", t.a, t.b, "--root=b=blobs")->exit_code);
}

/* A type that only one of them has is no mistake; one that neither has is. */
HI_TEST_SCENARIO(diff, a_retainer_may_be_new_or_gone)
{
	struct hi_fixture *fx = hi_fixture_start("growing_service", NULL);
	char *in = snapshot_directory();
	const char *none, *some;
	struct hi_command *c;

	tell(fx, NULL);
	tell(fx, "nodes 3");
	none = snap(fx, in, "none.hisnap");
	tell(fx, "blobs 4");
	some = snap(fx, in, "some.hisnap");
	for (int i = 0; i < 2; i++) {
		json_t *doc = doc_of_exit(
			hi_heapinspect("diff", i ? some : none, i ? none : some, "--json",
				       "--by", "retainers", "--retainer", "struct blob"),
			1);
		json_t *row = doc_row(doc_at(doc, "rows"), "retainers", "{struct blob}");

		HI_ASSERT_EQ(3, doc_number(row, "%s.count", i ? "died" : "born"));
	}
	/* Only one of them has a field of a blob; none has one that is not there. */
	c = hi_heapinspect("diff", none, some, "--by", "retainers", "--retainer",
			   "struct blob.next");
	HI_ASSERT_MSG(c->exit_code == 1, "%s", c->err);
	c = hi_heapinspect("diff", none, some, "--by", "retainers", "--retainer",
			   "struct node.nxt");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "nxt"), "%s", c->err);
	c = hi_heapinspect("diff", none, some, "--by", "retainers", "--retainer",
			   "struct blub");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "near it: struct blob"), "%s", c->err);
}

/* The same number and start, but nothing is where it was. */
HI_TEST_SCENARIO(diff, a_process_that_became_another_program_matches_by_way)
{
	struct two t = take_two();
	const char *c;
	json_t *doc;

	tell(t.fx, "again 0");
	tell(t.fx, "nodes 2500");
	c = snap(t.fx, t.in, "c.hisnap");
	doc = doc_of_exit(hi_heapinspect("diff", t.b, c, "--json", "--all"), 1);
	HI_ASSERT_STREQ("way", doc_text(doc, "matched"));
	HI_ASSERT_EQ(t.after.blobs,
		     doc_number(doc_row(doc_at(doc, "rows"), "type", "struct blob"),
				"died.count"));
	/* As many nodes as before are no difference. */
	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
}

/* Another build, with other sizes and other numbers of types. */
HI_TEST_SCENARIO(diff, two_builds_match_by_way)
{
	struct two t = take_two();
	struct hi_fixture *other;
	char path[400];
	const char *c;
	json_t *doc;

	snprintf(path, sizeof(path), "%s/growing_service", workshop_open());
	workshop_run("sed 's/long values.5.;/long values[8];/' "
		     "%s/fixtures/growing_service.c > one.c && "
		     "cc -O0 -g one.c -o growing_service -ldl",
		     HI_SOURCE_DIR);
	other = hi_fixture_start(path, NULL);
	tell(other, NULL);
	tell(other, "nodes 2400");
	tell(other, "blobs 6");
	c = snap(other, t.in, "c.hisnap");
	doc = doc_of_exit(hi_heapinspect("diff", t.b, c, "--json", "--all"), 1);
	HI_ASSERT_STREQ("way", doc_text(doc, "matched"));
	HI_ASSERT_EQ(100, doc_number(doc_row(doc_at(doc, "rows"), "type", "struct node"),
				     "died.count"));
	HI_ASSERT_EQ(0, doc_number(doc_row(doc_at(doc, "rows"), "type", "struct node"),
				   "born.count"));
	HI_ASSERT_EQ(1, doc_number(doc_row(doc_at(doc, "rows"), "type", "struct blob"),
				   "born.count"));
	HI_ASSERT_EQ(1, doc_size(doc, "growth"));
}

/* ---- three heaps ---- */

struct load {
	struct hi_fixture *fx;
	char *in;
	const char *warm, *load;
	struct held warm_held, load_held;
};

static struct load take_load(void)
{
	struct load l = {.fx = hi_fixture_start("growing_service", NULL)};

	l.in = snapshot_directory();
	tell(l.fx, NULL);
	tell(l.fx, "nodes 100");
	l.warm_held = tell(l.fx, "blobs 5");
	l.warm = snap(l.fx, l.in, "warm.hisnap");
	tell(l.fx, "nodes 300");
	l.load_held = tell(l.fx, "blobs 50");
	l.load = snap(l.fx, l.in, "load.hisnap");
	return l;
}

static void check_survived(json_t *doc, const struct load *l, struct held after)
{
	json_t *node = new_of(doc, "struct node"), *blob = new_of(doc, "struct blob");
	long long bytes = after.node_bytes - l->warm_held.node_bytes + after.blob_bytes -
			  l->warm_held.blob_bytes;

	HI_ASSERT_EQ(after.nodes - l->warm_held.nodes, doc_number(node, "count"));
	HI_ASSERT_EQ(l->load_held.nodes - l->warm_held.nodes, doc_number(node, "born"));
	HI_ASSERT_EQ(after.node_bytes, doc_number(node, "retained"));
	HI_ASSERT_STREQ("nodes", doc_text(node, "path"));
	HI_ASSERT_EQ(after.blobs - l->warm_held.blobs, doc_number(blob, "count"));
	HI_ASSERT_EQ(l->load_held.blobs - l->warm_held.blobs, doc_number(blob, "born"));
	HI_ASSERT_EQ(bytes, doc_number(doc, "survived.bytes"));
	HI_ASSERT_EQ(l->load_held.nodes - l->warm_held.nodes + l->load_held.blobs -
			     l->warm_held.blobs,
		     doc_number(doc, "born.count"));
	HI_ASSERT_EQ(2, doc_size(doc, "rows"));
	HI_ASSERT_EQ(2, doc_size(doc, "growth"));
}

HI_TEST_SCENARIO(diff, three_heaps_tell_what_survived_the_load)
{
	struct load l = take_load();
	struct held after;
	struct hi_command *c;
	char pid[16];
	json_t *doc;

	snprintf(pid, sizeof(pid), "%d", (int)l.fx->pid);
	tell(l.fx, "nodes 170");
	after = tell(l.fx, "blobs 8");
	c = hi_heapinspect("diff", "--three", l.warm, l.load, "--pid", pid, "--json");
	doc = doc_of_exit(c, 1);
	hi_check_schema(c, "rows.v1.json");
	check_survived(doc, &l, after);
	doc = doc_at(doc, "matched");
	HI_ASSERT_STREQ("address", doc_text(doc, "load"));
	HI_ASSERT_STREQ("address", doc_text(doc, "after"));
	doc = doc_of_exit(hi_heapinspect("diff", "--three", l.warm, l.load, "--pid", pid,
					 "--json", "--root=n=nodes", "--under=n"),
			  1);
	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
	HI_ASSERT_EQ(70, doc_number(new_of(doc, "struct node"), "count"));
	HI_ASSERT_EQ(200, doc_number(new_of(doc, "struct node"), "born"));
	/* The last may be a file, too. */
	c = hi_heapinspect("diff", "--json", l.warm, l.load,
			   snap(l.fx, l.in, "after.hisnap"), "--three");
	check_survived(doc_of_exit(c, 1), &l, after);
	/* All that came under load is gone, and what was there before is not told. */
	tell(l.fx, "nodes 100");
	tell(l.fx, "blobs 5");
	c = hi_heapinspect("diff", "--three", l.warm, l.load, "--pid", pid);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "all 245 objects"), "%s", c->out);
}

HI_TEST_SCENARIO(diff, three_heaps_of_other_runs_match_by_way)
{
	struct load l = take_load();
	struct hi_fixture *other = hi_fixture_start("growing_service", NULL);
	struct held after;
	json_t *doc;

	tell(other, NULL);
	tell(other, "nodes 170");
	after = tell(other, "blobs 8");
	doc = doc_of_exit(hi_heapinspect("diff", "--three", l.warm, l.load,
					 snap(other, l.in, "after.hisnap"), "--json"),
			  1);
	check_survived(doc, &l, after);
	doc = doc_at(doc, "matched");
	HI_ASSERT_STREQ("address", doc_text(doc, "load"));
	HI_ASSERT_STREQ("way", doc_text(doc, "after"));
}

static void check_refused(struct hi_command *c, const char *word)
{
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, word), "%s", c->err);
}

HI_TEST_SCENARIO(diff, wrong_arguments_are_refused)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	struct two t = take_two();

	check_refused(hi_heapinspect("diff"), "two snapshot files");
	check_refused(hi_heapinspect("diff", t.a), "no target");
	check_refused(hi_heapinspect("diff", t.a, t.b, t.b), "one target");
	check_refused(hi_heapinspect("diff", t.a, t.b, t.b), "--three");
	check_refused(hi_heapinspect("diff", t.a, t.b, "--by", "site"),
		      "heapinspect record");
	check_refused(hi_heapinspect("diff", t.a, t.b, "--by", "size"), "--by size");
	check_refused(hi_heapinspect("diff", t.a, t.b, "--retainer", "auto"),
		      "only with --by retainers");
	check_refused(hi_heapinspect("diff", "--three", t.a), "three snapshot files");
	check_refused(hi_heapinspect("diff", "--three", t.a, t.b), "no target");
	check_refused(hi_heapinspect("diff", "--three", t.a, t.b, t.b, t.b),
		      "one target");
	check_refused(hi_heapinspect("diff", "--three", t.a, t.b, t.b, "--by", "root"),
		      "not with --three");
	check_refused(hi_heapinspect("diff", "--three", file, t.b, t.b),
		      "another program");
	check_refused(hi_heapinspect("diff", "--three", t.a, file, t.b),
		      "another program");
	check_refused(hi_heapinspect("diff", file, t.b), "another program");
	HI_ASSERT_EQ(1, hi_heapinspect("diff", "--force", file, t.b)->exit_code);
}

/* ---- gates ---- */

static int check(const char *file, const char *gate, const char *baseline)
{
	return (baseline ? hi_heapinspect("check", file, "--fail-on", gate, "--baseline",
					  baseline)
			 : hi_heapinspect("check", file, "--fail-on", gate))
		->exit_code;
}

HI_TEST_SCENARIO(check, gates_fail_where_the_service_has_too_much)
{
	struct two t = take_two();
	char gate[128];

	snprintf(gate, sizeof(gate), "type(\"struct node\").count > %ld", t.after.nodes);
	HI_ASSERT_EQ(0, check(t.b, gate, NULL));
	snprintf(gate, sizeof(gate), "type(\"node\").count >= %ld", t.after.nodes);
	HI_ASSERT_EQ(1, check(t.b, gate, NULL));
	snprintf(gate, sizeof(gate), "type(\"struct node\").bytes != %ld",
		 t.after.node_bytes);
	HI_ASSERT_EQ(0, check(t.b, gate, NULL));
	snprintf(gate, sizeof(gate), "root(\"blobs\").retained != %ld",
		 t.after.blob_bytes);
	HI_ASSERT_EQ(0, check(t.b, gate, NULL));
	snprintf(gate, sizeof(gate), "baseline.root(\"blobs\").retained != %ld",
		 t.before.blob_bytes);
	HI_ASSERT_EQ(0, check(t.b, gate, t.a));
	HI_ASSERT_EQ(1, check(t.b, "growth(type(\"struct node\").count) > 149%", t.a));
	HI_ASSERT_EQ(0, check(t.b, "growth(type(\"struct node\").count) > 150%", t.a));
	HI_ASSERT_EQ(0, check(t.b, "leak.bytes > 0", NULL));
	HI_ASSERT_EQ(0, check(t.b, "live.bytes + leak.bytes != total.bytes", NULL));
	HI_ASSERT_EQ(1, check(t.b, "ledger(\"rss\").bytes > 4096", NULL));
	/* glibc's malloc has no slabs. */
	HI_ASSERT_EQ(0, check(t.b, "ledger(\"free_slot\").bytes > 0", NULL));
	HI_ASSERT_EQ(1, check(t.b, "snapshot.pause > 1us", NULL));
}

/* No leak is certain there: how many there are is not known. */
HI_TEST_SCENARIO(check, a_gate_on_leaks_of_a_damaged_heap_fails_as_unknown)
{
	struct hi_fixture *fx = hi_fixture_start("overwritten_heap", NULL);
	struct hi_command *c;
	char pid[16];
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	doc = doc_of_exit(hi_heapinspect("check", "--pid", pid, "--json", "--fail-on",
					 "leak.bytes > 0", "--fail-on",
					 "leak.likely > 1MiB"),
			  1);
	HI_ASSERT(json_is_false(doc_at(doc, "rows.0.known")));
	HI_ASSERT(json_is_true(doc_at(doc, "rows.0.failed")));
	HI_ASSERT(json_is_false(doc_at(doc, "rows.1.failed")));
	c = hi_heapinspect("check", "--pid", pid, "--fail-on", "leak.count > 5");
	HI_ASSERT_MSG(strstr(c->out, "leak.count is unknown"), "%s", c->out);
}

HI_TEST_SCENARIO(check, wrong_expressions_have_a_caret)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	struct hi_command *c =
		hi_heapinspect("check", file, "--fail-on", "live.bytse > 0");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "  live.bytse > 0\n       ^\n"), "%s", c->err);
	check_refused(hi_heapinspect("check", file), "--fail-on EXPR is missing");
	check_refused(
		hi_heapinspect("check", file, "--fail-on", "growth(live.bytes) > 0"),
		"--baseline FILE is missing");
	/* A core has no pause: what cannot be known is not fine. */
	check_refused(hi_heapinspect("check", file, "--fail-on", "snapshot.pause > 1s"),
		      "not known");
	check_refused(
		hi_heapinspect("check", file, "--fail-on", "ledger(\"nope\").bytes > 1"),
		"nope");
	check_refused(hi_heapinspect("check", file, "--fail-on", "slope(live.bytes) > 0"),
		      "many censuses");
	check_refused(
		hi_heapinspect("check", file, "-f", "xml", "--fail-on", "live.bytes > 0"),
		"not one of text, json");
	check_refused(hi_heapinspect("check", file, "-f", "junit", "--json", "--fail-on",
				     "live.bytes > 0"),
		      "only one of them");
	c = hi_heapinspect("check", file, "--allow-missing", "--fail-on",
			   "type(\"nope\").count > 0");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "type nope"), "%s", c->out);
}

/* It would count 0 for ever, so it is an error, with the nearest names; with
 * --allow-missing it warns, and --strict makes it fail. A type that the program has is
 * none, and counts 0. */
HI_TEST_SCENARIO(check, a_selector_that_matches_nothing_is_an_error_unless_allowed)
{
	struct two t = take_two();
	char pid[16];
	const struct {
		const char *target, *gate, *word;
	} cases[] = {
		{pid, "root(\"blobz\").retained > 1",
		 "no variable has the name blobz; near it: blobs"},
		{t.b, "growth(root(\"blobz\").retained) > 1",
		 "no variable has the name blobz; near it: blobs"},
		{pid, "type(\"struct nodde\").count > 1", "near it: struct node"},
		{t.b, "type(\"struct nodde\").count > 1", "near it: struct node"},
		{t.b, "module(\"growing_servise\").count > 1",
		 "near it: growing_service"},
		{t.b, "growth(type=\"nod*e*s\", count) > 1", "no object has the type"},
		/* There is such a type, and no object has it. */
		{pid, "type(\"struct timespec\").count > 0",
		 "no object has the type struct timespec\n"},
	};

	snprintf(pid, sizeof(pid), "--pid=%d", (int)t.fx->pid);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool is_known = strstr(cases[i].gate, "timespec");
		struct hi_command *c =
			hi_heapinspect("check", "--width=200", cases[i].target,
				       "--baseline", t.a, "--fail-on", cases[i].gate);

		HI_ASSERT_MSG(c->exit_code == (is_known ? 0 : 2), "%s: %s", cases[i].gate,
			      c->err);
		if (!is_known)
			HI_ASSERT_MSG(strstr(c->err, cases[i].word), "%s", c->err);
		c = hi_heapinspect("check", "--width=200", cases[i].target, "--baseline",
				   t.a, "--allow-missing", "--fail-on", cases[i].gate);
		HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", cases[i].gate, c->err);
		HI_ASSERT_MSG(strstr(c->out, cases[i].word), "%s", c->out);
		c = hi_heapinspect("check", cases[i].target, "--baseline", t.a, "-f",
				   "github", "--strict", "--allow-missing", "--fail-on",
				   cases[i].gate);
		HI_ASSERT_MSG(c->exit_code == 1, "%s: %s", cases[i].gate, c->err);
		HI_ASSERT_MSG(strstr(c->out, "::error ") && strstr(c->out, "--strict"),
			      "%s", c->out);
	}
	/* A name that only the earlier heap has is no mistake. */
	HI_ASSERT_EQ(0, hi_heapinspect("check", t.b, "--strict", "--fail-on",
				       "type(\"struct node\").count > 5000")
				->exit_code);
}

/* ---- what is behind it ---- */

static json_t *culprit_of(json_t *doc, size_t gate, const char *kind)
{
	return doc_row(doc_at(doc, "rows.%zu.culprits", gate), "kind", kind);
}

HI_TEST_SCENARIO(check, a_failed_gate_names_what_grew_and_what_holds_it)
{
	struct two t = take_two();
	struct hi_command *c =
		hi_heapinspect("check", t.b, "--baseline", t.a, "--json", "--fail-on",
			       "growth(live.bytes) > 1%", "--fail-on",
			       "type(\"struct node\").bytes > 64KiB", "--fail-on",
			       "root(\"blobs\").retained > 1KiB");
	json_t *doc = doc_of_exit(c, 1), *holder;
	char line[160];

	hi_check_schema(c, "rows.v1.json");
	/* Since the baseline only nodes were born; the gates below count all of them. */
	holder = culprit_of(doc, 0, "holder");
	HI_ASSERT_STREQ("nodes", doc_text(holder, "path"));
	HI_ASSERT_STREQ("struct node", doc_text(holder, "type"));
	HI_ASSERT(doc_bool(holder, "new"));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, doc_number(holder, "count"));
	HI_ASSERT_EQ(t.after.node_bytes - t.before.node_bytes,
		     doc_number(holder, "bytes"));
	holder = culprit_of(doc, 1, "holder");
	HI_ASSERT(!doc_bool(holder, "new"));
	HI_ASSERT_EQ(t.after.nodes, doc_number(holder, "count"));
	HI_ASSERT_EQ(t.after.node_bytes, doc_number(holder, "bytes"));
	holder = culprit_of(doc, 2, "holder");
	HI_ASSERT_STREQ("blobs", doc_text(holder, "path"));
	HI_ASSERT_EQ(t.after.blob_bytes, doc_number(holder, "bytes"));
	/* The same as text, on no line that is wider than the terminal. */
	c = hi_heapinspect("check", t.b, "--width=60", "--fail-on",
			   "type(\"struct node\").bytes > 64KiB");
	snprintf(line, sizeof(line), "nodes: %ld,%03ld", t.after.nodes / 1000,
		 t.after.nodes % 1000);
	HI_ASSERT_MSG(strstr(c->out, line), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "heapinspect paths 'struct node'"), "%s", c->out);
}

/* The fixture drops lists of its nodes: a leak of their bytes. */
HI_TEST_SCENARIO(check, a_failed_leak_gate_lists_the_largest_leaks)
{
	const char *file = snapshot_of_core(
		snapshot_core(snapshot_fixture("leak_shapes", "acyclic", "5"),
			      snapshot_directory()),
		snapshot_directory(), "leaks.hisnap", NULL);
	struct hi_command *c =
		hi_heapinspect("check", file, "--json", "--fail-on", "leak.bytes > 0");
	json_t *doc = doc_of_exit(c, 1), *row = doc_at(doc, "rows.0");
	json_t *first = culprit_of(doc, 0, "leak");
	json_t *leaks = doc_of(hi_heapinspect("leaks", file, "--json"));
	long long sum = 0, most = 0;
	json_t *item;

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_EQ(doc_number(row, "left"), doc_number(leaks, "leaks.bytes"));
	doc_each (item, doc_at(row, "culprits")) {
		sum += doc_number(item, "bytes");
		most = doc_number(item, "bytes") > most ? doc_number(item, "bytes")
							: most;
	}
	HI_ASSERT_EQ(most, doc_number(first, "bytes"));
	HI_ASSERT_MSG(sum <= doc_number(row, "left") && sum > 0, "%lld", sum);
	HI_ASSERT_MSG(strstr(doc_text(row, "next"), "heapinspect leaks "), "%s", c->out);
}

HI_TEST_SCENARIO(check, three_heaps_have_survivors)
{
	struct load l = take_load();
	struct held after;
	struct hi_command *c;
	const char *file;
	char gate[4][128];
	json_t *doc;

	tell(l.fx, "nodes 170");
	after = tell(l.fx, "blobs 8");
	file = snap(l.fx, l.in, "after.hisnap");
	snprintf(gate[0], sizeof(gate[0]), "survived(type=\"struct node\").count != %ld",
		 after.nodes - l.warm_held.nodes);
	snprintf(gate[1], sizeof(gate[1]), "survived.bytes != %ld",
		 after.node_bytes - l.warm_held.node_bytes + after.blob_bytes -
			 l.warm_held.blob_bytes);
	snprintf(gate[2], sizeof(gate[2]), "baseline.root(\"nodes\").retained != %ld",
		 l.warm_held.node_bytes);
	snprintf(gate[3], sizeof(gate[3]), "survived(\"struct blob\").bytes > 1B");
	c = hi_heapinspect("check", "--three", l.warm, l.load, file, "--fail-on", gate[0],
			   "--fail-on", gate[1], "--fail-on", gate[2]);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
	c = hi_heapinspect("check", l.warm, l.load, file, "--json", "--three",
			   "--fail-on", gate[3]);
	doc = doc_of_exit(c, 1);
	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_EQ(after.blobs - l.warm_held.blobs,
		     doc_number(culprit_of(doc, 0, "holder"), "count"));
	check_refused(hi_heapinspect("check", file, "--fail-on", gate[3]),
		      "check --three WARM LOAD AFTER");
	check_refused(
		hi_heapinspect("check", "--three", file, file, "--fail-on", gate[3]),
		"no target");
}

/* A smaller growth does not fail, neither of diff nor of check. */
HI_TEST_SCENARIO(check, min_size_governs_the_exit_status)
{
	struct two t = take_two();
	long grown = t.after.node_bytes - t.before.node_bytes;
	char enough[32], little[32], gate[] = "growth(type(\"struct node\").count) > 0";

	snprintf(enough, sizeof(enough), "--min-size=%ld", grown);
	snprintf(little, sizeof(little), "--min-size=%ld", grown + 1);
	HI_ASSERT_EQ(1, hi_heapinspect("diff", t.a, t.b, enough)->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("diff", t.a, t.b, little)->exit_code);
	HI_ASSERT_EQ(1, hi_heapinspect("check", t.b, "--baseline", t.a, enough,
				       "--fail-on", gate)
				->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("check", t.b, "--baseline", t.a, little,
				       "--fail-on", gate)
				->exit_code);
	/* Without a baseline the value itself counts; a gate on too little stays. */
	snprintf(enough, sizeof(enough), "--min-size=%ld", t.after.node_bytes);
	snprintf(little, sizeof(little), "--min-size=%ld", t.after.node_bytes + 1);
	HI_ASSERT_EQ(1, hi_heapinspect("check", t.b, enough, "--fail-on",
				       "type(\"struct node\").count > 1")
				->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("check", t.b, little, "--fail-on",
				       "type(\"struct node\").count > 1")
				->exit_code);
	HI_ASSERT_EQ(1, hi_heapinspect("check", t.b, little, "--fail-on",
				       "type(\"struct node\").count < 9999")
				->exit_code);
	HI_ASSERT_EQ(0,
		     hi_heapinspect("diff", "--three", t.a, t.b, t.b, little)->exit_code);
	HI_ASSERT_EQ(1, hi_heapinspect("diff", "--three", t.a, t.b, t.b)->exit_code);
}

/* ---- slopes ---- */

/* Of a series with 10, 100, 40, 60 and 20 nodes (series_file_test.c): by hand, the slope
 * is -2 and far within the noise. */
HI_TEST_SCENARIO(check, slopes_are_of_all_censuses_of_a_file)
{
	const char *file = HI_SOURCE_DIR "/tests/data/series-v1.hisnap";
	struct hi_command *c =
		hi_heapinspect("check", file, "--json", "--allow-missing", "--fail-on",
			       "slope(type=\"struct node\", count) > 0", "--fail-on",
			       "slope(type(\"struct node\").bytes) != 0", "--fail-on",
			       "slope(type=\"struct nodde\", count) > 0");
	json_t *rows = doc_at(doc_of(c), "rows"), *row = doc_at(rows, "0");
	json_t *slope = doc_at(row, "slopes.0");

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT(doc_bool(row, "per_census"));
	HI_ASSERT_EQ(0, doc_number(row, "left"));
	HI_ASSERT(doc_real(slope, "slope") == -2);
	HI_ASSERT(doc_real(slope, "margin") > 41);
	HI_ASSERT(doc_real(slope, "margin") < 42);
	HI_ASSERT_EQ(10, doc_number(slope, "first"));
	HI_ASSERT_EQ(20, doc_number(slope, "last"));
	HI_ASSERT_EQ(5, doc_number(slope, "censuses"));
	HI_ASSERT(strstr(doc_text(rows, "2.unmatched"), "near it: struct node"));
}

/* Cut off behind its second census; how many there are is snapshots' own word. */
HI_TEST_SCENARIO(check, a_slope_needs_three_censuses)
{
	char *in = snapshot_directory(), command[1024];
	const char *cut = snapshot_path(in, "cut.hisnap");
	struct hi_command *c;

	snprintf(command, sizeof(command),
		 "f='%s/tests/data/series-v1.hisnap'; n=$(stat -c %%s \"$f\"); "
		 "while n=$((n - 4096)); [ $n -gt 0 ]; do head -c $n \"$f\" >'%s'; "
		 "'%s/heapinspect' snapshots '%s' --json | grep -q '\"census\": 3,' || "
		 "break; done",
		 HI_SOURCE_DIR, cut, HI_BINARY_DIR, cut);
	c = hi_command_run(0, "sh", "-c", command, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("check", cut, "--fail-on", "slope(live.bytes) > 0");
	check_refused(c, "2 censuses");
	check_refused(c, "at least 3");
}

/* ---- budgets and baselines ---- */

static const char *write_text(const char *in, const char *name, const char *text)
{
	const char *path = snapshot_path(in, name);
	FILE *file = fopen(path, "w");

	HI_ASSERT(file && fputs(text, file) >= 0 && fclose(file) == 0);
	return path;
}

HI_TEST_SCENARIO(check, a_budget_has_names_comments_and_places)
{
	const char *heap = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	char *in = snapshot_directory(), place[512];
	const char *file = write_text(in, "budget",
				      "# limits\r\n\r\n"
				      "no leaks : leak.bytes > 1GiB # none\r\n"
				      "\tlive.bytes > 1B\n"
				      "odd: type(\"a#b: c\").count > 0\n");
	struct hi_command *c = hi_heapinspect("check", heap, "--budget", file, "--json",
					      "--allow-missing");
	json_t *rows = doc_at(doc_of_exit(c, 1), "rows");
	static const struct {
		const char *text, *word;
		unsigned line;
	} wrong[] = {{"\na: live.byts > 1\n", "  live.byts > 1\n       ^\n", 2},
		     {"a: live.bytes > 1\nb:\n", "is missing behind the name", 2},
		     {"live.bytes > 1 MIB", "unknown unit MIB", 1},
		     {"x: growth(live.bytes) > 1%", "--baseline FILE is missing", 1},
		     {"survived.bytes > 1", "--three", 1}};

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_EQ(3, json_array_size(rows));
	HI_ASSERT_STREQ("no leaks", doc_text(rows, "0.name"));
	HI_ASSERT_STREQ("leak.bytes > 1GiB", doc_text(rows, "0.fail_on"));
	HI_ASSERT_EQ(3, doc_number(rows, "0.line"));
	HI_ASSERT(doc_is_null(rows, "1.name"));
	HI_ASSERT_STREQ("type(\"a#b: c\").count > 0", doc_text(rows, "2.fail_on"));
	c = hi_heapinspect("check", heap, "--budget", file, "-f", "github",
			   "--allow-missing");
	snprintf(place, sizeof(place), "::error file=%s,line=4,title=", file);
	HI_ASSERT_MSG(strstr(c->out, place), "%s", c->out);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		file = write_text(in, "wrong", wrong[i].text);
		c = hi_heapinspect("check", heap, "--budget", file);
		check_refused(c, wrong[i].word);
		snprintf(place, sizeof(place), "%s:%u: ", file, wrong[i].line);
		check_refused(c, place);
	}
	check_refused(hi_heapinspect("check", heap, "--budget",
				     write_text(in, "empty", "# nothing\n \n")),
		      "no gates");
	check_refused(hi_heapinspect("check", heap, "--budget", heap), "not a text file");
	check_refused(hi_heapinspect("check", heap, "--budget", in), "not a file");
	check_refused(hi_heapinspect("check", heap, "--budget", "/none"), "No such file");
}

static bool is_same_file(const char *a, const char *b)
{
	return hi_command_run(0, "cmp", "-s", a, b, NULL)->exit_code == 0;
}

/* The first run makes it; one that fails leaves it, unless it is accepted. */
HI_TEST_SCENARIO(check, the_baseline_follows_what_passes)
{
	struct two t = take_two();
	const char *base = snapshot_path(t.in, "base.hisnap");
	static const char gate[] = "growth(live.bytes) > 1%";
	struct hi_command *c = hi_heapinspect("check", t.a, "--baseline", base,
					      "--update-baseline", "--fail-on", gate);
	char pid[32];

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "skipped"), "%s", c->out);
	HI_ASSERT(is_same_file(t.a, base));
	c = hi_heapinspect("check", t.b, "--baseline", base, "--update-baseline",
			   "--fail-on", gate);
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "the baseline stays"), "%s", c->out);
	HI_ASSERT(is_same_file(t.a, base));
	c = hi_heapinspect("check", t.b, "--baseline", base, "--update-baseline",
			   "--accept", "--fail-on", gate);
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT(is_same_file(t.b, base));
	/* A process becomes a snapshot of it; a census of many the one of that number. */
	snprintf(pid, sizeof(pid), "--pid=%d", (int)t.fx->pid);
	c = hi_heapinspect("check", pid, "--baseline", base, "--update-baseline",
			   "--fail-on", gate);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_EQ(0, hi_heapinspect("diff", t.b, base)->exit_code);
	base = snapshot_path(t.in, "census.hisnap");
	c = hi_heapinspect("check", HI_SOURCE_DIR "/tests/data/series-v1.hisnap@2",
			   "--baseline", base, "--update-baseline", "--fail-on",
			   "live.bytes < 1");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_EQ(0, check(base, "type(\"struct node\").count != 100", NULL));
	/* Without the option a file that is missing is an error. */
	HI_ASSERT_EQ(2, check(t.a, gate, "/none.hisnap"));
	check_refused(hi_heapinspect("check", t.a, "--update-baseline", "--fail-on",
				     "live.bytes < 1"),
		      "only with --baseline");
	check_refused(
		hi_heapinspect("check", t.a, "--accept", "--fail-on", "live.bytes < 1"),
		"only with --update-baseline");
	check_refused(hi_heapinspect("check", t.a, "--baseline", "/none/x",
				     "--update-baseline", "--fail-on", "live.bytes < 1"),
		      "cannot write");
}

/* What an independent reader of the format understands: a list of gates. */
static json_t *read_report(const char *kind, const char *file)
{
	struct hi_command *c = hi_command_run(
		0, "/usr/bin/python3", HI_SOURCE_DIR "/tests/support/check_oracle.py",
		kind, file, NULL);

	return doc_of(c);
}

/* Hostile names: of a type, and of the file of the target. */
HI_TEST_SCENARIO(check, its_reports_are_what_their_readers_want)
{
	static const char hostile[] = "type(\"a<b&c|`d`,%0A::]]>\").count > 0";
	static const char *const kinds[] = {"junit", "github", "markdown"};
	struct two t = take_two();

	for (size_t i = 0; i < 3; i++) {
		const char *file = snapshot_path(t.in, kinds[i]);
		struct hi_command *c = hi_heapinspect(
			"check", t.b, "-f", kinds[i], "-o", file, "--strict",
			"--allow-missing", "--fail-on", "type(\"struct node\").count > 2",
			"--fail-on", "leak.bytes > 0", "--fail-on", hostile);
		json_t *gates;

		HI_ASSERT_MSG(c->exit_code == 1, "%s", c->err);
		gates = read_report(kinds[i], file);
		HI_ASSERT_STREQ("type(\"struct node\").count > 2",
				doc_text(gates, "0.name"));
		HI_ASSERT_STREQ("failed", doc_text(gates, "0.state"));
		HI_ASSERT_MSG(strstr(doc_text(gates, "0.text"), "2,500 objects"), "%s",
			      doc_text(gates, "0.text"));
		/* Annotations are only of those that failed. */
		HI_ASSERT_EQ(i == 1 ? 2 : 3, json_array_size(gates));
		if (i != 1)
			HI_ASSERT_STREQ("ok", doc_text(gates, "1.state"));
		HI_ASSERT_STREQ(hostile, doc_text(gates, "%d.name", i == 1 ? 1 : 2));
		HI_ASSERT_STREQ("failed", doc_text(gates, "%d.state", i == 1 ? 1 : 2));
		if (i == 2)
			continue;
		HI_ASSERT(strstr(doc_text(gates, "0.text"),
				 "nodes: 2,500 × struct node hold"));
		HI_ASSERT(strstr(doc_text(gates, "0.text"), "Next: heapinspect paths "));
	}
}

/* Beside the report, as options of their own. */
HI_TEST_SCENARIO(check, writes_junit_and_annotations_beside_the_report)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	char *in = snapshot_directory();
	const char *xml = snapshot_path(in, "gates.xml");
	struct hi_command *c = hi_heapinspect(
		"check", file, "--json", "--allow-missing", "--github", "--junit", xml,
		"--fail-on", "leak.bytes > 1", "--fail-on", "type(\"a<b&c\").count > 0");

	HI_ASSERT_EQ(1, c->exit_code);
	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_MSG(strstr(c->err, "::error title=heapinspect%3A leak.bytes > "
				     "1::leak.bytes is 145.3 KiB; the limit is > 1 B"),
		      "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "\n::warning title="), "%s", c->err);
	HI_ASSERT_STREQ("failed", doc_text(read_report("junit", xml), "0.state"));
}

/* A reader of the document compares and adds them. */
HI_TEST_SCENARIO(check, fractions_are_numbers_in_json)
{
	struct two t = take_two();
	struct hi_command *c =
		hi_heapinspect("check", t.b, "--baseline", t.a, "--json", "--fail-on",
			       "growth(type(\"struct node\").count) > 12.5%", "--fail-on",
			       "growth(type(\"struct blob\").bytes) < 0", "--fail-on",
			       "live.bytes / 0 > 1");
	json_t *rows = doc_at(doc_of_exit(c, 1), "rows"), *row = doc_at(rows, "0");
	double grown = (double)(t.after.nodes - t.before.nodes) / (double)t.before.nodes;

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT(doc_real(row, "left") > grown - 1e-9);
	HI_ASSERT(doc_real(row, "left") < grown + 1e-9);
	HI_ASSERT(doc_real(row, "right") == 0.125);
	row = doc_at(rows, "1");
	HI_ASSERT(doc_real(row, "left") < -0.7);
	HI_ASSERT(doc_is_null(rows, "2.left"));
}

/* The example for builds: a service that leaks fails it, one that does not passes. */
HI_TEST_SCENARIO(check, the_example_for_ci_gates_a_service)
{
	char *in = snapshot_directory(), command[1024], load[200];
	const char *gates[] = {"leak.bytes > 0", "leak.bytes > 1GiB\nlive.bytes > 1GiB"};

	for (int i = 0; i < 2; i++) {
		struct hi_command *c;

		snprintf(load, sizeof(load),
			 "until grep -q ready \"%s/out%d/service.log\"; do sleep 0.05; "
			 "done",
			 in, i);
		snprintf(command, sizeof(command),
			 "HEAPINSPECT='%s/heapinspect' GATES='%s' LOAD='%s' "
			 "'%s/examples/ci/heap-gate.sh' '%s/out%d' "
			 "'%s/leak_shapes' acyclic 5",
			 HI_BINARY_DIR, gates[i], load, HI_SOURCE_DIR, in, i,
			 HI_FIXTURE_DIR);
		c = hi_command_run(0, "sh", "-c", command, NULL);
		HI_ASSERT_MSG(c->exit_code == (i == 0), "exit %d: %s%s", c->exit_code,
			      c->out, c->err);
		snprintf(command, sizeof(command),
			 "cd '%s/out%d' && test -s heap.xml && test -s heap.json && "
			 "test -s heap.hisnap",
			 in, i);
		HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	}
}

/* What cannot be compared, or cannot be written, is an error that says why. */
HI_TEST_SCENARIO(check, a_baseline_that_does_not_fit_is_refused)
{
	const char *heap = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	const char *series = HI_SOURCE_DIR "/tests/data/series-v1.hisnap";
	static const char gate[] = "growth(live.bytes) > 1";
	struct hi_command *c =
		hi_heapinspect("check", heap, "--baseline", series, "--fail-on", gate);

	check_refused(c, "another program");
	check_refused(hi_heapinspect("check", series, "--baseline",
				     HI_SOURCE_DIR "/tests/data/series-v1.hisnap@3",
				     "--fail-on", gate),
		      "only sums");
	check_refused(hi_heapinspect("check", series, "--baseline", "/dev/null",
				     "--fail-on", gate),
		      "/dev/null");
	check_refused(hi_heapinspect("check", heap, "--fail-on",
				     "ledger(\"free_tops\").bytes > 1"),
		      "near it: free_top");
	c = hi_command_run(0, "sh", "-c",
			   "\"$0\" check \"$1\" -f markdown --fail-on 'live.bytes > 1' "
			   "> /dev/full",
			   HI_BINARY_DIR "/heapinspect", heap, NULL);
	check_refused(c, "No space left");
}

/* The stack of the frame has a stale word that leads there, too, and is nearer. */
HI_TEST_SCENARIO(diff, growth_in_a_module_has_the_name_of_its_table)
{
	struct hi_fixture *fx = hi_fixture_start(
		"/usr/bin/python3.11", HI_SOURCE_DIR "/fixtures/python/growing.py", NULL);
	char *in = snapshot_directory(), pid[16];
	const char *before = snapshot_path(in, "before.hisnap");
	const char *after = snapshot_path(in, "after.hisnap");
	const struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("snap", "-q", "--pid", pid, "-o", before);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	hi_fixture_tell(fx, "more");
	hi_fixture_read_until(fx, "more", NULL, NULL);
	c = hi_heapinspect("snap", "-q", "--pid", pid, "-o", after);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("diff", before, after, "--width=120");
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "\n  module __main__[\"SESSIONS\"]  "), "%s",
		      c->out);
	c = hi_heapinspect("check", after, "--width=120", "--fail-on",
			   "type(\"__main__.Session\").count > 0");
	HI_ASSERT_MSG(strstr(c->out, "module __main__[\"SESSIONS\"]: 2,000 × "
				     "__main__.Session hold "),
		      "%s", c->out);
}
