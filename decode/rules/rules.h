/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules: knowledge about a type beyond its debug information. Containers
 * (hints/libstdc++.hints, …) and hints (hints/redis.hints, --hints FILE) are written in
 * one language (docs/HINTS.md) and compiled on demand for the types that are met. This
 * header is the compiled form, as data: the rulebook makes it, apply.h evaluates it,
 * tests write it by hand.
 */
#ifndef HI_DECODE_RULES_RULES_H
#define HI_DECODE_RULES_RULES_H

#include "census/graph/graph.h"
#include "decode/expressions/expression.h"

enum hi_target_kind {
	HI_TARGET_TYPE,	   /* `type`, `count` elements of it */
	HI_TARGET_BLOB,	   /* a buffer that holds no pointers, called `name` */
	HI_TARGET_WORDS,   /* a buffer of unknown words (conservative), called `name` */
	HI_TARGET_ANY,	   /* an edge; its target's type is unknown */
	HI_TARGET_SCALAR,  /* the word is no pointer: no edge */
	HI_TARGET_CONTEXT, /* the target that the context holds under `key` */
	HI_TARGET_SYMBOL,  /* by the name of the function at `symbol` (std::any) */
};

/* Which elements of a counted array are live, where they are not all in one run. */
enum hi_live_kind {
	HI_LIVE_ALL,
	HI_LIVE_FULL, /* k is live if the byte at block + at + k * step is below 128 */
	HI_LIVE_RING, /* `step` elements from `at` on; they go on at the array's start */
};
struct hi_live {
	uint64_t kind, at, step; /* modulo 2^64 */
};

struct hi_rule_target;
struct hi_with {			     /* context that is passed on */
	uint32_t key;			     /* < HI_CONTEXT_KEYS */
	const struct hi_code *value;	     /* an integer; or */
	const struct hi_rule_target *target; /* a target (never CONTEXT) */
};

/* Elements [from, to) of the target are live; what lies outside is a dead tail.
 */
struct hi_rule_target {
	enum hi_target_kind kind;
	hi_type_id type;  /* TYPE */
	const char *name; /* BLOB, WORDS; TYPE: what these elements are called, or NULL */
	uint32_t key;	  /* CONTEXT */
	const struct hi_code
		*symbol; /* SYMBOL: an address; `pattern` is the rulebook's */
	const void *pattern;
	/* Number of elements, or first and one past the last live one; NULL, NULL:
	 * unknown (one, or an array where the size of the block fits). */
	const struct hi_code *from, *to;
	/* Which of them are live: those whose byte at `full` + k (down: - k) is below
	 * 128; with `ring`, its capacity, they go on at the start. NULL: all. */
	const struct hi_code *full, *ring;
	const struct hi_code *lead; /* bytes before the first; NULL: 0 */
	bool down;
	bool quiet; /* its pointers are edges; other rules infer their targets */
	bool part;  /* of a longer sequence: the elements' numbers say nothing */
	/* Bytes that the object begins before the address (`back`, `in T.member`). */
	const struct hi_code *back;
	const struct hi_with *with;
	uint32_t n_with;
};

/* The first whose `when` is not 0 is taken; none: the word is not followed, unless the
 * rule is `closed` or lacks something (Note [What rules lack] in apply.h). */
struct hi_case {
	const struct hi_code *when; /* NULL: always */
	struct hi_rule_target target;
};

enum hi_rule_kind {
	HI_RULE_POINTER, /* the word at `lvalue` leads to the target */
	HI_RULE_PLACE,	 /* the target lies at `lvalue` itself (TYPE, BLOB, WORDS) */
	HI_RULE_EACH,	 /* a list: $ = the word at lvalue, then `next` of it, until
			  * `until`; each leads to the target */
	HI_RULE_POOL,	 /* the word leads to `slots` slots of slot_size bytes; for
			  * each ($: its address, i: its number) the case that fits;
			  * none: a free slot, no object */
};

/* Inputs that were missing to resolve a rule: a bit for each context key, and these. */
enum {
	HI_LACK_CASE = 1 << HI_CONTEXT_KEYS, /* no case of a switch takes the value */
	HI_LACK_SYMBOL = HI_LACK_CASE << 1,  /* no function's name fits */
	HI_LACK_MEMORY = HI_LACK_CASE << 2,  /* memory that it reads is unreadable */
};

