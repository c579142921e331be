/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/targets.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

static void free_target(struct target *t)
{
	free(t->said);
	free(t);
}

static void keep_said(const char *line, void *arg)
{
	fprintf(arg, "%s\n", line);
}

struct target *target_of(struct hi_fixture *fx)
{
	struct target *t = calloc(1, sizeof(*t));
	size_t size;
	FILE *said;

	HI_ASSERT(t);
	hi_test_defer(free_target, t);
	t->fx = fx;
	snprintf(t->pid, sizeof(t->pid), "%d", (int)fx->pid);
	said = open_memstream(&t->said, &size);
	HI_ASSERT(said);
	hi_fixture_read_until(fx, "ready", keep_said, said);
	HI_ASSERT_EQ(0, fclose(said));
	return t;
}

struct target *target_start(const char *name, ...)
{
	char path[512];
	char *argv[16] = {path};
	va_list ap;
	int n = 1;

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : HI_FIXTURE_DIR "/",
		 name);
	va_start(ap, name);
	while (n < 15 && (argv[n] = va_arg(ap, char *)))
		n++;
	va_end(ap);
	return target_of(hi_fixture_startv(path, argv));
}

/* ---- truth ---- */

static const char *find_said(const struct target *t, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = t->said; *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, key, n) == 0 && at[n] == ' ')
			return at + n + 1;
	hi_test_fail(__FILE__, __LINE__, "it never said %s, but:\n%s", key, t->said);
}

char *target_said(const struct target *t, const char *key)
{
	const char *at = find_said(t, key);
	char *text = strndup(at, strcspn(at, "\n"));

	HI_ASSERT(text);
	hi_test_defer(free, text);
	return text;
}

long long target_nth(const struct target *t, const char *key, unsigned i)
{
	const char *text = find_said(t, key);
	char *end;
	long long ret;

	for (; i && *text != '\n'; i--)
		text += strcspn(text, " \n") + (text[strcspn(text, " \n")] == ' ');
	ret = strtoll(text, &end, 0);
	HI_ASSERT_MSG(end != text, "%s is no number: %.40s", key, text);
	return ret;
}

long long target_number(const struct target *t, const char *key)
{
	return target_nth(t, key, 0);
}

void target_each_line(const struct target *t, void (*fn)(const char *line, void *arg),
		      void *arg)
{
	char *text = strdup(t->said), *rest = text, *line;

	HI_ASSERT(text);
	hi_test_defer(free, text);
	while ((line = strsep(&rest, "\n")) && rest)
		fn(line, arg);
}

/* ---- heapinspect ---- */

static struct hi_command *run_target(const char *const *words, const char *const *more)
{
	struct hi_command *c = hi_heapinspect_words(words, more);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: exit %d: %s", *words ? *words : "summary",
		      c->exit_code, c->err);
	return c;
}

struct hi_command *target_run_words(const struct target *t, const char *const *words)
{
	return run_target(words, TARGET_WORDS("--pid", t->pid));
}

json_t *target_ask_words(const struct target *t, const char *const *words)
{
	return doc_of(run_target(words, TARGET_WORDS("--pid", t->pid, "--json")));
}

const char *target_snap_words(const struct target *t, const char *const *words)
{
	const char *path = snapshot_path(snapshot_directory(), "target.hisnap");

	run_target(TARGET_WORDS("snap", "-q", "-o", path, "--pid", t->pid), words);
	return path;
}

long long target_query(const struct target *t, const char *sql)
{
	struct hi_command *c = target_run(t, "query", "--format", "csv", sql);
	const char *row = strchr(c->out, '\n');

	HI_ASSERT_MSG(row, "no row in: %s", c->out);
	return strtoll(row + 1, NULL, 10);
}
