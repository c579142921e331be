/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of elements as text: strings, numbers, enumerators, small records of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "decode/describe/member_display.h"

enum {
	MAX_SHOWN = 32, /* characters */
	MAX_BYTES = MAX_SHOWN * 4 + 4,
	MAX_MEMBERS = 4,
	MAX_NESTED = 4,
};
#define MAX_LENGTH (UINT64_C(1) << 40) /* a longer string is damage */

bool hi_shown_read(const struct hi_typing *typing, uint64_t addr, void *buf,
		   uint64_t size)
{
	struct hi_error quiet;

	/* Literals lie in files that the image does not hold. */
	if (typing->modules)
		return hi_modules_read(typing->modules, addr, buf, size, &quiet) == HI_OK;
	return hi_memory_read(typing->image->memory, addr, buf, size, NULL) == HI_OK;
}

static bool read_for_code(void *arg, uint64_t addr, void *buf, size_t size)
{
	return hi_shown_read(arg, addr, buf, size);
}

/* ---- strings ---- */

/* The bytes of the first `most` characters; *cut_ret: there are more. */
static size_t measure_characters(const char *text, size_t n, size_t most, bool *cut_ret)
{
	size_t i = 0;

	for (size_t count = 0; i < n; i++)
		if ((text[i] & 0xc0) != 0x80 && count++ == most)
			break;
	/* Bytes that are no UTF-8 count too. */
	if (i > most * 4)
		i = most * 4;
	*cut_ret = i < n;
	return i;
}

static void put_key_text(struct hi_out *out, const char *text, size_t n, bool more)
{
	char escaped[MAX_BYTES * 4 + 8];
	bool cut;

	n = measure_characters(text, n, MAX_SHOWN, &cut);
	hi_text_escape(escaped, sizeof(escaped), text, n);
	hi_out_add(out, "\"");
	for (const char *at = escaped; *at; at++)
		hi_out_add(out, *at == '"' ? "\\%c" : "%c", *at);
	hi_out_add(out, "%s\"", cut || more ? "…" : "");
}

