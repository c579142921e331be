/* SPDX-License-Identifier: BSD-2-Clause */
/* `bio` as a command: its options, eras, the heap profile, its page, and Python. What it
 * says of lives is in bio_lives_test.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/python.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

enum { CELLS = 2000 };

#define ALL_BANDS "void,lag,use,inherent,drag,unused"

/* ---- options ---- */

HI_TEST_SCENARIO(bio, wrong_arguments_are_named)
{
	struct hi_command *c =
		hi_heapinspect("bio", "--pid", "1", "--bio", "drag,resting");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "\"resting\" is no band") &&
			      strstr(c->err, "inherent"),
		      "%s", c->err);
	c = hi_heapinspect("bio", "--pid", "1", "--bio", "");
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("bio", "--pid", "1", "--live", "most");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "reach") && strstr(c->err, "alloc"), "%s", c->err);
	c = hi_heapinspect("bio", "--pid", "1", "--by", "colour");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "era"), "%s", c->err);
	c = hi_heapinspect("bio", "--pid", "1", "--era", "4-2");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "era 4"), "%s", c->err);
	c = hi_heapinspect("bio", "--pid", "1", "--era", "load-");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "not FROM or FROM-TO"), "%s", c->err);
	c = hi_heapinspect("bio", "--pid", "1", "--max-set", "3", "--by", "root");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--by retainers"), "%s", c->err);
	c = hi_heapinspect("bio", "--pid", "1", "--every", "10MiB");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "not a time"), "%s", c->err);
}

static const char *start_lives(void)
{
	static char pid[16];
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	char line[64];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	for (int i = 0; i < 20; i++) {
		snprintf(line, sizeof(line), "new object%d %d %s", i, 100 + i,
			 i % 2 ? "buf" : "node");
		hi_fixture_tell(fx, line);
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	}
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	return pid;
}

HI_TEST_ROOT(bio, a_type_that_the_program_does_not_have_is_an_error)
{
	const char *pid = start_lives();
	struct hi_command *c = hi_heapinspect("bio", "--pid", pid, "--every", "50ms",
					      "--for", "2s", "--inherent", "struct bufs");

	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "struct bufs") && strstr(c->err, "struct buf"), "%s",
		      c->err);
	HI_ASSERT_EQ(0, c->out_size);
}

/* Alone or in a list, and as the only one of which something is there. */
HI_TEST_ROOT(bio, types_that_may_come_need_no_object_yet)
{
	static const char *const names[] = {"struct aren*", "arena*, struct arena",
					    "struct arena, no_such_*"};
	const char *pid = start_lives();

	for (unsigned i = 0; i < 3; i++) {
		struct hi_command *c =
			hi_heapinspect("bio", "--pid", pid, "--every", "100ms", "--for",
				       "250ms", "--inherent", names[i]);

		HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", names[i], c->err);
	}
}

static json_t *read_bio(const struct hi_command *c)
{
	json_t *doc = doc_checked(c, "bio.v1.json");

	lived_check_invariants(doc);
	return doc;
}

HI_TEST_ROOT(bio, periods_shorter_than_a_census_are_stretched)
{
	const char *pid = start_lives();
	struct hi_command *c = hi_heapinspect("bio", "--pid", pid, "--every", "1ms",
					      "--for", "500ms", "--json");
	json_t *doc = read_bio(c);

	HI_ASSERT_MSG(strstr(c->err, "longer than --every"), "%s", c->err);
	HI_ASSERT(doc_size(doc, "censuses") > 0);
	HI_ASSERT(doc_size(doc, "censuses") < 500);
}

/* A period of some milliseconds at the end would have what is used all the time as not
 * used any more. */
