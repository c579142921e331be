/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/window_holder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/packet.h"
#include "probes/bpf_link.h"
#include "probes/trial_site.h"

/*
 * Note [Windows]
 *
 * A trap for each malloc and free halves the speed of a program that does little else, at
 * all times, whatever the program of the probe does. So a recording may look at moments
 * only: for 20 ms in each second the links are open, and in between the target runs as if
 * nobody looked.
 *
 * The kernel changes breakpoints under a lock that forks of all processes take, too
 * (dup_mmap_sem in kernel/events/uprobes.c). A writer of it waits for a grace period of
 * RCU, about 10 ms, unless somebody else wrote to it a moment before. And what closes a
 * link waits, after its breakpoints are out, until no program of it runs, for 20 to 90
 * ms; links that are closed one after the other take as long each, and a breakpoint goes
 * with the last one that has it. So
 *
 *   - before the links are opened, and again before they are closed, a link on an
 *     instruction of the holder's own is opened, which waits for the grace period instead
 *     of them while no breakpoint of the target is reached in vain;
 *   - all links are closed at one time, by a thread each;
 *   - the program itself ends the window at its time, or when there were too many hits,
 *     and returns at once from then on.
 *
 * The holder is one process for all windows, since it takes longer to make one than a
 * window lasts. It has the anchors (Note [Anchors] in probe_holder.c) all the time, which
 * reach for no page of the target, and opens the links itself: a SIGKILL within the call
 * that opens one leaves breakpoints, but the anchors are closed as it ends, and the kernel
 * takes out what no other link has. It ends when the inspector has, whatever that dies of.
 * If the holder was killed, no process has the links any more.
 */
enum {
	ANSWER_MS = 500,
	ANSWER_TRIES = 40,
	LOOK_NS = 1000000,
	LINKS_MAX = 64, /* of a window: two a file, and the holder's own */
	OWN_LINKS = 2,
	TRIED_TRAPS = 20,
	TRIALS = 5,
};
static const char name_of_windows[] = "hi-probes:win";

struct window_answer {
	enum hi_status status;
	struct hi_error error;
	struct hi_event_window window;
};

/* ---- the holder ---- */

/* The target's CPU time at a time. */
struct cpu_look {
	uint64_t at_ns, cpu_ns; /* 0: not known */
};

static struct cpu_look look_at_cpu(pid_t pid)
{
	struct timespec cpu;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &cpu) != 0)
		return (struct cpu_look){};
	return (struct cpu_look){hi_clock_ns(), (uint64_t)cpu.tv_sec * HI_NS_PER_S +
							(uint64_t)cpu.tv_nsec};
}

static uint64_t measure_cpu(struct cpu_look from, struct cpu_look to, uint64_t *of_ret)
{
	*of_ret = from.at_ns && to.at_ns ? to.at_ns - from.at_ns : 0;
	return *of_ret ? to.cpu_ns - from.cpu_ns : 0;
}

/* Kept from one window to the next. */
struct window_state {
	struct cpu_look gap;  /* at its begin */
	uint64_t expected_ns; /* length; 0: as asked for */
};

struct window_links {
	int fds[LINKS_MAX];
	size_t n;
};

