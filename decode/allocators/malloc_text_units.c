/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Functions of one object file]
 *
 * The code of an allocator that is linked into a program, by symbols. Global functions
 * are known by their names. Static ones have any name ("fallback", "init"), but a linker
 * puts the functions of one object file side by side: a static function that lies between
 * two known functions, with no other global one between them, is of the same object
 * file. Its STT_FILE symbol stands for the whole file, so that also those before the
 * first global function and the cold parts, which lie elsewhere, are found. A file most
 * of whose static functions are not even next to a known one is none of the allocator's:
 * link-time optimization puts all of a program into one.
 *
 * A program may have renamed the functions that it calls ("my_malloc"): such a global
 * function counts where the nearest global ones on both sides are known.
 *
 * What is left out (an instance of a template of the C++ library, a file whose static
 * functions all lie before its global ones) is called by functions that are in: then the
 * return address lies in the allocator's text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/allocators/malloc_text.h"
#include "decode/allocators/malloc_text_signs.h"

enum { UNITS_MAX = 1 << 20 };

struct unit_function {
	uint64_t start, end;
	unsigned unit; /* of a static function; 0: none is known */
	bool is_known, is_static, is_global, is_prefixed;
	bool is_cold;		    /* a part that the compiler has put elsewhere */
	bool is_between, is_beside; /* of known functions, of one */
};
struct unit_functions {
	struct unit_function *items;
	size_t count, capacity;
	const struct hi_malloc_signs *signs;
	bool no_memory;
};

static bool keep_unit_function(const GElf_Sym *sym, const char *name, unsigned file,
			       void *arg)
{
	struct unit_functions *list = arg;
	unsigned bind = GELF_ST_BIND(sym->st_info);
	struct unit_function f = {
		.start = sym->st_value,
		.end = sym->st_value + sym->st_size,
		.unit = file < UNITS_MAX ? file : 0,
		.is_known = hi_malloc_signs_has_name(list->signs, name),
		.is_static = bind == STB_LOCAL,
		.is_global = bind == STB_GLOBAL,
		.is_prefixed = bind == STB_GLOBAL && hi_malloc_has_prefix(name),
		.is_cold = strstr(name, ".cold") != NULL,
	};

	if (f.end <= f.start)
		return true;
	list->no_memory = !hi_vector_push(list, f);
	return !list->no_memory;
}

/* Of several names at one place the known one counts. */
static int compare_unit_functions(const void *a, const void *b)
{
	const struct unit_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (int)y->is_known - (int)x->is_known;
}

static void drop_other_names(struct unit_functions *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (!kept || list->items[i].start != list->items[kept - 1].start)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static void believe_prefixed(struct unit_functions *list)
{
	bool after_known = false;

	for (size_t i = 0, first = 0; i < list->count; i++) {
		const struct unit_function *f = &list->items[i];

		if (!f->is_known && (!f->is_global || f->is_prefixed))
			continue;
		for (size_t k = first; after_known && f->is_known && k < i; k++)
			list->items[k].is_known |= list->items[k].is_prefixed;
		after_known = f->is_known;
		first = i + 1;
	}
}

/* Of those between two global functions, items[first - 1] and items[end]. */
static void mark_stretch(struct unit_functions *list, size_t first, size_t end)
{
	bool before = first > 0 && list->items[first - 1].is_known;
	bool behind = end < list->count && list->items[end].is_known;

	for (size_t i = first; i < end; i++) {
		list->items[i].is_between = before && behind;
		list->items[i].is_beside = before || behind;
	}
}

static void mark_neighbours(struct unit_functions *list)
{
	size_t first = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].is_known || list->items[i].is_global) {
			mark_stretch(list, first, i);
			first = i + 1;
		}
	mark_stretch(list, first, list->count);
}

struct unit_count {
	uint32_t all, between, beside;
};

static struct unit_count *count_units(const struct unit_functions *list)
{
	struct unit_count *units;
	unsigned most = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].unit > most)
			most = list->items[i].unit;
	units = hi_calloc((size_t)most + 1, sizeof(*units));
	for (size_t i = 0; units && i < list->count; i++) {
		const struct unit_function *f = &list->items[i];

		if (!f->is_static || f->is_cold)
			continue;
		units[f->unit].all++;
		units[f->unit].between += f->is_between || f->is_known;
		units[f->unit].beside += f->is_beside || f->is_known;
	}
	return units;
}

static bool is_of_allocator(const struct unit_function *f, const struct unit_count *units)
{
	const struct unit_count *unit = &units[f->unit];

	return f->is_known || (f->is_static && f->unit && unit->between &&
			       unit->beside >= unit->all - unit->beside);
}

static enum hi_status add_unit_functions(struct unit_functions *functions,
					 struct hi_range_list *list, struct hi_error *err)
{
	struct unit_count *units;
	enum hi_status status = HI_OK;

	if (functions->count > 1)
		qsort(functions->items, functions->count, sizeof(*functions->items),
		      compare_unit_functions);
	drop_other_names(functions);
	believe_prefixed(functions);
	mark_neighbours(functions);
	units = count_units(functions);
	if (!units)
		return hi_fail_memory(err, "allocator's text");
	for (size_t i = 0; i < functions->count && status == HI_OK; i++) {
		const struct unit_function *f = &functions->items[i];

		if (is_of_allocator(f, units) &&
		    !hi_vector_push(list, (struct hi_range){f->start, f->end}))
			status = hi_fail_memory(err, "allocator's text");
	}
	free(units);
	return status;
}

enum hi_status hi_malloc_text_by_units(Elf *symbols, const struct hi_malloc_signs *signs,
				       struct hi_range_list *list, struct hi_error *err)
{
	struct unit_functions functions = {.signs = signs};
	size_t before = list->count;
	enum hi_status status = HI_OK;

	(void)hi_malloc_each_function(symbols, SHT_SYMTAB, keep_unit_function,
				      &functions);
	if (functions.no_memory)
		status = hi_fail_memory(err, "allocator's text");
	else if (functions.count)
		status = add_unit_functions(&functions, list, err);
	hi_vector_free(&functions);
	if (status == HI_OK && list->count == before)
		return hi_fail(err, HI_NOT_FOUND, 0, "no symbols of the allocator");
	return status;
}
