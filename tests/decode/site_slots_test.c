/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls through memory where the loader writes the address of a function of the same
 * module, as Rust calls its allocator. */
#include <stdio.h>
#include <string.h>

#include "decode/sites/alloc_sites_find.h"
#include "decode/sites/module_calls.h"
#include "tests/harness.h"
#include "tests/support/inspected.h"
#include "tests/support/workshop.h"

/*
 * Two functions call `must` through its slot, one at its end, and one calls it directly.
 * Slots with another address lead nowhere: within the function, and of data.
 */
static const char slots_source[] =
	"#include <stdio.h>\n#include <stdlib.h>\n"
	"__attribute__((noipa)) void *must(size_t n)\n"
	"{\n\tvoid *p = malloc(n);\n\tif (!p)\n\t\tabort();\n\treturn p;\n}\n"
	"int data;\n"
	"#define F(name, code) \".globl \" name \"\\n.type \" name \",@function\\n\" \\\n"
	"\tname \":\\n\" code \".size \" name \",.-\" name \"\\n\"\n"
	"__asm__(\".pushsection .data.rel.ro,\\\"aw\\\",@progbits\\n.balign 8\\n\"\n"
	"\t\".globl must_slot, inner_slot, data_slot\\n\"\n"
	"\t\"must_slot: .quad must\\ninner_slot: .quad must + 1\\n\"\n"
	"\t\"data_slot: .quad data\\n.popsection\\n.text\\n\"\n"
	/* call *must_slot(%rip) as bytes, so that no linker makes it direct */
	"\tF(\"by_slot\", \"mov $72,%edi\\n.byte 0xff,0x15\\n\"\n"
	"\t\t\".long must_slot - . - 4\\nret\\n\")\n"
	"\tF(\"at_its_end\", \"mov $136,%edi\\n.byte 0xff,0x25\\n\"\n"
	"\t\t\".long must_slot - . - 4\\n\")\n"
	"\tF(\"directly\", \"mov $200,%edi\\ncall must\\nret\\n\")\n"
	"\tF(\"into_it\", \"mov $264,%edi\\n.byte 0xff,0x15\\n\"\n"
	"\t\t\".long inner_slot - . - 4\\nret\\n\")\n"
	"\tF(\"of_data\", \"mov $328,%edi\\n.byte 0xff,0x15\\n\"\n"
	"\t\t\".long data_slot - . - 4\\nret\\n\"));\n";

static struct hi_error err;

static struct inspected *open_slots(void)
{
	char text[4096];

	workshop_open();
	snprintf(text, sizeof(text), "%s%s", slots_source, workshop_main);
	workshop_write("slots.c", text);
	workshop_run("cc -O1 -fPIE -pie -o slots slots.c");
	return inspected_open(workshop_start("slots"), NULL);
}

static uint64_t address_named(struct inspected *p, const char *name)
{
	uint64_t addr = 0, size;

	HI_ASSERT_OK(hi_modules_symbol(p->modules, hi_modules_executable(p->modules),
				       name, &addr, &size, &err),
		     &err);
	return addr;
}

static bool is_caller(const struct hi_module_calls *m, const struct hi_direct_call *calls,
		      size_t n, const char *name)
{
	bool ret = false;

	for (size_t i = 0; i < n; i++)
		ret |= strcmp(m->functions.items[calls[i].caller].symbol, name) == 0;
	return ret;
}

HI_TEST_SCENARIO(site_slots, slots_of_own_functions_lead_to_them)
{
	struct inspected *p = open_slots();
	uint64_t must = address_named(p, "must");
	const struct hi_direct_call *calls;
	struct hi_module_calls m;
	size_t n = 0;

	HI_ASSERT_OK(hi_module_calls_read(hi_modules_executable(p->modules), &m, &err),
		     &err);
	HI_ASSERT_EQ(must, hi_module_calls_target(&m, address_named(p, "must_slot")));
	HI_ASSERT_EQ(0, hi_module_calls_target(&m, address_named(p, "inner_slot")));
	HI_ASSERT_EQ(0, hi_module_calls_target(&m, address_named(p, "data_slot")));
	HI_ASSERT_STREQ("must", hi_module_calls_symbol(&m, must));
	calls = hi_module_calls_of(&m, must, &n);
	HI_ASSERT_EQ(3, n);
	HI_ASSERT(is_caller(&m, calls, n, "by_slot"));
	HI_ASSERT(is_caller(&m, calls, n, "at_its_end"));
	HI_ASSERT(is_caller(&m, calls, n, "directly"));
	hi_module_calls_free(&m);
}

/* Returns the size that a function allocates; 0: it has no site. */
static uint64_t size_of_site(const struct hi_alloc_sites *sites, const char *function)
{
	for (size_t i = 0; i < sites->count; i++)
		if (strcmp(sites->items[i].function, function) == 0)
			return sites->items[i].kind == HI_ALLOC_OF_SIZE
				       ? sites->items[i].size
				       : UINT64_MAX;
	return 0;
}

HI_TEST_SCENARIO(site_slots, calls_through_them_allocate)
{
	struct inspected *p = open_slots();
	HI_GUARD(hi_alloc_sites_destroy) struct hi_alloc_sites *sites = NULL;

	HI_ASSERT_OK(hi_alloc_sites_find(p->modules, p->types, &sites, &err), &err);
	HI_ASSERT_EQ(72, size_of_site(sites, "by_slot"));
	HI_ASSERT_EQ(136, size_of_site(sites, "at_its_end"));
	HI_ASSERT_EQ(200, size_of_site(sites, "directly"));
	HI_ASSERT_EQ(0, size_of_site(sites, "into_it"));
	HI_ASSERT_EQ(0, size_of_site(sites, "of_data"));
}
