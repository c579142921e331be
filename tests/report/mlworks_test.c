/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of the space profiler of MLWorks, read by a parser that knows its printf
 * forms alone: the example of its own document, then what is written here.
 */
#include "report/reports/alloc/mlworks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

enum { COLUMNS = 10, AGES = 4000, FUNCTIONS = 8, PARTS = 3 };

struct read_function {
	char name[200];
	double alloc, copied;
	size_t n_copies, n_columns, n_ages; /* columns: with total */
	size_t n_lines;			    /* ages that are printed */
	double copies[AGES];
	char columns[COLUMNS][16];
	double cells[AGES][PARTS][COLUMNS];
};

struct read_profile {
	unsigned long memory;
	unsigned collections, functions;
	double alloc, copied;
	size_t n;
	struct read_function of[FUNCTIONS];
};

/* ---- the parser ---- */

struct lines {
	const char *at;
	char line[1 << 16];
};

/* False: there is none. */
static bool next_mlworks_line(struct lines *l)
{
	const char *end = strchr(l->at, '\n');

	if (!end)
		return false;
	HI_ASSERT((size_t)(end - l->at) < sizeof(l->line));
	memcpy(l->line, l->at, (size_t)(end - l->at));
	l->line[end - l->at] = '\0';
	l->at = end + 1;
	return true;
}

/* A number of %12.0f at a place: right-aligned digits. */
static double number_in_field(const char *line, size_t at)
{
	char field[13] = "";
	const char *digits = field;

	HI_ASSERT_MSG(strlen(line) >= at + 12, "no field at %zu of \"%s\"", at, line);
	memcpy(field, line + at, 12);
	while (*digits == ' ')
		digits++;
	HI_ASSERT_MSG(*digits && strspn(digits, "0123456789") == strlen(digits),
		      "\"%s\" at %zu of \"%s\"", field, at, line);
	return strtod(digits, NULL);
}

/* "%12.0f%12.0f  %s" */
static void parse_sums(const char *line, double *alloc, double *copied, char name[200])
{
	*alloc = number_in_field(line, 0);
	*copied = number_in_field(line, 12);
	HI_ASSERT_MSG(strlen(line) > 26 && strncmp(line + 24, "  ", 2) == 0, "%s", line);
	snprintf(name, 200, "%s", line + 26);
}

/* 12 blanks and "%12.0f" for each generation. */
static void parse_copies(const char *line, struct read_function *f)
{
	HI_ASSERT_MSG(strncmp(line, "            ", 12) == 0 && strlen(line) % 12 == 0,
		      "%s", line);
	f->n_copies = strlen(line) / 12 - 1;
	HI_ASSERT(f->n_copies < AGES);
	for (size_t i = 0; i < f->n_copies; i++)
		f->copies[i] = number_in_field(line, 12 * (i + 1));
}

/* 10 blanks, "gen", and names of 12 columns behind a head of 20. */
static void parse_heading(const char *line, struct read_function *f)
{
	HI_ASSERT_MSG(strncmp(line, "          gen       ", 20) == 0 &&
			      strlen(line) % 12 == 8,
		      "%s", line);
	f->n_columns = (strlen(line) - 20) / 12;
	HI_ASSERT(f->n_columns >= 1 && f->n_columns <= COLUMNS);
	for (size_t i = 0; i < f->n_columns; i++)
		HI_ASSERT_MSG(sscanf(line + 20 + 12 * i, "%15s", f->columns[i]) == 1,
			      "%s", line);
	HI_ASSERT_STREQ("total", f->columns[f->n_columns - 1]);
}

static void parse_cells(const char *line, const char *head, struct read_function *f,
			double cells[COLUMNS])
{
	HI_ASSERT_MSG(strncmp(line, head, 20) == 0, "\"%s\" has no \"%s\"", line, head);
	HI_ASSERT_MSG(strlen(line) == 20 + 12 * f->n_columns, "%s", line);
	for (size_t i = 0; i < f->n_columns; i++)
		cells[i] = number_in_field(line, 20 + 12 * i);
}

