/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/answers.h"
#include "tests/support/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "tests/harness.h"
#include "tests/support/answers_same.h"
#include "tests/support/snapshots.h"

enum { ADDRESSES = 4, NAME = 400 };

struct answers {
	const struct answer_target *target;
	const char *in;			/* the directory of core and files */
	char forms[ANSWER_FORMS][NAME]; /* as a word of a command line */
	char addresses[ADDRESSES][24], leak[24];
	size_t differ;
};

/* ---- the forms ---- */

static void snap_form(struct answers *a, enum answer_form of, enum answer_form form,
		      const char *name, const char *extra)
{
	struct hi_command *c;

	snprintf(a->forms[form], NAME, "%s", snapshot_path(a->in, name));
	c = hi_heapinspect("snap", "-q", a->forms[of], "-o", a->forms[form],
			   "--with-contents", extra);
	HI_ASSERT_MSG(c->exit_code == 0, "snap %s: %s", a->forms[of], c->err);
}

/* Copies the only census of a series, which becomes the baseline. */
static const char *copy_out_of_series(struct answers *a)
{
	const char *series = snapshot_path(a->in, "series.hisnap");
	const char *copy = snapshot_path(a->in, "copied.hisnap");
	char first[NAME];
	struct hi_command *c =
		hi_heapinspect("snap", "-q", a->forms[ANSWER_PROCESS], "--every", "100ms",
			       "--for", "50ms", "-o", series);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(first, sizeof(first), "%s@first", series);
	c = hi_heapinspect("check", first, "--fail-on", "live.bytes < 1", "--baseline",
			   copy, "--update-baseline");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return copy;
}

static void make_forms(struct answers *a, const struct hi_fixture *fx)
{
	snprintf(a->forms[ANSWER_PROCESS], NAME, "--pid=%d", (int)fx->pid);
	snprintf(a->forms[ANSWER_CORE], NAME, "--core=%s", snapshot_core(fx, a->in));
	snap_form(a, ANSWER_PROCESS, ANSWER_FILE_OF_PROCESS, "process.hisnap", NULL);
	snap_form(a, ANSWER_CORE, ANSWER_FILE_OF_CORE, "core.hisnap", "--compress");
	snprintf(a->forms[ANSWER_FILE_OF_FILE], NAME, "%s", copy_out_of_series(a));
}

static json_t *list_addresses(const struct answers *a, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", a->forms[ANSWER_FILE_OF_PROCESS],
					      "-q", "--json", sql);

	return json_object_get(doc_of(c), "rows");
}

static void take_address(char ret[24], json_t *rows, size_t row)
{
	json_t *address = json_object_get(json_array_get(rows, row), "address");

	snprintf(ret, 24, "%s", json_string_value(address));
}

/* Takes live objects from all parts of the heap, and a leak: garbage, if there is some.
 */
static void choose_addresses(struct answers *a)
{
	json_t *live = list_addresses(
		a,
		"SELECT address FROM (SELECT address, ntile(4) OVER (ORDER BY address) "
		"AS part, type IS NOT NULL AND usable > 16 AS good FROM objects WHERE "
		"state = 'live') WHERE good GROUP BY part HAVING address = min(address)");
	json_t *leaks = list_addresses(
		a, "SELECT address FROM objects WHERE state = 'leak' ORDER BY "
		   "fate = 'garbage' DESC, address LIMIT 1");
	size_t n = json_array_size(live);

	HI_ASSERT(n > 0);
	for (size_t i = 0; i < ADDRESSES; i++)
		take_address(a->addresses[i], live, i % n);
	if (json_array_size(leaks))
		take_address(a->leak, leaks, 0);
}

/* ---- asking ---- */

static const char *word_of(const struct answers *a, const char *word,
			   enum answer_form form)
{
	const struct answer_target *t = a->target;
	const struct {
		const char *name, *word;
	} words[] = {{"@", a->forms[form]},
		     {"@file", a->forms[ANSWER_FILE_OF_PROCESS]},
		     {"@type", t->type},
		     {"@retainer", t->retainer},
		     {"@root", t->root},
		     {"@expression", t->expression},
		     {"@address0", a->addresses[0]},
		     {"@address1", a->addresses[1]},
		     {"@address2", a->addresses[2]},
		     {"@address3", a->addresses[3]},
		     {"@leak", a->leak}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].name, word) == 0)
			return words[i].word;
	return word;
}

static struct hi_command *ask_form(const struct answers *a, const struct question *q,
				   enum answer_form form)
{
	char *argv[QUESTION_WORDS + 6];
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect");
	for (size_t i = 0; i < QUESTION_WORDS && q->words[i]; i++) {
		argv[n++] = (char *)(uintptr_t)word_of(a, q->words[i], form);
		if (i == 0 && !question_has(q, "@"))
			argv[n++] = (char *)(uintptr_t)a->forms[form];
	}
	/* Markdown has no width. */
	if (question_has(q, "--full-names") && strcmp(q->words[0], "ticket") != 0)
		argv[n++] = (char *)(uintptr_t) "--width=200";
	argv[n++] = (char *)(uintptr_t) "-q";
	argv[n] = NULL;
	return hi_command_runv(0, argv);
}

static struct answer answer_of(const struct answers *a, const struct question *q,
			       enum answer_form form)
{
	struct hi_command *c = ask_form(a, q, form);

	c->out = answer_without_names(c->out, &c->out_size, a->in,
				      a->forms[ANSWER_PROCESS]);
	return (struct answer){.form = form, .name = a->forms[form], .command = c};
}

