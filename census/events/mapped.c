/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/mapped_internal.h"

#include "base/search.h"

static uint64_t end_of_mapped(const struct hi_live_allocation *m)
{
	return m->addr + m->size;
}

/* The first one that ends above addr. */
static size_t first_mapped_above(const struct hi_mapped_table *t, uint64_t addr)
{
	return hi_search(i, t->count, end_of_mapped(&t->items[i]) <= addr);
}

/* Makes room for one more at i. */
static bool open_mapped_gap(struct hi_mapped_table *t, size_t i)
{
	if (!hi_vector_reserve(t, t->count + 1))
		return false;
	memmove(&t->items[i + 1], &t->items[i], (t->count - i) * sizeof(*t->items));
	t->count++;
	return true;
}

static void close_mapped_gap(struct hi_mapped_table *t, size_t first, size_t n)
{
	if (!n)
		return;
	memmove(&t->items[first], &t->items[first + n],
		(t->count - first - n) * sizeof(*t->items));
	t->count -= n;
}

static struct hi_live_allocation part_of_mapped(const struct hi_live_allocation *m,
						uint64_t start, uint64_t end)
{
	struct hi_live_allocation part = *m;

	part.addr = start > m->addr ? start : m->addr;
	end = end < end_of_mapped(m) ? end : end_of_mapped(m);
	part.size = (end - part.addr) & HI_LIVE_SIZE_MAX;
	return part;
}

/* Removes a range that lies inside of one, with a rest at both ends. */
static bool split_mapped(struct hi_mapped_table *t, size_t i,
			 const struct hi_live_allocation *part)
{
	struct hi_live_allocation *m;

	if (!open_mapped_gap(t, i))
		return false;
	m = &t->items[i];
	m[1] = part_of_mapped(&m[1], end_of_mapped(part), UINT64_MAX);
	m[0] = part_of_mapped(&m[0], 0, part->addr);
	return true;
}

bool hi_mapped_remove(struct hi_mapped_table *t, uint64_t start, uint64_t end,
		      hi_mapped_fn *part, void *arg)
{
	size_t i = first_mapped_above(t, start), first_gone = i, n_gone = 0;

	for (; i < t->count && t->items[i].addr < end; i++) {
		struct hi_live_allocation *m = &t->items[i];
		struct hi_live_allocation taken = part_of_mapped(m, start, end);
		bool has_front = m->addr<start, has_back = end_of_mapped(m)> end;

		if (has_front && has_back) {
			if (!split_mapped(t, i, &taken))
				return false;
			part(arg, &taken, 2);
			return true;
		}
		if (has_front) {
			*m = part_of_mapped(m, 0, start);
			first_gone = i + 1;
		} else if (has_back) {
			*m = part_of_mapped(m, end, UINT64_MAX);
		} else {
			n_gone++;
		}
		part(arg, &taken, has_front || has_back);
	}
	close_mapped_gap(t, first_gone, n_gone);
	return true;
}

bool hi_mapped_add(struct hi_mapped_table *t, const struct hi_live_allocation *live)
{
	size_t i = first_mapped_above(t, live->addr);

	if (!open_mapped_gap(t, i))
		return false;
	t->items[i] = *live;
	return true;
}

static bool are_of_one_mapping(const struct hi_live_allocation *a,
			       const struct hi_live_allocation *b)
{
	return end_of_mapped(a) == b->addr && a->time_ns == b->time_ns &&
	       a->context == b->context && a->tid == b->tid && a->source == b->source;
}

/* The one at i takes in the next one, if they are of one mapping. */
static bool join_next_mapped(struct hi_mapped_table *t, size_t i)
{
	struct hi_live_allocation *m = &t->items[i];

	if (i + 1 >= t->count || !are_of_one_mapping(m, m + 1))
		return false;
	m->size = (m->size + m[1].size) & HI_LIVE_SIZE_MAX;
	close_mapped_gap(t, i + 1, 1);
	return true;
}

bool hi_mapped_restore(struct hi_mapped_table *t, const struct hi_live_allocation *part,
		       unsigned *n_joined_ret)
{
	size_t i = first_mapped_above(t, part->addr);

	*n_joined_ret = 0;
	if (!hi_mapped_add(t, part))
		return false;
	*n_joined_ret += join_next_mapped(t, i);
	*n_joined_ret += i > 0 && join_next_mapped(t, i - 1);
	return true;
}
bool hi_mapped_is_valid(const struct hi_mapped_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (!t->items[i].size ||
		    (i && end_of_mapped(&t->items[i - 1]) > t->items[i].addr))
			return false;
	return true;
}
