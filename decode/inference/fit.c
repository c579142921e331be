/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/fit.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "decode/inference/typing_state.h"
#include "decode/layouts/record_parts.h"

enum {
	MAX_OPEN = 64,	   /* types still to be looked at */
	MAX_LOOKS = 512,   /* types looked at for one record */
	MAX_ELEMENTS = 64, /* of an array; a longer one may hold anything */
	TEXT_LOOKED_AT = 64,
	SHORTEST_TEXT = 3,
	WORDS_OF_TARGET = 8, /* of a block that a pointer leads to */
};

static bool read_fit_bytes(struct hi_typing *typing, uint64_t addr, void *to, size_t size)
{
	struct hi_memory_window window = {};
	const uint8_t *at =
		hi_memory_windows_at(&typing->memory_windows, &window, addr, size);

	if (!at)
		return hi_memory_read(typing->image->memory, addr, to, size, NULL) ==
		       HI_OK;
	memcpy(to, at, size);
	return true;
}

static bool leads_to_file(const struct hi_typing *typing, uint64_t word)
{
	const struct hi_mapping *m = word >> 47 || word < 4096
					     ? NULL
					     : hi_image_mapping_at(typing->image, word);

	return m && m->kind == HI_MAPPING_FILE;
}

/* Variables of a module without initial values lie behind its file's mapping. */
static bool is_in_module(const struct hi_typing *typing, uint64_t word)
{
	return leads_to_file(typing, word) ||
	       (word >= 4096 && !(word >> 47) && typing->modules &&
		hi_modules_at(typing->modules, word) != NULL);
}

bool hi_fit_read(struct hi_typing *typing, const struct hi_objects *objects, hi_node node,
		 struct hi_fit_block *b)
{
	const struct hi_objects *o = objects;
	uint64_t n;

	*b = (struct hi_fit_block){.node = node,
				   .address = hi_objects_address(o, node),
				   .usable = hi_object_usable(o, node)};
	n = b->usable / 8;
	b->n_words = (uint32_t)(n < HI_FIT_WORDS ? n : HI_FIT_WORDS);
	if (!read_fit_bytes(typing, b->address, b->words, 8ul * b->n_words))
		return false;
	for (uint32_t i = 0; i < b->n_words; i++) {
		uint64_t word = b->words[i], bit = 1ull << i;

		if (!word)
			continue;
		if (hi_objects_find(o, word, NULL) != HI_NODE_NONE)
			b->objects |= bit;
		else if (is_in_module(typing, word))
			b->modules |= bit;
		else
			b->plain |= bit;
	}
	b->text = b->plain & 1 &&
		  hi_looks_like_text((const uint8_t *)b->words, 8ul * b->n_words) &&
		  strlen((const char *)b->words) >= SHORTEST_TEXT;
	return true;
}

/* ---- records ---- */

struct flattening {
	const struct hi_typing *typing;
	struct hi_fit_record *record;
	struct {
		hi_type_id type;
		uint64_t offset;
		bool is_vptr;
	} open[MAX_OPEN];
	unsigned n_open, looks;
	bool failed;
};

static const struct hi_type *type_of_fit(const struct hi_typing *typing, hi_type_id id)
{
	return hi_type_source_get(&typing->source.types, id);
}

static void open_member(struct flattening *f, hi_type_id type, uint64_t offset,
			bool is_vptr)
{
	if (offset >= f->record->size)
		return;
	if (f->n_open == MAX_OPEN) {
		f->failed = true;
		return;
	}
	f->open[f->n_open].type = type;
	f->open[f->n_open].is_vptr = is_vptr;
	f->open[f->n_open++].offset = offset;
}

static void add_fit_leaf(struct flattening *f, uint64_t offset, uint64_t size,
			 enum hi_fit_kind kind, hi_type_id target)
{
	struct hi_fit_record *r = f->record;

	if (!size)
		return;
	if (offset + size > r->size)
		size = r->size - offset;
	if (r->n == HI_FIT_LEAVES) {
		f->failed = true;
		return;
	}
	r->leaves[r->n++] =
		(struct hi_fit_leaf){(uint32_t)offset, (uint32_t)size, kind, target};
}

