/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/past_code.h"

#include <stdlib.h>
#include <string.h>

#include "attach/running_image.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/describe/frame_names.h"
#include "probes/events/unwind_tables.h"

void hi_past_code_free(struct hi_past_code *code)
{
	for (size_t i = 0; i < code->n_gone; i++)
		hi_image_destroy(code->gone[i]);
	hi_image_destroy(code->now);
	*code = (struct hi_past_code){};
}

/* ---- looking ---- */

/* The code that is mapped at an address; NULL: none. */
static const struct hi_mapping *find_code(const struct hi_image *image, uint64_t address)
{
	const struct hi_mapping *mapping = hi_image_mapping_at(image, address);

	return mapping && hi_unwind_is_code(mapping) ? mapping : NULL;
}

bool hi_past_code_is_known(const struct hi_past_code *code, uint64_t address)
{
	return code->now && find_code(code->now, address);
}

static bool is_same_code(const struct hi_mapping *a, const struct hi_mapping *b)
{
	return b && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->file_offset == b->file_offset;
}

/* Does the later image lack code that was there before? */
static bool has_code_gone(const struct hi_image *before, const struct hi_image *later)
{
	for (size_t i = 0; i < before->n_mappings; i++) {
		const struct hi_mapping *m = &before->mappings[i];

		if (m->kind == HI_MAPPING_FILE && hi_unwind_is_code(m) &&
		    !is_same_code(m, find_code(later, m->start)))
			return true;
	}
	return false;
}

void hi_past_code_take(struct hi_past_code *code, struct hi_image *later,
		       const struct hi_past_frames *frames)
{
	struct hi_image *before = code->now;

	if (before && code->n_gone < HI_PAST_CODE_IMAGES &&
	    has_code_gone(before, later)) {
		code->frames[code->n_gone] = *frames;
		code->gone[code->n_gone++] = hi_take(before);
	}
	hi_image_destroy(before);
	code->now = later;
}

enum hi_status hi_past_code_look(struct hi_past_code *code,
				 const struct hi_target *target,
				 const struct hi_past_frames *frames,
				 struct hi_error *err)
{
	struct hi_image *later = NULL;
	enum hi_status status = hi_image_of_files(target, &later, err);

	if (status == HI_OK)
		hi_past_code_take(code, later, frames);
	return status;
}

/* ---- names ---- */

struct past_naming {
	const struct hi_past_code_request *request;
	uint64_t *left;	 /* addresses that have no name yet */
	uint32_t *index; /* of each, in the request */
	uint32_t n_left;
	/* Names that were found, and of each address its frame there. */
	struct hi_frames_builder *found;
	uint32_t *frame; /* or one of these */
};
#define FRAME_OPEN UINT32_MAX		/* not found yet, or by the names of now */
#define FRAME_NAMELESS (UINT32_MAX - 1) /* the name of now would be wrong */

static void leave_frame(struct past_naming *p, uint32_t i)
{
	p->left[p->n_left] = p->request->addresses[i];
	p->index[p->n_left++] = i;
}

static bool has_module(const struct hi_frames *frames, uint32_t i)
{
	return i < frames->n_frames && *frames->rows[frames->first[i]].module;
}

/* What one image knows goes from `left`. */
static enum hi_status ask_past_image(struct past_naming *p, const struct hi_image *image,
				     struct hi_error *err)
{
	const struct hi_modules_options options = {.debug_dir = p->request->debug_dir};
	HI_GUARD(hi_modules_close) struct hi_modules *modules = NULL;
	uint32_t before = hi_frames_builder_view(p->found).n_frames, n = p->n_left;
	struct hi_frames frames;
	enum hi_status status = HI_OK;

	if (!n)
		return HI_OK;
	status = hi_modules_open(image, &options, &modules, err);
	if (status == HI_OK)
		status = hi_frame_names_add(modules, NULL, p->left, n, p->found, err);
	if (status != HI_OK)
		return status;
	frames = hi_frames_builder_view(p->found);
	p->n_left = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = p->index[k];

