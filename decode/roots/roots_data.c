/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots in the data of modules: global and static variables, and the rest. */
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "decode/roots/roots.h"

enum { MAX_SECTIONS = 64, MODULE_BATCH = 4096 };

/*
 * The allocator's static data refers to free chunks, whose headers lie in the
 * tail of the live block before them: not roots. By symbol, else by shape.
 *
 * struct malloc_state: bins is an array of 254 pointers, each pair an empty
 * ring that points 16 bytes before itself. Source: malloc/malloc.c (glibc);
 * offsets and size: the same from 2.26 to 2.42.
 */
enum { STATE_BINS = 112, STATE_SIZE = 2200, MIN_EMPTY_BINS = 24 };

static void own_by_symbol(struct hi_roots *r, const char *name, uint64_t least)
{
	struct hi_modules *modules = r->typing->modules;
	struct hi_module *libc = hi_modules_named(modules, "libc.so");
	uint64_t addr, size;

	if (!libc)
		libc = hi_modules_executable(modules); /* static */
	if (!libc || hi_modules_symbol(modules, libc, name, &addr, &size, NULL) != HI_OK)
		return;
	if (size < least)
		size = least;
	if (!hi_vector_push(&r->own,
			    ((struct hi_section_range){addr, addr + size, false})))
		hi_roots_no_memory(r);
}

/* How many of the pairs of words at p are empty rings? */
static unsigned empty_bins(const uint8_t *p, uint64_t addr)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 127; i++) {
		uint64_t pair[2], self = addr + 16ull * i - 16;

		memcpy(pair, p + 16ull * i, sizeof(pair));
		n += pair[0] == self && pair[1] == self;
	}
	return n;
}

static void own_by_shape(struct hi_roots *r, const struct hi_section_range *range)
{
	uint64_t bins_size = STATE_SIZE - STATE_BINS, start = range->start & ~7ull;
	struct hi_memory_window window = {};
	uint64_t size = range->end - start, word;
	const uint8_t *host =
		hi_memory_windows_at(&r->typing->memory_windows, &window, start, size);

	for (uint64_t i = STATE_BINS; host && i + bins_size <= size; i += 8) {
		memcpy(&word, host + i, sizeof(word));
		if (word != start + i - 16 ||
		    empty_bins(host + i, start + i) < MIN_EMPTY_BINS)
			continue;
		if (!hi_vector_push(&r->own,
				    ((struct hi_section_range){
					    start + i - STATE_BINS,
					    start + i - STATE_BINS + STATE_SIZE, false})))
			hi_roots_no_memory(r);
		return;
	}
}

/* Thread caches and lists lead to blocks, and are no references of the program. */
static void own_of_allocator(struct hi_roots *r)
{
	const struct hi_allocator *a = r->typing->allocator;

	for (size_t i = 0; a && i < a->n_own; i++)
		if (a->own[i].start < a->own[i].end &&
		    !hi_vector_push(&r->own,
				    ((struct hi_section_range){a->own[i].start,
							       a->own[i].end, false})))
			hi_roots_no_memory(r);
	hi_ranges_sort(&r->own);
}

static void own_of_glibc(struct hi_roots *r)
{
	struct hi_section_range ranges[MAX_SECTIONS];
	struct hi_modules *modules = r->typing->modules;
	size_t n_modules = modules ? hi_modules_count(modules) : 0;

	if (!modules || !r->typing->allocator)
		return;
	own_by_symbol(r, "main_arena", STATE_SIZE);
	own_by_symbol(r, "mp_", 8);
	for (size_t i = 0; i < n_modules && r->own.count == 0; i++) {
		struct hi_module *module = hi_modules_get(modules, i);
		size_t n = hi_module_data(module, ranges, MAX_SECTIONS);

		for (size_t k = 0; k < n && r->own.count == 0; k++)
			own_by_shape(r, &ranges[k]);
	}
}

/* glibc's first: its shape is searched for where no symbol has told it. */
void hi_roots_find_own(struct hi_roots *r)
{
	own_of_glibc(r);
	own_of_allocator(r);
}

/* They are sorted and apart. */
const struct hi_section_range *hi_roots_own_at(const struct hi_roots *r, uint64_t addr)
{
	size_t low = hi_search(i, r->own.count, r->own.items[i].end <= addr);

	return low < r->own.count && r->own.items[low].start <= addr ? &r->own.items[low]
								     : NULL;
}

