/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series/series_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/command/output.h"
#include "report/reports/series/series_json.h"
#include "report/reports/series/series_text.h"

struct lines_sink {
	const struct hi_options *options;
	struct hi_sink_file file;
	uint64_t bytes_before; /* of the census before */
};

/* What is shown, above the first line; JSON has it in each. */
static void put_restriction(const struct lines_sink *s,
			    const struct hi_series_sample *sample, FILE *out)
{
	char only[512], safe[4 * sizeof(only)];

	hi_series_restriction_text(sample, only, sizeof(only));
	if (s->options->selection.type)
		snprintf(only + strlen(only), sizeof(only) - strlen(only), "%stype %s",
			 *only ? ", " : "", s->options->selection.type);
	if (!*only || sample->number > 1)
		return;
	hi_text_escape(safe, sizeof(safe), only, strlen(only));
	fprintf(out, "Only what is %s\n", safe);
}

static enum hi_status put_census_line(void *sink, const struct hi_series_header *header,
				      const struct hi_series_census_event *event,
				      struct hi_error *err)
{
	struct lines_sink *s = sink;
	struct hi_text_options looks = hi_output_looks(s->options, s->file.fd);
	struct hi_sink_text line;
	bool fine;

	if (hi_sink_text_open(&line, err) != HI_OK)
		return HI_NO_MEMORY;
	if (s->options->output.json) {
		fine = hi_series_json(header, event->sample, line.file);
	} else {
		put_restriction(s, event->sample, line.file);
		fine = hi_series_text(header, event->sample, s->bytes_before, &looks,
				      line.file, err) == HI_OK;
	}
	s->bytes_before = event->sample->bytes;
	return hi_sink_text_write(&line, fine, &s->file, err);
}

static enum hi_status put_mark_line(void *sink, const struct hi_series_header *header,
				    const struct hi_series_mark_event *event,
				    struct hi_error *err)
{
	struct lines_sink *s = sink;
	char safe[4096], time[32];
	struct hi_sink_text line;
	bool fine = true;

	if (hi_sink_text_open(&line, err) != HI_OK)
		return HI_NO_MEMORY;
	hi_text_escape(safe, sizeof(safe), event->text, strlen(event->text));
	if (s->options->output.json)
		fine = hi_series_mark_json(header, event->at_ns, event->text, line.file);
	else
		fprintf(line.file, "%12s mark: %s\n",
			hi_series_time_text(time, header, event->at_ns), safe);
	return hi_sink_text_write(&line, fine, &s->file, err);
}

static enum hi_status put_end_line(void *sink, const struct hi_series_header *header,
				   const struct hi_series_end_event *event,
				   struct hi_error *err)
{
	struct lines_sink *s = sink;
	struct hi_sink_text line;
	bool fine;

	if (!s->options->output.json)
		return HI_OK;
	if (hi_sink_text_open(&line, err) != HI_OK)
		return HI_NO_MEMORY;
	fine = hi_series_end_json(header, event->end, event->at_ns, event->samples,
				  line.file);
	return hi_sink_text_write(&line, fine, &s->file, err);
}

static void destroy_lines_sink(void *sink)
{
	struct lines_sink *s = sink;

	hi_sink_file_close(&s->file);
	free(s);
}

static const struct hi_series_sink_ops lines_sink_ops = {
	.has_axis = true,
	.census = put_census_line,
	.mark = put_mark_line,
	.end = put_end_line,
	.destroy = destroy_lines_sink,
};

enum hi_status hi_series_lines_open(const struct hi_options *options,
				    struct hi_sink_file file, struct hi_series_sink *ret,
				    struct hi_error *err)
{
	struct lines_sink *s = hi_calloc(1, sizeof(*s));

	if (!s) {
		hi_sink_file_close(&file);
		return hi_fail_memory(err, "lines of the series");
	}
	*s = (struct lines_sink){.options = options, .file = file};
	*ret = (struct hi_series_sink){&lines_sink_ops, s};
	return HI_OK;
}
