/* SPDX-License-Identifier: BSD-2-Clause */
/* Abbreviation tables, with the scanner's short cuts beside them. */
#include "base/search.h"
#include "decode/dwarf/dwarf.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { ATTRS_MAX = 256 /* of one abbreviation */ };

void hi_dw_abbrevs_free(struct hi_dw_abbrevs *abbrevs)
{
	hi_vector_free(&abbrevs->items);
	hi_vector_free(&abbrevs->attrs);
	hi_vector_free(&abbrevs->ops);
	*abbrevs = (struct hi_dw_abbrevs){};
}

static bool read_attrs(struct hi_dw_cursor *cursor, struct hi_dw_abbrevs *abbrevs,
		       struct hi_dw_abbrev *abbrev)
{
	abbrev->first_attr = (uint32_t)abbrevs->attrs.count;
	for (unsigned i = 0; i < ATTRS_MAX; i++) {
		struct hi_dw_attr attr = {};
		uint64_t name = hi_dw_uleb(cursor), form = hi_dw_uleb(cursor);

		if (cursor->bad || name > UINT16_MAX || form > UINT16_MAX)
			return false;
		if (name == 0 && form == 0)
			return true;
		attr.name = (uint16_t)name;
		attr.form = (uint16_t)form;
		if (form == DW_FORM_implicit_const)
			attr.implicit = hi_dw_sleb(cursor);
		if (!hi_vector_push(&abbrevs->attrs, attr))
			return false;
		abbrev->n_attrs++;
	}
	return false;
}

/* Does the scanner need this attribute of this tag? See decode/types/type_index.c. */
static bool is_wanted_attr(uint16_t tag, uint16_t attr)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		return attr == DW_AT_name || attr == DW_AT_byte_size ||
		       attr == DW_AT_declaration || attr == DW_AT_sibling ||
		       attr == DW_AT_specification;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return attr == DW_AT_name;
	case DW_TAG_variable:
		return attr == DW_AT_name || attr == DW_AT_location ||
		       attr == DW_AT_specification || attr == DW_AT_declaration ||
		       attr == DW_AT_abstract_origin;
	case DW_TAG_member:
		return attr == DW_AT_name || attr == DW_AT_declaration;
	case DW_TAG_subprogram:
		return attr == DW_AT_declaration || attr == DW_AT_sibling;
	case DW_TAG_subroutine_type:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_array_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return attr == DW_AT_sibling;
	default:
		return false;
	}
}

static bool has_attr(const struct hi_dw_abbrevs *abbrevs,
		     const struct hi_dw_abbrev *abbrev, uint16_t name)
{
	for (uint32_t i = 0; i < abbrev->n_attrs; i++)
		if (abbrevs->attrs.items[abbrev->first_attr + i].name == name)
			return true;
	return false;
}

/* Runs of unwanted attributes of fixed size become one skip. */
static bool make_ops(const struct hi_dw_unit *unit, struct hi_dw_abbrevs *abbrevs,
		     struct hi_dw_abbrev *abbrev)
{
	uint16_t tag = abbrev->tag;
	/* A member that is not static is of no use to the scanner. */
	bool mute = tag == DW_TAG_member && !has_attr(abbrevs, abbrev, DW_AT_declaration);
	struct hi_dw_op *last = NULL;

	abbrev->first_op = (uint32_t)abbrevs->ops.count;
	for (uint32_t i = 0; i < abbrev->n_attrs; i++) {
		struct hi_dw_attr attr = abbrevs->attrs.items[abbrev->first_attr + i];
		uint32_t size = 0;
		bool fixed = hi_dw_form_fixed(unit, attr.form, &size);
		bool wanted = !mute && is_wanted_attr(tag, attr.name);
		struct hi_dw_op op = {wanted ? attr.name : 0,
				      wanted || !fixed ? attr.form : 0, size,
				      attr.implicit};

		if (op.attr == 0 && op.form == 0 && last && last->attr == 0 &&
		    last->form == 0) {
			last->size += size;
			continue;
		}
		if (!hi_vector_push(&abbrevs->ops, op))
			return false;
		last = &abbrevs->ops.items[abbrevs->ops.count - 1];
		abbrev->n_ops++;
	}
	return true;
}

