/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image_rest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attach/frozen_memory.h"
#include "attach/image_child.h"
#include "attach/image_internal.h"
#include "base/alloc.h"
#include "base/bits.h"
#include "base/parallel.h"

#define SCRATCH (256u << 10) /* of a worker; it is to stay in its cache */

struct job {
	const struct hi_image_child *child;
	const struct hi_pager_range *ranges;
	const struct hi_image_changes *changes;
	unsigned char *scratch; /* SCRATCH bytes a worker; NULL: nothing is compared */
	_Atomic bool gone, out_of_memory;
	pthread_mutex_t lock;
	struct bad HI_VECTOR(uint64_t) bad; /* pages that could not be read */
};

static void note_bad_page(struct job *job, uint64_t page)
{
	pthread_mutex_lock(&job->lock);
	if (!hi_vector_push(&job->bad, page))
		job->out_of_memory = true;
	pthread_mutex_unlock(&job->lock);
}

/* Bits of neighbours may be cleared by another worker. */
static void note_changed_page(const struct job *job, const unsigned char *host)
{
	size_t page = (size_t)(host - job->changes->area) / HI_PAGE;

	(void)__atomic_fetch_and(&job->changes->same[page / 64], ~(1ull << page % 64),
				 __ATOMIC_RELAXED);
}

static bool has_bytes_before(const struct job *job, const unsigned char *host)
{
	size_t page = (size_t)(host - job->changes->area) / HI_PAGE;
	uint64_t word = __atomic_load_n(&job->changes->same[page / 64], __ATOMIC_RELAXED);

	return word >> page % 64 & 1;
}

static bool has_any_before(const struct job *job, const unsigned char *host, size_t size)
{
	for (size_t at = 0; at < size; at += HI_PAGE)
		if (has_bytes_before(job, host + at))
			return true;
	return false;
}

/* Which words of a page are as they were. The page is this worker's alone. */
static void note_same_words(const struct job *job, const unsigned char *host,
			    const unsigned char *now)
{
	uint64_t *same = job->changes->same_words;
	size_t first = (size_t)(host - job->changes->area) / HI_IMAGE_WORD;

	for (size_t i = 0; same && i < HI_PAGE / HI_IMAGE_WORD; i += 64) {
		uint64_t bits = 0;

		for (size_t k = 0; k < 64; k++) {
			size_t at = (i + k) * HI_IMAGE_WORD;

			bits |= (uint64_t)(memcmp(host + at, now + at, HI_IMAGE_WORD) ==
					   0)
				<< k;
		}
		same[(first + i) / 64] = bits;
	}
}

/* Whole pages. */
static void put_pages(const struct job *job, const unsigned char *from, size_t size,
		      unsigned char *to)
{
	for (size_t at = 0; at < size; at += HI_PAGE) {
		if (has_bytes_before(job, to + at)) {
			if (memcmp(to + at, from + at, HI_PAGE) == 0)
				continue;
			note_same_words(job, to + at, from + at);
			note_changed_page(job, to + at);
		}
		memcpy(to + at, from + at, HI_PAGE);
	}
}

/* Returns how many bytes there are from addr on; whole pages of them are in the image. */
static size_t read_pages(const struct job *job, uint64_t addr, unsigned char *host,
			 size_t size, unsigned worker, bool *gone)
{
	unsigned char *scratch = job->scratch + (size_t)worker * SCRATCH;
	size_t n;

	if (!job->scratch || !has_any_before(job, host, size))
		return hi_image_child_read(job->child, addr, host, size, gone);
	n = hi_image_child_read(job->child, addr, scratch, size, gone);
	put_pages(job, scratch, n / HI_PAGE * HI_PAGE, host);
	return n;
}

static void leave_page(struct job *job, const struct hi_pager_range *range, uint64_t at)
{
	note_bad_page(job, range->addr + at);
	if (job->changes->same)
		note_changed_page(job, range->host + at);
}

static void read_range(void *arg, size_t task, unsigned worker)
{
	struct job *job = arg;
	const struct hi_pager_range *range = &job->ranges[task];
	bool gone = false;

	for (uint64_t at = 0; at < range->size && !gone && !job->gone;) {
		uint64_t left = range->size - at;
		size_t want = job->scratch && left > SCRATCH ? SCRATCH : left;
		size_t n = read_pages(job, range->addr + at, range->host + at, want,
				      worker, &gone);

		at += n;
		if (n == want || gone)
			continue;
		at = at / HI_PAGE * HI_PAGE;
		leave_page(job, range, at);
		at += HI_PAGE;
	}
	if (gone)
		job->gone = true;
}

static void count_bad_page(struct hi_image *image, uint64_t page)
{
	const struct hi_mapping *found = hi_image_mapping_at(image, page);
	struct hi_mapping *m;

	image->complete = false;
	image->stats.bytes_unreadable += HI_PAGE;
	image->stats.bytes_copied -= HI_PAGE;
	if (!found)
		return;
	m = &image->mappings[found - image->mappings];
	m->copied -= HI_PAGE;
	m->held = m->copied > 0;
	if (m->shared)
		image->stats.shared_unreadable += HI_PAGE;
}

static enum hi_status leave_out_pages(struct hi_image *image, const struct job *job,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (job->out_of_memory)
		return hi_fail_memory(err, "list of unreadable pages");
	for (size_t i = 0; status == HI_OK && i < job->bad.count; i++) {
		uint64_t page = job->bad.items[i];

		status = hi_frozen_leave_out((struct hi_frozen *)image->memory, page,
					     page + HI_PAGE, err);
		if (status == HI_OK)
			count_bad_page(image, page);
	}
	return status;
}

enum hi_status hi_image_read_rest(struct hi_image *image,
				  const struct hi_pager_request *rest, bool *all_ret,
				  struct hi_error *err)
{
	struct job job = {.child = image->priv->child,
			  .ranges = rest->ranges,
			  .changes = &image->priv->changes};
	enum hi_status status = HI_OK;

	if (job.changes->same)
		job.scratch = hi_realloc_array(NULL, rest->threads + 1u, SCRATCH);
	if (job.changes->same && !job.scratch)
		memset(job.changes->same, 0,
		       hi_bits_size((uint32_t)job.changes->n_pages));

	pthread_mutex_init(&job.lock, NULL);
	hi_parallel(rest->threads, rest->n_ranges, read_range, &job);
	if (job.gone || hi_image_child_has_ended(image->priv->child))
		status = hi_image_child_fail_lost(image->pid, err);
	else
		status = leave_out_pages(image, &job, err);
	*all_ret = job.bad.count == 0;
	free(job.scratch);
	hi_vector_free(&job.bad);
	pthread_mutex_destroy(&job.lock);
	return status;
}
