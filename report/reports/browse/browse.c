/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/browse/browse.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

enum { LEVELS_MAX = 1000 };

struct hi_browse_level *hi_browse_shown(struct hi_browse *b)
{
	return &b->levels.items[b->levels.count - 1];
}

bool hi_browse_has_ended(const struct hi_browse *b)
{
	return b->has_ended;
}

static void set_message(struct hi_browse *b, const char *text)
{
	snprintf(b->message, sizeof(b->message), "%s", text);
}

/* ---- order ---- */

struct row_order {
	enum hi_browse_sort sort;
	bool is_reversed;
};

static int compare_figures_of_rows(uint64_t a, uint64_t b)
{
	/* What is not known is no number: the least. */
	a = a == UINT64_MAX ? 0 : a + 1;
	b = b == UINT64_MAX ? 0 : b + 1;
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct hi_browse_row *x = a, *y = b;
	const struct row_order *order = arg;
	int by;

	if ((x->kind == HI_BROWSE_REST) != (y->kind == HI_BROWSE_REST))
		return x->kind == HI_BROWSE_REST ? 1 : -1;
	if (order->sort == HI_BROWSE_BY_NAME)
		by = strcmp(x->name, y->name);
	else if (order->sort == HI_BROWSE_BY_OBJECTS)
		by = compare_figures_of_rows(x->objects, y->objects);
	else
		by = compare_figures_of_rows(x->bytes, y->bytes);
	if (by)
		return order->is_reversed ? -by : by;
	by = compare_figures_of_rows(x->bytes, y->bytes);
	if (by)
		return by;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void sort_level(struct hi_browse_level *level, enum hi_browse_sort sort,
		       bool is_reversed)
{
	struct row_order order = {sort, is_reversed};
	struct hi_browse_list *list = level->list;

	level->sort = sort;
	level->is_reversed = is_reversed;
	if (list->rows.count > 1)
		qsort_r(list->rows.items, list->rows.count, sizeof(*list->rows.items),
			compare_rows, &order);
}

/* Steps of a path, and the objects of a list, stand in an order of their own. */
static bool has_own_order(const struct hi_browse_list *list)
{
	return list->kind == HI_BROWSE_PATH ||
	       (list->kind == HI_BROWSE_MEMBERS && list->is_chain);
}

static void sort_shown(struct hi_browse *b, enum hi_browse_sort sort)
{
	struct hi_browse_level *level = hi_browse_shown(b);

	if (level->list->kind == HI_BROWSE_PATH) {
		set_message(b, "a path has an order of its own");
		return;
	}
	b->is_reversed = b->sort == sort && !b->is_reversed;
	b->sort = sort;
	sort_level(level, b->sort, b->is_reversed);
	level->at = level->first = 0;
}

/* ---- levels ---- */

static void drop_level(struct hi_browse *b)
{
	hi_browse_list_destroy(b->levels.items[--b->levels.count].list);
}

static enum hi_status push_level(struct hi_browse *b, struct hi_browse_list *list,
				 struct hi_error *err)
{
	if (b->levels.count == LEVELS_MAX) {
		hi_browse_list_destroy(list);
		set_message(b, "this is too deep: d begins at the top again");
		return HI_OK;
	}
	if (!hi_vector_push(&b->levels, ((struct hi_browse_level){.list = list}))) {
		hi_browse_list_destroy(list);
		return hi_fail_memory(err, "list");
	}
	if (!has_own_order(list))
		sort_level(hi_browse_shown(b), b->sort, b->is_reversed);
	return HI_OK;
}

static const struct hi_browse_row *selected_row(struct hi_browse *b)
{
	struct hi_browse_level *level = hi_browse_shown(b);

	return level->at < level->list->rows.count ? &level->list->rows.items[level->at]
						   : NULL;
}

static enum hi_status open_selected(struct hi_browse *b, struct hi_error *err)
{
	const struct hi_browse_row *row = selected_row(b);
	struct hi_browse_list *list;
	enum hi_status status;

	if (!row)
		return HI_OK;
	if (!row->opens) {
		set_message(b, row->kind == HI_BROWSE_REST
				       ? "only the first 1,000 rows can be opened"
				       : "nothing is below this row");
		return HI_OK;
	}
	status = hi_browse_open(&b->browser, hi_browse_shown(b)->list,
				hi_browse_shown(b)->at, &list, err);
	if (status != HI_OK)
		return status;
	list->step = hi_page_printf(list->page, "%s", *row->name ? row->name : row->what);
	return push_level(b, list, err);
}

static void go_back(struct hi_browse *b)
{
	if (b->levels.count > 1)
		drop_level(b);
	else
		set_message(b, "this is the top: q quits");
}

/* The first level is always the top of the dominator tree: it is not made again. */
static void show_top(struct hi_browse *b)
{
	while (b->levels.count > 1)
		drop_level(b);
}

static enum hi_status open_types(struct hi_browse *b, struct hi_error *err)
{
	struct hi_browse_list *list;
	enum hi_status status = hi_browse_types(&b->browser, &list, err);

	if (status == HI_UNSUPPORTED) {
		set_message(b, err->text);
		return HI_OK;
	}
	if (status != HI_OK)
		return status;
	show_top(b);
	return push_level(b, list, err);
}

/* The object of the row; HI_NODE_NONE, with a message: it has none. */
static hi_node selected_node(struct hi_browse *b)
{
	const struct hi_browse_row *row = selected_row(b);

	if (row && row->node != HI_NODE_NONE && row->node < b->heap->graph->n_nodes)
		return row->node;
	set_message(b, "select a variable or an object first");
	return HI_NODE_NONE;
}

static enum hi_status open_referrers(struct hi_browse *b, struct hi_error *err)
{
	hi_node node = selected_node(b);
	struct hi_browse_list *list;
	enum hi_status status;

	if (node == HI_NODE_NONE)
		return HI_OK;
	if (!hi_graph_is_object(b->heap->graph, node)) {
		set_message(b, "a variable is a root: nothing has to refer to it");
		return HI_OK;
	}
	status = hi_browse_referrers(&b->browser, node, &list, err);
	return status == HI_OK ? push_level(b, list, err) : status;
}

static enum hi_status open_path(struct hi_browse *b, struct hi_error *err)
{
	hi_node node = selected_node(b);
	struct hi_browse_list *list;
	enum hi_status status;

	if (node == HI_NODE_NONE)
		return HI_OK;
	status = hi_browse_path(&b->browser, node, &list, err);
	if (status == HI_OK && !list->rows.count) {
		hi_browse_list_destroy(list);
		set_message(b, "no path from a root leads there");
		return HI_OK;
	}
	return status == HI_OK ? push_level(b, list, err) : status;
}

/* ---- pages over the list ---- */

static void close_text(struct hi_browse *b)
{
	hi_page_destroy(hi_take(b->text));
	b->mode = HI_BROWSE_LIST;
}

static enum hi_status open_text_page(struct hi_browse *b, struct hi_page *page,
				     struct hi_error *err)
{
	if (page->failed) {
		hi_page_destroy(page);
		return hi_fail_memory(err, "page");
	}
	b->text = page;
	b->text_first = b->text_lines = 0;
	b->mode = HI_BROWSE_TEXT;
	return HI_OK;
}

static enum hi_status show_info(struct hi_browse *b, struct hi_error *err)
{
	hi_node node = selected_node(b);
	struct hi_page *page;
	enum hi_status status;

	if (node == HI_NODE_NONE || !b->heap->explain)
		return HI_OK;
	page = hi_page_create();
	if (!page)
		return hi_fail_memory(err, "page");
	page->type_names = b->browser.type_names;
	status = b->heap->explain(b->heap->arg, node, page, err);
	b->browser.type_names = page->type_names;
	page->type_names = (struct hi_type_names){};
	if (status != HI_OK) {
		hi_page_destroy(page);
		return status;
	}
	return open_text_page(b, page, err);
}

static const struct {
	const char *keys, *text;
} help[] = {
	{"up, k  down, j", "the row above, below"},
	{"PgUp PgDn", "a screen up, down"},
	{"Home End", "the first, the last row"},
	{"right, l, enter", "opens the row: what it dominates, the objects of a group"},
	{"left, h, <", "goes back to where the row was opened"},
	{"d", "the dominator tree, from the top"},
	{"t", "types: enter lists the objects of one"},
	{"r", "referrers of the selected object: enter goes on to theirs"},
	{"p", "a shortest path to the selected object, from a root"},
	{"i", "all that is known about the selected object"},
	{"s C n", "sorts by bytes, objects, name; again: the other way round"},
	{"g", "shares as graph and percent, percent, graph, or none"},
	{"/", "searches the rows of this list; empty: the next one"},
	{"^L", "draws the screen again"},
	{"q", "quits; closes this page"},
};

static enum hi_status show_help(struct hi_browse *b, struct hi_error *err)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_WORD},
						   {"", HI_COLUMN_TEXT}};
	struct hi_page *page = hi_page_create();
	struct hi_report_table *t;

	if (!page)
		return hi_fail_memory(err, "page");
	hi_page_heading(page, "Keys", NULL);
	t = hi_page_table(page, columns, 2);
	for (size_t i = 0; i < sizeof(help) / sizeof(*help); i++) {
		hi_cell_text(t, help[i].keys, 0);
		hi_cell_text(t, help[i].text, 0);
	}
	hi_page_blank(page);
	hi_page_text(page, "Bytes of a row are those that would be freed with it "
			   "(retained). Objects are those that would be freed. + stands "
			   "before a row that opens. Of types, bytes are those of the "
			   "objects themselves.");
	return open_text_page(b, page, err);
}

