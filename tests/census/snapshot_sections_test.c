/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of sections: each number that a column may not have is refused by the name of
 * its section, and docs/SNAPSHOT_FORMAT.md has this table (scripts/snapshot-format).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "tests/census/snapshots.h"

enum { COUNT = 5, MOST_ROWS = 64 }; /* COUNT: of whatever rows refer to */

/* Rows of a section, and what is said of a file that has them alone. */
struct table_rows {
	const struct hi_section *section;
	uint8_t bytes[MOST_ROWS * 512];
	uint64_t n;
};

static uint8_t *place_of(struct table_rows *t, uint64_t row,
			 const struct hi_stored_column *c)
{
	return t->bytes + row * t->section->item + c->offset;
}

static void set_number(struct table_rows *t, uint64_t row,
		       const struct hi_stored_column *c, uint64_t number)
{
	memcpy(place_of(t, row, c), &number, c->width);
}

static bool is_of_numbers(const struct hi_stored_column *c)
{
	return c->kind == HI_STORED_NUMBER;
}

/* As few rows as a section may have, but three where it may; all that they have is in
 * range. A life begins in period 1. */
static void draw_rows(struct table_rows *t, const struct hi_section *section)
{
	*t = (struct table_rows){.section = section, .n = section->count ? COUNT : 3};
	if (t->n < section->least)
		t->n = section->least;
	HI_ASSERT(t->n <= MOST_ROWS && t->n * section->item <= sizeof(t->bytes));
	for (size_t k = 0; k < section->n_columns; k++)
		for (uint64_t i = 0; i < t->n && is_of_numbers(&section->columns[k]);
		     i++) {
			const struct hi_stored_column *c = &section->columns[k];
			bool is_from = strcmp(section->name, "lives") == 0 && c->name &&
				       strcmp(c->name, "from") == 0;

			set_number(t, i, c,
				   c->ascends	 ? i
				   : c->from_one ? i + 1
				   : is_from	 ? 1
						 : c->least);
		}
}

static enum hi_status read_rows(const struct table_rows *t, uint32_t item, uint64_t n,
				struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_options options = {};
	const char *path;
	const void *rows;
	uint64_t n_read = 0;
	int fd = memory_file(&path);
	enum hi_status status;

	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, err), err);
	HI_ASSERT_OK(hi_snapshot_put(w, t->section->name, t->bytes, item, n, err), err);
	HI_ASSERT_OK(hi_snapshot_finish(w, err), err);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, err), err);
	close(fd);
	for (int bound = 1; bound < HI_BOUNDS; bound++)
		hi_snapshot_bound(s, (enum hi_bound)bound, COUNT);
	/* Those that are set with others. */
	for (int bound = 1; bound < HI_BOUNDS; bound++)
		if (bound != HI_BOUND_OBJECTS && bound != HI_BOUND_ROOTS &&
		    bound != HI_BOUND_NODES)
			hi_snapshot_bound(s, (enum hi_bound)bound, COUNT);
	status = hi_snapshot_rows(s, t->section->name, &rows, &n_read, err);
	HI_ASSERT(status != HI_OK || n_read == n);
	return status;
}

static void expect_refused(const struct table_rows *t, uint32_t item, uint64_t n,
			   const char *why)
{
	struct hi_error err = {};
	char text[64];

	snprintf(text, sizeof(text), "section %s", t->section->name);
	HI_ASSERT_MSG(read_rows(t, item, n, &err) == HI_BAD_DATA, "%s: %s",
		      t->section->name, why);
	HI_ASSERT_MSG(strstr(err.text, text), "%s", err.text);
}

static unsigned try_number(const struct hi_section *section,
			   const struct hi_stored_column *c, uint64_t number,
			   const char *why)
{
	static struct table_rows t;

	if (c->width < 8 && number >> (8 * c->width))
		return 0;
	draw_rows(&t, section);
	set_number(&t, t.n - 1, c, number);
	expect_refused(&t, section->item, t.n, why);
	return 1;
}

