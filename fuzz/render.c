/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of any bytes on a page, as text, as HTML and in JSON: no control byte and no
 * markup of a name gets through. The first byte is the width, and whether there are
 * characters beyond ASCII.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/address.h"
#include "report/json_writer.h"
#include "report/render/html_page.h"
#include "report/render/text.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

struct text {
	char *bytes;
	size_t size;
	FILE *out;
};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void open_text(struct text *text)
{
	*text = (struct text){};
	text->out = open_memstream(&text->bytes, &text->size);
	expect(text->out != NULL);
}

static size_t count_bytes(const struct text *text, char byte)
{
	size_t n = 0;

	for (size_t i = 0; i < text->size; i++)
		n += text->bytes[i] == byte;
	return n;
}

static void check_bytes(const struct text *text)
{
	for (size_t i = 0; i < text->size; i++) {
		unsigned char c = (unsigned char)text->bytes[i];

		expect((c >= ' ' || c == '\n') && c != 127);
	}
}

/* A title, a fact, a table with the name as a type and as a text, and a command. */
static struct hi_page *make_page(const char *name)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"field", HI_COLUMN_TEXT}};
	struct hi_page *page = hi_page_create();
	const char *safe;
	struct hi_report_table *table;

	expect(page != NULL);
	safe = hi_page_safe(page, name);
	hi_page_title(page, safe, NULL);
	hi_page_fact(page, "name", safe);
	table = hi_page_table(page, columns, 3);
	hi_cell_text(table, hi_page_type(page, name), 1);
	hi_cell_link(table, hi_address_of_type(page, name));
	hi_cell_number(table, 4096);
	hi_cell_text(table, hi_page_sentence(page, name, false), 0);
	hi_page_warning(page, safe);
	hi_page_code(page, safe);
	hi_page_command(
		page,
		hi_page_printf(page, "heapinspect %s", hi_page_shell_word(page, safe)),
		"x");
	expect(!page->failed);
	return page;
}

static void check_ascii(const struct text *text)
{
	for (size_t i = 0; i < text->size; i++)
		expect(!(text->bytes[i] & 0x80));
}

static void write_text(const struct hi_page *page, unsigned width, bool utf8)
{
	const struct hi_text_options options = {.width = width, .utf8 = utf8};
	struct text text;
	struct hi_error err;

	open_text(&text);
	expect(hi_text_render(page, &options, text.out, &err) == HI_OK);
	fclose(text.out);
	check_bytes(&text);
	if (!utf8)
		check_ascii(&text);
	free(text.bytes);
}

/* As many tags and quotes of attributes as for a name of letters. */
static struct text write_html(const char *name)
{
	struct hi_page *page = make_page(name);
	struct text html;
	struct hi_error err;

	open_text(&html);
	expect(hi_html_page(page, html.out, &err) == HI_OK);
	fclose(html.out);
	hi_page_destroy(page);
	check_bytes(&html);
	return html;
}

static void compare_html(const char *name)
{
	struct text plain = write_html("name"), hostile = write_html(name);

	if (*name) {
		expect(count_bytes(&hostile, '<') <= count_bytes(&plain, '<') + 64);
		expect(count_bytes(&hostile, '<') == count_bytes(&hostile, '>'));
		expect(!memmem(hostile.bytes, hostile.size, "<script>alert", 13) &&
		       !memmem(hostile.bytes, hostile.size, "<img", 4));
	}
	free(plain.bytes);
	free(hostile.bytes);
}

/* One string: quotes and backslashes are escaped, so it has one end. */
static void write_json(const char *name)
{
	struct text text;
	struct hi_json json;
	size_t i;

	open_text(&text);
	hi_json_init(&json, text.out);
	hi_json_text(&json, NULL, name);
	fclose(text.out);
	check_bytes(&text);
	expect(text.size >= 2 && text.bytes[0] == '"');
	for (i = 1; i < text.size && text.bytes[i] != '"'; i++)
		i += text.bytes[i] == '\\';
	while (++i < text.size)
		expect(text.bytes[i] == '\n');
	free(text.bytes);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static bool is_started;
	struct hi_page *page;
	char *name;

	if (size < 1 || size > 8192)
		return 0;
	if (!is_started)
		setlocale(LC_CTYPE, "C.UTF-8");
	is_started = true;
	name = malloc(size);
	expect(name != NULL);
	memcpy(name, data + 1, size - 1);
	name[size - 1] = 0;
	page = make_page(name);
	write_text(page, 40 + (data[0] & 0x7f), data[0] & 0x80);
	hi_page_destroy(page);
	compare_html(name);
	write_json(name);
	free(name);
	return 0;
}
