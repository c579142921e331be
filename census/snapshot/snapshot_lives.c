/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_lives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

/* Properties, and the numbers of a summary that they are. */
#define LIVES_NUMBERS(X)                                                                 \
	X("lives.recorded", is_recorded)                                                 \
	X("lives.birth_is_idle", birth_is_idle)                                          \
	X("lives.birth_is_seen", birth_is_seen)                                          \
	X("lives.death_is_idle", death_is_idle)                                          \
	X("lives.sample_bytes", sample_bytes)                                            \
	X("lives.certain.bytes", certain.bytes)                                          \
	X("lives.certain.objects", certain.objects)                                      \
	X("lives.uncertain.bytes", uncertain.bytes)                                      \
	X("lives.uncertain.objects", uncertain.objects)                                  \
	X("lives.left_out.bytes", left_out.bytes)                                        \
	X("lives.left_out.objects", left_out.objects)                                    \
	X("lives.era.open", era.is_open)                                                 \
	X("lives.restricted.bytes", era.restricted.bytes)                                \
	X("lives.restricted.objects", era.restricted.objects)                            \
	X("lives.era.hidden.bytes", era.hidden.bytes)                                    \
	X("lives.era.hidden.objects", era.hidden.objects)                                \
	X("lives.checks.live", checks.live)                                              \
	X("lives.checks.inherent", checks.inherent)                                      \
	X("lives.checks.evidence", checks.evidence)                                      \
	X("lives.checks.void", checks.void_band)                                         \
	X("lives.checks.drag", checks.drag_band)                                         \
	X("lives.checks.use", checks.use_band)                                           \
	X("lives.checks.bounds", checks.bounds)                                          \
	X("lives.checks.balance", checks.balance)                                        \
	X("lives.checks.void_area", checks.void_area)                                    \
	X("lives.checks.order", checks.order)                                            \
	X("lives.checks.groups", checks.groups)                                          \
	X("lives.uses.asked", uses.is_asked)                                             \
	X("lives.uses.functions", uses.functions)                                        \
	X("lives.uses.wanted", uses.wanted)                                              \
	X("lives.uses.probed", uses.probed)                                              \
	X("lives.uses.dropped", uses.dropped)                                            \
	X("lives.uses.left_out", uses.left_out)                                          \
	X("lives.uses.hits", uses.hits)                                                  \
	X("lives.uses.not_stored", uses.not_stored)                                      \
	X("lives.uses.waited", uses.waited)                                              \
	X("lives.watch.slots", watch.slots)                                              \
	X("lives.watch.objects", watch.objects)                                          \
	X("lives.watch.used", watch.used)                                                \
	X("lives.watch.hits", watch.hits)                                                \
	X("lives.watch.all_hits", watch.all_hits)                                        \
	X("lives.watch.moved_on", watch.moved_on)                                        \
	X("lives.watch.waited", watch.waited)                                            \
	X("lives.watch.population.bytes", watch.population.bytes)                        \
	X("lives.watch.population.objects", watch.population.objects)                    \
	X("lives.watch.sampled", watch.estimates.sampled)                                \
	X("lives.watch.estimated", watch.estimates.watched)

/* Texts; NULL is a missing property. */
#define LIVES_TEXTS(X)                                                                   \
	X("lives.no_pages", no_pages)                                                    \
	X("lives.era", era.eras)                                                         \
	X("lives.uses.missing", uses.missing)                                            \
	X("lives.watch.missing", watch.missing)

/* Texts of a group. */
#define LIVES_GROUP_TEXTS(X) X(type) X(module) X(site) X(era) X(root) X(retainers)

enum { ESTIMATES = 2 * HI_BIO_BANDS };

/* ---- writing ---- */