/* One module's data while it is scanned. */
struct data_scan {
	struct hi_roots *roots;
	struct hi_module *module;
	struct hi_section_range range;
	uint64_t done;			  /* up to here a variable was accounted for */
	struct hi_section_range farthest; /* the variable that ends last */
	struct hi_seam seam;
	struct hi_root_words untyped; /* that no variable covers */
	struct hi_ranges covered;
};

static const struct hi_rules *rules_of_variable(struct hi_roots *r,
						const struct hi_variable *v)
{
	const struct hi_rule_source *rules = &r->typing->source.types.rules;

	return rules->root_rules && !r->typing->conservative
		       ? rules->root_rules(rules->arg, v)
		       : NULL;
}

/* The owner of the variable: the memory manager of a runtime, or the program. */
static enum hi_root_kind kind_at(const struct hi_roots *r, uint64_t address)
{
	const struct hi_runtime *runtime = r->typing->runtime;

	for (size_t i = 0; runtime && i < runtime->n_internals; i++)
		if (runtime->internals[i] == address)
			return HI_ROOT_RUNTIME;
	return HI_ROOT_GLOBAL;
}

static bool is_dangling_variable(const struct hi_roots *r, const struct hi_variable *v)
{
	const struct hi_runtime *runtime = r->typing->runtime;
	const char *const *name = runtime ? runtime->dangling : NULL;

	while (name && *name && strcmp(*name, v->name) != 0)
		name++;
	return name && *name;
}

/* Objects that were split off a variable live as long as it. */
static void refer_to_static_objects(struct hi_roots *r, uint64_t start, uint64_t end)
{
	const struct hi_range *ranges = NULL;
	size_t n = r->typing->remade
			   ? hi_subobjects_static(r->typing->subobjects, &ranges)
			   : 0;
	size_t i = hi_search(k, n, ranges[k].end <= start);

	for (; i < n && ranges[i].start < end; i++)
		hi_roots_refer_within(r,
				      ranges[i].start > start ? ranges[i].start : start,
				      ranges[i].end < end ? ranges[i].end : end);
}

static void add_global(struct data_scan *d, const struct hi_variable *v)
{
	struct hi_roots *r = d->roots;
	uint64_t size = hi_roots_size(r, v->size, v->type, d->range.end - v->address);
	uint32_t layout = hi_roots_layout(r, v->type);
	const struct hi_rules *rules = rules_of_variable(r, v);
	const char *detail = v->file && *v->file ? v->file : d->module->name;

	if (size < 8)
		size = 8; /* symbols without a size: the word that hit */
	if (is_dangling_variable(r, v)) {
		d->done = v->address + size;
		return;
	}
	if (rules)
		hi_roots_add_ruled(r, rules, v->address, size);
	else
		hi_roots_add_variable(r, v->address, size, layout);
	refer_to_static_objects(r, v->address, v->address + size);
	hi_roots_end(
		r,
		&(struct hi_root){.kind = kind_at(r, v->address),
				  .name = v->name,
				  .detail = detail,
				  .type = hi_roots_type_name(r, v->type),
				  .address = v->address,
				  .size = size,
				  .rank = hi_roots_variable_rank(d->module, v->name)},
		&(struct hi_root_info){.type = v->type,
				       .layout = layout,
				       .address = v->address,
				       .size = size});
	d->done = v->address + size;
	if (d->done > d->farthest.end)
		d->farthest = (struct hi_section_range){v->address, d->done, false};
	if (!hi_vector_push(&d->covered,
			    ((struct hi_section_range){v->address, d->done, false})))
		hi_roots_no_memory(r);
}

/* A word of the data at addr refers to the heap. */
static void name_word(struct data_scan *d, uint64_t addr, uint64_t word)
{
	struct hi_roots *r = d->roots;
	const struct hi_section_range *own = hi_roots_own_at(r, addr);
	struct hi_variable v;

	if (addr < d->done)
		return;
	if (own) {
		d->done = own->end;
		return;
	}
	if (r->typing->source.variable_at &&
	    r->typing->source.variable_at(r->typing->source.types.arg, addr, &v, NULL) ==
		    HI_OK &&
	    v.address >= d->range.start && v.address <= addr &&
	    addr - v.address < hi_roots_size(r, v.size, v.type, UINT64_MAX)) {
		add_global(d, &v);
		return;
	}
	if (!hi_vector_push(&d->untyped, ((struct hi_root_word){addr, word})))
		hi_roots_no_memory(r);
}

