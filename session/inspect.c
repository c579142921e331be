/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/inspect.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/graph/within.h"
#include "decode/inference/unreachable_classes.h"
#include "decode/inference/verdict.h"
#include "decode/usage/ledger.h"
#include "decode/usage/other_heaps.h"
#include "session/census_cache.h"
#include "session/live/blocks.h"
#include "session/live/freeze.h"
#include "session/naming.h"
#include "session/progress.h"
#include "session/retainers/retaining.h"
#include "session/retainers/retaining_heap.h"
#include "session/snapshot/source.h"

HI_DEFINE_GUARD(struct hi_inspection *, hi_inspect_close)

enum { MAX_HINT_WARNINGS = 8 };

/* What holds over a fifth of the live heap is a suspect. */
static const double suspect_share = 0.2;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void hi_inspect_warn(struct hi_inspection *in, const char *fmt, ...)
{
	char text[512];
	const char *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = hi_arena_strdup(&in->arena, text);
	if (copy)
		(void)hi_vector_push(&in->warnings, copy);
}

void hi_inspect_phase(struct hi_inspection *in, const char *name)
{
	uint64_t now = now_ns();

	if (in->phases.count && in->phase_started)
		in->phases.items[in->phases.count - 1].ns = now - in->phase_started;
	in->phase_started = 0;
	if (name && hi_vector_push(&in->phases, (struct hi_phase){name, 0}))
		in->phase_started = now;
	if (in->phase_shown)
		snprintf(in->phase_shown, HI_PHASE, "%s", name ? name : "");
	hi_progress_phase(in->progress, name);
}

/* Those of the census before, while the same files are mapped. */
static bool borrow_modules(struct hi_inspection *in)
{
	struct hi_keep *keep = in->options->keep;

	if (!keep || !keep->modules)
		return false;
	if (hi_modules_renew(keep->modules, in->image)) {
		hi_types_renew(keep->types);
		in->modules = hi_take(keep->modules);
		in->types = hi_take(keep->types);
		return true;
	}
	hi_types_close(hi_take(keep->types));
	hi_modules_close(hi_take(keep->modules));
	return false;
}

/* Not where something of them may be missing because memory ran out. */
static void give_modules_back(struct hi_inspection *in)
{
	struct hi_keep *keep = in->keep;

	if (!keep || !in->types || in->short_of_memory || hi_inspect_lost_something(in))
		return;
	keep->modules = hi_take(in->modules);
	keep->types = hi_take(in->types);
}

static enum hi_status open_modules(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_modules_options options = {.debug_dir = in->options->debug_dir,
					     .exe = in->options->exe};
	struct hi_error quiet;
	enum hi_status status;

	if (borrow_modules(in))
		return hi_allocator_recheck_threads(in->image, in->types,
						    in->allocator_text,
						    in->n_allocator_text, err);
	status = hi_modules_open(in->image, &options, &in->modules, err);

	if (status != HI_OK)
		return status;
	status = hi_types_open(in->modules, &in->types, &quiet);
	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "types");
	if (status != HI_OK) {
		in->types = NULL;
		hi_inspect_warn(in, "no types: %s", quiet.text);
		return HI_OK;
	}
	return hi_allocator_recheck_threads(in->image, in->types, in->allocator_text,
					    in->n_allocator_text, err);
}

/* ---- containers and hints ---- */

static enum hi_status add_hints(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_options *o = in->options;
	struct hi_module *exe = hi_modules_executable(in->modules);
	enum hi_status status = HI_OK;

	/* The first record that fits is taken: those of the user come first. */
	for (size_t i = 0; i < o->n_hints && status == HI_OK; i++)
		status = hi_rulebook_add_file(in->rulebook, o->hints[i], err);
	if (status == HI_OK)
		status = hi_rulebook_add_shipped(
			in->rulebook, exe && !o->no_hints ? exe->name : NULL, err);
	return status;
}

