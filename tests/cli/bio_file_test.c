/* SPDX-License-Identifier: BSD-2-Clause */
/* Biographies in files (`bio -o`): the same report without the process, restrictions of
 * other commands to bands, and the life of one object. The truth is what the fixture
 * lives was told to do. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
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

	doc_each (census, doc_at(k->live, "censuses")) {
		if (!doc_bool(census, "pages"))
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
	k.last = (unsigned)doc_size(k.live, "censuses");
	need_pages(&k);
	return k;
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
		json_t *doc = doc_of(c);

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
	HI_ASSERT_MSG(json_equal(k.live, doc_of(c)), "%s\nof the process: %s", c->out,
		      k.l->command->out);
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
		HI_ASSERT_MSG(json_equal(live, doc_of(c)),
			      "%s %s: %s\nof the process: %s", ways[i][0], ways[i][1],
			      c->out, l->command->out);
	}
}

/* ---- restrictions ---- */

static json_t *run_restricted(const struct kept_lives *k, const char *command,
			      const char *bands)
{
	return doc_checked(
		hi_heapinspect(command, k->path, "--bio", bands, "--json", "--all"),
		"rows.v1.json");
}

static void check_restrictions(const struct kept_lives *k)
{
	static const char *const words[] = {"void", "use",	 "drag",
					    "lag",  "drag,void", "unused,drag,void"};
	static const char *const names[] = {"never", "young",	   "dead",
					    "",	     "dead never", "dead never old"};

	for (unsigned i = 0; i < 6; i++) {
		json_t *only = doc_at(run_restricted(k, "census", words[i]), "only");
		long long bytes = doc_number(only, "bytes");
		size_t cost = lived_cost(k->l, names[i]);

		HI_ASSERT_MSG(bytes == (long long)cost, "--bio %s: %lld, not %zu",
			      words[i], bytes, cost);
		HI_ASSERT_EQ(lived_cost(k->l, "young dead never old") - cost,
			     doc_number(only, "hidden_bytes"));
	}
	/* What the bands of the last census are, all of them have. */
	HI_ASSERT_EQ(lived_truth(k->l, "drag", k->last, NULL), lived_cost(k->l, "dead"));
	HI_ASSERT_EQ(lived_truth(k->l, "use", k->last, NULL), lived_cost(k->l, "young"));
}

/* What keeps memory that is not used any more. */
static void check_retainers(const struct kept_lives *k)
{
	json_t *rows = doc_at(run_restricted(k, "retainers", "drag"), "rows");
	json_t *unused = doc_at(run_restricted(k, "retainers", "unused"), "rows");
	struct hi_command *c;

	HI_ASSERT_EQ(1, json_array_size(rows));
	HI_ASSERT_EQ(lived_cost(k->l, "dead"), doc_number(rows, "0.bytes"));
	HI_ASSERT_EQ(lived_cost(k->l, "old"), doc_number(unused, "0.bytes"));
	c = hi_heapinspect("retainers", k->path, "--bio", "drag");
	HI_ASSERT_MSG(strstr(c->out, "bufs") && !strstr(c->out, "nodes"), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "proved to be DRAG"), "%s", c->out);
}

static void check_each_report(const struct kept_lives *k)
{
	static const char *const commands[] = {"summary", "census", "retained",
					       "leaks",	  "waste",  "retainers"};

	for (unsigned i = 0; i < 6; i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], k->path, "--bio", "drag", "--json");

		HI_ASSERT_EQ(lived_cost(k->l, "dead"),
			     doc_number(doc_of(c), "only.bytes"));
	}
}

/* ---- one object ---- */

static json_t *biography_of(const struct kept_lives *k, const char *name)
{
	char address[32];
	json_t *doc;

	snprintf(address, sizeof(address), "0x%lx", lived_find(k->l, name)->address);
	doc = doc_checked(hi_heapinspect("explain", address, k->path, "--json"),
			  "rows.v1.json");
	return doc_at(doc, "rows.0.biography");
}

/* 0: null. */
static size_t period_of(json_t *biography, const char *key)
{
	return doc_is_null(biography, "%s", key)
		       ? 0
		       : (size_t)doc_number(biography, "%s.period", key);
}

static void expect_periods(json_t *biography, size_t born, size_t first, size_t last,
			   size_t unused, const char *state)
{
	HI_ASSERT_EQ(born, period_of(biography, "born"));
	HI_ASSERT_EQ(first, period_of(biography, "first_use"));
	HI_ASSERT_EQ(last, period_of(biography, "last_use"));
	HI_ASSERT_EQ(unused, period_of(biography, "unused_from"));
	HI_ASSERT_STREQ(state, doc_text(biography, "state"));
}

