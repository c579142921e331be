/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of one target as their tracer sees them. Only the tracer process uses this:
 * ptrace works only from the thread that seized.
 */
#ifndef HI_ATTACH_TRACEES_H
#define HI_ATTACH_TRACEES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "attach/restarted_sleeps.h"
#include "attach/thread_stat.h"
#include "base/error.h"

enum hi_tracee_state {
	HI_TRACEE_SEEN,		 /* listed, not traced yet */
	HI_TRACEE_RUNNING,	 /* seized, and running or interrupted */
	HI_TRACEE_STOPPED,	 /* stopped by PTRACE_INTERRUPT */
	HI_TRACEE_GROUP_STOPPED, /* traced, but stopped by a stop signal */
	HI_TRACEE_DEAD,		 /* has exited, or became another one by exec */
	/* States of threads whose call started anew (tracees_settle.c): */
	HI_TRACEE_LEFT,	      /* it sleeps, as it did at the last stop, and is left so */
	HI_TRACEE_RESTARTING, /* let go, not at the entry of its call yet */
	HI_TRACEE_SETTLING,   /* past it, not known to sleep yet */
	HI_TRACEE_ASLEEP,     /* and it is in the table of sleepers */
};

struct hi_tracee {
	pid_t tid;
	enum hi_tracee_state state;
	bool maybe_inside;   /* avoid.c */
	bool is_settled;     /* avoid.c: no more tries */
	bool is_at_probe;    /* it is stopped at the probe, or exits, and is not moved */
	bool was_asleep;     /* when it was listed: woken up among few, not among all */
	bool is_interrupted; /* RUNNING: PTRACE_INTERRUPT was sent */
	unsigned restarts;   /* of its call in a row, before this stop */
	unsigned tries, asleep_tries;
	char name[16]; /* comm; "" unknown */
	struct user_regs_struct regs;
};

/*
 * Invariant: items[] holds every tid once; slots is an open-addressed table of
 * index + 1 over them. Items are never removed: a tid that is listed again
 * after its death is the same item made anew.
 */
struct hi_tracees {
	pid_t pid;
	DIR *dir; /* /proc/PID/task */
	char path[32];
	struct hi_tracee *items;
	size_t count, capacity;
	uint32_t *slots;
	size_t n_slots; /* power of two, at least 2 * capacity */
	bool leader_exited;
	int pagemap;	       /* /proc/PID/pagemap, borrowed; -1: none */
	uint64_t deadline_ns;  /* CLOCK_MONOTONIC; no waiting beyond it */
	unsigned long options; /* of PTRACE_SEIZE */
	/* The trigger's signal is on its way to this thread, and is suppressed when it
	 * arrives. 0: to none; -1: to an unknown thread. */
	pid_t signal_tid;
	struct hi_sleepers *sleepers; /* borrowed; NULL: every thread is stopped */
	uint32_t avoid_rounds;	      /* in which threads ran on (avoid.c) */
	bool has_lost_sleeper;	      /* one that was left asleep has exited */
};

/* Room for capacity threads. HI_GONE if there is no such process. */
enum hi_status hi_tracees_init(struct hi_tracees *all, pid_t pid, size_t capacity,
			       struct hi_error *err);

/* Adds the threads that are new, with their names. Stops nothing. */
enum hi_status hi_tracees_list(struct hi_tracees *all, struct hi_error *err);
/*
 * Seizes and stops all threads, those born meanwhile too. Set deadline_ns
 * first. On failure some are stopped: detach them. HI_GONE if none is left,
 * HI_TIMEOUT, HI_CANNOT_ATTACH, HI_LIMIT.
 */
enum hi_status hi_tracees_stop(struct hi_tracees *all, struct hi_error *err);
/*
 * Seizes all threads with these options and stops none. With PTRACE_O_TRACECLONE those
 * that are born later are traced from birth: the stops of both threads have to be
 * handled. Errors as above.
 */
enum hi_status hi_tracees_seize(struct hi_tracees *all, unsigned long options,
				struct hi_error *err);
/* Interrupts all running threads, except those that slept: hi_tracees_stop interrupts
 * these and waits for all. */
void hi_tracees_interrupt(struct hi_tracees *all);
/* NULL: not in the table, or dead. */
struct hi_tracee *hi_tracees_find(const struct hi_tracees *all, pid_t tid);
/*
 * Adds tid, which is traced from birth, as running if it is a thread of the target. NULL:
 * it is another process, or there is no room.
 */
