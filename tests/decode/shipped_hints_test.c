/* SPDX-License-Identifier: BSD-2-Clause */
/* The hints that are compiled into the program are hints, and all of them are there. */
#include <string.h>

#include "base/arena.h"
#include "decode/rules/hints.h"
#include "decode/rules/rulebook.h"
#include "harness.h"

HI_TEST(shipped_hints, all_of_them_parse)
{
	static const char *const names[] = {
		"absl",	     "boost", "glib.",	   "glibc.", "libcxx",
		"libstdc++", "lua",   "memcached", "nginx",  "postgres",
		"protobuf",  "qt5",   "redis",	   "rust"};
	static struct hi_arena arena;
	size_t found = 0;

	hi_test_defer(hi_arena_free, &arena);
	for (const struct hi_shipped_hints *s = hi_shipped_hints; s->name; s++) {
		struct hi_hints *hints = NULL;
		struct hi_error err = {};

		HI_ASSERT_OK(
			hi_hints_parse(&arena, s->name, s->text, s->size, &hints, &err),
			&err);
		HI_ASSERT_MSG(hints->n_programs || hints->n_types || hints->containers,
			      "%s is for nothing", s->name);
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			found += !strncmp(names[i], s->name, strlen(names[i]));
	}
	HI_ASSERT_EQ(sizeof(names) / sizeof(*names), found);
}
