/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why an object has its type: the chain of fields from a root to the object, each of
 * which infers the type of the next object.
 */
#ifndef HI_DECODE_DESCRIBE_EVIDENCE_CHAIN_H
#define HI_DECODE_DESCRIBE_EVIDENCE_CHAIN_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"

/* The type that a field of `from` infers for `to`. */
struct hi_inferred_type {
	char type[200];	    /* "dictEntry *", escaped; "" none */
	const char *origin; /* the rule, "redis.hints:12"; "" the field's declared type;
			     * borrowed */
	bool is_accepted;   /* `to` has this type */
};
/* False: no typed field of `from` leads there. */
bool hi_inferred_type_of(struct hi_typing *typing, const struct hi_graph *graph,
			 hi_node from, hi_node to, struct hi_inferred_type *ret);

struct hi_evidence_step {
	hi_node from, to;
	char field[300]; /* "server.db[0].dict", "->ht_table[0]"; escaped */
	struct hi_inferred_type inferred;
};
/* steps[0].from is a root variable, or an object whose type needs no chain (evidence:
 * vtable or runtime). The last step leads to the object. */
struct hi_evidence_chain {
	struct hi_evidence_step *steps;
	size_t n_steps;
	size_t gap, left_out; /* steps left out before steps[gap] */
};
enum { HI_EVIDENCE_CHAIN_HEAD = 4, HI_EVIDENCE_CHAIN_TAIL = 8 }; /* steps kept */

/*
 * Finds a shortest path of precise edges from a root. If one of its last
 * HI_EVIDENCE_CHAIN_TAIL steps infers another type than the object has, the nearest
 * referrer that agrees takes its place. No steps: the object needs no chain, or no
 * precise edges lead from a root to it. Needs 8 bytes per node while it runs.
 *
 * *ret: hi_evidence_chain_destroy(). HI_USAGE: `object` is no object.
 */
enum hi_status hi_evidence_chain_find(struct hi_typing *typing,
				      const struct hi_graph *graph, hi_node object,
				      struct hi_evidence_chain **ret,
				      struct hi_error *err);
void hi_evidence_chain_destroy(struct hi_evidence_chain *chain);
HI_DEFINE_GUARD(struct hi_evidence_chain *, hi_evidence_chain_destroy)

#endif
