/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/workers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "server/error_page.h"
#include "server/worker.h"

/* How long a process that has closed its socket may take to say how it ended. */
#define END_NS (2 * HI_NS_PER_S)
/* Until another process is tried, when one could not be started. */
#define RETRY_NS HI_NS_PER_S

struct waiting {
	struct waiting *next;
	uint64_t since_ns;
	bool is_again;
	char address[];
};

struct hi_workers {
	struct hi_workers_options options;
	struct hi_worker items[HI_WORKERS_MOST];
	struct waiting *first; /* the oldest */
	size_t n_waiting;
	uint64_t not_before_ns; /* after a process could not be started */
	struct hi_error start_error;
};

enum hi_status hi_workers_open(const struct hi_workers_options *options,
			       struct hi_workers **ret, struct hi_error *err)
{
	struct hi_workers *w = hi_calloc(1, sizeof(*w));

	if (!w)
		return hi_fail_memory(err, "page processes");
	w->options = *options;
	if (w->options.most > HI_WORKERS_MOST)
		w->options.most = HI_WORKERS_MOST;
	for (size_t i = 0; i < HI_WORKERS_MOST; i++)
		w->items[i].pidfd = w->items[i].socket = -1;
	*ret = w;
	return HI_OK;
}

/* ---- processes ---- */

static bool is_running(const struct hi_worker *worker)
{
	return worker->pid && worker->socket >= 0;
}

static size_t count_workers(const struct hi_workers *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->options.most; i++)
		n += w->items[i].pid != 0;
	return n;
}

static bool start_worker(struct hi_workers *w)
{
	for (size_t i = 0; i < w->options.most; i++)
		if (!w->items[i].pid)
			return hi_worker_start(&w->items[i], w->options.run,
					       w->options.run_arg, w->options.base,
					       &w->start_error) == HI_OK;
	return false;
}

void hi_workers_prepare(struct hi_workers *w)
{
	if (count_workers(w) == 0)
		(void)start_worker(w);
}

/* ---- requests that wait ---- */

static struct waiting *take_first_request(struct hi_workers *w)
{
	struct waiting *first = w->first;

	w->first = first->next;
	w->n_waiting--;
	return first;
}

static bool is_asked(const struct hi_workers *w, const char *address)
{
	for (size_t i = 0; i < w->options.most; i++)
		if (w->items[i].address && strcmp(w->items[i].address, address) == 0)
			return true;
	for (const struct waiting *r = w->first; r; r = r->next)
		if (strcmp(r->address, address) == 0)
			return true;
	return false;
}

static bool put_request(struct hi_workers *w, const char *address, struct waiting **ret)
{
	size_t n = strlen(address) + 1;
	struct waiting *request = hi_calloc(1, sizeof(*request) + n), **end = &w->first;

	if (!request)
		return false;
	memcpy(request->address, address, n);
	request->since_ns = hi_clock_ns();
	while (*end)
		end = &(*end)->next;
	*end = request;
	w->n_waiting++;
	*ret = request;
	return true;
}

enum hi_status hi_workers_ask(struct hi_workers *w, const char *address,
			      struct hi_error *err)
{
	struct waiting *request;

	if (is_asked(w, address))
		return HI_OK;
	if (w->n_waiting >= w->options.most_waiting)
		return hi_fail(err, HI_LIMIT, 0, "%zu pages are waited for already",
			       w->n_waiting);
	return put_request(w, address, &request) ? HI_OK : hi_fail_memory(err, "request");
}
void hi_workers_restart(struct hi_workers *w)
{
	for (size_t i = 0; i < w->options.most; i++) {
		HI_GUARD(free) char *address = hi_take(w->items[i].address);

		hi_worker_end(&w->items[i]);
		if (address && hi_workers_ask(w, address, NULL) != HI_OK)
			w->options.done(w->options.done_arg, address, NULL);
	}
}

/* ---- how requests end ---- */

