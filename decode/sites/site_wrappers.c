/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/sites/site_wrappers.h"

#include <dwarf.h>

#include "decode/modules/code_walk.h"

enum {
	PARTS_OF_WRAPPER = 256, /* DIEs that are looked at */
	NAMES_OF_TYPE = 16,	/* typedefs and qualifiers of each other */
	SIZE_BYTES = 4,		/* the least of a number that is a size */
};

/* The type without typedefs and qualifiers. False: void, or broken. */
static bool find_bare_type(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	*ret = *die;
	for (unsigned i = 0; i < NAMES_OF_TYPE; i++) {
		int tag;

		if (!dwarf_attr_integrate(ret, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, ret))
			return false;
		tag = dwarf_tag(ret);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type)
			return true;
	}
	return false;
}

static bool returns_untyped_memory(Dwarf_Die *function)
{
	Dwarf_Die type, to;

	return find_bare_type(function, &type) &&
	       dwarf_tag(&type) == DW_TAG_pointer_type && !find_bare_type(&type, &to);
}

static bool is_size_parameter(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0, size = 0;
	Dwarf_Die type;

	return find_bare_type(die, &type) && dwarf_tag(&type) == DW_TAG_base_type &&
	       dwarf_attr(&type, DW_AT_encoding, &attribute) &&
	       dwarf_formudata(&attribute, &encoding) == 0 &&
	       encoding == DW_ATE_unsigned &&
	       dwarf_attr(&type, DW_AT_byte_size, &attribute) &&
	       dwarf_formudata(&attribute, &size) == 0 && size >= SIZE_BYTES;
}

static bool points_to_record(Dwarf_Die *die)
{
	Dwarf_Die type, to;

	if (!find_bare_type(die, &type) || dwarf_tag(&type) != DW_TAG_pointer_type ||
	    !find_bare_type(&type, &to))
		return false;
	return dwarf_tag(&to) == DW_TAG_structure_type ||
	       dwarf_tag(&to) == DW_TAG_class_type || dwarf_tag(&to) == DW_TAG_union_type;
}

bool hi_site_gives_what_is_asked(const Dwarf_Die *inlined)
{
	Dwarf_Die function = *inlined, origin;
	Dwarf_Attribute attribute;
	struct hi_code_walk walk;
	struct hi_code_step step;
	bool takes_size = false;

	if (dwarf_attr(&function, DW_AT_abstract_origin, &attribute) &&
	    dwarf_formref_die(&attribute, &origin))
		function = origin;
	if (!returns_untyped_memory(&function))
		return false;
	hi_code_walk_begin(&walk, &function);
	for (unsigned i = 0; i < PARTS_OF_WRAPPER && hi_code_walk_next(&walk, &step);
	     i++) {
		int tag = dwarf_tag(&step.die);

		if (tag == DW_TAG_variable && points_to_record(&step.die))
			return false;
		if (tag == DW_TAG_formal_parameter)
			takes_size |= is_size_parameter(&step.die);
		else if (tag == DW_TAG_lexical_block)
			hi_code_walk_enter(&walk, &step);
	}
	return takes_size;
}
