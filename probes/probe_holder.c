/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/probe_holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/packet.h"

#define START_TRIES 2
/* For each probe or anchor; the kernel waits for RCU, and the machine may be busy. */
#define ANSWER_MS 500
#define ANSWER_TRIES 40
#define ANCHORS_MS 10000
#define END_MS 500
#define END_TRIES 120
#define LONG_NS HI_NS_PER_S
#define LIMIT_NS (120 * HI_NS_PER_S)
#define CHILDREN_MAX 4096
#define SETTLE_PAUSE_NS 1000000u
#define SETTLE_TRIES 5000
#define CLOSERS_MAX 8
#define KEPT_MORE 3 /* descriptors of the holder, after those that it keeps */

static const char name_held[] = "hi-probes", name_opening[] = "hi-probes:opens";

/*
 * Note [The process that opens and closes probes]
 *
 * The kernel puts a breakpoint into the target, and takes it out, within the system call
 * that opens the first descriptor of a probe or closes the last. Both reach for a page of
 * the target, which fails with EINTR while a fatal signal is pending for the caller
 * (kernel/events/uprobes.c, mm/gup.c): "failed to unregister, leaking uprobe". On 6.18
 * that came of 59 out of 400 kill -9 within the first 80 ms of heapinspect: the calls
 * wait for RCU, so that they take a good part of that time. A leak is the kernel's
 * until it boots again; a close that fails leaves the breakpoint itself, which costs the
 * target a trap whenever it is reached.
 *
 * So heapinspect opens and closes no probe itself. The holder closes them. It runs in a
 * session of its own, where neither a signal of a terminal nor one for the group of
 * heapinspect reaches it, ignores all signals but SIGKILL and SIGSTOP, and ends by
 * itself, whatever happens to heapinspect. Other processes may hold and close
 * descriptors, and die with them: they are neither the first nor the last to hold them.
 * The holder closes as it dies: a process that dies of a SIGKILL, also of its own, has no
 * signal pending any more (kernel/signal.c, get_signal; prepare_signal drops new ones).
 *
 * A child of the holder, the opener, opens them. All that waits for RCU was done before
 * it is forked (the anchors, see below, and the check of links), so that it needs some
 * microseconds for each site: 0.1 ms for the functions of malloc, 0.3 ms for 64 sites.
 * Whoever looks for processes in order to kill them hardly finds it. If it is killed all
 * the same, or the holder, the inspector has a new holder open the same probes.
 *
 * A child that the inspector forks while probes are open (the tracer, the watchdog, the
 * readers of symbols) gives their descriptors up first (hi_fork_withhold), which takes
 * long where the machine is busy. If the holder were gone by then, that child would be
 * the last, in a call that a SIGKILL can fail. So the holder is only ended when no other
 * child has them.
 *
 * Note [Anchors]
 *
 * No process can be kept from a SIGKILL, so the opener may get one within the call that
 * opens a probe. The call fails before it has reached all sites, takes back what it has
 * done, fails in that as well, and would leave its breakpoints.
 *
 * But all that probe one instruction of a file share one uprobe, whoever they are, and
 * each that closes takes the breakpoint out of all processes that no other one covers.
 * So others are there first, the anchors, which reach for no page of the target:
 *
 *   - Links of the same program to the same sites, for a process that has ended. It
 *     has no memory, so that no breakpoint is put anywhere, now or later. To open one
 *     also waits for the grace period of RCU that the first change of a probe waits for.
 *   - Where probes are perf events, a perf event for the target with enable_on_exec: the
 *     kernel leaves the breakpoint to the exec (trace_uprobe_filter_add in
 *     kernel/trace/trace_uprobe.c). As this one is for the target, the kernel keeps the
 *     breakpoints of a call that fails, does not even reach for the page, and leaks no
 *     uprobe. But each takes 80 ms to close, 260 on a busy machine, one after another and
 *     with a lock on all events of that kind.
 *
 * The opener is the last to have the anchors: they are closed as it ends, and then the
 * kernel takes out what a call that failed has left. It dies of a SIGKILL of its own, if
 * of no other. That also holds if all processes are killed at one time, and beside others
 * that have probes in the file: an anchor takes out all that none of them covers. If the
 * probes are closed before it has ended, the holder waits for it, as anchors of the
 * second kind keep breakpoints.
 *
 * This remains: for a link that fails the kernel writes "leaking uprobe" in the kernel's
 * log, and keeps some hundred bytes of its memory until it boots again; so does a perf
 * event where other processes have the file mapped that had probes before, or were forked
 * by such a process (MMF_HAS_UPROBES, which stays). No process keeps a breakpoint.
 * Anchors that are perf events need CAP_SYS_ADMIN, and are left out if they take more
 * than ten seconds. Without them a breakpoint may stay, which costs a trap each time that
 * it is reached, until the same probe is opened and closed again.
 */

