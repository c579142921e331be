/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fixtures/recorded_sites.c under `heapinspect record`: what it allocates, and a file of
 * all of it.
 */
#ifndef HI_TESTS_SUPPORT_RECORDED_SITES_H
#define HI_TESTS_SUPPORT_RECORDED_SITES_H

#include "tests/support/command.h"
#include "tests/support/fixture.h"

/* Nodes by function, of which some were there before, and blocks. */
enum { BEFORE = 200, FIRST = 500, SECOND = 300, THREADED = 70 };
enum { NODES = FIRST + SECOND + THREADED, LEAKED = 50, CHURNED = 100000 };
/* Bytes that are asked for, and those that a node takes of the heap. */
enum { NODE = 48, BLOCK = 1000, NODE_COST = 64 };

struct recorded_sites {
	struct hi_fixture *fx; /* still running */
	long tid;	       /* of its second thread */
	char node[32], old[32], file[256];
	struct hi_command *c; /* of record, which ended with 0 */
};

/* The fixture, ready. */
struct hi_fixture *sites_start(void);
/* Sends it a command ("go", "churn"), which it has done. */
void sites_tell(struct hi_fixture *fx, const char *command);
/* Records both commands into a file. option may be NULL. */
struct recorded_sites sites_record(const char *option);

#endif