static enum hi_status pack_life_groups(struct hi_snapshot_writer *w,
				       const struct hi_bio_summary *summary, char *rows,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < summary->n_groups; i++) {
		struct hi_bio_group_row row = summary->groups[i];
#define PUT_TEXT(field)                                                                  \
	if (status == HI_OK)                                                             \
		status = hi_snapshot_put_string(                                         \
			w, hi_interner_name(summary->texts, row.field), &row.field,      \
			err);
		LIVES_GROUP_TEXTS(PUT_TEXT)
#undef PUT_TEXT
		memcpy(rows + i * HI_BIO_GROUP_ROW_SIZE, &row, HI_BIO_GROUP_ROW_SIZE);
	}
	return status;
}

static enum hi_status put_life_groups(struct hi_snapshot_writer *w,
				      const struct hi_bio_summary *summary,
				      struct hi_error *err)
{
	HI_GUARD(free)
	char *rows = hi_calloc((size_t)summary->n_groups + 1, HI_BIO_GROUP_ROW_SIZE);
	enum hi_status status;

	if (!rows)
		return hi_fail_memory(err, "groups of biographies");
	status = pack_life_groups(w, summary, rows, err);
	return status == HI_OK
		       ? hi_snapshot_put(w, "lives.groups", rows, HI_BIO_GROUP_ROW_SIZE,
					 summary->n_groups, err)
		       : status;
}

static enum hi_status put_life_censuses(struct hi_snapshot_writer *w,
					const struct hi_bio_summary *summary,
					struct hi_error *err)
{
	const size_t n = summary->n_censuses;
	HI_GUARD(free) char *rows = hi_calloc(n + 1, HI_BIO_CENSUS_ROW_SIZE);

	if (!rows)
		return hi_fail_memory(err, "censuses of biographies");
	for (size_t i = 0; i < n; i++)
		memcpy(rows + i * HI_BIO_CENSUS_ROW_SIZE, &summary->censuses[i],
		       HI_BIO_CENSUS_ROW_SIZE);
	return hi_snapshot_put(w, "lives.censuses", rows, HI_BIO_CENSUS_ROW_SIZE, n, err);
}

typedef struct hi_bio_amount sets_of_row[HI_BIO_SETS];

/* Sets of the censuses, then of the groups. */
static enum hi_status put_life_sets(struct hi_snapshot_writer *w,
				    const struct hi_bio_summary *summary,
				    struct hi_error *err)
{
	const size_t n = summary->n_censuses;
	HI_GUARD(free)
	sets_of_row *sets = hi_calloc(n + summary->n_groups, sizeof(*sets));

	if (!sets)
		return hi_fail_memory(err, "bands of biographies");
	for (size_t i = 0; i < n; i++)
		memcpy(sets[i], summary->censuses[i].row.sets, sizeof(*sets));
	for (size_t i = 0; i < summary->n_groups; i++)
		memcpy(sets[n + i], summary->groups[i].row.sets, sizeof(*sets));
	return hi_snapshot_put(w, "lives.sets", sets, sizeof(*sets),
			       n + summary->n_groups, err);
}

static enum hi_status put_lives_properties(struct hi_snapshot_writer *w,
					   const struct hi_bio_summary *summary,
					   struct hi_error *err)
{
#define NUMBER_OF(name, field) {name, summary->field},
#define TEXT_OF(name, field) {name, summary->field},
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {LIVES_NUMBERS(NUMBER_OF)};
	const struct {
		const char *name, *value;
	} texts[] = {LIVES_TEXTS(TEXT_OF)};
#undef NUMBER_OF
#undef TEXT_OF
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < sizeof(numbers) / sizeof(numbers[0]);
	     i++)
		status =
			hi_snapshot_put_number(w, numbers[i].name, numbers[i].value, err);
	for (size_t i = 0; status == HI_OK && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].value)
			status = hi_snapshot_put_text(w, texts[i].name, texts[i].value,
						      err);
	return status;
}

/* Two sections: the bands' bytes, then their objects. */
struct life_estimate {
	double proved, possible;
	struct hi_interval interval;
};
struct life_likely {
	double estimate;
	struct hi_interval range;
};

