/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings against what fixtures/recorded_sites.c says that it allocates. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* ---- one recording, and what is asked of its file ---- */

static json_t *ask_checked(struct hi_command *c)
{
	hi_check_schema(c, "rows.v1.json");
	return doc_of(c);
}

#define ASK_FILE(s, ...) ask_checked(hi_heapinspect(__VA_ARGS__, "--json", (s)->file))

static json_t *row_of_site(const json_t *doc, const char *function)
{
	return doc_row(doc_at(doc, "rows"), "site.function", function);
}

static void check_counts_of_functions(const struct recorded_sites *s)
{
	json_t *doc = ask_checked(s->c), *nodes = row_of_site(doc, "make_node");
	json_t *rows = doc_at(doc, "rows");

	HI_ASSERT_EQ(NODES, doc_number(nodes, "objects"));
	HI_ASSERT_EQ(NODES, doc_number(nodes, "allocations"));
	HI_ASSERT_EQ(NODES * NODE, doc_number(nodes, "allocated_bytes"));
	HI_ASSERT_EQ(0, doc_number(nodes, "frees"));
	HI_ASSERT_STREQ("recorded_sites.c", basename(doc_text(nodes, "site.file")));
	/* Neither leaks nor what was freed is live. */
	HI_ASSERT(!doc_find_row(rows, "site.function", "leak_blocks"));
	HI_ASSERT(!doc_find_row(rows, "site.function", "churn_blocks"));
	HI_ASSERT_EQ(BEFORE, doc_number(doc, "before.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.lost"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.missing"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.without_object"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.too_large"));
	HI_ASSERT(doc_number(doc, "recording.frees") >= CHURNED);
}

static void check_the_file_says_the_same(const struct recorded_sites *s)
{
	json_t *now = doc_of(s->c), *then = ASK_FILE(s, "census", "--by", "site");

	HI_ASSERT(json_equal(doc_at(now, "rows"), doc_at(then, "rows")));
	HI_ASSERT(json_equal(doc_at(now, "recording"), doc_at(then, "recording")));
	(void)row_of_site(then, "make_node");
}

/* Joins the functions of a stack from the innermost to the outermost, as "a<b<c". */
static void join_functions(const json_t *row, char *text, size_t size)
{
	json_t *frame;

	text[0] = '\0';
	doc_each (frame, doc_at(row, "frames")) {
		const char *name = json_string_value(doc_find(frame, "function"));
		size_t n = strlen(text);

		snprintf(text + n, size - n, "%s%s", n ? "<" : "", name ? name : "");
	}
}

static void expect_context(const json_t *doc, const char *stack, int objects)
{
	json_t *row;
	long long found = 0;
	char text[1024];

	doc_each (row, doc_at(doc, "rows")) {
		join_functions(row, text, sizeof(text));
		if (strncmp(text, stack, strlen(stack)) == 0)
			found += doc_number(row, "objects");
	}
	HI_ASSERT_MSG(found == objects, "%lld objects by %s", found, stack);
}

static void check_whole_stacks(const struct recorded_sites *s)
{
	json_t *doc = ASK_FILE(s, "census", "--by", "context", "--all");

	expect_context(doc, "xmalloc<make_node<prepend_node<make_first<go<main<", FIRST);
	expect_context(doc, "xmalloc<make_node<prepend_node<make_second<go<main<",
		       SECOND);
	expect_context(doc, "xmalloc<make_node<prepend_node<run_thread<start_thread",
		       THREADED);
}

static void check_threads_are_told_apart(const struct recorded_sites *s)
{
	json_t *doc = ASK_FILE(s, "census", "--by", "thread"), *row;
	long long of_thread = 0, of_main = 0;

	doc_each (row, doc_at(doc, "rows")) {
		long long tid = doc_number(row, "thread");

		of_thread += tid == s->tid ? doc_number(row, "objects") : 0;
		of_main += tid == s->fx->pid ? doc_number(row, "objects") : 0;
	}
	HI_ASSERT_EQ(THREADED, of_thread);
	HI_ASSERT(of_main >= FIRST + SECOND);
}

static void check_groups_by_age(const struct recorded_sites *s)
{
	json_t *doc = ASK_FILE(s, "census", "--by", "age");
	long long objects = doc_sum(doc_at(doc, "rows"), "objects");

	HI_ASSERT_EQ(doc_number(doc, "recorded.objects"), objects);
	HI_ASSERT(objects >= NODES);
}

static void check_functions_that_allocated_leaks(const struct recorded_sites *s)
{
	json_t *doc = ASK_FILE(s, "leaks", "--all"), *root;

	HI_ASSERT_STREQ("leak_blocks", doc_text(doc, "sites.rows.0.site.function"));
	HI_ASSERT_EQ(LEAKED, doc_number(doc, "sites.rows.0.objects"));
	HI_ASSERT_EQ(LEAKED, doc_size(doc, "roots"));
	doc_each (root, doc_at(doc, "roots")) {
		HI_ASSERT_STREQ("leak_blocks",
				doc_text(root, "allocation.site.function"));
		HI_ASSERT_EQ(BLOCK, doc_number(root, "allocation.requested"));
		HI_ASSERT_EQ(s->fx->pid, doc_number(root, "allocation.thread"));
	}
}

static void check_one_object_is_explained(const struct recorded_sites *s)
{
	json_t *birth = doc_at(ASK_FILE(s, "explain", s->node), "rows.0.allocation");
	char text[1024];

	join_functions(birth, text, sizeof(text));
	HI_ASSERT_MSG(
		strncmp(text, "xmalloc<make_node<prepend_node<make_first<go<", 45) == 0,
		"%s", text);
	HI_ASSERT_EQ(NODE, doc_number(birth, "requested"));
	HI_ASSERT_STREQ("before", doc_text(ASK_FILE(s, "explain", s->old),
					   "rows.0.allocation.known"));
}

/* Finds the row whose site, as a text, is of this function. */
static json_t *row_of_named_site(const json_t *rows, const char *start)
{
	json_t *row;

	doc_each (row, rows) {
		const char *site = json_string_value(doc_find(row, "site"));

		if (site && strncmp(site, start, strlen(start)) == 0)
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "no row of %s", start);
}

/* Rows by site are the same objects as rows by type, and the nodes stand at their
 * function: 48 bytes of 56. */
static void check_waste_is_divided_by_site(const struct recorded_sites *s)
{
	static const char *const counts[] = {"identical.copies", "unused.objects",
					     "unused.bytes", "unused.savable",
					     "zero_filled.bytes"};
	json_t *doc = ASK_FILE(s, "waste", "--by", "site", "--all");
	json_t *rows = doc_at(doc, "rows"),
	       *nodes = row_of_named_site(rows, "make_node (");

	for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++)
		HI_ASSERT_EQ(doc_number(doc, "live.%s", counts[k]),
			     doc_sum(rows, counts[k]));
	HI_ASSERT_EQ(NODES, doc_number(nodes, "objects"));
	HI_ASSERT_EQ(NODES * NODE_COST, doc_number(nodes, "bytes"));
	HI_ASSERT_EQ(NODES * 8, doc_number(nodes, "unused.bytes"));
}

/* The lists are chains of 64 bytes a node: the first ones retain the others. */
static void check_retained_sizes_are_divided_by_site(const struct recorded_sites *s)
{
	json_t *doc = ASK_FILE(s, "retained", "--by", "site", "--all");
	json_t *types = doc_at(doc, "types"), *row;

	doc_each (row, types)
		(void)doc_text(row, "site");
	HI_ASSERT_EQ(NODES * NODE_COST,
		     doc_number(row_of_named_site(types, "make_node ("), "retained"));
	HI_ASSERT_EQ(
		BEFORE * NODE_COST,
		doc_number(doc_row(types, "site", "(before the recording)"), "retained"));
}

/* Adds up the bytes of the lines of folded stacks that have both words in this order. */
static long long folded_bytes(const char *text, const char *first, const char *second)
{
	long long sum = 0;

	for (const char *line = text; *line;
	     line += strcspn(line, "\n"), line += !!*line) {
		size_t n = strcspn(line, "\n");
		char copy[4096];
		const char *at, *number;

		snprintf(copy, sizeof(copy), "%.*s", (int)n, line);
		at = strstr(copy, first);
		number = strrchr(copy, ' ');
		if (at && strstr(at, second) && number)
			sum += atoll(number);
	}
	return sum;
}

static void
check_stacks_are_exported_from_the_outermost_on(const struct recorded_sites *s)
{
	struct hi_command *c =
		hi_heapinspect("export", "-f", "folded", "--by", "context", s->file);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_EQ(FIRST * NODE_COST,
		     folded_bytes(c->out, "main;go;make_first;", ";make_node;xmalloc "));
	HI_ASSERT_EQ(SECOND * NODE_COST,
		     folded_bytes(c->out, "main;go;make_second;", ";make_node;xmalloc "));
	HI_ASSERT_EQ(THREADED * NODE_COST,
		     folded_bytes(c->out, "run_thread;", ";make_node;xmalloc "));
	HI_ASSERT_EQ(BEFORE * NODE_COST,
		     folded_bytes(c->out, "(before the recording)", " "));
	c = hi_heapinspect("export", "-f", "csv", "--by", "context", s->file);
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("graph", "--by", "context", s->file);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "make_second"));
}

