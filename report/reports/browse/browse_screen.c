/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/browse/browse_screen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/text_internal.h"

enum {
	ABOVE = 2,	   /* lines above the list */
	BELOW = 1,	   /* and below */
	GRAPH = 10,	   /* characters of a bar */
	OBJECTS = 12,	   /* columns of their number */
	WITH_OBJECTS = 64, /* columns of a screen that shows it */
	WITH_GRAPH = 50,
	NAME_LEAST = 6, /* columns of a name before what is not cut */
	CELLS = 128,
};

struct drawing {
	struct hi_browse *browse;
	struct hi_browse_screen *screen;
	struct hi_text_style style;
	unsigned columns;
	bool failed;
};

/* ---- one line ---- */

/* Exactly as wide as the screen. */
static const char *fill_line(struct drawing *d, const char *text)
{
	struct hi_arena *arena = &d->screen->arena;
	const char *fit = hi_text_fit(&d->style, arena, text, d->columns);
	char *out;
	unsigned used;
	size_t n;

	if (!fit)
		goto failed;
	used = hi_text_columns(&d->style, fit);
	n = strlen(fit);
	out = hi_arena_alloc(arena, n + d->columns + 1);
	if (!out)
		goto failed;
	memcpy(out, fit, n);
	memset(out + n, ' ', d->columns - (used < d->columns ? used : d->columns));
	return out;
failed:
	d->failed = true;
	return "";
}

static void put_screen_line(struct drawing *d, enum hi_browse_look look, const char *text)
{
	d->screen->lines[d->screen->n_lines++] =
		(struct hi_browse_line){look, fill_line(d, text ? text : "")};
	d->failed |= !text;
}

static const char *fit_text(struct drawing *d, const char *text, unsigned columns)
{
	const char *fit = hi_text_fit(&d->style, &d->screen->arena, text, columns);

	d->failed |= !fit;
	return fit ? fit : "";
}

/* left ... right; what does not fit is cut on the left side. */
static void put_two_texts(struct drawing *d, enum hi_browse_look look, const char *left,
			  const char *right)
{
	unsigned wide, room, used;

	right = fit_text(d, right, d->columns / 2);
	wide = hi_text_columns(&d->style, right);
	room = d->columns - wide - (wide > 0);
	left = fit_text(d, left, room);
	used = hi_text_columns(&d->style, left);
	put_screen_line(d, look,
			hi_arena_printf(&d->screen->arena, "%s%*s%s", left,
					(int)(d->columns - wide - used), "", right));
}

/* ---- the first two lines ---- */

static const char *age_text(const struct hi_browse_about *about, uint64_t now_ns,
			    struct hi_arena *arena)
{
	uint64_t s;

	if (about->time_ns == UINT64_MAX || !about->time_ns || about->time_ns > now_ns)
		return "";
	s = (now_ns - about->time_ns) / 1000000000;
	if (s < 120)
		return hi_arena_printf(arena, "%" PRIu64 " s ago", s);
	if (s < 7200)
		return hi_arena_printf(arena, "%" PRIu64 " min ago", s / 60);
	if (s < 2 * 86400)
		return hi_arena_printf(arena, "%" PRIu64 " h ago", s / 3600);
	return hi_arena_printf(arena, "%" PRIu64 " days ago", s / 86400);
}

static void put_first_line(struct drawing *d, uint64_t now_ns)
{
	const struct hi_browse_about *about = d->browse->about;
	struct hi_arena *arena = &d->screen->arena;
	const char *at_least = about->at_least ? "≥ " : "";
	const char *age = age_text(about, now_ns, arena);
	char bytes[24], n[32];
	const char *comma = age && *age ? ", " : "", *totals;

	if (!age)
		age = "";
	hi_bytes(bytes, about->bytes);
	totals =
		d->columns < WITH_OBJECTS
			? hi_arena_printf(arena, "%s%s%s%s", at_least, bytes, comma, age)
			: hi_arena_printf(arena, "%s%s live, %s objects%s%s", at_least,
					  bytes, hi_count(n, about->objects), comma, age);
	if (!totals) {
		d->failed = true;
		totals = "";
	}
	put_two_texts(d, HI_LOOK_BAR, about->title, totals);
}

