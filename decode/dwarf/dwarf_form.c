/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribute forms: their sizes and values. */
#include "decode/dwarf/dwarf.h"

#include <string.h>

/* Forms newer than, or vendor's own beside, the dwarf.h in use. */
enum {
	FORM_GNU_ADDR_INDEX = 0x1f01,
	FORM_GNU_STR_INDEX = 0x1f02,
	FORM_GNU_REF_ALT = 0x1f20,
	FORM_GNU_STRP_ALT = 0x1f21,
};

uint64_t hi_dw_uint(struct hi_dw_cursor *cursor, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->at) < size || size > 8) {
		cursor->bad = true;
		cursor->at = cursor->end;
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	return value;
}

uint64_t hi_dw_uleb(struct hi_dw_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->bad = true;
	return 0;
}

int64_t hi_dw_sleb(struct hi_dw_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && (byte & 0x40))
			value |= ~0ull << (shift + 7);
		return (int64_t)value;
	}
	cursor->bad = true;
	return 0;
}

void hi_dw_skip(struct hi_dw_cursor *cursor, uint64_t size)
{
	if ((uint64_t)(cursor->end - cursor->at) < size) {
		cursor->bad = true;
		cursor->at = cursor->end;
		return;
	}
	cursor->at += size;
}

const char *hi_dw_cstring(struct hi_dw_cursor *cursor)
{
	const uint8_t *start = cursor->at;
	const uint8_t *nul = memchr(start, 0, (size_t)(cursor->end - start));

	if (!nul) {
		cursor->bad = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at = nul + 1;
	return (const char *)start;
}

bool hi_dw_form_fixed(const struct hi_dw_unit *unit, uint16_t form, uint32_t *size_ret)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		*size_ret = 0;
		return true;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		*size_ret = 1;
		return true;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		*size_ret = 2;
		return true;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		*size_ret = 3;
		return true;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		*size_ret = 4;
		return true;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		*size_ret = 8;
		return true;
	case DW_FORM_data16:
		*size_ret = 16;
		return true;
	case DW_FORM_addr:
		*size_ret = unit->address_size;
		return true;
	case DW_FORM_ref_addr:
		*size_ret = unit->version <= 2 ? unit->address_size : unit->offset_size;
		return true;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case FORM_GNU_REF_ALT:
	case FORM_GNU_STRP_ALT:
		*size_ret = unit->offset_size;
		return true;
	default:
		return false;
	}
}

bool hi_dw_form_skip(const struct hi_dw_unit *unit, struct hi_dw_cursor *cursor,
		     uint16_t form)
{
	uint32_t size;

	if (hi_dw_form_fixed(unit, form, &size)) {
		hi_dw_skip(cursor, size);
		return !cursor->bad;
	}
	switch (form) {
	case DW_FORM_string:
		hi_dw_cstring(cursor);
		break;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case FORM_GNU_ADDR_INDEX:
	case FORM_GNU_STR_INDEX:
		hi_dw_uleb(cursor);
		break;
	case DW_FORM_block1:
		hi_dw_skip(cursor, hi_dw_uint(cursor, 1));
		break;
	case DW_FORM_block2:
		hi_dw_skip(cursor, hi_dw_uint(cursor, 2));
		break;
	case DW_FORM_block4:
		hi_dw_skip(cursor, hi_dw_uint(cursor, 4));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		hi_dw_skip(cursor, hi_dw_uleb(cursor));
		break;
	default: /* unknown, or indirect, which no compiler emits */
		return false;
	}
	return !cursor->bad;
}

/* ---- values ---- */

static const char *string_in(const struct hi_dw_section *section, uint64_t offset)
{
	if (offset >= section->size ||
	    !memchr(section->data + offset, 0, section->size - offset))
		return NULL;
	return (const char *)section->data + offset;
}

