/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/watch_sample.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/vector.h"

enum { WORD = 8, HOLD = 4, SAMPLE_MAX = 4096 };

struct members HI_VECTOR(struct hi_watch_member);

/* What a watchpoint is on. */
struct watched {
	uint64_t address, serial; /* of the object; address 0: of none */
	uint64_t hits;		  /* of the period that ends */
	bool stood;		  /* until the end of it */
};

struct hi_watch_sample {
	unsigned n_slots;
	uint64_t seed, censuses;
	size_t size; /* K */
	/* A heap with the highest number first while a census goes on, then sorted. */
	struct members now, before;
	struct hi_bio_amount population;
	struct watched watched[HI_WATCHPOINTS_MAX];
	struct hi_watch_totals totals;
};

/* splitmix64, https://prng.di.unimi.it/splitmix64.c */
static uint64_t mix_bits(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint64_t random_of(const struct hi_watch_sample *s,
			  const struct hi_watch_object *object)
{
	return mix_bits(mix_bits(mix_bits(s->seed) ^ object->address) ^ object->serial);
}

/* ---- the heap ---- */

static void swap_members(struct hi_watch_member *a, struct hi_watch_member *b)
{
	struct hi_watch_member t = *a;

	*a = *b;
	*b = t;
}

static void lift_member(struct members *m, size_t i)
{
	for (; i && m->items[(i - 1) / 2].random < m->items[i].random; i = (i - 1) / 2)
		swap_members(&m->items[i], &m->items[(i - 1) / 2]);
}

static void sink_first_member(struct members *m)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < m->count; i = child) {
		if (child + 1 < m->count &&
		    m->items[child + 1].random > m->items[child].random)
			child++;
		if (m->items[i].random >= m->items[child].random)
			return;
		swap_members(&m->items[i], &m->items[child]);
	}
}

bool hi_watch_sample_offer(struct hi_watch_sample *s,
			   const struct hi_watch_object *object)
{
	struct hi_watch_member member = {.object = *object,
					 .random = random_of(s, object)};

	s->population.objects++;
	s->population.bytes += object->size;
	if (s->now.count < s->size) {
		if (!hi_vector_push(&s->now, member))
			return false;
		lift_member(&s->now, s->now.count - 1);
	} else if (member.random < s->now.items[0].random) {
		s->now.items[0] = member;
		sink_first_member(&s->now);
	}
	return true;
}

/* ---- a census ---- */

void hi_watch_sample_begin(struct hi_watch_sample *s, struct hi_watch_evidence *evidence)
{
	struct members empty = s->before;

	s->before = s->now;
	s->now = empty;
	s->now.count = 0;
	s->population = (struct hi_bio_amount){};
	s->size = hi_min((s->censuses / HOLD + 1) * s->n_slots, SAMPLE_MAX);
	s->censuses++;
	for (unsigned i = 0; i < s->n_slots; i++) {
		s->watched[i].hits = hi_watch_evidence_take(evidence, i);
		s->watched[i].stood = hi_watch_evidence_stood(evidence, i);
	}
}

static int compare_members(const void *a, const void *b)
{
	const struct hi_watch_member *x = a, *y = b;

	return (x->random > y->random) - (x->random < y->random);
}

static struct hi_watch_member *find_sampled(struct members *m, uint64_t random,
					    uint64_t address, uint64_t serial)
{
	struct hi_watch_member key = {.random = random}, *found;

	if (!m->count)
		return NULL;
	found = bsearch(&key, m->items, m->count, sizeof(key), compare_members);
	return found && found->object.address == address && found->object.serial == serial
		       ? found
		       : NULL;
}

uint64_t hi_watch_sample_hits(struct hi_watch_sample *s, uint64_t address,
			      uint64_t serial)
{
	const struct hi_watch_object object = {.address = address, .serial = serial};
	struct hi_watch_member *member;
	bool is_known = false;
	uint64_t hits = 0;

	for (unsigned i = 0; i < s->n_slots; i++)
		if (s->watched[i].address == address && s->watched[i].serial == serial) {
			hits += s->watched[i].hits;
			is_known |= s->watched[i].stood || hits;
			s->watched[i].hits = 0;
		}
	if (!is_known)
		return 0;
	member = find_sampled(&s->before, random_of(s, &object), address, serial);
	s->totals.hits += hits;
	if (member) {
		s->totals.used += member->hits == 0 && hits;
		member->hits += hits;
		member->watched_at = s->censuses;
		member->hits_then = hits;
	}
	return hits;
}

/* What is known of members that were there before. */
static void keep_counts(struct hi_watch_sample *s)
{
	if (s->now.count)
		qsort(s->now.items, s->now.count, sizeof(*s->now.items), compare_members);
	for (size_t i = 0; i < s->now.count; i++) {
		struct hi_watch_member *member = &s->now.items[i];
		const struct hi_watch_member *before =
			find_sampled(&s->before, member->random, member->object.address,
				     member->object.serial);

		if (!before)
			continue;
		member->hits = before->hits;
		member->periods = before->periods;
		member->watched_at = before->watched_at;
		member->hits_then = before->hits_then;
	}
}

