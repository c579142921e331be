/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code that a target had mapped while it was recorded: stacks have addresses, whose
 * names are looked up at the end, when a library may be unloaded, or the program be
 * another one. The files of what has gone stay open here.
 */
#ifndef HI_SESSION_LIVE_PAST_CODE_H
#define HI_SESSION_LIVE_PAST_CODE_H

#include "attach/target.h"
#include "census/events/frames.h"

/* The largest number of earlier images that are kept; of more, the first ones. */
enum { HI_PAST_CODE_IMAGES = 64 };

/* How many frames were known: when the code was surely still as before, and when it was
 * seen to be another. */
struct hi_past_frames {
	uint32_t sure, all;
};

/* Zero-initialised is none. */
struct hi_past_code {
	struct hi_image *now; /* what is mapped by now; NULL: never looked */
	/* Earlier images: each has a file that the next look did not show any more. */
	struct hi_image *gone[HI_PAST_CODE_IMAGES];
	struct hi_past_frames frames[HI_PAST_CODE_IMAGES]; /* of each */
	size_t n_gone;
};
void hi_past_code_free(struct hi_past_code *code);
/* Adds the present mappings. HI_NO_MEMORY: as before. */
enum hi_status hi_past_code_look(struct hi_past_code *code,
				 const struct hi_target *target,
				 const struct hi_past_frames *frames,
				 struct hi_error *err);
/* The same, by an image of the files that are mapped now (hi_image_of_files), which it
 * takes. */
void hi_past_code_take(struct hi_past_code *code, struct hi_image *later,
		       const struct hi_past_frames *frames);
/* Was there code at this address at the last look? */
bool hi_past_code_is_known(const struct hi_past_code *code, uint64_t address);

/*
 * Adds the rows of n return addresses to the builder, as hi_frame_names_add() does; names
 * has them as they are looked up now, or nothing (n_frames 0). If those have no module,
 * earlier files are searched, the latest first. An address at which another file was when
 * its frame became known has the name of then; none, if it is unknown which of both was
 * there. Frames have the numbers of the addresses. HI_NO_MEMORY.
 */
struct hi_past_code_request {
	const uint64_t *addresses;
	uint32_t n;
	const char *debug_dir; /* as of hi_modules_options */
};
enum hi_status hi_past_code_names(const struct hi_past_code *code,
				  const struct hi_past_code_request *request,
				  const struct hi_frames *names,
				  struct hi_frames_builder *builder,
				  struct hi_error *err);

#endif
