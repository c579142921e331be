/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/up/up_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/parts/report_links.h"

struct climb {
	struct hi_up_report *r;
	const struct hi_reach *reach;
	const struct hi_retainers *retainers;
	const struct hi_set_pool *pool;
	const struct hi_up_view *view;
	bool *now, *next, *seen; /* by graph type */
	struct hi_set_row *sums; /* by row of the table */
	uint32_t *row_of;	 /* row + 1, by set */
	uint64_t *bytes;	 /* by graph type, of this step */
	bool *member;		 /* by identity */
	uint32_t n_identities;
};

static void climb_deinit(struct climb *c)
{
	free(c->now);
	free(c->next);
	free(c->seen);
	free(c->sums);
	free(c->row_of);
	free(c->bytes);
	free(c->member);
}

static uint32_t largest_identity(const struct climb *c)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < c->r->graph->n_types; i++)
		if (c->view->of_type[i] > most)
			most = c->view->of_type[i];
	return most;
}

static enum hi_status climb_init(struct climb *c, struct hi_error *err)
{
	const struct hi_set_table *t = &c->retainers->table;
	size_t n = c->r->graph->n_types + 1u;

	c->n_identities = largest_identity(c) + 1;
	c->now = hi_calloc(n, sizeof(bool));
	c->next = hi_calloc(n, sizeof(bool));
	c->seen = hi_calloc(n, sizeof(bool));
	c->bytes = hi_calloc(n, sizeof(*c->bytes));
	c->sums = hi_calloc(t->n_rows + 1, sizeof(*c->sums));
	c->row_of = hi_calloc(hi_set_pool_end(c->pool) + 1u, sizeof(*c->row_of));
	c->member = hi_calloc(c->n_identities, sizeof(bool));
	c->r->steps = hi_calloc(HI_UP_STEPS, sizeof(*c->r->steps));
	if (!c->now || !c->next || !c->seen || !c->bytes || !c->sums || !c->row_of ||
	    !c->member || !c->r->steps)
		return hi_fail_memory(err, "climb");
	for (size_t i = 0; i < t->n_rows; i++)
		c->row_of[t->rows[i].set] = (uint32_t)i + 1;
	memcpy(c->now, c->view->types, n - 1);
	return HI_OK;
}

/* ---- one step ---- */

static void count_objects_of_step(struct climb *c, struct hi_up_step *step)
{
	const struct hi_set_table *t = &c->retainers->table;
	const struct hi_graph *g = c->r->graph;

	for (size_t i = 0; i < t->n_rows; i++)
		c->sums[i] = (struct hi_set_row){.set = t->rows[i].set,
						 .size = t->rows[i].size};
	memset(c->bytes, 0, g->n_types * sizeof(*c->bytes));
	for (hi_node i = 0; i < t->n_objects; i++) {
		uint32_t type = g->objects->type[i];
		struct hi_set_row *sum;
		uint64_t cost;

		if (type >= g->n_types || !c->now[type] || t->set[i] == HI_SET_NONE ||
		    !hi_bit(c->reach->any, i) || !c->row_of[t->set[i]])
			continue;
		sum = &c->sums[c->row_of[t->set[i]] - 1];
		cost = hi_objects_cost(g->objects, i);
		sum->objects++;
		sum->cost += cost;
		c->bytes[type] += cost;
		step->objects++;
		step->bytes += cost;
	}
}

/* The types of a step, the largest first. */
static void name_step_types(struct climb *c, struct hi_up_step *step)
{
	for (uint32_t i = 0; i < c->r->graph->n_types; i++) {
		uint32_t at;

		if (!c->now[i] || !c->bytes[i])
			continue;
		at = step->n_types < HI_UP_TYPES ? step->n_types : HI_UP_TYPES;
		while (at > 0 && c->bytes[i] > c->bytes[step->types[at - 1]]) {
			if (at < HI_UP_TYPES)
				step->types[at] = step->types[at - 1];
			at--;
		}
		if (at < HI_UP_TYPES)
			step->types[at] = i;
		step->n_types++;
	}
}

static const uint32_t *members_of(struct climb *c, const struct hi_set_row *sum)
{
	uint32_t *members =
		hi_arena_alloc(&c->r->arena, (sum->size + 1u) * sizeof(*members));

	if (members && sum->size)
		hi_set_members(c->pool, sum->set, members);
	return members;
}

