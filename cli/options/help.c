/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/help.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command/command.h"
#include "cli/command/exit_codes.h"
#include "cli/options/option_row.h"

enum { COLUMNS_MOST = 79, TEXT_COLUMN = 29, HELP_TEXT_LINES = 10, EXAMPLES_MOST = 4 };

static const char examples_head[] = "Examples:\n";

/* ---- lines ---- */

static unsigned count_newlines(const char *text, size_t n)
{
	unsigned lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

/* Writes words of a text in lines of at most COLUMNS_MOST, later ones indented. */
struct wrapping {
	FILE *out;
	size_t column, indent;
	unsigned lines;
};

static void put_wrapped_word(struct wrapping *w, const char *word, size_t n)
{
	if (w->column > w->indent && w->column + 1 + n > COLUMNS_MOST) {
		fprintf(w->out, "\n%*s", (int)w->indent, "");
		w->lines++;
		w->column = w->indent;
	} else if (w->column && w->column != w->indent) {
		fputc(' ', w->out);
		w->column++;
	}
	fwrite(word, 1, n, w->out);
	w->column += n;
}

static unsigned put_wrapped_text(FILE *out, const char *text, size_t indent)
{
	struct wrapping w = {.out = out, .indent = indent, .lines = 1};

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t n = strcspn(text, " ");

		/* "--pid PID|--core FILE|FILE.hisnap|-- PROGRAM", the last word. */
		if (strncmp(text, "--pid", 5) == 0)
			n = strlen(text);
		put_wrapped_word(&w, text, n);
		text += n;
	}
	fputc('\n', out);
	return w.lines;
}

/* ---- groups of options ---- */

/* Rows of the table from a heading to the next one. */
struct option_group {
	size_t from, to;
	unsigned rows;	    /* that the command takes */
	unsigned described; /* the first of them; the rest is listed by name */
};
enum { GROUPS_MOST = 24 };

/* The first clause of a help, which ends outside of parentheses. */
static void put_wrapped_clause(struct wrapping *w, const char *text)
{
	bool ends = false;
	int depth = 0;

	for (text += strspn(text, " "); *text && !ends; text += strspn(text, " ")) {
		size_t n = strcspn(text, " ");

		for (size_t i = 0; i < n; i++)
			depth += (text[i] == '(') - (text[i] == ')');
		ends = text[n - 1] == ';' && depth == 0;
		put_wrapped_word(w, text, n - ends);
		text += n;
	}
}

/* Returns how many lines it is. */
static unsigned put_described_option(FILE *out, const struct hi_option_row *row)
{
	struct wrapping w = {.out = out, .indent = TEXT_COLUMN, .lines = 1};
	char left[80];
	int n = snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", row->letter ? '-' : ' ',
			 row->letter ? row->letter : ' ', row->letter ? ',' : ' ',
			 row->name, row->arg ? "=" : "", row->arg ? row->arg : "");

	if (n + 2 > TEXT_COLUMN) {
		fprintf(out, "%s\n", left);
		w.lines++;
		n = 0;
		*left = 0;
	}
	fprintf(out, "%-*s", TEXT_COLUMN, left);
	w.column = TEXT_COLUMN;
	put_wrapped_clause(&w, row->help);
	fputc('\n', out);
	return w.lines;
}

static bool takes_row(const struct hi_command *command, size_t i)
{
	return hi_option_table[i].name && hi_option_table[i].commands & 1u << command->id;
}

/* Returns how many lines it is. */
static unsigned put_option_group(FILE *out, const struct hi_command *command,
				 const struct option_group *g)
{
	struct wrapping w = {.out = out, .indent = 6, .lines = 1};
	unsigned left = g->described;
	char name[64];

	w.column = (size_t)fprintf(out, " %s", hi_option_table[g->from].help);
	if (left) {
		w.lines += g->described < g->rows;
		w.column = w.indent;
		fputc('\n', out);
	}
	for (size_t i = g->from; i < g->to; i++) {
		if (!takes_row(command, i))
			continue;
		if (left) {
			w.lines += put_described_option(out, &hi_option_table[i]);
			left -= 1;
			if (!left && g->described < g->rows)
				fprintf(out, "%*s", (int)w.indent, "");
			continue;
		}
		put_wrapped_word(&w, name,
				 (size_t)snprintf(name, sizeof(name), "--%s",
						  hi_option_table[i].name));
	}
	if (g->described < g->rows)
		fputc('\n', out);
	return w.lines;
}

static size_t find_option_groups(const struct hi_command *command,
				 struct option_group groups[GROUPS_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < hi_option_table_size && n < GROUPS_MOST;) {
		struct option_group g = {.from = i++};

		for (; i < hi_option_table_size && hi_option_table[i].name; i++)
			g.rows += takes_row(command, i);
		g.to = i;
		if (g.rows)
			groups[n++] = g;
	}
	return n;
}

