/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of a runtime about an object beside its type. */
#ifndef HI_DECODE_DESCRIBE_RUNTIME_FACTS_H
#define HI_DECODE_DESCRIBE_RUNTIME_FACTS_H

#include "decode/inference/typing.h"

/* NULL: no runtime has facts, or out of memory. Free with hi_facts_close(). */
struct hi_facts;
struct hi_facts *hi_facts_open(struct hi_typing *typing, const struct hi_graph *graph);
void hi_facts_close(struct hi_facts *facts);

/* False: there are none for this object, or facts is NULL. */
bool hi_facts_read(struct hi_facts *facts, hi_node node, struct hi_runtime_facts *ret);

#endif
