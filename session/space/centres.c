/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/centres.h"

#include "report/type_search.h"

static bool note_row_of_centre(struct hi_space_centres *c, const struct hi_frame_row *row)
{
	bool is_centre = false;

	for (size_t i = 0; i < c->choice.n; i++)
		if (hi_frame_matches(row->function, c->choice.patterns[i]))
			is_centre = c->found.items[i] = true;
	return hi_vector_push(&c->matches, is_centre) &&
	       (!*row->function || hi_interner_add(&c->names, row->function));
}

bool hi_space_centres_look(struct hi_space_centres *centres,
			   const struct hi_frames *frames)
{
	while (centres->found.count < centres->choice.n)
		if (!hi_vector_push(&centres->found, false))
			return false;
	centres->matches.count = 0;
	for (uint32_t i = 0; i < frames->n_rows; i++)
		if (!note_row_of_centre(centres, &frames->rows[i]))
			return false;
	return true;
}

/* ---- the centre of a context ---- */

uint32_t hi_space_centre_of(const struct hi_space_centres *centres,
			    const struct hi_recorded *recorded, uint32_t context)
{
	const struct hi_frames *frames = &recorded->frames;
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(&recorded->contexts, context, numbers);

	for (unsigned i = n; i-- > 0;) {
		if (numbers[i] >= frames->n_frames)
			continue;
		for (uint32_t row = frames->first[numbers[i] + 1];
		     row-- > frames->first[numbers[i]];)
			if (centres->matches.items[row])
				return row;
	}
	return UINT32_MAX;
}

/* ---- patterns that match nothing ---- */

static const char *name_near_centre(void *arg, uint32_t i)
{
	const struct hi_interner *names = arg;

	return names->names.items[i];
}

static enum hi_status fail_centre(const struct hi_space_centres *c, const char *pattern,
				  struct hi_error *err)
{
	const char *near[HI_NAMES_NEAREST] = {};

	hi_names_nearest(pattern, name_near_centre, (void *)(uintptr_t)&c->names,
			 (uint32_t)c->names.names.count, near);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "--centre %.80s: no function of any stack has such a name%s%.80s",
		       pattern, near[0] ? "; near it: " : "", near[0] ? near[0] : "");
}

enum hi_status hi_space_centres_check(const struct hi_space_centres *centres,
				      struct hi_error *err)
{
	if (!centres->names.names.count)
		return HI_OK;
	for (size_t i = 0; i < centres->choice.n; i++)
		if (!centres->found.items[i])
			return fail_centre(centres, centres->choice.patterns[i], err);
	return HI_OK;
}

void hi_space_centres_free(struct hi_space_centres *centres)
{
	hi_vector_free(&centres->found);
	hi_vector_free(&centres->matches);
	hi_interner_free(&centres->names);
}
