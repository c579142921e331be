/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/search.h"
#include "attach/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define PAGE 4096u
#define MAX_THREADS 8u
#define N_STREAMS 16u
#define MAX_WINDOW 32u /* blocks: a MiB */
#define MAX_RETRIES 200u
#define RETRY_US 500

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* linux/userfaultfd.h since 5.11 */
#endif

/*
 * Note [Blocks]
 *
 * The area is cut into blocks of HI_PAGER_BLOCK bytes at whole multiples of it. The first
 * touch of a missing page stops the thread that touches; a thread of the pager is
 * notified and fills the whole block, or several. A block is EMPTY, FILLING (by one
 * thread) or FULL; the lock guards the states, not the filling.
 *
 *	a fault in		the pager
 *	an EMPTY block		fills it; each UFFDIO_COPY wakes the threads that wait there
 *	a FILLING block		does nothing: the thread that fills will wake the other
 *	a FULL block		wakes the thread: it came while the block was being filled
 *	a page of no range	gives a page of zeros, whatever the block's state
 *
 * Doing nothing in a FILLING block loses no wake-up: a thread enters the kernel's queue
 * before it looks a last time whether its page is there, and the filler puts the page
 * there before it wakes the queue.
 *
 * A filled area (is_filled) begins with FULL blocks; hi_pager_give_back() empties them.
 *
 * Other FULL blocks are given back in the order in which they came, under the lock, so that
 * no thread fills what is being dropped. A thread that was woken and finds its page gone
 * again faults again; with a MiB or more in memory that is rare.
 *
 * Note [Read-ahead]
 *
 * Passes over the heap go from block to block, and walks along pointers jump. A large
 * block makes each jump expensive (and drops what is needed next), a small one makes each
 * pass slow. So blocks are small, and a fault just after the blocks that were last read
 * for an earlier one fills twice as many as that did, as long as they are EMPTY: the last
 * N_STREAMS places where reading ended are kept.
 *
 * Memory that cannot be read becomes zeros, so that no thread waits for ever, and is
 * counted: the owner of the pager must check the count before it uses results.
 */
enum state { EMPTY, FILLING, FULL };

struct worker {
	struct hi_pager *pager;
	pthread_t thread;
	unsigned char *buffer; /* MAX_WINDOW blocks */
};

struct stream {
	size_t next;	 /* the block after the last one that was read */
	unsigned window; /* blocks that were; 0: not in use */
};

/* Blocks [block, block+count) that a worker fills. */
struct block_run {
	size_t block;
	unsigned count;
	enum state was; /* of the first; not EMPTY: nothing is claimed */
};

struct hi_pager {
	struct hi_pager_request request;
	int uffd, stop_fd;
	struct worker workers[MAX_THREADS];
	unsigned n_workers;
	uint64_t first; /* number of the first block: host address / block */
	size_t n_blocks;
	pthread_mutex_t lock;
	uint8_t *states;     /* n_blocks */
	uint32_t *in_memory; /* n_blocks: bytes */
	uint32_t *queue;     /* n_blocks: FULL ones, a ring */
	size_t head, queued;
	struct stream streams[N_STREAMS];
	unsigned next_stream;	/* to be used anew */
	unsigned max_window;	/* what all workers fill at once is half a budget */
	uint64_t total;		/* bytes of all ranges */
	bool dropped_some;	/* a block was given back */
	bool has_reported_load; /* all_loaded was called */
	struct hi_pager_stats stats;
};

/* ---- the kernel's side ---- */

static void wake_faulting_threads(const struct hi_pager *pager, uint64_t start,
				  uint64_t size)
{
	struct uffdio_range range = {start, size};

	(void)ioctl(pager->uffd, UFFDIO_WAKE, &range);
}

/* False: the page could not be given (EEXIST: it is there). */
static bool give_zeros(const struct hi_pager *pager, uint64_t page)
{
	struct uffdio_zeropage zero = {.range = {page, PAGE}};

	for (unsigned i = 0; i < MAX_RETRIES; i++) {
		if (ioctl(pager->uffd, UFFDIO_ZEROPAGE, &zero) == 0)
			return true;
		if (errno == EEXIST) {
			wake_faulting_threads(pager, page, PAGE);
			return true;
		}
		if (errno != EAGAIN && errno != ENOMEM)
			return false;
		usleep(RETRY_US);
	}
	return false;
}

