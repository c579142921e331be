/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Bases]
 *
 * A pointer to a base class without virtual functions, to a first member or to a common
 * header (decode/layouts/record_parts.h) leads to the start of a block, and its type
 * describes only the beginning of what is there. So that type is exact only where no
 * record of the program begins with it and has room in such a block, or where the words
 * of the block contradict each that does. Else it is a base of what is there
 * (HI_EVIDENCE_BASE).
 *
 * Which record it is, is inferred for groups of blocks: those of one type, one size and
 * one tag. A tag is an integer member of the type that tells the sizes of the blocks, or
 * which words after the type they use, apart. Among the records that begin with the
 * type and for which the allocator would give a block of this size, or that end in an
 * array, those are left that fit all blocks of the group (fit.h). The only one, or the
 * one for which most speaks, is the type of each block that it fits, with the evidence
 * "shape". Blocks of the same tag that a pointer to the whole record leads to speak for
 * it as well; and of several that are left, one that another tag has taken is not meant.
 *
 * The pointers of a record that is found lead to more blocks. They are looked at at once
 * where their group has its record, else when nothing else is left to follow.
 */
#include "decode/inference/bases.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/search.h"
#include "base/table.h"
#include "decode/inference/fit.h"
#include "decode/layouts/record_parts.h"

enum {
	MAX_PAIRS = 1 << 12,
	MAX_DERIVED = 24,     /* records of a pair */
	MAX_USABLE = 4096,    /* larger blocks are seldom one record */
	MAX_BLOCKS = 1 << 24, /* that are grouped */
	MAX_REPEATS = 64,
	MAX_SEARCHES = 12, /* of all debug information */
	SAMPLES = 24,	   /* blocks of a group that are looked at */
	TAG_SAMPLES = 2048,
	TAG_LEAVES = 16,     /* members that may be a tag */
	TAG_VALUES = 32,     /* that it may have */
	TAG_SHAPES = 32,     /* sizes and pointers that it tells apart */
	TAG_PERCENT = 110,   /* of the blocks that are told apart without it, at least */
	VOTES = 64,	     /* users of a record that are looked at */
	MAX_COMPARED = 1024, /* groups that are compared with each other */
	MAX_PIECE_TYPES = 256,
	PIECES_AHEAD = 16,  /* that are looked at for the next one with a type */
	ARRAY_CHECKED = 64, /* elements whose pointers are looked at */
	MEMO_BITS = 10,
};

/* A type and a size of blocks that have it. */
struct base_pair {
	uint32_t layout; /* a base layout */
	uint64_t usable;
	bool fits;		 /* the allocator gives such blocks for the type itself */
	bool is_union;		 /* derived: its records, one of which is there */
	bool searched, too_many; /* too_many: more records than are kept */
	uint32_t n_derived;
	struct {
		const struct hi_type *type;
		bool open; /* it ends in an array */
	} derived[MAX_DERIVED];
};

struct base_block {
	uint32_t layout, pair;
	uint64_t tag;
	hi_node id;
};

/* The verdict on blocks of one type, size and tag. */
struct base_group {
	uint32_t pair;
	uint64_t tag;
	size_t first, n;   /* in blocks */
	uint32_t derived;  /* index in the pair's, or NOT_FOUND */
	uint32_t possible; /* bit per record of the pair: fits all blocks */
	uint32_t points[MAX_DERIVED];
	bool may_be_own; /* so does the type itself */
};
#define NOT_FOUND UINT32_MAX

/* The member of a type that is its tag. */
struct base_tag {
	uint32_t layout;
	uint32_t offset, size; /* size 0: it has none */
};

/*
 * Results for a key and a size, which are the same for all blocks with them: passes
 * over all blocks meet the same few again and again. Direct-mapped; all zero: empty.
 */
struct base_memo {
	struct {
		uint32_t key; /* without evidence */
		uint32_t base;
	} bases[1 << MEMO_BITS];
	struct {
		uint64_t layout_usable;
		uint32_t pair;
	} pairs[1 << MEMO_BITS]; /* while the pairs are the same */
};

struct hi_bases {
	struct hi_propagation *s;
	struct base_memo *memo;
	struct hi_typing *typing;
	struct HI_VECTOR(struct base_pair) pairs; /* sorted once they are searched */
	struct hi_table known;			  /* of a pair: it is in pairs */
	struct hi_table
		unions; /* layouts of unions for which their blocks are too small */
	struct HI_VECTOR(struct base_block) blocks;
	struct HI_VECTOR(struct base_group) groups; /* sorted */
	struct HI_VECTOR(struct base_tag) tags;	    /* by layout */
	struct HI_VECTOR(struct base_block) voters; /* that have one of the records */
	struct hi_fit_block samples[SAMPLES];
	uint32_t n_samples;
	struct hi_fit_record record;
	uint32_t n_searches;
	uint64_t largest; /* usable bytes of a pair whose type does not fill them */
	bool no_memory;
};

struct hi_bases *hi_bases_create(struct hi_propagation *s)
{
	struct hi_bases *b = hi_calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->memo = hi_calloc(1, sizeof(*b->memo));
	if (!b->memo) {
		free(b);
		return NULL;
	}
	b->s = s;
	b->typing = s->typing;
	return b;
}

void hi_bases_destroy(struct hi_bases *b)
{
	if (!b)
		return;
	hi_vector_free(&b->pairs);
	hi_vector_free(&b->blocks);
	hi_vector_free(&b->groups);
	hi_vector_free(&b->tags);
	hi_vector_free(&b->voters);
	hi_table_free(&b->known);
	hi_table_free(&b->unions);
	free(b->memo);
	free(b);
}

/* ---- blocks that may be more than their type ---- */

static const struct hi_layout *layout_at(const struct hi_bases *b, uint32_t index)
{
	return hi_layouts_get(b->typing->layouts, index);
}

static enum hi_evidence evidence_of_key(uint32_t key)
{
	return (enum hi_evidence)(key >> HI_KEY_EVIDENCE_SHIFT);
}

/* May a record begin with a value of this type? */
static bool may_begin_record(const struct hi_layout *layout)
{
	const struct hi_rules *rules = layout->rules;

	return layout->klass == HI_TYPE_RECORD && layout->type && layout->size &&
	       !layout->opaque && !layout->lead &&
	       (!layout->open_ended || layout->type->kind == HI_KIND_UNION) &&
	       !layout->managed && !hi_layout_has_count(layout) &&
	       !(rules && (rules->tail_known || rules->size || rules->is_node ||
			   rules->n_variants));
}