static void check_explained(const struct kept_lives *k)
{
	json_t *dead = biography_of(k, "dead"), *use = doc_at(dead, "last_use");
	struct hi_command *c;
	char address[32];

	HI_ASSERT_EQ(4, k->last);
	expect_periods(dead, 1, 2, 3, 4, "not_used_since");
	expect_periods(biography_of(k, "young"), 1, 2, 4, 0, "used");
	expect_periods(biography_of(k, "never"), 1, 0, 0, 2, "never_used");
	expect_periods(biography_of(k, "old"), 0, 0, 0, 1, "never_used");
	HI_ASSERT_STREQ("contents", doc_text(use, "evidence"));
	HI_ASSERT_EQ(doc_number(k->live, "censuses.2.at_ns"), doc_number(use, "to_ns"));
	HI_ASSERT_EQ(1, doc_size(dead, "bands"));
	HI_ASSERT_STREQ("drag", doc_text(dead, "bands.0"));
	snprintf(address, sizeof(address), "0x%lx", lived_find(k->l, "dead")->address);
	c = hi_heapinspect("explain", address, k->path);
	HI_ASSERT_MSG(strstr(c->out, "DRAG at census 4") && strstr(c->out, "in period 3"),
		      "%s", c->out);
}

HI_TEST_ROOT(bio_file, answers_of_objects_bands_and_lives_as_commanded)
{
	struct kept_lives k = keep_lives("type");

	check_restrictions(&k);
	check_retainers(&k);
	check_each_report(&k);
	check_explained(&k);
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
	doc = doc_of(c);
	n = doc_size(doc, "censuses");
	HI_ASSERT_MSG(n == 2 || n == 3, "%zu: %s", n, c->err);
	lived_check_invariants(doc);
	lived_check(l, doc);
}

/* What is born in era 0 does not count: it has no band, and no life. */
HI_TEST_ROOT(bio_file, objects_of_era_0_have_no_life)
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
	HI_ASSERT(recording_says(&l->run, "era 0 begins", RECORDING_PATIENCE_MS));
	hi_fixture_tell(fx, "new none " BLOCK);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(1, sscanf(line, "%*s %lx", &address));
	lived_period(l, LIVED());
	lived_period(l, LIVED());
	doc = lived_interrupt(l);
	c = hi_heapinspect("bio", path, "--json");
	HI_ASSERT(json_equal(doc, doc_of(c)));
	snprintf(text, sizeof(text), "0x%lx", address);
	c = hi_heapinspect("explain", text, path, "--json");
	doc = doc_at(doc_of(c), "rows.0");
	HI_ASSERT_STREQ("live", doc_text(doc, "state"));
	HI_ASSERT(!doc_find(doc, "biography"));
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

static void expect_of_era(const char *path, const char *eras, size_t bytes)
{
	json_t *doc = doc_checked(
		hi_heapinspect("census", path, "--era", eras, "--json", "--all"),
		"rows.v1.json");

	HI_ASSERT_STREQ(eras, doc_text(doc, "only.era"));
	HI_ASSERT_MSG(doc_number(doc, "only.bytes") == (long long)bytes,
		      "--era %s: %lld, not %zu", eras, doc_number(doc, "only.bytes"),
		      bytes);
}

/* Other commands take --era of it, also an end of which nothing is live. */
HI_TEST_ROOT(bio_file, has_the_eras_in_which_objects_were_born)
{
	struct hi_command *c;
	char path[300];
	struct lived *l;

	snprintf(path, sizeof(path), "%s/eras.hisnap", workshop_open());
	l = lived_start(LIVED("new old 40"), LIVED("-o", path));
	lived_period(l, LIVED("new a 100"));
	lived_begin_era(l, "load");
	lived_period(l, LIVED("new b 300"));
	lived_begin_era(l, "serve");
	lived_period(l, LIVED("new gone 50", "free gone"));
	lived_begin_era(l, "after");
	lived_period(l, LIVED("new d 700"));
	lived_interrupt(l);
	expect_of_era(path, "load", lived_cost(l, "b"));
	expect_of_era(path, "1", lived_cost(l, "old a"));
	expect_of_era(path, "load-serve", lived_cost(l, "b"));
	expect_of_era(path, "2-4", lived_cost(l, "b d"));
	c = hi_heapinspect("census", path, "--era", "lod");
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "no era lod has begun"), "%s",
		      c->err);
}
