/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names by field on drawn and random graphs. The truth about who is nearest is
 * computed the slow way: levels by repetition, and for each object a search
 * through all edges for the first one of the level before that leads there.
 */
#include "base/alloc.h"
#include "decode/inference/field_names.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { LABELS = 6, MOST = 400, TYPED = 1 };

static struct hi_error err;

static const struct hi_field_label labels[LABELS] = {
	{"struct dictEntry", "v.val", "redis-server"},
	{"dict", "ht_table[]", "redis-server"},
	{"server", "", NULL},
	{"struct dictEntry", "(behind it)", "redis-server"},
	{"dictEntry", "v.val", "redis-server"}, /* the same as the first */
	{"class ns::Box", "[]", "libbox.so"},
};
/* As they must read. */
static const char *const shown[LABELS] = {"dictEntry.v.val", "dict.ht_table[]",
					  "server",	     "dictEntry (behind it)",
					  "dictEntry.v.val", "ns::Box[]"};

static const struct hi_field_label *label_of(void *arg, uint32_t id)
{
	const uint32_t *order = arg;

	HI_ASSERT(id >= 1 && id <= LABELS);
	return &labels[order ? order[id - 1] : id - 1];
}

static uint64_t random_state;
struct drawing {
	uint32_t n;
	struct object_spec objects[MOST]; /* type: 0, TYPED, or a tagged label */
	uint32_t n_edges;
	struct {
		hi_node from, to;
		uint8_t grade;
	} edges[8 * MOST]; /* by from */
	/* The oracle's: */
	uint32_t level[MOST], place[MOST]; /* place in its level */
	uint32_t label[MOST];		   /* 0: none */
};

static struct hi_graph_builder *builder_with(const struct drawing *d,
					     struct hi_objects **objects_ret)
{
	struct hi_graph_builder *b;
	struct hi_objects *objects;
	struct hi_type_name type = {.name = "T", .klass = HI_TYPE_RECORD};
	struct hi_edge_chunk chunk = {
		.row = hi_calloc(d->n + 1, sizeof(uint32_t)),
		.to = hi_alloc((d->n_edges + 1) * sizeof(hi_node)),
		.grade = hi_alloc(d->n_edges + 1),
	};
	uint32_t id;

	HI_ASSERT_OK(try_objects(d->objects, d->n, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	for (uint32_t e = 0; e < d->n_edges; e++) {
		chunk.row[d->edges[e].from + 1]++;
		chunk.to[e] = d->edges[e].to;
		chunk.grade[e] = d->edges[e].grade;
	}
	for (uint32_t i = 0; i < d->n; i++)
		chunk.row[i + 1] += chunk.row[i];
	HI_ASSERT_OK(hi_graph_builder_chunk(b, 0, chunk, &err), &err);
	*objects_ret = objects;
	return b;
}

static struct hi_graph *named(const struct drawing *d, void *order)
{
	struct hi_objects *objects;
	struct hi_graph_builder *b = builder_with(d, &objects);

	HI_ASSERT_OK(hi_field_names_apply(objects, b, label_of, order, LABELS, &err),
		     &err);
	return sealed(b);
}

static void draw_random(struct drawing *d)
{
	uint32_t degree = random_below(&random_state, 5),
		 typed = 1 + random_below(&random_state, 6);

	memset(d, 0, sizeof(*d));
	d->n = 1 + random_below(&random_state,
				random_below(&random_state, 2) ? 12 : MOST - 1);
	for (uint32_t i = 0; i < d->n; i++) {
		static const uint16_t sizes[] = {24, 40, 504, 520, 1016, 1032, 5000};
		struct object_spec *o = &d->objects[i];
		uint32_t what = random_below(&random_state, 12);

		o->cost = sizes[random_below(&random_state, 7)];
		o->type = what < typed ? TYPED
			  : what < typed + 2
				  ? hi_field_label_tag(
					    1 + random_below(&random_state, LABELS))
				  : 0;
		o->flags = o->type == TYPED ? HI_EVIDENCE_POINTER : 0;
		if (o->type == 0 && random_below(&random_state, 10) == 0)
			o->flags = HI_OBJECT_INTERNAL;
		for (uint32_t k = random_below(&random_state, degree + 1); k; k--) {
			d->edges[d->n_edges].from = i;
			d->edges[d->n_edges].to = random_below(&random_state, d->n);
			d->edges[d->n_edges++].grade =
				(uint8_t)random_below(&random_state, HI_GRADE_WEAK + 1);
		}
	}
}

/* The edge of the level before that gives `node` its label; UINT32_MAX none. */
static uint32_t giver(const struct drawing *d, hi_node node, uint32_t level)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t e = 0; e < d->n_edges; e++) {
		hi_node from = d->edges[e].from;

		if (d->edges[e].to != node || d->edges[e].grade == HI_GRADE_WEAK ||
		    !d->label[from] || d->level[from] + 1 != level)
			continue;
		if (best == UINT32_MAX || d->place[from] < d->place[d->edges[best].from])
			best = e;
	}
	return best;
}

