/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/live_modules.h"

#include <stdio.h>

#include "session/mapped_files.h"

static struct hi_mapped_file mapped_file_of_module(const struct hi_module *m)
{
	struct hi_mapped_file mapping = {
		.path = m->path, .name = m->name, .start = m->start, .end = m->end};

	for (size_t i = 0; i < m->build_id_size && i < 32; i++)
		snprintf(mapping.build_id + 2 * i, 3, "%02x", m->build_id[i]);
	return mapping;
}

enum hi_status hi_live_mapped_files(struct hi_inspection *in,
				    const struct hi_mapped_file **ret, size_t *n_ret,
				    struct hi_error *err)
{
	size_t n = hi_modules_count(in->decoders.modules), at = 0;
	struct hi_mapped_file *all = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*all));

	if (!all)
		return hi_fail_memory(err, "mappings");
	for (int main = 1; main >= 0; main--)
		for (size_t i = 0; i < n; i++) {
			const struct hi_module *m =
				hi_modules_get(in->decoders.modules, i);

			if (m->is_executable == main)
				all[at++] = mapped_file_of_module(m);
		}
	*ret = all;
	*n_ret = n;
	return HI_OK;
}
