/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars of the report `alloc` as a picture: horizontal, each with its name. */
#include <string.h>

#include "base/text.h"
#include "report/reports/alloc/alloc_bars.h"
#include "report/reports/alloc/mlworks.h"
#include "report/svg.h"

/* Pixels. */
enum {
	WIDTH = 1000,
	LEFT = 320,
	PLOT = 480,
	TOP = 84,
	BAR = 20, /* as the tool of MLWorks has it, and 100 between ticks at most */
	GAP = 6,
	BELOW = 40,
	LETTERS = 40, /* of a name */
	TICKS = 10,
	MOST_TICKS = 100,
};

static const char *const space_colour = "#4e79a7", *const time_colour = "#f28e2b";

struct bars_picture {
	const struct hi_alloc_report *report;
	const struct hi_alloc_bars *bars;
	FILE *out;
	double top, step; /* of the axis, per cent */
	bool links;
};

static double length_in_picture(const struct bars_picture *p, double height)
{
	return height / p->top * PLOT;
}

static void put_rectangle(FILE *out, double x, double y, double width, const char *colour)
{
	fputs("<rect", out);
	hi_svg_box(out, x, y, width, BAR);
	fprintf(out, " fill=\"%s\"/>", colour);
}

static void put_bar(const struct bars_picture *p, size_t i)
{
	const struct hi_alloc_bar *bar = &p->bars->items[i];
	const struct hi_alloc_function *f = bar->function;
	const char *name = *f->name ? f->name : "(no stack)";
	double y = TOP + (double)i * (BAR + GAP), text_y = y + BAR - 5,
	       time = length_in_picture(p, bar->time),
	       space = length_in_picture(p, bar->space);
	char bytes[32], figures[96];

	hi_mlworks_bytes(bytes, hi_space_at_age(&f->all, 0).size);
	snprintf(figures, sizeof(figures), "%.2f %%, %s", hi_alloc_bar_height(bar),
		 bytes);
	if (p->links)
		fprintf(p->out, "<a href=\"#function-%zu\">",
			(size_t)(f - p->report->functions) + 1);
	fputs("<g class=\"bar\"><title>", p->out);
	hi_svg_text(p->out, name, 0);
	fputs("\n", p->out);
	hi_svg_text(p->out, *f->file ? f->file : f->module, 0);
	fprintf(p->out, "\n%s</title>", figures);
	hi_svg_label(p->out, "text-anchor=\"end\"", LEFT - 8, text_y, name, LETTERS);
	put_rectangle(p->out, LEFT, y, time, time_colour);
	put_rectangle(p->out, LEFT + time, y, space, space_colour);
	hi_svg_label(p->out, "text-anchor=\"start\"", LEFT + time + space + 6, text_y,
		     figures, 0);
	fputs(p->links ? "</g></a>\n" : "</g>\n", p->out);
}

static double bottom_of_bars(const struct bars_picture *p)
{
	return TOP + (double)p->bars->n * (BAR + GAP);
}

static void put_axis(const struct bars_picture *p)
{
	double bottom = bottom_of_bars(p);
	char text[40];

	for (unsigned i = 0; i <= MOST_TICKS && i * p->step <= p->top * 1.0001; i++) {
		double x = LEFT + length_in_picture(p, i * p->step);

		hi_svg_line(p->out, "class=\"tick\"", x, TOP - 6, x, bottom);
		hi_svg_label(p->out, "text-anchor=\"middle\"", x, bottom + 16,
			     hi_svg_tick(text, i * p->step, p->step), 0);
	}
}

static void put_heads(const struct bars_picture *p)
{
	const struct hi_alloc_report *r = p->report;
	const char *note = hi_alloc_bars_note(r), *slash = strrchr(r->exe, '/');
	char title[600], line[300], count[32];

	snprintf(title, sizeof(title), "%.400s, pid %d: time and space by function",
		 slash ? slash + 1 : r->exe, r->pid);
	fprintf(p->out, "<title>");
	hi_svg_text(p->out, title, 0);
	fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
	      "<g font-size=\"16\">",
	      p->out);
	hi_svg_label(p->out, "text-anchor=\"start\"", 16, 28, title, 110);
	fputs("</g>\n", p->out);
	snprintf(line, sizeof(line),
		 "height in %%: %.0f %% of it are of space (blue), by alloc, the rest of "
		 "time (orange)",
		 100 * r->weight);
	hi_svg_label(p->out, "text-anchor=\"start\"", 16, 50, line, 0);
	if (*note)
		hi_svg_label(p->out, "text-anchor=\"start\"", 16, 68, note, 0);
	else if (p->bars->n_left_out) {
		snprintf(line, sizeof(line), "%s more functions, with less height",
			 hi_text_count(count, p->bars->n_left_out));
		hi_svg_label(p->out, "text-anchor=\"start\"", 16, 68, line, 0);
	}
}

static void draw_bars_picture(const struct bars_picture *p)
{
	double height = bottom_of_bars(p) + BELOW;

	fprintf(p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%.0f\" viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" "
		"font-size=\"13\">\n"
		"<style>.tick{stroke:#ccc;stroke-width:1}</style>\n",
		WIDTH, height, WIDTH, height);
	put_heads(p);
	put_axis(p);
	for (size_t i = 0; i < p->bars->n; i++)
		put_bar(p, i);
	fputs("</svg>\n", p->out);
}

static enum hi_status write_bars_svg(const struct hi_alloc_report *report, bool links,
				     FILE *out, struct hi_error *err)
{
	struct hi_alloc_bars bars;
	struct hi_arena arena = {};
	struct bars_picture p = {
		.report = report, .bars = &bars, .out = out, .links = links};

	if (!hi_alloc_bars_choose(report, &arena, &bars)) {
		hi_arena_free(&arena);
		return hi_fail_memory(err, "bars");
	}
	p.step = hi_svg_step(bars.highest > 0 ? bars.highest : 1, TICKS, false, false);
	p.top = bars.highest > 0 ? bars.highest : 1;
	draw_bars_picture(&p);
	hi_arena_free(&arena);
	return HI_OK;
}

enum hi_status hi_alloc_bars_svg(const struct hi_alloc_report *report, FILE *out,
				 struct hi_error *err)
{
	return write_bars_svg(report, false, out, err);
}

enum hi_status hi_alloc_bars_svg_linked(const struct hi_alloc_report *report, FILE *out,
					struct hi_error *err)
{
	return write_bars_svg(report, true, out, err);
}
