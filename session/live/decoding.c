/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/decoding.h"

#include <inttypes.h>
#include <malloc.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "decode/run/typing_run.h"
#include "decode/usage/other_heaps.h"
#include "session/census_cache.h"
#include "session/live/blocks.h"
#include "session/live/freeze.h"
#include "session/live/live_roots.h"
#include "session/user.h"

enum { MAX_HINT_WARNINGS = 8 };

/* Those of the census before, while the same files are mapped. */
static bool borrow_modules(struct hi_inspection *in)
{
	struct hi_census_cache *census_cache = in->run->census_cache;

	if (!census_cache || !census_cache->modules)
		return false;
	if (hi_modules_renew(census_cache->modules, in->image)) {
		hi_types_renew(census_cache->types);
		in->decoders.rulebook = hi_take(census_cache->rulebook);
		in->decoders.modules = hi_take(census_cache->modules);
		in->decoders.types = hi_take(census_cache->types);
		return true;
	}
	hi_census_cache_free_modules(census_cache);
	return false;
}

/* Those of a process were marked by the stop. */
static enum hi_status check_threads(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;
	enum hi_status status = HI_OK;

	if ((in->image->mode == HI_SNAPSHOT_CORE || in->image->stats.outlived) &&
	    !in->stop.allocator_text)
		status = hi_allocator_mark_core(
			in->image, in->decoders.modules, in->options->target.exe,
			&in->stop.allocator_text, &in->stop.n_allocator_text, &quiet);
	if (status != HI_OK)
		return hi_fail_memory(err, "allocator's text");
	return hi_allocator_recheck_threads(in->image, in->decoders.types,
					    in->stop.allocator_text,
					    in->stop.n_allocator_text, err);
}

static enum hi_status open_modules(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_modules_options options = {.debug_dir = in->options->decoding.debug_dir,
					     .exe = in->options->target.exe};
	struct hi_error quiet;
	enum hi_status status;

	if (borrow_modules(in))
		return check_threads(in, err);
	status = hi_modules_open(in->image, &options, &in->decoders.modules, err);

	if (status != HI_OK)
		return status;
	status = hi_types_open(in->decoders.modules, &in->decoders.types, &quiet);
	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "types");
	if (status != HI_OK) {
		in->decoders.types = NULL;
		hi_inspect_warn(in, "no types: %s", quiet.text);
		return HI_OK;
	}
	return check_threads(in, err);
}

/* ---- containers and hints ---- */

static enum hi_status add_hints(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_options *o = in->options;
	struct hi_module *exe = hi_modules_executable(in->decoders.modules);
	enum hi_status status = HI_OK;

	/* The first record that fits is taken: those of the user come first. */
	for (size_t i = 0; i < o->decoding.n_hints && status == HI_OK; i++)
		status = hi_rulebook_add_file(in->decoders.rulebook, o->decoding.hints[i],
					      err);
	if (status == HI_OK)
		status = hi_rulebook_add_shipped(
			in->decoders.rulebook,
			exe && !o->decoding.no_hints ? exe->name : NULL, err);
	return status;
}

static enum hi_status open_rulebook(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status;

	if (!in->decoders.types || in->decoders.rulebook)
		return HI_OK;
	status = hi_rulebook_create(in->decoders.types, in->decoders.modules,
				    &in->decoders.rulebook, err);
	return status == HI_OK ? add_hints(in, err) : status;
}

static void warn_unused(void *arg, const char *text)
{
	hi_inspect_warn(arg, "a hint matches nothing in the target: %s", text);
}

/* Hints that do not match this program. */
static void warn_of_hints(struct hi_inspection *in)
{
	const char *const *warnings;
	size_t n = in->decoders.rulebook
			   ? hi_rulebook_warnings(in->decoders.rulebook, &warnings)
			   : 0;

	for (size_t i = 0; i < n && i < MAX_HINT_WARNINGS; i++)
		hi_inspect_warn(in, "%s", warnings[i]);
	if (n > MAX_HINT_WARNINGS)
		hi_inspect_warn(in, "%zu more hints do not match the target",
				n - MAX_HINT_WARNINGS);
	if (in->decoders.typing && hi_typing_stats(in->decoders.typing).bounded)
		hi_inspect_warn(in,
				"%" PRIu64
				" lists or places that hints describe were cut at a "
				"limit: what they hold may be reported as leaked",
				hi_typing_stats(in->decoders.typing).bounded);
	if (in->decoders.rulebook && in->options->decoding.n_hints)
		hi_rulebook_unused(in->decoders.rulebook, warn_unused, in);
}

static void warn_of_refusals(struct hi_inspection *in)
{
	for (size_t i = 0; i < in->decoders.n_refused; i++) {
		const struct hi_allocator_refusal *r = &in->decoders.refused[i];

		hi_inspect_warn(in, "heap of %s%s%s not decoded: %s%s", r->name,
				*r->module ? " in " : "", r->module,
				r->has_no_blocks ? "" : "a check of its layout failed: ",
				r->text);
	}
}

