/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/walker.h"

#include <string.h>

static bool is_within_block(const struct hi_walker *w, uint64_t addr, uint64_t size)
{
	return addr >= w->block && addr < w->block_end && w->block_end - addr >= size;
}

static bool read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct hi_walker *w = arg;
	const uint8_t *at;

	w->reads_elsewhere |= !is_within_block(w, addr, size);
	if (w->value) {
		if (addr < w->block || addr > w->block_end || w->block_end - addr < size)
			return hi_memory_read(w->typing->image->memory, addr, buf, size,
					      NULL) == HI_OK;
		memcpy(buf, w->value + (addr - w->block), size);
		return true;
	}
	at = hi_memory_windows_at(&w->typing->memory_windows, &w->window, addr, size);
	if (!at)
		return hi_memory_read(w->typing->image->memory, addr, buf, size, NULL) ==
		       HI_OK;
	memcpy(buf, at, size);
	return true;
}

/* The bytes of the object at hand, where they are in one piece. */
static const uint8_t *host_of_block(struct hi_walker *w)
{
	if (w->value)
		return w->value;
	return hi_memory_windows_at(&w->typing->memory_windows, &w->window, w->block,
				    w->block_end - w->block);
}

static uint64_t usable_at_address(void *arg, uint64_t addr)
{
	struct hi_walker *w = arg;
	uint64_t offset = 0;
	hi_node id = hi_objects_find(w->typing->objects, addr, &offset);

	w->reads_elsewhere |= !is_within_block(w, addr, 1);
	return id == HI_NODE_NONE ? 0 : hi_object_usable(w->typing->objects, id) - offset;
}

void hi_walker_init(struct hi_walker *w, struct hi_typing *typing)
{
	uint64_t n = typing->objects->count;

	*w = (struct hi_walker){.typing = typing};
	w->applier = (struct hi_applier){.source = &typing->source.types.rules,
					 .arg = w,
					 .read = read_memory,
					 .usable = usable_at_address,
					 .max_steps = n};
}

/* ---- layouts in place of targets ---- */

static uint32_t base_layout_of_target(struct hi_walker *w,
				      const struct hi_rule_target *target)
{
	size_t i = ((uintptr_t)target >> 4) * 0x9e3779b97f4a7c15ull >> 55;
	struct hi_layouts *layouts = w->typing->layouts;
	uint32_t layout = HI_LAYOUT_NOTHING;

	if (w->targets[i].target == target)
		return w->targets[i].layout;
	if (target->kind == HI_TARGET_TYPE)
		layout = hi_layouts_called(layouts, hi_layouts_of(layouts, target->type),
					   target->name);
	else if (target->kind == HI_TARGET_BLOB || target->kind == HI_TARGET_WORDS)
		layout = hi_layouts_buffer(layouts, target->name,
					   target->kind == HI_TARGET_BLOB);
	w->targets[i].target = target;
	w->targets[i].layout = layout;
	return layout;
}

static uint32_t refine_cached_layout(struct hi_walker *w, uint32_t layout,
				     const struct hi_layout_refinement *what)
{
	uint64_t h = (layout ^ what->count * 31 ^ what->first * 131 ^ what->live.at * 17 ^
		      (uint64_t)what->context << 20) *
		     0x9e3779b97f4a7c15ull;
	size_t i = h >> 55;

	if (w->refinements[i].layout != layout ||
	    memcmp(&w->refinements[i].what, what, sizeof(*what)) != 0) {
		w->refinements[i].refined =
			hi_layouts_refine(w->typing->layouts, layout, what);
		w->refinements[i].layout = layout;
		w->refinements[i].what = *what;
	}
	return w->refinements[i].refined;
}

/* Of these values what the layout looks at. */
static hi_context context_for(struct hi_walker *w, const struct hi_layout *layout,
			      const uint64_t *values)
{
	uint64_t kept[HI_CONTEXT_WORDS] = {};
	uint64_t wanted = values ? layout->wants & values[HI_CONTEXT_KEYS] : 0;

	if (!wanted)
		return 0;
	for (uint64_t i = 0; i < HI_CONTEXT_KEYS; i++)
		if (wanted >> i & 1)
			hi_context_set(kept, i, values[i]);
	if (memcmp(kept, w->last_values, sizeof(kept)) != 0) {
		w->last_context = hi_layouts_context(w->typing->layouts, kept);
		memcpy(w->last_values, kept, sizeof(kept));
	}
	return w->last_context;
}

/* Is no more known of the use of the type than the type itself? */
static bool is_plain_use(const struct hi_rule_reference *reference)
{
	return reference->count == HI_COUNT_UNKNOWN && !reference->from &&
	       !reference->lead && !reference->live.kind && !reference->quiet &&
	       !reference->part;
}

