/* SPDX-License-Identifier: BSD-2-Clause */
/* State of one thread in /proc. All of it may be out of date when it is returned. */
#ifndef HI_ATTACH_THREAD_STAT_H
#define HI_ATTACH_THREAD_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* State letter of a thread, 0 if there is none. */
char hi_thread_state(pid_t pid, pid_t tid);
/* Processor that it runs on, or ran on last; -1 unknown. */
int hi_thread_cpu(pid_t pid, pid_t tid);
/* comm of a thread, "" if unknown. */
void hi_thread_name(pid_t pid, pid_t tid, char name[16]);
/* The pid of its tracer; 0: it is not traced, or there is no such thread. */
pid_t hi_thread_tracer(pid_t pid, pid_t tid);
/* It has seccomp filters, or that cannot be read. */
bool hi_thread_is_filtered(pid_t pid, pid_t tid);
/*
 * Asleep (S), and how often it gave its processor up or lost it: as long as both stay as
 * they are it does not run. False: not asleep, or there is none.
 */
bool hi_thread_is_asleep(pid_t pid, pid_t tid, uint64_t *switches_ret);
/* The thread is exiting but not yet a zombie, or does not exist. */
bool hi_thread_is_exiting(pid_t pid, pid_t tid);

#endif