static unsigned try_column(const struct hi_section *section,
			   const struct hi_stored_column *c)
{
	static const double reals[] = {-1, (double)INFINITY, (double)NAN};
	unsigned tried = 0;
	uint64_t bits;

	if (c->kind == HI_STORED_TEXT)
		return try_number(section, c, UINT32_MAX, "no string");
	for (unsigned i = 0; i < 3 && c->kind == HI_STORED_REAL; i++, tried++) {
		memcpy(&bits, &reals[i], sizeof(bits));
		try_number(section, c, bits, "no amount");
	}
	if (c->below)
		tried += try_number(section, c, COUNT + c->from_one, "beyond");
	if (c->from_one)
		tried += try_number(section, c, 0, "none");
	if (c->most && c->most != UINT64_MAX)
		tried += try_number(section, c, c->most + 1, "too large");
	if (c->least)
		tried += try_number(section, c, c->least - 1, "too small");
	if (c->ascends)
		tried += try_number(section, c, 0, "not in order");
	return tried;
}

static bool is_read_when_opened(const struct hi_section *section)
{
	return strcmp(section->name, "strings") == 0 ||
	       strcmp(section->name, "properties") == 0;
}

HI_TEST(snapshot_sections, rows_that_no_writer_makes_are_refused)
{
	static struct table_rows t;
	unsigned tried = 0;
	struct hi_error err;
	size_t n;
	const struct hi_section *sections = hi_snapshot_sections(&n);

	for (size_t i = 0; i < n; i++) {
		const struct hi_section *s = &sections[i];

		if (is_read_when_opened(s))
			continue;
		draw_rows(&t, s);
		HI_ASSERT_OK(read_rows(&t, s->item, t.n, &err), &err);
		expect_refused(&t, s->item + 4, 1, "items of another size");
		if (s->count) {
			expect_refused(&t, s->item, t.n + 1, "a row more");
			expect_refused(&t, s->item, t.n - 1, "a row less");
		}
		if (s->least)
			expect_refused(&t, s->item, s->least - 1, "too few rows");
		if (s->count_most)
			expect_refused(&t, s->item, COUNT + 1, "more than there may be");
		else if (s->most && s->most < MOST_ROWS)
			expect_refused(&t, s->item, s->most + 1, "too many rows");
		for (size_t k = 0; k < s->n_columns; k++)
			tried += try_column(s, &s->columns[k]);
	}
	hi_test_note("%u numbers refused in %zu sections", tried, n);
	HI_ASSERT(tried > 100);
}

/* Columns lie in the item, none over another. */
HI_TEST(snapshot_sections, have_names_and_columns_that_fit)
{
	size_t n;
	const struct hi_section *sections = hi_snapshot_sections(&n);

	for (size_t i = 0; i < n; i++) {
		const struct hi_section *s = &sections[i];
		uint32_t end = 0;

		HI_ASSERT(s->item && strlen(s->name) < HI_SNAPSHOT_NAME && *s->meaning);
		HI_ASSERT(hi_snapshot_section(s->name) == s);
		for (size_t k = 0; k < s->n_columns; k++) {
			const struct hi_stored_column *c = &s->columns[k];

			HI_ASSERT_MSG(c->offset >= end, "%s.%s", s->name, c->name);
			end = c->offset + c->width * (c->times ? c->times : 1);
			HI_ASSERT_MSG(end <= s->item, "%s.%s", s->name, c->name);
		}
	}
}

/* ---- the document ---- */

#define DOCUMENT HI_SOURCE_DIR "/docs/SNAPSHOT_FORMAT.md"

static void print_count(FILE *f, const struct hi_section *s)
{
	if (s->count || s->sets)
		fprintf(f, "%s", hi_bound_name(s->count ? s->count : s->sets));
	else if (s->least && s->least == s->most)
		fprintf(f, "%lu", (unsigned long)s->most);
	else if (s->most && s->most < 1 << 24)
		fprintf(f, "at most %lu", (unsigned long)s->most);
}

