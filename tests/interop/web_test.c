/* SPDX-License-Identifier: BSD-2-Clause */
/* The script of pages: its parts in a small DOM, the committed bundle against a new one,
 * and the pages in a browser. */
#include <stdio.h>
#include <unistd.h>

#include "tests/report/html_sample.h"
#include "tests/support/readers.h"
#include "tests/support/snapshots.h"

/* As readers_directory(), with what report/web/package-lock.json names. */
static const char *web_directory(void)
{
	const char *readers = readers_directory();

	if (access(HI_SOURCE_DIR "/build/readers/web/node_modules", X_OK) != 0)
		HI_SKIP("no web modules: run scripts/build-readers build/readers");
	return readers;
}

HI_TEST_INTEROP(interop_web, the_script_does_in_a_small_dom_what_its_tests_say)
{
	char readers[300];
	const char *const argv[] = {
		"env", readers, "node", "--test", HI_SOURCE_DIR "/tests/interop/web.mjs",
		NULL};

	snprintf(readers, sizeof(readers), "READERS=%.200s", web_directory());
	HI_ASSERT(strstr(readers_ask(argv), "\n# fail 0\n"));
}

HI_TEST_INTEROP(interop_web, the_committed_script_is_what_its_sources_make)
{
	const char *made = snapshot_path(snapshot_directory(), "app.js");
	const char *const build[] = {HI_SOURCE_DIR "/scripts/build-web", web_directory(),
				     made, NULL},
			  *const check[] = {"node", "--check", made, NULL},
			  *const compare[] = {"cmp", made,
					      HI_SOURCE_DIR "/report/web/app.js", NULL};

	readers_ask(build);
	readers_ask(check);
	readers_ask(compare);
}

HI_TEST_INTEROP(interop_web, pages_in_a_browser_are_accessible_and_follow_keys)
{
	const char *path = snapshot_path(snapshot_directory(), "app.html");
	const char *const argv[] = {"node",
				    HI_SOURCE_DIR "/tests/interop/web_browser.mjs",
				    web_directory(),
				    "/usr/bin/chromium",
				    path,
				    NULL};
	FILE *out;

	readers_need("chromium");
	out = fopen(path, "w");
	HI_ASSERT(out);
	html_sample_write_file(out);
	fclose(out);
	HI_ASSERT_STREQ("fine\n", readers_ask(argv));
}
