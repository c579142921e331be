/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/target.h"
#include "tests/harness.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/target_internal.h"
#include "base/alloc.h"
#include "tests/support/child.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"
#include "tests/support/temporary.h"

#define NOBODY 65534u

/* A child that runs prepare(arg), says so, and waits to be ended. */
static pid_t start_child(void (*prepare)(void *), void *arg)
{
	int ready[2];
	char byte;
	pid_t pid;

	HI_ASSERT(pipe(ready) == 0);
	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		alarm(600);
		if (prepare)
			prepare(arg);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	hi_child_kill_after(pid);
	HI_ASSERT(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* hi_target_open from a process with that uid, and the text it gave. */
static enum hi_status open_as(uid_t uid, pid_t pid, char *text)
{
	struct {
		enum hi_status status;
		struct hi_error err;
	} answer = {};
	int ends[2];
	pid_t child;

	HI_ASSERT(pipe(ends) == 0);
	fflush(NULL);
	child = fork();
	HI_ASSERT(child >= 0);
	if (child == 0) {
		struct hi_target *target = NULL;

		if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
			_exit(1);
		answer.status = hi_target_open(pid, &target, &answer.err);
		hi_target_close(target);
		_exit(write(ends[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	close(ends[1]);
	HI_ASSERT(read(ends[0], &answer, sizeof(answer)) == sizeof(answer));
	close(ends[0]);
	waitpid(child, NULL, 0);
	strcpy(text, answer.err.text);
	return answer.status;
}

static void check_refused(uid_t uid, pid_t pid, const char *word)
{
	char text[240];
	enum hi_status status = open_as(uid, pid, text);

	HI_ASSERT_MSG(status == HI_CANNOT_ATTACH, "%s: %s", hi_status_text(status), text);
	HI_ASSERT_MSG(strstr(text, word), "\"%s\" does not say \"%s\"", text, word);
	HI_ASSERT(!strchr(text, '\n'));
}

/* Every number of free descriptors, from none to enough. */
HI_TEST_SCENARIO(target, lack_of_descriptors_is_not_reported_as_process_gone)
{
	struct hi_fixture *fx = hi_fixture_start("stop_threads", "busy", "1", NULL);
	enum hi_status status = HI_OS;
	struct rlimit old, few;

	hi_fixture_read_until(fx, "ready", NULL, NULL); /* amid an exec it "has exited" */
	HI_ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	for (rlim_t n = 3; status != HI_OK && n < 100; n++) {
		struct hi_target *target = NULL;
		struct hi_error err = {};

		few = (struct rlimit){n, old.rlim_max};
		HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
		status = hi_target_open(fx->pid, &target, &err);
		HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
		HI_ASSERT_MSG(status == HI_OK || strstr(err.text, "open files"), "%s",
			      err.text);
		HI_ASSERT(status == HI_OK || status == HI_OS);
		hi_target_close(target);
	}
	HI_ASSERT_EQ(HI_OK, status);
}

HI_TEST(target, no_such_process_and_ourselves_are_refused)
{
	struct hi_target *target = NULL;
	struct hi_error err = {};

	check_refused(0, 0, "there is no process 0");
	check_refused(0, -7, "there is no process -7");
	check_refused(0, 1 << 30, "there is no process");
	HI_ASSERT_STATUS(HI_CANNOT_ATTACH, hi_target_open(getpid(), &target, &err));
	HI_ASSERT(strstr(err.text, "heapinspect itself"));
	HI_ASSERT(!target);
}

HI_TEST_SCENARIO(target, a_zombie_is_refused)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	HI_ASSERT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	hi_child_kill_after(pid);
	check_refused(0, pid, "is a zombie");
}

static void *idle_thread(void *arg)
{
	*(volatile pid_t *)arg = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static void end_main_thread(void *arg)
{
	static volatile pid_t tid;
	pthread_t thread;

	pthread_create(&thread, NULL, idle_thread, (void *)(uintptr_t)&tid);
	if (write(*(int *)arg, "r", 1) != 1)
		_exit(1);
	syscall(SYS_exit, 0); /* this thread only */
}

HI_TEST_SCENARIO(target, a_process_whose_main_thread_has_exited_is_seen_through_another)
{
	struct hi_target *target = NULL;
	struct hi_error err;
	char byte;
	int ends[2];
	pid_t pid;

	HI_ASSERT(pipe(ends) == 0);
	pid = fork();
	if (pid == 0)
		end_main_thread(&ends[1]);
	hi_child_kill_after(pid);
	HI_ASSERT(read(ends[0], &byte, 1) == 1);
	for (int i = 0; i < 10000 && hi_process_state(pid) != 'Z'; i++)
		usleep(1000);
	HI_ASSERT_OK(hi_target_open(pid, &target, &err), &err);
	HI_ASSERT_EQ(pid, target->pid);
	HI_ASSERT(target->n_mappings > 10);
	HI_ASSERT(target->rss > 4096 && target->rss < UINT64_MAX);
	HI_ASSERT(target->exe[0] == '/');
	hi_target_close(target);
}

HI_TEST_SCENARIO(target, a_thread_is_refused_and_its_process_named)
{
	static volatile pid_t tid;
	char word[64];
	pthread_t thread;

	tid = 0;
	HI_ASSERT(pthread_create(&thread, NULL, idle_thread, (void *)(uintptr_t)&tid) ==
		  0);
	while (!tid)
		usleep(100);
	snprintf(word, sizeof(word), "is a thread of process %d", (int)getpid());
	check_refused(0, tid, word);
}

HI_TEST_SCENARIO(target, a_kernel_thread_is_refused)
{
	struct hi_proc_stat stat;

	if (!hi_proc_stat(2, &stat) || !(stat.flags & HI_PROC_KERNEL_THREAD))
		HI_SKIP("no kernel thread is visible here (a pid namespace)");
	check_refused(0, 2, "kernel thread");
}

static void trace(void *pid)
{
	prctl(PR_SET_NAME, "my \x1b[31m tracer");
	if (ptrace(PTRACE_SEIZE, (pid_t)(intptr_t)pid, 0, 0) != 0)
		_exit(1);
}

HI_TEST_SCENARIO(target, a_traced_process_is_refused_and_its_tracer_named)
{
	pid_t pid = start_child(NULL, NULL);
	pid_t tracer = start_child(trace, (void *)(intptr_t)pid);
	char word[96];

	snprintf(word, sizeof(word), "already traced by process %d (my \\x1b[31m tracer)",
		 (int)tracer);
	check_refused(0, pid, word);
}

static void become_nobody(void *dumpable)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) ||
	    prctl(PR_SET_DUMPABLE, (int)(intptr_t)dumpable, 0, 0, 0))
		_exit(1);
}

HI_TEST_ROOT(target, another_users_process_is_refused_without_the_capability)
{
	pid_t pid = start_child(NULL, NULL);
	char text[240];

	check_refused(NOBODY, pid, "belongs to uid 0, heapinspect runs as uid 65534");
	HI_ASSERT_STATUS(HI_OK, open_as(0, pid, text));
}

HI_TEST_ROOT(target, a_process_that_is_not_dumpable_is_refused_to_its_own_user)
{
	pid_t pid = start_child(become_nobody, (void *)0);
	char text[240];

	check_refused(NOBODY, pid, "not dumpable");
	HI_ASSERT_STATUS(HI_OK, open_as(0, pid, text));
}

HI_TEST_ROOT(target, a_user_may_open_a_process_of_their_own)
{
	pid_t pid = start_child(become_nobody, (void *)1);
	char text[240];

	HI_ASSERT_STATUS(HI_OK, open_as(NOBODY, pid, text));
}

static struct hi_permission facts(void)
{
	return (struct hi_permission){.pid = 7,
				      .name = "sshd",
				      .uid = {5, 5, 5},
				      .gid = {6, 6, 6},
				      .own_uid = 5,
				      .own_gid = 6,
				      .os_errno = EPERM};
}

static void check_explained(const struct hi_permission *f, const char *word)
{
	struct hi_error err = {};

	HI_ASSERT_STATUS(HI_CANNOT_ATTACH, hi_permission_explain(f, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "\"%s\" does not say \"%s\"", err.text,
		      word);
	HI_ASSERT_EQ(EPERM, err.os_errno);
	HI_ASSERT(strstr(err.text, "process 7 (sshd)"));
}

static void expect_other_proc(const char *status, const char *text)
{
	struct hi_error err = {};

	HI_ASSERT_STATUS(HI_CANNOT_ATTACH, hi_proc_explain(status, 17, &err));
	HI_ASSERT_MSG(strstr(err.text, text), "%s", err.text);
	HI_ASSERT_MSG(strstr(err.text, "(mount -t proc proc /proc)"), "%s", err.text);
}

HI_TEST(target, a_proc_of_another_pid_namespace_is_refused)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_proc_explain("Name:\tx\nPid:\t17\nNSpid:\t17\n", 17, &err), &err);
	HI_ASSERT_OK(hi_proc_explain("Pid:\t17\nVmPeak:\t1 kB\n", 17, &err), &err);
	expect_other_proc("Pid:\t4000\nNSpid:\t4000\t17\n", "is 4000, not 17");
	expect_other_proc("Pid:\t4000\n", "is 4000, not 17");
	/* By chance the same one. */
	expect_other_proc("Pid:\t17\nNSpid:\t17\t17\n", "is 17, not 17");
	expect_other_proc("", "does not show this process");
}

HI_TEST(target, each_check_of_the_kernel_has_its_own_explanation)
{
	struct hi_permission f = facts();

	check_explained(&f, "security module");
	f.uid[1] = 0;
	check_explained(&f, "belongs to uid 0, heapinspect runs as uid 5");
	f = facts();
	f.gid[2] = 9;
	check_explained(&f, "gid");
	f = facts();
	f.not_dumpable = true;
	check_explained(&f, "not dumpable");
	f = facts();
	f.caps = 1;
	check_explained(&f, "capabilities that heapinspect lacks");
	f = facts();
	f.yama_scope = 1;
	check_explained(&f, "ptrace_scope = 1");
	f.is_descendant = true;
	check_explained(&f, "security module");
	f.yama_scope = 2;
	check_explained(&f, "ptrace_scope = 2");
	f.own_caps = 1 << 19;
	check_explained(&f, "security module");
	f.yama_scope = 3;
	check_explained(&f, "fixed until reboot");
	f = facts();
	f.own_caps = 1 << 19;
	f.uid[0] = 0;
	f.other_user_ns = true;
	check_explained(&f, "another user namespace");
}

/* An i386 program in 84 + 9 bytes: for (;;) pause(); */
static const unsigned char
	program_i386[] =
		{
			0x7f, 'E',  'L',  'F', 1,    1,	   1,	 0, 0,	  0,	0,
			0,    0,    0,	  0,   0, /* ident */
			2,    0,    3,	  0,   1,    0,	   0,	 0, 0x54, 0x80, 0x04,
			0x08, /* EXEC, 386, entry */
			52,   0,    0,	  0,   0,    0,	   0,	 0, 0,	  0,	0,
			0,    52,   0,	  32,  0,    1,	   0,	 0, 0,	  0,	0,
			0,    0,    1,	  0,   0,    0,	   0,	 0, 0,	  0,	0,
			0x80, 0x04, 0x08, 0,   0x80, 0x04, 0x08, /* LOAD */
			0x5d, 0,    0,	  0,   0x5d, 0,	   0,	 0, 5,	  0,	0,
			0,    0,    0x10, 0,   0,    0xb8, 29,	 0, 0,	  0,	0xcd,
			0x80, 0xeb, 0xf7, /* mov $29,%eax; int $0x80; jmp */
};

HI_TEST(target, a_32_bit_and_an_aarch64_program_are_told_by_their_header)
{
	unsigned char header[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64, 1, 1};
	struct hi_error err = {};

	HI_ASSERT_STATUS(HI_CANNOT_ATTACH,
			 hi_machine_check(7, program_i386, sizeof(program_i386), &err));
	HI_ASSERT(strstr(err.text, "32-bit"));
	header[18] = EM_AARCH64;
	HI_ASSERT_STATUS(HI_CANNOT_ATTACH, hi_machine_check(7, header, 64, &err));
	HI_ASSERT(strstr(err.text, "aarch64"));
	header[18] = EM_X86_64;
	HI_ASSERT_OK(hi_machine_check(7, header, 64, &err), &err);
	HI_ASSERT_OK(hi_machine_check(7, "#!/bin/sh", 9, &err), &err);
	HI_ASSERT_OK(hi_machine_check(7, header, 3, &err), &err);
}

static void copy_file(const void *bytes, size_t size, char *path)
{
	int fd = mkstemp(path);

	HI_ASSERT(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	HI_ASSERT(fchmod(fd, 0755) == 0);
	close(fd);
	temporary_path(path);
}

HI_TEST_SCENARIO(target, a_running_32_bit_process_is_refused)
{
	char path[] = "/tmp/hi-i386-XXXXXX", exe[64];
	struct stat ours, theirs;
	pid_t pid;

	copy_file(program_i386, sizeof(program_i386), path);
	HI_ASSERT(stat(path, &ours) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(600);
		execl(path, path, NULL);
		_exit(1);
	}
	hi_child_kill_after(pid);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	for (int i = 0; i < 20000; i++) {
		if (hi_process_state(pid) == 'Z')
			break;
		if (stat(exe, &theirs) == 0 && theirs.st_ino == ours.st_ino)
			break;
		usleep(1000);
	}
	if (hi_process_state(pid) == 'Z') {
		/* A kernel without 32-bit programs: the header test is all there is. */
		hi_test_note("this kernel runs no 32-bit programs");
		return;
	}
	check_refused(0, pid, "32-bit");
}

static void fork_three(void *arg)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(600);
			if (write(*(int *)arg, &(pid_t){getpid()}, sizeof(pid)) < 0)
				_exit(1);
			for (;;)
				pause();
		}
	}
}

