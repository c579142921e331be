/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows what the variables of each thread alone hold, and its stack: `retained --by
 * thread`, and a part of the summary. Strings are borrowed and hostile.
 */
#ifndef HI_REPORT_REPORTS_THREADS_THREADS_REPORT_H
#define HI_REPORT_REPORTS_THREADS_THREADS_REPORT_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/analysis/owners.h"
#include "census/events/frames.h"
#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"

/* Bytes that the same variables of a thread reach, and no variable of anybody else. */
struct hi_thread_share {
	const char **variables; /* names of roots, "thread 7 worker(): buf" */
	size_t n_variables;
	uint64_t bytes;
	struct hi_node_info largest; /* of the variables and what they share: it retains
				      * most */
};
struct hi_thread_held {
	uint64_t id;			/* of the kernel */
	const char *name;		/* "" unknown */
	uint64_t bytes;			/* of all shares */
	struct hi_thread_share *shares; /* by bytes */
	size_t n_shares;
	/* The rows of its stack, the innermost function first; borrowed. */
	const struct hi_frame_row *frames;
	size_t n_frames;
	bool is_cut; /* outer frames are not known */
};
struct hi_threads_report {
	struct hi_thread_held *threads; /* by bytes, then id */
	size_t n_threads, shown;	/* shown: with their shares and stacks */
	uint64_t bytes, live_bytes;	/* bytes: of all threads */
	bool has_stacks;
	struct hi_arena arena;
};

/* A thread that is known though it may hold nothing. */
struct hi_thread_known {
	uint64_t id;
	const char *name;
};

struct hi_threads_inputs {
	const struct hi_graph *graph;
	const struct hi_dominators *dominators;
	const struct hi_owners *owners; /* of these */
	uint64_t live_bytes;
	const struct hi_thread_known *known;
	size_t n_known;
	size_t top; /* SIZE_MAX: all are shown */
};

/*
 * Makes the report, without stacks: the caller sets frames of the threads that are shown.
 * Threads are those that are known, and those with a variable that leads to an object.
 * Linear in roots and owners. HI_NO_MEMORY.
 */
enum hi_status hi_threads_report_create(const struct hi_threads_inputs *in,
					struct hi_threads_report **ret,
					struct hi_error *err);
void hi_threads_report_destroy(struct hi_threads_report *report); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_threads_report *, hi_threads_report_destroy)

/* Adds a table of the first `most` threads of those that hold something; nothing where
 * there are none. is_linked: for pages with links alone. */
void hi_threads_overview(const struct hi_threads_report *report, size_t most,
			 bool is_linked, struct hi_page *page);
/* Adds the page after its title and facts. */
void hi_threads_display(const struct hi_threads_report *report,
			const struct hi_report_header *header, struct hi_page *page);
/* Fields of struct hi_thread_held (document.h). */
extern const struct hi_doc_fields hi_thread_fields;

#endif
