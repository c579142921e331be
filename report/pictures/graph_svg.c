/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/graph_svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/svg.h"
#include "report/type_name.h"

enum {
	WIDTH = 1240,
	LEFT = 84,
	TOP = 76,
	PLOT_WIDTH = 1120,
	PLOT_HEIGHT = 440,
	/* Below the plot: axis, notes, and the legend, whose figures come first, so that
	 * names have the rest of the line. */
	LEGEND_TOP = 106,
	LEGEND_MEAN = LEFT + 96, /* right ends of the columns */
	LEGEND_SHARE = LEFT + 142,
	LEGEND_LAST = LEFT + 226,
	LEGEND_SLOPE = LEFT + 326,
	LEGEND_NAME = LEFT + 342,
	NAME_LINE = 118, /* characters of a line of a name */
	NAME_LINES = 6,
	ROW = 20,
	NAME_ROW = 15,
	BELOW = 30,
	COLUMNS = 2000,	 /* samples that are drawn */
	TICKS_MAX = 300, /* samples that get a tick of their own */
	MARK_ROWS = 6,	 /* texts of marks, one below the other where they would touch */
	MARK_TEXT = 40,	 /* characters */
	TEXT_SIZE = 4096,
};
static const double character = 6.8; /* px of one */

/* Neighbours differ in hue and in lightness, so that they also differ for red-green
 * colour blindness. */
static const char *const palette[] = {
	"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1",
	"#9c755f", "#1f5a8a", "#ff9da7", "#86bc40", "#8c3b4a", "#a0cbe8", "#b8860b",
	"#2f6b4f", "#d4a6c8", "#6b5b95", "#ffbe7d", "#499894", "#d37295",
};
enum { COLOURS = sizeof(palette) / sizeof(palette[0]) };
static const char other_colour[] = "#bab0ac";

struct picture {
	const struct hi_bands *bands;
	FILE *out;
	struct hi_svg_unit unit;
	double x_from, x_to, y_top, y_step, height;
	size_t *drawn; /* samples */
	size_t n_drawn;
	double *below; /* of a drawn sample: the bands that are drawn already */
	bool is_embedded;
	const struct hi_graph_link *links;
	size_t n_links;
};

static const char *colour_of(const struct hi_band *band)
{
	return band->colour < 0 ? other_colour : palette[band->colour % COLOURS];
}

static double x_of(const struct picture *p, double time)
{
	return LEFT + (time - p->x_from) / (p->x_to - p->x_from) * PLOT_WIDTH;
}

static double y_of(const struct picture *p, double value)
{
	return TOP + p->height - value / p->y_top * p->height;
}

static double time_of(const struct picture *p, size_t sample)
{
	return p->bands->series->times[p->bands->first + sample];
}

static void put_point(const struct picture *p, char letter, double x, double y)
{
	putc(letter, p->out);
	hi_svg_number(p->out, x);
	putc(' ', p->out);
	hi_svg_number(p->out, y);
}

/* Where no time passes, the samples fill the width: else nothing would be seen. */
static double drawn_x(const struct picture *p, size_t i)
{
	if (p->bands->x_to > p->bands->x_from)
		return x_of(p, time_of(p, p->drawn[i]));
	return i == 0 ? LEFT : LEFT + PLOT_WIDTH;
}

static double total_at(const struct hi_bands *bands, size_t sample)
{
	double total = 0;

	for (size_t i = 0; i < bands->count; i++)
		total += bands->items[i].values[sample];
	return total;
}

/* All samples, or of each column's the highest. */
static enum hi_status choose_samples(struct picture *p, struct hi_error *err)
{
	size_t n = p->bands->n_samples, wide = (n + COLUMNS - 1) / COLUMNS;

