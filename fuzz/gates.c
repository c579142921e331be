/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small languages of the command line, of any text: gates, places to stop at, functions
 * that allocate, sizes and durations. The first byte is which. An error has a column in
 * the text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/parse.h"
#include "probes/events/call_spec.h"
#include "report/reports/check/gate.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static bool give_value(void *arg, const struct hi_gate_metric *metric, double *ret)
{
	unsigned *n = arg;

	expect(metric->name && metric->text);
	*ret = (double)++*n * 1000;
	return *n % 4 != 3;
}

static void evaluate(const struct hi_gate *gate)
{
	unsigned n = 0;
	struct hi_gate_result result = hi_gate_evaluate(gate, give_value, &n);

	expect(gate->n_left <= gate->n_steps && gate->n_steps <= HI_GATE_STEPS);
	expect(gate->left_length <= strlen(gate->text));
	expect(result.n_values <= HI_GATE_VALUES);
	expect(hi_gate_order_text(gate->order) && hi_gate_unit_key(gate->unit));
}

static void parse_gate(const char *text)
{
	struct hi_arena arena = {};
	struct hi_error err = {};
	struct hi_gate gate;
	size_t column = 0;

	if (hi_gate_parse(text, &arena, &gate, &column, &err) == HI_OK)
		evaluate(&gate);
	else
		expect(column <= strlen(text) && *err.text);
	hi_arena_free(&arena);
}

static void parse_spec(const char *text, bool is_free)
{
	struct hi_call_spec spec;
	struct hi_error err = {};
	size_t column = 0;

	if ((is_free ? hi_free_spec_parse(text, &spec, &column, &err)
		     : hi_call_spec_parse(text, &spec, &column, &err)) == HI_OK)
		expect(spec.does.size <= HI_BPF_ARGUMENTS &&
		       spec.does.count <= HI_BPF_ARGUMENTS &&
		       spec.does.block <= HI_BPF_ARGUMENTS &&
		       spec.does.result <= HI_BPF_RETURNED);
	else
		expect(column <= strlen(text) && *err.text);
}

static void parse_safepoint(const char *text)
{
	struct hi_safepoint safepoint;
	struct hi_error err = {};

	if (hi_safepoint_parse(text, &safepoint, &err) == HI_OK)
		expect(memchr(safepoint.name, 0, sizeof(safepoint.name)) &&
		       memchr(safepoint.detail, 0, sizeof(safepoint.detail)));
	else
		expect(*err.text);
}

static void parse_numbers(const char *text)
{
	uint64_t n;

	if (hi_parse_duration(text, &n))
		expect(n != 0);
	(void)hi_parse_size(text, &n);
	if (hi_parse_number(text, 5, 5000, &n))
		expect(n >= 5 && n <= 5000);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text || size < 1) {
		free(text);
		return 0;
	}
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	switch (data[0] % 5) {
	case 0:
		parse_gate(text);
		break;
	case 1:
	case 2:
		parse_spec(text, data[0] % 5 == 2);
		break;
	case 3:
		parse_safepoint(text);
		break;
	default:
		parse_numbers(text);
		break;
	}
	free(text);
	return 0;
}
