/* SPDX-License-Identifier: BSD-2-Clause */
/* What SQL says of drawn graphs is what a loop over them says. */
#include <inttypes.h>

#include "tests/query/world.h"

enum { SEEDS = 10, OBJECTS = 150 };

struct sum {
	int64_t count, bytes;
};

static const char *name_of(const struct query_world *w, hi_node i)
{
	return w->g->types[w->g->objects->type[i]].name;
}

/* NULL: those without a type. */
static struct sum sum_of(const struct query_world *w, const char *name)
{
	struct sum sum = {};

	for (hi_node i = 0; i < w->g->n_objects; i++) {
		const char *have = name_of(w, i);

		if (strcmp(have ? have : "", name ? name : "") != 0)
			continue;
		sum.count++;
		sum.bytes += (int64_t)hi_objects_cost(w->g->objects, i);
	}
	return sum;
}

static const char *text_of(const struct hi_result_cell *cell, char buffer[64])
{
	if (cell->kind == HI_RESULT_NULL)
		return NULL;
	snprintf(buffer, 64, "%.*s", (int)cell->length, cell->text);
	return buffer;
}

HI_TEST(query_objects, grouped_by_type_add_up)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct query_world *w = world_of(seed, OBJECTS);
		const struct hi_result_cell *row;
		char name[64], before[64] = "";
		int64_t objects = 0;

		world_ask(w, "SELECT type, count(*), sum(shallow) FROM objects GROUP BY "
			     "type");
		while ((row = world_row(w))) {
			const char *type = text_of(&row[0], name);
			struct sum sum = sum_of(w, type);

			HI_ASSERT_EQ(sum.count, row[1].integer);
			HI_ASSERT_EQ(sum.bytes, row[2].integer);
			/* In order, each once; NULL first. */
			HI_ASSERT(!type ? objects == 0 : strcmp(before, type) < 0);
			snprintf(before, sizeof(before), "%s", type ? type : "");
			objects += row[1].integer;
		}
		HI_ASSERT_EQ(w->g->n_objects, objects);
		HI_ASSERT_EQ(0, w->asked); /* nobody needed dominators */
	}
}

HI_TEST(query_objects, have_the_columns_of_the_graph)
{
	struct query_world *w = world_of(7, OBJECTS);
	const struct hi_objects *o = w->g->objects;
	static const char *const evidence[] = {
		"none", "shape", "base_of", "container", "pointer", "vtable", "runtime"};

	world_ask(w,
		  "SELECT id, address, type, type_id, shallow, usable, retained, idom, "
		  "evidence, state, reachable, exact, module, used FROM objects");
	for (hi_node i = 0; i < w->g->n_objects; i++) {
		const struct hi_result_cell *row = world_row(w);
		bool live = hi_bit(w->r->any, i), held = w->d->idom[i] != HI_NODE_NONE;

		HI_ASSERT(row);
		HI_ASSERT_EQ(i, row[0].integer);
		HI_ASSERT_EQ(hi_objects_address(o, i), row[1].integer);
		HI_ASSERT(cell_is(&row[2], name_of(w, i)));
		HI_ASSERT_EQ(o->type[i], row[3].integer);
		HI_ASSERT_EQ(hi_objects_cost(o, i), row[4].integer);
		HI_ASSERT_EQ(hi_objects_usable(o, i), row[5].integer);
		/* Unknown is NULL, and never 0. */
		HI_ASSERT_EQ(held ? HI_RESULT_INTEGER : HI_RESULT_NULL, row[6].kind);
		HI_ASSERT_EQ(row[6].kind, row[7].kind);
		if (held) {
			HI_ASSERT_EQ(w->d->retained[i], row[6].integer);
			HI_ASSERT_EQ(w->d->idom[i], row[7].integer);
		}
		HI_ASSERT(cell_is(&row[8], evidence[o->flags[i] & 7]));
		HI_ASSERT(cell_is(&row[9], o->flags[i] & HI_OBJECT_INTERNAL ? "internal"
					   : live			    ? "live"
									    : "leak"));
		HI_ASSERT_EQ(live, row[10].integer);
		HI_ASSERT_EQ(hi_bit(w->r->exact, i), row[11].integer);
		HI_ASSERT(cell_is(&row[12], w->g->types[o->type[i]].module));
		HI_ASSERT_EQ(HI_RESULT_NULL, row[13].kind); /* nobody knows it here */
	}
	HI_ASSERT(!world_row(w));
}