#define LIVE_OBJECTS(s, ...)                                                             \
	doc_number(doc_of(hi_heapinspect("census", __VA_ARGS__, "--json", (s)->file)),   \
		   "live.objects")

static void check_commands_are_restricted_to_sites(const struct recorded_sites *s)
{
	char tid[24];
	struct hi_command *c;

	snprintf(tid, sizeof(tid), "%ld", s->tid);
	HI_ASSERT_EQ(NODES, doc_number(ASK_FILE(s, "census", "--site", "make_node"),
				       "live.objects"));
	HI_ASSERT_EQ(SECOND, LIVE_OBJECTS(s, "--site-any", "make_sec*"));
	HI_ASSERT_EQ(THREADED, LIVE_OBJECTS(s, "--site", "make_node", "--thread", tid));
	HI_ASSERT_EQ(0, LIVE_OBJECTS(s, "--age", "60min.."));
	HI_ASSERT_EQ(NODES, LIVE_OBJECTS(s, "--born", "..60min", "--site", "make_node"));
	c = hi_heapinspect("--site", "make_node", "--json", s->file);
	HI_ASSERT_EQ(0, c->exit_code);
	hi_check_schema(c, "summary.v1.json");
	HI_ASSERT_EQ(LEAKED,
		     doc_number(doc_of(hi_heapinspect("leaks", "--site", "leak_blocks",
						      "--json", s->file)),
				"leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc_of(hi_heapinspect("leaks", "--site", "make_node",
							 "--json", s->file)),
				   "leaks.objects"));
	c = hi_heapinspect("census", "--site", "no_such_function", s->file);
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("census", "--age", "5", s->file);
	HI_ASSERT_EQ(2, c->exit_code);
}

