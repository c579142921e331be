/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the expressions of --root before the target is stopped. */
#ifndef HI_SESSION_LIVE_ROOT_CHECK_H
#define HI_SESSION_LIVE_ROOT_CHECK_H

#include "attach/target.h"
#include "decode/roots/named_roots.h"

/*
 * Compiles them against the debug information of the target's files, in the process
 * without rights (symbols.h). HI_USAGE: as of hi_named_roots_open(). Expressions that
 * begin with "thread:" need the stopped threads and are not checked; nor is any where the
 * files cannot be read: the inspection reports that.
 */
enum hi_status hi_root_check(struct hi_target *target, const struct hi_root_text *texts,
			     size_t n, size_t *wrong_ret, size_t *column_ret,
			     struct hi_error *err);

#endif
