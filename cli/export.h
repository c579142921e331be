/* SPDX-License-Identifier: BSD-2-Clause */
/* A heap in the formats of other programs, written as a stream. */
#ifndef HI_CLI_EXPORT_H
#define HI_CLI_EXPORT_H

#include <stdio.h>

#include "census/graph/edge_name.h"
#include "cli/output.h"
#include "report/views/heap_known.h"
#include "session/inspect.h"

/* What a format cannot have more of; a test has less. */
struct hi_export_limits {
	uint64_t heapsnapshot; /* numbers that say what nodes are */
	uint64_t pprof;	       /* bytes of the profile */
};

struct hi_export {
	const struct hi_export_limits *limits;
	struct hi_inspection *in;
	const struct hi_report_header *header;
	FILE *out;
	/* The edges of a node in words, one for each of its row; until the next call. */
	enum hi_status (*labels)(struct hi_export *x, hi_node node, const char **texts,
				 struct hi_error *err);
	struct hi_edge_labels *own_labels;
	struct HI_VECTOR(struct hi_edge_name) names; /* stored ones, of one node */
	struct hi_edge_texts texts;
};

typedef enum hi_status hi_export_fn(struct hi_export *x, struct hi_error *err);
hi_export_fn hi_export_heapsnapshot, hi_export_tables, hi_export_folded,
	hi_export_speedscope, hi_export_massif, hi_export_dot, hi_export_prometheus,
	hi_export_pprof, hi_export_hp;

/* The export that in->options ask for; HI_LIMIT: it would be more. */
enum hi_status hi_export_write(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output,
			       const struct hi_export_limits *limits,
			       struct hi_error *err);
bool hi_export_has_format(const char *name);
/* HI_USAGE: bytes that would only upset a terminal. */
enum hi_status hi_export_refuse_terminal(const char *format, FILE *out,
					 struct hi_error *err);

/* What the format does not carry, on stderr; with -q nothing. */
void hi_export_warn(const struct hi_export *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Leaked objects are not in it. */
void hi_export_warn_leaked(const struct hi_export *x);
/* Stacks are not deeper than merged ones. */
struct hi_merged;
void hi_export_warn_cut(const struct hi_export *x, const struct hi_merged *m);

/* Text of the target as it may stand in any of them: one line, valid UTF-8. Lives in
 * the buffer. */
enum { HI_EXPORT_TEXT = 2048 };
const char *hi_export_safe(char buffer[HI_EXPORT_TEXT], const char *text);
/* The same as it may stand between double quotes. */
void hi_export_put_quoted(FILE *out, const char *text);
/* The same with the quotes, as a string of JSON. */
void hi_export_put_json(FILE *out, const char *text);

#endif
