/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes reports of a deep profile; what they share, and the menu. */
#include "report/reports/deep/deep_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/function_name.h"
#include "report/reports/deep/deep_report_internal.h"

/* ---- texts ---- */

const char *hi_deep_text(struct hi_deep_maker *m, const char *fmt, ...)
{
	char text[HI_DEEP_QUERY_SIZE], *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = hi_arena_strdup(&m->report->arena, text);
	if (!copy)
		m->report->failed = true;
	return copy ? copy : "";
}

void hi_deep_link_init(const struct hi_deep_maker *m, struct hi_deep_query *query)
{
	hi_deep_query_init(query);
	query->prefs = m->query->prefs;
	query->contour = m->query->prefs.contour;
}

const char *hi_deep_link_of(struct hi_deep_maker *m, struct hi_deep_query *query)
{
	char *text = hi_deep_query_text(query, &m->report->arena);

	if (!text)
		m->report->failed = true;
	return text ? text : "";
}

const char *hi_deep_link(struct hi_deep_maker *m, enum hi_deep_command command,
			 uint32_t n)
{
	struct hi_deep_query query;

	hi_deep_link_init(m, &query);
	query.command = command;
	query.id = n + 1;
	return hi_deep_link_of(m, &query);
}

/* Its last component, where that names no other one; of that a query has no need of the
 * rest. */
static const char *short_module_name(const struct hi_deep_maker *m, uint32_t module)
{
	const char *name = hi_deep_profile_text(m->profile, module);
	const char *base = hi_base_name(name);

	for (uint32_t i = 0; *base && i < m->index->n_modules; i++) {
		uint32_t other = m->index->modules[i].name;

		if (other != module &&
		    strcmp(hi_base_name(hi_deep_profile_text(m->profile, other)), base) ==
			    0)
			return name;
	}
	return *base ? base : name;
}

const char *hi_deep_module_link(struct hi_deep_maker *m, uint32_t module)
{
	const char *name = short_module_name(m, module);
	struct hi_deep_query query;

	if (strlen(name) >= sizeof(query.module))
		return NULL;
	hi_deep_link_init(m, &query);
	query.command = HI_DEEP_MODULE;
	memcpy(query.module, name, strlen(name) + 1);
	return hi_deep_link_of(m, &query);
}

const char *hi_deep_function_name(const struct hi_deep_maker *m, uint32_t function)
{
	const char *name = "(allocator)";

	if (function != HI_DEEP_ALLOCATOR)
		name = hi_deep_profile_text(m->profile,
					    m->profile->functions.items[function].name);
	return *name ? name : "(unknown)";
}

const char *hi_deep_function_short(struct hi_deep_maker *m, uint32_t function)
{
	char name[HI_FUNCTION_SHORT_SIZE];

	return hi_deep_text(m, "%s",
			    hi_function_short(hi_deep_function_name(m, function), name,
					      sizeof(name)));
}

/* The name with its module, as preferences want it. */
static const char *qualify_function(struct hi_deep_maker *m, uint32_t function,
				    const char *name)
{
	const char *module;
	enum hi_deep_qualify qualify = m->query->prefs.qualify;
	uint32_t number;

	if (function == HI_DEEP_ALLOCATOR || !function || qualify == HI_DEEP_NEVER)
		return name;
	number = m->profile->functions.items[function].module;
	module = hi_base_name(hi_deep_profile_text(m->profile, number));
	if (!*module || (qualify == HI_DEEP_DIFFERENT && number == m->module))
		return name;
	return hi_deep_text(m, "%.4000s (%.1000s)", name, module);
}

const char *hi_deep_function_text(struct hi_deep_maker *m, uint32_t function)
{
	return qualify_function(m, function, hi_deep_function_name(m, function));
}

const char *hi_deep_function_shown(struct hi_deep_maker *m, uint32_t function)
{
	return qualify_function(m, function, hi_deep_function_short(m, function));
}

const char *hi_deep_module_text(const struct hi_deep_maker *m, uint32_t module)
{
	const char *name = hi_deep_profile_text(m->profile, module);

	return *name ? name : "(unknown)";
}

