/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/stack.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/svg.h"

enum hi_status hi_stack_begin(struct hi_stack *ret, const double *times, size_t n,
			      struct hi_error *err)
{
	*ret = (struct hi_stack){.times = times,
				 .n_times = n,
				 .most = 1,
				 .totals = hi_calloc(n + 2, sizeof(*ret->totals)),
				 .drawn = hi_calloc(n + 2, sizeof(*ret->drawn)),
				 .below = hi_calloc(n + 2, sizeof(*ret->below))};
	if (!ret->totals || !ret->drawn || !ret->below) {
		hi_stack_free(ret);
		return hi_fail_memory(err, "picture");
	}
	hi_stack_range(ret, times[0], times[n - 1]);
	return HI_OK;
}

void hi_stack_free(struct hi_stack *s)
{
	free(s->totals);
	free(s->drawn);
	free(s->below);
	*s = (struct hi_stack){};
}

void hi_stack_add(struct hi_stack *s, const double *values)
{
	for (size_t i = 0; i < s->n_times; i++)
		s->totals[i] += values[i];
}

void hi_stack_choose(struct hi_stack *s, size_t most)
{
	size_t n = s->n_times, few = (n + most - 1) / most;

	s->n_drawn = 0;
	if (n == 1)
		s->drawn[s->n_drawn++] = 0;
	for (size_t i = 0; i < n; i += few) {
		size_t best = i;

		for (size_t k = i + 1; i && k < n && k < i + few; k++)
			if (s->totals[k] > s->totals[best])
				best = k;
		s->drawn[s->n_drawn++] = best;
	}
	if (s->drawn[s->n_drawn - 1] != n - 1)
		s->drawn[s->n_drawn++] = n - 1;
}

void hi_stack_range(struct hi_stack *s, double from, double to)
{
	s->is_instant = !(to > from);
	s->from = s->is_instant ? from - 0.5 : from;
	s->to = s->is_instant ? to + 0.5 : to;
}

double hi_stack_x(const struct hi_stack *s, double time)
{
	return s->left + (time - s->from) / (s->to - s->from) * (s->right - s->left);
}

double hi_stack_y(const struct hi_stack *s, double value)
{
	return s->bottom - value / s->most * (s->bottom - s->top);
}

/* Where no time passes, the bands fill the width: else nothing would be seen. */
static double x_of_drawn(const struct hi_stack *s, size_t i)
{
	if (!s->is_instant)
		return hi_stack_x(s, s->times[s->drawn[i]]);
	return i == 0 ? s->left : s->right;
}

void hi_stack_outline(struct hi_stack *s, const double *values, FILE *out)
{
	for (size_t i = 0; i < s->n_drawn; i++)
		hi_svg_point(out, i ? 'L' : 'M', x_of_drawn(s, i),
			     hi_stack_y(s, s->below[i]));
	for (size_t i = s->n_drawn; i-- > 0;) {
		s->below[i] += values[s->drawn[i]];
		hi_svg_point(out, 'L', x_of_drawn(s, i), hi_stack_y(s, s->below[i]));
	}
	putc('Z', out);
}

bool hi_stack_tick(const struct hi_stack *s, unsigned most, unsigned i, double *time,
		   char text[40])
{
	double step = hi_svg_step(s->to - s->from, most, false, false);

	*time = s->is_instant ? s->times[0] : (ceil(s->from / step - 1e-9) + i) * step;
	hi_svg_tick(text, *time, step);
	/* Bounded: one more for rounding. */
	return s->is_instant ? i == 0 : i <= most + 1 && *time <= s->to + step * 1e-6;
}
