/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/output.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/parse.h"
#include "report/render/text.h"

/* A signal that ends us must remove these: the report, JUnit XML, a new baseline. */
enum { UNFINISHED = 4 };
static const struct hi_output_file *volatile unfinished[UNFINISHED];

static void remove_unfinished(int number)
{
	for (size_t i = 0; i < UNFINISHED; i++) {
		const struct hi_output_file *file = unfinished[i];

		if (file && *file->temporary)
			unlinkat(file->directory, file->temporary, 0);
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void forget_unfinished(const struct hi_output_file *file)
{
	for (size_t i = 0; i < UNFINISHED; i++)
		if (unfinished[i] == file)
			unfinished[i] = NULL;
}

static void note_unfinished(const struct hi_output_file *file)
{
	for (size_t i = 0; i < UNFINISHED; i++)
		if (!unfinished[i]) {
			unfinished[i] = file;
			return;
		}
}

enum { ENDING = 4 };
static const int numbers[ENDING] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* Until a new file is known to the handler none of them ends us. */
static void hold_signals(sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < ENDING; i++)
		sigaddset(&held, numbers[i]);
	sigprocmask(SIG_BLOCK, &held, before);
}

/* A pipe is opened when somebody reads it. */
static bool may_wait(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Ends as the signal would have it (128+n for a shell), without litter. */
static void watch_signals(const struct hi_output_file *file)
{
	note_unfinished(file);
	for (size_t i = 0; i < ENDING; i++)
		if (signal(numbers[i], remove_unfinished) == SIG_IGN)
			signal(numbers[i], SIG_IGN); /* nohup stays nohup */
}

/* Gauges are replaced in a directory that another user reads. */
static bool is_read_by_others(const struct hi_options *o)
{
	return o->output.format && strcmp(o->output.format, "prometheus") == 0;
}

static enum hi_status open_output_file(const struct hi_options *options,
				       struct hi_output *ret, struct hi_error *err)
{
	const char *path = options->output.file;
	enum hi_status status = hi_output_file_open(
		path,
		is_read_by_others(options)
			? HI_OUTPUT_FILE_KEEP_MODE | HI_OUTPUT_FILE_READABLE
			: 0,
		&ret->target, err);

	if (status != HI_OK)
		return status;
	ret->file = fdopen(ret->target.fd, "w");
	if (!ret->file) {
		status = hi_fail_errno(err, "cannot write %s", path);
		hi_output_file_close(&ret->target);
		return status;
	}
	(void)hi_take_fd(ret->target.fd);
	ret->path = path;
	if (*ret->target.temporary)
		watch_signals(&ret->target);
	return HI_OK;
}

static enum hi_status open_served(const char *path, struct hi_output *ret,
				  struct hi_error *err)
{
	char why[HI_FILES_NAME] = "";
	int fd = hi_files_ask(HI_FILES_OUTPUT, path, "", why);

	if (fd < 0)
		return *why ? hi_fail(err, HI_USAGE, 0, "%.200s", why)
			    : hi_fail_errno(err, "cannot write %s", path);
	ret->file = fdopen(fd, "w");
	if (!ret->file) {
		close(fd);
		return hi_fail_errno(err, "cannot write %s", path);
	}
	ret->path = path;
	ret->served = true;
	return HI_OK;
}

enum hi_status hi_output_open(const struct hi_options *options, struct hi_output *ret,
			      struct hi_error *err)
{
	enum hi_status status;
	sigset_t before;

	/* A program that is started here has the standard output for itself. */
	*ret = (struct hi_output){.file = options->target.program ? stderr : stdout,
				  .target = HI_OUTPUT_FILE_NONE};
	if (!options->output.file || strcmp(options->output.file, "-") == 0)
		return HI_OK;
	if (hi_files_are_served())
		return open_served(options->output.file, ret, err);
	sigprocmask(SIG_SETMASK, NULL, &before);
	if (!may_wait(options->output.file))
		hold_signals(&before);
	status = open_output_file(options, ret, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

void hi_output_serve(struct hi_output *output)
{
	output->served = output->path != NULL;
	if (!output->path)
		return;
	forget_unfinished(&output->target);
	hi_output_file_leave(&output->target);
}

static bool wants_color(const struct hi_options *options, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (options->output.color != HI_COLOR_AUTO)
		return options->output.color == HI_COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && term &&
	       strcmp(term, "dumb") != 0;
}

static unsigned find_width(const struct hi_options *options, int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	uint64_t n;

	if (options->output.width)
		return options->output.width;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	if (columns && hi_parse_number(columns, 40, 1000, &n))
		return (unsigned)n;
	return 80;
}

struct hi_text_options hi_output_looks(const struct hi_options *options, int fd)
{
	return (struct hi_text_options){
		.width = find_width(options, fd),
		.color = wants_color(options, fd),
		.full_names = options->output.full_names,
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}

enum hi_status hi_output_page(struct hi_output *output, const struct hi_options *options,
			      struct hi_page *page, struct hi_error *err)
{
	struct hi_text_options text;

	if (output->show)
		return output->show(output->arg, page, err);
	text = hi_output_looks(options, fileno(output->file));
	return hi_text_render(page, &text, output->file, err);
}

/* An earlier write may have failed, and its errno is lost: asks the descriptor. */
static int find_write_error(int fd)
{
	struct pollfd at = {.fd = fd, .events = POLLOUT};
	struct stat file;

	if (poll(&at, 1, 0) == 1 && at.revents & (POLLERR | POLLHUP))
		return EPIPE;
	/* Nothing is written; a device that is full says so. */
	if (fstat(fd, &file) == 0 && S_ISCHR(file.st_mode) && write(fd, "", 0) < 0)
		return errno;
	return EIO;
}

enum hi_status hi_output_commit(struct hi_output *output, struct hi_error *err)
{
	const char *name = output->path		    ? output->path
			   : output->file == stderr ? "standard error"
						    : "standard output";

	errno = 0;
	if (fflush(output->file) != 0 || ferror(output->file)) {
		enum hi_status status;
		bool is_closed_pipe;

		if (errno == 0)
			errno = find_write_error(fileno(output->file));
		is_closed_pipe = errno == EPIPE && !output->path;
		status = hi_fail_errno(err, "cannot write %s", name);

		/* The reader has what it wanted, as head has: nothing to say. */
		if (is_closed_pipe)
			err->text[0] = 0;
		return status;
	}
	/* A network file system reports a full disk only now. */
	if (output->path && fclose(hi_take(output->file)) != 0)
		return hi_fail_errno(err, "cannot write %s", name);
	if (output->served) {
		(void)hi_files_ask(HI_FILES_OUTPUT_COMMIT, output->path, "", NULL);
		return errno ? hi_fail_errno(err, "cannot write %s", name) : HI_OK;
	}
	return hi_output_rename(output, err);
}

enum hi_status hi_output_rename(struct hi_output *output, struct hi_error *err)
{
	enum hi_status status = hi_output_file_commit(&output->target, output->path, err);

	if (status == HI_OK)
		forget_unfinished(&output->target);
	return status;
}

void hi_output_close(struct hi_output *output)
{
	if (!output->path)
		return;
	if (output->file)
		fclose(hi_take(output->file));
	forget_unfinished(&output->target);
	hi_output_file_close(&output->target);
}
