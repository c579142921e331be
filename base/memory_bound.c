/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/memory_bound.h"

#include <stdatomic.h>

#include "base/text.h"

static uint64_t bound = UINT64_MAX;
static bool is_given_by_user;
static _Atomic uint64_t taken_of_all;

void hi_unpacked_set_bound(uint64_t bytes, bool is_given)
{
	bound = bytes;
	is_given_by_user = is_given;
}

static uint64_t most_of_file(const struct hi_unpacked *file)
{
	uint64_t most;

	if (is_given_by_user ||
	    __builtin_mul_overflow(file->file_size, HI_UNPACKED_TIMES, &most) ||
	    __builtin_add_overflow(most, HI_UNPACKED_FREE, &most))
		return UINT64_MAX;
	return most;
}

/* False: the sum would exceed `most`, and is as before. */
static bool add_up_to(_Atomic uint64_t *sum, uint64_t bytes, uint64_t most)
{
	uint64_t before = atomic_load(sum), after;

	do {
		if (__builtin_add_overflow(before, bytes, &after) || after > most)
			return false;
	} while (!atomic_compare_exchange_weak(sum, &before, after));
	return true;
}

static enum hi_status refuse_to_unpack(uint64_t bytes, uint64_t most, bool of_all,
				       const char *name, const char *part,
				       struct hi_error *err)
{
	char size[24], limit[24];

	return hi_fail(err, HI_LIMIT, 0,
		       "%.80s: %.32s unpacks to %s, more than %s with %s: "
		       "--max-memory SIZE permits it",
		       name, part, hi_text_bytes(size, bytes), hi_text_bytes(limit, most),
		       of_all ? "all other files" : "the rest of the file");
}

enum hi_status hi_unpacked_take(struct hi_unpacked *file, uint64_t bytes,
				const char *name, const char *part, struct hi_error *err)
{
	uint64_t most = most_of_file(file);

	if (!add_up_to(&file->taken, bytes, most))
		return refuse_to_unpack(bytes, most, false, name, part, err);
	if (add_up_to(&taken_of_all, bytes, bound))
		return HI_OK;
	atomic_fetch_sub(&file->taken, bytes);
	return refuse_to_unpack(bytes, bound, true, name, part, err);
}

enum hi_status hi_unpacked_check(struct hi_unpacked *file, uint64_t bytes,
				 const char *name, const char *part, struct hi_error *err)
{
	enum hi_status status = hi_unpacked_take(file, bytes, name, part, err);

	if (status == HI_OK)
		hi_unpacked_release(file, bytes);
	return status;
}

void hi_unpacked_release(struct hi_unpacked *file, uint64_t bytes)
{
	atomic_fetch_sub(&file->taken, bytes);
	atomic_fetch_sub(&taken_of_all, bytes);
}
