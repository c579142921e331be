/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/copy.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>

#include "attach/copy_internal.h"
#include "attach/free_memory.h"
#include "attach/maps.h"
#include "attach/smaps.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/text.h"

#define MAX_ROUNDS 4
#define MAX_FILES 4096
#define MAX_DESCRIPTORS 65536
#define SPARE_BYTES (32ull << 20)

static enum hi_status create_copy(struct hi_target *target,
				  const struct hi_stop_options *options,
				  struct hi_copy **ret, struct hi_error *err)
{
	struct hi_copy *copy;

	if (target->priv->pagemap_fd < 0)
		return hi_fail(err, HI_CANNOT_ATTACH, 0,
			       "/proc/%d/pagemap cannot be read: it shows which pages "
			       "are in memory",
			       (int)target->pid);
	copy = hi_calloc(1, sizeof(*copy));
	if (!copy)
		return hi_fail_memory(err, "copy");
	copy->target = target;
	copy->own = (struct hi_copy_source){.pid = target->priv->proc_pid,
					    .mem_fd = target->priv->mem_fd,
					    .maps_fd = target->priv->maps_fd,
					    .shares = target->priv->shares_anonymous};
	copy->from = &copy->own;
	copy->guard_fd = -1;
	copy->rss = UINT64_MAX;
	copy->max_image = options->max_image;
	copy->threads = options->threads ? options->threads : hi_parallel_threads();
	copy->with_swap = options->with_swap;
	copy->sendable = options->sendable;
	copy->raises_priority = options->best_effort_priority;
	pthread_mutex_init(&copy->lock, NULL);
	hi_pagemap_init(&copy->own.pagemap, target->priv->pagemap_fd,
			target->priv->proc_pid);
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

/* Programs are opened for their symbols, shared memory because the target may have
 * touched only a part of it. */
static bool is_wanted_file(const struct hi_mapping *m)
{
	if (m->kind == HI_MAPPING_FILE && (m->prot & HI_PROT_EXEC))
		return true;
	return m->inode && hi_mapping_is_shared_data(m);
}

enum hi_status hi_copy_open_files(struct hi_copy *copy, const struct hi_mapping *mappings,
				  size_t n, struct hi_error *err)
{
	struct hi_image_files *files = &copy->files;

	for (size_t i = 0; i < n && files->count < MAX_FILES; i++) {
		const struct hi_mapping *m = &mappings[i];
		struct hi_image_file file = {m->dev_major, m->dev_minor, m->inode, -1};
		enum hi_status status;

		if (!is_wanted_file(m) || hi_image_files_find(files, m))
			continue;
		status = hi_target_open_file(copy->target, m, &file.fd, err);
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

/* Missing pages of these areas are filled by a handler later, so they are not zeros. */
enum hi_status hi_copy_find_filled_later(struct hi_copy *copy, struct hi_error *err)
{
	if (!has_userfaultfd(copy->target->priv->proc_pid))
		return HI_OK;
	return hi_smaps_find(copy->target->priv->proc_pid, "um", &copy->filled_later,
			     err);
}

static enum hi_status check_copy_memory(const struct hi_copy *copy, uint64_t touched,
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
 * Touching gigabytes takes so long that a busy target allocates more meanwhile. So the
 * target is scanned again and new areas are touched, until there are few.
 */
static enum hi_status reserve_memory(struct hi_copy *copy, struct hi_error *err)
{
	uint64_t touched = 0;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		enum hi_status status = HI_OK;

		if (round > 0)
			status = hi_copy_scan(copy, err);
		if (status == HI_OK)
			status = hi_copy_add_areas(copy, true, err);
		if (status == HI_OK)
			status = hi_copy_make_pieces(copy, err);
		if (status == HI_OK)
			status = check_copy_memory(copy, touched, err);
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

enum hi_status hi_copy_estimate(struct hi_target *target,
				const struct hi_stop_options *options,
				struct hi_copy **ret, struct hi_error *err)
{
	struct hi_copy *copy = NULL;
	enum hi_status status = create_copy(target, options, &copy, err);

	if (status != HI_OK)
		return status;
	status = read_auxv(copy, err);
	if (status == HI_OK)
		status = hi_kernel_text_prepare(&copy->kernel, copy->own.pid, err);
	if (status == HI_OK)
		status = hi_copy_find_filled_later(copy, err);
	if (status == HI_OK)
		status = hi_copy_open_files(copy, target->mappings, target->n_mappings,
					    err);
	if (status == HI_OK)
		status = hi_copy_scan(copy, err);
	if (status != HI_OK) {
		hi_copy_destroy(copy);
		return status;
	}
	*ret = copy;
	return HI_OK;
}

uint64_t hi_copy_bytes(const struct hi_copy *copy)
{
	return hi_copy_sum(copy, HI_PAGES_HELD, HI_PAGES_HELD);
}

uint64_t hi_copy_private_bytes(const struct hi_copy *copy)
{
	const struct hi_mapping *m = copy->mappings;
	uint64_t sum = 0;

	for (size_t i = 0; i < copy->pages.count; i++) {
		const struct hi_pages *p = &copy->pages.items[i];

		while (m->end <= p->start)
			m++;
		if (!m->shared && (p->flags & HI_PAGES_HELD))
			sum += p->end - p->start;
	}
	return sum;
}

enum hi_status hi_copy_reserve(struct hi_copy *copy, struct hi_error *err)
{
	enum hi_status status = reserve_memory(copy, err);

	return status == HI_OK ? spare_vectors(copy, err) : status;
}

enum hi_status hi_copy_prepare(struct hi_target *target,
			       const struct hi_stop_options *options,
			       struct hi_copy **ret, struct hi_error *err)
{
	struct hi_copy *copy = NULL;
	enum hi_status status = hi_copy_estimate(target, options, &copy, err);

	if (status == HI_OK)
		status = hi_copy_reserve(copy, err);
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

/* Words of the kernel are as they were some time before: Note [Words that the kernel
 * keeps]
 */
void hi_copy_set_dead(struct hi_copy *copy)
{
	copy->is_of_dead = true;
	hi_kernel_text_outdate(&copy->kernel);
}

/* Field 2 of statm: resident pages. 10 µs, so it can be read during the stop. */
struct schedule {
	int policy;
	struct sched_param param;
	bool is_raised;
};

static struct schedule raise_priority(const struct hi_copy *copy)
{
	const struct sched_param low = {.sched_priority = 1};
	struct schedule before = {.policy = sched_getscheduler(0)};

	before.is_raised = copy->raises_priority && before.policy == SCHED_OTHER &&
			   sched_getparam(0, &before.param) == 0 &&
			   sched_setscheduler(0, SCHED_FIFO, &low) == 0;
	return before;
}

static void restore_priority(const struct schedule *before)
{
	if (before->is_raised)
		(void)sched_setscheduler(0, before->policy, &before->param);
}

void hi_copy_set_time(struct hi_copy *copy)
{
	struct schedule before = raise_priority(copy);
	unsigned long long pages;
	struct timespec now;
	char text[256];

	clock_gettime(CLOCK_REALTIME, &now);
	copy->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	copy->monotonic_ns = hi_clock_ns();
	if (copy->is_of_dead) {
		restore_priority(&before);
		return;
	}
	hi_kernel_text_read(&copy->kernel, copy->own.pid);
	if (hi_proc_read_small(copy->own.pid, "statm", text, sizeof(text), NULL) &&
	    sscanf(text, "%*u %llu", &pages) == 1 && pages)
		copy->rss = pages * HI_PAGE;
	restore_priority(&before);
}

/*
 * This part is linear in the number of mappings: the kernel lists them and walks their
 * page tables, in this one thread. The target is stopped meanwhile, so this thread gets
 * the priority of the tracer. The bytes are then read by many threads at normal priority.
 */
static enum hi_status plan_stopped(struct hi_copy *copy, struct hi_error *err)
{
	struct schedule before = raise_priority(copy);
	enum hi_status status = hi_copy_scan(copy, err);

	if (status == HI_OK)
		status = hi_copy_add_areas(copy, false, err);
	if (status == HI_OK)
		status = hi_copy_make_pieces(copy, err);
	restore_priority(&before);
	return status;
}

enum hi_status hi_copy_run(struct hi_copy *copy, struct hi_error *err)
{
	enum hi_status status;

	if (!copy->time_ns)
		hi_copy_set_time(copy);
	copy->own.pagemap.search_limit = HI_PAGEMAP_STOP_ENTRIES;
	status = plan_stopped(copy, err);
	return status == HI_OK ? hi_copy_read(copy, err) : status;
}

void hi_copy_destroy(struct hi_copy *copy)
{
	if (!copy)
		return;
	hi_copy_forget_child(copy);
	for (size_t i = 0; i < copy->reservations.count; i++) {
		hi_pages_free(copy->reservations.items[i].pages,
			      copy->reservations.items[i].size);
		hi_close_fd(copy->reservations.items[i].fd);
	}
	hi_vector_free(&copy->reservations);
	hi_vector_free(&copy->areas);
	hi_vector_free(&copy->fresh);
	hi_vector_free(&copy->runs);
	hi_vector_free(&copy->rescan);
	hi_vector_free(&copy->pages);
	hi_vector_free(&copy->pieces);
	hi_vector_free(&copy->blocks);
	hi_vector_free(&copy->filled_later);
	hi_pagemap_free(&copy->own.pagemap);
	hi_vector_free(&copy->unreadable);
	hi_image_files_close(&copy->files);
	hi_kernel_text_free(&copy->kernel);
	hi_mappings_free(copy->mappings, copy->n_mappings);
	pthread_mutex_destroy(&copy->lock);
	free(copy->maps_text);
	free(copy->auxv);
	free(copy);
}
