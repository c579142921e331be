/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of allocation wrappers: a header of the wrapper, then the bytes that its caller
 * requested.
 *
 * Note [Headers of allocation wrappers]
 *
 * sqlite, MySQL's my_malloc and many an xmalloc() keep the size of a request, or more, in
 * front of the pointer that they return, so every pointer of the program leads into its
 * block, at one offset. Such a pointer counts as one to the start of its object if one of
 * these holds:
 *
 *   - a word of the header is the size of the request, for which the allocator would give
 *     a block of just this size. A member of a record (a key, a count) may have that
 *     value by chance, so at least MIN_MARKED typed pointers to this offset, and nine of
 *     ten, must lead to such blocks. Blocks of arenas are none, though the header of each
 *     has its size as well: pointers lead to other records further on in them;
 *   - hints set the length of the header (`header N;`);
 *   - at least MIN_BLOCKS blocks that typed pointers lead into at this offset have just
 *     the size of header and record, and nine of ten such pointers lead to such blocks.
 *     Then the whole program is taken to do so, and the evidence is "shape";
 *   - the same of the pointers to one type alone: other types may have another header, or
 *     none. If all these headers begin with the same 4 bytes, MIN_MARKED are enough.
 *
 * Nothing is known of the header itself: its words are read conservatively. If other
 * pointers give it a type of its own (the headers of a collector, in a list), header and
 * record are two objects, as in a pool.
 */
#include <string.h>

#include "base/search.h"
#include "decode/inference/propagation.h"

enum {
	MIN_MARKED = 3,	   /* blocks that show a header with the size or a mark in it */
	MIN_BLOCKS = 8,	   /* that show one without */
	MAX_BLOCKS = 256,  /* that are looked at for it */
	MAX_LOOKED = 4096, /* pointers, in all */
	MAX_PIECES = 64,   /* of a block that are looked at */
	MIN_PERCENT = 90,  /* of the pointers that could show it */
};

/* Bytes behind the header, by a word of it that is the size of the request, or of the
 * request and the header; 0: none is. */
static uint64_t read_request(struct hi_propagation_worker *w, uint64_t start,
			     uint64_t offset, uint64_t usable)
{
	const struct hi_block_sizes *sizes = &w->typing->layouts->sizes;

	for (uint64_t at = 0; at < offset; at += 8) {
		uint64_t word;

		if (!hi_propagation_read(w, start + at, &word) || word == 0 ||
		    word > usable)
			continue;
		if (hi_fit_is(sizes, offset + word, usable))
			return word;
		if (word > offset && hi_fit_is(sizes, word, usable))
			return word - offset;
	}
	return 0;
}

static const struct hi_type_header *find_type_header(const struct hi_propagation *s,
						     uint64_t offset,
						     const struct hi_layout *layout)
{
	for (unsigned i = 0; i < s->n_type_headers; i++)
		if (s->type_headers[i].offset == offset &&
		    s->type_headers[i].layout == layout->base)
			return &s->type_headers[i];
	return NULL;
}

bool hi_propagation_is_apart(const struct hi_propagation *s, uint64_t addr, hi_node id,
			     uint32_t index)
{
	const struct hi_typing *typing = s->typing;
	const struct hi_layout *layout = hi_layouts_get(typing->layouts, index);
	uint64_t offset = addr - hi_objects_address(typing->objects, id);
	const struct hi_type_header *header = find_type_header(s, offset, layout);

	return header && header->apart &&
	       hi_fit_is(&typing->layouts->sizes, offset + layout->size,
			 hi_object_usable(typing->objects, id));
}

bool hi_propagation_may_be_header(const struct hi_propagation *s,
				  const struct hi_layout *layout, uint64_t usable)
{
	const struct hi_layouts *layouts = s->typing->layouts;

	for (unsigned i = 0; i < s->n_type_headers; i++) {
		const struct hi_type_header *header = &s->type_headers[i];

		if (header->apart && header->offset >= layout->size &&
		    hi_fit_is(&layouts->sizes,
			      header->offset +
				      hi_layouts_get(layouts, header->layout)->size,
			      usable))
			return true;
	}
	return false;
}

