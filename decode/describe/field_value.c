/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a field as a person reads them. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "decode/describe/field_layout.h"

static void show_integer(struct hi_field *f, bool is_unsigned, const uint8_t *bytes)
{
	uint64_t value = 0;
	unsigned shift;

	if (f->size == 0 || f->size > 8) {
		snprintf(f->value, sizeof(f->value), "?");
		return;
	}
	memcpy(&value, bytes, f->size);
	shift = 64 - 8 * (unsigned)f->size;
	if (is_unsigned)
		snprintf(f->value, sizeof(f->value), "%llu", (unsigned long long)value);
	else
		snprintf(f->value, sizeof(f->value), "%lld",
			 (long long)((int64_t)(value << shift) >> shift));
}

static void show_float(struct hi_field *f, const uint8_t *bytes)
{
	uint64_t size = f->size;
	long double wide = 0;
	double value = 0;
	float narrow = 0;

	if (size == 4) {
		memcpy(&narrow, bytes, sizeof(narrow));
		value = (double)narrow;
	} else if (size == 8) {
		memcpy(&value, bytes, sizeof(value));
	} else if (size == 16) {
		memcpy(&wide, bytes, 10);
		value = (double)wide;
	}
	snprintf(f->value, sizeof(f->value), "%.17g", value);
}

/* Quoted, up to the first NUL. */
static void show_text(struct hi_field *f, const uint8_t *bytes, size_t n)
{
	size_t length = strnlen((const char *)bytes, n);
	size_t used;

	f->value[0] = '"';
	used = 1 + hi_text_escape(f->value + 1, sizeof(f->value) - 5, (const char *)bytes,
				  length);
	snprintf(f->value + used, sizeof(f->value) - used, "%s",
		 length == n && n >= HI_FIELD_SHOWN ? "\"..." : "\"");
}

static void show_pointer(const struct hi_objects *objects, struct hi_field *f,
			 enum hi_grade grade, const uint8_t *bytes)
{
	uint64_t word, offset = 0;

	memcpy(&word, bytes, sizeof(word));
	snprintf(f->value, sizeof(f->value), "0x%llx", (unsigned long long)word);
	f->to = hi_objects_find(objects, word, &offset);
	f->grade = grade;
	if (grade == HI_GRADE_EXACT && offset)
		f->grade = HI_GRADE_INTERIOR;
}

void hi_field_show(const struct hi_objects *objects, enum hi_field_how how,
		   const uint8_t *bytes, struct hi_field *f)
{
	uint64_t n = f->size < HI_FIELD_SHOWN ? f->size : HI_FIELD_SHOWN;
	bool is_word = how == HI_FIELD_POINTER || how == HI_FIELD_ADDRESS;

	f->value[0] = 0;
	if (n == 0)
		return;
	if (how == HI_FIELD_BITS)
		snprintf(f->value, sizeof(f->value), "(bits)");
	else if (how == HI_FIELD_TEXT)
		show_text(f, bytes, n);
	else if (is_word && f->size == 8)
		show_pointer(objects, f,
			     how == HI_FIELD_POINTER ? HI_GRADE_EXACT
						     : HI_GRADE_CONSERVATIVE,
			     bytes);
	else if (how == HI_FIELD_FLOAT)
		show_float(f, bytes);
	else if (how == HI_FIELD_INTEGER || how == HI_FIELD_UNSIGNED)
		show_integer(f, how == HI_FIELD_UNSIGNED, bytes);
	else
		snprintf(f->value, sizeof(f->value), "?");
}

void hi_field_unreadable(struct hi_field *f)
{
	snprintf(f->value, sizeof(f->value), "(unreadable)");
}

void hi_field_word(struct hi_field *f, uint64_t offset)
{
	*f = (struct hi_field){.to = HI_NODE_NONE, .offset = offset, .size = 8};
	snprintf(f->path, sizeof(f->path), "+0x%llx", (unsigned long long)offset);
	f->type = "word";
}
