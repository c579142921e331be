/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/summarize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "census/snapshot/snapshot_lives.h"

/* ---- censuses ---- */

static bool is_restricted(const struct hi_object_groups *groups)
{
	bool is_hidden = false;

	for (size_t i = 0; i < groups->list.count; i++)
		is_hidden |= groups->list.items[i].is_hidden;
	return is_hidden;
}

void hi_lives_row(const struct hi_lives *lives, const struct hi_bio_view *view,
		  uint64_t t, struct hi_bio_row *ret)
{
	const struct hi_object_groups *groups = hi_lives_groups(lives);
	struct hi_bio_row row;

	hi_bio_view_row(view, HI_BIO_ALL, t, ret);
	if (!is_restricted(groups))
		return;
	*ret = (struct hi_bio_row){};
	for (uint32_t i = 0; i < groups->list.count; i++) {
		if (groups->list.items[i].is_hidden)
			continue;
		hi_bio_view_row(view, i, t, &row);
		hi_bio_row_add(ret, &row);
	}
}

static void fill_census_row(struct hi_lives *lives, const struct hi_bio_view *view,
			    uint64_t t, struct hi_bio_census_row *ret)
{
	const struct hi_bio_census *census = hi_bio_census(hi_lives_bio(lives), t);
	const struct hi_lives_census *taken;
	size_t n;

	taken = &hi_lives_censuses(lives, &n)[t];
	*ret = (struct hi_bio_census_row){.at_ns = taken->at_ns,
					  .unseen = taken->unseen,
					  .has_pages = taken->has_pages};
	if (!t)
		return;
	hi_lives_row(lives, view, t, &ret->row);
	memcpy(ret->evidence, census->evidence, sizeof(ret->evidence));
}

static bool fill_censuses(struct hi_lives *lives, const struct hi_bio_view *view,
			  struct hi_bio_summary *ret)
{
	size_t n = hi_bio_view_censuses(view) + 1;
	struct hi_bio_census_row *rows = hi_arena_alloc(&ret->arena, n * sizeof(*rows));

	for (size_t t = 0; rows && t < n; t++)
		fill_census_row(lives, view, t, &rows[t]);
	ret->censuses = rows;
	ret->n_censuses = n;
	return rows != NULL;
}

enum hi_status hi_lives_last_line(struct hi_lives *lives, struct hi_bio_census_row *ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *view = NULL;
	struct hi_bio *bio = hi_lives_bio(lives);
	enum hi_status status = hi_bio_view_make(bio, HI_BIO_AT_CENSUS, &view, err);

	if (status == HI_OK)
		fill_census_row(lives, view, hi_bio_censuses(bio), ret);
	return status;
}

/* ---- groups and objects ---- */

static bool fill_variances(const struct hi_lives *lives, uint32_t n,
			   struct hi_bio_summary *ret)
{
	const struct hi_object_groups *groups = hi_lives_groups(lives);
	double *variances = hi_arena_alloc(&ret->arena, (n + 1u) * sizeof(*variances));

	for (uint32_t i = 0; variances && i < n; i++)
		variances[i] =
			groups->list.items[i].is_hidden ? 0 : hi_lives_variance(lives, i);
	ret->variances = variances;
	return variances != NULL;
}

static bool fill_group_rows(struct hi_lives *lives, const struct hi_bio_view *view,
			    struct hi_bio_summary *ret)
{
	const struct hi_object_groups *groups = hi_lives_groups(lives);
	uint32_t n = (uint32_t)groups->list.count;
	struct hi_bio_group_row *rows =
		hi_arena_alloc(&ret->arena, (n + 1u) * sizeof(*rows));

	for (uint32_t i = 0; rows && i < n; i++) {
		const struct hi_object_group *g = &groups->list.items[i];

		rows[i] = (struct hi_bio_group_row){.type = g->type,
						    .module = g->module,
						    .site = g->site,
						    .era = g->era,
						    .root = g->root,
						    .retainers = g->retainers,
						    .is_inherent = g->is_inherent};
		if (!g->is_hidden)
			hi_bio_view_row(view, i, hi_bio_view_censuses(view),
					&rows[i].row);
	}
	ret->groups = rows;
	ret->n_groups = n;
	ret->texts = &groups->texts;
	return rows && fill_variances(lives, n, ret);
}

static enum hi_status fill_life_rows(struct hi_lives *lives, struct hi_bio_summary *ret,
				     struct hi_error *err)
{
	size_t n;
	const struct hi_lives_object *objects = hi_lives_objects(lives, &n);
	struct hi_bio_life_row *rows =
		hi_arena_alloc(&ret->arena, (n + 1) * sizeof(*rows));
	struct hi_bio_life life;

