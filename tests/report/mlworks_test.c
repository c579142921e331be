/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of the profiler of MLWorks: its own example (M1), and its units (M4). */
#include <stdio.h>
#include <stdlib.h>

#include "report/formats/mlworks.h"
#include "tests/harness.h"

enum { AGES = 5, TYPES = 9 };

/* Of the seed's example by type and age; other ages and types have nothing. */
static struct hi_space_amount amounts[TYPES][AGES] = {
	{{40085, 747144, 213232}, {194, 3112, 780}},
	{{52892, 423136, 0},
	 {25990, 207920, 0},
	 {2680, 21440, 0},
	 {316, 2528, 0},
	 {30, 240, 0}},
	{{416, 6656, 1664}, {8, 128, 32}},
};
static const char *const names[TYPES] = {"records", "pairs", "closures"};

/* A report of one function with so many types. */
static char *write_example(size_t n_types, uint32_t n_ages)
{
	char *text;
	struct hi_space_row rows[TYPES];
	struct hi_space_step steps[TYPES][AGES], all[TYPES * AGES];
	struct hi_alloc_type types[TYPES];
	struct hi_alloc_function f = {.name = "<case><Match0>",
				      .file = "/src/_toplevel",
				      .module = "/bin/main",
				      .types = types,
				      .n_types = n_types};
	struct hi_alloc_report report = {.memory = 28436256,
					 .n_lines = n_ages - 1,
					 .n_selected = 7011,
					 .functions = &f,
					 .n_functions = 1};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	for (size_t i = 0; i < n_types; i++) {
		for (uint32_t age = 0; age < n_ages; age++)
			steps[i][age] = (struct hi_space_step){age, amounts[i][age], {}};
		rows[i] = (struct hi_space_row){.n_steps = n_ages, .steps = steps[i]};
		types[i] = (struct hi_alloc_type){names[i] ? names[i] : "more", &rows[i]};
	}
	hi_space_sum_rows(rows, n_types, all, &f.all);
	report.total = f.all;
	hi_mlworks_write(&report, out);
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

HI_TEST(mlworks, m1_has_the_lines_of_the_seed)
{
	HI_ASSERT_STREQ(
		"MLWorks space profile\n"
		"28436256 bytes used for profiling\n"
		"4 collections\n"
		"functions profiled : 7011\n"
		"---\n"
		"       alloc      copied  name\n"
		"     1176936      235368  total profiled\n"
		"     1176936      235368  <case><Match0>[_toplevel]\n"
		"                  211160       21440        2528         240\n"
		"          gen            records       pairs    closures       total\n"
		"           0     no        40085       52892         416       93393\n"
		"               size       747144      423136        6656     1176936\n"
		"           overhead       213232           0        1664      214896\n"
		"           1     no          194       25990           8       26192\n"
		"               size         3112      207920         128      211160\n"
		"           overhead          780           0          32         812\n"
		"           2     no            0        2680           0        2680\n"
		"               size            0       21440           0       21440\n"
		"           overhead            0           0           0           0\n"
		"           3     no            0         316           0         316\n"
		"               size            0        2528           0        2528\n"
		"           overhead            0           0           0           0\n"
		"           4     no            0          30           0          30\n"
		"               size            0         240           0         240\n"
		"           overhead            0           0           0           0\n",
		write_example(3, AGES));
}

/* The ninth is added to the last column. */
HI_TEST(mlworks, more_than_eight_types_share_the_last_column)
{
	amounts[7][0] = (struct hi_space_amount){1, 16, 0};
	amounts[8][0] = (struct hi_space_amount){2, 48, 8};
	HI_ASSERT(strstr(write_example(8, 1), "        more        more       total\n"));
	HI_ASSERT(strstr(write_example(9, 1), "        more      others       total\n"));
	HI_ASSERT(strstr(write_example(9, 1),
			 "           0           0           3       93396\n"));
	HI_ASSERT(strstr(write_example(9, 1), "          64     1177000\n"));
	amounts[7][0] = amounts[8][0] = (struct hi_space_amount){};
}

HI_TEST(mlworks, names_of_columns_are_words_that_fit)
{
	static const struct {
		const char *type, *word;
	} words[] = {{"struct node", "        node"},
		     {"unsigned char", " unsigned_ch"},
		     {"std::map<int, int>", " std::map<in"},
		     {"", "     unknown"},
		     {"a\nb", "        a\\nb"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct hi_space_step one = {0, {1, 32, 0}, {}};
		struct hi_space_row row = {.n_steps = 1, .steps = &one};
		struct hi_alloc_type type = {words[i].type, &row};
		struct hi_alloc_function f = {.name = "f",
					      .file = "",
					      .module = "",
					      .all = row,
					      .types = &type,
					      .n_types = 1};
		struct hi_alloc_report report = {
			.total = row, .functions = &f, .n_functions = 1};
		char text[1024] = "", expected[64];
		FILE *out = fmemopen(text, sizeof(text), "w");

		hi_mlworks_write(&report, out);
		fclose(out);
		snprintf(expected, sizeof(expected),
			 "          gen       %s       total\n", words[i].word);
		HI_ASSERT_MSG(strstr(text, expected) != NULL, "no %s in %s", expected,
			      text);
		HI_ASSERT(strstr(text, "  f\n") != NULL);
	}
}

HI_TEST(mlworks, m4_units_change_above_ten_of_them)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} expected[] = {{0, "0 bytes"},
			{9424, "9424 bytes"},
			{10240, "10240 bytes"},
			{10241, "10.00 kbytes"},
			{210320, "205.39 kbytes"},
			{99362096, "94.76 Mbytes"},
			{6651782992, "6343.63 Mbytes"},
			{10ull << 30, "10240.00 Mbytes"},
			{11ull << 30, "11.00 Gbytes"}};
	char out[32];

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		HI_ASSERT_STREQ(expected[i].text,
				hi_mlworks_bytes(out, expected[i].bytes));
}