/* The union to which pointers lead there, of a block without a type. */
static uint32_t union_of_block(const struct hi_bases *b, hi_node id)
{
	uint64_t layout;

	return b->unions.count && hi_table_get(&b->unions, id, &layout)
		       ? (uint32_t)layout
		       : (uint32_t)HI_LAYOUT_NONE;
}

/* Takes what propagation has found; of several unions, the one with the lowest number of
 * its type. */
static void take_unions_of_blocks(struct hi_bases *b)
{
	for (unsigned i = 0; i < b->s->n_workers; i++) {
		struct hi_propagation_entries *narrow = &b->s->workers[i]->narrow;

		for (size_t k = 0; k < narrow->count; k++) {
			const struct hi_propagation_entry *e = &narrow->items[k];
			const struct hi_layout *layout =
				layout_at(b, e->key & HI_KEY_LAYOUT);
			uint32_t old = union_of_block(b, e->id);

			if ((!old || layout_at(b, old)->type->id > layout->type->id) &&
			    !hi_table_put(&b->unions, e->id, layout->base))
				b->no_memory = true;
		}
		narrow->count = 0;
	}
}

/* Returns the base of a block with this key, whatever its size. */
static uint32_t base_of_key(const struct hi_bases *b, uint32_t key)
{
	const struct hi_layout *layout = layout_at(b, key & HI_KEY_LAYOUT);

	/* A tag and nothing more is seldom an element of an array. */
	return may_begin_record(layout) && (!(key & HI_KEY_ARRAY) || layout->size < 8)
		       ? layout->base
		       : (uint32_t)HI_LAYOUT_NONE;
}

/* The layout of a block that a typed pointer leads to; HI_LAYOUT_NONE: it is none of
 * those that are looked at here. */
static inline uint32_t base_of_block(const struct hi_bases *b, hi_node id)
{
	const struct hi_objects *objects = b->typing->objects;
	uint32_t key =
		objects->type[id] & (HI_KEY_LAYOUT | HI_KEY_ARRAY | HI_KEY_SETTLED);
	size_t i = (key ^ key >> MEMO_BITS) & ((1 << MEMO_BITS) - 1);

	if (!(key & HI_KEY_LAYOUT))
		return objects->type[id] ? (uint32_t)HI_LAYOUT_NONE
					 : union_of_block(b, id);
	if ((key & HI_KEY_SETTLED) || objects->usable_low[id] > MAX_USABLE)
		return HI_LAYOUT_NONE;
	if (b->memo->bases[i].key != key) {
		b->memo->bases[i].base = base_of_key(b, key);
		b->memo->bases[i].key = key;
	}
	return b->memo->bases[i].base;
}

/* ---- chunks of blocks ---- */

/*
 * Most blocks are none of those that a pass is about. So all threads look first, and the
 * pass itself, whose order matters, leaves out the chunks without any.
 */
typedef bool base_test(const struct hi_bases *b, hi_node id);
struct base_look {
	const struct hi_bases *b;
	base_test *test;
	bool *has;    /* per chunk */
	size_t first; /* chunk */
};

static void look_for_bases(void *arg, size_t task, unsigned worker)
{
	struct base_look *look = arg;
	size_t chunk = look->first + task;
	struct base_memo memo = {};
	struct hi_bases mine = *look->b; /* with a memo of this thread */
	hi_node id = (hi_node)(chunk << HI_CHUNK_SHIFT);
	hi_node left = mine.typing->objects->count - id;
	hi_node end = id + (left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES);

	(void)worker;
	mine.memo = &memo;
	while (id < end && !look->test(&mine, id))
		id++;
	look->has[chunk] = id < end;
}

