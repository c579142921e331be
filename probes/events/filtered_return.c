/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/filtered_return.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fork.h"
#include "probes/bpf/events_shared.h"
#include "probes/bpf_link.h"
#include "probes/trial_site.h"

/*
 * Note [Returns that are filtered]
 *
 * Since 6.11 a probed function of an x86 process returns through a system call of its
 * own, uretprobe, in the kernel's page [uprobes]. Filters do not know it: the first
 * kernels let them refuse it, and the process then dies at the first return. 6.14, 6.13.3
 * and 6.12.14 pass it by ("seccomp: passthrough uretprobe systemcall without filtering").
 * The version does not show what a distribution has added. So it is tried, where the
 * target has a filter: a child that kills itself at that call returns once through a
 * probe.
 */
enum { NR_URETPROBE = 335, TASKS_MAX = 1 << 16 };

static bool is_task_filtered(pid_t pid, const char *tid)
{
	HI_GUARD(fclose) FILE *file = NULL;
	char line[256];
	int mode;

	snprintf(line, sizeof(line), "/proc/%d/task/%.20s/status", (int)pid, tid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			return mode != 0;
	return false;
}

bool hi_process_is_filtered(pid_t pid)
{
	HI_GUARD(closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	for (int i = 0; dir && i < TASKS_MAX && (entry = readdir(dir)); i++)
		if (entry->d_name[0] != '.' && is_task_filtered(pid, entry->d_name))
			return true;
	return false;
}

static bool refuse_uretprobe(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_URETPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]),
				     .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Waits for a byte, returns through the probe, and answers with one. */
static _Noreturn void be_filtered(int in, int out)
{
	char byte = 'x';

	if (read(in, &byte, 1) == 1 && refuse_uretprobe()) {
		hi_own_site_call();
		if (write(out, &byte, 1) == 1)
			_exit(0);
	}
	_exit(1);
}

static enum hi_status link_return(int program, bool by_perf, pid_t pid, int *link_ret,
				  struct hi_error *err)
{
	const uint64_t cookie = HI_BPF_EVENT_OWN_SITE;
	const struct hi_target target = {.pid = pid};
	struct hi_uprobe own = {.fd = -1};
	enum hi_status status = hi_own_site_prepare(&own, err);
	struct hi_bpf_places place = {
		.count = 1, .offsets = &own.offset, .cookies = &cookie};

	own.at_return = true;
	if (status == HI_OK && by_perf)
		status = hi_uprobe_type(&own.type, err);
	if (status == HI_OK)
		status = by_perf ? hi_bpf_link_event(program, &target, cookie, &own,
						     link_ret, err)
				 : hi_bpf_link_places(program, pid, &own, &place,
						      link_ret, err);
	hi_uprobe_release(&own);
	return status;
}

static enum hi_status let_it_return(int to, int from, struct hi_error *err)
{
	char byte = 'x';

	if (write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1)
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "the target has a seccomp filter, and on this kernel a filter "
		       "kills processes with probes at returns: Linux 6.12.14, 6.13.3 or "
		       "6.14 helps");
}

/* The calling process may ignore SIGCHLD: the child's end then has no status. */
enum hi_status hi_filtered_return_check(int return_program, bool by_perf, int *link_ret,
					struct hi_error *err)
{
	int to[2], from[2];
	enum hi_status status;
	pid_t pid;

	if (pipe2(to, O_CLOEXEC) != 0)
		return hi_fail_errno(err, "pipe");
	if (pipe2(from, O_CLOEXEC) != 0) {
		status = hi_fail_errno(err, "pipe");
		close(to[0]);
		close(to[1]);
		return status;
	}
	pid = hi_fork();
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		be_filtered(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	status = pid < 0 ? hi_fail_errno(err, "cannot fork")
			 : link_return(return_program, by_perf, pid, link_ret, err);
	if (status == HI_OK)
		status = let_it_return(to[1], from[0], err);
	close(to[1]);
	close(from[0]);
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return status;
}
