/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/roots/bins_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/parts/decoded_share.h"

struct making {
	struct hi_bins_report *r;
	const struct hi_bins *bins;
	const struct hi_set_pool *pool;
	const struct hi_bins_view *view;
	const struct hi_restrict *only;
};

static const char *root_name(void *arg, uint32_t identity)
{
	const struct hi_bins_report *r = arg;

	return identity && identity <= r->n_roots ? r->roots[identity - 1].name : "?";
}

static const char *label_of_bin(struct making *m, const uint32_t *members, size_t n)
{
	const char *join = m->view->join ? m->view->join : "-";
	size_t length = hi_set_label(members, n, join, root_name, m->r, NULL, 0);
	char *label = hi_arena_alloc(&m->r->arena, length + 1);

	if (label)
		hi_set_label(members, n, join, root_name, m->r, label, length + 1);
	return label;
}

/* ---- rows ---- */

static bool add_bin_row(struct making *m, const uint32_t *members, size_t n,
			const struct hi_set_row *sum)
{
	struct hi_bins_row *row = &m->r->rows[m->r->n_rows];

	row->label = label_of_bin(m, members, n);
	row->members = members;
	row->sum = *sum;
	m->r->n_rows += row->label != NULL;
	return row->label;
}

static bool add_sets(struct making *m)
{
	const struct hi_set_table *t = &m->bins->table;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct hi_set_row *sum = &t->rows[i];
		uint32_t *members;

		if (sum->cost < m->only->min_size) {
			hi_hidden_add(&m->r->hidden.by_min_size, sum->cost);
			continue;
		}
		if (i >= m->only->top) {
			hi_hidden_add(&m->r->hidden.by_top, sum->cost);
			continue;
		}
		members =
			hi_arena_alloc(&m->r->arena, (sum->size + 1u) * sizeof(*members));
		if (!members)
			return false;
		hi_set_members(m->pool, sum->set, members);
		if (!add_bin_row(m, members, sum->size, sum))
			return false;
	}
	return true;
}

/* ---- bins that have nothing ---- */

/* Is there a row of exactly these? */
static bool has_row(const struct making *m, const uint32_t *members, size_t n)
{
	uint32_t set = hi_set_find(m->pool, members, n);

	for (size_t i = 0; set != HI_SET_NONE && i < m->bins->table.n_rows; i++)
		if (m->bins->table.rows[i].set == set)
			return true;
	return false;
}

static bool is_bin_shown(const struct making *m, const uint32_t *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!m->view->shown || m->view->shown[members[i] - 1])
			return true;
	return false;
}

static bool add_empty(struct making *m, const uint32_t *members, size_t n)
{
	static const struct hi_set_row nothing;
	struct hi_set_row sum = nothing;
	uint32_t *copy;

	if (!is_bin_shown(m, members, n) || has_row(m, members, n))
		return true;
	copy = hi_arena_alloc(&m->r->arena, (n + 1) * sizeof(*copy));
	if (!copy)
		return false;
	memcpy(copy, members, n * sizeof(*copy));
	sum.size = (uint32_t)n;
	return add_bin_row(m, copy, n, &sum);
}

/* Of all subsets, smaller ones first; of many roots only the single ones. */
static bool add_all_empty(struct making *m)
{
	size_t n = m->r->n_roots;
	size_t largest = n <= HI_BINS_ALL_ROOTS ? n : 1;
	uint32_t members[HI_BINS_ALL_ROOTS];

	if (largest == 1) {
		for (uint32_t i = 1; i <= n; i++)
			if (!add_empty(m, &i, 1))
				return false;
		return true;
	}
	for (unsigned size = 1; size <= largest; size++)
		for (unsigned mask = 1; mask < 1u << n; mask++) {
			unsigned k = 0;

			if ((unsigned)__builtin_popcount(mask) != size)
				continue;
			for (unsigned i = 0; i < n; i++)
				if (mask >> i & 1)
					members[k++] = i + 1;
			if (!add_empty(m, members, k))
				return false;
		}
	return true;
}

static size_t rows_most(const struct making *m)
{
	size_t n = m->r->n_roots, rows = m->bins->table.n_rows;

	if (m->view->all)
		rows += n <= HI_BINS_ALL_ROOTS ? (size_t)1 << n : n;
	return rows + 2;
}

