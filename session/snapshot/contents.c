/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of objects in a snapshot file (--with-contents), one object after the other,
 * with a description of the fields of each type: the file contains no types.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "decode/describe/field_layout.h"
#include "decode/describe/outside_references.h"
#include "decode/describe/shown_fields.h"
#include "session/snapshot/snapshot_source.h"

/* Of a larger object the rest is left out. */
#define MOST_BYTES (UINT64_C(16) << 20)
#define MOST_CONTENTS (UINT64_C(8) << 32) /* as of every section */
enum { PIECE = 1 << 20 };

_Static_assert((int)HI_FIELD_LAYOUT_KINDS == (int)HI_SNAPSHOT_LAYOUT_KINDS, "layouts");
_Static_assert((int)HI_FIELD_HOWS == (int)HI_SNAPSHOT_FIELD_HOWS, "fields");

static uint64_t kept_bytes(const struct hi_objects *o, hi_node id)
{
	uint64_t usable = hi_objects_usable(o, id);

	return usable < MOST_BYTES ? usable : MOST_BYTES;
}

/* ---- writing: layouts ---- */

struct layouts {
	struct hi_snapshot_writer *w;
	struct fields HI_VECTOR(struct hi_snapshot_field_row) fields;
	struct rows HI_VECTOR(struct hi_snapshot_layout_row) rows;
};

static enum hi_status add_field(void *arg, const struct hi_field *f,
				enum hi_field_how how, struct hi_error *err)
{
	struct layouts *l = arg;
	struct hi_snapshot_field_row row = {
		.how = how, .offset = f->offset, .size = f->size};
	enum hi_status status = hi_snapshot_put_string(l->w, f->path, &row.path, err);

	if (status == HI_OK)
		status = hi_snapshot_put_string(l->w, f->type ? f->type : "", &row.type,
						err);
	if (status == HI_OK && !hi_vector_push(&l->fields, row))
		status = hi_fail_memory(err, "fields");
	return status;
}

static enum hi_status add_layout(struct hi_inspection *in, struct layouts *l,
				 uint32_t type, struct hi_error *err)
{
	size_t first = l->fields.count;
	struct hi_field_layout layout;
	enum hi_status status = hi_typing_field_layout(in->decoders.typing, type,
						       add_field, l, &layout, err);
	struct hi_snapshot_layout_row row = {.kind = layout.kind,
					     .first = (uint32_t)first,
					     .n = (uint32_t)(l->fields.count - first),
					     .size = layout.size};

	if (status == HI_OK && !hi_vector_push(&l->rows, row))
		status = hi_fail_memory(err, "fields");
	return status;
}

static enum hi_status put_layouts(struct hi_inspection *in, struct hi_snapshot_writer *w,
				  struct hi_error *err)
{
	struct layouts l = {.w = w};
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; i < in->graph->n_types && status == HI_OK; i++)
		status = add_layout(in, &l, i, err);
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "fields", l.fields.items,
						 l.fields.count, err);
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "layouts", l.rows.items, l.rows.count,
						 err);
	hi_vector_free(&l.fields);
	hi_vector_free(&l.rows);
	return status;
}

/* ---- writing: bytes ---- */

/* As the reader assumes where nothing is stored. */
static struct hi_snapshot_extent_row usual_extent(const struct hi_objects *o, hi_node id,
						  uint64_t size)
{
	uint64_t usable = hi_objects_usable(o, id);
	bool array = o->flags[id] & HI_OBJECT_ARRAY;

	return (struct hi_snapshot_extent_row){
		.id = id, .end = array && size ? usable - usable % size : size};
}

struct contents {
	struct hi_inspection *in;
	hi_node next;
	uint64_t at; /* in it */
	uint8_t *piece;
	uint64_t *unread; /* bit per object */
};

