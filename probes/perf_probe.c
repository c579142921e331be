/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe without BPF: one perf event for each thread and site. Each lets one hit through
 * (PERF_EVENT_IOC_REFRESH) and signals its own thread (F_SETOWN_EX, F_SETSIG), by an
 * interrupt that the processor sends itself before the thread is back in user space.
 * Several threads may hit before the tracer disarms: each gets one signal then.
 *
 * The rings of the events show the hitting thread. A mapped ring is not inherited by a
 * fork, and an event that has let its one hit through never counts again (measured on
 * 6.18), so that events are made anew for each arming, by the tracer.
 */
#include <errno.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fork.h"
#include "base/vector.h"
#include "probes/perf_probe.h"
#include "probes/probe_holder.h"
#include "probes/probe_kind.h"
#include "probes/uprobe.h"

enum { PAGE = 4096, RING_SIZE = 2 * PAGE, EVENTS_MAX = HI_TRIGGER_MAX_FDS - 128 };

struct event {
	pid_t tid;
	uint32_t site;
	int fd;				   /* -1: it could not be made again */
	struct perf_event_mmap_page *ring; /* NULL: none */
};

struct perf_probe {
	struct hi_probe probe;
	const struct hi_target *target;
	struct HI_VECTOR(struct event) events;
	pid_t made_by;
	bool fresh; /* no event was armed yet */
	bool armed, was_hit;
	struct hi_trigger_hit hit;
	struct hi_probe_holder holder;
	struct hi_uprobe uprobes[]; /* n_sites */
};

static struct perf_probe *to_perf_probe(struct hi_trigger *trigger)
{
	return (struct perf_probe *)trigger;
}

static void map_ring(struct event *event)
{
	void *ring =
		mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);

	event->ring = ring == MAP_FAILED ? NULL : ring;
}

/* Takes the hit of this event out of the ring. */
static bool read_ring(const struct event *event, struct hi_trigger_hit *ret)
{
	const struct {
		struct perf_event_header header;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
	} * record;
	struct perf_event_mmap_page *ring = event->ring;
	uint64_t head, tail;

	if (!ring)
		return false;
	head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	tail = ring->data_tail;
	if (head == tail)
		return false;
	record = (const void *)((const char *)ring + PAGE + tail % PAGE);
	/* Only what fits before the ring's end: one hit at a time never wraps. */
	if (head - tail >= sizeof(*record) && tail % PAGE + sizeof(*record) <= PAGE &&
	    record->header.type == PERF_RECORD_SAMPLE)
		*ret = (struct hi_trigger_hit){.time_ns = record->time,
					       .pc = record->ip,
					       .tid = (pid_t)record->tid};
	else
		*ret = (struct hi_trigger_hit){.tid = event->tid};
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return true;
}

/* ---- events ---- */

static bool signal_thread(int fd, pid_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};

	return fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
	       fcntl(fd, F_SETSIG, HI_TRIGGER_SIGNAL) == 0 &&
	       fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

static void unmake_event(struct perf_probe *probe, struct event *event)
{
	if (event->ring && probe->made_by == getpid())
		munmap(event->ring, RING_SIZE);
	event->ring = NULL;
	if (event->fd < 0)
		return;
	(void)epoll_ctl(probe->probe.trigger.poll_fd, EPOLL_CTL_DEL, event->fd, NULL);
	close(event->fd);
	event->fd = -1;
}

static enum hi_status make_event(struct perf_probe *probe, struct event *event,
				 struct hi_error *err)
{
	struct perf_event_attr attr = {
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.wakeup_events = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct epoll_event readable = {.events = EPOLLIN};
	enum hi_status status =
		hi_uprobe_open(&probe->uprobes[event->site], probe->target, event->tid,
			       &attr, &event->fd, err);

	if (status != HI_OK)
		return status;
	map_ring(event);
	readable.data.fd = event->fd;
	if (event->ring && signal_thread(event->fd, event->tid) &&
	    epoll_ctl(probe->probe.trigger.poll_fd, EPOLL_CTL_ADD, event->fd,
		      &readable) == 0)
		return HI_OK;
	status = hi_fail_errno(err, "perf event of thread %d", (int)event->tid);
	unmake_event(probe, event);
	return status;
}

static enum hi_status add_event(struct perf_probe *probe, pid_t tid, uint32_t site,
				struct hi_error *err)
{
	struct event event = {.tid = tid, .site = site, .fd = -1};
	enum hi_status status;

