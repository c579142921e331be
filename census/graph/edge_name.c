/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/graph/edge_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *hi_edge_name_text(const struct hi_edge_name *name, char buffer[HI_EDGE_TEXT])
{
	const char *text = name->text ? name->text : "";

	if (name->kind == HI_NAME_TEXT)
		return text;
	if (name->kind == HI_NAME_INDEX)
		/* A text of a megabyte is read only as far as there is room. */
		snprintf(buffer, HI_EDGE_TEXT, "[%" PRIu64 "]%.*s", name->number,
			 HI_EDGE_TEXT, text);
	else
		snprintf(buffer, HI_EDGE_TEXT, " +0x%" PRIx64, name->number);
	return buffer;
}

/* Is the name's own text what is shown? */
static bool is_text_as_is(const struct hi_edge_name *name, bool with_marks)
{
	size_t n = name->text ? strlen(name->text) : 0;

	return name->kind == HI_NAME_TEXT &&
	       !(!with_marks && n && name->text[n - 1] == HI_EDGE_LINK);
}

static bool append_edge_text(struct hi_edge_texts *t, const struct hi_edge_name *name,
			     bool with_marks)
{
	char buffer[HI_EDGE_TEXT];
	const char *text = hi_edge_name_text(name, buffer);
	size_t size = strlen(text) + 1;

	if (t->count + size > t->capacity && !hi_vector_reserve(t, 2 * (t->count + size)))
		return false;
	memcpy(t->items + t->count, text, size);
	t->count += size;
	if (!with_marks)
		t->count -= hi_edge_link_drop(t->items + t->count - size, size - 1);
	return true;
}

/* The texts move while they grow: first how long each is, and at last where. */
bool hi_edge_names_texts(struct hi_edge_texts *t, const struct hi_edge_name *names,
			 uint32_t n, bool with_marks, const char **texts)
{
	size_t at = 0;

	t->count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!is_text_as_is(&names[i], with_marks) &&
		    !append_edge_text(t, &names[i], with_marks))
			return false;
	for (uint32_t i = 0; i < n; i++) {
		if (is_text_as_is(&names[i], with_marks)) {
			texts[i] = names[i].text ? names[i].text : "";
			continue;
		}
		texts[i] = t->items + at;
		at += strlen(texts[i]) + 1;
	}
	return true;
}
