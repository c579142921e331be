/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects by the text of a path, as `paths` and pages print it:
 * `shop::sessions["token-1"]->cart`, `__main__["HUB"]`, `module app.CACHE["k"]`.
 */
#ifndef HI_SESSION_NAMED_OBJECT_H
#define HI_SESSION_NAMED_OBJECT_H

#include "session/inspection.h"

/* Is it such a text, and no C expression: has it a key in quotes, an element without a
 * number, or the name of a runtime's root? */
bool hi_named_object_is_path(const char *text);
/*
 * Finds the node by the names of edges, from all roots; the fewest edges first. "module "
 * may be left out. HI_NOT_FOUND: no path has this text; the message has the longest part
 * of it that leads somewhere. HI_NO_MEMORY.
 */
enum hi_status hi_named_object_find(struct hi_inspection *in, const char *text,
				    hi_node *ret, struct hi_error *err);

#endif
