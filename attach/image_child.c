/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "base/alloc.h"
#include "base/cleanup.h"

struct hi_image_child {
	struct hi_image_child_request request;
	int pidfd, mem_fd;
	int rollup_fd;	  /* smaps_rollup; -1: it may not be opened */
	int target_pidfd; /* a duplicate; -1: none */
	int own_socket;	  /* of the tracer, a duplicate that was sent; -1: none */
	void (*ask_to_end)(int socket);
	struct hi_pager *pager;
	struct hi_pager_request pager_request; /* to begin anew */
	const struct hi_pager_range *ranges;   /* the pager's */
	pthread_mutex_t lock;
	bool ended;
	uint64_t copied; /* when it was ended */
};

static bool has_ended(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&fd, 1, 0) != 0;
}

enum hi_status hi_image_child_open(const struct hi_image_child_request *request,
				   struct hi_image_child **ret, struct hi_error *err)
{
	struct hi_image_child *child = hi_calloc(1, sizeof(*child));

	if (!child)
		return hi_fail_memory(err, "image");
	pthread_mutex_init(&child->lock, NULL);
	child->request = *request;
	child->copied = UINT64_MAX;
	child->own_socket = -1;
	child->target_pidfd = request->target_pidfd < 0
				      ? -1
				      : fcntl(request->target_pidfd, F_DUPFD_CLOEXEC, 3);
	child->pidfd = pidfd_open(request->pid, 0);
	child->mem_fd = hi_proc_open(request->pid, "mem");
	child->rollup_fd = hi_proc_open(request->pid, "smaps_rollup");
	/* Alive after both were opened: both are of the same process. */
	if (child->pidfd < 0 || child->mem_fd < 0 || has_ended(child->pidfd)) {
		enum hi_status status =
			hi_fail(err, HI_GONE, 0,
				"the copy-on-write child %d ended before it was read",
				(int)request->pid);
		child->request.end = NULL;
		hi_image_child_destroy(child);
		return status;
	}
	*ret = child;
	return HI_OK;
}

int hi_image_child_memory(const struct hi_image_child *child)
{
	return child->mem_fd;
}

int hi_image_child_pidfd(const struct hi_image_child *child)
{
	return child->pidfd;
}

