/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges, the tree, roots and types of drawn graphs by SQL and by loops. */
#include "tests/query/world.h"

enum { OBJECTS = 150 };

HI_TEST(query_edges, are_those_of_the_graph)
{
	struct query_world *w = world_of(21, OBJECTS);
	static const char *const grades[] = {"exact", "interior", "conservative", "weak"};

	world_ask(w, "SELECT source, target, grade, label, position FROM edges");
	for (hi_node i = 0; i < w->g->first_kind; i++) {
		struct hi_edges edges = hi_graph_edges(w->g, i);

		for (uint32_t k = 0; k < edges.count; k++) {
			const struct hi_result_cell *row = world_row(w);

			HI_ASSERT(row);
			HI_ASSERT_EQ(i, row[0].integer);
			HI_ASSERT_EQ(edges.to[k], row[1].integer);
			HI_ASSERT(cell_is(&row[2], grades[edges.grade[k]]));
			HI_ASSERT(cell_is(&row[3], drawn_label(i, k)));
			HI_ASSERT_EQ(k, row[4].integer);
		}
	}
	HI_ASSERT(!world_row(w));
}

/* Parallel edges too; positions tell them apart. */
HI_TEST(query_edges, are_found_from_both_ends)
{
	for (uint64_t seed = 31; seed < 37; seed++) {
		struct query_world *w = world_of(seed, OBJECTS);
		int64_t into[OBJECTS] = {}, sum[OBJECTS] = {};

		for (hi_node i = 0; i < w->g->first_kind; i++) {
			struct hi_edges edges = hi_graph_edges(w->g, i);

			for (uint32_t k = 0; k < edges.count; k++) {
				into[edges.to[k]]++;
				sum[edges.to[k]] += i * 1000 + k;
			}
			HI_ASSERT_EQ(edges.count, world_number(w,
							       "SELECT count(*) FROM "
							       "edges WHERE source = %u",
							       i));
		}
		for (hi_node i = 0; i < w->g->n_objects; i++) {
			HI_ASSERT_EQ(into[i], world_number(w,
							   "SELECT count(*) FROM edges "
							   "WHERE target = %u",
							   i));
			HI_ASSERT_EQ(sum[i],
				     world_number(w,
						  "SELECT ifnull(sum(source * 1000 + "
						  "position), 0) FROM edges WHERE target "
						  "= %u",
						  i));
		}
		HI_ASSERT_EQ(0, world_number(w, "SELECT count(*) FROM edges WHERE target "
						"IN (-1, 100000, 1.5, 'x')"));
	}
}

HI_TEST(query_edges, join_with_objects)
{
	struct query_world *w = world_of(41, OBJECTS);
	int64_t bytes = 0;

	for (hi_node i = 0; i < w->g->n_objects; i++) {
		struct hi_edges edges = hi_graph_edges(w->g, i);

		for (uint32_t k = 0; k < edges.count; k++)
			bytes += (int64_t)hi_objects_cost(w->g->objects, edges.to[k]);
	}
	HI_ASSERT_EQ(bytes,
		     world_number(w, "SELECT sum(t.shallow) FROM objects s JOIN "
				     "edges e ON e.source = s.id JOIN objects t ON "
				     "t.id = e.target"));
	HI_ASSERT_EQ(bytes, world_number(w, "SELECT sum(t.shallow) FROM objects t CROSS "
					    "JOIN edges e ON e.target = t.id WHERE "
					    "e.source < (SELECT count(*) FROM objects)"));
}

/* ---- the tree ---- */

static uint64_t nodes_below(const struct hi_dominators *d, hi_node top)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->n_order; i++) {
		hi_node at = d->order[i];

		while (at != top && at != HI_NODE_NONE)
			at = d->idom[at];
		n += at == top;
	}
	return n;
}

