/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of the target as text: names of attributes, keys, labels of edges. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decode/runtimes/cpython.h"

enum {
	MAX_CHARS = 200,
	KEY_CHARS = 40, /* of a key; more is cut */
	STATE_KIND_SHIFT = 2,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
	INT_DIGITS = 24, /* PyLongObject.ob_digit, 30 bits each */
	DIGIT_BITS = 30,
	FLOAT_VALUE = 16,     /* PyFloatObject.ob_fval */
	BYTES_DATA = 32,      /* PyBytesObject.ob_sval */
	MOST_ITEMS = 4,	      /* of a tuple */
	MOST_ATTRIBUTES = 32, /* of an object that may be a member of an enum */
};

size_t hi_py_put_utf8(char *out, uint32_t ch)
{
	if (ch < 0x80) {
		out[0] = (char)ch;
		return 1;
	}
	if (ch < 0x800) {
		out[0] = (char)(0xc0 | ch >> 6);
		out[1] = (char)(0x80 | (ch & 0x3f));
		return 2;
	}
	if (ch < 0x10000) {
		out[0] = (char)(0xe0 | ch >> 12);
		out[1] = (char)(0x80 | (ch >> 6 & 0x3f));
		out[2] = (char)(0x80 | (ch & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (ch >> 18 & 7));
	out[1] = (char)(0x80 | (ch >> 12 & 0x3f));
	out[2] = (char)(0x80 | (ch >> 6 & 0x3f));
	out[3] = (char)(0x80 | (ch & 0x3f));
	return 4;
}

/* At most max characters as UTF-8; bytes, or -1. *cut_ret: there are more. */
static int read_str(struct hi_runtime_cursor *c, uint64_t addr, size_t max, char *out,
		    bool *cut_ret)
{
	const struct hi_py_layout *l = c->py->layout;
	struct hi_py_object o;
	uint8_t raw[MAX_CHARS * 4];
	uint64_t length, data;
	uint32_t state, kind;
	size_t n = 0;

	if (!addr || !hi_py_object_at(c, addr, &o) || o.type->family != HI_PY_STR)
		return -1;
	length = hi_py_word(&c->reader, addr + l->str_length);
	state = hi_py_u32(&c->reader, addr + l->str_state);
	kind = state >> STATE_KIND_SHIFT & 7;
	if (!(state & STATE_COMPACT))
		data = hi_py_word(&c->reader, addr + l->str_any);
	else
		data = addr +
		       (state & STATE_ASCII ? l->str_ascii_data : l->str_compact_data);
	*cut_ret = length > max;
	length = length < max ? length : max;
	if ((kind != 1 && kind != 2 && kind != 4) || length > MAX_CHARS ||
	    !hi_py_read(&c->reader, data, raw, (size_t)length * kind))
		return -1;
	for (uint64_t i = 0; i < length; i++) {
		uint32_t ch = 0;

		memcpy(&ch, raw + i * kind, kind);
		n += hi_py_put_utf8(out + n, ch);
	}
	return (int)n;
}

bool hi_py_str(struct hi_runtime_cursor *c, uint64_t addr, char *out, size_t out_size)
{
	char text[MAX_CHARS * 4];
	size_t max = out_size < MAX_CHARS ? out_size : MAX_CHARS;
	bool cut;
	int n = read_str(c, addr, max, text, &cut);

	if (n < 0)
		return false;
	hi_text_escape(out, out_size, text, (size_t)n);
	return true;
}

bool hi_py_int(struct hi_runtime_cursor *c, const struct hi_py_object *o, int64_t *ret)
{
	uint64_t n = o->size < 0 ? 0 - (uint64_t)o->size : (uint64_t)o->size;
	int64_t value = 0;

	if (o->type->family != HI_PY_INT || n > 2)
		return false;
	for (uint64_t i = n; i-- > 0;)
		value = value << DIGIT_BITS |
			hi_py_u32(&c->reader, o->addr + INT_DIGITS + i * 4);
	*ret = o->size < 0 ? -value : value;
	return true;
}

static void repr_int(struct hi_runtime_cursor *c, const struct hi_py_object *o, char *out,
		     size_t out_size)
{
	int64_t value;

	if (hi_py_int(c, o, &value))
		snprintf(out, out_size, "%" PRId64, value);
	else
		snprintf(out, out_size, "<int>");
}

/* ---- values of other types ---- */

static void repr_float(struct hi_runtime_cursor *c, const struct hi_py_object *o,
		       char *out, size_t out_size)
{
	double value = 0;

	hi_py_read(&c->reader, o->addr + FLOAT_VALUE, &value, sizeof(value));
	snprintf(out, out_size, "%.12g", value);
	if (strtod(out, NULL) != value)
		snprintf(out, out_size, "%.17g", value);
}

static void repr_bytes(struct hi_runtime_cursor *c, const struct hi_py_object *o,
		       char *out, size_t out_size)
{
	char raw[KEY_CHARS], text[KEY_CHARS * 4 + 8];
	uint64_t n = o->size > 0 ? (uint64_t)o->size : 0;
	size_t shown = n < KEY_CHARS ? (size_t)n : KEY_CHARS;

	if (!hi_py_read(&c->reader, o->addr + BYTES_DATA, raw, shown))
		shown = 0;
	hi_text_escape(text, sizeof(text), raw, shown);
	snprintf(out, out_size, "b\"%s%s\"", text, shown < n ? "…" : "");
}

struct enum_search {
	struct hi_runtime_cursor *c;
	unsigned seen;
	uint64_t dict, name; /* 0: not found so far */
	bool has_value;
};

static bool look_at_attribute(struct enum_search *s, uint64_t name, uint64_t to)
{
	char text[16];

	if (hi_py_str(s->c, name, text, sizeof(text))) {
		s->name = strcmp(text, "_name_") == 0 ? to : s->name;
		s->has_value |= strcmp(text, "_value_") == 0;
	}
	return s->seen++ < MOST_ATTRIBUTES && !(s->name && s->has_value);
}

/* hi_py_item_fn */
static bool look_at_dict_item(void *arg, uint64_t key, uint64_t value)
{
	return look_at_attribute(arg, key, value);
}

/* hi_runtime_edge_fn */
static bool look_at_member_edge(void *arg, const struct hi_runtime_edge *edge)
{
	struct enum_search *s = arg;

	if (edge->label == HI_LABEL_ATTRIBUTE)
		return look_at_attribute(s, edge->value, edge->to);
	if (edge->label == HI_LABEL_FIELD && strcmp(edge->name, "__dict__") == 0)
		s->dict = edge->to;
	return s->seen++ < MOST_ATTRIBUTES;
}

/* "Color.RED". False: it is no member of an enum.Enum. */
static bool repr_enum(struct hi_runtime_cursor *c, const struct hi_py_object *o,
		      const char *type, char *out, size_t out_size)
{
	struct enum_search s = {.c = c};
	struct hi_py_visit v = {.c = c, .fn = look_at_member_edge, .arg = &s};
	const char *dot = strrchr(type, '.');
	char name[KEY_CHARS * 4], klass[KEY_CHARS * 4];

	if (o->type->exact)
		return false;
	hi_py_visit(&v, o);
	if (s.dict && !s.name)
		hi_py_dict_items(c, s.dict, MOST_ATTRIBUTES, look_at_dict_item, &s);
	if (!s.name || !s.has_value || !hi_py_str(c, s.name, name, KEY_CHARS))
		return false;
	type = dot ? dot + 1 : type;
	hi_text_escape(klass, sizeof(klass), type, strlen(type));
	snprintf(out, out_size, "%s.%s", klass, name);
	return true;
}

/* A value that is in no container; of other objects the type: "<app.Session>". */
static void repr_scalar(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			char *out, size_t out_size)
{
	char raw[MAX_CHARS * 4], text[KEY_CHARS * 4 + 8];
	const char *type = c->py->types.items[o->type->type].name;
	bool cut;
	int n;

	if (repr_enum(c, o, type, out, out_size))
		return;
	if (o->type->family == HI_PY_INT && strcmp(type, "bool") == 0) {
		snprintf(out, out_size, "%s", o->size ? "True" : "False");
		return;
	}
	if (o->type->family == HI_PY_INT) {
		repr_int(c, o, out, out_size);
		return;
	}
	n = read_str(c, o->addr, KEY_CHARS, raw, &cut);
	if (n >= 0) {
		hi_text_escape(text, sizeof(text), raw, (size_t)n);
		snprintf(out, out_size, "\"%s%s\"", text, cut ? "…" : "");
		return;
	}
	if (strcmp(type, "NoneType") == 0)
		snprintf(out, out_size, "None");
	else if (o->type->exact && strcmp(type, "float") == 0)
		repr_float(c, o, out, out_size);
	else if (o->type->exact && o->type->family == HI_PY_BYTES)
		repr_bytes(c, o, out, out_size);
	else {
		hi_text_escape(text, sizeof(text), type, strlen(type));
		snprintf(out, out_size, "<%s>", text);
	}
}

static void repr_at(struct hi_runtime_cursor *c, uint64_t addr, char *out,
		    size_t out_size)
{
	struct hi_py_object o;

	if (addr && hi_py_object_at(c, addr, &o))
		repr_scalar(c, &o, out, out_size);
	else
		snprintf(out, out_size, "0x%" PRIx64, addr);
}

/* "(1, "a", …)"; a tuple in it is "<tuple>". */
static void repr_tuple(struct hi_runtime_cursor *c, const struct hi_py_object *o,
		       char *out, size_t out_size)
{
	uint64_t n = o->size > 0 ? (uint64_t)o->size : 0;
	char item[KEY_CHARS * 4 + 32];
	size_t used = (size_t)snprintf(out, out_size, "(");

	for (uint64_t i = 0; i < n && i < MOST_ITEMS && used < out_size; i++) {
		repr_at(c,
			hi_py_word(&c->reader,
				   o->addr + c->py->layout->tuple_items + i * HI_PY_PTR),
			item, sizeof(item));
		used += (size_t)snprintf(out + used, out_size - used, "%s%s",
					 i ? ", " : "", item);
	}
	if (used < out_size)
		snprintf(out + used, out_size - used, "%s",
			 n > MOST_ITEMS ? ", …)"
			 : n == 1	? ",)"
					: ")");
}

void hi_py_repr(struct hi_runtime_cursor *c, uint64_t addr, char *out, size_t out_size)
{
	struct hi_py_object o;

	if (addr && hi_py_object_at(c, addr, &o) && o.type->exact &&
	    o.type->family == HI_PY_TUPLE)
		repr_tuple(c, &o, out, out_size);
	else
		repr_at(c, addr, out, out_size);
}

size_t hi_py_label(struct hi_runtime_cursor *c, const struct hi_runtime_edge *edge,
		   char *out, size_t out_size)
{
	char text[MAX_CHARS * 4] = "";
	int n = 0;

	switch (edge->label) {
	case HI_LABEL_FIELD:
		hi_text_escape(text, sizeof(text), edge->name, strlen(edge->name));
		n = snprintf(out, out_size, ".%s", text);
		break;
	case HI_LABEL_INDEX:
		n = snprintf(out, out_size, "[%" PRIu64 "]", edge->value);
		break;
	case HI_LABEL_OFFSET:
		n = snprintf(out, out_size, " +0x%" PRIx64, edge->value);
		break;
	case HI_LABEL_KEY:
		if (c->py->base.redact) {
			n = snprintf(out, out_size, "[\"…\"]");
			break;
		}
		hi_py_repr(c, edge->value, text, sizeof(text));
		n = snprintf(out, out_size, "[%s]", text);
		break;
	case HI_LABEL_ATTRIBUTE:
		if (!c->py->base.redact && hi_py_str(c, edge->value, text, KEY_CHARS))
			n = snprintf(out, out_size, ".%s", text);
		else
			n = snprintf(out, out_size, ".?");
		break;
	case HI_LABEL_NONE:
		if (out_size)
			out[0] = 0;
		break;
	}
	return n < 0 ? 0 : (size_t)n < out_size ? (size_t)n : out_size ? out_size - 1 : 0;
}
