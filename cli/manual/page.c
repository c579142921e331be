/* SPDX-License-Identifier: BSD-2-Clause */
/* man(7) as groff and mandoc read it: see groff_man(7). */
#include <ctype.h>
#include <string.h>

#include "cli/manual/manual.h"

static const char examples_heading[] = "Examples:\n";

/* Text that is not markup: '\' and a first '.' or ''' would be; a bare '-' may
 * become a hyphen that cannot be pasted. */
static void put_page_text(FILE *out, const char *text, size_t n)
{
	bool at_start = true;

	for (size_t i = 0; i < n; i++) {
		if (at_start && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", out);
		if (text[i] == '\\')
			fputs("\\e", out);
		else if (text[i] == '-')
			fputs("\\-", out);
		else if (text[i] == '\'')
			fputs("\\(aq", out);
		else if (text[i] == '^')
			fputs("\\(ha", out);
		else if (text[i] == '~')
			fputs("\\(ti", out);
		else if (text[i] == '`')
			fputs("\\(ga", out);
		else
			fputc(text[i], out);
		at_start = text[i] == '\n';
	}
}

static void put_roff(FILE *out, const char *text)
{
	put_page_text(out, text, strlen(text));
}

static bool is_whole(const struct hi_command *command)
{
	return command->id == HI_COMMAND_SUMMARY;
}

/* "What is live, by type." as the line that whatis(1) shows. */
static void put_name(FILE *out, const struct hi_command *command)
{
	const char *purpose = command->purpose;
	size_t n = strlen(purpose);

	fputs(".SH NAME\nheapinspect", out);
	if (!is_whole(command))
		fprintf(out, "\\-%s", command->name);
	fputs(" \\- ", out);
	fputc(tolower((unsigned char)*purpose), out);
	put_page_text(out, purpose + 1, n - 1 - (purpose[n - 1] == '.'));
	fputc('\n', out);
}

/* The ways to name a target that this command takes. */
static void put_targets(FILE *out, const struct hi_command *command)
{
	if (!hi_manual_takes_pid(command))
		return;
	if (command->id == HI_COMMAND_DIFF)
		fputs("\\fIBEFORE.hisnap\\fR\n", out);
	fputs("{\\fB\\-\\-pid\\fR \\fIPID\\fR | \\fB\\-\\-name\\fR \\fINAME\\fR", out);
	if (command->id != HI_COMMAND_SAFEPOINTS)
		fputs(" | \\fB\\-\\-core\\fR \\fIFILE\\fR | \\fIFILE.hisnap\\fR", out);
	if (command->id != HI_COMMAND_SAFEPOINTS && !command->run_alone &&
	    !command->takes_expression)
		fputs(" | \\fB\\-\\-\\fR \\fIPROGRAM\\fR [\\fIARGUMENT\\fR...]", out);
	fputs("}\n", out);
}

static void put_synopsis(FILE *out, const struct hi_command *command)
{
	fputs(".SH SYNOPSIS\n.B heapinspect", out);
	if (is_whole(command)) {
		fputs("\n[\\fICOMMAND\\fR]\n", out);
	} else {
		fprintf(out, " %s\n", command->name);
		if (*command->arguments)
			put_roff(out, command->arguments);
	}
	if (!is_whole(command) && *command->arguments)
		fputc('\n', out);
	fputs("[\\fIOPTION\\fR...]\n", out);
	put_targets(out, command);
}

static void put_page_option(FILE *out, const struct hi_option_row *row)
{
	fputs(".TP\n", out);
	if (row->letter)
		fprintf(out, "\\fB\\-%c\\fR%s%s%s, ", row->letter,
			row->arg ? " \\fI" : "", row->arg ? row->arg : "",
			row->arg ? "\\fR" : "");
	fputs("\\fB\\-\\-", out);
	put_roff(out, row->name);
	fputs("\\fR", out);
	if (row->arg)
		fprintf(out, "=\\fI%s\\fR", row->arg);
	fputc('\n', out);
	put_roff(out, row->help);
	fputc('\n', out);
}

static bool has_options_below(const struct hi_command *command, size_t heading)
{
	for (size_t i = heading + 1; i < hi_option_table_size && hi_option_table[i].name;
	     i++)
		if (hi_manual_takes(&hi_option_table[i], command))
			return true;
	return false;
}

static void put_page_options(FILE *out, const struct hi_command *command)
{
	fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];

		if (hi_manual_takes(row, command))
			put_page_option(out, row);
		else if (!row->name && has_options_below(command, i))
			fprintf(out, ".SS %.*s\n", (int)strlen(row->help) - 1, row->help);
	}
	fputs(".SS Others\n"
	      ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\na page that shows "
	      "the options in short\n"
	      ".TP\n\\fB\\-\\-help\\-all\\fR\nall options, with their whole text\n"
	      ".TP\n\\fB\\-\\-usage\\fR\ntheir names\n"
	      ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nthe program's version\n",
	      out);
}

static void put_commands(FILE *out)
{
	fputs(".SH COMMANDS\nEach has a page of its own.\n", out);
	for (size_t i = 0; hi_commands[i]; i++) {
		if (is_whole(hi_commands[i]))
			continue;
		fprintf(out, ".TP\n.BR heapinspect\\-%s (1)\n", hi_commands[i]->name);
		put_roff(out, hi_commands[i]->purpose);
		fputc('\n', out);
	}
}