	p->drawn = hi_calloc(n / wide + 4, sizeof(*p->drawn));
	p->below = hi_calloc(n / wide + 4, sizeof(*p->below));
	if (!p->drawn || !p->below)
		return hi_fail_memory(err, "graph");
	if (n == 1)
		p->n_drawn = 1; /* begins and ends */
	for (size_t i = 0; i < n; i += wide) {
		size_t best = i;

		for (size_t k = i; wide > 1 && k < n && k < i + wide; k++)
			if (total_at(p->bands, k) > total_at(p->bands, best))
				best = k;
		if (i == 0)
			best = 0;
		p->drawn[p->n_drawn++] = best;
	}
	if (p->drawn[p->n_drawn - 1] != n - 1)
		p->drawn[p->n_drawn++] = n - 1;
	return HI_OK;
}

/* Where no time passes, areas are 0. */
static double share_of(const struct hi_bands *bands, double area, double value)
{
	return bands->total_area > 0 ? area / bands->total_area
	       : bands->total_peak > 0 && bands->n_samples == 1
		       ? value / bands->total_peak
		       : 0;
}

static void put_share(char out[40], double share)
{
	double percent = share * 100;

	if (percent > 0 && percent < 0.05)
		strcpy(out, "<0.1");
	else
		hi_svg_tick(out, percent, 0.1);
}

static char *slope_text(const struct picture *p, char out[40], double slope)
{
	char value[40];

	hi_svg_value(value, slope, p->unit);
	snprintf(out, 40, "%s%.34s", slope > 0 ? "+" : "", value);
	return out;
}

static void put_band_title(const struct picture *p, const struct hi_band *band)
{
	char a[40], b[40], c[40], d[40], e[40], share[40];

	put_share(share, share_of(p->bands, band->area, band->peak));
	fputs("<title>", p->out);
	hi_svg_text(p->out, band->name, 0);
	if (band->whole) {
		fputs(" = ", p->out);
		hi_svg_text(p->out, band->whole, 0);
	}
	fprintf(p->out, ": mean %s (%s %%), peak %s, at the end %s, deviation %s, ",
		hi_svg_value(a, band->mean, p->unit), share,
		hi_svg_value(b, band->peak, p->unit),
		hi_svg_value(c, band->last, p->unit),
		hi_svg_value(d, band->deviation, p->unit));
	fprintf(p->out, "slope %s", slope_text(p, a, band->slope));
	fprintf(p->out, " (error %s) per sample unit</title>",
		hi_svg_value(e, band->slope_error, p->unit));
}

static void put_band(struct picture *p, const struct hi_band *band)
{
	fprintf(p->out, "<path class=\"band\" fill=\"%s\" d=\"", colour_of(band));
	for (size_t i = 0; i < p->n_drawn; i++)
		put_point(p, i ? 'L' : 'M', drawn_x(p, i), y_of(p, p->below[i]));
	for (size_t i = p->n_drawn; i > 0; i--) {
		p->below[i - 1] += band->values[p->drawn[i - 1]];
		put_point(p, 'L', drawn_x(p, i - 1), y_of(p, p->below[i - 1]));
	}
	fputs("Z\">", p->out);
	put_band_title(p, band);
	fputs("</path>\n", p->out);
}

static void put_bands(struct picture *p)
{
	fputs("<g clip-path=\"url(#plot)\">\n", p->out);
	for (size_t i = 0; i < p->bands->count; i++)
		put_band(p, &p->bands->items[i]);
	fputs("</g>\n", p->out);
}

static void put_svg_line(FILE *out, const char *class, double x1, double y1, double x2,
			 double y2)
{
	fprintf(out, "<line class=\"%s\"", class);
	hi_svg_attribute(out, "x1", x1);
	hi_svg_attribute(out, "y1", y1);
	hi_svg_attribute(out, "x2", x2);
	hi_svg_attribute(out, "y2", y2);
}

static void put_label(FILE *out, const char *class, double x, double y, const char *text,
		      size_t most)
{
	fprintf(out, "<text class=\"%s\"", class);
	hi_svg_attribute(out, "x", x);
	hi_svg_attribute(out, "y", y);
	putc('>', out);
	hi_svg_text(out, text, most);
	fputs("</text>\n", out);
}

