/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/pictures/treemap.h"

/* ---- filling ---- */

static const char *keep_picture_text(struct hi_page *page, const char *text)
{
	const char *copy = text && *text ? hi_arena_strdup(&page->arena, text) : "";

	if (!copy)
		page->failed = true;
	return copy ? copy : "";
}

struct hi_page_picture *hi_page_picture(struct hi_page *page,
					enum hi_page_picture_shape shape,
					const char *label, const char *caption)
{
	/* What cannot be kept is filled in vain; the page has failed anyway. */
	static struct hi_page nowhere = {.failed = true};
	static struct hi_page_picture sink;
	struct hi_page_picture *p = hi_arena_alloc(&page->arena, sizeof(*p));
	bool is_bands = shape == HI_PAGE_BANDS;

	if (p) {
		*p = (struct hi_page_picture){.shape = shape, .page = page};
		p->label = keep_picture_text(page, label);
		p->caption = keep_picture_text(page, caption);
		p->time_unit = "";
		p->boxes = is_bands ? NULL
				    : hi_arena_alloc(&page->arena,
						     HI_PAGE_BOXES * sizeof(*p->boxes));
		p->bands = is_bands
				   ? hi_arena_alloc(&page->arena,
						    HI_PAGE_BANDS_MAX * sizeof(*p->bands))
				   : NULL;
		p->marks = is_bands
				   ? hi_arena_alloc(&page->arena,
						    HI_PAGE_MARKS_MAX * sizeof(*p->marks))
				   : NULL;
	}
	if (!p || !(is_bands ? p->bands && p->marks : p->boxes != NULL)) {
		page->failed = true;
		sink = (struct hi_page_picture){.shape = shape,
						.label = "",
						.caption = "",
						.time_unit = "",
						.page = &nowhere};
		return &sink;
	}
	hi_page_add_picture(page, p);
	return p;
}

int32_t hi_page_box(struct hi_page_picture *p, int32_t parent,
		    const struct hi_page_box *box)
{
	bool is_whole = parent == HI_PAGE_BOX_NONE;
	struct hi_page_box *copy;

	if (p->page->failed || p->shape == HI_PAGE_BANDS)
		return HI_PAGE_BOX_NONE;
	if (p->n_boxes == HI_PAGE_BOXES) {
		p->n_left_out++;
		return HI_PAGE_BOX_NONE;
	}
	if (is_whole != (p->n_boxes == 0) || parent >= (int32_t)p->n_boxes ||
	    parent < HI_PAGE_BOX_NONE)
		return HI_PAGE_BOX_NONE;
	copy = &p->boxes[p->n_boxes];
	*copy = *box;
	copy->label = keep_picture_text(p->page, box->label);
	copy->title = keep_picture_text(p->page, box->title);
	copy->link = keep_picture_text(p->page, box->link);
	copy->module = keep_picture_text(p->page, box->module);
	copy->parent = parent;
	copy->depth = is_whole ? 0 : p->boxes[parent].depth + 1;
	return (int32_t)p->n_boxes++;
}

void hi_page_picture_times(struct hi_page_picture *p, const double *times, size_t n,
			   const char *unit)
{
	if (p->page->failed || p->shape != HI_PAGE_BANDS)
		return;
	p->times = hi_arena_alloc(&p->page->arena, (n + 1) * sizeof(*times));
	if (!p->times) {
		p->page->failed = true;
		return;
	}
	if (n)
		memcpy(p->times, times, n * sizeof(*times));
	p->n_times = n;
	p->time_unit = keep_picture_text(p->page, unit);
}

void hi_page_band(struct hi_page_picture *p, const struct hi_page_band *band)
{
	struct hi_page_band copy = *band;

	if (p->page->failed || p->n_bands == HI_PAGE_BANDS_MAX || !p->bands)
		return;
	copy.values =
		hi_arena_alloc(&p->page->arena, (p->n_times + 1) * sizeof(*copy.values));
	if (!copy.values) {
		p->page->failed = true;
		return;
	}
	if (p->n_times)
		memcpy(copy.values, band->values, p->n_times * sizeof(*copy.values));
	copy.label = keep_picture_text(p->page, band->label);
	copy.title = keep_picture_text(p->page, band->title);
	copy.link = keep_picture_text(p->page, band->link);
	p->bands[p->n_bands++] = copy;
}

