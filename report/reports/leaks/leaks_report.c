/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/leaks/leaks_report.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/made_by.h"
#include "report/parts/report_links.h"

static void add_leak_report_rows(struct hi_leaks_report *r, const struct hi_graph *g,
				 const struct hi_leaks *leaks,
				 const struct hi_restrict *only)
{
	for (size_t i = 0; i < leaks->n_rows; i++) {
		const struct hi_leak_row *row = &leaks->rows[i];

		if (!hi_type_set_has(only->types, row->type))
			hi_hidden_add(&r->hidden.by_type, row->bytes);
		else if (row->bytes < only->min_size)
			hi_hidden_add(&r->hidden.by_min_size, row->bytes);
		else if (r->n_rows >= only->top)
			hi_hidden_add(&r->hidden.by_top, row->bytes);
		else
			r->rows[r->n_rows++] = (struct hi_leaks_row){
				.kind = hi_leak_name_of_row(g, leaks, row),
				.shape = row->shape,
				.unreachable_class = row->unreachable_class,
				.is_likely = row->is_likely,
				.count = row->count,
				.objects = row->objects,
				.bytes = row->bytes,
				.address = hi_graph_address(g, row->example),
				.named = hi_graph_address(g, row->named),
			};
	}
}

static struct hi_leaks_row row_of_root(const struct hi_graph *g,
				       const struct hi_leaks *leaks,
				       const struct hi_leak_root *root)
{
	return (struct hi_leaks_row){
		.kind = hi_leak_name_of_root(g, leaks, root),
		.shape = root->shape,
		.unreachable_class = root->unreachable_class,
		.is_likely = root->is_likely,
		.count = 1,
		.objects = root->objects,
		.bytes = root->bytes,
		.address = hi_graph_address(g, root->node),
		.named = hi_graph_address(g, root->named),
	};
}

static void add_leak_report_roots(struct hi_leaks_report *r, const struct hi_graph *g,
				  const struct hi_leaks *leaks,
				  const struct hi_restrict *only)
{
	for (size_t i = 0; i < leaks->n_roots; i++) {
		const struct hi_leak_root *root = &leaks->roots[i];
		uint32_t type = g->objects->type[root->named];

		if (!hi_type_set_has(only->types, type) || root->bytes < only->min_size)
			continue;
		if (r->n_roots >= only->top) {
			hi_hidden_add(&r->roots_beyond, root->bytes);
			continue;
		}
		r->roots[r->n_roots++] = row_of_root(g, leaks, root);
	}
}

static bool is_root_alike(const struct hi_graph *g, const struct hi_leak_root *a,
			  const struct hi_leak_root *b)
{
	return g->objects->type[a->named] == g->objects->type[b->named] &&
	       a->group == b->group && a->shape == b->shape && a->members == b->members &&
	       a->unreachable_class == b->unreachable_class &&
	       a->is_likely == b->is_likely && a->objects == b->objects &&
	       a->bytes == b->bytes;
}

/* Equal ones are among the last few, as roots are sorted by their bytes: with more kinds of
 * one size some are shown twice. */
static void add_distinct_roots(struct hi_leaks_report *r, const struct hi_graph *g,
			       const struct hi_leaks *leaks,
			       const struct hi_restrict *only)
{
	enum { KINDS = 16 };
	const struct hi_leak_root *last[KINDS] = {};
	size_t place[KINDS] = {}, n = 0;

	for (size_t i = 0; i < leaks->n_roots; i++) {
		const struct hi_leak_root *root = &leaks->roots[i];
		size_t k = 0, known = n < KINDS ? n : KINDS;

		if (!hi_type_set_has(only->types, g->objects->type[root->named]) ||
		    root->bytes < only->min_size)
			continue;
		while (k < known && !is_root_alike(g, last[k], root))
			k++;
		if (k < known && place[k] < r->n_distinct) {
			r->distinct[place[k]].count++;
			continue;
		}
		if (k == known && r->n_distinct < only->top) {
			last[n % KINDS] = root;
			place[n++ % KINDS] = r->n_distinct;
			r->distinct[r->n_distinct++] = row_of_root(g, leaks, root);
		} else {
			hi_hidden_add(&r->distinct_beyond, root->bytes);
		}
	}
}

