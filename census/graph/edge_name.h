/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name of an edge, split into a number and a text: the names of the elements of an
 * array differ in the number only, so a million of them share one string.
 *
 * A text that ends in HI_EDGE_LINK leads from one node of a container to the next, or
 * from its table to a node: paths leave such steps out. Elsewhere the text is shown
 * without the mark.
 */
#ifndef HI_CENSUS_GRAPH_EDGE_NAME_H
#define HI_CENSUS_GRAPH_EDGE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

#define HI_EDGE_LINK '\x01'

enum hi_edge_name_kind {
	HI_NAME_TEXT,	/* text alone */
	HI_NAME_INDEX,	/* "[number]" and then text */
	HI_NAME_OFFSET, /* " +0x…", the number in hex; no text */
};

/* Zero-initialised is "". */
struct hi_edge_name {
	const char *text; /* NULL is "" */
	uint64_t number;
	uint32_t kind;
	/* Not 0: names with the same key have the same text. */
	uint32_t key;
};

/* In one piece: the name's own text, or what is made in the buffer (and cut there). */
enum { HI_EDGE_TEXT = 512 };
const char *hi_edge_name_text(const struct hi_edge_name *name, char buffer[HI_EDGE_TEXT]);

/* Ends the text before the mark. Returns the bytes that it drops: 1, or 0 where there is
 * none. n: of strlen(text). */
static inline size_t hi_edge_link_drop(char *text, size_t n)
{
	if (!n || text[n - 1] != HI_EDGE_LINK)
		return 0;
	text[n - 1] = 0;
	return 1;
}

/* Many at once, without marks unless with_marks; zero-initialised is empty. */
struct hi_edge_texts HI_VECTOR(char);
/* texts live until the next call, and no longer than the names. False: no memory. */
bool hi_edge_names_texts(struct hi_edge_texts *t, const struct hi_edge_name *names,
			 uint32_t n, bool with_marks, const char **texts);

#endif