	if (!rows)
		return hi_fail_memory(err, "summary of biographies");
	ret->lives = rows;
	for (size_t i = 0; i < n; i++) {
		if (!hi_lives_at_end(lives, objects[i].number, &life))
			continue;
		if (!hi_bio_life_pack(&life, &rows[ret->n_lives]))
			return hi_fail(err, HI_LIMIT, 0, "biographies: too many periods");
		rows[ret->n_lives++].object = objects[i].object;
	}
	return HI_OK;
}

/* ---- what is watched ---- */

/* By the word that was watched, when it was for the last time. */
static enum hi_bio_band find_likely_band(const struct hi_watch_member *member,
					 const struct hi_bio_life *life)
{
	return member->hits_then    ? HI_BIO_USE
	       : life->first_proved ? HI_BIO_DRAG
	       : life->is_older	    ? HI_BIO_UNUSED
				    : HI_BIO_VOID;
}

static enum hi_status estimate_watched(const struct hi_lives *lives,
				       const struct hi_watch_member *members, size_t n,
				       uint64_t t, struct hi_bio_watch *ret,
				       struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_bio_sampled *sampled = hi_calloc(n + 1, sizeof(*sampled));
	double probability = (double)n / (double)ret->population.objects;
	struct hi_bio_life life;
	uint32_t kept = 0;

	if (!sampled)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < n; i++)
		if (hi_lives_at_end(lives, members[i].object.number, &life))
			sampled[kept++] = (struct hi_bio_sampled){
				life.object.size, probability,
				hi_bio_life_bands(&life, t + 1, t),
				members[i].watched_at
					? HI_BIO_BIT(find_likely_band(&members[i], &life))
					: 0};
	return hi_bio_sample_estimate(sampled, kept, ret->population, 1, &ret->estimates,
				      err);
}

static int compare_watched(const void *a, const void *b)
{
	const struct hi_bio_watched *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return (x->address > y->address) - (x->address < y->address);
}

static bool list_watched(const struct hi_lives *lives,
			 const struct hi_watch_member *members, size_t n,
			 struct hi_arena *arena, struct hi_bio_watch *ret)
{
	struct hi_bio_watched *watched =
		hi_arena_alloc(arena, (n + 1) * sizeof(*watched));
	struct hi_bio_life life;

	if (!watched)
		return false;
	for (size_t i = 0; i < n; i++)
		if (members[i].watched_at &&
		    hi_lives_at_end(lives, members[i].object.number, &life))
			watched[ret->n_watched++] = (struct hi_bio_watched){
				members[i].object.address, life.object.size,
				members[i].hits, members[i].periods, life.object.group};
	if (ret->n_watched)
		qsort(watched, ret->n_watched, sizeof(*watched), compare_watched);
	ret->watched = watched;
	return true;
}

static void cap_interval(struct hi_interval *interval, uint64_t possible)
{
	interval->high = hi_min(interval->high, possible);
	interval->low = hi_min(interval->low, interval->high);
}

static void cap_estimate(double *estimate, struct hi_bio_bounds bounds)
{
	*estimate = fmin(*estimate, (double)bounds.possible);
}

/* What is possible of all that is live is not exceeded by a part of it. */
static void cap_estimates(const struct hi_bio_row *all, struct hi_bio_estimates *e)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		cap_interval(&e->bytes[band].interval, all->bytes[band].possible);
		cap_interval(&e->objects[band].interval, all->objects[band].possible);
		cap_estimate(&e->bytes[band].estimate, all->bytes[band]);
		cap_estimate(&e->objects[band].estimate, all->objects[band]);
		cap_interval(&e->bytes[band].range, all->bytes[band].possible);
		cap_interval(&e->objects[band].range, all->objects[band].possible);
	}
}

static void fill_watch_counts(const struct hi_lives *lives, struct hi_bio_watch *ret)
{
	struct hi_watch_counts counts;
	const char *missing;

	ret->slots = hi_lives_watch(lives, &missing, &counts);
	ret->missing = *missing ? missing : NULL;
	ret->all_hits = counts.hits;
	ret->moved_on = counts.moved_on;
	ret->waited = counts.waited;
}

static enum hi_status fill_watch(const struct hi_lives *lives,
				 const struct hi_bio_view *view, struct hi_arena *arena,
				 struct hi_bio_watch *ret, struct hi_error *err)
{
	const uint64_t t = hi_bio_view_censuses(view);
	const struct hi_watch_sample *sample = hi_lives_sample(lives);
	const struct hi_watch_member *members;
	struct hi_watch_totals totals;
	struct hi_bio_row all;
	enum hi_status status;
	size_t n;

	fill_watch_counts(lives, ret);
	if (!sample)
		return HI_OK;
	members = hi_watch_sample_members(sample, &n, &ret->population);
	totals = hi_watch_sample_totals(sample);
	ret->objects = totals.objects;
	ret->used = totals.used;
	ret->hits = totals.hits;
	if (!ret->population.objects && !ret->missing)
		ret->missing = "the recording tells no object from others";
	if (!t || !n)
		return HI_OK;
	if (!list_watched(lives, members, n, arena, ret))
		return hi_fail_memory(err, "summary of biographies");
	status = estimate_watched(lives, members, n, t, ret, err);
	hi_lives_row(lives, view, t, &all);
	cap_estimates(&all, &ret->estimates);
	return status;
}

