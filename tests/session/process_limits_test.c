/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of a process in drawn files of /proc and /sys. */
#include "session/process_limits.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness.h"
#include "tests/support/temporary.h"

enum { PID = 4242 };

static const char *root;

static void begin_root(void)
{
	root = temporary_directory();
}

/* With the directories that lead to it. */
static void draw(const char *name, const char *text)
{
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/'));
	     *slash++ = '/') {
		*slash = 0;
		(void)mkdir(path, 0700);
	}
	out = fopen(path, "we");
	HI_ASSERT(out != NULL);
	fputs(text, out);
	HI_ASSERT_EQ(0, fclose(out));
}

static void draw_machine(void)
{
	draw("/proc/meminfo", "MemTotal:       1048576 kB\nMemFree:          1024 kB\n"
			      "MemAvailable:    786432 kB\n");
}

static void expect_limit(enum hi_limit_kind kind, uint64_t most, uint64_t used)
{
	struct hi_report_limit limit = hi_process_limit(root, PID);

	HI_ASSERT_EQ(kind, limit.kind);
	HI_ASSERT_EQ(most, limit.most);
	HI_ASSERT_EQ(used, limit.used);
}

HI_TEST(process_limits, nothing_that_can_be_read_is_no_limit)
{
	begin_root();
	expect_limit(HI_LIMIT_UNKNOWN, 0, 0);
	draw("/proc/meminfo", "MemTotal: x\n");
	draw("/proc/4242/cgroup", "0::/../../evil\n:::\nmemory\n1:memory:\n");
	draw("/proc/4242/limits", "Max address space\n");
	expect_limit(HI_LIMIT_UNKNOWN, 0, 0);
}

HI_TEST(process_limits, the_group_above_may_be_nearer)
{
	begin_root();
	draw_machine();
	draw("/proc/4242/cgroup", "0::/pod/app\n");
	expect_limit(HI_LIMIT_MACHINE, 1ull << 30, 1ull << 28);
	draw("/sys/fs/cgroup/pod/app/memory.max", "536870912\n");
	draw("/sys/fs/cgroup/pod/app/memory.current", "268435456\n");
	expect_limit(HI_LIMIT_CGROUP, 536870912, 268435456);
	draw("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
	draw("/sys/fs/cgroup/pod/memory.current", "1073741000\n");
	expect_limit(HI_LIMIT_CGROUP, 1073741824, 1073741000);
	/* Files that were not used lately can go. */
	draw("/sys/fs/cgroup/pod/memory.stat", "anon 7\ninactive_file 1000000000\nx 1\n");
	expect_limit(HI_LIMIT_CGROUP, 536870912, 268435456);
	draw("/sys/fs/cgroup/pod/app/memory.max", "max\n");
	draw("/sys/fs/cgroup/pod/memory.max", "max\n");
	expect_limit(HI_LIMIT_MACHINE, 1ull << 30, 1ull << 28);
	/* As in a container, whose group is the root of what it sees. */
	draw("/sys/fs/cgroup/memory.max", "67108864\n");
	draw("/sys/fs/cgroup/memory.current", "1\n");
	expect_limit(HI_LIMIT_CGROUP, 67108864, 1);
}

HI_TEST(process_limits, version_1_has_a_controller_of_memory)
{
	begin_root();
	draw_machine();
	draw("/proc/4242/cgroup", "9:cpu:/x\n5:hugetlb,memory:/app\n1:name=systemd:/y\n");
	draw("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "1000000\n");
	draw("/sys/fs/cgroup/memory/app/memory.usage_in_bytes", "900000\n");
	draw("/sys/fs/cgroup/memory/app/memory.stat", "total_inactive_file 100000\n");
	expect_limit(HI_LIMIT_CGROUP_V1, 1000000, 800000);
	draw("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
	expect_limit(HI_LIMIT_MACHINE, 1ull << 30, 1ull << 28);
}

HI_TEST(process_limits, an_address_space_may_be_limited)
{
	begin_root();
	draw_machine();
	draw("/proc/4242/limits",
	     "Limit                     Soft Limit           Hard Limit           Units\n"
	     "Max data size             unlimited            unlimited            bytes\n"
	     "Max address space         16777216             unlimited            "
	     "bytes\n");
	draw("/proc/4242/statm", "1024 10 10 1 0 5 0\n");
	expect_limit(HI_LIMIT_ADDRESS_SPACE, 16777216, 4194304);
}