enum hi_status hi_leaks_report_create(const struct hi_report_header *header,
				      const struct hi_graph *graph,
				      const struct hi_reach *reach,
				      const struct hi_leaks *leaks,
				      const struct hi_restrict *only,
				      struct hi_leaks_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_leaks_report_destroy)
	struct hi_leaks_report *r = hi_calloc(1, sizeof(*r));

	if (!r)
		return hi_fail_memory(err, "report of leaks");
	r->rows = hi_calloc(hi_min(leaks->n_rows, only->top) + 1, sizeof(*r->rows));
	r->roots = hi_calloc(hi_min(leaks->n_roots, only->top) + 1, sizeof(*r->roots));
	r->distinct =
		hi_calloc(hi_min(leaks->n_roots, only->top) + 1, sizeof(*r->distinct));
	if (!r->rows || !r->roots || !r->distinct)
		return hi_fail_memory(err, "report of leaks");
	r->header = header;
	r->live_bytes = reach->live_bytes;
	r->objects = leaks->objects;
	r->bytes = leaks->bytes;
	r->n_leak_roots = leaks->n_roots;
	r->likely_objects = leaks->likely_objects;
	r->likely_bytes = leaks->likely_bytes;
	r->n_likely_roots = leaks->n_likely_roots;
	r->unread = hi_unread_of(reach);
	r->integer_objects = reach->integer_objects;
	r->integer_bytes = reach->integer_bytes;
	r->by_class = graph->unreachable_classes ? leaks->by_class : NULL;
	add_leak_report_rows(r, graph, leaks, only);
	add_leak_report_roots(r, graph, leaks, only);
	add_distinct_roots(r, graph, leaks, only);
	*ret = hi_take(r);
	return HI_OK;
}

void hi_leaks_report_destroy(struct hi_leaks_report *report)
{
	if (!report)
		return;
	free(report->rows);
	free(report->roots);
	free(report->distinct);
	free(report);
}

/* ---- fields ---- */

enum { ROW = 1, ROOT = 2, WHAT = 4, NAMED = 8, SITES = 16, ALIKE = 32 };

/* The class, where a runtime reports classes, else the verdict. */
static struct hi_doc_value class_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leaks_report *r = row->report;
	const struct hi_leaks_row *leak = row->row;

	if (r->by_class && (leak->unreachable_class || !leak->is_likely))
		return hi_doc_shown(hi_unreachable_class_key(leak->unreachable_class));
	return hi_doc_shown(leak->is_likely ? "likely leaked" : "leaked");
}
static struct hi_doc_value name_of_leak_type(const struct hi_doc_row *row)
{
	const struct hi_leaks_row *leak = row->row;

	return hi_doc_shown(hi_leak_name_text(&leak->kind, leak->shape, row->page));
}
static struct hi_doc_value site_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leaks_row *leak = row->row;

	return hi_doc_shown(hi_birth_site_text(&leak->birth, row->page));
}
static struct hi_doc_value members_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leaks_row *leak = row->row;

	return leak->shape == HI_LEAK_CYCLE ? hi_doc_number(leak->kind.most_members)
					    : hi_doc_none();
}

static struct hi_doc_value fate_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leaks_report *r = row->report;
	const struct hi_leaks_row *leak = row->row;

	return r->by_class ? hi_doc_number(leak->unreachable_class) : hi_doc_none();
}

/* The leak roots that have its type. */
static const char *link_to_leaks(const struct hi_doc_row *row)
{
	const struct hi_leaks_row *leak = row->row;

	return hi_address_where_type(row->page, "leaks", leak->kind.type);
}
static const char *link_to_leak_site(const struct hi_doc_row *row)
{
	const struct hi_leaks_row *leak = row->row;

	return hi_address_where(row->page, "leaks", "site",
				hi_birth_site_name(&leak->birth));
}

static const char *shape_word(unsigned shape)
{
	return hi_leak_shape_key((enum hi_leak_shape)shape);
}
static const char *leak_fate_word(unsigned fate)
{
	return hi_unreachable_class_key((enum hi_unreachable_class)fate);
}
static const char *verdict_word(unsigned is_likely)
{
	return hi_leak_verdict_key(is_likely != 0);
}

static void put_leak_birth(const struct hi_doc_row *row, const struct hi_doc_field *field,
			   struct hi_json *json)
{
	(void)field;
	hi_birth_json(&((const struct hi_leaks_row *)row->row)->birth, json);
}

static void put_leak_makers(const struct hi_doc_row *row,
			    const struct hi_doc_field *field, struct hi_json *json)
{
	const struct hi_leaks_row *leak = row->row;

	hi_made_by_json(field->key, &leak->made_by, json);
}

