/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a type: the types of the values that an object of it contains beside
 * the bookkeeping of a library. "std::_List_node<shop::Session>" is a node around a
 * shop::Session, "std::_Rb_tree_node<std::pair<const int, shop::Order> >" one around a
 * pair, an int and a shop::Order, "shop::Item [16]" 16 items. It is read off the name
 * alone: of nodes of containers, blocks of shared pointers, arrays, pairs, tuples and
 * optional values. A pointer is no payload, nor what it leads to.
 *
 * Names are hostile: a name that is unbalanced, nested too deeply or too long has none.
 */
#ifndef HI_CENSUS_GRAPH_TYPE_PAYLOAD_H
#define HI_CENSUS_GRAPH_TYPE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

enum { HI_PAYLOADS_MAX = 16 };

/* A part of the name that was asked for. */
struct hi_payload {
	const char *name; /* no terminating zero; without const around it */
	size_t length;	  /* > 0 */
	uint64_t count;	  /* values of it in one object; >= 1 */
};

/* Fills in the payloads of a type by its full name (NULL counts as ""), the outer ones
 * first, and returns their number: 0 for most types. Further ones than HI_PAYLOADS_MAX
 * are left out. */
size_t hi_type_payloads(const char *name, struct hi_payload ret[HI_PAYLOADS_MAX]);

#endif
