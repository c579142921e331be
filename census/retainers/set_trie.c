/* SPDX-License-Identifier: BSD-2-Clause */
/* Note [Sets as tries] in set_pool_internal.h. */
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "census/retainers/set_pool_internal.h"

/* Keys have 27 bits: at most that many branches are on a path down. */
enum { MAX_DEPTH = 32, FIRST_SLOTS = 1 << 10, FIRST_MEMO = 1 << 10, MAX_MEMO = 1 << 20 };

static uint32_t lowest_bit(uint32_t key)
{
	return key & -key;
}

static bool is_leaf(const struct hi_set_node *n)
{
	return n->key & 1;
}

/* ---- nodes ---- */

static size_t hash_set_node(uint32_t key, uint64_t payload)
{
	uint64_t h = (payload + key) * 0x9e3779b97f4a7c15;

	h = (h ^ h >> 32 ^ key) * 0xd1342543de82ef95;
	return (size_t)(h >> 32);
}

static void slot_put(struct hi_set_pool *p, uint32_t ref)
{
	const struct hi_set_node *n = &p->nodes.items[ref];

	p->slots[hi_probe(i, p->n_slots, hash_set_node(n->key, n->bits), !p->slots[i])] =
		ref;
}

static bool slots_resize(struct hi_set_pool *p, size_t n_slots)
{
	uint32_t *slots = hi_calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	free(p->slots);
	p->slots = slots;
	p->n_slots = n_slots;
	for (uint32_t ref = HI_SET_FIRST; ref < p->nodes.count; ref++)
		slot_put(p, ref);
	return true;
}

/* The node with this content, which there may be already. */
static uint32_t node_of(struct hi_set_pool *p, struct hi_set_node node)
{
	size_t i = hash_set_node(node.key, node.bits) & (p->n_slots - 1);
	uint32_t ref;

	for (; (ref = p->slots[i]) != 0; i = (i + 1) & (p->n_slots - 1))
		if (p->nodes.items[ref].key == node.key &&
		    p->nodes.items[ref].bits == node.bits)
			return ref;
	if (p->nodes.count > HI_SET_REF_MAX || !hi_vector_push(&p->nodes, node))
		return HI_SET_NONE;
	ref = (uint32_t)p->nodes.count - 1;
	if (2 * p->nodes.count < p->n_slots) {
		p->slots[i] = ref;
		return ref;
	}
	if (slots_resize(p, 2 * p->n_slots))
		return ref;
	p->nodes.count--;
	return HI_SET_NONE;
}

uint32_t hi_set_leaf(struct hi_set_pool *p, uint32_t key, uint64_t bits)
{
	return node_of(p,
		       (struct hi_set_node){.key = key,
					    .count = (uint32_t)__builtin_popcountll(bits),
					    .bits = bits});
}

static uint32_t make_set_branch(struct hi_set_pool *p, uint32_t key, uint32_t left,
				uint32_t right)
{
	return node_of(p, (struct hi_set_node){.key = key,
					       .count = p->nodes.items[left].count +
							p->nodes.items[right].count,
					       .child = {left, right}});
}

uint32_t hi_set_branch_above(struct hi_set_pool *p, uint32_t a, uint32_t b)
{
	uint32_t ka = p->nodes.items[a].key, kb = p->nodes.items[b].key;
	uint32_t m = 1u << (31 - __builtin_clz(ka ^ kb));

	return make_set_branch(p, (ka & ~(2 * m - 1)) | m, ka < kb ? a : b,
			       ka < kb ? b : a);
}

/* ---- union ---- */

static bool memo_grow(struct hi_set_pool *p)
{
	size_t n = p->n_memo ? 2 * p->n_memo : FIRST_MEMO;
	struct hi_set_memo *memo = hi_calloc(n, sizeof(*memo)), *old = p->memo;
	size_t n_old = p->n_memo;

	if (!memo)
		return false;
	p->memo = memo;
	p->n_memo = n;
	p->memo_misses = 0;
	for (size_t i = 0; i < n_old; i++)
		if (old[i].a)
			memo[hi_set_memo_index(p, old[i].a, old[i].b)] = old[i];
	free(old);
	return true;
}

static bool remember_union(struct hi_set_pool *p, uint32_t a, uint32_t b, uint32_t result)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;

	if (++p->memo_misses > p->n_memo && p->n_memo < MAX_MEMO && !memo_grow(p))
		return false;
	p->memo[hi_set_memo_index(p, low, high)] =
		(struct hi_set_memo){low, high, result};
	return true;
}

