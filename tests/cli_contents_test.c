/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snap --with-contents: explain shows of a file the values that it shows of the core that
 * the file was made of, object by object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness.h"
#include "tests/support/snapshots.h"

static json_t *explain(const char *address, const char *option, const char *target)
{
	json_t *doc = snapshot_document(
		hi_heapinspect("explain", address, "--json", "--all", target, option));

	return json_array_get(json_object_get(doc, "rows"), 0);
}

static json_t *fields_of_core(const char *address, const char *core)
{
	json_t *doc = snapshot_document(
		hi_heapinspect("explain", address, "--json", "--all", "--core", core));

	return json_object_get(json_array_get(json_object_get(doc, "rows"), 0), "fields");
}

/* Addresses of objects, as export lists them; every nth. */
static size_t list_objects(const char *file, size_t nth, char (*ret)[24], size_t max)
{
	struct hi_command *c = hi_heapinspect("export", "-f", "ndjson", file);
	size_t n = 0, i = 0;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (char *line = strtok(c->out, "\n"); line && n < max;
	     line = strtok(NULL, "\n")) {
		json_t *row = json_loads(line, 0, NULL);
		const char *address = json_string_value(json_object_get(row, "address"));

		if (address && i++ % nth == 0)
			snprintf(ret[n++], sizeof(*ret), "%s", address);
		json_decref(row);
	}
	return n;
}

static void check_objects(const char *file, const char *core, size_t nth)
{
	enum { MOST = 14 };
	char addresses[MOST][24];
	size_t n = list_objects(file, nth, addresses, MOST), values = 0;

	HI_ASSERT(n > 3);
	for (size_t i = 0; i < n; i++) {
		json_t *a = fields_of_core(addresses[i], core);
		json_t *b = json_object_get(explain(addresses[i], NULL, file), "fields");

		HI_ASSERT_MSG(json_equal(a, b), "%s:\n%.900s\n%.900s", addresses[i],
			      json_dumps(a, JSON_COMPACT), json_dumps(b, JSON_COMPACT));
		values += json_array_size(a);
	}
	HI_ASSERT(values >= n);
}

HI_TEST_SCENARIO(contents, of_a_file_are_those_of_the_core)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("secret_heap", "hunter2", NULL), in);
	const char *plain = snapshot_of_core(core, in, "plain.hisnap", "--with-contents");
	struct stat st;

	HI_ASSERT(stat(plain, &st) == 0 && (st.st_mode & 0777) == 0600);
	check_objects(plain, core, 2);
}

HI_TEST_SCENARIO(contents, are_in_the_file_only_when_asked_for)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("secret_heap", "hunter2", NULL), in);
	const char *with = snapshot_of_core(core, in, "with.hisnap", "--with-contents");
	const char *without = snapshot_of_core(core, in, "without.hisnap", NULL);
	char address[1][24], command[200];
	struct hi_command *c;

	HI_ASSERT_EQ(0,
		     hi_command_run(0, "grep", "-q", "hunter2", with, NULL)->exit_code);
	HI_ASSERT_EQ(
		1, hi_command_run(0, "grep", "-q", "hunter2", without, NULL)->exit_code);
	HI_ASSERT_EQ(1, list_objects(without, 1, address, 1));
	c = hi_heapinspect("explain", "--all", address[0], without);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT(!strstr(c->out, "Fields") || strstr(c->out, "--with-contents"));
	c = hi_heapinspect("snap", "--core", core, "--redact", "--with-contents", "-o",
			   with);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "--redact and --with-contents"));
	/* The last page of the file but one is of the contents or behind them. */
	snprintf(command, sizeof(command), "truncate -s -40 '%.150s'", with);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	c = hi_heapinspect("explain", address[0], with);
	HI_ASSERT_EQ(2, c->exit_code);
}

/* Arrays of records, texts, blocks behind cookies, containers. */
HI_TEST_SCENARIO(contents, of_records_of_all_sorts_are_those_of_the_core)
{
	char *in = snapshot_directory(), command[600];
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", "--with-contents");
	const char *packed = snapshot_path(in, "packed.hisnap");

	check_objects(file, core, 397);
	snprintf(command, sizeof(command),
		 "'%s' snap -q --core '%s' --compress --with-contents -o '%s'",
		 HI_BINARY_DIR "/heapinspect", core, packed);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	check_objects(packed, core, 1331);
}
