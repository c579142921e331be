/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/html_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/pictures/treemap.h"
#include "report/svg.h"

HI_DEFINE_GUARD(struct hi_page_layout *, hi_page_layout_free)

enum {
	AROUND = 8 * 1024, /* of the size, for all but nodes */
	TITLE_LINE = 1024,
	TITLE = 120, /* characters */
	PAD = 3,
	BASELINE = 12,
	LEAST_LABEL = 4, /* characters */
	LEGEND = 24,	 /* px below a treemap */
	LEGEND_CHARACTER = 6,
	LEFT = 76, /* bands: the plot */
	RIGHT = 210,
	TOP = 26,
	PLOT_HEIGHT = 300,
	BELOW = 40,
	BAND_LABEL = 12, /* least height of a label beside the last value */
};
static const double character = 6.2; /* px of one */

struct html_drawing {
	const struct hi_page_picture *picture;
	const char *(*href)(void *arg, const char *address);
	void *arg;
	FILE *out;
	bool has_links;
};

/* Colours where there is no stylesheet, as those of picture_svg.h. */
static const char *const kind_colours[HI_PICTURE_KINDS] = {
	"#b9c4d0", "#f2b366", "#8fc98a", "#9db8dc", "#e3d16f",
	"#c9a98b", "#cccccc", "#e8847f", "#ebebeb"};

/* Returns the element's name. */
static const char *begin_picture_node(const struct html_drawing *d, const char *class,
				      int kind, const char *link)
{
	const char *href = d->href && *link ? d->href(d->arg, link) : NULL;

	fprintf(d->out, href ? "<a class=\"%s k%d\" href=\"" : "<g class=\"%s k%d\"",
		class, kind);
	if (href) {
		hi_svg_text(d->out, href, 0);
		putc('"', d->out);
	}
	return href ? "a" : "g";
}

/* Splits at '\n': escaped names of the target contain none. */
static void put_node_title_text(const struct html_drawing *d, const char *title)
{
	fputs("<title>", d->out);
	while (title) {
		const char *end = strchr(title, '\n');
		size_t n = end ? (size_t)(end - title) : strlen(title);
		char line[TITLE_LINE];

		n = n < TITLE_LINE ? n : TITLE_LINE - 1;
		memcpy(line, title, n);
		line[n] = 0;
		hi_svg_text(d->out, line, TITLE);
		title = end ? end + 1 : NULL;
		if (title)
			putc('\n', d->out);
	}
	fputs("</title>", d->out);
}

/* ---- boxes ---- */

