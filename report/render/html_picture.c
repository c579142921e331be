/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/html_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/pictures/plot.h"
#include "report/pictures/treemap.h"
#include "report/svg.h"

enum {
	AROUND = 8 * 1024, /* of the size, for all but nodes */
	TITLE_LINE = 1024,
	TITLE = 120, /* characters */
	PAD = 3,
	BASELINE = 12,
	LEAST_LABEL = 4, /* characters */
	LEGEND = 24,	 /* px below a treemap */
	LEGEND_CHARACTER = 6,
	LEGEND_LINE = 20,
	LEGEND_MODULES = 10,
	LEFT = 76, /* bands: the plot */
	RIGHT = 210,
	TOP = 26,
	BOTTOM = TOP + 300, /* of the plot */
	BELOW = 40,
	BAND_LABEL = 12, /* least height of a label beside the last value */
};
static const double character = 6.2; /* px of one */
#define GREY " stroke=\"#777\""
#define AXIS "class=\"axis\"" GREY
#define MIDDLE "text-anchor=\"middle\""

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
	hi_svg_label(d->out, "", x, y, label, n > most ? most - 1 : most);
}

static void put_box_label(const struct html_drawing *d, const struct hi_page_box *box,
			  const struct hi_page_place *place)
{
	if (place->has_strip || (place->is_leaf && place->height >= HI_TREEMAP_STRIP))
		put_cut_label(d, place->x + PAD, place->y + BASELINE,
			      place->width - 2 * PAD, box->label);
}

/* parent: among the boxes that are drawn. */
static void put_page_box(const struct html_drawing *d, const struct hi_page_box *box,
			 const struct hi_page_place *place, int32_t parent)
{
	unsigned color = hi_picture_module_color(box->module);
	const char *element;
	char class[24] = "node";

	if (*box->module)
		snprintf(class, sizeof(class), "node m%u", color);
	element = begin_picture_node(d, class, (int)box->kind, box->link);
	fprintf(d->out, " data-d=\"%" PRIu32 "\" data-b=\"%" PRIu64 "\"", box->depth,
		box->bytes);
	if (d->picture->shape == HI_PAGE_FLAME)
		fprintf(d->out, " data-p=\"%" PRId32 "\"", parent);
	fputs("><rect", d->out);
	hi_svg_box(d->out, place->x, place->y, place->width, place->height);
	fprintf(d->out, " fill=\"%s\" stroke=\"#fff\"/>",
		*box->module ? hi_picture_color_text(color) : kind_colours[box->kind]);
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
	HI_GUARD(free)
	int32_t *number = hi_calloc(d->picture->n_boxes + 1, sizeof(*number));
	int32_t n = 0;

	one.out = number ? open_memstream(&text, &size) : NULL;
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
		number[at] = n++;
		put_page_box(&one, &d->picture->boxes[at], &layout->places[at],
			     at ? number[d->picture->boxes[at].parent] : -1);
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
					    [HI_PAGE_BANDS] = "bands",
					    [HI_PAGE_DONUT] = "donut",
					    [HI_PAGE_BARS] = "bars"};

	fprintf(d->out,
		"<figure class=\"picture %s%s\"%s>\n<svg "
		"xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
		names[d->picture->shape], d->picture->height > 0 ? " small" : "",
		d->picture->is_of_counts ? " data-counts=\"\"" : "");
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
		fprintf(d->out, " fill=\"%s\"/></g>", kind_colours[k]);
		hi_svg_label(d->out, "", x + 15, y - 8, name, 0);
		putc('\n', d->out);
		x += 15 + (double)strlen(name) * LEGEND_CHARACTER + 14;
	}
}

/* The modules whose functions have most bytes, which have the colours of their boxes. */
struct module_legend {
	const char *names[LEGEND_MODULES];
	double x[LEGEND_MODULES], y[LEGEND_MODULES], height;
	size_t n;
};

