/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of the interpreter: those of each thread are roots, by function, line and
 * name of the local. A frame that runs keeps the top of its stack in a register: its
 * whole stack is read conservatively then.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/vector.h"
#include "decode/runtimes/cpython.h"

enum {
	MAX_LOCALS = 4096,
	MAX_STACK = 1 << 16,
	MIN_FRAME = 72,	     /* bytes */
	MAX_LINES = 1 << 16, /* bytes of a table of lines */
	BYTES_DATA = 32,
	PTHREAD_TID = 720, /* struct pthread of glibc, x86-64, 2.11 and later */
	/* _PyStackRef of 3.14: a number, or a reference that is not counted, or NULL */
	SLOT_TAGS = 3,
	SLOT_INT = 3,
	SLOT_BORROWED = 1,
};

/* A reference of a frame. One that it does not count is held by another, unless the
 * object is immortal. */
static void emit_frame_edge(struct hi_py_visit *v, uint64_t to, bool is_borrowed,
			    enum hi_edge_label label, const char *name, uint64_t value)
{
	enum hi_grade grade = HI_GRADE_EXACT;

	if (is_borrowed && !(hi_py_u32(&v->c->reader, to) >> 31))
		grade = HI_GRADE_WEAK;
	hi_py_emit(v, to, grade, label, name, value);
}

static void emit_frame_slot(struct hi_py_visit *v, uint64_t word, bool is_known,
			    enum hi_edge_label label, uint64_t value)
{
	bool has_tags = v->c->py->layout->frame_stack_refs;

	if (has_tags && (word & SLOT_TAGS) == SLOT_INT)
		return;
	if (is_known)
		emit_frame_edge(v, has_tags ? word & ~(uint64_t)SLOT_TAGS : word,
				has_tags && word & SLOT_BORROWED, label, "<stack>",
				value);
	else
		hi_py_emit(v, has_tags ? word & ~(uint64_t)SLOT_TAGS : word,
			   HI_GRADE_CONSERVATIVE, label, "<stack>", value);
}

static void visit_slots(struct hi_py_visit *v, const struct hi_py_frame *frame,
			bool as_root)
{
	const struct hi_py_layout *l = v->c->py->layout;
	uint32_t n = frame->n_locals, stack = frame->n_stack, known, end;

	if (n > MAX_LOCALS || stack > MAX_STACK || frame->stacktop > (int64_t)n + stack)
		return;
	known = frame->stacktop > 0	      ? (uint32_t)frame->stacktop
		: as_root || frame->is_object ? n
					      : 0;
	end = frame->stacktop < 0 && as_root ? n + stack : known;
	if (end > frame->room / HI_PY_PTR) {
		end = (uint32_t)(frame->room / HI_PY_PTR);
		v->is_cut = true;
	}
	for (uint32_t i = 0; i < end && !v->stopped; i++) {
		uint64_t to = hi_py_word(&v->c->reader, frame->slots + i * 8u);
		uint64_t name = i < n ? l->local_name(v->c, frame->code, i) : 0;

		emit_frame_slot(v, to, i < known,
				name	? HI_LABEL_ATTRIBUTE
				: i < n ? HI_LABEL_INDEX
					: HI_LABEL_FIELD,
				name ? name : i);
	}
}

void hi_py_visit_frame(struct hi_py_visit *v, const struct hi_py_frame *frame,
		       bool as_root)
{
	if (frame->is_shim)
		return;
	/* An object has these as fields. */
	if (!frame->is_object) {
		emit_frame_edge(v, frame->func, frame->func_is_borrowed, HI_LABEL_FIELD,
				"f_func", 0);
		emit_frame_edge(v, frame->code, frame->code_is_borrowed, HI_LABEL_FIELD,
				"f_code", 0);
		hi_py_emit(v, frame->locals, HI_GRADE_EXACT, HI_LABEL_FIELD, "f_locals",
			   0);
	}
	if (!frame->is_object || as_root)
		hi_py_emit(v, frame->object, HI_GRADE_EXACT, HI_LABEL_FIELD, "frame_obj",
			   0);
	visit_slots(v, frame, as_root);
}

