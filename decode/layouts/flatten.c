/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Flattening]
 *
 * A type is flattened with a list of work items {type, offset, count, stride}:
 * "this type lies count times, stride bytes apart, from offset on". A record
 * passes its repetition on to its members, an array adds one dimension. Two
 * dimensions do not fit into an item: the smaller one is written out, and where
 * even that is too much (MAX_EXPAND) the whole extent becomes raw words, which
 * loses names but no edge. Items are bounded (MAX_ITEMS), so a type that
 * contains itself ends there too: hostile DWARF, treated as all raw.
 *
 * A record with rules (rules.h) is a rule site: its rules are asked when an object is
 * at hand, and the words that they name get no slots.
 *
 * Words in unions overlap. A word with two pointer members keeps one slot whose
 * pointee is unknown unless they agree, and the pointees are kept aside: the block
 * that it leads to may fit only one of them. A pointer covers raw storage. A pointer
 * that shares its word with a number of 4 or 8 bytes is marked (number_size): glibc's
 * tunables hold sizes of caches there, and its locales numbers, which in a program at
 * low addresses look like addresses inside its heap. Beside a pointer to a record a
 * number is a size or a count, below 4 GiB: lists in unions go on through free slots.
 *
 * An integer of 8 bytes that is an argument of the template around it may be an
 * address: compilers drop typedefs there, so `std::atomic<uintptr_t>` is
 * `std::atomic<unsigned long>`. Its members of that type are raw words.
 */
#include "decode/layouts/flatten.h"

#include <stdlib.h>

enum { MAX_ITEMS = 1 << 16, MAX_SLOTS = 1 << 14, MAX_EXPAND = 256 };

struct item {
	hi_type_id type;
	uint64_t offset, count, stride;
	/* Of the record around it: words that its rules name are left out. The item
	 * lies `within` bytes into that record. NULL: none. */
	const struct hi_rules *cover;
	uint64_t within;
	bool in_template; /* see above: an integer that may be an address */
	bool in_union;
};

struct flatten {
	const struct hi_type_source *types;
	uint64_t size; /* of the whole type */
	struct HI_VECTOR(struct item) items;
	struct hi_pointer_slots slots;
	struct hi_rule_sites rule_sites;
	struct hi_pointer_slots either;	    /* pointers of unions that disagree */
	struct hi_pointer_slots numbers[2]; /* in unions: of 4 bytes, and of 8 */
	uint32_t visited;
	bool too_complex, no_memory;
};

static void push_item(struct flatten *f, struct item item)
{
	if (f->visited + f->items.count >= MAX_ITEMS)
		f->too_complex = true;
	else if (!hi_vector_push(&f->items, item))
		f->no_memory = true;
}

static void emit_slot(struct flatten *f, struct hi_pointer_slot slot)
{
	bool to_end = slot.count == HI_POINTER_SLOT_TO_END;

	if (!slot.count || slot.stride == 0)
		return;
	if (!to_end) {
		if (slot.offset > f->size || f->size - slot.offset < 8)
			return; /* hostile: outside its own type */
		if ((f->size - slot.offset - 8) / slot.stride < slot.count - 1)
			slot.count = (f->size - slot.offset - 8) / slot.stride + 1;
	}
	if (f->slots.count >= MAX_SLOTS)
		f->too_complex = true;
	else if (!hi_vector_push(&f->slots, slot))
		f->no_memory = true;
}

static void emit_word(struct flatten *f, const struct item *at,
		      enum hi_pointer_slot_kind kind, hi_type_id pointee)
{
	emit_slot(f, (struct hi_pointer_slot){.offset = at->offset,
					      .count = at->count,
					      .stride = at->count == 1 ? 8 : at->stride,
					      .kind = kind,
					      .pointee = pointee});
}

static void emit_address(struct flatten *f, const struct item *at)
{
	emit_slot(f, (struct hi_pointer_slot){.offset = at->offset,
					      .count = at->count,
					      .stride = at->count == 1 ? 8 : at->stride,
					      .kind = HI_POINTER_SLOT_RAW,
					      .is_integer = true});
}

static void note_number(struct flatten *f, const struct item *at, uint64_t size)
{
	struct hi_pointer_slots *numbers = &f->numbers[size == 8];

	if (!at->in_union || (size != 4 && size != 8) || numbers->count >= MAX_SLOTS)
		return;
	if (!hi_vector_push(numbers, ((struct hi_pointer_slot){
					     .offset = at->offset,
					     .count = at->count,
					     .stride = at->count == 1 ? 8 : at->stride})))
		f->no_memory = true;
}

