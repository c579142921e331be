/* SPDX-License-Identifier: BSD-2-Clause */
/* The units of a gate: what is printed, and whether both sides can be compared at all. */
#include "report/reports/check/gate.h"

/* What one value on the stack is. */
struct quantity {
	enum hi_gate_unit unit;
	bool per_census;
};

const char *hi_gate_unit_key(enum hi_gate_unit unit)
{
	static const char *const keys[] = {"number", "bytes", "objects", "fraction",
					   "ns"};

	return keys[unit];
}

static const char *name_of_unit(enum hi_gate_unit unit)
{
	static const char *const names[] = {"a number", "bytes", "objects", "a share (%)",
					    "a time"};

	return names[unit];
}

enum hi_gate_unit hi_gate_unit_of_metric(const struct hi_gate_metric *m)
{
	static const enum hi_gate_unit units[] = {
		[HI_GATE_BYTES] = HI_GATE_OF_BYTES,
		[HI_GATE_COUNT] = HI_GATE_OF_OBJECTS,
		[HI_GATE_RETAINED] = HI_GATE_OF_BYTES,
		[HI_GATE_ROOTS] = HI_GATE_OF_OBJECTS,
		[HI_GATE_PAUSE] = HI_GATE_NS,
		[HI_GATE_LIKELY] = HI_GATE_OF_BYTES,
	};

	return units[m->field];
}

/* False: they have no sum and no order. A number takes the unit of the other one. */
static bool match_quantities(struct quantity a, struct quantity b, struct quantity *ret)
{
	*ret = (struct quantity){a.unit == HI_GATE_PLAIN ? b.unit : a.unit,
				 a.per_census || b.per_census};
	return a.unit == b.unit || a.unit == HI_GATE_PLAIN || b.unit == HI_GATE_PLAIN;
}

static bool is_factor(struct quantity q)
{
	return q.unit == HI_GATE_PLAIN || q.unit == HI_GATE_SHARE;
}

static struct quantity multiply_quantities(struct quantity a, struct quantity b)
{
	bool per_census = a.per_census || b.per_census;

	if (a.unit == HI_GATE_PLAIN || (a.unit == HI_GATE_SHARE && !is_factor(b)))
		return (struct quantity){b.unit, per_census};
	return (struct quantity){is_factor(b) ? a.unit : HI_GATE_PLAIN, per_census};
}

static struct quantity divide_quantities(struct quantity a, struct quantity b)
{
	if (b.unit == a.unit && a.unit != HI_GATE_PLAIN)
		return (struct quantity){HI_GATE_SHARE, a.per_census && !b.per_census};
	return (struct quantity){is_factor(b) ? a.unit : HI_GATE_PLAIN,
				 a.per_census && !b.per_census};
}

static enum hi_status refuse_units(struct quantity a, struct quantity b,
				   struct hi_error *err)
{
	bool share = a.unit == HI_GATE_SHARE || b.unit == HI_GATE_SHARE;

	return hi_fail(err, HI_USAGE, 0,
		       "%s cannot be compared with %s, or added to it%s",
		       name_of_unit(b.unit), name_of_unit(a.unit),
		       share ? "; growth(METRIC) and METRIC / METRIC are shares" : "");
}

static bool apply_gate_units(enum hi_gate_op op, struct quantity *a, struct quantity b)
{
	if (op == HI_GATE_MULTIPLY)
		*a = multiply_quantities(*a, b);
	else if (op == HI_GATE_DIVIDE)
		*a = divide_quantities(*a, b);
	else
		return match_quantities(*a, b, a);
	return true;
}

enum hi_status hi_gate_find_unit(struct hi_gate *gate, size_t *column_ret,
				 struct hi_error *err)
{
	struct quantity stack[HI_GATE_STEPS], both, a;
	size_t n = 0;

	for (size_t i = 0; i < gate->n_steps; i++) {
		const struct hi_gate_step *step = &gate->steps[i];

		*column_ret = step->column;
		if (step->op == HI_GATE_PUSH) {
			stack[n++] = (struct quantity){step->unit, false};
		} else if (step->op == HI_GATE_METRIC) {
			stack[n++] =
				(struct quantity){hi_gate_unit_of_metric(&step->metric),
						  step->metric.slope};
		} else {
			a = stack[--n - 1];
			if (!apply_gate_units(step->op, &stack[n - 1], stack[n]))
				return refuse_units(a, stack[n], err);
		}
	}
	*column_ret = gate->steps[gate->n_left].column;
	if (!match_quantities(stack[0], stack[1], &both))
		return refuse_units(stack[0], stack[1], err);
	gate->unit = both.unit;
	gate->per_census = both.per_census;
	return HI_OK;
}