HI_TEST(query_objects, are_found_by_number_and_address)
{
	struct query_world *w = world_of(3, OBJECTS);
	const struct hi_objects *o = w->g->objects;

	for (hi_node i = 0; i < w->g->n_objects; i += 3) {
		uint64_t address = hi_objects_address(o, i);

		HI_ASSERT_EQ(i,
			     world_number(w, "SELECT id FROM objects WHERE id = %u", i));
		HI_ASSERT_EQ(
			i, world_number(w, "SELECT id FROM objects WHERE rowid = %u", i));
		HI_ASSERT_EQ(
			i, world_number(
				   w, "SELECT id FROM objects WHERE address = 0x%" PRIx64,
				   address));
		HI_ASSERT_EQ(i, world_number(w,
					     "SELECT id FROM objects WHERE id = "
					     "object_at(0x%" PRIx64 " + 3)",
					     address));
		HI_ASSERT_EQ(0, world_number(w,
					     "SELECT count(*) FROM objects WHERE address "
					     "= 0x%" PRIx64 " + 1",
					     address));
	}
	HI_ASSERT_EQ(-1, world_number(w, "SELECT object_at(16)"));
	HI_ASSERT_EQ(-1, world_number(w, "SELECT object_at('nowhere')"));
}

HI_TEST(query_objects, is_of_takes_names_and_numbers_of_types)
{
	struct query_world *w = world_of(3, OBJECTS);

	for (uint32_t i = 1; i < w->g->n_types; i++) {
		const char *name = w->g->types[i].name;
		long long n = world_number(w,
					   "SELECT count(*) FROM objects WHERE type = "
					   "'%s'",
					   name);

		HI_ASSERT_EQ(n, world_number(w,
					     "SELECT count(*) FROM objects WHERE "
					     "is_of(type, '=%s')",
					     name));
		HI_ASSERT_EQ(n, world_number(w,
					     "SELECT count(*) FROM objects WHERE "
					     "is_of(type_id, '=%s')",
					     name));
	}
	HI_ASSERT_EQ(-1, world_number(w, "SELECT is_of(NULL, '*')"));
	HI_ASSERT_EQ(0, world_number(w, "SELECT is_of(-1, '*')"));
	HI_ASSERT_EQ(0, world_number(w, "SELECT is_of(1e18, '*')"));
	HI_ASSERT_EQ(0, world_number(w, "SELECT is_of('no such type', '*')"));
}

/* What SQLite says when it has all rows first and compares each of them itself. */
HI_TEST(query_objects, ranges_are_those_of_a_full_scan)
{
	static const char *const values[] = {
		"0",
		"-1",
		"7",
		"7.5",
		"'7'",
		"'x'",
		"NULL",
		"x'07'",
		"149",
		"150",
		"1e300",
		"-1e300",
		"7.0",
		"1<<62",
		"'7.5'",
		"9223372036854775807",
		"(SELECT 5)",
		"0x550000001000 + 64",
		"0x651000001000",
		"'struct t1'",
	};
	static const char *const operators[] = {"=", "<", "<=", ">", ">=", "IS"};
	static const char *const columns[] = {"id", "address", "type_id", "type", "idom"};
	struct query_world *w = world_of(5, OBJECTS);
	int64_t rows = 0;

	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++)
		for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++)
			for (size_t p = 0; p < sizeof(operators) / sizeof(*operators);
			     p++) {
				int64_t ours, all;

				ours = world_number(w,
						    "SELECT count(*) * 100000 + "
						    "ifnull(sum(id), 0) FROM objects "
						    "WHERE %s %s %s",
						    columns[c], operators[p], values[v]);
				all = world_number(
					w,
					"WITH o AS MATERIALIZED (SELECT * FROM "
					"objects) SELECT count(*) * 100000 + "
					"ifnull(sum(id), 0) FROM o WHERE %s "
					"%s %s",
					columns[c], operators[p], values[v]);
				HI_ASSERT_MSG(ours == all, "%s %s %s: %lld, not %lld",
					      columns[c], operators[p], values[v],
					      (long long)ours, (long long)all);
				rows += ours / 100000;
			}
	HI_ASSERT(rows > OBJECTS * 20);
}

