/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"

HI_DEFINE_GUARD(struct hi_bio_view *, hi_bio_view_destroy)

/* Of what was idle in the last period, so much was idle for the time in the first line.
 */
#define IDLE_SHARE_PERCENT 80

static void add_amount(struct hi_bio_amount *sum, uint64_t bytes)
{
	sum->objects++;
	sum->bytes += bytes;
}

/* ---- censuses ---- */

static void fill_line(const struct hi_lives *lives, const struct hi_bio *bio,
		      const struct hi_bio_view *view, uint64_t t, struct hi_bio_line *ret)
{
	const struct hi_bio_census *census = hi_bio_census(bio, t);
	const struct hi_lives_census *taken;
	size_t n;

	taken = &hi_lives_censuses(lives, &n)[t];
	*ret = (struct hi_bio_line){.at_ns = taken->at_ns,
				    .unseen = taken->unseen,
				    .has_pages = taken->has_pages};
	hi_bio_view_row(view, HI_BIO_ALL, t, &ret->row);
	memcpy(ret->evidence, census->evidence, sizeof(ret->evidence));
}

static enum hi_status fill_lines(struct hi_lives *lives, const struct hi_bio_view *view,
				 struct hi_arena *arena, struct hi_bio_report *ret,
				 struct hi_error *err)
{
	ret->n_lines = hi_bio_view_censuses(view);
	ret->lines = hi_arena_alloc(arena, (ret->n_lines + 1) * sizeof(*ret->lines));
	if (!ret->lines)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < ret->n_lines; i++)
		fill_line(lives, hi_lives_bio(lives), view, i + 1, &ret->lines[i]);
	return HI_OK;
}

enum hi_status hi_lives_last_line(struct hi_lives *lives, struct hi_bio_line *ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *view = NULL;
	struct hi_bio *bio = hi_lives_bio(lives);
	enum hi_status status = hi_bio_view_make(bio, HI_BIO_AT_CENSUS, &view, err);

	if (status == HI_OK)
		fill_line(lives, bio, view, hi_bio_censuses(bio), ret);
	return status;
}

/* ---- groups ---- */

static void add_bounds(struct hi_bio_bounds *sum, struct hi_bio_bounds more)
{
	sum->proved += more.proved;
	sum->possible += more.possible;
}

static void add_row(struct hi_bio_row *sum, const struct hi_bio_row *more)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		add_bounds(&sum->bytes[band], more->bytes[band]);
		add_bounds(&sum->objects[band], more->objects[band]);
	}
	sum->live.bytes += more->live.bytes;
	sum->live.objects += more->live.objects;
	sum->settled.bytes += more->settled.bytes;
	sum->settled.objects += more->settled.objects;
}

static uint32_t text_of_group(const struct hi_object_group *group, enum hi_lives_by by)
{
	return by == HI_LIVES_BY_SITE	  ? group->site
	       : by == HI_LIVES_BY_MODULE ? group->module
	       : by == HI_LIVES_BY_ERA	  ? group->era
	       : by == HI_LIVES_BY_ROOT	  ? group->root
					  : group->type;
}

/* Most possible bytes first, then by name. */
struct ranked {
	struct hi_bio_group group;
	uint64_t bytes;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->group.name, y->group.name);
}

/* Rows by text number; texts are as many as the interner has, and "". */
static void sum_groups(const struct hi_lives *lives, const struct hi_bio_view *view,
		       enum hi_lives_by by, struct ranked *ranked)
{
	const struct hi_object_groups *groups = hi_lives_groups(lives);
	uint64_t t = hi_bio_view_censuses(view);
	struct hi_bio_row row;

	for (uint32_t g = 0; g < groups->list.count; g++) {
		hi_bio_view_row(view, g, t, &row);
		add_row(&ranked[text_of_group(&groups->list.items[g], by)].group.row,
			&row);
	}
}

static size_t keep_groups(struct ranked *ranked, size_t n,
			  const struct hi_lives_result_options *options,
			  struct hi_bio_report *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		ranked[i].bytes =
			hi_bio_row_sum(&ranked[i].group.row, ret->bands).bytes.possible;
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < n; i++) {
		if (!ranked[i].group.row.live.objects || !ranked[i].bytes)
			continue;
		if (kept < options->top && ranked[i].bytes >= options->min_size)
			ranked[kept++] = ranked[i];
		else
			hi_hidden_add(&ret->hidden, ranked[i].group.row.live.bytes);
	}
	return kept;
}

static enum hi_status fill_groups(struct hi_lives *lives, const struct hi_bio_view *view,
				  const struct hi_lives_result_options *options,
				  struct hi_arena *arena, struct hi_bio_report *ret,
				  struct hi_error *err)
{
	const struct hi_interner *texts = &hi_lives_groups(lives)->texts;
	size_t n = texts->names.count + 1;
	HI_GUARD(free) struct ranked *ranked = hi_calloc(n, sizeof(*ranked));

