/* SPDX-License-Identifier: BSD-2-Clause */
/* Browsing: lists against brute force on random graphs; keys and screens of one heap that
 * is drawn by hand. */
#include "report/reports/browse/browse.h"

#include <locale.h>
#include <wchar.h>

#include "base/alloc.h"
#include "report/reports/browse/browse_screen.h"
#include "tests/census/naive.h"
#include "tests/support/golden.h"

HI_DEFINE_GUARD(struct hi_browse_list *, hi_browse_list_destroy)
HI_DEFINE_GUARD(struct hi_browser *, hi_browser_deinit)

#define E HI_GRADE_EXACT

/* ---- lists, by brute force ---- */

struct oracle {
	const struct naive *naive;
	struct hi_browser *browser;
	bool is_plain; /* no object is the allocator's own, or costs nothing: no row */
};

static uint64_t count_objects(const struct naive *n, uint64_t set)
{
	uint64_t count = 0;

	for (hi_node i = 0; i < n->n_objects; i++)
		count += HAS(set, i);
	return count;
}

static void check_row(const struct oracle *o, const struct hi_browse_row *row)
{
	uint64_t set = o->naive->dominated[row->node];

	HI_ASSERT_EQ(set_cost(o->naive, set, false), row->bytes);
	HI_ASSERT_EQ(count_objects(o->naive, set), row->objects);
	HI_ASSERT_EQ(count_objects(o->naive, set) > is_object(o->naive, row->node),
		     row->opens);
}

static void check_list(struct oracle *o, struct hi_browse_list *list, uint64_t bytes,
		       uint64_t objects, unsigned depth);

static void check_opened(struct oracle *o, struct hi_browse_list *list, size_t at,
			 unsigned depth)
{
	HI_GUARD(hi_browse_list_destroy) struct hi_browse_list *below = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_browse_open(o->browser, list, at, &below, &err), &err);
	check_list(o, below, list->rows.items[at].bytes, list->rows.items[at].objects,
		   depth + 1);
}

/* Rows add up to what was opened, all the way down. */
static void check_list(struct oracle *o, struct hi_browse_list *list, uint64_t bytes,
		       uint64_t objects, unsigned depth)
{
	uint64_t sum = 0, count = 0;

	HI_ASSERT(depth < 200);
	HI_ASSERT_EQ(bytes, list->bytes);
	for (size_t i = 0; i < list->rows.count; i++) {
		const struct hi_browse_row *row = &list->rows.items[i];

		sum += row->bytes;
		count += row->objects;
		if (row->kind == HI_BROWSE_NODE && !list->is_chain)
			check_row(o, row);
		/* Objects of a chain are opened where they are members. */
		if (row->opens && !list->is_chain)
			check_opened(o, list, i, depth);
	}
	HI_ASSERT_EQ(bytes, sum);
	HI_ASSERT(count <= objects);
	if (o->is_plain)
		HI_ASSERT_EQ(objects, count);
}

static void check_random_graph(uint32_t most_children)
{
	struct naive n;
	OWN(graph) *g = random_graph(&n, MAX_OBJECTS);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_browse_heap heap = {
		.graph = g, .reach = r, .dominators = d, .threads = 1};
	struct hi_browser browser;
	HI_GUARD(hi_browser_deinit) struct hi_browser *guard = &browser;
	HI_GUARD(hi_browse_list_destroy) struct hi_browse_list *top = NULL;
	struct oracle o = {.naive = &n, .browser = &browser, .is_plain = true};
	struct hi_error err;
	uint64_t objects = 0;

	naive_reach(&n);
	naive_dominators(&n);
	for (hi_node i = 0; i < n.n_objects; i++)
		o.is_plain &= cost_of(&n, i) && !is_internal(&n, i);
	HI_ASSERT_OK(hi_browser_init(&browser, &heap, &err), &err);
	if (most_children)
		guard->most_children = most_children;
	HI_ASSERT_OK(hi_browse_top(&browser, &top, &err), &err);
	for (size_t i = 0; i < top->rows.count; i++)
		objects += top->rows.items[i].objects;
	check_list(&o, top, set_cost(&n, n.any, false), objects, 0);
}

HI_TEST(browse, rows_add_up_and_equal_brute_force)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15;
		check_random_graph(0);
	}
}

