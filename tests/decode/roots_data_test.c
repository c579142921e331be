/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots in the data of a drawn module: random variables and words, against a loop over
 * all of them. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "decode/allocator.h"
#include "decode/modules/module.h"
#include "decode/runtime.h"
#include "harness.h"
#include "support/typing_world.h"
#include "tests/support/random.h"

#define H(offset) (WORLD_HEAP + (offset))
#define DATA 0x600000ull
#define FAR 0x20000000ull /* a mapping without allocator */
#define FAR_SIZE (1ull << 20)
enum { DATA_SIZE = 0x4000, DATA_SPLIT = 0x1000, BLOCKS = 64, STEP = 0x100 };
enum { VARIABLES = 40, MOST_EDGES = 2000 };

static struct hi_error err;
static uint64_t seed;

/* A variable: its size, and where its pointers are. */
static const struct shape {
	const char *type;
	uint64_t size, pointers[2];
	unsigned n_pointers;
} shapes[] = {
	{"node *", 8, {0}, 1},	       {"pair", 24, {8, 16}, 2},
	{"packed", 17, {1, 9}, 2},     {"long", 8, {0}, 0},
	{"packed_address", 9, {1}, 1}, {NULL, 8, {0}, 1}, /* a symbol: it has no type */
};
enum { POINTER, PAIR, PACKED, LONG, PACKED_ADDRESS, SYMBOL, SHAPES };

struct drawn_variable {
	char name[16];
	uint64_t start;
	const struct shape *shape;
};

struct drawn_data {
	struct world *w;
	struct hi_module_private priv[2];
	struct hi_module items[2];
	struct hi_modules modules;
	GElf_Phdr segments[3];
	uint32_t no_symbols[2];
	struct hi_allocator allocator;
	struct hi_range own;
	struct drawn_variable variables[VARIABLES];
	size_t n;
	uint64_t words[DATA_SIZE / 8];
};

static void free_data(void *data)
{
	pthread_mutex_destroy(&((struct drawn_data *)data)->modules.lock);
	free(data);
}

static const struct drawn_variable *find_variable(const struct drawn_data *d,
						  uint64_t addr)
{
	for (size_t i = 0; i < d->n; i++)
		if (addr >= d->variables[i].start &&
		    addr < d->variables[i].start + d->variables[i].shape->size)
			return &d->variables[i];
	return NULL;
}

static struct drawn_data *data_of_world;

static enum hi_status variable_at(void *arg, uint64_t addr, struct hi_variable *ret,
				  struct hi_error *error)
{
	const struct drawn_variable *v = find_variable(data_of_world, addr);

	if (!v)
		return hi_fail(error, HI_NOT_FOUND, addr, "no variable");
	*ret = (struct hi_variable){.name = v->name,
				    .file = "drawn.c",
				    .address = v->start,
				    .size = v->shape->size,
				    .module = &data_of_world->items[0]};
	if (v->shape->type)
		ret->type = world_named(arg, v->shape->type);
	return HI_OK;
}

/* Two modules side by side, with data; and a segment that is not writable. */
static void draw_modules(struct drawn_data *d)
{
	d->segments[0] = (GElf_Phdr){.p_type = PT_LOAD,
				     .p_flags = PF_R,
				     .p_vaddr = WORLD_MODULE,
				     .p_memsz = 0x1000};
	for (unsigned i = 0; i < 2; i++) {
		uint64_t start = DATA + i * DATA_SIZE / 2;

		d->segments[1 + i] = (GElf_Phdr){.p_type = PT_LOAD,
						 .p_flags = PF_R | PF_W,
						 .p_vaddr = start,
						 .p_memsz = DATA_SIZE / 2};
		d->priv[i] = (struct hi_module_private){
			.fd = -1,
			.debug_fd = -1,
			.header = {.phdrs = &d->segments[i], .n_phdrs = 2},
			.symbols = {.loaded = true,
				    .by_name = d->no_symbols,
				    .n_by_name = 2},
			.elf_tried = true,
			.debug_tried = true,
			.debug_elf_tried = true,
			.dwarf_tried = true,
			.index = i,
			.modules = &d->modules};
		d->items[i] = (struct hi_module){.path = "/drawn",
						 .name = i ? "other" : "drawn",
						 .start = i ? start : WORLD_MODULE,
						 .end = start + DATA_SIZE / 2,
						 .priv = &d->priv[i]};
	}
	d->modules =
		(struct hi_modules){.image = d->w->image, .items = d->items, .count = 2};
	pthread_mutex_init(&d->modules.lock, NULL);
}

