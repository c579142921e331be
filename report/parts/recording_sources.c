/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/recording_sources.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/parts/frame_text.h"

enum { STACK_FRAMES = 40 };

/* ---- sums ---- */

static uint32_t group_of_piece(const struct hi_birth_groups *groups,
			       const struct hi_piece *piece)
{
	return groups->of_context && piece->context < groups->n_contexts
		       ? groups->of_context[piece->context]
		       : (uint32_t)HI_GROUP_NO_STACK;
}

static void add_piece_to_line(struct hi_pieces_line *line,
			      const struct hi_recorded *recorded,
			      const struct hi_piece *piece)
{
	bool is_whole = recorded->pieces.sources[piece->source].is_whole;
	struct hi_sample_weight w = hi_sample_weight(
		is_whole ? 0 : recorded->births->sample_bytes, piece->size);

	line->pieces += w.allocs;
	line->bytes += w.bytes;
	line->sized += piece->size != 0;
}

static int compare_pieces_lines(const void *a, const void *b)
{
	const struct hi_pieces_line *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->pieces != y->pieces)
		return x->pieces < y->pieces ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

/* Pieces are in the order of their sources. */
static void sum_pieces(struct hi_pieces_report *r, struct hi_pieces_line *by_group)
{
	const struct hi_pieces *p = &r->recorded->pieces;
	uint64_t i = 0;

	while (i < p->count) {
		uint32_t source = p->items[i].source;

		for (; i < p->count && p->items[i].source == source; i++) {
			add_piece_to_line(
				&by_group[group_of_piece(r->groups, &p->items[i])],
				r->recorded, &p->items[i]);
			add_piece_to_line(&r->sums[source], r->recorded, &p->items[i]);
		}
		for (uint32_t g = 0; g < r->groups->n_groups; g++) {
			if (!by_group[g].pieces)
				continue;
			by_group[g].source = source;
			by_group[g].group = g;
			r->rows[r->n_rows++] = by_group[g];
			by_group[g] = (struct hi_pieces_line){};
		}
	}
}

enum hi_status hi_pieces_report_make(const struct hi_recorded *recorded,
				     const struct hi_birth_groups *groups, size_t top,
				     struct hi_pieces_report *ret, struct hi_error *err)
{
	/* A group has a row of each source, if it has pieces of it. */
	uint64_t most = (uint64_t)groups->n_groups * HI_EVENT_SOURCES;
	struct hi_pieces_line *by_group =
		hi_calloc((size_t)groups->n_groups + 1, sizeof(*by_group));

	*ret = (struct hi_pieces_report){
		.recorded = recorded, .groups = groups, .top = top};
	if (most > recorded->pieces.count)
		most = recorded->pieces.count;
	ret->rows = hi_calloc(most + 1, sizeof(*ret->rows));
	if (!by_group || !ret->rows) {
		free(by_group);
		hi_pieces_report_free(ret);
		return hi_fail_memory(err, "report of pieces");
	}
	sum_pieces(ret, by_group);
	free(by_group);
	if (ret->n_rows)
		qsort(ret->rows, ret->n_rows, sizeof(*ret->rows), compare_pieces_lines);
	return HI_OK;
}

void hi_pieces_report_free(struct hi_pieces_report *report)
{
	free(report->rows);
	report->rows = NULL;
	report->n_rows = 0;
}

/* ---- text ---- */

static const char *mark_of_source(const struct hi_pieces_report *r, uint32_t source)
{
	return r->recorded->births->sample_bytes &&
			       !r->recorded->pieces.sources[source].is_whole
		       ? "~"
		       : "";
}

/* Of an allocator whose heap is decoded there are none. */
static bool has_pieces(const struct hi_pieces_report *r, uint32_t source)
{
	return r->recorded->pieces.sources[source].family != HI_FAMILY_MALLOC ||
	       r->sums[source].pieces;
}

static const char *sum_of_source_text(const struct hi_pieces_report *r, uint32_t source,
				      struct hi_page *page)
{
	const struct hi_pieces_line *sum = &r->sums[source];
	const char *mark = mark_of_source(r, source);
	char pieces[32], bytes[24];

	return hi_page_printf(
		page, "%s%s live, %s%s", mark, hi_count(pieces, sum->pieces),
		sum->sized || !sum->pieces ? mark : "",
		sum->sized || !sum->pieces ? hi_bytes(bytes, sum->bytes)
					   : "of unknown size (size= is missing)");
}

