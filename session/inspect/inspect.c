/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/inspect/inspect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/biography/summary.h"
#include "session/computed.h"
#include "session/dominator_tree.h"
#include "session/edge_text.h"
#include "session/inspect/restrictions.h"
#include "session/inspect/steps.h"
#include "session/user.h"
#include "session/recorded.h"
#include "session/retainers/retaining.h"
#include "session/retainers/retaining_heap.h"
#include "session/snapshot/prepared.h"

/* HI_NOT_FOUND is no error. */
static enum hi_status read_stored_suspects(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error why = {};
	enum hi_status status = HI_NOT_FOUND;

	if (in->source->stored)
		status = in->source->stored->read_suspects(in, &why);
	if (status != HI_OK && status != HI_NOT_FOUND && err)
		*err = why;
	return status;
}

/* ---- steps ---- */

/*
 * Steps that may run beside others (Note [Steps beside each other] in steps.h) and use
 * the image and the state of its decoders are names of leaks, the ledger, packing or
 * contents, suspects. Each of them needs the one before, but suspects do not need contents.
 * Contents, names of edges and suspects only read that state. The ledger alone writes warnings. All others read the
 * graph and the results that they need.
 */
enum step {
	STEP_LEAK_NAMES,
	STEP_LEDGER,
	STEP_PACK_FIRST,
	STEP_PACK,
	STEP_DOMINATORS,
	STEP_CONTENTS,
	STEP_BEGIN_NAMES,
	STEP_EDGE_NAMES,
	STEP_RESTRICT,
	STEP_SHOWN,
	STEP_LEAK_ROOTS,
	STEP_SUSPECTS,
	STEP_CENSUS,
	STEP_OWNERS,
	STEP_HELP_NAMES,
	STEPS,
};

/* An image of fewer bytes is not worth it. */
#define PACK_LEAST (64ull << 20)
/* Dominators take most of their memory in their first moments: so much is packed before. */
#define PACK_FIRST (64ull << 20)

static enum hi_status run_leak_names(struct hi_inspection *in, struct hi_error *err)
{
	return in->source->results->find_leak_groups(in, err);
}

static enum hi_status run_dominators(struct hi_inspection *in, struct hi_error *err)
{
	return in->source->results->compute_dominators(in, err);
}

static enum hi_status run_ledger(struct hi_inspection *in, struct hi_error *err)
{
	return in->source->results->fill_ledger(in, err);
}

/* Without it nothing is different but the memory that this takes. */
static enum hi_status pack_first(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;

	(void)err;
	(void)!hi_image_pack(in->image, PACK_LEAST, PACK_FIRST, &quiet);
	return HI_OK;
}

static enum hi_status pack_image(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;

	(void)err;
	(void)!hi_image_pack(in->image, PACK_LEAST, 0, &quiet);
	return HI_OK;
}

/* Threads for a result that is made beside dominators, which have one. */
static unsigned threads_beside(const struct hi_inspection *in)
{
	unsigned threads = hi_inspection_threads(in) ? hi_inspection_threads(in)
						     : hi_parallel_threads();

	return threads > 1 ? threads - 1 : 1;
}

static enum hi_status run_contents(struct hi_inspection *in, struct hi_error *err)
{
	return hi_snapshot_prepare_contents(in, threads_beside(in), err);
}

static enum hi_status run_begin_names(struct hi_inspection *in, struct hi_error *err)
{
	return hi_snapshot_names_begin(in, err);
}

static enum hi_status run_edge_names(struct hi_inspection *in, struct hi_error *err)
{
	(void)err;
	hi_snapshot_names_make(in);
	return HI_OK;
}

/* By a thread that has nothing else to do. */
static enum hi_status run_help_names(struct hi_inspection *in, struct hi_error *err)
{
	(void)err;
	hi_snapshot_names_help(in);
	return HI_OK;
}

static enum hi_status run_leak_roots(struct hi_inspection *in, struct hi_error *err)
{
	return hi_leaks_compute(in->graph, in->shown.leaks_reach, in->results.leak_groups,
				&in->results.leaks, err);
}

/* Of what is shown. */
static enum hi_status find_suspects(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_edge_text_reader names = {};
	struct hi_field_reader fields;
	enum hi_status status;

	if (in->shown.reach == in->results.reach) {
		status = read_stored_suspects(in, err);
		if (status != HI_NOT_FOUND)
			return status;
	}
	status = hi_edge_text_open(in, &names, err);
	if (status != HI_OK)
		return status;
	fields = hi_edge_text_fields(&names);
	status = hi_suspects_find(in->graph, in->shown.reach, &in->shown.dominators,
				  HI_SUSPECT_SHARE, &fields, &in->results.suspects, err);
	hi_edge_text_close(&names);
	/* As hi_kept_nearest() would find them. */
	if (status == HI_OK && in->shown.reach == in->results.reach && !in->kept.nearest)
		in->kept.nearest = hi_take(in->results.suspects->nearest);
	return status;
}

