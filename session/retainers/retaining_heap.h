/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the objects that are retainers by each kind of --retainer (retaining.h). */
#ifndef HI_SESSION_RETAINERS_RETAINING_HEAP_H
#define HI_SESSION_RETAINERS_RETAINING_HEAP_H

#include "session/inspection.h"

struct hi_retaining_heap {
	uint64_t *bits;	  /* by node */
	bool *auto_types; /* by graph type; NULL: auto was not asked for */
	bool auto_by_hints;
};

/* HI_NOT_FOUND, HI_USAGE: no such type, with the nearest names; no such field. The
 * caller frees what there is, also on failure. */
enum hi_status hi_retaining_heap_find(struct hi_inspection *in,
				      struct hi_retaining_heap *heap,
				      struct hi_error *err);
/* Does one of the arguments need dominators? */
bool hi_retaining_wants_dominators(const struct hi_options *options);

#endif