static bool is_header_of(const struct hi_propagation *s, uint64_t offset,
			 const struct hi_layout *layout)
{
	const struct hi_type_header *header = find_type_header(s, offset, layout);

	return offset == s->header || (header && !header->apart);
}

static bool add_candidate_behind_header(struct hi_propagation_worker *w, uint64_t start,
					hi_node id, struct hi_layout_refinement what,
					uint32_t index, enum hi_evidence evidence)
{
	uint32_t refined = hi_layouts_refine(w->typing->layouts, index, &what);

	if (refined < HI_LAYOUT_FIRST)
		return false;
	hi_propagation_add_candidate(w, start, id, refined, evidence);
	return true;
}

/* Elements of so many bytes: counted where the bytes are just those of several, or of
 * text. */
static uint64_t count_elements(const struct hi_layout *layout, uint64_t bytes)
{
	if (!layout->size || layout->open_ended || bytes % layout->size ||
	    (bytes == layout->size && layout->klass == HI_TYPE_RECORD))
		return HI_COUNT_UNKNOWN;
	return bytes / layout->size;
}

static bool is_sized(const struct hi_propagation *s, uint64_t offset)
{
	return offset % 8 == 0 && offset >= 8 && offset <= HI_PROPAGATION_HEADER &&
	       (s->sized_headers >> (offset / 8 - 1) & 1);
}

bool hi_propagation_may_be_sized(struct hi_propagation_worker *w, uint64_t addr,
				 hi_node id, uint32_t index)
{
	const struct hi_objects *objects = w->typing->objects;
	const struct hi_layout *layout = hi_layouts_get(w->typing->layouts, index);
	uint64_t start = hi_objects_address(objects, id), offset = addr - start;

	return !layout->opaque && layout->size && offset % 8 == 0 &&
	       offset <= HI_PROPAGATION_HEADER &&
	       read_request(w, start, offset, hi_object_usable(objects, id)) >=
		       layout->size;
}

bool hi_propagation_add_behind_header(struct hi_propagation_worker *w, uint64_t addr,
				      hi_node id, uint32_t index,
				      enum hi_evidence evidence)
{
	const struct hi_typing *typing = w->typing;
	const struct hi_layout *layout = hi_layouts_get(typing->layouts, index);
	uint64_t start = hi_objects_address(typing->objects, id), offset = addr - start;
	uint64_t usable = hi_object_usable(typing->objects, id), bytes = 0;
	uint64_t hinted = typing->source.types.rules.block_header;
	struct hi_layout_refinement what = {
		.lead = offset, .count = HI_COUNT_UNKNOWN, .context = layout->context};

	if (layout->opaque || !layout->size || layout->lead ||
	    hi_layout_has_count(layout) || offset % 8 || offset >= usable ||
	    (offset > HI_PROPAGATION_HEADER && offset != hinted) ||
	    layout->size > usable - offset)
		return false;
	if (is_sized(w->propagation, offset))
		bytes = read_request(w, start, offset, usable);
	if (bytes >= layout->size)
		what.count = count_elements(layout, bytes);
	else if (offset == hinted)
		what.count = layout->klass == HI_TYPE_RECORD
				     ? HI_COUNT_UNKNOWN
				     : (usable - offset) / layout->size;
	else if (is_header_of(w->propagation, offset, layout) &&
		 layout->klass == HI_TYPE_RECORD &&
		 hi_fit_is(&w->typing->layouts->sizes, offset + layout->size, usable))
		evidence = HI_EVIDENCE_SHAPE;
	else
		return false;
	return add_candidate_behind_header(w, start, id, what, index, evidence);
}

/* ---- is there such a header? ---- */

/* Blocks with such a header, found from the interior pointers and from the records that
 * would lie behind it: often all of them are reached from one variable. */
struct trial {
	struct hi_propagation *propagation;
	uint64_t header;
	uint32_t only; /* base layout of the records that count; 0: all do */
	bool sized;
	struct trial_block {
		hi_node id;
		uint32_t layout;
		bool is_carved;
	} blocks[MAX_BLOCKS];
	size_t n;
	uint64_t others; /* typed pointers that lead elsewhere */
	uint64_t addr;	 /* of the record at hand */
};

