/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings in a recording: what is mapped and unmapped are ranges, of any part of one or
 * of several mappings. */
#include "census/events/recording_internal.h"

enum { MAPPED_PAGE = 4096 };

static uint64_t end_of_range(uint64_t addr, uint64_t size)
{
	uint64_t end = addr + ((size + MAPPED_PAGE - 1) & ~(uint64_t)(MAPPED_PAGE - 1));

	return end < addr ? UINT64_MAX : end;
}

struct unmapping {
	struct hi_recording *recording;
	struct hi_mapped_table *kept; /* NULL: what is taken is gone */
	bool no_memory;
};

/* The number of records is that of the added ones less those that are gone: a part that
 * is left beside another one counts as added. */
static void take_mapped(void *arg, const struct hi_live_allocation *taken,
			unsigned n_left)
{
	struct unmapping *u = arg;
	struct hi_context_totals *t = &u->recording->by_source[taken->source];

	t->frees += n_left == 0;
	t->allocs += n_left == 2;
	t->freed_bytes += taken->size;
	if (u->kept && !hi_vector_push(u->kept, *taken))
		u->no_memory = true;
}

static enum hi_status unmap_range(struct hi_recording *r, uint64_t addr, uint64_t size,
				  struct hi_mapped_table *kept, struct hi_error *err)
{
	struct unmapping u = {.recording = r, .kept = kept};

	if (!hi_mapped_remove(&r->mapped, addr, end_of_range(addr, size), take_mapped,
			      &u) ||
	    u.no_memory)
		return hi_recording_fail_memory(err);
	return HI_OK;
}

/* It takes the place of what was mapped there (MAP_FIXED). */
static enum hi_status map_range(struct hi_recording *r, const struct hi_event *e,
				struct hi_error *err)
{
	struct hi_live_allocation live = hi_live_of_event(e);
	struct hi_context_totals *t = &r->by_source[live.source];
	enum hi_status status = unmap_range(r, e->addr, e->size, NULL, err);

	live.size = (end_of_range(e->addr, e->size) - e->addr) & HI_LIVE_SIZE_MAX;
	if (status != HI_OK || !live.size)
		return status;
	status = hi_recording_number_context(r, e, &live.context, err);
	if (status != HI_OK)
		return status;
	if (!hi_mapped_add(&r->mapped, &live))
		return hi_recording_fail_memory(err);
	t->allocs++;
	t->bytes += live.size;
	hi_totals_raise(t);
	return HI_OK;
}

/* mremap failed. */
static enum hi_status put_parts_back(struct hi_recording *r,
				     struct hi_mapped_table *parts, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	unsigned n_joined = 0;

	for (size_t i = 0; i < parts->count && status == HI_OK; i++) {
		const struct hi_live_allocation *part = &parts->items[i];

		r->by_source[part->source].allocs++;
		r->by_source[part->source].freed_bytes -= part->size;
		if (!hi_mapped_restore(&r->mapped, part, &n_joined))
			status = hi_recording_fail_memory(err);
		r->by_source[part->source].frees += n_joined;
	}
	parts->count = 0;
	return status;
}

static enum hi_status begin_remap(struct hi_recording *r, const struct hi_event *e,
				  struct hi_error *err)
{
	struct hi_realloc_call *call;
	enum hi_status status = hi_recording_need_realloc(r, e, &call, err);

	if (status != HI_OK)
		return status;
	call->is_open = true;
	call->addr = e->addr;
	call->parts.count = 0;
	return unmap_range(r, e->addr, e->size, &call->parts, err);
}

static enum hi_status end_remap(struct hi_recording *r, const struct hi_event *e,
				struct hi_error *err)
{
	struct hi_realloc_call *call = hi_recording_find_realloc(r, e);
	bool began = call && call->is_open && call->addr == e->old;

	r->counts.lost_begins += !began;
	if (call)
		call->is_open = false;
	if (e->addr)
		return map_range(r, e, err);
	r->counts.failed_reallocs++;
	return began ? put_parts_back(r, &call->parts, err) : HI_OK;
}

enum hi_status hi_recording_apply_to_mappings(struct hi_recording *r,
					      const struct hi_event *e,
					      struct hi_error *err)
{
	switch (e->kind) {
	case HI_EVENT_ALLOC:
		return e->addr ? map_range(r, e, err) : HI_OK;
	case HI_EVENT_FREE:
		return unmap_range(r, e->addr, e->size, NULL, err);
	case HI_EVENT_REALLOC_BEGIN:
		return begin_remap(r, e, err);
	case HI_EVENT_REALLOC_END:
		return end_remap(r, e, err);
	default:
		r->counts.other_kinds++;
		return HI_OK;
	}
}
