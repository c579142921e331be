/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of enumerations in the names of templates: symbols have "(ns::Lock)2", as GCC's
 * debug information does; clang's has "ns::atomic", or "ns::Lock::atomic" of a scoped
 * enumeration.
 */
#include "decode/types/types_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	ENUMERATORS_MAX = 1 << 12,
	ENUMERATORS_SEARCHED = 256,
	NAME_MAX_BYTES = 1024,
	TYPEDEFS_MAX = 16
};

struct writer {
	struct hi_types *types;
	struct hi_module *module;
	bool scoped;
	char *out;
	size_t used, size;
	bool ok;
};

static void append_name_text(struct writer *w, const char *text, size_t n)
{
	if (n >= w->size - w->used) {
		w->ok = false;
		return;
	}
	memcpy(w->out + w->used, text, n);
	w->used += n;
	w->out[w->used] = '\0';
}

/* The DIE of an enumeration of this name. */
static bool find_enumeration(struct writer *w, const char *name, struct hi_dw_die *ret)
{
	struct hi_type_module *item = hi_types_indexed(w->types, w->module);
	const struct hi_index_type *found;
	size_t n = 0;

	if (!item)
		return false;
	found = hi_type_index_find(&item->index, hi_type_hash_qualified(name), &n);
	for (size_t i = 0; i < n; i++)
		if ((found[i].size_kind & 15) == HI_INDEX_ENUM)
			return hi_dw_die_read(hi_types_ref(item, found[i].die), ret);
	return false;
}

/* Points into the debug information; NULL: none has this value. */
static const char *find_enumerator(const struct hi_dw_die *die, int64_t value,
				   unsigned most)
{
	struct hi_dw_die child;
	uint64_t at = die->next;

	for (unsigned i = 0; i < most && hi_dw_child_next(die, &at, &child); i++)
		if (child.tag == DW_TAG_enumerator && child.const_value &&
		    child.value == value)
			return child.name;
	return NULL;
}

/* "(ns::Lock)2" at p: writes the enumerator instead; bytes that it took, 0: none. */
static size_t rewrite_enumerator(struct writer *w, const char *p)
{
	char name[NAME_MAX_BYTES], *end;
	size_t length = strcspn(p + 1, "()<>, ");
	const char *digits = p + length + 2, *scope = NULL, *found;
	struct hi_dw_die die;
	int64_t value;

	if (p[0] != '(' || p[1 + length] != ')' || length == 0 || length >= sizeof(name))
		return 0;
	value = strtoll(digits, &end, 10);
	if (end == digits)
		return 0;
	memcpy(name, p + 1, length);
	name[length] = '\0';
	if (!find_enumeration(w, name, &die) ||
	    !(found = find_enumerator(&die, value, ENUMERATORS_MAX)))
		return 0;
	for (const char *s = name; (s = strstr(s, "::")); s += 2)
		scope = s;
	append_name_text(w, name,
			 w->scoped ? length
			 : scope   ? (size_t)(scope - name)
				   : 0);
	if (w->scoped || scope)
		append_name_text(w, "::", 2);
	append_name_text(w, found, strlen(found));
	return (size_t)(end - p);
}

bool hi_types_write_enumerators(struct hi_types *types, struct hi_module *module,
				const char *name, bool scoped, char *out, size_t size)
{
	struct writer w = {types, module, scoped, out, 0, size, size > 0};
	bool changed = false;

	while (*name && w.ok) {
		size_t n = rewrite_enumerator(&w, name);

		if (n == 0)
			append_name_text(&w, name, 1);
		changed |= n != 0;
		name += n ? n : 1;
	}
	return w.ok && changed;
}

static bool read_enumeration(struct hi_types *types, hi_type_id id, struct hi_dw_die *die)
{
	const struct hi_type_slot *slot = hi_slot_at(types, hi_type_get(types, id)->id);

	if (!slot || !slot->die.file || !hi_dw_die_read(slot->die, die))
		return false;
	for (unsigned i = 0; i < TYPEDEFS_MAX && die->tag == DW_TAG_typedef; i++) {
		struct hi_dw_ref to = die->type;

		if (!to.file || !hi_dw_die_read(to, die))
			return false;
	}
	return die->tag == DW_TAG_enumeration_type;
}

size_t hi_type_enumerators(struct hi_types *types, hi_type_id id,
			   struct hi_enumerator *ret, size_t max)
{
	struct hi_dw_die die, child;
	size_t n = 0;
	uint64_t at;

	if (!read_enumeration(types, id, &die))
		return 0;
	at = die.next;
	for (unsigned i = 0;
	     i < ENUMERATORS_MAX && n < max && hi_dw_child_next(&die, &at, &child); i++)
		if (child.tag == DW_TAG_enumerator && child.const_value && child.name)
			ret[n++] = (struct hi_enumerator){child.name, child.value};
	return n;
}

bool hi_type_enumerator_of(struct hi_types *types, hi_type_id id, int64_t value,
			   const char **scope_ret, const char **name_ret)
{
	struct hi_dw_die die;

	*scope_ret = "";
	*name_ret = NULL;
	hi_types_lock(types);
	if (read_enumeration(types, id, &die)) {
		*scope_ret = die.enum_class && die.name ? die.name : "";
		*name_ret = find_enumerator(&die, value, ENUMERATORS_SEARCHED);
	}
	hi_types_unlock(types);
	return *name_ret;
}