/* Boxes come level by level, in each the largest first. */
static struct module_legend list_modules(const struct html_drawing *d,
					 const struct hi_page_layout *layout)
{
	struct module_legend l = {};
	double x = 0;

	for (size_t i = 0; i < layout->count && l.n < LEGEND_MODULES; i++) {
		const char *module = d->picture->boxes[layout->order[i]].module;
		size_t k = 0;
		double width = 15 + (double)strlen(module) * LEGEND_CHARACTER + 14;

		while (k < l.n && strcmp(l.names[k], module) != 0)
			k++;
		if (!*module || k < l.n || layout->places[layout->order[i]].width <= 0)
			continue;
		if (x + width > layout->width && x > 0) {
			x = 0;
			l.height += LEGEND_LINE;
		}
		l.names[l.n] = module;
		l.x[l.n] = x;
		l.y[l.n++] = layout->height + l.height;
		x += width;
	}
	l.height += l.n ? LEGEND : 0;
	return l;
}

static void put_module_legend(const struct html_drawing *d, const struct module_legend *l)
{
	if (!l->n)
		return;
	fputs("<g class=\"legend\">\n", d->out);
	for (size_t i = 0; i < l->n; i++) {
		unsigned color = hi_picture_module_color(l->names[i]);

		fprintf(d->out, "<g class=\"kind m%u\"><rect width=\"11\" height=\"11\"",
			color);
		hi_svg_attribute(d->out, "x", l->x[i]);
		hi_svg_attribute(d->out, "y", l->y[i] + 6);
		fprintf(d->out, " fill=\"%s\"/></g>", hi_picture_color_text(color));
		hi_svg_label(d->out, "", l->x[i] + 15, l->y[i] + 16, l->names[i], 60);
		putc('\n', d->out);
	}
	fputs("</g>\n", d->out);
}

static enum hi_status put_box_picture(const struct html_drawing *d, struct hi_error *err)
{
	struct hi_page_layout layout = {};
	HI_GUARD(hi_page_layout_free) struct hi_page_layout *guard = &layout;
	enum hi_status status = hi_page_lay_out(d->picture, &layout, err);
	bool is_map = d->picture->shape == HI_PAGE_TREEMAP;
	struct module_legend modules;
	size_t left_out;

	(void)guard;
	if (status != HI_OK)
		return status;
	modules = list_modules(d, &layout);
	begin_figure(d, layout.width,
		     layout.height + (is_map ? (double)LEGEND : modules.height));
	left_out = put_boxes(d, &layout, err, &status);
	if (is_map)
		put_kinds_legend(d, &layout);
	else
		put_module_legend(d, &modules);
	end_figure(d, d->picture->n_left_out + layout.too_deep + left_out);
	return status;
}

/* ---- a ring, bars ---- */

enum {
	PARTS_WIDTH = 480,
	PARTS_HEIGHT = 200,
	RING = PARTS_HEIGHT / 2, /* its middle */
	OUTER = 92,
	INNER = 54,
	LEGEND_X = 216,
	LEGEND_ROW = 20,
	BAR_TOP = 22,
	BAR_BOTTOM = PARTS_HEIGHT - 24,
	BAR_LABEL = 50, /* px of one */
};

/* A point of the ring, `turn` of it clockwise from the top. */
static void put_ring_point(FILE *out, char letter, double turn, double radius)
{
	hi_svg_point(out, letter, RING + radius * sin(2 * M_PI * turn),
		     RING - radius * cos(2 * M_PI * turn));
}

/* From one turn to another; the whole ring is none that an arc could draw. */
static void put_ring_part(FILE *out, double from, double to)
{
	int is_large = to - from > 0.5;

	to = fmin(to, from + 0.9999);
	put_ring_point(out, 'M', from, OUTER);
	fprintf(out, "A%d %d 0 %d 1 ", OUTER, OUTER, is_large);
	put_ring_point(out, ' ', to, OUTER);
	put_ring_point(out, 'L', to, INNER);
	fprintf(out, "A%d %d 0 %d 0 ", INNER, INNER, is_large);
	put_ring_point(out, ' ', from, INNER);
	putc('Z', out);
}

