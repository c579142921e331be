/* SPDX-License-Identifier: BSD-2-Clause */
/* The read-only data of the programs of allocation events. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>

#include "probes/events/bpf_source_internal.h"

void hi_sampling_table_fill(struct hi_sampling_table *table)
{
	const double one = 1u << HI_SAMPLING_FRACTION_BITS;

	for (int i = 0; i < HI_SAMPLING_BINS; i++)
		table->quantiles[i] =
			(uint32_t)llround(one * -log1p(-(double)i / HI_SAMPLING_BINS));
}

int hi_bpf_source_fill_given(struct hi_bpf_source *source)
{
	struct bpf_map *map = bpf_object__find_map_by_name(source->object, ".rodata");
	struct hi_bpf_events_given given = {
		.can_loop = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop,
						    NULL) == 1};

	source->can_loop = given.can_loop;
	hi_sampling_table_fill(&given.sampling);
	for (size_t i = 0; i < source->functions.count; i++)
		given.functions[i] = source->functions.items[i].does;
	return map ? bpf_map__set_initial_value(map, &given, sizeof(given)) : -ENOENT;
}
