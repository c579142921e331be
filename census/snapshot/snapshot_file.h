/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot file: the graph, what was computed from it, and properties (a name with a
 * number or a string) for callers that know more than census/. docs/SNAPSHOT_FORMAT.md
 * describes the bytes.
 *
 * The reader trusts nothing. The first page is checked when the file is opened. A section
 * is checked when it is first used: its position, its checksum, then every offset, id and
 * row in it. Damage is HI_BAD_DATA, and the text names the section. Unknown sections are
 * ignored.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_FILE_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_FILE_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/graph/edge_name.h"

#define HI_SNAPSHOT_EXTENSION ".hisnap"
#define HI_RECORDING_EXTENSION ".hirec" /* of a snapshot with a recording */

/* ---- writing ---- */

struct hi_snapshot_writer;

struct hi_snapshot_options {
	bool compress;	  /* zstd: a third of the size, not readable in place */
	unsigned threads; /* to compress with, and one of them to write; 0: one */
	uint64_t at;	  /* where it begins in the file */
};

/* Writes to fd from options->at on: a regular file, which stays the caller's, and which
 * is no snapshot before hi_snapshot_finish. */
enum hi_status hi_snapshot_create(int fd, const struct hi_snapshot_options *options,
				  struct hi_snapshot_writer **ret, struct hi_error *err);
/* Strings are copied. A name is given once. */
enum hi_status hi_snapshot_put_number(struct hi_snapshot_writer *w, const char *name,
				      uint64_t value, struct hi_error *err);
/* Adds a property with a string; see hi_snapshot_put_number. */
enum hi_status hi_snapshot_put_text(struct hi_snapshot_writer *w, const char *name,
				    const char *text, struct hi_error *err);
/* Into "strings", for a section of the caller's own: *offset_ret there. */
enum hi_status hi_snapshot_put_string(struct hi_snapshot_writer *w, const char *text,
				      uint32_t *offset_ret, struct hi_error *err);
/* A section that is in no table; n items of `item` bytes. */
enum hi_status hi_snapshot_put(struct hi_snapshot_writer *w, const char *name,
			       const void *items, uint32_t item, uint64_t n,
			       struct hi_error *err);

/* The same piece by piece, until one is of no bytes; valid until the next call. */
typedef enum hi_status hi_snapshot_piece_fn(void *arg, const void **bytes, size_t *size,
					    struct hi_error *err);
enum hi_status hi_snapshot_put_pieces(struct hi_snapshot_writer *w, const char *name,
				      uint32_t item, hi_snapshot_piece_fn *next,
				      void *arg, struct hi_error *err);

/* Waits until all bytes that were put are in the file. Failures to write may be reported
 * here that came before. */
enum hi_status hi_snapshot_settle(struct hi_snapshot_writer *w, struct hi_error *err);

/* Sections that may still be put, with those of hi_snapshot_finish(). */
unsigned hi_snapshot_sections_left(const struct hi_snapshot_writer *w);

/* The names of edges as the file has them, in memory. */
struct hi_snapshot_labels;

/* Facts about a graph that the caller supplies. */
struct hi_snapshot_graph {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_dominators *dominators; /* NULL: not stored */
	/* Fills in the names of the edges of a node (object or root variable), one for
	 * each edge of its row; "" unknown. NULL: the file gets no labels. Called by
	 * several threads while the functions below run: `worker` is below `threads`,
	 * and each worker gets ascending nodes. The names are valid until the worker's
	 * next call. */
	enum hi_status (*label)(void *arg, unsigned worker, hi_node node,
				struct hi_edge_name *names, struct hi_error *err);
	/* Gets the names for hi_snapshot_label_put(); NULL: they are not kept. *kept: NULL,
	 * or those of hi_snapshot_labels_begin_beside(); hi_snapshot_labels_end(), also after a
	 * failure. */
	struct hi_snapshot_labels **kept;
	unsigned threads; /* 0: one */
	/* Bytes; NULL: the usable ones. By several threads. */
	uint64_t (*used)(void *arg, hi_node object);
	const char *(*module)(void *arg, uint32_t root); /* "" unknown; or NULL */
	bool (*retains)(void *arg, uint32_t type);	 /* from a hint; NULL: none */
	void *arg;
};
/* Begins to make names of edges ahead of hi_snapshot_put_graph(), into *graph->kept, by
 * graph->threads (2 or more): two of them are those that call the functions below, each
 * once. `graph` is borrowed until it is put. */
enum hi_status hi_snapshot_labels_begin_beside(const struct hi_snapshot_graph *graph,
					       struct hi_error *err);
/* Makes names until all are begun or no more may wait in memory; waits for the others. */
void hi_snapshot_labels_make(struct hi_snapshot_labels *labels);
/* Makes names, too. */
void hi_snapshot_labels_help(struct hi_snapshot_labels *labels);
/* Writes the sections of the graph. `graph` is borrowed during the call; its columns, those
 * of reach and dominators, and *graph->kept stay as they are until the writer is settled,
 * finished or destroyed. */
enum hi_status hi_snapshot_put_graph(struct hi_snapshot_writer *w,
				     const struct hi_snapshot_graph *graph,
				     struct hi_error *err);
/* The name of the edge at `index` of the node's row; its text lives until the writer gets
 * the next one. */
struct hi_edge_name hi_snapshot_label_put(const struct hi_snapshot_writer *w,
					  const struct hi_snapshot_labels *labels,
					  const struct hi_graph *g, hi_node node,
					  uint32_t index);
/* Fetches the first ones of an object, whose row is there. */
void hi_snapshot_label_prefetch(const struct hi_snapshot_labels *labels,
				const struct hi_graph *g, hi_node object);
