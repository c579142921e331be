/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/output.h"

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
#include "report/formats/text.h"

/* What a signal that ends us must remove; NULL: nothing. */
static const char *volatile unfinished;

static void remove_unfinished(int number)
{
	const char *path = unfinished;

	if (path)
		unlink(path);
	signal(number, SIG_DFL);
	raise(number);
}

/* Ends as the signal would have it (128+n for a shell), without litter. */
static void watch_signals(const char *temporary)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

	unfinished = temporary;
	for (size_t i = 0; i < 4; i++)
		if (signal(numbers[i], remove_unfinished) == SIG_IGN)
			signal(numbers[i], SIG_IGN); /* nohup stays nohup */
}

/* A device or a pipe cannot be replaced by a rename: written as it is. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Gauges are replaced in a directory that another user reads. */
static bool keeps_mode(const struct hi_options *o)
{
	return o->output.format && strcmp(o->output.format, "prometheus") == 0;
}

static void copy_mode(const char *path, int fd)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		(void)fchmod(fd, st.st_mode & 0777);
}

static enum hi_status open_output_file(const char *path, struct hi_output *ret,
				       struct hi_error *err)
{
	HI_GUARD(free) char *temporary = NULL;
	size_t size = strlen(path) + 16;
	int fd;

	if (is_special(path)) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	} else {
		temporary = hi_alloc(size);
		if (!temporary)
			return hi_fail_memory(err, "output");
		snprintf(temporary, size, "%s.XXXXXX", path);
		fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	}
	if (fd < 0)
		return hi_fail_errno(err, "cannot write %s", path);
	ret->file = fdopen(fd, "w");
	if (!ret->file) {
		close(fd);
		if (temporary)
			unlink(temporary);
		return hi_fail_errno(err, "cannot write %s", path);
	}
	ret->path = path;
	ret->temporary = hi_take(temporary);
	if (ret->temporary)
		watch_signals(ret->temporary);
	return HI_OK;
}

static enum hi_status open_served(const char *path, struct hi_output *ret,
				  struct hi_error *err)
{
	int fd = hi_files_ask(HI_FILES_OUTPUT, path, "", NULL);

	if (fd < 0)
		return hi_fail_errno(err, "cannot write %s", path);
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

	/* A program that is started here has the standard output for itself. */
	*ret = (struct hi_output){.file = options->target.program ? stderr : stdout};
	if (!options->output.file || strcmp(options->output.file, "-") == 0)
		return HI_OK;
	if (hi_files_are_served())
		return open_served(options->output.file, ret, err);
	status = open_output_file(options->output.file, ret, err);
	if (status == HI_OK && ret->temporary && keeps_mode(options))
		copy_mode(ret->path, fileno(ret->file));
	return status;
}

void hi_output_serve(struct hi_output *output)
{
	output->served = output->path != NULL;
	unfinished = NULL;
	free(hi_take(output->temporary));
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
	if (output->temporary && rename(output->temporary, output->path) != 0)
		return hi_fail_errno(err, "cannot write %s", output->path);
	unfinished = NULL;
	free(hi_take(output->temporary));
	return HI_OK;
}

void hi_output_close(struct hi_output *output)
{
	if (output->path && output->file)
		fclose(hi_take(output->file));
	if (output->temporary) {
		unfinished = NULL;
		unlink(output->temporary);
		free(hi_take(output->temporary));
	}
}
