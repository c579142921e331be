/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the allocations of a running process (probes/events) and keeps what is live by
 * them (census/events), from its start until a stop of the process, at which the two are
 * compared with each other. It observes stops (recorder_observer.c): that of a single
 * inspection ends the recording. Censuses of a series (a run with a census cache) are
 * beside it: each one holds the recording still from its stop to its end.
 */
#ifndef HI_SESSION_LIVE_RECORDER_H
#define HI_SESSION_LIVE_RECORDER_H

#include "attach/exit_watch.h"
#include "attach/stop_options.h"
#include "base/cleanup.h"
#include "census/events/marked_totals.h"
#include "census/events/recording.h"
#include "census/snapshot/snapshot_births.h"
#include "decode/runtimes/cpython_code.h"
#include "probes/events/event_source.h"
#include "session/live/past_code.h"
#include "session/live/sample_choice.h"
#include "session/stop_observer.h"

struct hi_options;

struct hi_recorder;
/*
 * Finds the functions of the allocator. Reads of options the target, verbose, no_sandbox
 * and of --keep-events the output's file and its limit. *ret: hi_recorder_close().
 * Errors: as of hi_target_open(), hi_event_functions_find() and hi_event_spool_open().
 */
enum hi_status hi_recorder_open(const struct hi_options *options,
				struct hi_recorder **ret, struct hi_error *err);
/* Puts probes on them, once, which count what is allocated until the start. Errors:
 * hi_event_source_open()'s. */
enum hi_status hi_recorder_set_probes(struct hi_recorder *recorder, struct hi_error *err);
/* Returns what was counted since there are probes. */
struct hi_allocation_rate hi_recorder_rate(const struct hi_recorder *recorder);
/* The same without times of the target, which take a look at each of its threads. */
struct hi_allocation_rate hi_recorder_counted(const struct hi_recorder *recorder);
/* Records from now on: all allocations, or samples with this mean distance in bytes. */
enum hi_status hi_recorder_start(struct hi_recorder *recorder, uint64_t sample_bytes,
				 struct hi_error *err);
/*
 * Records in windows alone. Before the start: from it on. After it: from now on, and what
 * was recorded until now is dropped, since both have figures of different meaning; so the
 * start is now. whole_ns of the choice is filled in. Not of a recording of a series.
 * Errors: as of hi_event_source_use_windows(); it goes on as before.
 */
enum hi_status hi_recorder_use_windows(struct hi_recorder *recorder,
				       const struct hi_windows_choice *choice,
				       struct hi_error *err);
/* Leaves out events after an exec that the watch saw; borrowed until the close. Before
 * the start. */
void hi_recorder_watch_exec(struct hi_recorder *recorder,
			    const struct hi_exit_watch *watch);
/* When the target executed another program (CLOCK_MONOTONIC); 0: not yet. */
uint64_t hi_recorder_exec_ns(const struct hi_recorder *recorder);
/* Takes the events that there are, waiting for some for at most so long. HI_GONE: the
 * target has exited; HI_UNSUPPORTED: it has executed another program, and what it had
 * until then is recorded. HI_NO_MEMORY. */
enum hi_status hi_recorder_poll(struct hi_recorder *recorder, unsigned timeout_ms,
				struct hi_error *err);
/* The same in a thread of its own from now on, until the close or the finish: so that
 * events are taken while a census is computed. Then what was recorded is read between
 * lock and unlock only, or while it is held. Without that thread the lock does nothing.
 * HI_OS. */
enum hi_status hi_recorder_run(struct hi_recorder *recorder, struct hi_error *err);
void hi_recorder_lock(struct hi_recorder *recorder);
void hi_recorder_unlock(struct hi_recorder *recorder);
/* Returns whether that thread goes on. Errors as of hi_recorder_poll(). */
enum hi_status hi_recorder_check(struct hi_recorder *recorder, struct hi_error *err);
/* Calls of allocator functions since the start, those that make no event too. */
uint64_t hi_recorder_calls(struct hi_recorder *recorder);
/* Removes the probes, since they cost too much: from now on each census has lost events.
 */
