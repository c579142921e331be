/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program under test as a process that is disturbed while it works, and proofs
 * that it has left nothing: no child, zombie, tracer, watchdog, stopped thread.
 *
 *	hi_traces_watch(target);
 *	pid_t pid = hi_inspector_start(argv, -1);
 *	kill(pid, SIGKILL);
 *	hi_inspector_wait(pid);
 *	hi_traces_expect_none(target, "RS");
 */
#ifndef HI_TESTS_SUPPORT_INTERRUPTED_H
#define HI_TESTS_SUPPORT_INTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on orphans of ours come to us, and what children we and the target have
 * now are no traces. */
void hi_traces_watch(pid_t target);
/* Waits, at most 20 s, until we and the target have no other children, and every
 * thread of the target is untraced and in one of these states ("" any). What has
 * ended of ours is reaped; in the target nothing may need that. */
void hi_traces_expect_none(pid_t target, const char *states);

/* Starts heapinspect with these words, NULL at the end. out: its stdout; -1:
 * /dev/null, where its stderr goes in any case. Killed and reaped, if it is still there,
 * when the test ends. After hi_traces_watch(). */
pid_t hi_inspector_start(const char *const *words, int out);
/* The same with a limit (RLIMIT_…) on itself. */
pid_t hi_inspector_start_limited(const char *const *words, int out, int resource,
				 uint64_t limit);
/* Waits at most 60 s, reaps: its wait status. */
int hi_inspector_wait(pid_t inspector);
bool hi_inspector_is_over(pid_t inspector); /* not reaped */
/* Spins until a thread of target is traced; false: the inspector ended before. */
bool hi_inspector_await_stop(pid_t inspector, pid_t target);
/* The child of a process that is called so ("hi-tracer", "hi-watchdog"); 0: none now. */
pid_t hi_process_of(pid_t parent, const char *name);
/* A process whose memory is the target's by an injected fork; 0: none now. */
pid_t hi_forked_child_of(pid_t target);

/* The same numbers in every run, but for the environment's HI_SEED. */
uint64_t hi_test_random(uint64_t below);
uint64_t hi_test_now_us(void);
/* A count of rounds: the environment's, else the one given. */
unsigned hi_test_rounds(const char *variable, unsigned usual);
/* Rounds of a test that looks for what is rare:
 *	for (struct hi_test_course c = hi_test_course_of("HI_KILLS", 5, 40);
 *	     hi_test_course_goes_on(&c);)
 * c.round is 0, 1, 2, … There are `most` of them; fewer where they take longer than some
 * seconds, as others have the processors, but at least `least`. The environment may say
 * how many, and then there are just as many. */
struct hi_test_course {
	unsigned round, next, least, most;
	uint64_t until_us;
};
struct hi_test_course hi_test_course_of(const char *variable, unsigned least,
					unsigned most);
bool hi_test_course_goes_on(struct hi_test_course *course);

#endif
