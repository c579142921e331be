/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debuginfod through its client library, loaded only when its environment variable is
 * set. Interface: elfutils/debuginfod.h, libdebuginfod.so.1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/own_directory.h"
#include "decode/modules/file_server.h"

struct client {
	void *(*begin)(void);
	int (*find)(void *, const unsigned char *, int, char **);
	void (*end)(void *);
};

/* It stays loaded: its transfer library has thread state. */
static bool load_client(struct client *ret)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&ret->begin = dlsym(library, "debuginfod_begin");
	*(void **)&ret->find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&ret->end = dlsym(library, "debuginfod_end");
	return ret->begin && ret->find && ret->end;
}

/* It takes the text where no size is given. */
static bool is_build_id(const char *hex)
{
	size_t n = strlen(hex);

	return n >= 4 && n <= 64 && n % 2 == 0 && strspn(hex, "0123456789abcdef") == n;
}

/* Its client makes a cache, and follows what it finds there: only in a directory of this
 * user. sudo can keep HOME. */
static bool has_own_cache(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {{"DEBUGINFOD_CACHE_PATH", ""},
		      {"XDG_CACHE_HOME", "/debuginfod_client"},
		      {"HOME", "/.cache/debuginfod_client"}};
	HI_GUARD(close) int fd = -1;
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *value = getenv(places[i].variable);

		if (!value || !*value)
			continue;
		return (size_t)snprintf(path, sizeof(path), "%s%s", value,
					places[i].below) < sizeof(path) &&
		       hi_own_directory_open(path, 022, &fd, NULL) == HI_OK;
	}
	return false;
}

int hi_debuginfod_open(const char *hex, char path_ret[HI_FILES_NAME])
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	HI_GUARD(free) char *path = NULL;
	struct client client;
	void *session;
	int fd;

	errno = ENOENT;
	if (!urls || !*urls || !is_build_id(hex) || !has_own_cache() ||
	    !load_client(&client))
		return -1;
	session = client.begin();
	if (!session)
		return -1;
	fd = client.find(session, (const unsigned char *)hex, 0, &path);
	client.end(session);
	if (fd < 0)
		errno = ENOENT;
	snprintf(path_ret, HI_FILES_NAME, "%s", path ? path : "");
	return fd < 0 ? -1 : fd;
}
