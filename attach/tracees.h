/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of one target as their tracer sees them. Only the tracer process
 * uses this: ptrace obeys the thread that seized, nobody else.
 */
#ifndef HI_ATTACH_TRACEES_H
#define HI_ATTACH_TRACEES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"

enum hi_tracee_state {
	HI_TRACEE_SEEN,		 /* listed, not ours yet */
	HI_TRACEE_RUNNING,	 /* seized and told to stop, or let run */
	HI_TRACEE_STOPPED,	 /* in the stop that we asked for */
	HI_TRACEE_GROUP_STOPPED, /* as much ours, but it was stopped without us */
	HI_TRACEE_DEAD,		 /* has exited, or became another one by exec */
};

struct hi_tracee {
	pid_t tid;
	enum hi_tracee_state state;
	bool maybe_inside; /* avoid.c */
	bool is_settled;   /* avoid.c: no more tries */
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
	struct hi_tracee *items;
	size_t count, capacity;
	uint32_t *slots;
	size_t n_slots; /* power of two, at least 2 * capacity */
	bool leader_exited;
	int pagemap;	      /* /proc/PID/pagemap, borrowed; -1: not to be had */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; no waiting beyond it */
};

/* Room for capacity threads. HI_GONE if there is no such process. */
enum hi_status hi_tracees_init(struct hi_tracees *all, pid_t pid, size_t capacity,
			       struct hi_error *err);
void hi_tracees_deinit(struct hi_tracees *all);

/* Adds the threads that are new, with their names. Stops nothing. */
enum hi_status hi_tracees_list(struct hi_tracees *all, struct hi_error *err);
/*
 * Seizes and stops all threads, those born meanwhile too. Set deadline_ns
 * first. On failure some are stopped: detach them. HI_GONE if none is left,
 * HI_TIMEOUT, HI_CANNOT_ATTACH, HI_LIMIT.
 */
enum hi_status hi_tracees_stop(struct hi_tracees *all, struct hi_error *err);
/* Is every thread of the process one of those that stand still? One stat(). */
bool hi_tracees_complete(const struct hi_tracees *all);
/* Lets a stopped thread run on, still seized. */
void hi_tracee_continue(struct hi_tracee *tracee);
/* Tells it to stop again; hi_tracee_await waits until it stands (or is dead). */
void hi_tracee_interrupt(struct hi_tracee *tracee);
enum hi_status hi_tracee_await(struct hi_tracees *all, struct hi_tracee *tracee,
			       struct hi_error *err);
/* Lets all go. Returns how many that should have stood still were gone. */
size_t hi_tracees_detach(struct hi_tracees *all);
/* The same after a stop that failed: first waits, until_ns at most, for threads
 * that were told to stop. See Note [Giving up]. */
size_t hi_tracees_give_up(struct hi_tracees *all, uint64_t until_ns);
size_t hi_tracees_live(const struct hi_tracees *all);

/* State letter of a thread, 0 if there is none. */
char hi_thread_state(pid_t pid, pid_t tid);
/* Processor that it runs on, or ran on last; -1 unknown. */
int hi_thread_cpu(pid_t pid, pid_t tid);
/* comm of a thread, "" if unknown. */
void hi_thread_name(pid_t pid, pid_t tid, char name[16]);

/*
 * From now on SIGCHLD and SIGALRM (to be sent by an interval timer) reap dead
 * threads of this table and wake blocked waits.
 */
void hi_tracees_handle_signals(struct hi_tracees *all);

#endif
