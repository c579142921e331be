/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/live_recorded.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "census/events/sampling.h"
#include "decode/describe/frame_names.h"
#include "session/live/recorder.h"
#include "session/live/traced.h"
#include "session/recorded.h"

/* What in->recorded is of here. */
struct joined_recording {
	struct hi_recorded recorded; /* first */
	struct hi_births *births;
	struct hi_piece_list *pieces;
	struct hi_frames_builder *names;
	uint64_t *overheads;	     /* by context */
	uint64_t *outstanding;	     /* by context; NULL: there are no windows */
	struct hi_recording *traced; /* of a program that traces itself; else NULL */
};

static void free_joined_recording(struct joined_recording *j)
{
	if (!j)
		return;
	hi_births_destroy(j->births);
	hi_piece_list_destroy(j->pieces);
	hi_frames_builder_destroy(j->names);
	hi_recording_destroy(j->traced);
	free(j->overheads);
	free(j->outstanding);
	free(j);
}

HI_DEFINE_GUARD(struct joined_recording *, free_joined_recording)

void hi_live_close_recorded(struct hi_inspection *in)
{
	free_joined_recording((struct joined_recording *)hi_take(in->recorded));
}

/* ---- objects that cannot have a record ---- */

struct block_marking {
	const struct hi_objects *objects;
	uint64_t *bits;
	bool has_unknown_start; /* one of the blocks */
};

/* With all of the pieces that it was split into. */
static void mark_block(const struct block_marking *m, uint64_t addr)
{
	hi_node first = hi_objects_find(m->objects, addr, NULL);

	if (first == HI_NODE_NONE)
		return;
	for (hi_node last = hi_births_last_piece(m->objects, first); first <= last;
	     first++)
		hi_bit_set(m->bits, first);
}

static bool mark_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			void *arg)
{
	struct block_marking *m = arg;

	(void)region;
	for (size_t i = 0; i < n; i++)
		if (blocks[i].state == HI_BLOCK_LIVE)
			mark_block(m, blocks[i].addr);
	return true;
}

static bool mark_unknown_starts(const struct hi_block *blocks, size_t n, unsigned region,
				void *arg)
{
	struct block_marking *m = arg;

	(void)region;
	for (size_t i = 0; i < n; i++)
		if (blocks[i].state == HI_BLOCK_LIVE && blocks[i].is_start_unknown) {
			mark_block(m, blocks[i].addr);
			m->has_unknown_start = true;
		}
	return true;
}

static bool mark_runtime_blocks(const struct hi_runtime_block *blocks, size_t n,
				size_t area, void *arg)
{
	struct block_marking *m = arg;

	(void)area;
	for (size_t i = 0; i < n; i++)
		mark_block(m, blocks[i].addr);
	return true;
}

/* Where other heaps are not decoded, what is outside of the known one may be of a heap
 * whose functions are followed: it counts as from before. */
static enum hi_status mark_other_objects(struct hi_inspection *in,
					 struct hi_births *births, struct hi_error *err)
{
	struct block_marking m = {.objects = in->graph->objects};
	enum hi_status status;

	if (!in->decoders.allocator || *in->decoders.not_decoded)
		return HI_OK;
	m.bits = hi_calloc(1, hi_bits_size(births->n_objects) + 8);
	if (!m.bits)
		return hi_fail_memory(err, "blocks of a recording");
	status = hi_allocator_walk(in->decoders.allocator, mark_blocks, &m, err);
	if (status == HI_OK && in->decoders.runtime &&
	    hi_recorder_follows_python_heap(in->run->recorder))
		status = hi_runtime_walk(in->decoders.runtime, mark_runtime_blocks, &m,
					 err);
	if (status == HI_OK)
		hi_births_mark_other(births, m.bits);
	free(m.bits);
	return status;
}

/* Those whose blocks may begin anywhere inside them; NULL: none. */
static enum hi_status find_unknown_starts(const struct hi_inspection *in,
					  uint64_t **bits_ret, struct hi_error *err)
{
	struct block_marking m = {.objects = in->graph->objects};
	enum hi_status status;

	*bits_ret = NULL;
	if (!hi_allocator_has(in->decoders.allocator, "mimalloc"))
		return HI_OK;
	m.bits = hi_calloc(1, hi_bits_size(in->graph->objects->count) + 8);
	if (!m.bits)
		return hi_fail_memory(err, "blocks of a recording");
	status = hi_allocator_walk(in->decoders.allocator, mark_unknown_starts, &m, err);
	if (status == HI_OK && m.has_unknown_start)
		*bits_ret = hi_take(m.bits);
	free(m.bits);
	return status;
}

