/* SPDX-License-Identifier: BSD-2-Clause */
/* Heap profiles as others write them, cut them and break them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/heap_profile/hp_key.h"
#include "report/heap_profile/hp_names.h"
#include "report/heap_profile/hp_reader.h"
#include "report/pictures/graph_svg.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define SAMPLE(time, body) "BEGIN_SAMPLE " time "\n" body "END_SAMPLE " time "\n"

static struct hi_hp_series *parse(const char *text)
{
	struct hi_hp_series *s = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_parse(text, strlen(text), &s, &err), &err);
	hi_test_defer(hi_hp_series_destroy, s);
	return s;
}

/* A band's value in a sample; 0 if it is not in it. */
static uint64_t value_of(const struct hi_hp_series *s, size_t sample, const char *band)
{
	for (size_t i = s->starts[sample]; i < s->starts[sample + 1]; i++)
		if (strcmp(s->bands[s->points[i].band], band) == 0)
			return s->points[i].value;
	return 0;
}

HI_TEST(report_hp_reader, a_file_of_ghc_is_read_whole)
{
	struct hi_hp_series *s = parse("JOB \"Ids +RTS -hr \"\"-i0\"\"\"\n"
				       "DATE \"Sat Nov 21 09:20 2026\"\n"
				       "SAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n"
				       "BEGIN_SAMPLE 0.000000\nEND_SAMPLE 0.000000\n"
				       "BEGIN_SAMPLE 0.000218\n(3)alpha\t35920\n"
				       "(2)SYSTEM\t104\nEND_SAMPLE 0.000218\n"
				       "MARK 0.25\nBEGIN_SAMPLE 1.5\n(2)SYSTEM\t7\n"
				       "END_SAMPLE 1.5\n");

	HI_ASSERT_STREQ("Ids +RTS -hr \"-i0\"", s->job);
	HI_ASSERT_STREQ("Sat Nov 21 09:20 2026", s->date);
	HI_ASSERT_STREQ("seconds", s->sample_unit);
	HI_ASSERT_STREQ("bytes", s->value_unit);
	HI_ASSERT_EQ(3, s->n_samples);
	HI_ASSERT_EQ(2, s->n_bands);
	HI_ASSERT_EQ(0, s->starts[1] - s->starts[0]);
	HI_ASSERT_EQ(35920, value_of(s, 1, "(3)alpha"));
	HI_ASSERT_EQ(104, value_of(s, 1, "(2)SYSTEM"));
	HI_ASSERT_EQ(7, value_of(s, 2, "(2)SYSTEM"));
	HI_ASSERT_EQ(218, s->times[1] * 1e6 + 0.5);
	HI_ASSERT_EQ(1, s->n_marks);
	HI_ASSERT(s->marks[0] * 4 == 1.0);
	HI_ASSERT(!s->truncated);
}

HI_TEST(report_hp_reader, what_readers_tolerate_is_tolerated)
{
	struct hi_hp_series *s = parse("NEW_WORD \"x\"\r\n\r\n"
				       "BEGIN_SAMPLE 1\r\n"
				       "  struct node\t12\r\n"
				       "old 3\n"
				       "twice\t5\ntwice\t6\n"
				       "12\t1\n"
				       "\"q\"\t18446744073709551615\n"
				       "\"q\"\t1\n"
				       "END_SAMPLE 1\nBEGIN_SAMPLE 2\nold\t1\n"
				       "old\t2\nEND_SAMPLE 2");

	HI_ASSERT_STREQ("", s->job);
	HI_ASSERT_EQ(2, s->n_samples);
	HI_ASSERT_EQ(3, value_of(s, 1, "old"));
	HI_ASSERT_EQ(1, s->starts[2] - s->starts[1]);
	HI_ASSERT_EQ(12, value_of(s, 0, "struct node"));
	HI_ASSERT_EQ(3, value_of(s, 0, "old"));
	HI_ASSERT_EQ(11, value_of(s, 0, "twice"));
	HI_ASSERT_EQ(1, value_of(s, 0, "12"));
	HI_ASSERT(value_of(s, 0, "\"q\"") == UINT64_MAX);
	HI_ASSERT(!s->truncated);
}

