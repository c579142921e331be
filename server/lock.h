/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One server for a file: the first takes a lock, the others find its URL.
 *
 * Note [The lock of a server]
 *
 * A directory of the user's own ($XDG_RUNTIME_DIR/heapinspect, or /tmp/heapinspect-UID)
 * has for each server a file NAME, which the server has locked (flock) as long as it
 * lives, with its process id and its URL. The kernel releases the lock of a process that
 * was killed, so such a file is no obstacle. And it has a file "want": a
 * command that looks for a server holds a shared lock of it until that server has
 * answered, and a server that ends by itself holds it exclusively while it removes its
 * file. So a server is not found and gone the moment after; its time begins again with
 * the answer.
 */
#ifndef HI_SERVER_LOCK_H
#define HI_SERVER_LOCK_H

#include <sys/types.h>

#include "base/error.h"

enum { HI_LOCK_NAME = 96, HI_LOCK_URL = 128 };

struct hi_server_lock {
	int directory, fd;	 /* fd -1: not locked */
	char name[HI_LOCK_NAME]; /* in the directory */
};

/* Another server that has the lock. */
struct hi_server_found {
	pid_t pid;
	char url[HI_LOCK_URL];
};

/*
 * Takes the lock of a name (of letters, digits and "-"). If another process has it, waits
 * for its URL, and until touch() (asks the server for a sign of life) is true: then it
 * fills *found_ret, and ret->fd is -1. ret: hi_server_lock_release(). HI_TIMEOUT: a
 * server has the lock, but does not answer. HI_OS: the directory is not this user's.
 */
enum hi_status hi_server_lock_take(const char *name, bool (*touch)(const char *url),
				   struct hi_server_lock *ret,
				   struct hi_server_found *found_ret,
				   struct hi_error *err);
/* Takes the lock of one more name in the same directory, without waiting. False: another
 * process has it. */
bool hi_server_lock_also(const struct hi_server_lock *lock, const char *name,
			 struct hi_server_lock *ret);
/* Tells the URL to those that look for it. */
enum hi_status hi_server_lock_publish(const struct hi_server_lock *lock, const char *url,
				      struct hi_error *err);
/* Before the server ends by itself: false: somebody is about to ask it. Else its file is
 * gone. */
bool hi_server_lock_give_up(struct hi_server_lock *lock);
/* Removes the file, if the lock is held. */
void hi_server_lock_release(struct hi_server_lock *lock);

#endif
