/* SPDX-License-Identifier: BSD-2-Clause */
/* Biographies in a snapshot file: read as they were written, or refused by the name of
 * their section. */
#include <math.h>

#include "census/snapshot/snapshot_lives.h"
#include "tests/census/snapshots.h"

enum { OBJECTS = 10, LIVES = 3, GROUPS = 2, CENSUSES = 4, ROUNDS = 3000 };

/* What a test changes before it is written. */
struct drawn_lives {
	struct hi_bio_summary *summary;
	struct hi_bio_life_row lives[LIVES];
	struct hi_bio_group_row groups[GROUPS];
	struct hi_bio_census_row censuses[CENSUSES];
	struct hi_bio_watched watched[1];
};

/* Three periods. One object was used in 1 and 2, one may have been, and one is older. */
static void draw_lives(struct drawn_lives *d)
{
	struct hi_bio_summary *s = hi_bio_summary_create();

	HI_ASSERT(s);
	hi_test_defer(hi_bio_summary_destroy, s);
	*d = (struct drawn_lives){.summary = s};
	d->lives[0] = (struct hi_bio_life_row){.object = 1,
					       .group = 1,
					       .size = 100,
					       .from = 1,
					       .first_proved = 1,
					       .last_proved = 2,
					       .first_possible = 1,
					       .last_possible = 2,
					       .quiet_from = 3,
					       .era = 1,
					       .first_evidence = HI_BIO_CONTENT,
					       .last_evidence = HI_BIO_WATCH,
					       .state = HI_BIO_STATE_NOT_USED_SINCE};
	d->lives[1] = (struct hi_bio_life_row){.object = 4,
					       .size = 50,
					       .from = 2,
					       .first_possible = 2,
					       .last_possible = 3,
					       .era = 2,
					       .state = HI_BIO_STATE_NO_USE_SEEN};
	d->lives[2] = (struct hi_bio_life_row){.object = OBJECTS - 1,
					       .size = 7,
					       .from = 1,
					       .quiet_from = 1,
					       .era = 1,
					       .flags = HI_BIO_LIFE_OLDER,
					       .state = HI_BIO_STATE_NEVER_USED};
	for (uint32_t i = 0; i < GROUPS; i++)
		d->groups[i] = (struct hi_bio_group_row){
			.type = hi_interner_add(&s->own_texts, "struct node"),
			.era = hi_interner_add(&s->own_texts, i ? "2" : "1"),
			.is_inherent = i,
			.row.live = {50 + i, 1},
			.row.sets[3] = {50 + i, 1}};
	d->watched[0] = (struct hi_bio_watched){0x1000, 32, 7, 3, 1};
	for (unsigned t = 0; t < CENSUSES; t++)
		d->censuses[t] = (struct hi_bio_census_row){.at_ns = t * 1000u,
							    .has_pages = t & 1,
							    .row.live = {t, t},
							    .row.sets[1] = {t, t}};
	s->lives = d->lives;
	s->n_lives = LIVES;
	s->groups = d->groups;
	s->n_groups = GROUPS;
	s->censuses = d->censuses;
	s->n_censuses = CENSUSES;
	s->certain = (struct hi_bio_amount){150, 2};
	s->no_pages = "they are not looked at";
	s->checks.order = 3;
	s->watch = (struct hi_bio_watch){.slots = 4, .hits = 12, .missing = "taken"};
	s->watch.estimates.bytes[HI_BIO_DRAG] =
		(struct hi_bio_estimate){1.5, 2.5, {1, 3}, 2.25, {2, 4}};
	s->watch.watched = d->watched;
	s->watch.n_watched = 1;
	s->watch.estimates.objects[HI_BIO_USE].possible = 0.25;
}

/* The file has lives alone: the graph is a matter of other sections. */
static struct hi_snapshot *write_lives(const struct hi_bio_summary *summary)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {};
	struct hi_snapshot *s = NULL;
	struct hi_error err = {};
	char path[64];
	int fd = memfd_create("lives", MFD_CLOEXEC);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_lives(w, summary, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
	close(fd);
	return s;
}

