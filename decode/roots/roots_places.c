/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Places in data]
 *
 * Without debug information the data of a module is words. Words near each other that
 * lead to the heap are one place, and each place is a root with a name of its own:
 * ".bss +0x40 of smbd". Such a name is the same in every process of the program, and a
 * debugger takes the section and the offset.
 *
 * Places are cut where variables are, and after two words that lead nowhere. Buckets of a
 * hash table lie further apart; but what they lead to is of one size. If there are
 * still more places than a reader can use, wider gaps are bridged.
 */
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "decode/roots/roots.h"

enum {
	NEAR = 16, /* bytes between the starts of two words of a place, and 8 more */
	IN_TABLE = 1024, /* the same where both lead to the start of blocks of one size */
	MOST_PLACES = 4096,
};

struct places {
	struct hi_roots *roots;
	struct hi_module *module;
	const struct hi_root_word *words;
	size_t n;
	const struct hi_ranges *covered;
	uint64_t near;
};

uint8_t hi_roots_module_rank(const struct hi_module *module)
{
	return module && hi_module_is_system(module) ? HI_RANK_SYSTEM : HI_RANK_BY_KIND;
}

/* Go's runtime is in the program's own file. */
uint8_t hi_roots_variable_rank(struct hi_module *module, const char *name)
{
	if (module && strncmp(name, "runtime.", 8) == 0 &&
	    hi_module_has_section(module, ".gopclntab"))
		return HI_RANK_SYSTEM;
	return hi_roots_module_rank(module);
}

/* Is there a variable in [start, end)? */
static bool has_variable_between(const struct hi_ranges *covered, uint64_t start,
				 uint64_t end)
{
	size_t i = hi_search(k, covered->count, covered->items[k].end <= start);

	return i < covered->count && covered->items[i].start < end;
}

static bool lead_to_equals(const struct places *p, uint64_t a, uint64_t b)
{
	const struct hi_objects *objects = p->roots->typing->objects;
	uint64_t of_a, of_b;
	hi_node x = hi_objects_find(objects, a, &of_a);
	hi_node y = hi_objects_find(objects, b, &of_b);

	return x != HI_NODE_NONE && y != HI_NODE_NONE && !of_a && !of_b &&
	       hi_objects_usable(objects, x) == hi_objects_usable(objects, y);
}

/* Belongs word i to the place of the word before it? */
static bool continues_place(const struct places *p, size_t i)
{
	const struct hi_root_word *last = &p->words[i - 1], *word = &p->words[i];
	uint64_t gap = word->at - last->at;

	if (gap > p->near &&
	    (gap > IN_TABLE || !lead_to_equals(p, last->word, word->word)))
		return false;
	return !has_variable_between(p->covered, last->at + 8, word->at);
}

static size_t count_places(const struct places *p)
{
	size_t n = p->n > 0;

	for (size_t i = 1; i < p->n; i++)
		n += !continues_place(p, i);
	return n;
}

static void name_place(const struct places *p, uint64_t at, char *name, size_t size)
{
	const char *section;
	uint64_t offset;

	if (hi_module_section_at(p->module, at, &section, &offset))
		snprintf(name, size, "%.40s +0x%llx of %.100s", section,
			 (unsigned long long)offset, p->module->name);
	else
		snprintf(name, size, "data +0x%llx of %.100s",
			 (unsigned long long)(at - p->module->bias), p->module->name);
}

/* The words [first, end) are one root. */
static void add_root_place(const struct places *p, size_t first, size_t end)
{
	struct hi_roots *r = p->roots;
	uint64_t start = p->words[first].at, stop = p->words[end - 1].at + 8;
	uint8_t rank = hi_roots_module_rank(p->module);
	struct hi_section_range *range =
		hi_arena_alloc(&r->typing->arena, sizeof(*range));
	char name[200];

	if (!range) {
		hi_roots_no_memory(r);
		return;
	}
	*range = (struct hi_section_range){start, stop, false};
	for (size_t i = first; i < end; i++)
		hi_roots_add_word(r, p->words[i].word, NULL);
	name_place(p, start, name, sizeof(name));
	hi_roots_end(r,
		     &(struct hi_root){.kind = HI_ROOT_UNTYPED,
				       .name = name,
				       .detail = p->module->name,
				       .type = "",
				       .address = start,
				       .size = stop - start,
				       .rank = rank ? rank : HI_RANK_PROGRAM},
		     &(struct hi_root_info){.address = start,
					    .size = stop - start,
					    .ranges = range,
					    .n_ranges = 1});
}

void hi_roots_of_places(struct hi_roots *r, struct hi_module *module,
			const struct hi_root_words *words,
			const struct hi_ranges *covered)
{
	struct places p = {.roots = r,
			   .module = module,
			   .words = words->items,
			   .n = words->count,
			   .covered = covered,
			   .near = NEAR};
	size_t first = 0;

	while (count_places(&p) > MOST_PLACES && p.near < UINT64_MAX / 4)
		p.near *= 4;
	for (size_t i = 1; i <= p.n && r->status == HI_OK; i++) {
		if (i < p.n && continues_place(&p, i))
			continue;
		add_root_place(&p, first, i);
		first = i;
	}
}
