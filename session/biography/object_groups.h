/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups in which biographies are counted: objects of one type that one function
 * allocated in one era, and that one root variable keeps alive. A
 * group keeps its number in all censuses of a series, whatever numbers types and frames
 * have in each of them.
 */
#ifndef HI_SESSION_BIOGRAPHY_OBJECT_GROUPS_H
#define HI_SESSION_BIOGRAPHY_OBJECT_GROUPS_H

#include "base/interner.h"
#include "base/table.h"
#include "session/recorded.h"

/* Numbers in the texts of the groups; 0: "". Module: of the type. */
struct hi_object_group {
	uint32_t type, module, site;
	uint32_t era;	  /* of the births, as a text, too */
	uint32_t root;	  /* that alone keeps it alive; 0: none is known */
	bool is_inherent; /* --inherent names the type */
};

/* Zero-initialised is empty. */
struct hi_object_groups {
	struct hi_interner texts;
	struct HI_VECTOR(struct hi_object_group) list;
	/* From pairs to their number: of type and site, of era and root, of these two. */
	struct hi_table types_and_sites, eras_and_roots, index;
	uint32_t era; /* of what is born now; as a text */
	/* Of the census that is added now; by type and by context of it. */
	uint32_t *types, *modules, *sites;
	const bool *inherent;
	uint32_t n_types, n_contexts;
	const struct hi_recorded *recorded;
};

/*
 * Before the objects of a census are looked up. recorded NULL: no object has a site.
 * inherent: by type of the graph, whether its use cannot be seen; NULL: of none. All are
 * borrowed until the next call. HI_NO_MEMORY.
 */
enum hi_status hi_object_groups_begin(struct hi_object_groups *groups,
				      const struct hi_graph *graph,
				      const struct hi_recorded *recorded,
				      const bool *inherent, struct hi_error *err);
/* The number of a text, for eras and roots; "" is 0. HI_NO_MEMORY. */
enum hi_status hi_object_groups_text(struct hi_object_groups *groups, const char *text,
				     uint32_t *ret, struct hi_error *err);
/* The group of an object of that graph that was born in this era, and has this root.
 * before: its group at the last census, NULL for a new one: what nothing leads to any
 * more has lost its type, and keeps that one. HI_NO_MEMORY, HI_LIMIT. */
enum hi_status hi_object_groups_find(struct hi_object_groups *groups,
				     const struct hi_graph *graph, hi_node object,
				     const struct hi_object_group *before, uint32_t era,
				     uint32_t root, uint32_t *ret, struct hi_error *err);
void hi_object_groups_free(struct hi_object_groups *groups);

#endif
