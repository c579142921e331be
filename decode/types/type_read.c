/* SPDX-License-Identifier: BSD-2-Clause */
/* From a DIE to a struct hi_type. */
#include "decode/types/types_internal.h"
#include "decode/types/virtual_bases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum {
	CHAIN_MAX = 64,	       /* typedefs and qualifiers in a row */
	DEPTH_MAX = 48,	       /* types that need others loaded: elements, bases */
	MEMBERS_MAX = 1 << 16, /* of one record */
	DIMS_MAX = 16,
};

/* One load: the slot, and the names that led to its DIE. */
struct load {
	struct hi_types *types;
	hi_type_id id;
	uint32_t module;
	struct hi_dw_die die;
	bool is_signed;		    /* the plain type */
	char alias[HI_DW_NAME_MAX]; /* typedef of an anonymous record, else "" */
};

static void mark_type_broken(struct hi_types *types, hi_type_id id)
{
	atomic_fetch_add(&types->broken, 1);
	hi_slot_alias(types, id, HI_TYPE_UNKNOWN);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	return hi_type_hash_part(h, text, strlen(text));
}

static uint64_t hash_number(uint64_t h, uint64_t n)
{
	return hi_dw_hash_name(h, (const char *)&n, sizeof(n));
}

static const char *copy_type_text(struct hi_types *types, const char *text)
{
	const char *copy = hi_arena_strdup(&types->arena, text);

	return copy ? copy : "?";
}

/* NOLINTBEGIN(misc-no-recursion): hi_type_load counts its depth. */
/* Slot id becomes what slot of `ref` is. */
static void become_die(struct hi_types *types, hi_type_id id, uint32_t module,
		       struct hi_dw_ref ref)
{
	hi_type_id other = hi_slot_of_die(types, module, ref);

	if (other != id)
		hi_type_load(types, other);
	hi_slot_alias(types, id, other == id ? HI_TYPE_UNKNOWN : other);
}

/* ---- plain types ---- */

static enum hi_type_kind base_kind(const struct hi_dw_die *die)
{
	switch (die->encoding) {
	case DW_ATE_float:
	case DW_ATE_complex_float:
	case DW_ATE_imaginary_float:
	case DW_ATE_decimal_float:
		return HI_KIND_FLOAT;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		return HI_KIND_CHAR;
	case DW_ATE_UTF:
	case DW_ATE_ASCII:
		return die->byte_size == 1 ? HI_KIND_CHAR : HI_KIND_INTEGER;
	case DW_ATE_address:
		return HI_KIND_ADDRESS;
	case DW_ATE_void:
		return HI_KIND_VOID;
	default:
		return HI_KIND_INTEGER;
	}
}

static bool is_signed(const struct hi_dw_die *die)
{
	return die->encoding == DW_ATE_signed || die->encoding == DW_ATE_signed_char ||
	       die->encoding == DW_ATE_signed_fixed;
}

static void become_plain(struct load *load, enum hi_type_kind kind, const char *name,
			 uint64_t size)
{
	struct hi_type type = {
		.kind = kind, .size = size, .is_signed = load->is_signed, .file = ""};

	type.layout_hash = hash_number(hash_number(hash_text(7, name), kind), size);
	type.name = copy_type_text(load->types, name);
	hi_slot_become(load->types, load->id, &type, type.layout_hash);
}

