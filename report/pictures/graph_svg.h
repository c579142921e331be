/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stacked graph as one SVG file, which any browser shows: no script, no font and
 * no picture from elsewhere. Bands are <path class="band"> from the bottom to the
 * top of the stack; MARKs are dashed lines with their text; the legend stands below,
 * in the order of the stack, with whole names. Every figure of a band is in its
 * tooltip.
 */
#ifndef HI_REPORT_PICTURES_GRAPH_SVG_H
#define HI_REPORT_PICTURES_GRAPH_SVG_H

#include <stdio.h>

#include "report/pictures/bands.h"

/* Errors of the stream stay in it (ferror). HI_NO_MEMORY. */
enum hi_status hi_graph_svg_write(const struct hi_bands *bands, FILE *out,
				  struct hi_error *err);

/* A point of the curve that leads somewhere. */
struct hi_graph_link {
	double time, value;	   /* as those of the series */
	const char *href;	   /* raw, as the title; "#peak-1" */
	const char *label, *title; /* label: beside the point */
};
/* The same as an element of an HTML page, with links. */
enum hi_status hi_graph_svg_embed(const struct hi_bands *bands,
				  const struct hi_graph_link *links, size_t n_links,
				  FILE *out, struct hi_error *err);

/* What is drawn and what is not, in one line: "25 bands: 20 drawn, …". */
enum { HI_GRAPH_NOTE_SIZE = 400 };
void hi_graph_note(const struct hi_bands *bands, char out[HI_GRAPH_NOTE_SIZE]);

#endif
