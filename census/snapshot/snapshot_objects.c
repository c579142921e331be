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

HI_DEFINE_GUARD(struct hi_objects *, hi_objects_destroy)

static enum hi_status load_object_columns(struct hi_snapshot *s, struct hi_objects *o,
					  struct hi_error *err)
{
	uint64_t n = o->count;
	void *items = NULL;
	enum hi_status status =
		hi_snapshot_column(s, "objects.address", 4, n, &items, err);

	o->address_low = items;
	if (status == HI_OK)
		status = hi_snapshot_column(s, "objects.usable", 4, n, &items, err);
	o->usable_low = items;
	if (status == HI_OK)
		status = hi_snapshot_column(s, "objects.type", 4, n, &items, err);
	o->type = items;
	if (status == HI_OK)
		status = hi_snapshot_column(s, "objects.flags", 1, n, &items, err);
	o->flags = items;
	return status;
}

static enum hi_status take_windows(struct hi_snapshot *s, struct hi_objects *o,
				   struct hi_error *err)
{
	const struct hi_snapshot_window *rows = NULL;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "windows", sizeof(*rows), &items, &n, err);

	if (status != HI_OK)
		return status;
	rows = items;
	if (n > o->count || (o->count && (!n || rows[0].first)))
		return hi_snapshot_bad(s, "windows", err,
				       "they do not cover the objects");
	for (uint64_t i = 0; i < n; i++) {
		struct hi_address_window w = {rows[i].base, rows[i].first};

		if (i && (rows[i].first <= rows[i - 1].first ||
			  rows[i].base <= rows[i - 1].base))
			return hi_snapshot_bad(s, "windows", err, "not in order");
		if (rows[i].first >= o->count || rows[i].base > UINT64_MAX - UINT32_MAX)
			return hi_snapshot_bad(s, "windows", err,
					       "row %" PRIu64
					       " refers to an object that does not exist",
					       i);
		if (!hi_vector_push(&o->priv->windows, w))
			return hi_fail_memory(err, "objects");
	}
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
	const struct hi_snapshot_large *rows = NULL;
	const void *items = NULL;
	uint64_t n = 0, large = 0;
	enum hi_status status =
		hi_snapshot_get(s, "large", sizeof(*rows), &items, &n, err);

	if (status != HI_OK)
		return status;
	rows = items;
	for (hi_node i = 0; i < o->count; i++)
		large += o->usable_low[i] == UINT32_MAX;
	if (large != n)
		return hi_snapshot_bad(s, "large", err, "%" PRIu64 " rows for %" PRIu64,
				       n, large);
	for (uint64_t i = 0; i < n; i++) {
		struct hi_large_object row = {rows[i].id, rows[i].usable};

		if (row.id >= o->count || o->usable_low[row.id] != UINT32_MAX ||
		    (i && row.id <= rows[i - 1].id))
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
				    uint32_t n_types, struct hi_error *err)
{
	uint32_t beyond = 0, unordered = 0, evidence = 0;

	for (hi_node i = 0; i < o->count; i++)
		beyond |= o->type[i] >= n_types;
	for (hi_node i = 0; i < o->count; i++)
		evidence |= (o->flags[i] & HI_OBJECT_EVIDENCE_MASK) > HI_EVIDENCE_RUNTIME;
	for (uint32_t w = 0; w < o->n_windows; w++)
		for (hi_node i = o->windows[w].first; i + 1 < o->windows[w + 1].first;
		     i++)
			unordered |= o->address_low[i] >= o->address_low[i + 1];
	if (beyond)
		return hi_snapshot_bad(s, "objects.type", err,
				       "a type that does not exist");
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

static void set_object_bounds(const struct hi_snapshot *s, struct hi_objects *o)
{
	char name[] = "overhead.0";

	for (unsigned i = 0; i < 4; i++) {
		name[sizeof(name) - 2] = (char)('0' + i);
		o->overhead[i] = (uint32_t)hi_snapshot_number(s, name, 0);
	}
	if (!o->count)
		return;
	o->low = hi_objects_address(o, 0);
	o->high = UINT64_MAX;
}

enum hi_status hi_snapshot_objects(struct hi_snapshot *s, uint32_t n_types,
				   struct hi_objects **ret, struct hi_error *err)
{
	HI_GUARD(hi_objects_destroy) struct hi_objects *o = hi_calloc(1, sizeof(*o));
	const void *first = NULL;
	uint64_t n = 0;
	enum hi_status status;

	if (!o || !(o->priv = hi_calloc(1, sizeof(*o->priv))))
		return hi_fail_memory(err, "objects");
	o->priv->is_borrowed = true;
	status = hi_snapshot_get(s, "objects.address", 4, &first, &n, err);
	if (status != HI_OK)
		return status;
	if (n >= HI_NODE_NONE)
		return hi_snapshot_bad(s, "objects.address", err, "too many objects");
	o->count = (hi_node)n;
	status = load_object_columns(s, o, err);
	if (status == HI_OK)
		status = take_windows(s, o, err);
	if (status == HI_OK)
		status = take_large(s, o, err);
	if (status == HI_OK)
		status = check_columns(s, o, n_types, err);
	if (status != HI_OK)
		return status;
	set_object_bounds(s, o);
	*ret = hi_take(o);
	return HI_OK;
}
