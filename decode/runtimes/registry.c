/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/runtime.h"
#include "decode/runtimes/cpython.h"

const struct hi_runtime_ops *const hi_runtimes[] = {&hi_runtime_cpython, NULL};

enum hi_status hi_runtime_probe(const struct hi_image *image, struct hi_modules *modules,
				struct hi_types *types, struct hi_runtime **ret,
				const char **refused_ret, struct hi_error *err)
{
	struct hi_runtime *runtime = NULL;
	const char *name = "";
	enum hi_status status =
		hi_fail(err, HI_NOT_FOUND, 0, "no known runtime in this process");

	for (size_t i = 0; hi_runtimes[i] && status == HI_NOT_FOUND; i++) {
		name = hi_runtimes[i]->name;
		status = hi_runtimes[i]->probe(image, modules, types, &runtime, err);
	}
	if (status == HI_OK)
		status = runtime->ops->self_check(runtime, err);
	if (refused_ret)
		*refused_ret = status == HI_OK || status == HI_NOT_FOUND ||
					       status == HI_NO_MEMORY
				       ? ""
				       : name;
	if (status != HI_OK) {
		hi_runtime_release(runtime);
		return status;
	}
	*ret = runtime;
	return HI_OK;
}

enum hi_status hi_runtime_walk(struct hi_runtime *runtime, hi_runtime_blocks_fn *fn,
			       void *arg, struct hi_error *err)
{
	return runtime->ops->walk(runtime, fn, arg, err);
}

enum hi_status hi_runtime_type_of(struct hi_runtime *runtime,
				  const struct hi_objects *objects, unsigned threads,
				  hi_runtime_type_fn *fn, void *arg, struct hi_error *err)
{
	return runtime->ops->type_of(runtime, objects, threads, fn, arg, err);
}

struct hi_runtime_cursor *hi_runtime_cursor(struct hi_runtime *runtime)
{
	return runtime->ops->cursor(runtime);
}

void hi_runtime_cursor_free(struct hi_runtime *runtime, struct hi_runtime_cursor *cursor)
{
	if (cursor)
		runtime->ops->cursor_free(cursor);
}

enum hi_status hi_runtime_roots(struct hi_runtime *runtime, hi_runtime_root_fn *fn,
				void *arg, struct hi_error *err)
{
	return runtime->ops->roots(runtime, fn, arg, err);
}

void hi_runtime_release(struct hi_runtime *runtime)
{
	if (runtime)
		runtime->ops->release(runtime);
}
