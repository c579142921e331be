/* SPDX-License-Identifier: BSD-2-Clause */
/* A drawn graph and statements on it, for the tests of query/. */
#ifndef HI_TESTS_QUERY_WORLD_H
#define HI_TESTS_QUERY_WORLD_H

#include <stdarg.h>
#include <stdio.h>

#include "query/query.h"
#include "tests/census/snapshots.h"

struct query_world {
	struct hi_graph *g;
	struct hi_reach *r;
	struct hi_dominators *d;
	struct hi_census *c;
	struct hi_query_census one;
	struct hi_query_census_row *rows;
	struct hi_query_source source;
	struct hi_query *q;
	unsigned asked; /* for dominators */
};

static inline enum hi_status world_dominators(void *arg, const struct hi_dominators **ret,
					      struct hi_error *err)
{
	struct query_world *w = arg;

	(void)err;
	w->asked++;
	*ret = w->d;
	return HI_OK;
}

static inline enum hi_status world_census(void *arg, const struct hi_census **ret,
					  struct hi_error *err)
{
	(void)err;
	*ret = ((struct query_world *)arg)->c;
	return HI_OK;
}

static inline enum hi_status world_censuses(void *arg, const struct hi_query_census **ret,
					    size_t *n_ret, struct hi_error *err)
{
	struct query_world *w = arg;

	(void)err;
	w->rows = calloc(w->c->n_rows + 1, sizeof(*w->rows));
	HI_ASSERT(w->rows);
	for (size_t i = 0; i < w->c->n_rows; i++) {
		const struct hi_census_row *row = &w->c->rows[i];

		w->rows[i] = (struct hi_query_census_row){w->g->types[row->type].name,
							  w->g->types[row->type].module,
							  row->count,
							  row->shallow,
							  row->retained,
							  row};
	}
	w->one = (struct hi_query_census){1, UINT64_MAX, true, w->rows, w->c->n_rows};
	*ret = &w->one;
	*n_ret = 1;
	return HI_OK;
}

static inline enum hi_status world_label(void *arg, hi_node node, uint32_t index,
					 const char **ret, struct hi_error *err)
{
	(void)arg;
	(void)err;
	*ret = drawn_label(node, index);
	return HI_OK;
}

static inline void world_close(struct query_world *w)
{
	hi_query_close(w->q);
	hi_census_destroy(w->c);
	hi_dominators_destroy(w->d);
	hi_reach_destroy(w->r);
	hi_graph_destroy(w->g);
	free(w->rows);
	free(w);
}

/* Closed when the test ends. */
static inline struct query_world *world_of(uint64_t seed, uint32_t n)
{
	struct query_world *w = calloc(1, sizeof(*w));
	struct hi_error err;

	HI_ASSERT(w);
	hi_test_defer(world_close, w);
	w->g = drawn_graph(seed, n);
	w->r = reach_of(w->g);
	w->d = dominators_of(w->g, w->r);
	HI_ASSERT_OK(hi_census_by_type(w->g, w->r, w->d, &w->c, &err), &err);
	w->source = (struct hi_query_source){.graph = w->g,
					     .reach = w->r,
					     .dominators = world_dominators,
					     .census = world_census,
					     .censuses = world_censuses,
					     .label = world_label,
					     .arg = w};
	HI_ASSERT_OK(hi_query_open(&w->source, &w->q, &err), &err);
	return w;
}

/* The statement, compiled. */
static inline void world_ask(struct query_world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline void world_ask(struct query_world *w, const char *fmt, ...)
{
	struct hi_query_mistake mistake;
	struct hi_error err;
	char sql[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	HI_ASSERT_MSG(hi_query_prepare(w->q, sql, &mistake, &err) == HI_OK, "%s: %s", sql,
		      err.text);
}

/* The next row; NULL: there is none. */
static inline const struct hi_result_cell *world_row(struct query_world *w)
{
	const struct hi_result_cell *cells;
	struct hi_error err;

	HI_ASSERT_OK(hi_query_step(w->q, &cells, &err), &err);
	return cells;
}

/* The one number that a statement of one row and column answers; -1 NULL. */
#define world_number(w, ...)                                                             \
	({                                                                               \
		world_ask(w, __VA_ARGS__);                                               \
		world_number_now(w);                                                     \
	})
static inline int64_t world_number_now(struct query_world *w)
{
	const struct hi_result_cell *cells = world_row(w);
	int64_t ret;

	HI_ASSERT(cells && cells[0].kind <= HI_RESULT_INTEGER);
	ret = cells[0].kind == HI_RESULT_NULL ? -1 : cells[0].integer;
	HI_ASSERT(!world_row(w));
	return ret;
}

static inline bool cell_is(const struct hi_result_cell *cell, const char *text)
{
	if (!text || !*text)
		return cell->kind == HI_RESULT_NULL;
	return cell->kind == HI_RESULT_TEXT && cell->length == strlen(text) &&
	       memcmp(cell->text, text, cell->length) == 0;
}

#endif