	if (probe->events.count >= EVENTS_MAX)
		return hi_fail(err, HI_LIMIT, 0,
			       "too many threads for probes without BPF");
	status = make_event(probe, &event, err);
	if (status != HI_OK)
		return status;
	if (hi_vector_push(&probe->events, event))
		return HI_OK;
	unmake_event(probe, &event);
	return hi_fail_memory(err, "perf events");
}

/* For the next arming. Events that cannot be made again (the thread has ended) are
 * dropped. */
static void renew_events(struct perf_probe *probe)
{
	size_t kept = 0;

	for (size_t i = 0; i < probe->events.count; i++) {
		struct event event = probe->events.items[i];

		unmake_event(probe, &event);
		probe->events.items[i] = event;
	}
	probe->made_by = getpid();
	for (size_t i = 0; i < probe->events.count; i++) {
		struct event event = probe->events.items[i];

		if (make_event(probe, &event, NULL) == HI_OK)
			probe->events.items[kept++] = event;
	}
	probe->events.count = kept;
}

static bool has_thread(const struct perf_probe *probe, pid_t tid)
{
	for (size_t i = 0; i < probe->events.count; i++)
		if (probe->events.items[i].tid == tid)
			return true;
	return false;
}

static enum hi_status add_perf_thread(struct perf_probe *probe, pid_t tid,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (has_thread(probe, tid))
		return HI_OK;
	for (size_t i = 0; i < probe->probe.n_sites && status == HI_OK; i++)
		status = add_event(probe, tid, (uint32_t)i, err);
	/* It has ended in the meantime. */
	return status == HI_GONE ? HI_OK : status;
}

static enum hi_status add_perf_threads(struct perf_probe *probe, struct hi_error *err)
{
	HI_GUARD(closedir) DIR *dir = NULL;
	struct dirent *entry;
	enum hi_status status = HI_OK;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)probe->target->pid);
	dir = opendir(path);
	if (!dir)
		return hi_fail(err, HI_GONE, 0, "the target has exited");
	while (status == HI_OK && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			status = add_perf_thread(probe, (pid_t)atoi(entry->d_name), err);
	return status;
}

/* ---- the trigger, in the tracer ---- */

static size_t perf_fds(struct hi_trigger *trigger, int *fds, size_t max)
{
	struct perf_probe *probe = to_perf_probe(trigger);
	size_t n = 0;

	if (n < max)
		fds[n++] = trigger->poll_fd;
	if (n < max)
		fds[n++] = probe->holder.socket;
	for (size_t i = 0; i < probe->probe.n_sites && n < max; i++)
		fds[n++] = probe->uprobes[i].fd;
	for (size_t i = 0; i < probe->events.count && n < max; i++)
		fds[n++] = probe->events.items[i].fd;
	return n;
}

static void perf_add_thread(struct hi_trigger *trigger, pid_t tid)
{
	struct perf_probe *probe = to_perf_probe(trigger);
	size_t before = probe->events.count;

	/* A thread without a probe only misses its hits. */
	if (add_perf_thread(probe, tid, NULL) != HI_OK || !probe->armed)
		return;
	for (size_t i = before; i < probe->events.count; i++)
		ioctl(probe->events.items[i].fd, PERF_EVENT_IOC_REFRESH, 1);
}

