/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_lives.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

/* Numbers, then texts; a text that is NULL is a missing property. */
static const struct hi_property lives_properties[] = {
#define LIVES(name, field) HI_PROPERTY("lives." name, struct hi_bio_summary, field)
	LIVES("recorded", is_recorded),
	LIVES("birth_is_idle", birth_is_idle),
	LIVES("birth_is_seen", birth_is_seen),
	LIVES("death_is_idle", death_is_idle),
	LIVES("sample_bytes", sample_bytes),
	LIVES("certain.bytes", certain.bytes),
	LIVES("certain.objects", certain.objects),
	LIVES("uncertain.bytes", uncertain.bytes),
	LIVES("uncertain.objects", uncertain.objects),
	LIVES("left_out.bytes", left_out.bytes),
	LIVES("left_out.objects", left_out.objects),
	LIVES("era.open", era.is_open),
	LIVES("restricted.bytes", era.restricted.bytes),
	LIVES("restricted.objects", era.restricted.objects),
	LIVES("era.hidden.bytes", era.hidden.bytes),
	LIVES("era.hidden.objects", era.hidden.objects),
	LIVES("checks.live", checks.live),
	LIVES("checks.inherent", checks.inherent),
	LIVES("checks.evidence", checks.evidence),
	LIVES("checks.void", checks.void_band),
	LIVES("checks.drag", checks.drag_band),
	LIVES("checks.use", checks.use_band),
	LIVES("checks.bounds", checks.bounds),
	LIVES("checks.balance", checks.balance),
	LIVES("checks.void_area", checks.void_area),
	LIVES("checks.order", checks.order),
	LIVES("checks.groups", checks.groups),
	LIVES("uses.asked", uses.is_asked),
	LIVES("uses.functions", uses.functions),
	LIVES("uses.wanted", uses.wanted),
	LIVES("uses.probed", uses.probed),
	LIVES("uses.dropped", uses.dropped),
	LIVES("uses.left_out", uses.left_out),
	LIVES("uses.hits", uses.hits),
	LIVES("uses.not_stored", uses.not_stored),
	LIVES("uses.waited", uses.waited),
	LIVES("watch.slots", watch.slots),
	LIVES("watch.objects", watch.objects),
	LIVES("watch.used", watch.used),
	LIVES("watch.hits", watch.hits),
	LIVES("watch.all_hits", watch.all_hits),
	LIVES("watch.moved_on", watch.moved_on),
	LIVES("watch.waited", watch.waited),
	LIVES("watch.population.bytes", watch.population.bytes),
	LIVES("watch.population.objects", watch.population.objects),
	LIVES("watch.sampled", watch.estimates.sampled),
	LIVES("watch.estimated", watch.estimates.watched),
	LIVES("no_pages", no_pages),
	LIVES("era", era.eras),
	LIVES("uses.missing", uses.missing),
	LIVES("watch.missing", watch.missing),
#undef LIVES
};
enum { LIVES_PROPERTIES = sizeof(lives_properties) / sizeof(*lives_properties) };

static const struct hi_section_member lives_members[] = {
	HI_SECTION_MEMBER("lives", struct hi_bio_summary, lives, n_lives),
	HI_SECTION_MEMBER("lives.variances", struct hi_bio_summary, variances, n_groups),
	HI_SECTION_MEMBER("lives.watched", struct hi_bio_summary, watch.watched,
			  watch.n_watched),
};
static const struct hi_section_member *const lives_rows = &lives_members[0],
					     *const variances = &lives_members[1],
					     *const watched = &lives_members[2];

static const struct hi_row_member era_members[] = {
	HI_ROW_MEMBER(struct hi_snapshot_era_row, number, struct hi_bio_era_mark, era),
	HI_ROW_MEMBER(struct hi_snapshot_era_row, name, struct hi_bio_era_mark, name),
	HI_ROW_MEMBER(struct hi_snapshot_era_row, period, struct hi_bio_era_mark, period),
};
static const struct hi_row_map era_map =
	HI_ROW_MAP("lives.eras", struct hi_bio_era_mark, era_members);

/* Rows of struct hi_bio_estimate, in two sections. */
static const struct hi_row_member estimate_members[] = {
#define ESTIMATE_MEMBER(name)                                                            \
	HI_ROW_MEMBER(struct hi_snapshot_estimate_row, name, struct hi_bio_estimate, name)
	ESTIMATE_MEMBER(proved),
	ESTIMATE_MEMBER(possible),
	ESTIMATE_MEMBER(interval.low),
	ESTIMATE_MEMBER(interval.high),
#undef ESTIMATE_MEMBER
};
static const struct hi_row_map estimate_map =
	HI_ROW_MAP("lives.estimates", struct hi_bio_estimate, estimate_members);
static const struct hi_row_member likely_members[] = {
#define LIKELY_MEMBER(name)                                                              \
	HI_ROW_MEMBER(struct hi_snapshot_likely_row, name, struct hi_bio_estimate, name)
	LIKELY_MEMBER(estimate),
	LIKELY_MEMBER(range.low),
	LIKELY_MEMBER(range.high),
#undef LIKELY_MEMBER
};
static const struct hi_row_map likely_map =
	HI_ROW_MAP("lives.likely", struct hi_bio_estimate, likely_members);
