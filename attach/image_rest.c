/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image_rest.h"

#include <pthread.h>
#include <stdatomic.h>

#include "attach/frozen_memory.h"
#include "attach/image_child.h"
#include "attach/image_internal.h"
#include "base/parallel.h"

struct job {
	const struct hi_image_child *child;
	const struct hi_pager_range *ranges;
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

static void read_range(void *arg, size_t task, unsigned worker)
{
	struct job *job = arg;
	const struct hi_pager_range *range = &job->ranges[task];
	bool gone = false;

	(void)worker;
	for (uint64_t at = 0; at < range->size && !gone && !job->gone;) {
		at += hi_image_child_read(job->child, range->addr + at, range->host + at,
					  range->size - at, &gone);
		if (at == range->size || gone)
			break;
		at = at / HI_PAGE * HI_PAGE;
		note_bad_page(job, range->addr + at);
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
				  const struct hi_pager_request *rest,
				  struct hi_error *err)
{
	struct job job = {.child = image->priv->child, .ranges = rest->ranges};
	enum hi_status status = HI_OK;

	pthread_mutex_init(&job.lock, NULL);
	hi_parallel(rest->threads, rest->n_ranges, read_range, &job);
	if (job.gone || hi_image_child_has_ended(image->priv->child))
		status = hi_image_child_fail_lost(image->pid, err);
	else
		status = leave_out_pages(image, &job, err);
	hi_vector_free(&job.bad);
	pthread_mutex_destroy(&job.lock);
	return status;
}
