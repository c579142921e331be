/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/mark_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/own_directory.h"

enum {
	DIRECTORIES = 3,
	RECEIVE_MS = 200, /* a sender has its mark ready */
	ANSWER_MS = 60000,
	MAX_SOCKETS = 256, /* looked at by one mark */
};

struct message {
	char magic[8];
	uint64_t cpu_ns, wall_ns;
	char text[HI_MARK_MAX];
};
static const char magics[HI_MARK_KINDS][8] = {[HI_MARK_PLAIN] = "himark1",
					      [HI_MARK_ERA] = "hi_era1",
					      [HI_MARK_PAUSE] = "hipause",
					      [HI_MARK_RESUME] = "hiresum"};
/* For messages. */
static const char *const kinds[HI_MARK_KINDS] = {[HI_MARK_PLAIN] = "mark",
						 [HI_MARK_ERA] = "era",
						 [HI_MARK_PAUSE] = "--pause",
						 [HI_MARK_RESUME] = "--resume"};

/* ---- the directory ---- */

/* False: there is no such directory. */
static bool directory_path(unsigned i, char out[200])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	unsigned user = (unsigned)geteuid();
	int n;

	if (i == 0)
		n = runtime && runtime[0] == '/'
			    ? snprintf(out, 200, "%s/heapinspect", runtime)
			    : -1;
	else if (i == 1)
		n = snprintf(out, 200, "/run/user/%u/heapinspect", user);
	else
		n = snprintf(out, 200, "/tmp/heapinspect-%u", user);
	return n > 0 && n < 200;
}

/* A descriptor of it if only this user can reach it, else -1. */
static int open_directory(unsigned i, bool make, char out[200])
{
	int fd = -1;

	if (!directory_path(i, out) || (!make && access(out, F_OK) != 0) ||
	    hi_own_directory_open(out, 077, &fd, NULL) != HI_OK)
		return -1;
	return fd;
}

/* By the descriptor: a path could be too long, or be replaced meanwhile. */
static struct sockaddr_un address_of(int directory, const char *name)
{
	struct sockaddr_un ret = {.sun_family = AF_UNIX};

	snprintf(ret.sun_path, sizeof(ret.sun_path), "/proc/self/fd/%d/%.64s", directory,
		 name);
	return ret;
}

static bool is_of_user(int fd, uid_t user)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == user || peer.uid == 0);
}

/* ---- what was left behind ---- */

/* Sockets are called TARGET.SERIES, by pids. */
static bool is_left_behind(int directory, const char *name)
{
	struct sockaddr_un address = address_of(directory, name);
	const char *dot = strchr(name, '.');
	bool refused;
	pid_t owner;
	int fd;

	owner = dot ? (pid_t)strtol(dot + 1, NULL, 10) : 0;
	/* One that lives may not listen yet. */
	if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH)
		return false;
	/* It may live where its pid is another one. */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	refused = fd >= 0 &&
		  connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

static void remove_stale_sockets(int directory)
{
	int copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	unsigned looked_at = 0;

	if (!entries) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((entry = readdir(entries)) && looked_at++ < MAX_SOCKETS)
		if (is_left_behind(directory, entry->d_name))
			(void)unlinkat(directory, entry->d_name, 0);
	closedir(entries);
}

/* ---- the series ---- */

static enum hi_status try_open(pid_t target, struct hi_marks *ret, struct hi_error *err)
{
	struct hi_marks m = {.fd = -1, .directory = -1, .user = geteuid()};
	struct sockaddr_un address;

	for (unsigned i = 0; i < DIRECTORIES && m.directory < 0; i++)
		m.directory = open_directory(i, true, m.directory_path);
	if (m.directory < 0)
		return hi_fail(
			err, HI_UNSUPPORTED, 0,
			"no marks: no private directory could be made, not even %s",
			m.directory_path);
	snprintf(m.name, sizeof(m.name), "%d.%d", (int)target, (int)getpid());
	address = address_of(m.directory, m.name);
	(void)unlinkat(m.directory, m.name, 0); /* of a dead one with our pid */
	remove_stale_sockets(m.directory);
	m.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m.fd < 0 ||
	    bind(m.fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(m.fd, 16) != 0) {
		enum hi_status status = hi_fail_errno(err, "no marks");

		hi_marks_close(&m);
		return status;
	}
	*ret = m;
	return HI_OK;
}

enum hi_status hi_marks_open(pid_t target, struct hi_marks *ret, struct hi_error *err)
{
	enum hi_status status;
	int tries = 3;

	/* The last series of another target may remove the directory just now. */
	do
		status = try_open(target, ret, err);
	while (status == HI_OS && err->os_errno == ENOENT && --tries);
	return status;
}

static bool find_kind(const struct message *message, enum hi_mark_kind *ret)
{
	for (unsigned i = 0; i < HI_MARK_KINDS; i++)
		if (memcmp(message->magic, magics[i], sizeof(magics[i])) == 0) {
			*ret = (enum hi_mark_kind)i;
			return true;
		}
	return false;
}

