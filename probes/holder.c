/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
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
#define END_TRIES 6
#define CHILDREN_MAX 4096
#define SETTLE_PAUSE_NS 1000000u
#define SETTLE_TRIES 5000
#define CLOSERS_MAX 8

/*
 * Note [The process that opens and closes probes]
 *
 * The kernel puts a breakpoint into the target, and takes it out, within the system call
 * that opens the first descriptor of a probe or closes the last. Both reach for a page of
 * the target, which fails with EINTR while a fatal signal is pending for the caller
 * (kernel/events/uprobes.c, mm/gup.c): "failed to unregister, leaking uprobe". On 6.18
 * that came of 59 out of 400 kill -9 within the first 80 ms of heapinspect: the calls
 * wait for RCU, so that they take a good part of that time. What leaks is the kernel's
 * until it boots again; a close that fails leaves the breakpoint itself, which costs the
 * target a trap whenever it is reached.
 *
 * So heapinspect opens and closes no probe itself. The holder does. It runs in a session
 * of its own, where no signal of a terminal reaches it, ignores all signals but SIGKILL
 * and SIGSTOP, and ends by itself, whatever happens to heapinspect. Other processes may
 * hold and close descriptors, and die with them: they are neither the first nor the last
 * to hold them. The holder closes as it dies: a process that dies of a SIGKILL, also of
 * its own, has no signal pending any more (kernel/signal.c, get_signal; prepare_signal
 * drops new ones). If the holder is killed while it opens, the inspector opens the same
 * probes once more with a new one.
 *
 * A child that the inspector forks while probes are open (the tracer, the watchdog) has
 * their descriptors until it closes them, which takes long where the machine is busy. If
 * the holder were gone by then, that child would be the last, in a call that a SIGKILL
 * can fail. So the holder is only ended when no other child has them.
 *
 * Note [Anchors]
 *
 * No process can be kept from a SIGKILL, so the holder may get one within the call that
 * opens a probe. The call fails before it has reached all sites, takes back what it has
 * done, fails in that as well, and would leave its breakpoints and leak its uprobes.
 *
 * But all that probe one instruction of a file share one uprobe, and the kernel takes the
 * breakpoint out of a process only when none of them wants that process any more; before
 * that it does not reach for the page, and so nothing fails (filter_chain in
 * register_for_each_vma). A perf event for the target with enable_on_exec wants it, but
 * puts no breakpoint there, as that is left to the exec (trace_uprobe_filter_add in
 * kernel/trace/trace_uprobe.c): to open it reaches for no page. Such events, the anchors,
 * are opened first, one for each site. A call that fails then leaves its breakpoints to
 * the anchors, and the kernel takes them out when it closes the anchors, as the holder
 * dies. That also holds if all processes are killed at one time.
 *
 * The anchors go when the probes are open. To close one takes the kernel some grace
 * periods of RCU, 60 to 260 ms where the machine is busy, and meanwhile no process can
 * open or close another event of a uprobe. So that is left to a child of the holder, the
 * closer, which is forked when there are no probes yet, and has nothing but the anchors.
 * It dies of a SIGKILL of its own, too. If the probes are closed sooner, the holder waits
 * for it, so that its own end takes the breakpoints out. If the closer was killed, the
 * holder itself closes the anchors, while it has the probes.
 *
 * What remains: a call that fails also looks at other processes that have the file
 * mapped, and reaches for the page of those that had probes before, or were forked by
 * such a process (MMF_HAS_UPROBES, which stays). Then the kernel says "leaking uprobe"
 * and keeps some hundred bytes until it boots again; no process keeps a breakpoint. And
 * anchors need CAP_SYS_ADMIN, and are left out if they take more than ten seconds; a
 * link on hundreds of instructions (places in copies of pymalloc) has none.
 * Without them a breakpoint may stay, which costs a trap each time that it is reached,
 * until the same probe is opened and closed again.
 */

HI_DEFINE_GUARD(DIR *, closedir)

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

/* ---- the holder ---- */

/*
 * A SIGKILL that comes between the call of _exit() and its first step would still be
 * pending while descriptors are closed: see the Note above.
 */
static _Noreturn void exit_unkilled(void)
{
	(void)kill(getpid(), SIGKILL);
	_exit(0);
}

/* Until one fails or the inspector has ended: false. */
static bool open_probes(int socket, const struct hi_probe_opening *opening, int *fds)
{
	struct answer answer = {.status = HI_OK};
	bool is_sent = true;

	for (size_t i = 0; i < opening->n; i++)
		fds[i] = -1;
	for (size_t i = 0; i < opening->n && is_sent && answer.status == HI_OK; i++) {
		answer.status = opening->open(opening->arg, i, &fds[i], &answer.error);
		is_sent = hi_packet_send(socket, &answer, sizeof(answer), fds[i]);
	}
	return is_sent && answer.status == HI_OK;
}

struct anchors {
	int *fds; /* room for one more */
	size_t n;
	/* The closer (Note [Anchors]), and the end of a pipe that says that the holder
	 * has closed its own, or has ended; -1: there is none. */
	int closer, pipe;
};

/* The inspector hears of each, as one may have to wait for others' to be closed. If that
 * takes too long, the rest is left out. */
