/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small process, hi-probes, that has probes opened and is the last to close them, see
 * Note [The process that opens and closes probes] in holder.c. While it is at that, it
 * and its child are called hi-probes:opens.
 */
#ifndef HI_PROBES_PROBE_HOLDER_H
#define HI_PROBES_PROBE_HOLDER_H

#include <sys/types.h>

#include "base/error.h"

/* Opens the i-th descriptor. Runs in the holder, which has a copy of the caller's
 * memory. */
typedef enum hi_status hi_probe_holder_open(void *arg, size_t i, int *fd_ret,
					    struct hi_error *err);

/* Descriptors that a holder opens, and how. */
struct hi_probe_opening {
	/* In a process that lives only for that. */
	hi_probe_holder_open *open;
	size_t n;
	/* The anchors of all sites (Note [Anchors] in holder.c), which are opened first
	 * and closed when the n descriptors are open. One that cannot be opened is left
	 * out. */
	hi_probe_holder_open *anchor; /* not called if n_anchors is 0 */
	size_t n_anchors;
	/* After the anchors, in the holder: does all that is opened work here?
	 * Descriptors that it opens are closed when the n are open. NULL: yes. */
	enum hi_status (*check)(void *arg, struct hi_error *err);
	void *arg; /* of all */
};

struct hi_probe_holder {
	int socket; /* the holder ends when no process holds it; -1: none */
	pid_t pid;
	int pidfd; /* -1: none */
};
#define HI_PROBE_HOLDER_NONE ((struct hi_probe_holder){.socket = -1, .pidfd = -1})

/*
 * Opens the n descriptors and hands them over in fds, which are the caller's; the holder
 * has them too, until hi_probe_holder_end() or until every process that has a copy of
 * socket has closed it or died. On failure there is no holder, and all is closed again;
 * err is open's, or HI_GONE (it was killed) or HI_TIMEOUT (it is stopped).
 */
enum hi_status hi_probe_holder_start(struct hi_probe_holder *holder,
				     const struct hi_probe_opening *opening, int *fds,
				     struct hi_error *err);
/*
 * Closes fds, the n descriptors that hi_probe_holder_start gave, and ends the holder,
 * which closes its own last. If that has been killed another one is made for it.
 */
void hi_probe_holder_close(struct hi_probe_holder *holder, const int *fds, size_t n);
/* The same without waiting for its end: hi_probe_holder_end() does, so that several of
 * them close at one time. */
void hi_probe_holder_let_go(struct hi_probe_holder *holder, const int *fds, size_t n);
/*
 * The same after fds were closed. Waits until it has ended, when the probes are out of
 * the target; at most two minutes: one that is stopped again and again ends later.
 */
void hi_probe_holder_end(struct hi_probe_holder *holder);
/*
 * Is told by hi_probe_holder_end() that it waits for longer than a second (is_over:
 * false), and then that it has waited so long. NULL: none. For all threads.
 */
typedef void hi_probe_wait_hook(bool is_over, uint64_t waited_ns);
void hi_probe_holder_set_wait_hook(hi_probe_wait_hook *hook);

#endif
