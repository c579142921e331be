/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzzer on its seeds, without libFuzzer:
 *	fuzz_replay NAME [FILE or FOLDER]…
 * on nothing, on each file, and on the beginnings of each. Prints the number of inputs.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FUZZER(name) int hi_fuzz_##name(const uint8_t *data, size_t size);
#include "fuzzers.inc"
#undef FUZZER

enum { LONGEST = 1 << 20, CUTS = 8 };

typedef int fuzz_fn(const uint8_t *data, size_t size);
static const struct fuzzer {
	const char *name;
	fuzz_fn *run;
} fuzzers[] = {
#define FUZZER(name) {#name, hi_fuzz_##name},
#include "fuzzers.inc"
};

static unsigned n_inputs;

/* In a block of its own, so that a read past its end is found. */
static void run_input(fuzz_fn *run, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	(void)run(copy, size);
	free(copy);
	n_inputs++;
}

static void run_file(fuzz_fn *run, const char *path)
{
	static uint8_t bytes[LONGEST];
	FILE *in = fopen(path, "rb");
	size_t size;

	if (!in) {
		perror(path);
		exit(1);
	}
	size = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	/* Longer ones are no seeds. */
	if (size == sizeof(bytes))
		return;
	for (size_t i = 1; i <= CUTS; i++)
		run_input(run, bytes, size * i / CUTS);
}

static void run_path(fuzz_fn *run, const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		run_file(run, path);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char inside[4096];

		snprintf(inside, sizeof(inside), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			run_file(run, inside);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	fuzz_fn *run = NULL;

	for (size_t i = 0; argc > 1 && i < sizeof(fuzzers) / sizeof(*fuzzers); i++)
		if (strcmp(fuzzers[i].name, argv[1]) == 0)
			run = fuzzers[i].run;
	if (!run) {
		fputs("usage: fuzz_replay NAME [FILE or FOLDER]...\n", stderr);
		return 2;
	}
	run_input(run, (const uint8_t *)"", 0);
	for (int i = 2; i < argc; i++)
		run_path(run, argv[i]);
	printf("%u inputs\n", n_inputs);
	return 0;
}
