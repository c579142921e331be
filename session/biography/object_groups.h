/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups in which biographies are counted: objects of one type that one function
 * allocated in one era, and that one root variable, or one retainer set, keeps alive. A
 * group keeps its number in all censuses of a series, whatever numbers types and frames
 * have in each of them.
 */
#ifndef HI_SESSION_BIOGRAPHY_OBJECT_GROUPS_H
#define HI_SESSION_BIOGRAPHY_OBJECT_GROUPS_H

#include "base/interner.h"
#include "base/table.h"
#include "session/options.h"
#include "session/recorded.h"

/* Numbers in the texts of the groups; 0: "". Module: of the type. */
struct hi_object_group {
	uint32_t type, module, site;
	uint32_t era;	    /* of the births, as a text, too */
	uint32_t root;	    /* that alone keeps it alive; 0: none is known */
	uint32_t retainers; /* their set; 0: none is known, or they were not asked for */
	bool is_inherent;   /* --inherent names the type */
	bool is_hidden;	    /* a restriction hides its objects: they do not count */
};

/* Labels of an object that the graph does not have. */
struct hi_object_labels {
	uint32_t era, root, retainers;
	bool is_hidden;
};

/* Zero-initialised is empty. */
struct hi_object_groups {
	struct hi_interner texts;
	struct HI_VECTOR(struct hi_object_group) list;
	/* From pairs to their number: of type and site, of root and retainers, of era and
	 * the latter, of the first and the third. */
	struct hi_table types_and_sites, kept_by, eras_and_kept_by, index;
	uint32_t era; /* of what is born now; as a text */
	/* Labels of the census that is added now; by type and by context of it. */
	uint32_t *types, *modules, *sites;
	/* By type: the group of its last object, plus 1; 0: none yet. */
	uint32_t *last;
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
/* The number of a text, for labels; "" is 0. HI_NO_MEMORY. */
enum hi_status hi_object_groups_text(struct hi_object_groups *groups, const char *text,
				     uint32_t *ret, struct hi_error *err);
/* The group of an object of that graph that has these labels.
 * before: its group at the last census, NULL for a new one: what nothing leads to any
 * more has lost its type, and keeps that one. HI_NO_MEMORY, HI_LIMIT. */
enum hi_status hi_object_groups_find(struct hi_object_groups *groups,
				     const struct hi_graph *graph, hi_node object,
				     const struct hi_object_group *before,
				     const struct hi_object_labels *labels, uint32_t *ret,
				     struct hi_error *err);
/* Its text in that break-down. */
uint32_t hi_object_group_text(const struct hi_object_group *group, enum hi_lives_by by);
const char *hi_lives_by_name(enum hi_lives_by by); /* "type", as --by has it */
void hi_object_groups_free(struct hi_object_groups *groups);

#endif
