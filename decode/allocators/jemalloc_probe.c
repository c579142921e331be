/* SPDX-License-Identifier: BSD-2-Clause */
/* One copy of jemalloc: its root is known, the layout is the first whose checks all
 * hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocators/jemalloc.h"

static void release_jemalloc(struct hi_allocator *allocator)
{
	struct hi_jemalloc *j = (struct hi_jemalloc *)allocator;

	if (!j)
		return;
	hi_slabs_deinit(&j->slabs);
	hi_vector_free(&j->arenas);
	hi_vector_free(&j->damaged);
	hi_vector_free(&j->large);
	hi_window_free(&j->nodes);
	hi_window_free(&j->leaves);
	hi_window_free(&j->extents);
	hi_window_free(&j->other);
	free(j->base.damage);
	free(j);
}
HI_DEFINE_GUARD(struct hi_allocator *, release_jemalloc)

/* ---- one layout ---- */

static enum hi_status read_sizes(struct hi_jemalloc *j,
				 const struct hi_jemalloc_found *found,
				 struct hi_error *err)
{
	size_t i = 0;

	while (i < found->n_tables && found->table_sizes[i] != j->layout->sizes)
		i++;
	if (i == found->n_tables)
		return hi_fail(err, HI_BAD_DATA, found->tables[0],
			       "its table has %u sizes", found->table_sizes[0]);
	return hi_memory_read(j->image->memory, found->tables[i], j->sizes,
			      j->layout->sizes * sizeof(j->sizes[0]), err);
}

static enum hi_status read_with_layout(struct hi_jemalloc *j,
				       const struct hi_jemalloc_found *found,
				       const struct hi_jemalloc_root *root,
				       unsigned *stage_ret, struct hi_error *err)
{
	enum hi_status status = read_sizes(j, found, err);

	if (status == HI_OK)
		*stage_ret = 1, status = hi_jemalloc_read_arenas(j, found, root, err);
	if (status == HI_OK)
		*stage_ret = 2, status = hi_jemalloc_read_extents(j, err);
	if (status == HI_OK)
		status = hi_slabs_sort(&j->slabs, err);
	if (status == HI_OK)
		*stage_ret = 3, status = hi_jemalloc_read_caches(j, err);
	if (status == HI_OK)
		*stage_ret = 4, status = hi_jemalloc_check_counters(j, err);
	return status == HI_OK ? hi_slabs_seal(&j->slabs, err) : status;
}

static void describe_jemalloc(struct hi_jemalloc *j,
			      const struct hi_jemalloc_found *found)
{
	uint64_t own = j->internal_counted - j->internal_known;
	char *checks = j->base.checks;
	size_t n;

	snprintf(j->base.name, sizeof(j->base.name), "jemalloc");
	snprintf(j->base.version, sizeof(j->base.version), "%s", j->layout->version);
	snprintf(j->base.module, sizeof(j->base.module), "%s", found->module);
	snprintf(j->base.found_by, sizeof(j->base.found_by),
		 "map of pages at %s+0x%lx, sizes, arenas", found->module,
		 j->root - found->bias);
	n = (size_t)snprintf(checks, sizeof(j->base.checks),
			     "arenas, metadata, extents, bitmaps, thread caches, mutexes"
			     "%s",
			     j->has_counters ? ", counters of bins"
					     : "; built without counters");
	j->base.sizes = j->sizes;
	j->base.n_sizes = j->layout->sizes_by_page ? j->layout->bins : j->layout->sizes;
	j->base.size_step = HI_JEMALLOC_PAGE;
	if (j->has_counters && own)
		snprintf(checks + n, sizeof(j->base.checks) - n,
			 "; %lu bytes in blocks of its profiler are taken for the "
			 "program's",
			 own);
}

static struct hi_jemalloc *new_jemalloc(const struct hi_image *image,
					const struct hi_jemalloc_layout *layout,
					const struct hi_jemalloc_root *root)
{
	struct hi_jemalloc *j = hi_calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->base.ops = &hi_allocator_jemalloc;
	j->image = image;
	j->layout = layout;
	j->root = root->addr;
	j->tree = root->tree;
	j->nodes.memory = j->leaves.memory = j->extents.memory = j->other.memory =
		image->memory;
	hi_slabs_init(&j->slabs, &j->base, image, NULL);
	return j;
}

enum hi_status hi_jemalloc_open(const struct hi_image *image,
				const struct hi_jemalloc_found *found,
				const struct hi_jemalloc_root *root,
				const struct hi_jemalloc_layout *layout,
				struct hi_allocator **ret, unsigned *stage_ret,
				struct hi_error *err)
{
	struct hi_jemalloc *j = new_jemalloc(image, layout, root);
	HI_GUARD(release_jemalloc) struct hi_allocator *guard = j ? &j->base : NULL;
	enum hi_status status;

	*stage_ret = 0;
	if (!j)
		return hi_fail_memory(err, "allocator");
	status = read_with_layout(j, found, root, stage_ret, err);
	if (j->nodes.out_of_memory || j->leaves.out_of_memory ||
	    j->extents.out_of_memory || j->other.out_of_memory)
		return hi_fail_memory(err, "window");
	if (status != HI_OK)
		return status == HI_NO_MEMORY ? status : HI_BAD_DATA;
	describe_jemalloc(j, found);
	hi_window_free(&j->nodes);
	hi_window_free(&j->leaves);
	hi_window_free(&j->extents);
	hi_window_free(&j->other);
	*ret = hi_take(guard);
	return HI_OK;
}

