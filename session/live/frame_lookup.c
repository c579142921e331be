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
#include "session/live/recorder.h"
#include "session/live/symbols.h"

enum { ELSEWHERE_NAPS = 5000, ELSEWHERE_NAP_US = 2000 };

struct hi_frame_lookup {
	const struct hi_options *options;
	struct hi_recorder *recorder;  /* NULL: of no recording */
	struct hi_python_codes *codes; /* its; NULL: none */
	struct hi_frames_builder *names;
	struct hi_table frame_of;     /* address -> frame of names */
	uint32_t n_before_image;      /* frames that were found without it */
	const struct hi_image *image; /* NULL: of the target as it is */
	pid_t pid;		      /* the process; 0: none */
	bool is_elsewhere, was_fine;  /* another process has started it */
	void *found;		      /* shared with it */
	/* asked: of the process; wanted: of the next one. */
	uint64_t asked[HI_SYMBOLS_FRAMES], wanted[HI_SYMBOLS_FRAMES];
	uint32_t n_asked, n_wanted;
};

HI_DEFINE_GUARD(struct hi_frame_lookup *, hi_frame_lookup_destroy)

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
	for (uint32_t i = 0; (l->pid || l->is_elsewhere) && i < l->n_asked; i++)
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

	for (int i = 0; l->is_elsewhere && i < ELSEWHERE_NAPS; i++) {
		if (hi_recorder_has_names(l->recorder, &l->was_fine))
			return;
		usleep(ELSEWHERE_NAP_US);
	}

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

static void take_wanted(struct hi_frame_lookup *l)
{
	memcpy(l->asked, l->wanted, l->n_wanted * sizeof(*l->asked));
	l->n_asked = l->n_wanted;
	l->n_wanted = 0;
}

static enum hi_status fork_lookup(struct hi_frame_lookup *l, struct hi_error *err)
{
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;

	/* Here, where a tracer that waits for the target's exit is a child. */
	if (hi_target_open(l->options->target.pid, &target, NULL) != HI_OK)
		return hi_fail(err, HI_GONE, 0, "there is no target");
	take_wanted(l);
	l->pid = hi_fork();
	if (l->pid == 0)
		look_names_up(l, target);
	if (l->pid > 0)
		return HI_OK;
	l->pid = 0;
	return hi_fail_errno(err, "fork");
}

/* Names of Python are here already, the others there. */
static enum hi_status start_elsewhere(struct hi_frame_lookup *l, struct hi_error *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n_wanted; i++) {
		uint32_t number = hi_frames_builder_view(l->names).n_frames;
		struct hi_frame_row row;

		if (!l->codes || !hi_python_is_frame(l->wanted[i])) {
			l->wanted[n++] = l->wanted[i];
			continue;
		}
		hi_python_codes_row(l->codes, l->wanted[i], &row);
		if (hi_frames_builder_add(l->names, &row, 1, err) != HI_OK)
			return err->status;
		if (!hi_table_put(&l->frame_of, l->wanted[i], number))
			return hi_fail_memory(err, "names of frames");
	}
	l->n_wanted = n;
	take_wanted(l);
	l->is_elsewhere =
		n && hi_recorder_ask_for_names(l->recorder, l->asked, l->n_asked);
	return HI_OK;
}

static enum hi_status start_lookup(struct hi_frame_lookup *l, struct hi_error *err)
{
	enum hi_status status;

	if (l->recorder && hi_recorder_is_served(l->recorder))
		return start_elsewhere(l, err);
	status = fork_lookup(l, err);
	return status == HI_GONE ? HI_OK : status;
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

static enum hi_status work_elsewhere(struct hi_frame_lookup *l, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (l->is_elsewhere && !hi_recorder_has_names(l->recorder, &l->was_fine))
		return HI_OK;
	if (l->is_elsewhere)
		status = take_names(l, l->was_fine, err);
	l->is_elsewhere = false;
	return status == HI_OK && l->n_wanted ? start_lookup(l, err) : status;
}

enum hi_status hi_frame_lookup_work(struct hi_frame_lookup *l, struct hi_error *err)
{
	enum hi_status ret = HI_OK;
	int status = 0;
	pid_t ended;

	if (l->recorder && hi_recorder_is_served(l->recorder))
		return work_elsewhere(l, err);
	ended = l->pid ? waitpid(l->pid, &status, WNOHANG) : 0;
	if (ended != 0) {
		l->pid = 0;
		ret = take_names(l, ended > 0 && status == 0, err);
	}
	return ret == HI_OK && !l->pid && l->n_wanted ? start_lookup(l, err) : ret;
}

/* ---- for another process ---- */

static enum hi_status begin_for_other_process(void *arg, const uint64_t *addresses,
					      uint32_t n)
{
	struct hi_frame_lookup *l = arg;
	struct hi_error ignored;

	if (l->pid || n > HI_SYMBOLS_FRAMES)
		return HI_LIMIT;
	memcpy(l->wanted, addresses, n * sizeof(*addresses));
	l->n_wanted = n;
	return fork_lookup(l, &ignored);
}

static bool has_lookup_ended(void *arg, bool *fine_ret)
{
	struct hi_frame_lookup *l = arg;
	int status = 0;
	pid_t ended = l->pid ? waitpid(l->pid, &status, WNOHANG) : -1;

	if (ended == 0)
		return false;
	*fine_ret = ended > 0 && status == 0;
	l->pid = 0;
	return true;
}

/* ---- opening ---- */

/* Before any fork: whoever looks names up writes here. */
static enum hi_status map_found_names(struct hi_frame_lookup *l, struct hi_error *err)
{
	void *found = mmap(NULL, hi_symbols_frames_size(HI_SYMBOLS_FRAMES),
			   PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (found == MAP_FAILED)
		return hi_fail_memory(err, "names of frames");
	l->found = found;
	return HI_OK;
}

enum hi_status hi_frame_lookup_create(const struct hi_options *options,
				      struct hi_recorder *recorder,
				      struct hi_frame_lookup **ret, struct hi_error *err)
{
	HI_GUARD(hi_frame_lookup_destroy)
	struct hi_frame_lookup *l = hi_calloc(1, sizeof(*l));
	enum hi_status status;

	if (!l)
		return hi_fail_memory(err, "names of frames");
	l->options = options;
	l->recorder = recorder;
	if (recorder)
		l->codes = hi_recorder_python_codes(recorder);
	status = hi_frames_builder_create(&l->names, err);
	if (status == HI_OK)
		status = map_found_names(l, err);
	if (status != HI_OK)
		return status;
	if (recorder)
		hi_recorder_serve_names(
			recorder, &(struct hi_recorder_names){begin_for_other_process,
							      has_lookup_ended, l});
	*ret = hi_take(l);
	return HI_OK;
}
