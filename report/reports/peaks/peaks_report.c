/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/peaks/peaks_report.h"

static const char *detail_word(unsigned detail)
{
	static const char *const words[] = {[HI_PEAK_TOTALS] = "totals",
					    [HI_PEAK_TYPES] = "types",
					    [HI_PEAK_OBJECTS] = "functions"};

	return words[detail];
}

static struct hi_doc_value detail_of_peak(const struct hi_doc_row *row)
{
	return hi_doc_number(((const struct hi_peak *)row->row)->detail);
}

/* Peaks of one report differ in what is known of them. */
static void put_peak_rows(const struct hi_doc_row *row, const struct hi_doc_field *field,
			  struct hi_json *json)
{
	const struct hi_peak *p = row->row;
	struct hi_doc_row of = *row;
	struct hi_doc_value rows = hi_doc_nested(p->rows, p->n_shown);

	of.variant = 1u << p->detail;
	hi_doc_put_value(field, &rows, &of, json);
}

static const struct hi_doc_field peak_total_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_peak, in_objects)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_peak, bytes)},
};
static const struct hi_doc_fields peak_total =
	HI_DOC_FIELDS(peak_total_fields, .meaning = "of all rows, the hidden ones too");

static struct hi_doc_value hidden_rows_of_peak(const struct hi_doc_row *row)
{
	const struct hi_peak *p = row->row;

	return hi_doc_number(p->n_rows - p->n_shown);
}

static struct hi_doc_value hidden_bytes_of_peak(const struct hi_doc_row *row)
{
	const struct hi_peak *p = row->row;
	uint64_t bytes = 0;

	for (size_t i = p->n_shown; i < p->n_rows; i++)
		bytes += p->rows[i].bytes;
	return hi_doc_number(bytes);
}

static const struct hi_doc_field hidden_of_peak_fields[] = {
	{"rows", NULL, HI_DOC_COUNT, .value = hidden_rows_of_peak},
	{"bytes", NULL, HI_DOC_BYTES, .value = hidden_bytes_of_peak},
};
static const struct hi_doc_fields hidden_of_peak = HI_DOC_FIELDS(hidden_of_peak_fields);

static const struct hi_doc_field peak_fields[] = {
	{"census", NULL, HI_DOC_COUNT, HI_AT(struct hi_peak, point.census), .least = 1},
	{"at_ns", NULL, HI_DOC_COUNT, HI_AT(struct hi_peak, point.wall_ns),
	 .meaning = "since the first census"},
	{"time_ns", NULL, HI_DOC_COUNT, HI_AT(struct hi_peak, time_ns),
	 .meaning = "since 1970"},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_peak, point.bytes),
	 .meaning = "live: a root leads to them"},
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_peak, objects),
	 .meaning = "live"},
	{"global_maximum", NULL, HI_DOC_FLAG, HI_AT(struct hi_peak, is_top)},
	{"detail", NULL, HI_DOC_WORD, .value = detail_of_peak, .word = detail_word,
	 .n_words = HI_PEAK_OBJECTS + 1,
	 .meaning = "functions: rows are by function, type and age, of what was not "
		    "freed; types: by type of what is live, as there is no recording; "
		    "totals: the same, as the objects of the census are not in the file"},
	{"damaged", NULL, HI_DOC_FLAG, HI_AT(struct hi_peak, is_damaged),
	 .meaning = "its objects are in the file, but cannot be read"},
	{"sample_bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_peak, sample_bytes),
	 .meaning = "mean distance of samples, of which rows are estimates then; 0: all "
		    "allocations were recorded"},
	{"total", NULL, HI_DOC_OBJECT, .nested = &peak_total},
	{"rows", NULL, HI_DOC_ROWS, .put = put_peak_rows, .nested = &hi_peak_row_fields,
	 .meaning = "most bytes first"},
	{"hidden", NULL, HI_DOC_OBJECT, .nested = &hidden_of_peak},
};
static const struct hi_doc_fields peaks =
	HI_DOC_FIELDS(peak_fields, .row_size = sizeof(struct hi_peak));

static const struct hi_doc_field point_fields[] = {
	{"census", NULL, HI_DOC_COUNT, HI_AT(struct hi_peaks_point, census), .least = 1},
	{"at_ns", NULL, HI_DOC_COUNT, HI_AT(struct hi_peaks_point, wall_ns),
	 .meaning = "since the first census"},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_peaks_point, bytes),
	 .meaning = "live"},
};
static const struct hi_doc_fields points =
	HI_DOC_FIELDS(point_fields, .row_size = sizeof(struct hi_peaks_point));

static const struct hi_doc_field target_fields[] = {
	{"pid", NULL, HI_DOC_COUNT, HI_AT(struct hi_peaks_report, pid)},
	{"exe", NULL, HI_DOC_TEXT, HI_AT(struct hi_peaks_report, exe)},
};
static const struct hi_doc_fields target = HI_DOC_FIELDS(target_fields);

static const struct hi_doc_field fields[] = {
	{"target", NULL, HI_DOC_OBJECT, .nested = &target},
	{"file", NULL, HI_DOC_TEXT, HI_AT(struct hi_peaks_report, file)},
	{"damaged", NULL, HI_DOC_BYTES, HI_AT(struct hi_peaks_report, damaged),
	 .meaning = "bytes of the file that are no part of it"},
	{"lost", NULL, HI_DOC_COUNT, HI_AT(struct hi_peaks_report, lost),
	 .meaning = "parts of the file that are missing"},
	{"censuses", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_peaks_report, points, n_points), .nested = &points,
	 .least = 1, .meaning = "the curve"},
	{"peaks", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_peaks_report, peaks, n_peaks),
	 .nested = &peaks, .least = 1, .meaning = "in the order of time"},
};
const struct hi_doc_fields hi_peaks_document = HI_DOC_FIELDS(
	fields,
	.meaning = "What was live at the maximum of a file of many censuses, and at its "
		   "highest local maxima: from these live bytes fall by 5 % on both "
		   "sides before they are higher again.");

void hi_peaks_json(const struct hi_peaks_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/peaks/v1");
	hi_doc_put_report(&hi_peaks_document, r, 0, json);
	hi_json_end(json);
}
