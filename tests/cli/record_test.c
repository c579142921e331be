/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings against what fixtures/recorded_sites.c says that it allocates. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* Of fixtures/recorded_sites.c. */
enum { BEFORE = 200, FIRST = 500, SECOND = 300, LEAKED = 50, THREADED = 70 };
enum { NODE = 48, BLOCK = 1000, CHURNED = 100000 };

struct recorded_service {
	struct hi_fixture *fx;
	long tid;
	char node[32], old[32], file[256];
	struct hi_command *c; /* of record */
};

static void take_fixture_line(const char *line, void *arg)
{
	struct recorded_service *s = arg;

	(void)sscanf(line, "thread %ld", &s->tid);
	(void)sscanf(line, "node %31s", s->node);
	(void)sscanf(line, "old %31s", s->old);
}

static struct recorded_service record_service(bool churns, const char *option)
{
	struct recorded_service s = {};
	struct recording_run run;

	s.fx = hi_fixture_start("recorded_sites", NULL);
	hi_fixture_read_until(s.fx, "ready", NULL, NULL);
	snprintf(s.file, sizeof(s.file), "%s/app.hirec", workshop_open());
	run = recording_start(s.fx->pid, "-o", s.file, option, NULL);
	hi_fixture_tell(s.fx, "go");
	hi_fixture_read_until(s.fx, "done", take_fixture_line, &s);
	if (churns) {
		hi_fixture_tell(s.fx, "churn");
		hi_fixture_read_until(s.fx, "done", NULL, NULL);
	}
	s.c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(s.c->exit_code == 0, "exit %d: %s", s.c->exit_code, s.c->err);
	return s;
}

static void free_record_document(void *json)
{
	json_decref(json);
}

static json_t *parse_document(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_record_document, doc);
	return doc;
}

static long long number_at(const json_t *doc, const char *first, const char *second)
{
	json_t *object = json_object_get(doc, first);
	json_t *number = second ? json_object_get(object, second) : object;

	HI_ASSERT_MSG(json_is_integer(number), "no number %s.%s", first,
		      second ? second : "");
	return json_integer_value(number);
}

static const char *function_of(const json_t *frame)
{
	const char *name = json_string_value(json_object_get(frame, "function"));

	return name ? name : "";
}

/* NULL: no row has this site. */
static json_t *row_of_site(const json_t *doc, const char *function)
{
	json_t *rows = json_object_get(doc, "rows"), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (strcmp(function_of(json_object_get(row, "site")), function) == 0)
			return row;
	}
	return NULL;
}

static const char *source_of(const json_t *frame)
{
	const char *file = json_string_value(json_object_get(frame, "file"));
	const char *slash = file ? strrchr(file, '/') : NULL;

	return slash ? slash + 1 : file ? file : "";
}

HI_TEST_ROOT(record, counts_what_each_function_allocated)
{
	struct recorded_service s = record_service(true, "--json");
	json_t *doc = parse_document(s.c), *nodes = row_of_site(doc, "make_node");

	HI_ASSERT(nodes != NULL);
	HI_ASSERT_EQ(FIRST + SECOND + THREADED, number_at(nodes, "objects", NULL));
	HI_ASSERT_EQ(FIRST + SECOND + THREADED, number_at(nodes, "allocations", NULL));
	HI_ASSERT_EQ((FIRST + SECOND + THREADED) * NODE,
		     number_at(nodes, "allocated_bytes", NULL));
	HI_ASSERT_EQ(0, number_at(nodes, "frees", NULL));
	HI_ASSERT_STREQ("recorded_sites.c", source_of(json_object_get(nodes, "site")));
	/* Neither leaks nor what was freed is live. */
	HI_ASSERT(row_of_site(doc, "leak_blocks") == NULL);
	HI_ASSERT(row_of_site(doc, "churn_blocks") == NULL);
	HI_ASSERT_EQ(BEFORE, number_at(doc, "before", "objects"));
	HI_ASSERT_EQ(0, number_at(doc, "recording", "lost"));
	HI_ASSERT_EQ(0, number_at(doc, "recording", "missing"));
	HI_ASSERT_EQ(0, number_at(doc, "recording", "without_object"));
	HI_ASSERT_EQ(0, number_at(doc, "recording", "too_large"));
	HI_ASSERT(number_at(doc, "recording", "frees") >= CHURNED);
	hi_check_schema(s.c, "rows.v1.json");
}

