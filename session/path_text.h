/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats paths through the graph as C-like expressions. */
#ifndef HI_SESSION_PATH_TEXT_H
#define HI_SESSION_PATH_TEXT_H

#include "session/inspection.h"

/* Returns the text of the reference from `from` to `to`, for a step after others; "" if
 * no edge refers to it. Lives in the inspection's arena. For a root: its name with the
 * field. */
const char *hi_path_text_of_edge(struct hi_inspection *in, hi_node from, hi_node to);
/* n nodes, each referring to the next, as one expression. Never NULL. */
const char *hi_path_text_of_nodes(struct hi_inspection *in, const hi_node *nodes,
				  size_t n);
/* The same text in another arena, or in the graph. */
const char *hi_path_text_in(struct hi_inspection *in, struct hi_arena *arena,
			    const hi_node *nodes, size_t n);
/* Reads the texts of the steps of many paths that begin at nodes with many edges. They
 * are used by the functions here from then on; without memory nothing changes. */
void hi_path_text_prepare(struct hi_inspection *in, const struct hi_paths *paths);
/* Finds the paths to many objects together, for hi_path_text_from_root(): that keeps an
 * index for the first one else. Without memory nothing changes. */
void hi_path_text_prepare_objects(struct hi_inspection *in, const hi_node *objects,
				  size_t n);
/* The shortest path to an object from a root: "server.db". "" if none is found. */
const char *hi_path_text_from_root(struct hi_inspection *in, hi_node object);
/* From top to below down the dominator tree, "…" where an object in between is
 * not referred to directly. At most HI_PATH_TEXT_STEPS steps. */
enum { HI_PATH_TEXT_STEPS = 8 };
const char *hi_path_text_between(struct hi_inspection *in, hi_node top, hi_node below);

#endif
