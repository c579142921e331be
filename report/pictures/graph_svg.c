/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/graph_svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/pictures/plot.h"
#include "report/svg.h"
#include "report/type_name.h"

enum {
	WIDTH = 1240,
	LEFT = 84,
	TOP = 76,
	RIGHT = LEFT + 1120,
	BOTTOM = TOP + 440, /* of the plot */
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

static const char other_colour[] = "#bab0ac";

struct picture {
	const struct hi_bands *bands;
	FILE *out;
	struct hi_svg_unit unit;
	struct hi_plot plot;
	double y_step;
	bool is_embedded;
	const struct hi_graph_link *links;
	size_t n_links;
};

static const char *colour_of(const struct hi_band *band)
{
	return band->colour < 0 ? other_colour : hi_svg_colour((size_t)band->colour);
}

static double time_of(const struct picture *p, size_t sample)
{
	return p->bands->series->times[p->bands->first + sample];
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
	hi_plot_outline(&p->plot, band->values, p->out);
	fputs("\">", p->out);
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

static void put_label(FILE *out, const char *class, double x, double y, const char *text,
		      size_t most)
{
	char attribute[40];

	snprintf(attribute, sizeof(attribute), "class=\"%s\"", class);
	hi_svg_label(out, attribute, x, y, text, most);
	putc('\n', out);
}

static void put_y_axis(const struct picture *p)
{
	char text[40];

	for (double v = 0; v <= p->plot.most * 1.0001; v += p->y_step) {
		double y = hi_plot_y(&p->plot, v);

		hi_svg_line(p->out, v > 0 ? "class=\"grid\"" : "class=\"axis\"", LEFT, y,
			    RIGHT, y);
		put_label(p->out, "right", LEFT - 8, y + 4,
			  hi_svg_axis_value(text, v, p->unit), 0);
	}
	hi_svg_line(p->out, "class=\"axis\"", LEFT, TOP, LEFT, BOTTOM);
	if (!p->unit.binary)
		put_label(p->out, "right", LEFT - 8, TOP - 14, p->unit.name, 12);
}

static const char *time_unit_of(const struct picture *p)
{
	const char *unit = p->bands->series->sample_unit;

	return *unit ? unit : "seconds";
}

static void put_x_axis(const struct picture *p)
{
	char text[40];
	double time;

	for (unsigned i = 0; hi_plot_tick(&p->plot, 12, i, &time, text); i++) {
		double x = hi_plot_x(&p->plot, time);

		hi_svg_line(p->out, "class=\"axis\"", x, BOTTOM, x, BOTTOM + 7);
		put_label(p->out, "middle", x, BOTTOM + 21, text, 0);
	}
	put_label(p->out, "middle unit", (LEFT + RIGHT) / 2.0, BOTTOM + 40,
		  time_unit_of(p), 60);
}

static void put_sample_ticks(const struct picture *p)
{
	if (p->bands->n_samples > TICKS_MAX || p->plot.is_instant)
		return;
	fputs("<path class=\"samples\" d=\"", p->out);
	for (size_t i = 0; i < p->bands->n_samples; i++) {
		hi_svg_point(p->out, 'M', hi_plot_x(&p->plot, time_of(p, i)), BOTTOM);
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
	bool is_left = x + width > RIGHT;
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
		double x = hi_plot_x(&p->plot, s->marks[i]);

		if (s->marks[i] < p->plot.from || s->marks[i] > p->plot.to)
			continue;
		fputs("<g class=\"mark\">", p->out);
		hi_svg_line(p->out, "class=\"markline\"", x, TOP - 6, x, BOTTOM);
		fputs("<path d=\"", p->out);
		hi_svg_point(p->out, 'M', x - 5, TOP - 12);
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
	double x = hi_plot_x(&p->plot, link->time), y = hi_plot_y(&p->plot, link->value);

	if (link->time < p->plot.from || link->time > p->plot.to)
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
	double y = BOTTOM + LEGEND_TOP;
	const char *unit = time_unit_of(p);
	char slope[48];

	snprintf(slope, sizeof(slope), "slope per %.20s",
		 strcmp(unit, "seconds") == 0 ? "second" : unit);
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
		add_note_text(note, " over %s %.30s",
			      hi_svg_value(span,
					   time_of(p, b->n_samples - 1) - time_of(p, 0),
					   (struct hi_svg_unit){.binary = false}),
			      time_unit_of(p));
	put_label(p->out, "left dim", LEFT, 46, note, 0);
	hi_graph_note(b, note);
	put_label(p->out, "left dim", LEFT, BOTTOM + 68, note, 0);
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
	double height = BOTTOM + LEGEND_TOP + ROW + legend_height(p) + BELOW;

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
		LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
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
	double y_max = p->bands->y_max > 0 ? p->bands->y_max : 1, half;

	p->plot.left = LEFT;
	p->plot.right = RIGHT;
	p->plot.top = TOP;
	p->plot.bottom = BOTTOM;
	hi_plot_range(&p->plot, p->bands->x_from, p->bands->x_to);
	p->y_step = hi_svg_step(y_max, 8, p->unit.binary, true);
	half = p->y_step > 1 ? p->y_step / 2 : 1;
	p->plot.most = ceil(y_max / half) * half;
}

static enum hi_status write_graph_svg(struct picture *p, struct hi_error *err)
{
	const struct hi_bands *b = p->bands;
	enum hi_status status =
		hi_plot_begin(&p->plot, b->series->times + b->first, b->n_samples, err);

	if (status != HI_OK)
		return status;
	p->unit = (struct hi_svg_unit){is_binary(b->series), b->series->value_unit};
	for (size_t i = 0; i < b->count; i++)
		hi_plot_add(&p->plot, b->items[i].values);
	hi_plot_choose(&p->plot, COLUMNS);
	find_scale(p);
	put_picture(p);
	hi_plot_free(&p->plot);
	return HI_OK;
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
