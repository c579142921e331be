/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [When a page was not referenced]
 *
 * The processor sets the accessed bit of an entry when it uses it for the first time. If
 * the bit was cleared, and is clear at the end, no thread has read or written the page,
 * as long as the entry was there all the time: a page that was swapped out, moved or
 * replaced has another physical address at the end, or none, and is unknown. So is a page
 * whose entry the processor may not use (automatic NUMA balancing), and one that was not
 * in memory at the beginning. A huge page that was split has the same physical pages, and
 * the kernel hands on its bit to each; one that was put together of small pages is at
 * another place.
 */
#include "probes/page_states.h"

#include "base/search.h"

#define PAGE (1ull << HI_BPF_PAGE_SHIFT)
#define TABLE_BYTES (1ull << HI_BPF_HUGE_SHIFT)
#define HUGE_FRAME (HI_BPF_ENTRY_FRAME & ~(TABLE_BYTES - 1))

/* The entry of page i as if it were a small one; 0: the page is not there. */
static uint64_t entry_of_page(const struct hi_bpf_page_table *table, size_t i)
{
	uint64_t entry = table->entries[table->is_huge ? 0 : i];

	if (!(entry & HI_BPF_ENTRY_PRESENT))
		return 0;
	if (!table->is_huge)
		return entry & (HI_BPF_ENTRY_FRAME | HI_BPF_ENTRY_PRESENT |
				HI_BPF_ENTRY_ACCESSED);
	return (entry & HUGE_FRAME) + i * PAGE +
	       (entry & (HI_BPF_ENTRY_PRESENT | HI_BPF_ENTRY_ACCESSED));
}

static struct hi_page_bits compare_tables(const struct hi_bpf_page_table *before,
					  const struct hi_bpf_page_table *after)
{
	struct hi_page_bits bits = {};

	for (size_t i = 0; i < HI_BPF_TABLE_ENTRIES; i++) {
		uint64_t old = entry_of_page(before, i), now = entry_of_page(after, i);

		if (!old || !now || (old ^ now) & HI_BPF_ENTRY_FRAME)
			continue;
		if (now & HI_BPF_ENTRY_ACCESSED)
			bits.referenced[i / 64] |= 1ull << i % 64;
		else
			bits.unreferenced[i / 64] |= 1ull << i % 64;
	}
	return bits;
}

enum hi_status hi_page_states_compare(struct hi_page_states *states,
				      struct hi_page_reading before,
				      struct hi_page_reading after, struct hi_error *err)
{
	size_t old = 0;

	states->addresses.count = states->bits.count = 0;
	for (size_t i = 0; i < after.n; i++) {
		const struct hi_bpf_page_table *table = &after.tables[i];

		while (old < before.n && before.tables[old].address < table->address)
			old++;
		if (old == before.n || before.tables[old].address != table->address)
			continue;
		if (!hi_vector_push(&states->addresses, table->address) ||
		    !hi_vector_push(&states->bits,
				    compare_tables(&before.tables[old], table)))
			return hi_fail_memory(err, "states of pages");
	}
	return HI_OK;
}

static void join_bits(struct hi_page_bits *bits, const struct hi_page_bits *next)
{
	for (size_t i = 0; i < HI_BPF_TABLE_ENTRIES / 64; i++) {
		bits->unreferenced[i] &= next->unreferenced[i];
		bits->referenced[i] |= next->referenced[i];
	}
}

void hi_page_states_join(struct hi_page_states *states, const struct hi_page_states *next)
{
	static const struct hi_page_bits none;
	size_t j = 0;

	for (size_t i = 0; i < states->addresses.count; i++) {
		uint64_t address = states->addresses.items[i];
		bool is_there;

		while (j < next->addresses.count && next->addresses.items[j] < address)
			j++;
		is_there =
			j < next->addresses.count && next->addresses.items[j] == address;
		join_bits(&states->bits.items[i],
			  is_there ? &next->bits.items[j] : &none);
	}
}

static const struct hi_page_bits *find_bits(const struct hi_page_states *states,
					    uint64_t address)
{
	uint64_t start = address & ~(TABLE_BYTES - 1);
	size_t at =
		hi_search(i, states->addresses.count, states->addresses.items[i] < start);

	if (at == states->addresses.count || states->addresses.items[at] != start)
		return NULL;
	return &states->bits.items[at];
}

/* Pages [first, last) of 512: all unreferenced, or one referenced, or neither. */
static enum hi_page_state state_of_bits(const struct hi_page_bits *bits, size_t first,
					size_t last)
{
	enum hi_page_state state = HI_PAGE_UNREFERENCED;

	while (first < last) {
		size_t bit = first % 64, n = 64 - bit;
		uint64_t mask;

		if (n > last - first)
			n = last - first;
		mask = (n == 64 ? UINT64_MAX : (1ull << n) - 1) << bit;
		if (bits->referenced[first / 64] & mask)
			return HI_PAGE_REFERENCED;
		if (~bits->unreferenced[first / 64] & mask)
			state = HI_PAGE_UNKNOWN;
		first += n;
	}
	return state;
}

enum hi_page_state hi_page_states_of_range(const struct hi_page_states *states,
					   uint64_t start, uint64_t end)
{
	enum hi_page_state state = HI_PAGE_UNREFERENCED, part;

	if (start >= end)
		return HI_PAGE_UNKNOWN;
	while (start < end) {
		uint64_t table = start & ~(TABLE_BYTES - 1);
		uint64_t left = end - table < TABLE_BYTES ? end - table : TABLE_BYTES;
		const struct hi_page_bits *bits = find_bits(states, start);

		part = bits ? state_of_bits(bits, (start - table) / PAGE,
					    (left + PAGE - 1) / PAGE)
			    : HI_PAGE_UNKNOWN;
		if (part == HI_PAGE_REFERENCED)
			return part;
		if (part == HI_PAGE_UNKNOWN)
			state = part;
		start = table + left;
	}
	return state;
}

enum hi_page_state hi_page_states_get(const struct hi_page_states *states,
				      uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);

	return hi_page_states_of_range(states, page, page + PAGE);
}

void hi_page_states_free(struct hi_page_states *states)
{
	hi_vector_free(&states->addresses);
	hi_vector_free(&states->bits);
}
