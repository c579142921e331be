/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image of an idle process of ours, read in the simplest way: by /proc and
 * a short ptrace of each thread. For tests of what reads images, so that they
 * do not depend on how attach stops things. Ends the test on failure; both are
 * given back when the test is over.
 */
#ifndef HI_TESTS_SUPPORT_LIVE_IMAGE_H
#define HI_TESTS_SUPPORT_LIVE_IMAGE_H

#include "attach/target.h"

struct hi_target *hi_live_target(pid_t pid);
/* Files are opened by their paths; residency is unknown. */
struct hi_image *hi_live_image(pid_t pid);

#endif
