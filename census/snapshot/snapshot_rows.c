/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes, reads and checks sections as the table of them says. */
#include "census/snapshot/snapshot_sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/graph/graph_internal.h"
#include "census/snapshot/snapshot_internal.h"

/*
 * Note [Long texts]
 *
 * Each text of a row is looked at once here, and again by those who show or compare it,
 * and a row of a few bytes may refer to a text of a megabyte, as may a million of them.
 * So the texts of a section may have TEXTS_FREE bytes together, and TEXTS_OF_ROW for each
 * row.
 */
enum { TEXTS_FREE = 64 << 20, TEXTS_OF_ROW = 512 };

static uint64_t number_at(const uint8_t *at, uint32_t width)
{
	uint64_t number = 0;

	memcpy(&number, at, width);
	return number;
}

/* ---- checks ---- */

struct checked_rows {
	const struct hi_snapshot *s;
	const struct hi_section *section;
	const uint8_t *rows;
	uint64_t n;
};

static enum hi_status refuse_row(const struct checked_rows *c,
				 const struct hi_stored_column *column, uint64_t i,
				 const char *why, struct hi_error *err)
{
	return hi_snapshot_bad(c->s, c->section->name, err, "row %" PRIu64 "%s%s %s", i,
			       column && column->name ? ": " : "",
			       column && column->name ? column->name : "", why);
}

static enum hi_status check_section_texts(const struct checked_rows *c,
					  const struct hi_stored_column *column,
					  uint64_t *left, struct hi_error *err)
{
	for (uint64_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < (column->times ? column->times : 1); k++) {
			uint64_t offset =
				number_at(c->rows + i * c->section->item +
						  column->offset + k * column->width,
					  column->width);
			const char *text = hi_snapshot_string(c->s, offset);
			size_t size = 0;

			if (!text)
				return refuse_row(
					c, column, i,
					"refers to a string that does not exist", err);
			if (!c->section->has_long_texts)
				size = strlen(text);
			if (size > *left)
				return hi_snapshot_bad(
					c->s, c->section->name, err,
					"its texts are too long to belong to %" PRIu64
					" rows",
					c->n);
			*left -= size;
		}
	return HI_OK;
}

static enum hi_status check_section_reals(const struct checked_rows *c,
					  const struct hi_stored_column *column,
					  struct hi_error *err)
{
	uint64_t times = column->times ? column->times : 1;

	for (uint64_t i = 0; i < c->n * times; i++) {
		double number;

		memcpy(&number,
		       c->rows + i / times * c->section->item + column->offset +
			       i % times * sizeof(number),
		       sizeof(number));
		if (!isfinite(number) || number < 0)
			return refuse_row(c, column, i / times, "is no amount", err);
	}
	return HI_OK;
}

/* Numbers of [least, end) or from `special` on; end 0: of any size. */
struct number_range {
	uint64_t least, end, special;
	bool is_empty;
};

static struct number_range range_of_column(const struct hi_stored_column *column,
					   const uint64_t *bounds)
{
	struct number_range r = {.least = column->least,
				 .end = column->most ? column->most + 1 : 0,
				 .special =
					 column->special ? column->special : UINT64_MAX};

	if (column->below) {
		r.end = bounds[column->below] + column->from_one;
		r.least = column->from_one ? 1 : column->least;
		r.is_empty = r.end <= r.least;
	}
	return r;
}

static bool is_column_in_range(const struct number_range *r, uint64_t number)
{
	return (!r->is_empty && number >= r->least && (!r->end || number < r->end)) ||
	       (r->special != UINT64_MAX && number >= r->special);
}

/* A column of 4 bytes, without a branch, so that the compiler makes vectors of it. */
static bool words_are_below(const uint32_t *words, uint64_t n, uint64_t end)
{
	uint32_t beyond = 0, most = (uint32_t)(end - 1);

	for (uint64_t i = 0; i < n; i++)
		beyond |= words[i] > most;
	return !beyond;
}

static enum hi_status check_section_numbers(const struct checked_rows *c,
					    const struct hi_stored_column *column,
					    const uint64_t *bounds, struct hi_error *err)
{
	struct number_range range = range_of_column(column, bounds);
	const uint8_t *at = c->rows + column->offset;
	uint32_t item = c->section->item;

	if (!column->below && !column->least && !column->most)
		return HI_OK;
	if (item == 4 && !range.is_empty && !range.least && range.end &&
	    range.end <= UINT32_MAX && range.special == UINT64_MAX &&
	    words_are_below((const uint32_t *)(const void *)c->rows, c->n, range.end))
		return HI_OK;
	for (uint64_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < (column->times ? column->times : 1); k++)
			if (!is_column_in_range(
				    &range, number_at(at + i * item + k * column->width,
						      column->width)))
				return refuse_row(
					c, column, i,
					column->below ? "refers to what does not exist"
						      : "is not a number of these",
					err);
	return HI_OK;
}

