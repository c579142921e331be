/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The roots in a module's data, found by what they lead to. The root of the map of pages
 * is 256 KiB of its .bss at least: a module with less is left at once. A word leads to a
 * leaf if an element of that leads to an extent whose address has the element's index in
 * its lower bits; then the upper bits are the word's index, and fix where the root
 * begins.
 *
 * The tree has two levels where jemalloc was built for addresses of 48 bits, three for 57
 * (configure asks the processor of the machine that builds: Debian 13's has three).
 */
#include "decode/allocators/jemalloc.h"

#include <string.h>

enum {
	MAX_SECTIONS = 16,
	MAX_WORDS = 1 << 20,
	/* Elements that lead to no extent before a word is taken for no leaf. */
	MAX_WRONG_ELEMENTS = 64,
	MAX_WRONG_LEAVES = 4, /* of one node */
	/* An extent of more pages proves little: one of them often has the index. */
	MAX_PROVING_PAGES = 4096,
	LARGEST_SIZE_SHIFT = 60,
};
static const uint64_t ADDRESS_LIMIT = 1ull << 47,
		      LARGEST_SIZE = 7ull << LARGEST_SIZE_SHIFT;
static const struct hi_jemalloc_tree trees[] = {{2, 18, 8}, {3, 15, 16}};
enum { N_TREES = sizeof(trees) / sizeof(trees[0]) };

struct jemalloc_search {
	const struct hi_image *image;
	struct hi_jemalloc_found *found;
	struct hi_window data, node, leaf, extent;
	struct hi_section_range ranges[MAX_SECTIONS];
	size_t n_ranges;
	const struct hi_mapping *mapping; /* of the word before */
};

static bool may_be_heap(const struct hi_mapping *m)
{
	return (m->kind == HI_MAPPING_ANONYMOUS || m->kind == HI_MAPPING_HEAP) &&
	       m->prot & HI_PROT_WRITE && !m->shared && m->held;
}

bool hi_jemalloc_is_memory(const struct hi_image *image, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, addr);

	return m && may_be_heap(m);
}

static bool is_heap_word(struct jemalloc_search *s, uint64_t value)
{
	if (value % 64 || value < HI_JEMALLOC_PAGE || value >= ADDRESS_LIMIT)
		return false;
	if (!s->mapping || value < s->mapping->start || value >= s->mapping->end)
		s->mapping = hi_image_mapping_at(s->image, value);
	return s->mapping && may_be_heap(s->mapping);
}

/* ---- leaves ---- */

/* Part of the number of a page: its lower bits. */
struct page_bits {
	uint64_t value, mask;
};

/* Whether the extent at edata has a page with these bits; *page_ret is it. */
static bool extent_has_page(struct jemalloc_search *s, uint64_t edata,
			    struct page_bits bits, uint64_t *page_ret)
{
	const uint64_t *words;
	uint64_t first, last, page;

	if (edata % 16 || !is_heap_word(s, edata & ~63ull))
		return false;
	words = hi_window_at(&s->extent, edata, 24);
	if (!words || words[1] >= ADDRESS_LIMIT || words[1] < HI_JEMALLOC_PAGE ||
	    words[2] < HI_JEMALLOC_PAGE || words[2] >= ADDRESS_LIMIT)
		return false;
	first = words[1] / HI_JEMALLOC_PAGE;
	last = first + words[2] / HI_JEMALLOC_PAGE - 1;
	page = first + ((bits.value - first) & bits.mask);
	*page_ret = page;
	return page <= last && last - first < MAX_PROVING_PAGES;
}

/* The same for an element of a leaf, in the form of 5.3 or 5.2. */
static bool element_has_page(struct jemalloc_search *s, uint64_t element,
			     struct page_bits bits, uint64_t *page_ret)
{
	uint64_t edata = (uint64_t)((int64_t)(element << 16) >> 16);

