/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches a process for its end, so that an image is made of its memory as it was then.
 * There are two ways.
 *
 * If a log of its exit can be had (exit_log.h), the process is not traced: it exits,
 * and its memory is kept until the image was made. See Note [Memory outlives its process]
 * in memory_keeper.h.
 *
 * Otherwise it is stopped from its end on, with its memory. See Note [The end of a
 * process] in wait.c. Then the watch is a tracer (tracer.h): while it lives no other
 * process can trace the target, and each of its signals is a stop. So a stop of the
 * target ends the watch and begins a new one when the target runs again
 * (hi_stop_options.exit_watch); an end in between is missed: some milliseconds where the
 * machine is busy.
 *
 * The target runs on, or ends, whatever ends the watch: this process, or the time limit.
 */
#ifndef HI_ATTACH_EXIT_WATCH_H
#define HI_ATTACH_EXIT_WATCH_H

#include "attach/target.h"
#include "attach/tracer.h"

enum hi_exit_state {
	HI_EXIT_UNWATCHED, /* not watched, or missed: the process has ended, or had
			    * SIGKILL */
	HI_EXIT_WATCHED,
	HI_EXIT_STANDS, /* the next stop makes the image of its end; it may be gone */
};

struct hi_exit_keep;
struct hi_exit_log;
struct hi_stop_options;

/* Zero-initialised: not watched. */
struct hi_exit_watch {
	enum hi_exit_state state;
	struct hi_exit_keep *keep;	 /* it is not traced; else NULL, and: */
	struct hi_tracer *tracer, *next; /* next: forked, and not begun */
	struct hi_tracer_stop stop;	 /* of HI_EXIT_STANDS */
	/* Shared with the tracers; NULL: not made yet. */
	struct hi_exit_page {
		uint64_t exec_ns;
		uint32_t start; /* enum hi_start_state */
	} * page;
	int view_fd; /* eventfd of hi_exit_watch_share(); 0: none */
	/* The watch is another process's, which is asked for its state; else NULL. */
	enum hi_exit_state (*ask)(void *arg);
	void *ask_arg;
	struct hi_error why; /* of a tracer that ended without the end; else HI_OK */
};

/*
 * Begins to watch. Follows an exec. Waits until all threads are seized, so that an end
 * from now on is seen. HI_CANNOT_ATTACH, HI_GONE, HI_OS.
 */
enum hi_status hi_exit_watch_begin(struct hi_exit_watch *watch,
				   const struct hi_target *target, struct hi_error *err);
/*
 * The same without tracing it, from now on: a watch that was begun before ends.
 * options: those of the image that is made of its end. Takes the log, also on failure.
 * HI_GONE; HI_UNSUPPORTED: it can only be traced (err->text is the reason), and a watch
 * that was begun before goes on. HI_OS, HI_NO_MEMORY.
 */
enum hi_status hi_exit_watch_begin_untraced(struct hi_exit_watch *watch, pid_t pid,
					    const struct hi_stop_options *options,
					    struct hi_exit_log *log,
					    struct hi_error *err);
/* Before the watch begins: the program of the next exec is held where its libraries are
 * mapped and it has not allocated yet (Note [The start of a program]). HI_NO_MEMORY. */
enum hi_status hi_exit_watch_hold_start(struct hi_exit_watch *watch,
					struct hi_error *err);
/* Waits for that. False: it has ended before, or it takes too long. */
bool hi_exit_watch_await_start(struct hi_exit_watch *watch);
/* Lets it go on. That exec does not count as one. Nothing where it is not held. */
void hi_exit_watch_let_start(struct hi_exit_watch *watch);
/* Polls readable when the state has changed; -1: not watched. */
int hi_exit_watch_fd(const struct hi_exit_watch *watch);
/* The state now. Does not block. */
enum hi_exit_state hi_exit_watch_look(struct hi_exit_watch *watch);
/* HI_EXIT_STANDS by now. NULL is fine. */
bool hi_exit_watch_is_standing(struct hi_exit_watch *watch);
/* When it executed another program while it was watched, for the first time
 * (CLOCK_MONOTONIC): what happened later is of that one. 0: never. NULL is fine. */
uint64_t hi_exit_watch_exec_ns(const struct hi_exit_watch *watch);
/* HI_EXIT_STANDS for a process that is gone: returns the target as it was, since nothing
 * can open it any more. The caller's. Its memory can be read until the end of the next
 * stop, which must come before the target is closed, or until it is given up. NULL: the
 * process is stopped, and can be opened as any other. */
struct hi_target *hi_exit_watch_take_target(struct hi_exit_watch *watch);
/* There is no image of that target, and will be none. */
void hi_exit_watch_give_up(struct hi_exit_watch *watch);
/* Lets the process go, wherever it is stopped. */
void hi_exit_watch_end(struct hi_exit_watch *watch);

/*
 * A forked process may look at the watch, which stays this one's: call share before the
 * fork, view in the fork, where `ask` gets the state from this process, and publish here
 * when hi_exit_watch_fd() is readable. In the fork look and fd work as ever; begin, end
 * and let_start do nothing. NULL is fine. HI_OS, HI_NO_MEMORY.
 */
enum hi_status hi_exit_watch_share(struct hi_exit_watch *watch, struct hi_error *err);
void hi_exit_watch_view(struct hi_exit_watch *watch, enum hi_exit_state (*ask)(void *arg),
			void *arg);
void hi_exit_watch_publish(struct hi_exit_watch *watch);

/* ---- for stop.c; watch may be NULL ---- */

/* Forks the next watch, which does nothing yet. */
enum hi_status hi_exit_watch_prepare(struct hi_exit_watch *watch,
				     const struct hi_target *target,
				     struct hi_error *err);
/* Ends this watch for a stop. False: the process has reached its end by now. */
bool hi_exit_watch_pause(struct hi_exit_watch *watch);
/* Begins the next one. */
void hi_exit_watch_resume(struct hi_exit_watch *watch);

/* How long a process is held at its end at most. */
#define HI_EXIT_HOLD_NS 60000000000ull

#endif
