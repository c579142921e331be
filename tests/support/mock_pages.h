/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server in a process of its own, with pages that a test can make misbehave:
 *
 *	count/X		a page with the number of pages that its process has made
 *	pid/X		the number of its process
 *	slow/MS		sleeps that long first
 *	big		1 MiB of text
 *	wide		16 MiB
 *	huge		more than a page may have
 *	grow		its process has grown too much when it is made
 *	memory		is not made: out of memory
 *	crash, hang, exit, nonsense, header, type
 *			the process does that, or sends what is no answer
 *	asset.css	a style
 */
#ifndef HI_TESTS_SUPPORT_MOCK_PAGES_H
#define HI_TESTS_SUPPORT_MOCK_PAGES_H

#include <stdint.h>

#include "tests/support/http.h"

struct mock_server {
	pid_t pid;
	struct http_url url;
};

enum { MOCK_BIG = 1 << 20 };

/* 0: the default of the server. Ended with the test. */
struct mock_server mock_server_start(uint64_t timeout_ns, uint64_t page_limit_ns,
				     uint64_t client_limit_ns);
/* Waits until it has ended, at most 60 s. Returns its wait status. */
int mock_server_await_end(struct mock_server *server);

#endif