/* The identity of the pointee, as far as it is known without reading members. */
static uint64_t pointee_identity(struct load *load, struct hi_dw_ref ref)
{
	char name[HI_DW_NAME_MAX] = "";
	struct hi_dw_die die;
	uint32_t module;
	bool kept = false;

	for (unsigned i = 0;; i++) {
		if (i == CHAIN_MAX || !ref.file || !hi_dw_die_read(ref, &die))
			return 0;
		if (die.tag == DW_TAG_pointer_type)
			kept = false;
		if (die.tag == DW_TAG_typedef && !kept) {
			hi_type_record_name(&die, name, sizeof(name));
			kept = hi_type_is_kept(load->types, &die);
		}
		if (die.tag == DW_TAG_array_type)
			return 0;
		if (die.tag != DW_TAG_typedef && die.tag != DW_TAG_pointer_type &&
		    die.tag != DW_TAG_const_type && die.tag != DW_TAG_volatile_type &&
		    die.tag != DW_TAG_restrict_type && die.tag != DW_TAG_atomic_type)
			break;
		ref = die.type;
	}
	if (die.tag != DW_TAG_structure_type && die.tag != DW_TAG_class_type &&
	    die.tag != DW_TAG_union_type)
		return 0;
	if (!kept && (hi_type_is_named(&die) || name[0] == '\0'))
		hi_type_record_name(&die, name, sizeof(name));
	if (die.declaration) {
		ref = hi_types_definition(load->types, load->module, die.tag, name, true,
					  &module);
		if (!ref.file || !hi_dw_die_read(ref, &die))
			return 0;
	}
	return hi_type_identity(name[0] ? name : "{...}", die.byte_size, die.decl_line);
}

static void become_pointer(struct load *load)
{
	struct hi_types *types = load->types;
	struct hi_dw_ref self = {load->die.unit->file, load->die.offset,
				 load->die.unit->in_types};
	struct hi_type type = {.kind = HI_KIND_POINTER, .size = 8, .file = ""};
	char name[HI_DW_NAME_MAX + 600], bare[HI_DW_NAME_MAX + 600];

	if (load->die.has_byte_size && load->die.byte_size <= 8)
		type.size = load->die.byte_size;
	hi_type_name_of(types, self, false, name, sizeof(name));
	hi_type_name_of(types, self, true, bare, sizeof(bare));
	type.name = copy_type_text(types, name);
	type.target = hi_slot_of_die(types, load->module, load->die.type);
	type.layout_hash =
		hi_type_pointer_key(bare, pointee_identity(load, load->die.type));
	hi_slot_become(types, load->id, &type, type.layout_hash);
}

static void become_kept(struct load *load)
{
	hi_type_id of = hi_slot_of_die(load->types, load->module, load->die.type);

	hi_type_load(load->types, of);
	hi_type_become_kept(load->types, load->id, of, &load->die);
}

static void become_enum(struct load *load)
{
	char name[HI_DW_NAME_MAX];
	uint64_t size = load->die.byte_size;
	char full[HI_DW_NAME_MAX + 8];

	hi_type_record_name(&load->die, name, sizeof(name));
	load->is_signed = is_signed(&load->die);
	if (load->die.type.file) {
		const struct hi_type *under =
			hi_type_get(load->types, hi_slot_of_die(load->types, load->module,
								load->die.type));

		load->is_signed = under->is_signed;
		if (!load->die.has_byte_size)
			size = under->size;
	} else if (!load->die.has_byte_size) {
		size = 4;
	}
	if (size > 16) {
		mark_type_broken(load->types, load->id);
		return;
	}
	if (hi_type_is_named(&load->die))
		snprintf(full, sizeof(full), "%s%s", hi_type_keyword(&load->die), name);
	else
		snprintf(full, sizeof(full), "%s",
			 load->alias[0] ? load->alias : "enum {...}");
	/* An array of std::byte is raw storage, as one of unsigned char is. */
	become_plain(load,
		     size == 1 && strcmp(name, "std::byte") == 0 ? HI_KIND_CHAR
								 : HI_KIND_INTEGER,
		     full, size);
}

/* ---- arrays ---- */

