/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/phases.h"

#include <stdio.h>
#include <string.h>

#include "base/search.h"

enum { LISTED_MARKS = 120 /* bytes of an error */, LABEL = 40, LOOKED_AT = 1000 };

static bool push_phase(struct hi_space_phases *p, uint64_t time_ns, const char *text)
{
	struct hi_space_phase phase = {.from_ns = time_ns,
				       .label = hi_arena_strdup(&p->labels, text),
				       .is_wanted = (!p->from_mark || p->has_from) &&
						    (!p->to_mark || !p->has_to)};

	return phase.label && hi_vector_push(&p->items, phase);
}

bool hi_space_phases_begin(struct hi_space_phases *phases)
{
	return phases->items.count || push_phase(phases, 0, "(before the first mark)");
}

/* One mark is not both ends. */
bool hi_space_phases_add(struct hi_space_phases *phases, uint64_t time_ns,
			 const char *text)
{
	bool is_inside = !phases->from_mark || phases->has_from;

	if (!is_inside)
		phases->has_from = strcmp(phases->from_mark, text) == 0;
	else if (phases->to_mark && strcmp(phases->to_mark, text) == 0)
		phases->has_to = true;
	return push_phase(phases, time_ns, text);
}

uint32_t hi_space_phase_at(const struct hi_space_phases *phases, uint64_t time_ns)
{
	return (uint32_t)hi_search_from(i, 1, phases->items.count,
					phases->items.items[i].from_ns < time_ns) -
	       1;
}

bool hi_space_part_number(struct hi_space_phases *phases, struct hi_space_part part,
			  uint32_t *ret)
{
	uint64_t key = (uint64_t)part.phase << 32 | part.context, number;

	if (!hi_table_get(&phases->part_of, key, &number)) {
		number = phases->parts.count;
		if (!hi_vector_push(&phases->parts, part) ||
		    !hi_table_put(&phases->part_of, key, number))
			return false;
	}
	*ret = (uint32_t)number;
	return true;
}

/* ---- marks that did not come ---- */

/* Texts of marks, each one once, as far as there is room. */
static void list_marks(const struct hi_space_phases *p, char ret[LISTED_MARKS])
{
	size_t used = 0;

	*ret = '\0';
	for (size_t i = 1; i < p->items.count && i < LOOKED_AT; i++) {
		const char *label = p->items.items[i].label;
		bool is_listed = false;

		for (size_t k = 1; k < i && !is_listed; k++)
			is_listed = strcmp(p->items.items[k].label, label) == 0;
		if (is_listed)
			continue;
		if (used + strnlen(label, LABEL) + 8 > LISTED_MARKS) {
			snprintf(ret + used, LISTED_MARKS - used, ", …");
			return;
		}
		used += (size_t)snprintf(ret + used, LISTED_MARKS - used, "%s%.*s",
					 used ? ", " : "", LABEL, label);
	}
}

static enum hi_status fail_mark(const struct hi_space_phases *p, const char *option,
				const char *text, struct hi_error *err)
{
	char marks[LISTED_MARKS];

	list_marks(p, marks);
	if (p->items.count < 2)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%s %.60s: there are no marks (heapinspect mark PID TEXT "
			       "adds one)",
			       option, text);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "%s %.40s: there is no such mark%s; marks: %s", option, text,
		       p->has_from && p->to_mark == text ? " behind the first" : "",
		       marks);
}

enum hi_status hi_space_phases_check(const struct hi_space_phases *phases,
				     struct hi_error *err)
{
	if (phases->from_mark && !phases->has_from)
		return fail_mark(phases, "--from-mark", phases->from_mark, err);
	if (phases->to_mark && !phases->has_to)
		return fail_mark(phases, "--to-mark", phases->to_mark, err);
	return HI_OK;
}

void hi_space_phases_free(struct hi_space_phases *phases)
{
	hi_vector_free(&phases->items);
	hi_vector_free(&phases->parts);
	hi_table_free(&phases->part_of);
	hi_arena_free(&phases->labels);
}
