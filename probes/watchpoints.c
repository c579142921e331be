/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/watchpoints.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/vector.h"
#include "probes/watch_trial.h"

enum { WORD = 8, ATTEMPTS = 16, THREADS_MAX = 1 << 16 };
/* A process that is forked has events open until it has closed what it does not need: so
 * long their places may be taken when they are ended. */
enum { SETTLE_NS = 200000000, SETTLE_STEP_NS = 1000000 };

struct tids HI_VECTOR(pid_t);

struct watchpoint {
	uint64_t address;	   /* 0: not set */
	uint64_t hits;		   /* of events that were closed */
	struct HI_VECTOR(int) fds; /* a thread each */
};

/* The state at hi_watchpoints_hold(). Not changed until the release but for is_ended, so
 * that a fork has all of it. */
struct held {
	int *fds; /* of all watchpoints, one after the other; NULL: nothing is held */
	size_t n[HI_WATCHPOINTS_MAX];
	uint64_t hits[HI_WATCHPOINTS_MAX]; /* of events that were closed before */
	bool is_ended[HI_WATCHPOINTS_MAX]; /* since: the release closes its events */
};

struct hi_watchpoints {
	pid_t pid;
	unsigned n;
	bool cannot_inherit; /* the kernel is too old for it */
	bool is_of_code;
	uint64_t hit_ns;
	uint64_t ended_ns; /* when some were ended for the last time */
	struct tids tids;  /* that have events */
	struct watchpoint points[HI_WATCHPOINTS_MAX];
	struct held held;
};

HI_DEFINE_GUARD(struct hi_watchpoints *, hi_watchpoints_close)

/* ---- threads ---- */

static enum hi_status list_watched_threads(pid_t pid, struct tids *ret,
					   struct hi_error *err)
{
	HI_GUARD(closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];

	ret->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return hi_fail(err, HI_GONE, 0, "the target has exited");
	while (ret->count < THREADS_MAX && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    !hi_vector_push(ret, (pid_t)atoi(entry->d_name)))
			return hi_fail_memory(err, "watchpoints");
	return HI_OK;
}

static bool has_tid(const struct tids *tids, pid_t tid)
{
	for (size_t i = 0; i < tids->count; i++)
		if (tids->items[i] == tid)
			return true;
	return false;
}

/* Is each thread one of those that have events? */
static bool has_all_tids(const struct tids *watched, const struct tids *now)
{
	for (size_t i = 0; i < now->count; i++)
		/* The order of /proc is that of the list. */
		if ((i >= watched->count || watched->items[i] != now->items[i]) &&
		    !has_tid(watched, now->items[i]))
			return false;
	return true;
}

/* ---- events ---- */

static enum hi_status fail_refused_watchpoint(pid_t tid, uint64_t address,
					      struct hi_error *err)
{
	int error = errno;

	switch (error) {
	case EACCES:
	case EPERM:
		(void)hi_fail(err, HI_CANNOT_ATTACH, 0,
			      "watchpoints need CAP_PERFMON: %s", strerror(error));
		if (err)
			err->os_errno = error;
		return HI_CANNOT_ATTACH;
	case ESRCH:
		return hi_fail(err, HI_GONE, 0, "the target has exited");
	case ENOSPC:
		return hi_fail(err, HI_LIMIT, 0,
			       "the hardware watchpoints of thread %d are taken (a "
			       "processor has 4; a debugger or perf may use them)",
			       (int)tid);
	case EMFILE:
	case ENFILE:
		return hi_fail(err, HI_LIMIT, 0,
			       "too many open files for watchpoints in all threads "
			       "(ulimit -n)");
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "this processor, or its virtual machine, has no hardware "
			       "watchpoints: %s",
			       strerror(error));
	case EINVAL:
		return hi_fail(err, HI_USAGE, 0, "no watchpoint can be at 0x%llx",
			       (unsigned long long)address);
	default:
		return hi_fail_errno(err, "perf_event_open of a watchpoint");
	}
}