static const char *describe_list(struct drawing *d, const struct hi_browse_list *list)
{
	static const char *const names[] = {
		[HI_BROWSE_TREE] = "Dominator tree", [HI_BROWSE_MEMBERS] = "Objects",
		[HI_BROWSE_TYPES] = "Types",	     [HI_BROWSE_OBJECTS] = "Objects",
		[HI_BROWSE_REFERRERS] = "Referrers", [HI_BROWSE_PATH] = "Path"};
	static const char *const joined[] = {
		[HI_BROWSE_TREE] = "below",   [HI_BROWSE_MEMBERS] = "of",
		[HI_BROWSE_TYPES] = "",	      [HI_BROWSE_OBJECTS] = "of",
		[HI_BROWSE_REFERRERS] = "of", [HI_BROWSE_PATH] = "to"};

	if (!*list->title)
		return names[list->kind];
	return hi_arena_printf(&d->screen->arena, "%s %s %s", names[list->kind],
			       joined[list->kind], list->title);
}

/* "server > ->db[] > [2]": from the top of the dominator tree. */
static const char *describe_opened_rows(struct drawing *d)
{
	const struct hi_browse *b = d->browse;
	const char *text = "";

	for (size_t i = b->levels.count; text && i-- > 0;) {
		const struct hi_browse_list *list = b->levels.items[i].list;

		if (list->kind != HI_BROWSE_TREE && list->kind != HI_BROWSE_MEMBERS)
			break;
		if (*list->step)
			text = hi_arena_printf(&d->screen->arena, "%s%s%s", list->step,
					       *text ? " > " : "", text);
		/* More is cut off anyway. */
		if (text && strlen(text) > 4 * (size_t)d->columns)
			break;
	}
	return text && *text
		       ? hi_arena_printf(&d->screen->arena, "Dominator tree: %s", text)
		       : text;
}

static void put_place(struct drawing *d)
{
	static const char *const sorts[] = {"bytes", "objects", "name"};
	struct hi_browse_level *level = hi_browse_shown(d->browse);
	const char *steps = describe_opened_rows(d);
	const char *text = steps && *steps ? steps : describe_list(d, level->list);
	size_t n = level->list->rows.count;
	const char *right = hi_arena_printf(
		&d->screen->arena, "%zu/%zu, by %s%s", n ? level->at + 1 : 0, n,
		level->list->kind == HI_BROWSE_PATH ? "step" : sorts[level->sort],
		level->is_reversed ? ", reversed" : "");

	d->failed |= !text || !right;
	put_two_texts(d, HI_LOOK_DIM, text ? text : "", right ? right : "");
}

/* ---- rows ---- */

static void add_graph(char *out, size_t size, uint64_t bytes, uint64_t all)
{
	unsigned n = 0;

	if (all && bytes != UINT64_MAX && all != UINT64_MAX)
		n = (unsigned)((double)bytes / (double)all * GRAPH + 0.5);
	if (n > GRAPH)
		n = GRAPH;
	snprintf(out, size, " [%.*s%*s]", (int)n, "##########", (int)(GRAPH - n), "");
}

/* The columns in front of the name. */
static void write_figures(const struct drawing *d, const struct hi_browse_list *list,
			  const struct hi_browse_row *row, char out[CELLS])
{
	enum hi_browse_share share = d->browse->share;
	char bytes[24], percent[16], n[32];
	size_t used = (size_t)snprintf(out, CELLS, "%10s", hi_bytes(bytes, row->bytes));

	if (share == HI_BROWSE_BOTH || share == HI_BROWSE_PERCENT)
		used += (size_t)snprintf(
			out + used, CELLS - used, " %7s",
			row->bytes == UINT64_MAX
				? ""
				: hi_percent(percent, row->bytes, list->bytes));
	if ((share == HI_BROWSE_BOTH && d->columns >= WITH_GRAPH) ||
	    share == HI_BROWSE_GRAPH) {
		add_graph(out + used, CELLS - used, row->bytes, list->bytes);
		used += strlen(out + used);
	}
	if (d->columns >= WITH_OBJECTS)
		used += (size_t)snprintf(out + used, CELLS - used, " %*s", OBJECTS - 1,
					 hi_count(n, row->objects));
	snprintf(out + used, CELLS - used, " %c ", row->opens ? '+' : ' ');
}

