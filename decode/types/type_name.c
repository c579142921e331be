/* SPDX-License-Identifier: BSD-2-Clause */
/* Readable names of types, by following DW_AT_type without loading anything; and
 * from a name back to the DIE that defines it. */
#include "decode/types/types_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { CHAIN_MAX = 64, DIMS_MAX = 16, DECLARATOR_MAX = 512 };

static bool is_c_unit(const struct hi_dw_unit *unit)
{
	switch (unit->language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* C17 */
	case 0x3e: /* C23 */
	case DW_LANG_ObjC:
		return true;
	default:
		return false;
	}
}

const char *hi_type_keyword(const struct hi_dw_die *die)
{
	if (!is_c_unit(die->unit))
		return "";
	switch (die->tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

bool hi_type_is_named(const struct hi_dw_die *die)
{
	return die->name || die->specification.file;
}

void hi_type_record_name(const struct hi_dw_die *die, char *out, size_t out_size)
{
	struct hi_dw_die declared = *die;
	size_t n = 0;

	out[0] = '\0';
	hi_dw_die_declared(&declared);
	if (!declared.name)
		return;
	if (!is_c_unit(declared.unit)) {
		n = hi_dw_scope_name(declared.unit, declared.offset, false, out,
				     out_size);
		if (n > 0 && n + 3 < out_size) {
			memcpy(out + n, "::", 3);
			n += 2;
		}
	}
	if (n < out_size)
		snprintf(out + n, out_size - n, "%s", declared.name);
}

/* ---- declarators ---- */

struct declarator {
	char text[DECLARATOR_MAX]; /* what stands behind the base name: "*[4]" */
};

static void prepend_declarator(struct declarator *d, const char *text)
{
	char old[DECLARATOR_MAX];

	memcpy(old, d->text, sizeof(old));
	snprintf(d->text, sizeof(d->text), "%s%.*s", text, DECLARATOR_MAX - 8, old);
}

static void append_dims(struct declarator *d, const char *dims)
{
	size_t n;

	if (d->text[0] == '*' || d->text[0] == '&') {
		prepend_declarator(d, "(");
		n = strlen(d->text);
		snprintf(d->text + n, sizeof(d->text) - n, ")");
	}
	n = strlen(d->text);
	snprintf(d->text + n, sizeof(d->text) - n, "%s", dims);
}

uint64_t hi_dw_subrange_count(const struct hi_dw_die *die, bool *open_ret)
{
	uint64_t count = 0;

	*open_ret = false;
	if (die->has_count)
		count = die->count;
	else if (die->has_upper_bound)
		count = (uint64_t)die->upper_bound - (uint64_t)die->lower_bound + 1;
	*open_ret = count == 0;
	return count;
}

static void array_dims(const struct hi_dw_die *array, char *out, size_t out_size)
{
	struct hi_dw_die child;
	uint64_t at = array->next;
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < DIMS_MAX && hi_dw_child_next(array, &at, &child);) {
		uint64_t count;
		bool open;

		if (child.tag != DW_TAG_subrange_type &&
		    child.tag != DW_TAG_enumeration_type)
			continue;
		i++;
		count = hi_dw_subrange_count(&child, &open);
		if (n < out_size)
			n += (size_t)snprintf(out + n, out_size - n,
					      open ? "[]" : "[%llu]",
					      (unsigned long long)count);
	}
	if (n == 0)
		snprintf(out, out_size, "[]");
}

/* Name of a type that is no modifier of another one. */
static void write_base_name(const struct hi_dw_die *die, const char *alias, bool bare,
			    char *out, size_t out_size)
{
	char name[HI_DW_NAME_MAX];
	const char *keyword = bare ? "" : hi_type_keyword(die);

	switch (die->tag) {
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram:
		snprintf(out, out_size, "function");
		return;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		if (!hi_type_is_named(die)) {
			snprintf(out, out_size, "%s%s",
				 alias[0]			       ? ""
				 : die->tag == DW_TAG_union_type       ? "union "
				 : die->tag == DW_TAG_enumeration_type ? "enum "
								       : "struct ",
				 alias[0] ? alias : "{...}");
			return;
		}
		hi_type_record_name(die, name, sizeof(name));
		snprintf(out, out_size, "%s%s", keyword, name);
		return;
	default:
		snprintf(out, out_size, "%s", die->name ? die->name : "?");
		return;
	}
}

void hi_type_name_of(struct hi_types *types, struct hi_dw_ref ref, bool bare, char *out,
		     size_t out_size)
{
	struct declarator d = {};
	char alias[256] = "", base[HI_DW_NAME_MAX], dims[128];

	snprintf(base, sizeof(base), "void");
	for (unsigned i = 0; i < CHAIN_MAX && ref.file; i++) {
		struct hi_dw_die die;

		if (!hi_dw_die_read(ref, &die)) {
			snprintf(base, sizeof(base), "?");
			break;
		}
		switch (die.tag) {
		case DW_TAG_pointer_type:
			prepend_declarator(&d, "*");
			break;
		case DW_TAG_reference_type:
			prepend_declarator(&d, "&");
			break;
		case DW_TAG_rvalue_reference_type:
			prepend_declarator(&d, "&&");
			break;
		case DW_TAG_array_type:
			array_dims(&die, dims, sizeof(dims));
			append_dims(&d, dims);
			break;
		case DW_TAG_typedef:
			if (hi_type_is_kept(types, &die)) {
				hi_type_record_name(&die, base, sizeof(base));
				ref.file = NULL;
				continue;
			}
			snprintf(alias, sizeof(alias), "%s", die.name ? die.name : "");
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
		case DW_TAG_packed_type:
		case DW_TAG_shared_type:
			break;
		default:
			write_base_name(&die, alias, bare, base, sizeof(base));
			ref.file = NULL;
			continue;
		}
		if (die.tag != DW_TAG_typedef && die.tag != DW_TAG_const_type &&
		    die.tag != DW_TAG_volatile_type)
			alias[0] = '\0';
		ref = die.type;
	}
	snprintf(out, out_size, "%s%s%s", base, d.text[0] ? " " : "", d.text);
}

/* ---- from names to definitions ---- */

static bool is_identifier_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c < 0;
}

