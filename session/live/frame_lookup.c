/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/frame_lookup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fork.h"
#include "base/table.h"
#include "session/live/symbols.h"

struct hi_frame_lookup {
	const struct hi_options *options;
	struct hi_python_codes *codes;
	struct hi_frames_builder *names;
	struct hi_table frame_of;     /* address -> frame of names */
	uint32_t n_before_image;      /* frames that were found without it */
	const struct hi_image *image; /* NULL: of the target as it is */
	pid_t pid;		      /* the process; 0: none */
	void *found;		      /* shared with it; NULL: never */
	/* asked: of the process; wanted: of the next one. */
	uint64_t asked[HI_SYMBOLS_FRAMES], wanted[HI_SYMBOLS_FRAMES];
	uint32_t n_asked, n_wanted;
};

HI_DEFINE_GUARD(struct hi_frame_lookup *, hi_frame_lookup_destroy)
HI_DEFINE_GUARD(struct hi_target *, hi_target_close)

static void reap_lookup(struct hi_frame_lookup *l, int *status)
{
	while (waitpid(l->pid, status, 0) < 0 && errno == EINTR)
		;
	l->pid = 0;
}

void hi_frame_lookup_destroy(struct hi_frame_lookup *l)
{
	int status;

	if (!l)
		return;
	if (l->pid) {
		kill(l->pid, SIGKILL);
		reap_lookup(l, &status);
	}
	if (l->found)
		munmap(l->found, hi_symbols_frames_size(HI_SYMBOLS_FRAMES));
	hi_frames_builder_destroy(l->names);
	hi_table_free(&l->frame_of);
	free(l);
}

enum hi_status hi_frame_lookup_create(const struct hi_options *options,
				      struct hi_python_codes *codes,
				      struct hi_frame_lookup **ret, struct hi_error *err)
{
	HI_GUARD(hi_frame_lookup_destroy)
	struct hi_frame_lookup *l = hi_calloc(1, sizeof(*l));
	enum hi_status status;

	if (!l)
		return hi_fail_memory(err, "names of frames");
	l->options = options;
	l->codes = codes;
	status = hi_frames_builder_create(&l->names, err);
	if (status == HI_OK)
		*ret = hi_take(l);
	return status;
}

const struct hi_frame_row *hi_frame_lookup_find(const struct hi_frame_lookup *l,
						uint64_t address, uint32_t *n_ret)
{
	struct hi_frames frames = hi_frames_builder_view(l->names);
	uint64_t i;

	if (!hi_table_get(&l->frame_of, address, &i) || i >= frames.n_frames)
		return NULL;
	/* Where the process itself knew nothing, the image is asked. */
	if (i < l->n_before_image && !*frames.rows[frames.first[i]].module)
		return NULL;
	*n_ret = frames.first[i + 1] - frames.first[i];
	return &frames.rows[frames.first[i]];
}

bool hi_frame_lookup_ask(struct hi_frame_lookup *l, uint64_t address)
{
	for (uint32_t i = 0; i < l->n_wanted; i++)
		if (l->wanted[i] == address)
			return true;
	for (uint32_t i = 0; l->pid && i < l->n_asked; i++)
		if (l->asked[i] == address)
			return true;
	if (l->n_wanted == HI_SYMBOLS_FRAMES)
		return false;
	l->wanted[l->n_wanted++] = address;
	return true;
}

void hi_frame_lookup_use(struct hi_frame_lookup *l, const struct hi_image *image)
{
	l->image = image;
	l->n_before_image = hi_frames_builder_view(l->names).n_frames;
}

void hi_frame_lookup_wait(struct hi_frame_lookup *l)
{
	siginfo_t info;

	while (l->pid && waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOWAIT) != 0 &&
	       errno == EINTR)
		;
}

/* ---- the process ---- */

static _Noreturn void look_names_up(struct hi_frame_lookup *l, struct hi_target *target)
{
	const struct hi_symbols_frames_request request = {
		.addresses = l->asked,
		.n = l->n_asked,
		.codes = l->codes,
		.no_sandbox = l->options->decoding.no_sandbox,
		.debug_dir = l->options->decoding.debug_dir,
		.image = l->image};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "hi-names");
	_exit(hi_symbols_frames_read(target, &request, l->found, NULL) == HI_OK ? 0 : 1);
}

static enum hi_status start_lookup(struct hi_frame_lookup *l, struct hi_error *err)
{
	size_t size = hi_symbols_frames_size(HI_SYMBOLS_FRAMES);
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;

	/* Here, where a tracer that waits for the target's exit is a child. */
	if (hi_target_open(l->options->target.pid, &target, NULL) != HI_OK)
		return HI_OK;
	if (!l->found) {
		void *found = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (found == MAP_FAILED)
			return hi_fail_memory(err, "names of frames");
		l->found = found;
	}
	memcpy(l->asked, l->wanted, l->n_wanted * sizeof(*l->asked));
	l->n_asked = l->n_wanted;
	l->n_wanted = 0;
	l->pid = hi_fork();
	if (l->pid == 0)
		look_names_up(l, target);
	if (l->pid > 0)
		return HI_OK;
	l->pid = 0;
	return hi_fail_errno(err, "fork");
}

/* ---- what it has found ---- */

static uint32_t count_named_frames(const struct hi_frame_lookup *l)
{
	return hi_frames_builder_view(l->names).n_frames;
}

/* A process that has failed or lied: frames without names, so that they are not asked
 * for again. */
static enum hi_status add_nameless_frames(struct hi_frame_lookup *l, uint32_t n,
					  struct hi_error *err)
{
	const struct hi_frame_row row = {.module = "", .function = "", .file = ""};
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < n; i++)
		status = hi_frames_builder_add(l->names, &row, 1, err);
	return status;
}

static enum hi_status take_names(struct hi_frame_lookup *l, bool fine,
				 struct hi_error *err)
{
	uint32_t before = count_named_frames(l), more;
	enum hi_status status = HI_OK;
	struct hi_error bad;

	if (fine &&
	    hi_symbols_frames_take(l->found, l->n_asked, l->names, &bad) == HI_NO_MEMORY)
		return hi_fail_memory(err, "names of frames");
	more = count_named_frames(l) - before;
	status = add_nameless_frames(l, l->n_asked - more, err);
	for (uint32_t i = 0; status == HI_OK && i < l->n_asked; i++)
		if (!hi_table_put(&l->frame_of, l->asked[i], before + i))
			return hi_fail_memory(err, "names of frames");
	return status;
}

enum hi_status hi_frame_lookup_work(struct hi_frame_lookup *l, struct hi_error *err)
{
	enum hi_status ret = HI_OK;
	int status = 0;
	pid_t ended = l->pid ? waitpid(l->pid, &status, WNOHANG) : 0;

	if (ended != 0) {
		l->pid = 0;
		ret = take_names(l, ended > 0 && status == 0, err);
	}
	return ret == HI_OK && !l->pid && l->n_wanted ? start_lookup(l, err) : ret;
}
