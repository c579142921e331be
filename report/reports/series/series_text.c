/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/series/series_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/render/text_internal.h"

enum { LARGEST = 3, NAME_COLUMNS = 40 };

char *hi_series_time_text(char out[32], const struct hi_series_header *header,
			  uint64_t at_ns)
{
	if (header->axis == HI_SERIES_CENSUS)
		snprintf(out, 32, "census %" PRIu64, at_ns / 1000000000);
	else
		snprintf(out, 32, "%" PRIu64 ".%03" PRIu64 " s", at_ns / 1000000000,
			 at_ns / 1000000 % 1000);
	return out;
}

char *hi_series_change_text(char out[32], uint64_t before, uint64_t now)
{
	char bytes[24];

	snprintf(out, 32, "%s%s",
		 now > before	? "+"
		 : now < before ? "-"
				: "",
		 hi_text_bytes(bytes, now > before ? now - before : before - now));
	return out;
}

static bool add_largest(const struct hi_series_header *header,
			const struct hi_series_sample *s,
			const struct hi_text_style *style, struct hi_page *page,
			FILE *out)
{
	char bytes[24];

	for (size_t i = 0; i < s->n_rows; i++)
		hi_type_names_add(&page->type_names, s->rows[i].name);
	for (size_t i = 0; i < s->n_rows && i < LARGEST; i++) {
		const char *name =
			hi_page_type(page, hi_series_name(header, &s->rows[i]));

		name = hi_text_fit(style, &page->arena, name, NAME_COLUMNS);
		if (!name)
			return false;
		fprintf(out, "%s%s %s", i ? ", " : "  ", name,
			hi_text_bytes(bytes, s->rows[i].bytes));
	}
	return !page->failed;
}

enum hi_status hi_series_text(const struct hi_series_header *header,
			      const struct hi_series_sample *s, uint64_t before,
			      const struct hi_text_options *looks, FILE *out,
			      struct hi_error *err)
{
	struct hi_text_style style = {.width = looks->width, .utf8 = looks->utf8};
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	char time[32], live[24], change[32], objects[32], pause[24], line[512];
	char leaks[160];
	FILE *largest;
	bool fine;

	if (!page)
		return hi_fail_memory(err, "text");
	page->type_names.keep_full = looks->full_names;
	memset(line, 0, sizeof(line));
	largest = fmemopen(line, sizeof(line), "w");
	if (!largest)
		return hi_fail_memory(err, "text");
	fine = add_largest(header, s, &style, page, largest);
	fclose(largest);
	line[sizeof(line) - 1] = '\0';
	if (!fine)
		return hi_fail_memory(err, "text");
	fprintf(out, "%12s %10s %11s %11s objects, paused %8s",
		hi_series_time_text(time, header, s->at_ns),
		hi_text_bytes(live, s->bytes),
		s->number > 1 ? hi_series_change_text(change, before, s->bytes) : "",
		hi_text_count(objects, s->objects), hi_text_duration(pause, s->pause_ns));
	fputs(line, out);
	if (*hi_leak_totals_text(leaks, sizeof(leaks), &s->leaks))
		fprintf(out, "; %s", leaks);
	if (s->only && s->only->hidden_bytes)
		fprintf(out, "; hidden: %s", hi_text_bytes(live, s->only->hidden_bytes));
	if (s->only && s->only->many_bytes)
		fprintf(out, ", %s of it in MANY (not known whose)",
			hi_text_bytes(live, s->only->many_bytes));
	fputc('\n', out);
	return HI_OK;
}
