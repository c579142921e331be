/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the inspector's side of the tracer (tracer.c) and the process. */
#ifndef HI_ATTACH_TRACER_PROCESS_H
#define HI_ATTACH_TRACER_PROCESS_H

#include <stdatomic.h>

#include "attach/fork.h"
#include "attach/image.h"
#include "attach/stop_options.h"

enum hi_tracer_command {
	HI_TRACER_STOP = 1,
	HI_TRACER_RESUME,
	HI_TRACER_FORK,
	HI_TRACER_END_CHILD,
};

struct hi_tracer_reply {
	enum hi_status status;
	struct hi_error error;
};

/* Memory that inspector, tracer and watchdog share. */
struct hi_tracer_shared {
	_Atomic uint32_t timed_out;  /* the watchdog has acted */
	_Atomic uint32_t waiting;    /* for the trigger; nothing is stopped */
	_Atomic uint32_t seized;     /* all threads, before the trigger is waited for */
	_Atomic uint64_t resumed_ns; /* 0 until the last thread was let go */
	_Atomic uint64_t alive_ns;   /* the tracer's last sign while it waits */
	uint64_t stopped_ns;
	struct hi_trigger_stop trigger;
	uint32_t threads_in_allocator, avoid_rounds;
	_Atomic uint32_t torn;	    /* one that was left asleep ran before the resume */
	_Atomic uint32_t stood;	    /* a thread was made to stand */
	pid_t child_pid, child_tid; /* of HI_TRACER_FORK: struct hi_tracer_child */
	size_t capacity, n_threads;
	struct hi_thread threads[];
};

struct hi_tracer_request {
	pid_t pid, inspector;
	uint64_t start_time; /* of the target, clock ticks; 0: unknown */
	int target;	     /* pidfd, held since before pid was looked at; -1: none */
	uint64_t vdso;	     /* where the target's vdso was; 0: unknown */
	int memory;	     /* /proc/PID/mem of the program as it was at the start; -1 */
	bool writable;	     /* memory was opened for writing */
	int pagemap;	     /* the same; -1 */
	uint64_t probe;	     /* a readable address in it */
	int socket, timer;
	const struct hi_stop_options *options;
	const struct hi_fork_plan *plan; /* NULL: see plan_error */
	struct hi_error plan_error;
	struct hi_tracer_shared *shared;
};

/* Runs in a fork of the inspector, serves commands until the socket closes. */
_Noreturn void hi_tracer_process_run(const struct hi_tracer_request *request);

/* A value of pid's auxiliary vector; 0 if it cannot be had. */
uint64_t hi_tracer_auxv_value(pid_t pid, uint64_t type);

#endif
