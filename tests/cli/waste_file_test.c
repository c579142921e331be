/* SPDX-License-Identifier: BSD-2-Clause */
/* waste of a snapshot file, without the bytes of objects in it; that it is the same as of
 * the process and of the core: same_answers_test.c. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_format.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/random.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

#define TEXT "a name that many have"
#define SHOWN "\"a name t" /* of it, on a page of 80 columns */
enum { WORDS = 12 };

static json_t *ask(const char *const *words, const char *option, const char *target)
{
	char *argv[WORDS + 6] = {(char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect"),
				 (char *)(uintptr_t) "waste",
				 (char *)(uintptr_t) "--json"};
	size_t n = 3;

	for (size_t i = 0; words[i]; i++)
		argv[n++] = (char *)(uintptr_t)words[i];
	if (option)
		argv[n++] = (char *)(uintptr_t)option;
	argv[n] = (char *)(uintptr_t)target;
	return doc_of(hi_command_runv(0, argv));
}

/* What a file without contents cannot say. */
static json_t *without_texts(json_t *doc)
{
	json_t *group;
	size_t i;

	json_array_foreach(json_object_get(doc, "groups"), i, group)
	{
		json_object_set_new(group, "text", json_null());
		json_object_set_new(group, "cut", json_false());
	}
	return doc;
}

static void check_equal(json_t *a, json_t *b, const char *what)
{
	const char *key;
	json_t *value;

	json_object_foreach(a, key, value)
	{
		if (!json_equal(value, json_object_get(b, key)))
			hi_test_fail(__FILE__, __LINE__,
				     "%s: %s differs:\n%.1500s\n%.1500s", what, key,
				     json_dumps(value, JSON_COMPACT),
				     json_dumps(json_object_get(b, key), JSON_COMPACT));
	}
	HI_ASSERT_EQ(json_object_size(a), json_object_size(b));
}

static const char *snap_of(pid_t pid, const char *in, const char *name,
			   const char *option)
{
	const char *file = snapshot_path(in, name);
	char text[16];
	struct hi_command *c;

	snprintf(text, sizeof(text), "%d", (int)pid);
	c = hi_heapinspect("snap", "-q", "--pid", text, "-o", file, option);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return file;
}

static bool holds(const char *file, const char *text)
{
	return hi_command_run(0, "grep", "-q", text, file, NULL)->exit_code == 0;
}

HI_TEST_SCENARIO(waste_file, has_texts_only_when_contents_were_asked_for)
{
	static const char *const options[] = {NULL, "--redact"};
	char *in = snapshot_directory();
	struct hi_fixture *fx = snapshot_fixture("waste_heap", NULL, NULL);
	struct hi_command *c = hi_heapinspect(
		"waste", snap_of(fx->pid, in, "a.hisnap", "--with-contents"));

	HI_ASSERT(strstr(c->out, SHOWN) && !strstr(c->out, "not in the file"));
	for (size_t i = 0; i < 2; i++) {
		const char *file = snap_of(fx->pid, in, "b.hisnap", options[i]);

		HI_ASSERT(!holds(file, TEXT));
		hi_check_schema(hi_heapinspect("waste", "--json", file), "rows.v1.json");
		c = hi_heapinspect("waste", file);
		HI_ASSERT_EQ(0, c->exit_code);
		HI_ASSERT(!strstr(c->out, SHOWN));
		HI_ASSERT(strstr(c->out, "their contents are not in the file; snap "
					 "--with-contents"));
	}
}

HI_TEST_SCENARIO(waste_file, may_be_one_of_many_censuses)
{
	static const char *const all[] = {"--all", NULL};
	char *in = snapshot_directory(), pid[16], equals[24], which[300];
	struct hi_fixture *fx = snapshot_fixture("waste_heap", NULL, NULL);
	const char *file = snapshot_path(in, "many.hisnap");
	json_t *live, *doc;
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("snap", "-q", "--pid", pid, "-o", file, "--every", "500ms",
			   "--for", "1s");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(equals, sizeof(equals), "--pid=%s", pid);
	live = without_texts(ask(all, NULL, equals));
	snprintf(which, sizeof(which), "%s@first", file);
	doc = ask(all, NULL, which);
	json_object_del(live, "snapshot");
	json_object_del(doc, "snapshot");
	check_equal(json_object_get(live, "live"), json_object_get(doc, "live"), which);
	HI_ASSERT(json_equal(json_object_get(live, "groups"),
			     json_object_get(doc, "groups")));
	HI_ASSERT(
		json_equal(json_object_get(live, "rows"), json_object_get(doc, "rows")));
	HI_ASSERT(json_equal(json_object_get(live, "pages"),
			     json_object_get(doc, "pages")));
	HI_ASSERT_EQ(0, hi_heapinspect("waste", file)->exit_code);
}

HI_TEST_SCENARIO(waste_file, file_of_an_older_writer_is_refused_with_the_reason)
{
	static const char *const old[] = {"v1.hisnap", "v1-packed.hisnap",
					  "v1-contents.hisnap"};

	for (size_t i = 0; i < 3; i++) {
		char path[300];
		struct hi_command *c;

		snprintf(path, sizeof(path), HI_SOURCE_DIR "/tests/data/%s", old[i]);
		c = hi_heapinspect("waste", path);
		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "did not compare contents"), "%s", c->err);
		HI_ASSERT(strchr(c->err, '\n') == c->err + strlen(c->err) - 1);
		HI_ASSERT_EQ(0, hi_heapinspect("census", path)->exit_code);
	}
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