static void begin_picture_part(const struct html_drawing *d,
			       const struct hi_page_box *box, const char **element_ret)
{
	*element_ret = begin_picture_node(d, "node", (int)box->kind, box->link);
	fprintf(d->out, " data-d=\"1\" data-b=\"%" PRIu64 "\">", box->bytes);
}

static void end_picture_part(const struct html_drawing *d, const struct hi_page_box *box,
			     const char *element)
{
	put_node_title_text(d, box->title);
	fprintf(d->out, "</%s>\n", element);
}

static void put_ring_legend(const struct html_drawing *d, size_t i, double share)
{
	const struct hi_page_box *box = &d->picture->boxes[i];
	double y = RING - LEGEND_ROW * (double)(d->picture->n_boxes - 1) / 2 +
		   LEGEND_ROW * (double)(i - 1);
	char bytes[24], text[200];

	fprintf(d->out, "<g class=\"kind k%d\"><rect width=\"11\" height=\"11\"",
		(int)box->kind);
	hi_svg_attribute(d->out, "x", LEGEND_X);
	hi_svg_attribute(d->out, "y", y);
	fprintf(d->out, " fill=\"%s\"/></g>", kind_colours[box->kind]);
	snprintf(text, sizeof(text), "%.100s %s, %.1f %%", box->label,
		 hi_text_bytes(bytes, box->bytes), share * 100);
	hi_svg_label(d->out, "", LEGEND_X + 17, y + 10, text, 0);
	putc('\n', d->out);
}

static void put_ring(const struct html_drawing *d)
{
	const struct hi_page_picture *p = d->picture;
	double all = 0, from = 0;

	for (size_t i = 1; i < p->n_boxes; i++)
		all += (double)p->boxes[i].bytes;
	begin_figure(d, PARTS_WIDTH, PARTS_HEIGHT);
	for (size_t i = 1; i < p->n_boxes && all > 0; i++) {
		double share = (double)p->boxes[i].bytes / all;
		const char *element;

		begin_picture_part(d, &p->boxes[i], &element);
		fprintf(d->out, "<path fill=\"%s\" stroke=\"#fff\" d=\"",
			kind_colours[p->boxes[i].kind]);
		put_ring_part(d->out, from, from + share);
		fputs("\"/>", d->out);
		end_picture_part(d, &p->boxes[i], element);
		put_ring_legend(d, i, share);
		from += share;
	}
	hi_svg_label(d->out, MIDDLE, RING, RING + 4, p->boxes[0].label, 20);
	end_figure(d, p->n_left_out);
}

static void put_picture_bar(const struct html_drawing *d, size_t i, double most)
{
	const struct hi_page_box *box = &d->picture->boxes[i];
	size_t n = d->picture->n_boxes - 1;
	double slot = (double)PARTS_WIDTH / (double)n, x = slot * (double)(i - 1);
	double height = (double)box->bytes / most * (BAR_BOTTOM - BAR_TOP);
	size_t every = (size_t)ceil(BAR_LABEL / slot);
	const char *element;

	begin_picture_part(d, box, &element);
	/* A bar that is too low is seen, and found by a pointer. */
	height = box->bytes ? fmax(height, 1) : 0;
	fputs("<rect", d->out);
	hi_svg_box(d->out, x + 1, BAR_BOTTOM - height, fmax(slot - 2, 1), height);
	fprintf(d->out, " fill=\"%s\"/>", kind_colours[box->kind]);
	end_picture_part(d, box, element);
	if ((i - 1) % every == 0)
		hi_svg_label(d->out, MIDDLE,
			     fmin(fmax(x + slot / 2, BAR_LABEL / 2.0),
				  PARTS_WIDTH - BAR_LABEL / 2.0),
			     BAR_BOTTOM + 16, box->label, 12);
}

