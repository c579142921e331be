/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/page_links.h"

#include <string.h>

#include "cli/command/command.h"
#include "cli/options/option_row.h"
#include "tests/harness.h"

struct hi_pages *page_links_open(const char *file, const char *other)
{
	struct hi_options options = {.target.file = file, .comparison.baseline = other};
	struct hi_pages *pages = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_pages_open(&options, &pages, &err), &err);
	hi_test_defer(hi_pages_close, pages);
	return pages;
}

void page_each_link(const struct hi_page *page, page_link_fn *fn, void *arg)
{
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].link)
			fn(page->items.items[i].link, arg);
	for (size_t i = 0; i < page->tables.count; i++) {
		const struct hi_report_table *t = page->tables.items[i];

		for (size_t k = 0; k < t->cells.count; k++)
			if (t->cells.items[k].link)
				fn(t->cells.items[k].link, arg);
	}
}

/* Without the file that an address leaves out. */
static const char *arguments_of(const struct hi_command *command)
{
	static const char file[] = "FILE";

	return strncmp(command->arguments, file, strlen(file)) == 0 ? ""
								    : command->arguments;
}

const char *page_link_fault(const struct hi_address *address)
{
	const struct hi_command *command = hi_command_find(address->name);

	if (!command)
		return "no such command";
	if (address->argument ? !*arguments_of(command)
			      : *arguments_of(command) && *arguments_of(command) != '[')
		return "an argument too many, or none";
	for (size_t i = 0; i < address->n_options; i++) {
		const char *value = address->options[i].value;
		const struct hi_option_row *o =
			hi_option_find(command->id, address->options[i].name);

		if (!o)
			return "an option that the command does not take";
		if (o->arg ? !*value : *value != '\0')
			return "an option's value is missing, or one too many";
	}
	return NULL;
}
