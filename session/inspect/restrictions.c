/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/inspect/restrictions.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/vector.h"
#include "census/analysis/subgraph.h"
#include "session/lives_of_file.h"
#include "session/operands.h"
#include "session/recorded.h"
#include "session/retainers/retaining.h"

/* ---- roots ---- */

enum hi_status hi_naming_find(struct hi_inspection *in, struct hi_error *err)
{
	size_t wrong = SIZE_MAX, column = 0;
	enum hi_status status =
		in->source->retainers->find_roots(in, &wrong, &column, err);

	if (status == HI_USAGE && wrong < in->options->profile.n_roots)
		return hi_inspection_wrong_root(in, &in->options->profile.roots[wrong],
						column, err);
	for (size_t i = 0;
	     status == HI_OK && in->profile.roots && i < in->profile.roots->count; i++) {
		const struct hi_named_root *root = &in->profile.roots->items[i];

		if (root->warning && root->text.name != root->text.expression)
			hi_inspect_warn(in, "root %.100s holds nothing: %s",
					root->text.name, root->warning);
	}
	return status;
}

/* ---- restrictions ---- */

/* What any of them leads to. */
static enum hi_status mark_under(struct hi_inspection *in, uint64_t **bits,
				 struct hi_error *err)
{
	struct starts HI_VECTOR(hi_node) starts = {};
	enum hi_status status;
	bool ok = true;

	for (size_t i = 0; in->profile.roots && i < in->profile.roots->count; i++) {
		const struct hi_named_root *root = &in->profile.roots->items[i];

		if (!hi_profile_is_under(&in->options->profile, root->text.name))
			continue;
		for (size_t k = 0; k < root->n_starts && ok; k++)
			ok = hi_vector_push(&starts, root->starts[k]);
	}
	status = ok ? hi_within_mark(in->graph, starts.items, starts.count, bits, err)
		    : hi_fail_memory(err, "restriction");
	hi_vector_free(&starts);
	return status;
}

static enum hi_status intersect_marks(struct hi_inspection *in, uint64_t **bits,
				      uint64_t *more, struct hi_error *err)
{
	size_t words = ((size_t)in->graph->n_nodes + 63) / 64;

	(void)err;
	if (!*bits) {
		*bits = more;
		return HI_OK;
	}
	for (size_t i = 0; i < words; i++)
		(*bits)[i] &= more[i];
	free(more);
	return HI_OK;
}

/* "a, b" */
static const char *under_text(struct hi_inspection *in)
{
	const struct hi_profile_options *p = &in->options->profile;
	const char *text = NULL;

	for (size_t i = 0; i < p->n_under; i++)
		text = text ? hi_arena_printf(&in->arena, "%s, %s", text, p->under[i])
			    : p->under[i];
	return text;
}

static const char *range_text(struct hi_inspection *in, const struct hi_birth_range *r)
{
	char from[24] = "", to[24] = "";

	if (r->from_ns)
		hi_text_duration(from, r->from_ns);
	if (r->to_ns != UINT64_MAX)
		hi_text_duration(to, r->to_ns);
	return hi_arena_printf(&in->arena, "%s..%s", from, to);
}

/* "allocated by make_node, of age 10.0 s.."; NULL: not asked. */
static const char *births_text(struct hi_inspection *in, const struct hi_birth_choice *c)
{
	const char *text = "";

	if (!hi_birth_choice_is_set(c))
		return NULL;
	if (c->site)
		text = hi_arena_printf(&in->arena, ", by %s", c->site);
	if (c->site_any && text)
		text = hi_arena_printf(&in->arena, "%s, below %s", text, c->site_any);
	if (c->thread && text)
		text = hi_arena_printf(&in->arena, "%s, by thread %u", text, c->thread);
	if (c->age.is_set && text)
		text = hi_arena_printf(&in->arena, "%s, %s ago", text,
				       range_text(in, &c->age));
	if (c->born.is_set && text)
		text = hi_arena_printf(&in->arena, "%s, %s after its start", text,
				       range_text(in, &c->born));
	return text && *text
		       ? hi_arena_printf(&in->arena, "allocated in the recording%s", text)
		       : "allocated in the recording";
}

static bool is_restricted_by_type(const struct hi_options *o)
{
	return o->selection.type &&
	       (o->selection.type_restricts || o->selection.has_born_by);
}

/* "VOID, DRAG"; NULL: not asked. */
static const char *bands_text(struct hi_inspection *in)
{
	const char *text = NULL;

	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (in->options->selection.bands & HI_BIO_BIT(band))
			text = hi_arena_printf(&in->arena, "%s%s%s", text ? text : "",
					       text ? ", " : "",
					       hi_bio_band_name((enum hi_bio_band)band));
	return text;
}

