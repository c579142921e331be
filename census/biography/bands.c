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

/* HI_BIO_BANDS: there is none of that name. */
static unsigned find_band(const char *name, size_t n)
{
	unsigned band;

	for (band = 0; band < HI_BIO_BANDS; band++)
		if (strlen(names[band].option) == n &&
		    memcmp(names[band].option, name, n) == 0)
			break;
	return band;
}

enum hi_status hi_bio_bands_parse(const char *text, uint32_t *mask_ret,
				  struct hi_error *err)
{
	uint32_t mask = 0;
	size_t n;

	for (const char *name = text;; name += n + 1) {
		unsigned band;

		n = strcspn(name, ",");
		band = find_band(name, n);
		if (band == HI_BIO_BANDS)
			return hi_fail(
				err, HI_USAGE, 0,
				"\"%.*s\" is no band of a biography: use void, lag, "
				"use, inherent, drag or unused",
				n < 40 ? (int)n : 40, name);
		mask |= HI_BIO_BIT(band);
		if (!name[n])
			break;
	}
	*mask_ret = mask;
	return HI_OK;
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
	return (struct hi_bio_sum){
		.bytes = sum_bounds(row->bytes, row->live.bytes, mask),
		.objects = sum_bounds(row->objects, row->live.objects, mask),
	};
}
