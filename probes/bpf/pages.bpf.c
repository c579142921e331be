/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Runs for each thread of a process when an iterator is read: copies the lowest level of
 * the process's page tables, or does something else that enum hi_bpf_pages_mode names. It
 * writes nothing but its own maps, and what cannot be read is skipped:
 * bpf_probe_read_kernel() handles faults.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "probes/bpf/pages_shared.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* The parts that are used of the kernel's types; the loader finds the offsets. */
struct mm_struct {
	__u64 *pgd;
} __attribute__((preserve_access_index));

struct vm_struct {
	void **pages;
	unsigned int nr_pages;
} __attribute__((preserve_access_index));

/* The flag, for kernels where PG_young is a page flag. */
enum pageflags { PG_young = 1 };

struct task_struct {
	struct mm_struct *mm;
	void *stack;
	struct vm_struct *stack_vm_area;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	__u64 meta;
	struct task_struct *task;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hi_bpf_pages_request);
} request_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HI_BPF_TABLES);
	__type(key, __u32);
	__type(value, struct hi_bpf_page_table);
} tables_map SEC(".maps");

static __always_inline __u64 behind(__u64 address, __u32 shift)
{
	return ((address >> shift) + 1) << shift;
}

/*
 * Goes down to the entry for request->next whose table it is, or which is huge, or for a
 * huge page that is not in memory. The shift of the level at which it ended; *entry_ret
 * 0: there is nothing.
 */
static __always_inline __u32 descend(struct hi_bpf_pages_request *request,
				     __u64 *entry_ret)
{
	__u64 table = request->top, entry = 0;
	__u32 shift = request->levels == 5 ? 48 : 39;

	*entry_ret = 0;
	for (int i = 0; i < 4; i++) {
		__u64 slot = request->next >> shift & (HI_BPF_TABLE_ENTRIES - 1);

		if (bpf_probe_read_kernel(&entry, sizeof(entry),
					  (const void *)(table + 8 * slot))) {
			request->faults++;
			return shift;
		}
		if (!(entry & HI_BPF_ENTRY_PRESENT)) {
			*entry_ret = entry;
			return shift;
		}
		if (shift == HI_BPF_HUGE_SHIFT || (entry & HI_BPF_ENTRY_HUGE))
			break;
		table = request->direct_map + (entry & HI_BPF_ENTRY_FRAME);
		shift -= 9;
	}
	*entry_ret = entry;
	return shift;
}

static __always_inline void copy_table(struct hi_bpf_pages_request *request, __u64 entry,
				       struct hi_bpf_page_table *out)
{
	const __u64 mask = (1ull << HI_BPF_HUGE_SHIFT) - 1;
	__u64 table = request->direct_map + (entry & HI_BPF_ENTRY_FRAME);

	out->address = request->next & ~mask;
	out->is_huge = (entry & HI_BPF_ENTRY_HUGE) || !(entry & HI_BPF_ENTRY_PRESENT);
	out->entries[0] = entry;
	if (!out->is_huge && bpf_probe_read_kernel(out->entries, sizeof(out->entries),
						   (const void *)table))
		request->faults++;
	else
		request->n_tables++;
}

/*
 * Returns 1 to end the loop. The position is in the map, not on the stack: what the
 * verifier knew of the stack would be different each time, so that it would follow every
 * iteration.
 */
static long visit_next(__u32 i, void *unused)
{
	__u32 zero = 0, n, shift;
	struct hi_bpf_pages_request *request = bpf_map_lookup_elem(&request_map, &zero);
	struct hi_bpf_page_table *out;
	__u64 entry;

	(void)i, (void)unused;
	if (!request || request->next >= request->end)
		return 1;
	n = request->n_tables;
	out = bpf_map_lookup_elem(&tables_map, &n);
	if (!out)
		return 1;
	shift = descend(request, &entry);
	/* A page of 1 GiB has no table. */
	if (entry && shift == HI_BPF_HUGE_SHIFT)
		copy_table(request, entry, out);
	else if (entry)
		request->faults++;
	request->next = behind(request->next, shift);
	return 0;
}

/* ---- struct page ---- */

/* As all kernels since 5.18 have it; checked by HI_BPF_PAGES_CHECK. */
struct page_words {
	__u64 flags, head, unused, mapping, index;
};

