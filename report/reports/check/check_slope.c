/* SPDX-License-Identifier: BSD-2-Clause */
/* The slope of a metric over the censuses of a file: least squares, and how sure it is.
 */
#include <math.h>

#include "report/reports/check/check_report.h"

/* Student's t for 95 % on both sides, by degrees of freedom. Between the last ones the
 * larger value is taken. */
static double student_t(size_t freedom)
{
	static const double values[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
					2.306,	2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
					2.131,	2.120, 2.110, 2.101, 2.093, 2.086};
	enum { VALUES = sizeof(values) / sizeof(*values) };

	if (freedom <= VALUES)
		return values[freedom - 1];
	return freedom < 30 ? values[VALUES - 1] : 2.042;
}

void hi_check_slope_fit(const double *values, size_t n, struct hi_check_slope *ret)
{
	double middle = (double)(n - 1) / 2, mean = 0, xx = 0, xy = 0, rest = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double x = (double)i - middle;

		xx += x * x;
		xy += x * (values[i] - mean);
	}
	ret->slope = xy / xx;
	for (size_t i = 0; i < n; i++) {
		double off = values[i] - mean - ret->slope * ((double)i - middle);

		rest += off * off;
	}
	/* What rounding leaves of a straight line is no noise. */
	if (rest <= 1e-18 * (double)n * (1 + mean * mean))
		rest = 0;
	ret->margin = student_t(n - 2) * sqrt(rest / (double)(n - 2) / xx);
	ret->n = n;
	ret->first = values[0];
	ret->last = values[n - 1];
}