static void check_a_type_is_broken_down_by_site(const struct recorded_sites *s)
{
	json_t *doc = doc_of(hi_heapinspect("census", "--by", "site", "--type",
					    "struct node", "--json", s->file));

	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
	HI_ASSERT_EQ(NODES, doc_number(row_of_site(doc, "make_node"), "objects"));
	HI_ASSERT_EQ(BEFORE, doc_number(doc, "before.objects"));
}

static void check_retainers_are_named_by_their_sites(const struct recorded_sites *s)
{
	struct hi_command *c = hi_heapinspect("retainers", "--retainer", "struct node",
					      "--identity", "site", s->file);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "make_node (recorded_sites.c:"), "%s", c->out);
}

static void check_recordings_are_compared_by_site(const struct recorded_sites *s)
{
	char later[300];
	struct recording_run run;
	struct hi_command *c;
	json_t *rows;

	snprintf(later, sizeof(later), "%s.later", s->file);
	run = recording_start(s->fx->pid, "-o", later, NULL);
	sites_tell(s->fx, "go");
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	c = hi_heapinspect("diff", "--by", "site", "--json", s->file, later);
	rows = doc_at(doc_of_exit(c, 1), "rows");
	HI_ASSERT_EQ(NODES,
		     doc_number(row_of_named_site(rows, "make_node ("), "born.count"));
	hi_check_schema(c, "rows.v1.json");
}

