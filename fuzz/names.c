/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of any bytes, as a target has them of functions, types and fields: made readable,
 * made short, compared with patterns. The first byte is which, and how much room there
 * is; a pattern stands before the first line's end.
 */
#include <stdlib.h>
#include <string.h>

#include "census/analysis/field_pattern.h"
#include "decode/modules/demangle.h"
#include "decode/rules/type_pattern.h"
#include "report/type_name.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void demangle(const char *text, size_t room)
{
	char *out = malloc(room);

	expect(out != NULL);
	if (hi_demangle(text, out, room))
		expect(memchr(out, 0, room) && *out);
	if (hi_demangle_name(text, out, room))
		expect(memchr(out, 0, room) && *out);
	free(out);
}

static void shorten(const char *text, size_t room)
{
	char *out = malloc(room);

	expect(out != NULL);
	expect(memchr(hi_type_short(text, out, room), 0, room) != NULL);
	expect(memchr(hi_type_unqualified(text, out, room), 0, room) != NULL);
	free(out);
}

static void look_at_field(const char *text, const char *other, size_t room)
{
	char *out = malloc(room);
	size_t n;

	expect(out != NULL);
	n = hi_field_pattern(text, out, room);
	expect(n < room && !out[n]);
	expect(hi_field_stem(out) <= n);
	n = hi_field_clean(text, out, room);
	expect(n < room && !out[n]);
	expect(hi_field_container(text) <= strlen(text));
	expect(hi_field_without_index(text) <= strlen(text));
	if (hi_field_join(text, other, out, room))
		expect(memchr(out, 0, room) != NULL);
	(void)hi_field_is_link(text);
	(void)hi_field_is_part(text);
	(void)hi_field_is_offset(text);
	free(out);
}

static void match(const char *pattern, const char *name, bool is_function)
{
	struct hi_captures captures = {};
	size_t n = strlen(pattern);

	if (hi_type_pattern_match(pattern, n, name, is_function, &captures) ==
	    HI_MATCH_YES)
		for (size_t i = 0; i < captures.count; i++) {
			const struct hi_capture *c = &captures.items[i];

			expect(c->name >= pattern &&
			       c->name + c->name_length <= pattern + n);
			expect(c->at >= name && c->at + c->length <= name + strlen(name));
			expect(c->path.depth <= HI_PATTERN_DEPTH);
		}
	expect(hi_type_name_key(pattern, n) == hi_type_name_key(pattern, n));
	hi_vector_free(&captures);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	size_t room;

	if (!text || size < 1) {
		free(text);
		return 0;
	}
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	room = data[0] & 0x80 ? HI_TYPE_SHORT_SIZE : (data[0] >> 2 & 31) + 1;
	switch (data[0] % 4) {
	case 0:
		demangle(text, room);
		break;
	case 1:
		shorten(text, room);
		break;
	case 2:
		strsep(&rest, "\n");
		look_at_field(text, rest ? rest : "", room);
		break;
	default:
		strsep(&rest, "\n");
		match(text, rest ? rest : "", data[0] & 4);
		break;
	}
	free(text);
	return 0;
}
