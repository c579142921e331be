/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C expressions of any text over the types of tests/support/expression_sample.h: what is
 * compiled is run, and an error has a column in the text. The first byte: bit 0, as an
 * lvalue; bit 1, without `this`.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/expression_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const struct hi_code *code)
{
	uint64_t offset, stride, value;

	(void)hi_code_type(code);
	(void)hi_code_is_static(code, &offset, &stride);
	(void)hi_code_is_constant(code, &value);
	(void)hi_code_context_keys(code);
	(void)hi_code_run(code, &sample_input, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_started;
	const struct hi_code *code = NULL;
	struct hi_scope scope;
	struct hi_error err = {};
	size_t column = 0;

	if (size < 1)
		return 0;
	if (!is_started)
		sample_start();
	is_started = true;
	scope = sample_scope(data[0] & 2 ? 0 : sample_type);
	if (hi_code_compile((const char *)data + 1, size - 1, &scope, data[0] & 1,
			    &sample_arena, &code, &column, &err) == HI_OK)
		run(code);
	else if (column > size - 1 || !*err.text)
		abort();
	hi_arena_free(&sample_arena);
	return 0;
}
