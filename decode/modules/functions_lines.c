/* SPDX-License-Identifier: BSD-2-Clause */
/* From FILE:LINE to code, by the rows of the line tables that begin a statement. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "decode/modules/functions.h"
#include "decode/modules/functions_internal.h"

enum { ROWS_MAX = 1 << 10 }; /* that are kept, of one line */

struct rows HI_VECTOR(struct hi_line_location);

struct search {
	const char *file;
	unsigned line;
	Dwarf_Addr bias;
	unsigned best; /* line of the rows that are kept; 0: none yet */
	struct rows rows;
	bool file_known, no_memory;
};

/* A path from its end on; a relative one goes on with the directory it is relative to. */
struct parts {
	const char *directory; /* NULL: none */
	const char *path, *end;
	unsigned up; /* parts that a ".." behind them removes */
};

static struct parts parts_of(const char *path, const char *directory)
{
	return (struct parts){.directory = path[0] == '/' ? NULL : directory,
			      .path = path,
			      .end = path + strlen(path)};
}

/*
 * The last part that was not given yet; NULL: there is none. What "..", "." and "//"
 * stand for is left out: compilers write the paths that they were given, as
 * "../src/file.c" in "/build".
 */
static const char *part_before(struct parts *parts, size_t *length)
{
	for (;;) {
		const char *from = parts->end;

		while (from > parts->path && from[-1] != '/')
			from--;
		*length = (size_t)(parts->end - from);
		if (from == parts->path && *length == 0) {
			if (!parts->directory)
				return NULL;
			parts->path = parts->directory;
			parts->end = parts->path + strlen(parts->path);
			parts->directory = NULL;
			continue;
		}
		parts->end = from > parts->path ? from - 1 : from;
		if (*length == 0 || (*length == 1 && *from == '.'))
			continue;
		if (*length == 2 && memcmp(from, "..", 2) == 0)
			parts->up++;
		else if (parts->up > 0)
			parts->up--;
		else
			return from;
	}
}

/* The whole path, or the end of it. */
static bool is_file(const char *path, const char *directory, const char *wanted)
{
	struct parts of_path = parts_of(path ? path : "", directory);
	struct parts of_wanted = parts_of(wanted, NULL);
	const char *part, *other;
	size_t n_parts = 0, n, m;

	while (path && (part = part_before(&of_wanted, &n))) {
		other = part_before(&of_path, &m);
		if (!other || n != m || memcmp(part, other, n) != 0)
			return false;
		n_parts++;
	}
	return n_parts > 0;
}

static const char *directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

static bool has_file(Dwarf_Die *unit, const char *wanted)
{
	const char *directory = directory_of(unit);
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (is_file(dwarf_filesrc(files, i, NULL, NULL), directory, wanted))
			return true;
	return false;
}

/* The innermost function or inlined call at addr; 0: none. */
static uint64_t scope_at(Dwarf_Die *unit, Dwarf_Addr addr)
{
	Dwarf_Die scope;

	return hi_scope_of_code(unit, addr, true, &scope) ? dwarf_dieoffset(&scope) : 0;
}

static void look_at_row(struct search *search, Dwarf_Die *unit, Dwarf_Line *row)
{
	bool is_statement, is_end;
	Dwarf_Addr addr;
	int line;

	if (dwarf_lineno(row, &line) != 0 || line < (int)search->line ||
	    (search->best && (unsigned)line > search->best) ||
	    dwarf_linebeginstatement(row, &is_statement) != 0 || !is_statement ||
	    dwarf_lineendsequence(row, &is_end) != 0 || is_end ||
	    dwarf_lineaddr(row, &addr) != 0 || addr == 0 ||
	    !is_file(dwarf_linesrc(row, NULL, NULL), directory_of(unit), search->file))
		return;
	if ((unsigned)line != search->best)
		search->rows.count = 0;
	search->best = (unsigned)line;
	if (search->rows.count >= ROWS_MAX)
		return;
	if (!hi_vector_push(&search->rows, ((struct hi_line_location){
						   addr + search->bias, (unsigned)line,
						   scope_at(unit, addr)})))
		search->no_memory = true;
}

static void look_at_unit(struct search *search, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (!has_file(unit, search->file))
		return;
	search->file_known = true;
	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n && !search->no_memory; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (row)
			look_at_row(search, unit, row);
	}
}

static int compare_line_scopes(const void *left, const void *right)
{
	const struct hi_line_location *a = left, *b = right;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Keeps the lowest address of each scope. */
static void thin_out(struct rows *rows, size_t max)
{
	size_t kept = 0;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items),
		      compare_line_scopes);
	for (size_t i = 0; i < rows->count; i++)
		if (kept == 0 || rows->items[i].scope != rows->items[kept - 1].scope)
			rows->items[kept++] = rows->items[i];
	rows->count = kept < max ? kept : max;
}

enum hi_status hi_module_line_locations(struct hi_module *module, const char *file,
					unsigned line, size_t max,
					struct hi_line_location **ret, size_t *n_ret,
					bool *file_known_ret, struct hi_error *err)
{
	struct hi_modules *modules = hi_module_modules(module);
	struct search search = {.file = file, .line = line};
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Die unit, split;
	uint8_t type;
	Dwarf *dwarf;

	hi_modules_lock(modules);
	dwarf = hi_module_dwarf(module, &search.bias);
	while (dwarf && !search.no_memory &&
	       dwarf_get_units(dwarf, cu, &next, NULL, &type, &unit, &split) == 0) {
		cu = next;
		if (type == DW_UT_skeleton && split.addr)
			unit = split;
		if (unit.addr)
			look_at_unit(&search, &unit);
	}
	hi_modules_unlock(modules);
	if (search.no_memory) {
		hi_vector_free(&search.rows);
		return hi_fail_memory(err, "rows of a line");
	}
	thin_out(&search.rows, max);
	*ret = search.rows.items;
	*n_ret = search.rows.count;
	*file_known_ret |= search.file_known;
	return HI_OK;
}