/* All aligned words of [start, end) as one raw run. */
static void emit_raw_run(struct flatten *f, uint64_t start, uint64_t end)
{
	uint64_t first = (start + 7) & ~(uint64_t)7;

	if (end < first || end - first < 8)
		return;
	emit_slot(f, (struct hi_pointer_slot){.offset = first,
					      .count = (end - first) / 8,
					      .stride = 8,
					      .kind = HI_POINTER_SLOT_RAW});
}

/* The extent of count repetitions of `size` bytes each, cut at the type's end. */
static uint64_t extent_end(const struct flatten *f, const struct item *at, uint64_t size)
{
	uint64_t span, end;

	if (at->count == HI_POINTER_SLOT_TO_END ||
	    __builtin_mul_overflow(at->count - 1, at->stride, &span) ||
	    __builtin_add_overflow(at->offset + size, span, &end) || end > f->size)
		return f->size;
	return end;
}

static void emit_raw(struct flatten *f, const struct item *at, uint64_t size)
{
	uint64_t words = size / 8;

	if (at->count == HI_POINTER_SLOT_TO_END) {
		emit_slot(f, (struct hi_pointer_slot){.offset = (at->offset + 7) &
								~(uint64_t)7,
						      .count = HI_POINTER_SLOT_TO_END,
						      .stride = 8,
						      .kind = HI_POINTER_SLOT_RAW});
	} else if (at->count == 1 || at->stride % 8 || at->offset % 8 ||
		   words > MAX_EXPAND) {
		emit_raw_run(f, at->offset, extent_end(f, at, size));
	} else {
		for (uint64_t i = 0; i < words; i++)
			emit_word(f,
				  &(struct item){.offset = at->offset + 8 * i,
						 .count = at->count,
						 .stride = at->stride},
				  HI_POINTER_SLOT_RAW, 0);
	}
}

/* ---- rules ---- */

/* Do rules of the record around it name something in this item? */
static bool is_covered(const struct flatten *f, const struct item *at, uint64_t size)
{
	for (uint32_t i = 0; at->cover && i < at->cover->n; i++) {
		const struct hi_rule *rule = &at->cover->items[i];
		const struct hi_type *named =
			hi_type_source_get(f->types, hi_code_type(rule->lvalue));
		uint64_t n = named->size ? named->size : 1;

		if (rule->is_static && rule->offset < at->within + size &&
		    at->within < rule->offset + n)
			return true;
	}
	return false;
}

/* Do they name all of this item? Then its members are not flattened. */
static bool is_inside(const struct flatten *f, const struct item *at, uint64_t size)
{
	for (uint32_t i = 0; at->cover && size && i < at->cover->n; i++) {
		const struct hi_rule *rule = &at->cover->items[i];
		const struct hi_type *named =
			hi_type_source_get(f->types, hi_code_type(rule->lvalue));

		if (rule->is_static && rule->offset <= at->within &&
		    at->within - rule->offset + size <= named->size)
			return true;
	}
	return false;
}

static const struct hi_rules *rules_of_type(const struct flatten *f, hi_type_id type)
{
	const struct hi_rule_source *source = &f->types->rules;

	return source->rules ? source->rules(source->arg, type) : NULL;
}

static void add_rule_site(struct flatten *f, const struct item *at,
			  const struct hi_rules *rules, uint64_t size)
{
	struct hi_rule_site site = {at->offset, at->count,
				    at->count == 1 ? size : at->stride, rules};

	if (!rules->n || !site.count || !site.stride || at->offset > f->size)
		return;
	if (f->rule_sites.count >= MAX_SLOTS)
		f->too_complex = true;
	else if (!hi_vector_push(&f->rule_sites, site))
		f->no_memory = true;
}

/* Is this type, or that of its elements, an integer that is an argument of record? */
static bool is_template_integer(const struct flatten *f, const struct hi_type *record,
				const struct hi_type *type)
{
	if (!record->n_args)
		return false;
	if (type->kind == HI_KIND_ARRAY)
		type = hi_type_source_get(f->types, type->target);
	if (!(type->kind == HI_KIND_INTEGER && type->size == 8))
		return false;
	for (uint32_t i = 0; i < record->n_args; i++)
		if (record->args[i].type &&
		    hi_type_source_get(f->types, record->args[i].type)->id == type->id)
			return true;
	return false;
}

