/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What keeps objects alive: modules by name, the interpreter's own references,
 * each thread's state and frames. Objects in the interpreter's data (static types,
 * small integers) cost nothing; what they refer to is found like any variable.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/runtimes/cpython.h"

enum {
	MAX_MODULES = 1 << 20,
	WORDS = 512,
	MODULE_DICT = 16, /* PyModuleObject.md_dict */
	LIST_ITEMS = 24,  /* PyListObject.ob_item */
	MIN_OBJECT = 16,
};

struct root_emitter {
	struct hi_py *py;
	struct hi_runtime_cursor *c;
	hi_runtime_root_fn *fn;
	void *arg;
	const char *modules_of; /* "interpreter 1", where there are several; "" */
	struct HI_VECTOR(struct hi_runtime_edge) edges;
	uint64_t left; /* modules and freed objects that may follow: each is another */
	bool stopped, no_memory;
};

static void add_root_edge(struct root_emitter *t, uint64_t to, enum hi_grade grade,
			  const char *name)
{
	if (to &&
	    !hi_vector_push(&t->edges, ((struct hi_runtime_edge){.to = to,
								 .grade = grade,
								 .label = HI_LABEL_FIELD,
								 .name = name})))
		t->no_memory = true;
}

static void emit_runtime_root(struct root_emitter *t, const char *name,
			      const char *detail)
{
	if (t->edges.count && !t->stopped)
		t->stopped = !t->fn(t->arg,
				    &(struct hi_runtime_root){.kind = HI_ROOT_RUNTIME,
							      .name = name,
							      .detail = detail,
							      .type = "",
							      .edges = t->edges.items,
							      .n_edges = t->edges.count});
	t->edges.count = 0;
}

/* ---- modules ---- */

/* The module's dict too: what is in it is one step away. */
static bool emit_module_roots(void *arg, uint64_t key, uint64_t value)
{
	struct root_emitter *t = arg;
	char name[160], text[200];
	struct hi_py_object o;

	if (!t->left--)
		return false;
	if (!hi_py_str(t->c, key, name, sizeof(name)))
		snprintf(name, sizeof(name), "?");
	snprintf(text, sizeof(text), "module %s", name);
	if (hi_py_object_at(t->c, value, &o) && o.type->n_fields &&
	    strcmp(t->py->types.items[o.type->type].name, "module") == 0)
		add_root_edge(t, hi_py_word(&t->c->reader, value + MODULE_DICT),
			      HI_GRADE_EXACT, "__dict__");
	add_root_edge(t, value, HI_GRADE_EXACT, "<module>");
	emit_runtime_root(t, text, t->modules_of);
	return !t->stopped && !t->no_memory;
}

/* ---- words of the state that no field names ---- */

static bool is_skipped(const struct hi_py_layout *l, uint32_t offset)
{
	for (uint32_t i = 0; i < l->n_interp_skip; i++)
		if (offset >= l->interp_skip[i].from && offset < l->interp_skip[i].to)
			return true;
	for (const struct hi_py_field *f = l->interp_fields; f->kind != HI_PY_FIELD_END;
	     f++)
		if (f->offset == offset)
			return true;
	return l->interp_interned && offset == l->interp_interned;
}

/* Pages of a module's data that were never written are not in the image: reads the other
 * words of the range. */
static void read_words(struct root_emitter *t, uint64_t at, uint64_t *words, uint32_t n)
{
	if (hi_py_read(&t->c->reader, at, words, n * 8u))
		return;
	for (uint32_t i = 0; i < n; i++)
		words[i] = hi_py_word(&t->c->reader, at + i * 8u);
}

static void add_state_words(struct root_emitter *t, uint64_t start, uint32_t size,
			    bool is_interp)
{
	uint64_t words[WORDS];

	for (uint32_t at = 0; at < size; at += sizeof(words)) {
		uint32_t n = size - at < sizeof(words) ? (size - at) / 8 : WORDS;

		read_words(t, start + at, words, n);
		for (uint32_t i = 0; i < n; i++)
			if (words[i] >= 4096 && words[i] % 8 == 0 &&
			    !(is_interp && is_skipped(t->py->layout, at + i * 8)))
				add_root_edge(t, words[i], HI_GRADE_CONSERVATIVE,
					      "<other>");
	}
}

/* ---- interpreters ---- */