struct answer {
	enum hi_status status;
	struct hi_error error;
};

/* ---- one answer, with one descriptor or none ---- */

/* The holder may have been stopped. It is never killed: that could leave a breakpoint. */
static void continue_holder(const struct hi_probe_holder *holder)
{
	if (holder->pidfd >= 0)
		(void)pidfd_send_signal(holder->pidfd, SIGCONT, NULL, 0);
}

static bool await_answer(const struct hi_probe_holder *holder)
{
	struct pollfd answer = {.fd = holder->socket, .events = POLLIN};

	for (int i = 0; i < ANSWER_TRIES; i++) {
		if (poll(&answer, 1, ANSWER_MS) > 0)
			return true;
		continue_holder(holder);
	}
	return false;
}

/* *fd_ret: -1: none came. */
static enum hi_status take_answer(const struct hi_probe_holder *holder, int *fd_ret,
				  struct hi_error *err)
{
	struct answer answer;

	*fd_ret = -1;
	if (!await_answer(holder))
		return hi_fail(err, HI_TIMEOUT, 0,
			       "the probe process (hi-probes, %d) did not answer",
			       (int)holder->pid);
	if (!hi_packet_receive(holder->socket, &answer, sizeof(answer), MSG_DONTWAIT,
			       fd_ret))
		return hi_fail(err, HI_GONE, 0, "the probe process was killed");
	if (answer.status != HI_OK && err)
		*err = answer.error;
	return answer.status;
}

static enum hi_status take_descriptor(const struct hi_probe_holder *holder, int *fd_ret,
				      struct hi_error *err)
{
	enum hi_status status = take_answer(holder, fd_ret, err);

	if (status == HI_OK && *fd_ret < 0)
		return hi_fail(err, HI_LIMIT, 0, "too many open files (ulimit -n)");
	return status;
}

/* ---- the opener ---- */

/*
 * A SIGKILL that comes between the call of _exit() and its first step would still be
 * pending while descriptors are closed: see the Note above.
 */
static _Noreturn void exit_unkilled(void)
{
	(void)kill(getpid(), SIGKILL);
	_exit(0);
}

/* Until one fails or the holder has ended. Then the anchors are closed. It has nothing
 * else to do: the sooner it is over, the less may come between. */
static _Noreturn void open_probes(int holder, const struct hi_probe_opening *opening)
{
	struct answer answer = {.status = HI_OK};
	bool is_sent = true;

	for (size_t i = 0; i < opening->n && is_sent && answer.status == HI_OK; i++) {
		int fd = -1;

		answer.status = opening->open(opening->arg, i, &fd, &answer.error);
		is_sent = hi_packet_send(holder, &answer, sizeof(answer), fd);
	}
	hi_child_set_priority(0);
	exit_unkilled();
}

/* ---- the holder ---- */

struct holding {
	int inspector;	   /* the socket */
	int opener, pidfd; /* the opener's socket, and itself */
	int *kept;	   /* n descriptors, then room for those above */
	size_t n;
};

static bool send_answer(const struct holding *h, enum hi_status status,
			const struct hi_error *error, int fd)
{
	struct answer answer = {.status = status};

	if (status != HI_OK)
		answer.error = *error;
	return hi_packet_send(h->inspector, &answer, sizeof(answer), fd) &&
	       status == HI_OK;
}

/* The inspector hears of each, as one may have to wait for others' to be closed. If that
 * takes too long, the rest is left out. They stay open. */