/* Rows of the step; the members of all its sets are marked. */
static bool take_step_rows(struct climb *c, struct hi_up_step *step)
{
	size_t n = c->retainers->table.n_rows;

	qsort(c->sums, n, sizeof(*c->sums), hi_set_row_compare);
	step->rows = hi_arena_alloc(&c->r->arena, (n + 1) * sizeof(*step->rows));
	memset(c->member, 0, c->n_identities);
	for (size_t i = 0; step->rows && i < n && c->sums[i].objects; i++) {
		const struct hi_set_row *sum = &c->sums[i];
		const uint32_t *members = members_of(c, sum);

		if (!members)
			return false;
		c->r->many |= sum->set == HI_SET_MANY;
		for (uint32_t k = 0; k < sum->size; k++)
			if (members[k] < c->n_identities)
				c->member[members[k]] = true;
		if (step->n_rows < c->view->top) {
			step->rows[step->n_rows++] = (struct hi_retainers_row){
				*sum, members, c->r->name, c->r->arg};
		} else {
			hi_hidden_add(&step->hidden, sum->cost);
		}
	}
	return step->rows;
}

/* Types of the members that no step has looked at; false: there are none. */
static bool go_up(struct climb *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->r->graph->n_types; i++) {
		uint32_t identity = c->view->of_type[i];

		c->seen[i] |= c->now[i];
		c->next[i] = identity && c->member[identity] && !c->seen[i];
		any |= c->next[i];
	}
	memcpy(c->now, c->next, c->r->graph->n_types);
	return any;
}

static enum hi_status climb_up_sets(struct climb *c, struct hi_error *err)
{
	enum hi_status status = climb_init(c, err);

	while (status == HI_OK) {
		struct hi_up_step *step = &c->r->steps[c->r->n_steps];

		count_objects_of_step(c, step);
		if (!step->objects)
			break;
		c->r->n_steps++;
		name_step_types(c, step);
		if (!take_step_rows(c, step))
			status = hi_fail_memory(err, "climb");
		/* The order of the totals has changed. */
		if (status != HI_OK || !go_up(c))
			break;
		if (c->r->n_steps == HI_UP_STEPS) {
			c->r->cut = true;
			break;
		}
	}
	return status;
}

enum hi_status
hi_up_report_create(const struct hi_report_header *header, const struct hi_graph *graph,
		    const struct hi_reach *reach, const struct hi_retainers *retainers,
		    const struct hi_set_pool *pool, const struct hi_up_view *view,
		    struct hi_up_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_up_report_destroy)
	struct hi_up_report *r = hi_calloc(1, sizeof(*r));
	struct climb c = {.r = r,
			  .reach = reach,
			  .retainers = retainers,
			  .pool = pool,
			  .view = view};
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "climb");
	r->header = header;
	r->graph = graph;
	r->pattern = view->pattern;
	r->name = view->name;
	r->arg = view->arg;
	status = climb_up_sets(&c, err);
	climb_deinit(&c);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

void hi_up_report_destroy(struct hi_up_report *report)
{
	if (!report)
		return;
	free(report->steps);
	hi_arena_free(&report->arena);
	free(report);
}

/* ---- fields ---- */

/* To the climb from a retainer alone; none from several, and from variables. */
static const char *link_to_climb(const struct hi_doc_row *row)
{
	const struct hi_up_report *r = row->report;
	const struct hi_retainers_row *set = row->row;
	const char *name;

	if (set->sum.size != 1 || set->sum.set == HI_SET_MANY)
		return "";
	name = set->name(set->arg, set->members[0]);
	for (uint32_t i = 1; i < r->graph->n_types; i++)
		if (r->graph->types[i].name && strcmp(r->graph->types[i].name, name) == 0)
			return hi_address_where_type(row->page, "up", name);
	return "";
}

static struct hi_doc_value share_of_step(const struct hi_doc_row *row)
{
	const struct hi_retainers_row *set = row->row;
	const struct hi_up_step *step = row->parent;

	return hi_doc_part(set->sum.cost, step->bytes);
}

static const struct hi_doc_field set_of_step_fields[] = {
	{.unit = HI_DOC_MEMBERS, .nested = &hi_retainers_set_fields},
	{NULL, "retained by", HI_DOC_TEXT, .value = hi_retainers_label,
	 .link = link_to_climb},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_retainers_row, sum.cost)},
	{NULL, "of these", HI_DOC_SHARE, .value = share_of_step},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_retainers_row, sum.objects)},
};
static const struct hi_doc_fields sets_of_step =
	HI_DOC_FIELDS(set_of_step_fields, .row_size = sizeof(struct hi_retainers_row));

static struct hi_doc_value number_of_step(const struct hi_doc_row *row)
{
	return hi_doc_number(row->index + 1);
}

static struct hi_doc_value types_of_step(const struct hi_doc_row *row)
{
	const struct hi_up_step *step = row->row;

	return hi_doc_nested(step->types,
			     step->n_types < HI_UP_TYPES ? step->n_types : HI_UP_TYPES);
}

