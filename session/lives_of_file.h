/* SPDX-License-Identifier: BSD-2-Clause */
/* The biographies that an inspection has: of a file that `bio -o` wrote. */
#ifndef HI_SESSION_LIVES_OF_FILE_H
#define HI_SESSION_LIVES_OF_FILE_H

#include "census/biography/summary.h"
#include "session/inspection.h"

/* Reads them at the first call; *ret lives as long as the inspection. HI_NOT_FOUND: there
 * are none, and the text explains how they are made; HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_inspect_lives(struct hi_inspection *in,
				const struct hi_bio_summary **ret, struct hi_error *err);
/* The same, *ret NULL where there are none. */
enum hi_status hi_inspect_lives_if_any(struct hi_inspection *in,
				       const struct hi_bio_summary **ret,
				       struct hi_error *err);

/* Sets the bits of the objects that were born in these eras (--era FROM[-TO],
 * era_choice.h). HI_NOT_FOUND: there are no biographies, or no such era. */
enum hi_status hi_lives_mark_eras(struct hi_inspection *in, const char *text,
				  uint64_t *bits, struct hi_error *err);

#endif