HI_TEST_ROOT(bio, a_signal_soon_after_a_census_makes_no_short_period)
{
	pid_t target = (pid_t)atoi(start_lives());
	struct recording_run run =
		recording_start_as("bio", "the first period begins", target,
				   LIVED("--every", "2s", "--for", "60s", "--json"));
	struct hi_command *c;
	json_t *censuses;

	HI_ASSERT(recording_says(&run, "(provisional)", RECORDING_PATIENCE_MS));
	c = recording_end(&run, SIGINT);
	censuses = doc_at(read_bio(c), "censuses");
	HI_ASSERT_EQ(1, json_array_size(censuses));
}

/* Where there is no other period it is better than none. */
HI_TEST_ROOT(bio, a_signal_in_the_first_period_ends_it_with_a_census)
{
	pid_t target = (pid_t)atoi(start_lives());
	struct recording_run run =
		recording_start_as("bio", "the first period begins", target,
				   LIVED("--every", "60s", "--for", "90s", "--json"));
	struct hi_command *c = recording_end(&run, SIGINT);

	HI_ASSERT_EQ(1, doc_size(read_bio(c), "censuses"));
}

/* ---- retainers ---- */

static const char *start_list(void)
{
	static char pid[16];
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	char line[64];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "list cells 20");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	hi_fixture_tell(fx, "new a 100");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	return pid;
}

/* A variable has the first cell, and each cell the next one. */
HI_TEST_ROOT(bio, objects_are_retainers_if_they_are_named)
{
	const char *pid = start_list();
	struct hi_command *c = hi_heapinspect(
		"bio", "--pid", pid, "--every", "100ms", "--for", "300ms", "--by",
		"retainers", "--retainer", "struct cell", "--json", "--bio", ALL_BANDS);
	json_t *doc = read_bio(c);

	HI_ASSERT_EQ(1, doc_number(doc_row(doc_at(doc, "groups"), "name", "{lists}"),
				   "live.objects"));
	HI_ASSERT_EQ(19,
		     doc_number(doc_row(doc_at(doc, "groups"), "name", "{struct cell}"),
				"live.objects"));
	HI_ASSERT_EQ(1, doc_number(doc_row(doc_at(doc, "groups"), "name", "{nodes}"),
				   "live.objects"));
	c = hi_heapinspect("bio", "--pid", pid, "--every", "100ms", "--for", "300ms",
			   "--by", "retainers", "--retainer", "struct cells");
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "struct cell"), "exit %d: %s",
		      c->exit_code, c->err);
}

/* ---- eras ---- */

static void refuse_era(const struct lived *l, const char *name)
{
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)l->fx->pid);
	c = hi_heapinspect("era", "--pid", pid, name);
	HI_ASSERT_MSG(c->exit_code != 0, "era %s: %s", name, c->out);
}

static void expect_era(json_t *doc, const char *era, size_t bytes)
{
	json_t *row = doc_row(doc_at(doc, "groups"), "name", era);

	HI_ASSERT_EQ(bytes, doc_number(row, "live.bytes"));
}

/* Eras 1, load, 7 and after. */
static void live_in_eras(struct lived *l)
{
	lived_period(l, LIVED("new a 100", "new gone 30", "new x 60", "free x"));
	lived_begin_era(l, "load");
	lived_period(l,
		     LIVED("new b 300", "new c 20", "free gone", "new y 50", "free y"));
	lived_begin_era(l, "7");
	lived_period(l, LIVED("new d 500", "write b"));
	refuse_era(l, "3");
	lived_begin_era(l, "after");
	lived_period(l, LIVED("new e 700", "free c", "new z 40", "free z", "write a"));
}

HI_TEST_ROOT(bio, objects_belong_to_the_era_of_their_birth)
{
	struct lived *l = lived_start(LIVED("new old 40"),
				      LIVED("--by", "era", "--bio", ALL_BANDS, "--all"));
	json_t *doc;

	live_in_eras(l);
	doc = lived_end(l);
	HI_ASSERT(doc_is_null(doc, "era"));
	expect_era(doc, "1", lived_cost(l, "old a"));
	expect_era(doc, "load", lived_cost(l, "b"));
	expect_era(doc, "7", lived_cost(l, "d"));
	expect_era(doc, "after", lived_cost(l, "e"));
}

