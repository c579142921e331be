/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edges: one linear pass over all objects in the order of their ids. A thread
 * takes a chunk of HI_CHUNK_NODES objects, collects the words in them that may
 * be pointers into a batch, looks the batch up at once, and gets the rows of
 * the chunk as they are stored in the graph: nothing is sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "attach/image_kept.h"
#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/labels.h"
#include "decode/inference/row_reuse.h"
#include "decode/inference/trust.h"
#include "decode/inference/walker.h"

enum {
	BATCH = 2048,
	RULE_LABELS = 64,
	LARGE_SPARSE = 64 << 20,
	/* In a batch: exact, also where it leads to the inside of a block. */
	GRADE_SURE = 4,
	/* Conservative where it leads to the inside, else exact. */
	GRADE_START = 8,
	/* Flags: of an integer (integers.h); of a slot whose pointee was not looked up. */
	GRADE_INTEGER = 16,
	GRADE_UNRESOLVED = 32,
	GRADE_MASK = 3,
};

struct edge_buffer {
	hi_node *to;
	uint8_t *grade;
	size_t count, capacity;
	struct hi_edge_indexes integers;
};

struct scanner {
	struct hi_typing *typing;
	struct hi_graph_builder *builder;
	uint64_t low, span; /* of all objects */
	size_t n;	    /* words in the batch */
	uint64_t words[BATCH];
	uint32_t owners[BATCH]; /* in the chunk */
	uint32_t labels[BATCH]; /* of the field, 0: none */
	uint8_t grades[BATCH];
	struct hi_pointer_slot *unresolved_slots[BATCH]; /* of GRADE_UNRESOLVED */
	struct hi_hit hits[BATCH];
	struct edge_buffer edges; /* of the chunk so far */
	uint32_t *row;		  /* of the chunk: counts, later sums */
	struct hi_memory_window window;
	uint8_t *scratch;
	struct hi_walker walker;
	struct hi_runtime_cursor *cursor;	/* NULL: no runtime */
	struct hi_node_layouts refined_layouts; /* of the chunk */
	size_t pool; /* the first that ends at or behind the object */
	const struct hi_row_reuse *reuse; /* NULL: no rows of a census before */
	struct hi_row_cursor row_cursor;
	uint8_t *marks; /* of the rows of the chunk (row_reuse.h); NULL: no series */
	uint32_t *keys; /* of the chunk; NULL: no series */
	/* The object at hand: */
	const uint8_t *host; /* NULL: not in one piece */
	uint64_t addr, usable;
	uint32_t owner;
	const struct hi_layout *layout;	     /* NULL: untyped */
	const struct hi_layout *labelled;    /* whose labels these are: */
	const struct hi_pointer_slot *slots; /* whose words are being scanned */
	uint32_t slot_labels, raw_labels;    /* of its first slot; 0: no labels */
	bool has_integers; /* what is read without a slot are integers, by the type */
	bool is_certain;   /* its type describes all of it: Note [Certain records] */
	bool is_alone;	   /* its row depends on nothing else: HI_ROW_ALONE */
	struct hi_cover *covered; /* NULL, or its words that have been scanned */
	uint64_t unresolved,
		unresolved_end; /* records in it whose rules were not resolved */
	uint64_t block;		/* its address */
	struct hi_cover cover;
	/* Labels of rules that were looked up, direct-mapped. */
	struct {
		const struct hi_rule *rule;
		uint32_t label;
	} rule_labels[RULE_LABELS];
	uint64_t words_scanned, bytes_scanned, unreadable, rows_reused;
	enum hi_status status;
	struct hi_error error;
};

static bool grow_edges(struct edge_buffer *e, size_t need)
{
	size_t capacity = e->capacity ? e->capacity * 2 : 1 << 17;
	hi_node *to;
	uint8_t *grade;

	if (capacity < need)
		capacity = need;
	to = hi_realloc_array(e->to, capacity, sizeof(*to));
	if (!to)
		return false;
	e->to = to;
	grade = hi_realloc_array(e->grade, capacity, 1);
	if (!grade)
		return false;
	e->grade = grade;
	e->capacity = capacity;
	return true;
}

