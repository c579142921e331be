/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/ring.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

/* Records that are given back to the writer at once. */
enum { BATCH = 64 };

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

enum hi_status hi_ring_map(int map_fd, size_t size, struct hi_ring *ret,
			   struct hi_error *err)
{
	size_t page = page_size();
	void *ours = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	const void *theirs;

	if (ours == MAP_FAILED)
		return hi_fail_errno(err, "the ring of a BPF program");
	theirs = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (theirs == MAP_FAILED) {
		munmap(ours, page);
		return hi_fail_errno(err, "the ring of a BPF program");
	}
	*ret = (struct hi_ring){.read = ours,
				.written = theirs,
				.data = (const uint8_t *)theirs + page,
				.size = size};
	return HI_OK;
}

void hi_ring_unmap(struct hi_ring *ring)
{
	if (!ring->read)
		return;
	munmap(ring->read, page_size());
	munmap((void *)(uintptr_t)ring->written, page_size() + 2 * ring->size);
	*ring = (struct hi_ring){};
}

uint64_t hi_ring_end(const struct hi_ring *ring)
{
	return __atomic_load_n(ring->written, __ATOMIC_ACQUIRE);
}

bool hi_ring_read(struct hi_ring *ring, uint64_t end, hi_ring_fn *fn, void *arg)
{
	unsigned long at = *ring->read;
	bool goes_on = true, is_whole = true;

	for (size_t n = 1; at < end && goes_on; n++) {
		const uint8_t *record = ring->data + (at & (ring->size - 1));
		uint32_t header = __atomic_load_n((const uint32_t *)(const void *)record,
						  __ATOMIC_ACQUIRE);
		uint32_t size =
			header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		is_whole = !(header & BPF_RINGBUF_BUSY_BIT);
		if (!is_whole)
			break;
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			goes_on = fn(arg, record + BPF_RINGBUF_HDR_SZ, size);
		at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
		if (n % BATCH == 0)
			__atomic_store_n(ring->read, at, __ATOMIC_RELEASE);
	}
	__atomic_store_n(ring->read, at, __ATOMIC_RELEASE);
	return is_whole;
}
