/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows that name a frame's function and line. An address in inlined code has several
 * rows, the innermost function first. Rows are made where symbols are known; census/ uses
 * names only to recognize functions that allocate.
 */
#ifndef HI_CENSUS_EVENTS_FRAMES_H
#define HI_CENSUS_EVENTS_FRAMES_H

#include "base/cleanup.h"
#include "base/error.h"

enum hi_frame_flags {
	HI_FRAME_ALLOCATES = 1,	  /* it allocates for its caller: no site */
	HI_FRAME_INLINED = 2,	  /* the next row of the same frame is its caller */
	HI_FRAME_INTERPRETER = 4, /* of the file of an interpreter, or of its library */
	HI_FRAME_SCRIPT = 8,	  /* code that the interpreter runs, in place of its own
				     frame */
};
/* Strings are hostile; "" unknown, never NULL. */
struct hi_frame_row {
	const char *module;   /* path of the file */
	const char *function; /* demangled */
	const char *file;     /* of the source */
	uint64_t offset;      /* of the address from where the module begins */
	uint32_t line;	      /* 0 unknown */
	uint32_t flags;	      /* enum hi_frame_flags */
};

/* Rows of frame i: rows[first[i]] to rows[first[i + 1] - 1], at least one. Borrowed. */
struct hi_frames {
	const struct hi_frame_row *rows;
	const uint32_t *first; /* n_frames + 1 */
	uint32_t n_frames, n_rows;
};

/* Whether a function allocates for its caller, by its demangled name: malloc, operator
 * new, std::allocator, xmalloc … (the table is in frames.c). */
bool hi_frame_allocates(const char *function);
/* Whether a function is one of an allocator itself, which gives memory out, takes it back
 * or resizes it, by its demangled name: what runs in it and below it is time that
 * allocation takes. */
bool hi_frame_is_allocator(const char *function);
/* Writes a regular expression that the names of these functions match as a whole, with "|"
 * between them, for programs that leave them out of stacks. */
enum { HI_ALLOCATOR_REGEXP_SIZE = 4096 };
void hi_frame_allocator_regexp(char out[HI_ALLOCATOR_REGEXP_SIZE]);
/* Is this demangled function called so: by its whole name, by the name without return
 * type, parameters and the compiler's suffixes, or by a shell pattern (* and ?) for one
 * of both? */
bool hi_frame_matches(const char *function, const char *pattern);
/* Returns the name of a demangled function, a part of its text of *size_ret bytes: after
 * the return type, before the parameters. "void std::vector<int>::f<int>(int)":
 * "std::vector<int>::f<int>". */
const char *hi_frame_bare_name(const char *function, size_t *size_ret);
/* The function; of one without a name the path of the module, or "(no module)". */
const char *hi_frame_row_name(const struct hi_frame_row *row);

/* ---- making them ---- */

struct hi_frames_builder;
/* *ret: hi_frames_builder_destroy(). */
enum hi_status hi_frames_builder_create(struct hi_frames_builder **ret,
					struct hi_error *err);
void hi_frames_builder_destroy(struct hi_frames_builder *builder);
HI_DEFINE_GUARD(struct hi_frames_builder *, hi_frames_builder_destroy)
/* The rows of the next frame, by number, n >= 1. Strings are copied, NULL counts as "".
 * HI_FRAME_ALLOCATES and HI_FRAME_INLINED are set here, from the function's name and the
 * position; the other flags are kept. HI_NO_MEMORY. */
enum hi_status hi_frames_builder_add(struct hi_frames_builder *builder,
				     const struct hi_frame_row *rows, uint32_t n,
				     struct hi_error *err);
/* All that were added; borrowed until the next call. */
struct hi_frames hi_frames_builder_view(const struct hi_frames_builder *builder);

#endif