static void put_y_axis(const struct picture *p)
{
	char text[40];

	for (double y = 0; y <= p->y_top * 1.0001; y += p->y_step) {
		put_svg_line(p->out, y > 0 ? "grid" : "axis", LEFT, y_of(p, y),
			     LEFT + PLOT_WIDTH, y_of(p, y));
		fputs("/>\n", p->out);
		put_label(p->out, "right", LEFT - 8, y_of(p, y) + 4,
			  hi_svg_axis_value(text, y, p->unit), 0);
	}
	put_svg_line(p->out, "axis", LEFT, TOP, LEFT, TOP + p->height);
	fputs("/>\n", p->out);
	if (!p->unit.binary)
		put_label(p->out, "right", LEFT - 8, TOP - 14, p->unit.name, 12);
}

static void put_x_axis(const struct picture *p)
{
	double step = hi_svg_step(p->x_to - p->x_from, 12, false, false);
	double bottom = TOP + p->height, time = time_of(p, 0);
	bool one = !(p->bands->x_to > p->bands->x_from);
	char text[40];

	/* Bounded: 12 steps and one for rounding. */
	for (unsigned i = 0; i < (one ? 1 : 14); i++) {
		double x = one ? time : (ceil(p->x_from / step - 1e-9) + i) * step;

		if (x > p->x_to + step * 1e-6)
			break;
		put_svg_line(p->out, "axis", x_of(p, x), bottom, x_of(p, x), bottom + 7);
		fputs("/>\n", p->out);
		put_label(p->out, "middle", x_of(p, x), bottom + 21,
			  hi_svg_tick(text, x, step), 0);
	}
	put_label(p->out, "middle unit", LEFT + PLOT_WIDTH / 2.0, bottom + 40,
		  *p->bands->series->sample_unit ? p->bands->series->sample_unit
						 : "seconds",
		  60);
}

static void put_sample_ticks(const struct picture *p)
{
	double bottom = TOP + p->height;

	if (p->bands->n_samples > TICKS_MAX || !(p->bands->x_to > p->bands->x_from))
		return;
	fputs("<path class=\"samples\" d=\"", p->out);
	for (size_t i = 0; i < p->bands->n_samples; i++) {
		put_point(p, 'M', x_of(p, time_of(p, i)), bottom);
		fputs("v4", p->out);
	}
	fputs("\"/>\n", p->out);
}

static size_t characters_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* The row in which a text from x to end touches none; -1: there is none. */
static int find_mark_row(double ends[MARK_ROWS], double x, double end)
{
	for (int row = 0; row < MARK_ROWS; row++)
		if (x > ends[row]) {
			ends[row] = end;
			return row;
		}
	return -1;
}

/* Beside the line of the mark, to its left at the right end of the plot. */
static void put_mark_text(const struct picture *p, const char *text, double x,
			  double ends[MARK_ROWS])
{
	size_t n = characters_of(text);
	double width = (double)(n < MARK_TEXT ? n : MARK_TEXT) * character + 12;
	bool is_left = x + width > LEFT + PLOT_WIDTH;
	double from = is_left ? x - width : x;
	int row = *text ? find_mark_row(ends, from, from + width) : -1;

	if (row >= 0)
		put_label(p->out, is_left ? "marktext right" : "marktext",
			  is_left ? x - 5 : x + 5, TOP + 12 + 14.0 * row, text,
			  MARK_TEXT);
}

static void put_mark_lines(const struct picture *p)
{
	const struct hi_hp_series *s = p->bands->series;
	double ends[MARK_ROWS] = {};
	char time[40];

	for (size_t i = 0; i < s->n_marks; i++) {
		const char *text = hi_bands_mark_text(p->bands, i);
		double x = x_of(p, s->marks[i]);

		if (s->marks[i] < p->x_from || s->marks[i] > p->x_to)
			continue;
		fputs("<g class=\"mark\">", p->out);
		put_svg_line(p->out, "markline", x, TOP - 6, x, TOP + p->height);
		fputs("/><path d=\"", p->out);
		put_point(p, 'M', x - 5, TOP - 12);
		fprintf(p->out, "h10l-5 7Z\"/><title>MARK %s",
			hi_svg_tick(time, s->marks[i], 0.001));
		fputs(*text ? ": " : "", p->out);
		hi_svg_text(p->out, text, 0);
		fputs("</title>", p->out);
		put_mark_text(p, text, x, ends);
		fputs("</g>\n", p->out);
	}
}