/* UTF-16 to UTF-8. Returns the bytes. */
static size_t narrow_text(const uint16_t *wide, size_t n, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < n && used + 4 < MAX_BYTES; i++) {
		uint32_t c = wide[i];

		if (c >> 10 == 0xd800 >> 10 && i + 1 < n &&
		    wide[i + 1] >> 10 == 0xdc00 >> 10)
			c = 0x10000 + ((c & 0x3ff) << 10 | (wide[++i] & 0x3ff));
		if (c < 0x80) {
			out[used++] = (char)c;
		} else if (c < 0x800) {
			out[used++] = (char)(0xc0 | c >> 6);
			out[used++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			out[used++] = (char)(0xe0 | c >> 12);
			out[used++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[used++] = (char)(0x80 | (c & 0x3f));
		} else {
			out[used++] = (char)(0xf0 | c >> 18);
			out[used++] = (char)(0x80 | (c >> 12 & 0x3f));
			out[used++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[used++] = (char)(0x80 | (c & 0x3f));
		}
	}
	return used;
}

/* False: its bytes are not there, or its length cannot be true. */
static bool put_string(struct hi_typing *typing, const struct hi_shown *shown,
		       uint64_t addr, struct hi_out *out)
{
	struct hi_code_input in = {.arg = typing, .read = read_for_code, .self = addr};
	uint64_t text, length, shown_length;
	uint16_t wide[MAX_SHOWN + 2];
	char bytes[MAX_BYTES];

	if (!hi_code_run(shown->text, &in, &text) ||
	    !hi_code_run(shown->length, &in, &length) || length > MAX_LENGTH)
		return false;
	shown_length = length;
	if (shown->char_size == 2) {
		if (shown_length > MAX_SHOWN + 1)
			shown_length = MAX_SHOWN + 1;
		if (!hi_shown_read(typing, text, wide, shown_length * 2))
			return false;
		put_key_text(out, bytes, narrow_text(wide, shown_length, bytes), false);
		return true;
	}
	if (shown_length > sizeof(bytes))
		shown_length = sizeof(bytes);
	if (!hi_shown_read(typing, text, bytes, shown_length))
		return false;
	put_key_text(out, bytes, shown_length, shown_length < length);
	return true;
}

/* Up to NUL; a string may end right before memory that is not there. */
static bool put_c_string(struct hi_typing *typing, uint64_t text, struct hi_out *out)
{
	char bytes[MAX_BYTES];
	size_t n = 0;

	while (n < sizeof(bytes) && hi_shown_read(typing, text + n, &bytes[n], 1) &&
	       bytes[n])
		n++;
	if (n == 0 && !hi_shown_read(typing, text, bytes, 1))
		return false;
	put_key_text(out, bytes, n, n == sizeof(bytes));
	return true;
}

/* ---- numbers ---- */

/* False: the value has no name. */
static bool put_enumerator(struct hi_typing *typing, const struct hi_type *type,
			   int64_t value, struct hi_out *out)
{
	const struct hi_typing_source *source = &typing->source;
	const char *scope, *name;

	if (!source->enumerator ||
	    !source->enumerator(source->types.arg, type->id, value, &scope, &name))
		return false;
	hi_out_escaped(out, scope);
	hi_out_add(out, "%s", *scope ? "::" : "");
	hi_out_escaped(out, name);
	return true;
}

static bool put_integer(struct hi_typing *typing, const struct hi_type *type,
			uint64_t value, struct hi_out *out)
{
	unsigned shift = type->size ? 64 - 8 * (unsigned)type->size : 0;
	int64_t with_sign = (int64_t)(value << shift) >> shift;

	if (type->kind == HI_KIND_CHAR && type->size == 1 && value > ' ' && value < 127) {
		hi_out_add(out, "'%c'", (int)value);
		return true;
	}
	if (strcmp(type->name, "bool") == 0)
		hi_out_add(out, value ? "true" : "false");
	else if (put_enumerator(typing, type,
				type->is_signed ? with_sign : (int64_t)value, out))
		return true;
	else if (type->is_signed)
		hi_out_add(out, "%" PRId64, with_sign);
	else
		hi_out_add(out, "%" PRIu64, value);
	return true;
}

static bool put_pointer(struct hi_typing *typing, const struct hi_type *type,
			uint64_t word, struct hi_out *out)
{
	const struct hi_type *to =
		hi_type_source_get(&typing->source.types, type->target);

	if (to->kind == HI_KIND_CHAR && to->size == 1 && word)
		return put_c_string(typing, word, out);
	hi_out_add(out, "0x%" PRIx64, word);
	return true;
}

static bool put_float(uint64_t size, uint64_t word, struct hi_out *out)
{
	double value;
	float narrow;

	if (size == 4) {
		memcpy(&narrow, &word, 4);
		value = (double)narrow;
	} else {
		memcpy(&value, &word, 8);
	}
	hi_out_add(out, "%.9g", value);
	return true;
}

static bool put_scalar(struct hi_typing *typing, const struct hi_type *type,
		       uint64_t addr, struct hi_out *out)
{
	uint64_t word = 0;

	if (!type->size || type->size > 8 ||
	    !hi_shown_read(typing, addr, &word, type->size))
		return false;
	switch (type->kind) {
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
		return put_integer(typing, type, word, out);
	case HI_KIND_POINTER:
		return put_pointer(typing, type, word, out);
	case HI_KIND_ADDRESS:
		hi_out_add(out, "0x%" PRIx64, word);
		return true;
	case HI_KIND_FLOAT:
		return put_float(type->size, word, out);
	default:
		return false;
	}
}

/* ---- any key ---- */

static const struct hi_shown *text_of_key(const struct hi_typing *typing, hi_type_id type)
{
	const struct hi_rule_source *rules = &typing->source.types.rules;
	const struct hi_shown *shown =
		rules->shown ? rules->shown(rules->arg, type) : NULL;

	return shown && shown->text ? shown : NULL;
}

/* The base of std::pair, for instance. */
static bool is_empty_member(const struct hi_typing *typing, const struct hi_member *m)
{
	const struct hi_type *type = hi_type_source_get(&typing->source.types, m->type);

	return type->kind == HI_KIND_STRUCT && !type->n_members;
}

/* "{3, -4}". False: it has too many members, or one that is a record itself. */
static bool put_key_record(struct hi_typing *typing, const struct hi_type *type,
			   uint64_t addr, struct hi_out *out)
{
	unsigned n = 0;
	bool ok = true;

	hi_out_add(out, "{");
	for (uint32_t i = 0; i < type->n_members && ok; i++) {
		const struct hi_member *m = &type->members[i];
		const struct hi_type *of =
			hi_type_source_get(&typing->source.types, m->type);
		const struct hi_shown *shown = text_of_key(typing, of->id);

		if (is_empty_member(typing, m))
			continue;
		hi_out_add(out, "%s", n ? ", " : "");
		ok = n++ < MAX_MEMBERS && !m->bit_size &&
		     (shown ? put_string(typing, shown, addr + m->offset, out)
			    : put_scalar(typing, of, addr + m->offset, out));
	}
	hi_out_add(out, "}");
	return ok && n;
}

/* A record with one member is that member. False: it is not known what to write. */
static bool put_key(struct hi_typing *typing, hi_type_id id, uint64_t addr,
		    struct hi_out *out)
{
	const struct hi_type *type = hi_type_source_get(&typing->source.types, id);
	const struct hi_shown *shown = text_of_key(typing, type->id);

	for (int i = 0; !shown && i < MAX_NESTED && type->kind == HI_KIND_STRUCT &&
			type->n_members == 1;
	     i++) {
		addr += type->members[0].offset;
		type = hi_type_source_get(&typing->source.types, type->members[0].type);
		shown = text_of_key(typing, type->id);
	}
	if (shown)
		return put_string(typing, shown, addr, out);
	if (type->kind != HI_KIND_STRUCT)
		return put_scalar(typing, type, addr, out);
	return put_key_record(typing, type, addr, out);
}

static bool is_text_key(const struct hi_typing *typing, hi_type_id id)
{
	const struct hi_type *type = hi_type_source_get(&typing->source.types, id);

	return text_of_key(typing, type->id) ||
	       (type->kind == HI_KIND_POINTER &&
		hi_type_source_get(&typing->source.types, type->target)->kind ==
			HI_KIND_CHAR);
}

/* The address of an element of a set says nothing. */
static bool says_nothing(const struct hi_typing *typing,
			 const struct hi_shown_element *element)
{
	const struct hi_type *type;

	if (!element->key)
		return true;
	type = hi_type_source_get(&typing->source.types, element->key);
	return element->of_set && type->kind == HI_KIND_POINTER &&
	       !is_text_key(typing, type->id);
}

static void put_element(struct hi_typing *typing, const struct hi_shown_element *element,
			uint64_t record, struct hi_out *out)
{
	char text[MAX_BYTES * 4] = "";
	struct hi_out key = {.text = text, .size = sizeof(text)};

	if (says_nothing(typing, element)) {
		hi_out_add(out, "[*]");
		return;
	}
	if (typing->redact)
		hi_out_add(&key, is_text_key(typing, element->key) ? "\"…\"" : "…");
	else if (!put_key(typing, element->key, record + element->key_at, &key))
		snprintf(text, sizeof(text), "?");
	hi_out_add(out, element->of_set ? "{" : "[");
	hi_out_add(out, "%s", text);
	hi_out_add(out, element->of_set ? "}" : "]");
}

const char *hi_shown_key_brackets(const struct hi_typing *typing,
				  const struct hi_shown_element *element)
{
	return element->of_set && !says_nothing(typing, element) ? "{}" : "[]";
}

bool hi_shown_text_put(struct hi_typing *typing, hi_type_id type, uint64_t address,
		       struct hi_out *out)
{
	const struct hi_shown *shown = text_of_key(typing, type);

	if (!shown)
		return false;
	if (!typing->redact)
		return put_string(typing, shown, address, out);
	hi_out_add(out, "\"…\"");
	return true;
}

void hi_shown_key_put(struct hi_typing *typing, const struct hi_shown_element *element,
		      uint64_t record, const char *text, struct hi_out *out)
{
	const char *mark = element->used ? strchr(text, HI_SHOWN_MARK) : NULL;

	if (!mark) {
		hi_out_add(out, "%s", text);
		return;
	}
	if (mark > text)
		hi_out_add(out, "%.*s", (int)(mark - text), text);
	put_element(typing, element, record, out);
	hi_out_add(out, "%s", mark + 1);
}