/* A label that fits, cut if need be; none where hardly anything of it would be seen. */
static void put_cut_label(const struct html_drawing *d, double x, double y, double width,
			  const char *label)
{
	size_t most = (size_t)fmax(width / character, 0), n = 0;

	for (const char *s = label; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	if (!n || most < LEAST_LABEL)
		return;
	fputs("<text", d->out);
	hi_svg_attribute(d->out, "x", x);
	hi_svg_attribute(d->out, "y", y);
	putc('>', d->out);
	hi_svg_text(d->out, label, n > most ? most - 1 : most);
	fputs("</text>", d->out);
}

static void put_box_label(const struct html_drawing *d, const struct hi_page_box *box,
			  const struct hi_page_place *place)
{
	if (place->has_strip || (place->is_leaf && place->height >= HI_TREEMAP_STRIP))
		put_cut_label(d, place->x + PAD, place->y + BASELINE,
			      place->width - 2 * PAD, box->label);
}

static void put_page_box(const struct html_drawing *d, const struct hi_page_box *box,
			 const struct hi_page_place *place)
{
	const char *element = begin_picture_node(d, "node", (int)box->kind, box->link);

	fprintf(d->out, " data-d=\"%" PRIu32 "\" data-b=\"%" PRIu64 "\"><rect",
		box->depth, box->bytes);
	hi_svg_attribute(d->out, "x", place->x);
	hi_svg_attribute(d->out, "y", place->y);
	hi_svg_attribute(d->out, "width", place->width);
	hi_svg_attribute(d->out, "height", place->height);
	fprintf(d->out, " fill=\"%s\" stroke=\"#fff\"/>", kind_colours[box->kind]);
	put_box_label(d, box, place);
	put_node_title_text(d, box->title);
	fprintf(d->out, "</%s>\n", element);
}

/* Returns how many boxes were not written, for the size. */
static size_t put_boxes(const struct html_drawing *d, const struct hi_page_layout *layout,
			struct hi_error *err, enum hi_status *status)
{
	size_t size = 0, left_out = 0;
	char *text = NULL;
	struct html_drawing one = *d;

	one.out = open_memstream(&text, &size);
	if (!one.out) {
		*status = hi_fail_memory(err, "picture");
		return 0;
	}
	for (size_t i = 0; i < layout->count; i++) {
		int32_t at = layout->order[i];
		off_t before = ftello(one.out);

		if (layout->places[at].width <= 0)
			continue;
		if (left_out) {
			left_out++;
			continue;
		}
		put_page_box(&one, &d->picture->boxes[at], &layout->places[at]);
		if (ftello(one.out) > HI_HTML_PICTURE_SIZE - AROUND) {
			fseeko(one.out, before, SEEK_SET);
			left_out++;
		}
	}
	if (fclose(one.out) != 0 || !text)
		*status = hi_fail_memory(err, "picture");
	else
		fwrite(text, 1, size, d->out);
	free(text);
	return left_out;
}

static bool has_page_links(const struct hi_page_picture *p)
{
	for (size_t i = 0; i < p->n_boxes; i++)
		if (*p->boxes[i].link)
			return true;
	for (size_t i = 0; i < p->n_bands; i++)
		if (*p->bands[i].link)
			return true;
	for (size_t i = 0; i < p->n_marks; i++)
		if (*p->marks[i].link)
			return true;
	return false;
}

/* What has links in it is no image: those who do not see it still reach them. */
static void begin_figure(const struct html_drawing *d, double width, double height)
{
	static const char *const names[] = {[HI_PAGE_TREEMAP] = "treemap",
					    [HI_PAGE_FLAME] = "flame",
					    [HI_PAGE_BANDS] = "bands"};

	fprintf(d->out,
		"<figure class=\"picture %s\">\n<svg "
		"xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
		names[d->picture->shape]);
	hi_svg_number(d->out, width);
	putc(' ', d->out);
	hi_svg_number(d->out, height);
	fprintf(d->out,
		"\" role=\"%s\" font-family=\"system-ui,sans-serif\" font-size=\"11\" "
		"aria-label=\"",
		d->href && d->has_links ? "group" : "img");
	hi_svg_text(d->out, d->picture->label, 300);
	fputs("\">\n", d->out);
}

static void end_figure(const struct html_drawing *d, size_t left_out)
{
	fputs("</svg>\n<figcaption>", d->out);
	hi_svg_text(d->out, d->picture->caption, 0);
	if (left_out)
		fprintf(d->out, " %zu smaller boxes are not drawn.", left_out);
	fputs("</figcaption></figure>\n", d->out);
}

/* The kinds that are drawn, by name. */
static void put_kinds_legend(const struct html_drawing *d,
			     const struct hi_page_layout *layout)
{
	bool has[HI_PICTURE_KINDS] = {};
	double x = 0, y = layout->height + LEGEND;

	for (size_t i = 0; i < layout->count; i++)
		if (layout->places[i].width > 0)
			has[d->picture->boxes[i].kind] = true;
	for (int k = 0; k < HI_PICTURE_KINDS; k++) {
		const char *name = hi_picture_kind_name((enum hi_picture_kind)k);

		if (!has[k])
			continue;
		fprintf(d->out, "<g class=\"kind k%d\"><rect width=\"11\" height=\"11\"",
			k);
		hi_svg_attribute(d->out, "x", x);
		hi_svg_attribute(d->out, "y", y - 18);
		fprintf(d->out, " fill=\"%s\"/></g><text", kind_colours[k]);
		hi_svg_attribute(d->out, "x", x + 15);
		hi_svg_attribute(d->out, "y", y - 8);
		fprintf(d->out, ">%s</text>\n", name);
		x += 15 + (double)strlen(name) * LEGEND_CHARACTER + 14;
	}
}

static enum hi_status put_box_picture(const struct html_drawing *d, struct hi_error *err)
{
	struct hi_page_layout layout = {};
	HI_GUARD(hi_page_layout_free) struct hi_page_layout *guard = &layout;
	enum hi_status status = hi_page_lay_out(d->picture, &layout, err);
	bool is_map = d->picture->shape == HI_PAGE_TREEMAP;
	size_t left_out;

	(void)guard;
	if (status != HI_OK)
		return status;
	begin_figure(d, layout.width, layout.height + (is_map ? LEGEND : 0));
	left_out = put_boxes(d, &layout, err, &status);
	if (is_map)
		put_kinds_legend(d, &layout);
	end_figure(d, d->picture->n_left_out + layout.too_deep + left_out);
	return status;
}

/* ---- bands ---- */

static const char *const band_colours[] = {
	"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1",
	"#9c755f", "#1f5a8a", "#ff9da7", "#86bc40", "#8c3b4a", "#a0cbe8", "#b8860b",
	"#2f6b4f", "#d4a6c8", "#6b5b95", "#ffbe7d", "#499894", "#d37295",
};
enum { BAND_COLOURS = sizeof(band_colours) / sizeof(band_colours[0]) };

/* Of a picture of bands. */
struct band_drawing {
	const struct html_drawing *d;
	const struct hi_page_picture *p;
	size_t *drawn; /* times */
	size_t n_drawn;
	double *below; /* by drawn time: the bands that are drawn already */
	double from, to, top, step;
	double right; /* end of the plot */
};

static double x_of_time(const struct band_drawing *b, double time)
{
	return LEFT + (time - b->from) / (b->to - b->from) * (b->right - LEFT);
}

static double y_of_value(const struct band_drawing *b, double value)
{
	return TOP + PLOT_HEIGHT - value / b->top * PLOT_HEIGHT;
}

static double total_at_time(const struct hi_page_picture *p, size_t at)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_bands; i++)
		sum += p->bands[i].values[at];
	return sum;
}

