/* SPDX-License-Identifier: BSD-2-Clause */
/* The boxes of a treemap: squarified (Bruls, Huizing, van Wijk), with a strip for the
 * name on top of a box that has children and is large enough. */
#ifndef HI_REPORT_PICTURES_TREEMAP_H
#define HI_REPORT_PICTURES_TREEMAP_H

#include "report/pictures/heap_picture.h"

struct hi_treemap_box {
	double x, y, width, height; /* width 0: not drawn, too small */
	bool has_strip;
};

enum { HI_TREEMAP_STRIP = 15 };

/* Fills in one box a node, for a picture of this size: siblings have areas in proportion
 * to their bytes, and lie in the box of their parent, below its strip. */
void hi_treemap_lay_out(const struct hi_picture *picture, double width, double height,
			struct hi_treemap_box *boxes);

#endif
