/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions of roots, run on the image: which objects they lead to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/roots/named_roots_internal.h"
#include "decode/inference/walker.h"

enum { VALUE_BYTES = sizeof(((struct hi_local *)NULL)->value) };

/* ---- bytes ---- */

const struct hi_local *hi_named_roots_local(const struct hi_named_roots_private *p,
					    uint64_t addr)
{
	uint64_t i = (addr - HI_LOCAL_BASE) / HI_LOCAL_STRIDE;

	return addr >= HI_LOCAL_BASE && i < p->values.count ? &p->values.items[i] : NULL;
}

bool hi_named_roots_read(const struct hi_named_roots_private *p, uint64_t addr, void *buf,
			 size_t size)
{
	const struct hi_local *local = hi_named_roots_local(p, addr);
	uint64_t offset = (addr - HI_LOCAL_BASE) % HI_LOCAL_STRIDE;
	uint64_t bits = size < 64 ? ((uint64_t)1 << size) - 1 : UINT64_MAX;

	if (!local)
		return hi_modules_read(p->modules, addr, buf, size, NULL) == HI_OK;
	if (offset + size > VALUE_BYTES || (local->value_mask >> offset & bits) != bits)
		return false;
	memcpy(buf, local->value + offset, size);
	return true;
}

static bool read_bytes(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct hi_root_finding *f = arg;

	if (hi_named_roots_read(f->p, addr, buf, size))
		return true;
	f->refused = addr;
	f->refused_any = true;
	return false;
}

static uint64_t usable_at_root_address(void *arg, uint64_t addr)
{
	const struct hi_objects *objects =
		((struct hi_root_finding *)arg)->graph->objects;
	uint64_t offset = 0;
	hi_node id = hi_objects_find(objects, addr, &offset);

	return id == HI_NODE_NONE ? 0 : hi_objects_usable(objects, id) - offset;
}

/* ---- objects ---- */

static bool add_object_at(struct hi_root_finding *f, uint64_t addr)
{
	hi_node id = hi_objects_find(f->graph->objects, addr, NULL);

	if (id == HI_NODE_NONE)
		return false;
	if (!hi_vector_push(&f->starts, id))
		f->no_memory = true;
	return true;
}

static void set_root_warning(struct hi_root_finding *f, const char *before, uint64_t addr,
			     const char *behind)
{
	f->warning =
		hi_arena_printf(&f->p->arena, "%s 0x%" PRIx64 "%s", before, addr, behind);
	if (!f->warning)
		f->no_memory = true;
}

/* ---- the objects that a variable refers to, as in roots.c ---- */

static void add_objects_of_word(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct hi_root_finding *f = arg;
	uint64_t word;

	if (!hi_named_roots_read(f->p, f->base + offset, &word, sizeof(word)))
		return;
	if (slot && slot->kind == HI_POINTER_SLOT_TYPED &&
	    hi_layouts_pointee(f->typing->layouts, slot) == HI_LAYOUT_FUNCTION)
		return;
	add_object_at(f, word);
}

static void add_words_of_place(void *arg, const struct hi_layout *layout, bool array,
			       uint64_t addr, uint64_t end)
{
	struct hi_root_finding *f = arg;
	uint64_t base = f->base;

	f->base = addr;
	hi_layout_words_until(layout, array, true, end - addr, add_objects_of_word, f);
	f->base = base;
}

static void add_object_of_rule(void *arg, const struct hi_rule_reference *reference,
			       uint32_t layout)
{
	(void)layout;
	if (reference->own && !reference->slot && !reference->weak)
		add_object_at(arg, reference->word);
}

static void walk_rules(struct hi_root_finding *f, const struct hi_layout *layout,
		       uint64_t addr, uint64_t size)
{
	const struct hi_local *local = hi_named_roots_local(f->p, addr);
	struct hi_walker *w = hi_calloc(1, sizeof(*w));

	if (!w) {
		f->no_memory = true;
		return;
	}
	hi_walker_init(w, f->typing);
	w->arg = f;
	w->words = add_words_of_place;
	w->reference = add_object_of_rule;
	w->value = local ? local->value : NULL;
	w->own_only = true;
	hi_walker_rule_sites(w, layout, false, addr, size);
	free(w);
}

static const struct hi_layout *layout_of_expression(const struct hi_root_finding *f,
						    hi_type_id type)
{
	uint32_t layout = f->typing->conservative || !type
				  ? HI_LAYOUT_NONE
				  : hi_layouts_of(f->typing->layouts, type);
	const struct hi_layout *p = layout >= HI_LAYOUT_FIRST
					    ? hi_layouts_get(f->typing->layouts, layout)
					    : NULL;

	return p && !p->opaque ? p : NULL;
}

static void add_words(struct hi_root_finding *f, uint64_t addr, uint64_t size,
		      const struct hi_layout *layout)
{
	f->base = addr;
	if (!layout) {
		for (uint64_t o = -addr & 7; o + 8 <= size && !f->no_memory; o += 8)
			add_objects_of_word(f, o, NULL);
		return;
	}
	if (layout->klass == HI_TYPE_STRING)
		return;
	hi_layout_words(layout, false, size, add_objects_of_word, f);
	if (layout->n_rule_sites)
		walk_rules(f, layout, addr, size);
}

