/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- writing ---- */

static bool is_plain_in_address(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("-_.~/:@,", c));
}

/* Is it "." or "..", or has it such a part between slashes? */
static bool has_dot_part(const char *raw)
{
	while (true) {
		size_t n = strcspn(raw, "/");

		if (n && n <= 2 && strspn(raw, ".") >= n)
			return true;
		if (!raw[n])
			return false;
		raw += n + 1;
	}
}

/* out has 3 bytes for each of raw's, and a NUL. A browser takes "a/../b" for "b", also
 * where the dots are escaped: then slashes are. */
static void escape_for_address(char *out, const char *raw)
{
	static const char digits[] = "0123456789ABCDEF";
	bool keeps_slashes = !has_dot_part(raw);

	for (; *raw; raw++) {
		unsigned char c = (unsigned char)*raw;

		if (is_plain_in_address(*raw) && (*raw != '/' || keeps_slashes)) {
			*out++ = *raw;
			continue;
		}
		*out++ = '%';
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
	}
	*out = '\0';
}

/* "" when it is too long or memory ran out. */
static const char *join_address(struct hi_page *page, const char *before,
				const char *between, const char *raw)
{
	size_t size = strlen(before) + strlen(between), n = strlen(raw);
	char *text;

	if (n > HI_ADDRESS_ARGUMENT)
		return "";
	text = hi_arena_alloc(&page->arena, size + 3 * n + 1);
	if (!text) {
		page->failed = true;
		return "";
	}
	memcpy(text, before, strlen(before));
	memcpy(text + strlen(before), between, strlen(between));
	escape_for_address(text + size, raw);
	return text;
}

const char *hi_address(struct hi_page *page, const char *name, const char *argument)
{
	if (!argument)
		return join_address(page, name, "", "");
	/* For a browser they are no names, whatever is escaped. */
	if (strcmp(argument, ".") == 0 || strcmp(argument, "..") == 0)
		return "";
	return join_address(page, name, "/", argument);
}

const char *hi_address_with(struct hi_page *page, const char *address, const char *option,
			    const char *value)
{
	const char *named;

	if (!*address)
		return "";
	named = join_address(page, address, strchr(address, '?') ? "&" : "?", option);
	return *named ? join_address(page, named, "=", value) : "";
}

const char *hi_address_of_object(struct hi_page *page, uint64_t address)
{
	char text[24];

	if (!address || address == UINT64_MAX)
		return "";
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return hi_address(page, "explain", text);
}

const char *hi_address_of_type(struct hi_page *page, const char *hostile)
{
	return hostile && *hostile ? hi_address(page, "paths", hostile) : "";
}

/* ---- reading ---- */

static int find_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* In place. False: a wrong escape, or a NUL. */
static bool unescape_address(char *text)
{
	char *out = text;

	while (*text) {
		int high, low;

		if (*text != '%') {
			*out++ = *text++;
			continue;
		}
		high = find_digit(text[1]);
		low = high < 0 ? -1 : find_digit(text[2]);
		if (low < 0 || high + low == 0)
			return false;
		*out++ = (char)(high * 16 + low);
		text += 3;
	}
	*out = '\0';
	return true;
}

static enum hi_status parse_address_options(char *text, struct hi_address *ret,
					    struct hi_error *err)
{
	char *rest = text, *word;

	while ((word = strsep(&rest, "&"))) {
		char *value = strchr(word, '=');

		if (!*word)
			continue;
		if (ret->n_options == HI_ADDRESS_OPTIONS)
			return hi_fail(err, HI_USAGE, 0,
				       "an address has at most %d options",
				       HI_ADDRESS_OPTIONS);
		if (value)
			*value++ = '\0';
		/* As forms write it. */
		for (char *c = value; c && *c; c++)
			*c = *c == '+' ? ' ' : *c;
		if (!unescape_address(word) || (value && !unescape_address(value)))
			return hi_fail(err, HI_USAGE, 0,
				       "an address has a wrong %% escape");
		ret->options[ret->n_options++] =
			(struct hi_address_option){word, value ? value : ""};
	}
	return HI_OK;
}

enum hi_status hi_address_parse(const char *text, struct hi_arena *arena,
				struct hi_address *ret, struct hi_error *err)
{
	char *copy, *options, *argument;

	*ret = (struct hi_address){};
	if (strlen(text) > 3 * HI_ADDRESS_ARGUMENT)
		return hi_fail(err, HI_LIMIT, 0, "an address has at most %d bytes",
			       3 * HI_ADDRESS_ARGUMENT);
	copy = hi_arena_strdup(arena, text);
	if (!copy)
		return hi_fail_memory(err, "address");
	options = strchr(copy, '?');
	if (options)
		*options++ = '\0';
	argument = strchr(copy, '/');
	if (argument)
		*argument++ = '\0';
	if (!unescape_address(copy) || (argument && !unescape_address(argument)))
		return hi_fail(err, HI_USAGE, 0, "an address has a wrong %% escape");
	ret->name = copy;
	ret->argument = argument && *argument ? argument : NULL;
	return options ? parse_address_options(options, ret, err) : HI_OK;
}

/* ---- links ---- */

/* These are about all censuses of a file. */
static bool leads_to_all_censuses(const char *address)
{
	static const char *const names[] = {"alloc", "deep", "peaks", "spacetime"};
	size_t n = strcspn(address, "/?");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == n && strncmp(names[i], address, n) == 0)
			return true;
	return false;
}

static bool names_census(const char *address)
{
	return strstr(address, "?census=") || strstr(address, "&census=");
}

static const char *keep_link(struct hi_page *page, const char *address)
{
	const char *copy;

	if (page->link_census && !names_census(address) &&
	    !leads_to_all_censuses(address))
		return hi_address_with(page, address, "census", page->link_census);
	copy = hi_arena_strdup(&page->arena, address);
	if (!copy)
		page->failed = true;
	return copy;
}

void hi_page_link_census(struct hi_page *page, unsigned census)
{
	page->link_census = hi_page_printf(page, "%u", census);
}

void hi_page_link(struct hi_page *page, const char *address)
{
	struct hi_item *last;

	if (page->failed || !page->items.count || !*address)
		return;
	last = &page->items.items[page->items.count - 1];
	if (last->kind != HI_ITEM_TABLE && last->kind != HI_ITEM_COMMAND)
		last->link = keep_link(page, address);
}

void hi_cell_link(struct hi_report_table *table, const char *address)
{
	struct hi_cell *last;

	if (table->page->failed || !table->cells.count || !*address)
		return;
	last = &table->cells.items[table->cells.count - 1];
	if (last->state != HI_CELL_EMPTY)
		last->link = keep_link(table->page, address);
}

void hi_page_drop_links(struct hi_page *page)
{
	for (size_t i = 0; i < page->items.count; i++)
		page->items.items[i].link = NULL;
	for (size_t i = 0; i < page->tables.count; i++) {
		struct hi_report_table *t = page->tables.items[i];

		for (size_t k = 0; k < t->cells.count; k++)
			t->cells.items[k].link = NULL;
	}
}