static int try_watchpoint(const struct hi_watchpoints *w, uint64_t address, pid_t tid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = w->is_of_code ? HW_BREAKPOINT_X
								: HW_BREAKPOINT_RW,
				       .bp_addr = address,
				       .bp_len = HW_BREAKPOINT_LEN_8,
				       .inherit = !w->cannot_inherit,
				       .inherit_thread = !w->cannot_inherit,
				       .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static enum hi_status open_watchpoint(struct hi_watchpoints *w, struct watchpoint *point,
				      pid_t tid, struct hi_error *err)
{
	int fd = try_watchpoint(w, point->address, tid);

	/* Threads that inherit, but not processes: Linux 5.13. */
	if (fd < 0 && errno == EINVAL && !w->cannot_inherit) {
		w->cannot_inherit = true;
		fd = try_watchpoint(w, point->address, tid);
		w->cannot_inherit = fd >= 0;
	}
	if (fd < 0)
		return fail_refused_watchpoint(tid, point->address, err);
	if (hi_vector_push(&point->fds, fd))
		return HI_OK;
	close(fd);
	return hi_fail_memory(err, "watchpoints");
}

static uint64_t read_hits(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* Events that are held stay open, and cost nothing any more. */
static void unset_watchpoint(struct hi_watchpoints *w, unsigned i)
{
	struct watchpoint *point = &w->points[i];
	const bool is_held = w->held.fds && w->held.n[i] && !w->held.is_ended[i];

	for (size_t k = 0; k < point->fds.count; k++) {
		if (is_held)
			(void)ioctl(point->fds.items[k], PERF_EVENT_IOC_DISABLE, 0);
		point->hits += read_hits(point->fds.items[k]);
		if (!is_held)
			close(point->fds.items[k]);
	}
	point->fds.count = 0;
	w->held.is_ended[i] |= is_held;
}

static void unset_watchpoints(struct hi_watchpoints *w)
{
	for (unsigned i = 0; i < w->n; i++)
		unset_watchpoint(w, i);
}

static enum hi_status watch_thread(struct hi_watchpoints *w, pid_t tid,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (unsigned i = 0; i < w->n && status == HI_OK; i++)
		if (w->points[i].address)
			status = open_watchpoint(w, &w->points[i], tid, err);
	return status == HI_GONE ? HI_OK : status; /* it has ended */
}

static size_t count_wanted(const struct hi_watchpoints *w)
{
	size_t n = 0;

	for (unsigned i = 0; i < w->n; i++)
		n += w->points[i].address != 0;
	return n;
}

/* The rest of the program needs some, too: half of them. */
static enum hi_status check_open_files(const struct hi_watchpoints *w,
				       struct hi_error *err)
{
	size_t wanted = w->tids.count * count_wanted(w);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || wanted <= limit.rlim_cur / 2)
		return HI_OK;
	return hi_fail(err, HI_LIMIT, 0,
		       "%zu threads take %zu open files for watchpoints: more than half "
		       "of %llu (ulimit -n)",
		       w->tids.count, wanted, (unsigned long long)limit.rlim_cur);
}

/* *stable_ret: no thread has appeared meanwhile. */
static enum hi_status watch_threads(struct hi_watchpoints *w, bool *stable_ret,
				    struct hi_error *err)
{
	struct tids now = {};
	enum hi_status status = list_watched_threads(w->pid, &w->tids, err);

	if (status == HI_OK)
		status = check_open_files(w, err);
	for (size_t i = 0; i < w->tids.count && status == HI_OK; i++)
		status = watch_thread(w, w->tids.items[i], err);
	if (status == HI_OK)
		status = list_watched_threads(w->pid, &now, err);
	*stable_ret = has_all_tids(&w->tids, &now);
	hi_vector_free(&now);
	return status;
}

/* Has some thread a watchpoint, if one is wanted? */
static bool are_some_set(const struct hi_watchpoints *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->points[i].fds.count)
			return true;
	return count_wanted(w) == 0;
}

/* The hits of an attempt do not count: the next one has none of its threads. */
static void begin_attempt(struct hi_watchpoints *w, const uint64_t *addresses)
{
	unset_watchpoints(w);
	for (unsigned i = 0; i < w->n; i++) {
		w->points[i].address = addresses[i];
		w->points[i].hits = 0;
	}
}

