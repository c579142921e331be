/* SPDX-License-Identifier: BSD-2-Clause */
/* Births and deaths: which object an address is, and when it begins and ends. */
#include <assert.h>

#include "base/bits.h"
#include "census/biography/biography_internal.h"

uint32_t hi_bio_find(const struct hi_bio *bio, uint64_t address)
{
	uint64_t number;

	if (!hi_table_get(&bio->index, address, &number) ||
	    number >= HI_BIO_INDEX_UNREACHABLE)
		return HI_BIO_NONE;
	return (uint32_t)number;
}

uint32_t hi_bio_find_near(const struct hi_bio *bio, uint64_t address, uint32_t guess)
{
	if (guess < bio->o.count && (bio->o.flags[guess] & HI_BIO_IS_ALIVE) &&
	    bio->o.address[guess] == address)
		return guess;
	return hi_bio_find(bio, address);
}

void hi_bio_expect(const struct hi_bio *bio, uint64_t address)
{
	hi_table_expect(&bio->index, address);
}

static bool is_dead_unfreed(const struct hi_bio *bio, uint64_t address)
{
	uint64_t entry;

	return bio->unreachable && hi_table_get(&bio->index, address, &entry) &&
	       entry == HI_BIO_INDEX_UNREACHABLE;
}

/* ---- deaths ---- */

static bool count_unseen(struct hi_bio *bio, uint32_t number)
{
	const struct hi_bio_columns *o = &bio->o;
	const uint32_t group = hi_bio_store_group(o->group[number]);

	if (!hi_vector_reserve(&bio->unseen, (size_t)group + 1))
		return false;
	while (bio->unseen.count <= group)
		bio->unseen.items[bio->unseen.count++] = (struct hi_bio_amount){};
	hi_bio_amount_add(&bio->unseen.items[group], o->size[number]);
	if (group != HI_BIO_STORE_LEFT_OUT) {
		hi_bio_amount_add(&bio->unseen.items[HI_BIO_STORE_ALL], o->size[number]);
		hi_bio_amount_add(&bio->now.unseen, o->size[number]);
	}
	return true;
}

/* The index has the address already, so that this cannot fail. */
static void replace_entry(struct hi_bio *bio, uint64_t address, uint64_t entry)
{
	const bool is_replaced = hi_table_put(&bio->index, address, entry);

	assert(is_replaced);
	(void)is_replaced;
}

enum hi_status hi_bio_end_life(struct hi_bio *bio, uint32_t number, bool is_idle,
			       uint64_t entry, struct hi_error *err)
{
	const struct hi_bio_end end = {bio->period, is_idle};
	struct hi_bio_columns *o = &bio->o;

	if (!hi_bio_uses_are_ordered(o, number, end))
		bio->misordered++;
	if (o->from[number] == bio->period) {
		if (!count_unseen(bio, number))
			return hi_fail_memory(err, "unseen objects");
	} else {
		enum hi_status s = hi_bio_settle(bio, &bio->store, &bio->areas, number,
						 end, true, err);
		if (s != HI_OK)
			return s;
	}
	hi_bio_count_now(bio, number, false);
	replace_entry(bio, o->address[number], entry);
	bio->unreachable += entry == HI_BIO_INDEX_UNREACHABLE;
	hi_bio_columns_give_back(o, number);
	return HI_OK;
}

/* HI_USAGE: the series has ended. */
static enum hi_status check_open(struct hi_bio *bio, struct hi_error *err)
{
	if (!bio->is_finished)
		return HI_OK;
	bio->damage.after_end++;
	return hi_fail(err, HI_USAGE, 0, "biographies: the series has ended");
}

enum hi_status hi_bio_died(struct hi_bio *bio, uint64_t address, enum hi_bio_death how,
			   struct hi_error *err)
{
	uint32_t number = hi_bio_find(bio, address);
	enum hi_status s = check_open(bio, err);

	if (s != HI_OK)
		return s;
	if (number != HI_BIO_NONE)
		return hi_bio_end_life(bio, number, bio->options.death_is_idle,
				       how == HI_BIO_UNREACHABLE
					       ? HI_BIO_INDEX_UNREACHABLE
					       : HI_BIO_INDEX_DEAD,
				       err);
	if (how == HI_BIO_FREED && is_dead_unfreed(bio, address)) {
		replace_entry(bio, address, HI_BIO_INDEX_DEAD);
		bio->unreachable--;
		bio->freed_late++;
	} else {
		bio->damage.died_unknown++;
	}
	return HI_OK;
}

