/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/copy.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>

#include "attach/available.h"
#include "attach/copy_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/text.h"

#define MAX_ROUNDS 4
#define MAX_FILES 4096
#define MAX_DESCRIPTORS 65536
#define SPARE_BYTES (32ull << 20)

HI_DEFINE_GUARD(DIR *, closedir)

static enum hi_status create(struct hi_target *target,
			     const struct hi_stop_options *options, struct hi_copy **ret,
			     struct hi_error *err)
{
	struct hi_copy *copy;

	if (target->priv->pagemap_fd < 0)
		return hi_fail(err, HI_CANNOT_ATTACH, 0,
			       "/proc/%d/pagemap cannot be read: without it, memory that "
			       "was never touched cannot be told from memory that was",
			       (int)target->pid);
	copy = hi_calloc(1, sizeof(*copy));
	if (!copy)
		return hi_fail_memory(err, "copy");
	copy->target = target;
	copy->guard_fd = -1;
	copy->threads = options->threads ? options->threads : hi_parallel_threads();
	copy->with_swap = options->with_swap;
	pthread_mutex_init(&copy->lock, NULL);
	hi_pagemap_init(&copy->pagemap, target->priv->pagemap_fd);
	*ret = copy;
	return HI_OK;
}

static enum hi_status read_auxv(struct hi_copy *copy, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_proc_open(copy->target->priv->proc_pid, "auxv");
	size_t capacity = 0, size = 0;
	char *text = NULL;
	enum hi_status status;

	if (fd < 0)
		return HI_OK;
	status = hi_proc_read(fd, &text, &capacity, &size, err);
	if (status != HI_OK) {
		free(text);
		return status;
	}
	copy->auxv = (void *)text;
	while (copy->n_auxv < size / 16 && copy->auxv[2 * copy->n_auxv] != AT_NULL)
		copy->n_auxv++;
	return HI_OK;
}

/* One descriptor for each file that holds mapped code. */
static enum hi_status open_files(const struct hi_target *target,
				 const struct hi_mapping *mappings, size_t n,
				 struct hi_image_files *files, struct hi_error *err)
{
	for (size_t i = 0; i < n && files->count < MAX_FILES; i++) {
		const struct hi_mapping *m = &mappings[i];
		struct hi_image_file file = {m->dev_major, m->dev_minor, m->inode, -1};
		enum hi_status status;

		if (m->kind != HI_MAPPING_FILE || !(m->prot & HI_PROT_EXEC) ||
		    hi_image_files_find(files, m))
			continue;
		status = hi_target_open_file(target, m, &file.fd, err);
		if (status != HI_OK && status != HI_NOT_FOUND)
			return status;
		if (!hi_vector_push(files, file)) {
			if (file.fd >= 0)
				close(file.fd);
			return hi_fail_memory(err, "mapped files");
		}
	}
	return HI_OK;
}

static bool has_userfaultfd(pid_t pid)
{
	DIR *fds HI_GUARD(closedir) = NULL;
	char path[64], link[64];
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	for (int i = 0; fds && i < MAX_DESCRIPTORS && (entry = readdir(fds)); i++) {
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = 0;
		if (strcmp(link, "anon_inode:[userfaultfd]") == 0)
			return true;
	}
	return false;
}

/* " um" among the VmFlags: pages that are missing are somebody's to fill in, so
 * they are not zeros. smaps walks all page tables: read only if need be. */
static enum hi_status find_filled_later(struct hi_copy *copy, struct hi_error *err)
{
	HI_GUARD(close) int fd = -1;
	char *text HI_GUARD(free) = NULL, *save = NULL;
	unsigned long long start = 0, end = 0;
	size_t capacity = 0, n;
	enum hi_status status;

	if (!has_userfaultfd(copy->target->priv->proc_pid))
		return HI_OK;
	fd = hi_proc_open(copy->target->priv->proc_pid, "smaps");
	if (fd < 0)
		return HI_OK;
	status = hi_proc_read(fd, &text, &capacity, &n, err);
	if (status != HI_OK)
		return status;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			continue;
		if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " um") &&
		    !hi_vector_push(&copy->filled_later,
				    (struct hi_page_run){start, end, 1}))
			return hi_fail_memory(err, "mappings of userfaultfd");
	}
	return HI_OK;
}

static enum hi_status check_memory(const struct hi_copy *copy, uint64_t touched,
				   struct hi_error *err)
{
	uint64_t need = copy->held_bytes, available;
	char need_text[24], free_text[24];