enum { ESTIMATES = 2 * HI_BIO_BANDS };
/* The bands' bytes, then their objects, without a gap. */
_Static_assert(sizeof(((struct hi_bio_estimates *)NULL)->bytes) ==
			       HI_BIO_BANDS * sizeof(struct hi_bio_estimate) &&
		       offsetof(struct hi_bio_estimates, objects) ==
			       HI_BIO_BANDS * sizeof(struct hi_bio_estimate),
	       "estimates");

/* The texts of a group are numbers of an interner. */
static const size_t life_group_texts[] = {offsetof(struct hi_bio_group_row, type),
					  offsetof(struct hi_bio_group_row, module),
					  offsetof(struct hi_bio_group_row, site),
					  offsetof(struct hi_bio_group_row, era),
					  offsetof(struct hi_bio_group_row, root),
					  offsetof(struct hi_bio_group_row, retainers)};
enum { GROUP_TEXTS = sizeof(life_group_texts) / sizeof(*life_group_texts) };

static uint32_t *life_group_text(struct hi_bio_group_row *row, unsigned k)
{
	return (uint32_t *)(void *)((char *)row + life_group_texts[k]);
}

/* ---- writing ---- */

static enum hi_status put_life_groups(struct hi_snapshot_writer *w,
				      const struct hi_bio_summary *summary,
				      struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, "lives.groups", err);

	for (uint32_t i = 0; status == HI_OK && i < summary->n_groups; i++) {
		struct hi_bio_group_row row = summary->groups[i];

		for (unsigned k = 0; k < GROUP_TEXTS && status == HI_OK; k++) {
			uint32_t *text = life_group_text(&row, k);

			status = hi_snapshot_put_string(
				w, hi_interner_name(summary->texts, *text), text, err);
		}
		if (status == HI_OK)
			status = hi_snapshot_append(w, &row, HI_BIO_GROUP_ROW_SIZE, err);
	}
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

static enum hi_status put_life_censuses(struct hi_snapshot_writer *w,
					const struct hi_bio_summary *summary,
					struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, "lives.censuses", err);

	for (size_t i = 0; i < summary->n_censuses && status == HI_OK; i++)
		status = hi_snapshot_append(w, &summary->censuses[i],
					    HI_BIO_CENSUS_ROW_SIZE, err);
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

/* Sets of the censuses, then of the groups. */
static enum hi_status put_life_sets(struct hi_snapshot_writer *w,
				    const struct hi_bio_summary *summary,
				    struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, "lives.sets", err);

	for (size_t i = 0; i < summary->n_censuses && status == HI_OK; i++)
		status = hi_snapshot_append(w, summary->censuses[i].row.sets,
					    sizeof(summary->censuses[i].row.sets), err);
	for (size_t i = 0; i < summary->n_groups && status == HI_OK; i++)
		status = hi_snapshot_append(w, summary->groups[i].row.sets,
					    sizeof(summary->groups[i].row.sets), err);
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

static enum hi_status put_watched(struct hi_snapshot_writer *w,
				  const struct hi_bio_summary *summary,
				  struct hi_error *err)
{
	const struct hi_bio_estimate *estimates = summary->watch.estimates.bytes;
	enum hi_status status =
		hi_snapshot_put_rows(w, &estimate_map, estimates, ESTIMATES, err);

	if (status == HI_OK)
		status = hi_snapshot_put_rows(w, &likely_map, estimates, ESTIMATES, err);
	return status == HI_OK ? hi_snapshot_put_section(w, watched->section,
							 summary->watch.watched,
							 summary->watch.n_watched, err)
			       : status;
}

enum hi_status hi_snapshot_put_lives(struct hi_snapshot_writer *w,
				     const struct hi_bio_summary *summary,
				     struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put_members(w, lives_rows, 1, summary, err);

	if (status == HI_OK)
		status = put_life_groups(w, summary, err);
	if (status == HI_OK)
		status = put_life_censuses(w, summary, err);
	if (status == HI_OK)
		status = put_life_sets(w, summary, err);
	if (status == HI_OK)
		status = hi_snapshot_put_rows(w, &era_map, summary->eras, summary->n_eras,
					      err);
	if (status == HI_OK && summary->sample_bytes)
		status = hi_snapshot_put_members(w, variances, 1, summary, err);
	if (status == HI_OK && summary->watch.slots)
		status = put_watched(w, summary, err);
	return status == HI_OK
		       ? hi_snapshot_put_properties(w, "", lives_properties,
						    LIVES_PROPERTIES, summary, err)
		       : status;
}

/* ---- reading ---- */

/* Copies of rows, which are longer in memory: the sets are in a section of their own.
 * NULL: out of memory. */
static void *copy_life_rows(struct hi_bio_summary *ret, const void *items, uint64_t n,
			    size_t item, size_t size)
{
	char *rows = hi_arena_alloc(&ret->arena, (n + 1) * size);

	for (uint64_t i = 0; rows && i < n; i++) {
		memset(rows + i * size, 0, size);
		memcpy(rows + i * size, (const char *)items + i * item, item);
	}
	return rows;
}