HI_TEST(browse, children_one_by_one_add_up_too)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		random_state = seed * 0xd1342543de82ef95;
		check_random_graph(1);
	}
}

/* ---- a heap that is drawn ---- */

/* server → struct server → 1,500 sessions, each with a name; and what would write on a
 * terminal. */
enum { SESSIONS = 1500, SERVER = 0, EVIL = 2 * SESSIONS + 1, OBJECTS };
enum { T_SERVER = 1, T_SESSION, T_NAME, T_EVIL };
#define EVIL_TEXT                                                                        \
	"\033[2J\x9b"                                                                    \
	"1m\xe2\x80\xae\a\n\xff"

struct world {
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_census *census;
	struct hi_field_reader fields;
	struct hi_arena texts;
	struct hi_browse_heap heap;
	struct hi_browse_about about;
	struct hi_browse *browse;
};

static const char *text_of_edge(struct world *w, hi_node from, hi_node to)
{
	if (from == SERVER)
		return hi_arena_printf(&w->texts, "->sessions[%u]", to - 1);
	return from <= SESSIONS ? "->name" : "";
}

static enum hi_status read_world_fields(void *arg, hi_node node, const char **texts,
					struct hi_error *err)
{
	struct world *w = arg;
	struct hi_edges edges = hi_graph_edges(w->graph, node);

	(void)err;
	for (uint32_t i = 0; i < edges.count; i++)
		texts[i] = text_of_edge(w, node, edges.to[i]);
	return HI_OK;
}

static const char *world_edge_text(void *arg, hi_node from, hi_node to)
{
	return text_of_edge(arg, from, to);
}

static enum hi_status explain_in_world(void *arg, hi_node node, struct hi_page *page,
				       struct hi_error *err)
{
	(void)arg;
	(void)err;
	for (unsigned i = 0; i < 100; i++)
		hi_page_code(page, hi_page_printf(page, "line %u of node %u", i, node));
	return HI_OK;
}

static void close_world(struct world *w)
{
	hi_browse_destroy(w->browse);
	hi_census_destroy(w->census);
	hi_dominators_destroy(w->dominators);
	hi_reach_destroy(w->reach);
	hi_graph_destroy(w->graph);
	hi_arena_free(&w->texts);
	free(w);
}

static struct hi_graph *draw_world(void)
{
	static const char *const types[] = {"struct server", "struct session", "char []",
					    "struct " EVIL_TEXT};
	static struct object_spec objects[OBJECTS];
	struct hi_root roots[] = {
		{.name = "server", .type = "struct server *", .variable = UINT32_MAX},
		{.name = EVIL_TEXT "x", .type = EVIL_TEXT, .variable = UINT32_MAX}};
	struct hi_graph_builder *b;
	struct hi_error err;
	uint32_t id;

	objects[SERVER] = (struct object_spec){.cost = 1024, .type = T_SERVER};
	objects[EVIL] = (struct object_spec){.cost = 64, .type = T_EVIL};
	for (hi_node i = 1; i <= SESSIONS; i++) {
		objects[i] = (struct object_spec){.cost = 48, .type = T_SESSION};
		/* The larger the later. */
		objects[i + SESSIONS] =
			(struct object_spec){.cost = 16 + i / 100 * 16, .type = T_NAME};
	}
	b = builder_of(objects, OBJECTS, 1);
	for (size_t i = 0; i < 4; i++) {
		struct hi_type_name type = {.name = types[i], .klass = HI_TYPE_RECORD};

		HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	}
	for (size_t i = 0; i < 2; i++)
		HI_ASSERT_OK(hi_graph_builder_root(b, &roots[i], &id, &err), &err);
	root_edge(b, 0, SERVER, E);
	root_edge(b, 1, EVIL, E);
	for (hi_node i = 1; i <= SESSIONS; i++) {
		edge(b, SERVER, i, E);
		edge(b, i, i + SESSIONS, E);
	}
	return sealed(b);
}

static struct world *open_world(void)
{
	struct world *w = calloc(1, sizeof(*w));
	struct hi_error err;

