/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe site in this program, to try links on. */
#ifndef HI_PROBES_TRIAL_SITE_H
#define HI_PROBES_TRIAL_SITE_H

#include "probes/uprobe.h"

/* An instruction of this program that nothing else runs. */
enum hi_status hi_own_site_prepare(struct hi_uprobe *ret, struct hi_error *err);
/* The calling thread runs it, once. */
void hi_own_site_call(void);
/* A second thread of this process runs it, once. */
enum hi_status hi_own_site_run(struct hi_error *err);

#endif
