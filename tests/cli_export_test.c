/* SPDX-License-Identifier: BSD-2-Clause */
/* What export writes is read by readers that know nothing of us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/snapshots.h"

static const char *export_as(const char *file, const char *format, const char *table,
			     const char *in, const char *name)
{
	const char *path = snapshot_path(in, name);
	struct hi_command *c =
		table ? hi_heapinspect("export", file, "-q", "-f", format, "-o", path,
				       "--table", table)
		      : hi_heapinspect("export", file, "-q", "-f", format, "-o", path);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: exit %d: %s", format, c->exit_code, c->err);
	return path;
}

static const char *file_of_mixed_heap(const char *in)
{
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);

	return snapshot_of_core(core, in, "a.hisnap", NULL);
}

HI_TEST_SCENARIO(export_formats, are_what_their_readers_understand)
{
	static const char *const formats[] = {"heapsnapshot", "csv",	    "ndjson",
					      "folded",	      "speedscope", "dot",
					      "prometheus"};
	char *in = snapshot_directory(), name[64];
	const char *file = file_of_mixed_heap(in);
	struct hi_command *c;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(name, sizeof(name), "x.%s", formats[i]);
		export_as(file, formats[i], NULL, in, name);
	}
	export_as(file, "csv", "edges", in, "edges.csv");
	export_as(file, "csv", "roots", in, "roots.csv");
	c = hi_heapinspect("--json", file, "-o", snapshot_path(in, "live.json"));
	HI_ASSERT_EQ(0, c->exit_code);
	c = hi_command_run(0, "/usr/bin/python3",
			   HI_SOURCE_DIR "/tests/support/export_oracle.py", in, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
	hi_test_note("%s", c->out);
}

HI_TEST_SCENARIO(export_formats, of_a_core_and_of_its_file_are_the_same)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("leak_shapes", "acyclic", "5"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", "--compress");
	static const char *const formats[] = {"heapsnapshot", "csv", "folded",
					      "massif",	      "hp",  "pprof"};

	for (int i = 0; i < 6; i++) {
		struct hi_command *a =
			hi_heapinspect("export", "-f", formats[i], "--core", core);
		struct hi_command *b = hi_heapinspect("export", "-f", formats[i], file);

		HI_ASSERT_MSG(a->exit_code == 0 && b->exit_code == 0, "%s%s", a->err,
			      b->err);
		HI_ASSERT_MSG(a->out_size > 20 && a->out_size == b->out_size &&
				      memcmp(a->out, b->out, a->out_size) == 0,
			      "%s differs", formats[i]);
	}
}

/* ms_print adds it all up again, and refuses a tree that does not. */
HI_TEST_SCENARIO(export_formats, massif_is_what_ms_print_reads)
{
	char *in = snapshot_directory();
	const char *file = file_of_mixed_heap(in);
	const char *path = export_as(file, "massif", NULL, in, "x.massif");
	json_t *doc = snapshot_document(hi_heapinspect("--json", file));
	long long live = json_integer_value(
		json_object_get(json_object_get(doc, "bytes"), "live"));
	struct hi_command *c = hi_command_run(0, "ms_print", path, NULL);
	char total[64];
	const char *at;

	HI_ASSERT_MSG(c->exit_code == 0 && !*c->err, "%s", c->err);
	at = strstr(c->out, "100.00% (");
	HI_ASSERT_MSG(at, "%.2000s", c->out);
	snprintf(total, sizeof(total), "%.40s", at + 9);
	/* "1,381,632B)" */
	for (char *from = total, *to = total;; from++)
		if (*from != ',' && !(*to++ = *from))
			break;
	HI_ASSERT_EQ(live, atoll(total));
}

HI_TEST_SCENARIO(export_formats, wrong_words_are_refused)
{
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	static const struct {
		const char *format, *table, *word;
	} wrong[] = {{"hprof", "objects", "not one of"},
		     {"csv", "frames", "--table frames"},
		     {"dot", "edges", "only with"}};

	for (int i = 0; i < 3; i++) {
		struct hi_command *c = hi_heapinspect(
			"export", file, "-f", wrong[i].format, "--table", wrong[i].table);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, wrong[i].word), "%s", c->err);
	}
	HI_ASSERT_EQ(2, hi_heapinspect("export", file)->exit_code);
}
