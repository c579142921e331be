/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a keeper and its client: a request and its answer, one packet
 * each (base/packet.h); after that of a freeze that was made come the target, the image,
 * the allocator's text and what observers of the stop have seen (stop_observer.h).
 * Internal to the keeper, its client and observers of stops.
 */
#ifndef HI_SESSION_LIVE_KEEPER_MESSAGES_H
#define HI_SESSION_LIVE_KEEPER_MESSAGES_H

#include "base/packet.h"
#include "session/process_use.h"

struct hi_keeper_client;

enum hi_keeper_operation {
	HI_KEEPER_FREEZE,
	HI_KEEPER_END_IMAGE,
	HI_KEEPER_EXIT,	    /* what the watch for the exit has seen */
	HI_KEEPER_OBSERVER, /* for an observer of the stops */
};

struct hi_keeper_request {
	uint32_t operation;
	uint32_t threads;    /* of a freeze: that make the image */
	uint64_t timeout_ns; /* of a freeze: how long the place of --at is waited for */
	uint64_t samples;    /* of a freeze: censuses that were written */
	/* The number of an observer, and a request of its own. */
	uint32_t observer, detail;
};

enum { HI_KEEPER_COUNTS = 256, HI_KEEPER_WARNINGS = 8192, HI_KEEPER_RANGES = 65536 };

struct hi_keeper_answer {
	uint32_t status; /* enum hi_status */
	uint32_t is_done;
	struct hi_error error;
	struct hi_timestamp resumed;
	uint32_t exit_state;   /* enum hi_exit_state */
	uint32_t has_new_site; /* the place of --at was looked for once more */
	union {
		char warnings[HI_KEEPER_WARNINGS]; /* of a freeze, a line each */
		/* A struct of an observer's own. */
		unsigned char counts[HI_KEEPER_COUNTS];
	};
};

/* In the client: sends a request, with bytes if there are some, and receives the answer.
 * False: the keeper has ended. Thread-safe. */
bool hi_keeper_ask(const struct hi_keeper_client *client,
		   const struct hi_keeper_request *request, const void *bytes, size_t n,
		   struct hi_keeper_answer *answer);

#endif
