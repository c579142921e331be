/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of processes and cores as sources (session/source.h), each beside its
 * functions. */
#ifndef HI_SESSION_LIVE_LIVE_SOURCE_H
#define HI_SESSION_LIVE_LIVE_SOURCE_H

#include "session/source.h"

extern const struct hi_result_ops hi_live_results;
extern const struct hi_content_ops hi_live_contents;
extern const struct hi_text_ops hi_live_texts;
extern const struct hi_retainer_ops hi_live_retainers;

#endif
