/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"

/* ---- calls that have no use, whatever their arguments ---- */

struct whole_call {
	const char *group, *name;
	long number;
};

/* All arguments are 0, which none of them would take for something to do. */
static const struct whole_call whole_calls[] = {
	{"files", "truncate by name", SYS_truncate},
	{"files", "rename", SYS_rename},
	{"files", "rename at", SYS_renameat2},
	{"files", "link", SYS_link},
	{"files", "link at", SYS_linkat},
	{"files", "symlink", SYS_symlinkat},
	{"files", "unlink", SYS_unlinkat},
	{"files", "mkdir", SYS_mkdirat},
	{"files", "rmdir", SYS_rmdir},
	{"files", "mknod", SYS_mknodat},
	{"files", "chmod", SYS_fchmodat},
	{"files", "chmod of a descriptor", SYS_fchmod},
	{"files", "chown", SYS_fchownat},
	{"files", "chown of a descriptor", SYS_fchown},
	{"files", "times", SYS_utimensat},
	{"files", "set an attribute", SYS_setxattr},
	{"files", "set an attribute of a descriptor", SYS_fsetxattr},
	{"files", "lock", SYS_flock},
	{"files", "watch by inotify", SYS_inotify_init1},
	{"files", "watch by fanotify", SYS_fanotify_init},
	{"files", "open by a handle", SYS_open_by_handle_at},
	{"files", "sendfile", SYS_sendfile},
	{"files", "splice", SYS_splice},
	{"files", "copy a range", SYS_copy_file_range},
	{"files", "another directory", SYS_chdir},
	{"files", "another root", SYS_chroot},
	{"network", "bind", SYS_bind},
	{"network", "connect", SYS_connect},
	{"network", "listen", SYS_listen},
	{"network", "accept", SYS_accept4},
	{"network", "shutdown", SYS_shutdown},
	{"network", "set an option", SYS_setsockopt},
	{"network", "a socket pair", SYS_socketpair},
	{"network", "many messages", SYS_sendmmsg},
	{"processes", "execve", SYS_execve},
	{"processes", "execveat", SYS_execveat},
	{"processes", "clone3", SYS_clone3},
	{"processes", "unshare", SYS_unshare},
	{"processes", "enter a namespace", SYS_setns},
	{"processes", "read memory", SYS_process_vm_readv},
	{"processes", "write memory", SYS_process_vm_writev},
	{"processes", "advise memory", SYS_process_madvise},
	{"processes", "compare", SYS_kcmp},
	{"processes", "move pages", SYS_move_pages},
	{"processes", "migrate pages", SYS_migrate_pages},
	{"processes", "open a pidfd", SYS_pidfd_open},
	{"processes", "take a descriptor", SYS_pidfd_getfd},
	{"processes", "priority", SYS_setpriority},
	{"processes", "affinity", SYS_sched_setaffinity},
	{"processes", "scheduler", SYS_sched_setscheduler},
	{"processes", "attributes of the scheduler", SYS_sched_setattr},
	{"processes", "priority of i/o", SYS_ioprio_set},
	{"processes", "process group", SYS_setpgid},
	{"processes", "session", SYS_setsid},
	{"processes", "robust list of others", SYS_get_robust_list},
	{"signals", "kill", SYS_kill},
	{"signals", "tkill", SYS_tkill},
	{"signals", "tgkill", SYS_tgkill},
	{"signals", "queue", SYS_rt_sigqueueinfo},
	{"signals", "queue to a thread", SYS_rt_tgsigqueueinfo},
	{"signals", "by a pidfd", SYS_pidfd_send_signal},
	{"signals", "timer", SYS_timer_create},
	{"signals", "interval timer", SYS_setitimer},
	{"signals", "alarm", SYS_alarm},
	{"signals", "timer in a descriptor", SYS_timerfd_create},
	{"signals", "by a message queue", SYS_mq_notify},
	{"kernel", "io_uring", SYS_io_uring_setup},
	{"kernel", "io_uring_enter", SYS_io_uring_enter},
	{"kernel", "asynchronous i/o", SYS_io_setup},
	{"kernel", "bpf", SYS_bpf},
	{"kernel", "perf events", SYS_perf_event_open},
	{"kernel", "keyctl", SYS_keyctl},
	{"kernel", "add a key", SYS_add_key},
	{"kernel", "request a key", SYS_request_key},
	{"kernel", "mount", SYS_mount},
	{"kernel", "umount", SYS_umount2},
	{"kernel", "pivot_root", SYS_pivot_root},
	{"kernel", "open a tree", SYS_open_tree},
	{"kernel", "open a file system", SYS_fsopen},
	{"kernel", "load a module", SYS_init_module},
	{"kernel", "load a module's file", SYS_finit_module},
	{"kernel", "load a kernel", SYS_kexec_load},
	{"kernel", "read its log", SYS_syslog},
	{"kernel", "quota", SYS_quotactl},
	{"kernel", "swap", SYS_swapon},
	{"kernel", "reboot", SYS_reboot},
	{"kernel", "host name", SYS_sethostname},
	{"kernel", "time of day", SYS_settimeofday},
	{"kernel", "clock", SYS_clock_settime},
	{"kernel", "accounting", SYS_acct},
	{"kernel", "another filter", SYS_seccomp},
	{"kernel", "Landlock", SYS_landlock_create_ruleset},
	{"kernel", "shared memory", SYS_shmget},
	{"kernel", "attach shared memory", SYS_shmat},
	{"kernel", "semaphores", SYS_semget},
	{"kernel", "messages", SYS_msgget},
	{"kernel", "message queues", SYS_mq_open},
	{"kernel", "segments", SYS_modify_ldt},
	{"kernel", "ports", SYS_ioperm},
	{"kernel", "all ports", SYS_iopl},
	{"kernel", "openat2", SYS_openat2},
	{"itself", "personality", SYS_personality},
	{"itself", "protection keys", SYS_pkey_mprotect},
	{"itself", "remap a file", SYS_remap_file_pages},
	{"itself", "secret memory", SYS_memfd_secret},
	{"itself", "base registers", SYS_arch_prctl},
	{"itself", "user", SYS_setuid},
	{"itself", "group", SYS_setresgid},
	{"itself", "groups", SYS_setgroups},
	{"itself", "capabilities", SYS_capset},
	{"itself", "limits", SYS_setrlimit},
};

