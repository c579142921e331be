/* SPDX-License-Identifier: BSD-2-Clause */
/* The section "modules": the files that the target has mapped. */
#include <stdio.h>

#include "base/text.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "session/mapped_files.h"
#include "session/snapshot/snapshot_source.h"

/* Of a row but the build-id, which is an array. */
static const struct hi_row_member module_members[] = {
#define MODULE_MEMBER(name)                                                              \
	HI_ROW_MEMBER(struct hi_snapshot_module_row, name, struct hi_mapped_file, name)
	MODULE_MEMBER(path),
	MODULE_MEMBER(start),
	MODULE_MEMBER(end),
#undef MODULE_MEMBER
};
static const struct hi_row_map module_map =
	HI_ROW_MAP("modules", struct hi_mapped_file, module_members);

enum hi_status hi_snapshot_source_mapped_files(struct hi_inspection *in,
					       const struct hi_mapped_file **ret,
					       size_t *n_ret, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const struct hi_snapshot_module_row *rows = NULL;
	struct hi_mapped_file *all;
	enum hi_status status =
		hi_snapshot_take_rows(s, &module_map, &in->arena, &all, n_ret, err);

	*ret = all;
	if (status == HI_OK)
		status = hi_snapshot_rows(s, "modules", &rows, n_ret, err);
	for (size_t i = 0; i < *n_ret && status == HI_OK; i++) {
		all[i].name = hi_base_name(all[i].path);
		snprintf(all[i].build_id, sizeof(all[i].build_id), "%s",
			 hi_snapshot_string(s, rows[i].build_id));
	}
	return status;
}

enum hi_status hi_snapshot_save_modules(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err)
{
	struct rows HI_VECTOR(struct hi_snapshot_module_row) rows = {};
	const struct hi_mapped_file *all;
	size_t n;
	enum hi_status status = in->source->results->list_mapped_files(in, &all, &n, err);

	for (size_t i = 0; status == HI_OK && i < n; i++) {
		struct hi_snapshot_module_row row = {};

		status = hi_snapshot_pack_row(w, &module_map, &all[i], &row, err);
		if (status == HI_OK)
			status = hi_snapshot_put_string(w, all[i].build_id, &row.build_id,
							err);
		if (status == HI_OK && !hi_vector_push(&rows, row))
			status = hi_fail_memory(err, "mappings");
	}
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, "modules", rows.items, rows.count,
						 err);
	hi_vector_free(&rows);
	return status;
}
