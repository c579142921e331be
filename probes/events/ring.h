/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's end of a BPF ring buffer (Documentation/bpf/ringbuf.rst of the kernel). */
#ifndef HI_PROBES_EVENTS_RING_H
#define HI_PROBES_EVENTS_RING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hi_ring {
	unsigned long *read;	      /* our position; the page that we write */
	const unsigned long *written; /* the program's */
	const uint8_t *data;	      /* mapped twice, one after the other */
	size_t size;
};

/* Takes one record; false stops after it. */
typedef bool hi_ring_fn(void *arg, const void *record, size_t size);

/* map_fd: of the map, whose max_entries is size. HI_OS: it cannot be mapped. */
enum hi_status hi_ring_map(int map_fd, size_t size, struct hi_ring *ret,
			   struct hi_error *err);
/* Zeros are fine. */
void hi_ring_unmap(struct hi_ring *ring);
/* Returns the position after the last record that was begun. */
uint64_t hi_ring_end(const struct hi_ring *ring);
/*
 * Hands over the records before position `end`, each once. False: one of them is still
 * being written; it and its successors are there the next time.
 */
bool hi_ring_read(struct hi_ring *ring, uint64_t end, hi_ring_fn *fn, void *arg);

#endif