HI_TEST(report_hp_reader, what_is_wrong_is_refused_with_its_line)
{
	static const struct {
		const char *text, *line, *word;
	} cases[] = {
		{"BEGIN_SAMPLE 0,500000\nEND_SAMPLE 0,500000\n",
		 "line 1:", "decimal comma"},
		{"\nBEGIN_SAMPLE 0.5\nEND_SAMPLE 0,5\n", "line 3:", "decimal comma"},
		{"BEGIN_SAMPLE 0.5\nEND_SAMPLE 0.5\nMARK 1,0\n",
		 "line 3:", "decimal comma"},
		{SAMPLE("2.0", "") SAMPLE("1.0", ""), "line 3:", "before"},
		{"BEGIN_SAMPLE 1.0\nBEGIN_SAMPLE 2.0\n", "line 2:", "within a sample"},
		{"END_SAMPLE 1.0\n", "line 1:", "without BEGIN"},
		{"BEGIN_SAMPLE 2.0\nEND_SAMPLE 1.0\n", "line 2:", "ends before"},
		{SAMPLE("1.0", "") "a\t1\n", "line 3:", "outside"},
		{"BEGIN_SAMPLE 1.0\na\t-1\n", "line 2:", "whole number"},
		{"BEGIN_SAMPLE 1.0\na\t1.5\n", "line 2:", "whole number"},
		{"BEGIN_SAMPLE 1.0\na\t18446744073709551616\n",
		 "line 2:", "whole number"},
		{"BEGIN_SAMPLE 1.0\na\n", "line 2:", "whole number"},
		{"BEGIN_SAMPLE 1.0\n\t5\n", "line 2:", "whole number"},
		{"BEGIN_SAMPLE -1.0\n", "line 1:", "no time"},
		{"BEGIN_SAMPLE nan\n", "line 1:", "no time"},
		{"BEGIN_SAMPLE 1e5\n", "line 1:", "no time"},
		{"BEGIN_SAMPLE 9999999999999999\n", "line 1:", "no time"},
		{"BEGIN_SAMPLE .\n", "line 1:", "no time"},
		{"", "", "no complete sample"},
		{"hello\n", "line 1:", "outside"},
		{"BEGIN_SAMPLE 1.0\na\t1\n", "", "no complete sample"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hi_hp_series *s = NULL;
		struct hi_error err = {};
		enum hi_status status =
			hi_hp_parse(cases[i].text, strlen(cases[i].text), &s, &err);

		HI_ASSERT_MSG(status == HI_BAD_DATA, "%zu: %s", i,
			      hi_status_text(status));
		HI_ASSERT(s == NULL);
		HI_ASSERT_MSG(strncmp(err.text, cases[i].line, strlen(cases[i].line)) ==
				      0,
			      "%zu: %s", i, err.text);
		HI_ASSERT_MSG(strstr(err.text, cases[i].word) != NULL, "%zu: %s", i,
			      err.text);
	}
}

/* A byte of the first of ten samples is another one; nine are left, with what they have.
 */
HI_TEST(report_hp_reader, a_damaged_sample_is_left_out)
{
	static const struct {
		const char *sample, *damage;
	} cases[] = {
		{"BEGIN_SAMPLE 0.0\nalpha\t1x\nbeta\t2\nEND_SAMPLE 0.0\n", "line 2: "},
		{"BEGIN_SAMPLE 0.0\nalpha\t1\nbeta\t2\nEND_SAMPLE 0,0\n", "line 4: "},
		{"BEGIN_SAMPLE 0.0\nalpha\t1\nbeta\t2\n", "line 4: "},
		{"BEGIN_SAMPLE 0.0\nal\001pha\t1\nEND_SAMPLE 0.0\n",
		 "line 2: a NUL byte"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct hi_hp_series *s = NULL;
		struct hi_error err = {};
		size_t size = strlen(cases[i].sample);

		memcpy(text, cases[i].sample, size);
		for (size_t k = 0; k < size; k++)
			text[k] = text[k] == 1 ? 0 : text[k];
		for (int k = 1; k < 10; k++)
			size += (size_t)sprintf(text + size,
						"BEGIN_SAMPLE %d.0\nalpha\t%d\n"
						"END_SAMPLE %d.0\n",
						k, k, k);
		HI_ASSERT_OK(hi_hp_parse(text, size, &s, &err), &err);
		HI_ASSERT_EQ(9, s->n_samples);
		HI_ASSERT_EQ(1, s->n_damaged);
		HI_ASSERT_MSG(
			strncmp(s->damage, cases[i].damage, strlen(cases[i].damage)) == 0,
			"%zu: %s", i, s->damage);
		for (size_t k = 0; k < 9; k++) {
			HI_ASSERT_EQ(k + 1, value_of(s, k, "alpha"));
			HI_ASSERT_EQ(1, s->starts[k + 1] - s->starts[k]);
		}
		hi_hp_series_destroy(s);
	}
}

/* Whole samples in the first n bytes: ends of END_SAMPLE lines, the last one's
 * newline not needed. */
static size_t count_ends(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i + 19 <= n; i++)
		count += memcmp(text + i, "\nEND_SAMPLE ", 12) == 0;
	return count;
}

HI_TEST(report_hp_reader, cut_anywhere_it_reads_what_is_complete)
{
	char text[2048] = "JOB \"x\"\n";
	size_t size;

	for (int i = 0; i < 9; i++)
		sprintf(text + strlen(text),
			"BEGIN_SAMPLE %d.25001\nalpha\t%d\nbeta x\t12\n"
			"END_SAMPLE %d.25001\n%s",
			i, i * 100 + 1, i, i == 4 ? "MARK 4.5\n" : "");
	size = strlen(text);
	for (size_t n = 0; n <= size; n++) {
		struct hi_hp_series *s = NULL;
		struct hi_error err = {};
		char *copy = malloc(n ? n : 1); /* its end is watched by sanitizers */
		size_t whole = count_ends(text, n);
		enum hi_status status;

		HI_ASSERT(copy != NULL);
		memcpy(copy, text, n);
		status = hi_hp_parse(copy, n, &s, &err);
		free(copy);
		if (status != HI_OK) {
			HI_ASSERT_MSG(whole == 0, "%zu: %s", n, err.text);
			continue;
		}
		HI_ASSERT_EQ(whole, s->n_samples);
		for (size_t i = 0; i < whole; i++) {
			HI_ASSERT_EQ(i * 100 + 1, value_of(s, i, "alpha"));
			HI_ASSERT_EQ(12, value_of(s, i, "beta x"));
		}
		HI_ASSERT(n < size || !s->truncated);
		HI_ASSERT(text[n - 1] == '\n' || s->truncated || s->n_samples == whole);
		hi_hp_series_destroy(s);
	}
	/* A crash may leave zeros behind. */
	HI_ASSERT(parse(text)->n_samples == 9);
	{
		struct hi_hp_series *s = NULL;
		struct hi_error err = {};

		HI_ASSERT_OK(hi_hp_parse(text, sizeof(text), &s, &err), &err);
		HI_ASSERT(s->n_samples == 9 && s->truncated);
		hi_hp_series_destroy(s);
	}
}

static uint64_t random_state = 88172645463325252u;

static void check_invariants(const struct hi_hp_series *s)
{
	HI_ASSERT(s->n_samples > 0 && s->starts[0] == 0);
	for (size_t i = 0; i < s->n_samples; i++) {
		HI_ASSERT(s->starts[i] <= s->starts[i + 1]);
		HI_ASSERT(i == 0 || s->times[i] >= s->times[i - 1]);
		for (size_t k = s->starts[i]; k < s->starts[i + 1]; k++) {
			HI_ASSERT(s->points[k].band < s->n_bands);
			for (size_t j = s->starts[i]; j < k; j++)
				HI_ASSERT(s->points[j].band != s->points[k].band);
		}
	}
}

static void draw(const struct hi_hp_series *s, FILE *out)
{
	struct hi_bands_options options = {.min_share = 0.01,
					   .limit = 1 + random_below(&random_state, 6),
					   .sort = random_below(&random_state, 4)};
	struct hi_bands *bands = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_bands_create(s, &options, &bands, &err), &err);
	HI_ASSERT_OK(hi_graph_svg_write(bands, out, &err), &err);
	hi_bands_destroy(bands);
}

