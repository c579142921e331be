/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are written where others have put something: the victim, a file beside, has
 * the same bytes afterwards. Tests with files of other users need root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"
#include "tests/harness.h"
#include "tests/support/command.h"

enum { SOMEBODY = 12345, ANOTHER = 12346 };
static const char victim_bytes[] = "victim\n";

static void remove_all(void *path)
{
	HI_ASSERT(chdir("/") == 0);
	hi_command_run(0, "rm", "-rf", path, NULL);
}

static void put_bytes(const char *path, const char *bytes)
{
	FILE *f = fopen(path, "we");

	HI_ASSERT(f && fputs(bytes, f) >= 0 && fclose(f) == 0);
}

static void expect_bytes(const char *path, const char *bytes)
{
	char is[64] = "";
	FILE *f = fopen(path, "re");

	HI_ASSERT_MSG(f, "%s", path);
	(void)!fread(is, 1, sizeof(is) - 1, f);
	fclose(f);
	HI_ASSERT_STREQ(bytes, is);
}

/* Works in a new directory, with the victim in it. */
static void enter_new_directory(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/heapinspect-output-XXXXXX");
	HI_ASSERT(mkdtemp(path) && chmod(path, 0755) == 0);
	hi_test_defer(remove_all, path);
	HI_ASSERT(chdir(path) == 0);
	put_bytes("victim", victim_bytes);
}

static size_t count_names(const char *directory)
{
	struct hi_command *c = hi_command_run(0, "ls", "-A", directory, NULL);
	size_t n = 0;

	for (const char *s = c->out; *s; s++)
		n += *s == '\n';
	return n;
}

static void write_new(struct hi_output_file *file, const char *path)
{
	struct hi_error err;

	HI_ASSERT_EQ(4, write(file->fd, "new\n", 4));
	HI_ASSERT_OK(hi_output_file_commit(file, path, &err), &err);
	hi_output_file_close(file);
}

/* Opens, writes, commits. */
static void write_output(const char *path)
{
	struct hi_output_file file;
	struct hi_error err;

	HI_ASSERT_OK(hi_output_file_open(path, 0, &file, &err), &err);
	write_new(&file, path);
}

/* The reason has this text; nothing is left. */
static void expect_refused(const char *path, const char *reason)
{
	struct hi_output_file file;
	struct hi_error err = {};

	HI_ASSERT_MSG(hi_output_file_open(path, 0, &file, &err) != HI_OK, "%s", path);
	HI_ASSERT_MSG(strstr(err.text, reason), "%s: %s", path, err.text);
}

HI_TEST(output_file, has_its_name_when_it_is_complete_and_is_private)
{
	struct hi_output_file file;
	struct hi_error err;
	struct stat st;

	enter_new_directory();
	put_bytes("old", "old\n");
	HI_ASSERT_OK(hi_output_file_open("old", 0, &file, &err), &err);
	HI_ASSERT_EQ(3, count_names("."));
	expect_bytes("old", "old\n");
	hi_output_file_close(&file);
	HI_ASSERT_EQ(2, count_names("."));
	expect_bytes("old", "old\n");
	write_output("old");
	HI_ASSERT_EQ(2, count_names("."));
	expect_bytes("old", "new\n");
	HI_ASSERT(stat("old", &st) == 0);
	HI_ASSERT_EQ(0600, st.st_mode & 07777);
}

HI_TEST(output_file, links_are_replaced_and_not_written)
{
	struct stat st;

	enter_new_directory();
	HI_ASSERT(symlink("victim", "link") == 0 && link("victim", "hard") == 0 &&
		  symlink("nothing", "dangling") == 0 &&
		  symlink("no/such", "nowhere") == 0 && symlink("loop", "loop") == 0);
	write_output("link");
	write_output("hard");
	write_output("dangling");
	write_output("nowhere");
	write_output("loop");
	expect_bytes("victim", victim_bytes);
	expect_bytes("link", "new\n");
	HI_ASSERT(lstat("link", &st) == 0 && S_ISREG(st.st_mode));
	expect_bytes("hard", "new\n");
	HI_ASSERT_EQ(-1, access("nothing", F_OK));
	HI_ASSERT_EQ(6, count_names("."));
}

