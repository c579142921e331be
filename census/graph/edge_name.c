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
		snprintf(buffer, HI_EDGE_TEXT, "[%" PRIu64 "]%s", name->number, text);
	else
		snprintf(buffer, HI_EDGE_TEXT, " +0x%" PRIx64, name->number);
	return buffer;
}

/* The texts move while they grow: first how long each is, and at last where. */
bool hi_edge_names_texts(struct hi_edge_texts *t, const struct hi_edge_name *names,
			 uint32_t n, const char **texts)
{
	char buffer[HI_EDGE_TEXT];
	size_t at = 0;

	t->count = 0;
	for (uint32_t i = 0; i < n; i++) {
		size_t size;

		if (names[i].kind == HI_NAME_TEXT)
			continue;
		size = strlen(hi_edge_name_text(&names[i], buffer)) + 1;
		if (t->count + size > t->capacity &&
		    !hi_vector_reserve(t, 2 * (t->count + size)))
			return false;
		memcpy(t->items + t->count, buffer, size);
		t->count += size;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (names[i].kind == HI_NAME_TEXT) {
			texts[i] = names[i].text ? names[i].text : "";
			continue;
		}
		texts[i] = t->items + at;
		at += strlen(texts[i]) + 1;
	}
	return true;
}
