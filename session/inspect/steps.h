/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Steps beside each other]
 *
 * Results are computed in steps, each of which may need others. Steps that do not need
 * each other run at once, so that a search that is serial by nature (dominators, suspects)
 * does not keep the other processors waiting. A table lists them in an order in which each
 * follows what it needs: that is the order of one thread. With more, a thread that is idle
 * begins the first step that can run.
 *
 * A step writes its own result alone, and reads those of the steps that it needs. So the
 * results do not depend on the number of threads. What several would have to write must not
 * be in steps that can meet: warnings, the arena, the state of the decoders
 * (session/inspect/inspect.c says which steps use it).
 */
#ifndef HI_SESSION_INSPECT_STEPS_H
#define HI_SESSION_INSPECT_STEPS_H

#include "session/inspection.h"

struct hi_step {
	const char *name; /* of the phase; static storage; NULL: it is none */
	enum hi_status (*run)(struct hi_inspection *in, struct hi_error *err);
	uint32_t needs; /* a bit for each step; of steps before it in the table */
	bool is_wanted; /* else it counts as done */
};

enum { HI_STEPS_MOST = 32 };

/* Runs those that are wanted on at most so many threads, and returns when all are done, or
 * one has failed and no other runs any more: then err is that of the first in the table
 * that failed. */
enum hi_status hi_steps_run(struct hi_inspection *in, const struct hi_step *steps,
			    unsigned n, unsigned threads, struct hi_error *err);

#endif