/* Describes as many options as there are lines for: first of the second group, what to show,
 * then in their order. */
static void put_option_groups(FILE *out, const struct hi_command *command, unsigned lines)
{
	char *unused = NULL;
	size_t size = 0;
	FILE *nowhere = open_memstream(&unused, &size);
	struct option_group groups[GROUPS_MOST];
	size_t n = nowhere ? find_option_groups(command, groups) : 0;
	unsigned used = 0;

	for (size_t i = 0; i < n; i++)
		used += put_option_group(nowhere, command, &groups[i]);
	for (size_t k = 0; k < n; k++) {
		size_t i = k < 2 && n > 1 ? 1 - k : k;
		struct option_group g = groups[i];

		for (g.described = 1; g.described <= g.rows; g.described++) {
			unsigned more = put_option_group(nowhere, command, &g),
				 now = put_option_group(nowhere, command, &groups[i]);

			if (used - now + more > lines)
				continue;
			used = used - now + more;
			groups[i].described = g.described;
		}
	}
	for (size_t i = 0; i < n; i++)
		(void)put_option_group(out, command, &groups[i]);
	if (nowhere)
		fclose(nowhere);
	free(unused);
}

/* ---- the text of the command ---- */

/* Length of the text's first paragraphs that have no more than so many lines. */
static size_t first_paragraphs(const char *text, size_t n, unsigned lines)
{
	size_t length = 0;

	for (size_t i = 0; i + 1 < n; i++)
		if (text[i] == '\n' && text[i + 1] == '\n' &&
		    count_newlines(text, i + 2) <= lines)
			length = i + 2;
	return count_newlines(text, n) <= lines ? n : length;
}

static size_t first_lines(const char *text, unsigned lines)
{
	size_t n = 0;

	for (; lines && text[n]; lines--)
		n += strcspn(text + n, "\n") + (strchr(text + n, '\n') != NULL);
	return n;
}

/* The help as a whole, or less of it: text, then examples. */
static void put_command_text(FILE *out, const char *help)
{
	const char *examples = strstr(help, examples_head);
	size_t before = examples ? (size_t)(examples - help) : strlen(help);

	if (count_newlines(help, strlen(help)) < HELP_TEXT_LINES) {
		fprintf(out, "%s\n", help);
		return;
	}
	before = first_paragraphs(help, before, HELP_TEXT_LINES - EXAMPLES_MOST - 2);
	fwrite(help, 1, before, out);
	if (examples) {
		size_t n = first_lines(examples, 1 + EXAMPLES_MOST);

		fprintf(out, "%.*s%s", (int)n, examples, examples[n] ? "" : "\n");
	}
}

static void put_commands_page(FILE *out, const struct hi_command *command)
{
	const char *end = strstr(command->help, examples_head);

	fwrite(command->help, 1, end ? (size_t)(end - command->help) : 0, out);
	fputs("Example:\n"
	      "  heapinspect --pid 4242\n"
	      "heapinspect COMMAND --help has its options; --help-all describes all "
	      "of them.\n",
	      out);
}

/* ---- the pages ---- */

void hi_help_print_page(const struct hi_command *command, const char *usage)
{
	char *text = NULL;
	size_t n = 0;
	FILE *after = open_memstream(&text, &n);
	unsigned lines = 0;

	if (!after)
		return;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	lines += put_wrapped_text(stdout, usage, 12);
	lines += put_wrapped_text(stdout, command->purpose, 0);
	if (command == &hi_command_summary) {
		put_commands_page(after, command);
	} else {
		put_command_text(after, command->help);
		fprintf(after,
			"\nAll options: heapinspect %s --help-all, or man "
			"heapinspect-%s\n",
			command->name, command->name);
	}
	fclose(after);
	fputc('\n', stdout);
	lines += 2 + count_newlines(text, n);
	if (command != &hi_command_summary) {
		put_option_groups(stdout, command,
				  lines < HI_HELP_LINES ? HI_HELP_LINES - lines : 0);
		fputc('\n', stdout);
	}
	fwrite(text, 1, n, stdout);
	free(text);
}

/* The examples are to be copied: no line of them is wrapped. */
void hi_help_print_all(const struct argp *argp, const struct hi_command *command,
		       char *name)
{
	/* Written at once, so that errno is that of the write. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	argp_help(argp, stdout,
		  ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_PRE_DOC, name);
	printf("\n%s\n", command->help);
}

static bool has_reader_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP);
}

/* A reader that has gone (| head) is no error to be reported; the write that saw it may have
 * been an earlier one. */
int hi_help_finish(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return HI_EXIT_FINE;
	if (errno == EPIPE || has_reader_gone())
		return 128 + SIGPIPE;
	fprintf(stderr, "heapinspect: cannot write the help: %s\n",
		strerror(errno ? errno : EIO));
	return HI_EXIT_ERROR;
}