static void fill_only(struct hi_inspection *in)
{
	const struct hi_profile_options *p = &in->options->profile;
	const struct hi_reach *all = in->results.reach, *some = in->shown.reach;

	in->shown.restriction.type =
		is_restricted_by_type(in->options) ? in->options->selection.type : NULL;
	in->shown.restriction.births = births_text(in, &in->options->selection.births);
	in->shown.restriction.bands = bands_text(in);
	in->shown.restriction.era = in->options->selection.era;
	in->shown.restriction.under = under_text(in);
	in->shown.restriction.retained_by = p->retained_by;
	in->shown.restriction.objects = some->live_objects;
	in->shown.restriction.bytes = some->live_bytes;
	in->shown.restriction.hidden_objects = all->live_objects - some->live_objects;
	in->shown.restriction.hidden_bytes = all->live_bytes - some->live_bytes;
}

/* The objects of the types that --type selects. In a series the type may come later. */
static enum hi_status mark_types_shown(struct hi_inspection *in, uint64_t **ret,
				       struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	uint64_t *bits = hi_calloc((size_t)g->n_nodes / 64 + 1, sizeof(*bits));
	struct hi_type_set types = {};
	enum hi_status status = HI_OK;

	if (!bits)
		return hi_fail_memory(err, "restriction");
	status = hi_lookup_types(in, in->options->selection.type, &types, err);
	if (status == HI_NOT_FOUND && in->run->census_cache) {
		*ret = bits;
		return HI_OK;
	}
	if (status != HI_OK) {
		free(bits);
		return status;
	}
	for (hi_node i = 0; i < g->n_objects; i++)
		if (hi_type_set_has(&types, g->objects->type[i]))
			bits[i >> 6] |= 1ull << (i & 63);
	hi_type_set_free(&types);
	*ret = bits;
	return HI_OK;
}

/* The objects that --site, --age and the others select. */
static enum hi_status mark_births_shown(struct hi_inspection *in, uint64_t **ret,
					struct hi_error *err)
{
	const struct hi_birth_choice *choice = &in->options->selection.births;
	const struct hi_graph *g = in->graph;
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded(in, &recorded, err);
	HI_GUARD(free) uint64_t *bits = NULL;

	if (status != HI_OK)
		return status;
	if (recorded->births->is_traced &&
	    (choice->age.is_set || choice->born.is_set || choice->thread))
		return hi_fail(err, HI_USAGE, 0,
			       "--age, --born, --thread: tracemalloc, by which the "
			       "program has traced itself, knows neither times nor "
			       "threads");
	bits = hi_calloc((size_t)g->n_nodes / 64 + 1, sizeof(*bits));
	if (!bits)
		return hi_fail_memory(err, "restriction");
	status = hi_births_choose(recorded->births, &recorded->contexts,
				  &recorded->frames, choice, bits, err);
	if (status == HI_OK)
		*ret = hi_take(bits);
	return status;
}

/* The objects that are proved to be in one of the bands of --bio at the last census of
 * their biographies. */
static enum hi_status mark_bands_shown(struct hi_inspection *in, uint64_t **ret,
				       struct hi_error *err)
{
	const struct hi_bio_summary *lives = NULL;
	enum hi_status status = hi_inspect_lives(in, &lives, err);
	uint64_t *bits;

	if (status != HI_OK)
		return status;
	bits = hi_calloc((size_t)in->graph->n_nodes / 64 + 1, sizeof(*bits));
	if (!bits)
		return hi_fail_memory(err, "restriction");
	for (size_t i = 0; i < lives->n_lives; i++) {
		uint32_t bands = hi_bio_summary_bands(lives, &lives->lives[i]);
		hi_node object = lives->lives[i].object;

		if (bands && !(bands & ~in->options->selection.bands))
			bits[object >> 6] |= 1ull << (object & 63);
	}
	*ret = bits;
	return HI_OK;
}

static enum hi_status mark_eras_shown(struct hi_inspection *in, uint64_t **ret,
				      struct hi_error *err)
{
	HI_GUARD(free)
	uint64_t *bits = hi_calloc((size_t)in->graph->n_nodes / 64 + 1, sizeof(*bits));
	enum hi_status status;

	if (!bits)
		return hi_fail_memory(err, "restriction");
	status = hi_lives_mark_eras(in, in->options->selection.era, bits, err);
	if (status == HI_OK)
		*ret = hi_take(bits);
	return status;
}

/* What a mark function of the above has found is added to the restriction. */
static enum hi_status restrict_by(struct hi_inspection *in, uint64_t **bits,
				  enum hi_status (*mark)(struct hi_inspection *in,
							 uint64_t **ret,
							 struct hi_error *err),
				  struct hi_error *err)
{
	uint64_t *more = NULL;
	enum hi_status status = mark(in, &more, err);

	return status == HI_OK ? intersect_marks(in, bits, more, err) : status;
}

bool hi_naming_is_restricted(const struct hi_options *options)
{
	const struct hi_profile_options *p = &options->profile;

	return p->n_under || p->retained_by || is_restricted_by_type(options) ||
	       hi_birth_choice_is_set(&options->selection.births) ||
	       options->selection.bands || options->selection.era;
}

