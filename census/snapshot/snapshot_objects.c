/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the object table of a snapshot: the columns stay in place, and there are no
 * lookup entries, because few addresses are looked up (by binary search).
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/graph/objects_internal.h"
#include "census/snapshot/snapshot_graph_internal.h"

const struct hi_section_member hi_snapshot_object_columns[] = {
	HI_SECTION_MEMBER("objects.address", struct hi_objects, address_low, count),
	HI_SECTION_MEMBER("objects.usable", struct hi_objects, usable_low, count),
	HI_SECTION_MEMBER("objects.type", struct hi_objects, type, count),
	HI_SECTION_MEMBER("objects.flags", struct hi_objects, flags, count),
};

const struct hi_property hi_snapshot_overheads[] = {
	HI_PROPERTY("overhead.0", struct hi_objects, overhead[0]),
	HI_PROPERTY("overhead.1", struct hi_objects, overhead[1]),
	HI_PROPERTY("overhead.2", struct hi_objects, overhead[2]),
	HI_PROPERTY("overhead.3", struct hi_objects, overhead[3]),
};

static enum hi_status take_windows(struct hi_snapshot *s, struct hi_objects *o,
				   struct hi_error *err)
{
	const struct hi_snapshot_window *rows;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "windows", &rows, &n, err);

	if (status != HI_OK)
		return status;
	if (o->count && !n)
		return hi_snapshot_bad(s, "windows", err,
				       "they do not cover the objects");
	for (uint64_t i = 0; i < n; i++)
		if (!hi_vector_push(
			    &o->priv->windows,
			    (struct hi_address_window){rows[i].base, rows[i].first}))
			return hi_fail_memory(err, "objects");
	/* The sentinel. */
	if (!hi_vector_push(&o->priv->windows,
			    (struct hi_address_window){UINT64_MAX, o->count}))
		return hi_fail_memory(err, "objects");
	o->windows = o->priv->windows.items;
	o->n_windows = (uint32_t)n;
	return HI_OK;
}

static enum hi_status take_large(struct hi_snapshot *s, struct hi_objects *o,
				 struct hi_error *err)
{
	const struct hi_snapshot_large *rows;
	uint64_t n = 0, large = 0;
	enum hi_status status = hi_snapshot_rows(s, "large", &rows, &n, err);

	if (status != HI_OK)
		return status;
	for (hi_node i = 0; i < o->count; i++)
		large += o->usable_low[i] == UINT32_MAX;
	if (large != n)
		return hi_snapshot_bad(s, "large", err, "%" PRIu64 " rows for %" PRIu64,
				       n, large);
	for (uint64_t i = 0; i < n; i++) {
		struct hi_large_object row = {rows[i].object, rows[i].usable};

		if (o->usable_low[row.id] != UINT32_MAX)
			return hi_snapshot_bad(s, "large", err,
					       "row %" PRIu64
					       " refers to an object that does not exist",
					       i);
		if (!hi_vector_push(&o->priv->large, row))
			return hi_fail_memory(err, "objects");
	}
	return HI_OK;
}

/* Branch-free, so that the compiler makes vectors of it. */
static enum hi_status check_columns(struct hi_snapshot *s, const struct hi_objects *o,
				    struct hi_error *err)
{
	uint32_t unordered = 0, evidence = 0;

	for (hi_node i = 0; i < o->count; i++)
		evidence |= (o->flags[i] & HI_OBJECT_EVIDENCE_MASK) > HI_EVIDENCE_RUNTIME;
	for (uint32_t w = 0; w < o->n_windows; w++)
		for (hi_node i = o->windows[w].first; i + 1 < o->windows[w + 1].first;
		     i++)
			unordered |= o->address_low[i] >= o->address_low[i + 1];
	if (evidence)
		return hi_snapshot_bad(s, "objects.flags", err, "an unknown evidence");
	if (unordered)
		return hi_snapshot_bad(s, "objects.address", err, "not in order");
	for (uint32_t w = 1; w < o->n_windows; w++)
		if (hi_objects_address(o, o->windows[w].first) <=
		    hi_objects_address(o, o->windows[w].first - 1))
			return hi_snapshot_bad(s, "windows", err, "not in order");
	return HI_OK;
}

enum hi_status hi_snapshot_objects(struct hi_snapshot *s, struct hi_objects **ret,
				   struct hi_error *err)
{
	HI_GUARD(hi_objects_destroy) struct hi_objects *o = hi_calloc(1, sizeof(*o));
	enum hi_status status;

	if (!o || !(o->priv = hi_calloc(1, sizeof(*o->priv))))
		return hi_fail_memory(err, "objects");
	o->priv->is_borrowed = true;
	status = hi_snapshot_take_members(s, hi_snapshot_object_columns, 4, o, err);
	if (status == HI_OK)
		status = take_windows(s, o, err);
	if (status == HI_OK)
		status = take_large(s, o, err);
	if (status == HI_OK)
		status = check_columns(s, o, err);
	if (status != HI_OK)
		return status;
	hi_snapshot_take_properties(s, "", hi_snapshot_overheads, 4, o);
	if (o->count) {
		o->low = hi_objects_address(o, 0);
		o->high = UINT64_MAX;
	}
	*ret = hi_take(o);
	return HI_OK;
}
