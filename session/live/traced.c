/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/traced.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vector.h"
#include "decode/runtimes/cpython_traces.h"

enum { FILE_BYTES = 4096, NAME_BYTES = 300 };

struct trace_reading {
	struct hi_python_traces *traces;
	struct hi_recording *recording;
	struct HI_VECTOR(struct hi_python_trace_line) lines; /* by number */
	struct hi_table number_of; /* of a line: its key -> number */
	struct hi_table is_known;  /* tracebacks whose lines were read */
	struct hi_error *err;
};

/* A str lies at a multiple of 16, and a line has 24 bits or counts as another one. */
static uint64_t key_of_line(const struct hi_python_trace_line *line)
{
	return line->file << 20 ^ line->line;
}

/* Numbers begin with 1, as 0 is no address. */
static enum hi_status number_trace_line(struct trace_reading *r,
					const struct hi_python_trace_line *line,
					uint64_t *ret)
{
	uint64_t key = key_of_line(line);

	if (hi_table_get(&r->number_of, key, ret))
		return HI_OK;
	*ret = r->lines.count + 1;
	return hi_vector_push(&r->lines, *line) && hi_table_put(&r->number_of, key, *ret)
		       ? HI_OK
		       : hi_fail_memory(r->err, "traces of Python");
}

/* A traceback is the stack of many traces. */
static enum hi_status add_traceback(struct trace_reading *r, uint64_t traceback)
{
	struct hi_python_trace_line lines[HI_PYTHON_TRACE_FRAMES];
	struct hi_event_stack stack = {.stack = traceback, .kind = HI_EVENT_STACK};
	enum hi_status status = HI_OK;
	uint64_t known;
	bool cut;

	if (hi_table_get(&r->is_known, traceback, &known))
		return HI_OK;
	if (!hi_table_put(&r->is_known, traceback, 1))
		return hi_fail_memory(r->err, "traces of Python");
	stack.n = (__u16)hi_python_traces_lines(r->traces, traceback, lines, &cut);
	stack.cut = cut;
	for (unsigned i = 0; i < stack.n && status == HI_OK; i++) {
		uint64_t number = 0;

		status = number_trace_line(r, &lines[i], &number);
		stack.frames[i] = number;
	}
	return status == HI_OK ? hi_recording_stack(r->recording, &stack, r->err)
			       : status;
}

static enum hi_status add_trace(struct trace_reading *r,
				const struct hi_python_trace *trace)
{
	const struct hi_event event = {.kind = HI_EVENT_ALLOC,
				       .addr = trace->addr,
				       .size = trace->size,
				       .stack = trace->traceback};
	enum hi_status status = add_traceback(r, trace->traceback);

	return status == HI_OK ? hi_recording_apply(r->recording, &event, r->err)
			       : status;
}

/* tracemalloc knows no functions: "app.py:41" stands for one. */
static enum hi_status add_trace_row(struct trace_reading *r,
				    const struct hi_python_trace_line *line,
				    struct hi_frames_builder *names)
{
	char file[FILE_BYTES], name[NAME_BYTES];
	struct hi_frame_row row = {.module = "python",
				   .function = name,
				   .file = file,
				   .line = line->line,
				   .flags = HI_FRAME_SCRIPT};

	hi_python_traces_file(r->traces, line->file, file, sizeof(file));
	snprintf(name, sizeof(name), "%.200s:%u",
		 *file ? hi_base_name(file) : "(no file)", line->line);
	return hi_frames_builder_add(names, &row, 1, r->err);
}

static enum hi_status add_trace_rows(struct trace_reading *r,
				     struct hi_frames_builder *names)
{
	const struct hi_contexts *contexts = hi_recording_contexts(r->recording);
	const uint64_t *numbers = hi_contexts_addresses(contexts);
	struct hi_context_view view;
	enum hi_status status = HI_OK;

	hi_contexts_view(contexts, &view);
	for (uint32_t i = 0; i < view.n_frames && status == HI_OK; i++)
		status = add_trace_row(r, &r->lines.items[numbers[i] - 1], names);
	return status;
}

static enum hi_status read_all_traces(struct trace_reading *r,
				      struct hi_frames_builder *names)
{
	static const struct hi_event_source_name source = {
		.name = "tracemalloc", .family = HI_FAMILY_MALLOC, .is_whole = 1};
	struct hi_python_trace trace;
	enum hi_status status = HI_OK;

	hi_recording_set_sources(r->recording, &source, 1);
	while (status == HI_OK && hi_python_traces_next(r->traces, &trace))
		status = add_trace(r, &trace);
	return status == HI_OK ? add_trace_rows(r, names) : status;
}

enum hi_status hi_live_read_traces(const struct hi_inspection *in,
				   struct hi_recording **ret,
				   struct hi_frames_builder **names_ret,
				   struct hi_error *err)
{
	HI_GUARD(hi_python_traces_close) struct hi_python_traces *traces = NULL;
	HI_GUARD(hi_recording_destroy) struct hi_recording *recording = NULL;
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *names = NULL;
	struct trace_reading r = {.err = err};
	enum hi_status status =
		hi_python_traces_open(in->decoders.modules, in->image, &traces, err);

	if (status == HI_OK)
		status = hi_recording_create(&recording, err);
	if (status == HI_OK)
		status = hi_frames_builder_create(&names, err);
	r.traces = traces;
	r.recording = recording;
	if (status == HI_OK)
		status = read_all_traces(&r, names);
	hi_vector_free(&r.lines);
	hi_table_free(&r.number_of);
	hi_table_free(&r.is_known);
	if (status != HI_OK)
		return status;
	*ret = hi_take(recording);
	*names_ret = hi_take(names);
	return HI_OK;
}
