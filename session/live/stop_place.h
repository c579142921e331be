/* SPDX-License-Identifier: BSD-2-Clause */
/* Where --at stops a target: the places that were found, with a probe on them. */
#ifndef HI_SESSION_LIVE_STOP_PLACE_H
#define HI_SESSION_LIVE_STOP_PLACE_H

#include "base/arena.h"
#include "probes/probe.h"
#include "report/views/stopped.h"

struct hi_options;

struct hi_stop_place {
	const struct hi_safepoint *safepoint; /* borrowed */
	struct hi_target *target;
	struct hi_probe_sites places;
	struct hi_probed *told; /* the same for people */
	struct hi_probe *probe;
	struct hi_arena arena;
	uint64_t hits_before; /* the wait that goes on; UINT64_MAX: unknown */
};

enum { HI_STOP_PLACE_TEXT = HI_PROBED_TEXT + 256 };

/* For the commands that only tell of places: the same out of the arena. NULL: no
 * memory. */
struct hi_probed *hi_stop_place_tell(const struct hi_target *target,
				     const struct hi_probe_sites *places,
				     struct hi_arena *arena);

/*
 * Finds the places, and attaches. It keeps a view of the target of its own, so that
 * it may be used for one stop after another. Errors: hi_symbols_places' and
 * hi_probe_open's.
 */
enum hi_status hi_stop_place_open(const struct hi_options *options,
				  const struct hi_safepoint *safepoint,
				  struct hi_stop_place **ret, struct hi_error *err);
/* Is the code that the probe is on still mapped where it was? Not after an exec. */
bool hi_stop_place_holds(const struct hi_stop_place *place,
			 const struct hi_target *target);
/* "malloc+0x9 (push %rbx) in libc.so.6 and 2 more places"; hostile. */
char *hi_stop_place_text(const struct hi_stop_place *place, char out[HI_STOP_PLACE_TEXT]);
/* Of all places, since they were attached; UINT64_MAX: not counted. */
uint64_t hi_stop_place_hits(const struct hi_stop_place *place);
/* The waiting begins. */
void hi_stop_place_begin(struct hi_stop_place *place);
/* It was in vain, as *err says: adds how often the target came by meanwhile. Returns
 * HI_MISSED. */
enum hi_status hi_stop_place_missed(const struct hi_stop_place *place,
				    struct hi_error *err);
/* Which of the places this is; NULL: not known. */
const struct hi_probed *hi_stop_place_at(const struct hi_stop_place *place, uint64_t pc);
/* The runtime whose collection has ended there ("CPython"); NULL: none, not known. */
const char *hi_stop_place_ends(const struct hi_stop_place *place, uint64_t pc);
/* Closes its probe; what was known of it stays. */
void hi_stop_place_release(struct hi_stop_place *place);
void hi_stop_place_close(struct hi_stop_place *place);

#endif