static void print_sections(FILE *f, enum hi_section_part part)
{
	size_t n;
	const struct hi_section *sections = hi_snapshot_sections(&n);

	fprintf(f, "| name | item | items | |\n|---|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		const struct hi_section *s = &sections[i];

		if (s->part != part)
			continue;
		fprintf(f, "| `%s` | %u | ", s->name, s->item);
		print_count(f, s);
		fprintf(f, " | %s%s |\n", s->meaning,
			s->presence == HI_SECTION_OPTIONAL ? " (optional)" : "");
	}
}

static void print_column(FILE *f, const struct hi_stored_column *c)
{
	fprintf(f, "| %u | ", c->offset);
	if (c->times)
		fprintf(f, "%u × ", c->times);
	if (c->kind == HI_STORED_TEXT)
		fprintf(f, "text");
	else if (c->kind == HI_STORED_REAL)
		fprintf(f, "f64");
	else if (c->kind == HI_STORED_BYTES)
		fprintf(f, "%u bytes", c->width);
	else
		fprintf(f, "u%u", 8 * c->width);
	fprintf(f, " | `%s` | %s |\n", c->name, c->meaning);
}

static void print_rows(FILE *f)
{
	size_t n;
	const struct hi_section *sections = hi_snapshot_sections(&n);

	for (size_t i = 0; i < n; i++) {
		if (!sections[i].n_columns || !sections[i].columns[0].name)
			continue;
		fprintf(f, "\n`%s`\n\n| offset | | | |\n|---|---|---|---|\n",
			sections[i].name);
		for (size_t k = 0; k < sections[i].n_columns; k++)
			print_column(f, &sections[i].columns[k]);
	}
}

/* The document with the tables of today between its marks. */
static char *print_document(const char *text)
{
	static const struct {
		const char *name;
		int part; /* -1: the rows of all */
	} places[] = {{"heap", HI_SECTIONS_HEAP},
		      {"recording", HI_SECTIONS_RECORDING},
		      {"biographies", HI_SECTIONS_LIVES},
		      {"space", HI_SECTIONS_SPACE},
		      {"waste", HI_SECTIONS_WASTE},
		      {"contents", HI_SECTIONS_CONTENTS},
		      {"rows", -1},
		      {"marks", HI_SECTIONS_SERIES}};
	char *ret = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&ret, &size);

	HI_ASSERT(f);
	for (unsigned i = 0; i < 8; i++) {
		const char *from, *to;
		char mark[64];

		snprintf(mark, sizeof(mark), "<!-- sections: %s -->\n", places[i].name);
		from = strstr(text, mark);
		to = from ? strstr(from, "<!-- end -->") : NULL;
		HI_ASSERT_MSG(to, "no %s", mark);
		from += strlen(mark);
		fprintf(f, "%.*s", (int)(from - text), text);
		if (places[i].part >= 0)
			print_sections(f, (enum hi_section_part)places[i].part);
		else
			print_rows(f);
		text = to;
	}
	fprintf(f, "%s", text);
	fclose(f);
	return ret;
}

HI_TEST(snapshot_sections, are_those_of_the_document)
{
	static char text[1 << 17];
	FILE *f = fopen(DOCUMENT, "r");
	const char *update = getenv("HI_UPDATE_FORMAT");
	HI_GUARD(free) char *now = NULL;
	size_t n;

	HI_ASSERT(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	now = print_document(text);
	if (update && strcmp(text, now) != 0) {
		f = fopen(update, "w");
		HI_ASSERT(f && fputs(now, f) >= 0 && fclose(f) == 0);
		return;
	}
	HI_ASSERT_MSG(strcmp(text, now) == 0,
		      "docs/SNAPSHOT_FORMAT.md differs: scripts/snapshot-format");
}
