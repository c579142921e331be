/* SPDX-License-Identifier: BSD-2-Clause */
/* `serve` as a program: one server a file, its processes and its end. What the server
 * says to requests is tested in tests/server. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/http.h"
#include "tests/support/waiting.h"
#include "tests/support/workshop.h"

#define MS 1000000ull
enum { NOBODY = 65534 };

/* A user's directories, and a file to be served. */
struct site {
	uid_t uid; /* 0: as we are */
	char runtime[300], file[300], other[300];
};

static struct site make_site(uid_t uid)
{
	struct site site = {.uid = uid};
	const char *path = workshop_open();

	workshop_run("cp %s/tests/data/v1.hisnap a.hisnap", HI_SOURCE_DIR);
	workshop_run("cp %s/tests/data/series-v1.hisnap b.hisnap", HI_SOURCE_DIR);
	workshop_run("mkdir -m 0700 run && chmod 0755 .");
	if (uid)
		workshop_run("chown %u run", uid);
	workshop_run("chmod 0644 a.hisnap b.hisnap");
	snprintf(site.runtime, sizeof(site.runtime), "%s/run", path);
	snprintf(site.file, sizeof(site.file), "%s/a.hisnap", path);
	snprintf(site.other, sizeof(site.other), "%s/b.hisnap", path);
	return site;
}

struct served {
	pid_t pid;
	int out;	/* read end of its standard output */
	char line[128]; /* the first one, without its end */
};

static void end_served(struct served *s)
{
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	close(s->out);
	free(s);
}

static void run_serve(const struct site *site, const char *const argv[], int out)
{
	hi_child_signals();
	setenv("XDG_RUNTIME_DIR", site->runtime, 1);
	dup2(out, 1);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	if (site->uid && (setgroups(0, NULL) || setgid(site->uid) || setuid(site->uid)))
		_exit(126);
	execv(HI_BINARY_DIR "/heapinspect", (char **)(uintptr_t)argv);
	_exit(127);
}

/* option, value: NULL: none. It is not waited for. */
static struct served *start_serving(const struct site *site, const char *file,
				    const char *option, const char *value)
{
	struct served *s = calloc(1, sizeof(*s));
	const char *argv[8] = {"heapinspect", "serve", "-q", file, option, value, NULL};
	int ends[2];

	HI_ASSERT(s && pipe2(ends, O_CLOEXEC) == 0);
	s->out = ends[0];
	s->pid = fork();
	if (s->pid == 0)
		run_serve(site, argv, ends[1]);
	close(ends[1]);
	hi_test_defer(end_served, s);
	HI_ASSERT(s->pid > 0);
	return s;
}

static void read_served_line(struct served *s)
{
	size_t n = 0;

	while (n < sizeof(s->line) - 1 && read(s->out, s->line + n, 1) == 1 &&
	       s->line[n] != '\n')
		n++;
	HI_ASSERT_MSG(s->line[n] == '\n', "no URL");
	s->line[n] = 0;
}

static struct served *serve(const struct site *site, const char *file, const char *option,
			    const char *value)
{
	struct served *s = start_serving(site, file, option, value);

	read_served_line(s);
	return s;
}

/* Its exit status; at most 60 s. */
static int await_served(struct served *s)
{
	int status = -1;

	for (unsigned i = 0; i < 6000 && waitpid(s->pid, &status, WNOHANG) == 0; i++)
		hi_clock_pause_ns(10 * MS);
	HI_ASSERT_MSG(status != -1, "it has not ended");
	s->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int get_code(const struct served *s, const char *address)
{
	return http_get(http_url_parse(s->line), address).code;
}

/* What is on its standard output beside the first line. */
static size_t count_rest(struct served *s)
{
	char rest[64];
	ssize_t n = read(s->out, rest, sizeof(rest));

	return n > 0 ? (size_t)n : 0;
}

static unsigned count_locks(const struct site *site)
{
	char path[400];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/heapinspect", site->runtime);
	dir = opendir(path);
	HI_ASSERT(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.' && strcmp(e->d_name, "want") != 0;
	closedir(dir);
	return n;
}

/* Without rights: the fork of the fork. At most 60 s. */
static pid_t find_page_process(const struct served *s)
{
	pid_t first = hi_waiting_find_child(s->pid, "heapinspect"), second = 0;

	for (unsigned i = 0; i < 6000; i++) {
		second = first ? hi_waiting_find_child(first, "hi-decoder") : 0;
		if (second)
			return second;
		hi_clock_pause_ns(10 * MS);
		first = hi_waiting_find_child(s->pid, "heapinspect");
	}
	HI_ASSERT_MSG(second, "there is no page process");
	return second;
}

static long long number_of_status(pid_t pid, const char *key)
{
	long long n = hi_process_status(pid, key);

	HI_ASSERT_MSG(n >= 0, "%s of %d", key, (int)pid);
	return n;
}

/* ---- one server ---- */

static void check_serving(uid_t uid)
{
	struct site site = make_site(uid);
	struct served *s = serve(&site, site.file, NULL, NULL);

	HI_ASSERT_EQ(200, get_code(s, ""));
	HI_ASSERT_EQ(200, get_code(s, "style.css"));
	HI_ASSERT_EQ(1, count_locks(&site));
	kill(s->pid, SIGINT);
	HI_ASSERT_EQ(0, await_served(s));
	HI_ASSERT_EQ(0, count_rest(s));
	HI_ASSERT_EQ(0, count_locks(&site));
}

HI_TEST_SCENARIO(serve, prints_its_address_and_ends_by_a_signal)
{
	check_serving(0);
}

HI_TEST_ROOT(serve, works_for_any_user)
{
	check_serving(NOBODY);
}

HI_TEST_SCENARIO(serve, pages_are_made_without_rights)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL);
	pid_t pages = find_page_process(s);

	HI_ASSERT_EQ(200, get_code(s, ""));
	HI_ASSERT_EQ(2, number_of_status(pages, "Seccomp"));
	HI_ASSERT_EQ(1, number_of_status(pages, "NoNewPrivs"));
	HI_ASSERT_EQ(0, number_of_status(pages, "CapEff"));
	HI_ASSERT_EQ(0, number_of_status(s->pid, "Seccomp"));
}