/* lived_end() holds the bands against the objects of these eras. */
static void check_eras(const char *eras, const char *hidden)
{
	struct lived *l =
		lived_start(LIVED("new old 40"), LIVED("--by", "era", "--bio", ALL_BANDS,
						       "--all", "--era", eras));
	json_t *era;

	live_in_eras(l);
	era = doc_at(lived_end(l), "era");
	HI_ASSERT_STREQ(eras, doc_text(era, "eras"));
	HI_ASSERT(!doc_bool(era, "open"));
	HI_ASSERT_EQ(lived_cost(l, hidden), doc_number(era, "hidden.bytes"));
}

HI_TEST_ROOT(bio, eras_restrict_it_to_what_is_born_in_them)
{
	check_eras("1", "b d e");
	check_eras("load-7", "old a e");
	check_eras("after", "old a b d");
}

static void expect_eras_refused(const char *eras, const char *message)
{
	struct lived *l = lived_start(LIVED("new old 40"), LIVED("--era", eras));
	struct hi_command *c;

	lived_period(l, LIVED("new a 100"));
	lived_begin_era(l, "load");
	lived_period(l, LIVED("new b 100"));
	lived_begin_era(l, "after");
	lived_period(l, LIVED());
	c = recording_end(&l->run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, message), "%s", c->err);
	HI_ASSERT_EQ(0, c->out_size);
}

HI_TEST_ROOT(bio, eras_that_were_not_there_are_an_error)
{
	expect_eras_refused("lod", "no era lod has begun; there were 1, load, after");
	expect_eras_refused("after-load", "era after has begun behind era load");
}

/* Nothing of era 0 counts, whatever is proved of it; and it is no step back. */
HI_TEST_ROOT(bio, objects_of_era_0_do_not_count)
{
	struct lived *l = lived_start(LIVED("new old 40"),
				      LIVED("--by", "era", "--bio", ALL_BANDS, "--all"));
	json_t *doc;

	l->is_program = true; /* what is told in era 0 is not for lived_check() */
	lived_period(l, LIVED("new a 100"));
	lived_begin_era(l, "load");
	lived_period(l, LIVED("new b 300"));
	lived_begin_era(l, "0");
	lived_period(l, LIVED("new c 400000"));
	lived_period(l, LIVED("write a"));
	lived_begin_era(l, "after");
	lived_period(l, LIVED("new d 700"));
	doc = lived_interrupt(l);
	HI_ASSERT_EQ(3, doc_size(doc, "groups"));
	HI_ASSERT_EQ(1, doc_number(doc_row(doc_at(doc, "groups"), "name", "after"),
				   "live.objects"));
	HI_ASSERT(doc_number(doc, "idle.all.bytes") < 400000);
}

/* The objects that the options select have the bands that it has without them. */
static void check_restricted(const char *const *options)
{
	struct lived *l = lived_start(LIVED("new old 40", "new first 500 buf"), options);
	json_t *doc, *last;

	lived_period(l, LIVED("new a 100", "new b 3000 buf"));
	lived_period(l, LIVED("write a", "write b"));
	l->is_program = true; /* lived_check() knows no restriction */
	doc = lived_interrupt(l);
	last = doc_at(doc, "censuses.1");
	HI_ASSERT_EQ(lived_cost(l, "first b"), doc_number(last, "live.bytes"));
	HI_ASSERT_EQ(lived_cost(l, "b"), doc_number(last, "bands.use.bytes.proved"));
	HI_ASSERT_EQ(lived_cost(l, "a old"), doc_number(doc, "restricted.bytes"));
	HI_ASSERT_EQ(1, doc_size(doc, "groups"));
}

