/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/query.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/options/option_take.h"
#include "cli/options/query_source.h"
#include "session/operands.h"
#include "session/snapshot/snapshot_source.h"
#include "cli/command/complaints.h"

/* Rows of a table on the screen, which are kept until the last one has come. */
enum { TOP = 10000, WARNINGS = 3, SQL_MOST = 1 << 20 };

enum hi_query_format hi_query_format(const struct hi_options *o)
{
	return (enum hi_query_format)hi_option_format(o, o->output.json ? HI_QUERY_JSON
									: HI_QUERY_TABLE);
}

/* ---- ^C ---- */

static struct sigaction before;

/* The first one ends the statement; what is computed for it does not look: the second
 * ends the program, as it would have before. */
static void on_interrupt(int number)
{
	hi_query_interrupt();
	sigaction(number, &before, NULL);
}

static void watch_interrupt(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

/* Does what the signal would have done, so that a shell sees it. */
static enum hi_status die_of_interrupt(struct hi_output *output, uint64_t n_rows,
				       struct hi_error *err)
{
	if (output->file == stdout)
		fflush(stdout);
	fprintf(stderr, "heapinspect: query: interrupted after %" PRIu64 " row%s\n",
		n_rows, n_rows == 1 ? "" : "s");
	sigaction(SIGINT, &before, NULL);
	raise(SIGINT);
	return hi_fail(err, HI_TIMEOUT, 0, "%s", "");
}

/* ---- the statement ---- */

static enum hi_status read_statement(struct hi_inspection *in, const char **ret,
				     struct hi_error *err)
{
	char *text;
	size_t n;

	*ret = in->options->argument;
	if (strcmp(*ret, "-") != 0)
		return HI_OK;
	text = hi_arena_alloc(&in->arena, SQL_MOST + 1);
	if (!text)
		return hi_fail_memory(err, "statement");
	n = fread(text, 1, SQL_MOST, stdin);
	if (n == SQL_MOST || memchr(text, 0, n))
		return hi_fail(err, HI_USAGE, 0,
			       "query: standard input is not an SQL statement");
	*ret = text;
	return HI_OK;
}

void hi_query_point_at(const char *sql, size_t offset)
{
	char line[512];
	size_t n = strlen(sql), from, length;

	from = offset = offset < n ? offset : n;
	while (from > 0 && sql[from - 1] != '\n')
		from--;
	length = strcspn(sql + from, "\n");
	if (length < sizeof(line)) {
		memcpy(line, sql + from, length);
		line[length] = 0;
		hi_complaints_point_at(line, offset - from);
	}
}

static enum hi_status prepare_statement(struct hi_query *q, const char *sql,
					struct hi_error *err)
{
	struct hi_query_mistake mistake;
	enum hi_status status = hi_query_prepare(q, sql, &mistake, err);

	if (status != HI_USAGE)
		return status;
	hi_option_wrong("%s", err->text);
	if (mistake.offset != SIZE_MAX)
		hi_query_point_at(sql, mistake.offset);
	if (mistake.hint[0])
		fprintf(hi_complaints(), "  %s\n", mistake.hint);
	return hi_fail(err, HI_USAGE, 0, "%s", "");
}

static enum hi_status copy_rows(struct hi_query *q, struct hi_result *result,
				struct hi_error *err)
{
	const struct hi_result_cell *cells;
	enum hi_status status = hi_query_step(q, &cells, err);

	while (status == HI_OK && cells) {
		status = hi_result_row(result, cells, err);
		/* A closed pipe is not an error: its reader has enough. */
		if (status == HI_OK && result->to.csv && ferror(result->to.csv))
			return HI_OK;
		if (status == HI_OK)
			status = hi_query_step(q, &cells, err);
	}
	return status == HI_OK ? hi_result_end(result, err) : status;
}

/* ---- as a page, and as a document ---- */

static void show_head(const struct hi_report_header *header, struct hi_page *page)
{
	if (!header->file) {
		hi_report_header_facts(header, page, false);
		hi_page_blank(page);
		return;
	}
	for (size_t i = 0; i < header->n_warnings && i < WARNINGS; i++)
		hi_page_warning(page, hi_page_safe(page, header->warnings[i]));
}

static void show_query_row_counts(const struct hi_result *result, struct hi_page *page)
{
	char all[32], shown[32];

	hi_count(all, result->n_rows);
	if (result->n_rows > result->most)
		hi_page_warning(page,
				hi_page_printf(page,
					       "%s of %s rows are shown; --all shows all "
					       "of them, --format csv writes all",
					       hi_count(shown, result->most), all));
	else
		hi_page_note(page, hi_page_printf(page, "%s row%s", all,
						  result->n_rows == 1 ? "" : "s"));
}

/* A statement that was prepared, and its rows. */
struct answer {
	struct hi_inspection *in;
	const struct hi_report_header *header;
	struct hi_query *q;
	const char *sql;
	struct hi_result result;
};

static enum hi_status put_answer(struct answer *a, struct hi_result_target to,
				 size_t most, struct hi_error *err)
{
	size_t n = 0;
	const struct hi_result_column *columns = hi_query_columns(a->q, &n);
	enum hi_status status = hi_result_begin(&a->result, to, columns, n, most, err);

	return status == HI_OK ? copy_rows(a->q, &a->result, err) : status;
}

static enum hi_status fill_answer(void *report, struct hi_page *page,
				  struct hi_json *json, struct hi_error *err)
{
	struct answer *a = report;
	enum hi_status status;

	if (json) {
		hi_report_header_json(a->header, "heapinspect/query/v1", json);
		hi_json_text(json, "sql", a->sql);
		status = put_answer(a, (struct hi_result_target){.json = json}, 0, err);
		if (status == HI_OK)
			hi_json_end(json);
		return status;
	}
	show_head(a->header, page);
	status = put_answer(a, (struct hi_result_target){.page = page},
			    hi_lookup_top(a->in->options, TOP), err);
	if (status == HI_OK)
		show_query_row_counts(&a->result, page);
	return status;
}

static enum hi_status answer_statement(struct answer *a, struct hi_output *output,
				       struct hi_error *err)
{
	const enum hi_query_format format = hi_query_format(a->in->options);
	enum hi_status status;

	if (format == HI_QUERY_JSON)
		status = hi_write_json(output, fill_answer, a, err);
	else if (format == HI_QUERY_CSV)
		status = put_answer(a, (struct hi_result_target){.csv = output->file}, 0,
				    err);
	else
		status = hi_write_page(a->in->options, output, fill_answer, a, err);
	if (status == HI_TIMEOUT)
		status = die_of_interrupt(output, a->result.n_rows, err);
	hi_result_free(&a->result);
	return status;
}

static enum hi_status write_answer(struct hi_inspection *in,
				   const struct hi_report_header *header,
				   struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_query_close) struct hi_query *q = NULL;
	struct hi_query_feed feed;
	const char *sql = NULL;
	enum hi_status status;

	hi_inspect_phase(in, "query");
	hi_query_feed_begin(&feed, in, header->time_ns);
	status = read_statement(in, &sql, err);
	if (status == HI_OK)
		status = hi_query_open(&feed.source, &q, err);
	if (status == HI_OK)
		status = prepare_statement(q, sql, err);
	if (status == HI_OK) {
		if (in->run->most_sql_ns)
			hi_query_limit_time(q, in->run->most_sql_ns);
		else
			watch_interrupt();
		status = answer_statement(&(struct answer){in, header, q, sql, {}},
					  output, err);
	}
	hi_query_close(hi_take(q));
	hi_query_feed_end(&feed);
	return status == HI_OK ? hi_inspect_check(in, err) : status;
}

