/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/parallel.h"
#include "decode/allocators/glibc.h"

const struct hi_allocator_ops *const hi_allocators[] = {&hi_allocator_glibc, NULL};

enum hi_status hi_allocator_probe(const struct hi_image *image,
				  struct hi_modules *modules, struct hi_allocator **ret,
				  struct hi_error *err)
{
	enum hi_status status =
		hi_fail(err, HI_NOT_FOUND, 0, "no known allocator in this process");

	for (size_t i = 0; hi_allocators[i]; i++) {
		status = hi_allocators[i]->probe(image, modules, ret, err);
		if (status != HI_NOT_FOUND)
			break;
	}
	return status;
}

enum hi_status hi_allocator_walk(struct hi_allocator *allocator, hi_blocks_fn *fn,
				 void *arg, struct hi_error *err)
{
	return allocator->ops->walk(allocator, fn, arg, err);
}

void hi_allocator_release(struct hi_allocator *allocator)
{
	if (allocator)
		allocator->ops->release(allocator);
}
