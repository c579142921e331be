/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a copy: copy.c (the three steps), copy_plan.c (which pages, and
 * where they go), copy_read.c (touching and reading), copy_child.c (what is different
 * where a copy-on-write child is read), copy_image.c (the image). */
#ifndef HI_ATTACH_COPY_INTERNAL_H
#define HI_ATTACH_COPY_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "attach/frozen_memory.h"
#include "attach/image.h"
#include "attach/image_child.h"
#include "attach/image_internal.h"
#include "attach/pagemap.h"
#include "attach/target_internal.h"

/* Target addresses [start, end) are at host. */
struct hi_area {
	uint64_t start, end;
	unsigned char *host;
	bool live; /* of HI_PAGES_LIVE, and of nothing else */
};

struct hi_reservation {
	void *pages;
	size_t size;
	int fd; /* of hi_sealed_alloc(); -1: of hi_pages_alloc() */
};

/* One read: contiguous on both sides, at most a block. */
struct hi_piece {
	uint64_t addr;
	unsigned char *host;
	uint32_t size;
	bool force;   /* no read permission: only /proc/PID/mem gives it */
	bool live;    /* HI_PAGES_LIVE */
	bool missing; /* HI_PAGES_MISSING */
};

/* Pieces [first, first+count) that one task reads. */
struct hi_copy_block {
	size_t first, count;
};

struct hi_copy_child_source;

struct hi_page_list HI_VECTOR(struct hi_pages);
struct hi_areas HI_VECTOR(struct hi_area);

/* A process whose memory is looked at and read. */
struct hi_copy_source {
	pid_t pid;  /* its directory of /proc; process_vm_readv */
	int mem_fd; /* borrowed, as the next two */
	int maps_fd;
	bool shares; /* its anonymous pages with another process: Note [Two ways to read]
		      */
	struct hi_pagemap pagemap;
};

struct hi_copy {
	struct hi_target *target;
	struct hi_copy_source own;	     /* the target itself */
	struct hi_copy_source *from;	     /* own, or the child */
	struct hi_copy_child_source *forked; /* NULL: the target itself is copied */
	unsigned threads;
	bool with_swap;
	bool raises_priority; /* best_effort_priority */
	int guard_fd;	      /* -1: none */
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
	struct blocks HI_VECTOR(struct hi_copy_block) blocks;
	struct hi_page_runs filled_later; /* userfaultfd: missing is not zero */
	struct hi_image_files files;
	struct hi_kernel_text kernel;
	uint64_t *auxv;
	size_t n_auxv;
	uint64_t held_bytes;   /* by the last plan */
	uint64_t time_ns;      /* CLOCK_REALTIME of the image; 0: not yet known */
	uint64_t monotonic_ns; /* the same by CLOCK_MONOTONIC */
	uint64_t rss;	       /* at time_ns; UINT64_MAX: unknown */
	uint64_t max_image;    /* options */
	bool sendable;	       /* options */
	bool is_of_dead;       /* the process is gone, and its memory is kept */
	bool in_place;	       /* private pieces are read when they are touched */
	bool reads_live_only;  /* the others are read later, or by another process */
	/* Pages that could not be read. */
	pthread_mutex_t lock;
	struct hi_page_runs unreadable; /* flags unused (1) */
	bool out_of_memory;
	_Atomic bool gone;
};

/* Maps and pagemap as they are now, into mappings, runs and pages. */
enum hi_status hi_copy_scan(struct hi_copy *copy, struct hi_error *err);
/* The same of the child and of what the target did not hand on to it. */
enum hi_status hi_copy_scan_child(struct hi_copy *copy, struct hi_error *err);
/* The parts of a look: what source maps now (HI_GONE where nothing is mapped) ... */
enum hi_status hi_copy_read_maps(struct hi_copy *copy,
				 const struct hi_copy_source *source,
				 struct hi_mapping **ret, size_t *n_ret,
				 struct hi_error *err);
/* ... its pages, into runs ... */
enum hi_status hi_copy_read_pagemap(struct hi_copy *copy, struct hi_copy_source *source,
				    struct hi_error *err);
/* ... and what becomes of each, into pages. */
enum hi_status hi_copy_classify(struct hi_copy *copy, struct hi_error *err);
/* Bytes of pages whose flags & mask are flags. */
uint64_t hi_copy_sum(const struct hi_copy *copy, uint32_t mask, uint32_t flags);
/* Adds areas for pages that have no host address. */
enum hi_status hi_copy_add_areas(struct hi_copy *copy, bool with_room,
				 struct hi_error *err);
/* Pieces and blocks out of pages and areas. */
enum hi_status hi_copy_make_pieces(struct hi_copy *copy, struct hi_error *err);
/* Faults in the own pages that the held pages will be copied to. */
void hi_copy_touch(struct hi_copy *copy);
/* Reads all pieces; what fails is in unreadable. HI_GONE, HI_NO_MEMORY. */
enum hi_status hi_copy_read(struct hi_copy *copy, struct hi_error *err);
/* One descriptor for each file that holds mapped code. */
enum hi_status hi_copy_open_files(struct hi_copy *copy, const struct hi_mapping *mappings,
				  size_t n, struct hi_error *err);
/* Finds the areas that a userfaultfd handler fills, into copy->filled_later. */
enum hi_status hi_copy_find_filled_later(struct hi_copy *copy, struct hi_error *err);
/* The child leaves the copy; NULL where there is none. */
struct hi_image_child *hi_copy_take_child(struct hi_copy *copy);
/* Frees what is known of the child, and ends it unless it was taken. */
void hi_copy_forget_child(struct hi_copy *copy);

#endif
