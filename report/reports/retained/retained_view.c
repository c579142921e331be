/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields, the page and the JSON of `retained`. */
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/legend.h"
#include "report/parts/report_links.h"
#include "report/reports/retained/retained_report.h"

static const char *row_type(const struct hi_retained_row *row, struct hi_page *page)
{
	const struct hi_node_info *info = &row->info;

	if (info->sort == HI_NODE_ROOT && !*info->type)
		return hi_page_printf(page, "%s root", hi_root_kind_key(info->kind));
	return hi_page_printf(page, "%s%s", row->is_list ? "list of " : "",
			      hi_node_type_label(info, page));
}

/* ---- fields ---- */

enum { TREE = 1, LIST = 2, TYPES = 4, SITES = 8, THREADS = 16 };

static unsigned form_of_retained(const struct hi_retained_report *r)
{
	return (r->tree ? TREE : LIST) | (r->types_are_sites ? SITES : TYPES) |
	       (r->threads ? THREADS : 0);
}

static struct hi_doc_value label_of_retained_row(const struct hi_doc_row *row)
{
	const struct hi_retained_row *retained = row->row;
	struct hi_doc_value value = hi_doc_shown(
		*retained->info.name  ? hi_page_safe_again(row->page, retained->info.name)
		: row->variant & LIST ? ""
		: retained->depth     ? "·"
				      : "(others)");

	value.indent = (uint8_t)retained->depth;
	return value;
}

/* Several objects: all of their type. */
static struct hi_doc_value count_of_retained_row(const struct hi_doc_row *row)
{
	const struct hi_retained_row *retained = row->row;

	return retained->count > 1 ? hi_doc_number(retained->count) : hi_doc_none();
}
static struct hi_doc_value type_of_retained_row(const struct hi_doc_row *row)
{
	return hi_doc_shown(row_type(row->row, row->page));
}

static const char *link_to_retained_node(const struct hi_doc_row *row)
{
	return hi_address_of_node(row->page,
				  &((const struct hi_retained_row *)row->row)->info);
}
static const char *link_to_retained_level(const struct hi_doc_row *row)
{
	return hi_address_of_level(row->page,
				   &((const struct hi_retained_row *)row->row)->info);
}
static const char *link_to_row_objects(const struct hi_doc_row *row)
{
	const struct hi_node_info *info =
		&((const struct hi_retained_row *)row->row)->info;

	return info->sort == HI_NODE_OBJECT ? hi_address_of_objects(row->page, info->type)
					    : "";
}
static const char *link_to_row_type(const struct hi_doc_row *row)
{
	const struct hi_node_info *info =
		&((const struct hi_retained_row *)row->row)->info;

	return info->sort == HI_NODE_OBJECT
		       ? hi_address_of_any_type(row->page, info->type)
		       : "";
}

static const struct hi_doc_field row_fields[] = {
	{NULL, "", HI_DOC_TEXT, .value = label_of_retained_row,
	 .link = link_to_retained_node},
	{NULL, "count", HI_DOC_COUNT, .value = count_of_retained_row,
	 .link = link_to_row_objects},
	{NULL, "type", HI_DOC_TEXT, .value = type_of_retained_row,
	 .link = link_to_row_type},
	{NULL, "retained", HI_DOC_BYTES, HI_AT(struct hi_retained_row, info.retained),
	 .link = link_to_retained_level},
	{NULL, "of live", HI_DOC_SHARE, HI_AT(struct hi_retained_row, info.retained),
	 HI_SHARE_OF(struct hi_retained_report, live_bytes)},
	{NULL, "address", HI_DOC_ADDRESS, HI_AT(struct hi_retained_row, info.address),
	 .link = link_to_retained_node},
	{"depth", NULL, HI_DOC_COUNT, HI_AT(struct hi_retained_row, depth)},
	{"count", NULL, HI_DOC_COUNT, HI_AT(struct hi_retained_row, count),
	 .meaning = "objects: of one type, that the same field of the row above leads "
		    "to; shallow and retained are theirs together, and the address of "
		    "more than one is null"},
	{"list", NULL, HI_DOC_FLAG, HI_AT(struct hi_retained_row, is_list),
	 .meaning = "each is linked to the next one"},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_retained_row, info),
	 .nested = &hi_node_fields},
	{"children_not_listed", NULL, HI_DOC_COUNT,
	 HI_AT(struct hi_retained_row, children_more)},
	{"children_not_listed_retained", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_retained_row, children_more_bytes)},
};
static const struct hi_doc_fields retained_rows = HI_DOC_FIELDS(
	row_fields, .row_size = sizeof(struct hi_retained_row), .is_open = true);

