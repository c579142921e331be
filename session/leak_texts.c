/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/leak_texts.h"

#include <string.h>

enum { BEGINNING = 64 }; /* with the NUL */

/* "" where it is not known. Ends between characters. */
static enum hi_status read_leak_text(struct hi_inspection *in, hi_node node,
				     char out[BEGINNING], struct hi_error *err)
{
	uint8_t bytes[BEGINNING];
	size_t n = 0, length;
	enum hi_status status = in->source->contents->read_beginning(
		in, node, bytes, sizeof(bytes), &n, err);

	length = status == HI_OK ? strnlen((const char *)bytes, n) : 0;
	if (length == BEGINNING) {
		length--;
		while (length && (bytes[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(out, bytes, length);
	out[length] = 0;
	return status;
}

static enum hi_status add_text_of_node(struct hi_inspection *in, hi_node node,
				       struct hi_leak_name *name, struct hi_error *err)
{
	char text[BEGINNING];
	enum hi_status status = read_leak_text(in, node, text, err);

	if (status != HI_OK || !*text)
		return status;
	name->beginning = hi_arena_strdup(&in->arena, text);
	return name->beginning ? HI_OK : hi_fail_memory(err, "texts of leaks");
}

static bool shows_text(const struct hi_leak_name *name)
{
	return !*name->type && name->text;
}

enum hi_status hi_leak_text_add(struct hi_inspection *in, uint64_t address,
				struct hi_leak_name *name, struct hi_error *err)
{
	hi_node node = hi_objects_find(in->graph->objects, address, NULL);

	return shows_text(name) && node != HI_NODE_NONE
		       ? add_text_of_node(in, node, name, err)
		       : HI_OK;
}

/* Looks at them until one differs. */
static enum hi_status compare_texts_of_row(struct hi_inspection *in,
					   const struct hi_leak_row *row,
					   struct hi_leak_name *name,
					   struct hi_error *err)
{
	const struct hi_leaks *leaks = in->results.leaks;
	enum hi_status status = HI_OK;
	char text[BEGINNING];

	for (size_t i = 0; i < leaks->n_roots && !name->beginnings_differ; i++) {
		const struct hi_leak_root *root = &leaks->roots[i];

		if (root->group != row->group || root->shape != row->shape ||
		    root->is_likely != row->is_likely)
			continue;
		status = read_leak_text(in, root->node, text, err);
		if (status != HI_OK)
			return status;
		name->beginnings_differ = strcmp(text, name->beginning) != 0;
	}
	return HI_OK;
}

enum hi_status hi_leak_text_add_row(struct hi_inspection *in, uint64_t example,
				    struct hi_leak_name *name, struct hi_error *err)
{
	const struct hi_leaks *leaks = in->results.leaks;
	hi_node node = hi_objects_find(in->graph->objects, example, NULL);
	enum hi_status status = HI_OK;

	if (!shows_text(name) || node == HI_NODE_NONE)
		return HI_OK;
	for (size_t i = 0; i < leaks->n_rows; i++) {
		if (leaks->rows[i].example != node)
			continue;
		status = add_text_of_node(in, node, name, err);
		if (status == HI_OK && name->beginning)
			status = compare_texts_of_row(in, &leaks->rows[i], name, err);
		break;
	}
	return status;
}