/* Copies and wakes; returns what was placed, from the beginning on. */
static uint64_t place_bytes(const struct hi_pager *pager, uint64_t to,
			    const unsigned char *from, uint64_t size)
{
	uint64_t done = 0;

	for (unsigned tries = 0; done < size && tries < MAX_RETRIES;) {
		struct uffdio_copy copy = {.dst = to + done,
					   .src = (uintptr_t)from + done,
					   .len = size - done};

		if (ioctl(pager->uffd, UFFDIO_COPY, &copy) == 0)
			return size;
		if (copy.copy > 0) {
			done += (uint64_t)copy.copy;
			tries = 0;
		} else if (errno == EEXIST) {
			wake_faulting_threads(pager, to + done, PAGE);
			done += PAGE;
		} else if (errno == EAGAIN || errno == ENOMEM) {
			tries++;
			usleep(RETRY_US); /* another thread may give memory back */
		} else {
			break;
		}
	}
	return done;
}

/* ---- blocks ---- */

static uint64_t block_start(const struct hi_pager *pager, size_t block)
{
	return (pager->first + block) * HI_PAGER_BLOCK;
}

/* The first range that ends above host. */
static size_t range_above(const struct hi_pager *pager, uint64_t host)
{
	const struct hi_pager_range *ranges = pager->request.ranges;

	return hi_search(i, pager->request.n_ranges,
			 (uintptr_t)ranges[i].host + ranges[i].size <= host);
}

static bool is_in_range(const struct hi_pager *pager, uint64_t host)
{
	size_t i = range_above(pager, host);

	return i < pager->request.n_ranges &&
	       (uintptr_t)pager->request.ranges[i].host <= host;
}

/* Blocks [first, end) have no memory any more. The lock is held. */
static void empty_blocks(const struct hi_pager *pager, size_t first, size_t end)
{
	uint64_t from = block_start(pager, first), to = block_start(pager, end);
	uint64_t area = (uintptr_t)pager->request.area;

	from = from < area ? area : from;
	to = to > area + pager->request.size ? area + pager->request.size : to;
	(void)madvise(pager->request.area + (from - area), to - from, MADV_DONTNEED);
}

/* The oldest ones, until `more` bytes fit. The lock is held. */
static void drop_old_blocks(struct hi_pager *pager, uint64_t more)
{
	while (pager->queued && pager->stats.in_memory + more > pager->request.budget) {
		uint32_t block = pager->queue[pager->head];

		pager->head = (pager->head + 1) % pager->n_blocks;
		pager->queued--;
		empty_blocks(pager, block, block + 1);
		pager->stats.in_memory -= pager->in_memory[block];
		pager->in_memory[block] = 0;
		pager->states[block] = EMPTY;
		pager->dropped_some = true;
	}
}

/* One stretch of a block: read, then placed; what fails is zeros. */
static uint64_t fill_stretch(struct worker *worker, uint64_t host, uint64_t addr,
			     uint64_t size)
{
	struct hi_pager *pager = worker->pager;
	uint64_t lost = 0;

	for (uint64_t at = 0; at < size;) {
		size_t got = pager->request.read(pager->request.arg, addr + at,
						 worker->buffer, size - at);
		uint64_t placed =
			place_bytes(pager, host + at, worker->buffer, got / PAGE * PAGE);

		at += placed;
		if (at < size) {
			(void)give_zeros(pager, host + at);
			at += PAGE;
			lost += PAGE;
		}
	}
	return lost;
}

static uint64_t bytes_of_block(const struct hi_pager *pager, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = range_above(pager, start); i < pager->request.n_ranges; i++) {
		const struct hi_pager_range *range = &pager->request.ranges[i];
		uint64_t from = (uintptr_t)range->host, to = from + range->size;

		if (from >= end)
			break;
		sum += (to < end ? to : end) - (from > start ? from : start);
	}
	return sum;
}

static uint64_t fill_blocks(struct worker *worker, uint64_t start, uint64_t end)
{
	const struct hi_pager *pager = worker->pager;
	uint64_t lost = 0;

	for (size_t i = range_above(pager, start); i < pager->request.n_ranges; i++) {
		const struct hi_pager_range *range = &pager->request.ranges[i];
		uint64_t from = (uintptr_t)range->host, to = from + range->size, skip;

		if (from >= end)
			break;
		skip = from < start ? start - from : 0;
		to = to < end ? to : end;
		lost += fill_stretch(worker, from + skip, range->addr + skip,
				     to - from - skip);
	}
	return lost;
}

/* FILLING becomes FULL. True: all_loaded has to be called now. */
static bool finish_blocks(struct hi_pager *pager, const struct block_run *c,
			  uint64_t lost)
{
	bool is_all_loaded;

	pthread_mutex_lock(&pager->lock);
	for (size_t block = c->block; block < c->block + c->count; block++) {
		size_t at = (pager->head + pager->queued++) % pager->n_blocks;

		pager->states[block] = FULL;
		pager->queue[at] = (uint32_t)block;
		pager->stats.loaded += pager->in_memory[block];
	}
	pager->stats.lost += lost;
	is_all_loaded = !pager->has_reported_load && !pager->dropped_some &&
			pager->stats.loaded == pager->total && pager->request.all_loaded;
	pager->has_reported_load |= is_all_loaded;
	pthread_mutex_unlock(&pager->lock);
	return is_all_loaded;
}