/* "10,000 × struct session", "struct session 0x55…". */
static const char *describe_row(struct drawing *d, const struct hi_browse_list *list,
				const struct hi_browse_row *row)
{
	const struct hi_graph *g = d->browse->heap->graph;
	struct hi_arena *arena = &d->screen->arena;
	char n[32];

	if (row->members > 1)
		return hi_arena_printf(arena, "%s%s%s", hi_count(n, row->members),
				       *row->what ? " × " : "", row->what);
	if (row->kind == HI_BROWSE_NODE && hi_graph_is_object(g, row->node) &&
	    (!*row->name || list->kind != HI_BROWSE_TREE || d->columns >= 100))
		return hi_arena_printf(arena, "%s 0x%" PRIx64, row->what,
				       hi_graph_address(g, row->node));
	return row->what;
}

/* Part of a figure or of an address would be another one: it is whole, or not there. The
 * columns of the name before it, or of all there is. */
static unsigned choose_name_columns(unsigned name, unsigned what, unsigned room,
				    bool is_figure)
{
	unsigned half = room / 2;

	return name + 2 + what <= room	       ? name
	       : is_figure || what + 2 <= half ? room - what - 2
	       : name <= half		       ? name
					       : half;
}

/* "struct s… 0x55…": cut before its address; without it where there is no room. */
static const char *fit_object(struct drawing *d, const char *what, unsigned columns)
{
	const char *address = strrchr(what, ' '), *type;
	unsigned wide;

	if (!address || strncmp(address, " 0x", 3) != 0 ||
	    hi_text_columns(&d->style, what) <= columns)
		return fit_text(d, what, columns);
	type = hi_arena_printf(&d->screen->arena, "%.*s", (int)(address - what), what);
	wide = (unsigned)strlen(address);
	if (!type || wide + NAME_LEAST > columns)
		return fit_text(d, type ? type : "", columns);
	type = fit_text(d, type, columns - wide);
	type = hi_arena_printf(&d->screen->arena, "%s%s", type, address);
	d->failed |= !type;
	return type ? type : "";
}

static void put_list_row(struct drawing *d, const struct hi_browse_list *list, size_t at,
			 bool is_selected)
{
	const struct hi_browse_row *row = &list->rows.items[at];
	bool is_figure = list->kind == HI_BROWSE_TYPES;
	char figures[CELLS];
	const char *what = describe_row(d, list, row), *name = row->name;
	unsigned room, wide;

	write_figures(d, list, row, figures);
	wide = (unsigned)strlen(figures);
	room = d->columns > wide ? d->columns - wide : 0;
	d->failed |= !what;
	wide = hi_text_columns(&d->style, what ? what : "");
	if (!what || (is_figure && wide + 2 + NAME_LEAST > room))
		what = "";
	if (*name && *what) {
		unsigned left = choose_name_columns(hi_text_columns(&d->style, name),
						    wide, room, is_figure);

		name = fit_text(d, name, left);
		left = hi_text_columns(&d->style, name) + 2;
		what = fit_object(d, what, room > left ? room - left : 0);
	} else if (*what) {
		what = fit_object(d, what, room);
	}
	put_screen_line(d, is_selected ? HI_LOOK_SELECTED : HI_LOOK_PLAIN,
			hi_arena_printf(&d->screen->arena, "%s%s%s%s", figures, name,
					*name && *what ? "  " : "", what));
}

static void put_list_rows(struct drawing *d, unsigned height)
{
	const struct hi_browse_level *level = hi_browse_shown(d->browse);
	const struct hi_browse_list *list = level->list;

	for (size_t i = 0; i < height; i++) {
		size_t at = level->first + i;

		if (at < list->rows.count)
			put_list_row(d, list, at, at == level->at);
		else
			put_screen_line(d, HI_LOOK_PLAIN,
					!list->rows.count && !i ? "  nothing is here"
								: "");
	}
}

/* ---- a page over the list ---- */

static enum hi_status render_text(struct drawing *d, char **ret, struct hi_error *err)
{
	struct hi_text_options options = {.width = d->columns, .utf8 = d->style.utf8};
	size_t size = 0;
	FILE *out = open_memstream(ret, &size);
	enum hi_status status;