/* True: only the rules are followed. */
static bool visit_rules(struct flatten *f, const struct item *at,
			const struct hi_type *type, const struct hi_rules *rules)
{
	if (rules->same_as && rules->same_as != type->id &&
	    hi_type_source_get(f->types, rules->same_as)->size) {
		push_item(f, (struct item){.type = rules->same_as,
					   .offset = at->offset,
					   .count = at->count,
					   .stride = at->stride,
					   .in_union = at->in_union,
					   .in_template = is_template_integer(
						   f, type,
						   hi_type_source_get(f->types,
								      rules->same_as))});
		return true;
	}
	add_rule_site(f, at, rules, type->size);
	return rules->only || type->kind == HI_KIND_POINTER;
}

static bool is_undefined(const struct hi_type *type)
{
	return type->size == 0 &&
	       (type->kind == HI_KIND_DECLARATION || type->kind == HI_KIND_UNKNOWN);
}

/* What is only declared may be pointers, up to the next member. Clang leaves the
 * definition of std::string to a library that has no debug information. */
static void visit_undefined(struct flatten *f, const struct item *member,
			    const struct hi_type *type, uint32_t index)
{
	uint64_t start = type->members[index].offset, end = type->size;
	uint64_t skip = -start & 7;
	struct item raw = *member;

	for (uint32_t i = index + 1; i < type->n_members && i < index + 64; i++)
		if (type->members[i].offset > start) {
			end = type->members[i].offset;
			break;
		}
	if (end > type->size || start + skip + 8 > end ||
	    is_covered(f, member, end - start))
		return;
	raw.offset += skip;
	emit_raw(f, &raw, end - start - skip);
}

static void visit_record(struct flatten *f, const struct item *at,
			 const struct hi_type *type, const struct hi_rules *rules)
{
	/* Rules without a statement leave its words to those of what it lies in. */
	bool own = rules && rules->n;
	const struct hi_rules *cover = own ? rules : at->cover;
	uint64_t within = own ? 0 : at->within;

	for (uint32_t i = 0; i < type->n_members && !f->too_complex; i++) {
		const struct hi_member *m = &type->members[i];
		struct item item;

		if (m->bit_size || m->is_vptr)
			continue;
		item = (struct item){
			m->type,
			at->offset + m->offset,
			at->count,
			at->stride,
			cover,
			within + m->offset,
			is_template_integer(f, type,
					    hi_type_source_get(f->types, m->type)),
			at->in_union || type->kind == HI_KIND_UNION};
		if (is_undefined(hi_type_source_get(f->types, m->type)))
			visit_undefined(f, &item, type, i);
		else
			push_item(f, item);
	}
}

/* One more dimension: n elements of `size` bytes. n * size does not wrap. */
static void visit_elements(struct flatten *f, const struct item *at, hi_type_id element,
			   uint64_t n, uint64_t size)
{
	uint64_t all;

	if (at->count == 1) {
		push_item(f, (struct item){element, at->offset, n, size, NULL, 0,
					   at->in_template, at->in_union});
	} else if (at->count != HI_POINTER_SLOT_TO_END && at->stride == n * size &&
		   !__builtin_mul_overflow(at->count, n, &all)) {
		push_item(f, (struct item){element, at->offset, all, size, NULL, 0,
					   at->in_template, at->in_union});
	} else if (n > MAX_EXPAND && at->count > MAX_EXPAND) {
		emit_raw_run(f, at->offset, extent_end(f, at, n * size));
	} else if (n <= at->count) {
		for (uint64_t i = 0; i < n; i++)
			push_item(f, (struct item){element, at->offset + i * size,
						   at->count, at->stride, NULL, 0,
						   at->in_template, at->in_union});
	} else {
		for (uint64_t i = 0; i < at->count; i++)
			push_item(f, (struct item){element, at->offset + i * at->stride,
						   n, size, NULL, 0, at->in_template,
						   at->in_union});
	}
}

static void visit_array(struct flatten *f, const struct item *at,
			const struct hi_type *type)
{
	const struct hi_type *element = hi_type_source_get(f->types, type->target);
	bool flexible = type->flexible || type->count == 0;
	bool at_the_end = at->offset <= f->size && f->size - at->offset < 8;
	uint64_t bytes;

	/* `item *p[1]` at the end is how flexible arrays were written before C99. */
	if (type->count == 1 && at->offset && at->count == 1 && f->size > at->offset &&
	    f->size - at->offset - element->size < 8 && element->kind != HI_KIND_CHAR)
		flexible = at_the_end = true;

	if (element->kind == HI_KIND_CHAR && (flexible || type->count >= 8)) {
		struct item raw = *at;

		if (flexible && (at->count != 1 || !at_the_end))
			return;
		if (flexible)
			raw.count = HI_POINTER_SLOT_TO_END;
		emit_raw(f, &raw, type->count);
		return;
	}
	if (element->size == 0)
		return;
	if (flexible) {
		if (at->count == 1 && at_the_end)
			push_item(f,
				  (struct item){type->target, at->offset,
						HI_POINTER_SLOT_TO_END, element->size,
						NULL, 0, at->in_template, at->in_union});
		return;
	}
	/* Elements of a flexible array lie after the type's own bytes. */
	if (__builtin_mul_overflow(type->count, element->size, &bytes) ||
	    bytes > (at->count == HI_POINTER_SLOT_TO_END ? at->stride : f->size)) {
		f->too_complex = true; /* hostile: larger than what contains it */
		return;
	}
	visit_elements(f, at, type->target, type->count, element->size);
}

