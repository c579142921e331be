/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the allocator's code is, before the stop: symbols of the target's files are
 * read in a process without rights, which is given the files and hands addresses back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/rights.h"
#include "cli/decoder.h"
#include "cli/freeze.h"

enum { MOST_RANGES = 16384 };

/* Shared; hostile as soon as the other process has read a file. */
struct found {
	uint32_t status;
	struct hi_error error;
	uint64_t n;
	struct hi_range ranges[MOST_RANGES];
};

static _Noreturn void find_text(struct hi_target *target, int socket, struct found *found)
{
	struct hi_rights_dropped dropped;
	struct hi_range *ranges = NULL;
	enum hi_status status;
	size_t n = 0;

	(void)prctl(PR_SET_NAME, "hi-symbols");
	hi_target_release(target);
	status = hi_rights_drop(&dropped, &found->error);
	hi_files_use(socket);
	if (status == HI_OK)
		status = hi_allocator_text(target, &ranges, &n, &found->error);
	if (status == HI_OK && n > MOST_RANGES)
		status = hi_fail(&found->error, HI_LIMIT, 0, "too many functions");
	if (status == HI_OK && n)
		memcpy(found->ranges, ranges, n * sizeof(*ranges));
	found->n = n;
	found->status = status;
	_exit(0);
}

static int open_for_symbols(const struct hi_target *target,
			    const struct hi_files_request *r)
{
	int fd = -1;

	if (r->operation == HI_FILES_OPEN)
		return hi_decoder_open_elf(r->name);
	errno = ENOENT;
	for (size_t i = 0; r->operation == HI_FILES_MAPPING && i < target->n_mappings;
	     i++)
		if (target->mappings[i].start == strtoull(r->name, NULL, 16) &&
		    hi_target_open_file(target, &target->mappings[i], &fd, NULL) == HI_OK)
			return fd;
	return -1;
}

static void serve_files(const struct hi_target *target, int socket)
{
	struct hi_files_request request;
	bool goes_on = true;

	while (goes_on && hi_files_receive(socket, &request)) {
		HI_GUARD(close) int fd = open_for_symbols(target, &request);
		struct hi_files_answer answer = {.error = fd < 0 ? errno : 0};

		goes_on = hi_files_answer(socket, &answer, fd);
	}
}

static enum hi_status take_ranges(const struct found *found, struct hi_range **ret,
				  size_t *n_ret, struct hi_error *err)
{
	size_t n = found->n;

	if (found->status != HI_OK)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.200s", found->error.text);
	if (n > MOST_RANGES)
		return hi_fail(err, HI_BAD_DATA, 0, "too many functions");
	*ret = hi_alloc((n + 1) * sizeof(**ret));
	if (!*ret)
		return hi_fail_memory(err, "allocator's text");
	memcpy(*ret, found->ranges, n * sizeof(**ret));
	*n_ret = n;
	return HI_OK;
}

static enum hi_status find_in_a_fork(struct hi_target *target, struct found *found,
				     struct hi_error *err)
{
	int ends[2], status = -1;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return hi_fail_errno(err, "socketpair");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		find_text(target, ends[1], found);
	}
	close(ends[1]);
	if (pid > 0)
		serve_files(target, ends[0]);
	close(ends[0]);
	if (pid < 0)
		return hi_fail_errno(err, "fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	found->error.text[sizeof(found->error.text) - 1] = 0;
	if (status != 0)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "the process that reads symbols has died");
	return HI_OK;
}

enum hi_status hi_freeze_allocator_text(struct hi_target *target, struct hi_range **ret,
					size_t *n_ret, struct hi_error *err)
{
	struct found *found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum hi_status status;

	if (found == MAP_FAILED)
		return hi_fail_memory(err, "allocator's text");
	status = find_in_a_fork(target, found, err);
	if (status == HI_OK)
		status = take_ranges(found, ret, n_ret, err);
	munmap(found, sizeof(*found));
	return status;
}
