/* SPDX-License-Identifier: BSD-2-Clause */
/* How a copy-on-write child is read instead of the target. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/copy.h"
#include "attach/copy_internal.h"
#include "attach/free_memory.h"
#include "attach/maps.h"
#include "attach/smaps.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/text.h"

/*
 * Note [What a child has]
 *
 * The child has every mapping of the target with its contents, but:
 *
 * - Page tables are copied only where there is anonymous memory (mm/memory.c:
 *   vma_needs_copy). For shared mappings, files that were never written to and memory
 *   where only the page of zeros was read, the child's pagemap shows nothing. The
 *   target's own pagemap shows which of those pages are present, once it runs again and
 *   where the same file is still mapped. It is used in addition to the child's, but only
 *   for pages that cannot have changed: pages of files, and of zeros.
 * - Shared memory is the same memory: its present contents are read. They are read
 *   through the child, which never unmaps it.
 * - MADV_DONTFORK areas are missing. A mapping of the target that the child does not
 *   have was either made since, and is none of the image, or is marked "dc" (VM_DONTCOPY) in the
 *   target's smaps: then it is read from the target while it runs.
 * - MADV_WIPEONFORK areas are empty ("wf" in the child's smaps): the same.
 *
 * Smaps are read only if there is something that they could explain. All that was read
 * while the target ran is counted (HI_PAGES_LIVE).
 *
 * Areas that a userfaultfd handler fills later are looked up in the target: the child is
 * not registered.
 */

struct hi_copy_child_source {
	struct hi_copy_source source;
	int maps_fd, pagemap_fd;
	struct hi_image_child *child;
	struct hi_mapping *of_child,
		*of_target; /* what the copy's mappings' paths lie in */
	size_t n_of_child, n_of_target;
	struct hi_page_runs seen;	/* of one mapping in the target's pagemap */
	struct hi_page_runs all;	/* result */
	struct hi_page_runs wiped;	/* "wf" */
	struct hi_page_runs not_copied; /* "dc" */
	bool knows_wiped;
};

void hi_copy_forget_child(struct hi_copy *copy)
{
	struct hi_copy_child_source *forked = copy->forked;

	if (!forked)
		return;
	hi_image_child_destroy(forked->child);
	/* The mappings have been put together anew out of these. */
	if (copy->mappings != forked->of_child)
		hi_mappings_free(forked->of_child, forked->n_of_child);
	hi_mappings_free(forked->of_target, forked->n_of_target);
	hi_vector_free(&forked->seen);
	hi_vector_free(&forked->all);
	hi_vector_free(&forked->wiped);
	hi_vector_free(&forked->not_copied);
	hi_close_fd(forked->maps_fd);
	hi_close_fd(forked->pagemap_fd);
	hi_pagemap_free(&forked->source.pagemap);
	free(forked);
	copy->forked = NULL;
	copy->from = &copy->own;
}

struct hi_image_child *hi_copy_take_child(struct hi_copy *copy)
{
	return copy->forked ? hi_take(copy->forked->child) : NULL;
}

static enum hi_status open_child(struct hi_copy *copy, const struct hi_copy_child *child,
				 struct hi_error *err)
{
	struct hi_copy_child_source *forked = hi_calloc(1, sizeof(*forked));
	struct hi_image_child_request request = {.pid = child->pid,
						 .target_pidfd = copy->target->pidfd,
						 .end = child->end,
						 .arg = child->arg,
						 .socket = child->socket};
	enum hi_status status;

	if (!forked)
		return hi_fail_memory(err, "copy");
	copy->forked = forked;
	forked->maps_fd = hi_proc_open(child->pid, "maps");
	forked->pagemap_fd = hi_proc_open(child->pid, "pagemap");
	status = hi_image_child_open(&request, &forked->child, err);
	if (status != HI_OK)
		return status;
	if (forked->maps_fd < 0 || forked->pagemap_fd < 0)
		return hi_fail(err, HI_GONE, 0, "/proc/%d: the copy-on-write child ended",
			       (int)child->pid);
	forked->source = (struct hi_copy_source){
		.pid = child->pid,
		.mem_fd = hi_image_child_memory(forked->child),
		.maps_fd = forked->maps_fd,
		.shares = true,
	};
	hi_pagemap_init(&forked->source.pagemap, forked->pagemap_fd, child->pid);
	copy->from = &forked->source;
	copy->guard_fd = hi_image_child_pidfd(forked->child);
	hi_pagemap_forget_sizes(&copy->own.pagemap);
	return hi_pagemap_learn(&forked->source.pagemap, &copy->own.pagemap, err);
}