static void add_list(struct root_emitter *t, uint64_t interp,
		     const struct hi_py_free_list *f)
{
	struct hi_py_reader *r = &t->c->reader;
	uint32_t n = f->count ? hi_py_u32(r, interp + f->count) : f->n;

	for (uint32_t i = 0; i < n && i < f->n; i++) {
		uint32_t stride = f->stride ? f->stride : HI_PY_PTR;
		uint64_t at = hi_py_word(r, interp + f->lists + i * stride);
		struct hi_py_chain chain = {};

		for (; at && t->left && !hi_py_is_cycle(&chain, at); t->left--) {
			add_root_edge(t, at, HI_GRADE_EXACT, f->what);
			at = hi_py_next_free(r, f, at);
		}
	}
}

static void add_type_cache(struct root_emitter *t, uint64_t interp)
{
	const struct hi_py_layout *l = t->py->layout;

	for (uint32_t i = 0; i < l->type_cache_entries; i++)
		add_root_edge(
			t,
			hi_py_word(&t->c->reader, interp + l->type_cache +
							  i * l->type_cache_entry_size +
							  l->type_cache_name),
			HI_GRADE_EXACT, "<name>");
}

static void add_array(struct root_emitter *t, uint64_t interp,
		      const struct hi_py_array *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		add_root_edge(
			t, hi_py_word(&t->c->reader, interp + a->first + i * a->stride),
			HI_GRADE_EXACT, a->what);
}

static void emit_array_roots(struct root_emitter *t, uint64_t interp, const char *detail)
{
	char name[80];

	for (const struct hi_py_array *a = t->py->layout->arrays;
	     a && a->n && !t->stopped; a++) {
		add_array(t, interp, a);
		snprintf(name, sizeof(name), "interpreter %s", a->what);
		emit_runtime_root(t, name, detail);
	}
}

static void emit_global_roots(struct root_emitter *t)
{
	uint64_t addr, size;
	char lto[64]; /* as a link-time optimiser calls it */

	for (const struct hi_py_global *g = t->py->layout->globals;
	     g && g->symbol && !t->stopped; g++) {
		snprintf(lto, sizeof(lto), "%s.lto_priv.0", g->symbol);
		if (hi_modules_symbol(t->py->modules, t->py->module, g->symbol, &addr,
				      &size, NULL) != HI_OK &&
		    hi_modules_symbol(t->py->modules, t->py->module, lto, &addr, &size,
				      NULL) != HI_OK)
			continue;
		add_array(t, addr, &g->array);
		emit_runtime_root(t, g->array.what, "");
	}
}

static void emit_field_roots(struct root_emitter *t, uint64_t state,
			     const struct hi_py_field *fields, const char *detail)
{
	char name[80];

	for (const struct hi_py_field *f = fields;
	     f && f->kind != HI_PY_FIELD_END && !t->stopped; f++) {
		add_root_edge(t, hi_py_word(&t->c->reader, state + f->offset),
			      HI_GRADE_EXACT, f->name);
		snprintf(name, sizeof(name), "interpreter %s", f->name);
		emit_runtime_root(t, name, detail);
	}
}

static void emit_interpreter_roots(struct root_emitter *t,
				   const struct hi_py_interpreter *in)
{
	const struct hi_py_layout *l = t->py->layout;
	char detail[48], name[80];

	snprintf(detail, sizeof(detail), "interpreter %" PRId64, in->id);
	t->modules_of = t->py->interpreters.count > 1 ? detail : "";
	hi_py_dict_items(t->c, hi_py_word(&t->c->reader, in->addr + l->interp_modules),
			 MAX_MODULES, emit_module_roots, t);
	emit_field_roots(t, in->addr, l->interp_fields, detail);
	/* Before, a variable has it. */
	if (l->interp_interned)
		add_root_edge(t, in->interned, HI_GRADE_EXACT, "interned");
	emit_runtime_root(t, "interpreter interned", detail);
	emit_array_roots(t, in->addr, detail);
	for (const struct hi_py_free_list *f = l->free_lists; f->n && !t->stopped; f++) {
		add_list(t, in->addr, f);
		snprintf(name, sizeof(name), "free list of %s", f->what);
		emit_runtime_root(t, name, detail);
	}
	add_type_cache(t, in->addr);
	emit_runtime_root(t, "interpreter type_cache", detail);
	add_root_edge(t, in->addr, HI_GRADE_EXACT, "<state>");
	add_state_words(t, in->addr, l->interp_size, true);
	emit_runtime_root(t, "interpreter (other state)", detail);
}

