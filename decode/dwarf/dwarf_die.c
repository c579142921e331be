/* SPDX-License-Identifier: BSD-2-Clause */
/* One DIE as plain data, its children, where it ends. */
#include "decode/dwarf/dwarf.h"

#include <stdatomic.h>
#include <string.h>

enum {
	DEPTH_MAX = 512,    /* nesting of DIEs */
	DIES_MAX = 1 << 22, /* walked over in one unit for one question */
	ORIGIN_STEPS = 8,
	ATTR_GNU_DWO_NAME = 0x2130,
	ATTR_GNU_DWO_ID = 0x2131,
	ATTR_GNU_ADDR_BASE = 0x2133,
};

/* DW_AT_data_member_location as an expression: only `plus_uconst n`. */
static bool member_offset(const struct hi_dw_value *value, uint64_t *ret)
{
	struct hi_dw_cursor cursor;
	uint64_t op;

	if (value->class == HI_DW_CONSTANT) {
		*ret = value->u;
		return true;
	}
	if (value->class != HI_DW_BLOCK || value->block.size == 0)
		return false;
	cursor = (struct hi_dw_cursor){value->block.data,
				       value->block.data + value->block.size, false};
	op = hi_dw_uint(&cursor, 1);
	if (op != DW_OP_plus_uconst && op != DW_OP_constu)
		return false;
	*ret = hi_dw_uleb(&cursor);
	/* `constu n; plus` is the same. */
	if (op == DW_OP_constu && hi_dw_uint(&cursor, 1) != DW_OP_plus)
		return false;
	return !cursor.bad && cursor.at == cursor.end;
}

static void set_bound(struct hi_dw_die *die, const struct hi_dw_value *value,
		      int64_t *bound, bool *has)
{
	if (value->class == HI_DW_CONSTANT) {
		*bound = (int64_t)value->u;
		*has = true;
	} else {
		die->dynamic_bound = true;
	}
}

static void set_constant(const struct hi_dw_value *value, uint64_t *to, bool *has)
{
	if (value->class != HI_DW_CONSTANT && value->class != HI_DW_OFFSET)
		return;
	*to = value->u;
	if (has)
		*has = true;
}

/* A number, or at most eight bytes of one. */
static int64_t const_value(const struct hi_dw_value *value)
{
	int64_t number = 0;

	if (value->class == HI_DW_CONSTANT)
		return (int64_t)value->u;
	if (value->class == HI_DW_BLOCK && value->block.size <= sizeof(number))
		memcpy(&number, value->block.data, value->block.size);
	return number;
}

static void set_unit_attr(struct hi_dw_die *die, uint16_t name,
			  const struct hi_dw_value *value)
{
	switch (name) {
	case DW_AT_language:
		set_constant(value, &die->language, NULL);
		break;
	case DW_AT_str_offsets_base:
		set_constant(value, &die->str_offsets_base, &die->has_str_offsets_base);
		break;
	case DW_AT_addr_base:
	case ATTR_GNU_ADDR_BASE:
		set_constant(value, &die->addr_base, &die->has_addr_base);
		break;
	case DW_AT_stmt_list:
		set_constant(value, &die->stmt_list, &die->has_stmt_list);
		break;
	case DW_AT_comp_dir:
		die->comp_dir = value->string;
		break;
	case DW_AT_dwo_name:
	case ATTR_GNU_DWO_NAME:
		die->dwo_name = value->string;
		break;
	case ATTR_GNU_DWO_ID:
		set_constant(value, &die->dwo_id, &die->has_dwo_id);
		break;
	default:
		break;
	}
}

