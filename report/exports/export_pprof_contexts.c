/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation profile: the call stacks of a recording, with what was allocated there
 * and what of it is in use.
 *
 * Note [Values of an allocation profile]
 *
 * As in the heap profiles of Go, tcmalloc and jemalloc there are four values a sample,
 * two of what is in use and two of all that was allocated:
 *	inuse_objects, inuse_space	allocations that are reachable at the end, and
 *					their bytes
 *	alloc_objects, alloc_space	allocations in the recording, and their bytes
 * Bytes are those that were requested, so that the first two are never larger than the
 * last two. A block that types split into many objects is one allocation. What was
 * allocated before the recording has no stack and no size as requested: it is one sample
 * of objects and of what they cost, and so is what is not recorded.
 *
 * Viewers leave out the frames that the profile names to drop: those of the allocator.
 * The name of a function is its short one, the system name the whole.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "census/events/in_use.h"
#include "report/exports/pprof_writer.h"
#include "report/exports/recorded_stacks.h"
#include "report/function_name.h"

enum { ALLOC_VALUES = 4 };
/* Locations that are no frame: ids from n_frames + 1 on. */
enum { NO_STACK, CUT, BEFORE, OTHER, NAMED };

static const char *const named_locations[NAMED] = {
	"(no stack)", "...", "(before the recording)", "(not recorded)"};

struct stacks_profile {
	struct hi_export *x;
	const struct hi_recorded *r;
	struct hi_pprof p;
	struct hi_in_use_sums in_use;
	struct hi_table functions; /* strings of name and file -> id */
	uint64_t n_functions;
	bool is_used[NAMED]; /* by named location */
};

/* ---- locations and functions ---- */

/* Returns the id of a function; it is written when it is new. */
static uint64_t id_of_function(struct stacks_profile *w, const char *name,
			       const char *file)
{
	char text[HI_FUNCTION_SHORT_SIZE];
	uint64_t key = hi_pprof_string(&w->p, name) << 32 | hi_pprof_string(&w->p, file);
	uint64_t id;

	if (hi_table_get(&w->functions, key, &id))
		return id;
	id = ++w->n_functions;
	w->p.failed |= !hi_table_put(&w->functions, key, id);
	hi_pprof_put_function(&w->p, id, hi_function_short(name, text, sizeof(text)),
			      name, file);
	return id;
}

static void add_line(struct stacks_profile *w, uint64_t function, uint32_t line)
{
	hi_protobuf_number(&w->p.inner, HI_PPROF_LINE_FUNCTION_ID, function);
	hi_protobuf_number(&w->p.inner, HI_PPROF_LINE_LINE, line);
	hi_protobuf_message(&w->p.message, HI_PPROF_LOCATION_LINE, &w->p.inner);
}

/* Functions go out as they are found, so before a location that is being built. */
static void find_functions(struct stacks_profile *w, uint32_t frame)
{
	const struct hi_frames *f = &w->r->frames;

	for (uint32_t k = f->first[frame]; k < f->first[frame + 1]; k++)
		id_of_function(w, hi_frame_row_name(&f->rows[k]), f->rows[k].file);
}

static void put_frame_location(struct stacks_profile *w, uint32_t frame)
{
	const struct hi_frames *f = &w->r->frames;
	const struct hi_frame_row *row = &f->rows[f->first[frame]];

	find_functions(w, frame);
	hi_protobuf_number(&w->p.message, HI_PPROF_LOCATION_ID, frame + 1ull);
	hi_protobuf_number(&w->p.message, HI_PPROF_LOCATION_MAPPING_ID,
			   hi_frame_row_file(row, w->p.mappings, w->p.n_mappings));
	hi_protobuf_number(&w->p.message, HI_PPROF_LOCATION_ADDRESS,
			   hi_frame_row_address(row, w->p.mappings, w->p.n_mappings));
	for (; row < &f->rows[f->first[frame + 1]]; row++)
		add_line(w, id_of_function(w, hi_frame_row_name(row), row->file),
			 row->line);
	hi_pprof_put(&w->p, HI_PPROF_LOCATION);
}

static uint64_t use_named_location(struct stacks_profile *w, unsigned which)
{
	w->is_used[which] = true;
	return w->r->frames.n_frames + which + 1ull;
}

static void put_named_location(struct stacks_profile *w, unsigned which)
{
	uint64_t function = id_of_function(w, named_locations[which], "");

	hi_protobuf_number(&w->p.message, HI_PPROF_LOCATION_ID,
			   use_named_location(w, which));
	add_line(w, function, 0);
	hi_pprof_put(&w->p, HI_PPROF_LOCATION);
}

static enum hi_status put_all_locations(struct stacks_profile *w, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < w->r->frames.n_frames && status == HI_OK; i++) {
		put_frame_location(w, i);
		status = hi_pprof_check(&w->p, err);
	}
	for (unsigned i = 0; i < NAMED; i++)
		if (w->is_used[i])
			put_named_location(w, i);
	return status;
}

/* ---- samples ---- */

