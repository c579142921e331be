/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields that close cycles, as lines of a page. */
#include "report/parts/leak_cycle.h"
#include "tests/report/heap_pages.h"
#include "tests/support/golden.h"

static struct hi_leak_cycle cycle_by(enum hi_cycle_pointer pointer, const char *type,
				     const char *field)
{
	return (struct hi_leak_cycle){.type = type,
				      .field = field,
				      .back_type = "shop::Customer",
				      .back_field = "->cart",
				      .pointer = pointer,
				      .cycles = 557,
				      .objects = 2228,
				      .bytes = 511 << 10,
				      .address = 0x55d0c8a42210};
}

/* A field of each kind of pointer; the last one is hostile, alone, and leads on by no
 * field. */
HI_TEST(leak_cycle, names_the_field_and_what_would_free_the_objects)
{
	struct hi_leak_cycle rows[] = {
		cycle_by(HI_CYCLE_SHARED_PTR,
			 "std::_Sp_counted_ptr_inplace<shop::Cart, std::allocator<void>, "
			 "(__gnu_cxx::_Lock_policy)2>",
			 "->owner"),
		cycle_by(HI_CYCLE_RUST, "alloc::rc::RcBox<tree::Node>", "->value.parent"),
		cycle_by(HI_CYCLE_RUNTIME, "__main__.Cart", ".owner"),
		cycle_by(HI_CYCLE_PLAIN, "struct \x1b[31mnode", "->prev"),
	};
	struct hi_leak_cycles cycles = {.rows = rows, .n_rows = 4, .cycles = 4};
	struct hi_page *page = page_new();

	rows[3].cycles = 1;
	rows[3].back_field = "";
	hi_leak_cycles_show(&cycles, 4, page);
	HI_EXPECT_GOLDEN("leak-cycles-80", page_text(page, 80));
}