static void open_elements(struct flattening *f, const struct hi_type *array,
			  uint64_t offset)
{
	const struct hi_type *element = type_of_fit(f->typing, array->target);

	if (element->kind == HI_KIND_CHAR || element->size == 0)
		add_fit_leaf(f, offset, array->size,
			     element->size ? HI_FIT_CHARS : HI_FIT_ANY, 0);
	else if (array->count > MAX_ELEMENTS ||
		 array->size != array->count * element->size)
		add_fit_leaf(f, offset, array->size, HI_FIT_ANY, 0);
	else
		for (uint64_t i = 0; i < array->count && !f->failed; i++)
			open_member(f, array->target, offset + i * element->size, false);
}

static void open_members_of(struct flattening *f, const struct hi_type *type,
			    uint64_t offset)
{
	for (uint32_t i = 0; i < type->n_members && !f->failed; i++) {
		const struct hi_member *m = &type->members[i];

		if (m->bit_size)
			add_fit_leaf(f, offset + m->offset, 1, HI_FIT_ANY, 0);
		else
			open_member(f, m->type, offset + m->offset, m->is_vptr);
	}
}

static void flatten_one(struct flattening *f, const struct hi_type *type, uint64_t offset,
			bool is_vptr)
{
	switch (type->kind) {
	case HI_KIND_STRUCT:
		open_members_of(f, type, offset);
		break;
	case HI_KIND_ARRAY:
		open_elements(f, type, offset);
		break;
	case HI_KIND_POINTER:
		add_fit_leaf(f, offset, 8,
			     is_vptr || type_of_fit(f->typing, type->target)->kind ==
						     HI_KIND_FUNCTION
				     ? HI_FIT_CODE
				     : HI_FIT_POINTER,
			     type->target);
		break;
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
		add_fit_leaf(f, offset, type->size, HI_FIT_INTEGER, 0);
		break;
	case HI_KIND_FLOAT:
		add_fit_leaf(f, offset, type->size, HI_FIT_FLOAT, 0);
		break;
	default:
		add_fit_leaf(f, offset, type->size ? type->size : 8, HI_FIT_ANY, 0);
	}
}

bool hi_fit_flatten(const struct hi_typing *typing, const struct hi_type *type,
		    struct hi_fit_record *ret)
{
	struct flattening f = {.typing = typing, .record = ret};

	ret->type = type;
	ret->n = 0;
	ret->open = false;
	ret->size = type->size < 8 * HI_FIT_WORDS ? type->size : 8 * HI_FIT_WORDS;
	if (!type->size || type->kind != HI_KIND_STRUCT)
		return false;
	open_members_of(&f, type, 0);
	while (f.n_open && !f.failed && f.looks++ < MAX_LOOKS) {
		unsigned i = --f.n_open;

		flatten_one(&f, type_of_fit(typing, f.open[i].type), f.open[i].offset,
			    f.open[i].is_vptr);
	}
	return !f.failed && !f.n_open && ret->n;
}

/* ---- one block ---- */

/* While types are propagated, the type column holds keys (type_key.h). */
static uint32_t layout_of_target(const struct hi_typing *typing, hi_node node)
{
	return typing->layout_of_type ? hi_typing_layout_of(typing, node)
				      : typing->objects->type[node] & HI_KEY_LAYOUT;
}

/* UNLIKELY: possible, but not what the pointer's type says. */
enum pointer_fit { CONTRADICTS, UNLIKELY, LOOSE, EXACT };

static bool is_text_at(struct hi_typing *typing, uint64_t addr, uint64_t size)
{
	uint8_t text[TEXT_LOOKED_AT + 1] = {};

	if (size > TEXT_LOOKED_AT)
		size = TEXT_LOOKED_AT;
	return read_fit_bytes(typing, addr, text, size) &&
	       hi_looks_like_text(text, sizeof(text));
}

static enum pointer_fit fit_header(struct hi_typing *typing, const struct hi_type *has,
				   const struct hi_type *target, uint64_t offset)
{
	return offset == 0 && hi_record_has_header(&typing->source.types, target, has)
		       ? LOOSE
		       : CONTRADICTS;
}

