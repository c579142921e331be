/* SPDX-License-Identifier: BSD-2-Clause */
/* Biographies in files (`bio -o`): the same report without the process, restrictions of
 * other commands to bands, and the life of one object. The truth is what the fixture
 * lives was told to do. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* Blocks of their own pages: whether they are used is proved in each period. */
#define BLOCK "400000"
#define ALL_BANDS "void,lag,use,inherent,drag,unused"

struct kept_lives {
	struct lived *l;
	char path[320];
	json_t *live;  /* what the series printed */
	unsigned last; /* census */
};

/* What is proved of each period rests on its pages. */
static void need_pages(const struct kept_lives *k)
{
	json_t *census;
	size_t i;

	json_array_foreach(json_object_get(k->live, "censuses"), i, census)
	{
		if (!json_is_true(json_object_get(census, "pages")))
			HI_SKIP("a period has no evidence from pages");
	}
}

/* At the end young is in USE, dead in DRAG, never in VOID, old is UNUSED. */
static struct kept_lives keep_lives(const char *by)
{
	struct kept_lives k = {};

	snprintf(k.path, sizeof(k.path), "%s/lives.hisnap", workshop_open());
	k.l = lived_start(LIVED("new old " BLOCK),
			  LIVED("-o", k.path, "--by", by, "--bio", ALL_BANDS, "--all"));
	lived_period(k.l, LIVED("new young " BLOCK, "new dead " BLOCK " buf",
				"new never " BLOCK " arena"));
	lived_period(k.l, LIVED("write young", "write dead"));
	lived_period(k.l, LIVED("write dead", "read young"));
	lived_period(k.l, LIVED("write young"));
	/* The census of an exit has no evidence from pages. */
	k.live = lived_interrupt(k.l);
	k.last = (unsigned)json_array_size(json_object_get(k.live, "censuses"));
	need_pages(&k);
	return k;
}

static void forget_document(void *doc)
{
	json_decref(doc);
}

static json_t *read_document(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(forget_document, doc);
	return doc;
}

HI_TEST_ROOT(bio_file, shows_the_figures_of_the_process)
{
	static const char *const ways[] = {"type", "site", "module",
					   "era",  "root", "retainers"};

	for (unsigned i = 0; i < 6; i++) {
		struct kept_lives k = keep_lives(ways[i]);
		struct hi_command *c =
			hi_heapinspect("bio", k.path, "--json", "--by", ways[i], "--bio",
				       ALL_BANDS, "--all");
		json_t *doc = read_document(c);

		hi_check_schema(c, "bio.v1.json");
		HI_ASSERT_MSG(json_equal(k.live, doc), "--by %s: %s\nof the process: %s",
			      ways[i], c->out, k.l->command->out);
		lived_check_invariants(doc);
		lived_check(k.l, doc);
	}
}

/* What is watched are bounds of a random sample: the file has those of the process. */
HI_TEST_ROOT(bio_file, shows_what_was_watched)
{
	struct kept_lives k = {};
	struct hi_command *c;

	snprintf(k.path, sizeof(k.path), "%s/lives.hisnap", workshop_open());
	k.l = lived_start(LIVED("new a 100", "new b 3000"),
			  LIVED("-o", k.path, "--watch", "2"));
	lived_period(k.l, LIVED("read a", "new c 400"));
	lived_period(k.l, LIVED("read a", "read b"));
	lived_period(k.l, LIVED("write c"));
	k.live = lived_end(k.l);
	c = hi_heapinspect("bio", k.path, "--json");
	HI_ASSERT_MSG(json_equal(k.live, read_document(c)), "%s\nof the process: %s",
		      c->out, k.l->command->out);
}

/* Without a recording, of samples, and of what is not freed. */
HI_TEST_ROOT(bio_file, shows_lives_that_are_known_in_other_ways)
{
	static const char *const ways[][2] = {
		{"--sample", "none"}, {"--sample", "1KiB"}, {"--live", "alloc"}};

	for (unsigned i = 0; i < 3; i++) {
		struct hi_fixture *fx = hi_fixture_start("lives", NULL);
		struct hi_command *c;
		char path[320];
		struct lived *l;
		json_t *live;

		hi_fixture_read_until(fx, "ready", NULL, NULL);
		snprintf(path, sizeof(path), "%s/lives.hisnap", workshop_open());
		l = lived_start_program(fx, "period_end",
					LIVED("-o", path, ways[i][0], ways[i][1]));
		lived_period(l, LIVED("list many 3000", "new big " BLOCK));
		lived_period(l, LIVED("write many", "drop big"));
		lived_period(l, LIVED("read many"));
		live = lived_interrupt(l);
		c = hi_heapinspect("bio", path, "--json");
		HI_ASSERT_MSG(json_equal(live, read_document(c)),
			      "%s %s: %s\nof the process: %s", ways[i][0], ways[i][1],
			      c->out, l->command->out);
	}
}

/* ---- restrictions ---- */

static json_t *get_member(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	HI_ASSERT_MSG(value != NULL, "no %s", key);
	return value;
}

