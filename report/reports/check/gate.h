/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gates: expressions that are true if a heap is too large. docs/GATES.md describes the
 * language.
 *
 *	live.bytes > 64MiB
 *	type("struct session").count > 1000
 *	live.bytes > 1.1 * baseline.live.bytes
 *	growth(leak.bytes) > 5%
 *	survived(type="struct session").bytes > 64KiB
 *	slope(type="struct session", count) > 0
 *
 * A gate is compiled once to steps of a stack machine. It knows nothing of heaps: a
 * callback returns the value of a metric.
 */
#ifndef HI_REPORT_REPORTS_CHECK_GATE_H
#define HI_REPORT_REPORTS_CHECK_GATE_H

#include "base/arena.h"
#include "base/error.h"

enum hi_gate_subject {
	HI_GATE_LIVE,
	HI_GATE_LEAK,  /* without garbage that a collector takes */
	HI_GATE_TOTAL, /* live and unreachable */
	HI_GATE_GARBAGE,
	HI_GATE_UNCOLLECTABLE,
	HI_GATE_LOST,
	HI_GATE_TYPE,
	HI_GATE_MODULE,
	HI_GATE_ROOT,
	HI_GATE_LEDGER,
	HI_GATE_SNAPSHOT,
	HI_GATE_SURVIVED, /* born between two heaps and still in a third */
};
enum hi_gate_field {
	HI_GATE_BYTES,
	HI_GATE_COUNT,	  /* objects */
	HI_GATE_RETAINED, /* bytes */
	HI_GATE_ROOTS,	  /* leak roots */
	HI_GATE_PAUSE,	  /* ns */
	HI_GATE_LIKELY,	  /* bytes of likely leaks */
};

struct hi_gate_metric {
	bool baseline; /* of the earlier heap */
	bool slope;    /* its slope over the censuses of a file */
	enum hi_gate_subject subject;
	enum hi_gate_field field;
	const char *name; /* of the type, module, root or row of the ledger; else "" */
	const char *text; /* "live.bytes", as printed */
};
/* Is it one of a type, a module or a variable? */
bool hi_gate_is_named(const struct hi_gate_metric *metric);

/* What the numbers of one side count. */
enum hi_gate_unit {
	HI_GATE_PLAIN, /* a number without a unit */
	HI_GATE_OF_BYTES,
	HI_GATE_OF_OBJECTS,
	HI_GATE_SHARE, /* a fraction: 0.1 is 10 % */
	HI_GATE_NS,
};
/* "bytes", "objects", "fraction", "ns", "number" */
const char *hi_gate_unit_key(enum hi_gate_unit unit);
enum hi_gate_unit hi_gate_unit_of_metric(const struct hi_gate_metric *metric);

enum hi_gate_op {
	HI_GATE_PUSH,
	HI_GATE_METRIC,
	HI_GATE_ADD,
	HI_GATE_SUBTRACT,
	HI_GATE_MULTIPLY,
	HI_GATE_DIVIDE,
};
enum hi_gate_order {
	HI_GATE_GREATER,
	HI_GATE_AT_LEAST,
	HI_GATE_LESS,
	HI_GATE_AT_MOST,
	HI_GATE_EQUAL,
	HI_GATE_UNEQUAL,
};

enum { HI_GATE_STEPS = 64, HI_GATE_DEPTH = 16 };
struct hi_gate_step {
	enum hi_gate_op op;
	double number;
	enum hi_gate_unit unit; /* of the number */
	struct hi_gate_metric metric;
	size_t column; /* in the text */
};
struct hi_gate {
	const char *text; /* as typed; borrowed */
	/* Of a budget file, borrowed: its name there ("" none), the file (NULL: of the
	 * command line) and the line, from 1. */
	const char *name, *file;
	unsigned line;
	struct hi_gate_step steps[HI_GATE_STEPS];
	size_t n_left, n_steps; /* of the left side; of both */
	size_t left_length;	/* of the left side in the text, without blanks */
	enum hi_gate_order order;
	enum hi_gate_unit unit; /* of both sides */
	bool per_census;	/* they are slopes */
	bool needs_baseline, needs_three, needs_series;
};

/* Compiles a gate. Names live in the arena. HI_USAGE: wrong at byte *column_ret of the
 * text. */
enum hi_status hi_gate_parse(const char *text, struct hi_arena *arena,
			     struct hi_gate *ret, size_t *column_ret,
			     struct hi_error *err);

/* Finds the unit of both sides. HI_USAGE: they cannot be compared, or added, as at byte
 * *column_ret of the text. hi_gate_parse() does this. */
enum hi_status hi_gate_find_unit(struct hi_gate *gate, size_t *column_ret,
				 struct hi_error *err);

/* Sets *ret to the value of the metric. False: it is unknown. */
typedef bool hi_gate_value_fn(void *arg, const struct hi_gate_metric *metric,
			      double *ret);
enum { HI_GATE_VALUES = 8 };
struct hi_gate_result {
	bool is_true, is_known;
	double left, right;
	const struct hi_gate_metric *unknown; /* where is_known is false; or NULL */
	/* Of its metrics, each once; the first few. */
	struct {
		const struct hi_gate_metric *metric;
		double value;
	} values[HI_GATE_VALUES];
	size_t n_values;
};
struct hi_gate_result hi_gate_evaluate(const struct hi_gate *gate,
				       hi_gate_value_fn *value, void *arg);
const char *hi_gate_order_text(enum hi_gate_order order); /* ">" */

#endif
