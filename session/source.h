/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of inspections: a process, a core file, a snapshot file. The first two have an
 * image of the target's memory, which is decoded; the third has the graph and results
 * that were computed when it was written. Each difference between them is an operation
 * here: no other code depends on the kind of source.
 *
 * To add a source: a table of struct hi_source_ops, beside its functions one for each of
 * results, contents, texts and retainers (and stored, if it has results ready), its row in
 * hi_source_select(), a case in tests/session/sources_test.c. No operation may be NULL
 * but `begin`.
 *
 * Results are written into the inspection, texts live in its arena. An operation that
 * fails fills err; it does not print.
 */
#ifndef HI_SESSION_SOURCE_H
#define HI_SESSION_SOURCE_H

#include "decode/allocator.h"
#include "decode/describe/object_text.h"
#include "decode/inference/typing.h"

struct hi_alloc_sites;
struct hi_contents_marks;
struct hi_contents_options;
struct hi_edge_name;
struct hi_edge_text_reader;
struct hi_explain_report;
struct hi_report_header;
struct hi_heap_use;
struct hi_inspected_windows;
struct hi_inspection;
struct hi_mapped_file;
struct hi_nearest;
struct hi_options;
struct hi_owners;
struct hi_retained_report;
struct hi_stored_events;
struct hi_waste;

/* Results of the whole heap, computed or read. */
struct hi_result_ops {
	/* in->results.reach, classes of unreachable objects, certain and likely leaks. */
	enum hi_status (*compute_reach)(struct hi_inspection *in, struct hi_error *err);
	/* in->results.leak_groups; NULL where no leak is without a type, or the file does
	 * not have them. */
	enum hi_status (*find_leak_groups)(struct hi_inspection *in,
					   struct hi_error *err);
	/* The calls of the program's code that allocate; hi_alloc_sites_destroy(). NULL:
	 * the file does not have them. */
	enum hi_status (*find_alloc_sites)(struct hi_inspection *in,
					   struct hi_alloc_sites **ret,
					   struct hi_error *err);
	/* in->results.dominators. */
	enum hi_status (*compute_dominators)(struct hi_inspection *in,
					     struct hi_error *err);
	/* in->results.census, of in->shown. */
	enum hi_status (*compute_census)(struct hi_inspection *in, struct hi_error *err);
	/* in->results.ledger. Its ledger_known stays false where there is none. */
	enum hi_status (*fill_ledger)(struct hi_inspection *in, struct hi_error *err);
	/* The header of reports; borrows from the inspection. */
	enum hi_status (*make_header)(struct hi_inspection *in,
				      struct hi_report_header *ret, struct hi_error *err);
	/* Bytes handed out by the allocator, and of objects outside of it; UINT64_MAX:
	 * unknown. */
	uint64_t (*allocated_bytes)(const struct hi_inspection *in);
	bool (*heap_is_known)(const struct hi_inspection *in);
	/* The main program first. */
	enum hi_status (*list_mapped_files)(struct hi_inspection *in,
					    const struct hi_mapped_file **ret,
					    size_t *n_ret, struct hi_error *err);
	/* Pairs of types that pointers disagree about; *objects_ret: of all pairs. */
	size_t (*list_conflicts)(struct hi_inspection *in,
				 const struct hi_typing_conflict **ret,
				 uint64_t *objects_ret);
	/* in->recorded, for session/recorded.h. HI_NOT_FOUND: there is no recording. */
	enum hi_status (*read_recorded)(struct hi_inspection *in, struct hi_error *err);
	/* After it: the events that the recording kept, which live as long as the
	 * inspection. HI_NOT_FOUND: it kept none. */
	enum hi_status (*read_events)(struct hi_inspection *in,
				      const struct hi_stored_events **ret,
				      struct hi_error *err);
	/* For session/windows.h: fills the empty *ret. HI_NOT_FOUND: it was not recorded
	 * by windows. */
	enum hi_status (*read_windows)(struct hi_inspection *in,
				       struct hi_inspected_windows *ret,
				       struct hi_error *err);
	/* Frees what read_recorded made; called before close. */
	void (*close_recorded)(struct hi_inspection *in);
};

