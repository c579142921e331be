/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/json.h"
#include "tests/support/answers_same.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

/* Says whose answers are compared. */
enum {
	OF_PROCESS = 1, /* the process and its file */
	OF_CORE = 2,	/* the core and its file */
	OF_SOURCES = 4, /* a process and a core, or their files */
	OF_FILES = 8,	/* the file of the process and the file of a file */
	OF_STOPS = OF_PROCESS | OF_SOURCES | OF_FILES, /* each has a stop of its own */
	OF_ALL = 15,
	BOTH_KNOWN = 16 /* where both are numbers */
};

#define STOPPED "it is of the stop, and each has its own"
#define NAMED "it names the heap that was asked"
#define NO_STOP "a core was not stopped"
#define NO_PAGES "a core does not know which pages were resident or swapped"
#define RECLAIMED "the kernel takes pages from a process when memory is short"
#define NO_PLACE "a file finds roots by the names of edges: a record is what it refers to"
#define NO_EVIDENCE "a file has the kind of evidence for a type, and not the chain of it"
#define NO_RUNTIME "a file has objects, and not what their runtime says of them"
#define NO_HEAD "a table of a file has no head"
#define MEASURED "it has how it was measured, and what a recording would add"
#define NO_SITES "a file of a series has no calls that allocate"
#define NO_CONTENTS "a file of a series has no contents of objects"

/* A difference by design. Patterns are those of fnmatch(3), with FNM_EXTMATCH; none is
 * wider than its reason. */
struct difference {
	const char *command; /* NULL: of all */
	const char *is;	     /* a member, or a line of a text */
	unsigned between;
	const char *reason;
};
static const struct difference members[] = {
	{NULL, "snapshot.time_ns", OF_STOPS, STOPPED},
	{NULL, "snapshot.pause_ns", OF_STOPS, STOPPED},
	{NULL, "snapshot.mode", OF_SOURCES, NO_STOP},
	{NULL, "snapshot.safepoint", OF_SOURCES, NO_STOP},
	{NULL, "snapshot.bytes_copied", OF_SOURCES, NO_STOP},
	{NULL, "snapshot.pages_never_touched", OF_STOPS, RECLAIMED},
	{NULL, "snapshot.pages_swapped", OF_STOPS, RECLAIMED},
	{"summary", "ledger.!(rows*)", OF_SOURCES, NO_PAGES},
	{"summary", "ledger.rows.resident", OF_SOURCES, NO_PAGES},
	{"summary", "ledger.rows.swapped", OF_SOURCES, NO_PAGES},
	{"summary", "ledger.!(rows*)", OF_STOPS | BOTH_KNOWN, RECLAIMED},
	{"summary", "ledger.rows.resident", OF_STOPS | BOTH_KNOWN, RECLAIMED},
	{"summary", "ledger.rows.swapped", OF_STOPS | BOTH_KNOWN, RECLAIMED},
	{"query", "rows.resident", OF_STOPS | BOTH_KNOWN, RECLAIMED},
	{"query", "rows.swapped", OF_STOPS | BOTH_KNOWN, RECLAIMED},
	{"query", "rows.resident", OF_SOURCES, NO_PAGES},
	{"query", "rows.swapped", OF_SOURCES, NO_PAGES},
	{"query", "rows.time_ns", OF_STOPS, STOPPED},
	{"waste", "residency_known", OF_SOURCES, NO_PAGES},
	{"waste", "pages.*", OF_SOURCES, NO_PAGES},
	{"waste", "groups.text", OF_FILES, NO_CONTENTS},
	{"waste", "groups.cut", OF_FILES, NO_CONTENTS},
	{"leaks", "rows.made_by*", OF_FILES, NO_SITES},
	{"leaks", "roots.made_by*", OF_FILES, NO_SITES},
	{"leaks", "rows.text*", OF_FILES, NO_CONTENTS},
	{"leaks", "roots.text*", OF_FILES, NO_CONTENTS},
	{"summary", "leaks.roots.made_by*", OF_FILES, NO_SITES},
	{"summary", "?(lesser_)suspects.made_by*", OF_FILES, NO_SITES},
	{"explain", "rows.made_by*", OF_FILES, NO_SITES},
	{"summary", "leaks.roots.text*", OF_FILES, NO_CONTENTS},
	{"explain", "rows.fields*", OF_FILES, NO_CONTENTS},
	{"explain", "rows.mapping", OF_PROCESS | OF_CORE, NO_EVIDENCE},
	{"explain", "rows.evidence_text", OF_PROCESS | OF_CORE, NO_EVIDENCE},
	{"explain", "rows.proof", OF_PROCESS | OF_CORE, NO_EVIDENCE},
	{"explain", "rows.id", OF_PROCESS | OF_CORE, NO_RUNTIME},
	{"explain", "rows.counted", OF_PROCESS | OF_CORE, NO_RUNTIME},
	{"explain", "rows.name", OF_PROCESS | OF_CORE, NO_RUNTIME},
	{"explain", "rows.value", OF_PROCESS | OF_CORE, NO_RUNTIME},
	{"roots", "roots.address", OF_PROCESS | OF_CORE, NO_PLACE},
	{"roots", "roots.type", OF_PROCESS | OF_CORE, NO_PLACE},
	{"roots", "roots.starts", OF_PROCESS | OF_CORE, NO_PLACE},
	{"diff", "after.time_ns", OF_STOPS, STOPPED},
};
static const struct difference lines[] = {
	{NULL, "*, pid *", OF_ALL, NAMED},
	{NULL, "*, core *", OF_ALL, NAMED},
	{NULL, "  paused *", OF_STOPS, STOPPED},
	{"summary", "*", OF_STOPS, RECLAIMED},
	{"leaks", "*", OF_FILES, NO_SITES},
	{"ticket", "*", OF_ALL, MEASURED},
	{"waste", "*", OF_SOURCES, NO_PAGES},
	{"waste", "*", OF_FILES, NO_CONTENTS},
	{"graph", "* UTC</text>", OF_STOPS, STOPPED},
	{"export", "heapinspect_rss_bytes*", OF_STOPS, RECLAIMED},
	{"export", "# * heapinspect_rss_bytes *", OF_SOURCES, NO_PAGES},
	{"export", "DATE *", OF_STOPS, STOPPED},
	{"explain", "*", OF_PROCESS | OF_CORE, NO_EVIDENCE},
	{"explain", "*", OF_FILES, NO_CONTENTS},
	{"query", "*", OF_PROCESS | OF_CORE, NO_HEAD},
};