static struct drawn_data *draw_data(void)
{
	struct drawn_data *d = calloc(1, sizeof(*d));

	HI_ASSERT(d);
	d->w = world_create();
	world_types(d->w, "struct node { node *next; long number; };"
			  "struct pair { long number; node *left; node *right; };"
			  "struct packed 17 { char tag; @1 node *left; @9 node *right; };"
			  "struct packed_address 9 { char tag; @1 uintptr_t address; };");
	for (uint64_t i = 0; i < BLOCKS; i++)
		world_block(d->w, H(STEP * i), 24);
	/* In two pieces, so that variables lie across their border. */
	world_mapping(d->w, DATA, DATA_SPLIT);
	world_mapping(d->w, DATA + DATA_SPLIT, DATA_SIZE - DATA_SPLIT);
	draw_modules(d);
	d->w->modules = &d->modules;
	d->w->source.variable_at = variable_at;
	data_of_world = d;
	hi_test_defer(free_data, d);
	return d;
}

static void put_word(struct drawn_data *d, uint64_t addr, uint64_t word)
{
	memcpy((uint8_t *)d->words + (addr - DATA), &word, sizeof(word));
}

static uint64_t read_word(const struct drawn_data *d, uint64_t addr)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)d->words + (addr - DATA), sizeof(word));
	return word;
}

/* The block a word leads to, or BLOCKS. */
static uint64_t find_block(uint64_t word)
{
	if (word < H(0) || (word - H(0)) / STEP >= BLOCKS || (word - H(0)) % STEP >= 24)
		return BLOCKS;
	return (word - H(0)) / STEP;
}

static uint64_t draw_word(void)
{
	switch (random_below(&seed, 4)) {
	case 0:
		return H(STEP * random_below(&seed, BLOCKS));
	case 1:
		return H(STEP * random_below(&seed, BLOCKS)) + 8 * random_below(&seed, 6);
	case 2:
		return random_below(&seed, 1000);
	default:
		return 0;
	}
}

/* A packed variable whose pointer lies across the border of the two pieces. */
static uint64_t draw_across(struct drawn_variable *v, uint64_t at)
{
	const uint64_t border = DATA + DATA_SPLIT;

	if (at >= border || at + 0x40 < border)
		return at;
	v->shape = &shapes[PACKED_ADDRESS];
	return border - 2 - random_below(&seed, 6);
}

static void draw_variables(struct drawn_data *d)
{
	uint64_t at = DATA + 8 * random_below(&seed, 40);

	while (d->n < VARIABLES) {
		struct drawn_variable *v = &d->variables[d->n];

		v->shape = &shapes[random_below(&seed, SHAPES)];
		v->start = at = draw_across(v, at);
		snprintf(v->name, sizeof(v->name), "v%zu", d->n);
		/* None lies across the two segments. */
		if (at < DATA + DATA_SIZE / 2 &&
		    at + v->shape->size > DATA + DATA_SIZE / 2)
			v->start = at = DATA + DATA_SIZE / 2;
		at += v->shape->size;
		if (at > DATA + DATA_SIZE)
			break;
		d->n++;
		at = (at + 7) / 8 * 8 + 8 * (random_below(&seed, 3)
						     ? random_below(&seed, 2)
						     : random_below(&seed, 90));
	}
}

static void fill_words(struct drawn_data *d)
{
	for (uint64_t at = DATA; at < DATA + DATA_SIZE; at += 8)
		world_poke(d->w, at, read_word(d, at));
	/* Memory that is not writable is no data. */
	world_poke(d->w, WORLD_MODULE + 8, H(0));
}

