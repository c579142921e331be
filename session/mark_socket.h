/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks from outside into a running series, over a Unix socket in a directory of
 * mode 0700 that belongs to this user: $XDG_RUNTIME_DIR/heapinspect, else
 * /run/user/UID/heapinspect, else /tmp/heapinspect-UID. A directory of another user
 * is not taken, so that other users can neither send nor receive marks. A series that was
 * killed leaves a socket without a listener; the next series removes it, and the next
 * mark for its target.
 */
#ifndef HI_SESSION_MARK_SOCKET_H
#define HI_SESSION_MARK_SOCKET_H

#include <sys/types.h>

#include "base/error.h"
#include "session/process_use.h"

enum { HI_MARK_MAX = 1000 /* bytes of text */ };

/* The socket on which a series takes marks. */
struct hi_marks {
	int fd; /* readable: there is one; -1: none can be taken */
	int directory;
	uid_t user;    /* whose marks are taken, beside root's */
	char name[64]; /* of the socket */
	char directory_path[200];
};

/* Kinds of messages: a mark, an era of biographies, which begins with it, or that a
 * recording is to pause or to go on (without a text). */
enum hi_mark_kind {
	HI_MARK_PLAIN,
	HI_MARK_ERA,
	HI_MARK_PAUSE,
	HI_MARK_RESUME,
	HI_MARK_KINDS
};

struct hi_mark {
	enum hi_mark_kind kind;
	struct hi_timestamp when; /* of the target, as the sender saw it */
	char text[HI_MARK_MAX + 1];
	int fd; /* for the reply */
};

/* Begins to take marks for a target. HI_UNSUPPORTED: there is no directory that other
 * users cannot reach. */
enum hi_status hi_marks_open(pid_t target, struct hi_marks *ret, struct hi_error *err);
/* Takes the next mark that waits. False: there is none. Each must be answered. */
bool hi_marks_take(struct hi_marks *marks, struct hi_mark *ret);
/* Answers a mark that hi_marks_take returned; written: is it in the profile? */
void hi_marks_answer(struct hi_mark *mark, bool written);
/* Stops listening and removes the socket. */
void hi_marks_close(struct hi_marks *marks);

/* Sends a mark to all series of the target. HI_NOT_FOUND: there is none. */
enum hi_status hi_marks_send(pid_t target, enum hi_mark_kind kind, const char *text,
			     unsigned *reached_ret, struct hi_error *err);

#endif
