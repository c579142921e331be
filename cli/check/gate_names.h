/* SPDX-License-Identifier: BSD-2-Clause */
/* Selectors of gates that match nothing. */
#ifndef HI_CLI_CHECK_GATE_NAMES_H
#define HI_CLI_CHECK_GATE_NAMES_H

#include "report/reports/check/gate.h"
#include "session/inspect/inspect.h"

/* A name of a gate, and what it selects. */
struct hi_gate_name {
	/* A sentence without a full stop on the first type, module or variable of which
	 * neither heap has an object, with the nearest names; NULL: there is none. It
	 * lives in the arena of `in`, and has names of the target in it, unescaped. */
	const char *unmatched;
	const struct hi_gate_metric *metric; /* whose name that is */
	/* The program has it all the same: a type of its debug information, a mapped
	 * module. */
	bool is_known;
};

/*
 * Looks the names of a gate up in the heap and in the earlier one (NULL: none), and notes
 * which type was taken for a name without qualifiers. A gate on a name that is not there
 * counts 0, and would never fail. HI_USAGE: a name is that of several types.
 */
enum hi_status hi_gate_check_names(const struct hi_gate *gate, struct hi_inspection *in,
				   struct hi_inspection *before, struct hi_gate_name *ret,
				   struct hi_error *err);

#endif
