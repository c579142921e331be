/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/biography/bands.h"

#include <string.h>

static const struct {
	const char *profile, *option;
} names[HI_BIO_BANDS] = {
	[HI_BIO_VOID] = {"VOID", "void"},
	[HI_BIO_LAG] = {"LAG", "lag"},
	[HI_BIO_USE] = {"USE", "use"},
	[HI_BIO_INHERENT] = {"INHERENT_USE", "inherent"},
	[HI_BIO_DRAG] = {"DRAG", "drag"},
	[HI_BIO_UNUSED] = {"UNUSED-SINCE-ATTACH", "unused"},
};

const char *hi_bio_band_name(enum hi_bio_band band)
{
	return band < HI_BIO_BANDS ? names[band].profile : "";
}

static bool is_band(const char *option, const char *name, size_t n)
{
	return strlen(option) == n && memcmp(option, name, n) == 0;
}

/* A mask; 0: there is none of that name. */
static uint32_t find_bands(const char *name, size_t n)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (is_band(names[band].option, name, n))
			return HI_BIO_BIT(band);
	return is_band("idle", name, n) ? HI_BIO_IDLE : 0;
}

enum hi_status hi_bio_bands_parse(const char *text, uint32_t *mask_ret,
				  struct hi_error *err)
{
	uint32_t mask = 0;
	size_t n;

	for (const char *name = text;; name += n + 1) {
		uint32_t bands;

		n = strcspn(name, ",");
		bands = find_bands(name, n);
		if (!bands)
			return hi_fail(
				err, HI_USAGE, 0,
				"\"%.*s\" is no band of a biography: use void, lag, "
				"use, inherent, drag, unused or idle (drag and unused)",
				n < 40 ? (int)n : 40, name);
		mask |= bands;
		if (!name[n])
			break;
	}
	*mask_ret = mask;
	return HI_OK;
}

/* ---- sets ---- */

#define VOID_ HI_BIO_BIT(HI_BIO_VOID)
#define LAG_ HI_BIO_BIT(HI_BIO_LAG)
#define USE_ HI_BIO_BIT(HI_BIO_USE)
#define DRAG_ HI_BIO_BIT(HI_BIO_DRAG)
#define UNUSED_ HI_BIO_BIT(HI_BIO_UNUSED)

/* The bands of hi_bio_uses_bands(). */
static const uint8_t set_masks[HI_BIO_SETS] = {
	VOID_,
	VOID_ | LAG_,
	VOID_ | LAG_ | USE_,
	VOID_ | LAG_ | USE_ | DRAG_,
	VOID_ | USE_ | DRAG_,
	VOID_ | USE_,
	VOID_ | DRAG_,
	LAG_,
	LAG_ | USE_,
	USE_,
	USE_ | DRAG_,
	DRAG_,
	HI_BIO_BIT(HI_BIO_INHERENT),
	UNUSED_,
	UNUSED_ | USE_,
	UNUSED_ | USE_ | DRAG_,
	UNUSED_ | DRAG_,
};

uint32_t hi_bio_set_mask(unsigned set)
{
	return set < HI_BIO_SETS ? set_masks[set] : 0;
}

unsigned hi_bio_set_find(uint32_t mask)
{
	unsigned set = 0;

	while (set < HI_BIO_SETS && set_masks[set] != mask)
		set++;
	return set;
}

/* ---- rows ---- */

static void add_to_amount(struct hi_bio_amount *sum, struct hi_bio_amount more)
{
	sum->bytes += more.bytes;
	sum->objects += more.objects;
}

static void add_to_bounds(struct hi_bio_bounds *sum, struct hi_bio_bounds more)
{
	sum->proved += more.proved;
	sum->possible += more.possible;
}

static bool has_sets(const struct hi_bio_row *row)
{
	uint64_t objects = 0;

	for (unsigned set = 0; set < HI_BIO_SETS; set++)
		objects += row->sets[set].objects;
	return objects == row->live.objects;
}

static struct hi_bio_sum sum_sets(const struct hi_bio_row *row, uint32_t mask)
{
	struct hi_bio_sum sum = {};

	for (unsigned set = 0; set < HI_BIO_SETS; set++) {
		const struct hi_bio_amount *in = &row->sets[set];

		if (!(set_masks[set] & mask))
			continue;
		sum.bytes.possible += in->bytes;
		sum.objects.possible += in->objects;
		if (set_masks[set] & ~mask)
			continue;
		sum.bytes.proved += in->bytes;
		sum.objects.proved += in->objects;
	}
	return sum;
}

void hi_bio_row_of_sets(struct hi_bio_row *row)
{
	row->live = (struct hi_bio_amount){};
	for (unsigned set = 0; set < HI_BIO_SETS; set++)
		add_to_amount(&row->live, row->sets[set]);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		struct hi_bio_sum sum = sum_sets(row, HI_BIO_BIT(band));

		row->bytes[band] = sum.bytes;
		row->objects[band] = sum.objects;
	}
}

void hi_bio_row_add(struct hi_bio_row *sum, const struct hi_bio_row *more)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		add_to_bounds(&sum->bytes[band], more->bytes[band]);
		add_to_bounds(&sum->objects[band], more->objects[band]);
	}
	for (unsigned set = 0; set < HI_BIO_SETS; set++)
		add_to_amount(&sum->sets[set], more->sets[set]);
	add_to_amount(&sum->live, more->live);
	add_to_amount(&sum->settled, more->settled);
}

static uint64_t subtract_to_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct hi_bio_bounds sum_bounds(const struct hi_bio_bounds *bands, uint64_t live,
				       uint32_t mask)
{
	struct hi_bio_bounds in = {}, out = {}, ret;

	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		struct hi_bio_bounds *sum = mask & HI_BIO_BIT(band) ? &in : &out;

		sum->proved += bands[band].proved;
		sum->possible += bands[band].possible;
	}
	ret.proved = subtract_to_zero(live, out.possible);
	ret.possible = subtract_to_zero(live, out.proved);
	if (ret.proved < in.proved)
		ret.proved = in.proved;
	if (ret.possible > in.possible)
		ret.possible = in.possible;
	return ret;
}

struct hi_bio_sum hi_bio_row_sum(const struct hi_bio_row *row, uint32_t mask)
{
	if (has_sets(row))
		return sum_sets(row, mask);
	return (struct hi_bio_sum){
		.bytes = sum_bounds(row->bytes, row->live.bytes, mask),
		.objects = sum_bounds(row->objects, row->live.objects, mask),
	};
}

void hi_bio_row_parts(const struct hi_bio_row *row, uint64_t ret[HI_BIO_PARTS])
{
	uint64_t not_used = hi_bio_row_sum(row, HI_BIO_NOT_USED).bytes.proved;
	uint64_t known = 0;

	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		ret[band] = row->bytes[band].proved;
		known += ret[band];
		if (HI_BIO_NOT_USED & HI_BIO_BIT(band))
			not_used = subtract_to_zero(not_used, ret[band]);
	}
	ret[HI_BIO_PART_NOT_USED] = not_used;
	ret[HI_BIO_PART_NOT_KNOWN] = subtract_to_zero(row->live.bytes, known + not_used);
}

const char *hi_bio_part_name(unsigned part)
{
	return part == HI_BIO_PART_NOT_USED    ? "NOT-USED"
	       : part == HI_BIO_PART_NOT_KNOWN ? "NOT-KNOWN"
					       : hi_bio_band_name((enum hi_bio_band)part);
}
