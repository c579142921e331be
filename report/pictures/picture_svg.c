/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/picture_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/pictures/picture_script.h"
#include "report/pictures/treemap.h"
#include "report/svg.h"

enum {
	WIDTH = 1200,
	LEFT = 12,
	TOP = 92,
	ROW = 18,
	BELOW = 78,
	NARROW = 780, /* a window: the legend wraps there */
	MAP_HEIGHT = 720,
	NAME = 2400, /* bytes of a name: a label and a type */
	LEGEND_MODULES = 10,
	LEGEND_NAME = 40, /* characters */
};
static const double character = 6.6; /* px of one */

struct drawing {
	const struct hi_picture *picture;
	enum hi_picture_shape shape;
	FILE *out;
	struct hi_treemap_box *boxes; /* of a treemap */
};

/* ---- text ---- */

/* "->index: hash node"; hostile. */
static const char *name_of_node(const struct hi_picture_node *node, char out[NAME])
{
	char count[32];

	if (node->kind == HI_PICTURE_REST)
		snprintf(out, NAME, "%s smaller", hi_text_count(count, node->count));
	else if (node->depth == 0)
		snprintf(out, NAME, "the whole heap");
	else
		snprintf(out, NAME, "%s%s%s", node->label,
			 *node->label && *node->type ? ": " : "", node->type);
	return out;
}

static void put_percent_of(FILE *out, const struct hi_picture *p, uint64_t bytes)
{
	double all = (double)p->nodes[0].bytes;

	fprintf(out, "%.1f %%", all > 0 ? (double)bytes * 100 / all : 0.0);
}

/* The name; "3,000 x dict hold 2.2 MiB (52.1 %), 192 KiB of it themselves". */
static void put_node_title(const struct drawing *d, const struct hi_picture_node *node)
{
	char name[NAME], bytes[24], own[24], count[32];

	fputs("<title>", d->out);
	hi_svg_text(d->out, name_of_node(node, name), 0);
	putc('\n', d->out);
	if (node->kind == HI_PICTURE_REST)
		fprintf(d->out, "%s groups too small to draw: ",
			hi_text_count(count, node->count));
	else if (node->count)
		fprintf(d->out, "%s object%s %s ", hi_text_count(count, node->count),
			node->count == 1 ? "" : "s",
			node->kind == HI_PICTURE_LEAKED ? "leaked, with what they hold"
			: node->count == 1		? "holds"
							: "hold");
	fprintf(d->out, "%s (", hi_text_bytes(bytes, node->bytes));
	put_percent_of(d->out, d->picture, node->bytes);
	putc(')', d->out);
	if (node->own && node->own != node->bytes)
		fprintf(d->out, ", %s of it %s", hi_text_bytes(own, node->own),
			node->count == 1 ? "itself" : "themselves");
	if (node->full_type) {
		putc('\n', d->out);
		hi_svg_text(d->out, node->full_type, 0);
	}
	fputs("</title>", d->out);
}

static void put_node_name(const struct drawing *d, const struct hi_picture_node *node,
			  double x, double y, double width)
{
	char name[NAME];
	double most = (width - 6) / character;

	if (most < 3)
		return;
	name_of_node(node, name);
	hi_svg_label(d->out, "", x, y, name, (size_t)most);
}

static void begin_node(const struct drawing *d, const struct hi_picture_node *node,
		       int32_t parent)
{
	char color[16] = "";

	if (node->module)
		snprintf(color, sizeof(color), " m%u",
			 hi_picture_module_color(node->module));
	fprintf(d->out,
		"<svg class=\"f k%d%s\" data-p=\"%" PRId32 "\" data-b=\"%" PRIu64 "\"",
		(int)node->kind, color, parent, node->bytes);
}

/* ---- flame graph ---- */

/* Of the whole in millionths, rounded down, so that children stay in their parents. */
static uint64_t millionths_of(const struct hi_picture *p, double bytes)
{
	double all = (double)p->nodes[0].bytes;

	return all > 0 ? (uint64_t)floor(fmin(bytes / all, 1) * 1e6 + 1e-6) : 0;
}

/* As a percentage with four decimals, whatever the locale says. */
static void put_percent_attribute(FILE *out, const char *name, uint64_t millionths)
{
	fprintf(out, " %s=\"%" PRIu64 ".%04" PRIu64 "%%\"", name, millionths / 10000,
		millionths % 10000);
}

static void put_flame_node(const struct drawing *d, size_t i, double from)
{
	const struct hi_picture_node *node = &d->picture->nodes[i];
	uint64_t left = millionths_of(d->picture, from);
	uint64_t right = millionths_of(d->picture, from + (double)node->bytes);

	if (i == 0)
		right = 1000000; /* of an empty heap, too */
	begin_node(d, node, node->parent);
	put_percent_attribute(d->out, "x", left);
	fprintf(d->out, " y=\"%" PRIu32 "\"", node->depth * ROW);
	put_percent_attribute(d->out, "width", right - left);
	fprintf(d->out, " height=\"%d\">", ROW);
	put_node_title(d, node);
	fputs("<rect width=\"100%\" height=\"100%\"/>", d->out);
	put_node_name(d, node, 3, 13, (double)(right - left) / 1e6 * WIDTH);
	fputs("</svg>\n", d->out);
}