static int compare_abbrev_codes(const void *left, const void *right)
{
	const struct hi_dw_abbrev *a = left, *b = right;

	return a->code < b->code ? -1 : a->code > b->code;
}

static bool parse_abbrevs(struct hi_dw_unit *unit, struct hi_dw_cursor *cursor,
			  struct hi_dw_abbrevs *abbrevs)
{
	bool sorted = true;

	for (;;) {
		struct hi_dw_abbrev abbrev = {.code = hi_dw_uleb(cursor)};
		uint64_t tag;

		if (cursor->bad)
			return false;
		if (abbrev.code == 0)
			break;
		tag = hi_dw_uleb(cursor);
		abbrev.tag = (uint16_t)tag;
		abbrev.children = hi_dw_uint(cursor, 1) == 1;
		if (cursor->bad || tag > UINT16_MAX ||
		    !read_attrs(cursor, abbrevs, &abbrev) ||
		    !make_ops(unit, abbrevs, &abbrev) ||
		    !hi_vector_push(&abbrevs->items, abbrev))
			return false;
		if (abbrevs->items.count > 1 &&
		    abbrevs->items.items[abbrevs->items.count - 2].code >= abbrev.code)
			sorted = false;
	}
	if (!sorted)
		qsort(abbrevs->items.items, abbrevs->items.count,
		      sizeof(struct hi_dw_abbrev), compare_abbrev_codes);
	abbrevs->dense = abbrevs->items.count > 0 && abbrevs->items.items[0].code == 1 &&
			 abbrevs->items.items[abbrevs->items.count - 1].code ==
				 abbrevs->items.count;
	return true;
}

/*
 * Many units may share one table, and a hostile file may let every unit share
 * one huge table: a table that is there already is kept, and all parsing of a
 * file together has a budget.
 */
bool hi_dw_abbrevs_read(struct hi_dw_unit *unit, uint64_t offset,
			struct hi_dw_abbrevs *abbrevs)
{
	const struct hi_dw_section *section = &unit->file->sections[HI_DW_ABBREV];
	struct hi_dw_cursor cursor;
	int64_t used;
	bool parsed;

	if (abbrevs->valid && abbrevs->offset == offset && abbrevs->file == unit->file &&
	    abbrevs->version == unit->version &&
	    abbrevs->address_size == unit->address_size &&
	    abbrevs->offset_size == unit->offset_size)
		return true;
	abbrevs->items.count = abbrevs->attrs.count = abbrevs->ops.count = 0;
	abbrevs->valid = false;
	if (offset >= section->size || atomic_load(&unit->file->abbrev_budget) < 0)
		return false;
	cursor = (struct hi_dw_cursor){section->data + offset,
				       section->data + section->size, false};
	parsed = parse_abbrevs(unit, &cursor, abbrevs);
	used = cursor.at - (section->data + offset);
	if (atomic_fetch_sub(&unit->file->abbrev_budget, used) < used || !parsed)
		return false;
	abbrevs->file = unit->file;
	abbrevs->offset = offset;
	abbrevs->version = unit->version;
	abbrevs->address_size = unit->address_size;
	abbrevs->offset_size = unit->offset_size;
	abbrevs->valid = true;
	return true;
}

const struct hi_dw_abbrev *hi_dw_abbrev_find(const struct hi_dw_abbrevs *abbrevs,
					     uint64_t code)
{
	size_t low = 0, high = abbrevs->items.count;

	if (abbrevs->dense)
		return code - 1 < high ? &abbrevs->items.items[code - 1] : NULL;
	low = hi_search_from(i, low, high, abbrevs->items.items[i].code < code);
	return low < abbrevs->items.count && abbrevs->items.items[low].code == code
		       ? &abbrevs->items.items[low]
		       : NULL;
}

bool hi_dw_attrs_skip(struct hi_dw_unit *unit, const struct hi_dw_abbrevs *abbrevs,
		      struct hi_dw_cursor *cursor, const struct hi_dw_abbrev *abbrev)
{
	for (uint32_t i = 0; i < abbrev->n_ops; i++) {
		const struct hi_dw_op *op = &abbrevs->ops.items[abbrev->first_op + i];

		if (op->form == 0)
			hi_dw_skip(cursor, op->size);
		else if (!hi_dw_form_skip(unit, cursor, op->form))
			return false;
	}
	return !cursor->bad;
}
