/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what the process without rights has found about the code of a target. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocator.h"
#include "session/live/symbols.h"

enum { MOST_RANGES = 16384 };

static const char reading_places[] = "searching for places to stop at";

/* ---- the allocator ---- */

struct text {
	uint64_t n;
	struct hi_range ranges[MOST_RANGES];
};

static enum hi_status find_text(struct hi_target *target, struct hi_image *image,
				const void *arg, void *found, struct hi_error *err)
{
	struct hi_range *ranges = NULL;
	struct text *text = found;
	size_t n = 0;
	enum hi_status status = hi_allocator_text(target, &ranges, &n, err);

	(void)image;
	(void)arg;
	if (status == HI_OK && n > MOST_RANGES)
		return hi_fail(err, HI_LIMIT, 0, "too many functions");
	if (status == HI_OK && n)
		memcpy(text->ranges, ranges, n * sizeof(*ranges));
	text->n = n;
	return status;
}

enum hi_status hi_symbols_allocator(struct hi_target *target, struct hi_range **ret,
				    size_t *n_ret, struct hi_error *err)
{
	static const struct hi_symbols_job job = {.read = find_text,
						  .size = sizeof(struct text)};
	struct text *text = NULL;
	struct hi_range *ranges;
	enum hi_status status = hi_symbols_read(target, &job, (void **)&text, err);

	if (status != HI_OK)
		return status;
	if (text->n > MOST_RANGES) {
		status = hi_fail(err, HI_BAD_DATA, 0, "too many functions");
	} else if (!(ranges = hi_alloc((text->n + 1) * sizeof(*ranges)))) {
		status = hi_fail_memory(err, "allocator's text");
	} else {
		memcpy(ranges, text->ranges, text->n * sizeof(*ranges));
		*ret = ranges;
		*n_ret = text->n;
	}
	hi_symbols_free(text, job.size);
	return status;
}

/* ---- probe sites ---- */

struct found_places {
	uint64_t n;
	struct hi_condition condition;
	struct hi_probe_site items[HI_PROBE_SITES_MAX];
};

static enum hi_status find_symbol_places(struct hi_target *target, struct hi_image *image,
					 const void *arg, void *found,
					 struct hi_error *err)
{
	struct hi_probe_sites places = {};
	struct found_places *ret = found;
	enum hi_status status = hi_safepoint_find_in(target, image, arg, &places, err);

	if (status != HI_OK)
		return status;
	if (places.count)
		memcpy(ret->items, places.items, places.count * sizeof(*places.items));
	ret->condition = places.condition;
	ret->n = places.count;
	return HI_OK;
}

bool hi_symbols_site_is_valid(const struct hi_target *target,
			      const struct hi_probe_site *place)
{
	const struct hi_mapping *m;

	if (place->mapping >= target->n_mappings)
		return false;
	m = &target->mappings[place->mapping];
	return m->kind == HI_MAPPING_FILE && (m->prot & HI_PROT_EXEC) &&
	       place->address >= m->start && place->address < m->end &&
	       place->file_offset == place->address - m->start + m->file_offset;
}

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

/* Copies them; *ret may be empty. */
static enum hi_status take_places(const struct hi_target *target,
				  const struct hi_probe_site *items, size_t n,
				  struct hi_probe_sites *ret, struct hi_error *err)
{
	HI_GUARD(free) struct hi_probe_site *copy = hi_calloc(n + 1, sizeof(*copy));

	if (!copy)
		return hi_fail_memory(err, "places");
	if (n)
		memcpy(copy, items, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++) {
		END_TEXT(copy[i].function);
		END_TEXT(copy[i].instruction);
		END_TEXT(copy[i].ends);
		copy[i].single_stepped =
			*(const unsigned char *)&copy[i].single_stepped != 0;
		if (!hi_symbols_site_is_valid(target, &copy[i]))
			return hi_fail(
				err, HI_BAD_DATA, copy[i].address,
				"a place for a probe is outside the target's code");
	}
	*ret = (struct hi_probe_sites){.items = hi_take(copy), .count = n};
	return HI_OK;
}

enum hi_status hi_symbols_probe_sites(struct hi_target *target, bool verbose,
				      const struct hi_safepoint *safepoint,
				      struct hi_probe_sites *ret, struct hi_error *err)
{
	const struct hi_symbols_job job = {.read = find_symbol_places,
					   .arg = safepoint,
					   .size = sizeof(struct found_places),
					   .wants_image = true,
					   .message = verbose ? reading_places : NULL};
	struct hi_probe_sites places = {};
	struct found_places *found = NULL;
	enum hi_status status = hi_symbols_read(target, &job, (void **)&found, err);

	if (status != HI_OK)
		return status;
	if (found->n > HI_PROBE_SITES_MAX || found->condition.n_terms > HI_BPF_TERMS)
		status = hi_fail(err, HI_BAD_DATA, 0, "too many places for a probe");
	else
		status = take_places(target, found->items, found->n, &places, err);
	places.condition = found->condition;
	if (status == HI_OK)
		*ret = places;
	hi_symbols_free(found, job.size);
	return status;
}

/* ---- functions whose calls are counted ---- */

