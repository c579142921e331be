/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds functions whose calls are to be counted, by names and patterns. */
#ifndef HI_PROBES_CALL_SITES_H
#define HI_PROBES_CALL_SITES_H

#include "probes/bpf/uses_shared.h"
#include "probes/safepoint.h"

enum { HI_CALL_SITES = HI_BPF_USE_SITES };

/* Names or patterns of functions; borrowed. */
struct hi_call_patterns {
	const char *const *items;
	size_t n;
	/* Is the function of this demangled name one of a pattern? */
	bool (*matches)(const char *function, const char *pattern);
};

/*
 * A place in each function of the target that matches one of the patterns, which each of
 * its calls passes once, by address; its `function` is the demangled name. In a process
 * without rights: takes the image. *ret: hi_probe_sites_free(). HI_NOT_FOUND: no function
 * matches a pattern; the error names the nearest. HI_LIMIT: more than HI_CALL_SITES
 * functions match.
 */
enum hi_status hi_call_sites_find_in(const struct hi_target *target,
				     struct hi_image *image,
				     const struct hi_call_patterns *patterns,
				     struct hi_probe_sites *ret, struct hi_error *err);

#endif
