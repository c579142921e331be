/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures of pages, in no particular format: boxes in boxes (a treemap, a flame graph),
 * or bands over time. What shows a page draws them (render/html_picture.h) or leaves
 * them out, as text does; so a table beside a picture says the same in words.
 *
 *	struct hi_page_picture *p = hi_page_picture(page, HI_PAGE_TREEMAP, "…", "…");
 *	int32_t top = hi_page_box(p, HI_PAGE_BOX_NONE, &(struct hi_page_box){…});
 *	hi_page_box(p, top, &(struct hi_page_box){…});
 *
 * All texts are safe (hi_page_safe) and copied. Out of memory sets page->failed.
 */
#ifndef HI_REPORT_PICTURES_PICTURE_H
#define HI_REPORT_PICTURES_PICTURE_H

#include "base/cleanup.h"
#include "report/display.h"
#include "report/pictures/heap_picture.h"

enum hi_page_picture_shape {
	HI_PAGE_TREEMAP, /* a box in its parent's, area is bytes */
	HI_PAGE_FLAME,	 /* a level is a row, width is bytes */
	HI_PAGE_BANDS,	 /* stacked, over time */
	HI_PAGE_DONUT,	 /* boxes of the whole are parts of a ring */
	HI_PAGE_BARS,	 /* boxes of the whole are bars beside each other, in order */
};

enum {
	HI_PAGE_BOXES = 1500, /* of a picture, at most */
	HI_PAGE_BANDS_MAX = 40,
	HI_PAGE_MARKS_MAX = 40,
	HI_PAGE_TIMES_MAX =
		2000, /* more are thinned out: the highest of each few stays */
	HI_PAGE_BOX_NONE = -1,
};

struct hi_page_box {
	const char *label;  /* in the box, cut to its width */
	const char *title;  /* its whole name; in more lines all about it */
	const char *link;   /* address of a page (address.h); NULL, "": none */
	const char *module; /* of a function, which has its colour; NULL, "": none */
	uint64_t bytes;	    /* with all boxes in it */
	enum hi_picture_kind kind;
	/* Filled in by hi_page_box(). */
	int32_t parent;
	uint32_t depth;
};

struct hi_page_band {
	const char *label, *title, *link; /* as of a box */
	double *values;			  /* one a time */
};

/* A moment, or a point of the curve, that leads somewhere. */
struct hi_page_mark {
	double time, value; /* value: NAN: a moment */
	const char *label, *title, *link;
};

struct hi_page_picture {
	enum hi_page_picture_shape shape;
	const char *label;   /* what it shows, in a sentence */
	const char *caption; /* below it */
	struct hi_page *page;
	double height;	   /* of a treemap; 0: HI_PAGE_TREEMAP_HEIGHT */
	bool is_of_counts; /* bytes of boxes are numbers of something else */
	/* All but BANDS: parents before children. */
	struct hi_page_box *boxes;
	size_t n_boxes;
	size_t n_left_out; /* boxes that were too many */
	/* BANDS: from the bottom of the stack to its top. */
	const char *time_unit; /* "s"; a word */
	double *times;
	size_t n_times;
	struct hi_page_band *bands;
	size_t n_bands;
	struct hi_page_mark *marks;
	size_t n_marks;
};

/* Adds a picture to the page. Never NULL. */
struct hi_page_picture *hi_page_picture(struct hi_page *page,
					enum hi_page_picture_shape shape,
					const char *label, const char *caption);
/* Adds a box into that one; into HI_PAGE_BOX_NONE: the whole, which is the first and the
 * only one of this kind. Returns its number; HI_PAGE_BOX_NONE: they are too many, or its
 * parent is none. */
int32_t hi_page_box(struct hi_page_picture *picture, int32_t parent,
		    const struct hi_page_box *box);
/* Of bands: sets the times, which ascend. */
void hi_page_picture_times(struct hi_page_picture *picture, const double *times, size_t n,
			   const char *unit);
/* Adds a band on top of the others; values: one a time. */
void hi_page_band(struct hi_page_picture *picture, const struct hi_page_band *band);
void hi_page_picture_mark(struct hi_page_picture *picture,
			  const struct hi_page_mark *mark);

/* ---- where boxes lie ---- */

struct hi_page_place {
	double x, y, width, height; /* width 0: too small, not drawn */
	bool has_strip;		    /* a name may stand above what is in it */
	bool is_leaf;
};
struct hi_page_layout {
	double width, height;
	struct hi_page_place *places; /* by box */
	int32_t *order;		      /* boxes, parents before children */
	size_t count;		      /* in order */
	size_t too_deep; /* boxes of a flame graph that are too deep to draw */
};

enum {
	HI_PAGE_PICTURE_WIDTH = 1000,
	HI_PAGE_TREEMAP_HEIGHT = 520,
	HI_PAGE_FLAME_ROW = 18,
	HI_PAGE_FLAME_DEPTH = 80,
};

/* Siblings have areas (widths, in a flame graph) in proportion to their bytes and do not
 * overlap; each box lies in its parent. HI_NO_MEMORY: nothing is kept. */
enum hi_status hi_page_lay_out(const struct hi_page_picture *picture,
			       struct hi_page_layout *ret, struct hi_error *err);
void hi_page_layout_free(struct hi_page_layout *layout);
HI_DEFINE_GUARD(struct hi_page_layout *, hi_page_layout_free)

#endif