static void put_link(const struct picture *p, const struct hi_graph_link *link)
{
	double x = x_of(p, link->time), y = y_of(p, link->value);

	if (link->time < p->x_from || link->time > p->x_to)
		return;
	if (y < TOP)
		y = TOP;
	fputs("<a class=\"link\" href=\"", p->out);
	hi_svg_text(p->out, link->href, 0);
	fputs("\"><title>", p->out);
	hi_svg_text(p->out, link->title, 0);
	fputs("</title><circle r=\"7\"", p->out);
	hi_svg_attribute(p->out, "cx", x);
	hi_svg_attribute(p->out, "cy", y);
	fputs("/>", p->out);
	put_label(p->out, "middle", x, y - 11, link->label, 8);
	fputs("</a>\n", p->out);
}

static void put_links(const struct picture *p)
{
	for (size_t i = 0; i < p->n_links; i++)
		put_link(p, &p->links[i]);
}

/* ---- the legend: below the plot, with whole names ---- */

/* A type by its short name; what a number stands for. */
static const char *legend_name(const struct hi_band *band, char out[TEXT_SIZE])
{
	const char *name = band->whole ? band->whole : band->name;

	return *name == '{' ? name : hi_type_short(name, out, TEXT_SIZE);
}

/* Where the next line of a name begins: behind a blank or a comma, or anywhere. */
static size_t find_line_end(const char *text)
{
	size_t n = 0, characters = 0, best = 0;

	for (; text[n]; n++) {
		if (((unsigned char)text[n] & 0xc0) != 0x80 && ++characters > NAME_LINE)
			return best ? best : n;
		if (characters > NAME_LINE / 2 && strchr(" ,:>", text[n]))
			best = n + 1;
	}
	return n;
}

/* Lines that the name takes; put: writes them. */
static int wrap_name(const struct picture *p, const struct hi_band *band, double y,
		     bool put)
{
	char buffer[TEXT_SIZE], line[4 * NAME_LINE + 8];
	const char *text = legend_name(band, buffer);
	int lines = 0;

	for (; lines == 0 || (*text && lines < NAME_LINES); lines++) {
		size_t n = find_line_end(text);
		bool is_last = lines + 1 == NAME_LINES && text[n];

		snprintf(line, sizeof(line), "%.*s%s", (int)n, text,
			 is_last ? "\xe2\x80\xa6" : "");
		if (put)
			put_label(p->out, band->id == UINT32_MAX ? "left dim" : "left",
				  LEGEND_NAME, y + (double)lines * NAME_ROW, line, 0);
		text += n;
	}
	return lines;
}

/* Returns the height of the row. */
static double put_legend_row(const struct picture *p, const struct hi_band *band,
			     double y)
{
	char text[40];
	int lines;

	fputs("<g>", p->out);
	fprintf(p->out, "<rect class=\"swatch\" width=\"13\" height=\"13\" fill=\"%s\"",
		colour_of(band));
	hi_svg_attribute(p->out, "x", LEFT);
	hi_svg_attribute(p->out, "y", y - 11);
	fputs("/>\n", p->out);
	put_label(p->out, "right", LEGEND_MEAN, y,
		  hi_svg_value(text, band->mean, p->unit), 0);
	put_share(text, share_of(p->bands, band->area, band->peak));
	put_label(p->out, "right", LEGEND_SHARE, y, text, 0);
	put_label(p->out, "right", LEGEND_LAST, y,
		  hi_svg_value(text, band->last, p->unit), 0);
	put_label(p->out, band->slope < 0 ? "right down" : "right up", LEGEND_SLOPE, y,
		  slope_text(p, text, band->slope), 0);
	lines = wrap_name(p, band, y, true);
	put_band_title(p, band);
	fputs("</g>\n", p->out);
	return ROW + (lines - 1) * NAME_ROW;
}

