/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Areas of a runtime in the ledger. Used blocks were written, and headers too: what
 * is not resident of an area is free.
 */
#include <string.h>

#include "decode/usage/ledger.h"
#include "decode/runtime.h"

static struct hi_ledger_row *find_ledger_row(struct hi_ledger *ledger, const char *key)
{
	for (size_t i = 0; i < ledger->n_rows; i++)
		if (strcmp(ledger->rows[i].key, key) == 0)
			return &ledger->rows[i];
	return NULL;
}

static uint64_t subtract_clamped(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

static void add_runtime_row(struct hi_ledger *ledger, struct hi_ledger_row *from,
			    const struct hi_ledger_row *row)
{
	ledger->rows[ledger->n_rows++] = *row;
	from->virtual_size = subtract_clamped(from->virtual_size, row->virtual_size);
	if (row->resident != HI_UNKNOWN)
		from->resident = subtract_clamped(from->resident, row->resident);
}

void hi_ledger_add_runtime(struct hi_ledger *ledger, const struct hi_image *image,
			   const struct hi_runtime *runtime)
{
	struct hi_ledger_row *other = find_ledger_row(ledger, "other");
	struct hi_ledger_row *leak = find_ledger_row(ledger, "leak");
	uint64_t resident = 0, own = runtime->own_bytes;
	bool known = ledger->rss != HI_UNKNOWN;

	if (leak && runtime->ops->counted)
		leak->label = "leaked, and garbage";
	if (!other || !runtime->n_areas || ledger->n_rows + 2 > HI_LEDGER_ROWS)
		return;
	for (size_t i = 0; i < runtime->n_areas && known; i++)
		resident += hi_image_resident(image, runtime->areas[i].start,
					      runtime->areas[i].end);
	resident = subtract_clamped(resident,
				    runtime->used_bytes + own + runtime->skipped_bytes);
	if (known && other->resident < resident + own) {
		/* Used blocks that were swapped out. */
		resident = subtract_clamped(other->resident, own);
		own = other->resident - resident;
	}
	add_runtime_row(ledger, other,
			&(struct hi_ledger_row){
				.key = "runtime_free",
				.label = "free in the runtime's areas",
				.resident = known ? resident : HI_UNKNOWN,
				.virtual_size = runtime->free_bytes,
				.swapped = other->swapped == HI_UNKNOWN ? HI_UNKNOWN : 0,
				.count = runtime->free_blocks});
	add_runtime_row(ledger, other,
			&(struct hi_ledger_row){
				.key = "runtime_own",
				.label = "the runtime's own",
				.resident = known ? own : HI_UNKNOWN,
				.virtual_size = runtime->own_bytes,
				.swapped = other->swapped == HI_UNKNOWN ? HI_UNKNOWN : 0,
				.count = HI_UNKNOWN});
}