	if (!ranked)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < n; i++)
		ranked[i].group.name = hi_interner_name(texts, (uint32_t)i);
	sum_groups(lives, view, options->by, ranked);
	n = keep_groups(ranked, n, options, ret);
	ret->groups = hi_arena_alloc(arena, (n + 1) * sizeof(*ret->groups));
	if (!ret->groups)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < n; i++)
		ret->groups[i] = ranked[i].group;
	ret->n_groups = n;
	return HI_OK;
}

/* ---- what was not used for some time ---- */

/* From which period on an object is idle; 0: it may be in use. */
static uint64_t idle_from(const struct hi_lives *lives, uint32_t number,
			  struct hi_bio_life *life)
{
	if (!hi_lives_at_end(lives, number, life) || life->object.is_inherent)
		return 0;
	return life->quiet_from;
}

/* The period from which most of what is idle now is idle. */
static uint64_t choose_idle_period(const struct hi_lives *lives, uint64_t *by_period,
				   uint64_t n_periods)
{
	uint64_t all = 0, sum = 0;
	struct hi_bio_life life;

	for (uint32_t i = 0; i < hi_lives_numbers(lives); i++) {
		uint64_t from = idle_from(lives, i, &life);

		if (!from || from > n_periods)
			continue;
		by_period[from] += life.object.size;
		all += life.object.size;
	}
	for (uint64_t t = 1; t <= n_periods; t++) {
		sum += by_period[t];
		if (sum && sum >= all / 100 * IDLE_SHARE_PERCENT)
			return t;
	}
	return 0;
}

/* Sums by text of the objects that are idle from that period on. only_type NULL: of all
 * types. */
static void sum_idle(const struct hi_lives *lives, uint64_t period, enum hi_lives_by by,
		     const uint32_t *only_type, struct hi_bio_amount *sums)
{
	const struct hi_object_groups *groups = hi_lives_groups(lives);
	struct hi_bio_life life;

	for (uint32_t i = 0; i < hi_lives_numbers(lives); i++) {
		uint64_t from = idle_from(lives, i, &life);
		const struct hi_object_group *group;

		if (!from || from > period)
			continue;
		group = &groups->list.items[life.object.group];
		if (only_type && group->type != *only_type)
			continue;
		add_amount(&sums[text_of_group(group, by)], life.object.size);
	}
}

static uint32_t largest_sum(const struct hi_bio_amount *sums, size_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < n; i++)
		if (sums[i].bytes > sums[best].bytes)
			best = i;
	return best;
}

/* What most of the idle objects of a type have in common. */
static void name_idle_by(const struct hi_lives *lives, uint64_t period,
			 enum hi_lives_by by, const uint32_t *only_type,
			 struct hi_bio_amount *sums, uint32_t *text_ret,
			 struct hi_bio_amount *ret)
{
	size_t n = hi_lives_groups(lives)->texts.names.count + 1;

	memset(sums, 0, n * sizeof(*sums));
	sum_idle(lives, period, by, only_type, sums);
	*text_ret = largest_sum(sums, n);
	*ret = sums[*text_ret];
}

static enum hi_status name_idle(const struct hi_lives *lives, uint64_t period,
				struct hi_bio_idle *ret, struct hi_error *err)
{
	const struct hi_interner *texts = &hi_lives_groups(lives)->texts;
	HI_GUARD(free)
	struct hi_bio_amount *sums = hi_calloc(texts->names.count + 1, sizeof(*sums));
	uint32_t type, site, root;

	if (!sums)
		return hi_fail_memory(err, "report of biographies");
	name_idle_by(lives, period, HI_LIVES_BY_TYPE, NULL, sums, &type, &ret->of_type);
	name_idle_by(lives, period, HI_LIVES_BY_SITE, &type, sums, &site, &ret->of_site);
	name_idle_by(lives, period, HI_LIVES_BY_ROOT, &type, sums, &root, &ret->of_root);
	ret->type = hi_interner_name(texts, type);
	ret->site = hi_interner_name(texts, site);
	ret->root = hi_interner_name(texts, root);
	return HI_OK;
}

static void sum_all_idle(const struct hi_lives *lives, uint64_t period,
			 struct hi_bio_amount *ret)
{
	struct hi_bio_life life;

	for (uint32_t i = 0; i < hi_lives_numbers(lives); i++) {
		uint64_t from = idle_from(lives, i, &life);

		if (from && from <= period)
			add_amount(ret, life.object.size);
	}
}

