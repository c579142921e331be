/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields, the page and the JSON of `waste`. */
#include <string.h>

#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"
#include "report/reports/waste/waste_report.h"

/* ---- fields ---- */

enum { BY_TYPE = 1, BY_SITE = 2, TEXTS = 4, HEADERS = 8, ALLOCATOR = 16, SLABS = 32 };

static unsigned form_of_waste(const struct hi_waste_report *r)
{
	return (r->row_names ? BY_SITE : BY_TYPE) |
	       (r->waste->texts_missing ? 0 : TEXTS) | (r->use->header ? HEADERS : 0) |
	       (r->header->allocator ? ALLOCATOR : 0) |
	       (r->header->allocator && (r->n_slabs || r->slabs_beyond.rows) ? SLABS : 0);
}

static const struct hi_doc_field identical_fields[] = {
	{"groups", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste_row, groups)},
	{"copies", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste_row, copies)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_waste_row, copied)},
};
static const struct hi_doc_fields identical = HI_DOC_FIELDS(
	identical_fields,
	.meaning = "objects of one type with equal bytes; copies: beyond the first of "
		   "each group; bytes: what all but the largest of each cost");
static const struct hi_doc_field unused_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste_row, loose)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_waste_row, unused)},
	{"savable", NULL, HI_DOC_BYTES, HI_AT(struct hi_waste_row, savable)},
};
static const struct hi_doc_fields unused_sums = HI_DOC_FIELDS(
	unused_fields, .meaning = "bytes beyond what the type uses; savable: what "
				  "requests for the used bytes alone would save");
static const struct hi_doc_field zero_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste_row, zeros)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_waste_row, zero_bytes)},
};
static const struct hi_doc_fields zero_filled = HI_DOC_FIELDS(zero_fields);
static const struct hi_doc_field sum_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste_row, objects)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_waste_row, bytes)},
	{"identical", NULL, HI_DOC_OBJECT, .nested = &identical},
	{"unused", NULL, HI_DOC_OBJECT, .nested = &unused_sums},
	{"zero_filled", NULL, HI_DOC_OBJECT, .nested = &zero_filled},
};
static const struct hi_doc_fields sums = HI_DOC_FIELDS(sum_fields, .is_open = true);

static const char *link_to_waste_line(const struct hi_doc_row *row)
{
	const struct hi_waste_line *line = row->row;

	return row->variant & BY_SITE
		       ? hi_address_of_site(row->page, "census", line->name)
		       : hi_address_of_any_type(row->page, line->name);
}

static const char *link_to_line_copies(const struct hi_doc_row *row)
{
	const struct hi_waste_line *line = row->row;

	return row->variant & BY_SITE
		       ? hi_address_of_site(row->page, "waste", line->name)
		       : hi_address_where_type(row->page, "waste", line->name);
}

static const struct hi_doc_field line_fields[] = {
	{"type", "type", HI_DOC_TYPE, HI_AT(struct hi_waste_line, name),
	 .variants = BY_TYPE, .link = link_to_waste_line},
	{"site", "function", HI_DOC_TEXT, HI_AT(struct hi_waste_line, name),
	 .variants = BY_SITE, .link = link_to_waste_line,
	 .meaning = "function, file and line"},
	{.unit = HI_DOC_MEMBERS, HI_AT_PART(struct hi_waste_line, n), .nested = &sums},
	{NULL, "live", HI_DOC_BYTES, HI_AT(struct hi_waste_line, n.bytes)},
	{NULL, "copies", HI_DOC_BYTES, HI_AT(struct hi_waste_line, n.copied),
	 .link = link_to_line_copies},
	{NULL, "zeros", HI_DOC_BYTES, HI_AT(struct hi_waste_line, n.zero_bytes)},
	{NULL, "unused", HI_DOC_BYTES, HI_AT(struct hi_waste_line, n.unused)},
	{NULL, "savable", HI_DOC_BYTES, HI_AT(struct hi_waste_line, n.savable)},
};
static const struct hi_doc_fields lines = HI_DOC_FIELDS(
	line_fields, .row_size = sizeof(struct hi_waste_line), .is_open = true);

static struct hi_doc_value type_of_waste_group(const struct hi_doc_row *row)
{
	const struct hi_waste_report *r = row->report;
	const struct hi_waste_group *g = row->row;

	return hi_doc_text(hi_graph_type_name(r->graph, g->type));
}