static void expect_rows(const struct drawn_lives *d, const struct hi_bio_summary *r)
{
	HI_ASSERT_EQ(LIVES, r->n_lives);
	HI_ASSERT_EQ(0, memcmp(d->lives, r->lives, sizeof(d->lives)));
	HI_ASSERT_EQ(CENSUSES, r->n_censuses);
	HI_ASSERT_EQ(0, memcmp(d->censuses, r->censuses, sizeof(d->censuses)));
	HI_ASSERT_EQ(GROUPS, r->n_groups);
	for (unsigned i = 0; i < GROUPS; i++) {
		const struct hi_bio_group_row *g = &r->groups[i];

		HI_ASSERT_STREQ("struct node", hi_interner_name(r->texts, g->type));
		HI_ASSERT_STREQ(i ? "2" : "1", hi_interner_name(r->texts, g->era));
		HI_ASSERT_EQ(0, g->module);
		HI_ASSERT_EQ(i, g->is_inherent);
		HI_ASSERT_EQ(50 + i, g->row.live.bytes);
		HI_ASSERT_EQ(50 + i, g->row.sets[3].bytes);
	}
	HI_ASSERT_EQ(1, r->watch.n_watched);
	HI_ASSERT_EQ(0, memcmp(d->watched, r->watch.watched, sizeof(d->watched)));
	HI_ASSERT(r->watch.estimates.bytes[HI_BIO_DRAG].estimate == 2.25);
	HI_ASSERT_EQ(4, r->watch.estimates.bytes[HI_BIO_DRAG].range.high);
	/* Texts of one name have one number. */
	HI_ASSERT_EQ(r->groups[0].type, r->groups[1].type);
}

HI_TEST(snapshot_lives, are_read_as_they_were_written)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *r = NULL;
	struct drawn_lives d;
	struct hi_error err = {};

	draw_lives(&d);
	s = write_lives(d.summary);
	HI_ASSERT_OK(hi_snapshot_lives(s, OBJECTS, &r, &err), &err);
	expect_rows(&d, r);
	HI_ASSERT_EQ(150, r->certain.bytes);
	HI_ASSERT_STREQ("they are not looked at", r->no_pages);
	HI_ASSERT_EQ(3, r->checks.order);
	HI_ASSERT_EQ(4, r->watch.slots);
	HI_ASSERT_EQ(12, r->watch.hits);
	HI_ASSERT_STREQ("taken", r->watch.missing);
	HI_ASSERT_EQ(0, memcmp(&d.summary->watch.estimates, &r->watch.estimates,
			       sizeof(r->watch.estimates)));
	HI_ASSERT_EQ(HI_BIO_BIT(HI_BIO_DRAG), hi_bio_summary_bands(r, &r->lives[0]));
	HI_ASSERT_EQ(HI_BIO_BIT(HI_BIO_UNUSED), hi_bio_summary_bands(r, &r->lives[2]));
	HI_ASSERT(hi_bio_summary_find(r, 4) == &r->lives[1]);
	HI_ASSERT(!hi_bio_summary_find(r, 5));
}

HI_TEST(snapshot_lives, a_file_without_them_has_none)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_options options = {};
	struct hi_bio_summary *r = NULL;
	struct hi_error err = {};
	char path[64];
	int fd = memfd_create("lives", MFD_CLOEXEC);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
	close(fd);
	HI_ASSERT_EQ(HI_NOT_FOUND, hi_snapshot_lives(s, OBJECTS, &r, &err));
	HI_ASSERT(!r);
}

/* ---- what is refused ---- */

static void expect_refused(const struct drawn_lives *d, const char *section, int line)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = write_lives(d->summary);
	struct hi_bio_summary *r = NULL;
	struct hi_error err = {};
	char text[64];

	snprintf(text, sizeof(text), "section %s:", section);
	HI_ASSERT_MSG(hi_snapshot_lives(s, OBJECTS, &r, &err) == HI_BAD_DATA,
		      "line %d: status %d", line, err.status);
	HI_ASSERT_MSG(strstr(err.text, text), "line %d: %s", line, err.text);
	HI_ASSERT(!r);
}

/* One change of what is right. */
#define REFUSED(section, change)                                                         \
	do {                                                                             \
		struct drawn_lives d;                                                    \
                                                                                         \
		draw_lives(&d);                                                          \
		change;                                                                  \
		expect_refused(&d, section, __LINE__);                                   \
	} while (0)

HI_TEST(snapshot_lives, rows_out_of_range_are_refused)
{
	REFUSED("lives", d.lives[2].object = OBJECTS);
	REFUSED("lives", d.lives[1].object = 1);
	REFUSED("lives", d.lives[1].object = 0);
	REFUSED("lives", d.lives[0].group = GROUPS);
	REFUSED("lives", d.lives[0].flags = 4);
	REFUSED("lives", d.lives[0].state = HI_BIO_STATES);
	REFUSED("lives", d.lives[0].first_evidence = HI_BIO_PAGE);
	REFUSED("lives", d.lives[0].last_evidence = HI_BIO_EVIDENCE);
	REFUSED("lives", d.lives[0].first_evidence = HI_BIO_UNKNOWN);
	REFUSED("lives", d.summary->n_groups = 1);
	REFUSED("lives.estimates",
		d.summary->watch.estimates.bytes[0].possible = (double)INFINITY);
	REFUSED("lives.estimates", d.summary->watch.estimates.objects[5].proved = -1);
	REFUSED("lives.estimates", d.summary->watch.estimates.bytes[1].interval.low = 1);
}

