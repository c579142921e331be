/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/browse/browse_screen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/text_internal.h"
#include "report/reports/browse/browse_columns.h"

enum {
	ABOVE = 2,	  /* lines above the list and its titles */
	BELOW = 1,	  /* and below */
	LIST_LEAST = 4,	  /* rows of a list that has texts below it */
	WITH_TOTALS = 64, /* columns of a screen that shows all of them */
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
		d->columns < WITH_TOTALS
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

static void put_list_row(struct drawing *d, const struct hi_browse_columns *columns,
			 size_t at, bool is_selected)
{
	const struct hi_browse_list *list = hi_browse_shown(d->browse)->list;

	put_screen_line(d, is_selected ? HI_LOOK_SELECTED : HI_LOOK_PLAIN,
			hi_browse_cells(d->browse, &d->style, columns,
					&list->rows.items[at], &d->screen->arena));
}

/* The texts of the selected row, whole. */
static void put_details(struct drawing *d, unsigned lines)
{
	const struct hi_browse_level *level = hi_browse_shown(d->browse);
	const char *text = level->at < level->list->rows.count
				   ? hi_browse_detail(d->browse, &d->style,
						      &level->list->rows.items[level->at],
						      &d->screen->arena)
				   : "";

	d->failed |= !text;
	for (unsigned i = 0; i < lines; i++) {
		struct hi_text_line line = {};

		if (text && i + 1 < lines)
			line = hi_text_next_line(&d->style, text, d->columns - 1);
		else if (text)
			line.bytes = strlen(text);
		put_screen_line(d, HI_LOOK_DIM,
				hi_arena_printf(&d->screen->arena, " %.*s",
						(int)line.bytes, text ? text : ""));
		text = text ? text + line.next : NULL;
	}
}

static void put_list_rows(struct drawing *d, const struct hi_browse_columns *columns,
			  unsigned height)
{
	const struct hi_browse_level *level = hi_browse_shown(d->browse);
	const struct hi_browse_list *list = level->list;

	for (size_t i = 0; i < height; i++) {
		size_t at = level->first + i;

		if (at < list->rows.count)
			put_list_row(d, columns, at, at == level->at);
		else
			put_screen_line(d, HI_LOOK_PLAIN,
					!list->rows.count && !i ? "  nothing is here"
								: "");
	}
}

/* room: lines for titles, rows and what stands below them. */
static void put_list(struct drawing *d, unsigned room)
{
	struct hi_browse_columns columns = hi_browse_columns_of(d->browse, &d->style);
	unsigned height = room - 1;

	d->failed |= columns.failed;
	if (columns.details + LIST_LEAST > height)
		columns.details = height > LIST_LEAST ? height - LIST_LEAST : 0;
	height -= columns.details;
	hi_browse_resize(d->browse, height);
	put_screen_line(
		d, HI_LOOK_DIM,
		hi_browse_titles(d->browse, &d->style, &columns, &d->screen->arena));
	put_list_rows(d, &columns, height);
	put_details(d, columns.details);
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

	put_first_line(d, now_ns);
	put_place(d);
	if (d->browse->mode == HI_BROWSE_TEXT) {
		hi_browse_resize(d->browse, height);
		status = put_text_page(d, height, err);
	} else {
		put_list(d, height);
	}
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