static struct hi_doc_value example_of_group(const struct hi_doc_row *row)
{
	const struct hi_waste_report *r = row->report;
	const struct hi_waste_group *g = row->row;

	return hi_doc_number(hi_graph_address(r->graph, g->first));
}

static struct hi_doc_value contents_of_group(const struct hi_doc_row *row)
{
	const struct hi_waste_group *g = row->row;
	struct hi_doc_value value = {};

	if (!g->is_text)
		return value;
	value = hi_doc_text(g->text);
	if (row->page)
		value.shown = hi_page_printf(row->page, "\"%s%s\"",
					     hi_page_safe(row->page, g->text),
					     g->cut ? "..." : "");
	return value;
}

static const struct hi_doc_field group_fields[] = {
	{"type", "type", HI_DOC_TYPE, .value = type_of_waste_group, .place = 3,
	 .text_link = hi_address_of_any_type},
	{"example", "example", HI_DOC_ADDRESS, .value = example_of_group, .place = 5,
	 .nullable = true, .address_link = hi_address_of_object},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_waste_group, objects),
	 .place = 1},
	{"size", "size", HI_DOC_BYTES, HI_AT(struct hi_waste_group, size), .place = 2,
	 .meaning = "bytes in use of each"},
	{"bytes", "saved", HI_DOC_BYTES, HI_AT(struct hi_waste_group, copied),
	 .meaning = "what all but the largest cost"},
	{"text", "contents", HI_DOC_TEXT, .value = contents_of_group, .place = 4,
	 .shown_in = TEXTS, .nullable = true, .meaning = "its beginning; null: no text"},
	{"cut", NULL, HI_DOC_FLAG, HI_AT(struct hi_waste_group, cut)},
};
static const struct hi_doc_fields groups =
	HI_DOC_FIELDS(group_fields, .row_size = sizeof(struct hi_waste_group));

static const struct hi_doc_field groups_hidden_fields[] = {
	{"by_top", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste, beyond.groups)},
	{"by_min_size", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste, below.groups)},
	{"by_type", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste, other.groups)},
};
static const struct hi_doc_fields groups_hidden = HI_DOC_FIELDS(groups_hidden_fields);
static const struct hi_doc_field unread_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_waste, unread)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_waste, unread_bytes)},
};
static const struct hi_doc_fields unread = HI_DOC_FIELDS(
	unread_fields, .meaning = "live objects that are not compared: some of their "
				  "bytes are not in the image");

/* ---- fields of blocks, slabs and pages ---- */

static struct hi_doc_value label_of_class(const struct hi_doc_row *row)
{
	const struct hi_size_class *c = row->row;
	char bytes[24];

	if (c->largest == UINT64_MAX)
		return hi_doc_shown("larger");
	return hi_doc_shown(c->largest ? hi_page_printf(row->page, "to %s",
							hi_bytes(bytes, c->largest))
				       : "all");
}

static struct hi_doc_value headers_of_class(const struct hi_doc_row *row)
{
	const struct hi_size_class *c = row->row;

	return hi_doc_part(c->header, c->bytes);
}

static bool is_sum_of_classes(const struct hi_doc_row *row)
{
	return ((const struct hi_size_class *)row->row)->largest == 0;
}

static const struct hi_doc_field class_fields[] = {
	{NULL, "block size", HI_DOC_WORD, .value = label_of_class},
	{"largest", NULL, HI_DOC_BYTES, HI_AT(struct hi_size_class, largest),
	 .nullable = true, .meaning = "cost of a block, its header included; null: any"},
	{"blocks", "blocks", HI_DOC_COUNT, HI_AT(struct hi_size_class, count)},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_size_class, bytes)},
	{"headers", "headers", HI_DOC_BYTES, HI_AT(struct hi_size_class, header),
	 .shown_in = HEADERS},
	{NULL, "of bytes", HI_DOC_SHARE, .value = headers_of_class, .variants = HEADERS},
};
static const struct hi_doc_fields size_classes =
	HI_DOC_FIELDS(class_fields, .row_size = sizeof(struct hi_size_class),
		      .is_strong = is_sum_of_classes);

static struct hi_doc_value kind_of_free(const struct hi_doc_row *row)
{
	struct hi_doc_value value = hi_doc_number(row->index);