/* Is an object of this layout one of `target`, or does it begin with one? */
static enum pointer_fit fit_typed_target(struct hi_typing *typing, uint32_t index,
					 const struct hi_type *target, uint64_t offset)
{
	const struct hi_layout *layout = hi_layouts_get(typing->layouts, index);
	uint32_t wanted = hi_layouts_of(typing->layouts, target->id);

	if (wanted < HI_LAYOUT_FIRST)
		return LOOSE;
	if (hi_layouts_get(typing->layouts, wanted)->base == layout->base && offset == 0)
		return EXACT;
	if (!layout->type)
		return LOOSE;
	if (hi_layout_has_at(typing->layouts, layout, offset,
			     hi_layouts_get(typing->layouts, wanted)))
		return EXACT;
	if (offset == 0 &&
	    hi_record_has_header(&typing->source.types, layout->type, target))
		return EXACT;
	/* A base class, or a record of which only the beginning is known. */
	return offset == 0 && hi_layout_starts_with(
				      typing->layouts,
				      hi_layouts_get(typing->layouts, wanted), layout,
				      false)
		       ? LOOSE
		       : fit_header(typing, layout->type, target, offset);
}

static bool begins_with_chars(const struct hi_typing *typing, const struct hi_type *type)
{
	const struct hi_type *first;

	if (!type->n_members || type->members[0].offset)
		return false;
	first = hi_type_source_get(&typing->source.types, type->members[0].type);
	return first->kind == HI_KIND_ARRAY &&
	       hi_type_source_get(&typing->source.types, first->target)->kind ==
		       HI_KIND_CHAR;
}

/* Do pointers to objects lie in it where the record has some, and nowhere else? */
static bool has_pointers_of(struct hi_typing *typing, const struct hi_objects *objects,
			    hi_node to, const struct hi_type *target)
{
	uint64_t words[WORDS_OF_TARGET], size = sizeof(words), inside, allowed = 0;
	uint32_t index = hi_layouts_of(typing->layouts, target->id);
	const struct hi_layout *layout;

	if (index < HI_LAYOUT_FIRST)
		return false;
	layout = hi_layouts_get(typing->layouts, index);
	if (size > target->size)
		size = target->size & ~(uint64_t)7;
	if (!read_fit_bytes(typing, hi_objects_address(objects, to), words, size))
		return false;
	for (uint32_t i = 0; i < layout->n_slots; i++)
		for (uint64_t k = 0, at = layout->slots[i].offset;
		     at < size && k < layout->slots[i].count;
		     k++, at += layout->slots[i].stride)
			allowed |= 1ull << at / 8;
	for (uint32_t i = 0; i < size / 8; i++)
		if (words[i] && !hi_bit(&allowed, i) &&
		    hi_objects_find(objects, words[i], &inside) != HI_NODE_NONE)
			return false;
	return !hi_looks_like_text((const uint8_t *)words, size) ||
	       (size && ((const uint8_t *)words)[SHORTEST_TEXT - 1] == 0) ||
	       begins_with_chars(typing, target);
}

static enum pointer_fit fit_record_target(struct hi_typing *typing,
					  const struct hi_objects *objects, hi_node to,
					  uint64_t offset, const struct hi_type *target)
{
	uint64_t usable = hi_object_usable(objects, to);
	uint32_t layout = layout_of_target(typing, to);

	/* Memory for one record of a union is enough. */
	if (offset + target->size > usable)
		return target->kind == HI_KIND_UNION ? LOOSE : CONTRADICTS;
	if (layout >= HI_LAYOUT_FIRST)
		return fit_typed_target(typing, layout, target, offset);
	if (offset)
		return LOOSE;
	if (!has_pointers_of(typing, objects, to, target))
		return UNLIKELY;
	return hi_fit_is(&typing->layouts->sizes, target->size, usable) ? EXACT : LOOSE;
}