/*
 * Compilers differ in the spaces of template arguments ("> >", "Foo*"): only one
 * between two words counts.
 */
uint64_t hi_type_hash_part(uint64_t parent, const char *name, size_t n)
{
	char text[256], last = 0;
	size_t used = 0, i;

	if (!memchr(name, '<', n))
		return hi_dw_hash_name(parent, name, n);
	for (i = 0; i < n; i++) {
		bool space = false;

		for (; i < n && name[i] == ' '; i++)
			space = true;
		if (i == n)
			break;
		if (used + 2 > sizeof(text)) {
			parent = hi_dw_hash_name(parent, text, used);
			used = 0;
		}
		if (space && is_identifier_char(last) && is_identifier_char(name[i]))
			text[used++] = ' ';
		text[used++] = last = name[i];
	}
	return hi_dw_hash_name(parent, text, used);
}

uint64_t hi_type_hash_qualified(const char *name)
{
	const char *start = hi_type_bare(name), *p;
	uint64_t hash = 0;
	int depth = 0;

	/* "::" outside brackets divides scopes. */
	for (p = start; *p; p++) {
		if (p[0] == '-' && p[1] == '>')
			p++; /* "fn() -> T" */
		else if (*p == '<' || *p == '(' || *p == '{' || *p == '[')
			depth++;
		else if ((*p == '>' || *p == ')' || *p == '}' || *p == ']') && depth > 0)
			depth--;
		else if (depth == 0 && p[0] == ':' && p[1] == ':') {
			if (p > start)
				hash = hi_type_hash_part(hash, start,
							 (size_t)(p - start));
			start = p + 2;
			p++;
		}
	}
	return hi_type_hash_part(hash, start, (size_t)(p - start));
}

static enum hi_index_kind index_kind(uint16_t tag)
{
	return tag == DW_TAG_union_type		? HI_INDEX_UNION
	       : tag == DW_TAG_enumeration_type ? HI_INDEX_ENUM
						: HI_INDEX_RECORD;
}

static struct hi_dw_ref definition_in(struct hi_types *types, uint32_t module,
				      uint16_t tag, uint64_t hash)
{
	struct hi_type_module *item =
		hi_types_indexed(types, types->items[module].module);
	const struct hi_index_type *found, *best = NULL;
	size_t n = 0;

	if (!item)
		return (struct hi_dw_ref){};
	found = hi_type_index_find(&item->index, hash, &n);
	/* Several layouts of one name: the first in the file. */
	for (size_t i = 0; i < n; i++)
		if ((found[i].size_kind & 15) == index_kind(tag) &&
		    (!best || found[i].die < best->die))
			best = &found[i];
	return best ? hi_types_ref(item, best->die) : (struct hi_dw_ref){};
}

struct hi_dw_ref hi_types_definition(struct hi_types *types, uint32_t module,
				     uint16_t tag, const char *name, bool only_here,
				     uint32_t *module_ret)
{
	uint64_t hash = hi_type_hash_qualified(name);
	struct hi_dw_ref ref = definition_in(types, module, tag, hash);

	*module_ret = module;
	for (uint32_t i = 0; !ref.file && !only_here && i < types->n_items; i++) {
		if (i == module)
			continue;
		ref = definition_in(types, i, tag, hash);
		*module_ret = i;
	}
	return ref;
}