	if (need <= touched)
		return HI_OK;
	need = need - touched + need / 64 + SPARE_BYTES;
	available = hi_memory_available("/proc", "/sys/fs/cgroup");
	if (need <= available)
		return HI_OK;
	return hi_fail(err, HI_NO_MEMORY, 0,
		       "the image of process %d needs %s of memory and %s are free "
		       "(MemAvailable, cgroup limits): use gcore and --core",
		       (int)copy->target->pid, hi_text_bytes(need_text, need),
		       hi_text_bytes(free_text, available));
}

/*
 * Touching gigabytes takes longer than a busy target stands still, so look again
 * and touch what is new, until that is little.
 */
static enum hi_status reserve(struct hi_copy *copy, struct hi_error *err)
{
	uint64_t touched = 0;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		enum hi_status status = HI_OK;

		if (round > 0)
			status = hi_copy_look(copy, err);
		if (status == HI_OK)
			status = hi_copy_place(copy, true, err);
		if (status == HI_OK)
			status = hi_copy_cut(copy, err);
		if (status == HI_OK)
			status = check_memory(copy, touched, err);
		if (status != HI_OK)
			return status;
		if (round > 0 && copy->held_bytes <= touched + touched / 64)
			return HI_OK;
		hi_copy_touch(copy);
		touched = copy->held_bytes;
	}
	return HI_OK;
}

/* So that no vector grows during the stop unless the target did. */
static enum hi_status spare_vectors(struct hi_copy *copy, struct hi_error *err)
{
	if (!hi_vector_reserve(&copy->runs, copy->runs.count * 2 + 1024) ||
	    !hi_vector_reserve(&copy->pages, copy->pages.count * 2 + 1024) ||
	    !hi_vector_reserve(&copy->pieces, copy->pieces.count * 2 + 1024) ||
	    !hi_vector_reserve(&copy->blocks, copy->blocks.count * 2 + 1024))
		return hi_fail_memory(err, "plan of the image");
	return HI_OK;
}

enum hi_status hi_copy_prepare(struct hi_target *target,
			       const struct hi_stop_options *options,
			       struct hi_copy **ret, struct hi_error *err)
{
	struct hi_copy *copy = NULL;
	enum hi_status status = create(target, options, &copy, err);

	if (status != HI_OK)
		return status;
	status = read_auxv(copy, err);
	if (status == HI_OK)
		status = find_filled_later(copy, err);
	if (status == HI_OK)
		status = open_files(target, target->mappings, target->n_mappings,
				    &copy->files, err);
	if (status == HI_OK)
		status = hi_copy_look(copy, err);
	if (status == HI_OK)
		status = reserve(copy, err);
	if (status == HI_OK)
		status = spare_vectors(copy, err);
	if (status != HI_OK) {
		hi_copy_destroy(copy);
		return status;
	}
	*ret = copy;
	return HI_OK;
}

void hi_copy_guard(struct hi_copy *copy, int fd)
{
	copy->guard_fd = fd;
}

enum hi_status hi_copy_run(struct hi_copy *copy, struct hi_error *err)
{
	enum hi_status status;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	copy->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	status = hi_copy_look(copy, err);
	if (status == HI_OK)
		status = hi_copy_place(copy, false, err);
	if (status == HI_OK)
		status = hi_copy_cut(copy, err);
	if (status == HI_OK)
		status = hi_copy_read(copy, err);
	return status;
}

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

static void count_pages(struct hi_mapping *m, const struct hi_pages *p,
			struct hi_image_stats *stats)
{
	uint64_t bytes = p->end - p->start;

	if (p->flags & HI_PAGES_PRESENT)
		m->resident += bytes;
	if (p->flags & HI_PAGES_SWAPPED)
		m->swapped += bytes;
	if (p->flags & HI_PAGES_HELD)
		m->copied += bytes;
	else if (p->flags & HI_PAGES_SWAPPED)
		stats->pages_swapped += bytes / HI_PAGE;
}

