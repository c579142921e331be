/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/kept_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"

struct hi_kept_events {
	int fd;
	uint64_t limit;
	uint64_t written;	     /* bytes of whole blocks, which are in the file */
	uint64_t kept, left_out;     /* kept: of these blocks */
	struct hi_event_block block; /* the next one */
	bool is_full;
	struct HI_VECTOR(uint32_t) threads;
	struct hi_table thread_of; /* thread id -> index */
	uint64_t last_ns;
};

void hi_kept_events_destroy(struct hi_kept_events *k)
{
	if (!k)
		return;
	hi_close_fd(k->fd);
	hi_vector_free(&k->threads);
	hi_table_free(&k->thread_of);
	free(k);
}

enum hi_status hi_kept_events_create(int fd, uint64_t limit, struct hi_kept_events **ret,
				     struct hi_error *err)
{
	struct hi_kept_events *k = hi_calloc(1, sizeof(*k));

	if (!k) {
		hi_close_fd(fd);
		return hi_fail_memory(err, "kept events");
	}
	k->fd = fd;
	k->limit = limit;
	*ret = k;
	return HI_OK;
}

/* ---- adding ---- */

static bool write_kept_bytes(const struct hi_kept_events *k, const uint8_t *bytes,
			     uint64_t size)
{
	uint64_t at = k->written;

	while (size) {
		ssize_t n = pwrite(k->fd, bytes, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

/* If it cannot be written, its events are lost to the list. */
static void write_event_block(struct hi_kept_events *k)
{
	if (write_kept_bytes(k, k->block.bytes, hi_event_block_size(&k->block))) {
		k->written += hi_event_block_size(&k->block);
		k->kept += k->block.count;
	} else {
		k->left_out += k->block.count;
		k->is_full = true;
	}
	k->block.count = k->block.size = 0;
	k->block.last = (struct hi_kept_event){};
}

static bool number_kept_thread(struct hi_kept_events *k, uint32_t tid, uint32_t *ret)
{
	uint64_t index = k->threads.count;

	if (!hi_table_get(&k->thread_of, tid, &index) &&
	    (!hi_vector_push(&k->threads, tid) ||
	     !hi_table_put(&k->thread_of, tid, index)))
		return false;
	*ret = (uint32_t)index;
	return true;
}

static bool add_kept_event(struct hi_kept_events *k, const struct hi_event *e,
			   uint32_t context)
{
	struct hi_kept_event kept = {.addr = e->addr,
				     .size = e->size,
				     .old = e->old,
				     .context = context,
				     .kind = e->kind,
				     .source = e->source % HI_EVENT_SOURCES,
				     .flags = e->flags};

	/* Marks of lost events may have none. */
	kept.time_ns = e->time_ns ? e->time_ns : k->last_ns;
	k->last_ns = kept.time_ns;
	return number_kept_thread(k, e->tid, &kept.thread) &&
	       hi_event_block_add(&k->block, &kept, k->limit - k->written);
}

void hi_kept_events_add(struct hi_kept_events *k, const struct hi_event *e,
			uint32_t context)
{
	if (e->kind < HI_EVENT_ALLOC || e->kind > HI_EVENT_LOST ||
	    e->kind == HI_EVENT_STACK)
		return;
	if (k->is_full || !add_kept_event(k, e, context)) {
		k->is_full = true;
		k->left_out++;
	} else if (k->block.count == HI_EVENT_BLOCK) {
		write_event_block(k);
	}
}

/* ---- reading ---- */

void hi_kept_events_counts(const struct hi_kept_events *k, struct hi_kept_counts *ret)
{
	*ret = (struct hi_kept_counts){k->kept + k->block.count, k->left_out};
}

const uint32_t *hi_kept_events_threads(const struct hi_kept_events *k, uint32_t *n_ret)
{
	*n_ret = (uint32_t)k->threads.count;
	return k->threads.items;
}

/* Copies from the block that is not yet in the file. */
static size_t copy_last_block(const struct hi_kept_events *k, uint64_t at, void *to,
			      size_t room)
{
	uint64_t size = hi_event_block_size(&k->block), n = at < size ? size - at : 0;

	n = n < room ? n : room;
	memcpy(to, k->block.bytes + (n ? at : 0), n);
	return n;
}

enum hi_status hi_kept_events_read(const struct hi_kept_events *k, uint64_t at, void *to,
				   size_t room, size_t *n_ret, struct hi_error *err)
{
	ssize_t n;

	if (at >= k->written) {
		*n_ret = copy_last_block(k, at - k->written, to, room);
		return HI_OK;
	}
	room = room < k->written - at ? room : k->written - at;
	do {
		n = pread(k->fd, to, room, (off_t)at);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = EIO;
	if (n <= 0)
		return hi_fail_errno(err, "cannot read the kept events");
	*n_ret = (size_t)n;
	return HI_OK;
}
