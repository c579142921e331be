/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_functions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

static const char functions_section[] = "live.functions";

struct live_row {
	uint32_t function, file, module; /* offsets in "strings" */
	uint32_t kind;
	uint64_t objects, bytes;
};
_Static_assert(sizeof(struct live_row) == 32, "row");

static enum hi_status put_function_row(struct hi_snapshot_writer *w,
				       const struct hi_live_function *from,
				       struct live_row *to, struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_string(w, from->function, &to->function, err);

	if (status == HI_OK)
		status = hi_snapshot_put_string(w, from->file, &to->file, err);
	if (status == HI_OK)
		status = hi_snapshot_put_string(w, from->module, &to->module, err);
	to->kind = from->kind;
	to->objects = from->objects;
	to->bytes = from->bytes;
	return status;
}

enum hi_status hi_snapshot_put_functions(struct hi_snapshot_writer *w,
					 const struct hi_live_function *rows, size_t n,
					 struct hi_error *err)
{
	HI_GUARD(free) struct live_row *items = hi_calloc(n + 1, sizeof(*items));
	enum hi_status status = items ? HI_OK : hi_fail_memory(err, "functions");

	for (size_t i = 0; i < n && status == HI_OK; i++)
		status = put_function_row(w, &rows[i], &items[i], err);
	return status == HI_OK ? hi_snapshot_put(w, functions_section, items,
						 sizeof(*items), n, err)
			       : status;
}

static bool read_function_row(const struct hi_snapshot *s, const struct live_row *from,
			      struct hi_live_function *to)
{
	*to = (struct hi_live_function){.kind = (enum hi_live_function_kind)from->kind,
					.function = hi_snapshot_string(s, from->function),
					.file = hi_snapshot_string(s, from->file),
					.module = hi_snapshot_string(s, from->module),
					.objects = from->objects,
					.bytes = from->bytes};
	return from->kind < HI_LIVE_FUNCTION_KINDS && to->function && to->file &&
	       to->module;
}

enum hi_status hi_snapshot_functions(struct hi_snapshot *s, struct hi_live_function **ret,
				     size_t *n_ret, struct hi_error *err)
{
	HI_GUARD(free) struct hi_live_function *rows = NULL;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, functions_section,
						sizeof(struct live_row), &items, &n, err);

	if (status != HI_OK)
		return status;
	rows = hi_calloc(n + 1, sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "functions");
	for (uint64_t i = 0; i < n; i++)
		if (!read_function_row(s, (const struct live_row *)items + i, &rows[i]))
			return hi_snapshot_bad(s, functions_section, err,
					       "an unknown kind or a name outside of "
					       "the strings");
	status = hi_snapshot_check_texts(s, functions_section, items, n,
					 sizeof(struct live_row), 3, err);
	if (status != HI_OK)
		return status;
	*ret = hi_take(rows);
	*n_ret = n;
	return HI_OK;
}