/* A member of what is at null is near it. */
static void warn_unreadable(struct hi_root_finding *f, uint64_t addr)
{
	if (addr < HI_ROOT_NULL_PAGE)
		f->warning = "a pointer on the way to it is null";
	else
		set_root_warning(f, "its memory at", addr, " is not readable");
}

/* Memory of an allocator that is in no live block was freed; its words still lead where
 * they led before. */
static bool in_heap(const struct hi_root_finding *f, uint64_t addr)
{
	const struct hi_allocator *allocator = f->typing->allocator;
	size_t low = hi_search(i, allocator ? allocator->n_regions : 0,
			       allocator->regions[i].end <= addr);

	return allocator && low < allocator->n_regions &&
	       allocator->regions[low].start <= addr;
}

/* A record or an array at addr. */
static void find_at_place(struct hi_root_finding *f, uint64_t addr, hi_type_id id,
			  uint64_t size)
{
	uint8_t byte;

	f->address = hi_named_roots_local(f->p, addr) ? 0 : addr;
	if (!f->inside && add_object_at(f, addr))
		return;
	if (!hi_named_roots_read(f->p, addr, &byte, 1)) {
		warn_unreadable(f, addr);
		return;
	}
	if (!f->inside && in_heap(f, addr)) {
		set_root_warning(f, "it leads to", addr,
				 ", where there is no live block: it was freed");
		return;
	}
	/* The size comes from DWARF: bytes that are not in the image have no words. */
	if (!size)
		size = hi_type_get(f->p->types, id)->size;
	add_words(f, addr, size < HI_ROOT_BYTES ? size : HI_ROOT_BYTES,
		  layout_of_expression(f, id));
	if (!f->starts.count)
		set_root_warning(f, "what lies at", addr, " refers to no object");
}

static bool may_refer(const struct hi_root_finding *f, hi_type_id id)
{
	enum hi_type_kind kind = hi_type_get(f->p->types, id)->kind;

	return kind == HI_KIND_STRUCT || kind == HI_KIND_UNION || kind == HI_KIND_ARRAY ||
	       kind == HI_KIND_POINTER;
}

static void find_by_pointer(struct hi_root_finding *f, uint64_t addr, hi_type_id target)
{
	uint8_t byte;

	f->address = addr;
	if (addr == 0)
		f->warning = "it is null";
	else if (hi_named_roots_local(f->p, addr))
		find_at_place(f, addr, target, 0);
	else if (add_object_at(f, addr))
		return;
	else if (!hi_named_roots_read(f->p, addr, &byte, 1))
		set_root_warning(f, "it leads to", addr, ", which is not readable");
	else if (may_refer(f, target) || in_heap(f, addr))
		find_at_place(f, addr, target, 0);
	else
		set_root_warning(f, "it leads to", addr, ", where there is no object");
}

/* ---- the run ---- */

static int compare_starts(const void *a, const void *b)
{
	const hi_node *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void keep_sorted_starts(struct hi_root_finding *f, struct hi_named_root *root)
{
	hi_node *items = f->starts.items;
	size_t kept = 0;

	if (f->starts.count > 1)
		qsort(items, f->starts.count, sizeof(*items), compare_starts);
	for (size_t i = 0; i < f->starts.count; i++)
		if (!kept || items[kept - 1] != items[i])
			items[kept++] = items[i];
	root->starts = items;
	root->n_starts = kept;
	root->address = f->address;
	root->warning = f->warning;
}

void hi_root_find(struct hi_root_finding *f, const struct hi_root_code *code)
{
	struct hi_code_input in = {.arg = f,
				   .read = read_bytes,
				   .usable = usable_at_root_address,
				   .self = f->self};
	uint64_t value = 0;

	if (!hi_code_run(code->code, &in, &value)) {
		if (f->refused_any)
			warn_unreadable(f, f->refused);
		else
			f->warning = "it divides by 0";
		return;
	}
	if (code->value == HI_ROOT_PLACE) {
		find_at_place(f, value, code->target, code->size);
		return;
	}
	if (code->value == HI_ROOT_WORD &&
	    !hi_named_roots_read(f->p, value, &value, sizeof(value))) {
		warn_unreadable(f, value);
		return;
	}
	find_by_pointer(f, value, code->target);
}

enum hi_status hi_named_roots_find(struct hi_named_roots *roots, struct hi_typing *typing,
				   const struct hi_graph *graph, struct hi_error *err)
{
	struct hi_named_roots_private *p = roots->priv;

	for (size_t i = 0; i < roots->count; i++) {
		struct hi_root_finding f = {.p = p, .typing = typing, .graph = graph};

		if (roots->items[i].is_path)
			continue;
		hi_root_find(&f, &p->codes[i]);
		keep_sorted_starts(&f, &roots->items[i]);
		if (f.no_memory)
			return hi_fail_memory(err, "roots");
	}
	return HI_OK;
}
