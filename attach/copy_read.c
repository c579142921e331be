/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/copy_internal.h"
#include "base/parallel.h"

#define MAX_IOV 256u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* linux/mman.h since 5.14 */
#endif

static void touch_pages(unsigned char *start, size_t size)
{
	if (madvise(start, size, MADV_POPULATE_WRITE) == 0)
		return;
	for (size_t at = 0; at < size; at += HI_PAGE)
		*(volatile unsigned char *)(start + at) = 0;
}

/* Pieces that are neighbours in this process's memory are touched by one call. */
static void touch_block(void *arg, size_t task, unsigned worker)
{
	const struct hi_copy *copy = arg;
	const struct hi_copy_block *block = &copy->blocks.items[task];
	const struct hi_piece *piece = &copy->pieces.items[block->first];
	unsigned char *start = piece->host, *end = piece->host;

	(void)worker;
	for (size_t i = 0; i < block->count; i++, piece++) {
		if (piece->host != end) {
			touch_pages(start, (size_t)(end - start));
			start = piece->host;
		}
		end = piece->host + piece->size;
	}
	touch_pages(start, (size_t)(end - start));
}

void hi_copy_touch(struct hi_copy *copy)
{
	hi_parallel(copy->threads, copy->blocks.count, touch_block, copy);
}

static void note_unreadable(struct hi_copy *copy, uint64_t addr, uint64_t size)
{
	pthread_mutex_lock(&copy->lock);
	if (!hi_vector_push(&copy->unreadable,
			    (struct hi_page_run){addr, addr + size, 1}))
		copy->out_of_memory = true;
	pthread_mutex_unlock(&copy->lock);
}

/*
 * Note [Two ways to read]
 *
 * process_vm_readv is up to twice as fast as /proc/PID/mem, but it pins pages, and an
 * anonymous page that is shared since a fork is copied before it is pinned (mm/gup.c:
 * gup_must_unshare). That would give the target (redis that saves, a server with forked
 * workers) a memory of its own for every page that is read from it, while it is stopped,
 * and makes the read four times slower; a copy-on-write child would be copied whole.
 * /proc/PID/mem only takes references. So shared pages are read that way. A child's pages
 * are always shared; the target's are checked when it is opened, and again for two pages
 * of each block (1 µs each), since it may have forked meanwhile.
 */
#define PM_EXCLUSIVE (1ull << 56)
#define PM_FILE (1ull << 61)

static bool is_exclusive(const struct hi_copy_source *source, uint64_t addr)
{
	uint64_t entry = 0;

	return pread(source->pagemap.fd, &entry, sizeof(entry),
		     (off_t)(addr / HI_PAGE * sizeof(entry))) == sizeof(entry) &&
	       (entry & (PM_EXCLUSIVE | PM_FILE));
}

static bool must_not_pin(const struct hi_copy_source *source,
			 const struct hi_piece *pieces, size_t n)
{
	const struct hi_piece *last = &pieces[n - 1];

	/* Pages that are missing in a child are read from the target, which runs and may
	 * exec: the descriptor is bound to this memory, the pid is not. */
	return pieces->force || pieces->missing || source->shares ||
	       !is_exclusive(source, pieces->addr) ||
	       !is_exclusive(source, last->addr + last->size - HI_PAGE);
}

/* Pages missing in the child are read from the target. */
static const struct hi_copy_source *source_of(const struct hi_copy *copy,
					      const struct hi_piece *piece)
{
	return piece->missing ? &copy->own : copy->from;
}

/* Reads by /proc/PID/mem, also memory without read permission. Memory that it does not
 * give is left out page by page. */
static void read_forced(struct hi_copy *copy, const struct hi_piece *piece)
{
	int fd = source_of(copy, piece)->mem_fd;
	uint32_t done = 0;

	while (done < piece->size && !copy->gone) {
		ssize_t n = pread(fd, piece->host + done, piece->size - done,
				  (off_t)(piece->addr + done));
		uint32_t rest;

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0) {
			done += (uint32_t)n;
			continue;
		}
		if (n == 0 || errno == ESRCH) {
			copy->gone = true; /* the address space has no users left */
			return;
		}
		rest = HI_PAGE - done % HI_PAGE;
		note_unreadable(copy, (piece->addr + done) / HI_PAGE * HI_PAGE, HI_PAGE);
		done += rest;
	}
}

/* One call for many pieces; returns how many are whole, from the first on. */
static size_t read_many(struct hi_copy *copy, const struct hi_piece *pieces, size_t n)
{
	struct iovec local[MAX_IOV] = {}, remote[MAX_IOV] = {};
	size_t whole = 0;
	ssize_t got;

	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){pieces[i].host, pieces[i].size};
		/* The kernel takes the target's address here, not a pointer of this
		 * process. */
		remote[i] =
			(struct iovec){(void *)(uintptr_t)pieces[i].addr, pieces[i].size};
	}
	/* ESRCH: this thread has exited. Others may live; reading mem_fd shows it. */
	got = process_vm_readv(source_of(copy, pieces)->pid, local, n, remote, n, 0);
	while (got > 0 && whole < n && (size_t)got >= pieces[whole].size)
		got -= (ssize_t)pieces[whole++].size;
	return whole;
}

/*
 * If the target runs again the image would be torn, and reading pages that it has just
 * returned would make its page tables grow. Checked once per block.
 */
static bool is_let_go(const struct hi_copy *copy)
{
	struct pollfd guard = {.fd = copy->guard_fd, .events = POLLIN};

	return copy->guard_fd >= 0 && poll(&guard, 1, 0) > 0;
}

static void read_block(void *arg, size_t task, unsigned worker)
{
	struct hi_copy *copy = arg;
	const struct hi_copy_block *block = &copy->blocks.items[task];
	const struct hi_piece *pieces = copy->pieces.items + block->first;
	size_t at = 0;
	bool by_mem;

	if (copy->reads_live_only && !pieces->live)
		return;
	/* Nothing was reserved before the stop: see hi_copy_reserve. */
	if (copy->forked)
		touch_block(arg, task, worker);
	if (is_let_go(copy))
		copy->gone = true;
	/* The pid may be another process's by now. */
	by_mem = copy->is_of_dead ||
		 must_not_pin(source_of(copy, pieces), pieces, block->count);
	while (at < block->count && !copy->gone) {
		size_t n = block->count - at < MAX_IOV ? block->count - at : MAX_IOV;
		size_t whole = by_mem ? 0 : read_many(copy, pieces + at, n);

		at += whole;
		if (whole < n)
			read_forced(copy, &pieces[at++]);
	}
}

enum hi_status hi_copy_read(struct hi_copy *copy, struct hi_error *err)
{
	hi_parallel(copy->threads, copy->blocks.count, read_block, copy);
	if (copy->forked && (copy->gone || is_let_go(copy)))
		return hi_image_child_fail_lost(copy->target->pid, err);
	if (!copy->forked &&
	    (copy->gone || (!copy->is_of_dead && !hi_target_is_alive(copy->target))))
		return hi_fail(err, HI_GONE, 0,
			       "process %d has exited or started another program",
			       (int)copy->target->pid);
	if (copy->out_of_memory)
		return hi_fail_memory(err, "list of unreadable pages");
	return HI_OK;
}