HI_TEST(query_objects, random_ranges_of_addresses_are_counted)
{
	uint64_t state = 99;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct query_world *w = world_of(seed, OBJECTS);
		const struct hi_objects *o = w->g->objects;
		hi_node a = random_below(&state, w->g->n_objects);
		hi_node b = random_below(&state, w->g->n_objects);
		uint64_t low = hi_objects_address(o, a) + random_below(&state, 3) - 1;
		uint64_t high = hi_objects_address(o, b) + random_below(&state, 3) - 1;
		int64_t count = 0;

		for (hi_node i = 0; i < w->g->n_objects; i++)
			count += hi_objects_address(o, i) > low &&
				 hi_objects_address(o, i) <= high;
		HI_ASSERT_EQ(count,
			     world_number(w,
					  "SELECT count(*) FROM objects WHERE "
					  "address > %" PRIu64 " AND address <= %" PRIu64,
					  low, high));
	}
}

HI_TEST(query_objects, are_found_by_type)
{
	struct query_world *w = world_of(11, OBJECTS);

	for (uint32_t t = 1; t < w->g->n_types; t++) {
		struct sum sum = sum_of(w, w->g->types[t].name);

		HI_ASSERT_EQ(sum.count, world_number(w,
						     "SELECT count(*) FROM objects WHERE "
						     "type = '%s'",
						     w->g->types[t].name));
		HI_ASSERT_EQ(sum.count, world_number(w,
						     "SELECT count(*) FROM objects WHERE "
						     "type_id = %u",
						     t));
		HI_ASSERT_EQ(sum.count,
			     world_number(w,
					  "SELECT count(*) FROM objects WHERE type = "
					  "upper('%s') COLLATE NOCASE",
					  w->g->types[t].name));
	}
	HI_ASSERT_EQ(sum_of(w, NULL).count,
		     world_number(w, "SELECT count(*) FROM objects WHERE type IS NULL"));
	HI_ASSERT_EQ(0, world_number(w, "SELECT count(*) FROM objects WHERE type = "
					"'struct t'"));
	HI_ASSERT_EQ(0, world_number(w, "SELECT count(*) FROM objects WHERE type = "
					"'struct t1' || char(0)"));
}

/* Also where we say that no sorting is needed. */
HI_TEST(query_objects, come_in_the_order_that_is_asked_for)
{
	static const char *const orders[] = {
		"type, id",
		"type DESC, address DESC",
		"type, id DESC",
		"state, id",
		"evidence DESC, id DESC",
		"module, id",
		"class DESC, id DESC",
		"address DESC",
		"id, type",
		"type COLLATE NOCASE, id",
	};
	struct query_world *w = world_of(13, OBJECTS);

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		/* The + keeps our order out of it: SQLite sorts. */
		char sorted[80] = "+", *to = sorted + 1;

		for (const char *from = orders[i]; *from; from++) {
			*to++ = *from;
			if (*from == ' ' && from[-1] == ',')
				*to++ = '+';
		}
		*to = 0;
		HI_ASSERT_MSG(
			world_number(w,
				     "SELECT (SELECT group_concat(id) FROM (SELECT id "
				     "FROM objects ORDER BY %s)) = (SELECT "
				     "group_concat(id) FROM (SELECT id FROM objects "
				     "ORDER BY %s))",
				     orders[i], sorted) == 1,
			"ORDER BY %s", orders[i]);
	}
}

static bool sorts(struct query_world *w, const char *sql)
{
	const struct hi_result_cell *row;
	bool found = false;

	world_ask(w, "EXPLAIN QUERY PLAN %s", sql);
	while ((row = world_row(w))) {
		char text[200];

		snprintf(text, sizeof(text), "%.*s", (int)row[3].length, row[3].text);
		found |= strstr(text, "TEMP B-TREE") != NULL;
	}
	return found;
}

HI_TEST(query_objects, need_no_sorting_by_type_and_address)
{
	struct query_world *w = world_of(1, OBJECTS);

	HI_ASSERT(!sorts(w, "SELECT type, sum(shallow) FROM objects GROUP BY type"));
	HI_ASSERT(!sorts(w, "SELECT state, count(*) FROM objects GROUP BY state"));
	HI_ASSERT(!sorts(w, "SELECT module, count(*) FROM objects GROUP BY module"));
	HI_ASSERT(!sorts(w, "SELECT * FROM objects ORDER BY address DESC"));
	HI_ASSERT(!sorts(w, "SELECT * FROM objects WHERE type = 'x' ORDER BY id"));
	HI_ASSERT(!sorts(w, "SELECT source, count(*) FROM edges GROUP BY source"));
	HI_ASSERT(!sorts(w, "SELECT * FROM types ORDER BY id DESC"));
	HI_ASSERT(sorts(w, "SELECT * FROM objects ORDER BY shallow"));
}
