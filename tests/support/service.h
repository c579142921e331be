/* SPDX-License-Identifier: BSD-2-Clause */
/* Real services as targets: started on a Unix socket in a temporary directory,
 * spoken to in their own text protocols, ended when the test ends. */
#ifndef HI_TESTS_SUPPORT_SERVICE_H
#define HI_TESTS_SUPPORT_SERVICE_H

#include <stddef.h>
#include <sys/types.h>

struct hi_service {
	pid_t pid;
	int fd;		      /* connected to its socket; -1: none */
	char directory[64];   /* temporary, removed at the end */
	char socket_path[96]; /* directory/socket */
};

/* A temporary directory and nothing started yet. */
struct hi_service *hi_service_create(void);
/* Forks and executes; waits until the socket accepts (60 s) if connect is set. */
void hi_service_start(struct hi_service *s, int connect, const char *const argv[]);
/* A redis of build/targets, connected, that writes no files; more words of its command
 * line, up to NULL. Skips the test where there is none. */
struct hi_service *hi_service_start_redis(const char *program, ...)
	__attribute__((sentinel));
/* One more connection, for good. */
int hi_service_connect(struct hi_service *s);
/* Sends text, reads until the reply ends with `end`; the reply (static buffer). */
const char *hi_service_ask(struct hi_service *s, const char *text, const char *end);
/* What has come, at least a byte, at most size of them. */
size_t hi_service_read(struct hi_service *s, void *buffer, size_t size);
/* Sends n_replies lines' worth of commands and waits for as many reply lines. */
void hi_service_send(struct hi_service *s, const char *text, size_t size,
		     size_t n_replies);

#endif
