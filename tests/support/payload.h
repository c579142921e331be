/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Somebody has taken over a process that gave its rights up: what a payload tries there,
 * and how each attempt has to end.
 */
#ifndef HI_TESTS_SUPPORT_PAYLOAD_H
#define HI_TESTS_SUPPORT_PAYLOAD_H

#include <stddef.h>
#include <sys/types.h>

enum { HI_PAYLOAD_MOST = 192 };

/* Others that an attempt could reach, and descriptors that it has. */
struct hi_payload {
	pid_t other; /* a process of the user who started it */
	int other_pidfd;
	const char *path; /* a file of that user, with mode 0666 */
	int reader;	  /* that file, open for reading */
	int pipe_end;	  /* for writing */
	int datagrams;	  /* a socket of AF_UNIX without an address; -1: none */
	int terminal;	  /* a terminal that is not its own; -1: none */
};

/* error: errno; 0: it was done. Shared memory. */
struct hi_payload_notes {
	int error[HI_PAYLOAD_MOST];
};

/* Tries everything. Call it where the rights are gone. */
void hi_payload_run(const struct hi_payload *payload, struct hi_payload_notes *notes);
/* Prints the table (attempt, result), and fails the test where one was not refused. */
void hi_payload_check(const struct hi_payload_notes *notes);

#endif