const char *hi_deep_site_text(struct hi_deep_maker *m, uint32_t site)
{
	const struct hi_deep_call_site *s = &m->profile->sites.items[site];
	const char *file = hi_base_name(hi_deep_profile_text(m->profile, s->file));
	const char *place = hi_deep_profile_text(m->profile, s->place);

	if (*file && s->line && m->index && !m->index->is_line_shared[site])
		return hi_deep_text(m, "%.1000s:%u", file, s->line);
	if (*file && s->line)
		return hi_deep_text(m, "%.1000s:%u%s%.1000s", file, s->line,
				    *place ? " " : "", place);
	return hi_deep_text(m, "%.1000s%s%.1000s", file, *file && *place ? " " : "",
			    place);
}

void hi_deep_kind_cell(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t site)
{
	uint32_t kind = m->profile->sites.items[site].kind;
	bool is_plain = !site || kind == HI_DEEP_DIRECT || kind == HI_DEEP_UNKNOWN;

	hi_deep_cell_text(m, t, is_plain ? "" : hi_deep_site_kind_text(kind), 0, NULL);
}

const char *hi_deep_site_kind_text(uint32_t kind)
{
	static const char *const kinds[HI_DEEP_SITE_KINDS] = {
		[HI_DEEP_DIRECT] = "direct",	 [HI_DEEP_SPECIAL] = "special",
		[HI_DEEP_INDIRECT] = "indirect", [HI_DEEP_VIRTUAL] = "virtual",
		[HI_DEEP_CALLBACK] = "callback", [HI_DEEP_TAIL] = "tail",
		[HI_DEEP_INLINED] = "inlined",	 [HI_DEEP_UNKNOWN] = "unknown"};

	return kinds[kind];
}

/* ---- facts, tables, cells ---- */

static void add_deep_fact(struct hi_deep_maker *m, struct hi_deep_fact fact)
{
	if (!hi_vector_push(&m->report->facts, fact))
		m->report->failed = true;
}

void hi_deep_fact_text(struct hi_deep_maker *m, const char *key, const char *title,
		       const char *text, const char *link)
{
	add_deep_fact(m, (struct hi_deep_fact){.column = {key, title, HI_COLUMN_TEXT},
					       .cell = {.kind = HI_DEEP_CELL_TEXT,
							.text = text,
							.link = link}});
}

void hi_deep_fact_number(struct hi_deep_maker *m, const char *key, const char *title,
			 enum hi_column_kind kind, uint64_t number)
{
	add_deep_fact(m, (struct hi_deep_fact){.column = {key, title, kind},
					       .cell = {.kind = HI_DEEP_CELL_NUMBER,
							.number = number}});
}

void hi_deep_note(struct hi_deep_maker *m, const char *text)
{
	if (!hi_vector_push(&m->report->notes, text))
		m->report->failed = true;
}

struct hi_deep_table *hi_deep_table(struct hi_deep_maker *m, const char *key,
				    const char *title)
{
	struct hi_deep_table *t = hi_arena_alloc(&m->report->arena, sizeof(*t));

	if (!t || !hi_vector_push(&m->report->tables, t)) {
		m->report->failed = true;
		return &m->none;
	}
	t->key = key;
	t->title = title;
	return t;
}

void hi_deep_column(struct hi_deep_maker *m, struct hi_deep_table *t, const char *key,
		    const char *title, enum hi_column_kind kind)
{
	struct hi_deep_column column = {key, title, kind};

	if (m->report->failed || !hi_vector_push(&t->columns, column))
		m->report->failed = true;
}

static void add_deep_cell(struct hi_deep_maker *m, struct hi_deep_table *t,
			  struct hi_deep_cell cell)
{
	if (m->report->failed || !hi_vector_push(&t->cells, cell))
		m->report->failed = true;
}

void hi_deep_cell_text(struct hi_deep_maker *m, struct hi_deep_table *t, const char *text,
		       unsigned indent, const char *link)
{
	add_deep_cell(m, t,
		      (struct hi_deep_cell){.kind = HI_DEEP_CELL_TEXT,
					    .text = text,
					    .indent = indent,
					    .link = link});
}

