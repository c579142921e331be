/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/root_check.h"

#include <string.h>

#include "base/cleanup.h"
#include "probes/target_code.h"
#include "session/live/symbols.h"

struct checked_roots {
	const struct hi_root_text *texts;
	size_t n;
};
struct wrong_root {
	uint64_t is_wrong, index, column;
	struct hi_error error;
};

static bool needs_threads(const struct hi_root_text *root)
{
	return strncmp(root->expression, "thread:", strlen("thread:")) == 0;
}

/* Other errors are for the inspection to report. */
static bool is_wrong_root(const struct hi_target_code *code, struct hi_image *image,
			  const struct hi_root_text *text, struct wrong_root *ret)
{
	struct hi_named_roots *roots = NULL;
	size_t wrong = 0, column = 0;
	enum hi_status status =
		hi_named_roots_open(image, code->modules, code->types, text, 1, &roots,
				    &wrong, &column, &ret->error);

	if (status == HI_OK)
		hi_named_roots_close(roots);
	ret->column = column;
	return status == HI_USAGE;
}

static enum hi_status compile_roots(struct hi_target *target, struct hi_image *image,
				    const void *arg, void *found, struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	const struct checked_roots *roots = arg;
	struct wrong_root *ret = found;
	enum hi_status status = hi_target_code_open(target, image, &code, err);

	if (status == HI_OK)
		status = hi_target_code_types(code, err);
	for (size_t i = 0; status == HI_OK && i < roots->n && !ret->is_wrong; i++) {
		if (needs_threads(&roots->texts[i]))
			continue;
		ret->index = i;
		ret->is_wrong = is_wrong_root(code, image, &roots->texts[i], ret);
	}
	return status;
}

enum hi_status hi_root_check(struct hi_target *target, const struct hi_root_text *texts,
			     size_t n, size_t *wrong_ret, size_t *column_ret,
			     struct hi_error *err)
{
	const struct checked_roots roots = {texts, n};
	const struct hi_symbols_job job = {.read = compile_roots,
					   .arg = &roots,
					   .size = sizeof(struct wrong_root),
					   .wants_image = true};
	struct wrong_root *found = NULL;
	enum hi_status status = hi_symbols_read(target, &job, (void **)&found, err);

	if (status != HI_OK)
		return status == HI_NO_MEMORY ? status : HI_OK;
	/* A process that read hostile files wrote these. */
	if (found->is_wrong && found->index < n) {
		*wrong_ret = found->index;
		*column_ret = found->column;
		*err = found->error;
		err->status = status = HI_USAGE;
		err->text[sizeof(err->text) - 1] = 0;
	}
	hi_symbols_free(found, job.size);
	return status;
}
