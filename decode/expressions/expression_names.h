/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and types of a target for expressions: debug information first, then
 * symbols. */
#ifndef HI_DECODE_EXPRESSIONS_EXPRESSION_NAMES_H
#define HI_DECODE_EXPRESSIONS_EXPRESSION_NAMES_H

#include "decode/expressions/expression.h"
#include "decode/modules/modules.h"

/* Borrowed; lives as long as the source that is made of it. */
struct hi_expression_names {
	struct hi_types *types;
	struct hi_modules *modules; /* may be NULL: no symbols */
};

/*
 * A variable of the debug information has its type. A symbol has none: an object is a
 * 64-bit word in memory, anything else is code. A thread-local variable means the
 * instance that hi_types_variable_named() finds. Thread-safe.
 */
struct hi_expression_source hi_expression_source_of(struct hi_expression_names *names);

#endif