	value.shown = hi_block_state_label(
		(enum hi_block_state)(HI_BLOCK_FREE_FIRST + row->index));
	return value;
}
static const char *free_kind_word(unsigned kind)
{
	/* Without "free_", which all of them begin with. */
	return hi_block_state_key((enum hi_block_state)(HI_BLOCK_FREE_FIRST + kind)) + 5;
}
/* The allocators that were walked have no free blocks of this kind. */
static bool is_foreign_free_kind(const struct hi_doc_row *row)
{
	const struct hi_waste_report *r = row->report;
	size_t state = HI_BLOCK_FREE_FIRST + row->index;

	return !r->use->free[row->index].count &&
	       !(r->use->states ? r->use->states >> state & 1
				: state <= HI_BLOCK_FREE_TOP);
}

static const struct hi_doc_field free_fields[] = {
	{"kind", "free in", HI_DOC_WORD, .value = kind_of_free, .word = free_kind_word,
	 .n_words = HI_FREE_KINDS},
	{"blocks", "blocks", HI_DOC_COUNT, HI_AT(struct hi_free_blocks, count)},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_free_blocks, bytes)},
	{"largest", "largest", HI_DOC_BYTES, HI_AT(struct hi_free_blocks, largest)},
};
static const struct hi_doc_fields free_blocks =
	HI_DOC_FIELDS(free_fields, .row_size = sizeof(struct hi_free_blocks),
		      .is_left_out = is_foreign_free_kind);

static const char *page_fill_word(unsigned fill)
{
	static const char *const keys[HI_PAGE_FILLS] = {
		[HI_PAGE_EMPTY] = "empty",
		[HI_PAGE_UNDER_QUARTER] = "under_quarter",
		[HI_PAGE_UNDER_HALF] = "under_half",
		[HI_PAGE_OVER_HALF] = "over_half",
	};

	return keys[fill];
}

static struct hi_doc_value fill_of_pages(const struct hi_doc_row *row)
{
	static const char *const labels[HI_PAGE_FILLS] = {
		[HI_PAGE_EMPTY] = "nothing",
		[HI_PAGE_UNDER_QUARTER] = "under a quarter",
		[HI_PAGE_UNDER_HALF] = "a quarter to a half",
		[HI_PAGE_OVER_HALF] = "a half or more",
	};
	struct hi_doc_value value = hi_doc_number(row->index);

	value.shown = labels[row->index];
	return value;
}

static struct hi_doc_value pinned_of_pages(const struct hi_doc_row *row)
{
	const struct hi_page_class *p = row->row;

	/* Nothing keeps the empty ones. */
	return hi_doc_number(row->index == HI_PAGE_EMPTY ? 0 : p->bytes - p->allocated);
}

static const struct hi_doc_field page_fields[] = {
	{"fill", "allocated", HI_DOC_WORD, .value = fill_of_pages, .word = page_fill_word,
	 .n_words = HI_PAGE_FILLS},
	{"pages", "pages", HI_DOC_COUNT, HI_AT(struct hi_page_class, pages)},
	{"bytes", "resident", HI_DOC_BYTES, HI_AT(struct hi_page_class, bytes)},
	{"allocated", "kept by", HI_DOC_BYTES, HI_AT(struct hi_page_class, allocated)},
	{NULL, "pinned", HI_DOC_BYTES, .value = pinned_of_pages},
};
static const struct hi_doc_fields pages =
	HI_DOC_FIELDS(page_fields, .row_size = sizeof(struct hi_page_class));

static bool is_sum_of_slabs(const struct hi_doc_row *row)
{
	return row->row == &((const struct hi_waste_report *)row->report)->all_slabs;
}

static struct hi_doc_value label_of_slabs(const struct hi_doc_row *row)
{
	const struct hi_heap_use *use =
		((const struct hi_waste_report *)row->report)->use;
	const struct hi_slab_class *c = row->row;
	char bytes[24];

	if (is_sum_of_slabs(row))
		return hi_doc_shown("all");
	hi_bytes(bytes, c->size);
	for (size_t i = 1; i < use->n_slab_classes; i++)
		if (strcmp(use->slab_classes[i].allocator,
			   use->slab_classes[0].allocator) != 0)
			return hi_doc_shown(
				hi_page_printf(row->page, "%s, %s", bytes,
					       hi_page_safe(row->page, c->allocator)));
	return hi_doc_shown(hi_page_printf(row->page, "%s", bytes));
}

static struct hi_doc_value free_of_slabs(const struct hi_doc_row *row)
{
	return hi_doc_number(hi_slab_class_free(row->row));
}
static struct hi_doc_value use_of_slabs(const struct hi_doc_row *row)
{
	const struct hi_slab_class *c = row->row;

