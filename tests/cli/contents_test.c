/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snap --with-contents: explain shows of a file the values that it shows of the core that
 * the file was made of, object by object.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_format.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/python.h"
#include "tests/support/random.h"
#include "tests/support/snapshots.h"

static json_t *explain(const char *address, const char *option, const char *target)
{
	return doc_at(doc_of(hi_heapinspect("explain", address, "--json", "--all", target,
					    option)),
		      "rows.0");
}

static json_t *fields_of_core(const char *address, const char *core)
{
	return doc_at(explain(address, core, "--core"), "fields");
}

/* Lists every nth address of objects as export does, of which there may be a million. */
static size_t list_objects(const char *file, size_t nth, char (*ret)[24], size_t max)
{
	struct hi_command *c = hi_heapinspect("export", "-f", "ndjson", file);
	size_t n = 0, i = 0;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (char *line = strtok(c->out, "\n"); line && n < max;
	     line = strtok(NULL, "\n")) {
		json_t *row = json_loads(line, 0, NULL);
		const char *address = json_string_value(doc_find(row, "address"));

		if (address && i++ % nth == 0)
			snprintf(ret[n++], sizeof(*ret), "%s", address);
		json_decref(row);
	}
	return n;
}

struct python_objects {
	char address[8][24];
	size_t n;
};

static void keep_python_object(const char *line, void *arg)
{
	struct python_objects *o = arg;

	if (line[0] == 'O' && o->n < 8)
		HI_ASSERT_EQ(1, sscanf(line + 2, "%23s", o->address[o->n++]));
}

enum { MOST = 14, FEW = 5 };

/* Every nth object, at most so many. */
static void check_objects(const char *file, const char *core, size_t nth, size_t most)
{
	char addresses[MOST][24];
	size_t n = list_objects(file, nth, addresses, most), values = 0;

	HI_ASSERT(n > 3);
	for (size_t i = 0; i < n; i++) {
		json_t *a = fields_of_core(addresses[i], core);
		json_t *b = doc_at(explain(addresses[i], NULL, file), "fields");

		HI_ASSERT_MSG(json_equal(a, b), "%s:\n%.900s\n%.900s", addresses[i],
			      json_dumps(a, JSON_COMPACT), json_dumps(b, JSON_COMPACT));
		values += json_array_size(a);
	}
	HI_ASSERT(values >= n);
}

HI_TEST_SCENARIO(contents, contents_of_a_file_are_those_of_the_core)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("secret_heap", "hunter2", NULL), in);
	const char *plain = snapshot_of_core(core, in, "plain.hisnap", "--with-contents");
	struct stat st;

	HI_ASSERT(stat(plain, &st) == 0 && (st.st_mode & 0777) == 0600);
	check_objects(plain, core, 2, MOST);
}

HI_TEST_SCENARIO(contents, contents_are_stored_only_when_requested)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("secret_heap", "hunter", "2"), in);
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
HI_TEST_SCENARIO(contents, contents_of_all_kinds_of_records_are_those_of_the_core)
{
	char *in = snapshot_directory(), command[600];
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", "--with-contents");
	const char *packed = snapshot_path(in, "packed.hisnap");

	check_objects(file, core, 397, MOST);
	snprintf(command, sizeof(command),
		 "'%s' snap -q --core '%s' --compress --with-contents -o '%s'",
		 HI_BINARY_DIR "/heapinspect", core, packed);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	/* What is in it is the same; it is unpacked rightly everywhere or nowhere. */
	check_objects(packed, core, 1331, FEW);
}

/* Objects of Python: a descriptor refers to texts and types in the interpreter's file,
 * and into its own type. */
HI_TEST_SCENARIO(contents, fields_of_python_objects_in_a_file_are_those_of_the_core)
{
	static const char program[] =
		"import time\n"
		"class A:\n"
		"  __slots__ = ('x', 'y')\n"
		"a = A(); a.x = [1000, 'two']; a.y = {'k': a.x, 'm': A}\n"
		"for o in A.x, list.append, type.__dict__['__doc__'], a, a.x, a.y, A:\n"
		"  print('O', hex(id(o)))\n"
		"print('ready', flush=True)\n"
		"time.sleep(600)\n";
	char *in = snapshot_directory();
	struct python_objects objects = {};
	struct hi_fixture *fx = hi_fixture_start(PYTHON, "-c", program, NULL);
	const char *core, *file;

	hi_fixture_read_until(fx, "ready", keep_python_object, &objects);
	core = snapshot_core(fx, in);
	file = snapshot_of_core(core, in, "python.hisnap", "--with-contents");
	HI_ASSERT_EQ(7, objects.n);
	for (size_t i = 0; i < objects.n; i++) {
		json_t *a = fields_of_core(objects.address[i], core);
		json_t *b = doc_at(explain(objects.address[i], NULL, file), "fields");

		HI_ASSERT_MSG(json_array_size(a) >= 2 && json_equal(a, b),
			      "%zu:\n%.900s\n%.900s", i, json_dumps(a, JSON_COMPACT),
			      json_dumps(b, JSON_COMPACT));
	}
}

