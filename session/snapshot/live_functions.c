/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/snapshot/live_functions.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "session/recorded.h"

enum { FUNCTION_KEY = 2048 };

/* Rows while they are made: one for each kind without a name, then functions. */
struct live_rows {
	const struct hi_recorded *recorded;
	struct HI_VECTOR(struct hi_live_function) items;
	struct hi_interner keys; /* of functions: their numbers count from 1 */
};

static enum hi_status fail_functions(struct hi_error *err)
{
	return hi_fail_memory(err, "functions");
}

static bool begin_live_rows(struct live_rows *rows)
{
	for (unsigned kind = HI_LIVE_FUNCTION_BEFORE; kind < HI_LIVE_FUNCTION_KINDS;
	     kind++) {
		struct hi_live_function row = {.kind = (enum hi_live_function_kind)kind,
					       .function = "",
					       .file = "",
					       .module = ""};

		if (!hi_vector_push(&rows->items, row))
			return false;
	}
	return true;
}

static void add_to_kind(struct live_rows *rows, enum hi_live_function_kind kind,
			const struct hi_birth_sum *sum)
{
	struct hi_live_function *row = &rows->items.items[kind - HI_LIVE_FUNCTION_BEFORE];

	row->objects += sum->objects;
	row->bytes += sum->bytes;
}

/* Lines of one function are one row. */
static bool add_to_function(struct live_rows *rows, const struct hi_frame_row *frame,
			    const struct hi_birth_sum *sum)
{
	struct hi_live_function new = {.function = hi_frame_row_name(frame),
				       .file = frame->file,
				       .module = frame->module};
	struct hi_live_function *row;
	char key[FUNCTION_KEY];
	uint32_t number;
	size_t i;

	snprintf(key, sizeof(key), "%.1000s\n%.500s\n%.500s", new.function, new.file,
		 new.module);
	number = hi_interner_add(&rows->keys, key);
	i = HI_LIVE_FUNCTION_KINDS - HI_LIVE_FUNCTION_BEFORE - 1u + number;
	if (!number || (i == rows->items.count && !hi_vector_push(&rows->items, new)))
		return false;
	row = &rows->items.items[i];
	row->objects += sum->objects;
	row->bytes += sum->bytes;
	return true;
}

static bool add_live_group(struct live_rows *rows, uint32_t group, uint32_t frame_row,
			   const struct hi_birth_sum *sum)
{
	const struct hi_frames *frames = &rows->recorded->frames;

	if (!sum->objects && !sum->bytes)
		return true;
	if (group >= HI_GROUPS_FIXED && frame_row < frames->n_rows)
		return add_to_function(rows, &frames->rows[frame_row], sum);
	add_to_kind(rows,
		    group == HI_GROUP_BEFORE  ? HI_LIVE_FUNCTION_BEFORE
		    : group == HI_GROUP_OTHER ? HI_LIVE_FUNCTION_OTHER
					      : HI_LIVE_FUNCTION_NO_STACK,
		    sum);
	return true;
}

/* Of samples, what has no record is what the samples stand for, and the rest. */
static void subtract_samples(const struct hi_birth_groups *groups,
			     struct hi_birth_sum *sums)
{
	struct hi_birth_sum known = {};

	for (uint32_t i = HI_GROUP_NO_STACK; i < groups->n_groups; i++)
		hi_birth_sum_add(&known, &sums[i]);
	sums[HI_GROUP_BEFORE] = hi_birth_sum_rest(&sums[HI_GROUP_BEFORE], &known);
}

static enum hi_status sum_functions_of(struct hi_inspection *in, struct live_rows *rows,
				       struct hi_error *err)
{
	const struct hi_recorded *r = rows->recorded;
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *groups = NULL;
	HI_GUARD(free) uint64_t *live = hi_inspect_live_bits(in);
	HI_GUARD(free) struct hi_birth_sum *sums = NULL;
	enum hi_status status = hi_birth_groups_make(r->births, &r->contexts, &r->frames,
						     HI_BORN_BY_SITE, &groups, err);

	if (status != HI_OK)
		return status;
	sums = hi_calloc(groups->n_groups + 1u, sizeof(*sums));
	if (!sums || !live || !begin_live_rows(rows))
		return fail_functions(err);
	hi_birth_groups_sum(groups, r->births, in->graph->objects, live, sums);
	if (r->births->sample_bytes)
		subtract_samples(groups, sums);
	for (uint32_t i = 0; i < groups->n_groups; i++)
		if (!add_live_group(rows, i, groups->groups[i].key, &sums[i]))
			return fail_functions(err);
	return HI_OK;
}

enum hi_status hi_live_functions_save(struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err)
{
	struct live_rows rows = {};
	enum hi_status status = hi_inspect_recorded_if_any(in, &rows.recorded, err);

	/* Births of blocks that windows saw are of others by now. */
	if (status != HI_OK || !rows.recorded || rows.recorded->births->is_traced ||
	    rows.recorded->windows)
		return status;
	status = sum_functions_of(in, &rows, err);
	if (status == HI_OK)
		status = hi_snapshot_put_functions(w, rows.items.items, rows.items.count,
						   err);
	hi_vector_free(&rows.items);
	hi_interner_free(&rows.keys);
	return status;
}