	if (!out)
		return hi_fail_memory(err, "page");
	status = hi_text_render(d->browse->text, &options, out, err);
	if (fclose(out) != 0 && status == HI_OK)
		status = hi_fail_memory(err, "page");
	return status;
}

static enum hi_status put_text_page(struct drawing *d, unsigned height,
				    struct hi_error *err)
{
	char *text = NULL, *at, *line;
	size_t n = 0;
	enum hi_status status = render_text(d, &text, err);

	for (at = text; status == HI_OK && (line = strsep(&at, "\n")) && (at || *line);
	     n++)
		if (n >= d->browse->text_first && n < d->browse->text_first + height)
			put_screen_line(d, HI_LOOK_PLAIN, line);
	for (size_t i = d->screen->n_lines; status == HI_OK && i < ABOVE + height; i++)
		put_screen_line(d, HI_LOOK_PLAIN, "");
	d->browse->text_lines = n;
	free(text);
	return status;
}

/* ---- the last line ---- */

static const char *list_keys(unsigned columns)
{
	if (columns >= 120)
		return "enter opens  left back  s C n sort  g graph  / search  i info  "
		       "r referrers  p path  d tree  t types  ? help  q quit";
	if (columns >= 78)
		return "enter opens  left back  s C n sort  / search  i info  r p d t  "
		       "? help  q quit";
	return "enter left s C n i r p d t ? help q quit";
}

static void put_last_line(struct drawing *d)
{
	const struct hi_browse *b = d->browse;

	if (b->mode == HI_BROWSE_SEARCH)
		put_screen_line(d, HI_LOOK_BAR,
				hi_arena_printf(&d->screen->arena, "/%s_", b->search));
	else if (*b->message)
		put_screen_line(d, HI_LOOK_BAR, b->message);
	else if (b->mode == HI_BROWSE_TEXT)
		put_two_texts(d, HI_LOOK_BAR, "up down PgUp PgDn move  q closes",
			      b->text_first + b->height < b->text_lines ? "more" : "");
	else
		put_screen_line(d, HI_LOOK_BAR, list_keys(d->columns));
}

static void put_too_small(struct drawing *d, unsigned lines)
{
	put_screen_line(d, HI_LOOK_PLAIN,
			d->columns >= 24 ? "needs 40 columns, 10 lines" : "too small");
	while (d->screen->n_lines < lines)
		put_screen_line(d, HI_LOOK_PLAIN, "");
}

static enum hi_status draw_lines(struct drawing *d, unsigned lines, uint64_t now_ns,
				 struct hi_error *err)
{
	unsigned height = lines - ABOVE - BELOW;
	enum hi_status status = HI_OK;

	hi_browse_resize(d->browse, height);
	put_first_line(d, now_ns);
	put_place(d);
	if (d->browse->mode == HI_BROWSE_TEXT)
		status = put_text_page(d, height, err);
	else
		put_list_rows(d, height);
	put_last_line(d);
	return status;
}

enum hi_status hi_browse_draw(struct hi_browse *browse, unsigned columns, unsigned lines,
			      const struct hi_text_options *options, uint64_t now_ns,
			      struct hi_browse_screen *ret, struct hi_error *err)
{
	struct drawing d = {.browse = browse,
			    .screen = ret,
			    .style = {.width = columns, .utf8 = options->utf8},
			    .columns = columns};
	enum hi_status status = HI_OK;

	*ret = (struct hi_browse_screen){};
	ret->lines = hi_arena_alloc(&ret->arena, (lines + 1) * sizeof(*ret->lines));
	if (!ret->lines)
		return hi_fail_memory(err, "screen");
	if (columns < HI_BROWSE_COLUMNS_MIN || lines < HI_BROWSE_LINES_MIN)
		put_too_small(&d, lines);
	else
		status = draw_lines(&d, lines, now_ns, err);
	if (status == HI_OK && d.failed)
		status = hi_fail_memory(err, "screen");
	if (status != HI_OK)
		hi_browse_screen_free(ret);
	return status;
}

void hi_browse_screen_free(struct hi_browse_screen *screen)
{
	hi_arena_free(&screen->arena);
	*screen = (struct hi_browse_screen){};
}
