/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/mapped_files.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/snapshot/source.h"

/* A row of the section; docs/SNAPSHOT_FORMAT.md. */
struct stored_file {
	uint32_t path, build_id; /* offsets of strings */
	uint64_t start, end;
};

static struct hi_mapped_file of_module(const struct hi_module *m)
{
	struct hi_mapped_file mapping = {
		.path = m->path, .name = m->name, .start = m->start, .end = m->end};

	for (size_t i = 0; i < m->build_id_size && i < 32; i++)
		snprintf(mapping.build_id + 2 * i, 3, "%02x", m->build_id[i]);
	return mapping;
}

static enum hi_status of_modules(struct hi_inspection *in,
				 const struct hi_mapped_file **ret, size_t *n_ret,
				 struct hi_error *err)
{
	size_t n = hi_modules_count(in->modules), at = 0;
	struct hi_mapped_file *all = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*all));

	if (!all)
		return hi_fail_memory(err, "mappings");
	for (int main = 1; main >= 0; main--)
		for (size_t i = 0; i < n; i++) {
			const struct hi_module *m = hi_modules_get(in->modules, i);

			if (m->is_executable == main)
				all[at++] = of_module(m);
		}
	*ret = all;
	*n_ret = n;
	return HI_OK;
}

static enum hi_status of_file(struct hi_inspection *in, const struct hi_mapped_file **ret,
			      size_t *n_ret, struct hi_error *err)
{
	struct hi_snapshot *s = in->stored->snapshot;
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
				       in->options->file);
		all[i].name = hi_base_name(all[i].path);
		snprintf(all[i].build_id, sizeof(all[i].build_id), "%s", id);
	}
	*ret = all;
	*n_ret = n;
	return HI_OK;
}

enum hi_status hi_mapped_files_of(struct hi_inspection *in,
				  const struct hi_mapped_file **ret, size_t *n_ret,
				  struct hi_error *err)
{
	return in->stored ? of_file(in, ret, n_ret, err)
			  : of_modules(in, ret, n_ret, err);
}

enum hi_status hi_mapped_files_store(struct hi_inspection *in,
				     struct hi_snapshot_writer *w, struct hi_error *err)
{
	struct rows HI_VECTOR(struct stored_file) rows = {};
	const struct hi_mapped_file *all;
	size_t n;
	enum hi_status status = of_modules(in, &all, &n, err);

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
