/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/alloc/alloc_report.h"

static void put_space_amount(struct hi_json *json, const char *key,
			     struct hi_space_amount amount)
{
	hi_json_object(json, key);
	hi_json_number(json, "number", amount.number);
	hi_json_number(json, "size", amount.size);
	hi_json_number(json, "overhead", amount.overhead);
	hi_json_end(json);
}

/* Up to the last age that has something. */
static void put_ages(struct hi_json *json, const struct hi_space_row *row)
{
	uint32_t last = hi_space_last_age(row);

	hi_json_array(json, "ages");
	for (uint32_t age = 0; age <= last; age++)
		put_space_amount(json, NULL, hi_space_at_age(row, age));
	hi_json_end(json);
	hi_json_array(json, "live_ages");
	for (uint32_t age = 0; age <= last; age++)
		put_space_amount(json, NULL, hi_space_live_at_age(row, age));
	hi_json_end(json);
}

static void put_space_sums(struct hi_json *json, const struct hi_space_row *row)
{
	put_space_amount(json, "alloc", hi_space_at_age(row, 0));
	put_space_amount(json, "survived", hi_space_survived(row));
	put_space_amount(json, "live", hi_space_live(row));
}

static void put_space_row(struct hi_json *json, const struct hi_space_row *row)
{
	put_space_sums(json, row);
	put_ages(json, row);
}

static void put_callers(struct hi_json *json, const struct hi_alloc_function *f,
			bool has_times)
{
	hi_json_array(json, "callers");
	for (size_t i = 0; i < f->n_callers; i++) {
		const struct hi_alloc_caller *c = &f->callers[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "name", c->name);
		hi_json_text(json, "file", c->file);
		hi_json_number(json, "level", c->level);
		put_space_amount(json, "alloc", hi_space_at_age(&c->row, 0));
		put_space_amount(json, "survived", hi_space_survived(&c->row));
		put_space_amount(json, "live", hi_space_live(&c->row));
		if (has_times)
			hi_space_time_json(&c->time, true, json);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void put_alloc_types(struct hi_json *json, const struct hi_alloc_function *f)
{
	hi_json_array(json, "types");
	for (size_t i = 0; i < f->n_types; i++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "name", f->types[i].name);
		put_space_row(json, f->types[i].row);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void put_counted_calls(struct hi_json *json, const struct hi_alloc_report *r)
{
	hi_json_array(json, "counted");
	for (size_t i = 0; i < r->n_calls; i++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "name", r->calls[i].name);
		hi_json_text(json, "module", r->calls[i].module);
		hi_json_number(json, "calls", r->calls[i].calls);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "call_ns", r->call_ns);
}

static void put_alloc_function(struct hi_json *json, const struct hi_alloc_report *r,
			       const struct hi_alloc_function *f)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "name", f->name);
	hi_json_text(json, "file", f->file);
	hi_json_text(json, "module", f->module);
	if (f->calls != HI_CALLS_NOT_COUNTED)
		hi_json_number(json, "calls", f->calls);
	if (r->time.scan_ns && hi_alloc_shows(f, HI_ALLOC_TIME))
		hi_space_time_json(&f->time, false, json);
	if (hi_alloc_shows(f, HI_ALLOC_SPACE))
		put_space_sums(json, &f->all);
	if (hi_alloc_shows(f, HI_ALLOC_COPIES))
		put_ages(json, &f->all);
	if (hi_alloc_shows(f, HI_ALLOC_TYPES))
		put_alloc_types(json, f);
	if (r->callers && f->callers)
		put_callers(json, f, r->time.scan_ns);
	hi_json_end(json);
}

static void put_alloc_line(struct hi_json *json, const struct hi_alloc_line *line)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "at_ns", line->at_ns);
	put_space_amount(json, "born", line->amounts.born);
	put_space_amount(json, "died", line->amounts.died);
	put_space_amount(json, "live", line->amounts.live);
	put_space_amount(json, "older", line->older);
	hi_json_end(json);
}

static void put_alloc_pauses(struct hi_json *json, const struct hi_alloc_report *r)
{
	hi_json_array(json, "pauses");
	for (uint32_t i = 0; i < r->n_pauses; i++) {
		hi_json_object(json, NULL);
		hi_json_number(json, "from_ns", r->pauses[i].from_ns);
		hi_json_number(json, "to_ns", r->pauses[i].to_ns);
		hi_json_number(json, "calls", r->pauses[i].calls);
		hi_json_number(json, "bytes", r->pauses[i].bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static const char *const words_of_by[] = {[HI_ALLOC_BY_FUNCTION] = "function",
					  [HI_ALLOC_BY_CENTRE] = "centre",
					  [HI_ALLOC_BY_MARK] = "mark"};

void hi_alloc_json(const struct hi_alloc_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/alloc/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)r->pid);
	hi_json_text(json, "exe", r->exe);
	hi_json_end(json);
	hi_json_number(json, "lasted_ns", r->lasted_ns);
	hi_json_number(json, "sample_bytes", r->sample_bytes);
	hi_json_number(json, "lost_events", r->lost);
	hi_json_bool(json, "costs_computed", r->has_costs);
	hi_json_number(json, "left_out_censuses", r->left_out);
	hi_json_text(json, "select", r->select);
	hi_json_text(json, "by", words_of_by[r->by]);
	hi_json_text(json, "from_mark", r->from_mark);
	hi_json_text(json, "to_mark", r->to_mark);
	put_alloc_pauses(json, r);
	put_counted_calls(json, r);
	hi_json_array(json, "censuses");
	for (uint32_t i = 0; i < r->n_lines; i++)
		put_alloc_line(json, &r->lines[i]);
	hi_json_end(json);
	hi_alloc_time_json(r, json);
	hi_json_number(json, "selected", r->n_selected);
	hi_json_object(json, "total");
	put_space_row(json, &r->total);
	hi_json_end(json);
	hi_json_array(json, "functions");
	for (size_t i = 0; i < r->n_functions; i++)
		put_alloc_function(json, r, &r->functions[i]);
	hi_json_end(json);
	hi_json_object(json, "hidden");
	hi_json_number(json, "rows", r->hidden.rows);
	hi_json_number(json, "bytes", r->hidden.bytes);
	hi_json_end(json);
	hi_json_end(json);
}