static void set_member_attr(struct hi_dw_die *die, uint16_t name,
			    const struct hi_dw_value *value)
{
	switch (name) {
	case DW_AT_data_member_location:
		die->has_member_location = member_offset(value, &die->member_location);
		die->dynamic_location = !die->has_member_location;
		break;
	case DW_AT_bit_size:
		set_constant(value, &die->bit_size, &die->has_bit_size);
		break;
	case DW_AT_bit_offset:
		set_constant(value, &die->bit_offset, &die->has_bit_offset);
		break;
	case DW_AT_data_bit_offset:
		set_constant(value, &die->data_bit_offset, &die->has_data_bit_offset);
		break;
	case DW_AT_lower_bound:
		set_bound(die, value, &die->lower_bound, &die->has_lower_bound);
		break;
	case DW_AT_upper_bound:
		set_bound(die, value, &die->upper_bound, &die->has_upper_bound);
		break;
	case DW_AT_count:
		set_constant(value, &die->count, &die->has_count);
		if (!die->has_count)
			die->dynamic_bound = true;
		break;
	default:
		set_unit_attr(die, name, value);
		break;
	}
}

/* A reference to a type that is missing (of a shared file or a type unit) is unknown; no
 * reference at all is void. */
static struct hi_dw_ref type_ref(const struct hi_dw_value *value)
{
	static struct hi_dw_file nowhere;

	return value->ref.file ? value->ref : (struct hi_dw_ref){.file = &nowhere};
}

static void set_attr(struct hi_dw_die *die, uint16_t name,
		     const struct hi_dw_value *value)
{
	uint64_t line = 0;

	switch (name) {
	case DW_AT_name:
		die->name = value->string;
		break;
	case DW_AT_type:
		die->type = type_ref(value);
		break;
	case DW_AT_specification:
		die->specification = value->ref;
		break;
	case DW_AT_abstract_origin:
		die->origin = value->ref;
		break;
	case DW_AT_containing_type:
		die->containing = value->ref;
		break;
	case DW_AT_signature:
		die->signature = value->ref;
		break;
	case DW_AT_const_value:
		die->const_value = true;
		die->value = const_value(value);
		break;
	case DW_AT_sibling:
		if (value->class == HI_DW_REF && value->ref.file)
			die->sibling = value->ref.offset;
		break;
	case DW_AT_byte_size:
		set_constant(value, &die->byte_size, &die->has_byte_size);
		break;
	case DW_AT_location:
		if (value->class == HI_DW_BLOCK)
			die->location = value->block;
		break;
	case DW_AT_decl_file:
	case DW_AT_decl_line:
		set_constant(value, &line, NULL);
		*(name == DW_AT_decl_file ? &die->decl_file : &die->decl_line) =
			line > UINT32_MAX ? 0 : (uint32_t)line;
		break;
	case DW_AT_encoding:
		die->encoding = (uint8_t)value->u;
		break;
	case DW_AT_virtuality:
		die->virtuality = (uint8_t)value->u;
		break;
	case DW_AT_declaration:
		die->declaration = value->u != 0;
		break;
	case DW_AT_enum_class:
		die->enum_class = value->u != 0;
		break;
	case DW_AT_external:
		die->external = value->u != 0;
		break;
	case DW_AT_artificial:
		die->artificial = value->u != 0;
		break;
	default:
		set_member_attr(die, name, value);
		break;
	}
}

bool hi_dw_die_read_at(struct hi_dw_unit *unit, const struct hi_dw_abbrevs *abbrevs,
		       uint64_t offset, struct hi_dw_die *ret, bool *null_ret)
{
	struct hi_dw_cursor cursor = hi_dw_unit_cursor(unit, offset);
	const uint8_t *start = cursor.at;
	const struct hi_dw_abbrev *abbrev;
	uint64_t code;

	*ret = (struct hi_dw_die){.unit = unit, .offset = offset};
	*null_ret = false;
	if (offset < unit->first_die || offset >= unit->end)
		return false;
	code = hi_dw_uleb(&cursor);
	if (code == 0 && !cursor.bad) {
		*null_ret = true;
		ret->next = offset + (uint64_t)(cursor.at - start);
		return true;
	}
	abbrev = cursor.bad ? NULL : hi_dw_abbrev_find(abbrevs, code);
	if (!abbrev) {
		atomic_fetch_add(&unit->file->broken, 1);
		return false;
	}
	ret->tag = abbrev->tag;
	ret->children = abbrev->children;
	for (uint32_t i = 0; i < abbrev->n_attrs; i++) {
		const struct hi_dw_attr *attr =
			&abbrevs->attrs.items[abbrev->first_attr + i];
		struct hi_dw_value value;

		if (!hi_dw_form_read(unit, &cursor, attr->form, attr->implicit, &value)) {
			atomic_fetch_add(&unit->file->broken, 1);
			return false;
		}
		set_attr(ret, attr->name, &value);
	}
	ret->next = offset + (uint64_t)(cursor.at - start);
	return true;
}

