/* SPDX-License-Identifier: BSD-2-Clause */
/* What names mean in a text: captures, constants, context keys; else the program's. */
#include "decode/typing/rulebook_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct hi_type *text_type(void *arg, hi_type_id id)
{
	struct hi_book_text *text = arg;

	return text->book->base.type(text->book->base.arg, id);
}

static hi_type_id text_type_named(void *arg, const char *name)
{
	struct hi_book_text *text = arg;
	size_t n = strlen(HI_BOOK_CAPTURE);

	if (text->captures && strncmp(name, HI_BOOK_CAPTURE, n) == 0) {
		size_t i = strtoul(name + n, NULL, 10);

		return i < text->captures->count ? text->captures->items[i].type : 0;
	}
	return text->book->base.type_named(text->book->base.arg, name);
}

static hi_type_id text_pointer_to(void *arg, hi_type_id id)
{
	struct hi_book_text *text = arg;

	return text->book->base.pointer_to(text->book->base.arg, id);
}

static struct hi_name text_name(void *arg, const char *name)
{
	struct hi_book_text *text = arg;
	const struct hi_hints *hints = text->hints;

	/* The last one: a later `const` may say it anew. */
	for (uint32_t i = hints->n_consts; i-- > 0;)
		if (text->const_known[i] && hi_piece_is(hints->consts[i].name, name))
			return (struct hi_name){.kind = HI_NAME_CONSTANT,
						.value = text->const_values[i]};
	/* Keys for targets hold no value that an expression may use. */
	for (uint32_t i = 0; i < hints->n_keys; i++)
		if (hints->keys[i].type.length && hi_piece_is(hints->keys[i].name, name))
			return (struct hi_name){.kind = HI_NAME_CONTEXT,
						.value = text->first_key + i,
						.type = text->key_types[i]};
	return text->book->base.name(text->book->base.arg, name);
}

void hi_book_text_source(struct hi_book_text *text)
{
	text->source = (struct hi_expression_source){.arg = text,
						     .type = text_type,
						     .type_named = text_type_named,
						     .pointer_to = text_pointer_to,
						     .name = text_name};
}