/* All times, or of each few the one with the highest total; the last one, too. */
static void choose_times(struct band_drawing *b)
{
	const struct hi_page_picture *p = b->p;
	size_t bands = p->n_bands ? p->n_bands : 1;
	size_t most = (HI_HTML_PICTURE_SIZE - 64 * 1024) / (bands * 32);
	size_t few;

	if (most > HI_PAGE_TIMES_MAX)
		most = HI_PAGE_TIMES_MAX;
	few = (p->n_times + most - 1) / most;
	for (size_t i = 0; i < p->n_times; i += few) {
		size_t best = i;

		for (size_t k = i + 1; k < i + few && k < p->n_times; k++)
			if (total_at_time(p, k) > total_at_time(p, best))
				best = k;
		b->drawn[b->n_drawn++] = i ? best : 0;
	}
	if (p->n_times && b->drawn[b->n_drawn - 1] != p->n_times - 1)
		b->drawn[b->n_drawn++] = p->n_times - 1;
}

static void find_band_scale(struct band_drawing *b)
{
	const struct hi_page_picture *p = b->p;
	double most = 1;

	for (size_t i = 0; i < b->n_drawn; i++)
		most = fmax(most, total_at_time(p, b->drawn[i]));
	b->from = p->times[0];
	b->to = p->times[p->n_times - 1];
	if (!(b->to > b->from)) {
		b->from -= 0.5;
		b->to += 0.5;
	}
	b->step = hi_svg_step(most, 6, true, true);
	b->top = most;
	b->right = HI_PAGE_PICTURE_WIDTH - RIGHT;
}

static void put_band_point(const struct band_drawing *b, char letter, double x, double y)
{
	putc(letter, b->d->out);
	hi_svg_number(b->d->out, x);
	putc(' ', b->d->out);
	hi_svg_number(b->d->out, y);
}

/* Where no time passes, the samples fill the width: else nothing would be seen. */
static double x_of_drawn(const struct band_drawing *b, size_t i, bool at_end)
{
	if (b->p->times[b->p->n_times - 1] > b->p->times[0])
		return x_of_time(b, b->p->times[b->drawn[i]]);
	return at_end ? b->right : LEFT;
}