static struct hi_snapshot_section *section(uint8_t *file, const char *name)
{
	struct hi_snapshot_header *h = (void *)file;
	struct hi_snapshot_section *e = (void *)(h + 1);

	for (uint32_t i = 0; i < h->n_sections; i++)
		if (strcmp(e[i].name, name) == 0)
			return &e[i];
	hi_test_fail(__FILE__, __LINE__, "no section %s", name);
}

static const char *const tables[] = {"waste.equal", "waste.used", "waste.texts",
				     "waste.blocks"};

/* A number of one of these tables becomes another, or the table loses its end. */
static void make_up(uint8_t *file, uint64_t *state)
{
	static const uint64_t wicked[] = {0,	      1,	  7,	      255,
					  0x7fffffff, 0xfffffffc, 1ull << 32, UINT64_MAX};
	struct hi_snapshot_section *e = section(file, tables[random_below(state, 4)]);
	size_t width = random_below(state, 2) ? 8 : 4;
	uint64_t value = wicked[random_below(state, 8)];

	HI_ASSERT(e->stored >= 2 * e->item);
	if (random_below(state, 8) == 0)
		e->stored = e->size =
			random_below(state, (uint32_t)(e->size / e->item)) * e->item;
	else
		memcpy(file + e->offset +
			       random_below(state, (uint32_t)(e->stored / width)) * width,
		       &value, width);
	sign(file);
}

struct made_up {
	const char *path;
	uint8_t *whole, *changed;
	size_t size;
	int fd;
};

static struct made_up open_file(const char *path)
{
	struct made_up m = {.path = path, .fd = open(path, O_RDWR | O_CLOEXEC)};
	struct stat st;

	HI_ASSERT(m.fd >= 0 && fstat(m.fd, &st) == 0);
	m.size = (size_t)st.st_size;
	m.whole = malloc(m.size);
	m.changed = malloc(m.size);
	HI_ASSERT(m.whole && m.changed &&
		  pread(m.fd, m.whole, m.size, 0) == (ssize_t)m.size);
	memcpy(m.changed, m.whole, m.size);
	return m;
}

static void close_file(struct made_up *m)
{
	free(m->whole);
	free(m->changed);
	close(m->fd);
}

/* Runs, and starts again with the whole file. */
static struct hi_command *run(struct made_up *m)
{
	sign(m->changed);
	HI_ASSERT(pwrite(m->fd, m->changed, m->size, 0) == (ssize_t)m->size);
	memcpy(m->changed, m->whole, m->size);
	return hi_heapinspect("waste", "--json", "--all", m->path);
}

HI_TEST_SCENARIO(waste_file, forged_tables_are_read_or_refused)
{
	enum { ROUNDS = 40 };
	char *in = snapshot_directory();
	struct hi_fixture *fx = snapshot_fixture("waste_heap", "640", NULL);
	struct made_up m = open_file(snap_of(fx->pid, in, "a.hisnap", "--with-contents"));
	size_t refused = 0;
	uint64_t state = 3;

	for (int i = 0; i < ROUNDS; i++) {
		struct hi_command *c;

		make_up(m.changed, &state);
		c = run(&m);
		HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2, "exit %d: %s",
			      c->exit_code, c->err);
		if (c->exit_code == 0)
			doc_of(c);
		else
			HI_ASSERT_MSG(strstr(c->err, "section waste."), "%s", c->err);
		refused += c->exit_code == 2;
	}
	hi_test_note("%zu of %d refused", refused, ROUNDS);
	HI_ASSERT(refused > ROUNDS / 8 && refused < ROUNDS);
	close_file(&m);
}

static void check_refused(struct made_up *m, const char *word)
{
	struct hi_command *c = run(m);

	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, word), "%s: %s", word, c->err);
}

HI_TEST_SCENARIO(waste_file, with_tables_that_cannot_be_is_refused)
{
	char *in = snapshot_directory();
	struct hi_fixture *fx = snapshot_fixture("waste_heap", "640", NULL);
	struct made_up m = open_file(snap_of(fx->pid, in, "a.hisnap", "--with-contents"));
	struct hi_snapshot_section *e;
	uint32_t *items, i = 0;

	e = section(m.changed, "waste.equal");
	items = (uint32_t *)(void *)(m.changed + e->offset);
	while (items[i] != i) /* the first of its group */
		i++;
	items[i] = i + 1;
	check_refused(&m, "section waste.equal");
	e = section(m.changed, "waste.equal");
	e->size = e->stored -= 4;
	check_refused(&m, "section waste.equal");
	e = section(m.changed, "waste.used");
	items = (uint32_t *)(void *)(m.changed + e->offset);
	items[0] = UINT32_MAX;
	check_refused(&m, "section waste.equal: bytes in use");
	e = section(m.changed, "waste.used");
	memcpy(e->name, "waste.unuse", 12);
	check_refused(&m, "section waste.used: is missing");
	e = section(m.changed, "waste.blocks");
	items = (uint32_t *)(void *)(m.changed + e->offset);
	items[1] = 48;
	check_refused(&m, "section waste.blocks");
	e = section(m.changed, "waste.texts");
	items = (uint32_t *)(void *)(m.changed + e->offset);
	items[1] = UINT32_MAX;
	check_refused(&m, "section waste.texts");
	close_file(&m);
}
