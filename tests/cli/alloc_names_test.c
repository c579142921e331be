/* SPDX-License-Identifier: BSD-2-Clause */
/* How `alloc` names functions: those of C++ demangled, those of Python by their code. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/python.h"
#include "tests/support/recording_run.h"

static void free_named_document(void *doc)
{
	json_decref(doc);
}

static json_t *read_functions(const struct hi_command *c)
{
	json_t *doc = json_loads(c->out, 0, NULL);

	HI_ASSERT_MSG(c->exit_code == 0 && doc, "exit %d: %s", c->exit_code, c->err);
	hi_test_defer(free_named_document, doc);
	return json_object_get(doc, "functions");
}

static const char *text_in(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static json_t *find_in(json_t *list, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (strcmp(text_in(item, "name"), name) == 0)
			return item;
	}
	return NULL;
}

/* Threads of C++ come and go, so all of it happens in any second. */
HI_TEST_ROOT(alloc_names, functions_of_cxx_are_demangled)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_churn", NULL);
	json_t *functions, *function, *own;
	char pid[16];
	size_t i;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "go");
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	functions = read_functions(hi_heapinspect("alloc", "--pid", pid, "--every", "1s",
						  "--for", "3s", "--sample", "all",
						  "--callers", "--json", "--all"));
	json_array_foreach(functions, i, function)
	{
		HI_ASSERT_MSG(strncmp(text_in(function, "name"), "_Z", 2) != 0, "%s",
			      text_in(function, "name"));
	}
	own = find_in(functions, "Own::~Own()");
	HI_ASSERT(own != NULL);
	HI_ASSERT(strstr(text_in(own, "file"), "alloc_churn.cc") != NULL);
	HI_ASSERT(find_in(json_object_get(find_in(functions, "descend"), "callers"),
			  "live_briefly") != NULL);
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
		HI_ASSERT_MSG(recording_says(&run, "were allocated", 60000), "%s",
			      run.begun);
	functions = read_functions(recording_end(&run, SIGINT));
	keep = find_in(functions, "keep_texts");
	HI_ASSERT(keep != NULL);
	HI_ASSERT(strstr(text_in(keep, "file"), "/fixtures/python/counted.py") != NULL);
	HI_ASSERT_STREQ("python", text_in(keep, "module"));
}
