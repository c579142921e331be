/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Pools in static storage]
 *
 * `static std::byte buffer[65536]` with a monotonic_buffer_resource, an arena of a
 * program on a small machine: objects lie in an array of bytes among the variables. If
 * typed pointers lead into such an array they are split off, as in memory without blocks
 * (subobjects.h). They are no heap: nothing about them is unknown, and the variable holds
 * all of them, whatever else leads there, so that none is ever leaked.
 */
#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/inference/typing_state.h"
#include "decode/modules/module.h"

enum {
	MIN_BYTES = 512,
	MAX_ARRAYS = 512,  /* of a module, that are looked at */
	MAX_SECTIONS = 64, /* of a module */
	BEGINNING = 256,   /* bytes in which a pool has its first pointer */
};

struct array_places HI_VECTOR(uint64_t);

static bool is_in_writable_data(const struct hi_section_range *ranges, size_t n,
				uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < n; i++)
		if (!ranges[i].relro && addr >= ranges[i].start && addr < ranges[i].end)
			return size <= ranges[i].end - addr;
	return false;
}

/* A pointer to a block, or into itself. Most arrays have neither. */
static bool begins_as_pool(const struct hi_typing *typing, uint64_t addr, uint64_t size)
{
	uint64_t words[BEGINNING / 8], offset;

	if (hi_memory_read(typing->image->memory, addr, words, sizeof(words), NULL) !=
	    HI_OK)
		return false;
	for (size_t i = 0; i < BEGINNING / 8; i++)
		if (words[i] - addr < size ||
		    hi_objects_find(typing->objects, words[i], &offset) != HI_NODE_NONE)
			return true;
	return false;
}

static bool collect_arrays(const struct hi_typing *typing, struct hi_module *module,
			   struct array_places *places)
{
	const struct hi_symbols *symbols = hi_module_symbols(module);
	struct hi_section_range ranges[MAX_SECTIONS];
	size_t n = hi_module_data(module, ranges, MAX_SECTIONS);

	for (size_t i = 0; symbols && i < symbols->all.count; i++) {
		const struct hi_symbol *s = &symbols->all.items[i];

		if (s->type == STT_OBJECT && s->size >= MIN_BYTES && s->addr % 8 == 0 &&
		    places->count < MAX_ARRAYS &&
		    is_in_writable_data(ranges, n, s->addr, s->size) &&
		    begins_as_pool(typing, s->addr, s->size) &&
		    !hi_vector_push(places, s->addr))
			return false;
	}
	return true;
}

/* An array of places for objects (std::aligned_storage), all of it. */
static bool is_all_raw(const struct hi_layout *layout)
{
	uint64_t words = 0;

	for (uint32_t i = 0; i < layout->n_slots; i++) {
		if (layout->slots[i].kind != HI_POINTER_SLOT_RAW ||
		    layout->slots[i].count > layout->size / 8)
			return false;
		words += layout->slots[i].count;
	}
	return layout->size >= MIN_BYTES && words == layout->size / 8;
}

/* The arrays of bytes in the variable at addr. */
static enum hi_status include_arrays(struct hi_typing *typing, uint64_t addr,
				     struct hi_error *err)
{
	const struct hi_typing_source *source = &typing->source;
	const struct hi_layout *layout;
	enum hi_status status = HI_OK;
	struct hi_variable v;
	uint32_t index;

	if (source->variable_at(source->types.arg, addr, &v, NULL) != HI_OK ||
	    v.address != addr || !v.type)
		return HI_OK;
	index = hi_layouts_of(typing->layouts, v.type);
	if (index < HI_LAYOUT_FIRST)
		return HI_OK;
	layout = hi_layouts_get(typing->layouts, index);
	if (is_all_raw(layout))
		return hi_subobjects_include(typing->subobjects, addr,
					     addr + (layout->size & ~(uint64_t)7), err);
	for (uint32_t i = 0; i < layout->n_slots && status == HI_OK; i++) {
		const struct hi_pointer_slot *slot = &layout->slots[i];

		if (slot->kind == HI_POINTER_SLOT_RAW && slot->stride == 8 &&
		    slot->count >= MIN_BYTES / 8 && slot->count <= layout->size / 8)
			status = hi_subobjects_include(
				typing->subobjects, addr + slot->offset,
				addr + slot->offset + slot->count * 8, err);
	}
	return status;
}

enum hi_status hi_static_pools_find(struct hi_typing *typing, struct hi_error *err)
{
	size_t n_modules = typing->modules ? hi_modules_count(typing->modules) : 0;
	struct array_places places = {};
	enum hi_status status = HI_OK;
	bool ok = true;

	if (!typing->source.variable_at)
		return HI_OK;
	for (size_t i = 0; i < n_modules && ok; i++) {
		struct hi_module *module = hi_modules_get(typing->modules, i);

		if (hi_is_loader_module(module->name))
			continue;
		ok = collect_arrays(typing, module, &places);
	}
	for (size_t i = 0; i < places.count && ok && status == HI_OK; i++)
		status = include_arrays(typing, places.items[i], err);
	hi_vector_free(&places);
	return ok ? status : hi_fail_memory(err, "pools in static storage");
}
