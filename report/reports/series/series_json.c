/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/series/series_json.h"

#include "report/json_writer.h"
#include "report/parts/report_node.h"

static void begin_series_line(struct hi_json *json, const struct hi_series_header *header,
			      const char *schema, FILE *out)
{
	static const char *const axes[] = {"cpu", "wall", "census"};

	hi_json_init(json, out);
	json->one_line = true;
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", schema);
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)header->pid);
	hi_json_text(json, "exe", hi_known(header->exe));
	hi_json_end(json);
	hi_json_text(json, "axis", axes[header->axis]);
}

/* Numbers of censuses are no times. */
static void put_sample_time_json(struct hi_json *json,
				 const struct hi_series_header *header, uint64_t at_ns)
{
	hi_json_number(json, "at_ns",
		       header->axis == HI_SERIES_CENSUS ? UINT64_MAX : at_ns);
}

static void put_series_row_json(const struct hi_series_header *header,
				const struct hi_series_row *row, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "name", hi_series_name(header, row));
	if (row->set) {
		hi_json_number(json, "set", row->set);
		hi_json_array(json, "members");
		for (size_t i = 0; i < row->n_members; i++)
			hi_json_text(json, NULL, row->members[i]);
		hi_json_end(json);
	}
	hi_json_number(json, "bytes", row->bytes);
	hi_json_number(json, "objects", row->objects);
	hi_json_end(json);
}

bool hi_series_json(const struct hi_series_header *header,
		    const struct hi_series_sample *s, FILE *out)
{
	struct hi_json json;

	begin_series_line(&json, header, "heapinspect/series/v1", out);
	put_sample_time_json(&json, header, s->at_ns);
	hi_json_number(&json, "sample", s->number);
	hi_json_number(&json, "cpu_ns", s->cpu_ns);
	hi_json_number(&json, "wall_ns", s->wall_ns);
	hi_json_number(&json, "time_ns", s->time_ns);
	hi_json_number(&json, "pause_ns", s->pause_ns);
	hi_json_number(&json, "took_ns", s->took_ns);
	hi_json_text(&json, "mode", s->mode);
	hi_json_number(&json, "copied_on_write", s->copied_on_write);
	hi_stopped_json(s->stopped, &json);
	hi_json_bool(&json, "complete", s->complete);
	hi_json_text(&json, "unit", "bytes");
	hi_json_text(&json, "by", header->by);
	hi_json_bool(&json, "pure", header->pure);
	hi_json_object(&json, "live");
	hi_json_number(&json, "objects", s->objects);
	hi_json_number(&json, "bytes", s->bytes);
	hi_json_end(&json);
	hi_leak_totals_json(&json, "leaked", &s->leaks);
	hi_json_bool(&json, "lower_bound", s->lower_bound);
	hi_report_restriction_json(s->only, &json);
	hi_json_array(&json, "rows");
	for (size_t i = 0; i < s->n_rows; i++)
		put_series_row_json(header, &s->rows[i], &json);
	hi_json_end(&json);
	hi_json_object(&json, "hidden");
	hi_json_number(&json, "rows", s->hidden.rows);
	hi_json_number(&json, "bytes", s->hidden.bytes);
	hi_json_end(&json);
	hi_json_array(&json, "warnings");
	for (size_t i = 0; i < s->n_warnings; i++)
		hi_json_text(&json, NULL, s->warnings[i]);
	hi_json_end(&json);
	hi_json_end(&json);
	return hi_json_finish(&json);
}

bool hi_series_mark_json(const struct hi_series_header *header, uint64_t at_ns,
			 const char *text, FILE *out)
{
	struct hi_json json;

	begin_series_line(&json, header, "heapinspect/series-mark/v1", out);
	put_sample_time_json(&json, header, at_ns);
	hi_json_text(&json, "mark", text);
	hi_json_end(&json);
	return hi_json_finish(&json);
}

bool hi_series_end_json(const struct hi_series_header *header, enum hi_series_end end,
			uint64_t at_ns, uint64_t samples, FILE *out)
{
	struct hi_json json;

	begin_series_line(&json, header, "heapinspect/series-end/v1", out);
	put_sample_time_json(&json, header, at_ns);
	hi_json_number(&json, "samples", samples);
	hi_json_text(&json, "end", hi_series_end_key(end));
	hi_json_end(&json);
	return hi_json_finish(&json);
}