static enum hi_status open_rulebook(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status;

	if (!in->types)
		return HI_OK;
	status = hi_rulebook_create(in->types, in->modules, &in->rulebook, err);
	return status == HI_OK ? add_hints(in, err) : status;
}

static void warn_unused(void *arg, const char *text)
{
	hi_inspect_warn(arg, "a hint matches nothing in the target: %s", text);
}

/* What hints say that this program does not have. */
static void say_hints(struct hi_inspection *in)
{
	const char *const *warnings;
	size_t n = in->rulebook ? hi_rulebook_warnings(in->rulebook, &warnings) : 0;

	for (size_t i = 0; i < n && i < MAX_HINT_WARNINGS; i++)
		hi_inspect_warn(in, "%s", warnings[i]);
	if (n > MAX_HINT_WARNINGS)
		hi_inspect_warn(in, "%zu more hints do not match the target",
				n - MAX_HINT_WARNINGS);
	if (in->typing && hi_typing_stats(in->typing).bounded)
		hi_inspect_warn(in,
				"%" PRIu64
				" lists or places that hints describe were cut at a "
				"limit: what they hold may be reported as leaked",
				hi_typing_stats(in->typing).bounded);
	if (in->rulebook && in->options->n_hints)
		hi_rulebook_unused(in->rulebook, warn_unused, in);
}

static enum hi_status find_allocator(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;
	enum hi_status status =
		hi_allocator_probe(in->image, in->modules, &in->allocator, &quiet);

	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "allocator");
	if (status == HI_OK)
		return HI_OK;
	in->allocator = NULL;
	/* That there is none, the report says itself. */
	if (status != HI_NOT_FOUND)
		hi_inspect_warn(in, "heap not decoded: allocator layout check failed: %s",
				quiet.text);
	return HI_OK;
}

/* The stop was made where the collector has done its work and all is in its lists
 * again; it only has not said so yet. Another heap's collector may be anywhere. */
static bool collection_has_ended(const struct hi_inspection *in)
{
	const char *ends =
		in->stopped && !in->stopped->near
			? hi_stop_place_ends(in->place, in->image->stats.trigger.hit.pc)
			: NULL;

	return in->runtime->collecting == 1 && ends &&
	       strcmp(ends, in->runtime->ops->name) == 0;
}

/* With --conservative every word is one: nobody is asked what an object is. */
static enum hi_status find_runtime(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;
	enum hi_status status =
		hi_runtime_probe(in->image, in->modules, in->types, &in->runtime, &quiet);

	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "runtime");
	if (status == HI_UNSUPPORTED)
		hi_inspect_warn(in, "%s", quiet.text);
	else if (status != HI_OK && status != HI_NOT_FOUND)
		hi_inspect_warn(in, "its objects are not decoded: %s (at 0x%" PRIx64 ")",
				quiet.text, quiet.address);
	if (status == HI_OK)
		in->runtime->redact = in->options->redact;
	if (status == HI_OK && in->runtime->note[0] && !collection_has_ended(in))
		hi_inspect_warn(in, "%s %s: %s", in->runtime->ops->name,
				in->runtime->version, in->runtime->note);
	return HI_OK;
}

bool hi_inspect_has_much_outside(const struct hi_inspection *in)
{
	struct hi_typing_stats stats = hi_typing_stats(in->typing);
	uint64_t n = stats.subobjects.outside - stats.outside_loader;

	return n && (!in->allocator || n >= in->graph->n_objects / 100);
}

bool hi_inspect_heap_is_known(const struct hi_inspection *in)
{
	if (in->stored)
		return hi_stored_heap_is_known(in->stored->snapshot);
	return in->allocator && !*in->not_decoded && !hi_inspect_has_much_outside(in);
}

