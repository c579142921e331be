/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of a drawn recording against loops over its columns. */
#include "base/alloc.h"
#include "tests/census/recordings.h"
#include "tests/query/world.h"

enum { EVENTS = 400, LENGTH_NS = 5000 };

struct recorded_world {
	struct query_world *w;
	struct timeline t;
	struct hi_recording *recording;
	struct hi_frames_builder *builder;
	struct hi_births births;
	struct hi_recorded recorded;
	bool is_absent;
	unsigned asked; /* for the recording */
};

static void close_recorded_world(struct recorded_world *rw)
{
	free((void *)(uintptr_t)rw->births.context);
	free((void *)(uintptr_t)rw->births.thread);
	free((void *)(uintptr_t)rw->births.time_ns);
	free((void *)(uintptr_t)rw->births.size);
	hi_frames_builder_destroy(rw->builder);
	hi_recording_destroy(rw->recording);
	free(rw);
}

static enum hi_status feed_drawn_recording(void *arg, const struct hi_recorded **ret,
					   struct hi_error *err)
{
	struct recorded_world *rw = arg;

	rw->asked++;
	if (rw->is_absent)
		return hi_fail(err, HI_NOT_FOUND, 0, "no recording");
	*ret = &rw->recorded;
	return HI_OK;
}

/* Three of four objects have a record, of any context. */
static void draw_births(struct recorded_world *rw, uint64_t seed)
{
	static const uint32_t threads[] = {7, 12, 4000000};
	uint32_t n = rw->w->g->n_objects, n_contexts = rw->recorded.contexts.n_contexts;
	uint32_t *context = calloc(n, 4), *thread = calloc(n, 4);
	uint64_t *time_ns = calloc(n, 8), *size = calloc(n, 8), x = seed * 2 + 1;

	HI_ASSERT(context && thread && time_ns && size);
	for (uint32_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		context[i] = i % 8 == 3	  ? HI_BIRTH_NONE
			     : i % 8 == 6 ? HI_BIRTH_OTHER
					  : (uint32_t)(x >> 33) % n_contexts;
		if (context[i] >= HI_BIRTH_OTHER)
			continue;
		thread[i] = (uint32_t)(x >> 40) % 3;
		/* Some are younger than the end. */
		time_ns[i] = (x >> 20) % (LENGTH_NS + 100);
		size[i] = (x >> 50) % 100;
	}
	rw->births = (struct hi_births){.n_objects = n,
					.context = context,
					.thread = thread,
					.time_ns = time_ns,
					.size = size,
					.threads = threads,
					.n_threads = 3,
					.start_ns = 1000,
					.end_ns = 1000 + LENGTH_NS};
	rw->recorded.births = &rw->births;
}

static struct recorded_world *recorded_world_of(uint64_t seed)
{
	struct recorded_world *rw = calloc(1, sizeof(*rw));
	struct hi_error err;

	HI_ASSERT(rw);
	hi_test_defer(close_recorded_world, rw);
	rw->w = world_of(seed, 60);
	rw->recording = drawn_recording(&rw->t, seed, EVENTS);
	rw->builder = drawn_frames(rw->recording);
	hi_contexts_view(hi_recording_contexts(rw->recording), &rw->recorded.contexts);
	rw->recorded.frames = hi_frames_builder_view(rw->builder);
	rw->recorded.totals = hi_recording_by_context(rw->recording);
	draw_births(rw, seed);
	hi_query_close(rw->w->q);
	rw->w->q = NULL;
	rw->w->source.recorded = feed_drawn_recording;
	rw->w->source.arg = rw;
	/* These have another arg. */
	rw->w->source.dominators = NULL;
	rw->w->source.census = NULL;
	rw->w->source.censuses = NULL;
	HI_ASSERT_OK(hi_query_open(&rw->w->source, &rw->w->q, &err), &err);
	return rw;
}