static void scroll_text(struct hi_browse *b, uint32_t key)
{
	size_t page = b->height > 1 ? b->height - 1 : 1;
	size_t last = b->text_lines > b->height ? b->text_lines - b->height : 0;
	size_t *first = &b->text_first;

	if (key == HI_KEY_UP || key == 'k')
		*first -= *first > 0;
	else if (key == HI_KEY_DOWN || key == 'j')
		*first += 1;
	else if (key == HI_KEY_PAGE_UP)
		*first -= *first < page ? *first : page;
	else if (key == HI_KEY_PAGE_DOWN || key == ' ')
		*first += page;
	else if (key == HI_KEY_HOME)
		*first = 0;
	else if (key == HI_KEY_END)
		*first = last;
	else
		close_text(b);
	if (*first > last)
		*first = last;
}

/* ---- search ---- */

static bool row_has(const struct hi_browse_row *row, const char *text)
{
	return strcasestr(row->name, text) || strcasestr(row->what, text);
}

/* From the row below on, and round. */
static void find_sought(struct hi_browse *b)
{
	struct hi_browse_level *level = hi_browse_shown(b);
	size_t n = level->list->rows.count;

	for (size_t i = 1; i <= n; i++) {
		size_t at = (level->at + i) % n;

		if (row_has(&level->list->rows.items[at], b->sought)) {
			level->at = at;
			return;
		}
	}
	set_message(b, "no row of this list has this text");
}