static enum hi_status attempt_to_set(struct hi_watchpoints *w, const uint64_t *addresses,
				     struct hi_error *err)
{
	enum hi_status status = HI_OK;
	bool stable = false;

	for (unsigned i = 0; i < ATTEMPTS && status == HI_OK && !stable; i++) {
		begin_attempt(w, addresses);
		status = watch_threads(w, &stable, err);
	}
	return status;
}

/* Watchpoint i is ended now, if it is set. */
static void note_ended(struct hi_watchpoints *w, unsigned i)
{
	if (w->points[i].fds.count)
		w->ended_ns = hi_clock_ns();
}

enum hi_status hi_watchpoints_set(struct hi_watchpoints *w, const uint64_t *addresses,
				  struct hi_error *err)
{
	enum hi_status status;

	for (unsigned i = 0; i < w->n; i++)
		if ((addresses[i] % WORD && !w->is_of_code) || addresses[i] >> 63)
			return hi_fail(err, HI_USAGE, 0,
				       "no watchpoint can be at 0x%llx: not a word of "
				       "the program",
				       (unsigned long long)addresses[i]);
	for (unsigned i = 0; i < w->n; i++)
		note_ended(w, i);
	status = attempt_to_set(w, addresses, err);
	while (status == HI_LIMIT && w->ended_ns &&
	       hi_clock_ns() - w->ended_ns < SETTLE_NS) {
		hi_clock_pause_ns(SETTLE_STEP_NS);
		status = attempt_to_set(w, addresses, err);
	}
	if (status == HI_OK && !are_some_set(w))
		status = hi_fail(err, HI_GONE, 0, "the target has exited");
	if (status != HI_OK)
		unset_watchpoints(w);
	return status;
}

void hi_watchpoints_end(struct hi_watchpoints *w, unsigned i)
{
	note_ended(w, i);
	unset_watchpoint(w, i);
	w->points[i].address = 0;
}

uint64_t hi_watchpoints_hits(const struct hi_watchpoints *w, unsigned i)
{
	const struct watchpoint *point = &w->points[i];
	uint64_t hits = point->hits;

	for (size_t k = 0; k < point->fds.count; k++)
		hits += read_hits(point->fds.items[k]);
	return hits;
}

/* ---- events that are held ---- */

enum hi_status hi_watchpoints_hold(struct hi_watchpoints *w, const int **fds_ret,
				   size_t *n_ret, struct hi_error *err)
{
	struct held held = {};
	size_t n = 0;

	for (unsigned i = 0; i < w->n; i++)
		n += w->points[i].fds.count;
	held.fds = hi_calloc(n + 1, sizeof(*held.fds));
	if (!held.fds)
		return hi_fail_memory(err, "watchpoints");
	*fds_ret = held.fds;
	*n_ret = n;
	n = 0;
	for (unsigned i = 0; i < w->n; i++) {
		const struct watchpoint *point = &w->points[i];

		held.n[i] = point->fds.count;
		held.hits[i] = point->hits;
		for (size_t k = 0; k < held.n[i]; k++)
			held.fds[n++] = point->fds.items[k];
	}
	w->held = held;
	return HI_OK;
}

void hi_watchpoints_release(struct hi_watchpoints *w)
{
	size_t first = 0;

	for (unsigned i = 0; w->held.fds && i < w->n; first += w->held.n[i++]) {
		if (!w->held.is_ended[i])
			continue;
		for (size_t k = 0; k < w->held.n[i]; k++)
			close(w->held.fds[first + k]);
		w->ended_ns = hi_clock_ns();
	}
	free(w->held.fds);
	w->held = (struct held){};
}