/* What is left out is as the age before. */
static void repeat_ages(struct read_function *f, size_t n)
{
	for (; f->n_ages < n; f->n_ages++)
		memcpy(f->cells[f->n_ages], f->cells[f->n_ages - 1], sizeof(f->cells[0]));
}

/* "          %2u     no " and so on; three lines a generation. False: another line. */
static bool parse_generation(struct lines *l, struct read_function *f)
{
	char head[32];
	double(*cells)[COLUMNS];
	unsigned age;

	/* Of more than two digits the head is wider, as printf has it. */
	if (sscanf(l->line, "          %u     no ", &age) != 1)
		return false;
	snprintf(head, sizeof(head), "          %2u     no ", age);
	if (strncmp(l->line, head, strlen(head)) != 0)
		return false;
	HI_ASSERT(age < AGES && age >= f->n_ages);
	repeat_ages(f, age);
	cells = f->cells[age];
	f->n_lines++;
	memmove(l->line + 20, l->line + strlen(head), strlen(l->line + strlen(head)) + 1);
	parse_cells(l->line, l->line, f, cells[0]);
	HI_ASSERT(next_mlworks_line(l));
	parse_cells(l->line, "               size ", f, cells[1]);
	HI_ASSERT(next_mlworks_line(l));
	parse_cells(l->line, "           overhead ", f, cells[2]);
	f->n_ages++;
	return true;
}

static void parse_header(struct lines *l, struct read_profile *p)
{
	char name[200];

	HI_ASSERT(next_mlworks_line(l));
	HI_ASSERT_STREQ("MLWorks space profile", l->line);
	HI_ASSERT(next_mlworks_line(l) &&
		  sscanf(l->line, "%lu bytes used for profiling", &p->memory) == 1);
	HI_ASSERT(next_mlworks_line(l) &&
		  sscanf(l->line, "%u collections", &p->collections) == 1);
	HI_ASSERT(next_mlworks_line(l) &&
		  sscanf(l->line, "functions profiled : %u", &p->functions) == 1);
	HI_ASSERT(next_mlworks_line(l));
	HI_ASSERT_STREQ("---", l->line);
	HI_ASSERT(next_mlworks_line(l));
	HI_ASSERT_STREQ("       alloc      copied  name", l->line);
	HI_ASSERT(next_mlworks_line(l));
	parse_sums(l->line, &p->alloc, &p->copied, name);
	HI_ASSERT_STREQ("total profiled", name);
}

static void parse_mlworks(const char *text, struct read_profile *p)
{
	static struct lines l;
	bool more;

	l.at = text;
	memset(p, 0, sizeof(*p));
	parse_header(&l, p);
	more = next_mlworks_line(&l);
	while (more) {
		struct read_function *f = &p->of[p->n++];

		HI_ASSERT(p->n <= FUNCTIONS);
		parse_sums(l.line, &f->alloc, &f->copied, f->name);
		more = next_mlworks_line(&l);
		if (!more || isdigit(l.line[11]))
			continue; /* without copies */
		parse_copies(l.line, f);
		more = next_mlworks_line(&l);
		if (!more || strncmp(l.line, "          gen", 13) != 0)
			continue;
		parse_heading(l.line, f);
		more = next_mlworks_line(&l);
		while (more && parse_generation(&l, f))
			more = next_mlworks_line(&l);
	}
}

/* ---- the example of its document ---- */

static const char seed[] =
	"MLWorks space profile\n"
	"28436256 bytes used for profiling\n"
	"6480 collections\n"
	"functions profiled : 7011\n"
	"---\n"
	"       alloc      copied  name\n"
	"  6651782992   896813760  total profiled\n"
	"           0           0  decode_sigma[main._encapsulate:1681]<Closure>\n"
	"      210320       35944  augment_cb[main._toplevel:903]\n"
	"     1176936      235368  <case><Match0>[main._toplevel:1021]\n"
	"                  211160       21440        2528         240\n"
	"          gen            records       pairs    closures       total\n"
	"           0     no        40085       52892         416       93393\n"
	"               size       747144      423136        6656     1176936\n"
	"           overhead       213232           0        1664      214896\n"
	"           1     no          194       25990           8       26192\n"
	"               size         3112      207920         128      211160\n"
	"           overhead          780           0          32         812\n";