void hi_deep_cell_shown(struct hi_deep_maker *m, struct hi_deep_table *t,
			const char *text, const char *shown, unsigned indent,
			const char *link)
{
	add_deep_cell(m, t,
		      (struct hi_deep_cell){.kind = HI_DEEP_CELL_TEXT,
					    .text = text,
					    .shown = shown,
					    .indent = indent,
					    .link = link});
}

void hi_deep_cell_function(struct hi_deep_maker *m, struct hi_deep_table *t,
			   uint32_t function, unsigned indent, const char *link)
{
	hi_deep_cell_shown(m, t, hi_deep_function_text(m, function),
			   hi_deep_function_shown(m, function), indent, link);
}

void hi_deep_cell_dump(struct hi_deep_maker *m, struct hi_deep_table *t,
		       enum hi_deep_command command, uint32_t n)
{
	const char *link;

	if (n == HI_DEEP_NONE) {
		hi_deep_cell_text(m, t, "", 0, NULL);
		return;
	}
	link = hi_deep_link(m, command, n);
	hi_deep_cell_text(m, t, hi_deep_text(m, "%.*s", (int)strcspn(link, "&"), link), 0,
			  link);
}

void hi_deep_cell_number(struct hi_deep_maker *m, struct hi_deep_table *t,
			 uint64_t number)
{
	add_deep_cell(
		m, t,
		(struct hi_deep_cell){.kind = HI_DEEP_CELL_NUMBER, .number = number});
}

void hi_deep_cell_signed(struct hi_deep_maker *m, struct hi_deep_table *t, int64_t number)
{
	add_deep_cell(m, t,
		      (struct hi_deep_cell){.kind = HI_DEEP_CELL_SIGNED,
					    .number = (uint64_t)number});
}

void hi_deep_cell_ratio(struct hi_deep_maker *m, struct hi_deep_table *t, uint64_t part,
			uint64_t whole)
{
	add_deep_cell(m, t,
		      (struct hi_deep_cell){.kind = HI_DEEP_CELL_RATIO,
					    .number = part,
					    .whole = whole});
}

enum hi_status hi_deep_fail_id(const char *what, uint32_t n, uint64_t count,
			       struct hi_error *err)
{
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "%s %u: the profile does not have it (there are %" PRIu64 ")",
		       what, n, count);
}

/* ---- menu ---- */

static void add_menu_row(struct hi_deep_maker *m, struct hi_deep_table *t,
			 const char *text, struct hi_deep_query *query)
{
	hi_deep_cell_text(m, t, text, 0, hi_deep_link_of(m, query));
}

static void add_menu_top(struct hi_deep_maker *m, struct hi_deep_table *t, int cost,
			 bool self)
{
	struct hi_deep_query query;

	hi_deep_link_init(m, &query);
	query.command = HI_DEEP_TOP_PROCS;
	query.cost = cost;
	query.self = self;
	add_menu_row(m, t,
		     hi_deep_text(m, "top functions by %s, %s", hi_deep_cost_name(cost),
				  self ? "self" : "total"),
		     &query);
}

static void add_menu_queries(struct hi_deep_maker *m)
{
	static const enum hi_deep_command more[] = {HI_DEEP_PROGRAM_MODULES,
						    HI_DEEP_RECURSION_TYPES};
	static const char *const texts[] = {"the modules", "the kinds of recursion"};
	struct hi_deep_table *t = hi_deep_table(m, "queries", "Reports");
	struct hi_deep_query query;

	hi_deep_column(m, t, "report", "", HI_COLUMN_TEXT);
	hi_deep_link_init(m, &query);
	query.command = HI_DEEP_ROOT;
	add_menu_row(m, t, "the root", &query);
	query.percent = 90;
	add_menu_row(m, t, "down while one call has 90 %", &query);
	for (int i = 0; i < 2; i++) {
		query.command = more[i];
		add_menu_row(m, t, texts[i], &query);
	}
	query.command = HI_DEEP_FLAME;
	query.cost = m->cost;
	add_menu_row(m, t, "the largest contexts, as a flame graph", &query);
	query.command = HI_DEEP_PROC;
	query.id = 0;
	add_menu_row(m, t, "the allocator, and what calls it", &query);
	for (int cost = 0; cost < HI_DEEP_COSTS; cost++) {
		if (hi_deep_need_cost(m, cost, NULL) || !m->graph->total.of[cost])
			continue;
		add_menu_top(m, t, cost, true);
		add_menu_top(m, t, cost, false);
	}
}

