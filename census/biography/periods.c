/* SPDX-License-Identifier: BSD-2-Clause */
/* A series of biographies: its beginning, its periods, its end. */
#include "base/alloc.h"
#include "base/bits.h"
#include "census/biography/biography_internal.h"

enum hi_status hi_bio_create(const struct hi_bio_options *options, struct hi_bio **ret,
			     struct hi_error *err)
{
	struct hi_bio *bio;

	if (options && options->era_first > options->era_last)
		return hi_fail(err, HI_USAGE, 0,
			       "era %u is behind era %u: a range of eras "
			       "begins with the lower one",
			       options->era_first, options->era_last);
	bio = hi_calloc(1, sizeof(*bio));
	if (!bio)
		return hi_fail_memory(err, "biographies");
	if (options)
		bio->options = *options;
	bio->period = 1;
	bio->era = bio->last_era = 1;
	bio->o.first_free = HI_BIO_NONE;
	*ret = bio;
	return HI_OK;
}

void hi_bio_destroy(struct hi_bio *bio)
{
	if (!bio)
		return;
	hi_bio_columns_free(&bio->o);
	hi_table_free(&bio->index);
	hi_band_store_free(&bio->store);
	hi_vector_free(&bio->censuses);
	hi_vector_free(&bio->unseen);
	hi_vector_free(&bio->eras);
	hi_interner_free(&bio->names);
	free(bio);
}

uint64_t hi_bio_period(const struct hi_bio *bio)
{
	return bio->period;
}

static enum hi_status end_unseen_lives(struct hi_bio *bio, struct hi_error *err)
{
	const struct hi_bio_columns *o = &bio->o;
	enum hi_status s = HI_OK;

	for (uint32_t i = 0; i < o->count && s == HI_OK; i++)
		if ((o->flags[i] & HI_BIO_IS_ALIVE) && !hi_bit(o->seen, i))
			s = hi_bio_end_life(bio, i, bio->options.death_is_idle,
					    bio->options.has_events
						    ? HI_BIO_INDEX_UNREACHABLE
						    : HI_BIO_INDEX_DEAD,
					    err);
	return s;
}

enum hi_status hi_bio_end_period(struct hi_bio *bio, bool is_complete,
				 struct hi_error *err)
{
	enum hi_status s;

	if (bio->is_finished) {
		bio->damage.after_end++;
		return hi_fail(err, HI_USAGE, 0, "biographies: the series has ended");
	}
	s = is_complete ? end_unseen_lives(bio, err) : HI_OK;
	if (s != HI_OK)
		return s;
	if (!hi_vector_push(&bio->censuses, bio->now))
		return hi_fail_memory(err, "censuses of biographies");
	bio->period++;
	if (bio->o.count)
		memset(bio->o.seen, 0, hi_bits_size(bio->o.count));
	/* Nothing is known yet about the next period. */
	bio->now.unseen = (struct hi_bio_amount){};
	memset(bio->now.evidence, 0, sizeof(bio->now.evidence));
	bio->now.evidence[HI_BIO_UNKNOWN] =
		(struct hi_bio_amount){bio->now.used.bytes + bio->now.not_used.bytes,
				       bio->now.used.objects + bio->now.not_used.objects};
	return HI_OK;
}

enum hi_status hi_bio_finish(struct hi_bio *bio, enum hi_bio_tail tail,
			     struct hi_error *err)
{
	const bool is_idle = tail == HI_BIO_AT_CENSUS;
	enum hi_status s = HI_OK;

	for (uint32_t i = 0; i < bio->o.count && s == HI_OK; i++)
		if (bio->o.flags[i] & HI_BIO_IS_ALIVE)
			s = hi_bio_end_life(bio, i, is_idle, HI_BIO_INDEX_DEAD, err);
	if (s == HI_OK)
		bio->is_finished = true;
	return s;
}

uint64_t hi_bio_censuses(const struct hi_bio *bio)
{
	return bio->censuses.count;
}

const struct hi_bio_census *hi_bio_census(const struct hi_bio *bio, uint64_t t)
{
	return t && t <= bio->censuses.count ? &bio->censuses.items[t - 1] : NULL;
}

struct hi_bio_amount hi_bio_unseen(const struct hi_bio *bio, uint32_t group)
{
	uint32_t row = hi_bio_store_group(group);

	return row < bio->unseen.count ? bio->unseen.items[row]
				       : (struct hi_bio_amount){};
}

uint32_t hi_bio_groups(const struct hi_bio *bio)
{
	return bio->n_groups;
}

uint32_t hi_bio_living(const struct hi_bio *bio)
{
	return bio->o.living;
}

struct hi_bio_damage hi_bio_damage(const struct hi_bio *bio)
{
	return bio->damage;
}

uint64_t hi_bio_freed_late(const struct hi_bio *bio)
{
	return bio->freed_late;
}

size_t hi_bio_memory(const struct hi_bio *bio)
{
	return sizeof(*bio) + hi_bio_columns_memory(&bio->o) +
	       bio->index.capacity * sizeof(*bio->index.slots) +
	       hi_band_store_memory(&bio->store) +
	       bio->censuses.capacity * sizeof(*bio->censuses.items) +
	       bio->unseen.capacity * sizeof(*bio->unseen.items) +
	       bio->eras.capacity * sizeof(*bio->eras.items);
}
