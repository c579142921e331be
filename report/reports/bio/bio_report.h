/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `bio`: how much of the heap is used, is not used any more, or never was.
 * Amounts are bounds, [proved, possible] (census/biography/bands.h). Plain data; strings
 * are borrowed and hostile.
 */
#ifndef HI_REPORT_REPORTS_BIO_BIO_REPORT_H
#define HI_REPORT_REPORTS_BIO_BIO_REPORT_H

#include "census/biography/summary.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/parts/row_selection.h"

/* A part of the heap at the last census. */
struct hi_bio_group {
	const char *name; /* "" unknown */
	struct hi_bio_row row;
	double variance; /* of its live bytes, of samples */
};

/* What is proved not to have been used for some time, at the last census. */
struct hi_bio_idle {
	uint64_t for_ns;
	struct hi_bio_amount all;
	/* The type with most of it, the function that allocated most of that, and the
	 * variable that alone keeps most of that alive; "": not known. */
	const char *type, *site, *root;
	struct hi_bio_amount of_type, of_site, of_root;
	/* The retainer set of most of that; "": not known, or not asked for. */
	const char *retainers;
	struct hi_bio_amount of_retainers;
};

/* An object that was watched. */
struct hi_bio_counted {
	uint64_t address, bytes, hits; /* hits that prove a use */
	uint32_t periods;
	const char *type; /* "" unknown */
};

struct hi_bio_report {
	int pid;
	const char *exe;
	const char *by;	  /* what groups are: "type", "retainers" */
	bool is_recorded; /* allocations were followed */
	/* As in struct hi_bio_summary. */
	bool birth_is_idle, birth_is_seen, death_is_idle;
	uint64_t sample_bytes; /* mean distance of samples; 0: all are recorded */
	double variance;       /* of what is live at the last census, of samples */
	uint64_t lasted_ns;
	struct hi_bio_census_row *lines; /* of the censuses that end a period */
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
	struct hi_bio_counted *counted; /* most hits first */
	size_t n_counted;
	struct hi_bio_calls uses;
	/* --era: only what was born in these eras counts; NULL: not given. */
	const char *era;
	bool era_is_open;		    /* the last one has not begun */
	struct hi_bio_amount hidden_by_era; /* live at the last census */
	struct hi_bio_amount restricted;    /* the same, by other restrictions */
	/* Why pages give no evidence in any period; NULL: they do in some. */
	const char *no_pages;
};

/* For samples: holds the live bytes with 95 %. */
struct hi_interval hi_bio_live_interval(uint64_t live, double variance);
/* Adds the report to a page. */
void hi_bio_display(const struct hi_bio_report *report, struct hi_page *page);
/* Writes the document "heapinspect/bio/v1" (docs/schema/bio.v1.json). */
void hi_bio_json(const struct hi_bio_report *report, struct hi_json *json);
/* A line about a census, as it is taken; provisional. Returns out. */
char *hi_bio_line_text(const struct hi_bio_census_row *line, char out[256]);

#endif
