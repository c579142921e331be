/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of a keeper (session/series/keeper.h): in the process without rights that
 * takes the censuses of a series, what asks the other process for images of the target.
 */
#ifndef HI_SESSION_LIVE_KEEPER_CLIENT_H
#define HI_SESSION_LIVE_KEEPER_CLIENT_H

#include <pthread.h>

#include "attach/exit_watch.h"
#include "session/inspection.h"

struct hi_keeper_client {
	int socket; /* to the keeper; borrowed */
	pthread_mutex_t lock;
};

/* As hi_freeze(), of a run that has a keeper: it makes the image. */
enum hi_status hi_keeper_freeze(struct hi_inspection *in, struct hi_error *err);
/* For hi_exit_watch_view(); arg is the client. */
enum hi_exit_state hi_keeper_exit_state(void *arg);
/* The image of the last freeze is not read any more. */
void hi_keeper_end_image(const struct hi_keeper_client *client);

#endif
