/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that keeps its rights while another one, without rights, takes the censuses
 * of a series (Note [The decoding process] in cli/decoder/decoder.h): it stops the
 * target, makes the images and sends them, and changes probes where the other one asks
 * for it. It reads nothing that the target has made, and takes nothing on trust from the
 * other process.
 *
 * Both sides are here: the keeper, and its client in the process without rights;
 * keeper_messages.h has their messages.
 */
#ifndef HI_SESSION_LIVE_KEEPER_H
#define HI_SESSION_LIVE_KEEPER_H

#include <pthread.h>

#include "attach/exit_watch.h"
#include "session/inspection.h"

/* ---- in the process without rights ---- */

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

/* ---- in the process that keeps its rights ---- */

struct hi_keeper {
	const struct hi_options *options;
	struct hi_run run;	  /* of each census, with its cache */
	int socket;		  /* to the client; borrowed */
	struct hi_inspection *in; /* whose image the client reads; NULL: none */
};

/* Serves one request. False: the client has ended, or does not follow the protocol. */
bool hi_keeper_serve(struct hi_keeper *keeper);
void hi_keeper_close(struct hi_keeper *keeper);

#endif
