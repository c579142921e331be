/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event is a byte of flags for its fields, and then numbers of 7 bits a byte, the
 * lowest first (LEB128). Differences are signed: 0, -1, 1, -2, … are 0, 1, 2, 3, …
 */
#include "census/events/event_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The first byte: the kind, and what differs from the event before, or is not 0. */
enum {
	HAS_KIND = 7,
	HAS_THREAD = 8,	 /* another one than that of the event before */
	HAS_SOURCE = 16, /* the source or the flags are others */
	HAS_SIZE = 32,
	HAS_OLD = 64,
	HAS_CONTEXT = 128
};
enum { NUMBER_BITS = 7, NUMBER_MORE = 128, NUMBER_SHIFT_MOST = 63 };

/* ---- writing ---- */

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	for (; number >= NUMBER_MORE; number >>= NUMBER_BITS)
		*at++ = (uint8_t)(number | NUMBER_MORE);
	*at++ = (uint8_t)number;
	return at;
}

static uint8_t *put_difference(uint8_t *at, uint64_t to, uint64_t from)
{
	uint64_t d = to - from;

	return put_number(at, d << 1 ^ (d >> 63 ? UINT64_MAX : 0));
}

static uint8_t tag_of_event(const struct hi_kept_event *e,
			    const struct hi_kept_event *last)
{
	unsigned tag = e->kind & HAS_KIND;

	tag |= e->thread != last->thread ? HAS_THREAD : 0;
	tag |= e->source != last->source || e->flags != last->flags ? HAS_SOURCE : 0;
	tag |= e->size ? HAS_SIZE : 0;
	tag |= e->old ? HAS_OLD : 0;
	tag |= e->context ? HAS_CONTEXT : 0;
	return (uint8_t)tag;
}

/* Returns the number of bytes, at most HI_EVENT_MOST_BYTES. */
static size_t encode_event(const struct hi_kept_event *e,
			   const struct hi_kept_event *last, uint8_t *to)
{
	uint8_t *at = to, tag = tag_of_event(e, last);

	*at++ = tag;
	if (tag & HAS_THREAD)
		at = put_number(at, e->thread);
	if (tag & HAS_SOURCE) {
		*at++ = e->source;
		*at++ = e->flags;
	}
	at = put_difference(at, e->time_ns, last->time_ns);
	at = put_difference(at, e->addr, last->addr);
	if (tag & HAS_SIZE)
		at = put_number(at, e->size);
	if (tag & HAS_OLD)
		at = put_difference(at, e->old, e->addr);
	if (tag & HAS_CONTEXT)
		at = put_number(at, e->context);
	return (size_t)(at - to);
}

bool hi_event_block_add(struct hi_event_block *b, const struct hi_kept_event *e,
			uint64_t most)
{
	uint8_t *to = b->bytes + HI_EVENT_HEADER + b->size;
	uint32_t header[2] = {b->size + (uint32_t)encode_event(e, &b->last, to),
			      b->count + 1};

	if (HI_EVENT_HEADER + (uint64_t)header[0] > most)
		return false;
	memcpy(b->bytes, header, sizeof(header));
	b->size = header[0];
	b->count = header[1];
	b->last = *e;
	return true;
}

/* ---- reading: blocks ---- */

static enum hi_status fail_event_list(uint64_t block, const char *what,
				      struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, 0, "block %" PRIu64 " of events: %s", block,
		       what);
}

/* Finds the end of block number `index`, which begins at `at`. */
static enum hi_status check_event_block(const uint8_t *bytes, uint64_t size, uint64_t at,
					uint64_t index, uint64_t *end_ret,
					uint32_t *count_ret, struct hi_error *err)
{
	uint32_t header[2];

	if (size - at < sizeof(header))
		return fail_event_list(index, "cut in its header", err);
	memcpy(header, bytes + at, sizeof(header));
	at += sizeof(header);
	if (header[0] > size - at)
		return fail_event_list(index, "cut", err);
	*end_ret = at + header[0];
	*count_ret = header[1];
	if (header[1] == 0 || header[1] > HI_EVENT_BLOCK ||
	    (header[1] < HI_EVENT_BLOCK && *end_ret != size))
		return fail_event_list(index, "invalid number of events", err);
	if (header[0] < (uint64_t)header[1] * HI_EVENT_LEAST_BYTES ||
	    header[0] > (uint64_t)header[1] * HI_EVENT_MOST_BYTES)
		return fail_event_list(index, "invalid size", err);
	return HI_OK;
}

void hi_event_list_free(struct hi_event_list *list)
{
	free(list->blocks);
	*list = (struct hi_event_list){};
}

