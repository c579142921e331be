/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process that gave its rights up may still do: in a fork, each of it is tried.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rights.h"
#include "tests/harness.h"
#include "tests/support/payload.h"

struct notes {
	struct hi_payload_notes payload;
	int reads, maps, starts_threads, allocates, waits, writes_to_descriptors;
	bool dropped_user, landlock;
	enum hi_status status;
	char text[sizeof(((struct hi_error *)NULL)->text)];
};

static char path[] = "/tmp/heapinspect-rights-XXXXXX";

static void remove_path(void *arg)
{
	(void)arg;
	unlink(path);
}

static void *add_one(void *arg)
{
	(*(int *)arg)++;
	return NULL;
}

static int open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	HI_ASSERT(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	return open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* The work of a decoder. */
static void do_what_is_left(struct notes *n, int given, int pipe_end)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), more = 41;
	pthread_t thread;
	char byte;
	void *bytes;

	if (fd < 0) /* where this test lies only root may look */
		fd = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
	n->reads = fd >= 0 && pread(fd, &byte, 1, 1) == 1 && byte == 'E';
	n->maps = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED;
	n->starts_threads = pthread_create(&thread, NULL, add_one, &more) == 0 &&
			    pthread_join(thread, NULL) == 0 && more == 42;
	bytes = malloc(64 << 20);
	n->allocates = bytes != NULL;
	if (bytes)
		memset(bytes, 1, 64 << 20);
	free(bytes);
	n->writes_to_descriptors =
		write(given, "x", 1) == 1 && write(pipe_end, "x", 1) == 1;
	n->waits = usleep(1) == 0;
}

static _Noreturn void be_the_fork(struct notes *n, int *ends, int given,
				  const struct hi_payload *payload)
{
	struct hi_rights_dropped dropped = {};
	struct hi_error err = {};
	char byte;

	n->status = hi_rights_drop(&dropped, &err);
	snprintf(n->text, sizeof(n->text), "%s", err.text);
	n->dropped_user = dropped.user;
	n->landlock = dropped.landlock;
	if (n->status == HI_OK) {
		do_what_is_left(n, given, ends[1]);
		hi_payload_run(payload, &n->payload);
	}
	close(ends[1]);
	close(ends[3]);
	(void)!read(ends[2], &byte, 1); /* the parent looks at us before we end */
	_exit(0);
}

static const char *status_of(pid_t pid, const char *key)
{
	static char line[256];
	char name[64];
	FILE *file;
	size_t n = strlen(key);
	const char *found = "";

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	file = fopen(name, "re");
	HI_ASSERT(file);
	while (!*found && fgets(line, sizeof(line), file))
		if (strncmp(line, key, n) == 0 && line[n] == ':') {
			line[strcspn(line, "\n")] = 0;
			found = line + n + 1 + strspn(line + n + 1, "\t");
		}
	fclose(file);
	return found;
}

static void check_status(pid_t pid, bool was_root)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};

	for (size_t i = 0; i < 4; i++)
		HI_ASSERT_STREQ("0000000000000000", status_of(pid, sets[i]));
	HI_ASSERT_STREQ("1", status_of(pid, "NoNewPrivs"));
	HI_ASSERT_STREQ("2", status_of(pid, "Seccomp"));
	if (!was_root)
		return;
	HI_ASSERT_STREQ("0000000000000000", status_of(pid, "CapBnd"));
	HI_ASSERT_STREQ("65534\t65534\t65534\t65534", status_of(pid, "Uid"));
	HI_ASSERT_STREQ("65534\t65534\t65534\t65534", status_of(pid, "Gid"));
	HI_ASSERT_EQ(0, strspn(status_of(pid, "Groups"), "0123456789"));
}

static void check_notes(const struct notes *n)
{
	HI_ASSERT_MSG(n->status == HI_OK, "%s", n->text);
	HI_ASSERT(n->reads);
	HI_ASSERT(n->maps);
	HI_ASSERT(n->starts_threads);
	HI_ASSERT(n->allocates);
	HI_ASSERT(n->writes_to_descriptors);
	HI_ASSERT(n->waits);
	hi_payload_check(&n->payload);
	hi_test_note("user nobody: %d, Landlock: %d", n->dropped_user, n->landlock);
}