HI_TEST_ROOT(record, tells_what_each_function_allocated)
{
	struct recorded_sites s = sites_record("--json");

	check_counts_of_functions(&s);
	check_the_file_says_the_same(&s);
	check_whole_stacks(&s);
	check_threads_are_told_apart(&s);
	check_groups_by_age(&s);
	check_functions_that_allocated_leaks(&s);
	check_one_object_is_explained(&s);
	check_waste_is_divided_by_site(&s);
	check_retained_sizes_are_divided_by_site(&s);
	check_stacks_are_exported_from_the_outermost_on(&s);
	check_commands_are_restricted_to_sites(&s);
	check_a_type_is_broken_down_by_site(&s);
	check_retainers_are_named_by_their_sites(&s);
	check_recordings_are_compared_by_site(&s);
}

/* ---- how it ends ---- */

/* --for, without a file. */
HI_TEST_ROOT(record, reports_a_quiet_program)
{
	char pid[16];
	struct recording_run run;
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)sites_start()->pid);
	run = recording_start(atoi(pid), "--for", "300ms", NULL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "allocated in the recording"));
	HI_ASSERT(strstr(c->out, "nothing that was allocated in the recording is live"));
	c = hi_heapinspect("record", "--pid", pid, "--for", "200ms");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "every allocation"), "%s", c->err);
	HI_ASSERT(!strstr(c->out, "sampled"));
}

static struct hi_command *record_without_bpf(const char *pid, const char *option)
{
	return hi_command_run(0, "setpriv", "--bounding-set", "-bpf,-sys_admin",
			      "--inh-caps", "-bpf,-sys_admin",
			      HI_BINARY_DIR "/heapinspect", "record", "--for", "1s",
			      "--pid", pid, option, NULL);
}

/* The words of the kernel are there if it is verbose. */
HI_TEST_ROOT(record, advice_names_the_rights_that_bpf_needs)
{
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)sites_start()->pid);
	c = record_without_bpf(pid, NULL);
	HI_ASSERT_EQ(3, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "CAP_PERFMON"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "snap --every"), "%s", c->err);
	HI_ASSERT_MSG(!strstr(c->err, "the kernel:"), "%s", c->err);
	c = record_without_bpf(pid, "-v");
	HI_ASSERT_EQ(3, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "libbpf: "), "%s", c->err);
}

/* Of the table that is printed where there is no heap; -1: no row of the function. */
static long blocks_of_site(const char *table, const char *function)
{
	char start[64], bytes[32], unit[8];
	const char *row;
	long blocks;

	snprintf(start, sizeof(start), "\n  %s ", function);
	row = strstr(table, start);
	if (!row ||
	    sscanf(row + strlen(start), "%31s %7s %ld", bytes, unit, &blocks) != 3)
		return -1;
	return blocks;
}

/* The new program, which allocates the same way, is not in it. */
static void check_an_exec_leaves_what_the_events_know(struct hi_fixture *fx)
{
	struct recording_run run = recording_start(fx->pid, NULL);
	struct hi_command *c;

	sites_tell(fx, "go");
	hi_fixture_tell(fx, "exec");
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_EQ(NODES, blocks_of_site(c->out, "make_node"));
	HI_ASSERT_EQ(LEAKED, blocks_of_site(c->out, "leak_blocks"));
	HI_ASSERT_MSG(strstr(c->out, "recorded_sites.c:39"), "%s", c->out);
	HI_ASSERT(strstr(c->err, "another program"));
}

static void check_an_end_is_an_error_when_nothing_was_seen(struct hi_fixture *fx)
{
	struct recording_run run = recording_start(fx->pid, NULL);
	struct hi_command *c;

	hi_fixture_tell(fx, "exec");
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "another program"));
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, NULL);
	kill(fx->pid, SIGKILL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(3, c->exit_code);
	HI_ASSERT_STREQ("", c->out);
}

HI_TEST_ROOT(record, ends_with_an_error_when_the_program_is_gone)
{
	struct hi_fixture *fx = sites_start();

	check_an_exec_leaves_what_the_events_know(fx);
	check_an_end_is_an_error_when_nothing_was_seen(fx);
}

