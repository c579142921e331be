/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for document_same_test.c alone. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"
#include "report/reports/waste/waste_report.h"

static uint64_t old_waste_of_slabs(const struct hi_heap_use *use)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < use->n_slab_classes; i++)
		bytes += hi_slab_class_wasted(&use->slab_classes[i]);
	return bytes;
}

static const char *old_free_kind_key(unsigned kind)
{
	/* Without "free_", which all of them begin with. */
	return hi_block_state_key((enum hi_block_state)(HI_BLOCK_FREE_FIRST + kind)) + 5;
}

static bool old_free_kind_shows(const struct hi_heap_use *use, unsigned kind)
{
	return use->free[kind].count ||
	       (use->states ? use->states >> (HI_BLOCK_FREE_FIRST + kind) & 1
			    : HI_BLOCK_FREE_FIRST + kind <= HI_BLOCK_FREE_TOP);
}

static const char *old_page_fill_key(enum hi_page_fill fill)
{
	static const char *const keys[HI_PAGE_FILLS] = {
		[HI_PAGE_EMPTY] = "empty",
		[HI_PAGE_UNDER_QUARTER] = "under_quarter",
		[HI_PAGE_UNDER_HALF] = "under_half",
		[HI_PAGE_OVER_HALF] = "over_half",
	};

	return keys[fill];
}

/* ---- JSON ---- */

/* The members of an object that the caller opened. */
static void counts_json(const struct hi_waste_row *row, struct hi_json *json)
{
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_object(json, "identical");
	hi_json_number(json, "groups", row->groups);
	hi_json_number(json, "copies", row->copies);
	hi_json_number(json, "bytes", row->copied);
	hi_json_end(json);
	hi_json_object(json, "unused");
	hi_json_number(json, "objects", row->loose);
	hi_json_number(json, "bytes", row->unused);
	hi_json_number(json, "savable", row->savable);
	hi_json_end(json);
	hi_json_object(json, "zero_filled");
	hi_json_number(json, "objects", row->zeros);
	hi_json_number(json, "bytes", row->zero_bytes);
	hi_json_end(json);
}