void hi_snapshot_labels_end(struct hi_snapshot_labels *labels); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_snapshot_labels *, hi_snapshot_labels_end)
/* Instead of it: what hi_snapshot_outline reads, types and counts. */
enum hi_status hi_snapshot_put_outline(struct hi_snapshot_writer *w,
				       const struct hi_snapshot_graph *graph,
				       struct hi_error *err);
/* The census by type of all that is live, with retained sizes. */
enum hi_status hi_snapshot_put_census(struct hi_snapshot_writer *w,
				      const struct hi_census *census,
				      struct hi_error *err);
/* Properties, strings, directory and header; all of it is on the disk afterwards. */
enum hi_status hi_snapshot_finish(struct hi_snapshot_writer *w, struct hi_error *err);
/* Frees the writer, before or after hi_snapshot_finish; NULL is fine. */
void hi_snapshot_writer_destroy(struct hi_snapshot_writer *w);
HI_DEFINE_GUARD(struct hi_snapshot_writer *, hi_snapshot_writer_destroy)

/* ---- reading ---- */

struct hi_snapshot;

/* Returns whether the file begins with the magic bytes of a snapshot. Nothing else is
 * checked. */
bool hi_snapshot_is_one(const char *path);
/* Opens a snapshot file and checks its first page. *ret: hi_snapshot_close().
 * HI_BAD_DATA, HI_OS, HI_UNSUPPORTED (a newer version). */
enum hi_status hi_snapshot_open(const char *path, struct hi_snapshot **ret,
				struct hi_error *err);
uint64_t hi_snapshot_size(const struct hi_snapshot *s); /* of it as it is stored */
/* Bytes of its sections that are in memory. */
uint64_t hi_snapshot_bytes_read(const struct hi_snapshot *s);
/* One that is a part of a file (snapshot_series.h): `size` bytes from `offset`, a
 * multiple of 4096. fd stays the caller's; `name` is what errors call it. */
enum hi_status hi_snapshot_open_part(int fd, const char *name, uint64_t offset,
				     uint64_t size, struct hi_snapshot **ret,
				     struct hi_error *err);
/* Frees the snapshot and unmaps the file; NULL is fine. */
void hi_snapshot_close(struct hi_snapshot *s);
HI_DEFINE_GUARD(struct hi_snapshot *, hi_snapshot_close)

/* The name's number or string; otherwise what is given. Strings live as long as s. */
uint64_t hi_snapshot_number(const struct hi_snapshot *s, const char *name,
			    uint64_t otherwise);
/* The same for a string. */
const char *hi_snapshot_text(const struct hi_snapshot *s, const char *name,
			     const char *otherwise);
/* n items of `item` bytes, unchecked; HI_NOT_FOUND: there is no such section. */
enum hi_status hi_snapshot_get(struct hi_snapshot *s, const char *name, uint32_t item,
			       const void **items_ret, uint64_t *n_ret,
			       struct hi_error *err);
bool hi_snapshot_has(const struct hi_snapshot *s, const char *name); /* a section */
/* A string by its offset; NULL when there is none. */
const char *hi_snapshot_string(const struct hi_snapshot *s, uint64_t offset);

/* The graph borrows from s, and so do the others; s must outlive them. */
enum hi_status hi_snapshot_graph(struct hi_snapshot *s, struct hi_graph **ret,
				 struct hi_error *err);
/* Returns what is reachable, as stored. HI_BAD_DATA. */
enum hi_status hi_snapshot_reach(struct hi_snapshot *s, const struct hi_graph *g,
				 struct hi_reach **ret, struct hi_error *err);
/* Reads types and counts only, for tables that the file has: a graph without objects
 * and roots, and how much is live and leaked. The time does not depend on the size of
 * the heap. */
enum hi_status hi_snapshot_outline(struct hi_snapshot *s, struct hi_graph **ret,
				   struct hi_reach **reach_ret, struct hi_error *err);
/* HI_NOT_FOUND: they were not stored. */
enum hi_status hi_snapshot_dominators(struct hi_snapshot *s, const struct hi_graph *g,
				      struct hi_dominators **ret, struct hi_error *err);
/* Returns the stored census, after the graph or the outline. HI_NOT_FOUND: it was not
 * stored. */
enum hi_status hi_snapshot_census(struct hi_snapshot *s, struct hi_census **ret,
				  struct hi_error *err);
/* Checks the names of edges, for the two functions below. After hi_snapshot_graph.
 * A file may have none; HI_BAD_DATA. */
enum hi_status hi_snapshot_open_labels(struct hi_snapshot *s, struct hi_error *err);
/* Returns the stored name of edge `index` of a node's row. The edge must exist. */
struct hi_edge_name hi_snapshot_edge_name(const struct hi_snapshot *s,
					  const struct hi_graph *g, hi_node node,
					  uint32_t index);
/* Returns that name as text, "" if unknown; in buffer or in the snapshot. */
const char *hi_snapshot_label(const struct hi_snapshot *s, const struct hi_graph *g,
			      hi_node node, uint32_t index, char buffer[HI_EDGE_TEXT]);
/* Bytes of each object that its type uses; NULL: not stored. */
enum hi_status hi_snapshot_used(struct hi_snapshot *s, const uint32_t **ret,
				struct hi_error *err);
/* After hi_snapshot_graph; indices must be in range. */
const char *hi_snapshot_root_module(const struct hi_snapshot *s, uint32_t root);
/* Does a hint make objects of this type retainers? */
bool hi_snapshot_type_retains(const struct hi_snapshot *s, uint32_t type);

#endif