/* The descriptor stays bound to the child's memory; a pid could be reused. */
size_t hi_image_child_read(const struct hi_image_child *child, uint64_t addr, void *to,
			   size_t size, bool *gone_ret)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(child->mem_fd, (char *)to + done, size - done,
				  (off_t)(addr + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* The address space has no users left. */
			*gone_ret |= n == 0 || errno == ESRCH;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

static size_t read_child_bytes(void *arg, uint64_t addr, void *to, size_t size)
{
	bool ignored = false;

	return hi_image_child_read(arg, addr, to, size, &ignored);
}

bool hi_image_child_has_ended(const struct hi_image_child *child)
{
	return has_ended(child->pidfd);
}

enum hi_status hi_image_child_fail_lost(pid_t pid, struct hi_error *err)
{
	return hi_fail(
		err, HI_GONE, 0,
		"the copy-on-write child of process %d ended before it was read: "
		"the process exited or executed another program, or memory ran out",
		(int)pid);
}

static void all_loaded(void *arg)
{
	hi_image_child_end(arg);
}

enum hi_status hi_image_child_read_in_place(struct hi_image_child *child,
					    const struct hi_pager_request *request,
					    struct hi_error *err)
{
	struct hi_pager_request own = *request;

	child->ranges = request->ranges;
	own.read = read_child_bytes;
	own.all_loaded = all_loaded;
	own.arg = child;
	child->pager_request = own;
	return hi_pager_create(&own, &child->pager, err);
}

enum hi_status hi_image_child_adopt(struct hi_image_child *child, struct hi_error *err)
{
	if (!child->pager)
		return HI_OK;
	hi_pager_forget(hi_take(child->pager));
	pthread_mutex_init(&child->lock, NULL);
	return hi_pager_create(&child->pager_request, &child->pager, err);
}

void hi_image_child_leave(struct hi_image_child *child,
			  const struct hi_pager_request *request)
{
	child->ranges = request->ranges;
	child->pager_request = *request;
}

struct hi_image_child_parts hi_image_child_take_apart(struct hi_image_child *child)
{
	struct hi_image_child_parts parts = {
		.mem_fd = child->mem_fd,
		.pidfd = child->pidfd,
		.rollup_fd = child->rollup_fd,
		.target_pidfd = child->target_pidfd,
		.socket = -1,
		.rest = child->ranges ? &child->pager_request : NULL,
		.in_place = child->pager,
	};

	pthread_mutex_lock(&child->lock);
	parts.ended = child->ended;
	parts.copied = child->copied;
	if (!child->ended && child->request.socket)
		parts.socket = child->request.socket;
	pthread_mutex_unlock(&child->lock);
	return parts;
}

static void ask_tracer_to_end(void *arg)
{
	const struct hi_image_child *child = arg;

	if (child->own_socket >= 0)
		child->ask_to_end(child->own_socket);
}

enum hi_status hi_image_child_join(const struct hi_image_child_parts *parts,
				   void (*ask_to_end)(int socket),
				   struct hi_image_child **ret, struct hi_error *err)
{
	const int fds[] = {parts->mem_fd, parts->pidfd, parts->rollup_fd,
			   parts->target_pidfd, parts->socket};
	struct hi_image_child *child = hi_calloc(1, sizeof(*child));

	if (!child) {
		for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
			hi_close_fd(fds[i]);
		return hi_fail_memory(err, "image");
	}
	pthread_mutex_init(&child->lock, NULL);
	child->request.end = ask_tracer_to_end;
	child->request.arg = child;
	child->mem_fd = parts->mem_fd;
	child->pidfd = parts->pidfd;
	child->rollup_fd = parts->rollup_fd;
	child->target_pidfd = parts->target_pidfd;
	child->own_socket = parts->socket;
	child->ask_to_end = ask_to_end;
	child->ended = parts->ended;
	child->copied = parts->copied;
	*ret = child;
	return HI_OK;
}

struct hi_pager_stats hi_image_child_stats(struct hi_image_child *child)
{
	return child->pager ? hi_pager_stats(child->pager) : (struct hi_pager_stats){};
}

/*
 * Measures the bytes that only the child still has: the target has written to them since,
 * or given them back. At the fork it shared every page, except those that devices were
 * writing to, which the kernel copies at once. When the target exits all pages become the
 * child's alone, and the number is unknown.
 */
static uint64_t measure_copied_bytes(const struct hi_image_child *child)
{
	static const char *const keys[] = {"Private_Clean", "Private_Dirty",
					   "Private_Hugetlb"};
	char text[4096];
	uint64_t sum = 0;
	ssize_t n = pread(child->rollup_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return UINT64_MAX;
	text[n] = 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		sum += hi_proc_field_bytes(text, keys[i], 0);
	if (has_ended(child->pidfd) || has_ended(child->target_pidfd) ||
	    !hi_proc_field(text, "Rss"))
		return UINT64_MAX;
	return sum;
}

uint64_t hi_image_child_copied(struct hi_image_child *child)
{
	uint64_t copied;

	pthread_mutex_lock(&child->lock);
	copied = child->ended ? child->copied : measure_copied_bytes(child);
	pthread_mutex_unlock(&child->lock);
	return copied;
}

void hi_image_child_end(struct hi_image_child *child)
{
	pthread_mutex_lock(&child->lock);
	if (!child->ended) {
		child->copied = measure_copied_bytes(child);
		child->ended = true;
		if (child->request.end)
			child->request.end(child->request.arg);
	}
	pthread_mutex_unlock(&child->lock);
}

void hi_image_child_disown(struct hi_image_child *child)
{
	child->request.end = NULL;
}

void hi_image_child_destroy(struct hi_image_child *child)
{
	if (!child)
		return;
	hi_pager_destroy(child->pager);
	if (!child->ended && child->request.end)
		child->request.end(child->request.arg);
	free((void *)(uintptr_t)child->ranges);
	hi_close_fd(child->pidfd);
	hi_close_fd(child->mem_fd);
	hi_close_fd(child->rollup_fd);
	hi_close_fd(child->target_pidfd);
	hi_close_fd(child->own_socket);
	pthread_mutex_destroy(&child->lock);
	free(child);
}