static void fill_data(struct drawn_data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct drawn_variable *v = &d->variables[i];

		for (unsigned k = 0; k < v->shape->n_pointers; k++)
			put_word(d, v->start + v->shape->pointers[k], draw_word());
		if (v->shape == &shapes[LONG] || v->shape == &shapes[PAIR])
			put_word(d, v->start, draw_word());
	}
	for (uint64_t at = DATA; at < DATA + DATA_SIZE; at += 8)
		if (!find_variable(d, at) && !find_variable(d, at + 7) &&
		    random_below(&seed, 8) == 0)
			put_word(d, at, draw_word());
	fill_words(d);
}

static bool is_own(const struct drawn_data *d, uint64_t addr)
{
	return addr >= d->own.start && addr < d->own.end;
}

/* The module of a place that no variable covers. */
static const char *rest_at(uint64_t addr)
{
	return addr < DATA + DATA_SIZE / 2 ? "rest of drawn" : "rest of other";
}

/* The name of a place without a variable. The drawn modules have no sections. */
static const char *place_at(uint64_t addr)
{
	static char name[60];

	snprintf(name, sizeof(name), "data +0x%llx of %s", (unsigned long long)addr,
		 addr < DATA + DATA_SIZE / 2 ? "drawn" : "other");
	return name;
}

/* A word that no variable accounts for: at any offset, as no type tells the offsets. */
static bool is_without_type(const struct drawn_data *d, uint64_t addr)
{
	uint64_t last = addr % 8 ? addr + 7 : addr;

	return !find_variable(d, addr) && !is_own(d, addr) && !find_variable(d, last) &&
	       !is_own(d, last) && rest_at(addr) == rest_at(last);
}

/* "name:block", sorted. */
struct edge_texts {
	char items[MOST_EDGES][48];
	size_t n;
};

static void add_text(struct edge_texts *t, const char *name, uint64_t block)
{
	HI_ASSERT(t->n < MOST_EDGES);
	snprintf(t->items[t->n++], sizeof(t->items[0]), "%s:%u", name, (unsigned)block);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* A root has one edge to a block. */
static void sort_texts(struct edge_texts *t)
{
	size_t kept = 0;

	qsort(t->items, t->n, sizeof(t->items[0]), compare_texts);
	for (size_t i = 0; i < t->n; i++)
		if (!kept || strcmp(t->items[kept - 1], t->items[i]) != 0)
			memmove(t->items[kept++], t->items[i], sizeof(t->items[0]));
	t->n = kept;
}

static void list_expected(const struct drawn_data *d, struct edge_texts *t)
{
	t->n = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct drawn_variable *v = &d->variables[i];

		for (unsigned k = 0; k < v->shape->n_pointers; k++) {
			uint64_t word = read_word(d, v->start + v->shape->pointers[k]);

			if (!is_own(d, v->start) && find_block(word) < BLOCKS)
				add_text(t, v->name, find_block(word));
		}
	}
	for (uint64_t at = DATA; at + 8 <= DATA + DATA_SIZE; at++)
		if (is_without_type(d, at) && find_block(read_word(d, at)) < BLOCKS)
			add_text(t, rest_at(at), find_block(read_word(d, at)));
	sort_texts(t);
}

static void list_found(const struct drawn_data *d, struct edge_texts *t)
{
	const struct hi_graph *g = d->w->graph;

	t->n = 0;
	for (uint32_t i = 0; i < g->n_roots; i++) {
		const struct hi_root *root = &g->roots[i];
		struct hi_edges edges = hi_graph_edges(g, g->first_root + i);
		const struct drawn_variable *v = find_variable(d, root->address);
		bool untyped = root->kind == HI_ROOT_UNTYPED;

		HI_ASSERT(untyped || root->kind == HI_ROOT_GLOBAL);
		HI_ASSERT(edges.count > 0);
		if (untyped)
			HI_ASSERT_STREQ(place_at(root->address), root->name);
		else
			HI_ASSERT_STREQ(v->name, root->name);
		for (uint32_t e = 0; e < edges.count; e++) {
			bool doubtful = untyped || v->shape == &shapes[SYMBOL] ||
					v->shape == &shapes[PACKED_ADDRESS];

			HI_ASSERT_EQ(doubtful, edges.grade[e] == HI_GRADE_CONSERVATIVE);
			add_text(t, untyped ? rest_at(root->address) : root->name,
				 edges.to[e]);
		}
	}
	sort_texts(t);
}