static enum hi_status check_section_order(const struct checked_rows *c,
					  const struct hi_stored_column *column,
					  struct hi_error *err)
{
	const uint8_t *at = c->rows + column->offset;

	for (uint64_t i = 1; i < c->n; i++) {
		uint64_t before =
			number_at(at + (i - 1) * c->section->item, column->width);
		uint64_t number = number_at(at + i * c->section->item, column->width);

		if (number < before || (number == before && !column->may_repeat))
			return refuse_row(c, column, i, "is not in order", err);
	}
	return HI_OK;
}

static enum hi_status check_section_rows(const struct checked_rows *c,
					 const uint64_t *bounds, struct hi_error *err)
{
	const struct hi_section *section = c->section;
	uint64_t left = TEXTS_FREE + c->n * TEXTS_OF_ROW;
	enum hi_status status = HI_OK;

	for (size_t k = 0; k < section->n_columns && status == HI_OK; k++) {
		const struct hi_stored_column *column = &section->columns[k];

		if (column->kind == HI_STORED_TEXT)
			status = check_section_texts(c, column, &left, err);
		if (column->kind == HI_STORED_REAL)
			status = check_section_reals(c, column, err);
		if (column->kind == HI_STORED_NUMBER)
			status = check_section_numbers(c, column, bounds, err);
		if (status == HI_OK && column->ascends)
			status = check_section_order(c, column, err);
	}
	for (uint64_t i = 0; i < c->n && section->holds && status == HI_OK; i++) {
		const uint8_t *row = c->rows + i * section->item;

		if (!section->holds(row, i ? row - section->item : NULL, bounds))
			status = refuse_row(c, NULL, i, "is inconsistent", err);
	}
	return status;
}

static enum hi_status check_row_count(const struct hi_snapshot *s,
				      const struct hi_section *section, uint64_t n,
				      struct hi_error *err)
{
	uint64_t most = section->most	    ? section->most
			: section->is_large ? UINT64_MAX
					    : UINT32_MAX - 1;

	if (section->count_most)
		most = s->bounds[section->count_most];
	if (section->count && n != s->bounds[section->count])
		return hi_snapshot_bad(s, section->name, err,
				       "%" PRIu64 " rows where %" PRIu64 " belong", n,
				       s->bounds[section->count]);
	if (n < section->least)
		return hi_snapshot_bad(s, section->name, err, "%" PRIu64 " rows", n);
	return n > most ? hi_snapshot_bad(s, section->name, err, "too many rows") : HI_OK;
}

void hi_snapshot_bound(struct hi_snapshot *s, enum hi_bound bound, uint64_t n)
{
	/* Rows that held before may hold no more. */
	for (unsigned i = 0; i < HI_SNAPSHOT_SECTIONS && s->bounds[bound] != n; i++)
		s->loaded[i].holds = false;
	s->bounds[bound] = n;
	if (bound == HI_BOUND_OBJECTS) {
		s->bounds[HI_BOUND_OBJECT_WORDS] = (n + 63) / 64;
		s->bounds[HI_BOUND_EDGE_ROWS] = n + hi_chunk_count((hi_node)n);
	}
	if (bound == HI_BOUND_ROOTS)
		s->bounds[HI_BOUND_ROOT_ROWS] = n + 1;
	if (bound == HI_BOUND_NODES)
		s->bounds[HI_BOUND_NODE_WORDS] = hi_bits_size((uint32_t)n) / 8;
}

/* ---- in place ---- */

enum hi_status hi_snapshot_begin_rows(struct hi_snapshot_writer *w, const char *name,
				      struct hi_error *err)
{
	const struct hi_section *section = hi_snapshot_section(name);

	return hi_snapshot_begin(w, name, section ? section->item : 0, err);
}

enum hi_status hi_snapshot_put_section(struct hi_snapshot_writer *w, const char *name,
				       const void *rows, uint64_t n, struct hi_error *err)
{
	const struct hi_section *section = hi_snapshot_section(name);

	return section ? hi_snapshot_put(w, name, rows, section->item, n, err)
		       : hi_fail(err, HI_USAGE, 0, "snapshot: section %.32s", name);
}