HI_TEST_ROOT(bio, counts_only_what_types_roots_and_retainers_select)
{
	check_restricted(LIVED("--bio", ALL_BANDS, "--all", "--type", "struct buf"));
	check_restricted(
		LIVED("--bio", ALL_BANDS, "--all", "--root", "x=bufs", "--under", "x"));
	check_restricted(LIVED("--bio", ALL_BANDS, "--all", "--retained-by", "bufs"));
}

/* No --every and no --for: the place alone decides, however soon it comes again. */
HI_TEST_ROOT(bio, each_hit_of_a_place_ends_a_period)
{
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start_as("bio", "waiting for ", fx->pid,
				 (const char *[]){"--at", "period_end", "--json", NULL});
	/* Hits during a census have no sample. */
	for (unsigned i = 0; i < 100 && !recording_says(&run, "(provisional)", 300); i++)
		hi_fixture_tell(fx, "end");
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(strstr(c->err, "the first period begins"), "%s", c->err);
	HI_ASSERT(!strstr(c->err, "--every"));
	HI_ASSERT(doc_size(doc_checked(c, "bio.v1.json"), "censuses") >= 1);
}

/* Estimates of a sample are near the truth: within four standard deviations, of which the
 * interval has 1.96 to each side. */
HI_TEST_ROOT(bio, samples_have_an_interval)
{
	struct lived *l = lived_start(LIVED(), LIVED("--sample", "1KiB", "--all"));
	double live, low, high, truth;
	json_t *doc;

	lived_period(l, LIVED("list cells 4000"));
	lived_period(l, LIVED());
	truth = (double)lived_cost(l, "cells");
	l->is_program = true; /* lived_check() knows no samples */
	doc = lived_interrupt(l);
	live = (double)doc_number(doc, "censuses.1.live.bytes");
	low = (double)doc_number(doc, "live_interval.low");
	high = (double)doc_number(doc, "live_interval.high");
	HI_ASSERT(low < live && live < high);
	HI_ASSERT_MSG(truth > live - (high - low) * 2 / 1.96 &&
			      truth < live + (high - low) * 2 / 1.96,
		      "%g is not near [%g, %g]", truth, low, high);
	HI_ASSERT_MSG(high - low < truth, "[%g, %g] of %g", low, high, truth);
}

/* ---- the heap profile ---- */

/* The samples of a profile against the censuses of the document: the bands in GHC's
 * order, with zeros, and their sum is what is live. */
static void check_profile(const char *path, json_t *doc)
{
	static const char *const order[] = {"VOID", "LAG", "USE", "INHERENT_USE", "DRAG"};
	json_t *censuses = doc_at(doc, "censuses");
	FILE *file = fopen(path, "r");
	char line[256], name[64];
	size_t sample = 0, band = 0, sum = 0, bytes;

	HI_ASSERT(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "BEGIN_SAMPLE", 12) == 0) {
			band = sum = 0;
		} else if (strncmp(line, "END_SAMPLE", 10) == 0 && band) {
			HI_ASSERT(band >= 5);
			HI_ASSERT_EQ(doc_number(censuses, "%zu.live.bytes", sample++),
				     sum);
		} else if (sscanf(line, "%63[^\t]\t%zu", name, &bytes) == 2) {
			if (band < 5)
				HI_ASSERT_STREQ(order[band], name);
			band++;
			sum += bytes;
		}
	}
	fclose(file);
	HI_ASSERT_EQ(json_array_size(censuses), sample);
}