static size_t count_base_chunks(const struct hi_bases *b)
{
	return ((size_t)b->typing->objects->count + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;
}

/* Which chunks from `first` on have such a block? To be freed; those before it count as
 * without any. NULL: out of memory. */
static bool *find_base_chunks(struct hi_bases *b, size_t first, base_test *test)
{
	size_t n = count_base_chunks(b);
	bool *has = hi_calloc(n + 1, sizeof(*has));
	struct base_look look = {.b = b, .test = test, .has = has, .first = first};

	if (!has)
		b->no_memory = true;
	else if (first < n)
		hi_parallel(b->typing->threads, n - first, look_for_bases, &look);
	return has;
}

/* The next id of such a chunk, from `id` on; or the number of objects. */
static inline uint64_t skip_base_chunks(const struct hi_bases *b, const bool *has,
					uint64_t id)
{
	uint64_t count = b->typing->objects->count;

	while (id < count && !has[id >> HI_CHUNK_SHIFT])
		id = ((id >> HI_CHUNK_SHIFT) + 1) << HI_CHUNK_SHIFT;
	return id < count ? id : count;
}

/* ---- pairs ---- */

static int compare_pairs(const void *x, const void *y)
{
	const struct base_pair *a = x, *b = y;

	if (a->usable != b->usable)
		return a->usable < b->usable ? -1 : 1;
	return a->layout < b->layout ? -1 : a->layout > b->layout;
}

static size_t first_pair_of_size(const struct hi_bases *b, uint64_t usable)
{
	return hi_search(i, b->pairs.count, b->pairs.items[i].usable < usable);
}

/* The pairs are sorted. */
static uint32_t search_pair(const struct hi_bases *b, uint32_t layout, uint64_t usable)
{
	const struct base_pair key = {.layout = layout, .usable = usable};
	size_t i =
		hi_search(k, b->pairs.count, compare_pairs(&b->pairs.items[k], &key) < 0);

	return i < b->pairs.count && compare_pairs(&b->pairs.items[i], &key) == 0
		       ? (uint32_t)i
		       : NOT_FOUND;
}

static size_t index_of_pair(uint64_t layout_usable)
{
	return layout_usable * 0x9e3779b97f4a7c15ull >> (64 - MEMO_BITS);
}

static inline uint32_t find_pair(const struct hi_bases *b, uint32_t layout,
				 uint64_t usable)
{
	uint64_t key = (uint64_t)layout << 32 | usable;
	size_t i = index_of_pair(key);

	if (usable >> 32)
		return search_pair(b, layout, usable);
	if (b->memo->pairs[i].layout_usable != key) {
		b->memo->pairs[i].pair = search_pair(b, layout, usable);
		b->memo->pairs[i].layout_usable = key;
	}
	return b->memo->pairs[i].pair;
}

static void forget_pairs(struct hi_bases *b)
{
	memset(b->memo->pairs, 0, sizeof(b->memo->pairs));
}

static void add_pair(struct hi_bases *b, uint32_t layout, uint64_t usable)
{
	const struct hi_block_sizes *sizes = &b->typing->layouts->sizes;
	struct base_pair pair = {.layout = layout, .usable = usable};
	uint64_t key = (uint64_t)layout << 13 | usable, value;

	if (hi_table_get(&b->known, key, &value) || b->pairs.count == MAX_PAIRS)
		return;
	pair.fits = hi_fit_is(sizes, layout_at(b, layout)->size, usable);
	pair.is_union = layout_at(b, layout)->type->kind == HI_KIND_UNION;
	if (!hi_table_put(&b->known, key, 1) || !hi_vector_push(&b->pairs, pair))
		b->no_memory = true;
	if (!pair.fits && usable > b->largest)
		b->largest = usable;
}

/* base_test */
static bool is_new_pair(const struct hi_bases *b, hi_node id)
{
	uint32_t layout = base_of_block(b, id);
	uint64_t usable, key, value;
	size_t i;

	if (!layout)
		return false;
	usable = hi_object_usable(b->typing->objects, id);
	key = (uint64_t)layout << 32 | (uint32_t)usable;
	i = index_of_pair(key);
	if (b->memo->pairs[i].layout_usable == key && !(usable >> 32))
		return false;
	if (!hi_table_get(&b->known, (uint64_t)layout << 13 | usable, &value))
		return true;
	b->memo->pairs[i].layout_usable = key; /* its pair does not matter here */
	return false;
}

static void add_pairs_of_chunk(struct hi_bases *b, size_t chunk)
{
	const struct hi_objects *objects = b->typing->objects;
	hi_node id = (hi_node)(chunk << HI_CHUNK_SHIFT), left = objects->count - id;
	hi_node end = id + (left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES);
	uint64_t seen[1 << MEMO_BITS] = {};

	for (; id < end && !b->no_memory; id++) {
		uint32_t layout = base_of_block(b, id);
		uint64_t usable = layout ? hi_object_usable(objects, id) : 0;
		uint64_t key = (uint64_t)layout << 32 | (uint32_t)usable;
		uint64_t *entry = &seen[index_of_pair(key)];

		if (!layout || (*entry == key && !(usable >> 32)))
			continue;
		*entry = key;
		add_pair(b, layout, usable);
	}
}

/* The first chunk has most of them. */
static bool add_pairs(struct hi_bases *b)
{
	size_t before = b->pairs.count, n = count_base_chunks(b);
	HI_GUARD(free) bool *has = NULL;

	if (n)
		add_pairs_of_chunk(b, 0);
	has = find_base_chunks(b, 1, is_new_pair);
	for (size_t k = 1; has && k < n; k++)
		if (has[k])
			add_pairs_of_chunk(b, k);
	return b->pairs.count > before;
}

/* ---- records that begin with these types ---- */

/* Has the record no fixed end? `item *p[1]` is how that was written before C99. */
static bool ends_in_array(const struct hi_type_source *types, const struct hi_type *type)
{
	for (unsigned depth = 0; depth < 16; depth++) {
		const struct hi_member *last;

		if (type->kind != HI_KIND_STRUCT || !type->n_members)
			return false;
		last = &type->members[type->n_members - 1];
		type = hi_type_source_get(types, last->type);
		if (type->kind == HI_KIND_ARRAY)
			return type->flexible || (type->count == 1 && last->offset);
	}
	return false;
}

static bool may_begin_with(const struct hi_bases *b, const struct hi_type *record,
			   const struct base_pair *pair)
{
	const struct hi_type_source *types = &b->typing->source.types;
	const struct hi_type *type = layout_at(b, pair->layout)->type;

	if (record == type || (pair->is_union && record->size < type->size))
		return false;
	if (record->size < type->size)
		return false;
	return hi_record_has_at(types, record, type, 0) ||
	       hi_record_has_header(types, record, type);
}

static void add_derived(struct base_pair *pair, const struct hi_type *record, bool open)
{
	for (uint32_t i = 0; i < pair->n_derived; i++)
		if (pair->derived[i].type == record)
			return;
	if (pair->n_derived == MAX_DERIVED) {
		pair->too_many = true;
		return;
	}
	pair->derived[pair->n_derived].type = record;
	pair->derived[pair->n_derived++].open = open;
}

/* hi_record_size_fn */
static bool wants_derived_size(uint64_t size, void *arg)
{
	const struct hi_bases *b = arg;
	uint64_t fit = hi_fit_usable(&b->typing->layouts->sizes, size);
	size_t i = first_pair_of_size(b, fit);

	return size && size <= MAX_USABLE &&
	       (size <= b->largest ||
		(i < b->pairs.count && b->pairs.items[i].usable == fit));
}

/* hi_record_fn */
static bool try_derived(const struct hi_type *record, void *arg)
{
	struct hi_bases *b = arg;
	const struct hi_type_source *types = &b->typing->source.types;
	uint64_t fit = hi_fit_usable(&b->typing->layouts->sizes, record->size);
	bool open = ends_in_array(types, record);

	for (size_t i = first_pair_of_size(b, fit); i < b->pairs.count; i++) {
		struct base_pair *pair = &b->pairs.items[i];

		if (pair->usable != fit && !open)
			break;
		if (!pair->searched && (pair->usable == fit || !pair->fits) &&
		    may_begin_with(b, record, pair))
			add_derived(pair, record, open);
	}
	return true;
}

/* The records of a union of which the program takes the memory of one, or that lie in the
 * memory of all of it. */
static void take_records_of_union(struct hi_bases *b, struct base_pair *pair)
{
	const struct hi_type_source *types = &b->typing->source.types;
	const struct hi_type *type = layout_at(b, pair->layout)->type;

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_type *record =
			hi_type_source_get(types, type->members[i].type);
		bool open = ends_in_array(types, record);

		if (record->kind != HI_KIND_STRUCT || !record->size ||
		    record->size > pair->usable)
			continue;
		if (pair->fits || open ||
		    hi_fit_is(&b->typing->layouts->sizes, record->size, pair->usable))
			add_derived(pair, record, open);
	}
}

