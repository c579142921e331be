/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/plot.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/svg.h"

enum hi_status hi_plot_begin(struct hi_plot *ret, const double *times, size_t n,
			     struct hi_error *err)
{
	*ret = (struct hi_plot){.times = times,
				.n_times = n,
				.most = 1,
				.totals = hi_calloc(n + 2, sizeof(*ret->totals)),
				.drawn = hi_calloc(n + 2, sizeof(*ret->drawn)),
				.below = hi_calloc(n + 2, sizeof(*ret->below))};
	if (!ret->totals || !ret->drawn || !ret->below) {
		hi_plot_free(ret);
		return hi_fail_memory(err, "picture");
	}
	hi_plot_range(ret, times[0], times[n - 1]);
	return HI_OK;
}

void hi_plot_free(struct hi_plot *p)
{
	free(p->totals);
	free(p->drawn);
	free(p->below);
	*p = (struct hi_plot){};
}

void hi_plot_add(struct hi_plot *p, const double *values)
{
	for (size_t i = 0; i < p->n_times; i++)
		p->totals[i] += values[i];
}

void hi_plot_choose(struct hi_plot *p, size_t most)
{
	size_t n = p->n_times, few = (n + most - 1) / most;

	p->n_drawn = 0;
	if (n == 1)
		p->drawn[p->n_drawn++] = 0;
	for (size_t i = 0; i < n; i += few) {
		size_t best = i;

		for (size_t k = i + 1; i && k < n && k < i + few; k++)
			if (p->totals[k] > p->totals[best])
				best = k;
		p->drawn[p->n_drawn++] = best;
	}
	if (p->drawn[p->n_drawn - 1] != n - 1)
		p->drawn[p->n_drawn++] = n - 1;
}

void hi_plot_range(struct hi_plot *p, double from, double to)
{
	p->is_instant = !(to > from);
	p->from = p->is_instant ? from - 0.5 : from;
	p->to = p->is_instant ? to + 0.5 : to;
}

double hi_plot_x(const struct hi_plot *p, double time)
{
	return p->left + (time - p->from) / (p->to - p->from) * (p->right - p->left);
}

double hi_plot_y(const struct hi_plot *p, double value)
{
	return p->bottom - value / p->most * (p->bottom - p->top);
}

/* If no time passes, the bands fill the width: else nothing would be seen. */
static double x_of_drawn(const struct hi_plot *p, size_t i)
{
	if (!p->is_instant)
		return hi_plot_x(p, p->times[p->drawn[i]]);
	return i == 0 ? p->left : p->right;
}

void hi_plot_outline(struct hi_plot *p, const double *values, FILE *out)
{
	for (size_t i = 0; i < p->n_drawn; i++)
		hi_svg_point(out, i ? 'L' : 'M', x_of_drawn(p, i),
			     hi_plot_y(p, p->below[i]));
	for (size_t i = p->n_drawn; i-- > 0;) {
		p->below[i] += values[p->drawn[i]];
		hi_svg_point(out, 'L', x_of_drawn(p, i), hi_plot_y(p, p->below[i]));
	}
	putc('Z', out);
}

bool hi_plot_tick(const struct hi_plot *p, unsigned most, unsigned i, double *time,
		  char text[40])
{
	double step = hi_svg_step(p->to - p->from, most, false, false);

	*time = p->is_instant ? p->times[0] : (ceil(p->from / step - 1e-9) + i) * step;
	hi_svg_tick(text, *time, step);
	/* Bounded: one more for rounding. */
	return p->is_instant ? i == 0 : i <= most + 1 && *time <= p->to + step * 1e-6;
}
