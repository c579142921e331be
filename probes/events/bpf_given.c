/* SPDX-License-Identifier: BSD-2-Clause */
/* The read-only data of the programs of allocation events. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "probes/events/bpf_source_internal.h"

/* The member of a structure, and its offset in bytes; false: it has none. */
static bool find_btf_member(const struct btf *btf, uint32_t type, const char *name,
			    uint32_t *type_ret, uint64_t *offset)
{
	const struct btf_type *t = btf__type_by_id(btf, type);
	const struct btf_member *members = t ? btf_members(t) : NULL;

	for (uint32_t i = 0; t && btf_is_struct(t) && i < btf_vlen(t); i++) {
		const char *found = btf__name_by_offset(btf, members[i].name_off);

		if (!found || strcmp(found, name) != 0)
			continue;
		*type_ret = members[i].type;
		*offset += btf_member_bit_offset(t, i) / 8;
		return true;
	}
	return false;
}

uint64_t hi_bpf_find_fs_base(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int32_t task =
		btf ? btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) : -1;
	uint64_t offset = 0;
	uint32_t thread, base;
	bool found = task > 0 &&
		     find_btf_member(btf, (uint32_t)task, "thread", &thread, &offset) &&
		     find_btf_member(btf, thread, "fsbase", &base, &offset);

	btf__free(btf);
	return found ? offset : 0;
}

void hi_sampling_table_fill(struct hi_sampling_table *table)
{
	const double one = 1u << HI_SAMPLING_FRACTION_BITS;

	for (int i = 0; i < HI_SAMPLING_BINS; i++)
		table->quantiles[i] =
			(uint32_t)llround(one * -log1p(-(double)i / HI_SAMPLING_BINS));
}

bool hi_bpf_source_keeps_callers(const struct hi_bpf_source *source)
{
	bool has_calls = source->scan_ns != 0;

	for (size_t i = 0; i < source->functions.count; i++)
		has_calls |= source->functions.items[i].does.family == HI_FAMILY_CALLS;
	return has_calls;
}

int hi_bpf_source_fill_given(struct hi_bpf_source *source)
{
	struct bpf_map *map = bpf_object__find_map_by_name(source->object, ".rodata");
	struct hi_bpf_events_given given = {
		.keeps_callers = hi_bpf_source_keeps_callers(source),
		.has_task_regs =
			libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
						BPF_FUNC_task_pt_regs, NULL) == 1,
		.pool_size = source->functions.pool_size,
		.scan_steps = hi_ticks_steps(source->scan_ns)};

	if (given.scan_steps)
		given.scan_step_ns = source->scan_ns / given.scan_steps;
	hi_sampling_table_fill(&given.sampling);
	for (size_t i = 0; i < source->functions.count; i++)
		given.functions[i] = source->functions.items[i].does;
	return map ? bpf_map__set_initial_value(map, &given, sizeof(given)) : -ENOENT;
}