static uint32_t layout_of_reference(struct hi_walker *w,
				    const struct hi_rule_reference *reference)
{
	uint32_t index = base_layout_of_target(w, reference->target);
	const struct hi_layout *layout;
	struct hi_layout_refinement what;

	if (index < HI_LAYOUT_FIRST)
		return HI_LAYOUT_NOTHING;
	layout = hi_layouts_get(w->typing->layouts, index);
	if (!layout->wants && is_plain_use(reference))
		return layout->base;
	memset(&what, 0, sizeof(what));
	what.first = reference->from;
	what.count = reference->count;
	what.lead = reference->lead;
	what.live = reference->live;
	what.quiet = reference->quiet;
	what.part = reference->part;
	what.context = context_for(w, layout, reference->context);
	if (layout->size == 0) {
		what.first = what.lead = 0;
		what.count = HI_COUNT_UNKNOWN;
		what.live = (struct hi_live){};
	}
	return refine_cached_layout(w, index, &what);
}

uint32_t hi_walker_with_context(struct hi_walker *w, uint32_t index, hi_context context)
{
	const struct hi_layout *layout = hi_layouts_get(w->typing->layouts, index);
	struct hi_layout_refinement what;

	if (!layout->wants)
		return index;
	what = hi_layout_refinement_of(layout);
	what.context = context_for(
		w, layout, hi_layouts_context_values(w->typing->layouts, context));
	return refine_cached_layout(w, index, &what);
}

/* ---- elements ---- */

bool hi_walker_is_live(struct hi_walker *w, const struct hi_layout *layout, uint64_t addr,
		       uint64_t k)
{
	uint64_t at = layout->live.at, n = layout->first + layout->count;
	uint8_t byte;

	/* Unreadable: what it leads to is not called leaked. */
	if (layout->live.kind == HI_LIVE_FULL)
		return !read_memory(w, addr + at + k * layout->live.step, &byte, 1) ||
		       byte < 128;
	if (layout->live.kind == HI_LIVE_RING)
		return (k >= at ? k - at : k + n - at) < layout->live.step;
	return true;
}

/* ---- rule sites ---- */

static void rule_sites_of(struct hi_walker *w, const struct hi_layout *layout, bool array,
			  uint64_t addr, uint64_t end);

/* Bytes at the site by its declaration, for `words`, which have no size. */
static uint64_t place_size(const struct hi_walker *w,
			   const struct hi_rule_reference *reference)
{
	const struct hi_type_source *types = &w->typing->source.types;

	return hi_type_source_get(types, hi_code_type(reference->rule->lvalue))->size;
}

/* A record lies at this address: reports its words, and its own rule sites. */
static void walk_place(struct hi_walker *w, const struct hi_rule_reference *reference,
		       uint32_t index)
{
	uint64_t end = w->block_end;
	const struct hi_layout *layout;
	bool array = reference->count != UINT64_MAX;
	uint64_t size;

	if (index < HI_LAYOUT_FIRST)
		return;
	if (w->depth >= HI_WALKER_DEPTH) {
		w->applier.bounded++;
		w->applier.unresolved = true;
		return;
	}
	layout = hi_layouts_get(w->typing->layouts, index);
	size = layout->size ? layout->size : place_size(w, reference);
	if (layout->blob || !size || end - reference->to < size)
		return;
	if (!array || !layout->size)
		end = reference->to + size;
	w->depth++;
	w->words(w->arg, layout, array, reference->to, end);
	rule_sites_of(w, layout, array, reference->to, end);
	w->depth--;
}

static void pass_rule_reference(void *arg, const struct hi_rule_reference *reference)
{
	struct hi_walker *w = arg;
	uint32_t layout = HI_LAYOUT_NOTHING;

	if (reference->target->kind != HI_TARGET_ANY && !reference->weak &&
	    !(w->edges_only && !reference->place))
		layout = layout_of_reference(w, reference);
	if (reference->place)
		walk_place(w, reference, layout);
	else
		w->reference(w->arg, reference, layout);
}

/* A record at the start of its object extends to the object's end. */
static void report_unresolved_record(struct hi_walker *w, const struct hi_rule_site *site,
				     uint64_t base, uint64_t addr, uint64_t end)
{
	const struct hi_type_source *types = &w->typing->source.types;
	uint64_t size = hi_type_source_get(types, site->rules->type)->size;

	if (w->unresolved)
		w->unresolved(w->arg, addr,
			      addr == base || size > end - addr ? end : addr + size);
}