static void visit_flattened_type(struct flatten *f, const struct item *at)
{
	const struct hi_type *type = hi_type_source_get(f->types, at->type);
	const struct hi_rules *rules = rules_of_type(f, type->id);
	bool is_record = type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION;

	if (is_record ? is_inside(f, at, type->size) : is_covered(f, at, type->size))
		return;
	if (rules && visit_rules(f, at, type, rules))
		return;
	switch (type->kind) {
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
		visit_record(f, at, type, rules);
		return;
	case HI_KIND_ARRAY:
		visit_array(f, at, type);
		return;
	case HI_KIND_POINTER:
		if (type->size == 8)
			emit_word(f, at, HI_POINTER_SLOT_TYPED, type->target);
		return;
	case HI_KIND_ADDRESS:
		if (type->size == 8)
			emit_address(f, at);
		return;
	case HI_KIND_UNKNOWN:
		if (at->count != HI_POINTER_SLOT_TO_END)
			emit_raw(f, at, type->size);
		return;
	case HI_KIND_INTEGER:
		if (at->in_template && type->size == 8)
			emit_address(f, at);
		else
			note_number(f, at, type->size);
		return;
	case HI_KIND_FLOAT:
		note_number(f, at, type->size);
		return;
	case HI_KIND_VOID:
	case HI_KIND_CHAR:
	case HI_KIND_FUNCTION:
	case HI_KIND_DECLARATION:
		return;
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct hi_pointer_slot *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->pointee < y->pointee ? -1 : x->pointee > y->pointee;
}

static bool covers_more_than_one(const struct hi_pointer_slot *s)
{
	return s->count > 1;
}

static uint64_t slot_end(const struct hi_pointer_slot *s)
{
	return s->count == HI_POINTER_SLOT_TO_END
		       ? UINT64_MAX
		       : s->offset + (s->count - 1) * s->stride + 8;
}

/* Does the word at offset overlap one of the run? */
static bool run_touches_word(const struct hi_pointer_slot *run, uint64_t offset)
{
	uint64_t d;

	if (offset + 8 <= run->offset || offset >= slot_end(run))
		return false;
	if (offset < run->offset)
		return true;
	d = (offset - run->offset) % run->stride;
	return d < 8 || run->stride - d < 8;
}

/* Do two runs share a word? Runs of one array of records interleave without. */
static bool share_words(const struct hi_pointer_slot *a, const struct hi_pointer_slot *b)
{
	if (slot_end(a) <= b->offset || slot_end(b) <= a->offset)
		return false;
	if (a->stride == b->stride)
		return a->offset < b->offset ? run_touches_word(a, b->offset)
					     : run_touches_word(b, a->offset);
	if (a->count > b->count) {
		const struct hi_pointer_slot *longer = a;

		a = b;
		b = longer;
	}
	if (a->count > MAX_EXPAND)
		return true; /* not worth to find out */
	for (uint64_t i = 0; i < a->count; i++)
		if (run_touches_word(b, a->offset + i * a->stride))
			return true;
	return false;
}

/* Writes a run out as single words; those to the end stay. */
static bool write_out(struct flatten *f)
{
	struct hi_pointer_slots single = {};

	for (size_t i = 0; i < f->slots.count; i++) {
		struct hi_pointer_slot slot = f->slots.items[i];
		uint64_t n = slot.count;

		if (n != HI_POINTER_SLOT_TO_END)
			slot.count = 1;
		else
			n = 1;
		if (n > MAX_SLOTS - single.count)
			f->too_complex = true;
		for (; n && !f->too_complex; n--, slot.offset += slot.stride)
			if (!hi_vector_push(&single, slot)) {
				hi_vector_free(&single);
				return false;
			}
	}
	hi_vector_free(&f->slots);
	f->slots = single;
	return true;
}

static void keep_either(struct flatten *f, const struct hi_pointer_slot *slot)
{
	if (slot->pointee && f->either.count < MAX_SLOTS &&
	    !hi_vector_push(&f->either, *slot))
		f->no_memory = true;
}

static void drop_doubles(struct flatten *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->slots.count; i++) {
		struct hi_pointer_slot *last = kept ? &f->slots.items[kept - 1] : NULL;
		struct hi_pointer_slot *slot = &f->slots.items[i];

		if (!last || last->offset != slot->offset || last->count != slot->count) {
			f->slots.items[kept++] = *slot;
		} else if (slot->kind == HI_POINTER_SLOT_TYPED &&
			   slot->pointee != last->pointee) {
			keep_either(f, last);
			keep_either(f, slot);
			last->pointee = 0; /* Note [Flattening]: two pointees */
		}
	}
	f->slots.count = kept;
}

