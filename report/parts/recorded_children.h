/* SPDX-License-Identifier: BSD-2-Clause */
/* The recordings of a target's children, for reports of `record --children`. */
#ifndef HI_REPORT_PARTS_RECORDED_CHILDREN_H
#define HI_REPORT_PARTS_RECORDED_CHILDREN_H

#include "report/display.h"
#include "report/json_writer.h"

/* A recording of a process that the target has forked. */
struct hi_recorded_child {
	int pid;
	const char *file;    /* that it was written to; hostile */
	const char *failure; /* why there is none; hostile; NULL: it is there */
};
struct hi_recorded_children {
	const struct hi_recorded_child *items; /* NULL: they were not followed */
	size_t n;
};

/* Nothing where they were not followed. */
void hi_recorded_children_display(const struct hi_recorded_children *children,
				  struct hi_page *page);
/* The member "children" of a document. */
void hi_recorded_children_json(const struct hi_recorded_children *children,
			       struct hi_json *json);

#endif