/* 0: none is known. */
static int line_of_frame(struct hi_runtime_cursor *c, const struct hi_py_frame *frame)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t table = hi_py_word(&c->reader, frame->code + l->code_linetable);
	int first = (int)hi_py_u32(&c->reader, frame->code + l->code_firstlineno);
	int64_t more;
	static _Thread_local uint8_t bytes[MAX_LINES];
	struct hi_py_object o;

	if (frame->at < 0)
		return first; /* not begun */
	if (!hi_py_object_at(c, table, &o) || o.type->family != HI_PY_BYTES ||
	    o.size < 0 || o.size > MAX_LINES ||
	    !hi_py_read(&c->reader, table + BYTES_DATA, bytes, (size_t)o.size))
		return 0;
	more = l->line(bytes, (size_t)o.size, frame->at);
	return more == INT_MIN || first + more > INT_MAX || first + more < 0
		       ? 0
		       : (int)(first + more);
}

/* ---- roots ---- */

struct frame_words {
	char function[128], file[100];
	int thread, line;
};

static void describe_python_frame(struct hi_runtime_cursor *c,
				  const struct hi_py_frame *frame, struct frame_words *w)
{
	const struct hi_py_layout *l = c->py->layout;

	if (!hi_py_str(c, hi_py_word(&c->reader, frame->code + l->code_qualname),
		       w->function, sizeof(w->function)))
		snprintf(w->function, sizeof(w->function), "?");
	*w->file = 0;
	(void)hi_py_str(c, hi_py_word(&c->reader, frame->code + l->code_filename),
			w->file, sizeof(w->file));
	w->line = line_of_frame(c, frame);
}

struct root_edges {
	struct HI_VECTOR(struct hi_runtime_edge) edges;
	uint64_t left; /* frames that may follow: each has bytes of its own */
	bool no_memory;
};

static bool collect_frame_edge(void *arg, const struct hi_runtime_edge *edge)
{
	struct root_edges *e = arg;

	if (!hi_vector_push(&e->edges, *edge))
		e->no_memory = true;
	return !e->no_memory;
}

/* One root for each local, so that its name is the root's; one for the rest. */
static bool emit_frame_root(struct hi_runtime_cursor *c, const struct frame_words *w,
			    const struct hi_runtime_edge *edge, hi_runtime_root_fn *fn,
			    void *arg)
{
	char name[400], label[120], location[160];

	hi_py_label(c, edge, label, sizeof(label));
	snprintf(location, sizeof(location), "%s:%d", w->file, w->line);
	snprintf(name, sizeof(name), "thread %d %s() %s", w->thread, w->function,
		 label[0] == '.' ? label + 1 : label);
	return fn(arg, &(struct hi_runtime_root){.kind = HI_ROOT_STACK,
						 .name = name,
						 .detail = location,
						 .type = "",
						 .edges = edge,
						 .n_edges = 1});
}

static bool emit_frame_roots(struct hi_runtime_cursor *c, const struct hi_py_frame *frame,
			     int thread, struct root_edges *e, hi_runtime_root_fn *fn,
			     void *arg)
{
	struct frame_words w = {.thread = thread};
	struct hi_py_visit v = {.c = c, .fn = collect_frame_edge, .arg = e};

	e->edges.count = 0;
	hi_py_visit_frame(&v, frame, true);
	describe_python_frame(c, frame, &w);
	for (size_t i = 0; i < e->edges.count; i++)
		if (!emit_frame_root(c, &w, &e->edges.items[i], fn, arg))
			return false;
	return !e->no_memory;
}

static bool is_thread(const struct hi_image *image, int id)
{
	for (size_t i = 0; i < image->n_threads; i++)
		if (image->threads[i].tid == id)
			return true;
	return false;
}

/* Up to 3.10 it knows its pthread_t only. */
int hi_py_thread_id(struct hi_runtime_cursor *c, uint64_t thread)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t pthread;
	int id;

	if (l->thread_native_id)
		return (int)hi_py_word(&c->reader, thread + l->thread_native_id);
	pthread = hi_py_word(&c->reader, thread + l->thread_id);
	id = (int)hi_py_u32(&c->reader, pthread + PTHREAD_TID);
	return is_thread(c->py->image, id) ? id : 0;
}

