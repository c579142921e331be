/* SPDX-License-Identifier: BSD-2-Clause */
/* The allowed system calls, as a seccomp filter. See Note [Rights of a decoder] in
 * rights.h. */
#include "base/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)

#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))
#define DETACHED 0x00400000 /* musl gives it, kernels ignore it */
/* The flags of a new thread, by glibc and by musl: without the first three it would be a
 * process, with others it could be a process that outlives this one. */
#define THREAD (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define THREAD_MAY                                                                       \
	(THREAD | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SETTLS |                \
	 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | DETACHED)
#define USER_FAULTS 1u /* UFFD_USER_MODE_ONLY of linux/userfaultfd.h since 5.11 */
#define X32_BIT 0x40000000u

enum { MOST = 512 };

/* Whatever their arguments. Most frequent first. */
static const int allowed[] = {
	SYS_futex,
	SYS_read,
	SYS_pread64,
	SYS_write,
	SYS_pwrite64,
	SYS_poll,
	SYS_madvise,
	SYS_munmap,
	SYS_mremap,
	SYS_brk,
	SYS_close,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_stat,
	SYS_lstat,
	SYS_statx,
	SYS_fstatfs,
	SYS_statfs,
	SYS_access,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlink,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_readv,
	SYS_writev,
	SYS_preadv,
	SYS_pwritev,
	SYS_preadv2,
	SYS_pwritev2,
	SYS_close_range,
	SYS_dup,
	SYS_dup2,
	SYS_dup3,
	SYS_pipe2,
	SYS_memfd_create,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fadvise64,
	SYS_ppoll,
	SYS_select,
	SYS_pselect6,
	SYS_eventfd2,
	SYS_recvfrom,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_getsockopt,
	SYS_msync,
	SYS_mincore,
	SYS_membarrier,
	SYS_rseq,
	SYS_set_robust_list,
	SYS_set_tid_address,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getcpu,
	SYS_exit,
	SYS_exit_group,
	SYS_wait4,
	SYS_waitid,
	SYS_gettid,
	SYS_getpid,
	SYS_getppid,
	SYS_getpgrp,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getresuid,
	SYS_getresgid,
	SYS_getrlimit,
	SYS_getrusage,
	SYS_getrandom,
	SYS_sysinfo,
	SYS_uname,
	SYS_times,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_time,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_restart_syscall,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigpending,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
#ifdef HI_SANITIZED /* LeakSanitizer stops its own threads */
	SYS_ptrace,
	SYS_getdents,
#endif
};

/* glibc falls back to calls whose arguments a filter can see. */
static const int absent[] = {SYS_clone3, SYS_openat2};

/* No F_SETFL: the flags are shared with whoever has the same terminal or pipe. */
static const uint32_t fcntl_commands[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GET_SEALS,
};
/* For userfaultfds what the pager uses (attach/pager.h). */
static const uint32_t ioctls[] = {
	TCGETS,		 TIOCGWINSZ,	  TIOCGPGRP,   FIONREAD,    UFFDIO_API,
	UFFDIO_REGISTER, UFFDIO_ZEROPAGE, UFFDIO_COPY, UFFDIO_WAKE,
};
static const uint32_t userfaultfd_flags[] = {O_CLOEXEC | O_NONBLOCK | USER_FAULTS};
static const uint32_t prctls[] = {
	PR_SET_NAME,	PR_GET_NAME,	 PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
	PR_GET_SECCOMP, PR_CAPBSET_READ, 0x53564d41, /* PR_SET_VMA */
#ifdef HI_SANITIZED
	PR_SET_PTRACER, PR_SET_DUMPABLE,
#endif
};

struct program {
	struct sock_filter code[MOST];
	unsigned short n;
};

static void emit_filter_instruction(struct program *p, uint16_t code, uint32_t k,
				    uint8_t if_so, uint8_t if_not)
{
	p->code[p->n++] = (struct sock_filter)BPF_JUMP(code, k, if_so, if_not);
}

static void emit_load(struct program *p, size_t offset)
{
	emit_filter_instruction(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The low half is what the kernel takes of flags, commands and modes. */
static void emit_load_argument(struct program *p, unsigned i)
{
	emit_load(p, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t));
}

static void emit_answer(struct program *p, uint32_t what)
{
	emit_filter_instruction(p, BPF_RET | BPF_K, what, 0, 0);
}

static void emit_answer_if_equal(struct program *p, uint32_t value, uint32_t what)
{
	emit_filter_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	emit_answer(p, what);
}

/* Returns the place of the jump over the body, to be patched; the body ends with an
 * answer. */
static unsigned short begin_call(struct program *p, int number)
{
	emit_filter_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 0);
	return (unsigned short)(p->n - 1);
}

static void end_call(struct program *p, unsigned short start)
{
	p->code[start].jf = (uint8_t)(p->n - start - 1);
}

