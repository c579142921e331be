/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a copy: copy.c (the three steps), copy_plan.c (which pages, and
 * where they go), copy_read.c (touching and reading). */
#ifndef HI_ATTACH_COPY_INTERNAL_H
#define HI_ATTACH_COPY_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "attach/copy.h"
#include "attach/frozen.h"
#include "attach/image_internal.h"
#include "attach/pagemap.h"
#include "attach/target_internal.h"

/* Target addresses [start, end) have a place at host. */
struct hi_area {
	uint64_t start, end;
	unsigned char *host;
};

struct hi_reservation {
	void *pages;
	size_t size;
};

/* One read: contiguous on both sides, at most a block. */
struct hi_piece {
	uint64_t addr;
	unsigned char *host;
	uint32_t size;
	bool force; /* no read permission: only /proc/PID/mem gives it */
};

/* Pieces [first, first+count) that one task reads. */
struct hi_block {
	size_t first, count;
};

struct hi_page_list HI_VECTOR(struct hi_pages);
struct hi_areas HI_VECTOR(struct hi_area);

struct hi_copy {
	struct hi_target *target;
	unsigned threads;
	bool with_swap;
	int guard_fd; /* -1: none */
	struct hi_pagemap pagemap;
	char *maps_text;
	size_t maps_capacity;
	struct hi_mapping *mappings;
	size_t n_mappings;
	struct hi_page_runs runs, rescan;
	struct hi_page_list pages; /* each within one mapping */
	struct hi_areas areas;	   /* sorted, disjoint, all reserved */
	struct hi_areas fresh;	   /* scratch of the plan */
	struct reservations HI_VECTOR(struct hi_reservation) reservations;
	struct pieces HI_VECTOR(struct hi_piece) pieces;
	struct blocks HI_VECTOR(struct hi_block) blocks;
	struct hi_page_runs filled_later; /* userfaultfd: missing is not zero */
	struct hi_image_files files;
	uint64_t *auxv;
	size_t n_auxv;
	uint64_t held_bytes; /* by the last plan */
	uint64_t time_ns;    /* CLOCK_REALTIME of the run */
	/* Pages that could not be read. */
	pthread_mutex_t lock;
	struct hi_page_runs unreadable; /* flags unused (1) */
	bool out_of_memory;
	_Atomic bool gone;
};

/* Maps and pagemap as they are now, into mappings, runs and pages. */
enum hi_status hi_copy_look(struct hi_copy *copy, struct hi_error *err);
/* A place for every page, adding areas where there is none. */
enum hi_status hi_copy_place(struct hi_copy *copy, bool with_room, struct hi_error *err);
/* Pieces and blocks out of pages and areas. */
enum hi_status hi_copy_cut(struct hi_copy *copy, struct hi_error *err);
/* Faults in the pages of ours that the held pages will go to. */
void hi_copy_touch(struct hi_copy *copy);
/* Reads all pieces; what fails is in unreadable. HI_GONE, HI_NO_MEMORY. */
enum hi_status hi_copy_read(struct hi_copy *copy, struct hi_error *err);

#endif