/* Zeros where nothing can be read, and the bit for that. */
static void read_object(struct contents *c, hi_node id, uint64_t at, uint8_t *to,
			size_t size)
{
	uint64_t address = hi_objects_address(c->in->graph->objects, id) + at;

	if (hi_memory_read(c->in->image->memory, address, to, size, NULL) == HI_OK)
		return;
	memset(to, 0, size);
	c->unread[id >> 6] |= UINT64_C(1) << (id & 63);
}

/* hi_snapshot_piece_fn */
static enum hi_status next_piece(void *arg, const void **bytes, size_t *size,
				 struct hi_error *err)
{
	struct contents *c = arg;
	const struct hi_objects *o = c->in->graph->objects;
	size_t n = 0;

	(void)err;
	while (n < PIECE && c->next < o->count) {
		uint64_t left = kept_bytes(o, c->next) - c->at;
		size_t take = left < PIECE - n ? (size_t)left : PIECE - n;

		read_object(c, c->next, c->at, c->piece + n, take);
		n += take;
		c->at += take;
		if (take == left) {
			c->next++;
			c->at = 0;
		}
	}
	*bytes = c->piece;
	*size = n;
	return HI_OK;
}

static enum hi_status put_bytes(struct hi_inspection *in, struct hi_snapshot_writer *w,
				struct hi_error *err)
{
	size_t words = ((size_t)in->graph->n_objects + 63) / 64;
	HI_GUARD(free) uint8_t *piece = hi_alloc(PIECE);
	HI_GUARD(free) uint64_t *unread = hi_calloc(words + 1, sizeof(*unread));
	struct contents c = {.in = in, .piece = piece, .unread = unread};
	uint64_t all = 0;
	enum hi_status status;

	if (!piece || !unread)
		return hi_fail_memory(err, "contents");
	for (hi_node i = 0; i < in->graph->n_objects; i++)
		all += kept_bytes(in->graph->objects, i);
	if (all > MOST_CONTENTS)
		return hi_fail(err, HI_LIMIT, 0,
			       "--with-contents: more than 32 GiB of objects");
	status = hi_snapshot_put_pieces(w, "contents", 1, next_piece, &c, err);
	return status == HI_OK
		       ? hi_snapshot_put_section(w, "contents.unread", unread, words, err)
		       : status;
}

static enum hi_status put_extents(struct hi_inspection *in, struct hi_snapshot_writer *w,
				  struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	struct extents HI_VECTOR(struct hi_snapshot_extent_row) rows = {};
	enum hi_status status = HI_OK;

	for (hi_node i = 0; i < g->n_objects && status == HI_OK; i++) {
		struct hi_snapshot_extent_row row = {.id = i}, usual;
		struct hi_field_layout layout;

		if (!hi_typing_elements(in->decoders.typing, g, i, &row.lead, &row.start,
					&row.end, &layout))
			continue;
		usual = usual_extent(g->objects, i, layout.size);
		if (memcmp(&row, &usual, sizeof(row)) != 0 && !hi_vector_push(&rows, row))
			status = hi_fail_memory(err, "contents");
	}
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "extents", rows.items, rows.count,
						 err);
	hi_vector_free(&rows);
	return status;
}

/* ---- writing: values that are not in the bytes of a field ---- */

struct values {
	struct hi_snapshot_writer *w;
	hi_node object;
	struct value_rows HI_VECTOR(struct hi_snapshot_value_row) rows;
};

/* hi_shown_field_fn */
static enum hi_status add_shown_value(void *arg, uint32_t number,
				      const struct hi_field *f, struct hi_error *err)
{
	struct values *v = arg;
	struct hi_snapshot_value_row row = {.id = v->object,
					    .field = number,
					    .to = f->to,
					    .grade = (uint32_t)f->grade};
	enum hi_status status = hi_snapshot_put_string(v->w, f->value, &row.value, err);

	if (status == HI_OK && !hi_vector_push(&v->rows, row))
		status = hi_fail_memory(err, "fields");
	return status;
}

