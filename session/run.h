/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context of a running command: the objects that its inspections share, beside the
 * options, which are input alone. The command owns the struct and all that it points to,
 * and closes them after the last inspection. Zero-initialised is a command that makes one
 * inspection and carries nothing.
 *
 * A series has a copy of its command's, with what is different for its censuses.
 */
#ifndef HI_SESSION_RUN_H
#define HI_SESSION_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "session/stop_observer.h"

struct hi_census_cache;
struct hi_edit_place;
struct hi_exit_watch;
struct hi_keeper_client;
struct hi_record_children;
struct hi_recorder;
struct hi_snapshot_writer;

/* A part of a file beside its censuses: biographies or a space profile. */
struct hi_kept_part {
	/* Writes it as it is up to now; NULL: there is none. */
	enum hi_status (*save)(void *what, struct hi_snapshot_writer *writer,
			       struct hi_error *err);
	void *what;
	bool has_all_censuses; /* the one at the last census stands for all of them */
};

struct hi_run {
	/* ---- of the target ---- */

	/* Watches for the end of the target; NULL: it is inspected once, alive. */
	struct hi_exit_watch *exit_watch;
	struct hi_recorder *recorder;	     /* that each stop ends or advances */
	struct hi_record_children *children; /* of record --children */
	/* They observe each stop; the recorder is the last one. */
	struct hi_stop_observers observers;

	/* ---- of a series ---- */

	struct hi_census_cache *census_cache; /* NULL: this is no census of a series */
	/* In the process without rights: who makes the images (series/keeper.h). */
	const struct hi_keeper_client *keeper;
	bool sends_images; /* in the keeper: they are for that process */
	/* Exceptions from the options, for each census. */
	bool is_quiet;
	unsigned threads;	  /* 0: the options' */
	uint64_t site_timeout_ns; /* waiting for the site of --at; 0: the options' */

	/* ---- of a file ---- */

	/* Which census of a file with many, instead of the options'; NULL: theirs. */
	const char *census;

	/* ---- of the output ---- */

	struct hi_kept_part kept;
	struct hi_edit_place *edit_place; /* where a report leaves what --edit opens */
	uint64_t most_sql_ns; /* of pages: what a statement of query may take; 0: any */

	/* For the recorder of a child: called once it records; NULL: nothing is
	 * called. */
	void (*begun)(void *arg);
	void *begun_arg;
};

#endif
