/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `bio`: how much of the heap is used, is not used any more, or never was.
 * Amounts are bounds, [proved, possible] (census/biography/bands.h). Plain data; strings
 * are borrowed and hostile.
 */
#ifndef HI_REPORT_VIEWS_BIO_REPORT_H
#define HI_REPORT_VIEWS_BIO_REPORT_H

#include "census/biography/checks.h"
#include "census/biography/sample_bands.h"
#include "report/formats/json_writer.h"
#include "report/views/display.h"
#include "report/views/restrict.h"

/* A census. */
struct hi_bio_line {
	uint64_t at_ns; /* since the first one */
	struct hi_bio_row row;
	struct hi_bio_amount unseen; /* born and dead in its period */
	struct hi_bio_amount
		evidence[HI_BIO_EVIDENCE]; /* of its period, as the census's */
	bool has_pages;
};

/* A part of the heap at the last census. */
struct hi_bio_group {
	const char *name; /* "" unknown */
	struct hi_bio_row row;
};

/* What is proved not to have been used for some time, at the last census. */
struct hi_bio_idle {
	uint64_t for_ns;
	struct hi_bio_amount all;
	/* The type with most of it, the function that allocated most of that, and the
	 * variable that alone keeps most of that alive; "": not known. */
	const char *type, *site, *root;
	struct hi_bio_amount of_type, of_site, of_root;
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
};

struct hi_bio_report {
	int pid;
	const char *exe;
	const char *by;	       /* what groups are: "type", "site", "module", "era" */
	bool is_recorded;      /* allocations were followed */
	uint64_t sample_bytes; /* mean distance of samples; 0: all are recorded */
	uint64_t lasted_ns;
	struct hi_bio_line *lines;
	size_t n_lines;
	struct hi_bio_group *groups; /* most possible bytes in `bands` first */
	size_t n_groups;
	struct hi_hidden hidden;
	uint32_t bands; /* --bio, of the groups */
	bool has_bands; /* it was given */
	struct hi_bio_idle idle;
	/* Of what is live: told from others by the recording, by address and size alone;
	 * and without a record, of samples. */
	struct hi_bio_amount certain, uncertain, left_out;
	struct hi_bio_checks checks;
	struct hi_bio_watch watch;
	/* Why pages give no evidence in any period; NULL: they do in some. */
	const char *no_pages;
};

/* Adds the report to a page. */
void hi_bio_display(const struct hi_bio_report *report, struct hi_page *page);
/* Writes the document "heapinspect/bio/v1" (docs/schema/bio.v1.json). */
void hi_bio_json(const struct hi_bio_report *report, struct hi_json *json);
/* A line about a census, as it is taken; provisional. Returns out. */
char *hi_bio_line_text(const struct hi_bio_line *line, char out[256]);

#endif
