/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What refers to the heap from outside. Every word that the image holds and
 * that is writable is looked at exactly once: as (part of) a variable with a
 * name if one covers it, else as an untyped word of its module, thread or
 * mapping. Words are looked up first and named only when they hit, so that the
 * debug information of modules without pointers to the heap is never read.
 */
#include "decode/roots/roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"

enum {
	TCB_WITHIN = 16384,  /* of the end of a thread's stack */
	LARGEST_LOCAL = 512, /* bytes of a local variable that is filled at once */
};

void hi_roots_no_memory(struct hi_roots *r)
{
	if (r->status == HI_OK)
		r->status = hi_fail_memory(r->err, "roots");
}

static void add_seed(struct hi_roots *r, struct hi_seed seed)
{
	if (!hi_vector_push(&r->typing->seeds, seed))
		hi_roots_no_memory(r);
}

static void collect_root_edge(struct hi_roots *r, struct hi_root_edge edge)
{
	if (!hi_vector_push(&r->edges, edge))
		hi_roots_no_memory(r);
}

void hi_roots_refer(struct hi_roots *r, uint64_t to, enum hi_grade grade)
{
	hi_node id = hi_objects_find(r->typing->objects, to, NULL);

	if (id != HI_NODE_NONE)
		collect_root_edge(
			r, (struct hi_root_edge){.to = id, .grade = (uint8_t)grade});
}

void hi_roots_refer_within(struct hi_roots *r, uint64_t start, uint64_t end)
{
	const struct hi_objects *objects = r->typing->objects;
	hi_node id = hi_search(i, objects->count, hi_objects_address(objects, i) < start);

	for (; id < objects->count && hi_objects_address(objects, id) < end; id++)
		collect_root_edge(r, (struct hi_root_edge){
					     .to = id, .grade = HI_GRADE_CONSERVATIVE});
}

/* Adds an edge for a word that hit, and a seed if it is typed. */
static void add_hit(struct hi_roots *r, const struct hi_hit *hit)
{
	struct hi_pointer_slot *slot = r->slots[hit->index];
	uint8_t grade = HI_GRADE_CONSERVATIVE;

	if (slot && slot->kind == HI_POINTER_SLOT_TYPED) {
		uint32_t layout = hi_layouts_pointee(r->typing->layouts, slot);

		if (layout == HI_LAYOUT_FUNCTION)
			return;
		if (!hit->interior)
			grade = HI_GRADE_EXACT;
		else if (!hi_pointer_slot_may_be_number(slot, r->words[hit->index]))
			grade = HI_GRADE_INTERIOR;
		if (layout >= HI_LAYOUT_FIRST && grade != HI_GRADE_CONSERVATIVE &&
		    !r->past_end[hit->index])
			add_seed(r, (struct hi_seed){.word = r->words[hit->index],
						     .slot = slot});
	}
	collect_root_edge(r, (struct hi_root_edge){.to = hit->id,
						   .grade = grade,
						   .doubtful = !slot && hit->interior &&
							       r->words[hit->index] % 8,
						   .slot = slot});
}

/* Typed words to where subobjects may be. */
static void add_misses(struct hi_roots *r, size_t n_words, size_t n_hits)
{
	uint64_t start, end;
	size_t h = 0;

	for (size_t i = 0; i < n_words; i++) {
		struct hi_pointer_slot *slot = r->slots[i];

		if (h < n_hits && r->hits[h].index == i)
			h++;
		else if (slot && slot->kind == HI_POINTER_SLOT_TYPED &&
			 hi_subobjects_range(r->typing->subobjects, r->words[i], &start,
					     &end))
			add_seed(r, (struct hi_seed){.word = r->words[i], .slot = slot});
	}
}

static void flush_root_words(struct hi_roots *r)
{
	size_t n_words = r->n;
	size_t n = hi_objects_find_many(r->typing->objects, r->words, r->n, r->hits);

	r->n = 0;
	for (size_t i = 0; i < n && r->status == HI_OK; i++)
		add_hit(r, &r->hits[i]);
	if (r->typing->outside_low < r->typing->outside_high && r->status == HI_OK)
		add_misses(r, n_words, n);
}