bool hi_watchpoints_take_held(struct hi_watchpoints *w, unsigned i, uint64_t *ret)
{
	const struct held *held = &w->held;
	uint64_t hits = held->hits[i], count;
	bool is_known = held->fds && held->n[i];
	size_t first = 0;

	for (unsigned k = 0; k < i; k++)
		first += held->n[k];
	for (size_t k = 0; is_known && k < held->n[i]; k++) {
		is_known = read(held->fds[first + k], &count, sizeof(count)) ==
			   sizeof(count);
		hits += is_known ? count : 0;
	}
	for (size_t k = 0; held->fds && k < held->n[i]; k++)
		close(held->fds[first + k]);
	*ret = hits;
	return is_known;
}

uint64_t hi_watchpoints_hit_ns(const struct hi_watchpoints *w)
{
	return w->hit_ns;
}

/* ---- open and close ---- */

static enum hi_status make_watchpoints(pid_t pid, unsigned n, struct hi_watchpoints **ret,
				       struct hi_error *err)
{
	*ret = hi_calloc(1, sizeof(**ret));
	if (!*ret)
		return hi_fail_memory(err, "watchpoints");
	(*ret)->pid = pid;
	(*ret)->n = n;
	return HI_OK;
}

static enum hi_status set_in_trial(struct hi_watchpoints *w,
				   const struct hi_watch_trial *trial,
				   struct hi_error *err)
{
	uint64_t addresses[HI_WATCHPOINTS_MAX];

	for (unsigned i = 0; i < w->n; i++)
		addresses[i] = hi_watch_trial_word(trial, i);
	return hi_watchpoints_set(w, addresses, err);
}

static enum hi_status check_trial_hits(const struct hi_watchpoints *w,
				       struct hi_error *err)
{
	for (unsigned i = 0; i < w->n; i++) {
		uint64_t hits = hi_watchpoints_hits(w, i);

		if (hits != HI_WATCH_TRIAL_HITS)
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "hardware watchpoints do not count here: %llu of "
				       "%d accesses in a trial (of a virtual machine?)",
				       (unsigned long long)hits, HI_WATCH_TRIAL_HITS);
	}
	return HI_OK;
}

static enum hi_status try_watchpoints(unsigned n, uint64_t *hit_ns_ret,
				      struct hi_error *err)
{
	HI_GUARD(hi_watchpoints_close) struct hi_watchpoints *w = NULL;
	struct hi_watch_trial trial;
	uint64_t took_ns = 0;
	enum hi_status status = hi_watch_trial_start(&trial, n, err);

	if (status == HI_OK)
		status = make_watchpoints(trial.pid, n, &w, err);
	if (status == HI_OK)
		status = set_in_trial(w, &trial, err);
	if (status == HI_OK)
		status = hi_watch_trial_run(&trial, &took_ns, err);
	if (status == HI_OK)
		status = check_trial_hits(w, err);
	hi_watch_trial_end(&trial);
	*hit_ns_ret = took_ns / (n * HI_WATCH_TRIAL_HITS) + 1;
	return status;
}

enum hi_status hi_watchpoints_open(pid_t pid, unsigned n, struct hi_watchpoints **ret,
				   struct hi_error *err)
{
	uint64_t hit_ns;
	enum hi_status status;

	if (!n || n > HI_WATCHPOINTS_MAX)
		return hi_fail(err, HI_USAGE, 0,
			       "%u watchpoints: a processor has 1 to %d for a thread", n,
			       HI_WATCHPOINTS_MAX);
	status = try_watchpoints(n, &hit_ns, err);
	if (status == HI_OK)
		status = make_watchpoints(pid, n, ret, err);
	if (status == HI_OK)
		(*ret)->hit_ns = hit_ns;
	return status;
}

enum hi_status hi_watchpoints_open_code(pid_t pid, unsigned n,
					struct hi_watchpoints **ret, struct hi_error *err)
{
	enum hi_status status = hi_watchpoints_open(pid, n, ret, err);

	if (status == HI_OK)
		(*ret)->is_of_code = true;
	return status;
}

void hi_watchpoints_close(struct hi_watchpoints *w)
{
	if (!w)
		return;
	hi_watchpoints_release(w);
	unset_watchpoints(w);
	for (unsigned i = 0; i < w->n; i++)
		hi_vector_free(&w->points[i].fds);
	hi_vector_free(&w->tids);
	free(w);
}
