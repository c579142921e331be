/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/window_live.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "census/events/window_columns.h"
#include "census/events/window_figures.h"
#include "census/events/window_rake.h"

enum { ROUND_UP = 24 };
/* Nothing is seen of more than were expected by a chance of 2.5 % only. */
static const double unseen_most = 3.7;
static const double chance_of_trust = 0.01;

/* ---- trust ---- */

/* How many blocks may have been freed, if windows saw n of it: by a chance of 2.5 %. */
static double most_of_count(double n)
{
	return n + unseen_most + 2 * sqrt(n);
}

/* Blocks of a column, and how many of those that were allocated in the recording may have
 * been freed in it. */
struct column_trust {
	uint64_t live, lost, old_frees;
	uint32_t n_sites; /* of one size */
	bool is_calm;
};

static void add_size_to_trust(const struct hi_size_class *class,
			      struct column_trust *trust)
{
	trust->live += class->live;
	trust->lost += class->lost;
	trust->old_frees += class->old_frees;
	trust->n_sites += class->n_sites;
	trust->is_calm &= class->is_calm;
}

/* Blocks of a site that may be gone. Such a free is seen by the share of time that windows
 * have; that its block is one of the site's only if both ends are. is_calm: all frees of
 * old blocks where the site has some were counted. */
static double most_gone(const struct hi_window_figures *f,
			const struct hi_window_site *site, bool is_calm,
			uint64_t old_frees)
{
	double of_site = most_of_count((double)site->seen_frees) * f->each * f->each;
	double of_columns = most_of_count((double)old_frees) * f->each;

	return is_calm ? fmin(of_site, of_columns) : of_site;
}

/* Are all of its blocks leaked, so that it is no chance? of: in this size; NULL: in all. */
static bool are_leaks_its_own(const struct column_trust *trust,
			      const struct hi_window_site *site,
			      const struct hi_site_of_size *of)
{
	double share = (double)trust->lost / (double)(trust->live + trust->lost);
	uint64_t live = of ? of->live : site->seen_live,
		 lost = of ? of->lost : site->seen_lost;

	return lost && !live && site->keeps_all &&
	       pow(share, (double)lost) < chance_of_trust;
}

/* ---- one figure ---- */

/* A sum over objects, and the place that it goes to. */
struct figure {
	const uint64_t *bits; /* the objects that have it */
	bool is_bytes, is_by_type, is_of_leaks;
	size_t at; /* struct hi_bounded of a site */
};

/* The columns in which a site was seen: their truth, and frees of old blocks in them. */
struct site_trust {
	double truth;
	uint64_t old_frees;
	bool is_doubted, is_in_motion; /* in one of them; one is not calm */
};

/* A figure that is being made. */
struct figure_columns {
	const struct hi_window_figures *f;
	const struct figure *what;
	struct hi_window_columns columns, all; /* all: as one column */
	double truth;			       /* of it */
	struct site_trust *sites;	       /* by group */
	struct column_trust *trusts;	       /* by column */
	struct hi_window_share *shares;	       /* room for all cells */
};

static double value_of_object(const struct figure *what, const struct hi_objects *o,
			      hi_node i)
{
	return what->is_bytes ? (double)hi_objects_cost(o, i) : 1;
}

static uint32_t type_of_column(const struct figure *what, const struct hi_objects *o,
			       hi_node i)
{
	return what->is_by_type ? o->type[i] : 0;
}

static bool fill_window_columns(struct figure_columns *c)
{
	const struct hi_objects *o = c->f->blocks->objects;

	for (hi_node i = 0; i < o->count; i++) {
		double value;

		if (!hi_window_is_in(c->what->bits, i))
			continue;
		value = value_of_object(c->what, o, i);
		c->truth += value;
		if (!hi_window_columns_add(&c->columns, hi_window_size(o, i),
					   type_of_column(c->what, o, i), value))
			return false;
	}
	return hi_window_columns_add(&c->all, 0, 0, c->truth) &&
	       hi_window_columns_merge(&c->columns, c->f->each);
}

static bool see_object(struct figure_columns *c, const struct hi_seen_block *block,
		       hi_node i)
{
	const struct hi_objects *o = c->f->blocks->objects;
	struct hi_window_value value = {
		.column = hi_window_columns_find(&c->columns, hi_window_size(o, i),
						 type_of_column(c->what, o, i)),
		.group = block->group,
		.window = block->window,
		.value = value_of_object(c->what, o, i),
		.length_s = block->length_s};

	if (value.column == UINT32_MAX)
		return true;
	if (!hi_window_columns_see(&c->columns, &value))
		return false;
	value.column = 0;
	return hi_window_columns_see(&c->all, &value);
}

