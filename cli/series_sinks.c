/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series_sinks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/views/series_json.h"

/* Where the descriptor writes; -1: nothing that is written can be taken back. */
static int64_t position_in_file(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || flags & O_APPEND || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	return lseek(fd, 0, SEEK_CUR);
}

static enum hi_status write_whole(struct hi_series_file *file, const char *text, size_t n,
				  struct hi_error *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t now = write(file->fd, text + done, n - done);
		int saved = errno;

		if (now < 0 && errno == EINTR)
			continue;
		if (now >= 0) {
			done += (size_t)now;
			continue;
		}
		/* A part of a line is no document: the file ends with the last one. */
		if (file->written >= 0 && ftruncate(file->fd, file->written) == 0)
			(void)lseek(file->fd, file->written, SEEK_SET);
		errno = saved;
		return hi_fail_errno(err, "cannot write %s", file->path);
	}
	if (file->written >= 0)
		file->written += (int64_t)n;
	return HI_OK;
}

/* ---- the live view ---- */

/* The terminal that shows one; -1: none does. */
static volatile sig_atomic_t screen = -1;

void hi_series_screen_leave(void)
{
	int fd = screen;

	if (fd >= 0)
		(void)!write(fd, HI_SERIES_LIVE_LEAVE, sizeof(HI_SERIES_LIVE_LEAVE) - 1);
}

void hi_series_screen_enter(void)
{
	int fd = screen;

	if (fd >= 0)
		(void)!write(fd, HI_SERIES_LIVE_ENTER, sizeof(HI_SERIES_LIVE_ENTER) - 1);
}

static void end_live(struct hi_series_sinks *s)
{
	if (!s->live)
		return;
	hi_series_screen_leave();
	screen = -1;
	hi_series_live_destroy(hi_take(s->live));
}

static bool wants_live(const struct hi_series_sinks *s)
{
	const char *term = getenv("TERM");

	return !s->options->output.json && s->lines.fd == 1 && isatty(1) && term &&
	       *term && strcmp(term, "dumb") != 0;
}

void hi_series_sinks_note(struct hi_series_sinks *s, const char *text)
{
	char safe[2048];

	if (s->live && screen >= 0) {
		hi_series_live_note(s->live, text);
		return;
	}
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
}

/* ---- opening ---- */

/* Mode 0600, as it is: nothing is cut off yet. */
static enum hi_status open_sink_file(const char *path, struct hi_series_file *ret,
				     bool *made_ret, struct hi_error *err)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_CREAT | O_EXCL, 0600);

	*made_ret = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, flags);
	if (fd < 0)
		return hi_fail_errno(err, "cannot write %s", path);
	*ret = (struct hi_series_file){fd, path, position_in_file(fd)};
	return HI_OK;
}

/* What the file had goes when something comes in its place. */
static enum hi_status truncate_series_file(struct hi_series_file *file,
					   struct hi_error *err)
{
	if (file->written >= 0 && ftruncate(file->fd, 0) != 0)
		return hi_fail_errno(err, "cannot write %s", file->path);
	return HI_OK;
}

static char *key_path_of(const char *path)
{
	size_t n = strlen(path);
	char *ret = hi_alloc(n + 6);

	if (!ret)
		return NULL;
	if (n > 3 && strcmp(path + n - 3, ".hp") == 0)
		n -= 3;
	memcpy(ret, path, n);
	memcpy(ret + n, ".prof", 6);
	return ret;
}

static enum hi_status open_lines(struct hi_series_sinks *s, struct hi_error *err)
{
	const char *path = s->options->output.file;
	enum hi_status status;
	bool made;

	/* Its output is the snapshot file (session/series/store.h). */
	if (s->options->command->id == HI_COMMAND_SNAP)
		return HI_OK;

	s->lines = (struct hi_series_file){1, "standard output", position_in_file(1)};
	if (!path || strcmp(path, "-") == 0)
		return HI_OK;
	s->lines.fd = -1;
	status = open_sink_file(path, &s->lines, &made, err);
	return status == HI_OK ? truncate_series_file(&s->lines, err) : status;
}

static enum hi_status open_profile(struct hi_series_sinks *s, struct hi_error *err)
{
	const char *path = s->options->series.hp;
	enum hi_status status;

	if (!path)
		return HI_OK;
	s->key_path = key_path_of(path);
	if (!s->key_path)
		return hi_fail_memory(err, "heap profile");
	status = open_sink_file(path, &s->profile, &s->made_profile, err);
	if (status == HI_OK)
		status = open_sink_file(s->key_path, &s->key, &s->made_key, err);
	return status;
}