/* Results that only a file has ready: it was computed when the file was written. */
struct hi_stored_ops {
	/* Does compute_census do without in->results.dominators, and give retained
	 * sizes? */
	bool (*has_census)(const struct hi_inspection *in);
	/* Is a stored table the only wanted result (HI_WANT_ONLY_...)? Then the graph has
	 * types alone, and reach counts alone. */
	bool (*has_answer)(const struct hi_inspection *in);
	/* Reads the rows of `retained`, if has_answer() is true. */
	enum hi_status (*read_retained)(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_retained_report **ret,
					struct hi_error *err);
	/* in->results.suspects and the owners of the whole heap. HI_NOT_FOUND: they are
	 * not stored. */
	enum hi_status (*read_suspects)(struct hi_inspection *in, struct hi_error *err);
	enum hi_status (*read_owners)(struct hi_inspection *in, struct hi_owners **ret,
				      struct hi_error *err);
	/* Reads nearest holders for the objects of owners.shared_by_many and
	 * hi_nearest_sum_kinds(). */
	enum hi_status (*read_nearest)(struct hi_inspection *in, struct hi_nearest **ret,
				       struct hi_error *err);
	/* in->lives, for session/lives_of_file.h. HI_NOT_FOUND: there are none. */
	enum hi_status (*read_lives)(struct hi_inspection *in, struct hi_error *err);
};

/* Contents of memory and its use. */
struct hi_content_ops {
	/* Compares the objects of in->shown. HI_UNSUPPORTED: the file does not have
	 * it. */
	enum hi_status (*compare_contents)(struct hi_inspection *in,
					   const struct hi_contents_options *options,
					   struct hi_waste **ret, struct hi_error *err);
	/* By object as in struct hi_contents_marks, NULL: unknown. *ret lives in `own`,
	 * which the caller frees, or in the inspection. */
	enum hi_status (*find_equal)(struct hi_inspection *in,
				     struct hi_contents_marks *own, const uint32_t **ret,
				     struct hi_error *err);
	enum hi_status (*measure_heap_use)(struct hi_inspection *in,
					   struct hi_heap_use *ret, struct hi_error *err);
	/* Before used_bytes. */
	enum hi_status (*open_used_bytes)(struct hi_inspection *in, struct hi_error *err);
	/* Returns the bytes that the program uses of an object; UINT64_MAX: unknown. */
	uint64_t (*used_bytes)(const struct hi_inspection *in, hi_node object);
	/* Copies the first `size` bytes of an object, or as many as it has; *n_ret: how
	 * many; 0: they are not known, or the options leave contents out (--redact). */
	enum hi_status (*read_beginning)(struct hi_inspection *in, hi_node object,
					 void *out, size_t size, size_t *n_ret,
					 struct hi_error *err);
	/* The block of any state at an address that is in no object; *found_ret: there is
	 * one. HI_NOT_FOUND: nothing is known of memory outside of objects. */
	enum hi_status (*find_block)(struct hi_inspection *in, uint64_t address,
				     struct hi_block *ret, bool *found_ret,
				     struct hi_error *err);
	/* The file or kind of memory at an address; "" unknown. */
	const char *(*mapping_name)(const struct hi_inspection *in, uint64_t address);
};