static void check_allocation(const struct recorded_world *rw, hi_node i,
			     const struct hi_result_cell *row)
{
	const struct hi_births *b = &rw->births;

	HI_ASSERT(row);
	HI_ASSERT_EQ(i, row[0].integer);
	HI_ASSERT_EQ(b->context[i], row[1].integer);
	HI_ASSERT_EQ(b->threads[b->thread[i]], row[2].integer);
	HI_ASSERT_EQ(b->time_ns[i] < LENGTH_NS ? LENGTH_NS - b->time_ns[i] : 0,
		     row[3].integer);
	HI_ASSERT_EQ(b->time_ns[i], row[4].integer);
	HI_ASSERT_EQ(b->size[i], row[5].integer);
}

HI_TEST(query_recorded, allocations_are_the_objects_with_a_record)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct recorded_world *rw = recorded_world_of(seed);
		const struct hi_births *b = &rw->births;
		hi_node n = b->n_objects;

		world_ask(rw->w, "SELECT * FROM allocations");
		for (hi_node i = 0; i < n; i++)
			if (b->context[i] < HI_BIRTH_OTHER)
				check_allocation(rw, i, world_row(rw->w));
		HI_ASSERT(!world_row(rw->w));
		world_ask(rw->w, "SELECT * FROM allocations ORDER BY object DESC");
		for (hi_node i = n; i-- > 0;)
			if (b->context[i] < HI_BIRTH_OTHER)
				check_allocation(rw, i, world_row(rw->w));
		HI_ASSERT(!world_row(rw->w));
		for (hi_node i = 0; i < n; i++)
			HI_ASSERT_EQ(b->context[i] < HI_BIRTH_OTHER,
				     world_number(rw->w,
						  "SELECT count(*) FROM objects o JOIN "
						  "allocations a ON a.object = o.id "
						  "WHERE o.id = %u",
						  i));
		HI_ASSERT_EQ(1, rw->asked);
	}
}

HI_TEST(query_recorded, a_context_finds_its_allocations)
{
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct recorded_world *rw = recorded_world_of(seed);
		const struct hi_births *b = &rw->births;

		for (int64_t c = -1; c <= rw->recorded.contexts.n_contexts; c++) {
			world_ask(rw->w, "SELECT * FROM allocations WHERE context = %lld",
				  (long long)c);
			for (hi_node i = 0; i < b->n_objects; i++)
				if (b->context[i] == c)
					check_allocation(rw, i, world_row(rw->w));
			HI_ASSERT(!world_row(rw->w));
		}
	}
}

static void check_row_of_frame(const struct hi_frame_row *row,
			       const struct hi_result_cell *cell)
{
	HI_ASSERT(cell_is(&cell[0], row->function));
	HI_ASSERT(cell_is(&cell[1], row->file));
	HI_ASSERT_EQ(row->line ? HI_RESULT_INTEGER : HI_RESULT_NULL, cell[2].kind);
	HI_ASSERT(!row->line || row->line == cell[2].integer);
	HI_ASSERT(cell_is(&cell[3], row->module));
	HI_ASSERT_EQ(row->offset, cell[4].integer);
}

HI_TEST(query_recorded, contexts_have_their_totals_and_sites)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct recorded_world *rw = recorded_world_of(seed);
		const struct hi_recorded *r = &rw->recorded;

		world_ask(rw->w, "SELECT function, file, line, module, offset, id, "
				 "allocations, bytes, frees, freed_bytes, most_live, "
				 "most_bytes, truncated FROM contexts");
		for (uint32_t c = 0; c < r->contexts.n_contexts; c++) {
			const struct hi_result_cell *row = world_row(rw->w);
			uint32_t site = hi_context_site(&r->contexts, &r->frames, c);

			HI_ASSERT(row);
			if (site < r->frames.n_rows)
				check_row_of_frame(&r->frames.rows[site], row);
			else
				HI_ASSERT_EQ(HI_RESULT_NULL, row[0].kind);
			HI_ASSERT_EQ(c, row[5].integer);
			HI_ASSERT_EQ(r->totals[c].allocs, row[6].integer);
			HI_ASSERT_EQ(r->totals[c].bytes, row[7].integer);
			HI_ASSERT_EQ(r->totals[c].frees, row[8].integer);
			HI_ASSERT_EQ(r->totals[c].freed_bytes, row[9].integer);
			HI_ASSERT_EQ(r->totals[c].most_live, row[10].integer);
			HI_ASSERT_EQ(r->totals[c].most_bytes, row[11].integer);
			HI_ASSERT_EQ(r->contexts.contexts[c].flags & HI_CONTEXT_CUT ? 1
										    : 0,
				     row[12].integer);
		}
		HI_ASSERT(!world_row(rw->w));
	}
}

