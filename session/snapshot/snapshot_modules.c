/* SPDX-License-Identifier: BSD-2-Clause */
/* The section "modules": the files that the target has mapped. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "census/snapshot/snapshot_texts.h"
#include "session/mapped_files.h"
#include "session/snapshot/snapshot_source.h"

/* A row of the section; docs/SNAPSHOT_FORMAT.md. */
struct stored_file {
	uint32_t path, build_id; /* offsets of strings */
	uint64_t start, end;
};

enum hi_status hi_snapshot_source_mapped_files(struct hi_inspection *in,
					       const struct hi_mapped_file **ret,
					       size_t *n_ret, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const struct stored_file *rows;
	const void *items = NULL;
	struct hi_mapped_file *all;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "modules", sizeof(*rows), &items, &n, err);

	*ret = NULL;
	*n_ret = 0;
	if (status != HI_OK)
		return status == HI_NOT_FOUND ? HI_OK : status;
	rows = items;
	status = hi_snapshot_check_texts(s, "modules", rows, n, sizeof(*rows), 2, err);
	if (status != HI_OK)
		return status;
	all = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*all));
	if (!all)
		return hi_fail_memory(err, "mappings");
	for (uint64_t i = 0; i < n; i++) {
		const char *id = hi_snapshot_string(s, rows[i].build_id);

		all[i] = (struct hi_mapped_file){
			.path = hi_snapshot_string(s, rows[i].path),
			.start = rows[i].start,
			.end = rows[i].end};
		if (!all[i].path || !id)
			return hi_fail(err, HI_BAD_DATA, 0,
				       "%.120s: section modules: a row without a name",
				       in->options->target.file);
		all[i].name = hi_base_name(all[i].path);
		snprintf(all[i].build_id, sizeof(all[i].build_id), "%s", id);
	}
	*ret = all;
	*n_ret = n;
	return HI_OK;
}

enum hi_status hi_snapshot_save_modules(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err)
{
	struct rows HI_VECTOR(struct stored_file) rows = {};
	const struct hi_mapped_file *all;
	size_t n;
	enum hi_status status = in->source->list_mapped_files(in, &all, &n, err);

	for (size_t i = 0; status == HI_OK && i < n; i++) {
		struct stored_file row = {.start = all[i].start, .end = all[i].end};

		status = hi_snapshot_put_string(w, all[i].path, &row.path, err);
		if (status == HI_OK)
			status = hi_snapshot_put_string(w, all[i].build_id, &row.build_id,
							err);
		if (status == HI_OK && !hi_vector_push(&rows, row))
			status = hi_fail_memory(err, "mappings");
	}
	if (status == HI_OK)
		status = hi_snapshot_put(w, "modules", rows.items, sizeof(*rows.items),
					 rows.count, err);
	hi_vector_free(&rows);
	return status;
}
