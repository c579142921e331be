/* SPDX-License-Identifier: BSD-2-Clause */
/* Two snapshots of a service that says what it holds; gates over them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
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

static void free_json(void *json)
{
	json_decref(json);
}

static json_t *parse(struct hi_command *c, int exit_code)
{
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == exit_code, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT_MSG(doc, "no JSON: %.300s", c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static json_t *row_of(json_t *doc, const char *key, const char *name)
{
	json_t *rows = json_object_get(doc, "rows"), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *text = json_string_value(json_object_get(row, key));

		if (text && strcmp(text, name) == 0)
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "no row with %s = %s", key, name);
}

static long long number(json_t *row, const char *what, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(row, what), key));
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

HI_TEST_SCENARIO(diff, of_one_process_is_what_the_service_did)
{
	struct two t = take_two();
	struct hi_command *c = hi_heapinspect("diff", t.a, t.b, "--json", "--all");
	json_t *doc = parse(c, 1), *node, *blob, *growth;

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_STREQ("address", json_string_value(json_object_get(doc, "matched")));
	node = row_of(doc, "type", "struct node");
	blob = row_of(doc, "type", "struct blob");
	HI_ASSERT_EQ(t.before.nodes, number(node, "before", "count"));
	HI_ASSERT_EQ(t.before.node_bytes, number(node, "before", "bytes"));
	HI_ASSERT_EQ(t.after.nodes, number(node, "after", "count"));
	HI_ASSERT_EQ(t.after.node_bytes, number(node, "after", "bytes"));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, number(node, "born", "count"));
	HI_ASSERT_EQ(0, number(node, "died", "count"));
	HI_ASSERT_EQ(t.before.blobs - t.after.blobs, number(blob, "died", "count"));
	HI_ASSERT_EQ(0, number(blob, "born", "count"));
	growth = json_array_get(json_object_get(doc, "growth"), 0);
	HI_ASSERT_STREQ("nodes", json_string_value(json_object_get(growth, "path")));
	HI_ASSERT_EQ(t.after.node_bytes - t.before.node_bytes,
		     json_integer_value(json_object_get(growth, "bytes")));
	doc = parse(hi_heapinspect("diff", t.a, t.b, "--json", "--by", "root"), 1);
	HI_ASSERT_EQ(t.after.node_bytes,
		     number(row_of(doc, "root", "nodes"), "after", "bytes"));
}

HI_TEST_SCENARIO(diff, of_two_processes_is_by_type_and_way)
{
	struct two t = take_two();
	struct hi_fixture *other = hi_fixture_start("growing_service", NULL);
	json_t *doc, *node;
	const char *c;

	tell(other, NULL);
	tell(other, "nodes 700");
	tell(other, "blobs 5");
	c = snap(other, t.in, "c.hisnap");
	doc = parse(hi_heapinspect("diff", t.b, c, "--json", "--all"), 1);
	HI_ASSERT_STREQ("way", json_string_value(json_object_get(doc, "matched")));
	node = row_of(doc, "type", "struct node");
	HI_ASSERT_EQ(t.after.nodes - 700, number(node, "died", "count"));
	HI_ASSERT_EQ(0, number(node, "born", "count"));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
}

HI_TEST_SCENARIO(diff, without_a_difference_ends_with_0)
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

/* The row of new objects of a type. */
static json_t *new_of(json_t *doc, const char *type)
{
	json_t *rows = json_object_get(doc, "new"), *row;
	size_t i;

	if (!rows)
		rows = json_object_get(doc, "rows"); /* of three heaps */
	json_array_foreach(rows, i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "type")), type) == 0)
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "nothing new of %s", type);
}

static long long value(json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

/* The service adds at the head of a list: the newest one holds all of it. */
HI_TEST_SCENARIO(diff, new_objects_have_a_way_and_what_they_retain)
{
	struct two t = take_two();
	json_t *doc = parse(hi_heapinspect("diff", t.a, t.b, "--json"), 1);
	json_t *node = new_of(doc, "struct node");

	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "new")));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, value(node, "count"));
	HI_ASSERT_EQ(t.after.node_bytes - t.before.node_bytes, value(node, "bytes"));
	HI_ASSERT_EQ(t.after.node_bytes, value(node, "retained"));
	HI_ASSERT_EQ(0, value(node, "leaked"));
	HI_ASSERT_STREQ("nodes", json_string_value(json_object_get(node, "path")));
}