static void solve(struct drawing *d)
{
	uint32_t place = 0, found = 1;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->objects[i].type & HI_FIELD_LABEL_TAG) {
			d->label[i] = d->objects[i].type & ~HI_FIELD_LABEL_TAG;
			d->place[i] = place++;
		}
	for (uint32_t level = 1; found; level++) {
		uint32_t by[MOST];

		found = 0;
		for (uint32_t i = 0; i < d->n; i++) {
			bool open = !d->label[i] && d->objects[i].type == 0 &&
				    !(d->objects[i].flags & HI_OBJECT_INTERNAL);

			by[i] = open ? giver(d, i, level) : UINT32_MAX;
		}
		for (uint32_t i = 0; i < d->n; i++)
			if (by[i] != UINT32_MAX) {
				d->label[i] = d->label[d->edges[by[i]].from];
				d->level[i] = level;
				found++;
			}
		/* Its place: how many of this level got theirs by an earlier edge. */
		for (uint32_t i = 0; i < d->n; i++)
			for (uint32_t k = 0; d->level[i] == level && k < d->n; k++) {
				uint32_t pi = d->place[d->edges[by[i]].from];
				uint32_t pk = d->level[k] == level
						      ? d->place[d->edges[by[k]].from]
						      : UINT32_MAX;

				d->place[i] +=
					pk < pi || (pk == pi && k != i && by[k] < by[i]);
			}
	}
}

static const char *size_of(uint64_t usable)
{
	static char text[32];
	uint64_t size = 1024;

	while (size < usable)
		size *= 2;
	if (usable <= 512)
		snprintf(text, sizeof(text), "%u B", (unsigned)usable);
	else
		snprintf(text, sizeof(text), "≤ %u KiB", (unsigned)(size / 1024));
	return text;
}

static void check_object(const struct drawing *d, const struct hi_graph *g, hi_node i)
{
	const struct hi_type_name *type = &g->types[g->objects->type[i]];
	const char *more = d->level[i] ? " …" : "";
	char name[100];

	if (d->objects[i].type == TYPED) {
		HI_ASSERT_EQ(TYPED, g->objects->type[i]);
		return;
	}
	HI_ASSERT_EQ(d->objects[i].flags, g->objects->flags[i]);
	if (!d->label[i]) {
		HI_ASSERT_EQ(0, g->objects->type[i]);
		return;
	}
	snprintf(name, sizeof(name), "via %s%s, %s", shown[d->label[i] - 1], more,
		 size_of(d->objects[i].cost));
	HI_ASSERT_STREQ(name, type->name);
	HI_ASSERT_EQ(HI_TYPE_FIELD, type->klass);
	HI_ASSERT_EQ(d->level[i] > 0, type->indirect);
	HI_ASSERT_EQ(hi_size_class(d->objects[i].cost), type->size_class);
}