static const struct hi_doc_field leak_fields[] = {
	{NULL, "what", HI_DOC_WORD, .value = class_of_leak, .variants = WHAT,
	 .place = -3},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_leaks_row, kind),
	 .nested = &hi_leak_name_fields},
	{NULL, "type of the leak root", HI_DOC_TEXT, .value = name_of_leak_type,
	 .variants = ROW, .place = -1, .link = link_to_leaks},
	{NULL, "type", HI_DOC_TEXT, .value = name_of_leak_type, .variants = ROOT,
	 .place = -1, .link = link_to_leaks},
	{"shape", "shape", HI_DOC_WORD, HI_AT(struct hi_leaks_row, shape),
	 .word = shape_word, .n_words = HI_LEAK_CYCLE + 1},
	{"members", NULL, HI_DOC_COUNT, .value = members_of_leak, .variants = ROOT,
	 .optional = true, .meaning = "of a cycle: objects in it of this type"},
	{"fate", NULL, HI_DOC_WORD, .value = fate_of_leak, .optional = true,
	 .word = leak_fate_word, .n_words = HI_UNREACHABLE_CLASSES,
	 .meaning = "where a runtime has a collector: what becomes of it"},
	{"verdict", NULL, HI_DOC_WORD, HI_AT(struct hi_leaks_row, is_likely),
	 .word = verdict_word, .n_words = 2,
	 .meaning = "certain: no word leads there; likely: only words that are no "
		    "pointers by their types do"},
	{"count", "roots", HI_DOC_COUNT, HI_AT(struct hi_leaks_row, count),
	 .variants = ROW},
	{NULL, "alike", HI_DOC_COUNT, HI_AT(struct hi_leaks_row, count),
	 .variants = ALIKE},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_leaks_row, bytes), .place = 2},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_leaks_row, objects),
	 .shown_in = ROOT, .place = 1},
	{NULL, "objects", HI_DOC_COUNT, HI_AT(struct hi_leaks_row, objects),
	 .variants = ROW, .place = 1, .minor = true},
	{"example", "example", HI_DOC_ADDRESS, HI_AT(struct hi_leaks_row, address),
	 .variants = ROW, .place = 3, .nullable = true,
	 .address_link = hi_address_of_object},
	{"address", "address", HI_DOC_ADDRESS, HI_AT(struct hi_leaks_row, address),
	 .variants = ROOT, .place = -2, .nullable = true,
	 .address_link = hi_address_of_object},
	{"name", "which is", HI_DOC_TEXT, HI_AT(struct hi_leaks_row, name),
	 .shown_in = NAMED, .place = 4, .optional = true,
	 .meaning = "of the example: the name of a function, class or coroutine of a "
		    "runtime; absent: none"},
	{NULL, "allocated by", HI_DOC_TEXT, .value = site_of_leak, .variants = SITES,
	 .place = 4, .link = link_to_leak_site},
	{"made_by", .put = put_leak_makers, .may_be_missing = true,
	 .meaning =
		 "calls in the code of the program that can have allocated the root or "
		 "the example, by size and type; missing: none is known",
	 .schema = hi_made_by_schema},
	{"allocation", .put = put_leak_birth, .variants = ROOT, .may_be_missing = true,
	 .schema = "\"$ref\": \"#/definitions/allocation\""},
};
static const struct hi_doc_fields leak_rows =
	HI_DOC_FIELDS(leak_fields, .row_size = sizeof(struct hi_leaks_row), .form = ROW);
static const struct hi_doc_fields leak_roots =
	HI_DOC_FIELDS(leak_fields, .row_size = sizeof(struct hi_leaks_row), .form = ROOT);

static void put_sums_of_leaks(const struct hi_doc_row *row,
			      const struct hi_doc_field *field, struct hi_json *json)
{
	const struct hi_leaks_report *r = row->report;
	const struct hi_report_header *header = r->header;
	uint64_t bytes = r->bytes - r->likely_bytes;
	uint64_t objects = r->objects - r->likely_objects;

	hi_json_object(json, field->key);
	hi_json_number(json, "bytes", hi_heap_if_known(header, bytes));
	hi_json_number(json, "objects", hi_heap_if_known(header, objects));
	hi_json_number(json, "roots",
		       hi_heap_if_known(header, r->n_leak_roots - r->n_likely_roots));
	hi_json_number(json, "likely_bytes", hi_heap_if_known(header, r->likely_bytes));
	hi_json_number(json, "likely_objects",
		       hi_heap_if_known(header, r->likely_objects));
	hi_json_number(json, "likely_roots", hi_heap_if_known(header, r->n_likely_roots));
	hi_heap_leaks_json(header, bytes, objects, json);
	hi_unread_json(&r->unread, json);
	hi_json_number(json, "integer_bytes", r->integer_bytes);
	hi_json_number(json, "integer_objects", r->integer_objects);
	if (r->by_class)
		hi_unreachable_classes_json(r->by_class, json);
	hi_json_end(json);
}