static double legend_height(const struct picture *p)
{
	double height = 0;

	for (size_t i = 0; i < p->bands->count; i++)
		height += ROW +
			  (wrap_name(p, &p->bands->items[i], 0, false) - 1) * NAME_ROW;
	return height;
}

static void put_legend(const struct picture *p)
{
	const struct hi_bands *b = p->bands;
	double y = TOP + p->height + LEGEND_TOP;
	const char *unit = b->series->sample_unit;
	char slope[48];

	snprintf(slope, sizeof(slope), "slope per %.20s",
		 !*unit || strcmp(unit, "seconds") == 0 ? "second" : unit);
	put_label(p->out, "right head", LEGEND_MEAN, y, "mean", 0);
	put_label(p->out, "right head", LEGEND_SHARE, y, "%", 0);
	put_label(p->out, "right head", LEGEND_LAST, y, "at the end", 0);
	put_label(p->out, "right head", LEGEND_SLOPE, y, slope, 0);
	put_label(p->out, "left head", LEGEND_NAME, y, "band", 0);
	y += ROW;
	for (size_t i = b->count; i > 0; i--)
		y += put_legend_row(p, &b->items[i - 1], y);
}

/* Text is appended only as long as there is room. */
static void add_note_text(char out[HI_GRAPH_NOTE_SIZE], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void add_note_text(char out[HI_GRAPH_NOTE_SIZE], const char *fmt, ...)
{
	size_t n = strlen(out);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out + n, HI_GRAPH_NOTE_SIZE - n, fmt, ap);
	va_end(ap);
}

static bool is_binary(const struct hi_hp_series *series)
{
	return !*series->value_unit || strcmp(series->value_unit, "bytes") == 0;
}

void hi_graph_note(const struct hi_bands *b, char out[HI_GRAPH_NOTE_SIZE])
{
	struct hi_svg_unit unit = {.binary = is_binary(b->series)};
	size_t drawn = b->count - (b->in_other > 0);
	char peak[40], share[40];

	out[0] = 0;
	add_note_text(out, "%zu band%s: %zu drawn", drawn + b->in_other + b->n_removed,
		      drawn + b->in_other + b->n_removed == 1 ? "" : "s", drawn);
	if (b->in_other)
		add_note_text(out, ", %zu summed in OTHER", b->in_other);
	put_share(share, share_of(b, b->removed_area, b->removed_peak));
	if (b->n_removed)
		add_note_text(
			out,
			", %zu not drawn (together %s %%, at most %s%s%.20s at once)",
			b->n_removed, share, hi_svg_value(peak, b->removed_peak, unit),
			unit.binary ? "" : " ", unit.binary ? "" : b->series->value_unit);
	if (b->outgrown)
		add_note_text(out, "; wider than the graph that it is like");
	if (b->n_samples > COLUMNS)
		add_note_text(out, "; the highest of each %zu samples is drawn",
			      (b->n_samples + COLUMNS - 1) / COLUMNS);
	if (b->series->n_damaged)
		add_note_text(out, "; %zu damaged sample%s left out (%.80s)",
			      b->series->n_damaged,
			      b->series->n_damaged == 1 ? " is" : "s are",
			      b->series->damage);
	if (b->series->truncated)
		add_note_text(out, "; the file ends within a sample, which is left out");
}

static void put_heading(const struct picture *p)
{
	const struct hi_bands *b = p->bands;
	char note[HI_GRAPH_NOTE_SIZE] = "", mean[40], peak[40], span[40], count[32];
	double duration = b->x_to - b->x_from;

	put_label(p->out, "title", LEFT, 26, b->series->job, 100);
	hi_svg_value(peak, b->total_peak, p->unit);
	if (*b->series->date)
		add_note_text(note, "%.60s · ", b->series->date);
	if (b->total_area > 0)
		add_note_text(note, "mean %s, ",
			      hi_svg_value(mean,
					   b->total_area / (time_of(p, b->n_samples - 1) -
							    time_of(p, 0)),
					   p->unit));
	add_note_text(note, "peak %s", peak);
	add_note_text(note, " · %s sample%s", hi_text_count(count, b->n_samples),
		      b->n_samples == 1 ? "" : "s");
	if (duration > 0)
		add_note_text(
			note, " over %s %.30s",
			hi_svg_value(span, time_of(p, b->n_samples - 1) - time_of(p, 0),
				     (struct hi_svg_unit){.binary = false}),
			*b->series->sample_unit ? b->series->sample_unit : "seconds");
	put_label(p->out, "left dim", LEFT, 46, note, 0);
	hi_graph_note(b, note);
	put_label(p->out, "left dim", LEFT, TOP + p->height + 68, note, 0);
}

