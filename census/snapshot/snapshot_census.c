/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores the census by type: it is the most frequent query, and computing it takes a
 * pass over all objects.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

enum { EVIDENCES = HI_EVIDENCE_RUNTIME + 1 };

struct census_row {
	uint32_t type, spare;
	uint64_t count, shallow, retained, largest;
	uint64_t by_evidence[EVIDENCES];
};
_Static_assert(sizeof(struct census_row) == 96, "census");

HI_DEFINE_GUARD(struct hi_census *, hi_census_destroy)

/* In the order of the members of struct hi_census. */
static const char *const sums[] = {"census.objects", "census.bytes", "census.exact",
				   "census.inferred", "census.untyped"};

enum hi_status hi_snapshot_put_census(struct hi_snapshot_writer *w,
				      const struct hi_census *census,
				      struct hi_error *err)
{
	const uint64_t values[] = {census->objects, census->bytes, census->exact_bytes,
				   census->inferred_bytes, census->untyped_bytes};
	enum hi_status status =
		hi_snapshot_begin(w, "census", sizeof(struct census_row), err);

	for (size_t i = 0; i < census->n_rows && status == HI_OK; i++) {
		const struct hi_census_row *from = &census->rows[i];
		struct census_row row = {.type = from->type,
					 .count = from->count,
					 .shallow = from->shallow,
					 .retained = from->retained,
					 .largest = from->largest};

		for (unsigned k = 0; k < EVIDENCES; k++)
			row.by_evidence[k] = from->by_evidence[k];
		status = hi_snapshot_append(w, &row, sizeof(row), err);
	}
	if (status == HI_OK)
		status = hi_snapshot_end(w, err);
	for (unsigned i = 0; i < 5 && status == HI_OK; i++)
		status = hi_snapshot_put_number(w, sums[i], values[i], err);
	return status;
}

static bool read_census_row(const struct census_row *from, const struct hi_graph *g,
			    struct hi_census_row *to)
{
	*to = (struct hi_census_row){.type = from->type,
				     .count = from->count,
				     .shallow = from->shallow,
				     .retained = from->retained,
				     .largest = from->largest};
	for (unsigned k = 0; k < EVIDENCES; k++)
		to->by_evidence[k] = from->by_evidence[k];
	return from->type < g->n_types;
}

enum hi_status hi_snapshot_census(struct hi_snapshot *s, const struct hi_graph *g,
				  struct hi_census **ret, struct hi_error *err)
{
	HI_GUARD(hi_census_destroy) struct hi_census *c = NULL;
	const struct census_row *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "census", sizeof(*rows), &items, &n, err);

	if (status != HI_OK)
		return status;
	rows = items;
	if (n > g->n_types)
		return hi_snapshot_bad(s, "census", err, "more rows than types");
	c = hi_calloc(1, sizeof(*c));
	if (!c || !(c->rows = hi_calloc(n + 1, sizeof(*c->rows))))
		return hi_fail_memory(err, "census");
	for (c->n_rows = 0; c->n_rows < n; c->n_rows++)
		if (!read_census_row(&rows[c->n_rows], g, &c->rows[c->n_rows]))
			return hi_snapshot_bad(s, "census", err,
					       "a type that does not exist");
	c->objects = hi_snapshot_number(s, sums[0], 0);
	c->bytes = hi_snapshot_number(s, sums[1], 0);
	c->exact_bytes = hi_snapshot_number(s, sums[2], 0);
	c->inferred_bytes = hi_snapshot_number(s, sums[3], 0);
	c->untyped_bytes = hi_snapshot_number(s, sums[4], 0);
	*ret = hi_take(c);
	return HI_OK;
}