bool hi_roots_may_refer(const struct hi_roots *r, uint64_t word)
{
	uint64_t start, end;

	return word - r->typing->outside_low <
		       r->typing->outside_high - r->typing->outside_low &&
	       hi_subobjects_range(r->typing->subobjects, word, &start, &end);
}

void hi_roots_add_word(struct hi_roots *r, uint64_t word, struct hi_pointer_slot *slot)
{
	if (word - r->low >= r->span)
		return;
	r->words[r->n] = word;
	r->past_end[r->n] = false;
	r->slots[r->n++] = slot;
	if (r->n == HI_ROOT_BATCH)
		flush_root_words(r);
}

static void add_range_words(struct hi_roots *r, uint64_t start, uint64_t end)
{
	struct hi_spans spans = {.image = r->typing->image,
				 .addr = (start + 7) & ~(uint64_t)7,
				 .end = end,
				 .scratch = r->scratch};
	const uint8_t *host;
	uint64_t addr, size, word;

	while (r->status == HI_OK && hi_spans_next(&spans, &host, &addr, &size))
		for (uint64_t i = 0; i + 8 <= size; i += 8) {
			memcpy(&word, host + i, sizeof(word));
			hi_roots_add_word(r, word, NULL);
		}
}

void hi_roots_add_range(struct hi_roots *r, uint64_t start, uint64_t end)
{
	size_t i = hi_search(k, r->own.count, r->own.items[k].end <= start);

	hi_roots_note(r, start, end);
	for (; i < r->own.count && r->own.items[i].start < end; i++) {
		if (r->own.items[i].start > start)
			add_range_words(r, start, r->own.items[i].start);
		start = r->own.items[i].end;
	}
	if (start < end)
		add_range_words(r, start, end);
}

void hi_roots_add_uncovered(struct hi_roots *r, uint64_t start, uint64_t end,
			    const struct hi_section_range *cuts, size_t n_cuts)
{
	size_t i = 0, high = n_cuts;

	/* cuts may be many, and only a few near; overlaps make ends unsorted, so
	 * the search is by start and one step back is not enough: scan those. */
	while (i < high && start < end) {
		const struct hi_section_range *cut = &cuts[i++];

		if (cut->end <= start)
			continue;
		if (cut->start >= end)
			break;
		if (cut->start > start)
			hi_roots_add_range(r, start, cut->start);
		start = cut->end;
	}
	if (start < end)
		hi_roots_add_range(r, start, end);
}

/* hi_word_fn over a variable; `at` is what it is read through. */
struct variable_words {
	struct hi_roots *roots;
	uint64_t address;
};

static bool read_variable_word(const struct variable_words *v, uint64_t offset,
			       uint64_t *ret)
{
	struct hi_typing *typing = v->roots->typing;
	const uint8_t *at = hi_memory_windows_at(
		&typing->memory_windows, &v->roots->window, v->address + offset, 8);

	if (!at)
		return hi_memory_read_u64(typing->image->memory, v->address + offset, ret,
					  NULL) == HI_OK;
	memcpy(ret, at, sizeof(*ret));
	return true;
}

static bool is_end_pointer_of_root(const struct variable_words *v, uint64_t offset,
				   struct hi_pointer_slot *slot, uint64_t word)
{
	struct hi_typing *typing = v->roots->typing;
	uint32_t layout = HI_LAYOUT_NONE;
	uint64_t before;

	if (slot && slot->kind == HI_POINTER_SLOT_TYPED && typing->layouts->sizes.n &&
	    word - v->roots->low < v->roots->span)
		layout = hi_layouts_pointee(typing->layouts, slot);
	if (layout < HI_LAYOUT_FIRST)
		return false;
	for (uint64_t k = 1; k <= hi_words_before_end(slot) && offset >= 8 * k; k++)
		if (read_variable_word(v, offset - 8 * k, &before) &&
		    hi_is_past_the_end(typing, word, before,
				       hi_layouts_get(typing->layouts, layout)->size))
			return true;
	return false;
}

static void add_variable_word(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct variable_words *v = arg;
	struct hi_roots *r = v->roots;
	uint64_t word;

	if (hi_roots_own_at(r, v->address + offset) ||
	    !read_variable_word(v, offset, &word) || word - r->low >= r->span)
		return;
	r->past_end[r->n] = is_end_pointer_of_root(v, offset, slot, word);
	r->words[r->n] = word;
	r->slots[r->n++] = slot;
	if (r->n == HI_ROOT_BATCH)
		flush_root_words(r);
}