static void groups_json(const struct hi_waste_report *r, struct hi_json *json)
{

	hi_json_array(json, "groups");
	for (size_t i = 0; i < r->waste->n_groups; i++) {
		const struct hi_waste_group *g = &r->waste->groups[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type",
			     hi_type_key(hi_graph_type_name(r->graph, g->type)));
		hi_json_address(json, "example", hi_graph_address(r->graph, g->first));
		hi_json_number(json, "objects", g->objects);
		hi_json_number(json, "size", g->size);
		hi_json_number(json, "bytes", g->copied);
		hi_json_text(json, "text", g->is_text ? g->text : NULL);
		hi_json_bool(json, "cut", g->cut);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_object(json, "groups_hidden");
	hi_json_number(json, "by_top", r->waste->beyond.groups);
	hi_json_number(json, "by_min_size", r->waste->below.groups);
	hi_json_number(json, "by_type", r->waste->other.groups);
	hi_json_end(json);
}

static void classes_json(const struct hi_heap_use *use, struct hi_json *json)
{
	hi_json_array(json, "size_classes");
	for (size_t i = 0; i < use->n_classes; i++) {
		const struct hi_size_class *c = &use->classes[i];

		hi_json_object(json, NULL);
		hi_json_number(json, "largest", c->largest);
		hi_json_number(json, "blocks", c->count);
		hi_json_number(json, "bytes", c->bytes);
		hi_json_number(json, "headers", c->header);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void slab_counts_json(const struct hi_slab_class *c, uint64_t wasted,
			     struct hi_json *json)
{
	hi_json_number(json, "slabs", c->slabs);
	hi_json_number(json, "bytes", c->bytes);
	hi_json_number(json, "slots", c->slots);
	hi_json_number(json, "live", c->live);
	hi_json_number(json, "cached", c->cached);
	hi_json_number(json, "free", hi_slab_class_free(c));
	hi_json_number(json, "empty_slabs", c->empty);
	hi_json_number(json, "sparse_slabs", c->sparse);
	hi_json_number(json, "sparse_bytes", c->sparse_bytes);
	hi_json_number(json, "rounding", c->slack);
	hi_json_number(json, "wasted", wasted);
}

/* Absent where no allocator has slabs. */
static void slabs_json(const struct hi_waste_report *r, struct hi_json *json)
{
	if (!r->n_slabs && !r->slabs_beyond.rows)
		return;
	hi_json_object(json, "slabs");
	slab_counts_json(&r->all_slabs, old_waste_of_slabs(r->use), json);
	hi_json_end(json);
	hi_json_array(json, "slab_classes");
	for (size_t i = 0; i < r->n_slabs; i++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "allocator", r->slabs[i].allocator);
		hi_json_number(json, "size", r->slabs[i].size);
		slab_counts_json(&r->slabs[i], hi_slab_class_wasted(&r->slabs[i]), json);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_object(json, "slab_classes_hidden");
	hi_json_number(json, "by_top", r->slabs_beyond.rows);
	hi_json_number(json, "wasted", r->slabs_beyond.bytes);
	hi_json_end(json);
}

static void allocator_json(const struct hi_heap_use *use, struct hi_json *json)
{
	classes_json(use, json);
	hi_json_array(json, "free");
	for (unsigned i = 0; i < HI_FREE_KINDS; i++) {
		const struct hi_free_blocks *f = &use->free[i];

		if (!old_free_kind_shows(use, i))
			continue;
		hi_json_object(json, NULL);
		hi_json_text(json, "kind", old_free_kind_key(i));
		hi_json_number(json, "blocks", f->count);
		hi_json_number(json, "bytes", f->bytes);
		hi_json_number(json, "largest", f->largest);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_array(json, "pages");
	for (unsigned i = 0; i < HI_PAGE_FILLS; i++) {
		const struct hi_page_class *p = &use->pages[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "fill", old_page_fill_key((enum hi_page_fill)i));
		hi_json_number(json, "pages", p->pages);
		hi_json_number(json, "bytes", p->bytes);
		hi_json_number(json, "allocated", p->allocated);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_bool(json, "residency_known", use->residency_known);
}

static void old_waste_json(const struct hi_waste_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/waste/v1", json);
	hi_json_object(json, "live");
	counts_json(&r->waste->all, json);
	hi_json_end(json);
	hi_json_object(json, "unread");
	hi_json_number(json, "objects", r->waste->unread);
	hi_json_number(json, "bytes", r->waste->unread_bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++) {
		hi_json_object(json, NULL);
		if (r->row_names)
			hi_json_text(json, "site", r->rows[i].name);
		else
			hi_json_text(json, "type", hi_type_key(r->rows[i].name));
		counts_json(&r->rows[i].n, json);
		hi_json_end(json);
	}
	hi_json_end(json);
	groups_json(r, json);
	if (r->header->allocator) {
		allocator_json(r->use, json);
		slabs_json(r, json);
	}
	hi_hidden_json(json, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
	hi_json_end(json);
}
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
	static const struct hi_column by_type[] = {
		{"type", HI_COLUMN_TEXT},    {"live", HI_COLUMN_BYTES},
		{"copies", HI_COLUMN_BYTES}, {"zeros", HI_COLUMN_BYTES},
		{"unused", HI_COLUMN_BYTES}, {"savable", HI_COLUMN_BYTES}};
	static const struct hi_column by_site[] = {
		{"function", HI_COLUMN_TEXT}, {"live", HI_COLUMN_BYTES},
		{"copies", HI_COLUMN_BYTES},  {"zeros", HI_COLUMN_BYTES},
		{"unused", HI_COLUMN_BYTES},  {"savable", HI_COLUMN_BYTES}};
	struct hi_report_table *t;

	hi_page_heading(page, r->row_names ? "By the function that allocated" : "By type",
			"a byte can be in several columns");
	t = hi_page_table(page, r->row_names ? by_site : by_type, 6);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_waste_row *row = &r->rows[i].n;

		hi_cell_text(t,
			     r->row_names ? hi_page_safe(page, r->rows[i].name)
					  : hi_type_label(r->rows[i].name, page),
			     0);
		hi_cell_link(t,
			     r->row_names
				     ? hi_address_of_site(page, "census", r->rows[i].name)
				     : hi_address_of_any_type(page, r->rows[i].name));
		hi_cell_number(t, row->bytes);
		hi_cell_number(t, row->copied);
		hi_cell_link(t, r->row_names ? hi_address_of_site(page, "waste",
								  r->rows[i].name)
					     : hi_address_where_type(page, "waste",
								     r->rows[i].name));
		hi_cell_number(t, row->zero_bytes);
		hi_cell_number(t, row->unused);
		hi_cell_number(t, row->savable);
	}
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

static const char *group_text(const struct hi_waste_group *g, struct hi_page *page)
{
	if (!g->is_text)
		return "";
	return hi_page_printf(page, "\"%s%s\"", hi_page_safe(page, g->text),
			      g->cut ? "..." : "");
}

static struct hi_hidden hidden_of(const struct hi_waste_left *left)
{
	return (struct hi_hidden){left->groups, left->copied};
}

static struct hi_report_table *groups_table(const struct hi_waste_report *r,
					    struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"saved", HI_COLUMN_BYTES},   {"objects", HI_COLUMN_COUNT},
		{"size", HI_COLUMN_BYTES},    {"type", HI_COLUMN_TEXT},
		{"contents", HI_COLUMN_TEXT}, {"example", HI_COLUMN_ADDRESS}};
	static const struct hi_column without_texts[] = {{"saved", HI_COLUMN_BYTES},
							 {"objects", HI_COLUMN_COUNT},
							 {"size", HI_COLUMN_BYTES},
							 {"type", HI_COLUMN_TEXT},
							 {"example", HI_COLUMN_ADDRESS}};

	return r->waste->texts_missing ? hi_page_table(page, without_texts, 5)
				       : hi_page_table(page, columns, 6);
}

static void show_groups(const struct hi_waste_report *r, struct hi_page *page)
{
	struct hi_hidden beyond = hidden_of(&r->waste->beyond);
	struct hi_hidden below = hidden_of(&r->waste->below);
	struct hi_hidden other = hidden_of(&r->waste->other);
	char groups[32], copies[32];
	struct hi_report_table *t;

	if (r->waste->all.groups == 0)
		return;
	hi_page_heading(page, "Identical contents",
			hi_page_printf(page, "%s contents with %s extra copies",
				       hi_count(groups, r->waste->all.groups),
				       hi_count(copies, r->waste->all.copies)));
	t = groups_table(r, page);
	for (size_t i = 0; i < r->waste->n_groups; i++) {
		const struct hi_waste_group *g = &r->waste->groups[i];

		hi_cell_number(t, g->copied);
		hi_cell_number(t, g->objects);
		hi_cell_number(t, g->size);
		hi_cell_text(
			t, hi_type_label(hi_graph_type_name(r->graph, g->type), page), 0);
		hi_cell_link(t, hi_address_of_any_type(
					page, hi_graph_type_name(r->graph, g->type)));
		if (!r->waste->texts_missing)
			hi_cell_text(t, group_text(g, page), 0);
		hi_cell_number(t, hi_graph_address(r->graph, g->first));
		hi_cell_link(t, hi_address_of_object(
					page, hi_graph_address(r->graph, g->first)));
	}
	hi_hidden_note(page, &beyond, &below, &other);
	if (r->waste->texts_missing && r->waste->n_groups)
		hi_page_note(page, "their contents are not in the file; snap "
				   "--with-contents keeps the beginning of texts");
}

static const char *class_label(const struct hi_size_class *c, struct hi_page *page)
{
	char bytes[24];

	if (c->largest == UINT64_MAX)
		return "larger";
	return hi_page_printf(page, "to %s", hi_bytes(bytes, c->largest));
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

static void put_class(struct hi_report_table *t, const char *label, uint64_t blocks,
		      uint64_t bytes, uint64_t header, bool has_headers)
{
	hi_cell_text(t, label, 0);
	hi_cell_number(t, blocks);
	hi_cell_number(t, bytes);
	if (!has_headers)
		return;
	hi_cell_number(t, header);
	hi_cell_percent(t, header, bytes);
}

static void show_classes(const struct hi_waste_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"block size", HI_COLUMN_WORD},
						   {"blocks", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"headers", HI_COLUMN_BYTES},
						   {"of bytes", HI_COLUMN_PERCENT}};
	const struct hi_heap_use *use = r->use;
	bool has_headers = use->header != 0;
	struct hi_report_table *t;

	hi_page_heading(page, "Allocated blocks by size",
			knows_requested_sizes(r->header) ? "as they were requested"
			: has_headers ? "with headers; the requested sizes are "
					"not recorded"
				      : "the requested sizes are not recorded");
	t = hi_page_table(page, columns, has_headers ? 5 : 3);
	for (size_t i = 0; i < use->n_classes; i++) {
		const struct hi_size_class *c = &use->classes[i];

		if (c->count == 0)
			continue;
		put_class(t, class_label(c, page), c->count, c->bytes, c->header,
			  has_headers);
	}
	put_class(t, "all", use->allocated, use->allocated_bytes, use->header,
		  has_headers);
	hi_report_table_stress(t);
}

/* ---- slabs ---- */

static bool has_several_slab_allocators(const struct hi_heap_use *use)
{
	for (size_t i = 1; i < use->n_slab_classes; i++)
		if (strcmp(use->slab_classes[i].allocator,
			   use->slab_classes[0].allocator) != 0)
			return true;
	return false;
}

static void put_slab_class(struct hi_report_table *t, const char *label,
			   const struct hi_slab_class *c, uint64_t wasted)
{
	hi_cell_text(t, label, 0);
	hi_cell_number(t, c->bytes);
	hi_cell_number(t, c->live);
	hi_cell_number(t, c->cached);
	hi_cell_number(t, hi_slab_class_free(c));
	hi_cell_percent(t, c->live, c->slots);
	hi_cell_number(t, c->slabs);
	hi_cell_number(t, c->empty);
	hi_cell_number(t, c->sparse_bytes);
	hi_cell_number(t, wasted);
}

static const char *slab_label(const struct hi_slab_class *c, bool with_allocator,
			      struct hi_page *page)
{
	char bytes[24];

	hi_bytes(bytes, c->size);
	return with_allocator ? hi_page_printf(page, "%s, %s", bytes,
					       hi_page_safe(page, c->allocator))
			      : hi_page_printf(page, "%s", bytes);
}

static void show_slabs(const struct hi_waste_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"slots of", HI_COLUMN_WORD}, {"memory", HI_COLUMN_BYTES},
		{"live", HI_COLUMN_COUNT},    {"cached", HI_COLUMN_MINOR_COUNT},
		{"free", HI_COLUMN_COUNT},    {"in use", HI_COLUMN_PERCENT},
		{"slabs", HI_COLUMN_COUNT},   {"empty", HI_COLUMN_MINOR_COUNT},
		{"sparse", HI_COLUMN_BYTES},  {"wasted", HI_COLUMN_BYTES}};
	bool several = has_several_slab_allocators(r->use);
	struct hi_report_table *t;
	char bytes[24];

	if (!r->n_slabs && !r->slabs_beyond.rows)
		return;
	hi_page_heading(page, "Slabs", "equal slots side by side; by what is wasted");
	t = hi_page_table(page, columns, 10);
	for (size_t i = 0; i < r->n_slabs; i++)
		put_slab_class(t, slab_label(&r->slabs[i], several, page), &r->slabs[i],
			       hi_slab_class_wasted(&r->slabs[i]));
	put_slab_class(t, "all", &r->all_slabs, old_waste_of_slabs(r->use));
	hi_report_table_stress(t);
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

static void show_free(const struct hi_heap_use *use, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"free in", HI_COLUMN_WORD},
						   {"blocks", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"largest", HI_COLUMN_BYTES}};
	struct hi_report_table *t;

	hi_page_heading(page, "Free blocks", "resident or not");
	t = hi_page_table(page, columns, 4);
	for (unsigned i = 0; i < HI_FREE_KINDS; i++) {
		if (!old_free_kind_shows(use, i))
			continue;
		hi_cell_text(t,
			     hi_block_state_label(
				     (enum hi_block_state)(HI_BLOCK_FREE_FIRST + i)),
			     0);
		hi_cell_number(t, use->free[i].count);
		hi_cell_number(t, use->free[i].bytes);
		hi_cell_number(t, use->free[i].largest);
	}
}

