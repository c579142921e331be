/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings about rules that could not be resolved: Note [What rules lack] in apply.h.
 * Unreadable memory is no warning: garbage leads there, too. */
#include "decode/rules/rulebook_internal.h"

#include <stdio.h>

/* "redis.hints:47: context 'dt' is missing: … (record dictEntry, key)" */
static void warn_of_lack(const struct hi_compiled *c, const char *at, const char *word,
			 const char *lack)
{
	struct hi_rulebook *book = c->text->book;
	struct hi_text_piece record =
		c->record ? c->record->pattern : (struct hi_text_piece){};

	hi_book_keep_warning(
		book,
		hi_arena_printf(&book->arena,
				"%s: %s; the words are read conservatively (%s%.*s%s%s)",
				at, lack, record.length ? "record " : "",
				(int)record.length, record.at ? record.at : "",
				record.length && *word ? ", " : "", word));
}

static void warn_of_lacks(const struct hi_compiled *c, const char *at, const char *word,
			  const _Atomic uint64_t *kept)
{
	uint64_t lacks = kept ? atomic_load(kept) : 0;
	char lack[160];

	for (uint32_t key = 0; key < HI_CONTEXT_KEYS; key++) {
		if (!(lacks >> key & 1))
			continue;
		snprintf(lack, sizeof(lack), "context '%s' is missing",
			 hi_rulebook_key_name(c->text->book, key));
		warn_of_lack(c, at, word, lack);
	}
	if (lacks & HI_LACK_CASE)
		warn_of_lack(c, at, word, "no case has the value that was found");
	if (lacks & HI_LACK_SYMBOL)
		warn_of_lack(c, at, word,
			     "no pattern matches the function that was found");
}

void hi_book_warn_of_lacks(struct hi_rulebook *book)
{
	for (size_t i = 0; i < book->compiled.count; i++) {
		const struct hi_compiled *c = book->compiled.items[i];

		for (uint32_t k = 0; k < c->rules.n; k++)
			warn_of_lacks(c, c->rules.items[k].origin, c->rules.items[k].text,
				      c->rules.items[k].lacks);
		warn_of_lacks(c, c->rules.variants_origin, "variant",
			      c->rules.variants_lacks);
	}
}

static void forget_lacks(_Atomic uint64_t *kept)
{
	if (kept)
		atomic_store(kept, 0);
}

bool hi_rulebook_renew(struct hi_rulebook *book)
{
	bool is_quiet;

	pthread_mutex_lock(&book->lock);
	for (size_t i = 0; i < book->compiled.count; i++) {
		const struct hi_compiled *c = book->compiled.items[i];

		for (uint32_t k = 0; k < c->rules.n; k++)
			forget_lacks(c->rules.items[k].lacks);
		forget_lacks(c->rules.variants_lacks);
	}
	is_quiet = !book->warnings.count && !book->no_memory;
	pthread_mutex_unlock(&book->lock);
	return is_quiet;
}