/* A union that waits for one of its children. */
struct step {
	uint32_t a, b; /* a is the host: the result has its key */
	uint32_t left; /* of the result, once it is known; else HI_SET_NONE */
	enum { ONLY_LEFT, ONLY_RIGHT, BOTH } side;
};

/* The union of two nodes, or HI_SET_NONE and the step to be done first. */
static uint32_t unite_here(struct hi_set_pool *p, uint32_t a, uint32_t b,
			   struct step *step, bool *failed)
{
	const struct hi_set_node *x = &p->nodes.items[a], *y = &p->nodes.items[b];
	uint32_t mx = lowest_bit(x->key), my = lowest_bit(y->key), ret;

	if (a == b)
		return a;
	if (x->key == y->key && !is_leaf(x)) {
		*step = (struct step){a, b, HI_SET_NONE, BOTH};
		return HI_SET_NONE;
	}
	if (x->key == y->key)
		ret = hi_set_leaf(p, x->key, x->bits | y->bits);
	else if ((x->key ^ y->key) >= 2 * (mx > my ? mx : my))
		ret = hi_set_branch_above(p, a, b);
	else {
		*step = mx > my ? (struct step){.a = a, .b = b}
				: (struct step){.a = b, .b = a};
		step->side = (x->key < y->key) == (mx > my) ? ONLY_RIGHT : ONLY_LEFT;
		return HI_SET_NONE;
	}
	*failed |= !ret;
	return ret;
}

/* The result of a step whose last child is r. */
static uint32_t step_end(struct hi_set_pool *p, const struct step *s, uint32_t r)
{
	const struct hi_set_node *a = &p->nodes.items[s->a];
	uint32_t left = s->left, right = r;

	if (s->side == ONLY_LEFT) {
		left = r;
		right = a->child[1];
	} else if (s->side == ONLY_RIGHT) {
		left = a->child[0];
	}
	if (left == a->child[0] && right == a->child[1])
		return s->a;
	return make_set_branch(p, a->key, left, right);
}

/* The pair that a step has to unite now. */
static void step_pair(const struct hi_set_pool *p, const struct step *s, uint32_t *a,
		      uint32_t *b)
{
	bool right = s->side == ONLY_RIGHT || s->left;

	*a = p->nodes.items[s->a].child[right];
	*b = s->side == BOTH ? p->nodes.items[s->b].child[right] : s->b;
}

static uint32_t memo_get(const struct hi_set_pool *p, uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;
	const struct hi_set_memo *m = &p->memo[hi_set_memo_index(p, low, high)];

	return m->a == low && m->b == high ? m->result : HI_SET_NONE;
}

uint32_t hi_set_unite(struct hi_set_pool *p, uint32_t a, uint32_t b)
{
	struct step path[MAX_DEPTH];
	unsigned depth = 0;
	uint32_t first_a = a, first_b = b, r;
	bool failed = false;

	for (;;) {
		r = memo_get(p, a, b);
		if (!r)
			r = unite_here(p, a, b, &path[depth], &failed);
		if (failed)
			return HI_SET_NONE;
		if (!r) {
			step_pair(p, &path[depth++], &a, &b);
			continue;
		}
		for (; depth; depth--) {
			struct step *s = &path[depth - 1];

			if (s->side == BOTH && !s->left) {
				s->left = r;
				step_pair(p, s, &a, &b);
				break;
			}
			r = step_end(p, s, r);
			if (!r || (depth > 1 && !remember_union(p, s->a, s->b, r)))
				return HI_SET_NONE;
		}
		if (!depth)
			return remember_union(p, first_a, first_b, r) ? r : HI_SET_NONE;
	}
}

/* ---- identities and members ---- */

uint32_t hi_set_singleton(struct hi_set_pool *p, uint32_t identity)
{
	uint64_t index = p->identities.count;

	if (!hi_table_get(&p->indices, identity, &index)) {
		if (!hi_vector_push(&p->identities, identity))
			return HI_SET_NONE;
		if (!hi_table_put(&p->indices, identity, index)) {
			p->identities.count--;
			return HI_SET_NONE;
		}
	}
	return hi_set_leaf(p, (uint32_t)(index / 64) * 2 + 1, 1ull << index % 64);
}

