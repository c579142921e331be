/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs with an allocator and the shim in front of it, and their stop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/types/types.h"
#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/stopping.h"

enum { MAX_ARGUMENTS = 32 };

/* argv of exec is not const for old reasons. */
static char *as_argument(const char *text)
{
	return (char *)(uintptr_t)text;
}

struct hi_fixture *allocator_run_start(const struct allocator_run *run)
{
	const char *program = run->program ? run->program : "allocator_churn";
	const char *shim = run->shim ? run->shim : "liballocator_shim.so";
	char path[512], room[64], preload[1024], env[] = "env",
						 *argv[MAX_ARGUMENTS] = {env, room};
	size_t n = 2;

	snprintf(room, sizeof(room), "ALLOCATOR_SHIM_BLOCKS=%zu", run->room);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s%s%s %s",
		 *shim ? HI_FIXTURE_DIR : "", *shim ? "/" : "", shim,
		 run->preload ? run->preload : "");
	snprintf(path, sizeof(path), "%s%s%s", strchr(program, '/') ? "" : HI_FIXTURE_DIR,
		 strchr(program, '/') ? "" : "/", program);
	if (*shim || run->preload)
		argv[n++] = preload;
	for (size_t i = 0; i < 8 && run->environment[i]; i++)
		argv[n++] = as_argument(run->environment[i]);
	argv[n++] = path;
	for (size_t i = 0; i < 8 && run->arguments[i]; i++)
		argv[n++] = as_argument(run->arguments[i]);
	return hi_fixture_startv("/usr/bin/env", argv);
}

struct hi_fixture *allocator_churn_start(const struct allocator_run *run)
{
	struct hi_fixture *fx = allocator_run_start(run);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

void allocator_churn_tell(struct hi_fixture *fx, const char *line, const char *answer)
{
	hi_fixture_tell(fx, line);
	hi_fixture_read_until(fx, answer, NULL, NULL);
}

/* As an inspection does after the pause: was a thread really inside? */
static void recheck_threads(struct hi_image *image, const struct hi_range *text, size_t n)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_modules *modules = NULL;
	struct hi_types *types = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	if (hi_types_open(modules, &types, &err) == HI_OK)
		HI_ASSERT_OK(hi_allocator_recheck_threads(image, types, text, n, &err),
			     &err);
	hi_types_close(types);
	hi_modules_close(modules);
}

void allocator_truth_stop(pid_t pid, const struct allocator_run *run,
			  enum hi_snapshot_request snapshot,
			  struct allocator_figures *figures)
{
	struct hi_stop_options stop = {.snapshot = snapshot,
				       .max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_range *text = NULL;
	struct hi_error err;
	size_t n = 0;

	HI_ASSERT_OK(hi_target_open(pid, &target, &err), &err);
	HI_ASSERT_OK(hi_allocator_text(target, &text, &n, &err), &err);
	HI_ASSERT_MSG(n > 0, "no allocator's text was found");
	stop.avoid = text;
	stop.n_avoid = n;
	HI_ASSERT_OK(hi_stop_and_copy(target, &stop, &image, &err), &err);
	if (image->stats.threads_in_allocator)
		recheck_threads(image, text, n);
	if (image->stats.pause_ns > figures->slowest_pause_ns)
		figures->slowest_pause_ns = image->stats.pause_ns;
	if (image->stats.threads_in_allocator)
		figures->inside++;
	else
		allocator_truth_compare(image, run, figures);
	hi_image_destroy(image);
	hi_target_close(target);
	free(text);
}
