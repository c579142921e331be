/* SPDX-License-Identifier: BSD-2-Clause */
/* The target of an inspection as an image: a process is stopped and runs on. */
#ifndef HI_CLI_FREEZE_H
#define HI_CLI_FREEZE_H

#include "cli/inspect.h"

/* Fills in->image, and of a process in->target, in->allocator_text and in->resumed. */
enum hi_status hi_freeze(struct hi_inspection *in, struct hi_error *err);
/* The pause is always said, and at once: what comes after it may take time. */
void hi_freeze_say(const struct hi_inspection *in);

#endif