HI_TEST(report_hp_reader, mutated_files_never_crash_it_nor_the_graph)
{
	static const char seed[] =
		"JOB \"x\"\nDATE \"y\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n"
		"BEGIN_SAMPLE 0.5\na\t100\nb\t200\nstruct_node\t3\nEND_SAMPLE 0.5\n"
		"MARK 0.75\nBEGIN_SAMPLE 1.5\na\t300\nc\t1\nEND_SAMPLE 1.5\n"
		"BEGIN_SAMPLE 2.25\nb\t5\nEND_SAMPLE 2.25\n";
	static const char pieces[] = "0123456789.,\t\n\r \"\\(<&>_AM\xc3\xff";
	FILE *out = fopen("/dev/null", "w");
	size_t read = 0;

	HI_ASSERT(out != NULL);
	for (int round = 0; round < 20000; round++) {
		size_t n = sizeof(seed) - 1;
		char *text = malloc(n);
		struct hi_hp_series *s = NULL;
		struct hi_error err = {};

		HI_ASSERT(text != NULL);
		memcpy(text, seed, n);
		for (uint64_t k = random_below(&random_state, 5); k < 4; k++)
			text[random_below(&random_state, n)] =
				random_below(&random_state, 2)
					? pieces[random_below(&random_state,
							      sizeof(pieces))]
					: (char)random_below(&random_state, 256);
		if (random_below(&random_state, 4) == 0)
			n = random_below(&random_state, n + 1);
		if (hi_hp_parse(text, n, &s, &err) == HI_OK) {
			read++;
			check_invariants(s);
			draw(s, out);
		} else {
			HI_ASSERT(err.text[0]);
		}
		hi_hp_series_destroy(s);
		free(text);
	}
	fclose(out);
	hi_test_note("%zu of 20000 were read", read);
	HI_ASSERT(read > 2000 && read < 19000);
}

