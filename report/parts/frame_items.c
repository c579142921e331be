/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/frame_items.h"

#include <stdio.h>
#include <string.h>

static bool has_library(const struct hi_frame_item *item, const char *library)
{
	size_t n = strlen(library);

	for (const char *at = item->libraries; *at; at += strspn(at, ", ")) {
		size_t length = strcspn(at, ",");

		if (length == n && memcmp(at, library, n) == 0)
			return true;
		at += length;
	}
	return false;
}

static void add_library(struct hi_frame_item *item, const char *library)
{
	size_t n = strlen(item->libraries);

	if (has_library(item, library))
		return;
	snprintf(item->libraries + n, HI_FRAME_LIBRARIES_SIZE - n, "%s%s", n ? ", " : "",
		 library);
}

/* The item that a frame of a library is folded into; NULL: a new one. */
static struct hi_frame_item *open_fold(struct hi_frame_items *items)
{
	struct hi_frame_item *last =
		items->of.count ? &items->of.items[items->of.count - 1] : NULL;

	return items->folds && last && last->n_folded ? last : NULL;
}

void hi_frame_items_add(struct hi_frame_items *items, const struct hi_frame_row *row,
			uint32_t node, bool kept)
{
	struct hi_frame_item item = {.row = row, .node = node};
	char library[HI_FRAME_LIBRARY_SIZE];
	bool folded = items->folds && !kept && hi_frame_library(row, library);
	struct hi_frame_item *fold = folded ? open_fold(items) : NULL;

	if (fold) {
		fold->n_folded++;
		add_library(fold, library);
		return;
	}
	if (folded) {
		item.n_folded = 1;
		add_library(&item, library);
	}
	if (items->of.count >= HI_FRAME_ITEMS)
		items->left_out++;
	else
		items->failed |= !hi_vector_push(&items->of, item);
}

void hi_frame_items_add_context(struct hi_frame_items *items,
				const struct hi_context_view *contexts,
				const struct hi_frames *frames, uint32_t context,
				const struct hi_frame_row *kept)
{
	uint32_t node =
		context < contexts->n_contexts ? contexts->contexts[context].node : 0;

	for (unsigned n = 0; node && n < HI_STACK_FRAMES; n++) {
		uint32_t frame = contexts->nodes[node].frame;

		for (uint32_t k = frame < frames->n_frames ? frames->first[frame] : 0,
			      first = k;
		     frame < frames->n_frames && k < frames->first[frame + 1]; k++)
			hi_frame_items_add(items, &frames->rows[k], k == first ? node : 0,
					   &frames->rows[k] == kept);
		node = contexts->nodes[node].parent;
	}
}

/* ---- several stacks ---- */

static bool is_same_frame(const struct hi_frame_row *a, const struct hi_frame_row *b)
{
	return strcmp(a->function, b->function) == 0 && a->line == b->line &&
	       (a->line || a->offset == b->offset) && strcmp(a->file, b->file) == 0 &&
	       strcmp(a->module, b->module) == 0;
}

/* Adds each of the libraries of a list; returns whether one of them is new. */
static bool add_libraries(struct hi_frame_item *item, const char *list)
{
	bool is_new = false;

	for (const char *at = list; *at; at += strspn(at, ", ")) {
		char library[HI_FRAME_LIBRARIES_SIZE];
		size_t n = strcspn(at, ",");

		snprintf(library, sizeof(library), "%.*s", (int)n, at);
		is_new |= !has_library(item, library);
		add_library(item, library);
		at += n;
	}
	return is_new;
}

/* Returns whether the fold is shown in another way than before. */
static bool merge_folds(struct hi_frame_item *item, const struct hi_frame_item *more)
{
	size_t most = item->n_most ? item->n_most : item->n_folded;
	size_t least = item->n_folded < more->n_folded ? item->n_folded : more->n_folded;
	bool differs = add_libraries(item, more->libraries);

	differs |= most != more->n_folded || least != more->n_folded ||
		   (most == 1 && !is_same_frame(item->row, more->row));
	item->n_folded = least;
	if (differs)
		item->n_most = most > more->n_folded ? most : more->n_folded;
	return differs;
}

void hi_frame_items_merge(struct hi_frame_items *items, const struct hi_frame_items *more)
{
	size_t differing = 0; /* items up to the outermost fold that differs */

	items->failed |= more->failed;
	for (size_t i = 0; i < items->of.count && i < more->of.count; i++)
		if (items->of.items[i].n_folded && more->of.items[i].n_folded &&
		    merge_folds(&items->of.items[i], &more->of.items[i]))
			differing = i + 1;
	for (size_t i = 0; i < differing; i++)
		items->of.items[i].node = 0;
}

void hi_frame_items_free(struct hi_frame_items *items)
{
	hi_vector_free(&items->of);
}