/* Edges and objects as text. */
struct hi_text_ops {
	/* How `from` refers to `to`, as a step of a path (HI_EDGE_LINK); "" unknown. */
	const char *(*edge_text)(struct hi_inspection *in, hi_node from, hi_node to);
	/* session/edge_text.h */
	enum hi_status (*open_edge_texts)(struct hi_edge_text_reader *reader,
					  struct hi_error *err);
	enum hi_status (*read_edge_texts)(struct hi_edge_text_reader *reader,
					  hi_node node, const char **texts,
					  struct hi_error *err);
	/* The same as names; keys of elements may be left out. */
	enum hi_status (*read_edge_names)(struct hi_edge_text_reader *reader,
					  unsigned worker, hi_node node,
					  struct hi_edge_name *names,
					  struct hi_error *err);
	/* Optional: they will be read soon (the `ahead` of struct hi_field_reader). */
	void (*look_at_edge_names)(struct hi_edge_text_reader *reader, unsigned worker,
				   hi_node node, bool is_near);
	/* At most max fields of a node; *total_ret: all of them. */
	enum hi_status (*list_fields)(struct hi_inspection *in, hi_node node,
				      struct hi_field *fields, size_t max, size_t *n_ret,
				      size_t *total_ret, struct hi_error *err);
	/* Do the fields have values? */
	bool (*has_values)(const struct hi_inspection *in);
	/* Explains an object: evidence, facts of its runtime, the chain of evidence. */
	enum hi_status (*explain_object)(struct hi_inspection *in, hi_node object,
					 struct hi_explain_report *report,
					 struct hi_error *err);
	/* Returns the word that leads to a likely leak; "" unknown. */
	const char *(*explain_likely)(struct hi_inspection *in, hi_node object);
};

/* Named roots, and what retainers need of types and fields. */
struct hi_retainer_ops {
	/* Fills in->profile.roots for --root. HI_USAGE with *wrong an index of the
	 * options' roots: its expression is wrong at byte *column. */
	enum hi_status (*find_roots)(struct hi_inspection *in, size_t *wrong,
				     size_t *column, struct hi_error *err);
	/* Frees in->profile.roots. */
	void (*close_roots)(struct hi_inspection *in);
	/* The file name of the module of a global variable; "" unknown. */
	const char *(*root_module)(const struct hi_inspection *in,
				   const struct hi_root *root);
	/* Does a hint make a retainer of this type of the graph? */
	bool (*type_retains)(const struct hi_inspection *in, uint32_t type);
	/* Can mark_field_targets work? */
	bool (*knows_fields)(const struct hi_inspection *in);
	/* Sets the bits of the objects that `field` refers to in objects of the types in
	 * `has`. HI_USAGE: no such field; `text` is the option's value for the message.
	 */
	enum hi_status (*mark_field_targets)(struct hi_inspection *in, const char *text,
					     const bool *has, const char *field,
					     uint64_t *bits, struct hi_error *err);
};

struct hi_source_ops {
	const char *name; /* "process", "core", "snapshot" */
	/* The step that needs privileges: stops the process and makes in->image. NULL:
	 * nothing. */
	enum hi_status (*begin)(struct hi_inspection *in, struct hi_error *err);
	/* Makes in->graph; a snapshot also in->results.reach. */
	enum hi_status (*open)(struct hi_inspection *in, struct hi_error *err);
	/* Frees what open and begin made, but for the graph. */
	void (*close)(struct hi_inspection *in);
	/* Damage that was found where no status could be returned: no report may be made.
	 */
	enum hi_status (*check)(const struct hi_inspection *in, struct hi_error *err);
	/* HI_UNSUPPORTED where there is no image, with `what` needs it in the message. */
	enum hi_status (*require_image)(const struct hi_inspection *in, const char *what,
					struct hi_error *err);

	const struct hi_result_ops *results;
	const struct hi_stored_ops *stored; /* NULL: nothing is */
	const struct hi_content_ops *contents;
	const struct hi_text_ops *texts;
	const struct hi_retainer_ops *retainers;
};

extern const struct hi_source_ops hi_source_process, hi_source_core, hi_source_snapshot;

/* The source of what the options name. Never NULL. */
const struct hi_source_ops *hi_source_select(const struct hi_options *options);

#endif
