/* SPDX-License-Identifier: BSD-2-Clause */
/* Leaks are certain or likely: object by object as leak_verdicts prints them. */
#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/metrics.h"
#include "tests/support/snapshots.h"

enum { MAX_PLANTED = 256 };

struct planted {
	char verdict[16], address[24];
};

struct plan {
	struct planted objects[MAX_PLANTED];
	size_t n;
};

static void take_line(const char *line, void *arg)
{
	struct plan *plan = arg;
	struct planted *p = &plan->objects[plan->n];

	HI_ASSERT(plan->n < MAX_PLANTED);
	plan->n += sscanf(line, "%15s %23s", p->verdict, p->address) == 2;
}

static long long count_planted(const struct plan *plan, const char *verdict)
{
	long long n = 0;

	for (size_t i = 0; i < plan->n; i++)
		n += !strcmp(plan->objects[i].verdict, verdict);
	return n;
}

static struct hi_fixture *start_planted(struct plan *plan)
{
	struct hi_fixture *fx = hi_fixture_start("leak_verdicts", NULL);

	hi_fixture_read_until(fx, "ready", take_line, plan);
	HI_ASSERT(count_planted(plan, "certain") > 50);
	HI_ASSERT(count_planted(plan, "likely") > 5);
	return fx;
}

static const char *pid_text(const struct hi_fixture *fx)
{
	static _Thread_local char text[16];

	snprintf(text, sizeof(text), "%d", (int)fx->pid);
	return text;
}

/* What the table of objects has of an address: "certain", "likely"; "live". */
static void check_object(const struct planted *p, const char *rows)
{
	char key[40];
	const char *row;

	snprintf(key, sizeof(key), "\n%s,", p->address);
	row = strstr(rows, key);
	HI_ASSERT_MSG(row, "no object %s", p->address);
	row += strlen(key);
	HI_ASSERT_MSG(!strncmp(row, p->verdict, strlen(p->verdict)),
		      "%s is %s, not %.10s", p->address, p->verdict, row);
}

HI_TEST_SCENARIO(leak_verdicts, each_object_has_the_verdict_that_was_planted)
{
	static struct plan plan;
	struct hi_fixture *fx = start_planted(&plan);
	struct hi_command *c = hi_heapinspect(
		"query", "--format", "csv", "--all", "--pid", pid_text(fx),
		"SELECT printf('0x%x', address), coalesce(verdict, state) FROM objects");

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (size_t i = 0; i < plan.n; i++)
		check_object(&plan.objects[i], c->out);
}

HI_TEST_SCENARIO(leak_verdicts, reports_and_files_have_both)
{
	static struct plan plan;
	struct hi_fixture *fx = start_planted(&plan);
	const char *file = snapshot_path(snapshot_directory(), "verdicts.hisnap");
	struct hi_command *c = hi_heapinspect("snap", "--pid", pid_text(fx), "-o", file);
	long long certain = count_planted(&plan, "certain");
	long long likely = count_planted(&plan, "likely");

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (int stored = 0; stored < 2; stored++) {
		json_t *doc;

		c = stored ? hi_heapinspect("--json", file)
			   : hi_heapinspect("--json", "--pid", pid_text(fx));
		doc = json_loads(c->out, 0, NULL);
		HI_ASSERT_MSG(doc, "%s", c->err);
		hi_test_defer(free_json, doc);
		HI_ASSERT_EQ(certain, doc_number(doc, "leaks.objects"));
		HI_ASSERT_EQ(likely, doc_number(doc, "leaks.likely_objects"));
		HI_ASSERT_EQ(certain, doc_number(doc, "objects.leak"));
		HI_ASSERT_EQ(likely, doc_number(doc, "objects.likely"));
	}
}

/* From the same heap: bytes of both as the summary has them. */
HI_TEST_SCENARIO(leak_verdicts, series_and_differences_have_both)
{
	static struct plan plan;
	struct hi_fixture *fx = start_planted(&plan);
	const char *file = snapshot_path(snapshot_directory(), "series.hisnap");
	struct hi_command *c = hi_heapinspect("snap", "--pid", pid_text(fx), "-o", file,
					      "--every", "100ms", "--for", "50ms");
	json_t *doc, *diff, *row;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc = doc_of(hi_heapinspect("--json", file));
	HI_ASSERT(doc_number(doc, "leaks.likely_bytes") > 0);
	row = json_array_get(
		json_object_get(doc_of(hi_heapinspect("snapshots", file, "--json")),
				"rows"),
		0);
	diff = doc_of(hi_heapinspect("diff", file, file, "--json"));
	for (int i = 0; i < 2; i++) {
		json_t *sums = i ? json_object_get(diff, "after") : row;

		HI_ASSERT_EQ(
			doc_number(doc, "leaks.bytes"),
			json_integer_value(json_object_get(sums, i ? "leak" : "leaked")));
		HI_ASSERT_EQ(doc_number(doc, "leaks.likely_bytes"),
			     json_integer_value(json_object_get(sums, "likely")));
	}
	c = hi_heapinspect("export", file, "-f", "prometheus");
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_leak_likely_bytes",
					    doc_number(doc, "leaks.likely_bytes")),
		      "%s", c->out);
	c = hi_heapinspect("census", "--pid", pid_text(fx), "--every", "100ms", "--for",
			   "50ms");
	HI_ASSERT_MSG(strstr(c->out, " likely leaked"), "%s", c->out);
}

/* A gate on leak.bytes is one on what is certain. */
HI_TEST_SCENARIO(leak_verdicts, gates_tell_them_apart)
{
	static struct plan plan;
	struct hi_fixture *fx = start_planted(&plan);
	struct hi_command *c;
	char gate[64];

	snprintf(gate, sizeof(gate), "leak.count != %lld",
		 count_planted(&plan, "certain"));
	c = hi_heapinspect("check", "--pid", pid_text(fx), "--fail-on", gate, "--fail-on",
			   "leak.likely > 0");
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "1 of 2 gates failed"), "%s", c->out);
}

HI_TEST_SCENARIO(leak_verdicts, explain_names_the_word_that_leads_there)
{
	static struct plan plan;
	struct hi_fixture *fx = start_planted(&plan);
	bool member = false, variable = false, dead = false;

	for (size_t i = 0; i < plan.n; i++) {
		struct hi_command *c;

		if (strcmp(plan.objects[i].verdict, "likely"))
			continue;
		c = hi_heapinspect("explain", plan.objects[i].address, "--json", "--pid",
				   pid_text(fx));
		HI_ASSERT_MSG(strstr(c->out, "\"verdict\": \"likely\""), "%s", c->out);
		member |= strstr(c->out, "long unsigned int (number) in record") != NULL;
		variable |= strstr(c->out, "in the variable global_number has") != NULL;
		dead |= strstr(c->out, "a dead value *") != NULL;
	}
	HI_ASSERT(member);
	HI_ASSERT(variable);
	HI_ASSERT(dead);
}