/* Does a word lead into the heap where the variable is looked at? */
static bool is_met(const struct drawn_data *d, const struct drawn_variable *v)
{
	uint64_t end = v->start + v->shape->size;

	for (uint64_t at = v->start; at < end; at += 8)
		if (!is_own(d, at) && find_block(read_word(d, at)) < BLOCKS)
			return true;
	for (unsigned k = 0; k < v->shape->n_pointers; k++)
		if (!is_own(d, v->start) &&
		    find_block(read_word(d, v->start + v->shape->pointers[k])) < BLOCKS)
			return true;
	return false;
}

/* Such a place begins and ends with a word that leads to the heap, and has no byte of a
 * variable that is looked at. */
static void check_rest(const struct drawn_data *d, const struct hi_root *root)
{
	const struct hi_root_info *info = &d->w->typing->roots.items[root->variable];
	uint64_t start = root->address, end = start + root->size;

	HI_ASSERT(find_block(read_word(d, start)) < BLOCKS);
	HI_ASSERT(find_block(read_word(d, end - 8)) < BLOCKS);
	HI_ASSERT_EQ(HI_RANK_PROGRAM, hi_root_rank(root));
	HI_ASSERT_EQ(1, info->n_ranges);
	HI_ASSERT(info->ranges[0].start == start && info->ranges[0].end == end);
	for (uint64_t addr = start; addr < end; addr++) {
		const struct drawn_variable *v = find_variable(d, addr);

		HI_ASSERT(!v || !is_met(d, v));
	}
}

static void check_roots(const struct drawn_data *d)
{
	static struct edge_texts expected, found;

	list_expected(d, &expected);
	list_found(d, &found);
	for (size_t i = 0; i < expected.n || i < found.n; i++)
		HI_ASSERT_STREQ(i < expected.n ? expected.items[i] : "nothing",
				i < found.n ? found.items[i] : "nothing");
	for (uint32_t i = 0; i < d->w->graph->n_roots; i++)
		if (d->w->graph->roots[i].kind == HI_ROOT_UNTYPED)
			check_rest(d, &d->w->graph->roots[i]);
}

HI_TEST(roots_data, equal_a_loop_over_random_variables)
{
	for (uint64_t round = 1; round <= 60; round++) {
		struct drawn_data *d;

		seed = round;
		d = draw_data();
		draw_variables(d);
		fill_data(d);
		HI_ASSERT_OK(world_run(d->w, NULL, &err), &err);
		check_roots(d);
		world_forget(d->w);
	}
}

/* An allocator's own words in it are no roots of the program. */
HI_TEST(roots_data, leave_out_what_is_the_allocators)
{
	for (uint64_t round = 1; round <= 60; round++) {
		struct drawn_data *d;

		seed = round;
		d = draw_data();
		draw_variables(d);
		/* From one variable to the end of another. */
		d->own.start = d->variables[random_below(&seed, d->n / 2)].start;
		d->own.end = d->variables[d->n / 2 + random_below(&seed, d->n / 4)].start;
		d->allocator = (struct hi_allocator){.own = &d->own, .n_own = 1};
		d->w->allocator = &d->allocator;
		fill_data(d);
		HI_ASSERT_OK(world_run(d->w, NULL, &err), &err);
		check_roots(d);
		world_forget(d->w);
	}
}

/* Typed pointers split off objects where no allocator is; variables are none. */
HI_TEST(roots_data, are_never_objects_themselves)
{
	struct drawn_data *d = draw_data();
	uint64_t offset;

	world_mapping(d->w, FAR, FAR_SIZE);
	world_var(d->w, "far", "node *", FAR + 0x100);
	world_var(d->w, "first", "node *", DATA + 0x100);
	world_var(d->w, "second", "node *", DATA + DATA_SIZE - 0x100);
	HI_ASSERT_OK(world_run(d->w, NULL, &err), &err);
	world_node(d->w, FAR + 0x100);
	HI_ASSERT_EQ(HI_NODE_NONE,
		     hi_objects_find(d->w->graph->objects, DATA + 0x100, &offset));
	HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(d->w->graph->objects,
						   DATA + DATA_SIZE - 0x100, &offset));
}