enum { WHOLE_CALLS = sizeof(whole_calls) / sizeof(whole_calls[0]) };

/* ---- calls of which the arguments decide ---- */

static int end_at_once(void *arg)
{
	(void)arg;
	syscall(SYS_exit, 0); /* of the thread, if it is one */
	return 0;
}

static long start_by_clone(int flags)
{
	static _Alignas(16) char stack[1 << 14];

	return clone(end_at_once, stack + sizeof(stack), flags, NULL);
}

static long start_by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static long start_by_call(long number)
{
	long pid = syscall(number);

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid;
}

static long open_of_process(pid_t pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, flags);
}

static long open_own_descriptor(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

static long send_to_address(const struct hi_payload *p)
{
	struct sockaddr_un journal = {AF_UNIX, "/run/systemd/journal/dev-log"};

	return sendto(p->datagrams, "x", 1, MSG_NOSIGNAL, (void *)&journal,
		      sizeof(journal));
}

static long change_limit_of(pid_t pid)
{
	const struct rlimit limit = {1 << 20, RLIM_INFINITY};

	return prlimit(pid, RLIMIT_CPU, &limit, NULL);
}

static long map_code(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return code == MAP_FAILED ? -1 : 0;
}

static long make_code_of_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static long set_owner(int fd, pid_t pid)
{
	const struct f_owner_ex owner = {F_OWNER_PID, pid};

	return fcntl(fd, F_SETOWN_EX, &owner);
}

/* group, name, the call */
#define EACH_CALL(X)                                                                     \
	X("files", "open for writing", open(p->path, O_WRONLY))                          \
	X("files", "open for both", open(p->path, O_RDWR | O_CLOEXEC))                   \
	X("files", "open to truncate", open(p->path, O_RDONLY | O_TRUNC))                \
	X("files", "create", open("/tmp/heapinspect-payload", O_CREAT | O_RDONLY, 0600)) \
	X("files", "create by creat", syscall(SYS_creat, "/tmp/heapinspect-payload", 0)) \
	X("files", "create without a name", open("/tmp", O_TMPFILE | O_RDWR, 0600))      \
	X("files", "open its descriptor for writing",                                    \
	  open_own_descriptor(p->reader, O_WRONLY))                                      \
	X("files", "open its own memory for writing",                                    \
	  open_of_process(getpid(), "mem", O_RDWR))                                      \
	X("files", "shorten what it may read", ftruncate(p->reader, 0))                  \
	X("files", "write what it may read", write(p->reader, "x", 1))                   \
	X("files", "map it shared, for writing",                                         \
	  (long)(intptr_t)mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, p->reader, 0))        \
	X("files", "a lease", fcntl(p->reader, F_SETLEASE, F_RDLCK))                     \
	X("files", "notification of a directory", fcntl(p->reader, F_NOTIFY, 1))         \
	X("files", "seals", fcntl(p->reader, F_ADD_SEALS, 1))                            \
	X("files", "non-blocking for all", fcntl(p->pipe_end, F_SETFL, O_NONBLOCK))      \
	X("network", "TCP", socket(AF_INET, SOCK_STREAM, 0))                             \
	X("network", "UDP", socket(AF_INET, SOCK_DGRAM, 0))                              \
	X("network", "TCP by IPv6", socket(AF_INET6, SOCK_STREAM, 0))                    \
	X("network", "AF_UNIX", socket(AF_UNIX, SOCK_STREAM, 0))                         \
	X("network", "netlink", socket(AF_NETLINK, SOCK_RAW, 0))                         \
	X("network", "packets", socket(AF_PACKET, SOCK_RAW, 0))                          \
	X("network", "vsock", socket(40 /* AF_VSOCK */, SOCK_STREAM, 0))                 \
	X("network", "the kernel's cryptography", socket(38 /* AF_ALG */, 5, 0))         \
	X("network", "send to an address", send_to_address(p))                           \
	X("processes", "fork", start_by_fork())                                          \
	X("processes", "the call fork", start_by_call(SYS_fork))                         \
	X("processes", "the call vfork", start_by_call(SYS_vfork))                       \
	X("processes", "share the memory, not the process",                              \
	  start_by_clone(CLONE_VM | SIGCHLD))                                            \
	X("processes", "the same, without a signal at its end",                          \
	  start_by_clone(CLONE_VM))                                                      \
	X("processes", "as posix_spawn() does",                                          \
	  start_by_clone(CLONE_VM | CLONE_VFORK | SIGCHLD))                              \
	X("processes", "share signals, too", start_by_clone(CLONE_VM | CLONE_SIGHAND))   \
	X("processes", "a child of the parent",                                          \
	  start_by_clone(CLONE_VM | CLONE_SIGHAND | CLONE_PARENT))                       \
	X("processes", "a thread that nobody traces",                                    \
	  start_by_clone(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_UNTRACED))      \
	X("processes", "a thread with its own count of i/o",                             \
	  start_by_clone(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | (int)CLONE_IO))       \
	X("processes", "a namespace of users", start_by_clone(CLONE_NEWUSER | SIGCHLD))  \
	X("processes", "trace", ptrace(PTRACE_SEIZE, p->other, 0, 0))                    \
	X("processes", "be traced", ptrace(PTRACE_TRACEME, 0, 0, 0))                     \
	X("processes", "another's memory", open_of_process(p->other, "mem", O_RDONLY))   \
	X("processes", "write another's memory",                                         \
	  open_of_process(p->other, "mem", O_RDWR))                                      \
	X("processes", "change another's limits", change_limit_of(p->other))             \
	X("processes", "change its own limits", change_limit_of(0))                      \
	X("signals", "kill another", kill(p->other, 0))                                  \
	X("signals", "kill all", kill(-1, 0))                                            \
	X("signals", "kill the group", kill(0, 0))                                       \
	X("signals", "kill a thread", syscall(SYS_tgkill, p->other, p->other, 0))        \
	X("signals", "kill by its pidfd",                                                \
	  syscall(SYS_pidfd_send_signal, p->other_pidfd, 0, NULL, 0))                    \
	X("signals", "owner of a descriptor", fcntl(p->pipe_end, F_SETOWN, p->other))    \
	X("signals", "owner by structure", set_owner(p->pipe_end, p->other))             \
	X("signals", "number of its signal", fcntl(p->pipe_end, F_SETSIG, SIGKILL))      \
	X("signals", "signals at input", fcntl(p->pipe_end, F_SETFL, O_ASYNC))           \
	X("terminal", "type into it", ioctl(p->terminal, TIOCSTI, "x"))                  \
	X("terminal", "paste into it", ioctl(p->terminal, TIOCLINUX, "\3"))              \
	X("terminal", "make it its own", ioctl(p->terminal, TIOCSCTTY, 1))               \
	X("terminal", "another group of it", ioctl(p->terminal, TIOCSPGRP, &p->other))   \
	X("terminal", "its modes", ioctl(p->terminal, TCSETS, (char[64]){}))             \
	X("terminal", "its size", ioctl(p->terminal, TIOCSWINSZ, (char[64]){}))          \
	X("terminal", "hang up", ioctl(p->terminal, TIOCNOTTY))                          \
	X("kernel", "faults of the kernel", syscall(SYS_userfaultfd, O_CLOEXEC))         \
	X("itself", "map code", map_code())                                              \
	X("itself", "make code of memory", make_code_of_memory())                        \
	X("itself", "outlive the parent", prctl(PR_SET_PDEATHSIG, 0))                    \
	X("itself", "show its memory", prctl(PR_SET_DUMPABLE, 1))                        \
	X("itself", "let others trace it", prctl(PR_SET_PTRACER, p->other))              \
	X("itself", "adopt processes", prctl(PR_SET_CHILD_SUBREAPER, 1))                 \
	X("itself", "become root", syscall(SYS_setresuid, 0, 0, 0))

