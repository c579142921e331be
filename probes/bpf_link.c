/* SPDX-License-Identifier: BSD-2-Clause */
/* Connects a BPF program with probe sites; all of it runs in the probe holder. */
#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fork.h"
#include "probes/bpf/shared.h"
#include "probes/bpf_link.h"
#include "probes/trial_site.h"

/*
 * Note [One link for all sites]
 *
 * Since 6.6 the kernel has BPF_TRACE_UPROBE_MULTI: one link for many sites of one file,
 * without perf events, which makes a hit cheaper, and CAP_BPF with CAP_PERFMON is enough
 * for it; uprobes of perf events need CAP_SYS_ADMIN. Its sites are closed together, in 40
 * ms, and their breakpoints are out after 15; perf events take 80 ms each, whoever closes
 * them. It is tried first, after it was checked (Note [Links that miss threads] in
 * own_site.c). If it fails for any reason, perf events are tried next, whose errors are
 * clearer. The program must be loaded for the one or the other. Neither libbpf 1.1 nor
 * the headers of that time know it: the layout is struct bpf_attr's,
 * link_create.uprobe_multi.
 */
enum { WITH_COOKIES_SIZE = 64, MULTI_AT_RETURN = 1 /* BPF_F_UPROBE_MULTI_RETURN */ };

struct uprobe_multi_attr {
	uint32_t prog_fd, target_fd, attach_type, link_flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, flags, pid, padding;
};
static_assert(sizeof(struct uprobe_multi_attr) == WITH_COOKIES_SIZE);

enum hi_status hi_bpf_refused(int error, struct hi_error *err)
{
	enum hi_status status;

	/* EACCES comes from the verifier. */
	if (error != EPERM && error != ENOSYS)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "this kernel does not accept the BPF program: %s",
			       strerror(error));
	status = hi_fail(err, HI_CANNOT_ATTACH, 0,
			 "BPF needs CAP_BPF and CAP_PERFMON: %s", strerror(error));
	if (err)
		err->os_errno = error;
	return status;
}

static enum hi_status create_multi_link(struct uprobe_multi_attr *attr, int *link_ret,
					struct hi_error *err)
{
	int link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	if (link < 0)
		return hi_bpf_refused(errno, err);
	*link_ret = link;
	return HI_OK;
}

static enum hi_status link_process(int program, pid_t pid, const struct hi_uprobe *uprobe,
				   const struct hi_bpf_places *places, int *link_ret,
				   struct hi_error *err)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)program,
		.attach_type = HI_BPF_UPROBE_MULTI,
		.path = (uintptr_t)uprobe->path,
		.offsets = (uintptr_t)places->offsets,
		.ref_ctr_offsets = (uintptr_t)places->semaphores,
		.cookies = (uintptr_t)places->cookies,
		.count = (uint32_t)places->count,
		.flags = uprobe->at_return ? MULTI_AT_RETURN : 0,
		.pid = (uint32_t)pid,
	};

	return create_multi_link(&attr, link_ret, err);
}

/* The kernel keeps what it needs of the process when its id is gone. */
static enum hi_status link_nobody(int program, const struct hi_uprobe *uprobe,
				  const struct hi_bpf_places *places, int *link_ret,
				  struct hi_error *err)
{
	enum hi_status status;
	siginfo_t ended;
	pid_t pid = hi_fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0 || waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) != 0)
		return hi_fail_errno(err, "a process that ends");
	status = link_process(program, pid, uprobe, places, link_ret, err);
	(void)waitpid(pid, NULL, 0);
	return status;
}

enum hi_status hi_bpf_link_places(int program, pid_t pid, const struct hi_uprobe *uprobe,
				  const struct hi_bpf_places *places, int *link_ret,
				  struct hi_error *err)
{
	return pid == HI_BPF_NOBODY
		       ? link_nobody(program, uprobe, places, link_ret, err)
		       : link_process(program, pid, uprobe, places, link_ret, err);
}

enum hi_status hi_bpf_link_own_site(int program, int *link_ret, struct hi_error *err)
{
	const uint64_t cookie = HI_BPF_OWN_SITE;
	struct hi_uprobe own = {.fd = -1};
	enum hi_status status = hi_own_site_prepare(&own, err);
	const struct hi_bpf_places place = {
		.count = 1, .offsets = &own.offset, .cookies = &cookie};

	if (status == HI_OK)
		status = link_process(program, getpid(), &own, &place, link_ret, err);
	hi_uprobe_release(&own);
	return status;
}

enum hi_status hi_bpf_link_check(int program, const __u64 *hits, int *link_ret,
				 struct hi_error *err)
{
	__u64 before = __atomic_load_n(hits, __ATOMIC_SEQ_CST);
	HI_GUARD(close) int link = -1;
	enum hi_status status = hi_bpf_link_own_site(program, &link, err);

	if (status == HI_OK)
		status = hi_own_site_run(err);
	if (status == HI_OK && __atomic_load_n(hits, __ATOMIC_SEQ_CST) != before + 1)
		status = hi_fail(err, HI_UNSUPPORTED, 0,
				 "uprobe_multi links of this kernel miss threads");
	if (status == HI_OK)
		*link_ret = hi_take_fd(link);
	return status;
}

/* The event lives as long as the link. */
enum hi_status hi_bpf_link_event(int program, const struct hi_target *target,
				 uint64_t cookie, const struct hi_uprobe *uprobe,
				 int *link_ret, struct hi_error *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {.sample_period = 1};
	HI_GUARD(close) int event = -1;
	enum hi_status status = hi_uprobe_open(uprobe, target, 0, &attr, &event, err);
	int link;

	if (status != HI_OK)
		return status;
	if (cookie == HI_BPF_NO_COOKIE) {
		if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0)
			return hi_bpf_refused(errno, err);
		*link_ret = hi_take_fd(event);
		return HI_OK;
	}
	link = bpf_link_create(program, event, BPF_PERF_EVENT, &options);
	if (link < 0)
		return hi_bpf_refused(-link, err);
	*link_ret = link;
	return HI_OK;
}