static enum hi_status put_shown_values(struct hi_inspection *in,
				       struct hi_snapshot_writer *w, struct hi_error *err)
{
	HI_GUARD(hi_shown_fields_close) struct hi_shown_fields *fields = NULL;
	struct values v = {.w = w};
	enum hi_status status =
		hi_shown_fields_open(in->decoders.typing, in->graph, &fields, err);

	for (; v.object < in->graph->n_objects && status == HI_OK; v.object++)
		status = hi_shown_fields_each(fields, v.object, add_shown_value, &v, err);
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "values", v.rows.items, v.rows.count,
						 err);
	hi_vector_free(&v.rows);
	return status;
}

struct outside {
	struct hi_snapshot_writer *w;
	struct outside_rows HI_VECTOR(struct hi_snapshot_outside_row) rows;
};

/* hi_outside_reference_fn */
static enum hi_status add_outside_row(void *arg, const struct hi_outside_reference *ref,
				      struct hi_error *err)
{
	struct outside *o = arg;
	struct hi_snapshot_outside_row row = {.id = ref->from,
					      .field = ref->number,
					      .grade = (uint32_t)ref->grade,
					      .to = ref->to};
	enum hi_status status = hi_snapshot_put_string(o->w, ref->path, &row.path, err);

	if (status == HI_OK && !hi_vector_push(&o->rows, row))
		status = hi_fail_memory(err, "fields");
	return status;
}

static enum hi_status put_outside(struct hi_inspection *in, struct hi_snapshot_writer *w,
				  struct hi_error *err)
{
	struct outside o = {.w = w};
	enum hi_status status = hi_outside_references_each(in->decoders.typing, in->graph,
							   add_outside_row, &o, err);

	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "outside", o.rows.items, o.rows.count,
						 err);
	hi_vector_free(&o.rows);
	return status;
}

enum hi_status hi_snapshot_save_contents(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 struct hi_error *err)
{
	enum hi_status status;

	if (!in->options->snap.with_contents)
		return HI_OK;
	status = put_layouts(in, w, err);
	if (status == HI_OK)
		status = put_extents(in, w, err);
	if (status == HI_OK)
		status = put_shown_values(in, w, err);
	if (status == HI_OK)
		status = put_outside(in, w, err);
	return status == HI_OK ? put_bytes(in, w, err) : status;
}

/* ---- reading ---- */

/* One object. */
struct reading {
	struct hi_inspection *in;
	hi_node id;
	struct hi_snapshot_layout_row layout;
	const struct hi_snapshot_field_row *fields; /* of its type */
	struct hi_snapshot_extent_row extent;
	const struct hi_snapshot_value_row *values; /* of all objects */
	uint64_t n_values;
	const uint8_t *bytes; /* `kept` of them; NULL: they could not be read */
	uint64_t kept, usable;
};

static enum hi_status take_layout(struct reading *r, struct hi_error *err)
{
	struct hi_snapshot *s = r->in->snapshot->snapshot;
	const struct hi_snapshot_layout_row *layouts = NULL;
	const struct hi_snapshot_field_row *fields = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "fields", &fields, &n, err);

	if (status == HI_OK)
		status = hi_snapshot_rows(s, "layouts", &layouts, &n, err);
	if (status != HI_OK)
		return status;
	r->layout = layouts[r->in->graph->objects->type[r->id]];
	r->fields = fields + r->layout.first;
	return HI_OK;
}

static enum hi_status take_extent(struct reading *r, struct hi_error *err)
{
	const struct hi_snapshot_extent_row *rows = NULL;
	uint64_t n = 0, low;
	enum hi_status status =
		hi_snapshot_rows(r->in->snapshot->snapshot, "extents", &rows, &n, err);

	if (status != HI_OK)
		return status;
	r->extent = usual_extent(r->in->graph->objects, r->id, r->layout.size);
	low = hi_search(i, n, rows[i].id < r->id);
	if (low < n && rows[low].id == r->id)
		r->extent = rows[low];
	return HI_OK;
}