static const char *string_indexed(const struct hi_dw_unit *unit, uint64_t index)
{
	const struct hi_dw_section *table = &unit->file->sections[HI_DW_STR_OFFSETS];
	uint64_t at, offset = 0;

	if (index > table->size / unit->offset_size ||
	    unit->str_offsets_base > table->size)
		return NULL;
	at = unit->str_offsets_base + index * unit->offset_size;
	if (at > table->size || table->size - at < unit->offset_size)
		return NULL;
	memcpy(&offset, table->data + at, unit->offset_size);
	return string_in(&unit->file->sections[HI_DW_STR], offset);
}

bool hi_dw_address_at(const struct hi_dw_unit *unit, uint64_t index, uint64_t *ret)
{
	/* A split unit's addresses are in the file of its skeleton. */
	const struct hi_dw_unit *of_file =
		unit->file->skeleton ? unit->file->skeleton : unit;
	const struct hi_dw_unit *owner = unit->skeleton ? unit->skeleton : of_file;
	const struct hi_dw_section *table = &owner->file->sections[HI_DW_ADDR];
	uint64_t at;

	if (index > table->size / 8 || owner->addr_base > table->size ||
	    owner->address_size != 8)
		return false;
	at = owner->addr_base + index * 8;
	if (at > table->size || table->size - at < 8)
		return false;
	memcpy(ret, table->data + at, 8);
	return true;
}

static bool give_constant(struct hi_dw_value *ret, uint64_t u)
{
	ret->class = HI_DW_CONSTANT;
	ret->u = u;
	return true;
}

static bool give_string(struct hi_dw_value *ret, const char *string)
{
	ret->class = HI_DW_STRING;
	ret->string = string;
	return true;
}

static bool give_block(struct hi_dw_value *ret, struct hi_dw_cursor *cursor,
		       uint64_t size)
{
	ret->class = HI_DW_BLOCK;
	ret->block = (struct hi_dw_block){cursor->at, size};
	hi_dw_skip(cursor, size);
	return !cursor->bad;
}

/* A reference inside the unit. */
static bool give_local(struct hi_dw_value *ret, struct hi_dw_unit *unit, uint64_t offset)
{
	ret->class = HI_DW_REF;
	if (offset < unit->end - unit->offset)
		ret->ref = (struct hi_dw_ref){unit->file, unit->offset + offset,
					      unit->in_types};
	return true;
}

static bool give_global(struct hi_dw_value *ret, struct hi_dw_file *file, uint64_t offset)
{
	ret->class = HI_DW_REF;
	if (file && offset < file->sections[HI_DW_INFO].size)
		ret->ref = (struct hi_dw_ref){file, offset, false};
	return true;
}

static bool give_signed(struct hi_dw_value *ret, struct hi_dw_unit *unit,
			uint64_t signature)
{
	struct hi_dw_unit *target = hi_dw_unit_signed(unit->file, signature);

	ret->class = HI_DW_REF;
	if (target)
		ret->ref = (struct hi_dw_ref){target->file, target->type_offset,
					      target->in_types};
	return true;
}

static bool give_alt_string(struct hi_dw_value *ret, const struct hi_dw_unit *unit,
			    uint64_t offset)
{
	const struct hi_dw_file *alt = unit->file->alt;

	return give_string(ret,
			   alt ? string_in(&alt->sections[HI_DW_STR], offset) : NULL);
}

static bool give_address(struct hi_dw_value *ret, const struct hi_dw_unit *unit,
			 uint64_t index)
{
	ret->class =
		hi_dw_address_at(unit, index, &ret->u) ? HI_DW_ADDRESS : HI_DW_NOTHING;
	return true;
}

static bool read_string_form(struct hi_dw_unit *unit, struct hi_dw_cursor *cursor,
			     uint16_t form, struct hi_dw_value *ret)
{
	const struct hi_dw_section *sections = unit->file->sections;
	unsigned offset = unit->offset_size;

	switch (form) {
	case DW_FORM_string:
		return give_string(ret, hi_dw_cstring(cursor));
	case DW_FORM_strp:
		return give_string(
			ret, string_in(&sections[HI_DW_STR], hi_dw_uint(cursor, offset)));
	case DW_FORM_line_strp:
		return give_string(ret, string_in(&sections[HI_DW_LINE_STR],
						  hi_dw_uint(cursor, offset)));
	case DW_FORM_strp_sup:
	case FORM_GNU_STRP_ALT:
		return give_alt_string(ret, unit, hi_dw_uint(cursor, offset));
	case DW_FORM_strx:
	case FORM_GNU_STR_INDEX:
		return give_string(ret, string_indexed(unit, hi_dw_uleb(cursor)));
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
		return give_string(
			ret, string_indexed(unit, hi_dw_uint(cursor,
							     form - DW_FORM_strx1 + 1u)));
	case DW_FORM_strx4:
		return give_string(ret, string_indexed(unit, hi_dw_uint(cursor, 4)));
	default:
		return false;
	}
}

