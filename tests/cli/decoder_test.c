/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command decodes in a process of its own, without rights. It is held where it says
 * so: its standard error is a pipe that is full.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "cli/decoder/decoder.h"
#include "session/live/symbols.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/held_run.h"
#include "tests/support/temporary.h"

static const char *decimal(pid_t pid)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return text;
}

static bool is_decoder_of(pid_t pid, pid_t parent)
{
	char path[64], name[32] = "";
	FILE *file;

	if (hi_process_status(pid, "PPid") != parent)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
	return strcmp(name, "hi-decoder") == 0;
}

static pid_t find_decoder(pid_t parent)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	HI_ASSERT(proc);
	while (!found && (entry = readdir(proc)) != NULL)
		if (is_decoder_of(atoi(entry->d_name), parent))
			found = atoi(entry->d_name);
	closedir(proc);
	return found;
}

/* Until it has no rights any more and waits for room in a pipe. */
static void await_decoder(struct hi_held_run *run)
{
	int status;

	for (;;) {
		HI_ASSERT_MSG(waitpid(run->pid, &status, WNOHANG) == 0, "it has ended");
		run->decoder = find_decoder(run->pid);
		if (run->decoder && hi_process_status(run->decoder, "Seccomp") == 2 &&
		    hi_process_state(run->decoder) == 'S')
			return;
		usleep(1000);
	}
}

static void await_full_pipe(const struct hi_held_run *run)
{
	int n = 0;

	while (n < HI_HELD_PIPE) {
		HI_ASSERT(ioctl(run->out, FIONREAD, &n) == 0);
		usleep(1000);
	}
}

/* All that stands in the pipe, until the end; without the filling. */
static char *read_all(int fd)
{
	static char text[1 << 16];
	size_t n = 0, kept = 0;
	ssize_t got;

	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	for (size_t i = 0; i < n; i++)
		if (text[i])
			text[kept++] = text[i];
	text[kept] = 0;
	return text;
}