static bool merge_slots(struct flatten *f)
{
	bool overlap = false;

	if (f->slots.count > 1)
		qsort(f->slots.items, f->slots.count, sizeof(*f->slots.items), by_offset);
	drop_doubles(f);
	for (size_t i = 1; i < f->slots.count && !overlap; i++)
		for (size_t j = i; j-- > 0 && i - j < 64 && !overlap;)
			overlap = (covers_more_than_one(&f->slots.items[j]) ||
				   covers_more_than_one(&f->slots.items[i])) &&
				  share_words(&f->slots.items[j], &f->slots.items[i]);
	if (!overlap)
		return true;
	if (!write_out(f))
		return false;
	if (f->slots.count > 1)
		qsort(f->slots.items, f->slots.count, sizeof(*f->slots.items), by_offset);
	drop_doubles(f);
	return true;
}

/* Or to an unknown type, or to one of several. */
static bool may_lead_to_record(const struct flatten *f,
			       const struct hi_pointer_slot *slot)
{
	enum hi_type_kind kind =
		slot->pointee ? hi_type_source_get(f->types, slot->pointee)->kind
			      : HI_KIND_UNKNOWN;

	return kind == HI_KIND_UNKNOWN || kind == HI_KIND_DECLARATION ||
	       kind == HI_KIND_STRUCT || kind == HI_KIND_UNION;
}

static void mark_numbers(struct flatten *f, const struct hi_pointer_slots *numbers,
			 uint8_t size)
{
	for (size_t i = 0; i < f->slots.count; i++)
		for (size_t j = 0; j < numbers->count && j < MAX_EXPAND; j++)
			if (share_words(&f->slots.items[i], &numbers->items[j]))
				f->slots.items[i].number_size =
					may_lead_to_record(f, &f->slots.items[i]) ? 4
										  : size;
}

static void flatten_type(struct flatten *f, hi_type_id id)
{
	push_item(f, (struct item){.type = id, .count = 1, .stride = 8});
	while (f->items.count && !f->too_complex && !f->no_memory) {
		struct item at = f->items.items[--f->items.count];

		f->visited++;
		visit_flattened_type(f, &at);
	}
	if (!f->no_memory && !f->too_complex && !merge_slots(f))
		f->no_memory = true;
	if (f->no_memory || f->too_complex)
		return;
	mark_numbers(f, &f->numbers[0], 4);
	mark_numbers(f, &f->numbers[1], 8);
}

static int compare_rule_sites(const void *a, const void *b)
{
	const struct hi_rule_site *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

bool hi_flatten(const struct hi_type_source *types, hi_type_id type, uint64_t size,
		struct hi_pointer_slots *ret, struct hi_rule_sites *rule_sites_ret,
		struct hi_pointer_slots *either_ret, bool *truncated_ret)
{
	struct flatten f = {.types = types, .size = size};

	flatten_type(&f, type);
	*truncated_ret = f.too_complex;
	if (f.too_complex && !f.no_memory) {
		f.slots.count = 0;
		f.rule_sites.count = f.either.count = 0;
		f.too_complex = false;
		emit_raw_run(&f, 0, size);
	}
	hi_vector_free(&f.items);
	hi_vector_free(&f.numbers[0]);
	hi_vector_free(&f.numbers[1]);
	if (f.rule_sites.count > 1)
		qsort(f.rule_sites.items, f.rule_sites.count, sizeof(*f.rule_sites.items),
		      compare_rule_sites);
	if (f.no_memory) {
		hi_vector_free(&f.slots);
		hi_vector_free(&f.rule_sites);
		hi_vector_free(&f.either);
	}
	*ret = f.slots;
	*rule_sites_ret = f.rule_sites;
	*either_ret = f.either;
	return !f.no_memory;
}