void hi_page_picture_mark(struct hi_page_picture *p, const struct hi_page_mark *mark)
{
	struct hi_page_mark copy = *mark;

	if (p->page->failed || p->n_marks == HI_PAGE_MARKS_MAX || !p->marks)
		return;
	copy.label = keep_picture_text(p->page, mark->label);
	copy.title = keep_picture_text(p->page, mark->title);
	copy.link = keep_picture_text(p->page, mark->link);
	p->marks[p->n_marks++] = copy;
}

/* ---- layout ---- */

void hi_page_layout_free(struct hi_page_layout *layout)
{
	free(layout->places);
	free(layout->order);
	*layout = (struct hi_page_layout){};
}

/* The boxes level by level, siblings by bytes, as the layout of treemaps wants them. */
struct arranging {
	const struct hi_page_picture *picture;
	double *bytes;	 /* by box; not less than what is in it */
	uint32_t *first; /* children of i: child[first[i] .. first[i + 1]) */
	int32_t *child;
	struct hi_picture_node *nodes;
	struct hi_treemap_box *boxes; /* by node */
};

/* Numbers that are too large for sums are made smaller, all of them alike. */
static void sum_boxes(struct arranging *a)
{
	size_t n = a->picture->n_boxes;
	double most = 0, scale;

	for (size_t i = 0; i < n; i++)
		a->bytes[i] = (double)a->picture->boxes[i].bytes;
	for (size_t i = n; i-- > 0;) {
		double inside = 0;

		for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++)
			inside += a->bytes[a->child[k]];
		a->bytes[i] = fmax(a->bytes[i], inside);
		most = fmax(most, a->bytes[i]);
	}
	scale = most > 0x1p52 ? 0x1p52 / most : 1;
	for (size_t i = 0; i < n; i++)
		a->bytes[i] *= scale;
}

static void list_boxes_inside(struct arranging *a)
{
	const struct hi_page_picture *p = a->picture;

	for (size_t i = 1; i < p->n_boxes; i++)
		a->first[p->boxes[i].parent + 1]++;
	for (size_t i = 0; i < p->n_boxes; i++)
		a->first[i + 1] += a->first[i];
	/* From the back, so that siblings keep their order. */
	for (size_t i = p->n_boxes; i-- > 1;) {
		uint32_t *end = &a->first[p->boxes[i].parent + 1];

		a->child[--*end] = (int32_t)i;
	}
	/* Each end is the beginning now, one too far to the right. */
	memmove(a->first, a->first + 1, p->n_boxes * sizeof(*a->first));
	a->first[p->n_boxes] = (uint32_t)p->n_boxes - 1;
}

static int by_bytes_of_box(const void *a, const void *b, void *arg)
{
	const double *bytes = arg;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return bytes[x] != bytes[y] ? (bytes[x] < bytes[y] ? 1 : -1) : (x > y) - (x < y);
}

/* Fills in order and nodes: the list is the queue. */
static void arrange_boxes(struct arranging *a, int32_t *order)
{
	size_t n = a->picture->n_boxes, end = 1;

	order[0] = 0;
	for (size_t at = 0; at < n; at++) {
		int32_t box = order[at];
		uint32_t first = a->first[box], count = a->first[box + 1] - first;
		struct hi_picture_node *node = &a->nodes[at];

		qsort_r(&a->child[first], count, sizeof(*a->child), by_bytes_of_box,
			a->bytes);
		node->bytes = (uint64_t)a->bytes[box];
		node->depth = a->picture->boxes[box].depth;
		node->children = (int32_t)end;
		node->after = (int32_t)end;
		for (uint32_t k = 0; k < count; k++) {
			order[end++] = a->child[first + k];
			/* What has no bytes is last, and has no place. */
			if ((uint64_t)a->bytes[a->child[first + k]])
				node->after = (int32_t)end;
		}
	}
}

