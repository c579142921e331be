/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/phases.h"

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
