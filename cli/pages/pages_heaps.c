/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/pages_heaps.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "session/computed.h"

HI_DEFINE_GUARD(struct hi_pages_request *, hi_pages_request_destroy)

/* Of texts that pages leave in the arena of an inspection. */
enum { MOST_LEFT = 64 << 20 };
static const unsigned stored_tables = HI_WANT_ONLY_CENSUS | HI_WANT_ONLY_RETAINED;

static void close_heap(struct hi_pages_heap *heap)
{
	hi_inspect_close(heap->in);
	hi_pages_request_destroy(heap->opened);
	*heap = (struct hi_pages_heap){};
}

void hi_pages_heaps_free(struct hi_pages_heaps *heaps)
{
	for (size_t i = 0; i < HI_PAGES_HEAPS; i++)
		close_heap(&heaps->items[i]);
}

bool hi_pages_heaps_have_graph(const struct hi_pages_heaps *heaps, const char *key)
{
	for (size_t i = 0; i < HI_PAGES_HEAPS; i++) {
		const struct hi_pages_heap *heap = &heaps->items[i];

		if (heap->used && !heap->is_outline && strcmp(heap->key, key) == 0)
			return true;
	}
	return false;
}

bool hi_pages_heaps_warm_up(struct hi_pages_heaps *heaps)
{
	struct hi_pages_heap *first = NULL;

	for (size_t i = 0; i < HI_PAGES_HEAPS; i++) {
		struct hi_pages_heap *heap = &heaps->items[i];

		if (!heap->used || heap->is_outline)
			continue;
		/* The one that is prepared already, or partly. */
		if (heap->in->kept.paths)
			return hi_kept_warm_up(heap->in);
		first = first && first->used > heap->used ? first : heap;
	}
	return first && hi_kept_warm_up(first->in);
}

/* Would the stored table answer these options? */
static bool has_stored_answer(struct hi_inspection *in, const struct hi_options *options)
{
	const struct hi_options *before = in->options;
	unsigned wanted = in->wanted;
	bool has;

	in->options = options;
	in->wanted = options->command->wanted;
	has = hi_inspect_has_answer(in);
	in->options = before;
	in->wanted = wanted;
	return has;
}

/* One that is open and has what the request needs, or can compute it. NULL: there is
 * none, or a stored table answers, which is read faster than the rest is computed. */
static struct hi_pages_heap *find_open_heap(struct hi_pages_heaps *heaps,
					    const struct hi_pages_request *r)
{
	unsigned table = r->options.command->wanted & stored_tables;
	struct hi_pages_heap *graph = NULL;
	bool is_stored = false;

	for (size_t i = 0; i < HI_PAGES_HEAPS; i++) {
		struct hi_pages_heap *heap = &heaps->items[i];

		if (!heap->used || strcmp(heap->key, r->key) != 0)
			continue;
		if (table && !is_stored)
			is_stored = has_stored_answer(heap->in, &r->options);
		if (heap->is_outline && is_stored &&
		    (heap->in->wanted & stored_tables) == table)
			return heap;
		graph = heap->is_outline ? graph : heap;
	}
	return is_stored ? NULL : graph;
}

/* An empty place; what was used longest ago is closed for it. */
static struct hi_pages_heap *make_heap_room(struct hi_pages_heaps *heaps, bool graphs)
{
	struct hi_pages_heap *empty = NULL, *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < HI_PAGES_HEAPS; i++) {
		struct hi_pages_heap *heap = &heaps->items[i];

		if (!heap->used) {
			empty = empty ? empty : heap;
			continue;
		}
		if (graphs && heap->is_outline)
			continue;
		n++;
		if (!oldest || heap->used < oldest->used)
			oldest = heap;
	}
	if (oldest && n >= (graphs ? (size_t)HI_PAGES_GRAPHS : (size_t)HI_PAGES_HEAPS)) {
		close_heap(oldest);
		return oldest;
	}
	return empty;
}

#define SQL_NS 5000000000u /* of one statement */

/* The inspection keeps strings of its options: it gets a request of its own. */
static enum hi_status open_heap(struct hi_pages_heaps *heaps,
				const struct hi_pages_request *request,
				struct hi_pages_heap **ret, struct hi_error *err)
{
	HI_GUARD(hi_pages_request_destroy) struct hi_pages_request *r = NULL;
	static const struct hi_run run = {.most_sql_ns = SQL_NS};
	unsigned wanted = request->options.command->wanted;
	struct hi_inspection *in = NULL;
	struct hi_pages_heap *heap;
	enum hi_status status =
		hi_pages_request_read(request->text, request->files, &r, err);

	/* Evicts a graph first; whether the new entry needs one is known only after it is
	 * opened. */
	(void)make_heap_room(heaps, true);
	heap = make_heap_room(heaps, false);
	if (status == HI_OK)
		status = hi_inspect_open(&r->options, &run, wanted, &in, err);
	if (status != HI_OK)
		return status;
	*heap = (struct hi_pages_heap){.in = in,
				       .key = r->key,
				       .is_outline = wanted & stored_tables &&
						     hi_inspect_has_answer(in)};
	heap->opened = hi_take(r);
	if (!heap->is_outline)
		in->wanted &= ~stored_tables;
	heap->n_warnings = in->diagnostics.warnings.count;
	heap->n_notes = in->diagnostics.notes.count;
	heap->arena_used = in->arena.used;
	*ret = heap;
	return HI_OK;
}

/* What decides which objects count is that of the request which opened it: equal, and it
 * lives longer. */
static void borrow_options(struct hi_pages_heap *heap, const struct hi_options *of)
{
	const struct hi_options *opened = &heap->opened->options;

	heap->options = *of;
	heap->options.profile = opened->profile;
	heap->options.target = opened->target;
	heap->options.selection.births = opened->selection.births;
	if (of->selection.type && opened->selection.type &&
	    strcmp(of->selection.type, opened->selection.type) == 0)
		heap->options.selection.type = opened->selection.type;
	heap->in->options = &heap->options;
}

enum hi_status hi_pages_heap_enter(struct hi_pages_heaps *heaps,
				   const struct hi_pages_request *request,
				   struct hi_pages_heap **ret, struct hi_error *err)
{
	struct hi_pages_heap *heap = find_open_heap(heaps, request);
	enum hi_status status = heap ? HI_OK : open_heap(heaps, request, &heap, err);

	if (status != HI_OK)
		return status;
	heap->used = ++heaps->clock;
	borrow_options(heap, &request->options);
	heap->in->diagnostics.failures_before = hi_alloc_failures();
	heap->in->phases.list.count = 0;
	if (!heap->is_outline)
		status = hi_inspect_more(
			heap->in, request->options.command->wanted & ~stored_tables, err);
	if (status != HI_OK)
		hi_pages_heap_leave(heap, status);
	*ret = heap;
	return status;
}

void hi_pages_heap_leave(struct hi_pages_heap *heap, enum hi_status status)
{
	struct hi_inspection *in = heap->in;

	if ((status != HI_OK && status != HI_USAGE && status != HI_NOT_FOUND &&
	     status != HI_UNSUPPORTED && status != HI_LIMIT) ||
	    in->arena.used - heap->arena_used > MOST_LEFT) {
		close_heap(heap);
		return;
	}
	in->options = &heap->opened->options;
	in->diagnostics.has_finding = false;
	if (in->diagnostics.warnings.count > heap->n_warnings)
		in->diagnostics.warnings.count = heap->n_warnings;
	if (in->diagnostics.notes.count > heap->n_notes)
		in->diagnostics.notes.count = heap->n_notes;
}
