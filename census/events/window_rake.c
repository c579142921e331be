/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/window_rake.h"

#include <math.h>

/* Sums over the shares that are trusted, or over those that are not. */
static struct hi_bounded sum_shares(const struct hi_window_share *shares, size_t n,
				    bool is_trusted)
{
	struct hi_bounded sum = {};

	for (size_t i = 0; i < n; i++) {
		if (shares[i].is_trusted != is_trusted)
			continue;
		sum.value += shares[i].found.value;
		sum.low += shares[i].found.low;
		sum.high += shares[i].found.high;
	}
	return sum;
}

double hi_window_low(const struct hi_bounded *found, double gone)
{
	double chance = found->value - found->low;

	return fmax(found->value - sqrt(chance * chance + gone * gone), 0);
}

static void bound_trusted(double truth, double factor, struct hi_window_share *share)
{
	struct hi_bounded *found = &share->found;

	found->low = fmax(hi_window_low(found, share->gone), share->least);
	found->value *= factor;
	found->high = fmin(found->high, truth);
	found->low = fmin(found->low, found->value);
	if (found->high < found->value)
		found->high = found->value;
}

static void bound_untrusted(double left, double most, double factor,
			    struct hi_window_share *share)
{
	struct hi_bounded *found = &share->found;

	found->value = fmin(found->value * factor, left);
	found->high = fmin(found->high, most);
	found->low = fmin(share->least, most);
	if (found->value < found->low)
		found->value = found->low;
	if (found->high < found->value)
		found->high = found->value;
}

/* Is more trusted than there is? Then some of these blocks are gone, after all. */
static bool is_too_much_trusted(double truth, const struct hi_window_share *shares,
				size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += shares[i].is_trusted ? shares[i].found.low : 0;
	return sum > truth;
}

void hi_window_rake(double truth, struct hi_window_share *shares, size_t n)
{
	bool is_trusting = !is_too_much_trusted(truth, shares, n);
	struct hi_bounded trusted, others;
	double factor, left, most, their_factor;

	for (size_t i = 0; i < n; i++)
		shares[i].is_trusted &= is_trusting;
	trusted = sum_shares(shares, n, true);
	others = sum_shares(shares, n, false);
	factor = trusted.value > truth ? truth / trusted.value : 1;
	left = fmax(truth - trusted.value, 0);
	for (size_t i = 0; i < n; i++)
		if (shares[i].is_trusted)
			bound_trusted(truth, factor, &shares[i]);
	most = fmax(truth - sum_shares(shares, n, true).low, 0);
	their_factor = others.value > left && others.value > 0 ? left / others.value : 1;
	for (size_t i = 0; i < n; i++)
		if (!shares[i].is_trusted)
			bound_untrusted(left, most, their_factor, &shares[i]);
}
