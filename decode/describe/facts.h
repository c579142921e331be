/* SPDX-License-Identifier: BSD-2-Clause */
/* What a runtime knows of one of its objects beside the type. */
#ifndef HI_DECODE_DESCRIBE_FACTS_H
#define HI_DECODE_DESCRIBE_FACTS_H

#include "decode/inference/typing.h"

/* Reads many of them; NULL: there is no runtime that knows anything, or no memory. */
struct hi_facts;
struct hi_facts *hi_facts_open(struct hi_typing *typing, const struct hi_graph *graph);
void hi_facts_close(struct hi_facts *facts);

/* False: nothing is known of the object, or facts is NULL. */
bool hi_facts_read(struct hi_facts *facts, hi_node node, struct hi_runtime_facts *ret);

#endif
