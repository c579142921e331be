/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Allocation events: runs at the entry and at the return of each function of the
 * allocator, and sends what happened through a ring.
 *
 * Note [One call at a time]
 *
 * Functions of an allocator call each other (realloc calls malloc and free), so that only
 * the outermost one of a thread makes events. It is pending from its entry to its return,
 * and known by its stack pointer. A call that was left by a longjmp, or whose thread was
 * cancelled, never returns: so what is pending is believed only if the new call's frame
 * lies below it, and if its return address is still the kernel's, which is there while
 * the function runs (a return probe replaces it). A tail call has the stack pointer of
 * its caller, and finds the kernel's address there as well.
 *
 * This holds within a family (enum hi_event_family), whose functions give out one and the
 * same block: operator new calls malloc, and so does pymalloc for what is large. A pool
 * that calls malloc for a slab is of another family: the slab is malloc's block, and the
 * piece of it that the pool gives out is the pool's, so both make events, and a thread
 * may have a pending call of each family. Pools that call each other are one family: the
 * outermost one counts. A mapping that an allocator makes for itself is none of the
 * program's (HI_BPF_NOT_OWN): its blocks count, or the memory would count twice.
 *
 * Note [The order of events]
 *
 * A block is given back at the entry of free, before another thread may get it; it is
 * given out at the return of malloc. So for one address the ring has the events in the
 * order in which they happened, whichever threads they are of.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "probes/bpf/events_shared.h"
#include "probes/bpf/python_walk.h"
#include "probes/bpf/unwind.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Set by the loader. */
const volatile struct hi_bpf_events_given given = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hi_bpf_events_shared);
} shared_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HI_BPF_EVENT_FUNCTIONS *HI_BPF_EVENT_SLOTS);
	__type(key, __u32);
	__type(value, struct hi_bpf_event_counts);
} counts_map SEC(".maps");

/* max_entries is set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 25);
} ring_map SEC(".maps");

/*
 * A call that has not returned yet. Its place depends on its thread; one that is taken
 * by another thread's call leads to the next of a few.
 */
struct pending {
	__u32 key;	/* of the thread and the family; 0: free */
	__u32 function; /* the cookie */
	__u64 sp;	/* at its entry */
	__u64 size;
	__u64 old;	  /* the block that it was given; 0: none */
	__u64 result;	  /* where the result goes */
	__u64 has_begun;  /* HI_EVENT_REALLOC_BEGIN was sent */
	__u64 window;	  /* that saw the entry */
	__u64 entered_ns; /* of a window: when the program at the entry was over */
};

/* Hashes of stacks that were sent. A stack that another one has displaced is sent again.
 */
struct sent {
	__u64 hash[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HI_BPF_EVENT_STACKS);
	__type(key, __u32);
	__type(value, struct sent);
} sent_map SEC(".maps");

/* Room to walk a stack: a program may be preempted, and run for another thread. */
struct scratch {
	__u32 is_taken, key;
	/* Frames that may be added to the stack. Here the verifier does not know it: it
	 * would follow each number by itself. */
	__u64 left;
	struct hi_event_stack stack;
	__u8 pad[8];
	/* The result of find_rule(). */
	struct remembered {
		__u64 pc, rule;
		__u64 generation; /* of the tables */
	} rules[HI_BPF_STACK_RULES];
	struct python_scratch python;
	/* The place of the walk. */
	struct stack_walk {
		struct hi_unwind_regs regs;
		__u64 hash, generation;
		__u64 has_lost_stack; /* only frames of Python come now */
	} walk;
	/* A copy of the innermost part of the stack. */
	__u64 window_start, window_size;
	__u8 window[HI_BPF_STACK_WINDOW];
};

/* Places to look for one that is a thread's, or for a free one. */
enum { TRIES = 4 };

struct call {
	struct pt_regs *regs;
	struct hi_bpf_events_shared *shared;
	const volatile struct hi_bpf_function *does;
	__u32 cookie, tid;
	__u64 begin_ns; /* of a window */
};

/* Is it a thread of the target that runs? */
static __always_inline int is_target(const struct hi_bpf_events_shared *shared,
				     __u32 *tid_ret)
{
	struct bpf_pidns_info in_ns;
	__u64 id;

	if (shared->ns_inode) {
		if (bpf_get_ns_current_pid_tgid(shared->ns_device, shared->ns_inode,
						&in_ns, sizeof(in_ns)))
			return 0;
		*tid_ret = in_ns.pid;
		return in_ns.tgid == shared->tgid;
	}
	id = bpf_get_current_pid_tgid();
	*tid_ret = (__u32)id;
	return id >> 32 == shared->tgid;
}

static __always_inline int is_counting(const struct call *call)
{
	return *(volatile __u32 *)&call->shared->running == HI_BPF_EVENTS_COUNTED;
}

static __always_inline struct hi_bpf_event_counts *counts_of(__u32 cookie)
{
	__u32 slot = (cookie & (HI_BPF_EVENT_FUNCTIONS - 1)) * HI_BPF_EVENT_SLOTS +
		     (bpf_get_smp_processor_id() & (HI_BPF_EVENT_SLOTS - 1));

	return bpf_map_lookup_elem(&counts_map, &slot);
}

/* ---- the ring ---- */

static __always_inline int put(const struct hi_event *event)
{
	struct hi_event *slot = bpf_ringbuf_reserve(&ring_map, sizeof(*slot), 0);

	if (!slot)
		return 0;
	*slot = *event;
	bpf_ringbuf_submit(slot, BPF_RB_NO_WAKEUP);
	return 1;
}

static __always_inline __s64 draw_distance(__u64 mean)
{
	__u64 distance = 0;

	for (int i = 0; i < HI_SAMPLING_DRAWS; i++)
		if (hi_sampling_add(&given.sampling, bpf_get_prandom_u32(), &distance))
			break;
	return (__s64)hi_sampling_bytes(distance, mean);
}

/* A pool's first piece has the address of its slab. */
static __always_inline __u64 sampled_key(__u32 family, __u64 addr)
{
	return addr | (__u64)family << 60;
}