static void place_treemap(struct arranging *a, struct hi_page_layout *layout)
{
	struct hi_picture tree = {.nodes = a->nodes, .count = layout->count};

	layout->height =
		a->picture->height > 0 ? a->picture->height : HI_PAGE_TREEMAP_HEIGHT;
	hi_treemap_lay_out(&tree, layout->width, layout->height, a->boxes);
	for (size_t i = 0; i < layout->count; i++)
		layout->places[layout->order[i]] = (struct hi_page_place){
			.x = a->boxes[i].x,
			.y = a->boxes[i].y,
			.width = a->boxes[i].width,
			.height = a->boxes[i].height,
			.has_strip = a->boxes[i].has_strip,
			.is_leaf = a->nodes[i].children == a->nodes[i].after};
}

static const double least_width = 0.3;

static void place_flame(struct arranging *a, struct hi_page_layout *layout)
{
	double all = a->bytes[0];
	uint32_t deepest = 0;

	layout->places[0] = (struct hi_page_place){.width = layout->width,
						   .height = HI_PAGE_FLAME_ROW};
	for (size_t i = 0; i < layout->count; i++) {
		struct hi_page_place *place = &layout->places[layout->order[i]];
		double x = place->x;

		place->has_strip = place->width > 0;
		place->is_leaf = a->nodes[i].children == a->nodes[i].after;
		if (place->width > 0 && a->nodes[i].depth > deepest)
			deepest = a->nodes[i].depth;
		for (int32_t k = a->nodes[i].children; k < a->nodes[i].after; k++) {
			int32_t box = layout->order[k];
			double width = all > 0 ? a->bytes[box] / all * layout->width : 0;
			bool is_deep = a->nodes[k].depth >= HI_PAGE_FLAME_DEPTH;

			layout->too_deep += is_deep;
			if (place->width > 0 && width >= least_width && !is_deep)
				layout->places[box] = (struct hi_page_place){
					.x = x,
					.y = a->nodes[k].depth * HI_PAGE_FLAME_ROW,
					.width = width,
					.height = HI_PAGE_FLAME_ROW};
			x += width;
		}
	}
	layout->height = (deepest + 1) * HI_PAGE_FLAME_ROW;
}

enum hi_status hi_page_lay_out(const struct hi_page_picture *p,
			       struct hi_page_layout *ret, struct hi_error *err)
{
	size_t n = p->n_boxes;
	HI_GUARD(free) double *bytes = hi_calloc(n + 1, sizeof(*bytes));
	HI_GUARD(free) uint32_t *first = hi_calloc(n + 2, sizeof(*first));
	HI_GUARD(free) int32_t *child = hi_calloc(n + 1, sizeof(*child));
	HI_GUARD(free) struct hi_picture_node *nodes = hi_calloc(n + 1, sizeof(*nodes));
	HI_GUARD(free) struct hi_treemap_box *boxes = hi_calloc(n + 1, sizeof(*boxes));
	struct arranging a = {p, bytes, first, child, nodes, boxes};
	struct hi_page_layout layout = {.width = HI_PAGE_PICTURE_WIDTH, .count = n};
	HI_GUARD(hi_page_layout_free) struct hi_page_layout *guard = &layout;

	layout.places = hi_calloc(n + 1, sizeof(*layout.places));
	layout.order = hi_calloc(n + 1, sizeof(*layout.order));
	if (!bytes || !first || !child || !nodes || !boxes || !layout.places ||
	    !layout.order)
		return hi_fail_memory(err, "picture");
	if (n) {
		list_boxes_inside(&a);
		sum_boxes(&a);
		arrange_boxes(&a, layout.order);
		(p->shape == HI_PAGE_FLAME ? place_flame : place_treemap)(&a, &layout);
	}
	*ret = layout;
	layout = (struct hi_page_layout){};
	(void)guard;
	return HI_OK;
}
