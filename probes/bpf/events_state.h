/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * State that the programs of allocation events keep between two calls, by atomic
 * operations that return the old value, and the called function, by cookies. events_old.h
 * has the same for kernels that have neither. Part of events.bpf.c.
 */
#ifndef HI_PROBES_BPF_EVENTS_STATE_H
#define HI_PROBES_BPF_EVENTS_STATE_H

/* ---- windows ---- */

/* The end of a window by time, or by hits: each costs the target a trap. From then on
 * programs return at once, until the links are closed. */
static __always_inline int is_window_over(struct hi_bpf_events_shared *shared,
					  __u64 *now_ret)
{
	__u64 until = *(volatile __u64 *)&shared->window_until_ns, now;

	*now_ret = 0;
	if (!until)
		return 0;
	now = bpf_ktime_get_ns();
	if (now < until &&
	    __sync_fetch_and_add(&shared->window_hits, 1) < shared->window_budget) {
		*now_ret = now;
		return 0;
	}
	__sync_val_compare_and_swap(&shared->window_end_ns, 0, now < until ? now : until);
	*(volatile __u32 *)&shared->running = HI_BPF_EVENTS_NOT;
	return 1;
}

/* ---- calls ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HI_BPF_EVENT_CALLS);
	__type(key, __u32);
	__type(value, struct pending);
} calls_map SEC(".maps");

static __always_inline struct pending *pending_at(__u32 key, __u32 try)
{
	__u32 slot =
		(key + (key >> 24) * 0x3d4d + try * 0x9e37) & (HI_BPF_EVENT_CALLS - 1);

	return bpf_map_lookup_elem(&calls_map, &slot);
}

/* This thread's; 0: none. */
static __always_inline struct pending *find_pending(__u32 family)
{
	__u32 key = pending_key(family);

	for (__u32 i = 0; i < TRIES; i++) {
		struct pending *pending = pending_at(key, i);

		if (pending && pending->key == key)
			return pending;
	}
	return 0;
}

static __always_inline struct pending *take_pending(struct hi_bpf_events_shared *shared,
						    __u32 family)
{
	__u32 key = pending_key(family);

	for (__u32 i = 0; i < TRIES; i++) {
		struct pending *pending = pending_at(key, i);

		if (pending && !__sync_val_compare_and_swap(&pending->key, 0, key))
			return pending;
	}
	__sync_fetch_and_add(&shared->lost_calls, 1);
	return 0;
}

static __always_inline void release_pending(struct pending *pending)
{
	*(volatile __u32 *)&pending->key = 0;
}

/* Which function a program was started for; false: none that is known. */
static __always_inline int find_function(struct pt_regs *regs, int at_return,
					 __u32 *cookie_ret)
{
	(void)at_return;
	*cookie_ret = (__u32)bpf_get_attach_cookie(regs);
	return 1;
}

/* The pending call that may return here; 0: there is none. */
static __always_inline struct pending *find_returning(struct call *call)
{
	return find_pending(call->does->family);
}

/* ---- room to walk stacks ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HI_BPF_EVENT_SCRATCH);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_map SEC(".maps");

static __always_inline struct scratch *take_scratch(void)
{
	__u32 slot = bpf_get_smp_processor_id() * TRIES;

	for (__u32 i = 0; i < TRIES; i++) {
		__u32 key = (slot + i) & (HI_BPF_EVENT_SCRATCH - 1);
		struct scratch *scratch = bpf_map_lookup_elem(&scratch_map, &key);

		if (scratch && !__sync_val_compare_and_swap(&scratch->is_taken, 0, 1)) {
			scratch->key = key;
			return scratch;
		}
	}
	return 0;
}

static __always_inline void release_scratch(struct scratch *scratch)
{
	*(volatile __u32 *)&scratch->is_taken = 0;
}

/* ---- callers: see Note [Returns that are probed] ---- */

enum { CALLERS_TRIES = TRIES };

/* max_entries is set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct callers);
} callers_map SEC(".maps");

static __always_inline struct callers *callers_at(__u32 thread, __u32 try)
{
	__u32 slot = (thread + try * 0x9e37) & (HI_BPF_CALLER_THREADS - 1);

	return bpf_map_lookup_elem(&callers_map, &slot);
}

/* This thread's; 0: none. */
static __always_inline struct callers *find_callers(void)
{
	__u32 thread = (__u32)bpf_get_current_pid_tgid();

	for (__u32 i = 0; i < CALLERS_TRIES; i++) {
		struct callers *callers = callers_at(thread, i);

		if (callers && callers->thread == thread)
			return callers;
	}
	return 0;
}

