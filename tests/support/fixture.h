/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixture program under test: started with its stdin and stdout as pipes,
 * read line by line, ended by closing its stdin (then by SIGKILL). Always
 * ended when the test is over: hi_fixture_start defers that. If the test fails,
 * and it had ended before, the log has its exit code or its signal.
 *
 *	struct hi_fixture *fx = hi_fixture_start("glibc_blocks", "5", NULL);
 *	char line[256];
 *	while (hi_fixture_line(fx, line, sizeof(line)) && strcmp(line, "ready")) …
 */
#ifndef HI_TESTS_SUPPORT_FIXTURE_H
#define HI_TESTS_SUPPORT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hi_fixture {
	pid_t pid;
	struct hi_fixture *next;
	int in;	   /* write end of its stdin; -1 once closed */
	int out;   /* read end of its stdout; read it by hi_fixture_line only */
	int ended; /* 1: reaped */
	int wait_status;
	size_t used, filled; /* of buffer */
	char buffer[1 << 16];
};

/* Runs HI_FIXTURE_DIR/name (or name itself if it has a slash) with arguments
 * up to NULL. Fails the test if it cannot. */
struct hi_fixture *hi_fixture_start(const char *name, ...) __attribute__((sentinel));
struct hi_fixture *hi_fixture_startv(const char *path, char *const argv[]);
/* The next line without its newline; false at the end or after 300 s. */
bool hi_fixture_line(struct hi_fixture *fx, char *line, size_t size);
/* Lines up to and including the one that equals `last`; fails the test if it
 * never comes. fn may be NULL. Then settled. */
void hi_fixture_read_until(struct hi_fixture *fx, const char *last,
			   void (*fn)(const char *line, void *arg), void *arg);
/* Whoever has said a line may still be deep in the calls that said it, for long where
 * others have the processors: until it sleeps, or has run for some milliseconds. */
void hi_fixture_settle(struct hi_fixture *fx);
/* Until a process that says nothing is this program, and sleeps: before its exec it is
 * a copy of the test. Fails the test if it never is. */
void hi_fixture_await_program(pid_t pid, const char *name);
/* Writes a line to its stdin: the fixture's cue to go on. */
void hi_fixture_tell(struct hi_fixture *fx, const char *line);
/* Closes stdin, waits at most 60 s, then SIGKILLs; returns the wait status. */
int hi_fixture_end(struct hi_fixture *fx);
/* pid is of a fixture that has not been given back. */
bool hi_fixture_is_one(pid_t pid);
/* Waits (at most 10 s) until the main thread of pid sleeps in this system call (SYS_…)
 * and so is through with whatever it did before; fails the test otherwise. */
void hi_fixture_await_call(pid_t pid, long number);
/* State letter of /proc/PID/stat ('S', 'T', …); 0 if there is no such process. */
char hi_process_state(pid_t pid);
/* A number of /proc/PID/status ("VmRSS", "TracerPid"); -1 if it is not there. */
long long hi_process_status(pid_t pid, const char *key);
/* How often its threads have gone to sleep: what looks at something again and again has
 * looked so often. 0 if there is no such process. */
unsigned long long hi_process_naps(pid_t pid);

#endif
