/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/exit_log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "probes/bpf/exits_shared.h"
#include "probes/bpf_link.h"
#include "probes/bpf_load.h"
#include "probes/bpf_process.h"

enum {
	PAGE = 4096,
	N_PROGRAMS = 2,
	ROOM_LEAST = 1024, /* threads */
	ROOM_MOST = 65536,
};

extern const unsigned char hi_bpf_exits_start[], hi_bpf_exits_end[];

struct bpf_exit_log {
	struct hi_exit_log log;
	struct bpf_object *object;
	struct bpf_link *links[N_PROGRAMS];
	struct hi_bpf_exits *exits;
	struct hi_bpf_exit_thread *threads;
	size_t threads_size;
	uint32_t room;
	pid_t pid;
};

static void close_exit_log(struct hi_exit_log *log);
HI_DEFINE_GUARD(struct hi_exit_log *, close_exit_log)

static const struct bpf_exit_log *to_bpf_log(const struct hi_exit_log *log)
{
	return (const struct bpf_exit_log *)log;
}

static uint32_t count_execs(const struct hi_exit_log *log)
{
	return __atomic_load_n(&to_bpf_log(log)->exits->n_execs, __ATOMIC_ACQUIRE);
}

static uint64_t find_exec_ns(const struct hi_exit_log *log)
{
	return __atomic_load_n(&to_bpf_log(log)->exits->exec_ns, __ATOMIC_ACQUIRE);
}

/* ---- the threads ---- */

static struct hi_thread make_exit_thread(const struct bpf_exit_log *self,
					 const struct hi_bpf_exit_thread *from)
{
	struct hi_thread thread = {.tid = (pid_t)from->tid};

	/* In the namespace of the target its leader has another number. */
	if (from->tid == from->tgid)
		thread.tid = self->pid;
	memcpy(thread.name, from->name, sizeof(from->name));
	thread.name[sizeof(from->name) - 1] = 0;
	memcpy(&thread.regs, from->regs, sizeof(from->regs));
	thread.regs.cs &= 0xffff; /* the rest is of the kernel */
	thread.regs.ss &= 0xffff;
	thread.regs.fs_base = from->fs_base;
	thread.regs.gs_base = from->gs_base;
	return thread;
}

/* One that has exited before the process has registers of zero, as in any image. */
static void put_leader_first(const struct bpf_exit_log *self, struct hi_thread *threads,
			     size_t *n)
{
	size_t at = 0;
	struct hi_thread leader = {.tid = self->pid};

	while (at < *n && threads[at].tid != self->pid)
		at++;
	if (at < *n)
		leader = threads[at];
	else
		++*n; /* there is room for it */
	memmove(threads + 1, threads, at * sizeof(*threads));
	threads[0] = leader;
}

static enum hi_status list_exit_threads(const struct hi_exit_log *log,
					struct hi_thread **ret, size_t *n_ret,
					int *signal_ret, struct hi_error *err)
{
	const struct bpf_exit_log *self = to_bpf_log(log);
	uint32_t n = __atomic_load_n(&self->exits->n_threads, __ATOMIC_ACQUIRE);
	struct hi_thread *threads;
	size_t count = 0;

	if (n == 0 || n > self->room)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%u threads ended with process %d, and %u are known", n,
			       (int)self->pid, n < self->room ? n : self->room);
	threads = hi_realloc_array(NULL, (size_t)n + 1, sizeof(*threads));
	if (!threads)
		return hi_fail_memory(err, "threads");
	*signal_ret = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct hi_bpf_exit_thread *from = &self->threads[i];

		if (!from->is_filled)
			continue;
		*signal_ret = (int)(from->code & 0x7f);
		threads[count++] = make_exit_thread(self, from);
	}
	put_leader_first(self, threads, &count);
	*ret = threads;
	*n_ret = count;
	return HI_OK;
}

/* ---- opening ---- */

static void close_exit_log(struct hi_exit_log *log)
{
	struct bpf_exit_log *self = (struct bpf_exit_log *)log;

	if (!self)
		return;
	for (size_t i = 0; i < N_PROGRAMS; i++)
		bpf_link__destroy(self->links[i]);
	if (self->exits)
		munmap(self->exits, PAGE);
	if (self->threads)
		munmap(self->threads, self->threads_size);
	bpf_object__close(self->object);
	free(self);
}

static const struct hi_exit_log_ops exit_log_ops = {.execs = count_execs,
						    .exec_ns = find_exec_ns,
						    .threads = list_exit_threads,
						    .close = close_exit_log};

static void *map_log_memory(const struct bpf_exit_log *self, const char *name,
			    size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_object__find_map_fd_by_name(self->object, name), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static enum hi_status load_exit_programs(struct bpf_exit_log *self, size_t n_threads,
					 struct hi_error *err)
{
	enum hi_status status =
		hi_bpf_open(hi_bpf_exits_start, hi_bpf_exits_end, &self->object, err);

	if (status != HI_OK)
		return status;
	self->room = n_threads > ROOM_MOST / 4	  ? ROOM_MOST
		     : n_threads * 4 > ROOM_LEAST ? (uint32_t)n_threads * 4
						  : ROOM_LEAST;
	if (bpf_map__set_max_entries(
		    bpf_object__find_map_by_name(self->object, "threads_map"),
		    self->room) != 0)
		return hi_bpf_refused(errno, err);
	status = hi_bpf_load(self->object,
			     HI_BPF_NEEDS_TYPES | HI_BPF_NEEDS_FETCHES | HI_BPF_TRIAL,
			     err);
	if (status != HI_OK)
		return status;
	self->threads_size =
		(self->room * sizeof(*self->threads) + PAGE - 1) / PAGE * PAGE;
	self->exits = map_log_memory(self, "exits_map", PAGE);
	self->threads = map_log_memory(self, "threads_map", self->threads_size);
	return self->exits && self->threads
		       ? HI_OK
		       : hi_fail_errno(err, "memory of a BPF program");
}

static enum hi_status attach_exit_programs(struct bpf_exit_log *self,
					   struct hi_error *err)
{
	struct bpf_program *program;
	size_t n = 0;

	bpf_object__for_each_program(program, self->object)
	{
		if (n == N_PROGRAMS)
			break;
		self->links[n] = bpf_program__attach(program);
		if (!self->links[n++])
			return hi_bpf_refused(errno, err);
	}
	return HI_OK;
}

enum hi_status hi_exit_log_open(pid_t pid, size_t n_threads, struct hi_exit_log **ret,
				struct hi_error *err)
{
	struct bpf_exit_log *self = hi_calloc(1, sizeof(*self));
	HI_GUARD(close_exit_log) struct hi_exit_log *guard = (struct hi_exit_log *)self;
	struct hi_bpf_process process;
	enum hi_status status;

	if (!self)
		return hi_fail_memory(err, "log of an exit");
	self->log.ops = &exit_log_ops;
	self->pid = pid;
	status = hi_bpf_process_find(pid, &process, err);
	if (status == HI_OK)
		status = load_exit_programs(self, n_threads, err);
	if (status != HI_OK)
		return status;
	self->exits->ns_device = process.ns_device;
	self->exits->ns_inode = process.ns_inode;
	self->exits->tgid = process.tgid;
	status = attach_exit_programs(self, err);
	if (status != HI_OK)
		return status;
	*ret = hi_take(guard);
	return HI_OK;
}
