/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of any bytes, of which calls and their arguments are looked for. Results that
 * arguments are made of are those of calls that were found.
 */
#include <stdlib.h>

#include "decode/sites/code_calls.h"
#include "decode/sites/site_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096 };

static void check_call(const struct hi_code_calls *calls, const struct hi_code_call *call)
{
	struct hi_site_function does;

	for (unsigned i = 0; i < HI_CODE_ARGUMENTS; i++) {
		const struct hi_code_value *v = &call->arguments[i];

		if (v->kind == HI_VALUE_RESULT && v->index >= calls->count)
			abort();
		if (v->kind == HI_VALUE_PARAMETER && v->index >= HI_CODE_ARGUMENTS)
			abort();
	}
	if (!hi_site_function_named("calloc", &does))
		abort();
	(void)hi_site_function_size(&does, call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hi_code_decoder *decoder = NULL;
	struct hi_code_steps steps = {};
	struct hi_code_calls calls = {};
	struct hi_error err;

	if (hi_code_decoder_open(&decoder, &err) != HI_OK)
		return 0;
	if (hi_code_steps_read(decoder, data, size, 0x401000, MOST, &steps) &&
	    hi_code_calls_find(&steps, &calls, &err) == HI_OK)
		for (size_t i = 0; i < calls.count; i++)
			check_call(&calls, &calls.items[i]);
	hi_vector_free(&calls);
	hi_vector_free(&steps);
	hi_code_decoder_close(decoder);
	return 0;
}