static enum hi_status put_life_estimates(struct hi_snapshot_writer *w,
					 const struct hi_bio_estimates *e,
					 struct hi_error *err)
{
	struct life_estimate rows[ESTIMATES];
	struct life_likely likely[ESTIMATES];
	enum hi_status status;

	for (unsigned i = 0; i < ESTIMATES; i++) {
		const struct hi_bio_estimate *from =
			i < HI_BIO_BANDS ? &e->bytes[i] : &e->objects[i - HI_BIO_BANDS];

		rows[i] = (struct life_estimate){from->proved, from->possible,
						 from->interval};
		likely[i] = (struct life_likely){from->estimate, from->range};
	}
	status = hi_snapshot_put(w, "lives.estimates", rows, sizeof(*rows), ESTIMATES,
				 err);
	return status == HI_OK ? hi_snapshot_put(w, "lives.likely", likely,
						 sizeof(*likely), ESTIMATES, err)
			       : status;
}

struct life_era {
	uint32_t number, name;
	uint64_t period;
};

static enum hi_status put_life_eras(struct hi_snapshot_writer *w,
				    const struct hi_bio_summary *summary,
				    struct hi_error *err)
{
	HI_GUARD(free)
	struct life_era *rows = hi_calloc((size_t)summary->n_eras + 1, sizeof(*rows));
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "eras of biographies");
	for (uint32_t i = 0; status == HI_OK && i < summary->n_eras; i++) {
		rows[i].number = summary->eras[i].era;
		rows[i].period = summary->eras[i].period;
		status = hi_snapshot_put_string(w, summary->eras[i].name, &rows[i].name,
						err);
	}
	return status == HI_OK ? hi_snapshot_put(w, "lives.eras", rows, sizeof(*rows),
						 summary->n_eras, err)
			       : status;
}

enum hi_status hi_snapshot_put_lives(struct hi_snapshot_writer *w,
				     const struct hi_bio_summary *summary,
				     struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put(w, "lives", summary->lives, sizeof(*summary->lives),
				summary->n_lives, err);

	if (status == HI_OK)
		status = put_life_groups(w, summary, err);
	if (status == HI_OK)
		status = put_life_censuses(w, summary, err);
	if (status == HI_OK)
		status = put_life_sets(w, summary, err);
	if (status == HI_OK)
		status = put_life_eras(w, summary, err);
	if (status == HI_OK && summary->variances && summary->sample_bytes)
		status = hi_snapshot_put(w, "lives.variances", summary->variances,
					 sizeof(*summary->variances), summary->n_groups,
					 err);
	if (status == HI_OK && summary->watch.slots)
		status = put_life_estimates(w, &summary->watch.estimates, err);
	if (status == HI_OK && summary->watch.slots)
		status = hi_snapshot_put(w, "lives.watched", summary->watch.watched,
					 sizeof(*summary->watch.watched),
					 summary->watch.n_watched, err);
	return status == HI_OK ? put_lives_properties(w, summary, err) : status;
}

/* ---- reading ---- */

HI_DEFINE_GUARD(struct hi_bio_summary *, hi_bio_summary_destroy)

static enum hi_status take_life_censuses(struct hi_snapshot *s,
					 struct hi_bio_summary *ret, struct hi_error *err)
{
	struct hi_bio_census_row *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, "lives.censuses",
						HI_BIO_CENSUS_ROW_SIZE, &items, &n, err);

	if (status == HI_NOT_FOUND)
		return hi_snapshot_bad(s, "lives.censuses", err, "missing");
	if (status != HI_OK)
		return status;
	if (n == 0 || n > UINT32_MAX)
		return hi_snapshot_bad(s, "lives.censuses", err, "%llu rows",
				       (unsigned long long)n);
	rows = hi_arena_alloc(&ret->arena, n * sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "censuses of biographies");
	for (size_t t = 0; t < n; t++) {
		rows[t] = (struct hi_bio_census_row){};
		memcpy(&rows[t], (const char *)items + t * HI_BIO_CENSUS_ROW_SIZE,
		       HI_BIO_CENSUS_ROW_SIZE);
		if (t && rows[t].at_ns < rows[t - 1].at_ns)
			return hi_snapshot_bad(s, "lives.censuses", err,
					       "row %zu: not in order", t);
	}
	ret->censuses = rows;
	ret->n_censuses = n;
	return HI_OK;
}

