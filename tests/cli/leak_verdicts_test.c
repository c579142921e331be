/* SPDX-License-Identifier: BSD-2-Clause */
/* Leaks are certain or likely: object by object as leak_verdicts prints them. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/metrics.h"
#include "tests/support/targets.h"

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

static void check_each_object_has_the_verdict_that_was_planted(const struct target *t,
							       const struct plan *plan)
{
	struct hi_command *c = target_run(
		t, "query", "--format", "csv", "--all",
		"SELECT printf('0x%x', address), coalesce(verdict, state) FROM objects");

	for (size_t i = 0; i < plan->n; i++)
		check_object(&plan->objects[i], c->out);
}

static void check_summary_has_both(json_t *doc, const struct plan *plan)
{
	long long certain = count_planted(plan, "certain");
	long long likely = count_planted(plan, "likely");

	HI_ASSERT_EQ(certain, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(likely, doc_number(doc, "leaks.likely_objects"));
	HI_ASSERT_EQ(certain, doc_number(doc, "objects.leak"));
	HI_ASSERT_EQ(likely, doc_number(doc, "objects.likely"));
}

/* From the same heap: bytes of both as the summary has them. */
static void check_series_and_differences_have_both(const struct target *t,
						   const struct plan *plan)
{
	const char *file = target_snap(t, "--every", "100ms", "--for", "50ms");
	json_t *doc = doc_of(hi_heapinspect("--json", file));
	json_t *row =
		doc_at(doc_of(hi_heapinspect("snapshots", file, "--json")), "rows.0");
	json_t *after =
		doc_at(doc_of(hi_heapinspect("diff", file, file, "--json")), "after");
	long long certain = doc_number(doc, "leaks.bytes");
	long long likely = doc_number(doc, "leaks.likely_bytes");
	struct hi_command *c = hi_heapinspect("export", file, "-f", "prometheus");

	check_summary_has_both(doc, plan);
	HI_ASSERT(likely > 0);
	HI_ASSERT_EQ(certain, doc_number(row, "leaked"));
	HI_ASSERT_EQ(likely, doc_number(row, "likely"));
	HI_ASSERT_EQ(certain, doc_number(after, "leak"));
	HI_ASSERT_EQ(likely, doc_number(after, "likely"));
	HI_ASSERT_MSG(
		hi_metrics_have_value(c->out, "heapinspect_leak_likely_bytes", likely),
		"%s", c->out);
	c = target_run(t, "census", "--every", "100ms", "--for", "50ms");
	HI_ASSERT_MSG(strstr(c->out, " likely leaked"), "%s", c->out);
}

/* A gate on leak.bytes is one on what is certain. */
static void check_gates_tell_them_apart(const struct target *t, const struct plan *plan)
{
	struct hi_command *c;
	char gate[64];

	snprintf(gate, sizeof(gate), "leak.count != %lld",
		 count_planted(plan, "certain"));
	c = hi_heapinspect("check", "--pid", t->pid, "--fail-on", gate, "--fail-on",
			   "leak.likely > 0");
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "1 of 2"), "%s", c->out);
}

static void check_explain_names_the_word_that_leads_there(const struct target *t,
							  const struct plan *plan)
{
	bool member = false, variable = false, dead = false;

	for (size_t i = 0; i < plan->n; i++) {
		struct hi_command *c;

		if (strcmp(plan->objects[i].verdict, "likely"))
			continue;
		c = target_run(t, "explain", plan->objects[i].address, "--json");
		HI_ASSERT_MSG(strstr(c->out, "\"verdict\": \"likely\""), "%s", c->out);
		member |= strstr(c->out, "long unsigned int (number) in record") != NULL;
		variable |= strstr(c->out, "in the variable global_number has") != NULL;
		dead |= strstr(c->out, "a dead value *") != NULL;
	}
	HI_ASSERT(member);
	HI_ASSERT(variable);
	HI_ASSERT(dead);
}

HI_TEST_SCENARIO(leak_verdicts, verdicts_are_those_of_the_planted_leaks)
{
	struct target *t = target_start("leak_verdicts", NULL);
	static struct plan plan;

	target_each_line(t, take_line, &plan);
	HI_ASSERT(count_planted(&plan, "certain") > 50);
	HI_ASSERT(count_planted(&plan, "likely") > 5);
	check_each_object_has_the_verdict_that_was_planted(t, &plan);
	check_summary_has_both(target_ask(t), &plan);
	check_series_and_differences_have_both(t, &plan);
	check_gates_tell_them_apart(t, &plan);
	check_explain_names_the_word_that_leads_there(t, &plan);
}