/* Rows of a stack, from the one that the statement stands before. */
static void check_stack(struct recorded_world *rw, uint32_t context)
{
	const struct hi_frames *f = &rw->recorded.frames;
	uint32_t frames[HI_STACK_FRAMES], depth = 0;
	unsigned n = hi_context_frames(&rw->recorded.contexts, context, frames);

	for (unsigned i = 0; i < n; i++)
		for (uint32_t k = f->first[frames[i]]; k < f->first[frames[i] + 1]; k++) {
			const struct hi_result_cell *row = world_row(rw->w);

			HI_ASSERT(row);
			check_row_of_frame(&f->rows[k], row);
			HI_ASSERT_EQ(context, row[5].integer);
			HI_ASSERT_EQ(depth++, row[6].integer);
			HI_ASSERT_EQ(k + 1 < f->first[frames[i] + 1], row[7].integer);
		}
}

HI_TEST(query_recorded, frames_are_the_functions_of_each_stack)
{
	static const char columns[] =
		"SELECT function, file, line, module, offset, context, depth, inlined "
		"FROM context_frames";

	for (uint64_t seed = 0; seed < 10; seed++) {
		struct recorded_world *rw = recorded_world_of(seed);
		uint32_t n = rw->recorded.contexts.n_contexts;

		world_ask(rw->w, "%s", columns);
		for (uint32_t c = 0; c < n; c++)
			check_stack(rw, c);
		HI_ASSERT(!world_row(rw->w));
		for (uint32_t c = 0; c < n; c++) {
			world_ask(rw->w, "%s WHERE context = %u", columns, c);
			check_stack(rw, c);
			HI_ASSERT(!world_row(rw->w));
		}
		HI_ASSERT_EQ(0, world_number(rw->w,
					     "SELECT count(*) FROM context_frames "
					     "WHERE context = -1 OR context = %u",
					     n));
		HI_ASSERT_EQ(1, rw->asked);
	}
}

HI_TEST(query_recorded, the_recording_is_read_when_it_is_asked_for)
{
	static const char *const statements[] = {"SELECT * FROM allocations",
						 "SELECT * FROM contexts",
						 "SELECT * FROM context_frames",
						 "SELECT * FROM objects LEFT JOIN "
						 "allocations ON object = id"};
	struct recorded_world *rw = recorded_world_of(1);
	const struct hi_result_cell *cells;
	struct hi_query_mistake mistake;
	struct hi_error err;

	HI_ASSERT(world_number(rw->w, "SELECT count(*) FROM objects") > 0);
	for (size_t i = 0; i < 4; i++)
		world_ask(rw->w, "%s", statements[i]);
	HI_ASSERT_EQ(0, rw->asked);
	rw->is_absent = true;
	for (size_t i = 0; i < 4; i++) {
		HI_ASSERT_OK(hi_query_prepare(rw->w->q, statements[i], &mistake, &err),
			     &err);
		HI_ASSERT_STATUS(HI_NOT_FOUND, hi_query_step(rw->w->q, &cells, &err));
		HI_ASSERT_STREQ("no recording", err.text);
	}
}

HI_TEST(query_recorded, failing_allocations_are_reported)
{
	struct recorded_world *rw = recorded_world_of(2);
	const struct hi_result_cell *cells;
	struct hi_error err;
	uint64_t nth = 1;

	for (enum hi_status status = HI_NO_MEMORY; status != HI_OK; nth++) {
		HI_ASSERT(nth < 20);
		world_ask(rw->w, "SELECT count(*) FROM allocations WHERE context = 1");
		hi_alloc_fail_at(nth);
		status = hi_query_step(rw->w->q, &cells, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	}
	HI_ASSERT(nth > 2);
}