static void put_page_band(struct band_drawing *b, size_t k)
{
	const struct hi_page_band *band = &b->p->bands[k];
	bool is_one = !(b->p->times[b->p->n_times - 1] > b->p->times[0]);
	const char *element = begin_picture_node(b->d, "band", (int)(k % 8), band->link);
	FILE *out = b->d->out;

	fprintf(out, "><path fill=\"%s\" d=\"", band_colours[k % BAND_COLOURS]);
	for (size_t i = 0; i < b->n_drawn; i++)
		put_band_point(b, i ? 'L' : 'M', x_of_drawn(b, i, false),
			       y_of_value(b, b->below[i]));
	if (is_one)
		put_band_point(b, 'L', b->right, y_of_value(b, b->below[0]));
	for (size_t i = 0; i < b->n_drawn; i++)
		b->below[i] += band->values[b->drawn[i]];
	if (is_one)
		put_band_point(b, 'L', b->right, y_of_value(b, b->below[0]));
	for (size_t i = b->n_drawn; i-- > 0;)
		put_band_point(b, 'L', x_of_drawn(b, i, false),
			       y_of_value(b, b->below[i]));
	fputs("Z\"/>", out);
	put_node_title_text(b->d, band->title);
	fprintf(out, "</%s>\n", element);
}

static void put_band_text(const struct band_drawing *b, const char *anchor, double x,
			  double y, const char *text, size_t most)
{
	fprintf(b->d->out, "<text text-anchor=\"%s\"", anchor);
	hi_svg_attribute(b->d->out, "x", x);
	hi_svg_attribute(b->d->out, "y", y);
	putc('>', b->d->out);
	hi_svg_text(b->d->out, text, most);
	fputs("</text>\n", b->d->out);
}

static void put_band_line(const struct band_drawing *b, const char *class, double x1,
			  double y1, double x2, double y2, const char *dashes)
{
	fprintf(b->d->out, "<line class=\"%s\" stroke=\"#777\"", class);
	if (dashes)
		fprintf(b->d->out, " stroke-dasharray=\"%s\"", dashes);
	hi_svg_attribute(b->d->out, "x1", x1);
	hi_svg_attribute(b->d->out, "y1", y1);
	hi_svg_attribute(b->d->out, "x2", x2);
	hi_svg_attribute(b->d->out, "y2", y2);
	fputs("/>\n", b->d->out);
}

static void put_band_axes(const struct band_drawing *b)
{
	double bottom = TOP + PLOT_HEIGHT;
	double step = hi_svg_step(b->to - b->from, 10, false, false);
	char text[40], unit[64];

	for (unsigned i = 0; i < 20 && i * b->step <= b->top * 1.0001; i++) {
		double y = y_of_value(b, i * b->step);

		put_band_line(b, "axis", LEFT - 4, y, LEFT, y, NULL);
		put_band_text(b, "end", LEFT - 7, y + 4,
			      hi_svg_axis_value(text, i * b->step,
						(struct hi_svg_unit){.binary = true}),
			      0);
	}
	for (unsigned i = 0; i < 20; i++) {
		double time = (ceil(b->from / step - 1e-9) + i) * step;

		if (time > b->to + step * 1e-6)
			break;
		put_band_line(b, "axis", x_of_time(b, time), bottom, x_of_time(b, time),
			      bottom + 5, NULL);
		put_band_text(b, "middle", x_of_time(b, time), bottom + 17,
			      hi_svg_tick(text, time, step), 0);
	}
	put_band_line(b, "axis", LEFT, TOP, LEFT, bottom, NULL);
	put_band_line(b, "axis", LEFT, bottom, b->right, bottom, NULL);
	snprintf(unit, sizeof(unit), "time (%.40s)", b->p->time_unit);
	put_band_text(b, "middle", (LEFT + b->right) / 2, bottom + 33, unit, 0);
}

/* Names stand to the right of the plot, each with a line to its band, in the order of
 * the stack: no one has to tell colours apart. */
