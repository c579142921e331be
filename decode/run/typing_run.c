/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of things: roots, types, then one pass for all edges. */
#include "decode/run/typing_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/kept_typing.h"
#include "decode/inference/labels.h"
#include "decode/inference/typing_state.h"
#include "decode/roots/roots.h"

enum {
	MAX_THREADS = 64,
	MAX_SECTIONS = 64,
	MIN_OUTSIDE = 256 << 10,
	STATIC_TLS_MAX = 1 << 20
};

/* All units of larger modules are not read only to find types by their size. */
static const uint64_t max_searched_dwarf = (uint64_t)96 << 20;

HI_DEFINE_GUARD(struct hi_typing *, hi_typing_destroy)

/* ---- debug information as a source ---- */

static const struct hi_type *types_type(void *arg, hi_type_id id)
{
	return hi_type_get(arg, id);
}

static enum hi_status types_variable_at(void *arg, uint64_t addr, struct hi_variable *ret,
					struct hi_error *err)
{
	return hi_types_variable_at(arg, addr, ret, err);
}

static enum hi_status types_vtable(void *arg, uint64_t vptr, hi_type_id *type_ret,
				   const char **name_ret, int64_t *top_offset_ret,
				   struct hi_error *err)
{
	return hi_types_of_vtable(arg, vptr, type_ret, name_ret, top_offset_ret, err);
}

static enum hi_status types_tls(void *arg, struct hi_module *module,
				hi_tls_variable_fn *fn, void *fn_arg,
				struct hi_error *err)
{
	return hi_types_tls_variables(arg, module, fn, fn_arg, err);
}

static enum hi_status types_stack(void *arg, const struct hi_image *image,
				  uint32_t thread, struct hi_stack **ret,
				  struct hi_error *err)
{
	return hi_stack_read(arg, image, thread, ret, err);
}

static enum hi_status types_each_record(void *arg, uint64_t min_size,
					hi_record_size_fn *wants, hi_record_fn *fn,
					void *fn_arg, struct hi_error *err)
{
	return hi_types_each_record(arg, min_size, wants, max_searched_dwarf, fn, fn_arg,
				    NULL, err);
}

static enum hi_status types_each_own_record(void *arg, hi_record_size_fn *wants,
					    hi_record_fn *fn, void *fn_arg,
					    struct hi_error *err)
{
	return hi_types_each_own_record(arg, wants, max_searched_dwarf, fn, fn_arg, err);
}

static bool types_enumerator(void *arg, hi_type_id type, int64_t value,
			     const char **scope_ret, const char **name_ret)
{
	return hi_type_enumerator_of(arg, type, value, scope_ret, name_ret);
}

static void give_back_types(void *arg)
{
	hi_types_give_back(arg);
}

/* Without debug information every type is unknown. */
static const struct hi_type *unknown_type(void *arg, hi_type_id id)
{
	static const struct hi_type unknown = {.name = "", .file = ""};

	(void)arg;
	(void)id;
	return &unknown;
}

/* ---- types that some object has ---- */

struct used_layouts HI_VECTOR(struct hi_layout *);