static enum hi_status run_census(struct hi_inspection *in, struct hi_error *err)
{
	return in->source->results->compute_census(in, err);
}

static enum hi_status run_owners(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_owners *kept;

	return hi_kept_owners(in, &kept, err);
}

/* A file is read by one thread; restrictions ask for other results on their way. */
static unsigned threads_of_steps(const struct hi_inspection *in)
{
	if (!in->image || hi_naming_is_restricted(in->options) || in->run->census_cache)
		return 1;
	return hi_inspection_threads(in) ? hi_inspection_threads(in)
					 : hi_parallel_threads();
}

/* is_more: what is shown is known. */
static enum hi_status run_steps(struct hi_inspection *in, unsigned wanted, bool is_more,
				struct hi_error *err)
{
	unsigned threads = threads_of_steps(in);
	bool has_leaks = wanted & HI_WANT_LEAKS, has_suspects = wanted & HI_WANT_SUSPECTS;
	bool has_dominators = wanted & HI_WANT_DOMINATORS;
	bool has_owners =
		(wanted & HI_WANT_OWNERS) && (has_dominators || in->results.dominators);
	bool packs = (wanted & HI_WANT_PACKED) && in->image && !is_more;
	bool prepares = (wanted & HI_WANT_PREPARED) && in->image && threads > 1;
	enum {
		NAMES = 1 << STEP_LEAK_NAMES,
		DOMINATORS = 1 << STEP_DOMINATORS,
		LEDGER = 1 << STEP_LEDGER,
		PACK_FIRST_PART = 1 << STEP_PACK_FIRST,
		PACK = 1 << STEP_PACK,
		CONTENTS = 1 << STEP_CONTENTS,
		NAMES_BEGUN = 1 << STEP_BEGIN_NAMES,
		RESTRICT = 1 << STEP_RESTRICT,
		SHOWN = 1 << STEP_SHOWN,
	};
	const struct hi_step steps[STEPS] = {
		[STEP_LEAK_NAMES] = {"names of leaks", run_leak_names, 0, has_leaks},
		[STEP_LEDGER] = {"ledger", run_ledger, NAMES, wanted & HI_WANT_LEDGER},
		[STEP_PACK_FIRST] = {"packing the image", pack_first, NAMES | LEDGER,
				     packs},
		[STEP_PACK] = {"packing the image", pack_image, PACK_FIRST_PART, packs},
		/* They take memory as fast as the image gives it back, and no faster. */
		[STEP_DOMINATORS] = {"dominators", run_dominators, PACK_FIRST_PART,
				     has_dominators},
		[STEP_CONTENTS] = {"comparing contents", run_contents, NAMES | LEDGER,
				   prepares},
		[STEP_BEGIN_NAMES] = {NULL, run_begin_names, CONTENTS, prepares},
		[STEP_EDGE_NAMES] = {"names of edges", run_edge_names, NAMES_BEGUN,
				     prepares},
		[STEP_RESTRICT] = {NULL, hi_naming_restrict, DOMINATORS * (threads == 1),
				   !is_more},
		[STEP_SHOWN] = {NULL, hi_kept_shown_dominators, DOMINATORS | RESTRICT,
				has_suspects || has_owners},
		[STEP_LEAK_ROOTS] = {"leak roots", run_leak_roots,
				     NAMES | RESTRICT | PACK, has_leaks},
		[STEP_SUSPECTS] = {"suspects", find_suspects, SHOWN | LEDGER | PACK,
				   has_suspects},
		[STEP_CENSUS] = {"census by type", run_census, DOMINATORS | RESTRICT,
				 wanted & HI_WANT_CENSUS},
		[STEP_OWNERS] = {"owners", run_owners, SHOWN, has_owners},
		[STEP_HELP_NAMES] = {"names of edges", run_help_names, NAMES_BEGUN,
				     prepares},
	};

	return hi_steps_run(in, steps, STEPS, threads, err);
}

static enum hi_status compute_results(struct hi_inspection *in, unsigned wanted,
				      struct hi_error *err)
{
	enum hi_status status;

	if (hi_retaining_wants_dominators(in->options))
		wanted |= HI_WANT_DOMINATORS;
	else if (hi_inspect_has_answer(in))
		wanted &= ~(unsigned)HI_WANT_DOMINATORS;
	hi_inspect_phase(in, "reachability");
	status = in->source->results->compute_reach(in, err);
	if (status == HI_OK)
		status = hi_naming_find(in, err);
	return status == HI_OK ? run_steps(in, wanted, false, err) : status;
}

