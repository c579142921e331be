/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of the interpreter: those of each thread are roots, by function, line and
 * name of the local. Source: pycore_frame.h, Objects/locations.md (the table of
 * lines), 3.11. A frame that runs keeps the top of its stack in a register: its
 * whole stack is read conservatively then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vector.h"
#include "decode/runtimes/cpython.h"

enum {
	MAX_LOCALS = 4096,
	MAX_STACK = 1 << 16,
	MAX_LINES = 1 << 16, /* bytes of a table of lines */
	FRAME_BYTES = 128,
	TUPLE_ITEMS = 24,
	BYTES_DATA = 32,
	OWNED_BY_THREAD = 0,
	CODE_NONE = 15, /* kinds of entries in the table of lines */
	CODE_LONG = 14,
	CODE_NO_COLUMNS = 13,
	CODE_ONE_LINE_0 = 10,
};

bool hi_py_frame_at(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_frame *ret)
{
	const struct hi_py_layout *l = c->py->layout;
	uint8_t raw[FRAME_BYTES];
	struct hi_py_object code;

	if (addr % 8 || l->frame_localsplus > sizeof(raw) ||
	    !hi_py_read(&c->reader, addr, raw, l->frame_localsplus))
		return false;
	ret->addr = addr;
	memcpy(&ret->func, raw + l->frame_func, 8);
	memcpy(&ret->globals, raw + l->frame_globals, 8);
	memcpy(&ret->builtins, raw + l->frame_builtins, 8);
	memcpy(&ret->locals, raw + l->frame_locals, 8);
	memcpy(&ret->code, raw + l->frame_code, 8);
	memcpy(&ret->object, raw + l->frame_object, 8);
	memcpy(&ret->previous, raw + l->frame_previous, 8);
	memcpy(&ret->instr, raw + l->frame_prev_instr, 8);
	memcpy(&ret->stacktop, raw + l->frame_stacktop, 4);
	ret->owner = raw[l->frame_owner];
	return hi_py_object_at(c, ret->code, &code) && code.type->family == HI_PY_CODE;
}

/* Name of local i as a str of the target; 0: none. */
static uint64_t local_name(struct hi_runtime_cursor *c, uint64_t code, uint32_t i)
{
	uint64_t names = hi_py_word(&c->reader, code + c->py->layout->code_names);
	struct hi_py_object o;

	if (!hi_py_object_at(c, names, &o) || o.type->family != HI_PY_TUPLE ||
	    i >= (uint64_t)o.size)
		return 0;
	return hi_py_word(&c->reader, names + TUPLE_ITEMS + i * 8u);
}

static void visit_locals(struct hi_py_visit *v, const struct hi_py_frame *frame,
			 bool as_root)
{
	const struct hi_py_layout *l = v->c->py->layout;
	struct hi_py_reader *r = &v->c->reader;
	uint32_t n_locals = hi_py_u32(r, frame->code + l->code_nlocalsplus);
	uint32_t stack = hi_py_u32(r, frame->code + l->code_stacksize);
	uint32_t known = frame->stacktop > 0 ? (uint32_t)frame->stacktop
			 : as_root	     ? n_locals
					     : 0;
	uint32_t end = frame->stacktop < 0 && as_root ? n_locals + stack : known;

	if (n_locals > MAX_LOCALS || stack > MAX_STACK || known > n_locals + stack)
		return;
	for (uint32_t i = 0; i < end && !v->stopped; i++) {
		uint64_t to = hi_py_word(r, frame->addr + l->frame_localsplus + i * 8u);
		uint64_t name = i < n_locals ? local_name(v->c, frame->code, i) : 0;

		hi_py_tell(v, to, i < known ? HI_GRADE_EXACT : HI_GRADE_CONSERVATIVE,
			   name		  ? HI_LABEL_ATTRIBUTE
			   : i < n_locals ? HI_LABEL_INDEX
					  : HI_LABEL_FIELD,
			   "<stack>", name ? name : i);
	}
}

void hi_py_visit_frame(struct hi_py_visit *v, const struct hi_py_frame *frame,
		       bool as_root)
{
	hi_py_tell(v, frame->func, HI_GRADE_EXACT, HI_LABEL_FIELD, "f_func", 0);
	hi_py_tell(v, frame->code, HI_GRADE_EXACT, HI_LABEL_FIELD, "f_code", 0);
	hi_py_tell(v, frame->locals, HI_GRADE_EXACT, HI_LABEL_FIELD, "f_locals", 0);
	hi_py_tell(v, frame->object, HI_GRADE_EXACT, HI_LABEL_FIELD, "frame_obj", 0);
	visit_locals(v, frame, as_root);
}

/* ---- the line ---- */

struct line_table {
	const uint8_t *at, *end;
};

