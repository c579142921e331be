/* SPDX-License-Identifier: BSD-2-Clause */
/* Named roots, types and fields of an image. */
#include "session/live/live_source.h"

#include "decode/describe/field_targets.h"
#include "session/inspection.h"

static enum hi_status find_image_roots(struct hi_inspection *in, size_t *wrong,
				       size_t *column, struct hi_error *err)
{
	(void)wrong, (void)column;
	return in->profile.roots
		       ? hi_named_roots_find(in->profile.roots, in->decoders.typing,
					     in->graph, err)
		       : HI_OK;
}

static void close_image_roots(struct hi_inspection *in)
{
	hi_named_roots_close(in->profile.roots);
}

static const char *image_root_module(const struct hi_inspection *in,
				     const struct hi_root *root)
{
	struct hi_module *module = hi_modules_at(in->decoders.modules, root->address);

	return module ? module->name : "";
}

static bool image_type_retains(const struct hi_inspection *in, uint32_t type)
{
	hi_type_id id =
		in->decoders.rulebook ? hi_typing_type_id(in->decoders.typing, type) : 0;

	return id && hi_rulebook_is_retainer(in->decoders.rulebook, id);
}

static bool image_knows_fields(const struct hi_inspection *in)
{
	return in->decoders.types != NULL;
}

static enum hi_status mark_image_field_targets(struct hi_inspection *in, const char *text,
					       const bool *has, const char *field,
					       uint64_t *bits, struct hi_error *err)
{
	size_t column = 0;
	struct hi_error before = {};
	enum hi_status status =
		hi_field_targets(in->decoders.typing, in->graph, in->decoders.modules,
				 in->decoders.types, has, field, bits, &column, &before);

	if (status == HI_OK || status == HI_NO_MEMORY) {
		if (status != HI_OK)
			*err = before;
		return status;
	}
	return hi_fail(err, HI_USAGE, 0, "--retainer %.80s: %s", text, before.text);
}

const struct hi_retainer_ops hi_live_retainers = {
	.find_roots = find_image_roots,
	.close_roots = close_image_roots,
	.root_module = image_root_module,
	.type_retains = image_type_retains,
	.knows_fields = image_knows_fields,
	.mark_field_targets = mark_image_field_targets,
};
