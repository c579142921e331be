/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a heap as a stream in the formats of other programs. The caller gives what was
 * computed from the graph and a source for what only the target or a snapshot file
 * knows; hi_export_write() chooses the writer by the name of the format.
 *
 * A writer does not check for errors of writing: the caller does. It warns
 * (hi_export_warn) of what the format does not carry, and needs only those members of
 * struct hi_export that it reads, so that a test can draw a graph for it.
 */
#ifndef HI_REPORT_EXPORTS_EXPORT_H
#define HI_REPORT_EXPORTS_EXPORT_H

#include <stdio.h>

#include "census/analysis/analysis.h"
#include "census/analysis/ledger.h"
#include "census/analysis/merged.h"
#include "report/mapped_file.h"
#include "report/parts/report_header.h"

struct hi_recorded; /* census/snapshot/snapshot_births.h */

/* Limits of the formats; tests set lower ones. */
struct hi_export_limits {
	uint64_t heapsnapshot; /* numbers in the array of nodes */
	uint64_t pprof;	       /* bytes of the profile, before compression */
};
/* The limits that the formats themselves have. */
extern const struct hi_export_limits hi_export_format_limits;

/* Callbacks of the writers. All are required. */
struct hi_export_source {
	/* Fills texts with the names of the edges of a node, one for each edge of its
	 * row. They are valid until the next call. Hostile. */
	enum hi_status (*labels)(void *arg, hi_node node, const char **texts,
				 struct hi_error *err);
	/* Makes the merged dominator tree with its labels. *ret: hi_merged_destroy(). */
	enum hi_status (*merge)(void *arg, struct hi_merged **ret, struct hi_error *err);
	/* Returns the files that the target maps, the main program first; none where a
	 * snapshot file does not have them. Borrowed. */
	enum hi_status (*mapped_files)(void *arg, const struct hi_mapped_file **ret,
				       size_t *n_ret, struct hi_error *err);
	/* Returns the recording of allocations, borrowed. Where there is none: NULL, and
	 * HI_NOT_FOUND if it is required. */
	enum hi_status (*recorded)(void *arg, bool required,
				   const struct hi_recorded **ret, struct hi_error *err);
	/* Returns bits of the live objects; free it. NULL: out of memory. */
	uint64_t *(*live_bits)(void *arg);
	/* Reports what the format does not carry, in one line without a newline. */
	void (*warn)(void *arg, const char *text);
};

/* All pointers are borrowed. */
struct hi_export {
	const char *format; /* a name of a format */
	const char *table;  /* csv, ndjson, parquet: which table; NULL: objects */
	size_t top;	    /* dot, prometheus: rows at most; 0: their own default */
	bool all;	    /* prometheus: every type */
	bool uncompressed;  /* parquet: without zstd */
	bool by_context;    /* stacks are those that allocated; pprof: with totals */
	const char *const *labels; /* prometheus: "name=value", n_labels of them */
	size_t n_labels;
	const struct hi_export_limits *limits;
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_dominators *dominators;
	const struct hi_leaks *leaks;
	const struct hi_census *census; /* with retained sizes */
	const struct hi_ledger *ledger; /* NULL: unknown */
	FILE *out;
	const struct hi_export_source *source;
	void *arg; /* of the source's functions */
};

/* Writes the export. HI_LIMIT: the heap is larger than the format allows. HI_USAGE: the
 * format is binary and `out` is a terminal. */
enum hi_status hi_export_write(struct hi_export *x, struct hi_error *err);
/* HI_USAGE: the format is binary and `out` is a terminal. */
enum hi_status hi_export_refuse_terminal(const char *format, FILE *out,
					 struct hi_error *err);

/* The writers. */
typedef enum hi_status hi_export_fn(struct hi_export *x, struct hi_error *err);
hi_export_fn hi_export_heapsnapshot, hi_export_tables, hi_export_folded,
	hi_export_speedscope, hi_export_massif, hi_export_dot, hi_export_prometheus,
	hi_export_pprof, hi_export_pprof_contexts, hi_export_hp, hi_export_dhat;

/* ---- for the writers ---- */

/* Formats a warning and gives it to the source. Cut after 1,023 bytes. */
void hi_export_warn(const struct hi_export *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Warns that leaked objects are not in the format, if there are any. */
void hi_export_warn_leaked(const struct hi_export *x);
/* Warns of stacks that are cut at HI_MERGED_DEPTH, if there are any. */
void hi_export_warn_cut(const struct hi_export *x, const struct hi_merged *m);

enum { HI_EXPORT_TEXT = 2048 };
/* Escapes text of the target so that it is one line of valid UTF-8. Returns buffer. */
const char *hi_export_safe(char buffer[HI_EXPORT_TEXT], const char *text);
/* Writes the text as it may stand between double quotes. */
void hi_export_put_quoted(FILE *out, const char *text);
/* Writes the text with its quotes, as a string of JSON. */
void hi_export_put_json(FILE *out, const char *text);

#endif