void hi_recorder_give_up(struct hi_recorder *recorder);
/* Before a stop: from now on events wait, and the recording stays as it is. A window that
 * is open ends before, and there is no other until it goes on. */
void hi_recorder_hold(struct hi_recorder *recorder);
/* While it is held: takes what happened up to a stop (CLOCK_MONOTONIC); later events go
 * on waiting. HI_NO_MEMORY, HI_TIMEOUT. */
enum hi_status hi_recorder_advance(struct hi_recorder *recorder, uint64_t stopped_ns,
				   struct hi_error *err);
/* A mark is now: keeps what each context has allocated by now. Only while it is not
 * held. HI_LIMIT: there are too many; HI_NO_MEMORY, HI_TIMEOUT. */
enum hi_status hi_recorder_mark(struct hi_recorder *recorder, const char *text,
				bool is_era, struct hi_error *err);
/* From now on what is allocated is not recorded, until it goes on; frees and
 * reallocations of recorded blocks still end these. Twice is as once. HI_LIMIT: there
 * were too many pauses, or there are windows; HI_NO_MEMORY. */
enum hi_status hi_recorder_pause(struct hi_recorder *recorder, bool is_paused,
				 struct hi_error *err);
/* Before the advance: the target stood for so long from a stop on (CLOCK_MONOTONIC).
 * Samples of that time are not the target's. */
void hi_recorder_stood(struct hi_recorder *recorder, uint64_t stopped_ns,
		       uint64_t pause_ns);
/*
 * A recording of a series may be read by a forked process, while the probes are this
 * one's: keep_probes here, and be_served in the fork, both before hi_recorder_run(), with
 * the ends of a socket pair (borrowed). hi_recorder_run() there reads the events; here it
 * serves what that needs rights for: code that is loaded. Among the other functions
 * give_up and close are for both.
 */
void hi_recorder_keep_probes(struct hi_recorder *recorder, int socket);
void hi_recorder_be_served(struct hi_recorder *recorder, int socket);
/* Before both: how a process that looks names up is started here for n hostile addresses,
 * and whether it has ended, and was fine. Copied. */
struct hi_recorder_names {
	enum hi_status (*begin)(void *arg, const uint64_t *addresses, uint32_t n);
	bool (*has_ended)(void *arg, bool *fine_ret);
	void *arg;
};
void hi_recorder_serve_names(struct hi_recorder *recorder,
			     const struct hi_recorder_names *names);
/* In the fork, with the lock: starts one for n addresses, and returns whether it has
 * ended. False: this is not the fork, or the other process has ended. */
bool hi_recorder_ask_for_names(struct hi_recorder *recorder, const uint64_t *addresses,
			       uint32_t n);
bool hi_recorder_has_names(struct hi_recorder *recorder, bool *fine_ret);
bool hi_recorder_is_served(const struct hi_recorder *recorder);
/* The descriptors that the fork needs, at most HI_RECORDER_FDS; -1: none. Borrowed. */
enum { HI_RECORDER_FDS = 2 + HI_EVENT_SOURCE_FDS };
size_t hi_recorder_fds(const struct hi_recorder *recorder, int fds[HI_RECORDER_FDS]);
/* After the finish: frees what was live in this process; its totals stay. */
void hi_recorder_forget_live(struct hi_recorder *recorder);
/* It goes on. Nothing where it is not held. */
void hi_recorder_release(struct hi_recorder *recorder);
/* Returns the ranges in which no thread of the target may be stopped, beside the
 * allocator's text (borrowed, *n_ret of them); and so may none be in the return page, if
 * there is one. */
const struct hi_range *hi_recorder_avoided(const struct hi_recorder *recorder,
					   size_t *n_ret);
bool hi_recorder_return_page(const struct hi_recorder *recorder, struct hi_range *ret);
/* Takes what happened up to the stop (CLOCK_MONOTONIC), leaves out what came later, and
 * removes the probes. HI_NO_MEMORY, HI_TIMEOUT. */
enum hi_status hi_recorder_finish(struct hi_recorder *recorder, uint64_t stopped_ns,
				  struct hi_error *err);