/* By name, so that ids do not depend on the order of discovery. */
static int compare_layout_names(const void *a, const void *b)
{
	const struct hi_layout *x = *(struct hi_layout *const *)a;
	const struct hi_layout *y = *(struct hi_layout *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : hi_layout_compare(x, y);
}

static enum hi_status collect_used(struct hi_typing *typing, struct used_layouts *used,
				   struct hi_error *err)
{
	uint32_t n = hi_layouts_count(typing->layouts);

	for (uint32_t i = HI_LAYOUT_FIRST; i < n; i++) {
		struct hi_layout *layout = hi_layouts_get(typing->layouts, i);

		if (atomic_load(&layout->used) && !hi_vector_push(used, layout))
			return hi_fail_memory(err, "types");
	}
	if (used->count > 1)
		qsort(used->items, used->count, sizeof(*used->items),
		      compare_layout_names);
	typing->layout_of_type = hi_calloc(used->count + 1, sizeof(uint32_t));
	typing->n_types = (uint32_t)used->count + 1;
	return typing->layout_of_type ? HI_OK : hi_fail_memory(err, "types");
}

/* Where types of one name differ, blocks have to do: any address in them is found. */
static uint8_t front_of(const struct hi_typing *typing, const struct hi_layout *layout)
{
	const struct hi_runtime_type *type;

	if (!layout->managed || layout->opaque)
		return 0;
	type = &typing->runtime->types[layout->managed - 1];
	return (uint8_t)(typing->runtime->marks +
			 (type->fronts_differ ? 0 : type->front));
}

static enum hi_status name_types(struct hi_typing *typing, struct hi_graph_builder *b,
				 struct hi_error *err)
{
	struct used_layouts used = {};
	enum hi_status status = collect_used(typing, &used, err);

	for (size_t i = 0; i < used.count && status == HI_OK; i++) {
		struct hi_layout *layout = used.items[i];
		struct hi_type_name name = {.name = layout->name,
					    .size = layout->size,
					    .klass = layout->klass,
					    .module = layout->type ? layout->type->module
								   : layout->module,
					    .front = front_of(typing, layout)};

		if (layout->klass == HI_TYPE_STRING && !layout->managed &&
		    !layout->called) {
			name.name =
				hi_arena_printf(&typing->arena, "%s []", layout->name);
			if (!name.name) {
				status = hi_fail_memory(err, "types");
				break;
			}
		}
		status = hi_graph_builder_type(b, &name, &layout->graph_type, err);
		if (status == HI_OK)
			typing->layout_of_type[layout->graph_type] = layout->index;
	}
	hi_vector_free(&used);
	return status;
}

/* ---- the run ---- */

static enum hi_status find_types(struct hi_typing *typing, struct hi_error *err)
{
	enum hi_status status = hi_managed_find(typing, err);

	if (status == HI_OK)
		status = hi_vtables_find(typing, err);
	if (status == HI_OK)
		status = hi_types_propagate(typing, err);
	if (status == HI_OK && hi_layouts_failed(typing->layouts))
		status = hi_fail_memory(err, "types");
	return status;
}

static uint64_t bytes_outside(const struct hi_typing *typing)
{
	const struct hi_range *ranges;
	size_t n = hi_subobjects_outside(typing->subobjects, &ranges);
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += ranges[i].end - ranges[i].start;
	return bytes;
}

/*
 * A type of the dynamic linker? Every library of glibc may have its own definition, and
 * a pointer's type is one of them: libm.so.6 has struct link_map too.
 */
static bool is_loader_type(const struct hi_type *type)
{
	const char *slash = type && type->module ? strrchr(type->module, '/') : NULL;

	return type && type->module &&
	       hi_is_loader_module(slash ? slash + 1 : type->module);
}

/* The dynamic linker has memory of its own until libc's malloc is loaded: objects outside
 * of all allocators, which are no sign of another heap. */
static uint64_t count_loader_objects(const struct hi_typing *typing)
{
	const struct hi_objects *objects = typing->objects;
	const struct hi_range *ranges;
	size_t n = hi_subobjects_outside(typing->subobjects, &ranges);
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (uint64_t at = ranges[i].start; at < ranges[i].end;) {
			uint64_t offset = 0, size;
			hi_node id = hi_objects_find(objects, at, &offset);
			uint32_t layout = id == HI_NODE_NONE
						  ? 0
						  : objects->type[id] & HI_KEY_LAYOUT;

			size = id == HI_NODE_NONE ? 0 : hi_objects_usable(objects, id);
			at += size > offset ? (size - offset + 7) & ~(uint64_t)7 : 8;
			if (layout >= HI_LAYOUT_FIRST)
				count += is_loader_type(
					hi_layouts_get(typing->layouts, layout)->type);
		}
	return count;
}

/* The dynamic linker unmaps its cache of libraries and keeps a pointer into it
 * (cache_new, elf/dl-cache.c): other memory may be there by now. */
static void drop_stale_seeds(struct hi_typing *typing)
{
	size_t kept = 0;

	for (size_t i = 0; i < typing->seeds.count; i++) {
		const struct hi_seed *seed = &typing->seeds.items[i];
		uint32_t layout =
			seed->slot ? hi_layouts_pointee(typing->layouts, seed->slot)
				   : HI_LAYOUT_NONE;
		const struct hi_layout *record =
			layout >= HI_LAYOUT_FIRST
				? hi_layouts_get(typing->layouts, layout)
				: NULL;

		if (!record || !is_loader_type(record->type) ||
		    strcmp(record->name, "struct cache_file_new") != 0)
			typing->seeds.items[kept++] = *seed;
	}
	typing->seeds.count = kept;
}

/* Subobjects were found: a new table, and the roots once more, by it. */
static enum hi_status take_remade(struct hi_typing *typing, struct hi_graph_builder **b,
				  struct hi_error *err)
{
	struct hi_graph_builder *old = *b;
	enum hi_status status;

	*b = NULL;
	typing->objects = typing->remade;
	typing->remade_taken = true;
	if (typing->runtime)
		typing->runtime->objects = typing->objects;
	status = hi_graph_builder_create(typing->remade, b, err);
	hi_graph_builder_destroy(old);
	if (status != HI_OK)
		return status;
	typing->stats.outside_bytes = bytes_outside(typing);
	typing->stats.outside_loader = count_loader_objects(typing);
	hi_memory_windows_deinit(&typing->memory_windows);
	status = hi_memory_windows_init(&typing->memory_windows, typing->image->memory,
					typing->objects, err);
	typing->seeds.count = typing->slots.count = typing->root_refs.count = 0;
	typing->roots.count = 0;
	if (status == HI_OK)
		status = hi_roots_find(typing, *b, err);
	if (status == HI_OK)
		drop_stale_seeds(typing);
	return status;
}

static enum hi_status scan_and_name(struct hi_typing *typing, struct hi_graph_builder *b,
				    struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!typing->conservative)
		status = hi_labels_create(typing, &typing->labels, err);
	if (status == HI_OK && !typing->conservative)
		status = hi_stdio_buffers_find(typing, err);
	if (status == HI_OK)
		status = hi_edges_scan(typing, b, err);
	if (status == HI_OK && typing->labels)
		status = hi_labels_apply(typing->labels, b, err);
	hi_labels_destroy(hi_take(typing->labels));
	hi_vector_free(&typing->root_refs);
	free(hi_take(typing->untyped));
	return status;
}