/* The part of the help before the examples: lines as they are. */
static void put_help_text(FILE *out, const struct hi_command *command)
{
	const char *end = strstr(command->help, examples_heading);
	size_t n = end ? (size_t)(end - command->help) : strlen(command->help);
	bool as_is;

	while (n && command->help[n - 1] == '\n')
		n--;
	if (!n || is_whole(command))
		return;
	/* A list keeps its lines. */
	as_is = memmem(command->help, n, "\n  ", 3) != NULL;
	fputs(as_is ? ".PP\n.nf\n" : ".PP\n", out);
	put_page_text(out, command->help, n);
	fputs(as_is ? "\n.fi\n" : "\n", out);
}

static void put_examples(FILE *out, const struct hi_command *command)
{
	const char *line = strstr(command->help, examples_heading);

	if (!line)
		return;
	fputs(".SH EXAMPLES\n.EX\n", out);
	for (line += strlen(examples_heading); strncmp(line, "  ", 2) == 0;) {
		size_t n = strcspn(line, "\n");

		put_page_text(out, line + 2, n - 2);
		fputc('\n', out);
		line += n + (line[n] == '\n');
	}
	fputs(".EE\n", out);
}

static void put_exit_status(FILE *out)
{
	fputs(".SH EXIT STATUS\n"
	      ".TP\n0\nfine\n"
	      ".TP\n1\na gate failed, or a difference was found\n"
	      ".TP\n2\nwrong usage, or an error\n"
	      ".TP\n3\ncannot attach\n"
	      ".TP\n4\nnot complete, with\n.B \\-\\-strict\n"
	      ".TP\n124\nthe pause budget or\n.B \\-\\-timeout\nran out\n"
	      ".TP\n126, 127\nthe program of\n.B \\-\\-\ncould not be started, or "
	      "was not found\n",
	      out);
}

static void put_environment(FILE *out)
{
	fputs(".SH ENVIRONMENT\n"
	      ".TP\n.B COLUMNS\nwidth of the output where it is no terminal (40 to "
	      "1000)\n"
	      ".TP\n.B NO_COLOR\nno colours, if it is not empty; also with\n.BR TERM "
	      "=dumb\n"
	      ".TP\n.B DEBUGINFOD_URLS\nservers of debug information, asked for the "
	      "files "
	      "that are not on this machine; needs libdebuginfod\n"
	      ".TP\n.BR XDG_CACHE_HOME ,\n.B HOME\nwhere the cache is\n"
	      ".TP\n.B XDG_RUNTIME_DIR\nwhere a series and\n.BR heapinspect\\-mark (1)\n"
	      "meet\n"
	      ".TP\n.B PATH\nwhere the program of\n.B \\-\\-\nis looked for\n",
	      out);
}

static void put_files(FILE *out)
{
	fputs(".SH FILES\n"
	      ".TP\n.I ~/.cache/heapinspect/\nindexes of debug information and inflated "
	      "copies of debug files, by build-id; may be removed at any time\n"
	      ".TP\n.I /run/user/UID/heapinspect/\nsockets of series that run\n"
	      ".TP\n.I /usr/lib/debug/\ndebug files, by build-id\n"
	      ".TP\n.I *.hisnap\nsnapshot files:\n.BR heapinspect\\-snapshot (5)\n"
	      ".TP\n.I *.hp\nheap profiles, for\n.BR heapinspect\\-graph (1)\n"
	      ".TP\n.I *.hints\nhints:\n.BR heapinspect\\-hints (5)\n"
	      ".PP\nFiles are written with mode 0600.\n",
	      out);
}

static void put_see_also(FILE *out, const struct hi_command *command)
{
	const char *comma = "";

	fputs(".SH SEE ALSO\n", out);
	if (!is_whole(command)) {
		fputs(".BR heapinspect (1)", out);
		comma = " ,\n";
	}
	for (size_t i = 0; hi_commands[i]; i++) {
		if (hi_commands[i] == command || is_whole(hi_commands[i]))
			continue;
		fprintf(out, "%s.BR heapinspect\\-%s (1)", comma, hi_commands[i]->name);
		comma = " ,\n";
	}
	fputs(" ,\n.BR heapinspect\\-hints (5) ,\n.BR heapinspect\\-snapshot (5) ,\n"
	      ".BR heapinspect\\-gates (7) ,\n.BR heapinspect\\-query (7)\n",
	      out);
}

void hi_manual_page(FILE *out, const struct hi_command *command, const char *by_hand)
{
	fputs(".\\\" SPDX-License-Identifier: BSD-2-Clause\n", out);
	fputs(".TH HEAPINSPECT", out);
	if (!is_whole(command)) {
		fputs("\\-", out);
		for (const char *c = command->name; *c; c++)
			fputc(toupper((unsigned char)*c), out);
	}
	fputs(" 1 \"\" \"heapinspect " HI_VERSION "\" \"User Commands\"\n", out);
	put_name(out, command);
	put_synopsis(out, command);
	fputs(".SH DESCRIPTION\n", out);
	fputs(by_hand, out);
	put_help_text(out, command);
	if (is_whole(command))
		put_commands(out);
	put_page_options(out, command);
	put_examples(out, command);
	put_exit_status(out);
	put_environment(out);
	put_files(out);
	put_see_also(out, command);
}
