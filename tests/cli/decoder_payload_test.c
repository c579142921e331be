/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Somebody has taken over the process that decodes, with the descriptors that it really
 * has: it tries everything, asks for files, and looks at what it was left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/packet.h"
#include "cli/decoder/decoder.h"
#include "cli/options/options.h"
#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/payload.h"

enum { MOST_DESCRIPTORS = 256, MOST_REQUESTS = 64, MOST_PATH = 256 };

struct wish {
	enum hi_files_operation operation;
	const char *name, *other;
	bool given;
};

struct taken_over {
	struct hi_payload_notes payload;
	int flags[MOST_DESCRIPTORS]; /* of fcntl(F_GETFL); -1: not open */
	mode_t modes[MOST_DESCRIPTORS];
	int output; /* the descriptor of the report */
	int errors[MOST_REQUESTS];
	int error_after_a_wrong_packet;
	bool has_ended;
};

static char top[] = "/tmp/heapinspect-payload-XXXXXX";
static char core[MOST_PATH], program[MOST_PATH], report[MOST_PATH], open_file[MOST_PATH];
static char own_exe[MOST_PATH], target_exe[MOST_PATH], target_mem[MOST_PATH];

/* A file with the magic bytes that only root may read, and no other: of a program, and a
 * core dump by its header. */
static void make_files(pid_t target)
{
	snprintf(core, sizeof(core), "%s/core", top);
	snprintf(program, sizeof(program), "%s/program", top);
	snprintf(report, sizeof(report), "%s/report", top);
	snprintf(open_file, sizeof(open_file), "%s/open", top);
	snprintf(own_exe, sizeof(own_exe), "%s/leak_shapes", HI_FIXTURE_DIR);
	snprintf(target_exe, sizeof(target_exe), "/proc/%d/exe", (int)target);
	snprintf(target_mem, sizeof(target_mem), "/proc/%d/mem", (int)target);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c",
				       "cd \"$1\" && chmod 711 . && umask 077 && "
				       "cp /bin/true program && cp program core && "
				       "printf '\\004' | dd of=core bs=1 seek=16 "
				       "conv=notrunc && umask 0 && : >open",
				       "sh", top, NULL)
				->exit_code);
}

/* The names are those of make_files(). */
static const struct wish wishes[] = {
	{HI_FILES_OPEN, own_exe, "", true},
	{HI_FILES_OPEN, "/proc/kcore", "", false},
	{HI_FILES_OPEN, "/etc/shadow", "", false},
	{HI_FILES_OPEN, "/proc/self/exe", "", false},
	{HI_FILES_OPEN, "/proc/1/exe", "", false},
	{HI_FILES_OPEN, "/proc/1/root/bin/sh", "", false},
	{HI_FILES_OPEN, target_exe, "", false},
	{HI_FILES_OPEN, target_mem, "", false},
	{HI_FILES_OPEN, core, "", false},
	{HI_FILES_OPEN, program, "", false},
	{HI_FILES_OPEN, "/usr/lib/debug/../../../etc/shadow", "", false},
	{HI_FILES_OPEN, "/dev/mem", "", false},
	{HI_FILES_OPEN, "", "", false},
	{HI_FILES_OPEN_STREAM, core, "", false},
	{HI_FILES_OPEN_STREAM, "/etc/shadow", "", false},
	{HI_FILES_OPEN_IN_ROOT, "/etc/shadow", "", false},
	{HI_FILES_OPEN_IN_ROOT, "/bin/true", "", false},
	{HI_FILES_MAPPING, "0", "", false},
	{HI_FILES_OUTPUT, "/etc/passwd", "", false},
	{HI_FILES_OUTPUT_COMMIT, "/etc/passwd", "", false},
	{HI_FILES_CACHE_OPEN, "../../etc/shadow", "", false},
	{HI_FILES_CACHE_COMMIT, "../../../etc/passwd", "a", false},
	{HI_FILES_DEBUGINFOD, "../../etc/passwd", "", false},
	{(enum hi_files_operation)99, "/etc/passwd", "", false},
};

enum { WISHES = sizeof(wishes) / sizeof(wishes[0]) };

/* ---- in the process that was taken over ---- */

static void look_at_descriptors(struct taken_over *t)
{
	for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
		struct stat st;

		t->flags[fd] = fcntl(fd, F_GETFL);
		t->modes[fd] = fstat(fd, &st) == 0 ? st.st_mode : 0;
	}
}