static void show_pages(const struct hi_heap_use *use, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"allocated", HI_COLUMN_WORD},
						   {"pages", HI_COLUMN_COUNT},
						   {"resident", HI_COLUMN_BYTES},
						   {"kept by", HI_COLUMN_BYTES},
						   {"pinned", HI_COLUMN_BYTES}};
	static const char *const labels[HI_PAGE_FILLS] = {
		[HI_PAGE_EMPTY] = "nothing",
		[HI_PAGE_UNDER_QUARTER] = "under a quarter",
		[HI_PAGE_UNDER_HALF] = "a quarter to a half",
		[HI_PAGE_OVER_HALF] = "a half or more",
	};
	struct hi_report_table *t;

	hi_page_heading(page, "Pages of the heap",
			use->residency_known
				? "resident; by how much of each is allocated"
				: "in the core; by how much of each is "
				  "allocated");
	t = hi_page_table(page, columns, 5);
	for (unsigned i = 0; i < HI_PAGE_FILLS; i++) {
		const struct hi_page_class *p = &use->pages[i];

		hi_cell_text(t, labels[i], 0);
		hi_cell_number(t, p->pages);
		hi_cell_number(t, p->bytes);
		hi_cell_number(t, p->allocated);
		if (i == HI_PAGE_EMPTY) /* nothing keeps these */
			hi_cell_number(t, 0);
		else
			hi_cell_number(t, p->bytes - p->allocated);
	}
}

static void old_waste_display(const struct hi_waste_report *r, struct hi_page *page)
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
	show_free(r->use, page);
	show_pages(r->use, page);
	if (r->restricted)
		hi_page_note(page, r->use->n_slab_classes
					   ? "blocks, slabs, free blocks and pages are "
					     "of the whole heap"
					   : "blocks, free blocks and pages are of the "
					     "whole heap");
}