	return hi_doc_part(c->live, c->slots);
}
static struct hi_doc_value waste_of_slabs(const struct hi_doc_row *row)
{
	const struct hi_heap_use *use =
		((const struct hi_waste_report *)row->report)->use;
	uint64_t bytes = 0;

	if (!is_sum_of_slabs(row))
		return hi_doc_number(hi_slab_class_wasted(row->row));
	/* The sum of all classes has no size of its own. */
	for (size_t i = 0; i < use->n_slab_classes; i++)
		bytes += hi_slab_class_wasted(&use->slab_classes[i]);
	return hi_doc_number(bytes);
}

static const struct hi_doc_field slab_fields[] = {
	{NULL, "slots of", HI_DOC_WORD, .value = label_of_slabs},
	{"slabs", "slabs", HI_DOC_COUNT, HI_AT(struct hi_slab_class, slabs), .place = 1},
	{"bytes", "memory", HI_DOC_BYTES, HI_AT(struct hi_slab_class, bytes),
	 .meaning = "all of the slabs' memory"},
	{"slots", NULL, HI_DOC_COUNT, HI_AT(struct hi_slab_class, slots)},
	{"live", "live", HI_DOC_COUNT, HI_AT(struct hi_slab_class, live),
	 .meaning = "slots that are allocated, also leaked ones"},
	{"cached", "cached", HI_DOC_COUNT, HI_AT(struct hi_slab_class, cached),
	 .minor = true,
	 .meaning = "slots in caches of threads, or between them and the slabs"},
	{"free", "free", HI_DOC_COUNT, .value = free_of_slabs},
	{NULL, "in use", HI_DOC_SHARE, .value = use_of_slabs},
	{"empty_slabs", "empty", HI_DOC_COUNT, HI_AT(struct hi_slab_class, empty),
	 .place = 1, .minor = true, .meaning = "without a live block"},
	{"sparse_slabs", NULL, HI_DOC_COUNT, HI_AT(struct hi_slab_class, sparse),
	 .meaning = "with live blocks in under a quarter of the slots"},
	{"sparse_bytes", "sparse", HI_DOC_BYTES,
	 HI_AT(struct hi_slab_class, sparse_bytes), .place = 1},
	{"rounding", NULL, HI_DOC_BYTES, HI_AT(struct hi_slab_class, slack),
	 .meaning = "bytes of live slots beyond what was requested, where that is "
		    "known"},
	{"wasted", "wasted", HI_DOC_BYTES, .value = waste_of_slabs, .place = 1,
	 .meaning = "bytes of the slabs that no live block uses"},
};
static const struct hi_doc_fields slabs =
	HI_DOC_FIELDS(slab_fields, .row_size = sizeof(struct hi_slab_class),
		      .is_strong = is_sum_of_slabs);
static const struct hi_doc_field slab_class_fields[] = {
	{"allocator", NULL, HI_DOC_TEXT, HI_AT(struct hi_slab_class, allocator)},
	{"size", NULL, HI_DOC_BYTES, HI_AT(struct hi_slab_class, size),
	 .meaning = "of a slot"},
	{.unit = HI_DOC_MEMBERS, .nested = &slabs},
};
static const struct hi_doc_fields slab_classes =
	HI_DOC_FIELDS(slab_class_fields, .row_size = sizeof(struct hi_slab_class));
static const struct hi_doc_field slabs_hidden_fields[] = {
	{"by_top", NULL, HI_DOC_COUNT, HI_AT(struct hi_hidden, rows)},
	{"wasted", NULL, HI_DOC_BYTES, HI_AT(struct hi_hidden, bytes)},
};
static const struct hi_doc_fields slabs_hidden = HI_DOC_FIELDS(slabs_hidden_fields);

/* ---- the document ---- */

static struct hi_doc_value classes_of_use(const struct hi_doc_row *row)
{
	const struct hi_heap_use *use = row->row;

	return hi_doc_nested(use->classes, use->n_classes);
}