static uint64_t first_frame(struct hi_runtime_cursor *c, uint64_t thread)
{
	const struct hi_py_layout *l = c->py->layout;

	if (l->thread_frame)
		return hi_py_word(&c->reader, thread + l->thread_frame);
	return hi_py_word(&c->reader, hi_py_word(&c->reader, thread + l->thread_cframe) +
					      l->cframe_current);
}

/* In the loop the innermost frame keeps the top of its stack in a register: what is
 * in memory is of an earlier time (3.14). */
static bool may_run(struct hi_runtime_cursor *c, uint64_t thread)
{
	const struct hi_py_layout *l = c->py->layout;

	return l->frame_stack_refs && l->thread_state &&
	       hi_py_u32(&c->reader, thread + l->thread_state) != 0;
}

/* The frames of a thread, from the innermost on. */
struct thread_walk {
	struct hi_runtime_cursor *c;
	uint64_t at;
	bool is_top; /* may_run(), and no frame of it was seen */
	struct hi_py_chain chain;
	struct hi_py_frame frame;
};

static void begin_thread_walk(struct thread_walk *w, struct hi_runtime_cursor *c,
			      uint64_t thread)
{
	*w = (struct thread_walk){
		.c = c, .at = first_frame(c, thread), .is_top = may_run(c, thread)};
}

/* left: of all threads together. */
static bool next_thread_frame(struct thread_walk *w, uint64_t *left)
{
	if (!w->at || !*left || hi_py_is_cycle(&w->chain, w->at) ||
	    !w->c->py->layout->frame_at(w->c, w->at, &w->frame))
		return false;
	--*left;
	w->frame.room = hi_py_room_inside(w->c, w->frame.slots);
	if (w->is_top && !w->frame.is_shim)
		w->frame.stacktop = -1;
	w->is_top &= w->frame.is_shim;
	w->at = w->frame.previous;
	return true;
}

static bool emit_thread_frames(struct hi_runtime_cursor *c, uint64_t thread,
			       struct root_edges *e, hi_runtime_root_fn *fn, void *arg)
{
	int id = hi_py_thread_id(c, thread);
	struct thread_walk w;

	begin_thread_walk(&w, c, thread);
	while (next_thread_frame(&w, &e->left))
		if (!w.frame.is_shim && !emit_frame_roots(c, &w.frame, id, e, fn, arg))
			return false;
	return true;
}

enum hi_status hi_py_frame_roots(struct hi_py *py, struct hi_runtime_cursor *c,
				 hi_runtime_root_fn *fn, void *arg, struct hi_error *err)
{
	struct root_edges e = {.left = py->held / MIN_FRAME + 1};

	for (size_t i = 0; i < py->threads.count; i++)
		if (!emit_thread_frames(c, py->threads.items[i], &e, fn, arg))
			break;
	hi_vector_free(&e.edges);
	return e.no_memory ? hi_fail_memory(err, "frames") : HI_OK;
}

/* ---- stacks ---- */

static bool emit_thread_stack(struct hi_runtime_cursor *c, uint64_t thread,
			      uint64_t *left, hi_runtime_frame_fn *fn, void *arg)
{
	struct frame_words words = {.thread = hi_py_thread_id(c, thread)};
	struct thread_walk w;

	begin_thread_walk(&w, c, thread);
	while (next_thread_frame(&w, left)) {
		if (w.frame.is_shim)
			continue;
		describe_python_frame(c, &w.frame, &words);
		if (!fn(arg, &(struct hi_runtime_frame){
				     .thread = words.thread,
				     .function = words.function,
				     .file = words.file,
				     .line = words.line > 0 ? (uint32_t)words.line : 0}))
			return false;
	}
	return true;
}

void hi_py_frames(struct hi_runtime_cursor *c, hi_runtime_frame_fn *fn, void *arg)
{
	const struct hi_py *py = c->py;
	uint64_t left = py->held / MIN_FRAME + 1;

	for (size_t i = 0; i < py->threads.count; i++)
		if (!emit_thread_stack(c, py->threads.items[i], &left, fn, arg))
			break;
}
