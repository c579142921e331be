/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services of a process with rights for one that reads debug information without them
 * (base/files.h): it downloads, and keeps the cache. It reads none of the files.
 */
#ifndef HI_DECODE_MODULES_FILE_SERVER_H
#define HI_DECODE_MODULES_FILE_SERVER_H

#include "base/files.h"

/* The debug file of a build-id; -1 and errno. */
int hi_debuginfod_open(const char *hex, char path_ret[HI_FILES_NAME]);

/* Zero-initialised: nothing was made yet. */
struct hi_cache_server {
	unsigned n_temporaries; /* numbers of those that were given out */
};

/* A request HI_FILES_CACHE*: the descriptor, or -1 and errno (0: done). */
int hi_cache_serve(struct hi_cache_server *server, const struct hi_files_request *request,
		   char text_ret[HI_FILES_NAME]);
/* Removes what was not completed. */
void hi_cache_server_end(struct hi_cache_server *server);

#endif