static void settle_query(struct hi_options *o)
{
	if (o->output.schema || !o->argument)
		o->command = &hi_command_query_schema;
}

int hi_query_check(const struct hi_given *given)
{
	const struct hi_options *o = given->options;

	return o->output.json && hi_query_format(o) != HI_QUERY_JSON
		       ? hi_option_wrong("--json and --format %s: only one of them",
					 o->output.format)
		       : 0;
}

const struct hi_command hi_command_query = {
	.id = HI_COMMAND_QUERY,
	.name = "query",
	.arguments = "[SQL]",
	.purpose = "Run one SELECT over objects, edges, types, roots and tables computed "
		   "from them.",
	.help = "Tables: objects, edges, types, roots, frames, dominators, "
		"retainer_sets,\n"
		"bins (of each --root), ledger, censuses, marks, audit, and those of a\n"
		"recording: allocations, contexts, context_frames. Without SQL, the "
		"command\n"
		"lists their columns, as in docs/QUERY.md. The SQL dialect is that of "
		"SQLite.\n"
		"With -, the statement is read from standard input.\n"
		"\n"
		"Examples:\n"
		"  heapinspect query app.hisnap 'SELECT type, count(*), sum(shallow) "
		"FROM objects GROUP BY type ORDER BY 3 DESC LIMIT 10'\n"
		"  heapinspect query app.hisnap --format csv \"SELECT address FROM "
		"objects WHERE state = 'leak'\"\n"
		"  heapinspect query app.hisnap 'SELECT label, source FROM edges WHERE "
		"target = object_at(0x55d0c8a412a0)'",
	.wanted = HI_WANT_LEDGER,
	.write = write_answer,
	.takes_roots_alone = true,
	.groups_by_retainers = true,
	.settle = settle_query,
	.check = hi_query_check,
	.page = HI_COMMAND_PAGE_WITH_ARGUMENT,
	.page_form = "sql",
};
