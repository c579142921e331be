/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [When a page was not referenced]
 *
 * The processor sets the accessed bit of an entry when it uses it for the first time. If
 * the bit was cleared, and is clear at the end, no thread has read or written the page,
 * as long as the entry was there all the time: a page that was swapped out, moved or
 * replaced has another physical address at the end, or none, and is unknown. So is a page
 * whose entry the processor may not use (automatic NUMA balancing), and one that came
 * into memory meanwhile. An entry that is empty at the beginning and at the end is of a
 * page that nobody has touched yet: the first touch fills it, and nothing empties it but
 * the program itself (munmap, MADV_DONTNEED), or reclaim where it leaves no swap entry,
 * which the counters of reclaim tell. A huge page that was split has the same physical
 * pages, and the kernel hands on its bit to each; one that was put together of small
 * pages is at another place.
 */
#include "probes/page_states.h"

#include "base/number.h"
#include "base/search.h"

#define PAGE (1ull << HI_BPF_PAGE_SHIFT)
#define TABLE_BYTES (1ull << HI_BPF_HUGE_SHIFT)
#define HUGE_FRAME (HI_BPF_ENTRY_FRAME & ~(TABLE_BYTES - 1))

/* The entry of page i as if it were a small one; 0: the page was never there. NULL: a
 * table without an entry. */
static uint64_t entry_of_page(const struct hi_bpf_page_table *table, size_t i)
{
	uint64_t entry = table ? table->entries[table->is_huge ? 0 : i] : 0;

	if (!(entry & HI_BPF_ENTRY_PRESENT) || !table->is_huge)
		return entry;
	return (entry & HUGE_FRAME) + i * PAGE +
	       (entry & (HI_BPF_ENTRY_PRESENT | HI_BPF_ENTRY_ACCESSED));
}

static bool is_page_the_same(uint64_t old, uint64_t now)
{
	return (old & HI_BPF_ENTRY_PRESENT) && (now & HI_BPF_ENTRY_PRESENT) &&
	       !((old ^ now) & HI_BPF_ENTRY_FRAME);
}

static struct hi_page_bits compare_tables(const struct hi_bpf_page_table *before,
					  const struct hi_bpf_page_table *after)
{
	struct hi_page_bits bits = {};

	for (size_t i = 0; i < HI_BPF_TABLE_ENTRIES; i++) {
		uint64_t old = entry_of_page(before, i), now = entry_of_page(after, i);
		const uint64_t bit = 1ull << i % 64;

		if ((!old && !now) ||
		    (is_page_the_same(old, now) && !(now & HI_BPF_ENTRY_ACCESSED)))
			bits.unreferenced[i / 64] |= bit;
		else if (is_page_the_same(old, now))
			bits.referenced[i / 64] |= bit;
	}
	return bits;
}

/* ---- ranges ---- */

static bool is_table_within(const struct hi_range *ranges, size_t n, uint64_t table)
{
	size_t at = hi_search(i, n, ranges[i].end <= table);

	return at < n && ranges[at].start <= table &&
	       table + TABLE_BYTES <= ranges[at].end;
}

/* Ranges that are in both; false: out of memory. */
static bool intersect_ranges(const struct hi_range *a, size_t n_a,
			     const struct hi_range *b, size_t n_b,
			     struct hi_page_range_list *ret)
{
	ret->count = 0;
	for (size_t i = 0, k = 0; i < n_a && k < n_b;) {
		const struct hi_range both = {a[i].start > b[k].start ? a[i].start
								      : b[k].start,
					      hi_min(a[i].end, b[k].end)};

		if (both.start < both.end && !hi_vector_push(ret, both))
			return false;
		if (a[i].end < b[k].end)
			i++;
		else
			k++;
	}
	return true;
}

/* ---- two readings ---- */

/* A table that one of the readings has not is empty there, or is not known. */
static bool add_page_table(struct hi_page_states *states,
			   const struct hi_bpf_page_table *before,
			   const struct hi_bpf_page_table *after)
{
	const uint64_t address = (before ? before : after)->address;
	const bool is_known =
		(before && after) || is_table_within(states->untouched.items,
						     states->untouched.count, address);
	const struct hi_page_bits unknown = {};

	return hi_vector_push(&states->addresses, address) &&
	       hi_vector_push(&states->bits,
			      is_known ? compare_tables(before, after) : unknown);
}

enum hi_status hi_page_states_compare(struct hi_page_states *states,
				      struct hi_page_reading before,
				      struct hi_page_reading after, struct hi_error *err)
{
	size_t old = 0, now = 0;
	bool ok;

	states->addresses.count = states->bits.count = 0;
	ok = intersect_ranges(before.whole, before.n_whole, after.whole, after.n_whole,
			      &states->untouched);
	while (ok && (old < before.n || now < after.n)) {
		const struct hi_bpf_page_table *a =
			old < before.n ? &before.tables[old] : NULL;
		const struct hi_bpf_page_table *b =
			now < after.n ? &after.tables[now] : NULL;

		if (a && b && a->address < b->address)
			b = NULL;
		else if (a && b && b->address < a->address)
			a = NULL;
		ok = add_page_table(states, a, b);
		old += a != NULL;
		now += b != NULL;
	}
	return ok ? HI_OK : hi_fail_memory(err, "states of pages");
}

static void join_bits(struct hi_page_bits *bits, const struct hi_page_bits *next)
{
	for (size_t i = 0; i < HI_BPF_TABLE_ENTRIES / 64; i++) {
		bits->unreferenced[i] &= next->unreferenced[i];
		bits->referenced[i] |= next->referenced[i];
	}
}

/* The bits of a table in `next` from *at on, which is moved: without a table, all or
 * none are unreferenced. */
static const struct hi_page_bits *find_next_bits(const struct hi_page_states *next,
						 uint64_t address, size_t *at)
{
	static const struct hi_page_bits none,
		all = {.unreferenced = {[0 ... HI_BPF_TABLE_ENTRIES / 64 - 1] =
						UINT64_MAX}};

	while (*at < next->addresses.count && next->addresses.items[*at] < address)
		++*at;
	if (*at < next->addresses.count && next->addresses.items[*at] == address)
		return &next->bits.items[*at];
	return is_table_within(next->untouched.items, next->untouched.count, address)
		       ? &all
		       : &none;
}

/* Is each table of next one of states? */
static bool has_all_tables(const struct hi_page_states *states,
			   const struct hi_page_states *next)
{
	size_t at = 0;

	for (size_t i = 0; i < next->addresses.count; i++) {
		while (at < states->addresses.count &&
		       states->addresses.items[at] < next->addresses.items[i])
			at++;
		if (at == states->addresses.count ||
		    states->addresses.items[at] != next->addresses.items[i])
			return false;
	}
	return true;
}

void hi_page_states_join(struct hi_page_states *states, const struct hi_page_states *next)
{
	struct hi_page_range_list both = {};
	size_t at = 0;

	for (size_t i = 0; i < states->addresses.count; i++)
		join_bits(&states->bits.items[i],
			  find_next_bits(next, states->addresses.items[i], &at));
	/* Nothing is known of tables that states has not, if next has some. */
	if (!has_all_tables(states, next) ||
	    !intersect_ranges(states->untouched.items, states->untouched.count,
			      next->untouched.items, next->untouched.count, &both))
		both.count = 0;
	hi_vector_free(&states->untouched);
	states->untouched = both;
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
		       : is_table_within(states->untouched.items, states->untouched.count,
					 table)
			       ? HI_PAGE_UNREFERENCED
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
	hi_vector_free(&states->untouched);
}
