/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a process that has given up its rights (base/rights.h). Another process, the
 * server, opens the files for it that it may not open itself. A request and its answer
 * are one packet each on a socket pair; a descriptor comes with the answer.
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
	HI_FILES_MAPPING,      /* a file that the target maps; name: its address in hex */
	HI_FILES_DEBUGINFOD,   /* name: a build-id in hex; text: the path */
	HI_FILES_CACHE,	       /* the directory of the cache */
	HI_FILES_CACHE_OPEN,   /* a file in it, for reading */
	HI_FILES_CACHE_CREATE, /* a new one; text: its temporary name */
	HI_FILES_CACHE_COMMIT, /* name: the temporary one, other: the final one */
	HI_FILES_CACHE_DROP,
	/* The terminal of a live view; name: "DESCRIPTOR" or "DESCRIPTOR keys"; "": it is
	 * given back. */
	HI_FILES_TERMINAL,
	HI_FILES_OUTPUT,	/* a file of the report, for writing; text: why not */
	HI_FILES_OUTPUT_COMMIT, /* it is complete */
	/* For a file that was open before (base/output_file.h); name: its number. */
	HI_FILES_OUTPUT_NAME,  /* gives it its name */
	HI_FILES_OUTPUT_AGAIN, /* one more of that name; text: "NUMBER TEMPORARY" */
	HI_FILES_OUTPUT_DROP,  /* removes its temporary name */
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
 * Opens a file for reading, without blocking. Returns the descriptor, or -1 and errno. If
 * the rights of the process do not suffice, it requests the file from its server.
 */
int hi_files_open(const char *path);
/* The same for any file, as a pipe; may block. */
int hi_files_open_stream(const char *path);

/* Sets the socket of the server; it must stay open. Like rights, there is one for the
 * process. Call it before any thread is started. */
void hi_files_use(int socket);
/* True after hi_files_use(). */
bool hi_files_are_served(void);
/*
 * Sends one request and waits for the answer. Returns the descriptor; -1 and errno if it
 * was refused; -1 and errno 0 if it was done and has no descriptor. text_ret (may be
 * NULL) has room for HI_FILES_NAME bytes. Thread-safe.
 */
int hi_files_ask(enum hi_files_operation operation, const char *name, const char *other,
		 char *text_ret);

/* For the server: receives one request. False: the other end is closed. Strings are
 * terminated, and hostile. */
bool hi_files_receive(int socket, struct hi_files_request *ret);
/* For the server: sends one answer. fd: -1: none; it stays the caller's. False: the
 * other end is closed. */
bool hi_files_answer(int socket, const struct hi_files_answer *answer, int fd);

#endif