static const char *link_to_census_of_type(const struct hi_doc_row *row)
{
	const struct hi_retained_type *type = row->row;

	return row->variant & SITES ? hi_address_of_site(row->page, "census", type->type)
				    : hi_address_of_any_type(row->page, type->type);
}
static const char *link_to_retained_type(const struct hi_doc_row *row)
{
	const struct hi_retained_type *type = row->row;

	return row->variant & SITES
		       ? hi_address_of_site(row->page, "retained", type->type)
		       : hi_address_of_objects(row->page, type->type);
}

static const struct hi_doc_field type_fields[] = {
	{"type", "type", HI_DOC_TYPE, HI_AT(struct hi_retained_type, type),
	 .variants = TYPES, .link = link_to_census_of_type},
	{"site", "function", HI_DOC_TEXT, HI_AT(struct hi_retained_type, type),
	 .variants = SITES, .link = link_to_census_of_type,
	 .meaning = "with --by site, instead of the type: function, file and line"},
	{"count", "count", HI_DOC_COUNT, HI_AT(struct hi_retained_type, count),
	 .link = link_to_retained_type},
	{"shallow", "shallow", HI_DOC_BYTES, HI_AT(struct hi_retained_type, shallow),
	 .place = 1, .meaning = HI_MEANING_SHALLOW},
	{"retained", "retained", HI_DOC_BYTES, HI_AT(struct hi_retained_type, retained),
	 .at_least = true, .nullable = true, .link = link_to_retained_type,
	 .meaning = HI_MEANING_RETAINED},
	{NULL, "of live", HI_DOC_SHARE, HI_AT(struct hi_retained_type, retained),
	 HI_SHARE_OF(struct hi_retained_report, live_bytes)},
};
static const struct hi_doc_fields types =
	HI_DOC_FIELDS(type_fields, .row_size = sizeof(struct hi_retained_type));

static const struct hi_doc_field of_type_fields[] = {
	{"pattern", NULL, HI_DOC_TEXT, HI_AT(struct hi_retained_report, type_pattern)},
	{"count", NULL, HI_DOC_COUNT, HI_AT(struct hi_retained_report, type_count)},
	{"shallow", NULL, HI_DOC_BYTES, HI_AT(struct hi_retained_report, type_shallow)},
	{"retained", NULL, HI_DOC_BYTES, HI_AT(struct hi_retained_report, type_exact),
	 .nullable = true, .meaning = "together, exactly; null: of several types"},
	{"reachable", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_retained_report, type_reachable.bytes), .nullable = true,
	 .meaning = "bytes of the live objects that they lead to, themselves included"},
};
static const struct hi_doc_fields of_type = HI_DOC_FIELDS(of_type_fields);

static struct hi_doc_value threads_of_retained(const struct hi_doc_row *row)
{
	const struct hi_threads_report *threads =
		((const struct hi_retained_report *)row->row)->threads;

	return threads ? (struct hi_doc_value){.kind = HI_DOC_NESTED,
					       .rows = threads->threads,
					       .n_rows = threads->shown}
		       : hi_doc_none();
}

static const struct hi_doc_field retained_fields[] = {
	{"live", NULL, HI_DOC_BYTES, HI_AT(struct hi_retained_report, live_bytes)},
	{"of_type", NULL, HI_DOC_OBJECT, .nested = &of_type, .variants = LIST,
	 .may_be_missing = true, .meaning = "with --type: all live objects of it"},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_retained_report, rows, n_rows),
	 .nested = &retained_rows},
	{"types", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_retained_report, types, n_types), .nested = &types},
	{"threads", NULL, HI_DOC_ROWS, .value = threads_of_retained,
	 .nested = &hi_thread_fields, .variants = THREADS, .may_be_missing = true,
	 .meaning = "with --by thread: those that alone hold most first"},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_retained_report, hidden),
	 .nested = &hi_hidden_fields},
};
const struct hi_doc_fields hi_retained_document =
	HI_DOC_FIELDS(retained_fields, .is_open = true);

void hi_retained_json(const struct hi_retained_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/retained/v1", json);
	hi_doc_put_report(&hi_retained_document, r, form_of_retained(r), json);
	hi_json_end(json);
}

