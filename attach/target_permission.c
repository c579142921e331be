/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a process may not be inspected, in one line that names the check and what
 * helps. The kernel only returns EPERM; its checks are ptrace(2), "Ptrace access
 * mode checking", and Documentation/admin-guide/LSM/Yama.rst.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/target.h"
#include "attach/target_internal.h"
#include "attach/tracees.h"
#include "base/cleanup.h"
#include "base/text.h"

#define CAP_SYS_PTRACE_BIT (1ull << 19) /* linux/capability.h */
#define MAX_ANCESTORS 4096

__attribute__((format(printf, 3, 4))) static enum hi_status
refuse(struct hi_error *err, int os_errno, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	enum hi_status status;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	status = hi_fail(err, HI_CANNOT_ATTACH, 0, "%s", text);
	if (err)
		err->os_errno = os_errno;
	return status;
}

static bool same_id(const unsigned id[3], unsigned own)
{
	return id[0] == own && id[1] == own && id[2] == own;
}

/* Yama's scopes 0 to 3; 0 and what passes is HI_OK. */
static enum hi_status explain_yama(const struct hi_permission *f, const char *name,
				   struct hi_error *err)
{
	bool capable = f->own_caps & CAP_SYS_PTRACE_BIT;

	if (f->yama_scope >= 3)
		return refuse(err, f->os_errno,
			      "process %d (%s): Yama forbids all tracing "
			      "(kernel.yama.ptrace_scope = %d, fixed until reboot)",
			      (int)f->pid, name, f->yama_scope);
	if (f->yama_scope == 2 && !capable)
		return refuse(err, f->os_errno,
			      "process %d (%s): Yama lets only root trace "
			      "(kernel.yama.ptrace_scope = 2): run as root or with "
			      "CAP_SYS_PTRACE",
			      (int)f->pid, name);
	if (f->yama_scope == 1 && !capable && !f->is_descendant)
		return refuse(err, f->os_errno,
			      "process %d (%s): Yama lets a user trace only own children "
			      "(kernel.yama.ptrace_scope = 1): run as root, or "
			      "sysctl kernel.yama.ptrace_scope=0",
			      (int)f->pid, name);
	return HI_OK;
}

/* Names the check that refuses a process without CAP_SYS_PTRACE, in the kernel's
 * order. */
static enum hi_status explain_unprivileged(const struct hi_permission *f,
					   const char *name, struct hi_error *err)
{
	if (!same_id(f->uid, f->own_uid))
		return refuse(err, f->os_errno,
			      "process %d (%s) belongs to uid %u, heapinspect runs as "
			      "uid %u: run it as that user or as root (CAP_SYS_PTRACE)",
			      (int)f->pid, name,
			      f->uid[0] != f->own_uid ? f->uid[0] : f->uid[1],
			      f->own_uid);
	if (!same_id(f->gid, f->own_gid))
		return refuse(err, f->os_errno,
			      "process %d (%s) has gid %u, heapinspect has gid %u: run "
			      "it as root (CAP_SYS_PTRACE) or with that group",
			      (int)f->pid, name,
			      f->gid[0] != f->own_gid ? f->gid[0] : f->gid[1],
			      f->own_gid);
	if (f->not_dumpable)
		return refuse(
			err, f->os_errno,
			"process %d (%s) is not dumpable (set-uid, capabilities, an "
			"unreadable binary, or PR_SET_DUMPABLE): run as root "
			"(CAP_SYS_PTRACE)",
			(int)f->pid, name);
	if (f->caps & ~f->own_caps)
		return refuse(err, f->os_errno,
			      "process %d (%s) has capabilities that heapinspect lacks: "
			      "run it as root (CAP_SYS_PTRACE)",
			      (int)f->pid, name);
	return HI_OK;
}

enum hi_status hi_permission_explain(const struct hi_permission *f, struct hi_error *err)
{
	bool capable = f->own_caps & CAP_SYS_PTRACE_BIT;
	enum hi_status status = HI_OK;
	char name[64];

	hi_text_escape(name, sizeof(name), f->name, strnlen(f->name, sizeof(f->name)));
	if (!capable)
		status = explain_unprivileged(f, name, err);
	if (status == HI_OK)
		status = explain_yama(f, name, err);
	if (status != HI_OK)
		return status;
	if (f->other_user_ns)
		return refuse(err, f->os_errno,
			      "process %d (%s) is in another user namespace, where the "
			      "capabilities of heapinspect do not count: run it as root "
			      "of the host",
			      (int)f->pid, name);
	return refuse(err, f->os_errno,
		      "process %d (%s): the kernel refused (%s): a security module "
		      "(SELinux, AppArmor) or a seccomp filter forbids tracing",
		      (int)f->pid, name, strerror(f->os_errno));
}