void hi_roots_add_variable(struct hi_roots *r, uint64_t address, uint64_t size,
			   uint32_t layout)
{
	struct variable_words v = {r, address};
	const struct hi_layout *p;

	if (layout < HI_LAYOUT_FIRST) {
		hi_roots_add_range(r, address, address + size);
		return;
	}
	p = hi_layouts_get(r->typing->layouts, layout);
	if (p->klass == HI_TYPE_STRING)
		return;
	hi_layout_words(p, false, size, add_variable_word, &v);
	if (!p->n_rule_sites)
		return;
	flush_root_words(r); /* rules look their words up at once */
	hi_walker_rule_sites(&r->walker, p, false, address, size);
}

/* ---- rules in variables ---- */

static void add_rule_reference(void *arg, const struct hi_rule_reference *reference,
			       uint32_t layout)
{
	struct hi_roots *r = arg;
	hi_node id = HI_NODE_NONE;
	uint64_t offset = 0;
	uint8_t grade;

	if (reference->slot) {
		if (layout >= HI_LAYOUT_FIRST &&
		    !hi_vector_push(
			    &r->typing->slots,
			    ((struct hi_pool_slot_seed){reference->to,
							reference->slot_size, layout})))
			hi_roots_no_memory(r);
		return;
	}
	if (layout >= HI_LAYOUT_FIRST)
		add_seed(r, (struct hi_seed){.word = reference->to, .layout = layout});
	if (reference->own)
		id = hi_objects_find(r->typing->objects, reference->word, &offset);
	if (id == HI_NODE_NONE)
		return;
	hi_rule_note_lacks(reference->rule->lacks, reference->lacks);
	if (reference->weak)
		grade = HI_GRADE_WEAK;
	else if (reference->doubtful)
		grade = HI_GRADE_CONSERVATIVE;
	else
		grade = offset ? HI_GRADE_INTERIOR : HI_GRADE_EXACT;
	collect_root_edge(r, (struct hi_root_edge){.to = id, .grade = grade});
}

static void add_place_words(void *arg, const struct hi_layout *layout, bool array,
			    uint64_t addr, uint64_t end)
{
	struct hi_roots *r = arg;
	struct variable_words v = {r, addr};

	hi_layout_words_until(layout, array, true, end - addr, add_variable_word, &v);
	flush_root_words(r);
}

/* A record whose rules were not resolved: any word in it may be a pointer. */
static void add_unresolved_words(void *arg, uint64_t addr, uint64_t end)
{
	struct hi_roots *r = arg;
	struct variable_words v = {r, addr};
	const uint8_t *value = r->walker.value;
	uint64_t word;

	for (uint64_t o = -addr & 7; o + 8 <= end - addr; o += 8) {
		if (!value) {
			add_variable_word(&v, o, NULL);
			continue;
		}
		memcpy(&word, value + (addr - r->walker.block) + o, sizeof(word));
		hi_roots_add_word(r, word, NULL);
	}
	flush_root_words(r);
}

void hi_roots_add_ruled(struct hi_roots *r, const struct hi_rules *rules,
			uint64_t address, uint64_t size)
{
	const struct hi_rule_site site = {.count = 1, .stride = 8, .rules = rules};
	const struct hi_layout layout = {.size = size ? size : 8,
					 .count = HI_COUNT_UNKNOWN,
					 .n_rule_sites = 1,
					 .rule_sites = &site};

	flush_root_words(r);
	hi_walker_rule_sites(&r->walker, &layout, false, address, layout.size);
}

void hi_roots_add_rule_sites_of_value(struct hi_roots *r, const struct hi_layout *layout,
				      const uint8_t *value, uint64_t size)
{
	/* No address of user space: nothing else is there. */
	const uint64_t nowhere = (uint64_t)1 << 62;

	flush_root_words(r);
	r->walker.value = value;
	hi_walker_rule_sites(&r->walker, layout, false, nowhere, size);
	r->walker.value = NULL;
}

static int is_integer_edge(const struct hi_root_edge *edge)
{
	return edge->grade == HI_GRADE_CONSERVATIVE && edge->slot &&
	       edge->slot->is_integer;
}