/* The tracer sees the death of the inspector, and ends. */
static void await_no_tracer(pid_t pid)
{
	for (int i = 0; i < 1000 && hi_process_status(pid, "TracerPid") != 0; i++)
		usleep(10000);
	HI_ASSERT_EQ(0, hi_process_status(pid, "TracerPid"));
}

static void check_a_target_is_left_alone_by_the_killed(struct hi_fixture *fx)
{
	for (int i = 0; i < 4; i++) {
		struct recording_run run = recording_start(fx->pid, NULL);

		hi_fixture_tell(fx, "churn");
		usleep((useconds_t)i * 1000);
		HI_ASSERT_EQ(128 + SIGKILL, recording_end(&run, SIGKILL)->exit_code);
		hi_fixture_read_until(fx, "done", NULL, NULL);
		await_no_tracer(fx->pid);
	}
}

HI_TEST_ROOT(record, takes_the_census_at_the_exit_of_a_target_whose_recorders_were_killed)
{
	struct hi_fixture *fx = sites_start();
	struct recording_run run;
	json_t *doc;

	check_a_target_is_left_alone_by_the_killed(fx);
	run = recording_start(fx->pid, "--json", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_tell(fx, "quit");
	doc = doc_of(recording_end(&run, 0));
	HI_ASSERT_EQ(NODES, doc_number(row_of_site(doc, "make_node"), "objects"));
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_SCENARIO(record, invalid_options_are_refused)
{
	struct hi_command *c = hi_heapinspect("census", "--by", "age", "--pid", "1");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "heapinspect record"));
	c = hi_heapinspect("record");
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("record", "--children", "--", "true");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "--pid"));
	c = hi_heapinspect("record", "--pid", "999999999");
	HI_ASSERT_EQ(3, c->exit_code);
}

/* fixtures/prefixed_malloc.c: what its own allocator gives is in no block of libc's, so
 * that only totals have it. */
HI_TEST_ROOT(record, follows_an_allocator_whose_functions_have_a_prefix)
{
	enum { OWN = 30, RESIZED = 5, FREED = 10, LIBC = 20 };
	struct hi_fixture *fx = hi_fixture_start("prefixed_malloc", NULL);
	struct recording_run run;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--json", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	doc = doc_of(recording_end(&run, SIGINT));
	HI_ASSERT_EQ(LIBC, doc_number(row_of_site(doc, "fill_libc"), "objects"));
	HI_ASSERT_EQ(OWN + RESIZED + LIBC, doc_number(doc, "recording.allocations"));
	HI_ASSERT_EQ(FREED + RESIZED, doc_number(doc, "recording.frees"));
	HI_ASSERT_EQ(OWN - FREED, doc_number(doc, "recording.without_object"));
}

/* ---- samples ---- */

/* fixtures/sampled_sizes.c: functions, and what is live of each, as the fixture frees
 * every second block. */
static const struct sized_site {
	const char *function;
	long long live, size;
} sized_sites[] = {{"make_16", 100000, 16},  {"make_256", 20000, 256},
		   {"make_4k", 2000, 4096},  {"make_64k", 150, 65536},
		   {"make_1m", 20, 1 << 20}, {"make_4m", 5, 4 << 20}};
enum { SIZED_SITES = sizeof(sized_sites) / sizeof(sized_sites[0]) };

/* In three times the interval of 95 %, about six standard deviations, and its bytes in
 * any case: it can have no more than the block's. */
static void expect_estimate(const json_t *row, const struct sized_site *site)
{
	double cost = (double)site->live * (double)(site->size + 16);
	double low = (double)doc_number(row, "bytes_low");
	double high = (double)doc_number(row, "bytes_high");
	double bytes = (double)doc_number(row, "bytes");

	hi_test_note("%s: %.0f, estimated %.0f (%.0f to %.0f)", site->function, cost,
		     bytes, low, high);
	HI_ASSERT(low <= bytes && bytes <= high);
	HI_ASSERT(cost > bytes - 3 * (bytes - low) - 0.01 * cost);
	HI_ASSERT(cost < bytes + 3 * (high - bytes) + 0.01 * cost);
}

