/* SPDX-License-Identifier: BSD-2-Clause */
/* A process, a core of it and snapshot files give the same answer to every question. */
#include "tests/harness.h"
#include "tests/support/answers.h"
#include "tests/support/python.h"

#define MORE(...)                                                                        \
	.more = (const struct question[]){__VA_ARGS__},                                  \
	.n_more =                                                                        \
		sizeof((const struct question[]){__VA_ARGS__}) / sizeof(struct question)

/* Uses arenas of another allocator, where it is installed: ld.so goes on without it. */
HI_TEST_SCENARIO(same_answers, all_questions_of_c_with_leaks_agree)
{
	answers_check(&(struct answer_target){
		.program = "/usr/bin/env",
		.arguments = {"LD_PRELOAD=libjemalloc.so.2",
			      HI_FIXTURE_DIR "/leak_shapes", "cyclic", "5"},
		.type = "struct item",
		.retainer = "struct item",
		.expression = "live",
		.root = "r=live",
		.lacks = QUESTION_OF_COUNTS,
		.first = 0,
		.one_of = 1,
		MORE({.words = {"explain", "@leak", "--json"}}),
	});
}

#define ROOT(expression)                                                                 \
	{                                                                                \
		.words = { "roots", "--json", "--root", "a=" expression }                \
	}

HI_TEST_SCENARIO(same_answers, all_questions_of_containers_agree)
{
	answers_check(&(struct answer_target){
		.program = "mixed_heap",
		.arguments = {"/dev/null", "400"},
		.type = "leaf",
		.retainer = "shop::*",
		.expression = "the_shop",
		.root = "r=the_shop",
		.lacks = QUESTION_OF_COUNTS | QUESTION_OF_GROUPS,
		.first = 1,
		.one_of = 3,
		MORE(ROOT("service"), ROOT("service->index"), ROOT("service->registry"),
		     ROOT("service->texts"), ROOT("service->values[0]"),
		     ROOT("the_shop->orders"), ROOT("the_shop->map"),
		     {.words = {"waste", "--json", "--all"}}),
	});
}

HI_TEST_SCENARIO(same_answers, all_questions_of_waste_in_mappings_agree)
{
	answers_check(&(struct answer_target){
		.program = "waste_heap",
		.type = "struct holder",
		.retainer = "struct holder",
		.expression = "holders",
		.root = "r=holders",
		.lacks = QUESTION_OF_COUNTS,
		.first = 2,
		.one_of = 2,
		MORE({.words = {"waste", "--json", "--all"}},
		     {.words = {"waste", "--json", "--type", "char*", "--all"}},
		     {.words = {"waste", "--json", "--min-size", "10KiB", "--all"}},
		     {.words = {"waste", "--json", "--root", "c=colors", "--root",
				"h=holders", "--under", "c", "--under", "h", "--type",
				"struct color"}}),
	});
}

HI_TEST_SCENARIO(same_answers, all_questions_without_debug_information_agree)
{
	answers_check(&(struct answer_target){
		.program = "symbols_only",
		.type = "*",
		.retainer = "global",
		.expression = "app::the_registry",
		.lacks = QUESTION_OF_COUNTS | QUESTION_OF_GROUPS,
		.first = 1,
		.one_of = 1,
	});
}

/* Has its collector off, so that nothing changes. */
HI_TEST_SCENARIO(same_answers, all_questions_of_python_agree)
{
	answers_check(&(struct answer_target){
		.program = "/usr/bin/env",
		.arguments = {"PYTHONPATH=" HI_FIXTURE_DIR "/python",
			      "PYTHONDONTWRITEBYTECODE=1", PYTHON,
			      HI_SOURCE_DIR "/fixtures/python/rubbish.py"},
		.type = "dict",
		.retainer = "type",
		.expression = "_PyRuntime",
		.first = 0,
		.one_of = 8,
		MORE({.words = {"explain", "@leak", "--json"}}),
	});
}