static bool receive_mark(int fd, uid_t user, struct hi_mark *ret)
{
	const ssize_t head = offsetof(struct message, text);
	struct pollfd waited = {.fd = fd, .events = POLLIN};
	struct message message;
	ssize_t n;

	if (!is_of_user(fd, user) || poll(&waited, 1, RECEIVE_MS) != 1)
		return false;
	n = recv(fd, &message, sizeof(message), MSG_DONTWAIT);
	if (n < head || !find_kind(&message, &ret->kind))
		return false;
	ret->when = (struct hi_timestamp){message.cpu_ns, message.wall_ns};
	memcpy(ret->text, message.text, (size_t)(n - head));
	ret->text[n - head] = '\0';
	return true;
}

bool hi_marks_take(struct hi_marks *m, struct hi_mark *ret)
{
	int fd;

	if (m->fd < 0)
		return false;
	while ((fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		ret->fd = fd;
		if (receive_mark(fd, m->user, ret))
			return true;
		close(fd);
	}
	return false;
}

void hi_marks_answer(struct hi_mark *mark, bool written)
{
	(void)send(mark->fd, written ? "1" : "0", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(mark->fd);
	mark->fd = -1;
}

void hi_marks_close(struct hi_marks *m)
{
	if (m->fd >= 0) {
		close(m->fd);
		(void)unlinkat(m->directory, m->name, 0);
		/* Only if no other series is in it. */
		(void)rmdir(m->directory_path);
	}
	if (m->directory >= 0)
		close(m->directory);
	m->fd = m->directory = -1;
}

/* ---- the sender ---- */

static bool wait_for_answer(int fd)
{
	struct pollfd waited = {.fd = fd, .events = POLLIN};
	char answer;

	return poll(&waited, 1, ANSWER_MS) == 1 && recv(fd, &answer, 1, 0) == 1 &&
	       answer == '1';
}

/* 1 written, 0 not, -1: there is no listener. */
static int send_to(int directory, const char *name, const struct message *message,
		   size_t size)
{
	struct sockaddr_un address = address_of(directory, name);
	struct timeval limit = {.tv_sec = ANSWER_MS / 1000};
	__attribute__((cleanup(hi_guard_close))) int fd =
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	/* A queue that is full makes connect wait. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		if (errno != ECONNREFUSED)
			return 0;
		/* That of a series which begins does not listen yet. */
		if (is_left_behind(directory, name))
			(void)unlinkat(directory, name, 0);
		return -1;
	}
	if (!is_of_user(fd, geteuid()) ||
	    send(fd, message, size, MSG_NOSIGNAL) != (ssize_t)size)
		return 0;
	return wait_for_answer(fd);
}

struct sending {
	struct message message;
	size_t size;
	char prefix[16]; /* "4242." */
	unsigned found, reached;
};

static void send_in(struct sending *s, int directory)
{
	DIR *entries = fdopendir(directory);
	const struct dirent *entry;
	unsigned looked_at = 0;

	if (!entries) {
		close(directory);
		return;
	}
	while ((entry = readdir(entries)) && looked_at < MAX_SOCKETS) {
		int sent;

		if (strncmp(entry->d_name, s->prefix, strlen(s->prefix)) != 0)
			continue;
		looked_at++;
		sent = send_to(directory, entry->d_name, &s->message, s->size);
		s->found += sent >= 0;
		s->reached += sent > 0;
	}
	closedir(entries);
}

/* $XDG_RUNTIME_DIR mostly is /run/user/UID. */
static bool is_another(int directory, struct stat *known, unsigned n)
{
	if (fstat(directory, &known[n]) != 0)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (known[i].st_dev == known[n].st_dev &&
		    known[i].st_ino == known[n].st_ino)
			return false;
	return true;
}

enum hi_status hi_marks_send(pid_t target, enum hi_mark_kind kind, const char *text,
			     unsigned *reached_ret, struct hi_error *err)
{
	struct hi_timestamp now = hi_timestamp_now(target);
	struct sending s = {.message = {.cpu_ns = now.cpu_ns, .wall_ns = now.wall_ns}};
	size_t n = strlen(text);
	struct stat known[DIRECTORIES];
	unsigned n_known = 0;
	char path[200];

	if (n > HI_MARK_MAX)
		return hi_fail(err, HI_USAGE, 0, "%s: at most %d bytes of text",
			       kinds[kind], HI_MARK_MAX);
	memcpy(s.message.magic, magics[kind], sizeof(magics[kind]));
	memcpy(s.message.text, text, n);
	s.size = offsetof(struct message, text) + n;
	snprintf(s.prefix, sizeof(s.prefix), "%d.", (int)target);
	for (unsigned i = 0; i < DIRECTORIES; i++) {
		int directory = open_directory(i, false, path);

		if (directory < 0)
			continue;
		if (is_another(directory, known, n_known)) {
			n_known++;
			send_in(&s, directory);
		} else {
			close(directory);
		}
	}
	if (!s.found)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%s: this user runs no series of pid %d", kinds[kind],
			       (int)target);
	if (!s.reached)
		return hi_fail(err, HI_TIMEOUT, 0, "%s: the series did not accept it",
			       kinds[kind]);
	*reached_ret = s.reached;
	return HI_OK;
}
