/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixture probe_places, its own words about itself, and probes on it. */
#ifndef HI_TESTS_SUPPORT_PROBED_H
#define HI_TESTS_SUPPORT_PROBED_H

#include "probes/probe.h"
#include "tests/support/fixture.h"

struct probed {
	struct hi_fixture *fx;
	struct hi_target *target;
	size_t n_functions;
	struct {
		char name[64];
		uint64_t addr;
	} functions[32];
};

/* Everything is given back when the test ends. */
struct probed *probed_start(void);
/* The same of another fixture that says its functions and "ready". */
struct probed *probed_start_program(const char *name);
/* Where the fixture says that its function is. */
uint64_t probed_function(const struct probed *p, const char *name);
/* As --at has it. */
struct hi_safepoint probed_parse(const char *at);
const struct hi_probe_sites *probed_find(struct probed *p, const char *at);
/* HI_NOT_FOUND with this word in its text. */
void probed_find_nothing(struct probed *p, const char *at, const char *word);
struct hi_probe *probed_open(struct probed *p, const char *at, uint64_t every);
/* A line to the fixture; waits until it is done. */
void probed_tell(struct probed *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The signals that it has seen since; at most max, returns how many there were. */
struct probed_signal {
	uint64_t pc;
	pid_t tid;
};
size_t probed_signals(struct probed *p, struct probed_signal *ret, size_t max);
long probed_counter(struct probed *p, const char *name);

/* Takes capabilities out of our effective set until the test ends. */
void probed_drop_caps(const int *caps, size_t n);
void probed_restore_caps(void); /* before that */

#endif