/* jemalloc, tcmalloc, arenas of the program's own. */
static void say_outside(struct hi_inspection *in)
{
	struct hi_typing_stats stats = hi_typing_stats(in->typing);
	char bytes[24];

	if (hi_inspect_has_much_outside(in))
		hi_inspect_warn(
			in,
			"%" PRIu64
			" objects (%s) lie outside the known allocators: they were found "
			"by typed pointers; leaks and free memory there are unknown",
			stats.subobjects.outside - stats.outside_loader,
			hi_text_bytes(bytes, stats.outside_bytes));
	if (stats.subobjects.at_limit)
		hi_inspect_warn(in, "too many pointers into pools: the pools were not "
				    "split into objects");
}

/* Objects of a runtime whose lengths are not to be believed. */
static void say_cut(struct hi_inspection *in)
{
	if (in->runtime && in->runtime->n_cut)
		hi_inspect_warn(in,
				"%" PRIu64 " objects of %s say that they have more items "
				"than their blocks hold: only what is there was read",
				in->runtime->n_cut, in->runtime->ops->name);
}

static enum hi_status link_as(struct hi_inspection *in, bool conservative,
			      struct hi_error *err)
{
	struct hi_typing_options options = {.conservative = conservative,
					    .threads = in->options->threads,
					    .runtime = in->runtime};
	struct hi_objects *objects = NULL;
	enum hi_status status;

	hi_inspect_phase(in, "walking the heap");
	status = hi_blocks_collect(in, &objects, err);
	if (status != HI_OK)
		return status;
	hi_inspect_phase(in, "typing and linking");
	if (in->rulebook)
		options.rules = hi_rulebook_source(in->rulebook);
	return hi_typing_run(in->image, in->modules, in->types, in->allocator, objects,
			     &options, &in->typing, &in->graph, err);
}

/* What types say of leaks, to tell what the conservative reading keeps alive. */
static enum hi_status read_by_types(struct hi_inspection *in, struct hi_error *err)
{
	size_t n_warnings = in->warnings.count;
	struct hi_reach *reach = NULL;
	enum hi_status status = link_as(in, false, err);

	if (status == HI_OK)
		status = hi_reach_compute(in->graph, in->options->threads, &reach, err);
	if (status != HI_OK)
		return status;
	in->by_types_known = true;
	in->leaks_by_types = reach->leak_objects;
	in->leaked_by_types = reach->leak_bytes;
	hi_reach_destroy(reach);
	hi_typing_destroy(hi_take(in->typing));
	hi_graph_destroy(hi_take(in->graph));
	in->warnings.count = n_warnings; /* the walk to come says them again */
	return HI_OK;
}

static enum hi_status link_objects(struct hi_inspection *in, unsigned wanted,
				   struct hi_error *err)
{
	bool conservative = in->options->conservative;
	enum hi_status status = HI_OK;

	if (conservative && in->types && (wanted & HI_WANT_LEAKS))
		status = read_by_types(in, err);
	if (status == HI_OK)
		status = link_as(in, conservative, err);
	if (status == HI_OK && !conservative) {
		say_hints(in);
		say_outside(in);
		say_cut(in);
	}
	/* Inflated debug sections leave megabytes behind, and the peak is to come. */
	(void)malloc_trim(0);
	return status;
}

/* Of what is shown. */
static enum hi_status find_suspects(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	hi_inspect_phase(in, "suspects");
	in->dominators_shown = *in->dominators;
	if (in->shown != in->reach)
		status = hi_within_dominators(in->graph, in->shown, in->dominators,
					      &in->dominators_shown, err);
	return status == HI_OK
		       ? hi_suspects_find(in->graph, in->shown, &in->dominators_shown,
					  suspect_share, &in->suspects, err)
		       : status;
}