static int exit_code_of(struct hi_held_run *run)
{
	int status;

	HI_ASSERT_EQ(run->pid, waitpid(run->pid, &status, 0));
	run->pid = 0;
	HI_ASSERT_MSG(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static size_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t n = 0;

	HI_ASSERT(dir);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static struct hi_fixture *start_target(void)
{
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "1", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

static void check_target(struct hi_fixture *fx)
{
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

/* How many of its descriptors are of files whose paths begin so, and one of them; none
 * where we may not look. */
static size_t find_held(pid_t decoder, const char *prefix, char held[64])
{
	char path[64], name[400], link[64];
	DIR *fds;
	struct dirent *entry;
	size_t count = 0;

	held[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)decoder);
	fds = opendir(path);
	while (fds && (entry = readdir(fds)) != NULL) {
		ssize_t n;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		n = readlink(name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (strncmp(link, prefix, strlen(prefix)) != 0)
			continue;
		memcpy(held, link, sizeof(link));
		count++;
	}
	HI_ASSERT(fds || geteuid() != 0);
	if (fds)
		closedir(fds);
	return count;
}

HI_TEST_SCENARIO(decoder, decoder_has_no_rights)
{
	struct hi_fixture *fx = start_target();
	const char *const arguments[] = {"-q", "-v",	    "--pid", decimal(fx->pid),
					 "-o", "/dev/null", NULL};
	struct hi_held_run *run = hi_held_run_start(false, true, arguments);
	char *text, held[64], of_target[64];

	await_decoder(run);
	snprintf(of_target, sizeof(of_target), "/proc/%d/", (int)fx->pid);
	(void)find_held(run->decoder, of_target, held);
	HI_ASSERT_EQ(0, hi_process_status(run->decoder, "CapEff"));
	HI_ASSERT_EQ(0, hi_process_status(run->decoder, "CapPrm"));
	HI_ASSERT_EQ(1, hi_process_status(run->decoder, "NoNewPrivs"));
	HI_ASSERT_EQ(hi_process_status(getpid(), "Seccomp"),
		     hi_process_status(run->pid, "Seccomp"));
	if (geteuid() == 0)
		HI_ASSERT_EQ(65534, hi_process_status(run->decoder, "Uid"));
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	text = read_all(run->err);
	HI_ASSERT_MSG(!*held, "it holds %s", held);
	HI_ASSERT_MSG(strstr(text, "without privileges"), "%s", text);
	HI_ASSERT_EQ(0, exit_code_of(run));
	check_target(fx);
}

/* That of a directory would open what lies below it, past those above it. */
HI_TEST_SCENARIO(decoder, decoder_holds_the_file_of_the_report_only)
{
	struct hi_fixture *fx = start_target();
	char *dir = temporary_directory(), file[128], held[64];
	const char *const arguments[] = {"-q", "-v", "--pid", decimal(fx->pid),
					 "-o", file, NULL};
	struct hi_held_run *run;

	snprintf(file, sizeof(file), "%s/out", dir);
	run = hi_held_run_start(false, true, arguments);
	await_decoder(run);
	HI_ASSERT_EQ(geteuid() == 0, find_held(run->decoder, dir, held));
	HI_ASSERT_MSG(!*held || strncmp(held, file, strlen(file)) == 0, "it holds %s",
		      held);
	(void)read_all(run->err);
	HI_ASSERT_EQ(0, exit_code_of(run));
	HI_ASSERT_EQ(1, count_files(dir));
	check_target(fx);
}

static int deadly(void)
{
#ifdef HI_SANITIZED
	return SIGABRT; /* AddressSanitizer makes an exit of the other one */
#else
	return SIGSEGV;
#endif
}

HI_TEST_SCENARIO(decoder, crash_of_the_decoder_is_reported_and_leaves_nothing)
{
	char *dir = temporary_directory(), file[128];
	struct hi_fixture *fx = start_target();
	const char *const arguments[] = {"-q", "-v", "--pid", decimal(fx->pid),
					 "-o", file, NULL};
	struct hi_held_run *run;
	char *text;

	snprintf(file, sizeof(file), "%s/report", dir);
	run = hi_held_run_start(false, true, arguments);
	await_decoder(run);
	HI_ASSERT_EQ(1, count_files(dir));
	HI_ASSERT(kill(run->decoder, deadly()) == 0);
	text = read_all(run->err);
	HI_ASSERT_MSG(strstr(text, "killed by signal"), "%s", text);
	HI_ASSERT_MSG(strstr(text, "unharmed"), "%s", text);
	HI_ASSERT_MSG(strstr(text, "--no-sandbox"), "%s", text);
	HI_ASSERT_EQ(2, exit_code_of(run));
	HI_ASSERT_EQ(0, count_files(dir));
	check_target(fx);
}

HI_TEST_SCENARIO(decoder, crash_of_the_decoder_names_the_phase)
{
	struct hi_fixture *fx = start_target();
	const char *const arguments[] = {"-q",	  "export",	    "-f", "ndjson",
					 "--pid", decimal(fx->pid), NULL};
	struct hi_held_run *run = hi_held_run_start(false, false, arguments);
	char *text;

	await_full_pipe(run);
	await_decoder(run);
	HI_ASSERT(kill(run->decoder, SIGKILL) == 0);
	text = read_all(run->err);
	HI_ASSERT_MSG(strstr(text, "(Killed) while \"export\"; "), "%s", text);
	HI_ASSERT_MSG(strstr(text, "memory ran out"), "%s", text);
	HI_ASSERT_EQ(2, exit_code_of(run));
	check_target(fx);
}

HI_TEST_SCENARIO(decoder, a_signal_to_the_first_process_ends_both)
{
	char *dir = temporary_directory(), file[128];
	struct hi_fixture *fx = start_target();
	const char *const arguments[] = {"-q", "-v", "--pid", decimal(fx->pid),
					 "-o", file, NULL};
	struct hi_held_run *run;
	int status;

	snprintf(file, sizeof(file), "%s/report", dir);
	run = hi_held_run_start(false, true, arguments);
	await_decoder(run);
	HI_ASSERT(kill(run->pid, SIGTERM) == 0);
	HI_ASSERT_EQ(run->pid, waitpid(run->pid, &status, 0));
	run->pid = 0;
	HI_ASSERT(WIFSIGNALED(status));
	HI_ASSERT_EQ(SIGTERM, WTERMSIG(status));
	HI_ASSERT_EQ(0, count_files(dir));
	(void)read_all(run->err); /* the end comes when both are gone */
	check_target(fx);
}

HI_TEST_SCENARIO(decoder, decoder_ends_when_the_first_process_is_killed)
{
	struct hi_fixture *fx = start_target();
	const char *const arguments[] = {"-q", "-v",	    "--pid", decimal(fx->pid),
					 "-o", "/dev/null", NULL};
	struct hi_held_run *run = hi_held_run_start(false, true, arguments);
	int status;

	await_decoder(run);
	HI_ASSERT(kill(run->pid, SIGKILL) == 0);
	HI_ASSERT_EQ(run->pid, waitpid(run->pid, &status, 0));
	run->pid = 0;
	(void)read_all(run->err); /* the end comes when it is gone */
	while (hi_process_state(run->decoder) && hi_process_state(run->decoder) != 'Z')
		usleep(1000);
	check_target(fx);
}

HI_TEST_SCENARIO(decoder, an_option_decodes_in_the_first_process)
{
	struct hi_fixture *fx = start_target();
	const char *const arguments[] = {
		"-q",	 "export",	   "-f", "ndjson", "--no-sandbox",
		"--pid", decimal(fx->pid), NULL};
	struct hi_held_run *run = hi_held_run_start(false, false, arguments);

	await_full_pipe(run);
	HI_ASSERT_EQ(0, find_decoder(run->pid));
	HI_ASSERT_EQ(hi_process_status(getpid(), "Seccomp"),
		     hi_process_status(run->pid, "Seccomp"));
	check_target(fx);
}

/* ---- what is opened for it ---- */

static int serve_in_a_fork(const struct hi_options *options, struct hi_output *output,
			   int ends[2])
{
	struct hi_decoder decoder = {.options = options, .output = output};

	HI_ASSERT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	decoder.pid = fork();
	if (decoder.pid)
		return decoder.pid;
	close(ends[1]);
	decoder.socket = ends[0];
	hi_decoder_serve(&decoder);
	_exit(0);
}

static int ask(enum hi_files_operation operation, const char *name, const char *other)
{
	int fd = hi_files_ask(operation, name, other, NULL);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void create_in_cache(char temporary[HI_FILES_NAME])
{
	int fd = hi_files_ask(HI_FILES_CACHE_CREATE, "", "", temporary);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_EQ(4, write(fd, "kept", 4));
	close(fd);
}

HI_TEST_SCENARIO(decoder, the_first_process_keeps_the_cache)
{
	char *dir = temporary_directory(), temporary[HI_FILES_NAME], cache[128],
	     bytes[8] = "";
	struct hi_options options = {};
	struct hi_output output = {};
	int ends[2], status, fd;
	pid_t pid;

	snprintf(cache, sizeof(cache), "%s/heapinspect", dir);
	HI_ASSERT(setenv("XDG_CACHE_HOME", dir, 1) == 0);
	pid = serve_in_a_fork(&options, &output, ends);
	close(ends[0]);
	hi_files_use(ends[1]);

	fd = hi_files_ask(HI_FILES_CACHE, "", "", NULL);
	HI_ASSERT(fd >= 0);
	HI_ASSERT(fcntl(fd, F_GETFL) & O_PATH); /* it cannot be listed */
	close(fd);
	HI_ASSERT_EQ(ENOENT, ask(HI_FILES_CACHE_OPEN, "0f-1.types", ""));
	create_in_cache(temporary);
	HI_ASSERT_EQ(EPERM, ask(HI_FILES_CACHE_COMMIT, temporary, "../0f-1.types"));
	HI_ASSERT_EQ(EPERM, ask(HI_FILES_CACHE_COMMIT, temporary, ".hidden"));
	HI_ASSERT_EQ(0, ask(HI_FILES_CACHE_COMMIT, temporary, "0f-1.types"));
	fd = hi_files_ask(HI_FILES_CACHE_OPEN, "0f-1.types", "", NULL);
	HI_ASSERT_EQ(4, read(fd, bytes, sizeof(bytes)));
	HI_ASSERT_STREQ("kept", bytes);
	close(fd);
	create_in_cache(temporary);
	HI_ASSERT_EQ(0, ask(HI_FILES_CACHE_DROP, temporary, ""));
	create_in_cache(temporary); /* and is not completed */

	hi_files_use(-1);
	close(ends[1]);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c",
				       "test \"$(ls -A \"$1\")\" = 0f-1.types", "sh",
				       cache, NULL)
				->exit_code);
}

HI_TEST_SCENARIO(decoder, first_process_opens_named_files_and_programs_of_the_owner)
{
	char *dir = temporary_directory(), named[128], beside[128], elf[128], other[128],
	     core[128], pipe_path[128];
	struct hi_options options = {
		.decoding.hints = {named}, .decoding.n_hints = 1, .target.file = elf};
	struct hi_output output = {};
	int ends[2], status;
	pid_t pid;

	snprintf(named, sizeof(named), "%s/named", dir);
	snprintf(beside, sizeof(beside), "%s/beside", dir);
	snprintf(elf, sizeof(elf), "%s/elf", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(core, sizeof(core), "%s/core", dir);
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", dir);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", "/etc/passwd", named, NULL)->exit_code);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", "/etc/passwd", beside, NULL)->exit_code);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", "/bin/true", elf, NULL)->exit_code);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c",
				       "cp /bin/true \"$1/other\" && cp /bin/true "
				       "\"$1/core\" && printf '\\004' | dd "
				       "of=\"$1/core\" bs=1 seek=16 conv=notrunc",
				       "sh", dir, NULL)
				->exit_code);
	HI_ASSERT(mkfifo(pipe_path, 0600) == 0);
	pid = serve_in_a_fork(&options, &output, ends);
	close(ends[0]);
	hi_files_use(ends[1]);

	HI_ASSERT_EQ(0, ask(HI_FILES_OPEN, named, ""));
	if (geteuid() == 0) { /* it is replaced by a file of somebody else */
		HI_ASSERT(chown(named, 54321, 54321) == 0);
		HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, named, ""));
		HI_ASSERT(chown(named, 0, 0) == 0);
	}
	HI_ASSERT_EQ(0, ask(HI_FILES_OPEN, elf, ""));
	HI_ASSERT_EQ(0, ask(HI_FILES_OPEN, other, ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, core, ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, beside, ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN_STREAM, beside, ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, pipe_path, ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, "/dev/zero", ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, dir, ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN, "/tmp/heapinspect-no-such-file", ""));
	HI_ASSERT_EQ(EACCES, ask(HI_FILES_OPEN_IN_ROOT, "/bin/true", ""));
	HI_ASSERT_EQ(EPERM, ask(HI_FILES_OUTPUT, beside, ""));
	HI_ASSERT_EQ(EPERM, ask(HI_FILES_OUTPUT_COMMIT, beside, ""));
	HI_ASSERT(ask(HI_FILES_DEBUGINFOD, "../../etc/passwd", ""));
	HI_ASSERT(ask(HI_FILES_CACHE_OPEN, "../named", ""));
	HI_ASSERT(ask(HI_FILES_CACHE_COMMIT, named, "x"));
	HI_ASSERT(ask(HI_FILES_CACHE_DROP, named, ""));
	HI_ASSERT(ask((enum hi_files_operation)999, named, ""));
	HI_ASSERT(access(named, R_OK) == 0);

	hi_files_use(-1);
	close(ends[1]);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
}

/* ---- before the stop ---- */

HI_TEST_SCENARIO(decoder, symbols_are_found_without_rights_as_they_are_with_them)
{
	struct hi_fixture *fx = start_target();
	struct hi_range *with = NULL, *without = NULL;
	struct hi_target *target = NULL;
	size_t n_with = 0, n_without = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	HI_ASSERT_OK(hi_allocator_text(target, &with, &n_with, &err), &err);
	HI_ASSERT_OK(hi_symbols_allocator(target, &without, &n_without, &err), &err);
	HI_ASSERT(n_with > 0);
	HI_ASSERT_EQ(n_with, n_without);
	HI_ASSERT(memcmp(with, without, n_with * sizeof(*with)) == 0);
	HI_ASSERT(!hi_files_are_served());
	free(with);
	free(without);
	hi_target_close(target);
}
