/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that keeps its rights while another one, without rights, takes the censuses
 * of a series (Note [The decoding process] in cli/decoder/decoder.h): it stops the
 * target, makes the images and sends them, and changes probes where the other one asks
 * for it. It reads nothing that the target has made, and takes nothing on trust from the
 * other process.
 *
 * Its client is live/keeper_client.h; live/keeper_messages.h has the messages of both.
 */
#ifndef HI_SESSION_SERIES_KEEPER_H
#define HI_SESSION_SERIES_KEEPER_H

#include "session/inspection.h"

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
