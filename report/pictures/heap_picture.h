/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture of what is retained, as plain data: the merged dominator tree
 * (census/analysis/merged.h) without its small parts, largest siblings first, and what is
 * leaked beside it. flame_svg.h and treemap_svg.h draw it.
 */
#ifndef HI_REPORT_PICTURES_HEAP_PICTURE_H
#define HI_REPORT_PICTURES_HEAP_PICTURE_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/analysis/merged.h"
#include "report/parts/report_header.h"

enum hi_picture_kind {
	HI_PICTURE_ROOT, /* the whole, kinds of roots, variables */
	HI_PICTURE_RECORD,
	HI_PICTURE_STRING,
	HI_PICTURE_SCALAR,
	HI_PICTURE_POINTERS, /* arrays of pointers */
	HI_PICTURE_ARRAY,
	HI_PICTURE_UNTYPED,
	HI_PICTURE_LEAKED,
	HI_PICTURE_REST, /* siblings that are too small to be drawn */
	HI_PICTURE_KINDS,
};
/* "variables", "records", …: for a legend. */
const char *hi_picture_kind_name(enum hi_picture_kind kind);
/* Of an object by its type; else ROOT. */
enum hi_picture_kind hi_picture_kind_of_node(const struct hi_graph *g, hi_node node);

/* Functions have the colours of their modules. */
enum { HI_PICTURE_COLORS = 12 };
/* Returns the number of a module's colour: the same in every picture, and of every version
 * of a library. */
unsigned hi_picture_module_color(const char *module);
/* Returns the colour by its number, "#f2b366". */
const char *hi_picture_color_text(unsigned color);

enum {
	HI_PICTURE_NODES = 3000, /* drawn at most */
	HI_PICTURE_NONE = -1,
};

struct hi_picture_node {
	int32_t parent;		 /* HI_PICTURE_NONE: the root, [0] */
	int32_t children, after; /* its children are [children, after) */
	uint32_t depth;		 /* 0: the root */
	enum hi_picture_kind kind;
	const char *label, *type; /* "->index", "hash node"; "" none; hostile */
	const char *full_type;	  /* NULL: as type; hostile */
	const char *module;	  /* of a function: base name of its file; NULL: none */
	uint64_t count;		  /* objects that it stands for; of REST: siblings */
	uint64_t bytes, own;	  /* with all below it; its own objects' */
};

struct hi_picture {
	struct hi_picture_node *nodes; /* level by level; siblings by bytes, REST last */
	size_t count;
	uint32_t deepest;
	uint64_t live_bytes, live_objects, leak_bytes, leak_objects;
	/* Live ones from before a recording, which its stacks leave out. */
	uint64_t before_bytes, before_objects;
	const struct hi_report_header *header; /* borrowed */
	struct hi_arena arena;
};

/*
 * Makes the picture. Siblings below min_share of the whole are summed as REST, and so
 * are the smallest of more than HI_PICTURE_NODES. Borrows the header; the rest only
 * during the call. leaks may be NULL. *ret: hi_picture_destroy(). HI_NO_MEMORY.
 */
enum hi_status hi_picture_make(const struct hi_report_header *header,
			       const struct hi_graph *g, const struct hi_merged *m,
			       const struct hi_leaks *leaks, double min_share,
			       struct hi_picture **ret, struct hi_error *err);
void hi_picture_destroy(struct hi_picture *picture); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_picture *, hi_picture_destroy)

#endif