static void put_alloc_sample(struct stacks_profile *w, const uint64_t *locations,
			     size_t n, const struct hi_in_use *used, uint64_t allocs,
			     uint64_t bytes)
{
	const uint64_t values[ALLOC_VALUES] = {used->allocations, used->bytes, allocs,
					       bytes};

	if (!values[0] && !values[2])
		return;
	hi_protobuf_packed(&w->p.message, HI_PPROF_SAMPLE_LOCATION_ID, locations, n);
	hi_protobuf_packed(&w->p.message, HI_PPROF_SAMPLE_VALUE, values, ALLOC_VALUES);
	hi_pprof_put(&w->p, HI_PPROF_SAMPLE);
}

static void put_context_sample(struct stacks_profile *w, uint32_t context)
{
	const struct hi_context_totals *totals = &w->r->totals[context];
	uint64_t locations[HI_STACK_FRAMES + 1];
	uint32_t frames[HI_STACK_FRAMES];
	size_t n = hi_context_frames(&w->r->contexts, context, frames);

	if (!totals->allocs && !w->in_use.by_context[context].allocations)
		return;
	for (size_t i = 0; i < n; i++)
		locations[i] = frames[i] + 1ull;
	if (!n)
		locations[n++] = use_named_location(w, NO_STACK);
	else if (w->r->contexts.contexts[context].flags & HI_CONTEXT_CUT)
		locations[n++] = use_named_location(w, CUT);
	put_alloc_sample(w, locations, n, &w->in_use.by_context[context], totals->allocs,
			 totals->bytes);
}

static void put_unrecorded_sample(struct stacks_profile *w, unsigned which,
				  const struct hi_in_use *used)
{
	uint64_t location;

	if (!used->allocations)
		return;
	location = use_named_location(w, which);
	put_alloc_sample(w, &location, 1, used, 0, 0);
}

static enum hi_status put_all_samples(struct stacks_profile *w, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < w->r->contexts.n_contexts && status == HI_OK; i++) {
		put_context_sample(w, i);
		status = hi_pprof_check(&w->p, err);
	}
	put_unrecorded_sample(w, BEFORE, &w->in_use.before);
	put_unrecorded_sample(w, OTHER, &w->in_use.other);
	return status;
}

/* ---- the rest ---- */

static void put_stacks_header(struct stacks_profile *w)
{
	const struct hi_births *births = w->r->births;
	struct hi_protobuf *to = &w->p.field;
	char allocators[HI_ALLOCATOR_REGEXP_SIZE];

	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "inuse_objects", "count");
	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "inuse_space", "bytes");
	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "alloc_objects", "count");
	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "alloc_space", "bytes");
	hi_pprof_put_value_type(&w->p, HI_PPROF_PERIOD_TYPE, "space", "bytes");
	if (w->x->header->time_ns != UINT64_MAX)
		hi_protobuf_number(to, HI_PPROF_TIME_NANOS, w->x->header->time_ns);
	if (births->end_ns > births->start_ns)
		hi_protobuf_number(to, HI_PPROF_DURATION_NANOS,
				   births->end_ns - births->start_ns);
	/* Every byte counts, unless the source took samples. */
	if (!w->r->counts.sampled)
		hi_protobuf_number(to, HI_PPROF_PERIOD, 1);
	hi_protobuf_number(to, HI_PPROF_COMMENT,
			   hi_pprof_string(&w->p,
					   "alloc: in the recording; inuse: what is "
					   "reachable at its end; bytes as requested"));
	hi_protobuf_number(to, HI_PPROF_DEFAULT_SAMPLE_TYPE,
			   hi_pprof_string(&w->p, "inuse_space"));
	hi_frame_allocator_regexp(allocators);
	hi_protobuf_number(to, HI_PPROF_DROP_FRAMES, hi_pprof_string(&w->p, allocators));
	hi_pprof_flush(&w->p);
}

static enum hi_status put_stacks_profile(struct stacks_profile *w, struct hi_error *err)
{
	enum hi_status status = hi_pprof_open(&w->p, w->x, err);

	if (status != HI_OK)
		return status;
	put_stacks_header(w);
	hi_pprof_put_mappings(&w->p);
	status = put_all_samples(w, err);
	if (status == HI_OK)
		status = put_all_locations(w, err);
	return status == HI_OK ? hi_pprof_finish(&w->p, err) : status;
}

static enum hi_status sum_in_use(struct stacks_profile *w, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *live = w->x->source->live_bits(w->x->arg);
	uint32_t n = w->r->contexts.n_contexts;

	w->in_use.n_contexts = n;
	w->in_use.by_context = hi_calloc((size_t)n + 1, sizeof(*w->in_use.by_context));
	if (!live || !w->in_use.by_context)
		return hi_fail_memory(err, "export");
	hi_in_use_sum(w->r->births, w->x->graph->objects, live, &w->in_use);
	return HI_OK;
}

enum hi_status hi_export_pprof_contexts(struct hi_export *x, struct hi_error *err)
{
	struct stacks_profile w = {.x = x};
	enum hi_status status = x->source->recorded(x->arg, true, &w.r, err);

	if (status == HI_OK)
		status = sum_in_use(&w, err);
	if (status == HI_OK)
		status = put_stacks_profile(&w, err);
	if (status == HI_OK) {
		hi_export_warn_leaked(x);
		hi_export_warn_lost(x, w.r);
	}
	free(w.in_use.by_context);
	hi_table_free(&w.functions);
	hi_pprof_close(&w.p);
	return status;
}