static void add_menu_totals(struct hi_deep_maker *m)
{
	struct hi_deep_table *t = hi_deep_table(m, "totals", "Totals");

	hi_deep_column(m, t, "cost", "", HI_COLUMN_WORD);
	hi_deep_column(m, t, "total", "total", HI_COLUMN_COUNT);
	for (int cost = 0; cost < HI_DEEP_COSTS; cost++) {
		if (!m->profile->has[cost] ||
		    (cost == HI_DEEP_TICKS && hi_deep_need_cost(m, cost, NULL)))
			continue;
		hi_deep_cell_text(m, t, hi_deep_cost_name(cost), 0, NULL);
		hi_deep_cell_number(m, t, m->graph->total.of[cost]);
	}
}

enum hi_status hi_deep_make_menu(struct hi_deep_maker *m, struct hi_error *err)
{
	const struct hi_deep_profile *p = m->profile;

	(void)err;
	m->report->title = "Deep profile";
	hi_deep_fact_text(m, "program", "program", hi_deep_profile_text(p, p->program),
			  NULL);
	hi_deep_fact_number(m, "functions", "functions", HI_COLUMN_COUNT,
			    p->functions.count);
	hi_deep_fact_number(m, "sites", "call sites", HI_COLUMN_COUNT, p->sites.count);
	hi_deep_fact_number(m, "nodes", "nodes", HI_COLUMN_COUNT, m->graph->n_nodes);
	hi_deep_fact_number(m, "edges", "calls in context", HI_COLUMN_COUNT,
			    m->graph->n_edges);
	hi_deep_fact_number(m, "cliques", "cliques", HI_COLUMN_COUNT,
			    m->graph->n_cliques);
	if (p->has[HI_DEEP_TICKS])
		hi_deep_fact_number(m, "ticks_per_second", "ticks per second",
				    HI_COLUMN_COUNT, p->ticks_per_second);
	if (p->tool_ticks)
		hi_deep_fact_number(m, "tool_ticks", "ticks in probes", HI_COLUMN_COUNT,
				    p->tool_ticks);
	if (p->sequence)
		hi_deep_fact_number(m, "events", "events", HI_COLUMN_COUNT, p->sequence);
	if (p->sample_bytes)
		hi_deep_fact_number(m, "sample_bytes", "a sample every", HI_COLUMN_BYTES,
				    p->sample_bytes);
	if (p->before_bytes) {
		hi_deep_fact_number(m, "before_bytes", "live from before",
				    HI_COLUMN_BYTES, p->before_bytes);
		hi_deep_fact_number(m, "before_objects", "objects of it", HI_COLUMN_COUNT,
				    p->before_objects);
	}
	add_menu_totals(m);
	add_menu_queries(m);
	if (p->lacks_end)
		hi_deep_note(m, "the file ends without its end token: it may be "
				"truncated");
	if (p->n_missing)
		hi_deep_note(
			m, hi_deep_text(m,
					"%" PRIu32 " of the modules are not here, or are "
					"of another build (%s): kinds of their calls, "
					"and which of their functions are exported, are "
					"unknown",
					p->n_missing,
					hi_deep_profile_text(p, p->first_missing)));
	if (p->has[HI_DEEP_TICKS] && hi_deep_need_cost(m, HI_DEEP_TICKS, NULL))
		hi_deep_note(m, "times are left out: there are fewer than 10 ticks");
	return HI_OK;
}

/* ---- all of them ---- */