static void remove_character(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[--n] & 0xc0) == 0x80)
		;
	text[n] = 0;
}

static void add_character(char *text, uint32_t c)
{
	size_t n = strlen(text);
	char *out = text + n;

	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c >= HI_KEY_UP ||
	    n + 5 > HI_BROWSE_SEARCH_MAX)
		return;
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	*out = 0;
}

static void take_search_key(struct hi_browse *b, uint32_t key)
{
	if (key == HI_KEY_ENTER) {
		b->mode = HI_BROWSE_LIST;
		if (*b->search)
			memcpy(b->sought, b->search, sizeof(b->sought));
		if (*b->sought)
			find_sought(b);
	} else if (key == HI_KEY_ESCAPE) {
		b->mode = HI_BROWSE_LIST;
	} else if (key == HI_KEY_BACKSPACE || key == '\b') {
		remove_character(b->search);
	} else {
		add_character(b->search, key);
	}
}

/* ---- keys of lists ---- */

static bool move_selection(struct hi_browse *b, uint32_t key)
{
	struct hi_browse_level *level = hi_browse_shown(b);
	size_t n = level->list->rows.count, page = b->height > 1 ? b->height - 1 : 1;

	if (key == HI_KEY_UP || key == 'k')
		level->at -= level->at > 0;
	else if (key == HI_KEY_DOWN || key == 'j')
		level->at += 1;
	else if (key == HI_KEY_PAGE_UP)
		level->at -= level->at < page ? level->at : page;
	else if (key == HI_KEY_PAGE_DOWN || key == ' ')
		level->at += page;
	else if (key == HI_KEY_HOME)
		level->at = 0;
	else if (key == HI_KEY_END)
		level->at = n;
	else
		return false;
	if (level->at >= n)
		level->at = n ? n - 1 : 0;
	return true;
}

