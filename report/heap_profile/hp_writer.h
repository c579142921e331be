/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GHC's heap profile, FILE.hp, written as it happens, and its key, FILE.prof.
 *
 *	JOB "redis-server"
 *	DATE "Sat Nov 21 09:20 2026"
 *	SAMPLE_UNIT "seconds"
 *	VALUE_UNIT "bytes"
 *	BEGIN_SAMPLE 0.500000
 *	struct_node	35920
 *	(2)server.db,server.clients	104
 *	END_SAMPLE 0.500000
 *	MARK 0.750000
 *
 * Source: GHC's rts/ProfHeap.c, and what its hp2ps accepts: times with a decimal
 * point that never decrease, labels without white space, no label that is a word
 * of the format, lines under 5,000 bytes. Numbers do not depend on the locale.
 *
 * A sample reaches the file whole, in one write, at its end: whatever ends the
 * writer, the file is readable up to the last complete sample (a write that the
 * system cut short is taken back where it can be, else hp_reader.h drops it). The
 * key is written before the sample that needs it.
 *
 * Labels. White space and control bytes become _, a double quote '. A label that
 * is too long, or that another name has already, begins with a number, and
 * the key has the whole name:
 *	NAME n17 = std::map<std::string, std::vector<…>>
 * A set's label is (71)a,b, and the key has the line of GHC's retainer profile:
 *	SET 71 = {<a>, <b>}
 */
#ifndef HI_REPORT_HEAP_PROFILE_HP_WRITER_H
#define HI_REPORT_HEAP_PROFILE_HP_WRITER_H

#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"

struct hi_hp_header {
	const char *job;	 /* the target in a few words */
	time_t date;		 /* local time */
	const char *sample_unit; /* NULL: "seconds" */
	const char *value_unit;	 /* NULL: "bytes" */
	bool zeros;		 /* bands of 0 are written too (biographies) */
};

struct hi_hp;

/* Writes the header. Both descriptors are borrowed; key_fd may be -1: no key.
 * HI_OS when the file cannot be written, here and below. */
enum hi_status hi_hp_create(int fd, int key_fd, const struct hi_hp_header *header,
			    struct hi_hp **ret, struct hi_error *err);
void hi_hp_destroy(struct hi_hp *hp); /* writes nothing; NULL is fine */
HI_DEFINE_GUARD(struct hi_hp *, hi_hp_destroy)

/*
 * Times are billionths of the sample unit. A time before the last one is written
 * as the last one. Bands come between begin and end, each name once a sample.
 */
void hi_hp_sample_begin(struct hi_hp *hp, uint64_t time_ns);
/* Writes the value of one band of the sample. HI_NO_MEMORY. */
enum hi_status hi_hp_band(struct hi_hp *hp, const char *name, uint64_t value,
			  struct hi_error *err);
/* The set's number has the same members whenever it is given; they are listed in
 * this order in the key, at its first band. */
enum hi_status hi_hp_set_band(struct hi_hp *hp, uint64_t set, const char *const *members,
			      size_t n_members, uint64_t value, struct hi_error *err);
/* Ends the sample and flushes both files. HI_OS, HI_NO_MEMORY. */
enum hi_status hi_hp_sample_end(struct hi_hp *hp, struct hi_error *err);

/* Between samples. The text (NULL: none) goes to the key. */
enum hi_status hi_hp_mark(struct hi_hp *hp, uint64_t time_ns, const char *text,
			  struct hi_error *err);

/* One retainer census in the key, in the words of GHC's seed. */
struct hi_hp_retainer_census {
	uint64_t number; /* from 1 */
	uint64_t time_ns;
	uint64_t visits, objects; /* their quotient is printed */
	uint64_t waiting;	  /* the most objects on the work list */
	uint64_t costs;		  /* of all retainer sets */
	uint64_t sets;
};
enum hi_status hi_hp_retainer_note(struct hi_hp *hp,
				   const struct hi_hp_retainer_census *census,
				   struct hi_error *err);

/* Into the key: bytes that a restriction hides at this time. */
enum hi_status hi_hp_hidden_note(struct hi_hp *hp, uint64_t time_ns, uint64_t bytes,
				 uint64_t many, struct hi_error *err);

/* The end of the series: an empty sample, as GHC's. */
enum hi_status hi_hp_finish(struct hi_hp *hp, uint64_t time_ns, struct hi_error *err);

#endif