HI_TEST_SCENARIO(target, direct_children_are_listed_with_what_they_share)
{
	struct hi_target *target;
	pid_t pids[3];
	int ends[2];

	HI_ASSERT(pipe(ends) == 0);
	target = NULL;
	{
		pid_t pid = start_child(fork_three, &ends[1]);

		for (int i = 0; i < 3; i++)
			HI_ASSERT(read(ends[0], &pids[i], sizeof(pids[i])) ==
				  sizeof(pids[i]));
		target = hi_live_target(pid);
	}
	HI_ASSERT_EQ(3, target->n_children);
	HI_ASSERT_EQ(3, target->n_children_total);
	for (int i = 0; i < 3; i++) {
		bool found = false;

		for (size_t j = 0; j < 3; j++)
			found |= target->children[j].pid == pids[i];
		HI_ASSERT(found);
		HI_ASSERT(target->children[i].rss > 0 &&
			  target->children[i].shared <= target->children[i].rss &&
			  target->children[i].pss <= target->children[i].rss &&
			  target->children[i].shared > 0);
	}
}

HI_TEST_SCENARIO(target, description_agrees_with_proc)
{
	struct hi_fixture *fx = hi_fixture_start("copy_pages", "small", NULL);
	struct hi_target *target;
	char exe[512];
	ssize_t n;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	target = hi_live_target(fx->pid);
	n = readlink(HI_FIXTURE_DIR "/copy_pages", exe, sizeof(exe));
	HI_ASSERT(n < 0 && strstr(target->exe, "fixtures/copy_pages"));
	HI_ASSERT_STREQ("copy_pages", target->name);
	HI_ASSERT_EQ(1, target->n_threads);
	HI_ASSERT(!target->exe_deleted && !target->other_mount_ns &&
		  !target->other_pid_ns && !target->other_user_ns);
	HI_ASSERT(target->rss > 0 && target->pss <= target->rss);
	HI_ASSERT(target->n_mappings > 10 && target->start_time > 0);
	HI_ASSERT(hi_target_is_alive(target));
	hi_fixture_end(fx);
	HI_ASSERT(!hi_target_is_alive(target));
}

