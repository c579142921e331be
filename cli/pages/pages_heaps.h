/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inspections that pages were made from, which are kept for the next ones: a few, and
 * the one that was used longest ago goes first. A page that needs a stored table alone
 * (HI_WANT_ONLY_...) gets an inspection that has not read the graph.
 */
#ifndef HI_CLI_PAGES_PAGES_HEAPS_H
#define HI_CLI_PAGES_PAGES_HEAPS_H

#include "cli/pages/pages_request.h"
#include "report/parts/report_header.h"
#include "session/inspect/inspect.h"

enum { HI_PAGES_HEAPS = 6, HI_PAGES_GRAPHS = 3 };

struct hi_pages_heap {
	struct hi_inspection *in;
	struct hi_pages_request *opened; /* whose strings the inspection may have kept */
	struct hi_options options;	 /* of the page that uses it */
	const char *key;
	bool is_outline; /* has a stored table alone */
	uint64_t used;	 /* by which page; 0: empty */
	size_t n_warnings, n_notes, arena_used;
};

/* Zero-initialised is empty. */
struct hi_pages_heaps {
	struct hi_pages_heap items[HI_PAGES_HEAPS];
	uint64_t clock;
};

/* An inspection for the request, with what its command wants; *ret->in has the request's
 * options until hi_pages_heap_leave(). */
enum hi_status hi_pages_heap_enter(struct hi_pages_heaps *heaps,
				   const struct hi_pages_request *request,
				   struct hi_pages_heap **ret, struct hi_error *err);
/* After the page. status: what became of it; damage ends the inspection. */
void hi_pages_heap_leave(struct hi_pages_heap *heap, enum hi_status status);
/* Is the graph of all objects of this key there already? */
bool hi_pages_heaps_have_graph(const struct hi_pages_heaps *heaps, const char *key);
/* Prepares what pages of one graph have in common (session/computed.h), in steps; false:
 * nothing is left to do. Of one graph alone: it takes up to 24 bytes an object. */
bool hi_pages_heaps_warm_up(struct hi_pages_heaps *heaps);
void hi_pages_heaps_free(struct hi_pages_heaps *heaps);

#endif
