/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/alloc/mlworks.h"

#include <string.h>

#include "base/text.h"

enum { NAME = 1024, TYPE = 12, CHAIN = 15 };

/* Ages that have two digits, as MLWorks prints them. Of a function that has more, those
 * are left out that have the figures of the one before. */
enum { ALL_AGES = 99 };

/* ---- words ---- */

char *hi_mlworks_bytes(char out[32], uint64_t bytes)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {{1ull << 30, "Gbytes"}, {1ull << 20, "Mbytes"}, {1 << 10, "kbytes"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (bytes > 10 * units[i].unit) {
			snprintf(out, 32, "%.2f %s",
				 (double)bytes / (double)units[i].unit, units[i].name);
			return out;
		}
	snprintf(out, 32, "%lu bytes", (unsigned long)bytes);
	return out;
}

static void print_escaped(const char *text, FILE *out)
{
	char safe[NAME];

	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fputs(safe, out);
}

/* "parse[reader.c]", of one without a source "parse[libreader.so]". */
static void print_mlworks_name(const char *name, const char *file, const char *module,
			       FILE *out)
{
	const char *place = hi_base_name(*file ? file : module);

	print_escaped(*name ? name : "<no stack>", out);
	if (!*place)
		return;
	fputc('[', out);
	print_escaped(place, out);
	fputc(']', out);
}

/* A word of at most 11 characters: columns are told apart by blanks. */
static const char *column_name(const char *type, char out[4 * TYPE])
{
	static const char *const kinds[] = {"struct ", "class ", "union ", "enum "};
	char text[NAME];
	size_t n = 0;

	if (!*type)
		return "unknown";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(type, kinds[i], strlen(kinds[i])) == 0)
			type += strlen(kinds[i]);
	hi_text_escape(text, sizeof(text), type, strlen(type));
	for (; text[n] && n < TYPE - 1; n++)
		out[n] = text[n] == ' ' || (unsigned char)text[n] >= 0x80 ? '_' : text[n];
	out[n] = '\0';
	return out;
}

/* ---- lines ---- */

static void print_sums(const struct hi_space_row *row, FILE *out)
{
	fprintf(out, "%12.0f%12.0f  ", (double)hi_space_at_age(row, 0).size,
		(double)hi_space_survived(row).size);
}

/* Up to the last age that has some; none before it is left out. */
static void print_survivors(const struct hi_space_row *row, FILE *out)
{
	uint32_t n_ages = hi_space_last_age(row), step = 0, printed = UINT32_MAX;
	char cell[32];

	fputs("            ", out);
	for (uint32_t age = 1; age <= n_ages; age++) {
		while (row->steps[step].age < age)
			step++;
		if (step != printed)
			snprintf(cell, sizeof(cell), "%12.0f",
				 (double)row->steps[step].all.size);
		printed = step;
		fputs(cell, out);
	}
	fputc('\n', out);
}

/* Columns: the first types, and all others together. */
static size_t count_columns(const struct hi_alloc_function *f)
{
	return f->n_types < HI_MLWORKS_TYPES ? f->n_types : (size_t)HI_MLWORKS_TYPES;
}

static struct hi_space_amount amount_of_column(const struct hi_alloc_function *f,
					       size_t column, uint32_t age)
{
	bool is_last = column + 1 == HI_MLWORKS_TYPES;
	struct hi_space_amount sum = hi_space_at_age(f->types[column].row, age), one;

	for (size_t i = column + 1; is_last && i < f->n_types; i++) {
		one = hi_space_at_age(f->types[i].row, age);
		hi_space_add(&sum, &one);
	}
	return sum;
}

/* If names of types are cut to the same word, the later ones have their number. */
static const char *name_column(const struct hi_alloc_function *f, size_t column,
			       char out[4 * TYPE])
{
	const char *name = column_name(f->types[column].name, out);
	char before[4 * TYPE], number[12];
	size_t same = 1, n, digits;

	for (size_t i = 0; i < column; i++)
		same += strcmp(column_name(f->types[i].name, before), name) == 0;
	if (same == 1 || name != out)
		return name;
	digits = (size_t)snprintf(number, sizeof(number), "~%zu", same);
	n = strlen(out);
	if (n + digits > TYPE - 1)
		n = TYPE - 1 - digits;
	memcpy(out + n, number, digits + 1);
	return out;
}

static void print_columns(const struct hi_alloc_function *f, FILE *out)
{
	char name[4 * TYPE];

	fputs("          gen       ", out);
	for (size_t i = 0; i < count_columns(f); i++)
		fprintf(out, "%12s",
			f->n_types > HI_MLWORKS_TYPES && i + 1 == HI_MLWORKS_TYPES
				? "others"
				: name_column(f, i, name));
	fprintf(out, "%12s\n", "total");
}

enum part { PART_NUMBER, PART_SIZE, PART_OVERHEAD };

static double number_of_part(struct hi_space_amount a, enum part part)
{
	return (double)(part == PART_NUMBER ? a.number
			: part == PART_SIZE ? a.size
					    : a.overhead);
}

