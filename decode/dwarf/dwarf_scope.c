/* SPDX-License-Identifier: BSD-2-Clause */
/* What is around a DIE: namespaces, classes, functions. DWARF has no way up, so
 * the scopes of a unit are listed once, when a name in it is first asked for. */
#include "base/search.h"
#include "decode/dwarf/dwarf.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SCOPE_DEPTH_MAX = 256 };

uint64_t hi_dw_hash_name(uint64_t parent, const char *name, size_t n)
{
	const uint64_t k = 0x9e3779b97f4a7c15ull;
	uint64_t h = (parent ^ n) * k, word;

	for (; n >= 8; n -= 8, name += 8) {
		memcpy(&word, name, 8);
		h = (h ^ word) * k;
		h ^= h >> 29;
	}
	word = 0;
	memcpy(&word, name, n);
	h = (h ^ word) * k;
	h ^= h >> 32;
	return h | 1; /* never 0: that is the global scope */
}

static bool is_scope(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

/* Lists the scopes of the whole unit; what is broken ends the list. */
static void list_scopes(struct hi_dw_unit *unit)
{
	struct hi_dw_cursor cursor = hi_dw_unit_cursor(unit, unit->first_die);
	const uint8_t *base = cursor.at - unit->first_die;
	uint32_t open[SCOPE_DEPTH_MAX]; /* scope index + 1, or the parent's */
	unsigned depth = 0;

	while (cursor.at < cursor.end) {
		uint64_t offset = (uint64_t)(cursor.at - base);
		uint64_t code = hi_dw_uleb(&cursor);
		const struct hi_dw_abbrev *abbrev;
		uint32_t parent = depth ? open[depth - 1] : 0;

		if (code == 0) {
			if (depth == 0)
				break;
			depth--;
			/* The one that ends here, if this level opened one. */
			if (open[depth] && open[depth] != (depth ? open[depth - 1] : 0))
				unit->scopes.items[open[depth] - 1].end = offset;
			continue;
		}
		abbrev = hi_dw_abbrev_find(&unit->abbrevs, code);
		if (cursor.bad || !abbrev ||
		    !hi_dw_attrs_skip(unit, &unit->abbrevs, &cursor, abbrev))
			break;
		if (!abbrev->children)
			continue;
		if (depth == SCOPE_DEPTH_MAX)
			break;
		if (is_scope(abbrev->tag) &&
		    hi_vector_push(&unit->scopes,
				   ((struct hi_dw_scope){offset, unit->end, parent,
							 abbrev->tag})))
			parent = (uint32_t)unit->scopes.count;
		open[depth++] = parent;
	}
}

/* Index + 1 of the innermost scope around offset. */
static uint32_t scope_around(struct hi_dw_unit *unit, uint64_t offset)
{
	size_t low = 0, high;
	uint32_t scope;

	if (!unit->scoped) {
		unit->scoped = true;
		list_scopes(unit);
	}
	high = unit->scopes.count;
	low = hi_search_from(i, low, high, unit->scopes.items[i].offset < offset);
	scope = (uint32_t)low;
	while (scope && unit->scopes.items[scope - 1].end <= offset)
		scope = unit->scopes.items[scope - 1].parent;
	return scope;
}

struct name_part {
	const char *name;
	const char *suffix;
};

static struct name_part part_of(struct hi_dw_unit *unit, const struct hi_dw_scope *scope)
{
	struct hi_dw_die die;
	struct name_part part = {"?", ""};
	bool null;

	if (scope->tag == DW_TAG_subprogram)
		part.suffix = "()";
	if (!hi_dw_die_read_at(unit, &unit->abbrevs, scope->offset, &die, &null) || null)
		return part;
	(void)hi_dw_die_origin(&die);
	if (die.name)
		part.name = die.name;
	else if (scope->tag == DW_TAG_namespace)
		part.name = "(anonymous namespace)";
	else
		part.name = "(anonymous)";
	return part;
}

/* A scope's DIE may itself stand outside its namespace: methods defined out of
 * line, types defined behind their declaration. */
static bool outer_scope(struct hi_dw_unit **unit, uint32_t *scope)
{
	const struct hi_dw_scope *at = &(*unit)->scopes.items[*scope - 1];
	struct hi_dw_die die;
	bool null;

	if (at->tag == DW_TAG_namespace) {
		*scope = at->parent;
		return true;
	}
	if (!hi_dw_die_read_at(*unit, &(*unit)->abbrevs, at->offset, &die, &null))
		return false;
	if (!hi_dw_die_declared(&die)) {
		*scope = at->parent;
		return true;
	}
	*unit = die.unit;
	*scope = scope_around(die.unit, die.offset);
	return true;
}

size_t hi_dw_scope_name(struct hi_dw_unit *unit, uint64_t offset, bool with_functions,
			char *out, size_t out_size)
{
	struct name_part parts[32];
	unsigned n = 0;
	uint32_t scope;
	size_t used = 0;

	out[0] = '\0';
	if (!hi_dw_unit_prepare(unit, NULL))
		return 0;
	scope = scope_around(unit, offset);
	for (unsigned steps = 0; scope && n < 32 && steps < 64; steps++) {
		uint16_t tag = unit->scopes.items[scope - 1].tag;

		if (tag == DW_TAG_subprogram && !with_functions)
			break;
		parts[n++] = part_of(unit, &unit->scopes.items[scope - 1]);
		if (!outer_scope(&unit, &scope))
			break;
	}
	while (n-- > 0 && used + 3 < out_size) {
		int wrote = snprintf(out + used, out_size - used, "%s%s%s", parts[n].name,
				     parts[n].suffix, n ? "::" : "");

		if (wrote < 0 || (size_t)wrote >= out_size - used)
			return strlen(out);
		used += (size_t)wrote;
	}
	return used;
}