/* ---- all of it ---- */

static void fill_last_census(const struct hi_lives *lives, struct hi_bio_summary *ret)
{
	const struct hi_lives_options *options = hi_lives_asked(lives);
	size_t n;
	const struct hi_lives_census *censuses = hi_lives_censuses(lives, &n);

	ret->certain = censuses[n - 1].known.certain;
	ret->uncertain = censuses[n - 1].known.uncertain;
	ret->left_out = censuses[n - 1].known.left_out;
	ret->is_recorded = censuses[n - 1].is_recorded;
	ret->sample_bytes = censuses[n - 1].sample_bytes;
	ret->birth_is_idle = options->birth_use == HI_LIVES_ENDS_NO;
	ret->birth_is_seen = options->birth_use == HI_LIVES_ENDS_SEEN;
	ret->death_is_idle = options->death_use == HI_LIVES_ENDS_NO;
	ret->no_pages = hi_lives_no_pages(lives);
	for (size_t i = 1; i < n; i++)
		if (censuses[i].has_pages)
			ret->no_pages = NULL;
}

static void fill_uses(const struct hi_lives *lives, struct hi_bio_calls *ret)
{
	struct hi_use_counts counts;
	const char *missing;

	if (!hi_lives_uses(lives, &missing, &counts))
		return;
	*ret = (struct hi_bio_calls){.is_asked = true,
				     .missing = *missing ? missing : NULL,
				     .functions = counts.functions,
				     .wanted = counts.wanted,
				     .probed = counts.probed,
				     .dropped = counts.dropped,
				     .left_out = counts.left_out,
				     .hits = counts.hits,
				     .not_stored = counts.not_stored,
				     .waited = counts.waited};
}

/* Objects that a restriction hides are hidden as those of other eras are. */
static void fill_restricted(const struct hi_lives *lives, const struct hi_bio_view *view,
			    uint64_t t, struct hi_bio_era *ret)
{
	struct hi_bio_row all, shown;

	hi_bio_view_row(view, HI_BIO_ALL, t, &all);
	hi_lives_row(lives, view, t, &shown);
	ret->restricted = (struct hi_bio_amount){all.live.bytes - shown.live.bytes,
						 all.live.objects - shown.live.objects};
}

static void fill_era(const struct hi_lives *lives, const struct hi_bio_view *view,
		     struct hi_bio_era *ret)
{
	const struct hi_era_choice *eras = hi_lives_eras(lives);
	uint64_t t = hi_bio_view_censuses(view);
	struct hi_bio_row hidden;

	ret->eras = eras->text;
	ret->is_open = hi_era_choice_is_open(eras);
	if (!t)
		return;
	hi_bio_view_row(view, HI_BIO_LEFT_OUT, t, &hidden);
	ret->hidden = hidden.live;
	fill_restricted(lives, view, t, ret);
}

static enum hi_status check_eras(struct hi_lives *lives, struct hi_error *err)
{
	uint32_t n;
	const struct hi_bio_era_mark *eras = hi_bio_eras(hi_lives_bio(lives), &n);

	return hi_era_choice_check(hi_lives_eras(lives), eras, n, err);
}

enum hi_status hi_lives_summarize(struct hi_lives *lives, struct hi_bio_summary **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *view = NULL;
	HI_GUARD(hi_bio_summary_destroy)
	struct hi_bio_summary *summary = hi_bio_summary_create();
	struct hi_bio *bio = hi_lives_bio(lives);
	enum hi_status status = hi_bio_view_make(bio, HI_BIO_AT_CENSUS, &view, err);

	if (status == HI_OK)
		status = check_eras(lives, err);
	if (status != HI_OK)
		return status;
	if (!summary || !fill_censuses(lives, view, summary) ||
	    !fill_group_rows(lives, view, summary))
		return hi_fail_memory(err, "summary of biographies");
	fill_last_census(lives, summary);
	fill_uses(lives, &summary->uses);
	fill_era(lives, view, &summary->era);
	summary->eras = hi_bio_eras(bio, &summary->n_eras);
	summary->has_eras = true;
	status = fill_life_rows(lives, summary, err);
	if (status == HI_OK)
		status = fill_watch(lives, view, &summary->arena, &summary->watch, err);
	if (status != HI_OK)
		return status;
	hi_bio_check(bio, view, &summary->checks);
	*ret = hi_take(summary);
	return HI_OK;
}

enum hi_status hi_lives_save(void *lives, struct hi_snapshot_writer *writer,
			     struct hi_error *err)
{
	HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *summary = NULL;
	enum hi_status status = hi_lives_summarize(lives, &summary, err);

	return status == HI_OK ? hi_snapshot_put_lives(writer, summary, err) : status;
}
