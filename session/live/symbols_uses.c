/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the functions that take pointers to records, which the process without rights
 * has found. */
#include "base/alloc.h"
#include "session/live/symbols.h"

#include <stdlib.h>
#include <string.h>

static const char reading_uses[] =
	"searching for functions that take pointers to objects";

static enum hi_status find_use_functions(struct hi_target *target, struct hi_image *image,
					 const void *arg, void *found,
					 struct hi_error *err)
{
	(void)arg;
	return hi_use_functions_find_in(target, image, found, err);
}

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

static bool is_use_function(const struct hi_target *target,
			    const struct hi_use_functions *functions,
			    struct hi_use_function *f)
{
	const struct hi_probe_site site = {.mapping = f->mapping,
					   .file_offset = f->file_offset,
					   .address = f->address};

	END_TEXT(f->name);
	if (!f->registers || f->registers >> HI_BPF_USE_REGISTERS)
		return false;
	for (unsigned i = 0; i < HI_BPF_USE_REGISTERS; i++)
		if (f->types[i] >= functions->n_types && (f->registers >> i & 1))
			return false;
	return hi_symbols_site_is_valid(target, &site);
}

static enum hi_status check_use_functions(const struct hi_target *target,
					  struct hi_use_functions *functions,
					  struct hi_error *err)
{
	if (functions->count > HI_USE_FUNCTIONS || functions->n_types > HI_USE_TYPES)
		return hi_fail(err, HI_BAD_DATA, 0, "no such number of functions");
	for (uint32_t i = 0; i < functions->n_types; i++)
		END_TEXT(functions->type_names[i]);
	for (uint32_t i = 0; i < functions->count; i++)
		if (!is_use_function(target, functions, &functions->items[i]))
			return hi_fail(err, HI_BAD_DATA, functions->items[i].address,
				       "a function is outside the target's code");
	return HI_OK;
}

enum hi_status hi_symbols_use_functions(struct hi_target *target, bool verbose,
					struct hi_use_functions **ret,
					struct hi_error *err)
{
	const struct hi_symbols_job job = {.read = find_use_functions,
					   .size = sizeof(struct hi_use_functions),
					   .wants_image = true,
					   .message = verbose ? reading_uses : NULL};
	struct hi_use_functions *copy = hi_alloc(sizeof(*copy));
	void *found = NULL;
	enum hi_status status;

	if (!copy)
		return hi_fail_memory(err, "functions");
	status = hi_symbols_read(target, &job, &found, err);
	if (status == HI_OK) {
		memcpy(copy, found, sizeof(*copy));
		status = check_use_functions(target, copy, err);
	}
	hi_symbols_free(found, job.size);
	if (status == HI_OK)
		*ret = copy;
	else
		free(copy);
	return status;
}