static unsigned pair_of(const struct answer *one, const struct answer *other)
{
	if (one->form == ANSWER_PROCESS && other->form == ANSWER_FILE_OF_PROCESS)
		return OF_PROCESS;
	if (one->form == ANSWER_CORE && other->form == ANSWER_FILE_OF_CORE)
		return OF_CORE;
	return other->form == ANSWER_FILE_OF_FILE ? OF_FILES : OF_SOURCES;
}

static bool may_differ(const struct difference *list, size_t n, const char *command,
		       unsigned pair, bool both_known, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].between & pair &&
		    (both_known || !(list[i].between & BOTH_KNOWN)) &&
		    (!list[i].command || strcmp(list[i].command, command) == 0) &&
		    fnmatch(list[i].is, text, FNM_EXTMATCH) == 0)
			return true;
	return false;
}

const char *answer_text(const struct question *q)
{
	static char text[600];
	size_t n = 0;

	for (size_t i = 0; i < QUESTION_WORDS && q->words[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "",
				      q->words[i]);
	return text;
}

static void tell(const struct question *q, const struct answer *one,
		 const struct answer *other, const char *where, const char *a,
		 const char *b)
{
	hi_test_note("%s\n  %s, %s: %s\n  %.400s\n  %.400s", answer_text(q), one->name,
		     other->name, where, a, b);
}

/* ---- names ---- */

/* Counts the bytes of text that are a name of a heap; 0: none. */
static size_t name_length(const char *text, const char *directory, const char *process)
{
	size_t option = strncmp(text, "--core ", 7) == 0 ? 7 : 0, n = strlen(directory);

	if (strncmp(text, "--pid ", 6) == 0 &&
	    strncmp(text + 6, process + 6, strlen(process + 6)) == 0)
		return strlen(process);
	if (strncmp(text + option, directory, n) != 0)
		return 0;
	return option + n +
	       strspn(text + option + n, "/.0123456789abcdefghijklmnopqrstuvwxyz");
}

char *answer_without_names(char *out, size_t *size, const char *directory,
			   const char *process)
{
	const char *end = out + *size;
	char *ret = NULL;
	FILE *to = open_memstream(&ret, size);

	HI_ASSERT(to);
	for (const char *at = out; at < end;) {
		size_t n = *at == '-' || *at == '/' ? name_length(at, directory, process)
						    : 0;

		fputc(n ? '@' : *at, to);
		at += n ? n : 1;
	}
	fclose(to);
	free(out);
	return ret;
}

/* ---- documents ---- */

struct comparison {
	const struct question *q;
	const struct answer *one, *other;
	unsigned pair;
	size_t differ;
};

/* path: names of members, with dots between; an element has that of its array. */
static void compare_members(struct comparison *c, json_t *a, json_t *b, const char *path);

static void compare_objects(struct comparison *c, json_t *a, json_t *b, const char *path)
{
	const char *key;
	json_t *value;
	char inside[200];

	json_object_foreach(a, key, value)
	{
		snprintf(inside, sizeof(inside), "%s%s%s", path, *path ? "." : "", key);
		compare_members(c, value, json_object_get(b, key), inside);
	}
	json_object_foreach(b, key, value)
	{
		if (json_object_get(a, key))
			continue;
		snprintf(inside, sizeof(inside), "%s%s%s", path, *path ? "." : "", key);
		compare_members(c, NULL, value, inside);
	}
}

static void compare_arrays(struct comparison *c, json_t *a, json_t *b, const char *path)
{
	for (size_t i = 0; i < json_array_size(a); i++)
		compare_members(c, json_array_get(a, i), json_array_get(b, i), path);
}

static void tell_members(struct comparison *c, json_t *a, json_t *b, const char *path)
{
	char *one = a ? json_dumps(a, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	char *other = b ? json_dumps(b, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (c->differ++ < 3)
		tell(c->q, c->one, c->other, path, one ? one : "nothing",
		     other ? other : "nothing");
	free(one);
	free(other);
}

static void compare_members(struct comparison *c, json_t *a, json_t *b, const char *path)
{
	if (a && b && json_equal(a, b))
		return;
	if (may_differ(members, sizeof(members) / sizeof(*members), c->q->words[0],
		       c->pair, json_is_number(a) && json_is_number(b), path))
		return;
	if (json_is_object(a) && json_is_object(b))
		compare_objects(c, a, b, path);
	else if (json_is_array(a) && json_is_array(b) &&
		 json_array_size(a) == json_array_size(b))
		compare_arrays(c, a, b, path);
	else
		tell_members(c, a, b, path);
}

static json_t *parse_answer(const struct answer *answer)
{
	return json_loadb(answer->command->out, answer->command->out_size, 0, NULL);
}

static bool same_documents(struct comparison *c)
{
	json_t *a = parse_answer(c->one), *b = parse_answer(c->other);

	if (a && b)
		compare_members(c, a, b, "");
	else
		tell_members(c, a, b, "no document");
	json_decref(a);
	json_decref(b);
	return !c->differ;
}

bool answer_has_rows(const struct answer *answer)
{
	json_t *doc = parse_answer(answer), *rows = json_object_get(doc, "rows");
	bool ret = rows ? json_array_size(rows) : answer->command->out_size;

	json_decref(doc);
	return ret;
}

/* ---- texts ---- */

/* A command that is suggested may have an explanation, where there is room for it. */
static void cut_explanation(char *line)
{
	char *at = strncmp(line, "  heapinspect ", 14) == 0 ? strstr(line, "  #") : NULL;

	while (at && at > line && at[-1] == ' ')
		at--;
	if (at)
		*at = '\0';
}

/* The next line that may not differ; NULL: there is none. */
static char *next_line(const struct comparison *c, char **text)
{
	char *line;

	while ((line = strsep(text, "\n"))) {
		cut_explanation(line);
		if (!may_differ(lines, sizeof(lines) / sizeof(*lines), c->q->words[0],
				c->pair, true, line))
			return line;
	}
	return NULL;
}

static bool same_texts(struct comparison *c)
{
	char *a = strdup(c->one->command->out), *b = strdup(c->other->command->out);
	char *one = a, *other = b, *x, *y;

	do {
		x = next_line(c, &one);
		y = next_line(c, &other);
		if (x && y && strcmp(x, y) == 0)
			continue;
		if ((x || y) && c->differ++ < 3)
			tell(c->q, c->one, c->other, "line", x ? x : "the end",
			     y ? y : "the end");
	} while (x && y);
	free(a);
	free(b);
	return !c->differ;
}

/* Cannot leave out the time, which is in each of them. */
static bool same_bytes(struct comparison *c)
{
	const struct hi_command *a = c->one->command, *b = c->other->command;

	if (a->out_size == b->out_size && memcmp(a->out, b->out, a->out_size) == 0)
		return true;
	if (c->pair & OF_STOPS)
		return true;
	tell(c->q, c->one, c->other, "bytes", "some", "others");
	return false;
}

bool answer_same(const struct question *q, const struct answer *one,
		 const struct answer *other)
{
	struct comparison c = {
		.q = q, .one = one, .other = other, .pair = pair_of(one, other)};
	const struct hi_command *a = one->command, *b = other->command;

	if (a->exit_code != b->exit_code) {
		tell(q, one, other, "exit status", a->err, b->err);
		return false;
	}
	if (memchr(a->out, 0, a->out_size))
		return same_bytes(&c);
	if (a->out_size == b->out_size && memcmp(a->out, b->out, a->out_size) == 0)
		return true;
	return a->out[0] == '{' ? same_documents(&c) : same_texts(&c);
}