/* After both; files of before have none. */
static enum hi_status take_life_sets(struct hi_snapshot *s, struct hi_bio_summary *ret,
				     struct hi_error *err)
{
	const size_t n = ret->n_censuses;
	const sets_of_row *sets;
	void *items = NULL;
	enum hi_status status;

	if (!hi_snapshot_has(s, "lives.sets"))
		return HI_OK;
	status = hi_snapshot_column(s, "lives.sets", sizeof(*sets), n + ret->n_groups,
				    &items, err);
	if (status != HI_OK)
		return status;
	sets = items;
	for (size_t i = 0; i < n; i++)
		memcpy(ret->censuses[i].row.sets, sets[i], sizeof(*sets));
	for (size_t i = 0; i < ret->n_groups; i++)
		memcpy(ret->groups[i].row.sets, sets[n + i], sizeof(*sets));
	return HI_OK;
}

static enum hi_status take_group_text(struct hi_snapshot *s, struct hi_interner *texts,
				      uint32_t offset, uint32_t *ret,
				      struct hi_error *err)
{
	const char *text = hi_snapshot_string(s, offset);

	if (!text)
		return hi_snapshot_bad(s, "lives.groups", err, "a text");
	*ret = *text ? hi_interner_add(texts, text) : 0;
	return *ret || !*text ? HI_OK : hi_fail_memory(err, "groups of biographies");
}

static enum hi_status take_life_groups(struct hi_snapshot *s, struct hi_bio_summary *ret,
				       struct hi_error *err)
{
	struct hi_bio_group_row *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, "lives.groups", HI_BIO_GROUP_ROW_SIZE,
						&items, &n, err);

	if (status == HI_NOT_FOUND || (status == HI_OK && n > HI_BIO_GROUPS))
		return hi_snapshot_bad(s, "lives.groups", err, "missing or too many");
	if (status == HI_OK)
		status = hi_snapshot_check_texts(s, "lives.groups", items, n,
						 HI_BIO_GROUP_ROW_SIZE, 6, err);
	if (status != HI_OK)
		return status;
	rows = hi_arena_alloc(&ret->arena, (n + 1) * sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "groups of biographies");
	for (uint32_t i = 0; status == HI_OK && i < n; i++) {
		rows[i] = (struct hi_bio_group_row){};
		memcpy(&rows[i], (const char *)items + i * HI_BIO_GROUP_ROW_SIZE,
		       HI_BIO_GROUP_ROW_SIZE);
#define TAKE_TEXT(field)                                                                 \
	if (status == HI_OK)                                                             \
		status = take_group_text(s, &ret->own_texts, rows[i].field,              \
					 &rows[i].field, err);
		LIVES_GROUP_TEXTS(TAKE_TEXT)
#undef TAKE_TEXT
	}
	ret->groups = rows;
	ret->n_groups = (uint32_t)n;
	return status;
}

/* As hi_bio_uses_are_ordered() has them, in periods that have ended. A life that is older
 * than the first period begins there, also when none has ended. */
static bool is_life_ordered(const struct hi_bio_life_row *row, uint64_t periods)
{
	if (!row->from || (row->from > periods && row->from != 1) ||
	    row->quiet_from > periods || (row->quiet_from && row->quiet_from < row->from))
		return false;
	if (!row->first_possible)
		return !row->first_proved && !row->last_proved && !row->last_possible;
	if (row->first_possible < row->from || row->last_possible > periods ||
	    row->first_possible > row->last_possible)
		return false;
	if (!row->first_proved)
		return !row->last_proved;
	return row->first_possible <= row->first_proved &&
	       row->first_proved <= row->last_proved &&
	       row->last_proved <= row->last_possible;
}