HI_TEST_SCENARIO(diff, rows_by_retainer_set_are_what_each_variable_holds)
{
	struct two t = take_two();
	struct hi_command *c =
		hi_heapinspect("diff", t.a, t.b, "--json", "--by", "retainers");
	json_t *doc = parse(c, 1), *node = row_of(doc, "retainers", "{nodes}"), *blob;

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_EQ(t.before.nodes, number(node, "before", "count"));
	HI_ASSERT_EQ(t.after.node_bytes, number(node, "after", "bytes"));
	HI_ASSERT_EQ(t.after.nodes - t.before.nodes, number(node, "born", "count"));
	blob = row_of(doc, "retainers", "{blobs}");
	HI_ASSERT_EQ(t.before.blobs - t.after.blobs, number(blob, "died", "count"));
	/* Each node but the first is held by another one. */
	doc = parse(hi_heapinspect("diff", t.a, t.b, "--json", "--by", "retainers",
				   "--retainer", "struct node"),
		    1);
	node = row_of(doc, "retainers", "{struct node}");
	HI_ASSERT_EQ(t.before.nodes - 1, number(node, "before", "count"));
	HI_ASSERT_EQ(t.after.nodes - 1, number(node, "after", "count"));
	HI_ASSERT_EQ(1, number(row_of(doc, "retainers", "{nodes}"), "after", "count"));
}

/* Of both heaps only what the root leads to; of a process, too. */
HI_TEST_SCENARIO(diff, under_a_root_is_of_what_it_leads_to)
{
	struct two t = take_two();
	char pid[32];

	snprintf(pid, sizeof(pid), "--pid=%d", (int)t.fx->pid);
	for (int i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect("diff", t.a, i ? pid : t.b, "--root=b=blobs",
				       "--under=b", "--json", "--all");
		json_t *doc = parse(c, 1), *blob = row_of(doc, "type", "struct blob");

		hi_check_schema(c, "rows.v1.json");
		HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
		HI_ASSERT_EQ(t.before.blobs - t.after.blobs,
			     number(blob, "died", "count"));
		HI_ASSERT_EQ(t.after.blob_bytes, number(blob, "after", "bytes"));
		HI_ASSERT_EQ(t.after.blob_bytes, number(doc, "only", "bytes"));
		HI_ASSERT_EQ(t.before.blob_bytes, number(doc, "before", "live"));
		HI_ASSERT_EQ(t.after.blob_bytes, number(doc, "after", "live"));
		HI_ASSERT_EQ(0, number(json_object_get(doc, "all"), "born", "count"));
		HI_ASSERT_EQ(0, json_array_size(json_object_get(doc, "growth")));
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
		json_t *doc = parse(
			hi_heapinspect("diff", i ? some : none, i ? none : some, "--json",
				       "--by", "retainers", "--retainer", "struct blob"),
			1);
		json_t *row = row_of(doc, "retainers", "{struct blob}");

		HI_ASSERT_EQ(3, number(row, i ? "died" : "born", "count"));
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
	doc = parse(hi_heapinspect("diff", t.b, c, "--json", "--all"), 1);
	HI_ASSERT_STREQ("way", json_string_value(json_object_get(doc, "matched")));
	HI_ASSERT_EQ(t.after.blobs,
		     number(row_of(doc, "type", "struct blob"), "died", "count"));
	/* As many nodes as before are no difference. */
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
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
	doc = parse(hi_heapinspect("diff", t.b, c, "--json", "--all"), 1);
	HI_ASSERT_STREQ("way", json_string_value(json_object_get(doc, "matched")));
	HI_ASSERT_EQ(100, number(row_of(doc, "type", "struct node"), "died", "count"));
	HI_ASSERT_EQ(0, number(row_of(doc, "type", "struct node"), "born", "count"));
	HI_ASSERT_EQ(1, number(row_of(doc, "type", "struct blob"), "born", "count"));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "growth")));
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

	HI_ASSERT_EQ(after.nodes - l->warm_held.nodes, value(node, "count"));
	HI_ASSERT_EQ(l->load_held.nodes - l->warm_held.nodes, value(node, "born"));
	HI_ASSERT_EQ(after.node_bytes, value(node, "retained"));
	HI_ASSERT_STREQ("nodes", json_string_value(json_object_get(node, "path")));
	HI_ASSERT_EQ(after.blobs - l->warm_held.blobs, value(blob, "count"));
	HI_ASSERT_EQ(l->load_held.blobs - l->warm_held.blobs, value(blob, "born"));
	HI_ASSERT_EQ(bytes, number(doc, "survived", "bytes"));
	HI_ASSERT_EQ(l->load_held.nodes - l->warm_held.nodes + l->load_held.blobs -
			     l->warm_held.blobs,
		     number(doc, "born", "count"));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(2, json_array_size(json_object_get(doc, "growth")));
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
	doc = parse(c, 1);
	hi_check_schema(c, "rows.v1.json");
	check_survived(doc, &l, after);
	doc = json_object_get(doc, "matched");
	HI_ASSERT_STREQ("address", json_string_value(json_object_get(doc, "load")));
	HI_ASSERT_STREQ("address", json_string_value(json_object_get(doc, "after")));
	doc = parse(hi_heapinspect("diff", "--three", l.warm, l.load, "--pid", pid,
				   "--json", "--root=n=nodes", "--under=n"),
		    1);
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(70, value(new_of(doc, "struct node"), "count"));
	HI_ASSERT_EQ(200, value(new_of(doc, "struct node"), "born"));
	/* The last may be a file, too. */
	c = hi_heapinspect("diff", "--json", l.warm, l.load,
			   snap(l.fx, l.in, "after.hisnap"), "--three");
	check_survived(parse(c, 1), &l, after);
	/* All that came under load is gone, and what was there before is not told. */
	tell(l.fx, "nodes 100");
	tell(l.fx, "blobs 5");
	c = hi_heapinspect("diff", "--three", l.warm, l.load, "--pid", pid);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "Nothing survived: all 245 objects"), "%s", c->out);
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
	doc = parse(hi_heapinspect("diff", "--three", l.warm, l.load,
				   snap(other, l.in, "after.hisnap"), "--json"),
		    1);
	check_survived(doc, &l, after);
	doc = json_object_get(doc, "matched");
	HI_ASSERT_STREQ("address", json_string_value(json_object_get(doc, "load")));
	HI_ASSERT_STREQ("way", json_string_value(json_object_get(doc, "after")));
}

