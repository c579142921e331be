/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshot files as sources, and how they are written. A source of this kind has neither
 * an image nor types: names, fields of edges, the ledger and the header of reports come
 * from the file.
 */
#ifndef HI_SESSION_SNAPSHOT_SNAPSHOT_SOURCE_H
#define HI_SESSION_SNAPSHOT_SNAPSHOT_SOURCE_H

#include "census/analysis/leak_totals.h"
#include "census/snapshot/snapshot_events.h"
#include "census/snapshot/snapshot_file.h"
#include "session/edge_text.h"
#include "session/inspection.h"
#include "session/mapped_files.h"
#include "session/windows.h"

/* The sections of contents, as many objects are asked for one after the other. */
struct hi_stored_contents {
	bool is_open; /* else the others are not known yet */
	const uint8_t
		*bytes; /* of all objects, `size` of them; NULL: the file has none */
	uint64_t size;
	const uint64_t *unread; /* bits of objects */
	const uint64_t *starts; /* offsets of every 16th object; of the arena */
};

/* Data of the same inspection; plain. */
struct hi_snapshot_source {
	struct hi_snapshot *snapshot;
	const uint32_t *used; /* NULL: not stored */
	struct hi_stored_contents contents;
	bool has_labels;
	bool has_events; /* these were read */
	struct hi_stored_events events;
	/* For a census without its graph, which has only totals: the error for anything
	 * that needs more. */
	struct hi_error refusal;
	uint32_t last_census; /* its number in a file of many; else 0 */
	/* Damage that was found where no status could be returned. */
	struct hi_error failure;
};

/* ---- writing (snap) ---- */

/* Writes a whole snapshot of the inspection to fd, which stays the caller's. Errors as
 * hi_snapshot_create() and hi_snapshot_put(). */
enum hi_status hi_snapshot_save(struct hi_inspection *in,
				const struct hi_report_header *header, int fd,
				const struct hi_snapshot_options *options,
				struct hi_error *err);
/* Writes the fields of the report's header as properties. */
enum hi_status hi_snapshot_save_header(struct hi_snapshot_writer *w,
				       const struct hi_report_header *header,
				       struct hi_error *err);

/* The totals of a census of a series (in->results.census), from `at` on in the file. */
enum hi_status hi_snapshot_save_totals(struct hi_inspection *in,
				       const struct hi_report_header *header, int fd,
				       uint64_t at, struct hi_error *err);
/* Writes types and counts without the graph. */
enum hi_status hi_snapshot_save_outline(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err);
/* Writes the graph with names of edges and used bytes. *labels_ret: the names;
 * hi_snapshot_labels_end(), also after a failure. */
enum hi_status hi_snapshot_save_graph(struct hi_inspection *in,
				      struct hi_snapshot_writer *w,
				      struct hi_snapshot_labels **labels_ret,
				      struct hi_error *err);
/* Writes the recording, if there is one. */
enum hi_status hi_snapshot_save_recorded(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 struct hi_error *err);
/* Writes what was recorded by windows, if there were any. */
enum hi_status hi_snapshot_save_windows(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err);
/* Writes the section "conflicts". */
enum hi_status hi_snapshot_save_conflicts(const struct hi_inspection *in,
					  struct hi_snapshot_writer *w,
					  struct hi_error *err);

/* Writes suspects and owners of the whole heap, if suspects were found. */
enum hi_status hi_snapshot_save_holders(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err);
/* Writes the groups of leaks without a type, if there are any. */
enum hi_status hi_snapshot_save_leak_groups(struct hi_inspection *in,
					    struct hi_snapshot_writer *w,
					    struct hi_error *err);

/* Writes the calls that allocate, if something is leaked or a suspect. */
enum hi_status hi_snapshot_save_alloc_sites(struct hi_inspection *in,
					    struct hi_snapshot_writer *w,
					    struct hi_error *err);

/* The section "modules". */
enum hi_status hi_snapshot_save_modules(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err);
/* Writes nothing unless the options select it. */
enum hi_status hi_snapshot_save_contents(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 struct hi_error *err);
/* Compares contents and writes the sections of `waste`. */
enum hi_status hi_snapshot_save_waste(struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err);
/* Writes the rows of `retained`; nothing if there are no dominators. labels: of the
 * graph. */
enum hi_status hi_snapshot_save_retained(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 const struct hi_report_header *header,
					 const struct hi_snapshot_labels *labels,
					 struct hi_error *err);

/* ---- reading ---- */