static void unshare_mounts(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWNS) != 0)
		_exit(1);
}

HI_TEST_ROOT(target, another_mount_namespace_is_noticed)
{
	struct hi_target *target = hi_live_target(start_child(unshare_mounts, NULL));

	HI_ASSERT(target->other_mount_ns);
	HI_ASSERT(!target->other_pid_ns && !target->other_user_ns);
}

static char *slurp(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *bytes;

	HI_ASSERT(fd >= 0 && fstat(fd, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	HI_ASSERT(read(fd, bytes, (size_t)st.st_size) == st.st_size);
	close(fd);
	*size = (size_t)st.st_size;
	return bytes;
}

static const struct hi_mapping *mapping_of_exe(const struct hi_target *target)
{
	for (size_t i = 0; i < target->n_mappings; i++)
		if (strcmp(target->mappings[i].path, target->exe) == 0)
			return &target->mappings[i];
	return NULL;
}

HI_TEST_SCENARIO(target, a_replaced_executable_is_opened_as_it_was)
{
	char path[] = "/tmp/hi-replaced-XXXXXX", other[] = "/tmp/hi-other-XXXXXX";
	struct hi_target *target;
	struct hi_fixture *fx;
	struct stat before, after, replaced;
	struct hi_error err = {};
	size_t size;
	char *bytes = slurp(HI_FIXTURE_DIR "/copy_pages", &size);
	int fd = -1;

	copy_file(bytes, size, path);
	copy_file("not the same", 12, other);
	free(bytes);
	HI_ASSERT(stat(path, &before) == 0);
	fx = hi_fixture_start(path, "small", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT(rename(other, path) == 0 && stat(path, &replaced) == 0);
	target = hi_live_target(fx->pid);
	HI_ASSERT(target->exe_deleted);
	HI_ASSERT_STREQ(path, target->exe);
	HI_ASSERT(mapping_of_exe(target) && mapping_of_exe(target)->deleted);
	HI_ASSERT_OK(hi_target_open_file(target, mapping_of_exe(target), &fd, &err),
		     &err);
	HI_ASSERT(fstat(fd, &after) == 0);
	HI_ASSERT_EQ(before.st_ino, after.st_ino);
	HI_ASSERT(replaced.st_ino != after.st_ino);
	close(fd);
}

HI_TEST_SCENARIO(target, a_path_that_now_is_a_pipe_or_another_file_is_not_opened)
{
	char path[] = "/tmp/hi-pipe-XXXXXX";
	struct hi_target *target = hi_live_target(start_child(NULL, NULL));
	struct hi_mapping m = {
		.start = 0x1000, .end = 0x2000, .kind = HI_MAPPING_FILE, .path = path};
	struct hi_error err = {};
	struct stat st;
	int fd = -1;

	HI_ASSERT(mkdtemp(path) && rmdir(path) == 0 && mkfifo(path, 0600) == 0);
	temporary_path(path);
	HI_ASSERT(stat(path, &st) == 0);
	m.inode = st.st_ino;
	m.dev_major = (uint32_t)(st.st_dev >> 8 & 0xfff);
	m.dev_minor = (uint32_t)(st.st_dev & 0xff);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_target_open_file(target, &m, &fd, &err));
	m.path = "/etc/passwd";
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_target_open_file(target, &m, &fd, &err));
	m.kind = HI_MAPPING_ANONYMOUS;
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_target_open_file(target, &m, &fd, &err));
	HI_ASSERT_EQ(-1, fd);
}