HI_TEST_SCENARIO(rights, a_process_that_gave_them_up_computes_and_can_do_nothing_else)
{
	struct notes *n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hi_payload payload = {
		.other = getpid(),
		.other_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0),
		.path = path,
		.datagrams = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		.terminal = open_terminal()};
	int ends[4], status = -1, given = mkstemp(path);
	char byte;
	pid_t pid;

	HI_ASSERT(n != MAP_FAILED && payload.other_pidfd >= 0);
	HI_ASSERT(given >= 0 && fchmod(given, 0666) == 0);
	hi_test_defer(remove_path, NULL);
	payload.reader = open(path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(pipe(ends) == 0 && pipe(ends + 2) == 0);
	payload.pipe_end = ends[1];
	for (size_t i = 0; i < HI_PAYLOAD_MOST; i++)
		n->payload.error[i] = -1;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		be_the_fork(n, ends, given, &payload);
	}
	close(ends[1]);
	close(ends[2]);
	/* It has tried all when it closes its end. */
	HI_ASSERT_EQ(1, read(ends[0], &byte, 1));
	HI_ASSERT_EQ(0, read(ends[0], &byte, 1));
	check_status(pid, geteuid() == 0);
	close(ends[3]);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
	check_notes(n);
	HI_ASSERT_EQ(geteuid() == 0, n->dropped_user);
	HI_ASSERT_EQ(1, lseek(given, 0, SEEK_END));
}

/* ---- each lock by itself ---- */

static unsigned long long capabilities_of_status(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long set, all = 0;
	char line[256];

	if (!file)
		return ~0ull;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "CapInh: %llx", &set) == 1 ||
		    sscanf(line, "CapPrm: %llx", &set) == 1 ||
		    sscanf(line, "CapEff: %llx", &set) == 1)
			all |= set;
	fclose(file);
	return all;
}

/* A change of the user takes them along, unless a bit says no: they go by themselves. */
HI_TEST_ROOT(rights, capabilities_go_where_the_change_of_the_user_leaves_them)
{
	struct hi_rights_dropped dropped;
	struct hi_error err;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0)
			_exit(2);
		if (hi_rights_drop(&dropped, &err) != HI_OK || !dropped.user)
			_exit(3);
		_exit(capabilities_of_status() ? 4 : 0);
	}
	HI_ASSERT(pid > 0);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT(WIFEXITED(status));
	HI_ASSERT_EQ(0, WEXITSTATUS(status));
}

/* ---- descriptors ---- */

enum {
	FILE_FD,
	PIPE_FD,
	PROC_FD,
	PIDFD,
	SOCKET_FD,
	KEPT_SOCKET,
	EVENT_FD,
	KEPT_EVENT,
	FDS
};

static void open_one_of_each(int fds[FDS])
{
	int ends[2], pairs[2];

	HI_ASSERT(pipe(ends) == 0);
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pairs));
	fds[FILE_FD] = open("/bin/sh", O_RDONLY);
	fds[PIPE_FD] = ends[1];
	fds[PROC_FD] = open("/proc/self/maps", O_RDONLY);
	fds[PIDFD] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	fds[SOCKET_FD] = pairs[0];
	fds[KEPT_SOCKET] = pairs[1];
	fds[EVENT_FD] = eventfd(0, 0);
	fds[KEPT_EVENT] = eventfd(0, 0);
	for (int i = 0; i < FDS; i++)
		HI_ASSERT(fds[i] > 2);
}

HI_TEST(rights, a_fork_keeps_files_pipes_and_what_it_is_given)
{
	static const bool stays[FDS] = {[FILE_FD] = true,
					[PIPE_FD] = true,
					[KEPT_SOCKET] = true,
					[KEPT_EVENT] = true};
	int fds[FDS], status = -1;
	pid_t pid;

	open_one_of_each(fds);
	pid = fork();
	if (pid == 0) {
		const int given[] = {fds[KEPT_SOCKET], -1, fds[KEPT_EVENT]};

		hi_rights_close_others(given, 3);
		for (int i = 0; i < FDS; i++)
			if ((fcntl(fds[i], F_GETFD) >= 0) != stays[i])
				_exit(1 + i);
		_exit(fcntl(0, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0 ? 100 : 0);
	}
	for (int i = 0; i < FDS; i++)
		close(fds[i]);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
}

/* At an address that the kernel chooses; connected to once. */
static int listen_with_a_caller(int *caller_ret)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(address.sun_family);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	HI_ASSERT_EQ(0, bind(fd, (struct sockaddr *)&address, size));
	HI_ASSERT_EQ(0, listen(fd, 1));
	size = sizeof(address);
	HI_ASSERT_EQ(0, getsockname(fd, (struct sockaddr *)&address, &size));
	*caller_ret = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	HI_ASSERT_EQ(0, connect(*caller_ret, (struct sockaddr *)&address, size));
	return fd;
}

HI_TEST(rights, only_the_socket_that_was_given_accepts)
{
	int callers[2], given = listen_with_a_caller(&callers[0]),
			other = listen_with_a_caller(&callers[1]), status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct hi_rights_dropped dropped;
		struct hi_error err;

		hi_rights_permit_accept(given);
		if (hi_rights_drop(&dropped, &err) != HI_OK)
			_exit(1);
		if (accept4(given, NULL, NULL, SOCK_CLOEXEC) < 0)
			_exit(2);
		_exit(accept4(other, NULL, NULL, SOCK_CLOEXEC) < 0 && errno == EPERM ? 0
										     : 3);
	}
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
	close(given);
	close(other);
	close(callers[0]);
	close(callers[1]);
}