static void apply_rule_site(struct hi_walker *w, const struct hi_layout *layout,
			    const struct hi_rule_site *site, uint64_t base, uint64_t end)
{
	struct hi_record_at at = {
		.block = w->block,
		.block_end = w->block_end,
		.host = w->host,
		.context = hi_layouts_context_values(w->typing->layouts, layout->context),
		.edges_only = w->edges_only || w->own_only};
	uint64_t addr = base + site->offset;
	bool around = w->applier.unresolved; /* of the record that these lie in */

	for (uint64_t n = site->count; n && addr < end; n--, addr += site->stride) {
		at.addr = addr;
		w->applier.unresolved = false;
		hi_rules_apply(&w->applier, site->rules, &at, pass_rule_reference, w);
		if (w->applier.unresolved)
			report_unresolved_record(w, site, base, addr, end);
	}
	w->applier.unresolved = around;
}

static void rule_sites_of(struct hi_walker *w, const struct hi_layout *layout, bool array,
			  uint64_t addr, uint64_t end)
{
	uint64_t first, last;

	if (!layout->n_rule_sites || layout->size == 0)
		return;
	hi_layout_extent(layout, array, end - addr, &first, &last);
	for (uint64_t at = first, k = layout->first; at + layout->size <= last;
	     at += layout->size, k++) {
		if (layout->live.kind && !hi_walker_is_live(w, layout, addr, k))
			continue;
		for (uint32_t i = 0; i < layout->n_rule_sites; i++)
			apply_rule_site(w, layout, &layout->rule_sites[i], addr + at,
					array ? addr + at + layout->size : end);
		if (!array)
			break;
	}
}

void hi_walker_rule_sites(struct hi_walker *w, const struct hi_layout *layout, bool array,
			  uint64_t addr, uint64_t usable)
{
	w->depth = 0;
	w->block = addr;
	w->block_end = addr + usable;
	w->host = host_of_block(w);
	rule_sites_of(w, layout, array, addr, w->block_end);
}

static struct hi_record_at walked_record_at(struct hi_walker *w,
					    const struct hi_layout *layout, uint64_t addr,
					    uint64_t room)
{
	return (struct hi_record_at){.addr = addr,
				     .block = addr,
				     .block_end = addr + room,
				     .context = hi_layouts_context_values(
					     w->typing->layouts, layout->context)};
}

bool hi_walker_tail_known(struct hi_walker *w, const struct hi_layout *layout,
			  uint64_t addr, uint64_t usable)
{
	struct hi_record_at at;

	if (!layout->rules || !layout->rules->tail_known)
		return false;
	at = walked_record_at(w, layout, addr, usable);
	return hi_rules_tail_known(&w->applier, layout->rules, &at);
}

bool hi_walker_variant_is_open(struct hi_walker *w, const struct hi_layout *layout,
			       uint64_t addr, uint64_t room)
{
	struct hi_record_at at;

	if (!layout->rules || !layout->rules->n_variants)
		return false;
	at = walked_record_at(w, layout, addr, room);
	return hi_rules_variant_is_open(&w->applier, layout->rules, &at);
}

uint64_t hi_walker_size(struct hi_walker *w, const struct hi_layout *layout,
			uint64_t addr, uint64_t room)
{
	struct hi_record_at at = walked_record_at(w, layout, addr, room);
	uint64_t size = layout->size;

	if (hi_layout_has_count(layout)) {
		uint64_t n = layout->first + layout->count;

		if (!size || n > room / size)
			return room;
		size *= n;
	}
	if (layout->rules)
		size = hi_rules_size(&w->applier, layout->rules, &at, size);
	return size < room ? size : room;
}

uint32_t hi_walker_variant(struct hi_walker *w, uint32_t index, uint64_t addr,
			   uint64_t room)
{
	for (int depth = 0; depth < 4; depth++) {
		const struct hi_layout *layout =
			hi_layouts_get(w->typing->layouts, index);
		struct hi_record_at at;
		struct hi_layout_refinement what;
		hi_type_id type;
		uint32_t other;

		if (!layout->rules || !layout->rules->n_variants)
			return index;
		at = walked_record_at(w, layout, addr, room);
		type = hi_rules_variant(&w->applier, layout->rules, &at);
		if (type == layout->rules->type)
			return index;
		other = hi_layouts_of(w->typing->layouts, type);
		if (other < HI_LAYOUT_FIRST || other == layout->base)
			return index;
		memset(&what, 0, sizeof(what));
		what.count = HI_COUNT_UNKNOWN;
		what.context = layout->context;
		index = refine_cached_layout(w, other, &what);
	}
	return index;
}
