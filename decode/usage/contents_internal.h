/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations that contents_*.c share. */
#ifndef HI_DECODE_USAGE_CONTENTS_INTERNAL_H
#define HI_DECODE_USAGE_CONTENTS_INTERNAL_H

#include "base/vector.h"
#include "decode/usage/contents.h"
#include "decode/inference/memory_windows.h"

enum {
	HI_CONTENTS_SHARD_SHIFT = 64 - 9,
	HI_CONTENTS_SHARDS = 1 << (64 - HI_CONTENTS_SHARD_SHIFT),
};

struct hi_entry {
	uint64_t hash;
	uint64_t rest; /* 48 more bits of hash, the object's number in its chunk */
};

struct hi_contents_chunk {
	struct hi_entry *entries; /* by shard, then object */
	uint32_t start[HI_CONTENTS_SHARDS + 1];
	struct hi_contents_used *used; /* for marks */
	uint32_t n_used;
};

/* Contents in the table of a shard; sum and most are 0 while there is one only. */
struct hi_contents_slot {
	uint64_t hash, rest;
	hi_node first;
	uint32_t count; /* 0: empty */
	uint64_t sum, most;
};

/* A group that becomes a hi_waste_group if it is among the first. */
struct hi_contents_group {
	uint64_t copied;
	hi_node first;
	uint32_t objects;
};
struct hi_contents_groups HI_VECTOR(struct hi_contents_group);

struct hi_contents_worker {
	struct hi_contents_comparison *c;
	struct hi_memory_window window;
	uint8_t *piece;			     /* HI_DIGEST_PIECE bytes */
	uint8_t *scratch;		     /* HI_SPAN_SCRATCH bytes */
	struct hi_entry *fresh;		     /* HI_CHUNK_NODES of them, by object */
	struct hi_contents_used *fresh_used; /* as many; NULL: no marks are wanted */
	uint32_t n_fresh_used;
	struct hi_waste_row *rows; /* by type, or as asked: n_rows of the comparison */
	struct hi_contents_slot *slots;
	uint32_t n_slots, used;
	struct hi_contents_groups groups;
	bool full; /* groups were cut: the first `top` are sorted, the best so far */
	struct hi_waste_left beyond, below, other;
	uint64_t unread, unread_bytes;
	bool no_memory;
};

struct hi_contents_comparison {
	const struct hi_image *image; /* NULL: there are no bytes (hi_contents_recount) */
	const struct hi_typing *typing;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_contents_options *options;
	const struct hi_block_sizes *sizes; /* NULL: glibc's */
	struct hi_memory_windows memory_windows;
	struct hi_contents_chunk *chunks;
	size_t n_chunks;
	uint32_t *equal;	       /* becomes that of the marks; NULL: not wanted */
	struct hi_waste_group *groups; /* the result */
	struct hi_contents_worker *workers;
	unsigned n_workers;
	uint32_t n_rows;
};

struct hi_contents_object {
	hi_node id;
	uint64_t addr, usable, cost;
	const uint8_t *host; /* NULL: not in one piece */
	uint64_t start, end; /* what its type uses */
	uint64_t text;	     /* where its text begins, if is_text */
	bool is_known, is_text;
};

/* Finds its bytes, and those of them that are in use; false: some are unread. */
bool hi_contents_locate(struct hi_contents_worker *w, struct hi_contents_object *o);
/* One more object of these contents; of the first one set the hash before. */
void hi_contents_add(const struct hi_objects *objects, struct hi_contents_slot *s,
		     hi_node id);
/* Adds the group of a slot with several objects to the worker's groups. */
void hi_contents_add_group(struct hi_contents_worker *w,
			   const struct hi_contents_slot *s);
/* Adds the bytes beyond what the object uses. */
void hi_contents_count_unused(const struct hi_contents_comparison *c,
			      struct hi_waste_row *row,
			      const struct hi_contents_object *o);
/* All that the workers have; takes it from them. */
enum hi_status hi_contents_result(struct hi_contents_comparison *c, struct hi_waste **ret,
				  struct hi_error *err);
/* The marks out of the chunks. */
enum hi_status hi_contents_move_marks(struct hi_contents_comparison *c,
				      struct hi_contents_marks *ret,
				      struct hi_error *err);
/* hi_task_fn over chunks, the first pass; arg: struct hi_contents_comparison. */
void hi_contents_read_chunk(void *arg, size_t task, unsigned worker);

#endif