static size_t count_of(json_t *object, const char *key)
{
	return (size_t)json_integer_value(get_member(object, key));
}

static json_t *run_restricted(const struct kept_lives *k, const char *command,
			      const char *bands)
{
	struct hi_command *c =
		hi_heapinspect(command, k->path, "--bio", bands, "--json", "--all");

	hi_check_schema(c, "rows.v1.json");
	return read_document(c);
}

/* That `never` was used in the period in which it was written first is not excluded: it
 * is in VOID or in DRAG, and proved to be in both together. */
HI_TEST_ROOT(bio_file, restrictions_leave_the_objects_of_the_bands)
{
	static const char *const words[] = {"void", "use",	 "drag",
					    "lag",  "drag,void", "unused,drag,void"};
	static const char *const names[] = {"", "young",      "dead",
					    "", "dead never", "dead never old"};
	struct kept_lives k = keep_lives("type");

	for (unsigned i = 0; i < 6; i++) {
		json_t *only = get_member(run_restricted(&k, "census", words[i]), "only");
		size_t cost = lived_cost(k.l, names[i]);

		HI_ASSERT_MSG(count_of(only, "bytes") == cost, "--bio %s: %zu, not %zu",
			      words[i], count_of(only, "bytes"), cost);
		HI_ASSERT_EQ(lived_cost(k.l, "young dead never old") - cost,
			     count_of(only, "hidden_bytes"));
	}
	/* What the bands of the last census are, all of them have. */
	HI_ASSERT_EQ(lived_truth(k.l, "drag", k.last, NULL), lived_cost(k.l, "dead"));
	HI_ASSERT_EQ(lived_truth(k.l, "use", k.last, NULL), lived_cost(k.l, "young"));
}

/* What keeps memory that is not used any more. */
HI_TEST_ROOT(bio_file, retainers_are_those_of_what_is_not_used)
{
	struct kept_lives k = keep_lives("root");
	json_t *rows = get_member(run_restricted(&k, "retainers", "drag"), "rows");
	json_t *unused = get_member(run_restricted(&k, "retainers", "unused"), "rows");
	struct hi_command *c;

	HI_ASSERT_EQ(1, json_array_size(rows));
	HI_ASSERT_EQ(lived_cost(k.l, "dead"), count_of(json_array_get(rows, 0), "bytes"));
	HI_ASSERT_EQ(lived_cost(k.l, "old"),
		     count_of(json_array_get(unused, 0), "bytes"));
	c = hi_heapinspect("retainers", k.path, "--bio", "drag");
	HI_ASSERT_MSG(strstr(c->out, "bufs") && !strstr(c->out, "nodes"), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "proved to be DRAG"), "%s", c->out);
}

HI_TEST_ROOT(bio_file, every_report_of_objects_takes_bands)
{
	static const char *const commands[] = {"summary", "census", "retained",
					       "leaks",	  "waste",  "retainers"};
	struct kept_lives k = keep_lives("type");

	for (unsigned i = 0; i < 6; i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], k.path, "--bio", "drag", "--json");

		HI_ASSERT_EQ(lived_cost(k.l, "dead"),
			     count_of(get_member(read_document(c), "only"), "bytes"));
	}
}

/* ---- one object ---- */

static json_t *biography_of(const struct kept_lives *k, const char *name)
{
	char address[32];
	struct hi_command *c;
	json_t *doc;

	snprintf(address, sizeof(address), "0x%lx", lived_find(k->l, name)->address);
	c = hi_heapinspect("explain", address, k->path, "--json");
	hi_check_schema(c, "rows.v1.json");
	doc = read_document(c);
	return get_member(json_array_get(get_member(doc, "rows"), 0), "biography");
}

/* 0: null. */
static size_t period_of(json_t *biography, const char *key)
{
	json_t *period = get_member(biography, key);

	return json_is_null(period) ? 0 : count_of(period, "period");
}

static void expect_periods(json_t *biography, size_t born, size_t first, size_t last,
			   size_t unused, const char *state)
{
	HI_ASSERT_EQ(born, period_of(biography, "born"));
	HI_ASSERT_EQ(first, period_of(biography, "first_use"));
	HI_ASSERT_EQ(last, period_of(biography, "last_use"));
	HI_ASSERT_EQ(unused, period_of(biography, "unused_from"));
	HI_ASSERT_STREQ(state, json_string_value(get_member(biography, "state")));
}

