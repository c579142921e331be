/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small process ("hi-probes") that opens probes and is the last to close them,
 * see Note [Nobody who may be killed opens or closes a probe].
 */
#ifndef HI_PROBES_KEEPER_H
#define HI_PROBES_KEEPER_H

#include <sys/types.h>

#include "base/error.h"

/* Opens the i-th descriptor, in the keeper: of the caller's memory it sees a copy. */
typedef enum hi_status hi_keeper_open(void *arg, size_t i, int *fd_ret,
				      struct hi_error *err);

struct hi_keeper {
	int socket; /* whoever holds it holds the keeper; -1: none */
	pid_t pid;
};
#define HI_KEEPER_NONE ((struct hi_keeper){.socket = -1})

/*
 * Opens n descriptors and hands them over in fds, which are the caller's; the keeper
 * has them too, until every process that has a copy of socket has closed it or died. On
 * failure there is no keeper, and all is closed again; err is open's.
 */
enum hi_status hi_keeper_start(struct hi_keeper *keeper, hi_keeper_open *open, void *arg,
			       size_t n, int *fds, struct hi_error *err);
/* After fds were closed: waits until the keeper has closed its own. */
void hi_keeper_end(struct hi_keeper *keeper);

#endif
