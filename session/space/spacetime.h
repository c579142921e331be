/* SPDX-License-Identifier: BSD-2-Clause */
/* The bands of a file over time, by what they are to be told apart. */
#ifndef HI_SESSION_SPACE_SPACETIME_H
#define HI_SESSION_SPACE_SPACETIME_H

#include "report/heap_profile/hp_reader.h"
#include "session/options.h"

struct hi_spacetime_bands {
	struct hi_hp_series *series; /* owned */
	const char *by;		     /* "type", "profile", … */
	bool is_type;		     /* its names are of types */
	uint32_t *censuses;	/* by sample: number in the file, 0 none; NULL: no file of
				   many */
	size_t left_out;	/* censuses without what the bands need */
	uint64_t damaged, lost; /* bytes of the file; parts that are missing */
};
/*
 * Reads the file of the options (target.file) by over_time.by: a file of many censuses,
 * one of bio -o, or a heap profile. Each census is read once. ret:
 * hi_spacetime_bands_free(), also after an error. HI_USAGE: the file does not have what
 * the bands need; the error names the command that records it. HI_BAD_DATA, HI_NO_MEMORY.
 */
enum hi_status hi_spacetime_bands_read(const struct hi_options *options,
				       struct hi_spacetime_bands *ret,
				       struct hi_error *err);
void hi_spacetime_bands_free(struct hi_spacetime_bands *bands);

#endif