static uint64_t first_word(const struct hi_watch_object *object)
{
	return hi_round_up(object->address, WORD);
}

static uint64_t count_watchable_words(const struct hi_watch_object *object)
{
	uint64_t end = (object->address + object->usable) & ~(uint64_t)(WORD - 1);

	return end > first_word(object) ? (end - first_word(object)) / WORD : 0;
}

static bool is_chosen_member(struct hi_watch_member *const *chosen, unsigned n,
			     const struct hi_watch_member *member)
{
	for (unsigned i = 0; i < n; i++)
		if (chosen[i] == member)
			return true;
	return false;
}

/* The one that was watched in the fewest periods; NULL: there is none. */
static struct hi_watch_member *choose_member(struct hi_watch_sample *s,
					     struct hi_watch_member *const *chosen,
					     unsigned n_chosen)
{
	struct hi_watch_member *best = NULL;

	for (size_t i = 0; i < s->now.count; i++) {
		struct hi_watch_member *member = &s->now.items[i];

		if ((!best || member->periods < best->periods) &&
		    count_watchable_words(&member->object) &&
		    !is_chosen_member(chosen, n_chosen, member))
			best = member;
	}
	return best;
}

static void swap_choice(struct hi_watch_member **a, struct hi_watch_member **b)
{
	struct hi_watch_member *t = *a;

	*a = *b;
	*b = t;
}

static bool was_watched(const struct watched *watched,
			const struct hi_watch_object *object)
{
	return watched->address == object->address && watched->serial == object->serial;
}

/* An object that is watched still keeps its watchpoint, which has hits since the stop. */
static void keep_watchpoints(const struct hi_watch_sample *s,
			     struct hi_watch_member **chosen)
{
	for (unsigned i = 0; i < s->n_slots * s->n_slots; i++) {
		unsigned from = i % s->n_slots;

		for (unsigned k = 0; k < s->n_slots; k++)
			if (k != from && chosen[from] &&
			    was_watched(&s->watched[k], &chosen[from]->object))
				swap_choice(&chosen[k], &chosen[from]);
	}
}

static struct hi_watch_place place_of_member(const struct watched *watched,
					     const struct hi_watch_member *member)
{
	const struct hi_watch_object *object = &member->object;

	return (struct hi_watch_place){
		.address = first_word(object) +
			   member->periods % count_watchable_words(object) * WORD,
		.goes_on = was_watched(watched, object)};
}

static void note_watched(struct hi_watch_sample *s, struct watched *watched,
			 struct hi_watch_member *member)
{
	*watched = (struct watched){};
	if (!member)
		return;
	s->totals.objects += member->periods++ == 0;
	watched->address = member->object.address;
	watched->serial = member->object.serial;
}

void hi_watch_sample_end(struct hi_watch_sample *s, struct hi_watch_evidence *evidence)
{
	struct hi_watch_member *chosen[HI_WATCHPOINTS_MAX] = {};
	struct hi_watch_place places[HI_WATCHPOINTS_MAX] = {};
	bool is_set;

	keep_counts(s);
	for (unsigned i = 0; i < s->n_slots; i++)
		chosen[i] = choose_member(s, chosen, i);
	keep_watchpoints(s, chosen);
	for (unsigned i = 0; i < s->n_slots; i++)
		if (chosen[i])
			places[i] = place_of_member(&s->watched[i], chosen[i]);
	is_set = hi_watch_evidence_set(evidence, places);
	for (unsigned i = 0; i < s->n_slots; i++)
		note_watched(s, &s->watched[i], is_set ? chosen[i] : NULL);
}

/* ---- all of it ---- */

const struct hi_watch_member *
hi_watch_sample_members(const struct hi_watch_sample *s, size_t *n_ret,
			struct hi_bio_amount *population_ret)
{
	*n_ret = s->now.count;
	*population_ret = s->population;
	return s->now.items;
}

struct hi_watch_totals hi_watch_sample_totals(const struct hi_watch_sample *s)
{
	return s->totals;
}

enum hi_status hi_watch_sample_create(unsigned n_slots, uint64_t seed,
				      struct hi_watch_sample **ret, struct hi_error *err)
{
	struct hi_watch_sample *s = hi_calloc(1, sizeof(*s));

	if (!s)
		return hi_fail_memory(err, "sample of objects");
	s->n_slots = n_slots;
	s->seed = seed;
	*ret = s;
	return HI_OK;
}

void hi_watch_sample_destroy(struct hi_watch_sample *s)
{
	if (!s)
		return;
	hi_vector_free(&s->now);
	hi_vector_free(&s->before);
	free(s);
}