static enum hi_status compute_sizes(struct hi_inspection *in, unsigned wanted,
				    struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (wanted & HI_WANT_DOMINATORS) {
		hi_inspect_phase(in, "dominators");
		status = in->stored ? hi_stored_dominators(in, err)
				    : hi_dominators_compute(in->graph, in->reach,
							    &in->dominators, err);
	}
	if (status == HI_OK)
		status = hi_naming_restrict(in, err);
	if (status == HI_OK && (wanted & HI_WANT_LEAKS)) {
		hi_inspect_phase(in, "leak roots");
		status = hi_leaks_compute(in->graph, in->leaks_shown, &in->leaks, err);
	}
	if (status == HI_OK && (wanted & HI_WANT_CENSUS)) {
		hi_inspect_phase(in, "census by type");
		status = in->stored ? hi_stored_census(in, err)
				    : hi_census_by_type(in->graph, in->shown,
							in->dominators, &in->census, err);
	}
	return status == HI_OK && (wanted & HI_WANT_SUSPECTS) ? find_suspects(in, err)
							      : status;
}

static void fill_ledger(struct hi_inspection *in)
{
	struct hi_error quiet;
	uint64_t rss = in->target ? in->target->rss : HI_UNKNOWN;

	hi_inspect_phase(in, "ledger");
	in->ledger_known = hi_ledger_fill(in->image, in->allocator, in->graph, in->reach,
					  rss, &in->ledger, &quiet) == HI_OK;
	if (in->ledger_known && in->runtime)
		hi_ledger_add_runtime(&in->ledger, in->image, in->runtime);
	if (!in->ledger_known)
		hi_inspect_warn(in, "no ledger: %s", quiet.text);
}

static enum hi_status compute(struct hi_inspection *in, unsigned wanted,
			      struct hi_error *err)
{
	enum hi_status status;

	if (hi_retaining_wants_dominators(in->options))
		wanted |= HI_WANT_DOMINATORS;
	else if (hi_stored_has_answer(in))
		wanted &= ~(unsigned)HI_WANT_DOMINATORS;
	hi_inspect_phase(in, "reachability");
	status = in->stored ? HI_OK
			    : hi_reach_compute(in->graph, in->options->threads,
					       &in->reach, err);
	if (status == HI_OK && in->runtime)
		status = hi_runtime_classify_unreachable(in->typing, in->runtime,
							 in->graph, in->reach, err);
	if (status == HI_OK && !in->stored && in->reach->leak_objects) {
		hi_inspect_phase(in, "verdicts of leaks");
		status = hi_leak_verdicts(in->typing, in->graph, in->reach, err);
	}
	if (status == HI_OK)
		status = hi_naming_find(in, err);
	if (status == HI_OK)
		status = compute_sizes(in, wanted, err);
	if (status != HI_OK || !(wanted & HI_WANT_LEDGER))
		return status;
	if (in->stored)
		return hi_stored_ledger(in, err);
	fill_ledger(in);
	return HI_OK;
}

uint64_t hi_inspect_allocated(const struct hi_inspection *in)
{
	const struct hi_allocator *a = in->allocator;

	if (in->stored)
		return hi_stored_allocated(in);
	if (!a)
		return UINT64_MAX;
	return a->bytes[HI_BLOCK_LIVE] + a->bytes[HI_BLOCK_INTERNAL] +
	       hi_typing_stats(in->typing).outside_bytes +
	       (in->runtime ? in->runtime->used_bytes : 0);
}

bool hi_inspect_lost_something(const struct hi_inspection *in)
{
	return hi_alloc_failures() != in->failures_before;
}

/* Whoever failed to get memory may have gone on without types, names or roots. */
static enum hi_status say_shortage(struct hi_inspection *in, struct hi_error *err)
{
	uint64_t failures = hi_alloc_failures();
	uint64_t n = failures - in->failures_before;

	if (n == 0)
		return HI_OK;
	hi_inspect_warn(in,
			"memory ran out %" PRIu64 " times: types, names, roots or whole "
			"modules may be missing",
			n);
	if (hi_alloc_failures() != failures)
		return hi_fail_memory(err, "inspection");
	in->failures_before = failures;
	in->short_of_memory = true;
	return HI_OK;
}

