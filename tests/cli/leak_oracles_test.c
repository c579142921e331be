/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaks against two independent checkers: LeakSanitizer (a rebuilt program) and
 * valgrind (its own malloc). Addresses differ, the structure must not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

struct found {
	long long objects, cost, roots;
};

/* What heapinspect says of a running leak_shapes. */
static struct found inspect(const char *shape, const char *seed)
{
	struct target *t = target_start("leak_shapes", shape, seed, NULL);
	json_t *doc = target_ask(t, "--all");

	hi_fixture_end(t->fx);
	return (struct found){.objects = doc_number(doc, "leaks.objects"),
			      .cost = doc_number(doc, "leaks.bytes"),
			      .roots = doc_sum(doc_at(doc, "leaks.roots"), "count")};
}

/* What malloc(request) costs in glibc (malloc.c: request2size). */
static long long chunk_of(long long request)
{
	long long size = (request + 8 + 15) & ~15ll;

	return size < 32 ? 32 : size;
}

static long long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	char digits[32] = "";
	size_t n = 0;

	HI_ASSERT_MSG(at, "no \"%s\" in: %s", key, text);
	for (at += strlen(key); *at == ' ' || *at == ',' || (*at >= '0' && *at <= '9');
	     at++)
		if (*at != ',' && *at != ' ' && n < 31)
			digits[n++] = *at;
		else if (*at == ' ' && n)
			break;
	return atoll(digits);
}

HI_TEST_SCENARIO(leak_oracles, leak_sanitizer_finds_the_same_objects_and_bytes)
{
	const char *const seeds[] = {"1", "7", "23", "99"};

	for (int i = 0; i < 4; i++) {
		struct found ours = inspect("acyclic", seeds[i]);
		struct hi_command *c = hi_command_run(
			0, HI_FIXTURE_DIR "/leak_shapes_lsan", "acyclic", seeds[i], NULL);
		const char *line = c->err;
		long long objects = 0, cost = 0, bytes, n;
		char kind[16];

		while ((line = strstr(line, "leak of "))) {
			HI_ASSERT(sscanf(line, "leak of %lld byte(s) in %lld %15s",
					 &bytes, &n, kind) == 3);
			objects += n;
			HI_ASSERT_EQ(0, bytes % n); /* one size a call stack */
			cost += n * chunk_of(bytes / n);
			line++;
		}
		HI_ASSERT_EQ(objects, ours.objects);
		HI_ASSERT_EQ(cost, ours.cost);
	}
}

HI_TEST_SLOW(leak_oracles, valgrind_finds_the_same_objects_and_leak_roots)
{
	const char *const shapes[] = {"acyclic", "cyclic"};
	const char *const seeds[] = {"1", "7", "23"};

	for (int s = 0; s < 2; s++)
		for (int i = 0; i < 3; i++) {
			struct found ours = inspect(shapes[s], seeds[i]);
			struct hi_command *c = hi_command_run(
				0, "valgrind", "--leak-check=full",
				"--show-leak-kinds=all", HI_FIXTURE_DIR "/leak_shapes",
				shapes[s], seeds[i], NULL);
			const char *definitely = strstr(c->err, "definitely lost: ");
			const char *indirectly = strstr(c->err, "indirectly lost: ");

			HI_ASSERT_MSG(definitely && indirectly, "%s", c->err);
			HI_ASSERT_EQ(number_after(definitely, "bytes in ") +
					     number_after(indirectly, "bytes in "),
				     ours.objects);
			HI_ASSERT_EQ(number_after(definitely, "bytes in "), ours.roots);
		}
}