/* ---- a runtime ---- */

struct hi_runtime_cursor {
	int unused;
};
static struct hi_runtime_cursor cursor;

/* Its one object is the block of its root. */
static enum hi_status type_object(struct hi_runtime *runtime,
				  const struct hi_objects *objects, unsigned threads,
				  hi_runtime_type_fn *fn, void *arg,
				  struct hi_error *error)
{
	(void)runtime, (void)objects, (void)threads, (void)error;
	fn(arg, 7, 1, true);
	return HI_OK;
}

static void report_edges(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size,
			 uint32_t type, hi_runtime_edge_fn *fn, void *arg)
{
	(void)c;
	HI_ASSERT_EQ(H(STEP * 7), addr);
	HI_ASSERT_EQ(24, size);
	HI_ASSERT_EQ(1, type);
	HI_ASSERT(fn(arg, &(struct hi_runtime_edge){.to = H(STEP * 0x10 + 8),
						    .grade = HI_GRADE_EXACT}));
	HI_ASSERT(fn(arg, &(struct hi_runtime_edge){.to = H(STEP * 0x11),
						    .grade = HI_GRADE_CONSERVATIVE}));
	HI_ASSERT(fn(arg, &(struct hi_runtime_edge){.to = H(STEP * 0x12),
						    .grade = HI_GRADE_WEAK}));
	HI_ASSERT(fn(arg, &(struct hi_runtime_edge){.to = H(STEP * 0x13 + 24),
						    .grade = HI_GRADE_EXACT}));
}

static struct hi_runtime_cursor *open_cursor(struct hi_runtime *runtime)
{
	(void)runtime;
	return &cursor;
}

static void free_cursor(struct hi_runtime_cursor *c)
{
	(void)c;
}

static uint64_t count_cut(const struct hi_runtime_cursor *c)
{
	(void)c;
	return 0;
}

static enum hi_status report_root(struct hi_runtime *runtime, hi_runtime_root_fn *fn,
				  void *arg, struct hi_error *error)
{
	const struct hi_runtime_edge edges[2] = {
		{.to = H(STEP * 7), .grade = HI_GRADE_EXACT},
		{.to = H(STEP * 9), .grade = HI_GRADE_WEAK}};

	(void)runtime, (void)error;
	fn(arg, &(struct hi_runtime_root){.kind = HI_ROOT_RUNTIME,
					  .name = "its own root",
					  .detail = "",
					  .type = "",
					  .edges = edges,
					  .n_edges = 2});
	return HI_OK;
}

static const struct hi_root *find_root(const struct hi_graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->n_roots; i++)
		if (strcmp(g->roots[i].name, name) == 0)
			return &g->roots[i];
	return NULL;
}

/* Four pointers: the program's, the runtime's memory manager's, one that was left behind,
 * and one in the runtime's own data. Nothing else refers to their blocks. */
