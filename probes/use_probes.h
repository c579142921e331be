/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes at the entry of functions of a target that keep which addresses were passed, and
 * when (bpf/uses.bpf.c). They are opened by a probe holder (holder.h). Not thread-safe,
 * but for hi_use_probes_hits() beside anything but hi_use_probes_set() and close.
 */
#ifndef HI_PROBES_USE_PROBES_H
#define HI_PROBES_USE_PROBES_H

#include "probes/bpf/uses_shared.h"
#include "probes/safepoint.h"

/* A place of a function. */
struct hi_use_site {
	uint32_t mapping; /* index in target->mappings */
	uint64_t address, file_offset;
	uint8_t registers; /* bit n: the n-th integer argument is kept */
};

/* An address that was passed; CLOCK_MONOTONIC. */
struct hi_use_call {
	uint64_t address, first_ns, last_ns;
};

struct hi_use_probes;
/* Loads the program, without sites. target: borrowed until close. *ret:
 * hi_use_probes_close(). HI_CANNOT_ATTACH, HI_UNSUPPORTED: no BPF, or another processor
 * than x86-64; HI_NO_MEMORY. */
enum hi_status hi_use_probes_open(const struct hi_target *target,
				  struct hi_use_probes **ret, struct hi_error *err);
void hi_use_probes_close(struct hi_use_probes *probes); /* NULL is fine */

/* Has these sites from now on, at most HI_BPF_USE_SITES, instead of those before; their
 * hits begin at 0. On failure there are none. Errors: hi_probe_holder_start()'s, of its
 * links. */
enum hi_status hi_use_probes_set(struct hi_use_probes *probes,
				 const struct hi_use_site *sites, size_t n,
				 struct hi_error *err);
/* Takes all sites away; what was kept is still there. */
void hi_use_probes_end(struct hi_use_probes *probes);
/* Hits of site i since it was set. */
uint64_t hi_use_probes_hits(const struct hi_use_probes *probes, size_t i);

/* Another period begins. The calls of the last one: *ret is for the caller to free,
 * *n_ret of them, each address once, in no order. A call at the very moment may be in
 * either period, or in none; the times say. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_use_probes_turn(struct hi_use_probes *probes, struct hi_use_call **ret,
				  size_t *n_ret, struct hi_error *err);
/* Returns the time of a hit, in ns, if the kernel emulates the instruction: as measured
 * when sites were set for the first time, before that a guess. */
uint64_t hi_use_probes_hit_ns(const struct hi_use_probes *probes);
/* Calls whose address was not kept, as there was no room in their period. */
uint64_t hi_use_probes_not_stored(const struct hi_use_probes *probes);

#endif
