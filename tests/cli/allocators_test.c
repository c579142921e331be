/* SPDX-License-Identifier: BSD-2-Clause */
/* What a user sees of allocators that are not glibc's, in front of a fixture. */
#include <stdio.h>
#include <string.h>

#include "support/command.h"
#include "support/fixture.h"
#include "support/schema.h"
#include "support/snapshots.h"
#include "tests/cli/summary.h"
#include "tests/harness.h"
#include "tests/support/json.h"

enum { FORGOTTEN = 5000 };

static struct hi_fixture *start_forgotten(const char *library)
{
	char path[512], preload[512], n[16];
	char env[] = "env", *argv[] = {env, preload, path, n, NULL};
	struct hi_fixture *fx;

	snprintf(path, sizeof(path), "%s/forgotten_blocks", HI_FIXTURE_DIR);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	snprintf(n, sizeof(n), "%d", FORGOTTEN);
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

/* Skips the test where the library is not installed: ld.so goes on without it. */
static json_t *summary_behind(const char *library, const char *name)
{
	struct hi_fixture *fx = start_forgotten(library);
	json_t *doc = summary_with(fx->pid, NULL);
	const char *found = doc_text(doc, "allocators.0.name");

	if (strcmp(name, "glibc") != 0 && strcmp(found, "glibc") == 0)
		HI_SKIP("the library is not installed");
	HI_ASSERT_STREQ(name, found);
	return doc;
}

/* One may be in a register that was not used since. own: that the library leaks. */
static void check_forgotten(const char *library, const char *name, long long own)
{
	json_t *doc = summary_behind(library, name);
	long long leaks = doc_number(doc, "objects.leak") - own;

	HI_ASSERT_MSG(leaks >= FORGOTTEN - 1 && leaks <= FORGOTTEN,
		      "%lld of %d blocks are leaked", leaks, FORGOTTEN);
	HI_ASSERT_EQ(0, doc_number(doc, "objects.likely"));
	check_ledger(doc);
}

HI_TEST_SCENARIO(allocators, glibc_keeps_no_forgotten_block_alive)
{
	check_forgotten("", "glibc", 0);
}

HI_TEST_SCENARIO(allocators, jemalloc_keeps_no_forgotten_block_alive)
{
	check_forgotten("libjemalloc.so.2", "jemalloc", 0);
}

/* Slots of a transfer cache that are not in use any more lead to them. Its own leak is
 * the first MallocExtension, which a second one replaces. */
HI_TEST_SCENARIO(allocators, tcmalloc_keeps_no_forgotten_block_alive)
{
	check_forgotten("libtcmalloc_minimal.so.4", "tcmalloc", 1);
}

HI_TEST_SCENARIO(allocators, mimalloc_keeps_no_forgotten_block_alive)
{
	check_forgotten("libmimalloc.so.2.0", "mimalloc", 0);
}

HI_TEST_SCENARIO(allocators, slabs_of_jemalloc_hold_what_is_forgotten)
{
	struct hi_fixture *fx = start_forgotten("libjemalloc.so.2");
	char pid[16];
	json_t *waste;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	waste = doc_checked(hi_heapinspect("waste", "--json", "--all", "--pid", pid),
			    "rows.v1.json");
	if (!doc_find(waste, "slabs"))
		HI_SKIP("jemalloc is not installed");
	HI_ASSERT(doc_number(waste, "slabs.live") >= FORGOTTEN);
}
