/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/typing_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "attach/mock.h"
#include "census/analysis/analysis.h"
#include "harness.h"
#include "support/typed_graph.h"

static struct hi_error world_err;

static const struct hi_type *world_type_get(void *arg, hi_type_id id)
{
	struct world *w = arg;

	return &w->types[id < w->n_types ? id : 0];
}

static enum hi_status world_vtable(void *arg, uint64_t vptr, hi_type_id *type_ret,
				   const char **name_ret, int64_t *top_offset_ret,
				   struct hi_error *err)
{
	struct world *w = arg;

	for (uint32_t i = 1; i < w->n_types; i++)
		if (w->vtable_of[i] && w->vtable_of[i] == vptr) {
			bool layout = w->types[i].size != 0;

			*type_ret = layout ? i : 0;
			*name_ret = w->types[i].name;
			*top_offset_ret = 0;
			return HI_OK;
		}
	return hi_fail(err, HI_NOT_FOUND, vptr, "no vtable");
}

static enum hi_status world_stack(void *arg, const struct hi_image *image,
				  uint32_t thread, struct hi_stack **ret,
				  struct hi_error *err)
{
	struct world *w = arg;
	struct hi_stack *stack = hi_calloc(1, sizeof(*stack));
	struct hi_frame *frames = hi_calloc(1, sizeof(*frames));
	struct hi_local *locals = hi_calloc(WORLD_LOCALS, sizeof(*locals));

	(void)image;
	if (!stack || !frames || !locals) {
		free(stack);
		free(frames);
		free(locals);
		return hi_fail_memory(err, "stack");
	}
	memcpy(locals, w->locals, sizeof(w->locals));
	*stack = (struct hi_stack){.thread = thread,
				   .frames = frames,
				   .n_frames = 1,
				   .locals = locals,
				   .n_locals = w->n_locals,
				   .low = WORLD_STACK,
				   .high = WORLD_STACK + WORLD_STACK_SIZE};
	*ret = stack;
	return HI_OK;
}

static void world_reset(struct world *w)
{
	hi_typing_destroy(w->typing);
	hi_graph_destroy(w->graph);
	w->typing = NULL;
	w->graph = NULL;
	hi_rulebook_destroy(w->book); /* names and rules are borrowed until now */
	w->book = NULL;
}

void world_forget(struct world *w)
{
	world_reset(w);
	hi_rulebook_destroy(hi_take(w->kept_book));
	hi_image_destroy(w->image);
	w->image = NULL;
	w->memory = NULL;
	hi_vector_free(&w->blocks);
}

void world_free(struct world *w)
{
	hi_alloc_fail_at(0);
	world_forget(w);
	free(w);
}

static void add_memory(struct world *w, uint64_t start, uint64_t size,
		       enum hi_mapping_kind kind)
{
	struct hi_mapping m = {.start = start,
			       .end = start + size,
			       .prot = HI_PROT_READ | HI_PROT_WRITE,
			       .held = true,
			       .kind = kind,
			       .path = ""};

	HI_ASSERT_OK(hi_memory_mock_add(w->memory, start, NULL, size, &world_err),
		     &world_err);
	HI_ASSERT_OK(hi_image_add_mapping(w->image, &m, &world_err), &world_err);
}

void world_mapping(struct world *w, uint64_t start, uint64_t size)
{
	add_memory(w, start, size, HI_MAPPING_ANONYMOUS);
}

struct world *world_create(void)
{
	struct world *w = hi_calloc(1, sizeof(*w));
	struct hi_thread thread = {.tid = 7, .name = "drawn"};

	HI_ASSERT(w);
	HI_ASSERT_OK(hi_memory_create_mock(&w->memory, &world_err), &world_err);
	HI_ASSERT_OK(hi_image_create_mock(w->memory, &w->image, &world_err), &world_err);
	hi_test_defer(world_free, w);
	add_memory(w, WORLD_HEAP, WORLD_HEAP_SIZE, HI_MAPPING_HEAP);
	add_memory(w, WORLD_STACK, WORLD_STACK_SIZE, HI_MAPPING_STACK);
	add_memory(w, WORLD_MODULE, 0x1000, HI_MAPPING_FILE);
	w->image->mappings[0].prot = HI_PROT_READ; /* the module's, lowest address */
	thread.regs.rsp = WORLD_STACK + 128;
	HI_ASSERT_OK(hi_image_add_thread(w->image, &thread, &world_err), &world_err);
	w->types[0] = (struct hi_type){.name = "", .file = ""};
	w->n_types = 1;
	w->source = (struct hi_typing_source){
		.types = {.arg = w, .type = world_type_get},
		.vtable = world_vtable,
		.stack = world_stack,
	};
	return w;
}

hi_type_id world_add_type(struct world *w, struct hi_type type)
{
	HI_ASSERT(w->n_types < WORLD_TYPES);
	type.id = w->n_types;
	type.layout_hash = 1000u + type.id;
	type.file = type.module = "";
	w->types[type.id] = type;
	w->n_types++;
	return type.id;
}

void world_block(struct world *w, uint64_t addr, uint64_t usable)
{
	HI_ASSERT(hi_vector_push(&w->blocks,
				 ((struct hi_block){.addr = addr, .usable = usable})));
}

void world_poke(struct world *w, uint64_t addr, uint64_t word)
{
	void *at = hi_memory_mock_at(w->memory, addr);

	HI_ASSERT(at);
	memcpy(at, &word, sizeof(word));
}

uint64_t world_local(struct world *w, const char *name, hi_type_id type, uint64_t word)
{
	uint64_t size = (w->types[type].size + 7) & ~7ull;
	uint64_t addr = WORLD_STACK + w->stack_used;

	HI_ASSERT(w->n_locals < WORLD_LOCALS);
	w->stack_used += size;
	w->locals[w->n_locals++] = (struct hi_local){.name = name,
						     .function = "draw",
						     .type = type,
						     .in_memory = true,
						     .address = addr,
						     .size = size};
	world_poke(w, addr, word);
	return addr;
}

