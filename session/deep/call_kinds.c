/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/deep/call_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/interner.h"
#include "decode/modules/call_file.h"
#include "session/mapped_files.h"

enum { MOST_CALL_FILES = 1024 };

struct hi_call_kinds {
	const struct hi_mapped_file *mapped; /* of the inspection */
	size_t n_mapped;
	struct hi_interner paths; /* number -> index of files */
	/* NULL: there is none. */
	struct HI_VECTOR(struct hi_call_file *) files;
	const char *first_missing; /* NULL: none */
	uint32_t n_missing;
};

void hi_call_kinds_destroy(struct hi_call_kinds *kinds)
{
	if (!kinds)
		return;
	for (size_t i = 0; i < kinds->files.count; i++)
		hi_call_file_close(kinds->files.items[i]);
	hi_vector_free(&kinds->files);
	hi_interner_free(&kinds->paths);
	free(kinds);
}

enum hi_status hi_call_kinds_create(struct hi_inspection *in, struct hi_call_kinds **ret,
				    struct hi_error *err)
{
	struct hi_call_kinds *kinds = hi_calloc(1, sizeof(*kinds));
	enum hi_status status;

	if (!kinds || !hi_vector_push(&kinds->files, NULL)) {
		hi_call_kinds_destroy(kinds);
		return hi_fail_memory(err, "kinds of calls");
	}
	status = hi_mapped_files_of(in, &kinds->mapped, &kinds->n_mapped, err);
	if (status == HI_OK)
		*ret = kinds;
	else
		hi_call_kinds_destroy(kinds);
	return status;
}

static struct hi_call_file *open_call_file(struct hi_call_kinds *kinds, const char *path)
{
	struct hi_call_file *file = NULL;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < kinds->n_mapped; i++) {
		if (strcmp(kinds->mapped[i].path, path) != 0)
			continue;
		status = hi_call_file_open(path, kinds->mapped[i].build_id, &file, NULL);
		if (status == HI_NOT_FOUND && !kinds->n_missing++)
			kinds->first_missing = kinds->mapped[i].path;
		return status == HI_OK ? file : NULL;
	}
	return NULL;
}

/* NULL: it is not here, or another one; or memory ran out. */
static const struct hi_call_file *find_call_file(struct hi_call_kinds *kinds,
						 const char *path)
{
	uint32_t number;

	if (!*path || kinds->files.count > MOST_CALL_FILES)
		return NULL;
	number = hi_interner_add(&kinds->paths, path);
	if (!number || number > kinds->files.count)
		return NULL;
	if (number == kinds->files.count &&
	    !hi_vector_push(&kinds->files, open_call_file(kinds, path)))
		return NULL;
	return kinds->files.items[number];
}

/* The compiler's parts of a function have its name with something behind a dot. */
static bool is_part_of(const char *name, const char *function)
{
	size_t n = strlen(function);

	return strncmp(name, function, n) == 0 && (!name[n] || name[n] == '.');
}

/* Does the call lead to the function that has the callee's offset, as far as it is known?
 */
static bool leads_to_callee(const struct hi_call_file *file, uint64_t target,
			    const struct hi_frame_row *row,
			    const struct hi_frame_row *callee)
{
	const char *called, *reached;

	if (!callee || strcmp(row->module, callee->module) != 0)
		return true;
	called = hi_call_file_function(file, target);
	/* What is returned to may be behind the end of a function that never returns. */
	reached = callee->offset ? hi_call_file_function(file, callee->offset - 1) : NULL;
	return !called || !reached || is_part_of(reached, called) ||
	       is_part_of(called, reached);
}

enum hi_deep_site_kind hi_call_kind_of(struct hi_call_kinds *kinds,
				       const struct hi_frame_row *row,
				       const struct hi_frame_row *callee)
{
	const struct hi_call_file *file;
	uint64_t target = 0;

	file = find_call_file(kinds, row->module);
	if (!file)
		return HI_DEEP_UNKNOWN;
	switch (hi_call_file_kind(file, row->offset, &target)) {
	case HI_CALL_DIRECT:
		return !target || leads_to_callee(file, target, row, callee)
			       ? HI_DEEP_DIRECT
			       : HI_DEEP_TAIL;
	case HI_CALL_INDIRECT:
		return HI_DEEP_INDIRECT;
	case HI_CALL_VIRTUAL:
		return HI_DEEP_VIRTUAL;
	case HI_CALL_SIGNAL:
		return HI_DEEP_CALLBACK;
	case HI_CALL_UNKNOWN:
	default:
		return HI_DEEP_UNKNOWN;
	}
}

bool hi_call_kinds_exports(struct hi_call_kinds *kinds, const struct hi_frame_row *row)
{
	const struct hi_call_file *file = find_call_file(kinds, row->module);

	return file && row->offset && hi_call_file_exports(file, row->offset - 1);
}

uint32_t hi_call_kinds_missing(const struct hi_call_kinds *kinds, const char **first_ret)
{
	*first_ret = kinds->first_missing ? kinds->first_missing : "";
	return kinds->n_missing;
}