static bool proves_use(uint8_t evidence)
{
	return evidence >= HI_BIO_WATCH && evidence <= HI_BIO_CONTENT;
}

static bool is_life_valid(const struct hi_bio_life_row *row,
			  const struct hi_bio_summary *summary, hi_node n_objects)
{
	return row->object < n_objects && row->group < summary->n_groups &&
	       (!row->first_proved ||
		(proves_use(row->first_evidence) && proves_use(row->last_evidence))) &&
	       (row->flags & ~HI_BIO_LIFE_FLAGS) == 0 && row->state < HI_BIO_STATES &&
	       is_life_ordered(row, hi_bio_summary_periods(summary));
}

static enum hi_status take_life_rows(struct hi_snapshot *s, hi_node n_objects,
				     struct hi_bio_summary *ret, struct hi_error *err)
{
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "lives", sizeof(*ret->lives), &items, &n, err);

	if (status != HI_OK)
		return status;
	ret->lives = items;
	for (size_t i = 0; i < n; i++)
		if (!is_life_valid(&ret->lives[i], ret, n_objects) ||
		    (i && ret->lives[i].object <= ret->lives[i - 1].object))
			return hi_snapshot_bad(s, "lives", err, "row %zu", i);
	ret->n_lives = n;
	return HI_OK;
}

static bool is_estimate_valid(const struct life_estimate *e)
{
	return isfinite(e->proved) && isfinite(e->possible) && e->proved >= 0 &&
	       e->possible >= 0 && e->interval.low <= e->interval.high;
}

static struct hi_bio_estimate *find_estimate(struct hi_bio_estimates *e, unsigned i)
{
	return i < HI_BIO_BANDS ? &e->bytes[i] : &e->objects[i - HI_BIO_BANDS];
}

static enum hi_status take_life_estimates(struct hi_snapshot *s,
					  struct hi_bio_estimates *ret,
					  struct hi_error *err)
{
	const struct life_estimate *rows;
	void *items = NULL;
	enum hi_status status = hi_snapshot_column(s, "lives.estimates", sizeof(*rows),
						   ESTIMATES, &items, err);

	if (status != HI_OK)
		return status;
	rows = items;
	for (unsigned i = 0; i < ESTIMATES; i++) {
		struct hi_bio_estimate *to = find_estimate(ret, i);

		if (!is_estimate_valid(&rows[i]))
			return hi_snapshot_bad(s, "lives.estimates", err, "row %u", i);
		to->proved = rows[i].proved;
		to->possible = rows[i].possible;
		to->interval = rows[i].interval;
	}
	return HI_OK;
}

/* Files of before have none. */
static enum hi_status take_life_likely(struct hi_snapshot *s,
				       struct hi_bio_estimates *ret, struct hi_error *err)
{
	const struct life_likely *rows;
	void *items = NULL;
	enum hi_status status;

	if (!hi_snapshot_has(s, "lives.likely"))
		return HI_OK;
	status = hi_snapshot_column(s, "lives.likely", sizeof(*rows), ESTIMATES, &items,
				    err);
	if (status != HI_OK)
		return status;
	rows = items;
	for (unsigned i = 0; i < ESTIMATES; i++) {
		if (!isfinite(rows[i].estimate) || rows[i].estimate < 0 ||
		    rows[i].range.low > rows[i].range.high)
			return hi_snapshot_bad(s, "lives.likely", err, "row %u", i);
		find_estimate(ret, i)->estimate = rows[i].estimate;
		find_estimate(ret, i)->range = rows[i].range;
	}
	return HI_OK;
}

static enum hi_status take_life_watched(struct hi_snapshot *s, struct hi_bio_summary *ret,
					struct hi_error *err)
{
	const struct hi_bio_watched *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status;

