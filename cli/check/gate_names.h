/* SPDX-License-Identifier: BSD-2-Clause */
/* Selectors of gates that match nothing. */
#ifndef HI_CLI_CHECK_GATE_NAMES_H
#define HI_CLI_CHECK_GATE_NAMES_H

#include "report/reports/check/gate.h"
#include "session/inspect/inspect.h"

/*
 * Returns NULL, or a sentence without a full stop on the first type, module or variable
 * of the gate of which neither the heap nor the earlier one (NULL: none) has an object,
 * with the nearest names. Such a gate counts 0, and would never fail. The text lives in
 * the arena of `in`; it has names of the target in it, unescaped.
 */
const char *hi_gate_unmatched(const struct hi_gate *gate, struct hi_inspection *in,
			      struct hi_inspection *before);

#endif
