/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/biography/summary.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

struct hi_bio_summary *hi_bio_summary_create(void)
{
	struct hi_bio_summary *summary = hi_calloc(1, sizeof(*summary));

	if (summary)
		summary->texts = &summary->own_texts;
	return summary;
}

void hi_bio_summary_destroy(struct hi_bio_summary *summary)
{
	if (!summary)
		return;
	hi_interner_free(&summary->own_texts);
	hi_arena_free(&summary->arena);
	free(summary);
}

/* The periods of a life and their place in a row. */
#define PERIODS_OF_LIFE(X)                                                               \
	X(from)                                                                          \
	X(first_proved) X(last_proved) X(first_possible) X(last_possible) X(quiet_from)

bool hi_bio_life_pack(const struct hi_bio_life *life, struct hi_bio_life_row *ret)
{
	*ret = (struct hi_bio_life_row){
		.group = life->object.group,
		.size = life->object.size,
		.era = life->era,
		.first_evidence = life->first_proved ? (uint8_t)life->first_evidence : 0,
		.last_evidence = life->last_proved ? (uint8_t)life->last_evidence : 0,
		.flags = (uint8_t)((life->is_older ? HI_BIO_LIFE_OLDER : 0) |
				   (life->object.is_inherent ? HI_BIO_LIFE_INHERENT : 0)),
		.state = (uint8_t)life->state};
#define PACK_PERIOD(field)                                                               \
	if (life->field > UINT32_MAX)                                                    \
		return false;                                                            \
	ret->field = (uint32_t)life->field;
	PERIODS_OF_LIFE(PACK_PERIOD)
#undef PACK_PERIOD
	return true;
}

struct hi_bio_life hi_bio_life_unpack(const struct hi_bio_life_row *row)
{
	struct hi_bio_life life = {
		.object = {.size = row->size,
			   .group = row->group,
			   .is_inherent = row->flags & HI_BIO_LIFE_INHERENT},
		.is_older = row->flags & HI_BIO_LIFE_OLDER,
		.is_seen = true,
		.era = row->era,
		.first_evidence = row->first_evidence,
		.last_evidence = row->last_evidence,
		.state = row->state};

#define UNPACK_PERIOD(field) life.field = row->field;
	PERIODS_OF_LIFE(UNPACK_PERIOD)
#undef UNPACK_PERIOD
	return life;
}

uint32_t hi_bio_summary_bands(const struct hi_bio_summary *summary,
			      const struct hi_bio_life_row *row)
{
	const uint64_t last = hi_bio_summary_periods(summary);
	struct hi_bio_life life = hi_bio_life_unpack(row);

	return last ? hi_bio_life_bands(&life, last + 1, last) : 0;
}

const struct hi_bio_life_row *hi_bio_summary_find(const struct hi_bio_summary *summary,
						  uint32_t object)
{
	const struct hi_bio_life_row *lives = summary->lives;
	size_t at = hi_search(i, summary->n_lives, lives[i].object < object);

	return at < summary->n_lives && lives[at].object == object ? &lives[at] : NULL;
}
