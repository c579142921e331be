/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/heap_profile/hp_names.h"

#include <string.h>

#include "base/hash.h"

static bool is_hp_name_text(const char *name, const char *text, size_t n)
{
	return strncmp(name, text, n) == 0 && name[n] == 0;
}

uint32_t hi_hp_names_find(const struct hi_hp_names *names, const char *text, size_t n)
{
	uint64_t i = HI_HP_NO_NAME;

	if (!hi_table_get(&names->first, hi_hash_more(HI_HASH_START, text, n) >> 1, &i))
		return HI_HP_NO_NAME;
	while (i != HI_HP_NO_NAME && !is_hp_name_text(names->texts.items[i], text, n))
		i = names->next.items[i];
	return (uint32_t)i;
}

uint32_t hi_hp_names_add(struct hi_hp_names *names, const char *text, size_t n)
{
	uint32_t number = hi_hp_names_find(names, text, n);
	uint64_t h = hi_hash_more(HI_HASH_START, text, n) >> 1, first = HI_HP_NO_NAME;
	char *copy;

	if (number != HI_HP_NO_NAME)
		return number;
	if (names->texts.count >= HI_HP_NO_NAME ||
	    !hi_vector_reserve(&names->texts, names->texts.count + 1) ||
	    !hi_vector_reserve(&names->next, names->next.count + 1))
		return HI_HP_NO_NAME;
	copy = hi_arena_alloc(&names->arena, n + 1);
	if (!copy)
		return HI_HP_NO_NAME;
	memcpy(copy, text, n);
	number = (uint32_t)names->texts.count;
	hi_table_get(&names->first, h, &first);
	if (!hi_table_put(&names->first, h, number))
		return HI_HP_NO_NAME;
	names->texts.items[names->texts.count++] = copy;
	names->next.items[names->next.count++] = (uint32_t)first;
	return number;
}

void hi_hp_names_free(struct hi_hp_names *names)
{
	hi_arena_free(&names->arena);
	hi_table_free(&names->first);
	hi_vector_free(&names->texts);
	hi_vector_free(&names->next);
}