static bool leads_outside(const struct hi_typing *typing, const struct hi_seed *seed)
{

	uint32_t layout = seed->slot ? hi_layouts_pointee(typing->layouts, seed->slot)
				     : seed->layout;
	const struct hi_layout *record;
	uint64_t start, end;

	if (layout < HI_LAYOUT_FIRST ||
	    !hi_subobjects_range(typing->subobjects, seed->word, &start, &end))
		return false;
	record = hi_layouts_get(typing->layouts, layout);
	return record->klass == HI_TYPE_RECORD && !record->opaque && record->size &&
	       !is_loader_type(record->type);
}

/* The few pages that every process has beside its heap (the dynamic linker's)
 * are not worth a second table of all objects, unless a variable of the program leads
 * there: pools may be as small. */
static bool may_have_subobjects_outside(const struct hi_typing *typing)
{
	const struct hi_objects *objects = typing->objects;
	uint64_t heap = 0;

	for (uint32_t i = 0; i < objects->n_regions; i++)
		heap += objects->regions[i].end - objects->regions[i].start;
	if (!objects->count ||
	    hi_subobjects_bytes(typing->subobjects) >= heap / 64 + MIN_OUTSIDE)
		return true;
	for (size_t i = 0; i < typing->seeds.count; i++)
		if (leads_outside(typing, &typing->seeds.items[i]))
			return true;
	return false;
}

static enum hi_status build_typed_graph(struct hi_typing *typing,
					struct hi_graph_builder **b, struct hi_error *err)
{
	uint64_t t0 = hi_clock_ns(), t1, t2;
	enum hi_status status = hi_roots_find(typing, *b, err);

	if (status == HI_OK)
		drop_stale_seeds(typing);
	if (status == HI_OK && typing->subobjects && !may_have_subobjects_outside(typing))
		typing->outside_low = typing->outside_high = 0;
	t1 = hi_clock_ns();
	typing->stats.roots_ns = t1 - t0;
	if (status == HI_OK && !typing->conservative)
		status = find_types(typing, err);
	if (status == HI_OK && typing->remade)
		status = take_remade(typing, b, err);
	if (status == HI_OK)
		status = name_types(typing, *b, err);
	hi_vector_free(&typing->seeds);
	hi_vector_free(&typing->slots);
	/* The scan takes the most memory. */
	if (typing->source.give_back)
		typing->source.give_back(typing->source.types.arg);
	t2 = hi_clock_ns();
	typing->stats.propagate_ns = t2 - t1;
	if (status == HI_OK)
		status = scan_and_name(typing, *b, err);
	typing->stats.scan_ns = hi_clock_ns() - t2;
	return status;
}

/* Variables are no heap, also those in pages without a file (.bss). */
static enum hi_status exclude_modules(struct hi_typing *typing, struct hi_error *err)
{
	struct hi_section_range ranges[MAX_SECTIONS];
	size_t n_modules = typing->modules ? hi_modules_count(typing->modules) : 0;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n_modules && status == HI_OK; i++) {
		size_t n = hi_module_data(hi_modules_get(typing->modules, i), ranges,
					  MAX_SECTIONS);

		for (size_t k = 0; k < n && status == HI_OK; k++)
			status = hi_subobjects_exclude(
				typing->subobjects, ranges[k].start, ranges[k].end, err);
	}
	return status;
}

static enum hi_status exclude_runtime(struct hi_typing *typing, struct hi_error *err)
{
	const struct hi_runtime *runtime = typing->runtime;
	enum hi_status status = HI_OK;

	for (size_t i = 0; runtime && i < runtime->n_own && status == HI_OK; i++)
		status = hi_subobjects_exclude(typing->subobjects, runtime->own[i].start,
					       runtime->own[i].end, err);
	return status;
}