HI_TEST_ROOT(bio_file, explain_shows_the_periods_of_the_commands)
{
	struct kept_lives k = keep_lives("type");
	json_t *dead = biography_of(&k, "dead"), *use = get_member(dead, "last_use");
	struct hi_command *c;
	char address[32];

	HI_ASSERT_EQ(4, k.last);
	expect_periods(dead, 1, 2, 3, 4, "not_used_since");
	expect_periods(biography_of(&k, "young"), 1, 2, 4, 0, "used");
	expect_periods(biography_of(&k, "never"), 1, 0, 0, 2, "no_use_seen");
	expect_periods(biography_of(&k, "old"), 0, 0, 0, 1, "never_used");
	HI_ASSERT_STREQ("contents", json_string_value(get_member(use, "evidence")));
	HI_ASSERT_EQ(count_of(json_array_get(get_member(k.live, "censuses"), 2), "at_ns"),
		     count_of(use, "to_ns"));
	HI_ASSERT_EQ(1, json_array_size(get_member(dead, "bands")));
	HI_ASSERT_STREQ("drag",
			json_string_value(json_array_get(get_member(dead, "bands"), 0)));
	snprintf(address, sizeof(address), "0x%lx", lived_find(k.l, "dead")->address);
	c = hi_heapinspect("explain", address, k.path);
	HI_ASSERT_MSG(strstr(c->out, "DRAG at census 4") && strstr(c->out, "in period 3"),
		      "%s", c->out);
}

/* ---- how it ends ---- */

/* The last census may be half written: those before are there. */
HI_TEST_ROOT(bio_file, is_whole_after_the_command_was_killed)
{
	struct hi_command *c;
	char path[320];
	struct lived *l;
	json_t *doc;
	size_t n;

	snprintf(path, sizeof(path), "%s/lives.hisnap", workshop_open());
	l = lived_start(LIVED("new old " BLOCK), LIVED("-o", path));
	lived_period(l, LIVED("new young " BLOCK));
	lived_period(l, LIVED("write young"));
	lived_period(l, LIVED("read old"));
	recording_end(&l->run, SIGKILL);
	c = hi_heapinspect("bio", path, "--json");
	doc = read_document(c);
	n = json_array_size(get_member(doc, "censuses"));
	HI_ASSERT_MSG(n == 2 || n == 3, "%zu: %s", n, c->err);
	lived_check_invariants(doc);
	lived_check(l, doc);
}

/* What is born in era 0 does not count: it has no band, and no life. */
HI_TEST_ROOT(bio_file, what_does_not_count_has_no_life)
{
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	unsigned long address = 0;
	char path[320], text[32], line[128];
	struct hi_command *c;
	struct lived *l;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(path, sizeof(path), "%s/lives.hisnap", workshop_open());
	l = lived_start_program(fx, "period_end", LIVED("-o", path));
	lived_period(l, LIVED("new counts " BLOCK));
	snprintf(text, sizeof(text), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, hi_heapinspect("era", "--pid", text, "0")->exit_code);
	HI_ASSERT(recording_says(&l->run, "era 0 begins", 60000));
	hi_fixture_tell(fx, "new none " BLOCK);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(1, sscanf(line, "%*s %lx", &address));
	lived_period(l, LIVED());
	lived_period(l, LIVED());
	doc = lived_interrupt(l);
	c = hi_heapinspect("bio", path, "--json");
	HI_ASSERT(json_equal(doc, read_document(c)));
	snprintf(text, sizeof(text), "0x%lx", address);
	c = hi_heapinspect("explain", text, path, "--json");
	doc = json_array_get(get_member(read_document(c), "rows"), 0);
	HI_ASSERT_STREQ("live", json_string_value(get_member(doc, "state")));
	HI_ASSERT(!json_object_get(doc, "biography"));
}

/* ---- what is refused ---- */

static void expect_refusal(const struct hi_command *c, const char *says)
{
	HI_ASSERT_MSG(c->exit_code != 0 && strstr(c->err, says), "exit %d: %s",
		      c->exit_code, c->err);
	HI_ASSERT_STREQ("", c->out);
}

HI_TEST_ROOT(bio_file, other_targets_say_where_biographies_come_from)
{
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	char path[320], pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(path, sizeof(path), "%s/app.hisnap", workshop_open());
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "--pid", pid, "-o", path)->exit_code);
	expect_refusal(hi_heapinspect("retainers", path, "--bio", "drag"),
		       "heapinspect bio --pid N -o FILE");
	expect_refusal(hi_heapinspect("census", path, "--bio", "drag"),
		       "heapinspect bio --pid N -o FILE");
	expect_refusal(hi_heapinspect("bio", path), "heapinspect bio --pid N -o FILE");
	expect_refusal(hi_heapinspect("census", "--pid", pid, "--bio", "drag"),
		       "heapinspect bio --pid N -o FILE");
	expect_refusal(hi_heapinspect("census", path, "--bio", "dark"), "dark");
	expect_refusal(hi_heapinspect("bio", path, "--every", "1s"), "--every");
	expect_refusal(hi_heapinspect("bio", path, "--for", "1s"), "--for");
	expect_refusal(hi_heapinspect("bio", path, "--watch", "1"), "--watch");
	expect_refusal(hi_heapinspect("bio", path, "--live", "alloc"), "--live");
	expect_refusal(hi_heapinspect("bio", path, "--era", "2"), "--era: only with");
	expect_refusal(
		hi_heapinspect("bio", path, "--by", "retainers", "--retainer", "auto"),
		"--retainer: only with --pid");
	expect_refusal(hi_heapinspect("bio", path, "--by", "retainers", "--max-set", "2"),
		       "--max-set: only with --pid");
}