/* A block of pointers: each that is looked at is 0 or leads to an object. */
static enum pointer_fit fit_pointers_target(struct hi_typing *typing,
					    const struct hi_objects *objects, hi_node to,
					    uint64_t offset)
{
	uint64_t words[WORDS_OF_TARGET], inside;
	uint64_t usable = hi_object_usable(objects, to) - offset, size = sizeof(words);
	unsigned found = 0;

	if (size > usable)
		size = usable & ~(uint64_t)7;
	if (!read_fit_bytes(typing, hi_objects_address(objects, to) + offset, words,
			    size))
		return LOOSE;
	for (uint64_t i = 0; i < size / 8; i++) {
		if (!words[i])
			continue;
		if (hi_objects_find(objects, words[i], &inside) == HI_NODE_NONE || inside)
			return LOOSE;
		found++;
	}
	return found ? EXACT : LOOSE;
}

static enum pointer_fit fit_object_pointer(struct hi_typing *typing,
					   const struct hi_objects *objects,
					   uint64_t word, const struct hi_type *target)
{
	uint64_t offset;
	hi_node to = hi_objects_find(objects, word, &offset);
	uint32_t layout = layout_of_target(typing, to);
	uint64_t usable = hi_object_usable(objects, to);

	switch (target->kind) {
	case HI_KIND_FUNCTION:
		return CONTRADICTS;
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
		return target->size
			       ? fit_record_target(typing, objects, to, offset, target)
			       : LOOSE;
	case HI_KIND_POINTER:
		return fit_pointers_target(typing, objects, to, offset);
	case HI_KIND_CHAR:
		if (is_text_at(typing, word, usable - offset))
			return EXACT;
		/* The text of another record's member may be what it leads to. */
		return layout >= HI_LAYOUT_FIRST && offset == 0 &&
				       hi_layouts_get(typing->layouts, layout)->klass ==
					       HI_TYPE_RECORD
			       ? CONTRADICTS
			       : UNLIKELY;
	default:
		return offset + target->size > usable ? CONTRADICTS : LOOSE;
	}
}

static enum pointer_fit fit_pointer(struct hi_typing *typing,
				    const struct hi_objects *objects,
				    const struct hi_fit_block *b, uint32_t i,
				    const struct hi_fit_leaf *leaf)
{
	const struct hi_type *target = type_of_fit(typing, leaf->target);

	if (leaf->kind == HI_FIT_CODE)
		return hi_bit(&b->modules, i) && leads_to_file(typing, b->words[i])
			       ? EXACT
			       : CONTRADICTS;
	if (hi_bit(&b->objects, i))
		return fit_object_pointer(typing, objects, b->words[i], target);
	if (hi_bit(&b->modules, i))
		return LOOSE;
	/* Memory between objects: its object was freed. */
	return b->words[i] >= objects->low && b->words[i] < objects->high ? LOOSE
									  : CONTRADICTS;
}

/* ---- numbers and texts ---- */

static bool is_likely_float(const uint8_t *bytes, uint32_t size)
{
	double value = NAN;
	float narrow;

	if (size == sizeof(value)) {
		memcpy(&value, bytes, sizeof(value));
	} else if (size == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		value = (double)narrow;
	}
	value = fabs(value);
	return value >= 1e-9 && value <= 1e15;
}

static bool is_printable_run(const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (bytes[i] < 0x20 || bytes[i] > 0x7e)
			return false;
	return true;
}

/* Numbers of programs are counts, sizes, times, flags: far from the ends. */
static bool is_likely_integer(const uint8_t *bytes, uint32_t size)
{
	int64_t value = 0;
	int32_t narrow;

	if (size > 8 || (size > 2 && is_printable_run(bytes, size)))
		return false;
	if (size < 4)
		return true;
	memcpy(&value, bytes, size);
	if (size == 4) {
		memcpy(&narrow, bytes, sizeof(narrow));
		return narrow >= -(1 << 24);
	}
	return value >= -(1ll << 40) && value < 1ll << 48;
}

