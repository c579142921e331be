/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/treemap.h"

#include <math.h>

enum {
	STRIP_WIDTH = 40, /* a box that is smaller has no strip */
	STRIP_HEIGHT = 34,
	LEAST_AREA = 9,
};

/* What is left of a box, and the bytes that go there. */
struct space {
	double x, y, width, height;
	double bytes;
};

/* The worst ratio of sides when these bytes are a row along the shorter side. */
static double worst_ratio(const struct space *s, double row, double least, double most)
{
	double side = fmin(s->width, s->height);
	double thick = s->width * s->height * row / s->bytes / side;
	double length = side / row;

	return fmax(fmax(most * length / thick, thick / (most * length)),
		    fmax(least * length / thick, thick / (least * length)));
}

/* Places children [from, to) as one row along the shorter side, and takes it away. */
static void place_row(const struct hi_picture *p, struct space *s, int32_t from,
		      int32_t to, double row, struct hi_treemap_box *boxes)
{
	bool upright = s->width >= s->height;
	double share = row / s->bytes, along = upright ? s->y : s->x;
	double thick = (upright ? s->width : s->height) * share;

	for (int32_t i = from; i < to; i++) {
		double length = (upright ? s->height : s->width) *
				((double)p->nodes[i].bytes / row);

		boxes[i] = (struct hi_treemap_box){
			.x = upright ? s->x : along,
			.y = upright ? along : s->y,
			.width = upright ? thick : length,
			.height = upright ? length : thick,
		};
		along += length;
	}
	s->bytes -= row;
	s->x += upright ? thick : 0;
	s->y += upright ? 0 : thick;
	s->width -= upright ? thick : 0;
	s->height -= upright ? 0 : thick;
}

/* What is the parent's own, or too small, stays free at the end. */
static void fill_box(const struct hi_picture *p, struct space s, int32_t from,
		     int32_t after, struct hi_treemap_box *boxes)
{
	while (from < after && s.width > 0 && s.height > 0 && s.bytes > 0) {
		double first = (double)p->nodes[from].bytes, row = first;
		int32_t to = from + 1;

		while (to < after) {
			double next = (double)p->nodes[to].bytes;

			if (worst_ratio(&s, row + next, next, first) >
			    worst_ratio(&s, row, (double)p->nodes[to - 1].bytes, first))
				break;
			row += next;
			to++;
		}
		place_row(p, &s, from, to, row, boxes);
		from = to;
	}
}

void hi_treemap_lay_out(const struct hi_picture *picture, double width, double height,
			struct hi_treemap_box *boxes)
{
	for (size_t i = 0; i < picture->count; i++)
		boxes[i] = (struct hi_treemap_box){};
	boxes[0] = (struct hi_treemap_box){.width = width, .height = height};
	for (size_t i = 0; i < picture->count; i++) {
		const struct hi_picture_node *node = &picture->nodes[i];
		struct hi_treemap_box *box = &boxes[i];
		struct space s = {box->x, box->y, box->width, box->height,
				  (double)node->bytes};

		if (box->width * box->height < LEAST_AREA) {
			*box = (struct hi_treemap_box){};
			continue;
		}
		if (node->children >= node->after)
			continue;
		box->has_strip = box->width >= STRIP_WIDTH && box->height >= STRIP_HEIGHT;
		if (box->has_strip) {
			s.y += HI_TREEMAP_STRIP;
			s.height -= HI_TREEMAP_STRIP;
		}
		fill_box(picture, s, node->children, node->after, boxes);
	}
}
