/* SPDX-License-Identifier: BSD-2-Clause */
/* Contents of an image of memory, and its use. */
#include "session/live/live_source.h"

#include "base/number.h"
#include "decode/inference/extent.h"
#include "decode/usage/contents.h"
#include "decode/usage/heap_use.h"
#include "session/inspection.h"
#include "session/live/blocks.h"

static enum hi_status compare_image_contents(struct hi_inspection *in,
					     const struct hi_contents_options *options,
					     struct hi_waste **ret, struct hi_error *err)
{
	return hi_contents_compare(in->image, in->decoders.typing, in->graph,
				   in->shown.reach, options, ret, err);
}

static enum hi_status find_image_equal(struct hi_inspection *in,
				       struct hi_contents_marks *own,
				       const uint32_t **ret, struct hi_error *err)
{
	struct hi_contents_options options = {.threads = hi_inspection_threads(in),
					      .marks = own};
	struct hi_waste *waste = NULL;
	enum hi_status status =
		hi_contents_compare(in->image, in->decoders.typing, in->graph,
				    in->results.reach, &options, &waste, err);

	hi_waste_destroy(waste);
	*ret = own->equal;
	return status;
}

static enum hi_status measure_image_heap_use(struct hi_inspection *in,
					     struct hi_heap_use *ret,
					     struct hi_error *err)
{
	return hi_heap_use_measure(in->image, in->decoders.allocator,
				   hi_inspection_threads(in), ret, err);
}

static enum hi_status open_image_used_bytes(struct hi_inspection *in,
					    struct hi_error *err)
{
	(void)in, (void)err;
	return HI_OK;
}

static uint64_t image_used_bytes(const struct hi_inspection *in, hi_node object)
{
	return hi_typing_live_bytes(in->decoders.typing, in->graph, object);
}

static enum hi_status read_image_beginning(struct hi_inspection *in, hi_node object,
					   void *out, size_t size, size_t *n_ret,
					   struct hi_error *err)
{
	const struct hi_objects *o = in->graph->objects;
	size_t n = (size_t)hi_min(hi_objects_usable(o, object), size);

	(void)err;
	*n_ret = 0;
	if (in->options->snap.redact)
		return HI_OK;
	/* A page that cannot be read is nothing to report here: leaks have its bytes. */
	if (hi_memory_read(in->image->memory, hi_objects_address(o, object), out, n,
			   NULL) == HI_OK)
		*n_ret = n;
	return HI_OK;
}

static const char *image_mapping_name(const struct hi_inspection *in, uint64_t address)
{
	static const char *const kinds[] = {"anonymous memory",
					    "a file",
					    "[heap]",
					    "[stack]",
					    "[vdso]",
					    "shared memory",
					    "a mapping of the kernel"};
	const struct hi_mapping *m = hi_image_mapping_at(in->image, address);

	if (!m)
		return "";
	return m->path && *m->path ? m->path : kinds[m->kind];
}

static enum hi_status find_image_block(struct hi_inspection *in, uint64_t address,
				       struct hi_block *ret, bool *found_ret,
				       struct hi_error *err)
{
	enum hi_status status = hi_blocks_find(in, address, ret, err);

	*found_ret = status == HI_OK;
	return status == HI_NOT_FOUND ? HI_OK : status;
}

const struct hi_content_ops hi_live_contents = {
	.compare_contents = compare_image_contents,
	.find_equal = find_image_equal,
	.measure_heap_use = measure_image_heap_use,
	.open_used_bytes = open_image_used_bytes,
	.used_bytes = image_used_bytes,
	.read_beginning = read_image_beginning,
	.find_block = find_image_block,
	.mapping_name = image_mapping_name,
};