static void put_leak_sites(const struct hi_doc_row *row, const struct hi_doc_field *field,
			   struct hi_json *json)
{
	const struct hi_leaks_report *r = row->report;

	(void)field;
	if (r->sites)
		hi_births_sites_json(r->sites, json);
}

static const struct hi_doc_field leaks_fields[] = {
	{"leaks", .put = put_sums_of_leaks,
	 .schema = "\"$ref\": \"#/definitions/leak_sums\""},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_leaks_report, rows, n_rows),
	 .nested = &leak_rows},
	{"roots", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_leaks_report, roots, n_roots),
	 .nested = &leak_roots},
	{"cycles", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_leaks_report, cycles.rows, cycles.n_rows),
	 .nested = &hi_leak_cycle_fields, .optional = true,
	 .meaning = "fields that close cycles of leaked objects"},
	{"sites", .put = put_leak_sites, .may_be_missing = true,
	 .schema = "\"$ref\": \"#/definitions/leak_sites\""},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_leaks_report, hidden),
	 .nested = &hi_hidden_fields},
};
const struct hi_doc_fields hi_leaks_document =
	HI_DOC_FIELDS(leaks_fields, .is_open = true);

void hi_leaks_json(const struct hi_leaks_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/leaks/v1", json);
	hi_doc_put_report(&hi_leaks_document, r, 0, json);
	hi_json_end(json);
}

/* ---- as a page ---- */

static void show_leaks_headline(const struct hi_leaks_report *r, struct hi_page *page)
{
	enum hi_heap_known known = hi_heap_known(r->header);
	char objects[32], roots[32], live[24];
	const char *beyond = "";
	uint64_t certain;

	hi_bytes(live, r->live_bytes);
	if (known == HI_HEAP_UNKNOWN) {
		hi_page_text(page,
			     hi_page_printf(page, "Leaks are unknown: %s; ≥ %s live",
					    hi_heap_unknown_text(r->header, page), live));
		return;
	}
	if (known == HI_HEAP_KNOWN_IN_PART)
		beyond = hi_page_printf(page, "%s, others are unknown: %s",
					r->objects ? ""
						   : hi_page_printf(page,
								    " in the heap of %s",
								    r->header->allocator),
					hi_heap_unknown_text(r->header, page));
	if (r->objects == 0) {
		hi_page_text(page, hi_page_printf(page, "No leaks%s; %s%s live", beyond,
						  hi_heap_at_least(r->header), live));
		return;
	}
	certain = r->bytes - r->likely_bytes;
	hi_page_text(
		page,
		hi_page_printf(
			page, "%s%s in %s object%s under %s root%s%s; %s%s live",
			certain ? hi_unreachable_classes_text(r->by_class, certain, page)
				: "",
			hi_likely_text(certain, r->likely_bytes, page),
			hi_count(objects, r->objects), r->objects == 1 ? "" : "s",
			hi_count(roots, r->n_leak_roots), r->n_leak_roots == 1 ? "" : "s",
			beyond, hi_heap_at_least(r->header), live));
	hi_unread_display(&r->unread, page);
	if (r->likely_bytes && !r->unread.is_doubtful)
		hi_page_text(page,
			     "certain: no word in live memory refers to it; likely: only "
			     "values that are not pointers (such as integers) do");
}

/* rows: those of types and layouts, or the roots. */
static void show_leak_table(const struct hi_leaks_report *r,
			    const struct hi_doc_fields *fields,
			    const struct hi_leaks_row *rows, size_t n,
			    struct hi_page *page)
{
	unsigned form = r->by_class || r->likely_objects ? WHAT : 0;

	if (fields == &leak_roots && r->sites)
		form |= SITES;
	for (size_t i = 0; i < n && !(form & SITES); i++)
		if (hi_known(rows[i].name))
			form |= NAMED;
	for (size_t i = 0; fields == &leak_roots && i < n; i++)
		if (rows[i].count > 1)
			form |= ALIKE;
	hi_doc_show_rows(page, fields, r, form, rows, n);
}

static void show_leak_rows(const struct hi_leaks_report *r, struct hi_page *page)
{
	hi_page_heading(page, "By type and layout",
			"single: holds no other object; chain: holds others; cycle: its "
			"members hold each other");
	for (size_t i = 0; i < r->n_rows; i++)
		if (*hi_leak_name_legend(&r->rows[i].kind)) {
			hi_page_text(page, hi_leak_name_legend(&r->rows[i].kind));
			break;
		}
	show_leak_table(r, &leak_rows, r->rows, r->n_rows, page);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
}