enum hi_status hi_series_sinks_open(const struct hi_options *options,
				    struct hi_series_sinks *ret, struct hi_error *err)
{
	struct hi_series_sinks s = {
		.options = options, .lines.fd = -1, .profile.fd = -1, .key.fd = -1};
	enum hi_status status = open_lines(&s, err);

	if (status == HI_OK)
		status = open_profile(&s, err);
	if (status == HI_OK && wants_live(&s) && !(s.live = hi_series_live_create()))
		status = hi_fail_memory(err, "live view");
	if (status == HI_OK)
		*ret = s;
	else
		hi_series_sinks_close(&s);
	return status;
}

void hi_series_sinks_close(struct hi_series_sinks *s)
{
	end_live(s);
	if (!s->hp && s->made_profile)
		unlink(s->profile.path);
	if (!s->hp && s->made_key)
		unlink(s->key.path);
	hi_hp_destroy(hi_take(s->hp));
	if (s->profile.fd >= 0)
		close(s->profile.fd);
	if (s->key.fd >= 0)
		close(s->key.fd);
	if (s->lines.fd > 2)
		close(s->lines.fd);
	s->profile.fd = s->key.fd = s->lines.fd = -1;
	free(hi_take(s->key_path));
}

/* ---- the heap profile ---- */

static enum hi_status create_profile(struct hi_series_sinks *s,
				     const struct hi_series_header *header,
				     bool lower_bound, struct hi_error *err)
{
	const char *slash = strrchr(header->exe, '/');
	char job[256];
	struct hi_hp_header hp_header = {.job = job,
					 .date = time(NULL),
					 .sample_unit = hi_series_unit(header->axis)};
	enum hi_status status = truncate_series_file(&s->profile, err);

	if (status == HI_OK)
		status = truncate_series_file(&s->key, err);
	if (status != HI_OK)
		return status;
	snprintf(job, sizeof(job), "%.160s pid %d by %s%s%s",
		 slash ? slash + 1 : header->exe, header->pid, header->by,
		 header->pure ? ", pure bytes" : "",
		 lower_bound ? HI_SERIES_LOWER_BOUND : "");
	return hi_hp_create(s->profile.fd, s->key.fd, &hp_header, &s->hp, err);
}

static enum hi_status add_band(struct hi_hp *hp, const struct hi_series_header *header,
			       const struct hi_series_row *row, struct hi_error *err)
{
	if (row->keyed)
		return hi_hp_set_band(hp, row->set, row->members, row->n_members,
				      row->bytes, err);
	return hi_hp_band(hp, hi_series_name(header, row), row->bytes, err);
}

/* What --retained-by cannot tell of, as a band of its own: a profile without it would
 * show less than there may be. The key has all that is hidden. */
static enum hi_status add_hidden(struct hi_hp *hp, const struct hi_series_sample *sample,
				 struct hi_error *err)
{
	const struct hi_report_restriction *only = sample->only;
	enum hi_status status = HI_OK;

	if (only && only->many_bytes)
		status = hi_hp_band(hp, "(hidden,MANY)", only->many_bytes, err);
	if (status == HI_OK && only && only->hidden_bytes)
		status = hi_hp_hidden_note(hp, sample->at_ns, only->hidden_bytes,
					   only->many_bytes, err);
	return status;
}

static enum hi_status note_retainers(struct hi_hp *hp,
				     const struct hi_series_sample *sample,
				     struct hi_error *err)
{
	struct hi_hp_retainer_census note = {.number = sample->number,
					     .time_ns = sample->at_ns,
					     .visits = sample->visits,
					     .objects = sample->objects,
					     .sets = sample->n_rows};

	for (size_t i = 0; i < sample->n_rows; i++)
		note.costs += sample->rows[i].bytes;
	return hi_hp_retainer_note(hp, &note, err);
}

static enum hi_status sample_profile(struct hi_series_sinks *s,
				     const struct hi_series_header *header,
				     const struct hi_series_sample *sample,
				     struct hi_error *err)
{
	enum hi_status status =
		s->hp ? HI_OK : create_profile(s, header, sample->lower_bound, err);

