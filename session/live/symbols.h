/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols and debug information that are needed before the stop: where the allocator's
 * code is, and the probe sites of --at with their conditions. A process without rights
 * (base/rights.h) gets the files, reads them and leaves the result in shared memory. The
 * result is hostile until it is checked: a file may have taken control of that process.
 */
#ifndef HI_SESSION_LIVE_SYMBOLS_H
#define HI_SESSION_LIVE_SYMBOLS_H

#include "attach/target.h"
#include "census/events/frames.h"
#include "probes/call_sites.h"
#include "probes/events/functions.h"
#include "probes/events/unwind_tables.h"
#include "probes/safepoint.h"
#include "probes/use_functions.h"

struct hi_symbols_job {
	/* In that process. image: of the target's files, which this takes; NULL: not
	 * wanted. found: zeros, `size` bytes. */
	enum hi_status (*read)(struct hi_target *target, struct hi_image *image,
			       const void *arg, void *found, struct hi_error *err);
	const void *arg;
	size_t size;
	bool wants_image;
	const char *debug_dir; /* as of hi_modules_options; NULL */
	const char *message;   /* that process prints it on stderr; NULL: nothing */
};

/* found_ret: the caller's, for hi_symbols_free. Errors: read's; HI_BAD_DATA: the process
 * has died. */
enum hi_status hi_symbols_read(struct hi_target *target, const struct hi_symbols_job *job,
			       void **found_ret, struct hi_error *err);
void hi_symbols_free(void *found, size_t size); /* NULL is fine */

/* Calls hi_safepoint_find() in that process. */
enum hi_status hi_symbols_probe_sites(struct hi_target *target, bool verbose,
				      const struct hi_safepoint *safepoint,
				      struct hi_probe_sites *ret, struct hi_error *err);
/* Calls hi_call_sites_find_in() in that process. */
enum hi_status hi_symbols_call_sites(struct hi_target *target, bool verbose,
				     const struct hi_call_patterns *patterns,
				     struct hi_probe_sites *ret, struct hi_error *err);
/* Calls hi_safepoints_list() in that process; *ret is the caller's. */
enum hi_status hi_symbols_safepoints(struct hi_target *target, bool verbose,
				     struct hi_known_safepoint **ret, size_t *n_ret,
				     struct hi_error *err);
/* Calls hi_allocator_text() in that process. */
enum hi_status hi_symbols_allocator(struct hi_target *target, struct hi_range **ret,
				    size_t *n_ret, struct hi_error *err);
/* Calls hi_event_functions_find_with() in that process. */
enum hi_status hi_symbols_event_functions(struct hi_target *target, bool verbose,
					  const struct hi_followed *followed,
					  struct hi_event_functions *ret,
					  struct hi_error *err);
/* Calls hi_unwind_tables_find() in that process; *ret: hi_unwind_tables_free(). */
enum hi_status hi_symbols_unwind_tables(struct hi_target *target, bool verbose,
					struct hi_unwind_tables *ret,
					struct hi_error *err);
/* Calls hi_use_functions_find_in() in that process; free *ret. */
enum hi_status hi_symbols_use_functions(struct hi_target *target, bool verbose,
					struct hi_use_functions **ret,
					struct hi_error *err);
struct hi_symbols_frames_request {
	const uint64_t *addresses;
	uint32_t n;
	struct hi_python_codes *codes; /* as of hi_frame_names_add() */
	bool no_sandbox, verbose;
	const char *debug_dir; /* as of hi_modules_options */
	/* An earlier image; NULL: the target as it is. */
	const struct hi_image *image;
};
/*
 * Calls hi_frame_names_add() in that process, for at most HI_SYMBOLS_FRAMES return
 * addresses. For an address in inlined code at most HI_SYMBOLS_FRAME_ROWS rows are kept,
 * the innermost ones; long texts are cut. found: hi_symbols_frames_size(n) bytes, zeros.
 */
enum { HI_SYMBOLS_FRAMES = 512, HI_SYMBOLS_FRAME_ROWS = 8 };
size_t hi_symbols_frames_size(uint32_t n);
enum hi_status hi_symbols_frames_read(struct hi_target *target,
				      const struct hi_symbols_frames_request *request,
				      void *found, struct hi_error *err);
/* Checks what was found, and adds it to the builder. HI_BAD_DATA, HI_NO_MEMORY: the
 * builder may have some of the frames. */
enum hi_status hi_symbols_frames_take(void *found, uint32_t n,
				      struct hi_frames_builder *builder,
				      struct hi_error *err);
/* Is this, which the process without rights has returned, mapped code of the target where
 * a probe may be? */
bool hi_symbols_site_is_valid(const struct hi_target *target,
			      const struct hi_probe_site *place);

#endif