/* Not 0. Ids of threads have 22 bits. */
static __always_inline __u32 pending_key(__u32 family)
{
	return (__u32)bpf_get_current_pid_tgid() | family << 24;
}

/*
 * Note [Returns that are probed]
 *
 * While a function runs whose return is probed, the kernel's address is in the place of
 * its return address, and a stack that is walked through the function would end there.
 * Pools of the program (HI_FAMILY_CALLS) call malloc, and each other, and a sample of
 * time may find a thread anywhere in malloc. So where a pool is followed or time is
 * sampled, each thread's callers of followed functions are kept from the entry to the
 * return, outermost first. The stack pointer at the entry identifies the call of a frame.
 *
 * A call that a longjmp left does not return. It is dropped at the next entry or return
 * that has its stack pointer or a higher one. Until then it is not used: a walk asks only
 * for the caller of a frame whose return address is the kernel's now, and that call was
 * entered later, at the same stack pointer, which dropped the one that was left.
 *
 * The kernel sees no more than 64 calls of a thread return (MAX_URETPROBE_DEPTH), and
 * lets those within them alone. As many callers are kept.
 */
struct callers {
	__u32 thread; /* its id; 0: free */
	__u32 n;
	/* Samples of time: the call that has returned last, of whichever thread. */
	__u64 returned_thread;
	struct caller {
		__u64 sp, address; /* the caller's: where the call returns to */
		__u64 function;	   /* that was called */
	} returned, calls[HI_BPF_CALLERS];
};

#ifdef HI_BPF_OLD
#include "probes/bpf/events_old.h"
#else
#include "probes/bpf/events_state.h"
#endif

static __always_inline void send(struct hi_bpf_events_shared *shared,
				 const struct hi_event *event)
{
	if ((!shared->lost || put_lost(shared, event->time_ns)) && put(event))
		return;
	lose(shared, 1);
	__sync_fetch_and_add(&shared->lost_total, 1);
}

/* False: not an event of the target. */
static __always_inline int find_call(struct pt_regs *regs, int at_return,
				     struct call *ret)
{
	__u32 zero = 0;

	ret->regs = regs;
	ret->shared = bpf_map_lookup_elem(&shared_map, &zero);
	if (!ret->shared || !find_function(regs, at_return, &ret->cookie))
		return 0;
	if (ret->cookie == HI_BPF_EVENT_OWN_SITE) {
		__sync_fetch_and_add(&ret->shared->own_hits, 1);
		return 0;
	}
	if (!*(volatile __u32 *)&ret->shared->running) {
		if (ret->shared->window)
			__sync_fetch_and_add(&ret->shared->late_hits, 1);
		return 0;
	}
	if (is_window_over(ret->shared, &ret->begin_ns))
		return 0;
	ret->does = &given.functions[ret->cookie & (HI_BPF_EVENT_FUNCTIONS - 1)];
	return is_target(ret->shared, &ret->tid);
}

/* May the block be one of the recording? */
static __always_inline int is_recorded(const struct call *call, __u64 addr)
{
	return !call->shared->sample_bytes || call->does->flags & HI_BPF_ALWAYS ||
	       is_sampled(call->does->family, addr);
}

/* ---- calls ---- */

/*
 * Note [Calls of windows before]
 *
 * A call that returns after its window is over stays pending. In a later window a thread
 * may return from a call of the same function at the same stack pointer whose entry no
 * program saw, as it began before the window did. So what is pending has the number of
 * its window, and counts in that alone. Without windows the number is 0.
 */
static __always_inline int is_of_window(const struct call *call,
					const struct pending *pending)
{
	return pending->window == *(volatile __u64 *)&call->shared->window;
}

/* Is the call of regs made by the pending one? See Note [One call at a time]. */
static __always_inline int is_made_by(const struct call *call,
				      const struct pending *pending)
{
	__u64 trampoline = call->shared->trampoline, word = 0;

	if (!is_of_window(call, pending))
		return 0;
	if (!trampoline)
		return pending->sp > call->regs->rsp ||
		       (pending->sp == call->regs->rsp &&
			pending->function != call->cookie);
	return pending->sp >= call->regs->rsp &&
	       !bpf_probe_read_user(&word, sizeof(word), (const void *)pending->sp) &&
	       word == trampoline;
}

/* glibc empties a thread's cache by free, when the thread ends: those blocks were given
 * back before. */
static __always_inline int is_own_call(const struct call *call)
{
	const struct hi_bpf_range *own = call->shared->own;
	__u64 caller = 0;

	if (!own[0].end ||
	    bpf_probe_read_user(&caller, sizeof(caller), (const void *)call->regs->rsp))
		return 0;
	for (int i = 0; i < HI_BPF_EVENT_OWN; i++)
		if (caller - own[i].start < own[i].end - own[i].start)
			return 1;
	return 0;
}

/* ---- stacks ---- */

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/*
 * Note [Tables that change]
 *
 * The tables are one map, in the only slot of a map of maps: the loader fills a new one
 * and puts it into the slot. A search takes what is in the slot and uses nothing else, so
 * an index is never used with the rows of other tables. The kernel keeps a map for as
 * long as a program may use it. Then the loader counts the generation up: what was found
 * before is not remembered any more. A walk that began before remembers what it finds
 * under the old number, to no avail.
 */
struct tables {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct tables);
} unwind_map SEC(".maps");

/* Stays 0. */
static volatile __u32 nothing;

struct hi_unwind_reader {
	void *tables;		 /* only in a search */
	struct scratch *scratch; /* only in a walk */
	__u64 generation;
};

static __always_inline __u64 table_word(void *tables, __u32 index)
{
	__u64 *word = bpf_map_lookup_elem(tables, &index);

	return word ? *word : nothing;
}

/* From addr on; less at the end of what is mapped. */
static __always_inline void copy_window(struct scratch *scratch, __u64 addr)
{
	__u32 size = HI_BPF_STACK_WINDOW;

	scratch->window_start = addr;
	if (bpf_probe_read_user(scratch->window, size, (const void *)addr)) {
		size = 4096 - (addr & 4095);
		if (size > HI_BPF_STACK_WINDOW ||
		    bpf_probe_read_user(scratch->window, size, (const void *)addr))
			size = 0;
	}
	scratch->window_size = size;
}