/* How many blocks a fault in this one is to fill: Note [Read-ahead]. */
static struct stream *stream_at(struct hi_pager *pager, size_t block)
{
	struct stream *stream;

	for (unsigned i = 0; i < N_STREAMS; i++) {
		stream = &pager->streams[i];
		if (!stream->window || stream->next != block)
			continue;
		if (stream->window * 2 <= pager->max_window)
			stream->window *= 2;
		return stream;
	}
	stream = &pager->streams[pager->next_stream++ % N_STREAMS];
	stream->window = 1;
	return stream;
}

static void take_block(struct hi_pager *pager, size_t block)
{
	uint64_t start = block_start(pager, block);
	uint64_t bytes = bytes_of_block(pager, start, start + HI_PAGER_BLOCK);

	drop_old_blocks(pager, bytes);
	pager->states[block] = FILLING;
	pager->in_memory[block] = (uint32_t)bytes;
	pager->stats.in_memory += bytes;
	if (pager->stats.in_memory > pager->stats.peak)
		pager->stats.peak = pager->stats.in_memory;
}

static struct block_run claim_blocks(struct hi_pager *pager, size_t block)
{
	struct block_run c = {.block = block};
	struct stream *stream;

	pthread_mutex_lock(&pager->lock);
	c.was = pager->states[block];
	if (c.was == EMPTY) {
		stream = stream_at(pager, block);
		while (c.count < stream->window && block + c.count < pager->n_blocks &&
		       pager->states[block + c.count] == EMPTY)
			take_block(pager, block + c.count++);
		stream->next = block + c.count;
	}
	pthread_mutex_unlock(&pager->lock);
	return c;
}

/*
 * The page is present by now. If it could not be placed (no memory), the waiting thread
 * would fault for ever. Under the lock: the block must not be dropped meanwhile.
 */
static void wake_or_give_up(struct hi_pager *pager, size_t block, uint64_t page)
{
	struct uffdio_zeropage zero = {.range = {page, PAGE}};

	pthread_mutex_lock(&pager->lock);
	if (pager->states[block] == FULL &&
	    ioctl(pager->uffd, UFFDIO_ZEROPAGE, &zero) == 0)
		pager->stats.lost += PAGE;
	pthread_mutex_unlock(&pager->lock);
	wake_faulting_threads(pager, page, PAGE);
}

/* See Note [Blocks]. */
static void serve_fault(struct worker *worker, uint64_t host)
{
	struct hi_pager *pager = worker->pager;
	uint64_t page = host / PAGE * PAGE, start;
	size_t block = host / HI_PAGER_BLOCK - pager->first;
	struct block_run c;

	if (block >= pager->n_blocks)
		return;
	if (!is_in_range(pager, page)) {
		(void)give_zeros(pager, page);
		return;
	}
	c = claim_blocks(pager, block);
	switch (c.was) {
	case EMPTY:
		start = block_start(pager, block);
		if (finish_blocks(
			    pager, &c,
			    fill_blocks(worker, start,
					start + c.count * (uint64_t)HI_PAGER_BLOCK)))
			pager->request.all_loaded(pager->request.arg);
		break;
	case FILLING:
		break;
	case FULL:
		wake_or_give_up(pager, block, page);
		break;
	}
}

static void *run_pager_worker(void *arg)
{
	struct worker *worker = arg;
	struct pollfd fds[] = {{.fd = worker->pager->uffd, .events = POLLIN},
			       {.fd = worker->pager->stop_fd, .events = POLLIN}};

	for (;;) {
		struct uffd_msg message;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		/* Another worker may have been faster. */
		if (read(fds[0].fd, &message, sizeof(message)) == sizeof(message) &&
		    message.event == UFFD_EVENT_PAGEFAULT)
			serve_fault(worker, message.arg.pagefault.address);
	}
}

/* ---- its life ---- */

