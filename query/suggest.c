/* SPDX-License-Identifier: BSD-2-Clause */
/* "no such column: retaned": finds existing names that are similar. */
#include <stdio.h>
#include <string.h>

#include "base/near_names.h"
#include "query/query_internal.h"

enum { NAMES_MOST = 256 };

struct names {
	const char *items[NAMES_MOST];
	uint32_t count;
};

static void add_suggestion(struct names *names, const char *name)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return;
	if (names->count < NAMES_MOST)
		names->items[names->count++] = name;
}

static bool mentions_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; *at; at++)
		if (sqlite3_strnicmp(at, word, (int)n) == 0)
			return true;
	return false;
}

/* Columns of the tables that the statement names; of all, when it names none. */
static void suggest_columns(struct names *names, const char *sql)
{
	for (int pass = 0; pass < 2 && !names->count; pass++)
		for (size_t t = 0; hi_query_all[t]; t++) {
			const struct hi_query_ops *ops = hi_query_all[t];

			if (pass == 0 && !mentions_word(sql, ops->name))
				continue;
			for (size_t c = 0; c < ops->n_columns; c++)
				add_suggestion(names, ops->columns[c].name);
		}
}

static void suggest_tables(struct names *names)
{
	for (size_t t = 0; hi_query_all[t]; t++)
		add_suggestion(names, hi_query_all[t]->name);
}

static const char *get_suggestion(void *arg, uint32_t i)
{
	return ((const struct names *)arg)->items[i];
}

static void write_hint(struct names *names, const char *name,
		       struct hi_query_mistake *mistake)
{
	const char *near[HI_NAMES_NEAREST];
	const char *dot = strrchr(name, '.');

	hi_names_nearest(dot ? dot + 1 : name, get_suggestion, names, names->count, near);
	if (near[0])
		snprintf(mistake->hint, sizeof(mistake->hint), "near it: %s%s%s%s%s",
			 near[0], near[1] ? ", " : "", near[1] ? near[1] : "",
			 near[2] ? ", " : "", near[2] ? near[2] : "");
}

void hi_query_suggest(const char *message, const char *sql,
		      struct hi_query_mistake *mistake)
{
	static const char column[] = "no such column: ", table[] = "no such table: ";
	struct names names = {};

	if (strncmp(message, table, strlen(table)) == 0) {
		suggest_tables(&names);
		write_hint(&names, message + strlen(table), mistake);
	}
	if (strncmp(message, column, strlen(column)) != 0)
		return;
	if (mistake->offset < strlen(sql) && sql[mistake->offset] == '"') {
		snprintf(mistake->hint, sizeof(mistake->hint),
			 "strings are written in 'single quotes'");
		return;
	}
	suggest_columns(&names, sql);
	write_hint(&names, message + strlen(column), mistake);
}
