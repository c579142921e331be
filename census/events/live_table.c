/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/live_table_internal.h"

#include "base/alloc.h"
#include "base/search.h"

enum { SLOTS_AT_FIRST = 1 << 12 };

/* Addresses are multiples of 8 or 16 and near each other. */
static uint64_t hash_live_address(uint64_t addr)
{
	addr ^= addr >> 32;
	addr *= 0x9e3779b97f4a7c15ull;
	return addr ^ addr >> 32;
}

/* Slots are chosen by the hash that is stored: a slot has its own place in it. */
static uint32_t short_live_hash(uint64_t addr)
{
	return (uint32_t)hash_live_address(addr);
}

static struct hi_live_allocation *live_record(const struct hi_live_table *t,
					      uint32_t number)
{
	return &t->chunks.items[number >> HI_LIVE_SHIFT][number & (HI_LIVE_CHUNK - 1)];
}

static bool slot_has(const struct hi_live_table *t, const struct hi_live_slot *slot,
		     uint32_t hash, uint64_t addr)
{
	return slot->hash == hash && live_record(t, slot->record - 1)->addr == addr;
}

/* The slot of an address, or the empty one where it belongs. */
static struct hi_live_slot *find_live_slot(const struct hi_live_table *t, uint64_t addr)
{
	uint32_t hash = short_live_hash(addr);
	uint64_t n =
		hi_probe(i, t->n_slots, hash,
			 !t->slots[i].record || slot_has(t, &t->slots[i], hash, addr));

	return &t->slots[n];
}

struct hi_live_allocation *hi_live_find(const struct hi_live_table *t, uint64_t addr)
{
	const struct hi_live_slot *slot = t->n_slots ? find_live_slot(t, addr) : NULL;

	return slot && slot->record ? live_record(t, slot->record - 1) : NULL;
}

static bool grow_live_index(struct hi_live_table *t)
{
	uint64_t n = t->n_slots ? 2 * t->n_slots : SLOTS_AT_FIRST;
	struct hi_live_slot *slots = hi_pages_alloc(n * sizeof(*slots));

	if (!slots)
		return false;
	for (uint64_t k = 0; k < t->n_slots; k++)
		if (t->slots[k].record)
			slots[hi_probe(i, n, t->slots[k].hash, !slots[i].record)] =
				t->slots[k];
	hi_pages_free(t->slots, t->n_slots * sizeof(*slots));
	t->slots = slots;
	t->n_slots = n;
	return true;
}

static bool add_live_chunk(struct hi_live_table *t)
{
	struct hi_live_allocation *chunk;

	if (!hi_vector_reserve(&t->chunks, t->chunks.count + 1) ||
	    t->n_records > UINT32_MAX - 2 * HI_LIVE_CHUNK)
		return false;
	chunk = hi_pages_alloc(HI_LIVE_CHUNK * sizeof(*chunk));
	if (chunk)
		t->chunks.items[t->chunks.count++] = chunk;
	return chunk;
}

bool hi_live_add(struct hi_live_table *t, const struct hi_live_allocation *live)
{
	uint32_t number = t->first_free ? t->first_free - 1 : t->n_records;
	struct hi_live_allocation *record;

	if (t->count >= t->n_slots - t->n_slots / 4 && !grow_live_index(t))
		return false;
	if (number >> HI_LIVE_SHIFT == t->chunks.count && !add_live_chunk(t))
		return false;
	record = live_record(t, number);
	if (t->first_free)
		t->first_free = (uint32_t)record->addr;
	else
		t->n_records++;
	*find_live_slot(t, live->addr) =
		(struct hi_live_slot){number + 1, short_live_hash(live->addr)};
	*record = *live;
	t->count++;
	return true;
}

/* Later slots move into the gap if the search for them passes it. */
static void close_live_gap(struct hi_live_table *t, uint64_t gap)
{
	uint64_t mask = t->n_slots - 1;

	for (uint64_t i = (gap + 1) & mask; t->slots[i].record; i = (i + 1) & mask)
		if (((i - t->slots[i].hash) & mask) >= ((i - gap) & mask)) {
			t->slots[gap] = t->slots[i];
			gap = i;
		}
	t->slots[gap] = (struct hi_live_slot){};
}

bool hi_live_remove(struct hi_live_table *t, uint64_t addr,
		    struct hi_live_allocation *ret)
{
	struct hi_live_slot *slot = t->n_slots ? find_live_slot(t, addr) : NULL;
	struct hi_live_allocation *record;
	uint32_t number;

	if (!slot || !slot->record)
		return false;
	number = slot->record;
	record = live_record(t, number - 1);
	*ret = *record;
	close_live_gap(t, (uint64_t)(slot - t->slots));
	record->addr = t->first_free;
	t->first_free = number;
	t->count--;
	return true;
}

bool hi_live_next(const struct hi_live_table *t, uint64_t *at,
		  struct hi_live_allocation *ret)
{
	for (; *at < t->n_slots; ++*at)
		if (t->slots[*at].record) {
			*ret = *live_record(t, t->slots[(*at)++].record - 1);
			return true;
		}
	return false;
}

uint64_t hi_live_size(const struct hi_live_table *t)
{
	return t->n_slots * sizeof(*t->slots) +
	       t->chunks.count * HI_LIVE_CHUNK * sizeof(struct hi_live_allocation) +
	       t->chunks.capacity * sizeof(*t->chunks.items);
}

bool hi_live_is_valid(const struct hi_live_table *t)
{
	uint64_t used = 0, unused = 0;

	for (uint64_t i = 0; i < t->n_slots; i++) {
		const struct hi_live_slot *slot = &t->slots[i];

		if (!slot->record)
			continue;
		used++;
		if (slot->record > t->n_records ||
		    find_live_slot(t, live_record(t, slot->record - 1)->addr) != slot)
			return false;
	}
	for (uint32_t i = t->first_free; i && unused <= t->n_records; unused++)
		i = (uint32_t)live_record(t, i - 1)->addr;
	return used == t->count && used + unused == t->n_records;
}

void hi_live_free(struct hi_live_table *t)
{
	for (size_t i = 0; i < t->chunks.count; i++)
		hi_pages_free(t->chunks.items[i],
			      HI_LIVE_CHUNK * sizeof(struct hi_live_allocation));
	hi_pages_free(t->slots, t->n_slots * sizeof(*t->slots));
	hi_vector_free(&t->chunks);
	*t = (struct hi_live_table){};
}