static const char style[] =
	"<style>\n"
	"text{font:12px system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#222}\n"
	".title{font-size:17px;font-weight:600}\n"
	".dim{fill:#666}.head{fill:#666;font-size:11px}.unit{fill:#666}\n"
	".right{text-anchor:end}.middle{text-anchor:middle}\n"
	".up,.down{fill:#555}\n"
	".band{stroke:#fff;stroke-width:.6;stroke-linejoin:round}.band:hover{opacity:.8}"
	"\n"
	".axis{stroke:#555}.grid{stroke:#000;stroke-opacity:.09}\n"
	".samples{stroke:#888;fill:none}\n"
	".marktext{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:3px;"
	"stroke-linejoin:round}\n"
	".link circle{fill:#fff;stroke:#222;stroke-width:2}.link:hover "
	"circle{fill:#f28e2b}\n"
	".link text{font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
	".mark path{fill:#222}.markline{stroke:#222;stroke-dasharray:5 4}\n"
	"</style>\n";

static void put_picture(struct picture *p)
{
	double height = TOP + p->height + LEGEND_TOP + ROW + legend_height(p) + BELOW;

	if (!p->is_embedded)
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", p->out);
	fprintf(p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
		WIDTH, (int)height, WIDTH, (int)height);
	hi_svg_text(p->out, p->bands->series->job, 200);
	fprintf(p->out, "</title>\n%s", style);
	fprintf(p->out,
		"<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" "
		"height=\"%d\"/></clipPath>\n",
		LEFT, TOP, PLOT_WIDTH, (int)p->height);
	fprintf(p->out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH,
		(int)height);
	put_heading(p);
	put_bands(p);
	put_y_axis(p);
	put_x_axis(p);
	put_sample_ticks(p);
	put_mark_lines(p);
	put_links(p);
	put_legend(p);
	fputs("</svg>\n", p->out);
}

static void find_scale(struct picture *p)
{
	const struct hi_bands *b = p->bands;
	double y_max = b->y_max > 0 ? b->y_max : 1, half;

	p->x_from = b->x_from;
	p->x_to = b->x_to;
	if (!(p->x_to > p->x_from)) {
		p->x_from -= 0.5;
		p->x_to += 0.5;
	}
	p->y_step = hi_svg_step(y_max, 8, p->unit.binary, true);
	half = p->y_step > 1 ? p->y_step / 2 : 1;
	p->y_top = ceil(y_max / half) * half;
	p->height = PLOT_HEIGHT;
}

static enum hi_status write_graph_svg(struct picture *p, struct hi_error *err)
{
	enum hi_status status;

	p->unit = (struct hi_svg_unit){is_binary(p->bands->series),
				       p->bands->series->value_unit};
	find_scale(p);
	status = choose_samples(p, err);
	if (status == HI_OK)
		put_picture(p);
	free(p->drawn);
	free(p->below);
	return status;
}

enum hi_status hi_graph_svg_write(const struct hi_bands *bands, FILE *out,
				  struct hi_error *err)
{
	struct picture p = {.bands = bands, .out = out};

	return write_graph_svg(&p, err);
}

enum hi_status hi_graph_svg_embed(const struct hi_bands *bands,
				  const struct hi_graph_link *links, size_t n_links,
				  FILE *out, struct hi_error *err)
{
	struct picture p = {.bands = bands,
			    .out = out,
			    .is_embedded = true,
			    .links = links,
			    .n_links = n_links};

	return write_graph_svg(&p, err);
}