/* After the walk: a heap of glibc's that is not used tells that another one is. */
static enum hi_status find_other_heaps(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_other_heaps_find(in->modules, in->image, in->allocator,
						    &in->arena, &in->not_decoded, err);

	if (status == HI_OK && *in->not_decoded)
		hi_inspect_warn(in, "%s: its heap is not decoded", in->not_decoded);
	return status;
}

/* A process or a core, up to its graph. */
static enum hi_status look(struct hi_inspection *in, unsigned wanted,
			   struct hi_error *err)
{
	enum hi_status status = in->image ? HI_OK : hi_freeze(in, err);

	if (status != HI_OK)
		return status;
	if (!in->options->quiet)
		in->progress = hi_progress_start();
	hi_inspect_phase(in, "modules");
	status = open_modules(in, err);
	if (status != HI_OK)
		return status;
	status = open_rulebook(in, err);
	if (status == HI_OK)
		status = hi_naming_open(in, err);
	if (status != HI_OK)
		return status;
	hi_inspect_phase(in, "allocator");
	status = find_allocator(in, err);
	if (status == HI_OK)
		status = find_runtime(in, err);
	if (status == HI_OK)
		status = link_objects(in, wanted, err);
	return status == HI_OK ? find_other_heaps(in, err) : status;
}

enum hi_status hi_inspect_begin(const struct hi_options *options,
				struct hi_inspection **ret, struct hi_error *err)
{
	uint64_t failures = hi_alloc_failures();
	HI_GUARD(hi_inspect_close)
	struct hi_inspection *in = hi_calloc(1, sizeof(*in));
	enum hi_status status = HI_OK;

	if (!in)
		return hi_fail_memory(err, "inspection");
	in->options = options;
	in->keep = options->keep;
	in->failures_before = failures;
	hi_inspect_phase(in, "opening the target");
	if (options->pid && !options->file)
		status = hi_freeze(in, err);
	if (status != HI_OK)
		return status;
	if (in->image)
		hi_freeze_say(in);
	*ret = hi_take(in);
	return HI_OK;
}

enum hi_status hi_inspect_finish(struct hi_inspection *in, unsigned wanted,
				 struct hi_error *err)
{
	enum hi_status status;

	in->wanted = wanted;
	status = in->options->file ? hi_stored_open(in, err) : look(in, wanted, err);
	if (status == HI_OK)
		status = compute(in, wanted, err);
	hi_inspect_phase(in, NULL);
	hi_progress_end(hi_take(in->progress));
	if (status == HI_OK)
		status = hi_image_check(in->image, err);
	if (status == HI_OK)
		status = say_shortage(in, err);
	return status;
}

enum hi_status hi_inspect_open(const struct hi_options *options, unsigned wanted,
			       struct hi_inspection **ret, struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	enum hi_status status = hi_inspect_begin(options, &in, err);

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
	hi_progress_end(in->progress);
	hi_suspects_destroy(in->suspects);
	hi_census_destroy(in->census);
	hi_leaks_destroy(in->leaks);
	hi_retaining_destroy(in->retaining);
	if (in->dominators && in->dominators_shown.retained != in->dominators->retained)
		free(in->dominators_shown.retained);
	hi_naming_close(in);
	hi_dominators_destroy(in->dominators);
	hi_reach_destroy(in->reach);
	hi_typing_destroy(in->typing);
	hi_graph_destroy(in->graph);
	hi_stored_close(in->stored);
	hi_rulebook_destroy(in->rulebook);
	hi_runtime_release(in->runtime);
	hi_allocator_release(in->allocator);
	give_modules_back(in);
	hi_types_close(in->types);
	hi_modules_close(in->modules);
	hi_image_destroy(in->image);
	free(in->allocator_text);
	hi_stop_place_close(in->own_place);
	hi_target_close(in->target);
	hi_arena_free(&in->arena);
	hi_vector_free(&in->warnings);
	hi_vector_free(&in->phases);
	free(in);
}