static void read_ids(const char *status, const char *key, unsigned id[3])
{
	const char *value = hi_proc_field(status, key);

	if (!value || sscanf(value, "%u %u %u", &id[0], &id[1], &id[2]) != 3)
		id[0] = id[1] = id[2] = UINT32_MAX;
}

static uint64_t read_caps(const char *status, const char *key)
{
	const char *value = hi_proc_field(status, key);

	return value ? strtoull(value, NULL, 16) : 0;
}

static int read_yama(void)
{
	FILE *f HI_GUARD(fclose) = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	return f && fscanf(f, "%d", &scope) == 1 ? scope : 0;
}

static bool is_descendant(pid_t pid)
{
	struct hi_proc_stat stat;

	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
		if (pid == getpid())
			return true;
		if (!hi_proc_stat(pid, &stat))
			return false;
		pid = stat.ppid;
	}
	return false;
}

bool hi_target_in_other_ns(pid_t pid, const char *name)
{
	char own[64], other[64];
	struct stat a, b;

	snprintf(own, sizeof(own), "/proc/self/ns/%s", name);
	snprintf(other, sizeof(other), "/proc/%d/ns/%s", (int)pid, name);
	if (stat(own, &a) != 0 || stat(other, &b) != 0)
		return false;
	return a.st_ino != b.st_ino || a.st_dev != b.st_dev;
}

/* The files of a process that is not dumpable belong to root. */
static bool is_not_dumpable(pid_t pid, unsigned euid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return euid != 0 && stat(path, &st) == 0 && st.st_uid != euid;
}

enum hi_status hi_permission_refused(pid_t pid, int os_errno, struct hi_error *err)
{
	struct hi_permission f = {.pid = pid, .os_errno = os_errno};
	struct hi_proc_stat stat;
	char status[8192] = "";

	if (!hi_proc_stat(pid, &stat))
		return refuse(err, ESRCH, "process %d has just exited", (int)pid);
	memcpy(f.name, stat.name, sizeof(f.name));
	if (hi_proc_read_small(getpid(), "status", status, sizeof(status), NULL))
		f.own_caps = read_caps(status, "CapEff");
	if (!hi_proc_read_small(pid, "status", status, sizeof(status), NULL))
		return refuse(err, ESRCH, "process %d has just exited", (int)pid);
	read_ids(status, "Uid", f.uid);
	read_ids(status, "Gid", f.gid);
	f.caps = read_caps(status, "CapPrm");
	f.own_uid = geteuid();
	f.own_gid = getegid();
	f.yama_scope = read_yama();
	f.not_dumpable = is_not_dumpable(pid, f.uid[1]);
	f.other_user_ns = hi_target_in_other_ns(pid, "user");
	f.is_descendant = is_descendant(pid);
	return hi_permission_explain(&f, err);
}

static bool is_living_state(char state)
{
	return state && state != 'Z' && state != 'X';
}

pid_t hi_target_live_thread(pid_t pid)
{
	DIR *tasks HI_GUARD(closedir) = NULL;
	struct dirent *entry;
	char path[64], state;

	state = hi_thread_state(pid, pid);
	if (!state || is_living_state(state))
		return pid; /* or its state cannot be read */
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && is_living_state(hi_thread_state(pid, tid)))
			return tid;
	}
	return 0;
}

static enum hi_status check_target_state(pid_t pid, const struct hi_proc_stat *stat,
					 struct hi_error *err)
{
	char name[64];

	hi_text_escape(name, sizeof(name), stat->name, strlen(stat->name));
	if (stat->flags & HI_PROC_KERNEL_THREAD)
		return refuse(err, EPERM,
			      "process %d (%s) is a kernel thread: it has no heap",
			      (int)pid, name);
	if ((stat->state == 'Z' || stat->state == 'X') && !hi_target_live_thread(pid))
		return refuse(err, ESRCH,
			      "process %d (%s) is a zombie: it has exited and waits for "
			      "its parent %d",
			      (int)pid, name, (int)stat->ppid);
	return HI_OK;
}

static enum hi_status check_tracer(pid_t pid, const char *status, struct hi_error *err)
{
	const char *value = hi_proc_field(status, "TracerPid");
	pid_t tracer = value ? (pid_t)strtol(value, NULL, 10) : 0;
	struct hi_proc_stat stat = {};
	char name[64];

	if (tracer <= 0)
		return HI_OK;
	if (!hi_proc_stat(tracer, &stat))
		snprintf(stat.name, sizeof(stat.name), "?");
	else if (stat.ppid == getpid())
		return HI_OK; /* our own one, that of exit_watch.c */
	hi_text_escape(name, sizeof(name), stat.name, strlen(stat.name));
	return refuse(err, EPERM,
		      "process %d is already traced by process %d (%s): a process has "
		      "one tracer only, end that one first",
		      (int)pid, (int)tracer, name);
}