enum hi_status hi_snapshot_put_lasting_section(struct hi_snapshot_writer *w,
					       const char *name, const void *rows,
					       uint64_t n, struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, name, err);

	if (status == HI_OK)
		status = hi_snapshot_append_lasting(
			w, rows, (size_t)n * hi_snapshot_section(name)->item, err);
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

enum hi_status hi_snapshot_rows(struct hi_snapshot *s, const char *name, void *rows_ret,
				uint64_t *n_ret, struct hi_error *err)
{
	const struct hi_section *section = hi_snapshot_section(name);
	struct checked_rows c = {s, section, NULL, 0};
	int at = hi_snapshot_find(s, name);
	const void *items = NULL;
	enum hi_status status;

	memset(rows_ret, 0, sizeof(items));
	*n_ret = 0;
	if (!section)
		return hi_fail(err, HI_USAGE, 0, "snapshot: section %.32s", name);
	if (at < 0 && section->presence == HI_SECTION_OPTIONAL) {
		if (section->sets)
			hi_snapshot_bound(s, section->sets, 0);
		return HI_OK;
	}
	if (at < 0 && section->presence == HI_SECTION_NEEDED)
		return hi_snapshot_bad(s, name, err, "is missing");
	status = hi_snapshot_get(s, name, section->item, &items, &c.n, err);
	if (status != HI_OK)
		return status;
	c.rows = items;
	if (!s->loaded[at].holds) {
		status = check_row_count(s, section, c.n, err);
		if (status == HI_OK)
			status = check_section_rows(&c, s->bounds, err);
		if (status != HI_OK)
			return status;
		if (section->sets)
			hi_snapshot_bound(s, section->sets, c.n);
		s->loaded[at].holds = true;
	}
	memcpy(rows_ret, &items, sizeof(items));
	*n_ret = c.n;
	return HI_OK;
}

/* ---- members of a struct ---- */

typedef enum hi_status put_section_fn(struct hi_snapshot_writer *w, const char *name,
				      const void *rows, uint64_t n, struct hi_error *err);

static enum hi_status put_members(struct hi_snapshot_writer *w,
				  const struct hi_section_member *members, size_t n,
				  const void *from, put_section_fn *put,
				  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n && status == HI_OK; i++) {
		const struct hi_section_member *m = &members[i];
		const struct hi_section *section = hi_snapshot_section(m->section);
		const uint8_t *at = from;
		const void *rows;

		memcpy(&rows, at + m->rows, sizeof(rows));
		if (rows || !section || section->presence != HI_SECTION_OPTIONAL)
			status = put(w, m->section, rows,
				     number_at(at + m->count, m->count_width), err);
	}
	return status;
}

enum hi_status hi_snapshot_put_members(struct hi_snapshot_writer *w,
				       const struct hi_section_member *members, size_t n,
				       const void *from, struct hi_error *err)
{
	return put_members(w, members, n, from, hi_snapshot_put_section, err);
}

enum hi_status hi_snapshot_put_lasting_members(struct hi_snapshot_writer *w,
					       const struct hi_section_member *members,
					       size_t n, const void *from,
					       struct hi_error *err)
{
	return put_members(w, members, n, from, hi_snapshot_put_lasting_section, err);
}

enum hi_status hi_snapshot_take_members(struct hi_snapshot *s,
					const struct hi_section_member *members, size_t n,
					void *to, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n && status == HI_OK; i++) {
		const struct hi_section_member *m = &members[i];
		uint8_t *at = to;
		const void *rows = NULL;
		uint64_t count = 0;

		status = hi_snapshot_rows(s, m->section, &rows, &count, err);
		if (status != HI_OK)
			break;
		memcpy(at + m->rows, &rows, sizeof(rows));
		if (rows)
			memcpy(at + m->count, &count, m->count_width);
	}
	return status;
}

/* ---- rows that are another struct in memory ---- */

enum hi_status hi_snapshot_pack_row(struct hi_snapshot_writer *w,
				    const struct hi_row_map *map, const void *from,
				    void *row, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t k = 0; k < map->n_members && status == HI_OK; k++) {
		const struct hi_row_member *m = &map->members[k];
		const uint8_t *at = (const uint8_t *)from + m->member;
		uint64_t number = 0;

		if (m->kind == HI_MEMBER_TEXT) {
			uint32_t offset = 0;
			const char *text;

			memcpy(&text, at, sizeof(text));
			status = hi_snapshot_put_string(w, text, &offset, err);
			number = offset;
		} else {
			number = number_at(at, m->member_width);
		}
		memcpy((uint8_t *)row + m->column, &number, m->column_width);
	}
	return status;
}