/* Children stand below their parent, from its left end on. */
static enum hi_status put_flame(const struct drawing *d, struct hi_error *err)
{
	const struct hi_picture *p = d->picture;
	HI_GUARD(free) double *from = hi_calloc(p->count, sizeof(*from));

	if (!from)
		return hi_fail_memory(err, "picture");
	for (size_t i = 0; i < p->count; i++) {
		double at = from[i];

		for (int32_t k = p->nodes[i].children; k < p->nodes[i].after; k++) {
			from[k] = at;
			at += (double)p->nodes[k].bytes;
		}
		put_flame_node(d, i, from[i]);
	}
	return HI_OK;
}

/* ---- treemap ---- */

static void put_treemap_box(const struct drawing *d, size_t i, int32_t parent)
{
	const struct hi_picture_node *node = &d->picture->nodes[i];
	const struct hi_treemap_box *box = &d->boxes[i];
	bool is_leaf = node->children >= node->after;

	begin_node(d, node, parent);
	hi_svg_box(d->out, box->x, box->y, box->width, box->height);
	putc('>', d->out);
	put_node_title(d, node);
	fputs("<rect width=\"100%\" height=\"100%\"/>", d->out);
	if (box->has_strip || (is_leaf && box->height >= HI_TREEMAP_STRIP))
		put_node_name(d, node, 3, 12, box->width);
	fputs("</svg>\n", d->out);
}

/* A box that is not drawn has none below it that is: numbers of parents are those of
 * the nodes that are drawn. */
static enum hi_status put_treemap(struct drawing *d, struct hi_error *err)
{
	const struct hi_picture *p = d->picture;
	HI_GUARD(free) int32_t *number = hi_calloc(p->count, sizeof(*number));
	HI_GUARD(free) struct hi_treemap_box *boxes = hi_calloc(p->count, sizeof(*boxes));
	int32_t n = 0;

	if (!number || !boxes)
		return hi_fail_memory(err, "picture");
	hi_treemap_lay_out(p, WIDTH, MAP_HEIGHT, boxes);
	d->boxes = boxes;
	for (size_t i = 0; i < p->count; i++) {
		if (boxes[i].width <= 0)
			continue;
		number[i] = n++;
		put_treemap_box(d, i, i ? number[p->nodes[i].parent] : HI_PICTURE_NONE);
	}
	return HI_OK;
}

/* ---- around it ---- */

/* Does it show functions, which have the colours of their modules? */
static bool has_modules(const struct hi_picture *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->nodes[i].module)
			return true;
	return false;
}

static void put_picture_text(FILE *out, const char *class, const char *x, int y,
			     const char *text)
{
	fprintf(out, "<text class=\"%s\" x=\"%s\" y=\"%d\">", class, x, y);
	hi_svg_text(out, text, 0);
	fputs("</text>\n", out);
}

static void picture_title(const struct hi_report_header *h, char out[NAME])
{
	const char *exe = h->exe && *h->exe ? hi_base_name(h->exe) : "heap";
	const char *script = h->script && *h->script ? hi_base_name(h->script) : "";
	char pid[32] = "";

	if (h->pid)
		snprintf(pid, sizeof(pid), ", pid %d", h->pid);
	snprintf(out, NAME, "%.200s%s%.200s%s", exe, *script ? " " : "", script, pid);
}

static void picture_subtitle(const struct hi_picture *p, char out[NAME])
{
	char bytes[24], count[32], leaked[80] = "", more[24], when[40] = "";
	char before[96] = "";
	time_t seconds = (time_t)(p->header->time_ns / 1000000000);
	struct tm tm;

	if (p->leak_bytes)
		snprintf(leaked, sizeof(leaked), ", %s leaked",
			 hi_text_bytes(more, p->leak_bytes));
	if (p->before_bytes)
		snprintf(before, sizeof(before),
			 "; left out: %s from before the recording",
			 hi_text_bytes(more, p->before_bytes));
	if (p->header->time_ns != UINT64_MAX && gmtime_r(&seconds, &tm))
		(void)strftime(when, sizeof(when), " \xc2\xb7 %Y-%m-%d %H:%M:%S UTC",
			       &tm);
	snprintf(out, NAME, "%s%s live in %s objects%s%s \xc2\xb7 %s%s",
		 hi_heap_at_least(p->header), hi_text_bytes(bytes, p->live_bytes),
		 hi_text_count(count, p->live_objects), leaked, before,
		 has_modules(p) ? "what functions allocated, below their callers"
				: "what is retained, below what holds it",
		 when);
}

