/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of edges. The graph stores which node refers to which; the member that
 * refers is found again from the bytes and the layout, for the few edges that are shown.
 */
#include "decode/describe/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/describe/member_display.h"
#include "decode/describe/object_text.h"
#include "decode/inference/walker.h"

/* struct user_regs_struct, <sys/user.h>. */
const char *const hi_register_names[27] = {
	"r15",	  "r14", "r13", "r12",	   "rbp",     "rbx", "r11",	 "r10", "r9",
	"r8",	  "rax", "rcx", "rdx",	   "rsi",     "rdi", "orig_rax", "rip", "cs",
	"eflags", "rsp", "ss",	"fs_base", "gs_base", "ds",  "es",	 "fs",	"gs"};

/* ---- bytes of a node ---- */

static void place_of_root(struct hi_typing *typing, const struct hi_root *root,
			  struct hi_node_bytes *ret)
{
	const struct hi_root_info *info;

	ret->is_root = true;
	if (root->variable >= typing->roots.count)
		return;
	info = &typing->roots.items[root->variable];
	ret->address = info->address;
	ret->size = info->size;
	ret->value = info->value;
	ret->ranges = info->ranges;
	ret->n_ranges = info->n_ranges;
	if (info->layout >= HI_LAYOUT_FIRST) {
		ret->layout = hi_layouts_get(typing->layouts, info->layout);
		ret->type = info->type;
	}
}

bool hi_node_bytes_of(struct hi_typing *typing, const struct hi_graph *graph,
		      hi_node node, struct hi_node_bytes *ret)
{
	uint32_t layout;

	*ret = (struct hi_node_bytes){.typing = typing};
	if (node >= graph->n_objects) {
		if (node - graph->n_objects >= graph->n_roots)
			return false;
		place_of_root(typing, &graph->roots[node - graph->n_objects], ret);
		return true;
	}
	ret->address = hi_objects_address(graph->objects, node);
	ret->size = hi_objects_usable(graph->objects, node);
	layout = hi_typing_layout_of(typing, node);
	if (layout >= HI_LAYOUT_FIRST) {
		ret->layout = hi_layouts_get(typing->layouts, layout);
		ret->type = ret->layout->type ? ret->layout->type->id : 0;
		ret->array = graph->objects->flags[node] & HI_OBJECT_ARRAY;
	}
	return true;
}

struct hi_node_elements hi_node_elements_of(const struct hi_node_bytes *place)
{
	struct hi_node_elements e = {.n = 1};
	uint64_t size = place->layout->size, start, end;

	hi_layout_extent(place->layout, place->array, place->size, &start, &end);
	if (size)
		e.first = (start - place->layout->lead) / size;
	if (place->array && size)
		e.n = (end - start) / size;
	return e;
}

bool hi_node_bytes_read(const struct hi_node_bytes *place, uint64_t offset, void *buf,
			uint64_t size)
{
	if (!place->value)
		return hi_memory_read(place->typing->image->memory,
				      place->address + offset, buf, size, NULL) == HI_OK;
	if (offset > place->size || size > place->size - offset)
		return false;
	memcpy(buf, place->value + offset, size);
	return true;
}

/* ---- which word is it? ---- */

struct finding {
	const struct hi_node_bytes *place;
	struct hi_memory_window window;
	uint64_t to, to_size;
	uint64_t base; /* of what lies inside, from the node's start */
	const struct hi_layout *inner;
	uint64_t inner_at;
	struct hi_reference best;
	bool found, exact;
};

static void keep_found_reference(struct finding *f, uint64_t offset, uint64_t word,
				 struct hi_pointer_slot *slot)
{
	bool exact = slot && slot->kind == HI_POINTER_SLOT_TYPED;

	if (word - f->to >= f->to_size || f->exact || (f->found && !exact))
		return;
	f->best = (struct hi_reference){.offset = offset,
					.word = word,
					.slot = slot,
					.inner = f->inner,
					.inner_at = f->inner_at};
	f->found = true;
	f->exact = exact;
}