void hi_snapshot_unpack_row(const struct hi_snapshot *s, const struct hi_row_map *map,
			    const void *row, void *to)
{
	for (size_t k = 0; k < map->n_members; k++) {
		const struct hi_row_member *m = &map->members[k];
		uint8_t *at = (uint8_t *)to + m->member;
		uint64_t number =
			number_at((const uint8_t *)row + m->column, m->column_width);
		const char *text;

		if (m->kind == HI_MEMBER_TEXT) {
			text = hi_snapshot_string(s, number);
			memcpy(at, &text, sizeof(text));
			continue;
		}
		if (m->kind == HI_MEMBER_BOOL)
			number = number != 0;
		memcpy(at, &number, m->member_width);
	}
}

enum hi_status hi_snapshot_put_rows(struct hi_snapshot_writer *w,
				    const struct hi_row_map *map, const void *rows,
				    uint64_t n, struct hi_error *err)
{
	const struct hi_section *section = hi_snapshot_section(map->section);
	HI_GUARD(free) uint8_t *items = NULL;
	enum hi_status status = HI_OK;

	if (!section)
		return hi_fail(err, HI_USAGE, 0, "snapshot: section %.32s", map->section);
	items = hi_calloc(n + 1, section->item);
	if (!items)
		return hi_fail_memory(err, section->name);
	for (uint64_t i = 0; i < n && status == HI_OK; i++)
		status = hi_snapshot_pack_row(w, map,
					      (const uint8_t *)rows + i * map->size,
					      items + i * section->item, err);
	return status == HI_OK ? hi_snapshot_put_section(w, section->name, items, n, err)
			       : status;
}

enum hi_status hi_snapshot_take_rows(struct hi_snapshot *s, const struct hi_row_map *map,
				     struct hi_arena *arena, void *rows_ret,
				     uint64_t *n_ret, struct hi_error *err)
{
	const uint8_t *items = NULL;
	uint8_t *rows;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, map->section, &items, &n, err);

	memset(rows_ret, 0, sizeof(rows));
	*n_ret = 0;
	if (status != HI_OK || !items)
		return status;
	rows = arena ? hi_arena_alloc(arena, (n + 1) * map->size)
		     : hi_calloc(n + 1, map->size);
	if (!rows)
		return hi_fail_memory(err, map->section);
	if (arena)
		memset(rows, 0, (n + 1) * map->size);
	for (uint64_t i = 0; i < n; i++)
		hi_snapshot_unpack_row(
			s, map, items + i * hi_snapshot_section(map->section)->item,
			rows + i * map->size);
	memcpy(rows_ret, &rows, sizeof(rows));
	*n_ret = n;
	return HI_OK;
}

/* ---- properties ---- */

enum { PROPERTY_NAME = 64 };

static const char *full_property_name(char full[PROPERTY_NAME], const char *prefix,
				      const char *name)
{
	snprintf(full, PROPERTY_NAME, "%s%s", prefix, name);
	return full;
}

enum hi_status hi_snapshot_put_properties(struct hi_snapshot_writer *w,
					  const char *prefix,
					  const struct hi_property *table, size_t n,
					  const void *from, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	char full[PROPERTY_NAME];

	for (size_t i = 0; i < n && status == HI_OK; i++) {
		const struct hi_property *p = &table[i];
		const uint8_t *at = (const uint8_t *)from + p->member;
		const char *name = full_property_name(full, prefix, p->name), *text;

		if (p->kind != HI_MEMBER_TEXT) {
			status = hi_snapshot_put_number(w, name, number_at(at, p->width),
							err);
			continue;
		}
		memcpy(&text, at, sizeof(text));
		if (text || p->is_never_null)
			status = hi_snapshot_put_text(w, name, text, err);
	}
	return status;
}

void hi_snapshot_take_properties(const struct hi_snapshot *s, const char *prefix,
				 const struct hi_property *table, size_t n, void *to)
{
	char full[PROPERTY_NAME];

	for (size_t i = 0; i < n; i++) {
		const struct hi_property *p = &table[i];
		const char *name = full_property_name(full, prefix, p->name), *text;
		uint8_t *at = (uint8_t *)to + p->member;
		uint64_t number;

		if (p->kind == HI_MEMBER_TEXT) {
			text = hi_snapshot_text(
				s, name,
				p->is_never_null || p->is_read_empty ? "" : NULL);
			memcpy(at, &text, sizeof(text));
			continue;
		}
		number = hi_snapshot_number(s, name, p->otherwise);
		if (p->kind == HI_MEMBER_BOOL)
			number = number != 0;
		if (p->most && number > p->most)
			number = 0;
		memcpy(at, &number, p->width);
	}
}