static void search_derived(struct hi_bases *b)
{
	const struct hi_typing_source *source = &b->typing->source;

	qsort(b->pairs.items, b->pairs.count, sizeof(*b->pairs.items), compare_pairs);
	forget_pairs(b);
	if (source->each_own_record &&
	    source->each_own_record(source->types.arg, wants_derived_size, try_derived, b,
				    NULL) != HI_OK)
		b->no_memory = true;
	for (size_t i = 0; i < b->pairs.count; i++) {
		struct base_pair *pair = &b->pairs.items[i];

		if (!pair->searched && pair->is_union)
			take_records_of_union(b, pair);
		pair->searched = true;
	}
}

/* ---- fits ---- */

struct fit_result {
	bool possible;
	uint32_t points, tails;
};

static struct fit_result fit_samples(struct hi_bases *b, const struct hi_type *type,
				     bool open)
{
	struct hi_fit_score score = {};

	if (b->record.type != type && !hi_fit_flatten(b->typing, type, &b->record)) {
		b->record.type = NULL;
		return (struct fit_result){};
	}
	b->record.open = open;
	for (uint32_t i = 0; i < b->n_samples && !score.contradicted; i++)
		hi_fit_add(b->typing, b->typing->objects, &b->record, &b->samples[i],
			   &score);
	return (struct fit_result){!score.contradicted, hi_fit_points(&score),
				   score.tails};
}

static bool fit_one(struct hi_bases *b, hi_node id, const struct hi_type *type, bool open)
{
	b->n_samples = 1;
	return hi_fit_read(b->typing, b->typing->objects, id, &b->samples[0]) &&
	       fit_samples(b, type, open).possible;
}

/* ---- tags ---- */

static bool read_tag(struct hi_bases *b, hi_node id, const struct base_tag *tag,
		     uint64_t *ret)
{
	struct hi_propagation_worker *w = b->s->workers[0];
	uint64_t addr, word, from;

	*ret = 0;
	if (!tag->size)
		return true;
	addr = hi_objects_address(b->typing->objects, id) + tag->offset;
	from = addr & ~(uint64_t)7;
	if (!hi_propagation_read(w, from, &word))
		return false;
	*ret = word >> 8 * (addr - from);
	if (tag->size < 8)
		*ret &= (1ull << 8 * tag->size) - 1;
	return true;
}

/* How many blocks have which shape, by value of the member. */
struct tag_counts {
	uint64_t values[TAG_VALUES], shapes[TAG_SHAPES];
	uint32_t count[TAG_VALUES][TAG_SHAPES];
	uint32_t n_values, n_shapes;
};

/* The index of a value in a list, which is added; max: there is no more room. */
static uint32_t index_of_value(uint64_t *list, uint32_t *n, uint32_t max, uint64_t value)
{
	uint32_t i = 0;

	while (i < *n && list[i] != value)
		i++;
	if (i == *n && i < max)
		list[(*n)++] = value;
	return i;
}

/* Blocks that have the most frequent shape of their value. */
static uint64_t count_told_apart(const struct tag_counts *c)
{
	uint64_t sum = 0;

	for (uint32_t v = 0; v < c->n_values; v++) {
		uint32_t most = 0;

		for (uint32_t k = 0; k < c->n_shapes; k++)
			if (c->count[v][k] > most)
				most = c->count[v][k];
		sum += most;
	}
	return sum;
}

/* Its size, and which words after the type are not 0. */
static uint64_t shape_of_block(struct hi_bases *b, const struct base_block *block)
{
	bool is_union = b->pairs.items[block->pair].is_union;
	uint64_t words = is_union ? 1 : layout_at(b, block->layout)->size / 8;
	struct hi_fit_block *sample = &b->samples[0];
	uint64_t tail;

	if (!hi_fit_read(b->typing, b->typing->objects, block->id, sample))
		return 0;
	tail = sample->objects | sample->modules | sample->plain;
	return sample->usable << 32 ^
	       (words < 64 ? tail >> words << words : 0) * 0x9e3779b1;
}

/* Some blocks of one type, and their shapes. */
struct tag_search {
	const struct base_block *blocks[TAG_SAMPLES];
	uint64_t shapes[TAG_SAMPLES];
	size_t n;
	struct tag_counts counts;
};

/* 0: it has too many values, or only one. */
static uint64_t told_apart_by(struct hi_bases *b, struct tag_search *t,
			      const struct base_tag *tag)
{
	struct tag_counts *c = &t->counts;
	uint64_t value;

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < t->n; i++) {
		uint32_t v, k;

		if (!read_tag(b, t->blocks[i]->id, tag, &value))
			return 0;
		v = index_of_value(c->values, &c->n_values, TAG_VALUES, value);
		k = index_of_value(c->shapes, &c->n_shapes, TAG_SHAPES, t->shapes[i]);
		if (v == TAG_VALUES)
			return 0;
		if (k < TAG_SHAPES)
			c->count[v][k]++;
	}
	return tag->size && c->n_values < 2 ? 0 : count_told_apart(c);
}

/* Bytes of one word of the type. */
static bool may_be_tag(const struct hi_fit_leaf *leaf)
{
	return leaf->kind == HI_FIT_INTEGER && leaf->size <= 8 &&
	       leaf->offset / 8 == (leaf->offset + leaf->size - 1) / 8;
}

static struct base_tag best_tag(struct hi_bases *b, struct tag_search *t, uint32_t layout)
{
	const struct base_pair *pair = &b->pairs.items[t->blocks[0]->pair];
	struct base_tag none = {.layout = layout}, best = none, tag = none;
	uint64_t without = told_apart_by(b, t, &none), most = 0;
	uint32_t tried = 0;

	/* Of a union, a member that its records have in common: the values of others
	 * distinguish nothing. */
	if (!hi_fit_flatten(b->typing,
			    pair->is_union ? pair->derived[0].type
					   : layout_at(b, pair->layout)->type,
			    &b->record))
		b->record.n = 0;
	for (uint32_t i = 0; i < b->record.n && tried < TAG_LEAVES; i++) {
		uint64_t told;

		if (!may_be_tag(&b->record.leaves[i]))
			continue;
		tried++;
		tag.offset = b->record.leaves[i].offset;
		tag.size = b->record.leaves[i].size;
		told = told_apart_by(b, t, &tag);
		if (told > most) {
			most = told;
			best = tag;
		}
	}
	b->record.type = NULL;
	return most * 100 >= without * TAG_PERCENT ? best : none;
}

