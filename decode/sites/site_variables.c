/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/sites/site_variables.h"

#include <dwarf.h>
#include <string.h>

#include "decode/modules/code_walk.h"

enum {
	VARIABLES_MAX = 4096, /* DIEs of a function that are looked at */
	PARTS_MAX = 16,	      /* first members in each other */
};

struct variable_search {
	struct hi_types *types;
	struct hi_module *module;
	const struct hi_alloc_site *site;
	const struct hi_type *of_line; /* NULL: none */
	hi_type_id of_size;
	bool is_ambiguous;
};

/* Memory of characters or of nothing tells no type. */
static const struct hi_type *pointed_type(struct variable_search *s, Dwarf_Die *die)
{
	const struct hi_type *type, *to;
	Dwarf_Die typed;

	if (!hi_die_find_typed(die, &typed))
		return NULL;
	type = hi_type_get(s->types, hi_types_of_die(s->types, s->module, &typed));
	if (type->kind != HI_KIND_POINTER)
		return NULL;
	to = hi_type_get(s->types, type->target);
	return to->size > 1 && *to->name && to->n_members ? to : NULL;
}

/* As many bytes, or an array of it. */
static bool fits_call(const struct hi_alloc_site *site, const struct hi_type *type)
{
	if (site->kind == HI_ALLOC_OF_SIZE)
		return site->size % type->size == 0;
	return site->size % type->size == 0 || site->size < 2;
}

static void take_variable(struct variable_search *s, Dwarf_Die *die)
{
	const struct hi_type *type = pointed_type(s, die);
	int line;

	if (!type || !fits_call(s->site, type))
		return;
	if (dwarf_tag(die) == DW_TAG_variable && dwarf_decl_line(die, &line) == 0 &&
	    line > 0 && (uint32_t)line == s->site->line)
		s->of_line = type;
	if (s->site->kind != HI_ALLOC_OF_SIZE || type->size != s->site->size)
		return;
	s->is_ambiguous |= s->of_size && s->of_size != type->id;
	s->of_size = type->id;
}

const struct hi_type *hi_site_variable_type(struct hi_types *types,
					    struct hi_module *module,
					    const Dwarf_Die *function,
					    const struct hi_alloc_site *site)
{
	struct variable_search s = {.types = types, .module = module, .site = site};
	struct hi_code_walk walk;
	struct hi_code_step step;
	Dwarf_Die result = *function;

	take_variable(&s, &result);
	hi_code_walk_begin(&walk, function);
	for (unsigned i = 0; i < VARIABLES_MAX && hi_code_walk_next(&walk, &step); i++) {
		int tag = dwarf_tag(&step.die);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			take_variable(&s, &step.die);
		else if (tag == DW_TAG_lexical_block)
			hi_code_walk_enter(&walk, &step);
	}
	if (s.of_line || !s.of_size || s.is_ambiguous)
		return s.of_line;
	return hi_type_get(types, s.of_size);
}

bool hi_site_type_may_be_text(struct hi_types *types, const struct hi_type *type)
{
	for (unsigned i = 0; i < PARTS_MAX; i++) {
		hi_type_id part = 0;

		if (type->kind == HI_KIND_UNION)
			return true;
		if (type->kind == HI_KIND_ARRAY)
			part = type->target;
		else if (type->kind == HI_KIND_STRUCT && type->n_members &&
			 type->members[0].offset == 0)
			part = type->members[0].type;
		else
			return type->kind == HI_KIND_CHAR ||
			       type->kind == HI_KIND_UNKNOWN;
		type = hi_type_get(types, part);
	}
	return true;
}