static const struct hi_frame_row *row_of_pieces(const struct hi_pieces_report *r,
						const struct hi_pieces_line *line)
{
	const struct hi_recorded *recorded = r->recorded;
	uint32_t key = r->groups->groups[line->group].key;

	if (line->group < HI_GROUPS_FIXED || !r->groups->of_context)
		return NULL;
	if (r->groups->by == HI_BORN_BY_CONTEXT)
		key = hi_context_site(&recorded->contexts, &recorded->frames, key);
	return key < recorded->frames.n_rows ? &recorded->frames.rows[key] : NULL;
}

static void show_pieces_line(const struct hi_pieces_report *r,
			     const struct hi_pieces_line *line, struct hi_report_table *t)
{
	const struct hi_frame_row *row = row_of_pieces(r, line);

	hi_cell_text(t, row ? hi_frame_function(row, t->page) : "(no stack)", 0);
	hi_cell_number(t, line->pieces);
	hi_cell_number(t, line->sized ? line->bytes : UINT64_MAX);
	hi_cell_percent(t, line->bytes, r->sums[line->source].bytes);
	hi_cell_text(t, row ? hi_frame_place(row, t->page) : "", 0);
}

static void show_pieces_of(const struct hi_pieces_report *r, uint32_t source,
			   struct hi_page *page)
{
	static const struct hi_column columns[] = {{"function", HI_COLUMN_TEXT},
						   {"pieces", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"share", HI_COLUMN_PERCENT},
						   {"where", HI_COLUMN_TEXT}};
	static const char *const about_pieces[HI_FAMILIES] = {
		[HI_FAMILY_MALLOC] = "in no block of a heap that is decoded",
		[HI_FAMILY_CALLS] = "pieces in memory of other allocators, in no other "
				    "sum",
		[HI_FAMILY_MAPPINGS] = "mapped in the recording, in no other sum"};
	uint32_t family = r->recorded->pieces.sources[source].family;
	struct hi_report_table *t;
	size_t shown = 0, n = 0;

	hi_page_heading(
		page,
		hi_page_printf(
			page, "Of %s: %s",
			hi_page_safe(page, r->recorded->pieces.sources[source].name),
			sum_of_source_text(r, source, page)),
		about_pieces[family < HI_FAMILIES ? family : 0]);
	if (!r->groups->of_context || !r->sums[source].pieces)
		return;
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_rows; i++) {
		if (r->rows[i].source != source)
			continue;
		if (n++ < r->top) {
			show_pieces_line(r, &r->rows[i], t);
			shown++;
		}
	}
	if (shown < n)
		hi_page_note(page, hi_page_printf(page, "%zu more (--all shows them)",
						  n - shown));
}

static const char *kind_of_source(const struct hi_recorded_source *source)
{
	static const char *const kinds[HI_FAMILIES] = {[HI_FAMILY_MALLOC] = "allocator",
						       [HI_FAMILY_CALLS] = "pool",
						       [HI_FAMILY_MAPPINGS] = "mappings"};

	return source->family < HI_FAMILIES ? kinds[source->family] : "";
}

static void show_sources_table(const struct hi_pieces_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"source", HI_COLUMN_TEXT},	{"kind", HI_COLUMN_WORD},
		{"allocated", HI_COLUMN_COUNT}, {"bytes", HI_COLUMN_BYTES},
		{"live", HI_COLUMN_COUNT},	{"live bytes", HI_COLUMN_BYTES}};
	const struct hi_pieces *p = &r->recorded->pieces;
	struct hi_report_table *t;

	hi_page_heading(page, "Sources that were followed",
			"in the recording, as requested");
	t = hi_page_table(page, columns, 6);
	for (uint32_t i = 0; i < p->n_sources; i++) {
		const struct hi_recorded_source *s = &p->sources[i];

		hi_cell_text(t, hi_page_safe(page, s->name), 0);
		hi_cell_text(t, kind_of_source(s), 0);
		hi_cell_number(t, s->totals.allocs);
		hi_cell_number(t, s->totals.bytes || !s->totals.allocs ? s->totals.bytes
								       : UINT64_MAX);
		hi_cell_number(t, hi_totals_live(&s->totals));
		hi_cell_number(t, s->totals.bytes || !s->totals.allocs
					  ? hi_totals_live_bytes(&s->totals)
					  : UINT64_MAX);
	}
}

