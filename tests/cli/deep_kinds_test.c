/* SPDX-License-Identifier: BSD-2-Clause */
/* How calls find their callees: fixtures/call_kinds.cc says how it makes each call. */
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "tests/cli/deep_answers.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

static const char *record_kinds(const char *program)
{
	static char file[256];
	struct hi_fixture *fx = hi_fixture_start(program, NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/kinds.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return file;
}

/* The kind of the calls that lead to a function, of the report of its callers; "" where
 * it is plain. All of them are the same. */
static const char *kind_of_calls_to(const char *file, const char *function)
{
	json_t *rows =
		doc_at(deep_answer(file, "top_procs/1-99/bytes/both/oa&modules=never"),
		       "tables.0.rows");
	json_t *table, *row;
	char query[64];
	const char *kind = NULL;

	row = doc_row(rows, "function", function);
	snprintf(query, sizeof(query), "proc_callers/%d/cs/1/20/nc",
		 atoi(doc_text(row, "links.function") + strlen("proc/")));
	doc_each (table, doc_at(deep_answer(file, query), "tables"))
		doc_each (row, doc_at(table, "rows")) {
			const char *found = json_string_value(doc_find(row, "kind"));

			found = found ? found : "";
			HI_ASSERT_MSG(!kind || strcmp(kind, found) == 0, "%s: %s and %s",
				      function, kind, found);
			kind = found;
		}
	HI_ASSERT_MSG(kind, "no callers of %s", function);
	return kind;
}

HI_TEST_ROOT(deep_kinds, kinds_are_those_of_the_call_instructions)
{
	static const char *const wanted[][2] = {{"plain", ""},
						{"by_pointer", "indirect"},
						{"other_by_pointer", "indirect"},
						{"Round::area()", "virtual"},
						{"Square::area()", "virtual"},
						{"reached", "tail"},
						{"on_signal", "callback"},
						{"small", "inlined"},
						{"make_calls", ""}};
	const char *file = record_kinds("call_kinds");

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		HI_ASSERT_STREQ(wanted[i][1], kind_of_calls_to(file, wanted[i][0]));
}

static const char *exported(const char *file, const char *function)
{
	json_t *rows =
		doc_at(deep_answer(file, "top_procs/1-99/bytes/both/oa&modules=never"),
		       "tables.0.rows");
	json_t *row = doc_row(rows, "function", function), *fact;
	char query[64];

	snprintf(query, sizeof(query), "dump_function/%d",
		 atoi(doc_text(row, "links.function") + strlen("proc/")));
	fact = doc_row(doc_at(deep_answer(file, query), "facts"), "key", "exported");
	return doc_text(fact, "value");
}

HI_TEST_ROOT(deep_kinds, functions_that_a_library_exports_are_known)
{
	const char *file = record_kinds("exported_calls");

	HI_ASSERT_STREQ("yes", exported(file, "make_part"));
	HI_ASSERT_STREQ("no", exported(file, "make_inside"));
	HI_ASSERT_STREQ("no", exported(file, "allocate_inside"));
	HI_ASSERT_STREQ("no", exported(file, "make_parts"));
}

/* The file of the program has another build-id, none, by the time of the question. */
HI_TEST_ROOT(deep_kinds, calls_of_another_build_have_no_kind)
{
	const char *file;
	char program[256];

	snprintf(program, sizeof(program), "%s/call_kinds", workshop_open());
	workshop_run("cp %s/call_kinds call_kinds", HI_FIXTURE_DIR);
	file = record_kinds(program);
	workshop_run("objcopy --remove-section=.note.gnu.build-id %s other && "
		     "mv other %s",
		     program, program);
	HI_ASSERT_STREQ("", kind_of_calls_to(file, "by_pointer"));
	HI_ASSERT_MSG(strstr(hi_heapinspect("deep", file)->err, "are of another build"),
		      "%s", hi_heapinspect("deep", file)->err);
	HI_ASSERT_STREQ("inlined", kind_of_calls_to(file, "small"));
}
