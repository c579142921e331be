/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of many censuses that grows while fixtures/space_lives.c allocates what a test
 * commands: a curve of known bytes.
 *
 *	struct curve c;
 *	curve_begin(&c);
 *	curve_record(&c, "--full", "peaks:2", NULL);
 *	curve_tell(&c, "node", 60);	// c.bytes, c.objects: what it holds now
 *	curve_end(&c);			// curve_file is complete
 */
#ifndef HI_TESTS_SUPPORT_CURVE_H
#define HI_TESTS_SUPPORT_CURVE_H

#include <jansson.h>

#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"

struct curve {
	struct hi_fixture *fx;
	struct recording_run run;
	long long bytes, objects; /* that the fixture holds, as it says itself */
};

/* Of the last curve_begin(). */
extern const char *curve_directory;
extern char curve_file[256], curve_pid[16];

/* Starts the fixture. */
void curve_begin(struct curve *c);
/* `record` or `snap` of it, every 30 ms, with an option more. Returns when the first
 * census was taken. */
void curve_record(struct curve *c, const char *option, const char *value);
/* `record --sample DISTANCE --full peaks:1`. */
void curve_record_samples(struct curve *c, const char *distance);
void curve_snap(struct curve *c, const char *option, const char *value);
/* One command before anything is followed. */
void curve_tell_before(struct curve *c, const char *verb, int n);
/* One command; returns when a census has seen what it did. */
void curve_tell(struct curve *c, const char *verb, int n);
/* Interrupts `record` or `snap`. */
void curve_end(struct curve *c);

/* What a command printed; fails the test if it has failed. Freed when the test ends. */
json_t *curve_document(const struct hi_command *c);
long long curve_number(json_t *object, const char *key);
const char *curve_text(json_t *object, const char *key); /* "": it is none */
/* Of the totals by type of one census, objects ("count") or bytes ("shallow") of a type.
 */
long long curve_total(long long census, const char *type, const char *key);
/* The command has failed as bad usage does, with the text in its one line. */
void curve_check_refused(const struct hi_command *c, const char *text);

#endif
