/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields that close leaked cycles: drawn ones, and against brute force on small
 * random graphs, where every field is taken away and every count is followed.
 */
#include <stdio.h>

#include "census/analysis/cycle_edges.h"
#include "census/graph/edge_name.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { MOST = 10, ARCS = 40, FIELDS = 5, TYPES = 3 };

static struct hi_error err;

struct arc_spec {
	hi_node from, to;
	const char *text;
};
struct drawn {
	uint32_t n, n_arcs;
	struct object_spec objects[MOST];
	struct arc_spec arcs[ARCS];
	struct hi_graph *graph;
};

/* Edges of the graph are in the order of the arcs of an object, as they were added. */
static enum hi_status read_drawn(void *arg, hi_node node, const char **texts,
				 struct hi_error *e)
{
	const struct drawn *d = arg;
	struct hi_edges edges = hi_graph_edges(d->graph, node);

	(void)e;
	for (uint32_t i = 0; i < edges.count; i++) {
		uint32_t same = 0, seen = 0;

		for (uint32_t k = 0; k < i; k++)
			same += edges.to[k] == edges.to[i];
		for (uint32_t a = 0; a < d->n_arcs; a++)
			if (d->arcs[a].from == node && d->arcs[a].to == edges.to[i] &&
			    seen++ == same)
				texts[i] = d->arcs[a].text;
	}
	return HI_OK;
}

static const struct hi_type_name type_names[] = {
	{.name = "Cart", .size = 8, .klass = HI_TYPE_RECORD},
	{.name = "Customer", .size = 8, .klass = HI_TYPE_RECORD},
	{.name = "std::_Sp_counted_ptr_inplace<Order>", .klass = HI_TYPE_RECORD},
};

static struct hi_cycle_edges *edges_of(struct drawn *d)
{
	struct hi_cycle_edges *ret;
	struct hi_field_reader fields = {.read = read_drawn, .arg = d};
	struct hi_graph_builder *b;
	struct hi_objects *objects;
	uint32_t id;