static enum hi_status fill_idle(const struct hi_lives *lives, uint64_t n_periods,
				struct hi_bio_idle *ret, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *by_period = hi_calloc(n_periods + 1, sizeof(*by_period));
	const struct hi_lives_census *censuses;
	uint64_t period;
	size_t n;

	*ret = (struct hi_bio_idle){.type = "", .site = "", .root = ""};
	if (!by_period)
		return hi_fail_memory(err, "report of biographies");
	period = choose_idle_period(lives, by_period, n_periods);
	if (!period)
		return HI_OK;
	censuses = hi_lives_censuses(lives, &n);
	ret->for_ns = censuses[n - 1].at_ns - censuses[period - 1].at_ns;
	sum_all_idle(lives, period, &ret->all);
	return name_idle(lives, period, ret, err);
}

/* ---- what is watched ---- */

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
				hi_bio_life_bands(&life, t + 1, t)};
	return hi_bio_sample_estimate(sampled, kept, ret->population, 1, &ret->estimates,
				      err);
}

static void cap_interval(struct hi_interval *interval, uint64_t possible)
{
	interval->high = hi_min(interval->high, possible);
	interval->low = hi_min(interval->low, interval->high);
}

/* What is possible of all that is live is not exceeded by a part of it. */
static void cap_estimates(const struct hi_bio_row *all, struct hi_bio_estimates *e)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		cap_interval(&e->bytes[band].interval, all->bytes[band].possible);
		cap_interval(&e->objects[band].interval, all->objects[band].possible);
	}
}

static enum hi_status fill_watch(const struct hi_lives *lives,
				 const struct hi_bio_view *view, struct hi_bio_watch *ret,
				 struct hi_error *err)
{
	const uint64_t t = hi_bio_view_censuses(view);
	const struct hi_watch_sample *sample = hi_lives_sample(lives);
	const struct hi_watch_member *members;
	struct hi_watch_totals totals;
	struct hi_bio_row all;
	enum hi_status status;
	size_t n;

	if (!sample)
		return HI_OK;
	members = hi_watch_sample_members(sample, &n, &ret->population);
	totals = hi_watch_sample_totals(sample);
	ret->objects = totals.objects;
	ret->used = totals.used;
	ret->hits = totals.hits;
	if (!ret->population.objects)
		ret->missing = "the recording tells no object from others";
	if (!t || !n)
		return HI_OK;
	status = estimate_watched(lives, members, n, t, ret, err);
	hi_bio_view_row(view, HI_BIO_ALL, t, &all);
	cap_estimates(&all, &ret->estimates);
	return status;
}

/* ---- all of it ---- */

static void fill_known(const struct hi_lives *lives, struct hi_bio_report *ret)
{
	size_t n;
	const struct hi_lives_census *censuses = hi_lives_censuses(lives, &n);

	if (!n)
		return;
	ret->certain = censuses[n - 1].known.certain;
	ret->uncertain = censuses[n - 1].known.uncertain;
	ret->left_out = censuses[n - 1].known.left_out;
	ret->lasted_ns = censuses[n - 1].at_ns;
	ret->is_recorded = censuses[n - 1].is_recorded;
	ret->sample_bytes = censuses[n - 1].sample_bytes;
	ret->no_pages = hi_lives_no_pages(lives);
	for (size_t i = 1; i < n; i++)
		if (censuses[i].has_pages)
			ret->no_pages = NULL;
}

enum hi_status hi_lives_result(struct hi_lives *lives,
			       const struct hi_lives_result_options *options,
			       struct hi_arena *arena, struct hi_bio_report *ret,
			       struct hi_error *err)
{
	static const char *const by[] = {[HI_LIVES_BY_TYPE] = "type",
					 [HI_LIVES_BY_SITE] = "site",
					 [HI_LIVES_BY_MODULE] = "module",
					 [HI_LIVES_BY_ERA] = "era",
					 [HI_LIVES_BY_ROOT] = "root"};
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *view = NULL;
	struct hi_bio *bio = hi_lives_bio(lives);
	enum hi_status status = hi_bio_view_make(bio, HI_BIO_AT_CENSUS, &view, err);

	*ret = (struct hi_bio_report){.exe = "",
				      .by = by[options->by],
				      .bands = options->bands ? options->bands
							      : HI_BIO_NOT_USED,
				      .has_bands = options->bands != 0};
	if (status != HI_OK)
		return status;
	fill_known(lives, ret);
	status = fill_lines(lives, view, arena, ret, err);
	if (status == HI_OK)
		status = fill_groups(lives, view, options, arena, ret, err);
	if (status == HI_OK)
		status = fill_idle(lives, hi_bio_view_censuses(view), &ret->idle, err);
	if (status == HI_OK)
		status = fill_watch(lives, view, &ret->watch, err);
	if (status == HI_OK)
		hi_bio_check(bio, view, &ret->checks);
	return status;
}
