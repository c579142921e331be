/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/phases.h"

#include "base/number.h"

/* The length of [begin, begin + length) from *until on, which becomes its end. */
static uint64_t count_beyond(uint64_t begin, uint64_t length, uint64_t *until)
{
	uint64_t end = begin + length, from = hi_max(begin, *until);

	if (end <= from)
		return 0;
	*until = end;
	return end - from;
}

struct hi_phase hi_phases_together(const struct hi_phases *phases)
{
	struct hi_phase all = {.name = "together"};
	uint64_t until = 0, cpu_until = 0, cpu_begin = 0;

	for (size_t i = 0; i < phases->count; i++) {
		const struct hi_phase *p = &phases->items[i];

		/* Another process, whose clock began at 0. */
		if (p->begin_cpu_ns < cpu_begin)
			cpu_until = 0;
		cpu_begin = p->begin_cpu_ns;
		all.ns += count_beyond(p->begin_ns, p->ns, &until);
		all.cpu_ns += count_beyond(p->begin_cpu_ns, p->cpu_ns, &cpu_until);
		all.peak_bytes = hi_max(all.peak_bytes, p->peak_bytes);
	}
	return all;
}

void hi_phases_json(const struct hi_phases *phases, struct hi_json *json)
{
	if (!phases)
		return;
	hi_json_array(json, "phases");
	for (size_t i = 0; i < phases->count; i++) {
		const struct hi_phase *p = &phases->items[i];

		if (!p->ns)
			continue;
		hi_json_object(json, NULL);
		hi_json_text(json, "name", p->name);
		hi_json_number(json, "wall_ns", p->ns);
		hi_json_number(json, "cpu_ns", p->cpu_ns);
		hi_json_number(json, "peak_bytes", p->peak_bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
}