/* ---- all of them ---- */

/* The first layout that fits, else the failure of the one that came furthest. */
static enum hi_status open_copy(const struct hi_image *image,
				const struct hi_jemalloc_found *found,
				const struct hi_jemalloc_root *root,
				struct hi_allocator **ret, struct hi_error *err)
{
	enum hi_status status = HI_BAD_DATA;
	unsigned furthest = 0, stage;

	for (size_t i = 0; i < hi_jemalloc_n_layouts; i++) {
		const struct hi_jemalloc_layout *l = &hi_jemalloc_layouts[i];
		struct hi_error why;

		status = hi_jemalloc_open(image, found, root, l, ret, &stage, &why);
		if (status == HI_OK || status == HI_NO_MEMORY)
			return status;
		if (i && stage <= furthest)
			continue;
		furthest = stage;
		(void)hi_fail(err, HI_BAD_DATA, why.address, "as %s: %s", l->version,
			      why.text);
	}
	return status;
}

/* What was tried as a root. Where one opened, others that overlap it were chance. */
struct root_trials {
	bool is_open[HI_JEMALLOC_MAX_ROOTS];
	struct hi_error why[HI_JEMALLOC_MAX_ROOTS];
};

static bool overlaps_open_root(const struct hi_jemalloc_found *found,
			       const struct root_trials *trials, size_t i)
{
	const struct hi_jemalloc_root *root = &found->roots.items[i];

	for (size_t k = 0; k < found->roots.count; k++) {
		const struct hi_jemalloc_root *other = &found->roots.items[k];

		if (trials->is_open[k] &&
		    root->addr < other->addr + hi_jemalloc_node_bytes(other->tree) &&
		    other->addr < root->addr + hi_jemalloc_node_bytes(root->tree))
			return true;
	}
	return false;
}

static enum hi_status try_jemalloc_roots(const struct hi_image *image,
					 const struct hi_jemalloc_found *found,
					 struct root_trials *trials,
					 struct hi_allocator_list *list,
					 struct hi_error *err)
{
	for (size_t i = 0; i < found->roots.count; i++) {
		struct hi_allocator *allocator;
		enum hi_status status;

		if (overlaps_open_root(found, trials, i))
			continue;
		status = open_copy(image, found, &found->roots.items[i], &allocator,
				   &trials->why[i]);
		if (status == HI_NO_MEMORY)
			return hi_fail_memory(err, "allocator");
		trials->is_open[i] = status == HI_OK;
		if (status == HI_OK)
			hi_allocator_list_add(list, allocator);
	}
	return HI_OK;
}

static enum hi_status probe_copies(const struct hi_image *image,
				   const struct hi_jemalloc_found *found,
				   struct hi_allocator_list *list, struct hi_error *err)
{
	struct root_trials trials = {};
	enum hi_status status = try_jemalloc_roots(image, found, &trials, list, err);

	for (size_t i = 0; i < found->roots.count && status == HI_OK; i++)
		if (!overlaps_open_root(found, &trials, i))
			hi_allocator_list_refuse(list, "jemalloc", found->module,
						 &trials.why[i]);
	return status;
}

static enum hi_status probe_jemalloc(const struct hi_image *image,
				     struct hi_modules *modules,
				     struct hi_allocator_list *list, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < hi_modules_count(modules) && status == HI_OK; i++) {
		struct hi_jemalloc_found found;

		status = hi_jemalloc_find(image, hi_modules_get(modules, i), &found, err);
		if (status == HI_OK)
			status = probe_copies(image, &found, list, err);
		hi_jemalloc_found_free(&found);
	}
	return status;
}

static enum hi_status walk_jemalloc(struct hi_allocator *allocator, hi_blocks_fn *fn,
				    void *arg, struct hi_error *err)
{
	return hi_slabs_walk(&((struct hi_jemalloc *)allocator)->slabs, fn, arg, err);
}

static enum hi_status walk_jemalloc_region(struct hi_allocator *allocator,
					   unsigned region, hi_blocks_fn *fn, void *arg,
					   struct hi_error *err)
{
	return hi_slabs_walk_region(&((struct hi_jemalloc *)allocator)->slabs, region, fn,
				    arg, err);
}

static void restart_jemalloc(struct hi_allocator *allocator)
{
	hi_slabs_restart(&((struct hi_jemalloc *)allocator)->slabs);
}

const struct hi_allocator_ops hi_allocator_jemalloc = {
	.name = "jemalloc",
	.states = 1u << HI_BLOCK_LIVE | 1u << HI_BLOCK_INTERNAL |
		  1u << HI_BLOCK_FREE_TCACHE | 1u << HI_BLOCK_FREE_SLOT |
		  1u << HI_BLOCK_FREE_QUARANTINE | 1u << HI_BLOCK_FREE_SPAN |
		  1u << HI_BLOCK_FREE_DIRTY | 1u << HI_BLOCK_FREE_MUZZY |
		  1u << HI_BLOCK_FREE_RETAINED | 1u << HI_BLOCK_METADATA,
	.probe = probe_jemalloc,
	.walk = walk_jemalloc,
	.walk_region = walk_jemalloc_region,
	.restart = restart_jemalloc,
	.release = release_jemalloc,
};