/* Layouts and rows of the census before. Not with a runtime: its types have new layouts
 * each time. */
static void take_kept(struct hi_typing *typing, struct hi_kept_typing *kept)
{
	typing->keeps_rows = !typing->conservative && !typing->runtime;
	if (typing->keeps_rows)
		hi_kept_typing_take(kept, typing);
	else
		hi_kept_typing_free(kept);
}

static enum hi_status
typing_create(const struct hi_image *image, struct hi_modules *modules,
	      const struct hi_typing_source *source, struct hi_allocator *allocator,
	      struct hi_objects *objects, const struct hi_typing_options *options,
	      struct hi_typing **ret, struct hi_error *err)
{
	HI_GUARD(hi_typing_destroy)
	struct hi_typing *typing = hi_calloc(1, sizeof(*typing));
	enum hi_status status;

	if (!typing)
		return hi_fail_memory(err, "typing");
	typing->image = image;
	typing->modules = modules;
	typing->allocator = allocator;
	typing->objects = objects;
	typing->conservative = options && options->conservative;
	typing->redact = options && options->redact;
	if (options && !typing->conservative)
		typing->runtime = options->runtime;
	if (typing->runtime) {
		typing->runtime->objects = objects;
		typing->runtime->n_cut = 0;
	}
	if (source)
		typing->source = *source;
	if (options && !typing->conservative)
		typing->source.types.rules = options->rules;
	if (!typing->source.types.type)
		typing->source.types.type = unknown_type;
	typing->threads =
		options && options->threads ? options->threads : hi_parallel_threads();
	if (typing->threads > MAX_THREADS)
		typing->threads = MAX_THREADS;
	if (options && options->kept)
		take_kept(typing, options->kept);
	status = typing->layouts
			 ? HI_OK
			 : hi_layouts_create(typing->source.types, &typing->layouts, err);
	if (status == HI_OK)
		hi_block_sizes_of(allocator, &typing->layouts->sizes);
	if (status == HI_OK)
		status = hi_memory_windows_init(&typing->memory_windows, image->memory,
						objects, err);
	if (status == HI_OK && !typing->conservative && source)
		status = hi_subobjects_create(image, modules, allocator, objects,
					      &typing->subobjects, err);
	if (status == HI_OK && typing->subobjects)
		status = exclude_modules(typing, err);
	if (status == HI_OK && typing->subobjects)
		status = exclude_runtime(typing, err);
	if (status == HI_OK && typing->subobjects)
		status = hi_static_pools_find(typing, err);
	if (status == HI_OK && typing->subobjects)
		hi_subobjects_bounds(typing->subobjects, &typing->outside_low,
				     &typing->outside_high);
	if (status == HI_OK)
		*ret = hi_take(typing);
	return status;
}

enum hi_status
hi_typing_run_with(const struct hi_image *image, struct hi_modules *modules,
		   const struct hi_typing_source *source, struct hi_allocator *allocator,
		   struct hi_objects *objects, const struct hi_typing_options *options,
		   struct hi_typing **typing_ret, struct hi_graph **graph_ret,
		   struct hi_error *err)
{
	HI_GUARD(hi_graph_builder_destroy) struct hi_graph_builder *b = NULL;
	HI_GUARD(hi_typing_destroy) struct hi_typing *typing = NULL;
	enum hi_status status = hi_graph_builder_create(objects, &b, err);

	if (status == HI_OK)
		status = typing_create(image, modules, source, allocator, objects,
				       options, &typing, err);
	if (status == HI_OK)
		status = build_typed_graph(typing, &b, err);
	if (status == HI_OK)
		status = hi_graph_seal(hi_take(b), graph_ret, err);
	if (status == HI_OK) {
		(*graph_ret)->pools = typing->pools;
		typing->pools = (struct hi_pools){};
		*typing_ret = hi_take(typing);
	}
	return status;
}

enum hi_status hi_typing_run(const struct hi_image *image, struct hi_modules *modules,
			     struct hi_types *types, struct hi_allocator *allocator,
			     struct hi_objects *objects,
			     const struct hi_typing_options *options,
			     struct hi_typing **typing_ret, struct hi_graph **graph_ret,
			     struct hi_error *err)
{
	const struct hi_typing_source source = {
		.types = {.arg = types, .type = types_type},
		.variable_at = types_variable_at,
		.each_record = types_each_record,
		.each_own_record = types_each_own_record,
		.give_back = give_back_types,
		.vtable = types_vtable,
		.enumerator = types_enumerator,
		.tls_variables = types_tls,
		.stack = types_stack,
	};

	return hi_typing_run_with(image, modules, types ? &source : NULL, allocator,
				  objects, options, typing_ret, graph_ret, err);
}