struct legend_place {
	int x, y;
};

/* The next entry, from the left; class: "k1"; the name is hostile. */
static void put_legend_entry(const struct drawing *d, struct legend_place *at,
			     const char *class, const char *name)
{
	int width = 17 + (int)((double)strlen(name) * 7) + 12;

	if (at->x + width > NARROW) {
		at->x = LEFT;
		at->y += 20;
	}
	fprintf(d->out,
		"<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"12\" "
		"height=\"12\"/></g><text class=\"dim\" x=\"%d\" y=\"%d\">",
		class, at->x, at->y - 10, at->x + 17, at->y);
	hi_svg_text(d->out, name, LEGEND_NAME);
	fputs("</text>\n", d->out);
	at->x += width;
}

/* The kinds that are there, but for functions, which have the colours of modules. */
static void put_kinds(const struct drawing *d, struct legend_place *at)
{
	const struct hi_picture *p = d->picture;
	bool has[HI_PICTURE_KINDS] = {};
	char class[16];

	for (size_t i = 0; i < p->count; i++)
		has[p->nodes[i].kind] |= !p->nodes[i].module;
	for (int k = 0; k < HI_PICTURE_KINDS; k++) {
		const char *name = hi_picture_kind_name((enum hi_picture_kind)k);

		if (!has[k] || (k == HI_PICTURE_ROOT && has_modules(p)))
			continue;
		snprintf(class, sizeof(class), "k%d", k);
		put_legend_entry(d, at, class, name);
	}
}

/* The modules whose functions have most bytes: nodes come level by level. */
static void put_modules(const struct drawing *d, struct legend_place *at)
{
	const char *shown[LEGEND_MODULES];
	char class[16];
	size_t n = 0;

	for (size_t i = 0; i < d->picture->count && n < LEGEND_MODULES; i++) {
		const char *module = d->picture->nodes[i].module;
		size_t k = 0;

		while (module && k < n && strcmp(shown[k], module) != 0)
			k++;
		if (!module || k < n)
			continue;
		shown[n++] = module;
		snprintf(class, sizeof(class), "m%u", hi_picture_module_color(module));
		put_legend_entry(d, at, class, module);
	}
}

static int height_of_plot(const struct drawing *d)
{
	return d->shape == HI_PICTURE_FLAME ? (int)(d->picture->deepest + 1) * ROW
					    : MAP_HEIGHT;
}

/* Classes m0 to m11, after those of kinds. */
static void put_module_style(FILE *out)
{
	fputs("<style>\n", out);
	for (unsigned i = 0; i < HI_PICTURE_COLORS; i++)
		fprintf(out, ".m%u rect{fill:%s}\n", i, hi_picture_color_text(i));
	fputs("</style>\n", out);
}

static void put_picture_head(const struct drawing *d)
{
	int plot = height_of_plot(d), height = TOP + plot + BELOW;
	char text[NAME];

	picture_title(d->picture->header, text);
	fprintf(d->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
		WIDTH, height, WIDTH, height);
	hi_svg_text(d->out, text, 0);
	fprintf(d->out, "</title>\n%s", hi_picture_style);
	if (has_modules(d->picture))
		put_module_style(d->out);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", d->out);
	put_picture_text(d->out, "title", "12", 28, text);
	picture_subtitle(d->picture, text);
	put_picture_text(d->out, "dim", "12", 48, text);
	put_picture_text(d->out, "found", "292", 74, "");
	fprintf(d->out,
		"<svg class=\"plot %s\" x=\"0\" y=\"%d\" width=\"100%%\" "
		"height=\"%d\">\n",
		d->shape == HI_PICTURE_FLAME ? "flame" : "treemap", TOP, plot);
}

static void put_picture_foot(const struct drawing *d)
{
	int y = TOP + height_of_plot(d);
	struct legend_place at;

	fputs("</svg>\n", d->out);
	at = (struct legend_place){LEFT, y + 44};
	put_modules(d, &at);
	put_kinds(d, &at);
	put_picture_text(d->out, "info", "12", y + 20,
			 has_modules(d->picture)
				 ? "A frame is as wide as what is live of all that was "
				   "allocated in it. Point at one for its figures."
			 : d->shape == HI_PICTURE_FLAME
				 ? "A frame is as wide as what it retains. Point at one "
				   "for its figures."
				 : "A box is as large as what it retains. Point at one "
				   "for its figures.");
	fprintf(d->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", hi_picture_script);
}

enum hi_status hi_picture_svg_write(const struct hi_picture *picture,
				    enum hi_picture_shape shape, FILE *out,
				    struct hi_error *err)
{
	struct drawing d = {.picture = picture, .shape = shape, .out = out};
	enum hi_status status;

	put_picture_head(&d);
	status = shape == HI_PICTURE_FLAME ? put_flame(&d, err) : put_treemap(&d, err);
	if (status == HI_OK)
		put_picture_foot(&d);
	return status;
}
