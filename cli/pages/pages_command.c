/* SPDX-License-Identifier: BSD-2-Clause */
/* From a command line that a page suggests to the address of its page. */
#include <string.h>

#include "cli/command/command.h"
#include "cli/options/option_row.h"
#include "cli/pages/pages_request.h"
#include "session/snapshot/snapshot_source.h"

enum { MOST = 24 };

struct suggested {
	const struct hi_pages_files *files;
	struct hi_page *page; /* whose arena is used */
	const char *words[MOST];
	size_t n;
	const struct hi_command *command;
	const char *argument, *census, *before;
	const char *options[MOST][2];
	size_t n_options;
};

/* As a shell would, of what hi_page_shell_word() and views write: 'in quotes', "or so".
 * Nothing that is escaped: it is not the text itself. In place. */
static bool split_suggestion(char *text, struct suggested *s)
{
	char *out = text;

	if (strchr(text, '\\'))
		return false;
	while (*text) {
		char quote = 0;

		while (*text == ' ')
			text++;
		if (!*text)
			break;
		if (s->n == MOST)
			return false;
		s->words[s->n++] = out;
		for (; *text && (quote || *text != ' '); text++) {
			if (quote ? *text == quote : (*text == '\'' || *text == '"'))
				quote = quote ? 0 : *text;
			else
				*out++ = *text;
		}
		if (quote)
			return false;
		text += *text == ' ';
		*out++ = '\0';
	}
	return s->n > 1;
}

/* FILE, or FILE@CENSUS. */
static bool take_suggested_file(struct suggested *s, const char *word)
{
	const char *const names[] = {s->files->file, s->files->other};

	for (size_t i = 0; i < 2; i++) {
		size_t n = names[i] ? strlen(names[i]) : 0;

		if (!n || strncmp(word, names[i], n) != 0 || (word[n] && word[n] != '@'))
			continue;
		if (!word[n])
			return true;
		/* Of two, the first one is the earlier. */
		if (s->command->compares && !s->before)
			s->before = word + n + 1;
		else
			s->census = word + n + 1;
		return true;
	}
	return false;
}

static const char *long_name_of(const struct hi_command *command, const char *word,
				size_t n, bool *takes_value)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *e = &hi_option_table[i];

		if (!e->name || !(e->commands & 1u << command->id))
			continue;
		if (word[1] == '-' ? strlen(e->name) == n - 2 &&
					     strncmp(e->name, word + 2, n - 2) == 0
				   : n == 2 && e->letter == word[1]) {
			*takes_value = e->arg;
			return e->name;
		}
	}
	return NULL;
}

/* *i: the word, and its value's. */
static bool take_suggested_option(struct suggested *s, size_t *i)
{
	const char *word = s->words[*i];
	size_t n = strcspn(word, "=");
	bool takes_value = false;
	const char *name = long_name_of(s->command, word, n, &takes_value);
	enum hi_option_page is = name ? hi_pages_option_of(name) : HI_PAGES_REFUSED;
	const char *value = "";

	if (takes_value && word[n])
		value = word + n + 1;
	else if (takes_value && *i + 1 < s->n)
		value = s->words[++*i];
	else if (takes_value)
		return false;
	if (is != HI_PAGES_SHOWS && is != HI_PAGES_CHOOSES)
		return false;
	if (strcmp(name, "census") == 0) {
		s->census = value;
		return true;
	}
	s->options[s->n_options][0] = name;
	s->options[s->n_options++][1] = value;
	return true;
}

static bool take_suggested_words(struct suggested *s)
{
	size_t i = 1;

	s->command = hi_command_find(s->words[1]);
	if (s->command)
		i++;
	else
		s->command = &hi_command_summary;
	for (; i < s->n; i++) {
		if (s->words[i][0] == '-') {
			if (!take_suggested_option(s, &i))
				return false;
			continue;
		}
		if (take_suggested_file(s, s->words[i]))
			continue;
		if (s->command->page == HI_COMMAND_PAGE_OF_DEEP && s->argument)
			s->argument = hi_page_printf(s->page, "%s/%s", s->argument,
						     s->words[i]);
		else if (s->argument || !s->command->arguments[0])
			return false;
		else
			s->argument = s->words[i];
	}
	return hi_pages_has_command(s->command->name);
}

static const char *join_suggestion(struct suggested *s)
{
	const bool is_first = s->command == &hi_command_summary;
	const char *argument = s->command->compares ? s->before : s->argument;
	const char *address =
		hi_address(s->page, is_first ? "" : s->command->name, argument);

	if (is_first && (s->census || s->n_options))
		address = "summary";
	for (size_t i = 0; i < s->n_options; i++)
		address = hi_address_with(s->page, address, s->options[i][0],
					  s->options[i][1]);
	if (s->census)
		address = hi_address_with(s->page, address, "census", s->census);
	return address;
}

const char *hi_pages_census_in(struct hi_page *texts, const char *address)
{
	static const char option[] = "census=";
	const char *at = strchr(address, '?'), *value;

	while (at && strncmp(at + 1, option, sizeof(option) - 1) != 0)
		at = strchr(at + 1, '&');
	if (!at)
		return NULL;
	at += sizeof(option);
	value = hi_page_printf(texts, "%.*s", (int)strcspn(at, "&"), at);
	return hi_snapshot_source_is_census(value) ? value : NULL;
}

const char *hi_pages_keep_census(struct hi_page *texts, const char *from,
				 const char *address)
{
	const char *census = hi_pages_census_in(texts, from);

	if (!census || !hi_pages_takes_census(address) ||
	    hi_pages_census_in(texts, address))
		return address;
	return hi_address_with(texts, *address ? address : "summary", "census", census);
}

const char *hi_pages_address_of(const char *command, const struct hi_pages_files *files,
				struct hi_page *page)
{
	struct suggested s = {.files = files, .page = page};
	char *copy = hi_arena_strdup(&page->arena, command);

	if (!copy || !split_suggestion(copy, &s) ||
	    strcmp(s.words[0], "heapinspect") != 0 || !take_suggested_words(&s))
		return NULL;
	return join_suggestion(&s);
}