/* Has the target exited, so that its memory is gone? After a poll. */
bool hi_recorder_is_lost(const struct hi_recorder *recorder);
/* Instead of the finish, of a target that is lost: what was mapped as code, and what was
 * known of the process when the recorder was opened. Both are the caller's, and only
 * once. HI_GONE: nothing is known. HI_NO_MEMORY. */
enum hi_status hi_recorder_take_lost(struct hi_recorder *recorder,
				     struct hi_target **target_ret,
				     struct hi_image **image_ret, struct hi_error *err);
void hi_recorder_close(struct hi_recorder *recorder); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_recorder *, hi_recorder_close)
/* For hi_stop_observers_add(), after the other observers; NULL for NULL. */
struct hi_stop_observer *hi_recorder_observer(struct hi_recorder *recorder);
/* recorder_observer.c; each recorder begins with such an observer. */
extern const struct hi_stop_observer_ops hi_recorder_observer_ops;

/* ---- what was recorded ---- */

const struct hi_recording *hi_recorder_recording(const struct hi_recorder *recorder);
/* Borrowed until the next mark. */
struct hi_recorded_marks hi_recorder_marked(const struct hi_recorder *recorder);
/* Borrowed until the next call; the open one ends now. */
const struct hi_recording_pause *hi_recorder_pauses(struct hi_recorder *recorder,
						    uint32_t *n_ret);
/* Returns the stats of the source; after the finish those of then. */
void hi_recorder_stats(const struct hi_recorder *recorder, struct hi_event_stats *ret);
/* Are there windows alone? After the probes are set. *why_not_ret: NULL, or why there are
 * none though they were asked for. */
bool hi_recorder_has_windows(const struct hi_recorder *recorder,
			     const struct hi_error **why_not_ret);
/* Why there are. */
struct hi_windows_choice hi_recorder_windows_choice(const struct hi_recorder *recorder);
/* Do windows see nothing by now? */
bool hi_recorder_is_blind(const struct hi_recorder *recorder);
/* For how long, up to the last stop, windows saw nothing, since the first thread of the
 * target had ended. */
uint64_t hi_recorder_blind_ns(const struct hi_recorder *recorder);
/* The cost of windows for the target, and its traps after them. */
struct hi_window_load hi_recorder_window_load(const struct hi_recorder *recorder,
					      uint64_t *late_hits_ret);
/* Returns the samples of time up to the last stop. */
struct hi_recorded_time hi_recorder_time(const struct hi_recorder *recorder);
/* CLOCK_MONOTONIC. start_ns: 0 before the start; end_ns: the last stop, 0 before the
 * first. */
uint64_t hi_recorder_start_ns(const struct hi_recorder *recorder);
uint64_t hi_recorder_end_ns(const struct hi_recorder *recorder);
/* Returns the mappings of code until now; borrowed. */
const struct hi_past_code *hi_recorder_code(const struct hi_recorder *recorder);
/* The program's file; hostile. */
const char *hi_recorder_exe(const struct hi_recorder *recorder);
/* Returns the state of the functions by which CPython allocates; for
 * HI_PYTHON_HEAP_COPIED the number of functions that have copies of them. */
enum hi_python_heap hi_recorder_python_heap(const struct hi_recorder *recorder,
					    uint32_t *n_copies_ret);
/* Returns the count of their calls since it was opened. */
struct hi_allocation_rate hi_recorder_heap_rate(const struct hi_recorder *recorder);
/* Before the start: they are not followed, and their probes are closed. */
void hi_recorder_drop_heap(struct hi_recorder *recorder);
/* Are pymalloc's blocks among those that are recorded? */
bool hi_recorder_follows_python_heap(const struct hi_recorder *recorder);
/* Returns the copies of the Python code in stacks; NULL: none. Asking it for names needs
 * no process, but the lock, also while the recording is held. */
struct hi_python_codes *hi_recorder_python_codes(const struct hi_recorder *recorder);
/* The file that malloc is in: "libc.so.6"; hostile. */
const char *hi_recorder_module(const struct hi_recorder *recorder);

#endif