	if (status != HI_OK)
		return status;
	hi_hp_sample_begin(s->hp, sample->at_ns);
	if (sample->visits)
		status = note_retainers(s->hp, sample, err);
	for (size_t i = 0; i < sample->n_rows && status == HI_OK; i++)
		status = add_band(s->hp, header, &sample->rows[i], err);
	if (status == HI_OK)
		status = add_hidden(s->hp, sample, err);
	return status == HI_OK ? hi_hp_sample_end(s->hp, err) : status;
}

/* ---- lines ---- */

/* A line in memory, so that it can be written at once. */
struct line {
	char *text;
	size_t size;
	FILE *file;
};

static bool line_open(struct line *line)
{
	*line = (struct line){};
	line->file = open_memstream(&line->text, &line->size);
	return line->file != NULL;
}

static enum hi_status line_write(struct line *line, bool fine, struct hi_series_file *to,
				 struct hi_error *err)
{
	bool closed = fclose(line->file) == 0;
	enum hi_status status = fine && closed
					? write_whole(to, line->text, line->size, err)
					: hi_fail_memory(err, "a line of the series");

	free(line->text);
	return status;
}

static unsigned terminal_lines(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : 24;
}

static enum hi_status draw_live_view(struct hi_series_sinks *s,
				     const struct hi_series_header *header,
				     struct hi_error *err)
{
	struct hi_text_options looks = hi_output_looks(s->options, s->lines.fd);
	struct line line;
	bool fine;

	if (!line_open(&line))
		return hi_fail_memory(err, "live view");
	if (screen < 0) {
		screen = s->lines.fd;
		hi_series_screen_enter();
	}
	fine = hi_series_live_draw(s->live, header, terminal_lines(s->lines.fd), &looks,
				   line.file, err) == HI_OK;
	return line_write(&line, fine, &s->lines, err);
}

static enum hi_status sample_line(struct hi_series_sinks *s,
				  const struct hi_series_header *header,
				  const struct hi_series_sample *sample,
				  struct hi_error *err)
{
	struct hi_text_options looks = hi_output_looks(s->options, s->lines.fd);
	struct line line;
	bool fine;

	if (!line_open(&line))
		return hi_fail_memory(err, "a line of the series");
	if (s->options->output.json)
		fine = hi_series_json(header, sample, line.file);
	else
		fine = hi_series_text(header, sample, s->bytes_before, &looks, line.file,
				      err) == HI_OK;
	return line_write(&line, fine, &s->lines, err);
}

enum hi_status hi_series_sinks_sample(struct hi_series_sinks *s,
				      const struct hi_series_header *header,
				      const struct hi_series_sample *sample,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (s->profile.fd >= 0)
		status = sample_profile(s, header, sample, err);
	if (status == HI_OK && s->live) {
		status = hi_series_live_add(s->live, header, sample, err);
		if (status == HI_OK)
			status = draw_live_view(s, header, err);
	} else if (status == HI_OK && s->lines.fd >= 0) {
		status = sample_line(s, header, sample, err);
	}
	s->bytes_before = sample->bytes;
	return status;
}

enum hi_status hi_series_sinks_mark(struct hi_series_sinks *s,
				    const struct hi_series_header *header, uint64_t at_ns,
				    const char *text, struct hi_error *err)
{
	enum hi_status status = s->hp ? hi_hp_mark(s->hp, at_ns, text, err) : HI_OK;
	char safe[4096], time[32];
	struct line line;
	bool fine = true;

	if (status != HI_OK)
		return status;
	if (s->live) {
		hi_series_live_note(s->live, text);
		return draw_live_view(s, header, err);
	}
	if (s->lines.fd < 0)
		return HI_OK;
	if (!line_open(&line))
		return hi_fail_memory(err, "a line of the series");
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	if (s->options->output.json)
		fine = hi_series_mark_json(header, at_ns, text, line.file);
	else
		fprintf(line.file, "%12s mark: %s\n",
			hi_series_time_text(time, header, at_ns), safe);
	return line_write(&line, fine, &s->lines, err);
}

enum hi_status hi_series_sinks_end(struct hi_series_sinks *s,
				   const struct hi_series_header *header,
				   enum hi_series_end end, uint64_t at_ns,
				   uint64_t samples, struct hi_error *err)
{
	enum hi_status status = s->hp ? hi_hp_finish(s->hp, at_ns, err) : HI_OK;
	struct line line;
	bool fine;

	end_live(s);
	if (status != HI_OK || !s->options->output.json)
		return status;
	if (!line_open(&line))
		return hi_fail_memory(err, "a line of the series");
	fine = hi_series_end_json(header, end, at_ns, samples, line.file);
	return line_write(&line, fine, &s->lines, err);
}