static bool is_zeroed(const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static void add_number(const struct hi_fit_leaf *leaf, const uint8_t *bytes,
		       struct hi_fit_score *s)
{
	if (is_zeroed(bytes, leaf->size))
		return;
	switch (leaf->kind) {
	case HI_FIT_FLOAT:
		s->marked += is_likely_float(bytes, leaf->size);
		s->strange += !is_likely_float(bytes, leaf->size);
		break;
	case HI_FIT_CHARS:
		s->marked += leaf->size >= SHORTEST_TEXT && bytes[0] >= 0x20 &&
			     bytes[1] >= 0x20 && hi_looks_like_text(bytes, leaf->size);
		break;
	case HI_FIT_INTEGER:
		s->plain += is_likely_integer(bytes, leaf->size);
		s->strange += !is_likely_integer(bytes, leaf->size);
		break;
	default:
		break;
	}
}

/* Bytes behind the NUL of a text may be anything, pointers too. */
static bool may_hold_pointer(const struct hi_fit_leaf *leaf)
{
	return leaf->kind == HI_FIT_ANY || leaf->kind == HI_FIT_CHARS;
}

static void add_fit_words(struct hi_typing *typing, const struct hi_objects *objects,
			  const struct hi_fit_record *r, const struct hi_fit_block *b,
			  struct hi_fit_score *s)
{
	uint64_t pointers = b->objects | b->modules, allowed = 0;

	for (uint32_t k = 0; k < r->n; k++) {
		const struct hi_fit_leaf *leaf = &r->leaves[k];
		uint32_t first = leaf->offset / 8;
		uint32_t last = (leaf->offset + leaf->size - 1) / 8;

		if (last >= b->n_words) {
			s->contradicted |= last > b->n_words;
			continue;
		}
		if (leaf->kind <= HI_FIT_CODE && leaf->offset % 8 == 0) {
			enum pointer_fit fit =
				b->words[first]
					? fit_pointer(typing, objects, b, first, leaf)
					: LOOSE;

			s->contradicted |= fit == CONTRADICTS;
			s->exact += fit == EXACT;
			s->loose += fit == LOOSE && b->words[first];
			s->strange += fit == UNLIKELY;
			allowed |= 1ull << first;
		} else if (may_hold_pointer(leaf)) {
			for (uint32_t i = first; i <= last; i++)
				allowed |= 1ull << i;
		}
		if (leaf->kind > HI_FIT_CODE)
			add_number(leaf, (const uint8_t *)b->words + leaf->offset, s);
	}
	/* Padding counts as a member that holds no pointer. */
	for (uint32_t i = 0; i < b->n_words && 8ul * i < r->size; i++)
		s->contradicted |= hi_bit(&pointers, i) && !hi_bit(&allowed, i);
}

static bool begins_with_text(const struct hi_fit_record *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->leaves[i].offset == 0 && may_hold_pointer(&r->leaves[i]))
			return true;
	return false;
}

void hi_fit_add(struct hi_typing *typing, const struct hi_objects *objects,
		const struct hi_fit_record *r, const struct hi_fit_block *b,
		struct hi_fit_score *s)
{
	bool tail = false;

	s->blocks++;
	for (uint32_t i = (uint32_t)((r->type->size + 7) / 8); i < b->n_words && !r->open;
	     i++)
		tail |= b->words[i] != 0;
	s->tails += tail;
	s->contradicted |= b->text && !b->objects && !begins_with_text(r);
	add_fit_words(typing, objects, r, b, s);
}

/*
 * Note [Fits]
 *
 * Pointers that lead to what their type says are the best evidence. Where a block has no
 * pointer, any record without pointers has the same layout: then numbers have to be
 * likely ones, with a text or a floating point number among them, or most of the block
 * has to be in use.
 */
uint32_t hi_fit_points(const struct hi_fit_score *s)
{
	uint32_t points = 8 * s->exact + 2 * s->loose + 2 * s->marked + s->plain;

	if (s->contradicted || !s->blocks || (s->tails == s->blocks && s->blocks > 1))
		return 0;
	if (s->exact + s->loose)
		return points > s->strange ? points - s->strange : 1;
	if (s->strange || s->tails)
		return 0;
	if (s->marked)
		return points;
	return s->plain >= 2 * s->blocks ? points : 0;
}