/* Parts that got no memory may have gone on without types, names or roots. */
static enum hi_status warn_of_shortage(struct hi_inspection *in, struct hi_error *err)
{
	uint64_t failures = hi_alloc_failures();
	uint64_t n = failures - in->diagnostics.failures_before;

	if (n == 0)
		return HI_OK;
	hi_inspect_warn(in,
			"memory ran out %" PRIu64 " times: types, names, roots or whole "
			"modules may be missing",
			n);
	if (hi_alloc_failures() != failures)
		return hi_fail_memory(err, "inspection");
	in->diagnostics.failures_before = failures;
	in->diagnostics.short_of_memory = true;
	return HI_OK;
}

static const struct hi_run nothing_carried;

enum hi_status hi_inspect_begin(const struct hi_options *options,
				const struct hi_run *run, struct hi_inspection **ret,
				struct hi_error *err)
{
	uint64_t failures = hi_alloc_failures();
	HI_GUARD(hi_inspect_close)
	struct hi_inspection *in = hi_calloc(1, sizeof(*in));
	enum hi_status status = HI_OK;

	if (!in)
		return hi_fail_memory(err, "inspection");
	in->options = options;
	in->run = run ? run : &nothing_carried;
	in->source = hi_source_select(options);
	in->diagnostics.failures_before = failures;
	hi_inspect_phase(in, "opening the target");
	if (in->source->begin)
		status = in->source->begin(in, err);
	if (status != HI_OK)
		return status;
	*ret = hi_take(in);
	return HI_OK;
}

enum hi_status hi_inspect_finish(struct hi_inspection *in, unsigned wanted,
				 struct hi_error *err)
{
	const struct hi_recorded *recorded;
	enum hi_status status;

	in->wanted = wanted;
	status = in->source->open(in, err);
	/* Before anything is computed: births take less than what was live. */
	if (status == HI_OK && in->run->recorder && !in->run->census_cache)
		status = hi_inspect_recorded_if_any(in, &recorded, err);
	if (status == HI_OK)
		status = compute_results(in, wanted, err);
	hi_inspect_phase(in, NULL);
	hi_user_end_progress(hi_take(in->phases.progress));
	if (status == HI_OK)
		status = hi_inspect_check(in, err);
	if (status == HI_OK)
		status = warn_of_shortage(in, err);
	return status;
}

enum hi_status hi_inspect_more(struct hi_inspection *in, unsigned wanted,
			       struct hi_error *err)
{
	unsigned missing = wanted & ~in->wanted;
	enum hi_status status;

	if (in->results.dominators)
		missing &= ~(unsigned)HI_WANT_DOMINATORS;
	/* The census is one without retained sizes. */
	if ((missing & HI_WANT_DOMINATORS) && in->results.census) {
		hi_census_destroy(hi_take(in->results.census));
		missing |= HI_WANT_CENSUS;
	}
	status = run_steps(in, missing, true, err);
	hi_inspect_phase(in, NULL);
	if (status == HI_OK)
		in->wanted |= missing;
	return status == HI_OK ? hi_inspect_check(in, err) : status;
}

enum hi_status hi_inspect_open(const struct hi_options *options, const struct hi_run *run,
			       unsigned wanted, struct hi_inspection **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	enum hi_status status = hi_inspect_begin(options, run, &in, err);

	if (status == HI_OK)
		status = hi_inspect_finish(in, wanted, err);
	if (status == HI_OK)
		*ret = hi_take(in);
	return status;
}

void hi_inspect_close(struct hi_inspection *in)
{
	if (!in)
		return;
	hi_user_end_progress(in->phases.progress);
	hi_kept_tree_destroy(in->tree);
	hi_snapshot_names_destroy(in->names);
	hi_snapshot_contents_destroy(in->contents);
	hi_kept_free(&in->kept);
	hi_suspects_destroy(in->results.suspects);
	hi_census_destroy(in->results.census);
	hi_leaks_destroy(in->results.leaks);
	hi_leak_groups_destroy(in->results.leak_groups);
	hi_retaining_destroy(in->profile.retaining);
	if (in->results.dominators &&
	    in->shown.dominators.retained != in->results.dominators->retained)
		free(in->shown.dominators.retained);
	hi_naming_close(in);
	hi_dominators_destroy(in->results.dominators);
	hi_reach_destroy(in->results.reach);
	in->source->results->close_recorded(in);
	hi_bio_summary_destroy(in->lives);
	in->source->close(in);
	hi_arena_free(&in->arena);
	hi_table_free(&in->step_texts);
	hi_table_free(&in->object_texts);
	hi_vector_free(&in->diagnostics.warnings);
	hi_vector_free(&in->diagnostics.notes);
	hi_vector_free(&in->phases.list);
	free(in);
}