static void find_reference_in_slot(void *arg, uint64_t offset,
				   struct hi_pointer_slot *slot)
{
	struct finding *f = arg;
	const uint8_t *at;
	uint64_t word;

	offset += f->base;
	if (f->exact)
		return;
	at = f->place->value
		     ? NULL
		     : hi_memory_windows_at(&f->place->typing->memory_windows, &f->window,
					    f->place->address + offset, 8);
	if (at)
		memcpy(&word, at, sizeof(word));
	else if (!hi_node_bytes_read(f->place, offset, &word, sizeof(word)))
		return;
	keep_found_reference(f, offset, word, slot);
}

static void find_reference_in_range(struct finding *f, uint64_t start, uint64_t end)
{
	uint8_t *scratch = hi_alloc(HI_SPAN_SCRATCH);
	struct hi_spans spans = {.image = f->place->typing->image,
				 .addr = (start + 7) & ~(uint64_t)7,
				 .end = end,
				 .scratch = scratch};
	const uint8_t *host;
	uint64_t addr, size, word;

	while (!f->found && hi_spans_next(&spans, &host, &addr, &size))
		for (uint64_t i = 0; i + 8 <= size && !f->found; i += 8) {
			memcpy(&word, host + i, sizeof(word));
			keep_found_reference(f, addr + i - f->place->address, word, NULL);
		}
	free(scratch);
}

/* ---- by rules ---- */

static void find_reference_in_place(void *arg, const struct hi_layout *layout, bool array,
				    uint64_t addr, uint64_t end)
{
	struct finding *f = arg;
	uint64_t base = f->base;

	f->base = f->inner_at = addr - f->place->address;
	f->inner = layout;
	hi_layout_words_until(layout, array, true, end - addr, find_reference_in_slot, f);
	f->inner = NULL;
	f->base = base;
}

static void find_reference_by_rule(void *arg, const struct hi_rule_reference *reference,
				   uint32_t layout)
{
	struct finding *f = arg;

	if (f->exact || !reference->own || reference->slot ||
	    reference->word - f->to >= f->to_size)
		return;
	f->best = (struct hi_reference){.offset = reference->at - f->place->address,
					.word = reference->word,
					.rule = reference->rule,
					.index = reference->index,
					.layout = layout};
	f->found = f->exact = true;
}

static void find_by_rules(struct finding *f)
{
	const struct hi_node_bytes *place = f->place;
	struct hi_walker *w = hi_calloc(1, sizeof(*w));

	if (!w)
		return;
	hi_walker_init(w, place->typing);
	w->arg = f;
	w->words = find_reference_in_place;
	w->reference = find_reference_by_rule;
	w->value = place->value;
	w->own_only = true;
	hi_walker_rule_sites(w, place->layout, place->array, place->address, place->size);
	free(w);
}

bool hi_node_bytes_find(const struct hi_node_bytes *place, uint64_t to, uint64_t to_size,
			struct hi_reference *ret)
{
	struct finding f = {.place = place, .to = to, .to_size = to_size ? to_size : 1};

	if (place->layout && place->layout->klass != HI_TYPE_STRING)
		hi_layout_words(place->layout, place->array, place->size,
				find_reference_in_slot, &f);
	else if (place->value)
		for (uint64_t o = 0; o + 8 <= place->size; o += 8)
			find_reference_in_slot(&f, o, NULL);
	else if (!place->n_ranges)
		find_reference_in_range(&f, place->address, place->address + place->size);
	if (place->layout && place->layout->n_rule_sites && !f.exact)
		find_by_rules(&f);
	for (size_t i = 0; i < place->n_ranges && !f.found; i++)
		find_reference_in_range(&f, place->ranges[i].start, place->ranges[i].end);
	*ret = f.best;
	return f.found;
}

/* ---- edges ---- */

/* A word behind the record: as the rule writes it, with the index. */
static void begin_tail(const struct hi_reference *ref, struct hi_edge_name *name)
{
	const char *text = ref->rule ? ref->rule->text : NULL;
	const char *end = text ? strrchr(text, '[') : NULL;
	bool is_index = end && strcmp(end, "[i]") == 0;

	name->kind = is_index ? HI_NAME_INDEX : HI_NAME_OFFSET;
	name->number = is_index ? ref->index : ref->offset;
}