HI_TEST(field_names, untyped_objects_are_named_by_the_nearest_field)
{
	struct drawing *d = hi_calloc(1, sizeof(*d));

	random_state = 42;
	for (unsigned round = 0; round < 1500; round++) {
		OWN(graph) *g = NULL;

		draw_random(d);
		solve(d);
		g = named(d, NULL);
		for (hi_node i = 0; i < d->n; i++)
			check_object(d, g, i);
		/* One name, one type. */
		for (uint32_t a = 1; a < g->n_types; a++)
			for (uint32_t b = a + 1; b < g->n_types; b++)
				HI_ASSERT(strcmp(g->types[a].name, g->types[b].name));
	}
	free(d);
}

HI_TEST(field_names, order_of_labels_does_not_matter)
{
	uint32_t order[LABELS] = {5, 3, 4, 0, 2, 1}, place[LABELS];
	struct drawing *d = hi_calloc(1, sizeof(*d));

	for (uint32_t i = 0; i < LABELS; i++)
		place[order[i]] = i;
	random_state = 7;
	for (unsigned round = 0; round < 200; round++) {
		OWN(graph) *g = NULL;
		OWN(graph) *h = NULL;

		draw_random(d);
		g = named(d, NULL);
		for (uint32_t i = 0; i < d->n; i++)
			if (d->objects[i].type & HI_FIELD_LABEL_TAG)
				d->objects[i].type = hi_field_label_tag(
					1 +
					place[(d->objects[i].type & ~HI_FIELD_LABEL_TAG) -
					      1]);
		h = named(d, order);
		HI_ASSERT_EQ(g->n_types, h->n_types);
		for (uint32_t t = 0; t < g->n_types; t++)
			HI_ASSERT_STREQ(g->types[t].name, h->types[t].name);
		for (uint32_t i = 0; i < d->n; i++)
			HI_ASSERT_EQ(g->objects->type[i], h->objects->type[i]);
	}
	free(d);
}

HI_TEST(field_names, a_type_says_owner_field_and_module)
{
	struct drawing *d = hi_calloc(1, sizeof(*d));
	OWN(graph) *g = NULL;
	const struct hi_type_name *type;

	d->n = 3;
	d->objects[0] = (struct object_spec){48, hi_field_label_tag(1), 0};
	d->objects[1] = (struct object_spec){4000, 0, 0};
	d->objects[2] = (struct object_spec){16, hi_field_label_tag(3), 0};
	d->n_edges = 1;
	d->edges[0].to = 1;
	d->edges[0].grade = HI_GRADE_CONSERVATIVE;
	g = named(d, NULL);
	type = &g->types[g->objects->type[0]];
	HI_ASSERT_STREQ("via dictEntry.v.val, 48 B", type->name);
	HI_ASSERT_STREQ("dictEntry", type->owner);
	HI_ASSERT_STREQ("v.val", type->field);
	HI_ASSERT_STREQ("redis-server", type->module);
	HI_ASSERT_STREQ("via dictEntry.v.val …, ≤ 4 KiB",
			g->types[g->objects->type[1]].name);
	type = &g->types[g->objects->type[2]];
	HI_ASSERT_STREQ("via server, 16 B", type->name);
	HI_ASSERT_STREQ("", type->field);
	HI_ASSERT_STREQ("", type->module);
	free(d);
}

