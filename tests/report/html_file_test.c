/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages as readers of XML and hashes of others see them (html_check.py). */
#include "tests/report/html_sample.h"
#include "tests/support/snapshots.h"

static FILE *create_html(const char *path)
{
	FILE *out = fopen(path, "w");

	HI_ASSERT(out);
	return out;
}

static const char *checked(const char *path)
{
	struct hi_command *c = hi_command_run(
		0, "python3", HI_SOURCE_DIR "/tests/report/html_check.py", path, NULL);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

HI_TEST_SCENARIO(html_file, hostile_names_are_inert_in_a_document)
{
	const char *path = snapshot_path(snapshot_directory(), "document.html");
	FILE *out = create_html(path);

	html_sample_write_document(out, "types/a");
	fclose(out);
	HI_ASSERT_STREQ("0 1 True\n", checked(path));
}

HI_TEST_SCENARIO(html_file, one_file_of_many_pages_permits_exactly_its_script)
{
	const char *path = snapshot_path(snapshot_directory(), "app.html");
	FILE *out = create_html(path);

	html_sample_write_file(out);
	fclose(out);
	HI_ASSERT_STREQ("5 1 True\n", checked(path));
}