static struct base_tag find_tag(struct hi_bases *b, const struct base_block *blocks,
				size_t n)
{
	struct tag_search *t = hi_calloc(1, sizeof(*t));
	struct base_tag tag = {.layout = blocks->layout};

	b->no_memory |= !t;
	for (size_t i = 0; t && i < n && t->n < TAG_SAMPLES; i += n / TAG_SAMPLES + 1) {
		t->shapes[t->n] = shape_of_block(b, &blocks[i]);
		t->blocks[t->n++] = &blocks[i];
	}
	if (t)
		tag = best_tag(b, t, blocks->layout);
	free(t);
	return tag;
}

static const struct base_tag *tag_of(const struct hi_bases *b, uint32_t layout)
{
	size_t i = hi_search(k, b->tags.count, b->tags.items[k].layout < layout);

	return i < b->tags.count && b->tags.items[i].layout == layout ? &b->tags.items[i]
								      : NULL;
}

/* ---- groups ---- */

static int compare_blocks(const void *x, const void *y)
{
	const struct base_block *a = x, *b = y;

	if (a->layout != b->layout)
		return a->layout < b->layout ? -1 : 1;
	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_voters(const void *x, const void *y)
{
	const struct base_block *a = x, *b = y;

	if (a->layout != b->layout)
		return a->layout < b->layout ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Blocks that a pointer to one of the records leads to. */
static void list_voters(struct hi_bases *b)
{
	const struct hi_objects *objects = b->typing->objects;
	struct hi_table derived = {};
	uint64_t value;

	for (size_t i = 0; i < b->pairs.count; i++)
		for (uint32_t k = 0; k < b->pairs.items[i].n_derived; k++)
			if (!hi_table_put(
				    &derived,
				    hi_layouts_of(b->typing->layouts,
						  b->pairs.items[i].derived[k].type->id),
				    1))
				b->no_memory = true;
	b->voters.count = 0;
	for (hi_node id = 0; id < objects->count && derived.count && !b->no_memory;
	     id++) {
		uint32_t layout = base_of_block(b, id);

		if (layout && hi_table_get(&derived, layout, &value) &&
		    evidence_of_key(objects->type[id]) >= HI_EVIDENCE_POINTER &&
		    b->voters.count < MAX_BLOCKS &&
		    !hi_vector_push(&b->voters, ((struct base_block){layout, 0, 0, id})))
			b->no_memory = true;
	}
	if (b->voters.count > 1)
		qsort(b->voters.items, b->voters.count, sizeof(*b->voters.items),
		      compare_voters);
	hi_table_free(&derived);
}

/* The pair of the block if records begin with it, else NOT_FOUND. */
static inline uint32_t pair_with_derived(const struct hi_bases *b, hi_node id,
					 uint32_t layout)
{
	uint32_t pair =
		layout ? find_pair(b, layout, hi_object_usable(b->typing->objects, id))
		       : NOT_FOUND;

	return pair == NOT_FOUND || !b->pairs.items[pair].n_derived ||
			       b->pairs.items[pair].too_many
		       ? NOT_FOUND
		       : pair;
}

/* base_test */
static bool has_derived(const struct hi_bases *b, hi_node id)
{
	return pair_with_derived(b, id, base_of_block(b, id)) != NOT_FOUND;
}

/* Blocks of the pairs that records begin with. */
static void list_blocks(struct hi_bases *b)
{
	HI_GUARD(free) bool *has = find_base_chunks(b, 0, has_derived);
	uint64_t count = b->typing->objects->count;

	b->blocks.count = 0;
	for (uint64_t i = 0; !b->no_memory && (i = skip_base_chunks(b, has, i)) < count;
	     i++) {
		hi_node id = (hi_node)i;
		uint32_t layout = base_of_block(b, id);
		uint32_t pair = pair_with_derived(b, id, layout);

		if (pair == NOT_FOUND || b->blocks.count == MAX_BLOCKS)
			continue;
		if (!hi_vector_push(&b->blocks,
				    ((struct base_block){layout, pair, 0, id})))
			b->no_memory = true;
	}
	if (b->blocks.count > 1)
		qsort(b->blocks.items, b->blocks.count, sizeof(*b->blocks.items),
		      compare_blocks);
}

/* The tags of all blocks of a type. */
static void tag_blocks(struct hi_bases *b)
{
	struct base_block *blocks = b->blocks.items;
	size_t end;

	b->tags.count = 0;
	for (size_t i = 0; i < b->blocks.count && !b->no_memory; i = end) {
		struct base_tag tag;

		for (end = i + 1;
		     end < b->blocks.count && blocks[end].layout == blocks[i].layout;)
			end++;
		tag = find_tag(b, &blocks[i], end - i);
		if (!hi_vector_push(&b->tags, tag))
			b->no_memory = true;
		for (size_t k = i; k < end; k++)
			(void)read_tag(b, blocks[k].id, &tag, &blocks[k].tag);
	}
	if (b->blocks.count > 1)
		qsort(blocks, b->blocks.count, sizeof(*blocks), compare_blocks);
}

static void sample_group(struct hi_bases *b, const struct base_group *g)
{
	size_t step = g->n / SAMPLES + 1;

	b->n_samples = 0;
	for (size_t i = 0; i < g->n && b->n_samples < SAMPLES; i += step)
		if (hi_fit_read(b->typing, b->typing->objects,
				b->blocks.items[g->first + i].id,
				&b->samples[b->n_samples]))
			b->n_samples++;
}

/* Does a pointer to the whole record lead to a block of this size and tag? */
static bool has_user(struct hi_bases *b, const struct base_group *g,
		     const struct base_tag *tag, const struct hi_type *derived)
{
	const struct hi_objects *objects = b->typing->objects;
	uint64_t usable = b->pairs.items[g->pair].usable, value;
	uint32_t layout = hi_layouts_of(b->typing->layouts, derived->id), looks = 0;
	size_t i = hi_search(k, b->voters.count, b->voters.items[k].layout < layout);

	for (; i < b->voters.count && looks++ < VOTES; i++) {
		const struct base_block *voter = &b->voters.items[i];

		if (voter->layout != layout)
			break;
		if (hi_object_usable(objects, voter->id) == usable &&
		    read_tag(b, voter->id, tag, &value) && value == g->tag)
			return true;
	}
	return false;
}

/* May a block be of the type itself, and nothing more? */
static bool is_own(const struct base_pair *pair)
{
	return pair->fits && !pair->is_union;
}

/* The record for which more speaks than for all others, the type itself among them where
 * it fits; NOT_FOUND: there is none. By the samples; the points of each go into ret. */
static uint32_t choose_derived(struct hi_bases *b, const struct base_pair *pair,
			       struct base_group *ret)
{
	uint32_t n_exact = 0, best = NOT_FOUND, exact = NOT_FOUND;
	struct fit_result own = {};
	uint64_t most = 0, second = 0;

	if (is_own(pair))
		own = fit_samples(b, layout_at(b, pair->layout)->type, false);
	most = own.points;
	ret->possible = 0;
	for (uint32_t i = 0; i < pair->n_derived; i++) {
		struct fit_result fit =
			fit_samples(b, pair->derived[i].type, pair->derived[i].open);

		if (!fit.possible)
			continue;
		ret->possible |= 1u << i;
		ret->points[i] = fit.points;
		n_exact += !pair->derived[i].open;
		exact = pair->derived[i].open ? exact : i;
		second = fit.points > most ? most : second;
		best = fit.points > most ? i : best;
		if (fit.points <= most && fit.points > second)
			second = fit.points;
		most = fit.points > most ? fit.points : most;
	}
	/* Words after the type in a few blocks may be left over. */
	ret->may_be_own = is_own(pair) && own.tails * 2 < b->n_samples;
	if (ret->may_be_own)
		return NOT_FOUND;
	if (best != NOT_FOUND && most > second)
		return best;
	return !is_own(pair) && n_exact == 1 ? exact : NOT_FOUND;
}

/* Pointers to the whole record that lead to blocks of this tag. */
static void let_users_vote(struct hi_bases *b, struct base_group *g)
{
	const struct base_pair *pair = &b->pairs.items[g->pair];
	const struct base_tag *tag = tag_of(b, pair->layout);
	uint32_t voted = NOT_FOUND, n = 0;

	for (uint32_t i = 0; tag && tag->size && i < pair->n_derived; i++)
		if (g->possible >> i & 1 && has_user(b, g, tag, pair->derived[i].type)) {
			voted = i;
			n++;
		}
	if (n == 1)
		g->derived = voted;
}

/* Is the record that of another group of this type: of the same tag, or of another? */
static bool is_taken(const struct hi_bases *b, const struct base_group *g,
		     const struct hi_type *type, bool same_tag)
{
	uint32_t layout = b->pairs.items[g->pair].layout;

	for (size_t i = 0; i < b->groups.count; i++) {
		const struct base_group *other = &b->groups.items[i];
		const struct base_pair *pair = &b->pairs.items[other->pair];

		if (pair->layout == layout && other->derived != NOT_FOUND &&
		    (other->tag == g->tag) == same_tag &&
		    pair->derived[other->derived].type == type)
			return true;
	}
	return false;
}

/* The record of blocks with this tag and another size. */
static void decide_by_tag(struct hi_bases *b, struct base_group *g)
{
	const struct base_pair *pair = &b->pairs.items[g->pair];
	const struct base_tag *tag = tag_of(b, pair->layout);
	uint32_t same = NOT_FOUND, n = 0;

	for (uint32_t i = 0; tag && tag->size && i < pair->n_derived; i++)
		if (g->possible >> i & 1 && is_taken(b, g, pair->derived[i].type, true)) {
			same = i;
			n++;
		}
	if (n == 1)
		g->derived = same;
}

/* Among those that no other tag has taken, the only one, or the one for which most
 * speaks. */
static void decide_by_exclusion(struct hi_bases *b, struct base_group *g)
{
	const struct base_pair *pair = &b->pairs.items[g->pair];
	const struct base_tag *tag = tag_of(b, pair->layout);
	uint32_t best = NOT_FOUND, n = 0;
	uint64_t most = 0, second = 0;

	if (g->may_be_own || !tag || !tag->size)
		return;
	for (uint32_t i = 0; i < pair->n_derived; i++) {
		if (!(g->possible >> i & 1) ||
		    is_taken(b, g, pair->derived[i].type, false))
			continue;
		n++;
		second = g->points[i] > most ? most : second;
		best = n == 1 || g->points[i] > most ? i : best;
		if (g->points[i] <= most && g->points[i] > second)
			second = g->points[i];
		most = g->points[i] > most ? g->points[i] : most;
	}
	if (n == 1 || most > second)
		g->derived = best;
}

static int compare_base_groups(const void *x, const void *y)
{
	const struct base_group *a = x, *b = y;

	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static void group_blocks(struct hi_bases *b)
{
	const struct base_block *blocks = b->blocks.items;
	size_t end;

	b->groups.count = 0;
	for (size_t i = 0; i < b->blocks.count && !b->no_memory; i = end) {
		struct base_group g = {.pair = blocks[i].pair,
				       .tag = blocks[i].tag,
				       .first = i,
				       .derived = NOT_FOUND};

		for (end = i + 1; end < b->blocks.count && blocks[end].pair == g.pair &&
				  blocks[end].tag == g.tag;)
			end++;
		g.n = end - i;
		if (!hi_vector_push(&b->groups, g))
			b->no_memory = true;
	}
	if (b->groups.count > 1)
		qsort(b->groups.items, b->groups.count, sizeof(*b->groups.items),
		      compare_base_groups);
}

/* By one more piece of evidence, where there was not enough. */
static void decide_others(struct hi_bases *b,
			  void (*decide)(struct hi_bases *b, struct base_group *g))
{
	for (size_t i = 0; i < b->groups.count; i++)
		if (b->groups.items[i].derived == NOT_FOUND)
			decide(b, &b->groups.items[i]);
}

static void decide_groups(struct hi_bases *b)
{
	for (size_t i = 0; i < b->groups.count; i++) {
		struct base_group *g = &b->groups.items[i];

		sample_group(b, g);
		g->derived = choose_derived(b, &b->pairs.items[g->pair], g);
	}
	decide_others(b, let_users_vote);
	if (b->groups.count > MAX_COMPARED)
		return;
	decide_others(b, decide_by_tag);
	decide_others(b, decide_by_exclusion);
	decide_others(b, decide_by_tag);
}

/* ---- types of blocks ---- */

static const struct base_group *group_of_block(struct hi_bases *b, hi_node id)
{
	struct base_group key = {};
	const struct base_tag *tag;
	uint32_t layout = base_of_block(b, id);
	size_t i;

	if (!layout)
		return NULL;
	key.pair = find_pair(b, layout, hi_object_usable(b->typing->objects, id));
	tag = tag_of(b, layout);
	if (key.pair == NOT_FOUND || !tag || !read_tag(b, id, tag, &key.tag))
		return NULL;
	i = hi_search(k, b->groups.count,
		      compare_base_groups(&b->groups.items[k], &key) < 0);
	return i < b->groups.count && compare_base_groups(&b->groups.items[i], &key) == 0
		       ? &b->groups.items[i]
		       : NULL;
}

/* By this block, where its group says nothing; not where the type itself fits it. */
static uint32_t choose_alone(struct hi_bases *b, const struct base_pair *pair, hi_node id)
{
	struct base_group alone = {};

	b->n_samples = 1;
	if (is_own(pair) ||
	    !hi_fit_read(b->typing, b->typing->objects, id, &b->samples[0]))
		return NOT_FOUND;
	return choose_derived(b, pair, &alone);
}

/* A union keeps its type; the pointers of the record that is in it lead on. */
static bool follow_record(struct hi_bases *b, hi_node id, uint32_t layout)
{
	struct hi_propagation *s = b->s;

	if (s->followed_candidates.count >= s->max_candidates ||
	    !hi_type_candidates_add(&s->followed_candidates, id, layout))
		return false;
	hi_propagation_push(s->workers[0], hi_objects_address(b->typing->objects, id), id,
			    (uint32_t)HI_EVIDENCE_SHAPE << HI_KEY_EVIDENCE_SHIFT |
				    layout);
	return true;
}

static bool type_base_block(struct hi_bases *b, hi_node id)
{
	struct hi_typing *typing = b->typing;
	const struct base_group *g = group_of_block(b, id);
	const struct base_pair *pair;
	uint32_t layout, index, before = typing->objects->type[id];

	if (!g)
		return false;
	pair = &b->pairs.items[g->pair];
	index = g->derived == NOT_FOUND ? choose_alone(b, pair, id) : g->derived;
	if (index == NOT_FOUND ||
	    !fit_one(b, id, pair->derived[index].type, pair->derived[index].open))
		return false;
	layout = hi_layouts_of(typing->layouts, pair->derived[index].type->id);
	if (layout < HI_LAYOUT_FIRST)
		return false;
	if (pair->is_union && pair->fits)
		return follow_record(b, id, layout);
	hi_propagation_add_candidate(b->s->workers[0],
				     hi_objects_address(typing->objects, id), id, layout,
				     HI_EVIDENCE_SHAPE);
	return typing->objects->type[id] != before;
}

/* Follows the blocks that were listed, then those that they lead to. */
static bool type_blocks(struct hi_bases *b)
{
	struct hi_propagation_worker *w = b->s->workers[0];
	bool any = false;

	w->notes_typed = true;
	w->typed.count = 0;
	for (size_t i = 0; i < b->blocks.count; i++) {
		any |= type_base_block(b, b->blocks.items[i].id);
		hi_propagation_drain(w);
		while (w->typed.count) {
			hi_node id = w->typed.items[--w->typed.count];

			take_unions_of_blocks(b);
			any |= type_base_block(b, id);
			hi_propagation_drain(w);
		}
	}
	w->notes_typed = false;
	return any;
}

bool hi_bases_infer(struct hi_bases *b)
{
	bool any = false, more = true;

	if (!b->typing->source.each_own_record)
		return false;
	for (unsigned i = 0; i < MAX_REPEATS && more && !b->no_memory; i++) {
		take_unions_of_blocks(b);
		if (b->n_searches < MAX_SEARCHES && add_pairs(b)) {
			b->n_searches++;
			search_derived(b);
		}
		list_blocks(b);
		list_voters(b);
		tag_blocks(b);
		group_blocks(b);
		decide_groups(b);
		more = !b->no_memory && type_blocks(b);
		any |= more;
	}
	b->s->workers[0]->no_memory |= b->no_memory;
	return any;
}

/* ---- grades ---- */

/* Does a word of the block contradict each record that begins with its type? */
static bool is_all_contradicted(struct hi_bases *b, const struct base_pair *pair,
				hi_node id)
{
	const struct hi_block_sizes *sizes = &b->typing->layouts->sizes;

	if (pair->too_many)
		return false;
	for (uint32_t i = 0; i < pair->n_derived; i++)
		if ((!pair->is_union || pair->derived[i].open ||
		     hi_fit_is(sizes, pair->derived[i].type->size, pair->usable)) &&
		    fit_one(b, id, pair->derived[i].type, pair->derived[i].open))
			return false;
	return true;
}

static bool may_be_larger(struct hi_bases *b, hi_node id)
{
	uint32_t layout = base_of_block(b, id), pair;

	if (!layout)
		return false;
	pair = find_pair(b, layout, hi_object_usable(b->typing->objects, id));
	return pair != NOT_FOUND && !is_all_contradicted(b, &b->pairs.items[pair], id);
}

struct array_check {
	struct hi_bases *b;
	uint64_t addr, size;
	bool shown, refuted;
};

/* hi_word_fn. A pointer of an element, not the first, to what its type says? */
static void check_element_pointer(void *arg, uint64_t offset,
				  struct hi_pointer_slot *slot)
{
	struct array_check *c = arg;
	struct hi_typing *typing = c->b->typing;
	uint64_t word, inside;
	uint32_t wanted, has;
	hi_node to;

	if (!slot || slot->kind != HI_POINTER_SLOT_TYPED || offset < c->size ||
	    offset >= ARRAY_CHECKED * c->size ||
	    !hi_propagation_read(c->b->s->workers[0], c->addr + offset, &word) || !word)
		return;
	wanted = hi_layouts_pointee(typing->layouts, slot);
	to = hi_objects_find(typing->objects, word, &inside);
	if (to == HI_NODE_NONE || wanted < HI_LAYOUT_FIRST)
		return;
	has = typing->objects->type[to] & HI_KEY_LAYOUT;
	if (!has)
		return;
	if (inside == 0 && layout_at(c->b, has)->base == layout_at(c->b, wanted)->base)
		c->shown = true;
	else if (hi_layouts_conflict(typing->layouts, layout_at(c->b, has),
				     layout_at(c->b, wanted)))
		c->refuted = true;
}

/* Is a block an array of records only because of its size? */
static bool is_array_by_size(struct hi_bases *b, hi_node id)
{
	struct hi_typing *typing = b->typing;
	uint32_t key = typing->objects->type[id];
	const struct hi_layout *layout;
	struct array_check c = {.b = b};

	if (!(key & HI_KEY_LAYOUT) || !(key & HI_KEY_ARRAY) || (key & HI_KEY_SETTLED) ||
	    evidence_of_key(key) != HI_EVIDENCE_POINTER)
		return false;
	layout = layout_at(b, key & HI_KEY_LAYOUT);
	if (!may_begin_record(layout))
		return false;
	c.size = layout->size;
	c.addr = hi_objects_address(typing->objects, id);
	hi_layout_words_until(layout, true, true, hi_object_usable(typing->objects, id),
			      check_element_pointer, &c);
	return !c.shown || c.refuted;
}

static void grade_key(uint32_t *key, enum hi_evidence evidence)
{
	*key = (*key & ((1u << HI_KEY_EVIDENCE_SHIFT) - 1)) |
	       (uint32_t)evidence << HI_KEY_EVIDENCE_SHIFT;
}

/* base_test: may hi_bases_mark change its evidence? */
static bool may_be_marked(const struct hi_bases *b, hi_node id)
{
	uint32_t key = b->typing->objects->type[id], layout, pair;

	if (!(key & HI_KEY_LAYOUT) || (key & HI_KEY_SETTLED) ||
	    evidence_of_key(key) != HI_EVIDENCE_POINTER)
		return false;
	if ((key & HI_KEY_ARRAY) && may_begin_record(layout_at(b, key & HI_KEY_LAYOUT)))
		return true;
	layout = base_of_block(b, id);
	if (!layout)
		return false;
	pair = find_pair(b, layout, hi_object_usable(b->typing->objects, id));
	return pair != NOT_FOUND &&
	       (b->pairs.items[pair].n_derived || b->pairs.items[pair].too_many);
}

void hi_bases_mark(struct hi_bases *b)
{
	struct hi_typing *typing = b->typing;
	HI_GUARD(free) bool *has = find_base_chunks(b, 0, may_be_marked);
	uint64_t count = typing->objects->count;

	b->s->workers[0]->no_memory |= !has;
	for (uint64_t i = 0; has && (i = skip_base_chunks(b, has, i)) < count; i++) {
		hi_node id = (hi_node)i;

		if (evidence_of_key(typing->objects->type[id]) != HI_EVIDENCE_POINTER)
			continue;
		if (is_array_by_size(b, id))
			grade_key(&typing->objects->type[id], HI_EVIDENCE_SHAPE);
		else if (may_be_larger(b, id))
			grade_key(&typing->objects->type[id], HI_EVIDENCE_BASE);
	}
}

/* ---- pieces of pools ---- */

/* Types of pieces, and the size of the smallest record that begins with each. */
struct piece_types {
	struct hi_bases *b;
	struct HI_VECTOR(struct piece_type {
		uint32_t layout;
		uint64_t smallest;
	}) types;
	struct hi_table known; /* by layout: the index in types */
};

/* The layout of a piece to which a typed pointer leads; HI_LAYOUT_NONE: of a block, or of
 * one that is no record. */
static uint32_t base_of_piece(const struct hi_bases *b, const struct hi_objects *pieces,
			      hi_node id)
{
	const struct hi_objects *blocks = b->typing->objects;
	uint32_t key = pieces->type[id];
	const struct hi_layout *layout;
	uint64_t inside;
	hi_node block;

	if (!(key & HI_KEY_LAYOUT) || (key & (HI_KEY_SETTLED | HI_KEY_ARRAY)) ||
	    evidence_of_key(key) != HI_EVIDENCE_POINTER)
		return HI_LAYOUT_NONE;
	block = hi_objects_find(blocks, hi_objects_address(pieces, id), &inside);
	if (block != HI_NODE_NONE && inside == 0 &&
	    hi_object_usable(blocks, block) == hi_object_usable(pieces, id))
		return HI_LAYOUT_NONE;
	layout = layout_at(b, key & HI_KEY_LAYOUT);
	return may_begin_record(layout) ? layout->base : (uint32_t)HI_LAYOUT_NONE;
}

static void add_piece_type(struct piece_types *t, uint32_t layout)
{
	uint64_t index;

	if (!layout || hi_table_get(&t->known, layout, &index) ||
	    t->types.count == MAX_PIECE_TYPES)
		return;
	if (!hi_table_put(&t->known, layout, t->types.count) ||
	    !hi_vector_push(&t->types, ((struct piece_type){layout, UINT64_MAX})))
		t->b->no_memory = true;
}

/* hi_record_size_fn */
static bool wants_any_size(uint64_t size, void *arg)
{
	(void)arg;
	return size && size <= MAX_USABLE;
}

/* hi_record_fn */
static bool try_piece_types(const struct hi_type *record, void *arg)
{
	struct piece_types *t = arg;

	for (size_t i = 0; i < t->types.count; i++) {
		struct piece_type *type = &t->types.items[i];
		const struct base_pair pair = {.layout = type->layout, .fits = true};

		if (record->size > layout_at(t->b, type->layout)->size &&
		    record->size < type->smallest && may_begin_with(t->b, record, &pair))
			type->smallest = record->size;
	}
	return true;
}

/* Bytes up to the next piece that has a type. */
static uint64_t room_of_piece(const struct hi_objects *pieces, hi_node id)
{
	hi_node next = id + 1;

	while (next < pieces->count && next < id + PIECES_AHEAD &&
	       !(pieces->type[next] & HI_KEY_LAYOUT))
		next++;
	return next < pieces->count
		       ? hi_objects_address(pieces, next) - hi_objects_address(pieces, id)
		       : UINT64_MAX;
}

void hi_bases_mark_pieces(struct hi_bases *b, struct hi_objects *pieces)
{
	const struct hi_typing_source *source = &b->typing->source;
	struct piece_types t = {.b = b};
	uint64_t index;

	for (hi_node id = 0; id < pieces->count && source->each_own_record; id++)
		add_piece_type(&t, base_of_piece(b, pieces, id));
	if (t.types.count && source->each_own_record(source->types.arg, wants_any_size,
						     try_piece_types, &t, NULL) != HI_OK)
		b->no_memory = true;
	for (hi_node id = 0; id < pieces->count && t.types.count; id++) {
		uint32_t layout = base_of_piece(b, pieces, id);

		if (layout && hi_table_get(&t.known, layout, &index) &&
		    t.types.items[index].smallest <= room_of_piece(pieces, id))
			grade_key(&pieces->type[id], HI_EVIDENCE_BASE);
	}
	hi_table_free(&t.known);
	hi_vector_free(&t.types);
}