enum { STARTS_APART = 16 };

static const uint64_t *list_starts(struct hi_inspection *in)
{
	const struct hi_objects *o = in->graph->objects;
	hi_node n = in->graph->n_objects;
	uint64_t *starts, at = 0;

	starts = hi_arena_alloc(&in->arena,
				((size_t)n / STARTS_APART + 1) * sizeof(*starts));
	for (hi_node i = 0; starts && i < n; i++) {
		if (i % STARTS_APART == 0)
			starts[i / STARTS_APART] = at;
		at += kept_bytes(o, i);
	}
	return starts;
}

static enum hi_status take_shown_values(struct reading *r, struct hi_error *err)
{
	return hi_snapshot_rows(r->in->snapshot->snapshot, "values", &r->values,
				&r->n_values, err);
}

static enum hi_status open_contents(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_stored_contents c = {.is_open = true};
	enum hi_status status = HI_OK;
	uint64_t n = 0;

	if (in->snapshot->contents.is_open)
		return HI_OK;
	if (hi_snapshot_source_has_contents(in)) {
		status = hi_snapshot_rows(s, "contents.unread", &c.unread, &n, err);
		if (status == HI_OK)
			status = hi_snapshot_rows(s, "contents", &c.bytes, &c.size, err);
		if (status != HI_OK)
			return status;
		c.starts = list_starts(in);
		if (!c.starts)
			return hi_fail_memory(err, "contents");
	}
	in->snapshot->contents = c;
	return HI_OK;
}

static enum hi_status take_bytes(struct reading *r, struct hi_error *err)
{
	const struct hi_stored_contents *c = &r->in->snapshot->contents;
	const struct hi_objects *o = r->in->graph->objects;
	enum hi_status status = open_contents(r->in, err);
	uint64_t at;

	if (status != HI_OK || !c->bytes)
		return status;
	at = c->starts[r->id / STARTS_APART];
	for (hi_node i = r->id - r->id % STARTS_APART; i < r->id; i++)
		at += kept_bytes(o, i);
	r->usable = hi_objects_usable(o, r->id);
	r->kept = kept_bytes(o, r->id);
	if (at > c->size || r->kept > c->size - at)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "%.120s: section contents: inconsistent",
			       r->in->options->target.file);
	if (!hi_bit(c->unread, r->id))
		r->bytes = c->bytes + at;
	return HI_OK;
}

static void show_stored_field(const struct reading *r, struct hi_field *f,
			      enum hi_field_how how)
{
	uint8_t bytes[HI_FIELD_SHOWN] = {};
	uint64_t n = f->size < sizeof(bytes) ? f->size : sizeof(bytes);

	if (!r->bytes || f->offset > r->kept || n > r->kept - f->offset) {
		hi_field_unreadable(f);
		return;
	}
	memcpy(bytes, r->bytes + f->offset, n);
	hi_field_show(r->in->graph->objects, how, bytes, f);
}

/* A value that the file has as text. False: it has none. */
static bool show_stored_value(const struct reading *r, struct hi_field *f, uint64_t field)
{
	const struct hi_snapshot_value_row *rows = r->values;
	uint64_t low = hi_search(i, r->n_values,
				 rows[i].id < r->id ||
					 (rows[i].id == r->id && rows[i].field < field));

	if (low == r->n_values || rows[low].id != r->id || rows[low].field != field)
		return false;
	snprintf(f->value, sizeof(f->value), "%s",
		 hi_snapshot_string(r->in->snapshot->snapshot, rows[low].value));
	f->to = rows[low].to;
	f->grade = (enum hi_grade)rows[low].grade;
	return true;
}

static bool is_array_record(const struct reading *r)
{
	return r->layout.kind == HI_FIELD_LAYOUT_RECORD &&
	       r->in->graph->objects->flags[r->id] & HI_OBJECT_ARRAY;
}

