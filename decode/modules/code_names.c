/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/code_names.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/modules/demangle.h"

enum {
	DEMANGLED_MAX = 16 << 10, /* bytes; a longer name is left mangled */
	QUALIFIER_MAX = 2 << 10,  /* bytes of the scope of a function */
};

/* ---- names ---- */

static const char *name_numbered(struct hi_code_names *names, uint32_t number)
{
	return number ? hi_interner_name(&names->all, number) : NULL;
}

const char *hi_code_name_cut(struct hi_code_names *names, const char *text)
{
	char cut[HI_CODE_NAME_MAX];

	if (strnlen(text, sizeof(cut)) < sizeof(cut))
		return text;
	memcpy(cut, text, sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = '\0';
	return name_numbered(names, hi_interner_add(&names->all, cut));
}

/* "ns::f(int)"; false: it is not mangled, or too long. */
static bool demangle_to_buffer(struct hi_code_names *names, const char *mangled)
{
	return hi_demangle(mangled, names->buffer, DEMANGLED_MAX);
}

static const char *linkage_of_die(Dwarf_Die *die)
{
	const char *linkage = hi_die_string(die, DW_AT_linkage_name);

	return linkage ? linkage : hi_die_string(die, DW_AT_MIPS_linkage_name);
}

bool hi_code_die_is_linked(Dwarf_Die *die)
{
	return linkage_of_die(die) != NULL;
}

/* "ns::f" in the buffer. NULL: out of memory. */
static const char *qualify_function_name(struct hi_code_names *names, Dwarf_Die *die,
					 const char *name)
{
	size_t n;

	if (!hi_code_qualifier_write(&names->qualifiers, die, names->buffer,
				     QUALIFIER_MAX))
		return NULL;
	n = strlen(names->buffer);
	snprintf(names->buffer + n, DEMANGLED_MAX - n, "%.*s", HI_CODE_NAME_MAX, name);
	return names->buffer;
}

/*
 * What a function is called, in the buffer or elsewhere. A linkage name that is not
 * mangled comes from an assembler label: glibc's __libc_malloc is "__GI___libc_malloc".
 * What the source calls it says more.
 */
static const char *choose_function_name(struct hi_code_names *names, Dwarf_Die *die,
					const char *symbol)
{
	const char *linkage = linkage_of_die(die), *name;

	if (linkage && demangle_to_buffer(names, linkage))
		return names->buffer;
	/* Functions of one file have no linkage name, but their symbol is mangled. */
	if (!linkage && symbol && demangle_to_buffer(names, symbol))
		return names->buffer;
	name = hi_die_string(die, DW_AT_name);
	if (name)
		return qualify_function_name(names, die, name);
	name = linkage ? linkage : symbol;
	return name ? name : "";
}

/* Keeps a name for what it comes from. */
static const char *keep_code_name(struct hi_code_names *names, uint64_t from,
				  const char *text)
{
	const char *cut = text ? hi_code_name_cut(names, text) : NULL;
	uint32_t number = cut ? hi_interner_add(&names->all, cut) : 0;

	return number && hi_table_put(&names->made, from, number)
		       ? name_numbered(names, number)
		       : NULL;
}

static bool has_name_buffer(struct hi_code_names *names)
{
	if (!names->buffer)
		names->buffer = hi_alloc(DEMANGLED_MAX);
	return names->buffer != NULL;
}

/* Inlined calls have the name of their origin, which is made once for all of them. */
static uint64_t name_source_of_die(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	if (dwarf_tag(die) == DW_TAG_inlined_subroutine &&
	    dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	    dwarf_formref_die(&attr, &origin))
		return (uintptr_t)origin.addr;
	return (uintptr_t)die->addr;
}

const char *hi_code_name_of_die(struct hi_code_names *names, Dwarf_Die *die,
				const char *symbol)
{
	uint64_t from = name_source_of_die(die), number;

	if (hi_table_get(&names->made, from, &number))
		return name_numbered(names, (uint32_t)number);
	if (!has_name_buffer(names))
		return NULL;
	return keep_code_name(names, from, choose_function_name(names, die, symbol));
}

const char *hi_code_name_of_symbol(struct hi_code_names *names, const char *symbol)
{
	uint64_t from = (uintptr_t)symbol, number;

	if (hi_table_get(&names->made, from, &number))
		return name_numbered(names, (uint32_t)number);
	if (!has_name_buffer(names))
		return NULL;
	return keep_code_name(names, from,
			      demangle_to_buffer(names, symbol) ? names->buffer : symbol);
}

void hi_code_names_free(struct hi_code_names *names)
{
	hi_interner_free(&names->all);
	hi_table_free(&names->made);
	hi_code_qualifiers_free(&names->qualifiers);
	free(names->buffer);
	*names = (struct hi_code_names){};
}

/* ---- lines ---- */

static const char *known_file(const char *file)
{
	/* "???" is what libdw calls file 0 before DWARF 5. */
	return file && strcmp(file, "???") != 0 ? file : "";
}

struct hi_code_line hi_code_line_at(Dwarf_Die *unit, uint64_t addr)
{
	struct hi_code_line ret = {.file = ""};
	Dwarf_Line *row = dwarf_getsrc_die(unit, addr);
	int line;

	if (!row)
		return ret;
	ret.file = known_file(dwarf_linesrc(row, NULL, NULL));
	if (dwarf_lineno(row, &line) == 0 && line > 0)
		ret.line = (uint32_t)line;
	return ret;
}

static uint32_t number_of_call(Dwarf_Die *call, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	return dwarf_formudata(dwarf_attr(call, name, &attr), &word) == 0 &&
			       word <= UINT32_MAX
		       ? (uint32_t)word
		       : 0;
}

struct hi_code_line hi_code_line_of_call(Dwarf_Die *unit, Dwarf_Die *call)
{
	struct hi_code_line ret = {.file = "",
				   .line = number_of_call(call, DW_AT_call_line)};
	uint32_t number = number_of_call(call, DW_AT_call_file);
	Dwarf_Files *files;
	size_t n;

	if (dwarf_hasattr(call, DW_AT_call_file) &&
	    dwarf_getsrcfiles(unit, &files, &n) == 0 && number < n)
		ret.file = known_file(dwarf_filesrc(files, number, NULL, NULL));
	return ret;
}
