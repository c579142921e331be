/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/frame_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/modules/code_names.h"
#include "decode/modules/code_scopes.h"
#include "decode/modules/code_symbols.h"
#include "decode/runtimes/cpython_walk_find.h"

/* One address that was asked for. */
struct asked_frame {
	uint64_t addr; /* of the call: one byte before the return address */
	uint64_t unit; /* of the module's DWARF, or HI_CODE_NOTHING */
	uint32_t module;
	uint32_t position; /* in the list of addresses */
};

/* Rows of an address: rows[first] to rows[first + n - 1]. */
struct frame_span {
	uint32_t first, n;
};

struct frame_naming {
	struct hi_modules *modules;
	struct hi_module *interpreter; /* NULL: none */
	struct hi_python_codes *codes; /* NULL: none */
	const uint64_t *addresses;
	struct asked_frame *asked; /* by module, then unit, then address */
	struct frame_span *spans;  /* by position */
	struct HI_VECTOR(struct hi_frame_row) rows;
	struct hi_code_names names;
	struct hi_error *err;
	/* Of the module that is looked at: */
	struct hi_module *module;
	bool is_interpreter;
	Dwarf *dwarf; /* NULL: none */
	Dwarf_Addr bias;
	struct hi_code_ranges units, sections;
	/* Of the unit: */
	bool has_unit;
	Dwarf_Die unit;
	struct hi_code_scopes scopes;
};

enum { NO_MODULE = UINT32_MAX };

/* ---- the order in which they are looked up ---- */

static int compare_asked_frames(const void *left, const void *right)
{
	const struct asked_frame *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

static void sort_asked_frames(struct asked_frame *asked, uint32_t n)
{
	if (n > 1)
		qsort(asked, n, sizeof(*asked), compare_asked_frames);
}

static void find_asked_modules(struct frame_naming *naming, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		/* No call is before address 0. */
		uint64_t addr = naming->addresses[i] ? naming->addresses[i] - 1 : 0;
		struct hi_module *module = hi_modules_at(naming->modules, addr);

		naming->asked[i] = (struct asked_frame){
			.addr = addr,
			.unit = HI_CODE_NOTHING,
			.module = module ? (uint32_t)hi_module_index(module) : NO_MODULE,
			.position = i,
		};
	}
	sort_asked_frames(naming->asked, n);
}

/* ---- rows ---- */

static enum hi_status fail_naming(struct frame_naming *naming)
{
	return hi_fail_memory(naming->err, "names of frames");
}

static enum hi_status add_frame_row(struct frame_naming *naming, uint32_t position,
				    const char *function, struct hi_code_line line)
{
	const struct hi_module *module = naming->module;
	struct hi_frame_row row = {
		.module = module ? module->path : "",
		.function = function,
		.file = hi_code_name_cut(&naming->names, line.file),
		.offset = module ? naming->addresses[position] - module->start : 0,
		.line = line.line,
		.flags = naming->is_interpreter ? HI_FRAME_INTERPRETER : 0,
	};

	if (!function || !row.file || !hi_vector_push(&naming->rows, row))
		return fail_naming(naming);
	naming->spans[position].n++;
	return HI_OK;
}

/* The symbol at an address of the target; entry: only one that begins there. */
static const char *symbol_of_frame(struct frame_naming *naming, uint64_t addr, bool entry)
{
	uint64_t start;
	const char *symbol =
		hi_code_symbol_at(naming->module, &naming->sections, addr, &start);

	return symbol && (!entry || start == addr) ? symbol : NULL;
}

static enum hi_status add_symbol_row(struct frame_naming *naming,
				     const struct asked_frame *asked,
				     struct hi_code_line line)
{
	const char *symbol =
		naming->module ? symbol_of_frame(naming, asked->addr, false) : NULL;

	return add_frame_row(naming, asked->position,
			     symbol ? hi_code_name_of_symbol(&naming->names, symbol) : "",
			     line);
}

static const char *name_of_scope(struct frame_naming *naming, Dwarf_Die *scope)
{
	const char *symbol = NULL;
	Dwarf_Addr entry;

	if (!hi_code_die_is_linked(scope) && dwarf_entrypc(scope, &entry) == 0 &&
	    dwarf_tag(scope) == DW_TAG_subprogram)
		symbol = symbol_of_frame(naming, entry + naming->bias, true);
	return hi_code_name_of_die(&naming->names, scope, symbol);
}

/* A caller's line is where it calls the row before. */
static enum hi_status add_scope_rows(struct frame_naming *naming,
				     const struct asked_frame *asked,
				     struct hi_code_line line)
{
	Dwarf_Die scopes[HI_CODE_DEPTH];
	size_t n = hi_code_scopes_at(&naming->scopes, asked->addr - naming->bias, scopes);
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < n; i++) {
		const char *name = name_of_scope(naming, &scopes[i]);

		if (n == 1 && name && *name == '\0')
			return add_symbol_row(naming, asked, line);
		status = add_frame_row(naming, asked->position, name, line);
		line = hi_code_line_of_call(&naming->scopes.unit, &scopes[i]);
	}
	return n > 0 ? status : add_symbol_row(naming, asked, line);
}

static enum hi_status name_asked_frame(struct frame_naming *naming,
				       const struct asked_frame *asked)
{
	struct hi_code_line line = {.file = ""};

	naming->spans[asked->position].first = (uint32_t)naming->rows.count;
	if (!naming->has_unit)
		return add_symbol_row(naming, asked, line);
	line = hi_code_line_at(&naming->unit, asked->addr - naming->bias);
	return add_scope_rows(naming, asked, line);
}