static void print_part(const struct hi_alloc_function *f, uint32_t age, enum part part,
		       FILE *out)
{
	for (size_t i = 0; i < count_columns(f); i++)
		fprintf(out, "%12.0f", number_of_part(amount_of_column(f, i, age), part));
	fprintf(out, "%12.0f\n", number_of_part(hi_space_at_age(&f->all, age), part));
}

static void print_mlworks_ages(const struct hi_alloc_function *f, FILE *out)
{
	uint32_t n_ages = hi_space_last_age(&f->all);

	print_columns(f, out);
	for (uint32_t age = 0; age <= n_ages; age++) {
		if (n_ages > ALL_AGES && !hi_space_falls_at(&f->all, age))
			continue;
		fprintf(out, "          %2u     no ", age);
		print_part(f, age, PART_NUMBER, out);
		fputs("               size ", out);
		print_part(f, age, PART_SIZE, out);
		fputs("           overhead ", out);
		print_part(f, age, PART_OVERHEAD, out);
	}
}

/* ---- time ---- */

static size_t count_counted(const struct hi_alloc_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_functions; i++)
		n += r->functions[i].calls != HI_CALLS_NOT_COUNTED;
	return n;
}

static void print_time_header(const struct hi_alloc_report *r, FILE *out)
{
	const struct hi_alloc_time *t = &r->time;
	double mean = t->scans ? (double)t->frames / (double)t->scans : 0;

	fprintf(out,
		"MLWorks time profile:\n"
		"%lu bytes used for time profiling data\n"
		"functions profiled : %zu\n"
		"functions call-counted : %zu\n"
		"scans: %lu\n"
		"(plus 0 ticks in GC, 0 ticks in profiler, 0 re-entered)\n",
		(unsigned long)r->memory, r->n_selected, count_counted(r),
		(unsigned long)t->scans);
	if (t->scans)
		fprintf(out,
			"frames scanned: %lu\n"
			"ML frames scanned: %lu (100.0%%)\n"
			"mean stack depth: %.2f\n"
			"maximum ML stack depth: %u\n"
			"mean ML stack depth: %.2f\n",
			(unsigned long)t->frames, (unsigned long)t->frames, mean,
			t->most_frames, mean);
}

/* "f; g; h": h has called g, which has called f. */
static void print_time_callers(const struct hi_alloc_function *f, FILE *out)
{
	const struct hi_alloc_caller *chain[CHAIN] = {};

	for (size_t i = 0; i < f->n_callers; i++) {
		const struct hi_alloc_caller *c = &f->callers[i];

		if (!c->level || c->level > CHAIN)
			continue;
		chain[c->level - 1] = c;
		if (!c->time.found)
			continue;
		fprintf(out, "          %8lu  %8lu  %8lu                       ",
			(unsigned long)c->time.top, (unsigned long)c->time.scans,
			(unsigned long)c->time.found);
		print_mlworks_name(f->name, f->file, f->module, out);
		for (unsigned k = 0; k < c->level; k++) {
			fputs("; ", out);
			print_mlworks_name(chain[k]->name, chain[k]->file, "", out);
		}
		fputc('\n', out);
	}
}

static void print_time_row(const struct hi_alloc_function *f, FILE *out)
{
	if (f->calls == HI_CALLS_NOT_COUNTED)
		fputs("       -", out);
	else
		fprintf(out, "%8lu", (unsigned long)f->calls);
	fprintf(out, "  %8lu  %8lu  %8lu  %8u  %8u   ", (unsigned long)f->time.top,
		(unsigned long)f->time.scans, (unsigned long)f->time.found, f->time.depth,
		f->time.self);
	print_mlworks_name(f->name, f->file, f->module, out);
	fputc('\n', out);
}

static void write_time_profile(const struct hi_alloc_report *r, FILE *out)
{
	static const char line[] =
		"---------------------------------------------------------\n";

	fputs(line, out);
	print_time_header(r, out);
	fputs("---\n   calls       top     scans     found     depth      self   name\n",
	      out);
	for (size_t i = 0; i < r->n_functions; i++) {
		print_time_row(&r->functions[i], out);
		print_time_callers(&r->functions[i], out);
	}
	fputs(line, out);
}

void hi_mlworks_write(const struct hi_alloc_report *r, FILE *out)
{
	fprintf(out, "MLWorks space profile\n%lu bytes used for profiling\n",
		(unsigned long)r->memory);
	fprintf(out, "%u collections\nfunctions profiled : %zu\n---\n", r->n_lines,
		r->n_selected);
	fprintf(out, "%12s%12s  name\n", "alloc", "copied");
	print_sums(&r->total, out);
	fputs("total profiled\n", out);
	for (size_t i = 0; i < r->n_functions; i++) {
		const struct hi_alloc_function *f = &r->functions[i];

		if (!f->n_types || !hi_alloc_shows(f, HI_ALLOC_SPACE))
			continue;
		print_sums(&f->all, out);
		print_mlworks_name(f->name, f->file, f->module, out);
		fputc('\n', out);
		if (hi_alloc_shows(f, HI_ALLOC_COPIES))
			print_survivors(&f->all, out);
		if (hi_alloc_shows(f, HI_ALLOC_TYPES))
			print_mlworks_ages(f, out);
	}
	if (r->time.scan_ns)
		write_time_profile(r, out);
}
