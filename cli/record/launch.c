/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fork.h"
#include "base/text.h"
#include "cli/command/exit_codes.h"

enum { PATH_SIZE = 4096 };

static void (*sigpipe_handler)(int) = SIG_DFL;

void hi_launch_keep_sigpipe(void (*handler)(int))
{
	sigpipe_handler = handler;
}

static void print_launch_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void print_launch_line(const char *fmt, ...)
{
	char text[PATH_SIZE + 512], safe[4 * sizeof(text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
}

/* ---- programs that would have other rights ---- */

/* As execvp() finds it; "": it does not. */
static void find_in_path(const char *name, char out[PATH_SIZE])
{
	const char *path = getenv("PATH");

	snprintf(out, PATH_SIZE, "%s", strchr(name, '/') ? name : "");
	for (const char *at = path ? path : "/bin:/usr/bin"; at && !*out;) {
		size_t n = strcspn(at, ":");

		snprintf(out, PATH_SIZE, "%.*s%s%s", (int)(n < PATH_SIZE ? n : 0), at,
			 n ? "/" : "./", name);
		if (access(out, X_OK) != 0)
			*out = 0;
		at = at[n] ? at + n + 1 : NULL;
	}
}

/*
 * The kernel starts a traced program without the rights of its file, unless the tracer
 * may trace any: then it would run with more than the caller has. Neither is what was
 * asked for.
 */
static bool has_rights_of_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st.st_gid != getgid())
		return true;
	return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* ---- the child ---- */

struct gate {
	int go[2];     /* a byte: start the program */
	int failed[2]; /* errno of the start; closed by it */
};

static void close_gate(struct gate *gate)
{
	for (int i = 0; i < 2; i++) {
		hi_close_fd(gate->go[i]);
		hi_close_fd(gate->failed[i]);
		gate->go[i] = gate->failed[i] = -1;
	}
}

static bool open_gate(struct gate *gate)
{
	*gate = (struct gate){{-1, -1}, {-1, -1}};
	if (pipe2(gate->go, O_CLOEXEC) == 0 && pipe2(gate->failed, O_CLOEXEC) == 0)
		return true;
	close_gate(gate);
	return false;
}

/* The caller's rights, also if this program was installed with others. */
static bool take_callers_rights(void)
{
	return setresgid(getgid(), getgid(), getgid()) == 0 &&
	       setresuid(getuid(), getuid(), getuid()) == 0;
}

static _Noreturn void run_program(struct gate *gate, char *const *argv, pid_t parent)
{
	char byte;
	int error;

	close(gate->go[1]);
	/* Yama lets a process be traced by its ancestors and whom it names. */
	(void)prctl(PR_SET_PTRACER, (unsigned long)parent);
	if (read(gate->go[0], &byte, 1) != 1)
		_exit(HI_LAUNCH_NOT_FOUND);
	signal(SIGPIPE, sigpipe_handler);
	if (take_callers_rights())
		execvp(argv[0], argv);
	error = errno;
	(void)!write(gate->failed[1], &error, sizeof(error));
	_exit(HI_LAUNCH_NOT_FOUND);
}

/* ---- signals ---- */

static const int passed_on[HI_LAUNCH_SIGNALS] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
static volatile pid_t receiver; /* a handler has no other way to know */

static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (receiver > 0 && info->si_code <= 0) /* by a process, not a terminal */
		kill(receiver, number);
}

static void begin_passing(struct hi_launch *launch)
{
	struct sigaction action = {.sa_sigaction = pass_on,
				   .sa_flags = SA_SIGINFO | SA_RESTART};

	receiver = launch->pid;
	for (size_t i = 0; i < HI_LAUNCH_SIGNALS; i++) {
		sigaction(passed_on[i], NULL, &launch->before[i]);
		if (launch->before[i].sa_handler != SIG_IGN)
			sigaction(passed_on[i], &action, NULL);
	}
}

void hi_launch_release_signals(struct hi_launch *launch)
{
	if (!receiver)
		return;
	receiver = 0;
	for (size_t i = 0; i < HI_LAUNCH_SIGNALS; i++)
		sigaction(passed_on[i], &launch->before[i], NULL);
}

/* ---- the start ---- */

static enum hi_status watch_child_process(struct hi_launch *launch, struct hi_error *err)
{
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;
	enum hi_status status;

	launch->pidfd = pidfd_open(launch->pid, 0);
	if (launch->pidfd < 0)
		return hi_fail_errno(err, "pidfd_open");
	status = hi_target_open(launch->pid, &target, err);
	return status == HI_OK ? hi_exit_watch_begin(&launch->watch, target, err)
			       : status;
}

