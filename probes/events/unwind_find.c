/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/unwind_find.h"

#include "attach/running_image.h"
#include "base/search.h"
#include "probes/events/unwind_builder.h"
#include "probes/target_code.h"

/* The module that was read last: it may be mapped as code more than once. */
struct cfi_of_module {
	struct hi_module *module;
	struct hi_cfi_section eh, debug;
	struct hi_cfi_entries entries;
	bool has_debug; /* was read */
};

static enum hi_status read_module_cfi(struct hi_module *module, struct cfi_of_module *cfi,
				      struct hi_error *err)
{
	if (cfi->module == module)
		return HI_OK;
	cfi->module = module;
	cfi->entries.count = 0;
	cfi->has_debug = false;
	return hi_module_eh_frame(module, &cfi->eh)
		       ? hi_cfi_entries_read(&cfi->eh, &cfi->entries, err)
		       : HI_OK;
}

static enum hi_status add_debug_cfi(struct cfi_of_module *cfi, struct hi_error *err)
{
	if (cfi->has_debug)
		return HI_OK;
	cfi->has_debug = true;
	return hi_module_debug_frame(cfi->module, &cfi->debug)
		       ? hi_cfi_entries_read(&cfi->debug, &cfi->entries, err)
		       : HI_OK;
}

/* A program that was built without .eh_frame has what the C library's start files need.
 * To search for debug files costs time, and they have no more than .eh_frame. */
static bool covers_half(const struct cfi_of_module *cfi, const struct hi_mapping *m)
{
	uint64_t start = m->start - cfi->module->bias, end = m->end - cfi->module->bias;
	const struct hi_cfi_entries *entries = &cfi->entries;
	size_t i = hi_search(j, entries->count, entries->items[j].start < start);
	uint64_t covered = 0;

	for (; i < entries->count && entries->items[i].start < end; i++)
		if (entries->items[i].end <= end)
			covered += entries->items[i].end - entries->items[i].start;
	return covered >= (end - start) / 2;
}

static enum hi_status add_mapping(struct hi_unwind_builder *builder,
				  struct cfi_of_module *cfi, struct hi_module *module,
				  const struct hi_mapping *m, struct hi_error *err)
{
	enum hi_status status = read_module_cfi(module, cfi, err);

	if (status == HI_OK && !covers_half(cfi, m))
		status = add_debug_cfi(cfi, err);
	if (status == HI_OK && cfi->entries.count)
		hi_unwind_builder_add_cfi(builder, m->start, m->end, &cfi->entries,
					  module->bias);
	return status;
}

static enum hi_status add_mappings(struct hi_target_code *code,
				   struct hi_unwind_builder *builder,
				   struct cfi_of_module *cfi, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < code->image->n_mappings && status == HI_OK; i++) {
		const struct hi_mapping *m = &code->image->mappings[i];
		struct hi_module *module =
			hi_unwind_is_code(m) ? hi_modules_at(code->modules, m->start)
					     : NULL;

		if (module)
			status = add_mapping(builder, cfi, module, m, err);
	}
	return status;
}

enum hi_status hi_unwind_tables_find_in(const struct hi_target *target,
					struct hi_image *image,
					struct hi_unwind_tables *ret,
					struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	struct hi_unwind_builder builder = {};
	struct cfi_of_module cfi = {};
	enum hi_status status = hi_target_code_open(target, image, &code, err);

	if (status == HI_OK)
		status = add_mappings(code, &builder, &cfi, err);
	if (status == HI_OK)
		status = hi_unwind_builder_finish(&builder, ret, err);
	hi_vector_free(&cfi.entries);
	hi_unwind_builder_free(&builder);
	return status;
}

enum hi_status hi_unwind_tables_find(const struct hi_target *target,
				     struct hi_unwind_tables *ret, struct hi_error *err)
{
	struct hi_image *image;
	enum hi_status status = hi_image_unstopped(target, &image, err);

	return status == HI_OK ? hi_unwind_tables_find_in(target, image, ret, err)
			       : status;
}
