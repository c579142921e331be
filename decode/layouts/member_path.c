/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/layouts/member_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { MAX_DEPTH = 32 };

static void put_text_out(struct hi_out *out, const char *text)
{
	size_t n = strnlen(text, out->size - out->length - 1);

	memcpy(out->text + out->length, text, n);
	out->length += n;
	out->text[out->length] = 0;
}

/* A million keys are put together from single strings: these need no printf. */
void hi_out_add(struct hi_out *out, const char *fmt, ...)
{
	bool is_string = strcmp(fmt, "%s") == 0;
	va_list ap;
	int n;

	if (out->size == 0 || out->length + 1 >= out->size)
		return;
	va_start(ap, fmt);
	if (is_string || !strchr(fmt, '%')) {
		put_text_out(out, is_string ? va_arg(ap, const char *) : fmt);
		va_end(ap);
		return;
	}
	n = vsnprintf(out->text + out->length, out->size - out->length, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	out->length += (size_t)n;
	if (out->length >= out->size)
		out->length = out->size - 1;
}

void hi_out_escaped(struct hi_out *out, const char *text)
{
	if (out->size == 0 || out->length + 1 >= out->size)
		return;
	out->length += hi_text_escape(out->text + out->length, out->size - out->length,
				      text, strlen(text));
}

static bool member_holds(const struct hi_type_source *types, const struct hi_member *m,
			 uint64_t offset)
{
	const struct hi_type *type = hi_type_source_get(types, m->type);
	bool flexible = type->kind == HI_KIND_ARRAY && type->size == 0;

	return !m->bit_size && offset >= m->offset &&
	       (flexible || offset - m->offset < type->size);
}

/* The kind of the value at offset, by the first member that contains it. */
static enum hi_type_kind first_kind(const struct hi_type_source *types, hi_type_id id,
				    uint64_t offset)
{
	const struct hi_type *type = hi_type_source_get(types, id);

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct hi_member *m = NULL;

		if (type->kind == HI_KIND_ARRAY) {
			type = hi_type_source_get(types, type->target);
			offset = type->size ? offset % type->size : 0;
			continue;
		}
		for (uint32_t i = 0; i < type->n_members && !m; i++)
			if (member_holds(types, &type->members[i], offset))
				m = &type->members[i];
		if (!m)
			return type->kind;
		offset -= m->offset;
		type = hi_type_source_get(types, m->type);
	}
	return HI_KIND_UNKNOWN;
}

const struct hi_member *hi_member_at(const struct hi_type_source *types,
				     const struct hi_type *type, uint64_t offset)
{
	const struct hi_member *first = NULL;

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_member *m = &type->members[i];

		if (!member_holds(types, m, offset))
			continue;
		if (!first)
			first = m;
		if (first_kind(types, m->type, offset - m->offset) == HI_KIND_POINTER)
			return m;
	}
	return first;
}

hi_type_id hi_path_to(const struct hi_type_source *types, hi_type_id id, uint64_t offset,
		      struct hi_out *out)
{
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct hi_type *type = hi_type_source_get(types, id);
		const struct hi_member *m;

		if (type->kind == HI_KIND_ARRAY) {
			uint64_t size = hi_type_source_get(types, type->target)->size;

			if (!size)
				return id;
			hi_out_add(out, "[%llu]", (unsigned long long)(offset / size));
			offset %= size;
			id = type->target;
			continue;
		}
		m = hi_member_at(types, type, offset);
		if (!m)
			break;
		if (m->name && *m->name && !m->is_base) {
			hi_out_add(out, ".");
			hi_out_escaped(out, m->name);
		}
		offset -= m->offset;
		id = m->type;
	}
	if (offset)
		hi_out_add(out, " +0x%llx", (unsigned long long)offset);
	return id;
}