static void put_bars(const struct html_drawing *d)
{
	const struct hi_page_picture *p = d->picture;
	char bytes[24];
	double most = 1;

	for (size_t i = 1; i < p->n_boxes; i++)
		most = fmax(most, (double)p->boxes[i].bytes);
	begin_figure(d, PARTS_WIDTH, PARTS_HEIGHT);
	for (size_t i = 1; i < p->n_boxes; i++)
		put_picture_bar(d, i, most);
	hi_svg_line(d->out, AXIS, 0, BAR_BOTTOM, PARTS_WIDTH, BAR_BOTTOM);
	hi_svg_line(d->out, AXIS, 0, BAR_TOP, 6, BAR_TOP);
	hi_svg_label(d->out, "", 9, BAR_TOP - 6, hi_text_bytes(bytes, (uint64_t)most), 0);
	end_figure(d, p->n_left_out);
}

/* ---- bands ---- */

/* Of a picture of bands. */
struct band_drawing {
	const struct html_drawing *d;
	const struct hi_page_picture *p;
	struct hi_plot plot;
};

/* So many times that the picture has its size. */
static void choose_times(struct band_drawing *b)
{
	const struct hi_page_picture *p = b->p;
	size_t most = (HI_HTML_PICTURE_SIZE - 64 * 1024) / (p->n_bands * 32);

	for (size_t i = 0; i < p->n_bands; i++)
		hi_plot_add(&b->plot, p->bands[i].values);
	hi_plot_choose(&b->plot, most < HI_PAGE_TIMES_MAX ? most : HI_PAGE_TIMES_MAX);
	for (size_t i = 0; i < b->plot.n_drawn; i++)
		b->plot.most = fmax(b->plot.most, b->plot.totals[b->plot.drawn[i]]);
	b->plot.left = LEFT;
	b->plot.right = HI_PAGE_PICTURE_WIDTH - RIGHT;
	b->plot.top = TOP;
	b->plot.bottom = BOTTOM;
}

static void put_page_band(struct band_drawing *b, size_t k)
{
	const struct hi_page_band *band = &b->p->bands[k];
	const char *element = begin_picture_node(b->d, "band", (int)(k % 8), band->link);

	fprintf(b->d->out, "><path fill=\"%s\" d=\"", hi_svg_colour(k));
	hi_plot_outline(&b->plot, band->values, b->d->out);
	fputs("\"/>", b->d->out);
	put_node_title_text(b->d, band->title);
	fprintf(b->d->out, "</%s>\n", element);
}

static void put_band_axes(const struct band_drawing *b)
{
	const struct hi_plot *s = &b->plot;
	double step = hi_svg_step(s->most, 6, true, true), time;
	FILE *out = b->d->out;
	char text[40], unit[64];

	for (unsigned i = 0; i < 20 && i * step <= s->most * 1.0001; i++) {
		double y = hi_plot_y(s, i * step);

		hi_svg_line(out, AXIS, LEFT - 4, y, LEFT, y);
		hi_svg_label(out, "text-anchor=\"end\"", LEFT - 7, y + 4,
			     hi_svg_axis_value(text, i * step,
					       (struct hi_svg_unit){.binary = true}),
			     0);
	}
	for (unsigned i = 0; hi_plot_tick(s, 10, i, &time, text); i++) {
		double x = hi_plot_x(s, time);

		hi_svg_line(out, AXIS, x, BOTTOM, x, BOTTOM + 5);
		hi_svg_label(out, MIDDLE, x, BOTTOM + 17, text, 0);
	}
	hi_svg_line(out, AXIS, LEFT, TOP, LEFT, BOTTOM);
	hi_svg_line(out, AXIS, LEFT, BOTTOM, s->right, BOTTOM);
	snprintf(unit, sizeof(unit), "time (%.40s)", b->p->time_unit);
	hi_svg_label(out, MIDDLE, (LEFT + s->right) / 2, BOTTOM + 33, unit, 0);
}

