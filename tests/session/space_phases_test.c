/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases of a space profile against a loop over all marks, on random marks. */
#include "session/space/phases.h"

#include <string.h>

#include "tests/harness.h"
#include "tests/support/random.h"

enum { MARKS = 40, ROUNDS = 500, LAST_NS = 100 };

static const char *const mark_texts[] = {"a", "b", "c", "load", ""};

struct drawn_marks {
	uint64_t time_ns[MARKS];
	const char *text[MARKS];
	unsigned n;
	const char *from, *to;
};

static const char *draw_text(uint64_t *state)
{
	return mark_texts[random_below(state, 5)];
}

static struct drawn_marks draw_marks(uint64_t *state)
{
	struct drawn_marks m = {.n = random_below(state, MARKS + 1)};
	uint64_t time_ns = 0;

	for (unsigned i = 0; i < m.n; i++) {
		m.time_ns[i] = time_ns += random_below(state, 6);
		m.text[i] = draw_text(state);
	}
	m.from = random_below(state, 3) ? draw_text(state) : NULL;
	m.to = random_below(state, 3) ? draw_text(state) : NULL;
	return m;
}

/* The number of the first mark of a text behind so many, or -1. */
static int find_mark(const struct drawn_marks *m, const char *text, int behind)
{
	for (unsigned i = (unsigned)(behind + 1); i < m->n; i++)
		if (strcmp(m->text[i], text) == 0)
			return (int)i;
	return -1;
}

/* Of what was born then, by the definition: behind the one mark, up to the other. */
static bool is_inside(const struct drawn_marks *m, uint64_t born_ns)
{
	int from = m->from ? find_mark(m, m->from, -1) : -1, to;

	if (m->from && (from < 0 || born_ns <= m->time_ns[from]))
		return false;
	to = m->to ? find_mark(m, m->to, from) : -1;
	return to < 0 || born_ns <= m->time_ns[to];
}

static void check_time(const struct drawn_marks *m, const struct hi_space_phases *p,
		       uint64_t born_ns)
{
	uint32_t phase = hi_space_phase_at(p, born_ns), expected = 0;

	for (unsigned i = 0; i < m->n; i++)
		if (m->time_ns[i] < born_ns)
			expected = i + 1;
	HI_ASSERT_EQ(expected, phase);
	HI_ASSERT_EQ(is_inside(m, born_ns), p->items.items[phase].is_wanted);
	HI_ASSERT_STREQ(expected ? m->text[expected - 1] : "(before the first mark)",
			p->items.items[phase].label);
}

static void check_missing(const struct drawn_marks *m, const struct hi_space_phases *p)
{
	int from = m->from ? find_mark(m, m->from, -1) : -1;
	bool is_missing =
		(m->from && from < 0) || (m->to && find_mark(m, m->to, from) < 0);
	struct hi_error err;

	HI_ASSERT_EQ(is_missing ? HI_NOT_FOUND : HI_OK, hi_space_phases_check(p, &err));
}

HI_TEST(space_phases, marks_divide_time_as_the_definition_says)
{
	uint64_t state = 7;

	for (int round = 0; round < ROUNDS; round++) {
		struct drawn_marks m = draw_marks(&state);
		struct hi_space_phases p = {.from_mark = m.from, .to_mark = m.to};

		HI_ASSERT(hi_space_phases_begin(&p) && hi_space_phases_begin(&p));
		for (unsigned i = 0; i < m.n; i++)
			HI_ASSERT(hi_space_phases_add(&p, m.time_ns[i], m.text[i]));
		for (uint64_t t = 0; t <= LAST_NS; t++)
			check_time(&m, &p, t);
		check_missing(&m, &p);
		hi_space_phases_free(&p);
	}
}

HI_TEST(space_phases, a_long_list_of_marks_is_cut)
{
	struct hi_space_phases p = {.from_mark = "none"};
	struct hi_error err;
	char text[80];

	HI_ASSERT(hi_space_phases_begin(&p));
	for (unsigned i = 0; i < 50; i++) {
		memset(text, 'a' + (int)(i % 26), sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		HI_ASSERT(hi_space_phases_add(&p, i, text));
	}
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_space_phases_check(&p, &err));
	HI_ASSERT_MSG(strstr(err.text, "; marks: aaaa") != NULL, "%s", err.text);
	HI_ASSERT_MSG(strstr(err.text, ", …") != NULL, "%s", err.text);
	hi_space_phases_free(&p);
}

HI_TEST(space_phases, parts_have_one_number_each)
{
	struct hi_space_phases p = {};
	uint32_t a, b, again;

	HI_ASSERT(hi_space_part_number(&p, (struct hi_space_part){3, 0}, &a) &&
		  hi_space_part_number(&p, (struct hi_space_part){3, 1}, &b) &&
		  hi_space_part_number(&p, (struct hi_space_part){3, 0}, &again));
	HI_ASSERT(a != b && a == again && p.parts.count == 2);
	hi_space_phases_free(&p);
}