static __always_inline int window_word(struct scratch *scratch, __u64 addr, __u64 *ret)
{
	__u64 offset = addr - scratch->window_start;

	if (offset >= scratch->window_size || offset > HI_BPF_STACK_WINDOW - 8)
		return 0;
	*ret = *(__u64 *)(scratch->window + offset);
	return 1;
}

/* Not inlined: there is one for all steps. Registers are saved below the return address,
 * which is read first. */
static __attribute__((noinline)) int read_behind_window(struct scratch *scratch,
							__u64 addr)
{
	enum { SAVED_REGISTERS = 56 };

	copy_window(scratch, addr - SAVED_REGISTERS);
	return 0;
}

static __always_inline int stack_word(struct scratch *scratch, __u64 addr, __u64 *ret)
{
	if (window_word(scratch, addr, ret))
		return 1;
	read_behind_window(scratch, addr);
	return window_word(scratch, addr, ret) ||
	       !bpf_probe_read_user(ret, 8, (const void *)addr);
}

#define HI_UNWIND_NOTHING nothing
#define HI_UNWIND_WORD(reader, index) table_word((reader)->tables, index)
#define HI_UNWIND_STACK(reader, addr, ret) stack_word((reader)->scratch, addr, ret)
#define HI_UNWIND_RULE(reader, pc) remembered_rule(reader, pc)
static __u64 remembered_rule(struct hi_unwind_reader *reader, __u64 pc);
#include "probes/bpf/unwind_walk.h"

/* Not static: the kernel verifies a global function once, for all its calls. */
__attribute__((noinline)) __u64 find_rule(__u64 pc)
{
	struct hi_unwind_reader reader = {};
	__u32 zero = 0, rule;

	reader.tables = bpf_map_lookup_elem(&unwind_map, &zero);
	if (!reader.tables)
		return 0;
	rule = hi_unwind_search(&reader, pc);
	return rule ? hi_unwind_rule(&reader, rule) : 0;
}

static __always_inline __u64 remembered_rule(struct hi_unwind_reader *reader, __u64 pc)
{
	struct remembered *last =
		&reader->scratch->rules[mix(0, pc) >> (64 - HI_BPF_STACK_RULE_BITS)];

	if (last->pc != pc || last->generation != reader->generation) {
		last->rule = find_rule(pc);
		last->pc = pc;
		last->generation = reader->generation;
	}
	return last->rule;
}

/* Not static, as find_rule(). */
__attribute__((noinline)) __u64 next_python_frame(__u32 scratch_key)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_map, &scratch_key);
	__u32 zero = 0;
	const struct hi_bpf_events_shared *shared =
		bpf_map_lookup_elem(&shared_map, &zero);

	return scratch && shared ? take_python_frame(shared, &scratch->python)
				 : PYTHON_NONE;
}

static __always_inline void add_frame(struct scratch *scratch, __u32 n, __u64 frame)
{
	scratch->stack.frames[n] = frame;
	scratch->stack.n = n + 1;
	scratch->walk.hash = mix(scratch->walk.hash, frame);
}

static __always_inline struct caller *caller_at(struct callers *callers, __u32 i)
{
	return &callers->calls[i & (HI_BPF_CALLERS - 1)];
}

/* How many calls have a higher stack pointer. */
static __always_inline __u32 count_outer_calls(struct callers *callers, __u64 sp)
{
	__u32 found = nothing, n = callers->n;

	for (__u32 step = HI_BPF_CALLERS; step; step >>= 1) {
		__u32 next = found + step;

		if (next <= n && caller_at(callers, next - 1)->sp > sp)
			found = next;
	}
	return found;
}

/* Returns whether probed functions return there. Until it is known: it is the start of a
 * page. */
static __always_inline int is_trampoline(const struct hi_bpf_events_shared *shared,
					 __u64 address)
{
	return shared->trampoline ? address == shared->trampoline
				  : address && !(address & 4095);
}

/* False: there is no room. */
static __always_inline int push_caller(const struct call *call, struct callers *callers,
				       __u64 sp, __u64 address)
{
	__u32 n = count_outer_calls(callers, sp);
	struct caller *caller = caller_at(callers, n);

	/* A tail call: it returns for the function that made it. */
	if (n < callers->n && caller->sp == sp && is_trampoline(call->shared, address)) {
		callers->n = n + 1;
		return 1;
	}
	callers->n = n;
	if (n >= HI_BPF_CALLERS)
		return 0;
	caller->sp = sp;
	caller->address = address;
	caller->function = call->regs->rip;
	callers->n = n + 1;
	return 1;
}

/* At the entry. The kernel replaces the return address only after this program. */
static __always_inline void keep_caller(const struct call *call)
{
	struct callers *callers = find_callers();
	__u64 sp = call->regs->rsp, address = 0;

	if (!callers)
		callers = take_callers();
	if (!callers ||
	    bpf_probe_read_user(&address, sizeof(address), (const void *)sp) ||
	    !push_caller(call, callers, sp, address))
		__sync_fetch_and_add(&call->shared->lost_calls, 1);
}

/* At the return, where the stack pointer is above the place of the return address. */
static __always_inline void drop_callers(const struct call *call)
{
	struct callers *callers = find_callers();

	if (!callers)
		return;
	callers->n = count_outer_calls(callers, call->regs->rsp - 8);
	if (given.scan_steps) {
		callers->returned = *caller_at(callers, callers->n);
		callers->returned_thread = callers->thread;
	}
	if (!callers->n)
		release_callers(callers);
}

/* False: the frame's return address is the kernel's, and its caller was not kept. */
static __always_inline int restore_return(const struct hi_bpf_events_shared *shared,
					  struct hi_unwind_regs *regs)
{
	struct callers *callers;
	__u64 sp = regs->rsp - 8;
	__u32 n;

	if (!given.keeps_callers || !is_trampoline(shared, regs->rip) ||
	    (!shared->trampoline && find_rule(regs->rip)))
		return 1;
	callers = find_callers();
	if (!callers)
		return 0;
	n = count_outer_calls(callers, sp);
	if (n >= callers->n || caller_at(callers, n)->sp != sp)
		return 0;
	regs->rip = caller_at(callers, n)->address;
	return 1;
}

