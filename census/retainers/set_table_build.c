/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From refs to numbers. Numbers go to new sets in the order of the rows, which
 * is one of content (cost, size, members), so that they do not depend on the
 * order in which sets were made.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"
#include "census/retainers/set_flow_state_internal.h"
#include "census/retainers/set_table_internal.h"

void hi_set_table_free(struct hi_set_table *table)
{
	hi_pages_free(table->set, (size_t)table->n_objects * sizeof(*table->set));
	free(table->rows);
	*table = (struct hi_set_table){};
}

/* ---- rows by ref ---- */

struct row {
	struct hi_set_row row; /* .set is a ref until the end */
	uint64_t members;      /* a hash of them, or up to two in their order */
};
struct count {
	const struct hi_set_flow *flow;
	const struct hi_reach *reach;
	hi_pure_fn *pure;
	void *arg;
	uint32_t *index; /* by ref: of its row + 1; at the end its number */
	struct HI_VECTOR(struct row) rows;
};

static struct row *new_row(struct count *c, uint32_t ref)
{
	struct row row = {.row.set = ref};

	row.row.size = c->flow->pool->nodes.items[ref].count;
	if (!hi_vector_push(&c->rows, row))
		return NULL;
	c->index[ref] = (uint32_t)c->rows.count;
	return &c->rows.items[c->rows.count - 1];
}

/* If sets are many, their rows are no more in the cache than the objects were. */
HI_INLINE void prefetch_row(const struct count *c, hi_node object)
{
	enum { AHEAD = 12, FEW_ROWS = 1024 };
	const struct hi_set_flow *f = c->flow;
	uint32_t row;

	if (c->rows.count < FEW_ROWS || f->graph->n_objects - object <= 2 * AHEAD)
		return;
	__builtin_prefetch(&c->index[f->column[object + 2 * AHEAD]]);
	row = c->index[f->column[object + AHEAD]];
	if (row) {
		__builtin_prefetch(&c->rows.items[row - 1], 1);
		__builtin_prefetch((char *)&c->rows.items[row] - 1, 1);
	}
}

static bool count_set_rows(struct count *c)
{
	const struct hi_set_flow *f = c->flow;
	struct row *row;

	for (hi_node i = 0; i < f->graph->n_objects; i++) {
		uint32_t ref = f->column[i];

		prefetch_row(c, i);
		if (!ref)
			continue;
		if (hi_is_internal(f->graph, i)) {
			f->column[i] = HI_SET_NONE;
			continue;
		}
		row = c->index[ref] ? &c->rows.items[c->index[ref] - 1] : new_row(c, ref);
		if (!row)
			return false;
		hi_set_row_add(&row->row, f->graph, c->reach, c->pure, c->arg, i);
	}
	return true;
}

/* ---- their order ---- */

static uint64_t mix_set_hash(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 32) * 0xd1342543de82ef95;
	return x ^ x >> 29;
}

/* Sums over members do not depend on their order. Children come first. */
static void hash_members(const struct hi_set_pool *p, uint64_t *hashes)
{
	for (size_t ref = HI_SET_FIRST; ref < p->nodes.count; ref++) {
		const struct hi_set_node *n = &p->nodes.items[ref];

		if (!(n->key & 1)) {
			hashes[ref] = hashes[n->child[0]] + hashes[n->child[1]];
			continue;
		}
		for (uint64_t bits = n->bits; bits; bits &= bits - 1)
			hashes[ref] += mix_set_hash(
				p->identities.items[(uint64_t)(n->key / 2) * 64 +
						    (unsigned)__builtin_ctzll(bits)]);
	}
}

static void set_members(const struct hi_set_pool *p, const uint64_t *hashes,
			struct row *row)
{
	uint32_t two[2] = {};

	row->members = hashes[row->row.set];
	if (row->row.size == 0 || row->row.size > 2)
		return;
	hi_set_list(p, row->row.set, two);
	row->members = two[1] && two[1] < two[0] ? (uint64_t)two[1] << 32 | two[0]
						 : (uint64_t)two[0] << 32 | two[1];
}

static int compare_set_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->row.cost != y->row.cost)
		return x->row.cost > y->row.cost ? -1 : 1;
	if (x->row.size != y->row.size)
		return x->row.size < y->row.size ? -1 : 1;
	return (x->members > y->members) - (x->members < y->members);
}

static bool sort_counted_rows(struct count *c)
{
	const struct hi_set_pool *p = c->flow->pool;
	size_t size = p->nodes.count * sizeof(uint64_t);
	uint64_t *hashes = hi_pages_alloc(size);

	if (!hashes)
		return false;
	hash_members(p, hashes);
	for (size_t i = 0; i < c->rows.count; i++)
		set_members(p, hashes, &c->rows.items[i]);
	hi_pages_free(hashes, size);
	if (c->rows.count)
		qsort(c->rows.items, c->rows.count, sizeof(struct row), compare_set_rows);
	return true;
}

/* ---- numbers ---- */