static void emit_thread_state_roots(struct root_emitter *t, uint64_t thread)
{
	const struct hi_py_layout *l = t->py->layout;
	char name[64];

	for (const struct hi_py_field *f = l->thread_fields; f->kind != HI_PY_FIELD_END;
	     f++)
		add_root_edge(t, hi_py_word(&t->c->reader, thread + f->offset),
			      HI_GRADE_EXACT, f->name);
	add_root_edge(t, thread, HI_GRADE_EXACT, "<state>");
	add_state_words(t, thread, l->thread_size, false);
	snprintf(name, sizeof(name), "thread %d state", hi_py_thread_id(t->c, thread));
	emit_runtime_root(t, name, "");
}

static void emit_runtime_state_roots(struct root_emitter *t)
{
	const struct hi_py_layout *l = t->py->layout;
	uint32_t gc = l->runtime_gc ? l->runtime_gc : l->runtime_words_end;
	uint32_t rest = gc + l->gc_size;

	emit_field_roots(t, t->py->runtime, l->runtime_fields, "");
	add_state_words(t, t->py->runtime, gc, false);
	if (rest < l->runtime_words_end)
		add_state_words(t, t->py->runtime + rest, l->runtime_words_end - rest,
				false);
	emit_runtime_root(t, "_PyRuntime", "");
}

static enum hi_status emit_all_roots(struct root_emitter *t, struct hi_error *err)
{
	for (size_t i = 0; i < t->py->interpreters.count && !t->stopped; i++)
		emit_interpreter_roots(t, &t->py->interpreters.items[i]);
	for (size_t i = 0; i < t->py->threads.count && !t->stopped; i++)
		emit_thread_state_roots(t, t->py->threads.items[i]);
	emit_runtime_state_roots(t);
	emit_global_roots(t);
	if (t->no_memory)
		return hi_fail_memory(err, "roots of the runtime");
	return t->stopped ? HI_OK : hi_py_frame_roots(t->py, t->c, t->fn, t->arg, err);
}

/* ---- what the collector gave up ---- */

static void emit_list_roots(struct hi_runtime_cursor *c, uint64_t list,
			    hi_runtime_object_fn *fn, void *arg)
{
	struct hi_py_visit v = {.c = c};
	struct hi_py_object o;
	uint64_t items, n;

	if (!list || !hi_py_object_at(c, list, &o) || o.type->family != HI_PY_LIST)
		return;
	n = hi_py_word(&c->reader, list + HI_PY_SIZE);
	items = hi_py_word(&c->reader, list + LIST_ITEMS);
	n = hi_py_bound(&v, items, 0, n, HI_PY_PTR);
	for (uint64_t i = 0, at; i < n; i++) {
		if (!hi_py_u64(&c->reader, items + i * 8, &at))
			return;
		fn(arg, at);
	}
}

static const struct hi_py_field *garbage_in(const struct hi_py_field *f)
{
	while (f && f->kind != HI_PY_FIELD_END && strcmp(f->name, "gc.garbage") != 0)
		f++;
	return f && f->kind != HI_PY_FIELD_END ? f : NULL;
}

/* The collector's state is each interpreter's, before 3.9 the runtime's. */
void hi_py_put_aside(struct hi_runtime_cursor *c, hi_runtime_object_fn *fn, void *arg)
{
	const struct hi_py *py = c->py;
	const struct hi_py_field *f = garbage_in(py->layout->interp_fields);
	const struct hi_py_field *only = garbage_in(py->layout->runtime_fields);

	for (size_t i = 0; f && i < py->interpreters.count; i++)
		emit_list_roots(c,
				hi_py_word(&c->reader,
					   py->interpreters.items[i].addr + f->offset),
				fn, arg);
	if (only)
		emit_list_roots(c, hi_py_word(&c->reader, py->runtime + only->offset), fn,
				arg);
}

enum hi_status hi_py_roots(struct hi_runtime *runtime, hi_runtime_root_fn *fn, void *arg,
			   struct hi_error *err)
{
	struct hi_py *py = (struct hi_py *)runtime;
	struct root_emitter t = {
		.py = py, .fn = fn, .arg = arg, .left = py->held / MIN_OBJECT + 1};
	enum hi_status status;

	t.c = hi_runtime_cursor(runtime);
	if (!t.c)
		return hi_fail_memory(err, "roots of the runtime");
	status = emit_all_roots(&t, err);
	hi_vector_free(&t.edges);
	hi_runtime_cursor_free(runtime, t.c);
	return status;
}
