/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a process that has given its rights up (base/rights.h): what it may not
 * open itself, another process opens for it. A request and its answer are one packet
 * each on a socket pair; a descriptor comes with the answer.
 */
#ifndef HI_BASE_FILES_H
#define HI_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hi_files_operation {
	HI_FILES_OPEN,	       /* a file, for reading */
	HI_FILES_OPEN_STREAM,  /* it may be a pipe: blocks as that does */
	HI_FILES_OPEN_IN_ROOT, /* in the root directory of the target */
	HI_FILES_MAPPING,      /* what the target maps there; name: hex */
	HI_FILES_DEBUGINFOD,   /* name: a build-id in hex; text: the path */
	HI_FILES_CACHE,	       /* the directory of the cache */
	HI_FILES_CACHE_OPEN,   /* a file in it, for reading */
	HI_FILES_CACHE_CREATE, /* a new one; text: its temporary name */
	HI_FILES_CACHE_COMMIT, /* name: the temporary one, other: the final one */
	HI_FILES_CACHE_DROP,
	HI_FILES_OUTPUT,	/* a file of the report, for writing */
	HI_FILES_OUTPUT_COMMIT, /* it is complete */
};

enum { HI_FILES_NAME = 4096 };

struct hi_files_request {
	uint32_t operation;
	char name[HI_FILES_NAME], other[256];
};

struct hi_files_answer {
	int32_t error; /* errno; 0: done, with a descriptor where there is one */
	char text[HI_FILES_NAME];
};

/*
 * Opens for reading, without blocking; -1 and errno. In a process that is served, and
 * where its own rights do not suffice: asks.
 */
int hi_files_open(const char *path);
/* Also of a pipe; may block. */
int hi_files_open_stream(const char *path);

/* From now on this process is served through the socket, which it keeps. Rights are a
 * process's own as well: there is one server. Before any thread is started. */
void hi_files_use(int socket);
bool hi_files_are_served(void);
/*
 * One request: the descriptor, -1 and errno where it was refused; -1 and errno 0 where
 * it was done and has no descriptor. text_ret (may be NULL) has room for HI_FILES_NAME.
 * Any thread.
 */
int hi_files_ask(enum hi_files_operation operation, const char *name, const char *other,
		 char *text_ret);

/* The server's side. False: the other end is closed. Strings are terminated, and
 * hostile. */
bool hi_files_receive(int socket, struct hi_files_request *ret);
/* fd: -1: none. */
bool hi_files_answer(int socket, const struct hi_files_answer *answer, int fd);

#endif