enum hi_status hi_naming_restrict(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	bool by_type = is_restricted_by_type(in->options);
	bool by_birth = hi_birth_choice_is_set(&in->options->selection.births);
	bool by_band = in->options->selection.bands;
	bool by_era = in->options->selection.era;
	HI_GUARD(free) uint64_t *bits = NULL;
	uint64_t *more = NULL;
	enum hi_status status = HI_OK;

	in->shown.reach = in->shown.leaks_reach = in->results.reach;
	if (!hi_naming_is_restricted(in->options))
		return HI_OK;
	if (p->n_under)
		status = mark_under(in, &bits, err);
	if (status == HI_OK && by_type)
		status = restrict_by(in, &bits, mark_types_shown, err);
	if (status == HI_OK && by_birth)
		status = restrict_by(in, &bits, mark_births_shown, err);
	if (status == HI_OK && by_band)
		status = restrict_by(in, &bits, mark_bands_shown, err);
	if (status == HI_OK && by_era)
		status = restrict_by(in, &bits, mark_eras_shown, err);
	if (status == HI_OK && p->retained_by) {
		status = hi_retaining_mark(in, p->retained_by, &more, err);
		if (status == HI_OK)
			status = intersect_marks(in, &bits, more, err);
	}
	if (status == HI_OK) {
		in->shown.reach = NULL;
		status = hi_within_reach(in->graph, in->results.reach, bits, false,
					 &in->shown.reach, err);
	}
	if (status == HI_OK) {
		in->shown.leaks_reach = NULL;
		status = hi_within_reach(in->graph, in->results.reach, bits, true,
					 &in->shown.leaks_reach, err);
	}
	if (status == HI_OK)
		fill_only(in);
	return status;
}

bool hi_naming_shows(const struct hi_inspection *in, hi_node node)
{
	const struct hi_graph *g = in->graph;

	if (in->shown.reach == in->results.reach)
		return true;
	if (hi_graph_is_object(g, node))
		return hi_bit(in->results.reach->any, node)
			       ? hi_bit(in->shown.reach->any, node)
			       : !hi_bit(in->shown.leaks_reach->any, node);
	for (size_t i = 0; in->profile.roots && i < in->profile.roots->count; i++) {
		const struct hi_named_root *root = &in->profile.roots->items[i];

		if (!hi_profile_is_under(&in->options->profile, root->text.name))
			continue;
		for (size_t k = 0; k < root->n_starts; k++)
			if (root->starts[k] == node)
				return true;
	}
	return false;
}

enum hi_status hi_naming_bits(struct hi_inspection *in, const uint64_t **ret,
			      struct hi_error *err)
{
	hi_node n = in->graph->n_objects;
	size_t words = ((size_t)n + 63) / 64 + 1;
	uint64_t *bits;

	*ret = NULL;
	if (in->shown.reach == in->results.reach)
		return HI_OK;
	bits = hi_arena_alloc(&in->arena, words * sizeof(*bits));
	if (!bits)
		return hi_fail_memory(err, "restriction");
	memset(bits, 0, words * sizeof(*bits));
	for (hi_node i = 0; i < n; i++)
		bits[i >> 6] |= (uint64_t)hi_naming_shows(in, i) << (i & 63);
	*ret = bits;
	return HI_OK;
}

static enum hi_status recount_bins_by_type(struct hi_inspection *in, struct hi_bins *bins,
					   struct hi_error *err)
{
	HI_GUARD(free) uint64_t *bits = NULL;
	enum hi_status status = mark_types_shown(in, &bits, err);

	if (status != HI_OK)
		return status;
	return hi_bins_recount(bins, in->graph, in->results.reach, bits, err);
}

enum hi_status hi_naming_keep_bins(struct hi_inspection *in, struct hi_bins *bins,
				   const struct hi_set_pool *pool, struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	HI_GUARD(free) uint32_t *kept = NULL;
	size_t n = 0;

	if (in->options->selection.type_restricts && in->options->selection.type) {
		enum hi_status status = recount_bins_by_type(in, bins, err);

		if (status != HI_OK)
			return status;
	}
	if (!p->n_under)
		return HI_OK;
	kept = hi_calloc(in->profile.roots->count + 1, sizeof(*kept));
	if (!kept)
		return hi_fail_memory(err, "restriction");
	for (size_t i = 0; i < in->profile.roots->count; i++)
		if (hi_profile_is_under(p, in->profile.roots->items[i].text.name))
			kept[n++] = (uint32_t)i + 1;
	hi_bins_restrict(bins, pool, kept, n);
	return HI_OK;
}

void hi_naming_close(struct hi_inspection *in)
{
	if (in->shown.reach != in->results.reach)
		hi_reach_destroy(in->shown.reach);
	if (in->shown.leaks_reach != in->results.reach)
		hi_reach_destroy(in->shown.leaks_reach);
	in->source->retainers->close_roots(in);
}
