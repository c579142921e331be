/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_functions.h"

#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"

static const struct hi_row_member function_members[] = {
#define FUNCTION_MEMBER(name)                                                            \
	HI_ROW_MEMBER(struct hi_snapshot_function_row, name, struct hi_live_function,    \
		      name)
	FUNCTION_MEMBER(function), FUNCTION_MEMBER(file),    FUNCTION_MEMBER(module),
	FUNCTION_MEMBER(kind),	   FUNCTION_MEMBER(objects), FUNCTION_MEMBER(bytes),
#undef FUNCTION_MEMBER
};
static const struct hi_row_map function_map =
	HI_ROW_MAP("live.functions", struct hi_live_function, function_members);

enum hi_status hi_snapshot_put_functions(struct hi_snapshot_writer *w,
					 const struct hi_live_function *rows, size_t n,
					 struct hi_error *err)
{
	return hi_snapshot_put_rows(w, &function_map, rows, n, err);
}

enum hi_status hi_snapshot_functions(struct hi_snapshot *s, struct hi_live_function **ret,
				     size_t *n_ret, struct hi_error *err)
{
	return hi_snapshot_take_rows(s, &function_map, NULL, ret, n_ret, err);
}