/* A file with contents that the first version with them wrote of fixtures/secret_heap,
 * whose secret was "hunter2", kept: it must be readable for ever. */
HI_TEST_SCENARIO(contents, contents_of_a_kept_file_are_read)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1-contents.hisnap";
	json_t *doc = doc_of(
		hi_heapinspect("census", "--json", "--type", "struct account", file));
	json_t *row = doc_at(doc, "rows.0"), *field;
	char addresses[64][24];
	size_t n = list_objects(file, 1, addresses, 64), accounts = 0;

	HI_ASSERT_EQ(8, doc_number(row, "count"));
	for (size_t k = 0; k < n; k++) {
		json_t *all = explain(addresses[k], NULL, file);

		if (strcmp(doc_text(all, "type"), "struct account") != 0)
			continue;
		accounts++;
		doc_each (field, doc_at(all, "fields")) {
			const char *path = doc_text(field, "path");

			if (strcmp(path, "inside") == 0 || strcmp(path, "tail") == 0)
				HI_ASSERT_STREQ("\"hunter2\"", doc_text(field, "value"));
		}
	}
	HI_ASSERT_EQ(8, accounts);
}

/* ---- made up ---- */

/* Who makes up a file makes up its checksums, too. */
static void sign(uint8_t *file)
{
	struct hi_snapshot_header *h = (void *)file;
	struct hi_snapshot_section *e = (void *)(h + 1);

	for (uint32_t i = 0; i < h->n_sections; i++)
		e[i].hash = XXH3_64bits(file + e[i].offset, e[i].stored);
	h->directory_hash = XXH3_64bits(e, h->n_sections * sizeof(*e));
	h->hash = XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash));
}

/* One number of one of these tables becomes another. */
static const char *make_up(uint8_t *file, uint64_t *state)
{
	static const char *const tables[] = {"retained.tree", "layouts", "fields",
					     "extents", "contents.unread"};
	static const uint64_t wicked[] = {0,	      1,	  7,	      255,
					  0x7fffffff, 0xffffffff, 1ull << 32, UINT64_MAX};
	const char *name = tables[random_below(state, 5)];
	const struct hi_snapshot_header *h = (void *)file;
	const struct hi_snapshot_section *e = (void *)(file + sizeof(*h));
	size_t width = random_below(state, 2) ? 8 : 4;

	for (uint32_t i = 0; i < h->n_sections; i++) {
		uint64_t value = wicked[random_below(state, 8)];

		if (strcmp(e[i].name, name) != 0 || e[i].stored < width)
			continue;
		memcpy(file + e[i].offset +
			       random_below(state, (uint32_t)(e[i].stored / width)) *
				       width,
		       &value, width);
	}
	sign(file);
	return name;
}

/* Sizes are believed: some are greater than what jansson calls an integer. */
static void check_json(const char *text)
{
	json_t *doc = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);

	HI_ASSERT_MSG(doc, "no JSON: %s", text);
	json_decref(doc);
}

HI_TEST_SCENARIO(contents, forged_tables_are_read_or_refused)
{
	enum { ROUNDS = 60 };
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("secret_heap", "hunter2", NULL), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", "--with-contents");
	char addresses[8][24];
	size_t n = list_objects(file, 3, addresses, 8), refused = 0;
	uint64_t state = 11;
	struct stat st;
	int fd = open(file, O_RDWR | O_CLOEXEC);
	uint8_t *whole, *changed;

	HI_ASSERT(n && fd >= 0 && fstat(fd, &st) == 0);
	whole = malloc((size_t)st.st_size);
	changed = malloc((size_t)st.st_size);
	HI_ASSERT(whole && changed &&
		  pread(fd, whole, (size_t)st.st_size, 0) == st.st_size);
	for (int i = 0; i < ROUNDS; i++) {
		const char *table;
		struct hi_command *c;

		memcpy(changed, whole, (size_t)st.st_size);
		table = make_up(changed, &state);
		HI_ASSERT(pwrite(fd, changed, (size_t)st.st_size, 0) == st.st_size);
		c = *table == 'r'
			    ? hi_heapinspect("retained", "--json", file)
			    : hi_heapinspect("explain", "--json",
					     addresses[random_below(&state, (uint32_t)n)],
					     file);
		HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2, "%s: exit %d: %s",
			      table, c->exit_code, c->err);
		if (c->exit_code == 0)
			check_json(c->out);
		else
			HI_ASSERT_MSG(strstr(c->err, "section "), "%s", c->err);
		refused += c->exit_code == 2;
	}
	hi_test_note("%zu of %d refused", refused, ROUNDS);
	HI_ASSERT(refused > 0);
	free(whole);
	free(changed);
	close(fd);
}
