/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields that close the leaked cycles of an inspection. */
#ifndef HI_SESSION_INSPECT_LEAK_CYCLES_H
#define HI_SESSION_INSPECT_LEAK_CYCLES_H

#include "census/analysis/cycle_edges.h"
#include "session/inspection.h"

/* Finds them for the leaks that are shown (HI_WANT_LEAKS). *ret: the caller destroys it;
 * NULL where no leak root is a cycle. */
enum hi_status hi_leak_cycles_find(struct hi_inspection *in, struct hi_cycle_edges **ret,
				   struct hi_error *err);
/* Are the leaks so large that the first page names what closes their cycles: 64 KiB, or a
 * hundredth of what is live? */
bool hi_leak_cycles_matter(const struct hi_inspection *in);

#endif