static void check_refused(struct hi_command *c, const char *word)
{
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, word), "%s", c->err);
}

HI_TEST_SCENARIO(diff, wrong_words_are_refused)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	struct two t = take_two();

	check_refused(hi_heapinspect("diff"), "two snapshot files");
	check_refused(hi_heapinspect("diff", t.a), "no target");
	check_refused(hi_heapinspect("diff", t.a, t.b, t.b), "one target");
	check_refused(hi_heapinspect("diff", t.a, t.b, t.b), "--three");
	check_refused(hi_heapinspect("diff", t.a, t.b, "--by", "site"),
		      "needs allocation events");
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
	HI_ASSERT_EQ(1, check(t.b, "snapshot.pause > 1us", NULL));
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
	/* Nor is a gate that can never fail. */
	check_refused(
		hi_heapinspect("check", file, "--fail-on", "root(\"nope\").retained > 0"),
		"no variable has the name nope");
	c = hi_heapinspect("check", file, "--fail-on", "type(\"nope\").count > 0");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "no object has the type nope"), "%s", c->out);
}

/* What a process knows of its types and modules, a file does not. */
HI_TEST_SCENARIO(check, misspelt_names_are_no_gates)
{
	struct two t = take_two();
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)t.fx->pid);
	check_refused(hi_heapinspect("check", "--pid", pid, "--fail-on",
				     "root(\"blobz\").retained > 1"),
		      "near it: blobs");
	check_refused(hi_heapinspect("check", t.b, "--baseline", t.a, "--fail-on",
				     "growth(root(\"blobz\").retained) > 1"),
		      "no variable has the name blobz");
	check_refused(hi_heapinspect("check", "--pid", pid, "--fail-on",
				     "type(\"struct nodde\").count > 1"),
		      "near it: struct node");
	check_refused(hi_heapinspect("check", t.b, "--fail-on",
				     "module(\"growing_servise\").count > 1"),
		      "growing_service");
	/* There are such, and no object has or is of them. */
	HI_ASSERT_EQ(0, hi_heapinspect("check", "--pid", pid, "--fail-on",
				       "type(\"struct timespec\").count > 0", "--fail-on",
				       "module(\"libc.so.6\").count > 100")
				->exit_code);
}

HI_TEST_SCENARIO(check, its_reports_are_what_their_readers_want)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	const char *xml = snapshot_path(snapshot_directory(), "gates.xml");
	struct hi_command *c = hi_heapinspect(
		"check", file, "--json", "--github", "--junit", xml, "--fail-on",
		"leak.bytes > 1%", "--fail-on", "type(\"a<b&c\").count > 0");
	char program[512];

	HI_ASSERT_EQ(1, c->exit_code);
	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_MSG(strstr(c->err, "::error title=heapinspect check::leak.bytes > 1%25 "
				     "(148784 > 0.01)\n"),
		      "%s", c->err);
	snprintf(program, sizeof(program),
		 "import xml.etree.ElementTree as t\n"
		 "r = t.parse('%s').getroot()\n"
		 "s = r.find('testsuite')\n"
		 "assert (s.get('tests'), s.get('failures')) == ('2', '1')\n"
		 "c = s.findall('testcase')\n"
		 "assert c[0].get('name') == 'leak.bytes > 1%%' and "
		 "c[0].find('failure') is not None\n"
		 "assert c[1].get('name') == 'type(\"a<b&c\").count > 0' and "
		 "c[1].find('failure') is None\n",
		 xml);
	c = hi_command_run(0, "/usr/bin/python3", "-c", program, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
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
