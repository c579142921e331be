/* SPDX-License-Identifier: BSD-2-Clause */
/* State that the parts of a recording share: blocks (recording.c), mappings
 * (recording_mappings.c). */
#ifndef HI_CENSUS_EVENTS_RECORDING_INTERNAL_H
#define HI_CENSUS_EVENTS_RECORDING_INTERNAL_H

#include "base/table.h"
#include "census/events/live_table_internal.h"
#include "census/events/mapped_internal.h"
#include "census/events/recording.h"

/* The reallocation in which a thread is, or was. */
struct hi_realloc_call {
	bool is_open;  /* it began and did not end */
	bool is_known; /* the block was in the table */
	uint64_t addr; /* as passed; 0 none */
	struct hi_live_allocation block;
	struct hi_mapped_table parts; /* of mappings, instead of the block */
};

/* Fractions of totals, in units of 2^-32. */
struct hi_totals_carry {
	uint32_t allocs, bytes, frees, freed_bytes;
};

enum { HI_LAST_FREES = 256 };

struct hi_recording {
	struct hi_contexts *contexts;
	struct hi_kept_events *kept; /* borrowed; NULL: events are not kept */
	struct hi_windows *windows;  /* borrowed; NULL: all of the time is recorded */
	struct hi_live_table tables[HI_FAMILY_MAPPINGS]; /* of the other families */
	struct hi_mapped_table mapped;
	size_t n_sources;
	struct hi_event_source_name sources[HI_EVENT_SOURCES];
	struct hi_context_totals by_source[HI_EVENT_SOURCES];
	struct hi_totals_carry source_carries[HI_EVENT_SOURCES];
	struct HI_VECTOR(struct hi_context_totals) by_context; /* HI_FAMILY_MALLOC */
	struct HI_VECTOR(struct hi_totals_carry) carries;      /* at least as many */
	struct HI_VECTOR(double) overheads;		       /* the same */
	struct HI_VECTOR(uint64_t) ticks;		       /* the same */
	struct HI_VECTOR(struct hi_context_ports) ports;       /* the same */
	struct hi_context_totals all;
	struct hi_totals_carry all_carry;
	uint64_t sample_bytes;
	struct hi_recording_counts counts;
	struct HI_VECTOR(struct hi_realloc_call) calls;
	/* The block that a thread gave back last; kept for some threads. */
	struct hi_last_free {
		uint64_t addr;
		uint32_t tid;
	} last_frees[HI_LAST_FREES];
	struct hi_table call_of; /* thread and family -> index of calls */
};

/* Context of an event, with a row of totals. */
enum hi_status hi_recording_number_context(struct hi_recording *r,
					   const struct hi_event *e, uint32_t *ret,
					   struct hi_error *err);
struct hi_live_allocation hi_live_of_event(const struct hi_event *e);
/* Finds the reallocation of the thread and the family of an event; NULL: the thread never
 * was in one. */
struct hi_realloc_call *hi_recording_find_realloc(const struct hi_recording *r,
						  const struct hi_event *e);
enum hi_status hi_recording_need_realloc(struct hi_recording *r, const struct hi_event *e,
					 struct hi_realloc_call **ret,
					 struct hi_error *err);
void hi_totals_raise(struct hi_context_totals *totals); /* what was live at most */
enum hi_status hi_recording_fail_memory(struct hi_error *err);

/* Applies an event of HI_FAMILY_MAPPINGS. */
enum hi_status hi_recording_apply_to_mappings(struct hi_recording *r,
					      const struct hi_event *e,
					      struct hi_error *err);

#endif