struct hi_rule {
	enum hi_rule_kind kind;
	/* Address of the word or place, from `this` and `i`. A word outside of the
	 * object's own block infers a type, but is no edge of this object. */
	const struct hi_code *lvalue;
	bool is_static; /* lvalue = this + offset + i * stride */
	uint64_t offset, stride;
	const struct hi_code *first, *last; /* i runs over [first, last); NULL: 0, 1 */
	const struct hi_code *when;	    /* NULL: always; the rule as a whole */
	bool weak;			    /* its edges retain nothing */
	uint64_t mask;			    /* of the pointer's bits; 0: all */
	const struct hi_code *next, *until; /* EACH; until may be NULL: until 0 */
	const struct hi_code *slots, *slot_size; /* POOL */
	const struct hi_case *cases;
	uint32_t n_cases;
	bool closed;		 /* a switch: there is a case for each value */
	_Atomic uint64_t *lacks; /* what was missing for some object; NULL: not kept */
	const char *text;	 /* the lvalue as written, for paths: "ht_table[i]" */
	const char *origin;	 /* "redis.hints:12" */
	_Atomic uint64_t *hits;	 /* not 0: a case was taken; never NULL */
};

/* All rules of one type. Immutable once handed out. */
struct hi_rules {
	hi_type_id type;
	enum hi_evidence evidence; /* of types that its rules infer: CONTAINER */
	const struct hi_rule *items;
	uint32_t n;
	/* Only words that rules name are followed. Else all members are, but those whose
	 * bytes a static rule names. */
	bool only;
	/* The type is laid out as another one (aligned_membuf<T> is T); 0: no. */
	hi_type_id same_as;
	/* The type is another one, by the record's contents: the target of the first that
	 * fits; kind TYPE only. */
	const struct hi_case *variants;
	uint32_t n_variants;
	bool variants_closed;
	_Atomic uint64_t *variants_lacks; /* as in struct hi_rule */
	const char *variants_origin;
	/* The bytes after the record in its block are known (by PLACE rules or as a
	 * blob): no conservative words there. NULL: unknown. */
	const struct hi_code *tail_known;
	const struct hi_code *size; /* bytes of the whole object, tail included; NULL */
	bool has_capacity; /* a container: count below what fits is unused capacity */
	bool is_node;	   /* any other candidate is better: list heads look like nodes */
	uint64_t wants;	   /* context keys that its rules read, directly or through
			    * the targets that they pass them on to */
};

/* How paths write what lies in a type (`show`, docs/HINTS.md). Immutable once handed out.
 * Places are bytes from the record's start; [i] of a place is `stride` bytes further. */
enum hi_shown_kind {
	HI_SHOWN_PLAIN,	  /* members by their names */
	HI_SHOWN_HIDDEN,  /* nothing of what lies in it */
	HI_SHOWN_VALUE,	  /* the value at `value` stands for the record */
	HI_SHOWN_ELEMENT, /* the same, and it is an element: "[key]" goes before it */
};
struct hi_shown_place {
	uint64_t offset, stride, size;
	hi_type_id type; /* 0: there is no such place */
};
struct hi_shown {
	enum hi_shown_kind kind;
	/* Pointers in VALUE and ELEMENT that lie outside of both places lead to other
	 * nodes of the same container. */
	struct hi_shown_place value, key;
	/* It is a string: `length` characters of char_size bytes at `text`. NULL: it is
	 * none. */
	const struct hi_code *text, *length;
	unsigned char_size; /* 1 or 2 */
	/* It is a container with this number of elements, which lie in [first, last).
	 * count NULL: it is none; first NULL: each element has a node of its own. */
	const struct hi_code *count, *first, *last;
	bool is_link; /* what points to it leads on in the same container */
};

/* The source of rules. NULL: there are none. Thread-safe. */
struct hi_rule_source {
	void *arg;
	/* Bytes before the address that the program's allocation wrapper returns, in
	 * every block that it allocates (`header N;`); 0: unknown. */
	uint64_t block_header;
	const struct hi_rules *(*rules)(void *arg, hi_type_id type);
	/* Returns the rules of a root variable: one POINTER or PLACE rule with lvalue =
	 * the variable, `this` its address; NULL none. */
	const struct hi_rules *(*root_rules)(void *arg, const struct hi_variable *var);
	/* Resolves a SYMBOL target by a code address to another target, never SYMBOL
	 * itself; NULL: the name does not fit. Cached. */
	const struct hi_rule_target *(*of_symbol)(void *arg,
						  const struct hi_rule_target *target,
						  uint64_t address);
	/* NULL: plain. */
	const struct hi_shown *(*shown)(void *arg, hi_type_id type);
	/* Do paths leave out members of this name? */
	bool (*hides)(void *arg, const char *member);
};

#endif