static void become_array(struct load *load)
{
	struct {
		uint64_t count;
		bool open;
	} dims[DIMS_MAX];
	unsigned n = 0;
	struct hi_dw_die child;
	uint64_t at = load->die.next;
	hi_type_id id = hi_slot_of_die(load->types, load->module, load->die.type);

	while (n < DIMS_MAX && hi_dw_child_next(&load->die, &at, &child)) {
		if (child.tag != DW_TAG_subrange_type &&
		    child.tag != DW_TAG_enumeration_type)
			continue;
		dims[n].count = hi_dw_subrange_count(&child, &dims[n].open);
		if (dims[n].count > HI_TYPE_SIZE_MAX) {
			mark_type_broken(load->types, load->id);
			return;
		}
		n++;
	}
	if (n == 0) {
		dims[n].count = 0;
		dims[n++].open = true;
	}
	while (n-- > 0)
		id = hi_type_array_of(load->types, id, dims[n].count, dims[n].open);
	hi_slot_alias(load->types, load->id, id);
}

/* ---- records ---- */

struct record {
	struct HI_VECTOR(struct hi_member) members;
	struct hi_type_args args;
	bool has_vtable;
	bool has_virtual_base, has_virtual_words;
	struct hi_virtual_bases virtual_bases;
	bool has_fixed_member, has_variants;
	bool no_memory;
};

static int compare_member_offsets(const void *left, const void *right)
{
	const struct hi_member *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Nearly always sorted already; stable where the order is visible. */
static void sort_members(struct record *record)
{
	struct hi_member *m = record->members.items;

	if (record->members.count > 512) {
		qsort(m, record->members.count, sizeof(*m), compare_member_offsets);
		return;
	}
	for (size_t i = 1; i < record->members.count; i++)
		if (compare_member_offsets(&m[i - 1], &m[i]) > 0) {
			struct hi_member member = m[i];
			size_t at = i;

			for (; at > 0 && compare_member_offsets(&m[at - 1], &member) > 0;
			     at--)
				m[at] = m[at - 1];
			m[at] = member;
		}
}

/* Where a bit-field's lowest bit is. */
static void set_bit_field(struct hi_member *member, const struct hi_dw_die *die,
			  uint64_t storage)
{
	uint64_t bits = 0;

	member->bit_size = (uint16_t)die->bit_size;
	if (die->has_data_bit_offset) {
		member->offset = die->data_bit_offset / 8;
		member->bit_offset = die->data_bit_offset % 8;
		return;
	}
	/* DWARF 2 counts from the most significant bit of the storage unit. */
	if (die->has_bit_offset && storage <= 16 &&
	    die->bit_offset + die->bit_size <= storage * 8)
		bits = storage * 8 - die->bit_offset - die->bit_size;
	member->offset = die->member_location + bits / 8;
	member->bit_offset = bits % 8;
}

static bool member_is_static(const struct hi_dw_die *die, uint16_t parent)
{
	if (die->declaration || die->const_value)
		return true;
	return die->external && !die->has_member_location && parent != DW_TAG_union_type;
}

/* The name of words that virtual bases may have, by its address. */
static const char virtual_base[] = "(virtual base)";

static bool has_virtual_words(const struct hi_type *type)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (type->members[i].name == virtual_base)
			return true;
	return false;
}

static void add_base_class(struct load *load, struct record *record, hi_type_id id,
			   bool is_virtual)
{
	const struct hi_type *base = hi_type_get(load->types, id);

	record->has_virtual_base |=
		is_virtual || hi_type_has_virtual_base(base) || has_virtual_words(base);
	record->has_virtual_words |= has_virtual_words(base);
	if (!hi_virtual_bases_add(load->types, &record->virtual_bases, id, is_virtual))
		record->no_memory = true;
}