/* Variables that lead to the heap, and those that lead to where subobjects may be: their
 * types infer them. In order of address: a variable accounts for all words before it. */
static void name_data_words(struct data_scan *d, uint64_t addr, const uint64_t *words,
			    size_t n, const struct hi_hit *hits, size_t n_hits)
{
	bool outside = d->roots->typing->outside_low < d->roots->typing->outside_high;

	for (size_t i = 0, h = 0; i < n && d->roots->status == HI_OK; i++) {
		bool hit = h < n_hits && hits[h].index == i;

		h += hit;
		if (hit || (outside && hi_roots_may_refer(d->roots, words[i])))
			name_word(d, addr + 8ull * i, words[i]);
		else if (!outside && h == n_hits)
			break;
	}
}

/*
 * Note [Packed variables]
 *
 * Members of packed records lie at any offset, so that the aligned words of a variable
 * may lead nowhere while its pointers do. Words at the other offsets count only where
 * the type of the variable has a pointer or a uintptr_t at this very place, or no type is
 * known. There are seven times as many of them, but hardly one has the value of an
 * address of the heap, and only those are looked up.
 */
static bool has_pointer_at(const struct hi_layout *layout, uint64_t offset)
{
	for (uint32_t i = 0; i < layout->n_slots; i++) {
		const struct hi_pointer_slot *slot = &layout->slots[i];

		if (offset >= slot->offset &&
		    (offset - slot->offset) % slot->stride == 0 &&
		    (offset - slot->offset) / slot->stride < slot->count)
			return true;
	}
	return false;
}

/* Returns whether a variable that was added since the scan came to `start` has it, or an
 * earlier one that goes on to there. */
static bool is_covered_since(const struct data_scan *d, uint64_t addr, uint64_t start)
{
	if (addr >= d->farthest.start && addr < d->farthest.end)
		return true;
	for (size_t i = d->covered.count; i; i--) {
		const struct hi_section_range *c = &d->covered.items[i - 1];

		if (c->end <= start)
			break;
		if (addr >= c->start && addr < c->end)
			return true;
	}
	return false;
}

/* *v_ret: the variable there. HI_LAYOUT_NONE: there is none, or one without a type. */
static uint32_t layout_of_data(struct data_scan *d, uint64_t addr,
			       struct hi_variable *v_ret)
{
	const struct hi_typing_source *source = &d->roots->typing->source;

	if (!source->variable_at ||
	    source->variable_at(source->types.arg, addr, v_ret, NULL) != HI_OK ||
	    v_ret->address < d->range.start || v_ret->address > addr)
		return HI_LAYOUT_NONE;
	return hi_roots_layout(d->roots, v_ret->type);
}

/* start: of the batch, up to which variables are accounted for. */
static void name_packed_word(struct data_scan *d, uint64_t addr, uint64_t word,
			     uint64_t start)
{
	struct hi_roots *r = d->roots;
	struct hi_variable v;
	uint64_t done = d->done, offset;
	uint32_t layout;

	if ((hi_objects_find(r->typing->objects, word, &offset) == HI_NODE_NONE &&
	     !hi_roots_may_refer(r, word)) ||
	    hi_roots_own_at(r, addr) || hi_roots_own_at(r, addr + 7) ||
	    is_covered_since(d, addr, start))
		return;
	layout = layout_of_data(d, addr, &v);
	if (layout < HI_LAYOUT_FIRST) {
		if (layout_of_data(d, addr + 7, &v) < HI_LAYOUT_FIRST &&
		    !hi_vector_push(&d->untyped, ((struct hi_root_word){addr, word})))
			hi_roots_no_memory(r);
		return;
	}
	if (!has_pointer_at(hi_layouts_get(r->typing->layouts, layout), addr - v.address))
		return;
	add_global(d, &v);
	if (d->done < done)
		d->done = done;
}

/* The words of n bytes that are not aligned. left: bytes there are from host on. */
static void scan_packed(struct data_scan *d, const uint8_t *host, uint64_t addr,
			uint64_t n, uint64_t left)
{
	struct hi_roots *r = d->roots;
	uint64_t word;

	for (uint64_t i = 0; i < n && i + 8 <= left && r->status == HI_OK; i++) {
		memcpy(&word, host + i, sizeof(word));
		if (word - r->low < r->span && (addr + i) % 8)
			name_packed_word(d, addr + i, word, addr);
	}
}