HI_TEST(mlworks, the_parser_reads_the_example_of_the_seed)
{
	static struct read_profile p;
	const struct read_function *f = &p.of[2];

	parse_mlworks(seed, &p);
	HI_ASSERT_EQ(28436256, p.memory);
	HI_ASSERT_EQ(6480, p.collections);
	HI_ASSERT_EQ(7011, p.functions);
	HI_ASSERT_EQ(3, p.n);
	HI_ASSERT(p.alloc == 6651782992.0 && p.copied == 896813760.0);
	HI_ASSERT_STREQ("<case><Match0>[main._toplevel:1021]", f->name);
	HI_ASSERT_EQ(4, f->n_copies);
	HI_ASSERT(f->copies[0] + f->copies[1] + f->copies[2] + f->copies[3] == f->copied);
	HI_ASSERT_EQ(2, f->n_ages);
	HI_ASSERT_EQ(4, f->n_columns);
	HI_ASSERT(f->cells[0][1][3] == f->alloc && f->cells[1][1][3] == f->copies[0]);
	HI_ASSERT_STREQ("closures", f->columns[2]);
}

/* ---- what is written here ---- */

static struct hi_space_amount blocks_of(uint64_t n)
{
	return (struct hi_space_amount){n, n * 48, n * 8};
}

/* A report of 3,600 censuses: parse has two types, of which one lives for 3 censuses and
 * few for 3,600; brief has nothing that survives; zero is never there. */
struct drawn_report {
	struct hi_space_step steps[8];
	struct hi_space_row rows[8];
	struct hi_alloc_type types[4];
	struct hi_alloc_function functions[3];
	struct hi_alloc_report report;
};

static struct hi_space_row drawn_row(struct drawn_report *d, size_t at, size_t n)
{
	return (struct hi_space_row){.n_steps = (uint32_t)n, .steps = &d->steps[at]};
}

static void draw_report(struct drawn_report *d)
{
	*d = (struct drawn_report){.steps = {{3, blocks_of(100), {}},
					     {2, blocks_of(10), {}},
					     {3600, blocks_of(4), blocks_of(4)},
					     {2, blocks_of(110), {}},
					     {3, blocks_of(104), {}},
					     {3600, blocks_of(4), blocks_of(4)},
					     {0, blocks_of(7), {}}}};
	d->types[0] = (struct hi_alloc_type){"struct very_long_name_of_a_node", d->rows};
	d->types[1] = (struct hi_alloc_type){"char []", d->rows + 1};
	d->types[2] = (struct hi_alloc_type){"", d->rows + 2};
	d->rows[0] = drawn_row(d, 0, 1);
	d->rows[1] = drawn_row(d, 1, 2);
	d->rows[2] = drawn_row(d, 6, 1);
	d->functions[0] = (struct hi_alloc_function){.name = "parse<int>(a, b)",
						     .file = "/src/reader.cc",
						     .module = "/bin/app",
						     .all = drawn_row(d, 3, 3),
						     .types = &d->types[0],
						     .n_types = 2};
	d->functions[1] = (struct hi_alloc_function){.name = "brief\n\033[2J",
						     .file = "",
						     .module = "/lib/libbrief.so",
						     .all = drawn_row(d, 6, 1),
						     .types = &d->types[2],
						     .n_types = 1};
	d->report = (struct hi_alloc_report){.memory = 12345,
					     .n_lines = 3600,
					     .total = d->functions[0].all,
					     .n_selected = 2,
					     .functions = d->functions,
					     .n_functions = 2};
}

static char *write_mlworks(const struct hi_alloc_report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	HI_ASSERT(f);
	hi_mlworks_write(report, f);
	HI_ASSERT_EQ(0, fclose(f));
	hi_test_defer(free, text);
	return text;
}

static void check_cells(const struct read_function *f, size_t age, size_t column,
			struct hi_space_amount a)
{
	HI_ASSERT_MSG(f->cells[age][0][column] == (double)a.number &&
			      f->cells[age][1][column] == (double)a.size &&
			      f->cells[age][2][column] == (double)a.overhead,
		      "%s, age %zu, column %zu", f->name, age, column);
}