static enum hi_status build_objects(struct world *w, struct hi_objects **ret,
				    struct hi_error *err)
{
	struct hi_objects_builder *b = NULL;
	enum hi_status status = hi_objects_builder_create(&b, err);
	unsigned region = 0;

	if (status == HI_OK)
		status = hi_objects_builder_region(
			b, WORLD_HEAP, WORLD_HEAP + WORLD_HEAP_SIZE, 4, &region, err);
	for (size_t i = 0; i < w->blocks.count && status == HI_OK; i++) {
		const struct hi_block *block = &w->blocks.items[i];
		uint8_t flags =
			block->state == HI_BLOCK_INTERNAL ? HI_OBJECT_INTERNAL : 0;

		status = hi_objects_builder_add(b, region, block->addr, block->usable,
						flags, err);
	}
	if (status != HI_OK) {
		hi_objects_builder_destroy(b);
		return status;
	}
	hi_objects_builder_overhead(b, 0, 8);
	return hi_objects_seal(b, ret, err);
}

static enum hi_status make_rules(struct world *w, bool is_kept,
				 struct hi_rule_source *ret, struct hi_error *err)
{
	const struct hi_expression_source source = world_expressions(w);
	enum hi_status status;

	if (!w->hints)
		return HI_OK;
	if (w->kept_book && is_kept) {
		w->book = hi_take(w->kept_book);
		*ret = hi_rulebook_source(w->book);
		return HI_OK;
	}
	status = hi_rulebook_create_with(&source, &w->book, err);
	if (status == HI_OK)
		status = hi_rulebook_add(w->book, "x.hints", w->hints, strlen(w->hints),
					 err);
	if (status == HI_OK)
		*ret = hi_rulebook_source(w->book);
	return status;
}

enum hi_status world_run(struct world *w, const struct hi_typing_options *options,
			 struct hi_error *err)
{
	struct hi_typing_options all = options ? *options : (struct hi_typing_options){};
	struct hi_objects *objects = NULL;
	enum hi_status status;

	world_reset(w);
	status = make_rules(w, all.kept, &all.rules, err);
	if (status == HI_OK)
		status = build_objects(w, &objects, err);
	if (status == HI_OK)
		status =
			hi_typing_run_with(w->image, w->modules, &w->source, w->allocator,
					   objects, &all, &w->typing, &w->graph, err);
	return status;
}

const char *world_warning(struct world *w, size_t i)
{
	const char *const *list;
	size_t n = w->book ? hi_rulebook_warnings(w->book, &list) : 0;

	return i < n ? list[i] : "";
}

const char *world_address(uint64_t addr)
{
	static char text[4][24];
	static unsigned turn;
	char *out = text[turn++ % 4];

	if (addr >= WORLD_FAR && addr < WORLD_STACK)
		snprintf(out, sizeof(text[0]), "F%llx",
			 (unsigned long long)(addr - WORLD_FAR));
	else
		snprintf(out, sizeof(text[0]), "%llx",
			 (unsigned long long)(addr - WORLD_HEAP));
	return out;
}

hi_node world_node(const struct world *w, uint64_t addr)
{
	return typed_graph_node(w->graph, addr);
}

const char *world_type(const struct world *w, uint64_t addr)
{
	return typed_graph_type(w->graph, addr);
}

const char *world_named_type(const struct world *w, uint64_t addr)
{
	return w->graph->types[w->graph->objects->type[world_node(w, addr)]].name;
}

enum hi_evidence world_evidence(const struct world *w, uint64_t addr)
{
	return (enum hi_evidence)(w->graph->objects->flags[world_node(w, addr)] &
				  HI_OBJECT_EVIDENCE_MASK);
}

const char *world_leaks(const struct world *w)
{
	static char text[4][1000];
	static unsigned turn;
	char *out = text[turn++ % 4];
	struct hi_reach *reach;
	size_t used = 0;

	HI_ASSERT_OK(hi_reach_compute(w->graph, 1, &reach, &world_err), &world_err);
	out[0] = 0;
	for (hi_node i = 0; i < w->graph->n_objects && used < sizeof(text[0]) - 20; i++)
		if (!hi_bit(reach->any, i))
			used += (size_t)snprintf(
				out + used, sizeof(text[0]) - used, "%s%s",
				used ? " " : "",
				world_address(hi_objects_address(w->graph->objects, i)));
	hi_reach_destroy(reach);
	return out;
}

struct shown_edge {
	uint64_t addr;
	char grade;
};

static int by_address(const void *a, const void *b)
{
	const struct shown_edge *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->grade - y->grade;
}

const char *world_edges(const struct world *w, uint64_t addr)
{
	struct hi_edges edges = hi_graph_edges(w->graph, world_node(w, addr));
	static char text[4][2000];
	static unsigned turn;
	char *out = text[turn++ % 4];
	struct shown_edge shown[64];
	size_t used = 0;

	HI_ASSERT(edges.count <= 64);
	for (uint32_t i = 0; i < edges.count; i++)
		shown[i] = (struct shown_edge){
			hi_objects_address(w->graph->objects, edges.to[i]),
			"eicw"[edges.grade[i]]};
	qsort(shown, edges.count, sizeof(shown[0]), by_address);
	out[0] = 0;
	for (uint32_t i = 0; i < edges.count; i++)
		used += (size_t)snprintf(out + used, sizeof(text[0]) - used, "%s%s:%c",
					 i ? " " : "", world_address(shown[i].addr),
					 shown[i].grade);
	return out;
}
