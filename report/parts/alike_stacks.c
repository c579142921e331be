/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/alike_stacks.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "base/table.h"
#include "base/text.h"
#include "report/function_name.h"

/* Steps of a stack that are no function's text, which has a number from FIRST_TEXT on. */
enum { FOLD_STEP, CUT_STEP, SITE_STEP, FIRST_TEXT };
enum { TEXT_SIZE = HI_FUNCTION_SHORT_SIZE + 512 };

/*
 * Stacks as ways in a tree, from the outermost item to the innermost: stacks that are shown
 * alike end at the same place. A place is a number, 0 the beginning.
 */
struct alike_stacks {
	const struct hi_context_view *contexts;
	const struct hi_frames *frames;
	struct hi_interner texts;
	uint32_t *step_of_row;	/* of a function of the program, also in a library */
	bool *is_of_library;	/* by row */
	struct hi_table places; /* place and step -> the next place */
	uint32_t n_places;
};

static void free_alike_stacks(struct alike_stacks *a)
{
	hi_interner_free(&a->texts);
	free(a->step_of_row);
	free(a->is_of_library);
	hi_table_free(&a->places);
}
HI_DEFINE_GUARD(struct alike_stacks *, free_alike_stacks)

/* As it is shown: a short name, and the line or the place in its module. */
static const char *write_frame_key(const struct hi_frame_row *row, char out[TEXT_SIZE])
{
	char name[HI_FUNCTION_SHORT_SIZE];

	hi_function_short(row->function, name, sizeof(name));
	if (*row->file && row->line)
		snprintf(out, TEXT_SIZE, "%u:%s:%.255s", row->line, name,
			 hi_base_name(row->file));
	else
		snprintf(out, TEXT_SIZE, "+%" PRIx64 ":%s:%.255s", row->offset, name,
			 hi_base_name(row->module));
	return out;
}

static bool number_frame_rows(struct alike_stacks *a)
{
	char key[TEXT_SIZE], library[HI_FRAME_LIBRARY_SIZE];
	uint32_t n = a->frames->n_rows;

	a->step_of_row = hi_calloc((size_t)n + 1, sizeof(*a->step_of_row));
	a->is_of_library = hi_calloc((size_t)n + 1, sizeof(*a->is_of_library));
	if (!a->step_of_row || !a->is_of_library)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct hi_frame_row *row = &a->frames->rows[i];
		uint32_t number = hi_interner_add(&a->texts, write_frame_key(row, key));

		if (!number)
			return false;
		a->step_of_row[i] = FIRST_TEXT + number;
		a->is_of_library[i] = hi_frame_library(row, library);
	}
	return true;
}

/* Goes one step on from *place. */
static bool take_stack_step(struct alike_stacks *a, uint32_t step, uint32_t *place)
{
	uint64_t key = (uint64_t)*place << 32 | step, next;

	if (!hi_table_get(&a->places, key, &next)) {
		next = ++a->n_places;
		if (a->n_places == UINT32_MAX || !hi_table_put(&a->places, key, next))
			return false;
	}
	*place = (uint32_t)next;
	return true;
}

/* Finds where the stack of a context ends. */
static bool find_stack_end(struct alike_stacks *a, uint32_t context, uint32_t *ret)
{
	const struct hi_frames *f = a->frames;
	uint32_t numbers[HI_STACK_FRAMES], last = UINT32_MAX, place = 0;
	uint32_t site = hi_context_site(a->contexts, f, context);
	bool ok = true;

	for (unsigned n = hi_context_frames(a->contexts, context, numbers);
	     ok && n-- > 0;)
		for (uint32_t k = numbers[n] < f->n_frames ? f->first[numbers[n] + 1] : 0;
		     ok && numbers[n] < f->n_frames && k-- > f->first[numbers[n]];) {
			uint32_t step = a->is_of_library[k] && k != site
						? (uint32_t)FOLD_STEP
						: a->step_of_row[k];

			if (step != FOLD_STEP || last != FOLD_STEP)
				ok = take_stack_step(a, step, &place);
			last = step;
		}
	if (ok && site < f->n_rows) {
		ok = take_stack_step(a, SITE_STEP, &place) &&
		     take_stack_step(a, a->step_of_row[site], &place);
		if (ok && a->contexts->contexts[context].flags & HI_CONTEXT_CUT)
			ok = take_stack_step(a, CUT_STEP, &place);
	}
	*ret = place;
	return ok;
}

/* Fills in the new number of each group, which is never above the old one. */
static bool find_alike_groups(struct alike_stacks *a, struct hi_birth_groups *g,
			      uint32_t *number)
{
	struct hi_table ends = {}; /* place -> new number */
	uint32_t n = 0, end;
	uint64_t other;
	bool ok = true;

	for (uint32_t i = 0; ok && i < g->n_groups; i++) {
		number[i] = n;
		if (i >= HI_GROUPS_FIXED) {
			ok = find_stack_end(a, g->groups[i].key, &end);
			if (ok && hi_table_get(&ends, end, &other)) {
				number[i] = (uint32_t)other;
				continue;
			}
			ok = ok && hi_table_put(&ends, end, n);
		}
		g->groups[n++] = g->groups[i];
	}
	hi_table_free(&ends);
	if (ok)
		g->n_groups = n;
	return ok;
}

enum hi_status hi_alike_stacks_merge(struct hi_birth_groups *g,
				     const struct hi_context_view *contexts,
				     const struct hi_frames *frames, struct hi_error *err)
{
	struct alike_stacks a = {.contexts = contexts, .frames = frames};
	HI_GUARD(free_alike_stacks) struct alike_stacks *owned = &a;
	HI_GUARD(free) uint32_t *number = NULL;

	if (g->by != HI_BORN_BY_CONTEXT)
		return HI_OK;
	number = hi_calloc((size_t)g->n_groups + 1, sizeof(*number));
	if (!number || !number_frame_rows(owned) || !find_alike_groups(owned, g, number))
		return hi_fail_memory(err, "stacks that are alike");
	for (uint32_t i = 0; i < g->n_objects; i++)
		g->of[i] = number[g->of[i]];
	for (uint32_t i = 0; i < g->n_contexts; i++)
		g->of_context[i] = number[g->of_context[i]];
	return HI_OK;
}

/* Adds the items of a context, with its site as a line of its own. */
static void add_stack_items(const struct hi_context_view *contexts,
			    const struct hi_frames *frames, uint32_t context,
			    struct hi_frame_items *ret)
{
	uint32_t site = hi_context_site(contexts, frames, context);

	hi_frame_items_add_context(ret, contexts, frames, context,
				   site < frames->n_rows ? &frames->rows[site] : NULL);
}

void hi_alike_stacks_items(const struct hi_birth_groups *groups, uint32_t group,
			   const struct hi_context_view *contexts,
			   const struct hi_frames *frames, struct hi_frame_items *ret)
{
	uint32_t first = groups->groups[group].key;

	add_stack_items(contexts, frames, first, ret);
	for (uint32_t i = first + 1; ret->folds && i < groups->n_contexts; i++) {
		struct hi_frame_items more = {.folds = true};

		if (groups->of_context[i] != group)
			continue;
		add_stack_items(contexts, frames, i, &more);
		hi_frame_items_merge(ret, &more);
		hi_frame_items_free(&more);
	}
}