static void begin_search(struct hi_browse *b)
{
	b->mode = HI_BROWSE_SEARCH;
	b->search[0] = 0;
}

static enum hi_status take_list_key(struct hi_browse *b, uint32_t key,
				    struct hi_error *err)
{
	switch (key) {
	case HI_KEY_RIGHT:
	case HI_KEY_ENTER:
	case 'l':
		return open_selected(b, err);
	case 'd':
		show_top(b);
		return HI_OK;
	case 't':
		return open_types(b, err);
	case 'r':
		return open_referrers(b, err);
	case 'p':
		return open_path(b, err);
	case 'i':
		return show_info(b, err);
	case '?':
		return show_help(b, err);
	case HI_KEY_LEFT:
	case 'h':
	case '<':
		go_back(b);
		return HI_OK;
	case 's':
		sort_shown(b, HI_BROWSE_BY_BYTES);
		return HI_OK;
	case 'C':
		sort_shown(b, HI_BROWSE_BY_OBJECTS);
		return HI_OK;
	case 'n':
		sort_shown(b, HI_BROWSE_BY_NAME);
		return HI_OK;
	case 'g':
		b->share = (b->share + 1) % (HI_BROWSE_NO_SHARE + 1);
		return HI_OK;
	case '/':
		begin_search(b);
		return HI_OK;
	case 'q':
		b->has_ended = true;
		return HI_OK;
	default:
		return HI_OK;
	}
}

/* The selected row stays on the screen. */
static void follow_selection(struct hi_browse *b)
{
	struct hi_browse_level *level = hi_browse_shown(b);
	size_t n = level->list->rows.count;

	if (level->first > level->at)
		level->first = level->at;
	if (level->at >= level->first + b->height)
		level->first = level->at - b->height + 1;
	if (level->first && level->first + b->height > n)
		level->first = n > b->height ? n - b->height : 0;
}

enum hi_status hi_browse_key(struct hi_browse *b, uint32_t key, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	b->message[0] = 0;
	if (key == '\r' || key == '\n')
		key = HI_KEY_ENTER;
	if (b->mode == HI_BROWSE_TEXT)
		scroll_text(b, key);
	else if (b->mode == HI_BROWSE_SEARCH)
		take_search_key(b, key);
	else if (!move_selection(b, key))
		status = take_list_key(b, key, err);
	follow_selection(b);
	return status;
}

void hi_browse_resize(struct hi_browse *b, size_t height)
{
	b->height = height ? height : 1;
	follow_selection(b);
}

/* ---- lifetime ---- */

enum hi_status hi_browse_create(const struct hi_browse_heap *heap,
				const struct hi_browse_about *about,
				struct hi_browse **ret, struct hi_error *err)
{
	HI_GUARD(hi_browse_destroy) struct hi_browse *b = hi_calloc(1, sizeof(*b));
	struct hi_browse_list *list;
	enum hi_status status;

	if (!b)
		return hi_fail_memory(err, "browse");
	b->heap = heap;
	b->about = about;
	b->height = 1;
	status = hi_browser_init(&b->browser, heap, err);
	if (status == HI_OK)
		status = hi_browse_top(&b->browser, &list, err);
	if (status == HI_OK)
		status = push_level(b, list, err);
	if (status == HI_OK)
		*ret = hi_take(b);
	return status;
}

void hi_browse_destroy(struct hi_browse *b)
{
	if (!b)
		return;
	while (b->levels.count)
		drop_level(b);
	hi_vector_free(&b->levels);
	hi_page_destroy(b->text);
	hi_browser_deinit(&b->browser);
	free(b);
}