/* ---- births ---- */

/* The era decides whether what is born now counts. */
static bool counts_now(const struct hi_bio *bio, bool is_older)
{
	const struct hi_bio_options *o = &bio->options;
	/* Older objects were born in the first era. */
	const uint32_t era = is_older ? 1 : bio->era;

	return era && !bio->leaves_out &&
	       (!o->era_last || (era >= o->era_first && era <= o->era_last));
}

static enum hi_status check_reported(struct hi_bio *bio,
				     const struct hi_bio_object *object,
				     struct hi_error *err)
{
	enum hi_status s = check_open(bio, err);

	if (s != HI_OK)
		return s;
	if (object->group >= HI_BIO_GROUPS)
		return hi_fail(err, HI_LIMIT, 0, "biographies: more than %u groups",
			       (unsigned)HI_BIO_GROUPS);
	if (object->address != UINT64_MAX)
		return HI_OK;
	bio->damage.bad_address++;
	return hi_fail(err, HI_BAD_DATA, object->address,
		       "biographies: no object can be at this address");
}

static void note_group(struct hi_bio *bio, uint32_t group)
{
	if (group >= bio->n_groups)
		bio->n_groups = group + 1;
}

static void fill_columns(struct hi_bio *bio, uint32_t number,
			 const struct hi_bio_object *object, bool is_older)
{
	struct hi_bio_columns *o = &bio->o;

	o->address[number] = object->address;
	o->size[number] = object->size;
	o->serial[number] = object->serial;
	o->from[number] = bio->period;
	o->group[number] = counts_now(bio, is_older) ? object->group : HI_BIO_LEFT_OUT;
	o->era[number] = is_older ? 1 : bio->era;
	o->flags[number] = (uint8_t)(HI_BIO_IS_ALIVE | (is_older ? HI_BIO_IS_OLDER : 0) |
				     (object->is_inherent ? HI_BIO_IS_INHERENT : 0));
	if (bio->options.birth_is_idle && !is_older) {
		o->flags[number] |= HI_BIO_IS_BORN_IDLE;
		o->quiet_from[number] = o->quiet_to[number] = bio->period;
	}
	if (o->group[number] != HI_BIO_LEFT_OUT)
		note_group(bio, object->group);
}

/* Removes the addresses of dead objects when they are half of the index. If there is no
 * memory for a new index, the old one stays, which is as good. */
static void renew_index(struct hi_bio *bio)
{
	struct hi_table old = bio->index, new = {};

	if (old.count < 1024 ||
	    old.count / 2 < (uint64_t)bio->o.living + bio->unreachable)
		return;
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].key != UINT64_MAX &&
		    old.slots[i].value != HI_BIO_INDEX_DEAD &&
		    !hi_table_put(&new, old.slots[i].key, old.slots[i].value)) {
			hi_table_free(&new);
			return;
		}
	bio->index = new;
	hi_table_free(&old);
}

/* Begins a life at an address at which none is. */
static enum hi_status begin_life(struct hi_bio *bio, const struct hi_bio_object *object,
				 bool is_older, uint32_t *number_ret,
				 struct hi_error *err)
{
	const bool was_unreachable = is_dead_unfreed(bio, object->address);
	uint32_t number = hi_bio_columns_take(&bio->o);

	renew_index(bio);
	if (number == HI_BIO_NONE)
		return bio->o.count == HI_BIO_NONE
			       ? hi_fail(err, HI_LIMIT, 0,
					 "biographies: more than %u objects are alive",
					 HI_BIO_NONE - 1)
			       : hi_fail_memory(err, "biographies");
	if (!hi_table_put(&bio->index, object->address, number)) {
		hi_bio_columns_give_back(&bio->o, number);
		return hi_fail_memory(err, "index of biographies");
	}
	bio->unreachable -= was_unreachable;
	fill_columns(bio, number, object, is_older);
	hi_bio_count_now(bio, number, true);
	if (number_ret)
		*number_ret = number;
	return HI_OK;
}

/* The object that is still there has died without the death having been reported. */
static enum hi_status end_former(struct hi_bio *bio, uint64_t address, uint64_t *counter,
				 struct hi_error *err)
{
	uint32_t former = hi_bio_find(bio, address);
	enum hi_status s;