/* answer becomes the callee's, as far as it is concerned. */
static void finish_request(struct hi_workers *w, struct hi_worker *worker,
			   struct hi_answer *answer)
{
	HI_GUARD(free) char *address = hi_take(worker->address);

	hi_worker_forget(worker);
	if (address)
		w->options.done(w->options.done_arg, address, answer);
	hi_answer_release(answer);
}

/* Explains the end of a process that was asked for a page and did not make it. */
static struct hi_answer *explain_end(const struct hi_workers *w,
				     const struct hi_worker *worker, int status)
{
	const char *base = w->options.base;
	static const char next[] = "The next request starts a new one.";
	/* The process without rights was ended by a signal: cli/pages/page_process.c. */
	int number = WIFSIGNALED(status)	 ? WTERMSIG(status)
		     : WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
						 : 0;

	if (worker->is_late)
		return hi_error_page(504, base,
				     "The page was not complete after %.3g s, so the "
				     "process that made it was ended. %s",
				     (double)w->options.limit_ns / 1e9, next);
	if (worker->is_bad)
		return hi_error_page(500, base,
				     "The process that makes the pages has sent what is "
				     "no page, or one of more than %zu MiB, and was "
				     "ended. %s",
				     w->options.most_bytes >> 20, next);
	if (number)
		return hi_error_page(500, base,
				     "The process that makes the pages was ended by "
				     "signal %d (%s) while it made this one. %s",
				     number, strsignal(number), next);
	return hi_error_page(500, base,
			     "The process that makes the pages has ended with status %d "
			     "while it made this one; the server's standard error says "
			     "why. %s",
			     WEXITSTATUS(status), next);
}

static bool was_killed(const struct hi_worker *worker, int status)
{
	return !worker->is_late && !worker->is_bad &&
	       (WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
				    : WEXITSTATUS(status) == 128 + SIGKILL);
}

/* It may have been killed before it got the request. Once: the next time it is the
 * request that makes the kernel run out of memory. */
static bool ask_again(struct hi_workers *w, struct hi_worker *worker)
{
	HI_GUARD(free) char *address = hi_take(worker->address);
	struct waiting *request;

	if (!put_request(w, address, &request)) {
		worker->address = hi_take(address);
		return false;
	}
	request->is_again = true;
	hi_worker_forget(worker);
	return true;
}

static void reap_worker(struct hi_workers *w, struct hi_worker *worker)
{
	int status = 0;

	if (!hi_worker_has_ended(worker, &status))
		return;
	if (worker->address && !worker->is_again && was_killed(worker, status) &&
	    ask_again(w, worker))
		return;
	finish_request(w, worker,
		       worker->address ? explain_end(w, worker, status) : NULL);
}

/* Its end is waited for, but not for long. */
static void expect_end(struct hi_worker *worker)
{
	close(hi_take_fd(worker->socket));
	worker->end_by_ns = hi_clock_ns() + END_NS;
	if (worker->is_bad)
		(void)kill(worker->pid, SIGKILL);
}

static void exchange_with(struct hi_workers *w, struct hi_worker *worker)
{
	bool is_last;

	switch (hi_worker_exchange(worker, w->options.most_bytes)) {
	case HI_WORKER_ANSWERED:
		is_last = worker->is_last;
		finish_request(w, worker, hi_take(worker->answer));
		worker->head_size = worker->type_size = worker->body_size = 0;
		if (is_last)
			expect_end(worker);
		return;
	case HI_WORKER_CLOSED:
		expect_end(worker);
		return;
	case HI_WORKER_WAITS:
	default:
		return;
	}
}

static void work_with(struct hi_workers *w, struct hi_worker *worker, uint64_t now)
{
	if (!worker->pid)
		return;
	if (worker->socket >= 0)
		exchange_with(w, worker);
	if (now >= worker->end_by_ns) {
		worker->is_late |= worker->socket >= 0;
		worker->end_by_ns = UINT64_MAX;
		(void)kill(worker->pid, SIGKILL);
	}
	reap_worker(w, worker);
}

/* ---- requests and processes ---- */