static enum hi_status (*const makers[HI_DEEP_COMMANDS])(struct hi_deep_maker *,
							struct hi_error *) = {
	[HI_DEEP_MENU] = hi_deep_make_menu,
	[HI_DEEP_ROOT] = hi_deep_make_root,
	[HI_DEEP_CLIQUE] = hi_deep_make_clique,
	[HI_DEEP_CLIQUE_RC] = hi_deep_make_clique_rc,
	[HI_DEEP_RECURSION_TYPES] = hi_deep_make_recursion,
	[HI_DEEP_PROC] = hi_deep_make_proc,
	[HI_DEEP_PROC_CALLERS] = hi_deep_make_callers,
	[HI_DEEP_PROGRAM_MODULES] = hi_deep_make_modules,
	[HI_DEEP_MODULE] = hi_deep_make_module,
	[HI_DEEP_TOP_PROCS] = hi_deep_make_top,
	[HI_DEEP_FLAME] = hi_deep_make_flame,
	[HI_DEEP_DUMP_NODE] = hi_deep_make_dump,
	[HI_DEEP_DUMP_EDGE] = hi_deep_make_dump,
	[HI_DEEP_DUMP_FUNCTION] = hi_deep_make_dump,
	[HI_DEEP_DUMP_SITE] = hi_deep_make_dump,
	[HI_DEEP_DUMP_CLIQUE] = hi_deep_make_dump,
	[HI_DEEP_DUMP_ALL] = hi_deep_make_whole_dump,
};

static void note_unknown_fields(struct hi_deep_maker *m)
{
	uint32_t wanted = m->query->prefs.fields;

	for (int i = 0; i < HI_DEEP_ORDERS; i++)
		if (wanted >> i & 1 && hi_deep_need_cost(m, i, NULL))
			hi_deep_note(m, hi_deep_text(m, "the profile does not have: %s",
						     hi_deep_cost_name(i)));
}

/* Without another wish, by bytes; a profile may not have those. */
static int default_cost(const struct hi_deep_maker *m, int wanted)
{
	if (wanted != HI_DEEP_BYTES || !hi_deep_need_cost(m, wanted, NULL))
		return wanted;
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (!hi_deep_need_cost(m, i, NULL))
			return i;
	return wanted;
}

static enum hi_status make_deep_report(struct hi_deep_maker *m, struct hi_error *err)
{
	const struct hi_deep_preferences *p = &m->query->prefs;
	bool flame = m->query->command == HI_DEEP_FLAME;
	bool top = m->query->command == HI_DEEP_TOP_PROCS;
	enum hi_status status;

	m->arrange = top ? HI_DEEP_BY_COST : p->arrange;
	m->cost = top	  ? m->query->cost
		  : flame ? default_cost(m, m->query->cost)
			  : default_cost(m, p->cost);
	m->self = top ? m->query->self : p->self;
	m->per_call = top && m->query->per_call;
	m->module = HI_DEEP_NONE;
	if (m->query->command != HI_DEEP_MENU) {
		status = hi_deep_need_cost(m, m->cost, err);
		if (!status && m->per_call)
			status = hi_deep_need_cost(m, HI_DEEP_CALLS, err);
		if (status)
			return status;
	}
	hi_deep_choose_fields(m, m->cost);
	status = makers[m->query->command](m, err);
	if (!status)
		note_unknown_fields(m);
	return status;
}

enum hi_status hi_deep_report_create(const struct hi_deep_index *index,
				     const struct hi_deep_query *query,
				     struct hi_deep_report **ret, struct hi_error *err)
{
	struct hi_deep_report *report;
	struct hi_deep_maker m = {.index = index,
				  .query = query,
				  .profile = index->profile,
				  .graph = &index->profile->graph};
	enum hi_status status;

	if (!makers[query->command])
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "this query is for a server of a profile");
	m.report = report = hi_calloc(1, sizeof(*report));
	if (!report)
		return hi_fail_memory(err, "report of a deep profile");
	report->title = "";
	report->query = hi_deep_query_text(query, &report->arena);
	status = report->query ? make_deep_report(&m, err) : HI_NO_MEMORY;
	if (status == HI_NO_MEMORY || (!status && report->failed))
		status = hi_fail_memory(err, "report of a deep profile");
	if (status)
		hi_deep_report_destroy(report);
	else
		*ret = report;
	return status;
}

void hi_deep_report_destroy(struct hi_deep_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->tables.count; i++) {
		hi_vector_free(&report->tables.items[i]->columns);
		hi_vector_free(&report->tables.items[i]->cells);
	}
	hi_vector_free(&report->tables);
	hi_vector_free(&report->facts);
	hi_vector_free(&report->notes);
	hi_vector_free(&report->flame);
	hi_arena_free(&report->arena);
	free(report);
}
