/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets that check themselves, so that whatever was done to them is seen: wrong
 * registers, blocks, replies or results make them say so and end.
 *
 *	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_FLOAT);
 *	… disturb s->pid …
 *	hi_survivor_check(s);
 */
#ifndef HI_TESTS_SUPPORT_SURVIVOR_H
#define HI_TESTS_SUPPORT_SURVIVOR_H

#include "tests/support/fixture.h"

enum hi_survivor_kind {
	HI_SURVIVOR_FLOAT,  /* CPU-bound, checks its registers and its sums */
	HI_SURVIVOR_MALLOC, /* eight threads, check their blocks */
	HI_SURVIVOR_REDIS,  /* under load that checks each reply */
	HI_SURVIVOR_PYTHON, /* CPython in a loop, checks its arithmetic */
	HI_N_SURVIVORS,
};

struct hi_survivor {
	const char *name;
	pid_t pid;		    /* of the target */
	struct hi_fixture *answers; /* the target, or its load */
	const char *function;	    /* that it calls again and again */
	unsigned long long progress;
};

/* Ended with the test. Fails, or skips, the test if it is not to be had. */
struct hi_survivor *hi_survivor_start(enum hi_survivor_kind kind);
/* It lives, has found nothing wrong, and has done something since the last check. */
void hi_survivor_check(struct hi_survivor *survivor);
/* A last check; then it ends, and must end well. */
void hi_survivor_end(struct hi_survivor *survivor);

#endif
