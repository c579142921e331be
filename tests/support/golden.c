/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/golden.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"

enum { SHOWN_LINES = 4, SHOWN_COLUMNS = 200 };

/* ---- what cannot be seen ---- */

/* The character at c; its length, 0 where the bytes are no UTF-8. */
static size_t decode_character(const unsigned char *c, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;

	if (*c > 0xf4 || n == 0)
		return 0;
	*ret = n == 1 ? *c : *c & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		*ret = *ret << 6 | (c[i] & 0x3f);
	}
	return *ret >= least[n] && *ret <= 0x10ffff ? n : 0;
}

static bool turns_or_hides(uint32_t character)
{
	return (character >= 0x80 && character < 0xa0) || character == 0xad ||
	       (character >= 0x200b && character <= 0x200f) ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2060 && character <= 0x206f) || character == 0xfeff;
}

/* Writes one character of the text so that it is seen; its length. */
static size_t write_visible(const char *text, FILE *out)
{
	uint32_t character = 0;
	size_t n = decode_character((const unsigned char *)text, &character);

	if (n == 0)
		fprintf(out, "⟨%02x⟩", (unsigned char)*text);
	else if (character == ' ' && (!text[1] || text[1] == '\n'))
		fputs("␠", out);
	else if (character == '\n' || (character >= ' ' && character < 0x7f))
		fputc((int)character, out);
	else if (character < ' ') /* U+2400 and on are pictures of them */
		fprintf(out, "\xe2\x90%c", (char)(0x80 + character));
	else if (character == 0x7f)
		fputs("␡", out);
	else if (turns_or_hides(character))
		fprintf(out, "⟨U+%04X⟩", character);
	else
		fwrite(text, 1, n, out);
	return n ? n : 1;
}

char *hi_golden_visible(const char *text)
{
	const char *begin = text;
	char *seen = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&seen, &size);

	HI_ASSERT(out != NULL);
	while (*text)
		text += write_visible(text, out);
	if (text > begin && text[-1] != '\n')
		fputs("⏎\n", out);
	fclose(out);
	return seen;
}

/* ---- what differs ---- */

struct lines {
	const char **items; /* each up to its newline */
	size_t n;
};

static struct lines split_lines(const char *text)
{
	struct lines lines = {};
	size_t most = 1;

	for (const char *c = text; *c; c++)
		most += *c == '\n';
	lines.items = calloc(most, sizeof(*lines.items));
	HI_ASSERT(lines.items != NULL);
	while (*text) {
		lines.items[lines.n++] = text;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return lines;
}

static bool is_same_line(const char *a, const char *b)
{
	size_t n = strcspn(a, "\n");

	return n == strcspn(b, "\n") && memcmp(a, b, n) == 0;
}

/* Lines from to below to. */
static void write_side(const struct lines *lines, size_t from, size_t to, char sign,
		       FILE *out)
{
	size_t end = to > from + SHOWN_LINES ? from + SHOWN_LINES : to;

	for (size_t i = from; i < end; i++) {
		int n = (int)strcspn(lines->items[i], "\n");

		fprintf(out, "%c%4zu %.*s\n", sign, i + 1,
			n < SHOWN_COLUMNS ? n : SHOWN_COLUMNS, lines->items[i]);
	}
	if (end < to)
		fprintf(out, "%c     and %zu lines more\n", sign, to - end);
}

char *hi_golden_difference(const char *old_text, const char *new_text)
{
	struct lines old_lines = split_lines(old_text), new_lines = split_lines(new_text);
	size_t first = 0, old_end = old_lines.n, new_end = new_lines.n, size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	while (first < old_end && first < new_end &&
	       is_same_line(old_lines.items[first], new_lines.items[first]))
		first++;
	while (old_end > first && new_end > first &&
	       is_same_line(old_lines.items[old_end - 1], new_lines.items[new_end - 1])) {
		old_end--;
		new_end--;
	}
	write_side(&old_lines, first, old_end, '-', out);
	write_side(&new_lines, first, new_end, '+', out);
	fclose(out);
	free(old_lines.items);
	free(new_lines.items);
	return text;
}

/* ---- files ---- */

/* The whole file; NULL: there is none. free(). */
static char *read_golden(const char *path)
{
	FILE *in = fopen(path, "re"), *out;
	char *text = NULL, part[4096];
	size_t size = 0, n;

	if (!in)
		return NULL;
	out = open_memstream(&text, &size);
	HI_ASSERT(out != NULL);
	while ((n = fread(part, 1, sizeof(part), in)) > 0)
		fwrite(part, 1, n, out);
	fclose(in);
	fclose(out);
	return text;
}

/* Beside the build, for scripts/golden. */
static void keep_new_page(const char *path, const char *text)
{
	FILE *out;

	HI_ASSERT(mkdir(HI_BINARY_DIR "/golden", 0777) == 0 || errno == EEXIST);
	out = fopen(path, "we");
	HI_ASSERT(out != NULL);
	fputs(text, out);
	HI_ASSERT(fclose(out) == 0);
}

void hi_golden_check(const char *file, int line, const char *name, const char *text)
{
	char *seen = hi_golden_visible(text), *old, *difference, path[512], new_path[512];

	snprintf(path, sizeof(path), HI_SOURCE_DIR "/tests/golden/%s.txt", name);
	snprintf(new_path, sizeof(new_path), HI_BINARY_DIR "/golden/%s.txt", name);
	old = read_golden(path);
	difference = hi_golden_difference(old ? old : "", seen);
	if (old && strcmp(old, seen) == 0) {
		unlink(new_path);
	} else {
		keep_new_page(new_path, seen);
		hi_test_error(file, line,
			      "tests/golden/%s.txt %s (scripts/golden shows it):\n%s",
			      name, old ? "is not what is drawn" : "does not exist",
			      difference);
	}
	free(difference);
	free(old);
	free(seen);
}

/* ---- several pages ---- */

struct hi_golden_pages {
	char *text;
	size_t size;
	FILE *out;
};

static void free_golden_pages(struct hi_golden_pages *pages)
{
	fclose(pages->out);
	free(pages->text);
	free(pages);
}

struct hi_golden_pages *hi_golden_pages(void)
{
	struct hi_golden_pages *pages = calloc(1, sizeof(*pages));

	HI_ASSERT(pages != NULL);
	pages->out = open_memstream(&pages->text, &pages->size);
	HI_ASSERT(pages->out != NULL);
	hi_test_defer(free_golden_pages, pages);
	return pages;
}

void hi_golden_add(struct hi_golden_pages *pages, const char *caption, const char *text)
{
	size_t n = strlen(text);

	fprintf(pages->out, "%s---- %s ----\n%s%s", ftell(pages->out) ? "\n" : "",
		caption, text, n && text[n - 1] != '\n' ? "⏎\n" : "");
}

const char *hi_golden_text(struct hi_golden_pages *pages)
{
	fflush(pages->out);
	return pages->text;
}