/* ---- as a page ---- */

/* Children that are too small for rows of their own. */
static void show_rest(const struct hi_retained_report *r, size_t row,
		      struct hi_report_table *t)
{
	const struct hi_retained_row *up = &r->rows[row];

	hi_cell_text(t, "…", up->depth + 1);
	hi_cell_number(t, up->children_more);
	hi_cell_text(t, up->children_more == 1 ? "other" : "others", 0);
	hi_cell_number(t, up->children_more_bytes);
	hi_cell_percent(t, up->children_more_bytes, r->live_bytes);
	hi_cell_empty(t);
}

/* Behind row `at` end the rows that are as deep as the next one, or deeper: each has its
 * rest there, the deepest first. Rows with no row below have none. */
static void show_rests(const struct hi_retained_report *r, size_t at, size_t *open,
		       struct hi_report_table *t)
{
	unsigned next = at + 1 < r->n_rows ? r->rows[at + 1].depth : 0;

	for (unsigned depth = r->rows[at].depth; depth-- > next;)
		if (r->rows[open[depth]].children_more)
			show_rest(r, open[depth], t);
}

static void show_retained_rows(const struct hi_retained_report *r, struct hi_page *page)
{
	enum { DEEPEST = 16 };
	struct hi_doc_row row = {
		.report = r, .variant = form_of_retained(r), .page = page};
	struct hi_report_table *t = hi_doc_show_table(page, &retained_rows, row.variant);
	size_t open[DEEPEST] = {}; /* the row above, by depth */

	for (size_t i = 0; i < r->n_rows; i++) {
		row.row = &r->rows[i];
		hi_doc_show_row(t, &retained_rows, &row);
		if (r->rows[i].depth < DEEPEST) {
			open[r->rows[i].depth] = i;
			show_rests(r, i, open, t);
		}
	}
}

static void show_type_total(const struct hi_retained_report *r, struct hi_page *page)
{
	char n[32], shallow[24], exact[24], percent[16];
	const char *text = hi_page_printf(
		page, "%s%s live object%s of %s, %s shallow", hi_heap_at_least(r->header),
		hi_count(n, r->type_count), r->type_count == 1 ? "" : "s",
		hi_type_label(r->type_pattern, page), hi_bytes(shallow, r->type_shallow));

	if (r->type_exact != UINT64_MAX)
		text = hi_page_printf(page,
				      "%s; together they retain %s (%s of live), exactly",
				      text, hi_bytes(exact, r->type_exact),
				      hi_percent(percent, r->type_exact, r->live_bytes));
	if (r->type_reachable.bytes != UINT64_MAX)
		text = hi_page_printf(page, "%s; they lead to %s in %s object%s", text,
				      hi_bytes(exact, r->type_reachable.bytes),
				      hi_count(n, r->type_reachable.objects),
				      r->type_reachable.objects == 1 ? "" : "s");
	hi_page_text(page, text);
}

void hi_retained_display(const struct hi_retained_report *r, struct hi_page *page)
{
	char bytes[24];
	bool unknown = hi_heap_known(r->header) == HI_HEAP_UNKNOWN;

	if (r->threads) {
		hi_threads_display(r->threads, r->header, page);
		return;
	}
	hi_report_header_title(r->header, page);
	if (r->tree)
		hi_page_text(page, hi_page_printf(page,
						  "%s%s %s; retained: bytes that would "
						  "be freed with a variable or an object",
						  hi_heap_at_least(r->header),
						  hi_bytes(bytes, r->live_bytes),
						  unknown ? "is known (a lower bound)"
							  : "live"));
	else
		show_type_total(r, page);
	hi_report_header_facts(r->header, page, false);
	hi_page_heading(page, r->tree ? "Top of the dominator tree" : "Objects",
			r->tree ? "siblings of one field and type together"
				: "by retained bytes");
	if (r->tree)
		hi_page_link(page, hi_address(page, "tree", NULL));
	show_retained_rows(r, page);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
	if (!r->tree || !r->n_types)
		return;
	hi_page_heading(page,
			r->types_are_sites ? "Retained by the function that allocated"
					   : "Retained by type",
			r->types_are_sites
				? "lower bounds"
				: "lower bounds; exact for one by --type NAME");
	hi_doc_show_rows(page, &types, r, form_of_retained(r), r->types, r->n_types);
}
