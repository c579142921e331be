/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of candidates, over all pairs and triples of many layouts: total, transitive,
 * as the written rule says, and not by the numbers that layouts and contexts get.
 */
#include "harness.h"
#include "support/typing_world.h"

enum { MAX_CANDIDATES = 700 };

static struct hi_error err;

struct candidate {
	const struct hi_layout *layout;
	enum hi_evidence evidence;
};
struct candidates {
	struct hi_layouts *layouts;
	struct candidate items[MAX_CANDIDATES];
	unsigned n;
};

static struct world *drawn(void)
{
	static const char *const hints =
		"hints x\ncontext a : long; context b : long;\n"
		"record list node { other -> small if a == b; }\n"
		"record small { p -> list if a; }";
	struct world *w = world_create();

	w->hints = hints;
	world_types(w, "struct small { long n; void *p; };\n"
		       "struct same { long n; void *p; };\n"
		       "struct more { small *p; small *q; };\n"
		       "struct list { list *next; void *other; long n; };\n"
		       "struct large { small s; long n; };\n"
		       "struct numbers { long n[2]; };\n"
		       "union either { small s; numbers n; };");
	world_named(w, "long");
	world_named(w, "int");
	world_named(w, "char");
	world_named(w, "small *");
	world_named(w, "code *");
	world_named(w, "small [2]");
	world_named(w, "opaque");
	return w;
}

static struct hi_layouts *make_layouts(struct world *w)
{
	const struct hi_expression_source source = world_expressions(w);
	struct hi_type_source types = w->source.types;
	struct hi_rulebook *book;
	struct hi_layouts *layouts;

	HI_ASSERT_OK(hi_rulebook_create_with(&source, &book, &err), &err);
	hi_test_defer(hi_rulebook_destroy, book);
	HI_ASSERT_OK(hi_rulebook_add(book, "x.hints", w->hints, strlen(w->hints), &err),
		     &err);
	types.rules = hi_rulebook_source(book);
	HI_ASSERT_OK(hi_layouts_create(types, &layouts, &err), &err);
	hi_test_defer(hi_layouts_destroy, layouts);
	return layouts;
}

/* Refinement number k of a layout: counts, a header before the elements, contexts. */
static uint32_t refined(struct hi_layouts *layouts, uint32_t index, unsigned k)
{
	static const uint64_t contexts[4][2] = {{0, 0}, {1, 0}, {0, 1}, {7, 7}};
	struct hi_layout_refinement v = {.count = HI_COUNT_UNKNOWN};
	uint64_t values[HI_CONTEXT_WORDS] = {};

	for (unsigned i = 0; i < 2; i++)
		if (contexts[k % 4][i])
			hi_context_set(values, i, contexts[k % 4][i]);

	v.context = hi_layouts_context(layouts, values);
	if (k / 4 % 4)
		v.count = k / 4 % 4 - 1;
	v.first = k / 16 % 2;
	return k ? hi_layouts_refine(layouts, index, &v) : index;
}

/* Each layout under two evidences; layouts are made in this or in the other order. */
static void collect(struct world *w, struct candidates *o, bool backwards)
{
	const uint32_t n_types = w->n_types - 1, n = n_types + 3;

	o->layouts = make_layouts(w);
	o->n = 0;
	for (uint32_t i = 0; i < n * 32; i++) {
		uint32_t at = backwards ? n * 32 - 1 - i : i, index = HI_LAYOUT_NOTHING;
		uint32_t type = at / 32;

		if (type < n_types)
			index = hi_layouts_of(o->layouts, type + 1);
		else if (type == n_types)
			index = hi_layouts_named(o->layouts, "name");
		else
			index = hi_layouts_buffer(o->layouts, "bytes",
						  type == n_types + 1);
		if (index < HI_LAYOUT_FIRST || (at % 32 && at % 5 == 0))
			continue;
		/* Three of four refinements are enough for a triple loop. */
		if (at % 32 > 8 && (at + type) % 4)
			continue;
		index = refined(o->layouts, index, at % 32);
		HI_ASSERT(o->n + 2 <= MAX_CANDIDATES);
		o->items[o->n++] = (struct candidate){hi_layouts_get(o->layouts, index),
						      HI_EVIDENCE_CONTAINER};
		o->items[o->n++] = (struct candidate){hi_layouts_get(o->layouts, index),
						      HI_EVIDENCE_POINTER};
	}
}

static int sign(int order)
{
	return order < 0 ? -1 : order > 0;
}

static int compare(const struct candidate *a, const struct candidate *b)
{
	return sign(hi_type_candidate_compare(a->layout, a->evidence, b->layout,
					      b->evidence));
}