static void put_band_labels(const struct band_drawing *b)
{
	size_t last = b->drawn[b->n_drawn - 1], n = b->p->n_bands;
	double y[HI_PAGE_BANDS_MAX], centre[HI_PAGE_BANDS_MAX], sum = 0;
	double gap = fmin(BAND_LABEL, (double)PLOT_HEIGHT / (double)n);
	double x = b->right + 18;

	for (size_t i = 0; i < n; i++) {
		double value = b->p->bands[i].values[last];

		centre[i] = y[i] = y_of_value(b, sum + value / 2);
		sum += value;
		if (i && y[i] > y[i - 1] - gap)
			y[i] = y[i - 1] - gap;
	}
	/* Those that went over the top come down again. */
	for (size_t i = n; i-- > 0;) {
		double least = i + 1 < n ? y[i + 1] + gap : TOP;

		y[i] = fmax(y[i], least);
	}
	for (size_t i = 0; i < n; i++) {
		const struct hi_page_band *band = &b->p->bands[i];
		const char *element =
			begin_picture_node(b->d, "name", (int)(i % 8), band->link);

		putc('>', b->d->out);
		put_band_line(b, "leader", b->right, centre[i], x - 3, y[i], NULL);
		put_band_text(b, "start", x, y[i] + 4, band->label,
			      (size_t)((RIGHT - 20) / character));
		fprintf(b->d->out, "</%s>\n", element);
	}
}

static void put_page_marks(const struct band_drawing *b)
{
	for (size_t i = 0; i < b->p->n_marks; i++) {
		const struct hi_page_mark *mark = &b->p->marks[i];
		const char *element;
		double x = x_of_time(b, mark->time), y = TOP;

		if (!(mark->time >= b->from && mark->time <= b->to))
			continue;
		element = begin_picture_node(b->d, "mark", 0, mark->link);
		putc('>', b->d->out);
		if (isnan(mark->value)) {
			put_band_line(b, "markline", x, TOP, x, TOP + PLOT_HEIGHT, "4 3");
		} else {
			y = y_of_value(b, fmin(fmax(mark->value, 0), b->top));
			fputs("<circle r=\"6\" fill=\"#fff\" stroke=\"#222\" "
			      "stroke-width=\"2\"",
			      b->d->out);
			hi_svg_attribute(b->d->out, "cx", x);
			hi_svg_attribute(b->d->out, "cy", y);
			fputs("/>", b->d->out);
		}
		put_band_text(b, "middle", x, y - 9, mark->label, 20);
		put_node_title_text(b->d, mark->title);
		fprintf(b->d->out, "</%s>\n", element);
	}
}

static enum hi_status put_band_picture(const struct html_drawing *d, struct hi_error *err)
{
	const struct hi_page_picture *p = d->picture;
	HI_GUARD(free) size_t *drawn = hi_calloc(p->n_times + 2, sizeof(*drawn));
	HI_GUARD(free) double *below = hi_calloc(p->n_times + 2, sizeof(*below));
	struct band_drawing b = {.d = d, .p = p, .drawn = drawn, .below = below};

	if (!drawn || !below)
		return hi_fail_memory(err, "picture");
	if (!p->n_times || !p->n_bands)
		return HI_OK;
	choose_times(&b);
	find_band_scale(&b);
	begin_figure(d, HI_PAGE_PICTURE_WIDTH, TOP + PLOT_HEIGHT + BELOW);
	for (size_t k = 0; k < p->n_bands; k++)
		put_page_band(&b, k);
	put_band_axes(&b);
	put_band_labels(&b);
	put_page_marks(&b);
	end_figure(d, 0);
	return HI_OK;
}

enum hi_status hi_html_picture(const struct hi_page_picture *picture,
			       const char *(*href)(void *arg, const char *address),
			       void *arg, FILE *out, struct hi_error *err)
{
	struct html_drawing d = {.picture = picture,
				 .href = href,
				 .arg = arg,
				 .out = out,
				 .has_links = has_page_links(picture)};

	if (picture->shape == HI_PAGE_BANDS)
		return put_band_picture(&d, err);
	return picture->n_boxes ? put_box_picture(&d, err) : HI_OK;
}
