/* SPDX-License-Identifier: BSD-2-Clause */
/* Thread-local blocks against the addresses that the program says. */
#include <stdio.h>
#include <stdlib.h>

#include "decode/frames/frames.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"

struct said {
	char kind[16], module[40];
	int tid;
	uint64_t size, address;
};

struct target {
	struct hi_image *image;
	struct hi_modules *modules;
	struct said said[64];
	size_t n;
};

static void close_target(struct target *t)
{
	hi_modules_close(t->modules);
	free(t);
}

static void note(const char *line, void *arg)
{
	struct target *t = arg;
	struct said *s = &t->said[t->n];

	HI_ASSERT(t->n < 64);
	HI_ASSERT_EQ(5, sscanf(line, "%15s %d %39s %lu %lx", s->kind, &s->tid, s->module,
			       &s->size, &s->address));
	t->n++;
}

static struct target *open_target(const char *fixture)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct target *t = calloc(1, sizeof(*t));
	struct hi_fixture *fx;
	struct hi_error err;

	HI_ASSERT(t);
	fx = hi_fixture_start(fixture, NULL);
	hi_fixture_read_until(fx, "ready", note, t);
	t->image = hi_live_image(fx->pid);
	hi_test_defer(close_target, t); /* before the image is destroyed */
	HI_ASSERT_OK(hi_modules_open(t->image, &options, &t->modules, &err), &err);
	return t;
}

static uint32_t thread_index(const struct target *t, int tid)
{
	for (uint32_t i = 0; i < t->image->n_threads; i++)
		if (t->image->threads[i].tid == tid)
			return i;
	hi_test_fail(__FILE__, __LINE__, "the image has no thread %d", tid);
}

static void check(struct target *t, const struct said *s)
{
	struct hi_module *module = hi_modules_named(t->modules, s->module);
	uint32_t thread = thread_index(t, s->tid);
	uint64_t start = 0, size = 0;
	struct hi_error err;

	HI_ASSERT_MSG(module, "no module %s", s->module);
	if (s->address == 0) {
		HI_ASSERT_STATUS(HI_NOT_FOUND, hi_tls_block(t->modules, t->image, module,
							    thread, &start, &size, &err));
		return;
	}
	HI_ASSERT_OK(
		hi_tls_block(t->modules, t->image, module, thread, &start, &size, &err),
		&err);
	if (s->kind[0] == 't') {
		HI_ASSERT_EQ(s->address, start);
		HI_ASSERT_EQ(s->size, size);
	} else {
		HI_ASSERT(start <= s->address && s->address - start < size);
	}
}

HI_TEST_SCENARIO(tls, blocks_of_program_library_and_opened_library_in_four_threads)
{
	struct target *t = open_target("frames_tls");

	HI_ASSERT_EQ(16, t->n);
	for (size_t i = 0; i < t->n; i++)
		check(t, &t->said[i]);
}

HI_TEST_SCENARIO(tls, modules_without_thread_locals_have_no_block)
{
	struct target *t = open_target("frames_tls");
	struct hi_module *module = hi_modules_named(t->modules, "ld-linux");
	uint64_t start, size;
	struct hi_error err;

	HI_ASSERT(module);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_tls_block(t->modules, t->image, module, 0,
						    &start, &size, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_tls_block(t->modules, t->image, module, 4,
						    &start, &size, &err));
}
