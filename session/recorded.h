/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recording of an inspection: where and when its objects were allocated. It is that
 * of a process after `record`, or of the file that it wrote.
 */
#ifndef HI_SESSION_RECORDED_H
#define HI_SESSION_RECORDED_H

#include "census/events/birth_groups.h"
#include "census/snapshot/snapshot_births.h"
#include "session/inspection.h"

/* Reads it at the first call; *ret lives as long as the inspection. HI_NOT_FOUND: there
 * is none; HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_inspect_recorded(struct hi_inspection *in,
				   const struct hi_recorded **ret, struct hi_error *err);
/* The same, *ret NULL where there is none. */
enum hi_status hi_inspect_recorded_if_any(struct hi_inspection *in,
					  const struct hi_recorded **ret,
					  struct hi_error *err);

/* Bits of the objects that are shown: the live ones, or the leaks. Free it. NULL: out of
 * memory. */
uint64_t *hi_inspect_live_bits(const struct hi_inspection *in);
uint64_t *hi_inspect_leak_bits(const struct hi_inspection *in);
/* The live ones, without the restriction. */
uint64_t *hi_inspect_reached_bits(const struct hi_inspection *in);

#endif
