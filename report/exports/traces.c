/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/traces.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_births.h"
#include "report/function_name.h"

/* Inlined functions of one address that are shown, from the innermost on: a file may have
 * any number. */
enum { ROWS_SHOWN = 64 };

struct trace_node {
	uint32_t first_id;	    /* of its outermost function; the others follow */
	uint32_t first_child, next; /* 0: none */
	uint64_t allocs, bytes;
};

struct hi_traces {
	const struct hi_recorded *r;
	struct trace_node *nodes;	      /* by node of the contexts */
	uint32_t *function_of;		      /* by row of the frames; 0 is "(root)" */
	struct HI_VECTOR(uint32_t) functions; /* a row of each but "(root)" */
};

void hi_traces_destroy(struct hi_traces *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t->function_of);
	hi_vector_free(&t->functions);
	free(t);
}

HI_DEFINE_GUARD(struct hi_traces *, hi_traces_destroy)

/* ---- functions: each name, file and line once ---- */

struct function_search {
	struct hi_interner texts;
	struct hi_table places;	   /* numbers of name and file -> place */
	struct hi_table functions; /* place and line -> function */
	uint32_t n_places;
};

static bool number_place(struct function_search *s, const struct hi_frame_row *row,
			 uint32_t *ret)
{
	uint32_t name = hi_interner_add(&s->texts, hi_frame_row_name(row));
	uint32_t file = hi_interner_add(&s->texts, row->file);
	uint64_t key = (uint64_t)name << 32 | file, place;

	if (!name || !file)
		return false;
	if (!hi_table_get(&s->places, key, &place)) {
		place = s->n_places++;
		if (!hi_table_put(&s->places, key, place))
			return false;
	}
	*ret = (uint32_t)place;
	return true;
}

static bool number_function(struct hi_traces *t, struct function_search *s, uint32_t row)
{
	const struct hi_frame_row *of = &t->r->frames.rows[row];
	uint64_t key, function;
	uint32_t place;

	if (!number_place(s, of, &place))
		return false;
	key = (uint64_t)place << 32 | of->line;
	if (!hi_table_get(&s->functions, key, &function)) {
		function = t->functions.count + 1;
		if (!hi_vector_push(&t->functions, row) ||
		    !hi_table_put(&s->functions, key, function))
			return false;
	}
	t->function_of[row] = (uint32_t)function;
	return true;
}

static bool number_all_functions(struct hi_traces *t)
{
	struct function_search s = {};
	bool ok;

	t->function_of =
		hi_calloc((size_t)t->r->frames.n_rows + 1, sizeof(*t->function_of));
	ok = t->function_of != NULL;
	for (uint32_t i = 0; ok && i < t->r->frames.n_rows; i++)
		ok = number_function(t, &s, i);
	hi_interner_free(&s.texts);
	hi_table_free(&s.places);
	hi_table_free(&s.functions);
	return ok;
}

/* ---- nodes ---- */

/* How many functions a node of the contexts is; the root is one. */
static uint32_t count_node_rows(const struct hi_traces *t, uint32_t node)
{
	const uint32_t *first = t->r->frames.first;
	uint32_t frame = t->r->contexts.nodes[node].frame, n;

	if (!node)
		return 1;
	n = first[frame + 1] - first[frame];
	return n < ROWS_SHOWN ? n : ROWS_SHOWN;
}

static void link_nodes(struct hi_traces *t)
{
	for (uint32_t i = t->r->contexts.n_nodes; i-- > 1;) {
		struct trace_node *parent = &t->nodes[t->r->contexts.nodes[i].parent];

		t->nodes[i].next = parent->first_child;
		parent->first_child = i;
	}
}

static void add_up_totals(struct hi_traces *t)
{
	for (uint32_t i = 0; i < t->r->contexts.n_contexts; i++) {
		struct trace_node *node = &t->nodes[t->r->contexts.contexts[i].node];

		node->allocs += t->r->totals[i].allocs;
		node->bytes += t->r->totals[i].bytes;
	}
}

static enum hi_status make_nodes(struct hi_traces *t, struct hi_error *err)
{
	uint32_t n = t->r->contexts.n_nodes;
	uint64_t id = 1;