static enum hi_status take_life_censuses(struct hi_snapshot *s,
					 struct hi_bio_summary *ret, struct hi_error *err)
{
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "lives.censuses", &items, &n, err);

	if (status != HI_OK)
		return status;
	ret->censuses = copy_life_rows(ret, items, n, HI_BIO_CENSUS_ROW_SIZE,
				       sizeof(*ret->censuses));
	ret->n_censuses = n;
	hi_snapshot_bound(s, HI_BOUND_PERIODS, n - 1);
	return ret->censuses ? HI_OK : hi_fail_memory(err, "censuses of biographies");
}

static enum hi_status take_life_groups(struct hi_snapshot *s, struct hi_bio_summary *ret,
				       struct hi_error *err)
{
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "lives.groups", &items, &n, err);

	if (status != HI_OK)
		return status;
	ret->groups = copy_life_rows(ret, items, n, HI_BIO_GROUP_ROW_SIZE,
				     sizeof(*ret->groups));
	if (!ret->groups)
		return hi_fail_memory(err, "groups of biographies");
	ret->n_groups = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < GROUP_TEXTS; k++) {
			uint32_t *number = life_group_text(&ret->groups[i], k);
			const char *text = hi_snapshot_string(s, *number);

			*number = *text ? hi_interner_add(&ret->own_texts, text) : 0;
			if (!*number && *text)
				return hi_fail_memory(err, "groups of biographies");
		}
	return HI_OK;
}

/* After both; files of before have none. */
static enum hi_status take_life_sets(struct hi_snapshot *s, struct hi_bio_summary *ret,
				     struct hi_error *err)
{
	const struct hi_bio_amount(*sets)[HI_BIO_SETS];
	uint64_t n = ret->n_censuses, all = 0;
	enum hi_status status;

	hi_snapshot_bound(s, HI_BOUND_LIFE_SETS, n + ret->n_groups);
	status = hi_snapshot_rows(s, "lives.sets", &sets, &all, err);
	if (status != HI_OK || !sets)
		return status;
	for (size_t i = 0; i < n; i++)
		memcpy(ret->censuses[i].row.sets, sets[i], sizeof(*sets));
	for (size_t i = 0; i < ret->n_groups; i++)
		memcpy(ret->groups[i].row.sets, sets[n + i], sizeof(*sets));
	return HI_OK;
}

static enum hi_status take_life_eras(struct hi_snapshot *s, struct hi_bio_summary *ret,
				     struct hi_error *err)
{
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_take_rows(s, &era_map, &ret->arena, &ret->eras, &n, err);

	ret->n_eras = (uint32_t)n;
	ret->has_eras = ret->eras != NULL;
	return status;
}

static enum hi_status take_watched(struct hi_snapshot *s, struct hi_bio_summary *ret,
				   struct hi_error *err)
{
	struct hi_bio_estimate *to = ret->watch.estimates.bytes;
	const struct hi_snapshot_estimate_row *rows = NULL;
	const struct hi_snapshot_likely_row *likely = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "lives.estimates", &rows, &n, err);

	if (status == HI_OK)
		status = hi_snapshot_rows(s, "lives.likely", &likely, &n, err);
	for (unsigned i = 0; i < ESTIMATES && status == HI_OK; i++) {
		hi_snapshot_unpack_row(s, &estimate_map, &rows[i], &to[i]);
		if (likely)
			hi_snapshot_unpack_row(s, &likely_map, &likely[i], &to[i]);
	}
	return status == HI_OK ? hi_snapshot_take_members(s, watched, 1, ret, err)
			       : status;
}

enum hi_status hi_snapshot_lives(struct hi_snapshot *s, hi_node n_objects,
				 struct hi_bio_summary **ret, struct hi_error *err)
{
	HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *summary = NULL;
	enum hi_status status;

	if (!hi_snapshot_has(s, "lives"))
		return hi_fail(err, HI_NOT_FOUND, 0, "%.120s has no biographies",
			       s->path);
	summary = hi_bio_summary_create();
	if (!summary)
		return hi_fail_memory(err, "biographies");
	hi_snapshot_bound(s, HI_BOUND_OBJECTS, n_objects);
	hi_snapshot_take_properties(s, "", lives_properties, LIVES_PROPERTIES, summary);
	status = take_life_censuses(s, summary, err);
	if (status == HI_OK)
		status = take_life_groups(s, summary, err);
	if (status == HI_OK)
		status = take_life_sets(s, summary, err);
	if (status == HI_OK)
		status = take_life_eras(s, summary, err);
	if (status == HI_OK)
		status = hi_snapshot_take_members(s, variances, 1, summary, err);
	if (status == HI_OK)
		status = hi_snapshot_take_members(s, lives_rows, 1, summary, err);
	if (status == HI_OK && summary->watch.slots)
		status = take_watched(s, summary, err);
	if (status == HI_OK)
		*ret = hi_take(summary);
	return status;
}