HI_TEST(snapshot_lives, periods_that_are_not_in_order_are_refused)
{
	REFUSED("lives", d.lives[0].from = 0);
	REFUSED("lives", d.lives[1].from = CENSUSES);
	REFUSED("lives", d.lives[1].from = 3);
	REFUSED("lives", d.lives[0].quiet_from = CENSUSES);
	REFUSED("lives", (d.lives[1].quiet_from = 1));
	REFUSED("lives", d.lives[1].last_possible = CENSUSES);
	REFUSED("lives", d.lives[1].first_possible = 0);
	REFUSED("lives", d.lives[0].first_proved = 0);
	REFUSED("lives", d.lives[0].last_proved = 3);
	REFUSED("lives", d.lives[0].first_proved = 3);
	REFUSED("lives", d.lives[2].last_proved = 2);
	REFUSED("lives.censuses", d.censuses[2].at_ns = 999);
	REFUSED("lives.censuses", d.summary->n_censuses = 0);
	REFUSED("lives", d.summary->n_censuses = 2);
}

/* Sections of a size of item, 0: missing. Returns what was read of them, as a status. */
static enum hi_status read_sections(uint32_t lives, uint32_t groups, uint32_t censuses,
				    struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *r = NULL;
	const struct {
		const char *name;
		uint32_t item;
	} sections[] = {
		{"lives", lives}, {"lives.groups", groups}, {"lives.censuses", censuses}};
	static const uint64_t zeros[100];
	struct hi_snapshot_options options = {};
	char path[64];
	int fd = memfd_create("lives", MFD_CLOEXEC);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, err), err);
	for (unsigned i = 0; i < 3; i++)
		if (sections[i].item)
			HI_ASSERT_OK(hi_snapshot_put(w, sections[i].name, zeros,
						     sections[i].item, 1, err),
				     err);
	HI_ASSERT_OK(hi_snapshot_finish(w, err), err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, err), err);
	close(fd);
	return hi_snapshot_lives(s, OBJECTS, &r, err);
}

HI_TEST(snapshot_lives, missing_sections_and_other_rows_are_refused)
{
	static const uint32_t items[][3] = {
		{48, 256, 0},	{48, 0, 336},	{48, 0, 0},    {40, 256, 336},
		{48, 248, 336}, {48, 256, 328}, {48, 256, 336}};
	struct hi_error err = {};

	for (unsigned i = 0; i < sizeof(items) / sizeof(*items); i++)
		HI_ASSERT_MSG(read_sections(items[i][0], items[i][1], items[i][2],
					    &err) == HI_BAD_DATA &&
				      strstr(err.text, "section lives"),
			      "%u: status %d, %s", i, err.status, err.text);
}

/* Whatever is accepted can be used: its bands, and its group. */
HI_TEST(snapshot_lives, random_rows_are_refused_or_fine)
{
	uint64_t state = 88172645463325252;
	struct drawn_lives d, fine;
	unsigned accepted = 0;

	draw_lives(&fine);
	draw_lives(&d);
	for (unsigned i = 0; i < ROUNDS; i++) {
		HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *r = NULL;
		HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
		struct hi_error err = {};
		uint8_t *bytes = (uint8_t *)d.lives;

		memcpy(d.lives, fine.lives, sizeof(d.lives));
		bytes[random_below(&state, sizeof(d.lives))] =
			(uint8_t)random_below(&state, 6);
		s = write_lives(d.summary);
		if (hi_snapshot_lives(s, OBJECTS, &r, &err) != HI_OK) {
			HI_ASSERT_EQ(HI_BAD_DATA, err.status);
			continue;
		}
		accepted++;
		for (size_t k = 0; k < r->n_lives; k++) {
			HI_ASSERT(hi_bio_summary_bands(r, &r->lives[k]));
			HI_ASSERT(r->lives[k].group < r->n_groups);
			HI_ASSERT(r->lives[k].quiet_from < r->n_censuses);
		}
	}
	HI_ASSERT(accepted && accepted < ROUNDS);
}