HI_TEST(output_file, a_name_that_is_taken_is_no_temporary_one)
{
	enter_new_directory();
	HI_ASSERT(symlink("victim", "link") == 0 && symlink("nothing", "dangling") == 0);
	HI_ASSERT_EQ(-1, hi_output_file_create(AT_FDCWD, "link"));
	HI_ASSERT_EQ(EEXIST, errno);
	HI_ASSERT_EQ(-1, hi_output_file_create(AT_FDCWD, "dangling"));
	HI_ASSERT_EQ(-1, hi_output_file_create(AT_FDCWD, "victim"));
	HI_ASSERT_EQ(-1, access("nothing", F_OK));
}

HI_TEST(output_file, a_link_in_place_of_the_temporary_name_gets_no_bytes)
{
	struct hi_output_file file;
	struct hi_error err;

	enter_new_directory();
	HI_ASSERT_OK(hi_output_file_open("out", 0, &file, &err), &err);
	HI_ASSERT(rename(file.temporary, "away") == 0 &&
		  symlink("victim", file.temporary) == 0);
	write_new(&file, "out");
	expect_bytes("victim", victim_bytes);
	expect_bytes("away", "new\n");
}

HI_TEST(output_file, a_directory_in_place_of_its_own_gets_nothing)
{
	struct hi_output_file file, again;
	struct hi_error err;

	enter_new_directory();
	HI_ASSERT(mkdir("d", 0755) == 0 && mkdir("victims", 0755) == 0);
	put_bytes("victims/out", victim_bytes);
	HI_ASSERT_OK(hi_output_file_open("d/out", 0, &file, &err), &err);
	HI_ASSERT(rename("d", "e") == 0 && symlink("victims", "d") == 0);
	HI_ASSERT_OK(hi_output_file_open_again(&file, &again, &err), &err);
	write_new(&file, "d/out");
	write_new(&again, "d/out");
	expect_bytes("victims/out", victim_bytes);
	expect_bytes("e/out", "new\n");
	HI_ASSERT_EQ(1, count_names("victims"));
	HI_ASSERT_EQ(1, count_names("e"));
}

HI_TEST(output_file, no_name_that_means_a_directory_is_one)
{
	enter_new_directory();
	HI_ASSERT(mkdir("d", 0755) == 0 && symlink("d", "link") == 0);
	expect_refused("d", "Is a directory");
	expect_refused("link", "Is a directory");
	expect_refused("d/", "Is a directory");
	expect_refused("d/.", "Is a directory");
	expect_refused("..", "Is a directory");
	expect_refused("", "No such file");
	expect_refused("nowhere/out", "No such file");
	expect_refused("victim/out", "Not a directory");
	HI_ASSERT_EQ(0, count_names("d"));
	HI_ASSERT_EQ(3, count_names("."));
}

HI_TEST(output_file, long_names_and_paths_with_links_have_their_files)
{
	char name[HI_OUTPUT_NAME + 2];

	enter_new_directory();
	HI_ASSERT(mkdir("d", 0755) == 0 && mkdir("d/e", 0755) == 0 &&
		  symlink("../d/./e", "d/link") == 0);
	write_output("./d//link/../e/out");
	expect_bytes("d/e/out", "new\n");
	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	write_output(name);
	expect_bytes(name, "new\n");
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	expect_refused(name, "File name too long");
}

HI_TEST(output_file, a_directory_that_others_write_to_is_refused_unless_it_is_sticky)
{
	enter_new_directory();
	HI_ASSERT(mkdir("d", 0755) == 0 && chmod("d", 0777) == 0);
	expect_refused("d/out", "chmod +t");
	HI_ASSERT_EQ(0, count_names("d"));
	HI_ASSERT(chmod("d", 01777) == 0);
	write_output("d/out");
	HI_ASSERT(chmod("d", 0700) == 0);
	write_output("d/out");
	HI_ASSERT_EQ(1, count_names("d"));
}