/* ---- what allocations cost ---- */

/* As glibc rounds sizes: of another allocator nothing is known. After the names. */
static enum hi_status copy_overheads(const struct hi_inspection *in,
				     const struct hi_recording *recording,
				     struct joined_recording *j, struct hi_error *err)
{
	const double *overheads = hi_recording_overheads(recording);
	uint32_t n = j->recorded.contexts.n_contexts;

	if (!in->decoders.allocator || in->decoders.allocator->n_parts ||
	    !hi_allocator_has(in->decoders.allocator, "glibc"))
		return HI_OK;
	j->overheads = hi_calloc(n + 1u, sizeof(*j->overheads));
	if (!j->overheads)
		return hi_fail_memory(err, "recording");
	for (uint32_t i = 0; i < n; i++)
		j->overheads[i] = hi_estimate_round(overheads[i]);
	j->recorded.overheads = j->overheads;
	return HI_OK;
}

/* ---- windows ---- */

/* Before what is live is forgotten. */
static enum hi_status count_outstanding(const struct hi_recording *recording,
					struct joined_recording *j, struct hi_error *err)
{
	struct hi_live_allocation live;
	struct hi_context_view view;

	if (!hi_recording_windows(recording))
		return HI_OK;
	hi_contexts_view(hi_recording_contexts(recording), &view);
	j->outstanding = hi_calloc(view.n_contexts + 1u, sizeof(*j->outstanding));
	if (!j->outstanding)
		return hi_fail_memory(err, "recording");
	for (uint64_t at = 0; hi_recording_next(recording, &at, &live);)
		if (live.context < view.n_contexts)
			j->outstanding[live.context]++;
	return HI_OK;
}

/* ---- all together ---- */

static enum hi_status join_births(struct hi_inspection *in,
				  const struct hi_recorder *recorder,
				  struct joined_recording *j, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *unknown_starts = NULL;
	enum hi_status status;

	hi_inspect_phase(in, "joining the recording");
	status = find_unknown_starts(in, &unknown_starts, err);
	if (status == HI_OK)
		status = hi_births_join_inside(
			hi_recorder_recording(recorder), in->graph->objects,
			hi_recorder_start_ns(recorder), hi_recorder_end_ns(recorder),
			unknown_starts, &j->births, err);
	if (status == HI_OK)
		status = hi_piece_list_make(
			hi_recorder_recording(recorder), in->graph->objects,
			hi_recorder_start_ns(recorder), &j->pieces, err);
	return status == HI_OK ? mark_other_objects(in, j->births, err) : status;
}

/* By what is mapped now, and of what has gone by its files. The thread of the recorder
 * changes what it knows of code also while the recording is held: hence the lock. */
static enum hi_status add_stack_names(struct hi_inspection *in,
				      struct hi_recorder *recorder,
				      const struct hi_past_code_request *request,
				      struct hi_frames_builder *ret, struct hi_error *err)
{
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *now = NULL;
	enum hi_status status = hi_frames_builder_create(&now, err);
	struct hi_frames frames;

	if (status == HI_OK)
		status = hi_frame_names_add(in->decoders.modules,
					    hi_recorder_python_codes(recorder),
					    request->addresses, request->n, now, err);
	if (status != HI_OK)
		return status;
	frames = hi_frames_builder_view(now);
	return hi_past_code_names(hi_recorder_code(recorder), request, &frames, ret, err);
}

static enum hi_status name_stacks(struct hi_inspection *in, struct hi_recorder *recorder,
				  struct joined_recording *j, struct hi_error *err)
{
	const struct hi_contexts *contexts =
		hi_recording_contexts(hi_recorder_recording(recorder));
	struct hi_past_code_request request = {.debug_dir =
						       in->options->decoding.debug_dir};
	enum hi_status status = hi_frames_builder_create(&j->names, err);

	hi_inspect_phase(in, "names of stacks");
	hi_contexts_view(contexts, &j->recorded.contexts);
	request.addresses = hi_contexts_addresses(contexts);
	request.n = j->recorded.contexts.n_frames;
	hi_recorder_lock(recorder);
	if (status == HI_OK)
		status = add_stack_names(in, recorder, &request, j->names, err);
	hi_recorder_unlock(recorder);
	if (status == HI_OK)
		j->recorded.frames = hi_frames_builder_view(j->names);
	return status;
}