static void open_anchors(int socket, const struct hi_probe_opening *opening,
			 struct anchors *anchors)
{
	const struct answer answer = {.status = HI_OK};
	const uint64_t end_ns = hi_clock_ns() + ANCHORS_MS * 1000000ull;
	bool is_sent = true;

	for (size_t i = 0; i < opening->n_anchors && is_sent; i++) {
		anchors->n += hi_clock_ns() < end_ns &&
			      opening->anchor(opening->arg, i, &anchors->fds[anchors->n],
					      NULL) == HI_OK;
		is_sent = hi_packet_send(socket, &answer, sizeof(answer), -1);
	}
}

/* The last to close them, as it dies. */
static _Noreturn void close_anchors(struct anchors *anchors, int pipe)
{
	char byte;

	anchors->fds[anchors->n] = pipe;
	hi_child_settle("hi-probes", anchors->fds, anchors->n + 1);
	while (read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	exit_unkilled();
}

/* Before there are probes, so that it has none. */
static void fork_closer(struct anchors *anchors)
{
	int pipes[2];
	pid_t pid;

	if (anchors->n == 0 || pipe2(pipes, O_CLOEXEC) != 0)
		return;
	pid = hi_fork();
	if (pid == 0) {
		close(pipes[1]);
		close_anchors(anchors, pipes[0]);
	}
	close(pipes[0]);
	anchors->pipe = pipes[1];
	anchors->closer = pid > 0 ? pidfd_open(pid, 0) : -1;
}

static void release_anchors(const struct anchors *anchors)
{
	for (size_t i = 0; i < anchors->n; i++)
		close(anchors->fds[i]);
	if (anchors->pipe >= 0)
		close(anchors->pipe);
}

/* Returns the closer if it is to be waited for; else -1. */
static int open_anchored(int socket, const struct hi_probe_opening *opening, int *kept)
{
	struct anchors anchors = {.fds = kept + opening->n + 2, .closer = -1, .pipe = -1};
	bool are_open;

	(void)signal(SIGCHLD, SIG_IGN); /* the closer leaves no zombie */
	open_anchors(socket, opening, &anchors);
	fork_closer(&anchors);
	are_open = open_probes(socket, opening, kept);
	release_anchors(&anchors);
	return are_open ? anchors.closer : -1;
}

/* While there are anchors, the breakpoints stay: the holder is to be the last. */
static void await_closer(int closer)
{
	struct pollfd end = {.fd = closer, .events = POLLIN};

	for (int i = 0; closer >= 0 && i < END_TRIES; i++) {
		(void)pidfd_send_signal(closer, SIGCONT, NULL, 0);
		if (poll(&end, 1, END_MS) > 0)
			return;
	}
}

/* opening: NULL: kept are open. */
_Noreturn static void keep(int socket, const struct hi_probe_opening *opening, size_t n,
			   int *kept)
{
	char byte;

	(void)setsid(); /* before anything is opened */
	hi_child_set_signals();
	kept[n] = socket;
	kept[n + 1] = opening ? open_anchored(socket, opening, kept) : -1;
	hi_child_settle("hi-probes", kept, n + 2);
	(void)signal(SIGCHLD, SIG_IGN);
	while (read(socket, &byte, 1) < 0 && errno == EINTR)
		;
	await_closer(kept[n + 1]);
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

	for (size_t i = 0; i < opening->n_anchors && status == HI_OK; i++)
		status = take_answer(holder, &none, err);
	while (taken < opening->n && status == HI_OK) {
		status = take_descriptor(holder, &fds[taken], err);
		taken += status == HI_OK;
	}
	for (size_t i = 0; i < taken && status != HI_OK; i++)
		close(fds[i]);
	return status;
}

/* kept: n descriptors, or room for them if there is an opening; then room for two more,
 * and for the anchors and one more. */
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
	int *kept = hi_calloc(n + 2 + opening->n_anchors + 1, sizeof(*kept));
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
	HI_GUARD(free) int *kept = hi_calloc(n + 2, sizeof(*kept));
	struct hi_error ignored;

	hi_probe_holder_end(holder);
	if (!kept)
		return;
	memcpy(kept, fds, n * sizeof(*fds));
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

/* Has the child neither settled, which gives it a name, nor ended? */
static bool is_as_forked(int child)
{
	char path[64], ours[64], theirs[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", child);
	if (readlink(path, theirs, sizeof(theirs)) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", child);
	return read_first_line("/proc/self/comm", ours) &&
	       read_first_line(path, theirs) && strcmp(ours, theirs) == 0;
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

void hi_probe_holder_close(struct hi_probe_holder *holder, const int *fds, size_t n)
{
	if (n && has_holder_died(holder))
		replace_holder(holder, fds, n);
	await_other_closers(holder, fds, n);
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	hi_probe_holder_end(holder);
}

void hi_probe_holder_end(struct hi_probe_holder *holder)
{
	const char over = 0;

	if (holder->socket < 0)
		return;
	/* Other processes may still hold the socket, so the end is sent. */
	(void)send(holder->socket, &over, sizeof(over), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(holder->socket);
	for (int i = 0; i < END_TRIES; i++) {
		continue_holder(holder);
		if (hi_child_reap(holder->pid, holder->pidfd, END_MS))
			break;
	}
	if (holder->pidfd >= 0)
		close(holder->pidfd);
	*holder = HI_PROBE_HOLDER_NONE;
}
