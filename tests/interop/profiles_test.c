/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles and gauges as the programs read them that they are for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/readers.h"
#include "tests/support/snapshots.h"

/* A snapshot of a C++ program with containers and leaks. */
static const char *make_snapshot(const char *in)
{
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);

	return snapshot_of_core(core, in, "a.hisnap", NULL);
}

static long long live_bytes(const char *file)
{
	json_t *doc = doc_of(hi_heapinspect("--json", file));

	return doc_number(doc, "bytes.live");
}

/* What stands behind `text` without the commas, or before it: "(1,234 bytes x s". */
static long long number_at(const char *text)
{
	long long n = 0;

	for (; (*text >= '0' && *text <= '9') || *text == ','; text++)
		if (*text != ',')
			n = n * 10 + (*text - '0');
	return n;
}

static void check_pprof(const char *in, const char *file)
{
	const char *pprof = snapshot_path(readers_directory(), "pprof");
	const char *const ask[] = {"python3", HI_SOURCE_DIR "/tests/interop/pprof.py", in,
				   pprof, NULL};

	readers_need("protoc");
	readers_export(file, "pprof", NULL, in, "x.pb.gz");
	HI_ASSERT_EQ(0,
		     hi_heapinspect("--json", file, "-o", snapshot_path(in, "live.json"))
			     ->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("census", "--json", "--top", "1000000", file, "-o",
				       snapshot_path(in, "census.json"))
				->exit_code);
	hi_test_note("%s", readers_ask(ask));
}

HI_TEST_INTEROP(interop_profiles, pprof_is_what_protoc_and_go_read)
{
	char *in = snapshot_directory();

	check_pprof(in, make_snapshot(in));
}

HI_TEST_INTEROP(interop_profiles, pprof_takes_names_that_are_meant_to_do_harm)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("hostile_names", NULL, NULL), in);

	check_pprof(in, snapshot_of_core(core, in, "a.hisnap", NULL));
}

HI_TEST_INTEROP_SLOW(interop_profiles, pprof_of_python_is_what_protoc_and_go_read)
{
	char *in = snapshot_directory();

	check_pprof(in, readers_python(in));
}

/* Every band whole: hp2ps leaves out the small ones otherwise. */
HI_TEST_INTEROP(interop_profiles, hp_is_what_hp2ps_reads)
{
	char *in = snapshot_directory();
	const char *file = make_snapshot(in);
	const char *path = readers_export(file, "hp", NULL, in, "x.hp");
	const char *const ask[] = {"sh",
				   "-c",
				   "cd \"$1\" && \"$0\" -t0 -m0 \"$2\" && cat x.ps",
				   readers_hp2ps(),
				   in,
				   path,
				   NULL};
	const char *area = strstr(readers_ask(ask), " bytes x seconds)");

	HI_ASSERT(area);
	while (area[-1] != '(')
		area--;
	HI_ASSERT_EQ(live_bytes(file), number_at(area));
}

HI_TEST_INTEROP(interop_profiles, massif_is_what_ms_print_reads)
{
	char *in = snapshot_directory();
	const char *file = make_snapshot(in);
	const char *const ask[] = {
		"ms_print", readers_export(file, "massif", NULL, in, "x.massif"), NULL};
	const char *total;

	readers_need("ms_print");
	total = strstr(readers_ask(ask), "100.00% (");
	HI_ASSERT(total);
	HI_ASSERT_EQ(live_bytes(file), number_at(strchr(total, '(') + 1));
}

/* It says what it does not like on stderr. */
HI_TEST_INTEROP(interop_profiles, gauges_are_what_promtool_reads)
{
	char *in = snapshot_directory(), shell[500];
	const char *file = make_snapshot(in);
	const char *path = readers_export(file, "prometheus", NULL, in, "x.prom");
	struct hi_command *c;

	readers_need("promtool");
	snprintf(shell, sizeof(shell), "promtool check metrics < %s", path);
	c = hi_command_run(0, "sh", "-c", shell, NULL);
	HI_ASSERT_MSG(c->exit_code == 0 && !*c->err, "%s", c->err);
	/* It does check: the same with one metric told twice. */
	snprintf(shell, sizeof(shell), "cat %s %s | promtool check metrics", path, path);
	HI_ASSERT(hi_command_run(0, "sh", "-c", shell, NULL)->exit_code != 0);
}

/* How many nodes of 64 bytes tests/data/series-v1.hisnap has in each census, which the
 * program that it was made of said (tests/cli/series_file_test.c). */
static const unsigned series_nodes[] = {10, 100, 40, 60, 20};

static const char *prometheus_of(const char *metrics, const char *in, const char *name)
{
	char shell[800];
	struct hi_command *c;

	snprintf(shell, sizeof(shell),
		 "cd %s && promtool tsdb create-blocks-from openmetrics %s %s >&2 && "
		 "mkdir -p %s/wal %s/chunks_head && promtool tsdb dump %s",
		 in, metrics, name, name, name, name);
	c = hi_command_run(0, "sh", "-c", shell, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

/* "{__name__="…", exe="…", type="…"} VALUE MS", each census at its time. */
static void expect_samples(const char *dump, const char *labels, const uint64_t *values)
{
	uint64_t first = 0, before = 0, ms, value;
	char start[200];
	size_t n = 0;

	snprintf(start, sizeof(start), "{__name__=\"heapinspect_%s} ", labels);
	for (const char *at = dump; (at = strstr(at, start)); n++) {
		at += strlen(start);
		HI_ASSERT_EQ(2, sscanf(at, "%" SCNu64 " %" SCNu64, &value, &ms));
		HI_ASSERT(n < 5);
		HI_ASSERT_EQ(values[n], value);
		first = n ? first : ms;
		HI_ASSERT(ms > before);
		/* One every six seconds. */
		HI_ASSERT(ms - first + 500 > 6000 * n && ms - first < 6000 * n + 500);
		before = ms;
	}
	HI_ASSERT_MSG(n == 5, "%zu of %s in %s", n, start, dump);
}

#define OTHERS(what)                                                                     \
	"type_" what "\", exe=\"growing_service\", pid=\"21325\", type=\"(other)\""
#define PROCESS(what)                                                                    \
	"type_" what "\", exe=\"growing_service\", module=\"growing_service\", "         \
	"pid=\"21325\", "

HI_TEST_INTEROP(interop_profiles, a_series_is_what_a_prometheus_takes)
{
	static const char file[] = HI_SOURCE_DIR "/tests/data/series-v1.hisnap";
	char *in = snapshot_directory();
	const char *path = readers_export(file, "prometheus", NULL, in, "x.om"), *dump;
	uint64_t bytes[5], count[5];

	readers_need("promtool");
	for (size_t i = 0; i < 5; i++) {
		bytes[i] = 64 * series_nodes[i];
		count[i] = series_nodes[i];
	}
	dump = prometheus_of(path, in, "all");
	expect_samples(dump, PROCESS("bytes") "type=\"struct node\"", bytes);
	expect_samples(dump, PROCESS("objects") "type=\"struct node\"", count);
	/* A label that is empty is none. */
	path = snapshot_path(in, "y.om");
	HI_ASSERT_EQ(0, hi_heapinspect("export", file, "-f", "prometheus", "--top", "1",
				       "-o", path)
				->exit_code);
	dump = prometheus_of(path, in, "top");
	HI_ASSERT(!strstr(dump, "struct node"));
	expect_samples(dump, OTHERS("bytes"), bytes);
	expect_samples(dump, OTHERS("objects"), count);
}
