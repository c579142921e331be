/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place where --at stops a target: the probe sites that were found, with the probe
 * that is attached to them.
 */
#ifndef HI_SESSION_LIVE_STOP_SITE_H
#define HI_SESSION_LIVE_STOP_SITE_H

#include "base/arena.h"
#include "probes/probe.h"
#include "report/parts/stop_place.h"

struct hi_options;

struct hi_stop_site {
	const struct hi_safepoint *safepoint; /* borrowed */
	struct hi_target *target;
	struct hi_probe_sites sites;
	struct hi_probed *described; /* the same as text */
	struct hi_probe *probe;
	struct hi_arena arena;
	uint64_t hits_before; /* the wait that goes on; UINT64_MAX: unknown */
};

enum { HI_STOP_SITE_TEXT = HI_PROBED_TEXT + 256 };

/* The sites as text, without a probe: for commands that list them. Lives in the arena.
 * NULL: no memory. */
struct hi_probed *hi_stop_site_describe(const struct hi_target *target,
					const struct hi_probe_sites *sites,
					struct hi_arena *arena);

/*
 * Finds the probe sites and attaches the probe. It keeps a view of the target of its own,
 * so that it may be used for one stop after another. Errors: hi_symbols_probe_sites' and
 * hi_probe_open's.
 */
enum hi_status hi_stop_site_open(const struct hi_options *options,
				 const struct hi_safepoint *safepoint,
				 struct hi_stop_site **ret, struct hi_error *err);
/* Is the code that the probe is on still mapped where it was? Not after an exec. */
bool hi_stop_site_is_mapped(const struct hi_stop_site *site,
			    const struct hi_target *target);
/* "malloc+0x9 (push %rbx) in libc.so.6 and 2 more places"; hostile. */
char *hi_stop_site_text(const struct hi_stop_site *site, char out[HI_STOP_SITE_TEXT]);
/* Hits of all sites since the probe was attached; UINT64_MAX: not counted. */
uint64_t hi_stop_site_hits(const struct hi_stop_site *site);
/* Begins the wait for a hit. */
void hi_stop_site_begin(struct hi_stop_site *site);
/* The site was not reached (see *err): adds the number of hits meanwhile. Returns
 * HI_MISSED. */
enum hi_status hi_stop_site_missed(const struct hi_stop_site *site, struct hi_error *err);
/* The site that was hit; NULL: not known. */
const struct hi_probed *hi_stop_site_at(const struct hi_stop_site *site, uint64_t pc);
/* Returns the runtime whose collection has ended there ("CPython"); NULL: none, or not
 * known. */
const char *hi_stop_site_ends(const struct hi_stop_site *site, uint64_t pc);
/* Closes the probe; the texts about it stay valid. */
void hi_stop_site_release(struct hi_stop_site *site);
void hi_stop_site_close(struct hi_stop_site *site);

#endif