static int by_target(const void *a, const void *b)
{
	const struct hi_root_edge *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->grade != y->grade)
		return (int)x->grade - (int)y->grade;
	if (is_integer_edge(x) != is_integer_edge(y))
		return is_integer_edge(x) - is_integer_edge(y);
	return (int)x->doubtful - (int)y->doubtful;
}

/* One edge a target, with the best grade. */
static size_t unique_edges(struct hi_root_edge *edges, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(edges, n, sizeof(*edges), by_target);
	for (size_t i = 0; i < n; i++)
		if (!kept || edges[kept - 1].to != edges[i].to)
			edges[kept++] = edges[i];
	return kept;
}

/* A frame's array has what earlier calls left in it. */
static bool may_be_left_over(const struct hi_root *root)
{
	return root->kind == HI_ROOT_STACK && root->size > LARGEST_LOCAL;
}

/* For the names of objects that no type names. What refers to untyped words
 * is no name, nor is a register or what the C library keeps. */
static void keep_refs(struct hi_roots *r, uint32_t variable, const struct hi_root *root,
		      size_t n)
{
	struct hi_typing *typing = r->typing;

	if (typing->conservative || root->kind == HI_ROOT_UNTYPED ||
	    hi_root_rank(root) < HI_RANK_PROGRAM || may_be_left_over(root))
		return;
	typing->roots.items[variable].name = hi_arena_strdup(&typing->arena, root->name);
	for (size_t i = 0; i < n; i++)
		if (!r->edges.items[i].doubtful &&
		    !hi_vector_push(&typing->root_refs,
				    ((struct hi_root_ref){r->edges.items[i].to, variable,
							  r->edges.items[i].slot})))
			hi_roots_no_memory(r);
}

/* Variables come in the order of their indexes. */
static void keep_integers(struct hi_roots *r, uint32_t variable, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_integer_edge(&r->edges.items[i]) &&
		    !hi_vector_push(
			    &r->typing->integer_refs,
			    ((struct hi_variable_edge){variable, r->edges.items[i].to})))
			hi_roots_no_memory(r);
}

/*
 * Records begin and have their members at multiples of 8. A word that leads to another
 * place inside a block is about text, and often older than the block: where a parser was
 * in a text that is long freed. A root that has no other word says less than others.
 */
static uint8_t rank_of_words(const struct hi_roots *r, const struct hi_root *root,
			     size_t n)
{
	if (hi_root_rank(root) != HI_RANK_PROGRAM)
		return root->rank;
	for (size_t i = 0; i < n; i++)
		if (!r->edges.items[i].doubtful)
			return root->rank;
	return may_be_left_over(root) ? HI_RANK_NOBODY : HI_RANK_MEMORY;
}

/* In an array that is left over only a pointer with the type of a record says what it
 * leads to: not `void *`, a member of a union for instance (events of epoll). */
static void doubt_left_over(struct hi_roots *r)
{
	for (size_t i = 0; i < r->edges.count; i++) {
		struct hi_root_edge *e = &r->edges.items[i];

		if (e->slot &&
		    hi_layouts_pointee(r->typing->layouts, e->slot) >= HI_LAYOUT_FIRST)
			continue;
		e->grade = HI_GRADE_CONSERVATIVE;
		e->doubtful = true;
	}
}

void hi_roots_end(struct hi_roots *r, const struct hi_root *root,
		  const struct hi_root_info *info)
{
	struct hi_root named = *root;
	struct hi_root_info none = {};
	uint32_t index = 0;
	size_t n;

	flush_root_words(r);
	if (may_be_left_over(root))
		doubt_left_over(r);
	n = unique_edges(r->edges.items, r->edges.count);
	r->edges.count = 0;
	if (n == 0 || r->status != HI_OK)
		return;
	named.variable = (uint32_t)r->typing->roots.count;
	named.rank = rank_of_words(r, root, n);
	if (!hi_vector_push(&r->typing->roots, info ? *info : none)) {
		hi_roots_no_memory(r);
		return;
	}
	keep_refs(r, named.variable, root, n);
	keep_integers(r, named.variable, n);
	r->status = hi_graph_builder_root(r->builder, &named, &index, r->err);
	for (size_t i = 0; i < n && r->status == HI_OK; i++)
		r->status = hi_graph_builder_root_edge(
			r->builder, index, r->edges.items[i].to,
			(enum hi_grade)r->edges.items[i].grade, r->err);
}