HI_TEST(report_hp_reader, mutated_keys_never_crash_it)
{
	static const char seed[] =
		"Key of a heap profile\nJOB \"x\"\"y\"\nDATE \"d\"\n\n"
		"SET 1 = {<a>}\nNAME n2 = b\nSET 34 = {}\nMARK 0.5 x\n";
	static const char *const labels[] = {"(1)a", "(n2)b", "(34)", "(9)",
					     "(n",   "",      "x"};
	struct hi_hp_series *s = parse("JOB \"x\"\"y\"\nDATE \"d\"\n" SAMPLE("1.0", ""));
	size_t read = 0, found = 0;

	for (int round = 0; round < 20000; round++) {
		size_t n = sizeof(seed) - 1 -
			   (round && random_below(&random_state, 2)
				    ? random_below(&random_state, 40)
				    : 0);
		char *text = malloc(n);
		struct hi_hp_key *key = NULL;
		struct hi_error err = {};

		HI_ASSERT(text != NULL);
		memcpy(text, seed, n);
		for (uint64_t k = random_below(&random_state, 4); k < 4 && round; k++)
			text[random_below(&random_state, n)] =
				(char)random_below(&random_state, 256);
		if (hi_hp_key_parse(text, n, s, &key, &err) == HI_OK)
			read++;
		free(text);
		for (size_t i = 0; key && i < sizeof(labels) / sizeof(labels[0]); i++)
			found += hi_hp_key_find(key, labels[i]) != NULL;
		if (round == 0) {
			HI_ASSERT_STREQ("{<a>}", hi_hp_key_find(key, "(1)a"));
			HI_ASSERT_STREQ("b", hi_hp_key_find(key, "(n2)whatever"));
			HI_ASSERT(hi_hp_key_find(key, "(2)b") == NULL);
			HI_ASSERT(hi_hp_key_find(key, "(1") == NULL);
		}
		hi_hp_key_destroy(key);
	}
	HI_ASSERT(read > 1000 && found > read && read < 19000);
}

HI_TEST(report_hp_reader, names_whose_hashes_collide_stay_apart)
{
	struct hi_hp_names names = {};
	char text[16];

	/* A chain by hand: two names with one first entry. */
	HI_ASSERT_EQ(0, hi_hp_names_add(&names, "a", 1));
	HI_ASSERT_EQ(1, hi_hp_names_add(&names, "b", 1));
	names.next.items[0] = 1;
	for (size_t i = 0; i < names.first.capacity; i++)
		names.first.slots[i].value = 0;
	HI_ASSERT_EQ(0, hi_hp_names_find(&names, "a", 1));
	HI_ASSERT_EQ(1, hi_hp_names_find(&names, "b", 1));
	HI_ASSERT(hi_hp_names_find(&names, "aa", 2) == HI_HP_NO_NAME);
	HI_ASSERT(hi_hp_names_find(&names, "", 0) == HI_HP_NO_NAME);
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		HI_ASSERT_EQ(i + 2, hi_hp_names_add(&names, text, strlen(text)));
	}
	HI_ASSERT_EQ(402, hi_hp_names_find(&names, "name 400", 8));
	hi_hp_names_free(&names);
}

HI_TEST(report_hp_reader, an_allocation_that_fails_is_told)
{
	static const char text[] =
		"JOB \"x\"\n" SAMPLE("1.0", "a\t1\nb\t2\n") "MARK 1.0\n";
	bool done = false;

	for (uint64_t n = 1; !done && n < 200; n++) {
		struct hi_hp_series *s = NULL;
		struct hi_bands *bands = NULL;
		struct hi_bands_options options = {.min_share = 0.01};
		struct hi_error err = {};
		FILE *out = fopen("/dev/null", "w");
		enum hi_status status;

		hi_alloc_fail_at(n);
		status = hi_hp_parse(text, sizeof(text) - 1, &s, &err);
		if (status == HI_OK)
			status = hi_bands_create(s, &options, &bands, &err);
		if (status == HI_OK)
			status = hi_graph_svg_write(bands, out, &err);
		hi_alloc_fail_at(0);
		done = status == HI_OK;
		HI_ASSERT(done || status == HI_NO_MEMORY);
		HI_ASSERT(!done || n > 10);
		hi_bands_destroy(bands);
		hi_hp_series_destroy(s);
		fclose(out);
	}
	HI_ASSERT(done);
}
