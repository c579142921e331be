/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs in Go, with and without C: their runtime's heap is not decoded. */
#include <stdlib.h>

#include "tests/cli/summary.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

static const char *build(const char *name, const char *flags)
{
	const char *program = snapshot_path(snapshot_directory(), name);
	char shell[600];
	struct hi_command *c;

	snprintf(shell, sizeof(shell),
		 "GOCACHE=%s/gocache GO111MODULE=off go build %s -o %s "
		 "%s/fixtures/go/%s.go",
		 HI_BINARY_DIR, flags, program, HI_SOURCE_DIR, name);
	c = hi_command_run(0, "sh", "-c", shell, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "go build: %s", c->err);
	return program;
}

static void check_not_decoded(json_t *doc, const char *known)
{
	HI_ASSERT_STREQ("Go runtime", doc_text(doc, "heap.not_decoded"));
	HI_ASSERT_STREQ(known, doc_text(doc, "heap.known"));
	HI_ASSERT(doc_is_null(doc, "leaks.bytes"));
}

HI_TEST_SCENARIO(go, the_heap_of_its_runtime_is_not_decoded)
{
	/* Without symbols there are sections. */
	static const char *const flags[] = {"", "-ldflags '-s -w'"};

	for (size_t i = 0; i < 2; i++) {
		struct target *t = target_start(build("go_threads", flags[i]), NULL);
		json_t *doc = summary_with(t->fx->pid, NULL);

		check_not_decoded(doc, "none");
		HI_ASSERT(doc_is_null(doc, "typed.exact"));
		/* Stacks of goroutines are objects, in arenas that have no guard, and
		 * what the runtime keeps for itself is no one's fault. */
		HI_ASSERT_EQ(1, doc_number(doc_row(doc_at(doc, "ledger.rows"), "key",
						   "stacks"),
					   "count"));
		HI_ASSERT_EQ(0, doc_size(doc, "suspects"));
	}
}

HI_TEST_SCENARIO(go, its_threads_with_c_are_not_inside_the_allocator)
{
	struct target *t = target_start(build("cgo_threads", ""), NULL);

	/* The threads come from one sleep and go to the next. */
	for (int i = 0; i < 5; i++) {
		json_t *doc = summary_with(t->fx->pid, NULL);

		check_not_decoded(doc, "part");
		HI_ASSERT_EQ(0, doc_number(doc, "snapshot.threads_in_allocator"));
		HI_ASSERT_EQ(1000, count_of_type(doc, "struct c_node"));
	}
}
