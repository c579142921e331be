/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions of safepoints, compiled to what the BPF program evaluates:
 *
 *	TERM && TERM …     at most 8
 *	TERM   VALUE OP NUMBER | NUMBER OP VALUE       OP: == != < <= > >=
 *	VALUE  NAME | $1 … $6 ($arg1 …) | VALUE->member | VALUE.member | *VALUE
 *	NUMBER 12 -3 0x1f 'c' NULL true false
 *
 * NAME is an argument of the function, else a global or static variable (ns::name,
 * function()::name), else, arg1 to arg6, the same as $1 to $6. Signs and sizes are those
 * of the debug information; a symbol without is a signed number of its size, $n without
 * is 64 bits. A comparison with memory that cannot be read at the hit is false.
 */
#ifndef HI_PROBES_CONDITION_H
#define HI_PROBES_CONDITION_H

#include "probes/target_code.h"

/* entry: of the function that is probed; 0: there is none, arguments are refused.
 * HI_USAGE: err->text has the column, from 1, and what was expected. */
enum hi_status hi_condition_compile(struct hi_target_code *code, const char *text,
				    uint64_t entry, struct hi_condition *ret,
				    struct hi_error *err);
/* Do both test the same? */
bool hi_conditions_equal(const struct hi_condition *a, const struct hi_condition *b);

#endif
