/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints (docs/HINTS.md) of any text: what is parsed lies in the text, and an error has a
 * place in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/rules/hints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_piece(const struct hi_hints *hints, struct hi_text_piece piece)
{
	if (piece.length == 0)
		return;
	expect(piece.at >= hints->text && piece.at < hints->text + hints->size);
	expect(piece.length <= (size_t)(hints->text + hints->size - piece.at));
}

static void check_hint(const struct hi_hints *hints, const struct hi_hint *hint)
{
	struct hi_text_position position;

	expect(hint->hits != NULL);
	check_piece(hints, hint->at);
	check_piece(hints, hint->lvalue);
	check_piece(hints, hint->value);
	check_piece(hints, hint->when);
	for (uint32_t i = 0; i < hint->n_cases; i++) {
		check_piece(hints, hint->cases[i].label);
		check_piece(hints, hint->cases[i].target.name);
		check_piece(hints, hint->cases[i].target.back);
	}
	position = hi_hints_position(hints, hint->at.at);
	expect(position.line >= 1 && position.column >= 1);
	expect(hi_hint_same_word(hint, hint) ==
	       (hint->kind == HI_HINT_WORD || hint->kind == HI_HINT_PLACE));
}

static void check_hints(const struct hi_hints *hints)
{
	check_piece(hints, hints->name);
	for (uint32_t i = 0; i < hints->n_records; i++) {
		check_piece(hints, hints->records[i].pattern);
		for (uint32_t k = 0; k < hints->records[i].n; k++)
			check_hint(hints, &hints->records[i].items[k]);
	}
	for (uint32_t i = 0; i < hints->n_roots; i++)
		check_hint(hints, &hints->roots[i].hint);
	for (uint32_t i = 0; i < hints->n_typedefs; i++)
		check_hint(hints, &hints->typedefs[i].hint);
	for (uint32_t i = 0; i < hints->n_shows; i++) {
		check_piece(hints, hints->shows[i].pattern);
		check_piece(hints, hints->shows[i].value);
		check_piece(hints, hints->shows[i].key);
	}
	for (uint32_t i = 0; i < hints->n_hides; i++)
		check_piece(hints, hints->hides[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hi_arena arena = {};
	struct hi_hints *hints = NULL;
	struct hi_error err = {};

	if (hi_hints_parse(&arena, "x.hints", (const char *)data, size, &hints, &err) ==
	    HI_OK)
		check_hints(hints);
	else
		expect(strncmp(err.text, "x.hints:", 8) == 0 && !hints);
	hi_arena_free(&arena);
	return 0;
}
