/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines for all options that write a file: with each command that takes it.
 *
 * To add a command or an option: a line in one of the lists. tests/cli/writings_test.c
 * fails until there is one.
 */
#ifndef HI_TESTS_SUPPORT_WRITINGS_H
#define HI_TESTS_SUPPORT_WRITINGS_H

#include <stddef.h>

enum { WRITING_WORDS = 18 };
enum writing_kind {
	WRITING_FILES,	    /* of snapshots, or of nothing */
	WRITING_PROCESSES,  /* of leaky_service */
	WRITING_RECORDINGS, /* with probes: as root */
	WRITING_KINDS
};
enum writing_is {
	WRITING_HAS_KEY = 1,  /* FILE.prof is written beside FILE.hp */
	WRITING_MAY_FAIL = 2, /* there may be nothing to write */
	WRITING_READS = 4,    /* what is at the name: it must be a snapshot */
};

/* The words of a command, up to NULL. "@out" is the file that is written, "@pid" a
 * process, "@file" tests/data/v1.hisnap, "@series" series-v1.hisnap. */
struct writing {
	const char *option, *words[WRITING_WORDS];
	unsigned is; /* bits of enum writing_is */
};

size_t writing_count(enum writing_kind kind);
const struct writing *writing_at(enum writing_kind kind, size_t i);

#endif