	HI_ASSERT(w && setlocale(LC_CTYPE, "C.UTF-8"));
	hi_test_defer(close_world, w);
	w->graph = draw_world();
	w->reach = reach_of(w->graph);
	w->dominators = dominators_of(w->graph, w->reach);
	HI_ASSERT_OK(
		hi_census_by_type(w->graph, w->reach, w->dominators, &w->census, &err),
		&err);
	w->fields = (struct hi_field_reader){.read = read_world_fields, .arg = w};
	w->heap = (struct hi_browse_heap){.graph = w->graph,
					  .reach = w->reach,
					  .dominators = w->dominators,
					  .census = w->census,
					  .fields = &w->fields,
					  .threads = 2,
					  .edge_text = world_edge_text,
					  .explain = explain_in_world,
					  .arg = w};
	w->about = (struct hi_browse_about){.title = "drawn, pid 7",
					    .bytes = w->reach->live_bytes,
					    .objects = w->reach->live_objects,
					    .time_ns = 1000000000};
	return w;
}

static struct world *browsed_world(void)
{
	struct world *w = open_world();
	struct hi_error err;

	HI_ASSERT_OK(hi_browse_create(&w->heap, &w->about, &w->browse, &err), &err);
	hi_browse_resize(w->browse, 21);
	return w;
}

static void press(struct world *w, uint32_t key)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_browse_key(w->browse, key, &err), &err);
}

static void type_text(struct world *w, const char *text)
{
	for (; *text; text++)
		press(w, (unsigned char)*text);
}

static const struct hi_browse_row *selected(struct world *w)
{
	struct hi_browse_level *level = hi_browse_shown(w->browse);

	HI_ASSERT(level->at < level->list->rows.count);
	return &level->list->rows.items[level->at];
}

/* All lines of the screen, one below the other. */
static const char *screen_of(struct world *w, unsigned columns, unsigned lines, bool utf8)
{
	static char text[1 << 16];
	struct hi_text_options options = {.utf8 = utf8};
	struct hi_browse_screen screen;
	struct hi_error err;
	size_t used = 0;

	HI_ASSERT_OK(hi_browse_draw(w->browse, columns, lines, &options, 43000000000,
				    &screen, &err),
		     &err);
	HI_ASSERT_EQ(lines, screen.n_lines);
	for (size_t i = 0; i < screen.n_lines; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n",
					 screen.lines[i].text);
	hi_browse_screen_free(&screen);
	return text;
}

static void check_sums(const struct hi_browse_list *list, uint64_t objects)
{
	uint64_t sum = 0, count = 0;

	for (size_t i = 0; i < list->rows.count; i++) {
		sum += list->rows.items[i].bytes;
		count += list->rows.items[i].objects;
	}
	HI_ASSERT_EQ(list->bytes, sum);
	HI_ASSERT_EQ(objects, count);
}

HI_TEST(browse, the_top_opens_level_by_level_and_back)
{
	struct world *w = browsed_world();

	HI_ASSERT_STREQ("server", selected(w)->name);
	HI_ASSERT_EQ(2 * SESSIONS + 1, selected(w)->objects);
	press(w, HI_KEY_ENTER);
	HI_ASSERT_STREQ("struct server", selected(w)->what);
	press(w, 'l');
	HI_ASSERT_EQ(HI_BROWSE_GROUP, selected(w)->kind);
	HI_ASSERT_STREQ("->sessions", selected(w)->name);
	HI_ASSERT_EQ(SESSIONS, selected(w)->members);
	press(w, HI_KEY_DOWN);
	HI_ASSERT_STREQ("(itself)", selected(w)->name);
	HI_ASSERT_EQ(1024, selected(w)->bytes);
	press(w, 'k');
	press(w, HI_KEY_RIGHT);
	/* The last one has the largest name. */
	HI_ASSERT_STREQ("->sessions[1499]", selected(w)->name);
	HI_ASSERT_EQ(48 + 256, selected(w)->bytes);
	HI_ASSERT_EQ(HI_BROWSE_ROWS + 1, hi_browse_shown(w->browse)->list->rows.count);
	press(w, HI_KEY_END);
	HI_ASSERT_EQ(HI_BROWSE_REST, selected(w)->kind);
	HI_ASSERT_EQ(SESSIONS - HI_BROWSE_ROWS, selected(w)->members);
	check_sums(hi_browse_shown(w->browse)->list, SESSIONS * 2);
	press(w, HI_KEY_ENTER);
	HI_EXPECT_GOLDEN("browse-rest", screen_of(w, 80, 24, true));
	for (unsigned i = 0; i < 3; i++)
		press(w, HI_KEY_LEFT);
	HI_ASSERT_STREQ("server", selected(w)->name);
	press(w, '<');
	HI_EXPECT_GOLDEN("browse-top", screen_of(w, 80, 24, true));
	HI_ASSERT(!hi_browse_has_ended(w->browse));
	press(w, 'q');
	HI_ASSERT(hi_browse_has_ended(w->browse));
}