		if (has_module(&frames, before + k))
			p->frame[i] = before + k;
		else
			leave_frame(p, i);
	}
	return HI_OK;
}

/* Was another file at the address, when there were so few frames, than is now? The call
 * is before its return address. */
static bool is_replaced(const struct hi_past_code *code, size_t past, uint32_t frame,
			uint64_t address)
{
	uint64_t at = address ? address - 1 : 0;
	const struct hi_mapping *then =
		frame < code->frames[past].all ? find_code(code->gone[past], at) : NULL;
	const struct hi_mapping *now = find_code(code->now, at);

	return then && now && !is_same_code(then, now);
}

/* Frames of files in whose place another one is now: by the first time that has it. */
static enum hi_status ask_replaced_images(struct past_naming *p,
					  const struct hi_past_code *code,
					  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t past = 0; past < code->n_gone && status == HI_OK; past++) {
		p->n_left = 0;
		for (uint32_t i = 0; i < p->request->n; i++) {
			if (p->frame[i] != FRAME_OPEN ||
			    !is_replaced(code, past, i, p->request->addresses[i]))
				continue;
			p->frame[i] = FRAME_NAMELESS;
			if (i < code->frames[past].sure)
				leave_frame(p, i);
		}
		status = ask_past_image(p, code->gone[past], err);
	}
	return status;
}

static enum hi_status ask_past_images(struct past_naming *p,
				      const struct hi_past_code *code,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (code->now)
		status = ask_past_image(p, code->now, err);
	for (size_t i = code->n_gone; status == HI_OK && i-- > 0;)
		status = ask_past_image(p, code->gone[i], err);
	return status;
}

static enum hi_status add_frame_of(const struct hi_frames *frames, uint32_t i,
				   struct hi_frames_builder *builder,
				   struct hi_error *err)
{
	return hi_frames_builder_add(builder, &frames->rows[frames->first[i]],
				     frames->first[i + 1] - frames->first[i], err);
}

/* Of each address what was found, else the name of now, else none. */
static enum hi_status give_past_names(const struct past_naming *p,
				      const struct hi_frames *names,
				      struct hi_frames_builder *builder,
				      struct hi_error *err)
{
	const struct hi_frame_row nameless = {.module = "", .function = "", .file = ""};
	struct hi_frames found = hi_frames_builder_view(p->found);
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < p->request->n; i++)
		if (p->frame[i] < FRAME_NAMELESS)
			status = add_frame_of(&found, p->frame[i], builder, err);
		else if (p->frame[i] == FRAME_OPEN && i < names->n_frames)
			status = add_frame_of(names, i, builder, err);
		else
			status = hi_frames_builder_add(builder, &nameless, 1, err);
	return status;
}

enum hi_status hi_past_code_names(const struct hi_past_code *code,
				  const struct hi_past_code_request *request,
				  const struct hi_frames *names,
				  struct hi_frames_builder *builder, struct hi_error *err)
{
	size_t n = request->n;
	HI_GUARD(free) uint64_t *left = hi_calloc(n + 1, sizeof(*left));
	HI_GUARD(free) uint32_t *index = hi_calloc(n + 1, sizeof(*index));
	HI_GUARD(free) uint32_t *frame = hi_calloc(n + 1, sizeof(*frame));
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *found = NULL;
	struct past_naming p = {
		.request = request, .left = left, .index = index, .frame = frame};
	enum hi_status status;

	if (!left || !index || !frame)
		return hi_fail_memory(err, "names of frames");
	memset(frame, 0xff, n * sizeof(*frame)); /* FRAME_OPEN */
	status = hi_frames_builder_create(&found, err);
	p.found = found;
	if (status == HI_OK && code->now)
		status = ask_replaced_images(&p, code, err);
	p.n_left = 0;
	for (uint32_t i = 0; i < request->n; i++)
		if (frame[i] == FRAME_OPEN && !has_module(names, i))
			leave_frame(&p, i);
	if (status == HI_OK)
		status = ask_past_images(&p, code, err);
	return status == HI_OK ? give_past_names(&p, names, builder, err) : status;
}