/* A pipe that is read, as the shell makes it of >(…), and one with a name. */
HI_TEST(output_file, pipes_and_devices_of_ours_are_written_as_they_are)
{
	char path[32], bytes[16] = "";
	int ends[2], reader;

	enter_new_directory();
	HI_ASSERT(pipe2(ends, O_CLOEXEC) == 0 && mkfifo("fifo", 0600) == 0 &&
		  symlink("fifo", "link") == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	write_output(path);
	HI_ASSERT_EQ(4, read(ends[0], bytes, sizeof(bytes)));
	reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	write_output("fifo");
	HI_ASSERT_EQ(4, read(reader, bytes, sizeof(bytes)));
	write_output("link");
	HI_ASSERT_EQ(4, read(reader, bytes, sizeof(bytes)));
	write_output("/dev/null");
	close(reader);
	close(ends[0]);
	close(ends[1]);
	HI_ASSERT_EQ(3, count_names("."));
}

/* `-o /dev/stdout > file`: it goes on where the file is, and nothing is put into /dev. */
HI_TEST(output_file, an_open_descriptor_is_written_where_it_is)
{
	char path[32];
	int fd;

	enter_new_directory();
	fd = open("victim", O_WRONLY | O_APPEND | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_output(path);
	expect_bytes("victim", "victim\nnew\n");
	close(fd);
	expect_refused(path, "Bad file descriptor");
}

HI_TEST(output_file, device_is_refused_where_a_regular_file_is_needed)
{
	struct hi_output_file file;
	struct hi_error err;

	HI_ASSERT_STATUS(
		HI_USAGE,
		hi_output_file_open("/dev/null", HI_OUTPUT_FILE_REGULAR, &file, &err));
	HI_ASSERT_STREQ("/dev/null: not a regular file", err.text);
}

HI_TEST(output_file, a_mode_is_kept_of_a_file_that_has_one_name)
{
	struct hi_output_file file;
	struct hi_error err;
	struct stat st;

	enter_new_directory();
	HI_ASSERT(chmod("victim", 0644) == 0);
	for (int links = 1; links <= 2; links++) {
		HI_ASSERT_OK(hi_output_file_open("victim", HI_OUTPUT_FILE_KEEP_MODE,
						 &file, &err),
			     &err);
		HI_ASSERT(fstat(file.fd, &st) == 0);
		HI_ASSERT_EQ(links == 1 ? 0644 : 0600, st.st_mode & 07777);
		hi_output_file_close(&file);
		HI_ASSERT(links == 2 || link("victim", "hard") == 0);
	}
}

HI_TEST(output_file, a_new_one_may_be_for_all_to_read)
{
	struct hi_output_file file;
	struct hi_error err;
	struct stat st;

	enter_new_directory();
	HI_ASSERT_OK(hi_output_file_open("gauges", HI_OUTPUT_FILE_READABLE, &file, &err),
		     &err);
	HI_ASSERT(fstat(file.fd, &st) == 0);
	HI_ASSERT_EQ(0644, st.st_mode & 07777);
	hi_output_file_close(&file);
}

HI_TEST(output_file, one_without_a_name_leaves_none)
{
	struct hi_error err;
	int fd = -1;

	enter_new_directory();
	HI_ASSERT_OK(hi_output_file_open_unnamed("out", &fd, &err), &err);
	HI_ASSERT_EQ(4, write(fd, "new\n", 4));
	HI_ASSERT_EQ(1, count_names("."));
	close(fd);
	HI_ASSERT(mkdir("d", 0755) == 0 && chmod("d", 0777) == 0);
	HI_ASSERT_STATUS(HI_USAGE, hi_output_file_open_unnamed("d/out", &fd, &err));
}

/* ---- other users ---- */

static void make_somebodys(const char *directory)
{
	HI_ASSERT(mkdir(directory, 0755) == 0 &&
		  chown(directory, SOMEBODY, SOMEBODY) == 0);
}

static void make_link_of(uid_t user, const char *to, const char *path)
{
	HI_ASSERT(symlink(to, path) == 0 && lchown(path, user, user) == 0);
}

HI_TEST_ROOT(output_file, root_writes_into_the_directory_of_a_user)
{
	enter_new_directory();
	make_somebodys("d");
	write_output("d/out");
	/* As the groups of users on Debian, though no file knows this one. */
	HI_ASSERT(chmod("d", 0775) == 0);
	write_output("d/out");
	HI_ASSERT(chown("d", SOMEBODY, ANOTHER) == 0);
	expect_refused("d/out", "other users may replace");
	HI_ASSERT(chown("d", SOMEBODY, 0) == 0);
	write_output("d/out");
	make_link_of(SOMEBODY, "../victim", "d/link");
	write_output("d/link");
	expect_bytes("victim", victim_bytes);
}

HI_TEST_ROOT(output_file, a_link_of_a_user_leads_to_directories_of_that_user_alone)
{
	enter_new_directory();
	make_somebodys("d");
	make_somebodys("own");
	HI_ASSERT(mkdir("roots", 0755) == 0);
	make_link_of(SOMEBODY, "../own", "d/own");
	make_link_of(SOMEBODY, "../roots", "d/roots");
	make_link_of(ANOTHER, "own", "to_somebody");
	make_link_of(ANOTHER, "d/own", "by_two");
	make_link_of(0, "own", "by_root");
	write_output("d/own/out");
	write_output("by_root/out");
	expect_refused("d/roots/out", "a link of user 12345");
	expect_refused("to_somebody/out", "a link of user 12346");
	expect_refused("by_two/out", "a link of user 12345");
	HI_ASSERT_EQ(0, count_names("roots"));
	HI_ASSERT_EQ(1, count_names("own"));
}

HI_TEST_ROOT(output_file, pipes_and_links_to_devices_of_a_user_are_refused)
{
	enter_new_directory();
	make_somebodys("d");
	HI_ASSERT(mkfifo("d/fifo", 0666) == 0 &&
		  chown("d/fifo", SOMEBODY, SOMEBODY) == 0 && chmod(".", 01777) == 0 &&
		  mkfifo("fifo", 0666) == 0 && chown("fifo", SOMEBODY, SOMEBODY) == 0);
	make_link_of(SOMEBODY, "/dev/null", "null");
	make_link_of(0, "d/fifo", "roots");
	expect_refused("d/fifo", "that user 12345 has put there");
	expect_refused("fifo", "that user 12345 has put there");
	expect_refused("null", "that user 12345 has put there");
	expect_refused("roots", "that user 12345 has put there");
	/* In a directory where only root makes such, as /dev/pts. */
	HI_ASSERT(mkdir("safe", 0755) == 0 && rename("fifo", "safe/fifo") == 0);
	HI_ASSERT(open("safe/fifo", O_RDWR | O_CLOEXEC) >= 0);
	write_output("safe/fifo");
}

/* In a child that is SOMEBODY: 0, or the line of the first thing that went wrong. */
static int try_as_somebody(void)
{
	struct hi_output_file file;
	struct hi_error err;
	struct stat st;

	if (setgid(SOMEBODY) != 0 || setuid(SOMEBODY) != 0)
		return __LINE__;
	if (hi_output_file_open("shared/roots", 0, &file, &err) == HI_OK ||
	    !strstr(err.text, "user 0 has a file of that name"))
		return __LINE__;
	if (hi_output_file_open("shared/link", 0, &file, &err) == HI_OK ||
	    hi_output_file_open("shared/fifo", 0, &file, &err) == HI_OK)
		return __LINE__;
	if (hi_output_file_open("shared/new", 0, &file, &err) != HI_OK ||
	    hi_output_file_commit(&file, "shared/new", &err) != HI_OK)
		return __LINE__;
	hi_output_file_close(&file);
	if (chmod("own", 0775) != 0 ||
	    hi_output_file_open("own/new", 0, &file, &err) != HI_OK ||
	    hi_output_file_commit(&file, "own/new", &err) != HI_OK)
		return __LINE__;
	hi_output_file_close(&file);
	return stat("own/new", &st) == 0 && (st.st_mode & 07777) == 0600 ? 0 : __LINE__;
}

HI_TEST_ROOT(output_file, user_replaces_own_files_in_tmp)
{
	pid_t pid;
	int status;

	enter_new_directory();
	make_somebodys("own");
	HI_ASSERT(mkdir("shared", 0755) == 0 && chmod("shared", 01777) == 0 &&
		  mkfifo("shared/fifo", 0666) == 0 &&
		  chown("shared/fifo", ANOTHER, ANOTHER) == 0);
	put_bytes("shared/roots", victim_bytes);
	make_link_of(ANOTHER, "../own/victim", "shared/link");
	put_bytes("own/victim", victim_bytes);
	pid = fork();
	if (pid == 0)
		_exit(try_as_somebody() & 0xff);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
	expect_bytes("own/victim", victim_bytes);
	expect_bytes("shared/roots", victim_bytes);
}

/* ---- a fork that goes on with them ---- */

static void serve_outputs(int socket)
{
	struct hi_files_request request;

	while (hi_files_receive(socket, &request)) {
		struct hi_files_answer answer = {};
		int fd = hi_output_file_serve(&request, answer.text);

		answer.error = fd < 0 ? errno : 0;
		if (!hi_files_answer(socket, &answer, fd))
			break;
		if (fd >= 0)
			close(fd);
	}
	hi_output_file_serve_end();
}

/* Returns the exit status of `work`, which runs in the fork. */
static int run_in_served_fork(int (*work)(struct hi_output_file *file))
{
	struct hi_output_file file;
	struct hi_error err;
	int ends[2], status = -1;
	pid_t pid;

	HI_ASSERT_OK(hi_output_file_open("out", 0, &file, &err), &err);
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		hi_files_use(ends[1]);
		_exit(work(&file));
	}
	close(ends[1]);
	serve_outputs(ends[0]);
	close(ends[0]);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	hi_output_file_close(&file);
	HI_ASSERT(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool write_and_commit(struct hi_output_file *file, const char *text)
{
	struct hi_error err;

	return write(file->fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	       hi_output_file_commit(file, "out", &err) == HI_OK;
}

static int write_thrice(struct hi_output_file *file)
{
	struct hi_output_file next = {}, left = {};
	struct hi_error err;

	if (!write_and_commit(file, "one\n"))
		return 1;
	if (hi_output_file_open_again(file, &next, &err) != HI_OK ||
	    !write_and_commit(&next, "two\n"))
		return 2;
	hi_output_file_close(file);
	/* Without a name it goes. */
	if (hi_output_file_open_again(&next, &left, &err) != HI_OK ||
	    write(left.fd, "three\n", 6) != 6)
		return 3;
	hi_output_file_close(&left);
	hi_output_file_close(&next);
	return 0;
}

HI_TEST(output_file, a_fork_has_its_files_named_by_the_other_process)
{
	enter_new_directory();
	HI_ASSERT_EQ(0, run_in_served_fork(write_thrice));
	expect_bytes("out", "two\n");
	HI_ASSERT_EQ(2, count_names("."));
}

/* Whatever it asks for, files are begun in number, and what has no name is removed. */
static int ask_for_nonsense(struct hi_output_file *file)
{
	static const char *const numbers[] = {"0", "17",	  "-1", "1x",
					      "",  "99999999999", "2"};
	struct hi_output_file again[64];
	struct hi_error err;
	int begun = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (hi_files_ask(HI_FILES_OUTPUT_NAME, numbers[i], "", NULL) >= 0 ||
		    errno != EPERM)
			return 1;
	while (begun < 64 &&
	       hi_output_file_open_again(file, &again[begun], &err) == HI_OK)
		begun++;
	return begun > 0 && begun < 64 ? 0 : 2;
}

HI_TEST(output_file, a_fork_cannot_name_what_it_was_not_given)
{
	enter_new_directory();
	HI_ASSERT_EQ(0, run_in_served_fork(ask_for_nonsense));
	HI_ASSERT_EQ(1, count_names("."));
	expect_bytes("victim", victim_bytes);
}