static bool make_bin_rows(struct making *m)
{
	static const struct hi_set_row unknown = {.objects = UINT64_MAX,
						  .cost = UINT64_MAX,
						  .cost_pure = UINT64_MAX,
						  .exact_cost = UINT64_MAX,
						  .leak_cost = UINT64_MAX};
	struct hi_bins_report *r = m->r;

	r->rows = hi_calloc(rows_most(m), sizeof(*r->rows));
	if (!r->rows || !add_sets(m) || (m->view->all && !add_all_empty(m)))
		return false;
	if (!m->view->shown) {
		r->rows[r->n_rows++] =
			(struct hi_bins_row){.label = "NOROOT", .sum = m->bins->noroot};
		r->rows[r->n_rows++] = (struct hi_bins_row){
			.label = "LEAK",
			.sum = hi_heap_known(r->header) == HI_HEAP_KNOWN ? m->bins->leak
									 : unknown};
	}
	r->objects =
		m->bins->table.objects + m->bins->noroot.objects + m->bins->leak.objects;
	r->bytes = m->bins->table.cost + m->bins->noroot.cost + m->bins->leak.cost;
	r->pure_bytes = m->bins->table.cost_pure + m->bins->noroot.cost_pure +
			m->bins->leak.cost_pure;
	return true;
}

/* ---- roots ---- */

static bool sum_roots(struct making *m)
{
	const struct hi_set_table *t = &m->bins->table;
	uint32_t *members = hi_alloc((m->r->n_roots + 1) * sizeof(*members));

	for (size_t i = 0; members && i < t->n_rows; i++) {
		const struct hi_set_row *row = &t->rows[i];

		if (row->size > m->r->n_roots)
			continue;
		hi_set_members(m->pool, row->set, members);
		for (uint32_t k = 0; k < row->size; k++)
			if (members[k] && members[k] <= m->r->n_roots)
				m->r->roots[members[k] - 1].reached += row->cost;
		if (row->size == 1 && members[0] && members[0] <= m->r->n_roots)
			m->r->roots[members[0] - 1].alone = row->cost;
	}
	free(members);
	return members;
}

/* Does root `other` reach all that `root` starts from? */
static bool root_reaches_root(const struct making *m, const struct hi_bins_root *root,
			      uint32_t other)
{
	for (size_t i = 0; i < root->n_starts; i++)
		if (!hi_set_has(m->pool, m->bins->table.set[root->starts[i]], other))
			return false;
	return root->n_starts > 0;
}

/* Finds the first other root that this one is inside of. Of two roots inside each
 * other the later one names the earlier. */
static void find_outer(struct making *m, uint32_t index)
{
	struct hi_bins_root *root = &m->r->roots[index];

	for (uint32_t other = 0; other < m->r->n_roots && root->n_starts; other++) {
		bool back;

		if (other == index || !root_reaches_root(m, root, other + 1))
			continue;
		back = root_reaches_root(m, &m->r->roots[other], index + 1);
		if (back && other > index)
			continue;
		root->inside = m->r->roots[other].name;
		root->each_other = back;
		return;
	}
}

enum hi_status
hi_bins_report_create(const struct hi_report_header *header, const struct hi_reach *reach,
		      const struct hi_bins *bins, const struct hi_set_pool *pool,
		      struct hi_bins_root *roots, size_t n_roots,
		      const struct hi_bins_view *view, const struct hi_restrict *only,
		      struct hi_bins_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_bins_report_destroy)
	struct hi_bins_report *r = hi_calloc(1, sizeof(*r));
	struct making m = {r, bins, pool, view, only};

	if (!r)
		return hi_fail_memory(err, "report of bins");
	r->header = header;
	r->roots = roots;
	r->n_roots = n_roots;
	r->pure = view->pure;
	r->options = view->options;
	r->join = view->join;
	r->sanity = hi_sanity_of(header, reach, view->allocated);
	if (!make_bin_rows(&m) || !sum_roots(&m))
		return hi_fail_memory(err, "report of bins");
	for (uint32_t i = 0; i < n_roots; i++)
		find_outer(&m, i);
	*ret = hi_take(r);
	return HI_OK;
}

void hi_bins_report_destroy(struct hi_bins_report *report)
{
	if (!report)
		return;
	free(report->rows);
	hi_arena_free(&report->arena);
	free(report);
}
