/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why an object has its type, back to a root: the chain of fields each of which
 * says what the next object is.
 */
#ifndef HI_DECODE_DESCRIBE_PROOF_H
#define HI_DECODE_DESCRIBE_PROOF_H

#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"

/* What the field of `from` that leads to `to` says about it. */
struct hi_inferred_type {
	char type[200];	    /* "dictEntry *", escaped; "" nothing */
	const char *origin; /* rule that says so, "redis.hints:12"; "" the field's
			     * declared type; borrowed */
	bool is_accepted;   /* `to` has this type */
};
/* False: no typed field of `from` leads there. */
bool hi_inferred_type_of(struct hi_typing *typing, const struct hi_graph *graph,
			 hi_node from, hi_node to, struct hi_inferred_type *ret);

struct hi_proof_step {
	hi_node from, to;
	char field[300]; /* "server.db[0].dict", "->ht_table[0]"; escaped */
	struct hi_inferred_type inferred;
};
/* steps[0].from is a root variable, or an object that is its own proof (by a vtable
 * or runtime metadata); the last step leads to the object. */
struct hi_proof {
	struct hi_proof_step *steps;
	size_t n_steps;
	size_t gap, left_out; /* steps left out before steps[gap] */
};
enum { HI_PROOF_HEAD = 4, HI_PROOF_TAIL = 8 }; /* steps kept */

/*
 * A shortest way of precise edges; where one of its last steps says something
 * else, by the nearest referrer that agrees. No steps: the object is its own proof, or no
 * precise edges lead there from a root. Some bytes per node while it runs.
 */
enum hi_status hi_typing_prove(struct hi_typing *typing, const struct hi_graph *graph,
			       hi_node object, struct hi_proof **ret,
			       struct hi_error *err);
void hi_proof_destroy(struct hi_proof *proof);

#endif