void hi_roots_note(struct hi_roots *r, uint64_t start, uint64_t end)
{
	if (start < end &&
	    !hi_vector_push(&r->typing->root_ranges,
			    ((struct hi_section_range){start, end, false})))
		hi_roots_no_memory(r);
}

bool hi_roots_take(struct hi_roots *r, uint64_t start, uint64_t end)
{
	if (start >= end)
		return true;
	if (hi_vector_push(&r->taken, ((struct hi_section_range){start, end, false})))
		return true;
	hi_roots_no_memory(r);
	return false;
}

uint32_t hi_roots_layout(struct hi_roots *r, hi_type_id type)
{
	uint32_t layout;

	if (r->typing->conservative)
		return HI_LAYOUT_NONE;
	layout = hi_layouts_of(r->typing->layouts, type);
	if (layout < HI_LAYOUT_FIRST ||
	    hi_layouts_get(r->typing->layouts, layout)->opaque)
		return HI_LAYOUT_NONE;
	return layout;
}

const char *hi_roots_type_name(struct hi_roots *r, hi_type_id type)
{
	const struct hi_type_source *types = &r->typing->source.types;

	return type && types->type ? hi_type_source_get(types, type)->name : "";
}

uint64_t hi_roots_size(struct hi_roots *r, uint64_t size, hi_type_id type, uint64_t limit)
{
	const struct hi_type_source *types = &r->typing->source.types;

	if (!size && type && types->type)
		size = hi_type_source_get(types, type)->size;
	return size < limit ? size : limit;
}

int hi_ranges_compare(const void *a, const void *b)
{
	const struct hi_section_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* By start, overlaps merged. */
void hi_ranges_sort(struct hi_ranges *ranges)
{
	size_t kept = 0;

	if (ranges->count > 1)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items),
		      hi_ranges_compare);
	for (size_t i = 0; i < ranges->count; i++) {
		struct hi_section_range *last = kept ? &ranges->items[kept - 1] : NULL;

		if (last && ranges->items[i].start <= last->end) {
			if (ranges->items[i].end > last->end)
				last->end = ranges->items[i].end;
		} else {
			ranges->items[kept++] = ranges->items[i];
		}
	}
	ranges->count = kept;
}

/* ---- mappings that nothing else accounts for ---- */

/*
 * Note [Roots in files]
 *
 * A file's mapping that the target may write to can hold its only pointer to a block,
 * shared or private, as anonymous and shared memory can. So can a private one that is
 * write-protected now: the image holds those of its pages that were written. In shared
 * ones, the pages that
 * the target has in its page tables when it stands are read: a database of 1 TiB that
 * is mapped costs what of it is touched. What the kernel has taken out of the page
 * tables since, and what another process wrote there (or this one's parent, before it
 * was forked), are no roots; but what they hold is no certain leak (shared_pages.h).
 */
static bool may_hold_roots(const struct hi_roots *r, const struct hi_mapping *m)
{
	switch (m->kind) {
	case HI_MAPPING_ANONYMOUS:
	case HI_MAPPING_HEAP:
	case HI_MAPPING_STACK:
	case HI_MAPPING_SHMEM:
		return true;
	case HI_MAPPING_FILE:
		return (m->prot & HI_PROT_WRITE) ||
		       (!m->shared && !(m->prot & HI_PROT_EXEC) &&
			!(r->typing->modules &&
			  hi_modules_at(r->typing->modules, m->start)));
	case HI_MAPPING_VDSO:
	case HI_MAPPING_OTHER:
		break;
	}
	return false;
}

static const char *root_mapping_name(const struct hi_mapping *m, char *out, size_t size)
{
	const char *base = strrchr(m->path, '/');

	if (m->kind == HI_MAPPING_HEAP)
		snprintf(out, size, "[heap] outside the allocator's areas");
	else if (m->kind == HI_MAPPING_STACK)
		snprintf(out, size, "[stack] outside the used part");
	else if (m->kind == HI_MAPPING_FILE && m->shared)
		snprintf(out, size, "mapping %s", base ? base + 1 : m->path);
	else if (*m->path)
		snprintf(out, size, "%s 0x%llx (no variable)", base ? base + 1 : m->path,
			 (unsigned long long)m->start);
	else
		snprintf(out, size, "anonymous memory 0x%llx",
			 (unsigned long long)m->start);
	return out;
}

