/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fixtures/lives.c under `heapinspect bio --at period_end`: a test commands what happens
 * in each period, and what bio says is held against the bands of SPEC section 2 of just
 * these commands.
 *
 *	struct lived *l = lived_start(LIVED("new old 50"), LIVED("--live", "alloc"));
 *	lived_period(l, LIVED("new a 100"));
 *	lived_period(l, LIVED("write a"));
 *	json_t *doc = lived_end(l);	// everything is checked
 */
#ifndef HI_TESTS_SUPPORT_LIVED_H
#define HI_TESTS_SUPPORT_LIVED_H

#include <jansson.h>
#include <stdint.h>

#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"

enum { LIVED_OBJECTS = 1024, LIVED_BANDS = 6 };

/* What a command made. Periods are numbered from 1; 0: before the first one. */
struct lived_object {
	char name[16], type[16];
	unsigned long address;
	size_t requested, cost;
	unsigned objects;      /* blocks: more than one of a list */
	unsigned birth, death; /* death 0: it lives */
	unsigned dropped;      /* since when nothing leads to it; 0: something does */
	bool is_shared;	       /* two variables lead to it, since that period */
	unsigned shared;
	const char *site; /* the function that made it */
	char era[16];
	uint64_t used, written; /* a bit for each period */
};

struct lived_tracer {
	pid_t pid; /* 0: nobody */
	uint64_t started;
};

struct lived {
	struct hi_fixture *fx;
	struct recording_run run;
	bool is_program;      /* another one: nothing is known of its objects */
	bool is_alloc;	      /* under `alloc`, not bio */
	bool is_page;	      /* without --json */
	bool has_scan;	      /* --scan: it samples time, which else alloc does not */
	bool live_alloc;      /* --live alloc */
	bool birth_is_open;   /* --birth-use: uses in the period of birth count */
	bool death_is_open;   /* --death-use maybe */
	bool is_watched;      /* --watch, --uses: some reads are proved, too */
	bool is_unrecorded;   /* --sample none: no use is proved, no birth is counted */
	bool is_lossy;	      /* events were lost: what is proved is true, no more */
	const char *inherent; /* a type of the fixture; NULL: none */
	unsigned period;      /* the open one */
	unsigned censuses;    /* that there were, at the end */
	struct lived_tracer tracer; /* that waited for the last end of a period */
	char era[16];		    /* of what is born now */
	char eras[8][16];	    /* in their order; the first one is "1" */
	unsigned n_eras;
	char era_from[16], era_to[16]; /* --era by the names above; "": all */
	size_t n;
	struct lived_object objects[LIVED_OBJECTS];
	/* Of threads, older than all periods: nothing is known of them but that. */
	size_t other_bytes, other_objects;
	struct hi_command *command; /* at the end */
};

#define LIVED(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

/* before: commands of the time before bio comes; options of bio, beside --json. Returns
 * in period 1. Everything ends with the test. */
struct lived *lived_start(const char *const *before, const char *const *options);
/* The same without --json: for lived_end_page(). */
struct lived *lived_start_page(const char *const *before, const char *const *options);
/* The same with another program, which answers commands in the same way and calls
 * `place` at "end"; of it lived_check() checks nothing. */
struct lived *lived_start_program(struct hi_fixture *fx, const char *place,
				  const char *const *options);
/* The same under `heapinspect alloc`; lived_end() and its like are not for it, but
 * lived_end_alloc(). */
struct lived *lived_start_alloc(struct hi_fixture *fx, const char *const *options);
/* The commands of the open period, and its end. */
void lived_period(struct lived *l, const char *const *commands);
/* The same with one command right before the end, when the inspector waits for it. */
void lived_period_before(struct lived *l, const char *last);
/* Waits until the next end of a period is waited for: what the last census has begun is
 * there by then, such as probes. */
void lived_ready(const struct lived *l);
/* One command, in the open period. */
void lived_tell(struct lived *l, const char *command);
/* `heapinspect era NAME`, in the open period. */
void lived_begin_era(struct lived *l, const char *name);
/* The fixture exits in the open period, which has the last census; the document, which
 * was checked: by its schema, by the invariants of SPEC, and by lived_check(). */
json_t *lived_end(struct lived *l);
/* The same, and the fixture exits for certain in another period, with one command in it.
 * (While bio waits for the end of a period, an exit has no census.) */
json_t *lived_end_after(struct lived *l, const char *command);
/* The same, and returns the page, of which nothing was checked. */
const char *lived_end_page(struct lived *l, const char *command);
/* The same with a signal, and without a census of the open period. */
json_t *lived_interrupt(struct lived *l);
/* The same with SIGKILL for the fixture. */
json_t *lived_kill(struct lived *l);
/* The open period ends with the last census; l->command has what was printed. (At an exit
 * a census may be missed.) */
void lived_end_alloc(struct lived *l);
/* Each band of each census has what the commands say, within its bounds. */
void lived_check(const struct lived *l, json_t *doc);

/* In bytes, at census t: of the objects whose names are in `names`, with ' ' between. */
size_t lived_cost(const struct lived *l, const char *names);
const struct lived_object *lived_find(const struct lived *l, const char *name);
/* "void", … as in the document; in this order. */
extern const char *const lived_bands[LIVED_BANDS];
/* Truth: bytes of a band at census t, of one type (NULL: of all). */
size_t lived_truth(const struct lived *l, const char *band, unsigned t, const char *type);
/* At census t, is it in this group by "type", "root", "retainers", "site" or "era"? */
bool lived_belongs(const struct lived_object *o, unsigned t, const char *by,
		   const char *group);
/* doc.censuses[t - 1].bands.BAND.bytes.WHICH; of objects with what == "objects". */
size_t lived_bound(json_t *doc, unsigned t, const char *band, const char *what,
		   const char *which);
/* SPEC's invariants, of any document of bio. */
void lived_check_invariants(json_t *doc);

#endif