static void add_member(struct load *load, struct record *record,
		       const struct hi_dw_die *die)
{
	struct hi_types *types = load->types;
	struct hi_member member = {.name = die->name ? die->name : ""};
	uint64_t storage;

	if (die->dynamic_location || die->virtuality != 0) {
		if (die->tag == DW_TAG_inheritance)
			add_base_class(load, record,
				       hi_slot_of_die(types, load->module, die->type),
				       true);
		return; /* Note [Virtual bases] in virtual_bases.c */
	}
	member.is_base = die->tag == DW_TAG_inheritance;
	if (!member.is_base && member_is_static(die, load->die.tag)) {
		hi_type_args_take(types, load->module, die, &record->args);
		return;
	}
	member.type = hi_slot_of_die(types, load->module, die->type);
	member.offset = die->member_location;
	if (die->has_bit_size && die->bit_size > 0 && die->bit_size <= 4096) {
		storage = die->has_byte_size || die->has_data_bit_offset
				  ? die->byte_size
				  : hi_type_get(types, member.type)->size;
		set_bit_field(&member, die, storage);
	}
	member.is_vptr = strncmp(member.name, "_vptr", 5) == 0;
	if (member.is_vptr && member.offset == 0)
		record->has_vtable = true;
	if (member.is_base) {
		const struct hi_type *base = hi_type_get(types, member.type);

		record->has_vtable |= member.offset == 0 && base->has_vtable;
		add_base_class(load, record, member.type, false);
		member.type = hi_type_base_part(types, member.type);
	}
	if (load->die.has_byte_size && member.offset > load->die.byte_size) {
		atomic_fetch_add(&types->broken, 1);
		return;
	}
	if (!hi_vector_push(&record->members, member))
		record->no_memory = true;
}

/* Children of `die`, and of Rust's variant parts in it, level by level. */
static void read_members(struct load *load, struct record *record)
{
	struct hi_dw_die open[4] = {load->die};
	uint64_t at[4] = {load->die.next};
	unsigned depth = 1;

	while (depth > 0 && record->members.count < MEMBERS_MAX && !record->no_memory) {
		struct hi_dw_die child;

		if (!hi_dw_child_next(&open[depth - 1], &at[depth - 1], &child)) {
			depth--;
			continue;
		}
		switch (child.tag) {
		case DW_TAG_member:
		case DW_TAG_inheritance:
			add_member(load, record, &child);
			record->has_fixed_member |= depth == 1;
			break;
		case DW_TAG_variant_part:
		case DW_TAG_variant:
			record->has_variants = true;
			if (depth < 4) {
				at[depth] = child.next;
				open[depth++] = child;
			}
			break;
		default:
			if (depth == 1)
				hi_type_args_take(load->types, load->module, &child,
						  &record->args);
			break;
		}
	}
}

/* Words of the record that no other member covers, where the places of its virtual bases
 * are not known. A base class counts with the size of a whole object of its own, which
 * has such words at the same offsets. */
static hi_type_id virtual_words(struct load *load, uint64_t count)
{
	const struct hi_type word = {
		.kind = HI_KIND_ADDRESS,
		.name = "uintptr_t",
		.size = 8,
		.layout_hash = hash_text(17, "word of a virtual base"),
		.file = "",
	};
	hi_type_id id = hi_slot_of_type(load->types, &word, word.layout_hash);

	return hi_type_array_of(load->types, id, count, false);
}

static void add_virtual_words(struct load *load, struct record *record, uint64_t start,
			      uint64_t end)
{
	struct hi_member member = {.name = virtual_base,
				   .offset = (start + 7) & ~(uint64_t)7};

	if (end < member.offset || end - member.offset < 8)
		return;
	member.type = virtual_words(load, (end - member.offset) / 8);
	if (!hi_vector_push(&record->members, member))
		record->no_memory = true;
}

static void cover_virtual_bases(struct load *load, struct record *record)
{
	size_t n = record->members.count;
	uint64_t covered = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hi_member member = record->members.items[i];
		uint64_t size =
			member.bit_size ? 8 : hi_type_get(load->types, member.type)->size;

		add_virtual_words(load, record, covered, member.offset);
		if (member.offset + size > covered)
			covered = member.offset + size;
	}
	add_virtual_words(load, record, covered, load->die.byte_size);
	sort_members(record);
}