/* Lists the mapped files; they live in in->arena. None: *n_ret is 0. */
enum hi_status hi_snapshot_source_mapped_files(struct hi_inspection *in,
					       const struct hi_mapped_file **ret,
					       size_t *n_ret, struct hi_error *err);
struct hi_snapshots;
/* As run->census: the last census; if it was taken at the exit of the target, at which little
 * is left, the one before it, where that has its graph. */
#define HI_CENSUS_BEFORE_EXIT "before exit"
/* Is it a number, first, last or peak? */
bool hi_snapshot_source_is_census(const char *which);
/* Returns the index of the entry; s->n_entries: there is none. with_graph: first, last
 * and peak select among the censuses that have a graph. */
size_t hi_snapshot_source_find_census(const struct hi_snapshots *s, const char *which,
				      bool with_graph);
/* stored->snapshot out of options->target.file, and of options->target.census in it. */
enum hi_status hi_snapshot_source_open_snapshot(struct hi_inspection *in,
						struct hi_snapshot_source *stored,
						struct hi_error *err);
/* Fills in->snapshot, graph, results.reach and warnings out of options->target.file. */
enum hi_status hi_snapshot_source_open(struct hi_inspection *in, struct hi_error *err);
/* in->results.dominators; computed when the file has none. */
enum hi_status hi_snapshot_source_dominators(struct hi_inspection *in,
					     struct hi_error *err);
/* Is the wanted result a table of the file? Then graph has types alone and reach counts
 * alone (hi_snapshot_outline), and there are no dominators. */
bool hi_snapshot_source_has_answer(const struct hi_inspection *in);
/* Returns whether the file has the rows of `retained` for these options. */
bool hi_snapshot_source_knows_retained(const struct hi_inspection *in);
struct hi_retained_report;
struct hi_retained_row;
/* Reads these rows, for *rows_ret: free(); their texts live as long as s. *is_all_ret: the
 * whole top level is there. HI_NOT_FOUND: the file has none. */
enum hi_status hi_snapshot_retained_rows(struct hi_snapshot *s,
					 struct hi_retained_row **rows_ret,
					 uint64_t *n_ret, bool *is_all_ret,
					 struct hi_error *err);
/* Makes the report of `retained` from these rows. *ret: hi_retained_report_destroy().
 * HI_BAD_DATA. */
enum hi_status hi_snapshot_source_retained(struct hi_inspection *in,
					   const struct hi_report_header *header,
					   struct hi_retained_report **ret,
					   struct hi_error *err);
/* in->results.census; computed when the file has none that fits. */
enum hi_status hi_snapshot_source_census(struct hi_inspection *in, struct hi_error *err);
/* Fills in->results.ledger; unchanged if the file has none. HI_BAD_DATA. */
enum hi_status hi_snapshot_source_ledger(struct hi_inspection *in, struct hi_error *err);
void hi_snapshot_source_close(struct hi_snapshot_source *stored); /* NULL is fine */

/* Fills in the report's header from the file's properties. Texts live as long as the
 * inspection. */
enum hi_status hi_snapshot_source_make_header(struct hi_inspection *in,
					      struct hi_report_header *ret,
					      struct hi_error *err);
/* in->profile.roots: those of the options, as far as names of edges lead there. */
/* HI_USAGE with *wrong a root: byte *column of its expression is the error. */
enum hi_status hi_snapshot_source_roots(struct hi_inspection *in, size_t *wrong,
					size_t *column, struct hi_error *err);
/* The fields of a node that lead to objects, without values, as hi_typing_fields. */
enum hi_status hi_snapshot_source_fields(struct hi_inspection *in, hi_node node,
					 struct hi_field *fields, size_t max,
					 size_t *n_ret, size_t *total_ret,
					 struct hi_error *err);
/* With their values, as snap --with-contents keeps them. HI_NOT_FOUND: of this one its
 * edges are all that is known. */
bool hi_snapshot_source_has_contents(const struct hi_inspection *in);
/* As hi_content_ops.read_beginning. HI_BAD_DATA. */
enum hi_status hi_snapshot_source_read_beginning(struct hi_inspection *in, hi_node object,
						 void *out, size_t size, size_t *n_ret,
						 struct hi_error *err);
/* Reads the fields of an object as hi_snapshot_source_fields, with values. */
enum hi_status hi_snapshot_source_contents(struct hi_inspection *in, hi_node object,
					   struct hi_field *fields, size_t max,
					   size_t *n_ret, size_t *total_ret,
					   struct hi_error *err);