struct hi_tracee *hi_tracees_adopt(struct hi_tracees *all, pid_t tid);
/* Adopts the thread that tid made, which is in PTRACE_EVENT_CLONE, or lets the process go
 * that it made (PTRACE_O_TRACECLONE catches processes too). */
void hi_tracees_adopt_cloned(struct hi_tracees *all, pid_t tid);
/* After an exec: there is one thread, the leader, and it runs. */
void hi_tracees_forget_old(struct hi_tracees *all);
/* The dead are forgotten. Moves items. */
void hi_tracees_compact(struct hi_tracees *all);
/* Takes a signal at which tid is stopped. True: it is the trigger's, which is then no
 * longer expected. */
bool hi_tracees_take_trigger_signal(struct hi_tracees *all, pid_t tid, int sig);
/*
 * Consumes the stop of a thread in PTRACE_EVENT_EXEC: until then, ptrace fails with ESRCH
 * if its number has changed (kernel/ptrace.c, looks_like_a_spurious_pid). It holds no
 * signal that could be lost.
 */
void hi_tracee_consume(pid_t tid);
/* Reaps tid if it is dead, and only then. */
void hi_tracee_reap(pid_t tid);
/* Is every thread of the process one of those that stand still? One stat(). */
bool hi_tracees_complete(const struct hi_tracees *all);
/* Lets a stopped thread run on, still seized. */
void hi_tracee_continue(struct hi_tracee *tracee);
/* Interrupts it again; hi_tracee_await waits until it has stopped (or is dead). */
void hi_tracee_interrupt(struct hi_tracee *tracee);
/* Waits until the thread has stopped or is dead. HI_TIMEOUT: all->deadline_ns is over. */
enum hi_status hi_tracee_await(struct hi_tracees *all, struct hi_tracee *tracee,
			       struct hi_error *err);
/* Lets all go. Returns how many that should have stood still were gone. */
size_t hi_tracees_detach(struct hi_tracees *all);
/* The same after a stop that failed, of those that stand by now. See Note [Giving up]. */
void hi_tracees_give_up(struct hi_tracees *all);
/* Waits until until_ns (CLOCK_MONOTONIC) for threads that were interrupted, and lets each
 * go at once. None is stopped before or after. */
void hi_tracees_detach_late(struct hi_tracees *all, uint64_t until_ns);
/* Counts threads that are stopped or were left asleep. */
size_t hi_tracees_live(const struct hi_tracees *all);

/* Does not stop the thread if the sleepers know it: it is LEFT then. */
bool hi_tracee_leave_asleep(struct hi_tracees *all, struct hi_tracee *tracee);
/* True if at least one thread was stopped, so that the target is paused. */
bool hi_tracees_any_stopped(const struct hi_tracees *all);
/* A thread that was left asleep has run since. */
bool hi_tracees_has_woken(const struct hi_tracees *all);
/* Lets those go whose call starts anew, before a detach of the others ... */
void hi_tracees_begin_settling(struct hi_tracees *all);
/*
 * ... and waits, for a limited time, until they sleep in it. Threads that are not asleep
 * by then are unknown to the sleepers. True: some stay traced until this process ends,
 * and hi_tracees_release has to be called whenever a SIGCHLD comes.
 */
bool hi_tracees_settle(struct hi_tracees *all);
/* Lets those go that have stopped since hi_tracees_settle(). */
void hi_tracees_release(struct hi_tracees *all);

/* ---- between the files that keep this table ---- */

/* As SEEN, without a name, unless it is there already. HI_LIMIT. */
enum hi_status hi_tracees_add(struct hi_tracees *all, pid_t tid, struct hi_error *err);
/* RUNNING or DEAD afterwards; of a thread that is SEEN. */
enum hi_status hi_tracee_seize(struct hi_tracees *all, struct hi_tracee *tracee,
			       struct hi_error *err);

/*
 * From now on SIGCHLD and SIGALRM (to be sent by an interval timer) reap dead
 * threads of this table and wake blocked waits.
 */
void hi_tracees_handle_signals(struct hi_tracees *all);
/* SIGCHLD comes for stops too. */
void hi_tracees_enable_stop_signals(void);

#endif
