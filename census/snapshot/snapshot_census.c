/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores the census by type: it is the most frequent query, and computing it takes a
 * pass over all objects.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

static const struct hi_row_member census_members[] = {
#define CENSUS_MEMBER(name)                                                              \
	HI_ROW_MEMBER(struct hi_snapshot_census_row, name, struct hi_census_row, name)
	CENSUS_MEMBER(type),	       CENSUS_MEMBER(count),
	CENSUS_MEMBER(shallow),	       CENSUS_MEMBER(retained),
	CENSUS_MEMBER(largest),	       CENSUS_MEMBER(by_evidence[0]),
	CENSUS_MEMBER(by_evidence[1]), CENSUS_MEMBER(by_evidence[2]),
	CENSUS_MEMBER(by_evidence[3]), CENSUS_MEMBER(by_evidence[4]),
	CENSUS_MEMBER(by_evidence[5]), CENSUS_MEMBER(by_evidence[6]),
#undef CENSUS_MEMBER
};
_Static_assert(HI_SNAPSHOT_EVIDENCES == 7, "kinds of evidence");
static const struct hi_row_map census_map =
	HI_ROW_MAP("census", struct hi_census_row, census_members);

static const struct hi_property census_sums[] = {
	HI_PROPERTY("census.objects", struct hi_census, objects),
	HI_PROPERTY("census.bytes", struct hi_census, bytes),
	HI_PROPERTY("census.exact", struct hi_census, exact_bytes),
	HI_PROPERTY("census.inferred", struct hi_census, inferred_bytes),
	HI_PROPERTY("census.untyped", struct hi_census, untyped_bytes),
};

enum hi_status hi_snapshot_put_census(struct hi_snapshot_writer *w,
				      const struct hi_census *census,
				      struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_rows(w, &census_map, census->rows, census->n_rows, err);

	return status == HI_OK
		       ? hi_snapshot_put_properties(w, "", census_sums, 5, census, err)
		       : status;
}

enum hi_status hi_snapshot_census(struct hi_snapshot *s, struct hi_census **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_census_destroy) struct hi_census *c = hi_calloc(1, sizeof(*c));
	enum hi_status status;

	if (!c)
		return hi_fail_memory(err, "census");
	status = hi_snapshot_take_rows(s, &census_map, NULL, &c->rows, &c->n_rows, err);
	if (status != HI_OK)
		return status;
	hi_snapshot_take_properties(s, "", census_sums, 5, c);
	*ret = hi_take(c);
	return HI_OK;
}
