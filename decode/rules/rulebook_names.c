/* SPDX-License-Identifier: BSD-2-Clause */
/* What names mean in a text: captures, constants, context keys; else the program's. */
#include "decode/rules/rulebook_internal.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 4096 };

static const struct hi_type *text_type(void *arg, hi_type_id id)
{
	struct hi_book_text *text = arg;

	return text->book->base.type(text->book->base.arg, id);
}

size_t hi_book_uncapture(const struct hi_captures *captures, const char *in,
			 bool as_written, char *out, size_t out_size)
{
	size_t mark = strlen(HI_BOOK_CAPTURE), used = 0;

	while (*in && used + 1 < out_size) {
		const struct hi_capture *c;
		char *end;
		size_t i, n;

		if (strncmp(in, HI_BOOK_CAPTURE, mark) != 0) {
			out[used++] = *in++;
			continue;
		}
		i = strtoul(in + mark, &end, 10);
		in = end;
		if (!captures || i >= captures->count)
			continue;
		c = &captures->items[i];
		n = as_written ? c->name_length : c->length;
		if (as_written)
			out[used++] = '$';
		if (n >= out_size - used)
			n = out_size - used - 1;
		memcpy(out + used, as_written ? c->name : c->at, n);
		used += n;
	}
	out[used] = '\0';
	return used;
}

/* A capture alone is a type; as a part of a name it is replaced by its text. */
static hi_type_id text_type_named(void *arg, const char *name)
{
	struct hi_book_text *text = arg;
	size_t mark = strlen(HI_BOOK_CAPTURE);
	char full[NAME_SIZE], *end;
	size_t i;

	if (!text->captures || !strstr(name, HI_BOOK_CAPTURE))
		return text->book->base.type_named(text->book->base.arg, name);
	i = strncmp(name, HI_BOOK_CAPTURE, mark) == 0 ? strtoul(name + mark, &end, 10)
						      : SIZE_MAX;
	if (i < text->captures->count && !*end)
		return text->captures->items[i].type;
	hi_book_uncapture(text->captures, name, false, full, sizeof(full));
	return text->book->base.type_named(text->book->base.arg, full);
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

	/* The last one: a later `const` replaces it. */
	for (uint32_t i = hints->n_consts; i-- > 0;)
		if (text->const_known[i] && hi_text_piece_is(hints->consts[i].name, name))
			return (struct hi_name){.kind = HI_NAME_CONSTANT,
						.value = text->const_values[i]};
	/* Keys for targets hold no value that an expression may use. */
	for (uint32_t i = 0; i < hints->n_keys; i++)
		if (hints->keys[i].type.length &&
		    hi_text_piece_is(hints->keys[i].name, name))
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