/* The server itself, not the processes that it forks. */
HI_TEST_SCENARIO(serve, the_server_does_not_open_the_file)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL);
	char path[64], text[400];
	DIR *dir;

	HI_ASSERT_EQ(200, get_code(s, ""));
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)s->pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = 0;
		HI_ASSERT(!strstr(text, "a.hisnap"));
	}
	closedir(dir);
	HI_ASSERT(hi_command_run(
			  0, "grep", "-c", "hisnap",
			  (snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid),
			   path),
			  NULL)
			  ->exit_code == 1);
}

HI_TEST_SCENARIO(serve, ends_by_itself_with_status_0)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, "--timeout", "1s");

	HI_ASSERT_EQ(200, get_code(s, ""));
	HI_ASSERT_EQ(0, await_served(s));
	HI_ASSERT_EQ(0, count_locks(&site));
}

HI_TEST_SCENARIO(serve, a_port_in_use_is_named)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL);
	char port[16], words[64];
	struct hi_command *c;

	snprintf(port, sizeof(port), "%u", http_url_parse(s->line).port);
	c = hi_heapinspect("serve", site.other, "--port", port);
	HI_ASSERT_EQ(2, c->exit_code);
	snprintf(words, sizeof(words), "port %s is in use", port);
	HI_ASSERT(strstr(c->err, words));
	HI_ASSERT_STREQ("", c->out);
}

HI_TEST_SCENARIO(serve, paths_that_are_no_snapshots_are_refused)
{
	static const char *const files[] = {"/nonexistent.hisnap", "/etc/passwd", "/tmp",
					    "/dev/null", "directory.hisnap"};
	const char *path = workshop_open();
	char directory[300];

	workshop_run("mkdir directory.hisnap");
	snprintf(directory, sizeof(directory), "%s/directory.hisnap", path);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *file = *files[i] == '/' ? files[i] : directory;
		struct hi_command *c = hi_heapinspect("serve", file, "--timeout", "1s");

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT(strstr(c->err, file));
		HI_ASSERT_STREQ("", c->out);
	}
}

/* ---- one server a file ---- */

HI_TEST_SCENARIO(serve, a_second_one_prints_the_address_of_the_first)
{
	struct site site = make_site(0);
	struct served *first = serve(&site, site.file, NULL, NULL),
		      *second = serve(&site, site.file, "--port", "1"), *other;

	HI_ASSERT_STREQ(first->line, second->line);
	HI_ASSERT_EQ(0, await_served(second));
	other = serve(&site, site.other, NULL, NULL);
	HI_ASSERT(strcmp(first->line, other->line) != 0);
	other = serve(&site, site.other, "--census", "1");
	HI_ASSERT(strcmp(first->line, other->line) != 0);
	HI_ASSERT_EQ(3, count_locks(&site));
}

/* By another path, as it is the file that counts. */
HI_TEST_SCENARIO(serve, a_file_has_one_server_by_all_its_names)
{
	struct site site = make_site(0);
	struct served *first = serve(&site, site.file, NULL, NULL), *second;

	workshop_run("ln -s a.hisnap link.hisnap");
	memcpy(strstr(site.file, "a.hisnap"), "link.hisnap", 12);
	second = serve(&site, site.file, NULL, NULL);
	HI_ASSERT_STREQ(first->line, second->line);
}

HI_TEST_ROOT(serve, users_have_servers_of_their_own)
{
	struct site site = make_site(NOBODY), root = site;
	struct served *a, *b;

	workshop_run("mkdir -m 0700 root");
	root.uid = 0;
	memcpy(strstr(root.runtime, "/run"), "/root", 6);
	a = serve(&site, site.file, NULL, NULL);
	b = serve(&root, site.file, NULL, NULL);
	HI_ASSERT(strcmp(a->line, b->line) != 0);
	HI_ASSERT_EQ(200, get_code(a, ""));
	HI_ASSERT_EQ(200, get_code(b, ""));
}