static enum hi_status open_uffd(struct hi_pager *pager, struct hi_error *err)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {
		.range = {(uintptr_t)pager->request.area, pager->request.size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	pager->uffd = (int)syscall(SYS_userfaultfd,
				   O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (pager->uffd < 0 || ioctl(pager->uffd, UFFDIO_API, &api) != 0)
		return hi_fail(err, HI_UNSUPPORTED, 0, "userfaultfd: %s",
			       strerror(errno));
	/* A single page must not bring in 511 others. */
	(void)madvise(pager->request.area, pager->request.size, MADV_NOHUGEPAGE);
	if (ioctl(pager->uffd, UFFDIO_REGISTER, &area) != 0)
		return hi_fail(err, HI_UNSUPPORTED, 0, "userfaultfd: register: %s",
			       strerror(errno));
	pager->stop_fd = eventfd(0, EFD_CLOEXEC);
	return pager->stop_fd < 0 ? hi_fail_errno(err, "eventfd") : HI_OK;
}

static enum hi_status make_tables(struct hi_pager *pager, struct hi_error *err)
{
	uint64_t area = (uintptr_t)pager->request.area;

	pager->first = area / HI_PAGER_BLOCK;
	pager->n_blocks =
		(area + pager->request.size - 1) / HI_PAGER_BLOCK - pager->first + 1;
	if (pager->n_blocks > UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0, "the image has over 2^32 blocks");
	pager->states = hi_calloc(pager->n_blocks, sizeof(*pager->states));
	pager->in_memory = hi_calloc(pager->n_blocks, sizeof(*pager->in_memory));
	pager->queue = hi_calloc(pager->n_blocks, sizeof(*pager->queue));
	if (!pager->states || !pager->in_memory || !pager->queue)
		return hi_fail_memory(err, "blocks of the image");
	for (size_t i = 0; i < pager->request.n_ranges; i++)
		pager->total += pager->request.ranges[i].size;
	if (pager->request.is_filled)
		memset(pager->states, FULL, pager->n_blocks);
	return HI_OK;
}

/* The workers block all signals. */
static enum hi_status start_workers(struct hi_pager *pager, unsigned n,
				    struct hi_error *err)
{
	sigset_t all, old;

	uint64_t share;

	n = n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
	share = pager->request.budget / HI_PAGER_BLOCK / n / 2;
	pager->max_window = share < MAX_WINDOW ? (unsigned)share : MAX_WINDOW;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < n; i++) {
		struct worker *worker = &pager->workers[i];

		worker->pager = pager;
		worker->buffer = hi_alloc(MAX_WINDOW * HI_PAGER_BLOCK);
		if (!worker->buffer || pthread_create(&worker->thread, NULL,
						      run_pager_worker, worker) != 0) {
			free(hi_take(worker->buffer));
			break;
		}
		pager->n_workers++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pager->n_workers ? HI_OK : hi_fail_memory(err, "threads of the pager");
}

enum hi_status hi_pager_create(const struct hi_pager_request *request,
			       struct hi_pager **ret, struct hi_error *err)
{
	struct hi_pager *pager = hi_calloc(1, sizeof(*pager));
	enum hi_status status;

	if (!pager)
		return hi_fail_memory(err, "pager");
	pager->request = *request;
	pager->uffd = pager->stop_fd = -1;
	pthread_mutex_init(&pager->lock, NULL);
	if (pager->request.budget < HI_PAGER_LEAST)
		pager->request.budget = HI_PAGER_LEAST;
	status = make_tables(pager, err);
	if (status == HI_OK)
		status = open_uffd(pager, err);
	if (status == HI_OK)
		status = start_workers(pager, request->threads, err);
	if (status != HI_OK) {
		hi_pager_destroy(pager);
		return status;
	}
	*ret = pager;
	return HI_OK;
}

void hi_pager_give_back(struct hi_pager *pager, const unsigned char *host, size_t size)
{
	size_t first = (uintptr_t)host / HI_PAGER_BLOCK - pager->first;
	size_t end = ((uintptr_t)host + size - 1) / HI_PAGER_BLOCK - pager->first + 1;

	pthread_mutex_lock(&pager->lock);
	memset(pager->states + first, EMPTY, end - first);
	empty_blocks(pager, first, end);
	pthread_mutex_unlock(&pager->lock);
}

struct hi_pager_stats hi_pager_stats(struct hi_pager *pager)
{
	struct hi_pager_stats stats;

	pthread_mutex_lock(&pager->lock);
	stats = pager->stats;
	pthread_mutex_unlock(&pager->lock);
	return stats;
}

static void free_pager(struct hi_pager *pager)
{
	for (unsigned i = 0; i < pager->n_workers; i++)
		free(pager->workers[i].buffer);
	if (pager->uffd >= 0)
		close(pager->uffd); /* the area is ordinary memory again */
	if (pager->stop_fd >= 0)
		close(pager->stop_fd);
	free(pager->states);
	free(pager->in_memory);
	free(pager->queue);
	free(pager);
}

void hi_pager_forget(struct hi_pager *pager)
{
	if (pager)
		free_pager(pager);
}

void hi_pager_destroy(struct hi_pager *pager)
{
	uint64_t one = 1;

	if (!pager)
		return;
	if (pager->n_workers && write(pager->stop_fd, &one, sizeof(one)) != sizeof(one))
		abort(); /* no worker would end */
	for (unsigned i = 0; i < pager->n_workers; i++)
		pthread_join(pager->workers[i].thread, NULL);
	pthread_mutex_destroy(&pager->lock);
	free_pager(pager);
}
