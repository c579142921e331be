/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_internal.h"
#include "census/snapshot/snapshot_sections.h"

static const char section_name[] = "windows.sites";

/* Members of a row beside its estimates. */
static const struct hi_row_member window_members[] = {
#define WINDOW_MEMBER(name, member)                                                      \
	HI_ROW_MEMBER(struct hi_snapshot_window_site, name, struct hi_window_row, member)
	WINDOW_MEMBER(module, site.module),
	WINDOW_MEMBER(function, site.function),
	WINDOW_MEMBER(file, site.file),
	WINDOW_MEMBER(line, site.line),
	WINDOW_MEMBER(offset, site.offset),
	WINDOW_MEMBER(flags, site.flags),
	WINDOW_MEMBER(has_site, has_site),
	WINDOW_MEMBER(seen, figures.rate.seen),
	WINDOW_MEMBER(seen_live, figures.seen_live),
	WINDOW_MEMBER(seen_leaked, figures.seen_lost),
	WINDOW_MEMBER(unseen_frees, figures.unseen_frees),
#undef WINDOW_MEMBER
};
static const struct hi_row_map window_map =
	HI_ROW_MAP("windows.sites", struct hi_window_row, window_members);

static const struct hi_property window_numbers[] = {
#define WINDOW_NUMBER(name, field)                                                       \
	HI_PROPERTY("windows." name, struct hi_window_result, field)
	WINDOW_NUMBER("number", totals.n),
	WINDOW_NUMBER("allocations", totals.allocs),
	WINDOW_NUMBER("bytes", totals.bytes),
	WINDOW_NUMBER("covered", totals.covered_ns),
	WINDOW_NUMBER("shortest", totals.shortest_ns),
	WINDOW_NUMBER("longest", totals.longest_ns),
	WINDOW_NUMBER("cpu", load.cpu_ns),
	WINDOW_NUMBER("cpu_of", load.cpu_of_ns),
	WINDOW_NUMBER("cpu_n", load.n),
	WINDOW_NUMBER("cpu_squares", load.cpu_squares_ns),
	WINDOW_NUMBER("gap_cpu", load.gap_cpu_ns),
	WINDOW_NUMBER("gap", load.gap_ns),
	WINDOW_NUMBER("hits", load.hits),
	WINDOW_NUMBER("trap", load.trap_ns),
	WINDOW_NUMBER("program", load.program_ns),
	WINDOW_NUMBER("load", load.covered_ns),
	WINDOW_NUMBER("late_hits", late_hits),
	WINDOW_NUMBER("duration", duration_ns),
	WINDOW_NUMBER("blind", blind_ns),
	WINDOW_NUMBER("events", events),
	WINDOW_NUMBER("lost_events", lost_events),
	WINDOW_NUMBER("live.objects", objects),
	WINDOW_NUMBER("live.bytes", bytes),
	WINDOW_NUMBER("leaked.blocks", lost),
	WINDOW_NUMBER("leaked.bytes", lost_bytes),
	WINDOW_NUMBER("why", choice.why),
	WINDOW_NUMBER("cost", choice.cost_ppm),
	WINDOW_NUMBER("whole", choice.whole_ns),
#undef WINDOW_NUMBER
	HI_PROPERTY("windows.allocator", struct hi_window_result, allocator,
		    .is_never_null = true),
};
enum { NUMBERS = sizeof(window_numbers) / sizeof(*window_numbers) };

/* ---- estimates ---- */

/* An end that is not known is no number of the file. */
static void pack_estimate(const struct hi_bounded *from, uint32_t bit, double to[3],
			  uint32_t *open)
{
	to[0] = isfinite(from->value) && from->value > 0 ? from->value : 0;
	to[1] = from->low > 0 && from->low < to[0] ? from->low : 0;
	if (from->low >= to[0])
		to[1] = to[0];
	to[2] = isfinite(from->high) && from->high > to[0] ? from->high : to[0];
	if (isinf(from->high))
		*open |= bit;
}

static struct hi_bounded unpack_estimate(const double from[3], uint32_t bit,
					 uint32_t open)
{
	return (struct hi_bounded){from[0], from[1], open & bit ? INFINITY : from[2]};
}

static void pack_estimates(const struct hi_window_site *from,
			   struct hi_snapshot_window_site *to)
{
	pack_estimate(&from->rate.allocs, 1, to->allocations, &to->open);
	pack_estimate(&from->rate.bytes, 2, to->bytes, &to->open);
	pack_estimate(&from->live_bytes, 4, to->live_bytes, &to->open);
	pack_estimate(&from->lost, 8, to->leaked, &to->open);
	pack_estimate(&from->lost_bytes, 16, to->leaked_bytes, &to->open);
}

static void unpack_estimates(const struct hi_snapshot_window_site *from,
			     struct hi_window_site *to)
{
	to->rate.allocs = unpack_estimate(from->allocations, 1, from->open);
	to->rate.bytes = unpack_estimate(from->bytes, 2, from->open);
	to->live_bytes = unpack_estimate(from->live_bytes, 4, from->open);
	to->lost = unpack_estimate(from->leaked, 8, from->open);
	to->lost_bytes = unpack_estimate(from->leaked_bytes, 16, from->open);
}

/* ---- both ways ---- */

enum hi_status hi_snapshot_put_windows(struct hi_snapshot_writer *w,
				       const struct hi_window_result *result,
				       struct hi_error *err)
{
	enum hi_status status = hi_snapshot_begin_rows(w, section_name, err);

	for (size_t i = 0; i < result->n_rows && status == HI_OK; i++) {
		struct hi_snapshot_window_site row = {};

		pack_estimates(&result->rows[i].figures, &row);
		status =
			hi_snapshot_pack_row(w, &window_map, &result->rows[i], &row, err);
		if (status == HI_OK)
			status = hi_snapshot_append(w, &row, sizeof(row), err);
	}
	if (status == HI_OK)
		status = hi_snapshot_end(w, err);
	return status == HI_OK ? hi_snapshot_put_properties(w, "", window_numbers,
							    NUMBERS, result, err)
			       : status;
}

bool hi_snapshot_has_windows(const struct hi_snapshot *s)
{
	return hi_snapshot_find(s, section_name) >= 0;
}

enum hi_status hi_snapshot_windows(struct hi_snapshot *s, struct hi_window_row **rows_ret,
				   struct hi_window_result *ret, struct hi_error *err)
{
	HI_GUARD(free) struct hi_window_row *rows = NULL;
	const struct hi_snapshot_window_site *stored = NULL;
	struct hi_window_result result = {};
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_take_rows(s, &window_map, NULL, &rows, &n, err);

	if (status == HI_OK)
		status = hi_snapshot_rows(s, section_name, &stored, &n, err);
	if (status != HI_OK)
		return status;
	for (uint64_t i = 0; i < n; i++)
		unpack_estimates(&stored[i], &rows[i].figures);
	hi_snapshot_take_properties(s, "", window_numbers, NUMBERS, &result);
	result.rows = rows;
	result.n_rows = n;
	*ret = result;
	*rows_ret = hi_take(rows);
	return HI_OK;
}