static unsigned count_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Several ways to open a file are tried, and one descriptor comes of it. */
HI_TEST_SCENARIO(target, opening_its_files_leaves_none_open)
{
	struct hi_target *target = hi_live_target(start_child(NULL, NULL));
	unsigned before = count_descriptors(), opened = 0;
	struct hi_error err = {};

	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];
		struct stat st;
		int fd = -1;

		if (m->kind != HI_MAPPING_FILE)
			continue;
		HI_ASSERT_OK(hi_target_open_file(target, m, &fd, &err), &err);
		HI_ASSERT(fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
		HI_ASSERT_EQ(before + 1, count_descriptors());
		close(fd);
		opened++;
	}
	HI_ASSERT(opened > 3);
}

/* ---- the name by which it was started ---- */

struct linked {
	char directory[32], file[64], link[64];
};

static void remove_linked(struct linked *l)
{
	unlink(l->link);
	unlink(l->file);
	rmdir(l->directory);
}

static void copy_program(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ssize_t n;

	HI_ASSERT(in >= 0 && out >= 0);
	do {
		n = copy_file_range(in, NULL, out, NULL, 1 << 20, 0);
		HI_ASSERT(n >= 0);
	} while (n);
	close(in);
	close(out);
}

/* A program that waits for its input, as DIRECTORY/service-1.2, and a link to it. */
static struct linked *make_linked(void)
{
	struct linked *l = calloc(1, sizeof(*l));