#define COUNT(group, name, call) +1
enum { CALLS = 0 EACH_CALL(COUNT) };
#undef COUNT
_Static_assert(WHOLE_CALLS + CALLS <= HI_PAYLOAD_MOST, "notes");

static int note(long returned)
{
	return returned == -1 ? errno : 0;
}

void hi_payload_run(const struct hi_payload *p, struct hi_payload_notes *notes)
{
	size_t n = 0;

	for (size_t i = 0; i < WHOLE_CALLS; i++)
		notes->error[n++] =
			note(syscall(whole_calls[i].number, 0, 0, 0, 0, 0, 0));
#define TRY(group, name, call) notes->error[n++] = note(call);
	EACH_CALL(TRY)
#undef TRY
}

/* ---- the table ---- */

/* EACCES, EBADF, EINVAL: the call may be made, and the kernel refuses these arguments. */
static bool is_refused(const char *name, int error)
{
	static const char *const by_the_kernel[] = {
		"shorten what it may read", "write what it may read",
		"map it shared, for writing", "another's memory"};

	/* The kernel lets a user look at his own processes. */
	if (geteuid() != 0 && strcmp(name, "another's memory") == 0)
		return true;
	for (size_t i = 0; i < sizeof(by_the_kernel) / sizeof(by_the_kernel[0]); i++)
		if (strcmp(name, by_the_kernel[i]) == 0)
			return error == EINVAL || error == EBADF || error == EACCES;
#ifdef HI_SANITIZED /* what LeakSanitizer does at the end; the kernel decides on whom */
	if (strstr(name, "trace") || strcmp(name, "show its memory") == 0)
		return true;
#endif
	return error == EPERM || error == ENOSYS;
}

/* Returns 1 if it was not refused. */
static int print_row(const char *group, const char *name, int error)
{
	bool refused = is_refused(name, error);

	printf("%-10s %-38s %s%s\n", group, name, error ? strerror(error) : "done",
	       refused ? "" : "  <- not refused");
	return !refused;
}

void hi_payload_check(const struct hi_payload_notes *notes)
{
	int n = 0, failures = 0;

	for (size_t i = 0; i < WHOLE_CALLS; i++)
		failures += print_row(whole_calls[i].group, whole_calls[i].name,
				      notes->error[n++]);
#define PRINT(group, name, call) failures += print_row(group, name, notes->error[n++]);
	EACH_CALL(PRINT)
#undef PRINT
	HI_ASSERT_MSG(!failures, "%d of %d attempts were not refused", failures, n);
}
