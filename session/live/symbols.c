/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/symbols.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/running_image.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/fork.h"
#include "base/inherited.h"
#include "base/rights.h"
#include "decode/modules/file_server.h"
#include "session/live/decoder_files.h"

/* Shared; what was found follows. */
struct outcome {
	uint32_t status;
	struct hi_error error;
	_Alignas(max_align_t) unsigned char found[];
};

/* ---- the second process ---- */

static _Noreturn void read_symbols(struct hi_target *target, struct hi_image *image,
				   const struct hi_symbols_job *job, int socket,
				   struct outcome *outcome)
{
	struct hi_rights_dropped dropped;
	enum hi_status status;

	(void)prctl(PR_SET_NAME, "hi-symbols");
	outcome->status = (uint32_t)hi_inherited_drop(outcome, socket, &outcome->error);
	if (outcome->status != HI_OK)
		_exit(0);
	hi_target_release(target);
	status = image ? hi_image_adopt(image, &outcome->error) : HI_OK;
	if (status == HI_OK)
		status = hi_rights_drop(&dropped, &outcome->error);
	hi_files_use(socket);
	if (status == HI_OK && job->message)
		hi_decoder_report_dropped(&dropped, job->message);
	if (status == HI_OK)
		status = job->read(target, image, job->arg, outcome->found,
				   &outcome->error);
	outcome->status = status;
	_exit(0);
}

/* ---- the first one ---- */

struct server {
	struct hi_decoder_files files;
	struct hi_cache_server cache;
};

static int serve_symbols_request(struct server *s, const struct hi_files_request *r,
				 char *text)
{
	switch (r->operation) {
	case HI_FILES_OPEN:
		return hi_decoder_files_open(&s->files, r->name);
	case HI_FILES_MAPPING:
		return hi_decoder_files_open_mapping(&s->files, r->name);
	case HI_FILES_OPEN_IN_ROOT:
		return hi_decoder_files_open_in_root(&s->files, r->name);
	case HI_FILES_DEBUGINFOD:
		return hi_decoder_files_download(&s->files, r->name, text);
	default:
		return hi_cache_serve(&s->cache, r, text);
	}
}

static void serve_files(struct server *s, int socket)
{
	struct hi_files_request request;
	bool goes_on = true;

	while (goes_on && hi_decoder_files_count(&s->files) &&
	       hi_files_receive(socket, &request)) {
		struct hi_files_answer answer = {};
		HI_GUARD(close) int fd = serve_symbols_request(s, &request, answer.text);

		answer.error = fd < 0 ? errno : 0;
		goes_on = hi_files_answer(socket, &answer, fd);
	}
	hi_cache_server_end(&s->cache);
}

static enum hi_status say_died(int status, struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, 0,
		       "the process that reads symbols was killed by signal %d (%s); "
		       "nothing was stopped. --no-sandbox reads them in one process, for "
		       "a debugger",
		       WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		       WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it exited");
}

static enum hi_status read_in_a_fork(struct hi_target *target, struct hi_image *image,
				     const struct hi_symbols_job *job,
				     struct outcome *outcome, struct hi_error *err)
{
	struct server server = {.files.debug_dir = job->debug_dir};
	int ends[2], status = -1;
	pid_t pid;

	hi_decoder_files_of(&server.files, target, image);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return hi_fail_errno(err, "socketpair");
	pid = hi_fork();
	if (pid == 0) {
		close(ends[0]);
		read_symbols(target, image, job, ends[1], outcome);
	}
	close(ends[1]);
	if (pid > 0)
		serve_files(&server, ends[0]);
	close(ends[0]);
	if (pid < 0)
		return hi_fail_errno(err, "fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? HI_OK : say_died(status, err);
}

/* The other process has ended: what it wrote does not change any more. */
static enum hi_status take_status(const struct outcome *outcome, struct hi_error *err)
{
	enum hi_status status = outcome->status <= HI_LIMIT
					? (enum hi_status)outcome->status
					: HI_BAD_DATA;

	if (status == HI_OK || !err)
		return status;
	*err = outcome->error;
	err->status = status;
	err->text[sizeof(err->text) - 1] = 0;
	return status;
}

enum hi_status hi_symbols_read(struct hi_target *target, const struct hi_symbols_job *job,
			       void **found_ret, struct hi_error *err)
{
	HI_GUARD(hi_image_destroy) struct hi_image *image = NULL;
	struct outcome *outcome;
	enum hi_status status =
		job->wants_image ? hi_image_unstopped(target, &image, err) : HI_OK;

	if (status != HI_OK)
		return status;
	outcome = mmap(NULL, sizeof(*outcome) + job->size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (outcome == MAP_FAILED)
		return hi_fail_memory(err, "symbols");
	status = read_in_a_fork(target, image, job, outcome, err);
	if (status == HI_OK)
		status = take_status(outcome, err);
	if (status == HI_OK)
		*found_ret = outcome->found;
	else
		munmap(outcome, sizeof(*outcome) + job->size);
	return status;
}

void hi_symbols_free(void *found, size_t size)
{
	if (found)
		munmap((char *)found - offsetof(struct outcome, found),
		       sizeof(struct outcome) + size);
}