/* Adds a frame of Python, which takes two words; n are there. */
static __always_inline void add_python_frame(struct scratch *scratch, __u32 n,
					     __u64 frame)
{
	scratch->left--;
	add_frame(scratch, n, frame);
	add_frame(scratch, n + 1, scratch->python.walk.check);
}

/*
 * Note [Stacks that end at a library]
 *
 * In the first moments after a library was loaded there is no table for it, and a walk
 * ends there. The thread's list of Python's frames is known all the same. So those that
 * were not shown yet are added, without the functions in C in between: the stack is cut,
 * but the line of Python that imports the library is in it.
 */
static __always_inline int walk_python_frame(struct scratch *scratch)
{
	__u64 frame = next_python_frame(scratch->key);
	__u32 n = scratch->stack.n;

	if (frame == PYTHON_NONE || n > HI_STACK_WORDS - 2)
		return 1;
	if (hi_python_is_frame(frame))
		add_python_frame(scratch, n, frame);
	return 0;
}

static __always_inline int may_show_python(const struct hi_bpf_events_shared *shared,
					   const struct scratch *scratch)
{
	return shared->fs_base && scratch->python.walk.state != PYTHON_FAILED;
}

/* Goes one frame out, or shows one of Python that the frame runs; 1: the walk ends. */
static __always_inline int walk_frame(const struct hi_bpf_events_shared *shared,
				      struct scratch *scratch)
{
	struct hi_unwind_reader reader = {.scratch = scratch,
					  .generation = scratch->walk.generation};
	struct hi_event_stack *stack = &scratch->stack;
	struct hi_unwind_regs regs = scratch->walk.regs;
	__u64 frame = PYTHON_NONE;
	enum hi_unwind_step step;
	__u32 n = stack->n;

	if (scratch->left == 0 || n > HI_STACK_WORDS - 2)
		return 1;
	if (scratch->walk.has_lost_stack)
		return walk_python_frame(scratch);
	if (is_python_loop(shared, regs.rip - !regs.is_exact))
		frame = next_python_frame(scratch->key);
	if (frame == PYTHON_SKIPPED)
		return 0;
	if (hi_python_is_frame(frame)) {
		add_python_frame(scratch, n, frame);
		return 0;
	}
	if (frame == PYTHON_NONE) {
		if (hi_python_is_frame(regs.rip))
			return 1; /* no address of a process */
		scratch->left--;
		add_frame(scratch, n, regs.rip + (n == 0 ? regs.is_exact : 0));
	}
	step = hi_unwind_step(&reader, &regs);
	if (step == HI_UNWIND_ON && !restore_return(shared, &regs))
		step = HI_UNWIND_CUT;
	scratch->walk.regs = regs;
	if (step == HI_UNWIND_OUTERMOST)
		stack->cut = 0;
	if (step == HI_UNWIND_CUT && may_show_python(shared, scratch)) {
		scratch->walk.has_lost_stack = 1;
		return 0;
	}
	return step != HI_UNWIND_ON;
}

/* Not static, as find_rule(): so the verifier need not follow a step for each frame, and
 * a walk is a plain loop, which kernels without bpf_loop() have as well. */
__attribute__((noinline)) int walk_next_frame(__u32 scratch_key)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_map, &scratch_key);
	__u32 zero = 0;
	const struct hi_bpf_events_shared *shared =
		bpf_map_lookup_elem(&shared_map, &zero);

	return scratch && shared ? walk_frame(shared, scratch) : 1;
}

/* The start of a walk. */
struct stack_start {
	struct hi_unwind_regs regs;
	__u64 inside; /* a frame that these registers do not show; 0: none */
};

static __always_inline void walk_stack(const struct hi_bpf_events_shared *shared,
				       const struct stack_start *start,
				       struct scratch *scratch)
{
	struct hi_event_stack *stack = &scratch->stack;
	__u32 key = scratch->key;

	stack->kind = HI_EVENT_STACK;
	stack->cut = 1;
	stack->n = 0;
	scratch->left = HI_STACK_FRAMES;
	scratch->python.walk = (struct python_walk){};
	scratch->walk.regs = start->regs;
	scratch->walk.hash = 1;
	scratch->walk.has_lost_stack = 0;
	scratch->walk.generation = *(volatile __u64 *)&shared->generation;
	if (start->inside)
		add_frame(scratch, 0, start->inside);
	copy_window(scratch, start->regs.rsp);
	for (__u32 i = 0; i < 3 * HI_STACK_FRAMES; i++)
		if (walk_next_frame(key))
			break;
	stack->stack = mix(scratch->walk.hash, stack->cut);
	if (!stack->stack)
		stack->stack = 1;
}

static __always_inline int was_sent(const struct sent *sent, __u64 hash)
{
	return sent->hash[0] == hash || sent->hash[1] == hash || sent->hash[2] == hash ||
	       sent->hash[3] == hash;
}

/*
 * The record in the ring. The number of words is masked in the register that the size is
 * computed from: up to 6.1 the verifier applies a comparison to one copy of a number
 * only, and the compiler may have kept another one on the stack.
 */
static __always_inline __u64 size_of_stack(const struct hi_event_stack *stack)
{
	enum { MASK = 255 };
	_Static_assert(HI_STACK_WORDS <= MASK, "a number of words that the mask keeps");
	__u64 n = stack->n;

	asm volatile("" : "+r"(n)); /* or the mask goes: of a number that was compared */
	n &= MASK;
	return offsetof(struct hi_event_stack, frames) + n * 8 + HI_BPF_STACK_PAD;
}

/* Sends the frames, unless they were sent before. */
static __always_inline void send_stack(struct hi_event_stack *stack)
{
	__u64 hash = stack->stack;
	__u32 key = (__u32)hash & (HI_BPF_EVENT_STACKS - 1);
	struct sent *sent = bpf_map_lookup_elem(&sent_map, &key);

	if (!sent || stack->n > HI_STACK_WORDS || was_sent(sent, hash))
		return;
	if (!bpf_ringbuf_output(&ring_map, stack, size_of_stack(stack), BPF_RB_NO_WAKEUP))
		sent->hash[hash >> 40 & 3] = hash;
}