static struct trial_block *find_trial_block(struct trial *t, hi_node id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->blocks[i].id == id)
			return &t->blocks[i];
	return NULL;
}

static bool shows_header(const struct trial *t, hi_node id, uint32_t index)
{
	const struct hi_typing *typing = t->propagation->typing;
	const struct hi_layout *layout = hi_layouts_get(typing->layouts, index);
	uint64_t usable = hi_object_usable(typing->objects, id);

	if (!t->sized)
		return hi_fit_is(&typing->layouts->sizes, t->header + layout->size,
				 usable);
	return read_request(t->propagation->workers[0],
			    hi_objects_address(typing->objects, id), t->header,
			    usable) >= layout->size;
}

/* A pointer to something of this layout, `offset` bytes into the block. */
static void count_pointer(struct trial *t, hi_node id, uint64_t offset, uint32_t index)
{
	const struct hi_layout *layout =
		hi_layouts_get(t->propagation->typing->layouts, index);

	if ((layout->klass != HI_TYPE_RECORD && !t->sized) || layout->opaque ||
	    !layout->size || (t->only && layout->base != t->only) || t->n == MAX_BLOCKS ||
	    t->n + t->others == MAX_LOOKED || find_trial_block(t, id))
		return;
	if (offset == t->header && shows_header(t, id, index))
		t->blocks[t->n++] = (struct trial_block){id, index, false};
	else if (offset == t->header || (offset == 0 && !t->sized) || t->only)
		t->others++;
}

/* The block that a word of the record at hand leads to. */
static hi_node find_pointee(struct trial *t, uint64_t offset,
			    struct hi_pointer_slot *slot, uint32_t *layout_ret,
			    uint64_t *inside_ret)
{
	struct hi_typing *typing = t->propagation->typing;
	uint64_t word;

	if (!slot || slot->kind != HI_POINTER_SLOT_TYPED ||
	    !hi_propagation_read(t->propagation->workers[0], t->addr + offset, &word))
		return HI_NODE_NONE;
	*layout_ret = hi_layouts_pointee(typing->layouts, slot);
	return *layout_ret < HI_LAYOUT_FIRST
		       ? HI_NODE_NONE
		       : hi_objects_find(typing->objects, word, inside_ret);
}

/* hi_word_fn */
static void try_pointer(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct trial *t = arg;
	uint64_t inside = 0;
	uint32_t layout;
	hi_node id = find_pointee(t, offset, slot, &layout, &inside);

	if (id != HI_NODE_NONE)
		count_pointer(t, id, inside, layout);
}

/* Is true if the block has none in a trial for all types; for one type, none that is
 * there. */
static bool may_be_header(const struct trial *t, const struct hi_interior *in)
{
	const struct hi_typing *typing = t->propagation->typing;

	return in->id != HI_NODE_NONE &&
	       (t->only ? hi_propagation_extent(typing, in->id) <= t->header
			: !(typing->objects->type[in->id] & HI_KEY_LAYOUT)) &&
	       in->addr - hi_objects_address(typing->objects, in->id) == t->header;
}

/* Pointers of such blocks at this offset. */
static void count_interior(struct trial *t)
{
	const struct hi_propagation_worker *w = t->propagation->workers[0];

	for (size_t i = 0;
	     i < w->interior.count && t->n < MAX_BLOCKS && t->n + t->others < MAX_LOOKED;
	     i++) {
		const struct hi_interior *in = &w->interior.items[i];

		if (may_be_header(t, in))
			count_pointer(t, in->id, t->header, in->key & HI_KEY_LAYOUT);
	}
}

/* Do most of its blocks have a type that ends before the record? */
static bool is_header_apart(const struct trial *t)
{
	size_t typed = 0;

	for (size_t i = 0; i < t->n; i++)
		typed += hi_propagation_extent(t->propagation->typing, t->blocks[i].id) >
			 0;
	return typed * 2 > t->n;
}

