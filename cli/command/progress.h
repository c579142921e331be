/* SPDX-License-Identifier: BSD-2-Clause */
/* A line on the terminal during work that takes longer than half a second. */
#ifndef HI_CLI_COMMAND_PROGRESS_H
#define HI_CLI_COMMAND_PROGRESS_H

struct hi_progress;

/* NULL where stderr is no terminal or it cannot be started: fine everywhere. */
struct hi_progress *hi_progress_start(void);
/* Static storage. */
void hi_progress_phase(struct hi_progress *progress, const char *name);
/* Clears the line. */
void hi_progress_end(struct hi_progress *progress);

#endif