enum hi_status hi_live_read_events(struct hi_inspection *in,
				   const struct hi_stored_events **ret,
				   struct hi_error *err)
{
	(void)in, (void)ret;
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "events are in the file that record --keep-events writes");
}

/* ---- traces ---- */

/* A block without a trace was allocated before the program traced, or by C code. */
static enum hi_status join_traces(struct hi_inspection *in, struct joined_recording *j,
				  struct hi_error *err)
{
	const struct hi_objects *objects = in->graph->objects;
	HI_GUARD(free) uint64_t *none = hi_calloc(1, hi_bits_size(objects->count) + 8);
	enum hi_status status;

	if (!none)
		return hi_fail_memory(err, "traces of Python");
	status = hi_births_join(j->traced, objects, 0, 0, &j->births, err);
	if (status != HI_OK)
		return status;
	hi_births_mark_other(j->births, none);
	j->births->is_traced = 1;
	return HI_OK;
}

/* By the program's own tracemalloc, which knows neither times nor threads. */
static enum hi_status read_traced(struct hi_inspection *in, struct hi_error *err)
{
	HI_GUARD(free_joined_recording)
	struct joined_recording *j = hi_calloc(1, sizeof(*j));
	enum hi_status status;

	if (!j)
		return hi_fail_memory(err, "traces of Python");
	status = hi_live_read_traces(in, &j->traced, &j->names, err);
	if (status == HI_OK)
		status = join_traces(in, j, err);
	if (status != HI_OK)
		return status;
	hi_contexts_view(hi_recording_contexts(j->traced), &j->recorded.contexts);
	j->recorded.frames = hi_frames_builder_view(j->names);
	j->recorded.births = j->births;
	j->recorded.totals = hi_recording_by_context(j->traced);
	j->recorded.ports = hi_recording_ports(j->traced);
	hi_recording_counts(j->traced, &j->recorded.counts);
	in->recorded = &hi_take(j)->recorded;
	return HI_OK;
}

enum hi_status hi_live_read_recorded(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_recorder *recorder = in->run->recorder;
	HI_GUARD(free_joined_recording) struct joined_recording *j = NULL;
	const struct hi_recording *recording;
	enum hi_status status;

	if (!recorder)
		return read_traced(in, err);
	j = hi_calloc(1, sizeof(*j));
	if (!j)
		return hi_fail_memory(err, "recording");
	recording = hi_recorder_recording(recorder);
	status = join_births(in, recorder, j, err);
	if (status == HI_OK)
		status = count_outstanding(recording, j, err);
	/* All of it is in the births now. */
	hi_recorder_forget_live(recorder);
	if (status == HI_OK)
		status = name_stacks(in, recorder, j, err);
	if (status == HI_OK)
		status = copy_overheads(in, recording, j, err);
	hi_inspect_phase(in, "report");
	if (status != HI_OK)
		return status;
	j->recorded.births = j->births;
	j->recorded.pieces = hi_piece_list_view(j->pieces);
	j->recorded.totals = hi_recording_by_context(recording);
	j->recorded.ports = hi_recording_ports(recording);
	hi_recording_counts(recording, &j->recorded.counts);
	j->recorded.marked = hi_recorder_marked(recorder);
	j->recorded.pauses = hi_recorder_pauses(recorder, &j->recorded.n_pauses);
	j->recorded.time = hi_recorder_time(recorder);
	if (j->recorded.time.scan_ns)
		j->recorded.ticks = hi_recording_ticks(recording);
	j->recorded.windows = hi_recording_windows(recording);
	j->recorded.outstanding = j->outstanding;
	j->recorded.window_load =
		hi_recorder_window_load(recorder, &j->recorded.late_hits);
	j->recorded.windows_blind_ns = hi_recorder_blind_ns(recorder);
	j->recorded.windows_choice = hi_recorder_windows_choice(recorder);
	j->recorded.kept = hi_recording_kept_events(recording);
	j->recorded.has_events = j->recorded.kept;
	if (j->recorded.kept)
		hi_kept_events_counts(j->recorded.kept, &j->recorded.event_counts);
	in->recorded = &hi_take(j)->recorded;
	return HI_OK;
}