/* The number of an element as the program counts. */
static uint64_t count_element(const struct hi_layout *layout, uint64_t index)
{
	if (layout->live.kind != HI_LIVE_RING || !hi_layout_has_count(layout))
		return index;
	return index >= layout->live.at ? index - layout->live.at
					: index + layout->count - layout->live.at;
}

/* The slots of a hash table have keys, the blocks of a deque no numbers. */
static bool has_numbers(const struct hi_layout *layout)
{
	return layout->live.kind != HI_LIVE_FULL && !layout->part;
}

static bool begin_typed(const struct hi_node_bytes *place, const struct hi_reference *ref,
			struct hi_edge_name *name, uint64_t *within)
{
	const struct hi_layout *layout = place->layout;
	uint64_t offset = ref->offset, size = layout->size;

	if (!ref->slot && (!ref->rule || (!place->array && offset >= size))) {
		begin_tail(ref, name);
		return false;
	}
	*within = offset;
	if (place->array && size) {
		offset -= offset >= layout->lead ? layout->lead : 0;
		*within = offset % size;
		if (!has_numbers(layout))
			return true;
		name->kind = HI_NAME_INDEX;
		name->number = count_element(layout, offset / size);
	}
	return true;
}

/* One record alone may be all that a container has. */
static bool is_counted_alone(const struct hi_node_bytes *place)
{
	return !place->is_root && !place->array && hi_layout_has_count(place->layout);
}

static bool is_record_place(const struct hi_node_bytes *place)
{
	const struct hi_type *type = place->layout->type;

	return type && (type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION);
}

static void rest_typed(const struct hi_node_bytes *place, const struct hi_reference *ref,
		       uint64_t within, struct hi_out *out,
		       struct hi_shown_element *element)
{
	struct hi_out text = {.text = (char[400]){0}, .size = 400};
	struct hi_shown_path path = {
		.type = place->type, .offset = within, .array = !place->is_root};
	uint64_t record = ref->offset - within;
	struct hi_shown_element slot = {};
	bool is_link;

	if (ref->inner && ref->inner->type && ref->inner_at >= record) {
		path.inner = ref->inner->type->id;
		path.inner_at = ref->inner_at - record;
	}
	if (place->layout->live.kind == HI_LIVE_FULL)
		hi_shown_slot_enter(place->typing, &path, &text, &slot);
	is_link = hi_shown_path_write(place->typing, &path, &text, element);
	is_link |= place->array && place->layout->quiet;
	if (slot.used)
		*element = slot;
	if (!has_numbers(place->layout))
		hi_out_add(out, "%s%s", slot.used || is_link ? "" : "[*]", text.text);
	else if (is_counted_alone(place))
		hi_out_add(out, "[0]%s", text.text);
	else if (!place->is_root && !place->array && text.text[0] == '.')
		hi_out_add(out, "->%s", text.text + 1);
	else if (!place->is_root && !place->array && text.length == 0 &&
		 !is_record_place(place))
		hi_out_add(out, "[0]"); /* one pointer on its own */
	else
		hi_out_add(out, "%s", text.text);
	if (is_link)
		hi_out_add(out, "%c", HI_EDGE_LINK);
}

static bool is_registers(const struct hi_node_bytes *place)
{
	return place->value && !place->address && place->size == 27 * 8;
}

bool hi_reference_begin(const struct hi_node_bytes *place, const struct hi_reference *ref,
			struct hi_edge_name *name, uint64_t *within)
{
	*name = (struct hi_edge_name){};
	*within = ref->offset;
	if (place->layout && place->type)
		return begin_typed(place, ref, name, within);
	if (place->n_ranges || is_registers(place))
		return true;
	if (!place->is_root || place->size > 8) {
		name->kind = HI_NAME_OFFSET;
		name->number = ref->offset;
	}
	return false;
}