static __always_inline struct callers *take_callers(void)
{
	__u32 thread = (__u32)bpf_get_current_pid_tgid();

	for (__u32 i = 0; i < TRIES; i++) {
		struct callers *callers = callers_at(thread, i);

		if (callers && !__sync_val_compare_and_swap(&callers->thread, 0, thread))
			return callers;
	}
	return 0;
}

static __always_inline void release_callers(struct callers *callers)
{
	*(volatile __u32 *)&callers->thread = 0;
}

/* ---- events that were lost ---- */

static __always_inline void lose(struct hi_bpf_events_shared *shared, __u64 n)
{
	__sync_fetch_and_add(&shared->lost, n);
}

/* In front of the next event that fits, so that the reader knows where events are
 * missing. */
static __always_inline int put_lost(struct hi_bpf_events_shared *shared, __u64 time_ns)
{
	struct hi_event lost = {.time_ns = time_ns, .kind = HI_EVENT_LOST};

	lost.size = __sync_lock_test_and_set(&shared->lost, 0);
	if (!lost.size || put(&lost))
		return 1;
	lose(shared, lost.size);
	return 0;
}

/* ---- samples: see Note [Sampling by bytes] ---- */

struct line {
	__s64 left; /* bytes up to the next point; below 1: it is being drawn */
	__u64 unused[7];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HI_BPF_EVENT_LINES);
	__type(key, __u32);
	__type(value, struct line);
} lines_map SEC(".maps");

/* Is an allocation of so many bytes to be sampled? */
static __always_inline int take_sample(__u64 mean, __s64 size)
{
	__u32 key = bpf_get_smp_processor_id() & (HI_BPF_EVENT_LINES - 1);
	struct line *line = bpf_map_lookup_elem(&lines_map, &key);
	__s64 left, own;

	if (!line)
		return 0;
	if (size < 1)
		size = 1;
	left = __sync_fetch_and_add(&line->left, -size);
	if (left > size)
		return 0;
	own = left < 1 ? draw_distance(mean) : left;
	if (own > size) {
		__sync_lock_test_and_set(&line->left, own - size);
		return 0;
	}
	__sync_lock_test_and_set(&line->left, draw_distance(mean));
	return 1;
}

/*
 * Note [Which blocks were sampled]
 *
 * When a block is freed, its event is only sent if the block was sampled. So addresses of
 * sampled blocks are kept, those of each KiB of memory in a set of four, and are removed
 * when the block is freed. A set that gets a fifth one counts from then on as having all:
 * then frees are sent that are of no use, and the reader ignores them, but none is
 * missing. Neighbours in memory have neighbouring sets, or every free would miss the
 * cache; and a bit for each address, never cleared, would soon be set for all addresses
 * that a program uses again and again.
 */
struct sampled_set {
	__u64 addr[4]; /* and the family; 0: free; the first one SAMPLED_ALL: all are in
			  it */
};

enum { SAMPLED_WAYS = 4, SAMPLED_ALL = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HI_BPF_SAMPLED_SETS);
	__type(key, __u32);
	__type(value, struct sampled_set);
} sampled_map SEC(".maps");

/* Heaps begin at round addresses: the upper bits move them apart. */
static __always_inline struct sampled_set *set_of(__u64 addr)
{
	__u64 upper = (addr >> 28) * 0x9e3779b97f4a7c15ull >> 32;
	__u32 key = (__u32)((addr >> 10) + upper) & (HI_BPF_SAMPLED_SETS - 1);

	return bpf_map_lookup_elem(&sampled_map, &key);
}

static __always_inline int is_sampled(__u32 family, __u64 block)
{
	__u64 addr = sampled_key(family, block);
	const struct sampled_set *set = set_of(addr);

	return set &&
	       (set->addr[0] == addr || set->addr[1] == addr || set->addr[2] == addr ||
		set->addr[3] == addr || set->addr[0] == SAMPLED_ALL);
}

static __always_inline void remember_sampled(__u32 family, __u64 block)
{
	__u64 addr = sampled_key(family, block);
	struct sampled_set *set = set_of(addr);

	if (!set)
		return;
	for (int i = 0; i < SAMPLED_WAYS; i++) {
		__u64 was = __sync_val_compare_and_swap(&set->addr[i], 0, addr);

		if (!was || was == addr)
			return;
	}
	__sync_lock_test_and_set(&set->addr[0], SAMPLED_ALL);
}

static __always_inline void forget_sampled(__u32 family, __u64 block)
{
	__u64 addr = sampled_key(family, block);
	struct sampled_set *set = set_of(addr);

	for (int i = 0; set && i < SAMPLED_WAYS; i++)
		__sync_val_compare_and_swap(&set->addr[i], addr, 0);
}

#endif
