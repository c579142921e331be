/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scripts/verify-leaks, which shares no code with heapinspect: it finds no word that
 * leads to a certain leak, and finds one for each leak that is likely.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

static void remove_file(void *path)
{
	unlink(path);
	free(path);
}

/* The document as a file that is removed after the test. */
static const char *write_document(const json_t *doc)
{
	char *path = strdup("/tmp/verify-leaks-XXXXXX");
	int fd = path ? mkstemp(path) : -1;
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	HI_ASSERT(file);
	hi_test_defer(remove_file, path);
	HI_ASSERT(json_dumpf(doc, file, JSON_INDENT(1)) == 0);
	HI_ASSERT(fclose(file) == 0);
	return path;
}

static void stop_target(const struct target *t)
{
	HI_ASSERT(kill(t->fx->pid, SIGSTOP) == 0);
	for (unsigned i = 0; hi_process_state(t->fx->pid) != 'T'; i++) {
		HI_ASSERT(i < 30000);
		usleep(1000);
	}
}

static const struct hi_command *verify(const struct target *t, const json_t *doc)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)t->fx->pid);
	return hi_command_run(0, HI_SOURCE_DIR "/scripts/verify-leaks", pid,
			      write_document(doc), NULL);
}

/* Makes all verdicts certain. Returns how many leak roots had another one. */
static unsigned call_all_certain(json_t *doc)
{
	unsigned n = 0;
	json_t *row;

	doc_each (row, doc_at(doc, "roots")) {
		n += strcmp(doc_text(row, "verdict"), "certain") != 0;
		json_object_set_new(row, "verdict", json_string("certain"));
	}
	return n;
}

static void check_each_likely_is_found(const struct target *t, json_t *doc)
{
	json_t *before = json_deep_copy(doc), *row;
	const struct hi_command *run;

	HI_ASSERT(call_all_certain(doc) >= 3);
	run = verify(t, doc);
	HI_ASSERT_EQ(1, run->exit_code);
	doc_each (row, doc_at(before, "roots")) {
		char line[80];
		bool is_likely = strcmp(doc_text(row, "verdict"), "likely") == 0;

		snprintf(line, sizeof(line), "leads to the leak at %s\n",
			 doc_text(row, "address"));
		HI_ASSERT_MSG(is_likely == (strstr(run->out, line) != NULL), "%s%s", line,
			      run->out);
	}
	json_decref(before);
}

HI_TEST_SCENARIO(verify_leaks, finds_words_to_likely_leaks_and_none_to_certain_ones)
{
	struct target *t = target_start("leak_verdicts", NULL);
	const struct hi_command *run;
	json_t *doc;

	stop_target(t);
	doc = target_ask(t, "leaks", "--all");
	HI_ASSERT(doc_size(doc, "roots") > 10);
	run = verify(t, doc);
	HI_ASSERT_MSG(run->exit_code == 0, "%s%s", run->out, run->err);
	HI_ASSERT(strstr(run->out, ": 0 words lead to them"));
	check_each_likely_is_found(t, doc);
	kill(t->fx->pid, SIGCONT);
}
