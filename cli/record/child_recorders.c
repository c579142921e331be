/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/child_recorders.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/forked.h"
#include "base/fork.h"
#include "cli/command/exit_codes.h"

enum { LOOK_MS = 50, FOUND_MAX = 256 };

struct child_recorders;

struct child_recorder {
	const struct child_recorders *all;
	struct hi_forked_process child;
	pid_t pid;  /* of the recorder; 0: it has ended */
	int errors; /* what it prints */
};

struct child_recorders {
	const struct hi_options *options;
	hi_child_recorder_fn *run;
	int to;
	const sigset_t *before;
	struct child_recorder list[HI_CHILD_RECORDERS_MAX];
	size_t n, running;
	bool is_ending, is_at_limit;
	bool one_waits; /* and that was said */
};

void hi_child_recorder_file(const struct hi_options *options, pid_t child, char *out,
			    size_t size)
{
	snprintf(out, size, "%s.%d", options->output.file, (int)child);
}

static void say_of_child(const struct child_recorders *c, enum hi_child_event event,
			 pid_t pid, const char *failure)
{
	struct hi_child_message message = {.event = event, .pid = pid};

	snprintf(message.failure, sizeof(message.failure), "%s", failure);
	/* If it is not read, the process that started this one has ended. */
	(void)!write(c->to, &message, sizeof(message));
}

/* ---- one recorder ---- */

static void say_recorded(void *arg)
{
	const struct child_recorder *r = arg;

	say_of_child(r->all, HI_CHILD_RECORDED, r->child.pid, "");
}

/* The options of `record --pid CHILD -o FILE.CHILD`: it ends by a signal. */
static struct hi_options options_of_recorder(struct child_recorder *r, const char *file)
{
	struct hi_options o = *r->all->options;

	o.target = (struct hi_target_options){.pid = r->child.pid};
	o.series = (struct hi_series_options){};
	o.record.children = false;
	o.output.file = file;
	o.output.json = o.output.verbose = false;
	o.output.quiet = true;
	return o;
}

_Noreturn static void be_recorder(struct child_recorder *r, pid_t parent)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	char file[PATH_MAX];
	struct hi_run run = {.begun = say_recorded, .begun_arg = r};
	struct hi_options o;
	sigset_t interrupt;

	prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent || nowhere < 0)
		_exit(HI_EXIT_ERROR);
	dup2(nowhere, STDIN_FILENO);
	dup2(nowhere, STDOUT_FILENO);
	dup2(r->errors, STDERR_FILENO);
	/* SIGINT stays blocked: it ends the recording whenever it comes, and nothing
	 * else. */
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_SETMASK, r->all->before, NULL);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	hi_child_recorder_file(r->all->options, r->child.pid, file, sizeof(file));
	o = options_of_recorder(r, file);
	exit(r->all->run(&o, &run));
}

static void start_recorder(struct child_recorders *c,
			   const struct hi_forked_process *child)
{
	struct child_recorder *r = &c->list[c->n];
	pid_t self = getpid();

	*r = (struct child_recorder){.child = *child, .all = c};
	r->errors = memfd_create("recorder", MFD_CLOEXEC);
	r->pid = r->errors < 0 ? -1 : hi_fork();
	if (r->pid == 0)
		be_recorder(r, self);
	c->n++;
	c->one_waits = false;
	say_of_child(c, HI_CHILD_STARTED, child->pid, "");
	if (r->pid > 0) {
		c->running++;
		return;
	}
	r->pid = 0;
	say_of_child(c, HI_CHILD_ENDED, child->pid, "no process could be started");
}

/* The last line that it printed, without the name of the program. */
static void last_error(int fd, char *out, size_t size)
{
	static const char name[] = "heapinspect: ";
	char text[4096], *line;
	off_t end = lseek(fd, 0, SEEK_END);
	off_t start = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	ssize_t n = pread(fd, text, sizeof(text) - 1, start);

	n = n < 0 ? 0 : n;
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (strncmp(line, name, sizeof(name) - 1) == 0)
		line += sizeof(name) - 1;
	snprintf(out, size, "%.*s", (int)size - 1,
		 *line ? line : "its recorder has ended");
}

static void end_recorder(struct child_recorders *c, struct child_recorder *r, int status)
{
	char failure[HI_CHILD_FAILURE_SIZE] = "";
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (WIFSIGNALED(status))
		snprintf(failure, sizeof(failure), "its recorder was ended by signal %d",
			 WTERMSIG(status));
	else if (code != HI_EXIT_FINE && code != HI_EXIT_FINDING &&
		 code != HI_EXIT_PARTIAL)
		last_error(r->errors, failure, sizeof(failure));
	close(r->errors);
	r->pid = 0;
	c->running--;
	say_of_child(c, HI_CHILD_ENDED, r->child.pid, failure);
}

/* ---- all of them ---- */

static void reap_recorders(struct child_recorders *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct child_recorder *r = &c->list[i];
		int status;

		if (r->pid && waitpid(r->pid, &status, WNOHANG) == r->pid)
			end_recorder(c, r, status);
	}
}

static void signal_recorders(const struct child_recorders *c, int number)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].pid)
			kill(c->list[i].pid, number);
}

static bool is_same_process(const struct hi_forked_process *a,
			    const struct hi_forked_process *b)
{
	return a->pid == b->pid && a->start_time == b->start_time;
}

static bool is_known_child(const struct child_recorders *c,
			   const struct hi_forked_process *child)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_same_process(&c->list[i].child, child))
			return true;
	return false;
}

static void take_child(struct child_recorders *c, const struct hi_forked_process *child)
{
	if (is_known_child(c, child))
		return;
	if (c->n == HI_CHILD_RECORDERS_MAX) {
		if (!c->is_at_limit)
			say_of_child(c, HI_CHILD_LIMIT, child->pid, "");
		c->is_at_limit = true;
	} else if (c->running < HI_CHILD_RECORDERS_AT_ONCE) {
		start_recorder(c, child);
	} else if (!c->one_waits) {
		c->one_waits = true;
		say_of_child(c, HI_CHILD_WAITS, child->pid, "");
	}
}

static void look_for_children(struct child_recorders *c)
{
	struct hi_forked_process found[FOUND_MAX];
	pid_t parents[HI_CHILD_RECORDERS_MAX + 1] = {c->options->target.pid};
	size_t n_parents = 1, n;

	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].pid)
			parents[n_parents++] = c->list[i].child.pid;
	n = hi_forked_find(parents, n_parents, found, FOUND_MAX);
	for (size_t i = 0; i < n; i++)
		take_child(c, &found[i]);
}

_Noreturn void hi_child_recorders_run(const struct hi_options *options,
				      hi_child_recorder_fn *run, int to,
				      const sigset_t *before)
{
	struct child_recorders c = {
		.options = options, .run = run, .to = to, .before = before};
	const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000};
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	while (!c.is_ending || c.running) {
		if (sigtimedwait(&signals, NULL, &nap) == SIGTERM) {
			/* The second one acts as it does on `record` itself. */
			signal_recorders(&c, c.is_ending ? SIGTERM : SIGINT);
			c.is_ending = true;
		}
		reap_recorders(&c);
		if (!c.is_ending)
			look_for_children(&c);
	}
	_exit(0);
}