/* Words that begin in the span before. */
static void scan_seam(struct data_scan *d, const uint8_t *host, uint64_t addr,
		      uint64_t size)
{
	uint8_t bytes[2 * HI_SEAM_SIDE];
	uint64_t start;
	size_t n = hi_seam_next(&d->seam, host, addr, size, bytes, &start);

	if (n)
		scan_packed(d, bytes, start, addr - start, n);
}

static void scan_span(struct data_scan *d, const uint8_t *host, uint64_t addr,
		      uint64_t size)
{
	struct hi_roots *r = d->roots;
	uint64_t words[MODULE_BATCH / 8];
	struct hi_hit hits[MODULE_BATCH / 8];

	scan_seam(d, host, addr, size);
	for (uint64_t at = 0; at + 8 <= size && r->status == HI_OK;) {
		uint64_t left = (size - at) / 8;
		size_t n = left < MODULE_BATCH / 8 ? left : MODULE_BATCH / 8, n_hits;

		memcpy(words, host + at, n * 8);
		n_hits = hi_objects_find_many(r->typing->objects, words, n, hits);
		name_data_words(d, addr + at, words, n, hits, n_hits);
		scan_packed(d, host + at, addr + at, n * 8, size - at);
		at += n * 8;
	}
}

static void scan_range(struct data_scan *d, const struct hi_section_range *range)
{
	struct hi_roots *r = d->roots;
	struct hi_spans spans = {.image = r->typing->image,
				 .addr = (range->start + 7) & ~(uint64_t)7,
				 .end = range->end,
				 .scratch = r->scratch};
	uint8_t *scratch = NULL;
	const uint8_t *host;
	uint64_t addr, size;

	d->range = *range;
	d->done = range->start;
	d->farthest = (struct hi_section_range){};
	d->seam = (struct hi_seam){};
	while (r->status == HI_OK && hi_spans_next(&spans, &host, &addr, &size)) {
		/* Variables are read through the same scratch: keep this span. */
		if (host == r->scratch) {
			scratch = scratch ? scratch : hi_alloc(HI_SPAN_SCRATCH);
			if (!scratch) {
				hi_roots_no_memory(r);
				break;
			}
			memcpy(scratch, host, size);
			host = scratch;
		}
		scan_span(d, host, addr, size);
	}
	free(scratch);
	hi_roots_note(r, range->start, range->end);
	hi_roots_take(r, range->start, range->end);
}

/* Pools of whose words none led anywhere. */
static void add_static_pools(struct data_scan *d, const struct hi_section_range *range)
{
	struct hi_roots *r = d->roots;
	const struct hi_range *ranges = NULL;
	size_t n = r->typing->remade
			   ? hi_subobjects_static(r->typing->subobjects, &ranges)
			   : 0;
	struct hi_variable v;

	for (size_t i = hi_search(k, n, ranges[k].end <= range->start);
	     i < n && ranges[i].start < range->end && r->status == HI_OK; i++)
		if (!is_covered_since(d, ranges[i].start, 0) &&
		    r->typing->source.variable_at(r->typing->source.types.arg,
						  ranges[i].start, &v, NULL) == HI_OK &&
		    v.address >= range->start && v.address <= ranges[i].start)
			add_global(d, &v);
}

static int compare_words(const void *a, const void *b)
{
	const struct hi_root_word *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

void hi_roots_of_modules(struct hi_roots *r)
{
	struct hi_section_range ranges[MAX_SECTIONS];
	struct hi_modules *modules = r->typing->modules;
	size_t n_modules = modules ? hi_modules_count(modules) : 0;

	for (size_t i = 0; i < n_modules && r->status == HI_OK; i++) {
		struct data_scan d = {.roots = r, .module = hi_modules_get(modules, i)};
		size_t n = hi_module_data(d.module, ranges, MAX_SECTIONS);

		for (size_t k = 0; k < n && r->status == HI_OK; k++)
			scan_range(&d, &ranges[k]);
		for (size_t k = 0; k < n && r->status == HI_OK; k++)
			add_static_pools(&d, &ranges[k]);
		hi_ranges_sort(&d.covered);
		/* Unaligned words follow the aligned ones of their batch. */
		if (d.untyped.count > 1)
			qsort(d.untyped.items, d.untyped.count, sizeof(*d.untyped.items),
			      compare_words);
		hi_roots_of_places(r, d.module, &d.untyped, &d.covered);
		hi_vector_free(&d.untyped);
		hi_vector_free(&d.covered);
	}
}