HI_TEST(browse, more_children_than_groups_are_made_of_are_rows_themselves)
{
	struct world *w = browsed_world();
	const struct hi_browse_list *list;

	press(w, HI_KEY_ENTER);
	w->browse->browser.most_children = SESSIONS - 1;
	press(w, HI_KEY_ENTER);
	list = hi_browse_shown(w->browse)->list;
	HI_ASSERT_EQ(HI_BROWSE_ROWS + 2, list->rows.count);
	HI_ASSERT_EQ(HI_BROWSE_NODE, list->rows.items[1].kind);
	check_sums(list, SESSIONS * 2 + 1);
}

HI_TEST(browse, rows_are_sorted_both_ways_with_the_rest_last)
{
	struct world *w = browsed_world();

	for (unsigned i = 0; i < 3; i++)
		press(w, HI_KEY_ENTER);
	press(w, 's');
	HI_ASSERT(hi_browse_shown(w->browse)->is_reversed);
	HI_ASSERT_EQ(48 + 96, selected(w)->bytes);
	press(w, 'n');
	HI_ASSERT_STREQ("->sessions[1000]", selected(w)->name);
	press(w, 'n');
	HI_ASSERT_STREQ("->sessions[999]", selected(w)->name);
	press(w, HI_KEY_END);
	HI_ASSERT_EQ(HI_BROWSE_REST, selected(w)->kind);
	press(w, 'C');
	HI_ASSERT_EQ(2, selected(w)->objects);
	press(w, HI_KEY_PAGE_DOWN);
	press(w, HI_KEY_PAGE_DOWN);
	HI_ASSERT_EQ(40, hi_browse_shown(w->browse)->at);
	press(w, HI_KEY_HOME);
	HI_ASSERT_EQ(0, hi_browse_shown(w->browse)->first);
}

HI_TEST(browse, types_objects_referrers_and_paths)
{
	struct world *w = browsed_world();

	press(w, 't');
	HI_ASSERT_EQ(HI_BROWSE_TYPES, hi_browse_shown(w->browse)->list->kind);
	HI_ASSERT_STREQ("char []", selected(w)->name);
	HI_ASSERT_EQ(SESSIONS, selected(w)->objects);
	press(w, 'r');
	HI_EXPECT_GOLDEN("browse-types", screen_of(w, 80, 24, true));
	press(w, HI_KEY_ENTER);
	HI_ASSERT_EQ(2 * SESSIONS, selected(w)->node);
	press(w, 'p');
	HI_ASSERT_EQ(4, hi_browse_shown(w->browse)->list->rows.count);
	HI_ASSERT_STREQ("server", selected(w)->name);
	press(w, HI_KEY_END);
	HI_ASSERT_STREQ("->name", selected(w)->name);
	HI_EXPECT_GOLDEN("browse-path", screen_of(w, 80, 24, true));
	press(w, 'r');
	HI_EXPECT_GOLDEN("browse-referrers", screen_of(w, 80, 24, true));
	HI_ASSERT_EQ(1, hi_browse_shown(w->browse)->list->rows.count);
	HI_ASSERT_EQ(SESSIONS, selected(w)->node);
	press(w, HI_KEY_ENTER);
	HI_ASSERT_EQ(SERVER, selected(w)->node);
	HI_ASSERT_STREQ("->sessions[1499]", selected(w)->name);
	press(w, HI_KEY_ENTER);
	HI_ASSERT_STREQ("server", selected(w)->name);
	press(w, 'r');
	HI_EXPECT_GOLDEN("browse-root", screen_of(w, 80, 24, true));
	press(w, 'd');
	HI_ASSERT_EQ(1, w->browse->levels.count);
}