/*
 * glibc keeps the stacks of threads that have ended, for the next ones: what is
 * on them is dead. Such a mapping ends with a thread control block, which
 * points to itself at +0 and +16 (tcbhead_t: tcb, self; sysdeps/x86_64/nptl/tls.h),
 * and which is no thread's. Returns its address, from which on roots may be, else
 * the mapping's start.
 */
static uint64_t skip_dead_stack(struct hi_roots *r, const struct hi_mapping *m)
{
	const struct hi_image *image = r->typing->image;
	uint64_t words[3],
		start = m->end - m->start > TCB_WITHIN ? m->end - TCB_WITHIN : m->start;

	if (m->kind != HI_MAPPING_ANONYMOUS || m == image->mappings ||
	    m[-1].end != m->start || m[-1].prot != 0)
		return m->start; /* no guard page */
	for (uint64_t a = (start + 63) & ~(uint64_t)63; a + sizeof(words) <= m->end;
	     a += 64) {
		if (hi_memory_read(image->memory, a, words, sizeof(words), NULL) !=
			    HI_OK ||
		    words[0] != a || words[2] != a)
			continue;
		for (size_t i = 0; i < image->n_threads; i++)
			if (image->threads[i].regs.fs_base == a)
				return m->start;
		return a;
	}
	return m->start;
}

/* Memory that the program mapped is its own; the rest of its heap and stack is left over,
 * and what is beside a thread's control block is the loader's. */
static uint8_t rank_of_mapping(const struct hi_image *image, const struct hi_mapping *m)
{
	const char *base = strrchr(m->path, '/');

	if (m->kind == HI_MAPPING_FILE && base && hi_file_is_system(base + 1))
		return HI_RANK_SYSTEM;
	for (size_t i = 0; i < image->n_threads; i++)
		if (image->threads[i].regs.fs_base - m->start < m->end - m->start)
			return HI_RANK_NOBODY;
	return m->kind == HI_MAPPING_HEAP || m->kind == HI_MAPPING_STACK ? HI_RANK_NOBODY
									 : HI_RANK_MEMORY;
}

static void roots_of_mapping(struct hi_roots *r, const struct hi_mapping *m)
{
	const struct hi_section_range range = {m->start, m->end, false};
	struct hi_section_range *copy;
	char name[160];

	hi_roots_add_uncovered(r, skip_dead_stack(r, m), m->end, r->taken.items,
			       r->taken.count);
	copy = hi_arena_alloc(&r->typing->arena, sizeof(*copy));
	if (!copy) {
		hi_roots_no_memory(r);
		return;
	}
	*copy = range;
	hi_roots_end(r,
		     &(struct hi_root){.kind = HI_ROOT_UNTYPED,
				       .name = root_mapping_name(m, name, sizeof(name)),
				       .detail = m->path,
				       .type = "",
				       .address = m->start,
				       .size = m->end - m->start,
				       .rank = rank_of_mapping(r->typing->image, m)},
		     &(struct hi_root_info){.address = m->start,
					    .size = m->end - m->start,
					    .ranges = copy,
					    .n_ranges = 1});
}

static void roots_of_mappings(struct hi_roots *r)
{
	const struct hi_image *image = r->typing->image;

	hi_ranges_sort(&r->taken);
	for (size_t i = 0; i < image->n_mappings && r->status == HI_OK; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (m->held && may_hold_roots(r, m))
			roots_of_mapping(r, m);
		else if (m->shared && may_hold_roots(r, m))
			hi_roots_note(r, m->start, m->end);
	}
}

/* Note [Words that the kernel keeps]: a root for each descriptor, and one for timers. */
static void roots_of_kernel(struct hi_roots *r)
{
	const struct hi_image *image = r->typing->image;
	char name[64];

	for (size_t i = 0; i < image->n_kernel_words && r->status == HI_OK;) {
		int descriptor = image->kernel_words[i].descriptor;

		for (; i < image->n_kernel_words &&
		       image->kernel_words[i].descriptor == descriptor;
		     i++)
			hi_roots_add_word(r, image->kernel_words[i].word, NULL);
		if (descriptor < 0)
			snprintf(name, sizeof(name), "values of timers");
		else
			snprintf(name, sizeof(name), "data of epoll descriptor %d",
				 descriptor);
		hi_roots_end(r,
			     &(struct hi_root){.kind = HI_ROOT_UNTYPED,
					       .name = name,
					       .detail = "kernel",
					       .type = ""},
			     NULL);
	}
}