static bool open_anchors(const struct holding *h, const struct hi_probe_opening *opening)
{
	const uint64_t end_ns = hi_clock_ns() + ANCHORS_MS * 1000000ull;
	bool is_sent = true;
	int anchor;

	for (size_t i = 0; i < opening->n_anchors && is_sent; i++) {
		if (hi_clock_ns() < end_ns)
			(void)!opening->anchor(opening->arg, i, &anchor, NULL);
		is_sent = send_answer(h, HI_OK, NULL, -1);
	}
	return is_sent;
}

static bool check_means(const struct holding *h, const struct hi_probe_opening *opening)
{
	struct hi_error error = {};
	enum hi_status status =
		opening->check ? opening->check(opening->arg, &error) : HI_OK;

	return send_answer(h, status, &error, -1);
}

static bool fork_opener(struct holding *h, const struct hi_probe_opening *opening)
{
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return false;
	pid = hi_fork();
	if (pid == 0) {
		close(sockets[0]);
		open_probes(sockets[1], opening);
	}
	close(sockets[1]);
	h->opener = sockets[0];
	h->pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	return pid > 0;
}

/* The opener may have been stopped. */
static bool await_opener(const struct holding *h, int fd, unsigned tries)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	for (unsigned i = 0; i < tries && fd >= 0; i++) {
		if (poll(&ready, 1, END_MS) > 0)
			return true;
		if (h->pidfd >= 0)
			(void)pidfd_send_signal(h->pidfd, SIGCONT, NULL, 0);
	}
	return false;
}

/* Takes the descriptors and hands them on, until one fails, or a process has ended. */
static bool take_opened(struct holding *h)
{
	struct answer answer;

	for (size_t i = 0; i < h->n; i++)
		if (!await_opener(h, h->opener, ANSWER_TRIES) ||
		    !hi_packet_receive(h->opener, &answer, sizeof(answer), MSG_DONTWAIT,
				       &h->kept[i]) ||
		    !send_answer(h, answer.status, &answer.error, h->kept[i]))
			return false;
	return true;
}

/* The descriptors that it needs are the last ones in kept. */
static void settle_holder(const struct holding *h, size_t n_open)
{
	h->kept[h->n] = h->inspector;
	h->kept[h->n + 1] = h->opener;
	h->kept[h->n + 2] = h->pidfd;
	hi_child_settle(name_held, h->kept + h->n - n_open, n_open + KEPT_MORE);
	(void)signal(SIGCHLD, SIG_IGN); /* the opener leaves no zombie */
}

/*
 * The opener is forked before there are probes, so that it alone has the anchors as soon
 * as the holder has settled. Both have a priority meanwhile, which the opener inherits:
 * nothing is to come between its calls, nor between those that give the anchors up.
 */
static bool open_held(struct holding *h, const struct hi_probe_opening *opening)
{
	(void)prctl(PR_SET_NAME, name_opening);
	if (!open_anchors(h, opening) || !check_means(h, opening))
		return false;
	hi_child_set_priority(1);
	if (!fork_opener(h, opening))
		return false;
	settle_holder(h, 0);
	hi_child_set_priority(0);
	return take_opened(h);
}

static void await_inspector(const struct holding *h)
{
	char byte;

	while (read(h->inspector, &byte, 1) < 0 && errno == EINTR)
		;
}

/* opening: NULL: kept are open. */
_Noreturn static void keep(int socket, const struct hi_probe_opening *opening, size_t n,
			   int *kept)
{
	struct holding h = {
		.inspector = socket, .opener = -1, .pidfd = -1, .kept = kept, .n = n};

	(void)setsid(); /* before anything is opened */
	hi_child_set_signals();
	if (!opening)
		settle_holder(&h, n);
	if (!opening || open_held(&h, opening))
		await_inspector(&h);
	/* While there are anchors, breakpoints may stay: the holder is to be the last. */
	(void)await_opener(&h, h.pidfd, END_TRIES);
	exit_unkilled();
}

/* ---- the inspector ---- */

static enum hi_status take_all(const struct hi_probe_holder *holder,
			       const struct hi_probe_opening *opening, int *fds,
			       struct hi_error *err)
{
	enum hi_status status = HI_OK;
	size_t taken = 0;
	int none;

