/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One program on each allocator: its leaks are those that LeakSanitizer finds, and a
 * core or a snapshot of it says the same as the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/temporary.h"

static const struct library {
	const char *name;
	/* tcmalloc's first MallocExtension: nothing leads to it when another has taken
	 * its place. */
	long long own_leaks;
} libraries[] = {{"", 0},
		 {"libjemalloc.so.2", 0},
		 {"libtcmalloc_minimal.so.4", 1},
		 {"libtcmalloc.so.4", 1},
		 {"libmimalloc.so.2.0", 0}};
enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]) };

struct leaked {
	long long objects, roots, live;
};

static struct hi_fixture *start_shapes(const char *library, const char *shape,
				       const char *seed)
{
	char preload[128];
	struct hi_fixture *fx;

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	fx = hi_fixture_start("/usr/bin/env", preload, HI_FIXTURE_DIR "/leak_shapes",
			      shape, seed, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

static struct leaked leaked_in(struct hi_command *c)
{
	json_t *doc = doc_of(c);

	return (struct leaked){.objects = doc_number(doc, "leaks.objects"),
			       .live = doc_number(doc, "objects.live"),
			       .roots = doc_sum(doc_at(doc, "leaks.roots"), "count")};
}

static struct leaked leaked_of(struct hi_fixture *fx)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	return leaked_in(hi_heapinspect("--json", "--all", "--pid", pid));
}

/* By LeakSanitizer, on its own malloc. */
static long long truly_leaked(const char *seed)
{
	struct hi_command *c = hi_command_run(0, HI_FIXTURE_DIR "/leak_shapes_lsan",
					      "acyclic", seed, NULL);
	long long objects = 0, bytes, n;

	for (const char *at = c->err; (at = strstr(at, "leak of ")); at++) {
		HI_ASSERT(sscanf(at, "leak of %lld byte(s) in %lld", &bytes, &n) == 2);
		objects += n;
	}
	HI_ASSERT(objects > 0);
	return objects;
}

HI_TEST_SCENARIO(allocator_leaks, leaks_are_the_same_on_each_allocator)
{
	const char *const seeds[] = {"1", "7", "23"};

	for (int s = 0; s < 3; s++) {
		long long truth = truly_leaked(seeds[s]), roots = 0;

		for (int i = 0; i < LIBRARIES; i++) {
			struct leaked leaked = leaked_of(
				start_shapes(libraries[i].name, "acyclic", seeds[s]));

			leaked.objects -= libraries[i].own_leaks;
			leaked.roots -= libraries[i].own_leaks;
			HI_ASSERT_MSG(leaked.objects == truth,
				      "%s: %lld leak, %lld by LeakSanitizer",
				      libraries[i].name, leaked.objects, truth);
			roots = i ? roots : leaked.roots;
			HI_ASSERT_EQ(roots, leaked.roots);
		}
	}
}

static void expect_same(struct leaked live, struct leaked other, const char *library,
			const char *what)
{
	HI_ASSERT_MSG(
		live.objects == other.objects && live.roots == other.roots &&
			live.live == other.live,
		"%s, %s: %lld leak, %lld roots, %lld live; live process: %lld, %lld, "
		"%lld",
		library, what, other.objects, other.roots, other.live, live.objects,
		live.roots, live.live);
}

HI_TEST_SCENARIO(allocator_leaks, leaks_of_core_and_snapshot_are_those_of_the_process)
{
	for (int i = 0; i < LIBRARIES; i++) {
		struct hi_fixture *fx = start_shapes(libraries[i].name, "cyclic", "5");
		struct leaked live = leaked_of(fx);
		char *in = temporary_directory(), prefix[128], path[160], pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
		snprintf(prefix, sizeof(prefix), "%s/core", in);
		HI_ASSERT_EQ(
			0,
			hi_command_run(0, "gcore", "-o", prefix, pid, NULL)->exit_code);
		snprintf(path, sizeof(path), "%s.%s", prefix, pid);
		expect_same(live,
			    leaked_in(hi_heapinspect("--json", "--all", "--core", path)),
			    libraries[i].name, "core");
		snprintf(path, sizeof(path), "%s/snapshot", in);
		HI_ASSERT_EQ(0,
			     hi_heapinspect("snap", "--pid", pid, "-o", path)->exit_code);
		expect_same(live, leaked_in(hi_heapinspect("--json", "--all", path)),
			    libraries[i].name, "snapshot");
	}
}

/* The areas of musl's heap that follow a thread's own page, often in one mapping, are no
 * data of the thread that would keep them alive: fixtures/leaky_service.c. */
HI_TEST_SCENARIO(allocator_leaks, leaks_after_threads_of_musl_are_found)
{
	enum { REQUESTS = 300, JOBS = 1000, NODES = 120 };
	const char *const services[] = {"musl_service_dynamic", "musl_service_static"};

	for (int i = 0; i < 2; i++) {
		struct hi_fixture *fx = hi_fixture_start(services[i], NULL);

		hi_fixture_read_until(fx, "ready", NULL, NULL);
		HI_ASSERT_EQ(REQUESTS + JOBS + NODES, leaked_of(fx).objects);
	}
}

/* Of a static program some pages of data are as in the file: nothing hides in them. */
HI_TEST_SCENARIO(allocator_leaks, leaks_of_a_static_musl_program_are_certain)
{
	const char *const requests[] = {"copy", "fork"};
	struct hi_fixture *fx = hi_fixture_start("musl_freeing", NULL);
	char pid[16], snapshot[32];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	for (int i = 0; i < 2; i++) {
		json_t *doc;

		snprintf(snapshot, sizeof(snapshot), "--snapshot=%s", requests[i]);
		doc = doc_of(hi_heapinspect("--json", snapshot, "--pid", pid));
		HI_ASSERT_EQ(50, doc_number(doc, "leaks.objects"));
		HI_ASSERT_EQ(0, doc_number(doc, "leaks.likely_objects"));
	}
}
