/* SPDX-License-Identifier: BSD-2-Clause */
/* The place where a suspect's memory accumulates, as an expression:
 * "server.db->buckets". */
#ifndef HI_SESSION_SUSPECT_TEXT_H
#define HI_SESSION_SUSPECT_TEXT_H

#include "session/inspection.h"

/* The path to what holds the elements, with the field that leads to them and without
 * their indices; "" unknown. Lives in the inspection's arena. Never NULL. Hostile. */
const char *hi_suspect_text(struct hi_inspection *in, const struct hi_suspect *suspect);

#endif
