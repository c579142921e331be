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

enum { CACHE_SIZE = 1024, SAMPLES = 8192 };

struct cached_layout {
	uint64_t vptr;
	uint32_t layout; /* HI_LAYOUT_NOTHING: no vtable */
};

struct hi_vtables {
	struct hi_typing *typing;
	struct hi_memory_window window;
	struct cached_layout cache[CACHE_SIZE];
	uint64_t module_low, module_high;
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

/* The vtable pointer of an object at addr, if its first word may be one. */
static bool read_vptr(struct hi_vtables *s, uint64_t addr, uint64_t *ret)
{
	return read_first_word(s, addr, ret) && *ret % 8 == 0 &&
	       *ret - s->module_low < s->module_high - s->module_low;
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

static void type_object_by_vtable(struct hi_vtables *s, hi_node id)
{
	struct hi_objects *objects = s->typing->objects;
	uint64_t addr = hi_objects_address(objects, id), vptr;
	uint64_t usable = hi_objects_usable(objects, id);
	const struct hi_layout *layout;
	uint32_t index, key;

	if (usable < 8 || objects->type[id] || hi_object_is_internal(objects, id) ||
	    !read_vptr(s, addr, &vptr))
		return;
	index = layout_of_vptr(s, vptr);
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

static void scan_chunk_vtables(void *arg, size_t task, unsigned worker)
{
	struct hi_vtables *s = ((struct hi_vtables **)arg)[worker];
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	hi_node left = s->typing->objects->count - first;

	for (hi_node i = 0; i < left && i < HI_CHUNK_NODES; i++)
		type_object_by_vtable(s, first + i);
}

/* A sample of objects over the whole heap, for programs without symbols of C++.
 */
static bool sample_finds_any(struct hi_vtables *s)
{
	hi_node count = s->typing->objects->count, step = count / SAMPLES + 1;

	for (hi_node id = 0; id < count && !s->found; id += step)
		type_object_by_vtable(s, id);
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

struct hi_vtables *hi_vtables_open(struct hi_typing *typing)
{
	struct hi_vtables *s = hi_calloc(1, sizeof(*s));
	size_t n = typing->modules ? hi_modules_count(typing->modules) : 0;

	if (!s)
		return NULL;
	s->typing = typing;
	s->module_low = n ? UINT64_MAX : 0;
	s->module_high = n ? 0 : UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct hi_module *m = hi_modules_get(typing->modules, i);

		if (m->start < s->module_low)
			s->module_low = m->start;
		if (m->end > s->module_high)
			s->module_high = m->end;
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
