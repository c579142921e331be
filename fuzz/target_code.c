/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of a target: its seccomp filters, which are evaluated, functions of any bytes, in
 * which a place for a probe is chosen, and code in which two pieces are looked for. The
 * first byte is the kind, the second one an argument.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/gadgets.h"
#include "attach/seccomp_filter.h"
#include "probes/prologue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 16 };
static const uint64_t at = 0x401000;

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void run_filter(const uint8_t *data, size_t size)
{
	struct sock_filter *code = malloc(size + 1);
	struct seccomp_data call = {.nr = 231, .arch = 0xc000003e};

	if (!code)
		return;
	memcpy(code, data, size);
	(void)hi_seccomp_run(code, size / sizeof(*code), &call);
	free(code);
}

static bool is_part(void *arg, uint64_t target)
{
	(void)arg;
	return target & 1;
}

static void check_targets(const uint8_t *code, size_t size)
{
	uint64_t targets[PLACES];

	expect(hi_function_jumps_out(code, size, at, targets, PLACES) <= PLACES);
	expect(hi_function_calls(code, size, at, targets, PLACES) <= PLACES);
	expect(hi_function_operands(code, size, at, targets, PLACES) <= PLACES);
}

static void look_at_function(const uint8_t *code, size_t size, unsigned kept)
{
	struct hi_prologue_site site;
	uint64_t exits[PLACES];
	size_t n;

	hi_prologue_choose(code, size, at, kept, &site);
	expect(site.offset <= size && memchr(site.instruction, 0, 64));
	if (size) {
		hi_prologue_look(code, size, at, &site);
		expect(memchr(site.instruction, 0, 64) != NULL);
		(void)hi_instruction_is_emulated(code, size < 15 ? size : 15);
	}
	n = hi_function_exits(code, size, at, is_part, NULL, exits, PLACES);
	for (size_t i = 0; n <= PLACES && i < n; i++)
		expect(exits[i] < size && (!i || exits[i - 1] < exits[i]));
	check_targets(code, size);
}

static void look_for_pieces(const uint8_t *code, size_t size)
{
	struct hi_gadgets found = {};

	hi_gadgets_scan(&found, code, size, at, false);
	hi_gadgets_scan(&found, code, size, at, true);
	expect(found.n_calls <= HI_MAX_GADGETS && found.n_returns <= HI_MAX_GADGETS);
	for (size_t i = 0; i < found.n_calls; i++)
		expect(found.calls[i].addr - at < size);
	for (size_t i = 0; i < found.n_returns; i++)
		expect(found.returns[i].addr - at < size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	switch (data[0] % 3) {
	case 0:
		run_filter(data + 2, size - 2);
		break;
	case 1:
		look_at_function(data + 2, size - 2, data[1] & 0x7f);
		break;
	default:
		look_for_pieces(data + 2, size - 2);
		break;
	}
	return 0;
}