static void take_heap(struct hi_roots *r)
{
	const struct hi_allocator *allocator = r->typing->allocator;
	const struct hi_objects *objects = r->typing->objects;

	for (size_t i = 0; allocator && i < allocator->n_regions; i++)
		hi_roots_take(r, allocator->regions[i].start, allocator->regions[i].end);
	for (uint32_t i = 0; !allocator && i < objects->n_regions; i++)
		hi_roots_take(r, objects->regions[i].start, objects->regions[i].end);
}

/* Subobjects outside of the allocator's areas are no roots. */
static void skip_subobjects(struct hi_roots *r)
{
	const struct hi_range *ranges = NULL;
	size_t n = r->typing->remade
			   ? hi_subobjects_outside(r->typing->subobjects, &ranges)
			   : 0;

	for (size_t i = 0; i < n && r->status == HI_OK; i++)
		hi_roots_take(r, ranges[i].start, ranges[i].end);
}

/* What was noted, each byte once. */
static void keep_noted(struct hi_roots *r)
{
	struct hi_typing *typing = r->typing;
	struct hi_ranges noted = {};

	for (size_t i = 0; i < typing->root_ranges.count; i++)
		if (!hi_vector_push(&noted, typing->root_ranges.items[i]))
			hi_roots_no_memory(r);
	hi_ranges_sort(&noted);
	typing->root_ranges.count = noted.count;
	if (noted.count)
		memcpy(typing->root_ranges.items, noted.items,
		       noted.count * sizeof(*noted.items));
	hi_vector_free(&noted);
	typing->own_ranges.count = 0;
	for (size_t i = 0; i < r->own.count; i++)
		if (!hi_vector_push(&typing->own_ranges, r->own.items[i]))
			hi_roots_no_memory(r);
}

static void roots_deinit(struct hi_roots *r)
{
	hi_vector_free(&r->edges);
	hi_vector_free(&r->taken);
	hi_vector_free(&r->own);
	free(r->scratch);
	free(r);
}

static void widen_bounds(struct hi_roots *r)
{
	const struct hi_typing *typing = r->typing;
	uint64_t low = typing->objects->low, high = typing->objects->high;

	if (low == high || typing->outside_low < low)
		low = typing->outside_low;
	if (typing->outside_high > high)
		high = typing->outside_high;
	r->low = low;
	r->span = high - low;
}

enum hi_status hi_roots_find(struct hi_typing *typing, struct hi_graph_builder *b,
			     struct hi_error *err)
{
	struct hi_roots *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "roots");
	r->typing = typing;
	r->builder = b;
	r->err = err;
	r->low = typing->objects->low;
	r->span = typing->objects->high - r->low;
	if (typing->outside_low < typing->outside_high)
		widen_bounds(r);
	r->scratch = hi_alloc(HI_SPAN_SCRATCH);
	if (!r->scratch)
		hi_roots_no_memory(r);
	hi_walker_init(&r->walker, typing);
	r->walker.arg = r;
	r->walker.words = add_place_words;
	r->walker.reference = add_rule_reference;
	r->walker.unresolved = add_unresolved_words;
	r->walker.applier.keeps_lacks = true;
	typing->root_ranges.count = 0;
	take_heap(r);
	skip_subobjects(r);
	if (r->status == HI_OK)
		hi_roots_find_own(r);
	if (r->status == HI_OK)
		hi_roots_take_runtime(r);
	if (r->status == HI_OK)
		hi_roots_of_runtime(r);
	if (r->status == HI_OK)
		hi_roots_of_modules(r);
	if (r->status == HI_OK)
		hi_roots_of_threads(r);
	if (r->status == HI_OK)
		roots_of_mappings(r);
	if (r->status == HI_OK)
		roots_of_kernel(r);
	keep_noted(r);
	status = r->status;
	roots_deinit(r);
	return status;
}