static bool fill_cells(struct figure_columns *c)
{
	const struct hi_window_figures *f = c->f;

	for (size_t k = 0; k < f->seen.count; k++)
		for (hi_node i = f->seen.items[k].first; i <= f->seen.items[k].last; i++)
			if (hi_window_is_in(c->what->bits, i) &&
			    !see_object(c, &f->seen.items[k], i))
				return false;
	hi_window_columns_sort(&c->columns);
	hi_window_columns_sort(&c->all);
	return true;
}

/* By the sizes of each column, of which one may be in several by its types. */
static bool fill_trusts(struct figure_columns *c)
{
	size_t n = c->columns.columns.count;
	const struct hi_window_column *columns = c->columns.columns.items;
	uint64_t size = 0;

	c->trusts = hi_calloc(n + 1, sizeof(*c->trusts));
	c->shares = hi_calloc(c->columns.cells.count + 1, sizeof(*c->shares));
	c->sites =
		hi_calloc((size_t)c->f->blocks->groups->n_groups + 1, sizeof(*c->sites));
	if (!c->trusts || !c->shares || !c->sites)
		return false;
	for (size_t i = 0; i < n; i++)
		c->trusts[i].is_calm = true;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = hi_window_columns_last(&c->columns, (uint32_t)i);

		/* Each size once, where types were taken together. */
		if (columns[i].size == HI_WINDOW_SIZES ||
		    (columns[i].into != i &&
		     columns[columns[i].into].size == columns[i].size) ||
		    !hi_table_get(&c->f->size_of, columns[i].size, &size))
			continue;
		add_size_to_trust(&c->f->sizes.items[size], &c->trusts[at]);
	}
	return true;
}

static void judge_share(const struct figure_columns *c, const struct hi_window_cell *cell,
			struct hi_window_share *share)
{
	const struct hi_window_figures *f = c->f;
	const struct column_trust *trust = &c->trusts[cell->column];
	const struct hi_window_site *site = &f->sites[cell->group];
	const struct hi_site_of_size *of = NULL;
	double mean = cell->seen / (double)cell->n;
	uint64_t size = c->columns.columns.items[cell->column].size, i = 0, k = 0;

	if (size != HI_WINDOW_SIZES && hi_table_get(&f->size_of, size, &i) &&
	    hi_table_get(&f->site_of, i << 32 | cell->group, &k))
		of = &f->of_sizes.items[k];
	share->gone = mean * most_gone(f, site, trust->is_calm, trust->old_frees);
	share->is_trusted = trust->is_calm ||
			    (c->what->is_of_leaks && are_leaks_its_own(trust, site, of));
	/* A site that no window saw may have some, too. */
	if (trust->n_sites == 1)
		share->least = fmax(cell->seen - unseen_most * f->each * mean, 0);
}

static struct hi_bounded estimate_by_windows(const struct hi_window_figures *f,
					     const struct hi_window_cell *cell)
{
	struct hi_bounded mean = hi_window_mean(&cell->sum, f->n_windows, f->n_windows);

	return hi_window_at_speed((struct hi_bounded){mean.value * f->seconds,
						      mean.low * f->seconds,
						      mean.high * f->seconds},
				  &f->blocks->speed);
}

static struct hi_bounded *figure_of_site(const struct figure_columns *c, uint32_t group)
{
	return (struct hi_bounded *)((char *)&c->f->sites[group] + c->what->at);
}

static void add_column_to_site(const struct figure_columns *c,
			       const struct hi_window_column *column,
			       const struct hi_window_share *share)
{
	const struct column_trust *trust = &c->trusts[column - c->columns.columns.items];
	struct site_trust *site = &c->sites[share->group];

	site->truth += column->truth;
	site->old_frees += trust->old_frees;
	site->is_doubted |= !share->is_trusted;
	site->is_in_motion |= !trust->is_calm;
}

static void rake_column(const struct figure_columns *c,
			const struct hi_window_column *column)
{
	const struct hi_window_cell *cells = &c->columns.cells.items[column->first];
	struct hi_window_share *shares = c->shares;

	for (uint32_t i = 0; i < column->n_cells; i++) {
		shares[i] = (struct hi_window_share){
			.group = cells[i].group,
			.found = estimate_by_windows(c->f, &cells[i])};
		judge_share(c, &cells[i], &shares[i]);
	}
	hi_window_rake(column->truth, shares, column->n_cells);
	for (uint32_t i = 0; i < column->n_cells; i++) {
		struct hi_bounded *sum = figure_of_site(c, shares[i].group);

		sum->value += shares[i].found.value;
		sum->low += shares[i].found.low;
		sum->high += shares[i].found.high;
		add_column_to_site(c, column, &shares[i]);
	}
}

/* A site may have blocks in columns in which none was seen, but not more than windows miss
 * by chance, and in all no more than they find, taken together; nor less, if it is trusted
 * in each column. */
