/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files that keep the table of threads. */
#ifndef HI_ATTACH_TRACEES_INTERNAL_H
#define HI_ATTACH_TRACEES_INTERNAL_H

#include "attach/tracees.h"

/* As SEEN, without a name, unless it is there already. HI_LIMIT. */
enum hi_status hi_tracees_add(struct hi_tracees *all, pid_t tid, struct hi_error *err);
/* RUNNING or DEAD afterwards; of a thread that is SEEN. */
enum hi_status hi_tracee_seize(struct hi_tracees *all, struct hi_tracee *tracee,
			       struct hi_error *err);

#endif
