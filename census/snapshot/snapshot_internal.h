/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that write snapshots, and by those that read them. */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_INTERNAL_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_INTERNAL_H

#include "base/memory_bound.h"
#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"

/* ---- strings: each once, one after the other, NUL-terminated; "" at 0 ---- */

struct hi_snapshot_strings {
	char *text;
	size_t size, capacity;
	struct hi_string_slot *slots; /* open addressing; a power of two of them */
	size_t n_slots, count;
};
enum hi_status hi_snapshot_strings_add(struct hi_snapshot_strings *s, const char *text,
				       uint32_t *offset_ret, struct hi_error *err);
void hi_snapshot_strings_free(struct hi_snapshot_strings *s);

/* The strings that the writer has so far; they live until it gets the next one. */
const char *hi_snapshot_strings_put(const struct hi_snapshot_writer *w);

/* ---- the writer's sections, one at a time ---- */

enum hi_status hi_snapshot_begin(struct hi_snapshot_writer *w, const char *name,
				 uint32_t item, struct hi_error *err);
/* The same of a section in the table. */
enum hi_status hi_snapshot_begin_rows(struct hi_snapshot_writer *w, const char *name,
				      struct hi_error *err);
enum hi_status hi_snapshot_append(struct hi_snapshot_writer *w, const void *bytes,
				  size_t size, struct hi_error *err);
/* The bytes stay as they are until the writer is settled, finished or destroyed. */
enum hi_status hi_snapshot_append_lasting(struct hi_snapshot_writer *w, const void *bytes,
					  size_t size, struct hi_error *err);
/* Takes the bytes (from hi_alloc), also on failure. */
enum hi_status hi_snapshot_append_owned(struct hi_snapshot_writer *w, void *bytes,
					size_t size, struct hi_error *err);
enum hi_status hi_snapshot_end(struct hi_snapshot_writer *w, struct hi_error *err);

/* As hi_snapshot_put_section() and hi_snapshot_put_members(); the rows stay as they are
 * until the writer is settled, finished or destroyed. */
enum hi_status hi_snapshot_put_lasting_section(struct hi_snapshot_writer *w,
					       const char *name, const void *rows,
					       uint64_t n, struct hi_error *err);
enum hi_status hi_snapshot_put_lasting_members(struct hi_snapshot_writer *w,
					       const struct hi_section_member *members,
					       size_t n, const void *from,
					       struct hi_error *err);

/* The members of types and roots that are columns of a row; what is not in them: flags,
 * and the module of a root. */
extern const struct hi_row_map hi_snapshot_type_map, hi_snapshot_root_map;

/* Columns of struct hi_objects and its overheads: four each. */
extern const struct hi_section_member hi_snapshot_object_columns[];
extern const struct hi_property hi_snapshot_overheads[];

/* As the reader of them has them (snapshot_computed.c). */
enum hi_status hi_snapshot_put_reach_numbers(struct hi_snapshot_writer *w,
					     const struct hi_reach *reach,
					     struct hi_error *err);
enum hi_status hi_snapshot_put_dominators(struct hi_snapshot_writer *w,
					  const struct hi_dominators *dominators,
					  struct hi_error *err);

/* Sections edges.name, roots.name and edges.tail (snapshot_put_labels.c): other threads
 * begin with them, and put_labels waits. The end (hi_snapshot_labels_end()) is due whatever
 * came of the beginning. */
enum hi_status hi_snapshot_labels_begin(const struct hi_snapshot_graph *graph,
					struct hi_snapshot_labels **ret,
					struct hi_error *err);
enum hi_status hi_snapshot_put_labels(struct hi_snapshot_writer *w,
				      struct hi_snapshot_labels *labels,
				      struct hi_error *err);

/* Joins the threads: from then on nothing is asked of the graph's functions. */
void hi_snapshot_labels_stop(struct hi_snapshot_labels *labels);
/* An item of these sections. */
struct hi_edge_name hi_snapshot_label_decode(uint32_t value, const char *strings,
					     const uint32_t *tails);

/* ---- the reader ---- */

/* A section that was read and whose checksum is right; it stays in memory. */
struct hi_snapshot_loaded {
	void *items;
	size_t room; /* bytes that it took; 0: not yet */
	bool holds;  /* its rows were checked against the bounds below */
};

struct hi_snapshot {
	int fd;	       /* of our own */
	uint64_t base; /* where the snapshot begins in it */
	uint8_t *first_page;
	size_t size; /* when it was opened */
	unsigned threads;
	char *path; /* for errors */
	const struct hi_snapshot_header *header;
	const struct hi_snapshot_section *sections;
	struct hi_snapshot_loaded loaded[HI_SNAPSHOT_SECTIONS];
	uint64_t bounds[HI_BOUNDS];
	struct hi_unpacked unpacked; /* Note [Unpacked files] */
	const char *strings;
	uint64_t n_strings; /* bytes */
	const struct hi_snapshot_property *properties;
	uint64_t n_properties;
	/* after hi_snapshot_graph */
	const struct hi_snapshot_type *types;
	const struct hi_snapshot_root *roots;
	uint64_t *chunk_first; /* edge of the section where a chunk begins */
	const uint32_t *labels, *root_labels; /* NULL: none */
	const uint32_t *tails;
	bool labels_are_offsets; /* as older files have them */
};

/* HI_BAD_DATA: "FILE: section NAME: …". */
enum hi_status hi_snapshot_bad(const struct hi_snapshot *s, const char *section,
			       struct hi_error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Bytes at an offset, into their hash (XXH3_state_t, or NULL) while they are in the
 * cache. *short_ret: the file has fewer of them. */
enum hi_status hi_snapshot_read_at(const struct hi_snapshot *s, uint64_t at, uint8_t *to,
				   size_t size, void *hash, bool *short_ret,
				   struct hi_error *err);
/* Section i into loaded[i], if it is whole and its checksum holds. HI_LIMIT. */
enum hi_status hi_snapshot_load(struct hi_snapshot *s, uint32_t i, struct hi_error *err);
void hi_snapshot_unload(struct hi_snapshot *s); /* all of them */
/* HI_LIMIT: those of these sections that are not loaded yet would take more memory than
 * the file may. */
enum hi_status hi_snapshot_check_room(struct hi_snapshot *s, const char *const *names,
				      size_t n, struct hi_error *err);
/* Reads sections that will be used soon, on several threads. Damaged or missing
 * sections are left to the caller that needs them, which reports the error. */
void hi_snapshot_prepare(struct hi_snapshot *s, const char *const *names, size_t n);
/* The index of the first section of that name; -1: there is none. */
int hi_snapshot_find(const struct hi_snapshot *s, const char *name);

#endif