static bool read_ref_form(struct hi_dw_unit *unit, struct hi_dw_cursor *cursor,
			  uint16_t form, struct hi_dw_value *ret)
{
	uint32_t size = 0;

	hi_dw_form_fixed(unit, form, &size);
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		return give_local(ret, unit, hi_dw_uint(cursor, size));
	case DW_FORM_ref_udata:
		return give_local(ret, unit, hi_dw_uleb(cursor));
	case DW_FORM_ref_addr:
		return give_global(ret, unit->file, hi_dw_uint(cursor, size));
	case DW_FORM_ref_sig8:
		return give_signed(ret, unit, hi_dw_uint(cursor, 8));
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case FORM_GNU_REF_ALT:
		return give_global(ret, unit->file->alt, hi_dw_uint(cursor, size));
	default:
		return read_string_form(unit, cursor, form, ret);
	}
}

bool hi_dw_form_read(struct hi_dw_unit *unit, struct hi_dw_cursor *cursor, uint16_t form,
		     int64_t implicit, struct hi_dw_value *ret)
{
	bool known;

	*ret = (struct hi_dw_value){};
	switch (form) {
	case DW_FORM_implicit_const:
		ret->is_signed = true;
		return give_constant(ret, (uint64_t)implicit);
	case DW_FORM_data1:
		known = give_constant(ret, hi_dw_uint(cursor, 1));
		break;
	case DW_FORM_data2:
		known = give_constant(ret, hi_dw_uint(cursor, 2));
		break;
	case DW_FORM_data4:
		known = give_constant(ret, hi_dw_uint(cursor, 4));
		break;
	case DW_FORM_data8:
		known = give_constant(ret, hi_dw_uint(cursor, 8));
		break;
	case DW_FORM_udata:
		known = give_constant(ret, hi_dw_uleb(cursor));
		break;
	case DW_FORM_sdata:
		ret->is_signed = true;
		known = give_constant(ret, (uint64_t)hi_dw_sleb(cursor));
		break;
	case DW_FORM_flag_present:
		ret->class = HI_DW_FLAG;
		ret->u = 1;
		return true;
	case DW_FORM_flag:
		ret->class = HI_DW_FLAG;
		ret->u = hi_dw_uint(cursor, 1);
		known = true;
		break;
	case DW_FORM_sec_offset:
		ret->class = HI_DW_OFFSET;
		ret->u = hi_dw_uint(cursor, unit->offset_size);
		known = true;
		break;
	case DW_FORM_addr:
		ret->class = HI_DW_ADDRESS;
		ret->u = hi_dw_uint(cursor, unit->address_size);
		known = true;
		break;
	case DW_FORM_addrx:
	case FORM_GNU_ADDR_INDEX:
		known = give_address(ret, unit, hi_dw_uleb(cursor));
		break;
	case DW_FORM_exprloc:
	case DW_FORM_block:
		known = give_block(ret, cursor, hi_dw_uleb(cursor));
		break;
	case DW_FORM_block1:
		known = give_block(ret, cursor, hi_dw_uint(cursor, 1));
		break;
	case DW_FORM_block2:
		known = give_block(ret, cursor, hi_dw_uint(cursor, 2));
		break;
	case DW_FORM_block4:
		known = give_block(ret, cursor, hi_dw_uint(cursor, 4));
		break;
	default:
		known = read_ref_form(unit, cursor, form, ret);
		if (!known)
			known = hi_dw_form_skip(unit, cursor, form);
		break;
	}
	return known && !cursor->bad;
}