HI_TEST(query_dominators, parents_are_those_of_the_dominator_tree)
{
	struct query_world *w = world_of(51, OBJECTS);
	const struct hi_result_cell *row;
	uint32_t n = 0;

	world_ask(w, "SELECT node, idom, retained, nodes, kind FROM dominators");
	for (; (row = world_row(w)); n++) {
		hi_node node = (hi_node)row[0].integer;

		HI_ASSERT_EQ(w->d->idom[node] == HI_NODE_NONE ? -1
							      : (int64_t)w->d->idom[node],
			     row[1].kind == HI_RESULT_NULL ? -1 : row[1].integer);
		HI_ASSERT_EQ(w->d->retained[node], row[2].integer);
		HI_ASSERT_EQ(nodes_below(w->d, node), row[3].integer);
		HI_ASSERT(cell_is(&row[4], node < w->g->n_objects    ? "object"
					   : node < w->g->first_kind ? "root"
					   : node < w->g->super_root ? "kind"
								     : "all"));
	}
	HI_ASSERT_EQ(w->d->n_order, n);
	HI_ASSERT_EQ(w->g->super_root,
		     world_number(w, "SELECT node FROM dominators WHERE idom IS NULL"));
}

HI_TEST(query_dominators, children_are_found)
{
	struct query_world *w = world_of(52, OBJECTS);

	for (hi_node i = 0; i < w->g->n_nodes; i++) {
		int64_t all = 0, objects = 0, sum = 0;

		for (hi_node k = 0; k < w->g->n_nodes; k++)
			if (w->d->idom[k] == i) {
				all++;
				objects += k < w->g->n_objects;
				sum += k;
			}
		HI_ASSERT_EQ(all, world_number(w,
					       "SELECT count(*) FROM dominators WHERE "
					       "idom = %u",
					       i));
		HI_ASSERT_EQ(sum, world_number(w,
					       "SELECT ifnull(sum(node), 0) FROM "
					       "dominators WHERE idom = %u",
					       i));
		HI_ASSERT_EQ(objects, world_number(w,
						   "SELECT count(*) FROM objects WHERE "
						   "idom = %u",
						   i));
	}
}

/* Down the tree from the top one gets to all that is held. */
HI_TEST(query_dominators, can_be_walked_by_recursion)
{
	struct query_world *w = world_of(53, OBJECTS);

	HI_ASSERT_EQ(w->d->n_order,
		     world_number(w,
				  "WITH RECURSIVE t(n) AS (SELECT node FROM dominators "
				  "WHERE idom IS NULL UNION ALL SELECT node FROM "
				  "dominators JOIN t ON idom = n) SELECT count(*) "
				  "FROM t"));
}

/* ---- roots, types, censuses ---- */

HI_TEST(query_roots, are_the_variables)
{
	struct query_world *w = world_of(61, OBJECTS);
	static const char *const kinds[] = {"global",	"tls",	   "stack",
					    "register", "runtime", "untyped"};

	world_ask(w, "SELECT node, kind, name, detail, type, address, size, retained, "
		     "edges FROM roots");
	for (hi_node i = 0; i < w->g->n_roots; i++) {
		const struct hi_result_cell *row = world_row(w);
		const struct hi_root *root = &w->g->roots[i];
		hi_node node = w->g->first_root + i;

		HI_ASSERT(row);
		HI_ASSERT_EQ(node, row[0].integer);
		HI_ASSERT(cell_is(&row[1], kinds[root->kind]));
		HI_ASSERT(cell_is(&row[2], root->name));
		HI_ASSERT(cell_is(&row[3], root->detail));
		HI_ASSERT(cell_is(&row[4], root->type));
		HI_ASSERT_EQ(root->address, row[5].integer);
		HI_ASSERT_EQ(8, row[6].integer);
		HI_ASSERT_EQ(w->d->retained[node], row[7].integer);
		HI_ASSERT_EQ(hi_graph_edges(w->g, node).count, row[8].integer);
	}
	HI_ASSERT(!world_row(w));
}

