/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap profile of GHC (FILE.hp) of any text, and after a line "----" its key
 * (FILE.prof): samples in order, each with its bands once.
 */
#include <stdlib.h>
#include <string.h>

#include "report/heap_profile/hp_key.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char mark[] = "\n----\n";

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_series(const struct hi_hp_series *s)
{
	expect(s->n_samples && s->n_samples <= HI_HP_MAX_SAMPLES &&
	       s->n_bands <= HI_HP_MAX_BANDS);
	for (size_t i = 0; i < s->n_samples; i++) {
		expect(!i || s->times[i - 1] <= s->times[i]);
		expect(s->starts[i] <= s->starts[i + 1]);
	}
	for (size_t i = 0; i < s->starts[s->n_samples]; i++)
		expect(s->points[i].band < s->n_bands);
}

static void read_key(const struct hi_hp_series *s, const char *text, size_t size)
{
	struct hi_hp_key *key = NULL;
	struct hi_error err;

	if (hi_hp_key_parse(text, size, s, &key, &err) == HI_OK) {
		for (size_t i = 0; i < s->n_bands; i++)
			(void)hi_hp_key_find(key, s->bands[i]);
		for (size_t i = 0; i < s->n_marks; i++)
			expect(hi_hp_key_mark(key, i) != NULL);
	}
	hi_hp_key_destroy(key);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const char *text = (const char *)data;
	const char *key = size ? memmem(text, size, mark, strlen(mark)) : NULL;
	size_t n = key ? (size_t)(key - text) + 1 : size;
	struct hi_hp_series *series = NULL;
	struct hi_error err = {};

	if (hi_hp_parse(text, n, &series, &err) == HI_OK) {
		check_series(series);
		if (key)
			read_key(series, key + strlen(mark),
				 size - (size_t)(key - text) - strlen(mark));
	} else {
		expect(*err.text);
	}
	hi_hp_series_destroy(series);
	return 0;
}
