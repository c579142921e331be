/* SPDX-License-Identifier: BSD-2-Clause */
/* How `alloc` names functions: those of C++ demangled, those of Python by their code. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/python.h"
#include "tests/support/recording_run.h"

static json_t *read_functions(const struct hi_command *c)
{
	return doc_at(doc_of(c), "functions");
}

/* Threads of C++ come and go, so all of it happens in any second. */
HI_TEST_ROOT(alloc_names, functions_of_cxx_are_demangled)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_churn", NULL);
	json_t *functions, *function, *own;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "go");
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	functions = read_functions(hi_heapinspect("alloc", "--pid", pid, "--every", "1s",
						  "--for", "3s", "--sample", "all",
						  "--callers", "--json", "--all"));
	doc_each (function, functions) {
		HI_ASSERT_MSG(strncmp(doc_text(function, "name"), "_Z", 2) != 0, "%s",
			      doc_text(function, "name"));
	}
	own = doc_row(functions, "name", "Own::~Own()");
	HI_ASSERT(strstr(doc_text(own, "file"), "alloc_churn.cc") != NULL);
	doc_row(doc_at(doc_row(functions, "name", "descend"), "callers"), "name",
		"live_briefly");
}

HI_TEST_ROOT(alloc_names, functions_of_python_have_the_files_of_their_code)
{
	static const char *const words[] = {"--sample", "all",	 "--every", "500ms",
					    "--json",	"--all", NULL};
	struct target *p = python_start("PYTHONMALLOC=malloc", "counted", "plain", NULL);
	struct recording_run run =
		recording_start_as("alloc", "the first period begins", p->fx->pid, words);
	json_t *functions, *keep;

	hi_fixture_tell(p->fx, "keep_texts 400");
	hi_fixture_read_until(p->fx, "done", NULL, NULL);
	for (int i = 0; i < 2; i++)
		HI_ASSERT_MSG(
			recording_says(&run, "were allocated", RECORDING_PATIENCE_MS),
			"%s", run.begun);
	functions = read_functions(recording_end(&run, SIGINT));
	keep = doc_row(functions, "name", "keep_texts");
	HI_ASSERT(strstr(doc_text(keep, "file"), "/fixtures/python/counted.py") != NULL);
	HI_ASSERT_STREQ("python", doc_text(keep, "module"));
}