static bool place_virtual_bases(struct load *load, struct record *record)
{
	struct hi_member placed[HI_VIRTUAL_BASES_MAX];

	if (record->has_virtual_words ||
	    !hi_virtual_bases_place(load->types, &record->virtual_bases,
				    record->members.items, record->members.count,
				    load->die.byte_size, placed))
		return false;
	for (size_t i = 0; i < record->virtual_bases.order.count; i++)
		if (!hi_vector_push(&record->members, placed[i]))
			record->no_memory = true;
	sort_members(record);
	return true;
}

static uint64_t hash_layout(struct load *load, const struct record *record,
			    const char *bare, uint64_t size)
{
	uint64_t h = hash_number(hash_text(11, bare), size);
	char name[HI_DW_NAME_MAX + 600];

	h = hash_number(h, load->die.tag == DW_TAG_union_type);
	for (size_t i = 0; i < record->members.count; i++) {
		const struct hi_member *member = &record->members.items[i];
		const struct hi_type_slot *slot = hi_slot_at(load->types, member->type);

		if (slot && slot->die.file)
			hi_type_name_of(load->types, slot->die, true, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "void");
		h = hash_text(h, member->name);
		h = hash_number(h, (member->offset * 8 + member->bit_offset) * 8192 +
					   member->bit_size);
		h = hash_text(h, name);
	}
	return h;
}

static void become_declaration(struct load *load, const char *bare)
{
	char name[HI_DW_NAME_MAX + 8];
	struct hi_type type = {.kind = HI_KIND_DECLARATION, .file = ""};

	snprintf(name, sizeof(name), "%s%s", hi_type_keyword(&load->die), bare);
	type.name = copy_type_text(load->types, name);
	type.layout_hash = hash_text(13, bare);
	hi_slot_become(load->types, load->id, &type, type.layout_hash);
}

/* A declaration: what defines it, in this module or another one. */
static void join_definition(struct load *load)
{
	char bare[HI_DW_NAME_MAX];
	uint32_t module = load->module;
	struct hi_dw_ref ref = {};

	hi_type_record_name(&load->die, bare, sizeof(bare));
	if (bare[0])
		ref = hi_types_definition(load->types, load->module, load->die.tag, bare,
					  false, &module);
	if (ref.file)
		become_die(load->types, load->id, module, ref);
	else
		become_declaration(load, bare);
}

static bool copy_type_bytes(struct load *load, const void *items, size_t bytes,
			    const void **ret)
{
	void *copy = bytes ? hi_arena_alloc(&load->types->arena, bytes) : NULL;

	if (copy)
		memcpy(copy, items, bytes);
	*ret = copy;
	return copy || !bytes;
}

static bool copy_type_args(struct load *load, const struct hi_type_args *args,
			   struct hi_type *type)
{
	const void *items, *constants;

	if (!copy_type_bytes(load, args->items.items,
			     args->items.count * sizeof(*args->items.items), &items) ||
	    !copy_type_bytes(load, args->constants.items,
			     args->constants.count * sizeof(*args->constants.items),
			     &constants))
		return false;
	type->args = items;
	type->n_args = (uint32_t)args->items.count;
	type->constants = constants;
	type->n_constants = (uint32_t)args->constants.count;
	return true;
}

static void fill_record(struct load *load, struct record *record, struct hi_type *type)
{
	const struct hi_dw_die *die = &load->die;
	char bare[HI_DW_NAME_MAX], name[HI_DW_NAME_MAX + 8];
	size_t bytes = record->members.count * sizeof(struct hi_member);
	struct hi_member *members = NULL;

	hi_type_record_name(die, bare, sizeof(bare));
	if (hi_type_is_named(die))
		snprintf(name, sizeof(name), "%s%s", hi_type_keyword(die), bare);
	else if (load->alias[0])
		snprintf(name, sizeof(name), "%s", load->alias);
	else
		snprintf(name, sizeof(name), "%s{...}",
			 die->tag == DW_TAG_union_type ? "union " : "struct ");
	if (bytes > 0)
		members = hi_arena_alloc(&load->types->arena, bytes);
	if (members)
		memcpy(members, record->members.items, bytes);
	type->members = members;
	type->n_members = members ? (uint32_t)record->members.count : 0;
	type->name = copy_type_text(load->types, name);
	type->layout_hash = hash_layout(load, record, hi_type_bare(name), die->byte_size);
	type->file = hi_dw_file_name(die->unit, die->decl_file);
}

