/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/error_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { MOST_TEXT = 1000 };

static const char *name_code(unsigned code)
{
	switch (code) {
	case 200:
		return "heapinspect";
	case 400:
		return "Not a request";
	case 403:
		return "Not permitted";
	case 404:
		return "No such page";
	case 405:
		return "Not this way";
	case 413:
		return "Too much data";
	case 414:
		return "Address too long";
	case 503:
		return "Not now";
	case 504:
		return "Out of time";
	default:
		return "Error";
	}
}

static void put_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			fprintf(out, "&#%u;", c);
		else
			fputc(c < ' ' || c == 0x7f ? '?' : c, out);
	}
}

static void begin_small_page(const char *title, const char *base, FILE *out)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
		"<meta name=\"viewport\" content=\"width=device-width\"/>\n"
		"<title>%s</title>\n",
		title);
	if (base)
		fprintf(out, "<link rel=\"stylesheet\" href=\"%sstyle.css\"/>\n", base);
	fprintf(out, "</head>\n<body>\n<main>\n<h1>%s</h1>\n", title);
}

static void end_small_page(const char *base, FILE *out)
{
	if (base)
		fprintf(out, "<p><a href=\"%s\">The first page</a></p>\n", base);
	fputs("</main>\n</body></html>\n", out);
}

/* Closes out, which has written text. */
static struct hi_answer *finish_small_page(unsigned code, FILE *out, char **text,
					   size_t *size)
{
	bool failed = ferror(out);
	struct hi_answer *answer;

	failed |= fclose(out) != 0;
	answer =
		failed ? NULL : hi_answer_create(code, "text/html; charset=utf-8", *size);
	if (answer)
		memcpy(answer->body, *text, *size);
	return answer;
}

struct hi_answer *hi_error_page(unsigned code, const char *base, const char *fmt, ...)
{
	HI_GUARD(free) char *page = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);
	char text[MOST_TEXT];
	va_list args;

	if (!out)
		return NULL;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	begin_small_page(name_code(code), base, out);
	fputs("<p>", out);
	put_escaped(text, out);
	fputs("</p>\n", out);
	end_small_page(base, out);
	return finish_small_page(code, out, &page, &size);
}

struct hi_answer *hi_question_page(const char *base, const char *address,
				   const char *label, const char *text)
{
	HI_GUARD(free) char *page = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);

	if (!out)
		return NULL;
	begin_small_page(name_code(200), base, out);
	fputs("<p>", out);
	put_escaped(text, out);
	fputs("</p>\n<form method=\"post\" action=\"", out);
	put_escaped(base, out);
	put_escaped(address, out);
	fputs("\"><button type=\"submit\">", out);
	put_escaped(label, out);
	fputs("</button></form>\n", out);
	end_small_page(base, out);
	return finish_small_page(200, out, &page, &size);
}

struct hi_answer *hi_redirection(unsigned code, const char *location)
{
	struct hi_answer *answer = hi_answer_create(code, "text/plain", 0);

	if (answer)
		snprintf(answer->location, sizeof(answer->location), "%s", location);
	return answer;
}
