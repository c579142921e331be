/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of a process that makes pages: reads requests of a server from a socket
 * (server/channel.h) and answers them, one after the other. While none waits it loads
 * what the next ones need.
 */
#ifndef HI_SERVER_PAGE_LOOP_H
#define HI_SERVER_PAGE_LOOP_H

#include <stdio.h>

#include "base/error.h"

struct hi_page_answer {
	unsigned code;
	const char *type; /* content type; static */
};

struct hi_page_ops {
	/* *ret: close. */
	enum hi_status (*open)(void *arg, void **ret, struct hi_error *err);
	/* Writes the answer for an address. Only out of memory is an error. */
	enum hi_status (*write)(void *pages, const char *address, const char *base,
				FILE *out, struct hi_page_answer *ret,
				struct hi_error *err);
	/* One step; false: nothing is left to do. */
	bool (*warm_up)(void *pages);
	void (*close)(void *pages);
};

/* How much memory of its own the process may take beyond what it had after the last
 * warm_up(). */
#define HI_PAGE_LOOP_GROWTH (512ull << 20)

/* Returns when the other end is closed, or when the process has grown too much; it
 * should exit then. growth: bytes; usually HI_PAGE_LOOP_GROWTH. */
void hi_page_loop(int socket, const char *base, uint64_t growth,
		  const struct hi_page_ops *ops, void *arg);

#endif