/* ---- mappings ---- */

static bool is_listed_mapping(const struct hi_page_runs *list, const struct hi_mapping *m)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].start <= m->start && list->items[i].end >= m->end)
			return true;
	return false;
}

/* The first of n sorted mappings that ends above addr. */
static size_t find_copied_mapping_above(const struct hi_mapping *mappings, size_t n,
					uint64_t addr)
{
	return hi_search(i, n, mappings[i].end <= addr);
}

/* Returns whether the child has no page of the mapping. */
static bool is_absent(const struct hi_copy_child_source *forked,
		      const struct hi_mapping *m)
{
	size_t i =
		find_copied_mapping_above(forked->of_child, forked->n_of_child, m->start);

	return i == forked->n_of_child || forked->of_child[i].start >= m->end;
}

static size_t count_absent(const struct hi_copy_child_source *forked)
{
	size_t n = 0;

	for (size_t i = 0; i < forked->n_of_target; i++)
		n += is_absent(forked, &forked->of_target[i]);
	return n;
}

/* The child's mappings and the target's that were not to be handed on, by address. */
static enum hi_status join_mappings(struct hi_copy *copy, size_t n_absent,
				    struct hi_error *err)
{
	struct hi_copy_child_source *forked = copy->forked;
	struct hi_mapping *all =
		hi_realloc_array(NULL, forked->n_of_child + n_absent, sizeof(*all));
	size_t n = 0, at = 0;

	if (!all)
		return hi_fail_memory(err, "mappings");
	for (size_t i = 0; i < forked->n_of_target; i++) {
		const struct hi_mapping *m = &forked->of_target[i];

		if (!is_absent(forked, m) || !is_listed_mapping(&forked->not_copied, m))
			continue;
		while (at < forked->n_of_child && forked->of_child[at].end <= m->start)
			all[n++] = forked->of_child[at++];
		all[n++] = *m;
	}
	while (at < forked->n_of_child)
		all[n++] = forked->of_child[at++];
	copy->mappings = all;
	copy->n_mappings = n;
	return HI_OK;
}

static enum hi_status look_at_mappings(struct hi_copy *copy, struct hi_error *err)
{
	struct hi_copy_child_source *forked = copy->forked;
	enum hi_status status;
	size_t n_absent;

	status = hi_copy_read_maps(copy, &forked->source, &forked->of_child,
				   &forked->n_of_child, err);
	if (status == HI_OK)
		status = hi_copy_read_maps(copy, &copy->own, &forked->of_target,
					   &forked->n_of_target, err);
	if (status != HI_OK)
		return status;
	hi_mappings_free(copy->mappings, copy->n_mappings);
	copy->mappings = forked->of_child;
	copy->n_mappings = forked->n_of_child;
	n_absent = count_absent(forked);
	if (!n_absent)
		return HI_OK;
	status = hi_smaps_find(copy->own.pid, "dc", &forked->not_copied, err);
	return status == HI_OK ? join_mappings(copy, n_absent, err) : status;
}

/* ---- pages ---- */

static bool is_same_thing(const struct hi_mapping *a, const struct hi_mapping *b)
{
	return a->kind == b->kind && a->shared == b->shared && a->inode == b->inode &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	       (!a->inode || a->start - a->file_offset == b->start - b->file_offset);
}

/* Collects the target's pagemap of m, where it still maps the same, into seen. */
static enum hi_status look_at_target(struct hi_copy *copy, const struct hi_mapping *m,
				     struct hi_error *err)
{
	struct hi_copy_child_source *forked = copy->forked;
	size_t i = find_copied_mapping_above(forked->of_target, forked->n_of_target,
					     m->start);
	enum hi_status status = HI_OK;

	forked->seen.count = 0;
	for (; status == HI_OK && i < forked->n_of_target; i++) {
		const struct hi_mapping *now = &forked->of_target[i];

		if (now->start >= m->end)
			break;
		if (is_same_thing(m, now))
			status = hi_pagemap_collect(&copy->own.pagemap,
						    now->start > m->start ? now->start
									  : m->start,
						    now->end < m->end ? now->end : m->end,
						    &forked->seen, err);
	}
	return status;
}

