/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of the target as text: names of attributes, keys, labels of edges. */
#include <inttypes.h>
#include <stdio.h>
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
};

static size_t put_utf8(char *out, uint32_t ch)
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
		n += put_utf8(out + n, ch);
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

void hi_py_repr(struct hi_runtime_cursor *c, uint64_t addr, char *out, size_t out_size)
{
	char raw[MAX_CHARS * 4], text[KEY_CHARS * 4 + 8];
	struct hi_py_object o;
	bool cut;
	int n;

	if (!addr || !hi_py_object_at(c, addr, &o)) {
		snprintf(out, out_size, "0x%" PRIx64, addr);
		return;
	}
	if (o.type->family == HI_PY_INT) {
		repr_int(c, &o, out, out_size);
		return;
	}
	n = read_str(c, addr, KEY_CHARS, raw, &cut);
	if (n < 0) {
		hi_text_escape(text, sizeof(text), c->py->types.items[o.type->type].name,
			       strlen(c->py->types.items[o.type->type].name));
		snprintf(out, out_size, "<%s>", text);
		return;
	}
	hi_text_escape(text, sizeof(text), raw, (size_t)n);
	snprintf(out, out_size, "\"%s%s\"", text, cut ? "…" : "");
}

size_t hi_py_label(struct hi_runtime_cursor *c, const struct hi_runtime_edge *edge,
		   char *out, size_t out_size)
{
	char text[MAX_CHARS + 32] = "";
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