static uint32_t read_varint(struct line_table *t)
{
	uint32_t value = 0, shift = 0;

	while (t->at < t->end) {
		uint8_t byte = *t->at++;

		value |= shift < 30 ? (uint32_t)(byte & 63) << shift : 0;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int read_svarint(struct line_table *t)
{
	uint32_t value = read_varint(t);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Lines from here to the next entry's. */
static int line_delta(struct line_table *t, unsigned kind)
{
	if (kind == CODE_LONG || kind == CODE_NO_COLUMNS)
		return read_svarint(t);
	return kind >= CODE_ONE_LINE_0 && kind < CODE_NO_COLUMNS
		       ? (int)kind - CODE_ONE_LINE_0
		       : 0;
}

static int find_line(const uint8_t *table, size_t size, uint64_t unit, int line)
{
	struct line_table t = {table, table + size};
	uint64_t at = 0;

	while (t.at < t.end) {
		uint8_t head = *t.at++;
		unsigned kind = head >> 3 & 15;

		line += line_delta(&t, kind);
		at += (head & 7u) + 1;
		if (unit < at)
			return kind == CODE_NONE ? 0 : line;
		while (t.at < t.end && !(*t.at & 128))
			t.at++; /* columns: entries begin with the high bit */
	}
	return 0;
}

int hi_py_frame_line(struct hi_runtime_cursor *c, const struct hi_py_frame *frame)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t table = hi_py_word(&c->reader, frame->code + l->code_linetable);
	int first = (int)hi_py_u32(&c->reader, frame->code + l->code_firstlineno);
	uint64_t start = frame->code + l->code_instructions;
	static _Thread_local uint8_t bytes[MAX_LINES];
	struct hi_py_object o;

	if (frame->instr < start)
		return first; /* not begun */
	if (!hi_py_object_at(c, table, &o) || o.type->family != HI_PY_BYTES ||
	    o.size < 0 || o.size > MAX_LINES ||
	    !hi_py_read(&c->reader, table + BYTES_DATA, bytes, (size_t)o.size))
		return 0;
	return find_line(bytes, (size_t)o.size, (frame->instr - start) / 2, first);
}

/* ---- roots ---- */

struct frame_words {
	char function[128], place[160];
	int thread;
};

static void describe(struct hi_runtime_cursor *c, const struct hi_py_frame *frame,
		     struct frame_words *w)
{
	const struct hi_py_layout *l = c->py->layout;
	char file[100] = "";

	if (!hi_py_str(c, hi_py_word(&c->reader, frame->code + l->code_qualname),
		       w->function, sizeof(w->function)))
		snprintf(w->function, sizeof(w->function), "?");
	(void)hi_py_str(c, hi_py_word(&c->reader, frame->code + l->code_filename), file,
			sizeof(file));
	snprintf(w->place, sizeof(w->place), "%s:%d", file, hi_py_frame_line(c, frame));
}

struct root_edges {
	struct HI_VECTOR(struct hi_runtime_edge) edges;
	bool no_memory;
};

static bool collect(void *arg, const struct hi_runtime_edge *edge)
{
	struct root_edges *e = arg;

	if (!hi_vector_push(&e->edges, *edge))
		e->no_memory = true;
	return !e->no_memory;
}

/* One root for each local, so that its name is the root's; one for the rest. */
static bool tell_edge(struct hi_runtime_cursor *c, const struct frame_words *w,
		      const struct hi_runtime_edge *edge, hi_runtime_root_fn *fn,
		      void *arg)
{
	char name[400], label[120];

	hi_py_label(c, edge, label, sizeof(label));
	snprintf(name, sizeof(name), "thread %d %s() %s", w->thread, w->function,
		 label[0] == '.' ? label + 1 : label);
	return fn(arg, &(struct hi_runtime_root){.kind = HI_ROOT_STACK,
						 .name = name,
						 .detail = w->place,
						 .type = "",
						 .edges = edge,
						 .n_edges = 1});
}

static bool tell_frame(struct hi_runtime_cursor *c, const struct hi_py_frame *frame,
		       int thread, struct root_edges *e, hi_runtime_root_fn *fn,
		       void *arg)
{
	struct frame_words w = {.thread = thread};
	struct hi_py_visit v = {.c = c, .fn = collect, .arg = e};

	e->edges.count = 0;
	hi_py_visit_frame(&v, frame, true);
	describe(c, frame, &w);
	for (size_t i = 0; i < e->edges.count; i++)
		if (!tell_edge(c, &w, &e->edges.items[i], fn, arg))
			return false;
	return !e->no_memory;
}

static bool tell_thread(struct hi_runtime_cursor *c, uint64_t thread,
			struct root_edges *e, hi_runtime_root_fn *fn, void *arg)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t cframe = hi_py_word(&c->reader, thread + l->thread_cframe);
	uint64_t at = hi_py_word(&c->reader, cframe + l->cframe_current);
	int id = (int)hi_py_word(&c->reader, thread + l->thread_native_id);
	struct hi_py_frame frame;

	for (int i = 0; at && i < HI_PY_MAX_FRAMES && hi_py_frame_at(c, at, &frame);
	     i++) {
		if (!tell_frame(c, &frame, id, e, fn, arg))
			return false;
		at = frame.previous;
	}
	return true;
}

enum hi_status hi_py_frame_roots(struct hi_py *py, struct hi_runtime_cursor *c,
				 hi_runtime_root_fn *fn, void *arg, struct hi_error *err)
{
	struct root_edges e = {};

	for (size_t i = 0; i < py->threads.count; i++)
		if (!tell_thread(c, py->threads.items[i], &e, fn, arg))
			break;
	hi_vector_free(&e.edges);
	return e.no_memory ? hi_fail_memory(err, "frames") : HI_OK;
}
