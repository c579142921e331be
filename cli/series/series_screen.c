/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series/series_screen.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/output.h"
#include "cli/terminal/terminal_screen.h"
#include "report/reports/series/series_live.h"
#include "session/series/sink_file.h"

struct screen_sink {
	const struct hi_options *options;
	struct hi_sink_file file;
	struct hi_series_live *live; /* NULL: the series is over */
	bool no_keys;		     /* standard input has ended */
	bool pauses;
};

static int screen_keys_fd(void *sink)
{
	const struct screen_sink *s = sink;

	return s->no_keys ? -1 : hi_terminal_screen_keys_fd();
}

static enum hi_status draw_live_view(struct screen_sink *s,
				     const struct hi_series_header *header,
				     struct hi_error *err)
{
	struct hi_text_options looks = hi_output_looks(s->options, s->file.fd);
	struct hi_sink_text text;
	bool fine;

	if (hi_sink_text_open(&text, err) != HI_OK)
		return HI_NO_MEMORY;
	if (!hi_terminal_screen_is_open()) {
		/* A program that we started may read them. */
		s->no_keys = s->options->target.program != NULL;
		hi_terminal_screen_open(s->file.fd, !s->no_keys);
	}
	hi_series_live_show_keys(s->live, screen_keys_fd(s) >= 0, s->pauses);
	fine = hi_series_live_draw(s->live, header, hi_terminal_screen_lines(s->file.fd),
				   &looks, text.file, err) == HI_OK;
	return hi_sink_text_write(&text, fine, &s->file, err);
}

static enum hi_status show_census(void *sink, const struct hi_series_header *header,
				  const struct hi_series_census_event *event,
				  struct hi_error *err)
{
	struct screen_sink *s = sink;
	enum hi_status status = hi_series_live_add(s->live, header, event->sample, err);

	return status == HI_OK ? draw_live_view(s, header, err) : status;
}

static enum hi_status show_mark(void *sink, const struct hi_series_header *header,
				const struct hi_series_mark_event *event,
				struct hi_error *err)
{
	struct screen_sink *s = sink;

	hi_series_live_note(s->live, event->text);
	return draw_live_view(s, header, err);
}

/* On the screen that stays. */
static void print_last_table(struct screen_sink *s, const struct hi_series_header *header)
{
	struct hi_text_options looks = hi_output_looks(s->options, s->file.fd);
	struct hi_sink_text text;
	struct hi_error quiet;
	bool fine;

	if (hi_sink_text_open(&text, &quiet) != HI_OK)
		return;
	fine = hi_series_live_print(s->live, header, hi_terminal_screen_lines(s->file.fd),
				    &looks, text.file, &quiet) == HI_OK;
	(void)!hi_sink_text_write(&text, fine, &s->file, &quiet);
}

static void end_live_view(struct screen_sink *s)
{
	if (!s->live)
		return;
	hi_terminal_screen_close();
	hi_series_live_destroy(hi_take(s->live));
}

static enum hi_status end_screen_sink(void *sink, const struct hi_series_header *header,
				      const struct hi_series_end_event *event,
				      struct hi_error *err)
{
	struct screen_sink *s = sink;
	bool shown = hi_terminal_screen_is_open();

	(void)event;
	(void)err;
	hi_terminal_screen_close();
	if (shown && s->live)
		print_last_table(s, header);
	end_live_view(s);
	return HI_OK;
}

static enum hi_series_wish take_screen_keys(void *sink,
					    const struct hi_series_header *header)
{
	struct screen_sink *s = sink;
	enum hi_series_wish wish = HI_SERIES_WISH_NONE;
	struct hi_error quiet;
	char keys[16];
	ssize_t n = read(0, keys, sizeof(keys));

	s->no_keys = n <= 0;
	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == 'q' || keys[i] == 'Q')
			return HI_SERIES_WISH_END;
		if (keys[i] == 's')
			hi_series_live_sort(s->live);
		if (keys[i] == 'p' || keys[i] == ' ') {
			s->pauses = !s->pauses;
			wish = wish == HI_SERIES_WISH_NONE ? HI_SERIES_WISH_PAUSE
							   : HI_SERIES_WISH_NONE;
		}
	}
	(void)!draw_live_view(s, header, &quiet);
	return wish;
}

static void destroy_screen_sink(void *sink)
{
	end_live_view(sink);
	free(sink);
}

static const struct hi_series_sink_ops screen_sink_ops = {
	.has_axis = true,
	.census = show_census,
	.mark = show_mark,
	.end = end_screen_sink,
	.keys_fd = screen_keys_fd,
	.take_keys = take_screen_keys,
	.destroy = destroy_screen_sink,
};

bool hi_series_screen_note(const struct hi_series_sink *sink, const char *text)
{
	const struct screen_sink *s = sink->state;

	if (sink->ops != &screen_sink_ops || !s->live || !hi_terminal_screen_is_open())
		return false;
	hi_series_live_note(s->live, text);
	return true;
}

enum hi_status hi_series_screen_open(const struct hi_options *options,
				     struct hi_series_sink *ret, struct hi_error *err)
{
	struct screen_sink *s = hi_calloc(1, sizeof(*s));

	if (s)
		*s = (struct screen_sink){.options = options,
					  .file = hi_sink_file_stdout(),
					  .live = hi_series_live_create()};
	if (!s || !s->live) {
		free(s);
		return hi_fail_memory(err, "live view");
	}
	*ret = (struct hi_series_sink){&screen_sink_ops, s};
	return HI_OK;
}