static bool read_one(struct hi_dw_ref ref, struct hi_dw_die *ret)
{
	struct hi_dw_unit *unit =
		ref.file ? hi_dw_unit_at(ref.file, ref.in_types, ref.offset) : NULL;
	bool null;

	return unit && hi_dw_unit_prepare(unit, NULL) &&
	       hi_dw_die_read_at(unit, &unit->abbrevs, ref.offset, ret, &null) && !null;
}

bool hi_dw_die_read(struct hi_dw_ref ref, struct hi_dw_die *ret)
{
	if (!read_one(ref, ret))
		return false;
	/* A type in a unit of its own, which has all attributes. */
	return !ret->signature.file || read_one(ret->signature, ret);
}

bool hi_dw_die_origin(struct hi_dw_die *die)
{
	for (unsigned i = 0; i < ORIGIN_STEPS; i++) {
		struct hi_dw_ref next =
			die->specification.file ? die->specification : die->origin;

		if (die->name || !next.file)
			return true;
		if (!hi_dw_die_read(next, die))
			return false;
	}
	return true;
}

bool hi_dw_die_declared(struct hi_dw_die *die)
{
	bool moved = false;

	for (unsigned i = 0; i < ORIGIN_STEPS; i++) {
		struct hi_dw_ref next =
			die->specification.file ? die->specification : die->origin;
		struct hi_dw_die other;

		if (!next.file || !hi_dw_die_read(next, &other))
			break;
		*die = other;
		moved = true;
	}
	return moved;
}

/* First byte behind the subtree whose root's attributes end at `at`. */
static uint64_t subtree_end(struct hi_dw_unit *unit, const struct hi_dw_abbrevs *abbrevs,
			    uint64_t at)
{
	struct hi_dw_cursor cursor = hi_dw_unit_cursor(unit, at);
	const uint8_t *start = cursor.at;
	unsigned depth = 1;

	for (unsigned n = 0; n < DIES_MAX && depth > 0; n++) {
		const struct hi_dw_abbrev *abbrev;
		uint64_t code;

		if (cursor.at >= cursor.end)
			break;
		code = hi_dw_uleb(&cursor);
		if (code == 0) {
			depth--;
			continue;
		}
		abbrev = hi_dw_abbrev_find(abbrevs, code);
		if (cursor.bad || !abbrev || depth > DEPTH_MAX)
			return unit->end;
		for (uint32_t i = 0; i < abbrev->n_ops; i++) {
			const struct hi_dw_op *op =
				&abbrevs->ops.items[abbrev->first_op + i];

			if (op->form == 0)
				hi_dw_skip(&cursor, op->size);
			else if (!hi_dw_form_skip(unit, &cursor, op->form))
				return unit->end;
		}
		if (cursor.bad)
			return unit->end;
		depth += abbrev->children;
	}
	return at + (uint64_t)(cursor.at - start);
}

/* Where the DIE's children end (first byte behind their null entry). */
static uint64_t end_of_die(const struct hi_dw_die *die)
{
	if (!die->children)
		return die->next;
	/* Only ever forward, so that no sibling chain goes round. */
	if (die->sibling > die->next && die->sibling <= die->unit->end)
		return die->sibling;
	return subtree_end(die->unit, &die->unit->abbrevs, die->next);
}

bool hi_dw_child_next(const struct hi_dw_die *parent, uint64_t *at,
		      struct hi_dw_die *child)
{
	bool null;

	if (!parent->children || *at >= parent->unit->end)
		return false;
	if (!hi_dw_die_read_at(parent->unit, &parent->unit->abbrevs, *at, child, &null) ||
	    null)
		return false;
	*at = end_of_die(child);
	return true;
}