static const struct hi_doc_field use_fields[] = {
	{"size_classes", NULL, HI_DOC_ROWS, .value = classes_of_use,
	 .nested = &size_classes, .may_be_missing = true,
	 .meaning = "allocated blocks, also leaked ones; this and what follows is left "
		    "out where no allocator is known"},
	{"free", NULL, HI_DOC_ROWS, HI_AT_ARRAY(struct hi_heap_use, free),
	 .nested = &free_blocks, .may_be_missing = true},
	{"pages", NULL, HI_DOC_ROWS, HI_AT_ARRAY(struct hi_heap_use, pages),
	 .nested = &pages, .may_be_missing = true,
	 .meaning = "resident pages of the heap, blocks that are mappings of their own "
		    "left out"},
	{"residency_known", NULL, HI_DOC_FLAG, HI_AT(struct hi_heap_use, residency_known),
	 .may_be_missing = true,
	 .meaning = "false: pages that the core holds count as resident"},
};
static const struct hi_doc_fields use_members = HI_DOC_FIELDS(use_fields);
static const struct hi_doc_field total_fields[] = {
	{"live", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_waste, all), .nested = &sums},
	{"unread", NULL, HI_DOC_OBJECT, .nested = &unread},
};
static const struct hi_doc_fields totals = HI_DOC_FIELDS(total_fields);
static const struct hi_doc_field group_list_fields[] = {
	{"groups", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_waste, groups, n_groups),
	 .nested = &groups, .meaning = "identical contents, most bytes first"},
	{"groups_hidden", NULL, HI_DOC_OBJECT, .nested = &groups_hidden},
};
static const struct hi_doc_fields group_list = HI_DOC_FIELDS(group_list_fields);

static const struct hi_doc_field waste_fields[] = {
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_POINTER(struct hi_waste_report, waste),
	 .nested = &totals},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_waste_report, rows, n_rows),
	 .nested = &lines,
	 .meaning = "by type, or with --by site by the function that allocated; what "
		    "wastes nothing is left out"},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_POINTER(struct hi_waste_report, waste),
	 .nested = &group_list},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_POINTER(struct hi_waste_report, use),
	 .nested = &use_members,
	 .variants = ALLOCATOR},
	{"slabs", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_waste_report, all_slabs),
	 .nested = &slabs, .variants = SLABS, .may_be_missing = true,
	 .meaning = "of all classes of slabs; this and slab_classes is left out where no "
		    "allocator has slabs"},
	{"slab_classes", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_waste_report, slabs, n_slabs), .nested = &slab_classes,
	 .variants = SLABS, .may_be_missing = true, .meaning = "by what is wasted"},
	{"slab_classes_hidden", NULL, HI_DOC_OBJECT,
	 HI_AT_PART(struct hi_waste_report, slabs_beyond), .nested = &slabs_hidden,
	 .variants = SLABS, .may_be_missing = true},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_waste_report, hidden),
	 .nested = &hi_hidden_fields},
};
const struct hi_doc_fields hi_waste_document =
	HI_DOC_FIELDS(waste_fields, .is_open = true);

void hi_waste_json(const struct hi_waste_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/waste/v1", json);
	hi_doc_put_report(&hi_waste_document, r, form_of_waste(r), json);
	hi_json_end(json);
}

/* ---- as a page ---- */

static void show_waste_headline(const struct hi_waste_report *r, struct hi_page *page)
{
	const struct hi_waste_row *all = &r->waste->all;
	char copied[24], unused[24], zero[24];

	hi_page_text(
		page,
		hi_page_printf(
			page,
			"%s in extra copies, %s unused, %s filled with zeros, "
			"of %s",
			hi_bytes(copied, all->copied), hi_bytes(unused, all->unused),
			hi_bytes(zero, all->zero_bytes),
			hi_heap_live_text(r->header, all->bytes, all->objects, page)));
}

static void show_unread(const struct hi_waste_report *r, struct hi_page *page)
{
	char n[32], bytes[24];

	if (r->waste->unread)
		hi_page_warning(
			page,
			hi_page_printf(page,
				       "%s object%s with %s not compared: not all of "
				       "their bytes are in the image",
				       hi_count(n, r->waste->unread),
				       r->waste->unread == 1 ? "" : "s",
				       hi_bytes(bytes, r->waste->unread_bytes)));
}

static void show_waste_rows(const struct hi_waste_report *r, struct hi_page *page)
{
	hi_page_heading(page, r->row_names ? "By the function that allocated" : "By type",
			"a byte can be in several columns");
	hi_doc_show_rows(page, &lines, r, form_of_waste(r), r->rows, r->n_rows);
	if (r->n_rows == 0)
		hi_page_note(page, "none");
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
	if (r->n_rows)
		hi_page_note(page,
			     "copies: objects with the same bytes as another of their "
			     "type; unused: beyond what the type uses, or behind the end "
			     "of a text (there may be data that no type describes); "
			     "savable: what smaller requests would save of it");
}