static bool number_rows(struct count *c)
{
	size_t n = c->rows.count;
	HI_GUARD(free) uint32_t *refs = hi_alloc(n * sizeof(*refs));

	if (!refs)
		return false;
	for (size_t i = 0; i < n; i++)
		refs[i] = c->rows.items[i].row.set;
	if (!hi_set_pool_number(c->flow->pool, refs, n))
		return false;
	for (size_t i = 0; i < n; i++)
		c->index[refs[i]] = c->rows.items[i].row.set =
			hi_set_number(c->flow->pool, refs[i]);
	for (hi_node i = 0; i < c->flow->graph->n_objects; i++)
		c->flow->column[i] = c->index[c->flow->column[i]];
	return true;
}

/* The column becomes the table's. */
static bool give_table(struct count *c, struct hi_set_flow *flow,
		       struct hi_set_table *ret)
{
	struct hi_set_table t = {.n_objects = flow->graph->n_objects,
				 .n_rows = c->rows.count};

	t.rows = hi_alloc(t.n_rows * sizeof(*t.rows));
	if (!t.rows)
		return false;
	for (size_t i = 0; i < t.n_rows; i++) {
		t.rows[i] = c->rows.items[i].row;
		t.objects += t.rows[i].objects;
		t.cost += t.rows[i].cost;
		t.cost_pure += t.rows[i].cost_pure;
	}
	t.set = hi_take(flow->column);
	*ret = t;
	return true;
}

enum hi_status hi_set_table_make(struct hi_set_flow *flow, const struct hi_reach *reach,
				 hi_pure_fn *pure, void *arg, struct hi_set_table *ret,
				 struct hi_error *err)
{
	struct count c = {.flow = flow, .reach = reach, .pure = pure, .arg = arg};
	size_t index_size = flow->pool->nodes.count * sizeof(*c.index);
	bool ok;

	c.index = hi_pages_alloc(index_size);
	ok = c.index && count_set_rows(&c) && sort_counted_rows(&c) && number_rows(&c) &&
	     hi_set_pool_trim(flow->pool) && give_table(&c, flow, ret);
	hi_pages_free(c.index, index_size);
	hi_vector_free(&c.rows);
	return ok ? HI_OK : hi_fail_memory(err, "costs of sets");
}

/* ---- choices ---- */

static bool is_chosen(const struct hi_set_pool *pool, const struct hi_set_row *row,
		      enum hi_set_choice choice, const uint32_t *identities, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += hi_set_has(pool, row->set, identities[i]);
	if (row->set == HI_SET_MANY)
		return false;
	if (choice == HI_SETS_ANY)
		return found > 0;
	return found == (choice == HI_SETS_ALL ? n : row->size);
}

/* Bit per row. A member that is given twice counts once. */
static uint64_t *choose_set_rows(const struct hi_set_table *t,
				 const struct hi_set_pool *pool,
				 enum hi_set_choice choice, const uint32_t *identities,
				 size_t n)
{
	HI_GUARD(free) uint32_t *distinct = hi_alloc(n * sizeof(*distinct));
	uint64_t *rows = hi_calloc(t->n_rows / 64 + 1, sizeof(*rows));
	size_t count = 0;

	if (!distinct || !rows) {
		free(rows);
		return NULL;
	}
	for (size_t i = 0, k; i < n; i++) {
		for (k = 0; k < count && distinct[k] != identities[i]; k++)
			;
		if (k == count)
			distinct[count++] = identities[i];
	}
	for (size_t i = 0; i < t->n_rows; i++)
		if (is_chosen(pool, &t->rows[i], choice, distinct, count))
			rows[i / 64] |= 1ull << i % 64;
	return rows;
}

static void add_set_row(struct hi_set_total *sum, const struct hi_set_row *row)
{
	sum->objects += row->objects;
	sum->cost += row->cost;
	sum->cost_pure += row->cost_pure;
}

enum hi_status hi_set_table_total(const struct hi_set_table *t,
				  const struct hi_set_pool *pool,
				  enum hi_set_choice choice, const uint32_t *identities,
				  size_t n, struct hi_set_total *ret,
				  struct hi_set_total *many_ret, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *chosen = choose_set_rows(t, pool, choice, identities, n);
	struct hi_set_total sum = {}, many = {};

	if (!chosen)
		return hi_fail_memory(err, "a choice of sets");
	for (size_t i = 0; i < t->n_rows; i++) {
		if (t->rows[i].set == HI_SET_MANY)
			add_set_row(&many, &t->rows[i]);
		else if (chosen[i / 64] >> i % 64 & 1)
			add_set_row(&sum, &t->rows[i]);
	}
	*ret = sum;
	if (many_ret)
		*many_ret = many;
	return HI_OK;
}

enum hi_status hi_set_table_mark(const struct hi_set_table *t,
				 const struct hi_set_pool *pool,
				 enum hi_set_choice choice, const uint32_t *identities,
				 size_t n, uint64_t *bits, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *chosen = choose_set_rows(t, pool, choice, identities, n);
	HI_GUARD(free) bool *by_set = hi_calloc(hi_set_pool_end(pool), sizeof(*by_set));

	if (!chosen || !by_set)
		return hi_fail_memory(err, "a choice of sets");
	for (size_t i = 0; i < t->n_rows; i++)
		by_set[t->rows[i].set] = chosen[i / 64] >> i % 64 & 1;
	for (hi_node i = 0; i < t->n_objects; i++)
		if (by_set[t->set[i]])
			bits[i >> 6] |= 1ull << (i & 63);
	return HI_OK;
}
