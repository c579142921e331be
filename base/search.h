/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binary search in anything that has an index and an order.
 *
 *	size_t n = hi_search(i, list->count, list->items[i].end <= addr);
 *
 * is the index of the first item that ends above addr, list->count if there is none.
 *
 * `before` is an expression over i. It holds for the first items, in ascending order of
 * i, and for none behind them; it is evaluated O(log count) times. Whatever it holds
 * for, the result is within [0, count]: an order that a target broke gives a wrong
 * index, never one out of range.
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

#endif
