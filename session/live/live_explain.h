/* SPDX-License-Identifier: BSD-2-Clause */
/* The reason for the type of an object of an image, and the facts that its runtime
 * has. */
#ifndef HI_SESSION_LIVE_LIVE_EXPLAIN_H
#define HI_SESSION_LIVE_LIVE_EXPLAIN_H

#include "session/inspection.h"

/* hi_source_ops.explain_object and explain_likely of processes and cores. */
enum hi_status hi_live_explain_object(struct hi_inspection *in, hi_node object,
				      struct hi_explain_report *report,
				      struct hi_error *err);
/* Returns the word that makes a leak only likely, as text; "" unknown. Borrowed. */
const char *hi_live_explain_likely(struct hi_inspection *in, hi_node object);

#endif
