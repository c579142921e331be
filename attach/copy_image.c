/* SPDX-License-Identifier: BSD-2-Clause */
/* The last step of a copy: what was read becomes an image. */
#include <fcntl.h>
#include <stdlib.h>

#include "attach/copy.h"
#include "attach/copy_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"

static int compare_runs(const void *a, const void *b)
{
	const struct hi_page_run *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Appends the parts of p, less what of it could not be read. */
static bool push_readable(struct hi_page_list *out, struct hi_pages p,
			  const struct hi_page_runs *bad, size_t *at)
{
	struct hi_pages part = p;

	while (*at < bad->count && bad->items[*at].end <= p.start)
		++*at;
	for (size_t i = *at; i < bad->count && bad->items[i].start < p.end; i++) {
		part.end = bad->items[i].start;
		if (part.start < part.end && !hi_vector_push(out, part))
			return false;
		part = (struct hi_pages){bad->items[i].start, bad->items[i].end,
					 p.flags & ~(uint32_t)HI_PAGES_HELD};
		if (!hi_vector_push(out, part))
			return false;
		part = (struct hi_pages){part.end, p.end, p.flags};
	}
	part.end = p.end;
	return part.start >= part.end || hi_vector_push(out, part);
}

static enum hi_status leave_out_unreadable(struct hi_copy *copy, struct hi_error *err)
{
	struct hi_page_list out = {};
	size_t at = 0;

	if (!copy->unreadable.count)
		return HI_OK;
	qsort(copy->unreadable.items, copy->unreadable.count,
	      sizeof(*copy->unreadable.items), compare_runs);
	for (size_t i = 0; i < copy->pages.count; i++)
		if (!push_readable(&out, copy->pages.items[i], &copy->unreadable, &at)) {
			hi_vector_free(&out);
			return hi_fail_memory(err, "list of pages");
		}
	hi_vector_free(&copy->pages);
	copy->pages = out;
	return HI_OK;
}

static void count_copied_pages(struct hi_mapping *m, const struct hi_pages *p,
			       struct hi_image_stats *stats)
{
	uint64_t bytes = p->end - p->start;

	if (p->flags & HI_PAGES_PRESENT)
		m->resident += bytes;
	if (p->flags & HI_PAGES_SWAPPED)
		m->swapped += bytes;
	if ((p->flags & HI_PAGES_HELD) && (p->flags & HI_PAGES_LIVE))
		stats->bytes_live += bytes;
	if (p->flags & HI_PAGES_HELD)
		m->copied += bytes;
	else if (p->flags & HI_PAGES_SWAPPED)
		stats->pages_swapped += bytes / HI_PAGE;
}

static bool is_in_shared_mapping(const struct hi_copy *copy, uint64_t addr)
{
	size_t low = hi_search(i, copy->n_mappings, copy->mappings[i].end <= addr);

	return low < copy->n_mappings && copy->mappings[low].start <= addr &&
	       copy->mappings[low].shared;
}

/* None of these ranges lies in two mappings. */
static void count_unreadable_pages(const struct hi_copy *copy,
				   struct hi_image_stats *stats)
{
	for (size_t i = 0; i < copy->unreadable.count; i++) {
		uint64_t bytes =
			copy->unreadable.items[i].end - copy->unreadable.items[i].start;

		stats->bytes_unreadable += bytes;
		if (is_in_shared_mapping(copy, copy->unreadable.items[i].start))
			stats->shared_unreadable += bytes;
	}
}

/* Figures of each mapping and of the whole. */
static void count_mappings(struct hi_copy *copy, struct hi_image_stats *stats)
{
	uint64_t resident = 0;
	size_t at = 0;

	for (size_t i = 0; i < copy->n_mappings; i++) {
		struct hi_mapping *m = &copy->mappings[i];
		uint64_t zero = 0;

		m->resident = m->swapped = m->copied = 0;
		for (; at < copy->pages.count && copy->pages.items[at].start < m->end;
		     at++) {
			const struct hi_pages *p = &copy->pages.items[at];

			count_copied_pages(m, p, stats);
			if (p->flags & HI_PAGES_ZERO)
				zero += p->end - p->start;
		}
		m->held = m->copied > 0;
		stats->bytes_copied += m->copied;
		resident += m->resident;
		if (!m->shared && m->kind != HI_MAPPING_OTHER)
			stats->pages_never_touched +=
				(m->end - m->start - m->resident - m->swapped - zero) /
				HI_PAGE;
	}
	/* The kernel's own figure is gone with the process. */
	if (copy->is_of_dead)
		copy->rss = resident;
	count_unreadable_pages(copy, stats);
	stats->bytes_unreadable += copy->from->pagemap.pages_unknown * HI_PAGE;
}

/* The part of an area that has pages; what is beyond was room to grow. */
static enum hi_status add_span(const struct hi_copy *copy, struct hi_frozen *frozen,
			       const struct hi_area *area, size_t *at,
			       struct hi_error *err)
{
	uint64_t start = area->end, end = area->start;

	for (; *at < copy->pages.count; ++*at) {
		const struct hi_pages *p = &copy->pages.items[*at];

		if (p->start >= area->end)
			break;
		if (p->end > area->start) {
			if (p->start < start)
				start = p->start > area->start ? p->start : area->start;
			end = p->end < area->end ? p->end : area->end;
		}
		if (p->end > area->end)
			break;
	}
	if (start >= end)
		return HI_OK;
	return hi_frozen_add_span(frozen, start, end, area->host + (start - area->start),
				  err);
}

static bool overlaps_mapping(const struct hi_page_runs *runs, const struct hi_mapping *m)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].start < m->end && runs->items[i].end > m->start)
			return true;
	return false;
}

