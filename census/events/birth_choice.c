/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/birth_choice.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/events/birth_groups.h"

/* Which contexts have what is asked for. */
struct context_choice {
	const struct hi_context_view *contexts;
	const struct hi_frames *frames;
	const struct hi_birth_choice *choice;
	bool *row_matches; /* by row of the frames, of the pattern in hand */
	bool *is_chosen;   /* by context */
};

/* FILE:LINE, of the last parts of the path. */
static bool is_at_line(const struct hi_frame_row *row, const char *place)
{
	const char *colon = strrchr(place, ':');
	size_t n = colon ? (size_t)(colon - place) : 0, size = strlen(row->file);
	char line[16];

	snprintf(line, sizeof(line), "%u", row->line);
	return n && row->line && strcmp(colon + 1, line) == 0 && size >= n &&
	       memcmp(row->file + size - n, place, n) == 0 &&
	       (size == n || row->file[size - n - 1] == '/');
}

static bool is_chosen_row(const struct hi_frame_row *row, const char *pattern)
{
	if (*pattern == '@')
		return fnmatch(pattern + 1, row->module, 0) == 0 ||
		       fnmatch(pattern + 1, hi_base_name(row->module), 0) == 0;
	return hi_frame_matches(row->function, pattern) || is_at_line(row, pattern);
}

static bool match_part(struct context_choice *c, const char *pattern)
{
	bool found = false;

	for (uint32_t i = 0; i < c->frames->n_rows; i++) {
		bool is_one = is_chosen_row(&c->frames->rows[i], pattern);

		c->row_matches[i] |= is_one;
		found |= is_one;
	}
	return found;
}

/* The next of a list: functions of C++ have commas in their parameters. */
static char *next_site_part(char **rest)
{
	char *part = *rest, *at = part;
	int depth = 0;

	for (; *at && (*at != ',' || depth > 0); at++)
		depth += strchr("(<[{", *at) ? 1 : strchr(")>]}", *at) ? -1 : 0;
	*rest = *at ? at + 1 : NULL;
	*at = 0;
	return part;
}

/* A name that has a comma itself comes first. Returns what matches nothing; NULL: all of
 * it does. The text is cut into its parts. */
static const char *match_rows(struct context_choice *c, const char *pattern, char *text)
{
	memset(c->row_matches, 0, c->frames->n_rows * sizeof(*c->row_matches));
	if (match_part(c, pattern))
		return NULL;
	for (char *rest = text; rest;) {
		const char *part = next_site_part(&rest);

		if (!match_part(c, part))
			return part;
	}
	return NULL;
}

static bool has_matching_site(const struct context_choice *c, uint32_t context)
{
	uint32_t row = hi_context_site(c->contexts, c->frames, context);

	return row < c->frames->n_rows && c->row_matches[row];
}

static bool has_matching_frame(const struct context_choice *c, uint32_t context)
{
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(c->contexts, context, numbers);

	for (unsigned i = 0; i < n; i++) {
		if (numbers[i] >= c->frames->n_frames)
			continue;
		for (uint32_t k = c->frames->first[numbers[i]];
		     k < c->frames->first[numbers[i] + 1]; k++)
			if (c->row_matches[k])
				return true;
	}
	return false;
}

static enum hi_status fail_choice(const char *what, bool any, struct hi_error *err)
{
	return hi_fail(
		err, HI_NOT_FOUND, 0,
		"--site%s %.100s: no such function, FILE:LINE or @MODULE allocated "
		"in the recording (census --by %s lists them)",
		any ? "-any" : "", what, any ? "context" : "site");
}

static enum hi_status narrow_contexts(struct context_choice *c, const char *pattern,
				      bool any, struct hi_error *err)
{
	HI_GUARD(free) char *text = pattern ? hi_strdup(pattern) : NULL;
	const char *unknown;
	bool found = false;

	if (!pattern)
		return HI_OK;
	if (!text)
		return hi_fail_memory(err, "restriction");
	unknown = match_rows(c, pattern, text);
	if (unknown)
		return fail_choice(unknown, any, err);
	for (uint32_t i = 0; i < c->contexts->n_contexts; i++) {
		c->is_chosen[i] &=
			any ? has_matching_frame(c, i) : has_matching_site(c, i);
		found |= c->is_chosen[i];
	}
	return found ? HI_OK : fail_choice(pattern, any, err);
}

static enum hi_status choose_contexts(struct context_choice *c, struct hi_error *err)
{
	enum hi_status status;

	for (uint32_t i = 0; i < c->contexts->n_contexts; i++)
		c->is_chosen[i] = true;
	status = narrow_contexts(c, c->choice->site, false, err);
	return status == HI_OK ? narrow_contexts(c, c->choice->site_any, true, err)
			       : status;
}

static bool is_in_birth_range(const struct hi_birth_range *range, uint64_t ns)
{
	return !range->is_set || (ns >= range->from_ns && ns < range->to_ns);
}

static bool is_chosen_object(const struct hi_births *b, const struct context_choice *c,
			     hi_node object)
{
	uint64_t length = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;
	uint64_t born = b->time_ns[object], age = length > born ? length - born : 0;

	return c->is_chosen[b->context[object]] &&
	       is_in_birth_range(&c->choice->age, age) &&
	       is_in_birth_range(&c->choice->born, born) &&
	       (!c->choice->thread || b->threads[b->thread[object]] == c->choice->thread);
}

static enum hi_status check_chosen_thread(const struct hi_births *b, uint32_t thread,
					  struct hi_error *err)
{
	for (uint32_t i = 0; i < b->n_threads; i++)
		if (b->threads[i] == thread)
			return HI_OK;
	return thread ? hi_fail(err, HI_NOT_FOUND, 0,
				"--thread %u: no such thread allocated in the recording "
				"(census --by thread lists them)",
				thread)
		      : HI_OK;
}

enum hi_status hi_births_choose(const struct hi_births *births,
				const struct hi_context_view *contexts,
				const struct hi_frames *frames,
				const struct hi_birth_choice *choice, uint64_t *bits,
				struct hi_error *err)
{
	HI_GUARD(free) bool *rows = hi_calloc((size_t)frames->n_rows + 1, sizeof(*rows));
	HI_GUARD(free)
	bool *chosen = hi_calloc((size_t)contexts->n_contexts + 1, sizeof(*chosen));
	struct context_choice c = {contexts, frames, choice, rows, chosen};
	enum hi_status status;

	if (!rows || !chosen)
		return hi_fail_memory(err, "restriction");
	status = check_chosen_thread(births, choice->thread, err);
	if (status == HI_OK)
		status = choose_contexts(&c, err);
	for (hi_node i = 0; status == HI_OK && i < births->n_objects; i++)
		if (hi_birth_is_known(births, i) &&
		    births->context[i] < contexts->n_contexts &&
		    is_chosen_object(births, &c, i))
			hi_bit_set(bits, i);
	return status;
}