	return extent_has_page(s, edata & ~127ull, bits, page_ret) ||
	       extent_has_page(s, edata & ~1ull, bits, page_ret);
}

/* Goes through a leaf of this tree; above: the bits of its own place. */
static bool leaf_has_page(struct jemalloc_search *s, const struct hi_jemalloc_tree *tree,
			  uint64_t leaf, uint64_t above, uint64_t *page_ret)
{
	uint64_t limit = leaf + hi_jemalloc_leaf_bytes(tree), start, end, element;
	struct page_bits bits = {0, (1ull << tree->bits * (tree->levels - 1)) - 1};
	unsigned wrong = 0;

	if (!hi_jemalloc_is_memory(s->image, limit - 8))
		return false;
	for (uint64_t at = leaf; hi_image_next_held(s->image, at, limit, &start, &end);
	     at = end)
		for (; start + 8 <= end; start += tree->element) {
			if (!hi_window_u64(&s->leaf, start, &element))
				return false;
			if (!(element << 16))
				continue;
			bits.value = above | (start - leaf) / tree->element;
			if (element_has_page(s, element, bits, page_ret))
				return true;
			if (++wrong == MAX_WRONG_ELEMENTS)
				return false;
		}
	return false;
}

/* The same for a node above leaves, of a tree of three levels. */
static bool node_has_page(struct jemalloc_search *s, const struct hi_jemalloc_tree *tree,
			  uint64_t node, uint64_t *page_ret)
{
	uint64_t limit = node + hi_jemalloc_node_bytes(tree), start, end, leaf;
	unsigned wrong = 0;

	if (tree->levels == 2)
		return leaf_has_page(s, tree, node, 0, page_ret);
	if (!hi_jemalloc_is_memory(s->image, limit - 8))
		return false;
	for (uint64_t at = node; hi_image_next_held(s->image, at, limit, &start, &end);
	     at = end)
		for (; start + 8 <= end; start += 8) {
			if (!hi_window_u64(&s->node, start, &leaf))
				return false;
			if (!leaf)
				continue;
			if (!is_heap_word(s, leaf) || ++wrong > MAX_WRONG_LEAVES)
				return false;
			if (leaf_has_page(s, tree, leaf, (start - node) / 8 << tree->bits,
					  page_ret))
				return true;
		}
	return false;
}

/* ---- the root ---- */

static bool is_in_data(const struct jemalloc_search *s, uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < s->n_ranges; i++)
		if (addr >= s->ranges[i].start && s->ranges[i].end >= size &&
		    addr <= s->ranges[i].end - size)
			return true;
	return false;
}

static bool vote_for_root(struct jemalloc_search *s, const struct hi_jemalloc_word *word,
			  const struct hi_jemalloc_tree *tree, uint64_t page)
{
	uint64_t addr = word->at - 8 * (page >> tree->bits * (tree->levels - 1));
	struct hi_jemalloc_roots *roots = &s->found->roots;

	if (!is_in_data(s, addr, hi_jemalloc_node_bytes(tree)))
		return true;
	for (size_t i = 0; i < roots->count; i++)
		if (roots->items[i].addr == addr && roots->items[i].tree == tree) {
			roots->items[i].votes++;
			return true;
		}
	return roots->count == HI_JEMALLOC_MAX_ROOTS ||
	       hi_vector_push(roots,
			      ((struct hi_jemalloc_root){addr, word->value, tree, 1}));
}

static enum hi_status find_roots(struct jemalloc_search *s,
				 const struct hi_jemalloc_tree *tree,
				 struct hi_error *err)
{
	for (size_t i = 0; i < s->found->words.count; i++) {
		const struct hi_jemalloc_word *word = &s->found->words.items[i];
		uint64_t page;

		if (node_has_page(s, tree, word->value, &page) &&
		    !vote_for_root(s, word, tree, page))
			return hi_fail_memory(err, "roots");
	}
	return HI_OK;
}

/* ---- sizes ---- */

