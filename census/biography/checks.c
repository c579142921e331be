/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/biography/checks.h"

#include "census/biography/view_internal.h"

/* One kind of amount, bytes or objects, of a census: its bands, and what it counted. */
struct side {
	const struct hi_bio_bounds *bands;
	uint64_t live, counted, inherent, used, not_used;
};

static void check_bounds(const struct side *s, struct hi_bio_checks *ret)
{
	uint64_t proved = 0, possible = 0;

	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		const struct hi_bio_bounds *b = &s->bands[band];

		ret->bounds += b->proved > b->possible || b->possible > s->live;
		proved += b->proved;
		possible += b->possible;
	}
	ret->live += s->live != s->counted || proved > s->live || possible < s->live;
}

/*
 * SPEC: LAG = notUsed - void, USE = used - drag. A use that is proved is so from its
 * census on, so notUsed and used are exact; what is only possible may be VOID and LAG, or
 * USE and DRAG. With complete evidence the two bounds of a line are equal.
 */
static void check_side(const struct side *s, struct hi_bio_checks *ret)
{
	const struct hi_bio_bounds *b = s->bands;
	const uint64_t not_used = b[HI_BIO_VOID].possible + b[HI_BIO_UNUSED].possible;
	const uint64_t used = b[HI_BIO_USE].proved + b[HI_BIO_DRAG].possible;

	check_bounds(s, ret);
	ret->inherent += b[HI_BIO_INHERENT].proved != s->inherent ||
			 b[HI_BIO_INHERENT].possible != s->inherent;
	ret->void_band +=
		not_used > s->not_used || not_used + b[HI_BIO_LAG].possible < s->not_used;
	ret->drag_band += b[HI_BIO_DRAG].proved > s->used;
	ret->use_band += b[HI_BIO_USE].proved > s->used || used < s->used;
}

static void check_evidence(const struct hi_bio_census *census, struct hi_bio_checks *ret)
{
	struct hi_bio_amount sum = {};

	for (unsigned i = 0; i < HI_BIO_EVIDENCE; i++) {
		sum.bytes += census->evidence[i].bytes;
		sum.objects += census->evidence[i].objects;
	}
	ret->evidence += sum.bytes != census->used.bytes + census->not_used.bytes ||
			 sum.objects != census->used.objects + census->not_used.objects;
}

static void check_row(const struct hi_bio_census *census, const struct hi_bio_row *row,
		      struct hi_bio_checks *ret)
{
	check_side(&(struct side){row->bytes, row->live.bytes, census->live.bytes,
				  census->inherent.bytes, census->used.bytes,
				  census->not_used.bytes},
		   ret);
	check_side(&(struct side){row->objects, row->live.objects, census->live.objects,
				  census->inherent.objects, census->used.objects,
				  census->not_used.objects},
		   ret);
}

static void check_groups(const struct hi_bio_view *view, uint64_t t,
			 struct hi_bio_checks *ret)
{
	const struct hi_band_cell *all =
		hi_band_store_at(&view->store, HI_BIO_STORE_ALL, t);
	struct hi_bio_amount sums[HI_BIO_COLUMNS] = {};

	for (uint32_t g = HI_BIO_STORE_GROUPS; g < view->store.groups.count; g++) {
		const struct hi_band_cell *cell = hi_band_store_at(&view->store, g, t);

		for (unsigned i = 0; cell && i < HI_BIO_COLUMNS; i++) {
			sums[i].bytes += cell->columns[i].bytes;
			sums[i].objects += cell->columns[i].objects;
		}
	}
	for (unsigned i = 0; i < HI_BIO_COLUMNS; i++) {
		struct hi_bio_amount amount =
			all ? all->columns[i] : (struct hi_bio_amount){};

		ret->groups += amount.bytes != sums[i].bytes ||
			       amount.objects != sums[i].objects;
	}
}

static void check_census(const struct hi_bio *bio, const struct hi_bio_view *view,
			 uint64_t t, struct hi_bio_row *row, struct hi_bio_checks *ret)
{
	hi_bio_view_row(view, HI_BIO_ALL, t, row);
	check_row(hi_bio_census(bio, t), row, ret);
	check_evidence(hi_bio_census(bio, t), ret);
	check_groups(view, t, ret);
}

void hi_bio_check(const struct hi_bio *bio, const struct hi_bio_view *view,
		  struct hi_bio_checks *ret)
{
	struct hi_bio_areas areas = {};
	struct hi_bio_row row;

	*ret = (struct hi_bio_checks){.balance = view->unbalanced,
				      .order = view->misordered};
	for (uint64_t t = 1; t <= view->censuses; t++) {
		check_census(bio, view, t, &row, ret);
		areas.void_proved += row.bytes[HI_BIO_VOID].proved;
		areas.void_possible += row.bytes[HI_BIO_VOID].possible;
	}
	ret->void_area = areas.void_proved != view->areas.void_proved;
	ret->void_area += areas.void_possible != view->areas.void_possible;
}

void hi_bio_check_last(const struct hi_bio *bio, const struct hi_bio_view *view,
		       struct hi_bio_checks *ret)
{
	struct hi_bio_row row;

	*ret = (struct hi_bio_checks){.balance = view->unbalanced,
				      .order = view->misordered};
	if (view->censuses)
		check_census(bio, view, view->censuses, &row, ret);
}

uint64_t hi_bio_checks_failed(const struct hi_bio_checks *c)
{
	return c->live + c->inherent + c->evidence + c->void_band + c->drag_band +
	       c->use_band + c->bounds + c->balance + c->void_area + c->order + c->groups;
}