static void become_record(struct load *load)
{
	const struct hi_dw_die *die = &load->die;
	struct record record = {};
	struct hi_type type = {
		.kind = die->tag == DW_TAG_union_type ? HI_KIND_UNION : HI_KIND_STRUCT,
		.size = die->byte_size,
		.line = die->decl_line,
	};

	if (die->declaration) {
		join_definition(load);
		return;
	}
	if (die->byte_size > HI_TYPE_SIZE_MAX) {
		mark_type_broken(load->types, load->id);
		return;
	}
	read_members(load, &record);
	sort_members(&record);
	if (record.has_virtual_base && !place_virtual_bases(load, &record))
		cover_virtual_bases(load, &record);
	/* Variants and their discriminant, as in an enum of Rust, overlap. */
	if (record.has_variants && !record.has_fixed_member)
		type.kind = HI_KIND_UNION;
	type.has_vtable = record.has_vtable;
	record.no_memory |=
		record.args.no_memory || !copy_type_args(load, &record.args, &type);
	if (!record.no_memory)
		fill_record(load, &record, &type);
	hi_vector_free(&record.members);
	hi_vector_free(&record.virtual_bases.order);
	hi_vector_free(&record.args.items);
	hi_vector_free(&record.args.constants);
	if (record.no_memory)
		hi_slot_alias(load->types, load->id, HI_TYPE_UNKNOWN);
	else
		hi_slot_become(load->types, load->id, &type, type.layout_hash);
}

/* ---- the chain in front ---- */

static bool is_address_name(const char *name)
{
	return name && (strcmp(name, "uintptr_t") == 0 || strcmp(name, "intptr_t") == 0 ||
			strcmp(name, "atomic_uintptr_t") == 0 ||
			strcmp(name, "atomic_intptr_t") == 0);
}

static bool is_transparent(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_subrange_type: /* as a type of its own */
	case DW_TAG_template_alias:
		return true;
	default:
		return false;
	}
}

static bool is_anonymous_record(const struct hi_dw_die *die)
{
	return !hi_type_is_named(die) &&
	       (die->tag == DW_TAG_structure_type || die->tag == DW_TAG_class_type ||
		die->tag == DW_TAG_union_type || die->tag == DW_TAG_enumeration_type);
}

/* A pointer to a method is {function or vtable offset, adjustment}. */
static bool points_to_function(struct hi_dw_ref ref)
{
	struct hi_dw_die die;

	for (unsigned i = 0; i < CHAIN_MAX && hi_dw_die_read(ref, &die); i++) {
		if (die.tag == DW_TAG_subroutine_type)
			return true;
		if (!is_transparent(die.tag))
			return false;
		ref = die.type;
	}
	return false;
}

