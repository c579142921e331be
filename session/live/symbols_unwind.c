/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the tables of stacks that the process without rights has made. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "probes/events/unwind_find.h"
#include "session/live/symbols.h"

static const char reading_frames[] = "reading call frame information";

struct found_tables {
	uint64_t n_words;
	uint64_t words[];
};

enum { FOUND_SIZE = sizeof(struct found_tables) + HI_UNWIND_WORDS_MAX * 8 };

static enum hi_status make_unwind_tables(struct hi_target *target, struct hi_image *image,
					 const void *arg, void *found,
					 struct hi_error *err)
{
	struct found_tables *ret = found;
	struct hi_unwind_tables tables = {};
	enum hi_status status = hi_unwind_tables_find_in(target, image, &tables, err);

	(void)arg;
	if (status == HI_OK && tables.n_words <= HI_UNWIND_WORDS_MAX) {
		memcpy(ret->words, tables.words, tables.n_words * sizeof(*tables.words));
		ret->n_words = tables.n_words;
	}
	hi_unwind_tables_free(&tables);
	return status;
}

static enum hi_status copy_unwind_tables(const struct found_tables *found,
					 struct hi_unwind_tables *ret,
					 struct hi_error *err)
{
	uint64_t n = found->n_words, *words;

	if (n == 0 || n > HI_UNWIND_WORDS_MAX)
		return hi_fail(err, HI_BAD_DATA, 0, "no tables of stacks of this size");
	words = hi_realloc_array(NULL, n, sizeof(*words));
	if (!words)
		return hi_fail_memory(err, "tables of stacks");
	memcpy(words, found->words, n * sizeof(*words));
	*ret = (struct hi_unwind_tables){words, n};
	return HI_OK;
}

enum hi_status hi_symbols_unwind_tables(struct hi_target *target, bool verbose,
					struct hi_unwind_tables *ret,
					struct hi_error *err)
{
	const struct hi_symbols_job job = {.read = make_unwind_tables,
					   .size = FOUND_SIZE,
					   .wants_image = true,
					   .message = verbose ? reading_frames : NULL};
	struct hi_unwind_tables tables = {};
	void *found = NULL;
	enum hi_status status = hi_symbols_read(target, &job, &found, err);

	if (status == HI_OK)
		status = copy_unwind_tables(found, &tables, err);
	hi_symbols_free(found, job.size);
	if (status == HI_OK)
		status = hi_unwind_tables_check(&tables, target, err);
	if (status == HI_OK)
		*ret = tables;
	else
		hi_unwind_tables_free(&tables);
	return status;
}
