/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the walks of allocators say, compared with the table that allocator_shim.c keeps
 * in the process (fixtures/shared): both are read out of one image, made by the product's
 * own stop. To try an allocator:
 *
 *	struct allocator_run run = {.preload = "libjemalloc.so.2", .parts = "jemalloc",
 *				    .arguments = {"2", "20000"}};
 *	struct hi_fixture *fx = allocator_run_start(&run);
 *	struct allocator_figures figures = {};
 *
 *	allocator_truth_stop(fx->pid, &run, HI_REQUEST_COPY, &figures);
 *	allocator_figures_expect(&figures);
 *
 * It ends the test where something is missing, extra, or of another size.
 */
#ifndef HI_TESTS_SUPPORT_ALLOCATOR_TRUTH_H
#define HI_TESTS_SUPPORT_ALLOCATOR_TRUTH_H

#include "attach/stop.h"
#include "decode/allocator.h"
#include "tests/support/fixture.h"

struct allocator_run {
	const char *program; /* NULL: allocator_churn; a path where it has a slash */
	const char *arguments[8];
	const char *preload; /* library behind the shim; NULL: none */
	const char *shim;    /* NULL: liballocator_shim.so; "": it is in the program */
	const char *environment[8]; /* NAME=value */
	size_t room;		    /* of the shim's table, in blocks; 0: 65,536 */
	/* How the names of the allocators begin that must be found and whose blocks are
	 * in the table, "jemalloc" or "jemalloc, glibc"; blocks of others are counted,
	 * not judged. So many of them must be there; 0: 1. */
	const char *parts;
	size_t n_parts;
	/* Live blocks that the shim cannot have seen are allowed where this says so, and
	 * counted as known. NULL: none. */
	bool (*is_known)(const struct hi_image *image, const struct hi_block *block);
};

struct allocator_figures {
	size_t stops;	/* that were compared */
	size_t inside;	/* not compared: a thread could not be got out of the allocator */
	size_t truth;	/* blocks in the table */
	size_t live;	/* blocks that the walks give as live */
	size_t others;	/* live blocks of allocators that are not judged */
	size_t missing; /* in the table, not live by the walk */
	size_t extra;	/* live by the walk, not in the table */
	size_t differs; /* another usable size */
	size_t twice;	/* live more than once */
	size_t known;	/* is_known */
	size_t in_calls; /* excluded: calls in progress have them */
	size_t unsized;	 /* the allocator did not say how large: before it had begun */
	size_t interior; /* addresses inside of blocks whose start is unknown */
	size_t damage;
	uint64_t skipped;	   /* bytes */
	uint64_t find_ns, walk_ns; /* processor time, all stops */
	uint64_t slowest_pause_ns;
	char name[64], version[64], found_by[128], checks[256]; /* of the last stop */
};

/* The process of the run, for hi_fixture_*. churn: waits until it is ready. */
struct hi_fixture *allocator_run_start(const struct allocator_run *run);
struct hi_fixture *allocator_churn_start(const struct allocator_run *run);
/* Tells a churn a line, and waits for the answer, "ready" or "loaded". */
void allocator_churn_tell(struct hi_fixture *fx, const char *line, const char *answer);

/* Stops pid as an inspection does, walks, compares, and adds to *figures. */
void allocator_truth_stop(pid_t pid, const struct allocator_run *run,
			  enum hi_snapshot_request snapshot,
			  struct allocator_figures *figures);
/* Compares what is in this image, which may come from a core. */
void allocator_truth_compare(struct hi_image *image, const struct allocator_run *run,
			     struct allocator_figures *figures);
/* Prints the figures under this name into the log of the test. */
void allocator_figures_note(const char *what, const struct allocator_figures *figures);
/* Nothing missing, extra, different, damaged, and something compared. */
void allocator_figures_expect(const struct allocator_figures *figures);

/* Blocks of musl's loader, which calls its allocator directly: a record of a module, or
 * pointers to such records. For allocator_run.is_known. */
bool allocator_truth_is_musl_loader(const struct hi_image *image,
				    const struct hi_block *block);

#endif