/* How many sizes the table at addr has; 0: it is none. */
static uint32_t count_table_sizes(struct jemalloc_search *s, uint64_t addr)
{
	uint64_t before = 0, size;

	for (uint32_t i = 0; i < HI_JEMALLOC_MAX_SIZES; i++) {
		if (!hi_window_u64(&s->data, addr + i * 8ull, &size) || size <= before)
			return 0;
		if (size == LARGEST_SIZE)
			return i + 1;
		before = size;
	}
	return 0;
}

static void find_size_tables(struct jemalloc_search *s)
{
	struct hi_jemalloc_found *f = s->found;

	for (size_t i = 0; i < f->eights.count && f->n_tables < 2; i++) {
		uint32_t n = count_table_sizes(s, f->eights.items[i]);

		if (!n || (f->n_tables && f->table_sizes[0] == n))
			continue;
		f->tables[f->n_tables] = f->eights.items[i];
		f->table_sizes[f->n_tables++] = n;
	}
}

/* ---- the data ---- */

static bool note_data_word(struct jemalloc_search *s, uint64_t at, uint64_t value)
{
	struct hi_jemalloc_found *f = s->found;

	if (value == 8)
		return f->eights.count == MAX_WORDS || hi_vector_push(&f->eights, at);
	if (!is_heap_word(s, value))
		return true;
	return f->words.count == MAX_WORDS ||
	       hi_vector_push(&f->words, ((struct hi_jemalloc_word){at, value}));
}

static enum hi_status search_data_words(struct jemalloc_search *s, uint64_t at,
					uint64_t end, struct hi_error *err)
{
	for (at = (at + 7) & ~7ull; at + 8 <= end; at += 8) {
		uint64_t value;

		if (!hi_window_u64(&s->data, at, &value))
			break;
		if (value && !note_data_word(s, at, value))
			return hi_fail_memory(err, "words");
	}
	return HI_OK;
}

static enum hi_status search_range(struct jemalloc_search *s,
				   const struct hi_section_range *range,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t start, end;

	for (uint64_t at = range->start;
	     status == HI_OK &&
	     hi_image_next_held(s->image, at, range->end, &start, &end);
	     at = end)
		status = search_data_words(s, start, end, err);
	return status;
}

static bool has_room_for_root(const struct jemalloc_search *s)
{
	for (size_t i = 0; i < s->n_ranges; i++)
		if (s->ranges[i].end - s->ranges[i].start >
		    hi_jemalloc_node_bytes(&trees[N_TREES - 1]))
			return true;
	return false;
}

enum hi_status hi_jemalloc_find(const struct hi_image *image, struct hi_module *module,
				struct hi_jemalloc_found *ret, struct hi_error *err)
{
	struct jemalloc_search s = {.image = image,
				    .found = ret,
				    .data.memory = image->memory,
				    .node.memory = image->memory,
				    .leaf.memory = image->memory,
				    .extent.memory = image->memory};
	enum hi_status status = HI_OK;

	*ret = (struct hi_jemalloc_found){.module = module->name, .bias = module->bias};
	s.n_ranges = hi_module_data(module, s.ranges, MAX_SECTIONS);
	if (!has_room_for_root(&s))
		return HI_OK;
	for (size_t i = 0; i < s.n_ranges && status == HI_OK; i++)
		status = search_range(&s, &s.ranges[i], err);
	if (status == HI_OK)
		find_size_tables(&s);
	for (size_t i = 0; i < N_TREES && status == HI_OK && ret->n_tables; i++)
		status = find_roots(&s, &trees[i], err);
	hi_window_free(&s.data);
	hi_window_free(&s.node);
	hi_window_free(&s.leaf);
	hi_window_free(&s.extent);
	return status;
}

void hi_jemalloc_found_free(struct hi_jemalloc_found *found)
{
	hi_vector_free(&found->words);
	hi_vector_free(&found->eights);
	hi_vector_free(&found->roots);
}