/* Across chunks of rows, and a chain as long as the heap. */
HI_TEST(field_names, a_long_chain_has_one_name)
{
	enum { CHUNKS = 3, N = CHUNKS * HI_CHUNK_NODES };
	HI_GUARD(hi_graph_builder_destroy) struct hi_graph_builder *b = NULL;
	struct hi_objects_builder *ob;
	struct hi_objects *objects;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&ob, &err), &err);
	HI_ASSERT_OK(hi_objects_builder_region(ob, 1 << 20, (1 << 20) + 32ull * N, 4,
					       &region, &err),
		     &err);
	for (uint64_t i = 0; i < N; i++)
		HI_ASSERT_OK(hi_objects_builder_add(ob, region, (1 << 20) + 32 * i, 24, 0,
						    &err),
			     &err);
	HI_ASSERT_OK(hi_objects_seal(ob, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	for (uint32_t c = CHUNKS; c-- > 0;) {
		struct hi_edge_chunk chunk = {
			.row = hi_calloc(HI_CHUNK_NODES + 1, sizeof(uint32_t)),
			.to = hi_alloc(HI_CHUNK_NODES * sizeof(hi_node)),
			.grade = hi_calloc(HI_CHUNK_NODES, 1)};

		/* Backwards: the highest address is the first of the chain. */
		for (uint32_t i = 0; i < HI_CHUNK_NODES; i++) {
			hi_node from = c * HI_CHUNK_NODES + i;

			chunk.row[i + 1] = i + 1;
			chunk.to[i] = from ? from - 1 : N - 1;
		}
		HI_ASSERT_OK(hi_graph_builder_chunk(b, c, chunk, &err), &err);
	}
	objects->type[N - 1] = hi_field_label_tag(2);
	HI_ASSERT_OK(hi_field_names_apply(objects, b, label_of, NULL, LABELS, &err),
		     &err);
	for (hi_node i = 0; i + 1 < N; i++)
		HI_ASSERT_EQ(objects->type[0], objects->type[i]);
	HI_ASSERT(objects->type[0] != objects->type[N - 1]);
}

HI_TEST(field_names, size_classes)
{
	static const struct {
		uint64_t usable, size_class;
		const char *text;
	} cases[] = {
		{0, 0, "0 B"},
		{24, 24, "24 B"},
		{512, 512, "512 B"},
		{513, 1024, "≤ 1 KiB"},
		{1024, 1024, "≤ 1 KiB"},
		{1025, 2048, "≤ 2 KiB"},
		{4088, 4096, "≤ 4 KiB"},
		{400 << 10, 512 << 10, "≤ 512 KiB"},
		{(1 << 20) - 1, 1 << 20, "≤ 1 MiB"},
		{(1 << 20) + 1, 2 << 20, "≤ 2 MiB"},
		{3ull << 30, 4ull << 30, "≤ 4 GiB"},
		{UINT64_MAX, 1ull << 63, "≤ 8 EiB"},
	};
	char text[32];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		HI_ASSERT_EQ(cases[i].size_class, hi_size_class(cases[i].usable));
		HI_ASSERT_STREQ(cases[i].text,
				hi_size_class_text(text, cases[i].size_class));
	}
}

HI_TEST(field_names, a_tag_that_names_no_label_is_refused)
{
	static const uint32_t wrong[] = {0, LABELS + 1, HI_FIELD_LABEL_INDIRECT | 1};
	struct drawing *d = hi_calloc(1, sizeof(*d));

	d->n = 1;
	for (unsigned i = 0; i < 3; i++) {
		struct hi_objects *objects;
		HI_GUARD(hi_graph_builder_destroy)
		struct hi_graph_builder *b = NULL;

		d->objects[0] = (struct object_spec){48, hi_field_label_tag(wrong[i]), 0};
		b = builder_with(d, &objects);
		HI_ASSERT_STATUS(HI_USAGE, hi_field_names_apply(objects, b, label_of,
								NULL, LABELS, &err));
	}
	free(d);
}

HI_TEST(field_names, every_failed_allocation_is_reported)
{
	struct drawing *d = hi_calloc(1, sizeof(*d));
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth;

	random_state = 3;
	do {
		draw_random(d);
	} while (d->n < 50);
	for (nth = 1; status != HI_OK && nth < 500; nth++) {
		struct hi_objects *objects;
		HI_GUARD(hi_graph_builder_destroy)
		struct hi_graph_builder *b = builder_with(d, &objects);

		hi_alloc_fail_at(nth);
		status = hi_field_names_apply(objects, b, label_of, NULL, LABELS, &err);
		hi_alloc_fail_at(0);
		if (status != HI_OK)
			HI_ASSERT_EQ(HI_NO_MEMORY, status);
	}
	HI_ASSERT_EQ(HI_OK, status);
	HI_ASSERT(nth > 5);
	free(d);
}
