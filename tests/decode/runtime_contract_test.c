/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds for every runtime of the registry. */
#include <string.h>

#include "attach/mock.h"
#include "decode/runtime.h"
#include "harness.h"

HI_TEST(runtime_contract, every_runtime_is_whole)
{
	HI_ASSERT(hi_runtimes[0]);
	for (size_t i = 0; hi_runtimes[i]; i++) {
		const struct hi_runtime_ops *ops = hi_runtimes[i];

		HI_ASSERT(ops->name && *ops->name && ops->safepoints);
		HI_ASSERT(ops->probe && ops->self_check && ops->walk && ops->type_of);
		HI_ASSERT(ops->cursor && ops->cursor_free && ops->edges && ops->label &&
			  ops->cut);
		HI_ASSERT(ops->roots && ops->release);
		for (size_t k = 0; ops->safepoints[k]; k++)
			HI_ASSERT(strncmp(ops->safepoints[k], "usdt:", 5) == 0 ||
				  !strchr(ops->safepoints[k], ' '));
		for (size_t k = 0; k < i; k++)
			HI_ASSERT(strcmp(hi_runtimes[k]->name, ops->name) != 0);
	}
}

HI_TEST(runtime_contract, an_image_without_any_is_not_found)
{
	struct hi_memory *memory = NULL;
	struct hi_image *image = NULL;
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_modules *modules = NULL;
	struct hi_runtime *runtime = NULL;
	const char *refused = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_memory_create_mock(&memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(memory, &image, &err), &err);
	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_runtime_probe(image, modules, NULL, &runtime,
							&refused, &err));
	HI_ASSERT_STREQ("", refused);
	HI_ASSERT(!runtime);
	hi_modules_close(modules);
	hi_image_destroy(image);
}
