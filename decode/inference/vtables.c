/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by vtable: the first word of a C++ object with virtual functions leads to its
 * class, of whatever type the pointers to it are. One linear pass over first words; a
 * word is looked up only if it lies in a module, and each thread caches the results.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/vtables.h"

enum { CACHE_SIZE = 1024, SAMPLES = 8192, MAX_SPANS = 64, SPAN_GAP = 1 << 20 };

struct cached_layout {
	uint64_t vptr;
	uint32_t layout; /* HI_LAYOUT_NOTHING: no vtable */
};

struct hi_vtables {
	struct hi_typing *typing;
	struct hi_memory_window window;
	struct cached_layout cache[CACHE_SIZE];
	/* Memory of modules, sorted: heaps are between those of the program and those of
	 * its libraries, and most first words lead there. */
	struct hi_range spans[MAX_SPANS];
	size_t n_spans;
	uint64_t found;
};

static uint32_t look_up_vtable(struct hi_vtables *s, uint64_t vptr)
{
	const struct hi_typing_source *source = &s->typing->source;
	const char *name = "";
	int64_t top_offset = 0;
	hi_type_id type = 0;
	uint32_t layout = HI_LAYOUT_NOTHING;

	if (source->vtable(source->types.arg, vptr, &type, &name, &top_offset, NULL) !=
		    HI_OK ||
	    top_offset != 0)
		return HI_LAYOUT_NOTHING;
	if (type)
		layout = hi_layouts_of(s->typing->layouts, type);
	if (layout < HI_LAYOUT_FIRST && name && *name)
		layout = hi_layouts_named(s->typing->layouts, name);
	return layout;
}

static uint32_t layout_of_vptr(struct hi_vtables *s, uint64_t vptr)
{
	struct cached_layout *entry =
		&s->cache[(vptr >> 3) * 0x9e3779b97f4a7c15ull >> 54];

	if (entry->vptr != vptr) {
		entry->layout = look_up_vtable(s, vptr);
		entry->vptr = vptr;
	}
	return entry->layout;
}

static bool read_first_word(struct hi_vtables *s, uint64_t addr, uint64_t *ret)
{
	const uint8_t *at =
		hi_memory_windows_at(&s->typing->memory_windows, &s->window, addr, 8);

	if (!at)
		return hi_memory_read_u64(s->typing->image->memory, addr, ret, NULL) ==
		       HI_OK;
	memcpy(ret, at, sizeof(*ret));
	return true;
}

static inline bool may_be_vptr(const struct hi_vtables *s, uint64_t word)
{
	if (word % 8)
		return false;
	for (size_t i = 0; i < s->n_spans && word >= s->spans[i].start; i++)
		if (word < s->spans[i].end)
			return true;
	return false;
}

/* The vtable pointer of an object at addr, if its first word may be one. */
static bool read_vptr(struct hi_vtables *s, uint64_t addr, uint64_t *ret)
{
	return read_first_word(s, addr, ret) && may_be_vptr(s, *ret);
}

/* n elements side by side, each with the same vtable? */
static bool is_array_of_vtables(struct hi_vtables *s, const struct hi_layout *layout,
				uint64_t addr, uint64_t usable, uint64_t vptr)
{
	uint64_t n = layout->size >= 8 ? usable / layout->size : 0, word;

	if (n < 2 || layout->open_ended ||
	    !hi_fit_is(&s->typing->layouts->sizes, n * layout->size, usable))
		return false;
	for (uint64_t i = 1; i < n && i < 64; i++)
		if (!read_first_word(s, addr + i * layout->size, &word) || word != vptr)
			return false;
	return true;
}

/* Else it may be the vtable of the first member of a larger object: then pointers count
 * as well. */
static bool fills_block(const struct hi_vtables *s, const struct hi_layout *layout,
			uint64_t usable)
{
	return layout->opaque || layout->open_ended ||
	       (layout->rules && layout->rules->size) ||
	       (layout->rules && layout->rules->tail_known) ||
	       usable <= hi_fit_usable(&s->typing->layouts->sizes, layout->size);
}

static void take_vptr(struct hi_vtables *s, hi_node id, uint64_t addr, uint64_t vptr)
{
	struct hi_objects *objects = s->typing->objects;
	uint64_t usable = hi_object_usable(objects, id);
	uint32_t index = layout_of_vptr(s, vptr), key;
	const struct hi_layout *layout;

	if (index < HI_LAYOUT_FIRST)
		return;
	layout = hi_layouts_get(s->typing->layouts, index);
	if (layout->size > usable)
		return;
	key = (uint32_t)HI_EVIDENCE_VTABLE << HI_KEY_EVIDENCE_SHIFT | HI_KEY_SETTLED |
	      index;
	if (is_array_of_vtables(s, layout, addr, usable, vptr))
		key |= HI_KEY_ARRAY;
	else if (!fills_block(s, layout, usable))
		key = (uint32_t)HI_EVIDENCE_SHAPE << HI_KEY_EVIDENCE_SHIFT | index;
	objects->type[id] = key;
	s->found++;
}

