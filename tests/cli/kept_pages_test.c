/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of files that are kept in tests/data, as a user gets them.
 *
 * v1.hisnap is a core of fixtures/leak_shapes.c: 49 struct item are live in live[60], and
 * 8 KiB are in two blocks of stdio; 551 objects are leaked under 371 roots.
 * series-v1.hisnap is a series of fixtures/growing_service.c: 10, 100, 40, 60 and 20
 * nodes of 64 B, one census each, and the two blocks of stdio. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/golden.h"

enum { WORDS = 8 };
struct kept_page {
	const char *golden, *words[WORDS];
	int exit_code;
};

/* In the directory of the files, so that pages have their names alone. */
static struct hi_command *run_on_kept_file(const char *const words[WORDS])
{
	char *argv[WORDS + 6] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
				 (char *)(uintptr_t) "cd \"$0\" && exec \"$@\"",
				 (char *)(uintptr_t)(HI_SOURCE_DIR "/tests/data"),
				 (char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect")};

	for (size_t i = 0; i < WORDS && words[i]; i++)
		argv[5 + i] = (char *)(uintptr_t)words[i];
	return hi_command_runv(0, argv);
}

static void check_kept_pages(const struct kept_page *pages, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct hi_command *c = run_on_kept_file(pages[i].words);

		HI_ASSERT_MSG(c->exit_code == pages[i].exit_code, "%s: %d, %s",
			      pages[i].golden, c->exit_code, c->err);
		HI_ASSERT_STREQ("", c->err);
		HI_EXPECT_GOLDEN(pages[i].golden, c->out);
	}
}

HI_TEST_SCENARIO(kept_pages, pages_of_a_kept_heap_are_unchanged)
{
	static const struct kept_page pages[] = {
		{"file-summary", {"v1.hisnap"}, 0},
		{"file-summary-color", {"--color=always", "v1.hisnap"}, 0},
		{"file-census", {"census", "v1.hisnap"}, 0},
		{"file-census-size", {"census", "--by", "size", "v1.hisnap"}, 0},
		{"file-leaks", {"leaks", "--top", "3", "v1.hisnap"}, 0},
		{"file-retained", {"retained", "v1.hisnap"}, 0},
		{"file-retained-type", {"retained", "--type", "item", "v1.hisnap"}, 0},
		{"file-tree", {"tree", "v1.hisnap"}, 0},
		{"file-tree-live", {"tree", "v1.hisnap", "live"}, 0},
		{"file-paths", {"paths", "struct item", "v1.hisnap"}, 0},
		{"file-explain", {"explain", "0x55ac2f3832a0", "v1.hisnap"}, 0},
		{"file-explain-leak", {"explain", "0x55ac2f385320", "v1.hisnap"}, 0},
		{"file-retainers", {"retainers", "v1.hisnap"}, 0},
		{"file-up", {"up", "--type", "char []", "v1.hisnap"}, 0},
		{"file-ticket", {"ticket", "v1.hisnap"}, 0},
		{"file-check", {"check", "--fail-on", "leak.bytes > 0", "v1.hisnap"}, 1},
	};

	check_kept_pages(pages, sizeof(pages) / sizeof(*pages));
}

HI_TEST_SCENARIO(kept_pages, pages_of_a_kept_series_are_unchanged)
{
	static const struct kept_page pages[] = {
		{"series-snapshots", {"snapshots", "series-v1.hisnap"}, 0},
		{"series-census-3",
		 {"snapshots", "--census", "3", "series-v1.hisnap"},
		 0},
		{"series-peaks", {"peaks", "series-v1.hisnap"}, 0},
		{"series-spacetime", {"spacetime", "series-v1.hisnap"}, 0},
		{"series-diff", {"diff", "series-v1.hisnap@1", "series-v1.hisnap@2"}, 1},
	};

	check_kept_pages(pages, sizeof(pages) / sizeof(*pages));
}
