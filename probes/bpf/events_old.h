/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * events_state.h for kernels that have neither atomic operations that return the old
 * value nor cookies of probes.
 *
 * Note [Without atomic operations]
 *
 * State that threads share is in hash maps, whose buckets the kernel locks: an element is
 * taken by an update that fails if it is there (BPF_NOEXIST). All else belongs to a
 * processor: these kernels run a program of a perf event with preemption switched off,
 * and none within another on the same processor (trace_call_bpf()), so that plain loads
 * and stores do.
 *
 * Note [Without cookies]
 *
 * At an entry the instruction pointer identifies the function. At a return it does not,
 * and the function is that of the pending call whose frame ends there. If two functions
 * of one family return at the same place, by a tail call, the outer one is pending, and
 * both return the same.
 */
#ifndef HI_PROBES_BPF_EVENTS_OLD_H
#define HI_PROBES_BPF_EVENTS_OLD_H

/* There are no windows on these kernels. */
static __always_inline int is_window_over(const struct hi_bpf_events_shared *shared,
					  __u64 *now_ret)
{
	(void)shared;
	*now_ret = 0;
	return 0;
}

/* ---- calls ---- */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HI_BPF_EVENT_PLACES);
	__type(key, __u64); /* the address of the probe site in the target */
	__type(value, __u32);
} functions_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HI_BPF_EVENT_CALLS / 4);
	__type(key, __u32); /* of the thread and the family */
	__type(value, struct pending);
} calls_map SEC(".maps");

/* This thread's; 0: none. */
static __always_inline struct pending *find_pending(__u32 family)
{
	__u32 key = pending_key(family);

	return bpf_map_lookup_elem(&calls_map, &key);
}

static __always_inline struct pending *take_pending(struct hi_bpf_events_shared *shared,
						    __u32 family)
{
	struct pending new = {.key = pending_key(family)};
	struct pending *taken = 0;

	if (!bpf_map_update_elem(&calls_map, &new.key, &new, BPF_NOEXIST))
		taken = bpf_map_lookup_elem(&calls_map, &new.key);
	if (!taken)
		__sync_fetch_and_add(&shared->lost_calls, 1);
	return taken;
}

/* Nothing may be read of it afterwards. */
static __always_inline void release_pending(const struct pending *pending)
{
	__u32 key = pending->key;

	bpf_map_delete_elem(&calls_map, &key);
}

/* At a return find_returning() finds it. */
static __always_inline int find_function(struct pt_regs *regs, int at_return,
					 __u32 *cookie_ret)
{
	__u64 address = regs->rip;
	const __u32 *function;

	*cookie_ret = 0;
	if (at_return)
		return 1;
	function = bpf_map_lookup_elem(&functions_map, &address);
	if (!function)
		return 0;
	*cookie_ret = *function;
	return 1;
}

/* The pending call that may return here; 0: there is none. One below has been left
 * without a return. */
static __always_inline struct pending *find_returning(struct call *call)
{
	struct pending *found = 0;

	for (__u32 family = 0; family < HI_FAMILIES; family++) {
		struct pending *pending = find_pending(family);

		if (!pending || pending->sp + 8 > call->regs->rsp)
			continue;
		if (pending->sp + 8 < call->regs->rsp)
			release_pending(pending);
		else
			found = pending;
	}
	if (!found)
		return 0;
	call->cookie = found->function;
	call->does = &given.functions[call->cookie & (HI_BPF_EVENT_FUNCTIONS - 1)];
	return found;
}

/* ---- room to walk stacks ---- */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_map SEC(".maps");

static __always_inline struct scratch *take_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_map, &zero);
}

static __always_inline void release_scratch(struct scratch *scratch)
{
	(void)scratch;
}

/* ---- callers: see Note [Returns that are probed] ---- */

enum { CALLERS_TRIES = 1 };