/* May the target's page be taken for one that was there at the fork? */
static uint32_t accept_target_page(const struct hi_mapping *m, uint32_t flags,
				   bool missing)
{
	if (missing)
		return flags | HI_RUN_MISSING;
	return m->shared || (flags & (HI_RUN_FILE | HI_RUN_ZERO)) ? flags : 0;
}

static bool push_clipped(struct hi_page_runs *runs, struct hi_page_run run,
			 uint64_t start, uint64_t end)
{
	if (run.start < start)
		run.start = start;
	if (run.end > end)
		run.end = end;
	return !run.flags || run.start >= run.end || hi_vector_push(runs, run);
}

/* The child's runs of m, and the target's in the gaps between them. */
static bool join_runs(struct hi_copy_child_source *forked, const struct hi_mapping *m,
		      const struct hi_page_run *of_child, size_t n, bool missing)
{
	uint64_t start = m->start;
	size_t at = 0;

	for (size_t i = 0; i <= n; i++) {
		uint64_t end = i < n ? of_child[i].start : m->end;

		while (at < forked->seen.count && forked->seen.items[at].end <= start)
			at++;
		for (size_t j = at;
		     j < forked->seen.count && forked->seen.items[j].start < end; j++) {
			struct hi_page_run run = forked->seen.items[j];

			run.flags = accept_target_page(m, run.flags, missing);
			if (!push_clipped(&forked->all, run, start, end))
				return false;
		}
		if (i == n)
			break;
		if (!push_clipped(&forked->all, of_child[i], m->start, m->end))
			return false;
		start = of_child[i].end;
	}
	return true;
}

static bool has_anonymous(const struct hi_page_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (!(runs->items[i].flags & (HI_RUN_ZERO | HI_RUN_GUARD | HI_RUN_FILE)))
			return true;
	return false;
}

/* Private memory that is empty in the child and not in the target: wiped? */
static enum hi_status find_wiped(struct hi_copy *copy, struct hi_error *err)
{
	struct hi_copy_child_source *forked = copy->forked;

	if (forked->knows_wiped || !has_anonymous(&forked->seen))
		return HI_OK;
	forked->knows_wiped = true;
	return hi_smaps_find(forked->source.pid, "wf", &forked->wiped, err);
}

static enum hi_status look_at_pages(struct hi_copy *copy, const struct hi_mapping *m,
				    const struct hi_page_run *of_child, size_t n,
				    struct hi_error *err)
{
	struct hi_copy_child_source *forked = copy->forked;
	bool missing = is_listed_mapping(&forked->not_copied, m),
	     empty = n == 0 && !m->shared;
	enum hi_status status = HI_OK;

	forked->seen.count = 0;
	if (m->kind != HI_MAPPING_OTHER &&
	    (m->shared || m->kind == HI_MAPPING_FILE || n == 0))
		status = look_at_target(copy, m, err);
	if (status == HI_OK && empty && !missing)
		status = find_wiped(copy, err);
	if (status != HI_OK)
		return status;
	missing = missing || (empty && is_listed_mapping(&forked->wiped, m));
	if (!join_runs(forked, m, of_child, n, missing))
		return hi_fail_memory(err, "runs of pages");
	return HI_OK;
}

enum hi_status hi_copy_scan_child(struct hi_copy *copy, struct hi_error *err)
{
	struct hi_copy_child_source *forked = copy->forked;
	enum hi_status status = look_at_mappings(copy, err);
	struct hi_page_runs swap;
	size_t at = 0;

	if (status == HI_OK)
		status = hi_copy_find_filled_later(copy, err);
	if (status == HI_OK)
		status = hi_copy_read_pagemap(copy, &forked->source, err);
	for (size_t i = 0; status == HI_OK && i < copy->n_mappings; i++) {
		const struct hi_mapping *m = &copy->mappings[i];
		size_t first;

		while (at < copy->runs.count && copy->runs.items[at].end <= m->start)
			at++;
		first = at;
		while (at < copy->runs.count && copy->runs.items[at].end <= m->end)
			at++;
		status = look_at_pages(copy, m, copy->runs.items + first,
				       at - first +
					       (at < copy->runs.count &&
						copy->runs.items[at].start < m->end),
				       err);
	}
	if (status != HI_OK)
		return status;
	swap = copy->runs;
	copy->runs = forked->all;
	forked->all = swap;
	return hi_copy_classify(copy, err);
}