/* i: the field of the element */
static void show_record(const struct reading *r, struct hi_field *f, uint64_t element,
			uint64_t before, uint32_t i)
{
	const struct hi_snapshot_field_row *row = &r->fields[i];
	const struct hi_snapshot *s = r->in->snapshot->snapshot;
	const char *path = hi_snapshot_string(s, row->path);
	bool array = is_array_record(r);
	int n = 0;

	*f = (struct hi_field){.to = HI_NODE_NONE,
			       .offset = r->extent.lead + element * r->layout.size +
					 row->offset,
			       .size = row->size};
	if (row->how == HI_FIELD_TEXT && !row->size && r->usable > f->offset)
		f->size = r->usable - f->offset;
	if (array)
		n = snprintf(f->path, sizeof(f->path), "[%" PRIu64 "]", element);
	snprintf(f->path + n, sizeof(f->path) - (size_t)n, "%s%s",
		 array && *path && *path != '[' ? "." : "", path);
	f->type = hi_snapshot_string(s, row->type);
	if (row->how != HI_FIELD_UNKNOWN || !show_stored_value(r, f, before + i))
		show_stored_field(r, f, (enum hi_field_how)row->how);
}

static void read_record(const struct reading *r, struct hi_field *fields, size_t max,
			size_t *n_ret, size_t *total_ret)
{
	uint64_t size = r->layout.size, first, elements = 1;
	size_t n = 0;

	first = size ? (r->extent.start - r->extent.lead) / size : 0;
	if (size && is_array_record(r))
		elements = (r->extent.end - r->extent.start) / size;
	for (uint64_t e = 0; r->layout.n && e < elements && n < max; e++)
		for (uint32_t i = 0; i < r->layout.n && n < max; i++)
			show_record(r, &fields[n++], first + e, e * r->layout.n, i);
	*n_ret = n;
	*total_ret = (size_t)(r->layout.n * elements);
}

bool hi_snapshot_source_has_contents(const struct hi_inspection *in)
{
	return hi_snapshot_has(in->snapshot->snapshot, "contents");
}

enum hi_status hi_snapshot_source_contents(struct hi_inspection *in, hi_node object,
					   struct hi_field *fields, size_t max,
					   size_t *n_ret, size_t *total_ret,
					   struct hi_error *err)
{
	struct reading r = {.in = in, .id = object};
	enum hi_status status = take_layout(&r, err);

	if (status == HI_OK && r.layout.kind == HI_FIELD_LAYOUT_EDGES)
		return hi_fail(err, HI_NOT_FOUND, 0, "its edges are its fields");
	if (status == HI_OK)
		status = take_extent(&r, err);
	if (status == HI_OK)
		status = take_shown_values(&r, err);
	if (status == HI_OK)
		status = take_bytes(&r, err);
	if (status != HI_OK)
		return status;
	if (r.layout.kind != HI_FIELD_LAYOUT_WORDS) {
		read_record(&r, fields, max, n_ret, total_ret);
		return HI_OK;
	}
	*total_ret = (size_t)(r.usable / 8);
	for (*n_ret = 0; *n_ret < max && *n_ret < *total_ret; ++*n_ret) {
		hi_field_word(&fields[*n_ret], *n_ret * 8);
		show_stored_field(&r, &fields[*n_ret], HI_FIELD_ADDRESS);
	}
	return HI_OK;
}

enum hi_status hi_snapshot_source_read_beginning(struct hi_inspection *in, hi_node object,
						 void *out, size_t size, size_t *n_ret,
						 struct hi_error *err)
{
	struct reading r = {.in = in, .id = object};
	enum hi_status status;

	*n_ret = 0;
	status = take_bytes(&r, err);
	if (status != HI_OK || !r.bytes)
		return status;
	*n_ret = (size_t)hi_min(r.kept, size);
	memcpy(out, r.bytes, *n_ret);
	return HI_OK;
}