	t->nodes = hi_calloc((size_t)n + 1, sizeof(*t->nodes));
	if (!t->nodes)
		return hi_fail_memory(err, "export");
	for (uint32_t i = 0; i < n; i++) {
		t->nodes[i].first_id = (uint32_t)id;
		id += count_node_rows(t, i);
		if (id > UINT32_MAX)
			return hi_fail(err, HI_LIMIT, 0,
				       "export: the stacks of the recording have more "
				       "frames than a heapsnapshot can number");
	}
	link_nodes(t);
	add_up_totals(t);
	return HI_OK;
}

enum hi_status hi_traces_make(struct hi_export *x, struct hi_traces **ret,
			      struct hi_error *err)
{
	HI_GUARD(hi_traces_destroy) struct hi_traces *t = NULL;
	const struct hi_recorded *r = NULL;
	enum hi_status status = x->source->recorded(x->arg, false, &r, err);

	*ret = NULL;
	if (status != HI_OK || !r)
		return status;
	t = hi_calloc(1, sizeof(*t));
	if (!t)
		return hi_fail_memory(err, "export");
	t->r = r;
	if (!number_all_functions(t))
		return hi_fail_memory(err, "export");
	status = make_nodes(t, err);
	if (status == HI_OK)
		*ret = hi_take(t);
	return status;
}

/* ---- asking and writing ---- */

uint32_t hi_traces_functions(const struct hi_traces *t)
{
	return t ? (uint32_t)t->functions.count + 1 : 0;
}

uint32_t hi_traces_of(const struct hi_traces *t, hi_node object)
{
	uint32_t context, node;

	if (!t || !hi_birth_is_known(t->r->births, object))
		return 0;
	context = t->r->births->context[object];
	if (context >= t->r->contexts.n_contexts)
		return 0;
	node = t->r->contexts.contexts[context].node;
	return t->nodes[node].first_id + count_node_rows(t, node) - 1;
}

/* Without ids of scripts: 0 is none, so that a viewer makes no links. A line of 0 is
 * unknown, and so is the column. */
void hi_traces_put_functions(const struct hi_traces *t, FILE *out,
			     uint32_t (*number)(void *arg, const char *text), void *arg)
{
	char name[HI_FUNCTION_SHORT_SIZE];

	if (!t)
		return;
	fprintf(out, "0,%" PRIu32 ",%" PRIu32 ",0,0,0", number(arg, "(root)"),
		number(arg, ""));
	for (size_t i = 0; i < t->functions.count; i++) {
		const struct hi_frame_row *row =
			&t->r->frames.rows[t->functions.items[i]];

		fprintf(out, ",\n%zu,%" PRIu32 ",%" PRIu32 ",0,%" PRIu32 ",0", i + 1,
			number(arg, hi_function_short(hi_frame_row_name(row), name,
						      sizeof(name))),
			number(arg, row->file), row->line);
	}
}

/* The functions of a node, the outermost first, each in the children of the one before.
 * What was allocated there is the innermost one's. */
static void open_trace_node(const struct hi_traces *t, uint32_t node, FILE *out)
{
	const struct trace_node *of = &t->nodes[node];
	uint32_t n = count_node_rows(t, node), row = 0;

	if (node)
		row = t->r->frames.first[t->r->contexts.nodes[node].frame];
	for (uint32_t i = 0; i < n; i++) {
		bool is_last = i + 1 == n;

		fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",[",
			of->first_id + i, node ? t->function_of[row + n - 1 - i] : 0,
			is_last ? of->allocs : 0, is_last ? of->bytes : 0);
	}
}

static void close_trace_node(const struct hi_traces *t, uint32_t node, FILE *out)
{
	for (uint32_t i = count_node_rows(t, node); i > 0; i--)
		fputc(']', out);
}

void hi_traces_put_tree(const struct hi_traces *t, FILE *out)
{
	uint32_t at = 0;

	if (!t)
		return;
	open_trace_node(t, 0, out);
	for (;;) {
		if (t->nodes[at].first_child) {
			at = t->nodes[at].first_child;
			open_trace_node(t, at, out);
			continue;
		}
		for (; at && !t->nodes[at].next; at = t->r->contexts.nodes[at].parent)
			close_trace_node(t, at, out);
		if (!at)
			break;
		close_trace_node(t, at, out);
		fputs(",\n", out);
		at = t->nodes[at].next;
		open_trace_node(t, at, out);
	}
	close_trace_node(t, 0, out);
}