static struct hi_doc_value name_of_step_type(const struct hi_doc_row *row)
{
	const struct hi_up_report *r = row->report;

	return hi_doc_text(r->graph->types[*(const uint32_t *)row->row].name);
}

static const struct hi_doc_field step_type_fields[] = {
	{.unit = HI_DOC_TYPE, .value = name_of_step_type}};
static const struct hi_doc_fields step_types =
	HI_DOC_FIELDS(step_type_fields, .row_size = sizeof(uint32_t));

static const struct hi_doc_field step_fields[] = {
	{"step", NULL, HI_DOC_COUNT, .value = number_of_step},
	{"types", NULL, HI_DOC_LIST, .value = types_of_step, .nested = &step_types,
	 .meaning = "with most bytes, at most 6"},
	{"types_total", NULL, HI_DOC_COUNT, HI_AT(struct hi_up_step, n_types)},
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_up_step, objects)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_up_step, bytes)},
	{"sets", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_up_step, rows, n_rows),
	 .nested = &sets_of_step},
	{"hidden_sets", NULL, HI_DOC_COUNT, HI_AT(struct hi_up_step, hidden.rows)},
	{"hidden_bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_up_step, hidden.bytes)},
};
static const struct hi_doc_fields steps =
	HI_DOC_FIELDS(step_fields, .row_size = sizeof(struct hi_up_step));

static const struct hi_doc_field up_fields[] = {
	{"type", NULL, HI_DOC_TEXT, HI_AT(struct hi_up_report, pattern)},
	{"more_steps", NULL, HI_DOC_FLAG, HI_AT(struct hi_up_report, cut)},
	{"many", NULL, HI_DOC_FLAG, HI_AT(struct hi_up_report, many)},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_up_report, steps, n_steps),
	 .nested = &steps},
};
const struct hi_doc_fields hi_up_document =
	HI_DOC_FIELDS(up_fields, .is_open = true,
		      .meaning = "up: a row a step from the type to the roots");

/* ---- as a page ---- */

static const char *types_text(const struct hi_up_report *r, const struct hi_up_step *step,
			      struct hi_page *page)
{
	const char *text = "";

	for (uint32_t i = 0; i < step->n_types && i < HI_UP_TYPES; i++)
		text = hi_page_printf(
			page, "%s%s%s", text, i ? ", " : "",
			hi_type_label(r->graph->types[step->types[i]].name, page));
	if (step->n_types > HI_UP_TYPES)
		text = hi_page_printf(page, "%s and %u more types", text,
				      step->n_types - HI_UP_TYPES);
	return text;
}

static void show_step(const struct hi_up_report *r, const struct hi_up_step *step,
		      size_t number, struct hi_page *page)
{
	struct hi_report_table *t;
	struct hi_doc_row row = {.report = r, .parent = step, .page = page};
	char bytes[24], objects[32];

	hi_page_heading(
		page, hi_page_printf(page, "%zu. %s", number, types_text(r, step, page)),
		hi_page_printf(page, "%s in %s object%s", hi_bytes(bytes, step->bytes),
			       hi_count(objects, step->objects),
			       step->objects == 1 ? "" : "s"));
	if (step->n_types == 1)
		hi_page_link(page, hi_address_of_objects(
					   page, r->graph->types[step->types[0]].name));
	t = hi_doc_show_table(page, &sets_of_step, 0);
	for (row.index = 0; row.index < step->n_rows; row.index++) {
		row.row = &step->rows[row.index];
		hi_doc_show_row(t, &sets_of_step, &row);
	}
	if (step->hidden.rows)
		hi_page_note(page, hi_page_printf(page, "%s more set%s with %s (--all)",
						  hi_count(objects, step->hidden.rows),
						  step->hidden.rows == 1 ? "" : "s",
						  hi_bytes(bytes, step->hidden.bytes)));
}

void hi_up_display(const struct hi_up_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	hi_page_text(page,
		     r->n_steps ? hi_page_printf(page,
						 "From %s up to the roots, in %zu step%s",
						 hi_page_safe(page, r->pattern),
						 r->n_steps, r->n_steps == 1 ? "" : "s")
				: hi_page_printf(page, "No object of %s is alive",
						 hi_page_safe(page, r->pattern)));
	hi_report_header_facts(r->header, page, false);
	for (size_t i = 0; i < r->n_steps; i++)
		show_step(r, &r->steps[i], i + 1, page);
	if (r->cut)
		hi_page_note(page, "there are more steps");
	if (r->many)
		hi_page_note(
			page,
			"MANY: the retainers in these sets are not known (--max-set)");
}

void hi_up_json(const struct hi_up_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/up/v1", json);
	hi_doc_put_report(&hi_up_document, r, 0, json);
	hi_json_end(json);
}
