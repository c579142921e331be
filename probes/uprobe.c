/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uprobes by perf_event_open: Documentation/trace/uprobetracer.rst of the kernel, and
 * /sys/bus/event_source/devices/uprobe/format. A semaphore is raised by the kernel
 * itself and lowered when the event goes.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "probes/uprobe.h"

enum { THREADS_TRIED = 64, SEMAPHORE_SHIFT = 32, AT_RETURN = 1 /* format/retprobe */ };

enum hi_status hi_uprobe_type(unsigned *ret, struct hi_error *err)
{
	HI_GUARD(fclose)
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");

	if (file && fscanf(file, "%u", ret) == 1)
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "this kernel has no uprobes (no "
		       "/sys/bus/event_source/devices/uprobe)");
}

bool hi_uprobe_is_one_file(const struct hi_target *target, size_t a, size_t b)
{
	const struct hi_mapping *x = &target->mappings[a], *y = &target->mappings[b];

	return x->inode == y->inode && x->dev_major == y->dev_major &&
	       x->dev_minor == y->dev_minor;
}

enum hi_status hi_uprobe_prepare(const struct hi_target *target,
				 const struct hi_probe_site *site, struct hi_uprobe *ret,
				 struct hi_error *err)
{
	struct hi_uprobe made = {
		.fd = -1, .offset = site->file_offset, .semaphore = site->semaphore};
	enum hi_status status = hi_uprobe_type(&made.type, err);

	if (status != HI_OK)
		return status;
	if (site->mapping >= target->n_mappings ||
	    made.semaphore >> (64 - SEMAPHORE_SHIFT))
		return hi_fail(err, HI_BAD_DATA, site->address,
			       "the probe site is in no mapped file");
	status = hi_target_open_file(target, &target->mappings[site->mapping], &made.fd,
				     err);
	if (status != HI_OK)
		return status;
	/* By descriptor: the very file that is mapped, even if its path is another file
	 * by now. */
	snprintf(made.path, sizeof(made.path), "/proc/self/fd/%d", made.fd);
	*ret = made;
	return HI_OK;
}

void hi_uprobe_release(struct hi_uprobe *uprobe)
{
	if (uprobe->fd >= 0)
		close(uprobe->fd);
	uprobe->fd = -1;
}

static int perf_event_open(struct perf_event_attr *attr, pid_t tid)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The main thread may have exited: any live thread serves for the process. */
static int open_for_any(struct perf_event_attr *attr, pid_t pid)
{
	int fd = perf_event_open(attr, pid);
	HI_GUARD(closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];

	if (fd >= 0 || errno != ESRCH)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	for (int i = 0; dir && fd < 0 && i < THREADS_TRIED && (entry = readdir(dir)); i++)
		if (entry->d_name[0] != '.')
			fd = perf_event_open(attr, (pid_t)atoi(entry->d_name));
	if (fd < 0)
		errno = ESRCH;
	return fd;
}

static enum hi_status fail_refused_uprobe(const struct hi_uprobe *uprobe,
					  struct hi_error *err)
{
	int error = errno;
	enum hi_status status;

	switch (error) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		status = hi_fail(err, HI_CANNOT_ATTACH, 0,
				 "uprobes need CAP_SYS_ADMIN: %s", strerror(error));
		if (err)
			err->os_errno = error;
		return status;
	case ESRCH:
		return hi_fail(err, HI_GONE, 0, "the target has exited");
	case EMFILE:
	case ENFILE:
		return hi_fail(err, HI_LIMIT, 0, "too many open files (ulimit -n)");
	case EINVAL:
	case EOPNOTSUPP:
	case EILSEQ:
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "the kernel refuses a probe on the instruction at file "
			       "offset 0x%llx: %s",
			       (unsigned long long)uprobe->offset, strerror(error));
	default:
		return hi_fail_errno(err, "perf_event_open of an uprobe");
	}
}

enum hi_status hi_uprobe_open(const struct hi_uprobe *uprobe,
			      const struct hi_target *target, pid_t tid,
			      struct perf_event_attr *attr, int *fd_ret,
			      struct hi_error *err)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->type = uprobe->type;
	attr->config = uprobe->semaphore << SEMAPHORE_SHIFT |
		       (uprobe->at_return ? AT_RETURN : 0);
	attr->config1 = (uintptr_t)uprobe->path;
	attr->config2 = uprobe->offset;
	fd = tid ? perf_event_open(attr, tid) : open_for_any(attr, target->pid);
	if (fd < 0)
		return fail_refused_uprobe(uprobe, err);
	*fd_ret = fd;
	return HI_OK;
}

enum hi_status hi_uprobe_anchor(const struct hi_uprobe *uprobe,
				const struct hi_target *target, int *fd_ret,
				struct hi_error *err)
{
	/* With enable_on_exec the kernel leaves the breakpoint to a later exec. */
	struct perf_event_attr attr = {
		.sample_period = 1, .disabled = 1, .enable_on_exec = 1};

	return hi_uprobe_open(uprobe, target, 0, &attr, fd_ret, err);
}

enum hi_status hi_uprobe_anchor_site(const struct hi_target *target,
				     const struct hi_probe_site *site, int *fd_ret,
				     struct hi_error *err)
{
	struct hi_uprobe uprobe = {.fd = -1};
	enum hi_status status = hi_uprobe_prepare(target, site, &uprobe, err);

	if (status == HI_OK)
		status = hi_uprobe_anchor(&uprobe, target, fd_ret, err);
	hi_uprobe_release(&uprobe);
	return status;
}
