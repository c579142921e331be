/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/retainers/retainers_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

struct making {
	struct hi_retainers_report *r;
	const struct hi_retainers *retainers;
	const struct hi_set_pool *pool;
	struct hi_set_row *sums; /* rows to be shown; by set */
	size_t n;
};

/* ---- the rows of a restriction ---- */

static void count_object_in_set(const struct hi_retainers_view *view,
				const struct hi_graph *g, const struct hi_reach *reach,
				hi_node i, struct hi_set_row *sum)
{
	uint64_t cost = hi_objects_cost(g->objects, i);

	sum->objects++;
	sum->cost += cost;
	sum->cost_pure += view->pure_of ? view->pure_of(view->pure_arg, i)
					: hi_objects_usable(g->objects, i);
	if (hi_bit(reach->exact, i))
		sum->exact_cost += cost;
}

/* The table's rows again, of what is shown alone. */
static enum hi_status recount_shown_sets(struct making *m, struct hi_error *err)
{
	const struct hi_set_table *t = &m->retainers->table;
	const struct hi_graph *g = m->r->graph;
	const struct hi_reach *shown = m->r->view.shown;
	HI_GUARD(free)
	uint32_t *row_of = hi_calloc(hi_set_pool_end(m->pool) + 1u, sizeof(*row_of));
	size_t kept = 0;

	if (!row_of)
		return hi_fail_memory(err, "retainer sets");
	for (size_t i = 0; i < t->n_rows; i++) {
		row_of[t->rows[i].set] = (uint32_t)i + 1;
		m->sums[i] = (struct hi_set_row){
			t->rows[i].set, t->rows[i].size, 0, 0, 0, 0, 0};
	}
	for (hi_node i = 0; i < t->n_objects; i++)
		if (hi_bit(shown->any, i) && t->set[i] != HI_SET_NONE &&
		    row_of[t->set[i]])
			count_object_in_set(&m->r->view, g, shown, i,
					    &m->sums[row_of[t->set[i]] - 1]);
	for (size_t i = 0; i < t->n_rows; i++)
		if (m->sums[i].objects)
			m->sums[kept++] = m->sums[i];
	m->n = kept;
	return HI_OK;
}

static int compare_sets_by_objects(const void *a, const void *b)
{
	const struct hi_set_row *x = a, *y = b;

	if (x->objects != y->objects)
		return x->objects > y->objects ? -1 : 1;
	return hi_set_row_compare(a, b);
}

static enum hi_status copy_set_rows(struct making *m, struct hi_error *err)
{
	const struct hi_set_table *t = &m->retainers->table;
	enum hi_status status = HI_OK;

	m->sums = hi_calloc(t->n_rows + 1, sizeof(*m->sums));
	if (!m->sums)
		return hi_fail_memory(err, "retainer sets");
	m->n = t->n_rows;
	if (m->r->view.shown)
		status = recount_shown_sets(m, err);
	else if (t->n_rows)
		memcpy(m->sums, t->rows, t->n_rows * sizeof(*m->sums));
	/* The table's own order depends on nothing but the members. */
	if (m->n > 1 && (m->r->view.shown || m->r->view.by_count))
		qsort(m->sums, m->n, sizeof(*m->sums),
		      m->r->view.by_count ? compare_sets_by_objects : hi_set_row_compare);
	return status;
}

/* ---- the report's ---- */

static void add_set_to_totals(struct making *m, const struct hi_set_row *sum)
{
	struct hi_retainers_report *r = m->r;

	r->objects += sum->objects;
	r->bytes += sum->cost;
	r->pure += sum->cost_pure;
	if (sum->set == HI_SET_MANY)
		r->many = *sum;
	else if (hi_set_has(m->pool, sum->set, r->view.system))
		r->system_bytes += sum->cost;
}

static bool add_retainer_row(struct making *m, const struct hi_set_row *sum)
{
	uint32_t *members =
		hi_arena_alloc(&m->r->arena, (sum->size + 1u) * sizeof(*members));

	if (!members)
		return false;
	if (sum->size)
		hi_set_members(m->pool, sum->set, members);
	m->r->rows[m->r->n_rows++] =
		(struct hi_retainers_row){*sum, members, m->r->view.name, m->r->view.arg};
	return true;
}

/* MANY is always there to be seen. */
static enum hi_status make_retainer_rows(struct making *m, size_t top,
					 struct hi_error *err)
{
	struct hi_retainers_report *r = m->r;

	r->n_sets = m->n;
	r->rows = hi_calloc(m->n + 1, sizeof(*r->rows));
	if (!r->rows)
		return hi_fail_memory(err, "retainer sets");
	for (size_t i = 0; i < m->n; i++) {
		const struct hi_set_row *sum = &m->sums[i];

		add_set_to_totals(m, sum);
		if (sum->cost < r->view.min_size && sum->set != HI_SET_MANY)
			hi_hidden_add(&r->hidden.by_min_size, sum->cost);
		else if (i >= top && sum->set != HI_SET_MANY)
			hi_hidden_add(&r->hidden.by_top, sum->cost);
		else if (!add_retainer_row(m, sum))
			return hi_fail_memory(err, "retainer sets");
	}
	return HI_OK;
}

enum hi_status hi_retainers_report_create(
	const struct hi_report_header *header, const struct hi_graph *graph,
	const struct hi_reach *reach, const struct hi_retainers *retainers,
	const struct hi_set_pool *pool, const struct hi_retainers_view *view, size_t top,
	struct hi_retainers_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_retainers_report_destroy)
	struct hi_retainers_report *r = hi_calloc(1, sizeof(*r));
	struct making m = {.r = r, .retainers = retainers, .pool = pool};
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "report of retainers");
	r->header = header;
	r->graph = graph;
	r->view = *view;
	r->weak_objects = retainers->weak_objects;
	r->weak_bytes = retainers->weak_cost;
	r->sanity = hi_sanity_of(header, reach, view->allocated);
	r->revisited = retainers->revisited;
	r->waiting = retainers->waiting;
	status = copy_set_rows(&m, err);
	if (status == HI_OK)
		status = make_retainer_rows(&m, top, err);
	free(m.sums);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

void hi_retainers_report_destroy(struct hi_retainers_report *report)
{
	if (!report)
		return;
	free(report->rows);
	hi_arena_free(&report->arena);
	free(report);
}
