/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiles the expressions of --root and --under for a process or a core. */
#ifndef HI_SESSION_LIVE_LIVE_ROOTS_H
#define HI_SESSION_LIVE_LIVE_ROOTS_H

#include "session/inspection.h"

/* Compiles them into in->profile.roots; needs the modules and types of the image.
 * HI_USAGE: one is wrong, which the user was told (session/user.h). */
enum hi_status hi_live_roots_open(struct hi_inspection *in, struct hi_error *err);
/* Compiles them before the target is stopped: a wrong name must not cost a pause. Errors
 * as of hi_live_roots_open(). */
enum hi_status hi_live_roots_check(struct hi_inspection *in, struct hi_error *err);

#endif
