/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of spacetime_report.h, its page and its document. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/pictures/curve_text.h"
#include "report/reports/spacetime/spacetime_report.h"

enum { LETTERS = 12 }; /* bands that the graph tells apart */

/* "1.5 GiB s": bytes for a second. */
static const char *area_text(struct hi_page *page, const struct hi_area *area)
{
	double bytes = hi_area_byte_seconds(area);
	char text[24];

	if (bytes < 1e18)
		return hi_page_printf(page, "%s s",
				      hi_bytes(text, (uint64_t)(bytes + .5)));
	return hi_page_printf(page, "%.3g B s", bytes);
}

/* ---- fields ---- */

static struct hi_doc_value letter_of_band(const struct hi_doc_row *row)
{
	return hi_doc_shown(
		row->index < LETTERS
			? hi_page_printf(row->page, "%c", hi_stack_letter(row->index))
			: "");
}

static struct hi_doc_value name_of_band(const struct hi_doc_row *row)
{
	const struct hi_spacetime_report *r = row->report;
	struct hi_doc_value value =
		hi_doc_text(((const struct hi_spacetime_band *)row->row)->name);

	if (!*value.text)
		value.shown = "(unknown)";
	else if (row->page && r->is_type)
		value.shown = hi_page_type(row->page, value.text);
	return value;
}

/* What is gone by the last census has no page, nor has "(leaked)". */
static const char *link_to_band(const struct hi_doc_row *row)
{
	const struct hi_spacetime_report *r = row->report;
	const struct hi_spacetime_band *b = row->row;

	if (!b->last || *b->name == '(')
		return "";
	if (strcmp(r->by, "function") == 0)
		return hi_address_of_site(row->page, "census", b->name);
	return strcmp(r->by, "type") == 0 ? hi_address_of_type(row->page, b->name) : "";
}

static struct hi_doc_value area_of_band(const struct hi_doc_row *row)
{
	return hi_doc_shown(area_text(
		row->page, &((const struct hi_spacetime_band *)row->row)->area));
}

/* Without rounding: as text, since readers of JSON take numbers for doubles. */
static void put_byte_seconds(const struct hi_doc_row *row,
			     const struct hi_doc_field *field, struct hi_json *json)
{
	char text[HI_AREA_TEXT];

	hi_json_text(json, field->key, hi_area_decimal(text, row->row));
}

static const struct hi_doc_field area_fields[] = {
	{"byte_seconds", .put = put_byte_seconds,
	 .schema = "\"type\": \"string\", \"pattern\": "
		   "\"^[0-9]+(\\\\.[0-9]{1,10})?$\""}};
static const struct hi_doc_fields area = HI_DOC_FIELDS(area_fields);

/* Areas may not fit into 64 bits. */
static struct hi_doc_value share_of_band(const struct hi_doc_row *row)
{
	const struct hi_spacetime_report *r = row->report;
	const struct hi_spacetime_band *b = row->row;
	double all = hi_area_byte_seconds(&r->total);

	return all > 0 ? hi_doc_part(
				 (uint64_t)(hi_area_byte_seconds(&b->area) / all * 1e12 +
					    .5),
				 1000000000000)
		       : hi_doc_part(0, 0);
}

static const struct hi_doc_field band_fields[] = {
	{NULL, "", HI_DOC_WORD, .value = letter_of_band},
	{"name", "band", HI_DOC_TEXT, .value = name_of_band, .link = link_to_band},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_spacetime_band, area),
	 .nested = &area},
	{NULL, "area", HI_DOC_FIGURE, .value = area_of_band},
	{NULL, "share", HI_DOC_SHARE, .value = share_of_band},
	{"mean", "mean", HI_DOC_BYTES, HI_AT(struct hi_spacetime_band, mean),
	 .meaning = "over time"},
	{"most", "most", HI_DOC_BYTES, HI_AT(struct hi_spacetime_band, most),
	 .meaning = "at one census"},
	{"last", "last", HI_DOC_BYTES, HI_AT(struct hi_spacetime_band, last),
	 .minor = true, .meaning = "bytes at the last census"},
	{"censuses", NULL, HI_DOC_COUNT, HI_AT(struct hi_spacetime_band, samples),
	 .meaning = "at which it has some"},
};
static const struct hi_doc_fields bands =
	HI_DOC_FIELDS(band_fields, .row_size = sizeof(struct hi_spacetime_band));

static struct hi_doc_value censuses_of_spacetime(const struct hi_doc_row *row)
{
	const struct hi_spacetime_report *r = row->report;

	return hi_doc_nested(r->times_ns, r->series->n_samples);
}

static struct hi_doc_value time_of_drawn_census(const struct hi_doc_row *row)
{
	return hi_doc_number(*(const uint64_t *)row->row);
}

static struct hi_doc_value bytes_of_drawn_census(const struct hi_doc_row *row)
{
	const struct hi_spacetime_report *r = row->report;

	return hi_doc_number(r->totals[row->index]);
}

static const struct hi_doc_field census_fields[] = {
	{"at_ns", NULL, HI_DOC_COUNT, .value = time_of_drawn_census,
	 .meaning = "since the first one of these"},
	{"bytes", NULL, HI_DOC_BYTES, .value = bytes_of_drawn_census,
	 .meaning = "of all bands"},
};
static const struct hi_doc_fields censuses =
	HI_DOC_FIELDS(census_fields, .row_size = sizeof(uint64_t));

static const struct hi_doc_field total_fields[] = {
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_spacetime_report, total),
	 .nested = &area},
	{"mean", NULL, HI_DOC_BYTES, HI_AT(struct hi_spacetime_report, mean),
	 .meaning = "over time"},
	{"most", NULL, HI_DOC_BYTES, HI_AT(struct hi_spacetime_report, most),
	 .meaning = "at one census"},
};
static const struct hi_doc_fields total = HI_DOC_FIELDS(total_fields);

