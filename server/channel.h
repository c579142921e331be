/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between a server and a process that makes its pages, on a socket pair:
 *
 *	server	struct hi_channel_request, then the address
 *	pages	struct hi_channel_answer, then the content type and the body
 *
 * One request at a time. The server takes nothing of an answer for granted.
 */
#ifndef HI_SERVER_CHANNEL_H
#define HI_SERVER_CHANNEL_H

#include <stdint.h>

enum {
	HI_CHANNEL_MAGIC = 0x68693031,
	HI_CHANNEL_ADDRESS = 1 << 16, /* most bytes of an address */
};

struct hi_channel_request {
	uint32_t magic, size;
};

struct hi_channel_answer {
	uint32_t magic, code, type_size;
	uint32_t is_last; /* the process ends: it has grown too much */
	uint64_t size;	  /* of the body */
};

#endif
