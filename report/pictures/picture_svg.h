/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture of a heap as one SVG file: nothing from elsewhere, and a script of its own
 * that searches, zooms and shows what the mouse points at. Where scripts are not run
 * (an <img>, a viewer) the picture is complete, with its titles; the script only adds.
 * All text of the target is text of the document, never of the script.
 *
 * Every node is <svg class="f kN" data-p="PARENT" data-b="BYTES">, N its kind, in the
 * order of the picture: parents before children.
 */
#ifndef HI_REPORT_PICTURES_PICTURE_SVG_H
#define HI_REPORT_PICTURES_PICTURE_SVG_H

#include <stdio.h>

#include "report/pictures/heap_picture.h"

enum hi_picture_shape {
	HI_PICTURE_FLAME,   /* an icicle: a level is a row, width is bytes */
	HI_PICTURE_TREEMAP, /* a box in its parent's, area is bytes */
};

/* Errors of the stream stay in it (ferror). HI_NO_MEMORY. */
enum hi_status hi_picture_svg_write(const struct hi_picture *picture,
				    enum hi_picture_shape shape, FILE *out,
				    struct hi_error *err);

#endif
