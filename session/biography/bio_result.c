/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/bio_result.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "session/biography/object_groups.h"

/* Of what was idle in the last period, so much was idle for the time in the first line.
 */
#define IDLE_SHARE_PERCENT 80

static void add_amount(struct hi_bio_amount *sum, uint64_t bytes)
{
	sum->objects++;
	sum->bytes += bytes;
}

/* ---- censuses ---- */

static enum hi_status fill_lines(const struct hi_bio_summary *lives,
				 struct hi_arena *arena, struct hi_bio_report *ret,
				 struct hi_error *err)
{
	ret->n_lines = hi_bio_summary_periods(lives);
	ret->lines = hi_arena_alloc(arena, (ret->n_lines + 1) * sizeof(*ret->lines));
	if (!ret->lines)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < ret->n_lines; i++)
		ret->lines[i] = lives->censuses[i + 1];
	return HI_OK;
}

/* ---- groups ---- */

static uint32_t text_of_group(const struct hi_bio_group_row *group, enum hi_lives_by by)
{
	const struct hi_object_group labels = {.type = group->type,
					       .module = group->module,
					       .site = group->site,
					       .era = group->era,
					       .root = group->root,
					       .retainers = group->retainers};

	return hi_object_group_text(&labels, by);
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
static void sum_groups(const struct hi_bio_summary *lives, enum hi_lives_by by,
		       struct ranked *ranked)
{
	for (uint32_t g = 0; g < lives->n_groups; g++) {
		struct hi_bio_group *to =
			&ranked[text_of_group(&lives->groups[g], by)].group;

		hi_bio_row_add(&to->row, &lives->groups[g].row);
		to->variance += lives->variances ? lives->variances[g] : 0;
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

static enum hi_status fill_groups(const struct hi_bio_summary *lives,
				  const struct hi_lives_result_options *options,
				  struct hi_arena *arena, struct hi_bio_report *ret,
				  struct hi_error *err)
{
	const struct hi_interner *texts = lives->texts;
	size_t n = texts->names.count + 1;
	HI_GUARD(free) struct ranked *ranked = hi_calloc(n, sizeof(*ranked));

	if (!ranked)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < n; i++)
		ranked[i].group.name = hi_interner_name(texts, (uint32_t)i);
	sum_groups(lives, options->by, ranked);
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
static uint64_t idle_from(const struct hi_bio_life_row *life)
{
	return life->flags & HI_BIO_LIFE_INHERENT ? 0 : life->quiet_from;
}

/* The period from which most of what is idle now is idle. */
static uint64_t choose_idle_period(const struct hi_bio_summary *lives,
				   uint64_t *by_period, uint64_t n_periods)
{
	uint64_t all = 0, sum = 0;

	for (size_t i = 0; i < lives->n_lives; i++) {
		uint64_t from = idle_from(&lives->lives[i]);

		if (!from || from > n_periods)
			continue;
		by_period[from] += lives->lives[i].size;
		all += lives->lives[i].size;
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
static void sum_idle(const struct hi_bio_summary *lives, uint64_t period,
		     enum hi_lives_by by, const uint32_t *only_type,
		     struct hi_bio_amount *sums)
{
	for (size_t i = 0; i < lives->n_lives; i++) {
		uint64_t from = idle_from(&lives->lives[i]);
		const struct hi_bio_group_row *group;

		if (!from || from > period)
			continue;
		group = &lives->groups[lives->lives[i].group];
		if (only_type && group->type != *only_type)
			continue;
		add_amount(&sums[text_of_group(group, by)], lives->lives[i].size);
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
static void name_idle_by(const struct hi_bio_summary *lives, uint64_t period,
			 enum hi_lives_by by, const uint32_t *only_type,
			 struct hi_bio_amount *sums, uint32_t *text_ret,
			 struct hi_bio_amount *ret)
{
	size_t n = lives->texts->names.count + 1;

	memset(sums, 0, n * sizeof(*sums));
	sum_idle(lives, period, by, only_type, sums);
	*text_ret = largest_sum(sums, n);
	*ret = sums[*text_ret];
}

static enum hi_status name_idle(const struct hi_bio_summary *lives, uint64_t period,
				struct hi_bio_idle *ret, struct hi_error *err)
{
	const struct hi_interner *texts = lives->texts;
	HI_GUARD(free)
	struct hi_bio_amount *sums = hi_calloc(texts->names.count + 1, sizeof(*sums));
	uint32_t type, site, root, retainers;

	if (!sums)
		return hi_fail_memory(err, "report of biographies");
	name_idle_by(lives, period, HI_LIVES_BY_TYPE, NULL, sums, &type, &ret->of_type);
	name_idle_by(lives, period, HI_LIVES_BY_SITE, &type, sums, &site, &ret->of_site);
	name_idle_by(lives, period, HI_LIVES_BY_ROOT, &type, sums, &root, &ret->of_root);
	name_idle_by(lives, period, HI_LIVES_BY_RETAINERS, &type, sums, &retainers,
		     &ret->of_retainers);
	ret->type = hi_interner_name(texts, type);
	ret->site = hi_interner_name(texts, site);
	ret->root = hi_interner_name(texts, root);
	ret->retainers = hi_interner_name(texts, retainers);
	return HI_OK;
}

static void sum_all_idle(const struct hi_bio_summary *lives, uint64_t period,
			 struct hi_bio_amount *ret)
{
	for (size_t i = 0; i < lives->n_lives; i++) {
		uint64_t from = idle_from(&lives->lives[i]);

		if (from && from <= period)
			add_amount(ret, lives->lives[i].size);
	}
}

static enum hi_status fill_idle(const struct hi_bio_summary *lives,
				struct hi_bio_idle *ret, struct hi_error *err)
{
	const uint64_t n_periods = hi_bio_summary_periods(lives);
	HI_GUARD(free) uint64_t *by_period = hi_calloc(n_periods + 1, sizeof(*by_period));
	uint64_t period;

	*ret = (struct hi_bio_idle){.type = "", .site = "", .root = "", .retainers = ""};
	if (!by_period)
		return hi_fail_memory(err, "report of biographies");
	period = choose_idle_period(lives, by_period, n_periods);
	if (!period)
		return HI_OK;
	ret->for_ns =
		lives->censuses[n_periods].at_ns - lives->censuses[period - 1].at_ns;
	sum_all_idle(lives, period, &ret->all);
	return name_idle(lives, period, ret, err);
}

/* ---- what was watched ---- */

static enum hi_status fill_counted(const struct hi_bio_summary *lives,
				   struct hi_arena *arena, struct hi_bio_report *ret,
				   struct hi_error *err)
{
	const struct hi_bio_watch *w = &lives->watch;

	ret->counted = hi_arena_alloc(arena, (w->n_watched + 1) * sizeof(*ret->counted));
	if (!ret->counted)
		return hi_fail_memory(err, "report of biographies");
	for (size_t i = 0; i < w->n_watched; i++)
		ret->counted[i] = (struct hi_bio_counted){
			.address = w->watched[i].address,
			.bytes = w->watched[i].size,
			.hits = w->watched[i].hits,
			.periods = w->watched[i].periods,
			.type = hi_interner_name(
				lives->texts, lives->groups[w->watched[i].group].type)};
	ret->n_counted = w->n_watched;
	return HI_OK;
}

/* ---- all of it ---- */

static void fill_known(const struct hi_bio_summary *lives, struct hi_bio_report *ret)
{
	ret->lasted_ns = lives->censuses[hi_bio_summary_periods(lives)].at_ns;
	ret->is_recorded = lives->is_recorded;
	ret->birth_is_idle = lives->birth_is_idle;
	ret->birth_is_seen = lives->birth_is_seen;
	ret->death_is_idle = lives->death_is_idle;
	ret->sample_bytes = lives->sample_bytes;
	for (uint32_t g = 0; lives->variances && g < lives->n_groups; g++)
		ret->variance += lives->variances[g];
	ret->certain = lives->certain;
	ret->uncertain = lives->uncertain;
	ret->left_out = lives->left_out;
	ret->no_pages = lives->no_pages;
	ret->checks = lives->checks;
	ret->watch = lives->watch;
	ret->uses = lives->uses;
	ret->era = lives->era.eras;
	ret->era_is_open = lives->era.is_open;
	ret->hidden_by_era = lives->era.hidden;
	ret->restricted = lives->era.restricted;
}

enum hi_status hi_lives_result(const struct hi_bio_summary *lives,
			       const struct hi_lives_result_options *options,
			       struct hi_arena *arena, struct hi_bio_report *ret,
			       struct hi_error *err)
{
	enum hi_status status;

	*ret = (struct hi_bio_report){.exe = "",
				      .by = hi_lives_by_name(options->by),
				      .bands = options->bands ? options->bands
							      : HI_BIO_NOT_USED,
				      .has_bands = options->bands != 0};
	fill_known(lives, ret);
	status = fill_lines(lives, arena, ret, err);
	if (status == HI_OK)
		status = fill_groups(lives, options, arena, ret, err);
	if (status == HI_OK)
		status = fill_counted(lives, arena, ret, err);
	return status == HI_OK ? fill_idle(lives, &ret->idle, err) : status;
}