/* Blocks but for the last one are full, so these are as many as there can be. */
static uint64_t most_event_blocks(uint64_t size)
{
	return size / (HI_EVENT_BLOCK * HI_EVENT_LEAST_BYTES) + 1;
}

enum hi_status hi_event_list_open(const void *bytes, uint64_t size,
				  const struct hi_event_bounds *bounds,
				  struct hi_event_list *ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint32_t count = 0;

	*ret = (struct hi_event_list){.bytes = bytes, .bounds = *bounds};
	ret->blocks = hi_calloc(most_event_blocks(size) + 1, sizeof(*ret->blocks));
	if (!ret->blocks)
		return hi_fail_memory(err, "events");
	for (uint64_t at = 0; status == HI_OK && at < size;) {
		status = check_event_block(bytes, size, at, ret->n_blocks, &at, &count,
					   err);
		ret->blocks[++ret->n_blocks] = at;
		ret->count += count;
	}
	return status;
}

/* ---- reading: events ---- */

struct event_bytes {
	const uint8_t *at, *end;
	bool is_bad; /* a number does not end, or is too large */
};

static uint8_t take_byte(struct event_bytes *b)
{
	if (b->at < b->end)
		return *b->at++;
	b->is_bad = true;
	return 0;
}

static uint64_t take_event_number(struct event_bytes *b)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift <= NUMBER_SHIFT_MOST; shift += NUMBER_BITS) {
		uint8_t byte = take_byte(b);

		/* The tenth byte of a varint may hold one bit only. */
		b->is_bad |= shift == NUMBER_SHIFT_MOST && byte > 1;
		number |= (uint64_t)(byte & (NUMBER_MORE - 1)) << shift;
		if (!(byte & NUMBER_MORE))
			return number;
	}
	return number;
}

static uint32_t take_event_index(struct event_bytes *b)
{
	uint64_t index = take_event_number(b);

	b->is_bad |= index > UINT32_MAX;
	return (uint32_t)index;
}

static uint64_t take_difference(struct event_bytes *b, uint64_t from)
{
	uint64_t coded = take_event_number(b);

	return from + (coded >> 1 ^ (coded & 1 ? UINT64_MAX : 0));
}

static bool is_event_valid(const struct hi_kept_event *e,
			   const struct hi_event_bounds *bounds)
{
	return e->kind >= HI_EVENT_ALLOC && e->kind <= HI_EVENT_LOST &&
	       e->kind != HI_EVENT_STACK && e->source < HI_EVENT_SOURCES &&
	       e->thread < bounds->n_threads && e->context < bounds->n_contexts;
}

/* e: the event before, which becomes the next one. */
static bool decode_event(struct event_bytes *b, const struct hi_event_bounds *bounds,
			 struct hi_kept_event *e)
{
	uint8_t tag = take_byte(b);

	e->kind = tag & HAS_KIND;
	if (tag & HAS_THREAD)
		e->thread = take_event_index(b);
	if (tag & HAS_SOURCE) {
		e->source = take_byte(b);
		e->flags = take_byte(b);
	}
	e->time_ns = take_difference(b, e->time_ns);
	e->addr = take_difference(b, e->addr);
	e->size = tag & HAS_SIZE ? take_event_number(b) : 0;
	e->old = tag & HAS_OLD ? take_difference(b, e->addr) : 0;
	e->context = tag & HAS_CONTEXT ? take_event_index(b) : 0;
	return !b->is_bad && is_event_valid(e, bounds);
}

enum hi_status hi_event_list_read(const struct hi_event_list *list, uint64_t block,
				  struct hi_kept_event events[HI_EVENT_BLOCK],
				  uint32_t *n_ret, struct hi_error *err)
{
	struct hi_kept_event event = {};
	struct event_bytes bytes;
	uint32_t n;

	if (block >= list->n_blocks)
		return fail_event_list(block, "there is none", err);
	bytes = (struct event_bytes){list->bytes + list->blocks[block] + HI_EVENT_HEADER,
				     list->bytes + list->blocks[block + 1], false};
	n = block + 1 < list->n_blocks ? HI_EVENT_BLOCK
				       : (uint32_t)(list->count - block * HI_EVENT_BLOCK);
	for (uint32_t i = 0; i < n; i++) {
		if (!decode_event(&bytes, &list->bounds, &event))
			return fail_event_list(block, "invalid event", err);
		events[i] = event;
	}
	if (bytes.at != bytes.end)
		return fail_event_list(block, "bytes behind its last event", err);
	*n_ret = n;
	return HI_OK;
}