HI_TEST_ROOT(bio, the_heap_profile_is_as_ghc_writes_it_and_adds_up)
{
	const char *directory = workshop_open();
	char path[300];
	struct lived *l;
	struct hi_command *c;

	snprintf(path, sizeof(path), "%s/lives.hp", directory);
	l = lived_start(LIVED("new g0 500 arena", "new old 90"),
			LIVED("--hp", path, "--inherent", "arena"));
	lived_period(l, LIVED("new a 100", "new b 1000"));
	lived_period(l, LIVED("write a", "new g 30 arena"));
	lived_period(l, LIVED("free a"));
	check_profile(path, lived_end(l));
	workshop_run("python3 " HI_SOURCE_DIR "/tests/support/hp_oracle.py hp lives.hp");
	c = hi_heapinspect("graph", path);
	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->out, "INHERENT_USE"), "%s%s", c->out,
		      c->err);
	if (access("/usr/bin/hp2ps", X_OK) == 0)
		workshop_run("hp2ps lives.hp && test -s lives.ps");
	else if (access(HI_SOURCE_DIR "/build/targets/hp2ps", X_OK) == 0)
		workshop_run(HI_SOURCE_DIR
			     "/build/targets/hp2ps lives.hp && test -s lives.ps");
}

/* The band of sample t, counted from 1; 0: it is not there. */
static void expect_sample(const char *text, unsigned t, const char *band, size_t bytes)
{
	char line[128];
	const char *end, *at = text;
	size_t found = 0;

	for (unsigned i = 0; at && i < t; i++)
		at = strstr(at + 1, "BEGIN_SAMPLE");
	HI_ASSERT_MSG(at, "%s", text);
	end = strstr(at, "END_SAMPLE");
	snprintf(line, sizeof(line), "\n%s\t", band);
	at = strstr(at, line);
	if (at && at < end)
		found = strtoul(at + strlen(line), NULL, 10);
	HI_ASSERT_MSG(found == bytes, "sample %u: %s has %zu, not %zu:\n%s", t, band,
		      found, bytes, text);
}

/* SPEC's L4, of what its evidence proves: groups of L1 by type over time. */
HI_TEST_ROOT(bio, the_heap_profile_has_groups_over_time)
{
	const char *directory = workshop_open();
	char path[300], text[4096] = "";
	struct lived *l;
	FILE *file;

	snprintf(path, sizeof(path), "%s/groups.hp", directory);
	l = lived_start(LIVED(), LIVED("--hp", path, "--by", "type", "--bio", "use",
				       "--time", "census"));
	lived_period(l, LIVED("new a 100", "new d 1000 buf"));
	lived_period(l, LIVED("write a", "write d"));
	lived_period(l, LIVED("write d"));
	lived_interrupt(l);
	file = fopen(path, "r");
	HI_ASSERT(file && fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	HI_ASSERT_MSG(strstr(text, "by type: USE"), "%s", text);
	HI_ASSERT_MSG(strstr(text, "BEGIN_SAMPLE 2.000000"), "%s", text);
	expect_sample(text, 2, "struct_node", lived_cost(l, "a"));
	expect_sample(text, 2, "struct_buf", lived_cost(l, "d"));
	expect_sample(text, 3, "struct_node", 0);
	expect_sample(text, 3, "struct_buf", lived_cost(l, "d"));
}

struct profile_rows {
	char names[5][32];
	size_t bytes[8][5]; /* by sample that has bands */
	unsigned n;
};

static struct profile_rows read_profile(const char *path)
{
	struct profile_rows r = {};
	FILE *file = fopen(path, "r");
	char line[256], name[32];
	unsigned band = 0;
	size_t bytes;

	HI_ASSERT(file);
	while (r.n < 8 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "END_SAMPLE", 10) == 0) {
			r.n += band > 0;
			band = 0;
		} else if (sscanf(line, "%31[^\t]\t%zu", name, &bytes) == 2 && band < 5) {
			snprintf(r.names[band], sizeof(r.names[band]), "%s", name);
			r.bytes[r.n][band++] = bytes;
		}
	}
	fclose(file);
	return r;
}

/* tests/data/ghc_list.hs: GHC has no use of what is only read. Rows 2 and 3 are of the
 * periods in which all of the list is read. */
