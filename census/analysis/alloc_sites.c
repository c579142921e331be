/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Sites that fit]
 *
 * Each site has points for an object; none: it cannot have made it. The ones with most
 * points fit best, and only those are counted.
 *
 * An object with a type was made by a call for as many bytes as the type has, or by one
 * for several of them. A call whose type is certain makes nothing else; one whose type is
 * likely may make something derived from it, so that it only comes after one that agrees.
 * Without a type the block has the size up to the allocator's rounding: a call for a
 * constant size comes before one for any size, but for text, which either may be. A call
 * that copies strings comes last where there is no text, and so does one of a type that
 * begins with a number or a pointer where there is.
 */
#include "census/analysis/alloc_sites.h"

#include <string.h>

#include "base/alloc.h"

enum {
	SAME_TYPE = 64,	  /* certain */
	LIKELY_TYPE = 48, /* the same */
	MAYBE_TYPE = 24,  /* one that it may have */
	EXACT_SIZE = 16,
	TEXT = 12,
	CONSTANT_SIZE = 8,
	ELEMENTS = 4, /* as many as fill the block */
	ANY = 2,
	UNLIKELY = 1,
	TELLING_ELEMENT = 40, /* bytes: multiples of fewer are in most blocks */
};
#define GLIBC_STEP 16ull
#define GLIBC_LEAST 24ull

void hi_alloc_sites_destroy(struct hi_alloc_sites *sites)
{
	if (!sites)
		return;
	free(sites->items);
	hi_arena_free(&sites->arena);
	free(sites);
}

uint64_t hi_alloc_below(uint64_t usable)
{
	uint64_t step =
		usable % GLIBC_STEP == 8 || usable <= 128 ? GLIBC_STEP : usable / 5;

	return usable > GLIBC_LEAST ? usable - step : 0;
}

/* ---- types ---- */

static const char *bare_type(const char *type)
{
	static const char *const words[] = {"struct ", "class ", "union "};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(type, words[i], strlen(words[i])) == 0)
			return type + strlen(words[i]);
	return type;
}

/* Spaces differ between demanglers: "> >", ", ". */
static bool has_same_type_name(const char *a, const char *b)
{
	a = bare_type(a);
	b = bare_type(b);
	for (;; a++, b++) {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* The points of a type; -1: it is another one for certain. */
static int points_of_type(const struct hi_alloc_site *site,
			  const struct hi_alloc_sought *sought)
{
	if (!*site->type)
		return 0;
	if (*sought->type) {
		if (has_same_type_name(site->type, sought->type))
			return site->type_grade >= HI_ALLOC_CERTAIN_TYPE ? SAME_TYPE
									 : LIKELY_TYPE;
		return site->type_grade >= HI_ALLOC_CERTAIN_TYPE ? -1 : 0;
	}
	if (site->type_grade == HI_ALLOC_VIRTUAL_TYPE)
		return -1;
	for (size_t i = 0; i < sought->n_maybe; i++)
		if (has_same_type_name(site->type, sought->maybe[i]))
			return MAYBE_TYPE;
	return 0;
}

/* ---- sizes ---- */

static bool is_size_of_block(const struct hi_alloc_sought *sought, uint64_t size)
{
	return size > sought->above && size <= sought->usable;
}

/* Is there a number of elements that fills the block? */
static bool fills_with_elements(const struct hi_alloc_site *site,
				const struct hi_alloc_sought *sought)
{
	uint64_t space;

	if (site->extra > sought->usable)
		return false;
	if (site->size < 2)
		return true;
	space = (sought->usable - site->extra) / site->size * site->size;
	return is_size_of_block(sought, space + site->extra);
}

/* The points of a size; -1: it does not fit. */
static int points_of_size(const struct hi_alloc_site *site,
			  const struct hi_alloc_sought *sought)
{
	if (site->kind == HI_ALLOC_OF_SIZE) {
		if (!is_size_of_block(sought, site->size))
			return -1;
		if (sought->used && site->size == sought->used)
			return EXACT_SIZE + CONSTANT_SIZE;
		/* A type of another size, where the object is one of it. */
		if (sought->used && is_size_of_block(sought, sought->used))
			return site->size % sought->used ? 0 : CONSTANT_SIZE;
		return sought->is_text ? ANY + TEXT : CONSTANT_SIZE;
	}
	if (!fills_with_elements(site, sought))
		return -1;
	return site->size >= TELLING_ELEMENT ? ELEMENTS : ANY;
}

/* A type whose objects have no pointers, or a call that copies strings, makes text. */
static int points_of_site(const struct hi_alloc_site *site,
			  const struct hi_alloc_sought *sought)
{
	int type = points_of_type(site, sought), size = points_of_size(site, sought);

	if (type < 0 || size < 0 || (site->text == HI_ALLOC_TEXT && sought->has_pointers))
		return 0;
	/* No text has a type for certain, or is likely to be what begins otherwise. */
	if (sought->is_text && site->type_grade >= HI_ALLOC_CERTAIN_TYPE && !type)
		return 0;
	if (sought->is_text && site->text == HI_ALLOC_NO_TEXT && !type)
		return UNLIKELY;
	if (site->text == HI_ALLOC_TEXT && !sought->is_text && !*sought->type)
		return UNLIKELY;
	if (sought->is_text && (site->text == HI_ALLOC_TEXT ||
				(site->kind == HI_ALLOC_ANY_SIZE && site->size < 2)))
		size += TEXT;
	return type + size;
}

/* ---- all ---- */

struct hi_alloc_fits hi_alloc_sites_fit(const struct hi_alloc_sites *sites,
					const struct hi_alloc_sought *sought)
{
	struct hi_alloc_fits fits = {};
	int best = 1;

	for (size_t i = 0; sites && i < sites->count; i++) {
		int points = points_of_site(&sites->items[i], sought);

		if (points < best)
			continue;
		if (points > best)
			fits.count = 0;
		best = points;
		if (fits.count < HI_ALLOC_NAMED)
			fits.named[fits.count] = &sites->items[i];
		fits.count++;
	}
	for (uint32_t i = fits.count; i < HI_ALLOC_NAMED; i++)
		fits.named[i] = NULL;
	return fits;
}