HI_TEST(browse, a_search_goes_round_and_is_repeated)
{
	struct world *w = browsed_world();

	for (unsigned i = 0; i < 3; i++)
		press(w, HI_KEY_ENTER);
	press(w, '/');
	type_text(w, "S[77x");
	press(w, HI_KEY_BACKSPACE);
	HI_EXPECT_GOLDEN("browse-search", screen_of(w, 80, 24, true));
	press(w, HI_KEY_ENTER);
	HI_ASSERT_STREQ("->sessions[770]", selected(w)->name);
	press(w, '/');
	press(w, HI_KEY_ENTER);
	HI_ASSERT_STREQ("->sessions[771]", selected(w)->name);
	press(w, '/');
	type_text(w, "nothing");
	press(w, HI_KEY_ESCAPE);
	HI_ASSERT_STREQ("->sessions[771]", selected(w)->name);
	press(w, '/');
	type_text(w, "nothing");
	press(w, '\n');
	HI_EXPECT_GOLDEN("browse-not-found", screen_of(w, 80, 24, true));
}

/* The page has lines 0 to 99 of node 0, which is the server. */
HI_TEST(browse, page_of_an_object_scrolls)
{
	struct world *w = browsed_world();
	struct hi_golden_pages *pages = hi_golden_pages();

	press(w, HI_KEY_ENTER);
	press(w, 'i');
	hi_golden_add(pages, "the page", screen_of(w, 80, 24, true));
	press(w, HI_KEY_PAGE_DOWN);
	hi_golden_add(pages, "page down", screen_of(w, 80, 24, true));
	press(w, HI_KEY_END);
	hi_golden_add(pages, "end", screen_of(w, 80, 24, true));
	HI_EXPECT_GOLDEN_PAGES("browse-object", pages);
	press(w, 'q');
	HI_ASSERT(!hi_browse_has_ended(w->browse));
	HI_ASSERT_EQ(HI_BROWSE_LIST, w->browse->mode);
	press(w, '?');
	HI_EXPECT_GOLDEN("browse-help", screen_of(w, 80, 24, true));
}

/* ---- screens ---- */

/* The keys are never cut. */
static void check_last_line(const char *text)
{
	const char *last = text + strlen(text) - 1;

	while (last > text && last[-1] != '\n')
		last--;
	HI_ASSERT_MSG(!strstr(last, "…") && strstr(last, "q quit"), "%s", last);
}

/* Each line is as wide as the screen, and has nothing that moves the cursor. */
static void check_screen(const char *text, unsigned columns)
{
	wchar_t wide[4096];

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		char one[4096];
		size_t n = strcspn(line, "\n");

		HI_ASSERT(n < sizeof(one));
		memcpy(one, line, n);
		one[n] = 0;
		HI_ASSERT_MSG(mbstowcs(wide, one, 4096) != (size_t)-1, "%s", one);
		HI_ASSERT_MSG(wcswidth(wide, 4096) == (int)columns, "%s", one);
		for (const wchar_t *c = wide; *c; c++)
			HI_ASSERT_MSG(*c >= 0x20 && (*c < 0x7f || *c >= 0xa0) &&
					      (*c < 0x202a || *c > 0x202e),
				      "%s", one);
	}
}

static void check_screens(struct world *w)
{
	static const unsigned sizes[][2] = {{80, 24}, {120, 30}, {40, 10},  {49, 10},
					    {63, 12}, {64, 12},	 {200, 60}, {41, 11}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		check_screen(screen_of(w, sizes[i][0], sizes[i][1], true), sizes[i][0]);
	for (const char *c = screen_of(w, 80, 24, false); *c; c++)
		HI_ASSERT(*c == '\n' || (*c >= ' ' && *c < 0x7f));
}

HI_TEST(browse, every_screen_fits_and_nothing_of_the_target_moves_the_cursor)
{
	struct world *w = browsed_world();
	static const uint32_t keys[] = {
		'j',	      HI_KEY_ENTER, 'r',	  'h',		'p',
		'h',	      'h',	    't',	  HI_KEY_ENTER, 'g',
		'g',	      'g',	    'i',	  'q',		'?',
		'q',	      '/',	    'x',	  HI_KEY_ENTER, 'd',
		HI_KEY_ENTER, HI_KEY_ENTER, HI_KEY_ENTER, HI_KEY_END};

	check_screens(w);
	for (unsigned columns = 40; columns < 130; columns++)
		check_last_line(screen_of(w, columns, 10, true));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		press(w, keys[i]);
		check_screens(w);
	}
}