static struct hi_worker *find_idle(struct hi_workers *w)
{
	for (size_t i = 0; i < w->options.most; i++)
		if (is_running(&w->items[i]) && !w->items[i].address)
			return &w->items[i];
	return NULL;
}

static void fail_all_waiting(struct hi_workers *w)
{
	while (w->first) {
		HI_GUARD(free) struct waiting *request = take_first_request(w);
		struct hi_answer *answer = hi_error_page(
			503, w->options.base, "There is no process that makes pages: %s.",
			w->start_error.text);

		w->options.done(w->options.done_arg, request->address, answer);
		hi_answer_release(answer);
	}
}

static void give_request(struct hi_workers *w, struct hi_worker *worker)
{
	HI_GUARD(free) struct waiting *request = take_first_request(w);
	char *address = hi_strdup(request->address);
	struct hi_error err;

	if (address &&
	    hi_worker_ask(worker, address, w->options.limit_ns, &err) == HI_OK) {
		exchange_with(w, worker);
		return;
	}
	free(address);
	w->options.done(w->options.done_arg, request->address, NULL);
}

static bool wants_another(const struct hi_workers *w, uint64_t now)
{
	size_t n = count_workers(w);

	return w->first && n < w->options.most &&
	       (n == 0 || (now >= w->first->since_ns + w->options.patience_ns &&
			   now >= w->not_before_ns));
}

/* All but the first have a copy of what is loaded: too much to keep for nothing. */
static void end_idle_workers(struct hi_workers *w, uint64_t now)
{
	for (size_t i = w->options.most; i-- > 0 && count_workers(w) > 1;)
		if (is_running(&w->items[i]) && !w->items[i].address &&
		    now >= w->items[i].since_ns + w->options.idle_ns)
			hi_worker_end(&w->items[i]);
}

void hi_workers_work(struct hi_workers *w)
{
	uint64_t now = hi_clock_ns();
	struct hi_worker *idle;

	for (size_t i = 0; i < w->options.most; i++)
		work_with(w, &w->items[i], now);
	while (w->first && (idle = find_idle(w)))
		give_request(w, idle);
	if (wants_another(w, now)) {
		if (start_worker(w))
			give_request(w, find_idle(w));
		else if (count_workers(w) == 0)
			fail_all_waiting(w);
		else
			w->not_before_ns = now + RETRY_NS;
	}
	end_idle_workers(w, now);
}

/* ---- waiting ---- */

size_t hi_workers_poll(const struct hi_workers *w,
		       struct pollfd fds[HI_WORKERS_DESCRIPTORS])
{
	size_t n = 0;

	for (size_t i = 0; i < w->options.most; i++) {
		const struct hi_worker *worker = &w->items[i];
		bool sends = worker->sent < worker->out_size;

		if (worker->socket >= 0)
			fds[n++] = (struct pollfd){
				.fd = worker->socket,
				.events = (short)(POLLIN | (sends ? POLLOUT : 0))};
		if (worker->pidfd >= 0)
			fds[n++] = (struct pollfd){.fd = worker->pidfd, .events = POLLIN};
	}
	return n;
}

static uint64_t earlier_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t hi_workers_deadline(const struct hi_workers *w)
{
	uint64_t deadline = UINT64_MAX;
	size_t n = count_workers(w);

	for (size_t i = 0; i < w->options.most; i++) {
		const struct hi_worker *worker = &w->items[i];

		deadline = earlier_of(deadline,
				      worker->pid ? worker->end_by_ns : UINT64_MAX);
		if (n > 1 && is_running(worker) && !worker->address)
			deadline = earlier_of(deadline,
					      worker->since_ns + w->options.idle_ns);
	}
	if (w->first && n < w->options.most)
		deadline = earlier_of(
			deadline, later_of(w->first->since_ns + w->options.patience_ns,
					   w->not_before_ns));
	return deadline;
}

void hi_workers_close(struct hi_workers *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->options.most; i++)
		hi_worker_end(&w->items[i]);
	while (w->first)
		free(take_first_request(w));
	free(w);
}