/* ---- memory ---- */

static uint64_t memory_limit(const struct hi_copy *copy)
{
	if (copy->max_image)
		return copy->max_image;
	return hi_memory_available("/proc", "/sys/fs/cgroup") / 2;
}

/* Decides whether it is read now or in place. */
static enum hi_status check_limit(struct hi_copy *copy, uint64_t limit,
				  struct hi_error *err)
{
	uint64_t live = hi_copy_sum(copy, HI_PAGES_HELD | HI_PAGES_LIVE,
				    HI_PAGES_HELD | HI_PAGES_LIVE);
	char live_text[24], limit_text[24];

	copy->in_place = hi_copy_bytes(copy) > limit;
	copy->reads_live_only = copy->in_place || copy->sendable;
	if (live <= limit)
		return HI_OK;
	return hi_fail(err, HI_NO_MEMORY, 0,
		       "process %d has %s of shared memory, which must be copied, but "
		       "the image may use only %s",
		       (int)copy->target->pid, hi_text_bytes(live_text, live),
		       hi_text_bytes(limit_text, limit));
}

static struct hi_pager_range *list_ranges(const struct hi_copy *copy, size_t *n_ret)
{
	struct hi_pager_range *ranges =
		hi_realloc_array(NULL, copy->pieces.count, sizeof(*ranges));
	size_t n = 0;

	for (size_t i = 0; ranges && i < copy->pieces.count; i++) {
		const struct hi_piece *p = &copy->pieces.items[i];

		if (!p->live)
			ranges[n++] = (struct hi_pager_range){p->host, p->addr, p->size};
	}
	*n_ret = n;
	return ranges;
}

/* In place, or by the process that the image will be sent to. */
static enum hi_status read_child_later(struct hi_copy *copy, uint64_t limit,
				       struct hi_error *err)
{
	const struct hi_reservation *area = &copy->reservations.items[0];
	struct hi_pager_request request = {.area = area->pages,
					   .size = area->size,
					   .budget = limit,
					   .threads = copy->threads};
	char need_text[24], limit_text[24];
	enum hi_status status;
	struct hi_error why;

	request.ranges = list_ranges(copy, &request.n_ranges);
	if (!request.ranges)
		return hi_fail_memory(err, "plan of the image");
	if (!copy->in_place) {
		/* It would read as zeros. */
		(void)mprotect(area->pages, area->size, PROT_NONE);
		hi_image_child_leave(copy->forked->child, &request);
		return HI_OK;
	}
	status = hi_image_child_read_in_place(copy->forked->child, &request, &why);
	if (status != HI_UNSUPPORTED) {
		if (status != HI_OK && err)
			*err = why;
		return status;
	}
	return hi_fail(err, HI_NO_MEMORY, 0,
		       "the image of process %d needs %s but may use only %s, and cannot "
		       "be read in place (%s): free memory, or use gcore and --core",
		       (int)copy->target->pid, hi_text_bytes(need_text, copy->held_bytes),
		       hi_text_bytes(limit_text, limit), why.text);
}

static enum hi_status read_child_memory(struct hi_copy *copy,
					const struct hi_copy_child *child,
					struct hi_error *err)
{
	uint64_t limit = memory_limit(copy);
	enum hi_status status = open_child(copy, child, err);

	if (status == HI_OK)
		status = hi_copy_scan_child(copy, err);
	if (status == HI_OK)
		status = check_limit(copy, limit, err);
	if (status == HI_OK)
		status = hi_copy_add_areas(copy, false, err);
	if (status == HI_OK)
		status = hi_copy_make_pieces(copy, err);
	if (status == HI_OK)
		status = hi_copy_read(copy, err);
	if (status == HI_OK && copy->reads_live_only)
		status = read_child_later(copy, limit, err);
	else if (status == HI_OK)
		hi_image_child_end(copy->forked->child);
	return status;
}

enum hi_status hi_copy_run_child(struct hi_copy *copy, const struct hi_copy_child *child,
				 struct hi_error *err)
{
	enum hi_status status = read_child_memory(copy, child, err);

	if (status != HI_OK && copy->forked && copy->forked->child)
		hi_image_child_disown(copy->forked->child);
	return status;
}