/* Drawn: server keeps 3,001 of 3,002 objects, for 42 s; the other variable tries to write
 * on the terminal. Sessions have 48 B and a name of 16 to 256 B: the list has 1,000 of
 * 1,500 and their rest. */
HI_TEST(browse, screens_are_as_drawn)
{
	struct world *w = browsed_world();
	struct hi_golden_pages *pages = hi_golden_pages();

	HI_EXPECT_GOLDEN("browse-80", screen_of(w, 80, 24, true));
	HI_EXPECT_GOLDEN("browse-120", screen_of(w, 120, 24, true));
	hi_golden_add(pages, "40 columns", screen_of(w, 40, 10, true));
	hi_golden_add(pages, "39 columns", screen_of(w, 39, 10, true));
	hi_golden_add(pages, "1 column", screen_of(w, 1, 1, true));
	HI_EXPECT_GOLDEN_PAGES("browse-narrow", pages);
	for (unsigned i = 0; i < 3; i++)
		press(w, HI_KEY_ENTER);
	HI_EXPECT_GOLDEN("browse-sessions", screen_of(w, 80, 24, true));
	HI_EXPECT_GOLDEN("browse-sessions-ascii", screen_of(w, 80, 24, false));
}

/* The line of this number, from 0, without its end. */
static void copy_line(const char *text, size_t number, char *line, size_t size)
{
	while (number-- > 0)
		text = strchr(text, '\n') + 1;
	snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
}

/* A type retains (by reach: all but 1,024 B of the server, of which the sessions are
 * all), and the address of an object. */
HI_TEST(browse, figures_and_addresses_are_whole_or_not_there)
{
	static const char *const retained[] = {"≥ 187.7 KiB", "≥ 258.0 KiB",
					       "≥ 259.0 KiB", "≥ 64 B"};
	struct world *types = browsed_world(), *sessions = browsed_world();
	char line[1024], address[32];

	press(types, 't');
	for (unsigned i = 0; i < 3; i++)
		press(sessions, HI_KEY_ENTER);
	snprintf(address, sizeof(address), " 0x%llx",
		 (unsigned long long)hi_graph_address(sessions->graph,
						      selected(sessions)->node));
	for (unsigned columns = 40; columns < 130; columns++) {
		const char *text = screen_of(types, columns, 10, true), *at;

		for (size_t i = 0; i < 4; i++) {
			copy_line(text, 3 + i, line, sizeof(line));
			at = strstr(line, "≥");
			HI_ASSERT_MSG(
				!at || strncmp(at, retained[i], strlen(retained[i])) == 0,
				"%u: %s", columns, line);
			HI_ASSERT_MSG(at || columns < 73, "%u: %s", columns, line);
		}
		copy_line(screen_of(sessions, columns, 10, columns % 2), 3, line,
			  sizeof(line));
		at = strstr(line, address);
		HI_ASSERT_MSG(at || columns < 80, "%u: %s", columns, line);
		HI_ASSERT_MSG(at || !strstr(line, address + 5), "%u: %s", columns, line);
	}
}

/* ---- without memory ---- */

HI_TEST(browse, without_memory_it_fails_and_frees_everything)
{
	static const uint32_t keys[] = {HI_KEY_ENTER, HI_KEY_ENTER, HI_KEY_ENTER, 'p',
					'r',	      't',	    HI_KEY_ENTER, 'i'};
	struct world *w = open_world();
	struct hi_error err;
	bool done = false;
	uint64_t failures = 0;

	w->heap.threads = 1;
	for (uint64_t nth = 1; !done; nth += 1 + nth / 20) {
		enum hi_status status;

		HI_ASSERT(nth < 1000000);
		failures = hi_alloc_failures();
		hi_alloc_fail_at(nth);
		status = hi_browse_create(&w->heap, &w->about, &w->browse, &err);
		for (size_t i = 0; status == HI_OK && i < sizeof(keys) / sizeof(*keys);
		     i++)
			status = hi_browse_key(w->browse, keys[i], &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		done = status == HI_OK;
		/* Nothing that is shown lacks a part. */
		HI_ASSERT(!done || failures == hi_alloc_failures());
		hi_browse_destroy(w->browse);
		w->browse = NULL;
	}
}