void hi_pieces_display(const struct hi_pieces_report *r, struct hi_page *page)
{
	const struct hi_pieces *p = &r->recorded->pieces;

	if (p->n_sources > 1)
		show_sources_table(r, page);
	for (uint32_t i = 0; i < p->n_sources; i++)
		if (has_pieces(r, i))
			show_pieces_of(r, i, page);
}

/* ---- JSON ---- */

static void put_pieces_line_json(const struct hi_pieces_report *r,
				 const struct hi_pieces_line *line, struct hi_json *json)
{
	const struct hi_frame_row *row = row_of_pieces(r, line);
	uint32_t key = r->groups->groups[line->group].key;

	hi_json_object(json, NULL);
	if (row)
		hi_frame_json(row, "site", json);
	else
		hi_json_text(json, "site", NULL);
	if (r->groups->by == HI_BORN_BY_CONTEXT && line->group >= HI_GROUPS_FIXED)
		hi_frames_json(&r->recorded->contexts, &r->recorded->frames, key, json);
	hi_json_number(json, "pieces", line->pieces);
	hi_json_number(json, "bytes", line->sized ? line->bytes : UINT64_MAX);
	hi_json_end(json);
}

static void put_source_json(const struct hi_pieces_report *r, uint32_t i,
			    struct hi_json *json)
{
	const struct hi_recorded_source *s = &r->recorded->pieces.sources[i];

	hi_json_object(json, NULL);
	hi_json_text(json, "name", s->name);
	hi_json_text(json, "kind", kind_of_source(s));
	hi_json_number(json, "allocations", s->totals.allocs);
	hi_json_number(json, "allocated_bytes", s->totals.bytes);
	hi_json_number(json, "live", hi_totals_live(&s->totals));
	hi_json_number(json, "live_bytes", hi_totals_live_bytes(&s->totals));
	hi_json_array(json, "rows");
	for (size_t k = 0; k < r->n_rows && r->groups->of_context; k++)
		if (r->rows[k].source == i)
			put_pieces_line_json(r, &r->rows[k], json);
	hi_json_end(json);
	hi_json_end(json);
}

void hi_pieces_json(const struct hi_pieces_report *r, struct hi_json *json)
{
	hi_json_array(json, "sources");
	for (uint32_t i = 0; i < r->recorded->pieces.n_sources; i++)
		put_source_json(r, i, json);
	hi_json_end(json);
}

/* ---- one piece ---- */

static uint64_t age_of_piece(const struct hi_recorded *recorded,
			     const struct hi_piece *piece)
{
	const struct hi_births *b = recorded->births;
	uint64_t length = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;

	return length > piece->time_ns ? length - piece->time_ns : 0;
}

void hi_piece_show(const struct hi_recorded *recorded, const struct hi_piece *piece,
		   struct hi_page *page)
{
	const char *name;
	char age[24], size[24];

	if (!piece)
		return;
	name = hi_page_safe(page, recorded->pieces.sources[piece->source].name);
	hi_page_heading(
		page,
		hi_page_printf(page, "In 0x%" PRIx64 ", which %s gave", piece->addr,
			       name),
		hi_page_printf(
			page, "%s, %s before the end of the recording, by thread %u",
			piece->size ? hi_bytes(size, piece->size) : "of unknown size",
			hi_text_duration(age, age_of_piece(recorded, piece)),
			piece->tid));
	hi_frames_show(&recorded->contexts, &recorded->frames, piece->context,
		       STACK_FRAMES, page);
}

void hi_piece_json(const struct hi_recorded *recorded, const struct hi_piece *piece,
		   struct hi_json *json)
{
	if (!piece)
		return;
	hi_json_object(json, "piece");
	hi_json_text(json, "source", recorded->pieces.sources[piece->source].name);
	hi_json_address(json, "address", piece->addr);
	hi_json_number(json, "size", piece->size ? piece->size : UINT64_MAX);
	hi_json_number(json, "thread", piece->tid);
	hi_json_number(json, "age_ns", age_of_piece(recorded, piece));
	hi_frames_json(&recorded->contexts, &recorded->frames, piece->context, json);
	hi_json_end(json);
}
