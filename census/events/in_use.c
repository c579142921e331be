/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/in_use.h"

#include "base/bits.h"
#include "census/events/sampling.h"

static void add_in_use(struct hi_in_use *sum, uint64_t bytes)
{
	sum->allocations++;
	sum->bytes += bytes;
}

/* Other allocations that a sample represents, by number and by cost. */
struct unseen {
	double allocations, bytes;
};

static void add_sample(struct hi_in_use *sum, uint64_t size, uint64_t cost,
		       uint64_t sample_bytes, struct unseen *unseen)
{
	struct hi_sample_weight w = hi_sample_weight(sample_bytes, size);
	double others = 1 / hi_sample_probability(sample_bytes, size) - 1;

	hi_carry_add(&sum->allocations, &sum->carry[0], w.allocs, w.allocs_part);
	hi_carry_add(&sum->bytes, &sum->carry[1], w.bytes, w.bytes_part);
	unseen->allocations += others;
	unseen->bytes += others * (double)cost;
}

static uint64_t leave_out(uint64_t sum, double unseen)
{
	uint64_t out = hi_estimate_round(unseen);

	return sum > out ? sum - out : 0;
}

static uint64_t cost_of_used(const struct hi_objects *objects, const uint64_t *mask,
			     hi_node first, hi_node last)
{
	uint64_t cost = 0;

	for (hi_node i = first; i <= last; i++)
		cost += hi_bit(mask, i) ? hi_objects_cost(objects, i) : 0;
	return cost;
}

static bool is_any_piece_used(const uint64_t *mask, hi_node first, hi_node last)
{
	for (hi_node i = first; i <= last; i++)
		if (hi_bit(mask, i))
			return true;
	return false;
}

void hi_in_use_sum(const struct hi_births *births, const struct hi_objects *objects,
		   const uint64_t *mask, struct hi_in_use_sums *sums)
{
	hi_node n =
		births->n_objects < objects->count ? births->n_objects : objects->count;
	struct unseen unseen = {};

	for (hi_node i = 0, last; i < n; i = last + 1) {
		uint32_t context = births->context[i];

		last = i;
		if (context < sums->n_contexts) {
			last = hi_births_last_piece(objects, i);
			last = last < n ? last : n - 1;
			if (is_any_piece_used(mask, i, last))
				add_sample(&sums->by_context[context], births->size[i],
					   cost_of_used(objects, mask, i, last),
					   births->sample_bytes, &unseen);
		} else if (hi_bit(mask, i)) {
			add_in_use(context == HI_BIRTH_NONE ? &sums->before
							    : &sums->other,
				   hi_objects_cost(objects, i));
		}
	}
	sums->before.allocations =
		leave_out(sums->before.allocations, unseen.allocations);
	sums->before.bytes = leave_out(sums->before.bytes, unseen.bytes);
}
