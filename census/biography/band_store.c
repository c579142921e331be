/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/biography/band_store_internal.h"

#include "base/alloc.h"

#define CARRIED (1u << 31)
#define MAX_PAGES (CARRIED - 1)

/* False: out of memory. */
static bool extend_zeroed(struct hi_band_directory *pages, size_t count)
{
	if (!hi_vector_reserve(pages, count))
		return false;
	while (pages->count < count)
		pages->items[pages->count++] = 0;
	return true;
}

static bool extend_groups(struct hi_band_store *store, uint32_t group)
{
	if (!hi_vector_reserve(&store->groups, (size_t)group + 1))
		return false;
	while (store->groups.count <= group)
		store->groups.items[store->groups.count++] = (struct hi_band_directory){};
	return true;
}

bool hi_band_store_touch(struct hi_band_store *store, uint32_t group, uint64_t period)
{
	const uint64_t place = period / HI_BIO_PAGE_PERIODS;
	const size_t first = store->cells.count;
	struct hi_band_directory *pages;

	if (place >= SIZE_MAX / sizeof(uint32_t) || !extend_groups(store, group))
		return false;
	pages = &store->groups.items[group];
	if (!extend_zeroed(pages, place + 1))
		return false;
	if (pages->items[place])
		return true;
	if (first / HI_BIO_PAGE_PERIODS >= MAX_PAGES ||
	    !hi_vector_reserve(&store->cells, first + HI_BIO_PAGE_PERIODS))
		return false;
	memset(&store->cells.items[first], 0,
	       HI_BIO_PAGE_PERIODS * sizeof(*store->cells.items));
	store->cells.count += HI_BIO_PAGE_PERIODS;
	pages->items[place] = (uint32_t)(first / HI_BIO_PAGE_PERIODS) + 1;
	return true;
}

/* The cells of the page that an entry of a directory names. */
static struct hi_band_cell *cells_of(const struct hi_band_store *store, uint32_t entry)
{
	uint32_t page = (entry & ~CARRIED) - 1;

	return &store->cells.items[(size_t)page * HI_BIO_PAGE_PERIODS];
}

static struct hi_bio_amount *column_at(struct hi_band_store *store, uint32_t group,
				       unsigned column, uint64_t period)
{
	uint32_t entry = store->groups.items[group].items[period / HI_BIO_PAGE_PERIODS];

	return &cells_of(store, entry)[period % HI_BIO_PAGE_PERIODS].columns[column];
}

void hi_band_store_add(struct hi_band_store *store, uint32_t group, unsigned column,
		       uint64_t from, uint64_t to, uint64_t bytes)
{
	struct hi_bio_amount *amount;

	if (from >= to)
		return;
	amount = column_at(store, group, column, from);
	amount->bytes += bytes;
	amount->objects++;
	amount = column_at(store, group, column, to);
	amount->bytes -= bytes;
	amount->objects--;
}

bool hi_band_store_clone(const struct hi_band_store *store, struct hi_band_store *ret)
{
	struct hi_band_store copy = {};
	bool is_whole;

	is_whole =
		hi_vector_append(&copy.cells, store->cells.items, store->cells.count) &&
		(!store->groups.count ||
		 extend_groups(&copy, (uint32_t)store->groups.count - 1));
	for (size_t i = 0; is_whole && i < store->groups.count; i++)
		is_whole = hi_vector_append(&copy.groups.items[i],
					    store->groups.items[i].items,
					    store->groups.items[i].count);
	if (!is_whole)
		hi_band_store_free(&copy);
	else
		*ret = copy;
	return is_whole;
}

static void add_band_cell(struct hi_band_cell *to, const struct hi_band_cell *more)
{
	for (unsigned i = 0; i < HI_BIO_COLUMNS; i++) {
		to->columns[i].bytes += more->columns[i].bytes;
		to->columns[i].objects += more->columns[i].objects;
	}
}

static void sum_group(struct hi_band_store *store, struct hi_band_directory *pages)
{
	struct hi_band_cell sum = {};
	uint32_t last = 0;

	for (size_t i = 0; i < pages->count; i++) {
		struct hi_band_cell *cells;

		if (!pages->items[i]) {
			pages->items[i] = last ? last | CARRIED : 0;
			continue;
		}
		last = pages->items[i];
		cells = cells_of(store, last);
		for (unsigned k = 0; k < HI_BIO_PAGE_PERIODS; k++) {
			add_band_cell(&sum, &cells[k]);
			cells[k] = sum;
		}
	}
}

void hi_band_store_sum(struct hi_band_store *store)
{
	for (size_t i = 0; i < store->groups.count; i++)
		sum_group(store, &store->groups.items[i]);
}

const struct hi_band_cell *hi_band_store_at(const struct hi_band_store *store,
					    uint32_t group, uint64_t period)
{
	const struct hi_band_directory *pages;
	uint64_t place = period / HI_BIO_PAGE_PERIODS;
	uint32_t entry;

	if (group >= store->groups.count || !store->groups.items[group].count)
		return NULL;
	pages = &store->groups.items[group];
	/* Behind the last change everything stays as it is. */
	entry = place < pages->count ? pages->items[place]
				     : pages->items[pages->count - 1] | CARRIED;
	if (!(entry & ~CARRIED))
		return NULL;
	return &cells_of(store, entry)[entry & CARRIED ? HI_BIO_PAGE_PERIODS - 1
						       : period % HI_BIO_PAGE_PERIODS];
}

bool hi_band_store_balances(const struct hi_band_store *store, uint32_t group)
{
	struct hi_band_cell sum = {};
	uint64_t rest = 0;

	if (group >= store->groups.count)
		return true;
	for (size_t i = 0; i < store->groups.items[group].count; i++) {
		uint32_t entry = store->groups.items[group].items[i];

		for (unsigned k = 0; entry && k < HI_BIO_PAGE_PERIODS; k++)
			add_band_cell(&sum, &cells_of(store, entry)[k]);
	}
	for (unsigned i = 0; i < HI_BIO_COLUMNS; i++)
		rest |= sum.columns[i].bytes | sum.columns[i].objects;
	return !rest;
}

size_t hi_band_store_memory(const struct hi_band_store *store)
{
	size_t bytes = store->cells.capacity * sizeof(*store->cells.items) +
		       store->groups.capacity * sizeof(*store->groups.items);

	for (size_t i = 0; i < store->groups.count; i++)
		bytes += store->groups.items[i].capacity * sizeof(uint32_t);
	return bytes;
}

void hi_band_store_free(struct hi_band_store *store)
{
	for (size_t i = 0; i < store->groups.count; i++)
		hi_vector_free(&store->groups.items[i]);
	hi_vector_free(&store->groups);
	hi_vector_free(&store->cells);
}