/* ---- modules and their units ---- */

static enum hi_status name_unit_frames(struct frame_naming *naming,
				       const struct asked_frame *asked, uint32_t n)
{
	enum hi_status status = HI_OK;

	naming->has_unit = asked->unit != HI_CODE_NOTHING &&
			   hi_code_unit_die(naming->dwarf, asked->unit, &naming->unit);
	if (naming->has_unit)
		status = hi_code_scopes_read(&naming->unit, &naming->scopes, naming->err);
	for (uint32_t i = 0; status == HI_OK && i < n; i++) {
		if (i > 0 && asked[i].addr == asked[i - 1].addr)
			naming->spans[asked[i].position] =
				naming->spans[asked[i - 1].position];
		else
			status = name_asked_frame(naming, &asked[i]);
	}
	hi_code_scopes_free(&naming->scopes);
	return status;
}

/* The modules in C that come with Python are in files of their own, or in the
 * interpreter's. */
static bool is_of_interpreter(const struct frame_naming *naming,
			      const struct hi_module *module)
{
	return naming->interpreter && (module == naming->interpreter ||
				       strstr(module->path, "/lib-dynload/") != NULL);
}

static enum hi_status open_named_module(struct frame_naming *naming, uint32_t index)
{
	enum hi_status status;

	naming->module = NULL;
	naming->is_interpreter = false;
	naming->dwarf = NULL;
	if (index == NO_MODULE)
		return HI_OK;
	naming->module = hi_modules_get(naming->modules, index);
	naming->is_interpreter = is_of_interpreter(naming, naming->module);
	naming->dwarf = hi_module_dwarf(naming->module, &naming->bias);
	status = hi_code_symbols_read(naming->module, &naming->sections, naming->err);
	if (status == HI_OK && naming->dwarf)
		status = hi_code_units_read(naming->dwarf, &naming->units, naming->err);
	return status;
}

/* The end of what belongs together, from `from` on. */
static uint32_t end_of_asked(const struct asked_frame *asked, uint32_t from, uint32_t n)
{
	uint32_t to = from + 1;

	while (to < n && asked[to].module == asked[from].module &&
	       asked[to].unit == asked[from].unit)
		to++;
	return to;
}

static enum hi_status name_module_frames(struct frame_naming *naming,
					 struct asked_frame *asked, uint32_t n)
{
	enum hi_status status = open_named_module(naming, asked->module);

	for (uint32_t i = 0; status == HI_OK && naming->dwarf && i < n; i++)
		asked[i].unit = hi_code_unit_at(naming->dwarf, &naming->units,
						asked[i].addr - naming->bias);
	sort_asked_frames(asked, n);
	for (uint32_t i = 0, to; status == HI_OK && i < n; i = to) {
		to = end_of_asked(asked, i, n);
		status = name_unit_frames(naming, &asked[i], to - i);
	}
	hi_code_ranges_free(&naming->units);
	hi_code_ranges_free(&naming->sections);
	return status;
}

static enum hi_status name_all_frames(struct frame_naming *naming, uint32_t n)
{
	enum hi_status status = HI_OK;

	find_asked_modules(naming, n);
	for (uint32_t i = 0, to; status == HI_OK && i < n; i = to) {
		to = end_of_asked(naming->asked, i, n);
		status = name_module_frames(naming, &naming->asked[i], to - i);
	}
	return status;
}

static enum hi_status give_python_row(struct frame_naming *naming, uint64_t frame,
				      struct hi_frames_builder *builder)
{
	struct hi_frame_row row;

	hi_python_codes_row(naming->codes, frame, &row);
	return hi_frames_builder_add(builder, &row, 1, naming->err);
}

static enum hi_status give_frame_rows(struct frame_naming *naming, uint32_t n,
				      struct hi_frames_builder *builder)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < n; i++)
		status = naming->codes && hi_python_is_frame(naming->addresses[i])
				 ? give_python_row(naming, naming->addresses[i], builder)
				 : hi_frames_builder_add(
					   builder,
					   &naming->rows.items[naming->spans[i].first],
					   naming->spans[i].n, naming->err);
	return status;
}

static void free_naming(struct frame_naming *naming)
{
	hi_vector_free(&naming->rows);
	hi_code_names_free(&naming->names);
}
HI_DEFINE_GUARD(struct frame_naming *, free_naming)

enum hi_status hi_frame_names_add(struct hi_modules *modules,
				  struct hi_python_codes *codes,
				  const uint64_t *addresses, uint32_t n,
				  struct hi_frames_builder *builder, struct hi_error *err)
{
	HI_GUARD(free) struct asked_frame *asked = hi_calloc(n, sizeof(*asked));
	HI_GUARD(free) struct frame_span *spans = hi_calloc(n, sizeof(*spans));
	struct frame_naming naming = {
		.modules = modules,
		.interpreter = hi_python_module(modules),
		.codes = codes,
		.addresses = addresses,
		.asked = asked,
		.spans = spans,
		.err = err,
	};
	HI_GUARD(free_naming) struct frame_naming *owned = &naming;
	enum hi_status status;

	if (!asked || !spans)
		return fail_naming(owned);
	hi_modules_lock(modules);
	status = name_all_frames(owned, n);
	hi_modules_unlock(modules);
	return status == HI_OK ? give_frame_rows(owned, n, builder) : status;
}
