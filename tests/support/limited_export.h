/* SPDX-License-Identifier: BSD-2-Clause */
/* heapinspect export with limits that a small heap meets. Apart from its tests: a command
 * of the program and one that a test runs have the same name in C. */
#ifndef HI_TESTS_LIMITED_EXPORT_H
#define HI_TESTS_LIMITED_EXPORT_H

#include <stdint.h>

struct export_limits {
	uint64_t heapsnapshot, pprof; /* as struct hi_export_limits */
};

/* heapinspect export FILE -q -f FORMAT -o OUT as the program does it, in a process of its
 * own; what it says on stderr goes into SAID. Its exit code. */
int limited_export(const char *file, const char *format, const char *out,
		   const char *said, const struct export_limits *limits);

#endif