/* The hash of a stack, and whether it is cut; 0: there was no room for it. */
static __always_inline __u64 record_stack(const struct hi_bpf_events_shared *shared,
					  const struct stack_start *start, __u8 *cut)
{
	struct scratch *scratch = take_scratch();
	__u64 hash;

	*cut = 1;
	if (!scratch)
		return 0;
	walk_stack(shared, start, scratch);
	send_stack(&scratch->stack);
	hash = scratch->stack.stack;
	*cut = scratch->stack.cut;
	release_scratch(scratch);
	return hash;
}

/* ---- entries ---- */

/* Each register is read in a branch of its own: the kernel refuses a context at an offset
 * that is not known. */
static __always_inline __u64 argument_of(const struct pt_regs *regs, __u8 number)
{
	__u64 value = 0;

#define TAKE(n, name)                                                                    \
	if (number == (n)) {                                                             \
		value = regs->name;                                                      \
		asm volatile("" : "+r"(value));                                          \
		return value;                                                            \
	}
	TAKE(1, rdi)
	TAKE(2, rsi)
	TAKE(3, rdx)
	TAKE(4, rcx)
	TAKE(5, r8)
	TAKE(6, r9)
#undef TAKE
	return 0;
}

/* Registers: 0 rax to 15 r15. */
static __always_inline __u64 register_of(const struct pt_regs *regs, __u32 number)
{
	__u64 value = 0;

#define TAKE(n, name)                                                                    \
	if (number == (n)) {                                                             \
		value = regs->name;                                                      \
		asm volatile("" : "+r"(value));                                          \
		return value;                                                            \
	}
	TAKE(0, rax)
	TAKE(1, rcx)
	TAKE(2, rdx)
	TAKE(3, rbx)
	TAKE(4, rsp)
	TAKE(5, rbp)
	TAKE(6, rsi)
	TAKE(7, rdi)
	TAKE(8, r8)
	TAKE(9, r9)
	TAKE(10, r10)
	TAKE(11, r11)
	TAKE(12, r12)
	TAKE(13, r13)
	TAKE(14, r14)
	TAKE(15, r15)
#undef TAKE
	return 0;
}

/* The block or object of a place; 0: it cannot be read. */
static __always_inline __u64 value_at_place(const struct call *call)
{
	__u32 cookie = call->cookie;
	__u64 value = register_of(call->regs, cookie >> HI_BPF_REGISTER_SHIFT & 15),
	      word = 0;

	if (!(cookie & HI_BPF_IN_MEMORY))
		return value;
	value += cookie >> HI_BPF_OFFSET_SHIFT;
	bpf_probe_read_user(&word, sizeof(word), (const void *)value);
	return word;
}

/* -1: the size does not fit; the function fails then. */
static __always_inline __u64 multiply(__u64 a, __u64 b)
{
	__u64 most = a ? -1ull / a : -1ull;

	asm volatile("" : "+r"(most)); /* BPF has no product of 128 bits */
	return b > most ? -1ull : a * b;
}

static __always_inline __u64 requested_size(const struct call *call)
{
	__u64 size = call->does->unit;

	if (call->does->size && size == 1)
		size = argument_of(call->regs, call->does->size);
	else if (call->does->size)
		size = multiply(size, argument_of(call->regs, call->does->size));
	if (call->does->count)
		size = multiply(size, argument_of(call->regs, call->does->count));
	return size;
}

static __always_inline void begin_call(const struct call *call, struct pending *pending)
{
	__u8 result = call->does->result;

	pending->function = call->cookie;
	pending->size = requested_size(call);
	pending->old = call->does->block ? argument_of(call->regs, call->does->block) : 0;
	pending->result = result == HI_BPF_RETURNED ? 0 : argument_of(call->regs, result);
	pending->has_begun = 0;
	pending->window = call->shared->window;
	pending->sp = call->regs->rsp;
}

/* The block is given back. */
static __always_inline void send_entry(const struct call *call, __u64 block, __u16 kind,
				       __u64 size)
{
	struct hi_event event = {
		.time_ns = bpf_ktime_get_ns(),
		.addr = block,
		.size = size,
		.tid = call->tid,
		.kind = kind,
		.source = call->does->source,
	};

	if (call->shared->sample_bytes)
		forget_sampled(call->does->family, block);
	send(call->shared, &event);
}

/* Does a function call this one that gives out the same memory? */
static __always_inline int is_nested(const struct call *call,
				     const struct pending *pending)
{
	if (pending && is_made_by(call, pending))
		return 1;
	if (!(call->does->flags & HI_BPF_NOT_OWN))
		return 0;
	pending = find_pending(HI_FAMILY_MALLOC);
	return (pending && is_made_by(call, pending)) || is_own_call(call);
}

static __always_inline int enter_free(const struct call *call,
				      struct hi_bpf_event_counts *counts)
{
	__u64 block = argument_of(call->regs, call->does->block);
	const struct pending *pending;

	if (!block || !is_recorded(call, block))
		return 0;
	pending = find_pending(call->does->family);
	if (is_nested(call, pending) ||
	    (call->does->family == HI_FAMILY_MALLOC && is_own_call(call))) {
		__sync_fetch_and_add(&counts->nested, 1);
		return 0;
	}
	send_entry(call, block, HI_EVENT_FREE,
		   argument_of(call->regs, call->does->block_size));
	return 0;
}

static __always_inline int enter_alloc(const struct call *call,
				       struct hi_bpf_event_counts *counts)
{
	struct pending *pending = find_pending(call->does->family);

	if (given.keeps_callers)
		keep_caller(call);
	if (is_nested(call, pending)) {
		__sync_fetch_and_add(&counts->nested, 1);
		return 0;
	}
	if (pending && is_of_window(call, pending))
		__sync_fetch_and_add(&call->shared->abandoned, 1);
	else if (!pending)
		pending = take_pending(call->shared, call->does->family);
	if (!pending)
		return 0;
	begin_call(call, pending);
	if (pending->old && is_recorded(call, pending->old)) {
		pending->has_begun = 1;
		send_entry(call, pending->old, HI_EVENT_REALLOC_BEGIN,
			   call->does->block_size
				   ? argument_of(call->regs, call->does->block_size)
				   : pending->size);
	}
	return 0;
}