HI_TEST_ROOT(record, writes_a_file_that_says_the_same)
{
	struct recorded_service s = record_service(false, "--json");
	json_t *now = parse_document(s.c), *then, *site;
	struct hi_command *c = hi_heapinspect("census", "--by", "site", "--json", s.file);

	then = parse_document(c);
	site = json_object_get(row_of_site(then, "make_node"), "site");
	HI_ASSERT(
		json_equal(json_object_get(now, "rows"), json_object_get(then, "rows")));
	HI_ASSERT(json_equal(json_object_get(now, "recording"),
			     json_object_get(then, "recording")));
	HI_ASSERT_STREQ("make_node", function_of(site));
	hi_check_schema(c, "rows.v1.json");
}

/* The functions of a stack from the innermost to the outermost, as "a<b<c". */
static void join_functions(const json_t *row, char *text, size_t size)
{
	json_t *frame;
	size_t i;

	text[0] = '\0';
	json_array_foreach(json_object_get(row, "frames"), i, frame)
	{
		size_t n = strlen(text);

		snprintf(text + n, size - n, "%s%s", i ? "<" : "", function_of(frame));
	}
}

static void expect_context(const json_t *doc, const char *stack, int objects)
{
	json_t *rows = json_object_get(doc, "rows"), *row;
	long long found = 0;
	char text[1024];
	size_t i;

	json_array_foreach(rows, i, row)
	{
		join_functions(row, text, sizeof(text));
		if (strncmp(text, stack, strlen(stack)) == 0)
			found += number_at(row, "objects", NULL);
	}
	HI_ASSERT_MSG(found == objects, "%lld objects by %s", found, stack);
}

HI_TEST_ROOT(record, knows_whole_stacks)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c =
		hi_heapinspect("census", "--by", "context", "--all", "--json", s.file);
	json_t *doc = parse_document(c);

	expect_context(doc, "xmalloc<make_node<prepend_node<make_first<go<main<", FIRST);
	expect_context(doc, "xmalloc<make_node<prepend_node<make_second<go<main<",
		       SECOND);
	expect_context(doc, "xmalloc<make_node<prepend_node<run_thread<start_thread",
		       THREADED);
	hi_check_schema(c, "rows.v1.json");
}

HI_TEST_ROOT(record, tells_threads_apart)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c =
		hi_heapinspect("census", "--by", "thread", "--json", s.file);
	json_t *doc = parse_document(c), *rows = json_object_get(doc, "rows"), *row;
	long long of_thread = 0, of_main = 0;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		long long tid = number_at(row, "thread", NULL);

		of_thread += tid == s.tid ? number_at(row, "objects", NULL) : 0;
		of_main += tid == s.fx->pid ? number_at(row, "objects", NULL) : 0;
	}
	HI_ASSERT_EQ(THREADED, of_thread);
	HI_ASSERT(of_main >= FIRST + SECOND);
	hi_check_schema(c, "rows.v1.json");
}

HI_TEST_ROOT(record, groups_by_age)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c = hi_heapinspect("census", "--by", "age", "--json", s.file);
	json_t *doc = parse_document(c), *row;
	long long objects = 0;
	size_t i;

	json_array_foreach(json_object_get(doc, "rows"), i, row) objects +=
		number_at(row, "objects", NULL);
	HI_ASSERT_EQ(number_at(doc, "recorded", "objects"), objects);
	HI_ASSERT(objects >= FIRST + SECOND + THREADED);
	hi_check_schema(c, "rows.v1.json");
}

HI_TEST_ROOT(record, names_the_functions_that_allocated_leaks)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c = hi_heapinspect("leaks", "--all", "--json", s.file);
	json_t *doc = parse_document(c), *roots = json_object_get(doc, "roots"), *root;
	json_t *site =
		json_array_get(json_object_get(json_object_get(doc, "sites"), "rows"), 0);
	size_t i;

	HI_ASSERT_STREQ("leak_blocks", function_of(json_object_get(site, "site")));
	HI_ASSERT_EQ(LEAKED, number_at(site, "objects", NULL));
	HI_ASSERT_EQ(LEAKED, (long long)json_array_size(roots));
	json_array_foreach(roots, i, root)
	{
		json_t *birth = json_object_get(root, "allocation");

		HI_ASSERT_STREQ("leak_blocks",
				function_of(json_object_get(birth, "site")));
		HI_ASSERT_EQ(BLOCK, number_at(birth, "requested", NULL));
		HI_ASSERT_EQ(s.fx->pid, number_at(birth, "thread", NULL));
	}
	hi_check_schema(c, "rows.v1.json");
}