static void perf_disarm(struct hi_trigger *trigger)
{
	struct perf_probe *probe = to_perf_probe(trigger);

	probe->armed = false;
	for (size_t i = 0; i < probe->events.count; i++)
		ioctl(probe->events.items[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void perf_arm(struct hi_trigger *trigger)
{
	struct perf_probe *probe = to_perf_probe(trigger);

	perf_disarm(trigger);
	if (!probe->fresh || probe->made_by != getpid())
		renew_events(probe);
	probe->fresh = false;
	probe->was_hit = false;
	probe->armed = true;
	for (size_t i = 0; i < probe->events.count; i++)
		ioctl(probe->events.items[i].fd, PERF_EVENT_IOC_REFRESH, 1);
}

static void look_for_hit(struct perf_probe *probe)
{
	struct hi_trigger_hit hit;

	for (size_t i = 0; i < probe->events.count && !probe->was_hit; i++)
		if (read_ring(&probe->events.items[i], &hit)) {
			probe->was_hit = true;
			probe->hit = hit;
		}
}

/*
 * An event of an exited thread stays readable (EPOLLHUP), so that no wait would sleep any
 * more. Removes those. True: some event was readable. epoll_wait() resets that, so the
 * rings have to be read again.
 */
static bool forget_exited(struct perf_probe *probe)
{
	struct epoll_event ready[64];
	int poll_fd = probe->probe.trigger.poll_fd;
	int n = epoll_wait(poll_fd, ready, sizeof(ready) / sizeof(ready[0]), 0);

	for (int i = 0; i < n; i++)
		if (ready[i].events & (EPOLLHUP | EPOLLERR))
			(void)epoll_ctl(poll_fd, EPOLL_CTL_DEL, ready[i].data.fd, NULL);
	return n > 0;
}

static bool perf_was_hit(struct hi_trigger *trigger, struct hi_trigger_hit *ret)
{
	struct perf_probe *probe = to_perf_probe(trigger);

	look_for_hit(probe);
	if (!probe->was_hit && forget_exited(probe))
		look_for_hit(probe);
	if (probe->was_hit)
		*ret = probe->hit;
	return probe->was_hit;
}

static const struct hi_trigger_ops perf_ops = {
	.fds = perf_fds,
	.add_thread = perf_add_thread,
	.arm = perf_arm,
	.disarm = perf_disarm,
	.was_hit = perf_was_hit,
};

/* ---- open and close ---- */

static uint64_t perf_hits(const struct hi_probe *probe, size_t site)
{
	(void)probe, (void)site;
	return UINT64_MAX;
}

static void perf_close(struct hi_probe *base)
{
	struct perf_probe *probe = (struct perf_probe *)base;

	for (size_t i = 0; i < probe->events.count; i++)
		unmake_event(probe, &probe->events.items[i]);
	hi_probe_holder_end(&probe->holder);
	for (size_t i = 0; i < probe->probe.n_sites; i++)
		hi_uprobe_release(&probe->uprobes[i]);
	if (base->trigger.poll_fd >= 0)
		close(base->trigger.poll_fd);
	hi_vector_free(&probe->events);
	free(probe);
}

/*
 * The events of threads are opened and closed by processes that may be killed. One event
 * per site that the holder has, and that never counts, keeps the breakpoint in place
 * meanwhile.
 */
static enum hi_status pin_place(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	const struct perf_probe *probe = arg;
	struct perf_event_attr attr = {.sample_period = 1, .disabled = 1};

	return hi_uprobe_open(&probe->uprobes[i], probe->target, 0, &attr, fd_ret, err);
}

static enum hi_status anchor_pin(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	const struct perf_probe *probe = arg;

	return hi_uprobe_anchor(&probe->uprobes[i], probe->target, fd_ret, err);
}

static enum hi_status pin_all(struct perf_probe *probe, struct hi_error *err)
{
	size_t n = probe->probe.n_sites;
	HI_GUARD(free) int *pins = hi_calloc(n, sizeof(*pins));
	const struct hi_probe_opening opening = {.open = pin_place,
						 .n = n,
						 .anchor = anchor_pin,
						 .n_anchors = n,
						 .arg = probe};
	enum hi_status status;

	if (!pins)
		return hi_fail_memory(err, "probe");
	status = hi_probe_holder_start(&probe->holder, &opening, pins, err);
	for (size_t i = 0; i < n && status == HI_OK; i++) {
		hi_fork_inherit(pins[i]);
		close(pins[i]);
	}
	return status;
}

static enum hi_status open_perf_probe(struct perf_probe *probe,
				      const struct hi_probe_sites *sites,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	probe->probe.trigger.poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (probe->probe.trigger.poll_fd < 0)
		return hi_fail_errno(err, "epoll_create1");
	for (size_t i = 0; i < sites->count && status == HI_OK; i++)
		status = hi_uprobe_prepare(probe->target, &sites->items[i],
					   &probe->uprobes[i], err);
	if (status == HI_OK)
		status = pin_all(probe, err);
	return status == HI_OK ? add_perf_threads(probe, err) : status;
}

enum hi_status hi_perf_probe_open(const struct hi_target *target,
				  const struct hi_probe_sites *sites,
				  struct hi_probe **ret, struct hi_error *err)
{
	struct perf_probe *probe =
		hi_calloc(1, sizeof(*probe) + sites->count * sizeof(struct hi_uprobe));
	enum hi_status status;

	if (!probe)
		return hi_fail_memory(err, "probe");
	probe->probe = (struct hi_probe){
		.trigger = {.ops = &perf_ops, .poll_fd = -1},
		.means = HI_PROBE_PERF,
		.n_sites = sites->count,
		.hits = perf_hits,
		.close = perf_close,
	};
	probe->target = target;
	probe->made_by = getpid();
	probe->fresh = true;
	probe->holder = HI_PROBE_HOLDER_NONE;
	for (size_t i = 0; i < sites->count; i++)
		probe->uprobes[i].fd = -1;
	status = open_perf_probe(probe, sites, err);
	if (status != HI_OK) {
		perf_close(&probe->probe);
		return status;
	}
	*ret = &probe->probe;
	return HI_OK;
}