HI_TEST_ROOT(bio, the_list_that_ghc_takes_for_void_is_in_use)
{
	enum { VOID_ROW = 0, USE_ROW = 2, LIST_BYTES = 2000 * 32 };
	const char *directory = workshop_open();
	struct profile_rows ghc = read_profile(HI_SOURCE_DIR "/tests/data/ghc_list.hp");
	struct profile_rows ours;
	struct lived *l;
	char path[300];

	snprintf(path, sizeof(path), "%s/list.hp", directory);
	l = lived_start(LIVED(), LIVED("--hp", path));
	lived_period(l, LIVED("list list 2000"));
	lived_period(l, LIVED("read list"));
	lived_period(l, LIVED("read list"));
	lived_period(l, LIVED("free list"));
	lived_end(l);
	ours = read_profile(path);
	HI_ASSERT(ghc.n >= 4 && ours.n >= 4);
	for (unsigned band = 0; band < 5; band++)
		HI_ASSERT_STREQ(ghc.names[band], ours.names[band]);
	for (unsigned t = 1; t <= 2; t++) {
		HI_ASSERT(ghc.bytes[t][VOID_ROW] > LIST_BYTES);
		HI_ASSERT(ghc.bytes[t][USE_ROW] < 1000);
		HI_ASSERT(ours.bytes[t][VOID_ROW] < 1000);
		HI_ASSERT(ours.bytes[t][USE_ROW] >= LIST_BYTES);
	}
	HI_ASSERT(ghc.bytes[3][VOID_ROW] < 1000 && ours.bytes[3][USE_ROW] < 1000);
}

/* ---- the page ---- */

static size_t count_columns(const char *line, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += (line[i] & 0xc0) != 0x80;
	return n;
}

HI_TEST_ROOT(bio, the_page_fits_into_its_columns)
{
	static const char *const widths[] = {"80", "120"};
	const char *pid = start_lives();

	for (unsigned i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect("bio", "--pid", pid, "--every", "50ms", "--for",
				       "300ms", "--width", widths[i], "--bio", ALL_BANDS);
		const char *line = c->out, *end;

		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
		for (; (end = strchr(line, '\n')); line = end + 1)
			HI_ASSERT_MSG(count_columns(line, (size_t)(end - line)) <=
					      (size_t)atoi(widths[i]),
				      "%.*s", (int)(end - line), line);
		HI_ASSERT_MSG(strstr(c->out, "At the last census") &&
				      strstr(c->out, "struct node") &&
				      strstr(c->out, "Over time") &&
				      strstr(c->out, "UNUSED"),
			      "%s", c->out);
	}
}

/* ---- Python ---- */

/* Cells that are written are in no case VOID; with `proves` that they are used is
 * proved, as they are blocks of malloc, whose births are known. */
static void check_cells(const char *environment, bool proves)
{
	struct target *p = python_start(environment, "lives", NULL, NULL);
	struct lived *l =
		lived_start_program(p->fx, "getppid", LIVED("--bio", ALL_BANDS, "--all"));
	json_t *doc, *cells, *bands;

	lived_period(l, LIVED("list cells 2000"));
	lived_period(l, LIVED("write cells"));
	lived_period(l, LIVED("write cells"));
	doc = lived_interrupt(l);
	cells = doc_row(doc_at(doc, "groups"), "name", "__main__.Cell");
	HI_ASSERT_EQ(CELLS, doc_number(cells, "live.objects"));
	bands = doc_at(cells, "bands");
	HI_ASSERT_EQ(0, doc_number(bands, "void.objects.proved"));
	HI_ASSERT_EQ(CELLS, doc_number(bands, "use.objects.possible"));
	if (proves)
		HI_ASSERT_EQ(CELLS, doc_number(bands, "use.objects.proved"));
}

HI_TEST_ROOT(bio, cells_of_python_in_malloc_are_proved_to_be_used)
{
	check_cells("PYTHONMALLOC=malloc", true);
}

HI_TEST_ROOT(bio, cells_of_pymalloc_are_not_void)
{
	check_cells("PYTHONUTF8=1", false);
}