static const struct hi_doc_field hidden_fields[] = {
	{"bands", NULL, HI_DOC_COUNT, HI_AT(struct hi_spacetime_hidden, bands)},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_spacetime_hidden, area),
	 .nested = &area},
};
static const struct hi_doc_fields hidden = HI_DOC_FIELDS(hidden_fields);

static const struct hi_doc_field spacetime_fields[] = {
	{"file", NULL, HI_DOC_TEXT, HI_AT(struct hi_spacetime_report, file)},
	{"by", NULL, HI_DOC_WORD, HI_AT(struct hi_spacetime_report, by),
	 .schema = "\"enum\": [\"type\", \"function\", \"retainer\", \"biography\", "
		   "\"profile\"]",
	 .meaning = "what the bands are; profile: those of a heap profile"},
	{"lasted_ns", NULL, HI_DOC_COUNT, HI_AT(struct hi_spacetime_report, duration_ns),
	 .meaning = "from the first census to the last one"},
	{"left_out_censuses", NULL, HI_DOC_COUNT,
	 HI_AT(struct hi_spacetime_report, left_out),
	 .meaning = "censuses of the file that do not have what the bands need"},
	{"damaged", NULL, HI_DOC_BYTES, HI_AT(struct hi_spacetime_report, damaged),
	 .meaning = "bytes of the file that are no part of it"},
	{"lost", NULL, HI_DOC_COUNT, HI_AT(struct hi_spacetime_report, lost),
	 .meaning = "parts of the file that are missing"},
	{"censuses", NULL, HI_DOC_ROWS, .value = censuses_of_spacetime,
	 .nested = &censuses, .least = 1},
	{"total", NULL, HI_DOC_OBJECT, .nested = &total},
	{"bands", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_spacetime_report, bands, n_shown), .nested = &bands,
	 .meaning = "the largest area first"},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_spacetime_report, hidden),
	 .nested = &hidden},
};
const struct hi_doc_fields hi_spacetime_document = HI_DOC_FIELDS(
	spacetime_fields,
	.meaning = "Live bytes in bands over time, and the area of each band: bytes x "
		   "seconds. Between two censuses a band is a straight line. Areas are "
		   "decimal numbers as text, without rounding: those of all bands, the "
		   "hidden ones too, add up to the total.");

void hi_spacetime_json(const struct hi_spacetime_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/spacetime/v1");
	hi_doc_put_report(&hi_spacetime_document, r, 0, json);
	hi_json_end(json);
}

/* ---- as a page ---- */

static void note_hidden_bands(const struct hi_spacetime_report *r, struct hi_page *page)
{
	char n[32];

	if (r->hidden.bands)
		hi_page_note(page, hi_page_printf(page, "%s more (%s; --all)",
						  hi_count(n, r->hidden.bands),
						  area_text(page, &r->hidden.area)));
}

static void show_spacetime_graph(const struct hi_spacetime_report *r, unsigned width,
				 struct hi_page *page)
{
	const struct hi_hp_series *s = r->series;
	size_t *letters =
		hi_arena_alloc(&page->arena, (r->n_bands + 1) * sizeof(*letters));

	if (!letters) {
		page->failed = true;
		return;
	}
	for (size_t i = 0; i < r->n_bands; i++)
		letters[r->bands[i].id] = i < LETTERS ? i : (size_t)LETTERS;
	hi_page_blank(page);
	hi_stack_display(&(struct hi_stack){.times_ns = r->times_ns,
					    .totals = r->totals,
					    .n_samples = s->n_samples,
					    .starts = s->starts,
					    .points = s->points,
					    .letters = letters,
					    .n_letters = LETTERS},
			 width, page);
	hi_page_blank(page);
}

void hi_spacetime_display(const struct hi_spacetime_report *r, unsigned width,
			  struct hi_page *page)
{
	size_t n = r->series->n_samples, graph;
	char time[24], bytes[24], count[32];

	hi_page_title(
		page, hi_page_safe(page, r->series->job),
		hi_page_printf(
			page, "%s census%s in %s", hi_count(count, n), n == 1 ? "" : "es",
			r->duration_ns ? hi_text_duration(time, r->duration_ns) : "0 s"));
	hi_page_fact(page, "area",
		     hi_page_printf(page, "%s in %s band%s: bytes x time",
				    area_text(page, &r->total),
				    hi_count(count, r->n_bands),
				    r->n_bands == 1 ? "" : "s"));
	hi_page_fact(page, "mean", hi_page_printf(page, "%s", hi_bytes(bytes, r->mean)));
	hi_page_fact(page, "most", hi_page_printf(page, "%s", hi_bytes(bytes, r->most)));
	if (r->left_out)
		hi_page_fact(page, "left out",
			     hi_page_printf(page,
					    "%s censuses, of which the file does not "
					    "have what the bands need",
					    hi_count(count, r->left_out)));
	if (r->damaged || r->lost)
		hi_page_warning(page,
				hi_page_printf(page,
					       "the file is damaged: %s between its "
					       "censuses, %s parts are missing",
					       hi_bytes(bytes, r->damaged),
					       hi_count(count, r->lost)));
	graph = page->items.count;
	if (!r->duration_ns) {
		hi_page_note(page, "no time passes: there is no area");
	} else {
		show_spacetime_graph(r, width, page);
		hi_page_only_text(page, graph);
	}
	hi_spacetime_picture(r, page);
	hi_doc_show_rows(page, &bands, r, 0, r->bands, r->n_shown);
	note_hidden_bands(r, page);
}