static void show_groups(const struct hi_waste_report *r, struct hi_page *page)
{
	const struct hi_waste *waste = r->waste;
	char n[32], copies[32];

	if (waste->all.groups == 0)
		return;
	hi_page_heading(page, "Identical contents",
			hi_page_printf(page, "%s contents with %s extra copies",
				       hi_count(n, waste->all.groups),
				       hi_count(copies, waste->all.copies)));
	hi_doc_show_rows(page, &groups, r, form_of_waste(r), waste->groups,
			 waste->n_groups);
	hi_hidden_note(page,
		       &(struct hi_hidden){waste->beyond.groups, waste->beyond.copied},
		       &(struct hi_hidden){waste->below.groups, waste->below.copied},
		       &(struct hi_hidden){waste->other.groups, waste->other.copied});
	if (waste->texts_missing && waste->n_groups)
		hi_page_note(page, "their contents are not in the file; snap "
				   "--with-contents keeps the beginning of texts");
}

/* musl's mallocng alone keeps what was requested. */
static bool knows_requested_sizes(const struct hi_report_header *header)
{
	size_t n = 0;

	for (size_t i = 0; i < header->n_allocators; i++) {
		const struct hi_report_allocator *a = &header->allocators[i];

		if (a->refused && *a->refused)
			continue;
		if (strcmp(a->name, "musl") != 0 || !strstr(a->version, "mallocng"))
			return false;
		n++;
	}
	return n > 0;
}

static void show_classes(const struct hi_waste_report *r, struct hi_page *page)
{
	const struct hi_heap_use *use = r->use;
	struct hi_size_class all = {.count = use->allocated,
				    .bytes = use->allocated_bytes,
				    .header = use->header};
	struct hi_doc_row row = {.report = r, .variant = form_of_waste(r), .page = page};
	struct hi_report_table *t;

	hi_page_heading(page, "Allocated blocks by size",
			knows_requested_sizes(r->header) ? "as they were requested"
			: use->header ? "with headers; the requested sizes are "
					"not recorded"
				      : "the requested sizes are not recorded");
	t = hi_doc_show_table(page, &size_classes, row.variant);
	for (size_t i = 0; i <= use->n_classes; i++) {
		row.row = i < use->n_classes ? &use->classes[i] : &all;
		if (i == use->n_classes || use->classes[i].count)
			hi_doc_show_row(t, &size_classes, &row);
	}
}

static void show_slabs(const struct hi_waste_report *r, struct hi_page *page)
{
	struct hi_doc_row all = {.report = r, .row = &r->all_slabs, .page = page};
	struct hi_report_table *t;
	char bytes[24];

	if (!r->n_slabs && !r->slabs_beyond.rows)
		return;
	hi_page_heading(page, "Slabs", "equal slots side by side; by what is wasted");
	t = hi_doc_show_rows(page, &slabs, r, 0, r->slabs, r->n_slabs);
	hi_doc_show_row(t, &slabs, &all);
	hi_hidden_note(page, &r->slabs_beyond, &(struct hi_hidden){},
		       &(struct hi_hidden){});
	hi_page_note(page, "sparse: slabs that a few blocks, in under a quarter of the "
			   "slots, keep from going back to the system; wasted: memory "
			   "that no live block uses, resident or not");
	if (r->all_slabs.slack)
		hi_page_note(page, hi_page_printf(page,
						  "%s of what is wasted is between the "
						  "requested sizes and those of slots",
						  hi_bytes(bytes, r->all_slabs.slack)));
}

void hi_waste_display(const struct hi_waste_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_waste_headline(r, page);
	hi_report_header_facts(r->header, page, false);
	show_unread(r, page);
	show_waste_rows(r, page);
	show_groups(r, page);
	if (!r->header->allocator)
		return;
	show_classes(r, page);
	show_slabs(r, page);
	hi_page_heading(page, "Free blocks", "resident or not");
	hi_doc_show_rows(page, &free_blocks, r, 0, r->use->free, HI_FREE_KINDS);
	hi_page_heading(page, "Pages of the heap",
			r->use->residency_known
				? "resident; by how much of each is allocated"
				: "in the core; by how much of each is allocated");
	hi_doc_show_rows(page, &pages, r, 0, r->use->pages, HI_PAGE_FILLS);
	if (r->restricted)
		hi_page_note(page, r->use->n_slab_classes
					   ? "blocks, slabs, free blocks and pages are "
					     "of the whole heap"
					   : "blocks, free blocks and pages are of the "
					     "whole heap");
}