	if (!hi_snapshot_has(s, "lives.watched"))
		return HI_OK;
	status = hi_snapshot_get(s, "lives.watched", sizeof(*rows), &items, &n, err);
	if (status != HI_OK)
		return status;
	rows = items;
	for (size_t i = 0; i < n; i++)
		if (rows[i].group >= ret->n_groups)
			return hi_snapshot_bad(s, "lives.watched", err, "row %zu", i);
	ret->watch.watched = rows;
	ret->watch.n_watched = n;
	return HI_OK;
}

/* Files of before have none. */
static enum hi_status take_life_eras(struct hi_snapshot *s, struct hi_bio_summary *ret,
				     struct hi_error *err)
{
	struct hi_bio_era_mark *eras;
	const struct life_era *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status;

	if (!hi_snapshot_has(s, "lives.eras"))
		return HI_OK;
	status = hi_snapshot_get(s, "lives.eras", sizeof(*rows), &items, &n, err);
	if (status != HI_OK)
		return status;
	if (n > UINT32_MAX)
		return hi_snapshot_bad(s, "lives.eras", err, "too many");
	rows = items;
	eras = hi_arena_alloc(&ret->arena, (n + 1) * sizeof(*eras));
	if (!eras)
		return hi_fail_memory(err, "eras of biographies");
	for (size_t i = 0; i < n; i++) {
		eras[i] = (struct hi_bio_era_mark){rows[i].number, rows[i].period,
						   hi_snapshot_string(s, rows[i].name)};
		if (!eras[i].name)
			return hi_snapshot_bad(s, "lives.eras", err, "row %zu", i);
	}
	ret->eras = eras;
	ret->n_eras = (uint32_t)n;
	ret->has_eras = true;
	return HI_OK;
}

static enum hi_status take_life_variances(struct hi_snapshot *s,
					  struct hi_bio_summary *ret,
					  struct hi_error *err)
{
	void *items = NULL;
	enum hi_status status;

	if (!hi_snapshot_has(s, "lives.variances"))
		return HI_OK;
	status = hi_snapshot_column(s, "lives.variances", sizeof(*ret->variances),
				    ret->n_groups, &items, err);
	if (status != HI_OK)
		return status;
	ret->variances = items;
	for (uint32_t i = 0; i < ret->n_groups; i++)
		if (!isfinite(ret->variances[i]) || ret->variances[i] < 0)
			return hi_snapshot_bad(s, "lives.variances", err, "row %u", i);
	return HI_OK;
}

static void take_lives_properties(const struct hi_snapshot *s, struct hi_bio_summary *ret)
{
#define TAKE_NUMBER(name, field)                                                         \
	ret->field = (typeof(ret->field))hi_snapshot_number(s, name, 0);
	LIVES_NUMBERS(TAKE_NUMBER)
#undef TAKE_NUMBER
#define TAKE_TEXT(name, field) ret->field = hi_snapshot_text(s, name, NULL);
	LIVES_TEXTS(TAKE_TEXT)
#undef TAKE_TEXT
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
	take_lives_properties(s, summary);
	status = take_life_censuses(s, summary, err);
	if (status == HI_OK)
		status = take_life_groups(s, summary, err);
	if (status == HI_OK)
		status = take_life_sets(s, summary, err);
	if (status == HI_OK)
		status = take_life_eras(s, summary, err);
	if (status == HI_OK)
		status = take_life_variances(s, summary, err);
	if (status == HI_OK)
		status = take_life_rows(s, n_objects, summary, err);
	if (status == HI_OK && summary->watch.slots)
		status = take_life_estimates(s, &summary->watch.estimates, err);
	if (status == HI_OK && summary->watch.slots)
		status = take_life_likely(s, &summary->watch.estimates, err);
	if (status == HI_OK && summary->watch.slots)
		status = take_life_watched(s, summary, err);
	if (status == HI_OK)
		*ret = hi_take(summary);
	return status;
}