static void *close_link_in_thread(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

/* At one time; returns when all are. */
static void close_window_links(struct window_links *links)
{
	pthread_t threads[LINKS_MAX];
	bool has_thread[LINKS_MAX] = {};

	for (size_t i = 0; i < links->n; i++)
		has_thread[i] = pthread_create(&threads[i], NULL, close_link_in_thread,
					       (void *)(intptr_t)links->fds[i]) == 0;
	for (size_t i = 0; i < links->n; i++)
		if (has_thread[i])
			pthread_join(threads[i], NULL);
		else
			close(links->fds[i]);
	links->n = 0;
}

/* Waits for the grace period. Without it the next change does. */
static void await_grace(const struct hi_window_opening *opening,
			struct window_links *links)
{
	if (links->n < LINKS_MAX &&
	    hi_bpf_link_own_site(opening->program, &links->fds[links->n], NULL) == HI_OK)
		links->n++;
}

/* The holder's own site is probed. The best trial had the processor for itself. */
static uint64_t try_traps(const struct window_links *links)
{
	uint64_t best = UINT64_MAX;

	if (!links->n)
		return 0;
	for (int k = 0; k < TRIALS; k++) {
		uint64_t start = hi_clock_ns(), took;

		for (int i = 0; i < TRIED_TRAPS; i++)
			hi_own_site_call();
		took = (hi_clock_ns() - start) / TRIED_TRAPS;
		if (took < best)
			best = took;
	}
	return best;
}

static enum hi_status open_window_links(const struct hi_window_opening *opening,
					struct window_links *links, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (opening->links.n > LINKS_MAX - OWN_LINKS)
		return hi_fail(err, HI_LIMIT, 0, "too many files have functions");
	for (size_t i = 0; i < opening->links.n && status == HI_OK; i++) {
		status = opening->links.open(opening->links.arg, i, &links->fds[links->n],
					     err);
		links->n += status == HI_OK;
	}
	/* Its number may be another process's by now. */
	if (status == HI_OK && !opening->is_alive(opening->links.arg))
		status = hi_fail(err, HI_GONE, 0, "the target has exited");
	return status;
}

/* False: the window is over, or the inspector has ended. */
static bool is_window_open(const struct hi_bpf_events_shared *shared, int inspector,
			   uint64_t until_ns)
{
	struct pollfd end = {.fd = inspector, .events = POLLRDHUP};

	return hi_clock_ns() < until_ns &&
	       __atomic_load_n(&shared->running, __ATOMIC_SEQ_CST) ==
		       HI_BPF_EVENTS_MADE &&
	       poll(&end, 1, 0) <= 0;
}

static void await_window(const struct hi_bpf_events_shared *shared, int inspector,
			 uint64_t until_ns)
{
	while (is_window_open(shared, inspector, until_ns)) {
		uint64_t left = until_ns - hi_clock_ns();

		hi_clock_pause_ns(left < LOOK_NS ? (unsigned)left : LOOK_NS);
	}
}

static void open_events(struct hi_bpf_events_shared *shared,
			const struct hi_window_request *request,
			struct hi_event_window *window)
{
	shared->window++;
	shared->window_hits = 0;
	shared->window_end_ns = 0;
	shared->window_budget = request->budget;
	window->late_hits = __atomic_load_n(&shared->late_hits, __ATOMIC_SEQ_CST);
	window->from_ns = hi_clock_ns();
	window->to_ns = window->from_ns + request->length_ns;
	__atomic_store_n(&shared->window_until_ns, window->to_ns, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->running, HI_BPF_EVENTS_MADE, __ATOMIC_SEQ_CST);
}

/* The inspector may have ended it before. */
static void end_events(struct hi_bpf_events_shared *shared,
		       struct hi_event_window *window)
{
	uint64_t now = hi_clock_ns(), end;

	__atomic_store_n(&shared->running, HI_BPF_EVENTS_NOT, __ATOMIC_SEQ_CST);
	end = __atomic_load_n(&shared->window_end_ns, __ATOMIC_SEQ_CST);
	if (!end)
		end = now;
	if (end < window->to_ns)
		window->to_ns = end;
	window->hits = __atomic_load_n(&shared->window_hits, __ATOMIC_SEQ_CST);
	window->is_cut = window->hits > shared->window_budget;
	if (window->is_cut)
		window->hits = shared->window_budget;
}

static enum hi_status run_window(const struct hi_window_opening *opening, int inspector,
				 const struct hi_window_request *request,
				 struct window_state *state,
				 struct hi_event_window *window, struct hi_error *err)
{
	struct hi_bpf_events_shared *shared = opening->shared;
	struct window_links links = {};
	struct cpu_look before;
	uint64_t start = hi_clock_ns(), grace_ns, expected_ns;
	enum hi_status status;

	await_grace(opening, &links);
	grace_ns = hi_clock_ns() - start;
	window->entry_ns = try_traps(&links);
	start = hi_clock_ns();
	status = open_window_links(opening, &links, err);
	window->open_ns = hi_clock_ns() - start;
	if (status == HI_OK) {
		before = look_at_cpu(opening->pid);
		window->gap_cpu_ns = measure_cpu(state->gap, before, &window->gap_ns);
		window->program_ns =
			__atomic_load_n(&shared->program_ns, __ATOMIC_SEQ_CST);
		open_events(shared, request, window);
		/* One that will be cut by hits is expected to be as short as the last. */
		expected_ns =
			state->expected_ns ? state->expected_ns : request->length_ns;
		await_window(shared, inspector,
			     grace_ns < expected_ns
				     ? window->from_ns + expected_ns - grace_ns
				     : window->from_ns);
		await_grace(opening, &links);
		await_window(shared, inspector, window->to_ns);
		end_events(shared, window);
		window->cpu_ns = measure_cpu(before, look_at_cpu(opening->pid),
					     &window->cpu_of_ns);
	}
	start = hi_clock_ns();
	close_window_links(&links);
	window->close_ns = hi_clock_ns() - start;
	window->late_hits =
		__atomic_load_n(&shared->late_hits, __ATOMIC_SEQ_CST) - window->late_hits;
	window->program_ns = __atomic_load_n(&shared->program_ns, __ATOMIC_SEQ_CST) -
			     window->program_ns;
	state->gap = look_at_cpu(opening->pid);
	state->expected_ns = window->is_cut ? window->to_ns - window->from_ns : 0;
	return status;
}

static bool answer_window(int inspector, struct window_answer *answer)
{
	return hi_packet_send(inspector, answer, sizeof(*answer), -1);
}

/* Until the inspector has ended. */
static void run_windows(const struct hi_window_opening *opening, int inspector)
{
	struct window_state state = {.gap = look_at_cpu(opening->pid)};
	struct hi_window_request request;
	int fd = -1;

	while (hi_packet_receive(inspector, &request, sizeof(request), 0, &fd)) {
		struct window_answer answer = {};

		hi_close_fd(fd);
		hi_child_set_priority(1);
		answer.status = run_window(opening, inspector, &request, &state,
					   &answer.window, &answer.error);
		hi_child_set_priority(0);
		if (!answer_window(inspector, &answer))
			return;
	}
}

/* Anchors that cannot be opened are left out. kept: with room for them. */
static enum hi_status prepare_windows(const struct hi_window_opening *opening, int *kept,
				      size_t room, size_t *n_ret, struct hi_error *err)
{
	enum hi_status status =
		opening->prepare(opening->links.arg, kept, room, n_ret, err);
	int fd = -1;

	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < opening->links.n_anchors && *n_ret < room; i++)
		if (opening->links.anchor(opening->links.arg, i, &fd, NULL) == HI_OK)
			kept[(*n_ret)++] = fd;
	return opening->links.check ? opening->links.check(opening->links.arg, err)
				    : HI_OK;
}

