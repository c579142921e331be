/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The space profile of a series: takes its censuses one by one, together with the
 * recording beside them, and gives what they say to census/space.
 *
 * Note [Periods of a series]
 *
 * Period 1 begins at the first census, which counts as none. The period of an object is
 * that of the time of its birth, its identity by address and time: both are of the
 * recording. Objects that were allocated before the first census, while the recording
 * began, count as born in period 1. Objects that are older than the recording have no
 * function; all of them together have one amount.
 *
 * The cost of an object is that of its block. For one that died before a census it is
 * computed from the requested size, if the allocator is glibc's; else it is the requested
 * size.
 */
#ifndef HI_SESSION_SPACE_SPACE_PROFILE_H
#define HI_SESSION_SPACE_SPACE_PROFILE_H

#include "base/cleanup.h"
#include "base/interner.h"
#include "census/space/space.h"
#include "census/space/time.h"
#include "session/recorded.h"
#include "session/space/centres.h"
#include "session/space/phases.h"

/* Texts of the profile. Functions are told apart by all three. */
struct hi_space_function {
	uint32_t name, file, module;
	uint32_t line; /* where it allocates: the first one that was seen; 0: unknown */
	bool is_allocator; /* what runs in it is time that allocation takes */
};

struct hi_space_census {
	uint64_t at_ns;		      /* since the first census */
	uint64_t end_ns;	      /* of its period, since the recording began */
	struct hi_space_amount older; /* live: from before the recording, or, of
					 samples, without a record */
	uint64_t lost;		      /* events, until then */
};

struct hi_space_profile;
/* *ret: hi_space_profile_destroy(). HI_NO_MEMORY. */
enum hi_status hi_space_profile_create(struct hi_space_profile **ret,
				       struct hi_error *err);
void hi_space_profile_destroy(struct hi_space_profile *profile); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_space_profile *, hi_space_profile_destroy)
/* Choices of a profile. Texts are borrowed. */
struct hi_space_choice {
	/* Rows are of the centres, and one of all else, in place of functions. */
	struct hi_centre_choice centres;
	/* As of struct hi_space_phases: only what was allocated between these marks. */
	const char *from_mark, *to_mark;
	bool keeps_marks; /* for a file: all of it is told apart by phase */
	bool by_mark; /* rows are of the last mark before the allocation, by its text */
};
/* Before the first census. */
void hi_space_profile_choose(struct hi_space_profile *profile,
			     const struct hi_space_choice *choice);
const struct hi_space_choice *
hi_space_profile_choice(const struct hi_space_profile *profile);
/* After the last census: HI_NOT_FOUND: what was chosen is not there; the error names what
 * is near. */
enum hi_status hi_space_profile_check(const struct hi_space_profile *profile,
				      struct hi_error *err);
/* Before the first census: the beginning of the recording is where period 1 begins, and
 * the first census counts as one. HI_NO_MEMORY. */
enum hi_status hi_space_profile_begin(struct hi_space_profile *profile,
				      struct hi_error *err);
/* Adds a census. HI_NOT_FOUND: nothing is recorded. HI_NO_MEMORY. */
enum hi_status hi_space_profile_add(struct hi_space_profile *profile,
				    struct hi_inspection *in, uint64_t at_ns,
				    struct hi_error *err);
/* Passes over a census whose objects are not known, end_ns after the recording began: it
 * ends a period, and so counts for ages. HI_NO_MEMORY. */
enum hi_status hi_space_profile_pass(struct hi_space_profile *profile, uint64_t at_ns,
				     uint64_t end_ns, struct hi_error *err);

/* Instead of censuses, into an empty profile: what a file has kept of one, with the
 * recording that its contexts are of. HI_NO_MEMORY. */
struct hi_snapshot_space;
enum hi_status hi_space_profile_restore(struct hi_space_profile *profile,
					const struct hi_snapshot_space *kept,
					const struct hi_recorded *recorded,
					struct hi_error *err);

const struct hi_space *hi_space_profile_space(const struct hi_space_profile *profile);
/* Returns a text, "" for 0. Types of the result are texts, too. */
const char *hi_space_profile_text(const struct hi_space_profile *profile, uint32_t text);
/* Texts have numbers below this one. */
uint32_t hi_space_profile_texts(const struct hi_space_profile *profile);
/* By the numbers that the sites have; [0] is unknown. */
const struct hi_space_function *
hi_space_profile_functions(const struct hi_space_profile *profile, size_t *n_ret);
/* As the last census names them; borrowed until the next. */
struct hi_space_sites hi_space_profile_sites(const struct hi_space_profile *profile);
/* Fills in, for a context of the space, the function of its row and those that have
 * called it, innermost first, at most so many. A row that is of no function (a mark, no
 * centre) comes before the stack from the site on. Returns how many there are. */
uint32_t hi_space_profile_chain(const struct hi_space_profile *profile, uint32_t part,
				uint32_t *ret, uint32_t most);
/* As the last census has them, by context of the recording: all functions of its stack,
 * and samples of time. Borrowed until the next. */
uint32_t hi_space_profile_n_contexts(const struct hi_space_profile *profile);
struct hi_space_stack hi_space_profile_stack(const struct hi_space_profile *profile,
					     uint32_t context);
/* Returns the samples of time; scan_ns 0: none were taken. */
struct hi_recorded_time hi_space_profile_time(const struct hi_space_profile *profile,
					      struct hi_recording_counts *counts_ret);
/* The first one is where period 1 begins. */
const struct hi_space_census *
hi_space_profile_censuses(const struct hi_space_profile *profile, size_t *n_ret);
/* In which allocations were not recorded, and are in no amount. Borrowed until the next
 * census. */
const struct hi_recording_pause *
hi_space_profile_pauses(const struct hi_space_profile *profile, uint32_t *n_ret);
/* All zeros where marks do not count. */
const struct hi_space_phases *
hi_space_profile_phases(const struct hi_space_profile *profile);
/* Tells of a file: is it only of what was allocated between some of the marks? */
bool hi_space_profile_is_bracketed(const struct hi_space_profile *profile);
/* Whether costs of what died before a census are computed; else they are as requested. */
bool hi_space_profile_has_costs(const struct hi_space_profile *profile);
/* Mean distance of samples; 0: all are recorded. */
uint64_t hi_space_profile_sample_bytes(const struct hi_space_profile *profile);
/* Bytes that it takes here. */
uint64_t hi_space_profile_memory(const struct hi_space_profile *profile);

#endif
