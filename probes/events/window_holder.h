/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that opens the links of allocation events for moments, again and again, and
 * has them closed before it answers: see Note [Windows] in window_holder.c.
 */
#ifndef HI_PROBES_EVENTS_WINDOW_HOLDER_H
#define HI_PROBES_EVENTS_WINDOW_HOLDER_H

#include "probes/bpf/events_shared.h"
#include "probes/probe_holder.h"

/* A window: events of all calls between two times (CLOCK_MONOTONIC). */
struct hi_event_window {
	uint64_t from_ns, to_ns;
	uint64_t hits, late_hits;   /* traps of the target: in it, and after it */
	uint64_t open_ns, close_ns; /* that it took to open the links, and to close them
				       until no program runs */
	bool is_cut;		    /* by the number of hits */
	/* CPU time of the target in so much time: of the window, and of the gap before
	 * it; and in the programs of the window. Lengths are 0: not known. */
	uint64_t cpu_ns, cpu_of_ns, gap_cpu_ns, gap_ns;
	uint64_t program_ns;
	uint64_t entry_ns; /* that a trap at an entry took, tried on the holder itself */
};

struct hi_window_request {
	uint64_t length_ns, budget; /* hits; at least 1 */
};

/* How windows are opened: runs in the holder, which has a copy of the caller's memory. */
struct hi_window_opening {
	pid_t pid;
	/* Links, anchors, and the check of means, as of probe_holder.h. */
	struct hi_probe_opening links;
	/* Before the first window: opens what `links.open` needs of files, since all
	 * other descriptors are closed then. kept: what is to stay open, with room for
	 * room of them; *n_ret are filled in. */
	enum hi_status (*prepare)(void *arg, int *kept, size_t room, size_t *n_ret,
				  struct hi_error *err);
	int program;		     /* a link of it in the holder itself delays nobody */
	bool (*is_alive)(void *arg); /* the target */
	struct hi_bpf_events_shared *shared;
};

/* Starts the process and lets it open the anchors. Errors as of
 * hi_probe_holder_start(). */
enum hi_status hi_window_holder_start(struct hi_probe_holder *holder,
				      const struct hi_window_opening *opening,
				      struct hi_error *err);
/* Asks for a window from now on. False: the holder has ended. */
bool hi_window_holder_begin(const struct hi_probe_holder *holder,
			    const struct hi_window_request *request);
/* Has the window that was asked for ended? Then its links are closed, and all its events
 * are in the ring. HI_NOT_FOUND: not yet, after so much time; HI_GONE: the holder has
 * ended. Otherwise as hi_probe_holder_start(). */
enum hi_status hi_window_holder_take(const struct hi_probe_holder *holder,
				     unsigned timeout_ms, struct hi_event_window *ret,
				     struct hi_error *err);

#endif
