/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rights.h"

#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h of Linux 6.12; older headers have less of it. */
struct ruleset {
	uint64_t fs, net, scoped;
};

#define CREATE_RULESET_VERSION 1u
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define TCP UINT64_C(3)	    /* bind, connect */
#define OUTSIDE UINT64_C(3) /* abstract sockets, signals */

/* Rights to files of ABI 1, 2, …: bits from 0 on. */
static const unsigned n_fs_rights[] = {0, 13, 14, 15, 15, 16};

/* All rights of the ABI are handled, but for reading, and no rule allows any of it. */
static struct ruleset make_landlock_rules(long abi)
{
	size_t last = sizeof(n_fs_rights) / sizeof(*n_fs_rights) - 1;
	unsigned n = n_fs_rights[(size_t)abi < last ? (size_t)abi : last];
	struct ruleset rules = {.fs = ((UINT64_C(1) << n) - 1) & ~(READ_FILE | READ_DIR)};

	if (abi >= 4)
		rules.net = TCP;
	if (abi >= 6)
		rules.scoped = OUTSIDE;
	return rules;
}

bool hi_rights_landlock(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	struct ruleset rules;
	bool done;
	int fd;

	if (abi < 1)
		return false;
	rules = make_landlock_rules(abi);
	fd = (int)syscall(SYS_landlock_create_ruleset, &rules,
			  abi >= 6   ? sizeof(rules)
			  : abi >= 4 ? 2 * sizeof(uint64_t)
				     : sizeof(uint64_t),
			  0);
	if (fd < 0)
		return false;
	done = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return done;
}