/* ---- blocks of pymalloc ---- */

/*
 * Note [Objects of free lists]
 *
 * At a place where an object is told to begin, its block has either just been given out,
 * and then has its event, or it comes from a free list. So the block that was given out
 * last on each processor is kept, until its object begins. A thread that moves in between
 * to another processor makes two events of one block: the later one is right.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HI_BPF_GIVEN_BLOCKS);
	__type(key, __u32);
	__type(value, __u64);
} given_map SEC(".maps");

static __always_inline __u64 *last_given(void)
{
	__u32 key = bpf_get_smp_processor_id() & (HI_BPF_GIVEN_BLOCKS - 1);

	return bpf_map_lookup_elem(&given_map, &key);
}

static __always_inline void keep_given(__u64 block)
{
	__u64 *given_block = last_given();

	if (given_block)
		*(volatile __u64 *)given_block = block;
}

/* Is it the one that was given out last? It is forgotten. */
static __always_inline int take_given(__u64 block)
{
	__u64 *given_block = last_given();

	if (!given_block || *(volatile __u64 *)given_block != block)
		return 0;
	*(volatile __u64 *)given_block = 0;
	return 1;
}

enum { POOL_HEADER = 48, BLOCK_UNIT = 16 };

/* The size of the blocks of the pool that addr is in; 0: it is in none. */
static __always_inline __u64 block_size_at(__u64 addr)
{
	__u64 pool = addr & ~((__u64)given.pool_size - 1);
	struct {
		__u32 arena, size_class, next, most; /* struct pool_header, at 32 */
	} header;
	__u64 size;

	if (bpf_probe_read_user(&header, sizeof(header), (const void *)(pool + 32)) ||
	    header.size_class >= 64)
		return 0;
	size = ((__u64)header.size_class + 1) * BLOCK_UNIT;
	return header.most == given.pool_size - size ? size : 0;
}

/* The start of the block that addr is in. */
static __always_inline __u64 block_start_of(__u64 addr, __u64 size)
{
	__u64 pool = addr & ~((__u64)given.pool_size - 1);
	__u64 offset = addr - pool - POOL_HEADER;

	return addr - offset % size;
}

static __always_inline int count_call(const struct call *call,
				      struct hi_bpf_event_counts *counts)
{
	__u64 size;

	if (!call->does->result)
		return 0;
	size = call->does->flags & HI_BPF_AT_PLACES ? block_size_at(value_at_place(call))
						    : requested_size(call);
	__sync_fetch_and_add(&counts->counted, 1);
	if (size <= (1ull << 47))
		__sync_fetch_and_add(&counts->counted_bytes, size);
	return 0;
}

/* ---- returns ---- */

/* The block that the function gives, 0: none. mmap fails with -1. */
static __always_inline __u64 result_of(const struct call *call,
				       const struct pending *pending)
{
	__u64 block = call->regs->rax;

	if (call->does->flags & HI_BPF_RETURNS_SIZE)
		return block >= pending->size ? pending->old : 0;
	if (call->does->result != HI_BPF_RETURNED &&
	    (((call->does->flags & HI_BPF_RETURNS_ERROR) && (__u32)block != 0) ||
	     bpf_probe_read_user(&block, sizeof(block), (const void *)pending->result)))
		return 0;
	return block == -1ull ? 0 : block;
}

/* Does the pending call return here? One below has been left without a return. */
static __always_inline int is_return_of(const struct call *call, struct pending *pending)
{
	if (pending->sp + 8 == call->regs->rsp)
		return pending->function == call->cookie && is_of_window(call, pending);
	if (pending->sp + 8 < call->regs->rsp)
		release_pending(pending);
	return 0;
}

/* is_exact: the thread is at the instruction, and has not returned to it. */
static __always_inline void send_result(const struct call *call, struct hi_event *event,
					int has_stack, __u8 is_exact)
{
	__u8 cut;

	event->time_ns = bpf_ktime_get_ns();
	event->tid = call->tid;
	if (has_stack) {
		const struct stack_start start = {.regs = {.rip = call->regs->rip,
							   .rsp = call->regs->rsp,
							   .rbp = call->regs->rbp,
							   .is_exact = is_exact}};

		event->stack = record_stack(call->shared, &start, &cut);
		event->flags |= cut ? HI_EVENT_STACK_CUT : 0;
	}
	send(call->shared, event);
}

static __always_inline void count_failed(__u32 cookie)
{
	struct hi_bpf_event_counts *counts = counts_of(cookie);

	if (counts)
		__sync_fetch_and_add(&counts->failed, 1);
}

static __always_inline void count_paused(const struct call *call, __u64 size)
{
	if (call->does->family != HI_FAMILY_MALLOC)
		return;
	__sync_fetch_and_add(&call->shared->paused_calls, 1);
	__sync_fetch_and_add(&call->shared->paused_bytes, size);
}

/* Is the block that was given out to be recorded? Then its stack is wanted. */
static __always_inline int choose_block(const struct call *call, struct hi_event *event)
{
	if (!event->addr)
		return 0;
	if (*(volatile __u64 *)&call->shared->is_paused) {
		count_paused(call, event->size);
		event->flags = HI_EVENT_PAUSED;
		return 0;
	}
	if (call->shared->sample_bytes && !(call->does->flags & HI_BPF_ALWAYS)) {
		if (!take_sample(call->shared->sample_bytes, (__s64)event->size))
			return 0;
		event->flags = HI_EVENT_SAMPLED;
		remember_sampled(call->does->family, event->addr);
	}
	return 1;
}

/* The end of a reallocation whose begin was sent. A block that it did not get lives on.
 */
static __always_inline void end_realloc(const struct call *call, struct hi_event *event,
					__u64 old)
{
	event->kind = HI_EVENT_REALLOC_END;
	event->old = old;
	if (!event->addr && event->size && call->shared->sample_bytes)
		remember_sampled(call->does->family, old);
}

