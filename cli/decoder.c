/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/decoder.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/fork.h"
#include "cli/browse_terminal.h"
#include "cli/decoder_signals.h"
#include "cli/exit_codes.h"
#include "cli/memory_limit.h"
#include "session/live/decoder_files.h"
#include "session/live/stop_site.h"

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
	hi_output_serve(d->output);
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

/* ---- the first one ---- */

static enum hi_status fork_decoder(struct hi_decoder *d, struct hi_error *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return hi_fail_errno(err, "start the decoder process: socketpair");
	(void)fflush(NULL); /* what is buffered would be written twice */
	d->pid = hi_fork();
	d->socket = ends[d->pid == 0];
	close(ends[d->pid != 0]);
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
	 * closes probes] in probes/holder.c. */
	if (in)
		hi_stop_site_release(in->stop.own_site);
	if (has_image)
		hi_image_share(in->image);
	status = fork_decoder(&d, err);
	if (status == HI_OK && d.pid && has_image)
		hi_image_give_away(in->image);
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
	char phase[HI_PHASE];

	copy_phase(d, phase);
	hi_browse_terminal_leave();
	fprintf(stderr,
		"heapinspect: the decoder process was killed by signal %d (%s)%s%s%s; "
		"%sno file was written%s\n",
		number, strsignal(number), *phase ? " while \"" : "", phase,
		*phase ? "\"" : "",
		d->in && d->in->stop.target ? "the target runs on, unharmed; " : "",
		number == SIGKILL
			? ". If it was the kernel, memory ran out"
			: ". --no-sandbox decodes in one process, for a debugger");
}

int hi_decoder_wait(struct hi_decoder *d)
{
	struct hi_decoder_signals before;
	siginfo_t end = {};
	int status = 0;

	hi_decoder_signals_begin(&before, d->pid);
	hi_decoder_serve(d);
	close(d->socket);
	/* Not reaped before no signal goes to its number any more. */
	while (waitid(P_PID, (id_t)d->pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	hi_decoder_signals_end(&before, end.si_code == CLD_EXITED ? 0 : end.si_status);
	while (waitpid(d->pid, &status, 0) < 0)
		if (errno != EINTR)
			return HI_EXIT_ERROR;
	d->ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (d->ended_by)
		report_killed_decoder(d, d->ended_by);
	munmap(d->phase, HI_PHASE);
	return WIFEXITED(status) ? WEXITSTATUS(status) : HI_EXIT_ERROR;
}