/* max_entries is set by the loader. Elements of threads that have ended make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct callers);
} callers_map SEC(".maps");

/* All 0: too large for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct callers);
} no_callers_map SEC(".maps");

static __always_inline struct callers *callers_at(__u32 thread, __u32 try)
{
	(void)try;
	return bpf_map_lookup_elem(&callers_map, &thread);
}

/* This thread's; 0: none. */
static __always_inline struct callers *find_callers(void)
{
	return callers_at((__u32)bpf_get_current_pid_tgid(), 0);
}

static __always_inline struct callers *take_callers(void)
{
	__u32 thread = (__u32)bpf_get_current_pid_tgid(), zero = 0;
	const struct callers *none = bpf_map_lookup_elem(&no_callers_map, &zero);
	struct callers *callers;

	if (!none || bpf_map_update_elem(&callers_map, &thread, none, BPF_NOEXIST))
		return 0;
	callers = bpf_map_lookup_elem(&callers_map, &thread);
	if (callers)
		callers->thread = thread;
	return callers;
}

/* It stays, with the call that has returned last. */
static __always_inline void release_callers(const struct callers *callers)
{
	(void)callers;
}

/* ---- events that were lost ---- */

/* Since this processor has said how many. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost_map SEC(".maps");

static __always_inline void lose(struct hi_bpf_events_shared *shared, __u64 n)
{
	__u32 zero = 0;
	__u64 *lost = bpf_map_lookup_elem(&lost_map, &zero);

	if (lost)
		*lost += n;
	__sync_fetch_and_add(&shared->lost, n);
}

/* Sends the number of lost events of this processor before the next event that fits, so
 * that their place is in the stream. The reader finds the rest at the end itself. */
static __always_inline int put_lost(struct hi_bpf_events_shared *shared, __u64 time_ns)
{
	struct hi_event event = {.time_ns = time_ns, .kind = HI_EVENT_LOST};
	__u32 zero = 0;
	__u64 *lost = bpf_map_lookup_elem(&lost_map, &zero);

	if (!lost || !*lost)
		return 1;
	event.size = *lost;
	if (!put(&event))
		return 0;
	__sync_fetch_and_add(&shared->lost, -event.size);
	*lost = 0;
	return 1;
}

/* ---- samples: see Note [Sampling by bytes] ---- */

/* Bytes up to the next point. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __s64);
} lines_map SEC(".maps");

/* Is an allocation of so many bytes to be sampled? */
static __always_inline int take_sample(__u64 mean, __s64 size)
{
	__u32 zero = 0;
	__s64 *line = bpf_map_lookup_elem(&lines_map, &zero), left;

	if (!line)
		return 0;
	if (size < 1)
		size = 1;
	left = *line;
	if (left < 1)
		left = draw_distance(mean);
	if (left > size) {
		*line = left - size;
		return 0;
	}
	*line = draw_distance(mean);
	return 1;
}

/*
 * Note [Which blocks were sampled, on old kernels]
 *
 * When a block is freed, its event is only sent if the block was sampled. So addresses of
 * sampled blocks are kept until the block is freed. When there is no room for one, from
 * then on all frees are sent: the reader ignores those that are of no use.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HI_BPF_SAMPLED_SETS);
	__type(key, __u64);
	__type(value, __u32);
} sampled_map SEC(".maps");

static volatile __u32 has_no_room;

static __always_inline int is_sampled(__u32 family, __u64 block)
{
	__u64 addr = sampled_key(family, block);

	return has_no_room || bpf_map_lookup_elem(&sampled_map, &addr) != 0;
}

static __always_inline void remember_sampled(__u32 family, __u64 block)
{
	__u64 addr = sampled_key(family, block);
	__u32 one = 1;

	if (bpf_map_update_elem(&sampled_map, &addr, &one, BPF_ANY))
		has_no_room = 1;
}

static __always_inline void forget_sampled(__u32 family, __u64 block)
{
	__u64 addr = sampled_key(family, block);

	bpf_map_delete_elem(&sampled_map, &addr);
}

#endif