/* refused has n; NULL: no memory. */
static const struct hi_allocator_refusal *
keep_refused(struct hi_inspection *in, const struct hi_allocator_refusal *refused,
	     size_t n)
{
	struct hi_allocator_refusal *copy =
		hi_arena_alloc(&in->arena, (n + 1) * sizeof(*copy));

	if (copy)
		memcpy(copy, refused, n * sizeof(*copy));
	return copy;
}

/* Does text of an allocator lie in the module of this name? */
static bool has_allocator_text(const struct hi_inspection *in, const char *name)
{
	const struct hi_range *text = in->stop.allocator_text;

	for (size_t i = 0; i < hi_modules_count(in->decoders.modules); i++) {
		const struct hi_module *m = hi_modules_get(in->decoders.modules, i);

		if (strncmp(m->name, name, sizeof(in->decoders.allocator->module) - 1) !=
		    0)
			continue;
		for (size_t k = 0; k < in->stop.n_allocator_text; k++)
			if (text[k].start >= m->start && text[k].end <= m->end)
				return true;
	}
	return false;
}

/* Of a stripped program with the allocator inside it nothing may be known before the
 * stop: then no thread was kept out of it. */
static void warn_of_unknown_text(struct hi_inspection *in)
{
	const struct hi_allocator *a = in->decoders.allocator;
	const struct hi_allocator *const *parts = &a;
	size_t n = 1;

	if (!in->stop.target)
		return;
	if (a->n_parts) {
		parts = (const struct hi_allocator *const *)a->parts;
		n = a->n_parts;
	}
	for (size_t i = 0; i < n; i++)
		if (*parts[i]->module && !has_allocator_text(in, parts[i]->module))
			hi_inspect_warn(in,
					"the code of %s in %s is not known (no symbols): "
					"threads may have been stopped inside it, and "
					"blocks that they were allocating or freeing may "
					"be counted wrongly",
					parts[i]->name, parts[i]->module);
}

static enum hi_status find_allocator(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_allocator_refusal refused[HI_ALLOCATORS_MAX];
	struct hi_error quiet;
	size_t n = 0;
	enum hi_status status =
		hi_allocator_probe_each(in->image, in->decoders.modules,
					&in->decoders.allocator, refused, &n, &quiet);

	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "allocator");
	in->decoders.refused = keep_refused(in, refused, n);
	if (!in->decoders.refused)
		return hi_fail_memory(err, "allocators");
	in->decoders.n_refused = n;
	warn_of_refusals(in);
	if (status == HI_OK) {
		warn_of_unknown_text(in);
		return HI_OK;
	}
	in->decoders.allocator = NULL;
	/* The report itself prints that there is none. */
	if (status != HI_NOT_FOUND && !n)
		hi_inspect_warn(in, "heap not decoded: %s", quiet.text);
	return HI_OK;
}

/* The stop was made where the collector has done its work and all is in its lists
 * again; only its flag is still set. Another heap's collector may be anywhere. */
static bool collection_has_ended(const struct hi_inspection *in)
{
	const char *ends = in->stop.hit && in->stop.site && !in->stop.hit->near
				   ? hi_stop_site_ends(in->stop.site,
						       in->image->stats.trigger.hit.pc)
				   : NULL;

	return in->decoders.runtime->collecting == 1 && ends &&
	       strcmp(ends, in->decoders.runtime->ops->name) == 0;
}

/* With --conservative every word is a pointer: no runtime is used for types. */
static enum hi_status find_runtime(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;
	enum hi_status status = hi_runtime_probe(
		in->image, in->decoders.modules, in->decoders.types,
		&in->decoders.runtime, &in->decoders.refused_runtime, &quiet);

	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "runtime");
	if (status == HI_UNSUPPORTED)
		hi_inspect_warn(in, "%s", quiet.text);
	else if (status != HI_OK && status != HI_NOT_FOUND)
		hi_inspect_warn(in, "its objects are not decoded: %s (at 0x%" PRIx64 ")",
				quiet.text, quiet.address);
	if (status == HI_OK)
		in->decoders.runtime->redact = in->options->snap.redact;
	if (status == HI_OK && in->decoders.runtime->n_odd)
		hi_inspect_warn(in,
				"%" PRIu64 " object%s in the lists of %s's collector "
				"%s damaged or unknown: %s",
				in->decoders.runtime->n_odd,
				in->decoders.runtime->n_odd == 1 ? "" : "s",
				in->decoders.runtime->ops->name,
				in->decoders.runtime->n_odd == 1 ? "is" : "are",
				in->decoders.runtime->odd);
	if (status == HI_OK && in->decoders.runtime->note[0] && !collection_has_ended(in))
		hi_inspect_warn(in, "%s %s: %s", in->decoders.runtime->ops->name,
				in->decoders.runtime->version,
				in->decoders.runtime->note);
	return HI_OK;
}

bool hi_decoding_has_much_outside(const struct hi_inspection *in)
{
	struct hi_typing_stats stats = hi_typing_stats(in->decoders.typing);
	uint64_t n = stats.subobjects.outside - stats.outside_loader;

	return n && (!in->decoders.allocator || n >= in->graph->n_objects / 100);
}

