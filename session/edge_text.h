/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The edges of a node as text, all at once: for each of them how the node refers to the
 * other end ("->next", "[3].name").
 */
#ifndef HI_SESSION_EDGE_TEXT_H
#define HI_SESSION_EDGE_TEXT_H

#include "base/vector.h"
#include "census/analysis/groups.h"
#include "census/graph/edge_name.h"
#include "session/inspection.h"

struct hi_edge_labels;

enum { HI_EDGE_TEXT_WORKERS = 16 };

/* Names of edges that are known already, for all threads at once. */
struct hi_known_names {
	/* Fills in names, one for each edge of the node. */
	void (*of_node)(const void *arg, hi_node node, struct hi_edge_name *names);
	/* As the `ahead` of struct hi_field_reader. */
	void (*ahead)(const void *arg, hi_node node, bool is_near);
	const void *arg;
};

struct hi_edge_text_reader {
	struct hi_inspection *in;
	/* Set after opening: */
	bool with_marks;		    /* texts are steps of paths (HI_EDGE_LINK) */
	const struct hi_known_names *known; /* in place of those that would be read */
	struct hi_edge_labels *decoded;	    /* of an image; NULL: of a snapshot */
	struct hi_edge_labels *of_workers[HI_EDGE_TEXT_WORKERS - 1]; /* further threads */
	/* In a snapshot, the edges of one node: */
	struct HI_VECTOR(struct hi_edge_name) names;
	struct hi_edge_texts texts;
};

/* Borrows the inspection. On failure there is nothing to close. */
enum hi_status hi_edge_text_open(struct hi_inspection *in,
				 struct hi_edge_text_reader *ret, struct hi_error *err);
/* Fills in texts, one for each edge of the node; they live until the next call. */
enum hi_status hi_edge_text_read(struct hi_edge_text_reader *reader, hi_node node,
				 const char **texts, struct hi_error *err);
/* The reader as names for census/analysis/groups.h, for as many threads as the inspection
 * has; borrows it. */
struct hi_field_reader hi_edge_text_fields(struct hi_edge_text_reader *reader);
void hi_edge_text_close(struct hi_edge_text_reader *reader); /* also of a zeroed one */

#endif