static void show_leak_makers_row(const struct hi_leaks_row *row,
				 struct hi_report_table *t, struct hi_page *page)
{
	const struct hi_alloc_fits *fits = &row->made_by;
	bool is_named = hi_made_by_is_named(fits);

	for (uint32_t i = 0; i == 0 || (is_named && i < fits->count); i++) {
		hi_cell_text(t,
			     is_named ? hi_made_by_place(
						fits->named[i],
						hi_leak_name_has_type(&row->kind), page)
				      : hi_made_by_count(fits, page),
			     0);
		hi_cell_text(t, is_named ? hi_made_by_function(fits->named[i], page) : "",
			     0);
		hi_cell_number(t, row->bytes);
		hi_cell_text(t, hi_leak_name_short_text(&row->kind, row->shape, page), 0);
	}
}

/* By the code alone; a recording has the truth. */
static void show_leak_makers(const struct hi_leaks_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"line", HI_COLUMN_TEXT},
						   {"function", HI_COLUMN_TEXT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"leak", HI_COLUMN_TEXT}};
	struct hi_report_table *t = NULL;

	for (size_t i = 0; i < r->n_rows && !r->sites; i++) {
		if (!r->rows[i].made_by.count)
			continue;
		if (!t) {
			hi_page_heading(
				page, "Made by",
				"lines of the program that allocate this size and "
				"type; `record` shows which did");
			t = hi_page_table(page, columns, 4);
		}
		show_leak_makers_row(&r->rows[i], t, page);
	}
}

/* A cycle is mended where it is closed. */
static void show_cycles_of_leaks(const struct hi_leaks_report *r, struct hi_page *page)
{
	char n[32];

	if (!r->cycles.n_rows)
		return;
	hi_page_heading(page, "What closes the cycles",
			"without the references of such a field no cycle is left");
	hi_leak_cycles_show(&r->cycles, r->cycles.n_rows, page);
	if (r->cycles.unclosed)
		hi_page_text(page, hi_page_printf(page,
						  "%s more: no single field with a name "
						  "closes them%s",
						  hi_count(n, r->cycles.unclosed),
						  r->cycles.is_partial
							  ? ", or they were not looked at"
							  : ""));
}

static void show_leak_sites(const struct hi_leaks_report *r, struct hi_page *page)
{
	if (r->sites)
		hi_births_sites_show(r->sites, "By the function that allocated", "leaks",
				     page);
}

/* They may be leaked as well. */
static void show_integers(const struct hi_leaks_report *r, struct hi_page *page)
{
	char bytes[24], objects[32];

	if (r->integer_objects && hi_heap_known(r->header) != HI_HEAP_UNKNOWN)
		hi_page_text(
			page,
			hi_page_printf(page,
				       "Of the live memory %s in %s object%s hang%s on "
				       "integers alone: no pointer leads there",
				       hi_bytes(bytes, r->integer_bytes),
				       hi_count(objects, r->integer_objects),
				       r->integer_objects == 1 ? "" : "s",
				       r->integer_objects == 1 ? "s" : ""));
}

/* With a recording each has its own site. */
static void show_largest_roots(const struct hi_leaks_report *r, struct hi_page *page)
{
	bool apart = r->sites != NULL;

	if (!apart && r->n_distinct <= r->n_rows && !r->distinct_beyond.rows)
		return;
	hi_page_heading(page, "Largest leak roots",
			apart ? NULL : "one of each that differ");
	show_leak_table(r, &leak_roots, apart ? r->roots : r->distinct,
			apart ? r->n_roots : r->n_distinct, page);
	hi_hidden_note(page, apart ? &r->roots_beyond : &r->distinct_beyond,
		       &(struct hi_hidden){}, &(struct hi_hidden){});
}

void hi_leaks_display(const struct hi_leaks_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_leaks_headline(r, page);
	show_integers(r, page);
	hi_report_header_facts(r->header, page, false);
	if (r->objects == 0)
		return;
	show_leak_rows(r, page);
	show_leak_makers(r, page);
	show_cycles_of_leaks(r, page);
	show_leak_sites(r, page);
	if (r->n_roots) {
		show_largest_roots(r, page);
		hi_page_blank(page);
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect explain 0x%" PRIx64 " %s",
					       r->roots[0].address,
					       hi_report_header_target(r->header, page)),
				"what the largest leak root holds");
	}
}
