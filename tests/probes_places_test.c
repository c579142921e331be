/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a safepoint is in a running target. */
#include "tests/harness.h"
#include "tests/support/probed.h"

static void expect_place(struct probed *p, const char *at, uint64_t addr)
{
	const struct hi_probe_places *places = probed_find(p, at);

	HI_ASSERT_MSG(places->count == 1, "%s: %zu places", at, places->count);
	HI_ASSERT_MSG(places->items[0].address == addr, "%s at %#lx, not %#lx", at,
		      (unsigned long)places->items[0].address, (unsigned long)addr);
}

HI_TEST_SCENARIO(probe_places, are_the_first_cheap_instruction_that_every_entry_reaches)
{
	struct probed *p = probed_start();

	/* By hand from the assembly of the fixture: mov 3 bytes, test 3 bytes. */
	expect_place(p, "asm_mov_then_push", probed_function(p, "asm_mov_then_push") + 6);
	/* The loop would hit it five times a call. */
	expect_place(p, "asm_loop", probed_function(p, "asm_loop"));
	expect_place(p, "asm_push", probed_function(p, "asm_push"));
	expect_place(p, "probe_places:asm_push", probed_function(p, "asm_push"));
	expect_place(p, "asm_clobber", probed_function(p, "asm_clobber") + 5);
}

HI_TEST_SCENARIO(probe_places, say_instruction_and_function)
{
	struct probed *p = probed_start();
	const struct hi_probe_place *place = probed_find(p, "asm_mov_then_push")->items;

	HI_ASSERT_STREQ("asm_mov_then_push", place->function);
	HI_ASSERT_EQ(6, place->into_function);
	HI_ASSERT_STREQ("pushq %rbx", place->instruction);
	HI_ASSERT(!place->single_stepped);
	HI_ASSERT(probed_find(p, "asm_loop")->items->single_stepped);
}

HI_TEST_SCENARIO(probe_places, that_do_not_exist_name_their_neighbours)
{
	struct probed *p = probed_start();

	probed_find_nothing(p, "stepped_frist", "stepped_first");
	probed_find_nothing(p, "no_such_function_anywhere_at_all", "no function");
	probed_find_nothing(p, "nomodule:asm_push", "no module nomodule");
	probed_find_nothing(p, "usdt:probes_fixture:plane", "plain");
	probed_find_nothing(p, "usdt:nobody:nothing", "no USDT probe nobody:nothing");
	probed_find_nothing(p, "libc:strlen", "ifunc");
}
