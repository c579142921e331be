/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/peaks/peaks_report.h"

static const char *detail_word(enum hi_peak_detail detail)
{
	static const char *const words[] = {[HI_PEAK_TOTALS] = "totals",
					    [HI_PEAK_TYPES] = "types",
					    [HI_PEAK_OBJECTS] = "functions"};

	return words[detail];
}

static void put_peak_row(struct hi_json *json, const struct hi_peak_row *row,
			 enum hi_peak_detail detail)
{
	hi_json_object(json, NULL);
	if (detail == HI_PEAK_OBJECTS) {
		hi_json_text(json, "function", row->function);
		hi_json_text(json, "file", row->file);
		hi_json_text(json, "module", row->module);
	}
	hi_json_text(json, "type", row->type);
	if (detail == HI_PEAK_OBJECTS)
		hi_json_number(json, "age", row->age ? row->age : UINT64_MAX);
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_end(json);
}

static void put_hidden_of_peak(struct hi_json *json, const struct hi_peak *peak)
{
	struct hi_hidden hidden = {};

	for (size_t i = peak->n_shown; i < peak->n_rows; i++)
		hi_hidden_add(&hidden, peak->rows[i].bytes);
	hi_json_object(json, "hidden");
	hi_json_number(json, "rows", hidden.rows);
	hi_json_number(json, "bytes", hidden.bytes);
	hi_json_end(json);
}

static void put_peak(struct hi_json *json, const struct hi_peak *peak)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "census", peak->point.census);
	hi_json_number(json, "at_ns", peak->point.wall_ns);
	hi_json_number(json, "time_ns", peak->time_ns);
	hi_json_number(json, "bytes", peak->point.bytes);
	hi_json_number(json, "objects", peak->objects);
	hi_json_bool(json, "global_maximum", peak->is_top);
	hi_json_text(json, "detail", detail_word(peak->detail));
	hi_json_bool(json, "damaged", peak->is_damaged);
	hi_json_number(json, "sample_bytes", peak->sample_bytes);
	hi_json_object(json, "total");
	hi_json_number(json, "objects", peak->in_objects);
	hi_json_number(json, "bytes", peak->bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < peak->n_shown; i++)
		put_peak_row(json, &peak->rows[i], peak->detail);
	hi_json_end(json);
	put_hidden_of_peak(json, peak);
	hi_json_end(json);
}

void hi_peaks_json(const struct hi_peaks_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/peaks/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)r->pid);
	hi_json_text(json, "exe", r->exe);
	hi_json_end(json);
	hi_json_text(json, "file", r->file);
	hi_json_number(json, "damaged", r->damaged);
	hi_json_number(json, "lost", r->lost);
	hi_json_array(json, "censuses");
	for (size_t i = 0; i < r->n_points; i++) {
		hi_json_object(json, NULL);
		hi_json_number(json, "census", r->points[i].census);
		hi_json_number(json, "at_ns", r->points[i].wall_ns);
		hi_json_number(json, "bytes", r->points[i].bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_array(json, "peaks");
	for (size_t i = 0; i < r->n_peaks; i++)
		put_peak(json, &r->peaks[i]);
	hi_json_end(json);
	hi_json_end(json);
}