HI_TEST_ROOT(record, explains_one_object)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c = hi_heapinspect("explain", "--json", s.node, s.file);
	json_t *doc = parse_document(c), *birth;
	char text[1024];

	birth = json_object_get(json_array_get(json_object_get(doc, "rows"), 0),
				"allocation");
	join_functions(birth, text, sizeof(text));
	HI_ASSERT_MSG(
		strncmp(text, "xmalloc<make_node<prepend_node<make_first<go<", 45) == 0,
		"%s", text);
	HI_ASSERT_EQ(NODE, number_at(birth, "requested", NULL));
	hi_check_schema(c, "rows.v1.json");
	c = hi_heapinspect("explain", "--json", s.old, s.file);
	birth = json_object_get(
		json_array_get(json_object_get(parse_document(c), "rows"), 0),
		"allocation");
	HI_ASSERT_STREQ("before", json_string_value(json_object_get(birth, "known")));
	hi_check_schema(c, "rows.v1.json");
}

HI_TEST_ROOT(record, prints_a_report_without_a_file)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--for", "300ms", NULL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "allocated in the recording"));
	HI_ASSERT(strstr(c->out, "nothing that was allocated in the recording is live"));
}

HI_TEST_ROOT(record, takes_the_census_at_the_exit_of_the_target)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct recording_run run;
	struct hi_command *c;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--json", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_tell(fx, "quit");
	c = recording_end(&run, 0);
	doc = parse_document(c);
	HI_ASSERT_EQ(FIRST + SECOND + THREADED,
		     number_at(row_of_site(doc, "make_node"), "objects", NULL));
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_ROOT(record, ends_with_an_error_when_the_target_is_killed)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, NULL);
	kill(fx->pid, SIGKILL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(3, c->exit_code);
	HI_ASSERT_STREQ("", c->out);
}

HI_TEST_ROOT(record, ends_with_an_error_when_another_program_is_started)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, NULL);
	hi_fixture_tell(fx, "exec");
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "another program"));
}

static long long member_of(const json_t *counts, const char *object, const char *member)
{
	return json_integer_value(
		json_object_get(json_object_get(counts, object), member));
}

/* Rows by site are the same objects as rows by type, and the nodes stand at their
 * function: 48 bytes of 56. */
HI_TEST_ROOT(record, waste_is_divided_by_site)
{
	static const char *const counts[][2] = {{"identical", "copies"},
						{"unused", "objects"},
						{"unused", "bytes"},
						{"unused", "savable"},
						{"zero_filled", "bytes"}};
	struct recorded_service s = record_service(false, "--json");
	struct hi_command *c =
		hi_heapinspect("waste", "--by", "site", "--json", "--all", s.file);
	json_t *doc = parse_document(c), *live = json_object_get(doc, "live"), *row,
	       *nodes = NULL;
	size_t i;

	for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
		long long sum = 0;

		json_array_foreach(json_object_get(doc, "rows"), i, row)
		{
			const char *site =
				json_string_value(json_object_get(row, "site"));

			sum += member_of(row, counts[k][0], counts[k][1]);
			if (site && strncmp(site, "make_node (", 11) == 0)
				nodes = row;
		}
		HI_ASSERT_EQ(member_of(live, counts[k][0], counts[k][1]), sum);
	}
	HI_ASSERT(nodes != NULL);
	HI_ASSERT_EQ(FIRST + SECOND + THREADED, number_at(nodes, "objects", NULL));
	HI_ASSERT_EQ((FIRST + SECOND + THREADED) * 64, number_at(nodes, "bytes", NULL));
	HI_ASSERT_EQ((FIRST + SECOND + THREADED) * 8,
		     number_at(nodes, "unused", "bytes"));
	hi_check_schema(c, "rows.v1.json");
}

/* The lists are chains of 64 bytes a node: the first ones retain the others. */
HI_TEST_ROOT(record, retained_sizes_are_divided_by_site)
{
	struct recorded_service s = record_service(false, "--json");
	struct hi_command *c =
		hi_heapinspect("retained", "--by", "site", "--json", "--all", s.file);
	json_t *doc = parse_document(c), *row;
	long long nodes = 0, before = 0;
	size_t i;

	json_array_foreach(json_object_get(doc, "types"), i, row)
	{
		const char *site = json_string_value(json_object_get(row, "site"));

		HI_ASSERT(site != NULL);
		if (strncmp(site, "make_node (", 11) == 0)
			nodes = number_at(row, "retained", NULL);
		if (strcmp(site, "(before the recording)") == 0)
			before = number_at(row, "retained", NULL);
	}
	HI_ASSERT_EQ((FIRST + SECOND + THREADED) * 64, nodes);
	HI_ASSERT_EQ(BEFORE * 64, before);
	hi_check_schema(c, "rows.v1.json");
}