/* Memory without a page is not zero for that: others fill it in, or not every page was
 * found (Note [Reservations without PAGEMAP_SCAN]). */
static bool may_miss_pages(const struct hi_copy *copy, const struct hi_mapping *m)
{
	return overlaps_mapping(&copy->filled_later, m) ||
	       overlaps_mapping(&copy->from->pagemap.unknown, m);
}

static enum hi_status add_zeros(const struct hi_copy *copy, struct hi_frozen *frozen,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < copy->n_mappings; i++) {
		const struct hi_mapping *m = &copy->mappings[i];

		if (m->shared || may_miss_pages(copy, m))
			continue;
		if (m->kind == HI_MAPPING_ANONYMOUS || m->kind == HI_MAPPING_HEAP ||
		    m->kind == HI_MAPPING_STACK)
			status = hi_frozen_add_zeros(frozen, m->start, m->end, err);
	}
	return status;
}

static enum hi_status freeze_copy(struct hi_copy *copy, struct hi_memory **ret,
				  struct hi_error *err)
{
	const char *name = copy->forked ? "copy-on-write child" : "process copy";
	struct hi_frozen *frozen = NULL;
	enum hi_status status = hi_frozen_create(name, &frozen, err);
	struct hi_pages *pages;
	size_t at = 0;

	if (status != HI_OK)
		return status;
	status = add_zeros(copy, frozen, err);
	for (size_t i = 0; status == HI_OK && i < copy->areas.count; i++)
		status = add_span(copy, frozen, &copy->areas.items[i], &at, err);
	while (status == HI_OK && copy->reservations.count) {
		struct hi_reservation *last =
			&copy->reservations.items[copy->reservations.count - 1];

		status = hi_frozen_own_sealed(frozen, last->pages, last->size, last->fd,
					      err);
		if (status == HI_OK)
			copy->reservations.count--;
	}
	if (status == HI_OK) {
		/* Never NULL: that would mean that residency is unknown. */
		if (!hi_vector_reserve(&copy->pages, 1))
			status = hi_fail_memory(err, "list of pages");
	}
	if (status == HI_OK) {
		pages = hi_take(copy->pages.items);
		status = hi_frozen_seal(frozen, pages, copy->pages.count, err);
	}
	if (status != HI_OK) {
		hi_memory_destroy(hi_frozen_memory(frozen));
		return status;
	}
	*ret = hi_frozen_memory(frozen);
	return HI_OK;
}

static enum hi_status add_image_parts(struct hi_copy *copy,
				      const struct hi_thread *threads, size_t n_threads,
				      struct hi_image *image, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	char *exe = hi_strdup(copy->target->exe);

	if (!exe)
		return hi_fail_memory(err, "image");
	free(image->exe);
	image->exe = exe;
	for (size_t i = 0; status == HI_OK && i < copy->n_mappings; i++)
		status = hi_image_add_mapping(image, &copy->mappings[i], err);
	for (size_t i = 0; status == HI_OK && i < n_threads; i++)
		status = hi_image_add_thread(image, &threads[i], err);
	if (status == HI_OK)
		status =
			hi_copy_open_files(copy, image->mappings, image->n_mappings, err);
	return status;
}

static enum hi_status make_copied_image(struct hi_copy *copy,
					const struct hi_thread *threads, size_t n_threads,
					struct hi_image **ret, struct hi_error *err)
{
	struct hi_memory *memory = NULL;
	struct hi_image *image = NULL;
	struct hi_image_stats stats = {.time_ns = copy->time_ns,
				       .monotonic_ns = copy->monotonic_ns};
	enum hi_status status = leave_out_unreadable(copy, err);

	if (status != HI_OK)
		return status;
	count_mappings(copy, &stats);
	status = freeze_copy(copy, &memory, err);
	if (status == HI_OK)
		status = hi_image_create(
			memory, copy->forked ? HI_SNAPSHOT_FORK : HI_SNAPSHOT_COPY,
			&image, err);
	if (status != HI_OK)
		return status;
	status = add_image_parts(copy, threads, n_threads, image, err);
	if (status == HI_OK)
		status = hi_kernel_text_words(&copy->kernel, &image->kernel_words,
					      &image->n_kernel_words,
					      &image->kernel_unread, err);
	if (status != HI_OK) {
		hi_image_destroy(image);
		return status;
	}
	image->priv->frozen = (const struct hi_frozen *)memory;
	image->priv->files = copy->files;
	copy->files = (struct hi_image_files){};
	image->priv->child = hi_copy_take_child(copy);
	if (copy->rss != UINT64_MAX)
		copy->target->rss = copy->rss;
	/* Without it separate debug files of a container are not found: no error. */
	if (copy->target->other_mount_ns && copy->target->priv->root_fd >= 0)
		image->priv->root_fd =
			fcntl(copy->target->priv->root_fd, F_DUPFD_CLOEXEC, 3);
	image->priv->has_own_root = image->priv->root_fd >= 0;
	image->auxv = hi_take(copy->auxv);
	image->n_auxv = copy->n_auxv;
	image->pid = copy->target->pid;
	image->stats = stats;
	image->complete = stats.bytes_unreadable == 0;
	*ret = image;
	return HI_OK;
}

enum hi_status hi_copy_finish(struct hi_copy *copy, const struct hi_thread *threads,
			      size_t n_threads, struct hi_image **ret,
			      struct hi_error *err)
{
	enum hi_status status = make_copied_image(copy, threads, n_threads, ret, err);

	hi_copy_destroy(copy);
	return status;
}
