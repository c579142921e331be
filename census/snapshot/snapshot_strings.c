/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/search.h"
#include "base/alloc.h"
#include "census/snapshot/snapshot_internal.h"

enum { FIRST_SLOTS = 1024 };

struct hi_string_slot {
	uint32_t hash;
	uint32_t offset; /* 0: empty; "" is never looked for */
};

void hi_snapshot_strings_free(struct hi_snapshot_strings *s)
{
	free(s->text);
	free(s->slots);
	*s = (struct hi_snapshot_strings){};
}

static void put_slot(struct hi_string_slot *slots, size_t n, struct hi_string_slot slot)
{
	slots[hi_probe(i, n, slot.hash, !slots[i].offset)] = slot;
}

/* At most half of the slots are taken. */
static bool grow_string_slots(struct hi_snapshot_strings *s)
{
	size_t n = s->n_slots ? 2 * s->n_slots : FIRST_SLOTS;
	struct hi_string_slot *slots;

	if (2 * (s->count + 1) <= s->n_slots)
		return true;
	slots = hi_calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].offset)
			put_slot(slots, n, s->slots[i]);
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	return true;
}

static bool grow_text(struct hi_snapshot_strings *s, size_t need)
{
	size_t capacity = s->capacity ? s->capacity : 4096;
	char *text;

	while (capacity < need)
		capacity *= 2;
	if (capacity == s->capacity)
		return true;
	text = hi_realloc(s->text, capacity);
	if (!text)
		return false;
	s->text = text;
	s->capacity = capacity;
	return true;
}

static uint32_t find_string_offset(const struct hi_snapshot_strings *s, const char *text,
				   uint32_t hash)
{
	const struct hi_string_slot *slots = s->slots;

	if (!s->n_slots)
		return 0;
	return slots[hi_probe(i, s->n_slots, hash,
			      !slots[i].offset ||
				      (slots[i].hash == hash &&
				       strcmp(s->text + slots[i].offset, text) == 0))]
		.offset;
}

enum hi_status hi_snapshot_strings_add(struct hi_snapshot_strings *s, const char *text,
				       uint32_t *offset_ret, struct hi_error *err)
{
	size_t n = text ? strlen(text) : 0;
	struct hi_string_slot slot = {};

	*offset_ret = 0;
	if (!s->size) {
		if (!grow_text(s, 1))
			return hi_fail_memory(err, "strings");
		s->text[s->size++] = 0;
	}
	if (!n)
		return HI_OK;
	slot.hash = (uint32_t)XXH3_64bits(text, n);
	*offset_ret = find_string_offset(s, text, slot.hash);
	if (*offset_ret)
		return HI_OK;
	if (s->size + n + 1 > HI_SNAPSHOT_INDEX)
		return hi_fail(err, HI_LIMIT, 0, "snapshot: names take more than 2 GiB");
	if (!grow_string_slots(s) || !grow_text(s, s->size + n + 1))
		return hi_fail_memory(err, "strings");
	slot.offset = (uint32_t)s->size;
	memcpy(s->text + s->size, text, n + 1);
	s->size += n + 1;
	put_slot(s->slots, s->n_slots, slot);
	s->count++;
	*offset_ret = slot.offset;
	return HI_OK;
}
