/* SPDX-License-Identifier: BSD-2-Clause */
/* The document "heapinspect/summary/v1": docs/schema/summary.v1.json. */
#include "report/document.h"
#include "report/parts/decoded_share.h"
#include "report/parts/made_by.h"
#include "report/reports/summary/summary_report.h"

static void write_ledger(const struct hi_ledger *l, struct hi_json *json)
{
	if (!l) {
		hi_json_null(json, "ledger");
		return;
	}
	hi_json_object(json, "ledger");
	hi_json_number(json, "rss", l->rss);
	for (size_t i = 0; i < l->n_rows; i++)
		if (l->rows[i].level == 0)
			hi_json_number(json, l->rows[i].key, l->rows[i].resident);
	if (l->rss == HI_UNKNOWN)
		hi_json_null(json, "unknown");
	else
		hi_json_signed(json, "unknown", l->unknown);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < l->n_rows; i++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "key", l->rows[i].key);
		hi_json_signed(json, "level", l->rows[i].level);
		hi_json_number(json, "resident", l->rows[i].resident);
		hi_json_number(json, "virtual", l->rows[i].virtual_size);
		hi_json_number(json, "swapped", l->rows[i].swapped);
		hi_json_number(json, "count", l->rows[i].count);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

/* A number that is known only where the heap is. */
static void heap_number(const struct hi_summary_report *r, struct hi_json *json,
			const char *key, uint64_t number)
{
	hi_json_number(json, key, r->heap_known ? number : UINT64_MAX);
}

static void leak_number(const struct hi_summary_report *r, struct hi_json *json,
			const char *key, uint64_t number)
{
	heap_number(r, json, key, hi_heap_if_known(r->header, number));
}

static void write_totals(const struct hi_summary_report *r, struct hi_json *json)
{
	hi_json_object(json, "objects");
	heap_number(r, json, "live", r->live_objects);
	leak_number(r, json, "leak", r->leak_objects - r->likely_objects);
	leak_number(r, json, "likely", r->likely_objects);
	hi_json_end(json);
	hi_json_object(json, "bytes");
	heap_number(r, json, "live", r->live_bytes);
	leak_number(r, json, "leak", r->leak_bytes - r->likely_bytes);
	leak_number(r, json, "likely", r->likely_bytes);
	hi_json_end(json);
}