	HI_ASSERT(l);
	strcpy(l->directory, "/tmp/hi-started-XXXXXX");
	HI_ASSERT(mkdtemp(l->directory));
	snprintf(l->file, sizeof(l->file), "%s/service-1.2", l->directory);
	snprintf(l->link, sizeof(l->link), "%s/service", l->directory);
	hi_test_defer(remove_linked, l);
	HI_ASSERT(symlink("service-1.2", l->link) == 0);
	copy_program(HI_FIXTURE_DIR "/python_old", l->file);
	return l;
}

static const char *started_as(const struct linked *l, const char *first_argument)
{
	char *argv[] = {(char *)(uintptr_t)first_argument, NULL};
	struct hi_fixture *fx = hi_fixture_startv(l->link, argv);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return hi_live_target(fx->pid)->started_as;
}

HI_TEST_SCENARIO(target, a_link_by_which_it_was_started_is_its_name)
{
	const struct linked *l = make_linked();

	HI_ASSERT_STREQ(l->link, started_as(l, l->link));
	HI_ASSERT_STREQ(l->link, started_as(l, "service"));
	/* A title over the arguments. */
	HI_ASSERT_STREQ(l->link, started_as(l, "service *:6379"));
}

HI_TEST_SCENARIO(target, a_name_that_does_not_lead_to_its_file_is_not_believed)
{
	const struct linked *l = make_linked();

	HI_ASSERT_STREQ(l->file, started_as(l, "sshd: someone"));
	HI_ASSERT_STREQ(l->file, started_as(l, "/bin/sh"));
	HI_ASSERT_STREQ(l->file, started_as(l, "../service/"));
	HI_ASSERT_STREQ(l->file, started_as(l, "/proc/self/exe"));
	HI_ASSERT_STREQ(l->file, started_as(l, ""));
}

HI_TEST_SCENARIO(target, out_of_memory_at_any_allocation_is_an_error_and_leaks_nothing)
{
	pid_t pid = start_child(NULL, NULL);
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth = 0;

	while (status != HI_OK && nth < 500) {
		struct hi_target *target = NULL;

		hi_alloc_fail_at(++nth);
		status = hi_target_open(pid, &target, NULL);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		hi_target_close(target);
	}
	HI_ASSERT_STATUS(HI_OK, status);
	HI_ASSERT(nth > 4);
}