/* Was a block asked for, and none given? */
static __always_inline int has_failed(const struct call *call,
				      const struct hi_event *event)
{
	return !event->addr && event->size && call->does->family == HI_FAMILY_MALLOC &&
	       !*(volatile __u64 *)&call->shared->is_paused;
}

static __always_inline void leave_alloc(const struct call *call, struct pending *pending)
{
	struct hi_event event = {.kind = HI_EVENT_ALLOC,
				 .source = call->does->source,
				 .size = pending->size};
	__u64 old = pending->old, has_begun = pending->has_begun;
	int is_chosen, failed;

	event.addr = result_of(call, pending);
	release_pending(pending);
	if (!event.addr)
		count_failed(call->cookie);
	if (event.addr && call->does->flags & HI_BPF_OF_POOL) {
		event.size = block_size_at(event.addr);
		keep_given(event.addr);
	}
	is_chosen = choose_block(call, &event);
	failed = has_failed(call, &event);
	if (has_begun)
		end_realloc(call, &event, old);
	else if (failed)
		event.kind = HI_EVENT_FAILED;
	if (is_chosen || has_begun || failed)
		send_result(call, &event, is_chosen || failed, 0);
}

/* ---- the cost of windows ---- */

static __always_inline __u64 note_program_time(const struct call *call)
{
	__u64 now;

	if (!call->begin_ns)
		return 0;
	now = bpf_ktime_get_ns();
	__sync_fetch_and_add(&call->shared->program_ns, now - call->begin_ns);
	return now;
}

static __always_inline void note_end_of_entry(const struct call *call)
{
	__u64 now = note_program_time(call);
	struct pending *pending;

	if (!now || !call->does->result)
		return;
	pending = find_pending(call->does->family);
	if (pending)
		pending->entered_ns = now;
}

static __always_inline void note_time_between(const struct call *call,
					      const struct pending *pending)
{
	__u64 bin = (call->begin_ns - pending->entered_ns) / HI_BPF_BETWEEN_NS;

	if (!call->begin_ns || bin >= HI_BPF_BETWEEN_BINS)
		return;
	__sync_fetch_and_add(&call->shared->between[bin & (HI_BPF_BETWEEN_BINS - 1)], 1);
}

/* A sample of time that comes in between finds the call among the callers. */
SEC("uretprobe")
int leave(struct pt_regs *regs)
{
	struct pending *pending;
	struct call call;

	if (!find_call(regs, 1, &call) || is_counting(&call))
		return 0;
	pending = find_returning(&call);
	if (pending && is_return_of(&call, pending)) {
		note_time_between(&call, pending);
		leave_alloc(&call, pending);
	}
	note_program_time(&call);
	if (given.keeps_callers)
		drop_callers(&call);
	return 0;
}

/* ---- places ---- */

/* An object of a free list begins; its block was never given back. */
static __always_inline void send_reuse(const struct call *call, struct hi_event *event,
				       struct hi_bpf_event_counts *counts)
{
	event->addr = block_start_of(event->addr, event->size);
	if (take_given(event->addr)) {
		__sync_fetch_and_add(&counts->nested, 1);
		return;
	}
	if (is_recorded(call, event->addr))
		send_entry(call, event->addr, HI_EVENT_FREE, 0);
	if (choose_block(call, event))
		send_result(call, event, 1, 1);
}

/* See HI_BPF_AT_PLACES. */
static __always_inline int pass_place(const struct call *call,
				      struct hi_bpf_event_counts *counts)
{
	struct hi_event event = {.kind = HI_EVENT_ALLOC,
				 .source = call->does->source,
				 .addr = value_at_place(call)};

	if (!call->does->result) {
		if (is_recorded(call, event.addr))
			send_entry(call, event.addr, HI_EVENT_FREE, 0);
		return 0;
	}
	event.size = block_size_at(event.addr);
	if (!event.size) {
		__sync_fetch_and_add(&counts->failed, 1);
		return 0;
	}
	if (call->does->block) {
		send_reuse(call, &event, counts);
		return 0;
	}
	keep_given(event.addr);
	if (choose_block(call, &event))
		send_result(call, &event, 1, 1);
	return 0;
}

static __always_inline int enter_function(const struct call *call,
					  struct hi_bpf_event_counts *counts)
{
	return call->does->result ? enter_alloc(call, counts) : enter_free(call, counts);
}

SEC("uprobe")
int enter(struct pt_regs *regs)
{
	struct hi_bpf_event_counts *counts;
	struct call call;

	if (!find_call(regs, 0, &call))
		return 0;
	counts = counts_of(call.cookie);
	if (!counts)
		return 0;
	__sync_fetch_and_add(&counts->hits, 1);
	if (is_counting(&call))
		return count_call(&call, counts);
	if (call.does->flags & HI_BPF_AT_PLACES)
		return pass_place(&call, counts);
	enter_function(&call, counts);
	note_end_of_entry(&call);
	return 0;
}

/* ---- samples of time ---- */

/*
 * Note [One sample of a thread]
 *
 * Each thread has an event of its own, which its later threads inherit
 * (probes/events/ticks.c). A thread that is found later than others may have both: one
 * that was inherited, and one that was opened for it. Each opening has a period of its
 * own, by a nanosecond more than the one before, and an inherited event has that of its
 * parent. Only the samples of one period of a thread count: the first one's, unless
 * others come without it (the number of the thread was used before).
 */
struct tick_thread {
	__u32 opening, others;
	__u32 left; /* steps before the one that is a sample */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HI_BPF_TICK_THREADS);
	__type(key, __u32);
	__type(value, struct tick_thread);
} tick_threads_map SEC(".maps");

/*
 * Note [Threads that are short]
 *
 * If each thread's first sample came after a whole period, threads that run for less than
 * that had none, and a program that makes a thread for each request would do nothing. So
 * a timer takes shorter steps, of which every n-th is a sample, and of each thread the
 * first one is drawn. The samples of a thread that runs for k steps are k/n on average.
 */
