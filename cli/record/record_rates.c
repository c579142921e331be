/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_rates.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

void hi_record_rates_free(struct hi_record_rates *rates)
{
	hi_vector_free(&rates->sites);
}

static void restore_speed(struct hi_window_rate *rate, const struct hi_bounded *speed)
{
	rate->allocs = hi_window_at_speed(rate->allocs, speed);
	rate->bytes = hi_window_at_speed(rate->bytes, speed);
}

/* All contexts are one group. */
static enum hi_status find_rate_of_all(const struct hi_windows *windows,
				       uint32_t n_contexts, struct hi_window_rate *ret,
				       struct hi_error *err)
{
	HI_GUARD(free) uint32_t *one = hi_calloc(n_contexts + 1u, sizeof(*one));

	return one ? hi_windows_rates(windows, one, n_contexts, 1, ret, err)
		   : hi_fail_memory(err, "rates of windows");
}

enum hi_status hi_record_rates_look(struct hi_record_rates *rates,
				    const struct hi_recorder *recorder,
				    const struct hi_live_sites *sites,
				    struct hi_error *err)
{
	const struct hi_windows *windows =
		hi_recording_windows(hi_recorder_recording(recorder));
	uint64_t late_hits;
	const struct hi_window_load load = hi_recorder_window_load(recorder, &late_hits);
	const struct hi_bounded speed = hi_window_speed(&load);
	uint32_t n_contexts = 0;
	const uint32_t *of_context = hi_live_sites_of_contexts(sites, &n_contexts);
	size_t n;
	enum hi_status status;

	(void)hi_live_sites_all(sites, &n);
	if (!hi_vector_reserve(&rates->sites, n + 1))
		return hi_fail_memory(err, "rates of windows");
	rates->sites.count = n;
	status = find_rate_of_all(windows, n_contexts, &rates->all, err);
	if (status == HI_OK)
		status = hi_windows_rates(windows, of_context, n_contexts, (uint32_t)n,
					  rates->sites.items, err);
	if (status != HI_OK)
		return status;
	restore_speed(&rates->all, &speed);
	for (size_t i = 0; i < n; i++)
		restore_speed(&rates->sites.items[i], &speed);
	return HI_OK;
}

const struct hi_live_site *hi_record_rates_top(const struct hi_record_rates *rates,
					       const struct hi_live_sites *sites,
					       struct hi_window_rate *ret)
{
	size_t n, top = SIZE_MAX;
	const struct hi_live_site *all = hi_live_sites_all(sites, &n);

	*ret = (struct hi_window_rate){};
	for (size_t i = 0; i < n && i < rates->sites.count; i++) {
		if (rates->sites.items[i].allocs.value <= ret->allocs.value)
			continue;
		*ret = rates->sites.items[i];
		top = i;
	}
	return top < n ? &all[top] : NULL;
}