static enum hi_status find_calls(struct hi_target *target, struct hi_image *image,
				 const void *arg, void *found, struct hi_error *err)
{
	struct hi_probe_sites places = {};
	struct found_places *ret = found;
	enum hi_status status = hi_call_sites_find_in(target, image, arg, &places, err);

	if (status != HI_OK)
		return status;
	if (places.count)
		memcpy(ret->items, places.items, places.count * sizeof(*places.items));
	ret->n = places.count;
	return HI_OK;
}

_Static_assert(HI_CALL_SITES <= (int)HI_PROBE_SITES_MAX, "room for all");

enum hi_status hi_symbols_call_sites(struct hi_target *target, bool verbose,
				     const struct hi_call_patterns *patterns,
				     struct hi_probe_sites *ret, struct hi_error *err)
{
	const struct hi_symbols_job job = {
		.read = find_calls,
		.arg = patterns,
		.size = sizeof(struct found_places),
		.wants_image = true,
		.message = verbose ? "searching for functions whose calls are counted"
				   : NULL};
	struct found_places *found = NULL;
	enum hi_status status = hi_symbols_read(target, &job, (void **)&found, err);

	if (status != HI_OK)
		return status;
	status = found->n > HI_CALL_SITES
			 ? hi_fail(err, HI_BAD_DATA, 0, "too many places for a probe")
			 : take_places(target, found->items, found->n, ret, err);
	hi_symbols_free(found, job.size);
	return status;
}

/* ---- all safepoints ---- */

struct found_safepoint {
	char text[192], runtime[32], purpose[128];
	uint8_t is_gc;
	uint64_t n;
	struct hi_probe_site places[HI_PROBE_SITES_MAX];
};

struct found_list {
	uint64_t n;
	struct found_safepoint items[HI_SAFEPOINTS_MAX];
};

static enum hi_status find_list(struct hi_target *target, struct hi_image *image,
				const void *arg, void *found, struct hi_error *err)
{
	struct hi_known_safepoint *list = NULL;
	struct found_list *ret = found;
	size_t n = 0;
	enum hi_status status = hi_safepoints_list_in(target, image, &list, &n, err);

	(void)arg;
	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < n && i < HI_SAFEPOINTS_MAX; i++) {
		struct found_safepoint *to = &ret->items[i];
		const struct hi_known_safepoint *from = &list[i];

		memcpy(to->text, from->text, sizeof(to->text));
		memcpy(to->runtime, from->runtime, sizeof(to->runtime));
		memcpy(to->purpose, from->purpose, sizeof(to->purpose));
		to->is_gc = from->is_gc;
		to->n = from->sites.count;
		if (to->n)
			memcpy(to->places, from->sites.items,
			       to->n * sizeof(*to->places));
	}
	ret->n = n < HI_SAFEPOINTS_MAX ? n : HI_SAFEPOINTS_MAX;
	return HI_OK;
}

static enum hi_status take_safepoint(const struct hi_target *target,
				     const struct found_safepoint *from,
				     struct hi_known_safepoint *to, struct hi_error *err)
{
	memcpy(to->text, from->text, sizeof(to->text));
	memcpy(to->runtime, from->runtime, sizeof(to->runtime));
	memcpy(to->purpose, from->purpose, sizeof(to->purpose));
	END_TEXT(to->text);
	END_TEXT(to->runtime);
	END_TEXT(to->purpose);
	to->is_gc = from->is_gc != 0;
	if (from->n > HI_PROBE_SITES_MAX)
		return hi_fail(err, HI_BAD_DATA, 0, "too many places for a probe");
	return take_places(target, from->places, from->n, &to->sites, err);
}

static enum hi_status take_list(const struct hi_target *target,
				const struct found_list *found,
				struct hi_known_safepoint **ret, size_t *n_ret,
				struct hi_error *err)
{
	size_t n = found->n;
	struct hi_known_safepoint *list;
	enum hi_status status = HI_OK;

	if (n > HI_SAFEPOINTS_MAX)
		return hi_fail(err, HI_BAD_DATA, 0, "too many safepoints");
	list = hi_calloc(n + 1, sizeof(*list));
	if (!list)
		return hi_fail_memory(err, "safepoints");
	for (size_t i = 0; i < n && status == HI_OK; i++)
		status = take_safepoint(target, &found->items[i], &list[i], err);
	if (status != HI_OK) {
		hi_safepoints_free(list, n);
		return status;
	}
	*ret = list;
	*n_ret = n;
	return HI_OK;
}

enum hi_status hi_symbols_safepoints(struct hi_target *target, bool verbose,
				     struct hi_known_safepoint **ret, size_t *n_ret,
				     struct hi_error *err)
{
	const struct hi_symbols_job job = {.read = find_list,
					   .size = sizeof(struct found_list),
					   .wants_image = true,
					   .message = verbose ? reading_places : NULL};
	struct found_list *found = NULL;
	enum hi_status status = hi_symbols_read(target, &job, (void **)&found, err);

	if (status != HI_OK)
		return status;
	status = take_list(target, found, ret, n_ret, err);
	hi_symbols_free(found, job.size);
	return status;
}
