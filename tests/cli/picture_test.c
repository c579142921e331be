/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of one heap, read by an XML parser (tests/support/picture_oracle.py). */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

#define ORACLE HI_SOURCE_DIR "/tests/support/picture_oracle.py"

/* Both shapes of a file, against its own summary; the names are in them. */
static void check_pictures(const char *in, const char *file, const char *name1,
			   const char *name2)
{
	static const char *const shapes[] = {"flame", "treemap"};
	const char *svg = snapshot_path(in, "x.svg"), *live = snapshot_path(in, "x.json");
	struct stat st;

	HI_ASSERT_EQ(0, hi_heapinspect("--json", file, "-o", live)->exit_code);
	for (int i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect("graph", file, "--shape", shapes[i], "-o", svg);

		HI_ASSERT_MSG(c->exit_code == 0 && !*c->err, "exit %d: %s", c->exit_code,
			      c->err);
		HI_ASSERT(stat(svg, &st) == 0 && (st.st_mode & 0777) == 0600);
		c = hi_command_run(0, "/usr/bin/python3", ORACLE, shapes[i], svg, live,
				   name1, name2, NULL);
		HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
		hi_test_note("%s: %s", shapes[i], c->out);
	}
}

HI_TEST_SCENARIO(cli_picture, picture_of_containers_is_in_proportion)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);

	check_pictures(in, snapshot_of_core(core, in, "a.hisnap", NULL), "globals",
		       "(leaked)");
}

/* A lost list of jobs beside live ones. */
HI_TEST_SCENARIO(cli_picture, picture_of_leaks_has_their_names)
{
	struct target *t = target_start("lost_list", NULL);

	check_pictures(snapshot_directory(), target_snap(t), "like live struct job (60)",
		       "(leaked)");
}

/* The container before its elements, all of which are one frame. */
HI_TEST_SCENARIO(cli_picture, picture_of_python_has_names_of_the_program)
{
	char *in = snapshot_directory();
	const char *file;
	struct target *t = target_start(
		"/usr/bin/python3.11", "-c",
		"import sys\n"
		"class Session:\n"
		" def __init__(self, i): self.data = bytearray(700)\n"
		"SESSIONS = {'s%d' % i: Session(i) for i in range(3000)}\n"
		"bad = type('</script><x y=\"\\'&\\x1b[31m\\x07\\u202e', (), {})\n"
		"BAD = {'<![CDATA[]]>%d\\x00\\xff' % i: bad() for i in range(3000)}\n"
		"print('ready', flush=True)\n"
		"sys.stdin.read()\n",
		NULL);
	file = target_snap(t);
	check_pictures(in, file, "[\"SESSIONS\"]: dict\n",
		       "[\"\xe2\x80\xa6\"]: __main__.Session\n3,000 objects hold ");
	check_pictures(in, file, "module __main__: dict", "</script><x y=\"'&\\x1b[31m");
	/* The process itself. */
	target_run(t, "graph", "-o", snapshot_path(in, "live.svg"));
}

/* Each list of three thousand is one frame, whatever its length; so is the tree. */
HI_TEST_SCENARIO(cli_picture, picture_of_long_chains_is_small)
{
	char *in = snapshot_directory();
	const char *svg;
	struct target *t = target_start("bench_heap", "200000", NULL);
	struct stat st;

	check_pictures(in, target_snap(t), "->next: struct item", "->left: struct tree");
	svg = snapshot_path(in, "x.svg");
	HI_ASSERT(stat(svg, &st) == 0);
	HI_ASSERT_MSG(st.st_size < 200 << 10, "%lld bytes", (long long)st.st_size);
}

HI_TEST_SCENARIO(cli_picture, takes_a_file_by_what_is_in_it)
{
	static const char one[] = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	static const char many[] = HI_SOURCE_DIR "/tests/data/series-v1.hisnap";
	static const struct {
		const char *argv[6], *word;
	} wrong[] = {
		{{"graph"}, "--pid N"},
		{{"graph", one, "--bands", "3"}, "--bands: only for a series"},
		{{"graph", one, "--from", "3"}, "--from: only for a series"},
		{{"graph", one, many}, "there is another target"},
		{{"graph", many, "--shape", "flame"}, "--shape: only of one heap"},
		{{"graph", many, "--hints", "x"}, "--hints"},
		{{"graph", one, "--shape", "pie"}, "--shape pie: not one of"},
		{{"graph", one, "--census", "3"}, "census"},
	};

	workshop_open();
	workshop_run(
		"cp %s one && cp %s many && "
		"%s/heapinspect graph one -o one.svg && grep -q 'plot flame' one.svg",
		one, many, HI_BINARY_DIR);
	workshop_run(
		"%s/heapinspect -q graph many -o m.svg && ! grep -q plot.flame m.svg",
		HI_BINARY_DIR);
	workshop_run(
		"%s/heapinspect graph many@1 -o 1.svg && "
		"%s/heapinspect graph many --census 1 -o 2.svg && cmp 1.svg 2.svg && "
		"grep -q 'plot flame' 1.svg",
		HI_BINARY_DIR, HI_BINARY_DIR);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct hi_command *c = hi_heapinspect_words(wrong[i].argv, NULL);

		HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, wrong[i].word),
			      "%zu: exit %d: %s", i, c->exit_code, c->err);
		HI_ASSERT_EQ(0, c->out_size);
	}
}
