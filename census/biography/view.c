/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"
#include "census/biography/view_internal.h"

static enum hi_status add_living(const struct hi_bio *bio, enum hi_bio_tail tail,
				 struct hi_bio_view *view, struct hi_error *err)
{
	const struct hi_bio_end end = {bio->period, tail == HI_BIO_AT_CENSUS};
	const struct hi_bio_columns *o = &bio->o;
	enum hi_status s = HI_OK;

	for (uint32_t i = 0; i < o->count && s == HI_OK; i++) {
		if (!(o->flags[i] & HI_BIO_IS_ALIVE))
			continue;
		if (!hi_bio_uses_are_ordered(o, i, end))
			view->misordered++;
		if (o->from[i] < bio->period)
			s = hi_bio_settle(bio, &view->store, &view->areas, i, end, false,
					  err);
	}
	return s;
}

static void count_unbalanced(struct hi_bio_view *view)
{
	for (uint32_t i = 0; i < view->store.groups.count; i++)
		view->unbalanced += !hi_band_store_balances(&view->store, i);
}

enum hi_status hi_bio_view_make(const struct hi_bio *bio, enum hi_bio_tail tail,
				struct hi_bio_view **ret, struct hi_error *err)
{
	struct hi_bio_view *view = hi_calloc(1, sizeof(*view));
	enum hi_status s;

	if (!view)
		return hi_fail_memory(err, "bands of biographies");
	view->areas = bio->areas;
	view->censuses = bio->censuses.count;
	view->misordered = bio->misordered;
	view->n_groups = bio->n_groups;
	if (!hi_band_store_clone(&bio->store, &view->store))
		s = hi_fail_memory(err, "bands of biographies");
	else
		s = add_living(bio, tail, view, err);
	if (s != HI_OK) {
		hi_bio_view_destroy(view);
		return s;
	}
	count_unbalanced(view);
	hi_band_store_sum(&view->store);
	*ret = view;
	return HI_OK;
}

void hi_bio_view_destroy(struct hi_bio_view *view)
{
	if (!view)
		return;
	hi_band_store_free(&view->store);
	free(view);
}

uint64_t hi_bio_view_censuses(const struct hi_bio_view *view)
{
	return view->censuses;
}

uint32_t hi_bio_view_groups(const struct hi_bio_view *view)
{
	return view->n_groups;
}

void hi_bio_view_row(const struct hi_bio_view *view, uint32_t group, uint64_t t,
		     struct hi_bio_row *ret)
{
	const struct hi_band_cell *cell = NULL;

	*ret = (struct hi_bio_row){};
	if (t && t <= view->censuses)
		cell = hi_band_store_at(&view->store, hi_bio_store_group(group), t);
	if (!cell)
		return;
	memcpy(ret->sets, cell->columns, sizeof(ret->sets));
	ret->settled = cell->columns[HI_BIO_COLUMN_SETTLED];
	hi_bio_row_of_sets(ret);
}
