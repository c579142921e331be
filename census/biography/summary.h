/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Biographies as plain data, as of the last census: what reports are made of, and what a
 * snapshot file keeps (docs/SNAPSHOT_FORMAT.md: the rows are those of the file).
 */
#ifndef HI_CENSUS_BIOGRAPHY_SUMMARY_H
#define HI_CENSUS_BIOGRAPHY_SUMMARY_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/interner.h"
#include "census/biography/checks.h"
#include "census/biography/sample_bands.h"

/* Flags of a life. */
enum { HI_BIO_LIFE_OLDER = 1, HI_BIO_LIFE_INHERENT = 2, HI_BIO_LIFE_FLAGS = 3 };

/* An object of the last census; struct hi_bio_life describes the fields. Objects of eras
 * that do not count have none. */
struct hi_bio_life_row {
	uint32_t object; /* its number in the graph of that census */
	uint32_t group;
	uint64_t size; /* what counts */
	uint32_t from, first_proved, last_proved, first_possible, last_possible;
	uint32_t quiet_from, era;
	uint8_t first_evidence, last_evidence, flags, state;
};

/* Objects that have all of this in common. The first six are numbers of texts;
 * retainers is 0 where no sets were asked for. */
struct hi_bio_group_row {
	uint32_t type, module, site, era, root, retainers;
	uint32_t is_inherent, reserved;
	struct hi_bio_row row; /* at the last census */
};

/* A census; [0] is where period 1 begins, and has a time alone. */
struct hi_bio_census_row {
	uint64_t at_ns; /* since the first one */
	struct hi_bio_amount unseen;
	struct hi_bio_amount evidence[HI_BIO_EVIDENCE];
	uint64_t has_pages; /* its period has evidence from pages */
	struct hi_bio_row row;
};

/* An object of the sample that was watched, and is live at the last census. */
struct hi_bio_watched {
	uint64_t address, size, hits; /* hits that prove a use */
	uint32_t periods;	      /* in which it was watched */
	uint32_t group;
};

/* Hardware watchpoints on objects of a sample. */
struct hi_bio_watch {
	unsigned slots;	     /* that were asked for; 0: none */
	const char *missing; /* why none were set in the end; NULL: they were */
	uint64_t objects;    /* that were watched */
	uint64_t used;	     /* of them, those that were hit */
	uint64_t hits;	     /* that prove a use */
	uint64_t all_hits;   /* and all */
	uint64_t moved_on;   /* watchpoints that were ended as they were hit too often */
	uint64_t waited;     /* times that they were set later for that */
	struct hi_bio_amount population; /* at the last census: what is sampled */
	struct hi_bio_estimates estimates;
	const struct hi_bio_watched *watched; /* most hits first */
	size_t n_watched;
};

/* Probes at the entry of functions that take objects. */
struct hi_bio_calls {
	bool is_asked;
	const char *missing; /* why none were there in the end; NULL: there were */
	uint64_t functions;  /* of the target that take pointers to records */
	uint64_t wanted;     /* of them, those that take types of the last census */
	uint64_t probed;     /* of these, at the end */
	uint64_t dropped;    /* that were called too often */
	uint64_t left_out;   /* that were too many */
	uint64_t hits;	     /* calls that were seen */
	uint64_t not_stored; /* of them, those whose object was not kept */
	uint64_t waited;     /* times that all were taken away for their cost */
};

/* Only what was born in some eras counts. */
struct hi_bio_era {
	const char *eras;		 /* FROM[-TO]; NULL: all count */
	bool is_open;			 /* the last one has not begun */
	struct hi_bio_amount hidden;	 /* of others, live at the last census */
	struct hi_bio_amount restricted; /* the same of what --type and others hide */
};

struct hi_bio_summary {
	bool is_recorded; /* allocations were followed */
	/* --birth-use, --death-use: uses in the period of birth are none; only those that
	 * were seen are; in that of the death they are none. */
	bool birth_is_idle, birth_is_seen, death_is_idle;
	uint64_t sample_bytes; /* mean distance of samples; 0: all are recorded */
	/* Live objects: told from others by the recording; by address and size alone; and
	 * without a record, in a recording of samples. */
	struct hi_bio_amount certain, uncertain, left_out;
	/* Why pages give no evidence in any period; NULL: they do in some. */
	const char *no_pages;
	struct hi_bio_checks checks;
	struct hi_bio_watch watch;
	struct hi_bio_calls uses;
	struct hi_bio_era era;
	const struct hi_bio_life_row *lives; /* ascending by object */
	size_t n_lives;
	struct hi_bio_group_row *groups;
	uint32_t n_groups;
	/* For samples: the variance of what is live of each group; NULL: not known. */
	const double *variances;
	struct hi_bio_census_row *censuses;
	size_t n_censuses; /* at least 1: one more than periods */
	/* In the order of their beginnings, without the first one where it has no name.
	 */
	const struct hi_bio_era_mark *eras;
	uint32_t n_eras;
	bool has_eras;			 /* they are known: not in files of before */
	const struct hi_interner *texts; /* 0: "" */
	/* Memory that the summary owns. */
	struct hi_interner own_texts;
	struct hi_arena arena;
};

/* A new one, empty. *ret: hi_bio_summary_destroy(). NULL: out of memory. */
struct hi_bio_summary *hi_bio_summary_create(void);
void hi_bio_summary_destroy(struct hi_bio_summary *summary); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_bio_summary *, hi_bio_summary_destroy)

/* The number of the last census; 0: no period has ended. */
static inline uint64_t hi_bio_summary_periods(const struct hi_bio_summary *summary)
{
	return summary->n_censuses - 1;
}
/* Packs what is known of an object, and unpacks it; address and serial are not in a row,
 * which is of a life that the last census has seen. False: a period is above 2^32 - 1. */
bool hi_bio_life_pack(const struct hi_bio_life *life, struct hi_bio_life_row *ret);
struct hi_bio_life hi_bio_life_unpack(const struct hi_bio_life_row *row);
/* The bands in which the object may be at the last census, as hi_bio_life_bands(). */
uint32_t hi_bio_summary_bands(const struct hi_bio_summary *summary,
			      const struct hi_bio_life_row *row);
/* The row of an object of the graph; NULL: it has none. */
const struct hi_bio_life_row *hi_bio_summary_find(const struct hi_bio_summary *summary,
						  uint32_t object);

_Static_assert(sizeof(struct hi_bio_life_row) == 48, "life");
_Static_assert(sizeof(struct hi_bio_watched) == 32, "watched");
/* As files have them; the sets of a row are in a section of their own. */
#define HI_BIO_GROUP_ROW_SIZE offsetof(struct hi_bio_group_row, row.sets)
#define HI_BIO_CENSUS_ROW_SIZE offsetof(struct hi_bio_census_row, row.sets)
_Static_assert(HI_BIO_GROUP_ROW_SIZE == 256, "group");
_Static_assert(HI_BIO_CENSUS_ROW_SIZE == 336, "census");

#endif