/* An object without a type is named by the field with the lowest label. */
static inline void label_hit(struct scanner *s, hi_node to, uint32_t label)
{
	uint32_t *type = &s->typing->objects->type[to];
	uint32_t old = __atomic_load_n(type, __ATOMIC_RELAXED);

	while (old == 0 || ((old & HI_KEY_LABEL) && (old & HI_KEY_LABEL_ID) > label))
		if (__atomic_compare_exchange_n(type, &old, HI_KEY_LABEL | label, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
}

static inline uint8_t grade_of_hit(uint8_t grade, bool interior)
{
	if (!interior)
		return grade & GRADE_MASK;
	if ((grade & ~GRADE_UNRESOLVED) == GRADE_START)
		return HI_GRADE_CONSERVATIVE;
	return (uint8_t)((grade & GRADE_MASK) |
			 ((grade & ~GRADE_UNRESOLVED) == HI_GRADE_EXACT));
}

static inline bool may_take_label(const struct scanner *s, hi_node id)
{
	return s->typing->untyped[id / 64] >> id % 64 & 1;
}

/* There may be objects in the next census where these words lead. */
static void mark_rows_with_misses(struct scanner *s, size_t n_words, size_t n_hits)
{
	size_t h = 0;

	for (size_t i = 0; i < n_words; i++) {
		if (h < n_hits && s->hits[h].index == i)
			h++;
		else
			s->marks[s->owners[i]] &= (uint8_t)~HI_ROW_ALONE;
	}
}

/* Pointees are looked up by propagation, but not those of layouts whose pointers infer no
 * types. */
static inline bool leads_to_code(const struct scanner *s, uint32_t index)
{
	return (s->grades[index] & GRADE_UNRESOLVED) &&
	       hi_layouts_pointee(s->typing->layouts, s->unresolved_slots[index]) ==
		       HI_LAYOUT_FUNCTION;
}

/* Looks the batch up and appends what it hits. */
static void flush_scanned_words(struct scanner *s)
{
	struct edge_buffer *e = &s->edges;
	size_t n_hits = hi_objects_find_many(s->typing->objects, s->words, s->n, s->hits);

	if (s->marks && n_hits < s->n)
		mark_rows_with_misses(s, s->n, n_hits);
	s->n = 0;
	if (e->count + n_hits > e->capacity && !grow_edges(e, e->count + n_hits)) {
		s->status = hi_fail_memory(&s->error, "edges");
		return;
	}
	for (size_t i = 0; i < n_hits; i++) {
		const struct hi_hit *hit = &s->hits[i];

		if (leads_to_code(s, hit->index))
			continue;
		if ((s->grades[hit->index] & GRADE_INTEGER) &&
		    !hi_vector_push(&e->integers, (uint32_t)e->count))
			s->status = hi_fail_memory(&s->error, "edges");
		e->to[e->count] = hit->id;
		e->grade[e->count++] = grade_of_hit(s->grades[hit->index], hit->interior);
		s->row[s->owners[hit->index] + 1]++;
		if (s->labels[hit->index] && may_take_label(s, hit->id))
			label_hit(s, hit->id, s->labels[hit->index]);
	}
}

static inline __attribute__((always_inline)) void
scan_word_to_edge(struct scanner *s, uint64_t word, uint8_t grade, uint32_t label)
{
	s->words[s->n] = word;
	s->owners[s->n] = s->owner;
	s->grades[s->n] = grade;
	s->labels[s->n] = label;
	s->n += word - s->low < s->span;
}

/* Every word of `size` bytes at host, conservatively. */
static void add_bytes(struct scanner *s, const uint8_t *host, uint64_t size)
{
	uint64_t n = size / 8;

	s->words_scanned += n;
	while (n) {
		size_t now = BATCH - s->n;
		uint64_t word;

		if (now > n)
			now = n;
		for (size_t i = 0; i < now; i++) {
			memcpy(&word, host + 8 * i, sizeof(word));
			scan_word_to_edge(s, word, HI_GRADE_CONSERVATIVE, 0);
		}
		host += 8 * now;
		n -= now;
		if (s->n == BATCH)
			flush_scanned_words(s);
	}
}

static void scan_words(struct scanner *s)
{
	struct hi_spans spans = {.image = s->typing->image,
				 .addr = s->addr,
				 .end = s->addr + s->usable,
				 .scratch = s->scratch};
	const uint8_t *host;
	uint64_t addr, size;

	if (s->host) {
		add_bytes(s, s->host, s->usable);
		return;
	}
	while (hi_spans_next(&spans, &host, &addr, &size))
		add_bytes(s, host, size);
	s->unreadable += spans.unreadable;
}

static void set_labels(struct scanner *s, const struct hi_layout *layout)
{
	if (layout == s->labelled)
		return;
	s->labelled = layout;
	s->slots = layout ? layout->slots : NULL;
	s->slot_labels = s->raw_labels = 0;
	if (layout && s->typing->labels)
		hi_labels_of_layout(s->typing->labels, s->typing->layouts, layout,
				    &s->slot_labels, &s->raw_labels);
}

static inline uint32_t slot_label_of(const struct scanner *s,
				     const struct hi_pointer_slot *slot, bool known)
{
	uint32_t first = known ? s->slot_labels : s->raw_labels;

	return slot && first ? first + (uint32_t)(slot - s->slots) : 0;
}

/* hi_word_fn: a word that the layout knows. */
static inline __attribute__((always_inline)) void scan_slot(void *arg, uint64_t offset,
							    struct hi_pointer_slot *slot)
{
	struct scanner *s = arg;
	const uint8_t *at =
		s->host ? s->host + offset
			: hi_memory_windows_at(&s->typing->memory_windows, &s->window,
					       s->addr + offset, 8);
	bool known = slot && slot->kind == HI_POINTER_SLOT_TYPED;
	bool is_integer = slot ? slot->is_integer : s->has_integers;
	uint32_t pointee =
		known ? atomic_load_explicit(&slot->layout, memory_order_relaxed)
		      : HI_LAYOUT_NOTHING;
	uint64_t word;

	if (pointee == HI_LAYOUT_FUNCTION)
		return;
	if (at) {
		memcpy(&word, at, sizeof(word));
	} else if (hi_memory_read_u64(s->typing->image->memory, s->addr + offset, &word,
				      NULL) != HI_OK) {
		s->unreadable += 8;
		return;
	}
	if (s->covered)
		hi_cover_mark(s->covered, s->addr + offset - s->block);
	s->words_scanned++;
	if (pointee == HI_LAYOUT_NONE)
		s->unresolved_slots[s->n] = slot;
	scan_word_to_edge(
		s, word,
		(uint8_t)((!known ? HI_GRADE_CONSERVATIVE |
					    (is_integer ? GRADE_INTEGER : 0)
			   : hi_pointer_slot_may_be_number(slot, word) ? GRADE_START
								       : HI_GRADE_EXACT) |
			  (pointee == HI_LAYOUT_NONE ? GRADE_UNRESOLVED : 0)),
		slot_label_of(s, slot, known));
	if (s->n == BATCH)
		flush_scanned_words(s);
}

/* Plain slots of what lies inside the object, in place. */
static void scan_place(void *arg, const struct hi_layout *layout, bool array,
		       uint64_t addr, uint64_t end)
{
	struct scanner *s = arg;
	const uint8_t *host = s->host;
	uint64_t base = s->addr;

	s->host = host ? host + (addr - base) : NULL;
	s->addr = addr;
	set_labels(s, layout);
	hi_walker_words(&s->walker, layout, array, true, addr, end - addr, scan_slot, s);
	set_labels(s, s->layout);
	s->host = host;
	s->addr = base;
}

static uint8_t grade_of(const struct hi_rule_reference *reference)
{
	if (reference->weak)
		return HI_GRADE_WEAK;
	return reference->doubtful ? HI_GRADE_CONSERVATIVE : HI_GRADE_EXACT;
}

static uint32_t label_of_reference(struct scanner *s,
				   const struct hi_rule_reference *reference)
{
	const struct hi_rule *rule = reference->rule;
	size_t i = (uintptr_t)rule / sizeof(*rule) % RULE_LABELS;

	if (reference->weak)
		return 0;
	if (s->rule_labels[i].rule != rule) {
		s->rule_labels[i].label = hi_labels_of_rule(s->typing->labels, rule);
		s->rule_labels[i].rule = rule;
	}
	return s->rule_labels[i].label;
}

/* Keeps what a rule lacked, for words that lie among the objects. */
static void note_lacks(struct scanner *s, const struct hi_rule_reference *reference)
{
	const struct hi_objects *objects = s->typing->objects;

	s->is_alone = false;
	if (reference->word - objects->low < objects->high - objects->low)
		hi_rule_note_lacks(reference->rule->lacks, reference->lacks);
}

static void scan_rule_reference(void *arg, const struct hi_rule_reference *reference,
				uint32_t layout)
{
	struct scanner *s = arg;

	(void)layout;
	if (!reference->own || reference->slot)
		return;
	if (s->covered)
		hi_cover_mark(s->covered, reference->at - s->block);
	if (reference->lacks)
		note_lacks(s, reference);
	s->words_scanned++;
	scan_word_to_edge(s, reference->word, grade_of(reference),
			  label_of_reference(s, reference));
	if (s->n == BATCH)
		flush_scanned_words(s);
}

/* Of all such records of the object: from the first to the last one. */
static void scan_unresolved_record(void *arg, uint64_t addr, uint64_t end)
{
	struct scanner *s = arg;

	s->is_alone = false;
	if (addr < s->unresolved)
		s->unresolved = addr;
	if (end > s->unresolved_end)
		s->unresolved_end = end;
}

/* Words of the block from `start` on, conservatively. */
static void scan_from(struct scanner *s, uint64_t start)
{
	uint64_t skip = (start + 7) & ~(uint64_t)7;

	if (skip + 8 > s->usable)
		return;
	s->addr += skip;
	s->usable -= skip;
	s->host = s->host ? s->host + skip : NULL;
	scan_words(s);
}

/* A block of chars: text has no pointers; other bytes may be pointers, also those behind
 * a text that is too short for its block. */
static void scan_chars(struct scanner *s)
{
	bool counted = hi_layout_has_count(s->layout);
	uint64_t start, end, text;

	if (counted) {
		hi_layout_extent(s->layout, true, s->usable, &start, &end);
		s->usable = end;
	}
	s->is_certain = counted || s->usable < 8;
	if (s->usable < 8)
		return;
	if (!s->host || !hi_looks_like_text(s->host, s->usable)) {
		scan_words(s);
		return;
	}
	text = strnlen((const char *)s->host, s->usable) + 1;
	s->is_certain |= s->usable <= hi_fit_usable(&s->typing->layouts->sizes, text);
	if (text <= 8)
		add_bytes(s, s->host, 8); /* a pointer may look like a short text */
	if (!s->is_certain)
		scan_from(s, text);
}

static bool is_remainder(const struct hi_pools *pools, hi_node id)
{
	return pools->is_remainder[id >> 6] >> (id & 63) & 1;
}

/* Index of the first pool that ends at or behind the node. */
static size_t first_pool(const struct hi_pools *pools, hi_node id)
{
	return hi_search(i, pools->count, pools->items[i].last < id);
}

/* The remainder of a block whose start has a type lies behind it. */
static uint32_t rest_label(struct scanner *s, uint32_t key)
{
	const struct hi_layout *layout;

	if (!(key & HI_KEY_LAYOUT))
		return 0;
	layout = hi_layouts_get(s->typing->layouts, key & HI_KEY_LAYOUT);
	set_labels(s, layout);
	return s->raw_labels ? s->raw_labels + layout->n_slots : 0;
}

static void add_piece(struct scanner *s, hi_node piece, uint32_t label)
{
	scan_word_to_edge(s, hi_objects_address(s->typing->objects, piece),
			  HI_GRADE_EXACT, label);
	if (s->n == BATCH)
		flush_scanned_words(s);
}

/* The pool that an object is a piece of, if it has a remainder. Ids ascend. */
static const struct hi_pool *pool_of_piece(struct scanner *s, hi_node id)
{
	const struct hi_pools *pools = &s->typing->pools;
	const struct hi_pool *pool;

	while (s->pool < pools->count && pools->items[s->pool].last < id)
		s->pool++;
	pool = s->pool < pools->count ? &pools->items[s->pool] : NULL;
	return pool && id >= pool->first && pool->remainder != HI_NODE_NONE ? pool : NULL;
}

/* The pieces of a pool hold together: Note [Subobjects] in subobjects.h. */
static void scan_pool(struct scanner *s, hi_node id, uint32_t key)
{
	const struct hi_pools *pools = &s->typing->pools;
	const struct hi_pool *pool = pool_of_piece(s, id);
	uint32_t label;

	if (!pool)
		return;
	s->is_alone = false;
	label = id == pool->first ? rest_label(s, key) : 0;
	if (id != pool->remainder) {
		add_piece(s, pool->remainder, label);
		return;
	}
	for (hi_node piece = pool->remainder + 1; piece <= pool->last && piece; piece++)
		if (is_remainder(pools, piece))
			add_piece(s, piece, label);
}

/* Those that a container counts: `std::vector<uintptr_t>` has elements of type
 * unsigned long (Note [Flattening]). */
static void scan_integers(struct scanner *s, const struct hi_layout *layout)
{
	uint64_t start, end;

	hi_layout_extent(layout, true, s->usable, &start, &end);
	for (uint64_t at = start; at + 8 <= end; at += 8)
		scan_slot(s, at, NULL);
}

/* Scans the words that the type does not describe for certain. */
static void scan_doubtful(struct scanner *s, const struct hi_layout *layout, bool array)
{
	const struct hi_cover *cover = s->covered;

	hi_cover_rule_sites(s->covered, s->typing, layout, array, s->usable);
	s->covered = NULL;
	for (uint64_t i = 0; i < cover->n; i++)
		if (!hi_cover_has(cover, i))
			scan_slot(s, 8 * i, NULL);
}

/* Scans words that rules could not describe (Note [What rules lack] in apply.h). */
static void scan_unresolved(struct scanner *s)
{
	uint64_t first, end;

	if (!s->covered || s->unresolved >= s->unresolved_end)
		return;
	first = s->unresolved - s->block;
	end = s->unresolved_end - s->block;
	for (uint64_t at = (first + 7) & ~(uint64_t)7; at + 8 <= end; at += 8)
		if (!hi_cover_has(s->covered, at / 8))
			scan_slot(s, at, NULL);
}

static void scan_typed(struct scanner *s, const struct hi_layout *layout, uint32_t key)
{
	bool tail_known = layout->rules &&
			  hi_walker_tail_known(&s->walker, layout, s->addr, s->usable);
	bool array = key & HI_KEY_ARRAY;
	bool is_covered;

	set_labels(s, layout);
	s->has_integers =
		(array && !layout->n_slots && !layout->opaque &&
		 (layout->klass == HI_TYPE_RECORD || layout->klass == HI_TYPE_SCALAR)) ||
		hi_layout_is_integers(layout);
	s->is_certain = hi_record_is_certain(&s->typing->layouts->sizes, layout, key,
					     s->usable, tail_known);
	is_covered = !s->is_certain || layout->n_rule_sites || layout->rules;
	if (is_covered && hi_cover_begin(&s->cover, s->usable))
		s->covered = &s->cover;
	else if (is_covered)
		s->status = hi_fail_memory(&s->error, "edges");
	s->unresolved = UINT64_MAX;
	s->unresolved_end = 0;
	hi_walker_words(&s->walker, layout, array, tail_known, s->addr, s->usable,
			scan_slot, s);
	if (layout->n_rule_sites)
		hi_walker_rule_sites(&s->walker, layout, array, s->addr, s->usable);
	if (hi_walker_variant_is_open(&s->walker, layout, s->addr, s->usable))
		scan_unresolved_record(s, s->addr, s->addr + s->usable);
	scan_unresolved(s);
	if (!s->is_certain && s->covered)
		scan_doubtful(s, layout, array);
	else if (hi_layout_is_integers(layout))
		scan_integers(s, layout);
	s->covered = NULL;
}

/* hi_runtime_edge_fn */
static bool scan_managed(void *arg, const struct hi_runtime_edge *edge)
{
	struct scanner *s = arg;

	s->words_scanned++;
	scan_word_to_edge(s, edge->to,
			  edge->grade == HI_GRADE_EXACT ? (uint8_t)GRADE_SURE
							: (uint8_t)edge->grade,
			  0);
	if (s->n == BATCH)
		flush_scanned_words(s);
	return s->status == HI_OK;
}

static void scan_object(struct scanner *s, hi_node id, uint32_t key)
{
	const struct hi_layout *layout;

	s->host = hi_memory_windows_at(&s->typing->memory_windows, &s->window, s->addr,
				       s->usable);
	s->bytes_scanned += s->usable;
	s->layout = NULL;
	s->is_certain = true;
	s->is_alone = false;
	if (hi_object_is_internal(s->typing->objects, id) ||
	    hi_stdio_buffers_have(s->typing, id))
		return;
	s->is_alone = s->host;
	if (s->typing->pools.count)
		scan_pool(s, id, key);
	layout = key & HI_KEY_LAYOUT
			 ? hi_layouts_get(s->typing->layouts, key & HI_KEY_LAYOUT)
			 : NULL;
	if (!layout || (!s->host && s->usable > LARGE_SPARSE && !layout->managed)) {
		scan_words(s);
		return;
	}
	s->layout = layout;
	s->is_alone &= !layout->managed;
	s->walker.block = s->addr;
	s->walker.block_end = s->addr + s->usable;
	s->walker.reads_elsewhere = false;
	if (layout->managed && !layout->opaque)
		s->typing->runtime->ops->edges(s->cursor, s->addr, s->usable,
					       layout->managed - 1, scan_managed, s);
	else if (layout->klass == HI_TYPE_STRING)
		scan_chars(s);
	else if (!layout->blob)
		scan_typed(s, layout, key);
	s->is_alone &= !s->walker.reads_elsewhere;
}

/* A type that describes only the beginning of its block is inferred. */
static enum hi_evidence evidence_in_graph(const struct scanner *s,
					  const struct hi_layout *layout, uint32_t key)
{
	enum hi_evidence evidence = (enum hi_evidence)(key >> HI_KEY_EVIDENCE_SHIFT);
	bool is_base = evidence == HI_EVIDENCE_BASE || evidence == HI_EVIDENCE_POINTER;

	if (s->is_certain)
		return evidence;
	return is_base && layout->klass == HI_TYPE_RECORD && !(key & HI_KEY_ARRAY) &&
			       !layout->lead
		       ? HI_EVIDENCE_BASE
		       : HI_EVIDENCE_SHAPE;
}

/* The key of propagation becomes a type of the graph and flags; labels stay. */
static void settle_type(struct scanner *s, hi_node id, uint32_t key)
{
	struct hi_objects *objects = s->typing->objects;
	const struct hi_layout *layout;

	if (!(key & HI_KEY_LAYOUT)) {
		if (key)
			objects->type[id] = 0;
		return;
	}
	layout = hi_layouts_get(s->typing->layouts, key & HI_KEY_LAYOUT);
	if (layout->base != layout->index &&
	    !hi_vector_push(&s->refined_layouts,
			    ((struct hi_node_layout){id, layout->index})) &&
	    s->status == HI_OK)
		s->status = hi_fail_memory(&s->error, "types");
	layout = hi_layouts_get(s->typing->layouts, layout->base);
	__atomic_store_n(&objects->type[id], layout->graph_type, __ATOMIC_RELAXED);
	objects->flags[id] |= (uint8_t)evidence_in_graph(s, layout, key);
	if (key & HI_KEY_ARRAY)
		objects->flags[id] |= HI_OBJECT_ARRAY;
}

static uint32_t window_of(const struct hi_objects *objects, hi_node id)
{
	uint32_t w = 0;

	while (w + 1 < objects->n_windows && objects->windows[w + 1].first <= id)
		w++;
	return w;
}

/* May the object have the row that it had, if its bytes are the same? */
static bool may_have_old_row(struct scanner *s, hi_node id)
{
	const struct hi_typing *typing = s->typing;

	return !hi_object_is_internal(typing->objects, id) &&
	       !(typing->pools.count && pool_of_piece(s, id)) &&
	       !hi_stdio_buffers_have(typing, id);
}

static bool append_old_row(struct scanner *s, const struct hi_old_row *row,
			   bool names_targets)
{
	struct edge_buffer *e = &s->edges;
	uint32_t n = row->edges.count;

	if (e->count + n > e->capacity && !grow_edges(e, e->count + n)) {
		s->status = hi_fail_memory(&s->error, "edges");
		return false;
	}
	if (!hi_row_translate(s->reuse, row, names_targets, e->to + e->count))
		return false;
	if (n)
		memcpy(e->grade + e->count, row->edges.grade, n);
	if (!hi_row_integers(s->reuse, &s->row_cursor, row, e->count, &e->integers))
		s->status = hi_fail_memory(&s->error, "edges");
	e->count += n;
	s->row[s->owner + 1] += n;
	return true;
}

/* Note [Rows that are reused]. False: the object is to be scanned. */
static bool reuse_row(struct scanner *s, hi_node id, uint32_t key)
{
	struct hi_old_row row;
	const uint8_t *host;

	if (!hi_row_find(s->reuse, &s->row_cursor, s->addr, s->usable, key, &row) ||
	    !may_have_old_row(s, id))
		return false;
	host = hi_memory_windows_at(&s->typing->memory_windows, &s->window, s->addr,
				    s->usable);
	if (!host || !hi_image_bytes_are_unchanged(s->typing->image, host, s->usable))
		return false;
	if (s->n)
		flush_scanned_words(s);
	if (s->status != HI_OK || !append_old_row(s, &row, key & HI_KEY_LAYOUT))
		return false;
	s->is_certain = row.mark & HI_ROW_CERTAIN;
	s->is_alone = true;
	s->rows_reused++;
	return true;
}

static void mark_row(struct scanner *s, uint32_t key)
{
	s->keys[s->owner] = key;
	if (!s->is_alone)
		s->marks[s->owner] = 0;
	if (s->is_certain)
		s->marks[s->owner] |= HI_ROW_CERTAIN;
}

static void scan_chunk_objects(struct scanner *s, hi_node first, hi_node n)
{
	struct hi_objects *objects = s->typing->objects;
	uint32_t w = window_of(objects, first);

	for (hi_node i = 0; i < n && s->status == HI_OK; i++) {
		hi_node id = first + i;
		uint32_t key = __atomic_load_n(&objects->type[id], __ATOMIC_RELAXED);

		if (key & HI_KEY_LABEL)
			key = 0;
		while (w + 1 < objects->n_windows && objects->windows[w + 1].first <= id)
			w++;
		s->addr = s->block = objects->windows[w].base + objects->address_low[id];
		s->usable = objects->usable_low[id];
		if (s->usable == UINT32_MAX)
			s->usable = hi_objects_usable(objects, id);
		s->owner = i;
		if (s->marks)
			s->marks[i] = HI_ROW_ALONE;
		if (!s->reuse || !reuse_row(s, id, key))
			scan_object(s, id, key);
		if (s->marks)
			mark_row(s, key);
		settle_type(s, id, key);
	}
	flush_scanned_words(s);
}

static enum hi_status give_chunk(struct scanner *s, uint32_t index)
{
	s->typing->integer_edges[index] = s->edges.integers;
	s->edges.integers = (struct hi_edge_indexes){};
	if (!hi_refined_layouts_pack(&s->refined_layouts,
				     &s->typing->refined_layouts[index]))
		return hi_fail_memory(&s->error, "types");
	return hi_graph_builder_copy_chunk(
		s->builder, index,
		&(struct hi_edge_chunk){s->row, s->edges.to, s->edges.grade}, &s->error);
}

static void scan_chunk_edges(void *arg, size_t task, unsigned worker)
{
	struct scanner *s = ((struct scanner **)arg)[worker];
	const struct hi_objects *objects = s->typing->objects;
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT, n = objects->count - first;

	if (s->status != HI_OK)
		return;
	if (n > HI_CHUNK_NODES)
		n = HI_CHUNK_NODES;
	memset(s->row, 0, ((size_t)n + 1) * sizeof(*s->row));
	s->edges.count = 0;
	s->refined_layouts.count = 0;
	s->pool = first_pool(&s->typing->pools, first);
	if (s->typing->rows.keys) {
		s->marks = s->typing->rows.marks + first;
		s->keys = s->typing->rows.keys + first;
	}
	if (s->reuse)
		s->row_cursor = hi_row_cursor(s->reuse, first);
	scan_chunk_objects(s, first, n);
	if (s->status == HI_OK && s->edges.count > UINT32_MAX)
		s->status = hi_fail(&s->error, HI_LIMIT, 0, "too many edges");
	if (s->status == HI_OK) {
		for (hi_node i = 0; i < n; i++)
			s->row[i + 1] += s->row[i];
		s->status = give_chunk(s, (uint32_t)task);
	}
}

static void scanner_destroy(struct scanner *s)
{
	if (!s)
		return;
	free(s->edges.to);
	free(s->edges.grade);
	hi_vector_free(&s->edges.integers);
	hi_vector_free(&s->refined_layouts);
	free(s->row);
	free(s->scratch);
	hi_cover_end(&s->cover);
	if (s->cursor)
		hi_runtime_cursor_free(s->typing->runtime, s->cursor);
	free(s);
}

static struct scanner *scanner_create(struct hi_typing *typing,
				      struct hi_graph_builder *builder,
				      const struct hi_row_reuse *reuse)
{
	struct scanner *s = hi_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->typing = typing;
	s->builder = builder;
	s->reuse = reuse->now ? reuse : NULL;
	s->low = typing->objects->low;
	s->span = typing->objects->high - s->low;
	if (typing->rows.keys) {
		s->low = typing->rows.low;
		s->span = typing->rows.high - s->low;
	}
	s->scratch = hi_alloc(HI_SPAN_SCRATCH);
	s->row = hi_alloc((HI_CHUNK_NODES + 1) * sizeof(*s->row));
	s->cursor = typing->runtime ? hi_runtime_cursor(typing->runtime) : NULL;
	hi_walker_init(&s->walker, typing);
	s->walker.edges_only = true;
	s->walker.arg = s;
	s->walker.words = scan_place;
	s->walker.reference = scan_rule_reference;
	s->walker.unresolved = scan_unresolved_record;
	s->walker.applier.keeps_lacks = true;
	if (s->scratch && s->row && (s->cursor || !typing->runtime))
		return s;
	scanner_destroy(s);
	return NULL;
}

static enum hi_status collect_scanners(struct hi_typing *typing,
				       struct scanner **scanners, unsigned n,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (unsigned i = 0; i < n; i++) {
		const struct scanner *s = scanners[i];

		typing->stats.words_scanned += s->words_scanned;
		typing->stats.bytes_scanned += s->bytes_scanned;
		typing->stats.unreadable_bytes += s->unreadable;
		typing->stats.rows_reused += s->rows_reused;
		if (s->cursor)
			typing->runtime->n_cut += typing->runtime->ops->cut(s->cursor);
		if (s->status != HI_OK && status == HI_OK) {
			status = s->status;
			if (err)
				*err = s->error;
		}
	}
	return status;
}

enum hi_status hi_edges_scan(struct hi_typing *typing, struct hi_graph_builder *b,
			     struct hi_error *err)
{
	size_t n_chunks =
		((size_t)typing->objects->count + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;
	struct scanner *scanners[64] = {};
	struct hi_row_reuse reuse;
	unsigned n = typing->threads;
	enum hi_status status = HI_OK;

	typing->refined_layouts =
		hi_calloc(n_chunks + 1, sizeof(*typing->refined_layouts));
	typing->integer_edges = hi_calloc(n_chunks + 1, sizeof(*typing->integer_edges));
	if (typing->refined_layouts && typing->integer_edges)
		typing->n_refined_chunks = n_chunks;
	else
		status = hi_fail_memory(err, "types");
	if (status == HI_OK && typing->keeps_rows && !hi_rows_record(typing))
		hi_kept_rows_free(&typing->rows);
	hi_row_reuse_begin(&reuse, typing);
	for (unsigned i = 0; i < n && status == HI_OK; i++) {
		scanners[i] = scanner_create(typing, b, &reuse);
		if (!scanners[i])
			status = hi_fail_memory(err, "edges");
	}
	if (status == HI_OK) {
		hi_parallel(n, n_chunks, scan_chunk_edges, scanners);
		status = collect_scanners(typing, scanners, n, err);
	}
	for (unsigned i = 0; i < n; i++)
		scanner_destroy(scanners[i]);
	hi_row_reuse_end(&reuse);
	hi_kept_rows_free(&typing->rows_before);
	return status;
}

/* Length of the UTF-8 sequence at p of which n bytes are there; 0: none. */
static size_t utf8_length(const uint8_t *p, uint64_t n)
{
	size_t length = p[0] < 0x80   ? 1
			: p[0] < 0xc2 ? 0
			: p[0] < 0xe0 ? 2
			: p[0] < 0xf0 ? 3
			: p[0] < 0xf5 ? 4
				      : 0;

	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Eight printable characters of ASCII, by the bits of each byte? */
static bool is_plain_text(const uint8_t *bytes)
{
	const uint64_t ones = 0x0101010101010101, highest = ones << 7;
	uint64_t word, below_space, delete;

	memcpy(&word, bytes, sizeof(word));
	below_space = (word | highest) - ones * ' ';
	delete = (word ^ ones * 0x7f) + ones * 0x7f;
	return !(word & highest) && !(~(below_space & delete) & highest);
}

bool hi_looks_like_text(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size;) {
		size_t n;

		if (size - i >= 8 && is_plain_text(bytes + i)) {
			i += 8;
			continue;
		}
		n = utf8_length(bytes + i, size - i);

		if (bytes[i] == 0)
			return i > 0;
		if (n == 0 || bytes[i] == 0x7f ||
		    (bytes[i] < 0x20 && (bytes[i] < '\t' || bytes[i] > '\r')))
			return false;
		i += n;
	}
	return false;
}
