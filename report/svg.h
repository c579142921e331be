/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of SVG: escaped text, numbers independent of the locale, and the ticks of an
 * axis. */
#ifndef HI_REPORT_SVG_H
#define HI_REPORT_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Any bytes, as the text of an element or an attribute: valid XML 1.0. At most
 * `most` characters, then an ellipsis; 0: all. */
void hi_svg_text(FILE *out, const char *text, size_t most);
/* Two decimals at most: "12.5". */
void hi_svg_number(FILE *out, double number);
/* ` name="12.5"` */
void hi_svg_attribute(FILE *out, const char *name, double number);

/* ` x="1" y="2" width="3" height="4"` */
void hi_svg_box(FILE *out, double x, double y, double width, double height);
/* A point of a path: "L12.5 3". */
void hi_svg_point(FILE *out, char letter, double x, double y);
/* A <line>, and a newline; attributes: more of them, `class="axis"`. */
void hi_svg_line(FILE *out, const char *attributes, double x1, double y1, double x2,
		 double y2);
/* A <text> with what hi_svg_text() makes of a text. */
void hi_svg_label(FILE *out, const char *attributes, double x, double y, const char *text,
		  size_t most);
/* The colour of the i-th of bands, or of other things beside each other. */
const char *hi_svg_colour(size_t i);

struct hi_svg_unit {
	bool binary;	  /* bytes: powers of 1024 */
	const char *name; /* of a value that is no byte, for its title; raw */
};

/* "1.5 MiB", "3.0 MiB", "-12 B", "1,234". */
char *hi_svg_value(char out[40], double value, struct hi_svg_unit unit);
/* A value at an axis: "1.125 MiB", "3 MiB"; exact for multiples of 1/8. */
char *hi_svg_axis_value(char out[40], double value, struct hi_svg_unit unit);
/* The distance of ticks: at most `most` of them from 0 to range; of 1-2-5, or for
 * bytes a power of two. At least 1 for values (whole = true). */
double hi_svg_step(double range, unsigned most, bool binary, bool whole);
/* As many decimals as the step needs: "0.25", "1,500". */
char *hi_svg_tick(char out[40], double value, double step);

#endif
