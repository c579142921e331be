/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/check/gate.h"

#include <math.h>
#include <string.h>

struct stack {
	double items[HI_GATE_STEPS];
	size_t n;
};

static void apply_gate_operator(struct stack *s, enum hi_gate_op op)
{
	double b = s->items[--s->n], *a = &s->items[s->n - 1];

	switch (op) {
	case HI_GATE_ADD:
		*a += b;
		return;
	case HI_GATE_SUBTRACT:
		*a -= b;
		return;
	case HI_GATE_MULTIPLY:
		*a *= b;
		return;
	case HI_GATE_DIVIDE:
		*a /= b;
		return;
	case HI_GATE_PUSH:
	case HI_GATE_METRIC:
	default:
		return;
	}
}

static bool compare_gate_values(enum hi_gate_order order, double a, double b)
{
	switch (order) {
	case HI_GATE_GREATER:
		return a > b;
	case HI_GATE_AT_LEAST:
		return a >= b;
	case HI_GATE_LESS:
		return a < b;
	case HI_GATE_AT_MOST:
		return a <= b;
	case HI_GATE_EQUAL:
		return !(a < b) && !(a > b);
	case HI_GATE_UNEQUAL:
	default:
		return a < b || a > b;
	}
}

static void keep_gate_value(struct hi_gate_result *r, const struct hi_gate_metric *m,
			    double value)
{
	for (size_t i = 0; i < r->n_values; i++)
		if (strcmp(r->values[i].metric->text, m->text) == 0)
			return;
	if (r->n_values == HI_GATE_VALUES)
		return;
	r->values[r->n_values].metric = m;
	r->values[r->n_values++].value = value;
}

struct hi_gate_result hi_gate_evaluate(const struct hi_gate *gate,
				       hi_gate_value_fn *value, void *arg)
{
	struct hi_gate_result r = {.is_known = true};
	struct stack s = {};

	for (size_t i = 0; i < gate->n_steps; i++) {
		double number = gate->steps[i].number;

		if (gate->steps[i].op == HI_GATE_METRIC &&
		    !value(arg, &gate->steps[i].metric, &number)) {
			r.is_known = false;
			r.unknown = &gate->steps[i].metric;
			return r;
		}
		if (gate->steps[i].op == HI_GATE_METRIC)
			keep_gate_value(&r, &gate->steps[i].metric, number);
		if (gate->steps[i].op == HI_GATE_PUSH ||
		    gate->steps[i].op == HI_GATE_METRIC)
			s.items[s.n++] = number;
		else
			apply_gate_operator(&s, gate->steps[i].op);
	}
	r.left = s.items[0];
	r.right = s.items[1];
	/* Growth from nothing to nothing: none. */
	if (isnan(r.left))
		r.left = 0;
	if (isnan(r.right))
		r.right = 0;
	r.is_true = compare_gate_values(gate->order, r.left, r.right);
	return r;
}

bool hi_gate_is_named(const struct hi_gate_metric *m)
{
	return m->subject == HI_GATE_TYPE || m->subject == HI_GATE_MODULE ||
	       m->subject == HI_GATE_ROOT || (m->subject == HI_GATE_SURVIVED && *m->name);
}

const char *hi_gate_order_text(enum hi_gate_order order)
{
	static const char *const texts[] = {">", ">=", "<", "<=", "==", "!="};

	return texts[order];
}
