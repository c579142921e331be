/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Search in anything that has an index: binary search, and search in hash tables.
 *
 *	size_t n = hi_search(i, list->count, list->items[i].end <= addr);
 *
 * is the index of the first item that ends above addr, list->count if there is none.
 *
 * `before` is an expression over i. It holds for the first items, in ascending order of
 * i, and for none after them; it is evaluated O(log count) times. Whatever it holds for,
 * the result is within [0, count]: an order that a target broke gives a wrong index,
 * never one out of range.
 */
#ifndef HI_BASE_SEARCH_H
#define HI_BASE_SEARCH_H

/* The first i of [from, to) for which `before` does not hold, or `to`. */
#define hi_search_from(i, from, to, before)                                              \
	({                                                                               \
		typeof((to) + 0) search_low_ = (from), search_high_ = (to);              \
                                                                                         \
		while (search_low_ < search_high_) {                                     \
			const typeof((to) + 0) i =                                       \
				search_low_ + (search_high_ - search_low_) / 2;          \
                                                                                         \
			if (before)                                                      \
				search_low_ = i + 1;                                     \
			else                                                             \
				search_high_ = i;                                        \
		}                                                                        \
		search_low_;                                                             \
	})

/* The first i of [0, count) for which `before` does not hold, or count. */
#define hi_search(i, count, before) hi_search_from(i, 0, count, before)

/*
 * Open addressing with linear steps, for tables whose slots their owner lays out:
 *
 *	i = hi_probe(i, table->n, hash(key), !slots[i].used || slots[i].key == key);
 *
 * is the slot that has the key, or the empty one where it belongs. n is a power of two
 * and at least one slot is empty; `found` is an expression over i.
 */
#define hi_probe(i, n, hash, found)                                                      \
	({                                                                               \
		const typeof((n) + 0) probe_mask_ = (n)-1;                               \
		typeof((n) + 0) i = (typeof((n) + 0))(hash)&probe_mask_;                 \
                                                                                         \
		while (!(found))                                                         \
			i = (i + 1) & probe_mask_;                                       \
		i;                                                                       \
	})

#endif
