/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every option that writes a file, by its flag in the option table, with what another
 * user may have put at the names that it writes to. The victim, to which that leads, has
 * the same bytes, mode and links afterwards, whatever becomes of the command.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/snapshots.h"
#include "tests/support/writings.h"

enum { SOMEBODY = 12345, ANOTHER = 12346 };

/* ---- a try ---- */

struct place {
	char *in;	       /* the directory; the victim and what is read are beside */
	const char *out, *key; /* in it */
	const char *victim, *pid;
	uid_t links_of; /* the user who has put them there */
	uid_t user;	/* heapinspect's; 0: ours */
};

#define DATA HI_SOURCE_DIR "/tests/data/"

static const char *take_word(const struct place *p, const char *word)
{
	const struct {
		const char *word, *value;
	} words[] = {{"@out", p->out},
		     {"@pid", p->pid},
		     {"@file", DATA "v1.hisnap"},
		     {"@series", DATA "series-v1.hisnap"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].value;
	return word;
}

static struct hi_command *run_writing(const struct place *p, const struct writing *w)
{
	char *argv[WRITING_WORDS + 2] = {
		(char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect")};

	for (size_t i = 0; i < WRITING_WORDS && w->words[i]; i++)
		argv[i + 1] = (char *)(uintptr_t)take_word(p, w->words[i]);
	return hi_command_runv(p->user, argv);
}

static void empty_place(const struct place *p)
{
	HI_ASSERT(hi_command_run(0, "rm", "-rf", p->in, p->victim, NULL)->exit_code == 0);
	HI_ASSERT(hi_command_run(0, "cp", DATA "v1.hisnap", p->victim, NULL)->exit_code ==
		  0);
	HI_ASSERT(chmod(p->victim, 0640) == 0 && mkdir(p->in, 0755) == 0);
	if (p->user)
		HI_ASSERT(chown(p->victim, p->user, p->user) == 0);
}

static void check_victim(const struct place *p, const struct writing *w, nlink_t links)
{
	struct stat st;

	HI_ASSERT_MSG(
		hi_command_run(0, "cmp", DATA "v1.hisnap", p->victim, NULL)->exit_code ==
			0,
		"%s --%s: the victim is another one", w->words[0], w->option);
	HI_ASSERT(stat(p->victim, &st) == 0);
	HI_ASSERT_EQ(0640, st.st_mode & 07777);
	HI_ASSERT_EQ(links, st.st_nlink);
}

static size_t count_names(const char *directory)
{
	DIR *d = opendir(directory);
	size_t n = 0;

	HI_ASSERT(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void check_written(const struct writing *w, const char *path,
			  const struct hi_command *c)
{
	struct stat st;

	HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 1, "%s --%s: %d, %s",
		      w->words[0], w->option, c->exit_code, c->err);
	HI_ASSERT_MSG(lstat(path, &st) == 0 && S_ISREG(st.st_mode), "%s --%s: %s",
		      w->words[0], w->option, c->err);
	HI_ASSERT_EQ(1, st.st_nlink);
	HI_ASSERT_MSG(st.st_size > 0, "%s --%s", w->words[0], w->option);
	HI_ASSERT_EQ(0600, st.st_mode & 07777);
}

/* The file that was there is replaced, and nothing is left beside it. */
static void check_replaced(const struct place *p, const struct writing *w,
			   const struct hi_command *c)
{
	if (w->is & WRITING_MAY_FAIL)
		return;
	check_written(w, p->out, c);
	if (w->is & WRITING_HAS_KEY)
		check_written(w, p->key, c);
	HI_ASSERT_EQ(2, count_names(p->in));
}

/* ---- what is put there ---- */

static void try_links(const struct place *p, const struct writing *w)
{
	struct hi_command *c;

	empty_place(p);
	HI_ASSERT(symlink(p->victim, p->out) == 0 && symlink(p->victim, p->key) == 0);
	if (p->links_of)
		HI_ASSERT(lchown(p->out, p->links_of, p->links_of) == 0 &&
			  lchown(p->key, p->links_of, p->links_of) == 0 &&
			  chmod(p->in, 01777) == 0);
	c = run_writing(p, w);
	check_victim(p, w, 1);
	if (!p->user) {
		check_replaced(p, w, c);
		return;
	}
	/* In a sticky directory, only root may replace another user's. */
	HI_ASSERT_MSG(c->exit_code > 1, "%s: %d", w->words[0], c->exit_code);
	HI_ASSERT_MSG(w->is & WRITING_MAY_FAIL ||
			      strstr(c->err, "has a file of that name"),
		      "%s: %s", w->words[0], c->err);
	HI_ASSERT_EQ(2, count_names(p->in));
}

static void try_hard_links(const struct place *p, const struct writing *w)
{
	struct hi_command *c;

	empty_place(p);
	HI_ASSERT(link(p->victim, p->out) == 0 && link(p->victim, p->key) == 0);
	c = run_writing(p, w);
	if (!(w->is & WRITING_MAY_FAIL))
		check_victim(p, w, w->is & WRITING_HAS_KEY ? 1 : 2);
	check_replaced(p, w, c);
}

static void try_directory(const struct place *p, const struct writing *w)
{
	struct hi_command *c;

	empty_place(p);
	HI_ASSERT(mkdir(p->out, 0755) == 0);
	c = run_writing(p, w);
	HI_ASSERT_MSG(c->exit_code > 1, "%s: %d", w->words[0], c->exit_code);
	HI_ASSERT_EQ(0, count_names(p->out));
	HI_ASSERT_EQ(1, count_names(p->in));
}

static void try_shared_directory(const struct place *p, const struct writing *w)
{
	struct hi_command *c;

	empty_place(p);
	HI_ASSERT(chmod(p->in, 0777) == 0);
	if (w->is & WRITING_READS)
		HI_ASSERT(hi_command_run(0, "cp", p->victim, p->out, NULL)->exit_code ==
			  0);
	c = run_writing(p, w);
	HI_ASSERT_MSG(c->exit_code > 1, "%s: %d", w->words[0], c->exit_code);
	HI_ASSERT_MSG(w->is & WRITING_MAY_FAIL ||
			      strstr(c->err, "other users may replace files"),
		      "%s: %s", w->words[0], c->err);
	HI_ASSERT_EQ(w->is & WRITING_READS ? 1 : 0, count_names(p->in));
}

/* Puts a link in place of each new name as soon as it is there. */
struct swapper {
	const struct place *place;
	int events, end[2];
	unsigned swapped;
};

static void swap_name(struct swapper *s, const char *name)
{
	char path[PATH_MAX], away[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", s->place->in, name);
	snprintf(away, sizeof(away), "%s.away%u", s->place->victim, s->swapped);
	if (strncmp(name, "out.", 4) == 0 && lstat(path, &st) == 0 &&
	    S_ISREG(st.st_mode) && rename(path, away) == 0 &&
	    symlink(s->place->victim, path) == 0)
		s->swapped++;
}

static void *swap_names(void *arg)
{
	struct swapper *s = arg;
	struct pollfd on[] = {{.fd = s->events, .events = POLLIN},
			      {.fd = s->end[0], .events = POLLIN}};
	_Alignas(struct inotify_event) char buffer[4096];

	while (poll(on, 2, -1) > 0 && !on[1].revents) {
		ssize_t n = read(s->events, buffer, sizeof(buffer)), at = 0;

		while (at < n) {
			const struct inotify_event *e = (const void *)(buffer + at);

			swap_name(s, e->name);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	return NULL;
}

static unsigned try_swapped_names(const struct place *p, const struct writing *w)
{
	struct swapper s = {.place = p, .events = inotify_init1(IN_CLOEXEC)};
	pthread_t thread;

	empty_place(p);
	HI_ASSERT(pipe2(s.end, O_CLOEXEC) == 0 &&
		  inotify_add_watch(s.events, p->in, IN_CREATE) >= 0 &&
		  pthread_create(&thread, NULL, swap_names, &s) == 0);
	(void)run_writing(p, w);
	close(s.end[1]);
	HI_ASSERT(pthread_join(thread, NULL) == 0);
	close(s.end[0]);
	close(s.events);
	check_victim(p, w, 1);
	return s.swapped;
}

/* ---- all of them ---- */

static struct place make_place(uid_t links_of, uid_t user)
{
	char *base = snapshot_directory();
	struct place p = {.in = (char *)(uintptr_t)snapshot_path(base, "in"),
			  .victim = snapshot_path(base, "victim"),
			  .out = snapshot_path(base, "in/out.hp"),
			  .key = snapshot_path(base, "in/out.prof"),
			  .pid = "1",
			  .links_of = links_of,
			  .user = user};

	HI_ASSERT(chmod(base, 0755) == 0);
	return p;
}

static void try_all(enum writing_kind kind, const char *pid)
{
	size_t n = writing_count(kind);
	struct place p = make_place(geteuid() == 0 ? ANOTHER : 0, 0);
	unsigned swapped = 0;

	if (pid)
		p.pid = pid;
	for (size_t i = 0; i < n; i++) {
		try_links(&p, writing_at(kind, i));
		try_hard_links(&p, writing_at(kind, i));
		try_directory(&p, writing_at(kind, i));
		try_shared_directory(&p, writing_at(kind, i));
		swapped += try_swapped_names(&p, writing_at(kind, i));
	}
	hi_test_note("%u names were swapped", swapped);
	HI_ASSERT(swapped > 0);
}

static const char *start_target(void)
{
	static char pid[16];

	snprintf(pid, sizeof(pid), "%d",
		 (int)snapshot_fixture("leaky_service", "200", "10")->pid);
	return pid;
}

HI_TEST_SCENARIO(outputs, commands_on_files_do_not_write_through_planted_links)
{
	try_all(WRITING_FILES, NULL);
}

HI_TEST_SCENARIO(outputs, commands_on_processes_do_not_write_through_planted_links)
{
	try_all(WRITING_PROCESSES, start_target());
}

HI_TEST_ROOT(outputs, recordings_do_not_write_through_planted_links)
{
	try_all(WRITING_RECORDINGS, start_target());
}

HI_TEST_ROOT(outputs, commands_of_a_user_do_not_write_through_planted_links)
{
	struct place p = make_place(ANOTHER, SOMEBODY);

	for (size_t i = 0; i < writing_count(WRITING_FILES); i++)
		try_links(&p, writing_at(WRITING_FILES, i));
}
