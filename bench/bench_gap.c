/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target itself sees of a whole inspection (fixtures/gap_clock.c): the
 * longest gap in a loop that wakes up every millisecond and writes to its heap,
 * before, during and after; by copy, by fork, at a function, and by gcore. Beside
 * them the pause as heapinspect says it, and what the target's own fork() costs.
 *
 *	bench_gap [MIB]...
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.h"

enum { RUNS = 6, AROUND_US = 400000 };

struct gaps {
	uint64_t before[RUNS], during[RUNS], after[RUNS], said[RUNS], took[RUNS];
	const char *mode; /* as heapinspect says */
};

static const struct kind {
	const char *name, *options; /* NULL: gcore */
} kinds[] = {
	{"copy", "--snapshot copy"},
	{"fork", "--snapshot fork"},
	{"gcore", NULL},
};

/* The number behind "key": in a file of JSON; 0 if it is not there. */
static uint64_t number_in(const char *path, const char *key)
{
	char text[8192], word[64], *at;
	FILE *file = fopen(path, "r");

	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	snprintf(word, sizeof(word), "\"%s\":", key);
	at = strstr(text, word);
	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static const char *mode_in(const char *path)
{
	static char mode[16];
	char command[256];
	FILE *file;

	snprintf(command, sizeof(command),
		 "grep -o '\"mode\": *\"[a-z]*' %s | sed 's/.*\"//'", path);
	file = popen(command, "r");
	mode[0] = 0;
	if (file && fgets(mode, sizeof(mode), file))
		mode[strcspn(mode, "\n")] = 0;
	if (file)
		pclose(file);
	return mode;
}

static void inspect(const struct kind *kind, pid_t pid, const char *directory)
{
	char command[512];

	if (kind->options)
		snprintf(command, sizeof(command),
			 HI_BINARY_DIR "/heapinspect --pid %d --json --max-pause=60s %s "
				       "-o %s/json 2>%s/err",
			 (int)pid, kind->options, directory, directory);
	else
		snprintf(command, sizeof(command),
			 "gcore -o %s/core %d >/dev/null 2>&1; rm -f %s/core.%d",
			 directory, (int)pid, directory, (int)pid);
	if (system(command) != 0)
		fprintf(stderr, "%s has failed\n", command);
}

static void measure(struct bench_target *clock, const struct kind *kind,
		    const char *directory, struct gaps *ret)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/json", directory);
	for (int i = 0; i < RUNS; i++) {
		uint64_t start;

		(void)bench_target_ask(clock);
		usleep(AROUND_US);
		ret->before[i] = bench_target_ask(clock);
		start = bench_now_ns();
		inspect(kind, clock->pid, directory);
		ret->took[i] = bench_now_ns() - start;
		ret->during[i] = bench_target_ask(clock);
		usleep(AROUND_US);
		ret->after[i] = bench_target_ask(clock);
		ret->said[i] = kind->options ? number_in(path, "pause_ns") : 0;
	}
	ret->mode = kind->options ? mode_in(path) : "";
}

static double ms(uint64_t *values)
{
	return (double)bench_median(values, RUNS) / 1e6;
}

static uint64_t own_fork_ns(struct bench_target *clock)
{
	uint64_t times[RUNS];
	char line[64];

	for (int i = 0; i < RUNS; i++) {
		fputs("fork\n", clock->in);
		fflush(clock->in);
		if (!fgets(line, sizeof(line), clock->out))
			exit(2);
		times[i] = strtoull(line, NULL, 10);
	}
	return bench_median(times, RUNS);
}

static void bench(const char *mib, const char *directory)
{
	struct bench_target clock = bench_target_start("gap_clock", mib, NULL);

	printf("%s MiB; the target's own fork() takes %.2f ms\n", mib,
	       (double)own_fork_ns(&clock) / 1e6);
	printf("  %-8s %-6s %10s %10s %10s %10s %12s\n", "by", "mode", "before", "during",
	       "after", "as said", "whole run");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct gaps gaps;

		measure(&clock, &kinds[i], directory, &gaps);
		printf("  %-8s %-6s %7.2f ms %7.2f ms %7.2f ms %7.2f ms %9.2f ms\n",
		       kinds[i].name, gaps.mode, ms(gaps.before), ms(gaps.during),
		       ms(gaps.after), ms(gaps.said), ms(gaps.took));
		fflush(stdout);
	}
	bench_target_end(&clock);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"64", "256", "1024"};
	char directory[] = "/tmp/heapinspect-gap-XXXXXX", command[64];

	if (!mkdtemp(directory))
		return 2;
	for (int i = 1; i < argc; i++)
		bench(argv[i], directory);
	for (int i = 0; argc < 2 && i < 3; i++)
		bench(usual[i], directory);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command) != 0;
}