void hi_reference_rest(const struct hi_node_bytes *place, const struct hi_reference *ref,
		       uint64_t within, struct hi_out *out,
		       struct hi_shown_element *element)
{
	*element = (struct hi_shown_element){};
	if (place->layout && place->type)
		rest_typed(place, ref, within, out, element);
	else if (place->n_ranges == 1 && place->size && place->size <= 8)
		return; /* the only word */
	else if (place->n_ranges == 1 && place->size)
		hi_out_add(out, " +0x%llx", (unsigned long long)within);
	else if (place->n_ranges)
		hi_out_add(out, " 0x%llx", (unsigned long long)place->address + within);
	else
		hi_out_add(out, " %s", hi_register_names[within / 8 % 27]);
}

void hi_reference_describe(const struct hi_node_bytes *place,
			   const struct hi_reference *ref, struct hi_out *out)
{
	struct hi_out rest = {.text = (char[400]){0}, .size = 400};
	char number[HI_EDGE_TEXT];
	struct hi_shown_element element;
	struct hi_edge_name name;
	uint64_t within;
	bool more = hi_reference_begin(place, ref, &name, &within);

	hi_out_add(out, "%s", hi_edge_name_text(&name, number));
	if (!more)
		return;
	hi_reference_rest(place, ref, within, &rest, &element);
	hi_shown_key_put(place->typing, &element, place->address + ref->offset - within,
			 rest.text, out);
}

/* ---- edges of a runtime's objects ---- */

struct managed_edge {
	uint64_t to, to_size;
	struct hi_runtime_edge edge;
	bool found;
};

static bool match_edge(void *arg, const struct hi_runtime_edge *edge)
{
	struct managed_edge *m = arg;

	if (edge->to < m->to || edge->to - m->to >= m->to_size)
		return true;
	if (!m->found || edge->grade < m->edge.grade)
		m->edge = *edge;
	m->found = true;
	return m->edge.grade != HI_GRADE_EXACT;
}

static void describe_managed(const struct hi_node_bytes *place, uint64_t to,
			     uint64_t to_size, struct hi_out *out)
{
	struct hi_runtime *runtime = place->typing->runtime;
	struct hi_runtime_cursor *cursor = hi_runtime_cursor(runtime);
	struct managed_edge m = {.to = to, .to_size = to_size};
	char text[200] = "";

	if (!cursor)
		return;
	runtime->ops->edges(cursor, place->address, place->size,
			    place->layout->managed - 1, match_edge, &m);
	if (m.found)
		runtime->ops->label(cursor, &m.edge, text, sizeof(text));
	hi_out_add(out, "%s", text);
	hi_runtime_cursor_free(runtime, cursor);
}

size_t hi_typing_describe_edge(struct hi_typing *typing, const struct hi_graph *graph,
			       hi_node from, hi_node to, char *text, size_t text_size)
{
	size_t n = hi_typing_describe_step(typing, graph, from, to, text, text_size);

	return n - hi_edge_link_drop(text, n);
}

size_t hi_typing_describe_step(struct hi_typing *typing, const struct hi_graph *graph,
			       hi_node from, hi_node to, char *text, size_t text_size)
{
	struct hi_out out = {text, text_size, 0};
	struct hi_reference ref;
	struct hi_node_bytes place;

	if (text_size)
		text[0] = 0;
	if (!hi_node_bytes_of(typing, graph, from, &place))
		return 0;
	if (place.is_root)
		hi_out_escaped(&out, graph->roots[from - graph->n_objects].name);
	if (to < graph->n_objects && place.layout && place.layout->managed &&
	    !place.layout->opaque) {
		describe_managed(&place, hi_objects_address(graph->objects, to),
				 hi_objects_usable(graph->objects, to), &out);
		return out.length;
	}
	if (to >= graph->n_objects ||
	    !hi_node_bytes_find(&place, hi_objects_address(graph->objects, to),
				hi_objects_usable(graph->objects, to), &ref))
		return out.length;
	hi_reference_describe(&place, &ref, &out);
	return out.length;
}
