/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of templates: children of an instance's record. Types stay unread like
 * those of members; a pack is a DIE of its own around its elements. Templates as
 * arguments (DW_TAG_GNU_template_template_param) name no type and are left out.
 * Values of static members are kept beside them.
 */
#include "decode/types/types_internal.h"

enum { ARGS_MAX = 1 << 12, CONSTANTS_MAX = 256 }; /* of one record */

static void add_type_arg(struct hi_types *types, uint32_t module,
			 const struct hi_dw_die *die, const char *name, bool of_pack,
			 struct hi_type_args *args)
{
	struct hi_template_arg arg = {.name = name ? name : "", .of_pack = of_pack};

	if (args->items.count >= ARGS_MAX)
		return;
	if (die->tag == DW_TAG_template_type_parameter)
		arg.type = hi_slot_of_die(types, module, die->type);
	else if (die->tag == DW_TAG_template_value_parameter)
		arg.value = die->value;
	else
		return;
	if (!hi_vector_push(&args->items, arg))
		args->no_memory = true;
}

static void add_constant_arg(const struct hi_dw_die *die, struct hi_type_args *args)
{
	const struct hi_constant constant = {die->name, die->value};

	if (!die->name || !die->const_value || args->constants.count >= CONSTANTS_MAX)
		return;
	if (!hi_vector_push(&args->constants, constant))
		args->no_memory = true;
}

void hi_type_args_take(struct hi_types *types, uint32_t module,
		       const struct hi_dw_die *child, struct hi_type_args *args)
{
	struct hi_dw_die element;
	uint64_t at = child->next;

	if (child->tag == DW_TAG_variable || child->tag == DW_TAG_member) {
		add_constant_arg(child, args);
		return;
	}
	if (child->tag != DW_TAG_GNU_template_parameter_pack) {
		add_type_arg(types, module, child, child->name, false, args);
		return;
	}
	while (!args->no_memory && args->items.count < ARGS_MAX &&
	       hi_dw_child_next(child, &at, &element))
		add_type_arg(types, module, &element, child->name, true, args);
}