static void bound_site(const struct figure_columns *c, const struct hi_window_cell *cell)
{
	const struct hi_window_figures *f = c->f;
	const struct site_trust *trust = &c->sites[cell->group];
	struct hi_bounded *sum = figure_of_site(c, cell->group);
	struct hi_bounded all = estimate_by_windows(f, cell);
	double mean = cell->seen / (double)cell->n;
	double gone = mean * most_gone(f, &f->sites[cell->group], !trust->is_in_motion,
				       trust->old_frees);

	sum->high += fmin(unseen_most * f->each * mean, fmax(c->truth - trust->truth, 0));
	sum->high = fmax(fmin(sum->high, all.high), sum->value);
	if (!trust->is_doubted)
		sum->low = fmax(sum->low, hi_window_low(&all, gone));
	sum->low = fmin(sum->low, sum->value);
}

/* Sites whose blocks the walk has not found: as many as windows miss by chance. */
static void bound_unseen(const struct figure_columns *c)
{
	for (uint32_t i = 0; i < c->f->blocks->groups->n_groups; i++) {
		const struct hi_window_rate *rate = &c->f->sites[i].rate;
		struct hi_bounded *sum = figure_of_site(c, i);
		double mean;

		if (sum->high > 0 || rate->allocs.value <= 0)
			continue;
		mean = c->what->is_bytes
			       ? rate->bytes.value / rate->allocs.value + ROUND_UP
			       : 1;
		sum->high = fmin(unseen_most * c->f->each * mean, c->truth);
	}
}

static bool make_figure(const struct hi_window_figures *f, const struct figure *what)
{
	struct figure_columns c = {.f = f, .what = what};
	bool ok = fill_window_columns(&c) && fill_cells(&c) && fill_trusts(&c);

	for (size_t i = 0; ok && i < c.columns.columns.count; i++)
		if (c.columns.columns.items[i].n_cells)
			rake_column(&c, &c.columns.columns.items[i]);
	if (ok) {
		for (size_t i = 0; i < c.all.cells.count; i++)
			bound_site(&c, &c.all.cells.items[i]);
		bound_unseen(&c);
	}
	free(c.shares);
	free(c.trusts);
	free(c.sites);
	hi_window_columns_free(&c.columns);
	hi_window_columns_free(&c.all);
	return ok;
}

static bool make_figures(struct hi_window_figures *f)
{
	const struct hi_window_blocks *b = f->blocks;
	const struct figure figures[] = {
		{b->live_bits, true, true, false,
		 offsetof(struct hi_window_site, live_bytes)},
		{b->lost_bits, false, false, true, offsetof(struct hi_window_site, lost)},
		{b->lost_bits, true, false, true,
		 offsetof(struct hi_window_site, lost_bytes)}};

	if (!hi_window_figures_read(f))
		return false;
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		if (!make_figure(f, &figures[i]))
			return false;
	return true;
}

static enum hi_status find_site_rates(const struct hi_window_blocks *b,
				      struct hi_window_site *sites, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_window_rate *rates =
		hi_calloc((size_t)b->groups->n_groups + 1, sizeof(*rates));
	enum hi_status status;

	if (!rates)
		return hi_fail_memory(err, "rates of windows");
	status = hi_windows_rates(b->windows, b->groups->of_context,
				  b->groups->n_contexts, b->groups->n_groups, rates, err);
	for (uint32_t i = 0; i < b->groups->n_groups; i++)
		sites[i].rate = (struct hi_window_rate){
			.allocs = hi_window_at_speed(rates[i].allocs, &b->speed),
			.bytes = hi_window_at_speed(rates[i].bytes, &b->speed),
			.seen = rates[i].seen};
	return status;
}

/* That windows stand for. */
static double seconds_of_recording(const struct hi_window_blocks *blocks)
{
	const struct hi_births *b = blocks->births;
	uint64_t ns = blocks->duration_ns;

	if (!ns && b->end_ns > b->start_ns)
		ns = b->end_ns - b->start_ns;
	return (double)ns / HI_NS_PER_S;
}

enum hi_status hi_window_sites_make(const struct hi_window_blocks *blocks,
				    struct hi_window_site **ret, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_window_site *sites =
		hi_calloc((size_t)blocks->groups->n_groups + 1, sizeof(*sites));
	struct hi_window_totals totals = hi_windows_totals(blocks->windows);
	struct hi_window_figures f = {.blocks = blocks,
				      .sites = sites,
				      .seconds = seconds_of_recording(blocks),
				      .n_windows = totals.n};
	enum hi_status status;

	if (!sites)
		return hi_fail_memory(err, "sites of windows");
	if (totals.covered_ns)
		f.each = f.seconds * HI_NS_PER_S / (double)totals.covered_ns /
			 blocks->speed.value;
	status = find_site_rates(blocks, sites, err);
	if (status == HI_OK && !make_figures(&f))
		status = hi_fail_memory(err, "blocks of windows");
	hi_window_figures_free(&f);
	if (status == HI_OK)
		*ret = hi_take(sites);
	return status;
}
