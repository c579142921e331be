/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/decoder/decoder.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/exit_watch.h"
#include "attach/image_send.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/fork.h"
#include "cli/command/exit_codes.h"
#include "cli/decoder/decoder_signals.h"
#include "cli/decoder/memory_limit.h"
#include "cli/terminal/browse_terminal.h"
#include "session/live/decoder_files.h"
#include "session/live/recorder.h"
#include "session/live/stop_site.h"

enum { SEND_LIMIT_S = 30 };
enum { SERIES_FDS = HI_SERIES_FDS + HI_RECORDER_FDS + 4 };

static char *make_phase(void)
{
	void *page = mmap(NULL, HI_PHASE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* ---- the second process ---- */

static enum hi_status become_decoder(struct hi_decoder *d, pid_t parent,
				     struct hi_error *err)
{
	enum hi_status status;

	(void)prctl(PR_SET_NAME, "hi-decoder");
	if (d->in)
		d->in->phases.shown = d->phase;
	if (d->in && d->in->stop.target)
		hi_target_release(d->in->stop.target);
	if (d->output)
		hi_output_serve(d->output);
	/* The images of a series are memory of its own. */
	if (!d->has_keeper)
		hi_memory_limit_process();
	status = hi_rights_drop(&d->dropped, err);
	if (status != HI_OK) {
		struct hi_error why = *err;

		return hi_fail(err, status, 0,
			       "%.120s: --no-sandbox decodes with all privileges",
			       why.text);
	}
	if (getppid() != parent)
		_exit(HI_EXIT_ERROR); /* it died before this process asked for the signal
				       */
	hi_files_use(d->socket);
	if (d->options->output.verbose)
		hi_decoder_report_dropped(&d->dropped, "decoding");
	return d->in && d->in->image ? hi_image_adopt(d->in->image, err) : HI_OK;
}

/* ---- of a series ---- */

/* Pairs of sockets: [0] is the first process's. */
struct ends_of_series {
	struct hi_series *series;
	int keeper[2], events[2]; /* -1: no events are recorded */
};

static void list_series_fds(const struct hi_decoder *d, const struct ends_of_series *ends,
			    int fds[SERIES_FDS])
{
	const struct hi_run *run = d->run;
	size_t n = hi_series_fds(ends->series, fds);

	if (run->recorder)
		n += hi_recorder_fds(run->recorder, fds + n);
	if (run->exit_watch)
		fds[n++] = hi_exit_watch_fd(run->exit_watch);
	fds[n++] = d->socket;
	fds[n++] = ends->keeper[1];
	fds[n++] = ends->events[1];
	while (n < SERIES_FDS)
		fds[n++] = -1;
}

static bool is_series; /* this process runs one for a keeper */

void hi_decoder_end_series(int code)
{
	if (!is_series)
		return;
	(void)fflush(NULL);
	_exit(code);
}

/* The fork keeps nothing of what only the other process may use. */
static void leave_to_keeper(struct hi_decoder *d, struct ends_of_series *ends)
{
	const struct hi_run *run = d->run;
	int fds[SERIES_FDS];

	is_series = true;
	hi_exit_watch_view(run->exit_watch, hi_keeper_exit_state, d->client);
	list_series_fds(d, ends, fds);
	hi_rights_close_others(fds, SERIES_FDS);
	hi_rights_permit_accept(hi_series_marks_fd(ends->series));
	d->client->socket = ends->keeper[1];
	pthread_mutex_init(&d->client->lock, NULL);
	hi_series_be_served(ends->series, d->client);
	if (run->recorder)
		hi_recorder_be_served(run->recorder, ends->events[1]);
	hi_stop_observers_be_served(&run->observers, d->client);
}

/* ---- the first one ---- */

static bool open_pair(int ends[2], struct hi_error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
		return true;
	(void)!hi_fail_errno(err, "start the decoder process: socketpair");
	return false;
}

static enum hi_status fork_decoder(struct hi_decoder *d, struct ends_of_series *series,
				   struct hi_error *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (!open_pair(ends, err))
		return err->status;
	(void)fflush(NULL); /* what is buffered would be written twice */
	d->pid = hi_fork();
	d->socket = ends[d->pid == 0];
	close(ends[d->pid != 0]);
	if (d->pid == 0 && series)
		leave_to_keeper(d, series);
	if (d->pid == 0)
		return become_decoder(d, parent, err);
	if (d->pid > 0)
		return HI_OK;
	close(d->socket);
	return hi_fail_errno(err, "start the decoder process: fork (limits: ulimit -u, "
				  "pids.max; --no-sandbox starts none)");
}

enum hi_status hi_decoder_start(struct hi_decoder *ret, const struct hi_options *options,
				struct hi_inspection *in, struct hi_output *output,
				struct hi_error *err)
{
	struct hi_decoder d = {.options = options, .in = in, .output = output};
	bool has_image = in && in->image;
	enum hi_status status;

	d.phase = make_phase();
	if (!d.phase)
		return hi_fail_memory(err, "the decoder process");
	/* The fork must hold no descriptor of a probe: Note [The process that opens and
	 * closes probes] in probes/probe_holder.c. */
	if (in)
		hi_stop_site_release(in->stop.own_site);
	/* A phase ends in the process where it began: its processor time is that one's.
	 */
	if (in)
		hi_inspect_phase(in, NULL);
	if (has_image)
		hi_image_share(in->image);
	status = fork_decoder(&d, NULL, err);
	if (status == HI_OK && d.pid && has_image)
		hi_image_give_away(in->image);
	*ret = d;
	return status;
}

bool hi_decoder_serves_series(const struct hi_options *options)
{
	if (options->decoding.no_sandbox)
		return false;
	if (hi_images_can_be_sent())
		return true;
	if (options->output.verbose)
		fprintf(stderr,
			"heapinspect: the series is decoded with the rights of this "
			"user: a limit of file sizes (ulimit -f) does not permit the "
			"memory that a process without rights would get\n");
	return false;
}

static void close_ends(struct ends_of_series *ends, int of)
{
	hi_close_fd(hi_take_fd(ends->keeper[of]));
	hi_close_fd(hi_take_fd(ends->events[of]));
}

/* A process that was taken over may not receive what it asked for. */
static void limit_sending(int socket)
{
	const struct timeval limit = {.tv_sec = SEND_LIMIT_S};

	(void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static enum hi_status open_ends(struct ends_of_series *ends, bool has_events,
				struct hi_error *err)
{
	if (!open_pair(ends->keeper, err))
		return err->status;
	limit_sending(ends->keeper[0]);
	if (has_events && open_pair(ends->events, err))
		limit_sending(ends->events[0]);
	if (!has_events || ends->events[0] >= 0)
		return HI_OK;
	close_ends(ends, 0);
	close_ends(ends, 1);
	return err->status;
}

static enum hi_status begin_keeping(struct hi_decoder *d, struct ends_of_series *ends,
				    struct hi_error *err)
{
	const struct hi_run *run = d->run;

	hi_series_keep_target(ends->series);
	d->keeper = (struct hi_keeper){.options = d->options,
				       .run = *hi_series_census_run(ends->series),
				       .socket = ends->keeper[0]};
	if (!run->recorder)
		return HI_OK;
	hi_recorder_keep_probes(run->recorder, ends->events[0]);
	return hi_recorder_run(run->recorder, err);
}

enum hi_status hi_decoder_start_series(struct hi_decoder *ret,
				       const struct hi_options *options,
				       const struct hi_run *run, struct hi_series *series,
				       struct hi_output *output, struct hi_error *err)
{
	struct hi_decoder d = {
		.options = options, .run = run, .output = output, .has_keeper = true};
	struct ends_of_series ends = {series, {-1, -1}, {-1, -1}};
	enum hi_status status = hi_exit_watch_share(run->exit_watch, err);

	d.phase = make_phase();
	d.client = hi_calloc(1, sizeof(*d.client));
	if (status == HI_OK && (!d.phase || !d.client))
		status = hi_fail_memory(err, "the decoder process");
	if (status == HI_OK)
		status = open_ends(&ends, run->recorder, err);
	if (status == HI_OK)
		status = fork_decoder(&d, &ends, err);
	if (d.pid)
		close_ends(&ends, 1);
	if (status == HI_OK && d.pid)
		status = begin_keeping(&d, &ends, err);
	*ret = d;
	return status;
}

/* Hostile: the other process writes it. */
static void copy_phase(const struct hi_decoder *d, char out[HI_PHASE])
{
	memcpy(out, d->phase, HI_PHASE);
	out[HI_PHASE - 1] = 0;
	for (char *c = out; *c; c++)
		if (!isalpha((unsigned char)*c) && *c != ' ')
			*c = '?';
}

static void report_killed_decoder(const struct hi_decoder *d, int number)
{
	bool has_target = d->has_keeper || (d->in && d->in->stop.target);
	char phase[HI_PHASE];

	copy_phase(d, phase);
	hi_browse_terminal_leave();
	fprintf(stderr,
		"heapinspect: the decoder process was killed by signal %d (%s)%s%s%s; "
		"%s%s%s\n",
		number, strsignal(number), *phase ? " while \"" : "", phase,
		*phase ? "\"" : "", has_target ? "the target runs on, unharmed; " : "",
		d->has_keeper ? "a file has what was complete before"
			      : "no file was written",
		number == SIGKILL
			? ". If it was the kernel, memory ran out"
			: ". --no-sandbox decodes in one process, for a debugger");
}

int hi_decoder_wait(struct hi_decoder *d)
{
	struct hi_decoder_signals before;
	siginfo_t end = {};
	int status = 0;

	/* A series has actions of its own, which both processes see. */
	if (!d->has_keeper)
		hi_decoder_signals_begin(&before, d->pid);
	hi_decoder_serve(d);
	close(d->socket);
	if (d->has_keeper)
		close(d->keeper.socket);
	hi_keeper_close(&d->keeper);
	free(hi_take(d->client));
	/* Not reaped before no signal goes to its number any more. */
	while (waitid(P_PID, (id_t)d->pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	if (!d->has_keeper)
		hi_decoder_signals_end(&before,
				       end.si_code == CLD_EXITED ? 0 : end.si_status);
	while (waitpid(d->pid, &status, 0) < 0)
		if (errno != EINTR)
			return HI_EXIT_ERROR;
	d->ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (d->ended_by)
		report_killed_decoder(d, d->ended_by);
	munmap(d->phase, HI_PHASE);
	return WIFEXITED(status) ? WEXITSTATUS(status) : HI_EXIT_ERROR;
}