	HI_ASSERT_OK(try_objects(d->objects, d->n, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	for (uint32_t i = 0; i < TYPES; i++)
		HI_ASSERT_OK(hi_graph_builder_type(b, &type_names[i], &id, &err), &err);
	for (uint32_t i = 0; i < d->n_arcs; i++)
		edge(b, d->arcs[i].from, d->arcs[i].to, HI_GRADE_EXACT);
	d->graph = sealed(b);
	OWN(reach) *reach = reach_of(d->graph);
	OWN(leaks) *leaks = leaks_of(d->graph, reach);
	HI_ASSERT_OK(hi_cycle_edges_find(d->graph, reach, leaks, &fields, &ret, &err),
		     &err);
	return ret;
}

/* 0 Customer -cart-> 1 Cart -owner-> 0, and the cart holds 2. */
HI_TEST(cycle_edges, the_way_back_to_an_owner_closes_the_cycle_and_frees_what_it_holds)
{
	struct drawn d = {
		.n = 3,
		.n_arcs = 3,
		.objects = {{16, 2, 0}, {32, 1, 0}, {64, 1, 0}},
		.arcs = {{0, 1, "->cart"}, {1, 0, "->owner"}, {1, 2, "->items"}},
	};
	OWN(cycle_edges) *e = edges_of(&d);

	HI_ASSERT_EQ(1, e->count);
	HI_ASSERT_STREQ("->owner", e->items[0].field);
	HI_ASSERT_EQ(1, e->items[0].type);
	HI_ASSERT_STREQ("->cart", e->items[0].back_field);
	HI_ASSERT_EQ(2, e->items[0].back_type);
	HI_ASSERT_EQ(1, e->items[0].cycles);
	HI_ASSERT_EQ(3, e->items[0].objects);
	HI_ASSERT_EQ(112, e->items[0].bytes);
	HI_ASSERT_EQ(HI_CYCLE_PLAIN, e->items[0].pointer);
	hi_graph_destroy(d.graph);
}

/* 0 -first-> 1 <-links-> 2 -back link-> 0: nodes of a list, whose elements are 3 and 4. */
HI_TEST(cycle_edges, links_of_containers_are_no_cycles_of_their_own)
{
	struct drawn d = {
		.n = 5,
		.n_arcs = 9,
		.objects = {{8, 2, 0}, {8, 0, 0}, {8, 0, 0}, {8, 3, 0}, {8, 3, 0}},
		.arcs = {{0, 1, "->order"},
			 {1, 2, "->_M_next"},
			 {2, 1, "->_M_prev"},
			 {2, 0, "->_M_next"},
			 {1, 0, "->head\x01"},
			 {1, 3, "[0]"},
			 {2, 4, "[1]"},
			 {3, 0, "->up"},
			 {4, 0, "->up"}},
	};
	OWN(cycle_edges) *e = edges_of(&d);

	HI_ASSERT_EQ(1, e->count);
	HI_ASSERT_STREQ("->up", e->items[0].field);
	HI_ASSERT_STREQ("->order", e->items[0].back_field);
	HI_ASSERT_EQ(5, e->items[0].objects);
	HI_ASSERT_EQ(0, e->unclosed);
	hi_graph_destroy(d.graph);
}

HI_TEST(cycle_edges, a_list_alone_is_not_a_cycle_and_two_fields_close_none)
{
	struct drawn list = {
		.n = 2,
		.n_arcs = 2,
		.objects = {{8, 1, 0}, {8, 1, 0}},
		.arcs = {{0, 1, "->_M_next"}, {1, 0, "->_M_prev"}},
	};
	/* A ring by next, and another by prev. */
	struct drawn ring = {
		.n = 3,
		.n_arcs = 6,
		.objects = {{8, 1, 0}, {8, 1, 0}, {8, 1, 0}},
		.arcs = {{0, 1, "->next"},
			 {1, 2, "->next"},
			 {2, 0, "->next"},
			 {1, 0, "->prev"},
			 {2, 1, "->prev"},
			 {0, 2, "->prev"}},
	};
	OWN(cycle_edges) *none = edges_of(&list);
	OWN(cycle_edges) *open = edges_of(&ring);

	HI_ASSERT_EQ(0, none->count);
	HI_ASSERT_EQ(0, none->cycles);
	HI_ASSERT_EQ(0, open->count);
	HI_ASSERT_EQ(1, open->unclosed);
	hi_graph_destroy(list.graph);
	hi_graph_destroy(ring.graph);
}

/* Both are named alike, but only one is counted. */
HI_TEST(cycle_edges, a_counted_pointer_is_preferred)
{
	struct drawn d = {
		.n = 2,
		.n_arcs = 2,
		.objects = {{8, 1, 0}, {8, 3, 0}},
		.arcs = {{0, 1, "->zzz"}, {1, 0, "->aaa"}},
	};
	OWN(cycle_edges) *e = edges_of(&d);

	HI_ASSERT_STREQ("->zzz", e->items[0].field);
	HI_ASSERT_EQ(HI_CYCLE_SHARED_PTR, e->items[0].pointer);
	hi_graph_destroy(d.graph);
}

/* ---- brute force ---- */

static const char *const field_texts[FIELDS] = {"->a", "->b", ".c", "->owner", "[2]"};

/* Nodes that `set` leads to without the arcs of the field and type within `part`. */
static uint32_t closure_of(const struct drawn *d, uint32_t set, uint32_t within,
			   uint32_t part, uint32_t type, const char *text)
{
	for (uint32_t before = 0; before != set;) {
		before = set;
		for (uint32_t a = 0; a < d->n_arcs; a++) {
			const struct arc_spec *arc = &d->arcs[a];
			bool gone = text && arc->text == text &&
				    d->objects[arc->from].type == type &&
				    part >> arc->from & part >> arc->to & 1;

			if (!gone && set >> arc->from & 1 && within >> arc->to & 1)
				set |= 1u << arc->to;
		}
	}
	return set;
}

/* What a node leads to by one arc or more, itself left out where only its own arc does. */
static uint32_t leads_to(const struct drawn *d, hi_node node, uint32_t part,
			 uint32_t type, const char *text)
{
	uint32_t next = 0;

	for (uint32_t a = 0; a < d->n_arcs; a++)
		if (d->arcs[a].from == node && d->arcs[a].to != node &&
		    part >> d->arcs[a].to & 1 &&
		    !(text && d->arcs[a].text == text && d->objects[node].type == type))
			next |= 1u << d->arcs[a].to;
	return closure_of(d, next, part, part, type, text);
}

static uint32_t part_of(const struct drawn *d, hi_node node)
{
	uint32_t part = 0, all = (1u << d->n) - 1;

	for (hi_node k = 0; k < d->n; k++)
		if (closure_of(d, 1u << node, all, 0, 0, NULL) >> k & 1 &&
		    closure_of(d, 1u << k, all, 0, 0, NULL) >> node & 1)
			part |= 1u << k;
	return part;
}

static bool closes_part(const struct drawn *d, uint32_t part, uint32_t type,
			const char *text)
{
	for (hi_node i = 0; i < d->n; i++)
		if (part >> i & 1 && leads_to(d, i, part, type, text) >> i & 1)
			return false;
	return true;
}

/* Takes away what no counted reference leads to, again and again; only what hangs on the
 * part may go. */
static uint64_t fallen_bytes(const struct drawn *d, uint32_t part, uint32_t type,
			     const char *text)
{
	uint32_t may = closure_of(d, part, UINT32_MAX, 0, 0, NULL), gone = 0;
	uint64_t bytes = 0;

	for (bool again = true; again;) {
		again = false;
		for (hi_node i = 0; i < d->n; i++) {
			bool held = !(may >> i & 1) || gone >> i & 1;

			for (uint32_t a = 0; a < d->n_arcs && !held; a++)
				held = d->arcs[a].to == i && d->arcs[a].from != i &&
				       !(gone >> d->arcs[a].from & 1) &&
				       !(d->arcs[a].text == text &&
					 d->objects[d->arcs[a].from].type == type &&
					 part >> i & part >> d->arcs[a].from & 1);
			if (held)
				continue;
			gone |= 1u << i;
			bytes += d->objects[i].cost;
			again = true;
		}
	}
	return bytes;
}

static void draw_cycles(struct drawn *d, uint64_t *state)
{
	*d = (struct drawn){.n = 2 + random_below(state, MOST - 1)};
	for (uint32_t i = 0; i < d->n; i++)
		d->objects[i] = (struct object_spec){8 + 8 * random_below(state, 9),
						     1 + random_below(state, 2), 0};
	d->n_arcs = 1 + random_below(state, 2 * d->n);
	for (uint32_t i = 0; i < d->n_arcs; i++)
		d->arcs[i] = (struct arc_spec){random_below(state, d->n),
					       random_below(state, d->n),
					       field_texts[random_below(state, FIELDS)]};
}

struct expected {
	uint32_t roots, cycles, closed; /* parts */
	uint32_t only;			/* the last part that is no leak root */
	uint32_t part;			/* the last leak root that is a cycle */
};

static const char *text_of_item(const struct hi_cycle_edge *item)
{
	for (uint32_t i = 0; i < FIELDS; i++) {
		const char *text = field_texts[i];

		if (strcmp(item->field, *text == '[' ? "[]" : text) == 0)
			return text;
	}
	return NULL;
}

static struct expected expect_cycles(const struct drawn *d)
{
	struct expected e = {};

	for (hi_node i = 0; i < d->n; i++) {
		uint32_t part = part_of(d, i), into = 0;
		bool closed = false;

		if (part & ((1u << i) - 1))
			continue; /* another member was first */
		for (uint32_t a = 0; a < d->n_arcs; a++)
			into |= part >> d->arcs[a].to & 1 &
				!(part >> d->arcs[a].from & 1);
		e.only += into && part & (part - 1);
		if (into)
			continue;
		e.roots++;
		if (!(part & (part - 1)))
			continue;
		e.cycles++;
		e.part = part;
		for (uint32_t k = 0; k < FIELDS * 2; k++)
			closed |= closes_part(d, part, 1 + k % 2, field_texts[k / 2]);
		e.closed += closed;
	}
	return e;
}

HI_TEST(cycle_edges, are_those_that_brute_force_finds_and_free_what_counts_say)
{
	uint64_t state = 0x36, closed = 0, alone = 0;

	for (uint32_t round = 0; round < 1500; round++) {
		struct drawn d;
		struct expected want;
		uint64_t cycles = 0;

		draw_cycles(&d, &state);
		want = expect_cycles(&d);
		OWN(cycle_edges) *e = edges_of(&d);
		for (size_t i = 0; i < e->count; i++)
			cycles += e->items[i].cycles;
		HI_ASSERT_EQ(want.cycles, e->cycles);
		HI_ASSERT_EQ(want.closed, cycles);
		HI_ASSERT_EQ(want.cycles - want.closed, e->unclosed);
		/* One part alone says which it is. */
		if (want.cycles == 1 && want.closed == 1 && !want.only) {
			const struct hi_cycle_edge *item = &e->items[0];
			const char *text = text_of_item(item);

			HI_ASSERT(closes_part(&d, want.part, item->type, text));
			HI_ASSERT_EQ(fallen_bytes(&d, want.part, item->type, text),
				     item->bytes);
			alone++;
		}
		closed += want.closed;
		hi_graph_destroy(d.graph);
	}
	HI_ASSERT(closed > 200 && alone > 100);
}
