/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/leak_totals.h"

#include <stdio.h>

#include "base/text.h"
#include "report/parts/decoded_share.h"

struct hi_leak_totals hi_leak_totals_if_known(const struct hi_report_header *header,
					      struct hi_leak_totals s)
{
	return hi_heap_known(header) == HI_HEAP_KNOWN ? s : hi_leak_totals_unknown();
}

char *hi_leak_totals_text(char *out, size_t size, const struct hi_leak_totals *s)
{
	const struct {
		uint64_t bytes;
		const char *what;
	} parts[] = {{s->certain.bytes, "leaked"},
		     {s->likely.bytes, "likely leaked"},
		     {s->garbage.bytes, "garbage"}};
	size_t used = 0;
	char bytes[24];

	if (s->certain.bytes == UINT64_MAX) {
		snprintf(out, size, "leaks are unknown");
		return out;
	}
	*out = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].bytes && parts[i].bytes != UINT64_MAX && used < size)
			used += (size_t)snprintf(
				out + used, size - used, "%s%s %s", used ? ", " : "",
				hi_text_bytes(bytes, parts[i].bytes), parts[i].what);
	return out;
}

void hi_leak_totals_json(struct hi_json *json, const char *certain,
			 const struct hi_leak_totals *s)
{
	hi_json_number(json, certain, s->certain.bytes);
	hi_json_number(json, "likely", s->likely.bytes);
	hi_json_number(json, "garbage", s->garbage.bytes);
	hi_json_number(json, "uncollectable", s->uncollectable.bytes);
	hi_json_number(json, "lost", s->lost.bytes);
}