static inline __attribute__((always_inline)) void
type_object_by_vtable(struct hi_vtables *s, hi_node id, uint64_t addr)
{
	const struct hi_objects *objects = s->typing->objects;
	uint64_t vptr;

	if (objects->usable_low[id] >= 8 && !objects->type[id] &&
	    !hi_object_is_internal(objects, id) && read_vptr(s, addr, &vptr))
		take_vptr(s, id, addr, vptr);
}

static void scan_chunk_vtables(void *arg, size_t task, unsigned worker)
{
	struct hi_vtables *s = ((struct hi_vtables **)arg)[worker];
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	hi_node left = s->typing->objects->count - first;
	struct hi_address_cursor at = hi_address_cursor(s->typing->objects, first);

	for (hi_node i = 0; i < left && i < HI_CHUNK_NODES; i++)
		type_object_by_vtable(s, first + i,
				      hi_address_at(s->typing->objects, &at, first + i));
}

/* A sample of objects over the whole heap, for programs without symbols of C++.
 */
static bool sample_finds_any(struct hi_vtables *s)
{
	hi_node count = s->typing->objects->count, step = count / SAMPLES + 1;

	for (hi_node id = 0; id < count && !s->found; id += step)
		type_object_by_vtable(s, id, hi_objects_address(s->typing->objects, id));
	return s->found;
}

/* The class of all classes' type_info is in every program with virtual
 * functions: exported by libstdc++ and libc++abi, a symbol in static ones. */
static bool has_cxx(struct hi_typing *typing)
{
	uint64_t addr, size;

	return typing->modules &&
	       hi_modules_symbol(typing->modules, NULL,
				 "_ZTVN10__cxxabiv117__class_type_infoE", &addr, &size,
				 NULL) == HI_OK;
}

static int compare_module_spans(const void *a, const void *b)
{
	const struct hi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorted spans of modules that lie near each other become one; so do those beyond what
 * the table has room for. */
static void merge_spans(struct hi_vtables *s, const struct hi_range *all, size_t n)
{
	struct hi_range *last = NULL;

	for (size_t i = 0; i < n; i++) {
		if (last &&
		    (all[i].start < last->end || all[i].start - last->end < SPAN_GAP ||
		     s->n_spans == MAX_SPANS))
			last->end = all[i].end > last->end ? all[i].end : last->end;
		else
			*(last = &s->spans[s->n_spans++]) = all[i];
	}
}

/* Without modules, anywhere. */
static bool find_spans(struct hi_vtables *s, struct hi_modules *modules)
{
	size_t n = modules ? hi_modules_count(modules) : 0;
	HI_GUARD(free) struct hi_range *all = hi_calloc(n + 1, sizeof(*all));

	if (!all)
		return false;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct hi_range){hi_modules_get(modules, i)->start,
					   hi_modules_get(modules, i)->end};
	if (!n)
		all[n++] = (struct hi_range){0, UINT64_MAX};
	qsort(all, n, sizeof(*all), compare_module_spans);
	merge_spans(s, all, n);
	return true;
}

struct hi_vtables *hi_vtables_open(struct hi_typing *typing)
{
	struct hi_vtables *s = hi_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->typing = typing;
	if (!find_spans(s, typing->modules)) {
		free(s);
		return NULL;
	}
	return s;
}

void hi_vtables_close(struct hi_vtables *vtables)
{
	free(vtables);
}

uint32_t hi_vtables_layout_at(struct hi_vtables *vtables, uint64_t addr)
{
	uint64_t vptr;

	return read_vptr(vtables, addr, &vptr) ? layout_of_vptr(vtables, vptr)
					       : (uint32_t)HI_LAYOUT_NOTHING;
}

enum hi_status hi_vtables_find(struct hi_typing *typing, struct hi_error *err)
{
	size_t n_chunks =
		((size_t)typing->objects->count + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;
	struct hi_vtables *scans[64] = {};
	enum hi_status status = HI_OK;

	if (!typing->source.vtable || !n_chunks)
		return HI_OK;
	for (unsigned i = 0; i < typing->threads; i++) {
		scans[i] = hi_vtables_open(typing);
		if (!scans[i])
			status = hi_fail_memory(err, "vtables");
	}
	typing->has_vtables =
		status == HI_OK && (has_cxx(typing) || sample_finds_any(scans[0]));
	if (typing->has_vtables)
		hi_parallel(typing->threads, n_chunks, scan_chunk_vtables, scans);
	for (unsigned i = 0; i < typing->threads; i++)
		hi_vtables_close(scans[i]);
	return status;
}
