/* SPDX-License-Identifier: BSD-2-Clause */
/* Retained sizes as others compute them out of our .heapsnapshot, object by object;
 * tests/interop/heapsnapshots.mjs has the readers. */
#include <fcntl.h>
#include <stdio.h>

#include "tests/census/snapshots.h"
#include "tests/support/json.h"
#include "tests/support/readers.h"
#include "tests/support/service.h"
#include "tests/support/snapshots.h"

enum { AT_ONCE = 40 };

/* IN/NAME.hisnap out of the graph, and IN/NAME.heapsnapshot and .ndjson out of that. */
static void export_both(const char *in, const char *name, const char *file)
{
	char out[64];

	snprintf(out, sizeof(out), "%s.heapsnapshot", name);
	readers_export(file, "heapsnapshot", NULL, in, out);
	snprintf(out, sizeof(out), "%s.ndjson", name);
	readers_export(file, "ndjson", NULL, in, out);
}

/* Few and many objects, one to four edges each, from no roots that lead anywhere to
 * all reachable. */
static void draw(const char *in, const char *name, uint64_t seed)
{
	OWN(graph) *g = drawn_graph_of(seed, (uint32_t)(3 + seed * seed % 1200), false);
	OWN(reach) *reach = reach_of(g);
	OWN(dominators) *dominators = dominators_of(g, reach);
	char path[200];
	struct hi_error err;
	int fd;

	snprintf(path, sizeof(path), "%.100s/%.40s.hisnap", in, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	HI_ASSERT(fd >= 0);
	/* Every second file leaves the dominators to the reader of it. */
	HI_ASSERT_OK(try_write(fd, g, reach, seed % 2 ? dominators : NULL, false, &err),
		     &err);
	close(fd);
	export_both(in, name, path);
}

/* How many live objects are in the files, up to NULL, IN/NAME.heapsnapshot. */
static long long compare(const char *in, const char *const names[])
{
	const char *argv[AT_ONCE + 4] = {"node",
					 HI_SOURCE_DIR "/tests/interop/heapsnapshots.mjs",
					 readers_directory()};
	char paths[AT_ONCE][200];
	json_t *found;
	int n = 0;

	for (; n < AT_ONCE && names[n]; n++) {
		snprintf(paths[n], sizeof(paths[n]), "%.100s/%.40s.heapsnapshot", in,
			 names[n]);
		argv[3 + n] = paths[n];
	}
	found = readers_ask_json(argv);
	HI_ASSERT_EQ(n, doc_number(found, "files"));
	hi_test_note("%lld objects, %lld by definition", doc_number(found, "live"),
		     doc_number(found, "byDefinition"));
	return doc_number(found, "live");
}

static void compare_drawn(int from, int to)
{
	char *in = snapshot_directory(), texts[AT_ONCE][32];
	const char *names[AT_ONCE + 1] = {NULL};
	long long live = 0;

	readers_directory();
	for (int i = from; i < to; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++) {
			snprintf(texts[k], sizeof(texts[k]), "g%d", i + k);
			names[k] = texts[k];
			draw(in, texts[k], (uint64_t)(i + k));
		}
		live += compare(in, names);
	}
	HI_ASSERT(live > 100ll * (to - from));
}

HI_TEST_INTEROP(interop_heapsnapshot, retained_sizes_of_drawn_graphs_are_those_of_others)
{
	compare_drawn(1, 41);
}

/* Sizes have 32 bits there, so retained ones are not ours then; the readers load it. */
HI_TEST_INTEROP(interop_heapsnapshot, object_of_5_gib_is_written_as_4)
{
	OWN(graph) *g = drawn_graph_of(7, 300, true);
	OWN(reach) *reach = reach_of(g);
	char *in = snapshot_directory();
	const char *file = snapshot_path(in, "x.hisnap"),
		   *out = snapshot_path(in, "x.heapsnapshot");
	const char *const ask[] = {"python3", "-c",
				   "import json, sys; d = json.load(open(sys.argv[1])); "
				   "print(sorted(d['nodes'][3::7])[-2:])",
				   out, NULL};
	struct hi_command *c;
	struct hi_error err;
	int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(try_write(fd, g, reach, NULL, false, &err), &err);
	close(fd);
	c = hi_heapinspect("export", file, "-f", "heapsnapshot", "-o", out);
	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->err, "written as 4 GiB"), "%s",
		      c->err);
	HI_ASSERT_MSG(strstr(readers_ask(ask), ", 4294967295]"), "%s", readers_ask(ask));
}

HI_TEST_INTEROP_SLOW(interop_heapsnapshot, retained_sizes_of_many_more_drawn_graphs)
{
	compare_drawn(41, 201);
}

/* ---- real programs ---- */

static void compare_real(const char *in, const char *file, long long least)
{
	static const char *const names[] = {"real", NULL};

	export_both(in, "real", file);
	HI_ASSERT(compare(in, names) >= least);
}

HI_TEST_INTEROP(interop_heapsnapshot, retained_sizes_of_a_cxx_program_are_those_of_others)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);

	compare_real(in, snapshot_of_core(core, in, "a.hisnap", NULL), 1000);
}

HI_TEST_INTEROP_SLOW(interop_heapsnapshot, retained_sizes_of_python_are_those_of_others)
{
	char *in = snapshot_directory();

	compare_real(in, readers_python(in), 10000);
}

static void load(struct hi_service *redis, int keys)
{
	char batch[64 * 1000];
	size_t used = 0;

	for (int i = 0; i < keys; i++) {
		used += (size_t)snprintf(batch + used, sizeof(batch) - used,
					 "RPUSH list:%d value-number-%d\r\n", i % 5000,
					 i);
		if (i % 1000 == 999 || i == keys - 1) {
			hi_service_send(redis, batch, used, (size_t)(i % 1000) + 1);
			used = 0;
		}
	}
}

HI_TEST_INTEROP_SLOW(interop_heapsnapshot, retained_sizes_of_redis_are_those_of_others)
{
	struct hi_service *s = hi_service_start_redis("redis-server", NULL);
	char *in = snapshot_directory();

	load(s, 20000);
	compare_real(in, readers_snapshot(in, s->pid), 10000);
}
