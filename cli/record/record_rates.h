/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates of a recording by windows while it goes on, for record_progress.c. */
#ifndef HI_CLI_RECORD_RECORD_RATES_H
#define HI_CLI_RECORD_RECORD_RATES_H

#include "base/vector.h"
#include "census/events/windows.h"
#include "session/live/live_sites.h"

/* As of the last look; at the speed that the program has without windows. */
struct hi_record_rates {
	struct hi_window_rate all;
	struct HI_VECTOR(
		struct hi_window_rate) sites; /* as hi_live_sites_all() has them */
};
/* After a refresh of the sites. rates: zeros at first. HI_NO_MEMORY. */
enum hi_status hi_record_rates_look(struct hi_record_rates *rates,
				    const struct hi_recorder *recorder,
				    const struct hi_live_sites *sites,
				    struct hi_error *err);
void hi_record_rates_free(struct hi_record_rates *rates);
/* The site that allocates most often; NULL: none is known. */
const struct hi_live_site *hi_record_rates_top(const struct hi_record_rates *rates,
					       const struct hi_live_sites *sites,
					       struct hi_window_rate *ret);

#endif