static void reap_program(struct hi_launch *launch)
{
	hi_exit_watch_end(&launch->watch);
	hi_close_fd(launch->pidfd);
	while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Lets it begin. errno of a start that failed; 0: it runs. */
static int start_program(struct gate *gate)
{
	int error = 0;
	ssize_t n;

	hi_close_fd(gate->failed[1]);
	gate->failed[1] = -1;
	if (write(gate->go[1], "", 1) != 1)
		return errno;
	do
		n = read(gate->failed[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? error : 0;
}

static int start_child(struct hi_launch *launch, struct gate *gate, char *const *argv)
{
	struct hi_error err = {};
	pid_t parent = getpid();
	int error;

	(void)fflush(NULL); /* what is buffered would be written twice */
	launch->pid = hi_fork();
	if (launch->pid == 0)
		run_program(gate, argv, parent);
	if (launch->pid < 0) {
		print_launch_line("%s: cannot be started: fork: %s", argv[0],
				  strerror(errno));
		return HI_LAUNCH_CANNOT_RUN;
	}
	begin_passing(launch);
	if (watch_child_process(launch, &err) != HI_OK) {
		print_launch_line("%s: not started: %s", argv[0], err.text);
		close_gate(gate);
		hi_launch_release_signals(launch);
		reap_program(launch);
		return HI_EXIT_CANNOT_ATTACH;
	}
	error = start_program(gate);
	if (!error)
		return 0;
	hi_launch_release_signals(launch);
	reap_program(launch);
	print_launch_line("%s: cannot be started: %s", argv[0], strerror(error));
	return error == ENOENT ? HI_LAUNCH_NOT_FOUND : HI_LAUNCH_CANNOT_RUN;
}

static int launch_program(struct hi_launch *ret, char *const *argv)
{
	char path[PATH_SIZE];
	struct hi_error err;
	struct gate gate;
	int code;

	if (hi_target_check_proc(&err) != HI_OK) {
		print_launch_line("%s: not started: %s", argv[0], err.text);
		return HI_LAUNCH_CANNOT_RUN;
	}
	find_in_path(argv[0], path);
	if (*path && has_rights_of_file(path)) {
		print_launch_line("%s: not started: its file gives it other rights "
				  "(setuid, setgid or capabilities), which a traced "
				  "program does not get; start it by itself, and inspect "
				  "it with --pid as root",
				  path);
		return HI_LAUNCH_CANNOT_RUN;
	}
	if (!open_gate(&gate)) {
		print_launch_line("%s: cannot be started: pipe: %s", argv[0],
				  strerror(errno));
		return HI_LAUNCH_CANNOT_RUN;
	}
	code = start_child(ret, &gate, argv);
	close_gate(&gate);
	return code;
}

int hi_launch_start(struct hi_launch *ret, char *const *argv)
{
	*ret = (struct hi_launch){.owner = getpid(), .pidfd = -1};
	return launch_program(ret, argv);
}

int hi_launch_start_held(struct hi_launch *ret, char *const *argv)
{
	struct hi_error err = {};
	int code;

	*ret = (struct hi_launch){.owner = getpid(), .pidfd = -1};
	if (hi_exit_watch_hold_start(&ret->watch, &err) != HI_OK) {
		print_launch_line("%s: cannot be started: %s", argv[0], err.text);
		return HI_LAUNCH_CANNOT_RUN;
	}
	code = launch_program(ret, argv);
	/* A program that ends before that has its end watched. */
	if (!code)
		(void)hi_exit_watch_await_start(&ret->watch);
	return code;
}

/* ---- the end ---- */

bool hi_launch_await_end(struct hi_launch *launch)
{
	struct pollfd fds[] = {{.fd = launch->pidfd, .events = POLLIN},
			       {.events = POLLIN}};

	while (hi_exit_watch_look(&launch->watch) != HI_EXIT_STANDS) {
		fds[1].fd = hi_exit_watch_fd(&launch->watch);
		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			return hi_exit_watch_look(&launch->watch) == HI_EXIT_STANDS;
	}
	return true;
}

int hi_launch_finish(struct hi_launch *launch, int own)
{
	int status = 0, code;

	if (getpid() != launch->owner)
		return own; /* the decoder process */
	hi_exit_watch_end(&launch->watch);
	while (waitpid(launch->pid, &status, 0) < 0)
		if (errno != EINTR)
			return HI_EXIT_ERROR;
	hi_launch_release_signals(launch);
	hi_close_fd(launch->pidfd);
	code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return code ? code : own;
}
