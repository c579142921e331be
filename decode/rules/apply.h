/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules evaluated on the bytes of a record: what its words lead to.
 *
 * Note [What rules lack]
 *
 * A rule may not make a leak because it could not be resolved: context did not arrive,
 * no case takes a value, memory that it looks at is unreadable. Then its word is told
 * as one that may be a pointer (`doubtful`). Where not even the words are known (bounds
 * of a loop, a place), the whole record is read conservatively (`unresolved`). What was
 * missing is kept in the rule, for warnings. A condition that does not hold, of an
 * `if`, is an answer: the word is not followed.
 */
#ifndef HI_DECODE_RULES_APPLY_H
#define HI_DECODE_RULES_APPLY_H

#include "decode/layouts/layout.h"
#include "decode/rules/rules.h"

/* One thread's. */
struct hi_applier {
	const struct hi_rule_source *source;
	void *arg; /* of read and usable */
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	uint64_t (*usable)(void *arg, uint64_t addr);
	uint64_t bounded;   /* loops that were cut at their bound */
	uint64_t max_steps; /* of one loop; the number of objects, at least 1 << 16 */
	bool keeps_lacks;   /* in the rules */
	bool unresolved;    /* set where words of a record are not known; never cleared */
};

struct hi_record_at {
	uint64_t addr;		   /* of the record */
	uint64_t block, block_end; /* [block, block_end) is the object it is in */
	const uint64_t *context;   /* HI_CONTEXT_WORDS, or NULL */
	bool edges_only;	   /* nothing is to be proposed: lists and slots are not
				    * walked, only own words are told */
};

struct hi_rule_reference {
	const struct hi_rule *rule;
	const struct hi_rule_target *target; /* kind never CONTEXT or SYMBOL */
	bool place;			     /* the target lies at `to`, in this object */
	bool own;  /* the word lies in this object: it is an edge */
	bool slot; /* a slot of a pool: an object that must be split off */
	bool weak;
	uint64_t at;	      /* address of the word (place: of the target) */
	uint64_t word;	      /* its value, masked (place: 0) */
	uint64_t to;	      /* where the object begins: word - back */
	uint64_t index;	      /* i */
	uint64_t from, count; /* live elements; count UINT64_MAX: not said */
	struct hi_live live;
	uint64_t lead; /* bytes before the first element */
	bool quiet;
	uint64_t slot_size; /* slot only */
	bool doubtful;	    /* it may be no pointer: its rule could not be resolved */
	uint64_t lacks;	    /* what the rule lacked; 0: nothing */
	uint64_t context[HI_CONTEXT_WORDS]; /* that goes along */
};
typedef void hi_rule_reference_fn(void *arg, const struct hi_rule_reference *reference);

void hi_rules_apply(struct hi_applier *a, const struct hi_rules *rules,
		    const struct hi_record_at *at, hi_rule_reference_fn *fn,
		    void *fn_arg);
/* What the record at this address is in truth, by `variants`; its own type when
 * none fits. */
hi_type_id hi_rules_variant(struct hi_applier *a, const struct hi_rules *rules,
			    const struct hi_record_at *at);
/* It may be one of `variants`, but which of them is not known. */
bool hi_rules_variant_is_open(struct hi_applier *a, const struct hi_rules *rules,
			      const struct hi_record_at *at);
/* Keeps what a rule lacked. */
void hi_rule_note_lacks(_Atomic uint64_t *kept, uint64_t lacks);
/* Is the rest of its block known? */
bool hi_rules_tail_known(struct hi_applier *a, const struct hi_rules *rules,
			 const struct hi_record_at *at);
/* Bytes of the whole object; `otherwise` where the rules do not say. */
uint64_t hi_rules_size(struct hi_applier *a, const struct hi_rules *rules,
		       const struct hi_record_at *at, uint64_t otherwise);

#endif
