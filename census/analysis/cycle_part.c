/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/cycle_part.h"

#include <string.h>

#include "base/alloc.h"
#include "census/analysis/field_pattern.h"
#include "census/analysis/walk_internal.h"
#include "census/graph/edge_name.h"

enum { MAX_PATTERN = 256, PROBES = 32, NO_WAY = UINT32_MAX };

/* ---- fields ---- */

static bool begins_as(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Only counted pointers lead to the control block itself. */
static enum hi_cycle_pointer pointer_of_edge(const struct hi_graph *g, hi_node from,
					     hi_node to, uint8_t grade)
{
	const char *type = hi_graph_type_name(g, hi_type_of(g, to));

	if ((g->objects->flags[from] & HI_OBJECT_EVIDENCE_MASK) == HI_EVIDENCE_RUNTIME)
		return HI_CYCLE_RUNTIME;
	if (begins_as(type, "alloc::rc::Rc") || begins_as(type, "alloc::sync::Arc"))
		return HI_CYCLE_RUST;
	if (grade == HI_GRADE_EXACT && (begins_as(type, "std::_Sp_counted_") ||
					begins_as(type, "std::__1::__shared_ptr_")))
		return HI_CYCLE_SHARED_PTR;
	return HI_CYCLE_PLAIN;
}

static uint64_t hash_field(uint32_t type, const char *pattern)
{
	uint64_t h = 0xcbf29ce484222325ull ^ type * 0x9e3779b97f4a7c15ull;

	for (; *pattern; pattern++)
		h = (h ^ (unsigned char)*pattern) * 0x100000001b3ull;
	return (h ^ h >> 29) >> 2;
}

/* Attributes of Python's objects are keys of a dict; other keys are elements. */
static void write_field_pattern(const char *text, char out[MAX_PATTERN])
{
	size_t n = strlen(text), name;

	name = n > 2 && strncmp(text, "[\"", 2) == 0
		       ? strspn(text + 2, "abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")
		       : 0;
	if (name && strcmp(text + 2 + name, "\"]") == 0 && name + 2 < MAX_PATTERN) {
		out[0] = '.';
		memcpy(out + 1, text + 2, name);
		out[name + 1] = 0;
		return;
	}
	hi_field_pattern(text, out, MAX_PATTERN);
}

static uint32_t add_cycle_field(struct hi_cycle_fields *f, uint64_t hash, uint32_t type,
				const char *pattern, bool *ok)
{
	const char *kept = hi_arena_strdup(&f->arena, pattern);

	*ok = kept &&
	      hi_vector_push(&f->all,
			     ((struct hi_cycle_field){.type = type, .pattern = kept})) &&
	      hi_table_put(&f->ids, hash, f->all.count - 1);
	return *ok ? (uint32_t)(f->all.count - 1) : 0;
}

uint32_t hi_cycle_field_take(struct hi_cycle_fields *f, hi_node from, hi_node to,
			     uint8_t grade, const char *text, bool *ok)
{
	uint32_t type = hi_type_of(f->graph, from), id = 0;
	size_t n = strlen(text);
	char pattern[MAX_PATTERN];
	uint64_t hash, found;

	*ok = true;
	if (!n || text[n - 1] == HI_EDGE_LINK)
		return 0;
	write_field_pattern(text, pattern);
	if (!*pattern)
		return 0;
	hash = hash_field(type, pattern);
	for (unsigned i = 0; i < PROBES && !id; i++) {
		if (!hi_table_get(&f->ids, hash + i, &found))
			id = add_cycle_field(f, hash + i, type, pattern, ok);
		else if (f->all.items[found].type == type &&
			 strcmp(f->all.items[found].pattern, pattern) == 0)
			id = (uint32_t)found;
		if (!*ok)
			return 0;
	}
	if (id && !f->all.items[id].pointer)
		f->all.items[id].pointer = pointer_of_edge(f->graph, from, to, grade);
	return id;
}

bool hi_cycle_fields_init(struct hi_cycle_fields *f, const struct hi_graph *graph)
{
	*f = (struct hi_cycle_fields){.graph = graph};
	return hi_vector_push(&f->all, ((struct hi_cycle_field){.pattern = ""}));
}

void hi_cycle_fields_free(struct hi_cycle_fields *f)
{
	hi_vector_free(&f->all);
	hi_vector_free(&f->texts);
	hi_table_free(&f->ids);
	hi_arena_free(&f->arena);
}

/* ---- nodes: members that links join ---- */

static uint32_t find_joined(struct hi_cycle_part *p, uint32_t member)
{
	uint32_t *joined = p->joined.items;

	while (joined[member] != member) {
		joined[member] = joined[joined[member]];
		member = joined[member];
	}
	return member;
}

static bool join_members(struct hi_cycle_part *p)
{
	size_t n = p->members.count;

	if (!hi_vector_reserve(&p->joined, n + 1))
		return false;
	p->joined.count = n;
	for (uint32_t i = 0; i < n; i++)
		p->joined.items[i] = i;
	for (size_t i = 0; i < p->arcs.count; i++) {
		uint32_t a = find_joined(p, p->arcs.items[i].from);
		uint32_t b = find_joined(p, p->arcs.items[i].to);

		if (!p->arcs.items[i].field)
			p->joined.items[a < b ? b : a] = a < b ? a : b;
	}
	return true;
}

/* Numbers the nodes in the order of their first members. */
static bool number_nodes(struct hi_cycle_part *p)
{
	size_t n = p->members.count;

	if (!hi_vector_reserve(&p->way, n + 1) || !hi_vector_reserve(&p->queue, n + 1) ||
	    !hi_vector_reserve(&p->degree, n + 1) || !hi_vector_reserve(&p->row, n + 2))
		return false;
	p->n_nodes = 0;
	for (uint32_t i = 0; i < n; i++)
		if (find_joined(p, i) == i)
			p->way.items[i] = p->n_nodes++;
	for (size_t i = 0; i < p->arcs.count; i++) {
		struct hi_cycle_arc *a = &p->arcs.items[i];

		a->from = p->way.items[find_joined(p, a->from)];
		a->to = p->way.items[find_joined(p, a->to)];
	}
	return true;
}

static int compare_arcs(const void *a, const void *b)
{
	const struct hi_cycle_arc *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	return x->from_object < y->from_object ? -1 : x->from_object > y->from_object;
}

/* Arcs by node; those within one are put aside. */
static bool sort_arcs(struct hi_cycle_part *p)
{
	size_t kept = 0;

	p->inner.count = 0;
	for (size_t i = 0; i < p->arcs.count; i++) {
		const struct hi_cycle_arc *a = &p->arcs.items[i];

		if (a->from != a->to)
			p->arcs.items[kept++] = *a;
		else if (a->field && !hi_vector_push(&p->inner, *a))
			return false;
	}
	p->arcs.count = kept;
	if (kept)
		qsort(p->arcs.items, kept, sizeof(*p->arcs.items), compare_arcs);
	for (uint32_t node = 0, at = 0; node <= p->n_nodes; node++) {
		while (at < kept && p->arcs.items[at].from < node)
			at++;
		p->row.items[node] = at;
	}
	return true;
}

/* ---- one cycle, and what closes all ---- */

/* Finds the arcs of a shortest cycle through node 0, last arc first: the indices are left
 * in the queue. Returns how many there are. */
static uint32_t find_cycle(struct hi_cycle_part *p)
{
	uint32_t *queue = p->queue.items, *way = p->way.items;
	uint32_t n = 0, last = NO_WAY, count = 0;

	for (uint32_t i = 0; i < p->n_nodes; i++)
		way[i] = NO_WAY;
	queue[n++] = 0;
	for (uint32_t head = 0; head < n && last == NO_WAY; head++)
		for (uint32_t a = p->row.items[queue[head]];
		     a < p->row.items[queue[head] + 1] && last == NO_WAY; a++) {
			uint32_t to = p->arcs.items[a].to;

			if (to == 0) {
				last = a;
			} else if (way[to] == NO_WAY) {
				way[to] = a;
				queue[n++] = to;
			}
		}
	while (last != NO_WAY) {
		uint32_t from = p->arcs.items[last].from;

		queue[count++] = last;
		last = from ? way[from] : NO_WAY;
	}
	return count;
}

/* Sorts the nodes without the arcs of the field. True: no cycle is left. */
static bool has_no_cycle_without(struct hi_cycle_part *p, uint32_t field)
{
	uint32_t *degree = p->degree.items, *queue = p->queue.items, n = 0;

	memset(degree, 0, p->n_nodes * sizeof(*degree));
	for (size_t i = 0; i < p->arcs.count; i++)
		degree[p->arcs.items[i].to] += p->arcs.items[i].field != field;
	for (uint32_t i = 0; i < p->n_nodes; i++)
		if (!degree[i])
			queue[n++] = i;
	for (uint32_t head = 0; head < n; head++)
		for (uint32_t a = p->row.items[queue[head]];
		     a < p->row.items[queue[head] + 1]; a++)
			if (p->arcs.items[a].field != field &&
			    --degree[p->arcs.items[a].to] == 0)
				queue[n++] = p->arcs.items[a].to;
	return n == p->n_nodes;
}

static void count_closer(struct hi_cycle_part *p, uint32_t field)
{
	struct hi_cycle_field *f = &p->fields->all.items[field];
	uint32_t *is_target = p->degree.items;

	memset(is_target, 0, p->n_nodes * sizeof(*is_target));
	f->cycles++;
	for (size_t i = 0; i < p->arcs.count; i++)
		if (p->arcs.items[i].field == field) {
			f->edges++;
			f->targets += !is_target[p->arcs.items[i].to]++;
		}
}

/* The field by which the object that `arc` leads to holds what `next` begins at. */
static uint32_t field_back(const struct hi_cycle_part *p, const struct hi_cycle_arc *arc,
			   const struct hi_cycle_arc *next)
{
	const struct hi_graph *g = p->fields->graph;
	uint32_t best = next->field;
	bool found = false;

	if (next->from_object == arc->to_object)
		return best;
	for (size_t i = 0; i < p->inner.count && !found; i++) {
		const struct hi_cycle_arc *a = &p->inner.items[i];

		if (a->from_object != arc->to_object)
			continue;
		best = a->field;
		found = hi_type_of(g, a->to_object) == hi_type_of(g, next->from_object);
	}
	return best;
}

/* The fields of the cycle, each with its first arc; arcs are the last one first. */
static void list_tried(struct hi_cycle_part *p, uint32_t n_arcs)
{
	p->n_closers = 0;
	for (uint32_t i = n_arcs; i-- > 0 && p->n_closers < HI_CYCLE_TRIED;) {
		const struct hi_cycle_arc *arc = &p->arcs.items[p->queue.items[i]];
		const struct hi_cycle_arc *next =
			&p->arcs.items[p->queue.items[i ? i - 1 : n_arcs - 1]];
		bool is_new = true;

		for (uint32_t k = 0; k < p->n_closers; k++)
			is_new &= p->closers[k].field != arc->field;
		if (is_new)
			p->closers[p->n_closers++] = (struct hi_cycle_closer){
				arc->field, arc->from_object, arc->to_object,
				field_back(p, arc, next)};
	}
}

bool hi_cycle_part_solve(struct hi_cycle_part *p)
{
	uint32_t kept = 0;

	p->n_closers = 0;
	if (!join_members(p) || !number_nodes(p) || !sort_arcs(p))
		return false;
	if (p->n_nodes < 2)
		return true;
	list_tried(p, find_cycle(p));
	for (uint32_t i = 0; i < p->n_closers; i++)
		if (has_no_cycle_without(p, p->closers[i].field)) {
			count_closer(p, p->closers[i].field);
			p->closers[kept++] = p->closers[i];
		}
	p->n_closers = kept;
	return true;
}

void hi_cycle_part_free(struct hi_cycle_part *p)
{
	hi_vector_free(&p->members);
	hi_vector_free(&p->arcs);
	hi_vector_free(&p->joined);
	hi_vector_free(&p->row);
	hi_vector_free(&p->inner);
	hi_vector_free(&p->degree);
	hi_vector_free(&p->queue);
	hi_vector_free(&p->way);
}