	if (former == HI_BIO_NONE)
		return HI_OK;
	s = hi_bio_end_life(bio, former, bio->options.death_is_idle, HI_BIO_INDEX_DEAD,
			    err);
	if (s == HI_OK)
		++*counter;
	return s;
}

static enum hi_status report_birth(struct hi_bio *bio, const struct hi_bio_object *object,
				   bool is_older, uint32_t *number_ret,
				   struct hi_error *err)
{
	const bool is_unfreed = is_dead_unfreed(bio, object->address);
	enum hi_status s = check_reported(bio, object, err);

	if (s == HI_OK)
		s = end_former(bio, object->address, &bio->damage.born_on_live, err);
	if (s == HI_OK)
		s = begin_life(bio, object, is_older, number_ret, err);
	if (s == HI_OK)
		bio->damage.born_on_live += is_unfreed;
	return s;
}

enum hi_status hi_bio_born(struct hi_bio *bio, const struct hi_bio_object *object,
			   uint32_t *number_ret, struct hi_error *err)
{
	return report_birth(bio, object, false, number_ret, err);
}

enum hi_status hi_bio_older(struct hi_bio *bio, const struct hi_bio_object *object,
			    uint32_t *number_ret, struct hi_error *err)
{
	return report_birth(bio, object, true, number_ret, err);
}

enum hi_status hi_bio_resized(struct hi_bio *bio, uint64_t old_address,
			      const struct hi_bio_object *object, uint32_t *number_ret,
			      struct hi_error *err)
{
	const uint32_t former = hi_bio_find(bio, old_address);
	enum hi_status s = check_reported(bio, object, err);

	if (s != HI_OK)
		return s;
	if (former != HI_BIO_NONE && old_address == object->address &&
	    bio->o.size[former] == object->size) {
		if (number_ret)
			*number_ret = former;
		return HI_OK;
	}
	s = hi_bio_died(bio, old_address, HI_BIO_FREED, err);
	return s == HI_OK ? report_birth(bio, object, false, number_ret, err) : s;
}

/* ---- censuses ---- */

static bool is_same(const struct hi_bio_columns *o, uint32_t number,
		    const struct hi_bio_object *object)
{
	const uint64_t serial = o->serial[number];

	return o->size[number] == object->size &&
	       (!serial || !object->serial || serial == object->serial);
}

static void see_again(struct hi_bio *bio, uint32_t number,
		      const struct hi_bio_object *object)
{
	struct hi_bio_columns *o = &bio->o;

	hi_bit_set(o->seen, number);
	if (!o->serial[number])
		o->serial[number] = object->serial;
	if (o->group[number] != HI_BIO_LEFT_OUT) {
		o->group[number] = object->group;
		note_group(bio, object->group);
	}
}

static enum hi_status see_new(struct hi_bio *bio, const struct hi_bio_object *object,
			      uint32_t *number_ret, struct hi_error *err)
{
	const bool was_unreachable = is_dead_unfreed(bio, object->address);
	uint32_t number;
	enum hi_status s;

	s = end_former(bio, object->address, &bio->damage.replaced, err);
	if (s == HI_OK)
		s = begin_life(bio, object, false, &number, err);
	if (s != HI_OK)
		return s;
	if (was_unreachable)
		bio->damage.revived++;
	else
		bio->damage.births_missed += bio->options.has_events;
	hi_bit_set(bio->o.seen, number);
	if (number_ret)
		*number_ret = number;
	return HI_OK;
}

enum hi_status hi_bio_see(struct hi_bio *bio, const struct hi_bio_object *object,
			  uint32_t *number_ret, struct hi_error *err)
{
	return hi_bio_see_found(bio, object, hi_bio_find(bio, object->address),
				number_ret, err);
}

enum hi_status hi_bio_see_found(struct hi_bio *bio, const struct hi_bio_object *object,
				uint32_t number, uint32_t *number_ret,
				struct hi_error *err)
{
	enum hi_status s = check_reported(bio, object, err);

	if (s != HI_OK)
		return s;
	if (number == HI_BIO_NONE || !is_same(&bio->o, number, object))
		return see_new(bio, object, number_ret, err);
	see_again(bio, number, object);
	if (number_ret)
		*number_ret = number;
	return HI_OK;
}
