/* SPDX-License-Identifier: BSD-2-Clause */
/* All places of a safepoint, whatever it is. */
#include "probes/code.h"

enum hi_status hi_find_places(struct hi_target_code *code,
			      const struct hi_safepoint *safepoint,
			      struct hi_place_list *places, struct hi_error *err)
{
	switch (safepoint->kind) {
	case HI_SAFEPOINT_FUNCTION:
		return hi_find_function(code, safepoint, 0, places, err);
	case HI_SAFEPOINT_USDT:
		return hi_find_usdt(code, safepoint, places, err);
	case HI_SAFEPOINT_NOW:
		return hi_fail(err, HI_USAGE, 0, "\"now\" is no place");
	default:
		return hi_fail(err, HI_UNSUPPORTED, 0, "not yet");
	}
}
