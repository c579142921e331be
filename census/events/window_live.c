/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/window_live.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/vector.h"

enum { TRUSTED_ONE_IN = 50 };
static const double chance_of_trust = 0.01;

/* ---- shares of a column ---- */

static double at_least_0(double value)
{
	return value > 0 ? value : 0;
}

static double take_smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Sums over the shares that are trusted, or over those that are not. */
static struct hi_bounded sum_shares(const struct hi_window_share *shares, size_t n,
				    bool is_trusted, size_t *n_ret)
{
	struct hi_bounded sum = {};

	*n_ret = 0;
	for (size_t i = 0; i < n; i++) {
		if (shares[i].is_trusted != is_trusted)
			continue;
		sum.value += shares[i].found.value;
		sum.low += shares[i].found.low;
		sum.high += shares[i].found.high;
		++*n_ret;
	}
	return sum;
}

static void bound_trusted(double truth, double factor, struct hi_bounded *found)
{
	found->value *= factor;
	found->high = take_smaller(found->high, truth);
	found->low = take_smaller(found->low, found->value);
	if (found->high < found->value)
		found->high = found->value;
}

static void bound_untrusted(double left, double most, double factor, double least,
			    struct hi_bounded *found)
{
	found->value = take_smaller(found->value * factor, left);
	found->high = take_smaller(found->high, most);
	found->low = least;
	if (found->value < least)
		found->value = least;
	if (found->high < found->value)
		found->high = found->value;
}

void hi_window_rake(double truth, struct hi_window_share *shares, size_t n)
{
	size_t n_trusted, n_others;
	struct hi_bounded trusted = sum_shares(shares, n, true, &n_trusted);
	struct hi_bounded others = sum_shares(shares, n, false, &n_others);
	double factor = trusted.value > truth ? truth / trusted.value : 1;
	double left = at_least_0(truth - trusted.value);
	double most = at_least_0(truth - trusted.low);
	double their_factor =
		others.value > left && others.value > 0 ? left / others.value : 1;

	for (size_t i = 0; i < n; i++)
		if (shares[i].is_trusted)
			bound_trusted(truth, factor, &shares[i].found);
		else
			bound_untrusted(left, most, their_factor,
					shares[i].is_alone
						? take_smaller(shares[i].seen, truth)
						: 0,
					&shares[i].found);
}

/* ---- cells: a site in a column ---- */

/* Sums of one figure over the blocks of a cell. */
struct cell {
	uint32_t column, group;
	double seen;
	struct hi_window_sum sum;
	double of_window; /* of the window whose blocks are being added */
	uint32_t window;
};

struct column {
	uint64_t key;
	double truth;
	uint32_t first, n; /* of its cells, once they are sorted */
};

/* Columns with their cells. */
struct cells {
	struct hi_table column_of, cell_of;
	struct HI_VECTOR(struct column) columns;
	struct HI_VECTOR(struct cell) cells;
};

static void free_cells(struct cells *c)
{
	hi_table_free(&c->column_of);
	hi_table_free(&c->cell_of);
	hi_vector_free(&c->columns);
	hi_vector_free(&c->cells);
}

/* Adds to the true sum of a column. False: no memory. */
static bool add_to_column(struct cells *c, uint64_t key, double value, uint32_t *ret)
{
	uint64_t i = c->columns.count;

	if (!hi_table_get(&c->column_of, key, &i) &&
	    (!hi_vector_push(&c->columns, (struct column){.key = key}) ||
	     !hi_table_put(&c->column_of, key, i)))
		return false;
	c->columns.items[i].truth += value;
	*ret = (uint32_t)i;
	return true;
}

static struct cell *find_cell(struct cells *c, uint32_t column, uint32_t group)
{
	uint64_t key = (uint64_t)column << 32 | group, i = c->cells.count;

	if (!hi_table_get(&c->cell_of, key, &i) &&
	    (!hi_vector_push(&c->cells,
			     (struct cell){.column = column, .group = group}) ||
	     !hi_table_put(&c->cell_of, key, i)))
		return NULL;
	return &c->cells.items[i];
}

static void end_window_of_cell(struct cell *cell)
{
	cell->sum.squares += cell->of_window * cell->of_window;
	cell->of_window = 0;
}

