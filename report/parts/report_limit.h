/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of a process's memory that is reached first, as plain data. */
#ifndef HI_REPORT_PARTS_REPORT_LIMIT_H
#define HI_REPORT_PARTS_REPORT_LIMIT_H

#include <stdint.h>

/* Stored in files: only add at the end. */
enum hi_limit_kind {
	HI_LIMIT_UNKNOWN,
	HI_LIMIT_CGROUP,	/* memory.max of its control group, or of one above */
	HI_LIMIT_CGROUP_V1,	/* memory.limit_in_bytes */
	HI_LIMIT_ADDRESS_SPACE, /* RLIMIT_AS; used: virtual memory */
	HI_LIMIT_MACHINE,	/* used: what is not available to programs */
	HI_LIMIT_KINDS,
};
struct hi_report_limit {
	uint64_t kind;	     /* enum hi_limit_kind */
	uint64_t most, used; /* bytes; of HI_LIMIT_UNKNOWN: 0 */
};

/* Returns "memory.max", "memory.limit_in_bytes", "RLIMIT_AS", "the machine's memory"; ""
 * for HI_LIMIT_UNKNOWN. */
const char *hi_limit_name(uint64_t kind);
/* Returns the bytes up to the limit; 0 where it is exceeded. */
static inline uint64_t hi_limit_room(const struct hi_report_limit *limit)
{
	return limit->most > limit->used ? limit->most - limit->used : 0;
}

#endif
