/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/layouts/block_sizes.h"

#include "base/search.h"
#include "decode/allocator.h"

uint64_t hi_size_rule_fit(const struct hi_size_rule *rule, uint64_t request)
{
	uint64_t step = rule->step;
	size_t i;

	if (!rule->n && !step)
		return hi_fit_glibc(request);
	i = hi_search(k, rule->n, rule->sizes[k] < request);
	if (i < rule->n)
		return rule->sizes[i];
	if (!step || request > UINT64_MAX - step)
		return request;
	return (request + step - 1) / step * step;
}

static void add_size_rule(struct hi_block_sizes *sizes, const struct hi_allocator *a)
{
	if (sizes->n < HI_SIZE_RULES)
		sizes->rules[sizes->n++] =
			(struct hi_size_rule){a->sizes, a->n_sizes, a->size_step};
}

void hi_block_sizes_of(const struct hi_allocator *a, struct hi_block_sizes *ret)
{
	size_t main_part = 0;

	*ret = (struct hi_block_sizes){};
	if (!a)
		return;
	if (!a->n_parts) {
		if (a->n_sizes || a->size_step)
			add_size_rule(ret, a);
		return;
	}
	for (size_t i = 1; i < a->n_parts; i++)
		if (a->parts[i]->bytes[HI_BLOCK_LIVE] >
		    a->parts[main_part]->bytes[HI_BLOCK_LIVE])
			main_part = i;
	add_size_rule(ret, a->parts[main_part]);
	for (size_t i = 0; i < a->n_parts; i++)
		if (i != main_part)
			add_size_rule(ret, a->parts[i]);
}