/* Figures of each mapping and of the whole. */
static void count_mappings(struct hi_copy *copy, struct hi_image_stats *stats)
{
	size_t at = 0;

	for (size_t i = 0; i < copy->n_mappings; i++) {
		struct hi_mapping *m = &copy->mappings[i];
		uint64_t zero = 0;

		m->resident = m->swapped = m->copied = 0;
		for (; at < copy->pages.count && copy->pages.items[at].start < m->end;
		     at++) {
			const struct hi_pages *p = &copy->pages.items[at];

			count_pages(m, p, stats);
			if (p->flags & HI_PAGES_ZERO)
				zero += p->end - p->start;
		}
		m->held = m->copied > 0;
		stats->bytes_copied += m->copied;
		if (!m->shared && m->kind != HI_MAPPING_OTHER)
			stats->pages_never_touched +=
				(m->end - m->start - m->resident - m->swapped - zero) /
				HI_PAGE;
	}
	for (size_t i = 0; i < copy->unreadable.count; i++)
		stats->bytes_unreadable +=
			copy->unreadable.items[i].end - copy->unreadable.items[i].start;
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

static bool is_filled_later(const struct hi_copy *copy, const struct hi_mapping *m)
{
	for (size_t i = 0; i < copy->filled_later.count; i++)
		if (copy->filled_later.items[i].start < m->end &&
		    copy->filled_later.items[i].end > m->start)
			return true;
	return false;
}

static enum hi_status add_zeros(const struct hi_copy *copy, struct hi_frozen *frozen,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < copy->n_mappings; i++) {
		const struct hi_mapping *m = &copy->mappings[i];

		if (m->shared || is_filled_later(copy, m))
			continue;
		if (m->kind == HI_MAPPING_ANONYMOUS || m->kind == HI_MAPPING_HEAP ||
		    m->kind == HI_MAPPING_STACK)
			status = hi_frozen_add_zeros(frozen, m->start, m->end, err);
	}
	return status;
}

static enum hi_status freeze(struct hi_copy *copy, struct hi_memory **ret,
			     struct hi_error *err)
{
	struct hi_frozen *frozen = NULL;
	enum hi_status status = hi_frozen_create("process copy", &frozen, err);
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

		status = hi_frozen_own(frozen, last->pages, last->size, err);
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

static enum hi_status add_parts(struct hi_copy *copy, const struct hi_thread *threads,
				size_t n_threads, struct hi_image *image,
				struct hi_error *err)
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
		status = open_files(copy->target, image->mappings, image->n_mappings,
				    &copy->files, err);
	return status;
}

static enum hi_status make_image(struct hi_copy *copy, const struct hi_thread *threads,
				 size_t n_threads, struct hi_image **ret,
				 struct hi_error *err)
{
	struct hi_memory *memory = NULL;
	struct hi_image *image = NULL;
	struct hi_image_stats stats = {.time_ns = copy->time_ns};
	enum hi_status status = leave_out_unreadable(copy, err);

	if (status != HI_OK)
		return status;
	count_mappings(copy, &stats);
	status = freeze(copy, &memory, err);
	if (status == HI_OK)
		status = hi_image_create(memory, HI_SNAPSHOT_COPY, &image, err);
	if (status != HI_OK)
		return status;
	status = add_parts(copy, threads, n_threads, image, err);
	if (status != HI_OK) {
		hi_image_destroy(image);
		return status;
	}
	image->priv->frozen = (const struct hi_frozen *)memory;
	image->priv->files = copy->files;
	copy->files = (struct hi_image_files){};
	/* Without it separate debug files of a container are not found: no error. */
	if (copy->target->other_mount_ns && copy->target->priv->root_fd >= 0)
		image->priv->root_fd =
			fcntl(copy->target->priv->root_fd, F_DUPFD_CLOEXEC, 3);
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
	enum hi_status status = make_image(copy, threads, n_threads, ret, err);

	hi_copy_destroy(copy);
	return status;
}

void hi_copy_destroy(struct hi_copy *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; i < copy->reservations.count; i++)
		hi_pages_free(copy->reservations.items[i].pages,
			      copy->reservations.items[i].size);
	hi_vector_free(&copy->reservations);
	hi_vector_free(&copy->areas);
	hi_vector_free(&copy->fresh);
	hi_vector_free(&copy->runs);
	hi_vector_free(&copy->rescan);
	hi_vector_free(&copy->pages);
	hi_vector_free(&copy->pieces);
	hi_vector_free(&copy->blocks);
	hi_vector_free(&copy->filled_later);
	hi_vector_free(&copy->unreadable);
	hi_image_files_close(&copy->files);
	hi_mappings_free(copy->mappings, copy->n_mappings);
	pthread_mutex_destroy(&copy->lock);
	free(copy->maps_text);
	free(copy->auxv);
	free(copy);
}
