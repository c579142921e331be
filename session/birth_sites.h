/* SPDX-License-Identifier: BSD-2-Clause */
/* The function that allocated each object, as a text: an identity of retainers, and rows
 * of comparisons. */
#ifndef HI_SESSION_BIRTH_SITES_H
#define HI_SESSION_BIRTH_SITES_H

#include "census/analysis/compare.h"
#include "session/inspection.h"

/* names: "make_node (list.c:39)", "(before the recording)", "(not recorded)", "(no
 * stack)"; hostile. All of it lives in in->arena. HI_NOT_FOUND: there is no recording. */
enum hi_status hi_birth_sites_of(struct hi_inspection *in, struct hi_compare_groups *ret,
				 struct hi_error *err);

#endif