HI_TEST(rules_order, type_candidates_are_in_a_total_order)
{
	static struct candidates o;
	static signed char order[MAX_CANDIDATES][MAX_CANDIDATES];

	collect(drawn(), &o, false);
	HI_ASSERT(o.n > 200);
	for (unsigned i = 0; i < o.n; i++)
		for (unsigned k = 0; k < o.n; k++) {
			bool same = o.items[i].layout == o.items[k].layout &&
				    o.items[i].evidence == o.items[k].evidence;

			order[i][k] = (signed char)compare(&o.items[i], &o.items[k]);
			HI_ASSERT_MSG((order[i][k] == 0) == same, "%s and %s",
				      o.items[i].layout->name, o.items[k].layout->name);
		}
	for (unsigned i = 0; i < o.n; i++)
		for (unsigned k = 0; k < o.n; k++) {
			HI_ASSERT_EQ(-order[i][k], order[k][i]);
			for (unsigned j = 0; order[i][k] > 0 && j < o.n; j++)
				HI_ASSERT_MSG(order[k][j] <= 0 || order[i][j] > 0,
					      "%s > %s > %s", o.items[i].layout->name,
					      o.items[k].layout->name,
					      o.items[j].layout->name);
		}
}

static bool is_same_use(const struct candidate *a, const struct candidate *b)
{
	const uint64_t *x = a->layout->context_values, *y = b->layout->context_values;

	return strcmp(a->layout->name, b->layout->name) == 0 &&
	       a->evidence == b->evidence && a->layout->blob == b->layout->blob &&
	       a->layout->lead == b->layout->lead &&
	       a->layout->first == b->layout->first &&
	       a->layout->count == b->layout->count && !x == !y &&
	       (!x || !memcmp(x, y, HI_CONTEXT_WORDS * sizeof(*x)));
}

/* The same layouts, made in the opposite order: other numbers, the same order. */
HI_TEST(rules_order, the_order_is_not_that_of_numbers)
{
	static struct candidates a, b;
	static unsigned other[MAX_CANDIDATES];
	unsigned moved = 0;

	collect(drawn(), &a, false);
	collect(drawn(), &b, true);
	HI_ASSERT_EQ(a.n, b.n);
	for (unsigned i = 0; i < a.n; i++) {
		for (other[i] = 0; other[i] < b.n; other[i]++)
			if (is_same_use(&a.items[i], &b.items[other[i]]))
				break;
		HI_ASSERT_MSG(other[i] < b.n, "%s", a.items[i].layout->name);
		moved += a.items[i].layout->context != b.items[other[i]].layout->context;
	}
	HI_ASSERT(moved > 10);
	for (unsigned i = 0; i < a.n; i++)
		for (unsigned k = 0; k < a.n; k++)
			HI_ASSERT_EQ(compare(&a.items[i], &a.items[k]),
				     compare(&b.items[other[i]], &b.items[other[k]]));
}

/* ---- the written rule, one clause a line ---- */

static struct candidate of(struct world *w, struct hi_layouts *layouts, const char *type,
			   enum hi_evidence evidence)
{
	return (struct candidate){
		hi_layouts_get(layouts, hi_layouts_of(layouts, world_named(w, type))),
		evidence};
}

static void better(struct candidate a, struct candidate b)
{
	HI_ASSERT_MSG(compare(&a, &b) > 0 && compare(&b, &a) < 0, "%s, %s",
		      a.layout->name, b.layout->name);
}

HI_TEST(rules_order, the_better_candidate_is_the_one_that_is_written)
{
	const enum hi_evidence pointer = HI_EVIDENCE_POINTER, shape = HI_EVIDENCE_SHAPE,
			       vtable = HI_EVIDENCE_VTABLE;
	struct world *w = drawn();
	struct hi_layouts *layouts = make_layouts(w);
	struct candidate small = of(w, layouts, "small", pointer), use = small;
	struct candidate blob = {
		hi_layouts_get(layouts, hi_layouts_buffer(layouts, "b", true)), vtable};

	/* Larger types, whatever the evidence; records over others of their size. */
	better(of(w, layouts, "large", shape), of(w, layouts, "small", vtable));
	better(of(w, layouts, "small", shape), of(w, layouts, "long [2]", vtable));
	better(of(w, layouts, "small [2]", shape), of(w, layouts, "large", vtable));
	/* Text is the weakest, then what only has a name, then nodes of lists. */
	better(blob, of(w, layouts, "char", vtable));
	better(of(w, layouts, "int", shape), blob);
	better(of(w, layouts, "list", shape), blob);
	better(of(w, layouts, "int", shape), of(w, layouts, "list", vtable));
	better(of(w, layouts, "small", shape), of(w, layouts, "opaque", vtable));
	/* Of one size: evidence, then pointers. */
	better(of(w, layouts, "numbers", pointer), of(w, layouts, "more", shape));
	better(of(w, layouts, "more", pointer), small);
	/* What is said about the use comes before the evidence, but not before size. */
	use.layout = hi_layouts_get(layouts, refined(layouts, small.layout->index, 8));
	use.evidence = shape;
	better(use, small);
	better(of(w, layouts, "large", shape), use);
	use.layout = hi_layouts_get(layouts, refined(layouts, small.layout->index, 1));
	better(use, small);
}