static struct hi_command *record_without_bpf(const char *option)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	return hi_command_run(0, "setpriv", "--bounding-set", "-bpf,-sys_admin",
			      "--inh-caps", "-bpf,-sys_admin",
			      HI_BINARY_DIR "/heapinspect", "record", "--for", "1s",
			      "--pid", pid, option, NULL);
}

HI_TEST_ROOT(record, says_what_helps_where_bpf_is_not_permitted)
{
	struct hi_command *c = record_without_bpf(NULL);

	HI_ASSERT_EQ(3, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE"), "%s",
		      c->err);
	HI_ASSERT_MSG(strstr(c->err, "snap --every"), "%s", c->err);
	HI_ASSERT_MSG(!strstr(c->err, "the kernel:"), "%s", c->err);
}

HI_TEST_ROOT(record, shows_what_the_kernel_said_if_it_is_verbose)
{
	struct hi_command *c = record_without_bpf("-v");

	HI_ASSERT_EQ(3, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "heapinspect: the kernel: libbpf: "), "%s", c->err);
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
HI_TEST_ROOT(record, an_exec_leaves_what_the_events_know)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	hi_fixture_tell(fx, "exec");
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_EQ(FIRST + SECOND + THREADED, blocks_of_site(c->out, "make_node"));
	HI_ASSERT_EQ(LEAKED, blocks_of_site(c->out, "leak_blocks"));
	HI_ASSERT_MSG(strstr(c->out, "recorded_sites.c:39"), "%s", c->out);
}

/* The tracer sees the death of the inspector, and ends. */
static void await_no_tracer(pid_t pid)
{
	for (int i = 0; i < 1000 && hi_process_status(pid, "TracerPid") != 0; i++)
		usleep(10000);
	HI_ASSERT_EQ(0, hi_process_status(pid, "TracerPid"));
}

HI_TEST_ROOT(record, leaves_a_target_alone_when_it_is_killed)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	for (int i = 0; i < 4; i++) {
		run = recording_start(fx->pid, NULL);
		hi_fixture_tell(fx, "churn");
		usleep((useconds_t)i * 1000);
		c = recording_end(&run, SIGKILL);
		HI_ASSERT_EQ(128 + SIGKILL, c->exit_code);
		hi_fixture_read_until(fx, "done", NULL, NULL);
		await_no_tracer(fx->pid);
	}
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	hi_fixture_tell(fx, "quit");
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_SCENARIO(record, refuses_what_it_cannot_do)
{
	struct hi_command *c = hi_heapinspect("census", "--by", "site", "--pid", "1");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "heapinspect record"));
	c = hi_heapinspect("record");
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("record", "--", "true");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "--pid"));
	c = hi_heapinspect("record", "--pid", "999999999");
	HI_ASSERT_EQ(3, c->exit_code);
}

/* Bytes of the lines of folded stacks that have all of these words in this order. */
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

HI_TEST_ROOT(record, exports_stacks_from_the_outermost_function_on)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c =
		hi_heapinspect("export", "-f", "folded", "--by", "context", s.file);
	enum { NODE_COST = 64 };

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_EQ(FIRST * NODE_COST,
		     folded_bytes(c->out, "main;go;make_first;", ";make_node;xmalloc "));
	HI_ASSERT_EQ(SECOND * NODE_COST,
		     folded_bytes(c->out, "main;go;make_second;", ";make_node;xmalloc "));
	HI_ASSERT_EQ(THREADED * NODE_COST,
		     folded_bytes(c->out, "run_thread;", ";make_node;xmalloc "));
	HI_ASSERT_EQ(BEFORE * NODE_COST,
		     folded_bytes(c->out, "(before the recording)", " "));
	c = hi_heapinspect("export", "-f", "csv", "--by", "context", s.file);
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("graph", "--by", "context", s.file);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "make_second"));
}

static long long objects_in_census(json_t *doc)
{
	return number_at(doc, "live", "objects");
}