/* Returns the edge as text, as hi_path_text_of_edge; "" unknown. */
const char *hi_snapshot_source_edge_text(struct hi_inspection *in, hi_node from,
					 hi_node to);
/* Sets the bits of what `field` of the objects leads to whose type is in `has`, by the
 * names of edges. text: of the option, unused. HI_USAGE: no edge of them has such a name. */
enum hi_status hi_snapshot_source_field_targets(struct hi_inspection *in,
						const char *text, const bool *has,
						const char *field, uint64_t *bits,
						struct hi_error *err);
/* in->recorded. HI_NOT_FOUND: the file has no recording; HI_BAD_DATA. */
enum hi_status hi_snapshot_source_read_recorded(struct hi_inspection *in,
						struct hi_error *err);
/* After it. *ret lives as long as the inspection. HI_NOT_FOUND, HI_BAD_DATA. */
enum hi_status hi_snapshot_source_read_events(struct hi_inspection *in,
					      const struct hi_stored_events **ret,
					      struct hi_error *err);
enum hi_status hi_snapshot_source_read_windows(struct hi_inspection *in,
					       struct hi_inspected_windows *ret,
					       struct hi_error *err);
void hi_snapshot_source_close_recorded(struct hi_inspection *in);
/* in->results.suspects. HI_NOT_FOUND: they were not stored; HI_BAD_DATA. */
enum hi_status hi_snapshot_source_suspects(struct hi_inspection *in,
					   struct hi_error *err);
/* Which variable is nearest, of the objects that the summary asks about; the same.
 * *ret: hi_nearest_destroy(). */
enum hi_status hi_snapshot_source_nearest(struct hi_inspection *in,
					  struct hi_nearest **ret, struct hi_error *err);
/* The owners of the whole heap; the same. *ret: hi_owners_destroy(). */
struct hi_owners;
enum hi_status hi_snapshot_source_owners(struct hi_inspection *in, struct hi_owners **ret,
					 struct hi_error *err);
/* in->lives. HI_NOT_FOUND: the file has no biographies; HI_BAD_DATA. */
enum hi_status hi_snapshot_source_read_lives(struct hi_inspection *in,
					     struct hi_error *err);
/* The data of `waste`, of what is shown. HI_UNSUPPORTED: the file does not have it. */
struct hi_contents_marks;
struct hi_contents_options;
struct hi_waste;
struct hi_heap_use;
enum hi_status hi_snapshot_source_waste(struct hi_inspection *in,
					const struct hi_contents_options *options,
					struct hi_waste **ret, struct hi_error *err);
/* By object, as in struct hi_contents_marks; NULL: not stored. */
enum hi_status hi_snapshot_source_equal(struct hi_inspection *in,
					struct hi_contents_marks *own,
					const uint32_t **ret, struct hi_error *err);
/* Reads sizes of blocks, free blocks and pages. HI_BAD_DATA; an error too if missing. */
enum hi_status hi_snapshot_source_heap_use(struct hi_inspection *in,
					   struct hi_heap_use *ret, struct hi_error *err);

/* Bytes alone; unknown in files of earlier versions. */
struct hi_leak_totals hi_snapshot_source_leak_totals(const struct hi_snapshot *snapshot);
/* Computes hi_inspect_heap_is_known() from a snapshot's properties. */
bool hi_snapshot_source_heap_is_known(const struct hi_snapshot *snapshot);
/* Returns the bytes that the allocator had given out; UINT64_MAX: unknown. */
uint64_t hi_snapshot_source_allocated(const struct hi_inspection *in);

/* Lists the conflicts of types, in in->arena. *objects_ret: how many objects have one. */
enum hi_status hi_snapshot_source_conflicts(struct hi_inspection *in,
					    const struct hi_typing_conflict **ret,
					    size_t *n_ret, uint64_t *objects_ret,
					    struct hi_error *err);

/* Reads the calls that allocate; *ret stays NULL where the file has none. */
enum hi_status hi_snapshot_source_alloc_sites(struct hi_inspection *in,
					      struct hi_alloc_sites **ret,
					      struct hi_error *err);
/* in->results.leak_groups; NULL if the file has none. HI_BAD_DATA. */
enum hi_status hi_snapshot_source_leak_groups(struct hi_inspection *in,
					      struct hi_error *err);

/* Fails if damage was found where no status could be returned: then no report may be
 * made. */
enum hi_status hi_snapshot_source_check(const struct hi_inspection *in,
					struct hi_error *err);

#endif
