/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates rules on the bytes of a record: where its words lead, and to which types.
 *
 * Note [What rules lack]
 *
 * A rule that could not be resolved must not make a leak: context is missing, no case has
 * the value, memory that it reads is unreadable. Then its word is reported as one that
 * may be a pointer (`doubtful`). If not even the words are known (bounds of a loop, a
 * place), the whole record is read conservatively (`unresolved`). The missing part is
 * kept in the rule, for warnings. An `if` whose condition does not hold is resolved: the
 * word is not followed.
 */
#ifndef HI_DECODE_RULES_APPLY_H
#define HI_DECODE_RULES_APPLY_H

#include "decode/rules/rules.h"

/* For one thread. */
struct hi_applier {
	const struct hi_rule_source *source;
	void *arg; /* of read and usable */
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	uint64_t (*usable)(void *arg, uint64_t addr);
	uint64_t bounded;   /* loops that were cut at their bound */
	uint64_t max_steps; /* of one loop; the number of objects, at least 1 << 16 */
	bool keeps_lacks;   /* in the rules */
	bool types_only;    /* references of which no type is known are left out */
	bool unresolved;    /* set where words of a record are not known; never cleared */
};

struct hi_record_at {
	uint64_t addr;		   /* of the record */
	uint64_t block, block_end; /* [block, block_end) is the object it is in */
	const uint8_t *host;	 /* the bytes of the object; NULL: only read() has them */
	const uint64_t *context; /* HI_CONTEXT_WORDS, or NULL */
	bool edges_only;	 /* only references of own words; lists and slots are not
			  * walked, no types are inferred */
};

/* A reference that a rule describes. */
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
	uint64_t from, count; /* live elements; count UINT64_MAX: unknown */
	struct hi_live live;
	uint64_t lead; /* bytes before the first element */
	bool quiet, part;
	uint64_t slot_size; /* slot only */
	bool doubtful;	    /* it may be no pointer: its rule could not be resolved */
	uint64_t lacks;	    /* what the rule lacked; 0: nothing */
	/* That is passed on: HI_CONTEXT_WORDS, during the call; NULL: none. */
	const uint64_t *context;
};
typedef void hi_rule_reference_fn(void *arg, const struct hi_rule_reference *reference);

/* Calls fn for each reference that the rules describe. */
void hi_rules_apply(struct hi_applier *a, const struct hi_rules *rules,
		    const struct hi_record_at *at, hi_rule_reference_fn *fn,
		    void *fn_arg);
/* The type of the record by its `variant` statements; its declared type when none fits.
 */
hi_type_id hi_rules_variant(struct hi_applier *a, const struct hi_rules *rules,
			    const struct hi_record_at *at);
/* True: a `variant` statement could not be resolved. */
bool hi_rules_variant_is_open(struct hi_applier *a, const struct hi_rules *rules,
			      const struct hi_record_at *at);
/* Keeps what was missing, for warnings. */
void hi_rule_note_lacks(_Atomic uint64_t *kept, uint64_t lacks);
/* Do rules describe the bytes after the record in its block? */
bool hi_rules_tail_known(struct hi_applier *a, const struct hi_rules *rules,
			 const struct hi_record_at *at);
/* Bytes of the whole object by its `size` statement; else `otherwise`. */
uint64_t hi_rules_size(struct hi_applier *a, const struct hi_rules *rules,
		       const struct hi_record_at *at, uint64_t otherwise);

#endif
