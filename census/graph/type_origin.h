/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a type is the program's own, by its name and module, or one of a library that
 * comes with the language (libc, the C++ library, CPython and Python's standard library).
 */
#ifndef HI_CENSUS_GRAPH_TYPE_ORIGIN_H
#define HI_CENSUS_GRAPH_TYPE_ORIGIN_H

#include "census/graph/graph.h"

/* Is it a record that the program, or a library that does not come with the language,
 * defines? */
bool hi_type_is_own(const struct hi_type_name *type);
/* Is it one, or a record around one: a node of a container, the block of a shared pointer
 * (type_payload.h)? */
bool hi_type_has_own_payload(const struct hi_type_name *type);

#endif
