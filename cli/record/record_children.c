/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_children.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fork.h"
#include "base/text.h"
#include "cli/record/record_progress.h"

struct hi_record_children {
	const struct hi_options *options;
	pid_t pid; /* of the process that starts recorders; 0: it has ended */
	int from;  /* the pipe */
	bool is_ended;
	struct hi_recorded_child list[HI_CHILD_RECORDERS_MAX];
	struct child_texts {
		char file[PATH_MAX];
		char failure[HI_CHILD_FAILURE_SIZE];
	} texts[HI_CHILD_RECORDERS_MAX];
	size_t n;
};

/* ---- start ---- */

/* In a group of its own: ^C is for the command, which ends the recordings in order. */
_Noreturn static void be_children_process(const struct hi_options *options,
					  hi_child_recorder_fn *run, int to, pid_t parent,
					  const sigset_t *before)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	hi_child_recorders_run(options, run, to, before);
}

enum hi_status hi_record_children_start(const struct hi_options *options,
					hi_child_recorder_fn *run,
					struct hi_record_children **ret,
					struct hi_error *err)
{
	HI_GUARD(hi_record_children_close)
	struct hi_record_children *c = hi_calloc(1, sizeof(*c));
	pid_t self = getpid();
	sigset_t set, before;
	int ends[2];

	if (!c)
		return hi_fail_memory(err, "children");
	c->options = options;
	c->from = -1;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return hi_fail_errno(err, "pipe");
	c->from = ends[0];
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	c->pid = hi_fork();
	if (c->pid == 0) {
		close(ends[0]);
		be_children_process(options, run, ends[1], self, &before);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (c->pid < 0) {
		c->pid = 0;
		return hi_fail_errno(err, "fork");
	}
	fcntl(c->from, F_SETFL, O_NONBLOCK);
	*ret = hi_take(c);
	return HI_OK;
}

/* ---- what happens ---- */

static void add_recorded_child(struct hi_record_children *c, pid_t pid)
{
	struct child_texts *texts = &c->texts[c->n];

	if (c->n == HI_CHILD_RECORDERS_MAX)
		return;
	hi_child_recorder_file(c->options, pid, texts->file, sizeof(texts->file));
	snprintf(texts->failure, sizeof(texts->failure), "its recorder has ended");
	c->list[c->n++] = (struct hi_recorded_child){
		.pid = pid, .file = texts->file, .failure = texts->failure};
}

/* A pid may come again: the newest one. */
static void end_recorded_child(struct hi_record_children *c,
			       const struct hi_child_message *message)
{
	for (size_t i = c->n; i-- > 0;)
		if (c->list[i].pid == message->pid) {
			snprintf(c->texts[i].failure, sizeof(c->texts[i].failure), "%s",
				 message->failure);
			if (!*message->failure)
				c->list[i].failure = NULL;
			return;
		}
}

static void describe_message(const struct hi_record_children *c,
			     const struct hi_child_message *m, char *out, size_t size)
{
	char file[PATH_MAX];

	hi_child_recorder_file(c->options, m->pid, file, sizeof(file));
	if (m->event == HI_CHILD_RECORDED)
		snprintf(out, size, "recording child %d into %s", (int)m->pid, file);
	else if (m->event == HI_CHILD_WAITS)
		snprintf(out, size,
			 "child %d is not recorded before another one has exited: %d are "
			 "recorded at one time",
			 (int)m->pid, HI_CHILD_RECORDERS_AT_ONCE);
	else if (m->event == HI_CHILD_LIMIT)
		snprintf(out, size,
			 "child %d and later ones are not recorded: %d have been",
			 (int)m->pid, HI_CHILD_RECORDERS_MAX);
	else if (*m->failure)
		snprintf(out, size, "child %d has no file: %s", (int)m->pid, m->failure);
	else
		snprintf(out, size, "child %d has exited", (int)m->pid);
}

static void take_child_message(struct hi_record_children *c,
			       const struct hi_child_message *message,
			       struct hi_record_progress *progress)
{
	char text[PATH_MAX + 64];

	if (message->event == HI_CHILD_STARTED)
		add_recorded_child(c, message->pid);
	if (message->event == HI_CHILD_ENDED)
		end_recorded_child(c, message);
	if (message->event == HI_CHILD_STARTED || !progress || c->options->output.quiet)
		return;
	describe_message(c, message, text, sizeof(text));
	hi_record_progress_note(progress, text);
}

void hi_record_children_look(struct hi_record_children *c,
			     struct hi_record_progress *progress)
{
	struct hi_child_message message;

	while (c && c->pid &&
	       read(c->from, &message, sizeof(message)) == sizeof(message)) {
		message.failure[sizeof(message.failure) - 1] = '\0';
		take_child_message(c, &message, progress);
	}
}

/* ---- the end ---- */

void hi_record_children_end(struct hi_record_children *c)
{
	if (!c || !c->pid || c->is_ended)
		return;
	c->is_ended = true;
	kill(c->pid, SIGTERM);
}

void hi_record_children_finish(struct hi_record_children *c)
{
	if (!c || !c->pid)
		return;
	hi_record_children_end(c);
	fcntl(c->from, F_SETFL, 0);
	/* To the end of the pipe. */
	hi_record_children_look(c, NULL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

void hi_record_children_close(struct hi_record_children *c)
{
	if (!c)
		return;
	hi_record_children_finish(c);
	if (c->from >= 0)
		close(c->from);
	free(c);
}

const struct hi_recorded_child *
hi_record_children_list(const struct hi_record_children *c, size_t *n_ret)
{
	*n_ret = c ? c->n : 0;
	return c ? c->list : NULL;
}

void hi_record_children_print(const struct hi_record_children *c)
{
	char text[4 * PATH_MAX];

	for (size_t i = 0; c && i < c->n; i++) {
		const struct hi_recorded_child *child = &c->list[i];
		const char *what = child->failure ? child->failure : child->file;

		hi_text_escape(text, sizeof(text), what, strlen(what));
		fprintf(stderr, "heapinspect: child %d: %s\n", child->pid, text);
	}
}
