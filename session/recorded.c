/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/recorded.h"

#include "base/alloc.h"
#include "base/bits.h"
#include "session/windows.h"

enum hi_status hi_inspect_recorded_if_any(struct hi_inspection *in,
					  const struct hi_recorded **ret,
					  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!in->recorded)
		status = in->source->results->read_recorded(in, err);
	if (status == HI_NOT_FOUND)
		status = HI_OK;
	*ret = in->recorded;
	return status;
}

enum hi_status hi_inspect_recorded(struct hi_inspection *in,
				   const struct hi_recorded **ret, struct hi_error *err)
{
	enum hi_status status = hi_inspect_recorded_if_any(in, ret, err);

	if (status != HI_OK || *ret)
		return status;
	if (in->options->target.file && hi_inspect_is_by_windows(in))
		return hi_fail(
			err, HI_NOT_FOUND, 0,
			"%.120s was recorded by windows, so that it is not known "
			"of each object who allocated it: heapinspect alloc %.120s "
			"shows the estimates",
			in->options->target.file, in->options->target.file);
	return hi_fail(
		err, HI_NOT_FOUND, 0,
		"%.120s has no recording of allocations: make one with heapinspect "
		"record --pid N -o FILE",
		in->options->target.file ? in->options->target.file : "this target");
}

static uint64_t *copy_reach_bits(const struct hi_inspection *in,
				 const struct hi_reach *reach, bool reachable)
{
	hi_node n = in->graph->n_objects;
	uint64_t *bits = hi_calloc(1, hi_bits_size(n) + 8);

	for (hi_node i = 0; bits && i < n; i++)
		if (hi_bit(reach->any, i) == reachable &&
		    !(in->graph->objects->flags[i] & HI_OBJECT_INTERNAL))
			hi_bit_set(bits, i);
	return bits;
}

uint64_t *hi_inspect_live_bits(const struct hi_inspection *in)
{
	return copy_reach_bits(in, in->shown.reach, true);
}

uint64_t *hi_inspect_reached_bits(const struct hi_inspection *in)
{
	return copy_reach_bits(in, in->results.reach, true);
}

uint64_t *hi_inspect_leak_bits(const struct hi_inspection *in)
{
	return copy_reach_bits(in, in->shown.leaks_reach, false);
}
