/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rights.h"

#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NOBODY 65534

static bool has_no_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets) != 0)
		return false;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (sets[i].effective || sets[i].permitted || sets[i].inheritable)
			return false;
	return true;
}

/* Without CAP_SETPCAP the bounding set stays: it gives nothing without an execve. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)syscall(SYS_capset, &header, none);
	return has_no_capabilities();
}

static void empty_bounding_set(void)
{
	for (unsigned long capability = 0; capability < 64; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
			return; /* there are no more, or it is not permitted */
}

static bool become_nobody(void)
{
	uid_t real, effective, saved;

	if (getresuid(&real, &effective, &saved) != 0 || (real && effective && saved))
		return false;
	(void)setgroups(0, NULL);
	return setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

/* No other process of this user reads or changes it. LeakSanitizer does, at its end. */
static void hide_process(void)
{
#ifdef HI_SANITIZED
	(void)prctl(PR_SET_DUMPABLE, 1);
#else
	(void)prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* ---- descriptors ---- */

static bool is_one_of(int fd, const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] == fd)
			return true;
	return false;
}

/* It gives no rights beyond its own bytes. */
static bool is_opened_file(int fd)
{
	struct statfs system;
	struct stat st;

	if (fstat(fd, &st) != 0 || fstatfs(fd, &system) != 0)
		return false;
	if (S_ISREG(st.st_mode))
		return system.f_type != PROC_SUPER_MAGIC &&
		       system.f_type != SYSFS_MAGIC &&
		       system.f_type != CGROUP2_SUPER_MAGIC;
	return S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode);
}

void hi_rights_close_others(const int *fds, size_t n)
{
	DIR *open_fds = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (!open_fds) {
		/* Without /proc no target was opened; what is not asked for goes. */
		for (int fd = 3; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
			if (!is_one_of(fd, fds, n))
				close(fd);
		return;
	}
	while ((entry = readdir(open_fds))) {
		int fd = atoi(entry->d_name);

		if (fd > 2 && fd != dirfd(open_fds) && !is_one_of(fd, fds, n) &&
		    !is_opened_file(fd))
			close(fd);
	}
	closedir(open_fds);
}

enum hi_status hi_rights_drop(struct hi_rights_dropped *ret, struct hi_error *err)
{
	static const struct rlimit none = {};
	struct hi_rights_dropped dropped = {};
	enum hi_status status;

	empty_bounding_set();
	dropped.user = become_nobody();
	if (!drop_capabilities())
		return hi_fail(err, HI_UNSUPPORTED, 0, "capabilities cannot be dropped");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return hi_fail(err, HI_UNSUPPORTED, 0, "this kernel has no no_new_privs");
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user has cleared it */
	(void)setrlimit(RLIMIT_CORE, &none);
	hide_process();
	dropped.landlock = hi_rights_landlock();
	status = hi_rights_filter(err);
	if (status == HI_OK)
		*ret = dropped;
	return status;
}