HI_TEST(mlworks, every_figure_is_read_back_by_its_printf_forms)
{
	static struct read_profile p;
	struct drawn_report d;
	struct read_function *f;

	draw_report(&d);
	parse_mlworks(write_mlworks(&d.report), &p);
	HI_ASSERT_EQ(12345, p.memory);
	HI_ASSERT_EQ(3600, p.collections);
	HI_ASSERT_EQ(2, p.functions);
	HI_ASSERT_EQ(2, p.n);
	f = &p.of[0];
	HI_ASSERT_STREQ("parse<int>(a, b)[reader.cc]", f->name);
	HI_ASSERT_EQ(3, f->n_columns);
	HI_ASSERT_STREQ("very_long_n", f->columns[0]);
	HI_ASSERT_STREQ("char_[]", f->columns[1]);
	HI_ASSERT_EQ(3600, f->n_copies);
	repeat_ages(f, f->n_copies + 1);
	for (uint32_t age = 0; age <= 3600; age++) {
		for (size_t column = 0; column < 2; column++)
			check_cells(
				f, age, column,
				hi_space_at_age(d.functions[0].types[column].row, age));
		check_cells(f, age, 2, hi_space_at_age(&d.functions[0].all, age));
		if (age)
			HI_ASSERT(f->copies[age - 1] == f->cells[age][1][2]);
	}
	/* 0, 1, and where it falls; 2 is as 1, and all behind 4 are as that. */
	HI_ASSERT_EQ(4, f->n_lines);
	/* Zeros are printed where something comes behind them. */
	HI_ASSERT(f->cells[3][0][0] == 100 && f->cells[4][0][0] == 0);
	HI_ASSERT(f->copied == 2 * 110 * 48 + 104 * 48 + 3597 * 4 * 48);
}

/* 3,600 zeros for each function were most of the file. */
HI_TEST(mlworks, no_zeros_are_printed_after_the_last_age)
{
	static struct read_profile p;
	struct drawn_report d;

	draw_report(&d);
	parse_mlworks(write_mlworks(&d.report), &p);
	HI_ASSERT_EQ(0, p.of[1].n_copies);
	HI_ASSERT_EQ(1, p.of[1].n_ages);
	HI_ASSERT(p.of[1].alloc == 7 * 48 && p.of[1].copied == 0);
	HI_ASSERT_STREQ("unknown", p.of[1].columns[0]);
	/* A name is one line, whatever it is made of. */
	HI_ASSERT(strncmp(p.of[1].name, "brief", 5) == 0 && !strchr(p.of[1].name, 033));
}

/* Two columns of one word would be two types of one name. */
HI_TEST(mlworks, types_with_the_same_beginning_have_columns_of_their_own)
{
	static struct read_profile p;
	struct drawn_report d;

	draw_report(&d);
	d.types[1].name = "struct very_long_name_of_an_edge";
	parse_mlworks(write_mlworks(&d.report), &p);
	HI_ASSERT_STREQ("very_long_n", p.of[0].columns[0]);
	HI_ASSERT_STREQ("very_long~2", p.of[0].columns[1]);
}

/* M4. */
HI_TEST(mlworks, bytes_have_a_unit_above_ten_of_it)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} of[] = {{0, "0 bytes"},
		  {9424, "9424 bytes"},
		  {10240, "10240 bytes"},
		  {10241, "10.00 kbytes"},
		  {210320, "205.39 kbytes"},
		  {10485760, "10240.00 kbytes"},
		  {10485761, "10.00 Mbytes"},
		  {99362096, "94.76 Mbytes"},
		  {6651782992, "6343.63 Mbytes"},
		  {10737418240, "10240.00 Mbytes"},
		  {10737418241, "10.00 Gbytes"},
		  {UINT64_MAX, "17179869184.00 Gbytes"}};
	char text[32];

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		HI_ASSERT_STREQ(of[i].text, hi_mlworks_bytes(text, of[i].bytes));
}