bool hi_set_ref_has(const struct hi_set_pool *p, uint32_t ref, uint32_t index)
{
	const struct hi_set_node *n = &p->nodes.items[ref];
	uint32_t key = index / 64 * 2 + 1;

	while (!is_leaf(n))
		n = &p->nodes.items[n->child[key > n->key]];
	return n->key == key && n->bits >> index % 64 & 1;
}

static uint32_t list_leaf(const struct hi_set_pool *p, const struct hi_set_node *n,
			  uint32_t *ret)
{
	uint32_t count = 0;

	for (uint64_t bits = n->bits; bits; bits &= bits - 1)
		ret[count++] = p->identities.items[(uint64_t)(n->key / 2) * 64 +
						   (unsigned)__builtin_ctzll(bits)];
	return count;
}

uint32_t hi_set_list(const struct hi_set_pool *p, uint32_t ref, uint32_t *ret)
{
	uint32_t stack[MAX_DEPTH], count = 0;
	unsigned depth = 0;

	stack[depth++] = ref;
	while (depth) {
		const struct hi_set_node *n = &p->nodes.items[stack[--depth]];

		if (is_leaf(n)) {
			count += list_leaf(p, n, ret + count);
			continue;
		}
		stack[depth++] = n->child[1];
		stack[depth++] = n->child[0];
	}
	return count;
}

/* ---- numbers ---- */

static uint32_t ref_of_set(const struct hi_set_pool *p, uint32_t set)
{
	return set < p->refs.count ? p->refs.items[set] : HI_SET_NONE;
}

uint32_t hi_set_number(const struct hi_set_pool *p, uint32_t ref)
{
	uint64_t number = HI_SET_NONE;

	if (ref == HI_SET_MANY)
		return HI_SET_MANY;
	(void)hi_table_get(&p->numbers, ref, &number);
	return (uint32_t)number;
}

bool hi_set_pool_number(struct hi_set_pool *p, const uint32_t *refs, size_t n)
{
	if (!hi_vector_reserve(&p->refs, p->refs.count + n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (hi_set_number(p, refs[i]))
			continue;
		if (!hi_table_put(&p->numbers, refs[i], p->refs.count))
			return false;
		p->refs.items[p->refs.count++] = refs[i];
	}
	return true;
}

/* New refs of the nodes that stay; the others 0. Children have lower refs. */
static uint32_t mark_kept(const struct hi_set_pool *p, uint32_t *map)
{
	uint32_t next = HI_SET_FIRST;

	for (size_t i = HI_SET_FIRST; i < p->refs.count; i++)
		map[p->refs.items[i]] = 1;
	for (size_t ref = p->nodes.count; ref-- > HI_SET_FIRST;) {
		const struct hi_set_node *n = &p->nodes.items[ref];

		if (map[ref] && !is_leaf(n))
			map[n->child[0]] = map[n->child[1]] = 1;
	}
	for (size_t ref = HI_SET_FIRST; ref < p->nodes.count; ref++)
		if (map[ref])
			map[ref] = next++;
	return next;
}

static void move_kept(struct hi_set_pool *p, const uint32_t *map)
{
	for (size_t ref = HI_SET_FIRST; ref < p->nodes.count; ref++) {
		struct hi_set_node n = p->nodes.items[ref];

		if (!map[ref])
			continue;
		if (!is_leaf(&n)) {
			n.child[0] = map[n.child[0]];
			n.child[1] = map[n.child[1]];
		}
		p->nodes.items[map[ref]] = n;
	}
	for (size_t i = HI_SET_FIRST; i < p->refs.count; i++)
		p->refs.items[i] = map[p->refs.items[i]];
}

bool hi_set_pool_trim(struct hi_set_pool *p)
{
	HI_GUARD(free) uint32_t *map = hi_calloc(p->nodes.count, sizeof(*map));
	HI_GUARD(free)
	struct hi_set_memo *memo = hi_calloc(FIRST_MEMO, sizeof(*memo));
	HI_GUARD(free) uint32_t *slots = NULL;
	struct hi_table numbers = {};
	size_t n_slots = FIRST_SLOTS;
	uint32_t kept;
	bool ok = map && memo;

	if (!ok)
		return false;
	kept = mark_kept(p, map);
	while (n_slots <= 2 * (size_t)kept)
		n_slots *= 2;
	slots = hi_calloc(n_slots, sizeof(*slots));
	for (size_t i = HI_SET_FIRST; ok && i < p->refs.count; i++)
		ok = hi_table_put(&numbers, map[p->refs.items[i]], i);
	if (!ok || !slots) {
		hi_table_free(&numbers);
		return false;
	}
	move_kept(p, map);
	p->nodes.count = kept;
	hi_table_free(&p->numbers);
	p->numbers = numbers;
	free(p->slots);
	p->slots = hi_take(slots);
	p->n_slots = n_slots;
	for (uint32_t ref = HI_SET_FIRST; ref < kept; ref++)
		slot_put(p, ref);
	free(p->memo);
	p->memo = hi_take(memo);
	p->n_memo = FIRST_MEMO;
	p->memo_misses = 0;
	return true;
}

/* ---- set_pool.h ---- */

enum hi_status hi_set_pool_create(struct hi_set_pool **ret, struct hi_error *err)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *p = hi_calloc(1, sizeof(*p));
	struct hi_set_node none = {};

	if (!p || !hi_vector_push(&p->nodes, none) || !hi_vector_push(&p->nodes, none) ||
	    !hi_vector_push(&p->refs, HI_SET_NONE) ||
	    !hi_vector_push(&p->refs, HI_SET_NONE) || !slots_resize(p, FIRST_SLOTS) ||
	    !memo_grow(p))
		return hi_fail_memory(err, "a pool of sets");
	*ret = hi_take(p);
	return HI_OK;
}