static void check_estimates(json_t *now, const char *file)
{
	struct hi_command *c;
	json_t *doc;

	HI_ASSERT_EQ(65536, doc_number(now, "recording.sample_bytes"));
	doc = ask_checked(
		hi_heapinspect("census", "--by", "site", "--all", "--json", file));
	HI_ASSERT(json_equal(doc_at(now, "rows"), doc_at(doc, "rows")));
	for (size_t i = 0; i < SIZED_SITES; i++)
		expect_estimate(row_of_site(doc, sized_sites[i].function),
				&sized_sites[i]);
	HI_ASSERT_EQ(0, doc_number(doc, "recording.frees_of_unknown"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.missing"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.without_object"));
	HI_ASSERT(doc_number(doc, "without_record.objects") > 100000);
	c = hi_heapinspect("census", "--by", "site", file);
	HI_ASSERT_MSG(strstr(c->out, "64.0 KiB"), "%s", c->out);
	HI_ASSERT(strstr(c->out, "~bytes"));
}

/* How much of a sample's folded stacks is one function's. */
static void check_exported_estimates(const char *file)
{
	struct hi_command *c =
		hi_heapinspect("export", "-f", "folded", "--by", "context", file);
	long long bytes;

	HI_ASSERT_EQ(0, c->exit_code);
	bytes = folded_bytes(c->out, "go;make_256", " ");
	HI_ASSERT_MSG(bytes > 2 << 20 && bytes < 10 << 20, "%lld", bytes);
}

/* Mappings are followed all the time. */
static void check_a_program_that_allocates_often_is_sampled(struct hi_fixture *fx)
{
	struct hi_command *c;
	char pid[16];

	hi_fixture_tell(fx, "spin");
	snprintf(pid, sizeof(pid), "%d", fx->pid);
	c = hi_heapinspect("record", "--pid", pid, "--for", "500ms", "--mappings",
			   "--json");
	HI_ASSERT_MSG(strstr(c->err, "sampling one"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "the probes alone"), "%s", c->err);
	HI_ASSERT(doc_number(doc_of(c), "recording.sample_bytes") >= 4096);
	HI_ASSERT_EQ(0, doc_number(doc_of(c), "recording.lost"));
}

HI_TEST_ROOT(record, estimates_from_samples)
{
	struct hi_fixture *fx = hi_fixture_start("sampled_sizes", NULL);
	struct recording_run run;
	char file[256];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "--sample", "64KiB", "-o", file, "--json", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	check_estimates(ask_checked(recording_end(&run, SIGINT)), file);
	check_exported_estimates(file);
	check_a_program_that_allocates_often_is_sampled(fx);
}

HI_TEST_SCENARIO(record, refuses_distances_that_are_none)
{
	static const char *const wrong[] = {"some", "0", "2GiB", ""};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct hi_command *c =
			hi_heapinspect("record", "--pid", "1", "--sample", wrong[i]);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "512KiB"), "%s", c->err);
	}
}

/* ---- a process that is killed ---- */

HI_TEST_ROOT(record, events_outlive_a_process_that_is_killed)
{
	struct hi_fixture *fx = sites_start();
	struct recording_run run;
	struct hi_command *c;
	json_t *row, *doc;
	char file[256];

	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, NULL);
	sites_tell(fx, "go");
	HI_ASSERT_EQ(0, kill(fx->pid, SIGKILL));
	c = recording_end(&run, 0);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "gone"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "make_node"), "%s", c->out);
	doc = doc_of(hi_heapinspect("alloc", file, "--json", "--all"));
	row = doc_row(doc_at(doc, "functions"), "name", "make_node");
	HI_ASSERT_EQ(NODES, doc_number(row, "alloc.number"));
	HI_ASSERT_EQ(NODES, doc_number(row, "live.number"));
	HI_ASSERT_EQ((long long)NODES * NODE, doc_number(row, "live.size"));
	doc = doc_of(hi_heapinspect(file, "--json"));
	HI_ASSERT_STREQ("events", doc_text(doc, "snapshot.mode"));
	HI_ASSERT(!doc_bool(doc, "snapshot.complete"));
	hi_check_schema_of(doc, "summary.v1.json");
	c = hi_heapinspect("leaks", file);
	HI_ASSERT_MSG(strstr(c->out, "killed"), "%s", c->out);
}