/* Each prints an address, which answers. One of them stays: the server. */
HI_TEST_SCENARIO(serve, fifty_first_clients_get_one_server)
{
	enum { N = 50 };
	struct site site = make_site(0);
	struct served *clients[N];
	unsigned servers = 0;

	for (unsigned i = 0; i < N; i++)
		clients[i] = start_serving(&site, site.file, NULL, NULL);
	for (unsigned i = 0; i < N; i++) {
		char address[32];

		read_served_line(clients[i]);
		snprintf(address, sizeof(address), "census?top=%u", i + 1);
		HI_ASSERT_EQ(200, get_code(clients[i], address));
		HI_ASSERT_STREQ(clients[0]->line, clients[i]->line);
	}
	for (unsigned round = 0; round < 1000; round++) {
		servers = 0;
		for (unsigned i = 0; i < N; i++) {
			int status;

			if (clients[i]->pid == 0)
				continue;
			if (waitpid(clients[i]->pid, &status, WNOHANG) == 0) {
				servers++;
				continue;
			}
			clients[i]->pid = 0;
			HI_ASSERT_EQ(0, status);
		}
		if (servers <= 1)
			break;
		hi_clock_pause_ns(10 * MS);
	}
	HI_ASSERT_EQ(1, servers);
	HI_ASSERT_EQ(1, count_locks(&site));
}

/* Looked for about when it ends by itself: each address that is printed answers then. */
HI_TEST_SCENARIO(serve, no_query_is_lost_to_a_server_that_ends)
{
	struct site site = make_site(0);

	for (unsigned i = 0; i < 20; i++) {
		struct served *s = serve(&site, site.file, "--timeout", "500ms");

		HI_ASSERT_EQ(204, get_code(s, "touch"));
		hi_clock_pause_ns((450 + 5 * i) * MS);
	}
}

/* ---- what is killed ---- */

HI_TEST_SCENARIO(serve, after_a_killed_server_comes_the_next)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL), *next;
	pid_t pages = find_page_process(s);

	kill(s->pid, SIGKILL);
	HI_ASSERT_EQ(128 + SIGKILL, await_served(s));
	HI_ASSERT_EQ(1, count_locks(&site));
	next = serve(&site, site.file, NULL, NULL);
	HI_ASSERT(strcmp(s->line, next->line) != 0);
	HI_ASSERT_EQ(200, get_code(next, ""));
	for (unsigned i = 0; i < 1000 && kill(pages, 0) == 0; i++)
		hi_clock_pause_ns(10 * MS);
	HI_ASSERT_MSG(kill(pages, 0) != 0, "a page process has outlived its server");
	HI_ASSERT_EQ(1, count_locks(&site));
}

/* Another one than `before`. The fork of one that was killed may have answered, and then
 * the next request starts a process: asks for pages that nobody has asked for. */
static pid_t ask_for_page_process(const struct served *s, pid_t before)
{
	static unsigned top;

	for (unsigned i = 0; i < 6000; i++) {
		char address[32];
		pid_t first, pages;

		snprintf(address, sizeof(address), "census?top=%u", ++top);
		HI_ASSERT_EQ(200, get_code(s, address));
		first = hi_waiting_find_child(s->pid, "heapinspect");
		pages = first ? hi_waiting_find_child(first, "hi-decoder") : 0;
		if (pages && pages != before)
			return pages;
		hi_clock_pause_ns(10 * MS);
	}
	HI_ASSERT_MSG(false, "there is no page process");
	return 0;
}

HI_TEST_SCENARIO(serve, a_killed_page_process_is_replaced)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL);
	pid_t pages = find_page_process(s);

	for (unsigned i = 0; i < 4; i++) {
		kill(i % 2 ? hi_waiting_find_child(s->pid, "heapinspect") : pages,
		     SIGKILL);
		pages = ask_for_page_process(s, pages);
	}
}

/* ---- files that change ---- */

/* Another file of the name: the pages are of that one, and so is the lock. */
HI_TEST_SCENARIO(serve, a_file_that_was_replaced_is_read_again)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL), *second;
	pid_t pages = find_page_process(s);

	HI_ASSERT_EQ(200, get_code(s, ""));
	HI_ASSERT_EQ(pages, find_page_process(s));
	workshop_run("cp b.hisnap c && mv c a.hisnap");
	HI_ASSERT_EQ(200, get_code(s, ""));
	HI_ASSERT(find_page_process(s) != pages);
	second = serve(&site, site.file, NULL, NULL);
	HI_ASSERT_STREQ(s->line, second->line);
	HI_ASSERT_EQ(1, count_locks(&site));
	kill(s->pid, SIGTERM);
	HI_ASSERT_EQ(0, await_served(s));
	HI_ASSERT_EQ(0, count_locks(&site));
}

HI_TEST_SCENARIO(serve, a_file_that_is_gone_is_shown_as_it_was)
{
	struct site site = make_site(0);
	struct served *s = serve(&site, site.file, NULL, NULL);

	HI_ASSERT_EQ(200, get_code(s, ""));
	workshop_run("rm a.hisnap");
	HI_ASSERT_EQ(200, get_code(s, ""));
}