	/* One for each anchor, and for the check. */
	for (size_t i = 0; i <= opening->n_anchors && status == HI_OK; i++)
		status = take_answer(holder, &none, err);
	while (taken < opening->n && status == HI_OK) {
		status = take_descriptor(holder, &fds[taken], err);
		taken += status == HI_OK;
	}
	for (size_t i = 0; i < taken; i++) {
		if (status == HI_OK)
			hi_fork_withhold(fds[i]);
		else
			close(fds[i]);
	}
	return status;
}

/* kept: n descriptors, or room for them if there is an opening; then room for KEPT_MORE.
 */
static enum hi_status fork_holder(struct hi_probe_holder *holder,
				  const struct hi_probe_opening *opening, size_t n,
				  int *kept, struct hi_error *err)
{
	int sockets[2];

	*holder = HI_PROBE_HOLDER_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return hi_fail_errno(err, "socketpair");
	holder->pid = hi_fork();
	if (holder->pid == 0) {
		close(sockets[0]);
		keep(sockets[1], opening, n, kept);
	}
	close(sockets[1]);
	if (holder->pid < 0) {
		close(sockets[0]);
		return hi_fail_errno(err, "cannot fork");
	}
	holder->socket = sockets[0];
	holder->pidfd = pidfd_open(holder->pid, 0);
	return HI_OK;
}

/*
 * A holder that was killed while it opened may leave a breakpoint that the kernel could
 * not take out. Opening the same probes anew and closing them in order removes it.
 */
enum hi_status hi_probe_holder_start(struct hi_probe_holder *holder,
				     const struct hi_probe_opening *opening, int *fds,
				     struct hi_error *err)
{
	size_t n = opening->n;
	HI_GUARD(free)
	int *kept = hi_calloc(n + KEPT_MORE, sizeof(*kept));
	enum hi_status status = HI_GONE;

	*holder = HI_PROBE_HOLDER_NONE;
	if (!kept)
		return hi_fail_memory(err, "probe");
	for (int i = 0; i < START_TRIES && status == HI_GONE; i++) {
		status = fork_holder(holder, opening, n, kept, err);
		if (status != HI_OK)
			return status;
		status = take_all(holder, opening, fds, err);
		if (status != HI_OK)
			hi_probe_holder_end(holder);
	}
	return status;
}

static bool has_holder_died(const struct hi_probe_holder *holder)
{
	struct pollfd end = {.fd = holder->pidfd, .events = POLLIN};

	return holder->pidfd >= 0 && poll(&end, 1, 0) > 0;
}

/* Without a holder the caller would be the last to close. */
static void replace_holder(struct hi_probe_holder *holder, const int *fds, size_t n)
{
	HI_GUARD(free) int *kept = hi_calloc(n + KEPT_MORE, sizeof(*kept));
	struct hi_error ignored;

	hi_probe_holder_end(holder);
	if (!kept)
		return;
	memcpy(kept, fds, n * sizeof(*fds));
	for (size_t i = 0; i < n; i++)
		hi_fork_inherit(fds[i]);
	if (fork_holder(holder, NULL, n, kept, &ignored) != HI_OK)
		*holder = HI_PROBE_HOLDER_NONE;
}

/* Does a child have what the descriptor is here? Then it is as it was forked. */
static bool has_child_descriptor(int child, int fd)
{
	char path[64], ours[64] = "", theirs[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, ours, sizeof(ours) - 1) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", child, fd);
	return readlink(path, theirs, sizeof(theirs) - 1) > 0 &&
	       strcmp(ours, theirs) == 0;
}

static bool read_first_line(const char *path, char ret[64])
{
	HI_GUARD(fclose) FILE *file = fopen(path, "re");

	return file && fgets(ret, 64, file);
}

