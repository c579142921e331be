/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/inspected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/stop.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

static struct hi_error inspected_err;

static void close_inspected(struct inspected *p)
{
	hi_types_close(p->types);
	hi_modules_close(p->modules);
	free(p);
}

struct inspected *inspected_image(struct hi_image *image,
				  const struct hi_modules_options *options)
{
	const struct hi_modules_options none = {.cache_dir = ""};
	struct inspected *p = calloc(1, sizeof(*p));

	HI_ASSERT(p);
	p->image = image;
	hi_test_defer(close_inspected, p);
	HI_ASSERT_OK(hi_modules_open(image, options ? options : &none, &p->modules,
				     &inspected_err),
		     &inspected_err);
	HI_ASSERT_OK(hi_types_open(p->modules, &p->types, &inspected_err),
		     &inspected_err);
	return p;
}

struct inspected *inspected_open(pid_t pid, const struct hi_modules_options *options)
{
	/* What is tested here is not how fast. */
	struct hi_stop_options stop = {.max_pause_ns = 40000000000ull};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	enum hi_status status;

	HI_ASSERT_OK(hi_target_open(pid, &target, &inspected_err), &inspected_err);
	status = hi_stop_and_copy(target, &stop, &image, &inspected_err);
	hi_target_close(target);
	HI_ASSERT_OK(status, &inspected_err);
	hi_test_defer(hi_image_destroy, image);
	return inspected_image(image, options);
}

static void add_truth(const char *line, void *arg)
{
	struct truths *truths = arg;
	struct truth *truth = &truths->items[truths->count];
	const char *space = strchr(line, ' '), *at;

	if (!space || truths->count == 256)
		return;
	snprintf(truth->kind, sizeof(truth->kind), "%.*s", (int)(space - line), line);
	for (at = space + 1; at && truth->parts < 4;) {
		const char *bar = strchr(at, '|');

		snprintf(truth->part[truth->parts++], sizeof(truth->part[0]), "%.*s",
			 bar ? (int)(bar - at) : 127, at);
		at = bar ? bar + 1 : NULL;
	}
	truths->count++;
}

struct truths *truths_read(struct hi_fixture *fx)
{
	struct truths *truths = calloc(1, sizeof(*truths));

	HI_ASSERT(truths);
	hi_test_defer(free, truths);
	hi_fixture_read_until(fx, "ready", add_truth, truths);
	HI_ASSERT(truths->count > 0);
	return truths;
}