/* jemalloc, tcmalloc, arenas of the program's own. */
static void warn_of_outside(struct hi_inspection *in)
{
	struct hi_typing_stats stats = hi_typing_stats(in->decoders.typing);
	char bytes[24];

	if (hi_decoding_has_much_outside(in))
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

/* Objects of a runtime with lengths that cannot be true. */
static void warn_of_cut_objects(struct hi_inspection *in)
{
	if (in->decoders.runtime && in->decoders.runtime->n_cut)
		hi_inspect_warn(in,
				"%" PRIu64
				" objects of %s have lengths larger than their blocks: "
				"only the items inside of the blocks were read",
				in->decoders.runtime->n_cut,
				in->decoders.runtime->ops->name);
}

/* NULL: nothing of this census is kept for a next one. */
static struct hi_kept_typing *kept_typing_of(const struct hi_inspection *in)
{
	struct hi_census_cache *census_cache = in->run->census_cache;

	return census_cache && in->decoders.types && in->decoders.rulebook &&
			       !in->options->decoding.conservative
		       ? &census_cache->kept_typing
		       : NULL;
}

static enum hi_status link_as(struct hi_inspection *in, bool conservative,
			      struct hi_error *err)
{
	struct hi_typing_options options = {.conservative = conservative,
					    .redact = in->options->snap.redact,
					    .threads = hi_inspection_threads(in),
					    .runtime = in->decoders.runtime,
					    .kept = kept_typing_of(in)};
	struct hi_objects *objects = NULL;
	enum hi_status status;

	hi_inspect_phase(in, "walking the heap");
	status = hi_blocks_collect(in, &objects, err);
	if (status != HI_OK)
		return status;
	hi_inspect_phase(in, "typing and linking");
	if (in->decoders.rulebook)
		options.rules = hi_rulebook_source(in->decoders.rulebook);
	return hi_typing_run(in->image, in->decoders.modules, in->decoders.types,
			     in->decoders.allocator, objects, &options,
			     &in->decoders.typing, &in->graph, err);
}

/* Leaks by types, to compare with what the conservative reading keeps alive. */
static enum hi_status read_by_types(struct hi_inspection *in, struct hi_error *err)
{
	size_t n_warnings = in->diagnostics.warnings.count;
	struct hi_reach *reach = NULL;
	enum hi_status status = link_as(in, false, err);

	if (status == HI_OK)
		status = hi_reach_compute(in->graph, hi_inspection_threads(in), &reach,
					  err);
	if (status != HI_OK)
		return status;
	in->results.by_types.known = true;
	in->results.by_types.objects = reach->leak_objects;
	in->results.by_types.bytes = reach->leak_bytes;
	hi_reach_destroy(reach);
	hi_typing_destroy(hi_take(in->decoders.typing));
	hi_graph_destroy(hi_take(in->graph));
	in->diagnostics.warnings.count = n_warnings; /* the next walk adds them again */
	return HI_OK;
}

static enum hi_status link_objects(struct hi_inspection *in, unsigned wanted,
				   struct hi_error *err)
{
	bool conservative = in->options->decoding.conservative;
	enum hi_status status = HI_OK;

	if (conservative && in->decoders.types && (wanted & HI_WANT_LEAKS))
		status = read_by_types(in, err);
	if (status == HI_OK)
		status = link_as(in, conservative, err);
	if (status == HI_OK && !conservative) {
		warn_of_hints(in);
		warn_of_outside(in);
		warn_of_cut_objects(in);
	}
	/* Inflated debug sections leave megabytes behind, and the peak is to come. A
	 * further census of a series has none. */
	if (!hi_census_cache_has_samples(in->run->census_cache))
		(void)malloc_trim(0);
	return status;
}

/* After the walk: a heap of glibc's that is not used is a sign of another one. */
static enum hi_status find_other_heaps(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_other_heaps_find(
		in->decoders.modules, in->image, in->decoders.allocator,
		in->decoders.refused, in->decoders.n_refused,
		in->decoders.refused_runtime, &in->arena, &in->decoders.not_decoded, err);

	/* Why a runtime was refused is a warning already. */
	if (status == HI_OK && *in->decoders.not_decoded &&
	    strcmp(in->decoders.not_decoded, in->decoders.refused_runtime) != 0)
		hi_inspect_warn(in, "%s: its heap is not decoded",
				in->decoders.not_decoded);
	return status;
}

enum hi_status hi_decoding_run(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = in->image ? HI_OK : hi_freeze(in, err);

	if (status != HI_OK)
		return status;
	if (!hi_inspection_is_quiet(in))
		in->phases.progress = hi_user_start_progress();
	hi_inspect_phase(in, "modules");
	status = open_modules(in, err);
	if (status != HI_OK)
		return status;
	status = open_rulebook(in, err);
	if (status == HI_OK)
		status = hi_live_roots_open(in, err);
	if (status != HI_OK)
		return status;
	hi_inspect_phase(in, "allocator");
	status = find_allocator(in, err);
	if (status == HI_OK)
		status = find_runtime(in, err);
	if (status == HI_OK)
		status = link_objects(in, in->wanted, err);
	return status == HI_OK ? find_other_heaps(in, err) : status;
}