static void write_types(const struct hi_summary_report *r, struct hi_json *json)
{
	hi_json_array(json, "types");
	for (size_t i = 0; i < r->n_types; i++) {
		const struct hi_summary_type *t = &r->types[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", hi_type_key(t->type));
		hi_json_number(json, "count", t->count);
		hi_json_number(json, "shallow", t->shallow);
		hi_json_number(json, "retained", t->retained);
		hi_json_text(json, "evidence", hi_evidence_key(t->evidence));
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void write_roots(const struct hi_summary_report *r, struct hi_json *json)
{
	hi_json_array(json, "root_kinds");
	for (unsigned k = 0; k < HI_ROOT_KINDS; k++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "kind", hi_root_kind_key((enum hi_root_kind)k));
		hi_json_number(json, "count", r->kind_roots[k]);
		heap_number(r, json, "retained", r->kinds[k]);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_array(json, "roots");
	for (size_t i = 0; i < r->n_roots; i++) {
		const struct hi_node_info *root = &r->roots[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "kind", hi_root_kind_key(root->kind));
		hi_json_text(json, "name", root->name);
		hi_json_number(json, "retained", root->retained);
		hi_json_text(json, "type", hi_known(root->type));
		hi_json_text(json, "detail", hi_known(root->detail));
		hi_json_address(json, "address", root->address);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void write_owners(const struct hi_summary_report *r, struct hi_json *json)
{
	hi_json_array(json, "owners");
	for (size_t i = 0; i < r->n_owners; i++) {
		const struct hi_summary_owner *o = &r->owners[i];

		hi_json_object(json, NULL);
		hi_json_array(json, "variables");
		for (size_t k = 0; k < o->n; k++) {
			hi_json_object(json, NULL);
			hi_json_text(json, "kind",
				     hi_root_kind_key(o->variables[k].kind));
			hi_json_text(json, "name", o->variables[k].name);
			hi_json_end(json);
		}
		hi_json_end(json);
		hi_json_bool(json, "many", o->is_many);
		hi_json_number(json, "retained", o->bytes);
		hi_json_text(json, "type", hi_known(o->largest.type));
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void write_cycles(const struct hi_leak_cycles *cycles, struct hi_json *json)
{
	if (!cycles || !cycles->n_rows)
		return;
	hi_json_array(json, "cycles");
	for (size_t i = 0; i < cycles->n_rows; i++) {
		hi_json_object(json, NULL);
		hi_doc_put_report(&hi_leak_cycle_fields, &cycles->rows[i], 0, json);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void write_leaks(const struct hi_summary_report *r, struct hi_json *json)
{
	hi_json_object(json, "leaks");
	leak_number(r, json, "bytes", r->leak_bytes - r->likely_bytes);
	leak_number(r, json, "objects", r->leak_objects - r->likely_objects);
	leak_number(r, json, "likely_bytes", r->likely_bytes);
	leak_number(r, json, "likely_objects", r->likely_objects);
	hi_heap_leaks_json(r->header, r->leak_bytes - r->likely_bytes,
			   r->leak_objects - r->likely_objects, json);
	hi_unread_json(&r->unread, json);
	if (r->by_class)
		hi_unreachable_classes_json(r->by_class, json);
	hi_json_array(json, "roots");
	for (size_t i = 0; i < r->n_leaks; i++) {
		const struct hi_summary_leak *l = &r->leaks[i];

		hi_json_object(json, NULL);
		hi_leak_name_json(&l->kind, json);
		hi_json_text(json, "shape", hi_leak_shape_key(l->shape));
		if (r->by_class)
			hi_json_text(json, "fate",
				     hi_unreachable_class_key(l->unreachable_class));
		hi_json_text(json, "verdict", hi_leak_verdict_key(l->is_likely));
		hi_json_number(json, "count", l->count);
		hi_json_number(json, "bytes", l->bytes);
		hi_json_number(json, "objects", l->objects);
		hi_json_address(json, "example", l->example);
		hi_made_by_json("made_by", &l->made_by, json);
		hi_json_end(json);
	}
	hi_json_end(json);
	write_cycles(r->cycles, json);
	hi_json_end(json);
}

static void write_suspects(const char *key, const struct hi_summary_suspect *suspects,
			   size_t n, struct hi_json *json)
{
	hi_json_array(json, key);
	for (size_t i = 0; i < n; i++) {
		const struct hi_summary_suspect *s = &suspects[i];

		hi_json_object(json, NULL);
		hi_node_json(&s->top, json);
		hi_json_object(json, "accumulation");
		hi_node_json(&s->accumulation, json);
		hi_json_end(json);
		hi_json_escaped(json, "path", hi_known(s->path));
		hi_json_text(json, "child_type", hi_type_key(s->child_type));
		hi_json_number(json, "children", s->children);
		hi_json_number(json, "children_bytes", s->children_bytes);
		hi_json_bool(json, "list", s->is_list);
		hi_made_by_json("made_by", &s->made_by, json);
		hi_json_end(json);
	}
	hi_json_end(json);
}

void hi_summary_json(const struct hi_summary_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/summary/v1", json);
	write_ledger(r->ledger, json);
	write_totals(r, json);
	write_types(r, json);
	write_roots(r, json);
	write_owners(r, json);
	write_leaks(r, json);
	write_suspects("suspects", r->suspects, r->suspects_below ? 0 : r->n_suspects,
		       json);
	write_suspects("lesser_suspects", r->lesser, r->n_lesser, json);
	hi_json_end(json);
}
