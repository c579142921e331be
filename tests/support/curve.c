/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/curve.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/workshop.h"

enum { CENSUS_MS = 60000 };

const char *curve_directory;
char curve_file[256], curve_pid[16];

void curve_begin(struct curve *c)
{
	*c = (struct curve){.fx = hi_fixture_start("space_lives", NULL)};
	hi_fixture_read_until(c->fx, "ready", NULL, NULL);
	snprintf(curve_pid, sizeof(curve_pid), "%d", (int)c->fx->pid);
	curve_directory = workshop_open();
	snprintf(curve_file, sizeof(curve_file), "%s/app.file", curve_directory);
}

void curve_record(struct curve *c, const char *option, const char *value)
{
	c->run = recording_start(c->fx->pid, "--every", "30ms", "-o", curve_file, option,
				 value, NULL);
	/* The beginning of the curve is what the fixture has now. */
	recording_await(&c->run, ": census 1,", 1);
}

void curve_record_samples(struct curve *c, const char *distance)
{
	c->run = recording_start(c->fx->pid, "--every", "30ms", "-o", curve_file,
				 "--full", "peaks:1", "--sample", distance, NULL);
	recording_await(&c->run, ": census 1,", 1);
}

void curve_snap(struct curve *c, const char *option, const char *value)
{
	const char *const words[] = {"--every", "30ms", "-o", curve_file,
				     option,	value,	NULL};

	c->run = recording_start_as("snap", "census 1,", c->fx->pid, words);
}

void curve_tell_before(struct curve *c, const char *verb, int n)
{
	char command[64], answer[256];
	long long number, cost, overhead;
	bool is_drop = strncmp(verb, "drop", 4) == 0;

	snprintf(command, sizeof(command), "%s %d", verb, n);
	hi_fixture_tell(c->fx, command);
	HI_ASSERT(hi_fixture_line(c->fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(3, sscanf(answer, "%lld %lld %lld", &number, &cost, &overhead));
	c->bytes += is_drop ? -cost : cost;
	c->objects += is_drop ? -number : number;
}

/* The census that is being taken may be older than a command; the next one is not. */
void curve_tell(struct curve *c, const char *verb, int n)
{
	curve_tell_before(c, verb, n);
	while (recording_says(&c->run, ": census ", 0))
		;
	for (int i = 0; i < 2; i++)
		HI_ASSERT(recording_says(&c->run, ": census ", CENSUS_MS));
}

void curve_end(struct curve *c)
{
	struct hi_command *command = recording_end(&c->run, SIGINT);

	HI_ASSERT_MSG(command->exit_code == 0, "exit %d: %s", command->exit_code,
		      command->err);
}

/* ---- documents ---- */

json_t *curve_document(const struct hi_command *c)
{
	return doc_of(c);
}

long long curve_number(json_t *object, const char *key)
{
	return doc_number(object, "%s", key);
}

const char *curve_text(json_t *object, const char *key)
{
	const char *text = json_string_value(doc_at(object, "%s", key));

	return text ? text : "";
}

long long curve_total(long long census, const char *type, const char *key)
{
	char number[24];

	snprintf(number, sizeof(number), "%lld", census);
	return doc_sum_of(
		doc_at(doc_of(hi_heapinspect("snapshots", curve_file, "--census", number,
					     "--json", "--all")),
		       "types"),
		"type", type, key);
}

void curve_check_refused(const struct hi_command *c, const char *text)
{
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->out);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}