static __always_inline int is_step_a_sample(struct tick_thread *thread)
{
	if (thread->left) {
		thread->left--;
		return 0;
	}
	thread->left = given.scan_steps - 1;
	return 1;
}

static __always_inline int begin_thread(__u32 thread, __u32 opening)
{
	struct tick_thread new = {.opening = opening};
	int is_sample;

	new.left = bpf_get_prandom_u32() % (given.scan_steps ? given.scan_steps : 1);
	is_sample = is_step_a_sample(&new);
	bpf_map_update_elem(&tick_threads_map, &thread, &new, BPF_ANY);
	return is_sample;
}

static __always_inline int is_sample_of_thread(__u32 opening)
{
	__u32 thread = (__u32)bpf_get_current_pid_tgid();
	struct tick_thread *known = bpf_map_lookup_elem(&tick_threads_map, &thread);

	if (!known)
		return begin_thread(thread, opening);
	if (known->opening != opening && ++known->others <= 2)
		return 0;
	known->opening = opening;
	known->others = 0;
	return is_step_a_sample(known);
}

/* Registers of user space, and whether the kernel works for the thread. */
struct tick_regs {
	__u64 rip, rsp, rbp;
	__u32 is_known, in_kernel, in_syscall;
};

static __always_inline void read_task_regs(struct tick_regs *ret)
{
	struct {
		__u64 orig_rax, rip, cs, flags, rsp;
	} end;
	const char *regs;

	if (!given.has_task_regs)
		return;
	regs = (const char *)bpf_task_pt_regs(bpf_get_current_task_btf());
	if (bpf_probe_read_kernel(&end, sizeof(end),
				  regs + offsetof(struct pt_regs, orig_rax)) ||
	    bpf_probe_read_kernel(&ret->rbp, sizeof(ret->rbp),
				  regs + offsetof(struct pt_regs, rbp)))
		return;
	ret->rip = end.rip;
	ret->rsp = end.rsp;
	ret->in_syscall = end.orig_rax != -1ull;
	ret->is_known = 1;
}

static __always_inline void read_tick_regs(struct bpf_perf_event_data *ctx,
					   struct tick_regs *ret)
{
	ret->in_kernel = (ctx->regs.cs & 3) != 3;
	if (ret->in_kernel) {
		read_task_regs(ret);
		return;
	}
	ret->rip = ctx->regs.rip;
	ret->rsp = ctx->regs.rsp;
	ret->rbp = ctx->regs.rbp;
	ret->is_known = 1;
}

/*
 * Note [Samples in probes]
 *
 * At an entry that is probed, the kernel works while the thread is at the breakpoint. At
 * a return it works when the function has gone already: the thread is after the call, or
 * in the kernel's page ([uprobes]), in which the first instruction of a probed function
 * may run as well. Then the innermost call that is kept is the one which returns, or the
 * last one that was.
 */
static __always_inline int is_at_breakpoint(const struct tick_regs *regs)
{
	__u8 byte = 0;

	return !bpf_probe_read_user(&byte, sizeof(byte), (const void *)regs->rip) &&
	       byte == 0xcc;
}

static __always_inline int may_be_return_of(const struct caller *call,
					    const struct tick_regs *regs, int is_in_page)
{
	__u64 above = call->sp + 8 - regs->rsp;

	return is_in_page ? above <= 64 : !above && call->address == regs->rip;
}

/* The thread's, of which the kernel sees the return; 0: none. */
static __always_inline const struct caller *find_last_call(const struct tick_regs *regs,
							   int is_in_page)
{
	__u32 thread = (__u32)bpf_get_current_pid_tgid();

	for (__u32 i = 0; i < CALLERS_TRIES; i++) {
		struct callers *callers = callers_at(thread, i);

		if (!callers)
			continue;
		if (callers->thread == thread && callers->n &&
		    may_be_return_of(caller_at(callers, callers->n - 1), regs,
				     is_in_page))
			return caller_at(callers, callers->n - 1);
		if (callers->returned_thread == thread &&
		    may_be_return_of(&callers->returned, regs, is_in_page))
			return &callers->returned;
	}
	return 0;
}

/* True: the kernel works for a probe. */
static __always_inline int find_tick_start(const struct hi_bpf_events_shared *shared,
					   const struct tick_regs *regs,
					   struct stack_start *ret)
{
	int is_in_page = shared->trampoline &&
			 (regs->rip & ~4095ull) == (shared->trampoline & ~4095ull);
	const struct caller *last;

	ret->regs = (struct hi_unwind_regs){
		.rip = regs->rip, .rsp = regs->rsp, .rbp = regs->rbp, .is_exact = 1};
	if (!is_in_page && (!regs->in_kernel || regs->in_syscall))
		return 0;
	if (!is_in_page && is_at_breakpoint(regs))
		return 1;
	last = find_last_call(regs, is_in_page);
	if (!last)
		return is_in_page;
	ret->inside = last->function + 1;
	ret->regs.rip = last->address;
	ret->regs.rsp = last->sp + 8;
	ret->regs.is_exact = 0;
	return 1;
}

SEC("perf_event")
int tick(struct bpf_perf_event_data *ctx)
{
	struct hi_event event = {.kind = HI_EVENT_TICK};
	struct hi_bpf_events_shared *shared;
	struct stack_start start = {};
	struct tick_regs regs = {};
	__u32 zero = 0;
	__u8 cut = 1;

	shared = bpf_map_lookup_elem(&shared_map, &zero);
	if (!shared || *(volatile __u32 *)&shared->running != HI_BPF_EVENTS_MADE ||
	    !is_target(shared, &event.tid) ||
	    !is_sample_of_thread((__u32)(ctx->sample_period - given.scan_step_ns)))
		return 0;
	event.time_ns = bpf_ktime_get_ns();
	read_tick_regs(ctx, &regs);
	if (!regs.is_known) {
		__sync_fetch_and_add(&shared->no_regs, 1);
	} else {
		if (find_tick_start(shared, &regs, &start))
			event.flags = HI_EVENT_IN_PROBE;
		event.stack = record_stack(shared, &start, &cut);
	}
	event.flags |= cut ? HI_EVENT_STACK_CUT : 0;
	send(shared, &event);
	return 0;
}