/* Status 1 means that something is found, and for diff that something has changed. */
static void check_answered(struct answers *a, const struct question *q,
			   const struct answer *answer)
{
	bool has_rows = (q->is & QUESTION_OF_FEW) || answer_has_rows(answer);
	int most = strcmp(q->words[0], "diff") == 0 ? 0 : 1;

	if (answer->command->exit_code <= most && has_rows)
		return;
	a->differ++;
	hi_test_note("%s: %s: exit %d, %s: %.300s", answer_text(q), answer->name,
		     answer->command->exit_code, has_rows ? "rows" : "no rows",
		     answer->command->err);
}

static void compare_answers(struct answers *a, const struct question *q,
			    const struct answer *one, const struct answer *other)
{
	a->differ += !answer_same(q, one, other);
}

static void check_live(struct answers *a, const struct question *q, enum answer_form form,
		       const struct answer *file)
{
	struct answer live = answer_of(a, q, form);

	check_answered(a, q, &live);
	compare_answers(a, q, &live, file);
}

/* Asks the file of the process and one of the others; at turn 0 the process as well, at
 * turn one_of the core. */
static void check_files(struct answers *a, const struct question *q, size_t turn)
{
	bool with_core = turn >= a->target->one_of;
	struct answer of_process = answer_of(a, q, ANSWER_FILE_OF_PROCESS);
	struct answer other =
		answer_of(a, q, with_core ? ANSWER_FILE_OF_CORE : ANSWER_FILE_OF_FILE);

	check_answered(a, q, &of_process);
	compare_answers(a, q, &of_process, &other);
	if (turn == 0)
		check_live(a, q, ANSWER_PROCESS, &of_process);
	if (turn == a->target->one_of)
		check_live(a, q, ANSWER_CORE, &other);
}

static void check_of_memory(struct answers *a, const struct question *q)
{
	struct answer process = answer_of(a, q, ANSWER_PROCESS);
	struct answer core = answer_of(a, q, ANSWER_CORE);

	check_answered(a, q, &process);
	compare_answers(a, q, &process, &core);
	HI_ASSERT_EQ(2, ask_form(a, q, ANSWER_FILE_OF_PROCESS)->exit_code);
}

static void put_question(struct answers *a, const struct question *q, size_t turn)
{
	if (q->is & a->target->lacks || (question_has(q, "@root") && !a->target->root))
		return;
	if (q->is & QUESTION_OF_MEMORY)
		check_of_memory(a, q);
	else
		check_files(a, q, turn);
}

/* ---- tables of query ---- */

#define RECORDED "it is of a recording: record_query_test.c, record_events_test.c"

/* Says why a table is not asked like the others; NULL: it is. */
static const char *find_other_table(const char *name)
{
	static const struct {
		const char *name, *why;
	} tables[] = {
		{"ledger", "it is a question, with a document"},
		{"censuses", "it is a question, with a document"},
		{"audit", "files have none: cli/commands/audit.c"},
		{"marks", "a series has marks: snap_series_test.c"},
		{"allocations", RECORDED},
		{"contexts", RECORDED},
		{"context_frames", RECORDED},
		{"pieces", RECORDED},
		{"events", RECORDED},
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strcmp(tables[i].name, name) == 0)
			return tables[i].why;
	return NULL;
}

/* Selects all columns of the table, hidden ones too, but for that of bins where there are
 * none. Free it. */
static char *select_all(size_t table, bool has_bins)
{
	struct hi_query_table t = hi_query_table(table);
	const char *between = "SELECT";
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);

	HI_ASSERT(out);
	for (size_t i = 0; i < t.n_columns; i++) {
		if (!has_bins && strcmp(t.columns[i].name, "bin") == 0)
			continue;
		fprintf(out, "%s \"%s\"", between, t.columns[i].name);
		between = ",";
	}
	fprintf(out, " FROM \"%s\"", t.name);
	fclose(out);
	return sql;
}

static void put_table(struct answers *a, size_t table, size_t turn)
{
	const char *name = hi_query_table(table).name, *root = a->target->root;
	char *sql = select_all(table, root);
	struct question q = {
		.words = {"query", "-f", "csv", sql, root ? "--root" : NULL, "@root"}};

	hi_test_defer(free, sql);
	if (!find_other_table(name) && (root || strcmp(name, "bins") != 0))
		put_question(a, &q, turn);
}

static struct hi_fixture *start_target(const struct answer_target *t)
{
	const char *const *words = t->arguments;
	struct hi_fixture *fx = hi_fixture_start(t->program, words[0], words[1], words[2],
						 words[3], words[4], NULL);
	char line[1200];

	do
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	while (strncmp(line, "ready", 5) != 0);
	hi_fixture_settle(fx);
	return fx;
}

static size_t turn_of(const struct answer_target *target, size_t number)
{
	return (number + target->first) % (2 * target->one_of);
}

void answers_check(const struct answer_target *target)
{
	struct answers a = {.target = target, .in = snapshot_directory()};
	size_t n = question_count();

	make_forms(&a, start_target(target));
	choose_addresses(&a);
	for (size_t i = 0; i < n; i++)
		put_question(&a, question_at(i), turn_of(target, i));
	for (size_t i = 0; i < hi_query_tables(); i++)
		put_table(&a, i, turn_of(target, n + i));
	for (size_t i = 0; i < target->n_more; i++)
		put_question(&a, &target->more[i], i % 2 ? target->one_of : 0);
	HI_ASSERT_MSG(!a.differ, "%zu answers differ", a.differ);
}

char *answers_values(const char *command, const char *option)
{
	static const char listed[] = "not one of ";
	char word[60], *list;

	snprintf(word, sizeof(word), "--%s=?", option);
	list = strstr(
		hi_heapinspect(command, HI_SOURCE_DIR "/tests/data/v1.hisnap", word)->err,
		listed);
	return list ? list + strlen(listed) : NULL;
}
