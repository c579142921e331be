/* SPDX-License-Identifier: BSD-2-Clause */
/* Eras: labels of phases, which objects have from their birth (SPEC section 2, "era"). */
#include "base/text.h"
#include "census/biography/biography_internal.h"

uint32_t hi_bio_era(const struct hi_bio *bio)
{
	return bio->era;
}

enum hi_status hi_bio_begin_era(struct hi_bio *bio, uint32_t era, const char *name,
				struct hi_error *err)
{
	struct hi_bio_era_mark mark = {era, bio->period, ""};
	uint32_t number;

	if (era && era < bio->last_era)
		return hi_fail(
			err, HI_USAGE, 0,
			"era %u is behind era %u: eras go forward only, use %u or a "
			"higher number",
			era, bio->last_era, bio->last_era);
	number = hi_interner_add(&bio->names, hi_text_or_empty(name));
	mark.name = hi_interner_name(&bio->names, number);
	if (!number || !hi_vector_push(&bio->eras, mark))
		return hi_fail_memory(err, "names of eras");
	bio->era = era;
	if (era)
		bio->last_era = era;
	return HI_OK;
}

void hi_bio_leave_out(struct hi_bio *bio, bool leaves_out)
{
	bio->leaves_out = leaves_out;
}

const struct hi_bio_era_mark *hi_bio_eras(const struct hi_bio *bio, uint32_t *n_ret)
{
	*n_ret = (uint32_t)bio->eras.count;
	return bio->eras.items;
}
