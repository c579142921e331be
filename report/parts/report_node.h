/* SPDX-License-Identifier: BSD-2-Clause */
/* A node of the graph as plain data for reports. Strings are borrowed from the graph
 * and hostile. */
#ifndef HI_REPORT_PARTS_REPORT_NODE_H
#define HI_REPORT_PARTS_REPORT_NODE_H

#include "census/analysis/analysis.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/type_name.h"

enum hi_node_sort { HI_NODE_OBJECT, HI_NODE_ROOT, HI_NODE_KIND, HI_NODE_SUPER };
struct hi_node_info {
	hi_node node;
	enum hi_node_sort sort;
	enum hi_root_kind kind; /* roots and kinds */
	const char *name;   /* of a root; of an object a path to it, "server.db", if the
			     * caller found one; else "" */
	const char *detail; /* roots: file:line or module; "" unknown */
	const char *type;   /* "" unknown */
	uint64_t address;   /* 0: none */
	uint64_t shallow;   /* cost */
	uint64_t retained;  /* UINT64_MAX: not computed */
	enum hi_evidence evidence;
	bool array;    /* of elements of its type */
	bool internal; /* the allocator's or libc's own block */
};

/* Describes a node. dominators may be NULL. */
struct hi_node_info hi_node_info(const struct hi_graph *g,
				 const struct hi_dominators *dominators, hi_node node);
/* Returns "server", "struct dict 0x55…" or "globals". Safe. */
const char *hi_node_label(const struct hi_node_info *info, struct hi_page *page);
/* The same without the address, for tables that have a column for it. */
const char *hi_node_short_label(const struct hi_node_info *info, struct hi_page *page);
/* Returns the type of an object or a variable, "struct dict", "char []". Safe. */
const char *hi_node_type_label(const struct hi_node_info *info, struct hi_page *page);
/* Returns "server.c:120" for "/src/deep/server.c:120"; the name of a module stays.
 * Safe. */
const char *hi_where_label(const char *detail, struct hi_page *page);
/* Returns the name of a type, "(untyped)" for "" and NULL. Safe. */
const char *hi_type_label(const char *type, struct hi_page *page);
/* Fields of struct hi_node_info (document.h). */
extern const struct hi_doc_fields hi_node_fields;
/* The members node, kind, name, detail, type, address, shallow, retained of an
 * object that the caller opened. */
void hi_node_json(const struct hi_node_info *info, struct hi_json *json);

/* Returns "global", "tls", …, for JSON. */
const char *hi_root_kind_key(enum hi_root_kind kind);
/* Returns "pointer", "vtable", … or "none". */
const char *hi_evidence_key(enum hi_evidence evidence);
/* The same as text: "base of" for "base_of". */
const char *hi_evidence_text(enum hi_evidence evidence);
/* Returns the key of a leak's shape, for JSON. */
const char *hi_leak_shape_key(enum hi_leak_shape shape);
/* "9.2 KiB leaked, 205.5 KiB garbage that the collector has not taken yet"; by_class
 * NULL: "214.7 KiB leaked", all of them. */
const char *hi_unreachable_classes_text(const uint64_t by_class[HI_UNREACHABLE_CLASSES],
					uint64_t bytes, struct hi_page *page);
/* Returns "certain" or "likely". */
const char *hi_leak_verdict_key(bool is_likely);
/* Behind hi_unreachable_classes_text: ", 1.2 KiB likely leaked"; "" none. certain: bytes
 * before it. */
const char *hi_likely_text(uint64_t certain, uint64_t likely, struct hi_page *page);
/* "by_fate", bytes. */
void hi_unreachable_classes_json(const uint64_t by_class[HI_UNREACHABLE_CLASSES],
				 struct hi_json *json);
/* Returns the key of an edge's grade, "exact", …, for JSON. */
const char *hi_grade_key(uint8_t grade);

#endif
