/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache directory, for a process that may not write to it. That process chooses
 * the bytes, so a copy is as trustworthy as its maker: readers look at it as at any
 * other hostile file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/modules/file_server.h"
#include "decode/modules/module.h"

enum { MOST_TEMPORARIES = 4096 };

static void name_temporary(unsigned number, char out[80])
{
	snprintf(out, 80, ".%d-%u.served.tmp", (int)getpid(), number);
}

/* As hi_cache_name() makes them: in that directory, and none that is hidden. */
static bool is_final_name(const char *name)
{
	return name[0] && name[0] != '.' &&
	       strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz-.") == strlen(name);
}

static bool is_temporary(const struct hi_cache_server *server, const char *name)
{
	char own[80];

	for (unsigned i = 0; i < server->n_temporaries; i++) {
		name_temporary(i, own);
		if (strcmp(name, own) == 0)
			return true;
	}
	return false;
}

static int create_temporary(struct hi_cache_server *server, int dir, char *text_ret)
{
	char name[80];

	if (server->n_temporaries >= MOST_TEMPORARIES) {
		errno = EMFILE;
		return -1;
	}
	name_temporary(server->n_temporaries++, name);
	memcpy(text_ret, name, sizeof(name));
	return hi_cache_create_as(dir, name);
}

static int commit_temporary(const struct hi_cache_server *server, int dir,
			    const struct hi_files_request *r)
{
	bool complete = r->operation == HI_FILES_CACHE_COMMIT;

	if (!is_temporary(server, r->name) || (complete && !is_final_name(r->other))) {
		errno = EPERM;
		return -1;
	}
	errno = 0;
	if (!hi_cache_rename(dir, r->name, r->other, complete) && complete && !errno)
		errno = EIO;
	return -1;
}

int hi_cache_serve(struct hi_cache_server *server, const struct hi_files_request *request,
		   char text_ret[HI_FILES_NAME])
{
	HI_GUARD(close) int dir = hi_cache_open_directory(NULL);

	if (dir < 0)
		return -1;
	switch (request->operation) {
	case HI_FILES_CACHE:
		/* Not to be listed: there is a name for each program that was looked at.
		 */
		return openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	case HI_FILES_CACHE_OPEN:
		if (is_final_name(request->name))
			return hi_cache_open_in(dir, request->name);
		break;
	case HI_FILES_CACHE_CREATE:
		return create_temporary(server, dir, text_ret);
	case HI_FILES_CACHE_COMMIT:
	case HI_FILES_CACHE_DROP:
		return commit_temporary(server, dir, request);
	default:
		break;
	}
	errno = EPERM;
	return -1;
}

void hi_cache_server_end(struct hi_cache_server *server)
{
	HI_GUARD(close)
	int dir = server->n_temporaries ? hi_cache_open_directory(NULL) : -1;
	char name[80];

	for (unsigned i = 0; dir >= 0 && i < server->n_temporaries; i++) {
		name_temporary(i, name);
		(void)unlinkat(dir, name, 0);
	}
}
