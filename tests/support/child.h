/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of a test between fork and exec, whoever started the test and however. */
#ifndef HI_TESTS_SUPPORT_CHILD_H
#define HI_TESTS_SUPPORT_CHILD_H

/* Every signal has its default action and none is blocked: a shell in the background
 * and nohup leave some ignored, which exec does not change, and so do tests. */
void hi_child_signals(void);

#endif
