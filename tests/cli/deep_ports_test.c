/* SPDX-License-Identifier: BSD-2-Clause */
/* `deep` of calls that fail, move blocks or throw: fixtures/failing_calls.cc says what
 * its calls returned, by function. And of contents: fixtures/waste_heap.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cli/deep_answers.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

enum { PORTS = 5, FUNCTIONS = 7 };

struct said_ports {
	char name[FUNCTIONS][32];
	long long of[FUNCTIONS][PORTS];
	int n;
};

/* The rows of the report's table of functions. */
static json_t *ask_functions(const char *file, const char *query)
{
	return deep_rows(deep_answer(file, query), "functions");
}

static void take_said_port(const char *line, void *arg)
{
	struct said_ports *said = arg;
	long long *p = said->of[said->n];

	if (said->n < FUNCTIONS &&
	    sscanf(line, "port %31s %lld %lld %lld %lld %lld", said->name[said->n], &p[0],
		   &p[1], &p[2], &p[3], &p[4]) == 6)
		said->n++;
}

HI_TEST_ROOT(deep_ports, ports_are_those_of_the_calls)
{
	static const char *const keys[PORTS] = {"own_calls", "own_exits", "own_fails",
						"own_redos", "own_exceptions"};
	struct hi_fixture *fx = hi_fixture_start("failing_calls", NULL);
	struct said_ports said = {};
	struct recording_run run;
	struct hi_command *c;
	char file[256];
	json_t *rows;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/ports.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", take_said_port, &said);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_EQ(FUNCTIONS, said.n);
	rows = ask_functions(file, "top_procs/1-99/calls/self/oa&modules=never&"
				   "fields=calls,exits,fails,redos,exceptions");
	for (int i = 0; i < FUNCTIONS; i++)
		for (int k = 0; k < PORTS; k++) {
			long long got = deep_number(rows, said.name[i], keys[k]);

			HI_ASSERT_MSG(got == said.of[i][k], "%s %s: %lld, not %lld",
				      said.name[i], keys[k], got, said.of[i][k]);
		}
}

struct said_waste {
	long long copied, savable;
};

static void take_said_waste(const char *line, void *arg)
{
	struct said_waste *said = arg;

	(void)(sscanf(line, "color_copied %lld", &said->copied) ||
	       sscanf(line, "roomy_savable %lld", &said->savable));
}

HI_TEST_ROOT(deep_ports, copies_and_spare_bytes_count_where_they_were_allocated)
{
	struct hi_fixture *fx = hi_fixture_start("waste_heap", "640", "wait", NULL);
	char file[256];
	struct said_waste said = {};
	struct recording_run run;
	struct hi_command *c;
	json_t *rows;

	hi_fixture_read_until(fx, "waiting", NULL, NULL);
	snprintf(file, sizeof(file), "%s/waste.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "ready", take_said_waste, &said);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	rows = ask_functions(file, "top_procs/1-99/copies/self/oa&modules=never&"
				   "fields=copies,spare");
	HI_ASSERT_EQ(said.copied, deep_number(rows, "build_colors", "total_copies"));
	/* 100 texts each of 22, 91 and 8 bytes with their NUL, in chunks of 176 instead
	 * of 32, 112 and 32; one of 25 in 80 instead of 48. */
	HI_ASSERT_EQ(100 * (144 + 64 + 144) + 32,
		     deep_number(rows, "build_names", "total_spare"));
	HI_ASSERT_EQ(said.savable, deep_number(rows, "build_roomies", "total_spare"));
}
