/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the names in gates: a type or variable that the program does not have is an
 * error.
 */
#ifndef HI_CLI_GATE_NAMES_H
#define HI_CLI_GATE_NAMES_H

#include "report/views/gate.h"
#include "session/inspect.h"

/*
 * HI_NOT_FOUND with the nearest names: the gate names a variable, a module or a type that
 * neither the heap nor its baseline (NULL: none) has or could have. Such a gate would be
 * one that never fails. Where that cannot be known, it is no mistake: a type of which no
 * object lives now (out of a snapshot file, of a runtime, as a pattern).
 */
enum hi_status hi_gate_check_names(const struct hi_gate *gate, struct hi_inspection *in,
				   struct hi_inspection *before, struct hi_error *err);

#endif
