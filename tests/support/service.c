/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/service.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"

static void end_deferred(struct hi_service *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		for (int i = 0; i < 300 && waitpid(s->pid, NULL, WNOHANG) == 0; i++)
			usleep(10000);
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, WNOHANG);
	}
	hi_command_run(0, "rm", "-rf", s->directory, NULL);
	free(s);
}

struct hi_service *hi_service_create(void)
{
	struct hi_service *s = calloc(1, sizeof(*s));

	HI_ASSERT(s);
	s->fd = -1;
	strcpy(s->directory, "/tmp/heapinspect-service-XXXXXX");
	HI_ASSERT(mkdtemp(s->directory));
	chmod(s->directory, 0755);
	snprintf(s->socket_path, sizeof(s->socket_path), "%s/socket", s->directory);
	hi_test_defer(end_deferred, s);
	return s;
}

static int try_connect(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void hi_service_start(struct hi_service *s, int wants_connection,
		      const char *const argv[])
{
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	s->pid = fork();
	HI_ASSERT(s->pid >= 0);
	if (s->pid == 0) {
		int null = open("/dev/null", O_RDWR);

		hi_child_signals();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		/* execvp does not write to its argv. */
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	for (int i = 0; wants_connection && s->fd < 0 && i < 6000; i++) {
		usleep(10000);
		s->fd = try_connect(s->socket_path);
	}
	HI_ASSERT_MSG(!wants_connection || s->fd >= 0, "%s does not answer", argv[0]);
}

struct hi_service *hi_service_start_redis(const char *program, ...)
{
	struct hi_service *s = hi_service_create();
	char path[200];
	const char *argv[24] = {path,		"--port", "0",	       "--unixsocket",
				s->socket_path, "--save", "",	       "--appendonly",
				"no",		"--dir",  s->directory};
	size_t n = 11;
	va_list ap;

	va_start(ap, program);
	while ((argv[n] = va_arg(ap, const char *)))
		HI_ASSERT(++n < sizeof(argv) / sizeof(argv[0]));
	va_end(ap);
	snprintf(path, sizeof(path), HI_SOURCE_DIR "/build/targets/%s", program);
	if (access(path, X_OK) != 0)
		HI_SKIP("no redis: run scripts/build-targets build/targets");
	hi_service_start(s, 1, argv);
	return s;
}

int hi_service_connect(struct hi_service *s)
{
	int fd = try_connect(s->socket_path);

	HI_ASSERT(fd >= 0);
	return fd;
}

size_t hi_service_read(struct hi_service *s, void *buffer, size_t size)
{
	struct pollfd pfd = {.fd = s->fd, .events = POLLIN};
	ssize_t n;

	HI_ASSERT_MSG(poll(&pfd, 1, 300000) > 0, "the service does not answer");
	n = read(s->fd, buffer, size);
	HI_ASSERT_MSG(n > 0, "the service hung up");
	return (size_t)n;
}

static void send_all(struct hi_service *s, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(s->fd, text, size);

		HI_ASSERT(n > 0);
		text += n;
		size -= (size_t)n;
	}
}

const char *hi_service_ask(struct hi_service *s, const char *text, const char *end)
{
	static char reply[1 << 16];
	size_t used = 0, tail = strlen(end);

	send_all(s, text, strlen(text));
	do {
		used += hi_service_read(s, reply + used, sizeof(reply) - 1 - used);
		reply[used] = 0;
	} while (used < tail || strcmp(reply + used - tail, end) != 0);
	return reply;
}

void hi_service_send(struct hi_service *s, const char *text, size_t size,
		     size_t n_replies)
{
	char buffer[1 << 14];

	send_all(s, text, size);
	while (n_replies) {
		size_t n = hi_service_read(s, buffer, sizeof(buffer));

		for (size_t i = 0; i < n; i++)
			n_replies -= buffer[i] == '\n';
	}
}
