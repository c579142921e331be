/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/curve.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
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

static void free_curve_document(void *doc)
{
	json_decref(doc);
}

json_t *curve_document(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_curve_document, doc);
	return doc;
}

long long curve_number(json_t *object, const char *key)
{
	json_t *number = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(number), "no number %s", key);
	return json_integer_value(number);
}

const char *curve_text(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

long long curve_total(long long census, const char *type, const char *key)
{
	char number[24];
	json_t *rows, *row;
	size_t i;

	snprintf(number, sizeof(number), "%lld", census);
	rows = json_object_get(
		curve_document(hi_heapinspect("snapshots", curve_file, "--census", number,
					      "--json", "--all")),
		"types");
	json_array_foreach(rows, i, row) if (strcmp(curve_text(row, "type"), type) ==
					     0) return curve_number(row, key);
	return 0;
}

void curve_check_refused(const struct hi_command *c, const char *text)
{
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->out);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}
