/* SPDX-License-Identifier: BSD-2-Clause */
/* The first process: opens files that the process that decodes asks for (decoder.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/exit_watch.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/output_file.h"
#include "cli/decoder/decoder.h"
#include "cli/terminal/terminal_screen.h"
#include "decode/modules/file_server.h"
#include "session/live/decoder_files.h"

enum { OPERANDS = 10, NAMED = OPERANDS + HI_OPTIONS_HINTS };

struct server {
	struct hi_decoder *decoder;
	uid_t owners[NAMED]; /* of files on the command line, before anything was read */
	struct hi_decoder_files files;
	const struct hi_inspection *files_of; /* NULL: not chosen yet */
	struct hi_cache_server cache;
	/* Beside the report: JUnit XML, the new baseline; path NULL: not opened. */
	struct hi_output others[2];
};

static bool is_same_path(const char *name, const char *given)
{
	return given && strcmp(name, given) == 0;
}

/* FILE.prof beside FILE.hp. */
static bool is_key_of(const char *name, const char *profile)
{
	size_t n = profile ? strlen(profile) : 0;

	return n > 3 && strcmp(profile + n - 3, ".hp") == 0 && strlen(name) == n + 2 &&
	       memcmp(name, profile, n - 2) == 0 && strcmp(name + n - 2, "prof") == 0;
}

/* On the command line; NULL: none. */
static const char *get_named(const struct hi_options *o, size_t i)
{
	const char *const operands[OPERANDS] = {o->target.file,
						o->deep.operands.files[0].path,
						o->deep.operands.files[1].path,
						o->deep.contour,
						o->comparison.baseline,
						o->comparison.middle,
						o->target.core,
						o->target.exe,
						o->argument,
						o->drawing.like};

	if (i < OPERANDS)
		return operands[i];
	return i - OPERANDS < o->decoding.n_hints ? o->decoding.hints[i - OPERANDS]
						  : NULL;
}

/* Whoever may write to the directory of such a file could put a link to any other there
 * when he has taken the decoder over. So its owner stays. */
static void note_owners(struct server *s)
{
	for (size_t i = 0; i < NAMED; i++) {
		const char *path = get_named(s->decoder->options, i);
		struct stat st;

		s->owners[i] = path && stat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
	}
}

/* *owner_ret: -1: any. */
static bool is_named(const struct server *s, const char *name, uid_t *owner_ret)
{
	*owner_ret = (uid_t)-1;
	for (size_t i = 0; i < NAMED; i++)
		if (is_same_path(name, get_named(s->decoder->options, i))) {
			*owner_ret = s->owners[i];
			return true;
		}
	return is_key_of(name, s->decoder->options->argument);
}

