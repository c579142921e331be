/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The present contents of a recording, by the function that allocated; for views while it
 * goes on. Names come later than stacks (frame_lookup.h).
 */
#ifndef HI_SESSION_LIVE_LIVE_SITES_H
#define HI_SESSION_LIVE_LIVE_SITES_H

#include "attach/image.h"
#include "census/events/recording.h"
#include "session/live/recorder.h"
#include "session/options.h"

struct hi_live_site {
	const char *function; /* hostile; "": no name */
	const char *file;     /* of the source, last component; "" unknown */
	const char *module;   /* last component of its path; "" unknown */
	uint32_t line;
	uint64_t offset; /* in the module */
	/* Estimates, of samples. */
	uint64_t live, bytes; /* that are live */
	uint64_t allocs;      /* all of the recording */
};
/* "make_node", or "app+0x1240". Returns out. */
char *hi_live_site_name(const struct hi_live_site *site, char *out, size_t size);
/* "list.c:39", "libc.so.6"; "" unknown. Returns out. */
char *hi_live_site_where(const struct hi_live_site *site, char *out, size_t size);

struct hi_live_sites;
/* Borrows options and recorder. *ret: hi_live_sites_destroy(). HI_NO_MEMORY. */
enum hi_status hi_live_sites_create(const struct hi_options *options,
				    struct hi_recorder *recorder,
				    struct hi_live_sites **ret, struct hi_error *err);
void hi_live_sites_destroy(struct hi_live_sites *sites); /* NULL is fine */
/* Adds up anew, and has names looked up of the stacks that have most. HI_NO_MEMORY,
 * HI_OS. */
enum hi_status hi_live_sites_refresh(struct hi_live_sites *sites,
				     const struct hi_recording *recording,
				     struct hi_error *err);
/* The same, but waits until all names are known that matter: those of the stacks with
 * most. image: of what was mapped when they were made; borrowed. For the end. */
enum hi_status hi_live_sites_finish(struct hi_live_sites *sites,
				    const struct hi_recording *recording,
				    const struct hi_image *image, struct hi_error *err);
/* In the order in which they were first seen, as of the last refresh; borrowed until the
 * next one. */
const struct hi_live_site *hi_live_sites_all(const struct hi_live_sites *sites,
					     size_t *n_ret);
/* By context, the number of its site, UINT32_MAX: not known yet; *n_ret contexts, as of
 * the last refresh; borrowed likewise. */
const uint32_t *hi_live_sites_of_contexts(const struct hi_live_sites *sites,
					  uint32_t *n_ret);
/* The sum of the stacks that have no site yet. */
struct hi_live_site hi_live_sites_unnamed(const struct hi_live_sites *sites);
/* The site with most live bytes; NULL: none has any. */
const struct hi_live_site *hi_live_sites_largest(const struct hi_live_sites *sites);

#endif