/* Has the child neither given them up, before it gets a name, nor ended? */
static bool is_as_forked(int child)
{
	char path[64], ours[64], theirs[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", child);
	if (readlink(path, theirs, sizeof(theirs)) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", child);
	return read_first_line("/proc/self/comm", ours) &&
	       read_first_line(path, theirs) &&
	       (strcmp(ours, theirs) == 0 ||
		strncmp(theirs, name_opening, sizeof(name_opening) - 1) == 0);
}

/* Children that had the descriptor: it vanishes from their table a bit before they have
 * closed it. */
struct closers {
	int fd;
	int children[CLOSERS_MAX];
	size_t n;
};

static bool is_closer(struct closers *closers, int child)
{
	for (size_t i = 0; i < closers->n; i++)
		if (closers->children[i] == child)
			return is_as_forked(child);
	if (!has_child_descriptor(child, closers->fd))
		return false;
	if (closers->n < CLOSERS_MAX)
		closers->children[closers->n++] = child;
	return true;
}

static bool has_closer_of_thread(const struct hi_probe_holder *holder,
				 struct closers *closers, const char *tid)
{
	HI_GUARD(fclose) FILE *children = NULL;
	bool found = false;
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", tid);
	children = fopen(path, "re");
	for (int i = 0; children && i < CHILDREN_MAX; i++) {
		if (fscanf(children, "%d", &child) != 1)
			break;
		found |= child != holder->pid && is_closer(closers, child);
	}
	return found;
}

/* Whichever thread has forked them. */
static bool has_other_closer(const struct hi_probe_holder *holder,
			     struct closers *closers)
{
	HI_GUARD(closedir) DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	bool found = false;

	while (threads && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			found |= has_closer_of_thread(holder, closers, thread->d_name);
	return found;
}

/* The holder is to be the last that has the descriptors. */
static void await_other_closers(const struct hi_probe_holder *holder, const int *fds,
				size_t n)
{
	struct closers closers = {.fd = n ? fds[0] : -1};

	/* They are closed in the order of their numbers. */
	for (size_t i = 1; i < n; i++)
		closers.fd = fds[i] > closers.fd ? fds[i] : closers.fd;
	for (int i = 0; n && i < SETTLE_TRIES && has_other_closer(holder, &closers); i++)
		hi_clock_pause_ns(SETTLE_PAUSE_NS);
}

/* Other processes may still hold the socket, so the end is sent. */
static void send_end(struct hi_probe_holder *holder)
{
	const char over = 0;

	if (holder->socket < 0)
		return;
	(void)send(holder->socket, &over, sizeof(over), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(holder->socket);
	holder->socket = -1;
}

void hi_probe_holder_let_go(struct hi_probe_holder *holder, const int *fds, size_t n)
{
	if (n && has_holder_died(holder))
		replace_holder(holder, fds, n);
	await_other_closers(holder, fds, n);
	for (size_t i = 0; i < n; i++) {
		hi_fork_inherit(fds[i]);
		close(fds[i]);
	}
	send_end(holder);
}

void hi_probe_holder_close(struct hi_probe_holder *holder, const int *fds, size_t n)
{
	hi_probe_holder_let_go(holder, fds, n);
	hi_probe_holder_end(holder);
}

static hi_probe_wait_hook *wait_hook;

void hi_probe_holder_set_wait_hook(hi_probe_wait_hook *hook)
{
	wait_hook = hook;
}

static void tell_wait(bool is_over, uint64_t waited_ns)
{
	if (wait_hook)
		wait_hook(is_over, waited_ns);
}

static void await_end(const struct hi_probe_holder *holder)
{
	uint64_t start_ns = hi_clock_ns(), waited_ns = 0;
	bool is_told = false, has_ended = false;

	while (!has_ended && waited_ns < LIMIT_NS) {
		continue_holder(holder);
		has_ended = hi_child_reap(holder->pid, holder->pidfd, END_MS);
		waited_ns = hi_clock_ns() - start_ns;
		if (!has_ended && !is_told && waited_ns >= LONG_NS) {
			tell_wait(false, waited_ns);
			is_told = true;
		}
	}
	if (is_told)
		tell_wait(true, waited_ns);
}

void hi_probe_holder_end(struct hi_probe_holder *holder)
{
	if (holder->pid <= 0)
		return;
	send_end(holder);
	await_end(holder);
	if (holder->pidfd >= 0)
		close(holder->pidfd);
	*holder = HI_PROBE_HOLDER_NONE;
}