static int open_served_file(struct server *s, const char *path, int flags)
{
	HI_GUARD(close) int fd = -1;
	struct stat st;
	uid_t owner;

	if (!is_named(s, path, &owner))
		return hi_decoder_files_open(&s->files, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (fd < 0 || owner == (uid_t)-1 || (fstat(fd, &st) == 0 && st.st_uid == owner))
		return hi_take_fd(fd);
	errno = EACCES;
	return -1;
}

/* Is it a file that the options have written beside the report? *ret: which one. */
static bool is_other_output(const struct hi_options *o, const char *path, size_t *ret)
{
	const char *const paths[] = {
		o->check.junit, o->check.update_baseline ? o->comparison.baseline : NULL};

	for (*ret = 0; *ret < 2; ++*ret)
		if (is_same_path(path, paths[*ret]))
			return true;
	return false;
}

/* text_ret: why it was refused. */
static int open_output(struct server *s, const char *path, char text_ret[HI_FILES_NAME])
{
	struct hi_options other = *s->decoder->options;
	struct hi_error err;
	size_t i;

	errno = EPERM;
	if (!is_other_output(&other, path, &i) || s->others[i].path)
		return -1;
	/* The request's text does not live as long. */
	other.output.file = i ? other.comparison.baseline : other.check.junit;
	if (hi_output_open(&other, &s->others[i], &err) != HI_OK) {
		snprintf(text_ret, HI_FILES_NAME, "%s", err.text);
		errno = err.os_errno ? err.os_errno : EPERM;
		return -1;
	}
	return fcntl(fileno(s->others[i].file), F_DUPFD_CLOEXEC, 3);
}

static int commit_output(struct server *s, const char *path)
{
	struct hi_output *output = s->decoder->output;
	struct hi_error err;

	for (size_t i = 0; i < 2; i++)
		if (is_same_path(path, s->others[i].path))
			output = &s->others[i];
	errno = EPERM;
	if (!output || !is_same_path(path, output->path))
		return -1;
	errno = 0;
	if (hi_output_rename(output, &err) != HI_OK)
		errno = err.os_errno;
	return -1;
}

static int serve_decoder_request(struct server *s, const struct hi_files_request *r,
				 char *text)
{
	switch (r->operation) {
	case HI_FILES_OPEN:
		return open_served_file(s, r->name, O_NONBLOCK);
	case HI_FILES_OPEN_STREAM:
		return open_served_file(s, r->name, 0);
	case HI_FILES_OPEN_IN_ROOT:
		return hi_decoder_files_open_in_root(&s->files, r->name);
	case HI_FILES_MAPPING:
		return hi_decoder_files_open_mapping(&s->files, r->name);
	case HI_FILES_DEBUGINFOD:
		return hi_decoder_files_download(&s->files, r->name, text);
	case HI_FILES_OUTPUT:
		return open_output(s, r->name, text);
	case HI_FILES_TERMINAL:
		return s->decoder->has_keeper ? hi_terminal_screen_serve(r->name) : -1;
	case HI_FILES_OUTPUT_NAME:
	case HI_FILES_OUTPUT_AGAIN:
	case HI_FILES_OUTPUT_DROP:
		return hi_output_file_serve(r, text);
	case HI_FILES_OUTPUT_COMMIT:
		return commit_output(s, r->name);
	default:
		return hi_cache_serve(&s->cache, r, text);
	}
}

/* For a process, or for the files on the command line. */
static struct hi_decoder_files choose_files(const struct hi_decoder *decoder)
{
	const struct hi_options *o = decoder->options;
	const struct hi_inspection *in = decoder->in;
	struct hi_decoder_files files = {.debug_dir = o->decoding.debug_dir};

	if (decoder->has_keeper)
		return files;
	if (in && in->stop.target) {
		hi_decoder_files_of(&files, in->stop.target, in->image);
		return files;
	}
	files.is_of_files = true;
	hi_decoder_files_add_owner(&files, o->target.core);
	hi_decoder_files_add_owner(&files, o->target.file);
	hi_decoder_files_add_owner(&files, o->target.exe);
	for (size_t i = 0; i < 2; i++)
		hi_decoder_files_add_owner(&files, o->deep.operands.files[i].path);
	return files;
}

/* The files of a series are those of its last image. */
static void follow_keeper(struct server *s)
{
	const struct hi_inspection *in = s->decoder->keeper.in;

	if (!in || in == s->files_of || !in->stop.target)
		return;
	hi_decoder_files_of(&s->files, in->stop.target, in->image);
	s->files_of = in;
}

static bool serve_one_request(struct server *s)
{
	struct hi_files_request request;
	struct hi_files_answer answer = {};
	HI_GUARD(close) int fd = -1;

	if (!hi_decoder_files_count(&s->files) ||
	    !hi_files_receive(s->decoder->socket, &request))
		return false;
	follow_keeper(s);
	fd = serve_decoder_request(s, &request, answer.text);
	answer.error = fd < 0 ? errno : 0;
	return hi_files_answer(s->decoder->socket, &answer, fd);
}

/* Its inspection may be another one afterwards, at the same place. */
static bool serve_keeper(struct server *s)
{
	s->files_of = NULL;
	s->files.target = NULL;
	s->files.mappings = NULL;
	s->files.n_mappings = 0;
	return hi_keeper_serve(&s->decoder->keeper);
}

/* Requests for files and for images, and the end of the target. */
static bool serve_series(struct server *s)
{
	struct hi_decoder *d = s->decoder;
	struct hi_exit_watch *watch = d->run->exit_watch;
	struct pollfd fds[] = {
		{.fd = d->socket, .events = POLLIN},
		{.fd = d->keeper.socket, .events = POLLIN},
		{.fd = watch ? hi_exit_watch_fd(watch) : -1, .events = POLLIN}};

	if (poll(fds, 3, -1) < 0)
		return errno == EINTR;
	if (fds[2].revents)
		hi_exit_watch_publish(watch);
	return (!fds[0].revents || serve_one_request(s)) &&
	       (!fds[1].revents || serve_keeper(s));
}

void hi_decoder_serve(struct hi_decoder *decoder)
{
	struct server server = {.decoder = decoder, .files = choose_files(decoder)};

	note_owners(&server);
	while (decoder->has_keeper ? serve_series(&server) : serve_one_request(&server))
		;
	for (size_t i = 0; i < 2; i++)
		hi_output_close(&server.others[i]);
	hi_output_file_serve_end();
	hi_cache_server_end(&server.cache);
}
