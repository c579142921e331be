/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/recorded_sites.h"

#include <signal.h>
#include <stdio.h>

#include "tests/harness.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

struct hi_fixture *sites_start(void)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

void sites_tell(struct hi_fixture *fx, const char *command)
{
	hi_fixture_tell(fx, command);
	hi_fixture_read_until(fx, "done", NULL, NULL);
}

static void take_site_line(const char *line, void *arg)
{
	struct recorded_sites *s = arg;

	(void)sscanf(line, "thread %ld", &s->tid);
	(void)sscanf(line, "node %31s", s->node);
	(void)sscanf(line, "old %31s", s->old);
}

struct recorded_sites sites_record(const char *option)
{
	struct recorded_sites s = {.fx = sites_start()};
	struct recording_run run;

	snprintf(s.file, sizeof(s.file), "%s/app.hirec", workshop_open());
	run = recording_start(s.fx->pid, "-o", s.file, option, NULL);
	hi_fixture_tell(s.fx, "go");
	hi_fixture_read_until(s.fx, "done", take_site_line, &s);
	sites_tell(s.fx, "churn");
	s.c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(s.c->exit_code == 0, "exit %d: %s", s.c->exit_code, s.c->err);
	return s;
}