_Noreturn static void hold_windows(const struct hi_window_opening *opening, int inspector)
{
	int kept[4 * LINKS_MAX] = {inspector};
	struct window_answer answer = {};
	size_t n = 0;

	(void)setsid();
	hi_child_set_signals();
	answer.status = prepare_windows(
		opening, kept + 1, sizeof(kept) / sizeof(*kept) - 1, &n, &answer.error);
	hi_child_settle(name_of_windows, kept, n + 1);
	if (answer_window(inspector, &answer) && answer.status == HI_OK)
		run_windows(opening, inspector);
	/* See exit_unkilled() in probe_holder.c. */
	(void)kill(getpid(), SIGKILL);
	_exit(0);
}

/* ---- the inspector ---- */

enum hi_status hi_window_holder_take(const struct hi_probe_holder *holder,
				     unsigned timeout_ms, struct hi_event_window *ret,
				     struct hi_error *err)
{
	struct pollfd ready = {.fd = holder->socket, .events = POLLIN};
	struct window_answer answer;
	int fd = -1;

	if (poll(&ready, 1, (int)timeout_ms) <= 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "the window is open");
	if (!hi_packet_receive(holder->socket, &answer, sizeof(answer), MSG_DONTWAIT,
			       &fd))
		return hi_fail(err, HI_GONE, 0, "the process of windows was killed");
	hi_close_fd(fd);
	if (answer.status != HI_OK && err)
		*err = answer.error;
	if (answer.status == HI_OK)
		*ret = answer.window;
	return answer.status;
}

bool hi_window_holder_begin(const struct hi_probe_holder *holder,
			    const struct hi_window_request *request)
{
	return hi_packet_send(holder->socket, request, sizeof(*request), -1);
}

static enum hi_status await_windows(const struct hi_probe_holder *holder,
				    struct hi_error *err)
{
	struct hi_event_window none;
	enum hi_status status = HI_NOT_FOUND;

	for (int i = 0; i < ANSWER_TRIES && status == HI_NOT_FOUND; i++) {
		status = hi_window_holder_take(holder, ANSWER_MS, &none, err);
		if (status == HI_NOT_FOUND && holder->pidfd >= 0)
			(void)pidfd_send_signal(holder->pidfd, SIGCONT, NULL, 0);
	}
	return status == HI_NOT_FOUND
		       ? hi_fail(err, HI_TIMEOUT, 0,
				 "the probe process (%s, %d) did not answer",
				 name_of_windows, (int)holder->pid)
		       : status;
}

enum hi_status hi_window_holder_start(struct hi_probe_holder *holder,
				      const struct hi_window_opening *opening,
				      struct hi_error *err)
{
	int sockets[2];
	enum hi_status status;

	*holder = HI_PROBE_HOLDER_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return hi_fail_errno(err, "socketpair");
	holder->pid = hi_fork();
	if (holder->pid == 0) {
		close(sockets[0]);
		hold_windows(opening, sockets[1]);
	}
	close(sockets[1]);
	if (holder->pid < 0) {
		close(sockets[0]);
		*holder = HI_PROBE_HOLDER_NONE;
		return hi_fail_errno(err, "cannot fork");
	}
	holder->socket = sockets[0];
	holder->pidfd = pidfd_open(holder->pid, 0);
	status = await_windows(holder, err);
	if (status != HI_OK)
		hi_probe_holder_end(holder);
	return status;
}