/* Do all headers begin with the same 4 bytes, a magic number or a tag? */
static bool have_one_mark(const struct trial *t)
{
	struct hi_propagation_worker *w = t->propagation->workers[0];
	const struct hi_objects *objects = t->propagation->typing->objects;
	uint64_t first, word;

	if (!t->n ||
	    !hi_propagation_read(w, hi_objects_address(objects, t->blocks[0].id),
				 &first) ||
	    !(uint32_t)first)
		return false;
	for (size_t i = 1; i < t->n; i++)
		if (!hi_propagation_read(w, hi_objects_address(objects, t->blocks[i].id),
					 &word) ||
		    (uint32_t)word != (uint32_t)first)
			return false;
	return true;
}

/* Two types that fill a block together are evidence enough. */
static size_t least_blocks(const struct trial *t)
{
	if (t->only && is_header_apart(t))
		return 1;
	return t->sized || (t->only && have_one_mark(t)) ? MIN_MARKED : MIN_BLOCKS;
}

/* The pointers of the records after the header, those of blocks that are found on the
 * way too. */
static void each_pointer(struct trial *t, hi_word_fn *fn)
{
	const struct hi_typing *typing = t->propagation->typing;

	for (size_t i = 0; i < t->n; i++) {
		const struct hi_layout *layout =
			hi_layouts_get(typing->layouts, t->blocks[i].layout);

		t->addr =
			hi_objects_address(typing->objects, t->blocks[i].id) + t->header;
		hi_layout_words_until(layout, false, true, layout->size, fn, t);
	}
}

/*
 * A block of an arena or pool begins with a header that has its size as well, and its
 * first piece lies after it. A record further on that is no part of an array of the
 * first one's type tells them apart.
 */
static void mark_carved(struct trial *t, hi_node id, uint64_t offset, uint32_t index)
{
	const struct hi_typing *typing = t->propagation->typing;
	const struct hi_layout *piece = hi_layouts_get(typing->layouts, index), *first;
	struct trial_block *block = find_trial_block(t, id);

	if (!block || piece->klass != HI_TYPE_RECORD || piece->opaque || !piece->size ||
	    hi_object_usable(typing->objects, id) < HI_SUBOBJECT_MIN_POOL)
		return;
	first = hi_layouts_get(typing->layouts, block->layout);
	if (offset >= t->header + first->size &&
	    !hi_layout_has_at(typing->layouts, first, (offset - t->header) % first->size,
			      piece))
		block->is_carved = true;
}

/* hi_word_fn */
static void mark_by_pointer(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct trial *t = arg;
	uint64_t inside = 0;
	uint32_t layout;
	hi_node id = find_pointee(t, offset, slot, &layout, &inside);

	if (id != HI_NODE_NONE)
		mark_carved(t, id, inside, layout);
}

/* The interior pointers that are left, sorted. */
static void mark_by_interior(struct trial *t, const struct trial_block *block)
{
	const struct hi_propagation_worker *w = t->propagation->workers[0];
	uint64_t start = hi_objects_address(t->propagation->typing->objects, block->id);
	size_t first = hi_search(i, w->interior.count,
				 w->interior.items[i].addr <= start + t->header);

	for (size_t i = first; i < w->interior.count && i - first < MAX_PIECES; i++) {
		const struct hi_interior *in = &w->interior.items[i];

		if (in->id != block->id)
			break;
		mark_carved(t, in->id, in->addr - start, in->key & HI_KEY_LAYOUT);
	}
}

/* Counts those that are carved as others. Returns how many are left. */
static size_t drop_carved(struct trial *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		mark_by_interior(t, &t->blocks[i]);
	each_pointer(t, mark_by_pointer);
	for (size_t i = 0; i < t->n; i++)
		kept += !t->blocks[i].is_carved;
	t->others += t->n - kept;
	return kept;
}

static bool is_header(struct trial *t)
{
	size_t n, least;

	count_interior(t);
	each_pointer(t, try_pointer);
	least = least_blocks(t);
	n = t->sized && t->n >= least ? drop_carved(t) : t->n;
	return n >= least && n * 100 >= (n + t->others) * MIN_PERCENT;
}

