/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array of any element type, zero-initialised to empty.
 *
 *	struct node_list HI_VECTOR(uint32_t) nodes = {};
 *	if (!hi_vector_push(&nodes, 7)) return hi_fail_memory(err, "nodes");
 *	for (size_t i = 0; i < nodes.count; i++) use(nodes.items[i]);
 *	hi_vector_free(&nodes);
 */
#ifndef HI_BASE_VECTOR_H
#define HI_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HI_VECTOR(type)                                                                  \
	{                                                                                \
		type *items;                                                             \
		size_t count;                                                            \
		size_t capacity;                                                         \
	}

/* Room for at least `need` elements; false (and unchanged) when out of memory. */
bool hi_vector_grow(void **items, size_t *capacity, size_t need, size_t item_size);

#define hi_vector_reserve(v, need)                                                       \
	((need) <= (v)->capacity || hi_vector_grow((void **)&(v)->items, &(v)->capacity, \
						   (need), sizeof(*(v)->items)))

/* The element is an expression (compound literals need parentheses). */
#define hi_vector_push(v, ...)                                                           \
	(hi_vector_reserve((v), (v)->count + 1)                                          \
		 ? ((v)->items[(v)->count++] = (__VA_ARGS__), true)                      \
		 : false)

/* Appends n elements of the vector's type; false (and unchanged) when out of memory. */
#define hi_vector_append(v, data, n)                                                     \
	(hi_vector_reserve((v), (v)->count + (n))                                        \
		 ? ((n) ? (void)memcpy((v)->items + (v)->count, (data),                  \
				       (n) * sizeof(*(v)->items))                        \
			: (void)0,                                                       \
		    (v)->count += (n), true)                                             \
		 : false)

#define hi_vector_free(v)                                                                \
	do {                                                                             \
		free((v)->items);                                                        \
		(v)->items = NULL;                                                       \
		(v)->count = (v)->capacity = 0;                                          \
	} while (0)

#endif