static void become_tag(struct load *load)
{
	const struct hi_dw_die *die = &load->die;

	switch (die->tag) {
	case DW_TAG_base_type:
		load->is_signed = is_signed(die);
		if (die->byte_size > 64)
			mark_type_broken(load->types, load->id);
		else
			become_plain(load, base_kind(die), die->name ? die->name : "?",
				     die->byte_size);
		break;
	case DW_TAG_unspecified_type:
		become_plain(load, HI_KIND_INTEGER, die->name ? die->name : "?", 8);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		become_pointer(load);
		break;
	case DW_TAG_ptr_to_member_type:
		become_plain(load, HI_KIND_INTEGER, "pointer to member",
			     points_to_function(die->type) ? 16 : 8);
		break;
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram:
		become_plain(load, HI_KIND_FUNCTION, "function", 0);
		break;
	case DW_TAG_enumeration_type:
		if (die->declaration && die->name && !die->has_byte_size)
			join_definition(load);
		else
			become_enum(load);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_union_type:
		become_record(load);
		break;
	case DW_TAG_array_type:
		become_array(load);
		break;
	default:
		mark_type_broken(load->types, load->id);
		break;
	}
}

/* An atomic integer as wide as a pointer: lock-free lists keep tagged pointers in it. */
static bool is_atomic_word(const struct hi_dw_die *die)
{
	return die->tag == DW_TAG_base_type && die->byte_size == 8 && die->name &&
	       base_kind(die) == HI_KIND_INTEGER;
}

/*
 * Typedefs and qualifiers are looked through. Two typedefs mean something: one of
 * an anonymous record names it, uintptr_t and intptr_t may hold addresses.
 */
static void load_chain(struct load *load, struct hi_dw_ref start)
{
	struct hi_dw_ref ref = start, named = {};
	bool is_atomic = false;

	for (unsigned i = 0; i < CHAIN_MAX; i++) {
		if (!ref.file) {
			hi_slot_alias(load->types, load->id, HI_TYPE_VOID);
			return;
		}
		if (!hi_dw_die_read(ref, &load->die)) {
			mark_type_broken(load->types, load->id);
			return;
		}
		if (is_atomic && is_atomic_word(&load->die)) {
			load->is_signed = is_signed(&load->die);
			become_plain(load, HI_KIND_ADDRESS, load->die.name, 8);
			return;
		}
		is_atomic |= load->die.tag == DW_TAG_atomic_type;
		if (!is_transparent(load->die.tag)) {
			if (is_anonymous_record(&load->die) && named.file &&
			    !(named.file == start.file && named.offset == start.offset))
				become_die(load->types, load->id, load->module, named);
			else if (i == 0 || is_anonymous_record(&load->die))
				become_tag(load);
			else
				become_die(load->types, load->id, load->module, ref);
			return;
		}
		if (load->die.tag == DW_TAG_typedef) {
			if (is_address_name(load->die.name)) {
				load->is_signed = !strstr(load->die.name, "uintptr");
				become_plain(load, HI_KIND_ADDRESS, load->die.name, 8);
				return;
			}
			if (hi_type_is_kept(load->types, &load->die)) {
				if (i == 0)
					become_kept(load);
				else
					become_die(load->types, load->id, load->module,
						   ref);
				return;
			}
			named = ref;
			hi_type_record_name(&load->die, load->alias, sizeof(load->alias));
		}
		ref = load->die.type;
	}
	mark_type_broken(load->types, load->id); /* typedefs in a circle */
}

void hi_type_load(struct hi_types *types, hi_type_id id)
{
	struct hi_type_slot *slot = hi_slot_at(types, id);
	struct load *load;

	if (!slot || slot->state == HI_SLOT_READY)
		return;
	/* A type that needs itself, or too many others, is unknown. */
	if (slot->state == HI_SLOT_LOADING) {
		atomic_fetch_add(&types->broken, 1);
		return;
	}
	if (types->depth >= DEPTH_MAX) {
		mark_type_broken(types, id);
		return;
	}
	load = hi_calloc(1, sizeof(*load)); /* too large for a deep stack */
	if (!load) {
		hi_slot_alias(types, id, HI_TYPE_UNKNOWN);
		return;
	}
	slot->state = HI_SLOT_LOADING;
	load->types = types;
	load->id = id;
	load->module = slot->module;
	types->depth++;
	load_chain(load, slot->die);
	types->depth--;
	free(load);
}
/* NOLINTEND(misc-no-recursion) */