static void allow_without_bits(struct program *p, int number, unsigned argument,
			       uint32_t bits)
{
	unsigned short start = begin_call(p, number);

	emit_load_argument(p, argument);
	emit_filter_instruction(p, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	emit_answer(p, REFUSE);
	emit_answer(p, ALLOW);
	end_call(p, start);
}

static void allow_values(struct program *p, int number, unsigned argument,
			 const uint32_t *values, size_t n)
{
	unsigned short start = begin_call(p, number);

	emit_load_argument(p, argument);
	for (size_t i = 0; i < n; i++)
		emit_answer_if_equal(p, values[i], ALLOW);
	emit_answer(p, REFUSE);
	end_call(p, start);
}

static void emit_refuse_unless_bits(struct program *p, uint32_t bits)
{
	for (uint32_t bit = 1; bit; bit <<= 1)
		if (bits & bit) {
			emit_filter_instruction(p, BPF_JMP | BPF_JSET | BPF_K, bit, 1, 0);
			emit_answer(p, REFUSE);
		}
}

/* Allows threads, but no processes. */
static void allow_threads(struct program *p)
{
	unsigned short start = begin_call(p, SYS_clone);

	emit_load_argument(p, 0);
#ifdef HI_SANITIZED /* LeakSanitizer looks from a process that shares the memory */
	emit_answer_if_equal(p, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED,
			     ALLOW);
#endif
	emit_filter_instruction(p, BPF_JMP | BPF_JSET | BPF_K, ~(uint32_t)THREAD_MAY, 0,
				1);
	emit_answer(p, REFUSE);
	emit_refuse_unless_bits(p, THREAD);
	emit_answer(p, ALLOW);
	end_call(p, start);
}

/* Like rights, of the process; -1: none. */
static int listening = -1;

void hi_rights_permit_accept(int fd)
{
	listening = fd;
}

static void allow_accepting(struct program *p)
{
	uint32_t fd = (uint32_t)listening;

	if (listening >= 0)
		allow_values(p, SYS_accept4, 0, &fd, 1);
}

/* A signal to itself: abort(), raise(). */
static void allow_own_signals(struct program *p)
{
	uint32_t own = (uint32_t)getpid();

	allow_values(p, SYS_tgkill, 0, &own, 1);
}

/* An argument of 64 bits. */
static void emit_refuse_unless_null(struct program *p, unsigned argument)
{
	emit_load_argument(p, argument);
	emit_filter_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	emit_answer(p, REFUSE);
	emit_load(p, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) +
			     sizeof(uint32_t));
	emit_filter_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	emit_answer(p, REFUSE);
}

/* Its own limits, to read. */
static void allow_reading_limits(struct program *p)
{
	unsigned short start = begin_call(p, SYS_prlimit64);

	emit_refuse_unless_null(p, 2);
	emit_load_argument(p, 0);
	emit_answer_if_equal(p, 0, ALLOW);
	emit_answer(p, REFUSE);
	end_call(p, start);
}

/* To the other end of a socket, but to no address. */
static void allow_sending(struct program *p)
{
	unsigned short start = begin_call(p, SYS_sendto);

	emit_refuse_unless_null(p, 4);
	emit_answer(p, ALLOW);
	end_call(p, start);
}

static void check_machine(struct program *p)
{
	emit_load(p, offsetof(struct seccomp_data, arch));
	emit_filter_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	emit_answer(p, SECCOMP_RET_KILL_PROCESS);
	emit_load(p, offsetof(struct seccomp_data, nr));
	emit_filter_instruction(p, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1);
	emit_answer(p, SECCOMP_RET_KILL_PROCESS);
}

static void make_program(struct program *p)
{
	check_machine(p);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		emit_answer_if_equal(p, (uint32_t)allowed[i], ALLOW);
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		emit_answer_if_equal(p, (uint32_t)absent[i], ABSENT);
	allow_without_bits(p, SYS_open, 1, WRITES);
	allow_without_bits(p, SYS_openat, 2, WRITES);
	allow_without_bits(p, SYS_mmap, 2, PROT_EXEC);
	allow_without_bits(p, SYS_mprotect, 2, PROT_EXEC);
	allow_values(p, SYS_fcntl, 1, fcntl_commands,
		     sizeof(fcntl_commands) / sizeof(*fcntl_commands));
	allow_values(p, SYS_prctl, 0, prctls, sizeof(prctls) / sizeof(*prctls));
	allow_values(p, SYS_ioctl, 1, ioctls, sizeof(ioctls) / sizeof(*ioctls));
	allow_values(p, SYS_userfaultfd, 0, userfaultfd_flags, 1);
	allow_threads(p);
	allow_sending(p);
	allow_accepting(p);
	allow_own_signals(p);
	allow_reading_limits(p);
	emit_answer(p, REFUSE);
}

enum hi_status hi_rights_filter(struct hi_error *err)
{
	struct program p = {};
	struct sock_fprog given = {.filter = p.code};

	make_program(&p);
	given.len = p.n;
	/* Before 5.16 a filter slows all memory accesses down unless that is refused. */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		    &given) == 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given, 0, 0) == 0)
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "this kernel does not support seccomp filters");
}
