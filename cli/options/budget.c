/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gates of `check`: --fail-on, and budget files, which have one a line.
 *
 *	# what a release may cost
 *	no leaks: leak.bytes > 64KiB
 *	live.bytes > 512MiB		# the name may be left out
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/complaints.h"
#include "cli/options/option_take.h"
#include "cli/options/option_values.h"

/* A budget is written by people. */
enum { SIZE_MOST = 1 << 20, GATES_MOST = 1000 };

/* A line of the file while it is parsed. */
struct budget_line {
	const char *file;
	unsigned number;
	char *text; /* of the gate, without its name and the comment */
	const char *name;
};

static int refuse_file(const char *file, const char *why)
{
	return hi_option_wrong("--budget %s: %s", file, why);
}

/* The whole file, with a zero behind it. */
static int read_budget(const char *file, char **ret)
{
	__attribute__((cleanup(hi_guard_close))) int fd =
		open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	HI_GUARD(free) char *text = hi_alloc(SIZE_MOST + 1);
	struct stat st;
	ssize_t got = 0;
	size_t n = 0;

	if (!text)
		return refuse_file(file, "out of memory");
	if (fd < 0 || fstat(fd, &st) != 0)
		return refuse_file(file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse_file(file, "not a file");
	while (n <= SIZE_MOST && (got = read(fd, text + n, SIZE_MOST + 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		return refuse_file(file, strerror(errno));
	if (n > SIZE_MOST)
		return refuse_file(file, "larger than 1 MiB");
	if (memchr(text, 0, n))
		return refuse_file(file, "not a text file");
	text[n] = 0;
	*ret = hi_take(text);
	return 0;
}

/* A # outside of quotes begins a comment. */
static void cut_comment(char *line)
{
	bool quoted = false;

	for (; *line; line++) {
		quoted ^= *line == '"';
		if (*line == '#' && !quoted) {
			*line = 0;
			return;
		}
	}
}

static char *trim_budget_text(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	n = strlen(text);
	while (n && strchr(" \t\r", text[n - 1]))
		text[--n] = 0;
	return text;
}

/* "NAME: EXPR". No expression has a colon outside of quotes. */
static void split_name(struct budget_line *line)
{
	char *colon = line->text + strcspn(line->text, ":\"");

	line->name = "";
	if (*colon != ':')
		return;
	*colon = 0;
	line->name = trim_budget_text(line->text);
	line->text = trim_budget_text(colon + 1);
}

static int refuse_line(const struct budget_line *line, const char *why)
{
	return hi_option_wrong("%s:%u: %s", line->file, line->number, why);
}

static int add_budget_gate(const struct budget_line *line, struct hi_check_options *check)
{
	struct hi_gate *gates =
		hi_realloc_array(check->gates, check->n_gates + 1, sizeof(*gates));
	const char *text = hi_arena_strdup(&check->gate_names, line->text);
	const char *name = hi_arena_strdup(&check->gate_names, line->name);
	struct hi_error err = {};
	size_t column = 0;

	if (gates)
		check->gates = gates;
	if (!gates || !text || !name)
		return refuse_line(line, "out of memory");
	if (check->n_gates == GATES_MOST)
		return refuse_line(line, "more than 1000 gates");
	if (hi_gate_parse(text, &check->gate_names, &gates[check->n_gates], &column,
			  &err) != HI_OK) {
		refuse_line(line, err.text);
		hi_complaints_point_at(text, column);
		return 2;
	}
	gates[check->n_gates].name = name;
	gates[check->n_gates].file = line->file;
	gates[check->n_gates++].line = line->number;
	return 0;
}

static int take_budget_line(struct budget_line *line, struct hi_check_options *check)
{
	cut_comment(line->text);
	line->text = trim_budget_text(line->text);
	if (!*line->text)
		return 0;
	split_name(line);
	if (!*line->text)
		return refuse_line(line, "an expression is missing behind the name");
	return add_budget_gate(line, check);
}

/* Adds the gates of the file to the check's; their texts and names live in its arena. A
 * file without a gate is an error. */
int hi_option_take_budget(const struct hi_option_row *row, char *value,
			  struct hi_options *o)
{
	HI_GUARD(free) char *text = NULL;
	struct budget_line line = {.file = value};
	size_t before = o->check.n_gates;
	char *at;

	if (hi_option_take_once(row->name, value, hi_option_place(row, o)) != 0 ||
	    read_budget(value, &text) != 0)
		return 2;
	at = text;
	while ((line.text = strsep(&at, "\n"))) {
		line.number++;
		if (take_budget_line(&line, &o->check) != 0)
			return 2;
	}
	return o->check.n_gates > before ? 0
					 : refuse_file(value, "the file has no gates");
}

/* With a caret below the place of an error. */
int hi_option_take_gate(const struct hi_option_row *row, char *value,
			struct hi_options *o)
{
	struct hi_check_options *check = &o->check;
	struct hi_gate *gates =
		hi_realloc_array(check->gates, check->n_gates + 1, sizeof(*gates));
	struct hi_error err = {};
	size_t column = 0;

	if (!gates)
		return hi_option_wrong("--%s: out of memory", row->name);
	check->gates = gates;
	if (hi_gate_parse(value, &check->gate_names, &gates[check->n_gates], &column,
			  &err) == HI_OK) {
		check->n_gates++;
		return 0;
	}
	hi_option_wrong("--%s: %s", row->name, err.text);
	hi_complaints_point_at(value, column);
	return 2;
}