/* Names stand to the right of the plot, each with a line to its band, in the order of
 * the stack: no one has to tell colours apart. */
static void put_band_labels(const struct band_drawing *b)
{
	size_t last = b->p->n_times - 1, n = b->p->n_bands;
	double y[HI_PAGE_BANDS_MAX], centre[HI_PAGE_BANDS_MAX], sum = 0;
	double gap = fmin(BAND_LABEL, (double)(BOTTOM - TOP) / (double)n);
	double x = b->plot.right + 18;

	for (size_t i = 0; i < n; i++) {
		double value = b->p->bands[i].values[last];

		centre[i] = y[i] = hi_plot_y(&b->plot, sum + value / 2);
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
		hi_svg_line(b->d->out, "class=\"leader\"" GREY, b->plot.right, centre[i],
			    x - 3, y[i]);
		hi_svg_label(b->d->out, "text-anchor=\"start\"", x, y[i] + 4, band->label,
			     (size_t)((RIGHT - 20) / character));
		fprintf(b->d->out, "</%s>\n", element);
	}
}

static void put_page_marks(const struct band_drawing *b)
{
	for (size_t i = 0; i < b->p->n_marks; i++) {
		const struct hi_page_mark *mark = &b->p->marks[i];
		const char *element;
		double x = hi_plot_x(&b->plot, mark->time), y = TOP;

		if (!(mark->time >= b->plot.from && mark->time <= b->plot.to))
			continue;
		element = begin_picture_node(b->d, "mark", 0, mark->link);
		putc('>', b->d->out);
		if (isnan(mark->value)) {
			hi_svg_line(b->d->out,
				    "class=\"markline\"" GREY " stroke-dasharray=\"4 3\"",
				    x, TOP, x, BOTTOM);
		} else {
			y = hi_plot_y(&b->plot, fmin(fmax(mark->value, 0), b->plot.most));
			fputs("<circle r=\"6\" fill=\"#fff\" stroke=\"#222\" "
			      "stroke-width=\"2\"",
			      b->d->out);
			hi_svg_attribute(b->d->out, "cx", x);
			hi_svg_attribute(b->d->out, "cy", y);
			fputs("/>", b->d->out);
		}
		hi_svg_label(b->d->out, MIDDLE, x, y - 9, mark->label, 20);
		put_node_title_text(b->d, mark->title);
		fprintf(b->d->out, "</%s>\n", element);
	}
}

static enum hi_status put_band_picture(const struct html_drawing *d, struct hi_error *err)
{
	const struct hi_page_picture *p = d->picture;
	struct band_drawing b = {.d = d, .p = p};
	enum hi_status status;

	if (!p->n_times || !p->n_bands)
		return HI_OK;
	status = hi_plot_begin(&b.plot, p->times, p->n_times, err);
	if (status != HI_OK)
		return status;
	choose_times(&b);
	begin_figure(d, HI_PAGE_PICTURE_WIDTH, BOTTOM + BELOW);
	for (size_t k = 0; k < p->n_bands; k++)
		put_page_band(&b, k);
	put_band_axes(&b);
	put_band_labels(&b);
	put_page_marks(&b);
	end_figure(d, 0);
	hi_plot_free(&b.plot);
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
	if (picture->n_boxes < 2 &&
	    (picture->shape == HI_PAGE_DONUT || picture->shape == HI_PAGE_BARS))
		return HI_OK;
	if (picture->shape == HI_PAGE_DONUT || picture->shape == HI_PAGE_BARS) {
		(picture->shape == HI_PAGE_DONUT ? put_ring : put_bars)(&d);
		return HI_OK;
	}
	return picture->n_boxes ? put_box_picture(&d, err) : HI_OK;
}