static enum hi_status check_leader(pid_t pid, const char *status, struct hi_error *err)
{
	const char *value = hi_proc_field(status, "Tgid");
	pid_t leader = value ? (pid_t)strtol(value, NULL, 10) : pid;

	if (leader == pid)
		return HI_OK;
	return refuse(err, EINVAL, "%d is a thread of process %d: use --pid %d", (int)pid,
		      (int)leader, (int)leader);
}

enum hi_status hi_target_vanished(pid_t pid, struct hi_error *err)
{
	if (errno && errno != ENOENT && errno != ESRCH)
		return hi_fail_errno(err, "read the state of process %d", (int)pid);
	return hi_fail(err, HI_GONE, 0, "process %d has exited", (int)pid);
}

/* /proc does not show it. Signal 0 sends nothing, but fails as a signal would. */
static enum hi_status explain_absence(pid_t pid, struct hi_error *err)
{
	bool is_hidden = errno == EPERM || errno == EACCES;

	if (errno && errno != ENOENT && errno != ESRCH && !is_hidden)
		return hi_target_vanished(pid, err);
	if (is_hidden || (pid > 0 && kill(pid, 0) != 0 && errno == EPERM))
		return refuse(err, EPERM,
			      "process %d belongs to another user and /proc hides it "
			      "(hidepid): run as root",
			      (int)pid);
	return refuse(err, ESRCH, "there is no process %d", (int)pid);
}

/* NSpid has a number for each pid namespace, from that of /proc to that of the process.
 */
static bool has_two_numbers(const char *field)
{
	static const char digits[] = "0123456789";

	if (!field)
		return false;
	field += strspn(field, digits);
	field += strspn(field, " \t");
	return strspn(field, digits) > 0;
}

enum hi_status hi_proc_explain(const char *status, pid_t own, struct hi_error *err)
{
	const char *field = hi_proc_field(status, "Pid");
	long there = field ? strtol(field, NULL, 10) : 0;

	if (!field)
		return refuse(
			err, ENOENT,
			"/proc does not show this process: it is not mounted, or is "
			"that of another pid namespace; mount this one's (mount -t "
			"proc proc /proc)");
	if (there == own && !has_two_numbers(hi_proc_field(status, "NSpid")))
		return HI_OK;
	return refuse(
		err, ESRCH,
		"/proc is that of another pid namespace, in which this process is "
		"%ld, not %d: its numbers are of other processes; mount this one's "
		"(mount -t proc proc /proc), or share that one (docker: --pid host)",
		there, (int)own);
}

enum hi_status hi_target_check_proc(struct hi_error *err)
{
	HI_GUARD(close) int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char status[8192];
	ssize_t n = 0;

	if (fd < 0 && errno != ENOENT)
		return hi_fail_errno(err, "read /proc/self/status");
	if (fd >= 0)
		n = read(fd, status, sizeof(status) - 1);
	status[n > 0 ? n : 0] = '\0';
	return hi_proc_explain(status, getpid(), err);
}

enum hi_status hi_target_check(pid_t pid, struct hi_error *err)
{
	struct hi_proc_stat stat;
	char text[8192];
	enum hi_status status;

	if (pid == getpid())
		return refuse(err, EPERM, "process %d is heapinspect itself", (int)pid);
	errno = 0;
	if (pid <= 0 || !hi_proc_stat(pid, &stat) ||
	    !hi_proc_read_small(pid, "status", text, sizeof(text), NULL))
		return explain_absence(pid, err);
	status = check_leader(pid, text, err);
	if (status == HI_OK)
		status = check_target_state(pid, &stat, err);
	if (status == HI_OK)
		status = check_tracer(pid, text, err);
	return status;
}

enum hi_status hi_machine_check(pid_t pid, const void *bytes, size_t size,
				struct hi_error *err)
{
	Elf64_Ehdr header = {};

	/* Both classes have e_machine at the same place. */
	memcpy(&header, bytes, size < sizeof(header) ? size : sizeof(header));
	if (size < 20 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return HI_OK;
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return refuse(err, ENOEXEC,
			      "process %d is a 32-bit program (ELF machine %u): only "
			      "x86-64 processes are supported",
			      (int)pid, header.e_machine);
	if (header.e_machine != EM_X86_64)
		return refuse(err, ENOEXEC,
			      "process %d is a program for %s: only x86-64 processes are "
			      "supported",
			      (int)pid,
			      header.e_machine == EM_AARCH64 ? "aarch64"
							     : "another machine");
	return HI_OK;
}

enum hi_status hi_target_check_machine(pid_t pid, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_proc_open(pid, "exe");
	unsigned char header[sizeof(Elf64_Ehdr)];
	ssize_t n = fd < 0 ? -1 : pread(fd, header, sizeof(header), 0);

	return n < 0 ? HI_OK : hi_machine_check(pid, header, (size_t)n, err);
}