HI_TEST_ROOT(record, restricts_other_commands_to_what_a_function_allocated)
{
	struct recorded_service s = record_service(false, NULL);
	char tid[24];
	struct hi_command *c =
		hi_heapinspect("census", "--site", "make_node", "--json", s.file);

	HI_ASSERT_EQ(FIRST + SECOND + THREADED, objects_in_census(parse_document(c)));
	hi_check_schema(c, "rows.v1.json");
	c = hi_heapinspect("census", "--site-any", "make_sec*", "--json", s.file);
	HI_ASSERT_EQ(SECOND, objects_in_census(parse_document(c)));
	snprintf(tid, sizeof(tid), "%ld", s.tid);
	c = hi_heapinspect("census", "--site", "make_node", "--thread", tid, "--json",
			   s.file);
	HI_ASSERT_EQ(THREADED, objects_in_census(parse_document(c)));
	c = hi_heapinspect("census", "--age", "60min..", "--json", s.file);
	HI_ASSERT_EQ(0, objects_in_census(parse_document(c)));
	c = hi_heapinspect("census", "--born", "..60min", "--site", "make_node", "--json",
			   s.file);
	HI_ASSERT_EQ(FIRST + SECOND + THREADED, objects_in_census(parse_document(c)));
	c = hi_heapinspect("--site", "make_node", "--json", s.file);
	HI_ASSERT_EQ(0, c->exit_code);
	hi_check_schema(c, "summary.v1.json");
	c = hi_heapinspect("leaks", "--site", "leak_blocks", "--json", s.file);
	HI_ASSERT_EQ(LEAKED, number_at(parse_document(c), "leaks", "objects"));
	c = hi_heapinspect("leaks", "--site", "make_node", "--json", s.file);
	HI_ASSERT_EQ(0, number_at(parse_document(c), "leaks", "objects"));
	c = hi_heapinspect("census", "--site", "no_such_function", s.file);
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("census", "--age", "5", s.file);
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_ROOT(record, breaks_a_type_down_by_site)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c = hi_heapinspect("census", "--by", "site", "--type",
					      "struct node", "--json", s.file);
	json_t *doc = parse_document(c);

	HI_ASSERT_EQ(1, (long long)json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(FIRST + SECOND + THREADED,
		     number_at(row_of_site(doc, "make_node"), "objects", NULL));
	HI_ASSERT_EQ(BEFORE, number_at(doc, "before", "objects"));
}

HI_TEST_ROOT(record, names_retainers_by_their_sites)
{
	struct recorded_service s = record_service(false, NULL);
	struct hi_command *c = hi_heapinspect("retainers", "--retainer", "struct node",
					      "--identity", "site", s.file);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "make_node (recorded_sites.c:"), "%s", c->out);
}

HI_TEST_ROOT(record, compares_recordings_by_site)
{
	struct recorded_service s = record_service(false, NULL);
	char later[300];
	struct recording_run run;
	struct hi_command *c;
	json_t *doc, *row;
	bool found = false;
	size_t i;

	snprintf(later, sizeof(later), "%s.later", s.file);
	run = recording_start(s.fx->pid, "-o", later, NULL);
	hi_fixture_tell(s.fx, "go");
	hi_fixture_read_until(s.fx, "done", NULL, NULL);
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	c = hi_heapinspect("diff", "--by", "site", "--json", s.file, later);
	HI_ASSERT_EQ(1, c->exit_code);
	c->exit_code = 0;
	doc = parse_document(c);
	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		const char *site = json_string_value(json_object_get(row, "site"));

		if (!site || strncmp(site, "make_node (", 11) != 0)
			continue;
		found = true;
		HI_ASSERT_EQ(FIRST + SECOND + THREADED, number_at(row, "born", "count"));
	}
	HI_ASSERT(found);
	hi_check_schema(c, "rows.v1.json");
}

/* fixtures/prefixed_malloc.c: what its own allocator gives is in no block of libc's, so
 * that only totals have it. */