/* Blocks come in the order of their windows. */
static bool add_to_cell(struct cells *c, uint32_t column, uint32_t group, uint32_t window,
			double value, double length_s)
{
	struct cell *cell = find_cell(c, column, group);

	if (!cell)
		return false;
	if (cell->window != window)
		end_window_of_cell(cell);
	cell->window = window;
	cell->seen += value;
	cell->of_window += value / length_s;
	cell->sum.rates += value / length_s;
	cell->sum.chance += value * value / (length_s * length_s);
	return true;
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static void sort_cells(struct cells *c)
{
	struct column *columns = c->columns.items;

	for (size_t i = 0; i < c->cells.count; i++)
		end_window_of_cell(&c->cells.items[i]);
	if (c->cells.count)
		qsort(c->cells.items, c->cells.count, sizeof(*c->cells.items),
		      compare_cells);
	for (uint32_t i = 0; i < c->cells.count; i++) {
		struct column *column = &columns[c->cells.items[i].column];

		column->first = column->n ? column->first : i;
		column->n++;
	}
}

/* ---- the blocks ---- */

/* A block that a window saw, and the walk. */
struct seen_block {
	hi_node first, last; /* its pieces */
	uint32_t group, window;
	double length_s;
};

/* Blocks of one size, and those of a site among them. */
struct size_class {
	uint64_t live, lost; /* that the walk has found */
	uint32_t n_sites;
	bool is_calm; /* all of these sites keep all of their blocks */
};
struct site_of_size {
	uint64_t live, lost; /* that windows saw */
};

struct figures {
	const struct hi_window_blocks *blocks;
	struct hi_table size_of, site_of; /* usable size; index of it, and group */
	struct HI_VECTOR(struct size_class) sizes;
	struct HI_VECTOR(struct site_of_size) of_sizes;
	struct hi_window_site *sites;
	struct HI_VECTOR(struct seen_block) seen;
	double seconds; /* of the recording */
	uint64_t n_windows;
};

static bool is_in(const uint64_t *bits, hi_node i)
{
	return bits && hi_bit(bits, i);
}

static bool add_seen_block(struct figures *f, hi_node first, hi_node last)
{
	const struct hi_births *b = f->blocks->births;
	uint64_t at = b->start_ns + b->time_ns[first], length_ns = 0;
	struct seen_block block = {
		.first = first, .last = last, .group = f->blocks->groups->of[first]};
	struct hi_window_site *site = &f->sites[block.group];

	block.window = hi_windows_at(f->blocks->windows, at, &length_ns);
	block.length_s = (double)length_ns / HI_NS_PER_S;
	site->seen_live += is_in(f->blocks->live_bits, first);
	site->seen_lost += is_in(f->blocks->lost_bits, first);
	return !length_ns || hi_vector_push(&f->seen, block);
}

static bool find_seen_blocks(struct figures *f)
{
	const struct hi_births *b = f->blocks->births;
	hi_node last;

	for (hi_node i = 0; i < b->n_objects && i < f->blocks->objects->count;
	     i = last + 1) {
		last = i;
		if (!hi_birth_is_known(b, i))
			continue;
		last = hi_births_last_piece(f->blocks->objects, i);
		if (last >= b->n_objects)
			last = i;
		if (!add_seen_block(f, i, last))
			return false;
	}
	return true;
}

static int compare_seen_blocks(const void *a, const void *b)
{
	const struct seen_block *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Blocks of which it is known that they are gone, though no window saw it. */
static void count_unseen_frees(struct figures *f)
{
	const struct hi_birth_groups *g = f->blocks->groups;
	struct hi_window_site *sites = f->sites;

	for (uint32_t i = 0; i < g->n_contexts; i++)
		sites[g->of_context[i]].unseen_frees +=
			f->blocks->outstanding[i] +
			hi_windows_reused(f->blocks->windows, i);
	for (size_t i = 0; i < f->seen.count; i++) {
		uint64_t *frees = &sites[f->seen.items[i].group].unseen_frees;

		*frees -= *frees > 0;
	}
	for (uint32_t i = 0; i < g->n_groups; i++)
		sites[i].keeps_all = sites[i].unseen_frees * TRUSTED_ONE_IN <=
				     sites[i].seen_live + sites[i].seen_lost;
}

/* ---- sizes ---- */

static uint64_t key_of_size(const struct hi_objects *o, hi_node i)
{
	return hi_objects_usable(o, i) & 0xffffffff;
}

static bool add_to_size(struct figures *f, hi_node i)
{
	uint64_t key = key_of_size(f->blocks->objects, i), at = f->sizes.count;

	if (!hi_table_get(&f->size_of, key, &at) &&
	    (!hi_vector_push(&f->sizes, (struct size_class){.is_calm = true}) ||
	     !hi_table_put(&f->size_of, key, at)))
		return false;
	f->sizes.items[at].live += is_in(f->blocks->live_bits, i);
	f->sizes.items[at].lost += is_in(f->blocks->lost_bits, i);
	return true;
}

static bool add_site_of_size(struct figures *f, const struct seen_block *block, hi_node i)
{
	uint64_t size = 0, at = f->of_sizes.count;
	struct size_class *class;

	if (!hi_table_get(&f->size_of, key_of_size(f->blocks->objects, i), &size))
		return true;
	class = &f->sizes.items[size];
	if (!hi_table_get(&f->site_of, size << 32 | block->group, &at)) {
		if (!hi_vector_push(&f->of_sizes, (struct site_of_size){}) ||
		    !hi_table_put(&f->site_of, size << 32 | block->group, at))
			return false;
		class->n_sites++;
		class->is_calm &= f->sites[block->group].keeps_all;
	}
	f->of_sizes.items[at].live += is_in(f->blocks->live_bits, i);
	f->of_sizes.items[at].lost += is_in(f->blocks->lost_bits, i);
	return true;
}

static bool find_sizes(struct figures *f)
{
	const struct hi_window_blocks *b = f->blocks;

	for (hi_node i = 0; i < b->objects->count; i++)
		if ((is_in(b->live_bits, i) || is_in(b->lost_bits, i)) &&
		    !add_to_size(f, i))
			return false;
	for (size_t k = 0; k < f->seen.count; k++)
		for (hi_node i = f->seen.items[k].first; i <= f->seen.items[k].last; i++)
			if (!add_site_of_size(f, &f->seen.items[k], i))
				return false;
	return true;
}

/* Are all of its blocks leaked, so that it is no chance? */
static bool are_leaks_its_own(const struct size_class *class,
			      const struct site_of_size *of)
{
	double share = (double)class->lost / (double)(class->live + class->lost);

	return of->lost && !of->live && pow(share, (double)of->lost) < chance_of_trust;
}

/* ---- one figure ---- */

/* A sum over objects, and the place that it goes to. */
struct figure {
	const uint64_t *bits; /* the objects that have it */
	bool is_bytes, is_by_type, is_of_leaks;
	size_t at; /* struct hi_bounded of a site */
};

static double value_of_object(const struct figure *what, const struct hi_objects *o,
			      hi_node i)
{
	return what->is_bytes ? (double)hi_objects_cost(o, i) : 1;
}

static uint64_t column_key(const struct figure *what, const struct hi_objects *o,
			   hi_node i)
{
	uint64_t type = what->is_by_type ? o->type[i] : 0;

	return key_of_size(o, i) | type << 32;
}

static bool fill_window_columns(const struct figures *f, const struct figure *what,
				struct cells *c)
{
	const struct hi_objects *o = f->blocks->objects;
	uint32_t column;

	for (hi_node i = 0; i < o->count; i++)
		if (is_in(what->bits, i) &&
		    !add_to_column(c, column_key(what, o, i), value_of_object(what, o, i),
				   &column))
			return false;
	return true;
}

static bool fill_cells(const struct figures *f, const struct figure *what,
		       struct cells *c)
{
	const struct hi_objects *o = f->blocks->objects;
	uint32_t column;

	for (size_t k = 0; k < f->seen.count; k++) {
		const struct seen_block *block = &f->seen.items[k];

		for (hi_node i = block->first; i <= block->last; i++)
			if (is_in(what->bits, i) &&
			    (!add_to_column(c, column_key(what, o, i), 0, &column) ||
			     !add_to_cell(c, column, block->group, block->window,
					  value_of_object(what, o, i), block->length_s)))
				return false;
	}
	return true;
}

static void add_share_to_site(const struct figure *what,
			      const struct hi_window_share *share,
			      struct hi_window_site *sites)
{
	struct hi_bounded *sum =
		(struct hi_bounded *)((char *)&sites[share->group] + what->at);

	sum->value += share->found.value;
	sum->low += share->found.low;
	sum->high += share->found.high;
}

/* key: of the column. */
static void judge_share(const struct figures *f, const struct figure *what, uint64_t key,
			struct hi_window_share *share)
{
	const struct size_class *class;
	uint64_t size = 0, of = 0;

	if (!hi_table_get(&f->size_of, key & 0xffffffff, &size) ||
	    !hi_table_get(&f->site_of, size << 32 | share->group, &of))
		return;
	class = &f->sizes.items[size];
	share->is_alone = class->n_sites == 1;
	share->is_trusted =
		class->is_calm ||
		(what->is_of_leaks && are_leaks_its_own(class, &f->of_sizes.items[of]));
}

/* shares: with room for all cells. */
static void rake_column(const struct figures *f, const struct figure *what,
			const struct cells *c, const struct column *column,
			struct hi_window_share *shares)
{
	for (uint32_t i = 0; i < column->n; i++) {
		const struct cell *cell = &c->cells.items[column->first + i];
		struct hi_bounded mean =
			hi_window_mean(&cell->sum, f->n_windows, f->n_windows);

		shares[i] = (struct hi_window_share){
			.group = cell->group,
			.seen = cell->seen,
			.found = hi_window_at_speed(
				(struct hi_bounded){mean.value * f->seconds,
						    mean.low * f->seconds,
						    mean.high * f->seconds},
				&f->blocks->speed)};
		if (shares[i].found.low < cell->seen)
			shares[i].found.low = cell->seen;
		judge_share(f, what, column->key, &shares[i]);
	}
	hi_window_rake(column->truth, shares, column->n);
	for (uint32_t i = 0; i < column->n; i++)
		add_share_to_site(what, &shares[i], f->sites);
}

static bool make_figure(const struct figures *f, const struct figure *what)
{
	struct cells c = {};
	struct hi_window_share *shares = NULL;
	bool ok = fill_window_columns(f, what, &c) && fill_cells(f, what, &c);

	if (ok) {
		sort_cells(&c);
		shares = hi_calloc(c.cells.count + 1, sizeof(*shares));
		ok = shares;
	}
	for (size_t i = 0; ok && i < c.columns.count; i++)
		if (c.columns.items[i].n)
			rake_column(f, what, &c, &c.columns.items[i], shares);
	free(shares);
	free_cells(&c);
	return ok;
}

static bool make_figures(struct figures *f)
{
	const struct hi_window_blocks *b = f->blocks;
	const struct figure figures[] = {
		{b->live_bits, true, true, false,
		 offsetof(struct hi_window_site, live_bytes)},
		{b->lost_bits, false, false, true, offsetof(struct hi_window_site, lost)},
		{b->lost_bits, true, false, true,
		 offsetof(struct hi_window_site, lost_bytes)}};

	if (!find_seen_blocks(f))
		return false;
	if (f->seen.count)
		qsort(f->seen.items, f->seen.count, sizeof(*f->seen.items),
		      compare_seen_blocks);
	count_unseen_frees(f);
	if (!find_sizes(f))
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

enum hi_status hi_window_sites_make(const struct hi_window_blocks *blocks,
				    struct hi_window_site **ret, struct hi_error *err)
{
	const struct hi_births *b = blocks->births;
	HI_GUARD(free)
	struct hi_window_site *sites =
		hi_calloc((size_t)blocks->groups->n_groups + 1, sizeof(*sites));
	struct figures f = {.blocks = blocks,
			    .sites = sites,
			    .seconds = b->end_ns > b->start_ns
					       ? (double)(b->end_ns - b->start_ns) /
							 HI_NS_PER_S
					       : 0,
			    .n_windows = hi_windows_totals(blocks->windows).n};
	enum hi_status status;

	if (!sites)
		return hi_fail_memory(err, "sites of windows");
	status = find_site_rates(blocks, sites, err);
	if (status == HI_OK && !make_figures(&f))
		status = hi_fail_memory(err, "blocks of windows");
	hi_vector_free(&f.seen);
	hi_vector_free(&f.sizes);
	hi_vector_free(&f.of_sizes);
	hi_table_free(&f.size_of);
	hi_table_free(&f.site_of);
	if (status == HI_OK)
		*ret = hi_take(sites);
	return status;
}