static void ask_for_files(struct taken_over *t, int socket)
{
	for (size_t i = 0; i < WISHES; i++) {
		int fd = hi_files_ask(wishes[i].operation, wishes[i].name,
				      wishes[i].other, NULL);

		t->errors[i] = fd < 0 ? errno : 0;
	}
	(void)hi_packet_send(socket, "wrong", 5, -1);
	(void)hi_files_ask(HI_FILES_OPEN, own_exe, "", NULL);
	t->error_after_a_wrong_packet = errno;
}

static _Noreturn void take_over(struct taken_over *t, const struct hi_decoder *decoder,
				pid_t target)
{
	struct hi_payload payload = {.other = target,
				     .path = open_file,
				     .reader = open(open_file, O_RDONLY | O_CLOEXEC),
				     .datagrams = -1,
				     .terminal = -1};
	int ends[2] = {-1, -1};

	t->output = fileno(decoder->output->file);
	look_at_descriptors(t);
	/* As a descriptor that might be a pidfd of the target it takes the last one. */
	for (int fd = 0; fd < MOST_DESCRIPTORS; fd++)
		if (t->flags[fd] >= 0)
			payload.other_pidfd = fd;
	payload.pipe_end = pipe2(ends, O_CLOEXEC) == 0 ? ends[1] : -1;
	hi_payload_run(&payload, &t->payload);
	ask_for_files(t, decoder->socket);
	t->has_ended = true;
	_exit(0);
}

static _Noreturn void inspect_and_take_over(struct taken_over *t, pid_t target)
{
	char pid[16], name[] = "heapinspect", quiet[] = "-q", by_pid[] = "--pid",
		      to[] = "-o";
	char *argv[] = {name, quiet, by_pid, pid, to, report, NULL};
	struct hi_options options = {};
	struct hi_output output = {};
	struct hi_inspection *in = NULL;
	struct hi_decoder decoder;
	struct hi_error err;

	/* Not what whoever runs the tests has left open. */
	close_range(3, ~0u, 0);
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
	dup2(1, 2);
	snprintf(pid, sizeof(pid), "%d", (int)target);
	if (hi_options_parse(6, argv, &options) != 0 ||
	    hi_output_open(&options, &output, &err) != HI_OK)
		_exit(3);
	if (hi_inspect_begin(&options, NULL, &in, &err) != HI_OK ||
	    hi_decoder_start(&decoder, &options, in, &output, &err) != HI_OK)
		_exit(4);
	if (!decoder.pid)
		take_over(t, &decoder, target);
	_exit(hi_decoder_wait(&decoder));
}

/* ---- what it got ---- */

/* The report is the only file that it may write: pipes, sockets and terminals are those
 * of whoever started it, or lead to the first process. */
static void check_descriptors(const struct taken_over *t)
{
	for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
		bool writes = (t->flags[fd] & O_ACCMODE) != O_RDONLY;

		if (t->flags[fd] < 0)
			continue;
		printf("descriptor %-3d mode %06o  %s\n", fd, t->modes[fd],
		       t->flags[fd] & O_PATH ? "path only"
		       : writes		     ? "writes"
					     : "reads");
		HI_ASSERT_MSG(!S_ISDIR(t->modes[fd]), "%d is a directory", fd);
		HI_ASSERT_MSG(!S_ISREG(t->modes[fd]) || !writes || fd == t->output,
			      "%d is a file that it may write", fd);
	}
}

static void check_wishes(const struct taken_over *t)
{
	for (size_t i = 0; i < WISHES; i++) {
		bool given = t->errors[i] == 0;

		printf("request %-2d %-44s %s\n", (int)wishes[i].operation,
		       wishes[i].name, given ? "given" : strerror(t->errors[i]));
		HI_ASSERT_MSG(given == wishes[i].given, "%s", wishes[i].name);
	}
	HI_ASSERT_EQ(EIO, t->error_after_a_wrong_packet);
}

static void remove_top(void *arg)
{
	(void)arg;
	hi_command_run(0, "rm", "-rf", top, NULL);
}

HI_TEST_ROOT(decoder, decoder_taken_over_gets_only_the_input_of_decoding)
{
	struct taken_over *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "1", NULL);
	int status = -1;
	pid_t pid;

	HI_ASSERT(t != MAP_FAILED && mkdtemp(top));
	hi_test_defer(remove_top, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	make_files(fx->pid);
	pid = fork();
	if (pid == 0) {
		hi_child_signals();
		inspect_and_take_over(t, fx->pid);
	}
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT(WIFEXITED(status));
	HI_ASSERT_EQ(0, WEXITSTATUS(status));
	HI_ASSERT(t->has_ended);
	hi_payload_check(&t->payload);
	check_descriptors(t);
	check_wishes(t);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}