HI_TEST(query_types, have_what_is_alive_of_them)
{
	struct query_world *w = world_of(62, OBJECTS);
	const struct hi_objects *o = w->g->objects;

	world_ask(w, "SELECT id, type, count, shallow, largest, retained FROM types");
	for (uint32_t t = 0; t < w->g->n_types; t++) {
		const struct hi_result_cell *row = world_row(w);
		uint64_t count = 0, bytes = 0, largest = 0;

		for (hi_node i = 0; i < w->g->n_objects; i++)
			if (o->type[i] == t && hi_bit(w->r->any, i) &&
			    !(o->flags[i] & HI_OBJECT_INTERNAL)) {
				uint64_t cost = hi_objects_cost(o, i);

				count++;
				bytes += cost;
				largest = cost > largest ? cost : largest;
			}
		HI_ASSERT(row);
		HI_ASSERT_EQ(t, row[0].integer);
		HI_ASSERT(cell_is(&row[1], w->g->types[t].name));
		HI_ASSERT_EQ(count, row[2].integer);
		HI_ASSERT_EQ(bytes, row[3].integer);
		if (count)
			HI_ASSERT_EQ(largest, row[4].integer);
		else
			HI_ASSERT_EQ(HI_RESULT_NULL, row[4].kind);
	}
	HI_ASSERT(!world_row(w));
	HI_ASSERT_EQ(1, world_number(w, "SELECT (SELECT total(shallow) FROM censuses) = "
					"(SELECT total(shallow) FROM types) AND (SELECT "
					"total(by_none + by_shape + by_base + "
					"by_container + by_pointer + by_vtable + "
					"by_runtime) FROM censuses) = (SELECT "
					"total(shallow) FROM objects WHERE state = "
					"'live')"));
}

/* ---- frames: by what the names of variables say ---- */

static struct query_world *world_of_frames(void)
{
	static const char *const names[] = {
		"thread 7 main(): argv",
		"thread 7 main(): server",
		"thread 7 operator()(): (x)",
		"thread 8 main(): argv",
		"thread 9 run() items",
		"thread 9 run() d",
		"thread nine",
		"thread 7",
		"global_thing",
		"thread 5 ?(): y",
	};
	struct query_world *w = calloc(1, sizeof(*w));
	struct object_spec specs[] = {{.cost = 32}};
	struct hi_graph_builder *b = builder_of(specs, 1, 1);
	struct hi_error err;

	HI_ASSERT(w);
	hi_test_defer(world_close, w);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct hi_root root = {.kind = HI_ROOT_STACK,
				       .name = names[i],
				       .detail = "libx.so",
				       .variable = UINT32_MAX};
		uint32_t index;

		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &index, &err), &err);
		if (i == 1)
			root_edge(b, index, 0, HI_GRADE_EXACT);
	}
	w->g = sealed(b);
	w->r = reach_of(w->g);
	w->d = dominators_of(w->g, w->r);
	w->source = (struct hi_query_source){
		.graph = w->g, .reach = w->r, .dominators = world_dominators, .arg = w};
	HI_ASSERT_OK(hi_query_open(&w->source, &w->q, &err), &err);
	return w;
}

HI_TEST(query_frames, come_from_the_names_of_variables)
{
	static const struct {
		int64_t thread;
		const char *function;
		int64_t variables, retained;
	} want[] = {{7, "main", 2, 32},
		    {7, "operator()", 1, 0},
		    {8, "main", 1, 0},
		    {9, "run", 2, 0},
		    {5, NULL, 1, 0}};
	struct query_world *w = world_of_frames();

	world_ask(w, "SELECT thread, function, variables, retained, place FROM frames");
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct hi_result_cell *row = world_row(w);

		HI_ASSERT(row);
		HI_ASSERT_EQ(want[i].thread, row[0].integer);
		HI_ASSERT(cell_is(&row[1], want[i].function));
		HI_ASSERT_EQ(want[i].variables, row[2].integer);
		HI_ASSERT_EQ(want[i].retained, row[3].integer);
		HI_ASSERT(cell_is(&row[4], "libx.so"));
	}
	HI_ASSERT(!world_row(w));
}