#define IS_TAIL 1ull	  /* in head, which then leads to the first page of the folio */
#define IS_ANONYMOUS 1ull /* in mapping */

/* False: it cannot be read. */
static __always_inline int read_page_words(const struct hi_bpf_pages_request *request,
					   __u64 frame, struct page_words *ret)
{
	__u64 at =
		request->page_structs + (frame >> HI_BPF_PAGE_SHIFT) * HI_BPF_PAGE_STRUCT;

	if (bpf_probe_read_kernel(ret, sizeof(*ret), (const void *)at))
		return 0;
	if (!(ret->head & IS_TAIL))
		return 1;
	return !bpf_probe_read_kernel(ret, sizeof(*ret),
				      (const void *)(ret->head - IS_TAIL));
}

/* Only memory of which nothing else than a clearing of the bit takes PG_young away. */
static __always_inline int is_young(const struct page_words *words)
{
	__u64 young = 0;

	if (bpf_core_enum_value_exists(enum pageflags, PG_young))
		young = 1ull << bpf_core_enum_value(enum pageflags, PG_young);
	return !young || (words->flags & young) || !(words->mapping & IS_ANONYMOUS);
}

static __always_inline int is_strange(const struct page_words *words, __u64 address)
{
	return !(words->mapping & IS_ANONYMOUS) ||
	       words->index != address >> HI_BPF_PAGE_SHIFT;
}

static long look_at_page(__u32 i, void *unused)
{
	__u32 zero = 0, n = i / HI_BPF_TABLE_ENTRIES, at = i % HI_BPF_TABLE_ENTRIES;
	struct hi_bpf_pages_request *request = bpf_map_lookup_elem(&request_map, &zero);
	struct hi_bpf_page_table *table = bpf_map_lookup_elem(&tables_map, &n);
	struct page_words words;
	__u64 entry, frame;
	int is_read;

	(void)unused;
	if (!request || !table)
		return 1;
	entry = table->entries[at & (HI_BPF_TABLE_ENTRIES - 1)];
	if (!(entry & HI_BPF_ENTRY_PRESENT) || (table->is_huge && at))
		return 0;
	if (request->mode == HI_BPF_PAGES_YOUNG && (entry & HI_BPF_ENTRY_ACCESSED))
		return 0;
	frame = entry & HI_BPF_ENTRY_FRAME;
	if (table->is_huge)
		frame = frame >> HI_BPF_HUGE_SHIFT << HI_BPF_HUGE_SHIFT;
	is_read = read_page_words(request, frame, &words);
	if (request->mode == HI_BPF_PAGES_CHECK)
		request->strange +=
			!is_read ||
			is_strange(&words,
				   table->address + ((__u64)at << HI_BPF_PAGE_SHIFT));
	else if (!is_read || is_young(&words))
		table->entries[at & (HI_BPF_TABLE_ENTRIES - 1)] =
			entry | HI_BPF_ENTRY_ACCESSED;
	return 0;
}

static __always_inline void find_stack(struct hi_bpf_pages_request *request,
				       struct task_struct *task)
{
	void **structs = BPF_CORE_READ(task, stack_vm_area, pages);

	if (BPF_CORE_READ(task, stack_vm_area, nr_pages) >= HI_BPF_STACK_PAGES &&
	    !bpf_probe_read_kernel(request->stack_structs, sizeof(request->stack_structs),
				   structs))
		request->stack = (__u64)BPF_CORE_READ(task, stack);
}

SEC("iter/task")
int read_page_tables(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	__u32 zero = 0;
	struct hi_bpf_pages_request *request = bpf_map_lookup_elem(&request_map, &zero);

	/* The first thread that has an address space is taken. */
	if (!task || !request || request->top)
		return 0;
	request->top = request->kept_top;
	if (!request->top)
		request->top = (__u64)BPF_CORE_READ(task, mm, pgd);
	if (!request->top)
		return 0;
	if (request->mode == HI_BPF_PAGES_TABLES)
		bpf_loop(HI_BPF_STEPS, visit_next, (void *)0, 0);
	else if (request->mode != HI_BPF_PAGES_STACK)
		bpf_loop((__u32)request->n_tables * HI_BPF_TABLE_ENTRIES, look_at_page,
			 (void *)0, 0);
	else if (bpf_core_field_exists(task->stack_vm_area))
		find_stack(request, task);
	return 0;
}