static bool add_candidates_behind_headers(struct hi_propagation *s)
{
	struct hi_propagation_worker *w = s->workers[0];
	bool any = false;

	for (size_t i = 0; i < w->interior.count; i++) {
		const struct hi_interior *in = &w->interior.items[i];

		if (in->id != HI_NODE_NONE)
			any |= hi_propagation_add_behind_header(
				w, in->addr, in->id, in->key & HI_KEY_LAYOUT,
				(enum hi_evidence)(in->key >> HI_KEY_EVIDENCE_SHIFT));
	}
	return any;
}

bool hi_propagation_find_sized_headers(struct hi_propagation *s)
{
	uint16_t before = s->sized_headers;

	for (uint64_t header = 8; header <= HI_PROPAGATION_HEADER; header += 8) {
		struct trial trial = {.propagation = s, .header = header, .sized = true};

		if (!is_sized(s, header) && is_header(&trial))
			s->sized_headers |= (uint16_t)(1u << (header / 8 - 1));
	}
	return s->sized_headers != before && add_candidates_behind_headers(s);
}

/* Is it worth a trial: the pointer to a record that just fits into the rest of its block,
 * if the block has no type there? */
static bool fits_behind_header(const struct hi_typing *typing,
			       const struct hi_interior *in)
{
	const struct hi_layout *layout =
		hi_layouts_get(typing->layouts, in->key & HI_KEY_LAYOUT);
	uint64_t offset;

	if (in->id == HI_NODE_NONE || layout->klass != HI_TYPE_RECORD || layout->opaque ||
	    !layout->size || hi_layout_has_count(layout))
		return false;
	offset = in->addr - hi_objects_address(typing->objects, in->id);
	return offset % 8 == 0 && offset && offset <= HI_PROPAGATION_HEADER &&
	       hi_fit_is(&typing->layouts->sizes, offset + layout->size,
			 hi_object_usable(typing->objects, in->id));
}

static bool was_tried(const struct hi_type_header *tried, unsigned n,
		      const struct trial *trial)
{
	for (unsigned i = 0; i < n; i++)
		if (tried[i].layout == trial->only && tried[i].offset == trial->header)
			return true;
	return false;
}

/* The interior pointers are sorted: what is found does not depend on threads. */
static bool find_type_headers(struct hi_propagation *s)
{
	const struct hi_typing *typing = s->typing;
	const struct hi_propagation_worker *w = s->workers[0];
	unsigned before = s->n_type_headers;
	struct hi_type_header tried[HI_TYPE_HEADERS];
	unsigned n_tried = 0;

	for (size_t i = 0; i < w->interior.count && n_tried < HI_TYPE_HEADERS; i++) {
		const struct hi_interior *in = &w->interior.items[i];
		struct trial trial = {.propagation = s};
		const struct hi_layout *layout;

		if (!fits_behind_header(typing, in))
			continue;
		layout = hi_layouts_get(typing->layouts, in->key & HI_KEY_LAYOUT);
		trial.only = layout->base;
		trial.header = in->addr - hi_objects_address(typing->objects, in->id);
		if (was_tried(tried, n_tried, &trial) ||
		    find_type_header(s, trial.header, layout))
			continue;
		tried[n_tried++] = (struct hi_type_header){
			.layout = trial.only, .offset = (uint32_t)trial.header};
		if (s->n_type_headers < HI_TYPE_HEADERS && is_header(&trial))
			s->type_headers[s->n_type_headers++] = (struct hi_type_header){
				trial.only, (uint32_t)trial.header,
				is_header_apart(&trial)};
	}
	return s->n_type_headers != before && add_candidates_behind_headers(s);
}

bool hi_propagation_find_header(struct hi_propagation *s)
{
	for (uint64_t header = 8; header <= HI_PROPAGATION_HEADER && !s->header;
	     header += 8) {
		struct trial trial = {.propagation = s, .header = header};

		if (is_header(&trial))
			s->header = header;
	}
	if (!s->header)
		return find_type_headers(s);
	if (s->header_asked)
		return false;
	s->header_asked = true;
	return add_candidates_behind_headers(s);
}
