/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To decode all of an interpreter takes a second. So its bytes are searched first for
 * what a copy cannot do without: a call of the function that makes a new pool, the
 * variables that pymalloc's free uses, the variable by which tracemalloc is told of
 * objects. Only functions that have one of those are decoded.
 */
#include "probes/events/python_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

enum {
	CHUNK = 1 << 20,
	OVERLAP = 16, /* bytes of an instruction, and more */
	FUNCTION_MAX = 1 << 18,
	VARIABLES_MAX = 64,
	BIRTH_MAX = 256, /* bytes of _Py_NewReference */
};

struct copies_search {
	struct hi_python_copies *copies;
	struct hi_python_births births;
	bool has_births;
	uint64_t variables[VARIABLES_MAX];
	size_t n_variables;
	uint64_t least, most; /* of variables */
	uint8_t *is_marked;   /* of each of the entries */
	uint8_t *bytes;	      /* CHUNK */
};

static void add_searched_variable(struct copies_search *s, uint64_t addr)
{
	if (s->n_variables == VARIABLES_MAX)
		return;
	s->variables[s->n_variables++] = addr;
	s->least = addr < s->least ? addr : s->least;
	s->most = addr > s->most ? addr : s->most;
}

static void find_births(struct copies_search *s)
{
	struct hi_python_copies *c = s->copies;
	uint64_t start, size;

	if (hi_modules_symbol(c->code->modules, c->module, "_Py_NewReference", &start,
			      &size, NULL) != HI_OK ||
	    !size || size > BIRTH_MAX ||
	    hi_module_read_file(c->module, start, s->bytes, size, NULL) != HI_OK)
		return;
	s->has_births = hi_python_births_find(s->bytes, size, start, &s->births);
	if (s->has_births)
		add_searched_variable(s, s->births.flag);
}

/* Copies of pymalloc's free. */
static void find_heap_variables(struct copies_search *s)
{
	const struct hi_range *function = &s->copies->free;
	uint64_t found[VARIABLES_MAX];
	size_t size = function->end - function->start, n;

	if (size > CHUNK || hi_module_read_file(s->copies->module, function->start,
						s->bytes, size, NULL) != HI_OK)
		return;
	n = hi_python_sites_variables(s->bytes, size, function->start, found,
				      VARIABLES_MAX);
	for (size_t i = 0; i < n; i++)
		add_searched_variable(s, found[i]);
}

static bool is_searched_variable(const struct copies_search *s, uint64_t addr)
{
	if (addr < s->least || addr > s->most)
		return false;
	for (size_t i = 0; i < s->n_variables; i++)
		if (s->variables[i] == addr)
			return true;
	return false;
}

/* May these 4 bytes of an instruction be the address of one, or the distance to it? Up to
 * 4 bytes of a number may follow. */
static bool may_be_variable(const struct copies_search *s, uint64_t distance, uint64_t at)
{
	static const uint64_t rests[] = {4, 5, 8};

	if (is_searched_variable(s, distance))
		return true;
	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++)
		if (is_searched_variable(s, at + rests[i] + distance))
			return true;
	return false;
}

static void mark_function_at(struct copies_search *s, uint64_t addr)
{
	const struct hi_cfi_entries *e = s->copies->entries;
	uint64_t at = addr - s->copies->module->bias;
	size_t i = hi_search(j, e->count, e->items[j].start <= at);

	if (i > 0 && at < e->items[i - 1].end)
		s->is_marked[i - 1] = 1;
}

static bool is_call_of_new_pool(const struct copies_search *s, const uint8_t *byte,
				uint64_t addr, uint64_t distance)
{
	return (byte[-1] == 0xe8 || byte[-1] == 0xe9) &&
	       addr + 4 + distance == s->copies->new_pool;
}

/* Any of the first n bytes may be before the 4: a wrong one is no loss, as the function
 * is decoded. */
static void mark_functions_in(struct copies_search *s, size_t n, size_t size,
			      uint64_t addr)
{
	for (size_t i = 1; i <= n && i + 4 <= size; i++) {
		int32_t word;
		uint64_t distance;

		memcpy(&word, s->bytes + i, sizeof(word));
		distance = (uint64_t)(int64_t)word;
		if (is_call_of_new_pool(s, s->bytes + i, addr + i, distance))
			s->copies->n_calls++;
		else if (!may_be_variable(s, distance, addr + i))
			continue;
		mark_function_at(s, addr + i);
	}
}

static void mark_functions(struct copies_search *s)
{
	const struct hi_image *image = s->copies->code->image;
	const struct hi_module *module = s->copies->module;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (!(m->prot & HI_PROT_EXEC) || m->start < module->start ||
		    m->end > module->end)
			continue;
		for (uint64_t at = m->start; at < m->end; at += CHUNK - OVERLAP) {
			size_t size = m->end - at < CHUNK ? m->end - at : CHUNK;

			if (hi_module_read_file(s->copies->module, at, s->bytes, size,
						NULL) == HI_OK)
				mark_functions_in(s, CHUNK - OVERLAP, size, at);
		}
	}
}

static bool find_in_functions(struct copies_search *s)
{
	struct hi_python_copies *c = s->copies;

	for (size_t i = 0; i < c->entries->count; i++) {
		const struct hi_cfi_entry *e = &c->entries->items[i];
		uint64_t size = e->end - e->start, addr = e->start + c->module->bias;

		if (!s->is_marked[i] || size > FUNCTION_MAX ||
		    hi_module_read_file(c->module, addr, s->bytes, size, NULL) != HI_OK)
			continue;
		if (!hi_python_sites_find(s->bytes, size, addr, c->module,
					  s->has_births ? &s->births : NULL, &c->sites))
			return false;
	}
	return true;
}

enum hi_status hi_python_copies_find(struct hi_python_copies *copies,
				     struct hi_error *err)
{
	struct copies_search s = {.copies = copies, .least = UINT64_MAX};
	HI_GUARD(free) uint8_t *marks = hi_calloc(copies->entries->count + 1, 1);
	HI_GUARD(free) uint8_t *bytes = hi_alloc(CHUNK);

	s.is_marked = marks;
	s.bytes = bytes;
	if (!marks || !bytes)
		return hi_fail_memory(err, "code of Python");
	find_heap_variables(&s);
	find_births(&s);
	mark_functions(&s);
	if (!find_in_functions(&s))
		return hi_fail_memory(err, "code of Python");
	for (size_t i = 0; i < copies->sites.count; i++)
		copies->n_of[copies->sites.items[i].kind]++;
	return HI_OK;
}