void hi_set_pool_destroy(struct hi_set_pool *p)
{
	if (!p)
		return;
	hi_vector_free(&p->nodes);
	hi_vector_free(&p->identities);
	hi_vector_free(&p->refs);
	hi_table_free(&p->indices);
	hi_table_free(&p->numbers);
	free(p->slots);
	free(p->memo);
	free(p);
}

uint32_t hi_set_pool_end(const struct hi_set_pool *p)
{
	return (uint32_t)p->refs.count;
}

size_t hi_set_pool_bytes(const struct hi_set_pool *p)
{
	return sizeof(*p) + p->nodes.capacity * sizeof(*p->nodes.items) +
	       p->n_slots * sizeof(*p->slots) + p->n_memo * sizeof(*p->memo) +
	       (p->identities.capacity + p->refs.capacity) * sizeof(uint32_t) +
	       (p->indices.capacity + p->numbers.capacity) * sizeof(struct hi_table_slot);
}

uint32_t hi_set_size(const struct hi_set_pool *p, uint32_t set)
{
	return p->nodes.items[ref_of_set(p, set)].count;
}

void hi_set_members(const struct hi_set_pool *p, uint32_t set, uint32_t *ret)
{
	uint32_t ref = ref_of_set(p, set);

	if (ref)
		qsort(ret, hi_set_list(p, ref, ret), sizeof(*ret), hi_compare_u32);
}

bool hi_set_has(const struct hi_set_pool *p, uint32_t set, uint32_t identity)
{
	uint32_t ref = ref_of_set(p, set);
	uint64_t index;

	return ref && hi_table_get(&p->indices, identity, &index) &&
	       hi_set_ref_has(p, ref, (uint32_t)index);
}

static bool has_all_identities(const struct hi_set_pool *p, uint32_t set,
			       const uint32_t *identities, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!hi_set_has(p, set, identities[i]))
			return false;
	return true;
}

uint32_t hi_set_find(const struct hi_set_pool *p, const uint32_t *identities, size_t n)
{
	for (uint32_t set = HI_SET_FIRST; set < p->refs.count; set++)
		if (hi_set_size(p, set) == n && has_all_identities(p, set, identities, n))
			return set;
	return HI_SET_NONE;
}

struct label {
	char *out;
	size_t size, length;
};

static void label_add(struct label *l, const char *text)
{
	size_t n = strlen(text), room;

	if (l->length + 1 < l->size) {
		room = l->size - l->length - 1;
		memcpy(l->out + l->length, text, n < room ? n : room);
		l->out[l->length + (n < room ? n : room)] = '\0';
	}
	l->length += n;
}

size_t hi_set_label(const uint32_t *members, size_t n, const char *join,
		    hi_set_name_fn *name, void *arg, char *out, size_t out_size)
{
	struct label l = {out, out_size, 0};

	if (out_size)
		out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (i)
			label_add(&l, join);
		label_add(&l, name(arg, members[i]));
	}
	return l.length;
}
