/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A deep profile that is kept between queries: a recording is read and its graph is built
 * once, and each query is answered from there. It is made again when another file,
 * another contour or another verb (of enum hi_deep_verb: query and advise have the same
 * profile) is asked for, or when a file has changed.
 */
#ifndef HI_SESSION_DEEP_DEEP_KEPT_H
#define HI_SESSION_DEEP_DEEP_KEPT_H

#include <sys/stat.h>

#include "report/reports/deep/deep_report.h"
#include "session/options.h"

/* A file as it was when it was read. */
struct hi_deep_stamp {
	char *path, *census; /* NULL: none */
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

/* Empty: all 0. */
struct hi_deep_kept {
	enum hi_deep_kept_state {
		HI_DEEP_KEPT_NOTHING,
		HI_DEEP_KEPT_PROFILE, /* of one file, or the sum of two */
		HI_DEEP_KEPT_DIFF
	} state;
	struct hi_deep_profile profile;
	struct hi_deep_contour contour;
	struct hi_deep_index index; /* of profile; with the contour if there is one */
	struct hi_deep_diff diff;
	uint64_t n_made; /* how often it was read; for tests */
	/* The key: the files, and that of the contour. */
	enum hi_deep_verb verb;
	struct hi_deep_stamp files[2], contour_file;
};

/*
 * Makes what the options ask for, unless it is there already: the files are those of
 * `deep`, or the target's if there are none. On an error nothing is kept. Errors: of
 * hi_deep_read(), hi_deep_contour_parse(), hi_deep_diff() and hi_deep_profile_merge().
 */
enum hi_status hi_deep_kept_open(struct hi_deep_kept *kept,
				 const struct hi_options *options, struct hi_error *err);
/* Answers a query, or writes advice, from what is kept for these options. top: rows of
 * each table of a difference or of advice. Errors: of the reports. */
enum hi_status hi_deep_kept_report(const struct hi_deep_kept *kept,
				   const struct hi_options *options, uint32_t top,
				   struct hi_deep_report **ret, struct hi_error *err);
/* Forgets everything; then it is empty. */
void hi_deep_kept_free(struct hi_deep_kept *kept);

#endif