HI_TEST(roots_data, variables_of_a_runtime_are_its_own_roots)
{
	static const struct hi_runtime_ops ops = {.name = "drawn",
						  .type_of = type_object,
						  .edges = report_edges,
						  .cursor = open_cursor,
						  .cursor_free = free_cursor,
						  .cut = count_cut,
						  .roots = report_root};
	static const struct hi_runtime_type types[2] = {
		{.name = "", .module = ""}, {.name = "object", .module = "drawn"}};
	static const char *const dangling[] = {"none", "v2", NULL};
	struct drawn_data *d = draw_data();
	const struct hi_range own = {DATA + 0x300, DATA + 0x308};
	const uint64_t internals[] = {DATA, DATA + 0x100};
	struct hi_runtime runtime = {.ops = &ops,
				     .own = &own,
				     .n_own = 1,
				     .internals = internals,
				     .n_internals = 2,
				     .types = types,
				     .n_types = 2,
				     .dangling = dangling};
	const struct hi_typing_options options = {.runtime = &runtime};
	const struct hi_graph *g;

	for (size_t i = 0; i < 4; i++) {
		struct drawn_variable *v = &d->variables[d->n++];

		v->shape = &shapes[i == 1 ? PAIR : POINTER];
		v->start = DATA + 0x10 + 0xf0 * (i > 0) + 0x100 * (i > 1 ? i - 1 : 0);
		snprintf(v->name, sizeof(v->name), "v%zu", i);
		put_word(d, v->start + v->shape->pointers[0], H(STEP * i));
	}
	put_word(d, DATA + 0x308, H(STEP * 5)); /* after its own */
	fill_words(d);
	HI_ASSERT_OK(world_run(d->w, &options, &err), &err);
	g = d->w->graph;
	HI_ASSERT_EQ(4, g->n_roots);
	HI_ASSERT_EQ(HI_ROOT_GLOBAL, find_root(g, "v0")->kind);
	HI_ASSERT_EQ(HI_ROOT_RUNTIME, find_root(g, "v1")->kind);
	HI_ASSERT_EQ(HI_ROOT_RUNTIME, find_root(g, "its own root")->kind);
	HI_ASSERT_EQ(HI_ROOT_UNTYPED, find_root(g, place_at(DATA + 0x308))->kind);
	/* All but 0, 1, 5 and 7; the weak edge holds nothing. */
	HI_ASSERT(strncmp(world_leaks(d->w), "200 300 400 600 800 900 a00", 27) == 0);
	HI_ASSERT_STREQ("object", world_type(d->w, H(STEP * 7)));
	HI_ASSERT_STREQ("1000:e 1100:c 1200:w", world_edges(d->w, H(STEP * 7)));
}

static const struct hi_root *root_of_place(const struct drawn_data *d, uint64_t addr)
{
	return find_root(d->w->graph, place_at(addr));
}

/* A pointer into a text says less than one to a record: which may be to its inside. */
HI_TEST(roots_data, whose_words_all_lead_between_members_say_less)
{
	struct drawn_data *d = draw_data();

	put_word(d, DATA + 0x40, H(3));
	put_word(d, DATA + 0x80, H(STEP + 8));
	put_word(d, DATA + 0xc0, H(STEP * 2 + 5));
	put_word(d, DATA + 0xc8, H(STEP * 3));
	fill_words(d);
	HI_ASSERT_OK(world_run(d->w, NULL, &err), &err);
	HI_ASSERT_EQ(HI_RANK_MEMORY, hi_root_rank(root_of_place(d, DATA + 0x40)));
	HI_ASSERT_EQ(HI_RANK_PROGRAM, hi_root_rank(root_of_place(d, DATA + 0x80)));
	HI_ASSERT_EQ(HI_RANK_PROGRAM, hi_root_rank(root_of_place(d, DATA + 0xc0)));
}

/* Words without a variable: beside each other, and far from others. */
HI_TEST(roots_data, without_variables_are_named_by_their_place)
{
	struct drawn_data *d = draw_data();

	/* Two, one further after a word that leads nowhere, and one after three. */
	put_word(d, DATA + 0x40, H(8));
	put_word(d, DATA + 0x48, H(STEP + 8));
	put_word(d, DATA + 0x58, H(STEP * 2 + 8));
	put_word(d, DATA + 0x78, H(STEP * 3 + 8));
	/* Buckets of a table: all lead to the start of a block of one size. */
	for (unsigned i = 0; i < 8; i++)
		put_word(d, DATA + 0x400 + i * 0x80, H(STEP * (8 + i)));
	put_word(d, DATA + 0x3000, H(STEP * 20)); /* of the other module */
	fill_words(d);
	HI_ASSERT_OK(world_run(d->w, NULL, &err), &err);
	HI_ASSERT_EQ(4, d->w->graph->n_roots);
	HI_ASSERT_EQ(0x20, root_of_place(d, DATA + 0x40)->size);
	HI_ASSERT_EQ(8, root_of_place(d, DATA + 0x78)->size);
	HI_ASSERT_EQ(0x388, root_of_place(d, DATA + 0x400)->size);
	HI_ASSERT_STREQ("other", root_of_place(d, DATA + 0x3000)->detail);
}