HI_TEST_ROOT(record, follows_an_allocator_whose_functions_have_a_prefix)
{
	enum { OWN = 30, RESIZED = 5, FREED = 10, LIBC = 20 };
	struct hi_fixture *fx = hi_fixture_start("prefixed_malloc", NULL);
	struct recording_run run;
	struct hi_command *c;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--json", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	doc = parse_document(c);
	HI_ASSERT_EQ(LIBC, number_at(row_of_site(doc, "fill_libc"), "objects", NULL));
	HI_ASSERT_EQ(OWN + RESIZED + LIBC, number_at(doc, "recording", "allocations"));
	HI_ASSERT_EQ(FREED + RESIZED, number_at(doc, "recording", "frees"));
	HI_ASSERT_EQ(OWN - FREED, number_at(doc, "recording", "without_object"));
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

static struct hi_command *record_sizes(const char *file, const char *option)
{
	struct hi_fixture *fx = hi_fixture_start("sampled_sizes", NULL);
	struct recording_run run;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--sample", "64KiB", "-o", file, option, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	return recording_end(&run, SIGINT);
}

/* In three times the interval of 95 %, about six standard deviations, and its bytes in
 * any case: it can have no more than the block's. */
static void expect_estimate(const json_t *row, const struct sized_site *site)
{
	double cost = (double)site->live * (double)(site->size + 16);
	double low = (double)number_at(row, "bytes_low", NULL);
	double high = (double)number_at(row, "bytes_high", NULL);
	double bytes = (double)number_at(row, "bytes", NULL);

	hi_test_note("%s: %.0f, estimated %.0f (%.0f to %.0f)", site->function, cost,
		     bytes, low, high);
	HI_ASSERT(low <= bytes && bytes <= high);
	HI_ASSERT(cost > bytes - 3 * (bytes - low) - 0.01 * cost);
	HI_ASSERT(cost < bytes + 3 * (high - bytes) + 0.01 * cost);
}

HI_TEST_ROOT(record, estimates_from_samples)
{
	char file[256];
	struct hi_command *c;
	json_t *doc, *now;

	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	c = record_sizes(file, "--json");
	now = parse_document(c);
	HI_ASSERT_EQ(65536, number_at(now, "recording", "sample_bytes"));
	hi_check_schema(c, "rows.v1.json");
	c = hi_heapinspect("census", "--by", "site", "--all", "--json", file);
	doc = parse_document(c);
	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT(json_equal(json_object_get(now, "rows"), json_object_get(doc, "rows")));
	for (size_t i = 0; i < SIZED_SITES; i++) {
		json_t *row = row_of_site(doc, sized_sites[i].function);

		HI_ASSERT(row != NULL);
		expect_estimate(row, &sized_sites[i]);
	}
	HI_ASSERT_EQ(0, number_at(doc, "recording", "frees_of_unknown"));
	HI_ASSERT_EQ(0, number_at(doc, "recording", "missing"));
	HI_ASSERT_EQ(0, number_at(doc, "recording", "without_object"));
	HI_ASSERT(number_at(doc, "without_record", "objects") > 100000);
	c = hi_heapinspect("census", "--by", "site", file);
	HI_ASSERT_MSG(strstr(c->out, "every 64.0 KiB on average"), "%s", c->out);
	HI_ASSERT(strstr(c->out, "~bytes"));
}

/* How much of a sample's folded stacks is one function's. */
HI_TEST_ROOT(record, exports_estimates_from_samples)
{
	char file[256];
	struct hi_command *c;
	long long bytes;

	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	HI_ASSERT_EQ(0, record_sizes(file, NULL)->exit_code);
	c = hi_heapinspect("export", "-f", "folded", "--by", "context", file);
	HI_ASSERT_EQ(0, c->exit_code);
	bytes = folded_bytes(c->out, "go;make_256", " ");
	HI_ASSERT_MSG(bytes > 2 << 20 && bytes < 10 << 20, "%lld", bytes);
}

HI_TEST_ROOT(record, records_every_allocation_of_a_quiet_program)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	struct hi_command *c;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", fx->pid);
	c = hi_heapinspect("record", "--pid", pid, "--for", "200ms");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "recording every allocation"), "%s", c->err);
	HI_ASSERT(!strstr(c->out, "sampled"));
}

HI_TEST_ROOT(record, samples_a_program_that_allocates_often)
{
	struct hi_fixture *fx = hi_fixture_start("sampled_sizes", NULL);
	struct hi_command *c;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "spin");
	snprintf(pid, sizeof(pid), "%d", fx->pid);
	c = hi_heapinspect("record", "--pid", pid, "--for", "500ms", "--json");
	HI_ASSERT_MSG(strstr(c->err, "sampling one allocation per"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "the probes alone"), "%s", c->err);
	HI_ASSERT(number_at(parse_document(c), "recording", "sample_bytes") >= 4096);
	HI_ASSERT_EQ(0, number_at(parse_document(c), "recording", "lost"));
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
