/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields that close leaked cycles, as sentences and as rows of documents. */
#ifndef HI_REPORT_PARTS_LEAK_CYCLE_H
#define HI_REPORT_PARTS_LEAK_CYCLE_H

#include "census/analysis/cycle_edges.h"
#include "report/display.h"
#include "report/document.h"

/* Strings are hostile and borrowed from the graph and the arena. */
struct hi_leak_cycle {
	const char *type, *field;	    /* "->owner" of objects of the type */
	const char *back_type, *back_field; /* that leads on from there; "" none */
	enum hi_cycle_pointer pointer;
	uint64_t cycles, objects, bytes;
	uint64_t address; /* an object that has the field */
};
struct hi_leak_cycles {
	struct hi_leak_cycle *rows; /* of the arena */
	size_t n_rows;
	uint64_t cycles,
		unclosed; /* leak roots: cycles, and those without such a field */
	bool is_partial;
};

/* Copies what pages and documents show. edges NULL: nothing. HI_NO_MEMORY. */
enum hi_status hi_leak_cycles_take(const struct hi_graph *g,
				   const struct hi_cycle_edges *edges,
				   struct hi_arena *arena, struct hi_leak_cycles *ret,
				   struct hi_error *err);
/* Returns "Cart.owner → Customer.cart closes 557 cycles: a weak_ptr there frees
 * 511 KiB". Safe. */
const char *hi_leak_cycle_text(const struct hi_leak_cycle *cycle, struct hi_page *page);
/* Adds a line for each of the first `most` of them; nothing where there are none. */
void hi_leak_cycles_show(const struct hi_leak_cycles *cycles, size_t most,
			 struct hi_page *page);
/* Fields of struct hi_leak_cycle (document.h). */
extern const struct hi_doc_fields hi_leak_cycle_fields;

#endif
