/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/paths/paths_merge.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/table.h"

enum {
	MOST_KEYS = 64,	    /* of a text; those behind stay as they are */
	MOST_DETAIL = 4096, /* bytes of what is known of a root */
};

/* One "[…]" or "{…}" of a text, or the address of a word without a name. */
struct key {
	const char *start, *end; /* brackets included */
};

struct group {
	uint64_t differs; /* bits: keys that are not the same in all */
};

/* Behind the quoted string that begins at `at`. */
static const char *skip_key_text(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

static const char *skip_whole_key(const char *at)
{
	unsigned depth = 0;

	while (*at) {
		if (*at == '"') {
			at = skip_key_text(at);
			continue;
		}
		depth += *at == '[' || *at == '{';
		depth -= *at == ']' || *at == '}';
		at++;
		if (depth == 0)
			break;
	}
	return at;
}

/* The next key from `at` on; false: there is none. */
static bool next_key(const char *at, struct key *ret)
{
	for (; *at; at++) {
		if (*at == '[' || *at == '{') {
			*ret = (struct key){at, skip_whole_key(at)};
			return true;
		}
		if (strncmp(at, " 0x", 3) == 0) {
			ret->start = at + 1;
			ret->end = at + 3 + strspn(at + 3, "0123456789abcdef");
			return true;
		}
	}
	return false;
}

/* A module's variables are not alike, though they are keys of its dictionary: the first
 * key is a name. */
static const char *first_key_at(const struct hi_paths_way *way)
{
	struct key key;

	if (!way->named_by_key || !next_key(way->text, &key))
		return way->text;
	return key.end;
}

/* What all ways of a group have in common. */
static uint64_t hash_of_shape(const struct hi_paths_way *way)
{
	const struct hi_node_info *root = &way->steps[0].info;
	const char *at = first_key_at(way);
	uint64_t hash = hi_hash_more(HI_HASH_START, way->text, (size_t)(at - way->text));
	uint64_t what[2] = {way->worst, root->kind};
	struct key key;

	for (unsigned i = 0; i < MOST_KEYS && next_key(at, &key); i++) {
		hash = hi_hash_more(hash, at, (size_t)(key.start - at) + 1);
		at = key.end;
	}
	hash = hi_hash_more(hash, at, strlen(at) + 1);
	hash = hi_hash_more(hash, root->detail, strnlen(root->detail, MOST_DETAIL));
	return hi_hash_more(hash, what, sizeof(what)) >> 1; /* no key of a table is ~0 */
}

static uint64_t differing_keys(const struct hi_paths_way *a, const struct hi_paths_way *b)
{
	const char *at = first_key_at(a), *other = first_key_at(b);
	uint64_t differs = 0;
	struct key x, y;

	for (unsigned i = 0; i < MOST_KEYS && next_key(at, &x) && next_key(other, &y);
	     i++) {
		size_t n = (size_t)(x.end - x.start);

		if (n != (size_t)(y.end - y.start) || memcmp(x.start, y.start, n) != 0)
			differs |= 1ull << i;
		at = x.end;
		other = y.end;
	}
	return differs;
}

static const char *write_pattern(const struct hi_paths_way *way, uint64_t differs,
				 struct hi_arena *arena)
{
	size_t length = strlen(way->text), used = 0;
	/* "[*]" is not longer than what it stands for, but for an empty key. */
	char *out = hi_arena_alloc(arena, length + 3 * MOST_KEYS + 1);
	const char *at = way->text, *from = first_key_at(way);
	struct key key;

	if (!out || !differs)
		return way->text;
	for (unsigned i = 0; i < MOST_KEYS && next_key(from, &key); i++) {
		from = key.end;
		if (!(differs >> i & 1))
			continue;
		memcpy(out + used, at, (size_t)(key.start - at));
		used += (size_t)(key.start - at);
		used = (size_t)(stpcpy(out + used, *key.start == '0' ? "*" : "[*]") -
				out);
		at = key.end;
	}
	strcpy(out + used, at);
	return out;
}

struct merging {
	struct hi_paths_way *ways;
	struct group *groups; /* of the ways that stay */
	size_t n;
	struct hi_table by_shape, by_text;
};

static bool merge_way(struct merging *m, const struct hi_paths_way *way)
{
	uint64_t target = way->nodes[way->n_steps - 1];
	uint64_t shape = hash_of_shape(way), known;
	/* Elements of a list have one text. */
	uint64_t text =
		hi_hash_more(hi_hash_key(way->text) ^ shape, &target, sizeof(target));

	text &= INT64_MAX;
	if (hi_table_get(&m->by_text, text, &known))
		return true;
	if (!hi_table_put(&m->by_text, text, 1))
		return false;
	if (hi_table_get(&m->by_shape, shape, &known)) {
		m->ways[known].n_alike++;
		m->groups[known].differs |= differing_keys(&m->ways[known], way);
		return true;
	}
	m->ways[m->n] = *way;
	m->ways[m->n].n_alike = 1;
	return hi_table_put(&m->by_shape, shape, m->n++);
}

enum hi_status hi_paths_merge(struct hi_paths_way *ways, size_t *n,
			      struct hi_arena *arena, struct hi_error *err)
{
	HI_GUARD(free) struct group *groups = hi_calloc(*n + 1, sizeof(*groups));
	struct merging m = {.ways = ways, .groups = groups};
	bool ok = groups != NULL;

	for (size_t i = 0; ok && i < *n; i++)
		ok = merge_way(&m, &ways[i]);
	for (size_t i = 0; ok && i < m.n; i++)
		ways[i].pattern = write_pattern(&ways[i], groups[i].differs, arena);
	hi_table_free(&m.by_shape);
	hi_table_free(&m.by_text);
	if (!ok)
		return hi_fail_memory(err, "ways");
	*n = m.n;
	return HI_OK;
}
