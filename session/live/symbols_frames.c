/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the names of frames that the process without rights has found. */
#include <stdio.h>
#include <string.h>

#include "attach/running_image.h"
#include "base/cleanup.h"
#include "decode/describe/frame_names.h"
#include "session/live/symbols.h"

static const char reading_names[] = "reading names of functions";

enum { TEXT = 248 };

struct found_row {
	char module[TEXT], function[TEXT], file[TEXT];
	uint64_t offset;
	uint32_t line, flags;
};

struct found_frame {
	uint32_t n_rows, padding;
	struct found_row rows[HI_SYMBOLS_FRAME_ROWS];
};

static void put_found_row(struct found_row *ret, const struct hi_frame_row *row)
{
	snprintf(ret->module, sizeof(ret->module), "%s", row->module);
	snprintf(ret->function, sizeof(ret->function), "%s", row->function);
	snprintf(ret->file, sizeof(ret->file), "%s", row->file);
	ret->offset = row->offset;
	ret->line = row->line;
	ret->flags = row->flags;
}

static void put_found_frames(const struct hi_frames *frames, struct found_frame *found)
{
	for (uint32_t i = 0; i < frames->n_frames; i++) {
		uint32_t first = frames->first[i], n = frames->first[i + 1] - first;

		n = n < HI_SYMBOLS_FRAME_ROWS ? n : HI_SYMBOLS_FRAME_ROWS;
		for (uint32_t k = 0; k < n; k++)
			put_found_row(&found[i].rows[k], &frames->rows[first + k]);
		found[i].n_rows = n;
	}
}

static enum hi_status name_frames(struct hi_target *target, struct hi_image *image,
				  const void *arg, void *found, struct hi_error *err)
{
	const struct hi_symbols_frames_request *asked = arg;
	const struct hi_modules_options options = {.debug_dir = asked->debug_dir};
	HI_GUARD(hi_modules_close) struct hi_modules *modules = NULL;
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *builder = NULL;
	struct hi_frames frames;
	enum hi_status status = hi_modules_open(asked->image ? asked->image : image,
						&options, &modules, err);

	(void)target;
	if (status == HI_OK)
		status = hi_frames_builder_create(&builder, err);
	if (status == HI_OK)
		status = hi_frame_names_add(modules, asked->codes, asked->addresses,
					    asked->n, builder, err);
	if (status != HI_OK)
		return status;
	frames = hi_frames_builder_view(builder);
	put_found_frames(&frames, found);
	return HI_OK;
}

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

static enum hi_status take_found_frame(struct found_frame *found,
				       struct hi_frames_builder *builder,
				       struct hi_error *err)
{
	struct hi_frame_row rows[HI_SYMBOLS_FRAME_ROWS];
	uint32_t n = found->n_rows;

	if (n == 0 || n > HI_SYMBOLS_FRAME_ROWS)
		return hi_fail(err, HI_BAD_DATA, 0, "no such number of inlined calls");
	for (uint32_t k = 0; k < n; k++) {
		struct found_row *row = &found->rows[k];

		END_TEXT(row->module);
		END_TEXT(row->function);
		END_TEXT(row->file);
		rows[k] = (struct hi_frame_row){.module = row->module,
						.function = row->function,
						.file = row->file,
						.offset = row->offset,
						.line = row->line,
						.flags = row->flags};
	}
	return hi_frames_builder_add(builder, rows, n, err);
}

size_t hi_symbols_frames_size(uint32_t n)
{
	return n * sizeof(struct found_frame);
}

enum hi_status hi_symbols_frames_take(void *found, uint32_t n,
				      struct hi_frames_builder *builder,
				      struct hi_error *err)
{
	struct found_frame *frames = found;
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < n; i++)
		status = take_found_frame(&frames[i], builder, err);
	return status;
}

static enum hi_status name_frames_here(struct hi_target *target,
				       const struct hi_symbols_frames_request *request,
				       void *found, struct hi_error *err)
{
	HI_GUARD(hi_image_destroy) struct hi_image *image = NULL;
	enum hi_status status = hi_image_unstopped(target, &image, err);

	return status == HI_OK ? name_frames(target, image, request, found, err) : status;
}

enum hi_status hi_symbols_frames_read(struct hi_target *target,
				      const struct hi_symbols_frames_request *request,
				      void *found, struct hi_error *err)
{
	const struct hi_symbols_job job = {.read = name_frames,
					   .arg = request,
					   .size = hi_symbols_frames_size(request->n),
					   .wants_image = true,
					   .debug_dir = request->debug_dir,
					   .message = request->verbose ? reading_names
								       : NULL};
	void *names = NULL;
	enum hi_status status;

	if (request->n > HI_SYMBOLS_FRAMES)
		return hi_fail(err, HI_LIMIT, 0, "too many frames at a time");
	if (request->no_sandbox)
		return name_frames_here(target, request, found, err);
	status = hi_symbols_read(target, &job, &names, err);
	if (status == HI_OK)
		memcpy(found, names, job.size);
	hi_symbols_free(names, job.size);
	return status;
}
