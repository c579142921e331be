/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/pages_kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Of its texts, items and cells. */
static size_t measure_kept_page(const struct hi_page *page)
{
	size_t bytes = sizeof(*page) + page->arena.used +
		       page->items.capacity * sizeof(*page->items.items);

	for (size_t i = 0; i < page->tables.count; i++)
		bytes += page->tables.items[i]->cells.capacity *
			 sizeof(*page->tables.items[i]->cells.items);
	return bytes;
}

static void forget_page(struct hi_pages_kept *kept, struct hi_pages_kept_page *at)
{
	kept->bytes -= at->bytes;
	hi_page_destroy(at->page);
	free(at->address);
	*at = (struct hi_pages_kept_page){};
}

struct hi_page *hi_pages_kept_find(struct hi_pages_kept *kept, const char *address)
{
	for (size_t i = 0; i < HI_PAGES_KEPT; i++) {
		struct hi_pages_kept_page *at = &kept->items[i];

		if (!at->page || strcmp(at->address, address) != 0)
			continue;
		at->used = ++kept->clock;
		return at->page;
	}
	return NULL;
}

/* NULL: all are empty. */
static struct hi_pages_kept_page *find_oldest_page(struct hi_pages_kept *kept)
{
	struct hi_pages_kept_page *oldest = NULL;

	for (size_t i = 0; i < HI_PAGES_KEPT; i++) {
		struct hi_pages_kept_page *at = &kept->items[i];

		if (at->page && (!oldest || at->used < oldest->used))
			oldest = at;
	}
	return oldest;
}

static struct hi_pages_kept_page *find_empty_place(struct hi_pages_kept *kept)
{
	for (size_t i = 0; i < HI_PAGES_KEPT; i++)
		if (!kept->items[i].page)
			return &kept->items[i];
	return NULL;
}

bool hi_pages_kept_add(struct hi_pages_kept *kept, const char *address,
		       struct hi_page *page)
{
	size_t bytes = measure_kept_page(page);
	struct hi_pages_kept_page *at = NULL;
	char *copy;

	if (bytes > HI_PAGES_KEPT_BYTES / 4)
		return false;
	copy = hi_strdup(address);
	if (!copy)
		return false;
	while (kept->bytes + bytes > HI_PAGES_KEPT_BYTES ||
	       !(at = find_empty_place(kept)))
		forget_page(kept, find_oldest_page(kept));
	*at = (struct hi_pages_kept_page){copy, page, bytes, ++kept->clock};
	kept->bytes += bytes;
	return true;
}

void hi_pages_kept_free(struct hi_pages_kept *kept)
{
	for (size_t i = 0; i < HI_PAGES_KEPT; i++)
		if (kept->items[i].page)
			forget_page(kept, &kept->items[i]);
}
